/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several children of one spec: the pool by itself, and searches, which must tell the same story
 * whoever is at work.
 */
#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <time.h>

#include "bisect/plan/bisect.h"
#include "probe/probe.h"
#include "executor/transport/target_pool.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

static double workers_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- the pool --------------------------------------------------------------------------------- */

/* One load and one run of the chain of executor_help.h with x scaled. */
struct errand {
    const struct odb_buf *model; /* borrowed */
    float scale;
    enum odb_status status;
    struct odb_error err;
    struct odb_tensor *y; /* owned ref */
};

static atomic_int errands_dropped;

static void errand_run(void *arg, struct odb_target *target)
{
    struct errand *e = arg;
    struct odb_load load = help_load(e->model, 4);
    float x[8];
    for (int i = 0; i < 8; i++)
        x[i] = help_x[i] * e->scale;
    struct odb_tensor *t = help_floats(2, 4, x);
    struct odb_named in = {"x", t};
    const char *out = "y";
    e->status = odb_target_load(target, &load, &e->err);
    if (e->status == ODB_OK)
        e->status = odb_target_run(target, &in, 1, &out, 1, &e->y, &e->err);
    odb_tensor_unref(t);
}

static void errand_drop(void *arg)
{
    struct errand *e = arg;
    odb_tensor_unref(e->y);
    atomic_fetch_add(&errands_dropped, 1);
}

static void errand_check(struct errand *e)
{
    help_ok(e->status, &e->err);
    for (size_t i = 0; i < 8; i++)
        assert_true(fabs(odb_tensor_f64(e->y, i) - sqrt(fabs(help_x[i] * e->scale))) < 1e-5);
    odb_tensor_unref(e->y);
    e->y = NULL;
}

static struct odb_pool *workers_open(const char *spec)
{
    struct odb_pool *pool = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    help_find_serve();
    help_ok(odb_pool_open(&pool, spec, NULL, NULL, &err), &err);
    return pool;
}

static void test_workers__every_task_is_done_once(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("cpu,threads=1,workers=3");
    struct odb_pool_task *tasks[24];
    struct errand errands[24] = {0};
    help_chain(&model, NULL);
    assert_int_equal(odb_pool_workers(pool), 3);
    assert_int_equal(odb_pool_idle(pool), 3);
    for (int i = 0; i < 24; i++) {
        errands[i] = (struct errand){.model = &model, .scale = (float)(i + 1)};
        tasks[i] = odb_pool_begin(pool, errand_run, &errands[i]);
    }
    for (int i = 23; i >= 0; i--) { /* in any order */
        odb_pool_wait(pool, tasks[i]);
        errand_check(&errands[i]);
    }
    assert_int_equal(odb_pool_stats(pool).loads, 24);
    assert_int_equal(odb_pool_stats(pool).runs, 24);
    assert_true(odb_pool_stats(pool).starts <= 3);
    assert_string_equal(odb_pool_trouble(pool), "");
    odb_pool_close(pool);
    odb_buf_dispose(&model);
}

/* The owner's target stays his, with what he loaded, until he gives work away. */
static void test_workers__the_owner_has_a_target_of_his_own(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("cpu,threads=1,workers=2");
    struct errand own = {.model = &model, .scale = 4}, other = {.model = &model, .scale = 2};
    help_chain(&model, NULL);
    struct odb_target *target = odb_pool_target(pool);
    errand_run(&own, target);
    errand_check(&own);
    assert_ptr_equal(odb_pool_target(pool), target);
    struct odb_pool_task *task = odb_pool_begin(pool, errand_run, &other);
    errand_run(&own, odb_pool_target(pool)); /* at the same time as the task */
    odb_pool_wait(pool, task);
    assert_true(odb_pool_idle(pool) == 2);
    errand_check(&own);
    errand_check(&other);
    assert_int_equal(odb_pool_stats(pool).loads, 3);
    odb_pool_close(pool);
    odb_buf_dispose(&model);
}

