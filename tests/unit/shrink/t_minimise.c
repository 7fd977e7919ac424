/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Failing models whose smallest part is known: faults are planted, also several at once, and what
 * is written must hold the nodes that it takes, and no others.
 */
#include "bisect/plan/bisect.h"
#include "probe/run_values.h"
#include "inputs/inputs.h"
#include "shrink/minimise.h"
#include "reference/trace.h"

#include <math.h>
#include <sys/stat.h>

#include "tensor/random.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"
#include "model/text/model_text.h"

#define WIDTH 8

struct bench {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_minimise_options options;
    struct odb_budget budget; /* none, unless a test sets it */
    struct odb_minimised out;
    struct odb_model *left; /* as it was written; NULL: nothing was */
    char *folder, *dir;
};

static struct odb_builder *bench_graph(const int64_t *dims, int rank)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, rank, dims);
    return b;
}

/* A model of its own, fed with numbers around 1. */
static void bench_open(struct bench *s, struct odb_builder *b)
{
    *s = (struct bench){.model = models_take(b)};
    const struct odb_value *x = &s->model->graph->values[models_value(s->model, "x")];
    int64_t dims[ODB_MAX_RANK];
    for (int i = 0; i < x->type.rank; i++)
        dims[i] = x->type.dims[i].value;
    MODELS_OK(odb_tensor_new(&s->feed.tensor, ODB_F32, x->type.rank, dims, &why));
    for (size_t i = 0; i < s->feed.tensor->count; i++)
        ((odb_f32 *)s->feed.tensor->data)[i] = 0.3f + 0.17f * (float)(i % 11);
    s->feed.value = x->index;
    s->feeds = (struct odb_feeds){&s->feed, 1, NULL};
    s->options = (struct odb_minimise_options){
        .search = {.reference = "cpu", .tolerance = ODB_CRITERION_DEFAULT, .seed = 42},
        .first = ODB_NO_NODE,
        .last = ODB_NO_NODE};
    s->options.search.hooks.budget = &s->budget;
    s->folder = models_folder();
    s->dir = odb_xasprintf("%s/minimal", s->folder);
    help_find_serve();
}

static void bench_drop(struct bench *s)
{
    char command[300];
    odb_model_free(s->left);
    s->left = NULL;
    odb_minimised_dispose(&s->out);
    snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
    assert_int_equal(system(command), 0);
}

static void bench_close(struct bench *s)
{
    bench_drop(s);
    odb_tensor_unref(s->feed.tensor);
    odb_model_free(s->model);
    rmdir(s->folder);
    free(s->dir);
    free(s->folder);
}

/* False: the fault cannot be planted there. */
static bool bench_try(struct bench *s, const char *target)
{
    struct odb_error err = ODB_ERROR_INIT;
    char path[300];
    s->options.search.target = target;
    s->options.dir = s->dir;
    enum odb_status status = odb_minimise(&s->out, s->model, &s->feeds, &s->options, &err);
    if (status == ODB_E_INPUT)
        return false;
    models_ok(status, &err);
    snprintf(path, sizeof path, "%s/model.onnx", s->dir);
    if (s->out.written)
        MODELS_OK(odb_model_open(&s->left, path, &why));
    return true;
}

static void bench_run(struct bench *s, const char *target)
{
    assert_true(bench_try(s, target));
}

/* What is left are the nodes of these numbers in the model, and it fails from its own files. */
static void expect_nodes(const struct bench *s, size_t n, const int *nodes)
{
    int origin[64];
    assert_true(s->out.written && s->out.repro.reproduces);
    odb_model_origin(s->left, origin);
    bool same = s->left->graph->n_nodes == n;
    for (size_t i = 0; i < n && same; i++)
        same = origin[i] == nodes[i];
    if (!same) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_model_text(s->left, &text);
        odb_minimised_put(&s->out, &text);
        fail_msg("%s", odb_buf_text(&text));
    }
}

static void expect_node(const struct bench *s, int node)
{
    expect_nodes(s, 1, &node);
}

/* --- chains ----------------------------------------------------------------------------------- */

#define CHAIN 13

