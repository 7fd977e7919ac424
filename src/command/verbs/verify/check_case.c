/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One test_data_set_N: read, run, judged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "bisect/refusal/breaks.h"
#include "command/value/names.h"
#include "command/verbs/verify/check_int.h"
#include "compare/exact.h"
#include "compare/metrics.h"
#include "compare/numpy.h"
#include "interpret/cpu.h"
#include "judge/half_step.h"
#include "model/read/pb.h"
#include "model/write/body_model.h"
#include "probe/run_values.h"

/* A case at work. */
struct check_run {
    const struct odb_model *model;
    const struct odb_cpu *cpu;
    const char *dir;            /* of the data set */
    struct odb_tensor **values; /* owned array of refs; [n_values] */
    struct odb_tensor **golden; /* owned array of refs; [n_outputs]; NULL: not there */
    bool *random;               /* owned; [n_nodes] draws, or depends on one */
    enum odb_status first;      /* why the first node that did not run did not */
    char reason[400];
};

bool check__exists(const char *dir, const char *name)
{
    struct stat info;
    char *path = odb_xasprintf("%s/%s", dir, name);
    bool there = stat(path, &info) == 0;
    free(path);
    return there;
}

/* --- running --------------------------------------------------------------------------------- */

static enum odb_status check_read(struct odb_tensor **out, const struct check_run *run,
                                  const char *what, size_t i, int value, struct odb_error *err)
{
    const struct odb_type *type = &run->model->graph->values[value].type;
    char *path = odb_xasprintf("%s/%s_%zu.pb", run->dir, what, i);
    enum odb_status status = odb_pb_read_as(out, type, path, err);
    free(path);
    return status;
}

static size_t check_count(const struct check_run *run, const char *what)
{
    size_t n = 0;
    for (bool there = true; there; n += there) {
        char name[64];
        snprintf(name, sizeof name, "%s_%zu.pb", what, n);
        there = check__exists(run->dir, name);
    }
    return n;
}

/* Inputs stand for the feeds in order; where there are more files than feeds, for all of the
 * graph's inputs, those with an initializer among them. */
static enum odb_status check_inputs(struct check_run *run, struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    int *feeds = odb_new_n(int, graph->n_inputs + 1);
    size_t n = odb_graph_feeds(graph, feeds), n_files = check_count(run, "input");
    const int *order = feeds;
    enum odb_status status = ODB_OK;
    if (n_files > n && n_files == graph->n_inputs) {
        order = graph->inputs;
        n = n_files;
    }
    /* A weight that is stored sparse stays: ONNX Runtime, whose data this may be, does not let
     * it be replaced. */
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        if (!graph->values[order[i]].init_is_sparse)
            status = check_read(&run->values[order[i]], run, "input", i, order[i], err);
    free(feeds);
    return status;
}

static enum odb_status check_golden(struct check_run *run, struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        char name[64];
        snprintf(name, sizeof name, "output_%zu.pb", i);
        if (check__exists(run->dir, name))
            ODB_TRY(check_read(&run->golden[i], run, "output", i, graph->outputs[i], err));
    }
    return ODB_OK;
}

/* Keeps the first reason; what depends on the node fails for want of it. */
static enum odb_status check_after(void *payload, int node, enum odb_status status,
                                   struct odb_error *err)
{
    struct check_run *run = payload;
    char label[200], text[2048];
    if (status == ODB_OK || status == ODB_SKIPPED || run->first != ODB_OK)
        return ODB_OK;
    const struct odb_node *at = &run->model->graph->nodes[node];
    const char *why = err ? odb_error_text(err, text, sizeof text) : odb_status_text(status);
    run->first = status;
    snprintf(run->reason, sizeof run->reason, "%s%s%s (%s): %.250s", at->domain,
             *at->domain ? "::" : "", at->op_type, odb_node_label(at, label, sizeof label), why);
    return ODB_OK;
}

static enum odb_status check_run_cpu(struct check_run *run, struct odb_error *err)
{
    struct odb_cpu_run cpu_run = {.precision = ODB_PREC_NATIVE,
                                  .seed = 42,
                                  .values = run->values,
                                  .free_dead = true,
                                  .after = check_after,
                                  .payload = run};
    return odb_cpu_execute(run->cpu, &cpu_run, err);
}

/* A target that refuses what it runs with other options has failed, and lacks nothing. */
static enum odb_status check_refused(const struct check_run *run, const struct odb_feeds *feeds,
                                     const char *target, enum odb_status had, struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    char *plain;
    struct odb_error why = *err;
    ODB_TRY(odb_refusal_breaks_run(&plain, run->model, feeds, target, graph->outputs,
                                   graph->n_outputs, &why, NULL, err));
    if (!plain)
        return had;
    odb_error_at(err, "refused, and it runs with %s", plain);
    free(plain);
    return err->code = ODB_E_EXECUTOR;
}

