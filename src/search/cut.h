/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which cut to ask next: search.c's other half.
 */
#ifndef ODB_SEARCH_CUT_H
#define ODB_SEARCH_CUT_H

#include "search/search.h"

/* What is known of a node at some point of a search. */
enum cut_mark {
    CUT_CLOSED = 1, /* it was asked, or cannot be */
    CUT_APART = 2   /* a cut of several, with this among them, could not be tested */
};

/* What stays as it is for all of a search. */
struct cut_plan {
    const struct odb_dag *dag;                /* borrowed */
    const struct odb_search_options *options; /* borrowed */
    int *order;                               /* owned; [n] depth first, parents before children */
};

void cut_plan_init(struct cut_plan *plan, const struct odb_dag *dag,
                   const struct odb_search_options *options);
void cut_plan_dispose(struct cut_plan *plan);

/* The frontier to ask of nodes that are not closed; loads: how many there may be, this one
 * included, to keep the promise of odb_search(). Returns its size, 0: no cut among the suspects
 * tells them apart; nodes ([that many], ascending) is the caller's. */
size_t cut_choose(const struct cut_plan *plan, const bool *suspects, const unsigned char *marks,
                  size_t loads, int **nodes);
/* A node that is no suspect, and has some of them before it, but not all; -1: there is none. A good
 * answer clears those. */
int cut_choose_beside(const struct cut_plan *plan, const bool *suspects,
                      const unsigned char *marks);

#endif
