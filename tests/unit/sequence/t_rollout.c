/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Steps on the reference, and the model against itself.
 */
#include "sequence/reference/rollout.h"

#include "sequence/reference/consistency.h"
#include "tests/help/sequence_help.h"

static void fed_is(const struct sequence_case *c, const struct odb_rollout *r, size_t step,
                   const char *input, const float *wanted, size_t n)
{
    struct odb_feeds *feeds = NULL;
    const struct odb_tensor *t = NULL;
    MODELS_OK(odb_rollout_feeds(&feeds, r, step, &why));
    for (size_t i = 0; i < feeds->n; i++)
        if (feeds->items[i].value == models_value(c->model, input))
            t = feeds->items[i].tensor;
    assert_non_null(t);
    assert_int_equal(t->count, n);
    for (size_t k = 0; k < n; k++)
        assert_float_equal(odb_tensor_f64(t, k), wanted[k], 1e-6);
    odb_feeds_free(feeds);
}

static void test_rollout__carries(void **state)
{
    const char *feeds[] = {"x=1,2,3,4"}, *starts[] = {"h=10"};
    struct sequence_case c;
    struct odb_rollout *r;
    (void)state;
    sequence_begin(&c, sequence_sum(false),
                   &(struct odb_plan_options){
                       .steps = 4, .feeds = feeds, .n_feeds = 1, .starts = starts, .n_starts = 1});
    r = sequence_roll(&c);
    assert_int_equal(r->steps.n, 4);
    fed_is(&c, r, 0, "h", (float[]){10}, 1);
    fed_is(&c, r, 1, "h", (float[]){11}, 1);
    fed_is(&c, r, 3, "h", (float[]){16}, 1);
    odb_rollout_free(r);
    sequence_end(&c);
}

/* The value of the model is what step 0 is fed, and later steps are fed the state all the same. */
static void test_rollout__begins(void **state)
{
    const char *feeds[] = {"x=1,2,3"};
    struct sequence_case c;
    struct odb_rollout *r;
    (void)state;
    sequence_begin(&c, sequence_sum(true),
                   &(struct odb_plan_options){.steps = 3, .feeds = feeds, .n_feeds = 1});
    r = sequence_roll(&c);
    fed_is(&c, r, 0, "h", (float[]){7}, 1);
    fed_is(&c, r, 2, "h", (float[]){10}, 1);
    odb_rollout_free(r);
    sequence_end(&c);
}

static void test_rollout__stops(void **state)
{
    const char *feeds[] = {"x=1,2,3,4,5"};
    static const struct {
        const char *stop;
        size_t steps;
    } rows[] = {{"hn[0]>5", 3}, {"x[0]==2", 2}, {"t==0", 1}, {"h[0]>100", 5}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct sequence_case c;
        sequence_begin(&c, sequence_sum(false),
                       &(struct odb_plan_options){
                           .steps = 5, .feeds = feeds, .n_feeds = 1, .stop = rows[i].stop});
        struct odb_rollout *r = sequence_roll(&c);
        assert_int_equal(r->steps.n, rows[i].steps);
        assert_int_equal(r->stopped, rows[i].steps < 5);
        odb_rollout_free(r);
        sequence_end(&c);
    }
}

/* A whole list by a name, of which each step takes what it moves on by, and what stands before. */
static void test_rollout__outside(void **state)
{
    const char *feeds[] = {"pcm=1,2,3,4,5,6,7,8"}, *nexts[] = {"x=pcm[t*2+1:t*2+2]"};
    struct sequence_case c;
    struct odb_rollout *r;
    (void)state;
    sequence_begin(&c, sequence_sum(false),
                   &(struct odb_plan_options){
                       .steps = 4, .feeds = feeds, .n_feeds = 1, .nexts = nexts, .n_nexts = 1});
    r = sequence_roll(&c);
    fed_is(&c, r, 0, "x", (float[]){2}, 1);
    fed_is(&c, r, 3, "x", (float[]){8}, 1);
    odb_rollout_free(r);
    sequence_end(&c);
}

