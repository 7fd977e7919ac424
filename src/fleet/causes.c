/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet/causes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define CAUSE_TITLE ((size_t)160) /* bytes of what a target said */
#define CAUSE_REFUSES "refuses "  /* and an operator: the base of the cause */
#define CAUSE_IN "computes in "   /* and a type: likewise */

static const char *cause_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* --- one failure ------------------------------------------------------------------------------ */

/* What a message says, whatever numbers and names are in it: "#30 /attn/Softmax: no kernel" and the
 * same of another node are one. */
static void cause_put_shape(const char *said, struct odb_buf *out)
{
    for (const char *p = said; *p && out->len < CAUSE_TITLE; p++) {
        if (*p == '\'' || *p == '"') {
            const char *end = strchr(p + 1, *p);
            if (end) {
                odb_buf_puts(out, "''");
                p = end;
                continue;
            }
        }
        if (isdigit((unsigned char)*p)) {
            while (isdigit((unsigned char)p[1]) || p[1] == '.')
                p++;
            odb_buf_putc(out, '0');
        } else if (*p == '/') { /* a path, or the name of a node */
            while (p[1] && !isspace((unsigned char)p[1]) && !strchr(",;:)", p[1]))
                p++;
            odb_buf_putc(out, '/');
        } else {
            odb_buf_putc(out, *p);
        }
    }
}

static void cause_put_op(const json_t *node, struct odb_buf *out)
{
    const char *domain = cause_text(node, "domain");
    if (*domain)
        odb_buf_printf(out, "%s::", domain);
    odb_buf_puts(out, cause_text(node, "op_type"));
}

/* Which culprits count: those that reach an output, else all. */
static bool cause_counts(const json_t *culprits, const json_t *one)
{
    const json_t *culprit;
    size_t i;
    bool any = false;
    json_array_foreach(culprits, i, culprit)
        any |= json_is_true(json_object_get(culprit, "reaches_output"));
    return !any || json_is_true(json_object_get(one, "reaches_output"));
}

/* --- grouping --------------------------------------------------------------------------------- */

static bool cause_has_text(char *const *list, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], text))
            return true;
    return false;
}

/* The variants that explain a culprit to the full; the caller's, each. */
static size_t cause_variants(const json_t *culprit, char ***out)
{
    ODB_VEC(char *) list = {0};
    const json_t *explanations = json_object_get(culprit, "explanations"), *one, *other;
    size_t i, k;
    json_array_foreach(explanations, i, one) {
        const char *fit = cause_text(one, "fit"); /* class: nothing tells its members apart */
        if (strcmp(fit, "exact") != 0 && strcmp(fit, "class") != 0)
            continue;
        odb_push(&list, odb_xstrdup(cause_text(one, "variant")));
        json_array_foreach(json_object_get(one, "members"), k, other) {
            const char *name =
                json_is_string(other) ? json_string_value(other) : cause_text(other, "variant");
            odb_push(&list, odb_xstrdup(name));
        }
    }
    *out = list.items;
    return list.n;
}

/* Keeps of the cause's variants those that are in the list too. */
static void cause_intersect(struct odb_cause *cause, char *const *list, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < cause->variants.n; i++) {
        char *variant = cause->variants.items[i];
        if (cause_has_text(list, n, variant))
            cause->variants.items[kept++] = variant;
        else
            free(variant);
    }
    cause->variants.n = kept;
}

/* Whether a failure of this key with these variants is one of the cause: some variant explains it
 * and all others, or nothing explains any. */
static bool cause_takes(const struct odb_cause *cause, const char *key, char *const *list, size_t n)
{
    if (strcmp(cause->base, key))
        return false;
    if (!n || !cause->variants.n)
        return !n && !cause->variants.n;
    for (size_t i = 0; i < n; i++)
        if (cause_has_text(cause->variants.items, cause->variants.n, list[i]))
            return true;
    return false;
}

