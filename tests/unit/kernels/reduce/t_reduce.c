/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reductions, ArgMax and running sums.
 */
#include "tests/help/op_case.h"

static void test_reduce__axes(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("ReduceSum", 11, "axes=1, keepdims=0", {"float[2,3] 1 2 3 4 5 6"}),
              "float[2] 6 15");
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"float[2,3] 1 2 3 4 5 6", "int64[1] -2"}),
              "float[1,3] 5 7 9");
    OP_EXPECT(0, OP("ReduceSum", 13, "keepdims=0", {"float[2,3] 1 2 3 4 5 6"}), "float[] 21");
    OP_EXPECT(0, OP("ReduceSum", 13, "noop_with_empty_axes=1", {"float[2] 1 2", "int64[0]"}),
              "float[2] 1 2");
    OP_EXPECT(0, OP("ReduceSumSquare", 18, "noop_with_empty_axes=1", {"float[2] 2 3"}),
              "float[2] 4 9");
    OP_EXPECT(0, OP("ReduceMean", 18, NULL, {"float[2,2,2] 1 2 3 4 5 6 7 8", "int64[2] 0 2"}),
              "float[1,2,1] 3.5 5.5");
    OP_EXPECT(0, OP("ReduceMax", 1, "axes=0,2 keepdims=0", {"float[2,2,2] 1 2 3 4 5 6 7 8"}),
              "float[2] 6 8");
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"float[] 3"}), "float[] 3");
    op_expect_error(&(struct op_call)OP("ReduceSum", 11, "axes=2,", {"float[2,1] 1 2"}),
                    ODB_E_OPERATOR);
}

static void test_reduce__kinds(void **state)
{
    static const struct {
        const char *op, *out;
    } kinds[] = {{"ReduceSum", "float[1] 4"},          {"ReduceMean", "float[1] 1"},
                 {"ReduceMax", "float[1] 4"},          {"ReduceMin", "float[1] -3"},
                 {"ReduceProd", "float[1] -24"},       {"ReduceL1", "float[1] 10"},
                 {"ReduceL2", "float[1] 5.477225575"}, {"ReduceLogSum", "float[1] 1.386294361"},
                 {"ReduceSumSquare", "float[1] 30"},   {"ReduceLogSumExp", "float[1] 4.170615234"}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(kinds); i++) {
        const struct op_call call = OP(kinds[i].op, 18, NULL, {"float[4] 1 -3 2 4"});
        op_expect(&call, 1e-7, (const char *const[]){kinds[i].out, NULL});
    }
}

static void test_reduce__integers(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"int32[2] 2147483647 1"}), "int32[1] -2147483648");
    OP_EXPECT(0, OP("ReduceMean", 13, NULL, {"int32[2] -3 0"}), "int32[1] -1");
    OP_EXPECT(0, OP("ReduceMean", 13, NULL, {"int64[0]"}), "int64[1] 0");
    OP_EXPECT(0, OP("ReduceL1", 13, NULL, {"int8[2] -128 1"}), "int8[1] -127");
    OP_EXPECT(0, OP("ReduceL2", 13, NULL, {"int32[2] 3 -4"}), "int32[1] 5");
    OP_EXPECT(0, OP("ReduceLogSumExp", 13, NULL, {"int32[2] 1000 1000"}), "int32[1] 1000");
    OP_EXPECT(0, OP("ReduceMax", 13, NULL, {"uint8[3] 1 255 3"}), "uint8[1] 255");
    OP_EXPECT(0, OP("ReduceMin", 13, NULL, {"int8[3] 1 -128 3"}), "int8[1] -128");
    OP_EXPECT(0, OP("ReduceProd", 13, NULL, {"int64[3] 3 -5 7"}), "int64[1] -105");
    OP_EXPECT(0, OP("ReduceMax", 20, NULL, {"bool[3] 0 1 0"}), "bool[1] 1");
    OP_EXPECT(0, OP("ReduceMin", 20, NULL, {"bool[3] 0 1 0"}), "bool[1] 0");
}

static void test_reduce__of_nothing(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"float[2,0]", "int64[1] 1"}), "float[2,1] 0 0");
    OP_EXPECT(0, OP("ReduceMax", 20, NULL, {"float[0]"}), "float[1] -inf");
    OP_EXPECT(0, OP("ReduceMin", 20, NULL, {"int32[0]"}), "int32[1] 2147483647");
    OP_EXPECT(0, OP("ReduceMin", 20, NULL, {"bool[0]"}), "bool[1] 1");
    OP_EXPECT(0, OP("ReduceMax", 20, NULL, {"bool[0]"}), "bool[1] 0");
    OP_EXPECT(0, OP("ReduceProd", 18, NULL, {"float[0,2]", "int64[1] 0"}), "float[1,2] 1 1");
    OP_EXPECT(0, OP("ReduceMean", 18, NULL, {"float[0]"}), "float[1] nan");
    OP_EXPECT(0, OP("ReduceLogSumExp", 18, NULL, {"float[0]"}), "float[1] -inf");
    OP_EXPECT(0, OP("ReduceLogSum", 18, NULL, {"float[0]"}), "float[1] -inf");
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"float[0,2]", "int64[1] 1"}), "float[0,1]");
}