/* y = v13; node i makes v(i+1) of v(i). */
static struct odb_builder *chain_graph(void)
{
    static const char *const ops[] = {"Neg", "Mul", "Add", "Abs", "Tanh", "Sub"};
    struct odb_builder *b = bench_graph((int64_t[]){4, WIDTH}, 2);
    float w[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        w[i] = 0.6f + 0.1f * (float)i;
    struct odb_tensor *t = models_f32(1, (int64_t[]){WIDTH}, w);
    odb_build_weight(b, "secret_weight", t);
    odb_tensor_unref(t);
    for (int i = 0; i < CHAIN; i++) {
        const char *op = ops[i % (int)ODB_COUNT(ops)];
        bool two = op[0] == 'M' || op[1] == 'd' || op[0] == 'S';
        char in[60], out[20], name[20], from[20];
        snprintf(from, sizeof from, "v%d", i);
        snprintf(in, sizeof in, "%s%s", i ? from : "x", two ? " secret_weight" : "");
        snprintf(out, sizeof out, "v%d", i + 1);
        snprintf(name, sizeof name, "secret%d", i);
        odb_build_node(b, op, name, in, out);
    }
    odb_build_output(b, "v13");
    return b;
}

static void test_minimise__the_planted_node_is_left(void **state)
{
    static const char *const kinds[] = {"scale,amount=0.2", "nan", "inf", "crash"};
    struct bench s;
    bench_open(&s, chain_graph());
    for (int node = 0; node < CHAIN; node++) {
        char target[100];
        snprintf(target, sizeof target, "fault:%s,node=#%d@cpu", kinds[node % 4], node);
        bench_run(&s, target);
        assert_true(s.out.failed);
        expect_node(&s, node);
        assert_true(s.out.good_nodes == (size_t)node || node == 0);
        bench_drop(&s);
    }
    bench_close(&s);
    (void)state;
}

/* What the reference feeds it is within float16, and what the target does is not: the node is shown
 * with the target's. */
static void test_minimise__what_fails_on_the_targets_values_alone(void **state)
{
    struct odb_builder *b = bench_graph((int64_t[]){4, WIDTH}, 2);
    float w[WIDTH];
    struct bench s;
    for (int i = 0; i < WIDTH; i++)
        w[i] = 20000;
    struct odb_tensor *t = models_f32(1, (int64_t[]){WIDTH}, w);
    odb_build_weight(b, "w", t);
    odb_tensor_unref(t);
    odb_build_node(b, "Mul", "large", "x w", "v1");
    odb_build_node(b, "Neg", "wide", "v1", "v2");
    odb_build_node(b, "Sigmoid", "narrow", "v2", "y");
    odb_build_output(b, "y");
    bench_open(&s, b);
    s.options.search.tolerance = (struct odb_criterion){ODB_CRITERION_DIFF2, {0.01}};
    s.options.first = s.options.last = 1;
    bench_run(&s, "cpu:f16");
    assert_false(s.out.failed);
    bench_drop(&s);
    bench_run(&s, "fault:scale,node=#0,amount=0.9@cpu:f16");
    assert_true(s.out.failed && s.out.own_values);
    expect_node(&s, 1);
    assert_non_null(strstr(s.out.notes.items[s.out.notes.n - 1], "what the target itself fed it"));
    bench_close(&s);
    (void)state;
}

/* A hang is one, too; each costs its time, so there is one. */
static void test_minimise__a_hang_is_left(void **state)
{
    struct bench s;
    bench_open(&s, chain_graph());
    bench_run(&s, "fault:hang,node=#6,timeout=0.3@cpu");
    assert_int_equal(s.out.signature.verdict, ODB_VERDICT_TIMEOUT);
    expect_node(&s, 6);
    bench_close(&s);
    (void)state;
}

/* Wrong only where the nodes that follow are there, and nobody looks at what lies between. */
static void test_minimise__what_takes_several_nodes_keeps_them(void **state)
{
    struct bench s;
    bench_open(&s, chain_graph());
    for (int k = 1; k <= 3; k++)
        for (int node = 1; node + k < CHAIN; node += 3) {
            char target[100];
            int nodes[4];
            snprintf(target, sizeof target, "fault:scale,node=#%d,amount=0.2,fused=%d@cpu", node,
                     k);
            for (int i = 0; i <= k; i++)
                nodes[i] = node + i;
            bench_run(&s, target);
            expect_nodes(&s, (size_t)k + 1, nodes);
            bench_drop(&s);
        }
    bench_close(&s);
    (void)state;
}

static void test_minimise__where_nothing_fails_nothing_is_written(void **state)
{
    struct bench s;
    bench_open(&s, chain_graph());
    bench_run(&s, "cpu");
    assert_false(s.out.failed);
    assert_false(s.out.written);
    assert_int_not_equal(access(s.dir, F_OK), 0);
    /* nor where the fault lies outside of what it begins with */
    s.options.first = 7;
    s.options.last = 9;
    bench_run(&s, "fault:scale,node=#3,amount=0.2@cpu");
    assert_false(s.out.failed);
    bench_run(&s, "fault:scale,node=#8,amount=0.2@cpu");
    expect_node(&s, 8);
    bench_close(&s);
    (void)state;
}

static void test_minimise__a_budget_leaves_the_smallest_so_far(void **state)
{
    struct bench s;
    size_t before = CHAIN;
    bench_open(&s, chain_graph());
    for (size_t probes = 2; probes < 9; probes++) {
        s.budget = (struct odb_budget){.probes = probes};
        bench_run(&s, "fault:scale,node=#6,amount=0.2@cpu");
        assert_true(s.out.stopped && s.out.written && s.out.repro.reproduces);
        assert_true(s.out.probes <= probes);
        assert_true(s.left->graph->n_nodes <= before);
        before = s.left->graph->n_nodes;
        bench_drop(&s);
    }
    assert_true(before < CHAIN);
    bench_close(&s);
    (void)state;
}

/* What is asked of the target once it is cancelled; of the phases, the last is kept. */
struct cancelling {
    int left;          /* looks until it is */
    const char *until; /* the phase that it is cancelled in instead; NULL: none */
    bool cancelled;
    size_t after; /* probes that began then */
};

static bool cancelling_asked(void *payload)
{
    struct cancelling *c = payload;
    c->cancelled = c->cancelled || (!c->until && --c->left < 0);
    return c->cancelled;
}

static void cancelling_event(void *payload, const struct odb_search_event *event)
{
    struct cancelling *c = payload;
    c->cancelled = c->cancelled ||
                   (c->until && event->what == ODB_EVENT_PHASE && !strcmp(event->text, c->until));
    c->after += c->cancelled && event->what == ODB_EVENT_PROBE_BEGIN;
}

/* False: it came to its end, before that or because nothing was left to do but evidence. */
static bool cancelled_run(struct bench *s, struct cancelling *c)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_buf text = ODB_BUF_INIT;
    char path[300];
    s->options.dir = s->dir;
    s->options.search.target = "fault:scale,node=#6,amount=0.2@cpu";
    s->options.search.hooks =
        (struct odb_search_hooks){cancelling_event, cancelling_asked, c, NULL};
    enum odb_status status = odb_minimise(&s->out, s->model, &s->feeds, &s->options, &err);
    assert_int_equal(status, s->out.stopped ? ODB_CANCELLED : ODB_OK);
    assert_true(c->cancelled || !s->out.stopped);
    if (!s->out.stopped) {
        assert_true(s->out.repro.reproduces && !s->out.repro.known);
        return false;
    }
    assert_true(s->out.stopped && s->out.written);
    assert_true(s->out.repro.known && !s->out.repro.reproduces);
    assert_int_equal(s->out.good_nodes, 0);
    snprintf(path, sizeof path, "%s/README.md", s->dir);
    FILE *file = fopen(path, "r");
    for (int byte; file && (byte = getc(file)) != EOF;)
        odb_buf_putc(&text, (char)byte);
    fclose(file);
    assert_non_null(strstr(odb_buf_text(&text), "known to fail"));
    assert_non_null(strstr(odb_buf_text(&text), "not searched again"));
    assert_null(strstr(odb_buf_text(&text), "report.json"));
    odb_buf_dispose(&text);
    snprintf(path, sizeof path, "%s/actual", s->dir);
    assert_int_equal(access(path, F_OK), -1);
    return true;
}

