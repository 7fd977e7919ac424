/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/verb_bisect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe/ahead.h"
#include "bisect/plan/bisect.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/input_settings.h"
#include "command/call/trust_store.h"
#include "command/call/watch.h"
#include "command/console/annotating.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/search_options.h"
#include "command/value/spare_model.h"
#include "command/verbs/search/against_option.h"
#include "command/verbs/search/calibration.h"
#include "command/verbs/search/over_option.h"
#include "command/verbs/search/ranking.h"
#include "command/verbs/search/samples_option.h"
#include "command/verbs/search/sequence_option.h"
#include "session/session_state.h"
#include "suspects/suspects.h"

#define BISECT_FULL 3   /* culprits told in full */
#define BISECT_SHORT 20 /* and those with a line at least */

/* --- text --------------------------------------------------------------------------------- */

static void bisect_put_number(struct odb_buf *out, const char *name, struct odb_number number)
{
    if (number.known)
        odb_buf_printf(out, "  %s %.3g", name, number.v);
}

static void bisect_put_numbers(const struct odb_value_report *r, struct odb_buf *out)
{
    struct odb_named_number numbers[ODB_REPORT_NUMBERS];
    size_t before = out->len;
    odb_buf_puts(out, "  ");
    odb_report_numbers(r, numbers);
    for (size_t i = 0; i < ODB_REPORT_NUMBERS; i++)
        bisect_put_number(out, numbers[i].name, numbers[i].number);
    if (out->len == before + 2)
        out->len = before;
    else
        odb_buf_putc(out, '\n');
}

/* The node in its bodies that is to blame. */
static void bisect_put_inside(const struct odb_culprit *culprit, struct odb_buf *out)
{
    const struct odb_culprit_inside *inside = culprit->inside;
    if (!inside)
        return;
    odb_buf_puts(out, "    within: ");
    odb_buf_put_shown(out, culprit->path);
    odb_buf_puts(out, " (");
    odb_buf_put_shown(out, inside->op_type);
    odb_buf_printf(out, "), %s", odb_diagnosis_name(inside->kind));
    if (inside->value) {
        odb_buf_puts(out, ", seen at ");
        odb_buf_put_shown(out, inside->value);
    }
    odb_buf_putc(out, '\n');
    bisect_put_numbers(&inside->numbers, out);
}

/* What is accused: a node, or a region that could not be narrowed. */
static void bisect_put_accused(const struct odb_graph *graph, const struct odb_culprit *culprit,
                               struct odb_buf *out)
{
    odb_culprit_put_place(culprit, graph, "", out);
    odb_buf_printf(out, ": %s", odb_diagnosis_name(culprit->kind));
}

void odb_call__put_culprit(const struct odb_graph *graph, const struct odb_culprit *culprit,
                           struct odb_buf *out)
{
    char key[512];
    bisect_put_accused(graph, culprit, out);
    if (culprit->value != ODB_NO_VALUE) {
        odb_buf_puts(out, ", seen at ");
        odb_buf_put_shown(out,
                          odb_value_key(graph, &graph->values[culprit->value], key, sizeof key));
    }
    odb_buf_putc(out, '\n');
    bisect_put_numbers(&culprit->numbers, out);
    odb_buf_puts(out, "    ");
    odb_culprit_facts(culprit, out);
    odb_buf_putc(out, '\n');
    odb_culprit_put_kernel(culprit, graph, "    ", out);
    bisect_put_inside(culprit, out);
    if (culprit->text && *culprit->text) {
        odb_buf_puts(out, "    ");
        odb_help_wrap(out, culprit->text, 4, 4);
    }
}

/* One line for those that are not told in full. */
static void bisect_put_short(const struct odb_graph *graph, const struct odb_culprit *culprit,
                             struct odb_buf *out)
{
    odb_buf_puts(out, "    ");
    bisect_put_accused(graph, culprit, out);
    bisect_put_number(out, "error", culprit->numbers.error);
    bisect_put_number(out, "local error", culprit->numbers.local_error);
    bisect_put_number(out, "local noise", culprit->numbers.local_noise);
    odb_buf_putc(out, '\n');
}

