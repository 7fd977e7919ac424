/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that starts, and runs the model, before the search asks: it asks no less and no more
 * than if it had not. What it reads ahead is found by the search, or stands in no one's way.
 */
#include "probe/ahead.h"

#include <math.h>

#include "probe/probe.h"
#include "reference/trace.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

/* A model in a file, what it is fed, and the questions that are put of it. */
struct asked {
    char *path; /* owned */
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_search_hooks hooks;
    struct odb_ahead *ahead;
    struct odb_pool *pool;
    struct odb_prober prober;
    struct odb_trace *trace; /* NULL: none is made */
    int v, y;
};

/* runs: of the model, the first included; 0: as many as fit. */
static void asked_begin(struct asked *a, const char *spec, size_t runs)
{
    struct odb_builder *b = odb_build_new("g", 17);
    *a = (struct asked){.path = odb_file_temporary("ahead-")};
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Exp", "first", "x", "v");
    odb_build_node(b, "Neg", "second", "v", "y");
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){4});
    int fd = mkstemp(a->path);
    assert_true(fd >= 0);
    close(fd);
    MODELS_OK(odb_build_write(b, a->path, NULL, &why));
    odb_build_free(b);
    MODELS_OK(odb_model_open(&a->model, a->path, &why));
    a->feed = (struct odb_feed){
        .value = models_value(a->model, "x"),
        .tensor = models_f32(1, (int64_t[]){4}, (float[]){0, 1, -1, 2}),
    };
    a->feeds = (struct odb_feeds){&a->feed, 1, NULL};
    a->v = models_value(a->model, "v");
    a->y = models_value(a->model, "y");
    help_find_serve();
    const struct odb_ahead_whole whole = {a->model, &a->feeds, runs, true, 1 << 20};
    a->ahead = odb_ahead_begin(spec, &whole, &a->hooks);
    assert_non_null(a->ahead);
    assert_true(odb_ahead_is(a->ahead, spec));
    assert_false(odb_ahead_is(a->ahead, "cpu:f16"));
}

static bool asked_read(void *payload, const struct odb_trace *trace)
{
    return odb_ahead_read(payload, trace);
}

/* The reference is made, and the target goes on to read every value as soon as it is open. */
static void asked_trace(struct asked *a)
{
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    how.referenced = asked_read;
    how.payload = a->ahead;
    MODELS_OK(odb_trace_make(&a->trace, a->model, &a->feeds, &how, &why));
    while (!odb_ahead_read(a->ahead, a->trace))
        (void)usleep(1000);
}

static void asked_connect(struct asked *a)
{
    MODELS_OK(odb_ahead_pool(a->ahead, &a->pool, &why));
    assert_false(odb_ahead_is(a->ahead, odb_pool_spec(a->pool)));
    odb_prober_init(&a->prober, a->model, &a->feeds, a->trace, a->pool, a->hooks);
    a->prober.ahead = a->ahead;
}

/* Loads and runs the model, or runs it again; beside: though another may be loaded. */
static enum odb_status asked_for(struct asked *a, bool again, bool beside, struct odb_error *err)
{
    struct odb_tensor *out = NULL;
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_WHOLE,
                              .what = "the whole model",
                              .node = ODB_NO_NODE,
                              .beside = beside,
                              .values = &a->y,
                              .n_values = 1,
                              .outputs = &out};
    enum odb_status status =
        again ? odb_probe_again(&a->prober, &probe, err) : odb_probe_run(&a->prober, &probe, err);
    if (status == ODB_OK)
        assert_true(fabs(odb_tensor_f64(out, 0) + exp(odb_tensor_f64(a->feed.tensor, 0))) < 1e-6);
    odb_probe_drop(&a->prober, &probe);
    return status;
}

static enum odb_status asked_run(struct asked *a, bool again, struct odb_error *err)
{
    return asked_for(a, again, false, err);
}

/* Both values in one run. */
static void asked_all(struct asked *a)
{
    struct odb_tensor *out[2] = {NULL};
    int list[] = {a->v, a->y};
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_ALL,
                              .what = "all values probed",
                              .node = ODB_NO_NODE,
                              .values = list,
                              .n_values = 2,
                              .outputs = out};
    MODELS_OK(odb_probe_run(&a->prober, &probe, &why));
    for (size_t i = 0; i < 2; i++)
        assert_true(fabs(fabs(odb_tensor_f64(out[i], 1)) - exp(odb_tensor_f64(a->feed.tensor, 1))) <
                    1e-6);
    odb_probe_drop(&a->prober, &probe);
}

static void asked_end(struct asked *a)
{
    if (a->pool) {
        odb_ahead_end(a->ahead);
        odb_prober_dispose(&a->prober);
    }
    odb_pool_close(a->pool);
    odb_ahead_free(a->ahead);
    odb_trace_free(a->trace);
    odb_tensor_unref(a->feed.tensor);
    odb_model_free(a->model);
    unlink(a->path);
    free(a->path);
}