static struct odb_cause *cause_of(struct odb_causes *causes, const char *key, char **list, size_t n)
{
    for (size_t i = 0; i < causes->list.n; i++) {
        struct odb_cause *cause = &causes->list.items[i];
        if (!cause_takes(cause, key, list, n))
            continue;
        cause_intersect(cause, list, n);
        return cause;
    }
    struct odb_cause fresh = {.base = odb_xstrdup(key), .verdict = ODB_FLEET_QUEUED};
    for (size_t i = 0; i < n; i++)
        if (!cause_has_text(fresh.variants.items, fresh.variants.n, list[i]))
            odb_push(&fresh.variants, odb_xstrdup(list[i]));
    odb_push(&causes->list, fresh);
    return &causes->list.items[causes->list.n - 1];
}

static void cause_put_member(struct odb_cause *cause, const struct odb_fleet *fleet,
                             struct odb_cause_member member)
{
    if (!odb_cause_is_in(cause, member.model)) {
        cause->models++;
        cause->confirmed += odb_fleet_confirmed(&fleet->models.items[member.model]);
    }
    odb_push(&cause->members, member);
}

/* Those of a narrower type are one cause, whatever explains each. */
static void cause_add(struct odb_causes *causes, const struct odb_fleet *fleet, size_t model,
                      enum odb_fleet_verdict verdict, const char *key, const json_t *culprit)
{
    char **list = NULL;
    bool explained = culprit && !json_is_true(json_object_get(culprit, "narrower"));
    size_t n = explained ? cause_variants(culprit, &list) : 0;
    struct odb_cause *cause = cause_of(causes, key, list, n);
    for (size_t i = 0; i < n; i++)
        free(list[i]);
    free(list);
    cause->verdict = ODB_MIN(cause->verdict, verdict);
    cause_put_member(cause, fleet, (struct odb_cause_member){model, culprit, false});
}

bool odb_cause_is_in(const struct odb_cause *cause, size_t model)
{
    for (size_t i = 0; i < cause->members.n; i++)
        if (cause->members.items[i].model == model)
            return true;
    return false;
}

/* What is refused: each operator, with what is said of it. */
static size_t cause_add_refused(struct odb_causes *causes, const struct odb_fleet *fleet,
                                size_t model)
{
    const json_t *report = fleet->models.items[model].report, *one;
    const json_t *refused = json_object_get(json_object_get(report, "pieces"), "refused");
    size_t i, n = json_array_size(refused);
    json_array_foreach(refused, i, one) {
        struct odb_buf key = ODB_BUF_INIT;
        odb_buf_puts(&key, CAUSE_REFUSES);
        cause_put_op(one, &key);
        cause_add(causes, fleet, model, ODB_FLEET_REFUSED, odb_buf_text(&key), NULL);
        odb_buf_dispose(&key);
    }
    return n;
}

static size_t cause_add_culprits(struct odb_causes *causes, const struct odb_fleet *fleet,
                                 size_t model)
{
    const json_t *report = fleet->models.items[model].report, *one;
    const json_t *culprits = json_object_get(report, "culprits");
    size_t i, n = 0;
    json_array_foreach(culprits, i, one) {
        struct odb_buf key = ODB_BUF_INIT;
        const char *kind = cause_text(one, "kind");
        if (!cause_counts(culprits, one))
            continue;
        enum odb_fleet_verdict verdict = fleet->models.items[model].verdict;
        if (json_is_true(json_object_get(one, "narrower"))) {
            odb_buf_printf(&key, CAUSE_IN "%s", cause_text(report, "narrower"));
        } else if (!strcmp(kind, "refused")) { /* as what cause_add_refused() finds */
            odb_buf_puts(&key, CAUSE_REFUSES);
            cause_put_op(one, &key);
            verdict = ODB_FLEET_REFUSED;
        } else {
            cause_put_op(one, &key);
            odb_buf_printf(&key, " %s", kind);
        }
        cause_add(causes, fleet, model, verdict, odb_buf_text(&key), one);
        odb_buf_dispose(&key);
        n++;
    }
    return n;
}

