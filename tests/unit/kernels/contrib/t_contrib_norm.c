/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Normalisations of com.microsoft. Numbers that are not explained are ONNX Runtime 1.22's.
 */
#include "tests/help/op_case.h"

#define MS(op) "com.microsoft::" op

static void test_contrib_norm__skip(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::SkipLayerNormalization", 1, "epsilon=0.001f",
                 {"float[2,2,4] random 1", "float[2,4] random 2", "float[4] random 3",
                  "float[4] random 4", "float[4] random 5"}),
              "float[2,2,4] -0.6264862 0.5698531 1.065652 0.1146719 -1.29614 0.808647 "
              "0.6262152 -0.1170668 -0.9599509 0.7988656 0.9561946 -0.0256485 -0.8081184 "
              "0.8923934 0.2033558 -0.6622158");
    OP_EXPECT(2e-6,
              OP("com.microsoft::SkipSimplifiedLayerNormalization", 1, "epsilon=0.001f",
                 {"float[2,4] random 1", "float[2,4] random 2", "float[4] random 3",
                  "float[4] random 4"}),
              "float[2,4] -0.2293119 -0.4574354 0.5733131 0.2589499 0.1500742 -0.3013054 "
              "-0.3255399 0.5070743");
    OP_EXPECT(1e-6,
              OP("com.microsoft::SkipSimplifiedLayerNormalization", 1, "epsilon=1e-5f",
                 {"float[1,4] 1 2 3 4", "float[1,4] 0.5 -1 2 1", "float[4] 1 2 0.5 1"}),
              "float[1,4] 0.41111307 0.54815076 0.68518845 1.3703769", "float[1,1] 0",
              "float[1,1] 0.27407538", "float[1,4] 1.5 1 5 5");
}

static void test_contrib_norm__embeddings(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::EmbedLayerNormalization", 1, "epsilon=0.001f",
                 {"int32[2,2] 1 0 2 3", "int32[2,2] 0 1 1 1", "float[4,4] random 1",
                  "float[3,4] random 2", "float[2,4] random 3", "float[4] random 4",
                  "float[4] random 5", "int32[2,2] 1 1 1 0", "int32[1,2] 2 1"}),
              "float[2,2,4] 0.6874084 -0.4693628 1.40226 -0.0571301 0.6540184 -0.7747577 "
              "0.1091904 -0.9481679 0.6446673 -1.205092 1.546458 -0.3363448 0.5658202 "
              "-0.9643206 -0.07989991 -0.8424654",
              "int32[2] 2 1",
              "float[2,2,4] -0.7893668 0.5512771 1.293192 -0.7642016 -0.500859 -0.3412301 "
              "-0.6385897 0.2840434 0.3109529 0.05711415 1.215161 0.4527577 0.2200897 "
              "-0.7259462 -1.448146 1.01816");
}

static void test_contrib_norm__simplified(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("SimplifiedLayerNormalization", 1, "epsilon=0.001f",
                 {"float[2,4] random 1", "float[4] random 2"}),
              "float[2,4] -0.3986065 0.07594324 0.5495499 0.3071557 0.5989497 0.001611957 "
              "0.07802619 0.4450523",
              "float[2,1] 4.838386 1.889623");
}

static void test_contrib_norm__sum_and_moments(void **state)
{
    (void)state;
    OP_EXPECT(
        1e-6,
        OP(MS("SkipLayerNormalization"), 1, "epsilon=0f",
           {"float[1,2,2] 1 3 2 2", "float[1,2,2] 1 -1 1 -1", "float[2] 1 2", "-", "float[2] 1 0"}),
        "float[1,2,2] 1 -2 1 -2", "float[1,2,1] 2.5 2.5", "float[1,2,1] 2 0.6666667",
        "float[1,2,2] 3 2 4 1");
    op_expect_modes(&(const struct op_call)OP(
                        MS("SkipLayerNormalization"), 1, NULL,
                        {"float[3,5,8] random 1", "float[5,8] random 2", "float[8] random 3"}),
                    1e-5);
}

static void test_contrib_norm__half(void **state)
{
    struct odb_tensor *out[4];
    (void)state;
    const struct op_call c = OP(MS("SkipLayerNormalization"), 1, NULL,
                                {"float16[1,1,2] 1 3", "float16[1,1,2] 0 0", "float16[2] 1 1"});
    assert_int_equal(op_run_text(&c, 4, out, NULL), ODB_OK);
    assert_int_equal(out[0]->dtype, ODB_F16);
    assert_int_equal(out[1]->dtype, ODB_F32); /* moments are floats */
    assert_int_equal(out[3]->dtype, ODB_F16);
    for (int i = 0; i < 4; i++)
        odb_tensor_unref(out[i]);
    OP_EXPECT(
        1e-3,
        OP("SimplifiedLayerNormalization", 17, "epsilon=0f", {"float16[1,2] 3 4", "float[2] 1 2"}),
        "float[1,2] 0.8485281 2.2627417", "float[1,1] 0.2828427");
    OP_EXPECT(
        1e-12,
        OP("SimplifiedLayerNormalization", 17, "epsilon=0f", {"float[1,2] 7 1", "double[2] 1 2"}),
        "double[1,2] 1.4 0.4");
}

