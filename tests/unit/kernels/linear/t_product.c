/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The product must be what its header says to the last bit, with every set of instructions that
 * this processor has, wherever the operands lie; and close to what OpenBLAS says.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <cmocka.h>

#include "base/mem.h"
#include "kernels/linear/matmul.h"
#include "kernels/linear/product.h"

struct matrices {
    struct odb_gemm g;
    char *a, *b, *c, *want; /* owned; the first three one byte off any alignment */
    size_t c_count;
};

static uint32_t product_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static double product_number(uint32_t *seed)
{
    return (double)product_random(seed) / (1 << 23) - 1;
}

static char *product_fill(enum odb_dtype dtype, size_t count, uint32_t *seed)
{
    char *p = odb_xcalloc(count * 8 + 1, 1);
    for (size_t i = 0; i < count; i++)
        odb_store_f64(dtype, p + 1, i, product_number(seed));
    return p;
}

static void product_make(struct matrices *t, enum odb_dtype dtype, size_t m, size_t n, size_t k,
                         uint32_t *seed)
{
    uint32_t flags = product_random(seed);
    size_t gap = flags >> 3 & 3;
    t->g = (struct odb_gemm){.dtype = dtype,
                             .trans_a = flags & 1,
                             .trans_b = flags & 2,
                             .accumulate = flags & 4,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alpha = (flags & 96) == 0 ? 0.3 : 1};
    t->g.lda = (t->g.trans_a ? m : k) + gap;
    t->g.ldb = (t->g.trans_b ? k : n) + gap;
    t->g.ldc = n + gap;
    t->c_count = m * t->g.ldc;
    t->a = product_fill(dtype, (t->g.trans_a ? k : m) * t->g.lda, seed);
    t->b = product_fill(dtype, (t->g.trans_b ? n : k) * t->g.ldb, seed);
    t->c = product_fill(dtype, t->c_count, seed);
    t->want = odb_xcalloc(t->c_count * 8 + 1, 1);
    memcpy(t->want, t->c, t->c_count * 8 + 1);
    t->g.a = t->a + 1;
    t->g.b = t->b + 1;
    t->g.c = t->c + 1;
}

static void product_dispose(struct matrices *t)
{
    free(t->a);
    free(t->b);
    free(t->c);
    free(t->want);
}

/* One element as the header defines it. */
static double product_element(const struct odb_gemm *g, bool fused, size_t i, size_t j, double c)
{
    bool first = true, wide = g->dtype == ODB_F64;
    double total = 0;
    for (size_t p0 = 0; p0 < g->k; p0 += ODB_PRODUCT_DEPTH, first = false) {
        double chain = 0;
        for (size_t p = p0; p < ODB_MIN(g->k, p0 + ODB_PRODUCT_DEPTH); p++) {
            double a = odb_load_f64(g->dtype, g->a, g->trans_a ? p * g->lda + i : i * g->lda + p);
            double b = odb_load_f64(g->dtype, g->b, g->trans_b ? j * g->ldb + p : p * g->ldb + j);
            double one_by_one = wide ? chain + a * b : (float)chain + (float)a * (float)b;
            double at_once = wide ? fma(a, b, chain) : fmaf((float)a, (float)b, (float)chain);
            chain = fused ? at_once : one_by_one;
        }
        bool begins = first && (!g->accumulate || g->alpha != 1);
        double before = first ? c : total;
        total = begins                ? chain
                : g->dtype == ODB_F64 ? before + chain
                                      : (double)((float)before + (float)chain);
    }
    if (g->alpha != 1) {
        total = g->dtype == ODB_F64 ? g->alpha * total : (double)(float)(g->alpha * total);
        if (g->accumulate)
            total = g->dtype == ODB_F64 ? c + total : (double)((float)c + (float)total);
    }
    return total;
}

