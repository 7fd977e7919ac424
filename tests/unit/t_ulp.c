/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/ulp.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ulp__neighbours),
        cmocka_unit_test(test_ulp__zero_and_signs),
        cmocka_unit_test(test_ulp__nan_and_inf),
        cmocka_unit_test(test_ulp__type_is_the_narrower),
    };
    return cmocka_run_group_tests_name("ulp", tests, NULL, NULL);
}
