/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A search from its first run to its report. Which way it goes in between is plan.c's affair:
 *
 *   1. trace the reference, golden, and what noise is known for free;
 *   2. plain target runs with the model's own outputs: does it run, does it repeat, is it wrong?
 *      Does an output hold another one's values? A crash or a hang is hunted over prefixes at
 *      once. Repetitions come behind 3 where the target keeps the model for them;
 *   3. one run with every value probed, or several where memory is short. Does it reproduce the
 *      plain run? Then blame: each operator replayed on the target's own inputs, every node at
 *      once, masked faults included;
 *   4. otherwise probing changes the answer, and prefixes whose only outputs are the cut are
 *      bisected for each output that is wrong and not yet explained;
 *   5. each accused node runs alone, and, where there is one, on a third executor; what else
 *      speaks for or against it is gathered (evidence.h).
 *
 * A target that is a recording cannot be asked again: recorded.c has the plan for it.
 */
#include "bisect/plan/bisect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/groups.h"
#include "base/utf8.h"
#include "bisect/plan/evidence.h"
#include "bisect/explains.h"
#include "bisect/bisect_options.h"
#include "bisect/plan/blunt.h"
#include "bisect/refusal/broken.h"
#include "bisect/body/bodies.h"
#include "run/budget.h"
#include "bisect/decided.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "bisect/strategy/hunt.h"
#include "analysis/lint.h"
#include "bisect/plan/own_file.h"
#include "bisect/plan/plain.h"
#include "bisect/plan/plan.h"
#include "bisect/reading.h"
#include "bisect/strategy/probed.h"
#include "bisect/plan/prove.h"
#include "bisect/plan/fails.h"
#include "bisect/plan/settings.h"
#include "bisect/strategy/recorded.h"
#include "bisect/strategy/strategies.h"
#include "run/memory_budget.h"
#include "bisect/evidence/reference_off.h"
#include "bisect/alone/third.h"
#include "bisect/refusal/refused.h"
#include "bisect/repeat.h"
#include "judge/in_float.h"
#include "report/report.h"
#include "reference/trace.h"
#include "bisect/evidence/unread.h"
#include "bisect/plan/unseen.h"
#include "run/value_report.h"
#include "bisect/plan/words.h"
#include "model/read/load.h"

#define BISECT_HISTOGRAMS 4 /* culprits that have them: counting reads each value twice */

/* A search: what is asked, and what that came to. */
struct bisect {
    struct search_case_made whole;
    struct search_case_made part;    /* of a target that refuses nodes, and of a recording */
    const struct search_case *asked; /* which of them is searched */
    struct findings found;
};

static bool bisect_is_death(enum odb_status status)
{
    return status == ODB_E_CRASH || status == ODB_E_TIMEOUT;
}

/* --- the reference ---------------------------------------------------------------------------- */

/* Whether it has nothing that could be off but its shape. */
static bool bisect_is_empty(const struct odb_tensor *t)
{
    return t->kind == ODB_TENSOR && t->count == 0;
}

/* Whether it is empty or constant. */
static bool bisect_warn_output(struct findings *f, const char *name, const struct odb_tensor *t)
{
    if (bisect_is_empty(t))
        findings_warn(f, "reference output %s is empty: it shows nothing but its shape", name);
    if (t->kind != ODB_TENSOR || t->count == 0 ||
        !(odb_dtype_is_float(t->dtype) || odb_dtype_is_integer(t->dtype) || t->dtype == ODB_BOOL))
        return bisect_is_empty(t);
    double first = odb_tensor_f64(t, 0);
    bool constant = t->count > 1, finite = true;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        constant = constant && v == first;
        finite = finite && isfinite(v);
    }
    if (constant)
        findings_warn(f, "reference output %s is constant (%g): it shows little", name, first);
    if (!finite)
        findings_warn(f, "reference output %s holds NaN or Inf", name);
    return constant;
}

/* Reference outputs that say little: empty, constant, or not finite. */
static void bisect_warn_reference(const struct search_case *c, struct findings *f)
{
    bool all = c->n_outputs > 0;
    for (size_t o = 0; o < c->n_outputs; o++) {
        const struct odb_tensor *t = c->trace->ref[c->outputs[o]];
        all &= t && bisect_warn_output(f, c->graph->values[c->outputs[o]].name, t);
    }
    findings_little_shown(f, all);
}

