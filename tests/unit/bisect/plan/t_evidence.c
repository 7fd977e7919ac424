/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is held against a culprit besides having been found: planted truths.
 */
#include "report/report.h"

#include <math.h>

#include "compare/specials.h"
#include "bisect/plan/bisect.h"
#include "bisect/evidence/confidence.h"
#include "bisect/plan/evidence.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
};

static void scene_search_by(struct scene *s, struct odb_builder *b, struct odb_tensor *x,
                            struct odb_bisect_options options)
{
    s->model = models_take(b);
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"), .tensor = x};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    s->report = NULL;
    options.reference = "cpu";
    help_find_serve();
    MODELS_OK(odb_bisect(&s->report, s->model, &s->feeds, &options, &why));
}

static void scene_search(struct scene *s, struct odb_builder *b, struct odb_tensor *x,
                         const char *target, enum odb_strategy strategy)
{
    scene_search_by(s, b, x,
                    (struct odb_bisect_options){.target = target,
                                                .tolerance = ODB_CRITERION_DEFAULT,
                                                .strategy = strategy});
}

static void scene_close(struct scene *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

static struct odb_tensor *scene_ramp(void)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    return models_f32(1, (int64_t[]){8}, ramp);
}

/* x -> Tanh -> Mul -> Exp -> Sin -> Neg -> y */
static struct odb_builder *scene_chain(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Exp", "n2", "q", "e");
    odb_build_node(b, "Sin", "n3", "e", "s");
    odb_build_node(b, "Neg", "n4", "s", "y");
    odb_build_output(b, "y");
    return b;
}

static const struct odb_culprit *scene_culprit(const struct scene *s, int node)
{
    for (size_t c = 0; c < s->report->culprits.n; c++)
        if (s->report->culprits.items[c].node == node)
            return &s->report->culprits.items[c];
    fail_msg("node %d is not accused", node);
    return NULL;
}

static const struct odb_search_step *scene_step(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->report->steps.n; i++)
        if (!strcmp(s->report->steps.items[i].step, name))
            return &s->report->steps.items[i];
    fail_msg("there is no step %s", name);
    return NULL;
}

static void test_evidence__one_fault_fails_in_two_cuts_and_explains_the_output(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "fault:scale,node=n2,amount=1e-2@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = scene_culprit(&s, 2);
    assert_int_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONFIRMS);
    assert_int_equal(culprit->checks[ODB_CHECK_NEIGHBOUR], ODB_CONFIRMS);
    assert_int_equal(culprit->neighbour, 1);
    assert_int_equal(culprit->checks[ODB_CHECK_PINNED], ODB_CONFIRMS);
    assert_int_equal(culprit->confidence, ODB_CONFIDENCE_HIGH);
    /* What it is given is the reference's, bit for bit, and has the noise of its type. */
    assert_true(culprit->sensitivity.growth.known && culprit->sensitivity.growth.v > 0.1);
    assert_int_equal(s.report->pinned_pass, ODB_CONFIRMS);
    assert_non_null(strstr(culprit->text, "With #2 pinned to the reference the outputs pass"));
    scene_close(&s);
}

/* Neither hides the other, and both together explain the output. */
static void test_evidence__a_fault_beside_a_nan_is_found_too(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(),
                 "fault:nan,node=n1,count=4@fault:scale,node=n3,amount=1e-2@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 2);
    assert_int_equal(scene_culprit(&s, 1)->kind, ODB_KIND_NAN);
    assert_int_equal(scene_culprit(&s, 1)->specials.nan_target, 4);
    assert_int_equal(scene_culprit(&s, 3)->kind, ODB_KIND_INTRODUCED);
    assert_true(scene_culprit(&s, 3)->verified);
    assert_int_equal(s.report->pinned_pass, ODB_CONFIRMS);
    assert_int_equal(s.report->pinned.n, 2);
    for (int n = 1; n <= 3; n += 2) /* each, with the other pinned */
        assert_int_equal(scene_culprit(&s, n)->checks[ODB_CHECK_PINNED], ODB_CONFIRMS);
    scene_close(&s);
}

/* x -> Tanh -> Exp -> y, and beside that three branches of which the output gets nothing: each is
 * Tanh -> Sin -> Abs -> times zero -> added. */
static struct odb_builder *scene_branches(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    const float zero = 0;
    struct odb_tensor *w = models_f32(0, NULL, &zero);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Exp", "guilty", "h", "s0");
    for (int i = 1; i <= 3; i++) {
        char name[16], in[16], out[16];
        const char *const ops[] = {"Sin", "Abs", "Mul", "Add"};
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "%c%d", "abcd"[k], i);
            snprintf(in, sizeof in, k == 2 ? "v%d%d w" : "v%d%d", i, k - 1);
            snprintf(out, sizeof out, "v%d%d", i, k);
            if (k == 3)
                snprintf(in, sizeof in, "v%d2 s%d", i, i - 1);
            if (k == 3)
                snprintf(out, sizeof out, "s%d", i);
            odb_build_node(b, ops[k], name, k ? in : "h", out);
        }
    }
    odb_build_node(b, "Neg", "last", "s3", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(w);
    return b;
}

/* One guilty and three whose errors no output gets are pinned together, and the outputs pass: that
 * confirms the guilty one alone. Loads: all of them, one for
 * each, and two for those that spoil nothing. */