/* What was written fails, if one searches it after all. */
static void expect_fails(struct bench *s)
{
    struct odb_input_options from = ODB_INPUT_OPTIONS_INIT;
    struct odb_bisect_options search = {.reference = "cpu",
                                        .target = s->options.search.target,
                                        .tolerance = s->options.search.tolerance};
    struct odb_report *report;
    struct odb_feeds *feeds;
    char path[300], inputs[300];
    snprintf(path, sizeof path, "%s/model.onnx", s->dir);
    snprintf(inputs, sizeof inputs, "%s/test_data_set_0", s->dir);
    from.inputs_from = inputs;
    MODELS_OK(odb_model_open(&s->left, path, &why));
    MODELS_OK(odb_feeds_make(&feeds, s->left, &from, &why));
    MODELS_OK(odb_bisect(&report, s->left, feeds, &search, &why));
    assert_true(report->outputs_diverge);
    odb_report_free(report);
    odb_feeds_free(feeds);
}

/* Wherever that is: what is left is written as it is, and nothing is run for it. */
static void test_minimise__cancelled_it_writes_at_once(void **state)
{
    size_t before = CHAIN;
    bool cancelled = true;
    for (int looks = 60; cancelled; looks += 37) {
        struct bench s;
        struct cancelling c = {.left = looks};
        bench_open(&s, chain_graph());
        cancelled = cancelled_run(&s, &c);
        if (cancelled) {
            assert_int_equal(c.after, 0);
            expect_fails(&s);
            assert_true(s.left->graph->n_nodes <= before);
            before = s.left->graph->n_nodes;
        }
        bench_close(&s);
    }
    assert_int_equal(before, 1); /* it was met late, too */
    (void)state;
}

