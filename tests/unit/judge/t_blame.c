/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blame, with no target at all: the target's values are the reference's, spoiled by hand at one
 * node and carried on from there by the reference operators, as an honest rest of a target would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/blame.h"
#include "model/write/build.h"
#include "model/read/load.h"

struct scene {
    struct odb_model *model;
    struct odb_feeds feeds;
    struct odb_feed feed;
    struct odb_trace *trace;
    struct odb_criterion tolerance;
    struct odb_tensor **given;        /* [n_values] the target's */
    struct odb_value_report *reports; /* [n_values] after scene_blame() */
};

static struct odb_tensor *floats(size_t n, const float *v)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_F32, 1, (int64_t[]){(int64_t)n}, v, &err), ODB_OK);
    return t;
}

/* The model as built, fed with x. */
static void scene_open(struct scene *s, struct odb_builder *b, size_t n, const float *x)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    how.seed = 7;
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    memset(s, 0, sizeof *s);
    assert_int_equal(
        odb_model_open_bytes(&s->model, bytes.data, bytes.len, NULL, ".", "test", &err), ODB_OK);
    odb_buf_dispose(&bytes);
    s->feed.value = odb_graph_value(s->model->graph, "x")->index;
    s->feed.tensor = floats(n, x);
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    s->tolerance = ODB_CRITERION_DEFAULT;
    assert_int_equal(odb_trace_make(&s->trace, s->model, &s->feeds, &how, &err), ODB_OK);
    assert_int_equal(s->trace->n_unsupported, 0);
    assert_int_equal(s->trace->n_no_golden, 0);
    s->given = odb_new_n(struct odb_tensor *, s->model->graph->n_values);
    s->reports = odb_new_n(struct odb_value_report, s->model->graph->n_values);
}

static int value_of(const struct scene *s, const char *name)
{
    const struct odb_value *value = odb_graph_value(s->model->graph, name);
    assert_non_null(value);
    return value->index;
}

/* The target's value of name is t (taken over); everything behind it follows honestly. */
static void scene_spoil(struct scene *s, const char *name, struct odb_tensor *t)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_cpu_run run = {.values = s->given};
    s->given[s->feed.value] = odb_tensor_ref(s->feed.tensor);
    s->given[value_of(s, name)] = t;
    assert_int_equal(odb_cpu_execute(s->trace->cpu, &run, &err), ODB_OK);
}

static void scene_blame(struct scene *s)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_judge judge = {s->trace, &s->tolerance};
    struct odb_search_hooks quiet = {0};
    assert_int_equal(
        odb_blame(&judge, 0, (int)s->model->graph->n_nodes, s->given, s->reports, &quiet, &err),
        ODB_OK);
}

static void scene_close(struct scene *s)
{
    for (size_t v = 0; v < s->model->graph->n_values; v++)
        odb_tensor_unref(s->given[v]);
    free(s->given);
    free(s->reports);
    odb_trace_free(s->trace);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

/* The only culprit is name; "" means that there is none. */
static void assert_culprit(const struct scene *s, const char *name)
{
    for (size_t v = 0; v < s->model->graph->n_values; v++) {
        const struct odb_value *value = &s->model->graph->values[v];
        if (s->reports[v].culprit != (strcmp(value->name, name) == 0))
            fail_msg("%s is %sblamed (%s)", value->name, s->reports[v].culprit ? "" : "not ",
                     s->reports[v].reason);
    }
}

static struct odb_tensor *scaled(const struct scene *s, const char *name, double factor)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_clone(&t, s->trace->ref[value_of(s, name)], &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(t->dtype, t->data, i, odb_tensor_f64(t, i) * factor);
    return t;
}

static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};

/* x -> Tanh h -> Mul y (by itself) -> Sqrt-free tail: every float step rounds. */
static struct odb_builder *chain(void)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Exp", "n2", "q", "y");
    odb_build_output(b, "y");
    return b;
}

static void test_blame__honest_target_has_no_culprit(void **state)
{
    struct scene s;
    scene_open(&s, chain(), 8, ramp);
    scene_spoil(&s, "h", odb_tensor_ref(s.trace->ref[value_of(&s, "h")]));
    scene_blame(&s);
    assert_culprit(&s, "");
    assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_PASS);
    scene_close(&s);
}

static void test_blame__one_percent_is_blamed_where_it_began(void **state)
{
    static const char *const names[] = {"h", "q", "y"};
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        struct scene s;
        scene_open(&s, chain(), 8, ramp);
        scene_spoil(&s, names[i], scaled(&s, names[i], 1.01));
        scene_blame(&s);
        assert_culprit(&s, names[i]);
        assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_FAIL);
        const struct odb_value_report *y = &s.reports[value_of(&s, "y")];
        if (strcmp(names[i], "y") != 0) { /* all of y's error is inherited */
            assert_true(y->inherited_error.v > 0.9 * y->error.v);
            assert_true(y->gain.known && y->gain.v > 0);
        }
        scene_close(&s);
    }
}

static void test_blame__rounding_of_the_type_is_no_fault(void **state)
{
    struct scene s;
    scene_open(&s, chain(), 8, ramp);
    struct odb_tensor *h = scaled(&s, "h", 1);
    odb_f32 *v = h->data;
    for (size_t i = 0; i < h->count; i++)
        v[i] = nextafterf(v[i], i % 2 ? 9 : -9);
    scene_spoil(&s, "h", h);
    scene_blame(&s);
    assert_culprit(&s, "");
    scene_close(&s);
}

