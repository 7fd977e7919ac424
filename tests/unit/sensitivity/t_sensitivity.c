/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a type costs each node: numbers known by hand, a model with Casts around one node as another
 * way to the same number, errors that die, overflow, estimates, and what a target shows.
 */
#include "sensitivity/sensitivity.h"
#include "sensitivity/sensitivity_int.h"

#include <math.h>

#include "interpret/cpu.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

#define N 8

struct found {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_trace *trace;
    struct odb_sensitivity_result *result;
};

static void found_open(struct found *f, struct odb_builder *b, struct odb_tensor *x)
{
    const struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    *f = (struct found){.model = models_take(b)};
    f->feed = (struct odb_feed){.value = models_value(f->model, "x"), .tensor = x};
    f->feeds = (struct odb_feeds){&f->feed, 1, NULL};
    MODELS_OK(odb_trace_make(&f->trace, f->model, &f->feeds, &how, &why));
}

static void found_run(struct found *f, enum odb_dtype to, const char *target, double seconds)
{
    const struct odb_sensitivity_options options = {.to = to, .target = target, .seconds = seconds};
    help_find_serve();
    odb_sensitivity_result_free(f->result);
    MODELS_OK(odb_sensitivity(&f->result, f->model, &f->feeds, f->trace, &options, &why));
}

static void found_close(struct found *f)
{
    odb_sensitivity_result_free(f->result);
    odb_trace_free(f->trace);
    odb_tensor_unref(f->feed.tensor);
    odb_model_free(f->model);
}

static const struct odb_sensitive *found_node(const struct found *f, const char *name)
{
    for (size_t n = 0; n < f->model->graph->n_nodes; n++)
        if (!strcmp(f->model->graph->nodes[n].name, name))
            return &f->result->nodes[n];
    fail_msg("no node '%s'", name);
    return NULL;
}

static struct odb_tensor *found_one(float v)
{
    return models_f32(1, (int64_t[]){1}, &v);
}

static void found_weight(struct odb_builder *b, const char *name, float v)
{
    struct odb_tensor *t = found_one(v);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static struct odb_builder *found_graph(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1});
    return b;
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-6 * fabs(wanted)))
        fail_msg("%.9g, not %.9g", got, wanted);
}

/* --- numbers known by hand -------------------------------------------------------------------- */

/* 1 + 2^-12 is 1 in float16; a difference makes the same error five times as large a part. */
static void test_sensitivity__a_difference_amplifies(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_weight(b, "one", 1);
    found_weight(b, "c", 0.75f);
    odb_build_node(b, "Mul", "mul", "x one", "m");
    odb_build_node(b, "Sub", "sub", "m c", "y");
    odb_build_output(b, "y");
    found_open(&f, b, found_one(1 + 0x1p-12f));
    found_run(&f, ODB_F16, NULL, 0);
    double local = 0x1p-12 / (1 + 0x1p-12), off = 0x1p-12 / (0.25 + 0x1p-12);
    near(found_node(&f, "mul")->local.error, local);
    near(found_node(&f, "mul")->contribution.error, off);
    near(found_node(&f, "sub")->local.error, off);
    near(found_node(&f, "sub")->contribution.error, off);
    near(f.result->whole.error, off);
    near(f.result->squares, 2 * off * off);
    assert_int_equal(found_node(&f, "mul")->known, ODB_SENSITIVITY_MEASURED);
    assert_int_equal(found_node(&f, "mul")->reruns, 1);
    assert_int_equal(f.result->n_measured, 2);
    assert_int_equal(f.result->order[0], 1); /* of equals that which is off more itself */
    found_run(&f, ODB_BF16, NULL, 0);
    near(found_node(&f, "mul")->local.error, local);
    found_close(&f);
    (void)state;
}

static struct odb_builder *found_choice(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){3});
    found_weight(b, "one", 1);
    odb_build_node(b, "Mul", "mul", "x one", "m");
    odb_build_node(b, "ArgMax", "most", "m", "i");
    odb_build_node(b, "Cast", "cast", "i", "y");
    odb_build_attr_int(b, "to", ODB_F32);
    odb_build_output(b, "y");
    return b;
}

