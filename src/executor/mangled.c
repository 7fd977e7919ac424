/* SPDX-License-Identifier: MIT
 *
 * A name is made loose: what is no letter or digit is one '_'. Then one rule is looked for that
 * most files fit: what to take off a file's loose name (an index in front, a beginning, an end)
 * and off a value's, so that the same is left. Each file proposes the rules that would do for it.
 *
 * Names of which the same is left are a group. In it a file and a value are matched where shapes
 * leave no other choice; else where the reference's values tell them clearly apart; else, where all
 * files have an index, in its order. What stays open is no
 * value's: a wrong match would look like a wrong target.
 */
#include "executor/mangled.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define MANGLED_VOTERS 200  /* files that propose rules */
#define MANGLED_LEAD 5      /* words that a rule may take off in front */
#define MANGLED_TAIL 2      /* and behind */
#define MANGLED_COMMON 8    /* values of one key, beyond which it tells nothing */
#define MANGLED_LOOKED 4096 /* elements of a pair that are compared, about */
#define MANGLED_PAIRS 4096  /* files times values of a group that is looked at */
#define MANGLED_CLEAR 0.1   /* of the next best error, by which values tell files apart */
#define MANGLED_NEAR 0.5    /* of its rms: a value that is further off is no witness */

struct mangled_rule {
    bool indexed;          /* an index is taken off the file's name, and all before it */
    char *lead, *tail;     /* owned: off the file's; "" nothing */
    char *unlead, *untail; /* owned: off the value's */
    size_t votes, matched;
};

struct mangled_file {
    size_t item;
    char *loose;      /* owned */
    const char *rest; /* in loose, behind the index; NULL: there is none */
    unsigned long index;
    struct odb_tensor *tensor; /* ref; NULL: it cannot be read */
    char *key;                 /* owned: by the rule that is tried; NULL: it does not fit */
    int value;                 /* as in mangled_value; -1: none */
    bool left;                 /* it fits a rule, and no value is known to be it */
    ODB_VEC(int) choices;      /* values that it could be, where it is left */
};

/* What a number may count, in the order in which the file has the nodes. */
enum mangled_count { MANGLED_NODES, MANGLED_OUTPUTS, MANGLED_NO_CONSTANTS, MANGLED_COUNTS };

struct mangled_value {
    int index; /* in the graph */
    int node;  /* that makes it, in the order of the file; -1: none does */
    int slot;
    bool constant; /* a Constant makes it */
    long number[MANGLED_COUNTS];
    char *loose, *key;           /* owned */
    const struct odb_type *type; /* borrowed for the call */
    struct odb_tensor *witness;  /* ref; NULL: not known */
    int file;
};

/* A key that a value's name has once something is taken off. */
struct mangled_key {
    int value;
    size_t from, to; /* in loose */
    size_t next;     /* another of the same key */
};

struct odb_mangled {
    ODB_VEC(struct mangled_file) files;
    ODB_VEC(struct mangled_value) values;
    ODB_VEC(struct mangled_rule) rules; /* proposed */
    struct mangled_rule used;           /* owned: that was taken, beside none at all */
    bool has_used;
    bool has_numbers; /* names that are a number */
    size_t *item_of;  /* owned; [n_values] of the graph */
    size_t n_values;
    char **names;  /* owned, each: of files */
    char **called; /* owned, each: of graph values */
};

/* --- names ------------------------------------------------------------------------------------ */

static char *mangled_loose(const char *name)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (const char *p = name; *p; p++) {
        bool keeps = isalnum((unsigned char)*p) && (unsigned char)*p < 128;
        if (keeps)
            odb_buf_putc(&out, *p);
        else if (out.len && out.data[out.len - 1] != '_')
            odb_buf_putc(&out, '_');
    }
    while (out.len && out.data[out.len - 1] == '_')
        out.data[--out.len] = '\0';
    return out.data ? odb_buf_take(&out) : odb_xstrdup("");
}

/* The first of the first three words that is a number. */
static void mangled_index(struct mangled_file *file)
{
    const char *p = file->loose;
    for (int word = 0; word < 3 && *p; word++) {
        size_t n = strcspn(p, "_"), digits = strspn(p, "0123456789");
        if (digits == n && n < 10) {
            file->index = strtoul(p, NULL, 10);
            file->rest = p[n] ? p + n + 1 : p + n;
            return;
        }
        p += n + (p[n] == '_');
    }
}

/* text without a beginning and an end that are whole words; NULL: it has them not, or nothing is
 * left. The caller's. */