/* Given away beside him it stays his: what he loaded is there while others are at work. */
static void test_workers__work_beside_leaves_the_owner_his_target(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("cpu,threads=1,workers=3");
    struct errand own = {.model = &model, .scale = 4}, others[6];
    struct odb_pool_task *tasks[6];
    help_chain(&model, NULL);
    struct odb_target *target = odb_pool_target(pool);
    errand_run(&own, target);
    errand_check(&own);
    for (int i = 0; i < 6; i++) {
        others[i] = (struct errand){.model = &model, .scale = (float)(i + 1)};
        tasks[i] = odb_pool_begin_beside(pool, errand_run, &others[i]);
        assert_ptr_equal(odb_pool_target(pool), target);
    }
    while (!odb_pool_done(pool, tasks[5]))
        usleep(1000);
    assert_ptr_equal(odb_pool_target(pool), target);
    assert_int_equal(odb_target_stats(target).loads, 1);
    for (int i = 0; i < 6; i++) {
        odb_pool_wait(pool, tasks[i]);
        errand_check(&others[i]);
    }
    odb_pool_close(pool);
    odb_buf_dispose(&model);
}

/* What nobody waits for is dropped once, whether it was begun, is done or neither; and ending does
 * not wait for a child that hangs. */
static void test_workers__what_is_forgotten_is_dropped(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("fault:hang,node=second,workers=2@cpu");
    struct errand errands[5] = {0};
    struct odb_pool_task *tasks[5];
    double start = workers_clock();
    help_chain(&model, NULL);
    atomic_store(&errands_dropped, 0);
    for (int i = 0; i < 5; i++) {
        errands[i] = (struct errand){.model = &model, .scale = 1};
        tasks[i] = odb_pool_begin(pool, errand_run, &errands[i]);
    }
    while (odb_pool_idle(pool))
        usleep(1000);
    usleep(50000); /* two hang by now, three wait */
    assert_false(odb_pool_done(pool, tasks[0]));
    for (int i = 4; i >= 0; i--)
        odb_pool_forget(pool, tasks[i], errand_drop);
    assert_true(atomic_load(&errands_dropped) >= 3);
    odb_pool_close(pool);
    assert_int_equal(atomic_load(&errands_dropped), 5);
    assert_int_equal(errands[4].status, ODB_OK); /* never begun */
    assert_true(workers_clock() - start < 20);
    odb_buf_dispose(&model);
}

static bool workers_cancelled(void *payload)
{
    return atomic_load((atomic_bool *)payload);
}

static void test_workers__cancelling_reaches_all(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("fault:hang,node=second,workers=2@cpu");
    struct errand errands[2] = {{.model = &model, .scale = 1}, {.model = &model, .scale = 1}};
    struct odb_pool_task *tasks[2];
    atomic_bool cancel = false;
    help_chain(&model, NULL);
    odb_pool_set_cancel(pool, workers_cancelled, &cancel);
    for (int i = 0; i < 2; i++)
        tasks[i] = odb_pool_begin(pool, errand_run, &errands[i]);
    usleep(50000);
    atomic_store(&cancel, true);
    for (int i = 0; i < 2; i++) {
        odb_pool_wait(pool, tasks[i]);
        assert_int_equal(errands[i].status, ODB_CANCELLED);
    }
    odb_pool_close(pool);
    odb_buf_dispose(&model);
}

/* Is at it for a while, and says so. */
struct pondering {
    atomic_bool at_it, over;
};

static bool workers_ponder(void *payload)
{
    struct pondering *p = payload;
    assert_false(atomic_load(&p->over)); /* whoever it belonged to may be gone */
    atomic_store(&p->at_it, true);
    usleep(100000);
    atomic_store(&p->at_it, false);
    return false;
}

/* Once others are to be asked, nobody asks the old ones any more, not even to the end. */
static void test_workers__who_was_asked_is_let_go(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("fault:hang,node=second,workers=2@cpu");
    struct errand errand = {.model = &model, .scale = 1};
    struct pondering old = {false, false};
    atomic_bool cancel = true;
    help_chain(&model, NULL);
    odb_pool_set_cancel(pool, workers_ponder, &old);
    struct odb_pool_task *task = odb_pool_begin(pool, errand_run, &errand);
    while (!atomic_load(&old.at_it))
        usleep(1000);
    odb_pool_set_cancel(pool, workers_cancelled, &cancel);
    assert_false(atomic_load(&old.at_it));
    atomic_store(&old.over, true);
    odb_pool_wait(pool, task);
    assert_int_equal(errand.status, ODB_CANCELLED);
    odb_pool_close(pool);
    odb_buf_dispose(&model);
}

