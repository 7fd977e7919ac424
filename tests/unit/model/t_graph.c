/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <time.h>

#include "model/model_int.h"
#include "model/read/load.h"
#include "tests/help/onnx_make.h"

static struct odb_model *graph_open(struct make *m)
{
    size_t size;
    unsigned char *bytes = make_bytes(m, &size);
    struct odb_model *model = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    if (odb_model_open_bytes(&model, bytes, size, NULL, "", "m", &err) != ODB_OK)
        fail_msg("%s: %s", err.where, err.what);
    return model;
}

static void graph_refuses(struct make *m, const char *text)
{
    size_t size;
    unsigned char *bytes = make_bytes(m, &size);
    struct odb_model *model = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    char said[2048];
    assert_int_equal(odb_model_open_bytes(&model, bytes, size, NULL, "", "m", &err), ODB_E_MODEL);
    assert_null(model);
    assert_string_equal(odb_error_text(&err, said, sizeof said), text);
    make_free(m);
}

static int graph_index(const struct odb_graph *graph, const char *name)
{
    const struct odb_value *value = odb_graph_value(graph, name);
    assert_non_null(value);
    return value->index;
}

/* "c b a": names of nodes in order. */
static const char *graph_names(const struct odb_graph *graph, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t n = 0; n < graph->n_nodes; n++) {
        assert_int_equal(graph->nodes[n].index, n);
        snprintf(buf + strlen(buf), size - strlen(buf), "%s%s", n ? " " : "", graph->nodes[n].name);
    }
    return buf;
}

/* x -> a -> b -> d, a -> c -> d; w is a weight of c */
static struct make graph_diamond(void)
{
    struct make m = make_new();
    make_input(&m, m.graph, "x");
    make_init(&m, m.graph, make_weight(&m, "w", 2));
    make_node(&m, m.graph, "Relu", "a", "x", "va");
    make_node(&m, m.graph, "Neg", "b", "va", "vb");
    make_node(&m, m.graph, "Add", "c", "va w", "vc");
    make_node(&m, m.graph, "Add", "d", "vb vc", "vd");
    make_output(&m, m.graph, "vd");
    return m;
}

/* --- structure -------------------------------------------------------------------------------- */