/* Behind an ArgMax that decides as it did, nothing runs; where it decides otherwise, it is off. */
static void test_sensitivity__an_error_ends_at_a_choice(void **state)
{
    struct found f;
    found_open(&f, found_choice(), models_f32(1, (int64_t[]){3}, (float[]){0.1f, 0.3f, 0.2f}));
    found_run(&f, ODB_F16, NULL, 0);
    assert_true(found_node(&f, "mul")->local.error > 1e-5);
    assert_true(found_node(&f, "mul")->contribution.error == 0);
    assert_int_equal(found_node(&f, "mul")->contribution.value, ODB_NO_VALUE);
    assert_int_equal(found_node(&f, "mul")->reruns, 1); /* ArgMax, and no Cast */
    assert_int_equal(found_node(&f, "cast")->known, ODB_SENSITIVITY_MEASURED);
    assert_int_equal(f.result->n_exact, f.result->n_computes);
    assert_int_equal(f.result->n_harmless, f.result->n_computes);
    found_close(&f);
    found_open(&f, found_choice(), models_f32(1, (int64_t[]){3}, (float[]){1, 1 + 0x1p-12f, 0.5f}));
    found_run(&f, ODB_F16, NULL, 0);
    near(found_node(&f, "mul")->contribution.error, 1); /* 0 instead of 1 */
    assert_int_equal(found_node(&f, "most")->local.how, ODB_SENSITIVITY_CHOICE);
    near(found_node(&f, "most")->contribution.error, 1);
    found_close(&f);
    (void)state;
}

/* 90000 is beyond float16, and no output need show it. */
static void test_sensitivity__overflow(void **state)
{
    for (int cut = 0; cut < 2; cut++) {
        struct found f;
        struct odb_builder *b = found_graph();
        found_weight(b, "five", 5);
        odb_build_node(b, "Mul", "square", "x x", cut ? "m" : "y");
        if (cut)
            odb_build_node(b, "Min", "min", "m five", "y");
        odb_build_output(b, "y");
        found_open(&f, b, found_one(300));
        found_run(&f, ODB_F16, NULL, 0);
        const struct odb_sensitive *square = found_node(&f, "square");
        assert_int_equal(square->local.how, ODB_SENSITIVITY_OVERFLOW);
        assert_true(isinf(square->local.error));
        assert_int_equal(square->contribution.how,
                         cut ? ODB_SENSITIVITY_FINITE : ODB_SENSITIVITY_OVERFLOW);
        assert_true(cut ? square->contribution.error == 0 : isinf(square->contribution.error));
        assert_true(f.result->squares == 0);
        found_run(&f, ODB_BF16, NULL, 0);
        assert_int_equal(found_node(&f, "square")->local.how, ODB_SENSITIVITY_FINITE);
        found_close(&f);
    }
    (void)state;
}

/* --- another way to the same numbers ---------------------------------------------------------- */

static struct odb_tensor *found_ramp(float base, float step)
{
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){N, N}, &why));
    for (size_t i = 0; i < t->count; i++)
        ((odb_f32 *)t->data)[i] = base + step * (float)((int)(i * 29 % 17) - 8);
    return t;
}

/* MatMul, Tanh, MatMul, Sigmoid; alone (-1: none) stands between Casts to float16. */
static struct odb_builder *found_casts(int alone)
{
    static const char *const ops[] = {"MatMul", "Tanh", "MatMul", "Sigmoid"};
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *w = found_ramp(0.05f, 0.03f), *half;
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){N, N});
    MODELS_OK(odb_tensor_cast(&half, w, ODB_F16, &why));
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "w_half", half);
    odb_tensor_unref(w);
    odb_tensor_unref(half);
    for (int i = 0; i < 4; i++) {
        char name[16], in[40], from[16], out[16];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(from, sizeof from, i ? "v%d" : "x", i - 1);
        snprintf(out, sizeof out, i == 3 ? "y" : "v%d", i);
        if (i == alone) {
            odb_build_node(b, "Cast", "narrow", from, "narrow_in");
            odb_build_attr_int(b, "to", ODB_F16);
        }
        snprintf(in, sizeof in, "%s%s", i == alone ? "narrow_in" : from,
                 i % 2        ? ""
                 : i == alone ? " w_half"
                              : " w");
        odb_build_node(b, ops[i], name, in, i == alone ? "narrow_out" : out);
        if (i == alone) {
            odb_build_node(b, "Cast", "wide", "narrow_out", out);
            odb_build_attr_int(b, "to", ODB_F32);
        }
    }
    odb_build_output(b, "y");
    return b;
}

