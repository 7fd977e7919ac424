/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Normalisations.
 */
#include "tests/help/op_case.h"

static void test_norm__batch(void **state)
{
    (void)state;
    OP_EXPECT(1e-7,
              OP("BatchNormalization", 15, "epsilon=0f",
                 {"float[1,2,2] 1 3 10 20", "float[2] 2 1", "float[2] 1 0", "float[2] 1 10",
                  "float[2] 4 25"}),
              "float[1,2,2] 1 3 0 2");
    OP_EXPECT(1e-7,
              OP("BatchNormalization", 15, "training_mode=1 momentum=0.5f epsilon=0f",
                 {"float[2,1,2] 1 3 5 7", "float[1] 1", "float[1] 0", "float[1] 0", "float[1] 1"}),
              "float[2,1,2] -1.3416408 -0.4472136 0.4472136 1.3416408", "float[1] 2", "float[1] 3");
    OP_EXPECT(1e-7,
              OP("BatchNormalization", 7, "spatial=0 epsilon=0f",
                 {"float[2,1,2] 1 2 3 4", "float[1,2] 1 2", "float[1,2] 0 0", "float[1,2] 0 1",
                  "float[1,2] 1 1"}),
              "float[2,1,2] 1 2 3 6");
    OP_EXPECT(1e-7,
              OP("BatchNormalization", 6, "epsilon=0f",
                 {"float[1,1,2] 1 3", "float[1] 1", "float[1] 0", "float[1] 1", "float[1] 1"}),
              "float[1,1,2] 0 2"); /* is_test left at its default */
    OP_EXPECT(1e-7,
              OP("BatchNormalization", 9, "momentum=0.5f epsilon=0f",
                 {"float[1,1,2] 1 3", "float[1] 1", "float[1] 0", "float[1] 0", "float[1] 0"}),
              "float[1,1,2] -1 1", "float[1] 1", "float[1] 0.5", "float[1] 2", "float[1] 1");
    OP_EXPECT(1e-7,
              OP("BatchNormalization", 15, "epsilon=0f",
                 {"float[2] 1 3", "float[1] 1", "float[1] 0", "float[1] 1", "float[1] 1"}),
              "float[2] 0 2");
    op_expect_error(&(struct op_call)OP("BatchNormalization", 15, NULL,
                                        {"float[1,2,1] 1 2", "float[1] 1", "float[2] 0 0",
                                         "float[2] 0 0", "float[2] 1 1"}),
                    ODB_E_OPERATOR);
}

