/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walks over small models with planted faults, against a child program.
 */
#include "walk/walk.h"

#include <math.h>

#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_trace *trace;
    struct odb_walk *walk;
};

/* At the beginning of the model as built, fed with a ramp x. */
static void scene_open(struct scene *s, struct odb_builder *b, const char *target)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_bisect_options options = {.target = target, .tolerance = ODB_CRITERION_DEFAULT};
    s->model = models_take(b);
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    help_find_serve();
    MODELS_OK(odb_trace_make(&s->trace, s->model, &s->feeds, &how, &why));
    MODELS_OK(odb_walk_open(&s->walk, s->model, &s->feeds, s->trace, &options, &why));
    assert_int_equal(s->walk->at, 0);
}

static void scene_close(struct scene *s)
{
    odb_walk_close(s->walk);
    odb_trace_free(s->trace);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

static void scene_to(struct scene *s, int stop)
{
    MODELS_OK(odb_walk_to(s->walk, stop, NULL, &why));
    assert_int_equal(s->walk->at, stop);
}

/* Fails to, and stays. */
static void scene_fails(struct scene *s, int stop, enum odb_status status, const char *place)
{
    struct odb_error err = ODB_ERROR_INIT;
    int at = s->walk->at;
    assert_int_equal(odb_walk_to(s->walk, stop, NULL, &err), status);
    assert_string_equal(err.where, place);
    assert_int_equal(s->walk->at, at);
}

static const struct odb_value_report *scene_report(const struct scene *s, const char *name)
{
    return &s->walk->values[models_value(s->model, name)];
}

static struct odb_tensor *scene_given(const struct scene *s, const char *name)
{
    return s->walk->given[models_value(s->model, name)];
}

static struct odb_builder *graph(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    return b;
}

static struct odb_builder *chain(void)
{
    struct odb_builder *b = graph();
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Exp", "n2", "q", "y");
    odb_build_output(b, "y");
    return b;
}

/* n1 is off by 1 %: seen as soon as it has run, and inherited after. */
static void assert_walked(const struct scene *s)
{
    int at = s->walk->at;
    assert_int_equal(scene_report(s, "h")->verdict, at > 0 ? ODB_VERDICT_PASS : 0);
    assert_int_equal(scene_report(s, "q")->verdict, at > 1 ? ODB_VERDICT_FAIL : 0);
    assert_int_equal(scene_report(s, "y")->verdict, at > 2 ? ODB_VERDICT_FAIL : 0);
    assert_int_equal(scene_report(s, "q")->culprit, at > 1);
    assert_false(scene_report(s, "h")->culprit || scene_report(s, "y")->culprit);
    assert_int_equal(scene_given(s, "h") != NULL, at > 0);
    assert_int_equal(scene_given(s, "q") != NULL, at > 1);
    assert_int_equal(scene_given(s, "y") != NULL, at > 2);
    assert_null(scene_given(s, "x"));
    for (size_t v = 0; v < s->model->graph->n_values; v++)
        assert_false(s->walk->fed_by_reference[v]);
    if (at > 2) { /* fed with what n1 gave */
        double q = odb_tensor_f64(scene_given(s, "q"), 0);
        assert_true(fabs(odb_tensor_f64(scene_given(s, "y"), 0) - exp(q)) < 1e-5);
        assert_true(scene_report(s, "y")->inherited_error.v > 1e-3);
    }
}

static void test_walk__every_way_to_the_end_shows_the_same(void **state)
{
    static const int ways[][3] = {{1, 2, 3}, {1, 3, 3}, {2, 3, 3}, {3, 3, 3}};
    struct scene s;
    scene_open(&s, chain(), "fault:scale,node=n1,amount=0.01@cpu");
    for (size_t w = 0; w < ODB_COUNT(ways); w++) {
        assert_walked(&s);
        for (int i = 0; i < 3; i++) {
            scene_to(&s, ways[w][i]);
            assert_walked(&s);
        }
        MODELS_OK(odb_walk_to(s.walk, 99, NULL, &why)); /* the end is the end */
        MODELS_OK(odb_walk_to(s.walk, 1, NULL, &why));  /* and there is no way back */
        assert_int_equal(s.walk->at, 3);
        odb_walk_restart(s.walk);
        assert_int_equal(s.walk->at, 0);
    }
    assert_int_equal(odb_pool_stats(s.walk->pool).starts, 1);
    scene_close(&s);
}

static void test_walk__crash_belongs_to_a_node_only_when_it_ran_alone(void **state)
{
    struct scene s;
    scene_open(&s, chain(), "fault:crash,node=n1@cpu");
    scene_fails(&s, 3, ODB_E_CRASH, "run #0 Tanh n0 to #2 Exp n2: fault");
    for (size_t v = 0; v < s.model->graph->n_values; v++)
        assert_int_equal(s.walk->values[v].verdict, ODB_VERDICT_UNTESTED);
    scene_to(&s, 1);
    scene_fails(&s, 3, ODB_E_CRASH, "run #1 Mul n1 to #2 Exp n2: fault");
    assert_int_equal(scene_report(&s, "q")->verdict, ODB_VERDICT_UNTESTED);
    scene_fails(&s, 2, ODB_E_CRASH, "run #1 Mul n1: fault");
    assert_int_equal(scene_report(&s, "q")->verdict, ODB_VERDICT_CRASH);
    assert_true(scene_report(&s, "q")->reason[0]);
    assert_int_equal(scene_report(&s, "y")->verdict, ODB_VERDICT_UNTESTED);
    assert_int_equal(scene_report(&s, "h")->verdict, ODB_VERDICT_PASS);
    odb_walk_restart(s.walk);
    assert_int_equal(scene_report(&s, "q")->verdict, ODB_VERDICT_UNTESTED);
    scene_to(&s, 1);
    scene_close(&s);
}

/* What the target draws is not what the reference drew, so the latter is fed. */
static void test_walk__random_draws_are_fed(void **state)
{
    for (int step = 1; step <= 3; step += 2) {
        struct scene s;
        struct odb_builder *b = graph();
        odb_build_node(b, "RandomNormalLike", "r", "x", "z");
        odb_build_node(b, "Add", "n0", "x z", "a");
        odb_build_node(b, "Tanh", "n1", "a", "y");
        odb_build_output(b, "y");
        scene_open(&s, b, "cpu");
        for (int stop = step; stop <= 3; stop += step)
            scene_to(&s, stop);
        assert_non_null(strstr(scene_report(&s, "z")->reason, "drawn"));
        assert_null(scene_given(&s, "z"));
        assert_int_equal(scene_report(&s, "a")->verdict, ODB_VERDICT_PASS);
        assert_true(scene_report(&s, "a")->local_noise.known);
        assert_int_equal(scene_report(&s, "y")->verdict, ODB_VERDICT_PASS);
        scene_close(&s);
    }
}

/* The reference has nothing for q: its value is kept all the same, and y is judged by replay. */
static void test_walk__value_without_reference_is_kept(void **state)
{
    struct scene s;
    scene_open(&s, chain(), "cpu");
    int q = models_value(s.model, "q");
    odb_tensor_unref(s.trace->ref[q]);
    odb_tensor_unref(s.trace->golden[q]);
    s.trace->ref[q] = s.trace->golden[q] = NULL;
    s.trace->why[1] = odb_xstrdup("no kernel");
    scene_to(&s, 2);
    assert_int_equal(scene_report(&s, "q")->verdict, ODB_VERDICT_UNSUPPORTED);
    assert_string_equal(scene_report(&s, "q")->reason, "no kernel");
    assert_non_null(scene_given(&s, "q"));
    scene_to(&s, 3);
    assert_int_equal(scene_report(&s, "y")->verdict, ODB_VERDICT_PASS);
    assert_true(scene_report(&s, "y")->local_noise.known);
    scene_close(&s);
}

/* A value that the target did not give is stood in for by the reference's, and that can be seen. */
static void test_walk__reference_stands_in_for_what_was_not_had(void **state)
{
    struct scene s;
    scene_open(&s, chain(), "fault:scale,node=n0,amount=0.01@cpu");
    scene_to(&s, 1);
    int h = models_value(s.model, "h");
    assert_int_equal(s.walk->values[h].verdict, ODB_VERDICT_FAIL);
    odb_tensor_unref(s.walk->given[h]);
    s.walk->given[h] = NULL;
    scene_to(&s, 2);
    assert_true(s.walk->fed_by_reference[h]);
    assert_int_equal(scene_report(&s, "q")->verdict, ODB_VERDICT_PASS);
    assert_true(scene_report(&s, "q")->local_noise.known);
    odb_walk_restart(s.walk);
    assert_false(s.walk->fed_by_reference[h]);
    scene_close(&s);
}

static void test_walk__output_that_nobody_reads_says_so(void **state)
{
    struct scene s;
    struct odb_builder *b = graph();
    odb_build_node(b, "Split", "n0", "x", "u v");
    odb_build_node(b, "Tanh", "n1", "u", "y");
    odb_build_node(b, "Neg", "n2", "v", "dead");
    odb_build_output(b, "y");
    scene_open(&s, b, "cpu");
    for (int stop = 1; stop <= (int)s.model->graph->n_nodes; stop++)
        scene_to(&s, stop);
    assert_int_equal(scene_report(&s, "v")->verdict, ODB_VERDICT_PASS);
    assert_int_equal(scene_report(&s, "dead")->verdict, ODB_VERDICT_UNTESTED);
    assert_non_null(strstr(scene_report(&s, "dead")->reason, "no node reads it"));
    assert_int_equal(scene_report(&s, "y")->verdict, ODB_VERDICT_PASS);
    scene_close(&s);
}

/* The body reads g of the graph around it: part of the cut, whoever runs it. */
static void test_walk__bodies_are_fed_what_they_capture(void **state)
{
    struct scene s;
    struct odb_builder *b = graph();
    odb_build_node(b, "Tanh", "n0", "x", "g");
    models_add_if(b, "n1", "y");
    odb_build_output(b, "y");
    scene_open(&s, b, "fault:scale,node=n1,amount=0.01@cpu");
    scene_to(&s, 1);
    scene_to(&s, 2);
    assert_int_equal(scene_report(&s, "y")->verdict, ODB_VERDICT_FAIL);
    assert_true(scene_report(&s, "y")->culprit);
    scene_close(&s);
}

/* What a walk tells. */
struct listener {
    char text[1024];  /* "phase;probe;probe=verdict;value=verdict;" */
    const char *stop; /* cancels when this has been told; NULL: never */
};

static void listener_event(void *payload, const struct odb_search_event *event)
{
    struct listener *l = payload;
    size_t used = strlen(l->text);
    if (strncmp(event->text, "noisy", 5) == 0)
        return;
    switch (event->what) {
    case ODB_EVENT_PHASE:
    case ODB_EVENT_PROBE_BEGIN:
        snprintf(l->text + used, sizeof l->text - used, "%s;", event->text);
        break;
    case ODB_EVENT_PROBE_END:
    case ODB_EVENT_VALUE:
        snprintf(l->text + used, sizeof l->text - used, "%s=%s;", event->text,
                 odb_verdict_name(event->verdict));
        break;
    case ODB_EVENT_FORECAST:
    case ODB_EVENT_SUSPECTS:
    case ODB_EVENT_PROGRESS:
        break;
    }
}

static bool listener_cancelled(void *payload)
{
    const struct listener *l = payload;
    return l->stop && strstr(l->text, l->stop);
}

static void test_walk__tells_what_it_does(void **state)
{
    struct scene s;
    struct listener l = {.stop = NULL};
    struct odb_search_hooks hooks = {listener_event, listener_cancelled, &l, NULL};
    scene_open(&s, chain(), "fault:scale,node=n1,amount=0.01@cpu");
    scene_to(&s, 1);
    MODELS_OK(odb_walk_to(s.walk, 2, &hooks, &why));
    assert_string_equal(l.text, "run #1 Mul n1;run #1 Mul n1;replay;replay;"
                                "q=fail;q=fail;run #1 Mul n1=fail;");
    assert_null(s.trace->hooks.event);
    scene_close(&s);
}

static void test_walk__can_be_cancelled_and_go_on(void **state)
{
    static const char *const stops[] = {"run", "replay", "h=pass"};
    for (size_t i = 0; i < ODB_COUNT(stops); i++) {
        struct scene s;
        struct odb_error err = ODB_ERROR_INIT;
        struct listener l = {.stop = stops[i]};
        struct odb_search_hooks hooks = {listener_event, listener_cancelled, &l, NULL};
        scene_open(&s, chain(), "fault:scale,node=n1,amount=0.01@cpu");
        assert_int_equal(odb_walk_to(s.walk, 3, &hooks, &err), ODB_CANCELLED);
        assert_int_equal(s.walk->at, 0);
        scene_to(&s, 3);
        assert_walked(&s);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk__every_way_to_the_end_shows_the_same),
        cmocka_unit_test(test_walk__crash_belongs_to_a_node_only_when_it_ran_alone),
        cmocka_unit_test(test_walk__random_draws_are_fed),
        cmocka_unit_test(test_walk__value_without_reference_is_kept),
        cmocka_unit_test(test_walk__reference_stands_in_for_what_was_not_had),
        cmocka_unit_test(test_walk__output_that_nobody_reads_says_so),
        cmocka_unit_test(test_walk__bodies_are_fed_what_they_capture),
        cmocka_unit_test(test_walk__tells_what_it_does),
        cmocka_unit_test(test_walk__can_be_cancelled_and_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
