/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rotary embedding of com.microsoft. Numbers that are not explained are ONNX Runtime 1.22's.
 */
#include "tests/help/op_case.h"

#define MS(op) "com.microsoft::" op

static void test_contrib_rotary__layouts(void **state)
{
    (void)state;
    OP_EXPECT(2e-6,
              OP("com.microsoft::RotaryEmbedding", 1, NULL,
                 {"float[1,2,8] random 1", "int64[1,2] 2 0", "float[3,2] random 2",
                  "float[3,2] random 3"}),
              "float[1,2,8] 0.01924255 -0.05856411 -0.2102977 0.0235139 -0.371639 -0.2090434 "
              "0.07758738 0.1037703 0.7447104 -0.4780867 -0.2619432 0.2709637 -0.09237377 "
              "-0.1301262 -0.7139993 0.5451793");
    OP_EXPECT(
        2e-6,
        OP("com.microsoft::RotaryEmbedding", 1, "interleaved=1",
           {"float[1,2,2,4] random 1", "int64[1] 1", "float[3,2] random 2", "float[3,2] random 3"}),
        "float[1,2,2,4] -0.06761127 -0.0648066 -0.1524867 -0.02781267 -0.3461896 "
        "0.1401428 -0.2218304 0.07808717 0.5428688 0.08770123 -0.1111906 -0.1706159 "
        "-0.2450195 0.3493581 0.1815212 0.06345277");
    OP_EXPECT(
        2e-6,
        OP("com.microsoft::RotaryEmbedding", 1, "num_heads=2 rotary_embedding_dim=2",
           {"float[1,2,8] random 1", "int64[1] 1", "float[3,1] random 2", "float[3,1] random 3"}),
        "float[1,2,8] -0.121531 0.06950338 0.2967188 -0.2342732 0.4933023 -0.2061674 "
        "0.1078707 -0.8691614 0.5428688 0.08770123 0.4915318 0.07151531 0.3887405 "
        "0.1259537 -0.5128372 0.4998436");
}

static void test_contrib_rotary__gemma(void **state)
{
    (void)state;
    /* Angles of 0 and a quarter of a circle: x itself, and what stands in for x turned. */
    OP_EXPECT(1e-6,
              OP(MS("GemmaRotaryEmbedding"), 1, NULL,
                 {"float[1,1,2] 0 1.5707963267948966", "float[1,2,1,2] 1 2 3 4",
                  "float[1,2,1,2] 5 6 7 8", "float[1,1,1,2] 9 10", "float[1,1,1,2] 11 12"}),
              "float[1,2,1,2] 1 6 3 8", "float[1,1,1,2] 9 12");
}

static void test_contrib_rotary__refuses(void **state)
{
    (void)state;
    const char *cos = "float[3,2] random 1";
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_E_OPERATOR,
         OP(MS("RotaryEmbedding"), 1, NULL, {"float[1,1,4] 1 2 3 4", "int64[1] 3", cos, cos})},
        {ODB_E_OPERATOR,
         OP(MS("RotaryEmbedding"), 1, NULL, {"float[1,1,4] 1 2 3 4", "int64[1] -1", cos, cos})},
        {ODB_E_OPERATOR,
         OP(MS("RotaryEmbedding"), 1, NULL, {"float[1,1,5] 1 2 3 4 5", "int64[1] 0", cos, cos})},
        {ODB_E_OPERATOR, OP(MS("RotaryEmbedding"), 1, "rotary_embedding_dim=4",
                            {"float[1,1,4] 1 2 3 4", "int64[1] 0", cos, cos})},
        {ODB_E_OPERATOR,
         OP(MS("RotaryEmbedding"), 1, NULL, {"float[1,1,4] 1 2 3 4", "int64[2] 0 1", cos, cos})},
        {ODB_UNSUPPORTED, OP(MS("RotaryEmbedding"), 1, "scale=2f",
                             {"float[1,1,4] 1 2 3 4", "int64[1] 0", cos, cos})},
        {ODB_E_OPERATOR, OP(MS("GemmaRotaryEmbedding"), 1, NULL,
                            {"float[1,1,2] 0 1", "float[1,2,1,2] 1 2 3 4", "float[1,2,1,2] 5 6 7 8",
                             "float[1,1,1,2] 9 10", "float[1,1,2] 11 12"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

static void test_contrib_rotary__modes(void **state)
{
    (void)state;
    const struct op_call c =
        OP(MS("RotaryEmbedding"), 1, NULL,
           {"float[2,9,16] random 1", "int64[1] 0", "float[9,4] random 2", "float[9,4] random 3"});
    op_expect_modes(&c, 1e-6);
    OP_EXPECT(0,
              OP(MS("RotaryEmbedding"), 1, NULL,
                 {"float[0,9,16]", "int64[1] 0", "float[9,4] random 2", "float[9,4] random 3"}),
              "float[0,9,16]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrib_rotary__layouts),
        cmocka_unit_test(test_contrib_rotary__gemma),
        cmocka_unit_test(test_contrib_rotary__refuses),
        cmocka_unit_test(test_contrib_rotary__modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
