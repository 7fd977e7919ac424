/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sums over a tensor's elements in double, by blocks on all threads.
 */
#ifndef ODB_EXPLAIN_MEASURE_IN_DOUBLE_H
#define ODB_EXPLAIN_MEASURE_IN_DOUBLE_H

#include "tensor/tensor.h"

/* Adds n elements to a sum: v of the tensor, y of the same places. Both are vectors (lanes.h), with
 * zeros behind up to a whole number of steps. */
typedef void in_double_fn(void *sum, const double *y, const double *v, size_t n);

/* Calls add for all elements of v, a dense tensor of real numbers, and of y (at least as many),
 * each part of them with a sum of its own. Returns how many parts there are, which depends on v's
 * count alone; *sums, each of so many bytes and zeroed first, are the caller's to free. */
size_t in_double(const struct odb_tensor *v, const odb_f64 *y, in_double_fn *add, size_t bytes,
                 void **sums);

#endif