static void bisect_put_culprits(const struct odb_report *report, struct odb_buf *out)
{
    size_t n = report->culprits.n;
    for (size_t i = 0; i < n && i < BISECT_FULL; i++) {
        odb_buf_putc(out, '\n');
        odb_call__put_culprit(report->model->graph, &report->culprits.items[i], out);
    }
    if (n > BISECT_FULL)
        odb_buf_puts(out, "\nalso\n");
    for (size_t i = BISECT_FULL; i < n && i < BISECT_SHORT; i++)
        bisect_put_short(report->model->graph, &report->culprits.items[i], out);
    if (n > BISECT_SHORT)
        odb_buf_printf(out, "    and %zu more, which --json holds\n", n - BISECT_SHORT);
    struct odb_buf alike = ODB_BUF_INIT;
    odb_report_put_alike(report, &alike);
    if (alike.len)
        odb_buf_printf(out, "\n%s\n", odb_buf_text(&alike));
    odb_buf_dispose(&alike);
    struct odb_buf hint = ODB_BUF_INIT;
    odb_report_put_hint(report, &hint);
    if (hint.len)
        odb_buf_printf(out, "\nhint: %s\n", odb_buf_text(&hint));
    odb_buf_dispose(&hint);
}

static void bisect_put_headline(const struct odb_report *report, struct odb_buf *out)
{
    const struct odb_graph *graph = report->model->graph;
    size_t counts[ODB_VERDICT_COUNT] = {0}, bad = 0;
    for (size_t i = 0; i < graph->n_values; i++)
        if (graph->values[i].producer != ODB_NO_NODE) {
            counts[report->values[i].verdict]++;
            bad += odb_verdict_is_bad(report->values[i].verdict);
        }
    odb_report_headline(report, out);
    odb_buf_putc(out, '\n');
    if (!report->spent && !report->complete && report->left.n) {
        odb_buf_puts(out, "when it ended ");
        odb_report_put_left(report, out);
        odb_buf_putc(out, '\n');
    }
    odb_buf_puts(out, "values:");
    for (int v = 0; v < ODB_VERDICT_COUNT; v++)
        if (counts[v])
            odb_buf_printf(out, " %zu %s", counts[v], odb_verdict_name((enum odb_verdict)v));
    odb_buf_putc(out, '\n');
    odb_report_firsts(report, out);
    odb_report_proof(report, out);
    if (report->instead_text) {
        odb_buf_puts(out, "the target was not given the file itself: ");
        odb_buf_put_shown(out, report->instead_text);
        odb_buf_putc(out, '\n');
    }
    if (report->observer.moved && !report->observer.decides)
        odb_buf_printf(out, "probing changes the outputs' bits (by %.2g), verdict unaffected\n",
                       report->observer.by);
}

/* Seconds of a part that were not the target's. */
static double bisect_own_seconds(const struct odb_report *report, const char *part)
{
    for (size_t i = 0; i < report->phases.n; i++) {
        const struct odb_phase *phase = &report->phases.items[i];
        if (!strcmp(phase->name, part))
            return fmax(0, phase->spent.seconds - phase->target_seconds);
    }
    return 0;
}

/* What is counted for the reference's, less what other executors and explaining took of it. */
static void bisect_put_shares(const struct odb_report *report, struct odb_buf *out)
{
    static const struct {
        const char *part, *words;
    } rows[] = {{"third", "third opinion"}, {"explain", "explaining"}};
    double rest = report->reference_seconds;
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        rest -= bisect_own_seconds(report, rows[i].part);
    odb_buf_printf(out, "; %.2f s, of them reference %.2f s", report->seconds, fmax(0, rest));
    if (report->golden_seconds > 0)
        odb_buf_printf(out, " (in float64 %.2f s, noise %.2f s)", report->golden_seconds,
                       report->noise_seconds);
    for (size_t i = 0; i < ODB_COUNT(rows); i++)
        if (bisect_own_seconds(report, rows[i].part) > 0.005)
            odb_buf_printf(out, ", %s %.2f s", rows[i].words,
                           bisect_own_seconds(report, rows[i].part));
}

