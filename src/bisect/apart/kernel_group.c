/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who of the nodes that are wrong together is the kernel, and who is only there so that the target
 * makes it: a quantiser that feeds it, and what makes floats of its integers again.
 */
#include "bisect/apart/kernel_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/alone/alone.h"
#include "bisect/alone/fed_part.h"
#include "bisect/evidence/verify.h"

static bool group_is(const struct search_case *c, int node, const char *op)
{
    return !strcmp(c->graph->nodes[node].op_type, op);
}

static bool group_moves(const struct search_case *c, int node)
{
    const struct odb_op *op = odb_cpu_op(c->trace->cpu, node);
    return group_is(c, node, "Cast") || (op && (op->flags & ODB_OP_EXACT));
}

/* How much a node looks like the one that the others are there for: it computes, and it has most
 * weights. */
static double group_work(const struct search_case *c, int index)
{
    const struct odb_node *node = &c->graph->nodes[index];
    double weights = 0;
    for (int i = 0; i < node->n_in; i++) {
        int v = node->in[i];
        bool constant =
            v >= 0 && (c->graph->values[v].init || (c->prober->constant && c->prober->constant[v]));
        if (constant)
            weights += (double)odb_tensor_size(odb_trace_value(c->trace, v));
    }
    bool quantises = group_is(c, index, "QuantizeLinear") || group_is(c, index, "DequantizeLinear");
    return quantises ? 0 : group_moves(c, index) ? 1 : 2 + weights;
}

/* Whether some inner node reads what a node makes. */
static bool group_is_read(const struct search_case *c, int node, const bool *inner)
{
    const struct odb_node *n = &c->graph->nodes[node];
    bool read = false;
    for (int o = 0; o < n->n_out; o++)
        for (size_t i = 0; n->out[o] >= 0 && i < c->graph->values[n->out[o]].n_consumers; i++)
            read |= inner[c->graph->values[n->out[o]].consumers[i]];
    return read;
}

/* Takes out those that make integers of what is fed, up to what reads the integers, and those that
 * only move or widen the integers at the end. */
static void group_trim(const struct search_case *c, bool *inner)
{
    int n_nodes = (int)c->graph->n_nodes;
    bool *before = odb_new_n(bool, c->graph->n_nodes + 1);
    for (int n = 0; n < n_nodes; n++) {
        int v = c->graph->nodes[n].n_in ? c->graph->nodes[n].in[0] : ODB_NO_VALUE;
        int maker = v < 0 ? ODB_NO_NODE : c->graph->values[v].producer;
        bool fed = maker == ODB_NO_NODE || !(inner[maker] || before[maker]);
        before[n] = inner[n] && ((fed && group_is(c, n, "QuantizeLinear")) ||
                                 (!fed && before[maker] && group_moves(c, n)));
        inner[n] &= !before[n];
    }
    for (int n = n_nodes; n-- > 0;) {
        int v = c->graph->nodes[n].n_in ? c->graph->nodes[n].in[0] : ODB_NO_VALUE;
        const struct odb_tensor *t = v < 0 ? NULL : c->trace->ref[v];
        int maker = v < 0 ? ODB_NO_NODE : c->graph->values[v].producer;
        bool follows =
            inner[n] && maker != ODB_NO_NODE && inner[maker] && !group_is_read(c, n, inner);
        inner[n] &= !(follows && t && !odb_dtype_is_float(t->dtype) &&
                      (group_is(c, n, "DequantizeLinear") || group_moves(c, n)));
    }
    free(before);
}

static void group_keep_cut(const struct search_case *c, struct odb_culprit *culprit,
                           const bool *nodes)
{
    culprit->cut.n = 0;
    for (int n = 0; n < (int)c->graph->n_nodes; n++)
        if (nodes[n])
            odb_push(&culprit->cut, n);
}

/* Makes the culprit the group of these nodes. False: it is one node, or none. */
static bool group_fill(const struct search_case *c, struct odb_culprit *culprit, const bool *nodes)
{
    bool *inner = odb_new_n(bool, c->graph->n_nodes + 1);
    int main = ODB_NO_NODE;
    for (int n = 0; n < (int)c->graph->n_nodes; n++)
        inner[n] = nodes[n] && !case_is_weight(c, n);
    group_trim(c, inner);
    for (int n = 0; n < (int)c->graph->n_nodes; n++) {
        bool scales = nodes[n] && case_is_weight(c, n) && group_is(c, n, "DequantizeLinear");
        if (inner[n] && (main < 0 || group_work(c, n) > group_work(c, main)))
            main = n;
        if (inner[n] || (scales && group_is_read(c, n, inner)))
            odb_push(&culprit->group, n);
    }
    culprit->node = main < 0 ? culprit->node : main;
    if (main < 0 || culprit->group.n == 1)
        culprit->group.n = 0;
    else
        group_keep_cut(c, culprit, nodes);
    free(inner);
    return culprit->group.n > 0;
}

/* First and last of the marked nodes, weights aside. */
static void group_span(const struct search_case *c, const bool *nodes, int segment[2])
{
    segment[0] = ODB_NO_NODE;
    for (int n = 0; n < (int)c->graph->n_nodes; n++) {
        if (!nodes[n] || case_is_weight(c, n))
            continue;
        segment[0] = segment[0] < 0 ? n : segment[0];
        segment[1] = n;
    }
}

