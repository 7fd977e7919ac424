/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A cut that the target cannot hold at once runs piece by piece: stretches of its nodes in
 * topological order, each with as many weights as there is room for, fed with what the target
 * itself made before. So the answer is the target's, but for what it would have fused across the
 * borders.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/hooks.h"
#include "probe/probe_int.h"
#include "run/memory_budget.h"

/* --- how large things are --------------------------------------------------------------------- */

static size_t pieces_graph_weights(const struct odb_graph *graph)
{
    size_t bytes = 0;
    for (size_t v = 0; v < graph->n_values; v++)
        bytes += odb_tensor_size(graph->values[v].init);
    return bytes;
}

/* Of the node's weights those that are not marked yet, and all in its bodies. */
static size_t pieces_node_weights(const struct odb_graph *graph, const struct odb_node *node,
                                  bool *seen)
{
    size_t bytes = 0;
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int v = odb_node_reads(node, i);
        if (v < 0 || seen[v])
            continue;
        seen[v] = true;
        bytes += odb_tensor_size(graph->values[v].init);
    }
    for (size_t a = 0; a < node->attrs.n; a++) {
        const struct odb_attr *attr = &node->attrs.items[a];
        for (size_t g = 0; g < attr->n && attr->type == ODB_ATTR_GRAPH; g++)
            bytes += pieces_graph_weights(attr->graphs[g]);
    }
    return bytes;
}

size_t odb_probe_weights(const struct odb_graph *graph)
{
    return pieces_graph_weights(graph);
}

size_t odb_probe_heaviest(const struct odb_graph *graph, int *node)
{
    bool *seen = odb_new_n(bool, graph->n_values);
    size_t most = 0;
    for (int n = 0; n < (int)graph->n_nodes; n++) {
        size_t bytes = pieces_node_weights(graph, &graph->nodes[n], seen);
        for (size_t i = 0; i < odb_node_n_reads(&graph->nodes[n]); i++)
            if (odb_node_reads(&graph->nodes[n], i) >= 0)
                seen[odb_node_reads(&graph->nodes[n], i)] = false;
        if (bytes <= most)
            continue;
        most = bytes;
        *node = n;
    }
    free(seen);
    return most;
}

bool odb_probe_in_pieces(const struct odb_prober *prober)
{
    return !prober->recorded && pieces_graph_weights(prober->model->graph) >
                                    odb_memory_budget(prober->hooks.budget).weights;
}

/* --- where to cut ----------------------------------------------------------------------------- */

/* What the piece that ends before a node holds. */
struct pieces_load {
    bool *seen;  /* owned; [n_values] weights that it has */
    bool *reads; /* owned; [n_values] the probe reads them */
    uint64_t weights, values;
};

size_t odb_probe__pieces(const struct odb_prober *prober, const struct odb_probe *probe,
                         const bool *nodes, int **stops)
{
    const struct odb_graph *graph = prober->model->graph;
    const struct odb_memory_budget memory = odb_memory_budget(prober->hooks.budget);
    struct pieces_load load = {.seen = odb_new_n(bool, graph->n_values),
                               .reads = odb_new_n(bool, graph->n_values)};
    ODB_VEC(int) list = {0};
    bool any = false;
    for (size_t i = 0; i < probe->n_values; i++)
        load.reads[probe->values[i]] = true;
    for (int n = 0; n < (int)graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        uint64_t values = 0;
        if (!nodes[n])
            continue;
        for (int o = 0; o < node->n_out && prober->trace; o++)
            if (node->out[o] >= 0 && load.reads[node->out[o]])
                values += odb_tensor_size(prober->trace->ref[node->out[o]]);
        uint64_t weights = pieces_node_weights(graph, node, load.seen);
        if (any &&
            (load.weights + weights > memory.weights || load.values + values > memory.values)) {
            odb_push(&list, n);
            memset(load.seen, 0, graph->n_values * sizeof *load.seen);
            load.weights = load.values = 0;
            weights = pieces_node_weights(graph, node, load.seen);
        }
        any = true;
        load.weights += weights;
        load.values += values;
    }
    odb_push(&list, (int)graph->n_nodes);
    free(load.seen);
    free(load.reads);
    *stops = list.items;
    return list.n;
}

size_t odb_probe_pieces(const struct odb_prober *prober, const int *values, size_t n)
{
    const struct odb_graph *graph = prober->model->graph;
    const struct odb_probe probe = {.values = values, .n_values = n};
    int *stops = NULL;
    if (!odb_probe_in_pieces(prober))
        return 1;
    bool *nodes = odb_new_n(bool, graph->n_nodes);
    odb_graph_ancestors(graph, values, n, NULL, nodes);
    size_t pieces = odb_probe__pieces(prober, &probe, nodes, &stops);
    free(stops);
    free(nodes);
    return pieces;
}

/* --- running ---------------------------------------------------------------------------------- */

