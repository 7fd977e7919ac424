/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cuts of the model, fed with the reference's values. The first node from whose beginning the model
 * fails is searched for as a culprit is, and the last one up to which it must be run is found by
 * the same search in the graph turned around. Between the two nodes are taken out by delta
 * debugging: what they made is fed instead.
 *
 * As the outputs move back, another value shows the failure, and its error says little about that
 * at the output. Whether it is the same failure is seen by putting the target's value into the
 * reference's run: what comes out at the output must match the signature. So whatever else is wrong
 * on the way does not lead astray, unless it is wrong in the same way in the same value.
 */
#include "shrink/minimise_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/node_dag.h"
#include "search/ddmin.h"
#include "bisect/plan/fails.h"
#include "run/feeds.h"
#include "search/search.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "model/read/load.h"
#include "model/write/write.h"

#define SHRINK_ALONE 32 /* nodes that are tried one by one */

void minimise_cut_dispose(struct minimise_cut *cut)
{
    free(cut->nodes);
    free(cut->values);
    *cut = (struct minimise_cut){0};
}

/* --- asking ----------------------------------------------------------------------------------- */

/* The wanted nodes that the values depend on, and those of the values that they make. */
static struct minimise_cut shrink_cut(const struct minimisation *m, const bool *wanted,
                                      const int *values, size_t n_values)
{
    const struct odb_graph *graph = m->graph;
    struct minimise_cut cut = {.nodes = odb_new_n(bool, graph->n_nodes + 1),
                               .values = odb_new_n(int, n_values + 1),
                               .shows = ODB_NO_VALUE};
    bool *needed = odb_new_n(bool, graph->n_values + 1);
    for (size_t i = 0; i < n_values; i++)
        needed[values[i]] = true;
    for (size_t n = graph->n_nodes; n-- > 0;) {
        const struct odb_node *node = &graph->nodes[n];
        for (int o = 0; o < node->n_out && wanted[n]; o++)
            cut.nodes[n] |= node->out[o] >= 0 && needed[node->out[o]];
        cut.n_nodes += cut.nodes[n];
        for (size_t i = 0; cut.nodes[n] && i < odb_node_n_reads(node); i++)
            if (odb_node_reads(node, i) >= 0)
                needed[odb_node_reads(node, i)] = true;
    }
    for (size_t i = 0; i < n_values; i++) {
        int producer = graph->values[values[i]].producer;
        if (producer != ODB_NO_NODE && cut.nodes[producer])
            cut.values[cut.n_values++] = values[i];
    }
    free(needed);
    return cut;
}

/* The nodes that follow the cut's values on their way to the one where the failure was first seen,
 * and the values of a run of the reference with the target's in their place. */
static bool *shrink_behind(const struct minimisation *m, const struct minimise_cut *cut,
                           struct odb_tensor *const *given, struct odb_tensor **values)
{
    const struct odb_graph *graph = m->graph;
    bool *behind = odb_new_n(bool, graph->n_nodes + 1);
    bool *before = odb_new_n(bool, graph->n_nodes + 1);
    bool *touched = odb_new_n(bool, graph->n_values + 1);
    odb_graph_ancestors(graph, &m->value, 1, NULL, before);
    for (size_t i = 0; i < cut->n_values; i++)
        touched[cut->values[i]] = true;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        if (cut->nodes[n] || !before[n])
            continue;
        for (size_t i = 0; i < odb_node_n_reads(node); i++)
            behind[n] |= odb_node_reads(node, i) >= 0 && touched[odb_node_reads(node, i)];
        for (int o = 0; behind[n] && o < node->n_out; o++)
            if (node->out[o] >= 0)
                touched[node->out[o]] = true;
    }
    for (size_t v = 0; v < graph->n_values; v++)
        if (!touched[v])
            values[v] = odb_tensor_ref(odb_trace_value(m->trace, (int)v));
    for (size_t i = 0; i < cut->n_values; i++)
        values[cut->values[i]] = odb_tensor_ref(given[i]);
    free(before);
    free(touched);
    return behind;
}

