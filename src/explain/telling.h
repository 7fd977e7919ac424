/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs made for a node, to tell variants apart that hold alike on those it had: the same numbers
 * so large that integers saturate, in the middle between two integers, of the other sign. The model
 * may never feed the node such, so it is asked alone. Of a group, a value inside may tell them
 * apart.
 */
#ifndef ODB_EXPLAIN_TELLING_H
#define ODB_EXPLAIN_TELLING_H

#include "explain/variant.h"

/* How the inputs were made, k-th way: "32 times as large"; NULL: there are no more. Static. */
const char *telling_words(size_t k);
/* The node's operands, made so: [n_in] refs, the caller's. False: none of them changes, as weights
 * and integers do not. */
bool telling_make(struct odb_tensor **in, const struct accused *s, size_t k);
/* Of a group: the value inside that tells most of the others from the first variant, if it is read;
 * *told: how many it tells. ODB_NO_VALUE: none does. */
int telling_value(const struct accused *s, const struct variant *first,
                  const struct variant *const *others, size_t n, size_t *told);
/* Whether two variants give other outputs of these operands, by more than rounding. */
bool telling_apart(const struct accused *s, const struct variant *a, const struct variant *b);

#endif