struct pieces {
    struct odb_prober *prober; /* borrowed, as the next four */
    struct odb_probe *probe;
    const struct odb_graph *graph;
    const bool *nodes;
    struct odb_tensor **made;
    struct odb_tensor **given; /* owned array, borrowed tensors: what the probe gives, and made */
    int *last;   /* owned; [n_values] the last node of the cut that reads it; -1: none */
    bool *reads; /* owned; [n_values] the probe does */
};

static void pieces_begin(struct pieces *p)
{
    size_t n = p->graph->n_values;
    p->given = odb_new_n(struct odb_tensor *, n);
    p->last = odb_new_n(int, n);
    p->reads = odb_new_n(bool, n);
    if (p->probe->given)
        memcpy(p->given, p->probe->given, n * sizeof *p->given);
    for (size_t i = 0; i < p->probe->n_values; i++)
        p->reads[p->probe->values[i]] = true;
    for (size_t v = 0; v < n; v++)
        p->last[v] = -1;
    for (int i = 0; i < (int)p->graph->n_nodes; i++)
        for (size_t r = 0; p->nodes[i] && r < odb_node_n_reads(&p->graph->nodes[i]); r++)
            if (odb_node_reads(&p->graph->nodes[i], r) >= 0)
                p->last[odb_node_reads(&p->graph->nodes[i], r)] = i;
}

static void pieces_end(struct pieces *p)
{
    free(p->given);
    free(p->last);
    free(p->reads);
}

/* What the probe reads of a piece, and what later ones are fed. */
static size_t pieces_values(const struct pieces *p, const bool *piece, int stop, int *list)
{
    size_t n = 0;
    for (size_t v = 0; v < p->graph->n_values; v++) {
        int producer = p->graph->values[v].producer;
        if (producer != ODB_NO_NODE && piece[producer] && (p->reads[v] || p->last[v] >= stop))
            list[n++] = (int)v;
    }
    return n;
}

/* Keeps what a piece gave, and drops what is not needed from here on. */
static enum odb_status pieces_take(struct pieces *p, struct odb_probe *part, int stop,
                                   struct odb_error *err)
{
    for (size_t i = 0; i < part->n_values; i++) {
        int v = part->values[i];
        if (!part->outputs[i] && p->last[v] >= stop)
            return odb_fail(err, ODB_UNSUPPORTED,
                            "the target does not give %s, and so it cannot run in pieces there",
                            p->graph->values[v].name);
        p->made[v] = p->given[v] = part->outputs[i];
        part->outputs[i] = NULL;
    }
    for (size_t v = 0; v < p->graph->n_values; v++) {
        if (!p->made[v] || p->reads[v] || p->last[v] >= stop)
            continue;
        odb_tensor_unref(p->made[v]);
        p->made[v] = p->given[v] = NULL;
    }
    return ODB_OK;
}

/* Nodes of the cut from first up to stop, not with it; in two halves where the target has not
 * memory enough for all. */
static enum odb_status pieces_run(struct pieces *p, int first, int stop, struct odb_error *err)
{
    struct odb_probe part = {.what = p->probe->what, .node = p->probe->node, .any = p->probe->any};
    bool *nodes = odb_new_n(bool, p->graph->n_nodes);
    int *values = odb_new_n(int, p->graph->n_values), n = 0;
    enum odb_status status = ODB_OK;
    for (int i = first; i < stop; i++)
        n += nodes[i] = p->nodes[i];
    part.nodes = nodes;
    part.given = p->given;
    part.values = values;
    part.n_values = pieces_values(p, nodes, stop, values);
    part.outputs = odb_new_n(struct odb_tensor *, part.n_values);
    if (part.n_values)
        status = odb_probe__part(p->prober, &part, err);
    p->probe->loads += part.loads;
    p->probe->runs += part.runs;
    if (status == ODB_OK)
        status = pieces_take(p, &part, stop, err);
    odb_probe_drop(p->prober, &part);
    free(part.outputs);
    free(values);
    free(nodes);
    if (status != ODB_E_NOMEM || n < 2)
        return status;
    int middle = first;
    for (int half = 0; half < n / 2; middle++)
        half += p->nodes[middle];
    ODB_TRY(pieces_run(p, first, middle, err));
    return pieces_run(p, middle, stop, err);
}

enum odb_status odb_probe__by_pieces(struct odb_prober *prober, struct odb_probe *probe,
                                     const bool *nodes, const int *stops, size_t n,
                                     struct odb_tensor **made, struct odb_error *err)
{
    struct pieces p = {.prober = prober,
                       .probe = probe,
                       .graph = prober->model->graph,
                       .nodes = nodes,
                       .made = made};
    enum odb_status status = ODB_OK;
    int first = 0;
    pieces_begin(&p);
    for (size_t i = 0; i < n && status == ODB_OK; first = stops[i++]) {
        status = pieces_run(&p, first, stops[i], err);
        odb_hooks_progress(&prober->hooks, probe->what, stops[i] - 1, i + 1, n);
    }
    pieces_end(&p);
    return status;
}
