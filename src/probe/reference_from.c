/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A reference, or golden, that is not the CPU's: another runtime's, a recording's. It gives the
 * values, in one run with all of them marked; what it lacks, the CPU computes from what is there.
 *
 * Errors are then measured from those values, so that a target is held to what is believed, and
 * not to the CPU. Noise is not: how far honest implementations are from each other is what the CPU
 * shows by itself, in a trace of its own (trace->own). If the other's distance from golden were
 * noise, one that is wrong would excuse any target.
 */
#include "probe/reference_from.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/clock.h"
#include "compare/metrics.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "probe/probe.h"
#include "probe/recall.h"
#include "reference/trace.h"
#include "reference/trace_int.h"

/* An executor that is asked. */
struct reference_source {
    const char *what, *spec;
    struct odb_tensor **values; /* owned refs; [n_values] */
};

static void reference_note(void *payload, const char *line)
{
    struct odb_trace *trace = payload;
    odb_push(&trace->notes, odb_xstrdup(line));
}

static void reference_weight(void *payload, const struct odb_recalled *weight)
{
    struct odb_trace *trace = payload;
    odb_push(&trace->recalled, *weight);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Everything that it can be asked for; a recording may have drawn at random for itself, and says
 * what it was fed. */
static size_t reference_list(const struct odb_trace *own, bool recorded, int *list)
{
    const struct odb_graph *graph = own->model->graph;
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        if (recorded
                ? value->name[0] && !value->init
                : odb_probe_wants(graph, own, (int)v) && (!own->only || own->only[value->producer]))
            list[n++] = (int)v;
    }
    return n;
}

/* Floats in another type than the model's are rounded to it: they are believed as what the model
 * makes should be, and a type alone is no divergence. */
static enum odb_status reference_fit(struct odb_tensor **t, const struct odb_tensor *own,
                                     size_t *rounded, struct odb_error *err)
{
    struct odb_tensor *cast = NULL;
    if (!own || (*t)->kind != ODB_TENSOR || own->kind != ODB_TENSOR || (*t)->dtype == own->dtype ||
        odb_tensor_real(*t) == ODB_UNDEFINED || odb_tensor_real(own) == ODB_UNDEFINED)
        return ODB_OK;
    ODB_TRY(odb_tensor_cast_floats(&cast, *t, odb_tensor_real(own), err));
    odb_tensor_unref(*t);
    *t = cast;
    ++*rounded;
    return ODB_OK;
}

/* What a recording was fed is not what everything is fed now? */
static void reference_check_feed(struct odb_trace *trace, const struct reference_source *source,
                                 int value, const struct odb_tensor *t)
{
    const struct odb_feeds *feeds = trace->feeds;
    struct odb_gap gap;
    for (size_t f = 0; f < feeds->n; f++) {
        if (feeds->items[f].value != value)
            continue;
        odb_gap_measure(&gap, t, feeds->items[f].tensor);
        if (gap.same)
            return;
        char *line = odb_xasprintf("input %s is another one in the %s's recording, so values "
                                   "differ that no node is to blame for; leave it to the recording",
                                   trace->model->graph->values[value].name, source->what);
        reference_note(trace, line);
        free(line);
    }
}

static enum odb_status reference_take(struct odb_trace *trace, const struct odb_trace *own,
                                      struct reference_source *source,
                                      const struct odb_probe *probe, struct odb_error *err)
{
    size_t rounded = 0, had = 0;
    for (size_t i = 0; i < probe->n_values; i++) {
        int v = probe->values[i];
        if (!probe->outputs[i])
            continue;
        if (own->model->graph->values[v].producer == ODB_NO_NODE) {
            reference_check_feed(trace, source, v, probe->outputs[i]);
            continue;
        }
        source->values[v] = odb_tensor_ref(probe->outputs[i]);
        ODB_TRY(reference_fit(&source->values[v], own->ref[v], &rounded, err));
        had++;
    }
    if (!had) {
        odb_fail(err, ODB_E_INPUT, "%s holds no value of this model under its name", source->spec);
        return odb_error_remedy(err, "say which is which with --map FILE; see onnxdbg-dump(7)");
    }
    if (rounded) {
        char *line =
            odb_xasprintf("%zu value%s of the %s %s rounded to the model's type", rounded,
                          odb_plural(rounded), source->what, rounded == 1 ? "was" : "were");
        reference_note(trace, line);
        free(line);
    }
    return ODB_OK;
}

