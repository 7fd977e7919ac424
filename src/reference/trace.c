/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference/trace.h"

#include "reference/trace_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "compare/metrics.h"
#include "base/clock.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "run/memory_budget.h"
#include "kernels/core/facts.h"
#include "model/read/load.h"
#include "model/write/external.h"

#define TRACE_NOISY_RUNS 3
/* Where an encoding rounds, honest runs are a step apart here and there from the start, and further
 * off behind that: what a few of them show is nearer to the most there is than where nothing
 * rounds, and so much of it is noise. A single step always is one, by the same token. */
#define TRACE_STEPS 0.4
#define TRACE_ONE_STEP 0.1
/* So many times the tolerance an error must be for the noisy runs so far to settle it: [runs]. Of
 * 14,043 values of 142 models, three runs showed more than 4 times the noise of the first in 0.4 %,
 * and more than twice that of the first two in 0.4 %. */
static const double trace_decisive[TRACE_NOISY_RUNS] = {INFINITY, 4, 2};
/* Bytes that are looked at until the pages of the values aside are given back. */
#define TRACE_LOOKED ((uint64_t)16 << 20)

void odb_gap_measure(struct odb_gap *out, const struct odb_tensor *e, const struct odb_tensor *b)
{
    struct odb_distance d;
    *out = (struct odb_gap){.same = false};
    if (!odb_distance(&d, e, b)) { /* containers of anything but floats, other shapes */
        out->same = out->pattern = odb_equal_exact(e, b);
        return;
    }
    *out = (struct odb_gap){.comparable = true,
                            .same = d.differing == 0,
                            .pattern = d.mismatched == 0,
                            .error = d.error,
                            .mean = d.error_mean,
                            .rms = d.rms};
}

double odb_flushed(double rms, enum odb_dtype dtype)
{
    const struct odb_dtype_info *info = odb_dtype_info(dtype);
    bool wide = dtype == ODB_F32 || dtype == ODB_F64 || dtype == ODB_BF16;
    return wide && rms > 0 ? info->tiny / info->eps / rms : 0;
}

double odb_noise_floor(double rms, enum odb_dtype dtype)
{
    if (!odb_dtype_is_float(dtype) || !(rms > 0))
        return 0;
    const struct odb_dtype_info *info = odb_dtype_info(dtype);
    double ulp = fmax(ldexp(info->eps, ilogb(rms)), info->tiny);
    double ulps = info->bits < 32 ? 1 : 8; /* see the declaration */
    return fmax(ulps * ulp / rms, odb_flushed(rms, dtype));
}

/* The float type that a value's noise is measured in: what the reference made, not golden; no wider
 * than the one that is expected. */
static enum odb_dtype trace_dtype(const struct odb_trace *trace, int value)
{
    enum odb_dtype dtype = trace->ref[value] ? odb_tensor_real(trace->ref[value]) : ODB_F32;
    return dtype == ODB_F64 && trace->expect == ODB_PREC_F32 ? ODB_F32 : dtype;
}

/* Puts feeds where a run starts from. */
static void trace_feed(const struct odb_trace *trace, struct odb_tensor **values)
{
    for (size_t f = 0; f < trace->feeds->n; f++)
        values[trace->feeds->items[f].value] = odb_tensor_ref(trace->feeds->items[f].tensor);
}

/* --- reference -------------------------------------------------------------------------------- */

void odb_trace_touched(struct odb_trace *trace, int node)
{
    const struct odb_graph *graph = trace->model->graph;
    const struct odb_node *n = &graph->nodes[node];
    uint64_t bytes = 0;
    for (size_t i = 0; i < odb_node_n_reads(n); i++)
        if (odb_node_reads(n, i) >= 0)
            bytes += odb_tensor_size(odb_trace_value(trace, odb_node_reads(n, i)));
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            bytes += odb_tensor_size(trace->ref[n->out[o]]);
    trace->touched += bytes;
    trace->looked += bytes;
    if (trace->looked > TRACE_LOOKED) {
        odb_spill_drop(trace->aside);
        trace->looked = 0;
    }
    if (trace->touched <= trace->most)
        return;
    odb_model_drop_pages(trace->model);
    odb_spill_drop(trace->spill);
    odb_spill_drop(trace->aside);
    odb_blocks_flush();
    trace->touched = 0;
}

