/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cut, load again, compare. What a runtime makes of the cuts is tested with the executors.
 */
#include "tests/help/models.h"

#include "system/file.h"
#include "model/write/pack.h"
#include "tools/gen.c"
#include "tools/gen_decoder.c"
#include "model/read/load.h"
#include "model/text/model_text.h"
#include "model/write/write.h"

enum { WRITE_EVERY_PREFIX = 200 };

/* --- helpers ---------------------------------------------------------------------------------- */

static void write_reload(struct odb_model **out, const struct odb_model *from,
                         const struct odb_buf *bytes)
{
    MODELS_OK(odb_model_open_bytes(out, bytes->data, bytes->len, NULL, from->dir, "cut", &why));
}

/* Cuts and loads again. */
static struct odb_model *write_cut(const struct odb_model *model, const struct odb_extract *what)
{
    struct odb_model *cut = NULL;
    struct odb_buf bytes = ODB_BUF_INIT;
    MODELS_OK(odb_model_extract(model, what, &bytes, &why));
    write_reload(&cut, model, &bytes);
    odb_buf_dispose(&bytes);
    return cut;
}

/* A value that a cut reads may come as a weight of its own. */
static void test_write__a_border_may_be_a_weight(void **state)
{
    struct odb_builder *b = odb_build_new("g", 16);
    struct odb_tensor *one = models_f32(1, (int64_t[]){1}, (float[]){0.25f});
    struct odb_tensor *slope = models_f32(1, (int64_t[]){1}, (float[]){0.5f});
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_weight(b, "w", one);
    odb_build_node(b, "Sqrt", "", "w", "slope");
    odb_build_node(b, "PRelu", "", "x slope", "y");
    odb_build_output(b, "y");
    struct odb_model *model = models_take(b);
    const struct odb_port in[] = {
        {.value = models_value(model, "x")},
        {.value = models_value(model, "slope"), .like = slope, .constant = true}};
    const struct odb_port out = {.value = models_value(model, "y")};
    const bool nodes[] = {false, true};
    for (int ir = 3; ir < 9; ir += 5) { /* before 4 each weight is an input as well */
        struct odb_model *cut = write_cut(model, &(struct odb_extract){.nodes = nodes,
                                                                       .inputs = in,
                                                                       .n_inputs = 2,
                                                                       .outputs = &out,
                                                                       .n_outputs = 1,
                                                                       .ir_version = ir});
        int feeds[2];
        assert_int_equal(cut->graph->n_nodes, 1);
        assert_int_equal(cut->graph->n_inputs, ir < 4 ? 2 : 1);
        assert_int_equal(odb_graph_feeds(cut->graph, feeds), 1);
        assert_int_equal(feeds[0], models_value(cut, "x"));
        assert_true(odb_tensor_identical(odb_graph_value(cut->graph, "slope")->init, slope));
        odb_model_free(cut);
    }
    odb_model_free(model);
    odb_tensor_unref(slope);
    odb_tensor_unref(one);
}

static enum odb_status write_refused(const struct odb_model *model, const struct odb_extract *what,
                                     const char *expected)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    char text[2048];
    enum odb_status status = odb_model_extract(model, what, &bytes, &err);
    assert_string_equal(odb_error_text(&err, text, sizeof text), expected);
    assert_int_equal(bytes.len, 0);
    odb_buf_dispose(&bytes);
    return status;
}

/* The feeds as ports. The caller frees them. */
static struct odb_port *write_feeds(const struct odb_model *model, size_t *n)
{
    int *feeds = odb_new_n(int, model->graph->n_inputs + 1);
    *n = odb_graph_feeds(model->graph, feeds);
    struct odb_port *ports = odb_new_n(struct odb_port, *n + 1);
    for (size_t i = 0; i < *n; i++)
        ports[i].value = feeds[i];
    free(feeds);
    return ports;
}

static struct odb_port *write_outputs(const struct odb_model *model)
{
    struct odb_port *ports = odb_new_n(struct odb_port, model->graph->n_outputs + 1);
    for (size_t i = 0; i < model->graph->n_outputs; i++)
        ports[i].value = model->graph->outputs[i];
    return ports;
}

static void write_same_node(const struct odb_graph *a, const struct odb_node *x,
                            const struct odb_graph *b, const struct odb_node *y)
{
    struct odb_buf one = ODB_BUF_INIT, two = ODB_BUF_INIT;
    odb_node_text(a, x, &one);
    odb_node_text(b, y, &two);
    assert_string_equal(odb_buf_text(&one), odb_buf_text(&two));
    odb_buf_dispose(&one);
    odb_buf_dispose(&two);
}

/* Every weight of the cut has the original's bits, type included. */
static void write_same_weights(const struct odb_model *model, const struct odb_model *cut)
{
    for (size_t i = 0; i < cut->graph->n_values; i++) {
        const struct odb_value *value = &cut->graph->values[i];
        if (!value->init)
            continue;
        const struct odb_value *original = odb_graph_value(model->graph, value->name);
        assert_non_null(original);
        assert_true(odb_tensor_identical(value->init, original->init));
    }
}

