/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Delta debugging against made-up failures whose smallest set is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/ddmin.h"
#include "tensor/random.h"

#define MOST 300

/* Fails where all of needs[] are kept, or all of other[]; says nothing where mute says so. */
struct world {
    size_t n;
    bool needs[MOST], other[MOST];
    bool has_other;
    bool (*mute)(const struct world *world, const bool *keep);
    bool chain;         /* an item is nothing without the one behind it */
    size_t asked, most; /* most 0: no limit */
    bool last_bad[MOST];
};

static bool world_holds(const struct world *w, const bool *set, const bool *keep)
{
    for (size_t i = 0; i < w->n; i++)
        if (set[i] && !keep[i])
            return false;
    return true;
}

static enum odb_status world_ask(void *payload, bool *keep, enum odb_answer *answer,
                                 struct odb_error *err)
{
    struct world *w = payload;
    if (w->most && w->asked == w->most)
        return odb_fail(err, ODB_CANCELLED, "enough");
    w->asked++;
    *answer = ODB_ANSWER_GOOD;
    if (w->mute && w->mute(w, keep))
        *answer = ODB_ANSWER_UNTESTABLE;
    else if (world_holds(w, w->needs, keep) || (w->has_other && world_holds(w, w->other, keep)))
        *answer = ODB_ANSWER_BAD;
    if (w->chain && *answer == ODB_ANSWER_BAD)
        for (size_t i = w->n; i-- > 1;)
            keep[i - 1] = keep[i - 1] && (w->needs[i - 1] || keep[i]);
    if (*answer == ODB_ANSWER_BAD)
        memcpy(w->last_bad, keep, w->n * sizeof *keep);
    return ODB_OK;
}

static enum odb_status world_run(struct world *w, bool *keep)
{
    struct odb_ddmin question = {world_ask, w};
    struct odb_error err = ODB_ERROR_INIT;
    memset(keep, true, w->n * sizeof *keep);
    return odb_ddmin(keep, w->n, &question, &err);
}

static void expect_set(const struct world *w, const bool *keep, const bool *set)
{
    for (size_t i = 0; i < w->n; i++)
        assert_int_equal(keep[i], set[i]);
}

static void test_ddmin__random_subsets_are_found_exactly(void **state)
{
    uint64_t x = 7;
    for (int round = 0; round < 2000; round++) {
        struct world w = {.n = 1 + odb_mix64(x++) % 60};
        bool keep[MOST];
        for (size_t k = odb_mix64(x++) % 5; k > 0; k--)
            w.needs[odb_mix64(x++) % w.n] = true;
        assert_int_equal(world_run(&w, keep), ODB_OK);
        expect_set(&w, keep, w.needs);
    }
    (void)state;
}

static void test_ddmin__one_of_many_takes_few_questions(void **state)
{
    bool keep[MOST];
    for (size_t at = 0; at < 256; at++) {
        struct world w = {.n = 256, .needs = {false}};
        w.needs[at] = true;
        assert_int_equal(world_run(&w, keep), ODB_OK);
        expect_set(&w, keep, w.needs);
        assert_true(w.asked <= 20); /* 2 log2 n, and the ends */
    }
    (void)state;
}

static void test_ddmin__nothing_is_needed(void **state)
{
    struct world w = {.n = 100};
    bool keep[MOST];
    assert_int_equal(world_run(&w, keep), ODB_OK);
    expect_set(&w, keep, w.needs);
    assert_int_equal(w.asked, 1);
    (void)state;
}

/* With a largest piece of one nothing goes but alone. */
static void test_ddmin__single_items_alone(void **state)
{
    struct world w = {.n = 20, .needs = {[4] = true, [17] = true}};
    struct odb_ddmin question = {world_ask, &w, 1};
    struct odb_error err = ODB_ERROR_INIT;
    bool keep[MOST];
    memset(keep, true, w.n * sizeof *keep);
    assert_int_equal(odb_ddmin(keep, w.n, &question, &err), ODB_OK);
    expect_set(&w, keep, w.needs);
    assert_in_range(w.asked, 20, 22); /* each once, and those that stay once more */
    (void)state;
}

static void test_ddmin__no_items(void **state)
{
    struct world w = {.n = 0};
    bool keep[MOST];
    assert_int_equal(world_run(&w, keep), ODB_OK);
    assert_int_equal(w.asked, 0);
    (void)state;
}

/* Two ways to fail: either is an answer, their union is none. */
static void test_ddmin__ends_with_one_of_two_causes(void **state)
{
    uint64_t x = 1;
    for (int round = 0; round < 500; round++) {
        struct world w = {.n = 40, .has_other = true};
        bool keep[MOST];
        for (int k = 0; k < 3; k++) {
            w.needs[odb_mix64(x++) % w.n] = true;
            w.other[odb_mix64(x++) % w.n] = true;
        }
        assert_int_equal(world_run(&w, keep), ODB_OK);
        for (size_t i = 0; i < w.n; i++) {
            if (!keep[i])
                continue;
            keep[i] = false; /* none of them can go */
            assert_false(world_holds(&w, w.needs, keep) || world_holds(&w, w.other, keep));
            keep[i] = true;
        }
    }
    (void)state;
}

/* Odd numbers of items cannot be built. */
static bool mute_odd(const struct world *w, const bool *keep)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += keep[i];
    return n % 2;
}

static void test_ddmin__untestable_is_no_failure(void **state)
{
    struct world w = {.n = 64, .mute = mute_odd};
    bool keep[MOST];
    w.needs[5] = w.needs[6] = true;
    assert_int_equal(world_run(&w, keep), ODB_OK);
    assert_true(world_holds(&w, w.needs, keep));
    assert_false(mute_odd(&w, keep)); /* only what was seen to fail is believed */
    expect_set(&w, keep, w.last_bad);
    (void)state;
}

static void test_ddmin__takes_what_the_question_thinned_out(void **state)
{
    struct world w = {.n = 200, .chain = true};
    bool keep[MOST];
    w.needs[150] = w.needs[10] = true;
    assert_int_equal(world_run(&w, keep), ODB_OK);
    expect_set(&w, keep, w.needs);
    (void)state;
}

static void test_ddmin__stopped_it_has_the_smallest_so_far(void **state)
{
    bool keep[MOST];
    for (size_t most = 1; most < 12; most++) {
        struct world w = {.n = 128, .most = most};
        w.needs[3] = w.needs[77] = true;
        memset(w.last_bad, true, sizeof w.last_bad);
        assert_int_equal(world_run(&w, keep), ODB_CANCELLED);
        expect_set(&w, keep, w.last_bad);
        assert_true(world_holds(&w, w.needs, keep));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ddmin__random_subsets_are_found_exactly),
        cmocka_unit_test(test_ddmin__one_of_many_takes_few_questions),
        cmocka_unit_test(test_ddmin__nothing_is_needed),
        cmocka_unit_test(test_ddmin__single_items_alone),
        cmocka_unit_test(test_ddmin__no_items),
        cmocka_unit_test(test_ddmin__ends_with_one_of_two_causes),
        cmocka_unit_test(test_ddmin__untestable_is_no_failure),
        cmocka_unit_test(test_ddmin__takes_what_the_question_thinned_out),
        cmocka_unit_test(test_ddmin__stopped_it_has_the_smallest_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
