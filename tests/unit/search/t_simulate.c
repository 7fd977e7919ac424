/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search core on thousands of made-up graphs with planted faults: errors that grow, are masked
 * and come back, nodes that cannot be tested, answers that change, several culprits. What it says
 * is held against what everybody's answer, all asked, would say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "search/search.h"
#include "tensor/random.h"

/* --- graphs ----------------------------------------------------------------------------------- */

struct graph {
    struct odb_dag dag;
    size_t *start; /* owned */
    int *parents;  /* owned */
    size_t n, edges, room;
};

static int graph_node(struct graph *g)
{
    g->start[g->n++] = g->edges;
    g->start[g->n] = g->edges;
    return (int)g->n - 1;
}

/* To the node made last. */
static void graph_edge(struct graph *g, int parent)
{
    if (g->edges == g->room)
        g->parents = odb_xrealloc(g->parents, g->room = 2 * g->room + 16, sizeof *g->parents);
    g->parents[g->edges++] = parent;
    g->start[g->n] = g->edges;
}

static int graph_on(struct graph *g, int a, int b)
{
    int node = graph_node(g);
    if (a >= 0)
        graph_edge(g, a);
    if (b >= 0 && b != a)
        graph_edge(g, b);
    return node;
}

static uint64_t dice(uint64_t *seed)
{
    return *seed = odb_mix64(*seed + 0x9e3779b97f4a7c15u);
}

static void make_chain(struct graph *g, size_t n, uint64_t *seed)
{
    while (g->n < n)
        graph_on(g, (int)g->n - 1, -1);
}

static void make_random(struct graph *g, size_t n, uint64_t *seed)
{
    size_t reach = 1 + dice(seed) % 40;
    graph_node(g);
    while (g->n < n) {
        size_t at = g->n;
        graph_node(g);
        for (size_t k = 1 + dice(seed) % 3; k > 0; k--)
            graph_edge(g, (int)(at - 1 - dice(seed) % ODB_MIN(at, reach)));
    }
}

/* Lanes that mix; all of them end in the last node. */
static void make_wide(struct graph *g, size_t n, uint64_t *seed)
{
    size_t lanes = 2 + dice(seed) % 30;
    for (size_t i = 0; i + 1 < n; i++)
        graph_on(g, (int)i - (int)lanes,
                 i >= lanes && dice(seed) % 3 == 0
                     ? (int)(i - i % lanes - lanes + dice(seed) % lanes)
                     : -1);
    size_t end = g->n;
    graph_node(g);
    for (size_t i = end > lanes ? end - lanes : 0; i < end; i++)
        graph_edge(g, (int)i);
}

/* A chain with skips over a few nodes, which meet in an addition. */
static void make_skips(struct graph *g, size_t n, uint64_t *seed)
{
    int at = graph_node(g);
    while (g->n < n) {
        int from = at;
        for (size_t k = 1 + dice(seed) % 6; k > 0 && g->n < n; k--)
            at = graph_on(g, at, -1);
        if (g->n < n)
            at = graph_on(g, at, from);
    }
}

/* Wide blocks of chains between single nodes. */
static void make_bottlenecks(struct graph *g, size_t n, uint64_t *seed)
{
    int at = graph_node(g);
    while (g->n < n) {
        size_t branches = 1 + dice(seed) % 8;
        int ends[8];
        for (size_t b = 0; b < branches; b++) {
            ends[b] = at;
            for (size_t k = 1 + dice(seed) % 5; k > 0; k--)
                ends[b] = graph_on(g, ends[b], -1);
        }
        at = graph_node(g);
        for (size_t b = 0; b < branches; b++)
            graph_edge(g, ends[b]);
    }
}

static int make_part(struct graph *g, int from, size_t n, uint64_t *seed)
{
    if (n <= 1)
        return graph_on(g, from, -1);
    size_t left = 1 + dice(seed) % (n - 1);
    if (dice(seed) % 2)
        return make_part(g, make_part(g, from, left, seed), n - left, seed);
    int a = make_part(g, from, left, seed), b = make_part(g, from, n - left, seed);
    return graph_on(g, a, b);
}

