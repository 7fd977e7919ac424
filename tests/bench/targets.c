/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What it costs that a target is another process, here or behind ssh: the same executor in this
 * process, in a child, and in a child over ssh to loopback, in turn, in one run; medians.
 *
 *   bench-targets [--runs N] [--mb N] [MODEL…]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/clock.h"
#include "system/scratch.h"
#include "inputs/inputs.h"
#include "executor/transport/target.h"
#include "model/write/build.h"
#include "tests/help/sshd_help.h"
#include "model/read/load.h"
#include "model/write/write.h"

enum { INSIDE, CHILD, SSH, LANES };

static const char *const lane_names[LANES] = {"in process", "child", "ssh"};

struct lanes {
    struct odb_executor *inside;
    struct odb_target *targets[LANES];
    bool have[LANES];
    size_t runs, mb;
};

/* A model as the debugger would give it to a target, and what it is fed with. */
struct job {
    struct odb_buf bytes;
    const char *dir;
    struct odb_named *inputs;
    size_t n_inputs;
    const char **outputs;
    size_t n_outputs;
};

static void must(enum odb_status status, const struct odb_error *err)
{
    char text[2048];
    if (status == ODB_OK)
        return;
    fprintf(stderr, "bench-targets: %s\n", odb_error_text(err, text, sizeof text));
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, size_t n)
{
    qsort(list, n, sizeof *list, by_value);
    return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

/* --- lanes ----------------------------------------------------------------------------------- */

static void lanes_open(struct lanes *lanes, const char *spec, const struct help_sshd *sshd)
{
    struct odb_error err = ODB_ERROR_INIT;
    char *far = odb_xasprintf("ssh:loopback,%s", spec);
    must(odb_executor_open(&lanes->inside, spec, &err), &err);
    must(odb_target_open(&lanes->targets[CHILD], spec, &err), &err);
    if (!sshd->why[0])
        must(odb_target_open(&lanes->targets[SSH], far, &err), &err);
    lanes->have[INSIDE] = lanes->have[CHILD] = true;
    lanes->have[SSH] = !sshd->why[0];
    free(far);
}

static void lanes_close(struct lanes *lanes)
{
    odb_executor_close(lanes->inside);
    odb_target_close(lanes->targets[CHILD]);
    odb_target_close(lanes->targets[SSH]);
}

static double lane_load(const struct lanes *lanes, int lane, const struct job *job)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_load load = {.bytes = job->bytes.data, .size = job->bytes.len, .dir = job->dir};
    double begin = odb_clock();
    must(lane == INSIDE ? odb_executor_load(lanes->inside, &load, &err)
                        : odb_target_load(lanes->targets[lane], &load, &err),
         &err);
    return odb_clock() - begin;
}

static double lane_run(const struct lanes *lanes, int lane, const struct job *job,
                       const struct odb_named *inputs)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, job->n_outputs + 1);
    double begin = odb_clock();
    must(lane == INSIDE ? odb_executor_run(lanes->inside, inputs, job->n_inputs, job->outputs,
                                           job->n_outputs, out, &err)
                        : odb_target_run(lanes->targets[lane], inputs, job->n_inputs, job->outputs,
                                         job->n_outputs, out, &err),
         &err);
    double seconds = odb_clock() - begin;
    for (size_t i = 0; i < job->n_outputs; i++)
        odb_tensor_unref(out[i]);
    free(out);
    return seconds;
}

/* Inputs that no child has seen yet. */
static struct odb_named *fresh_inputs(const struct job *job)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_named *inputs = odb_new_n(struct odb_named, job->n_inputs + 1);
    for (size_t i = 0; i < job->n_inputs; i++) {
        struct odb_tensor *t;
        must(odb_tensor_clone(&t, job->inputs[i].tensor, &err), &err);
        inputs[i] = (struct odb_named){job->inputs[i].name, t};
    }
    return inputs;
}

static void drop_inputs(const struct job *job, struct odb_named *inputs)
{
    for (size_t i = 0; i < job->n_inputs; i++)
        odb_tensor_unref((struct odb_tensor *)inputs[i].tensor);
    free(inputs);
}

/* --- rows ------------------------------------------------------------------------------------ */

static void put_row(const struct lanes *lanes, const char *what, double seconds[LANES])
{
    printf("  %-26s", what);
    for (int l = 0; l < LANES; l++)
        if (lanes->have[l])
            printf(" %10.3f ms", seconds[l] * 1e3);
    for (int l = CHILD; l < LANES; l++)
        if (lanes->have[l])
            printf("   %s +%.3f ms (%.2fx)", lane_names[l], (seconds[l] - seconds[INSIDE]) * 1e3,
                   seconds[l] / seconds[INSIDE]);
    printf("\n");
    fflush(stdout);
}

