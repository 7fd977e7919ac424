/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches over prefixes and suffixes in graphs that are wide, where one node at a time would take
 * as many loads as there are branches.
 */
#include "engine/bisect.h"

#include <math.h>

#include "engine/answers.h"
#include "session/memory.h"
#include "tests/executor_help.h"
#include "tests/models.h"

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

static void test_hunt__branches_beside_each_other(void **state)
{
    static const int nodes[] = {0, 1, 17, 31, 58, 59, 60};
    struct odb_model *model = hunt_star();
    for (size_t i = 0; i < ODB_COUNT(nodes); i++) {
        hunt_check(model, "scale,amount=0.1", nodes[i], ODB_STRATEGY_PREFIX, "prefix");
        hunt_check(model, "scale,amount=0.1", nodes[i], ODB_STRATEGY_SUFFIX, "suffix");
        hunt_check(model, "crash", nodes[i], ODB_STRATEGY_AUTO, "prefix");
    }
    odb_model_free(model);
}

static void test_hunt__ways_around(void **state)
{
    static const int nodes[] = {0, 2, 22, 34, 45, 57, 59};
    struct odb_model *model = hunt_skips();
    for (size_t i = 0; i < ODB_COUNT(nodes); i++) {
        hunt_check(model, "scale,amount=0.1", nodes[i], ODB_STRATEGY_PREFIX, "prefix");
        hunt_check(model, "scale,amount=0.1", nodes[i], ODB_STRATEGY_SUFFIX, "suffix");
        hunt_check(model, "nan", nodes[i], ODB_STRATEGY_PREFIX, "prefix");
        hunt_check(model, "crash", nodes[i], ODB_STRATEGY_AUTO, "prefix");
    }
    odb_model_free(model);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hunt__branches_beside_each_other),
        cmocka_unit_test(test_hunt__ways_around),
        cmocka_unit_test(test_hunt__votes_are_asked_of_the_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
