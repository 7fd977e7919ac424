/* SPDX-License-Identifier: MIT
 *
 * The matrix product under MatMul, Gemm and the convolutions.
 */
#ifndef ODB_KERNELS_LINEAR_MATMUL_H
#define ODB_KERNELS_LINEAR_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tensor/dtype.h"

/* C = alpha * op(A) * op(B), plus C where accumulate. Row-major; op(A) is m x k, op(B) k x n.
 * Types: F32, F64 and the integers of 32 and 64 bits, which wrap and ignore alpha. */
struct odb_gemm {
    enum odb_dtype dtype;
    bool trans_a, trans_b;
    bool accumulate;
    bool sequential; /* every sum in ascending order of k, in the element type; no BLAS */
    size_t m, n, k;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc; /* elements from row to row, as stored */
    double alpha;
};

/* Computes it on this thread. False: out of memory. */
bool odb_gemm_run(const struct odb_gemm *g) ODB_MUST_USE;

/* Computes `batch` products that differ in where their operands start (elements from g->a, g->b,
 * g->c; NULL arrays: 0), split over threads at borders that depend on the sizes only. */
bool odb_gemm_batch(const struct odb_gemm *g, size_t batch, const size_t *at_a, const size_t *at_b,
                    const size_t *at_c) ODB_MUST_USE;

/* y[i] = sums[i] * ratio[i * step], rounded to the nearest even level, plus zero, saturating in
 * dtype (I8 or U8). Ratios are taken in float, as everyone takes them: of the operands' scales'
 * product to the result's scale. */
void odb_requantize(const odb_i32 *sums, size_t n, const float *ratio, size_t step,
                    enum odb_dtype dtype, int32_t zero, odb_u8 *y);

#endif
