/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a host fed, held against the plan: a state h that hn carries, and a number that counts
 * steps.
 */
#include "sequence/schedule.h"

#include <math.h>

#include "tests/help/models.h"

#define STEPS 5

enum { FRAME, STATE, PLACE }; /* inputs */
enum { SCORE, NEXT };         /* outputs */

static struct odb_model *schedule_model(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "frame", ODB_F32, 2, (int64_t[]){1, 2});
    odb_build_input(b, "h", ODB_F32, 2, (int64_t[]){1, 2});
    odb_build_input(b, "place", ODB_I64, 1, (int64_t[]){1});
    odb_build_node(b, "Add", "a", "frame h", "score");
    odb_build_node(b, "Neg", "b", "h", "hn");
    odb_build_node(b, "Identity", "c", "place", "same");
    odb_build_output(b, "score");
    odb_build_output(b, "hn");
    return models_take(b);
}

struct schedule_case {
    struct odb_model *model;
    struct odb_plan *plan;
    struct odb_recorded_steps recorded;
};

static struct odb_tensor *schedule_pair(float a, float b)
{
    return models_f32(2, (int64_t[]){1, 2}, (float[]){a, b});
}

static struct odb_tensor *schedule_place(int64_t n)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, ODB_I64, 1, (int64_t[]){1}, &n, &why));
    return t;
}

/* As a host records that errs in nothing: hn of step k is k + 1 and 10 k + 1. */
static void schedule_begin(struct schedule_case *c)
{
    static const char *const nexts[] = {"place=full(t,1)"};
    struct odb_plan_options options = {.steps = STEPS, .nexts = nexts, .n_nexts = 1};
    *c = (struct schedule_case){.model = schedule_model()};
    MODELS_OK(odb_plan_make(&c->plan, c->model, &options, &why));
    c->recorded.n = c->recorded.n_read = STEPS;
    c->recorded.n_in = 3;
    c->recorded.n_out = 2;
    c->recorded.specs = odb_new_n(char *, STEPS);
    c->recorded.items = odb_new_n(struct odb_recorded_step, STEPS);
    for (size_t k = 0; k < STEPS; k++) {
        struct odb_recorded_step *step = &c->recorded.items[k];
        c->recorded.specs[k] = odb_xasprintf("dump:there/step_%05zu", k);
        step->in = odb_new_n(struct odb_tensor *, 3);
        step->out = odb_new_n(struct odb_tensor *, 2);
        step->given = odb_new_n(bool, 3);
        step->in[FRAME] = schedule_pair((float)k, 0.5f);
        step->in[STATE] =
            k ? odb_tensor_ref(c->recorded.items[k - 1].out[NEXT]) : schedule_pair(0, 0);
        step->in[PLACE] = schedule_place((int64_t)k);
        step->out[SCORE] = schedule_pair(7, 8);
        step->out[NEXT] = schedule_pair((float)k + 1, 10 * (float)k + 1);
        for (size_t i = 0; i < 3; i++)
            step->given[i] = true;
    }
}

static enum odb_status schedule_make(void *payload, uint32_t step, struct odb_feeds **out,
                                     struct odb_error *err)
{
    const struct schedule_case *c = payload;
    (void)err;
    *out = odb_feeds_new(c->model);
    for (size_t i = 0; i < 3; i++)
        odb_feeds_add(*out, c->plan->inputs.items[i].value,
                      c->recorded.items[step].in[i] ? c->recorded.items[step].in[i]
                                                    : c->recorded.items[0].in[FRAME],
                      "test");
    return ODB_OK;
}

static void schedule_put_in(struct schedule_case *c, size_t step, size_t input,
                            struct odb_tensor *t)
{
    struct odb_recorded_step *to = &c->recorded.items[step];
    odb_tensor_unref(to->in[input]);
    to->in[input] = t;
    to->given[input] = t != NULL;
}

/* Ends the case. input: NULL: nothing is off. */
static void schedule_is(struct schedule_case *c, const char *wanted)
{
    struct odb_stream_source source = {schedule_make, c};
    struct odb_streams *streams = NULL;
    struct odb_schedule schedule;
    struct odb_buf had = ODB_BUF_INIT;
    MODELS_OK(odb_streams_make(&streams, c->plan, &source, &why));
    MODELS_OK(odb_schedule_check(&schedule, c->plan, streams, &c->recorded, &why));
    if (schedule.input >= 0)
        odb_schedule_put(&schedule, c->plan, &had);
    assert_string_equal(odb_buf_text(&had), wanted);
    odb_buf_dispose(&had);
    odb_schedule_dispose(&schedule);
    odb_streams_free(streams);
    odb_recorded_steps_dispose(&c->recorded);
    odb_plan_free(c->plan);
    odb_model_free(c->model);
}

