/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bodies on the CPU reference: what a model may get wrong, and what a function's caller may omit.
 */
#include "interpret/cpu.h"

#include "tests/help/op_case.h"
#include "tests/help/models.h"
#include "model/read/load.h"

struct control {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor **values;
    enum odb_status last;   /* of the last node */
    struct odb_error first; /* of the first node that failed */
    enum odb_precision precision;
};

static enum odb_status control_note(void *payload, int node, enum odb_status status,
                                    struct odb_error *err)
{
    struct control *c = payload;
    c->last = status;
    if (status != ODB_OK && c->first.code == ODB_OK)
        c->first = *err;
    return ODB_OK;
}

static bool control_twice(void *payload)
{
    static int asked; /* the walk asks first */
    return ++asked > 2;
}

static enum odb_status control_run(struct control *c, struct odb_builder *b,
                                   bool (*cancelled)(void *))
{
    struct odb_error err = ODB_ERROR_INIT;
    c->first = (struct odb_error)ODB_ERROR_INIT;
    c->model = models_take(b);
    c->values = odb_new_n(struct odb_tensor *, c->model->graph->n_values);
    MODELS_OK(odb_cpu_new(&c->cpu, c->model, &why));
    struct odb_cpu_run run = {.precision = c->precision,
                              .values = c->values,
                              .after = control_note,
                              .payload = c,
                              .cancelled = cancelled};
    enum odb_status status = odb_cpu_execute(c->cpu, &run, &err);
    return status == ODB_OK ? c->last : status;
}

static void control_close(struct control *c)
{
    for (size_t v = 0; v < c->model->graph->n_values; v++)
        odb_tensor_unref(c->values[v]);
    free(c->values);
    odb_cpu_free(c->cpu);
    odb_model_free(c->model);
}

static void control_weight(struct odb_builder *b, const char *name, enum odb_dtype dtype,
                           int64_t count, const void *data)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, dtype, 1, &count, data, &why));
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* Loop over a body without nodes: state and a scan output are what came in. */
static struct odb_builder *control_loop(int64_t trips, int64_t n_trips, int64_t n_cond)
{
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("body", 17);
    odb_build_input(body, "i", ODB_I64, 0, NULL);
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_input(body, "s", ODB_F32, 1, (int64_t[]){1});
    odb_build_output_typed(body, "go", ODB_BOOL, 0, NULL);
    odb_build_output_typed(body, "s", ODB_F32, 1, (int64_t[]){1});
    odb_build_output_typed(body, "i", ODB_I64, 0, NULL);
    control_weight(b, "m", ODB_I64, n_trips, &trips);
    control_weight(b, "c", ODB_BOOL, n_cond, &(bool){true});
    control_weight(b, "x", ODB_F32, 1, &(float){1});
    odb_build_node(b, "Loop", "l", "m c x", "y z");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    return b;
}

static void test_control__loop_needs_scalars(void **state)
{
    for (int odd = 0; odd < 3; odd++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        enum odb_status status = control_run(&c, control_loop(3, odd != 1, odd != 2), NULL);
        assert_int_equal(status, odd ? ODB_E_OPERATOR : ODB_OK);
        if (!odd)
            assert_int_equal(c.values[models_value(c.model, "z")]->count, 3);
        control_close(&c);
    }
}

static void test_control__loop_without_turns_has_empty_scans(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    assert_int_equal(control_run(&c, control_loop(0, 1, 1), NULL), ODB_OK);
    const struct odb_tensor *y = c.values[models_value(c.model, "y")];
    const struct odb_tensor *z = c.values[models_value(c.model, "z")];
    assert_float_equal(odb_tensor_f64(y, 0), 1, 0);
    assert_int_equal(z->dtype, ODB_I64);
    assert_int_equal(z->rank, 1);
    assert_int_equal(z->dims[0], 0);
    control_close(&c);
}

static void test_control__empty_body_can_be_cancelled(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    assert_int_equal(control_run(&c, control_loop(INT64_MAX, 1, 1), control_twice), ODB_CANCELLED);
    control_close(&c);
}

/* Clip's bounds are the function's inputs; the caller gives only one. */
static void test_control__function_input_may_be_omitted(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("f", 17);
    odb_build_node(body, "Clip", "c", "a low high", "r");
    odb_build_opset(b, "local", 1);
    odb_build_function(b, "local", "Bound", "a low high", "r", "", body);
    control_weight(b, "x", ODB_F32, 2, (float[]){-3, 3});
    struct odb_tensor *high = models_f32(0, NULL, &(float){1});
    odb_build_weight(b, "h", high);
    odb_tensor_unref(high);
    odb_build_node(b, "local::Bound", "n", "x - h", "y");
    odb_build_output(b, "y");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    const struct odb_tensor *y = c.values[models_value(c.model, "y")];
    assert_float_equal(odb_tensor_f64(y, 0), -3, 0);
    assert_float_equal(odb_tensor_f64(y, 1), 1, 0);
    control_close(&c);
}