/* A worker whose child cannot be started leaves its work to the others, and says why. */
static void test_workers__one_that_cannot_start_is_out(void **state)
{
    struct odb_buf model = ODB_BUF_INIT;
    struct odb_pool *pool = workers_open("cpu,threads=1,workers=2");
    char *serve = odb_xstrdup(getenv("ONNXDBG_SERVE"));
    struct odb_pool_task *tasks[6];
    struct errand errands[6] = {0};
    help_chain(&model, NULL);
    setenv("ONNXDBG_SERVE", "/nonexistent/onnxdbg-serve", 1);
    for (int i = 0; i < 6; i++) {
        errands[i] = (struct errand){.model = &model, .scale = (float)(i + 1)};
        tasks[i] = odb_pool_begin(pool, errand_run, &errands[i]);
    }
    for (int i = 0; i < 6; i++) {
        odb_pool_wait(pool, tasks[i]);
        errand_check(&errands[i]);
    }
    while (!odb_pool_trouble(pool)[0]) /* the second may have come late */
        odb_pool_wait(pool, odb_pool_begin(pool, errand_run, &errands[0]));
    assert_non_null(strstr(odb_pool_trouble(pool), "cannot be started"));
    setenv("ONNXDBG_SERVE", serve, 1);
    odb_tensor_unref(errands[0].y);
    odb_pool_close(pool);
    odb_buf_dispose(&model);
    free(serve);
}

static void test_workers__how_many(void **state)
{
    static const struct {
        const char *spec;
        size_t n; /* 0: refused */
    } cases[] = {
        {"cpu", 1},
        {"cpu,workers=1", 1},
        {"cpu,workers=5", 5},
        {"fault:nan,node=a@cpu,workers=3", 3},
        {"fault:nan,node=a,workers=2@cpu,workers=3", 2},
        {"cpu,workers=0", 0},
        {"cpu,workers=65", 0},
        {"cpu,workers=1.5", 0},
        {"cpu,workers", 0},
        {"fault:nan,node=a@cpu,workers=x", 0},
        {"nobody,workers=2", 0},
    };
    help_find_serve();
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_pool *pool = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        enum odb_status status = odb_pool_open(&pool, cases[i].spec, NULL, NULL, &err);
        assert_int_equal(status, cases[i].n ? ODB_OK : ODB_E_USAGE);
        if (cases[i].n)
            assert_int_equal(odb_pool_workers(pool), cases[i].n);
        odb_pool_close(pool);
    }
}

/* --- searches --------------------------------------------------------------------------------- */

/* x -> 20 operators in a row, with a branch from the eighth that comes back at the end and gives an
 * output of its own. */
static struct odb_model *workers_model(void)
{
    static const char *const ops[] = {"Tanh", "Neg", "Sin", "Abs", "Cos"};
    struct odb_builder *b = odb_build_new("g", 17);
    char name[8], from[8] = "x", to[8];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "n%d", i);
        snprintf(to, sizeof to, "v%d", i);
        odb_build_node(b, ops[i % 5], name, from, to);
        memcpy(from, to, sizeof from);
    }
    odb_build_node(b, "Sigmoid", "side", "v7", "s");
    odb_build_node(b, "Add", "join", "v19 s", "y");
    odb_build_output(b, "y");
    odb_build_output(b, "s");
    return models_take(b);
}

/* A worker's time, until it is let go; or 60 s, where whoever would do that waits for it: more than
 * a busy machine stands still. */
struct held {
    atomic_bool go, gave_up;
};

static void held_work(void *arg, struct odb_target *target)
{
    struct held *held = arg;
    int looks = 60000;
    while (!atomic_load(&held->go) && looks-- > 0)
        usleep(1000);
    if (looks <= 0)
        atomic_store(&held->gave_up, true);
    (void)target;
}