/* What the target's values would show at the value sought, were the rest the reference's. */
static enum odb_status shrink_carry(const struct minimisation *m, const struct minimise_cut *cut,
                                    struct odb_tensor *const *given, struct odb_signature *shown,
                                    struct odb_error *err)
{
    size_t n = m->graph->n_values;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, n + 1);
    bool *behind = shrink_behind(m, cut, given, values);
    struct odb_cpu_run run = {.precision = m->trace->precision,
                              .seed = m->trace->seed,
                              .values = values,
                              .nodes = behind,
                              .cancelled = m->options->search.hooks.cancelled,
                              .payload = m->options->search.hooks.payload};
    enum odb_status status = odb_cpu_execute(m->trace->cpu, &run, err);
    if (status == ODB_OK)
        status = minimise_shown(&m->judge, m->value, values[m->value], shown, err);
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(values[v]);
    free(values);
    free(behind);
    return status;
}

/* The reference's value with what is NaN or Inf in the target's alone; NULL: it cannot be had. */
static struct odb_tensor *shrink_odd(const struct odb_tensor *t, const struct odb_tensor *ref)
{
    struct odb_tensor *odd = NULL;
    if (!ref || t->kind != ODB_TENSOR || ref->kind != ODB_TENSOR || t->dtype != ref->dtype ||
        !odb_tensor_same_shape(t, ref) || odb_tensor_clone(&odd, ref, NULL) != ODB_OK)
        return NULL;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        if (!isfinite(v))
            odb_store_f64(odd->dtype, odd->data, i, v);
    }
    return odd;
}

/* What NaN and Inf of the target alone come to at the signature's value: whether they, and nothing
 * else that is wrong beside them, are what fails there. */
