/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/evidence/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/evidence/verify.h"
#include "bisect/question.h"
#include "judge/segment.h"
#include "run/value_report.h"

/* --- who is in it ------------------------------------------------------------------------------
 */

static bool group_is_weight(const struct search_case *c, int node)
{
    int value = case_output_of(c, node);
    return value >= 0 && c->prober->constant && c->prober->constant[value];
}

static bool group_quantises(const struct odb_node *node)
{
    return !strcmp(node->op_type, "QuantizeLinear") || !strcmp(node->op_type, "DequantizeLinear");
}

/* How much a node looks like the one that the others are there for: it computes, and it has most
 * weights. */
static double group_work(const struct search_case *c, int index)
{
    const struct odb_node *node = &c->graph->nodes[index];
    const struct odb_op *op = odb_cpu_op(c->trace->cpu, index);
    double weights = 0;
    for (int i = 0; i < node->n_in; i++) {
        int v = node->in[i];
        bool constant =
            v >= 0 && (c->graph->values[v].init || (c->prober->constant && c->prober->constant[v]));
        if (constant)
            weights += (double)odb_tensor_size(odb_trace_value(c->trace, v));
    }
    if (group_quantises(node))
        return 0;
    return op && (op->flags & ODB_OP_EXACT) ? 1 : 2 + weights;
}

/* Whether it makes weights of integers, for one of the segment that does more. */
static bool group_feeds(const struct search_case *c, const struct odb_segment *s, int node)
{
    const struct odb_value *value = &c->graph->values[case_output_of(c, node)];
    for (size_t i = 0; i < value->n_consumers && group_quantises(&c->graph->nodes[node]); i++)
        if (s->nodes[value->consumers[i]] && !group_is_weight(c, value->consumers[i]))
            return true;
    return false;
}

/* Marks those of the segment that make integers of what is fed, up to what reads the integers; and
 * those behind the quantiser at its end. */
static void group_trim(const struct search_case *c, const struct odb_segment *s, bool *outside)
{
    const struct odb_graph *graph = c->graph;
    bool *fed = odb_new_n(bool, graph->n_values + 1);
    for (size_t i = 0; i < s->n_border; i++)
        fed[s->border[i]] = true;
    for (int n = s->first; n <= s->last; n++) {
        const struct odb_node *node = &graph->nodes[n];
        if (!s->nodes[n] || group_is_weight(c, n) || node->n_in < 1 || node->in[0] < 0)
            continue;
        int maker = graph->values[node->in[0]].producer;
        bool follows =
            maker != ODB_NO_NODE && outside[maker] && strcmp(node->op_type, "DequantizeLinear");
        outside[n] = follows || (fed[node->in[0]] && !strcmp(node->op_type, "QuantizeLinear"));
    }
    for (int n = graph->values[s->value].producer;
         n != ODB_NO_NODE && s->nodes[n] &&
         strcmp(graph->nodes[n].op_type, "QuantizeLinear") != 0;) {
        const struct odb_node *node = &graph->nodes[n];
        const struct odb_op *op = odb_cpu_op(c->trace->cpu, n);
        bool moves = group_quantises(node) || (op && (op->flags & ODB_OP_EXACT));
        if (!moves || node->in[0] < 0)
            break;
        outside[n] = true;
        n = graph->values[node->in[0]].producer;
    }
    free(fed);
}