/* A fault that Relu swallows: no output shows it, and it is named all the same. */
static void test_blame__masked_fault_is_named(void **state)
{
    struct odb_builder *b = odb_build_new("masked", 17);
    static const float negative[4] = {-1, -2, -3, -4};
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Relu", "n1", "h", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 4, negative);
    scene_spoil(&s, "h", scaled(&s, "h", 1.01));
    scene_blame(&s);
    assert_culprit(&s, "h");
    assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_PASS);
    scene_close(&s);
}

/* A move must match bit for bit: one ulp is a fault. */
static void test_blame__moves_are_held_to_the_bit(void **state)
{
    struct odb_builder *b = odb_build_new("moves", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *shape = NULL;
    struct scene s;
    assert_int_equal(
        odb_tensor_copy_of(&shape, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){2, 4}, &err), ODB_OK);
    odb_build_weight(b, "shape", shape);
    odb_tensor_unref(shape);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Reshape", "n0", "x shape", "m");
    odb_build_node(b, "Transpose", "n1", "m", "t");
    odb_build_node(b, "Tanh", "n2", "t", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, ramp);
    struct odb_tensor *t = scaled(&s, "t", 1);
    ((odb_f32 *)t->data)[3] = nextafterf(((odb_f32 *)t->data)[3], 100);
    scene_spoil(&s, "t", t);
    scene_blame(&s);
    assert_culprit(&s, "t");
    scene_close(&s);
}

/* A Cast whose attributes say what becomes of large numbers, of which doubles that are rounded in
 * the end know nothing: the target gives what a Cast without them would. */
static void cast_blamed(enum odb_dtype to, const char *attr, const char *word, float from,
                        double honest, double wrong)
{
    for (int spoil = 0; spoil < 2; spoil++) {
        struct odb_builder *b = odb_build_new("cast", 24);
        struct scene s;
        odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
        odb_build_node(b, "Cast", "n0", "x", "y");
        odb_build_attr_int(b, "to", to);
        if (word)
            odb_build_attr_string(b, attr, word);
        else
            odb_build_attr_int(b, attr, 0);
        odb_build_output(b, "y");
        scene_open(&s, b, 2, (float[]){1, from});
        struct odb_tensor *y = NULL;
        assert_int_equal(odb_tensor_clone(&y, s.trace->ref[value_of(&s, "y")], NULL), ODB_OK);
        assert_true(odb_tensor_f64(y, 1) == honest);
        if (spoil)
            odb_store_f64(to, y->data, 1, wrong);
        assert_true(odb_tensor_f64(y, 1) == (spoil ? wrong : honest));
        scene_spoil(&s, "y", y);
        scene_blame(&s);
        assert_culprit(&s, spoil ? "y" : "");
        scene_close(&s);
    }
}

static void test_blame__a_cast_to_eight_bits_overflows_as_its_attributes_say(void **state)
{
    cast_blamed(ODB_F8E5M2, "saturate", NULL, 1e6f, INFINITY, 57344);
    cast_blamed(ODB_F8E8M0, "round_mode", "up", 1.25f, 2, 1);
    cast_blamed(ODB_F8E8M0, "round_mode", "down", 1.75f, 1, 2);
}

/* A tiny error before a normalisation by a tiny variance: the upstream node is to blame. */
static void test_blame__amplifier_is_a_carrier(void **state)
{
    struct odb_builder *b = odb_build_new("amplifier", 17);
    static const float flat[8] = {1.0f, 1.01f, 0.99f, 1.02f, 0.98f, 1.0f, 1.01f, 0.99f};
    float ones[8], zeros[8] = {0};
    struct scene s;
    for (size_t i = 0; i < 8; i++)
        ones[i] = 1;
    struct odb_tensor *scale = floats(8, ones), *bias = floats(8, zeros);
    odb_build_weight(b, "scale", scale);
    odb_build_weight(b, "bias", bias);
    odb_tensor_unref(scale);
    odb_tensor_unref(bias);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Exp", "n0", "x", "h");
    odb_build_node(b, "LayerNormalization", "n1", "h scale bias", "y");
    odb_build_attr_float(b, "epsilon", 1e-14f);
    odb_build_output(b, "y");
    scene_open(&s, b, 8, flat);
    struct odb_tensor *h = scaled(&s, "h", 1);
    ((odb_f32 *)h->data)[0] *= 1.001f;
    scene_spoil(&s, "h", h);
    scene_blame(&s);
    assert_culprit(&s, "h");
    const struct odb_value_report *y = &s.reports[value_of(&s, "y")];
    assert_int_equal(y->verdict, ODB_VERDICT_FAIL);
    assert_true(y->gain.known && y->gain.v > 30);
    scene_close(&s);
}

static void test_blame__nan_is_blamed_once_and_inherited_after(void **state)
{
    struct scene s;
    scene_open(&s, chain(), 8, ramp);
    struct odb_tensor *h = scaled(&s, "h", 1);
    ((odb_f32 *)h->data)[5] = NAN;
    scene_spoil(&s, "h", h);
    scene_blame(&s);
    assert_culprit(&s, "h");
    assert_int_equal(s.reports[value_of(&s, "h")].verdict, ODB_VERDICT_NAN);
    assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_NAN);
    scene_close(&s);
}

