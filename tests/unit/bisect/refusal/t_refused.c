/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a target refuses with its options and runs at its plainest is a failure, of the fewest nodes
 * that are refused together; what it refuses there as well it lacks, and accuses nobody. The target
 * is the reference with a planted refusal; its plainest is named with plain=.
 */
#include "bisect/plan/bisect.h"

#include "report/outcome.h"
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

/* declared: the dimension that y is said to have. */
static struct odb_builder *scene_chain(int n, int64_t declared)
{
    struct odb_builder *b = models_chain(n);
    odb_build_output_typed(b, "y", ODB_F32, 1, &declared);
    return b;
}

static enum odb_status scene_search(struct scene *s, struct odb_builder *b, const char *target,
                                    struct odb_error *err)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    *s = (struct scene){.model = models_take(b)};
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    struct odb_bisect_options options = {
        .reference = "cpu", .target = target, .tolerance = ODB_CRITERION_DEFAULT};
    help_find_serve();
    return odb_bisect(&s->report, s->model, &s->feeds, &options, err);
}

static void scene_run(struct scene *s, int n, const char *target)
{
    MODELS_OK(scene_search(s, scene_chain(n, 8), target, &why));
}

/* There is no verdict, and the error says this. */
static void scene_undecided(struct scene *s, struct odb_builder *b, const char *target,
                            const char *words)
{
    struct odb_error err = ODB_ERROR_INIT;
    char text[1800];
    assert_int_equal(scene_search(s, b, target, &err), ODB_E_EXECUTOR);
    assert_non_null(strstr(odb_error_text(&err, text, sizeof text), words));
    assert_int_equal(odb_report_outcome(s->report), ODB_OUTCOME_NONE);
    assert_int_equal(s->report->culprits.n, 0);
}

static void scene_close(struct scene *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
}

/* That the culprit is refused, with these n nodes together. */
static const struct odb_culprit *scene_refused(const struct scene *s, size_t at, size_t n,
                                               const int *nodes)
{
    const struct odb_culprit *culprit = &s->report->culprits.items[at];
    assert_true(at < s->report->culprits.n);
    assert_int_equal(culprit->kind, ODB_KIND_REFUSED);
    assert_int_equal(culprit->together.n, n);
    assert_memory_equal(culprit->together.items, nodes, n * sizeof *nodes);
    assert_int_equal(culprit->segment[0], nodes[0]);
    assert_int_equal(culprit->segment[1], nodes[n - 1]);
    assert_int_equal(culprit->node, nodes[n - 1]);
    assert_true(culprit->verified && culprit->reaches_output);
    assert_int_equal(culprit->confidence, ODB_CONFIDENCE_HIGH);
    assert_string_equal(culprit->runs_with, "cpu");
    assert_int_equal(s->report->values[culprit->value].verdict, ODB_VERDICT_REFUSED);
    return culprit;
}

static bool scene_says(char *const *lines, size_t n, const char *words)
{
    bool says = false;
    for (size_t i = 0; i < n; i++)
        says |= strstr(lines[i], words) != NULL;
    return says;
}