static void cause_add_model(struct odb_causes *causes, const struct odb_fleet *fleet, size_t at)
{
    const struct odb_fleet_model *model = &fleet->models.items[at];
    struct odb_buf key = ODB_BUF_INIT;
    if (model->verdict == ODB_FLEET_PASS || model->verdict == ODB_FLEET_QUEUED)
        return;
    if (cause_add_culprits(causes, fleet, at) + cause_add_refused(causes, fleet, at))
        return;
    if (model->stage != ODB_FLEET_SEARCHED && odb_fleet_fails(model->verdict)) {
        cause_add(causes, fleet, at, model->verdict, ODB_CAUSE_OPEN, NULL);
        return;
    }
    odb_buf_printf(&key, "%s: ", odb_fleet_word(model->verdict));
    cause_put_shape(model->said ? model->said : "", &key);
    cause_add(causes, fleet, at, model->verdict, odb_buf_text(&key), NULL);
    odb_buf_dispose(&key);
}

/* --- one operator ----------------------------------------------------------------------------- */

static bool cause_shares_model(const struct odb_cause *a, const struct odb_cause *b)
{
    for (size_t i = 0; i < a->members.n; i++)
        if (odb_cause_is_in(b, a->members.items[i].model))
            return true;
    return false;
}

/* Nodes of one operator in one model have one fault, as a rule, though not every node shows all of
 * it: a bound that no element comes to is none. What nothing explains goes with what is explained.
 */
static bool cause_joins(const struct odb_cause *a, const struct odb_cause *b)
{
    return a->members.items[0].culprit && b->members.items[0].culprit &&
           !strcmp(a->base, b->base) &&
           (!a->variants.n || !b->variants.n || cause_shares_model(a, b));
}

/* Those of b become a's. The variants of what has more members come first: they name it. */
static void cause_join(struct odb_cause *a, struct odb_cause *b, const struct odb_fleet *fleet)
{
    if (!a->variants.n || (b->variants.n && b->members.n > a->members.n)) {
        struct odb_cause t = *a;
        *a = *b;
        *b = t;
    }
    for (size_t i = 0; i < b->members.n; i++)
        cause_put_member(a, fleet, b->members.items[i]);
    for (size_t i = 0; i < b->variants.n; i++) {
        if (cause_has_text(a->variants.items, a->variants.n, b->variants.items[i]))
            free(b->variants.items[i]);
        else
            odb_push(&a->variants, b->variants.items[i]);
    }
    a->verdict = ODB_MIN(a->verdict, b->verdict);
    free(b->variants.items);
    free(b->members.items);
    free(b->base);
}

static void causes_join(struct odb_causes *causes, const struct odb_fleet *fleet)
{
    for (size_t i = 0; i < causes->list.n; i++)
        for (size_t k = i + 1; k < causes->list.n; k++) {
            if (!cause_joins(&causes->list.items[i], &causes->list.items[k]))
                continue;
            cause_join(&causes->list.items[i], &causes->list.items[k], fleet);
            causes->list.items[k] = causes->list.items[--causes->list.n];
            k = i; /* what it has now may join more */
        }
}

/* --- what a cause is -------------------------------------------------------------------------- */

/* "mode = \"nearest\"" of the i-th attribute, or a type; what has no short value is left out. The
 * caller's; NULL: there are no more. */
static char *cause_property(const json_t *culprit, size_t i)
{
    const json_t *attributes = json_object_get(culprit, "attributes");
    const json_t *types = json_object_get(culprit, "types");
    for (size_t k = 0; k < json_array_size(attributes); k++) {
        const char *text = json_string_value(json_array_get(attributes, k));
        if (text && !strchr(text, '{') && !i--)
            return odb_xstrdup(text);
    }
    for (size_t k = 0; k < json_array_size(types); k++) {
        const char *type = json_string_value(json_array_get(types, k));
        if (type && !i--)
            return odb_xasprintf("input %zu %s", k, type);
    }
    return NULL;
}