static void trace_progress(const struct trace_run *run, int node)
{
    odb_trace_touched(run->trace, node);
    odb_hooks_progress(run->hooks, run->phase, node, (size_t)node + 1, run->trace->end);
}

/* Where the CPU has no value, an executor's may stand in. */
static bool trace_stand_in(struct trace_run *run, int node)
{
    const struct odb_node *n = &run->trace->model->graph->nodes[node];
    bool all = true;
    for (int o = 0; o < n->n_out; o++) {
        int v = n->out[o];
        struct odb_tensor *t = v >= 0 && run->stand_in ? run->stand_in[v] : NULL;
        if (v >= 0 && t && !run->values[v])
            run->values[v] = odb_tensor_ref(t);
        all = all && (v < 0 || run->values[v]);
    }
    return all;
}

/* What the node made stays; on disk where memory is short, and golden's as a rule. */
static enum odb_status trace_keep(struct trace_run *run, int node, struct odb_error *err)
{
    struct odb_trace *trace = run->trace;
    const struct odb_node *n = &trace->model->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++) {
        struct odb_tensor *t = n->out[o] < 0 ? NULL : run->values[n->out[o]];
        bool aside = run->values == trace->golden;
        if (!aside || odb_spill_take(trace->aside, t, NULL) != ODB_OK)
            ODB_TRY(odb_spill_take(trace->spill, t, err));
    }
    return ODB_OK;
}

/* In place of what the node made goes what its output is pinned to. */
static enum odb_status trace_take_pin(struct trace_run *run, const struct odb_trace_pin *pin,
                                      struct odb_error *err)
{
    struct odb_tensor **own = &run->values[pin->value];
    const char *name = run->trace->model->graph->values[pin->value].name;
    if (*own &&
        ((*own)->dtype != pin->tensor->dtype || !odb_tensor_same_shape(*own, pin->tensor))) {
        char made[300], had[300];
        return odb_fail(
            err, ODB_E_INPUT, "%s is pinned to %s %s, and the model makes %s %s", name,
            odb_dtype_info(pin->tensor->dtype)->name, odb_shape_text(pin->tensor, had, sizeof had),
            odb_dtype_info((*own)->dtype)->name, odb_shape_text(*own, made, sizeof made));
    }
    odb_tensor_unref(*own);
    *own = odb_tensor_ref(pin->tensor);
    return ODB_OK;
}

static enum odb_status trace_after_ref(void *payload, int node, enum odb_status status,
                                       struct odb_error *err)
{
    struct trace_run *run = payload;
    char text[600];
    trace_progress(run, node);
    for (size_t i = 0; i < run->n_pins; i++) {
        const struct odb_trace_pin *pin = &run->pins[i];
        if (pin->tensor && run->trace->model->graph->values[pin->value].producer == node)
            ODB_TRY(trace_take_pin(run, pin, err));
    }
    if (status != ODB_OK) {
        run->trace->why[node] = odb_xstrdup(odb_error_text(err, text, sizeof text));
        run->trace->n_unsupported += !trace_stand_in(run, node);
    }
    return trace_keep(run, node, err);
}

static bool trace_cancelled(void *payload)
{
    struct trace_run *run = payload;
    return run->hooks->cancelled && run->hooks->cancelled(run->hooks->payload);
}

