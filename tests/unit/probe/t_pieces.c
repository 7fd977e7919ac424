/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models that the target may not hold at once: in pieces they give what they give whole.
 */
#include "run/memory_budget.h"

#include "bisect/plan/bisect.h"
#include "probe/probe.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

enum {
    N = 32,                  /* rows and columns of a weight */
    WEIGHT = N * N * 4,      /* its bytes */
    MEMORY = 8 * 2 * WEIGHT, /* memory_budget.c: two weights at once */
    LAYERS = 12
};

static void pieces_weight(struct odb_builder *b, const char *name, int seed)
{
    float values[N * N];
    for (int i = 0; i < N * N; i++)
        values[i] = (float)((i * 37 + seed * 101) % 61 - 30) / 150;
    struct odb_tensor *w = models_f32(2, (int64_t[]){N, N}, values);
    odb_build_weight(b, name, w);
    odb_tensor_unref(w);
}

/* An If that reads what an early layer made, and has a weight of its own in a branch. */
static void pieces_if(struct odb_builder *b)
{
    struct odb_builder *then = odb_build_new("then", 17), *otherwise = odb_build_new("else", 17);
    pieces_weight(then, "inside", 77);
    odb_build_node(then, "MatMul", "in_then", "early inside", "chosen");
    odb_build_output_typed(then, "chosen", ODB_F32, 2, (int64_t[]){2, N});
    odb_build_node(otherwise, "Neg", "in_else", "early", "other");
    odb_build_output_typed(otherwise, "other", ODB_F32, 2, (int64_t[]){2, N});
    odb_build_node(b, "ReduceSum", "sum", "early", "total");
    odb_build_attr_int(b, "keepdims", 0);
    odb_build_node(b, "Greater", "which", "total zero", "positive");
    odb_build_node(b, "If", "decide", "positive", "decided");
    odb_build_attr_graph(b, "then_branch", then);
    odb_build_attr_graph(b, "else_branch", otherwise);
}

/* LAYERS of x = Tanh(x W) + x with a weight each, but two that share one; an early output; a value
 * of the first layers that the last one reads, and a body in the middle. */
static struct odb_builder *pieces_model(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    const float zero = 0;
    struct odb_tensor *none = models_f32(0, NULL, &zero);
    odb_build_weight(b, "zero", none);
    odb_tensor_unref(none);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){2, N});
    for (int i = 0; i < LAYERS; i++) {
        char weight[16], in[64], product[16], act[16], out[16], name[16];
        snprintf(weight, sizeof weight, "w%d", i == 9 ? 2 : i);
        snprintf(product, sizeof product, "p%d", i);
        snprintf(act, sizeof act, "a%d", i);
        snprintf(out, sizeof out, "%s", i == 1 ? "early" : "");
        if (i != 1)
            snprintf(out, sizeof out, i == LAYERS - 1 ? "y" : "v%d", i);
        const char *x = i == 0 ? "x" : i == 2 ? "early" : NULL;
        char before[16];
        snprintf(before, sizeof before, "v%d", i - 1);
        if (i != 9)
            pieces_weight(b, weight, i);
        snprintf(in, sizeof in, "%s %s", x ? x : before, weight);
        snprintf(name, sizeof name, "matmul%d", i);
        odb_build_node(b, "MatMul", name, in, product);
        snprintf(name, sizeof name, "tanh%d", i);
        odb_build_node(b, "Tanh", name, product, act);
        snprintf(in, sizeof in, "%s %s", act, i == 7 ? "decided" : x ? x : before);
        snprintf(name, sizeof name, "add%d", i);
        odb_build_node(b, "Add", name, in, out);
        if (i == 5)
            pieces_if(b);
    }
    odb_build_output(b, "early");
    odb_build_output(b, "y");
    return b;
}

struct fixture {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_budget budget;
};

