/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Steps of a quantiser's grid: which values an honest target may have there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/steps.h"
#include "model/read/load.h"
#include "model/write/build.h"

#define STEPS_N 200
#define STEPS_SCALE 0.5f

/* x, Tanh and 8 times as much, in steps of 0.5. */
struct scene {
    struct odb_model *model;
    struct odb_feeds feeds;
    struct odb_feed feed;
    struct odb_trace *trace;
    struct odb_tensor *t; /* the target's value at the end */
};

static struct odb_tensor *tensor(enum odb_dtype dtype, int rank, int64_t n, const void *data)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, dtype, rank, &n, data, NULL), ODB_OK);
    return t;
}

static void weight(struct odb_builder *b, const char *name, enum odb_dtype dtype, const void *data)
{
    struct odb_tensor *t = tensor(dtype, 0, 1, data);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static int value_of(const struct scene *s, const char *name)
{
    return odb_graph_value(s->model->graph, name)->index;
}

static int scene_open(void **state)
{
    struct scene *s = *state = calloc(1, sizeof *s);
    struct odb_builder *b = odb_build_new("grid", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    float x[STEPS_N];
    for (int i = 0; i < STEPS_N; i++)
        x[i] = (float)(i - STEPS_N / 2) / 40;
    weight(b, "eight", ODB_F32, &(float){8});
    weight(b, "scale", ODB_F32, &(float){STEPS_SCALE});
    weight(b, "zero", ODB_U8, &(uint8_t){10}); /* -5 is the least: what is below saturates */
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){STEPS_N});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h eight", "m");
    odb_build_node(b, "QuantizeLinear", "n2", "m scale zero", "q");
    odb_build_node(b, "DequantizeLinear", "n3", "q scale zero", "y");
    weight(b, "bound", ODB_F32, &(float){1});
    odb_build_node(b, "Relu", "n4", "y", "relu");
    odb_build_node(b, "Max", "n5", "y bound", "bounded");
    odb_build_node(b, "Max", "n6", "y h", "larger");
    odb_build_node(b, "Abs", "n7", "y", "abs");
    odb_build_node(b, "ArgMax", "n8", "q", "first");
    odb_build_node(b, "MatMulInteger", "n9", "q q", "product");
    odb_build_output(b, "y");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    assert_int_equal(
        odb_model_open_bytes(&s->model, bytes.data, bytes.len, NULL, ".", "test", NULL), ODB_OK);
    odb_buf_dispose(&bytes);
    s->feed =
        (struct odb_feed){.value = value_of(s, "x"), .tensor = tensor(ODB_F32, 1, STEPS_N, x)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    assert_int_equal(odb_trace_make(&s->trace, s->model, &s->feeds, &how, NULL), ODB_OK);
    assert_int_equal(odb_tensor_clone(&s->t, s->trace->ref[value_of(s, "y")], NULL), ODB_OK);
    return 0;
}

static int scene_close(void **state)
{
    struct scene *s = *state;
    odb_tensor_unref(s->t);
    odb_trace_free(s->trace);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
    free(s);
    return 0;
}

static void move(struct scene *s, size_t i, double steps)
{
    odb_store_f64(ODB_F32, s->t->data, i, odb_tensor_f64(s->t, i) + steps * STEPS_SCALE);
}

static struct odb_steps measure_behind(struct scene *s, const char *name,
                                       const struct odb_tensor *before)
{
    struct odb_steps steps;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_steps_measure(&steps, s->trace, value_of(s, name), before, s->t, 10, &err),
                     ODB_OK);
    return steps;
}

static struct odb_steps measure(struct scene *s, const char *name)
{
    return measure_behind(s, name, NULL);
}

static void test_the_reference_is_honest(void **state)
{
    struct odb_steps steps = measure(*state, "y");
    assert_true(steps.known);
    assert_int_equal(steps.off, 0);
    assert_true(odb_steps_honest(&steps));
}