static void bisect_put_cost(const struct odb_report *report, struct odb_buf *out)
{
    odb_buf_printf(out, "\n%zu model%s, %zu load%s and %zu run%s of the target",
                   report->target_models, odb_plural(report->target_models), report->target_loads,
                   odb_plural(report->target_loads), report->target_runs,
                   odb_plural(report->target_runs));
    if (report->target_description && *report->target_description) {
        odb_buf_puts(out, " (");
        odb_buf_put_shown(out, report->target_description);
        odb_buf_putc(out, ')');
    }
    bisect_put_shares(report, out);
    odb_buf_printf(
        out, ", target %.2f s (loads %.2f s); %.2f s of the processors, the target's own aside\n",
        report->target_seconds, report->target_load_seconds, report->processor_seconds);
}

/* The same, part by part. */
static void bisect_put_phases(const struct odb_report *report, struct odb_buf *out)
{
    odb_buf_printf(out, "\n%-12s %8s %10s %8s\n", "part", "seconds", "processors", "target");
    for (size_t i = 0; i < report->phases.n; i++) {
        const struct odb_phase *phase = &report->phases.items[i];
        if (phase->spent.seconds >= 0.00005)
            odb_buf_printf(out, "%-12s %8.4f %10.4f %8.4f\n", phase->name, phase->spent.seconds,
                           phase->spent.processor, phase->target_seconds);
    }
}

static void bisect_put_words(const struct odb_report *report, struct odb_buf *out)
{
    struct odb_buf words = ODB_BUF_INIT;
    odb_report_put_words(report, "    ", &words);
    if (words.len)
        odb_buf_printf(out, "\nthe end of what the target printed before it died:\n%s", words.data);
    odb_buf_dispose(&words);
}

static void bisect_text(const struct odb_report *report, struct odb_buf *out)
{
    bisect_put_headline(report, out);
    odb_buf_puts(out, report->summary ? report->summary : "");
    bisect_put_culprits(report, out);
    bisect_put_words(report, out);
    odb_buf_puts(out, report->warnings.n ? "\n" : "");
    for (size_t i = 0; i < report->warnings.n; i++) {
        odb_buf_puts(out, "warning: ");
        odb_buf_put_shown(out, report->warnings.items[i]);
        odb_buf_putc(out, '\n');
    }
    odb_buf_puts(out, report->notes.n && !report->warnings.n ? "\n" : "");
    for (size_t i = 0; i < report->notes.n; i++) {
        odb_buf_puts(out, "note: ");
        odb_buf_put_shown(out, report->notes.items[i]);
        odb_buf_putc(out, '\n');
    }
    if (report->account.places.n) {
        odb_buf_puts(out, report->warnings.n || report->notes.n ? "" : "\n");
        odb_buf_puts(out, "the target runs ");
        odb_account_put_places(&report->account, out);
        odb_buf_putc(out, '\n');
    }
    if (report->ranking)
        odb_buf_printf(out, "%s%s", report->ranking[0] == '\n' ? "" : "\n", report->ranking);
    bisect_put_cost(report, out);
}

/* --- the command -------------------------------------------------------------------------- */

/* The report goes out also when the search was interrupted or the target failed for good. */
static enum odb_status bisect_publish(struct odb_command_call *call,
                                      const struct odb_report *report, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_report_json(report, &out);
        status = odb_call__publish(call, &out, err);
    }
    if (!instead)
        bisect_text(report, &out);
    if (!instead && odb_call_option(call, ODB_OPTION_COSTS))
        bisect_put_phases(report, &out);
    odb_call__print(call, &out);
    return status;
}

