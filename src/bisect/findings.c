/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "run/hooks.h"
#include "reference/trace.h"

/* What is written. */
struct findings_book {
    const struct search_case *of;    /* borrowed */
    struct odb_report *report;       /* borrowed: the caller's */
    struct odb_value_report *values; /* [n_values] the report's; with pins: owned */
    struct odb_tensor **shown;       /* likewise */
    size_t n_plain;                  /* of the findings' plain and verdicts */
    bool *reaching;             /* owned; [n_nodes] before outputs that are off; NULL: not worked
                                   out yet */
    struct findings_step *step; /* of the search, and of those with pins within it */
    struct findings_kept kept;  /* meaningful without pins */
};

/* The step that goes on now. */
struct findings_step {
    struct odb_spent start;
    struct odb_spent within;          /* findings_within(), then */
    struct odb_spent noisy, replayed; /* of the trace, when the search began */
    struct odb_spent apart;           /* findings_spent_apart() in this step */
    double apart_target;
    struct odb_target_stats stats;
    struct odb_target_stats inside; /* loads and runs of searches in bodies, and their seconds */
    size_t inside_models;
    double inside_seconds;
};

/* --- from the first to the last ----------------------------------------------------------------
 */

static bool findings_has_pins(const struct findings *f)
{
    return f->book->of->pinned != NULL;
}

void findings_begin(struct findings *f, const struct search_case *c, struct odb_report *report)
{
    struct findings_book *book = odb_new(struct findings_book);
    book->of = c;
    book->report = report;
    book->values = report->values;
    book->shown = report->given;
    book->step = odb_new(struct findings_step);
    book->step->start = odb_spent_now();
    *f = (struct findings){.report = report,
                           .values = book->values,
                           .shown = book->shown,
                           .book = book,
                           .kept = &book->kept};
}

/* Values of the target that hold whatever it does: feeds, and what is fed as draws are. */
static void findings_feed(struct findings *f)
{
    const struct search_case *c = f->book->of;
    f->given = odb_new_n(struct odb_tensor *, c->graph->n_values);
    f->whole = odb_new_n(bool, c->graph->n_values + 1);
    for (size_t v = 0; v < c->graph->n_values; v++)
        f->given[v] = c->drawn[v] ? odb_tensor_ref(c->trace->ref[v]) : NULL;
    for (size_t i = 0; i < c->feeds->n; i++)
        f->given[c->feeds->items[i].value] = odb_tensor_ref(c->feeds->items[i].tensor);
}

static void findings_new_plain(struct findings *f)
{
    f->book->n_plain = f->book->of->n_outputs;
    f->plain = odb_new_n(struct odb_tensor *, f->book->n_plain);
    f->verdicts = odb_new_n(struct odb_value_report, f->book->n_plain);
}

/* What the making of the trace took, part by part. */
static void findings_spent_reference(struct findings *f)
{
    const struct odb_trace *trace = f->book->of->trace;
    const struct odb_trace *own = trace->own ? trace->own : trace;
    struct odb_report *report = f->book->report;
    struct odb_spent parts = odb_spent_plus(own->golden_made, own->noise_made);
    odb_report_spent(report, "reference", odb_spent_less(trace->made, parts), 0);
    odb_report_spent(report, "golden", own->golden_made, 0);
    odb_report_spent(report, "noise", own->noise_made, 0);
    report->reference_seconds = trace->made.seconds;
    report->golden_seconds = own->golden_made.seconds;
    f->book->step->noisy = own->noisy;
    f->book->step->replayed = trace->replayed;
}

void findings_know(struct findings *f)
{
    const struct search_case *c = f->book->of;
    struct odb_report *report = f->book->report;
    findings_feed(f);
    findings_new_plain(f);
    f->exchanged = odb_new_n(int, c->graph->n_values + 1);
    for (size_t v = 0; v < c->graph->n_values; v++)
        f->exchanged[v] = ODB_NO_VALUE;
    report->n_unsupported = c->trace->n_unsupported;
    findings_step_turn(f, "reference",
                       c->trace->reference_spec
                           ? "every value, asked of %s; what it lacks and the noise "
                             "by the CPU"
                           : "every value by the reference and in float64",
                       c->trace->reference_spec);
    report->steps.items[report->steps.n - 1].seconds = c->trace->made.seconds;
    findings_spent_reference(f);
}

