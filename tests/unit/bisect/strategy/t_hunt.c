/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches over prefixes and suffixes in graphs that are wide, where one node at a time would take
 * as many loads as there are branches.
 */
#include "bisect/plan/bisect.h"

#include <math.h>

#include "probe/answers.h"
#include "session/memory.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

#define HUNT_BRANCHES 60

/* x -> so many operators beside each other -> their sum. */
static struct odb_model *hunt_star(void)
{
    static const char *const ops[] = {"Tanh", "Neg", "Sin", "Abs", "Cos"};
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_buf all = ODB_BUF_INIT;
    char name[8], out[8];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < HUNT_BRANCHES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, "v%d", i);
        odb_build_node(b, ops[i % 5], name, "x", out);
        odb_buf_printf(&all, "%s%s", i ? " " : "", out);
    }
    odb_build_node(b, "Sum", "all", odb_buf_text(&all), "y");
    odb_build_output(b, "y");
    odb_buf_dispose(&all);
    return models_take(b);
}

/* Blocks of three with a way around each. */
static struct odb_model *hunt_skips(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    char name[16], in[16], mid[16], out[16] = "x";
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < HUNT_BRANCHES / 3; i++) {
        char both[40];
        snprintf(in, sizeof in, "%s", out);
        snprintf(name, sizeof name, "n%d", 3 * i);
        snprintf(mid, sizeof mid, "a%d", i);
        odb_build_node(b, "Neg", name, in, mid);
        snprintf(name, sizeof name, "n%d", 3 * i + 1);
        snprintf(out, sizeof out, "b%d", i);
        odb_build_node(b, "Abs", name, mid, out);
        snprintf(both, sizeof both, "%s %s", out, in);
        snprintf(name, sizeof name, "n%d", 3 * i + 2);
        snprintf(out, sizeof out, "c%d", i);
        odb_build_node(b, "Add", name, both, out);
    }
    odb_build_output(b, out);
    return models_take(b);
}

/* Loads of the cuts themselves: of the step with this name. */
static size_t hunt_loads(const struct odb_report *report, const char *step)
{
    size_t loads = 0;
    for (size_t i = 0; i < report->steps.n; i++)
        if (strcmp(report->steps.items[i].step, step) == 0)
            loads += report->steps.items[i].loads;
    return loads;
}

static void hunt_check(struct odb_model *model, const char *kind, int node,
                       enum odb_strategy strategy, const char *step)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    char target[80];
    struct odb_feed feed = {.value = models_value(model, "x"),
                            .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    struct odb_feeds feeds = {&feed, 1, NULL};
    struct odb_report *report = NULL;
    snprintf(target, sizeof target, "fault:%s,node=#%d@cpu", kind, node);
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .strategy = strategy};
    help_find_serve();
    MODELS_OK(odb_bisect(&report, model, &feeds, &options, &why));
    size_t n = model->graph->n_nodes, promised = (size_t)ceil(log2((double)n)) + 3;
    if (report->culprits.n != 1 || report->culprits.items[0].node != node)
        fail_msg("%s by %s: %zu culprits, #%d first", target, step, report->culprits.n,
                 report->culprits.n ? report->culprits.items[0].node : -1);
    assert_int_equal(report->culprits.items[0].segment[0], node);
    assert_true(report->culprits.items[0].verified);
    assert_true(hunt_loads(report, step) > 0 && hunt_loads(report, step) <= promised);
    odb_report_free(report);
    odb_tensor_unref(feed.tensor);
}

/* Faults of every kind at each of these nodes, found in every way. */
static void hunt_check_all(struct odb_model *model, const int *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hunt_check(model, "scale,amount=0.1", nodes[i], ODB_STRATEGY_PREFIX, "prefix");
        hunt_check(model, "scale,amount=0.1", nodes[i], ODB_STRATEGY_SUFFIX, "suffix");
        hunt_check(model, "nan", nodes[i], ODB_STRATEGY_PREFIX, "prefix");
        hunt_check(model, "crash", nodes[i], ODB_STRATEGY_AUTO, "prefix");
    }
    odb_model_free(model);
}

