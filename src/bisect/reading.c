/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/search.h"

bool reading_counts(const struct search_case *c, int value)
{
    const struct odb_value *v = &c->graph->values[value];
    return value >= 0 && odb_probe_wants(c->graph, c->trace, value) &&
           (c->trace->ref[value] || v->is_output) && !(c->beyond && c->beyond[v->producer]);
}

bool reading_wants(const struct search_case *c, int value)
{
    return reading_counts(c, value) && odb_probe_taps(c->prober, value);
}

bool reading_is_limited(const struct search_case *c)
{
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (reading_counts(c, (int)v) && !odb_probe_taps(c->prober, (int)v))
            return true;
    return false;
}

size_t reading_mark(const struct search_case *c, int node, bool *marks, size_t *count)
{
    const struct odb_node *n = &c->graph->nodes[node];
    size_t bytes = 0;
    struct {
        const int *list;
        size_t n;
    } sides[] = {
        {n->out, (size_t)n->n_out}, {n->in, (size_t)n->n_in}, {n->captured, n->n_captured}};
    for (size_t s = 0; s < ODB_COUNT(sides); s++)
        for (size_t i = 0; i < sides[s].n; i++) {
            int v = sides[s].list[i];
            if (v < 0 || marks[v] || !reading_wants(c, v))
                continue;
            marks[v] = true;
            bytes += odb_tensor_size(c->trace->ref[v]);
            ++*count;
        }
    return bytes;
}

static size_t reading_all(const struct search_case *c, size_t *bytes)
{
    size_t n = 0;
    *bytes = 0;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        bool wanted = reading_wants(c, (int)v);
        *bytes += wanted ? odb_tensor_size(c->trace->ref[v]) : 0;
        n += wanted && !c->graph->values[v].is_output;
    }
    return n;
}

size_t reading_taps(const struct search_case *c)
{
    size_t most = odb_probe_max_outputs(c->prober);
    size_t bytes, there = reading_all(c, &bytes);
    return most > c->n_outputs ? ODB_MIN(most - c->n_outputs, there) : 0;
}

size_t reading_runs(const struct search_case *c)
{
    size_t runs = 0, n = c->graph->n_nodes, taps = ODB_MIN(reading_taps(c), n);
    for (size_t reach = 1; taps && reach < n; reach *= taps + 1)
        runs++;
    return runs;
}

bool reading_packs(const struct search_case *c, const struct findings *f)
{
    size_t bytes, n = reading_all(c, &bytes);
    return n > reading_taps(c) && bytes <= f->memory;
}

/* What a run has to read for a node: of a packed one what it gives and was not read before, else
 * what it is fed as well. bytes and count grow by what is new. */
static void reading_add(const struct search_case *c, const struct findings *f, int node,
                        bool packed, bool *marks, size_t *bytes, size_t *count)
{
    const struct odb_node *n = &c->graph->nodes[node];
    if (!packed)
        *bytes += reading_mark(c, node, marks, count);
    for (int o = 0; packed && o < n->n_out; o++) {
        int v = n->out[o];
        if (v < 0 || marks[v] || !reading_wants(c, v) || f->whole[v])
            continue;
        marks[v] = true;
        ++*count;
    }
}

static void reading_mark_outputs(const struct search_case *c, bool *marks)
{
    memset(marks, 0, c->graph->n_values * sizeof *marks);
    for (size_t o = 0; o < c->n_outputs; o++)
        marks[c->outputs[o]] = true;
}

bool reading_some(const struct search_case *c, const bool *marks)
{
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (marks[v] && !c->graph->values[v].is_output)
            return true;
    return false;
}

int reading_stop(const struct search_case *c, const struct findings *f, int first, size_t most,
                 bool *marks)
{
    bool packed = reading_packs(c, f);
    size_t bytes = 0, ignored = 0, count = 0, taps = reading_taps(c);
    int stop = first;
    reading_mark_outputs(c, marks);
    for (size_t o = 0; o < c->n_outputs; o++)
        bytes += odb_tensor_size(c->trace->ref[c->outputs[o]]);
    while (stop < (int)c->graph->n_nodes && (size_t)(stop - first) < most) {
        reading_add(c, f, stop, packed, marks, &bytes, &count);
        if (stop > first && (bytes > f->memory || count > taps))
            break;
        stop++;
    }
    if (stop < (int)c->graph->n_nodes) { /* what broke the limit is not read */
        reading_mark_outputs(c, marks);
        for (int n = first; n < stop; n++)
            reading_add(c, f, n, packed, marks, &ignored, &ignored);
    }
    return stop;
}

size_t reading_batches(const struct search_case *c, const struct findings *f, size_t *bytes)
{
    bool *marks = odb_new_n(bool, c->graph->n_values);
    size_t batches = 0, n = reading_all(c, bytes);
    bool possible = !n || reading_taps(c);
    for (int first = 0; first < (int)c->graph->n_nodes && possible;) {
        first = reading_stop(c, f, first, c->graph->n_nodes, marks);
        batches += reading_some(c, marks) || !batches;
    }
    free(marks);
    return batches;
}

size_t reading_list(const struct search_case *c, int *list)
{
    return odb_probe_list(c->prober, list);
}

struct odb_probe reading_plain(const struct search_case *c, struct findings *f, const char *what,
                               struct odb_tensor **outputs)
{
    return (struct odb_probe){.what = what,
                              .asked =
                                  outputs == f->plain ? ODB_PROBE_KIND_WHOLE : ODB_PROBE_KIND_AGAIN,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = c->outputs,
                              .n_values = c->n_outputs,
                              .outputs = outputs};
}