enum odb_status
odb_trace__walk(struct trace_run *run, enum odb_precision precision, uint64_t seed, bool free_dead,
                enum odb_status (*after)(void *, int, enum odb_status, struct odb_error *),
                struct odb_error *err)
{
    odb_hooks_phase(run->hooks, run->phase, run->trace->end);
    run->trace->walks++;
    trace_feed(run->trace, run->values);
    struct odb_cpu_run cpu_run = {.precision = precision,
                                  .seed = seed,
                                  .values = run->values,
                                  .nodes = run->trace->only,
                                  .free_dead = free_dead,
                                  .after = after,
                                  .payload = run,
                                  .cancelled = trace_cancelled,
                                  .took = run->took};
    return odb_cpu_execute(run->trace->cpu, &cpu_run, err);
}

/* --- golden ----------------------------------------------------------------------------------- */

/* Golden keeps to the reference's branch: whatever is not a float is taken from the reference, and
 * marked where golden would have decided otherwise. */
void odb_trace__pin(const struct trace_run *run, int node, bool mark)
{
    struct odb_trace *trace = run->trace;
    const struct odb_node *n = &trace->model->graph->nodes[node];
    bool random = odb_cpu_random(trace->cpu, node);
    for (int o = 0; o < n->n_out; o++) {
        int v = n->out[o];
        bool held = random || (v >= 0 && trace->pinned && trace->pinned[v]);
        struct odb_tensor *ref = v < 0 ? NULL : trace->ref[v], *own = v < 0 ? NULL : run->values[v];
        if (!ref)
            continue;
        bool is_float = odb_tensor_real(ref) != ODB_UNDEFINED;
        struct odb_distance apart;
        bool missing = !own || (is_float && !odb_tensor_same_shape(own, ref)) ||
                       (is_float && ref->kind != ODB_TENSOR && !odb_distance(&apart, own, ref));
        if (is_float && !held && !missing)
            continue;
        if (mark && !is_float && own && !odb_equal_exact(own, ref))
            trace->boundary[v] = true;
        odb_tensor_unref(own);
        run->values[v] = odb_tensor_ref(ref);
    }
}

bool odb_trace__rounds(const struct odb_trace *trace, const struct odb_node *node)
{
    bool casts = !strcmp(node->op_type, "Cast") || !strcmp(node->op_type, "CastLike") ||
                 !strcmp(node->op_type, "QuantizeLinear");
    if (!casts || node->domain[0] || node->n_in < 1 || node->in[0] < 0 || node->n_out != 1 ||
        node->out[0] < 0)
        return false;
    const struct odb_tensor *from = odb_trace_value(trace, node->in[0]);
    const struct odb_tensor *to = trace->ref[node->out[0]];
    if (!from || !to || from->kind != ODB_TENSOR || to->kind != ODB_TENSOR ||
        !odb_dtype_is_float(to->dtype) || from->dtype == ODB_STRING)
        return false;
    const struct odb_dtype_info *a = odb_dtype_info(from->dtype), *b = odb_dtype_info(to->dtype);
    return !odb_dtype_is_float(from->dtype) || b->eps > a->eps || b->max < a->max ||
           b->tiny > a->tiny;
}

/* Golden is float64 between the model's roundings, and does these as the model says: a run that
 * leaves them out computes something else. */
static enum odb_status trace_round(struct trace_run *run, int node, struct odb_error *err)
{
    struct odb_trace *trace = run->trace;
    const struct odb_node *n = &trace->model->graph->nodes[node];
    struct odb_tensor *in[3] = {NULL}, *out = NULL, *wide = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (!odb_trace__rounds(trace, n) || n->n_in > (int)ODB_COUNT(in) || !run->values[n->out[0]])
        return ODB_OK;
    for (int i = 0; i < n->n_in; i++) { /* borrowed; the others are a type, or weights */
        struct odb_tensor *own = i == 0 ? run->values[n->in[0]] : NULL;
        in[i] = own ? own : (struct odb_tensor *)odb_trace_value(trace, n->in[i]);
    }
    if (odb_cpu_node(trace->cpu, node, ODB_PREC_NATIVE, trace->seed, in, NULL, &out, &ignored) !=
        ODB_OK)
        return ODB_OK; /* then it stays as it is */
    enum odb_status status = odb_tensor_cast_floats(&wide, out, ODB_F64, err);
    odb_tensor_unref(out);
    if (status != ODB_OK)
        return status;
    odb_tensor_unref(run->values[n->out[0]]);
    run->values[n->out[0]] = wide;
    return ODB_OK;
}