static char *mangled_strip(const char *text, const char *lead, const char *tail)
{
    size_t n = strlen(text), a = strlen(lead), b = strlen(tail);
    if (a && (n <= a || strncmp(text, lead, a) != 0 || text[a] != '_'))
        return NULL;
    a += a > 0;
    if (b && (n <= a + b || strcmp(text + n - b, tail) != 0 || text[n - b - 1] != '_'))
        return NULL;
    b += b > 0;
    return n > a + b ? odb_xstrndup(text + a, n - a - b) : NULL;
}

/* --- what fits -------------------------------------------------------------------------------- */

static bool mangled_same_shape(const struct odb_tensor *t, const struct odb_tensor *other)
{
    return t->kind == other->kind && t->rank == other->rank &&
           !memcmp(t->dims, other->dims, (size_t)t->rank * sizeof *t->dims);
}

/* Numbers and strings are never the same value; exactly: nor are floats and integers. */
static bool mangled_types_fit(enum odb_dtype a, enum odb_dtype b, bool exactly)
{
    if (a == ODB_UNDEFINED || b == ODB_UNDEFINED)
        return true;
    if ((a == ODB_STRING) != (b == ODB_STRING))
        return false;
    return !exactly ||
           (odb_dtype_is_float(a) == odb_dtype_is_float(b) && (a == ODB_BOOL) == (b == ODB_BOOL));
}

static bool mangled_fits(const struct mangled_file *file, const struct mangled_value *value,
                         bool exactly)
{
    const struct odb_tensor *t = file->tensor;
    const struct odb_type *type = value->type;
    if (!t)
        return false;
    if (value->witness)
        return mangled_same_shape(t, value->witness) &&
               mangled_types_fit(t->dtype, value->witness->dtype, exactly);
    if (!type->known)
        return true;
    if (t->kind != type->kind || !mangled_types_fit(t->dtype, type->dtype, exactly))
        return false;
    bool fits = t->kind != ODB_TENSOR || type->rank < 0 || type->rank == t->rank;
    for (int d = 0; fits && t->kind == ODB_TENSOR && d < type->rank; d++)
        fits = type->dims[d].value < 0 || type->dims[d].value == t->dims[d];
    return fits;
}

/* Root mean square of the difference, over that of the reference's value, of some elements;
 * infinite where there is no telling. */
static double mangled_error(const struct mangled_file *file, const struct mangled_value *value)
{
    const struct odb_tensor *a = file->tensor, *b = value->witness;
    double off = 0, all = 0;
    if (!b || !mangled_fits(file, value, false) || odb_tensor_real(a) == ODB_UNDEFINED ||
        odb_tensor_real(b) == ODB_UNDEFINED)
        return INFINITY;
    for (size_t i = 0; i < b->count; i += b->count / MANGLED_LOOKED + 1) {
        double x = odb_tensor_f64(a, i), y = odb_tensor_f64(b, i);
        off += x == y || (isnan(x) && isnan(y)) ? 0 : (x - y) * (x - y);
        all += y * y;
    }
    return isnan(off) ? INFINITY : off == 0 ? 0 : sqrt(off / all);
}

/* --- a group ---------------------------------------------------------------------------------- */

struct mangled_group {
    struct odb_mangled *m;
    ODB_VEC(int) files;
    ODB_VEC(int) values;
};

static void group_match(struct mangled_group *g, int file, int value)
{
    g->m->files.items[file].value = value;
    g->m->values.items[value].file = file;
}

static bool group_open(const struct mangled_group *g, int file, int value, bool exactly)
{
    return g->m->files.items[file].value < 0 && g->m->values.items[value].file < 0 &&
           mangled_fits(&g->m->files.items[file], &g->m->values.items[value], exactly);
}

/* The only value that a file can be; -1: there are none, or several. */
static int group_only(const struct mangled_group *g, int file, bool exactly)
{
    int only = -1;
    for (size_t v = 0; v < g->values.n; v++) {
        if (!group_open(g, file, g->values.items[v], exactly))
            continue;
        if (only >= 0)
            return -1;
        only = g->values.items[v];
    }
    return only;
}

/* Files that can be one value only, which no other such file can be. */
static void group_by_shape(struct mangled_group *g, bool exactly)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t f = 0; f < g->files.n; f++) {
            int value = group_only(g, g->files.items[f], exactly), rivals = 0;
            for (size_t other = 0; value >= 0 && other < g->files.n; other++)
                rivals += group_only(g, g->files.items[other], exactly) == value;
            if (value < 0 || rivals > 1)
                continue;
            group_match(g, g->files.items[f], value);
            more = true;
        }
    }
}