static void test_hunt__branches_beside_each_other(void **state)
{
    static const int nodes[] = {0, 1, 17, 31, 58, 59, 60};
    hunt_check_all(hunt_star(), nodes, ODB_COUNT(nodes));
}

static void test_hunt__ways_around(void **state)
{
    static const int nodes[] = {0, 2, 22, 34, 45, 57, 59};
    hunt_check_all(hunt_skips(), nodes, ODB_COUNT(nodes));
}

/* One branch of the target is moody, so that answers are put to the vote; the other is wrong
 * always. Votes are answers of the target, and not the first one out of memory. */
static void test_hunt__votes_are_asked_of_the_target(void **state)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Sin", "m", "x", "z");
    odb_build_node(b, "Tanh", "n0", "x", "v0");
    odb_build_node(b, "Neg", "n1", "v0", "v1");
    odb_build_node(b, "Abs", "n2", "v1", "v2");
    odb_build_node(b, "Exp", "n3", "v2", "y");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    struct odb_model *model = models_take(b);
    struct odb_feed feed = {.value = models_value(model, "x"),
                            .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    struct odb_feeds feeds = {&feed, 1, NULL};
    struct odb_memory *memory = odb_memory_new();
    struct odb_answers answers;
    struct odb_report *report = NULL;
    odb_memory_answers(memory, &answers);
    struct odb_bisect_options options = {
        .reference = "cpu",
        .target = "fault:scale,amount=0.1,node=m,every=2@fault:scale,amount=0.1,node=n1@cpu",
        .tolerance = ODB_CRITERION_DEFAULT,
        .answers = &answers,
        .strategy = ODB_STRATEGY_PREFIX};
    help_find_serve();
    MODELS_OK(odb_bisect(&report, model, &feeds, &options, &why));
    bool found = false;
    for (size_t i = 0; i < report->culprits.n; i++)
        found |= report->culprits.items[i].node == 2;
    assert_true(found);
    assert_true(hunt_loads(report, "prefix") >= 8);
    odb_report_free(report);
    odb_memory_free(memory);
    odb_tensor_unref(feed.tensor);
    odb_model_free(model);
}

/* --- two failures ----------------------------------------------------------------------------- */

struct two {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_report *report;
};

static void two_run(struct two *t, struct odb_model *model, const char *target,
                    enum odb_strategy strategy)
{
    static const float ramp[8] = {-1.5f, -0.75f, 0.25f, 0.5f, 1.25f, 2.0f, 2.75f, 4.5f};
    *t = (struct two){.model = model};
    t->feed = (struct odb_feed){.value = models_value(model, "x"),
                                .tensor = models_f32(1, (int64_t[]){8}, ramp)};
    struct odb_feeds feeds = {&t->feed, 1, NULL};
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .step = 1, /* of linear */
                                         .strategy = strategy};
    help_find_serve();
    MODELS_OK(odb_bisect(&t->report, model, &feeds, &options, &why));
}

static void two_close(struct two *t)
{
    odb_report_free(t->report);
    odb_tensor_unref(t->feed.tensor);
    odb_model_free(t->model);
}

/* Twelve nodes, one behind the other, that keep errors about as large as they are. */
static struct odb_model *two_chain(void)
{
    static const char *const ops[] = {"Neg", "Abs", "LeakyRelu"};
    struct odb_builder *b = odb_build_new("g", 17);
    char name[8], in[8] = "x", out[8];
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "n%d", i);
        snprintf(out, sizeof out, "v%d", i);
        odb_build_node(b, ops[i % 3], name, in, out);
        snprintf(in, sizeof in, "%s", out);
    }
    odb_build_output(b, out);
    return models_take(b);
}