static void write_check_whole(const struct odb_model *model, enum odb_weights weights, size_t *size)
{
    char *folder = models_folder();
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_file_parts beside = {0};
    size_t n;
    struct odb_port *in = write_feeds(model, &n), *out = write_outputs(model);
    struct odb_model *cut = NULL;
    MODELS_OK(odb_model_extract(model,
                                &(struct odb_extract){.inputs = in,
                                                      .n_inputs = n,
                                                      .outputs = out,
                                                      .n_outputs = model->graph->n_outputs,
                                                      .weights = weights,
                                                      .weights_file = "w.bin",
                                                      .weights_out = &beside},
                                &bytes, &why));
    if (weights == ODB_WEIGHTS_BESIDE) {
        char *path = odb_xasprintf("%s/w.bin", folder);
        MODELS_OK(odb_file_write_parts(path, beside.pieces.items, beside.pieces.n, &why));
        MODELS_OK(odb_model_open_bytes(&cut, bytes.data, bytes.len, NULL, folder, "cut", &why));
        free(path);
    } else {
        write_reload(&cut, model, &bytes);
    }
    bool *used = odb_new_n(bool, model->graph->n_nodes + 1);
    int *ends = odb_new_n(int, model->graph->n_outputs + 1);
    for (size_t i = 0; i < model->graph->n_outputs; i++)
        ends[i] = model->graph->outputs[i];
    odb_graph_ancestors(model->graph, ends, model->graph->n_outputs, NULL, used);
    size_t k = 0;
    for (size_t i = 0; i < model->graph->n_nodes; i++)
        if (used[i])
            write_same_node(model->graph, &model->graph->nodes[i], cut->graph,
                            &cut->graph->nodes[k++]);
    assert_int_equal(k, cut->graph->n_nodes);
    assert_int_equal(cut->graph->n_inputs, n);
    assert_int_equal(cut->graph->n_outputs, model->graph->n_outputs);
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *was = &model->graph->values[in[i].value];
        const struct odb_value *is = &cut->graph->values[cut->graph->inputs[i]];
        assert_string_equal(was->name, is->name);
        assert_string_equal(was->type.text, is->type.text);
    }
    write_same_weights(model, cut);
    *size = bytes.len;
    odb_model_free(cut);
    odb_buf_dispose(&bytes);
    odb_file_parts_dispose(&beside);
    free(used);
    free(ends);
    free(in);
    free(out);
    models_remove(folder);
}

/* Type of a border: the model's where it says one, else some tensor. */
static struct odb_port write_port(const struct odb_model *model, int value,
                                  const struct odb_tensor *like)
{
    bool known = model->graph->values[value].type.known && model->graph->values[value].type.dtype;
    return (struct odb_port){.value = value, .like = known ? NULL : like, .symbolic = !known};
}

/* One node alone: its inputs and weights and nothing else. */
static void write_check_node(const struct odb_model *model, size_t node,
                             const struct odb_tensor *like)
{
    const struct odb_graph *graph = model->graph;
    bool *marks = odb_new_n(bool, graph->n_nodes);
    int *list = odb_new_n(int, graph->n_values);
    struct odb_port in[64], out[64];
    marks[node] = true;
    size_t n = odb_graph_segment_inputs(graph, marks, list), n_out = 0;
    assert_true(n <= ODB_COUNT(in));
    for (size_t i = 0; i < n; i++)
        in[i] = write_port(model, list[i], like);
    for (int i = 0; i < graph->nodes[node].n_out && n_out < ODB_COUNT(out); i++) {
        int value = graph->nodes[node].out[i];
        if (value != ODB_NO_VALUE && graph->values[value].name[0])
            out[n_out++] = write_port(model, value, like);
    }
    struct odb_model *cut =
        write_cut(model, &(struct odb_extract){.nodes = marks,
                                               .inputs = in,
                                               .n_inputs = n,
                                               .outputs = out,
                                               .n_outputs = n_out,
                                               .weights = ODB_WEIGHTS_REFERENCE});
    assert_int_equal(cut->graph->n_nodes, 1);
    assert_int_equal(cut->graph->n_inputs, n);
    assert_int_equal(cut->graph->n_outputs, n_out);
    write_same_node(graph, &graph->nodes[node], cut->graph, &cut->graph->nodes[0]);
    write_same_weights(model, cut);
    odb_model_free(cut);
    free(marks);
    free(list);
}

/* The prefix that ends in a node's first output: closed under ancestors, and loadable. */
static void write_check_prefix(const struct odb_model *model, size_t node,
                               const struct odb_port *in, size_t n_in)
{
    const struct odb_graph *graph = model->graph;
    int value = graph->nodes[node].n_out ? graph->nodes[node].out[0] : ODB_NO_VALUE;
    if (value == ODB_NO_VALUE || !graph->values[value].name[0])
        return;
    bool *marks = odb_new_n(bool, graph->n_nodes);
    odb_graph_ancestors(graph, &value, 1, NULL, marks);
    size_t expected = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        expected += marks[i];
    struct odb_model *cut =
        write_cut(model, &(struct odb_extract){.inputs = in,
                                               .n_inputs = n_in,
                                               .outputs = &(struct odb_port){.value = value},
                                               .n_outputs = 1,
                                               .weights = ODB_WEIGHTS_REFERENCE});
    assert_int_equal(cut->graph->n_nodes, expected);
    assert_false(cut->graph->was_unsorted);
    odb_model_free(cut);
    free(marks);
}

static void write_check_model(const struct odb_model *model)
{
    size_t inside, outside, beside, n_in, n = model->graph->n_nodes;
    struct odb_tensor *like = models_f32(0, NULL, (float[]){0});
    write_check_whole(model, ODB_WEIGHTS_INLINE, &inside);
    write_check_whole(model, ODB_WEIGHTS_REFERENCE, &outside);
    write_check_whole(model, ODB_WEIGHTS_BESIDE, &beside);
    assert_true(outside <= inside + 200 && beside <= inside + 200);
    struct odb_port *in = write_feeds(model, &n_in);
    size_t step = 1 + n / WRITE_EVERY_PREFIX;
    for (size_t i = 0; i < n; i++)
        write_check_node(model, i, like);
    for (size_t i = 0; i < n; i += step)
        write_check_prefix(model, i, in, n_in);
    odb_tensor_unref(like);
    free(in);
}

/* The generated model as a file in folder. */
static struct odb_model *write_generated(const char *folder, const char *kind,
                                         struct gen_options options, bool external)
{
    struct odb_model *model = NULL;
    char *path = odb_xasprintf("%s/%s.onnx", folder, kind);
    options.seed = 42;
    struct odb_builder *b = gen_model(kind, &options, NULL);
    MODELS_OK(odb_build_write(b, path, external ? "weights.data" : NULL, &why));
    odb_build_free(b);
    MODELS_OK(odb_model_open(&model, path, &why));
    free(path);
    return model;
}

