/* SPDX-License-Identifier: MIT
 *
 * The product of float or double matrices that gives the same bits on every processor that has a
 * fused multiply-add: 256 terms at a time, every element of C is one chain of fused multiply-adds
 * in ascending order of k, begun at 0, and then added to what C holds. How wide the vectors are,
 * how the work is cut and which thread computes which part changes nothing.
 */
#ifndef ODB_KERNELS_LINEAR_PRODUCT_H
#define ODB_KERNELS_LINEAR_PRODUCT_H

#include <stdbool.h>

#include "base/error.h"
#include "kernels/linear/gemm.h"

/* Terms of a chain. */
#define ODB_PRODUCT_DEPTH 256

/* Instructions that the product is written with. */
enum odb_product_set { ODB_PRODUCT_NONE, ODB_PRODUCT_AVX2, ODB_PRODUCT_AVX512 };

/* The widest set that this processor has. */
enum odb_product_set odb_product_best(void);

/* Whether g's type has a kernel in that set. */
bool odb_product_can(const struct odb_gemm *g, enum odb_product_set set);

/* Computes g on this thread; m, n, k > 0. False: out of memory. */
bool odb_product_run(const struct odb_gemm *g, enum odb_product_set set) ODB_MUST_USE;

#endif