static void test_blame__minus_zero_is_zero(void **state)
{
    struct odb_builder *b = odb_build_new("zero", 17);
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Relu", "n0", "x", "h");
    odb_build_node(b, "Exp", "n1", "h", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, ramp);
    struct odb_tensor *h = scaled(&s, "h", 1);
    ((odb_f32 *)h->data)[0] = -0.0f;
    scene_spoil(&s, "h", h);
    scene_blame(&s);
    assert_culprit(&s, "");
    scene_close(&s);
}

/* What a processor that gives zeros below the least normal number makes of y = x * factor. */
static void flushed(float factor, const char *culprits)
{
    struct odb_builder *b = odb_build_new("flushed", 17);
    struct odb_tensor *weight =
        floats(8, (const float[]){factor, factor, factor, factor, factor, factor, factor, factor});
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "factor", weight);
    odb_tensor_unref(weight);
    odb_build_node(b, "Mul", "n0", "x factor", "h");
    odb_build_node(b, "Neg", "n1", "h", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, ramp);
    scene_spoil(&s, "h", scaled(&s, "h", 0));
    scene_blame(&s);
    assert_culprit(&s, culprits);
    scene_close(&s);
}

static void test_blame__flush_to_zero_is_no_fault(void **state)
{
    flushed(1e-40f, "");
    flushed(1e-30f, "h");
    assert_true(odb_noise_floor(1e-5, ODB_F16) < 0.01); /* float16 has no such excuse */
}

/* The same of an operator that is held to the bit, for one element of eight. */
static void flushed_in_place(enum odb_dtype dtype, float last, const char *culprits)
{
    struct odb_builder *b = odb_build_new("flushed", 17);
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Cast", "n0", "x", "h");
    odb_build_attr_int(b, "to", dtype);
    odb_build_node(b, "Relu", "n1", "h", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, (float[]){1, 2, 3, 4, 5, 6, 7, last});
    struct odb_tensor *y = NULL;
    assert_int_equal(odb_tensor_clone(&y, s.trace->ref[value_of(&s, "y")], NULL), ODB_OK);
    assert_true(odb_tensor_f64(y, 7) > 0);
    odb_store_f64(dtype, y->data, 7, 0);
    scene_spoil(&s, "y", y);
    scene_blame(&s);
    assert_culprit(&s, culprits);
    scene_close(&s);
}

static void test_blame__flush_to_zero_is_no_fault_where_bits_count(void **state)
{
    flushed_in_place(ODB_F32, 1e-40f, "");
    flushed_in_place(ODB_F32, 1e-30f, "y");
    flushed_in_place(ODB_F16, 1e-5f, "y"); /* float16 has no such excuse */
}

/* An integer wrong by one, which no float tolerance would see. */
static void test_blame__integer_wrong_by_one_is_named(void **state)
{
    struct odb_builder *b = odb_build_new("integers", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *one = NULL, *wrong = NULL;
    struct scene s;
    assert_int_equal(odb_tensor_copy_of(&one, ODB_I64, 1, (int64_t[]){1}, (int64_t[]){1}, &err),
                     ODB_OK);
    odb_build_weight(b, "one", one);
    odb_tensor_unref(one);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Shape", "n0", "x", "shape");
    odb_build_node(b, "Add", "n1", "shape one", "length");
    odb_build_node(b, "Tanh", "n2", "x", "y");
    odb_build_output(b, "y");
    odb_build_output(b, "length");
    scene_open(&s, b, 8, ramp);
    assert_int_equal(odb_tensor_copy_of(&wrong, ODB_I64, 1, (int64_t[]){1}, (int64_t[]){10}, &err),
                     ODB_OK);
    scene_spoil(&s, "length", wrong);
    scene_blame(&s);
    assert_culprit(&s, "length");
    assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_PASS);
    scene_close(&s);
}

/* Two numbers so near each other that rounding decides which is the largest: not ArgMax's fault. */
static void test_blame__decision_at_its_border_is_not_introduced(void **state)
{
    struct odb_builder *b = odb_build_new("border", 17);
    float near[4] = {0.1f, 0.7f, 0.7000003f, 0.2f};
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Exp", "n0", "x", "h");
    odb_build_node(b, "ArgMax", "n1", "h", "at");
    odb_build_node(b, "Tanh", "n2", "h", "y");
    odb_build_output(b, "at");
    odb_build_output(b, "y");
    scene_open(&s, b, 4, near);
    struct odb_tensor *h = scaled(&s, "h", 1);
    odb_f32 *v = h->data;
    v[1] = nextafterf(v[2], 9); /* honest rounding tips it */
    scene_spoil(&s, "h", h);
    scene_blame(&s);
    assert_culprit(&s, "");
    assert_int_equal(s.reports[value_of(&s, "at")].verdict, ODB_VERDICT_FAIL);
    scene_close(&s);
}

