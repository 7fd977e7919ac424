/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool reading_wants(const struct bisection *b, int value)
{
    const struct odb_value *v = &b->graph->values[value];
    return value >= 0 && odb_probe_wants(b->graph, b->trace, value) &&
           (b->trace->ref[value] || v->is_output) && !(b->beyond && b->beyond[v->producer]);
}

size_t reading_mark(const struct bisection *b, int node, bool *marks)
{
    const struct odb_node *n = &b->graph->nodes[node];
    size_t bytes = 0;
    struct {
        const int *list;
        size_t n;
    } sides[] = {
        {n->out, (size_t)n->n_out}, {n->in, (size_t)n->n_in}, {n->captured, n->n_captured}};
    for (size_t s = 0; s < ODB_COUNT(sides); s++)
        for (size_t i = 0; i < sides[s].n; i++) {
            int v = sides[s].list[i];
            if (v < 0 || marks[v] || !reading_wants(b, v))
                continue;
            marks[v] = true;
            bytes += odb_tensor_size(b->trace->ref[v]);
        }
    return bytes;
}

int reading_stop(const struct bisection *b, int first, size_t most, bool *marks)
{
    size_t bytes = 0;
    int stop = first;
    memset(marks, 0, b->graph->n_values * sizeof *marks);
    for (size_t o = 0; o < b->n_outputs; o++) {
        marks[b->outputs[o]] = true;
        bytes += odb_tensor_size(b->trace->ref[b->outputs[o]]);
    }
    while (stop < (int)b->graph->n_nodes && (size_t)(stop - first) < most) {
        bytes += reading_mark(b, stop, marks);
        if (stop > first && bytes > b->memory)
            break;
        stop++;
    }
    if (stop < (int)b->graph->n_nodes) { /* what broke the limit is not read */
        memset(marks, 0, b->graph->n_values * sizeof *marks);
        for (size_t o = 0; o < b->n_outputs; o++)
            marks[b->outputs[o]] = true;
        for (int n = first; n < stop; n++)
            reading_mark(b, n, marks);
    }
    return stop;
}

size_t reading_batches(struct bisection *b, size_t *bytes)
{
    bool *marks = odb_new_n(bool, b->graph->n_values);
    size_t batches = 0;
    *bytes = 0;
    for (size_t v = 0; v < b->graph->n_values; v++)
        *bytes += reading_wants(b, (int)v) ? odb_tensor_size(b->trace->ref[v]) : 0;
    for (int first = 0; first < (int)b->graph->n_nodes; batches++)
        first = reading_stop(b, first, b->graph->n_nodes, marks);
    free(marks);
    return batches;
}

size_t reading_list(const struct bisection *b, int *list)
{
    size_t n = 0;
    for (size_t v = 0; v < b->graph->n_values; v++)
        if (odb_probe_wants(b->graph, b->trace, (int)v) &&
            (b->trace->ref[v] || b->graph->values[v].is_output))
            list[n++] = (int)v;
    return n;
}

struct odb_probe reading_plain(struct bisection *b, const char *what, struct odb_tensor **outputs)
{
    return (struct odb_probe){.what = what,
                              .asked = outputs == b->plain ? ODB_ASKED_WHOLE : ODB_ASKED_AGAIN,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = b->outputs,
                              .n_values = b->n_outputs,
                              .outputs = outputs};
}