static void product_expect(struct matrices *t, bool fused)
{
    for (size_t i = 0; i < t->g.m; i++)
        for (size_t j = 0; j < t->g.n; j++) {
            size_t at = i * t->g.ldc + j;
            double c = odb_load_f64(t->g.dtype, t->want + 1, at);
            odb_store_f64(t->g.dtype, t->want + 1, at, product_element(&t->g, fused, i, j, c));
        }
}

static void product_check(enum odb_dtype dtype, size_t m, size_t n, size_t k, uint32_t *seed)
{
    for (enum odb_product_set set = ODB_PRODUCT_PLAIN; set <= ODB_PRODUCT_AVX512; set++) {
        struct matrices t;
        uint32_t same = *seed;
        if (!odb_product_has(set))
            continue;
        product_make(&t, dtype, m, n, k, &same);
        product_expect(&t, set != ODB_PRODUCT_PLAIN);
        assert_true(odb_product_can(&t.g));
        assert_true(odb_product_run(&t.g, set));
        if (memcmp(t.c, t.want, t.c_count * 8 + 1) != 0)
            fail_msg("set %d: %zux%zux%zu, trans %d %d, accumulate %d, alpha %g", set, m, n, k,
                     t.g.trans_a, t.g.trans_b, t.g.accumulate, t.g.alpha);
        product_dispose(&t);
    }
    product_random(seed);
}

static void test_product__small_sizes_are_exact(void **state)
{
    uint32_t seed = 1;
    for (size_t m = 1; m <= 19; m += 1 + m / 9)
        for (size_t n = 1; n <= 100; n += 1 + n / 3)
            for (size_t k = 1; k <= 12; k += 3) {
                product_check(ODB_F32, m, n, k, &seed);
                product_check(ODB_F64, m, n, k, &seed);
            }
}

static void test_product__long_sums_are_cut_at_256(void **state)
{
    uint32_t seed = 2;
    for (size_t k = 255; k <= 515; k += 65)
        for (int i = 0; i < 24; i++) {
            size_t m = 1 + product_random(&seed) % 40, n = 1 + product_random(&seed) % 150;
            product_check(i % 2 ? ODB_F64 : ODB_F32, i % 5 ? m : 1, n, k, &seed);
        }
}

static void test_product__rows_and_columns_are_exact(void **state)
{
    uint32_t seed = 4;
    for (size_t n = 2; n <= 300; n += 1 + n / 5)
        for (size_t k = 1; k <= 600; k += 1 + k / 2)
            for (int i = 0; i < 4; i++) {
                enum odb_dtype dtype = i % 2 ? ODB_F64 : ODB_F32;
                product_check(dtype, 1, n, k, &seed);
                product_check(dtype, n, 1, k, &seed);
            }
}

/* B does not fit a near cache. */
static void test_product__long_rows_are_exact(void **state)
{
    uint32_t seed = 5;
    for (int i = 0; i < 8; i++)
        product_check(i % 2 ? ODB_F64 : ODB_F32, 1, 1017 + 300 * (size_t)(i / 2), 259, &seed);
}

