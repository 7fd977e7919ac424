/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/op_call.h"

static void test_shape__reshape_zero_and_hole(void **state)
{
    struct op_call c = OP_CALL("Reshape", 13);

    op_count(&c, ODB_F32, 3, OP_DIMS(2, 3, 4), 0);
    op_list(&c, 3, OP_DIMS(0, -1, 2));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 3, 2, 6, 2);
    assert_ptr_equal(c.out[0]->data, c.in[0]->data); /* nothing was copied */
    op_free(&c);
}

static void test_shape__reshape_allowzero(void **state)
{
    struct op_call c = OP_CALL("Reshape", 14);

    op_int(&c, "allowzero", 1);
    op_new(&c, ODB_F32, 2, OP_DIMS(0, 3));
    op_list(&c, 3, OP_DIMS(7, 0, 5));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 3, 7, 0, 5);
    op_free(&c);
}

static void test_shape__reshape_refuses(void **state)
{
    static const struct {
        int64_t n, dims[4];
        const char *text;
    } cases[] = {{2, {4, -1}, "(2, 3) with 6 elements cannot be reshaped to (4, -1)"},
                 {2, {-1, -1}, "both -1"},
                 {1, {7}, "cannot be reshaped"},
                 {1, {-2}, "cannot be reshaped"},
                 {3, {1, 1, 0}, "shape[2] is 0"},
                 {3, {INT64_MAX, INT64_MAX, 4}, "cannot be reshaped"}};

    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct op_call c = OP_CALL("Reshape", 13);
        op_count(&c, ODB_F32, 2, OP_DIMS(2, 3), 0);
        op_list(&c, cases[i].n, cases[i].dims);
        op_expect_refused(&c, cases[i].text);
        op_free(&c);
    }
}

static void test_shape__reshape_unknown_values(void **state)
{
    struct op_call c = OP_CALL("Reshape", 13);
    struct odb_tensor *shape = NULL;

    op_count(&c, ODB_F32, 2, OP_DIMS(2, 3), 0);
    assert_int_equal(odb_tensor_new_shape(&shape, ODB_I64, 1, OP_DIMS(2), NULL), ODB_OK);
    op_take(&c, shape);
    assert_int_equal(op_infer(&c), ODB_SKIPPED);
    op_free(&c);
}

static void test_shape__reshape_attribute(void **state)
{
    struct op_call c = OP_CALL("Reshape", 1);

    op_ints(&c, "shape", 1, OP_DIMS(-1));
    op_count(&c, ODB_F32, 2, OP_DIMS(2, 3), 0);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 1, 6);
    op_free(&c);
}

static void test_shape__squeeze(void **state)
{
    struct op_call c = OP_CALL("Squeeze", 13);

    op_new(&c, ODB_STRING, 4, OP_DIMS(1, 3, 1, 2));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 3, 2);
    op_list(&c, 1, OP_DIMS(-2));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 3, 1, 3, 2);
    ((odb_i64 *)c.in[1]->data)[0] = 1;
    op_expect_refused(&c, "axis 1 has 3 elements");
    op_free(&c);
}

static void test_shape__unsqueeze(void **state)
{
    struct op_call c = OP_CALL("Unsqueeze", 13), old = OP_CALL("Unsqueeze", 11);

    op_new(&c, ODB_BOOL, 0, NULL);
    op_list(&c, 2, OP_DIMS(-1, 0));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 1, 1);
    ((odb_i64 *)c.in[1]->data)[0] = 0;
    op_expect_refused(&c, "twice");
    ((odb_i64 *)c.in[1]->data)[0] = 2;
    op_expect_refused(&c, "axis 2");
    op_free(&c);
    op_ints(&old, "axes", 2, OP_DIMS(0, 3));
    op_new(&old, ODB_F32, 2, OP_DIMS(4, 5));
    assert_int_equal(op_run(&old), ODB_OK);
    op_expect_shape(&old, 4, 1, 4, 5, 1);
    op_free(&old);
}

