/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that lacks an operator refuses the whole model, and can be judged all the same but for
 * that operator: its nodes are left out, and what they make is the reference's, as draws are. So
 * the rest is one model still, a run of which judges all of it, and only the borders between what
 * the target itself would have joined are not seen.
 *
 * Nodes that are refused are found one after another, as the ends of the smallest prefixes that
 * are, until the target takes the rest. Others of the operator that look alike are asked for by a
 * few of them, alone. Those that the target runs at its plainest are left out likewise, and are no
 * lack but a failure (broken.c).
 */

#include "bisect/strategy/run.h"
#include "bisect/refusal/refused.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/strategy/hunt.h"
#include "bisect/strategy/isolated.h"
#include "bisect/refusal/broken.h"
#include "report/report.h"
#include "search/search.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "model/text/model_text.h"

#define REFUSED_WITNESSES                                                                          \
    3                    /* of nodes that look alike; where all are refused, so are the others     \
                          */
#define REFUSED_ROUNDS 8 /* searches for a node, and more where they are less than asking all */

/* --- taking nodes out ------------------------------------------------------------------------- */

/* The node is left out, and what it makes is fed from here on. What the reference does not make
 * either cannot be: the nodes that read that are left out as well. */
static void refused_leave_out(struct search_case_made *rest, struct findings *f, int node)
{
    const struct search_case *c = &rest->is;
    const struct odb_graph *graph = c->graph;
    rest->beyond[node] = true;
    for (size_t i = (size_t)node; i < graph->n_nodes; i++)
        for (int o = 0; c->beyond[i] && o < graph->nodes[i].n_out; o++) {
            int v = graph->nodes[i].out[o];
            if (v < 0 || c->drawn[v])
                continue;
            if (c->trace->ref[v]) {
                rest->fed[v] = rest->drawn[v] = true;
                findings_give(f, v, c->trace->ref[v]);
                continue;
            }
            for (size_t k = 0; k < graph->values[v].n_consumers; k++)
                rest->beyond[graph->values[v].consumers[k]] = true;
        }
}

static void refused_push(struct search_case_made *rest, struct findings *f,
                         struct odb_refused refused)
{
    refused_leave_out(rest, f, refused.node);
    odb_push(&findings_pieces(f)->refused, refused);
}

/* Whether some are that the target does not run at its plainest, as far as that is known. */
static bool refused_lacks(const struct findings *f)
{
    bool lacks = false;
    for (size_t i = 0; i < f->report->pieces.refused.n; i++)
        lacks |= !f->report->pieces.refused.items[i].runs;
    return lacks;
}

/* Each of them runs alone, so that the target may be at fault: with other options it could be
 * asked.
 */
static void refused_note_open(struct findings *f)
{
    bool together = false;
    for (size_t i = 0; i < f->report->pieces.refused.n; i++)
        together |= f->report->pieces.refused.items[i].how == ODB_REFUSED_TOGETHER;
    if (together && broken_is_open(f))
        findings_note(f, "what runs alone and is refused together may be the target's fault: name "
                         "its plainest options with plain=SPEC, and it is asked again with those");
}

/* --- nodes that look alike -------------------------------------------------------------------- */

static bool refused_same_operator(const struct odb_node *a, const struct odb_node *b)
{
    return !strcmp(a->op_type, b->op_type) && !strcmp(a->domain, b->domain);
}

static bool refused_same_attributes(const struct odb_node *a, const struct odb_node *b)
{
    bool same = a->attrs.n == b->attrs.n;
    for (size_t i = 0; i < a->attrs.n && same; i++) {
        const struct odb_attr *other = odb_attrs_find(&b->attrs, a->attrs.items[i].name);
        struct odb_buf texts[2] = {ODB_BUF_INIT, ODB_BUF_INIT};
        if (other)
            odb_attr_text(&a->attrs.items[i], &texts[0]);
        if (other)
            odb_attr_text(other, &texts[1]);
        same = other && !strcmp(odb_buf_text(&texts[0]), odb_buf_text(&texts[1]));
        odb_buf_dispose(&texts[0]);
        odb_buf_dispose(&texts[1]);
    }
    return same;
}

