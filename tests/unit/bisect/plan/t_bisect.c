/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whole searches over small models with planted faults, against a child program.
 */
#include "bisect/plan/bisect.h"

#include <math.h>
#include <sys/stat.h>

#include "reference/trace.h"
#include "session/memory.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"
#include "session/session_state.h"

struct search {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
};

/* Searches the model as built, fed with x, for what the target does. */
static enum odb_status search_try(struct search *s, struct odb_builder *b, struct odb_tensor *x,
                                  const char *target, enum odb_strategy strategy,
                                  struct odb_error *err)
{
    s->model = models_take(b);
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"), .tensor = x};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    s->report = NULL;
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = strategy};
    help_find_serve();
    return odb_bisect(&s->report, s->model, &s->feeds, &options, err);
}

static void search_run(struct search *s, struct odb_builder *b, struct odb_tensor *x,
                       const char *target, enum odb_strategy strategy)
{
    MODELS_OK(search_try(s, b, x, target, strategy, &why));
}

static void search_close(struct search *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

static const struct odb_culprit *search_only(const struct search *s)
{
    assert_int_equal(s->report->culprits.n, 1);
    return &s->report->culprits.items[0];
}

static struct odb_tensor *search_ramp(void)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    return models_f32(1, (int64_t[]){8}, ramp);
}

static struct odb_builder *search_graph(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    return b;
}

static struct odb_builder *search_chain(void)
{
    struct odb_builder *b = search_graph();
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Exp", "n2", "q", "y");
    odb_build_output(b, "y");
    return b;
}

/* float64 gives exactly zero where float cannot: the target does as the reference does. */
static void test_bisect__rounding_beside_an_exact_zero_is_no_fault(void **state)
{
    struct search s;
    struct odb_builder *b = odb_build_new("g", 17);
    const float large = 1e8f;
    struct odb_tensor *w = models_f32(0, NULL, &large);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Add", "n0", "x w", "a");
    odb_build_node(b, "Sub", "n1", "a w", "b");
    odb_build_node(b, "Sub", "n2", "b x", "y");
    odb_build_output(b, "y");
    search_run(&s, b, models_f32(1, (int64_t[]){2}, (float[]){0.5f, 0.25f}), "cpu",
               ODB_STRATEGY_AUTO);
    assert_false(s.report->outputs_diverge);
    assert_int_equal(s.report->culprits.n, 0);
    search_close(&s);
    odb_tensor_unref(w);
}

/* A pass on nothing but constants says so. */
static void test_bisect__constant_outputs_show_little(void **state)
{
    (void)state;
    for (int varies = 0; varies < 2; varies++) {
        struct search s;
        struct odb_builder *b = search_graph();
        odb_build_node(b, "Sub", "n0", "x x", "y");
        odb_build_output(b, "y");
        if (varies) {
            odb_build_node(b, "Abs", "n1", "x", "z");
            odb_build_output(b, "z");
        }
        search_run(&s, b, search_ramp(), "cpu", ODB_STRATEGY_AUTO);
        assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_PASS);
        assert_int_equal(s.report->little_shown, !varies);
        search_close(&s);
    }
}

/* What is empty cannot be off, and a Constant beside it is not what was asked. */
static void test_bisect__empty_values_are_no_verdict(void **state)
{
    struct search s;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = search_graph();
    (void)state;
    odb_build_node(b, "Constant", "n0", "", "none");
    odb_build_attr_ints(b, "value_ints", 1, (int64_t[]){0});
    odb_build_node(b, "Slice", "n1", "x none none", "e");
    odb_build_node(b, "Abs", "n2", "e", "y");
    odb_build_output(b, "y");
    assert_int_equal(search_try(&s, b, search_ramp(), "cpu", ODB_STRATEGY_AUTO, &err), ODB_E_INPUT);
    assert_string_equal(err.what, "all values that could be judged are empty");
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_NONE);
    search_close(&s);
}

