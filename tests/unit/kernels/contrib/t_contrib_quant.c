/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * com.microsoft's quantised operators: roundings, saturation, zero points that are omitted, and
 * what does not fit.
 */
#include "tests/help/op_case.h"

#define MS(name, ...) OP("com.microsoft::" name, 1, __VA_ARGS__)

/* --- between 8-bit tensors -------------------------------------------------------------------- */

static void test_qlinear__add_rounds_ties_after_the_zero_point(void **state)
{
    OP_EXPECT(0,
              MS("QLinearAdd", NULL,
                 {"uint8[4] 10 20 255 0", "float[] 0.5", "uint8[] 10", "uint8[1] 7", "float[1] 1",
                  "uint8[1] 3", "float[] 1", "uint8[] 100"}),
              "uint8[4] 104 109 226 99");
    OP_EXPECT(0,
              MS("QLinearAdd", NULL,
                 {"uint8[4] 10 20 255 0", "float[] 0.5", "uint8[] 10", "uint8[1] 7", "float[1] 1",
                  "uint8[1] 3", "float[] 1", "uint8[] 101"}),
              "uint8[4] 105 110 228 100");
}

static void test_qlinear__add_saturates_and_broadcasts(void **state)
{
    OP_EXPECT(0,
              MS("QLinearAdd", NULL,
                 {"int8[2,1] 127 -128", "float[] 1", "int8[] 0", "int8[2] 100 -100", "float[] 1",
                  "int8[] 0", "float[] 1", "int8[] 0"}),
              "int8[2,2] 127 27 -28 -128");
    OP_EXPECT(0,
              MS("QLinearAdd", NULL,
                 {"int8[0,3]", "float[] 1", "int8[] 0", "int8[3] 1 2 3", "float[] 1", "int8[] 0",
                  "float[] 1", "int8[] 0"}),
              "int8[0,3]");
}

static void test_qlinear__zero_points_may_be_omitted(void **state)
{
    OP_EXPECT(0,
              MS("QLinearMul", NULL,
                 {"uint8[2] 3 200", "float[] 0.5", "-", "uint8[2] 5 200", "float[] 0.25", "-",
                  "float[] 0.5"}),
              "uint8[2] 4 255");
    OP_EXPECT(0,
              MS("QLinearSigmoid", NULL,
                 {"int8[3] 0 127 -128", "float[] 0.25", "-", "float[] 0.00390625"}),
              "int8[3] 127 127 0");
}

static void test_qlinear__mul_rounds_ties_after_the_zero_point(void **state)
{
    const char *a = "int8[3] 3 -3 100", *b = "int8[3] 1 1 100";
    OP_EXPECT(
        0,
        MS("QLinearMul", NULL,
           {a, "float[] 0.5", "int8[] 0", b, "float[] 1", "int8[] 0", "float[] 1", "int8[] 0"}),
        "int8[3] 2 -2 127");
    OP_EXPECT(
        0,
        MS("QLinearMul", NULL,
           {a, "float[] 0.5", "int8[] 0", b, "float[] 1", "int8[] 0", "float[] 1", "int8[] 1"}),
        "int8[3] 2 0 127");
}

static void test_qlinear__functions_of_one_operand(void **state)
{
    OP_EXPECT(
        0,
        MS("QLinearLeakyRelu", "alpha=0.25f",
           {"uint8[4] 128 138 118 0", "float[] 0.5", "uint8[] 128", "float[] 0.5", "uint8[] 10"}),
        "uint8[4] 10 20 8 0");
    OP_EXPECT(0,
              MS("QLinearSigmoid", NULL,
                 {"uint8[3] 128 255 0", "float[] 0.25", "uint8[] 128", "float[] 0.00390625",
                  "uint8[] 0"}),
              "uint8[3] 128 255 0");
}

static void test_qlinear__concat_and_where_bring_to_one_scale(void **state)
{
    OP_EXPECT(0,
              MS("QLinearConcat", "axis=1",
                 {"float[] 0.5", "uint8[] 10", "uint8[2,1] 10 255", "float[] 0.5", "uint8[] 10",
                  "uint8[2,2] 0 4 2 3", "float[] 1", "uint8[] 2"}),
              "uint8[2,3] 10 6 14 255 10 12");
    OP_EXPECT(0,
              MS("QLinearWhere", NULL,
                 {"bool[2,1] 1 0", "int8[3] 1 2 -3", "float[] 1", "int8[] 0", "int8[] 8",
                  "float[] 0.25", "int8[] 4", "float[] 0.5", "int8[] -1"}),
              "int8[2,3] 1 3 -7 1 1 1");
}

