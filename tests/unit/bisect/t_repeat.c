/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Repetitions that wait until every value was read: a target that keeps the user's file beside
 * another model, which ONNX Runtime does.
 */
#include "bisect/repeat.h"

#include "bisect/plan/bisect.h"
#include "report/outcome.h"
#include "run/budget.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"

struct late {
    char *folder;
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_budget budget;
    struct odb_report *report;
    enum odb_status status;
};

/* x -> Tanh -> Mul -> Exp -> Sin -> Neg -> y, or as many of them from the end. */
static struct odb_builder *late_chain(int nodes)
{
    static const char *const ops[] = {"Neg", "Sin", "Exp", "Mul", "Tanh"};
    struct odb_builder *b = odb_build_new("g", 17);
    char in[24] = "x", out[24], name[16];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int n = nodes; n-- > 0;) {
        char *reads = odb_xasprintf(n == 3 ? "%s %s" : "%s", in, in);
        snprintf(name, sizeof name, "n%d", nodes - 1 - n);
        snprintf(out, sizeof out, n ? "v%d" : "y", n);
        odb_build_node(b, ops[n], name, reads, out);
        free(reads);
        memcpy(in, out, sizeof in);
    }
    odb_build_output_typed(b, "y", ODB_F32, 1, (int64_t[]){8});
    return b;
}

/* The model is a file, so that the target gets that; probes: questions at most, 0: any number. */
static void late_search(struct late *s, int nodes, const char *target, int repeat, size_t probes)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    *s = (struct late){.folder = models_folder(), .budget = {.probes = probes}};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = late_chain(nodes);
    char *path = odb_xasprintf("%s/model.onnx", s->folder);
    MODELS_OK(odb_build_write(b, path, NULL, &why));
    odb_build_free(b);
    MODELS_OK(odb_model_open(&s->model, path, &why));
    free(path);
    s->feed = (struct odb_feed){.value = models_value(s->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    help_find_serve();
    const struct odb_bisect_options options = {.target = target,
                                               .reference = "cpu",
                                               .tolerance = ODB_CRITERION_DEFAULT,
                                               .no_opinion = true,
                                               .repeat = repeat,
                                               .hooks = {.budget = &s->budget}};
    s->status = odb_bisect(&s->report, s->model, &s->feeds, &options, &err);
}

static void late_close(struct late *s)
{
    survives(s->report);
    odb_report_free(s->report);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
    models_remove(s->folder);
}

/* The place of a step in the report; -1: there is none. */
static int late_step(const struct late *s, const char *name)
{
    for (size_t i = 0; i < s->report->steps.n; i++)
        if (!strcmp(s->report->steps.items[i].step, name))
            return (int)i;
    return -1;
}

/* They come behind the run that reads all, are as many, and load nothing. */
static void test_repeat__after_all_values(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "ort", 6, 0);
    assert_int_equal(s.status, ODB_OK);
    assert_int_equal(s.report->repeats.runs, 6);
    assert_false(s.report->repeats.differ);
    assert_true(late_step(&s, "probed") >= 0);
    assert_true(late_step(&s, "repeat") > late_step(&s, "probed"));
    assert_int_equal(s.report->target_loads, 2);
    late_close(&s);
}

/* What flips is named as where repetitions come first: they count as runs of the same model. */
static void test_repeat__what_flips_is_named(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "fault:scale,node=n2,amount=0.01,every=2@ort", 7, 0);
    assert_int_equal(s.status, ODB_OK);
    assert_true(late_step(&s, "repeat") > late_step(&s, "probed"));
    assert_int_equal(s.report->repeats.runs, 7);
    assert_true(s.report->repeats.differ);
    assert_int_equal(s.report->repeats.first_node, 2);
    assert_int_equal(s.report->repeats.outputs.items[0].votes[ODB_VERDICT_PASS], 4);
    assert_int_equal(s.report->repeats.outputs.items[0].votes[ODB_VERDICT_FAIL], 3);
    assert_int_equal(s.report->culprits.n, 1);
    assert_int_equal(s.report->culprits.items[0].node, 2);
    assert_int_equal(s.report->culprits.items[0].kind, ODB_KIND_NONDETERMINISTIC);
    late_close(&s);
}

/* Without a value to read there is nothing to wait for. */
static void test_repeat__at_once_where_nothing_is_read(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 1, "fault:scale,node=n0,amount=0.01,every=2@ort", 7, 0);
    assert_int_equal(s.status, ODB_OK);
    assert_int_equal(late_step(&s, "repeat"), -1);
    assert_int_equal(s.report->repeats.runs, 7);
    assert_true(s.report->repeats.differ);
    assert_int_equal(s.report->culprits.n, 1);
    late_close(&s);
}

/* One run is not repeated, late or not. */
static void test_repeat__once(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "ort", 1, 0);
    assert_int_equal(s.report->repeats.runs, 1);
    assert_int_equal(late_step(&s, "repeat"), -1);
    late_close(&s);
}

/* A budget that ends in the repetitions takes nothing from what was read before. */
static void test_repeat__a_spent_budget_accuses_all_the_same(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "fault:scale,node=n2,amount=0.01@ort", 7, 3);
    assert_int_equal(s.status, ODB_CANCELLED);
    assert_true(s.report->repeats.runs < 7);
    assert_int_equal(s.report->culprits.n, 1);
    assert_int_equal(s.report->culprits.items[0].node, 2);
    late_close(&s);
}

/* Where reading kills the target, the file is loaded once more for them, and once only. */
static void test_repeat__of_a_target_that_reading_kills(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "fault:crash,node=n2,seen@ort", 5, 0);
    assert_int_equal(s.report->repeats.runs, 5);
    assert_false(s.report->repeats.differ);
    int step = late_step(&s, "repeat");
    assert_true(step >= 0);
    assert_int_equal(s.report->steps.items[step].loads, 1);
    assert_int_equal(s.report->steps.items[step].runs, 4);
    late_close(&s);
}

/* It is the user's file that runs again, and not the model loaded last, which is wrong here. */
static void test_repeat__of_the_file(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "fault:scale,node=n2,amount=0.01,seen@ort", 5, 0);
    int step = late_step(&s, "repeat");
    assert_true(step >= 0);
    assert_int_equal(s.report->steps.items[step].loads, 0);
    assert_int_equal(s.report->repeats.runs, 5);
    assert_false(s.report->repeats.differ);
    late_close(&s);
}

/* A repetition that kills the target is told, and what ran before is no pass for it. */
static void test_repeat__late_and_deadly(void **state)
{
    struct late s;
    if (!help_has_ort())
        skip();
    late_search(&s, 5, "fault:crash,node=n2,after=1@ort", 5, 0);
    assert_int_equal(s.status, ODB_OK);
    assert_true(late_step(&s, "repeat") > late_step(&s, "probed"));
    assert_int_equal(s.report->repeats.runs, 1);
    assert_int_equal(s.report->repeats.died, ODB_VERDICT_CRASH);
    assert_int_equal(odb_report_outcome(s.report), ODB_OUTCOME_DIVERGES);
    late_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeat__after_all_values),
        cmocka_unit_test(test_repeat__what_flips_is_named),
        cmocka_unit_test(test_repeat__at_once_where_nothing_is_read),
        cmocka_unit_test(test_repeat__once),
        cmocka_unit_test(test_repeat__a_spent_budget_accuses_all_the_same),
        cmocka_unit_test(test_repeat__of_a_target_that_reading_kills),
        cmocka_unit_test(test_repeat__of_the_file),
        cmocka_unit_test(test_repeat__late_and_deadly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