static struct odb_builder *search_noise(void)
{
    struct odb_builder *b = search_graph();
    odb_build_node(b, "RandomNormalLike", "r", "x", "z");
    odb_build_node(b, "Add", "n0", "x z", "a");
    odb_build_node(b, "Tanh", "n1", "a", "y");
    odb_build_output(b, "y");
    return b;
}

/* The draw is captured once: the target's own would differ. */
/* Nothing but draws comes out: who draws is named. */
static void test_bisect__outputs_that_are_drawn_name_who_draws(void **state)
{
    struct search s;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = search_graph();
    char text[600];
    (void)state;
    odb_build_node(b, "RandomNormalLike", "dice", "x", "y");
    odb_build_output(b, "y");
    assert_int_equal(search_try(&s, b, search_ramp(), "cpu", ODB_STRATEGY_AUTO, &err), ODB_E_MODEL);
    odb_error_text(&err, text, sizeof text);
    assert_non_null(strstr(text, "#0 dice (RandomNormalLike)"));
    assert_non_null(strstr(text, "output y at random"));
    search_close(&s);
}

static void test_bisect__contradicting_declarations_are_noted(void **state)
{
    struct search s;
    struct odb_builder *b = search_chain();
    (void)state;
    odb_build_value_info(b, "h", ODB_F32, 1, (int64_t[]){8});
    odb_build_value_info(b, "q", ODB_F32, 2, (int64_t[]){2, 4});
    search_run(&s, b, search_ramp(), "cpu", ODB_STRATEGY_AUTO);
    const char *found = NULL;
    for (size_t i = 0; i < s.report->notes.n; i++)
        if (strstr(s.report->notes.items[i], "declare"))
            found = s.report->notes.items[i];
    assert_non_null(found);
    assert_non_null(strstr(found, "1 value is not"));
    assert_non_null(strstr(found, "#1 n1 (Mul) makes q as float[8]"));
    assert_non_null(strstr(found, "lint --run"));
    search_close(&s);
}

static void test_bisect__random_draws_are_fed(void **state)
{
    struct search s;
    search_run(&s, search_noise(), search_ramp(), "cpu", ODB_STRATEGY_AUTO);
    assert_false(s.report->outputs_diverge);
    assert_int_equal(s.report->culprits.n, 0);
    search_close(&s);
    search_run(&s, search_noise(), search_ramp(), "fault:scale,node=n0,amount=0.01@cpu",
               ODB_STRATEGY_AUTO);
    assert_int_equal(search_only(&s)->node, 1);
    assert_int_equal(search_only(&s)->kind, ODB_KIND_INTRODUCED);
    assert_true(search_only(&s)->verified);
    search_close(&s);
}

/* The body reads a value of the graph around it, which must be fed when the node runs alone. */
static void test_bisect__fault_in_control_flow_is_named(void **state)
{
    struct search s;
    struct odb_builder *b = search_graph();
    odb_build_node(b, "Tanh", "n0", "x", "g");
    odb_build_node(b, "Neg", "n1", "g", "h");
    models_add_if(b, "n2", "q");
    odb_build_node(b, "Mul", "n3", "q h", "r");
    odb_build_node(b, "Neg", "n4", "r", "y");
    odb_build_output(b, "y");
    search_run(&s, b, search_ramp(), "fault:scale,node=n2,amount=0.01@cpu", ODB_STRATEGY_PREFIX);
    assert_int_equal(search_only(&s)->node, 2);
    assert_int_equal(search_only(&s)->kind, ODB_KIND_INTRODUCED);
    assert_true(search_only(&s)->verified);
    search_close(&s);
}