static void test_minimise__cancelled_while_it_is_run_again(void **state)
{
    struct bench s;
    struct cancelling c = {.until = "writing and running again"};
    bench_open(&s, chain_graph());
    assert_true(cancelled_run(&s, &c));
    assert_int_equal(c.after, 0);
    expect_fails(&s);
    assert_int_equal(s.left->graph->n_nodes, 1);
    assert_string_equal(s.out.steps.items[s.out.steps.n - 1].name, "stopped");
    bench_close(&s);
    (void)state;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static struct odb_builder *random_graph(uint64_t *x, int n)
{
    static const char *const ops[] = {"Add", "Sub", "Tanh", "Neg", "Mul", "Sigmoid"};
    struct odb_builder *b = bench_graph((int64_t[]){2, WIDTH}, 2);
    bool *read = odb_new_n(bool, n + 1);
    struct odb_buf rest = ODB_BUF_INIT;
    for (int i = 0; i < n; i++) {
        const char *op = ops[odb_mix64((*x)++) % ODB_COUNT(ops)];
        char in[60], out[20];
        int from[2];
        for (int k = 0; k < 2; k++) {
            from[k] = i - (int)(odb_mix64((*x)++) % 5);
            from[k] = from[k] < 0 ? 0 : from[k]; /* value 0 is x */
        }
        bool two = op[0] == 'A' || op[1] == 'u';
        snprintf(in, sizeof in, two ? "v%d v%d" : "v%d", from[0], from[1]);
        snprintf(out, sizeof out, "v%d", i + 1);
        read[from[0]] = true;
        read[from[1]] |= two;
        odb_build_node(b, op, "", in, out);
    }
    for (int i = 0; i <= n; i++)
        if (!read[i])
            odb_buf_printf(&rest, "%sv%d", rest.len ? " " : "", i);
    odb_build_node(b, "Sum", "", odb_buf_text(&rest), "y");
    odb_build_output(b, "y");
    odb_buf_dispose(&rest);
    free(read);
    return b;
}

static void test_minimise__in_random_graphs_the_planted_node_is_left(void **state)
{
    uint64_t x = 3;
    int failed = 0, alone = 0;
    for (int round = 0; round < 30; round++) {
        int n = 10 + (int)(odb_mix64(x++) % 30), node = (int)(odb_mix64(x++) % (uint64_t)n);
        struct odb_builder *b = random_graph(&x, n);
        struct bench s;
        char target[100];
        odb_build_node(b, "Identity", "", "x", "v0"); /* sorted to the front */
        bench_open(&s, b);
        snprintf(target, sizeof target, "fault:%s,node=v%d@cpu",
                 round % 3 ? "offset,amount=0.3" : "nan", node + 1);
        failed += bench_try(&s, target) && s.out.failed;
        if (s.out.failed) {
            char name[20];
            bool there = false;
            snprintf(name, sizeof name, "v%d", node + 1);
            assert_true(s.out.written && s.out.repro.reproduces);
            for (size_t i = 0; i < s.left->graph->n_nodes; i++)
                there |= !strcmp(s.left->graph->values[s.left->graph->nodes[i].out[0]].name, name);
            assert_true(there);
            alone += s.left->graph->n_nodes == 1;
        }
        bench_close(&s);
    }
    assert_true(failed >= 20);
    assert_int_equal(alone, failed);
    (void)state;
}

/* --- several faults --------------------------------------------------------------------------- */

static const int64_t half_from[] = {1}, half_to[] = {WIDTH / 2}, last_axis[] = {-1};

static void take_half(struct odb_builder *b, const char *in, const char *out)
{
    static const char *const names[] = {"from", "to", "axis"};
    const int64_t *values[] = {half_from, half_to, last_axis};
    char inputs[100];
    for (int i = 0; i < 3; i++) {
        struct odb_tensor *t = NULL;
        int64_t one = 1;
        MODELS_OK(odb_tensor_copy_of(&t, ODB_I64, 1, &one, values[i], &why));
        odb_build_weight(b, names[i], t);
        odb_tensor_unref(t);
    }
    snprintf(inputs, sizeof inputs, "%s from to axis", in);
    odb_build_node(b, "Slice", "half", inputs, out);
}

/* What the second fault spoils is cut off before the output. */
static struct odb_builder *masked_graph(void)
{
    struct odb_builder *b = bench_graph((int64_t[]){1, WIDTH}, 2);
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "Tanh", "n1", "a", "b");
    odb_build_node(b, "Exp", "n2", "b", "c");
    take_half(b, "c", "d");
    odb_build_node(b, "Neg", "n4", "d", "e");
    odb_build_node(b, "Sigmoid", "n5", "e", "y");
    odb_build_output(b, "y");
    return b;
}

