/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The mirror of prefixes: a node and all that depends on it run on the target, fed with the
 * reference's values, and the value that is wrong is read. Wrong still: the culprit is among them.
 * Right: it is not. So the same search goes over the graph turned round, where what depends on a
 * node stands before it.
 *
 * Nothing inside is observed, so a fault that hides is found, and one that is masked and comes back
 * is in every part or it is not. What is read of the whole model is an output, and the model's
 * beginning need not run on the target at all. Within a prefix the same tells what brought about a
 * wrong value whose maker is right alone: then those closest to it are the first suspects.
 */

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/alone.h"
#include "engine/dag.h"
#include "engine/evidence.h"
#include "engine/failure.h"
#include "engine/report.h"
#include "engine/search.h"
#include "engine/trace.h"
#include "engine/value_report.h"
#include "engine/whole.h"

#define SUFFIX_SPARE 1 /* loads that it may cost to begin with those close by */

struct suffix {
    struct bisection *b;
    int value;               /* that is wrong */
    struct odb_dag dag;      /* owned: the graph turned round */
    bool *up;                /* owned; [n] the value's ancestors, turned round */
    bool *suspects;          /* owned; [n] who is left of them */
    struct failure *failure; /* borrowed */
    bool apart;              /* none of them stands before a node that does not repeat itself */
};

static int suffix_turn(const struct suffix *s, int node)
{
    return (int)s->dag.n - 1 - node;
}

/* Whether all that a node makes hangs on weights alone: it goes along with whoever reads it. */
static bool suffix_is_weight(const struct bisection *b, int node)
{
    int value = bisection_output_of(b, node);
    return value >= 0 && b->prober.constant && b->prober.constant[value];
}

static void suffix_add_weights(const struct bisection *b, bool *nodes)
{
    if (b->prober.constant)
        odb_trace_add_weights(b->trace, b->prober.constant, nodes);
}

/* The first of those who make weights for the node; the node itself where nobody does. */
static int suffix_first_weight(const struct bisection *b, int node)
{
    bool *nodes = odb_new_n(bool, b->graph->n_nodes);
    int first = 0;
    nodes[node] = true;
    suffix_add_weights(b, nodes);
    while (!nodes[first])
        first++;
    free(nodes);
    return first;
}

/* Who may be to blame: all that lead to the value but makers of weights, which are in every cut
 * that reads them. */
static bool *suffix_suspects(const struct suffix *s)
{
    size_t n = s->dag.n;
    bool *suspects = odb_xmemdup(s->up, n * sizeof *s->up);
    for (size_t i = 0; i < n; i++)
        suspects[i] = s->up[i] && !suffix_is_weight(s->b, suffix_turn(s, (int)i));
    if (!odb_count_marks(suspects, n)) /* the value is itself a weight */
        memcpy(suspects, s->up, n * sizeof *suspects);
    return suspects;
}

static struct suffix suffix_new(struct bisection *b, int value, struct failure *failure)
{
    size_t n = b->graph->n_nodes;
    struct odb_dag dag = odb_dag_of(b->graph, b->drawn);
    struct suffix s = {b, value, odb_dag_reverse(&dag), odb_new_n(bool, n), NULL, failure};
    bool *up = odb_new_n(bool, n);
    odb_dag_dispose(&dag);
    odb_graph_ancestors(b->graph, &value, 1, b->drawn, up);
    for (int i = 0; i < (int)n; i++)
        s.up[suffix_turn(&s, i)] = up[i];
    s.suspects = suffix_suspects(&s);
    free(up);
    return s;
}

static void suffix_dispose(struct suffix *s)
{
    odb_dag_dispose(&s->dag);
    free(s->up);
    free(s->suspects);
}

/* The nodes of a cut and what depends on them, as far as the wrong value depends on that;
 * [n_nodes], owned by the caller. */