/* Whether the reference's value is clearly this file's, and no other's. */
static bool group_is_clear(const struct mangled_group *g, int file, int value)
{
    const struct odb_mangled *m = g->m;
    double error = mangled_error(&m->files.items[file], &m->values.items[value]);
    bool clear = error < MANGLED_NEAR;
    for (size_t v = 0; v < g->values.n && clear; v++)
        if (g->values.items[v] != value && group_open(g, file, g->values.items[v], false))
            clear = error < MANGLED_CLEAR * mangled_error(&m->files.items[file],
                                                          &m->values.items[g->values.items[v]]);
    for (size_t f = 0; f < g->files.n && clear; f++)
        if (g->files.items[f] != file && group_open(g, g->files.items[f], value, false))
            clear = error < MANGLED_CLEAR * mangled_error(&m->files.items[g->files.items[f]],
                                                          &m->values.items[value]);
    return clear;
}

static void group_by_value(struct mangled_group *g)
{
    for (size_t f = 0; f < g->files.n; f++)
        for (size_t v = 0; v < g->values.n; v++)
            if (group_open(g, g->files.items[f], g->values.items[v], false) &&
                group_is_clear(g, g->files.items[f], g->values.items[v]))
                group_match(g, g->files.items[f], g->values.items[v]);
}

