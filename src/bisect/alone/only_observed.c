/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A node that fails alone fails where its output is read: alone, that cannot be otherwise. Whether
 * it also fails where its output is not read is seen at the nodes behind it: they run together with
 * it on the reference's values twice, with its output read and without. Wrong with and right
 * without: looking causes it.
 */
#include "bisect/alone/only_observed.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bisect/question.h"
#include "run/value_report.h"

struct observed {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    bool *nodes;                 /* owned; [n_nodes] the node and those behind it */
    int *values;                 /* owned: what those behind it give, then what the node gives */
    size_t behind;               /* of the first kind */
    size_t n;
};

static void observed_add(const struct search_case *c, int node, struct observed *s)
{
    const struct odb_node *n = &c->graph->nodes[node];
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0 && odb_probe_reads(c->graph, c->trace, n->out[o]) &&
            c->trace->ref[n->out[o]])
            s->values[s->n++] = n->out[o];
}

static void observed_collect(const struct search_case *c, int node, struct observed *s)
{
    const struct odb_node *n = &c->graph->nodes[node];
    s->nodes[node] = true;
    for (int o = 0; o < n->n_out; o++)
        for (size_t i = 0; n->out[o] >= 0 && i < c->graph->values[n->out[o]].n_consumers; i++) {
            int behind = c->graph->values[n->out[o]].consumers[i];
            if (s->nodes[behind] || c->trace->why[behind] || (c->beyond && c->beyond[behind]))
                continue;
            s->nodes[behind] = true;
            observed_add(c, behind, s);
        }
    s->behind = s->n;
    observed_add(c, node, s);
}

/* What the nodes behind it give; what it gives itself is only read. */
static enum odb_status observed_judge(void *payload, const struct odb_probe *probe,
                                      enum odb_verdict *shown, struct odb_error *err)
{
    const struct observed *s = payload;
    for (size_t i = 0; i < s->behind; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&s->c->judge, probe->values[i], probe->outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
    }
    return ODB_OK;
}

/* Runs them; verdict: of what the nodes behind give. */
static enum odb_status observed_run(struct observed *s, int node, bool looking,
                                    enum odb_verdict *verdict, struct odb_error *err)
{
    const struct search_case *c = s->c;
    struct odb_probed probed;
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, s->n);
    char what[240];
    struct odb_probe probe = {
        .asked = ODB_PROBE_KIND_FOLLOWS,
        .what = odb_probe_title(c->graph,
                                looking ? "read, with what follows:" : "with what follows:", node,
                                node, what, sizeof what),
        .node = node,
        .nodes = s->nodes,
        .values = s->values,
        .n_values = looking ? s->n : s->behind,
        .outputs = outputs,
        .judged = true};
    enum odb_status status = odb_probe_ask(c->prober, &probe, observed_judge, s, &probed, err);
    *verdict = probed.verdict;
    odb_probe_drop(c->prober, &probe);
    free(outputs);
    return status;
}

enum odb_status observed_only(const struct search_case *c, struct findings *f, int node, bool *only,
                              struct odb_error *err)
{
    struct observed s = {
        c, f, odb_new_n(bool, c->graph->n_nodes), odb_new_n(int, c->graph->n_values), 0, 0};
    enum odb_verdict with = ODB_VERDICT_UNTESTABLE, without = ODB_VERDICT_UNTESTABLE;
    enum odb_status status = ODB_OK;
    observed_collect(c, node, &s);
    if (s.behind && s.n > s.behind)
        status = observed_run(&s, node, true, &with, err);
    if (question_answer(with) == ODB_ANSWER_BAD && status == ODB_OK)
        status = observed_run(&s, node, false, &without, err);
    *only = status == ODB_OK && without == ODB_VERDICT_PASS;
    free(s.values);
    free(s.nodes);
    return status;
}
