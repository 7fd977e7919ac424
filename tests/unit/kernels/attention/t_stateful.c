/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * LinearAttention against its recurrence and CausalConvWithState against its sum, one number at a
 * time in double; then a sequence in one piece against the same in two.
 */
#include "tests/help/op_case.h"

enum { BATCH = 2, STEPS = 5, GROUP = 2, KV = 2, SIZE = 3, WIDE = 4 };

/* Attributes and inputs of a LinearAttention; wide_decay: one per element of a key, one_beta: one
 * for all heads. */
struct linear {
    const char *rule, *type;
    bool decay, beta, wide_decay, one_beta, past;
    struct odb_tensor *in[6]; /* owned */
};

static void linear_open(struct linear *l)
{
    char text[100];
    snprintf(text, sizeof text, "%s[2,5,12] random 1", l->type);
    l->in[0] = op_tensor(text);
    snprintf(text, sizeof text, "%s[2,5,6] random 2", l->type);
    l->in[1] = op_tensor(text);
    snprintf(text, sizeof text, "%s[2,5,8] random 3", l->type);
    l->in[2] = op_tensor(text);
    l->in[3] = l->past ? op_tensor("float[2,2,3,4] random 4") : NULL;
    snprintf(text, sizeof text, "%s[2,5,%d] random 5", l->type, l->wide_decay ? KV * SIZE : KV);
    l->in[4] = l->decay ? op_tensor(text) : NULL;
    snprintf(text, sizeof text, "%s[2,5,%d] random 6", l->type, l->one_beta ? 1 : KV);
    l->in[5] = l->beta ? op_tensor(text) : NULL;
}

static void linear_close(struct linear *l)
{
    for (int i = 0; i < 6; i++)
        odb_tensor_unref(l->in[i]);
}

static double number(const struct odb_tensor *t, int i)
{
    return t ? odb_tensor_f64(t, (size_t)i) : 0;
}

/* One step of one head of keys: state [SIZE][WIDE]. */
static void linear_step(const struct linear *l, int row, int head, double *state)
{
    double value[WIDE];
    for (int i = 0; i < SIZE && l->decay; i++) {
        int at = l->wide_decay ? (row * KV + head) * SIZE + i : row * KV + head;
        for (int j = 0; j < WIDE; j++)
            state[i * WIDE + j] *= exp(number(l->in[4], at));
    }
    for (int j = 0; j < WIDE; j++) {
        double recalled = 0;
        for (int i = 0; i < SIZE; i++)
            recalled += state[i * WIDE + j] * number(l->in[1], (row * KV + head) * SIZE + i);
        value[j] = number(l->in[2], (row * KV + head) * WIDE + j);
        if (l->beta)
            value[j] =
                number(l->in[5], l->one_beta ? row : row * KV + head) * (value[j] - recalled);
    }
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < WIDE; j++)
            state[i * WIDE + j] += number(l->in[1], (row * KV + head) * SIZE + i) * value[j];
}

static void linear_near(double got, double want, double tol, const char *what)
{
    if (fabs(got - want) > tol * fmax(1, fabs(want)))
        fail_msg("%s: %.9g instead of %.9g", what, got, want);
}

static void linear_compare(const struct linear *l, double scale, struct odb_tensor *const *out,
                           double tol)
{
    for (int item = 0; item < BATCH * KV; item++) {
        double state[SIZE * WIDE];
        for (int i = 0; i < SIZE * WIDE; i++)
            state[i] = number(l->in[3], item * SIZE * WIDE + i);
        for (int t = 0; t < STEPS; t++) {
            int row = item / KV * STEPS + t;
            linear_step(l, row, item % KV, state);
            for (int n = 0; n < GROUP * WIDE; n++) {
                int head = item % KV * GROUP + n / WIDE;
                double sum = 0;
                for (int i = 0; i < SIZE; i++)
                    sum += number(l->in[0], (row * KV * GROUP + head) * SIZE + i) *
                           state[i * WIDE + n % WIDE];
                linear_near(number(out[0], (row * KV * GROUP + head) * WIDE + n % WIDE),
                            scale * sum, tol, l->rule);
            }
        }
        for (int i = 0; i < SIZE * WIDE; i++)
            linear_near(number(out[1], item * SIZE * WIDE + i), state[i], tol, "the state");
    }
}