/* The culprit that accuses this node; NULL: none does. */
static const struct odb_culprit *two_culprit(const struct two *t, int node)
{
    for (size_t i = 0; i < t->report->culprits.n; i++)
        if (t->report->culprits.items[i].node == node)
            return &t->report->culprits.items[i];
    return NULL;
}

static bool two_says(const struct two *t, const char *text)
{
    bool says = false;
    for (size_t i = 0; i < t->report->warnings.n; i++)
        says |= strstr(t->report->warnings.items[i], text) != NULL;
    for (size_t i = 0; i < t->report->notes.n; i++)
        says |= strstr(t->report->notes.items[i], text) != NULL;
    return says;
}

/* NaN is what the output shows; a wrong number before it is another failure, and searched for
 * itself once it was met. A suffix that holds it holds the NaN as well, so there it is met by what
 * the accused reads. */
static void test_hunt__a_wrong_number_before_a_nan_is_another_failure(void **state)
{
    static const enum odb_strategy ways[] = {ODB_STRATEGY_PREFIX, ODB_STRATEGY_LINEAR,
                                             ODB_STRATEGY_SUFFIX};
    for (size_t i = 0; i < ODB_COUNT(ways); i++) {
        bool told = ways[i] != ODB_STRATEGY_SUFFIX;
        struct two t;
        two_run(&t, two_chain(), "fault:nan,node=n8@fault:scale,amount=0.1,node=n2@cpu", ways[i]);
        assert_int_equal(t.report->culprits.items[0].node, 8);
        assert_int_equal(t.report->culprits.items[0].kind, ODB_KIND_NAN);
        assert_true(t.report->culprits.items[0].verified);
        assert_int_equal(two_says(&t, "failed in another way than v11 (fail at #"), told);
        assert_int_equal(t.report->culprits.n, 2);
        assert_int_equal(t.report->culprits.items[1].node, 2);
        assert_int_equal(t.report->culprits.items[1].kind, ODB_KIND_INTRODUCED);
        assert_true(t.report->culprits.items[1].verified);
        two_close(&t);
    }
}

/* A NaN of which only the shape is used comes to nothing: what is wrong at the output is named, and
 * the NaN beside it. */
static void test_hunt__a_nan_that_comes_to_nothing_is_another_failure(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct two t;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "Abs", "n1", "a", "b");
    odb_build_node(b, "Shape", "n2", "b", "s");
    odb_build_node(b, "Reshape", "n3", "x s", "c");
    odb_build_node(b, "Mul", "n4", "c c", "d");
    odb_build_node(b, "Neg", "n5", "d", "y");
    odb_build_output(b, "y");
    two_run(&t, models_take(b), "fault:nan,node=n1@fault:scale,amount=0.1,node=n4@cpu",
            ODB_STRATEGY_LINEAR);
    assert_int_equal(t.report->culprits.items[0].node, 4);
    assert_true(t.report->culprits.items[0].verified);
    assert_true(two_says(&t, "failed in another way than y (nan at #1"));
    assert_int_equal(t.report->culprits.n, 2);
    assert_int_equal(t.report->culprits.items[1].node, 1);
    two_close(&t);
}

/* A NaN that the target itself swallows, where the reference would hand it on: what follows from it
 * on the target is the failure, so who made it is accused. */
static void test_hunt__a_nan_that_ends_in_numbers_is_the_failure(void **state)
{
    struct odb_builder *b = odb_build_new("g", 17);
    struct two t;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){8});
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "ReduceMax", "n1", "a", "b");
    odb_build_node(b, "Abs", "n2", "b", "c");
    odb_build_node(b, "Neg", "n3", "c", "y");
    odb_build_output(b, "y");
    two_run(&t, models_take(b), "fault:zero-channel,node=n2@fault:nan,node=n1@cpu",
            ODB_STRATEGY_LINEAR);
    assert_int_equal(t.report->culprits.items[0].node, 1);
    assert_int_equal(t.report->culprits.items[0].kind, ODB_KIND_NAN);
    assert_false(two_says(&t, "failed in another way"));
    two_close(&t);
}