static void fixture_open(struct fixture *f)
{
    float ramp[2 * N];
    help_find_serve();
    for (int i = 0; i < 2 * N; i++)
        ramp[i] = (float)(i - N) / N;
    *f = (struct fixture){.model = models_take(pieces_model()), .budget = {.memory = MEMORY}};
    f->feed =
        (struct odb_feed){models_value(f->model, "x"), models_f32(2, (int64_t[]){2, N}, ramp)};
    f->feeds = (struct odb_feeds){&f->feed, 1, NULL};
}

static void fixture_close(struct fixture *f)
{
    odb_tensor_unref(f->feed.tensor);
    odb_model_free(f->model);
}

/* Every value that a node makes, read in one probe. */
struct all {
    int list[128];
    size_t n, pieces, loads;
    struct odb_tensor *values[128];
};

static enum odb_status all_ask(struct all *all, struct fixture *f, const char *spec,
                               struct odb_budget *budget, struct odb_error *err)
{
    struct odb_pool *pool = NULL;
    struct odb_prober prober;
    *all = (struct all){.n = 0};
    MODELS_OK(odb_probe_pool(&pool, spec, NULL, &why));
    odb_prober_init(&prober, f->model, &f->feeds, NULL, pool,
                    (struct odb_search_hooks){.budget = budget});
    for (size_t v = 0; v < f->model->graph->n_values; v++)
        if (f->model->graph->values[v].producer != ODB_NO_NODE)
            all->list[all->n++] = (int)v;
    struct odb_probe probe = {.what = "all",
                              .node = ODB_NO_NODE,
                              .values = all->list,
                              .n_values = all->n,
                              .outputs = all->values};
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    all->pieces = prober.now->pieces;
    all->loads = probe.loads;
    odb_prober_dispose(&prober);
    odb_pool_close(pool);
    return status;
}

/* It must succeed. */
static void all_have(struct all *all, struct fixture *f, const char *spec,
                     struct odb_budget *budget)
{
    MODELS_OK(all_ask(all, f, spec, budget, &why));
}

static void all_drop(struct all *all)
{
    for (size_t i = 0; i < all->n; i++)
        odb_tensor_unref(all->values[i]);
}

static void all_same(const struct all *a, const struct all *b)
{
    assert_int_equal(a->n, b->n);
    assert_true(a->n > 3 * LAYERS);
    for (size_t i = 0; i < a->n; i++)
        assert_true(a->values[i] && odb_tensor_identical(a->values[i], b->values[i]));
}

static void test_pieces__give_what_the_whole_gives(void **state)
{
    (void)state;
    struct fixture f;
    struct all whole, parts;
    fixture_open(&f);
    all_have(&whole, &f, "cpu", NULL);
    assert_int_equal(whole.pieces, 1);
    for (uint64_t memory = 64; memory < 64 * MEMORY; memory *= 4) {
        f.budget.memory = memory;
        all_have(&parts, &f, "cpu", &f.budget);
        assert_int_equal(parts.loads, parts.pieces);
        if (memory < WEIGHT) /* a piece for every node with a weight, and what follows it */
            assert_true(parts.pieces >= LAYERS + 1);
        all_same(&parts, &whole);
        all_drop(&parts);
    }
    assert_int_equal(parts.pieces, 1); /* there is room for all */
    all_drop(&whole);
    fixture_close(&f);
}

/* No piece has more weights than there is room for. */
static void test_pieces__are_as_few_as_fit(void **state)
{
    (void)state;
    struct fixture f;
    struct all parts;
    fixture_open(&f);
    all_have(&parts, &f, "cpu", &f.budget);
    /* twelve layers and the branch: thirteen weights, two by two, and one number that is shared */
    assert_in_range(parts.pieces, 7, 8);
    all_drop(&parts);
    fixture_close(&f);
}

/* Where the target says that a piece is too much, it gets halves. */
static void test_pieces__are_halved_for_want_of_memory(void **state)
{
    (void)state;
    struct odb_error err = ODB_ERROR_INIT;
    struct fixture f;
    struct all whole, parts;
    fixture_open(&f);
    all_have(&whole, &f, "cpu", NULL);
    all_have(&parts, &f, "fault:memory,node=tanh3,count=2@cpu", &f.budget);
    assert_true(parts.loads > parts.pieces);
    all_same(&parts, &whole);
    all_drop(&parts);
    /* one node alone that is too much is the target's last word */
    assert_int_equal(all_ask(&parts, &f, "fault:memory,node=tanh3@cpu", &f.budget, &err),
                     ODB_E_NOMEM);
    help_has_text(&err, "no memory for more than 0 nodes");
    all_drop(&whole);
    fixture_close(&f);
}