static void make_series_parallel(struct graph *g, size_t n, uint64_t *seed)
{
    make_part(g, graph_node(g), n * 2 / 3, seed);
}

static void make_transformer(struct graph *g, size_t n, uint64_t *seed)
{
    int x = graph_node(g);
    while (g->n + 12 < n) {
        int norm = graph_on(g, x, -1);
        int q = graph_on(g, norm, -1), k = graph_on(g, norm, -1), v = graph_on(g, norm, -1);
        int soft = graph_on(g, graph_on(g, q, k), -1);
        int sum = graph_on(g, graph_on(g, graph_on(g, soft, v), -1), x);
        int up = graph_on(g, graph_on(g, sum, -1), -1);
        x = graph_on(g, graph_on(g, up, -1), sum);
    }
}

/* Leaves that meet two by two. */
static void make_join_tree(struct graph *g, size_t n, uint64_t *seed)
{
    size_t leaves = n / 2 + 1;
    for (size_t i = 0; i < leaves; i++)
        graph_node(g);
    for (int i = 0; (size_t)i + 1 < g->n && g->n < 2 * leaves - 1; i += 2)
        graph_on(g, i, i + 1);
}

/* One root, two children each, all leaves in one last node. */
static void make_fork_tree(struct graph *g, size_t n, uint64_t *seed)
{
    graph_node(g);
    while (g->n + 1 < n)
        graph_on(g, ((int)g->n - 1) / 2, -1);
    int inner = ((int)g->n - 1) / 2, end = (int)g->n;
    graph_node(g);
    for (int i = inner; i < end; i++)
        graph_edge(g, i);
}

/* Nothing but leaves, and who reads them all. */
static void make_star(struct graph *g, size_t n, uint64_t *seed)
{
    while (g->n + 1 < n)
        graph_node(g);
    graph_node(g);
    for (int i = 0; (size_t)i + 1 < g->n; i++)
        graph_edge(g, i);
}

static const struct family {
    const char *name;
    void (*make)(struct graph *g, size_t n, uint64_t *seed);
} families[] = {
    {"chain", make_chain},
    {"random", make_random},
    {"wide", make_wide},
    {"skips", make_skips},
    {"bottlenecks", make_bottlenecks},
    {"series-parallel", make_series_parallel},
    {"transformer", make_transformer},
    {"join tree", make_join_tree},
    {"fork tree", make_fork_tree},
    {"star", make_star},
};

static struct graph graph_new(const struct family *family, size_t n, uint64_t seed)
{
    struct graph g = {.start = odb_new_n(size_t, 4 * n + 100)};
    seed = odb_mix64(seed);
    family->make(&g, n, &seed);
    g.dag = (struct odb_dag){g.n, g.start, g.parents};
    return g;
}

static void graph_free(struct graph *g)
{
    free(g->start);
    free(g->parents);
}

/* Marks the ancestors of a node, and it. */
static void before(const struct odb_dag *dag, int node, bool *marks)
{
    memset(marks, 0, dag->n * sizeof *marks);
    marks[node] = true;
    for (int i = node; i >= 0; i--)
        for (size_t p = dag->start[i]; marks[i] && p < dag->start[i + 1]; p++)
            marks[dag->parents[p]] = true;
}

static size_t count(const bool *marks, size_t n)
{
    size_t c = 0;
    for (size_t i = 0; i < n; i++)
        c += marks[i];
    return c;
}

static int only(const bool *marks, size_t n)
{
    int found = -1;
    for (size_t i = 0; i < n; i++)
        if (marks[i]) {
            assert_int_equal(found, -1);
            found = (int)i;
        }
    return found;
}

/* --- worlds ----------------------------------------------------------------------------------- */

