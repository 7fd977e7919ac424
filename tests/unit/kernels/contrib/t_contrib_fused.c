/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * com.microsoft's operators that are others in a row, weights in a few bits, and chains as such:
 * against the operators that they are made of, in all modes, and what does not fit.
 */
#include "tests/help/op_case.h"

#define MS(name, ...) OP("com.microsoft::" name, 1, __VA_ARGS__)

/* --- fused ------------------------------------------------------------------------------------ */

static void test_fused__conv_adds_before_it_activates(void **state)
{
    const char *x = "float[1,1,3] 1 2 3", *w = "float[1,1,2] 1 -1";
    OP_EXPECT(0, MS("FusedConv", "activation=Relu", {x, w, "float[1] 0.5", "float[1,1,2] 1 -1"}),
              "float[1,1,2] 0.5 0");
    OP_EXPECT(0, MS("FusedConv", NULL, {x, w}), "float[1,1,2] -1 -1");
    OP_EXPECT(0, MS("FusedConv", "activation=LeakyRelu activation_params=0.25f,", {x, w}),
              "float[1,1,2] -0.25 -0.25");
    OP_EXPECT(0, MS("FusedConv", "activation=Clip activation_params=-0.5f,6f,", {x, w}),
              "float[1,1,2] -0.5 -0.5");
    OP_EXPECT(0, MS("NhwcFusedConv", "activation=Relu", {"float[1,3,1] 1 2 3", w, "float[1] 2"}),
              "float[1,2,1] 1 1");
    OP_LACKS(MS("FusedConv", "activation=Swish", {x, w}));
    OP_FAILS(MS("FusedConv", NULL, {x, w, "-", "float[2] 1 2"}));
    OP_FAILS(MS("FusedConv", NULL, {x, "float[1,2,2] 1 1 1 1"}));
}

static void test_fused__modes_and_halves(void **state)
{
    const struct op_call conv = MS("FusedConv", "activation=Tanh pads=1,1,1,1,",
                                   {"float[1,3,5,4] random 1", "float[2,3,3,3] random 2",
                                    "float[2] random 3", "float[1,2,5,4] random 4"});
    op_expect_modes(&conv, 1e-6);
    op_expect_any_threads(&conv);
    const struct op_call product = MS("FusedMatMul", "alpha=0.3f transA=1 transBatchB=1",
                                      {"float[2,5,4] random 1", "float[5,2,3] random 2"});
    op_expect_modes(&product, 1e-6);
    OP_EXPECT(0,
              MS("FusedConv", "activation=Relu",
                 {"float16[1,1,2] 1 2", "float16[1,1,1] 0.5", "-", "float16[1,1,2] 1 -4"}),
              "float16[1,1,2] 1.5 0");
    OP_EXPECT(0, MS("FusedMatMul", "alpha=0.5f", {"bfloat16[1,2] 1 2", "bfloat16[2,1] 3 4"}),
              "bfloat16[1,1] 5.5");
}

static void test_fused__nhwc_weights_in_either_layout(void **state)
{
    const char *x = "float[1,1,2,3] 1 2 3 4 5 6";
    OP_EXPECT(0, MS("NhwcConv", NULL, {x, "float[1,1,2,3] 1 0 0 0 1 0"}), "float[1,1,1,1] 6");
    OP_EXPECT(0, MS("NhwcConv", NULL, {x, "float[1,3,1,2] 1 0 0 1 0 0"}), "float[1,1,1,1] 6");
    OP_EXPECT(0, MS("NhwcMaxPool", "kernel_shape=1,2,", {"uint8[1,1,2,2] 1 9 7 2"}),
              "uint8[1,1,1,2] 7 9");
}

static void test_fused__transposed_pads_are_an_input(void **state)
{
    OP_EXPECT(0,
              MS("ConvTransposeWithDynamicPads", NULL,
                 {"float[1,1,2] 1 2", "float[1,1,2] 1 10", "int64[2] 0 1", "float[1] 100"}),
              "float[1,1,2] 101 112");
    OP_EXPECT(0,
              MS("ConvTransposeWithDynamicPads", NULL, {"float[1,1,2] 1 2", "float[1,1,2] 1 10"}),
              "float[1,1,3] 1 12 20");
    OP_FAILS(MS("ConvTransposeWithDynamicPads", NULL,
                {"float[1,1,2] 1 2", "float[1,1,2] 1 10", "int64[3] 0 1 2"}));
}

