/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search for what must stay in float32, over models in which that is planted.
 */
#include "precision/precision.h"

#include <math.h>
#include <sys/stat.h>

#include "interpret/cpu.h"
#include "tests/help/executor_help.h"
#include "tests/help/models.h"
#include "model/read/load.h"

#define N 8

struct found {
    struct odb_model *model;
    struct odb_feed feed;
    struct odb_feeds feeds;
    struct odb_trace *trace;
    char *folder, *path;
    struct odb_precision_result *result;
};

/* Searches for what the target (cpu if NULL) needs. */
static void found_run(struct found *f, struct odb_builder *b, struct odb_tensor *x,
                      enum odb_dtype to, const char *target, size_t probes)
{
    const char *targets[] = {target ? target : "cpu"};
    const struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    help_find_serve();
    f->model = models_take(b);
    f->feed = (struct odb_feed){.value = models_value(f->model, "x"), .tensor = x};
    f->feeds = (struct odb_feeds){&f->feed, 1, NULL};
    MODELS_OK(odb_trace_make(&f->trace, f->model, &f->feeds, &how, &why));
    f->folder = models_folder();
    f->path = odb_xasprintf("%s/mixed.onnx", f->folder);
    const struct odb_precision_case one = {&f->feeds, f->trace};
    const struct odb_precision_options options = {.to = to,
                                                  .targets = targets,
                                                  .n_targets = 1,
                                                  .tolerance = odb_precision_tolerance(to),
                                                  .probes = probes,
                                                  .path = f->path};
    MODELS_OK(odb_precision_search(&f->result, f->model, &one, 1, &options, &why));
}

static void found_close(struct found *f)
{
    odb_precision_result_free(f->result);
    odb_trace_free(f->trace);
    odb_tensor_unref(f->feed.tensor);
    odb_model_free(f->model);
    free(f->path);
    models_remove(f->folder);
}

/* The names of what must stay, in order. */
static void found_is(const struct found *f, const char *names)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t n = 0; n < f->model->graph->n_nodes; n++)
        if (f->result->nodes[n].fate == ODB_FATE_KEPT ||
            f->result->nodes[n].fate == ODB_FATE_BEYOND)
            odb_buf_printf(&text, "%s%s", text.len ? " " : "", f->model->graph->nodes[n].name);
    assert_string_equal(odb_buf_text(&text), names);
    odb_buf_dispose(&text);
}

/* The file passes, as the reference in this process sees it, without a word of the search. */
static void found_proved(const struct found *f)
{
    struct odb_model *mixed;
    struct odb_cpu *cpu;
    assert_true(f->result->written);
    assert_true(f->result->proof.passes);
    MODELS_OK(odb_model_open(&mixed, f->path, &why));
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, mixed->graph->n_values + 1);
    struct odb_cpu_run run = {.values = values};
    values[models_value(mixed, "x")] = odb_tensor_ref(f->feed.tensor);
    MODELS_OK(odb_cpu_new(&cpu, mixed, &why));
    MODELS_OK(odb_cpu_execute(cpu, &run, &why));
    const struct odb_tensor *y = values[models_value(mixed, "y")];
    const struct odb_tensor *ref = f->trace->golden[models_value(f->model, "y")];
    double off = 0, all = 0;
    assert_non_null(y);
    assert_int_equal(y->dtype, ODB_F32);
    for (size_t i = 0; i < y->count; i++) {
        off += pow(odb_tensor_f64(y, i) - odb_tensor_f64(ref, i), 2);
        all += pow(odb_tensor_f64(ref, i), 2);
    }
    assert_true(sqrt(off / all) <= odb_precision_tolerance(f->result->to).v[0]);
    assert_true(fabs(sqrt(off / all) - f->result->proof.error) < 1e-6);
    for (size_t v = 0; v < mixed->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
    odb_cpu_free(cpu);
    odb_model_free(mixed);
}