static void bench_job(const struct lanes *lanes, const struct job *job, const char *loads,
                      const char *runs)
{
    double *load[LANES], *run[LANES], load_median[LANES] = {0}, run_median[LANES] = {0};
    for (int l = 0; l < LANES; l++) {
        load[l] = odb_new_n(double, lanes->runs);
        run[l] = odb_new_n(double, lanes->runs);
    }
    for (size_t r = 0; r <= lanes->runs; r++)
        for (int l = 0; l < LANES; l++) {
            if (!lanes->have[l])
                continue;
            double load_seconds = lane_load(lanes, l, job);
            struct odb_named *inputs = fresh_inputs(job);
            double run_seconds = lane_run(lanes, l, job, inputs);
            drop_inputs(job, inputs);
            if (r == 0) /* warms up; over ssh, brings the weights there */
                continue;
            load[l][r - 1] = load_seconds;
            run[l][r - 1] = run_seconds;
        }
    for (int l = 0; l < LANES; l++) {
        load_median[l] = median(load[l], lanes->runs);
        run_median[l] = median(run[l], lanes->runs);
        free(load[l]);
        free(run[l]);
    }
    if (loads)
        put_row(lanes, loads, load_median);
    put_row(lanes, runs, run_median);
}

/* --- models ---------------------------------------------------------------------------------- */

static void job_of(struct job *job, const struct odb_model *model, const struct odb_feeds *feeds,
                   bool all)
{
    const struct odb_graph *graph = model->graph;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_port *in = odb_new_n(struct odb_port, feeds->n + 1);
    struct odb_port *out = odb_new_n(struct odb_port, graph->n_values + 1);
    bool *seen = odb_new_n(bool, graph->n_values + 1);
    *job = (struct job){.bytes = ODB_BUF_INIT, .dir = model->dir};
    job->inputs = odb_new_n(struct odb_named, feeds->n + 1);
    job->outputs = odb_new_n(const char *, graph->n_values + 1);
    for (size_t i = 0; i < feeds->n; i++) {
        int v = feeds->items[i].value;
        in[i] = (struct odb_port){.value = v, .like = feeds->items[i].tensor};
        job->inputs[i] = (struct odb_named){graph->values[v].name, feeds->items[i].tensor};
    }
    job->n_inputs = feeds->n;
    for (size_t o = 0; o < graph->n_outputs; o++)
        seen[graph->outputs[o]] = true;
    for (size_t v = 0; v < graph->n_values; v++)
        if (seen[v] ||
            (all && graph->values[v].producer != ODB_NO_NODE && graph->values[v].name[0])) {
            out[job->n_outputs] = (struct odb_port){.value = (int)v};
            job->outputs[job->n_outputs++] = graph->values[v].name;
        }
    struct odb_extract what = {.inputs = in,
                               .n_inputs = job->n_inputs,
                               .outputs = out,
                               .n_outputs = job->n_outputs,
                               .weights = ODB_WEIGHTS_REFERENCE};
    must(odb_model_extract(model, &what, &job->bytes, &err), &err);
    free(in);
    free(out);
    free(seen);
}

static void job_dispose(struct job *job)
{
    odb_buf_dispose(&job->bytes);
    free(job->inputs);
    free(job->outputs);
}

static void bench_model(const struct lanes *lanes, const char *path)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    struct odb_feeds *feeds;
    must(odb_model_open(&model, path, &err), &err);
    must(odb_feeds_make(&feeds, model, &(struct odb_input_options){.seed = 42}, &err), &err);
    struct job plain, all;
    job_of(&plain, model, feeds, false);
    job_of(&all, model, feeds, true);
    const char *slash = strrchr(path, '/');
    printf("%s: %zu nodes\n", slash ? slash + 1 : path, model->graph->n_nodes);
    bench_job(lanes, &plain, "load", "run");
    bench_job(lanes, &all, NULL, "run, all values read");
    job_dispose(&plain);
    job_dispose(&all);
    odb_feeds_free(feeds);
    odb_model_free(model);
}

/* --- children -------------------------------------------------------------------------------- */

static void bench_starts(const struct lanes *lanes)
{
    for (int l = CHILD; l < LANES; l++) {
        double *list = odb_new_n(double, lanes->runs);
        for (size_t r = 0; r < lanes->runs && lanes->have[l]; r++) {
            struct odb_target *target;
            struct odb_error err = ODB_ERROR_INIT;
            double begin = odb_clock();
            must(odb_target_open(&target, odb_target_spec(lanes->targets[l]), &err), &err);
            odb_target_close(target);
            list[r] = odb_clock() - begin;
        }
        if (lanes->have[l]) {
            double seconds = median(list, lanes->runs);
            printf("  start and end, %-11s %10.1f ms: %.0f a second\n", lane_names[l],
                   seconds * 1e3, 1 / seconds);
        }
        free(list);
    }
}