static void test_qlinear__softmax_saturates(void **state)
{
    OP_EXPECT(0,
              MS("QLinearSoftmax", "opset=13",
                 {"int8[2,1] 5 7", "float[] 0.1", "int8[] 0", "float[] 0.00390625", "int8[] -128"}),
              "int8[2,1] 127 127");
    OP_EXPECT(
        0,
        MS("QLinearSoftmax", "opset=13 axis=0",
           {"uint8[2,2] 5 7 5 9", "float[] 100", "uint8[] 0", "float[] 0.00390625", "uint8[] 0"}),
        "uint8[2,2] 128 0 128 255");
    OP_EXPECT(
        0,
        MS("QLinearSoftmax", "opset=12",
           {"uint8[1,2,2] 5 5 5 5", "float[] 0.1", "uint8[] 0", "float[] 0.00390625", "uint8[] 0"}),
        "uint8[1,2,2] 64 64 64 64");
}

static void test_qlinear__means(void **state)
{
    OP_EXPECT(0,
              MS("QLinearAveragePool", "kernel_shape=2,2, strides=2,2,",
                 {"uint8[1,1,2,4] 1 2 3 4 3 4 5 6", "float[] 1", "uint8[] 1", "float[] 0.5",
                  "uint8[] 3"}),
              "uint8[1,1,1,2] 6 10");
    OP_EXPECT(0,
              MS("QLinearAveragePool", "kernel_shape=2,2, strides=2,2, channels_last=1",
                 {"uint8[1,2,2,2] 1 3 2 4 3 5 4 6", "float[] 1", "uint8[] 1", "float[] 0.5",
                  "uint8[] 3"}),
              "uint8[1,1,1,2] 6 10");
    OP_EXPECT(
        0,
        MS("QLinearGlobalAveragePool", "channels_last=1",
           {"int8[1,2,2,2] 1 -3 2 -4 3 -5 6 -4", "float[] 1", "int8[] 1", "float[] 1", "int8[] 0"}),
        "int8[1,1,1,2] 2 -5");
    OP_EXPECT(
        0,
        MS("QLinearGlobalAveragePool", NULL,
           {"uint8[1,2,3] 1 2 3 251 252 253", "float[] 1", "uint8[] 0", "float[] 1", "uint8[] 4"}),
        "uint8[1,2,1] 6 255");
    OP_EXPECT(0,
              MS("QLinearReduceMean", "axes=1, keepdims=0",
                 {"uint8[2,2] 2 4 8 9", "float[] 1", "uint8[] 0", "float[] 1", "uint8[] 1"}),
              "uint8[2] 4 9");
}

static void test_qlinear__conv_with_channels_last(void **state)
{
    OP_EXPECT(0,
              MS("QLinearConv", "channels_last=1",
                 {"uint8[1,2,2] 3 4 5 6", "float[] 1", "uint8[] 1", "int8[1,2,1] 1 -1", "float[] 1",
                  "int8[] 0", "float[] 0.5", "uint8[] 10", "int32[1] 2"}),
              "uint8[1,2,1] 12 12");
}

static void test_qlinear__what_does_not_fit(void **state)
{
    OP_FAILS(MS("QLinearAdd", NULL,
                {"uint8[1] 1", "float[] 1", "uint8[] 0", "int8[1] 1", "float[] 1", "int8[] 0",
                 "float[] 1", "uint8[] 0"}));
    OP_FAILS(MS("QLinearAdd", NULL,
                {"uint8[1] 1", "float[2] 1 1", "uint8[] 0", "uint8[1] 1", "float[] 1", "uint8[] 0",
                 "float[] 1", "uint8[] 0"}));
    OP_FAILS(MS("QLinearAdd", NULL, {"uint8[1] 1", "float[] 1", "uint8[] 0"}));
    OP_FAILS(MS("QLinearConcat", "axis=0", {"float[] 1", "uint8[] 0", "uint8[1] 1", "float[] 1"}));
    OP_FAILS(MS("QLinearConcat", "axis=0",
                {"float[] 1", "uint8[] 0", "uint8[1] 1", "float[] 1", "uint8[] 0", "uint8[1,1] 1",
                 "float[] 1", "uint8[] 0"}));
    OP_FAILS(MS("QLinearSigmoid", NULL, {"uint8[1] 1", "float[] 1"}));
    OP_FAILS(MS("QLinearGlobalAveragePool", NULL,
                {"uint8[1,1] 1", "float[] 1", "uint8[] 0", "float[] 1", "uint8[] 0"}));
}

