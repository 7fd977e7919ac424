/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/median.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/random.h"

static struct odb_error err;

static struct odb_numbers median_numbers(const double *v, size_t n)
{
    return (struct odb_numbers){.data = v, .type = ODB_F64, .n = n, .per_element = 1};
}

static int median_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What sorting says. Reorders v. */
static double median_sorted(double *v, size_t n)
{
    qsort(v, n, sizeof *v, median_order);
    return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

static void median_check(double *v, size_t n)
{
    const struct odb_numbers numbers = median_numbers(v, n);
    double m;
    assert_int_equal(odb_median(&m, &numbers, n, NULL, &err), ODB_OK);
    double sorted = median_sorted(v, n);
    assert_memory_equal(&m, &sorted, sizeof m);
}

/* More than are gathered, so that passes have to narrow them down. */
enum { MANY = 1300000 };

static void test_median__is_that_of_sorting(void **state)
{
    static const struct {
        double scale, shift;
    } shapes[] = {{1, 0}, {0x1p-30, 1}, {0x1p-44, -3}, {1e300, 0}, {1, 5}};
    double *v = odb_new_n(double, MANY + 1);
    struct odb_pcg64 random;
    odb_pcg64_seed(&random, 5);
    for (size_t k = 0; k < ODB_COUNT(shapes); k++)
        for (size_t n = MANY; n <= MANY + 1; n++) {
            for (size_t i = 0; i < n; i++)
                v[i] = (odb_pcg64_double(&random) - 0.5) * shapes[k].scale + shapes[k].shift;
            median_check(v, n);
        }
    free(v);
}

/* Whole passes end at one number, and the one before it is far away or the same. */
static void test_median__of_many_alike(void **state)
{
    double *v = odb_new_n(double, 2 * MANY);
    for (size_t i = 0; i < 2 * MANY; i++)
        v[i] = i < MANY ? -7.25 : 0.1;
    median_check(v, 2 * MANY);
    for (size_t i = 0; i < 2 * MANY; i++)
        v[i] = i < MANY + 1 ? 0.1 : 3;
    median_check(v, 2 * MANY);
    free(v);
}

static void test_median__of_few(void **state)
{
    double one[] = {4}, two[] = {9, 1}, zeros[] = {-0.0, 0.0, -0.0, 1}, m = 3;
    const struct odb_numbers none = median_numbers(one, 0);
    median_check(one, 1);
    median_check(two, 2);
    const struct odb_numbers some = median_numbers(zeros, 4);
    assert_int_equal(odb_median(&m, &some, 4, NULL, &err), ODB_OK);
    assert_true(m == 0);
    assert_int_equal(odb_median(&m, &none, 0, NULL, &err), ODB_OK);
    assert_true(m == 0);
}

static void test_median__leaves_out_what_is_not_finite(void **state)
{
    double v[3000], m;
    for (size_t i = 0; i < ODB_COUNT(v); i++)
        v[i] = i % 3 ? NAN : (double)i;
    const struct odb_numbers numbers = median_numbers(v, ODB_COUNT(v));
    assert_int_equal(odb_median(&m, &numbers, 1000, NULL, &err), ODB_OK);
    assert_true(m == 1498.5);
}

static bool median_stop(void *payload, size_t done, size_t total)
{
    int *left = payload;
    return (*left)-- == 0;
}

static void test_median__stops_when_asked(void **state)
{
    double *v = odb_new_n(double, 3 * MANY), m;
    const struct odb_numbers numbers = median_numbers(v, 3 * MANY);
    for (int left = 0; left < 3; left++) {
        int asked = left;
        const struct odb_progress progress = {median_stop, &asked};
        assert_int_equal(odb_median(&m, &numbers, 3 * MANY, &progress, &err), ODB_CANCELLED);
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median__is_that_of_sorting),
        cmocka_unit_test(test_median__of_many_alike),
        cmocka_unit_test(test_median__of_few),
        cmocka_unit_test(test_median__leaves_out_what_is_not_finite),
        cmocka_unit_test(test_median__stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
