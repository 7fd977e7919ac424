/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching where one look at everything is not to be had: by prefixes that have only the cut as
 * their outputs, by segments, by single nodes.
 *
 * Cut before a node: all its inputs; cut after: all its outputs, bad if any is. A probe that fails
 * in another way than the bug does is no evidence (untestable), as in git bisect skip.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/bisect_int.h"
#include "engine/hooks.h"
#include "engine/search.h"

#define HUNT_VERIFY_MOST 16           /* culprits that are verified one by one */
#define HUNT_THIRD "ort,opt=disabled" /* whose opinion is asked when two disagree */
#define HUNT_REGION "no testable cut tells %zu nodes from %d to %d apart"

/* Questions that are being answered before they are put. */
struct hunt_ahead {
    struct hunt_question **of; /* owned; [n_nodes]; NULL: one worker, and nothing is begun */
    size_t next;               /* where all nodes are asked in order: the first not begun */
};

struct hunt {
    struct bisection *b;
    enum odb_status signature; /* of a crash or hang; ODB_OK: values are judged */
    size_t *start;             /* owned: parents of every node, for the search core */
    int *parents;              /* owned */
    const bool *suspects;      /* borrowed; [n_nodes] as narrowed so far; NULL: no search */
    struct hunt_ahead ahead;
};

/* A question about one node: the prefix that ends in its outputs, or the node alone. */
struct hunt_question {
    struct odb_probe probe;
    struct odb_prober *prober;   /* borrowed */
    bool *nodes;                 /* owned; NULL: a prefix */
    int *list;                   /* owned */
    struct odb_tensor **outputs; /* owned refs */
    char what[240];
};

/* --- the graph as the search core wants it ---------------------------------------------------- */

static void hunt_add_parent(const struct bisection *b, int value, int *parents, size_t *n)
{
    if (value >= 0 && b->graph->values[value].producer != ODB_NO_NODE && !b->drawn[value])
        parents[(*n)++] = b->graph->values[value].producer;
}

static struct odb_dag hunt_dag(struct hunt *h)
{
    const struct odb_graph *graph = h->b->graph;
    size_t edges = 0, n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        edges += (size_t)graph->nodes[i].n_in + graph->nodes[i].n_captured;
    h->start = odb_new_n(size_t, graph->n_nodes + 1);
    h->parents = odb_new_n(int, edges);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        h->start[i] = n;
        for (int k = 0; k < node->n_in; k++)
            hunt_add_parent(h->b, node->in[k], h->parents, &n);
        for (size_t c = 0; c < node->n_captured; c++)
            hunt_add_parent(h->b, node->captured[c], h->parents, &n);
    }
    h->start[graph->n_nodes] = n;
    return (struct odb_dag){graph->n_nodes, h->start, h->parents};
}

/* Suspects, once node has this answer; 0 where there are none. */
static size_t hunt_remaining(const struct hunt *h, int node, enum odb_answer answer)
{
    struct odb_dag dag = {h->b->graph->n_nodes, h->start, h->parents};
    return h->suspects ? odb_search_narrow(&dag, h->suspects, node, answer, NULL) : 0;
}

/* --- one question ----------------------------------------------------------------------------- */

/* The outputs of a node that can be asked for: those that can be judged, or all; list has room for
 * n_out. */
static size_t hunt_outputs(const struct bisection *b, int node, bool judged, int *list)
{
    const struct odb_node *n = &b->graph->nodes[node];
    size_t count = 0;
    for (int o = 0; o < n->n_out; o++) {
        int v = n->out[o];
        if (v >= 0 && odb_probe_reads(b->graph, b->trace, v) && (b->trace->ref[v] || !judged))
            list[count++] = v;
    }
    return count;
}

static struct hunt_question *hunt_question_new(struct bisection *b, struct odb_prober *prober,
                                               int node, const char *how)
{
    struct hunt_question *q = odb_new(struct hunt_question);
    int n_out = b->graph->nodes[node].n_out;
    q->prober = prober;
    q->list = odb_new_n(int, n_out);
    q->outputs = odb_new_n(struct odb_tensor *, n_out);
    q->probe = (struct odb_probe){
        .what = odb_probe_title(b->graph, how, node, node, q->what, sizeof q->what),
        .node = node,
        .judged = true,
        .values = q->list,
        .outputs = q->outputs};
    return q;
}

static struct hunt_question *hunt_prefix(struct hunt *h, int node)
{
    struct hunt_question *q = hunt_question_new(h->b, &h->b->prober, node, "prefix up to");
    q->probe.n_values = hunt_outputs(h->b, node, h->signature == ODB_OK, q->list);
    return q;
}

/* The node alone, fed with given ([n_values], borrowed). */
static struct hunt_question *hunt_alone(struct bisection *b, struct odb_prober *prober, int node,
                                        struct odb_tensor *const *given)
{
    char how[100] = "alone:";
    if (prober != &b->prober)
        snprintf(how, sizeof how,
                 "alone on %.80s:", odb_target_spec(odb_pool_target(prober->pool)));
    struct hunt_question *q = hunt_question_new(b, prober, node, how);
    q->nodes = odb_new_n(bool, b->graph->n_nodes);
    q->nodes[node] = true;
    q->probe.nodes = q->nodes;
    q->probe.given = given;
    q->probe.n_values = hunt_outputs(b, node, false, q->list);
    return q;
}