static enum odb_status shrink_carry_odd(const struct minimisation *m,
                                        const struct minimise_cut *cut,
                                        struct odb_tensor *const *given,
                                        struct odb_signature *carried, struct odb_error *err)
{
    struct odb_tensor **odd = odb_new_n(struct odb_tensor *, cut->n_values + 1);
    bool all = true;
    for (size_t i = 0; i < cut->n_values; i++) {
        odd[i] = shrink_odd(given[i], m->trace->ref[cut->values[i]]);
        all = all && odd[i];
    }
    *carried = (struct odb_signature){.verdict = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = all ? shrink_carry(m, cut, odd, carried, err) : ODB_OK;
    for (size_t i = 0; i < cut->n_values; i++)
        odb_tensor_unref(odd[i]);
    free(odd);
    return status;
}

/* What a value of another shape comes to there, where what follows takes that shape too. */
static enum odb_status shrink_carry_shape(const struct minimisation *m,
                                          const struct minimise_cut *cut,
                                          struct odb_tensor *const *given,
                                          struct odb_signature *carried, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    *carried = (struct odb_signature){.verdict = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = shrink_carry(m, cut, given, carried, &why);
    if (status == ODB_CANCELLED)
        *err = why;
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* Whether another value than the one that the signature is of shows the same failure: what it comes
 * to at that one decides. */
static enum odb_status shrink_same(const struct minimisation *m, const struct minimise_cut *cut,
                                   struct odb_tensor *const *given, enum odb_answer *answer,
                                   struct odb_error *err)
{
    struct odb_signature carried;
    bool numbers = m->sought.verdict == ODB_VERDICT_FAIL || m->sought.verdict == ODB_VERDICT_NAN;
    bool shape = cut->shown.verdict == ODB_VERDICT_SHAPE;
    if (m->single && odb_verdict_misfits(cut->shown.verdict)) {
        *answer = ODB_ANSWER_BAD;
        return ODB_OK;
    }
    *answer = ODB_ANSWER_UNTESTABLE;
    if (!numbers || (cut->shown.verdict != ODB_VERDICT_FAIL &&
                     cut->shown.verdict != ODB_VERDICT_NAN && !shape)) {
        *answer = cut->shown.verdict == m->sought.verdict ? ODB_ANSWER_BAD : ODB_ANSWER_UNTESTABLE;
        return ODB_OK;
    }
    if (shape)
        ODB_TRY(shrink_carry_shape(m, cut, given, &carried, err));
    else if (cut->shown.verdict == ODB_VERDICT_NAN && m->sought.verdict == ODB_VERDICT_FAIL)
        ODB_TRY(shrink_carry_odd(m, cut, given, &carried, err));
    else
        ODB_TRY(shrink_carry(m, cut, given, &carried, err));
    *answer = odb_signature_match(&m->sought, &carried);
    /* What does not come out there may still have come from the node sought: another way may lead
     * from it to the output. Only of a value that has shown the failure before it says something.
     */
    if (*answer == ODB_ANSWER_GOOD && cut->shows != m->best.shows)
        *answer = ODB_ANSWER_UNTESTABLE;
    return ODB_OK;
}

/* What the run of a cut shows: at the signature's value, if that is read, else at the first value
 * that is wrong. */
static enum odb_status shrink_look(const struct minimisation *m, struct minimise_cut *cut,
                                   struct odb_tensor *const *given, enum odb_answer *answer,
                                   struct odb_error *err)
{
    *answer = ODB_ANSWER_GOOD;
    if (m->value == ODB_NO_VALUE) /* a crash, a hang or a refusal that stays out */
        return ODB_OK;
    for (size_t i = 0; i < cut->n_values; i++) {
        struct odb_signature shown;
        ODB_TRY(minimise_shown(&m->judge, cut->values[i], given[i], &shown, err));
        if (cut->values[i] == m->value) {
            cut->shown = shown;
            cut->shows = m->value;
            *answer = odb_signature_match(&m->sought, &shown);
            return ODB_OK;
        }
        if (shown.verdict != ODB_VERDICT_PASS)
            *answer = ODB_ANSWER_UNTESTABLE;
        if (odb_verdict_is_bad(shown.verdict) && cut->shows == ODB_NO_VALUE) {
            cut->shown = shown;
            cut->shows = cut->values[i];
        }
    }
    return cut->shows == ODB_NO_VALUE ? ODB_OK : shrink_same(m, cut, given, answer, err);
}

static enum odb_status shrink_run(struct minimisation *m, struct minimise_cut *cut,
                                  const char *title, enum odb_answer *answer, struct odb_error *err)
{
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, cut->n_values + 1);
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SMALLER,
                              .what = title,
                              .node = ODB_NO_NODE, /* the title says which; the session may know
                                                      another model */
                              .nodes = cut->nodes,
                              .values = cut->values,
                              .n_values = cut->n_values,
                              .outputs = given,
                              .judged = true};
    enum odb_status status = odb_probe_run(&m->prober, &probe, &why);
    if (status == ODB_CANCELLED) {
        *err = why;
    } else if (status != ODB_OK) {
        status = minimise_ended(m, &m->prober, &probe, status, &why, false, &cut->shown, err);
        *answer = odb_signature_match(&m->sought, &cut->shown);
    } else {
        status = shrink_look(m, cut, given, answer, err);
    }
    odb_probe_tell(&m->prober, &probe,
                   status != ODB_OK             ? ODB_VERDICT_UNTESTED
                   : *answer == ODB_ANSWER_GOOD ? ODB_VERDICT_PASS
                   : *answer == ODB_ANSWER_BAD  ? cut->shown.verdict
                                                : ODB_VERDICT_UNTESTABLE,
                   0);
    odb_probe_drop(&m->prober, &probe);
    free(given);
    return status;
}

/* Whether a search would say so of the cut as a model of its own; one that cannot be cut out is
 * believed. */
static enum odb_status shrink_prove(const struct minimisation *m, const struct minimise_cut *cut,
                                    bool *fails, struct odb_error *err)
{
    struct subject subject;
    struct odb_error why = ODB_ERROR_INIT;
    *fails = true;
    enum odb_status status = minimise_subject(m, cut, &subject, &why);
    if (status != ODB_OK) {
        if (status == ODB_CANCELLED)
            *err = why;
        return status == ODB_CANCELLED ? status : ODB_OK;
    }
    status = subject_fails(fails, m, &subject, err);
    subject_dispose(&subject);
    return status;
}

/* Asks about the wanted nodes that the values depend on; keeps the smallest that fails and the
 * largest that passes. */
static enum odb_status shrink_ask(struct minimisation *m, const bool *wanted, const int *values,
                                  size_t n_values, const char *what, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct minimise_cut cut = shrink_cut(m, wanted, values, n_values);
    enum odb_status status = ODB_OK;
    char title[300];
    *answer = ODB_ANSWER_GOOD;
    if (cut.n_values) { /* else all is fed */
        int first = 0;
        while (!cut.nodes[first])
            first++;
        odb_probe_title(m->graph, what, first,
                        m->graph->values[cut.values[cut.n_values - 1]].producer, title,
                        sizeof title);
        status = minimise_spend(m, err);
        if (status == ODB_OK)
            status = shrink_run(m, &cut, title, answer, err);
    }
    bool smaller = cut.n_nodes < m->best.n_nodes ||
                   (cut.n_nodes == m->best.n_nodes && cut.n_values < m->best.n_values);
    struct minimise_cut *into = NULL;
    if (status == ODB_OK && *answer == ODB_ANSWER_BAD && smaller && m->strict) {
        bool fails;
        status = shrink_prove(m, &cut, &fails, err);
        *answer = fails ? ODB_ANSWER_BAD : ODB_ANSWER_UNTESTABLE;
    }
    if (status == ODB_OK && *answer == ODB_ANSWER_BAD && smaller)
        into = &m->best;
    if (status == ODB_OK && *answer == ODB_ANSWER_GOOD && cut.n_nodes > m->good.n_nodes)
        into = &m->good;
    if (into) {
        minimise_cut_dispose(into);
        *into = cut;
    } else {
        minimise_cut_dispose(&cut);
    }
    return status;
}

/* --- the beginning ---------------------------------------------------------------------------- */

enum odb_status minimise_first_cut(struct minimisation *m, int from_node, int to_node,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = m->graph;
    bool segment = from_node != ODB_NO_NODE;
    const struct odb_node *last = segment ? &graph->nodes[to_node] : NULL;
    size_t n = segment ? (size_t)last->n_out : graph->n_outputs, n_values = 0;
    const int *from = segment ? last->out : graph->outputs;
    int *values = odb_new_n(int, n + 1);
    bool *wanted = odb_new_n(bool, graph->n_nodes + 1);
    for (size_t i = 0; i < n; i++)
        if (from[i] >= 0 && odb_probe_reads(graph, m->trace, from[i]))
            values[n_values++] = from[i];
    for (size_t i = 0; i < graph->n_nodes; i++)
        wanted[i] = !segment || ((int)i >= from_node && (int)i <= to_node);
    for (size_t v = 0; v < graph->n_values; v++)
        if (odb_trace_drawn(m->trace, (int)v)) /* fed to every probe */
            wanted[graph->values[v].producer] = false;
    m->best = shrink_cut(m, wanted, values, n_values);
    free(values);
    free(wanted);
    if (m->best.n_values)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "nothing that %s makes can be read from the target",
             segment ? "the last of these nodes" : "the model");
    return odb_error_remedy(err, "name another NODE to begin with");
}

