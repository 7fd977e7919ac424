/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Verdicts are those of NumPy 1.24.2.
 */
#include "compare/numpy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static struct odb_error err;

static struct odb_tensor *one(enum odb_dtype dtype, double v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){1}, &err), ODB_OK);
    odb_store_f64(dtype, t->data, 0, v);
    return t;
}

static void test_numpy__all_close(void **state)
{
    static const struct {
        double e, b, rtol, atol;
        bool close, close_with_nan;
    } cases[] = {
        {1, 1, 0, 0, true, true},
        {1.0001, 1, 1e-4, 1e-8, true, true},
        {1.0001, 1, 1e-5, 1e-8, false, false},
        {1e-9, 0, 1e-5, 1e-8, true, true},
        {1e-7, 0, 1e-5, 1e-8, false, false},
        {NAN, NAN, 1, 1, false, true},
        {NAN, 1, 1, 1, false, false},
        {1, NAN, 1, 1, false, false},
        {INFINITY, INFINITY, 0, 0, true, true},
        {INFINITY, -INFINITY, 1, 1, false, false},
        {1, INFINITY, 1, 1, false, false},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *e = one(ODB_F64, cases[i].e), *b = one(ODB_F64, cases[i].b);
        size_t bad;
        for (int nan = 0; nan < 2; nan++) {
            bool close = nan ? cases[i].close_with_nan : cases[i].close;
            assert_int_equal(odb_all_close(e, b, cases[i].rtol, cases[i].atol, nan, &bad), close);
            assert_int_equal(bad, !close);
        }
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
}

static void test_numpy__almost_equal_in_the_own_type(void **state)
{
    static const struct {
        enum odb_dtype dtype;
        double e, b;
        int decimals;
        bool equal;
    } cases[] = {
        {ODB_F64, 1.000014, 1, 5, true},
        {ODB_F64, 1.000016, 1, 5, false},
        {ODB_F32, 1.00001, 1, 5, true},
        {ODB_F32, 1.00002, 1, 5, false},
        {ODB_F64, 1.5e-5, 0, 5, true},         /* 1.5 * 10.0**-5 is a trifle more */
        {ODB_F64, 1.5, 0, 0, false},           /* not less than the threshold */
        {ODB_F32, 1.5e-5, 0, 5, false},        /* the threshold is rounded to float, too */
        {ODB_F32, 0x1.f75102p-17, 0, 5, true}, /* one float below it */
        {ODB_F16, 1.5e-5, 0, 5, false},        /* both round to the same half */
        {ODB_F16, 1.49e-5, 0, 5, true},
        {ODB_F16, 1.5, 1, 0, true},
        {ODB_F16, 2048, 2050, 0, false},
        {ODB_I32, 3, 2, 0, true},
        {ODB_I32, 4, 2, 0, false},
        {ODB_F32, NAN, NAN, 5, true},
        {ODB_F32, NAN, 1, 5, false},
        {ODB_F32, INFINITY, INFINITY, 5, true},
        {ODB_F32, INFINITY, -INFINITY, 5, false},
        {ODB_F32, 1e10, INFINITY, 5, false},
        {ODB_BOOL, 1, 1, 5, true},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *e = one(cases[i].dtype, cases[i].e),
                          *b = one(cases[i].dtype, cases[i].b);
        size_t bad;
        if (odb_almost_equal(e, b, cases[i].decimals, &bad) != cases[i].equal)
            fail_msg("case %zu", i);
        assert_int_equal(bad, !cases[i].equal);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
    /* 125.6 floats apart, 125.8 would be allowed; as floats they are 126 apart. */
    struct odb_tensor *e = one(ODB_F32, 1 + 84 * 0x1p-23);
    struct odb_tensor *b = one(ODB_F64, 1 + 209.6 * 0x1p-23),
                      *f = one(ODB_F32, odb_tensor_f64(b, 0));
    assert_true(odb_almost_equal(e, b, 5, NULL));
    assert_false(odb_almost_equal(e, f, 5, NULL));
    odb_tensor_unref(f);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

static void test_numpy__diff2(void **state)
{
    static const struct {
        double e, b, v;
    } cases[] = {{0, 0, NAN}, {1, 0, INFINITY}, {3, 3, 0}, {3, 1, 2}, {NAN, 1, NAN}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *e = one(ODB_F32, cases[i].e), *b = one(ODB_F32, cases[i].b);
        double v = odb_diff2_f32(e, b);
        assert_true(v == cases[i].v || (isnan(v) && isnan(cases[i].v)));
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
}

/* As numpy.mean() has it, whose order of adding shows in the last digits. */
static void test_numpy__diff3_mean(void **state)
{
    static const struct {
        int64_t n;
        double mean;
    } cases[] = {{0, 0},
                 {1, 1},
                 {100, 0.10987517160735806},
                 {1000, 0.053075079379860834},
                 {8192, 0.049417050149808205},
                 {20001, 0.04957587744259252}};
    for (size_t c = 0; c < ODB_COUNT(cases); c++) {
        struct odb_tensor *e, *b;
        assert_int_equal(odb_tensor_new(&e, ODB_F64, 1, &cases[c].n, NULL), ODB_OK);
        assert_int_equal(odb_tensor_new(&b, ODB_F64, 1, &cases[c].n, NULL), ODB_OK);
        for (int64_t i = 0; i < cases[c].n; i++) {
            ((double *)b->data)[i] = (double)(i % 97) / 7;
            ((double *)e->data)[i] = (double)(i % 97) / 7 + 1 / (double)(1 + i % 31);
        }
        assert_true(odb_diff3_mean(e, b, 1e-6) == cases[c].mean);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
}

static void test_numpy__three_way(void **state)
{
    assert_true(odb_three_way(0, 0, 10));
    assert_true(odb_three_way(1e-3, 1e-4, 10));
    assert_false(odb_three_way(1.1e-3, 1e-4, 10));
    assert_false(odb_three_way(NAN, 1, 10));
    assert_false(odb_three_way(1, NAN, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numpy__all_close),
        cmocka_unit_test(test_numpy__almost_equal_in_the_own_type),
        cmocka_unit_test(test_numpy__diff2),
        cmocka_unit_test(test_numpy__diff3_mean),
        cmocka_unit_test(test_numpy__three_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