static void test_contrib_norm__groups(void **state)
{
    (void)state;
    OP_EXPECT_SAME(1,
                   OP(MS("GroupNorm"), 1, "groups=2 activation=0 channels_last=0",
                      {"float[2,4,3,2] random 1", "float[4] random 2", "float[4] random 3"}),
                   OP("GroupNormalization", 21, "num_groups=2",
                      {"float[2,4,3,2] random 1", "float[4] random 2", "float[4] random 3"}));
    /* One pixel: the channels are last and second at once. */
    OP_EXPECT(1e-4,
              OP(MS("GroupNorm"), 1, "groups=2 activation=0 epsilon=0f",
                 {"float[1,1,1,4] 1 3 10 30", "float[4] 1 1 2 2", "float[4] 0 0 1 1"}),
              "float[1,1,1,4] -1 1 -1 3");
    OP_EXPECT(1e-4,
              OP(MS("GroupNorm"), 1, "groups=1 activation=0 epsilon=0f",
                 {"float[1,2,1,2] 1 3 1 3", "float[2] 1 2", "float[2] 0 1"}),
              "float[1,2,1,2] -1 3 -1 3");
    OP_EXPECT(1e-4,
              OP(MS("GroupNorm"), 1, "groups=2 activation=1 epsilon=0f",
                 {"float[1,1,1,4] 1 3 10 30", "float[4] 1 1 2 2", "float[4] 0 0 1 1"}),
              "float[1,1,1,4] -0.2689414 0.7310586 -0.2689414 2.8577224");
    OP_EXPECT(1e-4,
              OP(MS("SkipGroupNorm"), 1, "groups=1 activation=0 epsilon=0f",
                 {"float[1,2,1,2] 0 0 0 0", "float[2] 1 2", "float[2] 0 1", "float[1,2] 1 2",
                  "float[2] 0 1"}),
              "float[1,2,1,2] -1 3 -1 3", "float[1,2,1,2] 1 3 1 3");
}

static void test_contrib_norm__refuses(void **state)
{
    (void)state;
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_E_OPERATOR, OP(MS("SkipLayerNormalization"), 1, NULL,
                            {"float[2] 1 2", "float[2] 1 2", "float[2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("SkipLayerNormalization"), 1, NULL,
                            {"float[1,2,2] 1 2 3 4", "float[1,1,2] 1 2", "float[2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("SkipLayerNormalization"), 1, NULL,
                            {"float[1,1,2] 1 2", "float[1,1,2] 1 2", "float[3] 1 2 3"})},
        {ODB_E_OPERATOR, OP(MS("EmbedLayerNormalization"), 1, NULL,
                            {"int32[1,2] 0 4", "-", "float[4,2] random 1", "float[3,2] random 2",
                             "-", "float[2] 1 2", "float[2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("EmbedLayerNormalization"), 1, NULL,
                            {"int32[1,2] 0 -1", "-", "float[4,2] random 1", "float[3,2] random 2",
                             "-", "float[2] 1 2", "float[2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("EmbedLayerNormalization"), 1, NULL,
                            {"int32[1,4] 0 1 2 3", "-", "float[4,2] random 1",
                             "float[3,2] random 2", "-", "float[2] 1 2", "float[2] 1 2"})},
        {ODB_E_OPERATOR, OP(MS("EmbedLayerNormalization"), 1, NULL, {"int32[1,1] 0"})},
        {ODB_E_OPERATOR, OP(MS("GroupNorm"), 1, "groups=3 activation=0",
                            {"float[1,1,1,4] 1 3 10 30", "float[4] 1 1 2 2", "float[4] 0 0 1 1"})},
        {ODB_E_OPERATOR, OP(MS("GroupNorm"), 1, "groups=2 activation=2",
                            {"float[1,1,1,4] 1 3 10 30", "float[4] 1 1 2 2", "float[4] 0 0 1 1"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrib_norm__skip),
        cmocka_unit_test(test_contrib_norm__embeddings),
        cmocka_unit_test(test_contrib_norm__simplified),
        cmocka_unit_test(test_contrib_norm__sum_and_moments),
        cmocka_unit_test(test_contrib_norm__half),
        cmocka_unit_test(test_contrib_norm__groups),
        cmocka_unit_test(test_contrib_norm__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
