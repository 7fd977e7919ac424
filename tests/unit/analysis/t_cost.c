/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/models.h"

#include "analysis/cost.h"
#include "model/read/load.h"

struct cost_values {
    const char *name;
    enum odb_dtype dtype;
    int rank;
    int64_t dims[5];
};

/* A node over inputs and an output of these shapes; cost of it. n counts the inputs. */
static struct odb_cost cost_of(struct odb_builder *b, const struct cost_values *values, size_t n,
                               struct odb_cost_sum *sum)
{
    struct odb_shapes shapes;
    struct odb_cost *costs, cost;
    for (size_t i = 0; i < n; i++)
        odb_build_input(b, values[i].name, values[i].dtype, values[i].rank, values[i].dims);
    odb_build_output_typed(b, values[n].name, values[n].dtype, values[n].rank, values[n].dims);
    struct odb_model *model = models_take(b);
    odb_shapes_declared(&shapes, model);
    odb_cost_model(&costs, sum, model, &shapes);
    cost = costs[0];
    free(costs);
    odb_shapes_dispose(&shapes);
    odb_model_free(model);
    return cost;
}

static void cost_check(const char *op, const struct cost_values *values, size_t n,
                       struct odb_builder *b, uint64_t macs, uint64_t flops)
{
    struct odb_cost_sum sum;
    struct odb_cost cost = cost_of(b, values, n, &sum);
    if (!cost.known || cost.macs != macs || cost.flops != flops)
        fail_msg("%s: %d, %llu MACs, %llu FLOPs", op, cost.known, (unsigned long long)cost.macs,
                 (unsigned long long)cost.flops);
    assert_int_equal(sum.macs, macs);
    assert_int_equal(sum.flops, flops);
    assert_int_equal(sum.unknown, 0);
}

static struct odb_builder *cost_node(const char *op, const char *inputs)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_node(b, op, "", inputs, "y");
    return b;
}

#define F(...)                                                                                     \
    ODB_F32, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Numbers that were worked out by hand. */