static void test_shape__flatten(void **state)
{
    static const int64_t axes[][3] = {{0, 1, 24}, {1, 2, 12}, {-1, 6, 4}, {3, 24, 1}};

    for (size_t i = 0; i < ODB_COUNT(axes); i++) {
        struct op_call c = OP_CALL("Flatten", 13);
        op_int(&c, "axis", axes[i][0]);
        op_new(&c, ODB_F32, 3, OP_DIMS(2, 3, 4));
        assert_int_equal(op_run(&c), ODB_OK);
        op_expect_shape(&c, 2, axes[i][1], axes[i][2]);
        op_free(&c);
    }
}

static void test_shape__shape_range(void **state)
{
    static const int64_t ranges[][4] = {
        {0, 9, 0, 3}, {-2, 3, 1, 2}, {1, -1, 1, 1}, {2, 1, 0, 0}, {-9, INT64_MIN, 0, 0}};

    for (size_t i = 0; i < ODB_COUNT(ranges); i++) {
        struct op_call c = OP_CALL("Shape", 15);
        op_int(&c, "start", ranges[i][0]);
        op_int(&c, "end", ranges[i][1]);
        op_new(&c, ODB_F32, 3, OP_DIMS(2, 3, 4));
        assert_int_equal(op_run(&c), ODB_OK);
        op_expect_shape(&c, 1, ranges[i][3]);
        for (int64_t d = 0; d < ranges[i][3]; d++)
            assert_int_equal(odb_tensor_i64(c.out[0], (size_t)d), 2 + ranges[i][2] + d);
        op_free(&c);
    }
}

static void test_shape__shape_needs_no_values(void **state)
{
    struct op_call c = OP_CALL("Shape", 13);
    struct odb_tensor *x = NULL;

    assert_int_equal(odb_tensor_new_shape(&x, ODB_F32, 2, OP_DIMS(5, 6), NULL), ODB_OK);
    op_take(&c, x);
    assert_int_equal(op_infer(&c), ODB_OK);
    op_expect_shape(&c, 1, 2);
    assert_null(c.out[0]->data);
    op_free(&c);
}

static void test_shape__size(void **state)
{
    struct op_call c = OP_CALL("Size", 13);

    op_new(&c, ODB_I4, 2, OP_DIMS(3, 5));
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 0, 0);
    op_expect(&c, 0, 15);
    op_free(&c);
}

static void test_shape__identity_of_sequence(void **state)
{
    struct op_call c = OP_CALL("Identity", 16);
    struct odb_tensor *sequence = NULL;

    assert_int_equal(odb_tensor_new_container(&sequence, ODB_SEQUENCE, NULL, 0, NULL), ODB_OK);
    op_take(&c, sequence);
    assert_int_equal(op_run(&c), ODB_OK);
    assert_ptr_equal(c.out[0], sequence);
    op_free(&c);
}

static void test_shape__bitcast(void **state)
{
    struct op_call c = OP_CALL("BitCast", 26);

    op_int(&c, "to", ODB_U32);
    op_in(&c, ODB_F32, 1, OP_DIMS(2), (double[]){1, -2});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0x3f800000, 0xc0000000);
    c.attrs[0].i = ODB_U16;
    op_expect_refused(&c, "float");
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape__reshape_zero_and_hole),
        cmocka_unit_test(test_shape__reshape_allowzero),
        cmocka_unit_test(test_shape__reshape_refuses),
        cmocka_unit_test(test_shape__reshape_unknown_values),
        cmocka_unit_test(test_shape__reshape_attribute),
        cmocka_unit_test(test_shape__squeeze),
        cmocka_unit_test(test_shape__unsqueeze),
        cmocka_unit_test(test_shape__flatten),
        cmocka_unit_test(test_shape__shape_range),
        cmocka_unit_test(test_shape__shape_needs_no_values),
        cmocka_unit_test(test_shape__size),
        cmocka_unit_test(test_shape__identity_of_sequence),
        cmocka_unit_test(test_shape__bitcast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
