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

#define HUNT_REGION "no testable cut tells %zu nodes from %d to %d apart"

struct hunt {
    struct bisection *b;
    enum odb_status signature; /* of a crash or hang; ODB_OK: values are judged */
    size_t *start;             /* owned: parents of every node, for the search core */
    int *parents;              /* owned */
    const bool *suspects;      /* borrowed; [n_nodes] as narrowed so far; NULL: no search */
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

static void hunt_dispose(struct hunt *h)
{
    free(h->start);
    free(h->parents);
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

/* A probe that gave no values is told of them, unless more is known already. */
static void hunt_note_failure(struct bisection *b, const int *values, size_t n, enum odb_status had)
{
    for (size_t i = 0; i < n; i++) {
        if (b->report->values[values[i]].verdict != ODB_VERDICT_UNTESTED)
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
static bool hunt_recall(struct hunt *h, int node, enum odb_answer *answer)
{
    struct bisection *b = h->b;
    const struct odb_prefix_memo *memo = b->options->memo;
    const struct odb_node *n = &b->graph->nodes[node];
    if (!memo || !memo->answers[node].asked || memo->answers[node].signature != h->signature)
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
    int n_out = b->graph->nodes[node].n_out;
    int *list = odb_new_n(int, n_out);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n_out);
    char what[240];
    struct odb_probe probe = {
        .what = odb_probe_title(b->graph, "prefix up to", node, node, what, sizeof what),
        .node = node,
        .judged = true,
        .remaining = hunt_remaining(h, node, ODB_ANSWER_UNTESTABLE),
        .values = list,
        .n_values = hunt_outputs(b, node, h->signature == ODB_OK, list),
        .outputs = outputs};
    struct odb_error probe_err = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK, had = ODB_UNSUPPORTED;
    *answer = ODB_ANSWER_UNTESTABLE;
    if (probe.n_values)
        had = odb_probe_run(&b->prober, &probe, &probe_err);
    enum odb_verdict shown = odb_probe_verdict(had);
    if (had == ODB_CANCELLED) {
        *err = probe_err;
        status = had;
    } else if (h->signature != ODB_OK && had == h->signature) {
        *answer = ODB_ANSWER_BAD;
    } else if (had == ODB_OK) {
        status = hunt_judge(b, &probe, &shown, err);
        bool bad = odb_verdict_is_bad(shown) && h->signature == ODB_OK;
        *answer = bad ? ODB_ANSWER_BAD : ODB_ANSWER_GOOD;
    }
    if (probe.n_values)
        odb_probe_tell(&b->prober, &probe, shown, hunt_remaining(h, node, *answer));
    if (had != ODB_OK && had != ODB_CANCELLED)
        hunt_note_failure(b, list, probe.n_values, had);
    odb_probe_drop(&probe);
    free(outputs);
    free(list);
    return status;
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

#define HUNT_THIRD "ort,opt=disabled" /* whose opinion is asked when two disagree */

/* --- alone ------------------------------------------------------------------------------------ */

/* What one node does alone on given inputs: its outputs by slot, and the judge's word on them in
 * reports ([n_values], only the node's outputs are meaningful). */
struct hunt_alone {
    struct odb_tensor **out;          /* owned refs; [n_out] */
    struct odb_value_report *reports; /* owned; [n_values] */
    bool judged; /* false: the reference operator cannot be replayed on these inputs */
    bool guilty;
};

static void hunt_alone_dispose(struct hunt_alone *alone, int n_out)
{
    for (int o = 0; alone->out && o < n_out; o++)
        odb_tensor_unref(alone->out[o]);
    free(alone->out);
    free(alone->reports);
}

/* The judge's word on what a node gave alone; shown: on its first wrong output. */
static enum odb_status hunt_judge_alone(struct bisection *b, int node,
                                        struct odb_tensor *const *given, struct hunt_alone *alone,
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

/* Runs a node alone on given inputs, and judges it. */
static enum odb_status hunt_run_alone(struct bisection *b, struct odb_prober *prober, int node,
                                      struct odb_tensor *const *given, struct hunt_alone *alone,
                                      struct odb_error *err)
{
    const struct odb_node *n = &b->graph->nodes[node];
    const char *how = prober == &b->prober ? "alone:" : "alone on " HUNT_THIRD ":";
    bool *nodes = odb_new_n(bool, b->graph->n_nodes);
    int *list = odb_new_n(int, n->n_out);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, n->n_out);
    size_t count = hunt_outputs(b, node, false, list);
    char what[240];
    struct odb_probe probe = {.what = odb_probe_title(b->graph, how, node, node, what, sizeof what),
                              .node = node,
                              .nodes = nodes,
                              .given = given,
                              .values = list,
                              .n_values = count,
                              .outputs = outputs,
                              .judged = true};
    nodes[node] = true;
    *alone =
        (struct hunt_alone){odb_new_n(struct odb_tensor *, n->n_out),
                            odb_new_n(struct odb_value_report, b->graph->n_values), false, false};
    memcpy(alone->reports, b->report->values,
           b->graph->n_values * sizeof *alone->reports); /* errors of the inputs, for the gain */
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0)
            alone->reports[n->out[o]] = (struct odb_value_report){0};
    enum odb_status status = odb_probe_run(prober, &probe, err);
    enum odb_verdict shown = odb_probe_verdict(status);
    for (size_t i = 0; i < count && status == ODB_OK; i++)
        alone->out[b->graph->values[list[i]].slot] = outputs[i];
    if (status == ODB_OK)
        status = hunt_judge_alone(b, node, given, alone, &shown, err);
    odb_probe_tell(prober, &probe, shown, 0);
    free(outputs);
    free(list);
    free(nodes);
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
    odb_probe_drop(&probe);
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

enum odb_status bisection_verify(struct bisection *b, struct odb_culprit *culprit,
                                 struct odb_error *err)
{
    struct hunt_alone alone = {0};
    struct odb_error probe_err = ODB_ERROR_INIT;
    int node = culprit->node, n_out = b->graph->nodes[node].n_out;
    ODB_TRY(hunt_get_inputs(b, node, err));
    enum odb_status status = hunt_run_alone(b, &b->prober, node, b->given, &alone, &probe_err);
    if (status == ODB_CANCELLED) {
        *err = probe_err;
    } else if (status != ODB_OK) { /* untestable alone: stays accused, not verified */
        odb_report_warn(b->report, "node %d cannot be run alone on the target: %.200s", node,
                        probe_err.what);
        status = ODB_OK;
    } else if (alone.guilty) {
        culprit->verified = true;
        if (!culprit->numbers.local_error.known) { /* a prefix search has no local numbers yet */
            const struct odb_value_report *found = &alone.reports[culprit->value];
            culprit->numbers.local_error = found->local_error;
            culprit->numbers.local_noise = found->local_noise;
            culprit->numbers.inherited_error = found->inherited_error;
            culprit->numbers.gain = found->gain;
        }
    } else if (b->hidden && !b->report->outputs_diverge) {
        culprit->kind = ODB_KIND_PROBE_EFFECT; /* wrong only while everything is read */
    } else if (alone.judged && b->trace->ref[culprit->value]) {
        status = hunt_widen(b, culprit, err);
    }
    hunt_alone_dispose(&alone, n_out);
    return status;
}

/* --- searches --------------------------------------------------------------------------------- */

enum odb_status bisection_hunt_value(struct bisection *b, int value, struct odb_error *err)
{
    struct hunt h = {.b = b, .signature = ODB_OK};
    struct odb_dag dag = hunt_dag(&h);
    bool *suspects = odb_new_n(bool, b->graph->n_nodes);
    h.suspects = suspects;
    size_t probes = 0, left = 0;
    int first = -1, last = -1;
    bisection_step_begin(b, "prefixes");
    odb_graph_ancestors(b->graph, &value, 1, b->drawn, suspects);
    enum odb_status status = odb_search(&dag, suspects, hunt_ask, &h, &probes, err);
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
            status = bisection_verify(b, culprit, err);
            bisection_step_end(b, "verify", "the accused alone on the target, on its own inputs");
        }
    }
    free(suspects);
    hunt_dispose(&h);
    return status;
}

#define HUNT_WITNESSES 3

/* The first node of all is accused: does the target die on nodes of other operators as well, each
 * alone? If on all that are asked, the target does not run, and no node is to blame. */
static bool hunt_runs_at_all(struct bisection *b, int accused, enum odb_status signature)
{
    const char *asked[HUNT_WITNESSES + 1] = {b->graph->nodes[accused].op_type};
    size_t n_asked = 1;
    for (size_t n = b->graph->n_nodes; n-- > 0 && n_asked < ODB_COUNT(asked);) {
        struct hunt_alone alone = {0};
        struct odb_error ignored = ODB_ERROR_INIT;
        bool known = bisection_output_of(b, (int)n) < 0 || b->trace->why[n];
        for (size_t i = 0; i < n_asked; i++)
            known = known || strcmp(b->graph->nodes[n].op_type, asked[i]) == 0;
        if (known)
            continue;
        bool dies =
            hunt_run_alone(b, &b->prober, (int)n, b->trace->ref, &alone, &ignored) == signature;
        hunt_alone_dispose(&alone, b->graph->nodes[n].n_out);
        if (!dies)
            return true;
        asked[n_asked++] = b->graph->nodes[n].op_type;
    }
    if (n_asked == 1) /* a model of one operator has no witness */
        return true;
    odb_report_warn(b->report,
                    "the target does not run at all here: it does the same on a single %s as on a "
                    "single %s, so no node is to blame",
                    asked[1], asked[0]);
    return false;
}

/* Accuses the node that ends the smallest prefix which kills the target, and runs it alone; words:
 * the target's last ones. */
static enum odb_status hunt_accuse_dead(struct hunt *h, int first, int last, const char *words,
                                        struct odb_error *err)
{
    struct bisection *b = h->b;
    struct hunt_alone alone = {0};
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
    enum odb_status status = hunt_run_alone(b, &b->prober, last, b->trace->ref, &alone, &alone_err);
    hunt_alone_dispose(&alone, b->graph->nodes[last].n_out);
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
    struct odb_dag dag = hunt_dag(&h);
    struct odb_error first_words = *err;
    bool *suspects = odb_new_n(bool, b->graph->n_nodes);
    h.suspects = suspects;
    size_t probes = 0, left = 0;
    int first = -1, last = -1;
    bisection_step_begin(b, "prefixes");
    odb_graph_ancestors(b->graph, b->outputs, b->n_outputs, b->drawn, suspects);
    enum odb_status status = odb_search(&dag, suspects, hunt_ask, &h, &probes, err);
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

void bisection_hunt_refusal(struct bisection *b)
{
    struct hunt h = {.b = b, .signature = ODB_E_EXECUTOR};
    struct odb_dag dag = hunt_dag(&h);
    struct odb_error ignored = ODB_ERROR_INIT;
    bool *suspects = odb_new_n(bool, b->graph->n_nodes);
    h.suspects = suspects;
    size_t probes = 0;
    int last = -1;
    char label[200];
    bisection_step_begin(b, "prefixes");
    odb_graph_ancestors(b->graph, b->outputs, b->n_outputs, b->drawn, suspects);
    enum odb_status status = odb_search(&dag, suspects, hunt_ask, &h, &probes, &ignored);
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
    struct hunt h = {.b = b, .signature = ODB_OK};
    bisection_step_begin(b, "each");
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        enum odb_answer answer;
        ODB_TRY(hunt_ask(&h, (int)n, &answer, err));
        odb_hooks_progress(&b->options->hooks, "each", (int)n, n + 1, b->graph->n_nodes);
    }
    bisection_step_end(b, "each", "one submodel per node");
    hunt_accuse_first(b);
    return ODB_OK;
}

/* One node alone on the reference's values: its numbers, its verdict, and whether it is guilty. */
static enum odb_status hunt_isolate(struct bisection *b, int index, struct odb_error *err)
{
    const struct odb_node *node = &b->graph->nodes[index];
    struct hunt_alone alone = {0};
    struct odb_error alone_err = ODB_ERROR_INIT;
    enum odb_status had = hunt_run_alone(b, &b->prober, index, b->trace->ref, &alone, &alone_err);
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
        bisection_value(b, v);
        if (b->report->values[v].culprit && guilty < 0)
            guilty = v;
    }
    if (guilty >= 0 && status == ODB_OK)
        bisection_accuse(b, index, guilty, bisection_kind(b->report->values[guilty].verdict))
            ->verified = true;
    hunt_alone_dispose(&alone, node->n_out);
    return status;
}

enum odb_status bisection_isolated(struct bisection *b, struct odb_error *err)
{
    bisection_step_begin(b, "isolated");
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        if (bisection_output_of(b, (int)n) >= 0 && !b->trace->why[n] &&
            !odb_cpu_random(b->trace->cpu, (int)n))
            ODB_TRY(hunt_isolate(b, (int)n, err));
        odb_hooks_progress(&b->options->hooks, "isolated", (int)n, n + 1, b->graph->n_nodes);
    }
    bisection_step_end(b, "isolated", "every node alone, fed with the reference's values");
    return ODB_OK;
}