/* What an earlier search in this session has to do with this one. */
static void bisect_recall(struct odb_command_call *call)
{
    const struct odb_resumed *resumed = &call->session->resumed;
    char *text = NULL;
    if (resumed->other) {
        text = odb_xasprintf("the search in this session that did not end was another one, so "
                             "this one starts anew; different: %s",
                             resumed->other);
        odb_call__warn(call, text);
        free(text);
    }
    for (size_t i = 0; i < resumed->running.n; i++) {
        text = odb_xasprintf("the probe '%s' was running when the last run ended: not repeated; "
                             "--retry to try it again",
                             resumed->running.items[i]);
        odb_call__warn(call, text);
        free(text);
    }
}

enum odb_status odb_call__bisect_begin(struct odb_command_call *call,
                                       struct odb_bisect_options *options, const char *inputs,
                                       struct odb_error *err)
{
    ODB_TRY(odb_session_begin(call->session, "bisect", options, inputs,
                              odb_call_has(call, ODB_OPTION_RETRY), err));
    ODB_TRY(odb_call__input_settings_keep(call, true, err));
    odb_trust_keep_specs(call);
    bisect_recall(call);
    return ODB_OK;
}

/* The budget was spent before the search came to its end. A divergence that is known is the
 * verdict; otherwise there is none. report: NULL: no search had begun. */
static enum odb_status bisect_spent(struct odb_command_call *call, struct odb_report *report,
                                    struct odb_error *err)
{
    const struct odb_session *session = call->session;
    struct odb_buf left = ODB_BUF_INIT;
    if (report && report->left.n) {
        odb_buf_puts(&left, ", ");
        odb_report_put_left(report, &left);
    }
    const char *seconds = odb_call_option(call, ODB_OPTION_BUDGET);
    bool compiles = call->budget.refused || !seconds;
    odb_fail(err, ODB_E_EXECUTOR, "the budget of %s %s is spent after %zu probe%s%s",
             compiles ? odb_call_option(call, ODB_OPTION_COMPILES) : seconds,
             compiles ? "models" : "s", call->budget.asked, odb_plural(call->budget.asked),
             odb_buf_text(&left));
    odb_buf_dispose(&left);
    odb_error_remedy(err, session->store ? "the same command goes on from there"
                                         : "with --session FILE a search can be gone on with");
    if (!report)
        return call->found ? ODB_OK : err->code;
    report->spent = true;
    enum odb_status status = odb_report_end(report, err->code, err);
    if (odb_report_outcome(report) != ODB_OUTCOME_DIVERGES)
        return status;
    char line[600];
    odb_call__warn(call, odb_error_text(err, line, sizeof line));
    return ODB_OK;
}

/* What the user pinned and wrote down belongs to what was found. */
static void bisect_put_down(const struct odb_session *session, struct odb_report *report)
{
    struct odb_annotation_list list;
    odb_annotating_copy(session, &list);
    for (size_t i = 0; i < list.items.n; i++) {
        const struct odb_annotation *annotation = &list.items.items[i];
        if (annotation->kind == ODB_ANNOTATION_PIN)
            odb_report_note(report, "%s was pinned to %s", annotation->place, annotation->text);
        else if (annotation->kind == ODB_ANNOTATION_NOTE)
            odb_report_note(report, "of node %s: %s", annotation->place, annotation->text);
    }
    odb_annotation_list_dispose(&list);
}

/* The nodes as their outputs alone rank them, where the search could narrow nothing. Several
 * samples were ranked before it. */