/* Which of two steps a value in the middle between them falls on is no fault. */
static void test_a_tie_may_tip(void **state)
{
    struct scene *s = *state;
    struct odb_tensor *m = s->trace->golden[value_of(s, "m")];
    size_t at = STEPS_N / 2 + 3;
    (void)measure(s, "y");                      /* noise is known from here on, as golden was */
    odb_store_f64(m->dtype, m->data, at, 4.25); /* between 4 and 4.5 */
    for (int i = 0; i < 2; i++) {
        odb_store_f64(ODB_F32, s->t->data, at, i ? 4.5 : 4);
        assert_int_equal(measure(s, "y").off, 0);
    }
    odb_store_f64(ODB_F32, s->t->data, at, 5);
    assert_int_equal(measure(s, "y").off, 1);
}

/* What was read before the quantiser counts, and not golden, which may be elsewhere. */
static void test_what_was_read_before_it_counts(void **state)
{
    struct scene *s = *state;
    size_t at = STEPS_N / 2 + 3;
    struct odb_tensor *m = NULL;
    assert_int_equal(odb_tensor_clone(&m, s->trace->ref[value_of(s, "m")], NULL), ODB_OK);
    assert_int_equal(measure_behind(s, "y", m).off, 0);
    odb_store_f64(ODB_F32, m->data, at, 4.25);
    for (int i = 0; i < 2; i++) {
        odb_store_f64(ODB_F32, s->t->data, at, i ? 4.5 : 4);
        assert_int_equal(measure_behind(s, "y", m).off, 0);
        assert_int_equal(measure(s, "y").off, 1);
    }
    odb_tensor_unref(m);
}

/* A table may be off by a step here and there, but not often, nor by more. */
static void test_few_may_be_a_step_off(void **state)
{
    struct scene *s = *state;
    struct odb_steps steps;
    move(s, STEPS_N / 2, 1);
    steps = measure(s, "y");
    assert_int_equal(steps.off, 1);
    assert_int_equal(steps.wide, 0);
    assert_true(odb_steps_honest(&steps));
    move(s, STEPS_N / 2 + 9, -1);
    move(s, STEPS_N / 2 + 12, -1);
    steps = measure(s, "y");
    assert_int_equal(steps.off, 3);
    assert_false(odb_steps_honest(&steps));
}

static void test_none_may_be_farther_off(void **state)
{
    struct scene *s = *state;
    move(s, STEPS_N / 2, 2);
    struct odb_steps steps = measure(s, "y");
    assert_int_equal(steps.wide, 1);
    assert_false(odb_steps_honest(&steps));
}

/* The first element is far below what the grid holds: there its end is the only honest value. */
static void test_a_bound_is_a_bound(void **state)
{
    struct scene *s = *state;
    assert_true(odb_tensor_f64(s->trace->golden[value_of(s, "m")], 0) < -7);
    assert_true(odb_tensor_f64(s->t, 0) == -5);
    move(s, 0, 1);
    assert_int_equal(measure(s, "y").off, 1);
}

static void test_floats_are_on_no_grid(void **state)
{
    assert_false(measure(*state, "m").known);
}

/* Of the value itself, as the reference has it. */
static bool is_known(struct scene *s, const char *name)
{
    odb_tensor_unref(s->t);
    s->t = odb_tensor_ref(s->trace->ref[value_of(s, name)]);
    assert_non_null(s->t);
    return measure(s, name).known;
}

/* Between what is made of the least and of the greatest lies all that is honest only where order
 * stays, and where nothing else that is computed comes in. */
static void test_order_is_needed(void **state)
{
    static const char *const kept[] = {"q", "y", "relu", "bounded"};
    static const char *const lost[] = {"larger", "abs", "first", "product"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_true(is_known(*state, kept[i]));
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        assert_false(is_known(*state, lost[i]));
}

/* As where golden is zero and honest values are not. */
static void test_endless_noise_tells_nothing(void **state)
{
    struct scene *s = *state;
    (void)measure(s, "y"); /* noise is known from here on */
    s->trace->noise[value_of(s, "m")] = INFINITY;
    assert_false(measure(s, "y").known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)
        SCENE(test_the_reference_is_honest),        SCENE(test_a_tie_may_tip),
        SCENE(test_what_was_read_before_it_counts), SCENE(test_few_may_be_a_step_off),
        SCENE(test_none_may_be_farther_off),        SCENE(test_a_bound_is_a_bound),
        SCENE(test_floats_are_on_no_grid),          SCENE(test_order_is_needed),
        SCENE(test_endless_noise_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
