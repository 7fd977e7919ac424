/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A search from its first run to its report. Which way it goes in between is plan.c's affair:
 *
 *   1. trace the reference, golden, and what noise is known for free;
 *   2. plain target runs with the model's own outputs: does it run, does it repeat, is it wrong?
 *      Does an output hold another one's values? A crash or a hang is hunted over prefixes at
 *      once;
 *   3. one run with every value probed, or several where memory is short. Does it reproduce the
 *      plain run? Then blame: each operator replayed on the target's own inputs, every node at
 *      once, masked faults included;
 *   4. otherwise probing changes the answer, and prefixes whose only outputs are the cut are
 *      bisected for each output that is wrong and not yet explained;
 *   5. whoever is accused runs alone, and, where there is one, on a third executor; and what else
 *      speaks for or against them is gathered (evidence.h).
 *
 * A target that is a recording cannot be asked again: recorded.c has the plan for it.
 */
#include "bisect/plan/bisect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/plan/evidence.h"
#include "base/clock.h"
#include "base/host.h"
#include "bisect/bisect_options.h"
#include "bisect/plan/blunt.h"
#include "bisect/body/bodies.h"
#include "run/budget.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "bisect/strategy/hunt.h"
#include "analysis/lint.h"
#include "bisect/plan/own_file.h"
#include "bisect/plan/plain.h"
#include "bisect/plan/plan.h"
#include "bisect/strategy/probed.h"
#include "bisect/strategy/prove.h"
#include "bisect/strategy/recorded.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/plan/refused.h"
#include "report/report.h"
#include "reference/trace.h"
#include "bisect/plan/unseen.h"
#include "run/value_report.h"
#include "bisect/plan/words.h"

#define BISECT_HISTOGRAMS 4 /* culprits that have them: counting reads each value twice */

/* --- the reference ---------------------------------------------------------------------------- */

/* Reference outputs that say little: constant, or not finite. */
static void bisect_warn_reference(struct bisection *b)
{
    for (size_t o = 0; o < b->n_outputs; o++) {
        const struct odb_tensor *t = b->trace->ref[b->outputs[o]];
        const char *name = b->graph->values[b->outputs[o]].name;
        if (!t || t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype) || t->count == 0)
            continue;
        double first = odb_tensor_f64(t, 0);
        bool constant = t->count > 1, finite = true;
        for (size_t i = 0; i < t->count; i++) {
            double v = odb_tensor_f64(t, i);
            constant = constant && v == first;
            finite = finite && isfinite(v);
        }
        if (constant)
            odb_report_warn(b->report, "reference output %s is constant (%g): it shows little",
                            name, first);
        if (!finite)
            odb_report_warn(b->report, "reference output %s holds NaN or Inf", name);
    }
}

/* A runtime may trust what is declared, and then it is the model that is wrong. */
static void bisect_note_declarations(struct bisection *b)
{
    char *first;
    size_t n = odb_lint_contradictions(b->graph, b->trace->ref, &first);
    if (n)
        odb_report_note(b->report,
                        "%zu value%s not what the model declares, the first: %s; `onnxdbg lint "
                        "--run` tells %s",
                        n, n == 1 ? " is" : "s are", first, n == 1 ? "more" : "all of them");
    free(first);
}

/* One operator's weights are there up to five times: as they are and as float64 with us, mapped and
 * packed with the target. */