/* A body may decide as well: what noisy runs of it tip over is no fault, the rest is one. */
static void test_blame__decision_in_a_body_is_not_introduced(void **state)
{
    for (int64_t wrong = 0; wrong < 6; wrong += 5) {
        struct odb_builder *b = odb_build_new("decides", 17);
        struct odb_builder *body[2] = {odb_build_new("then", 17), odb_build_new("else", 17)};
        struct odb_tensor *rows = NULL, *cond = NULL, *t = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        struct scene s;
        const bool yes = true;
        assert_int_equal(odb_tensor_copy_of(&cond, ODB_BOOL, 0, NULL, &yes, &err), ODB_OK);
        odb_build_weight(b, "c", cond);
        assert_int_equal(
            odb_tensor_copy_of(&rows, ODB_I64, 1, (int64_t[]){2}, (int64_t[]){4, 3}, &err), ODB_OK);
        odb_build_weight(b, "rows", rows);
        odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){12});
        for (int i = 0; i < 2; i++) {
            odb_build_node(body[i], "Reshape", "m", "x rows", "m");
            odb_build_node(body[i], "Exp", "e", "m", "h");
            odb_build_node(body[i], "ArgMax", "a", "h", "t");
            odb_build_attr_int(body[i], "axis", 1);
            odb_build_output_typed(body[i], "t", ODB_I64, 2, (int64_t[]){4, 1});
        }
        odb_build_node(b, "If", "n0", "c", "at");
        odb_build_attr_graph(b, "then_branch", body[0]);
        odb_build_attr_graph(b, "else_branch", body[1]);
        odb_build_output(b, "at");
        scene_open(&s, b, 12, (float[]){0, 1, 1, 0, 2, 2, 0, 3, 3, 0, 4, 4});
        assert_int_equal(odb_tensor_clone(&t, s.trace->ref[value_of(&s, "at")], &err), ODB_OK);
        assert_int_equal(((odb_i64 *)t->data)[0], 1);
        ((odb_i64 *)t->data)[0] = wrong ? wrong : 2;
        scene_spoil(&s, "at", t);
        scene_blame(&s);
        assert_culprit(&s, wrong ? "at" : "");
        scene_close(&s);
        odb_tensor_unref(rows);
        odb_tensor_unref(cond);
    }
}

/* A single number may be made without rounding; what it is Cast to is as coarse as it is. */
static void test_blame__noise_of_a_half_stays_in_a_wider_type(void **state)
{
    struct odb_builder *b = odb_build_new("wider", 17);
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    odb_build_node(b, "Cast", "n0", "x", "h");
    odb_build_attr_int(b, "to", ODB_F16);
    odb_build_node(b, "Add", "n1", "h h", "q");
    odb_build_node(b, "Cast", "n2", "q", "y");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_output(b, "y");
    scene_open(&s, b, 1, (float[]){1});
    assert_true(s.trace->noise[value_of(&s, "q")] > 0x1p-11);
    assert_true(s.trace->noise[value_of(&s, "y")] >= s.trace->noise[value_of(&s, "q")]);
    scene_close(&s);
}

/* One noisy run of a few numbers may happen to show nothing: the others are made then. */
static void test_blame__no_noise_in_one_run_settles_nothing(void **state)
{
    struct odb_builder *b = odb_build_new("zero", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct scene s;
    double noise = 0;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    odb_build_node(b, "Neg", "n0", "x", "h");
    odb_build_node(b, "Add", "n1", "x h", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 1, (float[]){1});
    assert_int_equal(odb_trace_noise(s.trace, value_of(&s, "y"), INFINITY, 10, &noise, &err),
                     ODB_OK);
    assert_true(noise > 0 || s.trace->noisy_runs == 3);
    scene_close(&s);
}

/* The nearer an error is to the tolerance, the more noisy runs it takes to tell. */
static void test_blame__noisy_runs_are_as_many_as_it_takes(void **state)
{
    static const struct {
        double times; /* the tolerance */
        int runs;
    } asked[] = {{0.9, 0}, {5, 1}, {4.5, 1}, {3, 2}, {2.5, 2}, {1.5, 3}, {1.1, 3}};
    struct odb_error err = ODB_ERROR_INIT;
    struct scene s;
    double noise = 0;
    scene_open(&s, chain(), 8, ramp);
    int y = value_of(&s, "y");
    for (size_t i = 0; i < ODB_COUNT(asked); i++) {
        double error = asked[i].times * 10 * s.trace->noise[y];
        assert_int_equal(odb_trace_noise(s.trace, y, error, 10, &noise, &err), ODB_OK);
        assert_int_equal(s.trace->noisy_runs, asked[i].runs);
    }
    scene_close(&s);
}

/* The product y = x x in a model where it comes last of some nodes. */
static struct odb_tensor *noisy_product(int before)
{
    struct odb_builder *b = odb_build_new("place", 17);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *y = NULL;
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < before; i++) {
        char name[20], out[20];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, "h%d", i);
        odb_build_node(b, "Neg", name, "x", out);
    }
    odb_build_node(b, "Mul", "m", "x x", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, ramp);
    struct odb_tensor *x = s.trace->feeds->items[0].tensor;
    assert_int_equal(odb_trace_replay(s.trace, before, ODB_PREC_NOISY, ODB_NOISY_SEED(s.trace, 0),
                                      (struct odb_tensor *[]){x, x}, NULL, ODB_SIMULATE_NOTHING, &y,
                                      &err),
                     ODB_OK);
    scene_close(&s);
    return y;
}

/* Else a part of a model passes where the whole fails, and the other way round. */
static void test_blame__a_node_is_as_noisy_in_a_part(void **state)
{
    struct odb_tensor *alone = noisy_product(0), *behind = noisy_product(5);
    assert_true(odb_tensor_identical(alone, behind));
    odb_tensor_unref(alone);
    odb_tensor_unref(behind);
}

