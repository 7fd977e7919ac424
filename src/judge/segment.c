/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A segment is cut out as a model of its own, with a trace of its own: the reference, float64 and
 * noise from the given values on. So its end is judged as an output of any model is, and by the
 * noise of the segment alone.
 *
 * Decisions inside it (ArgMax, rounding) cannot be looked at. The trace keeps golden and noisy runs
 * on one branch; where the verdict is bad, noisy runs that are free to decide otherwise say how far
 * off an honest implementation may come out.
 */
#include "judge/segment.h"
#include "judge/half_step.h"
#include "judge/steps.h"
#include "judge/stored_inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/feeds.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "model/read/load.h"
#include "model/write/write.h"

#define SEGMENT_NOISY_RUNS 3
#define SEGMENT_NOISY_SEED 0x5e93e700u

/* --- what belongs to it ----------------------------------------------------------------------- */

static const struct odb_tensor *segment_known(const struct odb_trace *trace, int value,
                                              struct odb_tensor *const *given)
{
    const struct odb_value *v = &trace->model->graph->values[value];
    if (given[value])
        return given[value];
    return v->producer == ODB_NO_NODE ? odb_trace_value(trace, value) : NULL;
}

/* Values that the marked nodes read, and none of them makes or that are given; initializers are no
 * part of a border. */
static void segment_border(struct odb_segment *s, const struct odb_trace *trace,
                           struct odb_tensor *const *given)
{
    const struct odb_graph *graph = trace->model->graph;
    s->border = odb_new_n(int, graph->n_values);
    s->closed = true;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        bool inside = value->producer != ODB_NO_NODE && s->nodes[value->producer] && !given[v];
        bool read = false;
        for (size_t c = 0; c < value->n_consumers && !read; c++)
            read = s->nodes[value->consumers[c]];
        if (!read || inside || (int)v == s->value || (value->init && !given[v]))
            continue;
        s->border[s->n_border++] = (int)v;
        s->closed &= segment_known(trace, (int)v, given) != NULL;
    }
}

void odb_segment_init(struct odb_segment *s, const struct odb_trace *trace, int value,
                      struct odb_tensor *const *given)
{
    const struct odb_graph *graph = trace->model->graph;
    bool *stop = odb_new_n(bool, graph->n_values);
    *s =
        (struct odb_segment){.value = value, .first = -1, .nodes = odb_new_n(bool, graph->n_nodes)};
    for (size_t v = 0; v < graph->n_values; v++)
        stop[v] = given[v] && (int)v != value;
    odb_graph_ancestors(graph, &value, 1, stop, s->nodes);
    segment_border(s, trace, given);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        if (!s->nodes[n])
            continue;
        s->first = s->first < 0 ? (int)n : s->first;
        s->last = (int)n;
        s->n_nodes++;
        s->closed &=
            !odb_cpu_random(trace->cpu, (int)n) && !odb_cpu_unsupported(trace->cpu, (int)n)[0];
    }
    free(stop);
}

void odb_segment_dispose(struct odb_segment *s)
{
    free(s->nodes);
    free(s->border);
}

/* --- as a model of its own -------------------------------------------------------------------- */

struct segment_run {
    struct odb_model *model; /* owned */
    struct odb_feeds feeds;  /* owned items */
    struct odb_trace *trace; /* owned */
    int value;               /* its end, in this model */
};

static void segment_run_dispose(struct segment_run *run)
{
    odb_trace_free(run->trace);
    for (size_t i = 0; i < run->feeds.n; i++)
        odb_tensor_unref(run->feeds.items[i].tensor);
    free(run->feeds.items);
    odb_model_free(run->model);
}

static enum odb_status segment_cut(struct segment_run *run, const struct odb_segment *s,
                                   const struct odb_trace *trace, struct odb_tensor *const *given,
                                   struct odb_error *err)
{
    const struct odb_model *model = trace->model;
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_port *in = odb_new_n(struct odb_port, s->n_border);
    struct odb_port out = {.value = s->value, .like = trace->ref[s->value]};
    for (size_t i = 0; i < s->n_border; i++)
        in[i] = (struct odb_port){.value = s->border[i],
                                  .like = segment_known(trace, s->border[i], given)};
    struct odb_extract what = {.nodes = s->nodes,
                               .inputs = in,
                               .n_inputs = s->n_border,
                               .outputs = &out,
                               .n_outputs = 1,
                               .weights = ODB_WEIGHTS_REFERENCE};
    enum odb_status status = odb_model_extract(model, &what, &bytes, err);
    if (status == ODB_OK)
        status = odb_model_open_bytes(&run->model, bytes.data, bytes.len, NULL, model->base,
                                      "segment", err);
    odb_buf_dispose(&bytes);
    free(in);
    return status;
}