static void test_stateful__recurrence(void **state)
{
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
    for (int n = 0; n < 64; n++) {
        struct linear l = {.rule = rules[n % 4],
                           .type = n & 4 ? "float" : "float16",
                           .decay = n & 1,
                           .beta = n & 2,
                           .wide_decay = n & 8,
                           .one_beta = n & 16,
                           .past = n & 32};
        struct op_call c = {.op = "LinearAttention", .opset = 27};
        struct odb_tensor *out[2];
        struct odb_error err = ODB_ERROR_INIT;
        char attrs[100];
        snprintf(attrs, sizeof attrs, "q_num_heads=4 kv_num_heads=2 update_rule=%s%s", l.rule,
                 n & 32 ? " scale=0.5f" : "");
        c.attrs = attrs;
        linear_open(&l);
        if (op_run(&c, 6, l.in, 2, out, &err) != ODB_OK)
            fail_msg("%s: %s", attrs, err.what);
        assert_int_equal(out[1]->dtype, l.past ? ODB_F32 : l.in[0]->dtype);
        linear_compare(&l, n & 32 ? 0.5 : 1 / sqrt(SIZE), out, n & 4 ? 1e-6 : 4e-3);
        odb_tensor_unref(out[0]);
        odb_tensor_unref(out[1]);
        linear_close(&l);
    }
}

static void test_stateful__linear_modes(void **state)
{
    struct op_call c =
        OP("LinearAttention", 27, "q_num_heads=4 kv_num_heads=2",
           {"float[2,40,32] random 1", "float[2,40,16] random 2", "float[2,40,20] random 3",
            "float[2,2,8,10] random 4", "float[2,40,16] random 5", "float[2,40,2] random 6"});
    op_expect_any_threads(&c);
    struct op_call calm =
        OP("LinearAttention", 27, "q_num_heads=2 kv_num_heads=2 update_rule=linear",
           {"float[2,40,16] random 1", "float[2,40,16] random 2", "float[2,40,20] random 3"});
    op_expect_modes(&calm, 1e-6);
}

static void test_stateful__linear_empty(void **state)
{
    OP_EXPECT(0,
              OP("LinearAttention", 27, "q_num_heads=1 kv_num_heads=1 update_rule=linear",
                 {"float[1,0,2]", "float[1,0,2]", "float[1,0,1]", "float[1,1,2,1] 3 4"}),
              "float[1,0,1]", "float[1,1,2,1] 3 4");
    OP_EXPECT(0,
              OP("LinearAttention", 27, "q_num_heads=1 kv_num_heads=1 update_rule=linear",
                 {"float[0,3,2]", "float[0,3,2]", "float[0,3,1]"}),
              "float[0,3,1]", "float[0,1,2,1]");
    OP_EXPECT(0,
              OP("LinearAttention", 27, "q_num_heads=1 kv_num_heads=1 update_rule=linear",
                 {"float[1,1,0]", "float[1,1,0]", "float[1,1,2] 1 1"}),
              "float[1,1,2] nan nan", "float[1,1,0,2]"); /* 1 / sqrt(0) times an empty sum */
}

#define LINEAR(attrs, ...) OP("LinearAttention", 27, attrs, {__VA_ARGS__})
#define HEADS "q_num_heads=2 kv_num_heads=1"

static void test_stateful__linear_refuses(void **state)
{
    static const struct op_call calls[] = {
        LINEAR("kv_num_heads=1 update_rule=linear", "float[1,1,2]", "float[1,1,2]", "float[1,1,1]"),
        LINEAR("q_num_heads=3 kv_num_heads=2 update_rule=linear", "float[1,1,6]", "float[1,1,4]",
               "float[1,1,2]"),
        LINEAR(HEADS " update_rule=linear", "float[1,1,3]", "float[1,1,1]", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=linear", "float[1,2]", "float[1,1,1]", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=linear", "float[1,1,4]", "float[1,1,1]", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=linear", "float[1,1,4]", "float[1,2,2]", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=linear", "float[1,1,4]", "float16[1,1,2]", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=linear", "float[1,1,4]", "float[1,1,2]", "float[1,1,1]",
               "float[1,1,1,2]"),
        LINEAR(HEADS " update_rule=linear", "float[1,1,4]", "float[1,1,2]", "float[1,1,1]", "-",
               "float[1,1,1]"),
        LINEAR(HEADS " update_rule=gated", "float[1,1,4]", "float[1,1,2]", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=gated", "float[1,1,4]", "float[1,1,2]", "float[1,1,1]", "-",
               "float[1,1,3]"),
        LINEAR(HEADS, "float[1,1,4]", "float[1,1,2]", "float[1,1,1]", "-", "float[1,1,1]"),
        LINEAR(HEADS " update_rule=delta", "float[1,1,4]", "float[1,1,2]", "float[1,1,1]", "-", "-",
               "float[1,1,2]"),
        LINEAR(HEADS " update_rule=other", "float[1,1,4]", "float[1,1,2]", "float[1,1,1]"),
    };
    op_expect_errors(calls, ODB_COUNT(calls));
}