static void stats_are(struct asked *a, size_t loads, size_t runs)
{
    struct odb_target_stats stats = odb_pool_stats(a->pool);
    assert_int_equal(stats.loads, loads);
    assert_int_equal(stats.runs, runs);
}

/* Until a question is put, nothing was asked as far as the pool's owner sees. */
static void test_ahead__answers_are_found(void **state)
{
    struct asked a;
    asked_begin(&a, "cpu", 3);
    asked_connect(&a);
    stats_are(&a, 0, 0);
    MODELS_OK(asked_run(&a, false, &why));
    stats_are(&a, 1, 1);
    MODELS_OK(asked_run(&a, true, &why));
    MODELS_OK(asked_run(&a, true, &why));
    stats_are(&a, 1, 3);
    MODELS_OK(asked_run(&a, true, &why)); /* which nobody has asked before */
    stats_are(&a, 1, 4);
    asked_end(&a);
}

/* Other inputs are another question: the target is asked, and nothing of before is found again. */
static void test_ahead__another_question_ends_it(void **state)
{
    struct asked a;
    asked_begin(&a, "cpu", 5);
    asked_connect(&a);
    struct odb_tensor *first = a.feed.tensor;
    a.feed.tensor = models_f32(1, (int64_t[]){4}, (float[]){1, 1, 1, 1});
    MODELS_OK(asked_run(&a, false, &why));
    odb_tensor_unref(a.feed.tensor);
    a.feed.tensor = first;
    MODELS_OK(asked_run(&a, false, &why));
    MODELS_OK(asked_run(&a, true, &why));
    struct odb_target_stats stats = odb_pool_stats(a.pool);
    assert_true(stats.loads >= 2 && stats.runs >= 3);
    asked_end(&a);
}

/* As a search asks: the model, as often as was asked ahead, and then all values. A run costs next
 * to nothing here, so that it is repeated. */
static void test_ahead__all_values_follow(void **state)
{
    struct asked a;
    asked_begin(&a, "cpu", 0);
    asked_trace(&a);
    asked_connect(&a);
    MODELS_OK(asked_run(&a, false, &why));
    size_t again = odb_ahead_again(a.ahead);
    assert_in_range(again, 2, 23);
    for (size_t i = 0; i < again; i++)
        MODELS_OK(asked_run(&a, true, &why));
    asked_all(&a);
    stats_are(&a, 2, again + 2);
    assert_false(odb_ahead_moved(a.ahead));
    MODELS_OK(asked_run(&a, false, &why));
    stats_are(&a, 3, again + 3);
    asked_end(&a);
}

/* The target has gone on to the other model, so that the plain one is loaded again. */
static void test_ahead__one_more_repetition(void **state)
{
    struct asked a;
    asked_begin(&a, "cpu", 2);
    asked_trace(&a);
    asked_connect(&a);
    MODELS_OK(asked_run(&a, false, &why));
    assert_int_equal(odb_ahead_again(a.ahead), 1);
    MODELS_OK(asked_run(&a, true, &why));
    MODELS_OK(asked_run(&a, true, &why));
    MODELS_OK(asked_run(&a, true, &why));
    asked_all(&a);
    asked_end(&a);
}

/* How often such a target runs, and whether anything is kept between runs, the search finds out: it
 * goes on with what is loaded. */
static void test_ahead__runs_that_differ(void **state)
{
    struct asked a;
    asked_begin(&a, "fault:scale,node=first,amount=1,after=1@cpu", 0);
    asked_trace(&a);
    asked_connect(&a);
    MODELS_OK(asked_run(&a, false, &why));
    assert_int_equal(odb_ahead_again(a.ahead), SIZE_MAX);
    odb_ahead_end(a.ahead);
    (void)odb_pool_target(a.pool);
    assert_false(odb_ahead_moved(a.ahead));
    asked_end(&a);
}

/* The run with all values read fails, which says nothing of the repetitions before it: how many
 * there are does not hang on how far the target has come. */
static void test_ahead__what_follows_the_repetitions_fails(void **state)
{
    struct asked a;
    asked_begin(&a, "fault:crash,node=first,seen@cpu", 3);
    asked_trace(&a);
    asked_connect(&a);
    MODELS_OK(asked_run(&a, false, &why));
    (void)usleep(500000); /* it has died by now, or else this shows nothing */
    assert_int_equal(odb_ahead_again(a.ahead), 2);
    asked_end(&a);
}

