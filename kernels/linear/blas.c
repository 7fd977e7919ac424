/* SPDX-License-Identifier: MIT
 *
 * Row-major matrix products by OpenBLAS. A product with a single row or column is a matrix-vector
 * product: gemm would pack the whole matrix for it. Operands may be unaligned (weights are mapped
 * files); OpenBLAS reads them with unaligned loads.
 */
#include "kernels/linear/blas.h"

#include <cblas.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

static void blas_init(void)
{
    openblas_set_num_threads(1);
}

bool odb_blas_can(const struct odb_gemm *g)
{
    return (g->dtype == ODB_F32 || g->dtype == ODB_F64) && g->m <= INT_MAX && g->n <= INT_MAX &&
           g->k <= INT_MAX && g->lda <= INT_MAX && g->ldb <= INT_MAX && g->ldc <= INT_MAX;
}

/* y = alpha * op(mat) * x + y, where y has g's single row or column. */
static void blas_vector(const struct odb_gemm *g)
{
    bool row = g->m == 1;
    const void *mat = row ? g->b : g->a, *x = row ? g->a : g->b;
    bool stored_as_used = row ? g->trans_b : !g->trans_a; /* rows of mat are what y counts */
    int y_len = (int)(row ? g->n : g->m), k = (int)g->k;
    int ld = (int)(row ? g->ldb : g->lda);
    int inc_x = row ? (g->trans_a ? (int)g->lda : 1) : (g->trans_b ? 1 : (int)g->ldb);
    int inc_y = row ? 1 : (int)g->ldc;
    CBLAS_TRANSPOSE trans = stored_as_used ? CblasNoTrans : CblasTrans;
    int rows = stored_as_used ? y_len : k, cols = stored_as_used ? k : y_len;
    if (g->dtype == ODB_F64) {
        double *y = g->c;
        for (int i = 0; i < y_len && !g->accumulate; i++)
            y[(size_t)i * (size_t)inc_y] = 0;
        cblas_dgemv(CblasRowMajor, trans, rows, cols, g->alpha, mat, ld, x, inc_x, 1, y, inc_y);
    } else {
        float *y = g->c;
        for (int i = 0; i < y_len && !g->accumulate; i++)
            y[(size_t)i * (size_t)inc_y] = 0;
        cblas_sgemv(CblasRowMajor, trans, rows, cols, (float)g->alpha, mat, ld, x, inc_x, 1, y,
                    inc_y);
    }
}

void odb_blas_gemm(const struct odb_gemm *g)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, blas_init);
    if (g->m == 1 || g->n == 1) {
        blas_vector(g);
        return;
    }
    CBLAS_TRANSPOSE ta = g->trans_a ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE tb = g->trans_b ? CblasTrans : CblasNoTrans;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    if (g->dtype == ODB_F64)
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, g->alpha, g->a, lda, g->b, ldb, g->accumulate,
                    g->c, ldc);
    else
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)g->alpha, g->a, lda, g->b, ldb,
                    (float)g->accumulate, g->c, ldc);
}
