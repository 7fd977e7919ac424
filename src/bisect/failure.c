/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "search/search.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* --- at the value where it was seen ----------------------------------------------------------- */

static struct odb_signature failure_sign(const struct search_case *c, int value,
                                         const struct odb_value_report *report,
                                         const struct odb_tensor *t)
{
    struct odb_signature signature;
    odb_signature_value(&signature, NULL, report, t, c->trace->golden[value]);
    return signature;
}

struct failure failure_at(const struct search_case *c, struct findings *f, int value,
                          const struct odb_value_report *report, const struct odb_tensor *t)
{
    struct failure x = {.c = c, .f = f, .value = value, .other = ODB_NO_NODE};
    if (odb_verdict_is_bad(report->verdict))
        x.sought = failure_sign(c, value, report, t);
    else
        x.value = ODB_NO_VALUE;
    return x;
}

struct failure failure_of(const struct search_case *c, struct findings *f, int value)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (c->outputs[o] == value) /* with culprits pinned it is another model's run */
            return failure_at(c, f, value, &f->verdicts[o], c->pinned ? NULL : f->plain[o]);
    if (value != ODB_NO_VALUE)
        return failure_at(c, f, value, &f->values[value], f->given[value]);
    return (struct failure){.c = c, .f = f, .value = ODB_NO_VALUE, .other = ODB_NO_NODE};
}

static bool failure_is(const struct failure *f, struct odb_signature shown)
{
    struct odb_signature sought = f->sought;
    if (!sought.odd || !shown.odd) /* it was not kept which kinds they were */
        sought.odd = shown.odd = 0;
    if (sought.verdict == ODB_VERDICT_FAIL && sought.error == 0) /* nor how much it was */
        return shown.verdict == ODB_VERDICT_FAIL;
    return odb_signature_match(&sought, &shown) == ODB_ANSWER_BAD;
}

static void failure_note_other(struct failure *f, int node, const char *how)
{
    if (!f->others++) {
        f->other = node;
        snprintf(f->how, sizeof f->how, "%s", how);
    }
}

enum odb_answer failure_shown(struct failure *x, int node, const struct odb_value_report *report,
                              const struct odb_tensor *t)
{
    enum odb_answer answer = question_answer(report->verdict);
    if (answer != ODB_ANSWER_BAD || x->value == ODB_NO_VALUE ||
        failure_is(x, failure_sign(x->c, x->value, report, t)))
        return answer;
    failure_note_other(x, node, odb_verdict_name(report->verdict));
    return ODB_ANSWER_GOOD;
}

void failure_died(struct failure *f, int node, enum odb_status had)
{
    failure_note_other(f, node, odb_verdict_name(odb_probe_verdict(had)));
}

/* --- carried on from a cut -------------------------------------------------------------------- */

/* Values of the target at a cut, to be put in the reference's place. */
struct failure_cut {
    int *values; /* owned */
    size_t n;
};

/* The outputs of nodes of a question that are wrong; node: of that alone, or ODB_NO_NODE. */
static struct failure_cut failure_cut_of(const struct search_case *c, const struct findings *f,
                                         const struct odb_probe *probe, int node)
{
    struct failure_cut cut = {odb_new_n(int, probe->n_values + 1), 0};
    for (size_t i = 0; i < probe->n_values; i++) {
        int v = probe->values[i];
        if (f->given[v] && odb_verdict_is_bad(f->values[v].verdict) &&
            (node == ODB_NO_NODE || c->graph->values[v].producer == node))
            cut.values[cut.n++] = v;
    }
    return cut;
}

/* Marks the nodes between the cut and the failure's value that read what the cut has changed, and
 * the values that change with them. */
static bool *failure_behind(const struct failure *x, const struct failure_cut *cut, bool *touched)
{
    const struct search_case *c = x->c;
    bool *behind = odb_new_n(bool, c->graph->n_nodes), *up = odb_new_n(bool, c->graph->n_nodes);
    odb_graph_ancestors(c->graph, &x->value, 1, c->drawn, up);
    for (size_t i = 0; i < cut->n; i++)
        touched[cut->values[i]] = true;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (size_t i = 0; up[n] && i < odb_node_n_reads(node); i++)
            behind[n] |= odb_node_reads(node, i) >= 0 && touched[odb_node_reads(node, i)];
        for (int o = 0; behind[n] && o < node->n_out; o++)
            if (node->out[o] >= 0 && !c->drawn[node->out[o]])
                touched[node->out[o]] = true;
    }
    for (size_t i = 0; i < cut->n; i++) /* one of the cut's own may stand behind another */
        behind[c->graph->values[cut->values[i]].producer] = false;
    free(up);
    return behind;
}

