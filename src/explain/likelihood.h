/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All variants of a call by themselves, the likeliest first.
 */
#ifndef ODB_EXPLAIN_LIKELIHOOD_H
#define ODB_EXPLAIN_LIKELIHOOD_H

#include "explain/variant.h"

#define LIKELY_MOST ((size_t)200) /* that are tried of a node while none agrees */

/* Calls fn for each, until it says stop: in the order of the catalogue, which is that of
 * likelihood, but first what these wrong elements speak for, and last what they speak against.
 * over(payload): whether the time for making them is over. */
void likely_each(const struct accused *s, variant_each_fn *fn, bool (*over)(void *payload),
                 void *payload);

#endif
