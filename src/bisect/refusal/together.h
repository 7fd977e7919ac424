/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fewest nodes that a target refuses together, of which one is known: the last. First it goes
 * back, to all that stand 1, 2, 4, … steps before it, until the cut is refused in the words sought,
 * fed with the reference's values; then as many of them as can go are taken out by delta debugging.
 * What is joined mostly stands close together, so that few and small models are loaded.
 */
#ifndef ODB_BISECT_REFUSAL_TOGETHER_H
#define ODB_BISECT_REFUSAL_TOGETHER_H

#include "bisect/findings.h"
#include "search/search.h"

struct together {
    const struct search_case *c;        /* borrowed */
    const struct odb_signature *sought; /* borrowed */
    int node;                           /* that ends the cut */
    int *values;                        /* owned: its outputs */
    size_t n;
    int *items; /* owned: that may go, while some are taken out */
    size_t n_items;
    bool *nodes;          /* owned; [n_nodes] the smallest cut that was refused; none: not yet */
    struct odb_error why; /* of that */
};

struct together together_new(const struct search_case *c, const struct odb_signature *sought,
                             int node);
void together_dispose(struct together *t);
/* Finds them. found: false: no cut is refused in these words. */
enum odb_status together_find(struct together *t, bool *found, struct odb_error *err) ODB_MUST_USE;
/* Whether these nodes ([n_nodes]) are: then they are kept, as the smallest. */
enum odb_status together_ask(struct together *t, const bool *nodes, enum odb_answer *answer,
                             struct odb_error *err) ODB_MUST_USE;
/* The cut of these nodes and of those that make their weights, cut [n_nodes], as a probe. what has
 * room for its title; the outputs are the caller's to free. */
struct odb_probe together_probe(const struct together *t, const bool *nodes, bool *cut, char *what,
                                size_t size);

#endif
