/* SPDX-License-Identifier: MIT
 *
 * The product of float or double matrices that gives the same bits on every processor that has a
 * fused multiply-add: 256 terms at a time, every element of C is one chain of fused multiply-adds
 * in ascending order of k, begun at 0, and then added to what C holds. How wide the vectors are,
 * how the work is cut, which rows are computed together and which thread computes which part
 * changes nothing. Without a fused multiply-add the chain rounds every product and every sum; all
 * else is the same.
 */
#ifndef ODB_KERNELS_LINEAR_PRODUCT_H
#define ODB_KERNELS_LINEAR_PRODUCT_H

#include <stdbool.h>

#include "base/error.h"
#include "kernels/linear/gemm.h"

/* Terms of a chain. */
#define ODB_PRODUCT_DEPTH 256

/* Instructions that the product is written with: vectors of 16 bytes, not fused, on any processor;
 * the same, fused; vectors of 32 and 64 bytes, fused. */
enum odb_product_set { ODB_PRODUCT_PLAIN, ODB_PRODUCT_FMA, ODB_PRODUCT_AVX2, ODB_PRODUCT_AVX512 };

/* Whether this processor has the set. */
bool odb_product_has(enum odb_product_set set);

/* The widest set that this processor has, or the one that SIMD= has built for. */
enum odb_product_set odb_product_best(void);

/* Bytes of a vector of the set: columns of C are computed in whole vectors. */
size_t odb_product_bytes(enum odb_product_set set);

/* Whether g's type is float or double. */
bool odb_product_can(const struct odb_gemm *g);

/* Computes g on this thread; m, n, k > 0. False: out of memory. */
bool odb_product_run(const struct odb_gemm *g, enum odb_product_set set) ODB_MUST_USE;

#endif