static double found_off(const struct odb_tensor *t, const struct odb_tensor *base)
{
    double off = 0, all = 0;
    for (size_t i = 0; i < base->count; i++) {
        off += pow(odb_tensor_f64(t, i) - odb_tensor_f64(base, i), 2);
        all += pow(odb_tensor_f64(base, i), 2);
    }
    return sqrt(off / all);
}

static void test_sensitivity__as_with_casts_around_it(void **state)
{
    struct found f;
    found_open(&f, found_casts(-1), found_ramp(0.1f, 0.123f));
    found_run(&f, ODB_F16, NULL, 0);
    const struct odb_tensor *y = f.trace->ref[models_value(f.model, "y")];
    for (int i = 0; i < 4; i++) {
        struct found g;
        found_open(&g, found_casts(i), found_ramp(0.1f, 0.123f));
        double off = found_off(g.trace->ref[models_value(g.model, "y")], y);
        assert_true(off > 1e-6);
        near(f.result->nodes[i].contribution.error, off);
        found_close(&g);
    }
    found_close(&f);
    (void)state;
}

/* Only products have int8; behind the last one, alone, stands what its operands lose. */
static void test_sensitivity__int8(void **state)
{
    struct found f;
    found_open(&f, found_casts(-1), found_ramp(0.1f, 0.123f));
    found_run(&f, ODB_I8, NULL, 0);
    assert_int_equal(f.result->n_computes, 2);
    assert_int_equal(found_node(&f, "n1")->known, ODB_SENSITIVITY_NOTHING);
    assert_true(found_node(&f, "n0")->contribution.error > 1e-4);
    assert_true(found_node(&f, "n2")->contribution.error > 1e-4);
    assert_true(f.result->whole.error > 1e-4 && f.result->whole.error < 0.1);
    found_close(&f);
    (void)state;
}

/* --- time ------------------------------------------------------------------------------------- */

static void found_chain(struct found *f, int n)
{
    static const float values[8] = {0.1f, -0.7f, 0.33f, 0.9f, -0.21f, 0.5f, 0.77f, -0.4f};
    struct odb_builder *b = models_chain(n);
    odb_build_output(b, "y");
    found_open(f, b, models_f32(1, (int64_t[]){8}, values));
}

/* What there was no time for is not measured, and is called that. */
static void test_sensitivity__no_time(void **state)
{
    struct found f;
    struct odb_buf text = ODB_BUF_INIT;
    found_chain(&f, 40);
    found_run(&f, ODB_F16, NULL, 1e-9);
    assert_int_equal(f.result->n_measured + f.result->n_estimated, 0);
    assert_int_equal(f.result->n_left, 40);
    assert_true(f.result->late && !f.result->stopped);
    assert_int_equal(f.result->n_harmless, 0);
    odb_sensitivity_put(f.result, 80, &text);
    assert_non_null(strstr(odb_buf_text(&text), "40 not measured: the time was up"));
    assert_non_null(strstr(odb_buf_text(&text), "nothing is said of the 40 that were not"));
    odb_buf_clear(&text);
    odb_sensitivity_json(f.result, NULL, NULL, &text);
    assert_non_null(strstr(odb_buf_text(&text), "\"complete\": false"));
    assert_non_null(strstr(odb_buf_text(&text), "\"known\": \"not measured\""));
    odb_buf_dispose(&text);
    found_close(&f);
    (void)state;
}

/* As if the reference had taken long: all is estimated first, and then measured. */
static void test_sensitivity__estimates(void **state)
{
    struct found f;
    found_chain(&f, 120);
    for (size_t n = 0; n < 120; n++)
        f.trace->took[n] = 1000;
    found_run(&f, ODB_F16, NULL, 1000);
    assert_int_equal(f.result->n_measured, 120);
    assert_true(f.result->n_checked > 10);
    assert_true(f.result->off_half < 1.5);
    struct odb_sensitive *had = odb_new_n(struct odb_sensitive, 120);
    memcpy(had, f.result->nodes, 120 * sizeof *had);
    found_run(&f, ODB_F16, NULL, 0); /* they change no measurement */
    for (size_t n = 0; n < 120; n++)
        assert_true(had[n].contribution.error == f.result->nodes[n].contribution.error);
    assert_int_equal(f.result->n_checked, 0);
    free(had);
    found_close(&f);
    (void)state;
}