static void test_cost__formulas(void **state)
{
    const struct {
        const char *op, *inputs;
        uint64_t macs, flops;
        size_t n;
        struct cost_values values[4];
    } rows[] = {
        /* 16 x 6 x 6 outputs of 3 x 3 x 3 products */
        {"Conv",
         "x w",
         15552,
         31104,
         2,
         {{"x", F(1, 3, 8, 8)}, {"w", F(16, 3, 3, 3)}, {"y", F(1, 16, 6, 6)}}},
        {"Conv",
         "x w b",
         15552,
         31104 + 576,
         3,
         {{"x", F(1, 3, 8, 8)}, {"w", F(16, 3, 3, 3)}, {"b", F(16)}, {"y", F(1, 16, 6, 6)}}},
        /* depthwise: 3 x 6 x 6 outputs of 3 x 3 */
        {"Conv",
         "x w",
         972,
         1944,
         2,
         {{"x", F(1, 3, 8, 8)}, {"w", F(3, 1, 3, 3)}, {"y", F(1, 3, 6, 6)}}},
        /* 4 x 5 x 5 inputs into 2 x 3 x 3 each */
        {"ConvTranspose",
         "x w",
         1800,
         3600,
         2,
         {{"x", F(1, 4, 5, 5)}, {"w", F(4, 2, 3, 3)}, {"y", F(1, 2, 7, 7)}}},
        {"MatMul", "x w", 120, 240, 2, {{"x", F(2, 3, 4)}, {"w", F(4, 5)}, {"y", F(2, 3, 5)}}},
        {"MatMul", "x w", 7, 14, 2, {{"x", F(7)}, {"w", F(7)}, {"y", ODB_F32, 0, {0}}}},
        {"Gemm",
         "x w b",
         60,
         135,
         3,
         {{"x", F(3, 4)}, {"w", F(4, 5)}, {"b", F(5)}, {"y", F(3, 5)}}},
        {"Softmax", "x", 0, 100, 1, {{"x", F(2, 10)}, {"y", F(2, 10)}}},
        {"Relu", "x", 0, 20, 1, {{"x", F(2, 10)}, {"y", F(2, 10)}}},
        {"Add", "x w", 0, 20, 2, {{"x", F(2, 10)}, {"w", F(10)}, {"y", F(2, 10)}}},
        {"Sum", "x w b", 0, 40, 3, {{"x", F(2, 10)}, {"w", F(10)}, {"b", F(10)}, {"y", F(2, 10)}}},
        {"ReduceMean", "x", 0, 20, 1, {{"x", F(2, 10)}, {"y", F(2, 1)}}},
        {"LayerNormalization", "x w", 0, 140, 2, {{"x", F(2, 10)}, {"w", F(10)}, {"y", F(2, 10)}}},
        /* integers and moves cost nothing */
        {"Add",
         "x w",
         0,
         0,
         2,
         {{"x", ODB_I64, 1, {9}}, {"w", ODB_I64, 1, {9}}, {"y", ODB_I64, 1, {9}}}},
        {"Transpose", "x", 0, 0, 1, {{"x", F(2, 10)}, {"y", F(10, 2)}}},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        cost_check(rows[i].op, rows[i].values, rows[i].n, cost_node(rows[i].op, rows[i].inputs),
                   rows[i].macs, rows[i].flops);
}

static void test_cost__recurrent(void **state)
{
    const struct {
        const char *op, *inputs;
        uint64_t macs, flops;
        size_t n;
        struct cost_values values[5];
    } rows[] = {
        /* 14 steps of 80 x 10 and 80 x 20, 80 functions and 20 times 5 */
        {"LSTM",
         "x w r",
         33600,
         67200 + 2520,
         3,
         {{"x", F(7, 2, 10)}, {"w", F(1, 80, 10)}, {"r", F(1, 80, 20)}, {"y", F(7, 1, 2, 20)}}},
        /* in two directions 22 steps of 2 x 15 x 3 and 2 x 15 x 5, with 30 functions, 60 biases and
         * 10 times 5 */
        {"GRU",
         "x w r b",
         5280,
         10560 + 3080,
         4,
         {{"x", F(11, 2, 3)},
          {"w", F(2, 15, 3)},
          {"r", F(2, 15, 5)},
          {"b", F(2, 30)},
          {"y", F(11, 2, 2, 5)}}},
        /* one gate: 6 steps of 4 x 3 and 4 x 4, 4 functions */
        {"RNN",
         "x w r",
         168,
         336 + 24,
         3,
         {{"x", F(3, 2, 3)}, {"w", F(1, 4, 3)}, {"r", F(1, 4, 4)}, {"y", F(3, 1, 2, 4)}}},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        cost_check(rows[i].op, rows[i].values, rows[i].n, cost_node(rows[i].op, rows[i].inputs),
                   rows[i].macs, rows[i].flops);
}

static void test_cost__attributes_count(void **state)
{
    struct odb_builder *b = cost_node("Gemm", "x w");
    odb_build_attr_int(b, "transA", 1);
    cost_check("Gemm", (struct cost_values[]){{"x", F(4, 3)}, {"w", F(4, 5)}, {"y", F(3, 5)}}, 2, b,
               60, 120);
    b = cost_node("MaxPool", "x");
    odb_build_attr_ints(b, "kernel_shape", 2, (int64_t[]){2, 2});
    cost_check("MaxPool", (struct cost_values[]){{"x", F(1, 16, 6, 6)}, {"y", F(1, 16, 3, 3)}}, 1,
               b, 0, 576);
    b = cost_node("Einsum", "x w");
    odb_build_attr_string(b, "equation", "bij, bjk -> bik");
    cost_check("Einsum",
               (struct cost_values[]){{"x", F(2, 3, 4)}, {"w", F(2, 4, 5)}, {"y", F(2, 3, 5)}}, 2,
               b, 120, 240);
    /* of one operand: a move, and a sum */
    b = cost_node("Einsum", "x");
    odb_build_attr_string(b, "equation", "ij->ji");
    cost_check("Einsum", (struct cost_values[]){{"x", F(3, 4)}, {"y", F(4, 3)}}, 1, b, 0, 0);
    b = cost_node("Einsum", "x");
    odb_build_attr_string(b, "equation", "ij->i");
    cost_check("Einsum", (struct cost_values[]){{"x", F(3, 4)}, {"y", F(3)}}, 1, b, 0, 12);
}

/* Scores are batch x heads x queries x keys; each costs 2 x (size + value size), a factor and 5. */
static void test_cost__attention(void **state)
{
    /* 2 x 3 x 5 scores of 4 and 6 */
    struct odb_builder *b = cost_node("Attention", "q k v");
    cost_check(
        "Attention",
        (struct cost_values[]){
            {"q", F(1, 2, 3, 4)}, {"k", F(1, 2, 5, 4)}, {"v", F(1, 2, 5, 6)}, {"y", F(1, 2, 3, 6)}},
        3, b, 300, 600 + 30 * 6);
    /* with a mask and 7 keys of the past: 2 x 3 x 12 scores */
    b = cost_node("Attention", "q k v m pk pv");
    cost_check("Attention",
               (struct cost_values[]){{"q", F(1, 2, 3, 4)},
                                      {"k", F(1, 2, 5, 4)},
                                      {"v", F(1, 2, 5, 6)},
                                      {"m", F(3, 12)},
                                      {"pk", F(1, 2, 7, 4)},
                                      {"pv", F(1, 2, 7, 6)},
                                      {"y", F(1, 2, 3, 6)}},
               6, b, 720, 1440 + 72 * 7);
    /* two heads of queries on one of keys, and a softcap: 2 x 2 x 3 x 5 scores of 4 and 4 */
    b = cost_node("Attention", "q k v");
    odb_build_attr_int(b, "q_num_heads", 2);
    odb_build_attr_int(b, "kv_num_heads", 1);
    odb_build_attr_float(b, "softcap", 2);
    cost_check("Attention",
               (struct cost_values[]){
                   {"q", F(2, 3, 8)}, {"k", F(2, 5, 4)}, {"v", F(2, 5, 4)}, {"y", F(2, 3, 8)}},
               3, b, 480, 960 + 60 * 9);
}

static struct odb_builder *cost_fused(const char *op, const char *inputs, const char *outputs)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "com.microsoft", 1);
    char *fused = odb_xasprintf("com.microsoft::%s", op);
    odb_build_node(b, fused, "", inputs, outputs);
    free(fused);
    return b;
}