/* --- round trips ------------------------------------------------------------------------------ */

static void test_write__generated_models(void **state)
{
    static const struct {
        const char *kind;
        struct gen_options options;
        bool external;
        size_t nodes;
    } rows[] = {
        {"demo", {0}, false, 54},
        {"demo", {0}, true, 54},
        {"bert-tiny", {0}, false, 132},
        {"odd", {0}, false, 15},
        {"chain", {.count = 100}, false, 100},
        {"chain", {.count = 100, .wide = true}, false, 100},
        {"chain", {.count = 17, .wide = true}, true, 17},
    };
    char *folder = models_folder();
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct odb_model *model =
            write_generated(folder, rows[i].kind, rows[i].options, rows[i].external);
        assert_int_equal(model->graph->n_nodes, rows[i].nodes);
        write_check_model(model);
        odb_model_free(model);
    }
    models_remove(folder);
}

static void test_write__well_known_sizes(void **state)
{
    static const struct {
        const char *kind;
        struct gen_options options;
        size_t nodes;
    } rows[] = {{"resnet50", {.bn = true}, 175}, {"resnet50", {0}, 122}, {"mobilenetv2", {0}, 100}};
    char *folder = models_folder();
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct odb_model *model = write_generated(folder, rows[i].kind, rows[i].options, true);
        assert_int_equal(model->graph->n_nodes, rows[i].nodes);
        size_t size;
        write_check_whole(model, ODB_WEIGHTS_REFERENCE, &size);
        assert_true(size < 500000);
        odb_model_free(model);
    }
    models_remove(folder);
}

static void test_write__shared_models(void **state)
{
    char *list = models_shared("models/first.txt"), *root = models_shared("models"), name[256];
    if (!list || !root)
        MODELS_SKIP();
    FILE *file = fopen(list, "r");
    assert_non_null(file);
    size_t checked = 0;
    while (fgets(name, sizeof name, file)) {
        struct odb_model *model = NULL;
        name[strcspn(name, " \t\n")] = '\0';
        char *path = odb_xasprintf("%s/%s/model.onnx", root, name);
        MODELS_OK(odb_model_open(&model, path, &why));
        if (model->graph->n_nodes < 1000)
            write_check_model(model);
        checked += model->graph->n_nodes > 0;
        odb_model_free(model);
        free(path);
    }
    fclose(file);
    free(list);
    free(root);
    assert_true(checked > 10);
}

/* --- borders ---------------------------------------------------------------------------------- */

/* x -> Relu -> a -> Split -> b, c; y = b * w + c. Nothing in between is typed but a. */
static struct odb_model *write_small(int64_t ir_version)
{
    struct odb_builder *b = odb_build_new("small", 13);
    struct odb_tensor *w = models_f32(1, (int64_t[]){2}, (float[]){2, 3});
    odb_build_ir_version(b, ir_version);
    odb_build_metadata(b, "author", "nobody");
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, 4});
    if (ir_version < 4)
        odb_build_input(b, "w", ODB_F32, 1, (int64_t[]){2});
    odb_build_weight(b, "w", w);
    odb_build_value_info(b, "a", ODB_F32, 2, (int64_t[]){-1, 4});
    odb_build_node(b, "Relu", "relu", "x", "a");
    odb_build_node(b, "Split", "split", "a", "b c");
    odb_build_attr_int(b, "axis", 1);
    odb_build_node(b, "Mul", "mul", "b w", "d");
    odb_build_node(b, "Add", "add", "d c", "y");
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){-1, 2});
    odb_tensor_unref(w);
    return models_take(b);
}

static void test_write__declares_types(void **state)
{
    struct odb_model *model = write_small(8);
    struct odb_tensor *like = NULL;
    MODELS_OK(odb_tensor_new_shape(&like, ODB_F16, 2, (int64_t[]){7, 2}, &why));
    struct odb_port in[] = {{.value = models_value(model, "a")},
                            {.value = models_value(model, "b"), .like = like}};
    struct odb_port out[] = {{.value = models_value(model, "d"), .like = like, .symbolic = true},
                             {.value = models_value(model, "c")},
                             {.value = models_value(model, "y"), .symbolic = true}};
    struct odb_model *cut = write_cut(
        model, &(struct odb_extract){.inputs = in, .n_inputs = 2, .outputs = out, .n_outputs = 3});
    const struct odb_graph *graph = cut->graph;
    assert_string_equal(graph->values[graph->inputs[0]].type.text, "float[N0, 4]");
    assert_string_equal(graph->values[graph->inputs[1]].type.text, "float16[7, 2]");
    assert_string_equal(graph->values[graph->outputs[0]].type.text, "float16[d_dim0, d_dim1]");
    assert_false(graph->values[graph->outputs[1]].type.known);
    assert_string_equal(graph->values[graph->outputs[2]].type.text, "float[y_dim0, y_dim1]");
    assert_int_equal(graph->n_nodes, 3); /* Split makes c, and its b is nobody's */
    assert_string_equal(cut->producer_name, "onnxdbg");
    assert_string_equal(cut->producer_version, ODB_VERSION);
    assert_string_equal(graph->name, "small");
    assert_int_equal(cut->metadata.n, 1);
    odb_model_free(cut);
    odb_model_free(model);
    odb_tensor_unref(like);
}

/* The node that made a value which is an input now keeps its place, and its output a new name. */
static void test_write__replaced_output(void **state)
{
    struct odb_model *model = write_small(8);
    struct odb_tensor *like = models_f32(2, (int64_t[]){1, 2}, (float[]){1, 2});
    struct odb_port in[] = {{.value = models_value(model, "x")},
                            {.value = models_value(model, "b"), .like = like}};
    struct odb_port out[] = {{.value = models_value(model, "y")}};
    struct odb_model *cut = write_cut(
        model, &(struct odb_extract){.inputs = in, .n_inputs = 2, .outputs = out, .n_outputs = 1});
    const struct odb_value *b = odb_graph_value(cut->graph, "b");
    assert_int_equal(b->producer, ODB_NO_NODE);
    assert_int_equal(b->n_consumers, 1);
    const struct odb_value *unused = odb_graph_value(cut->graph, "b__unused0");
    assert_non_null(unused);
    assert_int_equal(unused->n_consumers, 0);
    assert_string_equal(cut->graph->nodes[unused->producer].op_type, "Split");
    assert_string_equal(model->priv->nodes[1]->output[0], "b"); /* the original is as it was */
    odb_model_free(cut);
    odb_model_free(model);
    odb_tensor_unref(like);
}