/* --- what follows is written with the words of op_case.h ------------------------------------- */

static void control_put(struct odb_builder *b, const char *name, const char *text)
{
    struct odb_tensor *t = op_tensor(text);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static struct odb_tensor *control_get(struct control *c, const char *name)
{
    struct odb_tensor *t = c->values[models_value(c->model, name)];
    char text[1000];
    if (!t)
        fail_msg("%s was not computed: %s", name, odb_error_text(&c->first, text, sizeof text));
    return t;
}

static void control_expect(struct control *c, const char *name, const char *text)
{
    struct odb_tensor *want = op_tensor(text), *got = control_get(c, name);
    if (want->dtype == ODB_STRING)
        assert_true(odb_tensor_identical(got, want));
    else
        op_assert_close(got, want, 1e-6, name);
    odb_tensor_unref(want);
}

/* Runs the model, which must fail with the status and words. */
static void control_refuses(struct odb_builder *b, enum odb_status status, const char *says)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    char text[1000];
    control_run(&c, b, NULL);
    assert_int_equal(c.first.code, status);
    if (!strstr(odb_error_text(&c.first, text, sizeof text), says))
        fail_msg("'%s' does not say '%s'", text, says);
    control_close(&c);
}

/* A body of a Loop with the given nodes yet to come; states: "name:type name:type". */
static struct odb_builder *control_body_of(const char *const *states)
{
    struct odb_builder *b = odb_build_new("body", 21);
    odb_build_input(b, "i", ODB_I64, 0, NULL);
    odb_build_input(b, "go", ODB_BOOL, 0, NULL);
    for (; states && *states; states++)
        odb_build_input(b, *states, ODB_UNDEFINED, 0, NULL);
    odb_build_output_typed(b, "go", ODB_BOOL, 0, NULL);
    return b;
}

/* Strings and types of less than a byte as scan outputs; the body's last turn decides. */
static void test_control__loop_scans_of_every_type(void **state)
{
    static const char *const types[][3] = {
        {"string[3] a '' ccc", "string[] ''", "string[3] a '' ccc"},
        {"int4[3] -3 7 2", "int4[] 0", "int4[3] -3 7 2"},
        {"uint2[3,1] 1 3 0", "uint2[] 0", "uint2[3,1] 1 3 0"},
        {"bool[3] 1 0 1", "bool[] 0", "bool[3] 1 0 1"},
        {"double[3,2] 1 2 3 4 5 6", "double[] 0", "double[3,2] 1 2 3 4 5 6"},
    };
    for (size_t t = 0; t < ODB_COUNT(types); t++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        struct odb_builder *b = odb_build_new("g", 21), *body = control_body_of(NULL);
        odb_build_node(body, "Gather", "", "all i", "part"); /* all stands around the body */
        odb_build_output(body, "part");
        control_put(b, "all", types[t][0]);
        control_put(b, "n", "int64[] 3");
        odb_build_node(b, "Loop", "", "n -", "z");
        odb_build_attr_graph(b, "body", body);
        odb_build_output(b, "z");
        assert_int_equal(control_run(&c, b, NULL), ODB_OK);
        control_expect(&c, "z", types[t][2]);
        control_close(&c);
    }
}

static struct odb_builder *control_no_turn(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_builder *b = odb_build_new("g", 21), *body = control_body_of(NULL);
    odb_build_node(body, "Identity", "", "x", "part");
    odb_build_output_typed(body, "part", dtype, rank, dims);
    control_put(b, "x", "float[] 0");
    control_put(b, "never", "bool[] 0");
    odb_build_node(b, "Loop", "", "- never", "z");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "z");
    return b;
}

static void test_control__loop_without_turns_by_declaration(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    assert_int_equal(control_run(&c, control_no_turn(ODB_F16, 2, (int64_t[]){3, -1}), NULL),
                     ODB_OK);
    control_expect(&c, "z", "float16[0,3,0]");
    control_close(&c);
    c.precision = ODB_PREC_F64;
    assert_int_equal(control_run(&c, control_no_turn(ODB_F16, 0, NULL), NULL), ODB_OK);
    control_expect(&c, "z", "double[0]");
    control_close(&c);
    control_refuses(control_no_turn(ODB_UNDEFINED, 0, NULL), ODB_UNSUPPORTED, "of which type part");
}

