/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The mirror of prefixes: a node and all that depends on it run on the target, fed with the
 * reference's values, and the output that is wrong is read. Wrong still: the culprit is among them.
 * Right: it is not. So the same search goes over the graph turned round, where what depends on a
 * node stands before it.
 *
 * Nothing inside is observed, what is read is an output of the model, and the model's beginning
 * need not run on the target at all.
 */
#include "engine/bisect.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/question.h"
#include "engine/search.h"

struct suffix {
    struct bisection *b;
    int value;          /* the output that is wrong */
    const bool *up;     /* borrowed; [n_nodes] its ancestors */
    size_t *start;      /* owned: the graph turned round, for the search core */
    int *parents;       /* owned */
    const bool *turned; /* borrowed: suspects, likewise */
};

/* --- the graph turned round ------------------------------------------------------------------- */

static int suffix_turn(const struct suffix *s, int node)
{
    return (int)s->b->graph->n_nodes - 1 - node;
}

static struct odb_dag suffix_dag(struct suffix *s)
{
    const struct odb_graph *graph = s->b->graph;
    size_t edges = 0, n = 0;
    for (size_t v = 0; v < graph->n_values; v++)
        edges += graph->values[v].n_consumers;
    s->start = odb_new_n(size_t, graph->n_nodes + 1);
    s->parents = odb_new_n(int, edges);
    for (int i = 0; i < (int)graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[suffix_turn(s, i)];
        s->start[i] = n;
        for (int o = 0; o < node->n_out; o++) {
            const struct odb_value *value = node->out[o] < 0 ? NULL : &graph->values[node->out[o]];
            for (size_t c = 0; value && !s->b->drawn[node->out[o]] && c < value->n_consumers; c++)
                s->parents[n++] = suffix_turn(s, value->consumers[c]);
        }
    }
    s->start[graph->n_nodes] = n;
    return (struct odb_dag){graph->n_nodes, s->start, s->parents};
}

/* Marks what depends on marked nodes, as far as the wrong output depends on that. */
static void suffix_close(const struct suffix *s, bool *marks)
{
    const struct odb_graph *graph = s->b->graph;
    for (int i = 0; i < (int)graph->n_nodes; i++)
        for (int o = 0; marks[i] && o < graph->nodes[i].n_out; o++) {
            int v = graph->nodes[i].out[o];
            for (size_t c = 0; v >= 0 && c < graph->values[v].n_consumers; c++)
                marks[graph->values[v].consumers[c]] |= s->up[graph->values[v].consumers[c]];
        }
}

/* --- questions -------------------------------------------------------------------------------- */

/* Runs nodes on the target, fed with the reference's values, and judges what they give; bad if any
 * value is. */
static enum odb_status suffix_probe(const struct suffix *s, const char *how, int first, int last,
                                    const bool *nodes, const int *values, size_t n,
                                    size_t remaining, enum odb_answer *answer,
                                    struct odb_error *err)
{
    struct bisection *b = s->b;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n);
    enum odb_verdict verdict;
    char what[240];
    struct odb_probe probe = {.what =
                                  odb_probe_title(b->graph, how, first, last, what, sizeof what),
                              .node = first,
                              .nodes = nodes,
                              .values = values,
                              .n_values = n,
                              .outputs = outputs,
                              .judged = true,
                              .remaining = remaining};
    enum odb_status status = bisection_ask(b, &probe, &verdict, err);
    *answer = question_answer(verdict);
    free(outputs);
    return status;
}

static enum odb_status suffix_ask(void *payload, const struct odb_cut *cut,
                                  struct odb_evidence *evidence, struct odb_error *err)
{
    struct suffix *s = payload;
    int first = suffix_turn(s, cut->nodes[cut->n - 1]);
    int last = s->b->graph->values[s->value].producer;
    bool *nodes = odb_new_n(bool, s->b->graph->n_nodes);
    size_t left = 0;
    for (size_t i = 0; i < cut->n; i++)
        nodes[suffix_turn(s, cut->nodes[i])] = true;
    suffix_close(s, nodes);
    for (size_t i = 0; i < s->b->graph->n_nodes; i++)
        left += s->turned[i];
    enum odb_status status = suffix_probe(s, "suffix from", first, last, nodes, &s->value, 1, left,
                                          &evidence[0].answer, err);
    free(nodes);
    return status;
}

/* --- the smallest region ---------------------------------------------------------------------- */

