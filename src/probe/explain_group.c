/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/explain_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "explain/measure/other_order.h"
#include "probe/explain_node.h"

struct group_asked {
    const struct odb_explain_group *a;
    const struct odb_graph *graph;
    struct odb_tensor **fed; /* owned refs; [n_values] what the nodes read and do not make */
};

/* --- what they are fed ------------------------------------------------------------------------ */

/* What the reference has behind the pair of quantisers that reads the value in the group: on their
 * grid, so that they decide nothing. NULL: there is no such pair. */
static struct odb_tensor *group_on_grid(const struct group_asked *g, int value)
{
    const struct odb_value *v = &g->graph->values[value];
    for (size_t i = 0; i < v->n_consumers; i++) {
        const struct odb_node *q = &g->graph->nodes[v->consumers[i]];
        int codes = q->n_out ? q->out[0] : ODB_NO_VALUE;
        if (!g->a->nodes[q->index] || strcmp(q->op_type, "QuantizeLinear") || codes < 0)
            continue;
        for (size_t k = 0; k < g->graph->values[codes].n_consumers; k++) {
            const struct odb_node *dq = &g->graph->nodes[g->graph->values[codes].consumers[k]];
            if (!strcmp(dq->op_type, "DequantizeLinear") && dq->out[0] >= 0)
                return g->a->prober->trace->ref[dq->out[0]];
        }
    }
    return NULL;
}

/* The reference's values at the border; false: one of them is not known. */
static bool group_feed(struct group_asked *g)
{
    const struct odb_trace *trace = g->a->prober->trace;
    bool all = true;
    for (size_t n = 0; n < g->graph->n_nodes; n++)
        for (size_t k = 0; g->a->nodes[n] && k < odb_node_n_reads(&g->graph->nodes[n]); k++) {
            int v = odb_node_reads(&g->graph->nodes[n], k);
            const struct odb_value *value = v < 0 ? NULL : &g->graph->values[v];
            bool made = v < 0 || (value->producer != ODB_NO_NODE && g->a->nodes[value->producer]);
            if (made || g->fed[v] || value->init)
                continue;
            const struct odb_tensor *t = odb_trace_value(trace, v);
            const struct odb_tensor *grid = t ? group_on_grid(g, v) : NULL;
            bool alike = grid && grid->dtype == t->dtype && odb_tensor_same_shape(grid, t);
            g->fed[v] = odb_tensor_ref(alike ? grid : t);
            all = all && t;
        }
    return all;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Runs the group alone on what it is fed, the k-th other inputs or its own (0); *out: a ref. */
static enum odb_status group_ask(const struct group_asked *g, struct odb_tensor *const *fed,
                                 size_t k, struct odb_tensor **out, struct odb_error *err)
{
    char what[240], title[48] = "the explained group";
    int first = ODB_NO_NODE, last = ODB_NO_NODE;
    for (int n = 0; n < (int)g->graph->n_nodes; n++)
        if (g->a->nodes[n]) {
            first = first < 0 ? n : first;
            last = n;
        }
    if (k)
        odb_text_fit(title, sizeof title, "other inputs %zu of the explained group", k);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_EXPLAIN,
                              .what =
                                  odb_probe_title(g->graph, title, first, last, what, sizeof what),
                              .node = g->a->node,
                              .nodes = g->a->nodes,
                              .given = fed,
                              .values = &g->a->value,
                              .n_values = 1,
                              .outputs = out};
    enum odb_status status = odb_probe_run(g->a->prober, &probe, err);
    struct odb_tensor *had = status == ODB_OK ? odb_tensor_ref(out[0]) : NULL;
    odb_probe_drop(g->a->prober, &probe);
    out[0] = had;
    return status;
}

static void group_unref(const struct group_asked *g, struct odb_tensor **fed)
{
    for (size_t v = 0; v < g->graph->n_values; v++)
        odb_tensor_unref(fed[v]);
    free(fed);
}

static bool group_again(void *payload, size_t k, struct odb_explain_pair *out)
{
    const struct group_asked *g = payload;
    const bool *constant = g->a->prober->constant;
    bool other = false;
    out->given = odb_new_n(struct odb_tensor *, g->graph->n_values);
    out->n_given = g->graph->n_values;
    out->out = odb_new_n(struct odb_tensor *, ODB_MAX(g->graph->nodes[g->a->node].n_out, 1));
    for (size_t v = 0; v < g->graph->n_values; v++) {
        if (!g->fed[v])
            continue;
        out->given[v] = constant && constant[v]
                            ? odb_tensor_ref(g->fed[v])
                            : odb_explain_other_order(g->fed[v], 1000 * (k + 1) + v);
        other |= out->given[v] != g->fed[v];
    }
    bool had = other && group_ask(g, out->given, k + 1, out->out, NULL) == ODB_OK && out->out[0];
    if (!had)
        odb_explain_pair_dispose(out, &g->graph->nodes[g->a->node]);
    return had;
}

/* Bytes of what the nodes make, and of what they are fed: a variant holds them several times. */
static uint64_t group_bytes(const struct group_asked *g)
{
    const struct odb_trace *trace = g->a->prober->trace;
    uint64_t bytes = 0;
    for (size_t v = 0; v < g->graph->n_values; v++) {
        int maker = g->graph->values[v].producer;
        bool made = maker != ODB_NO_NODE && g->a->nodes[maker];
        const struct odb_tensor *t = made ? odb_trace_value(trace, (int)v) : g->fed[v];
        bytes += t ? odb_tensor_size(t) : 0;
    }
    return bytes;
}

enum odb_status odb_explain_group(struct odb_explanations *out, const struct odb_explain_group *a,
                                  struct odb_error *err)
{
    struct group_asked g = {.a = a, .graph = a->prober->model->graph};
    struct odb_tensor *y = NULL;
    enum odb_status status = ODB_OK;
    *out = (struct odb_explanations){0};
    g.fed = odb_new_n(struct odb_tensor *, g.graph->n_values);
    if (!group_feed(&g))
        out->why_not = odb_xstrdup("what its nodes are fed is not known");
    else if (odb_explain_fits(a->prober, group_bytes(&g), &out->why_not))
        status = group_ask(&g, g.fed, 0, &y, err);
    if (status == ODB_OK && !y && !out->why_not)
        out->why_not = odb_xstrdup("what comes out of its nodes cannot be read");
    if (y) {
        struct odb_explain_question q = {.model = a->prober->model,
                                         .cpu = a->cpu,
                                         .node = a->node,
                                         .out = &y,
                                         .given = g.fed,
                                         .group = true,
                                         .exit = a->value,
                                         .factor = a->factor,
                                         .seconds = a->seconds,
                                         .hooks = &a->prober->hooks,
                                         .again = a->once ? NULL : group_again,
                                         .payload = &g};
        status = odb_explain(out, &q, err);
    }
    odb_tensor_unref(y);
    group_unref(&g, g.fed);
    return status;
}
