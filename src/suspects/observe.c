/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the target gave: the model is loaded once and runs on every sample. The outputs are judged
 * as every search judges them, and their differences from golden kept.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "judge/blame.h"
#include "probe/probe.h"
#include "probe/refusal.h"
#include "probe/reference_from.h"
#include "run/hooks.h"
#include "run/value_report.h"
#include "suspects/suspects_int.h"

#define OBSERVE_PHASE "samples on the target"
#define OBSERVE_TIME 0.5 /* part of the time that may pass before what was seen is ranked */

/* The target, asked again and again. */
struct asking {
    struct suspects *s;
    struct odb_pool *pool;
    struct odb_prober prober;
    struct odb_probe probe;
    struct odb_tensor **outputs; /* owned; [n_values of the graph], as suspects_read() takes them */
    struct odb_feeds *feeds;     /* owned, with the trace: of this sample */
    struct odb_trace *trace;
    bool begun, loaded;
    char where[48];
};

/* What is no word of the target or the reference on this one sample. */
static bool observe_fatal(enum odb_status status)
{
    return status != ODB_E_EXECUTOR && status != ODB_UNSUPPORTED && status != ODB_E_CRASH &&
           status != ODB_E_TIMEOUT && status != ODB_E_INPUT;
}

static enum odb_status observe_enter(struct asking *a, size_t i, struct odb_error *err)
{
    struct odb_samples *samples = a->s->samples;
    const struct odb_bisect_options *search = a->s->options->search;
    struct odb_trace_options how;
    snprintf(a->where, sizeof a->where, "sample %zu of %zu", i + 1, samples->items.n);
    odb_hooks_progress(&search->hooks, OBSERVE_PHASE, ODB_NO_NODE, i, samples->items.n);
    ODB_TRY(odb_hooks_cancelled(&search->hooks, err));
    ODB_TRY(samples->feeds(samples->payload, i, &a->feeds, err));
    ODB_TRY(odb_bisect_trace_options(search, &how, err));
    how.hooks = (struct odb_search_hooks){.cancelled = search->hooks.cancelled,
                                          .payload = search->hooks.payload,
                                          .budget = search->hooks.budget};
    return odb_reference_make(&a->trace, a->s->model, a->feeds, &how, err);
}

static void observe_leave(struct asking *a)
{
    a->prober.feeds = NULL;
    a->prober.trace = NULL;
    odb_trace_free(a->trace);
    odb_feeds_free(a->feeds);
    a->trace = NULL;
    a->feeds = NULL;
}

/* Outputs that some node makes are read. */
static void observe_begin(struct asking *a)
{
    const struct odb_graph *graph = a->s->graph;
    int *values = odb_new_n(int, graph->n_outputs + 1);
    odb_prober_init(&a->prober, a->s->model, a->feeds, a->trace, a->pool,
                    a->s->options->search->hooks);
    a->probe = (struct odb_probe){.asked = ODB_PROBE_KIND_SAMPLE,
                                  .judged = true,
                                  .node = ODB_NO_NODE,
                                  .values = values,
                                  .outputs = odb_new_n(struct odb_tensor *, graph->n_outputs + 1)};
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->values[graph->outputs[o]].producer != ODB_NO_NODE)
            values[a->probe.n_values++] = graph->outputs[o];
    a->begun = true;
}

/* One run; the model is loaded for the first, and where the target lost it. */
static enum odb_status observe_ask(struct asking *a, struct odb_error *err)
{
    if (!a->begun)
        observe_begin(a);
    a->prober.feeds = a->feeds;
    a->prober.trace = a->trace;
    a->probe.what = a->where;
    a->loaded =
        a->loaded && odb_capabilities_refeed(odb_target_capabilities(odb_pool_target(a->pool)));
    enum odb_status status = a->loaded ? odb_probe_again(&a->prober, &a->probe, err)
                                       : odb_probe_run(&a->prober, &a->probe, err);
    a->loaded = status == ODB_OK;
    a->s->result->loads += a->probe.loads;
    a->s->result->runs += a->probe.runs;
    return odb_refusal_remedy(status, err);
}