/* All values at once are no question to a target of which each answer is limited. */
static void test_ahead__too_much_is_not_read(void **state)
{
    struct asked a;
    asked_begin(&a, "fault:scale,node=first,max_outputs=1@cpu", 2);
    asked_trace(&a);
    asked_connect(&a);
    assert_int_equal(odb_ahead_again(a.ahead), SIZE_MAX);
    asked_end(&a);
}

static void test_ahead__what_it_made_of_the_model(void **state)
{
    struct asked a;
    struct odb_account account = {0};
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status;
    if (!help_has_ort())
        skip();
    asked_begin(&a, "ort", 2);
    asked_trace(&a);
    asked_connect(&a);
    MODELS_OK(asked_run(&a, false, &why));
    assert_true(odb_ahead_account(a.ahead, &account, &status, &err));
    assert_int_equal(status, ODB_OK);
    assert_int_equal(account.places.n, 2);
    odb_account_dispose(&account);
    asked_all(&a);
    stats_are(&a, 2, 2);
    asked_end(&a);
}

/* A target that keeps the model beside another repeats it when all values were read, and loads
 * nothing for that; what was not asked ahead goes on in the same way. */
static void test_ahead__repetitions_come_last(void **state)
{
    struct asked a;
    if (!help_has_ort())
        skip();
    asked_begin(&a, "ort", 3);
    asked_trace(&a);
    asked_connect(&a);
    assert_true(odb_probe_keeps_file(&a.prober));
    MODELS_OK(asked_run(&a, false, &why));
    asked_all(&a);
    stats_are(&a, 2, 2);
    assert_int_equal(odb_ahead_again(a.ahead), 2);
    for (size_t i = 0; i < 4; i++)
        MODELS_OK(asked_for(&a, true, true, &why));
    stats_are(&a, 2, 6);
    MODELS_OK(asked_run(&a, false, &why));
    stats_are(&a, 3, 7);
    asked_end(&a);
}

/* One that keeps nothing loads the model again for it, rather than run what is loaded. */
static void test_ahead__what_was_not_kept_is_loaded(void **state)
{
    struct asked a;
    asked_begin(&a, "cpu", 1);
    asked_trace(&a);
    asked_connect(&a);
    assert_false(odb_probe_keeps_file(&a.prober));
    odb_ahead_end(a.ahead);
    (void)odb_pool_target(a.pool);
    struct odb_target_stats before = odb_pool_stats(a.pool);
    MODELS_OK(asked_run(&a, false, &why));
    MODELS_OK(asked_for(&a, true, true, &why));
    stats_are(&a, before.loads + 1, before.runs + 2);
    asked_all(&a);
    MODELS_OK(asked_for(&a, true, true, &why));
    stats_are(&a, before.loads + 3, before.runs + 4);
    asked_end(&a);
}

/* A target that dies of it: that is the answer, and it is asked once. */
static void test_ahead__a_death_is_an_answer(void **state)
{
    struct asked a;
    struct odb_error err = ODB_ERROR_INIT;
    asked_begin(&a, "fault:crash,node=second@cpu", 5);
    asked_connect(&a);
    assert_int_equal(asked_run(&a, false, &err), ODB_E_CRASH);
    stats_are(&a, 1, 1);
    asked_end(&a);
}

static void test_ahead__what_cannot_be_opened_is_said(void **state)
{
    struct asked a;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1000];
    asked_begin(&a, "plugin:/nonexistent/lib.so", 1);
    assert_true(odb_ahead_pool(a.ahead, &a.pool, &err) != ODB_OK);
    assert_null(a.pool);
    assert_non_null(strstr(odb_error_text(&err, text, sizeof text), "nonexistent"));
    asked_end(&a);
}

/* Nobody waits for it. */
static void test_ahead__is_given_up(void **state)
{
    struct asked a;
    asked_begin(&a, "fault:hang,node=first,timeout=100@cpu", 2);
    asked_end(&a);
    asked_begin(&a, "fault:hang,node=first,timeout=100@cpu", 2);
    asked_connect(&a);
    asked_end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ahead__answers_are_found),
        cmocka_unit_test(test_ahead__another_question_ends_it),
        cmocka_unit_test(test_ahead__all_values_follow),
        cmocka_unit_test(test_ahead__one_more_repetition),
        cmocka_unit_test(test_ahead__runs_that_differ),
        cmocka_unit_test(test_ahead__what_follows_the_repetitions_fails),
        cmocka_unit_test(test_ahead__too_much_is_not_read),
        cmocka_unit_test(test_ahead__what_it_made_of_the_model),
        cmocka_unit_test(test_ahead__repetitions_come_last),
        cmocka_unit_test(test_ahead__what_was_not_kept_is_loaded),
        cmocka_unit_test(test_ahead__a_death_is_an_answer),
        cmocka_unit_test(test_ahead__what_cannot_be_opened_is_said),
        cmocka_unit_test(test_ahead__is_given_up),
    };
    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