static void hunt_question_free(struct hunt_question *q)
{
    if (!q)
        return;
    odb_probe_drop(q->prober, &q->probe);
    free(q->nodes);
    free(q->list);
    free(q->outputs);
    free(q);
}

/* --- working ahead ---------------------------------------------------------------------------- */

static struct hunt_ahead hunt_ahead_new(const struct bisection *b)
{
    bool many = odb_pool_workers(b->pool) > 1;
    return (struct hunt_ahead){many ? odb_new_n(struct hunt_question *, b->graph->n_nodes) : NULL,
                               0};
}

static void hunt_ahead_dispose(struct bisection *b, struct hunt_ahead *ahead)
{
    for (size_t n = 0; ahead->of && n < b->graph->n_nodes; n++)
        hunt_question_free(ahead->of[n]);
    free(ahead->of);
}

/* The question that was begun, which is the caller's now; else NULL. */
static struct hunt_question *hunt_ahead_take(struct hunt_ahead *ahead, int node)
{
    struct hunt_question *q = ahead->of ? ahead->of[node] : NULL;
    if (q)
        ahead->of[node] = NULL;
    return q;
}

/* Takes q over and begins with it. */
static void hunt_ahead_put(struct hunt_ahead *ahead, struct hunt_question *q)
{
    odb_probe_begin(q->prober, &q->probe);
    ahead->of[q->probe.node] = q;
}

/* Whether node is among the next to begin with where all are asked in order, and now at `at`:
 * enough to keep every worker busy while one answer is judged. */
static bool hunt_ahead_reaches(const struct bisection *b, const struct hunt_ahead *ahead, size_t at)
{
    return ahead->of && ahead->next < b->graph->n_nodes &&
           ahead->next < at + 2 * odb_pool_workers(b->pool);
}

static void hunt_dispose(struct hunt *h)
{
    hunt_ahead_dispose(h->b, &h->ahead);
    free(h->start);
    free(h->parents);
}

/* --- what is made of an answer ---------------------------------------------------------------- */

/* Judges what a probe of a node's outputs gave, and keeps it as the target's values. */
static enum odb_status hunt_judge(struct bisection *b, const struct odb_probe *probe,
                                  enum odb_verdict *shown, struct odb_error *err)
{
    for (size_t i = 0; i < probe->n_values; i++) {
        int v = probe->values[i];
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&b->judge, v, probe->outputs[i], &report, err));
        b->report->values[v] = report;
        bisection_keep(b, v, probe->outputs[i]);
        bisection_value(b, v);
        odb_probe_shows(shown, report.verdict);
        odb_tensor_unref(b->given[v]);
        b->given[v] = odb_tensor_ref(probe->outputs[i]);
    }
    return ODB_OK;
}

/* Whether the target said of some value that it cannot be read there. */
static bool hunt_lacks(const struct odb_probe *probe)
{
    bool lacks = false;
    for (size_t i = 0; i < probe->n_values; i++)
        lacks = lacks || !probe->outputs[i];
    return lacks;
}

/* A probe that gave no values is told of them, unless more is known already. */
static void hunt_note_failure(struct bisection *b, const int *values, size_t n, enum odb_status had)
{
    for (size_t i = 0; i < n; i++) {
        if (b->report->values[values[i]].verdict != ODB_VERDICT_UNTESTED ||
            !b->trace->ref[values[i]]) /* the reference cannot make it either */
            continue;
        b->report->values[values[i]].verdict = odb_probe_verdict(had);
        bisection_value(b, values[i]);
    }
}

/* --- what was asked before -------------------------------------------------------------------- */

struct odb_prefix_memo *odb_prefix_memo_new(const struct odb_model *model)
{
    struct odb_prefix_memo *memo = odb_new(struct odb_prefix_memo);
    memo->answers = odb_new_n(struct odb_prefix_answer, model->graph->n_nodes + 1);
    memo->values = odb_new_n(struct odb_value_report, model->graph->n_values + 1);
    return memo;
}

void odb_prefix_memo_free(struct odb_prefix_memo *memo)
{
    if (!memo)
        return;
    free(memo->answers);
    free(memo->values);
    free(memo);
}

/* True where the same question was answered in the search that this one goes on with. */
static bool hunt_knows(const struct hunt *h, int node)
{
    const struct odb_prefix_memo *memo = h->b->options->memo;
    return memo && memo->answers[node].asked && memo->answers[node].signature == h->signature;
}

static bool hunt_recall(struct hunt *h, int node, enum odb_answer *answer)
{
    struct bisection *b = h->b;
    const struct odb_prefix_memo *memo = b->options->memo;
    const struct odb_node *n = &b->graph->nodes[node];
    if (!hunt_knows(h, node))
        return false;
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0 || memo->values[n->out[o]].verdict == ODB_VERDICT_UNTESTED)
            continue;
        b->report->values[n->out[o]] = memo->values[n->out[o]];
        bisection_value(b, n->out[o]);
    }
    *answer = memo->answers[node].answer;
    return true;
}

static void hunt_remember(struct hunt *h, int node, enum odb_answer answer)
{
    struct bisection *b = h->b;
    struct odb_prefix_memo *memo = b->options->memo;
    const struct odb_node *n = &b->graph->nodes[node];
    if (!memo)
        return;
    memo->n += !memo->answers[node].asked;
    memo->answers[node] = (struct odb_prefix_answer){true, answer, h->signature};
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            memo->values[n->out[o]] = b->report->values[n->out[o]];
}

