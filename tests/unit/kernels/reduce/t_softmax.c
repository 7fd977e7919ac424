/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Softmax, LogSoftmax, Hardmax.
 */
#include "tests/help/op_case.h"

static void test_softmax__one_axis(void **state)
{
    (void)state;
    OP_EXPECT(1e-7, OP("Softmax", 13, NULL, {"float[1,3] 0 0.6931472 1.0986123"}),
              "float[1,3] 0.16666667 0.33333333 0.5");
    OP_EXPECT(1e-7, OP("Softmax", 13, "axis=0", {"float[2,2] 0 0 0 1.0986123"}),
              "float[2,2] 0.5 0.25 0.5 0.75");
    OP_EXPECT(1e-7, OP("LogSoftmax", 13, "axis=-2", {"float[2,1] 0 0"}),
              "float[2,1] -0.69314718 -0.69314718");
    OP_EXPECT(1e-15, OP("Softmax", 13, NULL, {"double[2] 0 1.0986122886681098"}),
              "double[2] 0.25 0.75");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"bfloat16[2] 3 3"}), "bfloat16[2] 0.5 0.5");
}

static void test_softmax__flattened_before_13(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("Softmax", 11, NULL, {"float[1,2,2] 1 1 1 1"}),
              "float[1,2,2] 0.25 0.25 0.25 0.25");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[1,2,2] 1 1 1 1"}), "float[1,2,2] 0.5 0.5 0.5 0.5");
    OP_EXPECT(0, OP("Softmax", 1, "axis=2", {"float[1,2,2] 1 1 1 1"}),
              "float[1,2,2] 0.5 0.5 0.5 0.5");
    OP_EXPECT(0, OP("Hardmax", 11, "axis=0", {"float[2,2] 1 3 3 2"}), "float[2,2] 0 1 0 0");
    OP_EXPECT(0, OP("Hardmax", 13, "axis=0", {"float[2,2] 1 3 3 2"}), "float[2,2] 0 1 1 0");
}

static void test_softmax__extremes(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[3] 1e30 -1e30 -inf"}), "float[3] 1 0 0");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[2] -inf -inf"}), "float[2] nan nan");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[3] 1 nan 2"}), "float[3] nan nan nan");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[2] inf 0"}), "float[2] nan nan");
    OP_EXPECT(1e-7, OP("LogSoftmax", 13, NULL, {"float[2] 0 -1000"}), "float[2] 0 -1000");
    OP_EXPECT(0, OP("Hardmax", 13, NULL, {"float[4] 1 nan 3 nan"}), "float[4] 0 1 0 0");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[] 5"}), "float[] 1");
    OP_EXPECT(0, OP("Softmax", 13, NULL, {"float[2,0]"}), "float[2,0]");
    OP_EXPECT(0, OP("Softmax", 11, NULL, {"float[0,2]"}), "float[0,2]");
    op_expect_error(&(struct op_call)OP("Softmax", 13, "axis=2", {"float[2,1] 1 2"}),
                    ODB_E_OPERATOR);
}

/* The powers are a series of the project's own; here they meet the C library's. */
static void test_softmax__powers_are_exact_in_float(void **state)
{
    struct odb_tensor *out[1];
    float values[2] = {0, 0};
    (void)state;
    for (double x = -110; x <= 0; x += 0.0137) {
        struct odb_tensor *in = op_tensor("float[2] 0 0");
        values[1] = (float)x;
        memcpy(in->data, values, sizeof values);
        const struct op_call call = OP("Softmax", 13, NULL, {NULL});
        assert_int_equal(op_run(&call, 1, &in, 1, out, NULL), ODB_OK);
        double power = exp((double)values[1]);
        double got = odb_tensor_f64(out[0], 1), want = (float)(power / (1 + power));
        assert_true(fabs(got - want) <= fmax(fabs(want) * 6e-8, 1.5e-45));
        odb_tensor_unref(in);
        odb_tensor_unref(out[0]);
    }
}

static void test_softmax__modes_and_threads(void **state)
{
    static const struct op_call calls[] = {
        OP("Softmax", 13, NULL, {"float[300,130] random 1"}),
        OP("Softmax", 13, "axis=1", {"float[3,130,170] random 1"}),
        OP("LogSoftmax", 13, NULL, {"float[300,131] random 1"}),
        OP("Softmax", 11, NULL, {"float[200,13,17] random 1"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++) {
        op_expect_modes(&calls[i], 1e-6);
        op_expect_any_threads(&calls[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax__one_axis),
        cmocka_unit_test(test_softmax__flattened_before_13),
        cmocka_unit_test(test_softmax__extremes),
        cmocka_unit_test(test_softmax__powers_are_exact_in_float),
        cmocka_unit_test(test_softmax__modes_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