/* Items of a sequence are judged one by one, and the node that made a wrong one is named. */
static void test_bisect__fault_in_a_sequence_is_named(void **state)
{
    static const char *const targets[] = {"cpu", "fault:scale,node=n1,amount=0.01@cpu",
                                          "fault:nan,node=n2@cpu",
                                          "fault:scale,node=n3,amount=0.01@cpu"};
    for (int node = 0; node < (int)ODB_COUNT(targets); node++) {
        struct search s;
        struct odb_builder *b = search_graph();
        odb_build_node(b, "Tanh", "n0", "x", "g");
        odb_build_node(b, "SequenceConstruct", "n1", "g x g", "q");
        odb_build_node(b, "SequenceInsert", "n2", "q g", "r");
        odb_build_node(b, "ConcatFromSequence", "n3", "r", "c");
        odb_build_attr_int(b, "axis", 0);
        odb_build_node(b, "Exp", "n4", "c", "y");
        odb_build_output(b, "r");
        odb_build_output(b, "y");
        search_run(&s, b, search_ramp(), targets[node], ODB_STRATEGY_AUTO);
        assert_int_equal(s.report->outputs_diverge, node > 0);
        if (node == 0) {
            assert_int_equal(s.report->culprits.n, 0);
        } else {
            assert_int_equal(search_only(&s)->node, node);
            assert_true(search_only(&s)->verified);
        }
        search_close(&s);
    }
}

static void test_bisect__nan_is_called_nan_by_every_strategy(void **state)
{
    static const enum odb_strategy all[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                            ODB_STRATEGY_ISOLATED, ODB_STRATEGY_EACH};
    for (size_t i = 0; i < ODB_COUNT(all); i++) {
        struct search s;
        search_run(&s, search_chain(), search_ramp(), "fault:nan,node=n1@cpu", all[i]);
        assert_int_equal(search_only(&s)->node, 1);
        assert_int_equal(search_only(&s)->kind, ODB_KIND_NAN);
        search_close(&s);
    }
}

/* x -> Tanh h -> Neg y, and x -> (the reference refuses a mask of two channels) m -> Tanh -> Neg z.
 */
static struct odb_builder *search_stranger(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *mask;
    int64_t dims[] = {1, 2, 2, 2};
    assert_int_equal(odb_tensor_new(&mask, ODB_I32, 4, dims, NULL), ODB_OK);
    odb_build_opset(b, "com.microsoft", 1);
    odb_build_input(b, "x", ODB_F32, 4, dims);
    odb_build_weight(b, "mask", mask);
    odb_tensor_unref(mask);
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Neg", "n1", "h", "y");
    odb_build_node(b, "com.microsoft::MaxpoolWithMask", "n2", "x mask", "m");
    odb_build_attr_ints(b, "kernel_shape", 2, (int64_t[]){1, 1});
    odb_build_node(b, "Tanh", "n3", "m", "t");
    odb_build_node(b, "Neg", "n4", "t", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    return b;
}

/* Whether a prefix crashes can be seen without knowing what it should give. */
static void test_bisect__crash_without_reference_is_named(void **state)
{
    help_find_serve();
    if (!help_has_ort())
        skip();
    for (int node = 0; node < 5; node++) {
        struct search s;
        char target[80];
        snprintf(target, sizeof target, "fault:crash,node=n%d@ort", node);
        search_run(&s, search_stranger(),
                   models_f32(4, (int64_t[]){1, 2, 2, 2}, (float[]){2, 1, 1, 3, 4, 2, 1, 5}),
                   target, ODB_STRATEGY_AUTO);
        assert_int_equal(search_only(&s)->node, node);
        assert_int_equal(search_only(&s)->kind, ODB_KIND_CRASH);
        assert_int_equal(search_only(&s)->segment[0], node);
        assert_int_equal(search_only(&s)->verified, node < 3);
        search_close(&s);
    }
}

/* What a search told of itself. */
struct listener {
    struct {
        int value;
        enum odb_verdict verdict;
        bool local;
    } values[64];
    size_t n_values;
    char probes[2048]; /* "BEGIN text\n", "END text: verdict\n" */
    size_t remaining;  /* of the last probe among suspects */
    size_t loads, runs;
    char phases[512]; /* "reference,golden," */
};

static void listener_probe(struct listener *l, const struct odb_search_event *event)
{
    size_t used = strlen(l->probes);
    bool end = event->what == ODB_EVENT_PROBE_END;
    snprintf(l->probes + used, sizeof l->probes - used, end ? "%s: %s\n" : "%s?\n", event->text,
             odb_verdict_name(event->verdict));
    if (event->remaining)
        l->remaining = event->remaining;
    l->loads += event->loads;
    l->runs += event->runs;
}

static void listener_event(void *payload, const struct odb_search_event *event)
{
    struct listener *l = payload;
    size_t used = strlen(l->phases);
    assert_non_null(event->text);
    if (event->what == ODB_EVENT_PHASE)
        snprintf(l->phases + used, sizeof l->phases - used, "%s,", event->text);
    else if (event->what == ODB_EVENT_PROBE_BEGIN || event->what == ODB_EVENT_PROBE_END)
        listener_probe(l, event);
    if (event->what != ODB_EVENT_VALUE)
        return;
    assert_true(l->n_values < ODB_COUNT(l->values));
    assert_int_equal(event->report->verdict, event->verdict);
    l->values[l->n_values].value = event->value;
    l->values[l->n_values].verdict = event->verdict;
    l->values[l->n_values++].local = event->report->local_noise.known;
}

/* Searches the chain with a listener for a target that scales n1. */
static void listener_search(struct listener *l, struct search *s, enum odb_strategy strategy)
{
    *l = (struct listener){.n_values = 0};
    s->model = models_take(search_chain());
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"), .tensor = search_ramp()};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = "fault:scale,node=n1,amount=0.01@cpu",
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = strategy,
                                         .hooks = {listener_event, NULL, l}};
    help_find_serve();
    MODELS_OK(odb_bisect(&s->report, s->model, &s->feeds, &options, &why));
    assert_int_equal(search_only(s)->node, 1);
}

