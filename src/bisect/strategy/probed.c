/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking at every value: the whole model runs with values probed, and each operator is replayed on
 * what the target's own node had.
 *
 * One run reads everything if that fits; else nodes go in batches, in order. A batch reads what its
 * nodes give and what they are fed in the same run, so that one run judges a node. A target that
 * gives few outputs of one model gives each value once, packed into as few models as there may be,
 * and all are judged together: each run shows what the plain run shows. A batch that the target
 * refuses is cut into smaller ones, until it takes them or no single node can be read.
 *
 * Reading a value changes the model that the target gets, and often what it makes of it: other
 * fusions, other layouts, other bits. So every run reads the model's outputs as well, and is held
 * against the plain run. Bits that moved mark the evidence; verdicts that moved make it none.
 */
#include "bisect/strategy/probed.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/decided.h"
#include "run/hooks.h"
#include "bisect/reading.h"
#include "bisect/strategy/forecast.h"
#include "bisect/strategy.h"
#include "report/report.h"
#include "reference/trace.h"
#include "run/value_report.h"
#include "executor/executor.h"
#include "search/search.h"
#include "judge/steps.h"

#define PROBED_SAME_FACTOR 4 /* failing errors within this factor reproduce each other */
#define PROBED_TELLING 32    /* values of a whole model: fewer are equal by chance, too */
#define PROBED_SHRINKS 5     /* refused batches before reading is given up */
#define PROBED_SKIPS 8       /* single nodes that cannot be read, likewise */

struct probed {
    const struct search_case *c; /* borrowed */
    struct findings *f;          /* borrowed */
    size_t most;                 /* nodes in a batch */
    bool packed;                 /* reading_packs(): judged at the end */
    size_t taken;                /* values that a run gave at most, */
    bool left;                   /* to a search that reads few values, as the target takes few */
    size_t too_many;             /* and that one refused at least; SIZE_MAX: none did */
    size_t batches;              /* that ran */
    size_t known;                /* values that a run of before gave */
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
    bool all;                   /* of the nodes: every value is read */
    struct odb_tensor **values; /* owned refs; [n_values] */
    enum odb_status had;
    bool reproduces; /* shows what the plain run shows */
};

/* --- what is read ----------------------------------------------------------------------------- */

/* --- does it show what the plain run shows? --------------------------------------------------- */

static void probed_observe(const struct search_case *c, struct findings *f,
                           const struct probed_batch *batch)
{
    struct odb_observer *seen = findings_observer(f);
    seen->looked = true;
    for (size_t o = 0; o < c->n_outputs; o++) {
        const struct odb_tensor *plain = f->plain[o], *now = batch->values[c->outputs[o]];
        struct odb_gap gap;
        if (!plain || !now || odb_tensor_identical(plain, now))
            continue;
        odb_gap_measure(&gap, now, plain);
        if (!seen->moved || gap.error > seen->by) {
            seen->by = gap.error;
            seen->output = c->outputs[o];
        }
        seen->moved = true;
    }
}

/* Right, or no farther off than honest runs that decide otherwise. */
static bool probed_honest(const struct search_case *c, struct findings *f, int value,
                          const struct odb_value_report *report)
{
    return !odb_verdict_is_bad(report->verdict) || decided_allows(c, f, value, report);
}

static enum odb_status probed_reproduces(const struct search_case *c, struct findings *f,
                                         struct probed_batch *batch, enum odb_verdict *shown,
                                         struct odb_error *err)
{
    batch->reproduces = true;
    for (size_t o = 0; o < c->n_outputs; o++) {
        struct odb_value_report report = {0};
        const struct odb_value_report *plain = &f->verdicts[o];
        int v = c->outputs[o];
        ODB_TRY(odb_judge_value(&c->judge, v, batch->values[v], &report, err));
        odb_probe_shows(shown, report.verdict);
        bool same = report.verdict == plain->verdict;
        if (same && report.verdict == ODB_VERDICT_FAIL && report.error.known && plain->error.known)
            same = fmax(report.error.v, plain->error.v) <=
                   PROBED_SAME_FACTOR * fmin(report.error.v, plain->error.v);
        if (!same && !(probed_honest(c, f, v, &report) && probed_honest(c, f, v, plain)))
            batch->reproduces = false;
    }
    probed_observe(c, f, batch);
    return ODB_OK;
}