/* Whether the values are there or not, and of one type, one rank, and both constant or neither. */
static bool refused_same_input(const struct search_case *c, int x, int y)
{
    const struct odb_tensor *t = x < 0 ? NULL : odb_trace_value(c->trace, x);
    const struct odb_tensor *u = y < 0 ? NULL : odb_trace_value(c->trace, y);
    if (!t || !u)
        return (x < 0) == (y < 0) && t == u;
    return t->kind == u->kind && t->dtype == u->dtype && t->rank == u->rank &&
           c->prober->constant[x] == c->prober->constant[y];
}

/* Whether what a target lacks for one it lacks for the other, as far as one can see. */
static bool refused_alike(const struct search_case *c, int x, int y)
{
    const struct odb_node *m = &c->graph->nodes[x], *n = &c->graph->nodes[y];
    bool alike = refused_same_operator(m, n) && m->n_in == n->n_in && m->n_out == n->n_out &&
                 refused_same_attributes(m, n);
    for (int i = 0; i < m->n_in && alike; i++)
        alike = refused_same_input(c, m->in[i], n->in[i]);
    return alike;
}

typedef enum odb_status refused_ask_fn(const struct search_case *c, struct findings *f, int node,
                                       bool *refused, struct odb_error *err);

static enum odb_status refused_alone(const struct search_case *c, struct findings *f, int node,
                                     bool *refused, struct odb_error *err)
{
    enum odb_status had;
    ODB_TRY(isolated_node(c, f, node, &had, err));
    *refused = odb_probe_refused(had);
    return ODB_OK;
}

/* Asks the first, the last and the middle one of those that look like the node and are not left
 * out; where all are refused, all are left out, else those that are. how: such as are asked. */
static enum odb_status refused_ask_alike(struct search_case_made *rest, struct findings *f,
                                         int node, refused_ask_fn *ask, struct odb_refused how,
                                         struct odb_error *err)
{
    const struct search_case *c = &rest->is;
    int *alike = odb_new_n(int, c->graph->n_nodes), asked[REFUSED_WITNESSES];
    size_t n = 0, n_asked = 0, n_refused = 0;
    enum odb_status status = ODB_OK;
    bool refused = false;
    for (int i = 0; i < (int)c->graph->n_nodes; i++)
        if (!c->beyond[i] && refused_alike(c, node, i))
            alike[n++] = i;
    const size_t at[REFUSED_WITNESSES] = {0, n ? n - 1 : 0, n / 2};
    for (size_t i = 0; i < ODB_MIN(n, (size_t)REFUSED_WITNESSES) && status == ODB_OK; i++) {
        status = ask(c, f, alike[at[i]], &refused, err);
        if (status == ODB_OK && refused)
            asked[n_refused++] = alike[at[i]];
        n_asked++;
    }
    for (size_t i = 0; i < n_refused; i++)
        refused_push(rest, f, (struct odb_refused){asked[i], how.how, how.runs});
    for (size_t i = 0; i < n && n_refused == n_asked && status == ODB_OK; i++)
        if (!c->beyond[alike[i]])
            refused_push(rest, f, (struct odb_refused){alike[i], ODB_REFUSED_ALIKE, how.runs});
    free(alike);
    return status;
}

/* The node is left out, which the target breaks, with those that look alike. */
static enum odb_status refused_take_broken(struct search_case_made *rest, struct findings *f,
                                           int node, struct odb_error *err)
{
    bool alone;
    ODB_TRY(refused_alone(&rest->is, f, node, &alone, err)); /* which judges it */
    struct odb_refused how = {node, alone ? ODB_REFUSED_ALONE : ODB_REFUSED_TOGETHER, true};
    refused_push(rest, f, how);
    return refused_ask_alike(rest, f, node, broken_take_alike, how, err);
}

/* The node is left out, with those that look alike. Where it is the second of its operator, that
 * may be lacked altogether: of the others, too, those that look alike are asked for. */
