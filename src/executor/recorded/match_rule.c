/* SPDX-License-Identifier: MIT
 *
 * One rule that most files fit: what to take off a file's loose name (an index in front, a
 * beginning, an end) and off a value's, so that the same is left. Each file proposes the rules that
 * would do for it. A rule that shapes or elements contradict is dropped, and so is one that finds a
 * value for some numbers and none for others: they count something else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "executor/recorded/mangled_int.h"

#define RULE_VOTERS 200         /* files that propose rules */
#define RULE_LEAD 5             /* words that a rule may take off in front */
#define RULE_TAIL 2             /* and behind */
#define RULE_COMMON ((size_t)8) /* values of one key, beyond which it tells nothing */
#define RULE_ROUNDS 3           /* rules that are taken, one after the other */
#define RULE_TRIES ((size_t)8)  /* and tried for each */

/* A key that a value's name has once something is taken off. */
struct rule_key {
    int value;
    size_t from, to; /* in loose */
    size_t next;     /* another of the same key */
};

/* --- a rule ----------------------------------------------------------------------------------- */

void mangled__rule_dispose(struct mangled_rule *rule)
{
    free(rule->lead);
    free(rule->tail);
    free(rule->unlead);
    free(rule->untail);
}

static bool rule_is_plain(const struct mangled_rule *rule)
{
    return rule->index < 0 && !*rule->lead && !*rule->tail && !*rule->unlead && !*rule->untail;
}

/* Of a value that has not what the rule takes off, the whole name counts. */
static char *rule_value_key(const struct mangled_rule *rule, const char *loose)
{
    static const char none[] = "";
    for (int how = 0; how < 4; how++) {
        char *key =
            mangled__strip(loose, how & 1 ? none : rule->unlead, how & 2 ? none : rule->untail);
        if (key)
            return key;
    }
    return odb_xstrdup(loose);
}

/* A file's name without the index that a rule takes off; NULL: it has none. */
static const char *rule_rest(const struct mangled_file *file, int index)
{
    if (index < 0)
        return file->loose;
    return (size_t)index < file->n_indices ? file->indices[index].rest : NULL;
}

static void rule_keys(struct odb_mangled *m, const struct mangled_rule *rule)
{
    for (size_t i = 0; i < m->files.n; i++) {
        struct mangled_file *file = &m->files.items[i];
        const char *from = rule_rest(file, rule->index);
        free(file->key);
        file->key =
            file->value < 0 && from && *from ? mangled__strip(from, rule->lead, rule->tail) : NULL;
    }
    for (size_t i = 0; i < m->values.n; i++) {
        free(m->values.items[i].key);
        m->values.items[i].key =
            m->values.items[i].file < 0 ? rule_value_key(rule, m->values.items[i].loose) : NULL;
    }
}

/* --- applying it ------------------------------------------------------------------------------ */

/* What a rule has made of the files that were open before. */
struct rule_outcome {
    size_t matched, misfits; /* misfits: files of which the value has another shape */
    bool counts;             /* a number is left of a name, and is none of a value's */
    ODB_VEC(int) files;      /* those that fit the rule */
};

static void rule_groups(struct odb_mangled *m, const struct mangled_rule *rule,
                        struct rule_outcome *out)
{
    struct odb_map *at = odb_map_new();
    ODB_VEC(struct mangled_group) groups = {0};
    size_t g;
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
        mangled__group_judge(&groups.items[g], rule->index);
        const struct mangled_group *group = &groups.items[g];
        out->counts |=
            !group->values.n && mangled__is_number(m->files.items[group->files.items[0]].key);
        for (size_t f = 0; f < group->files.n && group->values.n; f++)
            odb_push(&out->files, group->files.items[f]);
        mangled__group_dispose(&groups.items[g]);
    }
    free(groups.items);
    odb_map_free(at);
}

/* Whether elements say of a quarter of what was matched that it is another value. */
static bool rule_is_contradicted(struct odb_mangled *m, const struct rule_outcome *out)
{
    struct mangled_group g = {.m = m};
    size_t others = 0;
    for (size_t f = 0; f < out->files.n; f++)
        if (m->files.items[out->files.items[f]].value >= 0)
            odb_push(&g.files, out->files.items[f]);
    for (size_t v = 0; v < m->values.n; v++)
        if (m->values.items[v].witness)
            odb_push(&g.values, (int)v);
    int *clear = odb_new_n(int, g.files.n + 1);
    mangled__clear(&g, clear); /* which measures */
    for (size_t f = 0; f < g.files.n; f++)
        others += mangled__is_others(&g, f, m->files.items[g.files.items[f]].value);
    free(clear);
    bool is = others && 4 * others >= g.files.n;
    mangled__group_dispose(&g);
    return is;
}

