/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/search_options.h"
#include "command/verbs/look/explain_files.h"
#include "command/verbs/look/explain_print.h"
#include "probe/explain_node.h"
#include "probe/reference_from.h"
#include "session/session.h"

#define EXPLAIN_BYTES ((size_t)512 << 20) /* of values that are read beside the node's own */

/* All values that a run may give, where they are not too much. */
static size_t explain_list(const struct odb_trace *trace, int *list)
{
    const struct odb_graph *graph = trace->model->graph;
    size_t n = 0, bytes = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        if (!trace->ref[v] || !odb_probe_wants(graph, trace, (int)v))
            continue;
        bytes += odb_tensor_size(trace->ref[v]);
        list[n++] = (int)v;
    }
    return bytes <= EXPLAIN_BYTES ? n : 0;
}

/* With every value read first, so that whose values an output holds can be seen; then with the
 * node's own alone, if it is right, or refused, with all of them. */
static enum odb_status explain_node(struct odb_explain_asking *asking,
                                    const struct odb_trace *trace, struct odb_explanations *all,
                                    struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    int *list = odb_new_n(int, trace->model->graph->n_values);
    asking->read = list;
    asking->n_read = explain_list(trace, list);
    enum odb_status status = odb_explain_node(all, asking, &why);
    if (asking->n_read && status != ODB_CANCELLED && (status != ODB_OK || all->right)) {
        odb_explanations_dispose(all);
        odb_beside_dispose(asking->beside);
        asking->n_read = 0;
        why = (struct odb_error)ODB_ERROR_INIT;
        status = odb_explain_node(all, asking, &why);
    }
    if (status != ODB_OK)
        *err = why;
    free(list);
    return status;
}

/* Asks the target, with a reference that says what values look like. */
static enum odb_status explain_ask(struct odb_command_call *call, const struct odb_feeds *feeds,
                                   const struct odb_search_hooks *hooks,
                                   struct odb_explain_asking *asking, struct odb_explanations *all,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    struct odb_trace_options how = ODB_TRACE_OPTIONS_INIT;
    struct odb_trace *trace = NULL;
    struct odb_pool *pool = NULL;
    struct odb_prober prober;
    how.hooks = *hooks;
    ODB_TRY(odb_reference_up_to(&trace, call->model, feeds, graph->outputs, graph->n_outputs, &how,
                                err));
    enum odb_status status = odb_probe_pool(&pool, odb_call__target(call), hooks, err);
    if (status == ODB_OK) {
        odb_prober_init(&prober, call->model, feeds, trace, pool, *hooks);
        asking->prober = &prober;
        asking->cpu = trace->cpu;
        asking->once = prober.recorded;
        asking->alone = odb_probe_cuts(&prober) == ODB_CUTS_ANY;
        status = explain_node(asking, trace, all, err);
        odb_prober_dispose(&prober);
    }
    odb_pool_close(pool);
    odb_trace_free(trace);
    return status;
}

/* MODEL and NODE, where the line has both; one file may be named in place of a model. */
static enum odb_status explain_open(struct odb_command_call *call, int *node, struct odb_error *err)
{
    if (!odb_call_arg(call, 0))
        return odb_fail(err, ODB_E_USAGE, "explain needs a MODEL and a NODE, or --op and files");
    if (!call->model) {
        ODB_TRY(odb_call__open_model(call, odb_call_arg(call, 0), err));
        odb_session_start(call->session);
    }
    if (call->n_args == 2)
        return odb_graph_find_node(call->model->graph, odb_call_arg(call, 1), node, err);
    return odb_fail(err, ODB_E_USAGE,
                    call->n_args < 2 ? "explain needs a NODE" : "explain takes one NODE");
}

enum odb_status odb_command__explain(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_explanations all = {0};
    struct odb_beside beside = {0};
    struct odb_explain_asking asking = {.factor = EXPLAIN_FACTOR,
                                        .seconds = explain_seconds(call),
                                        .trials = odb_call_has(call, ODB_OPTION_ALL_VARIANTS),
                                        .variant = odb_call_option(call, ODB_OPTION_BESIDE),
                                        .beside = &beside};
    struct odb_watch watch;
    struct odb_buf out = ODB_BUF_INIT;
    if (odb_call_has(call, ODB_OPTION_OP))
        return explain_files(call, err);
    ODB_TRY(explain_open(call, &asking.node, err));
    ODB_TRY(odb_call__own_rows(call, &asking.own, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = explain_ask(call, feeds, &hooks, &asking, &all, err);
    odb_watch_end(&watch);
    if (status == ODB_OK) {
        const struct explain_of of = {.graph = call->model->graph,
                                      .node = asking.node,
                                      .made_by = odb_call__target(call),
                                      .chosen = odb_call__chosen(call),
                                      .beside = beside.target ? &beside : NULL};
        (odb_call_has(call, ODB_OPTION_JSON) ? explain_put_json : explain_put_text)(&of, &all,
                                                                                    &out);
    }
    odb_explanations_dispose(&all);
    odb_beside_dispose(&beside);
    odb_call__print(call, &out);
    return status;
}