static void test_write__value_info_between(void **state)
{
    struct odb_model *model = write_small(8);
    struct odb_port in = {.value = models_value(model, "x")};
    struct odb_port out = {.value = models_value(model, "y")};
    struct odb_extract what = {
        .inputs = &in, .n_inputs = 1, .outputs = &out, .n_outputs = 1, .graph_name = "prefix"};
    struct odb_model *cut = write_cut(model, &what);
    assert_string_equal(odb_graph_value(cut->graph, "a")->type.text, "float[N0, 4]");
    assert_int_equal(cut->priv->proto->graph->n_value_info, 1);
    assert_string_equal(cut->graph->name, "prefix");
    odb_model_free(cut);
    out.value = models_value(model, "a"); /* it is the output now, declared once */
    cut = write_cut(model, &what);
    assert_int_equal(cut->priv->proto->graph->n_value_info, 0);
    assert_string_equal(odb_graph_value(cut->graph, "a")->type.text, "float[N0, 4]");
    assert_int_equal(cut->priv->proto->graph->n_initializer, 0);
    odb_model_free(cut);
    odb_model_free(model);
}

static void test_write__weight_as_input(void **state)
{
    struct odb_model *model = write_small(8);
    struct odb_port in[] = {{.value = models_value(model, "x")},
                            {.value = models_value(model, "w")}};
    struct odb_port out[] = {{.value = models_value(model, "y")}};
    struct odb_model *cut = write_cut(
        model, &(struct odb_extract){.inputs = in, .n_inputs = 2, .outputs = out, .n_outputs = 1});
    const struct odb_value *w = odb_graph_value(cut->graph, "w");
    assert_null(w->init);
    assert_true(w->is_input);
    assert_string_equal(w->type.text, "float[2]"); /* the model declares nothing: the weight does */
    odb_model_free(cut);
    odb_model_free(model);
}

static void test_write__weight_as_output(void **state)
{
    struct odb_model *model = write_small(8);
    struct odb_port out[] = {{.value = models_value(model, "w")}};
    struct odb_model *cut = write_cut(model, &(struct odb_extract){.outputs = out, .n_outputs = 1});
    assert_int_equal(cut->graph->n_nodes, 0);
    assert_non_null(odb_graph_value(cut->graph, "w")->init);
    odb_model_free(cut);
    odb_model_free(model);
}

/* A cut of a cut still knows which nodes of the first model it holds. */
static void test_write__remembers_where_nodes_come_from(void **state)
{
    struct odb_model *model = write_small(8);
    int split = odb_graph_value(model->graph, "b")->producer, index[8];
    bool *nodes = odb_new_n(bool, model->graph->n_nodes);
    nodes[split] = true;
    struct odb_port in = {.value = models_value(model, "a")};
    struct odb_port out = {.value = models_value(model, "b")};
    struct odb_extract what = {.nodes = nodes,
                               .inputs = &in,
                               .n_inputs = 1,
                               .outputs = &out,
                               .n_outputs = 1,
                               .record_nodes = true};
    struct odb_model *cut = write_cut(model, &what);
    assert_true(split > 0);
    assert_int_equal(cut->graph->n_nodes, 1);
    odb_model_origin(cut, index);
    assert_int_equal(index[0], split);
    in.value = models_value(cut, "a");
    out.value = models_value(cut, "b");
    what.nodes = NULL;
    struct odb_model *again = write_cut(cut, &what);
    odb_model_origin(again, index);
    assert_int_equal(index[0], split);
    assert_int_equal(again->metadata.n, 2);
    odb_model_origin(model, index);
    assert_int_equal(index[split], split);
    odb_model_free(again);
    odb_model_free(cut);
    odb_model_free(model);
    free(nodes);
}