/* As if the rule had not been tried. What it left open stays a choice of before, if there was one.
 */
static void rule_undo(struct odb_mangled *m, const struct rule_outcome *out, const bool *left)
{
    for (size_t f = 0; f < out->files.n; f++) {
        struct mangled_file *file = &m->files.items[out->files.items[f]];
        if (file->value >= 0)
            m->values.items[file->value].file = -1;
        file->value = -1;
        file->left = left[out->files.items[f]];
        if (!file->left)
            file->choices.n = 0;
    }
}

/* Matches what the rule matches; false: it is contradicted, and has matched nothing. */
static bool rule_apply(struct odb_mangled *m, const struct mangled_rule *rule, size_t *matched)
{
    struct rule_outcome out = {0};
    bool *left = odb_new_n(bool, m->files.n + 1);
    for (size_t f = 0; f < m->files.n; f++)
        left[f] = m->files.items[f].left;
    rule_keys(m, rule);
    rule_groups(m, rule, &out);
    for (size_t f = 0; f < out.files.n; f++) {
        const struct mangled_file *file = &m->files.items[out.files.items[f]];
        out.matched += file->value >= 0;
        out.misfits += file->value < 0 && !file->choices.n;
    }
    bool holds = out.misfits <= out.matched && !out.counts && !rule_is_contradicted(m, &out);
    if (!holds && !rule_is_plain(rule))
        rule_undo(m, &out, left);
    *matched = holds ? out.matched : 0;
    free(out.files.items);
    free(left);
    return holds;
}

/* --- looking for one -------------------------------------------------------------------------- */

/* What stands before from, and behind to, without the '_' between. The caller's. */
static char *rule_before(const char *text, size_t from)
{
    return odb_xstrndup(text, from ? from - 1 : 0);
}

static char *rule_behind(const char *text, size_t to)
{
    return odb_xstrdup(text[to] ? text + to + 1 : "");
}

struct rule_search {
    struct odb_mangled *m;
    struct odb_map *first; /* owned: key of a value -> in keys */
    ODB_VEC(struct rule_key) keys;
    struct odb_map *seen;  /* owned: a rule -> in rules */
    struct odb_map *voted; /* owned: a rule, and a value that it has found a file for */
    ODB_VEC(struct mangled_rule) rules;
};

static void search_add_key(struct rule_search *s, const char *loose, int value, size_t from,
                           size_t to)
{
    char *key = odb_xstrndup(loose + from, to - from);
    struct rule_key entry = {value, from, to, ODB_RECORDING_NONE};
    odb_map_get(s->first, key, &entry.next);
    odb_map_set(s->first, key, s->keys.n);
    odb_push(&s->keys, entry);
    free(key);
}

static void search_keys(struct rule_search *s)
{
    for (size_t v = 0; v < s->m->values.n; v++) {
        size_t from[RULE_LEAD + 1], to[RULE_TAIL + 1];
        const char *loose = s->m->values.items[v].loose;
        size_t n_from = mangled__begins(loose, RULE_LEAD, from);
        size_t n_to = mangled__ends(loose, RULE_TAIL, to);
        for (size_t a = 0; a < n_from && s->m->values.items[v].file < 0; a++)
            for (size_t b = 0; b < n_to; b++)
                if (from[a] < to[b])
                    search_add_key(s, loose, (int)v, from[a], to[b]);
    }
}

/* A rule that finds one value for many files has one vote. */
static void search_vote(struct rule_search *s, struct mangled_rule rule, int value)
{
    size_t at;
    char *text = odb_xasprintf("%d\n%s\n%s\n%s\n%s", rule.index, rule.lead, rule.tail, rule.unlead,
                               rule.untail);
    char *vote = odb_xasprintf("%s\n%d", text, value);
    bool first = odb_map_add(s->voted, vote, 0);
    if (odb_map_get(s->seen, text, &at)) {
        s->rules.items[at].votes += first;
        mangled__rule_dispose(&rule);
    } else {
        rule.votes = 1;
        odb_map_add(s->seen, text, s->rules.n);
        odb_push(&s->rules, rule);
    }
    free(text);
    free(vote);
}

/* All rules by which this part of a file's name is a part of some value's. In front, and behind,
 * something is taken off one of the two only: else one word would become another. A number is a
 * whole name or none. */
