/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the newer operators of com.microsoft turn away, and by which status: what no kernel computes
 * is unsupported, what breaks the operator's rules an error. What they compute is held by
 * tests/check-contrib.
 */
#include "tests/help/op_case.h"

#define MS(op) "com.microsoft::" op

static const char tokens[] = "float[2,4] random 1", scores[] = "float[2,2] random 2";
static const char weights[] = "float[2,4,4] random 3", codes[] = "uint8[2,4,2] random 4";
static const char scales[] = "float[2,4] random 5";

static void test_contrib_newer__experts(void **state)
{
    (void)state;
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_UNSUPPORTED,
         OP(MS("MoE"), 1, "k=2 use_sparse_mixer=1", {tokens, scores, weights, "-", weights})},
        {ODB_E_OPERATOR, OP(MS("MoE"), 1, "k=3", {tokens, scores, weights, "-", weights})},
        {ODB_E_OPERATOR,
         OP(MS("MoE"), 1, "activation_type=tanh", {tokens, scores, weights, "-", weights})},
        /* the older order of a matrix's dimensions */
        {ODB_E_OPERATOR,
         OP(MS("MoE"), 1, NULL,
            {tokens, scores, "float[2,4,3] random 3", "-", "float[2,3,4] random 3"})},
        {ODB_E_OPERATOR,
         OP(MS("MoE"), 1, "activation_type=swiglu", {tokens, scores, weights, "-", weights})},
        {ODB_UNSUPPORTED, OP(MS("QMoE"), 1, "quant_type=nvfp4",
                             {tokens, scores, codes, scales, "-", codes, scales})},
        {ODB_UNSUPPORTED, OP(MS("QMoE"), 1, "weights_prepacked=1",
                             {tokens, scores, codes, scales, "-", codes, scales})},
        {ODB_E_OPERATOR, OP(MS("QMoE"), 1, "expert_weight_bits=3",
                            {tokens, scores, codes, scales, "-", codes, scales})},
        {ODB_E_OPERATOR, OP(MS("QMoE"), 1, NULL, {tokens, scores, codes, "-", "-", codes, scales})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

static void test_contrib_newer__sequences(void **state)
{
    (void)state;
    const char *q = "float[1,2,4] random 1", *x = "float[1,2,3] random 1";
    const char *packed = "float[3,2] random 1", *w = "float[2,1,2] random 2";
    const char *first = "float[1,2,1] random 3", *one = "float[3,1,2] random 1";
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_E_OPERATOR,
         OP(MS("LinearAttention"), 1,
            "q_num_heads=2 kv_num_heads=2 update_rule=linear state_window=9", {q, q, q})},
        {ODB_E_OPERATOR, OP(MS("LinearAttention"), 1, "q_num_heads=2 kv_num_heads=2", {q, q, q})},
        {ODB_E_OPERATOR, OP(MS("LinearAttention"), 1,
                            "q_num_heads=2 kv_num_heads=3 update_rule=linear", {q, q, q})},
        {ODB_UNSUPPORTED, OP(MS("CausalConvWithState"), 1, "ndim=2", {x, w})},
        {ODB_E_OPERATOR, OP(MS("CausalConvWithState"), 1, "dilation=0", {x, w})},
        {ODB_E_OPERATOR, OP(MS("VarlenCausalConvWithState"), 1, NULL, {packed, w, "int32[2] 0 3"})},
        {ODB_E_OPERATOR,
         OP(MS("VarlenCausalConvWithState"), 1, NULL, {packed, w, "int32[2] 0 2", "-", first})},
        {ODB_E_OPERATOR, OP(MS("VarlenCausalConvWithState"), 1, "state_update_capacity=1",
                            {packed, w, "int32[2] 0 3", "-", first})},
        {ODB_UNSUPPORTED, OP(MS("GatedDeltaNet"), 1, "update_rule=linear state_update_capacity=1",
                             {one, one, one, "int32[2] 0 3"})},
        {ODB_E_OPERATOR, OP(MS("GatedDeltaNet"), 1, "update_rule=linear", {one, one, one})},
        {ODB_E_OPERATOR,
         OP(MS("GatedDeltaNet"), 1, "update_rule=linear", {one, one, one, "int32[2] 0 4"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

static void test_contrib_newer__products(void **state)
{
    (void)state;
    const char *a = "float[1,16] random 1", *w = "uint8[2,1,8] random 2",
               *s = "float[2,1] random 3";
    const char *norm = "float[16] random 4";
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_UNSUPPORTED, OP(MS("MatMulNBitsMlp"), 1, "K=16 N=2 block_size=16 activation=gelu",
                             {a, "-", "-", w, s, "-", w, s})},
        {ODB_E_OPERATOR, OP(MS("MatMulNBitsMlp"), 1, "K=16 N=2 block_size=16 activation=silu",
                            {a, a, "-", w, s, "-", w, s})},
        {ODB_UNSUPPORTED, OP(MS("MatMulNBitsQkv"), 1, "K=16 Nq=2 Nkv=2 block_size=16",
                             {a, "-", norm, w, s, "-", w, s, "-", w, s})},
        {ODB_E_OPERATOR, OP(MS("MatMulNBitsQkv"), 1, "K=16 Nq=2 Nkv=2 block_size=16 epsilon=1e-5f",
                            {a, "-", "-", w, s, "-", w, s, "-", w, s})},
        {ODB_E_OPERATOR, OP(MS("BiasSoftmax"), 1, "is_inner_broadcast=1",
                            {"float[2,3] random 1", "float[1,2] random 2"})},
        {ODB_E_OPERATOR, OP(MS("GatedRMSNorm"), 1, NULL,
                            {"float[2,4] random 1", "float[3] random 2", "float[2,4] random 3"})},
        {ODB_E_OPERATOR,
         OP(MS("NGramHashMapping"), 1, "max_ngram_size=2 n_head_per_ngram=1 pad_id=0",
            {"int64[1,2] 1 2", "int64[2] 3 5", "int64[1] 0"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

static void test_contrib_newer__orders(void **state)
{
    (void)state;
    const char *x = "float[2,32] random 1", *q = "int8[2,32] random 1", *one = "float[] 0.5";
    const char *a = "int8[2,3] random 1", *b = "int8[3,4] random 2";
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_UNSUPPORTED, OP(MS("QuantizeWithOrder"), 1, "order_input=1 order_output=3", {x, one})},
        {ODB_E_OPERATOR, OP(MS("QuantizeWithOrder"), 1, "order_input=1 order_output=5", {x, one})},
        {ODB_E_OPERATOR, OP(MS("QuantizeWithOrder"), 1, "order_input=1 order_output=2",
                            {"float[2,31] random 1", one})},
        {ODB_E_OPERATOR,
         OP(MS("DequantizeWithOrder"), 1, "order_input=1 order_output=1 to=6", {q, one})},
        {ODB_UNSUPPORTED, OP(MS("QOrderedMatMul"), 1, "order_A=2 order_B=3 order_Y=2",
                             {"int8[2,32] random 1", one, "int8[32,4] random 2", one, one})},
        {ODB_E_OPERATOR, OP(MS("QOrderedMatMul"), 1, "order_A=1 order_B=0 order_Y=1",
                            {a, one, "int8[2,4] random 2", one, one})},
        {ODB_E_OPERATOR, OP(MS("QOrderedMatMul"), 1, "order_A=1 order_B=0 order_Y=1",
                            {a, one, b, "float[3] 1 2 3", one})},
        {ODB_E_OPERATOR, OP(MS("QOrderedMatMul"), 1, "order_A=1 order_B=0 order_Y=1",
                            {a, one, b, one, one, "-", "int8[2,4] random 3"})},
        {ODB_E_OPERATOR, OP(MS("QOrderedGelu"), 1, "order_X=1 order_Y=0", {q, one, one})},
        {ODB_UNSUPPORTED, OP(MS("QOrderedLayerNormalization"), 1, "axis=0",
                             {q, one, "float[32] random 2", "float[32] random 3", one})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

static void test_contrib_newer__memories(void **state)
{
    (void)state;
    const char *x = "float[2,1,3] random 1", *w = "float[1,8,5] random 2",
               *r = "float[1,8,2] random 3", *m = "float[1,4,2] random 4";
    const char *qw = "float[1,2,3] random 5", *v = "float[1,3] random 6", *ids = "int64[3] 1 2 3";
    const char *image = "float[1,2,4,4] random 1", *tokens4 = "float[1,4,4] random 1";
    const struct {
        enum odb_status status;
        struct op_call call;
    } rows[] = {
        {ODB_E_OPERATOR, OP(MS("AttnLSTM"), 1, "hidden_size=2", {x, w, r})},
        {ODB_E_OPERATOR,
         OP(MS("AttnLSTM"), 1, "hidden_size=2",
            {x, "float[1,8,4] random 2", r, "-", "-", "-", "-", "-", qw, qw, v, m})},
        {ODB_E_OPERATOR, OP(MS("AttnLSTM"), 1, "hidden_size=2",
                            {x, w, r, "-", "-", "-", "-", "-", qw, qw, v, m, "int32[1] 5"})},
        {ODB_E_OPERATOR, OP(MS("AttnLSTM"), 1, "hidden_size=2 direction=both",
                            {x, w, r, "-", "-", "-", "-", "-", qw, qw, v, m})},
        {ODB_UNSUPPORTED,
         OP(MS("MaxpoolWithMask"), 1, "kernel_shape=2,2", {image, "int32[1,2,4,4] random 2"})},
        {ODB_E_OPERATOR,
         OP(MS("MaxpoolWithMask"), 1, "kernel_shape=2,2", {image, "int32[1,1,4,3] random 2"})},
        {ODB_E_OPERATOR, OP(MS("LongformerAttention"), 1, "num_heads=2 window=1",
                            {"float[1,3,4] random 1", "float[4,12] random 2", "float[12] random 3",
                             "float[1,3] 0 0 0", "float[4,12] random 4", "float[12] random 5",
                             "int32[1,3] 0 0 0"})},
        {ODB_E_OPERATOR,
         OP(MS("LongformerAttention"), 1, "num_heads=3 window=1",
            {tokens4, "float[4,12] random 2", "float[12] random 3", "float[1,4] 0 0 0 0",
             "float[4,12] random 4", "float[12] random 5", "int32[1,4] 0 0 0 0"})},
        {ODB_E_OPERATOR,
         OP(MS("VarlenNGramHashMapping"), 1, "max_ngram_size=2 n_head_per_ngram=1 pad_id=0",
            {ids, "int64[2] 3 5", "int64[1] 7", "int32[2] 0 2"})},
        {ODB_E_OPERATOR,
         OP(MS("VarlenNGramHashMapping"), 1, "max_ngram_size=2 n_head_per_ngram=1 pad_id=0",
            {ids, "int64[2] 3 5", "int64[1] 7", "int32[2] 0 3", "-", "-", "-", "-",
             "int32[1,1] 0"})},
    };
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        op_expect_error(&rows[i].call, rows[i].status);
}

/* Double, half and noisy ways of computing are near each other. */
static void test_contrib_newer__modes(void **state)
{
    (void)state;
    const struct op_call calls[] = {
        OP(MS("MoE"), 1, "k=2 activation_type=silu", {tokens, scores, weights, "-", weights}),
        OP(MS("BiasSoftmax"), 1, "axis=2 is_inner_broadcast=1",
           {"float[2,3,4] random 1", "float[2,1,4] random 2"}),
        OP(MS("LinearAttention"), 1, "q_num_heads=2 kv_num_heads=2 update_rule=linear",
           {"float[1,5,4] random 1", "float[1,5,4] random 2", "float[1,5,4] random 3"}),
        OP(MS("GatedRMSNorm"), 1, NULL,
           {"float[3,8] random 1", "float[4] random 2", "float[3,8] random 3"}),
    };
    for (size_t i = 0; i < ODB_COUNT(calls); i++)
        op_expect_modes(&calls[i], 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contrib_newer__experts),
        cmocka_unit_test(test_contrib_newer__sequences),
        cmocka_unit_test(test_contrib_newer__products),
        cmocka_unit_test(test_contrib_newer__orders),
        cmocka_unit_test(test_contrib_newer__memories),
        cmocka_unit_test(test_contrib_newer__modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