static void test_evidence__of_several_pinned_one_is_confirmed(void **state)
{
    static const char *const targets[] = {
        "fault:scale,node=a1@fault:scale,node=a2@fault:scale,node=a3@"
        "fault:scale,node=guilty,amount=0.02@cpu",
        "fault:scale,node=a1,seen@fault:scale,node=a2,seen@fault:scale,node=a3,seen@"
        "fault:scale,node=guilty,amount=0.02@cpu"};
    for (size_t t = 0; t < ODB_COUNT(targets); t++) {
        struct scene s;
        scene_search(&s, scene_branches(), scene_ramp(), targets[t], ODB_STRATEGY_AUTO);
        assert_int_equal(s.report->culprits.n, 4);
        assert_int_equal(s.report->pinned.n, 4);
        assert_int_equal(s.report->pinned_pass, ODB_CONFIRMS);
        for (size_t c = 0; c < 4; c++) {
            const struct odb_culprit *culprit = &s.report->culprits.items[c];
            bool guilty = culprit->node == 1;
            assert_int_equal(culprit->spoils, guilty ? ODB_CONFIRMS : ODB_CONTRADICTS);
            assert_int_equal(culprit->checks[ODB_CHECK_PINNED],
                             guilty ? ODB_CONFIRMS : ODB_NOT_ASKED);
            assert_int_equal(culprit->kind,
                             guilty || t == 0 ? ODB_KIND_INTRODUCED : ODB_KIND_PROBE_EFFECT);
            assert_int_equal(culprit->verified, guilty || t == 0);
            assert_non_null(strstr(culprit->text, guilty ? "fails again" : "passes as well"));
        }
        const struct odb_search_step *step = scene_step(&s, "pinned");
        assert_true(step->loads <= 1 + 4 + 3 * 2);
        scene_close(&s);
    }
}

/* Ten of twenty in a row; what is said of each names a few of the others. */
static void test_evidence__many_pinned_are_counted_and_a_few_asked_one_by_one(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_buf target = ODB_BUF_INIT;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int n = 0; n < 21; n++) {
        char in[8], out[8];
        snprintf(in, sizeof in, "v%d", n);
        snprintf(out, sizeof out, "v%d", n + 1);
        odb_build_node(b, "Neg", "", n ? in : "x", out);
        if (n % 2)
            odb_buf_printf(&target, "fault:scale,node=#%d,amount=0.1@", n);
    }
    odb_build_output(b, "v21");
    odb_buf_puts(&target, "cpu");
    struct scene s;
    scene_search(&s, b, scene_ramp(), odb_buf_text(&target), ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 10);
    assert_int_equal(s.report->pinned.n, 10);
    assert_int_equal(s.report->pinned_pass, ODB_CONFIRMS);
    const struct odb_culprit *culprits = s.report->culprits.items;
    assert_non_null(strstr(culprits[0].text, "With #1, #3, #5, #7, #9, #11, #13 and 3 more "
                                             "pinned to the reference the outputs pass"));
    /* A witness lies between each and the next, so the first eight can be asked. */
    for (size_t c = 0; c < 10; c++)
        assert_int_equal(culprits[c].spoils, c < 8 ? ODB_CONFIRMS : ODB_NOT_ASKED);
    odb_buf_dispose(&target);
    scene_close(&s);
}

/* What the first makes is read by the second alone, whose value is pinned: nothing can be told. */
static void test_evidence__neighbours_pinned_hide_each_other(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(),
                 "fault:scale,node=n1,amount=0.02@fault:scale,node=n2,amount=0.02@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 2);
    assert_int_equal(scene_culprit(&s, 1)->spoils, ODB_NOT_TESTABLE);
    assert_int_equal(scene_culprit(&s, 1)->checks[ODB_CHECK_PINNED], ODB_NOT_ASKED);
    assert_int_equal(scene_culprit(&s, 2)->spoils, ODB_CONFIRMS);
    scene_close(&s);
}

/* The culprit makes the only output that is wrong: with that pinned, nothing is left to be asked.
 */
static void test_evidence__an_output_that_was_right_confirms_nothing(void **state)
{
    struct scene s;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Mul", "n1", "h h", "q");
    odb_build_node(b, "Neg", "n2", "h", "z");
    odb_build_output(b, "q");
    odb_build_output(b, "z");
    scene_search(&s, b, scene_ramp(), "fault:scale,node=n1@cpu", ODB_STRATEGY_AUTO);
    assert_int_equal(scene_culprit(&s, 1)->checks[ODB_CHECK_PINNED], ODB_NOT_ASKED);
    assert_int_equal(s.report->pinned_pass, ODB_NOT_ASKED);
    assert_null(strstr(scene_culprit(&s, 1)->text, "pass"));
    scene_close(&s);
}

/* A search over prefixes finds one; the other shows once that is pinned. */
static void test_evidence__prefixes_find_the_second_fault(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(),
                 "fault:scale,node=n1,amount=0.05@fault:scale,node=n3,amount=1e-2@cpu",
                 ODB_STRATEGY_PREFIX);
    assert_int_equal(s.report->culprits.n, 2);
    assert_int_equal(scene_culprit(&s, 1)->checks[ODB_CHECK_PREFIX], ODB_CONFIRMS);
    assert_true(scene_culprit(&s, 3)->verified);
    assert_int_equal(s.report->pinned_pass, ODB_CONFIRMS);
    scene_close(&s);
}

