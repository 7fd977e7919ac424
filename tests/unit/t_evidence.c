/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is held against a culprit besides having been found: planted truths.
 */
#include "engine/report.h"

#include <math.h>

#include "compare/specials.h"
#include "engine/bisect.h"
#include "tests/executor_help.h"
#include "tests/models.h"

struct scene {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
};

static void scene_search(struct scene *s, struct odb_builder *b, struct odb_tensor *x,
                         const char *target, enum odb_strategy strategy)
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
    MODELS_OK(odb_bisect(&s->report, s->model, &s->feeds, &options, &why));
}

static void scene_close(struct scene *s)
{
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
    assert_int_equal(s.report->repeats.runs, 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evidence__one_fault_fails_in_two_cuts_and_explains_the_output),
        cmocka_unit_test(test_evidence__a_fault_beside_a_nan_is_found_too),
        cmocka_unit_test(test_evidence__prefixes_find_the_second_fault),
        cmocka_unit_test(test_evidence__two_crashes_are_both_found),
        cmocka_unit_test(test_evidence__infinities_are_called_so),
        cmocka_unit_test(test_evidence__the_amplifier_is_not_accused),
        cmocka_unit_test(test_evidence__what_the_tolerance_allows_may_grow),
        cmocka_unit_test(test_evidence__who_decides_otherwise_is_not_accused),
        cmocka_unit_test(test_evidence__decisions_hide_no_fault),
        cmocka_unit_test(test_evidence__equal_runs_are_counted),
        cmocka_unit_test(test_evidence__specials_are_counted_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
