/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inputs/inputs.h"
#include "tests/help/models.h"

#include <math.h>

#include "analysis/lint.h"
#include "model/read/load.h"

/* A sound model, which each case spoils. */
static struct odb_builder *lint_sound(void)
{
    struct odb_builder *b = odb_build_new("g", 13);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){2});
    return b;
}

/* What is found, as "code place: what" lines. */
static char *lint_text(struct odb_builder *b, bool run)
{
    struct odb_model *model = models_take(b);
    struct odb_lint lint = {0};
    struct odb_shapes shapes;
    struct odb_feeds *feeds = NULL;
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    struct odb_buf out = ODB_BUF_INIT;
    if (run) {
        MODELS_OK(odb_feeds_make(&feeds, model, &options, &why));
        MODELS_OK(odb_shapes_measure(&shapes, model, feeds, NULL, NULL, NULL, &why));
    } else {
        odb_shapes_declared(&shapes, model);
    }
    odb_lint_model(&lint, model, &shapes);
    if (run)
        odb_lint_run(&lint, model, &shapes);
    for (size_t i = 0; i < lint.items.n; i++)
        odb_buf_printf(&out, "%s %s: %s\n", odb_lint_name(lint.items.items[i].kind),
                       lint.items.items[i].place, lint.items.items[i].what);
    odb_lint_dispose(&lint);
    odb_shapes_dispose(&shapes);
    odb_feeds_free(feeds);
    odb_model_free(model);
    return odb_buf_take(&out);
}

static void lint_check(struct odb_builder *b, bool run, const char *expected)
{
    char *text = lint_text(b, run);
    assert_string_equal(text ? text : "", expected);
    free(text);
}

static void test_lint__sound(void **state)
{
    struct odb_builder *b = lint_sound();
    odb_build_node(b, "Relu", "r", "x", "y");
    lint_check(b, false, "");
    b = lint_sound();
    odb_build_node(b, "Relu", "r", "x", "y");
    lint_check(b, true, "");
}

static void test_lint__operators(void **state)
{
    struct odb_builder *b = lint_sound();
    odb_build_node(b, "Rleu", "r", "x", "y");
    lint_check(b, false, "unknown-operator #0 r (Rleu): there is no operator Rleu in ai.onnx\n");
    b = lint_sound();
    odb_build_node(b, "Gelu", "r", "x", "y");
    lint_check(b, false,
               "unknown-operator #0 r (Gelu): ai.onnx::Gelu is there from opset 20 on, and 13 is "
               "imported\n");
    b = lint_sound();
    odb_build_node(b, "mine::Odd", "r", "x", "y");
    lint_check(b, false, "opset-import #0 r (mine::Odd): its domain mine is not imported\n");
    b = lint_sound();
    odb_build_opset(b, "mine", 1);
    odb_build_node(b, "mine::Odd", "r", "x", "y");
    lint_check(b, false,
               "no-kernel #0 r (mine::Odd): mine::Odd is an operator that the reference does not "
               "know\n");
    b = lint_sound();
    odb_build_node(b, "Scatter", "r", "x x x", "y");
    char *text = lint_text(b, false);
    assert_non_null(strstr(text, "deprecated #0 r (Scatter): Scatter is deprecated from opset 11 "
                                 "on; use ScatterElements\n"));
    free(text);
}