/* The output of the plain run first, then every value from the top, with local numbers on its
 * second time. */
static void test_bisect__values_are_told_as_they_are_judged(void **state)
{
    struct listener l;
    struct search s;
    listener_search(&l, &s, ODB_STRATEGY_AUTO);
    static const char *const names[] = {"y", "h", "h", "q", "q", "y", "y", "y"};
    static const bool local[] = {false, false, true, false, true, false, true, true};
    assert_int_equal(l.n_values, ODB_COUNT(names));
    for (size_t i = 0; i < l.n_values; i++) {
        assert_int_equal(l.values[i].value, models_value(s.model, names[i]));
        assert_int_equal(l.values[i].verdict,
                         *names[i] == 'h' ? ODB_VERDICT_PASS : ODB_VERDICT_FAIL);
        assert_int_equal(l.values[i].local, local[i]);
    }
    assert_string_equal(l.phases, "reference,golden,start of the target,plain run 1,noisy run 1,"
                                  "plain run 1,plain run 2,probed run,replay,verify,"
                                  "second cut,pinned,explain,third opinion,");
    const char *want = "the whole model?\nthe whole model: fail\n"
                       "the whole model again?\nthe whole model again: fail\n"
                       "all values probed?\nall values probed: fail\n"
                       "alone: #1 Mul n1?\nalone: #1 Mul n1: fail\n";
    assert_memory_equal(l.probes, want, strlen(want)); /* and maybe a third opinion */
    size_t more = s.report->repeats.runs - 2;          /* of which nobody is told */
    assert_true(l.loads >= s.report->target_loads && l.runs + more >= s.report->target_runs);
    search_close(&s);
}