/* The first node that all ways lead through. */
static void test_sensitivity__next(void **state)
{
    static const int wanted[] = {3, 3, 3, 5, ODB_NO_NODE, 6};
    struct odb_builder *b = found_graph();
    odb_build_node(b, "Neg", "a", "x", "va");     /* 0: 1, 2 */
    odb_build_node(b, "Exp", "b", "va", "vb");    /* 1: 3 */
    odb_build_node(b, "Abs", "c", "va", "vc");    /* 2: 3 */
    odb_build_node(b, "Add", "d", "vb vc", "vd"); /* 3: 4, 5 */
    odb_build_node(b, "Sin", "e", "vd", "ve");    /* 4: no output */
    odb_build_node(b, "Cos", "f", "vd", "y");     /* 5 */
    odb_build_output(b, "y");
    struct odb_model *model = models_take(b);
    struct sensitivity s = {.model = model, .graph = model->graph};
    sensitivity_follow(&s);
    for (size_t n = 0; n < 6; n++)
        assert_int_equal(s.next[n], wanted[n]);
    free(s.next);
    odb_model_free(model);
    (void)state;
}

/* --- what a target shows ---------------------------------------------------------------------- */

static void test_sensitivity__ranks(void **state)
{
    const double x[] = {1, 2, NAN, 3, 4, 5}, y[] = {5, 6, 1, 7, 8, 7}, flat[] = {2, 2, 2, 2, 2, 2};
    struct odb_sensitivity_match m = sensitivity_match(x, y, 6);
    assert_int_equal(m.n, 5);
    near(m.rank, 0.8207826816681233); /* as R's cor(method = "spearman") */
    assert_int_equal(m.worst, 5);
    assert_int_equal(m.found, 5);
    assert_true(isnan(sensitivity_match(x, flat, 6).rank));
    assert_true(isnan(sensitivity_match(x, y, 2).rank));
    (void)state;
}

static void test_sensitivity__a_target_in_the_type(void **state)
{
    struct found f;
    found_chain(&f, 60);
    found_run(&f, ODB_F16, "cpu:f16", 0);
    assert_null(f.result->target_why);
    assert_int_equal(f.result->local.n, 60);
    assert_true(f.result->local.rank > 0.5);
    assert_true(f.result->outputs.rank > 0.6);
    assert_int_equal(f.result->n_stand_out, 0);
    near(f.result->target_error.error, f.result->whole.error);
    found_run(&f, ODB_F16, "fault:scale,node=#20,amount=0.1@cpu:f16", 0);
    assert_int_equal(f.result->n_stand_out, 1);
    assert_true(f.result->nodes[20].stands_out);
    assert_true(f.result->nodes[20].carried > f.result->nodes[20].foretold);
    found_close(&f);
    (void)state;
}

static void test_sensitivity__a_target_that_fails(void **state)
{
    struct found f;
    struct odb_buf text = ODB_BUF_INIT;
    found_chain(&f, 10);
    found_run(&f, ODB_F16, "fault:crash,node=#5@cpu", 0);
    assert_non_null(f.result->target_why);
    assert_int_equal(f.result->n_measured, 10);
    assert_true(isnan(f.result->target_error.error));
    odb_sensitivity_put(f.result, 80, &text);
    assert_non_null(strstr(odb_buf_text(&text), "its values could not be read"));
    odb_buf_dispose(&text);
    found_close(&f);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sensitivity__a_difference_amplifies),
        cmocka_unit_test(test_sensitivity__an_error_ends_at_a_choice),
        cmocka_unit_test(test_sensitivity__overflow),
        cmocka_unit_test(test_sensitivity__as_with_casts_around_it),
        cmocka_unit_test(test_sensitivity__int8),
        cmocka_unit_test(test_sensitivity__no_time),
        cmocka_unit_test(test_sensitivity__estimates),
        cmocka_unit_test(test_sensitivity__next),
        cmocka_unit_test(test_sensitivity__ranks),
        cmocka_unit_test(test_sensitivity__a_target_in_the_type),
        cmocka_unit_test(test_sensitivity__a_target_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