/* The second fault lies behind the first, or before it; its NaN, or its error, is larger. */
static void test_minimise__another_failure_does_not_take_over(void **state)
{
    static const struct {
        const char *target;
        int node;
    } cases[] = {
        {"fault:scale,node=n1,amount=0.05@fault:nan,node=n2@cpu", 1},
        {"fault:scale,node=n4,amount=0.05@fault:nan,node=n2@cpu", 4},
        {"fault:scale,node=n4,amount=0.05@fault:nan,node=n0@cpu", 4},
        {"fault:scale,node=n5,amount=0.05@fault:inf,node=n1@cpu", 5},
        {"fault:scale,node=n4,amount=0.05@fault:zero-channel,node=n2@cpu", 4},
        {"fault:scale,node=n1,amount=0.05@fault:zero-channel,node=n2@cpu", 1},
        {"fault:scale,node=n5,amount=0.05@fault:zero-channel,node=n0@cpu", 5},
        {"fault:scale,node=n1,amount=0.05@cpu", 1},
    };
    struct bench s;
    bench_open(&s, masked_graph());
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        bench_run(&s, cases[i].target);
        assert_int_equal(s.out.signature.verdict, ODB_VERDICT_FAIL);
        expect_node(&s, cases[i].node);
        bench_drop(&s);
    }
    bench_close(&s);
    (void)state;
}