/* The noisy runs over the model happened to show less than those of the operator. */
static void test_blame__noise_of_the_operator_is_noise_of_its_value(void **state)
{
    struct scene s;
    scene_open(&s, chain(), 8, ramp);
    int h = value_of(&s, "h"), y = value_of(&s, "y");
    for (int spoiled = 0; spoiled < 2; spoiled++) {
        for (size_t v = 0; v < s.model->graph->n_values; v++) {
            odb_tensor_unref(s.given[v]);
            s.given[v] = NULL;
            s.reports[v] = (struct odb_value_report){0};
        }
        s.trace->noise[y] = 1e-12;
        s.trace->noisy_runs = 3;
        scene_spoil(&s, "h", scaled(&s, "h", spoiled ? 1.01 : 1));
        scene_blame(&s);
        assert_int_equal(s.reports[y].verdict, spoiled ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS);
        assert_int_equal(s.reports[h].culprit, spoiled);
    }
    scene_close(&s);
}

static void test_blame__another_shape_is_told(void **state)
{
    struct scene s;
    scene_open(&s, chain(), 8, ramp);
    s.given[s.feed.value] = odb_tensor_ref(s.feed.tensor);
    s.given[value_of(&s, "h")] = floats(4, ramp);
    scene_blame(&s);
    assert_culprit(&s, "h");
    assert_int_equal(s.reports[value_of(&s, "h")].verdict, ODB_VERDICT_SHAPE);
    scene_close(&s);
}

/* Whoever hands on numbers at the edge of float32, here by way of a shape of its own (a pool that
 * fills places with the least number there is), is to blame for sums of them that overflow in one
 * order and not in another; h, values [n], is what it gives, and sum is the target's. */
static void handed_on(size_t n, const float *h, float sum, bool second)
{
    struct odb_builder *b = odb_build_new("sum", 17);
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Exp", "n0", "x", "h");
    odb_build_node(b, "ReduceSum", "n1", "h", "s");
    odb_build_node(b, "Abs", "n2", "s", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, ramp);
    s.given[value_of(&s, "s")] = floats(1, &sum);
    scene_spoil(&s, "h", floats(n, h));
    scene_blame(&s);
    assert_true(s.reports[value_of(&s, "h")].culprit);
    assert_int_equal(s.reports[value_of(&s, "s")].culprit, second);
    assert_false(s.reports[value_of(&s, "y")].culprit);
    assert_int_equal(s.reports[value_of(&s, "h")].verdict,
                     n == 8 ? ODB_VERDICT_FAIL : ODB_VERDICT_SHAPE);
    scene_close(&s);
}

static void test_blame__sums_of_what_another_shape_brought_are_inherited(void **state)
{
    const float most = 3.4e38f;
    const float longer[10] = {1, 2, 3, 4, 5, 6, most, most, -most, -most};
    const float as_long[8] = {1, 2, 3, 4, most, most, -most, -most};
    const float odd[10] = {1, 2, 3, 4, 5, 6, NAN, 8, 9, 10};
    const float harmless[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    handed_on(10, longer, INFINITY, false);
    handed_on(8, as_long, INFINITY, false);
    handed_on(10, odd, 53, false);           /* a reduction that swallows NaN */
    handed_on(10, harmless, INFINITY, true); /* nothing brought that in */
}

/* A mean of numbers at the edge of float32 is Inf where they are added up in float32, and a number
 * where they are in more; of numbers that are far from it, it is one. */
static void mean_is_inf(float each, bool culprit)
{
    struct odb_builder *b = odb_build_new("mean", 17);
    float x[8], sum = INFINITY;
    struct scene s;
    for (size_t i = 0; i < ODB_COUNT(x); i++)
        x[i] = each;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "ReduceMean", "n0", "x", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 8, x);
    scene_spoil(&s, "y", floats(1, &sum));
    scene_blame(&s);
    assert_int_equal(s.reports[value_of(&s, "y")].culprit, culprit);
    scene_close(&s);
}

static void test_blame__a_sum_at_the_edge_overflows_or_does_not(void **state)
{
    mean_is_inf(1e38f, false);
    mean_is_inf(1e20f, true);
}

/* A wider type downstream follows from the node that began it. */
static void test_blame__another_type_is_blamed_where_it_began(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *wide = NULL;
    struct scene s;
    scene_open(&s, chain(), 8, ramp);
    assert_int_equal(odb_tensor_cast(&wide, s.trace->ref[value_of(&s, "q")], ODB_F64, &err),
                     ODB_OK);
    scene_spoil(&s, "q", wide);
    scene_blame(&s);
    assert_culprit(&s, "q");
    assert_int_equal(s.reports[value_of(&s, "q")].verdict, ODB_VERDICT_DTYPE);
    assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_DTYPE);
    scene_close(&s);
}

static void test_blame__fixed_criterion_decides_alone(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    for (int loose = 0; loose < 2; loose++) {
        struct scene s;
        scene_open(&s, chain(), 8, ramp);
        assert_int_equal(odb_criterion_parse(
                             &s.tolerance, loose ? "allclose:0.1,0.1" : "allclose:1e-3,1e-5", &err),
                         ODB_OK);
        scene_spoil(&s, "h", scaled(&s, "h", 1.01));
        scene_blame(&s);
        assert_culprit(&s, loose ? "" : "h");
        scene_close(&s);
    }
}

