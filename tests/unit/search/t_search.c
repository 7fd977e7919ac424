/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search core against made-up graphs whose culprit is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/search.h"
#include "tensor/random.h"

struct world {
    struct odb_dag dag;
    size_t *start;
    int *parents;
    int culprit;
    const bool *mute; /* [n] these cannot be tested; NULL: all can */
    size_t asked;
};

/* node depends on culprit: the honest oracle of a fault that never hides. */
static bool depends(const struct odb_dag *dag, int node, int culprit)
{
    bool *reached = odb_new_n(bool, dag->n);
    reached[culprit] = true;
    for (int i = culprit + 1; i <= node; i++)
        for (size_t p = dag->start[i]; p < dag->start[i + 1]; p++)
            reached[i] = reached[i] || reached[dag->parents[p]];
    bool result = reached[node];
    free(reached);
    return result;
}

static enum odb_status oracle(void *payload, const struct odb_cut *cut,
                              struct odb_evidence *evidence, struct odb_error *err)
{
    struct world *w = payload;
    w->asked++;
    for (size_t i = 0; i < cut->n; i++)
        evidence[i].answer = w->mute && w->mute[cut->nodes[i]]             ? ODB_ANSWER_UNTESTABLE
                             : depends(&w->dag, cut->nodes[i], w->culprit) ? ODB_ANSWER_BAD
                                                                           : ODB_ANSWER_GOOD;
    return ODB_OK;
}

/* Every node but the first gets one to three parents among the last `reach` before it. */
static struct world world_new(size_t n, size_t reach, uint64_t seed)
{
    struct world w = {.start = odb_new_n(size_t, n + 1), .parents = odb_new_n(int, 3 * n)};
    size_t edges = 0;
    for (size_t i = 0; i < n; i++) {
        w.start[i] = edges;
        size_t count = i ? 1 + odb_mix64(seed + i) % 3 : 0;
        for (size_t p = 0; p < count; p++) {
            size_t back = 1 + odb_mix64(seed * 7 + i * 3 + p) % ODB_MIN(i, reach);
            w.parents[edges++] = (int)(i - back);
        }
    }
    w.start[n] = edges;
    w.dag = (struct odb_dag){n, w.start, w.parents};
    return w;
}

static void world_free(struct world *w)
{
    free(w->start);
    free(w->parents);
}

/* Suspects: the ancestors of sink, sink included. */
static bool *ancestors(const struct odb_dag *dag, int sink)
{
    bool *marks = odb_new_n(bool, dag->n);
    marks[sink] = true;
    for (int i = sink; i >= 0; i--)
        for (size_t p = dag->start[i]; marks[i] && p < dag->start[i + 1]; p++)
            marks[dag->parents[p]] = true;
    return marks;
}

static size_t count(const bool *marks, size_t n)
{
    size_t c = 0;
    for (size_t i = 0; i < n; i++)
        c += marks[i];
    return c;
}

static void test_search__finds_every_culprit_of_random_graphs(void **state)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        size_t n = 2 + odb_mix64(seed) % 60;
        struct world w = world_new(n, 1 + odb_mix64(seed + 1000) % 12, seed);
        int sink = (int)n - 1;
        bool *up = ancestors(&w.dag, sink);
        for (int c = 0; c < (int)n; c++) {
            struct odb_error err = ODB_ERROR_INIT;
            struct odb_search_result result;
            if (!up[c])
                continue;
            bool *suspects = odb_xmemdup(up, n * sizeof *up);
            w.culprit = c;
            assert_int_equal(odb_search(&w.dag, suspects,
                                        &(struct odb_oracle){oracle, NULL, NULL, NULL, &w}, NULL,
                                        &result, &err),
                             ODB_OK);
            assert_int_equal(count(suspects, n), 1);
            assert_true(suspects[c]);
            free(suspects);
        }
        free(up);
        world_free(&w);
    }
}

static void test_search__chain_takes_log2_probes(void **state)
{
    for (size_t n = 1000; n <= 20000; n *= 20) {
        struct world w = world_new(n, 1, 5);
        for (int i = 0; i < 20; i++) {
            struct odb_error err = ODB_ERROR_INIT;
            struct odb_search_result result;
            bool *suspects = ancestors(&w.dag, (int)n - 1);
            w.culprit = (int)(odb_mix64(99 + (uint64_t)i) % n);
            assert_int_equal(odb_search(&w.dag, suspects,
                                        &(struct odb_oracle){oracle, NULL, NULL, NULL, &w}, NULL,
                                        &result, &err),
                             ODB_OK);
            assert_true(suspects[w.culprit]);
            assert_int_equal(count(suspects, n), 1);
            assert_true(result.loads <= (size_t)ceil(log2((double)n)) + 3);
            free(suspects);
        }
        world_free(&w);
    }
}