static void trace_referenced(struct trace_run *run)
{
    const struct odb_trace_options *options = run->options;
    if (options && (!options->referenced || options->referenced(options->payload, run->trace)))
        run->options = NULL;
}

static enum odb_status trace_after_golden(void *payload, int node, enum odb_status status,
                                          struct odb_error *err)
{
    struct trace_run *run = payload;
    trace_progress(run, node);
    if (status != ODB_OK && !run->trace->why[node])
        run->trace->n_no_golden++;
    if (status == ODB_OK)
        ODB_TRY(trace_round(run, node, err));
    odb_trace__pin(run, node, status == ODB_OK);
    trace_referenced(run);
    return trace_keep(run, node, err);
}

/* How much noise it is that an honest run is so far off. */
static double trace_share(const struct odb_trace *trace, int value)
{
    return trace->stepped && trace->stepped[value] ? TRACE_STEPS : 1;
}

static void trace_raise_noise(struct odb_trace *trace, int value, const struct odb_tensor *t)
{
    struct odb_gap gap;
    const struct odb_tensor *golden = trace->golden[value];
    if (!t || !golden)
        return;
    odb_gap_measure(&gap, t, golden);
    double share = trace_share(trace, value);
    if (gap.comparable && gap.error * share > trace->noise[value])
        trace->noise[value] = gap.error * share;
    if (gap.comparable && trace->noise_mean)
        trace->noise_mean[value] = fmax(trace->noise_mean[value], gap.mean * share);
}

static enum odb_status trace_after_noisy(void *payload, int node, enum odb_status status,
                                         struct odb_error *err)
{
    struct trace_run *run = payload;
    const struct odb_node *n = &run->trace->model->graph->nodes[node];
    trace_progress(run, node);
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && run->trace->ref[n->out[o]])
            trace_raise_noise(run->trace, n->out[o], run->values[n->out[o]]);
    odb_trace__pin(run, node, status == ODB_OK);
    return ODB_OK;
}

/* Keeps what overflows in the expected precision, so that a target may overflow there too. */
static enum odb_status trace_after_expected(void *payload, int node, enum odb_status status,
                                            struct odb_error *err)
{
    struct trace_run *run = payload;
    const struct odb_node *n = &run->trace->model->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++) {
        int v = n->out[o];
        struct odb_gap gap;
        if (v < 0 || !run->trace->ref[v] || !run->values[v])
            continue;
        odb_gap_measure(&gap, run->values[v], run->trace->ref[v]);
        if (gap.pattern)
            continue;
        ODB_TRY(odb_spill_take(run->trace->spill, run->values[v], err));
        run->trace->expected[v] = odb_tensor_ref(run->values[v]);
    }
    return trace_after_noisy(payload, node, status, err);
}

/* What is made wider keeps the noise of the narrower type: a Cast to float of a float16 is as far
 * off as that is. So do copies of it. */
static void trace_carry_noise(struct odb_trace *trace)
{
    const struct odb_graph *graph = trace->model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        const struct odb_op *op = odb_cpu_op(trace->cpu, (int)n);
        if (!op || !(op->flags & ODB_OP_EXACT) || node->n_in < 1 || node->n_out != 1)
            continue;
        int from = node->in[0], to = node->out[0];
        if (from < 0 || to < 0 || !trace->ref[to] || !trace->golden[to] || !trace->ref[from] ||
            trace->ref[to]->count != trace->ref[from]->count ||
            odb_tensor_real(trace->ref[to]) == ODB_UNDEFINED)
            continue;
        trace->noise[to] = fmax(trace->noise[to], trace->noise[from]);
    }
}

