/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/node_dag.h"

#include "base/mem.h"
#include "search/search.h"

struct odb_dag odb_dag_of(const struct odb_graph *graph, const bool *cut)
{
    size_t edges = 0, n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        edges += odb_node_n_reads(&graph->nodes[i]);
    size_t *start = odb_new_n(size_t, graph->n_nodes + 1);
    int *parents = odb_new_n(int, edges + 1);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        for (size_t k = 0; k < odb_node_n_reads(node); k++) {
            int v = odb_node_reads(node, k);
            if (v >= 0 && graph->values[v].producer != ODB_NO_NODE && !(cut && cut[v]))
                parents[n++] = graph->values[v].producer;
        }
        start[i + 1] = n;
    }
    return (struct odb_dag){graph->n_nodes, start, parents};
}