static struct odb_tensor *found_ramp(int64_t rows, int64_t cols, float base, float step)
{
    struct odb_tensor *t;
    MODELS_OK(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){rows, cols}, &why));
    for (size_t i = 0; i < t->count; i++)
        ((odb_f32 *)t->data)[i] = base + step * (float)((int)(i * 29 % 17) - 8);
    return t;
}

static void found_weight(struct odb_builder *b, const char *name, int64_t rows, int64_t cols,
                         float base, float step)
{
    struct odb_tensor *t = found_ramp(rows, cols, base, step);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

static struct odb_builder *found_graph(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){N, N});
    found_weight(b, "w", N, N, 0.05f, 0.03f);
    return b;
}

/* Harmless nodes: from -> MatMul, Tanh, Add -> to. Names begin with the prefix. */
static void found_harmless(struct odb_builder *b, const char *prefix, const char *from,
                           const char *to)
{
    const char *const ops[] = {"MatMul", "Tanh", "Add"};
    char name[64], in[64], out[64];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%d", prefix, i);
        snprintf(in, sizeof in, "%s%d_out%s", prefix, i - 1, i == 1 ? "" : " w");
        if (!i)
            snprintf(in, sizeof in, "%s w", from);
        snprintf(out, sizeof out, "%s%d_out", prefix, i);
        odb_build_node(b, ops[i], name, in, i == 2 ? to : out);
    }
}

static void test_precision__nothing_must_stay(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_harmless(b, "a", "x", "h");
    found_harmless(b, "b", "h", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 0, 0.1f), ODB_F16, NULL, 64);
    found_is(&f, "");
    assert_int_equal(f.result->n_free, 6);
    assert_true(f.result->minimal);
    assert_true(f.result->none.passes);
    assert_int_equal(f.result->probes.n, 2);
    found_proved(&f);
    found_close(&f);
}

/* A weight that float16 cannot hold, in a node whose output it can. */
static void test_precision__a_weight_overflows(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_weight(b, "large", 1, 1, 3e5f, 0);
    found_weight(b, "small", 1, 1, 1e-5f, 0);
    found_harmless(b, "a", "x", "h");
    odb_build_node(b, "Mul", "shrink", "h small", "s");
    odb_build_node(b, "Mul", "grow", "s large", "g");
    found_harmless(b, "b", "g", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 0, 0.1f), ODB_F16, NULL, 64);
    found_is(&f, "grow");
    assert_int_equal(f.result->n_beyond, 1);
    assert_non_null(strstr(f.result->nodes[4].why, "large holds 300000"));
    found_proved(&f);
    found_close(&f);
    /* which bfloat16 holds */
    b = found_graph();
    found_weight(b, "large", 1, 1, 3e5f, 0);
    odb_build_node(b, "Mul", "grow", "x large", "g");
    odb_build_node(b, "Div", "shrink", "g large", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 0, 0.1f), ODB_BF16, NULL, 64);
    found_is(&f, "");
    found_proved(&f);
    found_close(&f);
}

/* A value that float16 cannot hold: who makes it stays, and who reads it. */
static void test_precision__a_value_overflows(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_weight(b, "large", 1, 1, 2e4f, 0);
    found_weight(b, "scale", 1, 1, 5e-5f, 0);
    found_weight(b, "big", N, N, 20, 3);
    found_harmless(b, "a", "x", "h");
    odb_build_node(b, "Mul", "grow", "h large", "g");
    odb_build_node(b, "MatMul", "over", "g big", "o");
    odb_build_node(b, "Mul", "down", "o scale", "d");
    found_harmless(b, "b", "d", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 1, 0.1f), ODB_F16, NULL, 64);
    found_is(&f, "over down");
    assert_true(isinf(f.result->nodes[4].error));
    assert_non_null(strstr(f.result->nodes[4].why, "overflow: o reaches"));
    assert_true(f.result->minimal);
    found_proved(&f);
    found_close(&f);
}