/* Whether the first n of chain fail together, and with what: what leaves them is read. */
static enum odb_status suffix_region_fails(const struct suffix *s, const int *chain, size_t n,
                                           bool *fails, struct odb_error *err)
{
    const struct odb_graph *graph = s->b->graph;
    bool *nodes = odb_new_n(bool, graph->n_nodes);
    int *values = odb_new_n(int, graph->n_values);
    enum odb_answer answer = ODB_ANSWER_UNTESTABLE;
    size_t n_values = 0;
    for (size_t i = 0; i < n; i++)
        nodes[chain[i]] = true;
    for (size_t v = 0; v < graph->n_values; v++) {
        int producer = graph->values[v].producer;
        bool leaves = graph->values[v].is_output;
        for (size_t c = 0; c < graph->values[v].n_consumers; c++)
            leaves |= !nodes[graph->values[v].consumers[c]];
        if (producer != ODB_NO_NODE && nodes[producer] && leaves && s->b->trace->ref[v] &&
            odb_probe_reads(graph, s->b->trace, (int)v))
            values[n_values++] = (int)v;
    }
    enum odb_status status = suffix_probe(s, "segment from", chain[0], chain[n - 1], nodes, values,
                                          n_values, 0, &answer, err);
    *fails = answer == ODB_ANSWER_BAD;
    free(values);
    free(nodes);
    return status;
}

/* The accused passes alone: finds how much of what follows it takes to fail. */
static enum odb_status suffix_widen(const struct suffix *s, struct odb_culprit *culprit, int node,
                                    struct odb_error *err)
{
    struct bisection *b = s->b;
    bool *nodes = odb_new_n(bool, b->graph->n_nodes), fails = false;
    int *chain = odb_new_n(int, b->graph->n_nodes);
    size_t n = 0, passes = 1, region;
    enum odb_status status = ODB_OK;
    nodes[node] = true;
    suffix_close(s, nodes);
    for (size_t i = 0; i < b->graph->n_nodes; i++)
        if (nodes[i])
            chain[n++] = (int)i;
    region = n;
    if (n > 1)
        status = suffix_region_fails(s, chain, n, &fails, err);
    bool whole = fails;
    while (whole && region - passes > 1 && status == ODB_OK) {
        size_t middle = (region + passes) / 2;
        status = suffix_region_fails(s, chain, middle, &fails, err);
        if (fails)
            region = middle;
        else
            passes = middle;
    }
    if (status == ODB_OK && whole) {
        if (!odb_diagnosis_accuses(culprit->kind)) /* it passes alone */
            culprit->kind = b->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_FUSION;
        culprit->node = culprit->segment[0] = node;
        culprit->segment[1] = chain[region - 1];
        culprit->verified = true;
    }
    free(chain);
    free(nodes);
    return status;
}

/* --- the search ------------------------------------------------------------------------------- */

/* confirmed: the one that is left was asked, and what begins with it fails. */
static enum odb_status suffix_accuse(const struct suffix *s, const bool *left, bool confirmed,
                                     struct odb_error *err)
{
    struct bisection *b = s->b;
    ODB_TRY(bisection_accuse_left(b, s->value, left, err));
    struct odb_culprit *culprit = &b->report->culprits.items[b->report->culprits.n - 1];
    int accused = -1;
    size_t n = 0;
    for (size_t i = 0; i < b->graph->n_nodes; i++)
        if (left[i]) {
            accused = (int)i;
            n++;
        }
    bool alone = culprit->verified && culprit->segment[0] == culprit->segment[1];
    culprit->checks[ODB_CHECK_PREFIX] = n == 1 && confirmed ? ODB_CONFIRMS : ODB_NOT_ASKED;
    if (n != 1 || alone || culprit->of_reference)
        return ODB_OK;
    bisection_step_begin(b, "verify");
    enum odb_status status = suffix_widen(s, culprit, accused, err);
    bisection_step_end(b, "verify", "the accused passes alone: how much of what follows it fails");
    return status;
}

enum odb_status bisection_hunt_suffix(struct bisection *b, int value, struct odb_error *err)
{
    size_t n = b->graph->n_nodes;
    bool *up = odb_new_n(bool, n), *turned = odb_new_n(bool, n), *left = odb_new_n(bool, n);
    struct suffix s = {.b = b, .value = value, .up = up, .turned = turned};
    struct odb_dag dag = suffix_dag(&s);
    struct odb_oracle oracle = {.ask = suffix_ask, .payload = &s};
    struct odb_search_options options = {.joint = true};
    struct odb_search_result result;
    odb_graph_ancestors(b->graph, &value, 1, b->drawn, up);
    for (int i = 0; i < (int)n; i++)
        turned[suffix_turn(&s, i)] = up[i];
    bisection_step_begin(b, "suffixes");
    enum odb_status status = odb_search(&dag, turned, &oracle, &options, &result, err);
    bisection_step_end(b, "suffix",
                       "%zu cuts for output %.100s, what follows them fed with the "
                       "reference's values",
                       result.loads, b->graph->values[value].name);
    for (int i = 0; i < (int)n; i++)
        left[i] = result.acquitted ? up[i] : turned[suffix_turn(&s, i)];
    if (status == ODB_OK)
        status = suffix_accuse(&s, left, result.confirmed, err);
    free(s.start);
    free(s.parents);
    free(left);
    free(turned);
    free(up);
    return status;
}