static void test_norm__instance_and_group(void **state)
{
    (void)state;
    OP_EXPECT(1e-6,
              OP("InstanceNormalization", 6, "epsilon=0f",
                 {"float[1,2,2] 1 3 10 30", "float[2] 1 2", "float[2] 0 1"}),
              "float[1,2,2] -1 1 -1 3");
    OP_EXPECT(1e-6,
              OP("GroupNormalization", 21, "num_groups=1 epsilon=0f",
                 {"float[1,2,2] 1 1 3 3", "float[2] 1 2", "float[2] 0 5"}),
              "float[1,2,2] -1 -1 7 7");
    OP_EXPECT(1e-6,
              OP("GroupNormalization", 18, "num_groups=2 epsilon=0f",
                 {"float[1,4,1] 1 3 10 30", "float[2] 1 2", "float[2] 0 5"}),
              "float[1,4,1] -1 1 3 7");
    OP_EXPECT(0,
              OP("InstanceNormalization", 22, NULL, {"float[1,1,0]", "float[1] 1", "float[1] 1"}),
              "float[1,1,0]");
    op_expect_error(&(struct op_call)OP("GroupNormalization", 21, "num_groups=3",
                                        {"float[1,2,1] 1 2", "float[2] 1 2", "float[2] 1 2"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("GroupNormalization", 21, NULL,
                                        {"float[1,2,1] 1 2", "float[2] 1 2", "float[2] 1 2"}),
                    ODB_E_OPERATOR);
}

static void test_norm__layer(void **state)
{
    (void)state;
    OP_EXPECT(1e-6,
              OP("LayerNormalization", 17, "epsilon=0f",
                 {"float[2,2] 1 3 10 30", "float[2] 1 2", "float[2] 0 1"}),
              "float[2,2] -1 3 -1 3", "float[2,1] 2 20", "float[2,1] 1 0.1");
    OP_EXPECT(1e-6,
              OP("LayerNormalization", 17, "epsilon=0f axis=0", {"float[2,1] 1 3", "float[1] 2"}),
              "float[2,1] -2 2", "float[1,1] 2");
    /* a scale with the leading dimension, and a bias without */
    OP_EXPECT(1e-6,
              OP("LayerNormalization", 17, "epsilon=0f",
                 {"float[2,2] 1 3 1 3", "float[2,1] 1 2", "float[2] 0 1"}),
              "float[2,2] -1 2 -2 3");
    OP_EXPECT(1e-6,
              OP("LayerNormalization", 17, "epsilon=0f",
                 {"float16[1,2] 1 3", "float16[1] 1", "float16[2] 0 1"}),
              "float16[1,2] -1 2", "float[1,1] 2");
    OP_EXPECT(1e-6, OP("RMSNormalization", 23, "epsilon=0f", {"float[1,2] 3 4", "float[2] 1 2"}),
              "float[1,2] 0.84852814 2.2627417");
    OP_EXPECT(1e-6, OP("RMSNormalization", 23, "epsilon=0f", {"float[1,2] 3 4", "double[2] 1 2"}),
              "double[1,2] 0.84852814 2.2627417");
    op_expect_error(&(struct op_call)OP("LayerNormalization", 17, NULL,
                                        {"float[2,2] 1 2 3 4", "float[3] 1 2 3"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("LayerNormalization", 17, "axis=2",
                                        {"float[2,2] 1 2 3 4", "float[2] 1 2"}),
                    ODB_E_OPERATOR);
}

static void test_norm__variance_far_from_zero(void **state)
{
    (void)state;
    /* in float, a sum of squares would lose the variance next to the mean */
    OP_EXPECT(1e-6,
              OP("LayerNormalization", 17, "epsilon=0f",
                 {"float[1,4] 100001 100002 100003 100004", "float[1] 1"}),
              "float[1,4] -1.3416408 -0.4472136 0.4472136 1.3416408");
}

static void test_norm__along_channels(void **state)
{
    (void)state;
    OP_EXPECT(1e-6, OP("LRN", 13, "size=3 alpha=3f beta=1f bias=1f", {"float[1,3,1] 1 2 3"}),
              "float[1,3,1] 0.16666667 0.13333333 0.21428571");
    OP_EXPECT(1e-6, OP("LRN", 1, "size=2 alpha=2f beta=1f bias=0f", {"float[1,3,1] 1 2 2"}),
              "float[1,3,1] 0.2 0.25 0.5"); /* an even region reaches one further up */
    OP_EXPECT(1e-6, OP("LRN", 13, "size=1 alpha=15f", {"float[1,1,1] 1"}), "float[1,1,1] 0.125");
    op_expect_error(&(struct op_call)OP("LRN", 13, NULL, {"float[1,1,1] 1"}), ODB_E_OPERATOR);
}

static void test_norm__by_length(void **state)
{
    (void)state;
    OP_EXPECT(1e-7, OP("LpNormalization", 22, NULL, {"float[2,2] 3 4 0 0"}),
              "float[2,2] 0.6 0.8 0 0");
    OP_EXPECT(1e-7, OP("LpNormalization", 1, "axis=0 p=1", {"float[2,2] 3 1 -1 3"}),
              "float[2,2] 0.75 0.25 -0.25 0.75");
    OP_EXPECT(1e-6, OP("MeanVarianceNormalization", 13, NULL, {"float[2,1,1,1] 1 3"}),
              "float[2,1,1,1] -1 1");
    OP_EXPECT(1e-6, OP("MeanVarianceNormalization", 9, "axes=0,2", {"float[2,1,2] 1 3 3 1"}),
              "float[2,1,2] -1 1 1 -1");
    op_expect_error(&(struct op_call)OP("LpNormalization", 1, "p=3", {"float[1] 1"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("MeanVarianceNormalization", 9, NULL, {"float[1] 1"}),
                    ODB_E_OPERATOR);
}

static void test_norm__modes_and_threads(void **state)
{
    static const struct op_call calls[] = {
        OP("BatchNormalization", 15, NULL,
           {"float[2,40,30,31] random 1", "float[40] random 2", "float[40] random 3",
            "float[40] random 4", "float[40] random 0"}),
        OP("InstanceNormalization", 22, NULL,
           {"float[2,40,30,31] random 1", "float[40] random 2", "float[40] random 3"}),
        OP("GroupNormalization", 21, "num_groups=5",
           {"float[2,40,30,31] random 1", "float[40] random 2", "float[40] random 3"}),
        OP("LayerNormalization", 17, NULL,
           {"float[3,100,301] random 1", "float[301] random 2", "float[301] random 3"}),
        OP("RMSNormalization", 23, NULL, {"float[3,100,301] random 1", "float[301] random 2"}),
        OP("LRN", 13, "size=5 alpha=0.5f", {"float[2,20,41,40] random 1"}),
        OP("LRN", 13, "size=4 alpha=0.5f beta=0.6f", {"float[2,20,41,40] random 1"}),
        OP("LpNormalization", 22, "axis=1", {"float[20,50,41] random 1"}),
        OP("MeanVarianceNormalization", 13, NULL, {"float[2,30,41,40] random 1"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++) {
        if (i > 0) /* a random variance may be negative */
            op_expect_modes(&calls[i], 3e-6);
        op_expect_any_threads(&calls[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm__batch),
        cmocka_unit_test(test_norm__instance_and_group),
        cmocka_unit_test(test_norm__layer),
        cmocka_unit_test(test_norm__variance_far_from_zero),
        cmocka_unit_test(test_norm__along_channels),
        cmocka_unit_test(test_norm__by_length),
        cmocka_unit_test(test_norm__modes_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