static bool cause_has_property(const json_t *culprit, const char *text)
{
    char *one;
    bool has = false;
    for (size_t i = 0; !has && (one = cause_property(culprit, i)); i++) {
        has = !strcmp(one, text);
        free(one);
    }
    return has;
}

static void cause_common(struct odb_cause *cause)
{
    char *one;
    const json_t *first = cause->members.n ? cause->members.items[0].culprit : NULL;
    for (size_t i = 0; first && (one = cause_property(first, i)); i++) {
        bool all = true;
        for (size_t k = 1; k < cause->members.n && all; k++)
            all = cause_has_property(cause->members.items[k].culprit, one);
        if (all)
            odb_push(&cause->common, one);
        else
            free(one);
    }
}

/* How many members have it as what explains them first. One that was searched to the end counts
 * more than all that were only confirmed, for which few were tried. */
static size_t cause_explains(const struct odb_cause *cause, const char *variant)
{
    size_t n = 0;
    for (size_t m = 0; m < cause->members.n; m++) {
        const json_t *culprit = cause->members.items[m].culprit;
        const json_t *one = json_array_get(json_object_get(culprit, "explanations"), 0);
        if (!strcmp(cause_text(one, "variant"), variant))
            n += json_is_true(json_object_get(culprit, "known")) ? 1 : cause->members.n;
    }
    return n;
}

/* The text without a value's name behind an input: "input max (Constant@43)" is of one model. */
static void cause_put_anonymous(const char *text, struct odb_buf *out)
{
    for (const char *p = text; *p;) {
        const char *word = !strncmp(p, "input ", 6) ? p + 6 : NULL;
        size_t n = word ? strcspn(word, " ") : 0;
        if (!word || strncmp(word + n, " (", 2) != 0) {
            odb_buf_putc(out, *p++);
            continue;
        }
        odb_buf_printf(out, "%.*s", (int)(word + n - p), p);
        p = word + n + 1;
        for (int depth = 0; *p;) {
            depth += (*p == '(') - (*p == ')');
            if (*p++ == ')' && depth <= 0)
                break;
        }
    }
}

/* Cuts a text to the whole words with which the other begins as well. */
static void cause_cut(struct odb_buf *text, const char *other)
{
    size_t n = 0, words = 0;
    const char *own = odb_buf_text(text);
    if (!strcmp(own, other))
        return;
    for (; own[n] && own[n] == other[n]; n++)
        if (own[n] == ' ')
            words = n;
    if ((!own[n] || own[n] == ' ') && (!other[n] || other[n] == ' '))
        words = n;
    if (words >= 4 && !strncmp(own + words - 4, " and", 4)) /* "ignored, and [1, 1]" */
        words -= 4;
    while (words && strchr(", ", own[words - 1]))
        words--;
    char *common = odb_xstrndup(own, words);
    odb_buf_clear(text);
    odb_buf_puts(text, common);
    free(common);
}

/* What a variant says of all members that it explains; "": they have no words in common. */
static void cause_put_words(const struct odb_cause *cause, const char *variant, struct odb_buf *out)
{
    bool any = false;
    for (size_t m = 0; m < cause->members.n; m++) {
        const json_t *list = json_object_get(cause->members.items[m].culprit, "explanations"), *one;
        size_t i;
        json_array_foreach(list, i, one) {
            struct odb_buf text = ODB_BUF_INIT;
            if (strcmp(cause_text(one, "variant"), variant) != 0)
                continue;
            cause_put_anonymous(cause_text(one, "text"), &text);
            if (any)
                cause_cut(out, odb_buf_text(&text));
            else
                odb_buf_puts(out, odb_buf_text(&text));
            any = true;
            odb_buf_dispose(&text);
        }
    }
}

/* Puts the variant first that explains most members, and returns its words, the caller's; NULL:
 * nothing explains any. */
