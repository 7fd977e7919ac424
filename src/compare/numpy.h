/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions answered exactly as NumPy and the scripts built on it answer them, so that old
 * results can be reproduced to the last digit. Tensors of one shape, not strings; a pair of
 * different float types is compared in the wider one. One thing is not NumPy's: allclose and
 * almost equal subtract integers as integers, where NumPy makes doubles of them first and finds
 * 2^60 and 2^60 + 1 equal.
 */
#ifndef ODB_COMPARE_NUMPY_H
#define ODB_COMPARE_NUMPY_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

/* |e-b| <= atol + rtol*|b| for all finite pairs, equal infinities, NaN at the same places when
 * equal_nan, else nowhere. *bad, may be NULL: how many elements fail. In double. */
bool odb_all_close(const struct odb_tensor *evaluated, const struct odb_tensor *base, double rtol,
                   double atol, bool equal_nan, size_t *bad);

/* assert_array_almost_equal: |e-b| < 1.5 * 10^-decimals, difference and threshold in the arrays'
 * own float type (double for integers); NaN at the same places and equal infinities pass. */
bool odb_almost_equal(const struct odb_tensor *evaluated, const struct odb_tensor *base,
                      int decimals, size_t *bad);

/* sqrt(sum (e-b)^2 / sum b^2): values, sums and quotient in float32, added in NumPy's order, the
 * root in double. */
double odb_diff2_f32(const struct odb_tensor *evaluated, const struct odb_tensor *base);

/* The mean of |e-b| / (|b| + 1e-9) where |b| > th, else of |e-b|, in double, added in NumPy's
 * order. 0 where there are no elements. */
double odb_diff3_mean(const struct odb_tensor *evaluated, const struct odb_tensor *base, double th);

/* numpy.mean() of doubles, added in its order: NaN where n is 0. */
double odb_numpy_mean(const double *v, size_t n);

/* The three-way test of one number: diff3(target, golden) <= tag * diff3(compare, golden). */
bool odb_three_way(double target, double compare, double tag);

#endif