static void test_fused__products(void **state)
{
    OP_EXPECT(0,
              MS("FusedGemm",
                 "activation=LeakyRelu activation_alpha=0.5f alpha=2f beta=3f transB=1",
                 {"float[1,2] 1 2", "float[2,2] 1 1 -1 -4", "float[2] 1 -1"}),
              "float[1,2] 9 -10.5");
    OP_EXPECT(0, MS("FusedMatMul", "transA=1 transB=1", {"float[2] 1 2", "float[3,2] 1 0 0 1 1 1"}),
              "float[3] 1 2 3");
    OP_EXPECT(0, MS("TransposeMatMul", "transA=1 alpha=0.5f", {"float[2,1] 1 2", "float[2,1] 2 4"}),
              "float[1,1] 5");
    OP_EXPECT(0,
              MS("FusedMatMulActivation", "activation=Softmax activation_axis=0",
                 {"float[2,1] 3 3", "float[1,1] 2"}),
              "float[2,1] 0.5 0.5");
    OP_EXPECT(0, MS("FusedMatMul", NULL, {"float[0,2]", "float[2,3] 1 2 3 4 5 6"}), "float[0,3]");
    OP_EXPECT(1e-4, MS("GemmFastGelu", NULL, {"float[1,1] 2", "float[1,1] 1", "float[1] -1"}),
              "float[1,1] 0.841192");
    OP_FAILS(MS("FusedMatMul", NULL, {"float[1,2] 1 2", "float[3,1] 1 2 3"}));
}

/* Indices that count elements, and pairs. */
static void test_fused__sparse_operand(void **state)
{
    const struct op_call c = MS("SparseToDenseMatMul", "transB=1", {NULL});
    for (int pairs = 0; pairs < 2; pairs++) {
        struct odb_tensor *parts[2] = {op_tensor("float[2] 5 7"),
                                       op_tensor(pairs ? "int64[2,2] 0 2 1 0" : "int64[2] 2 3")};
        struct odb_tensor *in[2] = {NULL, op_tensor("float[1,3] 1 10 100")}, *out[1];
        assert_int_equal(odb_tensor_new_container(&in[0], ODB_SPARSE, parts, 2, NULL), ODB_OK);
        in[0]->dtype = ODB_F32;
        in[0]->rank = 2;
        in[0]->dims[0] = 2;
        in[0]->dims[1] = 3;
        assert_int_equal(op_run(&c, 2, in, 1, out, NULL), ODB_OK);
        struct odb_tensor *want = op_tensor("float[2,1] 500 7");
        op_assert_close(out[0], want, 0, "SparseToDenseMatMul");
        odb_tensor_unref(want);
        odb_tensor_unref(out[0]);
        for (int i = 0; i < 2; i++) {
            odb_tensor_unref(parts[i]);
            odb_tensor_unref(in[i]);
        }
    }
}

/* --- few bits --------------------------------------------------------------------------------- */

#define ONES16 "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"

static void test_nbits__widths_and_zero_points(void **state)
{
    const char *a = "float[1,16] " ONES16;
    /* codes 1, 2, 1, 2, …: 24 in all, less 16 zeros */
    OP_EXPECT(0,
              MS("MatMulNBits", "K=16 N=1 bits=4 block_size=16",
                 {a, "uint8[1,1,8] 33 33 33 33 33 33 33 33", "float[1] 0.5"}),
              "float[1,1] -52");
    OP_EXPECT(0,
              MS("MatMulNBits", "K=16 N=1 bits=4 block_size=16",
                 {a, "uint8[1,1,8] 33 33 33 33 33 33 33 33", "float[1] 0.5", "uint8[1] 1", "-",
                  "float[1] 100"}),
              "float[1,1] 104");
    OP_EXPECT(0,
              MS("MatMulNBits", "K=16 N=1 bits=4 block_size=16",
                 {a, "uint8[1,1,8] 33 33 33 33 33 33 33 33", "float[1] 0.5", "float[1] 1.5"}),
              "float[1,1] 0");
    OP_EXPECT(0,
              MS("MatMulNBits", "K=16 N=1 bits=2 block_size=16",
                 {a, "uint8[1,1,4] 228 228 228 228", "float[1] 1"}),
              "float[1,1] -8");
    OP_EXPECT(0,
              MS("MatMulNBits", "K=16 N=1 bits=8 block_size=16",
                 {a, "uint8[1,1,16] " ONES16, "float[1] 1", "uint8[1] 3"}),
              "float[1,1] -32");
    OP_EXPECT(
        0,
        MS("MatMulNBits", "K=16 N=1 bits=4 block_size=16",
           {"float16[1,16] " ONES16, "uint8[1,1,8] 33 33 33 33 33 33 33 33", "float16[1] 0.5"}),
        "float16[1,1] -52");
}