/* A runtime may trust what is declared, and then it is the model that is wrong. */
static void bisect_note_declarations(const struct search_case *c, struct findings *f)
{
    char *first;
    size_t n = odb_lint_contradictions(c->graph, c->trace->ref, &first);
    if (n)
        findings_note(f,
                      "%zu value%s not what the model declares, the first: %s; `onnxdbg lint "
                      "--run` tells %s",
                      n, n == 1 ? " is" : "s are", first, n == 1 ? "more" : "all of them");
    free(first);
}

/* One operator's weights are there up to five times: as they are and as float64 with us, mapped and
 * packed with the target. */
static void bisect_warn_memory(const struct search_case *c, struct findings *f)
{
    const struct odb_budget *budget = c->options->hooks.budget;
    struct odb_buf text = ODB_BUF_INIT;
    int node = 0;
    size_t weights = odb_probe_heaviest(c->graph, &node);
    if (!budget || !budget->memory || weights <= budget->memory / 20 * 3)
        return;
    odb_node_put(c->graph, node, &text);
    odb_buf_puts(&text, " alone has weights of ");
    odb_buf_put_bytes(&text, weights);
    odb_buf_puts(&text, ": what --mem allows is exceeded there");
    findings_warn(f, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* No output can be compared: the first that an operator draws at random is named. */
static enum odb_status bisect_drawn(const struct search_case *c, struct odb_error *err)
{
    for (size_t o = 0; o < c->graph->n_outputs; o++) {
        const struct odb_value *value = &c->graph->values[c->graph->outputs[o]];
        struct odb_buf node = ODB_BUF_INIT;
        if (value->producer == ODB_NO_NODE || !odb_cpu_random(c->trace->cpu, value->producer))
            continue;
        odb_node_put(c->graph, value->producer, &node);
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
static enum odb_status bisect_check_reach(const struct search_case *c, struct odb_error *err)
{
    for (size_t o = 0; o < c->n_outputs; o++)
        if (c->trace->ref[c->outputs[o]])
            return ODB_OK;
    for (size_t n = 0; n < c->graph->n_nodes; n++) {
        struct odb_buf node = ODB_BUF_INIT;
        if (!c->trace->why[n])
            continue;
        odb_node_put(c->graph, (int)n, &node);
        odb_fail(err, ODB_UNSUPPORTED, "the reference did not reach an output: %s",
                 c->trace->why[n]);
        odb_error_at(err, "%s", odb_buf_text(&node));
        odb_buf_dispose(&node);
        return err ? err->code : ODB_UNSUPPORTED;
    }
    return bisect_drawn(c, err);
}

/* What the reference makes of the model is had, and what there is to say of that. */
static enum odb_status bisect_believe(struct bisect *s, struct odb_error *err)
{
    const struct search_case *c = &s->whole.is;
    struct findings *f = &s->found;
    ODB_TRY(search_case_trace(&s->whole, err));
    findings_know(f);
    for (size_t i = 0; i < c->trace->notes.n; i++)
        findings_warn(f, "%s", c->trace->notes.items[i]);
    ODB_TRY(bisect_check_reach(c, err));
    if (c->trace->n_unsupported)
        findings_warn(f,
                      "%zu of %zu node%s ha%s no reference value: %s and what depends on %s are "
                      "not judged",
                      c->trace->n_unsupported, c->graph->n_nodes, odb_plural(c->graph->n_nodes),
                      c->trace->n_unsupported == 1 ? "s" : "ve",
                      c->trace->n_unsupported == 1 ? "it" : "they",
                      c->trace->n_unsupported == 1 ? "it" : "them");
    char *no_golden = odb_trace_no_golden(c->trace);
    if (no_golden)
        findings_note(f, "%s", no_golden);
    free(no_golden);
    bisect_warn_reference(c, f);
    bisect_note_declarations(c, f);
    bisect_warn_memory(c, f);
    if (c->options->answers && c->options->answers->n && !c->options->scope)
        findings_note(f, "goes on from a search that did not end: %zu answer%s known",
                      c->options->answers->n, c->options->answers->n == 1 ? " is" : "s are");
    return ODB_OK;
}

/* --- the search ------------------------------------------------------------------------------- */

/* Whether a target that is judged by encodings computes in float: then there is no verdict. A part
 * of a model is judged all the same: what quantises all others may leave this one in float. */
static enum odb_status bisect_in_float(const struct search_case *c, struct findings *f,
                                       bool *in_float, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    *in_float = false;
    if (!c->options->encodings || c->options->part)
        return ODB_OK;
    ODB_TRY(odb_in_float(in_float, c->trace, c->outputs, c->n_outputs, f->shown, &c->options->hooks,
                         err));
    if (!*in_float)
        return ODB_OK;
    odb_fail(&why, ODB_E_EXECUTOR,
             "the target computes in float: its outputs are those of the float model, and not what "
             "the encodings make of them");
    odb_error_at(&why, "%s", c->options->target);
    odb_error_remedy(&why, "judge it without --encodings, or give it the encodings");
    findings_undecide(f, ODB_UNDECIDED_FLOAT, &why);
    while (f->report->culprits.n) /* a recording accuses before its outputs are compared */
        findings_drop(f, 0);
    return ODB_OK;
}

/* The model as it is kills the target. */
static enum odb_status bisect_dies(const struct search_case *c, struct findings *f,
                                   enum odb_status signature, struct odb_error *err)
{
    findings_diverge(f, true);
    if (c->options->strategy == ODB_STRATEGY_PLAIN)
        return ODB_OK;
    ODB_TRY(hunt_crash(c, f, signature, err));
    ODB_TRY(evidence_of_death(c, f, err));
    return c->options->prove ? prove_cuts(c, f, signature, err) : ODB_OK;
}

/* It runs: which way the search goes, and what speaks for and against whom that finds. */
static enum odb_status bisect_runs(const struct search_case *c, struct findings *f,
                                   struct odb_error *err)
{
    ODB_TRY(plan_search(c, f, err));
    if (f->probed)
        ODB_TRY(explains_known(c, f, 0, err));
    ODB_TRY(evidence_confirm(c, f, err));
    ODB_TRY(explains_culprits(c, f, err));
    ODB_TRY(evidence_conclude(c, f, err));
    return c->options->prove ? prove_cuts(c, f, ODB_OK, err) : ODB_OK;
}

/* No output of the model is left to be wrong: what was accused before is all there is. */
static enum odb_status bisect_unseen(const struct search_case *c, struct findings *f,
                                     struct odb_error *err)
{
    ODB_TRY(evidence_confirm(c, f, err));
    return evidence_conclude(c, f, err);
}

/* The target refuses the model: all but the nodes that it lacks, or breaks, is searched. */
static enum odb_status bisect_around(struct bisect *s, enum odb_status refusal,
                                     struct odb_error *err)
{
    struct findings *f = &s->found;
    f->kept->repeats_wait = false; /* what runs is not the user's file */
    ODB_TRY(broken_look(&s->whole.is, f, err, err));
    enum odb_status status = refused_around(&s->part, &s->whole.is, f, refusal, plain_run, err);
    const struct search_case *c = s->asked = &s->part.is;
    if (bisect_is_death(status))
        status = bisect_dies(c, f, status, err);
    else if (status == ODB_OK && c->n_outputs)
        status = bisect_runs(c, f, err);
    else if (status == ODB_OK)
        status = bisect_unseen(c, f, err);
    bool broken = status != ODB_CANCELLED && broken_accuse(c, f);
    if (f->report->pieces.refused.n)
        refused_mark(c, f);
    if (odb_probe_refused(status) && broken)
        return ODB_OK;
    if (!odb_probe_refused(status))
        return status;
    if (err)
        err->code = ODB_E_EXECUTOR;
    return ODB_E_EXECUTOR;
}

/* The target refuses the model, and nothing is searched. */
static enum odb_status bisect_refused(struct findings *f, enum odb_status refusal,
                                      const struct odb_error *why)
{
    struct odb_signature signature;
    odb_signature_refusal(&signature, why);
    findings_sign(f, &signature);
    return refusal;
}

/* The target is a recording, which the options may have brought: then nothing is asked of it. */
static enum odb_status bisect_recorded(struct bisect *s, struct odb_error *err)
{
    bool in_float;
    s->asked = &s->part.is;
    ODB_TRY(recorded_plan(&s->part, &s->whole.is, &s->found, err));
    ODB_TRY(bisect_in_float(s->asked, &s->found, &in_float, err));
    if (in_float || s->asked->options->recorded)
        return ODB_OK;
    ODB_TRY(evidence_confirm(s->asked, &s->found, err));
    ODB_TRY(explains_culprits(s->asked, &s->found, err));
    return evidence_conclude(s->asked, &s->found, err);
}

/* The plain run, and the target's last words where it died of that. */
static enum odb_status bisect_plain(const struct search_case *c, struct findings *f,
                                    struct odb_error *err)
{
    enum odb_status status = plain_run(c, f, err);
    if (status != ODB_OK)
        probed_forget(c, f);
    if (status < 0 && c->prober->now->words)
        findings_last_words(f, c->prober->now->words);
    return status;
}

/* The text at the head of this file. */
static enum odb_status bisect_search(struct bisect *s, struct odb_error *err)
{
    const struct search_case *c = &s->whole.is;
    struct findings *f = &s->found;
    bool in_float, doubted;
    ODB_TRY(bisect_believe(s, err));
    ODB_TRY(search_case_connect(&s->whole, err));
    if (c->prober->recorded)
        return bisect_recorded(s, err);
    ODB_TRY(reference_doubt(c, f, &doubted, err));
    if (doubted)
        return ODB_OK;
    ODB_TRY(own_file_look(c, f, err));
    plan_ahead(c, f);
    enum odb_status status = bisect_plain(c, f, err);
    if (bisect_is_death(status))
        return bisect_dies(c, f, status, err);
    bool blind = odb_refusal_is_blind(status, err);
    findings_dead(f, blind);
    if (odb_probe_refused(status))
        return blind || c->options->strategy == ODB_STRATEGY_PLAIN ? bisect_refused(f, status, err)
                                                                   : bisect_around(s, status, err);
    ODB_TRY(status);
    if (f->diverge && !c->options->no_opinion && !c->options->known)
        third_begin(c, f);
    ODB_TRY(plain_account(c, f, err));
    ODB_TRY(bisect_in_float(c, f, &in_float, err));
    if (in_float)
        return ODB_OK;
    status = bisect_runs(c, f, err);
    findings_only_outputs(f, !reading_taps(c) && odb_probe_cuts(c->prober) == ODB_CUTS_NONE &&
                                 odb_probe_refeeds(c->prober)); /* by now it may be found out */
    return status;
}

/* --- what is reported at the end -------------------------------------------------------------- */

static void bisect_histograms(const struct search_case *c, struct findings *f,
                              struct odb_culprit *culprit)
{
    if (culprit->value < 0 || !c->trace->ref[culprit->value] || !f->shown[culprit->value])
        return;
    struct odb_inspection *seen = odb_new(struct odb_inspection);
    struct odb_error ignored = ODB_ERROR_INIT;
    if (odb_inspect(seen, c->trace->ref[culprit->value], f->shown[culprit->value], NULL,
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

/* The kernels that the culprits are in. What is wrong with what the target says of them was told
 * when it said it. */
static void bisect_kernels(const struct search_case *c, struct findings *f)
{
    struct odb_groups groups;
    enum odb_status status =
        odb_groups_read(&groups, odb_buf_text(&f->report->account.groups), c->model->graph, NULL);
    for (size_t i = 0; i < f->report->culprits.n && status == ODB_OK; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        bool region = odb_culprit_is_region(culprit) && !culprit->group.n;
        const struct odb_kernel *first =
            odb_groups_kernel(&groups, region ? culprit->segment[0] : culprit->node);
        if (!region || first == odb_groups_kernel(&groups, culprit->segment[1]))
            culprit->kernel = odb_kernel_copy(first);
    }
    odb_groups_dispose(&groups);
}

/* Says once which values the target holds in other element types than the model gives them. */
static void bisect_note_types(const struct search_case *c, struct findings *f)
{
    const struct odb_tensor *first = NULL;
    const char *name = NULL;
    size_t n = 0;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        const struct odb_tensor *t = f->shown[v];
        if (!t || t->held == ODB_UNDEFINED)
            continue;
        name = first ? name : c->graph->values[v].name;
        first = first ? first : t;
        n++;
    }
    if (first)
        findings_note(f,
                      "%zu value%s in another element type than the model's, the first: %s is %s "
                      "and no %s; the numbers are compared all the same (--types exact takes other "
                      "types for errors)",
                      n, n == 1 ? " is" : "s are", name, odb_dtype_info(first->held)->name,
                      odb_dtype_info(first->dtype)->name);
}

static void bisect_finish(struct bisect *s)
{
    const struct search_case *c = s->asked;
    struct findings *f = &s->found;
    odb_pool_dismiss(s->whole.pool);
    bisect_kernels(c, f);
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        const struct odb_tensor *t = culprit->value < 0 ? NULL : f->shown[culprit->value];
        culprit->text = words_culprit(c, f, culprit);
        culprit->read_as = t && t->read_as ? odb_xstrdup(t->read_as) : NULL;
        if (c->trace && i < BISECT_HISTOGRAMS)
            bisect_histograms(c, f, culprit);
    }
    bisect_note_types(c, f);
    probed_forget(c, f);
    findings_unread(f, unread_count(c, f));
    findings_conclude(f);
    third_forget(f);
    reference_dispose(f);
    repeat_dispose(f);
    broken_dispose(f);
    decided_dispose(f);
    findings_dispose(f);
    search_case_dispose(&s->part);
    search_case_dispose(&s->whole);
}

static bool bisect_is_judged(const struct search_case *c, const struct findings *f, size_t v)
{
    enum odb_verdict verdict = f->values[v].verdict;
    return c->graph->values[v].producer != ODB_NO_NODE && verdict != ODB_VERDICT_UNTESTED &&
           verdict != ODB_VERDICT_UNTESTABLE && verdict != ODB_VERDICT_UNSUPPORTED;
}

/* Without a value that was judged there is no verdict, nor where all that were are empty, but for
 * Constants. */
static void bisect_check_evidence(const struct search_case *c, struct findings *f)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t empty = 0, constants = 0;
    for (size_t v = 0; v < c->graph->n_values; v++) {
        if (!bisect_is_judged(c, f, v))
            continue;
        if (c->trace && c->trace->ref[v] && bisect_is_empty(c->trace->ref[v]))
            empty++;
        else if (!c->graph->nodes[c->graph->values[v].producer].n_in)
            constants++;
        else
            return;
    }
    if (constants && !empty)
        return;
    if (empty) {
        odb_fail(&why, ODB_E_INPUT, "all values that could be judged are empty");
        odb_error_remedy(&why, "give larger inputs, with --dim or --input");
    } else {
        odb_fail(&why, ODB_E_EXECUTOR, "the target gave no value that can be judged");
        odb_error_at(&why, "%s", c->options->target);
    }
    if (!f->report->culprits.n && !f->diverge)
        findings_undecide(f, ODB_UNDECIDED_UNJUDGED, &why);
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
    report->unsought = options->strategy == ODB_STRATEGY_PLAIN;
    if (odb_model_sha256(model, report->sha256, &sha_err) != ODB_OK)
        odb_report_warn(report, "the model has no checksum: %s", sha_err.what);
    return report;
}

bool odb_bisect_reads_all(const struct odb_bisect_options *options, uint64_t *memory)
{
    const struct odb_budget *budget = options->hooks.budget;
    enum strategy_reads reads = strategy_row(options->strategy)->reads;
    *memory = reads == STRATEGY_READS_ALL ? UINT64_MAX : odb_memory_budget(budget).values;
    return reads != STRATEGY_READS_NONE && !(budget && budget->compiles);
}

/* What was cancelled because no target is left is no verdict. */
static enum odb_status bisect_unless_gone(const struct bisect *s, enum odb_status status,
                                          struct odb_error *err)
{
    struct odb_pool *pool = s->whole.is.pool;
    const char *why = pool && status == ODB_CANCELLED ? odb_pool_gone(pool) : NULL;
    return why ? odb_fail(err, ODB_E_IO, "%s", why) : status;
}

enum odb_status odb_bisect(struct odb_report **out, const struct odb_model *model,
                           const struct odb_feeds *feeds, const struct odb_bisect_options *options,
                           struct odb_error *err)
{
    struct bisect s = {.asked = &s.whole.is};
    search_case_begin(&s.whole, model, feeds, options);
    struct odb_report *report = *out = odb_bisect_report(model, feeds, options);
    findings_begin(&s.found, s.asked, report);
    enum odb_status status = bisect_search(&s, err);
    if (status == ODB_OK)
        status = settings_try(&s.whole.is, &s.found, odb_fails, err);
    if (status == ODB_OK)
        status = bodies_enter_all(s.asked, &s.found, odb_bisect, err);
    if (status == ODB_OK) {
        bisect_check_evidence(s.asked, &s.found);
        bool reads = strategy_row(options->strategy)->reads != STRATEGY_READS_NONE;
        if (!unread_rounded(s.asked, &s.found, reads) && reads)
            status = unread_check(s.asked, &s.found, err);
    }
    status = bisect_unless_gone(&s, status, err);
    if (status == ODB_OK || status == ODB_CANCELLED) { /* whose time for checks is over */
        decided_tell(s.asked, &s.found);
        unseen_set_aside(s.asked, &s.found);
    }
    if (status == ODB_OK)
        blunt_check(s.asked, &s.found);
    status = odb_report_end(report, status, err);
    bisect_finish(&s);
    return status;
}