static void test_evidence__two_crashes_are_both_found(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "fault:crash,node=n1@fault:crash,node=n3@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 2);
    assert_int_equal(scene_culprit(&s, 1)->kind, ODB_KIND_CRASH);
    assert_int_equal(scene_culprit(&s, 3)->kind, ODB_KIND_CRASH);
    assert_int_equal(s.report->pinned_pass, ODB_CONFIRMS);
    scene_close(&s);
}

/* x -> Tanh, and from there Sin -> Neg -> y and Exp -> Abs -> z. The target dies where all five are
 * in what it loads: no beginning of the model does that, and no node alone. */
static void test_evidence__what_only_the_whole_shows_names_no_node(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_buf line = ODB_BUF_INIT;
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Sin", "n1", "h", "q");
    odb_build_node(b, "Neg", "n2", "q", "y");
    odb_build_node(b, "Exp", "n3", "h", "e");
    odb_build_node(b, "Abs", "n4", "e", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    scene_search(&s, b, scene_ramp(), "fault:crash,node=n0,fused=4@cpu", ODB_STRATEGY_AUTO);
    assert_true(s.report->outputs_diverge);
    assert_int_equal(s.report->culprits.n, 0);
    assert_string_equal(s.report->only_whole, "crashes");
    odb_report_headline(s.report, &line);
    assert_non_null(strstr(odb_buf_text(&line), "crashes on the model as a whole"));
    assert_null(strchr(odb_buf_text(&line), '#'));
    odb_buf_dispose(&line);
    scene_close(&s);
}

/* The same where the last node of all ends the only prefix that dies: alone it does not. */
static void test_evidence__the_last_node_is_not_the_whole(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "fault:crash,node=n0,fused=4@cpu",
                 ODB_STRATEGY_AUTO);
    assert_true(s.report->outputs_diverge);
    assert_int_equal(s.report->culprits.n, 0);
    assert_string_equal(s.report->only_whole, "crashes");
    scene_close(&s);
    scene_search(&s, scene_chain(), scene_ramp(), "fault:crash,node=n0,fused=3@cpu",
                 ODB_STRATEGY_AUTO); /* a part does: up to n3 */
    assert_null(s.report->only_whole);
    assert_int_equal(scene_culprit(&s, 3)->kind, ODB_KIND_CRASH);
    scene_close(&s);
    scene_search(&s, scene_chain(), scene_ramp(), "fault:crash,node=n4@cpu", ODB_STRATEGY_AUTO);
    assert_null(s.report->only_whole); /* alone it does */
    assert_true(scene_culprit(&s, 4)->verified);
    scene_close(&s);
}

/* Where a region fails and nothing ran alone, neither is said of the other; nor is a node named. */
static void test_evidence__a_region_is_not_a_node(void **state)
{
    struct odb_buf line = ODB_BUF_INIT;
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "fault:scale,node=n1,fused=2@cpu",
                 ODB_STRATEGY_AUTO);
    const struct odb_culprit *culprit = scene_culprit(&s, 1);
    assert_true(culprit->verified);
    assert_true(culprit->segment[1] > 1);
    assert_int_equal(culprit->checks[ODB_CHECK_REGION], ODB_CONFIRMS);
    assert_int_not_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONFIRMS);
    assert_int_equal(culprit->confidence, ODB_CONFIDENCE_MEDIUM);
    odb_report_headline(s.report, &line);
    assert_non_null(strstr(odb_buf_text(&line), "the region from #1 n1 (Mul) to #3 n3 (Sin)"));
    odb_buf_dispose(&line);
    scene_close(&s);
}

/* What the target dies of once the first is out of the way is another failure. */
static void test_evidence__a_hang_behind_a_crash_is_found(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(),
                 "fault:crash,node=n1@fault:hang,node=n3,timeout=0.5@cpu", ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 2);
    assert_int_equal(scene_culprit(&s, 1)->kind, ODB_KIND_CRASH);
    assert_int_equal(scene_culprit(&s, 3)->kind, ODB_KIND_HANG);
    assert_int_equal(scene_culprit(&s, 3)->segment[0], 3);
    assert_true(scene_culprit(&s, 3)->numbers.reason[0] != 0);
    scene_close(&s);
}

static void test_evidence__infinities_are_called_so(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "fault:inf,node=n1@cpu", ODB_STRATEGY_AUTO);
    assert_int_equal(scene_culprit(&s, 1)->kind, ODB_KIND_INF);
    assert_int_equal(scene_culprit(&s, 1)->specials.inf_target, 1);
    assert_string_equal(odb_diagnosis_name(ODB_KIND_INF), "inf");
    scene_close(&s);
}

/* Large numbers that hardly vary: LayerNormalization makes much of little. */
static struct odb_builder *scene_trap(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    const float thousand = 1000, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct odb_tensor *w = models_f32(0, NULL, &thousand);
    struct odb_tensor *scale = models_f32(1, (int64_t[]){8}, ones);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "scale", scale);
    odb_build_node(b, "Tanh", "n0", "x", "h");
    odb_build_node(b, "Add", "n1", "h w", "a");
    odb_build_node(b, "LayerNormalization", "n2", "a scale", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(w);
    odb_tensor_unref(scale);
    return b;
}