/* y = Shape(x) takes x in and gives nothing to speak of; y = Identity(x) with an x that is known
 * gives x back. */
static void transfer_job(struct job *job, const char *op, int64_t n, const struct odb_tensor *x)
{
    static const char *y = "y";
    struct odb_builder *b = odb_build_new("transfer", 17);
    *job = (struct job){.bytes = ODB_BUF_INIT, .dir = ".", .n_inputs = 1, .n_outputs = 1};
    odb_build_input(b, "x", ODB_F32, 1, &n);
    odb_build_node(b, op, "n", "x", "y");
    if (!strcmp(op, "Shape"))
        odb_build_output_typed(b, "y", ODB_I64, 1, &(int64_t){1});
    else
        odb_build_output_typed(b, "y", ODB_F32, 1, &n);
    odb_build_bytes(b, &job->bytes);
    odb_build_free(b);
    job->inputs = odb_new(struct odb_named);
    job->inputs[0] = (struct odb_named){"x", x};
    job->outputs = odb_new(const char *);
    job->outputs[0] = y;
}

static struct odb_tensor *filled(int64_t n, float value)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *t;
    must(odb_tensor_new(&t, ODB_F32, 1, &n, &err), &err);
    for (int64_t i = 0; i < n; i++)
        ((float *)t->data)[i] = value;
    return t;
}

static void bench_transfer(const struct lanes *lanes, int lane, size_t mb)
{
    enum { TIMES = 5 };
    int64_t n = (int64_t)(mb << 20) / (int64_t)sizeof(float);
    double there[TIMES], back[TIMES], copy[TIMES], gb = (double)(mb << 20) / 1e9;
    struct odb_tensor *x[2] = {filled(n, 1), filled(n, 2)};
    struct job shape, identity;
    transfer_job(&shape, "Shape", n, x[0]);
    transfer_job(&identity, "Identity", n, x[0]);
    for (int i = 0; i <= TIMES; i++) {
        struct odb_named in = {"x", x[i % 2]};
        lane_load(lanes, lane, &shape);
        double a = lane_run(lanes, lane, &shape, &in);
        lane_load(lanes, lane, &identity);
        double b = lane_run(lanes, lane, &identity, &in);
        double begin = odb_clock();
        memcpy(x[(i + 1) % 2]->data, x[i % 2]->data, x[0]->bytes);
        if (i > 0) {
            there[i - 1] = a;
            back[i - 1] = b;
            copy[i - 1] = odb_clock() - begin;
        }
    }
    printf("  %4zu MB, %-11s  there %.2f GB/s, back %.2f GB/s (a memcpy: %.2f GB/s)\n", mb,
           lane_names[lane], gb / median(there, TIMES), gb / median(back, TIMES),
           gb / median(copy, TIMES));
    fflush(stdout);
    job_dispose(&shape);
    job_dispose(&identity);
    odb_tensor_unref(x[0]);
    odb_tensor_unref(x[1]);
}

/* --- all of it ------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    struct lanes lanes = {.runs = 21, .mb = 1024};
    struct help_sshd sshd;
    char dir[] = "/tmp/bench-targets-XXXXXX";
    int i = 1;
    for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
        if (!strcmp(argv[i], "--runs"))
            lanes.runs = strtoul(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--mb"))
            lanes.mb = strtoul(argv[i + 1], NULL, 10);
    }
    if (!lanes.runs || !lanes.mb || !mkdtemp(dir)) {
        fprintf(stderr, "usage: bench-targets [--runs N] [--mb N] [MODEL...]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    help_sshd_start(&sshd, dir);
    char *serve = odb_xasprintf("ONNXDBG_CACHE=%s/cache %s", dir, getenv("ONNXDBG_SERVE"));
    setenv("ONNXDBG_REMOTE_SERVE", serve, 1);
    if (sshd.why[0])
        printf("without ssh: %s\n", sshd.why);
    lanes_open(&lanes, "cpu,threads=1", &sshd);
    printf("%zu runs of each; medians\n", lanes.runs);
    for (; i < argc; i++)
        bench_model(&lanes, argv[i]);
    printf("children\n");
    bench_starts(&lanes);
    printf("large tensors\n");
    bench_transfer(&lanes, CHILD, lanes.mb);
    if (lanes.have[SSH])
        bench_transfer(&lanes, SSH, (lanes.mb + 3) / 4);
    lanes_close(&lanes);
    help_sshd_stop(&sshd);
    odb_scratch_remove(dir);
    free(serve);
    return 0;
}