/* The prefix that ends in a node's outputs: good, bad or untestable. */
static enum odb_status hunt_probe(struct hunt *h, int node, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct bisection *b = h->b;
    struct hunt_question *q = hunt_ahead_take(&h->ahead, node);
    q = q ? q : hunt_prefix(h, node);
    struct odb_probe *probe = &q->probe;
    struct odb_error probe_err = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK, had = ODB_UNSUPPORTED;
    *answer = ODB_ANSWER_UNTESTABLE;
    probe->remaining = hunt_remaining(h, node, ODB_ANSWER_UNTESTABLE);
    if (probe->n_values)
        had = odb_probe_run(&b->prober, probe, &probe_err);
    enum odb_verdict shown = odb_probe_verdict(had);
    if (had == ODB_CANCELLED) {
        *err = probe_err;
        status = had;
    } else if (h->signature != ODB_OK && had == h->signature) {
        *answer = ODB_ANSWER_BAD;
    } else if (had == ODB_OK) {
        status = hunt_judge(b, probe, &shown, err);
        bool values = h->signature == ODB_OK; /* else it is enough that it ran */
        if (values && odb_verdict_is_bad(shown))
            *answer = ODB_ANSWER_BAD;
        else if (!values || !hunt_lacks(probe))
            *answer = ODB_ANSWER_GOOD;
    }
    if (probe->n_values)
        odb_probe_tell(&b->prober, probe, shown, hunt_remaining(h, node, *answer));
    if (had != ODB_OK && had != ODB_CANCELLED)
        hunt_note_failure(b, q->list, probe->n_values, had);
    hunt_question_free(q);
    return status;
}

static bool hunt_at_hand(void *payload, int node)
{
    const struct hunt *h = payload;
    const struct hunt_question *q = h->ahead.of ? h->ahead.of[node] : NULL;
    return hunt_knows(h, node) || (q && odb_probe_at_hand(q->prober, &q->probe));
}

/* Begins with a prefix that is going to be asked for, while there are workers for it. */
static bool hunt_begin(void *payload, int node)
{
    struct hunt *h = payload;
    if (!h->ahead.of)
        return false;
    if (h->ahead.of[node] || hunt_knows(h, node))
        return true;
    if (!odb_pool_idle(h->b->pool))
        return false;
    hunt_ahead_put(&h->ahead, hunt_prefix(h, node));
    return true;
}

static enum odb_status hunt_ask(void *payload, int node, enum odb_answer *answer,
                                struct odb_error *err)
{
    struct hunt *h = payload;
    if (hunt_recall(h, node, answer))
        return ODB_OK;
    enum odb_status status = hunt_probe(h, node, answer, err);
    if (status == ODB_OK)
        hunt_remember(h, node, *answer);
    return status;
}

/* --- alone ------------------------------------------------------------------------------------ */

/* What one node does alone on given inputs: its outputs by slot, and the judge's word on them in
 * reports ([n_values], only the node's outputs are meaningful). */
struct hunt_verdict {
    struct odb_tensor **out;          /* owned refs; [n_out] */
    struct odb_value_report *reports; /* owned; [n_values] */
    bool judged; /* false: the reference operator cannot be replayed on these inputs */
    bool guilty;
};

static void hunt_verdict_dispose(struct hunt_verdict *alone, int n_out)
{
    for (int o = 0; alone->out && o < n_out; o++)
        odb_tensor_unref(alone->out[o]);
    free(alone->out);
    free(alone->reports);
}

/* The judge's word on what a node gave alone; shown: on its first wrong output. */
static enum odb_status hunt_judge_alone(struct bisection *b, int node,
                                        struct odb_tensor *const *given, struct hunt_verdict *alone,
                                        enum odb_verdict *shown, struct odb_error *err)
{
    const struct odb_node *n = &b->graph->nodes[node];
    ODB_TRY(odb_judge_node(&b->judge, node, given, alone->out, alone->reports, err));
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0)
            continue;
        const struct odb_value_report *report = &alone->reports[n->out[o]];
        alone->judged |= report->culprit || report->local_error.known || report->local_noise.known;
        alone->guilty |= report->culprit;
    }
    if (alone->guilty)
        *shown = ODB_VERDICT_FAIL;
    return ODB_OK;
}

/* Asks q, which is freed: a node alone on given inputs; and judges it. */
static enum odb_status hunt_run_alone(struct bisection *b, struct hunt_question *q,
                                      struct hunt_verdict *alone, struct odb_error *err)
{
    int node = q->probe.node;
    const struct odb_node *n = &b->graph->nodes[node];
    *alone =
        (struct hunt_verdict){odb_new_n(struct odb_tensor *, n->n_out),
                              odb_new_n(struct odb_value_report, b->graph->n_values), false, false};
    memcpy(alone->reports, b->report->values,
           b->graph->n_values * sizeof *alone->reports); /* errors of the inputs, for the gain */
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            alone->reports[n->out[o]] = (struct odb_value_report){0};
    enum odb_status status = odb_probe_run(q->prober, &q->probe, err);
    enum odb_verdict shown = odb_probe_verdict(status);
    for (size_t i = 0; i < q->probe.n_values && status == ODB_OK; i++)
        alone->out[b->graph->values[q->list[i]].slot] = odb_tensor_ref(q->outputs[i]);
    if (status == ODB_OK)
        status = hunt_judge_alone(b, node, q->probe.given, alone, &shown, err);
    odb_probe_tell(q->prober, &q->probe, shown, 0);
    hunt_question_free(q);
    return status;
}