static enum odb_status observe_judge(struct asking *a, struct odb_sample *sample,
                                     struct odb_error *err)
{
    struct odb_judge judge = {a->trace, &a->s->options->search->tolerance, NULL};
    for (size_t o = 0; o < a->probe.n_values; o++) {
        struct odb_value_report report = {0};
        struct odb_sample one = *sample;
        ODB_TRY(odb_judge_value(&judge, a->probe.values[o], a->probe.outputs[o], &report, err));
        one.verdict = report.verdict;
        one.value = a->probe.values[o];
        one.error = report.error.known ? report.error.v : NAN;
        one.noise = report.noise.known ? report.noise.v : NAN;
        if (!o || odb_sample_worse(&one, sample))
            *sample = one;
    }
    odb_probe_tell(&a->prober, &a->probe, sample->verdict, 0);
    return ODB_OK;
}

/* An output is compared where golden has floats there, and is measured by their rms. */
static void observe_scale(struct suspects *s, struct odb_tensor *const *values)
{
    for (size_t o = 0; o < s->graph->n_outputs && !s->scaled; o++) {
        int v = s->graph->outputs[o];
        struct odb_gap gap = {0};
        if (!values[v] || s->graph->values[v].producer == ODB_NO_NODE ||
            values[v]->kind != ODB_TENSOR || odb_tensor_real(values[v]) == ODB_UNDEFINED)
            continue;
        odb_gap_measure(&gap, values[v], values[v]);
        s->scale[o] = gap.rms > 0 ? gap.rms : 1;
    }
    s->scaled = true;
}

/* The target's numbers less golden's; a NaN or Inf that both have is no difference. */
static void observe_subtract(struct observed *seen, const double *native)
{
    for (size_t i = 0; i < seen->n; i++) {
        double golden = seen->golden[i], off = seen->off[i] - golden;
        bool same = seen->off[i] == golden || (isnan(seen->off[i]) && isnan(golden));
        seen->off[i] = same ? 0 : off;
        if (isfinite(seen->off[i]))
            seen->energy += seen->off[i] * seen->off[i];
        if (isfinite(native[i] - golden))
            seen->rounding += (native[i] - golden) * (native[i] - golden);
    }
}

static struct odb_tensor **observe_outputs(struct asking *a)
{
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, a->s->graph->n_values + 1);
    for (size_t o = 0; o < a->probe.n_values; o++)
        outputs[a->probe.values[o]] = a->probe.outputs[o];
    return outputs;
}

/* What the outputs are off by. Their sizes must be golden's. */
static enum odb_status observe_keep(struct asking *a, size_t i, struct odb_error *err)
{
    struct suspects *s = a->s;
    struct observed seen = {.sample = i,
                            .differs = odb_verdict_is_bad(s->samples->items.items[i].verdict)};
    struct odb_tensor **outputs, **values;
    ODB_TRY(suspects_compute(s, a->feeds, ODB_PREC_F64, &values, err));
    observe_scale(s, values);
    outputs = observe_outputs(a);
    seen.n = suspects_read(s, values, NULL);
    if (seen.n && suspects_read(s, outputs, NULL) == seen.n &&
        suspects_read(s, a->trace->ref, NULL) == seen.n) {
        double *native = odb_new_n(double, seen.n);
        seen.golden = odb_new_n(double, seen.n);
        seen.off = odb_new_n(double, seen.n);
        suspects_read(s, values, seen.golden);
        suspects_read(s, outputs, seen.off);
        suspects_read(s, a->trace->ref, native);
        observe_subtract(&seen, native);
        free(native);
        odb_push(&s->seen, seen);
    }
    free(outputs);
    suspects_drop(s, values);
    return ODB_OK;
}

static enum odb_status observe_one(struct asking *a, size_t i, struct odb_error *err)
{
    struct odb_sample *sample = &a->s->samples->items.items[i];
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = observe_enter(a, i, &why);
    if (status == ODB_OK) {
        status = observe_ask(a, &why);
        if (status == ODB_OK)
            status = observe_judge(a, sample, &why);
        else
            odb_probe_tell(&a->prober, &a->probe, odb_probe_verdict(status), 0);
        sample->verdict = status == ODB_OK ? sample->verdict : odb_probe_verdict(status);
    } else if (!observe_fatal(status)) {
        sample->verdict = ODB_VERDICT_UNTESTABLE;
    }
    if (status == ODB_OK)
        status = observe_keep(a, i, &why);
    if (a->begun)
        odb_probe_drop(&a->prober, &a->probe);
    observe_leave(a);
    sample->failed = status;
    if (status != ODB_OK)
        sample->why = odb_xstrdup(why.what);
    *err = status == ODB_OK ? *err : why;
    return status;
}