/* One run with every value marked. */
static enum odb_status reference_ask(struct odb_trace *trace, const struct odb_trace *own,
                                     struct reference_source *source,
                                     const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const struct odb_graph *graph = trace->model->graph;
    struct odb_pool *pool = NULL;
    struct odb_prober prober;
    struct odb_search_hooks quiet = odb_hooks_quiet(hooks);
    ODB_TRY(odb_probe_pool(&pool, source->spec, &quiet, err));
    odb_prober_init(&prober, trace->model, trace->feeds, own, pool, *hooks);
    int *list = odb_new_n(int, graph->n_values);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_values);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_REFERENCE,
                              .what = source->what,
                              .node = ODB_NO_NODE,
                              .values = list,
                              .n_values = reference_list(own, prober.recorded, list),
                              .outputs = outputs};
    odb_hooks_phase(hooks, source->what, 0);
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    if (status != ODB_OK && status != ODB_CANCELLED)
        odb_error_at(err, "--%s %s", source->what, source->spec);
    if (status == ODB_OK && prober.recorded)
        status = odb_recall_notes(&prober, reference_note,
                                  strcmp(source->what, "reference") ? NULL : reference_weight,
                                  trace, err);
    if (status == ODB_OK)
        status = reference_take(trace, own, source, &probe, err);
    odb_probe_drop(&prober, &probe);
    free(outputs);
    free(list);
    odb_prober_dispose(&prober);
    odb_pool_close(pool);
    return status;
}

static enum odb_status reference_source_init(struct reference_source *source,
                                             struct odb_trace *trace, const struct odb_trace *own,
                                             const char *what, const char *spec,
                                             const struct odb_search_hooks *hooks,
                                             struct odb_error *err)
{
    source->what = what;
    source->spec = spec;
    source->values = odb_new_n(struct odb_tensor *, trace->model->graph->n_values);
    return spec ? reference_ask(trace, own, source, hooks, err) : ODB_OK;
}

static void reference_source_dispose(struct reference_source *source, size_t n)
{
    for (size_t v = 0; source->values && v < n; v++)
        odb_tensor_unref(source->values[v]);
    free(source->values);
}

/* --- the rest, by the CPU --------------------------------------------------------------------- */

static enum odb_status reference_after_ref(void *payload, int node, enum odb_status status,
                                           struct odb_error *err)
{
    struct trace_run *run = payload;
    char text[600];
    if (status == ODB_OK)
        return ODB_OK;
    run->trace->why[node] = odb_xstrdup(odb_error_text(err, text, sizeof text));
    run->trace->n_unsupported++;
    return ODB_OK;
}

static enum odb_status reference_after_golden(void *payload, int node, enum odb_status status,
                                              struct odb_error *err)
{
    odb_trace__pin(payload, node, false);
    return ODB_OK;
}

/* What the source has, and what follows from it. */
static enum odb_status reference_fill(struct odb_trace *trace, struct odb_tensor **values,
                                      const struct reference_source *source,
                                      enum odb_precision precision,
                                      const struct odb_search_hooks *hooks, struct odb_error *err)
{
    bool ref = values == trace->ref;
    struct trace_run run = {
        .trace = trace, .values = values, .hooks = hooks, .phase = source->what};
    for (size_t v = 0; v < trace->model->graph->n_values; v++) {
        struct odb_tensor *t = source->values[v];
        if (!t && odb_trace_drawn(trace->own, (int)v))
            t = ref ? trace->own->ref[v] : trace->ref[v];
        values[v] = t ? odb_tensor_ref(t) : NULL;
    }
    return odb_trace__walk(&run, precision, trace->seed, false,
                           ref ? reference_after_ref : reference_after_golden, err);
}

static void reference_copy(struct odb_tensor **to, struct odb_tensor *const *from, size_t n)
{
    for (size_t v = 0; v < n; v++)
        to[v] = from[v] ? odb_tensor_ref(from[v]) : NULL;
}

/* Where the executor decided otherwise than the CPU, and where the CPU's own golden did. */
static void reference_mark(struct odb_trace *trace)
{
    const struct odb_trace *own = trace->own;
    size_t n = trace->model->graph->n_values;
    memcpy(trace->dynamic, own->dynamic, n * sizeof *trace->dynamic);
    reference_copy(trace->expected, own->expected, n);
    for (size_t v = 0; v < n; v++) {
        struct odb_gap gap;
        int producer = trace->model->graph->values[v].producer;
        const struct odb_op *op = producer == ODB_NO_NODE ? NULL : odb_cpu_op(own->cpu, producer);
        trace->boundary[v] = own->boundary[v];
        if (!trace->ref[v] || !trace->golden[v])
            continue;
        odb_gap_measure(&gap, trace->ref[v], trace->golden[v]);
        trace->split[v] = !gap.pattern;
        if (op && (op->flags & ODB_OP_BOUNDARY) && own->ref[v] &&
            odb_tensor_real(trace->ref[v]) == ODB_UNDEFINED)
            trace->boundary[v] |= !odb_equal_exact(trace->ref[v], own->ref[v]);
    }
}

