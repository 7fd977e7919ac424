/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "walk/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/bisect_options.h"
#include "bisect/refusal/breaks.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* A stretch under way. */
struct walk_stretch {
    struct odb_walk *walk;
    int first, stop;
    char title[240];
    bool *nodes; /* owned; [n_nodes] */
    int *read;   /* owned; values asked for */
    size_t n_read;
    struct odb_tensor **had; /* owned array of borrowed; [n_values] what the target's nodes had:
                                its own values, and what they were fed instead */
};

static void walk_stretch_dispose(struct walk_stretch *s)
{
    free(s->nodes);
    free(s->read);
    free(s->had);
}

/* Every value that counts is read. A node none of whose outputs counts does not run: with nothing
 * to read from it, the target would drop it anyway. */
static void walk_stretch_init(struct walk_stretch *s, struct odb_walk *walk, int stop)
{
    const struct odb_graph *graph = walk->model->graph;
    *s = (struct walk_stretch){.walk = walk,
                               .first = walk->at,
                               .stop = stop,
                               .nodes = odb_new_n(bool, graph->n_nodes),
                               .read = odb_new_n(int, graph->n_values)};
    odb_probe_title(graph, "run", s->first, stop - 1, s->title, sizeof s->title);
    for (int n = s->first; n < stop; n++) {
        const struct odb_node *node = &graph->nodes[n];
        for (int o = 0; o < node->n_out; o++) {
            if (node->out[o] < 0 || !odb_probe_wants(graph, walk->trace, node->out[o]))
                continue;
            s->nodes[n] = true;
            s->read[s->n_read++] = node->out[o];
        }
    }
}

/* --- the target ------------------------------------------------------------------------------- */

/* A node that fails alone has failed; of several, which one is unknown. */
static void walk_mark_failed(const struct walk_stretch *s, enum odb_status status,
                             enum odb_verdict verdict, const struct odb_error *err)
{
    struct odb_walk *walk = s->walk;
    if (s->stop - s->first != 1 || status == ODB_CANCELLED)
        return;
    for (size_t i = 0; i < s->n_read; i++) {
        struct odb_value_report *report = &walk->values[s->read[i]];
        *report = (struct odb_value_report){.verdict = verdict};
        odb_text_fit(report->reason, sizeof report->reason, "%s", err->what);
        odb_hooks_value(&walk->prober.hooks, walk->model->graph, s->read[i], report);
    }
}

/* The stretch has no values. *shown: refused, if the target breaks what it can run. */
static enum odb_status walk_failed(struct walk_stretch *s, const struct odb_probe *probe,
                                   enum odb_status had, struct odb_error *why,
                                   enum odb_verdict *shown, struct odb_error *err)
{
    struct odb_walk *walk = s->walk;
    bool breaks = false;
    if (odb_probe_refused(had))
        ODB_TRY(odb_refusal_breaks(&breaks, &walk->plainest, &walk->prober, probe, why, err));
    if (breaks) {
        *shown = ODB_VERDICT_REFUSED;
        odb_error_remedy(why, "%s runs it: `bisect` finds which nodes are refused together",
                         walk->plainest.spec);
    }
    walk_mark_failed(s, had, *shown, why);
    odb_error_at(why, "%s", s->title);
    if (err)
        *err = *why;
    return had;
}

static void walk_keep(struct walk_stretch *s, struct odb_tensor **outputs)
{
    for (size_t i = 0; i < s->n_read; i++) {
        odb_tensor_unref(s->walk->given[s->read[i]]);
        s->walk->given[s->read[i]] = outputs[i];
    }
}

/* Marks the values at the cut before the stretch that are the reference's, not the target's own. A
 * recording is fed nothing: what it lacks is not known. */
static void walk_mark_fed(struct walk_stretch *s)
{
    struct odb_walk *walk = s->walk;
    if (walk->prober.recorded)
        return;
    const struct odb_graph *graph = walk->model->graph;
    int *cut = odb_new_n(int, graph->n_values);
    size_t n = odb_graph_segment_inputs(graph, s->nodes, cut);
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &graph->values[cut[i]];
        walk->fed_by_reference[cut[i]] = value->producer != ODB_NO_NODE && !walk->given[cut[i]] &&
                                         !odb_trace_drawn(walk->trace, cut[i]);
    }
    free(cut);
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Why a value cannot be judged; "" when it can. */
static const char *walk_reason(const struct odb_walk *walk, int node, int value)
{
    if (!walk->model->graph->values[value].name[0])
        return "it has no name to ask the target for";
    if (walk->trace->pinned && walk->trace->pinned[value])
        return "pinned: the target is fed with it";
    if (odb_trace_drawn(walk->trace, value))
        return "drawn at random by the reference, and fed to the target";
    if (!walk->given[value])
        return walk->prober.recorded ? "it was not recorded"
                                     : "no node reads it, so the target is not asked for it";
    return !walk->trace->ref[value] && walk->trace->why[node] ? walk->trace->why[node] : "";
}

/* The stretch's values before they are judged. */
static void walk_explain(const struct walk_stretch *s)
{
    for (int n = s->first; n < s->stop; n++) {
        const struct odb_node *node = &s->walk->model->graph->nodes[n];
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            if (v < 0)
                continue;
            struct odb_value_report *report = &s->walk->values[v];
            *report = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTED};
            snprintf(report->reason, sizeof report->reason, "%s", walk_reason(s->walk, n, v));
        }
    }
}

static void walk_gather(struct walk_stretch *s)
{
    struct odb_walk *walk = s->walk;
    size_t n_values = walk->model->graph->n_values;
    s->had = odb_new_n(struct odb_tensor *, n_values);
    for (size_t v = 0; v < n_values; v++) {
        bool fed = walk->fed_by_reference[v] || odb_trace_drawn(walk->trace, (int)v);
        s->had[v] = walk->given[v] ? walk->given[v] : fed ? walk->trace->ref[v] : NULL;
    }
}

