/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What may be said: nodes are ranked by what they explain, those that explain as much as the best,
 * as far as rounding tells, are one group, and how likely it holds the culprit is what planted
 * faults came to.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "suspects/odds.h"
#include "suspects/suspects_int.h"

#define CONCLUDE_TIE 3       /* times what the best misses: as good */
#define CONCLUDE_ROUNDING 16 /* times the reference's rounding: the target's may be so */
#define CONCLUDE_FITTED 1e-6 /* what amounts that are fitted in few steps may miss */
#define CONCLUDE_MISSES 0.2  /* so much at most is missed by what explains */
#define CONCLUDE_NAMES 0.5   /* probability from which suspects are worth naming */
#define CONCLUDE_SINGLE 0.9  /* and from which one of them is the suspect */

/* The best candidate of each node, in the order of the candidates: best first. */
static void conclude_list(struct suspects *s)
{
    bool *had = odb_new_n(bool, s->graph->n_nodes + 1);
    for (size_t i = 0; i < s->candidates.n; i++) {
        const struct candidate *c = &s->candidates.items[i];
        const struct deviation_row *row = deviation_row(c->family);
        int node = s->graph->values[c->value].producer;
        if (had[node] || c->dead)
            continue;
        had[node] = true;
        odb_push(&s->result->list,
                 (struct odb_suspect){.node = node,
                                      .value = c->value,
                                      .family = row->name,
                                      .words = row->words,
                                      .amount = row->amount == DEVIATION_FIXED ? NAN : c->amount,
                                      .explained = c->explained,
                                      .least = c->least});
    }
    free(had);
}

void suspects_conclude(struct suspects *s)
{
    struct odb_suspects *r = s->result;
    conclude_list(s);
    if (!r->list.n)
        return;
    double missed = fmax(1 - r->list.items[0].explained, 0);
    double floor = fmin(fmax(CONCLUDE_ROUNDING * r->rounding, CONCLUDE_FITTED), 0.1);
    double bound = fmax(CONCLUDE_TIE * missed, floor);
    while (r->n_likely < r->list.n && 1 - r->list.items[r->n_likely].explained <= bound)
        r->list.items[r->n_likely++].likely = true;
    r->next = r->n_likely < r->list.n ? r->list.items[r->n_likely].explained : 0;
    size_t fitted = ODB_MIN(r->n_used, (size_t)SUSPECTS_SCREENED);
    if (s->sifted && !r->pattern) /* of all else there were no trials */
        r->probability = odds_of(fmax(missed, floor), 1 - fmax(r->next, 0), r->n_used - fitted);
    r->explains = missed <= CONCLUDE_MISSES && !(r->probability < CONCLUDE_NAMES);
    r->single = r->n_likely == 1 && r->probability >= CONCLUDE_SINGLE;
}
