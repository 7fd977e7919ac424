/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run that is shared out: some nodes are left to the target, and the reference computes all
 * others on what comes to them. Nodes take turns. A turn of the target's is one cut, which is fed
 * with what the turns before have made; no way out of it comes back into it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "probe/probe.h"
#include "score/score_int.h"

#define LEFT_UNNEEDED (-1)

struct left {
    struct scorer *s;
    int *turn; /* owned; [n_nodes] even: the reference's; LEFT_UNNEEDED: no output
                  of the metric's hangs on it */
    int n_turns;
    bool *nodes; /* owned; [n_nodes] of this turn */
    bool *keep;  /* owned; [n_values] read in a later turn, or by the metric */
    int *list;   /* owned; those of them that this turn makes */
    size_t n_list;
    struct odb_tensor **values; /* owned refs; [samples × n_values] */
};

static struct odb_tensor **left_values(const struct left *l, size_t sample)
{
    return l->values + sample * l->s->model->graph->n_values;
}

/* --- turns ------------------------------------------------------------------------------------ */

void score_needed(const struct scorer *s, bool *nodes)
{
    int *wanted = odb_new_n(int, s->n_outputs + 1);
    size_t n = 0;
    for (size_t o = 0; o < s->n_outputs; o++)
        if (odb_metric_reads(s->options->metric, o))
            wanted[n++] = s->outputs[o];
    odb_graph_ancestors(s->model->graph, wanted, n, NULL, nodes);
    free(wanted);
}

static void left_turns(struct left *l, const bool *set)
{
    const struct odb_graph *graph = l->s->model->graph;
    score_needed(l->s, l->nodes);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        int turn = set[n];
        for (size_t i = 0; i < odb_node_n_reads(node) && l->nodes[n]; i++) {
            int v = odb_node_reads(node, i),
                maker = v < 0 ? ODB_NO_NODE : graph->values[v].producer;
            int after = maker == ODB_NO_NODE ? 0 : l->turn[maker];
            if (after > turn)
                turn = after + ((after & 1) != set[n]);
        }
        l->turn[n] = l->nodes[n] ? turn : LEFT_UNNEEDED;
        l->n_turns = ODB_MAX(l->n_turns, l->turn[n] + 1);
    }
}

/* What is left of the values after a turn, and which of them it makes. */
static void left_enter(struct left *l, int turn)
{
    const struct scorer *s = l->s;
    const struct odb_graph *graph = s->model->graph;
    for (size_t n = 0; n < graph->n_nodes; n++)
        l->nodes[n] = l->turn[n] == turn;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        l->keep[v] = false;
        for (size_t c = 0; c < value->n_consumers; c++)
            l->keep[v] = l->keep[v] || l->turn[value->consumers[c]] > turn;
    }
    for (size_t o = 0; o < s->n_outputs; o++)
        l->keep[s->outputs[o]] |= odb_metric_reads(s->options->metric, o);
    l->n_list = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        int maker = graph->values[v].producer;
        if (l->keep[v] && maker != ODB_NO_NODE && l->nodes[maker])
            l->list[l->n_list++] = (int)v;
    }
}

static enum odb_status left_reference(struct left *l, size_t i, struct odb_error *err)
{
    const struct odb_trace *like = l->s->like;
    struct odb_cpu_run run = {.precision = like->precision,
                              .seed = like->seed,
                              .values = left_values(l, i),
                              .nodes = l->nodes,
                              .keep = l->keep,
                              .free_dead = true,
                              .cancelled = l->s->search->hooks.cancelled,
                              .payload = l->s->search->hooks.payload};
    return odb_cpu_execute(like->cpu, &run, err);
}

static enum odb_status left_target(struct left *l, size_t i, const struct odb_feeds *feeds,
                                   struct odb_error *err)
{
    struct odb_prober prober = odb_prober_refed(&l->s->prober, feeds);
    struct odb_tensor **values = left_values(l, i),
                      **had = odb_new_n(struct odb_tensor *, l->n_list + 1);
    char what[64];
    snprintf(what, sizeof what, "sample %zu of %zu", i + 1, l->s->options->n);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SMALLER,
                              .what = what,
                              .node = ODB_NO_NODE,
                              .nodes = l->nodes,
                              .given = values,
                              .values = l->list,
                              .n_values = l->n_list,
                              .outputs = had};
    enum odb_status status = odb_probe_run(&prober, &probe, err);
    for (size_t k = 0; k < l->n_list && status == ODB_OK; k++) {
        values[l->list[k]] = had[k];
        had[k] = NULL;
    }
    odb_probe_drop(&prober, &probe);
    free(had);
    return status;
}