/* The target's own values at the cut before a node, as far as they are not known yet. Failing to
 * get them is no error: the reference's are used then. */
static enum odb_status hunt_get_inputs(struct bisection *b, int node, struct odb_error *err)
{
    const struct odb_node *n = &b->graph->nodes[node];
    int *read = odb_new_n(int, (size_t)n->n_in + n->n_captured);
    int *list = odb_new_n(int, (size_t)n->n_in + n->n_captured);
    size_t n_read = 0, count = 0;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0)
            read[n_read++] = n->in[i];
    for (size_t c = 0; c < n->n_captured; c++)
        read[n_read++] = n->captured[c];
    for (size_t i = 0; i < n_read; i++)
        if (b->graph->values[read[i]].producer != ODB_NO_NODE && !b->given[read[i]] &&
            b->trace->ref[read[i]])
            list[count++] = read[i];
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, count);
    struct odb_probe probe = {.what = "cut before the accused",
                              .node = node,
                              .values = list,
                              .n_values = count,
                              .outputs = outputs,
                              .judged = true};
    struct odb_error probe_err = ODB_ERROR_INIT;
    enum odb_status status = count ? odb_probe_run(&b->prober, &probe, &probe_err) : ODB_OK;
    enum odb_verdict shown = odb_probe_verdict(status);
    if (status == ODB_OK)
        status = hunt_judge(b, &probe, &shown, err);
    else if (status == ODB_CANCELLED)
        *err = probe_err;
    else
        status = ODB_OK;
    if (count)
        odb_probe_tell(&b->prober, &probe, shown, 0);
    for (size_t i = 0; i < n_read; i++) /* whoever could not be read: the reference's */
        if (!b->given[read[i]])
            b->given[read[i]] = odb_tensor_ref(odb_trace_value(b->trace, read[i]));
    odb_probe_drop(&b->prober, &probe);
    free(outputs);
    free(list);
    free(read);
    return status;
}

/* --- the smallest segment --------------------------------------------------------------------- */

/* Whether the ancestors of value from position first on fail unobserved, fed by the reference. */
static enum odb_status hunt_segment_fails(struct bisection *b, const int *chain, size_t n,
                                          size_t first, int value, bool *fails,
                                          struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, b->graph->n_nodes);
    struct odb_tensor *output = NULL;
    struct odb_error probe_err = ODB_ERROR_INIT;
    struct odb_value_report report = {0};
    char what[240];
    struct odb_probe probe = {.what = odb_probe_title(b->graph, "segment from", chain[first],
                                                      chain[n - 1], what, sizeof what),
                              .node = chain[first],
                              .nodes = nodes,
                              .values = &value,
                              .n_values = 1,
                              .outputs = &output,
                              .judged = true};
    for (size_t i = first; i < n; i++)
        nodes[chain[i]] = true;
    enum odb_status status = odb_probe_run(&b->prober, &probe, &probe_err);
    enum odb_verdict shown = odb_probe_verdict(status);
    *fails = false;
    if (status == ODB_OK)
        status = odb_judge_value(&b->judge, value, output, &report, err);
    else if (status == ODB_CANCELLED)
        *err = probe_err;
    else
        status = ODB_OK; /* no evidence: as if it passed, so the segment grows */
    *fails = odb_verdict_is_bad(report.verdict);
    odb_probe_shows(&shown, report.verdict);
    odb_probe_tell(&b->prober, &probe, shown, 0);
    odb_tensor_unref(output);
    free(nodes);
    return status;
}

/* The accused passes alone: finds where a segment that ends in it must begin to fail. */
static enum odb_status hunt_widen(struct bisection *b, struct odb_culprit *culprit,
                                  struct odb_error *err)
{
    bool *up = odb_new_n(bool, b->graph->n_nodes);
    int *chain = odb_new_n(int, b->graph->n_nodes);
    size_t n = 0, fails_at = 0, passes_at;
    bool fails = false;
    enum odb_status status = ODB_OK;
    odb_graph_ancestors(b->graph, &culprit->value, 1, b->drawn, up);
    for (size_t i = 0; i < b->graph->n_nodes; i++)
        if (up[i])
            chain[n++] = (int)i;
    passes_at = n - 1;
    while (passes_at - fails_at > 1) {
        size_t mid = (passes_at + fails_at) / 2;
        ODB_TRY_OUT(hunt_segment_fails(b, chain, n, mid, culprit->value, &fails, err));
        if (fails)
            fails_at = mid;
        else
            passes_at = mid;
    }
    ODB_TRY_OUT(hunt_segment_fails(b, chain, n, fails_at, culprit->value, &fails, err));
    culprit->kind = b->hidden || !fails ? ODB_KIND_PROBE_EFFECT : ODB_KIND_FUSION;
    if (fails) { /* else it is wrong only while everything is read */
        culprit->segment[0] = culprit->node = chain[fails_at];
        culprit->segment[1] = chain[n - 1];
        culprit->verified = true;
    }
out:
    free(chain);
    free(up);
    return status;
}