/* A sequence as state, from empty to full, in double too; its type is that of SequenceEmpty. */
static void test_control__loop_carries_sequences(void **state)
{
    for (int f64 = 0; f64 < 2; f64++)
        for (int turns = 0; turns < 3; turns += 2) {
            struct control c = {.precision = f64 ? ODB_PREC_F64 : ODB_PREC_NATIVE};
            struct odb_builder *b = odb_build_new("g", 21);
            struct odb_builder *body = control_body_of((const char *const[]){"s", NULL});
            odb_build_node(body, "SequenceInsert", "", "s x", "s2");
            odb_build_output(body, "s2");
            control_put(b, "x", "float[2] 1 2");
            control_put(b, "n", turns ? "int64[1] 2" : "int64[1] 0");
            odb_build_node(b, "SequenceEmpty", "", "", "s0");
            odb_build_node(b, "Loop", "", "n - s0", "out");
            odb_build_attr_graph(b, "body", body);
            odb_build_output(b, "out");
            assert_int_equal(control_run(&c, b, NULL), ODB_OK);
            struct odb_tensor *out = control_get(&c, "out");
            assert_int_equal(out->kind, ODB_SEQUENCE);
            assert_int_equal(out->n_items, turns);
            assert_int_equal(out->dtype, f64 ? ODB_F64 : ODB_F32);
            control_close(&c);
        }
}

static struct odb_builder *control_bad_loop(const char *n, const char *cond, const char *new_state)
{
    struct odb_builder *b = odb_build_new("g", 21);
    struct odb_builder *body = control_body_of((const char *const[]){"s", NULL});
    odb_build_node(body, "Identity", "", new_state, "s2");
    odb_build_output(body, "s2");
    control_put(b, "n", n);
    control_put(b, "c", cond);
    control_put(b, "x", "float[1] 1");
    odb_build_node(b, "Loop", "", "n c x", "out");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "out");
    return b;
}

static void test_control__loop_refuses(void **state)
{
    control_refuses(control_bad_loop("float[] 2", "bool[] 1", "s"), ODB_E_OPERATOR,
                    "input 0 of Loop must not be of type float");
    control_refuses(control_bad_loop("int64[] 2", "int64[] 1", "s"), ODB_E_OPERATOR,
                    "input 1 of Loop must not be of type int64");
    control_refuses(control_bad_loop("int64[2] 2 2", "bool[] 1", "s"), ODB_E_OPERATOR,
                    "must be one element, not (2,)");
    control_refuses(control_bad_loop("int64[] 2", "bool[] 1", "i"), ODB_E_OPERATOR,
                    "state 0 turns from float to int64");
}

/* The number of a turn has the rank that the body declares. */
static void test_control__loop_counts_as_declared(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 21), *body = odb_build_new("body", 21);
    odb_build_input(body, "i", ODB_I64, 1, (int64_t[]){1});
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_output(body, "go");
    odb_build_output(body, "i");
    control_put(b, "n", "int64[] 2");
    odb_build_node(b, "Loop", "", "n -", "z");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "z");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    control_expect(&c, "z", "int64[2,1] 0 1");
    control_close(&c);
}

/* Three bodies deep: each sees what is around it, the nearest of a name first. */
static void test_control__bodies_see_around_them(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 21), *outer = odb_build_new("t", 21);
    struct odb_builder *loop = control_body_of((const char *const[]){"s", NULL});
    struct odb_builder *inner = odb_build_new("t2", 21), *none = odb_build_new("e2", 21);
    odb_build_node(inner, "Add", "", "x s", "sx"); /* x: of the outer branch, not of the graph */
    odb_build_node(inner, "Add", "", "sx far", "r");
    odb_build_output(inner, "r");
    odb_build_output(none, "s");
    odb_build_node(loop, "If", "", "go", "s2");
    odb_build_attr_graph(loop, "then_branch", inner);
    odb_build_attr_graph(loop, "else_branch", none);
    odb_build_output(loop, "s2");
    control_put(outer, "x", "float[] 10");
    odb_build_node(outer, "Loop", "", "n - far", "out");
    odb_build_attr_graph(outer, "body", loop);
    odb_build_output(outer, "out");
    struct odb_builder *other = odb_build_new("e", 21);
    odb_build_output(other, "far");
    control_put(b, "x", "float[] 1");
    control_put(b, "far", "float[] 100");
    control_put(b, "n", "int64[] 3");
    control_put(b, "yes", "bool[1] 1");
    odb_build_node(b, "If", "", "yes", "y");
    odb_build_attr_graph(b, "then_branch", outer);
    odb_build_attr_graph(b, "else_branch", other);
    odb_build_output(b, "y");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    control_expect(&c, "y", "float[] 430"); /* 100 + 3 * (10 + 100) */
    control_close(&c);
}

/* A branch that nobody can run does not matter while it is not taken. */
static void test_control__if_runs_what_it_takes(void **state)
{
    for (int taken = 0; taken < 2; taken++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        struct odb_builder *b = odb_build_new("g", 21), *then = odb_build_new("t", 21);
        struct odb_builder *other = odb_build_new("e", 21);
        odb_build_node(then, "nobody::Knows", "", "x", "r");
        odb_build_output(then, "r");
        odb_build_output(other, "x");
        control_put(b, "x", "float[] 1");
        control_put(b, "c", taken ? "bool[] 1" : "bool[] 0");
        odb_build_node(b, "If", "", "c", "y");
        odb_build_attr_graph(b, "then_branch", then);
        odb_build_attr_graph(b, "else_branch", other);
        odb_build_output(b, "y");
        assert_int_equal(control_run(&c, b, NULL), taken ? ODB_UNSUPPORTED : ODB_OK);
        if (!taken)
            control_expect(&c, "y", "float[] 1");
        control_close(&c);
    }
}

