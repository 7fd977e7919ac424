/* SPDX-License-Identifier: MIT
 *
 * Topological order, by Kahn: a node is ready when all its producers are placed, and of those
 * that are ready the one that stands first in the file comes next. So a file in order keeps its
 * order, and the same file always gives the same indices.
 */
#include <stdlib.h>
#include <string.h>

#include "model/read/load_int.h"

/* Smallest first. */
struct heap {
    int *items; /* owned; room for all nodes */
    size_t n;
};

static void heap_push(struct heap *heap, int item)
{
    size_t i = heap->n++;
    for (; i && heap->items[(i - 1) / 2] > item; i = (i - 1) / 2)
        heap->items[i] = heap->items[(i - 1) / 2];
    heap->items[i] = item;
}

static int heap_pop(struct heap *heap)
{
    int first = heap->items[0], last = heap->items[--heap->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
        child += child + 1 < heap->n && heap->items[child + 1] < heap->items[child];
        if (heap->items[child] >= last)
            break;
        heap->items[i] = heap->items[child];
    }
    heap->items[i] = last;
    return first;
}

/* Calls visit for every value that the node uses, captured ones included, each once. seen: marks
 * by value, of the last node that used it. */
static void order_each_use(const struct odb_graph *graph, int node, int *seen,
                           void (*visit)(struct odb_value *value, int node))
{
    const struct odb_node *nd = &graph->nodes[node];
    for (size_t i = 0; i < odb_node_n_reads(nd); i++) {
        int v = odb_node_reads(nd, i);
        if (v == ODB_NO_VALUE || seen[v] == node)
            continue;
        seen[v] = node;
        visit(&graph->values[v], node);
    }
}

static void order_count(struct odb_value *value, int node)
{
    (void)node;
    value->n_consumers++;
}

static void order_add(struct odb_value *value, int node)
{
    value->consumers[value->n_consumers++] = node;
}

static void order_all_uses(const struct odb_graph *graph, int *seen,
                           void (*visit)(struct odb_value *value, int node))
{
    for (size_t v = 0; v < graph->n_values; v++) {
        graph->values[v].n_consumers = 0;
        seen[v] = -1;
    }
    for (size_t n = 0; n < graph->n_nodes; n++)
        order_each_use(graph, (int)n, seen, visit);
}

/* Fills consumers for the nodes as they stand; the counts do not depend on their order, so the
 * arrays may be filled again. */
static void order_consumers(struct odb_graph *graph, struct model_arena *arena)
{
    int *seen = odb_new_n(int, graph->n_values);
    if (arena) {
        order_all_uses(graph, seen, order_count);
        for (size_t v = 0; v < graph->n_values; v++)
            graph->values[v].consumers = arena_new_n(arena, int, graph->values[v].n_consumers);
    }
    order_all_uses(graph, seen, order_add);
    free(seen);
}

/* Some nodes wait for each other: walks from one of them to what it waits for until a node comes
 * up twice, and tells of that one. */
static enum odb_status order_cycle(const struct odb_graph *graph, const int *waiting,
                                   struct odb_error *err)
{
    bool *been = odb_new_n(bool, graph->n_nodes);
    int node = 0;
    while (!waiting[node])
        node++;
    const struct odb_value *value = NULL;
    for (;;) {
        const struct odb_node *nd = &graph->nodes[node];
        for (size_t i = 0; i < odb_node_n_reads(nd); i++) {
            int v = odb_node_reads(nd, i);
            int producer = v == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[v].producer;
            if (producer != ODB_NO_NODE && waiting[producer]) {
                value = &graph->values[v];
                break;
            }
        }
        if (been[node])
            break;
        been[node] = true;
        node = value->producer;
    }
    free(been);
    char place[160];
    const Onnx__NodeProto message = {.name = (char *)graph->nodes[node].name,
                                     .op_type = (char *)graph->nodes[node].op_type};
    return odb_fail(err, ODB_E_MODEL, "%s is on a cycle: its input '%s' depends on its own output",
                    odb_model__node_place(&message, (size_t)node, place, sizeof place),
                    value->name);
}

/* Nodes by place. waiting: how many values each node waits for. */
static enum odb_status order_kahn(const struct odb_graph *graph, int *order, int *waiting,
                                  struct odb_error *err)
{
    struct heap ready = {odb_new_n(int, graph->n_nodes), 0};
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].producer != ODB_NO_NODE)
            for (size_t i = 0; i < graph->values[v].n_consumers; i++)
                waiting[graph->values[v].consumers[i]]++;
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (!waiting[n])
            heap_push(&ready, (int)n);
    size_t placed = 0;
    while (ready.n) {
        int n = order[placed++] = heap_pop(&ready);
        for (int k = 0; k < graph->nodes[n].n_out; k++) {
            int v = graph->nodes[n].out[k];
            if (v == ODB_NO_VALUE)
                continue;
            for (size_t i = 0; i < graph->values[v].n_consumers; i++)
                if (--waiting[graph->values[v].consumers[i]] == 0)
                    heap_push(&ready, graph->values[v].consumers[i]);
        }
    }
    free(ready.items);
    return placed == graph->n_nodes ? ODB_OK : order_cycle(graph, waiting, err);
}

/* Moves the nodes to their places. */
static void order_apply(struct odb_graph *graph, const int *order)
{
    struct odb_node *nodes = odb_new_n(struct odb_node, graph->n_nodes);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        nodes[n] = graph->nodes[order[n]];
        nodes[n].index = (int)n;
        for (int k = 0; k < nodes[n].n_out; k++)
            if (nodes[n].out[k] != ODB_NO_VALUE)
                graph->values[nodes[n].out[k]].producer = (int)n;
    }
    memcpy(graph->nodes, nodes, graph->n_nodes * sizeof *nodes);
    free(nodes);
}

enum odb_status odb_model__order(struct odb_graph *graph, struct model_arena *arena,
                                 struct odb_error *err)
{
    order_consumers(graph, arena);
    int *order = odb_new_n(int, graph->n_nodes), *waiting = odb_new_n(int, graph->n_nodes);
    enum odb_status status = order_kahn(graph, order, waiting, err);
    for (size_t n = 0; n < graph->n_nodes && status == ODB_OK; n++)
        graph->was_unsorted = graph->was_unsorted || order[n] != (int)n;
    if (status == ODB_OK && graph->was_unsorted) {
        order_apply(graph, order);
        order_consumers(graph, NULL);
    }
    free(order);
    free(waiting);
    return status;
}
