/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/ulp.h"
#include "compare/ulp_spread.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_ulp__neighbours(void **state)
{
    assert_true(odb_ulps(ODB_F32, 1, nextafterf(1, 2)) == 1);
    assert_true(odb_ulps(ODB_F32, 1, nextafterf(1, 0)) == -1);
    assert_true(odb_ulps(ODB_F64, 1, nextafter(1, 2)) == 1);
    assert_true(odb_ulps(ODB_F16, 1, 1.0009765625) == 1);
    assert_true(odb_ulps(ODB_BF16, 1, 1.0078125) == 1);
    assert_true(odb_ulps(ODB_F8E4M3FN, 1, 1.125) == 1);
    assert_true(odb_ulps(ODB_F8E8M0, 1, 4) == 2);
}

static void test_ulp__zero_and_signs(void **state)
{
    assert_true(odb_ulps(ODB_F32, 0.0, -0.0) == 0);
    assert_true(odb_ulps(ODB_F32, -1e-45, 1e-45) == 2);
    assert_true(odb_ulps(ODB_F32, -1, 1) == 2.0 * 0x3f800000);
    assert_true(odb_ulps(ODB_F64, -DBL_MAX, DBL_MAX) > 1.8e19);
}

static void test_ulp__nan_and_inf(void **state)
{
    assert_true(isnan(odb_ulps(ODB_F32, NAN, 1)));
    assert_true(isnan(odb_ulps(ODB_F64, 1, NAN)));
    assert_true(odb_ulps(ODB_F32, FLT_MAX, INFINITY) == 1);
    assert_true(odb_ulps(ODB_F64, INFINITY, INFINITY) == 0);
}

static void test_ulp__type_is_the_narrower(void **state)
{
    assert_int_equal(odb_ulp_type(ODB_F32, ODB_F16), ODB_F16);
    assert_int_equal(odb_ulp_type(ODB_BF16, ODB_F64), ODB_BF16);
    assert_int_equal(odb_ulp_type(ODB_F32, ODB_I32), ODB_UNDEFINED);
    assert_int_equal(odb_ulp_type(ODB_STRING, ODB_F32), ODB_UNDEFINED);
}

static int spread_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same by sorting all distances: some are small, some enormous, some pairs are not finite. */
static void spread_check(enum odb_dtype evaluated, enum odb_dtype base, size_t n)
{
    enum odb_dtype type = odb_ulp_type(evaluated, base);
    struct odb_tensor *e = NULL, *b = NULL;
    struct odb_ulp_spread got;
    double *all = calloc(n, sizeof *all);
    long double sum = 0;
    uint64_t seed = 7;
    size_t pairs = 0;
    assert_int_equal(odb_tensor_new(&e, evaluated, 1, (int64_t[]){(int64_t)n}, NULL), ODB_OK);
    assert_int_equal(odb_tensor_new(&b, base, 1, (int64_t[]){(int64_t)n}, NULL), ODB_OK);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(int64_t)(seed >> 40) / 0x1p20 - 8;
        double off = i % 50 == 3 ? (double)(seed >> 50) / 1024
                                 : (double)(seed >> 61) * odb_dtype_info(type)->eps / 4;
        odb_store_f64(base, b->data, i, i % 1000 == 7 ? NAN : v);
        odb_store_f64(evaluated, e->data, i, i % 1000 == 8 ? NAN : v + v * off);
    }
    for (size_t i = 0; i < n; i++) {
        double x = odb_tensor_f64(b, i), y = odb_tensor_f64(e, i);
        if (!isfinite(x) || !isfinite(y))
            continue;
        all[pairs] = fabs(odb_ulps(type, x, y));
        sum += all[pairs++];
    }
    qsort(all, pairs, sizeof *all, spread_order);
    assert_true(odb_ulp_spread(&got, e, b));
    assert_int_equal(got.pairs, pairs);
    assert_true(pairs < n && all[pairs - 1] > all[0]);
    assert_true(got.max == all[pairs - 1]);
    assert_true(got.p99 == all[pairs - pairs / 100 - 1]);
    assert_true(fabsl(got.mean - sum / (long double)pairs) <= 1e-12L * got.mean);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
    free(all);
}

static void test_ulp__spread(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64, ODB_F16, ODB_BF16, ODB_F8E4M3FN};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        spread_check(types[i], types[i], 20011);
        spread_check(types[i], ODB_F64, 1009);
    }
    spread_check(ODB_F16, ODB_F32, 20011);
}