static void test_cost__fused_attention(void **state)
{
    struct odb_cost_sum sum;
    struct odb_builder *b = cost_fused("Attention", "x w b", "y");
    odb_build_attr_int(b, "num_heads", 2);
    /* 3 rows of 8 x 24 with a bias, and 2 x 3 x 3 scores of 4 and 4 */
    cost_check(
        "Attention",
        (struct cost_values[]){{"x", F(1, 3, 8)}, {"w", F(8, 24)}, {"b", F(24)}, {"y", F(1, 3, 8)}},
        3, b, 576 + 144, 1152 + 72 + 288 + 18 * 6);
    b = cost_fused("MultiHeadAttention", "q k v b", "y");
    odb_build_attr_int(b, "num_heads", 2);
    /* 2 x 3 x 5 scores of 4 and 4; a bias for 3 x 8 queries, 5 x 8 keys and as many values */
    cost_check("MultiHeadAttention",
               (struct cost_values[]){{"q", F(1, 3, 8)},
                                      {"k", F(1, 5, 8)},
                                      {"v", F(1, 5, 8)},
                                      {"b", F(24)},
                                      {"y", F(1, 3, 8)}},
               4, b, 240, 480 + 30 * 6 + 104);
    b = cost_fused("MultiHeadAttention", "q", "y");
    odb_build_attr_int(b, "num_heads", 2);
    cost_check("MultiHeadAttention",
               (struct cost_values[]){{"q", F(1, 3, 2, 3, 4)}, {"y", F(1, 3, 8)}}, 1, b, 144,
               288 + 18 * 6);
    /* 5 keys of the past and 3 new ones: 4 x 3 x 8 scores of 4 and 4 */
    for (int shared = 0; shared < 2; shared++) {
        const struct cost_values values[] = {{"q", F(1, 3, 16)},    {"k", F(1, 3, 8)},
                                             {"v", F(1, 3, 8)},     {"pk", F(1, 2, 5, 4)},
                                             {"pv", F(1, 2, 5, 4)}, {"y", F(1, 3, 16)}};
        b = cost_fused("GroupQueryAttention", "q k v pk pv", "y present");
        odb_build_attr_int(b, "num_heads", 4);
        odb_build_attr_int(b, "kv_num_heads", 2);
        odb_build_value_info(b, "present", ODB_F32, 4, (int64_t[]){1, 2, shared ? 5 : 8, 4});
        if (shared)
            assert_false(cost_of(b, values, 5, &sum).known);
        else
            cost_check("GroupQueryAttention", values, 5, b, 768, 1536 + 96 * 6);
    }
    /* keys and values in one with the queries: 4 x 3 x 3 scores, and 3 x 6 heads of 4 turned */
    b = cost_fused("GroupQueryAttention", "q - - - - n t c s", "y");
    odb_build_attr_int(b, "num_heads", 4);
    odb_build_attr_int(b, "kv_num_heads", 2);
    odb_build_attr_int(b, "do_rotary", 1);
    cost_check("GroupQueryAttention",
               (struct cost_values[]){{"q", F(1, 3, 32)},
                                      {"n", ODB_I32, 1, {1}},
                                      {"t", ODB_I32, 1, {1}},
                                      {"c", F(10, 2)},
                                      {"s", F(10, 2)},
                                      {"y", F(1, 3, 16)}},
               5, b, 288, 576 + 36 * 6 + 216);
}

