/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rest of com.microsoft, and what ai.onnx took back: edges, omitted inputs, empty tensors, and
 * what does not fit.
 */
#include "tests/help/op_case.h"

#define MS(name, ...) OP("com.microsoft::" name, 1, __VA_ARGS__)
#define FAILS(name, ...) OP_FAILS(MS(name, __VA_ARGS__))
#define LACKS(name, ...) OP_LACKS(MS(name, __VA_ARGS__))

/* --- early forms ------------------------------------------------------------------------------ */

static void test_tensor__early_forms(void **state)
{
    OP_EXPECT(0, MS("Range", NULL, {"float[1] 1", "float[] 4"}), "float[3] 1 2 3");
    OP_EXPECT(0, MS("Range", NULL, {"int16[] 5", "int16[1] 0", "int16[] -2"}), "int16[3] 5 3 1");
    OP_EXPECT(0, MS("Pad", NULL, {"float[2] 1 2", "int64[1,2] 1 2", "float[1] 9"}),
              "float[5] 9 1 2 9 9");
    OP_EXPECT(0, MS("Pad", "mode=edge", {"float16[2] 1 2", "int64[2] 1 0"}), "float16[3] 1 1 2");
    OP_EXPECT(0, MS("ExpandDims", NULL, {"string[2] a b", "int32[] -1"}), "string[2,1] a b");
    OP_EXPECT(0, MS("ExpandDims", NULL, {"int8[0,2]", "int32[1] 0"}), "int8[1,0,2]");
    OP_EXPECT(0, MS("Unique", NULL, {"float[5] 2 1 2 3 1"}), "float[3] 2 1 3", "int64[5] 0 1 0 2 1",
              "int64[3] 2 2 1");
    OP_EXPECT(0, MS("Trilu", "upper=0", {"int32[2,2] 1 2 3 4", "int64[] -1"}),
              "int32[2,2] 0 0 3 0");
    OP_EXPECT(0, MS("GatherND", NULL, {"float[2,2] 1 2 3 4", "int32[1,2] 1 0"}), "float[1] 3");
    OP_EXPECT(0, MS("TorchEmbedding", NULL, {"float[2,2] 1 2 3 4", "int64[2] 1 0", "int64[] 1"}),
              "float[2,2] 3 4 1 2");
    OP_EXPECT(0, MS("SampleOp", NULL, {"double[2] 1 2"}), "double[2] 1 2");
    OP_EXPECT(0,
              MS("GridSample", "mode=nearest align_corners=1",
                 {"float[1,1,1,2] 1 2", "float[1,1,2,2] 1 0 -1 0"}),
              "float[1,1,1,2] 2 1");
    FAILS("Range", NULL, {"float[2] 1 2", "float[] 4"});
    FAILS("ExpandDims", NULL, {"float[2] 1 2", "int32[] 5"});
    FAILS("ExpandDims", NULL, {"float[2] 1 2", "int32[2] 0 1"});
    FAILS("TorchEmbedding", NULL, {"float[2,2] 1 2 3 4", "int64[1] 2"});
}

static void test_tensor__unfold(void **state)
{
    OP_EXPECT(0, MS("UnfoldTensor", "dim=0 size=2 step=2", {"int32[5,1] 1 2 3 4 5"}),
              "int32[2,1,2] 1 2 3 4");
    OP_EXPECT(0, MS("UnfoldTensor", "size=2", {"string[3] a b c"}), "string[2,2] a b b c");
    FAILS("UnfoldTensor", "size=4", {"float[3] 1 2 3"});
    FAILS("UnfoldTensor", "size=2 step=0", {"float[3] 1 2 3"});
    FAILS("UnfoldTensor", "size=2 dim=1", {"float[3] 1 2 3"});
}

/* --- dropout ---------------------------------------------------------------------------------- */