/* Whether the reference went the same way everywhere, bit for bit. */
static void probed_compare(struct probed *p, const struct probed_batch *batch)
{
    const struct search_case *c = p->c;
    for (size_t v = 0; v < c->graph->n_values && p->identical; v++) {
        const struct odb_tensor *ref = c->trace->ref[v];
        int producer = c->graph->values[v].producer;
        if (producer == ODB_NO_NODE || !batch->values[v] || !ref)
            continue;
        const struct odb_op *op = odb_cpu_op(c->trace->cpu, producer);
        p->computes =
            p->computes || (op && (op->flags & ODB_OP_REAL) && !(op->flags & ODB_OP_EXACT));
        p->compared += producer >= batch->first && producer < batch->stop;
        p->identical = odb_tensor_identical(ref, batch->values[v]);
    }
}

static void probed_warn_identical(const struct probed *p)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    bool same = p->identical && !c->options->scope && !f->report->pieces.refused.n;
    for (size_t o = 0; o < c->n_outputs; o++) /* and unobserved */
        same = same && c->trace->ref[c->outputs[o]] &&
               odb_tensor_identical(c->trace->ref[c->outputs[o]], f->plain[o]);
    same = same && p->compared >= PROBED_TELLING && p->computes;
    if (same && !odb_executor_is_reference(c->options->target))
        findings_warn(f,
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
static struct probed_ask *probed_ask_new(const struct search_case *c, const struct findings *f,
                                         const bool *marks, int first, int stop)
{
    struct probed_ask *ask = odb_new(struct probed_ask);
    size_t n = 0;
    ask->list = odb_new_n(int, c->graph->n_values);
    for (size_t v = 0; v < c->graph->n_values; v++)
        if (marks ? marks[v] : reading_wants(c, (int)v))
            ask->list[n++] = (int)v;
    if (marks)
        odb_probe_title(c->graph, "values probed from", first, stop - 1, ask->what,
                        sizeof ask->what);
    else
        snprintf(ask->what, sizeof ask->what, "all values probed");
    ask->outputs = odb_new_n(struct odb_tensor *, n);
    ask->probe = (struct odb_probe){.asked = ODB_PROBE_KIND_ALL,
                                    .what = ask->what,
                                    .judged = true,
                                    .node = marks ? first : ODB_NO_NODE,
                                    .beside = f->kept->repeats_wait,
                                    .values = ask->list,
                                    .n_values = n,
                                    .outputs = ask->outputs};
    return ask;
}

static void probed_ask_free(const struct search_case *c, struct probed_ask *ask)
{
    odb_probe_drop(c->prober, &ask->probe);
    free(ask->outputs);
    free(ask->list);
    free(ask);
}

void probed_begin(const struct search_case *c, struct findings *f)
{
    f->kept->probed_ahead = probed_ask_new(c, f, NULL, 0, 0);
    odb_probe_begin_beside(c->prober, &f->kept->probed_ahead->probe);
}

void probed_forget(const struct search_case *c, struct findings *f)
{
    if (f->kept->probed_ahead)
        probed_ask_free(c, f->kept->probed_ahead);
    f->kept->probed_ahead = NULL;
}

/* Runs with the marked values read. The status is of the judging, and ODB_CANCELLED. */
static enum odb_status probed_run(struct probed *p, struct probed_batch *batch, const bool *marks,
                                  struct odb_error *err)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    bool whole = batch->all;
    struct probed_ask *ask = whole ? f->kept->probed_ahead : NULL;
    enum odb_status status = ODB_OK;
    if (ask)
        f->kept->probed_ahead = NULL;
    else
        ask = probed_ask_new(c, f, whole ? NULL : marks, batch->first, batch->stop);
    batch->had = odb_probe_run(c->prober, &ask->probe, &p->why);
    enum odb_verdict shown = odb_probe_verdict(batch->had);
    for (size_t i = 0; i < ask->probe.n_values && batch->had == ODB_OK; i++) {
        batch->values[ask->list[i]] = ask->outputs[i];
        ask->outputs[i] = NULL;
    }
    if (batch->had == ODB_CANCELLED) {
        *err = p->why;
        status = batch->had;
    } else if (batch->had == ODB_OK) {
        status = probed_reproduces(c, f, batch, &shown, err);
    }
    odb_probe_tell(c->prober, &ask->probe, shown, 0);
    probed_ask_free(c, ask);
    return status;
}

