/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibration/calibrate_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct odb_calibrate_options percentile = {
    .method = ODB_CALIBRATE_PERCENTILE, .percentile = 99, .bits = 8};
static const struct odb_calibrate_options entropy = {.method = ODB_CALIBRATE_ENTROPY, .bits = 8};

/* So many numbers in each bin between lo and hi. */
static struct calibrate_range calibrate_even(double lo, double hi, uint64_t each)
{
    struct calibrate_range range = {.seen = true, .lo = lo, .hi = hi};
    range.bins = odb_new_n(uint64_t, CALIBRATE_BINS);
    for (size_t i = 0; i < CALIBRATE_BINS; i++)
        range.bins[i] = each;
    return range;
}

static void test_calibrate__percentile_cuts_off_both_ends(void **state)
{
    struct calibrate_range range = calibrate_even(-1, 1, 10);
    double lo, hi;
    calibrate_keep(&range, &percentile, &lo, &hi);
    assert_true(lo > -1 && lo < -0.98);
    assert_true(hi < 1 && hi > 0.98);
    free(range.bins);
}

static void test_calibrate__percentile_never_cuts_all(void **state)
{
    struct calibrate_range range = calibrate_even(0, 1, 0);
    double lo, hi;
    range.bins[7] = 1000;
    calibrate_keep(&range, &percentile, &lo, &hi);
    assert_true(lo <= 7.0 / CALIBRATE_BINS && hi >= 8.0 / CALIBRATE_BINS);
    free(range.bins);
}

static void test_calibrate__entropy_keeps_what_is_spread_evenly(void **state)
{
    struct calibrate_range range = calibrate_even(-2, 2, 10);
    double lo, hi;
    calibrate_keep(&range, &entropy, &lo, &hi);
    assert_true(lo < -1.9 && hi > 1.9);
    free(range.bins);
}

static void test_calibrate__entropy_drops_an_outlier(void **state)
{
    struct calibrate_range range = calibrate_even(0, 100, 0);
    double lo, hi;
    for (size_t i = 0; i < CALIBRATE_BINS / 8; i++) /* a falling slope, and one number far away */
        range.bins[i] = 100000 / (i + 1);
    range.bins[CALIBRATE_BINS - 1] = 1;
    calibrate_keep(&range, &entropy, &lo, &hi);
    assert_true(lo <= 0 && hi < 50);
    free(range.bins);
}

/* Thresholds below the least number leave nothing, and are not tried. */
static void test_calibrate__entropy_of_numbers_of_one_sign(void **state)
{
    const double ends[][2] = {{5, 6}, {-6, -5}};
    for (size_t i = 0; i < ODB_COUNT(ends); i++) {
        struct calibrate_range range = calibrate_even(ends[i][0], ends[i][1], 10);
        double lo, hi;
        calibrate_keep(&range, &entropy, &lo, &hi);
        assert_true(lo >= ends[i][0] && hi <= ends[i][1] && hi > lo);
        free(range.bins);
    }
}

static void test_calibrate__without_counts_the_range_stays(void **state)
{
    const struct calibrate_range range = {.seen = true, .lo = -1, .hi = 3};
    double lo, hi;
    calibrate_keep(&range, &entropy, &lo, &hi);
    assert_true(lo == -1 && hi == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrate__percentile_cuts_off_both_ends),
        cmocka_unit_test(test_calibrate__percentile_never_cuts_all),
        cmocka_unit_test(test_calibrate__entropy_keeps_what_is_spread_evenly),
        cmocka_unit_test(test_calibrate__entropy_drops_an_outlier),
        cmocka_unit_test(test_calibrate__entropy_of_numbers_of_one_sign),
        cmocka_unit_test(test_calibrate__without_counts_the_range_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