static bool *suffix_from(const struct suffix *s, const int *nodes, size_t n)
{
    bool *turned = odb_new_n(bool, s->dag.n), *marks = odb_new_n(bool, s->dag.n);
    for (size_t i = 0; i < n; i++)
        turned[nodes[i]] = true;
    odb_dag_close(&s->dag, turned);
    for (int i = 0; i < (int)s->dag.n; i++)
        marks[suffix_turn(s, i)] = turned[i] && s->up[i];
    free(turned);
    return marks;
}

/* --- questions -------------------------------------------------------------------------------- */

/* Judges the wrong value, and tells another failure from the one that is sought. */
static enum odb_status suffix_judge(void *payload, const struct odb_probe *probe,
                                    enum odb_verdict *shown, struct odb_error *err)
{
    const struct suffix *s = payload;
    struct odb_value_report report = {0};
    ODB_TRY(odb_judge_value(&s->b->judge, s->value, probe->outputs[0], &report, err));
    if (bisection_decided(s->b, s->value, &report))
        report.verdict = ODB_VERDICT_PASS;
    enum odb_answer answer = failure_shown(s->failure, probe->node, &report, probe->outputs[0]);
    *shown = answer == ODB_ANSWER_BAD    ? report.verdict
             : answer == ODB_ANSWER_GOOD ? ODB_VERDICT_PASS
                                         : ODB_VERDICT_UNTESTABLE;
    return ODB_OK;
}

static enum odb_status suffix_ask(void *payload, const struct odb_cut *cut,
                                  struct odb_evidence *evidence, struct odb_error *err)
{
    struct suffix *s = payload;
    struct bisection *b = s->b;
    int first = suffix_turn(s, cut->nodes[cut->n - 1]);
    struct odb_probed probed;
    struct odb_tensor *output = NULL;
    char what[240];
    bool *nodes = suffix_from(s, cut->nodes, cut->n);
    suffix_add_weights(b, nodes);
    struct odb_probe probe = {.asked = ODB_ASKED_SUFFIX,
                              .what = odb_probe_title(b->graph, "suffix from", first,
                                                      b->graph->values[s->value].producer, what,
                                                      sizeof what),
                              .node = first,
                              .nodes = nodes,
                              .values = &s->value,
                              .n_values = 1,
                              .outputs = &output,
                              .judged = true,
                              .remaining = odb_count_marks(s->suspects, s->dag.n)};
    enum odb_status status = odb_probe_ask(&b->prober, &probe, suffix_judge, s, &probed, err);
    if (probed.had == ODB_E_CRASH || probed.had == ODB_E_TIMEOUT)
        failure_died(s->failure, first, probed.had);
    evidence[0].answer = question_answer(probed.verdict);
    odb_probe_drop(&b->prober, &probe);
    free(nodes);
    return status;
}

/* --- the search ------------------------------------------------------------------------------- */

/* How likely nodes are to blame by how close they stand to one, in the graph turned round. */
static double *suffix_closeness(const struct suffix *s, int node)
{
    size_t n = s->dag.n;
    double *closeness = odb_new_n(double, n + 1);
    size_t *steps = odb_new_n(size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        steps[i] = i == (size_t)node ? 0 : n;
        for (size_t p = s->dag.start[i]; p < s->dag.start[i + 1]; p++)
            steps[i] = ODB_MIN(steps[i], steps[s->dag.parents[p]] + 1);
        closeness[i] = 1 / (double)ODB_MAX(steps[i], (size_t)1);
    }
    free(steps);
    return closeness;
}

static enum odb_status suffix_search(struct suffix *s, const double *suspicion,
                                     struct odb_search_result *result, struct odb_error *err)
{
    struct odb_oracle oracle = {.ask = suffix_ask, .payload = s};
    struct odb_search_options options = {.joint = true,
                                         .flaky = s->b->unsteady && !s->apart,
                                         .suspicion = suspicion,
                                         .spare = suspicion ? SUFFIX_SPARE : 0};
    return odb_search(&s->dag, s->suspects, &oracle, &options, result, err);
}

/* Where several are left, because cuts between them cannot be tested: whether all of them are it.
 */