/* Work of com.microsoft's newer operators, counted by hand from their definitions. */
static const struct {
    const char *op, *inputs;
    uint64_t macs, flops;
    struct {
        const char *name, *word;
        int64_t number;
    } attrs[5];
    size_t n;
    struct cost_values values[9];
} cost_decoders[] = {
    /* 6 tokens through 2 experts each: 8 x 5 and 5 x 4; 4 times Swish, a sum and a product; 5
     * times a share, added up; a softmax of 6 x 3 scores */
    {"MoE",
     "x r w1 - w2",
     12 * (40 + 20),
     2 * 12 * 60 + 12 * (4 * 3 + 5 * 2) + 18 * 5,
     {{"k", NULL, 2}, {"activation_type", "swiglu", 0}},
     4,
     {{"x", F(6, 5)}, {"r", F(6, 3)}, {"w1", F(3, 8, 5)}, {"w2", F(3, 5, 4)}, {"y", F(6, 5)}}},
    /* three matrices of 4 x 5, two biases of 4: each Relu with a product */
    {"MoE",
     "x r w1 b w2 - w3 b",
     6 * 60,
     2 * 6 * 60 + 6 * (4 + 4 + 4 * 2 + 5 * 2) + 18 * 5,
     {{NULL}},
     6,
     {{"x", F(2, 3, 5)},
      {"r", F(6, 3)},
      {"w1", F(3, 4, 5)},
      {"b", F(3, 4)},
      {"w2", F(3, 5, 4)},
      {"w3", F(3, 4, 5)},
      {"y", F(2, 3, 5)}}},
    /* two codes in a byte: 16 x 8 and 8 x 16, and a bias of 8; shares that are given */
    {"QMoE",
     "x r w1 s - w2 s b - - - - - - r",
     6 * 256,
     2 * 6 * 256 + 6 * (8 + 16 + 8 * 2),
     {{"activation_type", "silu", 0}},
     6,
     {{"x", F(6, 8)},
      {"r", F(6, 3)},
      {"w1", ODB_U8, 3, {3, 16, 4}},
      {"s", F(3, 16)},
      {"w2", ODB_U8, 3, {3, 8, 8}},
      {"b", F(3, 8)},
      {"y", F(6, 8)}}},
    /* 6 steps of 2 states of 5 x 7, which are added to and read by 4 queries */
    {"LinearAttention",
     "q k v",
     6 * 35 * (2 + 4),
     2 * 6 * 35 * 6 + 6 * 4 * 7,
     {{"q_num_heads", NULL, 4}, {"kv_num_heads", NULL, 2}, {"update_rule", "linear", 0}},
     3,
     {{"q", F(2, 3, 20)}, {"k", F(2, 3, 10)}, {"v", F(2, 3, 14)}, {"y", F(2, 3, 28)}}},
    /* one query reads both states, each of which shrinks by a factor of its own */
    {"LinearAttention",
     "q k v - d",
     6 * 35 * (2 + 2),
     2 * 6 * 35 * 4 + 6 * 2 * (35 + 1) + 6 * 2 * 7,
     {{"q_num_heads", NULL, 1}, {"kv_num_heads", NULL, 2}, {"update_rule", "gated", 0}},
     4,
     {{"q", F(2, 3, 5)},
      {"k", F(2, 3, 10)},
      {"v", F(2, 3, 14)},
      {"d", F(2, 3, 2)},
      {"y", F(2, 3, 14)}}},
    /* 18 steps of one state of 4 x 5: read with the key, added to, read with the query; it
     * shrinks, by a number of its own for each row; 5 differences, products with beta and with
     * the scale */
    {"GatedDeltaNet",
     "q k v - d b",
     18 * 20 * 3,
     2 * 18 * 60 + 18 * (20 + 4) + 18 * 5 * 3,
     {{NULL}},
     5,
     {{"q", F(6, 3, 4)},
      {"k", F(6, 3, 4)},
      {"v", F(6, 3, 5)},
      {"d", F(6, 3, 4)},
      {"b", F(6, 3)},
      {"y", F(6, 3, 5)}}},
    /* the same, one factor for all rows: queries and keys over their lengths, Softplus and a
     * sigmoid come first */
    {"GatedDeltaNet",
     "q k v - d b",
     18 * 20 * 3,
     2 * 18 * 60 + 18 * (20 + 1) + 18 * 5 * 3 + 36 * (4 * 3 + 2) + 18 * 3 + 18,
     {{"qk_l2_norm", NULL, 1}, {"gate_activation", "qwen", 0}, {"beta_activation", "sigmoid", 0}},
     5,
     {{"q", F(6, 3, 4)},
      {"k", F(6, 3, 4)},
      {"v", F(6, 3, 5)},
      {"d", F(6, 3)},
      {"b", F(6, 3)},
      {"y", F(6, 3, 5)}}},
    /* 54 outputs of 4 taps, with a bias; with Swish in the second */
    {"CausalConvWithState",
     "x w b",
     54 * 4,
     2 * 54 * 4 + 54,
     {{NULL}},
     3,
     {{"x", F(2, 3, 9)}, {"w", F(3, 1, 4)}, {"b", F(3)}, {"y", F(2, 3, 9)}}},
    {"CausalConvWithState",
     "x w",
     54 * 4,
     2 * 54 * 4 + 54,
     {{"activation", "silu", 0}},
     2,
     {{"x", F(2, 3, 9)}, {"w", F(3, 1, 4)}, {"y", F(2, 3, 9)}}},
    /* 32 elements, added to and normalised, into 2 x 6 twice; one bias, Swish and a product */
    {"MatMulNBitsMlp",
     "x x n w s - w s b",
     2 * 32 * 6,
     2 * 2 * 32 * 6 + 32 + 32 * 4 + 12 + 12 * 2,
     {{"K", NULL, 16}, {"N", NULL, 6}},
     5,
     {{"x", F(2, 16)},
      {"n", F(16)},
      {"w", ODB_U8, 3, {6, 1, 8}},
      {"s", F(6, 1)},
      {"b", F(6)},
      {"y", F(2, 6)}}},
    /* 32 elements, normalised, into 6, 2 and 2 columns; two rows with a bias of 2 */
    {"MatMulNBitsQkv",
     "x - n w s - w s b w s",
     32 * 10,
     2 * 32 * 10 + 32 * 4 + 2 * 2,
     {{"K", NULL, 16}, {"Nq", NULL, 6}, {"Nkv", NULL, 2}},
     5,
     {{"x", F(2, 16)},
      {"n", F(16)},
      {"w", ODB_U8, 3, {6, 1, 8}},
      {"s", F(6, 1)},
      {"b", F(2)},
      {"y", F(2, 6)}}},
    {"MatMulBlockQuantizedFp4Weight",
     "x w s t - b",
     12 * 16,
     2 * 12 * 16 + 12,
     {{NULL}},
     5,
     {{"x", F(2, 16)},
      {"w", ODB_U8, 2, {6, 8}},
      {"s", ODB_U8, 2, {6, 1}},
      {"t", F(1)},
      {"b", F(6)},
      {"y", F(2, 6)}}},
    {"MatMulBnb4",
     "x w s",
     12 * 16,
     2 * 12 * 16,
     {{NULL}},
     3,
     {{"x", F(2, 16)}, {"w", ODB_U8, 1, {48}}, {"s", F(6)}, {"y", F(2, 6)}}},
    /* 3 rows of 8 x 24 with a bias, and 2 x 3 x 7 scores, 4 of them of the past */
    {"QAttention",
     "x w b s s - - - p",
     576 + 42 * 8,
     2 * 576 + 72 + 42 * (16 + 6),
     {{"num_heads", NULL, 2}},
     5,
     {{"x", ODB_I8, 3, {1, 3, 8}},
      {"w", ODB_I8, 2, {8, 24}},
      {"b", F(24)},
      {"s", F(1)},
      {"p", F(2, 1, 2, 4, 4)},
      {"y", F(1, 3, 8)}}},
    /* square, sum, quotient, factor; Swish of the gate, and a product */
    {"GatedRMSNorm",
     "x s x",
     0,
     24 * 6,
     {{NULL}},
     2,
     {{"x", F(2, 3, 4)}, {"s", F(4)}, {"y", F(2, 3, 4)}}},
    /* sum, Softplus, product; a sigmoid of each beta */
    {"LinearAttentionGate",
     "x s s",
     0,
     24 * 3,
     {{NULL}},
     2,
     {{"x", F(2, 3, 4)}, {"s", F(4)}, {"y", F(2, 3, 4)}}},
    {"LinearAttentionGate",
     "x s s x",
     0,
     24 * 4,
     {{NULL}},
     2,
     {{"x", F(2, 3, 4)}, {"s", F(4)}, {"y", F(2, 3, 4)}}},
    /* keys and queries normalised, multiplied and added up; times the value */
    {"EngramGate",
     "k k v s s",
     0,
     24 * (4 + 4 + 2 + 1),
     {{NULL}},
     3,
     {{"k", F(1, 2, 3, 4)}, {"v", F(1, 2, 4)}, {"s", F(3, 4)}, {"y", F(1, 2, 3, 4)}}},
    /* both halves with a bias, Gelu of one times the other: for each of 6 */
    {"BiasSplitGelu", "x b", 0, 6 * 4, {{NULL}}, 2, {{"x", F(3, 4)}, {"b", F(4)}, {"y", F(3, 2)}}},
    /* sine and cosine of 12 angles, 24 elements of q and 12 of k */
    {"GemmaRotaryEmbedding",
     "a q q k k",
     0,
     12 * 2 + 36 * 3,
     {{NULL}},
     3,
     {{"a", F(1, 3, 4)}, {"q", F(1, 2, 3, 4)}, {"k", F(1, 1, 3, 4)}, {"y", F(1, 2, 3, 4)}}},
};