/* A graph whose nodes are wrong by so much, over what is tolerated, and hand errors on. */
struct world {
    struct graph g;
    int sink;
    double *own, *gain, *error; /* owned; [n] its own error; what it makes of its inputs'; all */
    bool *pinned, *mute;        /* owned; [n] */
    bool *up;                   /* owned; [n] the sink's ancestors */
    const double *build;        /* of what a load costs; NULL: nobody counts */
    double cost;
    double flips; /* how often an answer is the other one */
    uint64_t seed;
    size_t loads, widest;
};

static void world_settle(struct world *w)
{
    for (size_t i = 0; i < w->g.n; i++) {
        double worst = 0;
        for (size_t p = w->g.start[i]; p < w->g.start[i + 1]; p++)
            worst = fmax(worst, w->error[w->g.parents[p]]);
        w->error[i] = w->pinned[i] ? 0 : fmin(worst * w->gain[i] + w->own[i], 1e6);
    }
}

static struct world world_new(const struct family *family, size_t n, uint64_t seed)
{
    struct world w = {.g = graph_new(family, n, seed), .seed = odb_mix64(seed * 31 + 7)};
    n = w.g.n;
    w.sink = (int)n - 1;
    w.own = odb_new_n(double, n);
    w.gain = odb_new_n(double, n);
    w.error = odb_new_n(double, n);
    w.pinned = odb_new_n(bool, n);
    w.mute = odb_new_n(bool, n);
    w.up = odb_new_n(bool, n);
    for (size_t i = 0; i < n; i++)
        w.gain[i] = 1;
    before(&w.g.dag, w.sink, w.up);
    return w;
}

static void world_free(struct world *w)
{
    graph_free(&w->g);
    free(w->own);
    free(w->gain);
    free(w->error);
    free(w->pinned);
    free(w->mute);
    free(w->up);
}

/* A node that the sink depends on. */
static int world_pick(struct world *w)
{
    int node;
    do
        node = (int)(dice(&w->seed) % w->g.n);
    while (!w->up[node]);
    return node;
}

static enum odb_status world_ask(void *payload, const struct odb_cut *cut,
                                 struct odb_evidence *evidence, struct odb_error *err)
{
    struct world *w = payload;
    w->loads++;
    w->widest = ODB_MAX(w->widest, cut->n);
    for (size_t i = 0; i < cut->n; i++) {
        int node = cut->nodes[i];
        bool bad = w->error[node] > 1;
        if (w->flips > 0 && (double)(dice(&w->seed) % 1000000) < w->flips * 1e6)
            bad = !bad;
        assert_true(i == 0 || cut->nodes[i - 1] < node);
        evidence[i].answer = w->mute[node] ? ODB_ANSWER_UNTESTABLE
                             : bad         ? ODB_ANSWER_BAD
                                           : ODB_ANSWER_GOOD;
        evidence[i].error = w->error[node];
    }
    if (w->build) {
        bool *marks = odb_new_n(bool, w->g.n), *all = odb_new_n(bool, w->g.n);
        for (size_t i = 0; i < cut->n; i++) {
            before(&w->g.dag, cut->nodes[i], marks);
            for (size_t k = 0; k < w->g.n; k++)
                all[k] = all[k] || marks[k];
        }
        w->cost += 1;
        for (size_t k = 0; k < w->g.n; k++)
            w->cost += all[k] ? w->build[k] : 0;
        free(marks);
        free(all);
    }
    return ODB_OK;
}

/* It runs, or it does not: one answer for all of the cut. */
static enum odb_status world_run(void *payload, const struct odb_cut *cut,
                                 struct odb_evidence *evidence, struct odb_error *err)
{
    enum odb_answer all = ODB_ANSWER_GOOD;
    enum odb_status status = world_ask(payload, cut, evidence, err);
    for (size_t i = 0; i < cut->n; i++)
        all = evidence[i].answer == ODB_ANSWER_BAD ? ODB_ANSWER_BAD : all;
    for (size_t i = 0; i < cut->n; i++)
        evidence[i].answer = i == 0 ? all : ODB_ANSWER_UNTESTABLE;
    return status;
}

/* Alone, on its own inputs. */
static enum odb_status world_confirm(void *payload, int node, enum odb_answer *answer,
                                     struct odb_error *err)
{
    const struct world *w = payload;
    *answer = w->own[node] > 1 ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
    return ODB_OK;
}