/* --- a sample --------------------------------------------------------------------------------- */

static void left_feed(struct left *l, size_t i, const struct odb_feeds *feeds)
{
    for (size_t f = 0; f < feeds->n; f++)
        left_values(l, i)[feeds->items[f].value] = odb_tensor_ref(feeds->items[f].tensor);
}

/* What is made in this turn and read later goes where there is room; all else that was made goes.
 */
static enum odb_status left_keep(struct left *l, size_t i, struct odb_error *err)
{
    const struct odb_graph *graph = l->s->model->graph;
    struct odb_tensor **values = left_values(l, i);
    for (size_t v = 0; v < graph->n_values; v++) {
        if (!l->keep[v] && graph->values[v].producer != ODB_NO_NODE) {
            odb_tensor_unref(values[v]);
            values[v] = NULL;
        }
    }
    for (size_t k = 0; k < l->n_list; k++) {
        struct odb_tensor *t = values[l->list[k]];
        if (!t)
            return odb_fail(err, ODB_UNSUPPORTED, "there is no %s", graph->values[l->list[k]].name);
        ODB_TRY(odb_spill_take(l->s->spill, t, err));
    }
    return ODB_OK;
}

static enum odb_status left_share(struct left *l, size_t i, const struct odb_feeds *feeds,
                                  struct odb_share *share, struct odb_error *err)
{
    const struct scorer *s = l->s;
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, s->n_outputs + 1);
    for (size_t o = 0; o < s->n_outputs; o++) {
        struct odb_tensor *made = left_values(l, i)[s->outputs[o]];
        had[o] = made ? made : (struct odb_tensor *)s->model->graph->values[s->outputs[o]].init;
    }
    struct odb_metric_sample run = {.index = i,
                                    .source = s->out->samples.items[i].source,
                                    .feeds = feeds,
                                    .outputs = had,
                                    .reference = s->samples[i].right};
    enum odb_status status = odb_metric_take(s->options->metric, &run, share, err);
    free(had);
    return status;
}

/* A turn of one sample; after the last, its share. */
static enum odb_status left_step(struct left *l, size_t i, int turn, struct odb_share *shares,
                                 struct odb_error *err)
{
    struct odb_feeds *feeds;
    enum odb_status status = score_enter(l->s, "left to the target", i, &feeds, err);
    if (status != ODB_OK)
        return status;
    if (!turn)
        left_feed(l, i, feeds);
    if (turn == l->n_turns)
        status = left_share(l, i, feeds, &shares[i], err);
    else if (turn & 1)
        status = left_target(l, i, feeds, err);
    else
        status = left_reference(l, i, err);
    if (turn < l->n_turns && status == ODB_OK)
        status = left_keep(l, i, err);
    odb_feeds_free(feeds);
    return status;
}

enum odb_status score_leave(struct scorer *s, const bool *set, struct odb_share *shares,
                            struct odb_error *err)
{
    const struct odb_graph *graph = s->model->graph;
    size_t n_values = s->options->n * graph->n_values;
    struct left l = {.s = s,
                     .turn = odb_new_n(int, graph->n_nodes + 1),
                     .nodes = odb_new_n(bool, graph->n_nodes + 1),
                     .keep = odb_new_n(bool, graph->n_values + 1),
                     .list = odb_new_n(int, graph->n_values + 1),
                     .values = odb_new_n(struct odb_tensor *, n_values + 1)};
    enum odb_status status = ODB_OK;
    left_turns(&l, set);
    for (int turn = 0; turn <= l.n_turns && status == ODB_OK; turn++) {
        left_enter(&l, turn);
        for (size_t i = 0; i < s->options->n && status == ODB_OK; i++)
            if (s->samples[i].has)
                status = left_step(&l, i, turn, shares, err);
    }
    for (size_t v = 0; v < n_values; v++)
        odb_tensor_unref(l.values[v]);
    free(l.values);
    free(l.list);
    free(l.keep);
    free(l.nodes);
    free(l.turn);
    return status;
}