static enum odb_status check_run_target(struct check_run *run, const char *target,
                                        struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    struct odb_feeds feeds = {.items = odb_new_n(struct odb_feed, graph->n_inputs + 1),
                              .warnings = (char *)""};
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    for (size_t i = 0; i < graph->n_inputs; i++)
        if (run->values[graph->inputs[i]])
            feeds.items[feeds.n++] = (struct odb_feed){.value = graph->inputs[i],
                                                       .tensor = run->values[graph->inputs[i]]};
    enum odb_status status = odb_run_values(run->model, &feeds, target, graph->outputs,
                                            graph->n_outputs, outputs, NULL, 0, NULL, err);
    for (size_t i = 0; i < graph->n_outputs && status == ODB_OK; i++) {
        odb_tensor_unref(run->values[graph->outputs[i]]);
        run->values[graph->outputs[i]] = outputs[i];
    }
    if (status != ODB_OK)
        status = check_refused(run, &feeds, target, status, err);
    free(outputs);
    free(feeds.items);
    return status;
}

/* --- judging --------------------------------------------------------------------------------- */

/* What random draws must still agree in, and what must agree before numbers are looked at. */
static bool check_same_type(const struct odb_tensor *e, const struct odb_tensor *b, char *why,
                            size_t size)
{
    char text[2][300];
    bool same = e->kind == b->kind && e->n_items == b->n_items &&
                (e->kind != ODB_TENSOR || (e->dtype == b->dtype && odb_tensor_same_shape(e, b)));
    if (!same)
        snprintf(why, size, "%s where %s is expected",
                 odb_call__type_text(e, text[0], sizeof text[0]),
                 odb_call__type_text(b, text[1], sizeof text[1]));
    for (size_t i = 0; same && i < e->n_items; i++)
        same = check_same_type(e->items[i], b->items[i], why, size);
    return same;
}

/* The element that misses its bound by most; one that is NaN or Inf on one side only comes first.
 */
static size_t check_worst(const struct odb_criterion *c, const struct odb_tensor *e,
                          const struct odb_tensor *b)
{
    size_t worst = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < e->count; i++) {
        double x = odb_tensor_f64(e, i), y = odb_tensor_f64(b, i);
        bool finite = isfinite(x) && isfinite(y), same = x == y || (isnan(x) && isnan(y));
        double d = fabs(odb_exact_minus(e->dtype, e->data, b->dtype, b->data, i));
        double over = finite ? d - c->v[1] - c->v[0] * fabs(y) : same ? -INFINITY : INFINITY;
        if (over > most) {
            most = over;
            worst = i;
        }
    }
    return worst;
}

static bool check_close(const struct odb_criterion *c, const struct odb_tensor *e,
                        const struct odb_tensor *b, char *why, size_t size)
{
    size_t bad = 0;
    for (size_t i = 0; i < e->n_items; i++)
        if (!check_close(c, e->items[i], b->items[i], why, size))
            return false;
    if (e->kind != ODB_TENSOR)
        return true;
    if (c->kind != ODB_CRITERION_ALLCLOSE || e->dtype == ODB_STRING)
        return odb_criterion_apply(c, e, b, why, size) == ODB_VERDICT_PASS;
    if (odb_all_close(e, b, c->v[0], c->v[1], true, &bad))
        return true;
    size_t worst = check_worst(c, e, b);
    struct odb_exact_texts texts = odb_exact_texts(odb_exact_value(e->dtype, e->data, worst),
                                                   odb_exact_value(b->dtype, b->data, worst));
    snprintf(why, size, "%zu of %zu elements differ, most at %zu: %s where %s is expected", bad,
             e->count, worst, texts.x, texts.y);
    return false;
}

/* --tol, else the loosest that an operator of the model asks for, else the default. */
static struct odb_criterion check_tolerance(const struct check_rules *rules,
                                            const struct check_run *run)
{
    struct odb_criterion c = rules->tolerance, own;
    for (size_t i = 0; !rules->own_tolerance && i < run->model->graph->n_nodes; i++) {
        const struct odb_op *op = odb_cpu_op(run->cpu, (int)i);
        if (op && op->tolerance && odb_criterion_parse(&own, op->tolerance, NULL) == ODB_OK &&
            own.kind == c.kind)
            for (int k = 0; k < 2; k++)
                c.v[k] = ODB_MAX(c.v[k], own.v[k]);
    }
    return c;
}

static void check_mark_random(struct check_run *run)
{
    const struct odb_graph *graph = run->model->graph;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        bool random = odb_cpu_random(run->cpu, (int)i);
        for (size_t k = 0; k < odb_node_n_reads(node); k++) {
            int value = odb_node_reads(node, k);
            int from = value == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[value].producer;
            random |= from != ODB_NO_NODE && run->random[from];
        }
        run->random[i] = random;
    }
}