static void test_graph__values_and_nodes(void **state)
{
    struct make m = graph_diamond();
    make_append(&m, &m.graph->n_value_info, &m.graph->value_info,
                make_info(&m, "vb", 2, (int64_t[]){-1, 3}));
    struct odb_model *model = graph_open(&m);
    const struct odb_graph *g = model->graph;
    assert_false(g->was_unsorted);
    assert_string_equal(g->name, "g");
    assert_null(g->parent);
    assert_ptr_equal(g->model, model);
    assert_int_equal(g->n_nodes, 4);
    assert_int_equal(g->n_values, 6);
    const struct odb_value *x = odb_graph_value(g, "x"), *w = odb_graph_value(g, "w");
    const struct odb_value *va = odb_graph_value(g, "va"), *vb = odb_graph_value(g, "vb");
    assert_true(x->is_input && !x->init && x->producer == ODB_NO_NODE);
    assert_true(!w->is_input && w->init && w->producer == ODB_NO_NODE);
    assert_int_equal(va->producer, 0);
    assert_int_equal(va->n_consumers, 2);
    assert_int_equal(va->consumers[0], 1);
    assert_int_equal(va->consumers[1], 2);
    assert_true(odb_graph_value(g, "vd")->is_output);
    assert_false(va->type.known);
    assert_true(vb->type.known);
    assert_int_equal(vb->type.dtype, ODB_F32);
    assert_int_equal(vb->type.rank, 2);
    assert_int_equal(vb->type.dims[0].value, -1);
    assert_string_equal(vb->type.dims[0].param, "N");
    assert_int_equal(vb->type.dims[1].value, 3);
    assert_null(vb->type.dims[1].param);
    assert_string_equal(vb->type.text, "float[N, 3]");
    assert_string_equal(vb->type.shown, "float[N, 3]");
    assert_int_equal(g->nodes[2].n_in, 2);
    assert_int_equal(g->nodes[2].in[1], w->index);
    assert_int_equal(g->nodes[2].opset, 17);
    assert_null(g->nodes[2].function);
    assert_null(odb_graph_value(g, "nobody"));
    /* messages stand beside our indices */
    assert_string_equal(model->priv->nodes[3]->name, "d");
    assert_string_equal(model->priv->inits[w->index]->name, "w");
    assert_null(model->priv->inits[x->index]);
    assert_string_equal(model->priv->infos[vb->index]->name, "vb");
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__scalars_and_any_rank_are_told_apart(void **state)
{
    struct make m = graph_diamond();
    Onnx__ValueInfoProto *any = make_info(&m, "va", 0, NULL);
    any->type->tensor_type->shape = NULL;
    make_append(&m, &m.graph->n_value_info, &m.graph->value_info, any);
    make_append(&m, &m.graph->n_value_info, &m.graph->value_info, make_info(&m, "vb", 0, NULL));
    struct odb_model *model = graph_open(&m);
    const struct odb_type *va = &odb_graph_value(model->graph, "va")->type;
    const struct odb_type *vb = &odb_graph_value(model->graph, "vb")->type;
    assert_int_equal(va->rank, -1);
    assert_string_equal(va->text, "float[]"); /* as ONNX's parser has it */
    assert_string_equal(va->shown, "float[...]");
    assert_int_equal(vb->rank, 0);
    assert_string_equal(vb->text, "float");
    assert_string_equal(vb->shown, "float[]");
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__odd_names(void **state)
{
    struct make m = make_new();
    make_input(&m, m.graph, "x");
    make_init(&m, m.graph, make_weight(&m, "", 2));  /* nobody can refer to it */
    make_init(&m, m.graph, make_weight(&m, "x", 2)); /* an input with a default */
    make_init(&m, m.graph, make_weight(&m, "w", 2));
    make_init(&m, m.graph, make_weight(&m, "w", 3)); /* the last counts */
    make_node(&m, m.graph, "Clip", "twin", "x - w", "y -");
    make_node(&m, m.graph, "Relu", "twin", "y", "- z");
    Onnx__NodeProto *node = make_node(&m, m.graph, "Relu", "", "y -", "u");
    node->domain = (char *)"ai.onnx";
    make_output(&m, m.graph, "u");
    make_output(&m, m.graph, "u");
    struct odb_model *model = graph_open(&m);
    const struct odb_graph *g = model->graph;
    char buf[64];
    assert_int_equal(g->nodes[0].n_in, 3);
    assert_int_equal(g->nodes[0].in[1], ODB_NO_VALUE);
    assert_int_equal(g->nodes[0].out[1], ODB_NO_VALUE);
    assert_int_equal(g->nodes[1].out[0], ODB_NO_VALUE);
    assert_int_equal(odb_graph_value(g, "z")->slot, 1);
    assert_int_equal(g->nodes[2].n_in, 2);
    assert_string_equal(g->nodes[2].domain, "");
    assert_int_equal(g->nodes[2].opset, 17);
    assert_int_equal(odb_graph_value(g, "w")->init->count, 3);
    assert_true(odb_graph_value(g, "x")->is_input && odb_graph_value(g, "x")->init);
    assert_false(g->nodes[0].name_is_unique || g->nodes[1].name_is_unique);
    assert_string_equal(odb_node_label(&g->nodes[1], buf, sizeof buf), "#1");
    assert_string_equal(odb_node_label(&g->nodes[2], buf, sizeof buf), "#2");
    assert_string_equal(odb_value_key(g, odb_graph_value(g, "z"), buf, sizeof buf), "z");
    assert_int_equal(g->n_outputs, 2);
    assert_int_equal(odb_graph_feeds(g, NULL), 0);
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__refuses_what_makes_no_sense(void **state)
{
    struct make m = graph_diamond();
    make_node(&m, m.graph, "Relu", "e", "nobody", "ve");
    graph_refuses(&m, "m: node e (Relu): nothing makes its input 'nobody': no node, graph input or "
                      "initializer is called so");
    m = graph_diamond();
    make_node(&m, m.graph, "Relu", "", "x", "vb");
    graph_refuses(&m, "m: value 'vb' is made twice: by node b (Neg) and by node #4 (Relu)");
    m = graph_diamond();
    make_node(&m, m.graph, "Relu", "e", "x", "x");
    graph_refuses(&m, "m: node e (Relu) makes 'x', which is also a graph input");
    m = graph_diamond();
    make_node(&m, m.graph, "Relu", "e", "x", "w");
    graph_refuses(&m, "m: node e (Relu) makes 'w', which is also an initializer");
    m = graph_diamond();
    make_input(&m, m.graph, "x");
    graph_refuses(&m, "m: two graph inputs are called 'x'");
    m = graph_diamond();
    make_input(&m, m.graph, "");
    graph_refuses(&m, "m: graph input 1 has no name");
    m = graph_diamond();
    make_output(&m, m.graph, "nobody");
    graph_refuses(&m, "m: nothing makes graph output 'nobody'");
    m = graph_diamond();
    make_output(&m, m.graph, "");
    graph_refuses(&m, "m: graph output 1 has no name");
    m = graph_diamond();
    make_node(&m, m.graph, "", "e", "x", "ve");
    graph_refuses(&m, "m: node e (): names no operator (op_type)");
    m = graph_diamond();
    make_node(&m, m.graph, "Relu", "line\nbreak\033[31m", "nobody", "ve");
    graph_refuses(&m, "m: node line break [31m (Relu): nothing makes its input 'nobody': no node, "
                      "graph input or initializer is called so");
}

/* --- order ------------------------------------------------------------------------------------ */

static void test_graph__sorts_by_place_in_the_file(void **state)
{
    struct make m = make_new();
    char names[64];
    make_input(&m, m.graph, "x");
    make_node(&m, m.graph, "Add", "d", "vb vc", "vd");
    make_node(&m, m.graph, "Relu", "z", "x", "vz");
    make_node(&m, m.graph, "Neg", "c", "va", "vc");
    make_node(&m, m.graph, "Neg", "b", "va", "vb");
    make_node(&m, m.graph, "Relu", "a", "x", "va");
    make_output(&m, m.graph, "vd");
    struct odb_model *model = graph_open(&m);
    const struct odb_graph *g = model->graph;
    assert_true(g->was_unsorted);
    assert_string_equal(graph_names(g, names, sizeof names), "z a c b d");
    assert_int_equal(g->nodes[1].file_index, 4);
    assert_int_equal(odb_graph_value(g, "va")->producer, 1);
    assert_int_equal(odb_graph_value(g, "va")->consumers[0], 2);
    assert_int_equal(odb_graph_value(g, "va")->consumers[1], 3);
    assert_string_equal(model->priv->nodes[4]->name, "d");
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__keeps_a_sorted_file(void **state)
{
    struct make m = make_new();
    char names[64];
    make_input(&m, m.graph, "x");
    make_node(&m, m.graph, "Relu", "a", "x", "va");
    make_node(&m, m.graph, "Relu", "b", "va", "vb");
    make_node(&m, m.graph, "Relu", "c", "x", "vc");
    make_node(&m, m.graph, "Relu", "d", "va", "vd");
    struct odb_model *model = graph_open(&m);
    assert_false(model->graph->was_unsorted);
    assert_string_equal(graph_names(model->graph, names, sizeof names), "a b c d");
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__names_a_cycle(void **state)
{
    struct make m = graph_diamond();
    make_node(&m, m.graph, "Add", "first", "vd v3", "v1"); /* behind it, not on it, until v3 */
    make_node(&m, m.graph, "Relu", "second", "v1", "v2");
    make_node(&m, m.graph, "Relu", "third", "v2", "v3");
    make_node(&m, m.graph, "Relu", "after", "v3", "v4");
    graph_refuses(&m, "m: node first (Add) is on a cycle: its input 'v3' depends on its own "
                      "output");
    m = graph_diamond();
    make_node(&m, m.graph, "Add", "", "x self", "self");
    graph_refuses(&m, "m: node #4 (Add) is on a cycle: its input 'self' depends on its own output");
}

/* A chain written backwards, with a value that all use. */
static void test_graph__sorts_fifty_thousand_nodes(void **state)
{
    enum { N = 50000 };
    struct make m = make_new();
    make_input(&m, m.graph, "x");
    m.graph->n_node = N;
    m.graph->node = arena_new_n(m.arena, Onnx__NodeProto *, N);
    for (int i = 0; i < N; i++) {
        char in[40], out[20];
        snprintf(in, sizeof in, i == N - 1 ? "x x" : "x v%d", i + 1);
        snprintf(out, sizeof out, "v%d", i);
        m.graph->node[i] = make_node(&m, NULL, "Add", out, in, out);
    }
    make_output(&m, m.graph, "v0");
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    struct odb_model *model = graph_open(&m);
    clock_gettime(CLOCK_MONOTONIC, &b);
    const struct odb_graph *g = model->graph;
    assert_true(g->was_unsorted);
    assert_string_equal(g->nodes[0].name, "v49999");
    assert_string_equal(g->nodes[N - 1].name, "v0");
    assert_int_equal(odb_graph_value(g, "x")->n_consumers, N);
    bool *marks = odb_new_n(bool, N);
    int last = graph_index(g, "v25000");
    odb_graph_ancestors(g, &last, 1, NULL, marks);
    assert_true(marks[24999] && !marks[25000]);
    free(marks);
    odb_model_free(model);
    make_free(&m);
    assert_true(b.tv_sec - a.tv_sec < 5); /* a fraction of a second; minutes were it quadratic */
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* outer: x -> If(then: { inner If(then: { x + va }) }) */
static void test_graph__bodies_capture_values(void **state)
{
    struct make m = make_new();
    make_input(&m, m.graph, "x");
    make_input(&m, m.graph, "cond");
    Onnx__NodeProto *outer = make_node(&m, m.graph, "If", "outer", "cond", "y");
    make_node(&m, m.graph, "Relu", "late", "x", "va"); /* the body needs it: must come first */
    Onnx__GraphProto *middle = make_graph(&m, "middle"), *deep = make_graph(&m, "deep");
    make_init(&m, middle, make_weight(&m, "mw", 2));
    Onnx__NodeProto *inner = make_node(&m, middle, "If", "inner", "cond", "my");
    make_node(&m, deep, "Add", "sum", "x va", "dy");
    make_node(&m, deep, "Add", "sum2", "dy mw", "dz");
    make_output(&m, deep, "dz");
    make_attr_graph(&m, inner, "then_branch", deep);
    make_output(&m, middle, "my");
    make_attr_graph(&m, outer, "then_branch", middle);
    Onnx__GraphProto *other = make_graph(&m, "other");
    make_output(&m, other, "va"); /* straight from outside */
    make_attr_graph(&m, outer, "else_branch", other);
    make_output(&m, m.graph, "y");
    struct odb_model *model = graph_open(&m);
    const struct odb_graph *g = model->graph;
    char names[64];
    assert_true(g->was_unsorted);
    assert_string_equal(graph_names(g, names, sizeof names), "late outer");
    const struct odb_node *node = &g->nodes[1];
    assert_int_equal(node->n_captured, 3);
    assert_int_equal(node->captured[0], graph_index(g, "x"));
    assert_int_equal(node->captured[1], graph_index(g, "cond"));
    assert_int_equal(node->captured[2], graph_index(g, "va"));
    assert_int_equal(odb_node_n_reads(node), (size_t)node->n_in + 3);
    assert_int_equal(odb_node_reads(node, 0), node->in[0]);
    assert_int_equal(odb_node_reads(node, (size_t)node->n_in + 2), graph_index(g, "va"));
    assert_int_equal(odb_graph_value(g, "va")->n_consumers, 1);
    assert_int_equal(odb_graph_value(g, "cond")->n_consumers, 1); /* input and capture: once */
    assert_null(odb_graph_value(g, "mw"));

    const struct odb_graph *mid = node->attrs.items[0].graphs[0];
    assert_ptr_equal(mid->parent, g);
    assert_true(odb_graph_value(mid, "va")->is_outer && odb_graph_value(mid, "x")->is_outer);
    assert_false(odb_graph_value(mid, "mw")->is_outer);
    assert_string_equal(odb_graph_value(mid, "x")->type.text, odb_graph_value(g, "x")->type.text);
    assert_int_equal(mid->nodes[0].n_captured, 3); /* x, va, mw */
    const struct odb_graph *dp = mid->nodes[0].attrs.items[0].graphs[0];
    assert_ptr_equal(dp->parent, mid);
    assert_true(odb_graph_value(dp, "mw")->is_outer);
    assert_null(odb_graph_value(dp, "mw")->init);
    assert_int_equal(dp->nodes[0].n_captured, 0);
    const struct odb_graph *el = node->attrs.items[1].graphs[0];
    assert_true(odb_graph_value(el, "va")->is_outer && odb_graph_value(el, "va")->is_output);

    bool marks[2];
    odb_graph_ancestors(g, &g->outputs[0], 1, NULL, marks);
    assert_true(marks[0] && marks[1]);
    int feeds[8];
    assert_int_equal(odb_graph_segment_inputs(g, (bool[]){false, true}, feeds), 3);
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__body_errors_say_where(void **state)
{
    struct make m = make_new();
    make_input(&m, m.graph, "c");
    Onnx__GraphProto *body = make_graph(&m, "b");
    make_node(&m, body, "Relu", "r", "nobody", "y");
    make_attr_graph(&m, make_node(&m, m.graph, "If", "n", "c", "z"), "then_branch", body);
    graph_refuses(&m, "m: node n (If): attribute 'then_branch': node r (Relu): nothing makes its "
                      "input 'nobody': no node, graph input or initializer is called so");
    m = make_new(); /* a body that needs what its own node makes */
    make_input(&m, m.graph, "c");
    body = make_graph(&m, "b");
    make_node(&m, body, "Relu", "r", "z", "y");
    make_attr_graph(&m, make_node(&m, m.graph, "If", "n", "c", "z"), "then_branch", body);
    graph_refuses(&m, "m: node n (If) is on a cycle: its input 'z' depends on its own output");
    m = make_new();
    make_attr(&m, make_node(&m, m.graph, "If", "n", "", "z"), "then_branch", 5);
    graph_refuses(&m, "m: node n (If): attribute 'then_branch': its type is GRAPH, and it holds "
                      "none");
    m = make_new();
    make_attr(&m, make_node(&m, m.graph, "If", "n", "", "z"), "a", 15);
    graph_refuses(&m, "m: node n (If): attribute 'a': its type 15 is unknown");
}

/* --- functions -------------------------------------------------------------------------------- */

static Onnx__FunctionProto *graph_function(struct make *m, const char *name, const char *overload)
{
    Onnx__FunctionProto *f = MAKE(m, Onnx__FunctionProto, onnx__function_proto__init);
    f->domain = (char *)"local";
    f->name = make_text(m, name);
    f->overload = make_text(m, overload);
    make_words(m, &f->n_input, &f->input, "a b");
    make_words(m, &f->n_output, &f->output, "c");
    make_append(m, &f->n_opset_import, &f->opset_import, make_opset(m, "", 13));
    make_append(m, &m->model->n_functions, &m->model->functions, f);
    return f;
}

static Onnx__NodeProto *graph_call(struct make *m, const char *name, const char *overload,
                                   const char *in, const char *out)
{
    Onnx__NodeProto *n = make_node(m, NULL, name, "", in, out);
    n->domain = (char *)"local";
    n->overload = make_text(m, overload);
    return n;
}

static void test_graph__functions(void **state)
{
    struct make m = make_new();
    Onnx__FunctionProto *f = graph_function(&m, "F", ""), *g = graph_function(&m, "F", "other");
    make_append(&m, &f->n_node, &f->node, graph_call(&m, "F", "other", "a b", "c"));
    Onnx__NodeProto *add = make_node(&m, NULL, "Add", "add", "a b", "c");
    make_attr(&m, add, "alpha", 1)->ref_attr_name = (char *)"scale";
    make_append(&m, &g->n_node, &g->node, add);
    make_words(&m, &g->n_attribute, &g->attribute, "scale");
    Onnx__AttributeProto *axis = make_attr(&m, NULL, "axis", 2);
    axis->has_i = true;
    axis->i = -1;
    make_append(&m, &g->n_attribute_proto, &g->attribute_proto, axis);
    make_append(&m, &g->n_value_info, &g->value_info, make_info(&m, "a", 1, (int64_t[]){7}));
    make_input(&m, m.graph, "x");
    make_append(&m, &m.graph->n_node, &m.graph->node, graph_call(&m, "F", "", "x x", "y"));
    make_append(&m, &m.graph->n_node, &m.graph->node, graph_call(&m, "F", "none", "x x", "z"));
    struct odb_model *model = graph_open(&m);
    assert_int_equal(model->n_functions, 2);
    const struct odb_function *first = &model->functions[0], *second = &model->functions[1];
    assert_ptr_equal(model->graph->nodes[0].function, first);
    assert_null(model->graph->nodes[1].function);
    assert_int_equal(model->graph->nodes[0].opset, 0);
    assert_ptr_equal(first->graph->nodes[0].function, second);
    assert_string_equal(second->inputs[1], "b");
    assert_int_equal(second->graph->n_inputs, 2);
    assert_int_equal(second->graph->nodes[0].opset, 13);
    assert_string_equal(second->graph->nodes[0].attrs.items[0].ref_name, "scale");
    assert_int_equal(odb_graph_value(second->graph, "a")->type.dims[0].value, 7);
    assert_int_equal(second->defaults.n, 1);
    assert_int_equal(second->defaults.items[0].i, -1);
    assert_string_equal(second->attr_names[0], "scale");
    assert_null(second->graph->parent);
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__functions_that_never_end(void **state)
{
    struct make m = make_new();
    Onnx__FunctionProto *f = graph_function(&m, "F", ""), *g = graph_function(&m, "G", "");
    make_append(&m, &f->n_node, &f->node, graph_call(&m, "G", "", "a b", "c"));
    make_append(&m, &g->n_node, &g->node, graph_call(&m, "F", "", "a b", "c"));
    graph_refuses(&m, "m: function F calls itself");
    m = make_new();
    f = graph_function(&m, "F", "");
    Onnx__GraphProto *body = make_graph(&m, "b");
    make_append(&m, &body->n_node, &body->node, graph_call(&m, "F", "", "a b", "d"));
    make_output(&m, body, "d");
    Onnx__NodeProto *node = make_node(&m, NULL, "If", "", "a", "c");
    make_attr_graph(&m, node, "then_branch", body);
    make_append(&m, &f->n_node, &f->node, node);
    graph_refuses(&m, "m: function F calls itself");
    m = make_new();
    graph_function(&m, "F", "")->n_output = 0;
    graph_function(&m, "F", "")->n_output = 0;
    graph_refuses(&m, "m: function F is defined twice");
    m = make_new();
    for (int i = 0; i < 200; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        f = graph_function(&m, name, "");
        make_append(&m, &f->n_node, &f->node, graph_call(&m, next, "", "a b", "c"));
    }
    graph_refuses(&m, "m: functions call each other more than 100 deep");
}

/* --- attributes ------------------------------------------------------------------------------- */

static void test_graph__attributes_of_every_type(void **state)
{
    struct make m = make_new();
    Onnx__NodeProto *n = make_node(&m, m.graph, "Any", "n", "", "y");
    Onnx__AttributeProto *a = make_attr(&m, n, "f", ODB_ATTR_FLOAT);
    a->has_f = true;
    a->f = 0.5f;
    a = make_attr(&m, n, "i", 0); /* IR 1: no type */
    a->has_i = true;
    a->i = -7;
    a = make_attr(&m, n, "s", ODB_ATTR_STRING);
    a->has_s = true;
    a->s = (ProtobufCBinaryData){3, (uint8_t *)"SAM"};
    a = make_attr(&m, n, "floats", ODB_ATTR_FLOATS);
    a->n_floats = 2;
    a->floats = (float[]){1, 2};
    a = make_attr(&m, n, "ints", ODB_ATTR_INTS);
    a->n_ints = 3;
    a->ints = (int64_t[]){1, -2, INT64_MIN};
    a = make_attr(&m, n, "strings", ODB_ATTR_STRINGS);
    a->n_strings = 2;
    a->strings = (ProtobufCBinaryData[]){{2, (uint8_t *)"ab"}, {0, NULL}};
    make_attr(&m, n, "t", ODB_ATTR_TENSOR)->t = make_weight(&m, "", 4);
    a = make_attr(&m, n, "ts", ODB_ATTR_TENSORS);
    make_append(&m, &a->n_tensors, &a->tensors, make_weight(&m, "", 1));
    make_append(&m, &a->n_tensors, &a->tensors, make_weight(&m, "", 2));
    a = make_attr(&m, n, "graphs", ODB_ATTR_GRAPHS);
    make_append(&m, &a->n_graphs, &a->graphs, make_graph(&m, "g1"));
    make_append(&m, &a->n_graphs, &a->graphs, make_graph(&m, "g2"));
    make_attr(&m, n, "tp", ODB_ATTR_TYPE_PROTO)->tp = make_info(&m, "", 1, (int64_t[]){2})->type;
    make_attr(&m, n, "empty", ODB_ATTR_INTS);
    struct odb_model *model = graph_open(&m);
    const struct odb_attrs *attrs = &model->graph->nodes[0].attrs;
    assert_int_equal(attrs->n, 11);
    assert_float_equal(odb_attrs_find(attrs, "f")->f, 0.5f, 0);
    assert_int_equal(odb_attrs_find(attrs, "i")->type, ODB_ATTR_INT);
    assert_int_equal(odb_attrs_find(attrs, "i")->i, -7);
    assert_int_equal(odb_attrs_find(attrs, "s")->s.len, 3);
    assert_string_equal(odb_attrs_find(attrs, "s")->s.data, "SAM");
    assert_float_equal(odb_attrs_find(attrs, "floats")->floats[1], 2, 0);
    assert_true(odb_attrs_find(attrs, "ints")->ints[2] == INT64_MIN);
    assert_int_equal(odb_attrs_find(attrs, "strings")->n, 2);
    assert_string_equal(odb_attrs_find(attrs, "strings")->strings[0].data, "ab");
    assert_string_equal(odb_attrs_find(attrs, "strings")->strings[1].data, "");
    assert_int_equal(odb_attrs_find(attrs, "t")->n, 1);
    assert_int_equal(odb_attrs_find(attrs, "t")->tensors[0]->count, 4);
    assert_int_equal(odb_attrs_find(attrs, "ts")->tensors[1]->count, 2);
    assert_int_equal(odb_attrs_find(attrs, "graphs")->n, 2);
    assert_string_equal(odb_attrs_find(attrs, "graphs")->graphs[1]->name, "g2");
    assert_string_equal(odb_attrs_find(attrs, "tp")->text, "float[2]");
    assert_int_equal(odb_attrs_find(attrs, "empty")->n, 0);
    odb_model_free(model);
    make_free(&m);
}

static Onnx__TypeProto *graph_type(struct make *m, int kind)
{
    Onnx__TypeProto *type = MAKE(m, Onnx__TypeProto, onnx__type_proto__init);
    type->value_case = kind;
    return type;
}

static void test_graph__declared_types(void **state)
{
    struct make m = make_new();
    struct odb_model *model;
    make_input(&m, m.graph, "bare");
    m.graph->input[0]->type->tensor_type->shape = NULL;
    make_input(&m, m.graph, "seq");
    Onnx__TypeProto *inner = m.graph->input[1]->type;
    Onnx__TypeProto *seq = graph_type(&m, ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE);
    seq->sequence_type = MAKE(&m, Onnx__TypeProto__Sequence, onnx__type_proto__sequence__init);
    seq->sequence_type->elem_type = inner;
    Onnx__TypeProto *opt = graph_type(&m, ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE);
    opt->optional_type = MAKE(&m, Onnx__TypeProto__Optional, onnx__type_proto__optional__init);
    opt->optional_type->elem_type = seq;
    m.graph->input[1]->type = opt;
    make_append(&m, &m.graph->n_input, &m.graph->input,
                make_info(&m, "wide", 17, (int64_t[17]){1}));
    make_append(&m, &m.graph->n_input, &m.graph->input, make_info(&m, "scalar", 0, NULL));
    make_append(&m, &m.graph->n_input, &m.graph->input, make_info(&m, "none", -1, NULL));
    Onnx__ValueInfoProto *negative = make_info(&m, "negative", 1, (int64_t[]){5});
    negative->type->tensor_type->shape->dim[0]->dim_value = -3;
    make_append(&m, &m.graph->n_input, &m.graph->input, negative);
    model = graph_open(&m);
    const struct odb_type *t = &odb_graph_value(model->graph, "bare")->type;
    assert_true(t->known && t->rank == -1 && t->dtype == ODB_F32);
    t = &odb_graph_value(model->graph, "seq")->type;
    assert_true(t->known && t->kind == ODB_OPTIONAL && t->dtype == ODB_F32 && t->rank == 1);
    assert_string_equal(t->text, "optional(seq(float[N]))");
    t = &odb_graph_value(model->graph, "wide")->type;
    assert_true(t->known && t->rank == -1); /* more than a tensor can have */
    t = &odb_graph_value(model->graph, "scalar")->type;
    assert_true(t->known && t->rank == 0);
    assert_false(odb_graph_value(model->graph, "none")->type.known);
    t = &odb_graph_value(model->graph, "negative")->type;
    assert_int_equal(t->dims[0].value, -1);
    odb_model_free(model);
    make_free(&m);
}

/* --- questions -------------------------------------------------------------------------------- */

static void graph_finds(const struct odb_graph *g, const char *text, int expected)
{
    int index = -1;
    struct odb_error err = ODB_ERROR_INIT;
    if (odb_graph_find_node(g, text, &index, &err) != ODB_OK)
        fail_msg("%s: %s", text, err.what);
    assert_int_equal(index, expected);
}

static void graph_misses(const struct odb_graph *g, const char *text, const char *says)
{
    int index;
    struct odb_error err = ODB_ERROR_INIT;
    char said[2048];
    assert_int_equal(odb_graph_find_node(g, text, &index, &err), ODB_E_USAGE);
    assert_string_equal(odb_error_text(&err, said, sizeof said), says);
}

static void test_graph__finds_nodes(void **state)
{
    struct make m = graph_diamond();
    make_node(&m, m.graph, "Relu", "twin", "x", "t1");
    make_node(&m, m.graph, "Neg", "twin", "x", "t2");
    make_node(&m, m.graph, "Neg", "conv_layer", "x", "t3");
    struct odb_model *model = graph_open(&m);
    const struct odb_graph *g = model->graph;
    graph_finds(g, "c", 2);
    graph_finds(g, "#3", 3);
    graph_finds(g, "vc", 2);
    graph_finds(g, "t2", 5);
    graph_misses(g, "twin",
                 "2 nodes are called 'twin'; name one by its index: #4 (Relu), #5 "
                 "(Neg)");
    graph_misses(g, "#7", "there is no node #7: the last is #6");
    graph_misses(g, "#99999999999999999999999",
                 "there is no node #99999999999999999999999: the "
                 "last is #6");
    graph_misses(g, "x", "'x' is a graph input: no node makes it");
    graph_misses(g, "w", "'w' is an initializer: no node makes it");
    graph_misses(g, "conv_leyer",
                 "no node and no value that a node makes is called 'conv_leyer'; "
                 "similar: 'conv_layer'");
    graph_misses(g, "LAYER",
                 "no node and no value that a node makes is called 'LAYER'; similar: "
                 "'conv_layer'");
    graph_misses(g, "zzzzz", "no node and no value that a node makes is called 'zzzzz'");
    graph_misses(g, "#",
                 "no node and no value that a node makes is called '#'; similar: 'a', 'b', "
                 "'c', 'd'");
    odb_model_free(model);
    make_free(&m);
}

static void test_graph__walks(void **state)
{
    struct make m = graph_diamond();
    make_node(&m, m.graph, "Relu", "apart", "x", "ve");
    struct odb_model *model = graph_open(&m);
    const struct odb_graph *g = model->graph;
    bool marks[5] = {0}, stop[16] = {0};
    int list[16], vd = graph_index(g, "vd"), pair[2] = {graph_index(g, "vb"), ODB_NO_VALUE};
    assert_int_equal(odb_graph_feeds(g, list), 1);
    assert_int_equal(list[0], graph_index(g, "x"));
    odb_graph_ancestors(g, &vd, 1, NULL, marks);
    assert_memory_equal(marks, ((bool[]){1, 1, 1, 1, 0}), sizeof marks);
    odb_graph_ancestors(g, pair, 2, NULL, marks);
    assert_memory_equal(marks, ((bool[]){1, 1, 0, 0, 0}), sizeof marks);
    stop[graph_index(g, "va")] = true;
    odb_graph_ancestors(g, &vd, 1, stop, marks);
    assert_memory_equal(marks, ((bool[]){0, 1, 1, 1, 0}), sizeof marks);
    assert_int_equal(odb_graph_segment_inputs(g, marks, list), 1);
    assert_int_equal(list[0], graph_index(g, "va"));
    assert_int_equal(odb_graph_segment_inputs(g, (bool[]){0, 0, 0, 1, 1}, list), 3);
    assert_int_equal(list[0], graph_index(g, "x"));
    assert_int_equal(list[1], graph_index(g, "vb"));
    assert_int_equal(list[2], graph_index(g, "vc"));
    odb_model_free(model);
    make_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph__values_and_nodes),
        cmocka_unit_test(test_graph__scalars_and_any_rank_are_told_apart),
        cmocka_unit_test(test_graph__odd_names),
        cmocka_unit_test(test_graph__refuses_what_makes_no_sense),
        cmocka_unit_test(test_graph__sorts_by_place_in_the_file),
        cmocka_unit_test(test_graph__keeps_a_sorted_file),
        cmocka_unit_test(test_graph__names_a_cycle),
        cmocka_unit_test(test_graph__sorts_fifty_thousand_nodes),
        cmocka_unit_test(test_graph__bodies_capture_values),
        cmocka_unit_test(test_graph__body_errors_say_where),
        cmocka_unit_test(test_graph__functions),
        cmocka_unit_test(test_graph__functions_that_never_end),
        cmocka_unit_test(test_graph__attributes_of_every_type),
        cmocka_unit_test(test_graph__declared_types),
        cmocka_unit_test(test_graph__finds_nodes),
        cmocka_unit_test(test_graph__walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
