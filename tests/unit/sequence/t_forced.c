/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Steps on a target: forced, in another order, and free.
 */
#include "sequence/forced.h"

#include <math.h>

#include "sequence/free_run.h"
#include "sequence/sequence_run.h"
#include "tests/help/executor_help.h"
#include "tests/help/sequence_help.h"

/* One plan on one target. */
struct forced_case {
    struct sequence_case made;
    struct odb_sequence found;
    struct odb_bisect_options options;
};

static void forced_begin(struct forced_case *f, struct odb_model *model,
                         const struct odb_plan_options *how, const char *target)
{
    sequence_begin(&f->made, model, how);
    f->options = (struct odb_bisect_options){.reference = "cpu", .target = target, .seed = 42};
    MODELS_OK(odb_sequence_check(&f->found, f->made.plan, f->made.streams, NULL, &f->options.hooks,
                                 &why));
    assert_int_equal(f->found.verdict, ODB_SEQUENCE_NONE);
}

static void forced_end(struct forced_case *f)
{
    odb_sequence_dispose(&f->found);
    sequence_end(&f->made);
}

static const char *const sum_feeds[] = {"x=1,2,3,4,5,6"};
static const char *const cache_feeds[] = {"ids=3,1,4,1,5,9,2,6"};
static const struct odb_plan_options of_sum = {.steps = 6, .feeds = sum_feeds, .n_feeds = 1};
static const struct odb_plan_options of_cache = {
    .steps = 6, .prefill = 3, .feeds = cache_feeds, .n_feeds = 1};

/* A fault in one step is seen there, and in no other, though the state goes on from it. */
static void test_forced__judge(void **state)
{
    struct forced_case f;
    (void)state;
    forced_begin(&f, sequence_cache(SEQUENCE_SOUND), &of_cache,
                 "fault:scale,node=join,dim=-1:5@cpu");
    MODELS_OK(odb_forced_judge(&f.found, &f.options, &why));
    for (size_t k = 0; k < 6; k++) {
        assert_true(f.found.seen[k].judged);
        assert_int_equal(odb_forced_is_bad(&f.found, k), k == 2);
        assert_int_equal(f.found.seen[k].old_changed, k == 2);
    }
    forced_end(&f);
}

static void test_forced__reorder(void **state)
{
    static const struct {
        const char *target;
        bool moved;
    } rows[] = {{"cpu", false}, {"fault:scale,node=add@cpu", false}, {"stale:h,first@cpu", true}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct forced_case f;
        bool moved, unsteady;
        forced_begin(&f, sequence_sum(false), &of_sum, rows[i].target);
        MODELS_OK(odb_forced_judge(&f.found, &f.options, &why));
        MODELS_OK(odb_forced_reorder(&f.found, &f.options, &moved, &unsteady, &why));
        assert_int_equal(moved, rows[i].moved);
        assert_false(unsteady);
        forced_end(&f);
    }
}

/* As many pieces at once are right, or wrong as well. */
static void test_forced__whole(void **state)
{
    static const struct {
        const char *target;
        enum odb_verdict verdict;
    } rows[] = {{"fault:scale,node=sum,dim=-1:1@cpu", ODB_VERDICT_PASS},
                {"fault:scale,node=join,dim=-1:4-9@cpu", ODB_VERDICT_FAIL}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct forced_case f;
        enum odb_verdict verdict;
        forced_begin(&f, sequence_cache(SEQUENCE_SOUND), &of_cache, rows[i].target);
        MODELS_OK(odb_forced_whole(&f.found, 1, &f.options, &verdict, &why));
        assert_int_equal(verdict, rows[i].verdict);
        forced_end(&f);
    }
}

