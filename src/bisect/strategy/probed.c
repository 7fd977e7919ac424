/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking at every value: the whole model runs with values probed, and each operator is replayed on
 * what the target's own node had.
 *
 * One run reads everything if that fits; else nodes go in batches, in order. A batch reads what its
 * nodes give and what they are fed in the same run, so that one run judges a node. A batch that the
 * target refuses is cut into smaller ones, until it takes them or no single node can be read.
 *
 * Reading a value changes the model that the target gets, and often what it makes of it: other
 * fusions, other layouts, other bits. So every run reads the model's outputs as well, and is held
 * against the plain run. Bits that moved mark the evidence; verdicts that moved make it none.
 */
#include "bisect/strategy/probed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/decided.h"
#include "run/hooks.h"
#include "bisect/reading.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "executor/executor.h"

#define PROBED_SAME_FACTOR 4 /* failing errors within this factor reproduce each other */
#define PROBED_TELLING 32    /* values of a whole model: fewer are equal by chance, too */
#define PROBED_SHRINKS 5     /* refused batches before reading is given up */
#define PROBED_SKIPS 8       /* single nodes that cannot be read, likewise */

struct probed {
    struct bisection *b;
    size_t most;    /* nodes in a batch */
    size_t batches; /* that ran */
    size_t refused, skipped;
    bool identical; /* to the reference, bit for bit, in all that was compared */
    size_t compared;
    bool computes;        /* some node among them does float arithmetic */
    size_t hides;         /* batches that do not reproduce the plain run, which is wrong */
    size_t causes;        /* likewise, and it is right */
    struct odb_error why; /* of the last that was refused */
};

/* One run: nodes first up to stop, not with it. */
struct probed_batch {
    int first, stop;
    struct odb_tensor **values; /* owned refs; [n_values] */
    enum odb_status had;
    bool reproduces; /* shows what the plain run shows */
};

/* --- what is read ----------------------------------------------------------------------------- */

/* --- does it show what the plain run shows? --------------------------------------------------- */

static void probed_observe(const struct bisection *b, const struct probed_batch *batch)
{
    struct odb_observer *seen = &b->report->observer;
    seen->looked = true;
    for (size_t o = 0; o < b->n_outputs; o++) {
        const struct odb_tensor *plain = b->plain[o], *now = batch->values[b->outputs[o]];
        struct odb_gap gap;
        if (!plain || !now || odb_tensor_identical(plain, now))
            continue;
        odb_gap_measure(&gap, now, plain);
        if (!seen->moved || gap.error > seen->by) {
            seen->by = gap.error;
            seen->output = b->outputs[o];
        }
        seen->moved = true;
    }
}

/* Right, or no farther off than honest runs that decide otherwise. */
static bool probed_honest(struct bisection *b, int value, const struct odb_value_report *report)
{
    return !odb_verdict_is_bad(report->verdict) || decided_allows(b, value, report);
}

static enum odb_status probed_reproduces(struct bisection *b, struct probed_batch *batch,
                                         enum odb_verdict *shown, struct odb_error *err)
{
    batch->reproduces = true;
    for (size_t o = 0; o < b->n_outputs; o++) {
        struct odb_value_report report = {0};
        const struct odb_value_report *plain = &b->verdicts[o];
        int v = b->outputs[o];
        ODB_TRY(odb_judge_value(&b->judge, v, batch->values[v], &report, err));
        odb_probe_shows(shown, report.verdict);
        bool same = report.verdict == plain->verdict;
        if (same && report.verdict == ODB_VERDICT_FAIL && report.error.known && plain->error.known)
            same = fmax(report.error.v, plain->error.v) <=
                   PROBED_SAME_FACTOR * fmin(report.error.v, plain->error.v);
        if (!same && !(probed_honest(b, v, &report) && probed_honest(b, v, plain)))
            batch->reproduces = false;
    }
    probed_observe(b, batch);
    return ODB_OK;
}

/* Whether the reference went the same way everywhere, bit for bit. */
static void probed_compare(struct probed *p, const struct probed_batch *batch)
{
    const struct bisection *b = p->b;
    for (size_t v = 0; v < b->graph->n_values && p->identical; v++) {
        const struct odb_tensor *ref = b->trace->ref[v];
        int producer = b->graph->values[v].producer;
        if (producer == ODB_NO_NODE || !batch->values[v] || !ref)
            continue;
        const struct odb_op *op = odb_cpu_op(b->trace->cpu, producer);
        p->computes =
            p->computes || (op && (op->flags & ODB_OP_REAL) && !(op->flags & ODB_OP_EXACT));
        p->compared += producer >= batch->first && producer < batch->stop;
        p->identical = odb_tensor_identical(ref, batch->values[v]);
    }
}

