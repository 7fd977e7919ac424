/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Explanations as models: what such a model computes is what the target made.
 */
#include "explain/as_if/as_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explanations.h"
#include "model/read/load.h"
#include "model/write/build.h"
#include "tests/help/models.h"

#define MOST 4 /* inputs of a node */

static struct odb_tensor *numbers(uint64_t seed, const struct odb_type *type)
{
    struct odb_tensor *t = NULL;
    int64_t dims[ODB_MAX_RANK];
    for (int k = 0; k < type->rank; k++)
        dims[k] = type->dims[k].value;
    assert_int_equal(odb_tensor_new(&t, ODB_F32, type->rank, dims, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        odb_store_f64(ODB_F32, t->data, i, (double)(seed >> 40) / (1 << 23) - 1);
    }
    return t;
}

static struct odb_model *opened(const struct odb_buf *bytes)
{
    struct odb_model *model = NULL;
    assert_int_equal(odb_model_open_bytes(&model, bytes->data, bytes->len, NULL, ".", "test", NULL),
                     ODB_OK);
    return model;
}

static struct odb_model *built(struct odb_builder *b)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct odb_model *model = opened(&bytes);
    odb_buf_dispose(&bytes);
    return model;
}

/* The first output of a model whose inputs are these, in order. */
static struct odb_tensor *run(const struct odb_model *model, struct odb_tensor *const *in)
{
    struct odb_cpu *cpu = NULL;
    struct odb_tensor *values[64] = {NULL};
    struct odb_cpu_run how = {.values = values, .precision = ODB_PREC_NATIVE};
    assert_true(model->graph->n_values <= 64);
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    for (size_t i = 0; i < model->graph->n_inputs; i++)
        values[model->graph->inputs[i]] = odb_tensor_ref(in[i]);
    assert_int_equal(odb_cpu_execute(cpu, &how, NULL), ODB_OK);
    struct odb_tensor *out = odb_tensor_ref(values[model->graph->outputs[0]]);
    assert_non_null(out);
    for (size_t v = 0; v < model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    odb_cpu_free(cpu);
    return out;
}

/* The model in which a variant gives y; NULL: there is none. first: it is what y is explained by.
 * in: [n]. */
static struct odb_model *told(const struct odb_model *model, struct odb_tensor *const *in,
                              struct odb_tensor *y, const char *variant, bool first)
{
    struct odb_cpu *cpu = NULL;
    struct odb_explanations found = {0};
    struct odb_buf bytes = ODB_BUF_INIT;
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    const struct odb_explain_question q = {
        .model = model, .cpu = cpu, .in = in, .out = &y, .factor = 10};
    if (first) {
        assert_int_equal(odb_explain(&found, &q, NULL), ODB_OK);
        assert_true(found.items.n > 0);
        assert_string_equal(found.items.items[0].variant, variant);
    }
    enum odb_status status = odb_explain_as_if(&q, variant, &bytes, NULL);
    assert_true(status == ODB_OK || status == ODB_SKIPPED);
    assert_int_equal(status == ODB_OK, bytes.len > 0);
    struct odb_model *as_if = status == ODB_OK ? opened(&bytes) : NULL;
    odb_buf_dispose(&bytes);
    odb_explanations_dispose(&found);
    odb_cpu_free(cpu);
    return as_if;
}

/* Holds a model to what another one makes of the same inputs, or what change makes of its own. */
static void held(struct odb_builder *is, struct odb_builder *target, double (*change)(double),
                 const char *variant, const char *nodes)
{
    struct odb_model *model = built(is), *other = target ? built(target) : NULL;
    struct odb_tensor *in[MOST] = {NULL};
    struct odb_buf ops = ODB_BUF_INIT;
    for (size_t i = 0; i < model->graph->n_inputs; i++)
        in[i] = numbers(i + 1, &model->graph->values[model->graph->inputs[i]].type);
    struct odb_tensor *y = run(other ? other : model, in);
    for (size_t i = 0; i < y->count && change; i++)
        odb_store_f64(y->dtype, y->data, i, change(odb_tensor_f64(y, i)));
    struct odb_model *as_if = told(model, in, y, variant, true);
    if (!nodes) {
        assert_null(as_if);
    } else {
        assert_non_null(as_if);
        for (size_t n = 0; n < as_if->graph->n_nodes; n++)
            odb_buf_printf(&ops, "%s%s", n ? " " : "", as_if->graph->nodes[n].op_type);
        assert_string_equal(odb_buf_text(&ops), nodes);
        assert_int_equal(as_if->graph->n_inputs, model->graph->n_inputs);
        struct odb_tensor *t = run(as_if, in);
        assert_true(odb_tensor_same_shape(t, y));
        for (size_t i = 0; i < y->count; i++)
            assert_true(fabs(odb_tensor_f64(t, i) - odb_tensor_f64(y, i)) < 1e-5);
        odb_tensor_unref(t);
    }
    odb_buf_dispose(&ops);
    odb_tensor_unref(y);
    for (int i = 0; i < MOST; i++)
        odb_tensor_unref(in[i]);
    odb_model_free(as_if);
    odb_model_free(other);
    odb_model_free(model);
}

static struct odb_builder *softmax(int64_t axis)
{
    struct odb_builder *b = odb_build_new("softmax", 17);
    odb_build_input(b, "x", ODB_F32, 3, (int64_t[]){3, 5, 7});
    odb_build_node(b, "Softmax", "node", "x", "y");
    odb_build_attr_int(b, "axis", axis);
    odb_build_output(b, "y");
    return b;
}

static struct odb_builder *gemm(const char *inputs, const char *also)
{
    struct odb_builder *b = odb_build_new("gemm", 17);
    odb_build_input(b, "a", ODB_F32, 2, (int64_t[]){6, 6});
    odb_build_input(b, "b", ODB_F32, 2, (int64_t[]){6, 6});
    odb_build_input(b, "c", ODB_F32, 1, (int64_t[]){6});
    if (also) {
        odb_build_node(b, "Transpose", "", "b", "t");
        odb_build_attr_ints(b, "perm", 2, (int64_t[]){1, 0});
    }
    odb_build_node(b, "Gemm", "node", inputs, "y");
    odb_build_output(b, "y");
    return b;
}

static void test_as_if__an_attribute(void **state)
{
    (void)state;
    held(softmax(1), softmax(2), NULL, "attribute/axis=default", "Softmax");
}

static void test_as_if__an_operand(void **state)
{
    (void)state;
    held(gemm("a b c", NULL), gemm("a b", NULL), NULL, "attribute/beta=0", "Gemm");
    held(gemm("a b c", NULL), gemm("a t c", "t"), NULL, "attribute/transB=1", "Gemm");
    held(gemm("a b c", NULL), gemm("b a c", NULL), NULL, "input/exchanged=A,B", "Gemm");
}

static double larger(double v)
{
    return 1.05 * v;
}

static double bfloat(double v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_BF16, 0, NULL, NULL), ODB_OK);
    odb_store_f64(ODB_BF16, t->data, 0, v);
    v = odb_tensor_f64(t, 0);
    odb_tensor_unref(t);
    return v;
}