/* What was read is the target's from now on. */
static void probed_keep(const struct search_case *c, struct findings *f, struct probed_batch *batch)
{
    for (size_t v = 0; v < c->graph->n_values; v++) {
        if (!batch->values[v])
            continue;
        if (!f->shown[v]) /* of outputs the plain run's are judged */
            findings_keep(f, (int)v, batch->values[v]);
        odb_tensor_unref(f->given[v]);
        f->given[v] = batch->values[v];
        f->whole[v] = batch->reproduces;
        batch->values[v] = NULL;
    }
}

/* What is held beyond the budget goes: all but the outputs, and what nodes at fault gave and got; a
 * step that needs the rest asks for it again. */
static void probed_drop_most(const struct search_case *c, struct findings *f)
{
    bool *keep = odb_new_n(bool, c->graph->n_values);
    size_t held = 0, ignored = 0;
    for (size_t o = 0; o < c->n_outputs; o++)
        keep[c->outputs[o]] = true;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        bool guilty = false;
        for (int o = 0; o < node->n_out; o++)
            guilty = guilty || (node->out[o] >= 0 && f->values[node->out[o]].culprit);
        if (guilty)
            reading_mark(c, (int)n, keep, &ignored);
    }
    for (size_t v = 0; v < c->graph->n_values; v++)
        held += odb_tensor_size(f->given[v]);
    for (size_t v = 0; v < c->graph->n_values && held > f->memory; v++) {
        if (keep[v] || !f->given[v] || c->drawn[v] || c->graph->values[v].producer == ODB_NO_NODE)
            continue;
        held -= odb_tensor_size(f->given[v]);
        odb_tensor_unref(f->given[v]);
        f->given[v] = NULL;
        f->whole[v] = false;
        findings_keep(f, (int)v, NULL);
    }
    free(keep);
}

/* Judges the nodes of a batch that ran. */
static enum odb_status probed_judge(struct probed *p, struct probed_batch *batch,
                                    struct odb_error *err)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    bool causes = !batch->reproduces && !f->diverge;
    p->batches++;
    p->hides += !batch->reproduces && !causes;
    p->causes += causes;
    if (!batch->reproduces && !causes)
        return ODB_OK;
    if (batch->reproduces)
        probed_compare(p, batch);
    probed_keep(c, f, batch);
    f->judged = true;
    if (batch->all || p->packed)
        return ODB_OK; /* a step of its own */
    enum odb_status status = odb_blame(&c->judge, batch->first, batch->stop, f->given,
                                       findings_judge(f), &c->options->hooks, err);
    probed_drop_most(c, f);
    return status;
}

/* The nodes that a batch is about, for its title: from the first to the last whose values it reads.
 */
static void probed_span(const struct search_case *c, const bool *marks, struct probed_batch *batch)
{
    bool some = false;
    for (int n = (int)c->graph->n_nodes; n-- > 0;)
        for (int o = 0; o < c->graph->nodes[n].n_out; o++) {
            int v = c->graph->nodes[n].out[o];
            if (v < 0 || !marks[v] || c->graph->values[v].is_output)
                continue;
            batch->first = n;
            batch->stop = some ? batch->stop : n + 1;
            some = true;
        }
}