/* What one step of the value's encoding is, as noise; 0: it has none. */
static double trace_one_step(const struct odb_trace *trace, int value, double rms)
{
    const struct odb_encoding *e = odb_cpu_encoding(trace->cpu, value);
    double most = 0;
    for (size_t i = 0; e && i < e->n && rms > 0; i++)
        most = fmax(most, odb_encoding_step(e, i, rms));
    return rms > 0 ? TRACE_ONE_STEP * most / rms : 0;
}

/* The mean distance that is noise in any case: a tenth of a step, and a step of three elements. */
static double trace_mean(const struct odb_trace *trace, int value, const struct odb_gap *gap)
{
    double step = trace_one_step(trace, value, gap->rms), n = (double)trace->ref[value]->count;
    double few = step * fmin(1, fmax(0.1, n > 0 ? 3 / n : 1));
    double floor = odb_noise_floor(gap->rms, trace_dtype(trace, value));
    return fmax(fmax(few, floor), gap->mean * trace_share(trace, value));
}

/* What is known without noisy runs: the floor, and the distance of the reference itself (of the
 * expected precision where one is expected). */
static enum odb_status trace_first_noise(struct odb_trace *trace, struct trace_run *run,
                                         struct odb_error *err)
{
    const struct odb_graph *graph = trace->model->graph;
    for (size_t v = 0; v < graph->n_values; v++) {
        struct odb_gap gap;
        if (!trace->ref[v] || !trace->golden[v])
            continue;
        odb_gap_measure(&gap, trace->ref[v], trace->golden[v]);
        trace->split[v] = !gap.pattern;
        if (!gap.comparable)
            continue;
        trace->noise[v] = fmax(odb_noise_floor(gap.rms, trace_dtype(trace, (int)v)),
                               trace_one_step(trace, (int)v, gap.rms));
        trace->noise[v] = fmax(trace->noise[v], gap.error * trace_share(trace, (int)v));
        if (trace->noise_mean)
            trace->noise_mean[v] = trace_mean(trace, (int)v, &gap);
        if (graph->values[v].producer != ODB_NO_NODE)
            odb_trace_touched(trace, graph->values[v].producer);
    }
    trace_carry_noise(trace);
    if (trace->expect == ODB_PREC_NATIVE)
        return ODB_OK;
    run->phase = "expected precision";
    run->values = odb_new_n(struct odb_tensor *, graph->n_values);
    enum odb_status status =
        odb_trace__walk(run, trace->expect, trace->seed, true, trace_after_expected, err);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(run->values[v]);
    free(run->values);
    return status;
}

/* One more noisy run over the whole model. */
static enum odb_status trace_noisy_run(struct odb_trace *trace, struct odb_error *err)
{
    const struct odb_graph *graph = trace->model->graph;
    char phase[40];
    struct trace_run run = {.trace = trace,
                            .values = odb_new_n(struct odb_tensor *, graph->n_values),
                            .hooks = &trace->hooks,
                            .phase = phase};
    struct odb_spent start = odb_spent_now();
    snprintf(phase, sizeof phase, "noisy run %d", trace->noisy_runs + 1);
    enum odb_status status =
        odb_trace__walk(&run, ODB_PREC_NOISY, ODB_NOISY_SEED(trace, trace->noisy_runs), true,
                        trace_after_noisy, err);
    for (size_t v = 0; v < graph->n_values; v++)
        odb_tensor_unref(run.values[v]);
    free(run.values);
    odb_spent_since(&trace->noisy, start);
    if (status == ODB_OK)
        trace->noisy_runs++;
    if (trace->phase)
        odb_hooks_phase(&trace->hooks, trace->phase, 0);
    return status;
}

/* Of a value that the CPU has no operator for, the noise is unknown. The largest noise in the model
 * stands for it, so that it is not held to less than its neighbours. */