static void bisect_warn_memory(struct bisection *b)
{
    const struct odb_budget *budget = b->options->hooks.budget;
    struct odb_buf text = ODB_BUF_INIT;
    int node = 0;
    size_t weights = odb_probe_heaviest(b->graph, &node);
    if (!budget || !budget->memory || weights <= budget->memory / 20 * 3)
        return;
    odb_node_put(b->graph, node, &text);
    odb_buf_puts(&text, " alone has weights of ");
    odb_buf_put_bytes(&text, weights);
    odb_buf_puts(&text, ": what --mem allows is exceeded there");
    odb_report_warn(b->report, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* No output can be compared: the first that an operator draws at random is named. */
static enum odb_status bisect_drawn(const struct bisection *b, struct odb_error *err)
{
    for (size_t o = 0; o < b->graph->n_outputs; o++) {
        const struct odb_value *value = &b->graph->values[b->graph->outputs[o]];
        struct odb_buf node = ODB_BUF_INIT;
        if (value->producer == ODB_NO_NODE || !odb_cpu_random(b->trace->cpu, value->producer))
            continue;
        odb_node_put(b->graph, value->producer, &node);
        odb_fail(err, ODB_E_MODEL,
                 "it draws output %s at random, and nothing is computed from that", value->name);
        odb_error_remedy(err, "make what reads the draw an output");
        odb_error_at(err, "%s", odb_buf_text(&node));
        odb_buf_dispose(&node);
        return ODB_E_MODEL;
    }
    return odb_fail(err, ODB_E_MODEL, "the model has no output that a node computes");
}

/* Some output can be judged, or there is nothing to search. */
static enum odb_status bisect_check_reach(const struct bisection *b, struct odb_error *err)
{
    for (size_t o = 0; o < b->n_outputs; o++)
        if (b->trace->ref[b->outputs[o]])
            return ODB_OK;
    for (size_t n = 0; n < b->graph->n_nodes; n++) {
        struct odb_buf node = ODB_BUF_INIT;
        if (!b->trace->why[n])
            continue;
        odb_node_put(b->graph, (int)n, &node);
        odb_fail(err, ODB_UNSUPPORTED, "the reference reaches no output: %s", b->trace->why[n]);
        odb_error_at(err, "%s", odb_buf_text(&node));
        odb_buf_dispose(&node);
        return err ? err->code : ODB_UNSUPPORTED;
    }
    return bisect_drawn(b, err);
}

/* What is known before the target is asked: which outputs it makes, and what it is fed. */
static void bisect_start(struct bisection *b)
{
    const struct odb_graph *graph = b->graph;
    b->outputs = odb_new_n(int, graph->n_outputs);
    b->given = odb_new_n(struct odb_tensor *, graph->n_values);
    b->drawn = odb_new_n(bool, graph->n_values);
    for (size_t v = 0; v < graph->n_values; v++) {
        b->drawn[v] = odb_trace_drawn(b->trace, (int)v);
        b->given[v] = b->drawn[v] ? odb_tensor_ref(b->trace->ref[v]) : NULL;
    }
    for (size_t f = 0; f < b->feeds->n; f++)
        b->given[b->feeds->items[f].value] = odb_tensor_ref(b->feeds->items[f].tensor);
    for (size_t o = 0; o < graph->n_outputs; o++) {
        int v = graph->outputs[o];
        if (graph->values[v].producer != ODB_NO_NODE && !b->drawn[v])
            b->outputs[b->n_outputs++] = v;
    }
    b->plain = odb_new_n(struct odb_tensor *, b->n_outputs);
    b->second = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    b->verdicts = odb_new_n(struct odb_value_report, b->n_outputs);
    b->exchanged = odb_new_n(int, graph->n_values + 1);
    for (size_t v = 0; v < graph->n_values; v++)
        b->exchanged[v] = ODB_NO_VALUE;
}

static enum odb_status bisect_trace(struct bisection *b, struct odb_error *err)
{
    struct odb_trace_options how;
    const struct odb_graph *graph = b->graph;
    ODB_TRY(odb_bisect_trace_options(b->options, &how, err));
    b->step_start = odb_clock();
    b->trace = b->options->trace;
    if (!b->trace)
        ODB_TRY(odb_trace_make(&b->trace, b->model, b->feeds, &how, err));
    b->trace->hooks = b->options->hooks;
    b->judge = (struct odb_judge){b->trace, &b->options->tolerance, &b->prober.compared};
    bisect_start(b);
    b->report->n_unsupported = b->trace->n_unsupported;
    findings_step_end(b, "reference",
                      b->trace->told_by ? "every value, asked of %s; what it lacks and the noise "
                                          "by the CPU"
                                        : "every value by the reference and in float64",
                      b->trace->told_by);
    b->report->reference_seconds = b->trace->seconds;
    for (size_t i = 0; i < b->trace->notes.n; i++)
        odb_report_warn(b->report, "%s", b->trace->notes.items[i]);
    ODB_TRY(bisect_check_reach(b, err));
    if (b->trace->n_unsupported)
        odb_report_warn(b->report, "%zu of %zu nodes have no reference value: %s",
                        b->trace->n_unsupported, graph->n_nodes,
                        "they and what depends on them are not judged");
    char *no_golden = odb_trace_no_golden(b->trace);
    if (no_golden)
        odb_report_note(b->report, "%s", no_golden);
    free(no_golden);
    bisect_warn_reference(b);
    bisect_note_declarations(b);
    bisect_warn_memory(b);
    return ODB_OK;
}

/* --- the search --------------------------------------------------------------------------------
 */

/* The model as it is kills the target. */
static enum odb_status bisect_dies(struct bisection *b, enum odb_status signature,
                                   struct odb_error *err)
{
    b->report->outputs_diverge = true;
    ODB_TRY(hunt_crash(b, signature, err));
    ODB_TRY(evidence_gather(b, err));
    return b->options->prove ? prove_cuts(b, signature, err) : ODB_OK;
}

/* The target refuses the model: all but the nodes that it lacks is searched. */
static enum odb_status bisect_around(struct bisection *b, enum odb_status refusal,
                                     struct odb_error *err)
{
    enum odb_status status = refused_around(b, refusal, err);
    if (status == ODB_E_CRASH || status == ODB_E_TIMEOUT)
        status = bisect_dies(b, status, err);
    else if (status == ODB_OK)
        status = b->n_outputs ? plan_search(b, err) : evidence_confirm(b, err);
    if (b->report->pieces.refused.n)
        refused_mark(b);
    if (!odb_probe_refused(status))
        return status;
    if (err)
        err->code = ODB_E_EXECUTOR;
    return ODB_E_EXECUTOR;
}

static enum odb_status bisect_search(struct bisection *b, struct odb_error *err)
{
    ODB_TRY(bisect_trace(b, err));
    if (b->options->answers && b->options->answers->n && !b->options->scope)
        odb_report_note(b->report, "goes on from a search that did not end: %zu answers are known",
                        b->options->answers->n);
    if (b->options->recorded) {
        b->prober.recorded = true;
        return recorded_plan(b, err);
    }
    findings_phase(b, "start of the target", 0);
    ODB_TRY(odb_probe_pool(&b->pool, b->options->target, &b->options->hooks, err));
    odb_prober_init(&b->prober, b->model, b->feeds, b->trace, b->pool, b->options->hooks);
    b->prober.answers = b->options->answers;
    b->prober.scope = b->options->scope;
    if (b->prober.recorded) {
        ODB_TRY(recorded_plan(b, err));
        return evidence_confirm(b, err);
    }
    ODB_TRY(own_file_look(b, err));
    plan_ahead(b);
    enum odb_status status = plain_run(b, err);
    if (status != ODB_OK)
        probed_forget(b);
    if (status < 0 && b->prober.words)
        b->report->target_words = odb_xstrdup(b->prober.words);
    if (status == ODB_E_CRASH || status == ODB_E_TIMEOUT)
        return bisect_dies(b, status, err);
    if (odb_probe_refused(status))
        return bisect_around(b, status, err);
    ODB_TRY(status);
    ODB_TRY(plain_account(b, err));
    return plan_search(b, err);
}

static void bisect_histograms(struct bisection *b, struct odb_culprit *culprit)
{
    if (culprit->value < 0 || !b->trace->ref[culprit->value] || !b->report->given[culprit->value])
        return;
    struct odb_inspection *seen = odb_new(struct odb_inspection);
    struct odb_error ignored = ODB_ERROR_INIT;
    if (odb_inspect(seen, b->trace->ref[culprit->value], b->report->given[culprit->value], NULL,
                    &ignored) == ODB_OK &&
        seen->comparable && seen->ref_numeric) {
        struct odb_histograms *h = odb_new(struct odb_histograms);
        *h = (struct odb_histograms){seen->lo, seen->hi, seen->diff_lo, seen->diff_hi,
                                     .equal = seen->diff_zero};
        memcpy(h->reference, seen->ref_bins, sizeof h->reference);
        memcpy(h->target, seen->target_bins, sizeof h->target);
        memcpy(h->errors, seen->diff_bins, sizeof h->errors);
        culprit->histograms = h;
    }
    free(seen);
}

static void bisect_finish(struct bisection *b)
{
    struct odb_report *report = b->report;
    for (size_t c = 0; c < report->culprits.n; c++)
        report->culprits.items[c].text = words_culprit(b, &report->culprits.items[c]);
    probed_forget(b);
    if (b->pool) {
        odb_pool_stop(b->pool);
        struct odb_target_stats stats = odb_pool_stats(b->pool);
        report->target_loads = stats.loads + b->inside.loads;
        report->target_runs = stats.runs + b->inside.runs;
        report->target_seconds = stats.load_seconds + stats.run_seconds + b->inside_seconds;
        report->target_description = odb_xstrdup(odb_target_description(odb_pool_target(b->pool)));
        if (stats.relinks)
            odb_report_note(report, "the link to the target was lost and made again: %zu time%s",
                            stats.relinks, stats.relinks == 1 ? "" : "s");
        if (odb_pool_trouble(b->pool)[0])
            odb_report_warn(report, "a worker of the target is out: %s", odb_pool_trouble(b->pool));
    }
    if (b->trace) {
        odb_firsts_find(&report->reference_firsts, b->graph, b->feeds, b->trace->ref);
        odb_firsts_find(&report->target_firsts, b->graph, b->feeds, report->given);
    }
    for (size_t i = 0; b->trace && i < report->culprits.n && i < BISECT_HISTOGRAMS; i++)
        bisect_histograms(b, &report->culprits.items[i]);
    struct odb_buf host = ODB_BUF_INIT;
    odb_host_put(&host);
    report->host = odb_xstrdup(odb_buf_text(&host));
    odb_buf_dispose(&host);
    report->seconds = odb_clock() - b->start;
    for (size_t o = 0; o < b->n_outputs; o++)
        odb_tensor_unref(b->plain[o]);
    for (size_t v = 0; b->second && v < b->graph->n_values; v++)
        odb_tensor_unref(b->second[v]);
    for (size_t v = 0; b->given && v < b->graph->n_values; v++)
        odb_tensor_unref(b->given[v]);
    free(b->given);
    reference_hear_dispose(b);
    free(b->drawn);
    free(b->beyond);
    free(b->fed);
    free(b->others.items);
    free(b->reaching);
    free(b->decided);
    free(b->plain);
    free(b->second);
    free(b->exchanged);
    free(b->verdicts);
    free(b->outputs);
    if (b->pool)
        odb_prober_dispose(&b->prober);
    odb_pool_close(b->pool);
    if (b->trace != b->options->trace)
        odb_trace_free(b->trace);
    if (b->options->trace) {
        b->options->trace->fed = NULL;
        b->options->trace->hooks = (struct odb_search_hooks){0};
        b->options->trace->phase = NULL;
    }
}

/* Without a value that was judged there is no verdict. */
static void bisect_check_evidence(const struct bisection *b)
{
    struct odb_error why = ODB_ERROR_INIT;
    for (size_t v = 0; v < b->graph->n_values; v++) {
        enum odb_verdict verdict = b->report->values[v].verdict;
        if (b->graph->values[v].producer != ODB_NO_NODE && verdict != ODB_VERDICT_UNTESTED &&
            verdict != ODB_VERDICT_UNTESTABLE && verdict != ODB_VERDICT_UNSUPPORTED)
            return;
    }
    odb_fail(&why, ODB_E_EXECUTOR,
             "there is no verdict: the target gave no value that can be judged");
    odb_error_at(&why, "%s", b->options->target);
    if (!b->report->culprits.n && !b->report->outputs_diverge)
        odb_report_undecide(b->report, ODB_UNDECIDED_UNJUDGED, &why);
}

struct odb_report *odb_bisect_report(const struct odb_model *model, const struct odb_feeds *feeds,
                                     const struct odb_bisect_options *options)
{
    char text[160];
    struct odb_report *report = odb_report_new(model);
    struct odb_error sha_err = ODB_ERROR_INIT;
    report->feeds = feeds;
    report->reference = odb_xstrdup(options->reference);
    report->golden = odb_xstrdup(odb_bisect_golden(options));
    report->target = odb_xstrdup(options->target);
    report->tolerance = odb_xstrdup(odb_criterion_text(&options->tolerance, text, sizeof text));
    report->expect = options->expect;
    if (odb_model_sha256(model, report->sha256, &sha_err) != ODB_OK)
        odb_report_warn(report, "the model has no checksum: %s", sha_err.what);
    return report;
}

enum odb_status odb_bisect(struct odb_report **out, const struct odb_model *model,
                           const struct odb_feeds *feeds, const struct odb_bisect_options *options,
                           struct odb_error *err)
{
    double start = odb_clock();
    struct odb_report *report = odb_bisect_report(model, feeds, options);
    *out = report;
    struct bisection b = {.model = model,
                          .graph = model->graph,
                          .feeds = feeds,
                          .options = options,
                          .report = report,
                          .start = start - (options->trace ? options->trace->seconds : 0)};
    enum odb_status status = bisect_search(&b, err);
    if (status == ODB_OK)
        status = bodies_enter_all(&b, odb_bisect, err);
    if (status == ODB_OK) {
        bisect_check_evidence(&b);
        unseen_set_aside(&b);
    }
    if (status == ODB_OK)
        blunt_check(&b);
    status = odb_report_end(report, status, err);
    bisect_finish(&b);
    return status;
}