/* x is 1000 and a little: what remains when 1000 is taken away is lost in float16. */
static void found_difference(struct odb_builder *b, const char *name, const char *less,
                             const char *out)
{
    char in[64];
    found_weight(b, less, N, N, 1000, 0.013f);
    snprintf(in, sizeof in, "x %s", less);
    odb_build_node(b, "Sub", name, in, out);
}

static void test_precision__a_difference_loses_everything(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_difference(b, "near", "less", "d");
    found_harmless(b, "a", "d", "h");
    found_harmless(b, "b", "h", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 1000, 0.02f), ODB_F16, NULL, 64);
    found_is(&f, "near");
    assert_non_null(strstr(f.result->nodes[0].why, "ill-conditioned"));
    assert_true(f.result->minimal);
    found_proved(&f);
    found_close(&f);
}

/* Two differences, "near" and "close", and what they come to. */
static struct odb_builder *found_two(const char *join)
{
    struct odb_builder *b = found_graph();
    found_difference(b, "near", "less", "d");
    found_harmless(b, "a", "d", "h");
    found_difference(b, "close", "lesser", "e");
    found_harmless(b, "b", "e", "i");
    odb_build_node(b, join, "both", "h i", "y");
    if (!strcmp(join, "Concat"))
        odb_build_attr_int(b, "axis", 0);
    odb_build_output(b, "y");
    return b;
}

static void test_precision__two_differences(void **state)
{
    struct found f;
    found_run(&f, found_two("Concat"), found_ramp(N, N, 1000, 0.02f), ODB_F16, NULL, 64);
    found_is(&f, "near close");
    found_proved(&f);
    found_close(&f);
}

/* The node that the type costs most may be one whose loss nobody sees: it need not stay. */
static void test_precision__the_worst_may_be_innocent(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_weight(b, "hardly", 1, 1, 1e-4f, 0);
    found_weight(b, "exactly", N, N, 1000.14f, 0.02f);
    found_difference(b, "near", "less", "d");
    found_harmless(b, "a", "d", "h");
    odb_build_node(b, "Sub", "innocent", "x exactly", "e");
    odb_build_node(b, "Mul", "quench", "e hardly", "q");
    odb_build_node(b, "Add", "join", "h q", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 1000, 0.02f), ODB_F16, NULL, 64);
    int innocent, near;
    MODELS_OK(odb_graph_find_node(f.model->graph, "innocent", &innocent, &why));
    MODELS_OK(odb_graph_find_node(f.model->graph, "near", &near, &why));
    assert_true(f.result->nodes[innocent].error > f.result->nodes[near].error);
    found_is(&f, "near");
    found_proved(&f);
    found_close(&f);
}

/* When the probes run out, more may stay than must; that is said, and the model passes. */
static void test_precision__a_budget(void **state)
{
    struct found f;
    found_run(&f, found_two("Add"), found_ramp(N, N, 1000, 0.02f), ODB_F16, NULL, 3);
    assert_int_equal(f.result->probes.n, 3);
    assert_false(f.result->minimal);
    assert_true(f.result->n_kept >= 2);
    found_proved(&f);
    found_close(&f);
}

static void found_event(void *payload, const struct odb_search_event *event)
{
    bool *proof = payload;
    *proof |= event->what == ODB_EVENT_PHASE && !strcmp(event->text, "proof");
}

static bool found_cancelled(void *payload)
{
    return *(bool *)payload;
}