/* A product as somebody else's library makes it. */
static void product_by_blas(const struct odb_gemm *g)
{
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

static void test_product__agrees_with_blas(void **state)
{
    uint32_t seed = 3;
    openblas_set_num_threads(1);
    for (int i = 0; i < 40; i++) {
        struct matrices t;
        size_t m = 1 + product_random(&seed) % 90, n = 1 + product_random(&seed) % 200;
        product_make(&t, i % 2 ? ODB_F64 : ODB_F32, m, n, 1 + product_random(&seed) % 700, &seed);
        assert_true(odb_product_run(&t.g, odb_product_best()));
        memmove(t.want, t.want + 1, t.c_count * 8); /* BLAS writes where a type may lie */
        t.g.c = t.want;
        product_by_blas(&t.g);
        for (size_t e = 0; e < t.c_count; e++)
            assert_true(fabs(odb_load_f64(t.g.dtype, t.c + 1, e) -
                             odb_load_f64(t.g.dtype, t.want, e)) < (i % 2 ? 1e-12 : 1e-4));
        product_dispose(&t);
    }
}

/* Zeros of either sign come out as the chain gives them: fused, a product that is lost leaves its
 * sign behind. */
static void test_product__keeps_signs_of_zero(void **state)
{
    const float a[2] = {-1e-30f, 0}, b[2] = {1e-30f, 1};
    float c = 1;
    struct odb_gemm g = {.dtype = ODB_F32,
                         .m = 1,
                         .n = 1,
                         .k = 2,
                         .a = a,
                         .b = b,
                         .c = &c,
                         .lda = 2,
                         .ldb = 1,
                         .ldc = 1,
                         .alpha = 1};
    for (enum odb_product_set set = ODB_PRODUCT_PLAIN; set <= ODB_PRODUCT_AVX512; set++)
        for (int trans = 0; odb_product_has(set) && trans < 2; trans++) {
            g.trans_b = trans;
            g.ldb = trans ? 2 : 1;
            g.k = 1;
            assert_true(odb_product_run(&g, set));
            assert_true(c == 0 && !signbit(c) == (set == ODB_PRODUCT_PLAIN));
            g.k = 2;
            assert_true(odb_product_run(&g, set));
            assert_true(c == 0 && !signbit(c));
        }
}

/* --- a narrower B ----------------------------------------------------------------------------- */

/* B of a narrower type, widened by the piece, gives what it gives widened before. */
static void product_check_narrow(enum odb_dtype dtype, enum odb_dtype narrow, size_t m, size_t n,
                                 size_t k, uint32_t *seed)
{
    struct matrices t;
    product_make(&t, dtype, m, n, k, seed);
    t.g.sequential = product_random(seed) % 4 == 0;
    size_t count = (t.g.trans_b ? n : k) * t.g.ldb;
    char *b = odb_xcalloc(count * 4 + 1, 1);
    struct odb_gemm g = t.g;
    odb_convert(narrow, b + 1, dtype, t.g.b, count);
    odb_convert(dtype, t.b + 1, narrow, b + 1, count);
    g.b = b + 1;
    g.b_type = narrow;
    g.c = t.want + 1;
    assert_true(odb_gemm_batch(&t.g, 1, NULL, NULL, NULL));
    assert_true(odb_gemm_batch(&g, 1, NULL, NULL, NULL));
    if (memcmp(t.c, t.want, t.c_count * 8 + 1) != 0)
        fail_msg("%zux%zux%zu, trans %d %d, accumulate %d, alpha %g, sequential %d", m, n, k,
                 g.trans_a, g.trans_b, g.accumulate, g.alpha, g.sequential);
    free(b);
    product_dispose(&t);
}

static void test_product__widens_by_the_piece(void **state)
{
    static const struct {
        enum odb_dtype wide, narrow;
    } types[] = {{ODB_F64, ODB_F32}, {ODB_F64, ODB_F16}, {ODB_F32, ODB_F16}, {ODB_F32, ODB_BF16}};
    static const size_t sizes[][3] = {{1, 700, 900}, {1, 1, 1000}, {5, 50, 256}, {129, 530, 257},
                                      {2, 300, 100}, {1, 260, 7},  {40, 1, 513}};
    uint32_t seed = 5;
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(types); i++)
        for (size_t s = 0; s < ODB_COUNT(sizes); s++)
            for (int again = 0; again < 12; again++)
                product_check_narrow(types[i].wide, types[i].narrow, sizes[s][0], sizes[s][1],
                                     sizes[s][2], &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product__small_sizes_are_exact),
        cmocka_unit_test(test_product__long_sums_are_cut_at_256),
        cmocka_unit_test(test_product__rows_and_columns_are_exact),
        cmocka_unit_test(test_product__long_rows_are_exact),
        cmocka_unit_test(test_product__agrees_with_blas),
        cmocka_unit_test(test_product__widens_by_the_piece),
        cmocka_unit_test(test_product__keeps_signs_of_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
