/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Culprits in order of the evidence against them. The order in which they were found stays among
 * equals: it is that of the model, or what shows at an output comes first.
 */
#include "bisect/evidence/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"

/* Lower comes first. */
static int rank_of(const struct findings *f, const struct odb_culprit *who)
{
    bool found =
        who->kind == ODB_KIND_NONDETERMINISTIC && f->report->repeats.first_node == who->node;
    bool held = who->kind == ODB_KIND_EXCHANGED || who->kind == ODB_KIND_OVERWRITTEN;
    bool confirmed = who->verified || who->known || who->of_reference || found || held ||
                     who->checks[ODB_CHECK_PINNED] == ODB_CONFIRMS;
    return who->narrower                ? 3 /* as any node of such a target is */
           : confirmed                  ? 0
           : odb_culprit_is_region(who) ? 2
                                        : 1;
}

/* What a culprit says is said by another one as well. */
static bool rank_is_twice(const struct findings *f, const struct odb_culprit *who,
                          const struct odb_culprit *other)
{
    bool racer = who->kind == ODB_KIND_NONDETERMINISTIC &&
                 other->kind == ODB_KIND_NONDETERMINISTIC &&
                 f->report->repeats.first_node == other->node; /* where it begins is known */
    bool same = who->kind == other->kind && who->node == other->node &&
                who->segment[0] == other->segment[0] && who->segment[1] == other->segment[1] &&
                who->path == NULL && other->path == NULL;
    return same || (racer && !who->verified);
}

/* A region that is as far as a search came, with a node in it that fails by itself; or one that was
 * pinned in vain. */
static bool rank_is_cleared(const struct odb_culprit *c, const struct odb_culprit *other)
{
    if (!odb_culprit_is_region(c) || c->verified || !other->verified)
        return false;
    bool within = other->node >= c->segment[0] && other->segment[1] <= c->segment[1];
    return within || c->checks[ODB_CHECK_PINNED] == ODB_CONTRADICTS ||
           c->checks[ODB_CHECK_REGION] == ODB_CONTRADICTS || c->spoils == ODB_CONTRADICTS;
}

/* Which culprits are to be compared: there may be as many as nodes. */
struct rank_index {
    int *first, *next; /* owned: of each node, and of the same node behind each; -1: none */
    bool *dropped;     /* owned */
    size_t n;
};

static struct rank_index rank_index_new(const struct findings *f)
{
    const struct odb_culprit *items = f->report->culprits.items;
    size_t n = f->report->culprits.n, nodes = f->report->model->graph->n_nodes;
    struct rank_index x = {.first = odb_new_n(int, nodes + 1),
                           .next = odb_new_n(int, n + 1),
                           .dropped = odb_new_n(bool, n + 1),
                           .n = n};
    for (size_t i = 0; i <= nodes; i++)
        x.first[i] = -1;
    for (size_t i = n; i-- > 0;) {
        int *first = &x.first[items[i].node < 0 ? nodes : (size_t)items[i].node];
        x.next[i] = *first;
        *first = (int)i;
    }
    return x;
}

/* The first that says what culprit i says, or clears it; -1: none does. */
static int rank_instead(const struct findings *f, const struct rank_index *x, size_t i)
{
    const struct odb_culprit *items = f->report->culprits.items, *who = &items[i];
    size_t nodes = f->report->model->graph->n_nodes;
    bool any = odb_culprit_is_region(who) || who->kind == ODB_KIND_NONDETERMINISTIC;
    int o = any ? 0 : x->first[who->node < 0 ? nodes : (size_t)who->node];
    for (; o >= 0 && o < (int)x->n; o = any ? o + 1 : x->next[o])
        if (o != (int)i && !x->dropped[o] &&
            (rank_is_twice(f, who, &items[o]) || rank_is_cleared(who, &items[o])))
            return o;
    return -1;
}

static void rank_clear(struct findings *f)
{
    const struct odb_culprit *items = f->report->culprits.items;
    struct rank_index x = rank_index_new(f);
    for (size_t i = x.n; i-- > 0;) {
        int instead = rank_instead(f, &x, i);
        x.dropped[i] = instead >= 0;
        if (instead >= 0 && odb_culprit_is_region(&items[i]))
            findings_note(f,
                          "the region from #%d to #%d is not accused: #%d fails "
                          "by itself, and nothing else speaks against it",
                          items[i].segment[0], items[i].segment[1], items[instead].node);
    }
    for (size_t i = x.n; i-- > 0;)
        if (x.dropped[i])
            findings_drop(f, i);
    free(x.first);
    free(x.next);
    free(x.dropped);
}

/* Regions that are right when they are read are searched from the outputs, which meets the last one
 * first. */
static bool rank_is_behind(const struct findings *f, const struct odb_culprit *who,
                           const struct odb_culprit *other)
{
    int a = rank_of(f, who), b = rank_of(f, other);
    bool regions = odb_culprit_is_region(who) && odb_culprit_is_region(other);
    return a != b ? a > b : regions && who->kind == other->kind && who->node > other->node;
}

void rank_culprits(struct findings *f)
{
    rank_clear(f);
    for (size_t i = 1; i < f->report->culprits.n; i++) { /* few, and mostly in order */
        struct odb_culprit *items = findings_culprit(f, 0), moved = items[i];
        size_t at = i;
        for (; at > 0 && rank_is_behind(f, &items[at - 1], &moved); at--)
            items[at] = items[at - 1];
        items[at] = moved;
    }
}