static char *cause_explained(struct odb_cause *cause)
{
    struct odb_buf words = ODB_BUF_INIT;
    size_t most = 0, at = 0;
    for (size_t i = 0; i < cause->variants.n; i++) {
        size_t n = cause_explains(cause, cause->variants.items[i]);
        if (n <= most)
            continue;
        most = n;
        at = i;
    }
    if (!cause->variants.n)
        return NULL;
    char *first = cause->variants.items[at];
    cause->variants.items[at] = cause->variants.items[0];
    cause->variants.items[0] = first;
    cause_put_words(cause, first, &words);
    if (!words.len)
        odb_buf_puts(&words, first);
    return odb_buf_take(&words);
}

/* What a member's model failed with; of one that refuses an operator, what is said of that, for a
 * model's message is of one of the operators that it refuses. NULL: nothing is said. */
static const char *cause_heard(const struct odb_cause *cause, const struct odb_fleet *fleet,
                               size_t member)
{
    const char *said = fleet->models.items[cause->members.items[member].model].said;
    if (!said || strncmp(cause->base, CAUSE_REFUSES, strlen(CAUSE_REFUSES)))
        return said;
    char *of = odb_xasprintf("(%s): ", cause->base + strlen(CAUSE_REFUSES));
    const char *there = strstr(said, of);
    free(of);
    return there ? said : NULL;
}

/* The shape in which most members' messages are said; the caller's. */
static char *cause_shape(const struct odb_cause *cause, const struct odb_fleet *fleet)
{
    struct odb_map *times = odb_map_new();
    char *best = odb_xstrdup("");
    size_t most = 0;
    for (size_t i = 0; i < cause->members.n; i++) {
        const char *said = cause_heard(cause, fleet, i);
        struct odb_buf shape = ODB_BUF_INIT;
        size_t n = 0;
        cause_put_shape(said ? said : "", &shape);
        odb_map_get(times, odb_buf_text(&shape), &n);
        odb_map_set(times, odb_buf_text(&shape), ++n);
        if (n > most && said) {
            most = n;
            free(best);
            best = odb_xstrdup(odb_buf_text(&shape));
        }
        odb_buf_dispose(&shape);
    }
    odb_map_free(times);
    return best;
}

/* "…" for each word in which another message of the same shape differs. */
static void cause_blank(struct odb_buf *text, const char *other)
{
    struct odb_buf out = ODB_BUF_INIT;
    const char *own = odb_buf_text(text);
    while (*own && *other) {
        size_t n = strcspn(own, " "), m = strcspn(other, " ");
        if (n == m && !strncmp(own, other, n))
            odb_buf_printf(&out, "%.*s", (int)n, own);
        else
            odb_buf_puts(&out, "…");
        own += n;
        other += m;
        if (*own && *other)
            odb_buf_putc(&out, ' ');
        own += *own != '\0';
        other += *other != '\0';
    }
    odb_buf_dispose(text);
    *text = out;
}

/* One "…" for words side by side: how many differ is of no use to who reads it. */
static char *cause_brief(const struct odb_buf *text)
{
    struct odb_buf out = ODB_BUF_INIT;
    bool blank = false;
    for (const char *p = odb_buf_text(text); *p;) {
        size_t n = strcspn(p, " ");
        bool was = blank;
        blank = n == strlen("…") && !strncmp(p, "…", n);
        if (!blank || !was)
            odb_buf_printf(&out, "%s%.*s", out.len ? " " : "", (int)n, p);
        p += n + (p[n] == ' ');
    }
    return odb_buf_take(&out);
}

/* What is said most often of its members, without what only one of them says: the caller's; NULL:
 * nothing is said. */
static char *cause_said(const struct odb_cause *cause, const struct odb_fleet *fleet)
{
    char *best = cause_shape(cause, fleet);
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t i = 0; i < cause->members.n; i++) {
        const char *said = cause_heard(cause, fleet, i);
        struct odb_buf shape = ODB_BUF_INIT;
        cause_put_shape(said ? said : "", &shape);
        bool same = said && !strcmp(odb_buf_text(&shape), best);
        odb_buf_dispose(&shape);
        if (same && text.len)
            cause_blank(&text, said);
        else if (same)
            odb_buf_puts(&text, said);
    }
    free(best);
    char *brief = text.len ? cause_brief(&text) : NULL;
    odb_buf_dispose(&text);
    return brief;
}

