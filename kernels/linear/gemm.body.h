/* SPDX-License-Identifier: MIT
 *
 * The product without BLAS, per element type E (matmul.c) and width of registers (wide.h). A panel
 * of W columns of B is packed once; then four rows of C at a time walk down it. Every element of C
 * is one sum in ascending order of k, so this is the plain triple loop, only kept in registers and
 * caches.
 */
#define W (2 * VEC / sizeof(E))

typedef E WIDE_FN(vec) __attribute__((vector_size(VEC)));
typedef E WIDE_FN(elem) __attribute__((aligned(1), may_alias));

static void WIDE_FN(gemm_pack)(const struct odb_gemm *g, size_t j0, size_t cols, E *panel)
{
    const WIDE_FN(elem) *b = g->b;
    for (size_t p = 0; p < g->k; p++) {
        E *row = panel + p * W;
        for (size_t j = 0; j < cols; j++)
            row[j] = g->trans_b ? b[(j0 + j) * g->ldb + p] : b[p * g->ldb + j0 + j];
        for (size_t j = cols; j < W; j++)
            row[j] = 0;
    }
}

/* Rows [i0, i0 + 4) of A times the panel into sums; rows beyond m repeat row i0. */
WIDE static void WIDE_FN(gemm_quad)(const struct odb_gemm *g, size_t i0, const E *panel,
                                    E sums[4][W])
{
    size_t step_i = g->trans_a ? 1 : g->lda, step_p = g->trans_a ? g->lda : 1;
    const WIDE_FN(elem) *a0 = (const WIDE_FN(elem) *)g->a + i0 * step_i;
    const WIDE_FN(elem) *a1 = i0 + 1 < g->m ? a0 + step_i : a0;
    const WIDE_FN(elem) *a2 = i0 + 2 < g->m ? a0 + 2 * step_i : a0;
    const WIDE_FN(elem) *a3 = i0 + 3 < g->m ? a0 + 3 * step_i : a0;
    WIDE_FN(vec) s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0};
    WIDE_FN(vec) s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
    const WIDE_FN(vec) *b = (const WIDE_FN(vec) *)panel;
    for (size_t p = 0; p < g->k; p++, b += 2) {
        size_t at = p * step_p;
        s00 += a0[at] * b[0];
        s01 += a0[at] * b[1];
        s10 += a1[at] * b[0];
        s11 += a1[at] * b[1];
        s20 += a2[at] * b[0];
        s21 += a2[at] * b[1];
        s30 += a3[at] * b[0];
        s31 += a3[at] * b[1];
    }
    WIDE_FN(vec) *out = (WIDE_FN(vec) *)sums;
    out[0] = s00, out[1] = s01, out[2] = s10, out[3] = s11;
    out[4] = s20, out[5] = s21, out[6] = s30, out[7] = s31;
}

WIDE static bool WIDE_FN(gemm_naive)(const struct odb_gemm *g)
{
    E *panel = odb_workspace(ODB_WORKSPACE_PACK, g->k * W * sizeof(E) + VEC);
    if (!panel)
        return false;
    E sums[4][W] __attribute__((aligned(VEC)));
    for (size_t j0 = 0; j0 < g->n; j0 += W) {
        size_t cols = ODB_MIN(W, g->n - j0);
        WIDE_FN(gemm_pack)(g, j0, cols, panel);
        for (size_t i = 0; i < g->m; i++) {
            if (i % 4 == 0)
                WIDE_FN(gemm_quad)(g, i, panel, sums);
            WIDE_FN(elem) *c = (WIDE_FN(elem) *)g->c + i * g->ldc + j0;
            for (size_t j = 0; j < cols; j++) {
                E value = g->alpha == 1 ? sums[i % 4][j] : (E)g->alpha * sums[i % 4][j];
                c[j] = g->accumulate ? c[j] + value : value;
            }
        }
    }
    return true;
}
#undef W