/* A prefix search has no local numbers until the node has run alone. */
static void hunt_adopt_numbers(struct bisection *b, struct odb_culprit *culprit,
                               const struct hunt_verdict *alone)
{
    struct odb_value_report *sides[] = {&culprit->numbers, &b->report->values[culprit->value]};
    const struct odb_value_report *found = &alone->reports[culprit->value];
    for (size_t i = 0; i < ODB_COUNT(sides); i++) {
        if (sides[i]->local_error.known)
            continue;
        sides[i]->local_error = found->local_error;
        sides[i]->local_noise = found->local_noise;
        sides[i]->inherited_error = found->inherited_error;
        sides[i]->gain = found->gain;
    }
}

/* Runs the culprit alone on the target, on the target's own inputs where they are known; sets
 * verified, or finds the smallest segment that fails. q: the question, if it was begun; taken. */
static enum odb_status hunt_verify(struct bisection *b, struct odb_culprit *culprit,
                                   struct hunt_question *q, struct odb_error *err)
{
    struct hunt_verdict alone = {0};
    struct odb_error probe_err = ODB_ERROR_INIT;
    int node = culprit->node, n_out = b->graph->nodes[node].n_out;
    enum odb_status status = hunt_get_inputs(b, node, err);
    if (status != ODB_OK) {
        hunt_question_free(q);
        return status;
    }
    q = q ? q : hunt_alone(b, &b->prober, node, b->given);
    status = hunt_run_alone(b, q, &alone, &probe_err);
    if (status == ODB_CANCELLED) {
        *err = probe_err;
    } else if (status != ODB_OK) { /* untestable alone: stays accused, not verified */
        odb_report_warn(b->report, "node %d cannot be run alone on the target: %.200s", node,
                        probe_err.what);
        status = ODB_OK;
    } else if (alone.guilty) {
        culprit->verified = true;
        hunt_adopt_numbers(b, culprit, &alone);
    } else if (b->hidden && !b->report->outputs_diverge) {
        culprit->kind = ODB_KIND_PROBE_EFFECT; /* wrong only while everything is read */
    } else if (alone.judged && b->trace->ref[culprit->value]) {
        status = bisection_hear(b, err);
        if (status == ODB_OK && bisection_reference_off(b, culprit->value)) {
            hunt_adopt_numbers(b, culprit, &alone);
            bisection_blame_reference(b, culprit);
        } else if (status == ODB_OK) {
            status = hunt_widen(b, culprit, err);
        }
    }
    hunt_verdict_dispose(&alone, n_out);
    return status;
}

/* Whether running the node alone on its own inputs needs nothing else from the target. */
static bool hunt_has_inputs(const struct bisection *b, int node)
{
    const struct odb_node *n = &b->graph->nodes[node];
    bool all = true;
    for (int i = 0; i < n->n_in; i++)
        all = all && (n->in[i] < 0 || b->given[n->in[i]] ||
                      b->graph->values[n->in[i]].producer == ODB_NO_NODE);
    for (size_t c = 0; c < n->n_captured; c++)
        all = all && (b->given[n->captured[c]] ||
                      b->graph->values[n->captured[c]].producer == ODB_NO_NODE);
    return all;
}

bool bisection_accuses(enum odb_diagnosis kind)
{
    return kind == ODB_KIND_INTRODUCED || kind == ODB_KIND_NAN;
}

enum odb_status bisection_verify_all(struct bisection *b, struct odb_error *err)
{
    size_t n = ODB_MIN(b->report->culprits.n, (size_t)HUNT_VERIFY_MOST);
    struct hunt_ahead ahead = hunt_ahead_new(b);
    enum odb_status status = ODB_OK;
    bisection_step_begin(b, "verify");
    for (size_t c = 0; c < n && ahead.of; c++) {
        const struct odb_culprit *culprit = &b->report->culprits.items[c];
        if (bisection_accuses(culprit->kind) && !culprit->verified && !culprit->of_reference &&
            hunt_has_inputs(b, culprit->node) && !ahead.of[culprit->node])
            hunt_ahead_put(&ahead, hunt_alone(b, &b->prober, culprit->node, b->given));
    }
    for (size_t c = 0; c < n && status == ODB_OK; c++) {
        struct odb_culprit *culprit = &b->report->culprits.items[c];
        if (bisection_accuses(culprit->kind) && !culprit->verified && !culprit->of_reference)
            status = hunt_verify(b, culprit, hunt_ahead_take(&ahead, culprit->node), err);
        odb_hooks_progress(&b->options->hooks, "verify", culprit->node, c + 1, n);
    }
    hunt_ahead_dispose(b, &ahead);
    if (status == ODB_OK)
        bisection_step_end(b, "verify", "the accused alone on the target, on its own inputs");
    return status;
}

/* --- searches --------------------------------------------------------------------------------- */

/* Bisects over prefixes among the ancestors of values; suspects [n_nodes] are those left. */
static enum odb_status hunt_search(struct hunt *h, const int *values, size_t n_values,
                                   bool *suspects, size_t *probes, struct odb_error *err)
{
    struct odb_dag dag = hunt_dag(h);
    struct odb_oracle oracle = {hunt_ask, hunt_begin, hunt_at_hand, h};
    h->suspects = suspects;
    h->ahead = hunt_ahead_new(h->b);
    bisection_step_begin(h->b, "prefixes");
    odb_graph_ancestors(h->b->graph, values, n_values, h->b->drawn, suspects);
    return odb_search(&dag, suspects, &oracle, probes, err);
}

