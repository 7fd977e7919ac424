/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Regions, deformed and laid-back windows: what has no family of its own to be tested with.
 */
#include "tests/help/op_case.h"

#define EXPECT(op, opset, attrs, want, ...)                                                        \
    OP_EXPECT(1e-6, OP(op, opset, attrs, {__VA_ARGS__}), want)
#define EXPECT_ERROR(op, opset, attrs, text, ...)                                                  \
    OP_REFUSES(text, OP(op, opset, attrs, {__VA_ARGS__}))

#define GRID4 "float[1,1,4,4] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"

/* On a plane the mean of the samples of a bin is the plane at its middle. */
static void test_roi__align_of_a_plane(void **state)
{
    EXPECT("RoiAlign", 16, "output_height=2 output_width=2 sampling_ratio=2",
           "float[1,1,2,2] 2.5 3.5 6.5 7.5", GRID4, "float[1,4] 0.5 0.5 2.5 2.5 ", "int64[1] 0");
    EXPECT("RoiAlign", 10, "output_height=2 output_width=2 sampling_ratio=2",
           "float[1,1,2,2] 2.5 3.5 6.5 7.5", GRID4, "float[1,4] 0 0 2 2", "int64[1] 0");
    /* a region of no size is one cell before version 16, and later a point */
    EXPECT("RoiAlign", 10, "sampling_ratio=1", "float[1,1,1,1] 7.5", GRID4, "float[1,4] 1 1 1 1",
           "int64[1] 0");
    EXPECT("RoiAlign", 16, "sampling_ratio=1", "float[1,1,1,1] 2.5", GRID4, "float[1,4] 1 1 1 1",
           "int64[1] 0");
    EXPECT("RoiAlign", 16, "sampling_ratio=1", "float[0,1,1,1]", GRID4, "float[0,4]", "int64[0]");
    EXPECT("RoiAlign", 16, "sampling_ratio=1 spatial_scale=0.5f", "float[1,1,1,1] 5", GRID4,
           "float[1,4] 3 3 3 3", "int64[1] 0");
}

static void test_roi__align_errors(void **state)
{
    EXPECT_ERROR("RoiAlign", 16, NULL, "there are 1", GRID4, "float[1,4] 0 0 1 1", "int64[1] 1");
    EXPECT_ERROR("RoiAlign", 16, NULL, "has a coordinate", GRID4, "float[1,4] nan 0 1 1",
                 "int64[1] 0");
    EXPECT_ERROR("RoiAlign", 16, "mode=sum", "unknown mode", GRID4, "float[1,4] 0 0 1 1",
                 "int64[1] 0");
    EXPECT_ERROR("RoiAlign", 16, NULL, "batch_indices", GRID4, "float[1,4] 0 0 1 1",
                 "int64[2] 0 0");
}

static void test_roi__max_pool(void **state)
{
    EXPECT("MaxRoiPool", 1, "pooled_shape=2,2", "float[2,1,2,2] 5 7 13 15 5 6 9 10", GRID4,
           "float[2,5] 0 0 0 3 3 0 0 0 2 2");
    /* beyond the image a bin is empty, which is zero */
    EXPECT("MaxRoiPool", 1, "pooled_shape=1,2", "float[1,1,1,2] 15 0", GRID4,
           "float[1,5] 0 2 2 5 3");
    EXPECT_ERROR("MaxRoiPool", 1, "pooled_shape=2,2", "there are 1", GRID4, "float[1,5] 1 0 0 1 1");
}

/* Without offsets it is Conv, and an offset of one cell is a shifted image. */
static void test_deform__offsets(void **state)
{
    const char *w = "float[1,1,1,2] 1 10", *zero = "float[1,4,1,2] 0 0 0 0 0 0 0 0";
    EXPECT("DeformConv", 19, NULL, "float[1,1,1,2] 21 32", "float[1,1,1,3] 1 2 3", w, zero);
    /* both taps one to the right: what is beyond the image is zero */
    EXPECT("DeformConv", 19, NULL, "float[1,1,1,2] 32 3", "float[1,1,1,3] 1 2 3", w,
           "float[1,4,1,2] 0 0 1 1 0 0 1 1");
    /* half a cell, a bias and a mask of the second tap */
    EXPECT("DeformConv", 22, NULL, "float[1,1,1,2] 8.5 10", "float[1,1,1,3] 1 2 3", w,
           "float[1,4,1,2] 0 0 .5 .5 0 0 0 0", "float[1] 7", "float[1,2,1,2] 1 1 0 .01666666666");
    EXPECT_ERROR("DeformConv", 19, NULL, "(1, 4, 1, 2) fits", "float[1,1,1,3] 1 2 3", w,
                 "float[1,4,1,1] 0 0 0 0");
    EXPECT_ERROR("DeformConv", 19, "group=2", "2 groups", "float[1,1,1,3] 1 2 3", w, zero);
}