static void test_cost__decoders(void **state)
{
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(cost_decoders); i++) {
        struct odb_builder *b = cost_fused(cost_decoders[i].op, cost_decoders[i].inputs, "y");
        for (size_t a = 0; cost_decoders[i].attrs[a].name; a++)
            if (cost_decoders[i].attrs[a].word)
                odb_build_attr_string(b, cost_decoders[i].attrs[a].name,
                                      cost_decoders[i].attrs[a].word);
            else
                odb_build_attr_int(b, cost_decoders[i].attrs[a].name,
                                   cost_decoders[i].attrs[a].number);
        cost_check(cost_decoders[i].op, cost_decoders[i].values, cost_decoders[i].n, b,
                   cost_decoders[i].macs, cost_decoders[i].flops);
    }
}

static void test_cost__resize(void **state)
{
    static const struct {
        const char *mode;
        int64_t height;
        uint64_t flops;
    } rows[] = {/* two or four neighbours along each axis that changes */
                {"linear", 8, UINT64_C(1) * 2 * 8 * 8 * 7},
                {"linear", 4, UINT64_C(1) * 2 * 4 * 8 * 3},
                {"cubic", 8, UINT64_C(1) * 2 * 8 * 8 * 31},
                {"nearest", 8, 0}};
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct odb_builder *b = cost_node("Resize", "x");
        odb_build_attr_string(b, "mode", rows[i].mode);
        cost_check(rows[i].mode,
                   (struct cost_values[]){{"x", F(1, 2, 4, 4)}, {"y", F(1, 2, rows[i].height, 8)}},
                   1, b, 0, rows[i].flops);
    }
}