/* Scales of 0, infinities: levels at the ends, never undefined behaviour. */
static void test_qlinear__scales_that_make_no_sense(void **state)
{
    OP_EXPECT(0,
              MS("QLinearLeakyRelu", NULL,
                 {"uint8[3] 0 1 255", "float[] 1", "uint8[] 1", "float[] 0", "uint8[] 0"}),
              "uint8[3] 0 0 255");
    OP_EXPECT(0,
              MS("QLinearAdd", NULL,
                 {"int8[2] 5 -5", "float[] 1", "int8[] 0", "int8[1] 0", "float[] 1", "int8[] 0",
                  "float[] 0", "int8[] 0"}),
              "int8[2] -128 -128");
    OP_EXPECT(0,
              MS("QLinearMul", NULL,
                 {"int8[2] 5 -5", "float[] inf", "int8[] 0", "int8[1] 1", "float[] 1", "int8[] 0",
                  "float[] 1", "int8[] 0"}),
              "int8[2] 127 -128");
}

/* --- between floats and integers -------------------------------------------------------------- */

static void test_qlinear__quantize_to_more_types(void **state)
{
    OP_EXPECT(
        0, MS("QuantizeLinear", NULL, {"float[3] -40000 2.5 70000", "float[] 1", "uint16[] 100"}),
        "uint16[3] 0 102 65535");
    OP_EXPECT(
        0,
        MS("QuantizeLinear", "axis=0", {"float[2,2] 1 2 30 -300", "float[2] 0.5 1", "int4[2] 0 1"}),
        "int4[2,2] 2 4 7 -8");
    OP_EXPECT(0,
              MS("DequantizeLinear", "axis=1",
                 {"int16[2,2] 100 200 -300 400", "float[2] 0.5 2", "int16[2] 0 100"}),
              "float[2,2] 50 200 -150 600");
    OP_EXPECT(0, MS("DequantizeLinear", NULL, {"int32[2] 7 -7", "float16[] 0.5"}),
              "float16[2] 3.5 -3.5");
    OP_EXPECT(0, MS("QuantizeLinear", NULL, {"float16[2] 1.5 2.5", "float16[] 1", "int8[] 0"}),
              "int8[2] 2 2");
}

static void test_qproduct__gemm(void **state)
{
    const char *a = "uint8[2,3] 1 2 3 4 5 6", *b = "int8[3,2] 1 -1 0 2 3 1";
    OP_EXPECT(0,
              MS("QGemm", NULL,
                 {a, "float[] 0.5", "uint8[] 1", b, "float[2] 1 2", "int8[2] 0 0", "int32[2] 10 20",
                  "float[] 1", "uint8[] 3"}),
              "uint8[2,2] 11 27 17 33");
    OP_EXPECT(0,
              MS("QGemm", "transA=1 alpha=2f",
                 {"uint8[3,1] 1 2 3", "float[] 0.5", "uint8[] 1", b, "float[] 1", "int8[] 0"}),
              "float[1,2] 6 4");
    OP_EXPECT(0,
              MS("QGemm", "transB=1",
                 {"int8[1,2] 100 100", "float[] 1", "int8[] 0", "int8[2,2] 1 1 -1 -1", "float[] 1",
                  "int8[] 0", "-", "float[] 1", "int8[] 0"}),
              "int8[1,2] 127 -128");
    OP_FAILS(MS("QGemm", NULL,
                {a, "float[] 1", "uint8[] 1", b, "float[] 1", "int8[] 0", "-", "float[] 1"}));
    OP_FAILS(
        MS("QGemm", NULL,
           {a, "float[] 1", "uint8[] 1", b, "float[] 1", "int8[] 0", "int32[3,2] 0 0 0 0 0 0"}));
}