/* Whatever has a verdict that needs a tensor has that tensor, and feeds are not among them. */
static void test_bisect__what_was_judged_is_kept(void **state)
{
    static const enum odb_strategy all[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                            ODB_STRATEGY_ISOLATED, ODB_STRATEGY_EACH};
    for (size_t i = 0; i < ODB_COUNT(all); i++) {
        struct search s;
        search_run(&s, search_chain(), search_ramp(), "fault:scale,node=n1,amount=0.01@cpu",
                   all[i]);
        assert_int_equal(search_only(&s)->node, 1);
        for (size_t v = 0; v < s.report->n_values; v++)
            assert_int_equal(s.report->given[v] != NULL,
                             s.report->values[v].verdict != ODB_VERDICT_UNTESTED);
        assert_null(s.report->given[s.feed.value]);
        const struct odb_tensor *q = s.report->given[models_value(s.model, "q")];
        assert_non_null(q);
        double h = tanh(-1.5);
        assert_true(fabs(odb_tensor_f64(q, 0) - 1.01 * h * h) < 1e-5);
        search_close(&s);
    }
}

static void test_bisect__probes_say_how_many_suspects_are_left(void **state)
{
    struct listener l;
    struct search s;
    listener_search(&l, &s, ODB_STRATEGY_PREFIX);
    assert_non_null(strstr(l.probes, "prefix up to #1 Mul n1: fail\n"));
    assert_non_null(strstr(l.probes, "prefix up to #0 Tanh n0: pass\n"));
    assert_int_equal(l.remaining, 1);
    assert_non_null(strstr(l.phases, "prefixes,verify,"));
    search_close(&s);
}

/* Cancels as soon as the phase begins that is looked for. */
struct stopper {
    const char *phase;
    atomic_bool met; /* asked by several threads */
};

static void stopper_event(void *payload, const struct odb_search_event *event)
{
    struct stopper *s = payload;
    s->met = s->met || strcmp(event->text, s->phase) == 0;
}

static bool stopper_cancelled(void *payload)
{
    return ((struct stopper *)payload)->met;
}

static void test_bisect__every_long_phase_can_be_cancelled(void **state)
{
    static const char *const phases[] = {"reference",   "golden",     "plain run 1", "plain run 2",
                                         "noisy run 1", "probed run", "replay",      "verify"};
    for (size_t i = 0; i < ODB_COUNT(phases); i++) {
        struct stopper stopper = {.phase = phases[i]};
        struct odb_error err = ODB_ERROR_INIT;
        struct search s = {.model = models_take(search_chain())};
        s.feed = (struct odb_feed){.value = models_value(s.model, "x"), .tensor = search_ramp()};
        s.feeds = (struct odb_feeds){&s.feed, 1, NULL};
        struct odb_bisect_options options = {.reference = "cpu",
                                             .target = "fault:scale,node=n1,amount=1e-5@cpu",
                                             .tolerance = ODB_CRITERION_DEFAULT,
                                             .hooks = {stopper_event, stopper_cancelled, &stopper}};
        enum odb_status status = odb_bisect(&s.report, s.model, &s.feeds, &options, &err);
        if (!stopper.met || status != ODB_CANCELLED)
            fail_msg("%s: %s, status %d", phases[i], stopper.met ? "met" : "not met", status);
        help_has_text(&err, "cancel");
        assert_non_null(s.report);
        search_close(&s);
    }
}

static void prefix_event(void *payload, const struct odb_search_event *event)
{
    if (event->what == ODB_EVENT_PROBE_BEGIN && !strncmp(event->text, "prefix", 6))
        ++*(int *)payload;
}