/* The last block may be cut; g_idx chooses scales. */
static void test_nbits__blocks_and_groups(void **state)
{
    const char *a = "float[1,17] " ONES16 " 1";
    const char *w = "uint8[1,2,8] 153 153 153 153 153 153 153 153 9 255 255 255 255 255 255 255";
    OP_EXPECT(0, MS("MatMulNBits", "K=17 N=1 block_size=16", {a, w, "float[2] 1 100"}),
              "float[1,1] 116");
    OP_EXPECT(0,
              MS("MatMulNBits", "K=17 N=1 block_size=16",
                 {a, w, "float[2] 1 100", "-", "int32[17] 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"}),
              "float[1,1] 116");
    OP_FAILS(MS("MatMulNBits", "K=17 N=1 block_size=16",
                {a, w, "float[2] 1 100", "-", "int32[17] 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2"}));
}

static void test_nbits__what_does_not_fit(void **state)
{
    const char *a = "float[1,16] " ONES16, *w = "uint8[1,1,8] 1 1 1 1 1 1 1 1";
    const char *const bad[] = {"K=16 N=2 block_size=16",          "K=16 N=1 block_size=24",
                               "K=0 N=1 block_size=16",           "K=16 N=1",
                               "K=99999999999 N=1 block_size=16", "K=33 N=1 block_size=16"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OP_FAILS(MS("MatMulNBits", bad[i], {a, w, "float[1] 1"}));
    OP_LACKS(MS("MatMulNBits", "K=16 N=1 block_size=16 bits=3", {a, w, "float[1] 1"}));
    OP_FAILS(MS("MatMulNBits", "K=16 N=1 block_size=16", {a, w, "float[1] 1", "uint8[2] 1 2"}));
}

/* What accuracy level 4 allows shows in noisy mode alone. */
static void test_nbits__accuracy_levels(void **state)
{
    const struct op_call fine = MS(
        "MatMulNBits", "K=32 N=4 block_size=16",
        {"float[3,32] random 1",
         "uint8[4,2,8] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 "
         "21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 "
         "50 51 52 53 54 55 56 57 58 59 60 61 62 63 64",
         "float[8] 1 1 1 1 1 1 1 1"});
    struct op_call coarse = fine;
    coarse.attrs = "K=32 N=4 block_size=16 accuracy_level=4";
    op_expect_modes(&fine, 1e-5);
    struct odb_tensor *out[2][2];
    for (int noisy = 0; noisy < 2; noisy++)
        for (int level = 0; level < 2; level++) {
            struct op_call c = level ? coarse : fine;
            c.precision = noisy ? ODB_PREC_NOISY : ODB_PREC_NATIVE;
            assert_int_equal(op_run_text(&c, 1, &out[noisy][level], NULL), ODB_OK);
        }
    assert_true(odb_tensor_identical(out[0][0], out[0][1]));
    double far = 0;
    for (size_t i = 0; i < out[1][1]->count; i++)
        far = fmax(far, fabs(odb_tensor_f64(out[1][1], i) - odb_tensor_f64(out[1][0], i)));
    assert_true(far > 1e-3 && far < 1);
    for (int i = 0; i < 4; i++)
        odb_tensor_unref(out[i / 2][i % 2]);
}

static void test_nbits__codes_of_bnb(void **state)
{
    const char *a = "float[1,16] " ONES16;
    /* NF4: 15 is 1, 7 is 0, 0 is -1 */
    OP_EXPECT(0,
              MS("MatMulBnb4", "K=16 N=1 block_size=16 quant_type=1",
                 {a, "uint8[8] 247 119 119 119 119 119 119 255", "float[1] 2"}),
              "float[1,1] 6");
    OP_EXPECT(1e-6,
              MS("MatMulBnb4", "K=16 N=1 block_size=16 quant_type=0",
                 {a, "uint8[8] 53 0 0 0 0 0 0 11", "float[1] 2"}),
              "float[1,1] 1");
    OP_EXPECT(0,
              MS("MatMulBnb4", "K=16 N=1 block_size=16 quant_type=1 transB=0",
                 {"float[1,1] 3", "uint8[8] 247 119 119 119 119 119 119 112", "float[1] 2"}),
              "float[1,16] 6 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -6");
    OP_FAILS(MS("MatMulBnb4", "K=16 N=1 block_size=16 quant_type=2",
                {a, "uint8[8] 0 0 0 0 0 0 0 0", "float[1] 2"}));
    OP_FAILS(MS("MatMulBnb4", "K=16 N=1 block_size=16 quant_type=1",
                {a, "uint8[7] 0 0 0 0 0 0 0", "float[1] 2"}));
}

/* A blob of type 0: scale 1.0, then 32 codes; the first 16 are in the low bits. */
static void test_nbits__blobs(void **state)
{
    const char *a = "float[1,32] " ONES16 " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
    OP_EXPECT(0,
              MS("MatMulFpQ4", "blk_quant_type=0",
                 {a, "uint8[20] 0 0 128 63 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 250", "int64[2] 32 1"}),
              "float[1,1] 17");
    OP_EXPECT(0,
              MS("MatMulFpQ4", NULL,
                 {a, "uint8[21] 0 0 128 63 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 250", "int64[2] 32 1"}),
              "float[1,1] 1");
    OP_FAILS(MS("MatMulFpQ4", NULL,
                {a,
                 "uint8[20] 0 0 128 63 9 9 9 9 9 9 9 9 9 9 9 9 9 9 "
                 "9 250",
                 "int64[2] 32 1"}));
}

static void test_nbits__gather(void **state)
{
    const char *data =
        "uint4[2,18] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0 0 0 0 15 15";
    OP_EXPECT(0,
              MS("GatherBlockQuantized", "block_size=16",
                 {data, "int64[3] -1 0 5", "float[2,2] 1 10 2 20", "uint4[2,2] 1 1 0 5"}),
              "float[3,18] 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 200 200 0 1 2 3 4 5 6 7 8 9 10 11 12 13 "
              "14 -1 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
    OP_EXPECT(0,
              MS("GatherBlockQuantized", "block_size=16 bits=4",
                 {"uint8[2,2] 33 67 0 152", "int32[1] 1", "float[2,1] 1 0.5"}),
              "float[1,4] -4 -4 0 0.5");
    OP_EXPECT(0,
              MS("GatherBlockQuantized", "block_size=16 bits=2",
                 {"uint8[1,1] 228", "int32[] 0", "float16[1,1] 2", "uint8[1,1] 1"}),
              "float16[4] -2 0 2 4");
    OP_EXPECT(0,
              MS("GatherBlockQuantized", "block_size=0",
                 {"float8e4m3fn[2,2] 1 2 3 4", "int64[1] 1", "float[1,1] 0.5"}),
              "float[1,2] 1.5 2");
    OP_FAILS(MS("GatherBlockQuantized", "block_size=16", {data, "int64[1] 0", "float[2,1] 1 2"}));
    OP_LACKS(MS("GatherBlockQuantized", "bits=3 block_size=16",
                {"uint8[1,1] 228", "int32[] 0", "float[1,1] 2"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused__conv_adds_before_it_activates),
        cmocka_unit_test(test_fused__modes_and_halves),
        cmocka_unit_test(test_fused__nhwc_weights_in_either_layout),
        cmocka_unit_test(test_fused__transposed_pads_are_an_input),
        cmocka_unit_test(test_fused__products),
        cmocka_unit_test(test_fused__sparse_operand),
        cmocka_unit_test(test_nbits__widths_and_zero_points),
        cmocka_unit_test(test_nbits__blocks_and_groups),
        cmocka_unit_test(test_nbits__what_does_not_fit),
        cmocka_unit_test(test_nbits__accuracy_levels),
        cmocka_unit_test(test_nbits__codes_of_bnb),
        cmocka_unit_test(test_nbits__blobs),
        cmocka_unit_test(test_nbits__gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