enum odb_status probed_read(const struct search_case *c, struct findings *f, const bool *marks,
                            struct probed_read *out, struct odb_error *err)
{
    struct probed p = {.c = c, .f = f, .why = ODB_ERROR_INIT};
    struct probed_batch batch = {.stop = (int)c->graph->n_nodes};
    bool *read = odb_xmemdup(marks, c->graph->n_values * sizeof *marks);
    probed_span(c, marks, &batch);
    batch.values = odb_new_n(struct odb_tensor *, c->graph->n_values);
    enum odb_status status = probed_run(&p, &batch, marks, err);
    *out = (struct probed_read){batch.had, batch.reproduces, p.why};
    for (size_t v = 0; v < c->graph->n_values && status == ODB_OK && out->reproduces; v++)
        read[v] = read[v] && batch.values[v] && !f->shown[v];
    if (status == ODB_OK && batch.had == ODB_OK && out->reproduces)
        probed_keep(c, f, &batch);
    for (size_t v = 0; v < c->graph->n_values; v++) {
        struct odb_value_report report = {0};
        if (status == ODB_OK && batch.had == ODB_OK && out->reproduces && read[v]) {
            status = odb_judge_value(&c->judge, (int)v, f->shown[v], &report, err);
            if (status == ODB_OK)
                findings_value(f, (int)v, &report);
        }
        odb_tensor_unref(batch.values[v]);
    }
    free(batch.values);
    free(read);
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* So many outputs of one model from now on, and what that will cost. */
static void probed_take(struct probed *p, size_t outputs)
{
    size_t bytes;
    odb_probe_set_max_outputs(p->c->prober, outputs);
    struct forecast cost = forecast_reads(p->c, p->f, reading_batches(p->c, p->f, &bytes));
    findings_expect(p->f, odb_strategy_name(ODB_STRATEGY_PROBED), cost.loads, cost.seconds);
}

/* The target does not take so many values at once. True: it is asked for few now. */
static bool probed_few(struct probed *p, struct probed_batch *batch, size_t values)
{
    const struct search_case *c = p->c;
    size_t few = values > READING_FEW ? READING_FEW : READING_FEWEST;
    p->too_many = ODB_MIN(p->too_many, values);
    if (p->batches || few >= values || few <= c->n_outputs)
        return false;
    odb_probe_set_max_outputs(c->prober, few);
    p->packed = reading_packs(c, p->f);
    p->left = p->packed && p->f->diverge && c->options->strategy == ODB_STRATEGY_AUTO;
    if (p->left)
        return false; /* a few values narrow down what is wrong: taps.c */
    if (!p->packed)
        odb_probe_set_max_outputs(c->prober, SIZE_MAX);
    else
        probed_take(p, few);
    batch->stop = p->packed ? batch->first : batch->stop;
    return p->packed;
}

/* It took them: so it may take four times as many. */
static void probed_more(struct probed *p, size_t values)
{
    p->taken = ODB_MAX(p->taken, values);
    if (p->packed && p->too_many < SIZE_MAX && 4 * p->taken < p->too_many)
        probed_take(p, 4 * p->taken);
}

/* The target does not take a batch. False: reading is given up. */
static bool probed_shrink(struct probed *p, struct probed_batch *batch, size_t values)
{
    size_t n = (size_t)(batch->stop - batch->first);
    p->refused++;
    if (probed_few(p, batch, values))
        return true;
    if (p->left)
        return false;
    if (n > 1 && values > p->taken && p->taken > p->c->n_outputs) {
        probed_take(p, p->taken);
        batch->stop = batch->first;
        return true;
    }
    if (n > 1) {
        p->most = ODB_MAX(n / 4, (size_t)1);
        batch->stop = batch->first; /* once more, from where it began */
        return p->refused <= PROBED_SHRINKS;
    }
    p->skipped++; /* this one cannot be read; the others may be */
    return p->batches > 0 && p->skipped <= PROBED_SKIPS;
}

void probed_observed(struct findings *f, bool all, bool causes)
{
    f->hidden = true;
    findings_observer(f)->decides = true;
    findings_warn(f, "observer effect: with %s values probed, the outputs %s", all ? "all" : "some",
                  causes ? "diverge; unobserved they do not"
                         : "are not wrong in the way they are unobserved");
}

/* What follows, once everything was read or cannot be. */
static void probed_conclude(struct probed *p, bool all)
{
    struct findings *f = p->f;
    bool one = p->batches == 1 && !p->refused && !p->packed;
    f->hidden = p->hides || p->causes;
    f->probed = all && !f->hidden && !p->skipped;
    findings_observer(f)->decides = f->hidden;
    if (p->too_many < SIZE_MAX && p->packed && !p->left)
        odb_probe_set_max_outputs(p->c->prober, p->skipped ? SIZE_MAX : p->taken);
    if (p->left) {
        findings_step_end(f, "probed", "refused, so fewer are read: %.200s", p->why.what);
    } else if (!all) {
        findings_step_end(f, "probed", "cannot be had: %.200s", p->why.what);
    } else if (f->hidden) {
        findings_step_end(f, "probed", "does not reproduce the plain run%s: observing %s the fault",
                          one ? "" : " in every batch", p->causes ? "causes" : "hides");
        probed_observed(f, one, p->causes);
    } else if (one) {
        findings_step_end(f, "probed", "every value in one run, which reproduces the plain one");
    } else {
        findings_step_end(
            f, "probed", "every value%s in %zu batch%s, which reproduce the plain run%s%.200s",
            p->known ? " that was not read before" : "", p->batches, p->batches == 1 ? "" : "es",
            p->refused ? "; for more at once: " : "", p->refused ? p->why.what : "");
    }
    if (!all || p->skipped)
        f->kept->unread = p->why;
}

/* A quantiser and what it is fed were read in different runs, of models that the target may have
 * fused otherwise: near the middle between two steps it may have met a little less, or more. */
static enum odb_status probed_steps(const struct probed *p, struct odb_error *err)
{
    const struct search_case *c = p->c;
    struct findings *f = p->f;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        const struct odb_node *node = &c->graph->nodes[n];
        if (strcmp(node->op_type, "QuantizeLinear") != 0 || node->domain[0] || node->n_in < 1 ||
            node->in[0] < 0 || node->out[0] < 0)
            continue;
        struct odb_value_report *report = &findings_judge(f)[node->out[0]];
        const struct odb_tensor *fed = f->given[node->in[0]], *t = f->given[node->out[0]];
        struct odb_steps steps;
        if (!report->culprit || !fed || !t)
            continue;
        ODB_TRY(odb_steps_measure(&steps, c->trace, node->out[0], fed, t,
                                  c->options->tolerance.v[0], err));
        if (!odb_steps_honest(&steps))
            continue;
        report->culprit = false;
        report->local_noise = ODB_NUMBER(steps.spread);
        report->boundary = true;
    }
    return ODB_OK;
}