/* The output that is worst: what is no number first, then by error over noise. */
static enum odb_status shrink_worst(struct minimisation *m, struct odb_tensor *const *given,
                                    struct odb_signature *worst, int *value, struct odb_error *err)
{
    double most = -1;
    *value = ODB_NO_VALUE;
    for (size_t i = 0; i < m->best.n_values; i++) {
        struct odb_value_report report = {0};
        int v = m->best.values[i];
        ODB_TRY(odb_judge_value(&m->judge, v, given[i], &report, err));
        double excess = report.verdict != ODB_VERDICT_FAIL         ? HUGE_VAL
                        : !report.error.known                      ? 0
                        : report.noise.known && report.noise.v > 0 ? report.error.v / report.noise.v
                                                                   : report.error.v;
        if (!odb_verdict_is_bad(report.verdict) || excess <= most)
            continue;
        most = excess;
        *value = v;
        odb_signature_value(worst, m->graph->values[v].name, &report, given[i], m->trace->ref[v]);
    }
    return ODB_OK;
}

/* Runs it once: ODB_OK with what it shows, pass included. A refusal is an error. */
static enum odb_status shrink_first(struct minimisation *m, bool again, struct odb_signature *shown,
                                    int *value, struct odb_error *err)
{
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, m->best.n_values + 1);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_WHOLE,
                              .what = again ? "the same again" : "what is to be minimised",
                              .node = ODB_NO_NODE,
                              .nodes = m->best.nodes,
                              .values = m->best.values,
                              .n_values = m->best.n_values,
                              .outputs = given,
                              .judged = true};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = minimise_spend(m, err);
    if (status == ODB_OK) {
        enum odb_status had = odb_probe_run(&m->prober, &probe, &why);
        *value = ODB_NO_VALUE;
        status = minimise_ended(m, &m->prober, &probe, had, &why, true, shown, err);
        if (status == ODB_OK && had == ODB_OK) {
            status = shrink_worst(m, given, shown, value, err);
        } else if (status == ODB_OK && !odb_verdict_is_bad(shown->verdict)) {
            *err = why;
            status = had;
        }
        odb_probe_tell(&m->prober, &probe,
                       status == ODB_OK ? shown->verdict : odb_probe_verdict(status), 0);
    }
    odb_probe_drop(&m->prober, &probe);
    free(given);
    return status;
}

