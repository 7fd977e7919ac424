/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The model against itself, on the reference alone: all pieces in one step give what they give step
 * by step. That is so of every decoder whose mask and positions are right, and of none with an
 * export that sees what is yet to come.
 */
#ifndef ODB_SEQUENCE_CONSISTENCY_H
#define ODB_SEQUENCE_CONSISTENCY_H

#include "sequence/reference/rollout.h"

struct odb_consistency {
    bool asked;      /* there was something to compare */
    char *why;       /* owned: why there was not; NULL: there was */
    bool ran;        /* all pieces ran at once */
    bool exact;      /* bit for bit */
    bool broken;     /* off by more than rounding does */
    bool padded;     /* of places that fill up rows of the batch nothing was compared */
    double error;    /* the largest, relative to rms */
    size_t step;     /* where it is broken first */
    int output;      /* number of the output there */
    int node;        /* the first that gives other values there; ODB_NO_NODE: not found */
    size_t compared; /* outputs */
};

enum odb_status odb_consistency_look(struct odb_consistency *out, const struct odb_rollout *steps,
                                     const struct odb_search_hooks *hooks,
                                     struct odb_error *err) ODB_MUST_USE;
void odb_consistency_dispose(struct odb_consistency *consistency);
/* How far two tensors of one type may lie apart by rounding alone, sums in another order included:
 * relative to rms. */
double odb_consistency_limit(enum odb_dtype dtype);

#endif
