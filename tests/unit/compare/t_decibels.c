/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "compare/decibels.h"

#define N 2

/* e against b, two numbers each. */
static double decibels(float e0, float e1, float b0, float b1)
{
    struct odb_tensor *e = NULL, *b = NULL;
    const float es[N] = {e0, e1}, bs[N] = {b0, b1};
    assert_int_equal(odb_tensor_copy_of(&e, ODB_F32, 1, (int64_t[]){N}, es, NULL), ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&b, ODB_F32, 1, (int64_t[]){N}, bs, NULL), ODB_OK);
    double db = odb_decibels(e, b);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
    return db;
}

static void test_decibels__numbers(void **state)
{
    (void)state;
    assert_true(fabs(decibels(3, 4.5f, 3, 4) - 20) < 1e-9); /* 25 to 0.25 */
    assert_true(fabs(decibels(0, 0, 3, 4)) < 1e-9);
    assert_true(decibels(3, 4, 3, 4) == INFINITY);
    assert_true(decibels(0, 0, 0, 0) == INFINITY);
    assert_true(decibels(1, 0, 0, 0) == -INFINITY);
}

/* What is no number on one side is never close to a number on the other. */
static void test_decibels__no_numbers(void **state)
{
    (void)state;
    assert_true(decibels(NAN, NAN, 3, 4) == -INFINITY);
    assert_true(decibels(3, 4, NAN, NAN) == -INFINITY);
    assert_true(decibels(3, INFINITY, 3, 4) == -INFINITY);
    assert_true(decibels(NAN, 4, NAN, 4) == INFINITY);
    assert_true(decibels(-100, 4, -INFINITY, 4) == INFINITY); /* a mask that is cut off */
}

static void test_decibels__others(void **state)
{
    (void)state;
    struct odb_tensor *f = NULL, *i = NULL, *longer = NULL;
    const float numbers[3] = {1, 2, 3};
    const int32_t integers[N] = {1, 2};
    assert_int_equal(odb_tensor_copy_of(&f, ODB_F32, 1, (int64_t[]){N}, numbers, NULL), ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&longer, ODB_F32, 1, (int64_t[]){3}, numbers, NULL),
                     ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&i, ODB_I32, 1, (int64_t[]){N}, integers, NULL), ODB_OK);
    assert_true(isnan(odb_decibels(f, NULL)));
    assert_true(isnan(odb_decibels(NULL, f)));
    assert_true(isnan(odb_decibels(i, i)));
    assert_true(isnan(odb_decibels(f, longer)));
    odb_tensor_unref(f);
    odb_tensor_unref(i);
    odb_tensor_unref(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decibels__numbers),
        cmocka_unit_test(test_decibels__no_numbers),
        cmocka_unit_test(test_decibels__others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