/* Two outputs, each wrong by another fault: the worse one is taken, and nothing of the other. */
static void test_minimise__one_of_two_outputs(void **state)
{
    struct odb_builder *b = bench_graph((int64_t[]){1, WIDTH}, 2);
    struct bench s;
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "Tanh", "n1", "a", "b");
    odb_build_node(b, "Sigmoid", "n2", "b", "y");
    odb_build_node(b, "Exp", "n3", "a", "c");
    odb_build_node(b, "Neg", "n4", "c", "z");
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    bench_open(&s, b);
    bench_run(&s, "fault:scale,node=n1,amount=0.05@fault:scale,node=n3,amount=0.5@cpu");
    assert_string_equal(s.out.signature.output, "z");
    expect_node(&s, 3);
    bench_drop(&s);
    bench_run(&s, "fault:scale,node=n1,amount=0.5@fault:nan,node=n3@cpu");
    assert_int_equal(s.out.signature.verdict, ODB_VERDICT_NAN);
    expect_node(&s, 3);
    bench_close(&s);
    (void)state;
}

/* A crash is no output's: what is read may be another one than a report names. */
static void test_minimise__one_of_a_nodes_outputs(void **state)
{
    static const char *const kinds[] = {"crash", "nan", "scale,amount=0.3"};
    struct odb_builder *b = bench_graph((int64_t[]){1, WIDTH}, 2);
    struct bench s;
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "Split", "n1", "a", "first second");
    odb_build_attr_int(b, "axis", 1);
    odb_build_node(b, "Exp", "n2", "second", "y");
    odb_build_output(b, "y");
    bench_open(&s, b);
    for (size_t i = 0; i < ODB_COUNT(kinds); i++) {
        char target[100];
        snprintf(target, sizeof target, "fault:%s,node=second@cpu", kinds[i]);
        bench_run(&s, target);
        assert_true(s.out.failed);
        expect_node(&s, 1);
        assert_int_equal(s.left->graph->n_outputs, 1);
        bench_drop(&s);
    }
    bench_close(&s);
    (void)state;
}

/* What dies there is an operator that the reference does not know. */
static void test_minimise__a_crash_needs_no_reference(void **state)
{
    static const char text[] = "#!/bin/sh\ngrep -q Weird model.onnx && kill -SEGV $$\nexit 1\n";
    struct odb_builder *b = bench_graph((int64_t[]){1, WIDTH}, 2);
    struct bench s;
    odb_build_opset(b, "my", 1);
    odb_build_node(b, "Neg", "n0", "x", "a");
    odb_build_node(b, "Exp", "n1", "a", "b");
    odb_build_node(b, "my::Weird", "n2", "b", "c");
    odb_build_node(b, "Tanh", "n3", "a", "d");
    odb_build_node(b, "Sum", "n4", "c d", "y");
    odb_build_output(b, "y");
    bench_open(&s, b);
    char *script = odb_xasprintf("%s/dies", s.folder);
    char *target = odb_xasprintf("command:%s", script);
    FILE *file = fopen(script, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(script, 0700) == 0);
    bench_run(&s, target);
    assert_string_equal(s.out.signature.fate, "SIGSEGV");
    expect_node(&s, 2);
    unlink(script);
    free(script);
    free(target);
    bench_close(&s);
    (void)state;
}

/* --- simple ----------------------------------------------------------------------------------- */

static const struct odb_value *bench_first_weight(const struct bench *s)
{
    const struct odb_graph *graph = s->left->graph;
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].init)
            return &graph->values[v];
    return NULL;
}