static enum odb_status refused_take_out(struct search_case_made *rest, struct findings *f, int node,
                                        struct odb_error *err)
{
    const struct search_case *c = &rest->is;
    const struct odb_node *found = &c->graph->nodes[node];
    bool again = false, alone;
    for (size_t i = 0; i < f->report->pieces.refused.n; i++)
        again |=
            refused_same_operator(found, &c->graph->nodes[f->report->pieces.refused.items[i].node]);
    ODB_TRY(refused_alone(c, f, node, &alone, err));
    if (!alone)
        ODB_TRY(broken_tell_together(c, f, node, err));
    struct odb_refused how = {node, alone ? ODB_REFUSED_ALONE : ODB_REFUSED_TOGETHER, false};
    refused_push(rest, f, how);
    if (!alone) /* which says nothing of others */
        return ODB_OK;
    ODB_TRY(refused_ask_alike(rest, f, node, refused_alone, how, err));
    for (int i = 0; again && i < (int)c->graph->n_nodes; i++)
        if (!c->beyond[i] && refused_same_operator(found, &c->graph->nodes[i]))
            ODB_TRY(refused_ask_alike(rest, f, i, refused_alone, how, err));
    return ODB_OK;
}

/* --- what is left ----------------------------------------------------------------------------- */

/* No node stands before it. */
static bool refused_first(const struct search_case *c, int node)
{
    bool *up = odb_new_n(bool, c->graph->n_nodes), any = false;
    odb_graph_ancestors(c->graph, c->graph->nodes[node].out, (size_t)c->graph->nodes[node].n_out,
                        c->drawn, up);
    for (int i = 0; i < node; i++)
        any |= up[i];
    free(up);
    return !any;
}

/* The outputs are those that nodes make which are not left out, and what the others would have
 * read. False: there are none. */
static bool refused_new_outputs(struct search_case_made *rest, struct findings *f)
{
    const struct search_case *c = &rest->is;
    const struct odb_graph *graph = c->graph;
    int *outputs = odb_new_n(int, graph->n_values);
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        bool leaves = value->is_output;
        for (size_t i = 0; i < value->n_consumers; i++)
            leaves = leaves || c->beyond[value->consumers[i]];
        if (leaves && odb_probe_reads(graph, c->trace, (int)v) && !c->beyond[value->producer] &&
            c->trace->ref[v])
            outputs[n++] = (int)v;
    }
    search_case_set_outputs(rest, outputs, n);
    findings_turn_to(f, c);
    return n > 0;
}

/* Finds the next node that is refused, and takes it out; false: none can be, or nothing is left. */
static enum odb_status refused_next(struct search_case_made *rest, struct findings *f,
                                    enum odb_status refusal, bool *left, struct odb_error *err)
{
    const struct search_case *c = &rest->is;
    enum odb_answer answer;
    size_t asked;
    int node;
    char label[200];
    bool first = !f->report->pieces.refused.n, broken = false;
    *left = false;
    char *words = err ? odb_xstrdup(err->what) : NULL;
    enum odb_status status = hunt_refusal(c, f, refusal, words, &node, err);
    free(words);
    ODB_TRY(status);
    if (node == ODB_NO_NODE)
        return ODB_OK;
    findings_step_begin(f, "refused");
    status = hunt_ask_prefixes(c, f, refusal, ODB_NO_VALUE, "refused", &node, 1, true, &answer,
                               &asked, err);
    *left = status == ODB_OK && answer == ODB_ANSWER_BAD &&
            (!first || !refused_first(c, node) || hunt_runs_at_all(c, f, node, refusal));
    if (*left)
        status = broken_take(c, f, node, &broken, err);
    if (answer == ODB_ANSWER_BAD && !broken && !refused_lacks(f)) /* not the whole model's words */
        f->kept->refused_why = f->kept->refusal;
    if (*left && status == ODB_OK)
        status =
            broken ? refused_take_broken(rest, f, node, err) : refused_take_out(rest, f, node, err);
    findings_step_end(f, "refused",
                      "the node that ends the smallest prefix refused%s, and those like it",
                      broken ? ", what is refused together with it" : "");
    *left = *left && refused_new_outputs(rest, f);
    if (!f->report->pieces.refused.n) /* else refused_mark() tells of it */
        findings_warn(f, "the smallest prefix that the target refuses ends in #%d %s (%s)", node,
                      odb_node_label(&c->graph->nodes[node], label, sizeof label),
                      c->graph->nodes[node].op_type);
    return status;
}

/* Where no end comes of that: there are no outputs any more, and every node is asked alone. */
static enum odb_status refused_one_by_one(struct search_case_made *rest, struct findings *f,
                                          struct odb_error *err)
{
    search_case_set_outputs(rest, odb_new_n(int, 1), 0);
    findings_turn_to(f, &rest->is);
    return strategy_isolated(&rest->is, f, err);
}

