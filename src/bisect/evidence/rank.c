/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Culprits in order of the evidence against them. The order in which they were found, which is that
 * of the model, stays among equals.
 */
#include "bisect/evidence/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"

/* Lower comes first. */
static int rank_of(const struct bisection *b, const struct odb_culprit *c)
{
    bool found = c->kind == ODB_KIND_NONDETERMINISTIC && b->report->repeats.first_node == c->node;
    bool held = c->kind == ODB_KIND_EXCHANGED || c->kind == ODB_KIND_OVERWRITTEN;
    bool confirmed = c->verified || c->of_reference || found || held ||
                     c->checks[ODB_CHECK_PINNED] == ODB_CONFIRMS;
    return confirmed ? 0 : odb_culprit_is_region(c) ? 2 : 1;
}

/* What a culprit says is said by another one as well. */
static bool rank_is_twice(const struct bisection *b, const struct odb_culprit *c,
                          const struct odb_culprit *other)
{
    bool racer = c->kind == ODB_KIND_NONDETERMINISTIC && other->kind == ODB_KIND_NONDETERMINISTIC &&
                 b->report->repeats.first_node == other->node; /* where it begins is known */
    bool same = c->kind == other->kind && c->node == other->node &&
                c->segment[0] == other->segment[0] && c->segment[1] == other->segment[1] &&
                c->path == NULL && other->path == NULL;
    return same || (racer && !c->verified);
}

/* A region that is as far as a search came, with somebody in it who fails by himself; or one that
 * was pinned in vain. */
static bool rank_is_cleared(const struct odb_culprit *c, const struct odb_culprit *other)
{
    if (!odb_culprit_is_region(c) || c->verified || !other->verified)
        return false;
    bool within = other->node >= c->segment[0] && other->segment[1] <= c->segment[1];
    return within || c->checks[ODB_CHECK_PINNED] == ODB_CONTRADICTS ||
           c->checks[ODB_CHECK_REGION] == ODB_CONTRADICTS || c->spoils == ODB_CONTRADICTS;
}

static void rank_drop(struct bisection *b, size_t index)
{
    struct odb_culprit *items = b->report->culprits.items;
    odb_culprit_dispose(&items[index]);
    memmove(&items[index], &items[index + 1], (--b->report->culprits.n - index) * sizeof *items);
}

static void rank_clear(struct bisection *b)
{
    struct odb_culprit *items = b->report->culprits.items;
    for (size_t c = b->report->culprits.n; c-- > 0;)
        for (size_t o = 0; o < b->report->culprits.n; o++) {
            if (o == c ||
                !(rank_is_twice(b, &items[c], &items[o]) || rank_is_cleared(&items[c], &items[o])))
                continue;
            if (odb_culprit_is_region(&items[c]))
                odb_report_note(b->report,
                                "the region from #%d to #%d is not accused: #%d fails "
                                "by itself, and nothing else speaks against it",
                                items[c].segment[0], items[c].segment[1], items[o].node);
            rank_drop(b, c);
            break;
        }
}

void rank_culprits(struct bisection *b)
{
    struct odb_culprit *items = b->report->culprits.items;
    rank_clear(b);
    for (size_t i = 1; i < b->report->culprits.n; i++) { /* few, and mostly in order */
        struct odb_culprit c = items[i];
        size_t at = i;
        for (; at > 0 && rank_of(b, &items[at - 1]) > rank_of(b, &c); at--)
            items[at] = items[at - 1];
        items[at] = c;
    }
}