static void test_reduce__nan_and_infinity(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("ReduceMax", 18, NULL, {"float[3] 1 nan 2"}), "float[1] nan");
    OP_EXPECT(0, OP("ReduceMin", 18, NULL, {"float[2,2] nan 1 2 3", "int64[1] 0"}),
              "float[1,2] nan 1");
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"float[3] 1 inf -inf"}), "float[1] nan");
    OP_EXPECT(0, OP("ReduceLogSumExp", 18, NULL, {"float[2] -inf -inf"}), "float[1] -inf");
    OP_EXPECT(0, OP("ReduceLogSumExp", 18, NULL, {"float[2] inf 1"}), "float[1] inf");
    OP_EXPECT(0, OP("ReduceLogSumExp", 18, NULL, {"float[2] nan 1"}), "float[1] nan");
}

static void test_reduce__sums_in_double(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("ReduceSum", 13, NULL, {"float[4] 1e8 1 1 -1e8"}), "float[1] 2");
    /* one by one in float, each 0.9 is lost; the jitter of the large number is at most 4 */
    struct op_call noisy =
        OP("ReduceSum", 13, NULL, {"float[11] 3e7 .9 .9 .9 .9 .9 .9 .9 .9 .9 .9"});
    struct odb_tensor *out[1];
    op_expect(&noisy, 0, (const char *const[]){"float[1] 30000008", NULL});
    noisy.precision = ODB_PREC_NOISY;
    assert_int_equal(op_run_text(&noisy, 1, out, NULL), ODB_OK);
    assert_true(odb_tensor_f64(out[0], 0) <= 30000004);
    odb_tensor_unref(out[0]);
}

static void test_reduce__arg(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("ArgMax", 13, NULL, {"float[2,2] 2 1 3 1"}), "int64[1,2] 1 0");
    OP_EXPECT(
        0, OP("ArgMax", 13, "axis=1 keepdims=0 select_last_index=1", {"float[2,3] 2 2 1 3 10 10"}),
        "int64[2] 1 2");
    OP_EXPECT(0, OP("ArgMin", 1, "axis=-1", {"uint8[1,3] 9 0 0"}), "int64[1,1] 1");
    OP_EXPECT(0, OP("ArgMin", 12, "axis=-1 select_last_index=1", {"int64[3] -9 0 -9"}),
              "int64[1] 2");
    OP_EXPECT(0, OP("ArgMax", 13, NULL, {"float[4] 1 nan 5 nan"}), "int64[1] 1");
    OP_EXPECT(0, OP("ArgMin", 13, "select_last_index=1", {"float[4] 1 nan 5 nan"}), "int64[1] 3");
    OP_EXPECT(0, OP("ArgMax", 13, "keepdims=0", {"float16[2] 1 2"}), "int64[] 1");
    OP_EXPECT(0, OP("ArgMax", 13, "axis=1", {"float[0,2]"}), "int64[0,1]");
    op_expect_error(&(struct op_call)OP("ArgMax", 13, NULL, {"float[0,2]"}), ODB_E_OPERATOR);
}

static void test_reduce__running(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("CumSum", 14, NULL, {"float[3] 1 2 3", "int32[] 0"}), "float[3] 1 3 6");
    OP_EXPECT(0, OP("CumSum", 11, "exclusive=1 reverse=1", {"double[3] 1 2 3", "int64[1] 0"}),
              "double[3] 5 3 0");
    OP_EXPECT(0, OP("CumSum", 14, NULL, {"int32[2,2] 1 2 3 4", "int32[] -2"}),
              "int32[2,2] 1 2 4 6");
    OP_EXPECT(0, OP("CumProd", 26, "exclusive=1", {"float[3] 2 3 4", "int64[] 0"}),
              "float[3] 1 2 6");
    OP_EXPECT(0, OP("CumProd", 26, "reverse=1", {"uint32[3] 2 3 4", "int64[] 0"}),
              "uint32[3] 24 12 4");
    OP_EXPECT(0, OP("CumSum", 14, NULL, {"float[2,0]", "int64[] 1"}), "float[2,0]");
    op_expect_error(&(struct op_call)OP("CumSum", 14, NULL, {"float[2] 1 2", "int64[] 1"}),
                    ODB_E_OPERATOR);
}

static void test_reduce__modes_and_threads(void **state)
{
    static const struct op_call calls[] = {
        OP("ReduceSum", 11, "axes=2,", {"float[30,40,90] random 1"}),
        OP("ReduceMean", 11, "axes=0,", {"float[90,40,31] random 1"}),
        OP("ReduceL2", 11, "axes=0,2", {"float[30,40,90] random 1"}),
        OP("ReduceLogSumExp", 11, "axes=1,", {"float[30,40,90] random 1"}),
        OP("ReduceMax", 11, "axes=1,3", {"float[10,11,12,13] random 1"}),
        OP("ReduceProd", 11, "axes=1,", {"float[300,5,30] random 1"}),
        OP("CumSum", 14, NULL, {"float[30,90,40] random 1", "int64[] 1"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++) {
        op_expect_modes(&calls[i], 1e-5);
        op_expect_any_threads(&calls[i]);
    }
    static const struct op_call arg = OP("ArgMax", 13, "axis=1", {"float[30,90,140] random 1"});
    op_expect_any_threads(&arg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce__axes),
        cmocka_unit_test(test_reduce__kinds),
        cmocka_unit_test(test_reduce__integers),
        cmocka_unit_test(test_reduce__of_nothing),
        cmocka_unit_test(test_reduce__nan_and_infinity),
        cmocka_unit_test(test_reduce__sums_in_double),
        cmocka_unit_test(test_reduce__arg),
        cmocka_unit_test(test_reduce__running),
        cmocka_unit_test(test_reduce__modes_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
