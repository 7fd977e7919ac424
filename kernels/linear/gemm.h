/* SPDX-License-Identifier: MIT
 *
 * A matrix product, for files that can compute one.
 */
#ifndef ODB_KERNELS_LINEAR_GEMM_H
#define ODB_KERNELS_LINEAR_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/dtype.h"

/* C = alpha * op(A) * op(B), plus C where accumulate. Row-major; op(A) is m x k, op(B) k x n.
 * Types: F32, F64 and the integers of 32 and 64 bits, which wrap and ignore alpha. */
struct odb_gemm {
    enum odb_dtype dtype;
    enum odb_dtype b_type; /* of B, where that is a narrower float type; ODB_UNDEFINED: dtype */
    bool trans_a, trans_b;
    bool accumulate;
    bool sequential; /* every sum in ascending order of k, in the element type */
    size_t m, n, k;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc; /* elements from row to row, as stored */
    double alpha;
};

#endif