/* Notes how far an output is from what is expected. */
static void check_note(struct check_result *result, const struct odb_tensor *e,
                       const struct odb_tensor *b)
{
    struct odb_distance d;
    if (!odb_distance(&d, e, b))
        return;
    double error = d.mismatched ? INFINITY : d.error;
    result->error = result->measured ? fmax(result->error, error) : error;
    result->measured = true;
}

/* An optional that holds something is what it holds, where the other side is no optional. */
static void check_unwrap(const struct odb_tensor **a, const struct odb_tensor *b)
{
    while ((*a)->kind == ODB_OPTIONAL && b->kind != ODB_OPTIONAL && (*a)->n_items == 1)
        *a = (*a)->items[0];
}

/* Outputs become what they may have been before the target stored them as integers, unless that is
 * any small number. */
static enum odb_status check_unround(struct check_run *run, struct odb_error *err)
{
    const struct odb_graph *graph = run->model->graph;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        struct odb_tensor **e = &run->values[graph->outputs[i]], *near;
        if (!*e || !run->golden[i] || odb_half_step_hides(*e, run->golden[i]))
            continue;
        ODB_TRY(odb_half_step(&near, *e, run->golden[i], err));
        odb_tensor_unref(*e);
        *e = near;
    }
    return ODB_OK;
}

/* The first output that is wrong gives the reason, be another one without a kernel or not; the
 * error is that of the worst. */
static void check_judge(struct check_result *result, const struct check_rules *rules,
                        const struct check_run *run)
{
    const struct odb_graph *graph = run->model->graph;
    struct odb_criterion c = check_tolerance(rules, run);
    result->outcome = CHECK_PASSED;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const struct odb_value *value = &graph->values[graph->outputs[i]];
        const struct odb_tensor *e = run->values[value->index], *b = run->golden[i];
        bool random = value->producer != ODB_NO_NODE && run->random[value->producer];
        char why[300] = "";
        if (!b)
            continue;
        if (!e) {
            if (result->outcome == CHECK_PASSED) {
                snprintf(result->text, sizeof result->text, "%s",
                         run->first ? run->reason : "an output was not computed");
                result->outcome = run->first == ODB_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_FAILED;
            }
            continue;
        }
        check_unwrap(&e, b);
        check_unwrap(&b, e);
        if (!random)
            check_note(result, e, b);
        bool agrees = check_same_type(e, b, why, sizeof why) &&
                      (random || check_close(&c, e, b, why, sizeof why));
        if (!agrees && result->outcome != CHECK_FAILED) {
            snprintf(result->text, sizeof result->text, "%.100s: %s", value->name, why);
            result->outcome = CHECK_FAILED;
        }
    }
}

void check__case(struct check_result *result, const struct check_rules *rules,
                 const struct odb_model *model, const struct odb_cpu *cpu, const char *dir)
{
    struct odb_error err = ODB_ERROR_INIT;
    const struct odb_graph *graph = model->graph;
    struct check_run run = {.model = model,
                            .cpu = cpu,
                            .dir = dir,
                            .values = odb_new_n(struct odb_tensor *, graph->n_values + 1),
                            .golden = odb_new_n(struct odb_tensor *, graph->n_outputs + 1),
                            .random = odb_new_n(bool, graph->n_nodes + 1)};
    enum odb_status status = check_inputs(&run, &err);
    if (status == ODB_OK)
        status = check_golden(&run, &err);
    if (status == ODB_OK)
        status =
            rules->target ? check_run_target(&run, rules->target, &err) : check_run_cpu(&run, &err);
    if (status == ODB_OK)
        status = check_unround(&run, &err);
    if (status == ODB_OK) {
        check_mark_random(&run);
        check_judge(result, rules, &run);
    } else {
        char text[2048];
        result->outcome = status == ODB_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_FAILED;
        snprintf(result->text, sizeof result->text, "%.480s",
                 odb_error_text(&err, text, sizeof text));
    }
    for (size_t i = 0; i < graph->n_values; i++)
        odb_tensor_unref(run.values[i]);
    for (size_t i = 0; i < graph->n_outputs; i++)
        odb_tensor_unref(run.golden[i]);
    free(run.values);
    free(run.golden);
    free(run.random);
}

/* --- operators ------------------------------------------------------------------------------- */

static void check_collect(struct odb_buf *names, struct odb_map *seen,
                          const struct odb_graph *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        struct odb_body body;
        char *name =
            odb_xasprintf("%s%s%s", node->domain, *node->domain ? "::" : "", node->op_type);
        bool is_new = odb_map_add(seen, name, 0);
        if (is_new)
            odb_buf_add(names, name, strlen(name) + 1);
        free(name);
        /* A function's body is the same in every call. */
        for (size_t k = 0; (is_new || !node->function) && odb_body_at(node, k, &body); k++)
            check_collect(names, seen, body.graph);
    }
}

void check__operators(struct odb_buf *names, const struct odb_model *model)
{
    struct odb_map *seen = odb_map_new();
    check_collect(names, seen, model->graph);
    odb_map_free(seen);
}