static double trace_guess_noise(const struct odb_trace *trace, int value)
{
    int producer = trace->model->graph->values[value].producer;
    double most = trace->noise[value];
    if (producer == ODB_NO_NODE || !trace->why[producer])
        return most;
    for (size_t v = 0; v < trace->model->graph->n_values; v++)
        if (isfinite(trace->noise[v]) && trace->noise[v] > most)
            most = trace->noise[v];
    return most;
}

enum odb_status odb_trace_noise(struct odb_trace *trace, int value, double error, double factor,
                                double *noise, struct odb_error *err)
{
    ODB_ASSERT(!trace->only);
    if (trace->own) {
        trace->own->hooks = trace->hooks;
        trace->own->phase = trace->phase;
        ODB_TRY(odb_trace_noise(trace->own, value, error, factor, noise, err));
        *noise = trace_guess_noise(trace->own, value);
        return ODB_OK;
    }
    while (trace->noisy_runs < TRACE_NOISY_RUNS && error > factor * trace->noise[value]) {
        double limit = factor * trace->noise[value];
        if (limit > 0 && error > trace_decisive[trace->noisy_runs] * limit)
            break;
        ODB_TRY(trace_noisy_run(trace, err));
    }
    *noise = trace->noise[value];
    return ODB_OK;
}

size_t odb_trace_walks(const struct odb_trace *trace)
{
    return trace->walks + (trace->own ? trace->own->walks : 0);
}

enum odb_status odb_trace_replay(struct odb_trace *trace, int node, enum odb_precision precision,
                                 uint64_t seed, struct odb_tensor *const *in,
                                 struct odb_tensor *const *captured, enum odb_simulated simulated,
                                 struct odb_tensor **out, struct odb_error *err)
{
    struct odb_spent start = odb_spent_now();
    enum odb_status status = odb_cpu_node_simulated(trace->cpu, node, precision, seed, in, captured,
                                                    simulated, out, err);
    odb_spent_since(&trace->replayed, start);
    return status;
}

/* --- making ----------------------------------------------------------------------------------- */

/* Values whose dimensions depend on data: results of these operators, and all that follows. */
static void trace_mark_dynamic(struct odb_trace *trace)
{
    const struct odb_graph *graph = trace->model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool dynamic = odb_facts_of(NULL, node->op_type)->traits & ODB_IS_SIZED_BY_DATA;
        for (int i = 0; i < node->n_in; i++)
            dynamic = dynamic || (node->in[i] >= 0 && trace->dynamic[node->in[i]]);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                trace->dynamic[node->out[o]] = dynamic;
    }
}

/* Values with an encoding, and all that follows. */
static void trace_mark_stepped(struct odb_trace *trace)
{
    const struct odb_graph *graph = trace->model->graph;
    trace->stepped = odb_new_n(bool, graph->n_values + 1);
    trace->noise_mean = odb_new_n(double, graph->n_values + 1);
    for (size_t v = 0; v < graph->n_values; v++)
        trace->stepped[v] = odb_cpu_encoding(trace->cpu, (int)v) && !graph->values[v].init;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool any = false;
        for (size_t i = 0; i < odb_node_n_reads(node); i++)
            any = any || (odb_node_reads(node, i) >= 0 && trace->stepped[odb_node_reads(node, i)]);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0 && any)
                trace->stepped[node->out[o]] = true;
    }
}