static enum odb_status suffix_ask_left(struct suffix *s, struct odb_search_result *result,
                                       struct odb_error *err)
{
    struct odb_evidence evidence = {.answer = ODB_ANSWER_UNTESTABLE};
    int *nodes = odb_new_n(int, s->dag.n);
    size_t n = 0;
    for (size_t i = 0; i < s->dag.n; i++)
        if (s->suspects[i])
            nodes[n++] = (int)i;
    enum odb_status status =
        n > 1 ? suffix_ask(s, &(struct odb_cut){nodes, n}, &evidence, err) : ODB_OK;
    result->confirmed |= evidence.answer == ODB_ANSWER_BAD;
    free(nodes);
    return status;
}

/* Nodes that are known not to repeat themselves are no suspects, nor is what stands before them: a
 * cut with none of these in it is fed with the reference's values, and has one answer. */
static void suffix_leave_racers(struct suffix *s)
{
    const struct bisection *b = s->b;
    bool *up = odb_new_n(bool, s->dag.n);
    for (size_t c = 0; c < b->report->culprits.n; c++) {
        int node = b->report->culprits.items[c].node, value = bisection_output_of(b, node);
        if (b->report->culprits.items[c].kind != ODB_KIND_NONDETERMINISTIC || value < 0)
            continue;
        s->apart = true;
        odb_graph_ancestors(b->graph, &value, 1, b->drawn, up);
        for (int n = 0; n < (int)s->dag.n; n++)
            s->suspects[suffix_turn(s, n)] &= !up[n];
    }
    free(up);
}

enum odb_status bisection_fails_apart(struct bisection *b, int value, bool *fails,
                                      struct odb_error *err)
{
    struct failure failure = failure_at(b, value, &b->report->values[value], b->given[value]);
    struct suffix s = suffix_new(b, value, &failure);
    struct odb_search_result result = {0};
    suffix_leave_racers(&s);
    enum odb_status status = suffix_ask_left(&s, &result, err);
    *fails = result.confirmed;
    suffix_dispose(&s);
    return status;
}

enum odb_status bisection_lead(struct bisection *b, int value, int *node, struct odb_error *err)
{
    struct failure failure = failure_at(b, value, &b->report->values[value], b->given[value]);
    struct suffix s = suffix_new(b, value, &failure);
    int producer = b->graph->values[value].producer, maker = suffix_turn(&s, producer);
    double *closeness = suffix_closeness(&s, maker);
    struct odb_search_result result;
    *node = ODB_NO_NODE;
    /* It is right alone, fed with its weights; whoever makes them may be what it takes. */
    s.suspects[maker] = suffix_first_weight(b, producer) != producer;
    suffix_leave_racers(&s);
    enum odb_status status = suffix_search(&s, closeness, &result, err);
    if (status == ODB_OK)
        status = suffix_ask_left(&s, &result, err);
    for (int i = 0; i < (int)s.dag.n && result.confirmed; i++)
        if (s.suspects[i])
            *node = suffix_turn(&s, i); /* the last here is the first of them */
    if (*node == producer)
        *node = suffix_first_weight(b, producer);
    free(closeness);
    suffix_dispose(&s);
    return status;
}

/* --- the smallest region ---------------------------------------------------------------------- */

/* Whether the first n of chain fail together, and with what: what leaves them is read. */
static enum odb_status suffix_region_fails(const struct suffix *s, const int *chain, size_t n,
                                           bool *fails, struct odb_error *err)
{
    struct bisection *b = s->b;
    const struct odb_graph *graph = b->graph;
    bool *nodes = odb_new_n(bool, graph->n_nodes);
    int *values = odb_new_n(int, graph->n_values);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, graph->n_values);
    enum odb_verdict verdict;
    char what[240];
    struct odb_probe probe = {
        .asked = ODB_ASKED_SEGMENT,
        .what = odb_probe_title(graph, "segment from", chain[0], chain[n - 1], what, sizeof what),
        .node = chain[0],
        .nodes = nodes,
        .values = values,
        .outputs = outputs,
        .judged = true};
    for (size_t i = 0; i < n; i++)
        nodes[chain[i]] = true;
    for (size_t v = 0; v < graph->n_values; v++) {
        int producer = graph->values[v].producer;
        bool leaves = graph->values[v].is_output;
        for (size_t c = 0; c < graph->values[v].n_consumers; c++)
            leaves |= !nodes[graph->values[v].consumers[c]];
        if (producer != ODB_NO_NODE && nodes[producer] && leaves && b->trace->ref[v] &&
            odb_probe_reads(graph, b->trace, (int)v))
            values[probe.n_values++] = (int)v;
    }
    suffix_add_weights(b, nodes);
    enum odb_status status = bisection_ask(b, &probe, &verdict, err);
    *fails = question_answer(verdict) == ODB_ANSWER_BAD;
    free(outputs);
    free(values);
    free(nodes);
    return status;
}

