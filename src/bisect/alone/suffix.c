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

#include "bisect/alone/suffix.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/node_dag.h"
#include "bisect/decided.h"
#include "bisect/failure.h"
#include "bisect/repeat.h"
#include "search/search.h"
#include "bisect/search_case.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define SUFFIX_SPARE 1 /* loads that it may cost to begin with those close by */

int suffix_turn(const struct suffix *s, int node)
{
    return (int)s->dag.n - 1 - node;
}

void suffix_add_weights(const struct search_case *c, bool *nodes)
{
    if (c->prober->constant)
        odb_trace_add_weights(c->trace, c->prober->constant, nodes);
}

int suffix_first_weight(const struct search_case *c, int node)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes);
    int first = 0;
    nodes[node] = true;
    suffix_add_weights(c, nodes);
    while (!nodes[first])
        first++;
    free(nodes);
    return first;
}

/* The nodes that may be to blame: all that lead to the value but makers of weights, which are in
 * every cut that reads them. */
static bool *suffix_suspects(const struct suffix *s)
{
    size_t n = s->dag.n;
    bool *suspects = odb_xmemdup(s->up, n * sizeof *s->up);
    for (size_t i = 0; i < n; i++)
        suspects[i] = s->up[i] && !case_is_weight(s->c, suffix_turn(s, (int)i));
    if (!odb_count_marks(suspects, n)) /* the value is itself a weight */
        memcpy(suspects, s->up, n * sizeof *suspects);
    return suspects;
}

struct suffix suffix_new(const struct search_case *c, struct findings *f, int value,
                         struct failure *failure)
{
    size_t n = c->graph->n_nodes;
    struct odb_dag dag = odb_dag_of(c->graph, c->drawn);
    struct suffix s = {c, f, value, odb_dag_reverse(&dag), odb_new_n(bool, n), NULL, failure};
    bool *up = odb_new_n(bool, n);
    odb_dag_dispose(&dag);
    odb_graph_ancestors(c->graph, &value, 1, c->drawn, up);
    for (int i = 0; i < (int)n; i++)
        s.up[suffix_turn(&s, i)] = up[i];
    s.suspects = suffix_suspects(&s);
    free(up);
    return s;
}

void suffix_dispose(struct suffix *s)
{
    odb_dag_dispose(&s->dag);
    free(s->up);
    free(s->suspects);
}

bool *suffix_from(const struct suffix *s, const int *nodes, size_t n)
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
    ODB_TRY(odb_judge_value(&s->c->judge, s->value, probe->outputs[0], &report, err));
    if (decided_allows(s->c, s->f, s->value, &report))
        report.verdict = ODB_VERDICT_PASS;
    enum odb_answer answer = failure_shown(s->failure, probe->node, &report, probe->outputs[0]);
    *shown = answer == ODB_ANSWER_BAD    ? report.verdict
             : answer == ODB_ANSWER_GOOD ? ODB_VERDICT_PASS
                                         : ODB_VERDICT_UNTESTABLE;
    return ODB_OK;
}

static void suffix_tell_left(const struct suffix *s)
{
    bool *left = odb_new_n(bool, s->dag.n + 1);
    for (int i = 0; i < (int)s->dag.n; i++)
        left[suffix_turn(s, i)] = s->suspects[i];
    findings_left(s->f, left);
    free(left);
}

static enum odb_status suffix_ask(void *payload, const struct odb_cut *cut,
                                  struct odb_evidence *evidence, struct odb_error *err)
{
    struct suffix *s = payload;
    const struct search_case *c = s->c;
    int first = suffix_turn(s, cut->nodes[cut->n - 1]);
    struct odb_probed probed;
    struct odb_tensor *output = NULL;
    char what[240];
    bool *nodes = suffix_from(s, cut->nodes, cut->n);
    suffix_add_weights(c, nodes);
    suffix_tell_left(s);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SUFFIX,
                              .what = odb_probe_title(c->graph, "suffix from", first,
                                                      c->graph->values[s->value].producer, what,
                                                      sizeof what),
                              .node = first,
                              .nodes = nodes,
                              .values = &s->value,
                              .n_values = 1,
                              .outputs = &output,
                              .judged = true,
                              .remaining = odb_count_marks(s->suspects, s->dag.n)};
    enum odb_status status = odb_probe_ask(c->prober, &probe, suffix_judge, s, &probed, err);
    if (probed.had == ODB_E_CRASH || probed.had == ODB_E_TIMEOUT)
        failure_died(s->failure, first, probed.had);
    evidence[0].answer = question_answer(probed.verdict);
    odb_probe_drop(c->prober, &probe);
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

enum odb_status suffix_search(struct suffix *s, const double *suspicion,
                              struct odb_search_result *result, struct odb_error *err)
{
    struct odb_oracle oracle = {.ask = suffix_ask, .payload = s};
    struct odb_search_options options = {.joint = true,
                                         .flaky = repeat_unsteady(s->f) && !s->apart,
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
    const struct search_case *c = s->c;
    const struct findings *f = s->f;
    bool *up = odb_new_n(bool, s->dag.n);
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        int node = f->report->culprits.items[i].node, value = case_output_of(c, node);
        if (f->report->culprits.items[i].kind != ODB_KIND_NONDETERMINISTIC || value < 0)
            continue;
        s->apart = true;
        odb_graph_ancestors(c->graph, &value, 1, c->drawn, up);
        for (int n = 0; n < (int)s->dag.n; n++)
            s->suspects[suffix_turn(s, n)] &= !up[n];
    }
    free(up);
}

enum odb_status suffix_fails_apart(const struct search_case *c, struct findings *f, int value,
                                   bool *fails, struct odb_error *err)
{
    struct failure failure = failure_at(c, f, value, &f->values[value], f->given[value]);
    struct suffix s = suffix_new(c, f, value, &failure);
    struct odb_search_result result = {0};
    suffix_leave_racers(&s);
    enum odb_status status = suffix_ask_left(&s, &result, err);
    *fails = result.confirmed;
    suffix_dispose(&s);
    return status;
}

enum odb_status suffix_lead(const struct search_case *c, struct findings *f, int value, int *node,
                            struct odb_error *err)
{
    struct failure failure = failure_at(c, f, value, &f->values[value], f->given[value]);
    struct suffix s = suffix_new(c, f, value, &failure);
    int producer = c->graph->values[value].producer, maker = suffix_turn(&s, producer);
    double *closeness = suffix_closeness(&s, maker);
    struct odb_search_result result;
    *node = ODB_NO_NODE;
    /* It is right alone, fed with its weights; the makers of the weights may be what the failure
     * needs. */
    s.suspects[maker] = suffix_first_weight(c, producer) != producer;
    suffix_leave_racers(&s);
    enum odb_status status = suffix_search(&s, closeness, &result, err);
    if (status == ODB_OK)
        status = suffix_ask_left(&s, &result, err);
    for (int i = 0; i < (int)s.dag.n && result.confirmed; i++)
        if (s.suspects[i])
            *node = suffix_turn(&s, i); /* the last here is the first of them */
    if (*node == producer)
        *node = suffix_first_weight(c, producer);
    free(closeness);
    suffix_dispose(&s);
    return status;
}

/* --- the smallest region ---------------------------------------------------------------------- */

/* --- all of it -------------------------------------------------------------------------------- */