/* "only at the border", where that is so of all members: how deep and of how many elements is each
 * one's own. The caller's; NULL: it is not so of all. */
static char *cause_where(const struct odb_cause *cause)
{
    char *all = NULL;
    for (size_t m = 0; m < cause->members.n; m++) {
        const char *where = cause_text(cause->members.items[m].culprit, "wrong_where");
        const char *only = strstr(where, ": only ");
        size_t n = only ? strcspn(only += strlen(": "), ",(") : 0;
        while (n && only[n - 1] == ' ')
            n--;
        if (!n || (all && (strlen(all) != n || strncmp(all, only, n) != 0))) {
            free(all);
            return NULL;
        }
        all = all ? all : odb_xstrndup(only, n);
    }
    return all;
}

/* What a culprit does, of which that is not known better: "introduced, unexplained", or "wrong only
 * at the border". */
static void cause_put_kind(const struct odb_cause *cause, const json_t *culprit,
                           struct odb_buf *out)
{
    const char *kind = cause_text(culprit, "kind");
    bool introduced = !strcmp(kind, "introduced");
    char *where = introduced ? cause_where(cause) : NULL;
    if (where)
        odb_buf_printf(out, "wrong %s", where);
    else
        odb_buf_printf(out, "%s%s", kind, introduced ? ", unexplained" : "");
    free(where);
}

static void cause_name(struct odb_cause *cause, const struct odb_fleet *fleet)
{
    const struct odb_cause_member *member = &cause->members.items[cause->smallest];
    bool refused = !strncmp(cause->base, CAUSE_REFUSES, strlen(CAUSE_REFUSES));
    char *message = member->culprit && !refused ? NULL : cause_said(cause, fleet);
    struct odb_buf title = ODB_BUF_INIT;
    if (refused) {
        const char *said = message ? strstr(message, "): ") : NULL;
        odb_buf_puts(&title, cause->base);
        if (said)
            odb_buf_printf(&title, ": %.*s", (int)ODB_MIN(strcspn(said + 3, ";"), CAUSE_TITLE),
                           said + 3);
    } else if (!strncmp(cause->base, CAUSE_IN, strlen(CAUSE_IN))) {
        odb_buf_printf(&title, "%s, which --expect %s takes for right", cause->base,
                       cause->base + strlen(CAUSE_IN));
    } else if (member->culprit) {
        char *explained = cause_explained(cause);
        cause_put_op(member->culprit, &title);
        odb_buf_puts(&title, ": ");
        if (explained)
            odb_buf_puts(&title, explained);
        else
            cause_put_kind(cause, member->culprit, &title);
        free(explained);
    } else if (!strcmp(cause->base, ODB_CAUSE_OPEN)) {
        odb_buf_puts(&title, ODB_CAUSE_OPEN);
    } else {
        odb_buf_printf(&title, "%.*s", (int)CAUSE_TITLE, message ? message : cause->base);
    }
    free(message);
    cause->title = odb_buf_take(&title);
}

static void cause_smallest(struct odb_cause *cause, const struct odb_fleet *fleet)
{
    for (size_t i = 1; i < cause->members.n; i++) {
        const struct odb_cause_member *one = &cause->members.items[i];
        const struct odb_cause_member *best = &cause->members.items[cause->smallest];
        bool node = one->culprit && !best->culprit;
        bool less = fleet->models.items[one->model].bytes < fleet->models.items[best->model].bytes;
        if (node || (less && !one->culprit == !best->culprit))
            cause->smallest = i;
    }
}

