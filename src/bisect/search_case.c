/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/search_case.h"

#include <stdlib.h>

#include "probe/ahead.h"
#include "base/clock.h"
#include "base/mem.h"
#include "run/hooks.h"
#include "probe/reference_from.h"
#include "reference/trace.h"
#include "report/report.h"

void search_case_begin(struct search_case_made *out, const struct odb_model *model,
                       const struct odb_feeds *feeds, const struct odb_bisect_options *options)
{
    *out = (struct search_case_made){.is = {.model = model,
                                            .graph = model->graph,
                                            .feeds = feeds,
                                            .options = options,
                                            .start = odb_spent_now()}};
    out->is.prober = &out->prober;
}

/* Which values are drawn, and which outputs nodes make that are none of them. */
static void case_know_values(struct search_case_made *made)
{
    const struct odb_graph *graph = made->is.graph;
    int *outputs = odb_new_n(int, graph->n_outputs + 1);
    size_t n = 0;
    made->drawn = odb_new_n(bool, graph->n_values);
    for (size_t v = 0; v < graph->n_values; v++)
        made->drawn[v] = odb_trace_drawn(made->is.trace, (int)v);
    for (size_t o = 0; o < graph->n_outputs; o++) {
        int v = graph->outputs[o];
        if (graph->values[v].producer != ODB_NO_NODE && !made->drawn[v])
            outputs[n++] = v;
    }
    made->is.drawn = made->drawn;
    search_case_set_outputs(made, outputs, n);
}

enum odb_status search_case_trace(struct search_case_made *made, struct odb_error *err)
{
    const struct odb_bisect_options *options = made->is.options;
    struct odb_trace_options how;
    ODB_TRY(odb_bisect_trace_options(options, &how, err));
    if (!options->trace)
        ODB_TRY(odb_reference_make(&made->trace, made->is.model, made->is.feeds, &how, err));
    made->is.trace = options->trace ? options->trace : made->trace;
    made->is.trace->hooks = options->hooks;
    if (options->trace)
        made->is.start = odb_spent_less(made->is.start, options->trace->made);
    made->is.judge = (struct odb_judge){made->is.trace, &options->tolerance, NULL};
    case_know_values(made);
    return ODB_OK;
}

enum odb_status search_case_connect(struct search_case_made *made, struct odb_error *err)
{
    const struct odb_bisect_options *options = made->is.options;
    if (options->recorded) {
        made->prober.recorded = true;
        return ODB_OK;
    }
    made->is.trace->phase = "start of the target";
    bool ahead = odb_ahead_is(options->ahead, options->target);
    if (ahead) {
        odb_hooks_phase(&options->hooks, made->is.trace->phase, 0);
        ODB_TRY(odb_ahead_pool(options->ahead, &made->pool, err));
    } else {
        ODB_TRY(odb_probe_pool(&made->pool, options->target, &options->hooks, err));
    }
    odb_prober_init(&made->prober, made->is.model, made->is.feeds, made->is.trace, made->pool,
                    options->hooks);
    made->prober.search = true;
    made->prober.ahead = ahead ? options->ahead : NULL;
    made->prober.answers = options->answers;
    made->prober.scope = options->scope ? options->scope : options->pass;
    made->prober.retries = options->pass != NULL;
    if (options->max_outputs && !options->scope) /* a body is another model */
        odb_probe_set_max_outputs(&made->prober, options->max_outputs);
    if (!options->scope)
        odb_probe_set_cuts_found(&made->prober, options->cuts);
    made->is.judge.compared = &made->prober.now->compared;
    made->is.pool = made->pool;
    return ODB_OK;
}

void search_case_set_outputs(struct search_case_made *made, int *outputs, size_t n)
{
    free(made->outputs);
    made->is.outputs = made->outputs = outputs;
    made->is.n_outputs = n;
}

void search_case_part(struct search_case_made *out, const struct search_case *of)
{
    const struct odb_graph *graph = of->graph;
    *out = (struct search_case_made){.is = *of};
    search_case_set_outputs(
        out, odb_xmemdup(of->outputs, (of->n_outputs + 1) * sizeof *of->outputs), of->n_outputs);
    out->is.drawn = out->drawn = odb_xmemdup(of->drawn, graph->n_values * sizeof *of->drawn);
}

void search_case_pin(struct search_case_made *out, const struct search_case *of, const bool *pinned)
{
    *out = (struct search_case_made){.is = *of, .prober = odb_prober_pinned(of->prober, pinned)};
    out->drawn = odb_xmemdup(of->drawn, of->graph->n_values * sizeof *of->drawn);
    for (size_t v = 0; v < of->graph->n_values; v++)
        out->drawn[v] |= pinned[v];
    out->is.drawn = out->drawn;
    out->is.pinned = pinned;
    out->is.prober = &out->prober;
    out->is.unpinned = of;
}

void search_case_dispose(struct search_case_made *made)
{
    struct odb_trace *lent = made->is.options ? made->is.options->trace : NULL;
    if (made->pool) {
        odb_ahead_end(made->prober.ahead);
        odb_prober_dispose(&made->prober);
    }
    odb_pool_close(made->pool);
    odb_trace_free(made->trace);
    if (lent && made->is.prober == &made->prober && !made->is.pinned) {
        lent->fed = NULL;
        lent->hooks = (struct odb_search_hooks){0};
        lent->phase = NULL;
    }
    free(made->outputs);
    free(made->drawn);
    free(made->fed);
    free(made->beyond);
    *made = (struct search_case_made){0};
}

int case_pin_of(const struct search_case *c, const struct odb_culprit *who)
{
    int maker = who->group.n ? c->graph->values[who->pin].producer : who->node;
    return maker == ODB_NO_NODE ? who->node : maker;
}

bool case_is_weight(const struct search_case *c, int node)
{
    int value = case_output_of(c, node);
    return value >= 0 && c->prober->constant && c->prober->constant[value];
}

int case_output_of(const struct search_case *c, int node)
{
    const struct odb_node *n = &c->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && c->graph->values[n->out[o]].name[0])
            return n->out[o];
    return ODB_NO_VALUE;
}