/* The accused passes alone, fed with its weights, and fails together with whoever makes them: one
 * of these by itself, or all. */
static enum odb_status suffix_blame_weights(struct bisection *b, struct odb_culprit *culprit,
                                            int node, struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, b->graph->n_nodes), found = false;
    enum odb_status status = ODB_OK;
    nodes[node] = true;
    suffix_add_weights(b, nodes);
    for (int n = 0; n < (int)b->graph->n_nodes && !found && status == ODB_OK; n++)
        if (nodes[n] && n != node)
            status = alone_is_it(b, culprit, n, &found, err);
    if (status == ODB_OK && !found)
        culprit->node = culprit->segment[0] = suffix_first_weight(b, node);
    free(nodes);
    return status;
}

/* The accused passes alone, and what begins with it fails: finds how much of what follows that
 * takes, the next nodes first. */
static enum odb_status suffix_widen(const struct suffix *s, struct odb_culprit *culprit, int node,
                                    struct odb_error *err)
{
    struct bisection *b = s->b;
    bool *nodes = suffix_from(s, &(int){suffix_turn(s, node)}, 1);
    int *chain = odb_new_n(int, b->graph->n_nodes);
    size_t n = 0, fails_at;
    size_t passes = suffix_first_weight(b, node) == node; /* with weights it was not asked */
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < b->graph->n_nodes; i++)
        if (nodes[i])
            chain[n++] = (int)i;
    for (fails_at = n; fails_at - passes > 1 && status == ODB_OK;) {
        size_t next = ODB_MAX(1, ODB_MIN(2 * passes, (fails_at + passes) / 2));
        bool fails = false;
        status = suffix_region_fails(s, chain, next, &fails, err);
        *(fails ? &fails_at : &passes) = next;
    }
    if (status == ODB_OK && fails_at > passes) {
        if (culprit->checks[ODB_CHECK_ALONE] == ODB_CONTRADICTS)
            culprit->kind = b->hidden ? ODB_KIND_PROBE_EFFECT : ODB_KIND_FUSION;
        culprit->node = culprit->segment[0] = node;
        culprit->segment[1] = chain[fails_at - 1];
        culprit->verified = true;
        status = fails_at == 1 ? suffix_blame_weights(b, culprit, node, err)
                               : bisection_narrow(b, culprit, fails_at, err);
    }
    free(chain);
    free(nodes);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whoever is left has failed on the reference's values, so alone it is fed with them too, and
 * nothing need be read for that. */
static void suffix_feed(const struct suffix *s, const bool *left)
{
    struct bisection *b = s->b;
    for (size_t n = 0; n < b->graph->n_nodes; n++)
        for (size_t i = 0; left[n] && i < odb_node_n_reads(&b->graph->nodes[n]); i++) {
            int v = odb_node_reads(&b->graph->nodes[n], i);
            if (v >= 0 && !b->given[v])
                b->given[v] = odb_tensor_ref(odb_trace_value(b->trace, v));
        }
}