static void segment_feed(struct segment_run *run, const struct odb_segment *s,
                         const struct odb_trace *trace, struct odb_tensor *const *given)
{
    run->feeds.items = odb_new_n(struct odb_feed, s->n_border + 1);
    for (size_t i = 0; i < s->n_border; i++) {
        const char *name = trace->model->graph->values[s->border[i]].name;
        const struct odb_value *value = odb_graph_value(run->model->graph, name);
        struct odb_feed *feed = &run->feeds.items[run->feeds.n++];
        *feed =
            (struct odb_feed){.value = value->index,
                              .tensor = odb_tensor_ref(segment_known(trace, s->border[i], given)),
                              .source = "given"};
    }
    run->value =
        odb_graph_value(run->model->graph, trace->model->graph->values[s->value].name)->index;
}

/* Runs the reference over it. ODB_OK with a trace that has no value at the end: it cannot. */
static enum odb_status segment_run(struct segment_run *run, const struct odb_segment *s,
                                   const struct odb_trace *trace, struct odb_tensor *const *given,
                                   struct odb_error *err)
{
    struct odb_trace_options how = {.reference = trace->precision,
                                    .golden = ODB_PREC_F64,
                                    .expect = trace->expect,
                                    .encodings = trace->encodings,
                                    .seed = trace->seed};
    how.hooks.cancelled = trace->hooks.cancelled;
    how.hooks.payload = trace->hooks.payload;
    ODB_TRY(segment_cut(run, s, trace, given, err));
    segment_feed(run, s, trace, given);
    ODB_TRY(odb_trace_make(&run->trace, run->model, &run->feeds, &how, err));
    run->trace->hooks = how.hooks;
    run->trace->part = true;
    return ODB_OK;
}

/* --- decisions inside it ---------------------------------------------------------------------- */

static bool segment_decides(const struct segment_run *run)
{
    for (size_t n = 0; n < run->model->graph->n_nodes; n++) {
        const struct odb_op *op = odb_cpu_op(run->trace->cpu, (int)n);
        if (!op || (op->flags & ODB_OP_BOUNDARY))
            return true;
    }
    return false;
}

static bool segment_is_float(const struct segment_run *run, int value)
{
    const struct odb_tensor *t = odb_trace_value(run->trace, value);
    return t && odb_tensor_real(t) != ODB_UNDEFINED;
}

/* Whether but one node decides on floats that are computed inside: the others decide on what was
 * given, as a quantiser at its beginning does, or go by integers, which has one answer. */
static bool segment_decides_once(const struct segment_run *run)
{
    const struct odb_graph *graph = run->model->graph;
    bool *computed = odb_new_n(bool, graph->n_values + 1);
    size_t decide = 0;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        const struct odb_op *op = odb_cpu_op(run->trace->cpu, (int)n);
        bool decides = !op || (op->flags & ODB_OP_BOUNDARY), floats = false, on = false;
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i);
            on |= v >= 0 && computed[v];
            floats |= v >= 0 && computed[v] && segment_is_float(run, v);
        }
        decide += decides && floats;
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                computed[node->out[o]] = on || !(decides || (op->flags & ODB_OP_EXACT));
    }
    free(computed);
    return decide <= 1;
}

/* How far the end comes out from golden when the runs are not kept on its branch. */
static enum odb_status segment_free_runs(const struct segment_run *run, struct odb_gap *worst,
                                         struct odb_error *err)
{
    size_t n = run->model->graph->n_values;
    enum odb_status status = ODB_OK;
    *worst = (struct odb_gap){.comparable = true};
    for (int i = 0; i < SEGMENT_NOISY_RUNS && status == ODB_OK; i++) {
        struct odb_tensor **values = odb_new_n(struct odb_tensor *, n);
        struct odb_gap gap = {.comparable = false};
        for (size_t f = 0; f < run->feeds.n; f++)
            values[run->feeds.items[f].value] = odb_tensor_ref(run->feeds.items[f].tensor);
        struct odb_cpu_run how = {.precision = ODB_PREC_NOISY,
                                  .seed = SEGMENT_NOISY_SEED + run->trace->seed + (uint64_t)i,
                                  .values = values};
        status = odb_cpu_execute(run->trace->cpu, &how, err);
        if (values[run->value])
            odb_gap_measure(&gap, values[run->value], run->trace->golden[run->value]);
        worst->error = fmax(worst->error, gap.comparable ? gap.error : INFINITY);
        worst->mean = fmax(worst->mean, gap.comparable ? gap.mean : INFINITY);
        worst->comparable &= gap.comparable;
        for (size_t v = 0; v < n; v++)
            odb_tensor_unref(values[v]);
        free(values);
    }
    return status;
}