static enum odb_status probed_blame(const struct probed *p, struct odb_error *err)
{
    const struct search_case *c = p->c;
    ODB_TRY(odb_blame(&c->judge, 0, (int)c->graph->n_nodes, p->f->given, findings_judge(p->f),
                      &c->options->hooks, err));
    bool apart = p->batches > 1 && c->options->tolerance.kind == ODB_CRITERION_NOISE;
    return apart ? probed_steps(p, err) : ODB_OK;
}

enum odb_status probed_values(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    struct probed p = {.c = c,
                       .f = f,
                       .most = c->graph->n_nodes,
                       .packed = reading_packs(c, f),
                       .too_many = SIZE_MAX,
                       .identical = true,
                       .why = ODB_ERROR_INIT};
    bool *marks = odb_new_n(bool, c->graph->n_values), all = true;
    enum odb_status status = ODB_OK;
    int n_nodes = (int)c->graph->n_nodes;
    p.known = p.packed ? odb_count_marks(f->whole, c->graph->n_values) : 0;
    f->judged |= p.known > 0;
    findings_step_begin(f, "probed run");
    for (int first = 0; first < n_nodes && all && status == ODB_OK;) {
        struct probed_batch batch = {.first = first,
                                     .stop = reading_stop(c, f, first, p.most, marks)};
        batch.all = first == 0 && batch.stop == n_nodes && !p.packed;
        if (p.packed && !reading_some(c, marks)) {
            first = batch.stop;
            continue;
        }
        batch.values = odb_new_n(struct odb_tensor *, c->graph->n_values);
        status = probed_run(&p, &batch, marks, err);
        if (status == ODB_OK && batch.had == ODB_OK)
            status = probed_judge(&p, &batch, err);
        else if (status == ODB_OK)
            all = probed_shrink(&p, &batch, odb_count_marks(marks, c->graph->n_values));
        if (status == ODB_OK && batch.had == ODB_OK)
            probed_more(&p, odb_count_marks(marks, c->graph->n_values));
        first = batch.stop;
        for (size_t v = 0; v < c->graph->n_values; v++)
            odb_tensor_unref(batch.values[v]);
        free(batch.values);
        if (batch.stop < n_nodes || p.batches > 1)
            odb_hooks_progress(&c->options->hooks, "probed run", first - 1, (size_t)first,
                               c->graph->n_nodes);
    }
    if (status == ODB_OK) {
        probed_conclude(&p, all);
        if (f->probed)
            probed_warn_identical(&p);
        if (f->judged && (p.packed || (p.batches == 1 && !p.refused))) {
            findings_step_begin(f, "replay");
            status = probed_blame(&p, err);
            findings_step_end(f, "blame", "each operator replayed on the target's own inputs");
        }
    }
    free(marks);
    return status;
}
