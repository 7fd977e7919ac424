/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RotaryEmbedding: angles whose turning can be written down, then layouts against each other.
 */
#include "kernels/attention/rotary.h"

#include "tests/help/op_case.h"

/* Row 0 turns nothing, row 1 by a right angle, row 2 by half a turn in its first pair only. */
#define COSINES "float[3,2] 1 1 0 0 -1 1"
#define SINES "float[3,2] 0 0 1 1 0 0"

static void test_rotary__angles(void **state)
{
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, NULL,
                 {"float[1,1,3,4] 1 2 3 4 1 2 3 4 1 2 3 4", COSINES, SINES, "int64[1,3] 0 1 2"}),
              "float[1,1,3,4] 1 2 3 4 -3 -4 1 2 -1 2 -3 4");
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, "interleaved=1",
                 {"float[1,1,3,4] 1 2 3 4 1 2 3 4 1 2 3 4", COSINES, SINES, "int64[1,3] 0 1 2"}),
              "float[1,1,3,4] 1 2 3 4 -2 1 -4 3 -1 -2 3 4");
    OP_EXPECT(
        0,
        OP("RotaryEmbedding", 23, NULL,
           {"float[1,1,2,4] 1 2 3 4 5 6 7 8", "float[1,2,2] 0 0 1 1", "float[1,2,2] 1 1 0 0"}),
        "float[1,1,2,4] -3 -4 1 2 5 6 7 8");
}

/* Only the first elements are turned, positions are looked up per batch entry. */
static void test_rotary__partial(void **state)
{
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, "rotary_embedding_dim=2",
                 {"float[2,1,1,5] 1 2 3 4 5 1 2 3 4 5", "float[2,1] 1 0", "float[2,1] 0 1",
                  "int64[2,1] 1 0"}),
              "float[2,1,1,5] -2 1 3 4 5 1 2 3 4 5");
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, "rotary_embedding_dim=2 interleaved=1 num_heads=2",
                 {"float[1,1,6] 1 2 3 4 5 6", "float[1,1,1] 0", "float[1,1,1] 1"}),
              "float[1,1,6] -2 1 3 -5 4 6");
}

/* (batch, heads, rows, size) and (batch, rows, heads * size) hold the same, differently ordered. */
static void test_rotary__layouts(void **state)
{
    struct odb_tensor *deep[3] = {op_tensor("float[2,3,4,6] random 1"),
                                  op_tensor("float[2,4,3] random 2"),
                                  op_tensor("float[2,4,3] random 3")};
    struct odb_tensor *flat[3] = {op_tensor("float[2,4,18]"), deep[1], deep[2]};
    struct odb_tensor *out[2];
    for (size_t n = 0; n < 144; n++) {
        size_t d = n % 6, i = n / 6 % 4, h = n / 24 % 3, b = n / 72;
        ((float *)flat[0]->data)[((b * 4 + i) * 3 + h) * 6 + d] = ((float *)deep[0]->data)[n];
    }
    struct op_call c = {.op = "RotaryEmbedding", .opset = 23};
    assert_int_equal(op_run(&c, 3, deep, 1, &out[0], NULL), ODB_OK);
    c.attrs = "num_heads=3";
    assert_int_equal(op_run(&c, 3, flat, 1, &out[1], NULL), ODB_OK);
    for (size_t n = 0; n < 144; n++) {
        size_t d = n % 6, i = n / 6 % 4, h = n / 24 % 3, b = n / 72;
        assert_true(((float *)out[1]->data)[((b * 4 + i) * 3 + h) * 6 + d] ==
                    ((float *)out[0]->data)[n]);
    }
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(deep[i]);
    odb_tensor_unref(flat[0]);
    odb_tensor_unref(out[0]);
    odb_tensor_unref(out[1]);
}

