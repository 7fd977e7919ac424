/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/stats.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/random.h"

static struct odb_error err;

static struct odb_stats stats_of(enum odb_dtype dtype, const double *v, size_t n)
{
    struct odb_tensor *t = NULL;
    struct odb_stats s;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    assert_int_equal(odb_stats(&s, t, NULL, &err), ODB_OK);
    odb_tensor_unref(t);
    return s;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-14 * fabs(b);
}

static void test_stats__counts_and_moments(void **state)
{
    const double v[] = {3, NAN, -1, INFINITY, 0, 2, -INFINITY, -0.0, NAN};
    struct odb_stats s = stats_of(ODB_F32, v, 9);
    assert_int_equal(s.count, 9);
    assert_int_equal(s.nan, 2);
    assert_int_equal(s.pos_inf, 1);
    assert_int_equal(s.neg_inf, 1);
    assert_int_equal(s.zeros, 2);
    assert_true(s.min == -1 && s.max == 3 && s.median == 0);
    assert_true(near(s.mean, 0.8));
    assert_true(near(s.rms, sqrt(14.0 / 5)));
    assert_true(near(s.std, sqrt(14.0 / 5 - 0.64)));
}

static void test_stats__degenerate(void **state)
{
    struct odb_stats s = stats_of(ODB_F32, NULL, 0);
    assert_int_equal(s.count, 0);
    s = stats_of(ODB_F32, (double[]){NAN, NAN}, 2);
    assert_int_equal(s.nan, 2);
    assert_true(s.min == 0 && s.max == 0 && s.mean == 0 && s.rms == 0);
    s = stats_of(ODB_F64, (double[]){7}, 1);
    assert_true(s.min == 7 && s.median == 7 && s.std == 0 && s.rms == 7);
    s = stats_of(ODB_F64, (double[]){0, 0}, 2);
    assert_int_equal(s.zeros, 2);
    assert_true(s.rms == 0);
}

static void test_stats__neither_overflows_nor_underflows(void **state)
{
    struct odb_stats s = stats_of(ODB_F64, (double[]){DBL_MAX, DBL_MAX}, 2);
    assert_true(s.mean == DBL_MAX && s.rms == DBL_MAX && s.median == DBL_MAX && s.std == 0);
    s = stats_of(ODB_F64, (double[]){-DBL_MAX, DBL_MAX}, 2);
    assert_true(s.mean == 0 && s.std == DBL_MAX && s.median == 0);
    s = stats_of(ODB_F64, (double[]){3e-300, 4e-300}, 2);
    assert_true(near(s.rms, sqrt(12.5) * 1e-300));
    s = stats_of(ODB_F64, (double[]){5e-324, 5e-324}, 2);
    assert_true(s.mean == 5e-324 && s.rms == 5e-324);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_stats__median_is_that_of_sorting(void **state)
{
    struct odb_pcg64 r;
    odb_pcg64_seed(&r, 5);
    for (size_t n = 1; n < 300; n++) {
        double v[300], sorted[300];
        for (size_t i = 0; i < n; i++)
            v[i] = sorted[i] = n % 3 ? (double)odb_pcg64_integers(&r, 0, 9) : odb_pcg64_double(&r);
        qsort(sorted, n, sizeof *sorted, by_value);
        double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
        assert_true(stats_of(ODB_F64, v, n).median == median);
    }
}

static void test_stats__other_types(void **state)
{
    struct odb_stats s = stats_of(ODB_I4, (double[]){-8, 7, 1}, 3);
    assert_true(s.min == -8 && s.max == 7 && s.mean == 0 && s.median == 1);
    s = stats_of(ODB_BOOL, (double[]){1, 0, 1, 1}, 4);
    assert_true(s.mean == 0.75);
    s = stats_of(ODB_C64, (double[]){1, 3}, 2); /* imaginary parts 0 */
    assert_int_equal(s.count, 4);
    assert_true(s.mean == 1);
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_STRING, 1, (int64_t[]){1}, &err), ODB_OK);
    assert_int_equal(odb_stats(&s, t, NULL, &err), ODB_E_INPUT);
    odb_tensor_unref(t);
}

static void test_stats__histogram(void **state)
{
    const double v[] = {0, 0.1, 0.25, 0.5, 0.99, 1, -0.1, 1.1, NAN, INFINITY};
    struct odb_tensor *t = NULL;
    size_t bins[4];
    assert_int_equal(odb_tensor_new(&t, ODB_F64, 1, (int64_t[]){10}, &err), ODB_OK);
    for (size_t i = 0; i < 10; i++)
        odb_store_f64(ODB_F64, t->data, i, v[i]);
    assert_int_equal(odb_histogram(bins, 4, 0, 1, t, NULL, &err), ODB_OK);
    const size_t expected[] = {2, 1, 1, 2};
    assert_memory_equal(bins, expected, sizeof bins);
    assert_int_equal(odb_histogram(bins, 4, 0.5, 0.5, t, NULL, &err), ODB_OK);
    assert_int_equal(bins[2], 1);
    assert_int_equal(odb_histogram(bins, 4, -DBL_MAX, DBL_MAX, t, NULL, &err), ODB_OK);
    assert_int_equal(bins[1] + bins[2], 8);
    assert_int_equal(odb_histogram(bins, 0, 0, 1, t, NULL, &err), ODB_E_INPUT);
    assert_int_equal(odb_histogram(bins, 4, 1, 0, t, NULL, &err), ODB_E_INPUT);
    assert_int_equal(odb_histogram(bins, 4, 0, INFINITY, t, NULL, &err), ODB_E_INPUT);
    odb_tensor_unref(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stats__counts_and_moments),
        cmocka_unit_test(test_stats__degenerate),
        cmocka_unit_test(test_stats__neither_overflows_nor_underflows),
        cmocka_unit_test(test_stats__median_is_that_of_sorting),
        cmocka_unit_test(test_stats__other_types),
        cmocka_unit_test(test_stats__histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
