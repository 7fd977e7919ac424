/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FlexAttention on the CPU reference: without bodies it is Attention; with them it is what they
 * make of scores and weights; and what bodies and operands may get wrong.
 */
#include <math.h>

#include "interpret/cpu.h"
#include "kernels/core/kern.h"

#include "tests/help/models.h"
#include "model/read/load.h"

enum { BATCH = 2, HEADS = 4, KV = 2, QUERIES = 3, KEYS = 5, SIZE = 4, WIDE = 2 };

struct flex_case {
    enum odb_dtype type;
    const char *score_op, *prob_op; /* of one input; NULL: no body */
    enum odb_precision precision;
    float scale;   /* 0: the default */
    int soft_type; /* 0: the default */
    bool odd_heads, no_value, mixed;
};

struct flex_run {
    struct odb_model *model;
    struct odb_tensor *y;
    enum odb_status status;
    char why[300];
};

static struct odb_tensor *flex_noise(enum odb_dtype type, int64_t heads, int64_t rows, int64_t size,
                                     uint64_t seed)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, type, 4, (int64_t[]){BATCH, heads, rows, size}, &why));
    for (size_t i = 0; i < t->count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        odb_store_f64(type, t->data, i, (double)(int64_t)(seed >> 11) / (double)(1ull << 52) - 1);
    }
    return t;
}