/* An optional input that nobody feeds is there, and empty. */
static void test_control__optional_input_may_be_left_out(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 18), *then = odb_build_new("t", 18);
    struct odb_builder *other = odb_build_new("e", 18);
    odb_build_input(b, "o", ODB_F32, 1, (int64_t[]){2});
    odb_build_wrap(b, "o", ODB_OPTIONAL);
    odb_build_node(then, "OptionalGetElement", "", "o", "r");
    odb_build_output(then, "r");
    odb_build_node(other, "Optional", "", "", "none");
    odb_build_attr_type(other, "type", ODB_F32, true);
    odb_build_output(other, "none");
    odb_build_node(b, "OptionalHasElement", "", "o", "has");
    odb_build_node(b, "If", "", "has", "y");
    odb_build_attr_graph(b, "then_branch", then);
    odb_build_attr_graph(b, "else_branch", other);
    odb_build_output(b, "y");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    control_expect(&c, "has", "bool[] 0");
    const struct odb_tensor *y = control_get(&c, "y");
    assert_int_equal(y->kind, ODB_OPTIONAL);
    assert_int_equal(y->n_items, 0);
    assert_int_equal(y->dtype, ODB_F32);
    control_close(&c);
}

/* --- Scan ------------------------------------------------------------------------------------ */

/* State s sums what is scanned; the sums are a scan output. */
static struct odb_builder *control_scan_body(int opset)
{
    struct odb_builder *body = odb_build_new("body", opset);
    odb_build_input(body, "s", ODB_UNDEFINED, 0, NULL);
    odb_build_input(body, "x", ODB_UNDEFINED, 0, NULL);
    odb_build_node(body, "Add", "", "s x", "s2");
    odb_build_node(body, "Identity", "", "s2", "z");
    odb_build_output(body, "s2");
    odb_build_output_typed(body, "z", ODB_F32, 1, (int64_t[]){2});
    return body;
}

static struct odb_builder *control_scan(const char *s, const char *x)
{
    struct odb_builder *b = odb_build_new("g", 21);
    control_put(b, "s", s);
    control_put(b, "x", x);
    odb_build_node(b, "Scan", "", "s x", "y z");
    odb_build_attr_graph(b, "body", control_scan_body(21));
    odb_build_attr_int(b, "num_scan_inputs", 1);
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    return b;
}