enum odb_status minimise_begin(struct minimisation *m, struct odb_error *err)
{
    struct odb_signature again;
    int value;
    ODB_TRY(minimise_first_cut(m, ODB_NO_NODE, ODB_NO_NODE, err));
    minimise_step_begin(m, "what is to be minimised");
    ODB_TRY(shrink_first(m, false, &m->sought, &m->value, err));
    m->best.shows = m->value;
    m->best.shown = m->sought;
    ODB_TRY(odb_fails(&m->out->failed, m->model, m->feeds, m->trace, &m->options->search,
                      m->sought.verdict, err));
    m->out->signature = m->sought;
    if (!m->out->failed)
        return ODB_OK;
    ODB_TRY(shrink_first(m, true, &again, &value, err));
    if (value != m->value || odb_signature_match(&m->sought, &again) != ODB_ANSWER_BAD)
        minimise_note(m,
                      "a second, equal run did not fail in the same way (%s): what is found may "
                      "not fail every time",
                      odb_verdict_name(again.verdict));
    minimise_step_end(m, "whole", "%s", m->model == m->whole ? "" : "the nodes to begin with");
    return ODB_OK;
}

/* --- searching among cuts --------------------------------------------------------------------- */

/* The model as a graph for odb_search(), as it is or turned around, without what leads into the
 * nodes of the best cut or from them: that is fed. */
struct shrink_dag {
    struct minimisation *m;
    bool backwards;
    struct odb_dag dag; /* owned */
    bool *from;         /* owned: the nodes of the cut at the beginning */
};

static void shrink_dag_dispose(struct shrink_dag *dag)
{
    odb_dag_dispose(&dag->dag);
    free(dag->from);
}

static struct shrink_dag shrink_dag_new(struct minimisation *m, bool backwards)
{
    const struct odb_graph *graph = m->graph;
    struct shrink_dag dag = {.m = m, .backwards = backwards};
    bool *fed = odb_new_n(bool, graph->n_values + 1);
    dag.from = odb_xmemdup(m->best.nodes, (graph->n_nodes + 1) * sizeof *m->best.nodes);
    for (size_t v = 0; v < graph->n_values; v++)
        fed[v] = graph->values[v].producer != ODB_NO_NODE && !dag.from[graph->values[v].producer];
    dag.dag = odb_dag_of(graph, fed);
    free(fed);
    if (!backwards)
        return dag;
    struct odb_dag turned = odb_dag_reverse(&dag.dag);
    odb_dag_dispose(&dag.dag);
    dag.dag = turned;
    return dag;
}

/* The node of the model; turning round twice is not turning. */
static int shrink_node(const struct shrink_dag *dag, int node)
{
    return dag->backwards ? (int)dag->dag.n - 1 - node : node;
}

/* What the nodes of a cut lead to, within the graph. */
static bool *shrink_from(const struct shrink_dag *dag, const struct odb_cut *cut)
{
    const struct odb_graph *graph = dag->m->graph;
    bool *marks = odb_new_n(bool, graph->n_nodes + 1);
    for (size_t i = 0; i < cut->n; i++)
        marks[shrink_node(dag, cut->nodes[i])] = true;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (int o = 0; marks[n] && o < graph->nodes[n].n_out; o++) {
            int v = graph->nodes[n].out[o];
            for (size_t c = 0; v >= 0 && c < graph->values[v].n_consumers; c++)
                marks[graph->values[v].consumers[c]] = dag->from[graph->values[v].consumers[c]];
        }
    return marks;
}

