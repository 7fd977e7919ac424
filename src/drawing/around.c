/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "drawing/drawing.h"

struct around {
    const struct odb_graph *graph;
    bool *nodes;
    ODB_VEC(int) found; /* in the order of their distance */
};

static void around_take(struct around *around, int node)
{
    if (node == ODB_NO_NODE || around->nodes[node])
        return;
    around->nodes[node] = true;
    odb_push(&around->found, node);
}

static void around_step(struct around *around, const struct odb_node *node)
{
    const struct odb_value *values = around->graph->values;
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int value = odb_node_reads(node, i);
        if (value != ODB_NO_VALUE && !values[value].init)
            around_take(around, values[value].producer);
    }
    for (int i = 0; i < node->n_out; i++)
        for (size_t c = 0; node->out[i] != ODB_NO_VALUE && c < values[node->out[i]].n_consumers;
             c++)
            around_take(around, values[node->out[i]].consumers[c]);
}

void odb_drawing_around(const struct odb_graph *graph, int node, int depth, bool *nodes)
{
    struct around around = {.graph = graph, .nodes = odb_new_n(bool, graph->n_nodes + 1)};
    around_take(&around, node);
    for (size_t at = 0; depth > 0; depth--)
        for (size_t end = around.found.n; at < end; at++)
            around_step(&around, &graph->nodes[around.found.items[at]]);
    for (size_t i = 0; i < around.found.n; i++)
        nodes[around.found.items[i]] = true;
    free(around.found.items);
    free(around.nodes);
}