static enum odb_status bisect_rank(struct odb_command_call *call, struct odb_call_samples *samples,
                                   const struct odb_bisect_options *options,
                                   struct odb_report *report, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    if (!report->only_outputs || !report->outputs_diverge)
        return ODB_OK;
    if (!samples->ranked && !samples->given) {
        status = odb_call__samples_of(call, samples, ODB_CALL_RANKED, &why);
        samples->given = false; /* one was searched */
        if (status == ODB_OK)
            status = odb_call__rank(call, &samples->found, options, &samples->ranked, &why);
    }
    if (status == ODB_CANCELLED)
        *err = why;
    else if (status != ODB_OK)
        odb_report_note(report, "the nodes could not be ranked: %.300s", why.what);
    return status == ODB_CANCELLED ? status : ODB_OK;
}

/* What may be beside one model with one set of inputs. */
struct bisect_ways {
    struct odb_call_against against;
    struct odb_call_over over;
    struct odb_call_samples samples;
    struct odb_call_sequence sequence;
};

/* The target starts and runs the model while the reference is made. Where answers are written down,
 * so are questions, before they are put: then none is put ahead, nor where some are known. */
static void bisect_begin_target(const struct odb_command_call *call,
                                struct odb_bisect_options *options)
{
    struct odb_ahead_whole whole = {
        .model = call->model, .feeds = call->session->feeds, .runs = (size_t)options->repeat};
    whole.reads = odb_bisect_reads_all(options, &whole.memory);
    bool asks = !call->session->begun && !options->answers->n && !options->trace;
    options->ahead = odb_ahead_begin(options->target, asks ? &whole : NULL, &options->hooks);
}

/* A report also where the reference failed, so that an older one is not taken for this search's. */
static enum odb_status bisect_search(struct odb_command_call *call, const struct bisect_ways *ways,
                                     struct odb_bisect_options *options, struct odb_report **report,
                                     struct odb_error *err)
{
    const struct odb_feeds *feeds = call->session->feeds;
    const struct odb_call_against *against = &ways->against;
    const struct odb_call_samples *samples = &ways->samples;
    if (ways->sequence.given && !odb_call__sequence_searches(&ways->sequence)) {
        *report = odb_bisect_report(call->model, feeds, options);
        return ODB_OK;
    }
    if (samples->ranked && samples->ranked->stopped) {
        *report = odb_bisect_report(call->model, feeds, options);
        (*report)->outputs_diverge = samples->ranked->n_differ > 0;
        return odb_call__rank_stopped(samples->ranked, err);
    }
    if (!against->model)
        bisect_begin_target(call, options);
    enum odb_status status = odb_session_trace(call->session, &options->trace, options, err);
    if (status != ODB_OK)
        *report = odb_bisect_report(call->model, feeds, options);
    else
        status = against->model
                     ? odb_against_bisect(report, &against->how, call->model, feeds, options, err)
                     : odb_bisect(report, call->model, feeds, options, err);
    odb_ahead_free(options->ahead);
    options->ahead = NULL;
    return status;
}

