/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "compare/by_value.h"

#define LIST(type, ...) ((const type[]){__VA_ARGS__})

static struct odb_tensor *tensor(enum odb_dtype dtype, size_t n, const void *data)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, dtype, 1, (int64_t[]){(int64_t)n}, data, NULL), ODB_OK);
    return t;
}

/* n numbers of one type, taken for another: those of `as` then; as NULL: it stays what it is. */
static void takes(enum odb_dtype from, const void *data, size_t n, enum odb_dtype to,
                  const void *as)
{
    struct odb_tensor *t = tensor(from, n, data), *out = NULL;
    assert_int_equal(odb_by_value(&out, t, to, NULL), ODB_OK);
    if (!as) {
        assert_ptr_equal(out, t);
        assert_int_equal(out->held, ODB_UNDEFINED);
    } else {
        struct odb_tensor *want = tensor(to, n, as);
        assert_true(odb_tensor_identical(out, want));
        assert_int_equal(out->held, from);
        assert_string_equal(out->read_as, odb_dtype_info(from)->name);
        odb_tensor_unref(want);
    }
    odb_tensor_unref(out);
    odb_tensor_unref(t);
}

static void test_by_value__integers(void **state)
{
    (void)state;
    takes(ODB_I32, LIST(int32_t, 5, -7), 2, ODB_I64, LIST(int64_t, 5, -7));
    takes(ODB_I64, LIST(int64_t, 5, -7), 2, ODB_I32, LIST(int32_t, 5, -7));
    takes(ODB_I64, LIST(int64_t, 5, 1 + (int64_t)UINT32_MAX), 2, ODB_I32, NULL);
    takes(ODB_I32, LIST(int32_t, 200), 1, ODB_U8, LIST(uint8_t, 200));
    takes(ODB_I32, LIST(int32_t, -1), 1, ODB_U8, NULL);
    takes(ODB_I64, LIST(int64_t, -1), 1, ODB_U64, NULL);
    takes(ODB_U64, LIST(uint64_t, UINT64_MAX), 1, ODB_I64, NULL);
    takes(ODB_I64, LIST(int64_t, 1), 1, ODB_I64, NULL);
}

static void test_by_value__floats_that_are_integers(void **state)
{
    (void)state;
    takes(ODB_F32, LIST(float, 3, -0.0f), 2, ODB_I64, LIST(int64_t, 3, 0));
    takes(ODB_F32, LIST(float, 2.5f), 1, ODB_I64, NULL);
    takes(ODB_F32, LIST(float, NAN), 1, ODB_I32, NULL);
    takes(ODB_F32, LIST(float, INFINITY), 1, ODB_I32, NULL);
    takes(ODB_F32, LIST(float, 0x1p63f), 1, ODB_I64, NULL);
    takes(ODB_I32, LIST(int32_t, 3), 1, ODB_F32, LIST(float, 3));
    takes(ODB_I32, LIST(int32_t, 16777217), 1, ODB_F32, NULL);
}

static void test_by_value__bools(void **state)
{
    (void)state;
    takes(ODB_F32, LIST(float, 0, 1), 2, ODB_BOOL, LIST(bool, false, true));
    takes(ODB_U8, LIST(uint8_t, 0, 1), 2, ODB_BOOL, LIST(bool, false, true));
    takes(ODB_U8, LIST(uint8_t, 0, 255), 2, ODB_BOOL, NULL);
    takes(ODB_BOOL, LIST(bool, false, true), 2, ODB_I64, LIST(int64_t, 0, 1));
}

static void test_by_value__floats_of_other_widths(void **state)
{
    (void)state;
    takes(ODB_F32, LIST(float, 0.1f, INFINITY), 2, ODB_F64, LIST(double, (double)0.1f, INFINITY));
    takes(ODB_F64, LIST(double, 0.1), 1, ODB_F32, LIST(float, 0.1f));
}

static void test_by_value__what_is_no_number_stays(void **state)
{
    (void)state;
    takes(ODB_STRING, LIST(struct odb_str, {"1", 1}), 1, ODB_I64, NULL);
    takes(ODB_C64, LIST(float, 1, 0), 1, ODB_F32, NULL);
}

static void test_by_value__sequences(void **state)
{
    (void)state;
    struct odb_tensor *items[2] = {tensor(ODB_I32, 1, LIST(int32_t, 4)),
                                   tensor(ODB_I32, 2, LIST(int32_t, 5, 6))};
    struct odb_tensor *t = NULL, *out = NULL;
    assert_int_equal(odb_tensor_new_container(&t, ODB_SEQUENCE, items, 2, NULL), ODB_OK);
    assert_int_equal(odb_by_value(&out, t, ODB_I64, NULL), ODB_OK);
    assert_int_equal(out->dtype, ODB_I64);
    assert_int_equal(out->held, ODB_I32);
    assert_int_equal(odb_tensor_i64(out->items[1], 1), 6);
    odb_tensor_unref(out);
    odb_tensor_unref(t);
    odb_tensor_unref(items[0]);
    odb_tensor_unref(items[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_value__integers),
        cmocka_unit_test(test_by_value__floats_that_are_integers),
        cmocka_unit_test(test_by_value__bools),
        cmocka_unit_test(test_by_value__floats_of_other_widths),
        cmocka_unit_test(test_by_value__what_is_no_number_stays),
        cmocka_unit_test(test_by_value__sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
