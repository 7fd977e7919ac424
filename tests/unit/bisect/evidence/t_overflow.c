/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values that leave the range of the expected type: who spoils an output is named, and who does no
 * harm is not. And outputs that cannot fail, because that type loses them altogether.
 */
#include "bisect/plan/bisect.h"
#include "report/outcome.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "tests/help/survives.h"
#include "model/read/load.h"

struct range {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_report *report;
};

static void range_weight(struct odb_builder *b, const char *name, float v)
{
    struct odb_tensor *t = models_f32(0, NULL, &v);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* A mask whose -3.4e38 float16 has as -Inf, before a Softmax: y. And, on its own way, what becomes
 * larger than float16 holds and is made small again: z = Tanh(x * by * 1e-6). */
static struct odb_builder *range_model(float by)
{
    struct odb_builder *b = odb_build_new("g", 17);
    static const float mask[4] = {0, 0, -3.4e38f, 0};
    struct odb_tensor *t = models_f32(1, (int64_t[]){4}, mask);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_weight(b, "mask", t);
    range_weight(b, "large", by);
    range_weight(b, "half", 0.5f);
    range_weight(b, "small", 1e-6f);
    odb_build_node(b, "Add", "masked", "x mask", "m");
    odb_build_node(b, "Softmax", "softmax", "m", "y");
    odb_build_node(b, "Mul", "halved", "x half", "h");
    odb_build_node(b, "Mul", "grown", "h large", "g");
    odb_build_node(b, "Sin", "sin", "g", "s");
    odb_build_node(b, "Mul", "shrunk", "s small", "k");
    odb_build_node(b, "Tanh", "tanh", "k", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    odb_tensor_unref(t);
    return b;
}

static void range_search(struct range *r, float by, enum odb_strategy strategy)
{
    static const float x[4] = {1, -2, 3, 4};
    r->model = models_take(range_model(by));
    r->feed = (struct odb_feed){.value = models_value(r->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){4}, x)};
    r->feeds = (struct odb_feeds){&r->feed, 1, NULL};
    r->report = NULL;
    help_find_serve();
    MODELS_OK(odb_bisect(&r->report, r->model, &r->feeds,
                         &(struct odb_bisect_options){.reference = "cpu",
                                                      .target = "cpu:f16",
                                                      .expect = "f16",
                                                      .tolerance = ODB_CRITERION_DEFAULT,
                                                      .strategy = strategy},
                         &why));
}

static void range_close(struct range *r)
{
    survives(r->report);
    odb_report_free(r->report);
    odb_tensor_unref(r->feed.tensor);
    odb_model_free(r->model);
}

static void test_overflow__a_mask_that_becomes_infinite_does_no_harm(void **state)
{
    struct range r;
    (void)state;
    range_search(&r, 10, ODB_STRATEGY_AUTO);
    assert_false(r.report->outputs_diverge);
    assert_int_equal(r.report->culprits.n, 0);
    range_close(&r);
}

static void test_overflow__who_spoils_an_output_is_named(void **state)
{
    static const enum odb_strategy strategies[] = {ODB_STRATEGY_AUTO,   ODB_STRATEGY_BLAME,
                                                   ODB_STRATEGY_PREFIX, ODB_STRATEGY_SUFFIX,
                                                   ODB_STRATEGY_LINEAR, ODB_STRATEGY_EACH};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(strategies); i++) {
        struct range r;
        range_search(&r, 5e4f, strategies[i]);
        assert_true(r.report->outputs_diverge);
        assert_int_equal(r.report->culprits.n, 1);
        const struct odb_culprit *culprit = r.report->culprits.items;
        assert_int_equal(culprit->kind, ODB_KIND_OVERFLOW);
        assert_int_equal(culprit->node, 3);
        assert_int_equal(culprit->value, models_value(r.model, "g"));
        assert_true(culprit->verified && culprit->reaches_output);
        assert_int_equal(culprit->confidence, ODB_CONFIDENCE_HIGH);
        assert_non_null(strstr(culprit->text, "1e+05 there, 1.53 times the largest number of "
                                              "float16, 65504"));
        assert_non_null(strstr(culprit->text, "onnxdbg precision MODEL --to f16"));
        range_close(&r);
    }
}

/* y = x + 10000 - 10000, which float16 cannot tell from 0, and, where that is asked for, x / 2. */
static enum odb_status range_blunt(struct range *r, bool both, const char *expect)
{
    static const float x[4] = {1, -2, 3, 1.5f};
    struct odb_builder *b = odb_build_new("g", 17);
    struct odb_error why = ODB_ERROR_INIT;
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    range_weight(b, "large", 10000);
    range_weight(b, "half", 0.5f);
    odb_build_node(b, "Add", "add", "x large", "a");
    odb_build_node(b, "Sub", "sub", "a large", "y");
    odb_build_output(b, "y");
    if (both) {
        odb_build_node(b, "Mul", "mul", "x half", "z");
        odb_build_output(b, "z");
    }
    r->model = models_take(b);
    r->feed = (struct odb_feed){.value = models_value(r->model, "x"),
                                .tensor = models_f32(1, (int64_t[]){4}, x)};
    r->feeds = (struct odb_feeds){&r->feed, 1, NULL};
    r->report = NULL;
    help_find_serve();
    return odb_bisect(&r->report, r->model, &r->feeds,
                      &(struct odb_bisect_options){.reference = "cpu",
                                                   .target = "cpu:f16",
                                                   .expect = expect,
                                                   .tolerance = ODB_CRITERION_DEFAULT},
                      &why);
}

static void test_overflow__what_cannot_fail_is_no_verdict(void **state)
{
    struct odb_buf line = ODB_BUF_INIT;
    struct range r;
    (void)state;
    assert_int_equal(range_blunt(&r, false, "f16"), ODB_UNSUPPORTED);
    assert_int_equal(odb_report_outcome(r.report), ODB_OUTCOME_NONE);
    odb_report_headline(r.report, &line);
    assert_non_null(strstr(odb_buf_text(&line), "no verdict: nothing can be said of output y: the "
                                                "reference computed in f16 is off by"));
    odb_buf_dispose(&line);
    range_close(&r);
}

static void test_overflow__an_output_that_can_fail_is_enough(void **state)
{
    struct range r;
    (void)state;
    assert_int_equal(range_blunt(&r, true, "f16"), ODB_OK);
    assert_int_equal(odb_report_outcome(r.report), ODB_OUTCOME_PASS);
    assert_int_equal(r.report->warnings.n, 1);
    assert_non_null(strstr(r.report->warnings.items[0], "nothing can be said of output y"));
    range_close(&r);
    assert_int_equal(range_blunt(&r, false, NULL), ODB_OK); /* and without --expect it fails */
    assert_int_equal(odb_report_outcome(r.report), ODB_OUTCOME_DIVERGES);
    range_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow__a_mask_that_becomes_infinite_does_no_harm),
        cmocka_unit_test(test_overflow__who_spoils_an_output_is_named),
        cmocka_unit_test(test_overflow__what_cannot_fail_is_no_verdict),
        cmocka_unit_test(test_overflow__an_output_that_can_fail_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