static struct odb_search_result world_search(struct world *w, bool *suspects,
                                             const struct odb_search_options *options)
{
    struct odb_search_result result;
    struct odb_error err = ODB_ERROR_INIT;
    bool joint = options && options->joint;
    struct odb_oracle oracle = {.ask = joint ? world_run : world_ask,
                                .confirm = joint ? NULL : world_confirm,
                                .payload = w};
    memcpy(suspects, w->up, w->g.n * sizeof *suspects);
    w->loads = 0;
    assert_int_equal(odb_search(&w->g.dag, suspects, &oracle, options, &result, &err), ODB_OK);
    assert_int_equal(result.loads, w->loads);
    return result;
}

static size_t promise(size_t n)
{
    return (size_t)ceil(log2((double)ODB_MAX(n, (size_t)1))) + 3;
}

/* --- one culprit ------------------------------------------------------------------------------ */

/* Every shape, every size: named, in as few loads as promised. */
static void test_simulate__one_culprit_is_named_within_the_promise(void **state)
{
    static const size_t sizes[] = {2, 3, 5, 9, 17, 40, 63, 120, 1000};
    for (size_t f = 0; f < ODB_COUNT(families); f++) {
        size_t searches = 0, loads = 0, widest = 0;
        int most = -100;
        for (size_t z = 0; z < ODB_COUNT(sizes); z++)
            for (uint64_t seed = 0; seed < (sizes[z] < 1000 ? 40 : 4); seed++) {
                struct world w = world_new(&families[f], sizes[z], seed * 100 + z);
                bool *suspects = odb_new_n(bool, w.g.n);
                size_t n = count(w.up, w.g.n);
                for (int k = 0; k < 5; k++) {
                    int culprit = world_pick(&w);
                    w.own[culprit] = 5;
                    world_settle(&w);
                    struct odb_search_result r = world_search(&w, suspects, NULL);
                    if (only(suspects, w.g.n) != culprit)
                        fail_msg("%s of %zu, seed %d: another than %d", families[f].name, w.g.n,
                                 (int)seed, culprit);
                    if (r.loads > promise(n))
                        fail_msg("%s: %zu loads for %zu nodes", families[f].name, r.loads, n);
                    assert_false(r.dips || r.flaky || r.acquitted);
                    assert_true(r.confirmed && r.confidence == 1);
                    most = ODB_MAX(most, (int)r.loads - (int)promise(n) + 3);
                    loads += r.loads;
                    searches++;
                    w.own[culprit] = 0;
                }
                widest = ODB_MAX(widest, w.widest);
                free(suspects);
                world_free(&w);
            }
        print_message("%-16s %5zu searches, %5.2f loads each, at most ceil(log2 N)%+d, cuts of up "
                      "to %zu nodes\n",
                      families[f].name, searches, (double)loads / (double)searches, most, widest);
    }
}

static void test_simulate__crashes_and_suffixes_likewise(void **state)
{
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct world w = world_new(&families[f], 3 + seed * 5, seed);
            struct odb_search_options joint = {.joint = true};
            bool *suspects = odb_new_n(bool, w.g.n);
            int culprit = world_pick(&w);
            w.own[culprit] = 5;
            world_settle(&w);
            struct odb_search_result r = world_search(&w, suspects, &joint);
            assert_int_equal(only(suspects, w.g.n), culprit);
            assert_true(r.loads <= promise(count(w.up, w.g.n)));
            /* The graph turned round, where the sink's own is the first. */
            struct world t = w;
            t.g.dag = odb_dag_reverse(&w.g.dag);
            t.g.start = (size_t *)t.g.dag.start;
            t.g.parents = (int *)t.g.dag.parents;
            t.up = odb_new_n(bool, w.g.n);
            t.own = odb_new_n(double, w.g.n);
            t.error = odb_new_n(double, w.g.n);
            for (size_t i = 0; i < w.g.n; i++)
                t.up[i] = w.up[w.g.n - 1 - i];
            t.own[w.g.n - 1 - (size_t)culprit] = 5;
            world_settle(&t);
            r = world_search(&t, suspects, &joint);
            assert_int_equal(only(suspects, w.g.n), (int)w.g.n - 1 - culprit);
            assert_true(r.loads <= promise(count(w.up, w.g.n)));
            odb_dag_dispose(&t.g.dag);
            free(t.up);
            free(t.own);
            free(t.error);
            free(suspects);
            world_free(&w);
        }
}

