/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/probe_log.h"

#include <math.h>
#include <stdlib.h>

#include "model/model.h"

static void log_add(struct odb_log_values *list, const struct odb_graph *of, int value, bool within,
                    const struct odb_seen *compared)
{
    list->all++;
    if (list->n == ODB_LOG_MOST)
        return;
    struct odb_log_value item = {.name = odb_xstrdup(of->values[value].name),
                                 .value = within ? ODB_NO_VALUE : value};
    if (compared)
        item.compared = *compared;
    odb_push(list, item);
}

static void log_cut(struct odb_probe_log *entry, const struct odb_probe_kind_facts *facts)
{
    const size_t n = facts->nodes ? facts->graph->n_nodes : 0;
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        if (!facts->nodes[i])
            continue;
        while (last + 1 < n && facts->nodes[last + 1])
            last++;
        if (entry->n_ranges++ < ODB_LOG_MOST)
            odb_push(&entry->cut, (struct odb_log_range){(int)i, (int)last});
        entry->nodes += last + 1 - i;
        i = last;
    }
}

void odb_probe_log_begin(struct odb_probe_log *entry, const struct odb_graph *graph,
                         const struct odb_search_event *event, double now)
{
    const struct odb_probe_kind_facts *facts = event->asked;
    *entry = (struct odb_probe_log){.text = odb_xstrdup(event->text ? event->text : ""),
                                    .node = event->node,
                                    .suspects = event->remaining,
                                    .began = now};
    if (!facts)
        return;
    entry->asked = facts->asked;
    entry->within = facts->graph != graph;
    log_cut(entry, facts);
    for (size_t i = 0; i < facts->n_in; i++)
        log_add(&entry->fed, facts->graph, facts->in[i], entry->within, NULL);
    for (size_t i = 0; i < facts->n_out; i++)
        log_add(&entry->read, facts->graph, facts->out[i], entry->within, NULL);
    odb_fit(&entry->cut); /* there are thousands of entries, most of a name or two */
    odb_fit(&entry->fed);
    odb_fit(&entry->read);
}

/* Wrong values first, then by how far they are off. */
static int log_worse(const void *a, const void *b)
{
    const struct odb_seen *x = &((const struct odb_log_value *)a)->compared;
    const struct odb_seen *y = &((const struct odb_log_value *)b)->compared;
    bool bad_x = odb_verdict_is_bad(x->verdict), bad_y = odb_verdict_is_bad(y->verdict);
    double e = x->error.known ? x->error.v : 0, f = y->error.known ? y->error.v : 0;
    e = isnan(e) ? INFINITY : e;
    f = isnan(f) ? INFINITY : f;
    if (bad_x != bad_y)
        return bad_y - bad_x;
    return e == f ? (x->value > y->value) - (x->value < y->value) : e < f ? 1 : -1;
}

void odb_probe_log_end(struct odb_probe_log *entry, const struct odb_graph *graph,
                       const struct odb_search_event *event)
{
    const struct odb_all_seen *seen = event->compared;
    entry->ended = true;
    entry->verdict = event->verdict;
    entry->seconds = event->seconds;
    entry->remaining = event->remaining;
    entry->loads = event->loads;
    entry->runs = event->runs;
    if (event->failure) {
        free(entry->failure); /* of a verdict that is told once more */
        entry->failure = odb_xstrdup(event->failure);
    }
    if (!seen || !seen->n || entry->within)
        return;
    for (size_t i = 0; i < seen->told; i++)
        log_add(&entry->compared, graph, seen->list[i].value, false, &seen->list[i]);
    if (entry->compared.n)
        qsort(entry->compared.items, entry->compared.n, sizeof *entry->compared.items, log_worse);
    odb_fit(&entry->compared);
    entry->compared.all = seen->n;
    entry->bad = seen->bad;
}

static void log_drop(struct odb_log_values *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i].name);
    free(list->items);
}

void odb_probe_log_dispose(struct odb_probe_log *entry)
{
    free(entry->text);
    free(entry->failure);
    free(entry->cut.items);
    log_drop(&entry->fed);
    log_drop(&entry->read);
    log_drop(&entry->compared);
}
