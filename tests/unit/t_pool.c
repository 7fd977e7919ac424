/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pools: edges of windows by hand, everything else in all modes and numbers of threads.
 */
#include "op_case.h"

#define POOL(name, text, ...) OP(name, 22, text, __VA_ARGS__)

static void test_pool__max(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2, strides=2,", {"float[1,1,5] 1 3 2 5 9"}),
              "float[1,1,2] 3 5");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2, strides=2, ceil_mode=1",
                      {"float[1,1,5] 1 3 2 5 9"}), "float[1,1,3] 3 5 9");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=3, pads=1,1", {"float[1,1,3] -1 -3 -2"}),
              "float[1,1,3] -1 -1 -2");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,2 dilations=2,1",
                      {"float[1,1,3,3] 1 2 3 4 5 6 7 8 0"}), "float[1,1,1,2] 8 8");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2, auto_pad=SAME_LOWER",
                      {"float16[1,1,3] 1 3 2"}), "float16[1,1,3] 1 3 3");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"int8[1,2,3] -1 -3 -128 -128 -128 5"}),
              "int8[1,2,2] -1 -3 -128 5");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"uint8[1,1,3] 1 200 7"}),
              "uint8[1,1,2] 200 200");
}

static void test_pool__nan_wins(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"float[1,1,5] 1 nan 2 -inf inf"}),
              "float[1,1,4] nan nan 2 inf");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"float[1,1,4] 1 nan nan 2"}),
              "float[1,1,3] nan nan nan", "int64[1,1,3] 1 1 2");
    OP_EXPECT(0, POOL("GlobalMaxPool", NULL, {"float[1,2,3] 1 nan 2 -inf -inf -inf"}),
              "float[1,2,1] nan -inf");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2,", {"float[1,1,4] 1 inf 2 nan"}),
              "float[1,1,3] inf inf nan");
}

static void test_pool__indices(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,2 pads=1,1,0,0",
                      {"float[1,2,2,2] 1 2 2 0 5 5 5 5"}),
              "float[1,2,2,2] 1 2 2 2 5 5 5 5", "int64[1,2,2,2] 0 1 2 1 4 4 4 4");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=1,2 storage_order=1",
                      {"float[1,2,2,3] 1 2 0 0 4 9 1 2 0 0 4 9"}),
              "float[1,2,2,2] 2 2 4 9 2 2 4 9", "int64[1,2,2,2] 2 2 3 5 8 8 9 11");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"int8[1,1,3] -128 -128 -128"}),
              "int8[1,1,2] -128 -128", "int64[1,1,2] 0 1");
}

static void test_pool__windows_that_start_beyond_the_input(void **state)
{
    (void)state;
    /* four windows fit with rounding up; the last would start on the trailing pad */
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2, strides=3, pads=0,1 ceil_mode=1",
                      {"float[1,1,6] 1 2 3 4 5 6"}), "float[1,1,2] 2 5");
    OP_EXPECT(0, POOL("AveragePool",
                      "kernel_shape=3, strides=3, pads=1,1 ceil_mode=1 count_include_pad=1",
                      {"float[1,1,5] 3 6 9 12 15"}), "float[1,1,2] 3 12");
    /* the last window reaches beyond the input: what is not there does not count */
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=3, strides=2, ceil_mode=1 count_include_pad=1",
                      {"float[1,1,4] 3 6 9 12"}), "float[1,1,2] 6 10.5");
}

static void test_pool__average(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=3, pads=1,1", {"float[1,1,3] 3 6 9"}),
              "float[1,1,3] 4.5 6 7.5");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=3, pads=1,1 count_include_pad=1",
                      {"float[1,1,3] 3 6 9"}), "float[1,1,3] 3 6 5");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2, dilations=2, pads=1,2 count_include_pad=1",
                      {"float[1,1,3] 2 4 6"}), "float[1,1,4] 2 4 2 3");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2, strides=2, ceil_mode=1",
                      {"float[1,1,3] 2 4 6"}), "float[1,1,2] 3 6");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2,2 auto_pad=SAME_UPPER strides=2,2",
                      {"float[1,1,3,3] 1 2 3 4 5 6 7 8 9"}), "float[1,1,2,2] 3 4.5 7.5 9");
    OP_EXPECT(0, POOL("GlobalAveragePool", NULL, {"double[1,2,1,2,2] 1 2 3 4 0 0 0 1"}),
              "double[1,2,1,1,1] 2.5 0.25");
}