/* A cache that grows is kept once, and each step has its part of it. */
static void test_rollout__grows(void **state)
{
    const char *feeds[] = {"ids=3,1,4,1,5"};
    struct sequence_case c;
    struct odb_rollout *r;
    struct odb_tensor *out = NULL;
    (void)state;
    sequence_begin(
        &c, sequence_cache(0),
        &(struct odb_plan_options){.steps = 3, .prefill = 3, .feeds = feeds, .n_feeds = 1});
    r = sequence_roll(&c);
    assert_int_equal(r->broken_input, -1);
    assert_non_null(r->grown[plan_find_input(c.plan, "past")]);
    fed_is(&c, r, 0, "past", NULL, 0);
    fed_is(&c, r, 2, "past", (float[]){3, 1, 4, 1}, 4);
    MODELS_OK(odb_rollout_output(&out, r, 1, 0, &why));
    assert_int_equal(out->dims[1], 4);
    odb_tensor_unref(out);
    odb_rollout_free(r);
    sequence_end(&c);
}

/* Whatever was kept of it, each step is fed what the step before gave. */
static void follows(const struct sequence_case *c, const struct odb_rollout *r, const char *input,
                    size_t o)
{
    for (size_t k = 1; k < r->steps.n; k++) {
        struct odb_feeds *feeds = NULL;
        struct odb_tensor *gave = NULL;
        bool found = false;
        MODELS_OK(odb_rollout_feeds(&feeds, r, k, &why));
        MODELS_OK(odb_rollout_output(&gave, r, k - 1, o, &why));
        for (size_t i = 0; i < feeds->n; i++)
            found |= feeds->items[i].value == models_value(c->model, input) &&
                     odb_tensor_identical(feeds->items[i].tensor, gave);
        assert_true(found);
        odb_tensor_unref(gave);
        odb_feeds_free(feeds);
    }
}

/* One that loses its oldest rows is a window, and one that changes them is at fault. */
static void test_rollout__keeps(void **state)
{
    const char *feeds[] = {"ids=3,1,4,1,5,9"};
    static const struct {
        int how;
        int broken;
        size_t step;
    } rows[] = {{SEQUENCE_SLIDES, false, 0}, {SEQUENCE_CHANGES, true, 1}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct sequence_case c;
        sequence_begin(
            &c, sequence_cache(rows[i].how),
            &(struct odb_plan_options){.steps = 5, .prefill = 2, .feeds = feeds, .n_feeds = 1});
        struct odb_rollout *r = sequence_roll(&c);
        int past = plan_find_input(c.plan, "past");
        assert_int_equal(r->broken_input, rows[i].broken ? past : -1);
        assert_int_equal(r->broken_step, rows[i].step);
        assert_int_equal(r->slides[past], !rows[i].broken);
        follows(&c, r, "past", 0);
        odb_rollout_free(r);
        sequence_end(&c);
    }
}

/* --- the model against itself ----------------------------------------------------------------- */

static void test_consistency__tells(void **state)
{
    const char *feeds[] = {"ids=3,1,4,1,5"};
    (void)state;
    for (int leaks = 0; leaks < 2; leaks++) {
        struct sequence_case c;
        struct odb_consistency found = {0};
        sequence_begin(
            &c, sequence_cache(leaks ? SEQUENCE_LEAKS : 0),
            &(struct odb_plan_options){.steps = 3, .prefill = 3, .feeds = feeds, .n_feeds = 1});
        struct odb_rollout *r = sequence_roll(&c);
        const struct odb_search_hooks hooks = {0};
        MODELS_OK(odb_consistency_look(&found, r, &hooks, &why));
        assert_true(found.asked);
        assert_int_equal(found.broken, leaks);
        assert_int_equal(found.exact, !leaks);
        if (leaks) {
            assert_int_equal(found.step, 0);
            assert_string_equal(c.model->graph->nodes[found.node].name, "sees");
        }
        odb_consistency_dispose(&found);
        odb_rollout_free(r);
        sequence_end(&c);
    }
}

static void test_consistency__not_asked(void **state)
{
    struct sequence_case c;
    struct odb_consistency found = {0};
    const struct odb_search_hooks hooks = {0};
    (void)state;
    sequence_begin(&c, sequence_sum(false), &(struct odb_plan_options){.steps = 3});
    struct odb_rollout *r = sequence_roll(&c);
    MODELS_OK(odb_consistency_look(&found, r, &hooks, &why));
    assert_false(found.asked);
    assert_string_equal(found.why, "nothing is fed in pieces");
    odb_consistency_dispose(&found);
    odb_rollout_free(r);
    sequence_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rollout__carries),   cmocka_unit_test(test_rollout__begins),
        cmocka_unit_test(test_rollout__stops),     cmocka_unit_test(test_rollout__outside),
        cmocka_unit_test(test_rollout__grows),     cmocka_unit_test(test_rollout__keeps),
        cmocka_unit_test(test_consistency__tells), cmocka_unit_test(test_consistency__not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