/* Where float64 is farther away than the tolerance, who computes what the reference computes is
 * right under any; and who does not is wrong, at the first place alone. */
static void test_blame__the_reference_is_right_under_any_tolerance(void **state)
{
    static const struct odb_criterion tolerances[] = {{ODB_CRITERION_ALLCLOSE, {1e-9, 0}},
                                                      {ODB_CRITERION_DIFF2, {1e-12}},
                                                      {ODB_CRITERION_ULP, {0}}};
    for (size_t i = 0; i < 2 * ODB_COUNT(tolerances); i++) {
        struct scene s;
        bool off = i % 2;
        scene_open(&s, chain(), 8, ramp);
        s.tolerance = tolerances[i / 2];
        struct odb_tensor *h = scaled(&s, "h", 1);
        odb_f32 *v = h->data;
        if (off)
            v[2] = nextafterf(v[2], 9);
        scene_spoil(&s, "h", h);
        scene_blame(&s);
        assert_culprit(&s, off ? "h" : "");
        scene_close(&s);
    }
    (void)state;
}

/* Tanh h -> Mul q -> Neg n, which is exact -> Exp y. */
static struct odb_builder *chain_with_move(void)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Neg", "n2", "q", "n");
    odb_build_node(b, "Exp", "n3", "n", "y");
    odb_build_output(b, "y");
    return b;
}

static void scene_tolerate(struct scene *s, const char *tolerance)
{
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_criterion_parse(&s->tolerance, tolerance, &err), ODB_OK);
}

/* Judged by one tolerance and then by another: as if it had been the other at once. */
static void scene_rejudge(struct scene *s, const char *from, const char *to)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_judge judge = {s->trace, &s->tolerance};
    struct odb_search_hooks quiet = {0};
    size_t n = s->model->graph->n_values;
    struct odb_value_report *again = odb_new_n(struct odb_value_report, n);
    scene_tolerate(s, from);
    assert_int_equal(odb_blame(&judge, 0, 4, s->given, again, &quiet, &err), ODB_OK);
    scene_tolerate(s, to);
    assert_int_equal(odb_rejudge(&judge, s->given, again, &quiet, &err), ODB_OK);
    memset(s->reports, 0, n * sizeof *s->reports);
    scene_blame(s);
    for (size_t v = 0; v < n; v++) {
        const struct odb_value_report *a = &again[v], *b = &s->reports[v];
        if (a->verdict != b->verdict || a->culprit != b->culprit ||
            a->local_error.known != b->local_error.known || (a->culprit && !a->reason[0]))
            fail_msg("%s -> %s: %s is %s%s (%s), not %s%s (%s)", from, to,
                     s->model->graph->values[v].name, odb_verdict_name(a->verdict),
                     a->culprit ? ", guilty" : "", a->reason, odb_verdict_name(b->verdict),
                     b->culprit ? ", guilty" : "", b->reason);
    }
    free(again);
}

static void test_blame__another_tolerance_later_is_the_same_as_at_once(void **state)
{
    static const char *const tolerances[] = {"noise:10", "noise:0.3", "noise:1e6",
                                             "allclose:1e-3,1e-5", "ulp:2"};
    static const double factors[] = {1, 1.0000004, 1.0001, 1.01, NAN};
    static const char *const names[] = {"h", "n"};
    for (size_t c = 0; c < ODB_COUNT(factors) * ODB_COUNT(names); c++) {
        const char *name = names[c % 2];
        struct scene s;
        scene_open(&s, chain_with_move(), 8, ramp);
        scene_spoil(&s, name, scaled(&s, name, factors[c / 2]));
        odb_tensor_unref(s.given[s.feed.value]); /* as a report has it */
        s.given[s.feed.value] = NULL;
        for (size_t from = 0; from < ODB_COUNT(tolerances); from++)
            for (size_t to = 0; to < ODB_COUNT(tolerances); to++)
                scene_rejudge(&s, tolerances[from], tolerances[to]);
        scene_close(&s);
    }
}

/* What was not had keeps what was said of it, and what cannot be replayed goes by its numbers. */
static void test_blame__rejudging_goes_by_what_there_is(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_search_hooks quiet = {0};
    struct scene s;
    scene_open(&s, chain_with_move(), 8, ramp);
    struct odb_judge judge = {s.trace, &s.tolerance};
    scene_spoil(&s, "q", scaled(&s, "q", 1.0001));
    scene_blame(&s);
    assert_culprit(&s, "q");
    int h = value_of(&s, "h"), q = value_of(&s, "q");
    odb_tensor_unref(s.given[h]);
    s.given[h] = NULL;
    s.reports[h] = (struct odb_value_report){.verdict = ODB_VERDICT_CRASH, .reason = "SIGABRT"};
    scene_tolerate(&s, "noise:1e6");
    assert_int_equal(odb_rejudge(&judge, s.given, s.reports, &quiet, &err), ODB_OK);
    assert_int_equal(s.reports[h].verdict, ODB_VERDICT_CRASH);
    assert_string_equal(s.reports[h].reason, "SIGABRT");
    assert_int_equal(s.reports[q].verdict, ODB_VERDICT_PASS);
    assert_culprit(&s, "");
    assert_true(s.reports[q].local_error.known);
    scene_tolerate(&s, "noise:10");
    assert_int_equal(odb_rejudge(&judge, s.given, s.reports, &quiet, &err), ODB_OK);
    assert_culprit(&s, "q");
    assert_int_equal(s.reports[value_of(&s, "y")].verdict, ODB_VERDICT_FAIL);
    scene_close(&s);
}