static void test_pool__powers(void **state)
{
    (void)state;
    OP_EXPECT(1e-7, POOL("LpPool", "kernel_shape=2,", {"float[1,1,3] 3 -4 3"}),
              "float[1,1,2] 5 5");
    OP_EXPECT(1e-7, POOL("LpPool", "kernel_shape=2, p=1 strides=2, pads=1,0",
                         {"float[1,1,3] 3 -4 3"}), "float[1,1,2] 3 7");
    OP_EXPECT(1e-7, OP("LpPool", 1, "kernel_shape=2, p=3f", {"float[1,1,2] 3 -4"}),
              "float[1,1,1] 4.4979414");
    OP_EXPECT(1e-7, OP("GlobalLpPool", 1, "p=1f", {"float[1,1,2] 3 -4"}), "float[1,1,1] 7");
    OP_EXPECT(1e-7, POOL("GlobalLpPool", NULL, {"float[1,1,2] 3 -4"}), "float[1,1,1] 5");
}

static void test_pool__unpool(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxUnpool", "kernel_shape=2, strides=2,",
                      {"float[1,1,2] 7 9", "int64[1,1,2] 1 2"}), "float[1,1,4] 0 7 9 0");
    OP_EXPECT(0, POOL("MaxUnpool", "kernel_shape=2, strides=2,",
                      {"float16[1,1,2] 7 9", "int64[1,1,2] 0 3", "int64[3] 1 1 5"}),
              "float16[1,1,5] 7 0 0 9 0");
    OP_EXPECT(0, POOL("MaxUnpool", "kernel_shape=1,2",
                      {"float[1,1,2,1] 7 9", "int64[1,1,2,1] 1 2", "int64[4] 1 1 2 3"}),
              "float[1,1,2,3] 0 7 0 9 0 0");
    op_expect_error(&(struct op_call)POOL("MaxUnpool", "kernel_shape=2,",
                                          {"float[1,1,1] 7", "int64[1,1,1] 2"}), ODB_E_OPERATOR);
}

static void test_pool__empty(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"float[0,2,3]"}), "float[0,2,2]");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2,", {"float[2,0,3]"}), "float[2,0,2]");
    OP_EXPECT(0, POOL("GlobalAveragePool", NULL, {"float[1,1,0]"}), "float[1,1,1] nan");
}

static void test_pool__refuses(void **state)
{
    static const struct op_call calls[] = {
        POOL("MaxPool", NULL, {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=4,", {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=2,2", {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=0,", {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=1,", {"float[1,3] 1 2 3"}),
        POOL("AveragePool", "kernel_shape=2, strides=-1,", {"float[1,1,3] 1 2 3"}),
        POOL("GlobalMaxPool", NULL, {"float[3] 1 2 3"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++)
        op_expect_error(&calls[i], ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)POOL("MaxPool", "kernel_shape=2000000,2000000",
                                          {"float[1,1,1,1] 1"}), ODB_UNSUPPORTED);
}

static void test_pool__modes_and_threads(void **state)
{
    static const struct op_call calls[] = {
        POOL("MaxPool", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1",
             {"float[1,64,40,41] random 1"}),
        POOL("AveragePool", "kernel_shape=3,2 strides=2,1 pads=1,1,0,0 dilations=2,3",
             {"float[2,32,30,33] random 1"}),
        POOL("LpPool", "kernel_shape=2,2,2 p=3", {"float[1,20,9,10,11] random 1"}),
        POOL("GlobalAveragePool", NULL, {"float[3,30,40,41] random 1"}),
        POOL("GlobalMaxPool", NULL, {"float[3,30,40,41] random 1"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++) {
        op_expect_modes(&calls[i], 1e-6);
        op_expect_any_threads(&calls[i]);
    }
}

/* The path that tracks indices and the one that does not find the same maxima. */
static void test_pool__both_paths_agree(void **state)
{
    const struct op_call call = POOL("MaxPool", "kernel_shape=3,2 strides=2,3 pads=1,0,2,1 "
                                     "dilations=2,1 ceil_mode=1", {"float[2,3,17,19] random 5"});
    struct odb_tensor *one[1], *two[2];
    (void)state;
    assert_int_equal(op_run_text(&call, 1, one, NULL), ODB_OK);
    assert_int_equal(op_run_text(&call, 2, two, NULL), ODB_OK);
    assert_true(odb_tensor_identical(one[0], two[0]));
    struct odb_tensor *x = op_tensor(call.in[0]);
    for (size_t i = 0; i < two[0]->count; i++) {
        size_t index = (size_t)odb_tensor_i64(two[1], i);
        assert_true(odb_tensor_f64(x, index) == odb_tensor_f64(two[0], i));
    }
    odb_tensor_unref(x);
    odb_tensor_unref(one[0]);
    odb_tensor_unref(two[0]);
    odb_tensor_unref(two[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool__max),
        cmocka_unit_test(test_pool__nan_wins),
        cmocka_unit_test(test_pool__indices),
        cmocka_unit_test(test_pool__windows_that_start_beyond_the_input),
        cmocka_unit_test(test_pool__average),
        cmocka_unit_test(test_pool__powers),
        cmocka_unit_test(test_pool__unpool),
        cmocka_unit_test(test_pool__empty),
        cmocka_unit_test(test_pool__refuses),
        cmocka_unit_test(test_pool__modes_and_threads),
        cmocka_unit_test(test_pool__both_paths_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
