/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Padding, relative positions and sums of com.microsoft.
 */
#include "tests/help/op_case.h"

#define MS(op) "com.microsoft::" op

static void test_contrib_sequence__padding(void **state)
{
    (void)state;
    OP_EXPECT(0,
              OP(MS("RemovePadding"), 1, NULL,
                 {"float[3,2,2] 1 2 3 4 5 6 7 8 9 10 11 12", "int32[3] 1 0 2"}),
              "float[3,2] 1 2 9 10 11 12", "int32[3,2] 0 4 5 1 2 3", "int32[4] 0 1 1 3",
              "int32[1] 2");
    OP_EXPECT(
        0,
        OP(MS("RestorePadding"), 1, NULL, {"float[3,2] 1 2 9 10 11 12", "int32[3,2] 0 4 5 1 2 3"}),
        "float[3,2,2] 1 2 0 0 0 0 0 0 9 10 11 12");
    OP_EXPECT(0, OP(MS("RemovePadding"), 1, NULL, {"float16[1,2,1] 1 2", "int32[1] 0"}),
              "float16[0,1]", "int32[1,2] 0 1", "int32[2] 0 0", "int32[1] 0");
    OP_FAILS(OP(MS("RemovePadding"), 1, NULL, {"float[1,2,1] 1 2", "int32[1] 3"}));
    OP_FAILS(OP(MS("RestorePadding"), 1, NULL, {"float[1,1] 1", "int32[1,2] 2 0"}));
}

static void test_contrib_sequence__relative_positions(void **state)
{
    (void)state;
    /* Four buckets of one head after those of the other: distances 0, 1, 2 and 3, 4 and more. */
    OP_EXPECT(0,
              OP(MS("RelativePositionBias"), 1, "max_distance=4",
                 {"float[4,2] 1 2 3 4 5 6 7 8", "int64[1] 3", "int64[1] 3"}),
              "float[1,2,3,3] 1 1 1 2 1 1 3 2 1 5 5 5 6 5 5 7 6 5");
    /* Both ways: before 0 1, after 0 1 of the second half. */
    OP_EXPECT(0,
              OP(MS("RelativePositionBias"), 1, "max_distance=4 is_bidirectional=1",
                 {"float[4,1] 1 2 3 4", "int64[1] 2", "int64[1] 2"}),
              "float[1,1,2,2] 1 4 2 1");
    OP_FAILS(OP(MS("RelativePositionBias"), 1, "max_distance=4",
                {"float[4,1] 1 2 3 4", "int64[1] 2", "int64[1] 3"}));
    OP_FAILS(OP(MS("RelativePositionBias"), 1, "max_distance=1",
                {"float[4,1] 1 2 3 4", "int64[1] 2", "int64[1] 2"}));
}

static void test_contrib_sequence__gated_positions(void **state)
{
    (void)state;
    /* u = sigmoid(ln 3) = 3/4, r = sigmoid(0) = 1/2: u (r a - 1) + 2 = 2 for a = 2. */
    OP_EXPECT(1e-6,
              OP(MS("GatedRelativePositionBias"), 1, "num_heads=1",
                 {"float[1,2,2] 1 0 0 1", "float[2] 0 1", "float[1,1,2,2] 1 2 3 4",
                  "float[2,4] 0 0 0 0 0 0 0 0", "float[4] 0.5 0.5986123 1 -1", "float[1,1,1,1] 2"}),
              "float[1,1,2,2] 2 4 6 8");
    /* The weights see query and bias. */
    OP_EXPECT(1e-6,
              OP(MS("GatedRelativePositionBias"), 1, "num_heads=1",
                 {"float[1,1,2] 1 0", "float[2] 0 1", "float[1,1,1,1] 1",
                  "float[2,2] 1 2 0.0986123 -2", "float[2] 0 0", "float[1,1,1,1] 0"}),
              "float[1,1,1,1] 1.25");
    OP_FAILS(OP(MS("GatedRelativePositionBias"), 1, "num_heads=1",
                {"float[1,2,2] 1 0 0 1", "float[2] 0 1", "float[1,1,2,3] random 1",
                 "float[2,4] random 1", "float[4] random 1", "float[1,1,1,1] 2"}));
}

static void test_contrib_sequence__bias(void **state)
{
    (void)state;
    OP_EXPECT(0,
              OP(MS("BiasAdd"), 1, NULL,
                 {"float[1,2,2] 1 2 3 4", "float[2] 10 20", "float[1,2,2] 100 200 300 400"}),
              "float[1,2,2] 111 222 313 424");
    OP_EXPECT(1e-6, OP(MS("BiasSplitGelu"), 1, NULL, {"float[1,1,4] 1 2 0 -1", "float[4] 1 0 1 1"}),
              "float[1,1,2] 1.6826895 0");
    op_expect_modes(&(const struct op_call)OP(MS("BiasSplitGelu"), 1, NULL,
                                              {"float[2,3,16] random 1", "float[16] random 2"}),
                    1e-6);
    OP_FAILS(OP(MS("BiasSplitGelu"), 1, NULL, {"float[1,1,3] 1 2 0", "float[3] 1 0 1"}));
}

static void test_contrib_sequence__ngrams(void **state)
{
    (void)state;
    OP_EXPECT(0,
              OP(MS("NGramRepeatBlock"), 1, "ngram_size=2",
                 {"int64[2,4] 1 2 3 1 0 0 0 0", "float[2,4] 1 2 3 4 5 6 7 8"}),
              "float[2,4] 1 2 -inf 4 -inf 6 7 8");
    OP_EXPECT(
        0, OP(MS("NGramRepeatBlock"), 1, "ngram_size=1", {"int64[1,2] 0 2", "float[1,4] 1 2 3 4"}),
        "float[1,4] -inf 2 -inf 4");
    OP_EXPECT(
        0, OP(MS("NGramRepeatBlock"), 1, "ngram_size=5", {"int64[1,2] 0 2", "float[1,4] 1 2 3 4"}),
        "float[1,4] 1 2 3 4");
    OP_FAILS(
        OP(MS("NGramRepeatBlock"), 1, "ngram_size=1", {"int64[1,2] 0 4", "float[1,4] 1 2 3 4"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrib_sequence__padding),
        cmocka_unit_test(test_contrib_sequence__relative_positions),
        cmocka_unit_test(test_contrib_sequence__gated_positions),
        cmocka_unit_test(test_contrib_sequence__bias),
        cmocka_unit_test(test_contrib_sequence__ngrams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