/* Stopped while the file is proved: what stood there stays, and nothing is left beside it. */
static void test_precision__what_is_not_proved_is_not_there(void **state)
{
    struct odb_builder *b = found_graph();
    struct found f = {.folder = models_folder()};
    const struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    const char *target = "cpu";
    struct odb_error err = ODB_ERROR_INIT;
    bool proof = false;
    char line[16] = "";
    found_harmless(b, "a", "x", "y");
    odb_build_output(b, "y");
    help_find_serve();
    f.model = models_take(b);
    f.feed =
        (struct odb_feed){.value = models_value(f.model, "x"), .tensor = found_ramp(N, N, 0, 0.1f)};
    f.feeds = (struct odb_feeds){&f.feed, 1, NULL};
    f.path = odb_xasprintf("%s/mixed.onnx", f.folder);
    FILE *old = fopen(f.path, "w");
    fputs("old", old);
    fclose(old);
    MODELS_OK(odb_trace_make(&f.trace, f.model, &f.feeds, &how, &why));
    const struct odb_precision_case one = {&f.feeds, f.trace};
    const struct odb_precision_options options = {
        .to = ODB_F16,
        .targets = &target,
        .n_targets = 1,
        .tolerance = odb_precision_tolerance(ODB_F16),
        .probes = 64,
        .hooks = {found_event, found_cancelled, &proof, NULL},
        .path = f.path};
    assert_int_equal(odb_precision_search(&f.result, f.model, &one, 1, &options, &err),
                     ODB_CANCELLED);
    assert_true(proof);
    old = fopen(f.path, "r");
    assert_non_null(old);
    assert_non_null(fgets(line, sizeof line, old));
    fclose(old);
    assert_string_equal(line, "old");
    assert_int_equal(unlink(f.path), 0);
    assert_int_equal(rmdir(f.folder), 0); /* it is empty */
    assert_int_equal(mkdir(f.folder, 0700), 0);
    found_close(&f);
    (void)state;
}

/* A target that is wrong in float32 proves nothing, and nothing is written. */
static void test_precision__a_target_that_fails_already(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    found_harmless(b, "a", "x", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 0, 0.1f), ODB_F16, "fault:scale,node=a1,amount=0.5@cpu", 64);
    assert_false(f.result->written);
    assert_false(f.result->all.passes);
    assert_true(access(f.path, F_OK) != 0);
    assert_int_equal(f.result->probes.n, 1);
    found_close(&f);
}

/* And one that cannot run the model is an error, which says so. */
static void test_precision__a_target_that_crashes(void **state)
{
    struct found f = {.result = NULL};
    struct odb_builder *b = found_graph();
    struct odb_error err = ODB_ERROR_INIT;
    const struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    const char *targets[] = {"fault:crash,node=a1@cpu"};
    found_harmless(b, "a", "x", "y");
    odb_build_output(b, "y");
    help_find_serve();
    f.model = models_take(b);
    f.feed =
        (struct odb_feed){.value = models_value(f.model, "x"), .tensor = found_ramp(N, N, 0, 0.1f)};
    f.feeds = (struct odb_feeds){&f.feed, 1, NULL};
    MODELS_OK(odb_trace_make(&f.trace, f.model, &f.feeds, &how, &why));
    const struct odb_precision_case one = {&f.feeds, f.trace};
    const struct odb_precision_options options = {.to = ODB_F16,
                                                  .targets = targets,
                                                  .n_targets = 1,
                                                  .tolerance = odb_precision_tolerance(ODB_F16),
                                                  .probes = 64,
                                                  .path = "never.onnx"};
    assert_int_equal(odb_precision_search(&f.result, f.model, &one, 1, &options, &err),
                     ODB_E_CRASH);
    assert_null(f.result);
    odb_trace_free(f.trace);
    odb_tensor_unref(f.feed.tensor);
    odb_model_free(f.model);
}

/* One channel of what a product reads is a thousand times the others: one scale cannot serve both.
 */