struct odb_trace *odb_trace__new(const struct odb_model *model, const struct odb_feeds *feeds,
                                 const struct odb_trace_options *options)
{
    const struct odb_graph *graph = model->graph;
    struct odb_trace *trace = odb_new(struct odb_trace);
    const struct odb_memory_budget memory = odb_memory_budget(options->hooks.budget);
    *trace = (struct odb_trace){.model = model,
                                .feeds = feeds,
                                .precision = options->reference,
                                .expect = options->expect,
                                .encodings = options->encodings,
                                .seed = options->seed,
                                .ref = odb_new_n(struct odb_tensor *, graph->n_values),
                                .golden = odb_new_n(struct odb_tensor *, graph->n_values),
                                .expected = odb_new_n(struct odb_tensor *, graph->n_values),
                                .boundary = odb_new_n(bool, graph->n_values),
                                .split = odb_new_n(bool, graph->n_values),
                                .dynamic = odb_new_n(bool, graph->n_values),
                                .why = odb_new_n(char *, graph->n_nodes),
                                .noise = odb_new_n(double, graph->n_values),
                                .took = odb_new_n(double, graph->n_nodes + 1),
                                .spill = odb_spill_new(memory.kept),
                                .aside = odb_spill_new(memory.aside),
                                .most = memory.capped ? memory.weights : UINT64_MAX,
                                .end = graph->n_nodes};
    if (options->only)
        trace->only = odb_xmemdup(options->only, (graph->n_nodes + 1) * sizeof *trace->only);
    while (trace->only && trace->end && !trace->only[trace->end - 1])
        trace->end--;
    for (size_t i = 0; i < options->n_pins; i++) {
        const struct odb_node *node = &graph->nodes[graph->values[options->pins[i].value].producer];
        if (!trace->pinned)
            trace->pinned = odb_new_n(bool, graph->n_values);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                trace->pinned[node->out[o]] = true;
    }
    return trace;
}

enum odb_status odb_trace__make_own(struct odb_trace **out, const struct odb_model *model,
                                    const struct odb_feeds *feeds,
                                    const struct odb_trace_options *options,
                                    struct odb_tensor *const *stand_in, struct odb_error *err)
{
    struct odb_spent start = odb_spent_now();
    struct odb_trace *trace = odb_trace__new(model, feeds, options);
    enum odb_status status = ODB_OK;
    struct trace_run run = {.trace = trace,
                            .values = trace->ref,
                            .hooks = &options->hooks,
                            .phase = "reference",
                            .stand_in = stand_in,
                            .pins = options->pins,
                            .n_pins = options->n_pins,
                            .took = trace->took};
    ODB_TRY_OUT(odb_model_require_data(model, err));
    if (options->cpu && !options->encodings)
        trace->cpu = odb_cpu_ref(options->cpu);
    else
        ODB_TRY_OUT(odb_cpu_new(&trace->cpu, model, err));
    if (options->encodings) {
        ODB_TRY_OUT(odb_cpu_simulate(trace->cpu, options->encodings, err));
        trace_mark_stepped(trace);
    }
    ODB_TRY_OUT(
        odb_trace__walk(&run, options->reference, options->seed, false, trace_after_ref, err));
    trace_mark_dynamic(trace);
    if (trace->only || options->no_golden)
        goto out;
    run.options = options;
    trace_referenced(&run);
    run.values = trace->golden;
    run.took = NULL;
    run.phase = "golden";
    struct odb_spent golden = odb_spent_now();
    ODB_TRY_OUT(
        odb_trace__walk(&run, options->golden, options->seed, false, trace_after_golden, err));
    odb_spent_since(&trace->golden_made, golden);
    struct odb_spent noise = odb_spent_now();
    ODB_TRY_OUT(trace_first_noise(trace, &run, err));
    trace->hooks = options->hooks;
    while (trace->stepped && trace->noisy_runs < TRACE_NOISY_RUNS) /* means are always needed */
        ODB_TRY_OUT(trace_noisy_run(trace, err));
    odb_spent_since(&trace->noise_made, noise);
    trace->hooks = (struct odb_search_hooks){0};
out:
    odb_blocks_give_back(); /* what it computed with is not what a search computes with */
    odb_spent_since(&trace->made, start);
    if (status == ODB_OK)
        *out = trace;
    else
        odb_trace_free(trace);
    return status;
}

enum odb_status odb_trace_make(struct odb_trace **out, const struct odb_model *model,
                               const struct odb_feeds *feeds,
                               const struct odb_trace_options *options, struct odb_error *err)
{
    ODB_ASSERT(!options->reference_from && !options->golden_from);
    return odb_trace__make_own(out, model, feeds, options, NULL, err);
}