static void test_control__scan_over_axes_and_directions(void **state)
{
    static const struct {
        int64_t in_axis, in_back, out_axis, out_back;
        const char *z;
    } cases[] = {
        {1, 0, 0, 0, "float[3,2] 1 4 3 9 6 15"},   {-1, 0, 1, 0, "float[2,3] 1 3 6 4 9 15"},
        {1, 1, -1, 0, "float[2,3] 3 5 6 6 11 15"}, {1, 0, 0, 1, "float[3,2] 6 15 3 9 1 4"},
        {1, 1, 0, 1, "float[3,2] 6 15 5 11 3 6"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        struct odb_builder *b = control_scan("float[2] 0 0", "float[2,3] 1 2 3 4 5 6");
        odb_build_attr_ints(b, "scan_input_axes", 1, &cases[i].in_axis);
        odb_build_attr_ints(b, "scan_input_directions", 1, &cases[i].in_back);
        odb_build_attr_ints(b, "scan_output_axes", 1, &cases[i].out_axis);
        odb_build_attr_ints(b, "scan_output_directions", 1, &cases[i].out_back);
        assert_int_equal(control_run(&c, b, NULL), ODB_OK);
        control_expect(&c, "y", "float[2] 6 15");
        control_expect(&c, "z", cases[i].z);
        control_close(&c);
    }
}

static void test_control__scan_over_nothing(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = control_scan("float[2] 5 6", "float[0,2]");
    odb_build_attr_ints(b, "scan_output_axes", 1, (int64_t[]){-1});
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    control_expect(&c, "y", "float[2] 5 6");
    control_expect(&c, "z", "float[2,0]");
    control_close(&c);
}

static void test_control__scan_refuses(void **state)
{
    struct odb_builder *b = control_scan("float[2] 0 0", "float[3,2] 1 2 3 4 5 6");
    odb_build_attr_ints(b, "scan_input_axes", 1, (int64_t[]){2});
    control_refuses(b, ODB_E_OPERATOR, "axis 2 does not fit scan input 0 of rank 2");
    b = control_scan("float[2] 0 0", "float[3,2] 1 2 3 4 5 6");
    odb_build_attr_ints(b, "scan_output_axes", 1, (int64_t[]){2});
    control_refuses(b, ODB_E_OPERATOR, "axis 2 does not fit a scan output of rank 2");
    b = control_scan("float[2] 0 0", "float[3,2] 1 2 3 4 5 6");
    odb_build_attr_ints(b, "scan_output_axes", 2, (int64_t[]){0, 0});
    control_refuses(b, ODB_E_OPERATOR, "scan_output_axes has 2 entries, not 1");
    b = control_scan("float[2] 0 0", "float[3,2] 1 2 3 4 5 6");
    odb_build_attr_ints(b, "scan_input_directions", 1, (int64_t[]){7});
    control_refuses(b, ODB_E_OPERATOR, "scan_input_directions[0] is 7");
    control_refuses(control_scan("float[1] 0", "float[3,2] 1 2 3 4 5 6"), ODB_E_OPERATOR,
                    "changes type or shape of state 0");
    control_refuses(control_scan("float[] 0", "float[] 1"), ODB_E_OPERATOR, "axis 0 does not fit");
}

/* Opset 8: a batch, whose entries may be shorter than the longest; behind their ends stands 0. */
static void test_control__scan_of_batches(void **state)
{
    for (int back = 0; back < 2; back++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        struct odb_builder *b = odb_build_new("g", 8);
        control_put(b, "lens", "int64[2] 3 2");
        control_put(b, "s", "float[2,1] 0 100");
        control_put(b, "x", "float[2,3,1] 1 2 3 4 5 6");
        odb_build_node(b, "Scan", "", "lens s x", "y z");
        odb_build_attr_graph(b, "body", control_scan_body(8));
        odb_build_attr_int(b, "num_scan_inputs", 1);
        odb_build_attr_ints(b, "directions", 1, (int64_t[]){back});
        odb_build_output(b, "y");
        odb_build_output(b, "z");
        assert_int_equal(control_run(&c, b, NULL), ODB_OK);
        control_expect(&c, "y", "float[2,1] 6 109");
        control_expect(&c, "z",
                       back ? "float[2,3,1] 3 5 6 105 109 0" : "float[2,3,1] 1 3 6 104 109 0");
        control_close(&c);
    }
}

/* --- SequenceMap ----------------------------------------------------------------------------- */

static struct odb_builder *control_map(const char *const *items, int n, const char *inputs)
{
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("body", 17);
    char names[40] = "";
    odb_build_input(body, "a", ODB_UNDEFINED, 0, NULL);
    odb_build_input(body, "b", ODB_UNDEFINED, 0, NULL);
    odb_build_node(body, "Add", "", "a b", "r");
    odb_build_node(body, "Shape", "", "a", "h");
    odb_build_output_typed(body, "r", ODB_F32, 0, NULL);
    odb_build_output_typed(body, "h", ODB_I64, 1, (int64_t[]){-1});
    for (int i = 0; i < n; i++) {
        char name[12];
        snprintf(name, sizeof name, "i%d ", i);
        strcat(names, name);
        name[strlen(name) - 1] = '\0';
        control_put(b, name, items[i]);
    }
    control_put(b, "t", "float[] 10");
    odb_build_node(b, n ? "SequenceConstruct" : "SequenceEmpty", "", names, "s");
    odb_build_node(b, "SequenceEmpty", "", "", "none");
    odb_build_node(b, "SequenceMap", "", inputs, "rs hs");
    odb_build_attr_graph(b, "body", body);
    odb_build_node(b, "SequenceLength", "", "rs", "n");
    odb_build_output(b, "n");
    return b;
}

static void test_control__map(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    static const char *const items[] = {"float[2] 1 2", "float[1] 3"};
    assert_int_equal(control_run(&c, control_map(items, 2, "s t"), NULL), ODB_OK);
    const struct odb_tensor *rs = control_get(&c, "rs"), *hs = control_get(&c, "hs");
    assert_int_equal(rs->n_items, 2);
    assert_float_equal(odb_tensor_f64(rs->items[0], 1), 12, 0);
    assert_float_equal(odb_tensor_f64(rs->items[1], 0), 13, 0);
    assert_int_equal(odb_tensor_i64(hs->items[1], 0), 1);
    control_close(&c);
    assert_int_equal(control_run(&c, control_map(items, 2, "s s"), NULL), ODB_OK);
    assert_float_equal(odb_tensor_f64(control_get(&c, "rs")->items[0], 1), 4, 0);
    control_close(&c);
    assert_int_equal(control_run(&c, control_map(NULL, 0, "s t"), NULL), ODB_OK);
    assert_int_equal(control_get(&c, "hs")->dtype, ODB_I64); /* as the body declares */
    control_expect(&c, "n", "int64[] 0");
    control_close(&c);
    control_refuses(control_map(items, 2, "s none"), ODB_E_OPERATOR, "2 and 0 elements");
    control_refuses(control_map(items, 2, "t s"), ODB_E_OPERATOR,
                    "input 0 of SequenceMap must not be a tensor");
}

/* --- functions ------------------------------------------------------------------------------- */

/* r = op(a), in a function of that overload. */
static void control_function(struct odb_builder *b, const char *name, const char *overload,
                             const char *op)
{
    struct odb_builder *f = odb_build_new("f", 17);
    odb_build_node(f, op, "", "a", "r");
    odb_build_function(b, "local", name, "a", "r", "", f);
    if (*overload)
        odb_build_function_overload(b, overload);
}

static void test_control__overloads_of_functions(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_ir_version(b, 10);
    odb_build_opset(b, "local", 1);
    control_function(b, "F", "", "Neg");
    control_function(b, "F", "other", "Abs");
    control_put(b, "x", "float[] -3");
    odb_build_node(b, "local::F", "", "x", "y");
    odb_build_node(b, "local::F", "", "x", "z");
    odb_build_overload(b, "other");
    odb_build_node(b, "local::F", "", "x", "w");
    odb_build_overload(b, "nobody");
    odb_build_output(b, "z");
    control_run(&c, b, NULL);
    control_expect(&c, "y", "float[] 3");
    control_expect(&c, "z", "float[] 3");
    assert_int_equal(c.first.code, ODB_UNSUPPORTED);
    control_close(&c);
}

/* A function of opset 11, where ReduceSum has its axes as an attribute, called by a model of opset
 * 13; it hands an attribute on to a function that it calls itself. */
static void test_control__functions_bring_their_own_opset(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 13), *f = odb_build_new("f", 11);
    struct odb_builder *g = odb_build_new("outer", 13);
    odb_build_opset(b, "local", 1);
    odb_build_opset(g, "local", 1);
    odb_build_node(f, "ReduceSum", "", "a", "r");
    odb_build_attr_ref(f, "axes", ODB_ATTR_INTS, "along");
    odb_build_attr_ref(f, "keepdims", ODB_ATTR_INT, "keep"); /* nobody gives it: 1 */
    odb_build_function(b, "local", "Sum", "a", "r", "along keep", f);
    odb_build_node(g, "local::Sum", "", "a", "r");
    odb_build_attr_ref(g, "along", ODB_ATTR_INTS, "where");
    odb_build_function(b, "local", "Outer", "a", "r", "where", g);
    control_put(b, "x", "float[2,2] 1 2 3 4");
    odb_build_node(b, "local::Outer", "", "x", "y");
    odb_build_attr_ints(b, "where", 1, (int64_t[]){1});
    odb_build_output(b, "y");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    control_expect(&c, "y", "float[2,1] 3 7");
    control_close(&c);
}