/* Though all are at work, the next questions stand in the queue, for those who are free first. */
static void test_workers__a_question_begun_ahead_waits_for_nobody(void **state)
{
    struct odb_model *model = workers_model();
    struct odb_tensor *x = models_f32(1, (int64_t[]){8}, help_x);
    struct odb_feed feed = {models_value(model, "x"), x};
    struct odb_feeds feeds = {&feed, 1, NULL};
    struct odb_pool *pool = workers_open("cpu,threads=1,workers=2");
    struct held held = {false, false};
    struct odb_pool_task *tasks[2];
    struct odb_prober prober;
    int value = models_value(model, "v7");
    struct odb_tensor *output = NULL;
    struct odb_probe probe = {
        .what = "ahead", .node = ODB_NO_NODE, .values = &value, .n_values = 1, .outputs = &output};
    odb_prober_init(&prober, model, &feeds, NULL, pool, (struct odb_search_hooks){0});
    for (int i = 0; i < 2; i++)
        tasks[i] = odb_pool_begin(pool, held_work, &held);
    while (odb_pool_idle(pool))
        usleep(1000);
    odb_probe_begin(&prober, &probe);
    assert_false(atomic_load(&held.gave_up));
    atomic_store(&held.go, true);
    MODELS_OK(odb_probe_run(&prober, &probe, &why));
    assert_non_null(output);
    for (int i = 0; i < 2; i++)
        odb_pool_wait(pool, tasks[i]);
    odb_probe_drop(&prober, &probe);
    odb_prober_dispose(&prober);
    odb_pool_close(pool);
    odb_tensor_unref(x);
    odb_model_free(model);
}

/* All that a search told while it ran. */
static void journal_event(void *payload, const struct odb_search_event *e)
{
    struct odb_buf *journal = payload;
    odb_buf_printf(journal, "%d %s node %d verdict %d %zu/%zu left %zu loads %zu", (int)e->what,
                   e->text, e->node, (int)e->verdict, e->done, e->total, e->remaining, e->loads);
    if (e->what == ODB_EVENT_VALUE)
        odb_buf_printf(journal, " error %.9g local %.9g", e->report->error.v,
                       e->report->local_error.v);
    odb_buf_puts(journal, "\n");
}

/* The JSON of a report without what depends on time, and the target's spec. */
static char *workers_json(const struct odb_report *report)
{
    static const char *const top[] = {"target",         "target_loads",      "target_runs",
                                      "seconds",        "target_seconds",    "strategy",
                                      "forecast",       "reference_seconds", "target_load_seconds",
                                      "golden_seconds", "noise_seconds",     "processor_seconds",
                                      "phases"};
    struct odb_buf text = ODB_BUF_INIT;
    odb_report_json(report, &text);
    json_t *root = json_loadb(text.data, text.len, 0, NULL);
    assert_non_null(root);
    for (size_t i = 0; i < ODB_COUNT(top); i++)
        json_object_del(root, top[i]);
    json_object_del(json_object_get(root, "repeat"), "runs"); /* as many as time allows */
    char *out = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(root);
    odb_buf_dispose(&text);
    return out;
}

/* The target is SPEC,workers=nINNER. */
struct workers_case {
    const char *spec, *inner;
    enum odb_strategy strategy;
};

static char *workers_search(const struct workers_case *of, int n, struct odb_buf *journal)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    char target[160];
    struct odb_report *report = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model = workers_model();
    struct odb_feed feed = {.value = models_value(model, "x"),
                            .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    struct odb_feeds feeds = {&feed, 1, NULL};
    snprintf(target, sizeof target, "%s,workers=%d%s", of->spec, n, of->inner);
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = of->strategy,
                                         .hooks = {journal_event, NULL, journal}};
    help_find_serve();
    enum odb_status status = odb_bisect(&report, model, &feeds, &options, &err);
    assert_true(status == ODB_OK || status == ODB_E_EXECUTOR);
    char *json = workers_json(report);
    odb_report_free(report);
    odb_tensor_unref(feed.tensor);
    odb_model_free(model);
    return json;
}