struct odb_culprit *group_accuse(const struct search_case *c, struct findings *f, const bool *nodes,
                                 int value, int pin)
{
    struct odb_culprit *culprit =
        findings_accuse(f, c->graph->values[value].producer, value, ODB_KIND_FUSION);
    culprit->pin = pin;
    culprit->verified = true;
    group_span(c, nodes, culprit->segment);
    if (!group_fill(c, culprit, nodes)) {
        culprit->kind = findings_kind(f, value);
        culprit->segment[0] = culprit->segment[1] = culprit->node;
    }
    return culprit;
}

/* Marks the nodes of the region that ran together, where they are known. */
static bool group_from_cut(const struct search_case *c, const struct odb_culprit *culprit,
                           bool *nodes)
{
    memset(nodes, 0, c->graph->n_nodes * sizeof *nodes);
    for (size_t i = 0; i < culprit->cut.n; i++)
        nodes[culprit->cut.items[i]] = true;
    for (int n = 0; n < (int)c->graph->n_nodes && culprit->cut.n; n++)
        nodes[n] |= case_is_weight(c, n);
    return culprit->cut.n > 0;
}

/* A group that begins with floats, at the model's inputs, holds nodes that are there by chance. */
static enum odb_status group_narrow(const struct search_case *c, struct odb_culprit *culprit,
                                    struct odb_error *err)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes + 1), fails = false;
    bool quantised = group_is(c, culprit->segment[0], "DequantizeLinear") ||
                     group_is(c, culprit->segment[0], "QuantizeLinear");
    enum odb_status status = ODB_OK;
    group_from_cut(c, culprit, nodes);
    if (!quantised && culprit->group.n > 2)
        status = fed_part_fails(c, nodes, culprit->value, &fails, err);
    if (status == ODB_OK && fails)
        status = fed_part_cut_front(c, nodes, culprit->value, err);
    if (status == ODB_OK && fails) {
        culprit->group.n = 0;
        group_span(c, nodes, culprit->segment);
        group_fill(c, culprit, nodes);
    }
    free(nodes);
    return status;
}

enum odb_status group_verify(const struct search_case *c, struct findings *f, size_t index,
                             struct odb_error *err)
{
    struct odb_culprit *culprit = findings_culprit(f, index);
    bool found = false;
    if (!culprit->group.n || !alone_possible(c, culprit->node))
        return ODB_OK;
    findings_step_begin(f, "verify");
    enum odb_status status = verify_is_it(c, f, culprit, culprit->node, &found, err);
    if (found)
        culprit->group.n = 0;
    else if (status == ODB_OK)
        status = group_narrow(c, culprit, err);
    findings_step_end(f, "verify", "the operator of the group alone");
    return status;
}

/* Marks what leads from the region's first node to its last; false: nothing does, or it is wide.
 * quantises: there are quantisers. */
static bool group_between(const struct search_case *c, const struct odb_culprit *culprit,
                          bool *nodes, bool *quantises)
{
    const struct odb_node *last = &c->graph->nodes[culprit->segment[1]];
    bool *behind = odb_new_n(bool, c->graph->n_values + 1);
    size_t n_nodes = 0;
    *quantises = false;
    odb_graph_ancestors(c->graph, last->out, last->n_out > 0, c->drawn, nodes);
    for (int n = 0; n < (int)c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool from = n == culprit->segment[0];
        for (size_t k = 0; k < odb_node_n_reads(node); k++)
            from |= odb_node_reads(node, k) >= 0 && behind[odb_node_reads(node, k)];
        for (int o = 0; from && o < node->n_out; o++)
            if (node->out[o] >= 0)
                behind[node->out[o]] = true;
        nodes[n] &= from;
        n_nodes += nodes[n];
        *quantises |=
            nodes[n] && (group_is(c, n, "QuantizeLinear") || group_is(c, n, "DequantizeLinear"));
    }
    free(behind);
    bool all = nodes[culprit->segment[0]] && n_nodes <= CASE_KERNEL;
    for (int n = 0; n < (int)c->graph->n_nodes && all; n++) /* with the weights that they read */
        nodes[n] |= case_is_weight(c, n);
    return all;
}

void group_name_all(const struct search_case *c, struct findings *f)
{
    bool *nodes = odb_new_n(bool, c->graph->n_nodes + 1);
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        bool fused = culprit->kind == ODB_KIND_FUSION || culprit->kind == ODB_KIND_PROBE_EFFECT;
        bool quantises = true; /* of a part that begins at integers */
        if (!fused || culprit->group.n || !odb_culprit_is_region(culprit) || !culprit->verified ||
            !(group_from_cut(c, culprit, nodes) || group_between(c, culprit, nodes, &quantises)))
            continue;
        int end = case_output_of(c, culprit->segment[1]);
        if (!quantises)
            group_keep_cut(c, culprit, nodes);
        if (!quantises || !group_fill(c, culprit, nodes))
            continue;
        culprit->kind = ODB_KIND_FUSION;
        culprit->pin = culprit->value; /* it was pinned as the region that it is */
        culprit->numbers = end == culprit->value ? culprit->numbers : f->values[end];
        culprit->value = end;
    }
    free(nodes);
}
