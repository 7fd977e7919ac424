/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ranking by outputs alone: what a response explains, on made-up numbers with a known answer, what
 * may be said of a list of candidates, and whole rankings of a small model whose fault is known.
 */
#include "suspects/odds.h"
#include "suspects/suspects.h"
#include "suspects/suspects_int.h"

#include <math.h>

#include "executor/executor.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"

/* --- fit.c ------------------------------------------------------------------------------------ */

#define N 4

static struct observed seen(double *off, double weight)
{
    struct observed o = {.differs = true, .off = off, .n = N, .weight = weight};
    for (size_t i = 0; i < N; i++)
        o.energy += isfinite(off[i]) ? off[i] * off[i] : 0;
    return o;
}

/* Off is three times the response on both samples, one of them a thousand times as large. */
static void test_suspects__amount_of_the_first_order(void **state)
{
    (void)state;
    struct odb_suspects r = {0};
    struct suspects s = {.result = &r};
    double off[] = {3, -6, 0, 1.5}, large[] = {0, 3000, 6000, 0};
    const double response[] = {1, -2, 0, 0.5}, other[] = {0, 1000, 2000, 0};
    struct observed a = seen(off, 1 / 47.25), b = seen(large, 1 / 45e6);
    struct candidate c = {0};
    suspects_clear(&c);
    suspects_add(&s, &c, &a, response, true);
    suspects_add(&s, &c, &b, other, true);
    assert_true(fabs(c.amount - 3) < 1e-12);
    assert_true(fabs(c.explained - 1) < 1e-12);
}

static void test_suspects__what_stands_across_explains_nothing(void **state)
{
    (void)state;
    struct odb_suspects r = {0};
    struct suspects s = {.result = &r};
    double off[] = {1, 2, 0, 0};
    const double response[] = {0, 0, 5, -7};
    struct observed a = seen(off, 0.2);
    struct candidate c = {0};
    suspects_clear(&c);
    suspects_add(&s, &c, &a, response, true);
    assert_true(c.amount == 0 && c.explained == 0);
}

/* Half of it leaves a quarter of the squares; the sample where it is twice too large leaves all. */
static void test_suspects__each_sample_counts_alike(void **state)
{
    (void)state;
    struct odb_suspects r = {0};
    struct suspects s = {.result = &r};
    double off[] = {2, 0, -4, 0}, more[] = {0, 100, 0, 100};
    const double response[] = {1, 0, -2, 0}, twice[] = {0, 200, 0, 200};
    struct observed a = seen(off, 1.0 / 20), b = seen(more, 1.0 / 20000);
    struct candidate c = {0};
    suspects_clear(&c);
    suspects_add(&s, &c, &a, response, false);
    assert_true(fabs(c.explained - 0.75) < 1e-12 && fabs(c.least - 0.75) < 1e-12);
    suspects_add(&s, &c, &b, twice, false);
    assert_true(fabs(c.explained - 0.375) < 1e-12 && fabs(c.least) < 1e-12);
}

static void test_suspects__no_differences(void **state)
{
    (void)state;
    struct odb_suspects r = {0};
    struct suspects s = {.result = &r};
    double off[N] = {0};
    const double response[] = {1, 2, 3, 4};
    struct observed a = seen(off, 0);
    struct candidate c = {0};
    odb_push(&s.seen, a);
    suspects_weigh(&s);
    assert_true(s.seen.items[0].weight == 0 && r.rounding == 0 && !r.pattern);
    for (int linear = 0; linear < 2; linear++) {
        suspects_clear(&c);
        suspects_add(&s, &c, &s.seen.items[0], response, linear);
        assert_true(c.explained == 0 && isfinite(c.amount));
    }
    free(s.seen.items);
}

/* One place of three that are NaN, or that would be; a family that reaches more than it must is
 * not blamed for that. */
