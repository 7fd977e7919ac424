/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models with something changed: they compute what they should, and hold what they should not
 * less.
 */
#include "model/write/edit.h"

#include "interpret/cpu.h"
#include "tests/help/models.h"
#include "model/read/load.h"

static struct odb_tensor *vector(float first)
{
    return models_f32(1, (int64_t[]){4}, (float[]){first, 0.5f, -1.25f, 2.0f});
}

/* y = secret_fn(If(c) then x + w else -x) * s, s = sqrt(w): a body that reads the graph around it,
 * a function, a symbol. */
static struct odb_model *model_make(void)
{
    struct odb_builder *b = odb_build_new("secret_graph", 17);
    struct odb_builder *yes = odb_build_new("secret_then", 17);
    struct odb_builder *no = odb_build_new("secret_else", 17);
    struct odb_builder *fn = odb_build_new("f", 17);
    const bool truth = true;
    struct odb_tensor *cond = NULL, *w = vector(1.5f);
    ((odb_f32 *)w->data)[2] = 1.25f;
    MODELS_OK(odb_tensor_copy_of(&cond, ODB_BOOL, 0, NULL, &truth, &why));
    odb_build_opset(b, "my", 1);
    odb_build_metadata(b, "secret_key", "secret_value");
    odb_build_input(b, "secret_x", ODB_F32, 1, (int64_t[]){-1});
    odb_build_weight(b, "secret_w", w);
    odb_build_weight(b, "secret_c", cond);
    odb_build_node(yes, "Add", "secret_add", "secret_x secret_w", "secret_t");
    odb_build_output_typed(yes, "secret_t", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(no, "Neg", "secret_neg", "secret_x", "secret_f");
    odb_build_output_typed(no, "secret_f", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Sqrt", "secret_sqrt", "secret_w", "secret_s");
    odb_build_node(b, "If", "secret_if", "secret_c", "secret_q");
    odb_build_attr_graph(b, "then_branch", yes);
    odb_build_attr_graph(b, "else_branch", no);
    odb_build_node(fn, "Tanh", "secret_tanh", "secret_a", "secret_m");
    odb_build_node(fn, "Mul", "secret_mul", "secret_m secret_a", "secret_b");
    odb_build_node(b, "my::Square", "secret_call", "secret_q", "secret_r");
    odb_build_function(b, "my", "Square", "secret_a", "secret_b", "", fn);
    odb_build_node(b, "Mul", "secret_last", "secret_r secret_s", "secret_y");
    odb_build_node(b, "LeakyRelu", "secret_leak", "secret_y", "secret_z");
    odb_build_attr_float(b, "alpha", 0.5f);
    odb_build_output(b, "secret_z");
    odb_tensor_unref(w);
    odb_tensor_unref(cond);
    return models_take(b);
}

/* The only output, of the only input that is fed. */
static struct odb_tensor *model_run(const struct odb_model *model, const struct odb_tensor *x)
{
    const struct odb_graph *graph = model->graph;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, graph->n_values);
    struct odb_cpu *cpu;
    int feeds[4];
    assert_int_equal(odb_graph_feeds(graph, feeds), 1);
    values[feeds[0]] = odb_tensor_ref(x);
    MODELS_OK(odb_cpu_new(&cpu, model, &why));
    struct odb_cpu_run run = {.values = values};
    MODELS_OK(odb_cpu_execute(cpu, &run, &why));
    struct odb_tensor *out = odb_tensor_ref(values[graph->outputs[0]]);
    assert_non_null(out);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    odb_cpu_free(cpu);
    return out;
}

static struct odb_model *edited(const struct odb_model *model, const struct odb_edit *edit,
                                struct odb_buf *bytes)
{
    struct odb_model *out;
    MODELS_OK(odb_model_edit(model, edit, bytes, &why));
    MODELS_OK(odb_model_open_bytes(&out, bytes->data, bytes->len, NULL, "", "edited", &why));
    return out;
}

static void expect_same(struct odb_tensor *a, struct odb_tensor *b, bool same)
{
    assert_int_equal(odb_tensor_identical(a, b), same);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

static void test_edit__neutral_names_compute_the_same(void **state)
{
    struct odb_model *model = model_make();
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_edit edit = {.neutral = true};
    struct odb_model *other = edited(model, &edit, &bytes);
    struct odb_tensor *x = vector(0.25f);
    assert_null(memmem(bytes.data, bytes.len, "secret", 6));
    assert_int_equal(other->graph->n_nodes, model->graph->n_nodes);
    assert_int_equal(other->metadata.n, 0);
    expect_same(model_run(model, x), model_run(other, x), true);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
    odb_model_free(other);
    odb_model_free(model);
    (void)state;
}

/* A node that goes leaves a weight behind. */
static void test_edit__a_dropped_node_is_a_weight(void **state)
{
    struct odb_model *model = model_make();
    const struct odb_graph *graph = model->graph;
    struct odb_tensor **weights = odb_new_n(struct odb_tensor *, graph->n_values);
    bool *drop = odb_new_n(bool, graph->n_nodes);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *x = vector(0.25f), *s = models_f32(1, (int64_t[]){4}, (float[]){1, 1, 1, 1});
    int value = models_value(model, "secret_s");
    weights[value] = s;
    drop[graph->values[value].producer] = true;
    struct odb_edit edit = {.weights = weights, .drop = drop};
    struct odb_model *other = edited(model, &edit, &bytes);
    assert_int_equal(other->graph->n_nodes, graph->n_nodes - 1);
    assert_true(odb_tensor_identical(odb_graph_value(other->graph, "secret_s")->init, s));
    expect_same(model_run(model, x), model_run(other, x), false);
    odb_model_free(other);
    odb_buf_clear(&bytes);

    /* with what it made, nothing changes */
    struct odb_tensor *root = models_f32(1, (int64_t[]){4}, (float[]){0, 0, 0, 0});
    const odb_f32 *w = odb_graph_value(graph, "secret_w")->init->data;
    for (int i = 0; i < 4; i++)
        ((odb_f32 *)root->data)[i] = __builtin_sqrtf(w[i]);
    weights[value] = root;
    other = edited(model, &edit, &bytes);
    expect_same(model_run(model, x), model_run(other, x), true);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(root);
    odb_tensor_unref(s);
    odb_tensor_unref(x);
    odb_model_free(other);
    odb_model_free(model);
    free(weights);
    free(drop);
    (void)state;
}

static void test_edit__inputs_become_weights_and_change_shape(void **state)
{
    struct odb_model *model = model_make();
    const struct odb_graph *graph = model->graph;
    struct odb_tensor **list = odb_new_n(struct odb_tensor *, graph->n_values);
    struct odb_tensor *x = vector(0.25f), *one = models_f32(1, (int64_t[]){1}, (float[]){0.75f});
    struct odb_buf bytes = ODB_BUF_INIT;
    list[models_value(model, "secret_x")] = x;
    struct odb_edit edit = {.weights = list};
    struct odb_model *other = edited(model, &edit, &bytes);
    assert_int_equal(other->graph->n_inputs, 0);
    assert_true(odb_tensor_identical(odb_graph_value(other->graph, "secret_x")->init, x));
    odb_model_free(other);
    odb_buf_clear(&bytes);
    list[models_value(model, "secret_x")] = one;
    edit = (struct odb_edit){.inputs = list};
    other = edited(model, &edit, &bytes);
    assert_int_equal(other->graph->values[other->graph->inputs[0]].type.dims[0].value, -1);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(x);
    odb_tensor_unref(one);
    odb_model_free(other);
    odb_model_free(model);
    free(list);
    (void)state;
}

/* What is declared without a number stays so, unless that would say of two sizes that they are
 * one. */
static void test_edit__open_dimensions_stay_open(void **state)
{
    struct odb_builder *b = odb_build_new("open", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, 4});
    odb_build_input(b, "y", ODB_F32, 2, (int64_t[]){-1, 4});
    odb_build_node(b, "Add", "add", "x y", "z");
    odb_build_output(b, "z");
    struct odb_model *model = models_take(b);
    struct odb_tensor *three = NULL, *two = NULL;
    struct odb_tensor **list = odb_new_n(struct odb_tensor *, model->graph->n_values);
    struct odb_edit edit = {.inputs = list};
    struct odb_buf bytes = ODB_BUF_INIT;
    MODELS_OK(odb_tensor_new(&three, ODB_F32, 2, (int64_t[]){3, 1}, &why));
    MODELS_OK(odb_tensor_new(&two, ODB_F32, 2, (int64_t[]){2, 1}, &why));
    for (int equal = 0; equal <= 1; equal++) {
        list[models_value(model, "x")] = three;
        list[models_value(model, "y")] = equal ? three : two;
        struct odb_model *other = edited(model, &edit, &bytes);
        const struct odb_dim *dims = odb_graph_value(other->graph, "x")->type.dims;
        assert_int_equal(dims[0].value, equal ? -1 : 3);
        assert_int_equal(dims[1].value, 1);
        odb_model_free(other);
        odb_buf_clear(&bytes);
    }
    odb_buf_dispose(&bytes);
    odb_tensor_unref(three);
    odb_tensor_unref(two);
    odb_model_free(model);
    free(list);
    (void)state;
}

static void test_edit__attributes_go_one_by_one(void **state)
{
    struct odb_model *model = model_make();
    size_t n = odb_model_attributes(model);
    bool *stay = odb_new_n(bool, n);
    struct odb_buf bytes = ODB_BUF_INIT;
    assert_int_equal(n, 3); /* two branches and alpha */
    stay[0] = stay[1] = true;
    struct odb_edit edit = {.attributes = stay};
    struct odb_model *other = edited(model, &edit, &bytes);
    const struct odb_graph *graph = other->graph;
    assert_null(odb_attrs_find(&graph->nodes[graph->n_nodes - 1].attrs, "alpha"));
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (!strcmp(graph->nodes[i].op_type, "If"))
            assert_int_equal(graph->nodes[i].attrs.n, 2);
    odb_buf_dispose(&bytes);
    odb_model_free(other);
    odb_model_free(model);
    free(stay);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edit__neutral_names_compute_the_same),
        cmocka_unit_test(test_edit__a_dropped_node_is_a_weight),
        cmocka_unit_test(test_edit__inputs_become_weights_and_change_shape),
        cmocka_unit_test(test_edit__open_dimensions_stay_open),
        cmocka_unit_test(test_edit__attributes_go_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
