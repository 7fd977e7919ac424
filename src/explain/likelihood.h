/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All variants of a call by themselves, the likeliest first.
 */
#ifndef ODB_EXPLAIN_LIKELIHOOD_H
#define ODB_EXPLAIN_LIKELIHOOD_H

#include "explain/variant.h"

/* Replays that are enough while no variant agrees: 200 of each node. */
size_t likely_most(const struct accused *s);
/* Whether a variant by itself takes a run of the node, and not only a pass over what the reference
 * made. */
bool likely_replays(const struct variant *v);

/* Calls fn for each, until it says stop: in the order of the catalogue, which is that of
 * likelihood, but later what these wrong elements speak against. Replays that are more than enough
 * come last, when it is known whether any other agrees. over(payload): whether the time for making
 * them is over. */
void likely_each(const struct accused *s, variant_each_fn *fn, bool (*over)(void *payload),
                 void *payload);

#endif