static void test_simulate__a_hundred_thousand_nodes(void **state)
{
    for (size_t f = 0; f < ODB_COUNT(families); f++) {
        struct world w = world_new(&families[f], 100000, 3);
        bool *suspects = odb_new_n(bool, w.g.n);
        int culprit = world_pick(&w);
        double start = odb_clock();
        w.own[culprit] = 5;
        world_settle(&w);
        struct odb_search_result r = world_search(&w, suspects, NULL);
        assert_int_equal(only(suspects, w.g.n), culprit);
        assert_true(r.loads <= promise(count(w.up, w.g.n)));
        print_message("%-16s %6zu nodes: %2zu loads, %.2f s\n", families[f].name, w.g.n, r.loads,
                      odb_clock() - start);
        free(suspects);
        world_free(&w);
    }
}

/* --- nodes that cannot be tested -------------------------------------------------------------- */

/* What everybody's answer says: for a bad node, its ancestors but for those of good ones. */
static bool region_of(const struct world *w, int bad, const bool *suspects)
{
    bool *marks = odb_new_n(bool, w->g.n), *left = odb_new_n(bool, w->g.n);
    before(&w->g.dag, bad, left);
    for (size_t i = 0; i < w->g.n; i++) {
        if (w->mute[i] || w->error[i] > 1)
            continue;
        before(&w->g.dag, (int)i, marks);
        for (size_t k = 0; k < w->g.n; k++)
            left[k] = left[k] && !marks[k];
    }
    bool same = memcmp(left, suspects, w->g.n * sizeof *left) == 0;
    free(left);
    free(marks);
    return same;
}

static void test_simulate__untestable_nodes_leave_the_smallest_region(void **state)
{
    size_t named = 0, regions = 0;
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 150; seed++) {
            struct world w = world_new(&families[f], 4 + seed % 40, seed);
            bool *suspects = odb_new_n(bool, w.g.n), right = false;
            int culprit = world_pick(&w);
            for (size_t i = 0; i + 1 < w.g.n; i++)
                w.mute[i] = dice(&w.seed) % 3 == 0;
            w.own[culprit] = 5;
            world_settle(&w);
            world_search(&w, suspects, NULL);
            assert_true(suspects[culprit]);
            for (size_t i = 0; i < w.g.n && !right; i++)
                right = !w.mute[i] && w.error[i] > 1 && region_of(&w, (int)i, suspects);
            if (!right)
                fail_msg("%s, seed %d: not the smallest region", families[f].name, (int)seed);
            named += count(suspects, w.g.n) == 1;
            regions += count(suspects, w.g.n) > 1;
            free(suspects);
            world_free(&w);
        }
    print_message("%zu named, %zu regions\n", named, regions);
    assert_true(named > 100 && regions > 100);
}

/* A load of several that is refused says nothing of each: they are asked apart. */
static enum odb_status one_at_a_time(void *payload, const struct odb_cut *cut,
                                     struct odb_evidence *evidence, struct odb_error *err)
{
    struct world *w = payload;
    if (cut->n == 1)
        return world_ask(w, cut, evidence, err);
    w->loads++;
    return ODB_OK;
}

static void test_simulate__several_at_once_are_refused(void **state)
{
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 30; seed++) {
            struct world w = world_new(&families[f], 4 + seed * 2, seed);
            bool *suspects = odb_xmemdup(w.up, w.g.n * sizeof *w.up);
            struct odb_oracle oracle = {.ask = one_at_a_time, .payload = &w};
            struct odb_search_result result;
            struct odb_error err = ODB_ERROR_INIT;
            int culprit = world_pick(&w);
            w.own[culprit] = 5;
            world_settle(&w);
            assert_int_equal(odb_search(&w.g.dag, suspects, &oracle, NULL, &result, &err), ODB_OK);
            assert_int_equal(only(suspects, w.g.n), culprit);
            free(suspects);
            world_free(&w);
        }
}