/* confirmed: the one that is left was asked, and what begins with it fails. */
static enum odb_status suffix_accuse(const struct suffix *s, const bool *left, bool confirmed,
                                     struct odb_error *err)
{
    struct bisection *b = s->b;
    if (confirmed)
        suffix_feed(s, left);
    ODB_TRY(bisection_accuse_left(b, s->value, left, NULL, !confirmed, err));
    struct odb_culprit *culprit = &b->report->culprits.items[b->report->culprits.n - 1];
    int accused = culprit->segment[0];
    bool single = accused == culprit->segment[1];
    if (!single || !confirmed) {
        culprit->checks[ODB_CHECK_PREFIX] = ODB_NOT_ASKED;
        return ODB_OK;
    }
    culprit->checks[ODB_CHECK_PREFIX] = ODB_CONFIRMS;
    if (culprit->verified || culprit->of_reference)
        return ODB_OK;
    bisection_step_begin(b, "verify");
    enum odb_status status = suffix_widen(s, culprit, accused, err);
    bisection_step_end(b, "verify", "the accused passes alone: how much of what follows it fails");
    return status;
}

/* Whoever was found is wrong on the reference's values, so a fault before it, which shows at the
 * output by way of it alone, has not been seen. What it reads is had once as the target makes it:
 * values that are wrong there are searched next. */
static enum odb_status suffix_look_before(struct bisection *b, int found, struct odb_error *err)
{
    const struct odb_node *node = &b->graph->nodes[found];
    size_t n_reads = odb_node_n_reads(node);
    int *makers = odb_new_n(int, n_reads + 1);
    struct odb_cut cut = {.nodes = makers};
    struct odb_error why = ODB_ERROR_INIT;
    for (int n = 0; n < found; n++) /* in order */
        for (size_t i = 0; i < n_reads; i++) {
            int v = odb_node_reads(node, i);
            if (v < 0 || b->drawn[v] || b->graph->values[v].producer != n)
                continue;
            makers[cut.n++] = n;
            break;
        }
    if (!cut.n) { /* nothing stands before it */
        free(makers);
        return ODB_OK;
    }
    struct question *q = question_prefix(b, &cut, true);
    enum odb_status had = q->probe.n_values ? odb_probe_run(&b->prober, &q->probe, &why) : ODB_OK;
    enum odb_status status = had == ODB_CANCELLED ? had : ODB_OK;
    enum odb_verdict shown = odb_probe_verdict(had);
    if (status != ODB_OK)
        *err = why;
    else if (had == ODB_OK)
        status = question_judge(b, &q->probe, &shown, err);
    for (size_t i = 0; i < q->probe.n_values && had == ODB_OK && status == ODB_OK; i++)
        if (odb_verdict_is_bad(b->report->values[q->probe.values[i]].verdict))
            odb_push(&b->others, q->probe.values[i]);
    if (q->probe.n_values)
        odb_probe_tell(&b->prober, &q->probe, shown, 0);
    question_free(q);
    free(makers);
    return status;
}

enum odb_status bisection_hunt_suffix(struct bisection *b, int value, struct odb_error *err)
{
    size_t n = b->graph->n_nodes;
    struct failure failure = failure_of(b, value);
    struct suffix s = suffix_new(b, value, &failure);
    bool *left = odb_new_n(bool, n);
    struct odb_search_result result = {0};
    bisection_step_begin(b, "suffixes");
    enum odb_status status = suffix_search(&s, NULL, &result, err);
    failure_warn(&failure);
    bisection_step_end(b, "suffix",
                       "%zu cuts for %.100s, what follows them fed with the "
                       "reference's values",
                       result.loads, b->graph->values[value].name);
    if (status == ODB_OK && result.acquitted && !b->prober.pinned) {
        status = bisection_whole_output(b, value, err);
        goto out;
    }
    for (int i = 0; i < (int)n; i++)
        left[i] = (result.acquitted ? s.up : s.suspects)[suffix_turn(&s, i)];
    if (status == ODB_OK)
        status = suffix_accuse(&s, left, result.confirmed, err);
    if (status == ODB_OK) {
        bisection_step_begin(b, "before");
        status = suffix_look_before(
            b, b->report->culprits.items[b->report->culprits.n - 1].segment[0], err);
        bisection_step_end(b, "before", "what the accused reads, as the target makes it");
    }
out:
    free(left);
    suffix_dispose(&s);
    return status;
}
