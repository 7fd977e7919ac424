/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sample is the worst, and what of a culprit shows on the others: a target in half
 * precision leaves short numbers as they are, so only some samples show it.
 */
#include "bisect/plan/bisect.h"
#include "inputs/inputs.h"
#include "sweep/samples.h"

#include <math.h>

#include "executor/executor.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

static const enum odb_verdict PASS = ODB_VERDICT_PASS, FAIL = ODB_VERDICT_FAIL;

static struct odb_sample sample(enum odb_verdict verdict, double error, double noise)
{
    return (struct odb_sample){.verdict = verdict, .error = error, .noise = noise};
}

static void test_samples__worst(void **state)
{
    (void)state;
    struct odb_sample passing[] = {sample(PASS, 1e-7, NAN), sample(PASS, 1e-6, NAN)};
    assert_int_equal(odb_samples_worst(passing, 2), 0);
    struct odb_sample ratio[] = {sample(PASS, 1, NAN), sample(FAIL, 2, 1), sample(FAIL, 1, 0.1)};
    assert_int_equal(odb_samples_worst(ratio, 3), 2);
    struct odb_sample dead[] = {sample(FAIL, 1e9, 1e-9), sample(ODB_VERDICT_SHAPE, NAN, NAN),
                                sample(ODB_VERDICT_CRASH, NAN, NAN),
                                sample(ODB_VERDICT_NAN, 1, NAN)};
    assert_int_equal(odb_samples_worst(dead, 2), 1);
    assert_int_equal(odb_samples_worst(dead, 4), 2);
    struct odb_sample unknown[] = {sample(ODB_VERDICT_UNTESTABLE, NAN, NAN),
                                   sample(ODB_VERDICT_UNTESTED, NAN, NAN), sample(PASS, 0, 0)};
    assert_int_equal(odb_samples_worst(unknown, 2), 0);
    assert_int_equal(odb_samples_worst(unknown, 3), 2);
}

/* x of four equal values for each sample. */
struct made {
    const struct odb_model *model;
    const float *x;
};

static enum odb_status made_feeds(void *payload, size_t i, struct odb_feeds **out,
                                  struct odb_error *err)
{
    const struct made *made = payload;
    const float x[] = {made->x[i], made->x[i], made->x[i], made->x[i]};
    struct odb_feeds *feeds = odb_new(struct odb_feeds);
    (void)err;
    feeds->items = odb_new_n(struct odb_feed, 1);
    feeds->n = 1;
    feeds->warnings = odb_xstrdup("");
    feeds->items[0] = (struct odb_feed){.value = models_value(made->model, "x"),
                                        .tensor = models_f32(1, (int64_t[]){4}, x)};
    *out = feeds;
    return ODB_OK;
}

/* The whole command without its text. confirms: for each sample, whether all that is found,
 * the node first, fails alone (c),
 * or that is not known (u). */
static void check_samples(const float *x, size_t n, const char *target, size_t worst, int node,
                          const char *verdicts, const char *confirms)
{
    struct odb_builder *b = odb_build_new("samples", 13);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "Neg", "n", "x", "a");
    odb_build_node(b, "Neg", "m", "a", "c");
    odb_build_node(b, "Relu", "r", "c", "d");
    odb_build_output(b, "d");
    struct odb_model *model = models_take(b);
    struct made made = {model, x};
    struct odb_samples s = {.feeds = made_feeds, .payload = &made};
    struct odb_bisect_options options = {.reference = "cpu", .target = target, .seed = 42};
    struct odb_report *report = NULL;
    struct odb_feeds *feeds = NULL;
    MODELS_OK(odb_criterion_parse(&options.tolerance, NULL, &why));
    for (size_t i = 0; i < n; i++)
        odb_push(&s.items, (struct odb_sample){.source = odb_xasprintf("%zu", i)});
    MODELS_OK(odb_samples_judge(&s, model, &options, &why));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(odb_verdict_is_bad(s.items.items[i].verdict), verdicts[i] == 'f');
    assert_int_equal(odb_samples_worst(s.items.items, n), worst);
    s.items.items[worst].searched = true;
    MODELS_OK(made_feeds(&made, worst, &feeds, &why));
    MODELS_OK(odb_bisect(&report, model, feeds, &options, &why));
    MODELS_OK(odb_samples_confirm(&s, report, &options, &why));
    size_t found = report->culprits.n;
    assert_int_equal(found > 0, strchr(confirms, 'c') != NULL);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(s.items.items[i].confirms.n, confirms[i] == 'c' ? found : 0);
        assert_int_equal(s.items.items[i].untestable.n, confirms[i] == 'u' ? found : 0);
        if (confirms[i] == 'c')
            assert_int_equal(s.items.items[i].confirms.items[0], node);
    }
    assert_non_null(report->more);
    odb_report_free(report);
    odb_feeds_free(feeds);
    odb_samples_dispose(&s);
    odb_model_free(model);
}

#define HALF "cpu:f16"

static void test_samples__one_shows_the_fault(void **state)
{
    (void)state;
    check_samples((const float[]){1, 2, 1.2345f, 4}, 4, HALF, 2, 0, "ppfp", "..c.");
}

static void test_samples__all_show_it(void **state)
{
    (void)state;
    check_samples((const float[]){1.2345f, 1.2345f, 1.2345f}, 3, HALF, 0, 0, "fff", "ccc");
}

static void test_samples__none_does(void **state)
{
    (void)state;
    check_samples((const float[]){1, 2}, 2, HALF, 0, 0, "pp", "..");
}

/* Behind the Relu all is zero there, where this fault refuses to be. */
static void test_samples__one_that_cannot_be_run(void **state)
{
    (void)state;
    check_samples((const float[]){-1, 2, 2}, 3, "fault:scale,node=r,amount=0.5@cpu", 1, 2, "pff",
                  "ucc");
}

static void test_samples__crash(void **state)
{
    (void)state;
    check_samples((const float[]){1, 2}, 2, "fault:crash,node=r@cpu", 0, 2, "ff", "cc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples__worst),
        cmocka_unit_test(test_samples__one_shows_the_fault),
        cmocka_unit_test(test_samples__all_show_it),
        cmocka_unit_test(test_samples__none_does),
        cmocka_unit_test(test_samples__one_that_cannot_be_run),
        cmocka_unit_test(test_samples__crash),
    };
    help_find_serve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