static void test_suspects__places_of_nan(void **state)
{
    (void)state;
    struct odb_suspects r = {0};
    struct suspects s = {.result = &r};
    double off[] = {NAN, INFINITY, 1e9, 0};
    const double response[] = {0, NAN, INFINITY, 0};
    struct observed a = seen(off, 1);
    struct candidate c = {.family = DEVIATION_OF_F16}, nan = {.family = DEVIATION_OF_NAN};
    odb_push(&s.seen, a);
    suspects_weigh(&s);
    assert_true(r.pattern);
    suspects_clear(&c);
    suspects_add(&s, &c, &a, response, false);
    assert_true(fabs(c.explained - 1.0 / 3) < 1e-12);
    suspects_clear(&nan);
    suspects_add(&s, &nan, &a, response, false);
    assert_true(fabs(nan.explained - 0.5) < 1e-12);
    free(s.seen.items);
}

/* --- conclude.c ------------------------------------------------------------------------------- */

/* x -> Neg a -> Exp b -> Identity i, x -> Relu c, i + c = d -> Sigmoid y */
enum { NODE_A, NODE_B, NODE_I, NODE_C, NODE_D, NODE_Y };

static struct odb_model *small(void)
{
    struct odb_builder *b = odb_build_new("suspects", 13);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){N});
    odb_build_node(b, "Neg", "neg", "x", "a");
    odb_build_node(b, "Exp", "exp", "a", "b");
    odb_build_node(b, "Identity", "same", "b", "i");
    odb_build_node(b, "Relu", "relu", "x", "c");
    odb_build_node(b, "Add", "add", "i c", "d");
    odb_build_node(b, "Sigmoid", "sigmoid", "d", "y");
    odb_build_output(b, "y");
    return models_take(b);
}

/* Candidates of the nodes in their order, which miss so much. */
static void conclude(struct odb_suspects *r, const double *missed, size_t n)
{
    struct odb_model *model = small();
    struct suspects s = {.model = model, .graph = model->graph, .result = r, .sifted = true};
    r->complete = true;
    r->probability = NAN;
    for (size_t i = 0; i < n; i++)
        odb_push(&s.candidates, (struct candidate){.value = model->graph->nodes[i].out[0],
                                                   .family = DEVIATION_OF_SCALE,
                                                   .amount = 0.1,
                                                   .explained = 1 - missed[i]});
    suspects_conclude(&s);
    free(s.candidates.items);
    odb_model_free(model);
}

static void test_suspects__ties_are_a_group(void **state)
{
    (void)state;
    struct odb_suspects r = {.n_used = 20};
    conclude(&r, (const double[]){1e-9, 2e-7, 9e-7, 0.4}, 4);
    assert_int_equal(r.n_likely, 3);
    assert_true(r.explains && !r.single && r.probability > 0.9);
    assert_true(r.list.items[2].likely && !r.list.items[3].likely);
    assert_true(fabs(r.next - 0.6) < 1e-12);
    free(r.list.items);
}

static void test_suspects__one_alone(void **state)
{
    (void)state;
    struct odb_suspects r = {.n_used = 20};
    conclude(&r, (const double[]){1e-9, 0.4, 0.5}, 3);
    assert_true(r.single && r.explains && r.n_likely == 1);
    assert_int_equal(r.list.items[0].node, NODE_A);
    free(r.list.items);
}

static void test_suspects__little_is_explained(void **state)
{
    (void)state;
    struct odb_suspects r = {.n_used = 20};
    conclude(&r, (const double[]){0.9, 0.95, 0.99}, 3);
    assert_true(!r.explains && !r.single && isnan(r.probability));
    free(r.list.items);
}

/* The reference's own rounding makes nodes as good as the best. */
static void test_suspects__rounding_makes_ties(void **state)
{
    (void)state;
    struct odb_suspects r = {.n_used = 20, .rounding = 1e-3};
    conclude(&r, (const double[]){1e-9, 0.01, 0.4}, 3);
    assert_int_equal(r.n_likely, 2);
    assert_false(r.single);
    free(r.list.items);
}

/* Where every amount was fitted on every sample, as on one, nothing was foretold. */
static void test_suspects__few_samples_say_less(void **state)
{
    (void)state;
    double before = 0;
    for (size_t n = 1; n <= 20; n++) {
        struct odb_suspects r = {.n_used = n};
        conclude(&r, (const double[]){1e-9, 0.4}, 2);
        assert_true(r.probability >= before && (n > SUSPECTS_SCREENED || r.probability <= 0.5));
        assert_true(n > SUSPECTS_SCREENED || !r.single);
        before = r.probability;
        free(r.list.items);
    }
    assert_true(before >= 0.9);
    assert_true(odds_of(0.15, 0.5, 0) <= odds_of(0.15, 0.5, 20));
}

