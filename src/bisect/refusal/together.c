/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/refusal/together.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/alone/suffix.h"
#include "judge/signature.h"
#include "search/ddmin.h"

struct together together_new(const struct search_case *c, const struct odb_signature *sought,
                             int node)
{
    const struct odb_node *n = &c->graph->nodes[node];
    struct together t = {.c = c,
                         .sought = sought,
                         .node = node,
                         .values = odb_new_n(int, n->n_out + 1),
                         .items = odb_new_n(int, c->graph->n_nodes),
                         .nodes = odb_new_n(bool, c->graph->n_nodes)};
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && odb_probe_reads(c->graph, c->trace, n->out[o]))
            t.values[t.n++] = n->out[o];
    return t;
}

void together_dispose(struct together *t)
{
    free(t->values);
    free(t->items);
    free(t->nodes);
}

struct odb_probe together_probe(const struct together *t, const bool *nodes, bool *cut, char *what,
                                size_t size)
{
    int first = 0;
    while (!nodes[first])
        first++;
    memcpy(cut, nodes, t->c->graph->n_nodes * sizeof *cut);
    suffix_add_weights(t->c, cut);
    return (struct odb_probe){
        .asked = ODB_PROBE_KIND_SEGMENT,
        .what = odb_probe_title(t->c->graph, "together:", first, t->node, what, size),
        .node = t->node,
        .nodes = cut,
        .values = t->values,
        .n_values = t->n,
        .outputs = odb_new_n(struct odb_tensor *, t->n + 1),
        .judged = true,
        .any = true};
}

enum odb_status together_ask(struct together *t, const bool *nodes, enum odb_answer *answer,
                             struct odb_error *err)
{
    char what[240];
    struct odb_signature shown;
    struct odb_error why = ODB_ERROR_INIT;
    size_t bytes = t->c->graph->n_nodes * sizeof *nodes;
    bool *cut = odb_new_n(bool, t->c->graph->n_nodes);
    struct odb_probe probe = together_probe(t, nodes, cut, what, sizeof what);
    enum odb_status had = odb_probe_run(t->c->prober, &probe, &why);
    *answer = had == ODB_OK ? ODB_ANSWER_GOOD : ODB_ANSWER_UNTESTABLE;
    if (odb_probe_refused(had)) {
        odb_signature_refusal(&shown, &why);
        *answer = odb_signature_match(t->sought, &shown);
    }
    bool refused = *answer == ODB_ANSWER_BAD;
    odb_probe_tell(t->c->prober, &probe, refused ? ODB_VERDICT_REFUSED : odb_probe_verdict(had), 0);
    if (refused) {
        memmove(t->nodes, nodes, bytes);
        t->why = why;
    }
    odb_probe_drop(t->c->prober, &probe);
    free(probe.outputs);
    free(cut);
    if (had == ODB_CANCELLED)
        *err = why;
    return had == ODB_CANCELLED ? had : ODB_OK;
}

/* How many steps a node stands before the last, [n_nodes]; INT_MAX: it does not, or makes weights,
 * which go along. */
static int *together_steps(const struct together *t)
{
    const struct search_case *c = t->c;
    int *steps = odb_new_n(int, c->graph->n_nodes);
    for (size_t i = 0; i < c->graph->n_nodes; i++)
        steps[i] = (int)i == t->node ? 0 : INT_MAX;
    for (int i = t->node; i >= 0; i--) {
        const struct odb_node *node = &c->graph->nodes[i];
        for (size_t k = 0; steps[i] < INT_MAX && k < odb_node_n_reads(node); k++) {
            int v = odb_node_reads(node, k);
            int from = v < 0 || c->drawn[v] || c->prober->constant[v]
                           ? ODB_NO_NODE
                           : c->graph->values[v].producer;
            if (from != ODB_NO_NODE)
                steps[from] = ODB_MIN(steps[from], steps[i] + 1);
        }
    }
    return steps;
}

/* Goes back until the cut is refused. found: it was. */
static enum odb_status together_widen(struct together *t, bool *found, struct odb_error *err)
{
    size_t n = t->c->graph->n_nodes, before = 0;
    int *steps = together_steps(t);
    bool *nodes = odb_new_n(bool, n);
    enum odb_status status = ODB_OK;
    enum odb_answer answer = ODB_ANSWER_GOOD;
    for (int far = 0; answer != ODB_ANSWER_BAD && status == ODB_OK; far = far ? 2 * far : 1) {
        for (size_t i = 0; i < n; i++)
            nodes[i] = steps[i] <= far;
        size_t now = odb_count_marks(nodes, n);
        if (now == before)
            break;
        before = now;
        status = together_ask(t, nodes, &answer, err);
    }
    *found = answer == ODB_ANSWER_BAD;
    free(nodes);
    free(steps);
    return status;
}

static enum odb_status together_ask_fewer(void *payload, bool *keep, enum odb_answer *answer,
                                          struct odb_error *err)
{
    struct together *t = payload;
    bool *nodes = odb_new_n(bool, t->c->graph->n_nodes);
    nodes[t->node] = true;
    for (size_t i = 0; i < t->n_items; i++)
        nodes[t->items[i]] = keep[i];
    enum odb_status status = together_ask(t, nodes, answer, err);
    free(nodes);
    return status;
}

/* Takes out all nodes that it does not need. */
static enum odb_status together_reduce(struct together *t, struct odb_error *err)
{
    struct odb_ddmin question = {together_ask_fewer, t, 0};
    t->n_items = 0;
    for (int i = 0; i < t->node; i++)
        if (t->nodes[i])
            t->items[t->n_items++] = i;
    if (!t->n_items)
        return ODB_OK;
    bool *keep = odb_new_n(bool, t->n_items + 1);
    memset(keep, true, t->n_items * sizeof *keep);
    enum odb_status status = odb_ddmin(keep, t->n_items, &question, err);
    free(keep);
    return status;
}

enum odb_status together_find(struct together *t, bool *found, struct odb_error *err)
{
    ODB_TRY(together_widen(t, found, err));
    return *found ? together_reduce(t, err) : ODB_OK;
}