/* --- CausalConvWithState ------------------------------------------------------------------------
 */

static void test_stateful__causal(void **state)
{
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, NULL,
                 {"float[1,2,3] 1 2 3 10 20 30", "float[2,1,3] 1 10 100 1 0 2"}),
              "float[1,2,3] 100 210 321 20 40 70", "float[1,2,2] 2 3 20 30");
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, "activation=none",
                 {"float[1,1,1] 5", "float[1,1,4] 1 2 3 4", "float[1] 0.5", "float[1,1,3] 7 8 9"}),
              "float[1,1,1] 70.5", "float[1,1,3] 8 9 5");
    OP_EXPECT(0, OP("CausalConvWithState", 27, NULL, {"float[1,1,1] 5", "float[1,1,4] 1 2 3 4"}),
              "float[1,1,1] 20", "float[1,1,3] 0 0 5");
    OP_EXPECT(0, OP("CausalConvWithState", 27, NULL, {"float[1,1,2] 5 6", "float[1,1,1] 2"}),
              "float[1,1,2] 10 12", "float[1,1,0]");
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, NULL,
                 {"float[1,1,0]", "float[1,1,3] 1 2 3", "-", "float[1,1,2] 4 5"}),
              "float[1,1,0]", "float[1,1,2] 4 5");
    OP_EXPECT(0, OP("CausalConvWithState", 27, NULL, {"float[0,2,3]", "float[2,1,2] 1 1 1 1"}),
              "float[0,2,3]", "float[0,2,1]");
}

static void test_stateful__causal_swish(void **state)
{
    for (int n = 0; n < 2; n++)
        OP_EXPECT(1e-7,
                  OP("CausalConvWithState", 27, n ? "activation=silu" : "activation=swish",
                     {"float[1,1,5] 0 1 -1 -1e4 1e4", "float[1,1,1] 1"}),
                  "float[1,1,5] 0 0.731058578630 -0.268941421370 0 1e4", "float[1,1,0]");
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, "activation=silu",
                 {"float16[1,1,2] 1 2", "float16[1,1,2] 1 1"}),
              "float16[1,1,2] 0.73095703125 2.857421875", "float16[1,1,1] 2");
}

static void test_stateful__causal_modes(void **state)
{
    struct op_call c = OP("CausalConvWithState", 27, "activation=silu",
                          {"float[3,50,90] random 1", "float[50,1,4] random 2",
                           "float[50] random 3", "float[3,50,3] random 4"});
    op_expect_modes(&c, 1e-6);
    op_expect_any_threads(&c);
}

/* A sequence in one piece, or in two of which the second begins with the first's state. */
static void test_stateful__causal_pieces(void **state)
{
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, NULL,
                 {"float[1,1,5] 1 2 3 4 5", "float[1,1,3] 1 10 100", "-", "float[1,1,2] 8 9"}),
              "float[1,1,5] 198 219 321 432 543", "float[1,1,2] 4 5");
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, NULL,
                 {"float[1,1,3] 1 2 3", "float[1,1,3] 1 10 100", "-", "float[1,1,2] 8 9"}),
              "float[1,1,3] 198 219 321", "float[1,1,2] 2 3");
    OP_EXPECT(0,
              OP("CausalConvWithState", 27, NULL,
                 {"float[1,1,2] 4 5", "float[1,1,3] 1 10 100", "-", "float[1,1,2] 2 3"}),
              "float[1,1,2] 432 543", "float[1,1,2] 4 5");
}

static void test_stateful__causal_refuses(void **state)
{
    static const struct op_call calls[] = {
        OP("CausalConvWithState", 27, NULL, {"float[1,2]", "float[2,1,3]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float[3,1,3]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float[2,2,3]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float[2,1,0]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float[2,1,3]", "float[3]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float[2,1,3]", "float[2,1]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float[2,1,3]", "-", "float[1,2,3]"}),
        OP("CausalConvWithState", 27, NULL, {"float[1,2,3]", "float16[2,1,3]"}),
        OP("CausalConvWithState", 27, "activation=relu", {"float[1,2,3]", "float[2,1,3]"}),
    };
    op_expect_errors(calls, ODB_COUNT(calls));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stateful__recurrence),
        cmocka_unit_test(test_stateful__linear_modes),
        cmocka_unit_test(test_stateful__linear_empty),
        cmocka_unit_test(test_stateful__linear_refuses),
        cmocka_unit_test(test_stateful__causal),
        cmocka_unit_test(test_stateful__causal_swish),
        cmocka_unit_test(test_stateful__causal_modes),
        cmocka_unit_test(test_stateful__causal_pieces),
        cmocka_unit_test(test_stateful__causal_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