static void test_qproduct__to_float(void **state)
{
    OP_EXPECT(0,
              MS("DynamicQuantizeMatMul", NULL,
                 {"float[1,3] 0 255 17", "int8[3,2] 1 2 -1 0 3 1", "float[2] 0.5 2", "-",
                  "float[2] 1 -1"}),
              "float[1,2] -101 33");
    OP_EXPECT(0,
              MS("DynamicQuantizeMatMul", NULL,
                 {"float[1,2] 0 0", "uint8[2,1] 1 2", "float[] 1", "uint8[] 1"}),
              "float[1,1] 0");
    OP_EXPECT(0,
              MS("MatMulIntegerToFloat", NULL,
                 {"uint8[1,2] 3 4", "uint8[2,2] 5 6 7 8", "float[] 0.5", "float[2] 1 2",
                  "uint8[] 1", "uint8[2] 1 2", "float[2] 1 2"}),
              "float[1,2] 14 28");
    OP_EXPECT(0,
              MS("MatMulIntegerToFloat", NULL,
                 {"int8[1,1] 3", "int8[1,1] 4", "float16[] 0.5", "float16[] 0.5"}),
              "float16[1,1] 3");
    OP_LACKS(MS("MatMulIntegerToFloat", NULL,
                {"uint8[1,2] 3 4", "uint8[2,2] 5 6 7 8", "float[2] 1 1", "float[] 1"}));
    OP_FAILS(MS("DynamicQuantizeMatMul", NULL,
                {"float[1,2] 3 4", "uint8[2,2] 5 6 7 8", "float[] 1", "-", "float[3] 1 2 3"}));
}

static void test_qproduct__integers(void **state)
{
    OP_EXPECT(0, MS("MatMulInteger16", NULL, {"int16[1,2] 300 -300", "int16[2,1] 1000 2000"}),
              "int32[1,1] -300000");
    OP_EXPECT(0, MS("MatMulInteger16", NULL, {"uint16[1,1] 60000", "uint16[1,1] 60000"}),
              "uint32[1,1] 3600000000");
    OP_EXPECT(0, MS("MulInteger", NULL, {"uint8[2] 3 255", "-", "uint8[] 200", "uint8[] 100"}),
              "int32[2] 300 25500");
    OP_EXPECT(0, MS("ReduceSumInteger", "axes=1, keepdims=1", {"int8[2,2] 100 100 -100 -50"}),
              "int32[2,1] 200 -150");
    OP_EXPECT(0, MS("ReduceSumInteger", "axes=0, keepdims=0", {"uint8[2,2] 250 1 250 2"}),
              "uint32[2] 500 3");
    OP_FAILS(MS("MulInteger", NULL, {"uint8[2] 3 255", "uint8[] 1"}));
}

/* --- what is quantised around another operator ------------------------------------------------ */