/* A branch inside a function sees the function's inputs, one of which the caller omits. */
static void test_control__bodies_in_functions(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 18), *f = odb_build_new("f", 18);
    struct odb_builder *then = odb_build_new("t", 18), *other = odb_build_new("e", 18);
    odb_build_opset(b, "local", 1);
    odb_build_node(then, "Clip", "", "a low high", "r");
    odb_build_output(then, "r");
    odb_build_node(other, "Identity", "", "a", "r2");
    odb_build_output(other, "r2");
    odb_build_node(f, "OptionalHasElement", "", "high", "has");
    odb_build_node(f, "If", "", "has", "y");
    odb_build_attr_graph(f, "then_branch", then);
    odb_build_attr_graph(f, "else_branch", other);
    odb_build_function(b, "local", "Bound", "a low high", "y", "", f);
    control_put(b, "x", "float[2] -3 3");
    control_put(b, "h", "float[] 1");
    odb_build_node(b, "local::Bound", "", "x - h", "y");
    odb_build_node(b, "local::Bound", "", "x h", "z");
    odb_build_node(b, "local::Bound", "", "x h h h", "w");
    odb_build_output(b, "y");
    control_run(&c, b, NULL);
    control_expect(&c, "y", "float[2] -3 1");
    control_expect(&c, "z", "float[2] -3 3");
    assert_int_equal(c.first.code, ODB_E_OPERATOR); /* more inputs than it has */
    control_close(&c);
}

/* --- sparse weights -------------------------------------------------------------------------- */