static void observe_count(struct suspects *s)
{
    for (size_t i = 0; i < s->result->n_run; i++) {
        const struct odb_sample *sample = &s->samples->items.items[i];
        s->result->n_differ += odb_verdict_is_bad(sample->verdict);
        s->result->n_unknown += odb_sample_unknown(sample);
    }
}

/* Of the sample on which it was stopped nothing is known. */
static bool observe_stopped(struct asking *a, size_t i, enum odb_status status)
{
    struct odb_sample *sample = &a->s->samples->items.items[i];
    if (status != ODB_CANCELLED || !i)
        return false;
    suspects_stopping(a->s);
    free(sample->why);
    sample->why = NULL;
    sample->verdict = ODB_VERDICT_UNTESTED;
    sample->failed = ODB_OK;
    return a->s->result->stopped;
}

/* A target that fails on the first sample is not asked again: it may take hours to compile. */
static enum odb_status observe_all(struct asking *a, struct odb_error *err)
{
    struct odb_samples *samples = a->s->samples;
    struct odb_suspects *r = a->s->result;
    double start = odb_clock();
    for (; r->n_run < samples->items.n; r->n_run++) {
        struct odb_error why = ODB_ERROR_INIT;
        size_t i = r->n_run;
        if (i && suspects_late(a->s, OBSERVE_TIME)) {
            r->complete = false;
            break;
        }
        odb_samples_forecast(a->pool, i, samples->items.n, start, &a->s->options->search->hooks);
        enum odb_status status = observe_one(a, i, &why);
        bool bad = odb_verdict_is_bad(samples->items.items[i].verdict);
        if (observe_stopped(a, i, status))
            break;
        if (status != ODB_OK && (observe_fatal(status) || (!i && !bad))) {
            *err = why;
            return status;
        }
        if (status != ODB_OK && !i) {
            r->n_run = 1;
            break;
        }
    }
    observe_count(a->s);
    return ODB_OK;
}

enum odb_status suspects_observe(struct suspects *s, struct odb_error *err)
{
    const struct odb_bisect_options *search = s->options->search;
    struct asking a = {.s = s};
    for (size_t i = 0; i < s->samples->items.n; i++) {
        struct odb_sample *sample = &s->samples->items.items[i];
        sample->verdict = ODB_VERDICT_UNTESTED;
        sample->error = sample->noise = NAN;
        sample->value = ODB_NO_VALUE;
    }
    s->result->n_samples = s->samples->items.n;
    odb_hooks_phase(&search->hooks, OBSERVE_PHASE, s->samples->items.n);
    ODB_TRY(odb_probe_pool(&a.pool, search->target, &search->hooks, err));
    enum odb_status status = observe_all(&a, err);
    if (a.begun) {
        free((int *)a.probe.values);
        free(a.probe.outputs);
        odb_prober_dispose(&a.prober);
    }
    odb_pool_close(a.pool);
    return status;
}

/* Each sample counts alike, however large its outputs' differences are; but one whose outputs agree
 * must not outweigh the others by what rounding makes there. */
void suspects_weigh(struct suspects *s)
{
    double mean = 0;
    for (size_t i = 0; i < s->seen.n; i++) {
        const struct observed *o = &s->seen.items[i];
        mean += o->energy / (double)s->seen.n;
        for (size_t k = 0; k < o->n; k++)
            s->result->pattern |= !isfinite(o->off[k]);
    }
    double energy = 0, rounding = 0;
    for (size_t i = 0; i < s->seen.n; i++) {
        struct observed *o = &s->seen.items[i];
        double size = fmax(o->energy, mean / 100);
        o->weight = size > 0 ? 1 / size : 0;
        energy += o->weight * o->energy;
        rounding += o->weight * o->rounding;
    }
    s->result->rounding = energy > 0 ? fmin(rounding / energy, 1) : 0;
}