static void test_tensor__dropout_outside_training(void **state)
{
    OP_EXPECT(0, MS("BiasDropout", NULL, {"float[2,2] 1 2 3 4", "float[2] 10 20"}),
              "float[2,2] 11 22 13 24", "bool[2,2] 1 1 1 1");
    OP_EXPECT(0,
              MS("BiasDropout", NULL,
                 {"float[1] 1", "float[1] 2", "float[1] 4", "float[] 0.5", "bool[] 0"}),
              "float[1] 7");
    OP_EXPECT(0, MS("BitmaskDropout", NULL, {"float[2] 1 2", "float[] 0", "bool[] 1"}),
              "float[2] 1 2", "uint32[1] 4294967295");
    OP_EXPECT(0,
              MS("BitmaskBiasDropout", NULL,
                 {"float16[33] random 1", "float16[33] 0 0 0 0 0 0 0 0 "
                                          "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"}),
              "float16[33] random 1", "uint32[2] 4294967295 4294967295");
    LACKS("BitmaskDropout", NULL, {"float[2] 1 2", "float[] 0.5", "bool[] 1"});
    LACKS("BiasDropout", NULL, {"float[1] 1", "float[1] 2", "-", "-", "bool[] 1"});
}

/* --- complex numbers, matrices ---------------------------------------------------------------- */

static void test_tensor__complex_numbers(void **state)
{
    OP_EXPECT(0, MS("ComplexMul", NULL, {"float[2,2] 1 2 3 4", "float[1,2] 5 6"}),
              "float[2,2] -7 16 -9 38");
    OP_EXPECT(0, MS("ComplexMulConj", NULL, {"float[2] 1 2", "float[2] 5 6"}), "float[2] 17 4");
    FAILS("ComplexMul", NULL, {"float[3] 1 2 3", "float[2] 5 6"});
    FAILS("ComplexMul", NULL, {"float[] 1", "float[2] 5 6"});
}

static void test_tensor__spectra(void **state)
{
    OP_EXPECT(1e-6, MS("Rfft", "signal_ndim=1", {"float[1,4] 1 2 3 4"}),
              "float[1,3,2] 10 0 -2 2 -2 0");
    OP_EXPECT(1e-6, MS("Irfft", "signal_ndim=1", {"float[1,3,2] 10 0 -2 2 -2 0"}),
              "float[1,4] 1 2 3 4");
    OP_EXPECT(1e-6, MS("Rfft", "signal_ndim=2", {"float[2,2] 1 2 3 4"}),
              "float[2,2,2] 10 0 -2 0 -4 0 0 0");
    OP_EXPECT(1e-6, MS("Irfft", "signal_ndim=2", {"float[2,2,2] 10 0 -2 0 -4 0 0 0"}),
              "float[2,2] 1 2 3 4");
    LACKS("Rfft", "signal_ndim=1 normalized=1", {"float[1,4] 1 2 3 4"});
    FAILS("Rfft", "signal_ndim=3", {"float[1,4] 1 2 3 4"});
    FAILS("Irfft", "signal_ndim=1", {"float[1,4] 1 2 3 4"});
}

static void test_tensor__inverses(void **state)
{
    OP_EXPECT(1e-6, MS("Inverse", NULL, {"float[2,2,2] 0 2 4 0 1 2 3 4"}),
              "float[2,2,2] 0 0.25 0.5 0 -2 1 1.5 -0.5");
    OP_EXPECT(0, MS("Inverse", NULL, {"float[0,3,3]"}), "float[0,3,3]");
    const struct op_call c = MS("Inverse", NULL, {"float[4,4] random 5"});
    op_expect_modes(&c, 1e-4);
    FAILS("Inverse", NULL, {"float[2,3] 1 2 3 4 5 6"});
    FAILS("Inverse", NULL, {"float[2] 1 2"});
}

