/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "probe/explain_node.h"
#include "probe/reference_from.h"
#include "report/explained.h"
#include "report/json.h"

#define EXPLAIN_FACTOR 10                 /* times the noise is agreement, as in --tol noise */
#define EXPLAIN_BYTES ((size_t)512 << 20) /* of values that are read beside the node's own */
#define EXPLAIN_SECONDS 120 /* without --explain-budget: the user waits for this one node */

static void explain_put_one(const struct odb_explanations *all, const struct odb_explanation *one,
                            struct odb_buf *out)
{
    odb_buf_printf(out, "  %-7s ", odb_fit_name(one->fit));
    odb_help_wrap(out, one->text, 10, 10);
    odb_buf_printf(out, "          %s: residual %.3g, noise %.3g, of %.3g", one->variant,
                   one->residual, one->noise, one->of);
    if (one->fit == ODB_FIT_PARTLY)
        odb_buf_printf(out, ", %.2f %% of the error's energy", 100 * (1 - one->left));
    else
        odb_buf_printf(out, ", holds on %zu other input%s", one->confirmed,
                       odb_plural(one->confirmed));
    if (one->refuted)
        odb_buf_puts(out, ", and not on others");
    odb_buf_putc(out, '\n');
    if (odb_explanation_doubt(all, one))
        odb_buf_printf(out, "          %s\n", odb_explanation_doubt(all, one));
    for (size_t m = 0; m < one->members.n; m++)
        odb_buf_printf(out, "            %s\n", one->members.items[m]);
}

static void explain_text(const struct odb_graph *graph, int node, const char *spec,
                         const struct odb_explanations *all, struct odb_buf *out)
{
    odb_node_put(graph, node, out);
    odb_buf_puts(out, " on ");
    odb_buf_put_shown(out, spec);
    odb_buf_putc(out, '\n');
    if (!all->tried) {
        odb_buf_printf(out, "  not explained: %s\n", all->why_not ? all->why_not : "");
        return;
    }
    odb_buf_printf(out, "  wrong: %s\n", all->where && all->where[0] ? all->where : "not known");
    if (all->right)
        odb_buf_puts(out, "  it makes what its operator says, within noise\n");
    else if (!all->items.n)
        odb_buf_puts(out, "  no variant gives what the target gave\n");
    for (size_t i = 0; i < all->items.n; i++)
        explain_put_one(all, &all->items.items[i], out);
    odb_buf_printf(out, "  %zu variant%s in %.3g s, %zu other input%s\n", all->variants,
                   odb_plural(all->variants), all->seconds, all->asked, odb_plural(all->asked));
    if (all->why_not)
        odb_buf_printf(out, "  %s\n", all->why_not);
}

static void explain_json(const struct odb_graph *graph, int node, const char *spec,
                         const struct odb_explanations *all, struct odb_buf *out)
{
    const struct odb_node *n = &graph->nodes[node];
    json_t *json = odb_json_node(node, n->name, n->op_type, n->domain);
    json_object_set_new(json, "schema", json_integer(1));
    json_object_set_new(json, "target", odb_json_text(spec));
    odb_explained_json(all, json);
    json_object_set_new(json, "right", json_boolean(all->right));
    json_object_set_new(json, "why_not", odb_json_text(all->why_not));
    json_object_set_new(json, "variants", json_integer((json_int_t)all->variants));
    json_object_set_new(json, "asked", json_integer((json_int_t)all->asked));
    json_object_set_new(json, "seconds", odb_json_real(all->seconds));
    odb_json_put(json, out);
}

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
        status = explain_node(asking, trace, all, err);
        odb_prober_dispose(&prober);
    }
    odb_pool_close(pool);
    odb_trace_free(trace);
    return status;
}

enum odb_status odb_command__explain(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    const struct odb_graph *graph = call->model->graph;
    struct odb_explanations all = {0};
    struct odb_explain_asking asking = {
        .factor = EXPLAIN_FACTOR,
        .seconds = (double)odb_call_int(call, ODB_OPTION_EXPLAIN_BUDGET, EXPLAIN_SECONDS)};
    struct odb_watch watch;
    struct odb_buf out = ODB_BUF_INIT;
    ODB_TRY(odb_graph_find_node(graph, odb_call_arg(call, 1), &asking.node, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = explain_ask(call, feeds, &hooks, &asking, &all, err);
    odb_watch_end(&watch);
    if (status == ODB_OK && odb_call_has(call, ODB_OPTION_JSON))
        explain_json(graph, asking.node, odb_call__target(call), &all, &out);
    else if (status == ODB_OK)
        explain_text(graph, asking.node, odb_call__target(call), &all, &out);
    odb_explanations_dispose(&all);
    odb_call__print(call, &out);
    return status;
}