/* Overlaps are added, padding is lost, integers wrap. */
static void test_columns__back_to_image(void **state)
{
    EXPECT("Col2Im", 18, NULL, "float[1,1,1,3] 1 5 4", "float[1,2,2] 1 3 2 4", "int64[2] 1 3",
           "int64[2] 1 2");
    EXPECT("Col2Im", 18, "pads=0,1,0,0", "int8[1,1,1,2] -126 3", "int8[1,2,2] 9 3 127 3",
           "int64[2] 1 2", "int64[2] 1 2");
    EXPECT("Col2Im", 18, NULL, "uint8[1,1,1,3] 1 4 4", "uint8[1,2,2] 1 2 2 4", "int64[2] 1 3",
           "int64[2] 1 2");
    EXPECT_ERROR("Col2Im", 18, NULL, "has room for 2", "float[1,2,3] 1 3 2 4 5 6", "int64[2] 1 3",
                 "int64[2] 1 2");
    EXPECT_ERROR("Col2Im", 18, NULL, "no whole number", "float[1,3,2] 1 3 2 4 5 6", "int64[2] 1 3",
                 "int64[2] 1 2");
}

static void test_det__of_stacks(void **state)
{
    EXPECT("Det", 11, NULL, "float[2] -2 1", "float[2,2,2] 1 2 3 4 0 -1 1 0");
    EXPECT("Det", 22, NULL, "double[] 0", "double[3,3] 1 2 3 2 4 6 1 1 1");
    EXPECT("Det", 11, NULL, "float[3] 1 1 1", "float[3,0,0]");
    EXPECT("Det", 11, NULL, "float[] nan", "float[2,2] nan 2 3 4");
    EXPECT_ERROR("Det", 11, NULL, "no stack of square", "float[2,3] 1 2 3 4 5 6");
}

/* ln(softmax) of two equal scores is -ln 2. */
static void test_loss__reductions(void **state)
{
    const char *p = "float[2,2,2] 1 2 3 4 5 6 7 8", *t = "int64[2,2] 0 1 1 0";
    EXPECT("NegativeLogLikelihoodLoss", 13, "reduction=none", "float[2,2] -1 -4 -7 -6", p, t);
    EXPECT("NegativeLogLikelihoodLoss", 13, "reduction=sum", "float[] -18", p, t);
    EXPECT("NegativeLogLikelihoodLoss", 13, NULL, "float[] -4.5", p, t);
    EXPECT("NegativeLogLikelihoodLoss", 13, NULL, "float[] -5.214285714286", p, t, "float[2] .5 3");
    EXPECT("NegativeLogLikelihoodLoss", 13, "ignore_index=-1", "float[] -5", p,
           "int64[2,2] -1 1 -1 0");
    EXPECT("NegativeLogLikelihoodLoss", 13, "ignore_index=0", "float[] nan", p,
           "int64[2,2] 0 0 0 0");
    EXPECT("SoftmaxCrossEntropyLoss", 13, NULL, "float[] 0.6931471806", "float[1,2] 700 700",
           "int32[1] 1");
    EXPECT("SoftmaxCrossEntropyLoss", 12, "reduction=sum", "float[] 0", "float[0,2]", "int32[0]");
    EXPECT_ERROR("NegativeLogLikelihoodLoss", 13, NULL, "target 1 is class 2", p,
                 "int64[2,2] 0 2 1 0");
    EXPECT_ERROR("NegativeLogLikelihoodLoss", 13, NULL, "do not fit", p, "int64[2,3] 0 0 0 0 0 0");
    EXPECT_ERROR("SoftmaxCrossEntropyLoss", 13, "reduction=most", "unknown reduction", p, t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roi__align_of_a_plane),  cmocka_unit_test(test_roi__align_errors),
        cmocka_unit_test(test_roi__max_pool),          cmocka_unit_test(test_deform__offsets),
        cmocka_unit_test(test_columns__back_to_image), cmocka_unit_test(test_det__of_stacks),
        cmocka_unit_test(test_loss__reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