static void test_evidence__the_amplifier_is_not_accused(void **state)
{
    struct scene s;
    scene_search(&s, scene_trap(), scene_ramp(), "fault:noise,node=n1,amount=3e-5@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 1);
    assert_int_equal(scene_culprit(&s, 1)->kind, ODB_KIND_INTRODUCED);
    assert_false(s.report->values[models_value(s.model, "y")].culprit);
    scene_close(&s);
}

/* Within the tolerance before it, far beyond noise behind it: nobody's fault, and it is told. */
static void test_evidence__what_the_tolerance_allows_may_grow(void **state)
{
    struct scene s;
    scene_search(&s, scene_trap(), scene_ramp(), "fault:noise,node=n1,amount=1.5e-6@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(s.report->culprits.n, 0);
    assert_false(s.report->outputs_diverge);
    scene_close(&s);
}

/* x -> Mul -> QuantizeLinear -> DequantizeLinear -> Mul -> y, where all that is rounded to steps
 * lies in the middle between two: rounding alone decides. */
static struct odb_builder *scene_ties(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    const float third = 1.f / 3, step = 2.f / 3;
    struct odb_tensor *w = models_f32(0, NULL, &third), *s = models_f32(0, NULL, &step);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "w", w);
    odb_build_weight(b, "s", s);
    odb_build_node(b, "Mul", "n0", "x w", "h");
    odb_build_node(b, "QuantizeLinear", "n1", "h s", "q");
    odb_build_node(b, "DequantizeLinear", "n2", "q s", "d");
    odb_build_node(b, "Mul", "n3", "d w", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(w);
    odb_tensor_unref(s);
    return b;
}

static struct odb_tensor *scene_odd(void)
{
    static const float odd[8] = {1, 3, 5, 7, 9, 11, 13, 15};
    return models_f32(1, (int64_t[]){8}, odd);
}

/* An honest target that decides otherwise: also where one cut after the other is asked for. */
static void test_evidence__who_decides_otherwise_is_not_accused(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_LINEAR, ODB_STRATEGY_SUFFIX};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct scene s;
        scene_search(&s, scene_ties(), scene_odd(), "cpu:noisy", ways[i]);
        const struct odb_value_report *y = &s.report->values[models_value(s.model, "y")];
        assert_true(y->error.v > 0.1);
        assert_int_equal(y->verdict, ODB_VERDICT_PASS);
        assert_int_equal(s.report->culprits.n, 0);
        assert_false(s.report->outputs_diverge);
        scene_close(&s);
    }
}

/* That decisions might explain as much acquits nobody who is wrong about its own inputs, nor an
 * error that is larger. */
static void test_evidence__decisions_hide_no_fault(void **state)
{
    struct scene s;
    scene_search(&s, scene_ties(), scene_odd(), "fault:scale,node=n0,amount=0.01@cpu",
                 ODB_STRATEGY_AUTO);
    assert_int_equal(scene_culprit(&s, 0)->kind, ODB_KIND_INTRODUCED);
    assert_int_equal(s.report->culprits.n, 1);
    scene_close(&s);
    scene_search(&s, scene_ties(), scene_odd(), "fault:scale,node=n0,amount=2@cpu",
                 ODB_STRATEGY_PREFIX);
    assert_int_equal(s.report->culprits.n, 1);
    assert_int_equal(scene_culprit(&s, 0)->kind, ODB_KIND_INTRODUCED);
    assert_true(s.report->outputs_diverge);
    scene_close(&s);
}

static void test_evidence__equal_runs_are_counted(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "cpu", ODB_STRATEGY_AUTO);
    assert_in_range(s.report->repeats.runs, 5, 24); /* it is cheap */
    assert_false(s.report->repeats.differ);
    assert_int_equal(s.report->repeats.first_node, ODB_NO_NODE);
    scene_close(&s);
}

static void test_evidence__specials_are_counted_apart(void **state)
{
    const float target[] = {NAN, NAN, 1, INFINITY, -INFINITY, INFINITY, -0.0f, 1e-40f, 2};
    const float reference[] = {NAN, 1, NAN, INFINITY, INFINITY, 1, 0.0f, 1e-40f, INFINITY};
    struct odb_tensor *t = models_f32(1, (int64_t[]){9}, target);
    struct odb_tensor *r = models_f32(1, (int64_t[]){9}, reference);
    struct odb_specials s;
    assert_true(odb_specials_count(&s, t, r));
    assert_int_equal(s.nan_both, 1);
    assert_int_equal(s.nan_target, 1);
    assert_int_equal(s.nan_reference, 1);
    assert_int_equal(s.inf_both, 1);
    assert_int_equal(s.inf_sign, 1);
    assert_int_equal(s.inf_target, 1);
    assert_int_equal(s.inf_reference, 1);
    assert_int_equal(s.zero_sign, 1);
    assert_int_equal(s.denormal_target, 1);
    assert_int_equal(s.denormal_reference, 1);
    struct odb_buf text = ODB_BUF_INIT;
    odb_specials_put(&s, false, &text);
    assert_non_null(strstr(text.data, "1 NaN in the target alone"));
    assert_null(strstr(text.data, "in both"));
    odb_buf_dispose(&text);
    odb_tensor_unref(t);
    odb_tensor_unref(r);
}

/* --- a target that does not repeat itself ----------------------------------------------------- */

/* Right in runs 1, 3, 5 of what is loaded, wrong in the others; all that is asked of the target
 * besides are first runs, in which nothing is wrong. */