static int mangled_by_index(const void *a, const void *b)
{
    const struct mangled_file *x = *(const struct mangled_file *const *)a;
    const struct mangled_file *y = *(const struct mangled_file *const *)b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* As many files as values, all with an index of their own, fitting in its order. Values stand in
 * the order of their nodes. */
static void group_by_order(struct mangled_group *g, bool indexed)
{
    struct odb_mangled *m = g->m;
    const struct mangled_file **files = odb_new_n(const struct mangled_file *, g->files.n + 1);
    ODB_VEC(int) values = {0};
    size_t n = 0;
    for (size_t f = 0; f < g->files.n; f++)
        if (m->files.items[g->files.items[f]].value < 0)
            files[n++] = &m->files.items[g->files.items[f]];
    for (size_t v = 0; v < g->values.n; v++)
        if (m->values.items[g->values.items[v]].file < 0)
            odb_push(&values, g->values.items[v]);
    qsort(files, n, sizeof *files, mangled_by_index);
    bool fits = indexed && n == values.n;
    for (size_t i = 0; i < n && fits; i++)
        fits = files[i]->rest && (!i || files[i]->index != files[i - 1]->index) &&
               mangled_fits(files[i], &m->values.items[values.items[i]], false) &&
               (!m->values.items[values.items[i]].witness ||
                mangled_error(files[i], &m->values.items[values.items[i]]) < MANGLED_NEAR);
    for (size_t i = 0; i < n && fits; i++)
        group_match(g, (int)(files[i] - m->files.items), values.items[i]);
    free(values.items);
    free(files);
}

/* --- a rule ----------------------------------------------------------------------------------- */

static void rule_dispose(struct mangled_rule *rule)
{
    free(rule->lead);
    free(rule->tail);
    free(rule->unlead);
    free(rule->untail);
}

static bool rule_is_plain(const struct mangled_rule *rule)
{
    return !rule->indexed && !*rule->lead && !*rule->tail && !*rule->unlead && !*rule->untail;
}

/* Of a value that has not what the rule takes off, the whole name counts. */
static char *rule_value_key(const struct mangled_rule *rule, const char *loose)
{
    static const char none[] = "";
    for (int how = 0; how < 4; how++) {
        char *key =
            mangled_strip(loose, how & 1 ? none : rule->unlead, how & 2 ? none : rule->untail);
        if (key)
            return key;
    }
    return odb_xstrdup(loose);
}

static void rule_keys(struct odb_mangled *m, const struct mangled_rule *rule)
{
    for (size_t i = 0; i < m->files.n; i++) {
        struct mangled_file *file = &m->files.items[i];
        const char *from = rule->indexed ? file->rest : file->loose;
        free(file->key);
        file->key =
            file->value < 0 && from && *from ? mangled_strip(from, rule->lead, rule->tail) : NULL;
    }
    for (size_t i = 0; i < m->values.n; i++) {
        free(m->values.items[i].key);
        m->values.items[i].key =
            m->values.items[i].file < 0 ? rule_value_key(rule, m->values.items[i].loose) : NULL;
    }
}

static void file_may_be(struct mangled_file *file, int value)
{
    for (size_t c = 0; c < file->choices.n; c++)
        if (file->choices.items[c] == value)
            return;
    odb_push(&file->choices, value);
}

/* Which files have not been matched, and what they could be. */
static void group_leave(struct mangled_group *g)
{
    for (size_t f = 0; f < g->files.n; f++) {
        struct mangled_file *file = &g->m->files.items[g->files.items[f]];
        file->left |= file->value < 0;
        for (size_t v = 0; v < g->values.n && file->value < 0; v++)
            if (group_open(g, g->files.items[f], g->values.items[v], false))
                file_may_be(file, g->values.items[v]);
    }
}

static void group_judge(struct mangled_group *g, bool indexed)
{
    if (!g->values.n)
        return;
    if (g->files.n * g->values.n > MANGLED_PAIRS) {
        group_leave(g);
        return;
    }
    group_by_shape(g, false);
    group_by_shape(g, true);
    group_by_value(g);
    group_by_shape(g, false);
    group_by_order(g, indexed);
    group_leave(g);
}

/* Matches what the rule matches. Returns how many. */
static size_t rule_apply(struct odb_mangled *m, const struct mangled_rule *rule)
{
    struct odb_map *at = odb_map_new();
    ODB_VEC(struct mangled_group) groups = {0};
    size_t matched = 0, g;
    rule_keys(m, rule);
    for (size_t i = 0; i < m->files.n; i++) {
        if (!m->files.items[i].key)
            continue;
        if (!odb_map_get(at, m->files.items[i].key, &g)) {
            g = groups.n;
            odb_map_add(at, m->files.items[i].key, g);
            odb_push(&groups, (struct mangled_group){.m = m});
        }
        odb_push(&groups.items[g].files, (int)i);
    }
    for (size_t i = 0; i < m->values.n; i++)
        if (m->values.items[i].key && odb_map_get(at, m->values.items[i].key, &g))
            odb_push(&groups.items[g].values, (int)i);
    for (g = 0; g < groups.n; g++) {
        group_judge(&groups.items[g], rule->indexed);
        for (size_t f = 0; f < groups.items[g].files.n; f++)
            matched += m->files.items[groups.items[g].files.items[f]].value >= 0;
        free(groups.items[g].files.items);
        free(groups.items[g].values.items);
    }
    free(groups.items);
    odb_map_free(at);
    return matched;
}

/* --- looking for a rule ----------------------------------------------------------------------- */

/* Where the words of a name begin, from its first on; the end is not among them. */
static size_t mangled_begins(const char *text, size_t most, size_t *at)
{
    size_t n = 0;
    at[n++] = 0;
    for (const char *p = text; n <= most && (p = strchr(p, '_')) && p[1]; p++)
        at[n++] = (size_t)(p - text) + 1;
    return n;
}

/* Where it ends once so many of its last words are off. */
static size_t mangled_ends(const char *text, size_t most, size_t *at)
{
    size_t n = 0, len = strlen(text);
    at[n++] = len;
    for (size_t i = len; n <= most && i-- > 1;)
        if (text[i] == '_')
            at[n++] = i;
    return n;
}

/* What stands before from, and behind to, without the '_' between. The caller's. */
static char *mangled_before(const char *text, size_t from)
{
    return odb_xstrndup(text, from ? from - 1 : 0);
}

static char *mangled_behind(const char *text, size_t to)
{
    return odb_xstrdup(text[to] ? text + to + 1 : "");
}

struct mangled_keys {
    struct odb_map *first; /* owned: key -> in items */
    ODB_VEC(struct mangled_key) items;
};

static void keys_add(struct mangled_keys *keys, const char *loose, int value, size_t from,
                     size_t to)
{
    char *key = odb_xstrndup(loose + from, to - from);
    struct mangled_key entry = {value, from, to, ODB_RECORDING_NONE};
    odb_map_get(keys->first, key, &entry.next);
    odb_map_set(keys->first, key, keys->items.n);
    odb_push(&keys->items, entry);
    free(key);
}

static void keys_make(struct mangled_keys *keys, const struct odb_mangled *m)
{
    keys->first = odb_map_new();
    for (size_t v = 0; v < m->values.n; v++) {
        size_t from[MANGLED_LEAD + 1], to[MANGLED_TAIL + 1];
        const char *loose = m->values.items[v].loose;
        size_t n_from = mangled_begins(loose, MANGLED_LEAD, from);
        size_t n_to = mangled_ends(loose, MANGLED_TAIL, to);
        for (size_t a = 0; a < n_from && m->values.items[v].file < 0; a++)
            for (size_t b = 0; b < n_to; b++)
                if (from[a] < to[b])
                    keys_add(keys, loose, (int)v, from[a], to[b]);
    }
}

static void rules_vote(struct odb_mangled *m, struct odb_map *seen, struct mangled_rule rule)
{
    size_t at;
    char *text = odb_xasprintf("%d\n%s\n%s\n%s\n%s", rule.indexed, rule.lead, rule.tail,
                               rule.unlead, rule.untail);
    if (odb_map_get(seen, text, &at)) {
        m->rules.items[at].votes++;
        rule_dispose(&rule);
    } else {
        rule.votes = 1;
        odb_map_add(seen, text, m->rules.n);
        odb_push(&m->rules, rule);
    }
    free(text);
}

/* All rules by which this part of a file's name is a part of some value's. In front something is
 * taken off one of the two only. */
static void rules_propose(struct odb_mangled *m, const struct mangled_keys *keys,
                          struct odb_map *seen, const char *text, bool indexed, size_t from,
                          size_t to)
{
    char *key = odb_xstrndup(text + from, to - from);
    size_t at = ODB_RECORDING_NONE, n = 0;
    odb_map_get(keys->first, key, &at);
    free(key);
    for (size_t e = at; e != ODB_RECORDING_NONE; e = keys->items.items[e].next)
        n++;
    for (size_t e = at; e != ODB_RECORDING_NONE && n <= MANGLED_COMMON;
         e = keys->items.items[e].next) {
        const struct mangled_key *entry = &keys->items.items[e];
        const char *loose = m->values.items[entry->value].loose;
        if (from && entry->from)
            continue;
        rules_vote(m, seen,
                   (struct mangled_rule){.indexed = indexed,
                                         .lead = mangled_before(text, from),
                                         .tail = mangled_behind(text, to),
                                         .unlead = mangled_before(loose, entry->from),
                                         .untail = mangled_behind(loose, entry->to)});
    }
}

static void rules_find(struct odb_mangled *m)
{
    struct mangled_keys keys = {0};
    struct odb_map *seen = odb_map_new();
    size_t step = m->files.n / MANGLED_VOTERS + 1;
    keys_make(&keys, m);
    for (size_t f = 0; f < m->files.n; f += step) {
        const struct mangled_file *file = &m->files.items[f];
        for (int indexed = 0; indexed < 2 && file->value < 0; indexed++) {
            const char *text = indexed ? file->rest : file->loose;
            size_t from[MANGLED_LEAD + 1], to[MANGLED_TAIL + 1];
            if (!text || !*text)
                continue;
            size_t n_from = mangled_begins(text, MANGLED_LEAD, from);
            size_t n_to = mangled_ends(text, MANGLED_TAIL, to);
            for (size_t a = 0; a < n_from; a++)
                for (size_t b = 0; b < n_to; b++)
                    if (from[a] < to[b])
                        rules_propose(m, &keys, seen, text, indexed, from[a], to[b]);
        }
    }
    odb_map_free(keys.first);
    free(keys.items.items);
    odb_map_free(seen);
}

/* Most votes first; of as many, that which takes less off. */
static int rules_order(const void *a, const void *b)
{
    const struct mangled_rule *x = a, *y = b;
    size_t off[2] = {0};
    for (int i = 0; i < 2; i++) {
        const struct mangled_rule *r = i ? y : x;
        off[i] = (size_t)r->indexed + strlen(r->lead) + strlen(r->tail) + strlen(r->unlead) +
                 strlen(r->untail);
    }
    if (x->votes != y->votes)
        return x->votes > y->votes ? -1 : 1;
    return off[0] < off[1] ? -1 : off[0] > off[1];
}

/* Every match, and what was left, is forgotten. */
static void mangled_forget(struct odb_mangled *m)
{
    for (size_t i = 0; i < m->files.n; i++) {
        m->files.items[i].value = -1;
        m->files.items[i].left = false;
        free(m->files.items[i].choices.items);
        memset(&m->files.items[i].choices, 0, sizeof m->files.items[i].choices);
    }
    for (size_t i = 0; i < m->values.n; i++)
        m->values.items[i].file = -1;
    for (size_t i = 0; i < m->rules.n; i++)
        rule_dispose(&m->rules.items[i]);
    free(m->rules.items);
    memset(&m->rules, 0, sizeof m->rules);
    rule_dispose(&m->used);
    memset(&m->used, 0, sizeof m->used);
    m->has_used = m->has_numbers = false;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* By how much most files that are clearly some value's have a larger number than in that count;
 * false: not nearly all of at least two are of one mind. */
static bool numbers_offset(const struct odb_mangled *m, const int *clear, int count, long *offset)
{
    size_t n = 0, most = 0;
    for (size_t f = 0; f < m->files.n; f++) {
        size_t same = 0;
        n += clear[f] >= 0;
        for (size_t other = 0; clear[f] >= 0 && other < m->files.n; other++)
            same +=
                clear[other] >= 0 &&
                (long)m->files.items[other].index - m->values.items[clear[other]].number[count] ==
                    (long)m->files.items[f].index - m->values.items[clear[f]].number[count];
        if (same > most) {
            most = same;
            *offset = (long)m->files.items[f].index - m->values.items[clear[f]].number[count];
        }
    }
    return most >= 2 && 10 * most >= 9 * n;
}

/* Of names that are a number, and no more, values say how they are counted. Whatever does not fit
 * that count is no value's. */
static void mangled_numbers(struct odb_mangled *m)
{
    struct mangled_group g = {.m = m};
    int *clear = odb_new_n(int, m->files.n + 1);
    long offset = 0;
    for (size_t f = 0; f < m->files.n; f++) {
        clear[f] = -1;
        if (m->files.items[f].value < 0 && m->files.items[f].rest && !*m->files.items[f].rest)
            odb_push(&g.files, (int)f);
    }
    for (size_t v = 0; v < m->values.n; v++)
        if (m->values.items[v].node >= 0 && m->values.items[v].file < 0 &&
            m->values.items[v].witness && !m->values.items[v].constant)
            odb_push(&g.values, (int)v);
    for (size_t f = 0; f < g.files.n; f++)
        for (size_t v = 0; v < g.values.n && clear[g.files.items[f]] < 0; v++)
            if (group_is_clear(&g, g.files.items[f], g.values.items[v]))
                clear[g.files.items[f]] = g.values.items[v];
    bool counted = false;
    int count = -1;
    while (!counted && ++count < MANGLED_COUNTS)
        counted = numbers_offset(m, clear, count, &offset);
    for (size_t f = 0; f < g.files.n && counted; f++)
        for (size_t v = 0; v < g.values.n; v++)
            if ((long)m->files.items[g.files.items[f]].index - offset ==
                    m->values.items[g.values.items[v]].number[count] &&
                group_open(&g, g.files.items[f], g.values.items[v], false)) {
                group_match(&g, g.files.items[f], g.values.items[v]);
                m->has_numbers = true;
                break;
            }
    free(g.files.items);
    free(g.values.items);
    free(clear);
}

/* Loose names alone are believed of any file; a rule that takes something off only where it does
 * for half of the others, and for two. */
static void mangled_match(struct odb_mangled *m)
{
    static char nothing[] = "";
    const struct mangled_rule plain = {false, nothing, nothing, nothing, nothing, 0, 0};
    mangled_forget(m);
    size_t matched = rule_apply(m, &plain);
    size_t open = m->files.n - matched;
    rules_find(m);
    if (m->rules.n)
        qsort(m->rules.items, m->rules.n, sizeof *m->rules.items, rules_order);
    for (size_t r = 0; r < m->rules.n; r++) {
        struct mangled_rule *rule = &m->rules.items[r];
        size_t fits = rule->votes * (m->files.n / MANGLED_VOTERS + 1);
        if (rule_is_plain(rule))
            continue;
        if (fits < 2 || 2 * fits < open)
            break;
        m->has_used = rule_apply(m, rule) > 0;
        m->used = *rule;
        memset(rule, 0, sizeof *rule);
        break;
    }
    mangled_numbers(m);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool mangled_is_constant(const struct odb_node *node)
{
    return !strcmp(node->op_type, "Constant");
}

/* In the order in which the file has the nodes; inputs first. */
static int mangled_by_node(const void *a, const void *b)
{
    const struct mangled_value *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* How nodes, what they make, and that without constants, are counted. */
static void mangled_count(struct odb_mangled *m, const struct odb_graph *graph)
{
    long *before = odb_new_n(long, graph->n_nodes + 1),
         *varying = odb_new_n(long, graph->n_nodes + 1);
    const struct odb_node **order = odb_new_n(const struct odb_node *, graph->n_nodes + 1);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if ((size_t)graph->nodes[n].file_index < graph->n_nodes)
            order[graph->nodes[n].file_index] = &graph->nodes[n];
    for (size_t n = 0; n < graph->n_nodes; n++) {
        long made = order[n] ? order[n]->n_out : 0;
        bool constant = order[n] && mangled_is_constant(order[n]);
        before[n + 1] = before[n] + made;
        varying[n + 1] = varying[n] + (constant ? 0 : made);
    }
    for (size_t v = 0; v < m->values.n; v++) {
        struct mangled_value *value = &m->values.items[v];
        if (value->node < 0)
            continue;
        value->number[MANGLED_NODES] = value->node;
        value->number[MANGLED_OUTPUTS] = before[value->node] + value->slot;
        value->number[MANGLED_NO_CONSTANTS] = varying[value->node] + value->slot;
    }
    free(order);
    free(before);
    free(varying);
}

static void mangled_gather(struct odb_mangled *m, const struct odb_mangled_open *open)
{
    const struct odb_graph *graph = open->graph;
    size_t n = odb_recording_count(open->recording);
    m->names = odb_new_n(char *, n + 1);
    m->called = odb_new_n(char *, graph->n_values + 1);
    m->item_of = odb_new_n(size_t, graph->n_values + 1);
    m->n_values = graph->n_values;
    for (size_t i = 0; i < n; i++) {
        const char *name = odb_recording_name(open->recording, i);
        struct mangled_file file = {.item = i, .value = -1};
        struct odb_error ignored;
        if (!open->items[i] || odb_recording_is_numbered(open->recording, i) ||
            !strncmp(name, ODB_RECORDING_PARAMETERS, strlen(ODB_RECORDING_PARAMETERS)))
            continue;
        if (odb_recording_read(&file.tensor, open->recording, i, NULL, &ignored) != ODB_OK)
            file.tensor = NULL;
        file.loose = mangled_loose(name);
        mangled_index(&file);
        odb_push(&m->files, file);
        m->names[m->files.n - 1] = odb_xstrdup(name);
    }
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        m->called[v] = odb_xstrdup(value->name);
        m->item_of[v] = ODB_RECORDING_NONE;
        if (!value->name[0] || value->init || !open->values[v])
            continue;
        bool made = value->producer != ODB_NO_NODE;
        odb_push(&m->values, (struct mangled_value){
                                 .index = (int)v,
                                 .node = made ? graph->nodes[value->producer].file_index : -1,
                                 .slot = value->slot,
                                 .loose = mangled_loose(value->name),
                                 .type = &value->type,
                                 .file = -1});
    }
    if (m->values.n)
        qsort(m->values.items, m->values.n, sizeof *m->values.items, mangled_by_node);
    mangled_count(m, graph);
}

static void mangled_settle(struct odb_mangled *m)
{
    for (size_t v = 0; v < m->values.n; v++) {
        int file = m->values.items[v].file;
        m->item_of[m->values.items[v].index] =
            file < 0 ? ODB_RECORDING_NONE : m->files.items[file].item;
    }
}

/* What the reference makes of the inputs that were recorded. */
static void mangled_witness(struct odb_mangled *m, const struct odb_mangled_open *open)
{
    const struct odb_graph *graph = open->graph;
    struct odb_tensor **inputs = odb_new_n(struct odb_tensor *, graph->n_inputs + 1);
    struct odb_tensor **all = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    bool known = true;
    for (size_t i = 0; i < graph->n_inputs && known; i++) {
        int v = graph->inputs[i];
        struct odb_error ignored;
        size_t item =
            open->found[v] == ODB_RECORDING_NONE ? odb_mangled_find(m, v) : open->found[v];
        if (graph->values[v].init)
            continue;
        known = item != ODB_RECORDING_NONE &&
                odb_recording_read(&inputs[i], open->recording, item, &graph->values[v].type,
                                   &ignored) == ODB_OK;
    }
    if (known && open->witness(open->payload, inputs, all))
        for (size_t i = 0; i < m->values.n; i++)
            m->values.items[i].witness = odb_tensor_ref(all[m->values.items[i].index]);
    for (size_t i = 0; i < graph->n_inputs; i++)
        odb_tensor_unref(inputs[i]);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(all[v]);
    free(inputs);
    free(all);
}

/* Whether the reference's values may say more than names and declared shapes do. */
static bool mangled_needs_witness(const struct odb_mangled *m)
{
    bool needs = false;
    for (size_t i = 0; i < m->files.n && !needs; i++) {
        const struct mangled_file *file = &m->files.items[i];
        const struct odb_type *type = file->value < 0 ? NULL : m->values.items[file->value].type;
        needs = type ? !type->known || (type->kind == ODB_TENSOR && type->rank < 0)
                     : file->left || (file->rest && !*file->rest);
        for (int d = 0; type && type->kind == ODB_TENSOR && d < type->rank; d++)
            needs |= type->dims[d].value < 0;
    }
    return needs;
}

struct odb_mangled *odb_mangled_new(const struct odb_mangled_open *open)
{
    struct odb_mangled *m = odb_new(struct odb_mangled);
    mangled_gather(m, open);
    mangled_match(m);
    if (mangled_needs_witness(m)) {
        mangled_settle(m);
        mangled_witness(m, open);
        mangled_match(m);
    }
    mangled_settle(m);
    for (size_t i = 0; i < m->files.n; i++) {
        odb_tensor_unref(m->files.items[i].tensor);
        m->files.items[i].tensor = NULL;
    }
    for (size_t i = 0; i < m->values.n; i++) {
        odb_tensor_unref(m->values.items[i].witness);
        m->values.items[i].witness = NULL;
        m->values.items[i].type = NULL;
    }
    return m;
}

void odb_mangled_free(struct odb_mangled *m)
{
    if (!m)
        return;
    mangled_forget(m);
    for (size_t i = 0; i < m->files.n; i++) {
        free(m->files.items[i].loose);
        free(m->files.items[i].key);
        free(m->names[i]);
    }
    for (size_t i = 0; i < m->values.n; i++) {
        free(m->values.items[i].loose);
        free(m->values.items[i].key);
    }
    for (size_t v = 0; v < m->n_values; v++)
        free(m->called[v]);
    free(m->item_of);
    free(m->files.items);
    free(m->values.items);
    free(m->names);
    free(m->called);
    free(m);
}

size_t odb_mangled_find(const struct odb_mangled *m, int value)
{
    return m ? m->item_of[value] : ODB_RECORDING_NONE;
}

enum odb_mangled_fate odb_mangled_fate(const struct odb_mangled *m, size_t item)
{
    for (size_t i = 0; m && i < m->files.n; i++) {
        const struct mangled_file *file = &m->files.items[i];
        if (file->item != item || file->value >= 0 || !file->left)
            continue;
        for (size_t c = 0; c < file->choices.n; c++)
            if (m->values.items[file->choices.items[c]].file < 0)
                return ODB_MANGLED_SEVERAL;
        return ODB_MANGLED_MISFIT;
    }
    return ODB_MANGLED_OTHER;
}

/* --- what there is to say --------------------------------------------------------------------- */

static void mangled_put_part(struct odb_buf *out, const char *before, const char *what,
                             const char *behind)
{
    if (*what)
        odb_buf_printf(out, ", %s'%s' %s", before, what, behind);
}

bool odb_mangled_tell(const struct odb_mangled *m, struct odb_buf *out)
{
    size_t n = 0, first = 0;
    for (size_t i = m ? m->files.n : 0; i-- > 0;)
        if (m->files.items[i].value >= 0) {
            n++;
            first = i;
        }
    if (!n)
        return false;
    odb_buf_printf(out, "%zu recorded name%s matched by rule (what is no letter or digit is '_'", n,
                   n == 1 ? " was" : "s were");
    if (m->has_numbers)
        odb_buf_puts(out, ", numbers in the order of nodes, as values tell");
    if (m->has_used) {
        odb_buf_puts(out, m->used.indexed ? ", an index in front" : "");
        mangled_put_part(out, "", m->used.lead, "before it");
        mangled_put_part(out, "", m->used.tail, "behind it");
        mangled_put_part(out, "without ", m->used.unlead, "in front");
        mangled_put_part(out, "without ", m->used.untail, "at the end");
    }
    odb_buf_puts(out, "), as ");
    odb_buf_put_shown(out, m->names[first]);
    odb_buf_puts(out, " = ");
    odb_buf_put_shown(out, m->called[m->values.items[m->files.items[first].value].index]);
    return true;
}

/* A map cannot say it: lines end at a newline, a * stands for others, and # begins a remark. */
static bool mangled_is_sayable(const char *name)
{
    return !strpbrk(name, "*\n\r") && !strstr(name, " = ") && *name != '#' && *name != ' ';
}

static void mangled_put_line(struct odb_buf *out, const char *remark, const char *value,
                             const char *name)
{
    if (mangled_is_sayable(value) && mangled_is_sayable(name))
        odb_buf_printf(out, "%s%s = %s\n", remark, value, name);
}

void odb_mangled_map(const struct odb_mangled *m, bool choices, struct odb_buf *out)
{
    for (size_t i = 0; m && i < m->files.n; i++) {
        const struct mangled_file *file = &m->files.items[i];
        if (file->value >= 0)
            mangled_put_line(out, "", m->called[m->values.items[file->value].index], m->names[i]);
        for (size_t c = 0; choices && file->value < 0 && c < file->choices.n; c++) {
            const struct mangled_value *value = &m->values.items[file->choices.items[c]];
            if (value->file < 0)
                mangled_put_line(out, "# ", m->called[value->index], m->names[i]);
        }
    }
}