static void test_cost__elements_of_transformers(void **state)
{
    struct odb_builder *b = cost_node("RotaryEmbedding", "x");
    cost_check("RotaryEmbedding",
               (struct cost_values[]){{"x", F(1, 2, 3, 4)}, {"y", F(1, 2, 3, 4)}}, 1, b, 0, 72);
    /* 2 of 4 elements of each head */
    b = cost_node("RotaryEmbedding", "x");
    odb_build_attr_int(b, "num_heads", 2);
    odb_build_attr_int(b, "rotary_embedding_dim", 2);
    cost_check("RotaryEmbedding", (struct cost_values[]){{"x", F(1, 3, 8)}, {"y", F(1, 3, 8)}}, 1,
               b, 0, 36);
    b = cost_fused("SkipLayerNormalization", "x s g h b", "y");
    cost_check("SkipLayerNormalization",
               (struct cost_values[]){{"x", F(1, 3, 8)},
                                      {"s", F(1, 3, 8)},
                                      {"g", F(8)},
                                      {"h", F(8)},
                                      {"b", F(8)},
                                      {"y", F(1, 3, 8)}},
               5, b, 0, 24 * 9);
    b = cost_node("LRN", "x");
    odb_build_attr_int(b, "size", 5);
    cost_check("LRN", (struct cost_values[]){{"x", F(1, 3, 2, 2)}, {"y", F(1, 3, 2, 2)}}, 1, b, 0,
               12 * 9);
}