enum odb_status refused_around(struct search_case_made *rest, const struct search_case *whole,
                               struct findings *f, enum odb_status refusal, refused_run_fn *run,
                               struct odb_error *err)
{
    const struct search_case *c = &rest->is;
    enum odb_status status = refusal;
    size_t rounds =
        REFUSED_ROUNDS + whole->graph->n_nodes / (odb_search_loads(whole->graph->n_nodes) + 1);
    search_case_part(rest, whole);
    rest->is.beyond = rest->beyond = odb_new_n(bool, whole->graph->n_nodes);
    rest->is.fed = rest->fed = odb_new_n(bool, whole->graph->n_values);
    whole->trace->fed = rest->fed;
    findings_turn_to(f, c);
    for (size_t i = 0; odb_probe_refused(status); i++) {
        bool left;
        ODB_TRY(refused_next(rest, f, status, &left, err));
        if (!f->report->pieces.refused.n)
            return refusal;
        if (!left || i == rounds)
            return refused_one_by_one(rest, f, err);
        status = run(c, f, err);
        if (odb_probe_refused(status))
            broken_sign(f, err);
    }
    return status;
}

/* --- what is reported of it ------------------------------------------------------------------- */

/* Whether the target was asked for some value of the node, and what it gave was judged. */
static bool refused_is_judged(const struct findings *f, const struct odb_node *node)
{
    bool judged = false;
    for (int o = 0; o < node->n_out; o++) {
        enum odb_verdict verdict =
            node->out[o] < 0 ? ODB_VERDICT_UNTESTED : f->values[node->out[o]].verdict;
        judged |= verdict != ODB_VERDICT_UNTESTED && verdict != ODB_VERDICT_UNTESTABLE &&
                  verdict != ODB_VERDICT_UNSUPPORTED;
    }
    return judged;
}

static void refused_count(const struct search_case *c, struct findings *f)
{
    struct odb_pieces *pieces = findings_pieces(f);
    for (size_t i = 0; i < c->graph->n_nodes; i++)
        pieces->judged += refused_is_judged(f, &c->graph->nodes[i]);
    for (size_t i = 0; i < pieces->refused.n; i++)
        pieces->fed += !refused_is_judged(f, &c->graph->nodes[pieces->refused.items[i].node]);
    pieces->left = c->graph->n_nodes - pieces->judged - pieces->fed;
}

/* Whose words they are: of the smallest prefix, for the whole model may be refused for another.
 * That all that is refused is accused is no reason. */
static void refused_undecide(const struct search_case *c, struct findings *f)
{
    const struct odb_refused *first = f->report->pieces.refused.items;
    struct odb_error because = f->kept->refused_why;
    struct odb_buf node = ODB_BUF_INIT, pieces = ODB_BUF_INIT;
    odb_report_put_pieces(f->report, &pieces);
    if (!refused_lacks(f)) {
        findings_note(f, "%s", odb_buf_text(&pieces));
        odb_buf_dispose(&pieces);
        return;
    }
    while (first->runs)
        first++;
    odb_node_put(c->graph, first->node, &node);
    because.code = ODB_E_EXECUTOR;
    odb_error_at(&because, "%s", odb_buf_text(&node));
    odb_error_remedy(&because, "%s", odb_buf_text(&pieces));
    findings_undecide(f, ODB_UNDECIDED_PIECES, &because);
    odb_buf_dispose(&pieces);
    odb_buf_dispose(&node);
}

void refused_mark(const struct search_case *c, struct findings *f)
{
    for (size_t v = 0; v < c->graph->n_values; v++) {
        int producer = c->graph->values[v].producer;
        struct odb_value_report report = f->values[v];
        bool untold =
            report.verdict == ODB_VERDICT_UNTESTED || report.verdict == ODB_VERDICT_UNTESTABLE;
        if (producer == ODB_NO_NODE || !c->beyond[producer] || !c->trace->ref[v] || !untold)
            continue;
        report.verdict = ODB_VERDICT_UNTESTABLE;
        odb_text_fit(report.reason, sizeof report.reason,
                     "the target refuses it; what follows is fed with the reference's value");
        findings_value(f, (int)v, &report);
    }
    refused_count(c, f);
    refused_undecide(c, f);
    refused_note_open(f);
}