/* Values of a node that are read. Owned by the caller. */
static int *shrink_values(const struct minimisation *m, int node, size_t *n)
{
    const struct odb_node *of = &m->graph->nodes[node];
    int *values = odb_new_n(int, of->n_out + 1);
    *n = 0;
    for (int o = 0; o < of->n_out; o++)
        if (of->out[o] >= 0 && odb_probe_wants(m->graph, m->trace, of->out[o]))
            values[(*n)++] = of->out[o];
    return values;
}

/* The same of all nodes that end a cut. */
static int *shrink_ends(const struct shrink_dag *dag, const struct odb_cut *cut, size_t *n)
{
    int *all = odb_new_n(int, dag->m->graph->n_values + 1);
    *n = 0;
    for (size_t i = 0; i < cut->n; i++) {
        size_t some;
        int *values = shrink_values(dag->m, shrink_node(dag, cut->nodes[i]), &some);
        memcpy(all + *n, values, some * sizeof *all);
        *n += some;
        free(values);
    }
    return all;
}

static enum odb_status shrink_oracle(void *payload, const struct odb_cut *cut,
                                     struct odb_evidence *evidence, struct odb_error *err)
{
    const struct shrink_dag *dag = payload;
    struct minimisation *m = dag->m;
    enum odb_status status = ODB_OK;
    if (m->limit && m->out->probes >= m->limit) {
        m->enough = true;
        return odb_fail(err, ODB_SKIPPED, "too many cuts tell nothing");
    }
    if (dag->backwards) {
        bool *wanted = shrink_from(dag, cut);
        int *values = odb_xmemdup(m->best.values, (m->best.n_values + 1) * sizeof *values);
        status = shrink_ask(m, wanted, values, m->best.n_values, "minimise: from",
                            &evidence[0].answer, err);
        free(values);
        free(wanted);
        return status;
    }
    size_t n_values;
    int *values = shrink_ends(dag, cut, &n_values);
    if (n_values)
        status =
            shrink_ask(m, dag->from, values, n_values, "minimise: up to", &evidence[0].answer, err);
    free(values);
    return status;
}

/* Most cuts say something; a search in which they do not ends after a few more than it would take.
 */
static size_t shrink_limit(const struct minimisation *m)
{
    size_t limit = 24;
    for (size_t n = m->best.n_nodes; n > 1; n /= 2)
        limit += 3;
    return m->out->probes + limit;
}

static enum odb_status shrink_search(struct minimisation *m, bool backwards, struct odb_error *err)
{
    struct shrink_dag dag = shrink_dag_new(m, backwards);
    struct odb_oracle oracle = {.ask = shrink_oracle, .payload = &dag};
    struct odb_search_options options = {.joint = true};
    struct odb_search_result result;
    bool *suspects = odb_new_n(bool, dag.dag.n + 1);
    for (size_t i = 0; i < dag.dag.n; i++)
        suspects[i] = dag.from[shrink_node(&dag, (int)i)];
    m->limit = shrink_limit(m);
    enum odb_status status = odb_search(&dag.dag, suspects, &oracle, &options, &result, err);
    if (status == ODB_SKIPPED && m->enough)
        status = ODB_OK;
    m->limit = 0;
    m->enough = false;
    free(suspects);
    shrink_dag_dispose(&dag);
    return status;
}

/* --- the steps -------------------------------------------------------------------------------- */

/* Values that do not show the failure are not read any more, if it goes without them. */
static enum odb_status shrink_settle(struct minimisation *m, struct odb_error *err)
{
    enum odb_answer ignored;
    int value =
        m->best.shows == ODB_NO_VALUE ? m->best.values[m->best.n_values - 1] : m->best.shows;
    if (m->best.n_values == 1)
        return ODB_OK;
    bool *wanted = odb_xmemdup(m->best.nodes, (m->graph->n_nodes + 1) * sizeof *wanted);
    enum odb_status status =
        shrink_ask(m, wanted, &value, 1, "minimise: one output of", &ignored, err);
    free(wanted);
    return status;
}

static enum odb_status shrink_outputs(struct minimisation *m, struct odb_error *err)
{
    minimise_step_begin(m, "moving the outputs back");
    ODB_TRY(shrink_settle(m, err));
    if (m->best.n_nodes > 1)
        ODB_TRY(shrink_search(m, false, err));
    ODB_TRY(shrink_settle(m, err));
    minimise_step_end(m, "outputs back", "read at %s", m->graph->values[m->best.values[0]].name);
    return ODB_OK;
}