static void test_search__untestable_nodes_leave_a_region_that_holds_the_culprit(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        size_t n = 40;
        struct world w = world_new(n, 6, seed);
        bool *mute = odb_new_n(bool, n);
        bool *suspects = ancestors(&w.dag, (int)n - 1);
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_search_result result;
        for (size_t i = 0; i < n; i++)
            mute[i] = odb_mix64(seed * 31 + i) % 3 == 0;
        do
            w.culprit = (int)(odb_mix64(seed++) % n);
        while (!suspects[w.culprit]);
        w.mute = mute;
        assert_int_equal(odb_search(&w.dag, suspects,
                                    &(struct odb_oracle){oracle, NULL, NULL, NULL, &w}, NULL,
                                    &result, &err),
                         ODB_OK);
        assert_true(suspects[w.culprit]);
        for (size_t i = 0; i + 1 < n; i++) /* a testable suspect would have been asked and settled:
                                              what is left beside it must be untestable */
            if (suspects[i] && !mute[i] && (int)i != w.culprit)
                assert_true(depends(&w.dag, (int)i, w.culprit));
        free(suspects);
        free(mute);
        world_free(&w);
    }
}

static enum odb_status clears_the_last(void *payload, const struct odb_cut *cut,
                                       struct odb_evidence *evidence, struct odb_error *err)
{
    const struct odb_dag *dag = payload;
    for (size_t i = 0; i < cut->n; i++)
        evidence[i].answer =
            cut->nodes[i] + 1 == (int)dag->n ? ODB_ANSWER_GOOD : ODB_ANSWER_UNTESTABLE;
    return ODB_OK;
}

/* A target that refuses every cut but the whole, and then passes: nobody is cleared by it. */
static void test_search__contradiction_clears_nobody(void **state)
{
    struct world w = world_new(5000, 1, 1);
    bool *suspects = ancestors(&w.dag, 4999);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_search_result result;
    assert_int_equal(odb_search(&w.dag, suspects,
                                &(struct odb_oracle){clears_the_last, NULL, NULL, NULL, &w.dag},
                                NULL, &result, &err),
                     ODB_OK);
    assert_int_equal(count(suspects, 5000), 5000);
    free(suspects);
    world_free(&w);
}

static enum odb_status stops(void *payload, const struct odb_cut *cut,
                             struct odb_evidence *evidence, struct odb_error *err)
{
    return odb_fail(err, ODB_CANCELLED, "cancelled");
}

static void test_search__oracle_status_ends_it(void **state)
{
    struct world w = world_new(10, 1, 1);
    bool *suspects = ancestors(&w.dag, 9);
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_search_result result;
    assert_int_equal(odb_search(&w.dag, suspects,
                                &(struct odb_oracle){stops, NULL, NULL, NULL, NULL}, NULL, &result,
                                &err),
                     ODB_CANCELLED);
    assert_int_equal(result.loads, 0);
    free(suspects);
    world_free(&w);
}

static enum odb_status passes(void *payload, const struct odb_cut *cut,
                              struct odb_evidence *evidence, struct odb_error *err)
{
    for (size_t i = 0; i < cut->n; i++)
        evidence[i].answer = ODB_ANSWER_GOOD;
    return ODB_OK;
}

/* Whoever is left by elimination is asked as well, where answers are of a cut as a whole: nothing
 * but the whole need fail. */
static void test_search__the_last_one_left_is_asked(void **state)
{
    struct world w = world_new(20, 1, 1);
    struct odb_search_options joint = {.joint = true};
    for (w.culprit = 18; w.culprit <= 20; w.culprit++) { /* 20: nobody, though the whole fails */
        bool *suspects = ancestors(&w.dag, 19);
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_search_result result;
        bool some = w.culprit < 20;
        assert_int_equal(
            odb_search(&w.dag, suspects,
                       &(struct odb_oracle){some ? oracle : passes, NULL, NULL, NULL, &w}, &joint,
                       &result, &err),
            ODB_OK);
        assert_int_equal(count(suspects, 20), 1);
        assert_int_equal(result.confirmed, some);
        assert_int_equal(result.acquitted, !some);
        free(suspects);
    }
    world_free(&w);
}