/* The target dies, or makes NaN, only of a cut that the model does not have: no evidence. */
static void test_hunt__what_only_a_cut_does_is_no_evidence(void **state)
{
    static const char *const targets[] = {
        "fault:crash,node=n4,seen@fault:scale,amount=0.1,node=n6@cpu",
        "fault:nan,node=n4,seen@fault:scale,amount=0.1,node=n6@cpu"};
    static const enum odb_strategy ways[] = {ODB_STRATEGY_PREFIX, ODB_STRATEGY_LINEAR};
    for (size_t k = 0; k < ODB_COUNT(targets); k++)
        for (size_t i = 0; i < ODB_COUNT(ways); i++) {
            struct two t;
            two_run(&t, two_chain(), targets[k], ways[i]);
            assert_int_equal(t.report->culprits.n, 1);
            assert_int_equal(t.report->culprits.items[0].node, 6);
            if (ways[i] == ODB_STRATEGY_LINEAR)
                assert_true(two_says(&t, k ? "(nan at #4" : "(crash at #4"));
            two_close(&t);
        }
}

/* Two wrong numbers, one a thousand times the other: a suffix holds only what is in it, so the one
 * that shows is named first; a prefix search says of the small one that it is not all. */
static void test_hunt__errors_of_another_size_are_another_failure(void **state)
{
    struct two t;
    two_run(&t, two_chain(), "fault:scale,amount=1e-4,node=n8@fault:scale,amount=0.5,node=n2@cpu",
            ODB_STRATEGY_SUFFIX);
    assert_int_equal(t.report->culprits.items[0].node, 2);
    assert_true(two_says(&t, "failed in another way than v11 (fail at #"));
    two_close(&t);
    two_run(&t, two_chain(), "fault:scale,amount=0.5,node=n8@fault:scale,amount=1e-4,node=n2@cpu",
            ODB_STRATEGY_PREFIX);
    assert_non_null(two_culprit(&t, 2));
    assert_non_null(two_culprit(&t, 8));
    assert_true(two_says(&t, "what #2 gives comes to fail"));
    two_close(&t);
}

/* Alone it is the node that crashes, either way; what is said of what stands before it is what is
 * known of that: on a target that refuses everything else, nothing. */
static void test_hunt__of_prefixes_only_what_is_known_is_said(void **state)
{
    struct two t;
    two_run(&t, two_chain(), "fault:crash,node=n8@cpu", ODB_STRATEGY_AUTO);
    assert_int_equal(t.report->culprits.items[0].node, 8);
    assert_non_null(strstr(t.report->culprits.items[0].text, "every prefix without it runs"));
    two_close(&t);
    two_run(&t, two_chain(), "fault:crash,node=n8@command:/bin/false", ODB_STRATEGY_AUTO);
    assert_int_equal(t.report->culprits.items[0].node, 8);
    assert_null(strstr(t.report->culprits.items[0].text, "every prefix without it runs"));
    assert_non_null(strstr(t.report->culprits.items[0].text, "runs is not known"));
    two_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hunt__of_prefixes_only_what_is_known_is_said),
        cmocka_unit_test(test_hunt__branches_beside_each_other),
        cmocka_unit_test(test_hunt__ways_around),
        cmocka_unit_test(test_hunt__votes_are_asked_of_the_target),
        cmocka_unit_test(test_hunt__a_wrong_number_before_a_nan_is_another_failure),
        cmocka_unit_test(test_hunt__a_nan_that_comes_to_nothing_is_another_failure),
        cmocka_unit_test(test_hunt__a_nan_that_ends_in_numbers_is_the_failure),
        cmocka_unit_test(test_hunt__what_only_a_cut_does_is_no_evidence),
        cmocka_unit_test(test_hunt__errors_of_another_size_are_another_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