static void test_refused__a_pair_that_its_options_join(void **state)
{
    struct scene s;
    struct odb_buf headline = ODB_BUF_INIT;
    scene_run(&s, 24, "fault:refuse,node=n12,fused=1,plain=cpu@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = scene_refused(&s, 0, 2, (int[]){12, 13});
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
    assert_true(s.report->outputs_diverge);
    assert_int_equal(strncmp(s.report->signature, "refused ", 8), 0);
    assert_non_null(strstr(culprit->text, "#12 n12 (Tanh) and #13 n13 (Neg) where they stand"));
    assert_non_null(strstr(culprit->text, "runs with cpu, and gives what the reference gives"));
    odb_report_headline(s.report, &headline);
    assert_non_null(strstr(headline.data, "is refused by fault:refuse,node=n12,fused=1"));
    odb_buf_dispose(&headline);
    assert_int_equal(s.report->pieces.judged, 24); /* the rest was searched as well */
    assert_true(s.report->target_loads <= 16);
    scene_close(&s);
}

static void test_refused__as_many_as_it_takes(void **state)
{
    struct scene s;
    scene_run(&s, 24, "fault:refuse,node=n6,fused=4,plain=cpu@cpu");
    scene_refused(&s, 0, 5, (int[]){6, 7, 8, 9, 10});
    scene_close(&s);
}

static void test_refused__one_node_by_itself(void **state)
{
    struct scene s;
    scene_run(&s, 24, "fault:refuse,node=n12,plain=cpu@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    const struct odb_culprit *culprit = scene_refused(&s, 0, 1, (int[]){12});
    assert_int_equal(culprit->checks[ODB_CHECK_ALONE], ODB_CONFIRMS);
    assert_non_null(strstr(culprit->text, "by itself as well"));
    scene_close(&s);
}

static void test_refused__two_groups_and_a_wrong_value(void **state)
{
    struct scene s;
    scene_run(&s, 24,
              "fault:refuse,node=n3,fused=1,plain=cpu@fault:refuse,node=n18,fused=1@"
              "fault:scale,node=n10,amount=0.5@cpu");
    assert_int_equal(s.report->culprits.n, 3);
    scene_refused(&s, 0, 2, (int[]){3, 4});
    scene_refused(&s, 1, 2, (int[]){18, 19});
    assert_int_equal(s.report->culprits.items[2].node, 10);
    assert_int_equal(s.report->culprits.items[2].kind, ODB_KIND_INTRODUCED);
    scene_close(&s);
}

static void test_refused__what_it_lacks_is_no_fault(void **state)
{
    struct scene s;
    scene_undecided(&s, scene_chain(24, 8),
                    "fault:refuse,node=n12,plain=fault:refuse\\,node\\=n12\\@cpu@cpu",
                    "the target refuses Tanh (#12");
    scene_close(&s);
}

static void test_refused__without_other_options_nothing_is_known(void **state)
{
    struct scene s;
    scene_undecided(&s, scene_chain(24, 8), "fault:refuse,node=n12,fused=1@cpu",
                    "the target refuses Neg (#13, which runs alone)");
    assert_true(scene_says(s.report->notes.items, s.report->notes.n, "plain=SPEC"));
    scene_close(&s);
    scene_undecided(&s, scene_chain(24, 8), "fault:refuse,node=n12@cpu", "Tanh (#12)");
    assert_false(scene_says(s.report->notes.items, s.report->notes.n, "plain=SPEC"));
    scene_close(&s);
}

/* n7 is lacked whatever the options are; n14 and n15 are joined by them. */
static void test_refused__a_lack_beside_a_fault(void **state)
{
    struct scene s;
    scene_run(&s, 24,
              "fault:refuse,node=n14,fused=1,plain=fault:refuse\\,node\\=n7\\@cpu@"
              "fault:refuse,node=n7@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    assert_int_equal(s.report->culprits.items[0].kind, ODB_KIND_REFUSED);
    assert_int_equal(s.report->culprits.items[0].segment[0], 14);
    assert_int_equal(s.report->culprits.items[0].segment[1], 15);
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
    assert_true(scene_says(s.report->warnings.items, s.report->warnings.n, "#7 n7"));
    scene_close(&s);
}

/* n3 and n4 are joined by options; n21 and n22, which look like them, are refused without those as
 * well, in the same words: that is a lack. */
static void test_refused__what_looks_alike_may_be_lacked(void **state)
{
    struct scene s;
    scene_run(&s, 24,
              "fault:refuse,node=n3,fused=1,plain=fault:refuse\\,node\\=n21\\,fused\\=1\\@cpu@"
              "fault:refuse,node=n21,fused=1@cpu");
    assert_int_equal(s.report->culprits.n, 1);
    assert_int_equal(s.report->culprits.items[0].node, 4);
    assert_int_equal(s.report->pieces.refused.n, 2);
    assert_false(s.report->pieces.refused.items[1].runs);
    scene_close(&s);
}

static void test_refused__a_model_that_is_not_valid(void **state)
{
    struct scene s;
    scene_undecided(&s, scene_chain(24, 9), "fault:refuse,node=n12,fused=1,plain=cpu@cpu", "Neg");
    assert_true(
        scene_says(s.report->warnings.items, s.report->warnings.n, "the model is not valid"));
    scene_close(&s);
}

static void test_refused__only_the_whole_model(void **state)
{
    struct scene s;
    struct odb_buf headline = ODB_BUF_INIT;
    struct odb_builder *b = scene_chain(12, 8);
    odb_build_node(b, "Neg", "other", "v3", "z"); /* another output: no prefix is all of it */
    odb_build_output_typed(b, "z", ODB_F32, 1, (int64_t[]){8});
    MODELS_OK(scene_search(&s, b, "fault:refuse,node=n5,whole,plain=cpu@cpu", &why));
    assert_int_equal(s.report->culprits.n, 0);
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
    odb_report_headline(s.report, &headline);
    assert_non_null(strstr(headline.data, "refuses the model as a whole, and no part of it"));
    odb_buf_dispose(&headline);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused__a_pair_that_its_options_join),
        cmocka_unit_test(test_refused__as_many_as_it_takes),
        cmocka_unit_test(test_refused__one_node_by_itself),
        cmocka_unit_test(test_refused__two_groups_and_a_wrong_value),
        cmocka_unit_test(test_refused__what_it_lacks_is_no_fault),
        cmocka_unit_test(test_refused__without_other_options_nothing_is_known),
        cmocka_unit_test(test_refused__a_lack_beside_a_fault),
        cmocka_unit_test(test_refused__what_looks_alike_may_be_lacked),
        cmocka_unit_test(test_refused__a_model_that_is_not_valid),
        cmocka_unit_test(test_refused__only_the_whole_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