static void test_rotary__modes(void **state)
{
    struct op_call c = OP("RotaryEmbedding", 24, "rotary_embedding_dim=30",
                          {"float[2,8,60,32] random 1", "float[90,15] random 2",
                           "float[90,15] random 3", "int64[2,60]"});
    op_expect_modes(&c, 1e-6);
    op_expect_any_threads(&c);
    OP_EXPECT(
        0,
        OP("RotaryEmbedding", 23, NULL,
           {"float16[1,1,1,2] 3 1", "float16[1,1,1] 0.333251953125", "float16[1,1,1] 0.0001"}),
        "float16[1,1,1,2] 0.99951171875 0.33349609375");
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, NULL,
                 {"bfloat16[1,1,1,2] 3 1", "bfloat16[1,1,1] 1", "bfloat16[1,1,1] 2"}),
              "bfloat16[1,1,1,2] 1 7");
}

static void test_rotary__empty(void **state)
{
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, NULL, {"float[2,3,0,4]", "float[2,0,2]", "float[2,0,2]"}),
              "float[2,3,0,4]");
    OP_EXPECT(0,
              OP("RotaryEmbedding", 23, NULL,
                 {"float[0,1,2,2]", "float[0,1]", "float[0,1]", "int64[0,2]"}),
              "float[0,1,2,2]");
    OP_EXPECT(
        0, OP("RotaryEmbedding", 23, NULL, {"float[1,0,1,2]", "float[1,1,1] 1", "float[1,1,1] 1"}),
        "float[1,0,1,2]");
}

static void test_rotary__refuses(void **state)
{
    static const struct op_call calls[] = {
        OP("RotaryEmbedding", 23, NULL, {"float[1,1,2]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, "num_heads=3", {"float[1,1,4]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, "num_heads=3",
           {"float[1,1,1,2]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, NULL, {"float[4,2]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, NULL, {"float[1,1,1,3]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, "rotary_embedding_dim=4",
           {"float[1,1,1,2]", "float[1,1,2]", "float[1,1,2]"}),
        OP("RotaryEmbedding", 23, "rotary_embedding_dim=-2",
           {"float[1,1,1,2]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, NULL, {"float[1,1,1,2]", "float[1,1,1]", "float[1,2,1]"}),
        OP("RotaryEmbedding", 23, NULL, {"float[1,1,1,2]", "float[1,1]", "float[1,1]"}),
        OP("RotaryEmbedding", 23, NULL, {"float[1,1,2,2]", "float[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, NULL, {"float[1,1,1,2]", "float16[1,1,1]", "float[1,1,1]"}),
        OP("RotaryEmbedding", 23, NULL,
           {"float[1,1,1,2]", "float[2,1]", "float[2,1]", "int64[1,2] 0 1"}),
        OP("RotaryEmbedding", 23, NULL,
           {"float[1,1,1,2]", "float[2,1]", "float[2,1]", "int64[1,1] 2"}),
        OP("RotaryEmbedding", 23, NULL,
           {"float[1,1,1,2]", "float[2,1]", "float[2,1]", "int64[1,1] -1"}),
    };
    op_expect_errors(calls, ODB_COUNT(calls));
}

/* In place, as operators with a cache do it. */
static void test_rotary__in_place(void **state)
{
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const float cosine[2] = {0, 0}, sine[2] = {1, 1};
    struct odb_rotary r = {.dtype = ODB_F32,
                           .interleaved = true,
                           .batch = 1,
                           .heads = 2,
                           .rows = 1,
                           .size = 4,
                           .turned = 4,
                           .x = x,
                           .y = x,
                           .x_steps = {8, 4, 8},
                           .y_steps = {8, 4, 8},
                           .cos = cosine,
                           .sin = sine};
    odb_rotary_run(&r);
    const float want[8] = {-2, 1, -4, 3, -6, 5, -8, 7};
    assert_memory_equal(x, want, sizeof x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotary__angles),   cmocka_unit_test(test_rotary__partial),
        cmocka_unit_test(test_rotary__layouts),  cmocka_unit_test(test_rotary__modes),
        cmocka_unit_test(test_rotary__empty),    cmocka_unit_test(test_rotary__refuses),
        cmocka_unit_test(test_rotary__in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