enum odb_status bisection_hunt_value(struct bisection *b, int value, struct odb_error *err)
{
    struct hunt h = {.b = b, .signature = ODB_OK};
    bool *suspects = odb_new_n(bool, b->graph->n_nodes);
    size_t probes = 0, left = 0;
    int first = -1, last = -1;
    enum odb_status status = hunt_search(&h, &value, 1, suspects, &probes, err);
    for (size_t i = 0; i < b->graph->n_nodes && status == ODB_OK; i++) {
        if (!suspects[i])
            continue;
        first = first < 0 ? (int)i : first;
        last = (int)i;
        left++;
    }
    bisection_step_end(b, "prefix", "%zu cuts for output %.100s", probes,
                       b->graph->values[value].name);
    if (status == ODB_OK) {
        int shown = last == b->graph->values[value].producer ? value : bisection_output_of(b, last);
        enum odb_verdict verdict = b->report->values[shown].verdict;
        struct odb_culprit *culprit = bisection_accuse(b, last, shown, bisection_kind(verdict));
        culprit->segment[0] = first;
        if (left > 1) {
            odb_report_warn(b->report, HUNT_REGION, left, first, last);
        } else {
            bisection_step_begin(b, "verify");
            status = hunt_verify(b, culprit, NULL, err);
            bisection_step_end(b, "verify", "the accused alone on the target, on its own inputs");
        }
    }
    free(suspects);
    hunt_dispose(&h);
    return status;
}

#define HUNT_WITNESSES 3

/* Up to HUNT_WITNESSES nodes of other operators than the accused one's, each of another. */
static size_t hunt_witnesses(const struct bisection *b, int accused, int *list)
{
    size_t count = 0;
    for (size_t n = b->graph->n_nodes; n-- > 0 && count < HUNT_WITNESSES;) {
        const char *op = b->graph->nodes[n].op_type;
        bool known = bisection_output_of(b, (int)n) < 0 || b->trace->why[n] ||
                     strcmp(op, b->graph->nodes[accused].op_type) == 0;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(op, b->graph->nodes[list[i]].op_type) == 0;
        if (!known)
            list[count++] = (int)n;
    }
    return count;
}

/* The first node of all is accused: does the target die on nodes of other operators as well, each
 * alone? If on all that are asked, the target does not run, and no node is to blame. */
static bool hunt_runs_at_all(struct bisection *b, int accused, enum odb_status signature)
{
    int witnesses[HUNT_WITNESSES];
    size_t n = hunt_witnesses(b, accused, witnesses);
    struct hunt_ahead ahead = hunt_ahead_new(b);
    bool runs = n == 0; /* a model of one operator has no witness */
    for (size_t i = 0; i < n && ahead.of; i++)
        hunt_ahead_put(&ahead, hunt_alone(b, &b->prober, witnesses[i], b->trace->ref));
    for (size_t i = 0; i < n && !runs; i++) {
        struct hunt_verdict alone = {0};
        struct odb_error ignored = ODB_ERROR_INIT;
        struct hunt_question *q = hunt_ahead_take(&ahead, witnesses[i]);
        q = q ? q : hunt_alone(b, &b->prober, witnesses[i], b->trace->ref);
        runs = hunt_run_alone(b, q, &alone, &ignored) != signature;
        hunt_verdict_dispose(&alone, b->graph->nodes[witnesses[i]].n_out);
    }
    hunt_ahead_dispose(b, &ahead);
    if (!runs)
        odb_report_warn(b->report,
                        "the target does not run at all here: it does the same on a single %s as "
                        "on a single %s, so no node is to blame",
                        b->graph->nodes[witnesses[0]].op_type, b->graph->nodes[accused].op_type);
    return runs;
}

/* Accuses the node that ends the smallest prefix which kills the target, and runs it alone; words:
 * the target's last ones. */
static enum odb_status hunt_accuse_dead(struct hunt *h, int first, int last, const char *words,
                                        struct odb_error *err)
{
    struct bisection *b = h->b;
    struct hunt_verdict alone = {0};
    struct odb_error alone_err = ODB_ERROR_INIT;
    int value = bisection_output_of(b, last);
    if (value >= 0) {
        b->report->values[value].verdict = odb_probe_verdict(h->signature);
        bisection_value(b, value);
    }
    struct odb_culprit *culprit = bisection_accuse(
        b, last, value, h->signature == ODB_E_CRASH ? ODB_KIND_CRASH : ODB_KIND_HANG);
    culprit->reaches_output = true;
    culprit->segment[0] = first;
    snprintf(culprit->numbers.reason, sizeof culprit->numbers.reason, "%.150s", words);
    bisection_step_begin(b, "verify");
    enum odb_status status =
        hunt_run_alone(b, hunt_alone(b, &b->prober, last, b->trace->ref), &alone, &alone_err);
    hunt_verdict_dispose(&alone, b->graph->nodes[last].n_out);
    if (status == ODB_CANCELLED) {
        *err = alone_err;
        return status;
    }
    culprit->verified = status == h->signature;
    bool first_of_all = h->start[last] == h->start[last + 1];
    if (first_of_all && culprit->verified && !hunt_runs_at_all(b, last, h->signature))
        b->report->culprits.n--; /* it has no text yet */
    bisection_step_end(b, "verify", "the accused alone on the target");
    return ODB_OK;
}