static void test_evidence__runs_that_flip_are_voted_on(void **state)
{
    struct scene s;
    scene_search_by(
        &s, scene_chain(), scene_ramp(),
        (struct odb_bisect_options){.target = "fault:scale,node=n2,amount=0.01,every=2@cpu",
                                    .tolerance = ODB_CRITERION_DEFAULT,
                                    .repeat = 7});
    const struct odb_repeats *repeats = &s.report->repeats;
    assert_int_equal(repeats->runs, 7);
    assert_true(repeats->differ);
    assert_int_equal(repeats->first_node, 2);
    assert_int_equal(repeats->outputs.n, 1);
    assert_int_equal(repeats->outputs.items[0].value, models_value(s.model, "y"));
    assert_int_equal(repeats->outputs.items[0].votes[ODB_VERDICT_PASS], 4);
    assert_int_equal(repeats->outputs.items[0].votes[ODB_VERDICT_FAIL], 3);
    assert_true(repeats->outputs.items[0].spread > 1e-3);
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = scene_culprit(&s, 2);
    assert_int_equal(culprit->kind, ODB_KIND_NONDETERMINISTIC);
    assert_int_equal(culprit->value, models_value(s.model, "e"));
    assert_int_equal(culprit->confidence, ODB_CONFIDENCE_HIGH);
    assert_true(culprit->reaches_output);
    assert_non_null(strstr(culprit->text, "of 7 equal runs 4 show pass and 3 show fail"));
    assert_null(strstr(culprit->text, "through the reference"));
    scene_close(&s);
}

/* As many as fit into a tenth of the search's time, and five at least. */
static void test_evidence__whoever_flips_is_asked_again(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(), "fault:nan,node=n3,every=2@cpu",
                 ODB_STRATEGY_AUTO);
    assert_in_range(s.report->repeats.runs, 5, 24);
    assert_int_equal(s.report->repeats.outputs.items[0].votes[ODB_VERDICT_NAN],
                     s.report->repeats.runs / 2);
    assert_int_equal(scene_culprit(&s, 3)->kind, ODB_KIND_NONDETERMINISTIC);
    scene_close(&s);
}

/* Every first run is wrong and every second right: who is accused is so with little trust. */
static void test_evidence__a_fault_that_comes_and_goes_is_found(void **state)
{
    struct scene s;
    scene_search(&s, scene_chain(), scene_ramp(),
                 "fault:scale,node=n2,amount=-0.00990099,every=2@"
                 "fault:scale,node=n2,amount=0.01@cpu",
                 ODB_STRATEGY_AUTO);
    struct odb_buf line = ODB_BUF_INIT;
    assert_true(s.report->outputs_diverge);
    assert_int_equal(s.report->repeats.first_node, 2);
    odb_report_headline(s.report, &line);
    assert_non_null(strstr(odb_buf_text(&line), "is where equal runs of "));
    s.report->repeats.first_node = ODB_NO_NODE; /* then nothing says that it is */
    odb_buf_clear(&line);
    odb_report_headline(s.report, &line);
    assert_non_null(strstr(odb_buf_text(&line), " makes an output that differs between equal "));
    odb_buf_dispose(&line);
    size_t runs = s.report->repeats.runs;
    assert_in_range(runs, 5, 24);
    assert_int_equal(s.report->repeats.outputs.items[0].votes[ODB_VERDICT_FAIL], runs - runs / 2);
    assert_int_equal(s.report->repeats.outputs.items[0].votes[ODB_VERDICT_PASS], runs / 2);
    assert_int_equal(s.report->culprits.n, 1); /* one node, told once, with both */
    const struct odb_culprit *culprit = scene_culprit(&s, 2);
    assert_int_equal(culprit->kind, ODB_KIND_NONDETERMINISTIC);
    assert_true(culprit->flips_and);
    assert_int_equal(culprit->also, ODB_KIND_INTRODUCED);
    assert_true(culprit->numbers.local_error.v > 5e-3);
    assert_non_null(strstr(culprit->text, " equal runs "));
    assert_non_null(strstr(culprit->text, "a wrong one: e is off"));
    scene_close(&s);
}

/* Runs that differ by less than the tolerance: it is told, and nobody is accused. */
static void test_evidence__runs_that_differ_within_noise_accuse_nobody(void **state)
{
    struct scene s;
    scene_search_by(
        &s, scene_chain(), scene_ramp(),
        (struct odb_bisect_options){.target = "fault:scale,node=n2,amount=1e-5,every=3@cpu",
                                    .tolerance = {ODB_CRITERION_ALLCLOSE, {1e-3, 1e-3, 0}},
                                    .repeat = 4});
    assert_true(s.report->repeats.differ);
    assert_int_equal(s.report->repeats.runs, 4);
    assert_int_equal(s.report->repeats.outputs.items[0].votes[ODB_VERDICT_PASS], 4);
    assert_int_equal(s.report->culprits.n, 0);
    assert_false(s.report->outputs_diverge);
    assert_true(s.report->warnings.n > 0);
    scene_close(&s);
}

/* --- many small errors ------------------------------------------------------------------------ */

/* x -> Neg -> Abs -> Neg -> Abs -> Neg -> y: relative errors add up and stay what they are. */
static struct odb_builder *scene_linear(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "Abs", "n1", "a", "b");
    odb_build_node(b, "Neg", "n2", "b", "c");
    odb_build_node(b, "Abs", "n3", "c", "d");
    odb_build_node(b, "Neg", "n4", "d", "y");
    odb_build_output(b, "y");
    return b;
}