static enum odb_status bisect_command(struct odb_command_call *call, struct bisect_ways *ways,
                                      struct odb_bisect_options options, struct odb_error *err)
{
    struct odb_call_samples *samples = &ways->samples;
    struct odb_session *session = call->session;
    struct odb_report *report = NULL;
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    struct odb_error late = ODB_ERROR_INIT;
    enum odb_status status;
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    options.prove = odb_call_option(call, ODB_OPTION_PROVE) != NULL;
    if (ways->sequence.begun) /* with the step that it came to */
        ODB_TRY(odb_call__input_settings_keep(call, true, err));
    else
        ODB_TRY(odb_call__bisect_begin(call, &options, NULL, err));
    options.hooks = odb_watch_begin(&watch, call);
    watch.cuts = true;
    status = bisect_search(call, ways, &options, &report, err);
    if (report && samples->given && status != ODB_E_USAGE)
        odb_call__samples_confirm(samples, report, &options);
    if (report && status == ODB_OK)
        odb_call__sequence_others(&ways->sequence, report, &options);
    if (report && status == ODB_OK && !ways->against.model)
        status = bisect_rank(call, samples, &options, report, err);
    if (report && samples->ranked)
        odb_suspects_report(samples->ranked, &samples->found, report);
    if (status == ODB_OK && samples->ranked && samples->ranked->stopped)
        status = odb_call__rank_stopped(samples->ranked, err);
    if (report)
        status = odb_call__calibration(report, &options, status, err);
    odb_watch_end(&watch);
    if (!report || status == ODB_E_USAGE) {
        odb_report_free(report);
        return status;
    }
    bool stopped = status == ODB_CANCELLED || status == ODB_SKIPPED;
    bisect_put_down(call->session, report);
    odb_call__over_report(&ways->over, report);
    odb_call__samples_report(samples, report);
    odb_call__sequence_report(&ways->sequence, report);
    status = status == ODB_CANCELLED && odb_watch_spent(&watch)
                 ? bisect_spent(call, report, err)
                 : odb_report_end(report, status, err);
    call->found = odb_report_outcome(report) == ODB_OUTCOME_DIVERGES;
    enum odb_status after = bisect_publish(call, report, &late);
    enum odb_status kept =
        odb_session_end_take(session, report, stopped, after == ODB_OK ? &late : NULL);
    after = after == ODB_OK ? kept : after;
    if (status == ODB_OK && after != ODB_OK) {
        *err = late;
        status = after;
    }
    return status;
}

/* What failed before there was a search of nodes leaves a report as well, without a verdict: an
 * older one is not taken for this search's. begun: the session's search is this one. */
static void bisect_fail(struct odb_command_call *call, const struct odb_bisect_options *options,
                        bool begun, enum odb_status status, const struct odb_error *err)
{
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_error why = *err, ignored = ODB_ERROR_INIT;
    bool stopped = status == ODB_CANCELLED || status == ODB_SKIPPED;
    json = json && odb_call__spare_model(call, json, &ignored) == ODB_OK ? json : NULL;
    if (!json && !begun)
        return;
    struct odb_report *report = odb_bisect_report(call->model, call->session->feeds, options);
    if (odb_report_end(report, status, &why) != ODB_OK && json)
        odb_report_json(report, &out);
    if (out.len && odb_call__publish(call, &out, &ignored) != ODB_OK)
        odb_call__warn(call, ignored.what);
    if (!begun)
        odb_report_free(report);
    else if (odb_session_end_take(call->session, report, stopped, &ignored) != ODB_OK)
        odb_call__warn(call, ignored.what);
}

enum odb_status odb_command__bisect(struct odb_command_call *call, struct odb_error *err)
{
    struct bisect_ways ways = {0};
    struct odb_bisect_options options;
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    ODB_TRY(odb_call__search_options(call, &options, err));
    if (json)
        ODB_TRY(odb_call__spare_model(call, json, err));
    enum odb_status status = odb_call__sequence(call, &ways.sequence, &options, err);
    if (status == ODB_OK && !ways.sequence.given) /* whose steps have the sets of inputs */
        status = odb_call__samples(call, &ways.samples, &options, err);
    if (status == ODB_OK)
        status = odb_call__against(call, &ways.against, &options, err);
    if (status == ODB_OK)
        status = odb_call__over(call, &ways.over, &options, err);
    if (status == ODB_CANCELLED && ways.over.spent)
        status = bisect_spent(call, NULL, err);
    else if (status == ODB_OK && odb_call_has(call, ODB_OPTION_OVER_ONLY))
        status = odb_call__over_publish(call, &ways.over, err);
    else if (status == ODB_OK)
        status = bisect_command(call, &ways, options, err);
    else if (status != ODB_E_USAGE)
        bisect_fail(call, &options, ways.sequence.begun, status, err);
    odb_call__sequence_dispose(&ways.sequence);
    odb_call__samples_dispose(&ways.samples);
    odb_call__over_dispose(&ways.over);
    odb_call__against_dispose(&ways.against);
    return status;
}