static void probed_warn_identical(const struct probed *p)
{
    const struct bisection *b = p->b;
    bool same = p->identical && !b->options->scope && !b->report->pieces.refused.n;
    for (size_t o = 0; o < b->n_outputs; o++) /* and unobserved */
        same = same && b->trace->ref[b->outputs[o]] &&
               odb_tensor_identical(b->trace->ref[b->outputs[o]], b->plain[o]);
    same = same && p->compared >= PROBED_TELLING && p->computes;
    if (same && !odb_executor_is_reference(b->options->target))
        odb_report_warn(b->report,
                        "reference and target agree bit for bit in all %zu values: "
                        "is the target the same code?",
                        p->compared);
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* A run that reads values. */
struct probed_ask {
    struct odb_probe probe;
    char what[240];
    int *list;                   /* owned: the values */
    struct odb_tensor **outputs; /* owned */
};

/* Of the marked values; NULL: of all. The nodes that are judged by it are for its title. */
static struct probed_ask *probed_ask_new(const struct bisection *b, const bool *marks, int first,
                                         int stop)
{
    struct probed_ask *ask = odb_new(struct probed_ask);
    size_t n = 0;
    ask->list = odb_new_n(int, b->graph->n_values);
    for (size_t v = 0; v < b->graph->n_values; v++)
        if (marks ? marks[v] : reading_wants(b, (int)v))
            ask->list[n++] = (int)v;
    if (marks)
        odb_probe_title(b->graph, "values probed from", first, stop - 1, ask->what,
                        sizeof ask->what);
    else
        snprintf(ask->what, sizeof ask->what, "all values probed");
    ask->outputs = odb_new_n(struct odb_tensor *, n);
    ask->probe = (struct odb_probe){.asked = ODB_ASKED_ALL,
                                    .what = ask->what,
                                    .judged = true,
                                    .node = marks ? first : ODB_NO_NODE,
                                    .values = ask->list,
                                    .n_values = n,
                                    .outputs = ask->outputs};
    return ask;
}

static void probed_ask_free(struct bisection *b, struct probed_ask *ask)
{
    odb_probe_drop(&b->prober, &ask->probe);
    free(ask->outputs);
    free(ask->list);
    free(ask);
}

void probed_begin(struct bisection *b)
{
    b->probed_ahead = probed_ask_new(b, NULL, 0, 0);
    odb_probe_begin_beside(&b->prober, &b->probed_ahead->probe);
}

void probed_forget(struct bisection *b)
{
    if (b->probed_ahead)
        probed_ask_free(b, b->probed_ahead);
    b->probed_ahead = NULL;
}

/* Runs with the marked values read. The status is of the judging, and ODB_CANCELLED. */
static enum odb_status probed_run(struct probed *p, struct probed_batch *batch, const bool *marks,
                                  struct odb_error *err)
{
    struct bisection *b = p->b;
    bool whole = batch->first == 0 && batch->stop == (int)b->graph->n_nodes;
    struct probed_ask *ask = whole ? b->probed_ahead : NULL;
    enum odb_status status = ODB_OK;
    if (ask)
        b->probed_ahead = NULL;
    else
        ask = probed_ask_new(b, whole ? NULL : marks, batch->first, batch->stop);
    batch->had = odb_probe_run(&b->prober, &ask->probe, &p->why);
    enum odb_verdict shown = odb_probe_verdict(batch->had);
    for (size_t i = 0; i < ask->probe.n_values && batch->had == ODB_OK; i++) {
        batch->values[ask->list[i]] = ask->outputs[i];
        ask->outputs[i] = NULL;
    }
    if (batch->had == ODB_CANCELLED) {
        *err = p->why;
        status = batch->had;
    } else if (batch->had == ODB_OK) {
        status = probed_reproduces(b, batch, &shown, err);
    }
    odb_probe_tell(&b->prober, &ask->probe, shown, 0);
    probed_ask_free(b, ask);
    return status;
}

/* What was read is the target's from now on. */
static void probed_keep(struct bisection *b, struct probed_batch *batch)
{
    for (size_t v = 0; v < b->graph->n_values; v++) {
        if (!batch->values[v])
            continue;
        if (!b->report->given[v]) /* of outputs the plain run's are judged */
            findings_keep(b, (int)v, batch->values[v]);
        odb_tensor_unref(b->given[v]);
        b->given[v] = batch->values[v];
        batch->values[v] = NULL;
    }
}

/* What is held beyond the budget goes: all but the outputs, and what nodes at fault gave and got;
 * whoever needs the rest asks for it again. */
static void probed_drop_most(struct bisection *b)
{
    bool *keep = odb_new_n(bool, b->graph->n_values);
    size_t held = 0;
    for (size_t o = 0; o < b->n_outputs; o++)
        keep[b->outputs[o]] = true;
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        const struct odb_node *node = &b->graph->nodes[n];
        bool guilty = false;
        for (int o = 0; o < node->n_out; o++)
            guilty = guilty || (node->out[o] >= 0 && b->report->values[node->out[o]].culprit);
        if (guilty)
            reading_mark(b, (int)n, keep);
    }
    for (size_t v = 0; v < b->graph->n_values; v++)
        held += odb_tensor_size(b->given[v]);
    for (size_t v = 0; v < b->graph->n_values && held > b->memory; v++) {
        if (keep[v] || !b->given[v] || b->drawn[v] || b->graph->values[v].producer == ODB_NO_NODE)
            continue;
        held -= odb_tensor_size(b->given[v]);
        odb_tensor_unref(b->given[v]);
        b->given[v] = NULL;
        findings_keep(b, (int)v, NULL);
    }
    free(keep);
}