static void test_control__sparse_weights_are_dense(void **state)
{
    static const struct {
        const char *values, *indices, *want;
        int rank;
        int64_t dims[2];
    } cases[] = {
        {"float[2] 5 6", "int64[2] 1 5", "float[2,3] 0 5 0 0 0 6", 2, {2, 3}},
        {"float[2] 5 6", "int64[2,2] 0 1 1 2", "float[2,3] 0 5 0 0 0 6", 2, {2, 3}},
        {"int4[2] -5 6", "int64[2,1] 0 2", "int4[3] -5 0 6", 1, {3}},
        {"uint2[1] 3", "int64[1] 4", "uint2[5] 0 0 0 0 3", 1, {5}},
        {"string[1] x", "int64[1] 1", "string[2] '' x", 1, {2}},
        {"double[0]", "int64[0]", "double[2] 0 0", 1, {2}},
        {"bool[1] 1", "int64[1] 0", "bool[] 1", 0, {0}},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        struct odb_builder *b = odb_build_new("g", 21);
        struct odb_tensor *sparse = NULL;
        struct odb_tensor *parts[2] = {op_tensor(cases[i].values), op_tensor(cases[i].indices)};
        assert_int_equal(odb_tensor_new_container(&sparse, ODB_SPARSE, parts, 2, NULL), ODB_OK);
        sparse->rank = cases[i].rank;
        memcpy(sparse->dims, cases[i].dims, sizeof cases[i].dims);
        odb_build_sparse_weight(b, "w", sparse);
        odb_build_node(b, "Identity", "", "w", "y");
        odb_build_output(b, "y");
        assert_int_equal(control_run(&c, b, NULL), ODB_OK);
        control_expect(&c, "y", cases[i].want);
        assert_true(odb_graph_value(c.model->graph, "w")->init_is_sparse);
        control_close(&c);
        odb_tensor_unref(sparse);
        odb_tensor_unref(parts[0]);
        odb_tensor_unref(parts[1]);
    }
}

/* --- constants -------------------------------------------------------------------------------- */

static void control_again(struct control *c, enum odb_precision precision)
{
    struct odb_error err = ODB_ERROR_INIT;
    for (size_t v = 0; v < c->model->graph->n_values; v++) {
        odb_tensor_unref(c->values[v]);
        c->values[v] = NULL;
    }
    struct odb_cpu_run run = {
        .precision = precision, .values = c->values, .after = control_note, .payload = c};
    assert_int_equal(odb_cpu_execute(c->cpu, &run, &err), ODB_OK);
    assert_int_equal(c->last, ODB_OK);
}

/* What hangs on weights alone is the same tensor in every run in the model's own types, and made
 * anew in others and where a replay brings operands of its own. */
static void test_control__constants_are_computed_once(void **state)
{
    struct control c = {.precision = ODB_PREC_NATIVE};
    struct odb_builder *b = odb_build_new("g", 17);
    control_weight(b, "w", ODB_F32, 2, (float[]){2, 3});
    odb_build_node(b, "Mul", "square", "w w", "p");
    odb_build_node(b, "Add", "sum", "p w", "q");
    odb_build_output(b, "q");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    int p = models_value(c.model, "p"), q = models_value(c.model, "q");
    const struct odb_tensor *first = c.values[q], *product = c.values[p];
    assert_float_equal(odb_tensor_f64(first, 1), 12, 0);
    control_again(&c, ODB_PREC_NATIVE);
    assert_ptr_equal(c.values[p], product);
    assert_ptr_equal(c.values[q], first);
    control_again(&c, ODB_PREC_F64);
    assert_int_equal(c.values[q]->dtype, ODB_F64);
    assert_float_equal(odb_tensor_f64(c.values[q], 0), 6, 0);

    struct odb_tensor *other = NULL, *out = NULL;
    MODELS_OK(odb_tensor_copy_of(&other, ODB_F32, 1, (int64_t[]){2}, (float[]){10, 20}, &why));
    struct odb_tensor *in[] = {other, other};
    MODELS_OK(odb_cpu_node(c.cpu, 1, ODB_PREC_NATIVE, 1, in, NULL, &out, &why));
    assert_float_equal(odb_tensor_f64(out, 1), 40, 0);
    odb_tensor_unref(out);
    odb_tensor_unref(other);
    control_close(&c);
}

/* Adds a weight to an input, in opset 17. */
static struct odb_builder *control_sum(enum odb_dtype x, enum odb_dtype w)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", x, 1, (int64_t[]){2});
    control_weight(b, "w", w, 2, w == ODB_F32 ? (void *)(float[]){2, 3} : (void *)(double[]){2, 3});
    odb_build_node(b, "Add", "sum", "x w", "y");
    odb_build_output(b, "y");
    return b;
}

/* What a target gives in a type of its own is converted where it is replayed; a model that says so
 * itself is refused, in double mode as well. */