static void test_tensor__distances(void **state)
{
    OP_EXPECT(0, MS("CDist", "metric=euclidean", {"float[1,2] 0 0", "float[2,2] 3 4 0 0"}),
              "float[1,2] 5 0");
    OP_EXPECT(0, MS("CDist", NULL, {"double[1,2] 0 0", "double[1,2] 3 4"}), "double[1,1] 25");
    op_expect_modes(&(const struct op_call)MS("CDist", NULL,
                                              {"float[3,400] random 1", "float[4,400] random 2"}),
                    1e-6);
    LACKS("CDist", "metric=cosine", {"float[1,2] 0 0", "float[2,2] 3 4 0 0"});
    FAILS("CDist", NULL, {"float[1,2] 0 0", "float[2,3] 3 4 0 0 1 2"});
}

static void test_tensor__warping(void **state)
{
    OP_EXPECT(0, MS("DynamicTimeWarping", NULL, {"float[3,3] 0 9 9 0 9 9 9 0 0"}),
              "int32[2,4] 0 1 2 2 0 0 1 2");
    OP_EXPECT(0, MS("DynamicTimeWarping", NULL, {"float[1,1,1] 5"}), "int32[2,1] 0 0");
    FAILS("DynamicTimeWarping", NULL, {"float[0,3]"});
    FAILS("DynamicTimeWarping", NULL, {"float[2,1,1] 1 2"});
}

/* --- the rest --------------------------------------------------------------------------------- */

static void test_tensor__crops(void **state)
{
    const char *x = "float[1,1,2,2] 0 10 20 30";
    OP_EXPECT(1e-6,
              MS("CropAndResize", "extrapolation_value=-1f",
                 {x, "float[2,4] 0 0 1 1 0 0 2 1", "int32[2] 0 0", "int32[2] 3 2"}),
              "float[2,1,3,2] 0 10 10 20 20 30 0 10 20 30 -1 -1");
    OP_EXPECT(0,
              MS("CropAndResize", "mode=nearest",
                 {x, "float[1,4] 0.4 0.6 0.4 0.6", "int32[1] 0", "int32[2] 1 1"}),
              "float[1,1,1,1] 10");
    FAILS("CropAndResize", NULL, {x, "float[1,4] 0 0 1 1", "int32[1] 1", "int32[2] 1 1"});
    FAILS("CropAndResize", NULL, {x, "float[1,4] 0 0 1 1", "int32[1] 0", "int32[2] 0 1"});
    FAILS("CropAndResize", "mode=cubic", {x, "float[1,4] 0 0 1 1", "int32[1] 0", "int32[2] 1 1"});
}

static void test_tensor__finite(void **state)
{
    OP_EXPECT(0, MS("IsAllFinite", NULL, {"float[2] 1 2", "float[1] inf"}), "bool[] 0");
    OP_EXPECT(0, MS("IsAllFinite", "isnan_only=1", {"float16[2] 1 inf"}), "bool[] 1");
    OP_EXPECT(0, MS("IsAllFinite", "isinf_only=1", {"double[2] 1 nan"}), "bool[] 1");
    FAILS("IsAllFinite", "isnan_only=1 isinf_only=1", {"float[1] 1"});
}

/* Known values of MurmurHash3_x86_32. */
static void test_tensor__hashes(void **state)
{
    OP_EXPECT(0, MS("MurmurHash3", NULL, {"int32[2] 3 4"}), "uint32[2] 847579505 1889779975");
    OP_EXPECT(0, MS("MurmurHash3", "positive=0", {"string[2] foo ''"}), "int32[2] -156908512 0");
    OP_EXPECT(0, MS("MurmurHash3", "seed=42 positive=0", {"string[1] foo"}),
              "int32[1] -1322301282");
}

static void test_words__embedding(void **state)
{
    const char *w = "float[1,1,2,1] 1 1", *b = "float[1] 0", *c = "float[3,1] 0 0.5 -0.25";
    OP_EXPECT(1e-6, MS("WordConvEmbedding", NULL, {"int32[3,3] 1 2 1 0 1 1 2 0 0", w, b, c}),
              "float[3,1] 0.244918662404 0 -0.244918662404");
    FAILS("WordConvEmbedding", NULL, {"int32[1,3] 1 3 1", w, b, c});
    FAILS("WordConvEmbedding", NULL, {"int32[1,1] 1", w, b, c});
}