/* Levels of scale 1 are the numbers themselves. */
static void test_qproduct__attention_is_attention(void **state)
{
    const struct op_call q =
        MS("QAttention", "num_heads=2 unidirectional=1",
           {"uint8[1,3,4] random 1", "int8[4,12] random 2", "float[12] random 3", "float[] 0.01",
            "float[] 0.01", "-", "uint8[] 7", "int8[] 0"});
    const struct op_call dq[2] = {
        MS("DequantizeLinear", NULL, {"uint8[1,3,4] random 1", "float[] 0.01", "uint8[] 7"}),
        MS("DequantizeLinear", NULL, {"int8[4,12] random 2", "float[] 0.01", "int8[] 0"})};
    const struct op_call plain = MS("Attention", "num_heads=2 unidirectional=1", {NULL});
    struct odb_tensor *out[2], *in[3], *want[2];
    assert_int_equal(op_run_text(&q, 1, out, NULL), ODB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(op_run_text(&dq[i], 1, &in[i], NULL), ODB_OK);
    in[2] = op_tensor("float[12] random 3");
    assert_int_equal(op_run(&plain, 3, in, 1, want, NULL), ODB_OK);
    op_assert_close(out[0], want[0], 0, "QAttention");
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(in[i]);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(want[0]);
}

static void test_qproduct__embedding(void **state)
{
    OP_EXPECT(1e-6,
              MS("QEmbedLayerNormalization", "epsilon=0f",
                 {"int32[1,2] 1 0", "-", "int8[2,2] 1 3 0 4", "int8[2,2] 1 1 0 0", "-",
                  "int8[2] 1 2", "int8[2] 0 3", "int32[1,2] 1 0", "float[] 1", "float[] 1", "-",
                  "float[] 1", "float[] 0.5", "int8[] 0", "int8[] 1", "-", "int8[] 0", "int8[] 1"}),
              "float[1,2,2] -1.5 3 -1.5 3", "int32[1] 1");
    OP_FAILS(MS("QEmbedLayerNormalization", NULL, {"int32[1,2] 1 0", "-", "int8[2,2] 1 3 0 4"}));
}

/* With weights of zero every gate is a half, and cells halve at every step of their sequence. */
static void test_qlstm__cells_that_fade(void **state)
{
    const char *w = "int8[1,1,4] 0 0 0 0", *s = "float[1] 0.1", *z = "int8[1] 0";
    OP_EXPECT(1e-6,
              MS("DynamicQuantizeLSTM", "hidden_size=1",
                 {"float[2,2,1] 1 2 3 4", w, w, "-", "int32[2] 2 1", "-", "float[1,2,1] 8 8", "-",
                  s, z, s, z}),
              "float[2,1,2,1] 0.49966464987 0.49966464987 0.48201379004 0",
              "float[1,2,1] 0.48201379004 0.49966464987", "float[1,2,1] 2 4");
    OP_EXPECT(1e-6,
              MS("DynamicQuantizeLSTM", "hidden_size=1 direction=reverse",
                 {"float[2,2,1] 1 2 3 4", w, w, "-", "int32[2] 2 1", "-", "float[1,2,1] 8 8", "-",
                  s, z, s, z}),
              "float[2,1,2,1] 0.48201379004 0.49966464987 0.49966464987 0",
              "float[1,2,1] 0.48201379004 0.49966464987", "float[1,2,1] 2 4");
}

static void test_qlstm__two_directions(void **state)
{
    const struct op_call c =
        MS("DynamicQuantizeLSTM", "hidden_size=2 direction=bidirectional",
           {"float[3,2,3] random 1", "int8[2,3,8] random 2",
            "int8[2,2,8] 1 2 3 4 5 6 7 8 1 2 3 4 "
            "5 6 7 8 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7 8",
            "float[2,16] random 4", "-", "-", "-", "float[2,6] random 5", "float[2] 0.01 0.02",
            "int8[2] 0 0", "float[2,8] random 6", "int8[2,8] 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4"});
    struct odb_tensor *out[3];
    struct odb_error err = ODB_ERROR_INIT;
    if (op_run_text(&c, 3, out, &err) != ODB_OK)
        fail_msg("%s", err.what);
    assert_int_equal(out[0]->rank, 4);
    assert_int_equal(out[0]->dims[1], 2);
    for (int dir = 0; dir < 2; dir++) /* last states are results of the last and the first step */
        for (size_t i = 0; i < 4; i++)
            assert_true(odb_tensor_f64(out[1], (size_t)dir * 4 + i) ==
                        odb_tensor_f64(out[0], (dir == 0 ? 16u : 4u) + i));
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(out[i]);
    struct odb_tensor *best = op_in_double(&c);
    assert_int_equal(best->dtype, ODB_F64);
    odb_tensor_unref(best);
}

static void test_qlstm__what_does_not_fit(void **state)
{
    const char *w = "int8[1,1,4] 0 0 0 0", *s = "float[1] 0.1", *z = "int8[1] 0";
    OP_FAILS(MS("DynamicQuantizeLSTM", "hidden_size=1",
                {"float[1,1,2] 1 2", w, w, "-", "-", "-", "-", "-", s, z, s, z}));
    OP_FAILS(MS("DynamicQuantizeLSTM", "hidden_size=1",
                {"float[1,1,1] 1", w, w, "-", "int32[1] 2", "-", "-", "-", s, z, s, z}));
    OP_FAILS(MS("DynamicQuantizeLSTM", "hidden_size=1", {"float[1,1,1] 1", w, w}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qlinear__add_rounds_ties_after_the_zero_point),
        cmocka_unit_test(test_qlinear__add_saturates_and_broadcasts),
        cmocka_unit_test(test_qlinear__zero_points_may_be_omitted),
        cmocka_unit_test(test_qlinear__mul_rounds_ties_after_the_zero_point),
        cmocka_unit_test(test_qlinear__functions_of_one_operand),
        cmocka_unit_test(test_qlinear__concat_and_where_bring_to_one_scale),
        cmocka_unit_test(test_qlinear__softmax_saturates),
        cmocka_unit_test(test_qlinear__means),
        cmocka_unit_test(test_qlinear__conv_with_channels_last),
        cmocka_unit_test(test_qlinear__what_does_not_fit),
        cmocka_unit_test(test_qlinear__scales_that_make_no_sense),
        cmocka_unit_test(test_qlinear__quantize_to_more_types),
        cmocka_unit_test(test_qproduct__gemm),
        cmocka_unit_test(test_qproduct__to_float),
        cmocka_unit_test(test_qproduct__integers),
        cmocka_unit_test(test_qproduct__attention_is_attention),
        cmocka_unit_test(test_qproduct__embedding),
        cmocka_unit_test(test_qlstm__cells_that_fade),
        cmocka_unit_test(test_qlstm__two_directions),
        cmocka_unit_test(test_qlstm__what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