/* --- third opinion ---------------------------------------------------------------------------- */

void bisection_third_opinion(struct bisection *b, struct odb_culprit *culprit)
{
    struct odb_target *third = NULL;
    struct odb_prober prober;
    struct odb_error ignored = ODB_ERROR_INIT;
    struct hunt_alone alone = {0};
    const struct odb_node *node = &b->graph->nodes[culprit->node];
    const struct odb_tensor *told = b->given[culprit->value];
    int slot = b->graph->values[culprit->value].slot;
    bool whole = culprit->segment[0] == culprit->segment[1];
    if (!whole || !told || strcmp(b->options->target, HUNT_THIRD) == 0 ||
        odb_target_open(&third, HUNT_THIRD, &ignored) != ODB_OK)
        return;
    odb_prober_init(&prober, b->model, b->feeds, b->trace, third, b->options->hooks);
    if (hunt_run_alone(b, &prober, culprit->node, b->given, &alone, &ignored) == ODB_OK &&
        alone.out[slot] && alone.judged) {
        const struct odb_value_report *report = &alone.reports[culprit->value];
        struct odb_gap gap;
        double noise = report->local_noise.known ? report->local_noise.v : 0;
        double factor = b->options->tolerance.v[0];
        odb_gap_measure(&gap, alone.out[slot], told);
        bool with_target =
            gap.same || (gap.comparable && gap.pattern && noise > 0 && gap.error <= factor * noise);
        culprit->third_opinion = !report->culprit ? ODB_OPINION_REFERENCE
                                 : with_target    ? ODB_OPINION_TARGET
                                                  : ODB_OPINION_NEITHER;
    }
    hunt_alone_dispose(&alone, node->n_out);
    odb_prober_dispose(&prober);
    odb_target_close(third);
}