static double folded(double v)
{
    return fabs(v);
}

static void test_as_if__results(void **state)
{
    (void)state;
    held(gemm("a b c", NULL), NULL, larger, "output/scale", "Gemm Mul");
    held(gemm("a b c", NULL), NULL, bfloat, "number/results=bf16", "Gemm Cast Cast");
}

static void test_as_if__what_onnx_does_not_say(void **state)
{
    (void)state;
    held(gemm("a b c", NULL), NULL, folded, "elsewhere/applied=Abs", NULL);
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

/* Any line goes through one point. */
static void test_as_if__a_result_of_one_number(void **state)
{
    struct odb_builder *b = odb_build_new("mean", 17);
    (void)state;
    odb_build_input(b, "x", ODB_F32, 4, (int64_t[]){1, 1, 6, 6});
    odb_build_node(b, "GlobalAveragePool", "node", "x", "y");
    odb_build_output(b, "y");
    held(b, NULL, sigmoid, "elsewhere/applied=Sigmoid", NULL);
}

/* What numbers lose that have no digits in the middle is lost in more than one type. */
static void test_as_if__a_type_by_luck(void **state)
{
    struct odb_builder *b = odb_build_new("neg", 17);
    struct odb_tensor *x = NULL, *y = NULL;
    (void)state;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){16});
    odb_build_node(b, "Neg", "node", "x", "y");
    odb_build_output(b, "y");
    struct odb_model *model = built(b);
    assert_int_equal(odb_tensor_new(&x, ODB_F32, 1, (int64_t[]){16}, NULL), ODB_OK);
    assert_int_equal(odb_tensor_new(&y, ODB_F32, 1, (int64_t[]){16}, NULL), ODB_OK);
    for (size_t i = 0; i < 16; i++) {
        odb_store_f64(ODB_F32, x->data, i, (double)i + 1 + 0x1p-12);
        odb_store_f64(ODB_F32, y->data, i, -(double)i - 1);
    }
    struct odb_model *as_if = told(model, &x, y, "number/operands=f16", true);
    assert_non_null(as_if);
    assert_int_equal(as_if->graph->n_nodes, 3);
    assert_int_equal(odb_attrs_find(&as_if->graph->nodes[0].attrs, "to")->i, ODB_F16);
    assert_null(told(model, &x, y, "number/operands=bf16 truncated", false));
    odb_model_free(as_if);
    odb_model_free(model);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
}

/* A node alone may do what it ought to do, or something else than in its place. */
static void test_as_if__what_the_target_did_not_make(void **state)
{
    struct odb_model *model = built(softmax(1));
    (void)state;
    struct odb_tensor *x = numbers(1, &model->graph->values[model->graph->inputs[0]].type);
    struct odb_tensor *y = run(model, &x);
    assert_null(told(model, &x, y, "attribute/axis=default", false));
    odb_model_free(model);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_if__an_attribute),
        cmocka_unit_test(test_as_if__an_operand),
        cmocka_unit_test(test_as_if__results),
        cmocka_unit_test(test_as_if__what_onnx_does_not_say),
        cmocka_unit_test(test_as_if__a_result_of_one_number),
        cmocka_unit_test(test_as_if__a_type_by_luck),
        cmocka_unit_test(test_as_if__what_the_target_did_not_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