struct counter {
    size_t values, stop_after;
};

static void counter_event(void *payload, const struct odb_search_event *event)
{
    ((struct counter *)payload)->values += event->what == ODB_EVENT_VALUE;
}

static bool counter_cancelled(void *payload)
{
    const struct counter *c = payload;
    return c->values >= c->stop_after;
}

static void test_blame__rejudging_tells_and_can_be_cancelled(void **state)
{
    struct scene s;
    scene_open(&s, chain_with_move(), 8, ramp);
    scene_spoil(&s, "h", scaled(&s, "h", 1.01));
    scene_blame(&s);
    scene_tolerate(&s, "allclose:1,1");
    for (size_t stop = 1; stop < 6; stop++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_judge judge = {s.trace, &s.tolerance};
        struct counter counter = {.stop_after = stop};
        struct odb_search_hooks hooks = {counter_event, counter_cancelled, &counter, NULL};
        enum odb_status status = odb_rejudge(&judge, s.given, s.reports, &hooks, &err);
        assert_int_equal(status, stop < 4 ? ODB_CANCELLED : ODB_OK);
        assert_int_equal(counter.values, ODB_MIN(stop, (size_t)4));
        assert_null(s.trace->phase);
    }
    assert_culprit(&s, "");
    scene_close(&s);
}

/* The reference's value as a target gives it that stores integers of this step, off by so many of
 * them everywhere and by a factor. */
static struct odb_tensor *stored(const struct scene *s, const char *name, double step, double off,
                                 double factor)
{
    struct odb_tensor *t = scaled(s, name, factor);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(t->dtype, t->data, i, (nearbyint(odb_tensor_f64(t, i) / step) + off) * step);
    odb_tensor_set_steps(t, 0, &step, 1);
    return t;
}

/* x -> Tanh h -> operator q -> Exp y. */
static struct odb_builder *before_and_behind(const char *op)
{
    struct odb_builder *b = odb_build_new("stored", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, op, "n1", "h", "q");
    odb_build_node(b, "Exp", "n2", "q", "y");
    odb_build_output(b, "y");
    return b;
}

/* x -> Tanh h -> Relu q -> Exp y: h and q are stored in the same way. */
static void blamed_stored(double step, double off, double factor, const char *culprit)
{
    static const char *const names[] = {"h", "q"};
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        struct scene s;
        scene_open(&s, before_and_behind(i ? "Relu" : "Exp"), 8, ramp);
        scene_spoil(&s, names[i], stored(&s, names[i], step, off, factor));
        scene_blame(&s);
        assert_culprit(&s, culprit ? names[i] : "");
        assert_int_equal(s.reports[value_of(&s, names[i])].verdict,
                         culprit ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS);
        scene_close(&s);
    }
}

static void test_blame__half_a_stored_step_is_no_fault(void **state)
{
    (void)state;
    blamed_stored(1 / 128., 0, 1, NULL);
    blamed_stored(1 / 1073741824., 0, 1, NULL);
    blamed_stored(1 / 128., 1, 1, "");
    blamed_stored(1 / 128., -0.75, 1, "");
    blamed_stored(1 / 128., 0, 1.01, "");
    blamed_stored(1 / 32768., 0, 1.01, "");
}

/* x -> Tanh h -> operator q -> Exp y, where h and q are read in steps, and both were computed
 * before they were rounded. by: what q is moved by, in steps. */
static void blamed_between_stored(const char *op, double step, double by, const char *culprit)
{
    struct scene s;
    scene_open(&s, before_and_behind(op), 8, ramp);
    s.given[value_of(&s, "h")] = stored(&s, "h", step, 0, 1);
    s.given[value_of(&s, "q")] = stored(&s, "q", step / 4, by, 1);
    struct odb_tensor *y = s.given[value_of(&s, "y")] = scaled(&s, "q", 1);
    for (size_t i = 0; i < y->count; i++)
        odb_store_f64(y->dtype, y->data, i, exp(odb_tensor_f64(y, i) + by * step / 4));
    scene_blame(&s);
    assert_culprit(&s, culprit);
    scene_close(&s);
}

/* What was read of the input is not what the node was fed. */
static void test_blame__half_a_step_of_an_input_is_no_fault(void **state)
{
    static const char *const ops[] = {"Relu", "Neg", "Sigmoid", "Reciprocal", "Sin"};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(ops); i++) {
        blamed_between_stored(ops[i], 1 / 128., 0, "");
        blamed_between_stored(ops[i], 0x1p-31, 0, "");
    }
    blamed_between_stored("Relu", 1 / 128., 8, "q");
    blamed_between_stored("Sin", 1 / 128., 8, "q");
    blamed_between_stored("Sigmoid", 1 / 128., -8, "q");
}

/* x -> Tanh h -> Neg q -> Exp y, where q is stored, so that the NaN of h is a 0 there, and in y
 * again NaN. */