/* No number is better than a wrong one. */
static void test_cost__unknown(void **state)
{
    struct odb_cost_sum sum;
    struct odb_builder *b = cost_node("MatMul", "x w");
    struct odb_cost cost = cost_of(
        b, (struct cost_values[]){{"x", F(-1, 4)}, {"w", F(4, 5)}, {"y", F(-1, 5)}}, 2, &sum);
    assert_false(cost.known);
    assert_int_equal(sum.unknown, 1);
    assert_int_equal(sum.sizeless, 1);
    b = cost_node("Einsum", "x");
    odb_build_attr_string(b, "equation", "...i->...");
    cost = cost_of(b, (struct cost_values[]){{"x", F(2, 3)}, {"y", F(2)}}, 1, &sum);
    assert_false(cost.known);
    /* how many boxes are compared, data tell */
    b = cost_node("NonMaxSuppression", "x w");
    cost = cost_of(
        b, (struct cost_values[]){{"x", F(1, 9, 4)}, {"w", F(1, 2, 9)}, {"y", ODB_I64, 2, {3, 3}}},
        2, &sum);
    assert_false(cost.known);
    b = cost_node("Resize", "x");
    odb_build_attr_string(b, "mode", "linear");
    odb_build_attr_int(b, "antialias", 1);
    cost = cost_of(b, (struct cost_values[]){{"x", F(1, 1, 8, 8)}, {"y", F(1, 1, 4, 4)}}, 1, &sum);
    assert_false(cost.known);
    /* a decay that is left out; how much of a cache is in use, data tell */
    b = cost_fused("GatedDeltaNet", "q q q", "y");
    cost = cost_of(b, (struct cost_values[]){{"q", F(6, 3, 4)}, {"y", F(6, 3, 4)}}, 1, &sum);
    assert_false(cost.known);
    b = cost_fused("PagedAttention", "q q q c c", "y");
    cost = cost_of(b, (struct cost_values[]){{"q", F(6, 8)}, {"c", F(2, 4, 2, 4)}, {"y", F(6, 8)}},
                   2, &sum);
    assert_false(cost.known);
    b = cost_node("NobodyKnows", "x");
    cost = cost_of(b, (struct cost_values[]){{"x", F(2, 3)}, {"y", F(2)}}, 1, &sum);
    assert_false(cost.known);
}

