/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/constants.h"

#include <stdlib.h>

#include "base/mem.h"
#include "interpret/cpu.h"
#include "model/model.h"
#include "session/session.h"

/* Which nodes are constant: [n_nodes], owned by the caller. What has no inputs may be random. */
static bool *constants_mark(const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    bool *marks = odb_new_n(bool, graph->n_nodes + 1);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        marks[n] = !odb_cpu_random(odb_session_cpu(session), (int)n);
        for (size_t i = 0; i < odb_node_n_reads(node) && marks[n]; i++) {
            int v = odb_node_reads(node, i);
            int producer = v == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[v].producer;
            marks[n] = v == ODB_NO_VALUE || graph->values[v].init ||
                       (producer != ODB_NO_NODE && marks[producer]);
        }
    }
    return marks;
}

/* Backwards: the nodes that read a node come before it. */
static void constants_read(struct ui_constants *constants, const struct odb_graph *graph,
                           const bool *marks)
{
    for (size_t n = graph->n_nodes; n-- > 0;) {
        const struct odb_node *node = &graph->nodes[n];
        int reader = marks[n] ? constants->reader[n] : (int)n;
        for (size_t i = 0; i < odb_node_n_reads(node) && reader != ODB_NO_NODE; i++) {
            int v = odb_node_reads(node, i);
            int producer = v == ODB_NO_VALUE ? ODB_NO_NODE : graph->values[v].producer;
            if (producer == ODB_NO_NODE || !marks[producer])
                continue;
            int *first = &constants->reader[producer];
            *first = *first == ODB_NO_NODE ? reader : ODB_MIN(*first, reader);
        }
        constants->n += marks[n] && reader != ODB_NO_NODE;
    }
}

static void constants_arrange(struct ui_constants *constants, size_t n_nodes)
{
    int *next = odb_new_n(int, n_nodes + 1), *first = odb_new_n(int, n_nodes + 1);
    int at = 0, places = 0;
    for (size_t n = n_nodes; n-- > 0;) {
        int reader = constants->reader[n];
        next[n] = ODB_NO_NODE;
        first[n] = (int)n;
        if (reader == ODB_NO_NODE)
            continue;
        next[n] = first[reader];
        first[reader] = (int)n;
    }
    for (size_t n = 0; n < n_nodes; n++) {
        if (constants->reader[n] != ODB_NO_NODE)
            continue;
        for (int i = first[n]; i != ODB_NO_NODE; i = next[i]) {
            constants->order[at++] = i;
            constants->place[i] = places;
        }
        constants->apart[places++] = (int)n;
    }
    free(next);
    free(first);
}

void ui_constants_find(struct ui_constants *constants, const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    bool *marks = constants_mark(session);
    *constants = (struct ui_constants){.reader = odb_new_n(int, graph->n_nodes + 1)};
    for (size_t n = 0; n < graph->n_nodes; n++)
        constants->reader[n] = ODB_NO_NODE;
    constants_read(constants, graph, marks);
    free(marks);
    if (!constants->n) {
        ui_constants_dispose(constants);
        return;
    }
    constants->order = odb_new_n(int, graph->n_nodes + 1);
    constants->apart = odb_new_n(int, graph->n_nodes + 1);
    constants->place = odb_new_n(int, graph->n_nodes + 1);
    constants_arrange(constants, graph->n_nodes);
}

void ui_constants_dispose(struct ui_constants *constants)
{
    free(constants->reader);
    free(constants->order);
    free(constants->apart);
    free(constants->place);
    *constants = (struct ui_constants){0};
}

int ui_constants_reader(const struct ui_constants *constants, int node)
{
    return constants->n ? constants->reader[node] : ODB_NO_NODE;
}

int ui_constants_apart(const struct ui_constants *constants, int i)
{
    return constants->n ? constants->apart[i] : i;
}

int ui_constants_place(const struct ui_constants *constants, int node)
{
    return constants->n ? constants->place[node] : node;
}
