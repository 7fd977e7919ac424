/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Other inputs for what is explained.
 */
#ifndef ODB_EXPLAIN_MEASURE_OTHER_ORDER_H
#define ODB_EXPLAIN_MEASURE_OTHER_ORDER_H

#include "tensor/tensor.h"

/* The same numbers in another order, so that they stay what may be fed. A ref of t where no order
 * is another one (all numbers are alike), or an order may mean another thing. The caller's. */
struct odb_tensor *odb_explain_other_order(const struct odb_tensor *t, uint64_t seed);

#endif