/* A model that is in one cause alone would pass without it. */
static void causes_unblock(struct odb_causes *causes, const struct odb_fleet *fleet)
{
    for (size_t m = 0; m < fleet->models.n; m++) {
        struct odb_cause *only = NULL;
        size_t n = 0;
        for (size_t i = 0; i < causes->list.n; i++)
            if (odb_cause_is_in(&causes->list.items[i], m)) {
                only = &causes->list.items[i];
                n++;
            }
        if (n != 1 || !odb_fleet_fails(fleet->models.items[m].verdict) ||
            !strcmp(only->base, ODB_CAUSE_OPEN))
            continue;
        only->unblocks++;
        for (size_t k = 0; k < only->members.n; k++)
            only->members.items[k].alone |= only->members.items[k].model == m;
    }
}

static int causes_order(const void *a, const void *b)
{
    const struct odb_cause *x = a, *y = b;
    if (x->unblocks != y->unblocks)
        return x->unblocks > y->unblocks ? -1 : 1;
    if (x->models != y->models)
        return x->models > y->models ? -1 : 1;
    return strcmp(x->title, y->title);
}

/* Two causes of one operator and kind are told apart by what explains them. */
static void cause_put_key(struct odb_cause *cause)
{
    cause->key = cause->variants.n ? odb_xasprintf("%s, %s", cause->base, cause->variants.items[0])
                                   : odb_xstrdup(cause->base);
}

bool odb_cause_same(const struct odb_cause *a, const struct odb_cause *b)
{
    return cause_takes(a, b->base, b->variants.items, b->variants.n);
}

void odb_causes_find(struct odb_causes *out, const struct odb_fleet *fleet)
{
    *out = (struct odb_causes){0};
    for (size_t i = 0; i < fleet->models.n; i++)
        cause_add_model(out, fleet, i);
    causes_join(out, fleet);
    for (size_t i = 0; i < out->list.n; i++) {
        struct odb_cause *cause = &out->list.items[i];
        cause_smallest(cause, fleet);
        cause_common(cause);
        cause_name(cause, fleet);
        cause_put_key(cause);
    }
    causes_unblock(out, fleet);
    if (out->list.n)
        qsort(out->list.items, out->list.n, sizeof *out->list.items, causes_order);
}

void odb_causes_put_known(const struct odb_causes *causes, struct odb_buf *out)
{
    for (size_t i = 0; i < causes->list.n; i++) {
        const struct odb_cause *cause = &causes->list.items[i];
        const char *kind = strrchr(cause->base, ' '); /* behind the operator */
        for (size_t k = 0; k < cause->variants.n; k++)
            if (!strchr(cause->variants.items[k], ';')) /* a user's own row may have any name */
                odb_buf_printf(out, "%s%.*s:%s", out->len ? ";" : "", (int)(kind - cause->base),
                               cause->base, cause->variants.items[k]);
    }
}

void odb_causes_dispose(struct odb_causes *causes)
{
    for (size_t i = 0; i < causes->list.n; i++) {
        struct odb_cause *cause = &causes->list.items[i];
        for (size_t k = 0; k < cause->variants.n; k++)
            free(cause->variants.items[k]);
        for (size_t k = 0; k < cause->common.n; k++)
            free(cause->common.items[k]);
        free(cause->variants.items);
        free(cause->common.items);
        free(cause->members.items);
        free(cause->base);
        free(cause->key);
        free(cause->title);
    }
    free(causes->list.items);
    *causes = (struct odb_causes){0};
}

/* Whether a key was this cause's, when it may have had more variants or fewer models. */
static bool cause_had_key(const struct odb_cause *cause, const char *key)
{
    size_t n = strlen(cause->base);
    if (strncmp(key, cause->base, n))
        return false;
    return !cause->variants.n
               ? !key[n]
               : !strncmp(key + n, ", ", 2) &&
                     cause_has_text(cause->variants.items, cause->variants.n, key + n + 2);
}

const struct odb_fleet_repro *odb_cause_repro(const struct odb_fleet *fleet,
                                              const struct odb_cause *cause)
{
    for (size_t i = 0; i < fleet->repros.n; i++)
        if (cause_had_key(cause, fleet->repros.items[i].cause))
            return &fleet->repros.items[i];
    return NULL;
}