static void test_minimise__what_does_not_matter_is_simple(void **state)
{
    struct odb_builder *b = bench_graph((int64_t[]){4, 3, 6, 10}, 4);
    struct bench s;
    float w[3 * 3 * 9];
    for (size_t i = 0; i < ODB_COUNT(w); i++)
        w[i] = 0.31f * (float)(i % 5) - 0.47f;
    struct odb_tensor *t = models_f32(4, (int64_t[]){3, 3, 3, 3}, w);
    odb_build_weight(b, "w", t);
    odb_tensor_unref(t);
    odb_build_node(b, "Conv", "conv", "x w", "y");
    odb_build_attr_ints(b, "pads", 4, (int64_t[]){1, 1, 1, 1});
    odb_build_attr_ints(b, "strides", 2, (int64_t[]){1, 1});
    odb_build_attr_int(b, "group", 1);
    odb_build_output(b, "y");
    bench_open(&s, b);
    bench_run(&s, "fault:crash,node=conv@cpu");
    expect_node(&s, 0);
    const struct odb_node *node = &s.left->graph->nodes[0];
    const struct odb_value *x = &s.left->graph->values[s.left->graph->inputs[0]];
    const struct odb_tensor *left = bench_first_weight(&s)->init;
    assert_int_equal(x->type.dims[0].value, 1); /* the batch */
    assert_int_equal(x->type.dims[1].value, 3); /* what the weights ask for */
    assert_int_equal(left->count, 3 * 3 * 9);
    for (size_t i = 0; i < left->count; i++)
        assert_true(odb_tensor_f64(left, i) == 0);
    assert_null(odb_attrs_find(&node->attrs, "strides"));
    assert_null(odb_attrs_find(&node->attrs, "group"));
    bench_close(&s);
    (void)state;
}

/* What hangs on weights alone is a weight. */
static void test_minimise__constants_are_weights(void **state)
{
    struct odb_builder *b = bench_graph((int64_t[]){1, WIDTH}, 2);
    struct bench s;
    const float w[WIDTH] = {0.1f, 0.7f, 0.3f, 0.2f, 0.9f, 0.4f, 0.8f, 0.5f};
    struct odb_tensor *t = models_f32(1, (int64_t[]){WIDTH}, w);
    odb_build_weight(b, "w", t);
    odb_tensor_unref(t);
    odb_build_node(b, "Sqrt", "n0", "w", "r");
    odb_build_node(b, "Neg", "n1", "r", "s");
    odb_build_node(b, "Mul", "n2", "x s", "p");
    odb_build_node(b, "Tanh", "n3", "p", "y");
    odb_build_output(b, "y");
    bench_open(&s, b);
    bench_run(&s, "fault:scale,node=n2,amount=0.1@cpu");
    expect_node(&s, 2);
    assert_int_equal(s.left->graph->n_inputs, 1);
    assert_non_null(bench_first_weight(&s));
    bench_close(&s);
    (void)state;
}

/* --- scrambling ------------------------------------------------------------------------------- */

static bool bench_holds(const struct bench *s, const void *bytes, size_t n)
{
    char command[400], line[8192];
    bool found = false;
    snprintf(command, sizeof command, "find '%s' -type f", s->dir);
    FILE *list = popen(command, "r");
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        FILE *file = fopen(line, "r");
        struct odb_buf all = ODB_BUF_INIT;
        for (int c; file && (c = getc(file)) != EOF;)
            odb_buf_putc(&all, (char)c);
        found |= memmem(all.data, all.len, bytes, n) != NULL;
        odb_buf_dispose(&all);
        fclose(file);
    }
    pclose(list);
    return found;
}

/* Acts where the numbers are such that simple ones hide it: saturation changes nothing of equal
 * numbers, so weights and inputs cannot all be zeros or ones. */
static void test_minimise__scrambled_nothing_private_is_left(void **state)
{
    struct bench s;
    float w[WIDTH];
    const char *target = "fault:saturate,amount=0.5,node=#7@cpu"; /* Mul by the weight */
    for (int i = 0; i < WIDTH; i++)
        w[i] = 0.6f + 0.1f * (float)i;
    bench_open(&s, chain_graph());
    bench_run(&s, target);
    expect_node(&s, 7);
    assert_true(bench_holds(&s, "secret", 6));
    bench_drop(&s);
    s.options.scramble = true;
    bench_run(&s, target);
    expect_node(&s, 7);
    assert_false(bench_holds(&s, "secret", 6));
    assert_false(bench_holds(&s, w, sizeof w));
    assert_int_equal(s.out.good_nodes, 0); /* that would be the original again */
    bench_drop(&s);
    s.budget = (struct odb_budget){.probes = 4}; /* stopped early: random all the same */
    bench_run(&s, target);
    assert_true(s.out.stopped && s.out.written && s.out.repro.reproduces);
    assert_false(bench_holds(&s, "secret", 6));
    assert_false(bench_holds(&s, w, sizeof w));
    bench_close(&s);
    (void)state;
}