static void test_precision__int8_with_an_outlier_channel(void **state)
{
    struct found f;
    struct odb_tensor *stretch = found_ramp(1, N, 1, 0), *back = found_ramp(N, N, 0.1f, 0.05f);
    struct odb_builder *b = found_graph();
    ((odb_f32 *)stretch->data)[3] = 3000;
    for (int i = 0; i < N; i++)
        ((odb_f32 *)back->data)[3 * N + i] = 1e-5f * (float)(i + 1);
    odb_build_weight(b, "stretch", stretch);
    odb_build_weight(b, "back", back);
    odb_tensor_unref(stretch);
    odb_tensor_unref(back);
    odb_build_node(b, "MatMul", "m0", "x w", "a");
    odb_build_node(b, "Mul", "outlier", "a stretch", "s");
    odb_build_node(b, "MatMul", "m1", "s back", "c");
    odb_build_node(b, "MatMul", "m2", "c w", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 0.3f, 0.1f), ODB_I8, NULL, 64);
    found_is(&f, "m1");
    assert_int_equal(f.result->n_free, 3);
    found_proved(&f);
    found_close(&f);
}

/* ONNX Runtime's processor kernels do not round between nodes: it passes with what overflows, and
 * that is said. Of bfloat16 it knows next to nothing: what it refuses stays. */
static void test_precision__onnx_runtime(void **state)
{
    struct found f;
    help_find_serve();
    if (!help_has_ort())
        skip();
    struct odb_builder *b = found_graph();
    found_weight(b, "big", N, N, 2e4f, 3e3f);
    found_weight(b, "scale", 1, 1, 5e-5f, 0);
    odb_build_node(b, "MatMul", "over", "x big", "o");
    odb_build_node(b, "Mul", "down", "o scale", "d");
    found_harmless(b, "b", "d", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 1, 0.1f), ODB_F16, "ort", 64);
    assert_true(f.result->written);
    if (f.result->n_kept == 0) {
        assert_int_equal(f.result->notes.n, 1);
        assert_non_null(strstr(f.result->notes.items[0], "o reaches"));
        assert_non_null(strstr(f.result->notes.items[0], "--target cpu"));
    } else { /* one that does round */
        found_is(&f, "over down");
    }
    found_close(&f);

    b = found_graph();
    odb_build_node(b, "Reshape", "r", "x shape", "h");
    struct odb_tensor *shape;
    MODELS_OK(odb_tensor_copy_of(&shape, ODB_I64, 1, (int64_t[]){1}, (int64_t[]){-1}, &why));
    odb_build_weight(b, "shape", shape);
    odb_tensor_unref(shape);
    odb_build_node(b, "MatMul", "m", "x w", "a");
    odb_build_node(b, "ReduceSum", "s", "a", "t");
    odb_build_node(b, "Mul", "p", "h t", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 1, 0.1f), ODB_BF16, "ort", 64);
    assert_true(f.result->written);
    if (f.result->n_fixed)
        assert_non_null(strstr(f.result->nodes[1].why, "the target refuses MatMul in bfloat16"));
    else
        found_is(&f, "");
    found_close(&f);

    /* fused into a Gemm of 8 bits, which asks for zero points where the standard does not */
    b = found_graph();
    odb_build_node(b, "MatMul", "m", "x w", "a");
    found_weight(b, "bias", 1, N, 0.1f, 0.1f);
    odb_build_node(b, "Add", "plus", "a bias", "s");
    odb_build_node(b, "MatMul", "n", "s w", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 1, 0.1f), ODB_I8, "ort", 64);
    assert_true(f.result->written);
    assert_int_equal(f.result->n_fixed, 0);
    found_is(&f, "");
    found_close(&f);
}