static void test_schedule__right(void **state)
{
    struct schedule_case c;
    (void)state;
    schedule_begin(&c);
    schedule_is(&c, "");
}

static void test_schedule__rule(void **state)
{
    struct schedule_case c;
    (void)state;
    schedule_begin(&c);
    for (size_t k = 3; k < STEPS; k++)
        schedule_put_in(&c, k, PLACE, schedule_place((int64_t)k + 1));
    schedule_is(&c, "the host feeds place otherwise than the plan says, from step 3 on: 4 where 3 "
                    "is due");
    schedule_begin(&c);
    schedule_put_in(&c, 2, PLACE, schedule_place(0));
    schedule_is(&c,
                "the host feeds place otherwise than the plan says, in step 2: 0 where 2 is due");
    schedule_begin(&c);
    schedule_put_in(&c, 1, PLACE, schedule_place(0));
    schedule_put_in(&c, 3, PLACE, schedule_place(0));
    schedule_is(&c, "the host feeds place otherwise than the plan says, in 2 steps, first in step "
                    "1: 0 where 1 is due");
}

static void schedule_state_is(size_t step, struct odb_tensor *t, const char *how)
{
    struct schedule_case c;
    schedule_begin(&c);
    schedule_put_in(&c, step, STATE, t);
    char *wanted =
        odb_xasprintf("the host feeds h otherwise than the plan says, in step %zu: %s", step, how);
    schedule_is(&c, wanted);
    free(wanted);
}

static void test_schedule__state(void **state)
{
    (void)state;
    schedule_state_is(4, schedule_pair(3, 21),
                      "what step 2 gave where what step 3 gave is due (stale)");
    schedule_state_is(1, schedule_pair(0, 0),
                      "what it fed in step 0 where what that step gave is due (kept)");
    schedule_state_is(3, schedule_pair(0, 0), "zeros");
    schedule_state_is(2, schedule_pair(7, 8), "what step 1 gave as score (swapped)");
    schedule_state_is(
        2, schedule_pair(2, 9),
        "place 1 of axis 1: 9.0 where 11.0 is due (element 1 of 2); due is what step 1 "
        "gave as hn");
    schedule_state_is(2, models_f32(2, (int64_t[]){1, 1}, (float[]){2}),
                      "shape (1, 1) where (1, 2) is due; due is what step 1 gave as hn");
    schedule_state_is(0, schedule_pair(1, 0),
                      "place 0 of axis 1: 1.0 where 0.0 is due (element 0 of 2)");
}

/* What was kept in half is within half of what was given; one unit more is not. */
static void test_schedule__half(void **state)
{
    struct schedule_case c;
    struct odb_tensor *third, *half = NULL;
    (void)state;
    for (int off = 0; off < 2; off++) {
        schedule_begin(&c);
        third = schedule_pair(1.0f / 3, 2.0f / 3);
        odb_tensor_unref(c.recorded.items[1].out[NEXT]);
        c.recorded.items[1].out[NEXT] = third;
        struct odb_tensor *kept = schedule_pair(1.0f / 3 + 0.001f * (float)off, 2.0f / 3);
        MODELS_OK(odb_tensor_cast(&half, kept, ODB_F16, &why));
        odb_tensor_unref(kept);
        schedule_put_in(&c, 2, STATE, half);
        if (off)
            schedule_is(&c, "the host feeds h otherwise than the plan says, in step 2: place 0 of "
                            "axis 1: 0.3342 where 0.33333334 is due (element 0 of 2); due is what "
                            "step 1 gave as hn");
        else
            schedule_is(&c, "");
    }
}

/* A state that was kept in another type, after hn of step 1 was given. */
static void schedule_kept_is(struct odb_tensor *given, struct odb_tensor *kept, enum odb_dtype type,
                             const char *wanted)
{
    struct schedule_case c;
    struct odb_tensor *t = NULL;
    schedule_begin(&c);
    odb_tensor_unref(c.recorded.items[1].out[NEXT]);
    c.recorded.items[1].out[NEXT] = given;
    MODELS_OK(odb_tensor_cast(&t, kept, type, &why));
    odb_tensor_unref(kept);
    schedule_put_in(&c, 2, STATE, t);
    schedule_is(&c, wanted);
}

#define SCHEDULE_OFF "the host feeds h otherwise than the plan says, in step 2: "