/* n distances of floats against sorting them, for what a first look at few pairs tells wrong. */
static void spread_of(size_t n, uint32_t (*apart)(size_t i, size_t n))
{
    struct odb_tensor *e = NULL, *b = NULL;
    struct odb_ulp_spread got;
    double *all = calloc(n, sizeof *all);
    assert_int_equal(odb_tensor_new(&e, ODB_F32, 1, (int64_t[]){(int64_t)n}, NULL), ODB_OK);
    assert_int_equal(odb_tensor_new(&b, ODB_F32, 1, (int64_t[]){(int64_t)n}, NULL), ODB_OK);
    for (size_t i = 0; i < n; i++) {
        const uint32_t one = 0x3f800000, code = one + apart(i, n);
        memcpy((char *)b->data + 4 * i, &one, 4);
        memcpy((char *)e->data + 4 * i, &code, 4);
        all[i] = apart(i, n);
    }
    qsort(all, n, sizeof *all, spread_order);
    assert_true(odb_ulp_spread(&got, e, b));
    assert_int_equal(got.pairs, n);
    assert_true(got.max == all[n - 1]);
    assert_true(got.p99 == all[n - n / 100 - 1]);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
    free(all);
}

static uint32_t none_apart(size_t i, size_t n)
{
    return 0;
}

static uint32_t same_apart(size_t i, size_t n)
{
    return 70000;
}

static uint32_t late_apart(size_t i, size_t n) /* where none of the first pairs looks */
{
    return i > n - n / 50 ? (uint32_t)(i % 1000000 * 37) : 0;
}

static uint32_t mostly_small(size_t i, size_t n) /* one far below the range */
{
    return i % 64 < 2 ? (uint32_t)i % 5000000 + 4096 : (uint32_t)i % 3;
}

static uint32_t wide_apart(size_t i, size_t n)
{
    return (uint32_t)(i * 2654435761u) % 40000000;
}

static uint32_t two_apart(size_t i, size_t n) /* the 99th of a hundred is the last of the small */
{
    return i % 100 == 99 ? 9000000 : 5;
}

/* At the end of the range, and just behind it some where none of the first pairs looks. */
static uint32_t last_apart(size_t i, size_t n)
{
    return i >= 1000 && i < 2800 ? 1000001 : i % 125 == 7 ? 1000000 : (uint32_t)i % 3;
}

static void test_ulp__spread_of_any_kind(void **state)
{
    static const size_t sizes[] = {1, 99, 100, 101, 1024, 5000, 200000};
    static uint32_t (*const kinds[])(size_t, size_t) = {
        none_apart, same_apart, late_apart, mostly_small, wide_apart, two_apart, last_apart};
    for (size_t i = 0; i < ODB_COUNT(sizes); i++)
        for (size_t k = 0; k < ODB_COUNT(kinds); k++)
            spread_of(sizes[i], kinds[k]);
}

static void places_hold(enum odb_dtype type, double v)
{
    char stored[8];
    uint64_t apart;
    struct odb_ulp_pairs pairs = {.v = {&v, (double[]){0}}, .n = 1};
    double far = fabs(odb_ulps(type, 0, v));
    odb_ulp_distances(type, &pairs, &apart);
    assert_true((double)apart == far && odb_ulp_farthest(type, &pairs) == far);
    odb_store_f64(type, stored, 0, v);
    pairs.stored[0] = stored;
    odb_ulp_distances(type, &pairs, &apart);
    assert_true((double)apart == far && odb_ulp_farthest(type, &pairs) == far);
}

/* Every half, and floats and doubles of all sizes. */
static void test_ulp__places(void **state)
{
    for (uint32_t code = 0; code < 65536; code++) {
        const uint16_t half = (uint16_t)code;
        double v[] = {odb_load_f64(ODB_F16, &half, 0), odb_load_f64(ODB_BF16, &half, 0)};
        if (v[0] == v[0])
            places_hold(ODB_F16, v[0]);
        if (v[1] == v[1])
            places_hold(ODB_BF16, v[1]);
    }
    for (int power = -1074; power < 1024; power++) {
        places_hold(ODB_F32, ldexp(1.0, power));
        places_hold(ODB_F32, -ldexp(1.2345678901234567, power));
    }
    assert_true(odb_ulp_has_places(ODB_F32, ODB_F32, ODB_F64));
    assert_false(odb_ulp_has_places(ODB_F16, ODB_F16, ODB_F64));
    assert_false(odb_ulp_has_places(ODB_F64, ODB_F64, ODB_F64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ulp__neighbours),  cmocka_unit_test(test_ulp__zero_and_signs),
        cmocka_unit_test(test_ulp__nan_and_inf), cmocka_unit_test(test_ulp__type_is_the_narrower),
        cmocka_unit_test(test_ulp__spread),      cmocka_unit_test(test_ulp__spread_of_any_kind),
        cmocka_unit_test(test_ulp__places),
    };
    return cmocka_run_group_tests_name("ulp", tests, NULL, NULL);
}
