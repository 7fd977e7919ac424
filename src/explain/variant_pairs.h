/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two variants at once, for a node that has two faults: one may hide what the other explains.
 */
#ifndef ODB_EXPLAIN_VARIANT_PAIRS_H
#define ODB_EXPLAIN_VARIANT_PAIRS_H

#include "explain/variant.h"

#define PAIRS_OF 8 /* the best choices, each of which is tried with all others */

/* Choices that leave the least of the error, however much that is: the best first. */
struct pairs {
    struct {
        struct variant *v; /* owned */
        double left;
    } best[PAIRS_OF];
    size_t n;
};

/* What a candidate leaves of the error's energy, or would leave if it were scaled and moved to fit
 * best: a second fault may be just that. left: without that. */
double pairs_left(const struct accused *s, struct odb_tensor *const *candidate, double left);
/* left: the part of the error's energy. v is the callee's when take says so. */
void pairs_keep(struct pairs *pairs, struct variant *v, double left, bool *take);
/* Calls fn for each pair, as variant_each(); what is fitted is fitted to what the first leaves. */
void pairs_each(const struct pairs *pairs, const struct accused *s, variant_each_fn *fn,
                void *payload);
void pairs_dispose(struct pairs *pairs);

#endif