/* There were no trials of places of NaN. */
static void test_suspects__places_have_no_probability(void **state)
{
    (void)state;
    struct odb_suspects r = {.n_used = 20, .pattern = true};
    conclude(&r, (const double[]){0, 0.5}, 2);
    assert_true(isnan(r.probability) && r.explains && !r.single);
    free(r.list.items);
}

/* --- whole rankings --------------------------------------------------------------------------- */

struct made {
    const struct odb_model *model;
    size_t asked, stop; /* cancelled is true from the stop-th question on; 0: never */
};

static enum odb_status made_feeds(void *payload, size_t i, struct odb_feeds **out,
                                  struct odb_error *err)
{
    const struct made *made = payload;
    float x[N];
    struct odb_feeds *feeds = odb_new(struct odb_feeds);
    (void)err;
    for (size_t k = 0; k < N; k++)
        x[k] = (float)sin(1.0 + 3.7 * (double)i + 1.3 * (double)k);
    feeds->items = odb_new_n(struct odb_feed, 1);
    feeds->n = 1;
    feeds->warnings = odb_xstrdup("");
    feeds->items[0] = (struct odb_feed){.value = models_value(made->model, "x"),
                                        .tensor = models_f32(1, (int64_t[]){N}, x)};
    *out = feeds;
    return ODB_OK;
}

/* Stops when the target is asked for sample number stop, from 1 on. */
static void made_event(void *payload, const struct odb_search_event *event)
{
    struct made *made = payload;
    if (event->what == ODB_EVENT_PROGRESS && !strcmp(event->text, "samples on the target"))
        made->asked = event->done + 1;
}

static bool made_cancelled(void *payload)
{
    const struct made *made = payload;
    return made->stop && made->asked >= made->stop;
}

/* The ranking by n samples; *model is the caller's, and borrowed by it. */
static struct odb_suspects *ranked(struct odb_model **model, const char *target, size_t n,
                                   size_t stop)
{
    struct odb_suspects *r = NULL;
    struct made made = {.model = *model = small(), .stop = stop};
    struct odb_samples samples = {.feeds = made_feeds, .payload = &made};
    struct odb_bisect_options search = {.reference = "cpu", .target = target, .seed = 42};
    const struct odb_suspects_options options = {.search = &search};
    search.hooks = (struct odb_search_hooks){made_event, made_cancelled, &made, NULL};
    MODELS_OK(odb_criterion_parse(&search.tolerance, NULL, &why));
    for (size_t i = 0; i < n; i++)
        odb_push(&samples.items, (struct odb_sample){.source = odb_xasprintf("%zu", i)});
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_suspects(&r, *model, &samples, &options, &why);
    if (status != ODB_CANCELLED)
        models_ok(status, &why);
    for (size_t i = r ? r->n_run : n; i < n; i++)
        assert_int_equal(samples.items.items[i].verdict, ODB_VERDICT_UNTESTED);
    odb_samples_dispose(&samples);
    return r;
}

static void drop(struct odb_suspects *r, struct odb_model *model)
{
    odb_suspects_free(r);
    odb_model_free(model);
}

static void test_suspects__finds_the_node(void **state)
{
    (void)state;
    struct odb_model *model;
    struct odb_suspects *r = ranked(&model, "fault:scale,node=relu,amount=0.05@cpu", 20, 0);
    assert_true(r->complete && r->single && r->n_likely == 1);
    assert_int_equal(r->list.items[0].node, NODE_C);
    assert_string_equal(r->list.items[0].family, "scale");
    assert_true(fabs(r->list.items[0].amount - 0.05) < 1e-3);
    assert_true(r->n_run == 20 && r->n_used == 20 && r->loads == 1);
    drop(r, model);
}