static void test_write__ir_versions(void **state)
{
    struct odb_model *model = write_small(3);
    struct odb_port in = {.value = models_value(model, "x")};
    struct odb_port out = {.value = models_value(model, "y")};
    struct odb_extract what = {.inputs = &in, .n_inputs = 1, .outputs = &out, .n_outputs = 1};
    struct odb_model *cut = write_cut(model, &what);
    assert_int_equal(cut->ir_version, 4); /* weights are inputs no longer */
    assert_int_equal(cut->graph->n_inputs, 1);
    odb_model_free(cut);
    what.ir_version = 3;
    cut = write_cut(model, &what);
    assert_int_equal(cut->ir_version, 3);
    assert_int_equal(cut->graph->n_inputs, 2);
    assert_string_equal(cut->graph->values[cut->graph->inputs[1]].name, "w");
    assert_string_equal(cut->graph->values[cut->graph->inputs[1]].type.text, "float[2]");
    assert_int_equal(odb_graph_feeds(cut->graph, NULL), 1);
    odb_model_free(cut);
    odb_model_free(model);
    model = write_small(9);
    in.value = models_value(model, "x");
    out.value = models_value(model, "y");
    what.ir_version = 0;
    cut = write_cut(model, &what);
    assert_int_equal(cut->ir_version, 9);
    odb_model_free(cut);
    odb_model_free(model);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void test_write__refusals(void **state)
{
    struct odb_model *model = write_small(8);
    struct odb_port x = {.value = models_value(model, "x")},
                    y = {.value = models_value(model, "y")};
    struct odb_port d = {.value = models_value(model, "d")}, none = {.value = -1};
    struct odb_port twice[] = {y, y};
    bool only_add[4] = {[3] = true};
    struct odb_extract what = {.outputs = &y, .n_outputs = 1};
    assert_int_equal(write_refused(model, &what,
                                   "the submodel needs 'x', which is neither made in it nor "
                                   "given; make it an input"),
                     ODB_E_INPUT);
    what = (struct odb_extract){
        .inputs = &d, .n_inputs = 1, .outputs = &y, .n_outputs = 1, .nodes = only_add};
    write_refused(
        model, &what,
        "the submodel needs 'c', which is neither made in it nor given; make it an input");
    what = (struct odb_extract){
        .inputs = &x, .n_inputs = 1, .outputs = &d, .n_outputs = 1, .nodes = (bool[4]){0}};
    write_refused(model, &what, "output 'd' is made by no node of the submodel");
    what = (struct odb_extract){.inputs = &x, .n_inputs = 1, .outputs = twice, .n_outputs = 2};
    write_refused(model, &what, "'y' stands twice among the outputs");
    what = (struct odb_extract){.inputs = &none, .n_inputs = 1, .outputs = &y, .n_outputs = 1};
    write_refused(model, &what, "input 0 of the submodel is no value with a name");
    struct odb_port c_and_d[] = {{.value = models_value(model, "c")}, d};
    what = (struct odb_extract){.inputs = c_and_d, .n_inputs = 2, .outputs = &y, .n_outputs = 1};
    write_refused(model, &what,
                  "the type of input 'c' is not known; run the reference first, which shows the "
                  "types");
    odb_model_free(model);
}

/* --- weights, functions, annotations ---------------------------------------------------------- */

/* Weights kept in float_data, strings, and one that only a body reads. */
static void test_write__weights_of_all_kinds(void **state)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/m.onnx", folder);
    struct odb_builder *b = odb_build_new("g", 13), *body = odb_build_new("then", 13);
    struct odb_builder *other = odb_build_new("else", 13);
    struct odb_tensor *large = NULL, *unread = models_f32(0, NULL, (float[]){1});
    MODELS_OK(odb_tensor_new(&large, ODB_F32, 1, (int64_t[]){2000}, &why));
    for (size_t i = 0; i < large->count; i++)
        odb_store_f64(ODB_F32, large->data, i, (double)i);
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_weight(b, "captured", large);
    odb_build_weight(b, "unread", unread);
    odb_build_node(body, "Neg", "", "captured", "t");
    odb_build_output(body, "t");
    odb_build_node(other, "Abs", "", "captured", "e");
    odb_build_output(other, "e");
    odb_build_node(b, "If", "", "c", "y");
    odb_build_attr_graph(b, "then_branch", body);
    odb_build_attr_graph(b, "else_branch", other);
    odb_build_output(b, "y");
    MODELS_OK(odb_build_write(b, path, NULL, &why));
    odb_build_free(b);
    struct odb_model *model = NULL;
    MODELS_OK(odb_model_open(&model, path, &why));
    struct odb_port in = {.value = models_value(model, "c")};
    struct odb_port out = {.value = models_value(model, "y")};
    struct odb_extract what = {.inputs = &in,
                               .n_inputs = 1,
                               .outputs = &out,
                               .n_outputs = 1,
                               .weights = ODB_WEIGHTS_REFERENCE};
    struct odb_buf bytes = ODB_BUF_INIT;
    MODELS_OK(odb_model_extract(model, &what, &bytes, &why));
    assert_true(bytes.len < 600);
    struct odb_model *cut = NULL;
    write_reload(&cut, model, &bytes);
    assert_true(odb_tensor_identical(odb_graph_value(cut->graph, "captured")->init, large));
    assert_null(odb_graph_value(cut->graph, "unread"));
    const Onnx__TensorProto *weight = cut->priv->proto->graph->initializer[0];
    assert_string_equal(weight->external_data[0]->value, "m.onnx"); /* by name, from its folder */
    odb_model_free(cut);
    odb_model_free(model);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(large);
    odb_tensor_unref(unread);
    free(path);
    models_remove(folder);
}

/* A model out of bytes has no file to refer to. */
static void test_write__reference_without_a_file(void **state)
{
    struct odb_model *model =
        models_take(gen_model("demo", &(struct gen_options){.seed = 1}, NULL));
    size_t inside, outside;
    write_check_whole(model, ODB_WEIGHTS_INLINE, &inside);
    write_check_whole(model, ODB_WEIGHTS_REFERENCE, &outside);
    assert_int_equal(inside, outside);
    odb_model_free(model);
}

static void test_write__weights_beside_are_aligned(void **state)
{
    struct odb_model *model =
        models_take(gen_model("demo", &(struct gen_options){.seed = 1}, NULL));
    size_t n, large = 0;
    struct odb_buf bytes = ODB_BUF_INIT, file = ODB_BUF_INIT;
    struct odb_file_parts beside = {0};
    struct odb_port *in = write_feeds(model, &n), *out = write_outputs(model);
    MODELS_OK(odb_model_extract(model,
                                &(struct odb_extract){.inputs = in,
                                                      .n_inputs = n,
                                                      .outputs = out,
                                                      .n_outputs = 1,
                                                      .weights = ODB_WEIGHTS_BESIDE,
                                                      .weights_file = "w.bin",
                                                      .weights_out = &beside},
                                &bytes, &why));
    for (size_t i = 0; i < beside.pieces.n; i++)
        odb_buf_add(&file, beside.pieces.items[i].iov_base, beside.pieces.items[i].iov_len);
    assert_int_equal(file.len, beside.size);
    Onnx__ModelProto *proto =
        onnx__model_proto__unpack(NULL, bytes.len, (const uint8_t *)bytes.data);
    assert_non_null(proto);
    for (size_t i = 0; i < proto->graph->n_initializer; i++) {
        const Onnx__TensorProto *weight = proto->graph->initializer[i];
        if (!weight->n_external_data) {
            assert_true(weight->raw_data.len <= 1024);
            continue;
        }
        size_t offset = strtoul(weight->external_data[1]->value, NULL, 10);
        size_t length = strtoul(weight->external_data[2]->value, NULL, 10);
        const struct odb_value *value = odb_graph_value(model->graph, weight->name);
        large++;
        assert_string_equal(weight->external_data[0]->value, "w.bin");
        assert_int_equal(offset % 64, 0);
        assert_int_equal(length, value->init->bytes);
        assert_memory_equal(file.data + offset, value->init->data, length);
    }
    assert_true(large > 5);
    onnx__model_proto__free_unpacked(proto, NULL);
    odb_buf_dispose(&bytes);
    odb_buf_dispose(&file);
    odb_file_parts_dispose(&beside);
    odb_model_free(model);
    free(in);
    free(out);
}