/* --- errors that are masked and come back ------------------------------------------------------
 */

/* Some nodes hide nearly all of an error, some bring it back. */
static void world_mask(struct world *w)
{
    for (size_t i = 0; i < w->g.n; i++) {
        uint64_t die = dice(&w->seed) % 8;
        w->gain[i] = die == 0 ? 0.02 : die == 1 ? 60 : 1;
    }
}

/* What leads to a wrong value whose maker is right alone, in the graph turned round. */
struct lead {
    struct world *w;
    struct odb_dag dag; /* turned */
    int node;
    size_t loads;
};

/* Wrong still, where only what depends on the cut may be? All the rest is fed with what is right.
 */
static enum odb_status lead_ask(void *payload, const struct odb_cut *cut,
                                struct odb_evidence *evidence, struct odb_error *err)
{
    struct lead *l = payload;
    const struct world *w = l->w;
    size_t n = w->g.n;
    bool *marks = odb_new_n(bool, n);
    double *error = odb_new_n(double, n);
    for (size_t i = 0; i < cut->n; i++)
        marks[cut->nodes[i]] = true;
    odb_dag_close(&l->dag, marks);
    for (size_t i = 0; i < n; i++) {
        double worst = 0;
        for (size_t p = w->g.start[i]; p < w->g.start[i + 1]; p++)
            worst = fmax(worst, error[w->g.parents[p]]);
        error[i] = marks[n - 1 - i] ? fmin(worst * w->gain[i] + w->own[i], 1e6) : 0;
    }
    evidence[0].answer = error[l->node] > 1 ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
    l->loads++;
    free(error);
    free(marks);
    return ODB_OK;
}

/* Who it is; -1: nobody. near: those close by are suspected most. */
static int world_lead(struct world *w, int node, bool near, size_t *loads)
{
    size_t n = w->g.n;
    struct lead l = {w, odb_dag_reverse(&w->g.dag), node, 0};
    struct odb_oracle oracle = {.ask = lead_ask, .payload = &l};
    double *closeness = odb_new_n(double, n);
    struct odb_search_options options = {
        .joint = true, .suspicion = near ? closeness : NULL, .spare = near};
    struct odb_search_result result;
    struct odb_error err = ODB_ERROR_INIT;
    bool *up = odb_new_n(bool, n), *suspects = odb_new_n(bool, n);
    before(&w->g.dag, node, up);
    for (size_t i = 0; i < n; i++) {
        suspects[n - 1 - i] = up[i] && (int)i != node;
        closeness[n - 1 - i] = 1 / fmax(node - (double)i, 1);
    }
    assert_int_equal(odb_search(&l.dag, suspects, &oracle, &options, &result, &err), ODB_OK);
    int found = result.confirmed ? (int)n - 1 - only(suspects, n) : -1;
    *loads = l.loads;
    odb_dag_dispose(&l.dag);
    free(suspects);
    free(up);
    free(closeness);
    return found;
}

/* Who is named where errors are masked may only bring one back: right alone, it is not believed,
 * and what leads to it is searched. */