static void test_lint__nodes(void **state)
{
    struct odb_builder *b = lint_sound();
    odb_build_node(b, "Add", "r", "x", "y");
    lint_check(b, false, "arity #0 r (Add): it needs 2 inputs, and has 1\n");
    b = lint_sound();
    odb_build_node(b, "Relu", "r", "x x", "y");
    lint_check(b, false, "arity #0 r (Relu): it takes 1 input at most, and has 2\n");
    b = lint_sound();
    odb_build_node(b, "Add", "r", "- x", "y");
    lint_check(b, false, "arity #0 r (Add): input 0 is left out, and required\n");
    b = lint_sound();
    odb_build_node(b, "Relu", "r", "x", "y z");
    lint_check(b, false, "arity #0 r (Relu): it makes 1 output at most, and 2 are named\n");
    b = lint_sound();
    odb_build_node(b, "Cast", "r", "x", "y");
    lint_check(b, false, "attribute #0 r (Cast): attribute to is required, and missing\n");
    b = lint_sound();
    odb_build_node(b, "LeakyRelu", "r", "x", "y");
    odb_build_attr_int(b, "alpha", 1);
    odb_build_attr_int(b, "beta", 1);
    lint_check(b, false,
               "attribute #0 r (LeakyRelu): attribute alpha is of type INT, and must be "
               "FLOAT\n"
               "attribute #0 r (LeakyRelu): it has no attribute beta in this opset\n");
    b = lint_sound();
    odb_build_node(b, "Not", "r", "x", "y");
    lint_check(b, false,
               "input-type #0 r (Not): input 0 is float, which Not does not take in "
               "opset 13\n");
}

static void test_lint__graph(void **state)
{
    struct odb_tensor *w = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_builder *b = lint_sound(), *body;
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Relu", "r", "x", "y");
    odb_build_node(b, "Neg", "r", "x", "z");
    lint_check(b, false,
               "duplicate-name #1 r (Neg): #0 has the same name\n"
               "unused-weight value w: no node reads this weight\n"
               "unused-node #1 r (Neg): no node reads what it makes\n");
    b = lint_sound();
    odb_build_node(b, "Relu", "second", "a", "y");
    odb_build_node(b, "Neg", "first", "x", "a");
    lint_check(b, false, "unsorted graph g: a node stands before one whose output it reads\n");
    b = lint_sound();
    odb_build_ir_version(b, 3);
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Add", "r", "x w", "y");
    lint_check(b, false,
               "weight-no-input value w: in IR version 3 a weight must be an input as well\n");
    b = lint_sound();
    odb_build_weight(b, "w", w);
    odb_build_value_info(b, "w", ODB_F32, 1, (int64_t[]){3});
    odb_build_node(b, "Add", "r", "x w", "y");
    lint_check(b, false,
               "weight-type value w: it is declared as float[3], and the weight is float (2,)\n");
    b = odb_build_new("g", 13);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_output(b, "y");
    odb_build_node(b, "Relu", "r", "x", "y");
    lint_check(b, false, "missing-type value y: no type is declared for this output\n");
    b = lint_sound();
    body = odb_build_new("body", 13);
    odb_build_node(body, "Rleu", "inner", "x", "x2");
    odb_build_output_typed(body, "x2", ODB_F32, 1, (int64_t[]){2});
    odb_build_input(b, "c", ODB_BOOL, 0, (int64_t[]){0});
    odb_build_node(b, "If", "branch", "c", "y");
    odb_build_attr_graph(b, "then_branch", body);
    char *text = lint_text(b, false);
    assert_non_null(strstr(text,
                           "unknown-operator #0 inner (Rleu) in then_branch of #0 branch (If): "
                           "there is no operator Rleu in ai.onnx\n"));
    free(text);
    /* a name of the graph around, made again: before it is made there, it is free */
    for (int before = 0; before <= 1; before++) {
        b = lint_sound();
        body = odb_build_new("body", 13);
        odb_build_node(body, "Neg", "inner", "x", "same");
        odb_build_output_typed(body, "same", ODB_F32, 1, (int64_t[]){2});
        odb_build_input(b, "c", ODB_BOOL, 0, (int64_t[]){0});
        if (before)
            odb_build_node(b, "Abs", "outer", "x", "same");
        odb_build_node(b, "If", "branch", "c", "taken");
        odb_build_attr_graph(b, "then_branch", body);
        body = odb_build_new("other", 13);
        odb_build_node(body, "Abs", "inner", "x", "other");
        odb_build_output_typed(body, "other", ODB_F32, 1, (int64_t[]){2});
        odb_build_attr_graph(b, "else_branch", body);
        odb_build_node(b, before ? "Add" : "Abs", "last", before ? "taken same" : "taken",
                       before ? "y" : "same");
        if (!before)
            odb_build_node(b, "Neg", "end", "same", "y");
        lint_check(b, false,
                   before ? "shadowed value same in then_branch of #1 branch (If): the "
                            "graph around has a value of this name, too\n"
                          : "");
    }
    odb_tensor_unref(w);
}