/* The end is on a quantiser's grid; may the steps that it is off be honest? *told: that is known.
 */
static enum odb_status segment_steps(const struct odb_judge *judge, const struct segment_run *run,
                                     const struct odb_tensor *t, struct odb_value_report *report,
                                     bool *told, struct odb_error *err)
{
    struct odb_steps steps;
    ODB_TRY(
        odb_steps_measure(&steps, run->trace, run->value, NULL, t, judge->tolerance->v[0], err));
    bool honest = odb_steps_honest(&steps);
    *told = honest || (steps.known && segment_decides_once(run));
    if (!*told)
        return ODB_OK;
    report->noise = ODB_NUMBER(steps.spread);
    report->boundary = true;
    if (honest)
        report->verdict = ODB_VERDICT_PASS;
    else
        snprintf(
            report->reason, sizeof report->reason,
            "%zu of %zu elements are no rounding of what comes before, %zu by more than a step",
            steps.off, steps.n, steps.wide);
    return ODB_OK;
}

/* The end is off, by error; may a decision inside that fell otherwise have done it? */
static enum odb_status segment_excuse(const struct odb_judge *judge, const struct segment_run *run,
                                      const struct odb_tensor *t, struct odb_value_report *report,
                                      struct odb_error *err)
{
    struct odb_gap free_gap;
    double factor = judge->tolerance->v[0];
    bool told = false;
    if (judge->tolerance->kind != ODB_CRITERION_NOISE || !report->error.known ||
        !segment_decides(run))
        return ODB_OK;
    if (report->verdict == ODB_VERDICT_FAIL)
        ODB_TRY(segment_steps(judge, run, t, report, &told, err));
    if (told)
        return ODB_OK;
    ODB_TRY(segment_free_runs(run, &free_gap, err));
    bool shape = !free_gap.comparable && report->verdict == ODB_VERDICT_SHAPE;
    bool within = report->error.v <= factor * free_gap.error &&
                  report->error_mean.v <= factor * free_gap.mean;
    if (!shape && !(within && report->verdict == ODB_VERDICT_FAIL))
        return ODB_OK;
    report->verdict = ODB_VERDICT_PASS;
    report->noise = ODB_NUMBER(free_gap.error);
    report->boundary = true;
    return ODB_OK;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* What the segment makes of what it was given, against golden, and the gain over the worst of its
 * border. */
static void segment_inherit(const struct odb_judge *judge, const struct odb_segment *s,
                            const struct segment_run *run, struct odb_value_report *reports)
{
    const struct odb_tensor *golden = judge->trace->golden[s->value];
    struct odb_value_report *report = &reports[s->value];
    struct odb_gap gap;
    double worst = 0;
    if (!golden)
        return;
    odb_gap_measure(&gap, run->trace->golden[run->value], golden);
    if (!gap.comparable)
        return;
    report->inherited_error = ODB_NUMBER(gap.error);
    for (size_t i = 0; i < s->n_border; i++) {
        const struct odb_value_report *in = &reports[s->border[i]];
        if (in->error.known && in->error.v > worst)
            worst = in->noise.known && in->error.v < in->noise.v ? worst : in->error.v;
    }
    if (worst > 0 && isfinite(worst))
        report->gain = ODB_NUMBER(gap.error / worst);
}

/* The end as the target gave it, less what half steps of the border and of itself make of it. *out
 * is the caller's. */
static enum odb_status segment_less_steps(const struct segment_run *run, struct odb_tensor *t,
                                          struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *golden = run->trace->golden[run->value];
    struct odb_tensor *near;
    struct odb_reach reach;
    struct odb_gap gap;
    ODB_TRY(odb_feeds_reach(&reach, run->trace, run->value, err));
    if (!golden || !(reach.max > 0)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    ODB_TRY(odb_half_step(&near, t, golden, err));
    odb_gap_measure(&gap, near, golden);
    enum odb_status status = odb_nearer(out, near, golden, reach.max * gap.rms, err);
    odb_tensor_unref(near);
    return status;
}

static enum odb_status segment_judge(const struct odb_judge *judge, const struct odb_segment *s,
                                     struct odb_tensor *const *given,
                                     struct odb_value_report *reports, struct odb_error *err)
{
    struct segment_run run = {0};
    struct odb_value_report local = {0}, *report = &reports[s->value];
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_tensor *made = NULL;
    enum odb_status status = segment_run(&run, s, judge->trace, given, &why);
    if (status == ODB_OK && run.trace->ref[run.value]) {
        struct odb_judge own = {run.trace, judge->tolerance};
        status = segment_less_steps(&run, given[s->value], &made, &why);
        if (status == ODB_OK)
            status = odb_judge_value(&own, run.value, made, &local, &why);
        if (status == ODB_OK && odb_verdict_is_bad(local.verdict))
            status = segment_excuse(judge, &run, given[s->value], &local, &why);
        report->local_error = local.error;
        report->local_noise = local.noise;
        report->boundary |= local.boundary;
        segment_inherit(judge, s, &run, reports);
        if (status == ODB_OK && odb_verdict_is_bad(local.verdict)) {
            report->culprit = true;
            if (!report->reason[0])
                memcpy(report->reason, local.reason, sizeof report->reason);
        }
    } else if (status != ODB_CANCELLED && status != ODB_E_NOMEM) {
        status = ODB_OK; /* no evidence */
    }
    if (status != ODB_OK && err)
        *err = why;
    odb_tensor_unref(made);
    segment_run_dispose(&run);
    return status;
}

static bool segment_is_node(const struct odb_trace *trace, const struct odb_node *node,
                            struct odb_tensor *const *given)
{
    for (size_t i = 0; i < odb_node_n_reads(node); i++)
        if (odb_node_reads(node, i) >= 0 && !segment_known(trace, odb_node_reads(node, i), given))
            return false;
    return true;
}

enum odb_status odb_judge_segments(const struct odb_judge *judge, int index,
                                   struct odb_tensor *const *given,
                                   struct odb_value_report *reports, struct odb_error *err)
{
    const struct odb_trace *trace = judge->trace;
    const struct odb_node *node = &trace->model->graph->nodes[index];
    struct odb_tensor **out = odb_new_n(struct odb_tensor *, node->n_out); /* borrowed */
    enum odb_status status = ODB_OK;
    for (int o = 0; o < node->n_out; o++)
        out[o] = node->out[o] >= 0 ? given[node->out[o]] : NULL;
    if (segment_is_node(trace, node, given)) {
        status = odb_judge_node(judge, index, given, out, reports, err);
        free(out);
        return status;
    }
    for (int o = 0; o < node->n_out && status == ODB_OK; o++) {
        struct odb_segment s;
        if (!out[o])
            continue;
        odb_segment_init(&s, trace, node->out[o], given);
        if (s.closed)
            status = segment_judge(judge, &s, given, reports, err);
        odb_segment_dispose(&s);
    }
    free(out);
    return status;
}

struct odb_tensor *odb_segment_replay(const struct odb_trace *trace, int value,
                                      struct odb_tensor *const *given)
{
    struct segment_run run = {0};
    struct odb_tensor *out = NULL;
    struct odb_error ignored;
    struct odb_segment s;
    odb_segment_init(&s, trace, value, given);
    if (s.closed && segment_run(&run, &s, trace, given, &ignored) == ODB_OK &&
        run.trace->ref[run.value])
        out = odb_tensor_ref(run.trace->ref[run.value]);
    segment_run_dispose(&run);
    odb_segment_dispose(&s);
    return out;
}

void odb_segment_derive(const struct odb_trace *trace, struct odb_tensor **given, bool *derived)
{
    const struct odb_graph *graph = trace->model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool all = !odb_cpu_random(trace->cpu, (int)n);
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i);
            all &= v < 0 || graph->values[v].init || derived[v];
        }
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            if (v < 0 || given[v] || !all || !trace->ref[v])
                continue;
            derived[v] = true;
            given[v] = odb_tensor_ref(trace->ref[v]);
        }
    }
}