static void test_simulate__masked_errors_never_name_an_innocent(void **state)
{
    size_t searches = 0, dips = 0, leads = 0, loads = 0, halving = 0, near = 0;
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct world w = world_new(&families[f], 5 + seed % 60, seed);
            bool *suspects = odb_new_n(bool, w.g.n);
            int culprit = world_pick(&w);
            world_mask(&w);
            w.own[culprit] = 5;
            world_settle(&w);
            if (w.error[w.sink] > 1) {
                struct odb_search_result r = world_search(&w, suspects, NULL);
                int named = only(suspects, w.g.n);
                assert_true(!r.flaky && w.error[named] > 1); /* what it makes is wrong, and all */
                for (size_t p = w.g.start[named]; p < w.g.start[named + 1]; p++)
                    assert_true(w.error[w.g.parents[p]] <= 1); /* that it is fed is right */
                searches++;
                dips += r.dips;
                loads += r.loads;
                assert_true(r.confirmed == (named == culprit) && r.acquitted != r.confirmed);
                if (r.acquitted) {
                    size_t some, fewer;
                    assert_int_equal(world_lead(&w, named, false, &some), culprit);
                    assert_int_equal(world_lead(&w, named, true, &fewer), culprit);
                    assert_true(some <= promise(w.g.n) && fewer <= promise(w.g.n));
                    leads++;
                    halving += some;
                    near += fewer;
                }
            }
            free(suspects);
            world_free(&w);
        }
    print_message("%zu searches, %.1f loads each, %zu with dips, %zu led on: %.1f loads, and %.1f "
                  "with those close by first\n",
                  searches, (double)loads / (double)searches, dips, leads,
                  (double)halving / (double)leads, (double)near / (double)leads);
    assert_true(dips > 20 && leads > 50 && near < halving + leads);
}

/* --- several culprits ------------------------------------------------------------------------- */

/* Whoever was found is fed the reference's value from now on: nothing leads from it any more. */
static void world_pin(struct world *w, int node)
{
    size_t edges = 0, from = 0;
    w->pinned[node] = true;
    for (size_t i = 0; i < w->g.n; i++) {
        size_t end = w->g.start[i + 1];
        for (size_t p = from; p < end; p++)
            if (w->g.parents[p] != node)
                w->g.parents[edges++] = w->g.parents[p];
        from = end;
        w->g.start[i + 1] = edges;
    }
    before(&w->g.dag, w->sink, w->up);
    world_settle(w);
}

static void test_simulate__several_culprits_one_after_the_other(void **state)
{
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct world w = world_new(&families[f], 8 + seed * 2, seed);
            bool *suspects = odb_new_n(bool, w.g.n);
            for (int k = 0; k < 2 + (int)(seed % 3); k++)
                w.own[world_pick(&w)] = 5;
            for (world_settle(&w); w.error[w.sink] > 1;) {
                world_search(&w, suspects, NULL);
                int named = only(suspects, w.g.n);
                assert_true(named >= 0 && w.own[named] > 1 && !w.pinned[named]);
                world_pin(&w, named);
            }
            for (size_t i = 0; i < w.g.n; i++)
                assert_true(w.own[i] == 0 || w.pinned[i] || !w.up[i]);
            free(suspects);
            world_free(&w);
        }
}

/* --- answers that change ---------------------------------------------------------------------- */

static void test_simulate__votes_settle_answers_that_change(void **state)
{
    static const double flips[] = {0.02, 0.1, 0.2};
    for (size_t k = 0; k < ODB_COUNT(flips); k++) {
        size_t searches = 0, wrong = 0, loads = 0;
        double doubt = 0;
        for (size_t f = 0; f < ODB_COUNT(families); f++)
            for (uint64_t seed = 0; seed < 60; seed++) {
                struct world w = world_new(&families[f], 10 + seed * 2, seed);
                struct odb_search_options options = {.flaky = true};
                bool *suspects = odb_new_n(bool, w.g.n);
                int culprit = world_pick(&w);
                w.own[culprit] = 5;
                w.flips = flips[k];
                world_settle(&w);
                struct odb_search_result r = world_search(&w, suspects, &options);
                wrong += count(suspects, w.g.n) == 1 && !suspects[culprit];
                doubt += 1 - r.confidence;
                loads += r.loads;
                searches++;
                free(suspects);
                world_free(&w);
            }
        print_message("%2.0f%% flips: %zu searches, %zu wrong, %.1f expected, %.1f loads each\n",
                      100 * flips[k], searches, wrong, doubt, (double)loads / (double)searches);
        assert_true((double)wrong <= 3 + 2 * doubt);
        assert_true(wrong * 20 <= searches);
    }
}