/* What the cut's values come to where the failure was seen, were all the rest the reference's. */
static enum odb_status failure_carry(const struct failure *x, const struct failure_cut *cut,
                                     struct odb_tensor *const *given,
                                     struct odb_value_report *report, struct odb_error *err)
{
    const struct search_case *c = x->c;
    size_t n = c->graph->n_values;
    bool *touched = odb_new_n(bool, n), *behind = failure_behind(x, cut, touched);
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, n);
    struct odb_cpu_run run = {.precision = c->trace->precision,
                              .seed = c->trace->seed,
                              .values = values,
                              .nodes = behind,
                              .cancelled = c->options->hooks.cancelled,
                              .payload = c->options->hooks.payload};
    for (size_t v = 0; v < n; v++)
        if (!touched[v])
            values[v] = odb_tensor_ref(odb_trace_value(c->trace, (int)v));
    for (size_t i = 0; i < cut->n; i++)
        values[cut->values[i]] = odb_tensor_ref(given[cut->values[i]]);
    *report = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = odb_cpu_execute(c->trace->cpu, &run, err);
    if (status == ODB_OK && values[x->value])
        status = odb_judge_value(&c->judge, x->value, values[x->value], report, err);
    for (size_t v = 0; v < n; v++)
        odb_tensor_unref(values[v]);
    free(values);
    free(behind);
    free(touched);
    return status;
}

enum odb_status failure_carried(const struct failure *f, const int *values, size_t n,
                                struct odb_tensor *const *given, struct odb_value_report *report,
                                struct odb_error *err)
{
    struct failure_cut cut = {odb_xmemdup(values, n * sizeof *values), n};
    enum odb_status status = failure_carry(f, &cut, given, report, err);
    free(cut.values);
    return status;
}

/* The same on the target: what comes to NaN or Inf on the reference may end in numbers there. */
static enum odb_status failure_carry_on_target(const struct failure *x, int node,
                                               const struct failure_cut *cut,
                                               enum odb_verdict *verdict, struct odb_error *err)
{
    const struct search_case *c = x->c;
    struct findings *f = x->f;
    size_t n = c->graph->n_values;
    bool *touched = odb_new_n(bool, n), *behind = failure_behind(x, cut, touched);
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, n), *output = NULL; /* borrowed */
    char what[240];
    struct odb_probe probe = {
        .asked = ODB_PROBE_KIND_FOLLOWS,
        .what = odb_probe_title(c->graph, "what follows from it:", node, node, what, sizeof what),
        .node = node,
        .nodes = behind,
        .given = given,
        .values = &x->value,
        .n_values = 1,
        .outputs = &output,
        .judged = true,
        .any = true};
    for (size_t i = 0; i < cut->n; i++)
        given[cut->values[i]] = f->given[cut->values[i]];
    enum odb_status status = question_ask(c, f, &probe, verdict, err);
    free(given);
    free(behind);
    free(touched);
    return status;
}

static bool failure_is_odd(enum odb_verdict verdict)
{
    return verdict == ODB_VERDICT_NAN;
}

/* Some of the cut's values are NaN or Inf where the reference's are not. */
static bool failure_cut_is_odd(const struct failure *x, const struct failure_cut *cut)
{
    bool odd = false;
    for (size_t i = 0; i < cut->n; i++)
        odd |= failure_is_odd(x->f->values[cut->values[i]].verdict);
    return odd;
}

/* Whether the cut's wrong values are the failure. Numbers are where numbers are sought: a part of
 * what is wrong may go another way, so that how much comes out says nothing. */
static enum odb_status failure_of_cut(const struct failure *x, int node,
                                      const struct failure_cut *cut, enum odb_answer *answer,
                                      struct odb_error *err)
{
    struct odb_value_report report;
    bool odd = failure_cut_is_odd(x, cut), sought = failure_is_odd(x->sought.verdict);
    *answer = ODB_ANSWER_BAD;
    if (!odd && !sought)
        return ODB_OK;
    ODB_TRY(failure_carry(x, cut, x->f->given, &report, err));
    bool numbers = report.verdict == ODB_VERDICT_PASS || report.verdict == ODB_VERDICT_FAIL;
    if (sought) {
        *answer = numbers ? ODB_ANSWER_GOOD : ODB_ANSWER_BAD;
    } else if (report.verdict == ODB_VERDICT_PASS) {
        *answer = ODB_ANSWER_GOOD;
    } else if (failure_is_odd(report.verdict)) {
        enum odb_verdict verdict;
        ODB_TRY(failure_carry_on_target(x, node, cut, &verdict, err));
        *answer = verdict == ODB_VERDICT_FAIL   ? ODB_ANSWER_BAD
                  : verdict == ODB_VERDICT_PASS ? ODB_ANSWER_GOOD
                                                : ODB_ANSWER_UNTESTABLE;
    }
    return ODB_OK;
}