static void findings_drop_plain(struct findings *f)
{
    for (size_t o = 0; f->plain && o < f->book->n_plain; o++)
        odb_tensor_unref(f->plain[o]);
    free(f->plain);
    free(f->verdicts);
    free(f->book->reaching);
    f->book->reaching = NULL;
}

void findings_turn_to(struct findings *f, const struct search_case *c)
{
    findings_drop_plain(f);
    f->book->of = c;
    findings_new_plain(f);
}

void findings_pinned(struct findings *f, const struct search_case *c, const struct findings *of)
{
    struct findings_book *book = odb_new(struct findings_book);
    size_t n = c->graph->n_values;
    *book = (struct findings_book){.of = c, .report = of->book->report, .step = of->book->step};
    *f = *of;
    f->values = book->values = odb_room_n(struct odb_value_report, n + 1);
    f->shown = book->shown = odb_new_n(struct odb_tensor *, n);
    f->book = book;
    f->verdicts = odb_new_n(struct odb_value_report, c->n_outputs);
    f->others = (typeof(f->others)){0};
    findings_feed(f);
}

/* Unrefs all, and frees the array. */
static void findings_unref(struct odb_tensor **values, size_t n)
{
    for (size_t v = 0; values && v < n; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

void findings_dispose(struct findings *f)
{
    struct findings_book *book = f->book;
    size_t n = book->of->graph->n_values;
    findings_unref(f->given, n);
    free(f->whole);
    free(f->others.items);
    if (findings_has_pins(f)) { /* the rest is the other's */
        findings_unref(book->shown, n);
        odb_room_free(book->values);
        free(book->reaching);
        free(f->verdicts);
    } else {
        findings_drop_plain(f);
        free(f->exchanged);
        free(book->step);
    }
    free(book);
}

/* --- steps -------------------------------------------------------------------------------------
 */

static struct odb_target_stats findings_stats(const struct findings *f)
{
    struct odb_pool *pool = f->book->of->pool;
    return pool ? odb_pool_stats(pool) : (struct odb_target_stats){0};
}

void findings_phase(const struct findings *f, const char *phase, size_t total)
{
    const struct search_case *c = f->book->of;
    c->trace->phase = phase;
    odb_hooks_phase(&c->options->hooks, phase, total);
}

/* The trace's own, which are phases beside the steps. */
static struct odb_spent findings_within(const struct findings *f)
{
    const struct odb_trace *trace = f->book->of->trace;
    const struct odb_trace *own = trace && trace->own ? trace->own : trace;
    return trace ? odb_spent_plus(own->noisy, trace->replayed) : (struct odb_spent){0};
}

static struct odb_target_stats findings_stats_since(const struct findings *f,
                                                    const struct odb_target_stats *then)
{
    struct odb_target_stats stats = findings_stats(f);
    odb_target_stats_less(&stats, then);
    return stats;
}

struct findings_pause findings_step_pause(const struct findings *f)
{
    const struct findings_step *step = f->book->step;
    struct findings_pause pause = {.stats = findings_stats_since(f, &step->stats),
                                   .within = odb_spent_less(findings_within(f), step->within)};
    odb_spent_since(&pause.spent, step->start);
    return pause;
}

static void findings_step_start(struct findings *f)
{
    struct findings_step *step = f->book->step;
    step->start = odb_spent_now();
    step->within = findings_within(f);
    step->stats = findings_stats(f);
    step->apart = (struct odb_spent){0};
    step->apart_target = 0;
}

void findings_step_resume(struct findings *f, struct findings_pause spent)
{
    struct findings_step *step = f->book->step;
    findings_step_start(f);
    step->stats = findings_stats_since(f, &spent.stats);
    step->start = odb_spent_less(step->start, spent.spent);
    step->within = odb_spent_less(step->within, spent.within);
}

void findings_step_begin(struct findings *f, const char *phase)
{
    findings_step_start(f);
    findings_phase(f, phase, 0);
}

ODB_PRINTF(3, 0)
static void findings_step_write(struct findings *f, const char *step, const char *why, va_list args)
{
    const struct findings_step *begun = f->book->step;
    struct odb_report *report = f->book->report;
    struct odb_target_stats asked = findings_stats_since(f, &begun->stats);
    struct odb_spent spent = {0}, within = odb_spent_less(findings_within(f), begun->within);
    double target = asked.load_seconds + asked.run_seconds;
    char line[400];
    odb_text_vfit(line, sizeof line, why, args);
    odb_spent_since(&spent, begun->start);
    report->reference_seconds += fmax(spent.seconds - target, 0); /* replays and noise */
    odb_push(&report->steps, (struct odb_search_step){.step = step,
                                                      .why = odb_xstrdup(line),
                                                      .loads = asked.loads,
                                                      .runs = asked.runs,
                                                      .seconds = spent.seconds});
    spent = odb_spent_less(odb_spent_less(spent, within), begun->apart);
    odb_report_spent(report, step, spent, target - begun->apart_target);
}

struct findings_mark findings_mark(const struct findings *f)
{
    struct odb_target_stats stats = findings_stats(f);
    return (struct findings_mark){odb_spent_now(), findings_within(f),
                                  stats.load_seconds + stats.run_seconds};
}

void findings_spent_apart(struct findings *f, const char *part, struct findings_mark since)
{
    struct findings_step *step = f->book->step;
    struct findings_mark now = findings_mark(f);
    struct odb_spent spent =
        odb_spent_less(odb_spent_less(now.at, since.at), odb_spent_less(now.within, since.within));
    double target = now.target - since.target;
    odb_report_spent(f->book->report, part, spent, target);
    step->apart = odb_spent_plus(step->apart, spent);
    step->apart_target += target;
}

void findings_step_end(struct findings *f, const char *step, const char *why, ...)
{
    va_list args;
    va_start(args, why);
    findings_step_write(f, step, why, args);
    va_end(args);
}

void findings_step_turn(struct findings *f, const char *step, const char *why, ...)
{
    va_list args;
    findings_step_start(f);
    va_start(args, why);
    findings_step_write(f, step, why, args);
    va_end(args);
}

void findings_expect(struct findings *f, const char *what, size_t loads, double seconds)
{
    const struct search_case *c = f->book->of;
    struct odb_forecast *forecast = &f->book->report->forecast;
    *forecast = (struct odb_forecast){what, c->prober->now->loads + loads,
                                      odb_clock() - c->start.seconds + seconds};
    odb_hooks_tell(&c->options->hooks, (struct odb_search_event){.what = ODB_EVENT_FORECAST,
                                                                 .text = what,
                                                                 .node = ODB_NO_NODE,
                                                                 .loads = forecast->loads,
                                                                 .seconds = forecast->seconds});
}

void findings_left(struct findings *f, const bool *suspects)
{
    const struct search_case *c = f->book->of;
    struct odb_left *left = &f->book->report->left;
    if (findings_has_pins(f)) /* of another model */
        return;
    *left = (struct odb_left){0};
    for (int n = 0; n < (int)c->graph->n_nodes; n++) {
        if (!suspects[n])
            continue;
        left->first = left->n++ ? left->first : n;
        left->last = n;
    }
    odb_hooks_tell(&c->options->hooks, (struct odb_search_event){.what = ODB_EVENT_SUSPECTS,
                                                                 .text = "",
                                                                 .node = left->first,
                                                                 .last = left->last,
                                                                 .remaining = left->n});
}

void findings_spent_inside(struct findings *f, const struct odb_report *inside)
{
    struct findings_step *step = f->book->step;
    step->inside.loads += inside->target_loads;
    step->inside_models += inside->target_models;
    step->inside.runs += inside->target_runs;
    step->inside_seconds += inside->target_seconds;
    step->inside.load_seconds += inside->target_load_seconds;
}

/* --- values ------------------------------------------------------------------------------------
 */

void findings_tell(const struct findings *f, int value)
{
    const struct search_case *c = f->book->of;
    if (!findings_has_pins(f)) /* else that is another model's */
        odb_hooks_value(&c->options->hooks, c->graph, value, &f->values[value]);
}

void findings_value(struct findings *f, int value, const struct odb_value_report *report)
{
    f->book->values[value] = *report;
    findings_tell(f, value);
}

struct odb_value_report *findings_judge(struct findings *f)
{
    return f->book->values;
}

void findings_keep(struct findings *f, int value, const struct odb_tensor *t)
{
    struct odb_tensor *before = f->book->shown[value];
    f->book->shown[value] = odb_tensor_ref(t);
    odb_tensor_unref(before);
}

void findings_give(struct findings *f, int value, const struct odb_tensor *t)
{
    struct odb_tensor *before = f->given[value];
    f->given[value] = odb_tensor_ref(t);
    f->whole[value] = false;
    odb_tensor_unref(before);
}

void findings_diverge(struct findings *f, bool diverge)
{
    f->diverge = diverge;
    if (!findings_has_pins(f))
        f->book->report->outputs_diverge = diverge;
}

void findings_sign(struct findings *f, const struct odb_signature *sought)
{
    struct odb_buf text = ODB_BUF_INIT;
    f->sought = *sought;
    if (!findings_has_pins(f) && odb_verdict_is_bad(sought->verdict)) {
        odb_signature_text(sought, &text);
        free(f->book->report->signature);
        f->book->report->signature = odb_buf_take(&text);
    }
    odb_buf_dispose(&text);
}

/* --- culprits ----------------------------------------------------------------------------------
 */

/* NaN and Inf that came in are not the node's own. */
static bool findings_poisoned(const struct findings *f, int value)
{
    const struct odb_graph *graph = f->book->of->graph;
    int producer = graph->values[value].producer;
    const struct odb_node *node = producer == ODB_NO_NODE ? NULL : &graph->nodes[producer];
    for (int i = 0; node && i < node->n_in; i++)
        if (node->in[i] >= 0 && f->values[node->in[i]].verdict == ODB_VERDICT_NAN)
            return true;
    return false;
}

enum odb_diagnosis findings_kind_of(enum odb_verdict verdict, const struct odb_tensor *given,
                                    const struct odb_tensor *reference)
{
    struct odb_specials s;
    odb_specials_count(&s, given, reference);
    bool infinite = s.inf_target + s.inf_reference + s.inf_sign > 0;
    return verdict == ODB_VERDICT_CRASH                    ? ODB_KIND_CRASH
           : verdict == ODB_VERDICT_TIMEOUT                ? ODB_KIND_HANG
           : verdict != ODB_VERDICT_NAN                    ? ODB_KIND_INTRODUCED
           : infinite && !s.nan_target && !s.nan_reference ? ODB_KIND_INF
                                                           : ODB_KIND_NAN;
}

enum odb_diagnosis findings_kind(const struct findings *f, int value)
{
    enum odb_verdict verdict = f->values[value].verdict;
    if (verdict == ODB_VERDICT_NAN && findings_poisoned(f, value))
        return ODB_KIND_INTRODUCED;
    return findings_kind_of(verdict, f->given[value] ? f->given[value] : f->shown[value],
                            f->book->of->trace->ref[value]);
}

/* Nodes whose error can show at an output that is off: worked out once, for culprits may be many.
 */
static const bool *findings_reaching(struct findings *f)
{
    const struct search_case *c = f->book->of;
    if (f->book->reaching)
        return f->book->reaching;
    int *bad = odb_new_n(int, c->n_outputs + 1);
    size_t n = 0;
    for (size_t o = 0; o < c->n_outputs; o++)
        if (odb_verdict_is_bad(f->verdicts[o].verdict))
            bad[n++] = c->outputs[o];
    f->book->reaching = odb_new_n(bool, c->graph->n_nodes + 1);
    odb_graph_ancestors(c->graph, bad, n, c->fed, f->book->reaching);
    free(bad);
    return f->book->reaching;
}

void findings_reach(struct findings *f)
{
    free(f->book->reaching);
    f->book->reaching = NULL;
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        struct odb_culprit *culprit = findings_culprit(f, i);
        culprit->reaches_output |= culprit->value >= 0 && findings_reaching(f)[culprit->node];
    }
}

struct odb_culprit *findings_accuse(struct findings *f, int node, int value,
                                    enum odb_diagnosis kind)
{
    struct odb_culprit culprit = {
        .node = node, .value = value, .kind = kind, .segment = {node, node}};
    if (value >= 0) {
        culprit.numbers = f->values[value];
        culprit.reaches_output = findings_reaching(f)[node];
    }
    odb_push(&f->book->report->culprits, culprit);
    f->book->report->left = (struct odb_left){0};
    return findings_culprit(f, f->report->culprits.n - 1);
}

struct odb_culprit *findings_culprit(struct findings *f, size_t index)
{
    return &f->book->report->culprits.items[index];
}

struct odb_culprit findings_take(struct findings *f, size_t index)
{
    struct odb_culprit *at = findings_culprit(f, index), taken = *at;
    size_t behind = --f->book->report->culprits.n - index;
    memmove(at, at + 1, behind * sizeof *at);
    return taken;
}

void findings_drop(struct findings *f, size_t index)
{
    struct odb_culprit culprit = findings_take(f, index);
    odb_culprit_dispose(&culprit);
}

bool findings_explain(const struct findings *f, int value)
{
    const struct search_case *c = f->book->of;
    bool *up = odb_new_n(bool, c->graph->n_nodes);
    bool explained = false;
    odb_graph_ancestors(c->graph, &value, 1, c->fed, up);
    for (size_t i = 0; i < f->report->culprits.n; i++) {
        const struct odb_culprit *culprit = &f->report->culprits.items[i];
        explained |= up[culprit->node] && culprit->kind != ODB_KIND_EXCHANGED;
    }
    free(up);
    return explained || f->exchanged[value] != ODB_NO_VALUE;
}

/* --- words -------------------------------------------------------------------------------------
 */

void findings_warn(struct findings *f, const char *fmt, ...)
{
    va_list args;
    char line[1024];
    va_start(args, fmt);
    odb_text_vfit(line, sizeof line, fmt, args);
    va_end(args);
    odb_report_warn(f->book->report, "%s", line);
}

void findings_note(struct findings *f, const char *fmt, ...)
{
    va_list args;
    char line[1024];
    va_start(args, fmt);
    odb_text_vfit(line, sizeof line, fmt, args);
    va_end(args);
    odb_report_note(f->book->report, "%s", line);
}

void findings_undecide(struct findings *f, enum odb_undecided why, const struct odb_error *because)
{
    odb_report_undecide(f->book->report, why, because);
}

/* --- parts of the report -----------------------------------------------------------------------
 */

struct odb_repeats *findings_repeats(struct findings *f)
{
    return &f->book->report->repeats;
}

struct odb_pieces *findings_pieces(struct findings *f)
{
    return &f->book->report->pieces;
}

struct odb_observer *findings_observer(struct findings *f)
{
    return &f->book->report->observer;
}

struct odb_proof *findings_proof(struct findings *f)
{
    return &f->book->report->proof;
}

struct odb_account *findings_account(struct findings *f)
{
    return &f->book->report->account;
}

void findings_dead(struct findings *f, bool dead)
{
    f->book->report->dead = dead;
}

void findings_narrower(struct findings *f, const char *type)
{
    free(f->book->report->narrower);
    f->book->report->narrower = odb_xstrdup(type);
}

void findings_little_shown(struct findings *f, bool all)
{
    f->book->report->little_shown = all;
}

void findings_only_whole(struct findings *f, const char *how)
{
    if (!findings_has_pins(f)) /* else that is another model */
        f->book->report->only_whole = how;
}

void findings_contributions_to(struct findings *f, int output)
{
    f->book->report->contributions_to = output;
}

void findings_setting_take(struct findings *f, struct odb_setting_tried tried)
{
    odb_push(&f->book->report->settings, tried);
}

void findings_contribute(struct findings *f, struct odb_contribution part)
{
    odb_push(&f->book->report->contributions, part);
}

void findings_pin_node(struct findings *f, int node)
{
    odb_push(&f->book->report->pinned, node);
}

void findings_pinned_pass(struct findings *f, enum odb_checked pass)
{
    f->book->report->pinned_pass = pass;
}

void findings_instead(struct findings *f, const struct odb_instead *instead)
{
    struct odb_report *report = f->book->report;
    struct odb_buf text = ODB_BUF_INIT;
    report->instead = *instead;
    report->plain_given = true;
    odb_instead_put(&report->instead, f->book->of->graph, &text);
    if (report->own_file[0])
        odb_buf_printf(&text, "; %s", report->own_file);
    report->instead_text = text.len ? odb_buf_take(&text) : NULL;
    odb_buf_dispose(&text);
}

void findings_own_file(struct findings *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(f->book->report->own_file, sizeof f->book->report->own_file, fmt, args);
    va_end(args);
}

void findings_last_words(struct findings *f, const char *words)
{
    f->book->report->target_words = odb_xstrdup(words);
}

void findings_unread(struct findings *f, size_t n)
{
    f->book->report->values_unread = n;
}

void findings_only_outputs(struct findings *f, bool only)
{
    f->book->report->only_outputs = only;
}

/* Which parts of the model it takes, where the search had to find that out. */
static void findings_conclude_cuts(struct findings *f)
{
    const struct search_case *c = f->book->of;
    enum odb_cuts found = odb_probe_cuts_found(c->prober);
    const char *parts = found == ODB_CUTS_NONE ? "no part of the model"
                                               : "no part of the model that begins within it";
    if (found == ODB_CUTS_ANY)
        return;
    f->book->report->cut_found = odb_xstrdup(odb_cuts_word(found));
    if (found == c->options->cuts)
        findings_note(f,
                      "an earlier search in this session found that the target takes %s, so it was "
                      "not asked for one; --retry asks again, and so does cut=any in its spec",
                      parts);
    else
        findings_note(
            f,
            "the target takes %s: it refused two in the same words, and was not asked for "
            "more; cut=%s in its spec says so at once, cut=any asks for each",
            parts, odb_cuts_word(found));
}

/* How many outputs of one model it gives, where the search had to find that out. */
static void findings_conclude_outputs(struct findings *f)
{
    const struct search_case *c = f->book->of;
    size_t most = c->prober->now->max_outputs;
    if (most == SIZE_MAX || most > odb_probe_max_outputs(c->prober))
        return;
    f->book->report->max_outputs = most;
    if (most == c->options->max_outputs)
        findings_note(f,
                      "an earlier search in this session found that the target gives %zu output%s "
                      "of one model at most, so it was not asked for more; --retry asks again",
                      most, most == 1 ? "" : "s");
    else
        findings_note(f,
                      "the target was found to give %zu output%s of one model at most; with "
                      "max_outputs=%zu in its spec it is not asked for more",
                      most, most == 1 ? "" : "s", most);
}

/* What the target has cost, and what it is. */
static void findings_conclude_target(struct findings *f)
{
    struct odb_report *report = f->book->report;
    const struct findings_step *step = f->book->step;
    struct odb_pool *pool = f->book->of->pool;
    odb_pool_stop(pool);
    struct odb_target_stats stats = odb_pool_stats(pool);
    report->target_models = odb_probe_models(f->book->of->prober) + step->inside_models;
    report->target_loads = stats.loads + step->inside.loads;
    report->target_runs = stats.runs + step->inside.runs;
    report->target_seconds = stats.load_seconds + stats.run_seconds + step->inside_seconds;
    report->target_load_seconds = stats.load_seconds + step->inside.load_seconds;
    report->target_description = odb_xstrdup(odb_target_description(odb_pool_target(pool)));
    findings_conclude_outputs(f);
    findings_conclude_cuts(f);
    if (stats.relinks)
        findings_note(f, "the link to the target was lost and made again: %zu time%s",
                      stats.relinks, stats.relinks == 1 ? "" : "s");
    if (odb_pool_trouble(pool)[0])
        findings_warn(f, "a worker of the target is out: %s", odb_pool_trouble(pool));
}

/* What the trace took meanwhile, and what no step did. */
static void findings_conclude_phases(struct findings *f)
{
    const struct search_case *c = f->book->of;
    const struct odb_trace *trace = c->trace, *own = trace && trace->own ? trace->own : trace;
    const struct findings_step *step = f->book->step;
    struct odb_report *report = f->book->report;
    struct odb_spent all = {0};
    odb_spent_since(&all, c->start);
    report->seconds = all.seconds;
    report->processor_seconds = all.processor;
    if (trace) {
        struct odb_spent noisy = odb_spent_less(own->noisy, step->noisy);
        odb_report_spent(report, "noise", noisy, 0);
        odb_report_spent(report, "replay", odb_spent_less(trace->replayed, step->replayed), 0);
        report->noise_seconds = own->noise_made.seconds + noisy.seconds;
    }
    for (size_t i = 0; i < report->phases.n; i++)
        all = odb_spent_less(all, report->phases.items[i].spent);
    odb_report_spent(report, "other", all, 0);
}

void findings_conclude(struct findings *f)
{
    const struct search_case *c = f->book->of;
    struct odb_report *report = f->book->report;
    struct odb_buf host = ODB_BUF_INIT;
    if (c->pool)
        findings_conclude_target(f);
    if (c->trace) {
        odb_firsts_find(&report->reference_firsts, c->graph, c->feeds, c->trace->ref);
        odb_firsts_find(&report->target_firsts, c->graph, c->feeds, report->given);
    }
    odb_host_put(&host);
    report->host = odb_xstrdup(odb_buf_text(&host));
    odb_buf_dispose(&host);
    findings_conclude_phases(f);
}