/* Nobody said that answers change: the one who is left wrongly is acquitted, a question that is put
 * again has another answer, and then everything is voted on. */
static void test_simulate__flips_are_found_out(void **state)
{
    size_t searches = 0, found_out = 0, right = 0;
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct world w = world_new(&families[f], 20 + seed * 2, seed);
            bool *suspects = odb_new_n(bool, w.g.n);
            int culprit = world_pick(&w);
            w.own[culprit] = 5;
            w.flips = 0.1;
            world_settle(&w);
            struct odb_search_result r = world_search(&w, suspects, NULL);
            bool named = count(suspects, w.g.n) == 1 && r.confirmed;
            assert_true(!named || suspects[culprit]);
            assert_true(r.flaky || r.confidence == 1);
            found_out += r.flaky;
            right += named;
            searches++;
            free(suspects);
            world_free(&w);
        }
    print_message("%zu searches, %zu found out, %zu named\n", searches, found_out, right);
    assert_true(found_out > searches / 10 && right * 20 >= searches * 17);
}

/* --- costs and suspicion ---------------------------------------------------------------------- */

/* A few nodes make nearly all of the cost of a load, as in models with a large embedding at their
 * end, or are nearly always to blame. */
static void test_simulate__costs_and_suspicion_pay(void **state)
{
    double plain = 0, weighed = 0;
    size_t all_alike = 0, suspected = 0;
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct world w = world_new(&families[f], 120, seed);
            double *build = odb_new_n(double, w.g.n), *suspicion = odb_new_n(double, w.g.n);
            bool *suspects = odb_new_n(bool, w.g.n);
            for (size_t i = 0; i < w.g.n; i++) {
                build[i] = dice(&w.seed) % 16 == 0 ? 1 : 0.001;
                suspicion[i] = dice(&w.seed) % 16 == 0 ? 50 : 1;
            }
            int culprit = world_pick(&w);
            w.own[culprit] = 5;
            w.build = build;
            world_settle(&w);
            w.cost = 0;
            world_search(&w, suspects, NULL);
            plain += w.cost;
            w.cost = 0;
            struct odb_search_result r =
                world_search(&w, suspects, &(struct odb_search_options){.build = build, .load = 1});
            assert_int_equal(only(suspects, w.g.n), culprit);
            assert_true(r.loads <= promise(count(w.up, w.g.n)));
            weighed += w.cost;
            w.own[culprit] = 0;
            do
                culprit = world_pick(&w);
            while (suspicion[culprit] < 50 && dice(&w.seed) % 16);
            w.own[culprit] = 5;
            world_settle(&w);
            all_alike += world_search(&w, suspects, NULL).loads;
            r = world_search(&w, suspects, &(struct odb_search_options){.suspicion = suspicion});
            assert_int_equal(only(suspects, w.g.n), culprit);
            assert_true(r.loads <= promise(count(w.up, w.g.n)));
            suspected += r.loads;
            free(suspicion);
            free(suspects);
            free(build);
            world_free(&w);
        }
    print_message("cost %.0f, weighed %.0f; %zu loads, with suspicion %zu\n", plain, weighed,
                  all_alike, suspected);
    assert_true(weighed < 0.95 * plain);
    assert_true(suspected < all_alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulate__one_culprit_is_named_within_the_promise),
        cmocka_unit_test(test_simulate__crashes_and_suffixes_likewise),
        cmocka_unit_test(test_simulate__a_hundred_thousand_nodes),
        cmocka_unit_test(test_simulate__untestable_nodes_leave_the_smallest_region),
        cmocka_unit_test(test_simulate__several_at_once_are_refused),
        cmocka_unit_test(test_simulate__masked_errors_never_name_an_innocent),
        cmocka_unit_test(test_simulate__several_culprits_one_after_the_other),
        cmocka_unit_test(test_simulate__votes_settle_answers_that_change),
        cmocka_unit_test(test_simulate__flips_are_found_out),
        cmocka_unit_test(test_simulate__costs_and_suspicion_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