/* outer calls inner; third is called by nobody in the cut. */
static void test_write__functions_that_are_called(void **state)
{
    static const char *const names[] = {"outer", "inner", "third"};
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "f", 1);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        struct odb_builder *body = odb_build_new("", 17);
        odb_build_opset(body, "f", 1);
        odb_build_node(body, i == 0 ? "f::inner" : "Neg", "", "X", "Y");
        odb_build_function(b, "f", names[i], "X", "Y", "", body);
    }
    odb_build_node(b, "f::outer", "", "x", "y");
    odb_build_node(b, "f::third", "", "y", "z");
    odb_build_output(b, "z");
    struct odb_model *model = models_take(b);
    struct odb_port in = {.value = models_value(model, "x")};
    struct odb_port out = {.value = models_value(model, "y")};
    struct odb_model *cut = write_cut(
        model,
        &(struct odb_extract){.inputs = &in, .n_inputs = 1, .outputs = &out, .n_outputs = 1});
    assert_int_equal(cut->n_functions, 2);
    assert_string_equal(cut->functions[0].name, "outer");
    assert_string_equal(cut->functions[1].name, "inner");
    assert_non_null(cut->graph->nodes[0].function);
    odb_model_free(cut);
    odb_model_free(model);
}

/* Every tensor that stands in a node goes into one file, w.bin. */
static void write_outside(Onnx__NodeProto **nodes, size_t n, struct odb_buf *file,
                          struct model_arena *arena)
{
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            Onnx__AttributeProto *attr = nodes[i]->attribute[a];
            if (attr->g)
                write_outside(attr->g->node, attr->g->n_node, file, arena);
            if (!attr->t)
                continue;
            size_t at = file->len, length = attr->t->raw_data.len;
            assert_true(length > 0);
            odb_buf_add(file, attr->t->raw_data.data, length);
            attr->t = odb_model__with_reference(attr->t, "w.bin", at, length, arena);
        }
}

/* Constants of a graph, of a body and of a function, whose values are in a file. */
static struct odb_model *write_constants_outside(const char *folder, const struct odb_tensor *w)
{
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("body", 17);
    struct odb_builder *function = odb_build_new("", 17);
    struct odb_buf bytes = ODB_BUF_INIT, file = ODB_BUF_INIT;
    struct odb_model *model = NULL;
    odb_build_input(b, "x", ODB_F32, 1, w->dims);
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_opset(b, "f", 1);
    odb_build_node(function, "Constant", "", "", "Y");
    odb_build_attr_tensor(function, "value", w);
    odb_build_function(b, "f", "F", "X", "Y", "", function);
    odb_build_node(body, "Constant", "", "", "inner");
    odb_build_attr_tensor(body, "value", w);
    odb_build_output(body, "inner");
    odb_build_node(b, "Constant", "", "", "k");
    odb_build_attr_tensor(b, "value", w);
    odb_build_node(b, "If", "", "c", "t");
    odb_build_attr_graph(b, "then_branch", body);
    odb_build_node(b, "f::F", "", "x", "u");
    odb_build_node(b, "Sum", "", "k t u", "y");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    struct model_arena *arena = odb_model__arena_new();
    Onnx__ModelProto *proto = onnx__model_proto__unpack(odb_model__arena_allocator(arena),
                                                        bytes.len, (const uint8_t *)bytes.data);
    assert_non_null(proto);
    write_outside(proto->graph->node, proto->graph->n_node, &file, arena);
    write_outside(proto->functions[0]->node, proto->functions[0]->n_node, &file, arena);
    assert_int_equal(file.len, 3 * w->bytes);
    odb_buf_clear(&bytes);
    MODELS_OK(odb_model__pack(&proto->base, &bytes, &why));
    char *path = odb_xasprintf("%s/m.onnx", folder), *beside = odb_xasprintf("%s/w.bin", folder);
    MODELS_OK(odb_file_write(path, bytes.data, bytes.len, &why));
    MODELS_OK(odb_file_write(beside, file.data, file.len, &why));
    MODELS_OK(odb_model_open(&model, path, &why));
    free(path);
    free(beside);
    odb_model__arena_free(arena);
    odb_buf_dispose(&bytes);
    odb_buf_dispose(&file);
    return model;
}

static void write_check_constant(const struct odb_node *node, const struct odb_tensor *w)
{
    assert_string_equal(node->op_type, "Constant");
    assert_memory_equal(node->attrs.items[0].tensors[0]->data, w->data, w->bytes);
}