static void test_control__types_of_targets_and_of_models(void **state)
{
    static const enum odb_precision modes[] = {ODB_PREC_NATIVE, ODB_PREC_F64, ODB_PREC_NOISY};
    static const enum odb_dtype types[] = {ODB_F16, ODB_BF16, ODB_F64};
    struct control c = {.precision = ODB_PREC_NATIVE};
    (void)state;
    assert_int_equal(control_run(&c, control_sum(ODB_F32, ODB_F32), NULL), ODB_SKIPPED);
    for (size_t t = 0; t < ODB_COUNT(types); t++)
        for (size_t m = 0; m < ODB_COUNT(modes); m++) {
            struct odb_tensor *x = NULL, *in[2] = {NULL}, *out = NULL;
            MODELS_OK(odb_tensor_new(&x, types[t], 1, (int64_t[]){2}, &why));
            in[0] = x;
            in[1] = (struct odb_tensor *)c.model->graph->values[models_value(c.model, "w")].init;
            MODELS_OK(odb_cpu_node(c.cpu, 0, modes[m], 1, in, NULL, &out, &why));
            assert_int_equal(out->dtype, modes[m] == ODB_PREC_F64 ? ODB_F64 : ODB_F32);
            assert_float_equal(odb_tensor_f64(out, 1), 3, 1e-5);
            odb_tensor_unref(out);
            odb_tensor_unref(x);
        }
    control_close(&c);
    for (size_t m = 0; m < ODB_COUNT(modes); m++) {
        struct odb_builder *b = control_sum(ODB_F64, ODB_F32);
        struct odb_tensor *x = NULL;
        c.precision = ODB_PREC_NATIVE;
        assert_int_equal(control_run(&c, b, NULL), ODB_SKIPPED); /* nothing is fed yet */
        MODELS_OK(odb_tensor_new(&x, ODB_F64, 1, (int64_t[]){2}, &why));
        c.values[models_value(c.model, "x")] = x;
        c.first = (struct odb_error)ODB_ERROR_INIT;
        struct odb_cpu_run run = {
            .precision = modes[m], .values = c.values, .after = control_note, .payload = &c};
        MODELS_OK(odb_cpu_execute(c.cpu, &run, &why));
        assert_int_equal(c.last, ODB_E_OPERATOR);
        assert_string_equal(c.first.what,
                            "inputs 0 and 1 of Add must be of one type, and are double and float");
        control_close(&c);
    }
}

/* Attributes are looked at before anything is run; those of tools are let through. */
static void test_control__attributes_are_the_schemas(void **state)
{
    static const struct {
        const char *op, *name;
        bool text;
        const char *why; /* NULL: it runs */
    } cases[] = {
        {"Softmax", "axis", false, NULL},
        {"Softmax", "__tool", false, NULL},
        {"Softmax", "axis", true, "attribute axis of Softmax is of type STRING, and must be INT"},
        {"Softmax", "axes", false, "Softmax has no attribute axes in opset 17"},
        {"Concat", "new_axis", false, "Concat has no attribute new_axis in opset 17"},
        {"Concat", "__tool", false, "attribute axis of Concat is missing"},
    };
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct control c = {.precision = ODB_PREC_NATIVE};
        struct odb_builder *b = odb_build_new("g", 17);
        control_weight(b, "w", ODB_F32, 2, (float[]){2, 3});
        odb_build_node(b, cases[i].op, "it", "w", "y");
        if (cases[i].text)
            odb_build_attr_string(b, cases[i].name, "0");
        else
            odb_build_attr_int(b, cases[i].name, 0);
        odb_build_output(b, "y");
        assert_int_equal(control_run(&c, b, NULL), cases[i].why ? ODB_E_OPERATOR : ODB_OK);
        assert_string_equal(c.first.what, cases[i].why ? cases[i].why : "");
        assert_string_equal(odb_cpu_unsupported(c.cpu, 0), cases[i].why ? cases[i].why : "");
        control_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control__loop_needs_scalars),
        cmocka_unit_test(test_control__types_of_targets_and_of_models),
        cmocka_unit_test(test_control__attributes_are_the_schemas),
        cmocka_unit_test(test_control__loop_without_turns_has_empty_scans),
        cmocka_unit_test(test_control__empty_body_can_be_cancelled),
        cmocka_unit_test(test_control__function_input_may_be_omitted),
        cmocka_unit_test(test_control__loop_scans_of_every_type),
        cmocka_unit_test(test_control__loop_without_turns_by_declaration),
        cmocka_unit_test(test_control__loop_carries_sequences),
        cmocka_unit_test(test_control__loop_refuses),
        cmocka_unit_test(test_control__loop_counts_as_declared),
        cmocka_unit_test(test_control__bodies_see_around_them),
        cmocka_unit_test(test_control__if_runs_what_it_takes),
        cmocka_unit_test(test_control__optional_input_may_be_left_out),
        cmocka_unit_test(test_control__scan_over_axes_and_directions),
        cmocka_unit_test(test_control__scan_over_nothing),
        cmocka_unit_test(test_control__scan_refuses),
        cmocka_unit_test(test_control__scan_of_batches),
        cmocka_unit_test(test_control__map),
        cmocka_unit_test(test_control__overloads_of_functions),
        cmocka_unit_test(test_control__functions_bring_their_own_opset),
        cmocka_unit_test(test_control__bodies_in_functions),
        cmocka_unit_test(test_control__sparse_weights_are_dense),
        cmocka_unit_test(test_control__constants_are_computed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