struct odb_culprit *group_accuse(const struct search_case *c, struct findings *f, int value,
                                 int pin, struct odb_tensor *const *given)
{
    struct odb_segment s;
    int first = -1, last = -1, main = c->graph->values[value].producer;
    size_t active = 0;
    bool *outside = odb_new_n(bool, c->graph->n_nodes + 1);
    odb_segment_init(&s, c->trace, value, given);
    group_trim(c, &s, outside);
    for (int n = s.first; n >= 0 && n <= s.last; n++) {
        if (!s.nodes[n] || group_is_weight(c, n))
            continue;
        first = first < 0 ? n : first;
        last = n;
        active += !outside[n];
        if (group_work(c, n) > group_work(c, main))
            main = n;
    }
    struct odb_culprit *culprit =
        findings_accuse(f, main, value, active > 1 ? ODB_KIND_FUSION : findings_kind(f, value));
    culprit->pin = pin;
    if (active > 1) {
        culprit->segment[0] = first;
        culprit->segment[1] = last;
        for (int n = s.first; n <= s.last; n++)
            if (s.nodes[n] && !outside[n] && (!group_is_weight(c, n) || group_feeds(c, &s, n)))
                odb_push(&culprit->group, n);
    }
    free(outside);
    odb_segment_dispose(&s);
    return culprit;
}

/* --- by itself ---------------------------------------------------------------------------------
 */

/* Whether what the group gave is as wrong as in the whole model: the same bits, or the reference
 * says so. */
static enum odb_status group_judge(const struct search_case *c, const struct findings *f, int value,
                                   struct odb_tensor *t, bool *fails, struct odb_error *err)
{
    size_t n = c->graph->n_values;
    if (odb_tensor_identical(t, f->given[value])) {
        *fails = true;
        return ODB_OK;
    }
    struct odb_tensor **given = odb_xmemdup(f->given, n * sizeof *given);
    struct odb_value_report *reports = odb_xmemdup(f->values, n * sizeof *reports);
    given[value] = t;
    reports[value] = (struct odb_value_report){0};
    enum odb_status status =
        odb_judge_segments(&c->judge, c->graph->values[value].producer, given, reports, err);
    *fails = reports[value].culprit;
    free(reports);
    free(given);
    return status;
}

static enum odb_status group_run(const struct search_case *c, struct findings *f,
                                 struct odb_culprit *culprit, struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes), fails = false;
    struct odb_tensor *output = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    char what[240];
    for (size_t i = 0; i < culprit->group.n; i++)
        nodes[culprit->group.items[i]] = true;
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SEGMENT,
                              .what = odb_probe_title(c->graph, "group from", culprit->segment[0],
                                                      culprit->segment[1], what, sizeof what),
                              .node = culprit->node,
                              .nodes = nodes,
                              .given = f->given,
                              .values = &culprit->value,
                              .n_values = 1,
                              .outputs = &output,
                              .judged = true};
    enum odb_status had = odb_probe_run(c->prober, &probe, &why), status = ODB_OK;
    enum odb_verdict shown = odb_probe_verdict(had);
    if (had == ODB_CANCELLED) {
        *err = why;
        status = had;
    } else if (had == ODB_OK) {
        status = group_judge(c, f, culprit->value, output, &fails, err);
        shown = fails ? ODB_VERDICT_FAIL : ODB_VERDICT_PASS;
    }
    odb_probe_tell(c->prober, &probe, shown, 0);
    odb_probe_drop(c->prober, &probe);
    culprit->verified = fails;
    culprit->checks[ODB_CHECK_REGION] = fails           ? ODB_CONFIRMS
                                        : had == ODB_OK ? ODB_CONTRADICTS
                                                        : ODB_NOT_TESTABLE;
    free(nodes);
    return status;
}

enum odb_status group_verify(const struct search_case *c, struct findings *f, size_t index,
                             struct odb_error *err)
{
    struct odb_culprit *culprit = findings_culprit(f, index);
    bool found = false;
    if (!culprit->group.n || odb_probe_cuts(c->prober) != ODB_CUTS_ANY)
        return ODB_OK;
    findings_step_begin(f, "verify");
    enum odb_status status = culprit->verified ? ODB_OK : group_run(c, f, culprit, err);
    if (status == ODB_OK && alone_possible(c, culprit->node))
        status = verify_is_it(c, f, culprit, culprit->node, &found, err);
    if (found) {
        culprit->verified = true;
        culprit->checks[ODB_CHECK_REGION] = ODB_NOT_ASKED;
        culprit->group.n = 0;
    }
    findings_step_end(f, "verify", "the group as a model of its own, and its operator alone");
    return status;
}