/* What a piece needs and the target did not give is never the reference's: that would hide faults.
 */
static void test_pieces__are_fed_by_the_target_alone(void **state)
{
    (void)state;
    static const char text[] =
        "import numpy\n"
        "class Silent:\n"
        "    def execute(self, inputs, names):\n"
        "        return {n: None if n == 'v3' else numpy.zeros((2, 32), 'f') for n in names}\n";
    struct odb_error err = ODB_ERROR_INIT;
    struct fixture f;
    struct all parts;
    setenv("ONNXDBG_PYTHON", "/usr/bin/python3", 0); /* with numpy, where setup.sh was run */
    char *path = odb_file_temporary("pieces-");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    char *spec = odb_xasprintf("python:%s:Silent", path);
    fixture_open(&f);
    assert_int_equal(all_ask(&parts, &f, spec, &f.budget, &err), ODB_UNSUPPORTED);
    help_has_text(&err, "the target does not give v3");
    for (size_t i = 0; i < parts.n; i++)
        assert_null(parts.values[i]);
    unlink(path);
    free(path);
    free(spec);
    fixture_close(&f);
}

static void search(struct fixture *f, const char *target, struct odb_report **report)
{
    struct odb_bisect_options options = {.reference = "cpu",
                                         .target = target,
                                         .tolerance = ODB_CRITERION_DEFAULT,
                                         .hooks = {.budget = &f->budget}};
    MODELS_OK(odb_bisect(report, f->model, &f->feeds, &options, &why));
}

static void test_pieces__a_search_names_the_culprit(void **state)
{
    (void)state;
    static const char *const nodes[] = {"matmul0", "add1", "tanh6", "decide", "matmul9", "add11"};
    for (size_t i = 0; i < ODB_COUNT(nodes); i++) {
        struct fixture f;
        struct odb_report *report;
        char target[80];
        fixture_open(&f);
        snprintf(target, sizeof target, "fault:scale,node=%s,amount=0.01@cpu", nodes[i]);
        search(&f, target, &report);
        assert_int_equal(report->culprits.n, 1);
        assert_string_equal(f.model->graph->nodes[report->culprits.items[0].node].name, nodes[i]);
        assert_true(report->culprits.items[0].verified);
        assert_true(report->instead.why[ODB_INSTEAD_PIECES]);
        odb_report_free(report);
        fixture_close(&f);
    }
}

static void test_pieces__an_honest_target_is_accused_of_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct odb_report *report;
    fixture_open(&f);
    search(&f, "cpu:noisy", &report);
    assert_int_equal(report->culprits.n, 0);
    assert_false(report->outputs_diverge);
    odb_report_free(report);
    fixture_close(&f);
}

static void test_pieces__a_crash_is_found(void **state)
{
    (void)state;
    struct fixture f;
    struct odb_report *report;
    fixture_open(&f);
    search(&f, "fault:crash,node=tanh8@cpu", &report);
    assert_int_equal(report->culprits.n, 1);
    assert_string_equal(f.model->graph->nodes[report->culprits.items[0].node].name, "tanh8");
    assert_int_equal(report->culprits.items[0].kind, ODB_KIND_CRASH);
    odb_report_free(report);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces__give_what_the_whole_gives),
        cmocka_unit_test(test_pieces__are_as_few_as_fit),
        cmocka_unit_test(test_pieces__are_halved_for_want_of_memory),
        cmocka_unit_test(test_pieces__are_fed_by_the_target_alone),
        cmocka_unit_test(test_pieces__a_search_names_the_culprit),
        cmocka_unit_test(test_pieces__an_honest_target_is_accused_of_nothing),
        cmocka_unit_test(test_pieces__a_crash_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