static enum odb_status shrink_inputs(struct minimisation *m, struct odb_error *err)
{
    minimise_step_begin(m, "moving the inputs forward");
    if (m->best.n_nodes > 1)
        ODB_TRY(shrink_search(m, true, err));
    minimise_step_end(m, "inputs forward", "fed with the reference's values");
    return ODB_OK;
}

struct shrink_nodes {
    struct minimisation *m;
    int *list; /* owned; [n] those of the best cut at the beginning */
    size_t n;
};

static enum odb_status shrink_ddmin_ask(void *payload, bool *keep, enum odb_answer *answer,
                                        struct odb_error *err)
{
    const struct shrink_nodes *nodes = payload;
    struct minimisation *m = nodes->m;
    bool *wanted = odb_new_n(bool, m->graph->n_nodes + 1);
    int *values = odb_xmemdup(m->best.values, (m->best.n_values + 1) * sizeof *values);
    for (size_t i = 0; i < nodes->n; i++)
        wanted[nodes->list[i]] = keep[i];
    enum odb_status status =
        shrink_ask(m, wanted, values, m->best.n_values, "minimise: without some of", answer, err);
    for (size_t i = 0; status == ODB_OK && *answer == ODB_ANSWER_BAD && i < nodes->n; i++)
        keep[i] = m->best.nodes[nodes->list[i]]; /* those that nothing depends on are gone, too */
    free(values);
    free(wanted);
    return status;
}

static enum odb_status shrink_nodes(struct minimisation *m, struct odb_error *err)
{
    minimise_step_begin(m, "taking nodes out");
    struct shrink_nodes nodes = {.m = m, .list = odb_new_n(int, m->best.n_nodes + 1)};
    struct odb_ddmin question = {shrink_ddmin_ask, &nodes, 0};
    for (size_t i = 0; i < m->graph->n_nodes; i++)
        if (m->best.nodes[i])
            nodes.list[nodes.n++] = (int)i;
    bool *keep = odb_new_n(bool, nodes.n + 1);
    memset(keep, true, nodes.n * sizeof *keep);
    enum odb_status status = nodes.n > 1 ? odb_ddmin(keep, nodes.n, &question, err) : ODB_OK;
    free(keep);
    free(nodes.list);
    ODB_TRY(status);
    minimise_step_end(m, "nodes out", "what they made is fed");
    return ODB_OK;
}

/* What fails with its neighbours may fail alone where a search did not look, because something on
 * the way hid it. */
static enum odb_status shrink_alone(struct minimisation *m, struct odb_error *err)
{
    bool *from = odb_xmemdup(m->best.nodes, (m->graph->n_nodes + 1) * sizeof *from);
    bool *wanted = odb_new_n(bool, m->graph->n_nodes + 1);
    enum odb_status status = ODB_OK;
    minimise_step_begin(m, "trying nodes alone");
    m->single = true;
    for (size_t n = 0; n < m->graph->n_nodes && m->best.n_nodes > 1 && status == ODB_OK; n++) {
        enum odb_answer ignored;
        size_t n_values;
        if (!from[n])
            continue;
        int *values = shrink_values(m, (int)n, &n_values);
        wanted[n] = true;
        if (n_values)
            status = shrink_ask(m, wanted, values, n_values, "minimise: alone", &ignored, err);
        wanted[n] = false;
        free(values);
    }
    m->single = false;
    free(from);
    free(wanted);
    ODB_TRY(status);
    if (m->best.n_nodes == 1 && odb_verdict_misfits(m->best.shown.verdict))
        minimise_note(m,
                      "what is left makes another %s by itself; whether all of the failure at "
                      "the start comes of that is not known",
                      odb_verdict_name(m->best.shown.verdict));
    minimise_step_end(m, "alone", "%s", m->best.n_nodes > 1 ? "none of them fails" : "");
    return ODB_OK;
}

static enum odb_status shrink_steps(struct minimisation *m, struct odb_error *err)
{
    ODB_TRY(shrink_outputs(m, err));
    ODB_TRY(shrink_inputs(m, err));
    ODB_TRY(shrink_nodes(m, err));
    if (m->best.n_nodes > 1 && m->best.n_nodes <= SHRINK_ALONE)
        ODB_TRY(shrink_alone(m, err));
    return shrink_settle(m, err);
}

