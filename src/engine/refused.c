/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that lacks an operator refuses the whole model, and can be judged all the same as far as
 * it goes: by what stands before the nodes it refuses. They are found one after another, as the
 * ends of the smallest prefixes that are refused, and taken out with all that depends on them,
 * until the target takes the rest. What leaves that rest is then read in the outputs' place.
 */
#include "engine/bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "engine/alone.h"

#define REFUSED_MOST 8 /* nodes that are looked for; others of their operators cost little */

/* Marks a node, and all that depends on it, as beyond the target. */
static void refused_mark(struct bisection *b, int node)
{
    const struct odb_graph *graph = b->graph;
    b->beyond[node] = true;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int o = 0; b->beyond[i] && o < graph->nodes[i].n_out; o++) {
            int v = graph->nodes[i].out[o];
            for (size_t c = 0; v >= 0 && c < graph->values[v].n_consumers; c++)
                b->beyond[graph->values[v].consumers[c]] = true;
        }
}

/* Whether the target refuses the node alone as well. */
static enum odb_status refused_alone(struct bisection *b, int node, enum odb_status refusal,
                                     bool *refused, struct odb_error *err)
{
    struct alone alone = {0};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status had =
        alone_run(b, question_alone(b, &b->prober, node, b->trace->ref), &alone, &why);
    alone_dispose(&alone, b->graph->nodes[node].n_out);
    *refused = had == refusal;
    if (had == ODB_CANCELLED)
        *err = why;
    return had == ODB_CANCELLED ? had : ODB_OK;
}

/* No node stands before it. */
static bool refused_first(const struct bisection *b, int node)
{
    bool *up = odb_new_n(bool, b->graph->n_nodes), any = false;
    odb_graph_ancestors(b->graph, b->graph->nodes[node].out, (size_t)b->graph->nodes[node].n_out,
                        b->drawn, up);
    for (int i = 0; i < node; i++)
        any |= up[i];
    free(up);
    return !any;
}

/* Whether another node of the same operator was refused before. */
static bool refused_again(const struct bisection *b, int node)
{
    const struct odb_node *n = &b->graph->nodes[node];
    bool again = false;
    for (size_t i = 0; i < b->refused.n; i++) {
        const struct odb_node *other = &b->graph->nodes[b->refused.items[i]];
        again |= !strcmp(n->op_type, other->op_type) && !strcmp(n->domain, other->domain);
    }
    return again;
}

/* The node is taken out. Where it is not the first of its operator, so are the others that the
 * target refuses alone. */
static enum odb_status refused_take_out(struct bisection *b, int node, enum odb_status refusal,
                                        struct odb_error *err)
{
    const struct odb_node *found = &b->graph->nodes[node];
    bool again = refused_again(b, node);
    refused_mark(b, node);
    odb_push(&b->refused, node);
    for (size_t i = 0; again && i < b->graph->n_nodes; i++) {
        const struct odb_node *n = &b->graph->nodes[i];
        bool refused;
        if (b->beyond[i] || strcmp(n->op_type, found->op_type) || strcmp(n->domain, found->domain))
            continue;
        ODB_TRY(refused_alone(b, (int)i, refusal, &refused, err));
        if (!refused)
            continue;
        refused_mark(b, (int)i);
        odb_push(&b->refused, (int)i);
    }
    return ODB_OK;
}

/* Puts what leaves the accepted part into the outputs' place. False: nothing that can be judged
 * does. */
static bool refused_new_outputs(struct bisection *b)
{
    const struct odb_graph *graph = b->graph;
    int *outputs = odb_new_n(int, graph->n_values);
    size_t n = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        bool leaves = value->is_output || value->n_consumers == 0;
        for (size_t c = 0; c < value->n_consumers; c++)
            leaves = leaves || b->beyond[value->consumers[c]];
        if (leaves && odb_probe_reads(graph, b->trace, (int)v) && !b->beyond[value->producer] &&
            b->trace->ref[v])
            outputs[n++] = (int)v;
    }
    for (size_t o = 0; o < b->n_outputs; o++)
        odb_tensor_unref(b->plain[o]);
    free(b->outputs);
    free(b->plain);
    free(b->verdicts);
    b->outputs = outputs;
    b->n_outputs = n;
    b->plain = odb_new_n(struct odb_tensor *, n);
    b->verdicts = odb_new_n(struct odb_value_report, n);
    return n > 0;
}