static void test_words__bifurcation(void **state)
{
    OP_EXPECT(0,
              MS("BifurcationDetector", NULL,
                 {"int64[4] 1 2 3 4", "int64[2] 9 1", "int64[1] 1", "int64[4] 2 3 7 8"}),
              "int64[5] 9 1 2 3 7", "int64[1] -1");
    OP_EXPECT(0, MS("BifurcationDetector", NULL, {"int64[4] 1 2 3 4", "int64[1] 2", "int64[1] 0"}),
              "int64[1] 2", "int64[1] 2");
    FAILS("BifurcationDetector", NULL,
          {"int64[4] 1 2 3 4", "int64[2] 9 1", "int64[1] 1", "int64[2] 2 3"});
}

/* --- Tokenizer -------------------------------------------------------------------------------- */

static void test_tokenize__separators(void **state)
{
    OP_EXPECT(0,
              MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# separators=,;\\.;",
                 {"string[3] a,b.c .,. d"}),
              "string[3,3] a b c # # # d # #");
    OP_EXPECT(
        0,
        MS("Tokenizer", "mark=1 mincharnum=2 pad_value=# separators=,;", {"string[1,2] ab,c,de f"}),
        "string[1,2,4] \x02 ab de \x03 \x02 \x03 # #");
    OP_EXPECT(
        0, MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# separators=[a-z]+;", {"string[1] abc"}),
        "string[1,0]");
    OP_EXPECT(0, MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# separators=x;", {"string[0]"}),
              "string[0]");
}