/* x (40 bytes) -> a (80) -> b (20) -> y (4), and x is read again at the end. */
static void test_cost__memory(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *w = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_shapes shapes;
    struct odb_cost_sum sum;
    struct odb_cost *costs;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){10});
    odb_build_weight(b, "w", w);
    odb_build_value_info(b, "a", ODB_F32, 1, (int64_t[]){20});
    odb_build_value_info(b, "b", ODB_F32, 1, (int64_t[]){5});
    odb_build_node(b, "One", "", "x w", "a");
    odb_build_node(b, "Two", "", "a", "b");
    odb_build_node(b, "Three", "", "b x", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){1});
    odb_tensor_unref(w);
    struct odb_model *model = models_take(b);
    odb_shapes_declared(&shapes, model);
    odb_cost_model(&costs, &sum, model, &shapes);
    assert_int_equal(sum.parameters, 2);
    assert_int_equal(sum.parameter_bytes, 8);
    assert_int_equal(sum.activations, 104);
    assert_int_equal(sum.peak, 140);
    assert_int_equal(sum.peak_node, 1);
    assert_int_equal(costs[0].reads, 40);
    assert_int_equal(costs[0].weights, 8);
    assert_int_equal(costs[0].writes, 80);
    assert_true(costs[0].sized);
    free(costs);
    odb_shapes_dispose(&shapes);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost__formulas),
        cmocka_unit_test(test_cost__recurrent),
        cmocka_unit_test(test_cost__attributes_count),
        cmocka_unit_test(test_cost__attention),
        cmocka_unit_test(test_cost__fused_attention),
        cmocka_unit_test(test_cost__resize),
        cmocka_unit_test(test_cost__elements_of_transformers),
        cmocka_unit_test(test_cost__decoders),
        cmocka_unit_test(test_cost__unknown),
        cmocka_unit_test(test_cost__memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