/* exp(a) * 1.05 is exp(a + log 1.05), and Identity changes nothing. */
static void test_suspects__nodes_that_do_the_same(void **state)
{
    (void)state;
    double amount = NAN;
    struct odb_model *model;
    struct odb_suspects *r = ranked(&model, "fault:scale,node=exp,amount=0.05@cpu", 20, 0);
    assert_int_equal(r->n_likely, 3);
    for (size_t i = 0; i < r->n_likely; i++) {
        assert_in_range(r->list.items[i].node, NODE_A, NODE_I);
        if (r->list.items[i].node == NODE_A)
            amount = r->list.items[i].amount;
    }
    assert_true(fabs(amount - log(1.05)) < 1e-3);
    assert_true(r->explains && !r->single);
    drop(r, model);
}

static void test_suspects__noise_is_nobodys(void **state)
{
    (void)state;
    struct odb_model *model;
    struct odb_suspects *r = ranked(&model, "fault:noise,node=exp,amount=0.3@cpu", 20, 0);
    assert_true(r->n_differ == 20 && r->list.n > 0);
    assert_true(!r->explains && !r->single && isnan(r->probability));
    drop(r, model);
}

static void test_suspects__a_target_that_agrees(void **state)
{
    (void)state;
    struct odb_model *model;
    struct odb_suspects *r = ranked(&model, "cpu", 5, 0);
    assert_true(r->complete && !r->n_differ && !r->list.n && isnan(r->probability));
    assert_int_equal(r->n_replays, 0);
    drop(r, model);
}

static void test_suspects__nan(void **state)
{
    (void)state;
    struct odb_model *model;
    struct odb_suspects *r = ranked(&model, "fault:nan,node=exp@cpu", 20, 0);
    assert_true(r->pattern && r->n_likely > 0 && !r->single && isnan(r->probability));
    drop(r, model);
}

static void test_suspects__one_sample(void **state)
{
    (void)state;
    struct odb_model *model;
    struct odb_suspects *r = ranked(&model, "fault:scale,node=relu,amount=0.05@cpu", 1, 0);
    assert_true(r->complete && r->n_used == 1 && !r->single && r->probability <= 0.5);
    drop(r, model);
}

/* Stopped while the target is asked: what was seen is ranked all the same. */
static void test_suspects__stopped(void **state)
{
    (void)state;
    struct odb_model *model;
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_suspects *r = ranked(&model, "fault:scale,node=relu,amount=0.05@cpu", 50, 8);
    assert_true(r->stopped && !r->complete);
    assert_int_equal(r->n_run, 7);
    assert_int_equal(r->n_used, 7);
    assert_int_equal(r->n_unknown, 0);
    assert_int_equal(r->list.items[0].node, NODE_C);
    assert_true(r->probability < odds_of(1e-6, 0.5, ODDS_SAMPLES));
    odb_suspects_put(r, &text);
    assert_non_null(strstr(text.data, "stopped after 7 of 50 inputs"));
    odb_buf_dispose(&text);
    drop(r, model);
}

static void test_suspects__stopped_before_anything(void **state)
{
    (void)state;
    struct odb_model *model;
    assert_null(ranked(&model, "fault:scale,node=relu,amount=0.05@cpu", 50, 1));
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suspects__amount_of_the_first_order),
        cmocka_unit_test(test_suspects__what_stands_across_explains_nothing),
        cmocka_unit_test(test_suspects__each_sample_counts_alike),
        cmocka_unit_test(test_suspects__no_differences),
        cmocka_unit_test(test_suspects__places_of_nan),
        cmocka_unit_test(test_suspects__ties_are_a_group),
        cmocka_unit_test(test_suspects__one_alone),
        cmocka_unit_test(test_suspects__little_is_explained),
        cmocka_unit_test(test_suspects__rounding_makes_ties),
        cmocka_unit_test(test_suspects__few_samples_say_less),
        cmocka_unit_test(test_suspects__places_have_no_probability),
        cmocka_unit_test(test_suspects__finds_the_node),
        cmocka_unit_test(test_suspects__nodes_that_do_the_same),
        cmocka_unit_test(test_suspects__noise_is_nobodys),
        cmocka_unit_test(test_suspects__a_target_that_agrees),
        cmocka_unit_test(test_suspects__nan),
        cmocka_unit_test(test_suspects__one_sample),
        cmocka_unit_test(test_suspects__stopped),
        cmocka_unit_test(test_suspects__stopped_before_anything),
    };
    help_find_serve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