enum odb_status bisection_hunt_crash(struct bisection *b, enum odb_status signature,
                                     struct odb_error *err)
{
    struct hunt h = {.b = b, .signature = signature};
    struct odb_error first_words = *err;
    bool *suspects = odb_new_n(bool, b->graph->n_nodes);
    size_t probes = 0, left = 0;
    int first = -1, last = -1;
    enum odb_status status = hunt_search(&h, b->outputs, b->n_outputs, suspects, &probes, err);
    for (size_t i = 0; i < b->graph->n_nodes; i++) {
        if (!suspects[i])
            continue;
        first = first < 0 ? (int)i : first;
        last = (int)i;
        left++;
    }
    if (status == ODB_OK && left > 1)
        odb_report_warn(b->report, HUNT_REGION, left, first, last);
    bisection_step_end(b, "prefix", "%zu cuts for what makes the target %s", probes,
                       signature == ODB_E_CRASH ? "crash" : "hang");
    if (status == ODB_OK && last >= 0)
        status = hunt_accuse_dead(&h, first, last, first_words.what, err);
    free(suspects);
    hunt_dispose(&h);
    return status;
}

void bisection_hunt_refusal(struct bisection *b, enum odb_status refusal)
{
    struct hunt h = {.b = b, .signature = refusal};
    struct odb_error ignored = ODB_ERROR_INIT;
    bool *suspects = odb_new_n(bool, b->graph->n_nodes);
    size_t probes = 0;
    int last = -1;
    char label[200];
    enum odb_status status = hunt_search(&h, b->outputs, b->n_outputs, suspects, &probes, &ignored);
    for (size_t i = 0; i < b->graph->n_nodes; i++)
        if (suspects[i])
            last = (int)i;
    bisection_step_end(b, "prefix", "%zu cuts for what the target refuses", probes);
    if (status == ODB_OK && last >= 0)
        odb_report_warn(b->report,
                        "the smallest prefix that the target refuses ends in #%d %s (%s)%s", last,
                        odb_node_label(&b->graph->nodes[last], label, sizeof label),
                        b->graph->nodes[last].op_type,
                        h.start[last] == h.start[last + 1]
                            ? ", which nothing stands before: it may refuse every model"
                            : "");
    free(suspects);
    hunt_dispose(&h);
}

/* Nodes with a bad output and none bad among their inputs. */
static void hunt_accuse_first(struct bisection *b)
{
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        bool inherits = false;
        int bad = ODB_NO_VALUE;
        for (int i = 0; i < node->n_in; i++)
            inherits = inherits || (node->in[i] >= 0 &&
                                    odb_verdict_is_bad(b->report->values[node->in[i]].verdict));
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0 && odb_verdict_is_bad(b->report->values[node->out[o]].verdict))
                bad = node->out[o];
        if (bad >= 0 && !inherits)
            bisection_accuse(b, (int)n, bad, bisection_kind(b->report->values[bad].verdict));
    }
}

enum odb_status bisection_each(struct bisection *b, struct odb_error *err)
{
    struct hunt h = {.b = b, .signature = ODB_OK, .ahead = hunt_ahead_new(b)};
    enum odb_status status = ODB_OK;
    bisection_step_begin(b, "each");
    for (size_t n = 0; n < b->graph->n_nodes && status == ODB_OK; n++) {
        enum odb_answer answer;
        for (; hunt_ahead_reaches(b, &h.ahead, n); h.ahead.next++)
            if (!hunt_knows(&h, (int)h.ahead.next))
                hunt_ahead_put(&h.ahead, hunt_prefix(&h, (int)h.ahead.next));
        status = hunt_ask(&h, (int)n, &answer, err);
        if (status == ODB_OK)
            odb_hooks_progress(&b->options->hooks, "each", (int)n, n + 1, b->graph->n_nodes);
    }
    hunt_dispose(&h);
    if (status != ODB_OK)
        return status;
    bisection_step_end(b, "each", "one submodel per node");
    hunt_accuse_first(b);
    return ODB_OK;
}

static bool hunt_can_isolate(const struct bisection *b, int node)
{
    return bisection_output_of(b, node) >= 0 && !b->trace->why[node] &&
           !odb_cpu_random(b->trace->cpu, node);
}