static void flex_weight(struct odb_builder *b, const char *name, struct odb_tensor *t)
{
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static void flex_body(struct odb_builder *b, const char *attr, const char *op)
{
    struct odb_builder *body = odb_build_new(attr, 22);
    odb_build_input(body, "in", ODB_F32, -1, NULL);
    odb_build_node(body, op, "n", "in", "out");
    if (strcmp(op, "Cast") == 0)
        odb_build_attr_int(body, "to", ODB_I64);
    odb_build_output(body, "out");
    odb_build_attr_graph(b, attr, body);
}

static enum odb_status flex_after(void *payload, int node, enum odb_status status,
                                  struct odb_error *err)
{
    struct flex_run *run = payload;
    run->status = status;
    odb_error_text(err, run->why, sizeof run->why);
    return ODB_OK;
}

static struct flex_run flex_run(const struct flex_case *c)
{
    struct odb_builder *b = odb_build_new("g", 22);
    struct flex_run out = {.status = ODB_OK};
    struct odb_cpu *cpu = NULL;
    odb_build_opset(b, "ai.onnx.preview", 1);
    flex_weight(b, "q", flex_noise(c->type, HEADS + c->odd_heads, QUERIES, SIZE, 1));
    flex_weight(b, "k", flex_noise(c->type, KV, KEYS, SIZE, 2));
    flex_weight(b, "v", flex_noise(c->mixed ? ODB_F64 : c->type, KV, KEYS, WIDE, 3));
    odb_build_node(b, "ai.onnx.preview::FlexAttention", "f", c->no_value ? "q k" : "q k v", "y");
    if (c->scale != 0)
        odb_build_attr_float(b, "scale", c->scale);
    if (c->soft_type)
        odb_build_attr_int(b, "softmax_precision", c->soft_type);
    if (c->score_op)
        flex_body(b, "score_mod", c->score_op);
    if (c->prob_op)
        flex_body(b, "prob_mod", c->prob_op);
    odb_build_output(b, "y");
    out.model = models_take(b);
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, out.model->graph->n_values);
    MODELS_OK(odb_cpu_new(&cpu, out.model, &why));
    struct odb_cpu_run run = {
        .values = values, .after = flex_after, .payload = &out, .precision = c->precision};
    MODELS_OK(odb_cpu_execute(cpu, &run, &why));
    out.y = odb_tensor_ref(values[models_value(out.model, "y")]);
    for (size_t v = 0; v < out.model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    odb_cpu_free(cpu);
    odb_model_free(out.model);
    return out;
}

static double flex_mod(const char *op, double x)
{
    return !op                       ? x
           : strcmp(op, "Neg") == 0  ? -x
           : strcmp(op, "Tanh") == 0 ? tanh(x)
           : strcmp(op, "Sqrt") == 0 ? sqrt(x)
                                     : NAN;
}

/* y[b][h][i][d] by its definition. */
static double flex_define(const struct flex_case *c, struct odb_tensor *const *in, size_t at)
{
    double weight[KEYS], top = -INFINITY, sum = 0, y = 0;
    size_t d = at % WIDE, row = at / WIDE,
           kv = row / QUERIES / HEADS * KV + row / QUERIES % HEADS / (HEADS / KV);
    for (size_t j = 0; j < KEYS; j++) {
        weight[j] = 0;
        for (size_t e = 0; e < SIZE; e++)
            weight[j] += odb_tensor_f64(in[0], row * SIZE + e) *
                         odb_tensor_f64(in[1], (kv * KEYS + j) * SIZE + e);
        weight[j] = flex_mod(c->score_op, weight[j] * (c->scale != 0 ? c->scale : 1 / sqrt(SIZE)));
        top = fmax(top, weight[j]);
    }
    for (size_t j = 0; j < KEYS; j++)
        sum += weight[j] = exp(weight[j] - top);
    for (size_t j = 0; j < KEYS; j++)
        y += flex_mod(c->prob_op, weight[j] / sum) *
             odb_tensor_f64(in[2], (kv * KEYS + j) * WIDE + d);
    return y;
}

static void flex_expect(const struct flex_case *c, double tol)
{
    struct flex_run run = flex_run(c);
    if (run.status != ODB_OK)
        fail_msg("%s", run.why);
    enum odb_dtype want = c->precision == ODB_PREC_F64 ? ODB_F64 : c->type;
    struct odb_tensor *in[3] = {flex_noise(c->type, HEADS, QUERIES, SIZE, 1),
                                flex_noise(c->type, KV, KEYS, SIZE, 2),
                                flex_noise(c->type, KV, KEYS, WIDE, 3)};
    assert_int_equal(run.y->dtype, want);
    assert_int_equal(run.y->count, BATCH * HEADS * QUERIES * WIDE);
    assert_int_equal(run.y->dims[1], HEADS);
    assert_int_equal(run.y->dims[3], WIDE);
    for (size_t i = 0; i < run.y->count; i++) {
        double y = flex_define(c, in, i), got = odb_tensor_f64(run.y, i);
        if (!(fabs(got - y) <= tol))
            fail_msg("element %zu is %.17g, expected %.17g", i, got, y);
    }
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(in[i]);
    odb_tensor_unref(run.y);
}

static void test_flex__types(void **state)
{
    flex_expect(&(struct flex_case){.type = ODB_F32}, 1e-6);
    flex_expect(&(struct flex_case){.type = ODB_F64}, 1e-14);
    flex_expect(&(struct flex_case){.type = ODB_F16}, 5e-4);
    flex_expect(&(struct flex_case){.type = ODB_BF16, .scale = 2}, 4e-3);
    flex_expect(&(struct flex_case){.type = ODB_F32, .soft_type = ODB_F64}, 1e-7);
    flex_expect(&(struct flex_case){.type = ODB_F32, .soft_type = ODB_F16}, 2e-3);
    flex_expect(&(struct flex_case){.type = ODB_F64, .soft_type = ODB_BF16}, 2e-2);
}

static void test_flex__bodies(void **state)
{
    flex_expect(&(struct flex_case){.type = ODB_F32, .score_op = "Neg"}, 1e-6);
    flex_expect(&(struct flex_case){.type = ODB_F32, .score_op = "Tanh", .prob_op = "Sqrt"}, 1e-6);
    flex_expect(&(struct flex_case){.type = ODB_F16, .prob_op = "Neg", .scale = 0.25f}, 5e-4);
}

static void test_flex__precisions(void **state)
{
    struct flex_case c = {.type = ODB_F32,
                          .score_op = "Tanh",
                          .prob_op = "Neg",
                          .soft_type = ODB_F16,
                          .precision = ODB_PREC_F64};
    flex_expect(&c, 1e-13);
    c.soft_type = 0;
    c.precision = ODB_PREC_NOISY;
    flex_expect(&c, 1e-5);
    c.precision = ODB_PREC_F16;
    flex_expect(&c, 1e-2);
}

static void test_flex__refuses(void **state)
{
    static const struct {
        struct flex_case c;
        const char *text;
    } cases[] = {
        {{.type = ODB_F32, .odd_heads = true}, "do not fit"},
        {{.type = ODB_F32, .no_value = true}, "takes 3 to 3 inputs, not 2"},
        {{.type = ODB_I32}, "must not be of type int32"},
        {{.type = ODB_F32, .mixed = true}, "must be of one type"},
        {{.type = ODB_F32, .soft_type = 7}, "softmax_precision 7"},
        {{.type = ODB_F32, .score_op = "Shape"}, "score_mod changes type or shape"},
        {{.type = ODB_F32, .prob_op = "Cast"}, "prob_mod changes type or shape"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct flex_run run = flex_run(&cases[i].c);
        assert_int_equal(run.status, ODB_E_OPERATOR);
        if (!strstr(run.why, cases[i].text))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].text, run.why);
        assert_null(run.y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flex__types),
        cmocka_unit_test(test_flex__bodies),
        cmocka_unit_test(test_flex__precisions),
        cmocka_unit_test(test_flex__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