/* What nodes keep in files comes along to where those files are not. */
static void test_write__weights_of_nodes_outside(void **state)
{
    enum { N = 500 };
    float values[N];
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    struct odb_tensor *w = models_f32(1, (int64_t[]){N}, values);
    char *folder = models_folder();
    struct odb_model *model = write_constants_outside(folder, w);
    for (int how = 0; how < 2; how++) {
        struct odb_file_parts parts = {0};
        struct odb_buf bytes = ODB_BUF_INIT;
        struct odb_model *cut = NULL;
        struct odb_port out = {.value = models_value(model, "y")}, *in;
        size_t n;
        in = write_feeds(model, &n);
        char *elsewhere = models_folder(), *beside = odb_xasprintf("%s/new.bin", elsewhere);
        struct odb_extract what = {.inputs = in,
                                   .n_inputs = n,
                                   .outputs = &out,
                                   .n_outputs = 1,
                                   .weights = how ? ODB_WEIGHTS_BESIDE : ODB_WEIGHTS_INLINE,
                                   .weights_file = "new.bin",
                                   .weights_out = &parts};
        MODELS_OK(odb_model_extract(model, &what, &bytes, &why));
        MODELS_OK(odb_file_write_parts(beside, parts.pieces.items, parts.pieces.n, &why));
        assert_int_equal(parts.size >= 3 * w->bytes, how);
        MODELS_OK(odb_model_open_bytes(&cut, bytes.data, bytes.len, NULL, elsewhere, "cut", &why));
        write_check_constant(&cut->graph->nodes[0], w);
        write_check_constant(&cut->graph->nodes[1].attrs.items[0].graphs[0]->nodes[0], w);
        write_check_constant(&cut->functions[0].graph->nodes[0], w);
        odb_model_free(cut);
        odb_buf_dispose(&bytes);
        odb_file_parts_dispose(&parts);
        models_remove(elsewhere);
        free(beside);
        free(in);
    }
    odb_model_free(model);
    odb_tensor_unref(w);
    models_remove(folder);
}

/* Adds to built bytes what the builder has no word for: a message of ModelProto.graph, which
 * parsers merge into the one that is there. */
static struct odb_model *write_merged(struct odb_builder *b, Onnx__GraphProto *more)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *model = NULL;
    Onnx__ModelProto extra = ONNX__MODEL_PROTO__INIT;
    extra.graph = more;
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    MODELS_OK(odb_model__pack(&extra.base, &bytes, &why));
    MODELS_OK(odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, "", "merged", &why));
    odb_buf_dispose(&bytes);
    return model;
}

static void test_write__annotations(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *scale = models_f32(0, NULL, (float[]){0.5f});
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_weight(b, "scale_of_a", scale);
    odb_build_weight(b, "scale_of_y", scale);
    odb_build_node(b, "Neg", "", "x", "a");
    odb_build_node(b, "Neg", "", "a", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(scale);
    Onnx__StringStringEntryProto one = ONNX__STRING_STRING_ENTRY_PROTO__INIT, two = one;
    Onnx__TensorAnnotation a = ONNX__TENSOR_ANNOTATION__INIT, y = a;
    one.key = two.key = (char *)(uintptr_t) "SCALE_TENSOR";
    one.value = (char *)(uintptr_t) "scale_of_a";
    two.value = (char *)(uintptr_t) "scale_of_y";
    a.tensor_name = (char *)(uintptr_t) "a";
    y.tensor_name = (char *)(uintptr_t) "y";
    a.n_quant_parameter_tensor_names = y.n_quant_parameter_tensor_names = 1;
    a.quant_parameter_tensor_names = (Onnx__StringStringEntryProto *[]){&one};
    y.quant_parameter_tensor_names = (Onnx__StringStringEntryProto *[]){&two};
    Onnx__GraphProto more = ONNX__GRAPH_PROTO__INIT;
    more.n_quantization_annotation = 2;
    more.quantization_annotation = (Onnx__TensorAnnotation *[]){&a, &y};
    struct odb_model *model = write_merged(b, &more);
    struct odb_port in = {.value = models_value(model, "x")};
    struct odb_port out = {.value = models_value(model, "a")};
    struct odb_model *cut = write_cut(
        model,
        &(struct odb_extract){.inputs = &in, .n_inputs = 1, .outputs = &out, .n_outputs = 1});
    const Onnx__GraphProto *graph = cut->priv->proto->graph;
    assert_int_equal(graph->n_quantization_annotation, 1);
    assert_string_equal(graph->quantization_annotation[0]->tensor_name, "a");
    assert_int_equal(graph->n_initializer, 1);
    assert_string_equal(graph->initializer[0]->name, "scale_of_a");
    odb_model_free(cut);
    odb_model_free(model);
}

/* Weights in typed fields go out as they came in, and beside the model as bytes. */
static void test_write__typed_fields(void **state)
{
    enum { N = 500 };
    static float values[N];
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(b, "Add", "", "x w", "y");
    odb_build_output(b, "y");
    Onnx__TensorProto w = ONNX__TENSOR_PROTO__INIT;
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    w.name = (char *)(uintptr_t) "w";
    w.has_data_type = true;
    w.data_type = ODB_F32;
    w.n_dims = 1;
    w.dims = (int64_t[]){N};
    w.n_float_data = N;
    w.float_data = values;
    Onnx__GraphProto more = ONNX__GRAPH_PROTO__INIT;
    more.n_initializer = 1;
    more.initializer = (Onnx__TensorProto *[]){&w};
    struct odb_model *model = write_merged(b, &more);
    size_t inside, beside;
    write_check_whole(model, ODB_WEIGHTS_INLINE, &inside);
    write_check_whole(model, ODB_WEIGHTS_BESIDE, &beside);
    assert_true(inside > 2000 && beside < 600);
    odb_model_free(model);
}

static void test_write__sparse_weights(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){3, 4});
    odb_build_node(b, "Add", "", "x w", "y");
    odb_build_output(b, "y");
    Onnx__TensorProto values = ONNX__TENSOR_PROTO__INIT, indices = values;
    values.name = (char *)(uintptr_t) "w";
    values.has_data_type = indices.has_data_type = true;
    values.data_type = ODB_F32;
    indices.data_type = ODB_I64;
    values.n_dims = indices.n_dims = 1;
    values.dims = indices.dims = (int64_t[]){2};
    values.n_float_data = indices.n_int64_data = 2;
    values.float_data = (float[]){5, 6};
    indices.int64_data = (int64_t[]){1, 11};
    Onnx__SparseTensorProto w = ONNX__SPARSE_TENSOR_PROTO__INIT;
    w.values = &values;
    w.indices = &indices;
    w.n_dims = 2;
    w.dims = (int64_t[]){3, 4};
    Onnx__GraphProto more = ONNX__GRAPH_PROTO__INIT;
    more.n_sparse_initializer = 1;
    more.sparse_initializer = (Onnx__SparseTensorProto *[]){&w};
    struct odb_model *model = write_merged(b, &more);
    size_t size;
    write_check_whole(model, ODB_WEIGHTS_INLINE, &size);
    write_check_whole(model, ODB_WEIGHTS_REFERENCE, &size);
    odb_model_free(model);
}