/* One node alone on the reference's values: its numbers, its verdict, and whether it is guilty. */
static enum odb_status hunt_isolate(struct bisection *b, struct hunt_question *q,
                                    struct odb_error *err)
{
    int index = q->probe.node;
    const struct odb_node *node = &b->graph->nodes[index];
    struct hunt_verdict alone = {0};
    struct odb_error alone_err = ODB_ERROR_INIT;
    enum odb_status had = hunt_run_alone(b, q, &alone, &alone_err);
    enum odb_status status = had == ODB_CANCELLED ? had : ODB_OK;
    int guilty = ODB_NO_VALUE;
    if (had == ODB_CANCELLED)
        *err = alone_err;
    else if (had != ODB_OK)
        hunt_note_failure(b, &(int){bisection_output_of(b, index)}, 1, had);
    for (int o = 0; o < node->n_out && had == ODB_OK && status == ODB_OK; o++) {
        int v = node->out[o];
        if (v < 0 || !alone.out[o])
            continue;
        b->report->values[v] = alone.reports[v];
        status = odb_judge_value(&b->judge, v, alone.out[o], &b->report->values[v], err);
        bisection_keep(b, v, alone.out[o]);
        if (b->told && b->told[v].culprit && !odb_verdict_is_bad(b->report->values[v].verdict))
            b->report->values[v].culprit = false; /* the CPU's operator stands alone */
        bisection_value(b, v);
        if ((b->report->values[v].culprit || bisection_reference_off(b, v)) && guilty < 0)
            guilty = v;
    }
    if (guilty >= 0 && status == ODB_OK) {
        struct odb_culprit *culprit =
            bisection_accuse(b, index, guilty, bisection_kind(b->report->values[guilty].verdict));
        culprit->verified = true;
        if (bisection_reference_off(b, guilty))
            bisection_blame_reference(b, culprit);
    }
    hunt_verdict_dispose(&alone, node->n_out);
    return status;
}

enum odb_status bisection_isolated(struct bisection *b, struct odb_error *err)
{
    struct hunt_ahead ahead = hunt_ahead_new(b);
    enum odb_status status = bisection_hear(b, err);
    bisection_step_begin(b, "isolated");
    for (size_t n = 0; n < b->graph->n_nodes && status == ODB_OK; n++) {
        for (; hunt_ahead_reaches(b, &ahead, n); ahead.next++)
            if (hunt_can_isolate(b, (int)ahead.next))
                hunt_ahead_put(&ahead, hunt_alone(b, &b->prober, (int)ahead.next, b->trace->ref));
        if (hunt_can_isolate(b, (int)n)) {
            struct hunt_question *q = hunt_ahead_take(&ahead, (int)n);
            q = q ? q : hunt_alone(b, &b->prober, (int)n, b->trace->ref);
            status = hunt_isolate(b, q, err);
        }
        if (status == ODB_OK)
            odb_hooks_progress(&b->options->hooks, "isolated", (int)n, n + 1, b->graph->n_nodes);
    }
    hunt_ahead_dispose(b, &ahead);
    if (status == ODB_OK)
        bisection_step_end(b, "isolated", "every node alone, fed with the reference's values");
    return status;
}

/* --- third opinion ---------------------------------------------------------------------------- */

enum odb_opinion bisection_opinion(struct bisection *b, int index, int value, const char *spec)
{
    struct odb_pool *third = NULL;
    struct odb_prober prober;
    struct odb_error ignored = ODB_ERROR_INIT;
    struct hunt_verdict alone = {0};
    enum odb_opinion opinion = ODB_OPINION_NONE;
    const struct odb_node *node = &b->graph->nodes[index];
    const struct odb_tensor *told = b->given[value];
    int slot = b->graph->values[value].slot;
    if (!told || odb_pool_open(&third, spec, &ignored) != ODB_OK)
        return ODB_OPINION_NONE;
    odb_prober_init(&prober, b->model, b->feeds, b->trace, third, b->options->hooks);
    if (hunt_run_alone(b, hunt_alone(b, &prober, index, b->given), &alone, &ignored) == ODB_OK &&
        alone.out[slot] && alone.judged) {
        const struct odb_value_report *report = &alone.reports[value];
        struct odb_gap gap;
        double noise = report->local_noise.known ? report->local_noise.v : 0;
        double factor = b->options->tolerance.v[0];
        odb_gap_measure(&gap, alone.out[slot], told);
        bool with_target =
            gap.same || (gap.comparable && gap.pattern && noise > 0 && gap.error <= factor * noise);
        opinion = !report->culprit ? ODB_OPINION_REFERENCE
                  : with_target    ? ODB_OPINION_TARGET
                                   : ODB_OPINION_NEITHER;
    }
    hunt_verdict_dispose(&alone, node->n_out);
    odb_prober_dispose(&prober);
    odb_pool_close(third);
    return opinion;
}

/* Where the reference is the third executor itself, the CPU's operator is the third. */
void bisection_third_opinion(struct bisection *b, struct odb_culprit *culprit)
{
    bool whole = culprit->segment[0] == culprit->segment[1];
    bool is_target = strncmp(b->options->target, "ort", 3) == 0;
    bool is_reference = b->trace->told_by && strncmp(b->trace->told_by, "ort", 3) == 0;
    enum odb_opinion opinion = ODB_OPINION_NONE;
    if (!whole || strcmp(b->options->target, HUNT_THIRD) == 0)
        return;
    if (!is_reference && !(culprit->of_reference && is_target))
        opinion = bisection_opinion(b, culprit->node, culprit->value, HUNT_THIRD);
    if (culprit->of_reference) { /* the CPU's operator is with the target; is the third? */
        if (opinion == ODB_OPINION_NEITHER || opinion == ODB_OPINION_TARGET)
            culprit->third_opinion = ODB_OPINION_NEITHER;
    } else if (is_reference && b->told && !b->told[culprit->value].culprit) {
        culprit->third_opinion = ODB_OPINION_REFERENCE;
    } else {
        culprit->third_opinion = opinion;
    }
}