static enum odb_status walk_judge(struct walk_stretch *s, enum odb_verdict *shown,
                                  struct odb_error *err)
{
    struct odb_walk *walk = s->walk;
    const struct odb_judge judge = {walk->trace, &walk->tolerance, &walk->prober.now->compared};
    walk->trace->phase = "replay";
    odb_hooks_phase(&walk->prober.hooks, "replay", (size_t)(s->stop - s->first));
    walk_explain(s);
    walk_gather(s);
    ODB_TRY(odb_blame(&judge, s->first, s->stop, s->had, walk->values, &walk->prober.hooks, err));
    for (size_t i = 0; i < s->n_read; i++)
        odb_probe_shows(shown, walk->values[s->read[i]].verdict);
    return ODB_OK;
}

/* --- walking ---------------------------------------------------------------------------------- */

static enum odb_status walk_run(struct walk_stretch *s, struct odb_error *err)
{
    struct odb_walk *walk = s->walk;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, s->n_read);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_STEP,
                              .what = s->title,
                              .node = s->stop - s->first == 1 ? s->first : ODB_NO_NODE,
                              .nodes = s->nodes,
                              .given = walk->given,
                              .values = s->read,
                              .n_values = s->n_read,
                              .outputs = outputs,
                              .judged = true};
    struct odb_error why = ODB_ERROR_INIT;
    odb_hooks_phase(&walk->prober.hooks, s->title, 0);
    enum odb_status status = s->n_read ? odb_probe_run(&walk->prober, &probe, &why) : ODB_OK;
    enum odb_verdict shown = odb_probe_verdict(status);
    if (status == ODB_OK) {
        walk_mark_fed(s);
        walk_keep(s, outputs);
        status = walk_judge(s, &shown, err);
    } else {
        status = walk_failed(s, &probe, status, &why, &shown, err);
    }
    if (s->n_read)
        odb_probe_tell(&walk->prober, &probe, shown, 0);
    free(outputs);
    return status;
}

/* The hooks of a call are the trace's and the target's as well, for its time. */
static void walk_listen(struct odb_walk *walk, struct odb_search_hooks hooks)
{
    walk->prober.hooks = walk->trace->hooks = hooks;
    walk->trace->phase = NULL;
    odb_pool_set_cancel(walk->pool, hooks.cancelled, hooks.payload);
}

enum odb_status odb_walk_to(struct odb_walk *walk, int stop, const struct odb_search_hooks *hooks,
                            struct odb_error *err)
{
    struct walk_stretch s;
    int end = (int)walk->model->graph->n_nodes;
    stop = ODB_MIN(stop, end);
    if (stop <= walk->at)
        return ODB_OK;
    walk_stretch_init(&s, walk, stop);
    walk_listen(walk, hooks ? *hooks : (struct odb_search_hooks){0});
    enum odb_status status = walk_run(&s, err);
    walk_listen(walk, (struct odb_search_hooks){0});
    if (status == ODB_OK)
        walk->at = stop;
    walk_stretch_dispose(&s);
    return status;
}

void odb_walk_back(struct odb_walk *walk, int at)
{
    const struct odb_graph *graph = walk->model->graph;
    for (int n = at; n < walk->at; n++)
        for (int o = 0; o < graph->nodes[n].n_out; o++) {
            int v = graph->nodes[n].out[o];
            if (v < 0)
                continue;
            odb_tensor_unref(walk->given[v]);
            walk->given[v] = NULL;
            walk->values[v] = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTED};
            walk->fed_by_reference[v] = false;
        }
    walk->at = ODB_MIN(walk->at, at);
}

void odb_walk_retrace(struct odb_walk *walk, struct odb_trace *trace, int at)
{
    odb_walk_back(walk, at);
    walk->trace = trace;
    walk->prober.trace = trace;
}

void odb_walk_restart(struct odb_walk *walk)
{
    size_t n = walk->model->graph->n_values;
    for (size_t v = 0; v < n; v++) {
        odb_tensor_unref(walk->given[v]);
        walk->given[v] = NULL;
    }
    memset(walk->values, 0, n * sizeof *walk->values);
    memset(walk->fed_by_reference, 0, n * sizeof *walk->fed_by_reference);
    walk->at = 0;
}

enum odb_status odb_walk_open(struct odb_walk **out, const struct odb_model *model,
                              const struct odb_feeds *feeds, struct odb_trace *trace,
                              const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_pool *pool = NULL;
    size_t n = model->graph->n_values;
    ODB_TRY(odb_probe_pool(&pool, options->target, &options->hooks, err));
    struct odb_walk *walk = odb_new(struct odb_walk);
    *walk = (struct odb_walk){.model = model,
                              .trace = trace,
                              .values = odb_room_n(struct odb_value_report, n),
                              .given = odb_new_n(struct odb_tensor *, n),
                              .fed_by_reference = odb_new_n(bool, n),
                              .tolerance = options->tolerance,
                              .pool = pool};
    odb_prober_init(&walk->prober, model, feeds, trace, pool, (struct odb_search_hooks){0});
    *out = walk;
    return ODB_OK;
}

void odb_walk_close(struct odb_walk *walk)
{
    if (!walk)
        return;
    odb_walk_restart(walk); /* drops the tensors */
    odb_prober_dispose(&walk->prober);
    odb_plainest_dispose(&walk->plainest);
    odb_pool_close(walk->pool);
    odb_room_free(walk->values);
    free(walk->given);
    free(walk->fed_by_reference);
    free(walk);
}