/* Judges the nodes of a batch that ran. */
static enum odb_status probed_judge(struct probed *p, struct probed_batch *batch,
                                    struct odb_error *err)
{
    struct bisection *b = p->b;
    bool whole = batch->first == 0 && batch->stop == (int)b->graph->n_nodes;
    bool causes = !batch->reproduces && !b->report->outputs_diverge;
    p->batches++;
    p->hides += !batch->reproduces && !causes;
    p->causes += causes;
    if (!batch->reproduces && !causes)
        return ODB_OK;
    if (batch->reproduces)
        probed_compare(p, batch);
    probed_keep(b, batch);
    b->judged = true;
    if (whole)
        return ODB_OK; /* a step of its own */
    enum odb_status status = odb_blame(&b->judge, batch->first, batch->stop, b->given,
                                       b->report->values, &b->options->hooks, err);
    probed_drop_most(b);
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The target does not take a batch. False: reading is given up. */
static bool probed_shrink(struct probed *p, struct probed_batch *batch)
{
    size_t n = (size_t)(batch->stop - batch->first);
    p->refused++;
    if (n > 1) {
        p->most = ODB_MAX(n / 4, (size_t)1);
        batch->stop = batch->first; /* once more, from where it began */
        return p->refused <= PROBED_SHRINKS;
    }
    p->skipped++; /* this one cannot be read; the others may be */
    return p->batches > 0 && p->skipped <= PROBED_SKIPS;
}

/* What follows, once everything was read or cannot be. */
static void probed_conclude(struct probed *p, bool all)
{
    struct bisection *b = p->b;
    bool one = p->batches == 1 && !p->refused;
    b->hidden = p->hides || p->causes;
    b->probed = all && !b->hidden && !p->skipped;
    b->report->observer.decides = b->hidden;
    if (!all) {
        findings_step_end(b, "probed", "cannot be had: %.200s", p->why.what);
        odb_report_warn(b->report,
                        "the run with all values probed cannot be had, %sso faults that "
                        "no output shows are not seen: %.300s",
                        p->refused > 1 ? "nor with fewer at a time, " : "", p->why.what);
    } else if (b->hidden) {
        findings_step_end(b, "probed", "does not reproduce the plain run%s: observing %s the fault",
                          one ? "" : " in every batch", p->causes ? "causes" : "hides");
        odb_report_warn(b->report, "observer effect: with %s values probed, the outputs %s",
                        one ? "all" : "some",
                        p->causes ? "diverge; unobserved they do not"
                                  : "are not wrong in the way they are unobserved");
    } else if (one) {
        findings_step_end(b, "probed", "every value in one run, which reproduces the plain one");
    } else {
        findings_step_end(
            b, "probed", "every value in %zu batches, which reproduce the plain run%s%.200s",
            p->batches, p->refused ? "; for more at once: " : "", p->refused ? p->why.what : "");
    }
    if (p->skipped && all)
        odb_report_warn(b->report, "%zu nodes cannot be read on the target: %.300s", p->skipped,
                        p->why.what);
}

enum odb_status probed_values(struct bisection *b, struct odb_error *err)
{
    struct probed p = {.b = b, .most = b->graph->n_nodes, .identical = true, .why = ODB_ERROR_INIT};
    bool *marks = odb_new_n(bool, b->graph->n_values), all = true;
    enum odb_status status = ODB_OK;
    int n_nodes = (int)b->graph->n_nodes;
    findings_step_begin(b, "probed run");
    for (int first = 0; first < n_nodes && all && status == ODB_OK;) {
        struct probed_batch batch = {.first = first, .stop = reading_stop(b, first, p.most, marks)};
        batch.values = odb_new_n(struct odb_tensor *, b->graph->n_values);
        status = probed_run(&p, &batch, marks, err);
        if (status == ODB_OK && batch.had == ODB_OK)
            status = probed_judge(&p, &batch, err);
        else if (status == ODB_OK)
            all = probed_shrink(&p, &batch);
        first = batch.stop;
        for (size_t v = 0; v < b->graph->n_values; v++)
            odb_tensor_unref(batch.values[v]);
        free(batch.values);
        if (batch.stop < n_nodes || p.batches > 1)
            odb_hooks_progress(&b->options->hooks, "probed run", first - 1, (size_t)first,
                               b->graph->n_nodes);
    }
    if (status == ODB_OK) {
        probed_conclude(&p, all);
        if (b->probed)
            probed_warn_identical(&p);
        if (b->judged && p.batches == 1 && !p.refused) {
            findings_step_begin(b, "replay");
            status = odb_blame(&b->judge, 0, n_nodes, b->given, b->report->values,
                               &b->options->hooks, err);
            findings_step_end(b, "blame", "each operator replayed on the target's own inputs");
        }
    }
    free(marks);
    return status;
}
