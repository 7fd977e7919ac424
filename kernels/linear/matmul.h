/* SPDX-License-Identifier: MIT
 *
 * The matrix product under MatMul, Gemm and the convolutions.
 */
#ifndef ODB_KERNELS_LINEAR_MATMUL_H
#define ODB_KERNELS_LINEAR_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "kernels/linear/gemm.h"
#include "tensor/dtype.h"

/* Computes it on this thread. False: out of memory. */
bool odb_gemm_run(const struct odb_gemm *g) ODB_MUST_USE;

/* Computes `batch` products that differ in where their operands start (elements from g->a, g->b,
 * g->c; NULL arrays: 0), split over threads at borders that depend on the sizes only. */
bool odb_gemm_batch(const struct odb_gemm *g, size_t batch, const size_t *at_a, const size_t *at_b,
                    const size_t *at_c) ODB_MUST_USE;

/* y[i] = sums[i] * ratio[i * step], rounded to the nearest even level, plus zero, saturating in
 * dtype (I8 or U8). Ratios are taken in float, as all implementations take them: of the operands'
 * scales' product to the result's scale. */
void odb_requantize(const odb_i32 *sums, size_t n, const float *ratio, size_t step,
                    enum odb_dtype dtype, int32_t zero, odb_u8 *y);

#endif