/* A node of a cut shows another failure: by its first wrong output. */
static void failure_other_at(struct failure *x, int node, enum odb_answer answer)
{
    const struct search_case *c = x->c;
    struct findings *f = x->f;
    const struct odb_node *of = &c->graph->nodes[node];
    int o = 0;
    while (of->out[o] < 0 || !odb_verdict_is_bad(f->values[of->out[o]].verdict))
        o++;
    failure_note_other(x, node, odb_verdict_name(f->values[of->out[o]].verdict));
    if (answer == ODB_ANSWER_GOOD) /* else it may be the cut's doing */
        odb_push(&f->others, of->out[o]);
}

enum odb_status failure_weigh(struct failure *x, const struct question *q,
                              struct odb_evidence *evidence, struct odb_error *err)
{
    size_t bad = 0, same = 0;
    enum odb_status status = ODB_OK;
    bool numbers = x->sought.verdict == ODB_VERDICT_FAIL || x->sought.verdict == ODB_VERDICT_NAN;
    if (x->value == ODB_NO_VALUE || !numbers)
        return ODB_OK;
    enum odb_answer *answers = odb_new_n(enum odb_answer, q->n_cut);
    for (size_t i = 0; i < q->n_cut && status == ODB_OK; i++) {
        if (evidence[i].answer != ODB_ANSWER_BAD)
            continue;
        struct failure_cut cut = failure_cut_of(x->c, x->f, &q->probe, q->cut[i]);
        status = failure_of_cut(x, q->cut[i], &cut, &answers[i], err);
        free(cut.values);
        bad++;
        same += answers[i] == ODB_ANSWER_BAD;
    }
    if (bad > 1 && !same && status == ODB_OK) { /* it may take all of them */
        enum odb_answer together;
        struct failure_cut cut = failure_cut_of(x->c, x->f, &q->probe, ODB_NO_NODE);
        status = failure_of_cut(x, q->probe.node, &cut, &together, err);
        same = together == ODB_ANSWER_BAD ? bad : 0;
        free(cut.values);
        for (size_t i = 0; i < q->n_cut && same; i++)
            answers[i] = ODB_ANSWER_BAD;
    }
    for (size_t i = 0; i < q->n_cut && status == ODB_OK; i++)
        if (evidence[i].answer == ODB_ANSWER_BAD && answers[i] != ODB_ANSWER_BAD) {
            failure_other_at(x, q->cut[i], answers[i]);
            evidence[i].answer = answers[i];
        }
    free(answers);
    return status;
}

enum odb_status failure_explain(const struct failure *x, int node, struct odb_error *err)
{
    const struct odb_node *of = &x->c->graph->nodes[node];
    struct odb_value_report report = {.verdict = ODB_VERDICT_UNTESTABLE};
    enum odb_status status = ODB_OK;
    if (x->value == ODB_NO_VALUE)
        return ODB_OK;
    struct failure_cut cut = {odb_new_n(int, of->n_out + 1), 0};
    for (int o = 0; o < of->n_out; o++)
        if (of->out[o] >= 0 && x->f->given[of->out[o]])
            cut.values[cut.n++] = of->out[o];
    if (cut.n)
        status = failure_carry(x, &cut, x->f->given, &report, err);
    free(cut.values);
    struct odb_signature shown = failure_sign(x->c, x->value, &report, NULL);
    if (status != ODB_OK || shown.verdict == ODB_VERDICT_UNTESTABLE || failure_is(x, shown))
        return status;
    struct odb_buf came = ODB_BUF_INIT, sought = ODB_BUF_INIT;
    odb_signature_put(&shown, &came);
    odb_signature_put(&x->sought, &sought);
    findings_note(x->f,
                  "what #%d gives comes to %.100s at %.100s, where the target shows %.150s: it "
                  "is not all that is wrong",
                  node, odb_buf_text(&came), x->c->graph->values[x->value].name,
                  odb_buf_text(&sought));
    odb_buf_dispose(&came);
    odb_buf_dispose(&sought);
    return ODB_OK;
}

void failure_warn(const struct failure *x)
{
    struct odb_buf node = ODB_BUF_INIT;
    if (!x->others)
        return;
    odb_node_put(x->c->graph, x->other, &node);
    findings_warn(x->f,
                  "%zu cut%s failed in another way than %.100s (%s at %.200s): no evidence of "
                  "this failure, and maybe another one",
                  x->others, x->others == 1 ? "" : "s",
                  x->value == ODB_NO_VALUE ? "the model does" : x->c->graph->values[x->value].name,
                  x->how, odb_buf_text(&node));
    odb_buf_dispose(&node);
}