static void test_forced__bits(void **state)
{
    struct odb_tensor *a = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_tensor *b = models_f32(2, (int64_t[]){1, 2}, (float[]){1, 2});
    unsigned char of_a[32], of_b[32], none[32] = {0}, of_none[32];
    (void)state;
    odb_forced_bits(a, of_a);
    odb_forced_bits(b, of_b);
    odb_forced_bits(NULL, of_none);
    assert_memory_not_equal(of_a, of_b, sizeof of_a);
    assert_memory_equal(of_none, none, sizeof none);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

/* --- free ------------------------------------------------------------------------------------- */

static void test_free__agrees(void **state)
{
    struct forced_case f;
    (void)state;
    forced_begin(&f, sequence_sum(true), &of_sum, "cpu");
    MODELS_OK(odb_forced_judge(&f.found, &f.options, &why));
    MODELS_OK(odb_free_run(&f.found, &f.options, &why));
    for (size_t k = 0; k < 6; k++) {
        assert_float_equal(odb_free_error(&f.found, k), 0, 0);
        assert_false(odb_free_astray(&f.found, k));
        assert_true(isnan(f.found.seen[k].envelope)); /* it was not needed */
    }
    forced_end(&f);
}

/* Half precision carried on leaves what a forced step is off by, and rounding may. */
static void test_free__drifts(void **state)
{
    const char *feeds[] = {"x=0.1,0.3,0.7,0.9,1.1,1.3"}, *starts[] = {"h=100"};
    const struct odb_plan_options how = {
        .steps = 6, .feeds = feeds, .n_feeds = 1, .starts = starts, .n_starts = 1};
    struct forced_case f;
    (void)state;
    forced_begin(&f, sequence_sum(false), &how, "cpu:f16");
    f.options.expect = "f16";
    MODELS_OK(odb_forced_judge(&f.found, &f.options, &why));
    MODELS_OK(odb_free_run(&f.found, &f.options, &why));
    assert_true(odb_free_error(&f.found, 5) > 0);
    for (size_t k = 0; k < 6; k++)
        assert_false(odb_free_astray(&f.found, k));
    forced_end(&f);
}

/* The target's own tokens: where the reference's are chosen alike, its way is the reference's. */
static void test_free__own_tokens(void **state)
{
    static const struct {
        const char *target;
        size_t own;
    } rows[] = {{"cpu", 0}, {"fault:scale,node=sum,amount=-3@cpu", 1}};
    const char *feeds[] = {"ids=greedy"};
    const struct odb_plan_options how = {
        .steps = 4, .prefill = 2, .feeds = feeds, .n_feeds = 1, .free = "all"};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(rows); i++) {
        struct forced_case f;
        forced_begin(&f, sequence_words(), &how, rows[i].target);
        MODELS_OK(odb_forced_judge(&f.found, &f.options, &why));
        MODELS_OK(odb_free_run(&f.found, &f.options, &why));
        assert_int_equal(f.found.own, rows[i].own);
        if (rows[i].own)
            assert_int_not_equal(f.found.own_token, f.found.reference_token);
        assert_true(f.found.seen[3].outputs[1].free >= 0); /* it goes on with the reference's */
        forced_end(&f);
    }
}

/* The reference's tokens are those that its logits choose: the largest of three, of the last row.
 */
static void test_free__greedy(void **state)
{
    const char *feeds[] = {"ids=greedy"};
    const struct odb_plan_options how = {.steps = 4, .prefill = 2, .feeds = feeds, .n_feeds = 1};
    struct sequence_case c;
    (void)state;
    sequence_begin(&c, sequence_words(), &how);
    struct odb_rollout *r = sequence_roll(&c);
    for (size_t k = 1; k < 4; k++) {
        struct odb_tensor *logits = NULL;
        size_t best = 0;
        MODELS_OK(odb_rollout_output(&logits, r, k - 1, 1, &why));
        size_t last = logits->count - 3;
        for (size_t v = 1; v < 3; v++)
            if (odb_tensor_f64(logits, last + v) > odb_tensor_f64(logits, last + best))
                best = v;
        assert_int_equal(odb_tensor_i64(r->steps.items[k].in[0], 0), best);
        odb_tensor_unref(logits);
    }
    odb_rollout_free(r);
    sequence_end(&c);
}

/* Logits 2, 10, 4 and the half of them, and token 2 comes next; the numbers are Python's. */
static void test_forced__tokens(void **state)
{
    static const char *const feeds[] = {"ids=0,2,1"};
    static const struct odb_plan_options how = {
        .steps = 3, .prefill = 1, .feeds = feeds, .n_feeds = 1};
    struct forced_case f;
    (void)state;
    forced_begin(&f, sequence_words(), &how, "fault:scale,node=sum,amount=-0.5@cpu");
    MODELS_OK(odb_forced_judge(&f.found, &f.options, &why));
    const struct odb_step_token *token = &f.found.seen[0].token;
    assert_true(token->known);
    assert_int_equal(token->reference, 1);
    assert_int_equal(token->target, 1);
    assert_int_equal(token->shared, 3);
    assert_float_equal(token->kl, 0.054320169, 1e-7);
    assert_float_equal(token->reference_nll, 6.002810262, 1e-6);
    assert_float_equal(token->nll, 3.065883904, 1e-6);
    assert_true(isnan(f.found.seen[2].token.nll));
    forced_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forced__tokens),  cmocka_unit_test(test_forced__judge),
        cmocka_unit_test(test_forced__reorder), cmocka_unit_test(test_forced__whole),
        cmocka_unit_test(test_forced__bits),    cmocka_unit_test(test_free__agrees),
        cmocka_unit_test(test_free__drifts),    cmocka_unit_test(test_free__own_tokens),
        cmocka_unit_test(test_free__greedy),
    };
    help_find_serve();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
