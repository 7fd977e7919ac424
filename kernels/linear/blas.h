/* SPDX-License-Identifier: MIT
 *
 * The only door to OpenBLAS. One thread per call: OpenBLAS gives other bits with other thread
 * counts, so callers split the work themselves at fixed borders.
 */
#ifndef ODB_KERNELS_LINEAR_BLAS_H
#define ODB_KERNELS_LINEAR_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "kernels/linear/gemm.h"

/* Whether the sizes fit OpenBLAS's 32-bit integers and the type is float or double. */
bool odb_blas_can(const struct odb_gemm *g);

/* The product that g describes. odb_blas_can(g) holds; m, n, k > 0. */
void odb_blas_gemm(const struct odb_gemm *g);

#endif