enum odb_status minimise_shrink(struct minimisation *m, struct odb_error *err)
{
    bool fails;
    ODB_TRY(shrink_steps(m, err));
    ODB_TRY(shrink_prove(m, &m->best, &fails, err));
    if (fails)
        return ODB_OK;
    m->strict = true;
    minimise_step_begin(m, "beginning again");
    minimise_cut_dispose(&m->best);
    minimise_cut_dispose(&m->good);
    ODB_TRY(minimise_first_cut(m, ODB_NO_NODE, ODB_NO_NODE, err));
    m->best.shows = m->value;
    m->best.shown = m->sought;
    minimise_step_end(m, "again", "a search lets off what was left; each cut is searched now");
    return shrink_steps(m, err);
}

/* --- as a model ------------------------------------------------------------------------------- */

static const struct odb_tensor *shrink_fed(const struct minimisation *m, int value)
{
    return m->own && m->own[value] ? m->own[value] : odb_trace_value(m->trace, value);
}

static enum odb_status shrink_feeds(const struct minimisation *m, const int *inputs, size_t n,
                                    const struct odb_model *model, struct odb_feeds **out,
                                    struct odb_error *err)
{
    struct odb_feeds *feeds = odb_feeds_new(model);
    *out = feeds;
    for (size_t i = 0; i < n; i++) {
        const struct odb_value *value = &m->graph->values[inputs[i]];
        const struct odb_tensor *t = shrink_fed(m, inputs[i]);
        if (!t)
            return odb_fail(err, ODB_UNSUPPORTED, "the reference cannot compute %s", value->name);
        const char *source = value->producer == ODB_NO_NODE   ? "the whole model's input"
                             : m->own && m->own[value->index] ? "the target"
                                                              : "the reference";
        for (size_t f = 0; f < m->feeds->n; f++)
            if (m->feeds->items[f].value == inputs[i])
                source = m->feeds->items[f].source;
        odb_feeds_add(feeds, model->graph->inputs[i], t, source);
    }
    return ODB_OK;
}

static struct odb_port shrink_port(const struct minimisation *m, int value)
{
    return (struct odb_port){.value = value,
                             .like = odb_trace_like(m->trace, value),
                             .symbolic = m->trace->dynamic[value]};
}

enum odb_status minimise_subject(const struct minimisation *m, const struct minimise_cut *cut,
                                 struct subject *out, struct odb_error *err)
{
    const struct odb_graph *graph = m->graph;
    int *inputs = odb_new_n(int, graph->n_values + 1);
    size_t n = odb_feeds_border(m->feeds, graph, cut->nodes, inputs);
    struct odb_port *in = odb_new_n(struct odb_port, n + 1);
    struct odb_port *ports = odb_new_n(struct odb_port, cut->n_values + 1);
    struct odb_buf bytes = ODB_BUF_INIT;
    *out = (struct subject){0};
    for (size_t i = 0; i < n; i++) {
        in[i] = shrink_port(m, inputs[i]);
        in[i].like = shrink_fed(m, inputs[i]);
    }
    for (size_t o = 0; o < cut->n_values; o++) {
        ports[o] = shrink_port(m, cut->values[o]);
        out->at = cut->values[o] == cut->shows ? o : out->at;
    }
    struct odb_extract what = {.nodes = cut->nodes,
                               .inputs = in,
                               .n_inputs = n,
                               .outputs = ports,
                               .n_outputs = cut->n_values,
                               .weights = ODB_WEIGHTS_INLINE,
                               .declared = !odb_executor_fixed(m->options->search.target),
                               .plain_debug = true,
                               .record_nodes = true};
    enum odb_status status = odb_model_extract(m->model, &what, &bytes, err);
    if (status == ODB_OK)
        status = odb_model_open_bytes(&out->model, bytes.data, bytes.len, NULL, "", "", err);
    if (status == ODB_OK)
        status = shrink_feeds(m, inputs, n, out->model, &out->feeds, err);
    if (status != ODB_OK)
        subject_dispose(out);
    odb_buf_dispose(&bytes);
    free(inputs);
    free(in);
    free(ports);
    return status;
}