static void test_workers__any_number_tells_the_same(void **state)
{
    static const struct workers_case cases[] = {
        {"fault:scale,node=n9", "@cpu", ODB_STRATEGY_EACH},
        {"fault:scale,node=n9", "@cpu", ODB_STRATEGY_ISOLATED},
        {"fault:scale,node=n9", "@cpu", ODB_STRATEGY_PREFIX},
        {"fault:scale,node=n9", "@cpu", ODB_STRATEGY_AUTO},
        {"fault:scale,node=n9,hidden", "@cpu", ODB_STRATEGY_AUTO},
        {"fault:scale,node=n9,fused=3", "@cpu", ODB_STRATEGY_PREFIX},
        {"fault:nan,node=n5", "@fault:offset,node=side@cpu", ODB_STRATEGY_AUTO},
        {"fault:nan,node=n5", "@fault:offset,node=side@cpu", ODB_STRATEGY_PREFIX},
        {"fault:nan,node=n5", "@fault:offset,node=n2@cpu", ODB_STRATEGY_ISOLATED},
        {"fault:crash,node=n7", "@cpu", ODB_STRATEGY_AUTO},
        {"fault:crash,node=n0", "@cpu", ODB_STRATEGY_AUTO},
        {"command:/bin/false", "", ODB_STRATEGY_AUTO},
    };
    static const int counts[] = {1, 2, 3, 5};
    for (size_t c = 0; c < ODB_COUNT(cases); c++) {
        struct odb_buf first = ODB_BUF_INIT, again = ODB_BUF_INIT;
        char *want = workers_search(&cases[c], counts[0], &first);
        for (size_t i = 1; i < ODB_COUNT(counts); i++) {
            odb_buf_clear(&again);
            char *json = workers_search(&cases[c], counts[i], &again);
            if (strcmp(json, want) != 0)
                fail_msg("%s, %d workers:\n%s\nnot\n%s", cases[c].spec, counts[i], json, want);
            if (strcmp(odb_buf_text(&again), odb_buf_text(&first)) != 0)
                fail_msg("%s, %d workers:\n%s\nnot\n%s", cases[c].spec, counts[i],
                         odb_buf_text(&again), odb_buf_text(&first));
            free(json);
        }
        free(want);
        odb_buf_dispose(&first);
        odb_buf_dispose(&again);
    }
}

/* Stops a search at a probe of its middle. */
struct stopper {
    int probes;
    atomic_bool stop;
};

static void stopper_event(void *payload, const struct odb_search_event *e)
{
    struct stopper *s = payload;
    if (e->what == ODB_EVENT_PROBE_BEGIN && ++s->probes == 9)
        atomic_store(&s->stop, true);
}

static bool stopper_cancelled(void *payload)
{
    return atomic_load(&((struct stopper *)payload)->stop);
}

static void test_workers__a_search_is_stopped_with_all_its_workers(void **state)
{
    static const enum odb_strategy strategies[] = {ODB_STRATEGY_EACH, ODB_STRATEGY_ISOLATED};
    for (size_t i = 0; i < ODB_COUNT(strategies); i++) {
        struct odb_model *model = workers_model();
        struct odb_tensor *x = models_f32(1, (int64_t[]){8}, help_x);
        struct odb_feed feed = {.value = models_value(model, "x"), .tensor = x};
        struct odb_feeds feeds = {&feed, 1, NULL};
        struct stopper stopper = {0};
        struct odb_report *report = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_bisect_options options = {.reference = "cpu",
                                             .target = "fault:scale,node=n12,workers=3@cpu",
                                             .tolerance = ODB_CRITERION_DEFAULT,
                                             .strategy = strategies[i],
                                             .hooks = {stopper_event, stopper_cancelled, &stopper}};
        assert_int_equal(odb_bisect(&report, model, &feeds, &options, &err), ODB_CANCELLED);
        assert_false(report->complete);
        odb_report_free(report);
        odb_tensor_unref(x);
        odb_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers__every_task_is_done_once),
        cmocka_unit_test(test_workers__the_owner_has_a_target_of_his_own),
        cmocka_unit_test(test_workers__work_beside_leaves_the_owner_his_target),
        cmocka_unit_test(test_workers__what_is_forgotten_is_dropped),
        cmocka_unit_test(test_workers__cancelling_reaches_all),
        cmocka_unit_test(test_workers__who_was_asked_is_let_go),
        cmocka_unit_test(test_workers__one_that_cannot_start_is_out),
        cmocka_unit_test(test_workers__how_many),
        cmocka_unit_test(test_workers__a_question_begun_ahead_waits_for_nobody),
        cmocka_unit_test(test_workers__any_number_tells_the_same),
        cmocka_unit_test(test_workers__a_search_is_stopped_with_all_its_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
