/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tolerance is handed on. An input may be off by ten times its noise and passes; if the reference
 * operator, shaken by that much, comes out as far off as the target did, then the output follows
 * from what was allowed, and no node is to blame: an ill-conditioned operator, or a decision
 * (rounding to a quantiser's step, the largest of two that are nearly equal) that tips. Whatever
 * follows from such a value on a node that is right about its own inputs follows likewise.
 *
 * Nothing that a culprit stands before is let off, and no operator is believed unseen: the replay
 * on the target's own inputs has acquitted each.
 */
#include "bisect/evidence/tolerated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "run/hooks.h"
#include "bisect/evidence/reference_off.h"
#include "report/report.h"
#include "bisect/evidence/sensitivity.h"
#include "run/value_report.h"

struct tolerance {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    bool *guilty;                /* owned; [n_nodes] a culprit, or behind one */
    bool *tolerated;             /* owned; [n_values] */
    int first;                   /* node where it began, or ODB_NO_NODE */
    size_t n;
};

static void tolerance_guilty(struct tolerance *t, int node)
{
    t->guilty[node] = true;
}

static void tolerance_mark_guilty(struct tolerance *t)
{
    const struct search_case *c = t->c;
    const struct findings *f = t->f;
    for (size_t i = 0; i < f->report->culprits.n; i++)
        tolerance_guilty(t, f->report->culprits.items[i].node);
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        for (size_t i = 0; i < odb_node_n_reads(node); i++) {
            int v = odb_node_reads(node, i);
            int producer = v < 0 ? ODB_NO_NODE : c->graph->values[v].producer;
            t->guilty[n] |= producer != ODB_NO_NODE && t->guilty[producer];
        }
        for (int o = 0; o < node->n_out; o++)
            t->guilty[n] |= node->out[o] >= 0 &&
                            (f->values[node->out[o]].culprit || reference_off(f, node->out[o]));
    }
}

/* Of the node's inputs: none is wrong; *follows: one was let off before. */
static bool tolerance_inputs_pass(const struct tolerance *t, const struct odb_node *node,
                                  bool *follows)
{
    *follows = false;
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int v = odb_node_reads(node, i);
        if (v >= 0 && odb_verdict_is_bad(t->f->values[v].verdict))
            return false;
        *follows |= v >= 0 && t->tolerated[v];
    }
    return true;
}

/* Whether the reference comes out as far off when its inputs are off by what is allowed. */
static bool tolerance_allows(const struct tolerance *t, const struct odb_node *node, int value)
{
    const struct search_case *c = t->c;
    const struct findings *f = t->f;
    const struct odb_value_report *report = &f->values[value];
    double *sizes = odb_new_n(double, node->n_in), most = 0, mean = 0;
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_value_report *in = node->in[i] < 0 ? NULL : &f->values[node->in[i]];
        if (!in || c->graph->values[node->in[i]].producer == ODB_NO_NODE)
            continue;
        double noise = in->noise.known ? c->options->tolerance.v[0] * in->noise.v : 0;
        sizes[i] = fmax(noise, in->error.known ? in->error.v : 0);
        any |= sizes[i] > 0;
    }
    bool allows = any && sensitivity_shaken(c, value, sizes, &most, &mean) &&
                  report->error.v <= most && report->error_mean.v <= mean;
    free(sizes);
    return allows;
}

static void tolerance_pass(struct tolerance *t, const struct odb_node *node, int value)
{
    struct odb_value_report report = t->f->values[value];
    report.verdict = ODB_VERDICT_PASS;
    snprintf(report.reason, sizeof report.reason,
             "follows from errors that the tolerance allows, see #%d",
             t->first == ODB_NO_NODE ? node->index : t->first);
    t->tolerated[value] = true;
    t->first = t->first == ODB_NO_NODE ? node->index : t->first;
    t->n++;
    findings_value(t->f, value, &report);
}

static void tolerance_look(struct tolerance *t, const struct odb_node *node, int value)
{
    const struct odb_value_report *report = &t->f->values[value];
    bool replayed = report->local_error.known || report->local_noise.known, follows;
    bool fails = report->verdict == ODB_VERDICT_FAIL && report->error.known;
    if (!replayed || !(fails || report->verdict == ODB_VERDICT_SHAPE) ||
        !tolerance_inputs_pass(t, node, &follows))
        return;
    if (follows || (fails && tolerance_allows(t, node, value)) ||
        decided_allows(t->c, t->f, value, report))
        tolerance_pass(t, node, value);
}

/* Outputs that were let off are no divergence. */
static void tolerance_conclude(struct tolerance *t)
{
    const struct search_case *c = t->c;
    struct findings *f = t->f;
    char label[200];
    const struct odb_node *node = &c->graph->nodes[t->first];
    const char *stored =
        decided_stores(f) ? ", and half a step of the integers that the target stores," : "";
    size_t outputs = 0;
    double most = 0;
    bool diverge = false;
    for (size_t o = 0; o < c->n_outputs; o++) {
        if (t->tolerated[c->outputs[o]]) {
            f->verdicts[o].verdict = ODB_VERDICT_PASS;
            most = fmax(most, f->verdicts[o].error.v);
            outputs++;
        }
        diverge |= odb_verdict_is_bad(f->verdicts[o].verdict);
    }
    findings_diverge(f, diverge);
    findings_note(f,
                  "at #%d %s (%s) errors that the tolerance allows%s grow, or tip a decision, and "
                  "the reference does the same: %zu value%s off by more than noise follow%s from "
                  "that, %zu of them output%s, off by up to %.3g",
                  node->index, odb_node_label(node, label, sizeof label), node->op_type, stored,
                  t->n, t->n == 1 ? "" : "s", t->n == 1 ? "s" : "", outputs,
                  outputs == 1 ? "" : "s", most);
}

enum odb_status tolerated_values(const struct search_case *c, struct findings *f,
                                 struct odb_error *err)
{
    struct tolerance t = {.c = c, .f = f, .first = ODB_NO_NODE};
    enum odb_status status = ODB_OK;
    if (c->options->tolerance.kind != ODB_CRITERION_NOISE)
        return ODB_OK;
    decided_refresh(c, f);
    t.guilty = odb_new_n(bool, c->graph->n_nodes);
    t.tolerated = odb_new_n(bool, c->graph->n_values);
    tolerance_mark_guilty(&t);
    for (size_t n = 0; n < c->graph->n_nodes && status == ODB_OK; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        status = odb_hooks_cancelled(&c->options->hooks, err);
        for (int o = 0; o < node->n_out && status == ODB_OK && !t.guilty[n]; o++)
            if (node->out[o] >= 0)
                tolerance_look(&t, node, node->out[o]);
    }
    if (status == ODB_OK && t.n)
        tolerance_conclude(&t);
    free(t.guilty);
    free(t.tolerated);
    return status;
}
