/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/alone/fed_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "judge/segment.h"
#include "probe/probe.h"
#include "reference/trace.h"

struct fed_part {
    const struct search_case *c;    /* borrowed */
    const bool *nodes;              /* borrowed; [n_nodes] weights included */
    struct odb_value_report report; /* of its end, where it fails */
    bool fails;
};

static enum odb_status fed_part_judge(void *payload, const struct odb_probe *probe,
                                      enum odb_verdict *shown, struct odb_error *err)
{
    struct fed_part *part = payload;
    const struct search_case *c = part->c;
    struct odb_tensor **given = odb_new_n(struct odb_tensor *, c->graph->n_values); /* borrowed */
    struct odb_value_report *reports = odb_new_n(struct odb_value_report, c->graph->n_values);
    int value = probe->values[0], producer = c->graph->values[value].producer;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        int maker = c->graph->values[v].producer;
        given[v] = maker != ODB_NO_NODE && part->nodes[maker] ? NULL : c->trace->ref[v];
    }
    given[value] = probe->outputs[0];
    enum odb_status status =
        given[value] ? odb_judge_segments(&c->judge, producer, given, reports, err) : ODB_OK;
    part->fails = status == ODB_OK && reports[value].culprit;
    if (part->fails) {
        part->report = reports[value];
        part->report.verdict = *shown = ODB_VERDICT_FAIL;
        part->report.error = part->report.local_error;
        part->report.noise = part->report.local_noise;
    }
    free(given);
    free(reports);
    return status;
}

/* As fed_part_fails(); *report: the judge's word, where it fails. */
static enum odb_status fed_part_run(const struct search_case *c, const bool *nodes, int value,
                                    bool *fails, struct odb_value_report *report,
                                    struct odb_error *err)
{
    int last = c->graph->values[value].producer, first = last;
    bool *all = odb_xmemdup(nodes, (c->graph->n_nodes + 1) * sizeof *all);
    struct odb_tensor *outputs[1] = {NULL};
    struct fed_part part = {.c = c, .nodes = all};
    struct odb_probed probed;
    char what[240];
    for (int n = last; n-- > 0;)
        first = nodes[n] ? n : first;
    if (c->prober->constant)
        odb_trace_add_weights(c->trace, c->prober->constant, all);
    struct odb_probe probe = {
        .asked = ODB_PROBE_KIND_SEGMENT,
        .what = odb_probe_title(c->graph, "what leads from", first, last, what, sizeof what),
        .node = last,
        .nodes = all,
        .values = &value,
        .n_values = 1,
        .outputs = outputs,
        .judged = true};
    enum odb_status status = odb_probe_ask(c->prober, &probe, fed_part_judge, &part, &probed, err);
    odb_probe_drop(c->prober, &probe);
    free(all);
    *fails = part.fails;
    *report = part.report;
    return status;
}

enum odb_status fed_part_fails(const struct search_case *c, const bool *nodes, int value,
                               bool *fails, struct odb_error *err)
{
    struct odb_value_report ignored;
    return fed_part_run(c, nodes, value, fails, &ignored, err);
}

static bool fed_part_quantises(const struct search_case *c, int node)
{
    return !strcmp(c->graph->nodes[node].op_type, "QuantizeLinear");
}

/* Marks what leads to the value from integers that quantisers make, weights aside. Returns how many
 * nodes; 0: from none. */
static size_t fed_part_mark(const struct search_case *c, int value, bool *nodes)
{
    bool *integers = odb_new_n(bool, c->graph->n_values + 1);
    size_t n = 0, fed = 0;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        int maker = c->graph->values[v].producer;
        integers[v] = maker != ODB_NO_NODE && (int)v != value && c->trace->ref[v] &&
                      !case_is_weight(c, maker) && fed_part_quantises(c, maker);
    }
    odb_graph_ancestors(c->graph, &value, 1, integers, nodes);
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        const struct odb_node *node = &c->graph->nodes[i];
        nodes[i] = nodes[i] && !case_is_weight(c, (int)i);
        n += nodes[i];
        for (size_t k = 0; nodes[i] && k < odb_node_n_reads(node); k++)
            fed += odb_node_reads(node, k) >= 0 && integers[odb_node_reads(node, k)];
    }
    free(integers);
    return fed ? n : 0;
}

/* The integers that the only reader of a value, or the only reader of what that makes, makes of it;
 * the value itself where none does. */
static int fed_part_end(const struct search_case *c, int value)
{
    int end = value;
    for (size_t steps = 0; steps < CASE_KERNEL; steps++) {
        const struct odb_value *v = &c->graph->values[end];
        const struct odb_node *reader =
            v->n_consumers == 1 && !v->is_output ? &c->graph->nodes[v->consumers[0]] : NULL;
        if (!reader || reader->n_out != 1 || !c->trace->ref[reader->out[0]])
            return value;
        end = reader->out[0];
        if (fed_part_quantises(c, reader->index))
            return end;
    }
    return value;
}

enum odb_status fed_part_from_integers(const struct search_case *c, struct odb_culprit *culprit,
                                       bool *found, struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes + 1);
    bool makes = culprit->value >= 0 && c->graph->values[culprit->value].producer != ODB_NO_NODE;
    bool integers = fed_part_quantises(c, culprit->node);
    int value = makes && !integers ? fed_part_end(c, culprit->value) : culprit->value;
    size_t n = makes ? fed_part_mark(c, value, nodes) : 0;
    struct odb_value_report report = {0};
    enum odb_status status = ODB_OK;
    *found = false;
    if (n > 1 && n <= CASE_KERNEL && odb_probe_cuts(c->prober) == ODB_CUTS_ANY)
        status = fed_part_run(c, nodes, value, found, &report, err);
    if (status == ODB_OK && *found) {
        culprit->segment[1] = c->graph->values[value].producer;
        culprit->numbers = value == culprit->value ? culprit->numbers : report;
        culprit->value = value;
        culprit->cut.n = 0;
        for (int i = (int)c->graph->n_nodes; i-- > 0;)
            culprit->segment[0] = nodes[i] ? i : culprit->segment[0];
        for (int i = 0; i < (int)c->graph->n_nodes; i++)
            if (nodes[i])
                odb_push(&culprit->cut, i);
        culprit->node = culprit->segment[0];
        culprit->kind = ODB_KIND_FUSION;
        culprit->verified = true;
    }
    free(nodes);
    return status;
}

enum odb_status fed_part_cut_front(const struct search_case *c, bool *nodes, int value,
                                   struct odb_error *err)
{
    bool *left = odb_new_n(bool, c->graph->n_nodes + 1);
    int last = c->graph->values[value].producer, bad = 0, good = last;
    enum odb_status status = ODB_OK;
    while (good - bad > 1 && status == ODB_OK) {
        int middle = bad + (good - bad) / 2;
        bool fails = false;
        for (int n = 0; n <= last; n++)
            left[n] = nodes[n] && n >= middle;
        status = fed_part_fails(c, left, value, &fails, err);
        *(fails ? &bad : &good) = middle;
    }
    for (int n = 0; n < bad && status == ODB_OK; n++)
        nodes[n] = false;
    free(left);
    return status;
}