/* Every sample has to pass. */
static void test_precision__several_samples(void **state)
{
    const char *targets[] = {"cpu"};
    const struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_builder *b = found_graph();
    struct odb_precision_result *result;
    struct odb_feed feed[2];
    struct odb_feeds feeds[2];
    struct odb_precision_case cases[2];
    found_weight(b, "large", 1, 1, 300, 0);
    odb_build_node(b, "Mul", "grow", "x large", "g");
    odb_build_node(b, "Sigmoid", "tame", "g", "t");
    odb_build_node(b, "MatMul", "m", "t w", "u");
    odb_build_node(b, "Div", "shrink", "g large", "v");
    odb_build_node(b, "Add", "join", "u v", "y");
    odb_build_output(b, "y");
    struct odb_model *model = models_take(b);
    help_find_serve();
    char *folder = models_folder(), *path = odb_xasprintf("%s/mixed.onnx", folder);
    for (int i = 0; i < 2; i++) {
        feed[i] = (struct odb_feed){.value = models_value(model, "x"),
                                    .tensor = found_ramp(N, N, i ? 900 : 0, 0.1f)};
        feeds[i] = (struct odb_feeds){&feed[i], 1, NULL};
        MODELS_OK(odb_trace_make(&cases[i].trace, model, &feeds[i], &how, &why));
        cases[i].feeds = &feeds[i];
    }
    const struct odb_precision_options options = {.to = ODB_F16,
                                                  .targets = targets,
                                                  .n_targets = 1,
                                                  .tolerance = odb_precision_tolerance(ODB_F16),
                                                  .probes = 64,
                                                  .path = path};
    for (int n = 1; n <= 2; n++) {
        MODELS_OK(odb_precision_search(&result, model, cases, (size_t)n, &options, &why));
        assert_true(result->written);
        assert_int_equal(result->n_kept, n == 1 ? 0 : 2); /* grow, and shrink that reads it */
        odb_precision_result_free(result);
    }
    for (int i = 0; i < 2; i++) {
        odb_trace_free(cases[i].trace);
        odb_tensor_unref(feed[i].tensor);
    }
    odb_model_free(model);
    models_remove(folder);
    free(path);
}

/* Of several samples, the one that has the least of golden is told of, in words and as a number. */
static void test_precision__what_has_no_golden_is_told(void **state)
{
    struct found f;
    struct odb_builder *b = found_graph();
    odb_build_node(b, "Sigmoid", "only", "x", "y");
    odb_build_output(b, "y");
    found_run(&f, b, found_ramp(N, N, 0, 0.1f), ODB_F16, NULL, 8);
    assert_int_equal(f.result->n_no_golden, 0);
    struct odb_trace most = *f.trace;
    most.n_no_golden = 1;
    const struct odb_precision_case cases[] = {
        {&f.feeds, f.trace}, {&f.feeds, &most}, {&f.feeds, f.trace}};
    const char *targets[] = {"cpu"};
    const struct odb_precision_options options = {.to = ODB_F16,
                                                  .targets = targets,
                                                  .n_targets = 1,
                                                  .tolerance = odb_precision_tolerance(ODB_F16),
                                                  .probes = 8,
                                                  .path = f.path};
    struct odb_buf json = ODB_BUF_INIT;
    odb_precision_result_free(f.result);
    MODELS_OK(odb_precision_search(&f.result, f.model, cases, 3, &options, &why));
    assert_int_equal(f.result->notes.n, 1);
    assert_string_equal(f.result->notes.items[0], "1 of 1 nodes cannot be run in float64; the "
                                                  "reference stands in for golden there");
    odb_precision_json(f.result, &json);
    assert_non_null(strstr(odb_buf_text(&json), "\"without_golden\": 1,"));
    odb_buf_dispose(&json);
    found_close(&f);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precision__nothing_must_stay),
        cmocka_unit_test(test_precision__a_weight_overflows),
        cmocka_unit_test(test_precision__a_value_overflows),
        cmocka_unit_test(test_precision__a_difference_loses_everything),
        cmocka_unit_test(test_precision__two_differences),
        cmocka_unit_test(test_precision__the_worst_may_be_innocent),
        cmocka_unit_test(test_precision__a_budget),
        cmocka_unit_test(test_precision__what_is_not_proved_is_not_there),
        cmocka_unit_test(test_precision__a_target_that_fails_already),
        cmocka_unit_test(test_precision__a_target_that_crashes),
        cmocka_unit_test(test_precision__int8_with_an_outlier_channel),
        cmocka_unit_test(test_precision__onnx_runtime),
        cmocka_unit_test(test_precision__several_samples),
        cmocka_unit_test(test_precision__what_has_no_golden_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