/* A checkpoint, one in a body, a function of that name that is one, and one that is not. */
static struct odb_model *write_checkpoints(void)
{
    struct odb_builder *b = odb_build_new("g", 17), *then = odb_build_new("then", 17);
    struct odb_builder *is = odb_build_new("is", 17), *none = odb_build_new("none", 17);
    odb_build_node(is, "Identity", "", "p", "q");
    odb_build_function(b, "own", "Debug", "p", "q", "", is);
    odb_build_node(none, "Neg", "", "p", "q");
    odb_build_function(b, "other", "Debug", "p", "q", "", none);
    odb_build_opset(b, "my", 1);
    odb_build_opset(b, "own", 1);
    odb_build_opset(b, "other", 1);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_node(b, "my::Debug", "", "x", "a");
    odb_build_attr_string(b, "name", "first");
    odb_build_node(b, "own::Debug", "", "a", "b");
    odb_build_node(b, "other::Debug", "", "b", "d");
    odb_build_node(then, "my::Debug", "", "d", "e");
    odb_build_attr_string(then, "name", "inside");
    odb_build_output_typed(then, "e", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "If", "", "c", "y");
    odb_build_attr_graph(b, "then_branch", then);
    struct odb_builder *otherwise = odb_build_new("else", 17);
    odb_build_node(otherwise, "Neg", "", "d", "f");
    odb_build_output_typed(otherwise, "f", ODB_F32, 1, (int64_t[]){2});
    odb_build_attr_graph(b, "else_branch", otherwise);
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){2});
    return models_take(b);
}

static void test_write__checkpoints(void **state)
{
    struct odb_model *model = write_checkpoints();
    const struct odb_graph *graph = model->graph;
    struct odb_extract what = {.plain_debug = true};
    size_t n;
    struct odb_port *in = write_feeds(model, &n), *out = write_outputs(model);
    what.inputs = in;
    what.n_inputs = n;
    what.outputs = out;
    what.n_outputs = 1;
    char *name = odb_node_checkpoint(&graph->nodes[0]);
    assert_string_equal(name, "first");
    free(name);
    assert_true(odb_node_is_debug(&graph->nodes[1]));
    assert_null(odb_node_checkpoint(&graph->nodes[1]));
    assert_false(odb_node_is_debug(&graph->nodes[2]));
    struct odb_model *cut = write_cut(model, &what);
    const struct odb_node *nodes = cut->graph->nodes;
    for (int i = 0; i < 2; i++) {
        assert_string_equal(nodes[i].op_type, "Identity");
        assert_string_equal(nodes[i].domain, "");
        assert_int_equal(nodes[i].attrs.n, 0);
    }
    assert_string_equal(nodes[2].op_type, "Debug");
    assert_non_null(nodes[2].function);
    const struct odb_attr *body = odb_attrs_find(&nodes[3].attrs, "then_branch");
    assert_string_equal(body->graphs[0]->nodes[0].op_type, "Identity");
    assert_int_equal(body->graphs[0]->nodes[0].attrs.n, 0);
    odb_model_free(cut);
    what.plain_debug = false; /* as it was */
    cut = write_cut(model, &what);
    assert_string_equal(cut->graph->nodes[0].op_type, "Debug");
    assert_string_equal(cut->graph->nodes[0].domain, "my");
    odb_model_free(cut);
    odb_model_free(model);
    free(in);
    free(out);
}

/* What an exporter leaves as ATen goes by the name of PyTorch's operator, and is written as it
 * was. */
static void test_write__aten(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "org.pytorch.aten", 1);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "org.pytorch.aten::ATen", "", "x", "y");
    odb_build_attr_string(b, "operator", "layer_norm");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){2});
    struct odb_model *model = models_take(b);
    assert_string_equal(model->graph->nodes[0].op_type, "layer_norm");
    assert_string_equal(model->graph->nodes[0].domain, "org.pytorch.aten");
    size_t n;
    struct odb_port *in = write_feeds(model, &n), *out = write_outputs(model);
    struct odb_extract what = {.inputs = in, .n_inputs = n, .outputs = out, .n_outputs = 1};
    struct odb_buf bytes = ODB_BUF_INIT;
    MODELS_OK(odb_model_extract(model, &what, &bytes, &why));
    assert_non_null(memmem(bytes.data, bytes.len, "ATen", 4));
    odb_buf_dispose(&bytes);
    odb_model_free(model);
    free(in);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write__a_border_may_be_a_weight),
        cmocka_unit_test(test_write__checkpoints),
        cmocka_unit_test(test_write__aten),
        cmocka_unit_test(test_write__generated_models),
        cmocka_unit_test(test_write__well_known_sizes),
        cmocka_unit_test(test_write__declares_types),
        cmocka_unit_test(test_write__replaced_output),
        cmocka_unit_test(test_write__value_info_between),
        cmocka_unit_test(test_write__weight_as_input),
        cmocka_unit_test(test_write__weight_as_output),
        cmocka_unit_test(test_write__remembers_where_nodes_come_from),
        cmocka_unit_test(test_write__ir_versions),
        cmocka_unit_test(test_write__refusals),
        cmocka_unit_test(test_write__weights_of_all_kinds),
        cmocka_unit_test(test_write__reference_without_a_file),
        cmocka_unit_test(test_write__weights_beside_are_aligned),
        cmocka_unit_test(test_write__functions_that_are_called),
        cmocka_unit_test(test_write__weights_of_nodes_outside),
        cmocka_unit_test(test_write__annotations),
        cmocka_unit_test(test_write__typed_fields),
        cmocka_unit_test(test_write__sparse_weights),
        cmocka_unit_test(test_write__shared_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