/* Each node is within the tolerance, all together are not: shares are as planted, 4 : 3 : 2 : 1. */
static void test_evidence__many_small_errors_are_shared_out(void **state)
{
    static const int nodes[] = {3, 1, 4, 0};
    struct scene s;
    double sum = 0;
    scene_search_by(
        &s, scene_linear(), scene_ramp(),
        (struct odb_bisect_options){.target = "fault:scale,node=n0,amount=1e-4@"
                                              "fault:scale,node=n4,amount=2e-4@"
                                              "fault:scale,node=n1,amount=3e-4@"
                                              "fault:scale,node=n3,amount=4e-4@cpu",
                                    .tolerance = {ODB_CRITERION_ALLCLOSE, {9e-4, 0, 0}}});
    assert_true(s.report->outputs_diverge);
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = scene_culprit(&s, 4);
    assert_int_equal(culprit->kind, ODB_KIND_ACCUMULATED);
    assert_true(fabs(culprit->sensitivity.growth.v - 1) < 0.01);
    assert_int_equal(s.report->contributions_to, models_value(s.model, "y"));
    assert_int_equal(s.report->contributions.n, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct odb_contribution *c = &s.report->contributions.items[i];
        assert_int_equal(c->node, nodes[i]);
        assert_true(fabs(c->share - 0.1 * (double)(4 - i)) < 0.01);
        sum += c->share;
    }
    assert_true(fabs(sum - 1) < 0.01);
    scene_close(&s);
}

/* --- how sure that is ------------------------------------------------------------------------- */

/* What a culprit is called for whom these checks confirm (C) or contradict (X). */
static void confidence_is(enum odb_diagnosis kind, bool region, const char *alone,
                          const char *checks, enum odb_confidence confidence)
{
    static const char letters[] = {
        [ODB_CHECK_ALONE] = 'a',     [ODB_CHECK_REGION] = 'r', [ODB_CHECK_PREFIX] = 'p',
        [ODB_CHECK_NEIGHBOUR] = 'n', [ODB_CHECK_PINNED] = 'P', [ODB_CHECK_REFERENCE] = 's'};
    struct odb_model *model = models_take(scene_chain());
    struct odb_report *report = odb_report_new(model);
    struct odb_prober prober = {0};
    struct search_case c = {.model = model, .graph = model->graph, .prober = &prober};
    struct findings f;
    findings_begin(&f, &c, report);
    struct odb_culprit culprit = {.node = 2, .value = 2, .kind = kind, .segment = {2, 2 + region}};
    for (size_t i = 0; i < ODB_COUNT(letters); i++)
        culprit.checks[i] = strchr(checks, letters[i])  ? ODB_CONFIRMS
                            : strchr(alone, letters[i]) ? ODB_CONTRADICTS
                                                        : ODB_NOT_ASKED;
    report->culprits.items = &culprit;
    report->culprits.n = 1;
    confidence_all(&c, &f);
    report->culprits.items = NULL;
    report->culprits.n = 0;
    if (culprit.confidence != confidence)
        fail_msg("%s, against %s: %s (%s)", checks, alone, odb_confidence_name(culprit.confidence),
                 culprit.confidence_reason);
    findings_dispose(&f);
    odb_report_free(report);
    odb_model_free(model);
}

static void test_evidence__rules_of_confidence(void **state)
{
    const enum odb_diagnosis it = ODB_KIND_INTRODUCED;
    confidence_is(it, false, "", "", ODB_CONFIDENCE_LOW);
    confidence_is(it, false, "", "p", ODB_CONFIDENCE_LOW); /* the run that found it */
    confidence_is(it, false, "", "a", ODB_CONFIDENCE_MEDIUM);
    confidence_is(it, false, "", "n", ODB_CONFIDENCE_MEDIUM);
    confidence_is(it, false, "", "P", ODB_CONFIDENCE_MEDIUM);
    confidence_is(it, false, "", "ap", ODB_CONFIDENCE_HIGH);
    confidence_is(it, false, "", "an", ODB_CONFIDENCE_HIGH);
    confidence_is(it, false, "", "aP", ODB_CONFIDENCE_HIGH);
    confidence_is(it, false, "", "nP", ODB_CONFIDENCE_HIGH);
    confidence_is(it, false, "n", "aP", ODB_CONFIDENCE_LOW);
    confidence_is(it, false, "P", "an", ODB_CONFIDENCE_LOW);
    confidence_is(it, false, "a", "n", ODB_CONFIDENCE_LOW);
    confidence_is(it, true, "a", "", ODB_CONFIDENCE_LOW);
    confidence_is(it, true, "a", "r", ODB_CONFIDENCE_MEDIUM); /* nothing ran alone */
    confidence_is(it, true, "a", "rP", ODB_CONFIDENCE_MEDIUM);
    confidence_is(ODB_KIND_PROBE_EFFECT, false, "", "an", ODB_CONFIDENCE_MEDIUM);
    confidence_is(ODB_KIND_ACCUMULATED, false, "", "", ODB_CONFIDENCE_LOW);
    confidence_is(ODB_KIND_ACCUMULATED, false, "", "s", ODB_CONFIDENCE_HIGH);
    (void)state;
}

/* --- a second cut that contradicts ------------------------------------------------------------ */

/* x -> Abs -> Neg -> Abs -> y. n2 is off by 1 %; while nobody reads what is before it, n1 makes up
 * for that, and n0 undoes that again: the whole is wrong, n2 alone is, n1 and n2 together are not.
 */