void odb_trace_free(struct odb_trace *trace)
{
    if (!trace)
        return;
    const struct odb_graph *graph = trace->model->graph;
    for (size_t v = 0; trace->told && v < graph->n_values; v++)
        odb_tensor_unref(trace->told[v]);
    for (size_t i = 0; i < trace->notes.n; i++)
        free(trace->notes.items[i]);
    free(trace->notes.items);
    free(trace->told);
    free(trace->reference_spec);
    for (size_t v = 0; v < graph->n_values; v++) {
        odb_tensor_unref(trace->ref[v]);
        odb_tensor_unref(trace->golden[v]);
        odb_tensor_unref(trace->expected[v]);
    }
    for (size_t n = 0; n < graph->n_nodes; n++)
        free(trace->why[n]);
    if (trace->own)
        odb_trace_free(trace->own); /* which has the same cpu */
    else
        odb_cpu_free(trace->cpu);
    free(trace->ref);
    free(trace->golden);
    free(trace->expected);
    free(trace->boundary);
    free(trace->split);
    free(trace->stepped);
    free(trace->noise_mean);
    free(trace->dynamic);
    free(trace->why);
    for (size_t i = 0; i < trace->recalled.n; i++)
        odb_tensor_unref(trace->recalled.items[i].t);
    free(trace->recalled.items);
    free(trace->pinned);
    free(trace->only);
    free(trace->noise);
    free(trace->took);
    odb_spill_unref(trace->spill);
    odb_spill_unref(trace->aside);
    free(trace);
}

const struct odb_tensor *odb_trace_value(const struct odb_trace *trace, int value)
{
    return trace->ref[value] ? trace->ref[value] : trace->model->graph->values[value].init;
}

const struct odb_tensor *odb_trace_like(const struct odb_trace *trace, int value)
{
    return trace->own && trace->own->ref[value] ? trace->own->ref[value] : trace->ref[value];
}

char *odb_trace_no_golden(const struct odb_trace *trace)
{
    if (!trace->n_no_golden)
        return NULL;
    return odb_xasprintf("%zu of %zu nodes cannot be run in float64; the reference stands in for "
                         "golden there",
                         trace->n_no_golden, trace->model->graph->n_nodes);
}

bool odb_trace_drawn(const struct odb_trace *trace, int value)
{
    int producer = trace->model->graph->values[value].producer;
    return producer != ODB_NO_NODE && trace->ref[value] &&
           (odb_cpu_random(trace->cpu, producer) || (trace->pinned && trace->pinned[value]) ||
            (trace->fed && trace->fed[value]));
}

bool *odb_trace_constant(const struct odb_trace *trace)
{
    const struct odb_graph *graph = trace->model->graph;
    bool *constant = odb_new_n(bool, graph->n_values + 1);
    for (size_t v = 0; v < graph->n_values; v++)
        constant[v] = graph->values[v].init;
    for (size_t f = 0; f < trace->feeds->n; f++) /* one with a default, too */
        constant[trace->feeds->items[f].value] = false;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        bool all = !odb_cpu_random(trace->cpu, (int)n);
        for (size_t i = 0; i < odb_node_n_reads(node); i++)
            all = all && (odb_node_reads(node, i) < 0 || constant[odb_node_reads(node, i)]);
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                constant[node->out[o]] = all && !(trace->pinned && trace->pinned[node->out[o]]);
    }
    return constant;
}

void odb_trace_add_weights(const struct odb_trace *trace, const bool *constant, bool *nodes)
{
    const struct odb_graph *graph = trace->model->graph;
    for (size_t n = graph->n_nodes; n-- > 0;)
        for (size_t i = 0; nodes[n] && i < odb_node_n_reads(&graph->nodes[n]); i++) {
            int v = odb_node_reads(&graph->nodes[n], i);
            if (v >= 0 && constant[v] && trace->ref[v] && graph->values[v].producer != ODB_NO_NODE)
                nodes[graph->values[v].producer] = true;
        }
}