/* Answers so many questions at once, all in the same time: a round. */
struct crowd {
    struct world *w;
    size_t workers, busy, rounds, n_asked;
    struct crowd_cut {
        size_t n, hash;
        bool done;
    } begun[512];
    size_t n_begun;
    size_t asked[64]; /* hashes */
};

static size_t crowd_hash(const struct odb_cut *cut)
{
    uint64_t hash = cut->n;
    for (size_t i = 0; i < cut->n; i++)
        hash = odb_mix64(hash ^ (uint64_t)cut->nodes[i]);
    return hash;
}

static struct crowd_cut *crowd_find(struct crowd *c, const struct odb_cut *cut)
{
    for (size_t i = 0; i < c->n_begun; i++)
        if (c->begun[i].hash == crowd_hash(cut))
            return &c->begun[i];
    return NULL;
}

static bool crowd_ahead(void *payload, const struct odb_cut *cut)
{
    struct crowd *c = payload;
    if (crowd_find(c, cut))
        return true;
    if (c->busy == c->workers)
        return false;
    assert_true(c->n_begun < 512);
    c->begun[c->n_begun++] = (struct crowd_cut){cut->n, crowd_hash(cut), false};
    c->busy++;
    return true;
}

static bool crowd_at_hand(void *payload, const struct odb_cut *cut)
{
    const struct crowd_cut *found = crowd_find(payload, cut);
    return found && found->done;
}

static enum odb_status crowd_ask(void *payload, const struct odb_cut *cut,
                                 struct odb_evidence *evidence, struct odb_error *err)
{
    struct crowd *c = payload;
    struct crowd_cut *found = crowd_find(c, cut);
    assert_non_null(found);
    if (!found->done) {
        for (size_t i = 0; i < c->n_begun; i++)
            c->begun[i].done = true;
        c->busy = 0;
        c->rounds++;
    }
    c->asked[c->n_asked++] = crowd_hash(cut);
    return oracle(c->w, cut, evidence, err);
}

/* Whoever works ahead is asked the same, in the same order; k answers at once are log2(k + 1)
 * levels of the tree. */
static void test_search__working_ahead_changes_only_the_time(void **state)
{
    static const size_t workers[] = {1, 2, 3, 7, 8, 15};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        size_t n = 300, reach = seed % 3 ? 1 + seed % 7 : 1;
        struct world w = world_new(n, reach, seed);
        struct crowd first = {0};
        bool *up = ancestors(&w.dag, (int)n - 1);
        do
            w.culprit = (int)(odb_mix64(seed + w.asked++) % n);
        while (!up[w.culprit]);
        for (size_t k = 0; k < sizeof workers / sizeof *workers; k++) {
            struct odb_error err = ODB_ERROR_INIT;
            struct crowd c = {&w, workers[k]};
            struct odb_oracle many = {crowd_ask, crowd_ahead, crowd_at_hand, NULL, &c};
            bool *suspects = odb_xmemdup(up, n * sizeof *up);
            struct odb_search_result result;
            assert_int_equal(odb_search(&w.dag, suspects, &many, NULL, &result, &err), ODB_OK);
            assert_true(suspects[w.culprit]);
            first = k == 0 ? c : first;
            assert_int_equal(c.n_asked, first.n_asked);
            assert_memory_equal(c.asked, first.asked, c.n_asked * sizeof *c.asked);
            size_t levels = (size_t)floor(log2((double)workers[k] + 1));
            assert_true(c.rounds <= (result.loads + levels - 1) / levels + 1);
            free(suspects);
        }
        free(up);
        world_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search__finds_every_culprit_of_random_graphs),
        cmocka_unit_test(test_search__chain_takes_log2_probes),
        cmocka_unit_test(test_search__untestable_nodes_leave_a_region_that_holds_the_culprit),
        cmocka_unit_test(test_search__contradiction_clears_nobody),
        cmocka_unit_test(test_search__working_ahead_changes_only_the_time),
        cmocka_unit_test(test_search__the_last_one_left_is_asked),
        cmocka_unit_test(test_search__oracle_status_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