static void test_evidence__a_neighbour_may_contradict(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct scene s;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Abs", "n0", "x", "a");
    odb_build_node(b, "Neg", "n1", "a", "c");
    odb_build_node(b, "Abs", "n2", "c", "y");
    odb_build_output(b, "y");
    scene_search(&s, b, scene_ramp(),
                 "fault:scale,node=n0,amount=0.01,hidden@"
                 "fault:scale,node=n1,amount=-0.00990099,hidden@"
                 "fault:scale,node=n2,amount=0.01@cpu",
                 ODB_STRATEGY_AUTO);
    const struct odb_culprit *culprit = scene_culprit(&s, 2);
    assert_int_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONFIRMS);
    assert_int_equal(culprit->neighbour, 1);
    assert_int_equal(culprit->checks[ODB_CHECK_NEIGHBOUR], ODB_CONTRADICTS);
    assert_int_equal(culprit->confidence, ODB_CONFIDENCE_LOW);
    assert_string_equal(culprit->confidence_reason, "together with a neighbour it is right");
    scene_close(&s);
}

/* --- NaN that is swallowed -------------------------------------------------------------------- */

/* x -> Tanh -> Exp -> h, of which `swallow` takes nothing but good places. */
static struct odb_builder *scene_swallow(const char *swallow)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_tensor *never = NULL;
    const uint8_t no[8] = {0};
    MODELS_OK(odb_tensor_copy_of(&never, ODB_BOOL, 1, (int64_t[]){8}, no, &why));
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_weight(b, "never", never);
    odb_build_node(b, "Tanh", "n0", "x", "t");
    odb_build_node(b, "Exp", "n1", "t", "h");
    if (!strcmp(swallow, "Where"))
        odb_build_node(b, "Where", "n2", "never h x", "w");
    else
        odb_build_node(b, swallow, "n2", "h x", "w");
    odb_build_node(b, "Sin", "n3", "w", "y");
    odb_build_output(b, "y");
    odb_tensor_unref(never);
    return b;
}

/* It reaches no output, and the node that swallows it is right. */
static void test_evidence__a_swallowed_nan_accuses_nobody_behind(void **state)
{
    struct scene s;
    scene_search(&s, scene_swallow("Where"), scene_ramp(), "fault:nan,node=n1,count=3@cpu",
                 ODB_STRATEGY_AUTO);
    assert_false(s.report->outputs_diverge);
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = scene_culprit(&s, 1);
    assert_int_equal(culprit->kind, ODB_KIND_NAN);
    assert_int_equal(culprit->specials.nan_target, 3);
    assert_false(culprit->reaches_output);
    assert_int_equal(s.report->values[models_value(s.model, "w")].verdict, ODB_VERDICT_PASS);
    scene_close(&s);
}

/* An Inf that Min and Max make a number of; where they pass it on, they are not accused either. */
static void test_evidence__what_becomes_of_a_nan_or_inf_accuses_nobody_behind(void **state)
{
    static const char *const swallows[] = {"Max", "Min", "Add"};
    static const char *const targets[] = {"fault:nan,node=n1,count=3@cpu",
                                          "fault:inf,node=n1,count=3@cpu"};
    for (size_t i = 0; i < ODB_COUNT(swallows); i++)
        for (size_t k = 0; k < ODB_COUNT(targets); k++) {
            struct scene s;
            scene_search(&s, scene_swallow(swallows[i]), scene_ramp(), targets[k],
                         ODB_STRATEGY_AUTO);
            assert_int_equal(s.report->culprits.n, 1);
            assert_int_equal(scene_culprit(&s, 1)->kind, k ? ODB_KIND_INF : ODB_KIND_NAN);
            scene_close(&s);
        }
}

/* --- integers --------------------------------------------------------------------------------- */

/* Where rows are picked: one place too far, in one of four. The error is in an integer, and all
 * that follows is right. */
static void test_evidence__an_integer_off_by_one_is_found(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_SUFFIX, ODB_STRATEGY_ISOLATED};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        static const int64_t two = 2, places[4] = {0, 1, 2, 3};
        struct odb_builder *b = odb_build_new("g", 17);
        struct odb_tensor *t = NULL, *p = NULL;
        struct scene s;
        MODELS_OK(odb_tensor_copy_of(&t, ODB_I64, 0, NULL, &two, &why));
        MODELS_OK(odb_tensor_copy_of(&p, ODB_I64, 1, (int64_t[]){4}, places, &why));
        odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
        odb_build_weight(b, "two", t);
        odb_build_weight(b, "p", p);
        odb_build_node(b, "Tanh", "n0", "x", "h");
        odb_build_node(b, "Add", "n1", "p two", "i");
        odb_build_node(b, "Sub", "n2", "i two", "j");
        odb_build_node(b, "Gather", "n3", "h j", "g");
        odb_build_node(b, "Exp", "n4", "g", "y");
        odb_build_output(b, "y");
        odb_tensor_unref(t);
        odb_tensor_unref(p);
        scene_search(&s, b, scene_ramp(), "fault:step,node=n1@cpu", ways[i]);
        assert_true(s.report->outputs_diverge);
        assert_int_equal(s.report->culprits.n, 1);
        assert_int_equal(scene_culprit(&s, 1)->kind, ODB_KIND_INTRODUCED);
        assert_true(scene_culprit(&s, 1)->verified);
        scene_close(&s);
    }
}

/* --- what models say and targets take away ---------------------------------------------------- */

