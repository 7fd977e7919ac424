/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shrink/repro_as_if.h"

#include <stdlib.h>

#include "base/mem.h"
#include "explain/as_if/as_if.h"

#define AS_IF_FACTOR 10 /* times the noise is agreement, as where the node was explained */

static const struct odb_tensor *as_if_value(const struct odb_graph *graph,
                                            const struct odb_feeds *feeds, int value)
{
    for (size_t f = 0; f < feeds->n; f++)
        if (feeds->items[f].value == value)
            return feeds->items[f].tensor;
    return value < 0 ? NULL : graph->values[value].init;
}

enum odb_status odb_repro_as_if(const struct odb_model *small, const struct odb_feeds *feeds,
                                struct odb_tensor *const *outputs,
                                const struct odb_explanations *explained, struct odb_buf *bytes,
                                struct odb_error *err)
{
    const struct odb_graph *graph = small->graph;
    const struct odb_node *node = graph->nodes;
    struct odb_explain_pair pair = {0};
    struct odb_cpu *cpu = NULL;
    if (graph->n_nodes != 1 || !explained->items.n || explained->items.items[0].fit < ODB_FIT_CLASS)
        return ODB_SKIPPED;
    pair.in = odb_new_n(struct odb_tensor *, node->n_in);
    pair.out = odb_new_n(struct odb_tensor *, node->n_out);
    for (int i = 0; i < node->n_in; i++)
        pair.in[i] = odb_tensor_ref(as_if_value(graph, feeds, node->in[i]));
    for (int o = 0; o < node->n_out; o++)
        for (size_t k = 0; k < graph->n_outputs && outputs; k++)
            if (graph->outputs[k] == node->out[o] && !pair.out[o])
                pair.out[o] = odb_tensor_ref(outputs[k]);
    enum odb_status status = odb_cpu_new(&cpu, small, err);
    if (status == ODB_OK) {
        const struct odb_explain_question q = {
            .model = small, .cpu = cpu, .in = pair.in, .out = pair.out, .factor = AS_IF_FACTOR};
        status = odb_explain_as_if(&q, explained->items.items[0].variant, bytes, err);
    }
    odb_cpu_free(cpu);
    odb_explain_pair_dispose(&pair, node);
    return status;
}
