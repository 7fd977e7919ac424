/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Other inputs for what is explained: the same numbers in another order, so that they stay what may
 * be fed.
 */
#ifndef ODB_EXPLAIN_OTHER_ORDER_H
#define ODB_EXPLAIN_OTHER_ORDER_H

#include "tensor/tensor.h"

/* A ref of t where an order says nothing, or may mean another thing. The caller's. */
struct odb_tensor *other_order(const struct odb_tensor *t, uint64_t seed);

#endif