static void test_blame__nan_that_integers_hide_is_blamed_once(void **state)
{
    const double step = 1 / 128.;
    struct scene s;
    (void)state;
    scene_open(&s, before_and_behind("Neg"), 8, ramp);
    static const char *const names[] = {"h", "q", "y"};
    for (size_t i = 0; i < ODB_COUNT(names); i++) {
        struct odb_tensor *t = i == 1 ? stored(&s, "q", step, 0, 1) : scaled(&s, names[i], 1);
        odb_store_f64(t->dtype, t->data, 3, i == 1 ? 0 : NAN);
        s.given[value_of(&s, names[i])] = t;
    }
    scene_blame(&s);
    assert_culprit(&s, "h");
    scene_close(&s);
}

/* Each place on the axis has its own step, and half of another's is a fault. */
static void test_blame__each_channel_has_its_step(void **state)
{
    (void)state;
    static const double steps[8] = {1e-4, 1e-4, 1e-4, 0.25, 1e-4, 1e-4, 1e-4, 1e-4};
    for (int at = 3; at < 5; at++) {
        struct scene s;
        scene_open(&s, chain(), 8, ramp);
        struct odb_tensor *t = scaled(&s, "h", 1);
        ((float *)t->data)[at] -= 0.1f;
        odb_tensor_set_steps(t, 0, steps, 8);
        scene_spoil(&s, "h", t);
        scene_blame(&s);
        assert_culprit(&s, at == 3 ? "" : "h");
        scene_close(&s);
    }
}

/* Strings have no distance: those that differ are beyond any noise, or an output would be excused.
 */
static void test_blame__strings(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct scene s;
    struct odb_tensor *other = NULL;
    const struct odb_str words[] = {{"1", 1}, {"three", 5}};
    struct odb_builder *b = odb_build_new("strings", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Cast", "n0", "x", "w");
    odb_build_attr_int(b, "to", ODB_STRING);
    odb_build_node(b, "Identity", "n1", "w", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, 2, (float[]){1, 2});
    assert_int_equal(odb_tensor_copy_of(&other, ODB_STRING, 1, (int64_t[]){2}, words, &err),
                     ODB_OK);
    scene_spoil(&s, "w", other);
    scene_blame(&s);
    assert_culprit(&s, "w");
    for (int i = 0; i < 2; i++) {
        const struct odb_value_report *report = &s.reports[value_of(&s, i ? "y" : "w")];
        assert_int_equal(report->verdict, ODB_VERDICT_FAIL);
        assert_true(report->error.known && isinf(report->error.v));
        assert_true(report->noise.known && report->noise.v == 0);
    }
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blame__honest_target_has_no_culprit),
        cmocka_unit_test(test_blame__one_percent_is_blamed_where_it_began),
        cmocka_unit_test(test_blame__rounding_of_the_type_is_no_fault),
        cmocka_unit_test(test_blame__masked_fault_is_named),
        cmocka_unit_test(test_blame__moves_are_held_to_the_bit),
        cmocka_unit_test(test_blame__a_cast_to_eight_bits_overflows_as_its_attributes_say),
        cmocka_unit_test(test_blame__amplifier_is_a_carrier),
        cmocka_unit_test(test_blame__nan_is_blamed_once_and_inherited_after),
        cmocka_unit_test(test_blame__minus_zero_is_zero),
        cmocka_unit_test(test_blame__flush_to_zero_is_no_fault),
        cmocka_unit_test(test_blame__flush_to_zero_is_no_fault_where_bits_count),
        cmocka_unit_test(test_blame__integer_wrong_by_one_is_named),
        cmocka_unit_test(test_blame__decision_at_its_border_is_not_introduced),
        cmocka_unit_test(test_blame__decision_in_a_body_is_not_introduced),
        cmocka_unit_test(test_blame__noise_of_a_half_stays_in_a_wider_type),
        cmocka_unit_test(test_blame__no_noise_in_one_run_settles_nothing),
        cmocka_unit_test(test_blame__noisy_runs_are_as_many_as_it_takes),
        cmocka_unit_test(test_blame__a_node_is_as_noisy_in_a_part),
        cmocka_unit_test(test_blame__noise_of_the_operator_is_noise_of_its_value),
        cmocka_unit_test(test_blame__another_shape_is_told),
        cmocka_unit_test(test_blame__sums_of_what_another_shape_brought_are_inherited),
        cmocka_unit_test(test_blame__a_sum_at_the_edge_overflows_or_does_not),
        cmocka_unit_test(test_blame__another_type_is_blamed_where_it_began),
        cmocka_unit_test(test_blame__fixed_criterion_decides_alone),
        cmocka_unit_test(test_blame__the_reference_is_right_under_any_tolerance),
        cmocka_unit_test(test_blame__another_tolerance_later_is_the_same_as_at_once),
        cmocka_unit_test(test_blame__rejudging_goes_by_what_there_is),
        cmocka_unit_test(test_blame__rejudging_tells_and_can_be_cancelled),
        cmocka_unit_test(test_blame__half_a_stored_step_is_no_fault),
        cmocka_unit_test(test_blame__half_a_step_of_an_input_is_no_fault),
        cmocka_unit_test(test_blame__nan_that_integers_hide_is_blamed_once),
        cmocka_unit_test(test_blame__each_channel_has_its_step),
        cmocka_unit_test(test_blame__strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