static bool nobody_cancels(void *payload)
{
    (void)payload;
    return false;
}

/* A trace that it was lent calls nobody who is gone. */
static void test_minimise__a_trace_forgets_who_listened(void **state)
{
    struct bench s;
    struct odb_trace *trace;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    bench_open(&s, chain_graph());
    MODELS_OK(odb_trace_make(&trace, s.model, &s.feeds, &how, &why));
    s.options.search.trace = trace;
    s.options.search.hooks.cancelled = nobody_cancels;
    bench_run(&s, "fault:nan,node=#4@cpu");
    assert_true(s.out.written);
    assert_null(trace->hooks.cancelled);
    odb_trace_free(trace);
    bench_close(&s);
    (void)state;
}

/* A rerun that fails in another way than was sought reproduces nothing. */
static void test_minimise__a_rerun_shows_its_own_failure(void **state)
{
    static const struct {
        unsigned odd;
        bool reproduces;
    } cases[] = {{ODB_ODD_NAN, true}, {ODB_ODD_POS_INF, false}};
    struct bench s;
    char command[300];
    bench_open(&s, chain_graph());
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        const struct odb_signature sought = {
            .verdict = ODB_VERDICT_NAN, .odd = cases[i].odd, .output = "v13"};
        const struct odb_repro_options how = {.last = -1,
                                              .whole = true,
                                              .sought = &sought,
                                              .dir = s.dir,
                                              .reference = "cpu",
                                              .target = "fault:nan,node=#12@cpu",
                                              .tolerance = s.options.search.tolerance};
        struct odb_repro_result result;
        MODELS_OK(odb_repro_write(&result, s.model, &s.feeds, &how, &why));
        assert_int_equal(result.reproduces, cases[i].reproduces);
        snprintf(command, sizeof command, "rm -rf '%s'", s.dir);
        assert_int_equal(system(command), 0);
    }
    bench_close(&s);
    (void)state;
}

/* A fault that knows its node by name goes with the name, which is told. */
static void test_minimise__what_cannot_be_scrambled_is_told(void **state)
{
    struct bench s;
    bool told = false;
    bench_open(&s, chain_graph());
    s.options.scramble = true;
    bench_run(&s, "fault:scale,amount=0.2,node=secret7@cpu");
    assert_true(s.out.written && s.out.repro.reproduces);
    for (size_t i = 0; i < s.out.notes.n; i++)
        told |= strstr(s.out.notes.items[i], "NOT SCRAMBLED: names") != NULL;
    assert_true(told);
    bench_close(&s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimise__the_planted_node_is_left),
        cmocka_unit_test(test_minimise__what_fails_on_the_targets_values_alone),
        cmocka_unit_test(test_minimise__a_hang_is_left),
        cmocka_unit_test(test_minimise__what_takes_several_nodes_keeps_them),
        cmocka_unit_test(test_minimise__where_nothing_fails_nothing_is_written),
        cmocka_unit_test(test_minimise__a_budget_leaves_the_smallest_so_far),
        cmocka_unit_test(test_minimise__cancelled_it_writes_at_once),
        cmocka_unit_test(test_minimise__cancelled_while_it_is_run_again),
        cmocka_unit_test(test_minimise__in_random_graphs_the_planted_node_is_left),
        cmocka_unit_test(test_minimise__another_failure_does_not_take_over),
        cmocka_unit_test(test_minimise__one_of_two_outputs),
        cmocka_unit_test(test_minimise__one_of_a_nodes_outputs),
        cmocka_unit_test(test_minimise__a_crash_needs_no_reference),
        cmocka_unit_test(test_minimise__what_does_not_matter_is_simple),
        cmocka_unit_test(test_minimise__constants_are_weights),
        cmocka_unit_test(test_minimise__scrambled_nothing_private_is_left),
        cmocka_unit_test(test_minimise__what_cannot_be_scrambled_is_told),
        cmocka_unit_test(test_minimise__a_trace_forgets_who_listened),
        cmocka_unit_test(test_minimise__a_rerun_shows_its_own_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