static void test_tokenize__expressions(void **state)
{
    OP_EXPECT(
        0,
        MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=\\d+x?", {"string[1] 12xx3y4x"}),
        "string[1,3] 12x 3 4x");
    OP_EXPECT(
        0, MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=.", {"string[1] \xc3\xa9z"}),
        "string[1,2] \xc3\xa9 z");
    OP_EXPECT(0,
              MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# separators=;", {"string[2] ab ''"}),
              "string[2,2] a b # #");
    OP_EXPECT(
        0, MS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=a*ab", {"string[1] aaabab"}),
        "string[1,2] aaab ab");
    LACKS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=a|b", {"string[1] a"});
    LACKS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=\\b", {"string[1] a"});
    LACKS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=[a", {"string[1] a"});
    LACKS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=a**", {"string[1] a"});
    FAILS("Tokenizer", "mark=0 mincharnum=1 pad_value=#", {"string[1] a"});
    FAILS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=a", {"string[1] \xc3"});
    FAILS("Tokenizer", "mark=0 mincharnum=1 pad_value=# tokenexp=a", {"string[1,1,1] a"});
}

/* --- ai.onnx's own past ----------------------------------------------------------------------- */

static void test_retired__arithmetic(void **state)
{
    OP_EXPECT(0, OP("Affine", 7, "alpha=2f beta=1f", {"float[2] 1 2"}), "float[2] 3 5");
    OP_EXPECT(0, OP("Scale", 7, "scale=0.5f", {"float16[2] 1 2"}), "float16[2] 0.5 1");
    OP_EXPECT(1e-6, OP("ScaledTanh", 7, "alpha=2f beta=0.5f", {"float[1] 2"}),
              "float[1] 1.52318831191");
    OP_EXPECT(1e-6, OP("ParametricSoftplus", 7, "alpha=2f beta=0.5f", {"float[1] 0"}),
              "float[1] 1.38629436112");
    OP_EXPECT(0, OP("ImageScaler", 7, "scale=2f bias=1f,-1f,", {"float[1,2,1,1] 3 4"}),
              "float[1,2,1,1] 7 7");
    OP_FAILS(OP("ImageScaler", 7, "bias=1f,", {"float[1,2,1,1] 3 4"}));
    OP_LACKS(OP("ScaledTanh", 7, NULL, {"float[1] 3"}));
    OP_EXPECT(0, OP("FC", 1, NULL, {"float[1,2] 1 2", "float[3,2] 1 0 0 1 1 1", "float[3] 0 0 9"}),
              "float[1,3] 1 2 12");
    OP_EXPECT(0,
              OP("FC", 1, "axis=2 axis_w=-2",
                 {"float[1,2,2,1] 1 2 3 4", "float[1,2,1] 1 -1", "float[1] 0.5"}),
              "float[1,2,1] -0.5 -0.5");
    OP_FAILS(OP("FC", 1, "axis=4", {"float[1,2] 1 2", "float[1,2] 1 0", "float[1] 0"}));
    OP_FAILS(OP("FC", 1, NULL, {"float[1,2] 1 2", "float[1,3] 1 0 1", "float[1] 0"}));
    const struct op_call c = OP("Affine", 7, "alpha=0.3f beta=0.7f", {"float[9] random 1"});
    op_expect_modes(&c, 1e-6);
}

static void test_retired__moves_and_fills(void **state)
{
    OP_EXPECT(0, OP("Crop", 7, "border=1,0,0,1,", {"float[1,1,2,3] 1 2 3 4 5 6"}),
              "float[1,1,1,2] 2 3");
    OP_EXPECT(0, OP("Crop", 7, "border=1,0,0,0, scale=2,1,", {"float[1,1,2,3] 1 2 3 4 5 6"}),
              "float[1,1,2,1] 2 5");
    OP_EXPECT(0, OP("DynamicSlice", 7, NULL, {"int32[3] 1 2 3", "int32[1] 1", "int32[1] 9"}),
              "int32[2] 2 3");
    OP_EXPECT(0, OP("GivenTensorFill", 7, "values=1f,2f, shape=2,1,", {NULL}), "float[2,1] 1 2");
    OP_EXPECT(
        0,
        OP("ConstantFill", 7, "value=3f dtype=6 input_as_shape=1 extra_shape=1,", {"int64[1] 2"}),
        "int32[2,1] 3 3");
    OP_EXPECT(0, OP("ConstantFill", 7, "value=2f", {"string[2] a b"}), "float[2] 2 2");
    OP_FAILS(OP("Crop", 7, "border=2,0,2,0,", {"float[1,1,2,3] 1 2 3 4 5 6"}));
    OP_FAILS(OP("GivenTensorFill", 7, "values=1f,2f, shape=3,", {NULL}));
    OP_FAILS(OP("ConstantFill", 7, "shape=-3,", {NULL}));
}

/* Over the batch, too. */
static void test_retired__normalization(void **state)
{
    OP_EXPECT(1e-6, OP("MeanVarianceNormalization", 7, NULL, {"float[2,1,1,2] 1 3 1 3"}),
              "float[2,1,1,2] -1 1 -1 1");
    OP_EXPECT(0,
              OP("MeanVarianceNormalization", 7, "across_channels=1 normalize_variance=0",
                 {"float[1,2,1,1] 1 5"}),
              "float[1,2,1,1] -2 2");
    OP_FAILS(OP("MeanVarianceNormalization", 7, NULL, {"float[2] 1 5"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor__early_forms),
        cmocka_unit_test(test_tensor__unfold),
        cmocka_unit_test(test_tensor__dropout_outside_training),
        cmocka_unit_test(test_tensor__complex_numbers),
        cmocka_unit_test(test_tensor__spectra),
        cmocka_unit_test(test_tensor__inverses),
        cmocka_unit_test(test_tensor__distances),
        cmocka_unit_test(test_tensor__warping),
        cmocka_unit_test(test_tensor__crops),
        cmocka_unit_test(test_tensor__finite),
        cmocka_unit_test(test_tensor__hashes),
        cmocka_unit_test(test_words__embedding),
        cmocka_unit_test(test_words__bifurcation),
        cmocka_unit_test(test_tokenize__separators),
        cmocka_unit_test(test_tokenize__expressions),
        cmocka_unit_test(test_retired__arithmetic),
        cmocka_unit_test(test_retired__moves_and_fills),
        cmocka_unit_test(test_retired__normalization),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