static struct odb_builder *scene_liar(void)
{
    struct odb_builder *b = scene_chain();
    odb_build_value_info(b, "h", ODB_F16, 2, (int64_t[]){4, 2});
    odb_build_value_info(b, "q", ODB_I64, 1, (int64_t[]){3});
    odb_build_value_info(b, "e", ODB_F32, 1, (int64_t[]){7});
    odb_build_value_info(b, "s", ODB_F64, 0, NULL);
    return b;
}

/* Types of values between nodes are declared, all wrong: nobody is accused for that, and who is to
 * blame is found. */
static void test_evidence__wrong_declarations_mislead_nobody(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_AUTO, ODB_STRATEGY_PREFIX,
                                             ODB_STRATEGY_SUFFIX, ODB_STRATEGY_ISOLATED};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        struct scene s;
        scene_search(&s, scene_liar(), scene_ramp(), "cpu", ways[i]);
        assert_int_equal(s.report->culprits.n, 0);
        scene_close(&s);
        scene_search(&s, scene_liar(), scene_ramp(), "fault:scale,node=n2,amount=0.01@cpu",
                     ways[i]);
        assert_int_equal(s.report->culprits.n, 1);
        assert_true(scene_culprit(&s, 2)->verified);
        scene_close(&s);
    }
}

/* The target has no copies any more: whoever wants to read one is refused. Faults before and behind
 * them are where they were. */
static void test_evidence__copies_that_are_gone_are_not_accused(void **state)
{
    static const int faulty[] = {0, 2, 4};
    for (size_t i = 0; i < ODB_COUNT(faulty); i++) {
        struct odb_builder *b = odb_build_new("g", 17);
        struct scene s;
        char target[200];
        odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
        odb_build_node(b, "Tanh", "n0", "x", "a");
        odb_build_node(b, "Identity", "n1", "a", "c");
        odb_build_node(b, "Exp", "n2", "c", "d");
        odb_build_node(b, "Identity", "n3", "d", "e");
        odb_build_node(b, "Sin", "n4", "e", "y");
        odb_build_output(b, "y");
        snprintf(target, sizeof target,
                 "fault:refuse,node=n1,seen@fault:refuse,node=n3,seen@"
                 "fault:scale,node=n%d,amount=0.01@cpu",
                 faulty[i]);
        scene_search(&s, b, scene_ramp(), target, ODB_STRATEGY_AUTO);
        assert_int_equal(s.report->culprits.n, 1);
        assert_int_equal(scene_culprit(&s, s.report->culprits.items[0].node)->kind,
                         ODB_KIND_INTRODUCED);
        const struct odb_culprit *culprit = &s.report->culprits.items[0];
        assert_true(culprit->segment[0] <= faulty[i] && faulty[i] <= culprit->segment[1]);
        assert_true(culprit->segment[1] - culprit->segment[0] <= 1);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evidence__one_fault_fails_in_two_cuts_and_explains_the_output),
        cmocka_unit_test(test_evidence__a_fault_beside_a_nan_is_found_too),
        cmocka_unit_test(test_evidence__of_several_pinned_one_is_confirmed),
        cmocka_unit_test(test_evidence__many_pinned_are_counted_and_a_few_asked_one_by_one),
        cmocka_unit_test(test_evidence__neighbours_pinned_hide_each_other),
        cmocka_unit_test(test_evidence__an_output_that_was_right_confirms_nothing),
        cmocka_unit_test(test_evidence__prefixes_find_the_second_fault),
        cmocka_unit_test(test_evidence__two_crashes_are_both_found),
        cmocka_unit_test(test_evidence__what_only_the_whole_shows_names_no_node),
        cmocka_unit_test(test_evidence__the_last_node_is_not_the_whole),
        cmocka_unit_test(test_evidence__a_region_is_not_a_node),
        cmocka_unit_test(test_evidence__a_hang_behind_a_crash_is_found),
        cmocka_unit_test(test_evidence__infinities_are_called_so),
        cmocka_unit_test(test_evidence__the_amplifier_is_not_accused),
        cmocka_unit_test(test_evidence__what_the_tolerance_allows_may_grow),
        cmocka_unit_test(test_evidence__who_decides_otherwise_is_not_accused),
        cmocka_unit_test(test_evidence__decisions_hide_no_fault),
        cmocka_unit_test(test_evidence__equal_runs_are_counted),
        cmocka_unit_test(test_evidence__specials_are_counted_apart),
        cmocka_unit_test(test_evidence__runs_that_flip_are_voted_on),
        cmocka_unit_test(test_evidence__whoever_flips_is_asked_again),
        cmocka_unit_test(test_evidence__a_fault_that_comes_and_goes_is_found),
        cmocka_unit_test(test_evidence__runs_that_differ_within_noise_accuse_nobody),
        cmocka_unit_test(test_evidence__many_small_errors_are_shared_out),
        cmocka_unit_test(test_evidence__rules_of_confidence),
        cmocka_unit_test(test_evidence__a_neighbour_may_contradict),
        cmocka_unit_test(test_evidence__a_swallowed_nan_accuses_nobody_behind),
        cmocka_unit_test(test_evidence__what_becomes_of_a_nan_or_inf_accuses_nobody_behind),
        cmocka_unit_test(test_evidence__an_integer_off_by_one_is_found),
        cmocka_unit_test(test_evidence__wrong_declarations_mislead_nobody),
        cmocka_unit_test(test_evidence__copies_that_are_gone_are_not_accused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