/* --- making ----------------------------------------------------------------------------------- */

/* The CPU's own trace, with the reference's values where the CPU has no operator. */
static enum odb_status reference_own(struct odb_trace *trace,
                                     const struct odb_trace_options *options,
                                     struct reference_source *reference, struct odb_error *err)
{
    ODB_TRY(odb_trace__make_own(&trace->own, trace->model, trace->feeds, options, NULL, err));
    ODB_TRY(reference_source_init(reference, trace, trace->own, "reference",
                                  options->reference_from, &options->hooks, err));
    if (!trace->own->n_unsupported || !options->reference_from)
        return ODB_OK;
    odb_trace_free(trace->own);
    trace->own = NULL;
    return odb_trace__make_own(&trace->own, trace->model, trace->feeds, options, reference->values,
                               err);
}

static enum odb_status reference_values(struct odb_trace *trace,
                                        const struct odb_trace_options *options,
                                        const struct reference_source *reference,
                                        const struct reference_source *golden,
                                        struct odb_error *err)
{
    size_t n = trace->model->graph->n_values;
    if (options->reference_from) {
        ODB_TRY(
            reference_fill(trace, trace->ref, reference, trace->precision, &options->hooks, err));
    } else {
        reference_copy(trace->ref, trace->own->ref, n);
        trace->n_unsupported = trace->own->n_unsupported;
        for (size_t i = 0; i < trace->model->graph->n_nodes; i++)
            trace->why[i] = trace->own->why[i] ? odb_xstrdup(trace->own->why[i]) : NULL;
    }
    if (trace->only)
        return ODB_OK;
    if (options->golden_is_reference)
        reference_copy(trace->golden, trace->ref, n);
    else
        ODB_TRY(
            reference_fill(trace, trace->golden, golden, options->golden, &options->hooks, err));
    return ODB_OK;
}

static enum odb_status reference_make(struct odb_trace **out, const struct odb_model *model,
                                      const struct odb_feeds *feeds,
                                      const struct odb_trace_options *options,
                                      struct odb_error *err)
{
    struct odb_trace *trace = odb_trace__new(model, feeds, options);
    struct reference_source reference = {0}, golden = {0};
    struct odb_spent start = odb_spent_now();
    bool by_golden = options->golden_from && !options->only;
    bool cpu_golden = !by_golden && !options->golden_is_reference;
    enum odb_status status;
    ODB_TRY_OUT(reference_own(trace, options, &reference, err));
    trace->cpu = trace->own->cpu;
    trace->n_no_golden = cpu_golden ? trace->own->n_no_golden : 0;
    ODB_TRY_OUT(reference_source_init(&golden, trace, trace->own, "golden",
                                      by_golden ? options->golden_from : NULL, &options->hooks,
                                      err));
    ODB_TRY_OUT(reference_values(trace, options, &reference, &golden, err));
    reference_mark(trace);
    trace->told = odb_new_n(struct odb_tensor *, model->graph->n_values);
    if (!cpu_golden) { /* else errors are measured from the CPU's golden, and no other source counts
                        */
        reference_copy(trace->told, by_golden ? golden.values : reference.values,
                       model->graph->n_values);
        trace->teller = by_golden ? "golden" : "reference";
        trace->reference_spec =
            odb_xstrdup(by_golden ? options->golden_from : options->reference_from);
    }
out:
    reference_source_dispose(&reference, model->graph->n_values);
    reference_source_dispose(&golden, model->graph->n_values);
    odb_spent_since(&trace->made, start);
    if (status == ODB_OK)
        *out = trace;
    else
        odb_trace_free(trace);
    return status;
}

enum odb_status odb_reference_make(struct odb_trace **out, const struct odb_model *model,
                                   const struct odb_feeds *feeds,
                                   const struct odb_trace_options *options, struct odb_error *err)
{
    if (options->reference_from || options->golden_from)
        return reference_make(out, model, feeds, options, err);
    return odb_trace_make(out, model, feeds, options, err);
}

enum odb_status odb_reference_up_to(struct odb_trace **out, const struct odb_model *model,
                                    const struct odb_feeds *feeds, const int *values, size_t n,
                                    const struct odb_trace_options *options, struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, model->graph->n_nodes + 1);
    struct odb_trace_options how = *options;
    odb_graph_ancestors(model->graph, values, n, NULL, nodes);
    how.only = nodes;
    enum odb_status status = odb_reference_make(out, model, feeds, &how, err);
    free(nodes);
    return status;
}