/* Finds the next node that is refused, and takes it out; false: none can be, or nothing is left. */
static enum odb_status refused_next(struct bisection *b, enum odb_status refusal, bool *left,
                                    struct odb_error *err)
{
    enum odb_answer answer;
    size_t asked;
    int node;
    char label[200];
    *left = false;
    ODB_TRY(bisection_hunt_refusal(b, refusal, &node, err));
    if (node == ODB_NO_NODE)
        return ODB_OK;
    bisection_step_begin(b, "refused");
    enum odb_status status = bisection_ask_prefixes(b, refusal, ODB_NO_VALUE, "refused", &node, 1,
                                                    true, &answer, &asked, err);
    if (!b->refused.n && answer == ODB_ANSWER_BAD) /* its own words, not the whole model's */
        b->refused_why = b->refusal;
    *left = status == ODB_OK && answer == ODB_ANSWER_BAD &&
            (!refused_first(b, node) || bisection_runs_at_all(b, node, refusal));
    if (*left)
        status = refused_take_out(b, node, refusal, err);
    bisection_step_end(b, "refused",
                       "the node that ends the smallest prefix refused, and others of "
                       "its operator");
    *left = *left && refused_new_outputs(b);
    if (!b->refused.n) /* else bisection_mark_refused() tells of it */
        odb_report_warn(b->report,
                        "the smallest prefix that the target refuses ends in #%d %s (%s)", node,
                        odb_node_label(&b->graph->nodes[node], label, sizeof label),
                        b->graph->nodes[node].op_type);
    return status;
}

enum odb_status bisection_around(struct bisection *b, enum odb_status refusal,
                                 struct odb_error *err)
{
    enum odb_status status = refusal;
    bool left = true;
    b->beyond = odb_new_n(bool, b->graph->n_nodes);
    for (int i = 0; i < REFUSED_MOST && status == refusal && left; i++) {
        struct odb_error why = ODB_ERROR_INIT;
        status = refused_next(b, refusal, &left, &why);
        if (status == ODB_OK)
            status = left ? bisection_plain(b, &why) : refusal;
        if (status == ODB_CANCELLED && err)
            *err = why;
    }
    return status == ODB_OK || status == ODB_CANCELLED ? status : refusal;
}

void bisection_mark_refused(struct bisection *b)
{
    struct odb_buf names = ODB_BUF_INIT;
    size_t left = 0;
    for (size_t i = 0; i < b->graph->n_nodes; i++)
        left += !b->beyond[i];
    for (size_t i = 0; i < b->refused.n && i < 5; i++) {
        odb_buf_puts(&names, i ? ", " : "");
        odb_node_put(b->graph, b->refused.items[i], &names);
    }
    if (b->refused.n > 5)
        odb_buf_printf(&names, " and %zu more", b->refused.n - 5);
    for (size_t v = 0; v < b->graph->n_values; v++) {
        int producer = b->graph->values[v].producer;
        struct odb_value_report *report = &b->report->values[v];
        if (producer == ODB_NO_NODE || !b->beyond[producer] || !b->trace->ref[v] ||
            report->verdict != ODB_VERDICT_UNTESTED)
            continue;
        report->verdict = ODB_VERDICT_UNTESTABLE;
        odb_text_fit(report->reason, sizeof report->reason, "the target refuses %s",
                     odb_buf_text(&names));
        bisection_value(b, (int)v);
    }
    odb_report_warn(b->report,
                    "the target refuses %s; what is judged is what stands before: %zu of "
                    "%zu nodes",
                    odb_buf_text(&names), left, b->graph->n_nodes);
    odb_buf_dispose(&names);
}