/* Declarations are held against what a run makes. */
static void test_lint__run(void **state)
{
    struct odb_builder *b = lint_sound();
    odb_build_value_info(b, "a", ODB_F32, 1, (int64_t[]){3});
    odb_build_value_info(b, "b", ODB_F32, 1, (int64_t[]){-1});
    odb_build_node(b, "Relu", "r", "x", "a");
    odb_build_node(b, "Neg", "n", "a", "b");
    odb_build_node(b, "Abs", "s", "b", "y");
    lint_check(b, true,
               "contradiction value a: it is declared as float[3], and the run makes float[2]\n");
    b = lint_sound();
    odb_build_input(b, "w", ODB_F32, 1, (int64_t[]){3});
    odb_build_node(b, "Add", "r", "x w", "y");
    char *text = lint_text(b, true);
    assert_int_equal(strncmp(text, "fails #0 r (Add): ", 18), 0);
    free(text);
}

/* Nodes of functions are none of the main graph, nor are those in their bodies. */
static void test_lint__functions(void **state)
{
    struct odb_builder *b = lint_sound(), *body = odb_build_new("body", 13);
    struct odb_builder *inner = odb_build_new("inner", 13);
    odb_build_node(inner, "Rleu", "deep", "c", "c2");
    odb_build_output_typed(inner, "c2", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(body, "Rleu", "wrong", "a", "c");
    odb_build_node(body, "If", "branch", "c", "d");
    odb_build_attr_graph(body, "then_branch", inner);
    odb_build_opset(b, "mine", 1);
    odb_build_function(b, "mine", "F", "a", "d", "", body);
    odb_build_node(b, "Neg", "main", "x", "t");
    odb_build_node(b, "mine::F", "call", "t", "y");
    struct odb_model *model = models_take(b);
    struct odb_lint lint = {0};
    size_t unknown = 0;
    odb_lint_model(&lint, model, NULL);
    for (size_t i = 0; i < lint.items.n; i++) {
        assert_int_equal(lint.items.items[i].node, ODB_NO_NODE);
        unknown += lint.items.items[i].kind == ODB_LINT_UNKNOWN_OPERATOR;
    }
    assert_int_equal(unknown, 2);
    odb_lint_dispose(&lint);
    odb_model_free(model);
}

static void test_lint__ranges(void **state)
{
    struct odb_builder *b = lint_sound();
    odb_build_node(b, "Relu", "r", "x", "y");
    struct odb_model *model = models_take(b);
    struct odb_lint lint = {0};
    struct odb_tensor *t = models_f32(1, (int64_t[]){4}, (float[]){1, -65505, NAN, INFINITY});
    int y = models_value(model, "y");
    odb_lint_value(&lint, model->graph, y, t);
    assert_int_equal(lint.items.n, 2);
    assert_string_equal(lint.items.items[0].what, "1 NaN and 1 Inf among 4 elements");
    assert_string_equal(lint.items.items[1].what, "it reaches 65505, and float16 ends at 65504");
    assert_int_equal(lint.items.items[1].node, 0);
    assert_int_equal(lint.warnings, 2);
    odb_tensor_unref(t);
    t = models_f32(1, (int64_t[]){1}, (float[]){-65504});
    odb_lint_value(&lint, model->graph, y, t);
    assert_int_equal(lint.items.n, 2);
    odb_tensor_unref(t);
    odb_lint_dispose(&lint);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lint__sound),  cmocka_unit_test(test_lint__operators),
        cmocka_unit_test(test_lint__nodes),  cmocka_unit_test(test_lint__graph),
        cmocka_unit_test(test_lint__run),    cmocka_unit_test(test_lint__functions),
        cmocka_unit_test(test_lint__ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