static void test_bisect__a_stopped_search_goes_on_where_it_was(void **state)
{
    struct stopper stopper = {.phase = "verify"};
    struct odb_error err = ODB_ERROR_INIT;
    struct search s = {.model = models_take(search_chain())};
    int prefixes = 0;
    s.feed = (struct odb_feed){.value = models_value(s.model, "x"), .tensor = search_ramp()};
    s.feeds = (struct odb_feeds){&s.feed, 1, NULL};
    struct odb_memory *memory = odb_memory_new();
    struct odb_answers answers;
    odb_memory_answers(memory, &answers);
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = "fault:scale,node=n1,amount=1e-2@cpu",
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = ODB_STRATEGY_PREFIX,
                                         .repeat = 2,
                                         .no_explain = true,
                                         .answers = &answers,
                                         .hooks = {stopper_event, stopper_cancelled, &stopper}};
    help_find_serve();
    assert_int_equal(odb_bisect(&s.report, s.model, &s.feeds, &options, &err), ODB_CANCELLED);
    odb_memory_answers(memory, &answers);
    assert_int_equal(answers.n, 5); /* two plain runs, two prefixes, the one left alone */
    odb_report_free(s.report);
    options.hooks = (struct odb_search_hooks){prefix_event, NULL, &prefixes, NULL};
    MODELS_OK(odb_bisect(&s.report, s.model, &s.feeds, &options, &why));
    assert_int_equal(prefixes, 0);
    assert_int_equal(search_only(&s)->node, 1);
    assert_true(search_only(&s)->verified);
    assert_int_equal(s.report->values[models_value(s.model, "h")].verdict, ODB_VERDICT_PASS);
    /* the model with it pinned, which was not asked before */
    assert_int_equal(s.report->target_runs, 1);
    odb_memory_free(memory);
    search_close(&s);
}

/* A program that never gives an answer: the first node is not to blame for that. */
static void test_bisect__a_target_that_runs_nothing_blames_no_node(void **state)
{
    char script[] = "/tmp/t_bisect-XXXXXX", target[80];
    struct search s;
    int fd = mkstemp(script);
    assert_true(fd >= 0 && fchmod(fd, 0700) == 0);
    assert_int_equal(write(fd, "#!/bin/sh\nexec sleep 9\n", 23), 23);
    close(fd);
    snprintf(target, sizeof target, "command:%s,timeout=0.3", script);
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(search_try(&s, search_chain(), search_ramp(), target, ODB_STRATEGY_AUTO, &err),
                     ODB_E_EXECUTOR);
    unlink(script);
    assert_int_equal(s.report->culprits.n, 0);
    assert_true(s.report->dead && !s.report->complete);
    assert_false(s.report->outputs_diverge);
    assert_non_null(strstr(s.report->failure, "does not run at all here"));
    assert_non_null(strstr(s.report->failure, "no answer within 0.3 s"));
    struct odb_buf line = ODB_BUF_INIT;
    odb_report_headline(s.report, &line);
    assert_non_null(strstr(line.data, "does not run at all here"));
    odb_buf_dispose(&line);
    search_close(&s);
    /* and one node that hangs is */
    search_run(&s, search_chain(), search_ramp(), "fault:hang,node=n0,timeout=0.5@cpu",
               ODB_STRATEGY_AUTO);
    assert_int_equal(search_only(&s)->node, 0);
    assert_int_equal(search_only(&s)->kind, ODB_KIND_HANG);
    search_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bisect__constant_outputs_show_little),
        cmocka_unit_test(test_bisect__empty_values_are_no_verdict),
        cmocka_unit_test(test_bisect__a_target_that_runs_nothing_blames_no_node),
        cmocka_unit_test(test_bisect__a_stopped_search_goes_on_where_it_was),
        cmocka_unit_test(test_bisect__rounding_beside_an_exact_zero_is_no_fault),
        cmocka_unit_test(test_bisect__outputs_that_are_drawn_name_who_draws),
        cmocka_unit_test(test_bisect__contradicting_declarations_are_noted),
        cmocka_unit_test(test_bisect__random_draws_are_fed),
        cmocka_unit_test(test_bisect__fault_in_control_flow_is_named),
        cmocka_unit_test(test_bisect__fault_in_a_sequence_is_named),
        cmocka_unit_test(test_bisect__nan_is_called_nan_by_every_strategy),
        cmocka_unit_test(test_bisect__crash_without_reference_is_named),
        cmocka_unit_test(test_bisect__values_are_told_as_they_are_judged),
        cmocka_unit_test(test_bisect__what_was_judged_is_kept),
        cmocka_unit_test(test_bisect__probes_say_how_many_suspects_are_left),
        cmocka_unit_test(test_bisect__every_long_phase_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