/* Infinity is near nothing, 0 is -0, NaN is NaN; and what is told is what differs. */
static void test_schedule__special(void **state)
{
    (void)state;
    schedule_kept_is(schedule_pair(3, 4), schedule_pair(3, INFINITY), ODB_F16,
                     SCHEDULE_OFF
                     "place 1 of axis 1: inf where 4.0 is due (element 1 of 2); due is "
                     "what step 1 gave as hn");
    schedule_kept_is(schedule_pair(INFINITY, 4), schedule_pair(-INFINITY, 4), ODB_F16,
                     SCHEDULE_OFF
                     "place 0 of axis 1: -inf where inf is due (element 0 of 2); due is "
                     "what step 1 gave as hn");
    schedule_kept_is(schedule_pair(INFINITY, NAN), schedule_pair(INFINITY, NAN), ODB_F16, "");
    schedule_kept_is(schedule_pair(0, NAN), schedule_pair(-0.0f, -NAN), ODB_F32, "");
    schedule_kept_is(schedule_pair(1.0f / 3, 4), schedule_pair(1.0f / 3, 5), ODB_F16,
                     SCHEDULE_OFF
                     "place 1 of axis 1: 5.0 where 4.0 is due (element 1 of 2); due is "
                     "what step 1 gave as hn");
}

/* Where the step before did not record it, nothing says what a state should be; the other inputs
 * are held against the plan all the same. */
static void test_schedule__unknown(void **state)
{
    struct schedule_case c;
    struct odb_streams *streams = NULL;
    struct odb_schedule schedule;
    (void)state;
    schedule_begin(&c);
    odb_tensor_unref(c.recorded.items[2].out[NEXT]);
    c.recorded.items[2].out[NEXT] = NULL;
    schedule_put_in(&c, 3, STATE, schedule_pair(0, 0));
    struct odb_stream_source source = {schedule_make, &c};
    MODELS_OK(odb_streams_make(&streams, c.plan, &source, &why));
    MODELS_OK(odb_schedule_check(&schedule, c.plan, streams, &c.recorded, &why));
    assert_int_equal(schedule.input, -1);
    assert_int_equal(schedule.untold, 1);
    assert_string_equal(schedule.unknown,
                        "what step 3 is fed as h cannot be held against the plan: "
                        "what step 2 gave for it was not recorded");
    odb_schedule_dispose(&schedule);
    schedule_put_in(&c, 3, PLACE, schedule_place(9));
    MODELS_OK(odb_schedule_check(&schedule, c.plan, streams, &c.recorded, &why));
    assert_int_equal(schedule.input, PLACE);
    assert_int_equal(schedule.step, 3);
    odb_schedule_dispose(&schedule);
    odb_streams_free(streams);
    odb_recorded_steps_dispose(&c.recorded);
    odb_plan_free(c.plan);
    odb_model_free(c.model);
}

/* What was not recorded follows, and is what the step was fed. */
static void test_schedule__follows(void **state)
{
    struct schedule_case c;
    struct odb_streams *streams = NULL;
    struct odb_schedule schedule;
    (void)state;
    schedule_begin(&c);
    schedule_put_in(&c, 3, STATE, NULL);
    schedule_put_in(&c, 3, PLACE, NULL);
    struct odb_stream_source source = {schedule_make, &c};
    MODELS_OK(odb_streams_make(&streams, c.plan, &source, &why));
    MODELS_OK(odb_schedule_check(&schedule, c.plan, streams, &c.recorded, &why));
    assert_int_equal(schedule.input, -1);
    assert_int_equal(schedule.assumed, 2);
    struct odb_feeds *feeds = odb_schedule_feeds(c.plan, &c.recorded, 3);
    assert_true(odb_tensor_identical(feeds->items[STATE].tensor, c.recorded.items[2].out[NEXT]));
    assert_int_equal((int)odb_tensor_f64(feeds->items[PLACE].tensor, 0), 3);
    assert_string_equal(feeds->items[STATE].source, "step 3: not recorded, as the plan says");
    assert_string_equal(feeds->items[FRAME].source, "step 3: as recorded");
    odb_feeds_free(feeds);
    odb_streams_free(streams);
    odb_schedule_dispose(&schedule);
    odb_recorded_steps_dispose(&c.recorded);
    odb_plan_free(c.plan);
    odb_model_free(c.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule__right),   cmocka_unit_test(test_schedule__rule),
        cmocka_unit_test(test_schedule__state),   cmocka_unit_test(test_schedule__half),
        cmocka_unit_test(test_schedule__special), cmocka_unit_test(test_schedule__unknown),
        cmocka_unit_test(test_schedule__follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