static void search_propose(struct rule_search *s, const char *text, int index, size_t from,
                           size_t to)
{
    char *key = odb_xstrndup(text + from, to - from);
    size_t at = ODB_RECORDING_NONE, n = 0;
    bool number = mangled__is_number(key);
    odb_map_get(s->first, key, &at);
    free(key);
    for (size_t e = at; e != ODB_RECORDING_NONE && n <= RULE_COMMON; e = s->keys.items[e].next)
        n++;
    for (size_t e = at; e != ODB_RECORDING_NONE && n <= RULE_COMMON; e = s->keys.items[e].next) {
        const struct rule_key *entry = &s->keys.items[e];
        const char *loose = s->m->values.items[entry->value].loose;
        bool whole = !entry->from && !loose[entry->to];
        bool both = (from && entry->from) || (text[to] && loose[entry->to]);
        if (both || (number && !whole))
            continue;
        search_vote(s,
                    (struct mangled_rule){.index = index,
                                          .lead = rule_before(text, from),
                                          .tail = rule_behind(text, to),
                                          .unlead = rule_before(loose, entry->from),
                                          .untail = rule_behind(loose, entry->to)},
                    entry->value);
    }
}

static void search_file(struct rule_search *s, const struct mangled_file *file)
{
    for (int index = -1; index < (int)file->n_indices && file->value < 0; index++) {
        const char *text = rule_rest(file, index);
        size_t from[RULE_LEAD + 1], to[RULE_TAIL + 1];
        if (!*text)
            continue;
        size_t n_from = mangled__begins(text, RULE_LEAD, from);
        size_t n_to = mangled__ends(text, RULE_TAIL, to);
        for (size_t a = 0; a < n_from; a++)
            for (size_t b = 0; b < n_to; b++)
                if (from[a] < to[b])
                    search_propose(s, text, index, from[a], to[b]);
    }
}

/* Most votes first; of as many, that which takes less off. */
static int search_order(const void *a, const void *b)
{
    const struct mangled_rule *x = a, *y = b;
    size_t off[2] = {0};
    for (int i = 0; i < 2; i++) {
        const struct mangled_rule *r = i ? y : x;
        off[i] = (size_t)(r->index + 1) + strlen(r->lead) + strlen(r->tail) + strlen(r->unlead) +
                 strlen(r->untail);
    }
    if (x->votes != y->votes)
        return x->votes > y->votes ? -1 : 1;
    return off[0] < off[1] ? -1 : off[0] > off[1];
}

/* Takes the best rule that does for half of the files that are left, and for two. False: there is
 * none. */
static bool search_take(struct rule_search *s, size_t open)
{
    size_t every = s->m->files.n / RULE_VOTERS + 1;
    for (size_t r = 0, tries = 0; r < s->rules.n && tries < RULE_TRIES; r++) {
        struct mangled_rule *rule = &s->rules.items[r];
        size_t fits = rule->votes * every, matched;
        if (rule_is_plain(rule))
            continue;
        if (rule->votes < 2 || 2 * fits < open)
            return false;
        tries++;
        if (!rule_apply(s->m, rule, &matched) || !matched)
            continue;
        odb_push(&s->m->used, *rule);
        *rule = s->rules.items[--s->rules.n];
        return true;
    }
    return false;
}

static bool rules_find(struct odb_mangled *m)
{
    struct rule_search s = {
        .m = m, .first = odb_map_new(), .seen = odb_map_new(), .voted = odb_map_new()};
    size_t open = 0;
    for (size_t f = 0; f < m->files.n; f++)
        open += m->files.items[f].value < 0;
    search_keys(&s);
    for (size_t f = 0; f < m->files.n; f += m->files.n / RULE_VOTERS + 1)
        search_file(&s, &m->files.items[f]);
    if (s.rules.n)
        qsort(s.rules.items, s.rules.n, sizeof *s.rules.items, search_order);
    bool taken = search_take(&s, open);
    for (size_t r = 0; r < s.rules.n; r++)
        mangled__rule_dispose(&s.rules.items[r]);
    free(s.rules.items);
    free(s.keys.items);
    odb_map_free(s.first);
    odb_map_free(s.seen);
    odb_map_free(s.voted);
    return taken;
}

static void rules_fold(struct odb_mangled *m)
{
    m->folded = true;
    for (size_t f = 0; f < m->files.n; f++)
        mangled__fold(m->files.items[f].loose);
    for (size_t v = 0; v < m->values.n; v++)
        mangled__fold(m->values.items[v].loose);
}

/* Loose names alone are believed of any file, with their capitals first. */
void mangled__by_rules(struct odb_mangled *m)
{
    static char nothing[] = "";
    const struct mangled_rule plain = {-1, nothing, nothing, nothing, nothing, 0};
    size_t matched;
    rule_apply(m, &plain, &matched);
    rules_fold(m);
    rule_apply(m, &plain, &matched);
    m->by_folding = matched > 0;
    for (int round = 0; round < RULE_ROUNDS && rules_find(m); round++) {
    }
}
