/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/sequence_option.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/value/call_feeds.h"
#include "command/value/call_sequence.h"
#include "command/verbs/search/verb_bisect.h"
#include "bisect/plan/bisect.h"
#include "report/report.h"
#include "sequence/other_steps.h"
#include "session/session.h"
#include "sequence/sequence_json.h"
#include "sequence/sequence_run.h"
#include "sequence/sequence_words.h"

static enum odb_status sequence_refuse(const struct odb_call_sequence *s,
                                       const struct odb_bisect_options *options,
                                       struct odb_error *err)
{
    const struct odb_command_call *call = s->call;
    bool single = odb_executor_recorded(options->target) && !s->recorded.n;
    const char *with =
        odb_call_option(call, ODB_OPTION_AGAINST)              ? "--against"
        : odb_call_option(call, ODB_OPTION_OVER)               ? "--over"
        : odb_call_has(call, ODB_OPTION_SAMPLES)               ? "--samples"
        : s->recorded.n && odb_call_has(call, ODB_OPTION_STOP) ? "--stop in a recording"
        : s->recorded.n && odb_call_has(call, ODB_OPTION_FREE) ? "--free in a recording"
        : single                                               ? "a recording of one"
                                                               : NULL;
    if (!with)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "several steps cannot be searched with %s", with);
    return odb_error_remedy(err, "search one step: --steps 1");
}

/* Whether the step that would be searched was fed a state that is not known. */
static bool sequence_assumes(const struct odb_call_sequence *s)
{
    const struct odb_recorded_steps *recorded = s->found.recorded;
    bool assumes = false;
    for (size_t i = 0; recorded && s->found.step && i < s->plan->inputs.n; i++)
        assumes |= s->plan->inputs.items[i].move == ODB_MOVE_CARRY &&
                   !recorded->items[s->found.step].given[i];
    return assumes;
}

static void sequence_print(struct odb_call_sequence *s)
{
    const char *json = odb_call_option(s->call, ODB_OPTION_JSON_FILE);
    struct odb_buf out = ODB_BUF_INIT;
    if (!json || strcmp(json, "-")) {
        odb_sequence_put(&s->found, (size_t)s->call->width, &out);
        odb_buf_putc(&out, '\n');
    }
    odb_call__print(s->call, &out);
}

/* The target is one step's recording from now on. */
static void sequence_target(struct odb_call_sequence *s, size_t step,
                            struct odb_bisect_options *options)
{
    odb_call__take_option(s->call, ODB_OPTION_TARGET, s->recorded.specs[step]);
    options->target = odb_call__target(s->call);
}

/* The session's search, which steps belong to: all that is fed to any of them tells it from others.
 */
static enum odb_status sequence_begin(struct odb_call_sequence *s,
                                      struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_buf inputs = ODB_BUF_INIT;
    odb_plan_put(s->plan, &inputs);
    odb_streams_identify(s->streams, &inputs);
    enum odb_status status = odb_call__bisect_begin(s->call, options, odb_buf_text(&inputs), err);
    s->begun = status == ODB_OK;
    odb_buf_dispose(&inputs);
    return status;
}

/* What a large model is going to take is said before. */
static void sequence_forecast(const struct odb_call_sequence *s, const char *target)
{
    size_t weights = odb_probe_weights(s->plan->model->graph), reference, runs;
    struct odb_buf size = ODB_BUF_INIT;
    if (weights < ODB_SEQUENCE_LARGE || odb_executor_fixed(target))
        return;
    odb_sequence_expect(s->plan, &reference, &runs);
    odb_buf_put_bytes(&size, weights);
    fprintf(s->call->log,
            "onnxdbg: %zu steps read weights of %s %zu times by the reference, %zu by the target\n",
            s->plan->steps, odb_buf_text(&size), reference, runs);
    odb_buf_dispose(&size);
}

static enum odb_status sequence_run(struct odb_call_sequence *s, struct odb_bisect_options *options,
                                    struct odb_error *err)
{
    struct odb_recorded_steps *recorded = s->recorded.n ? &s->recorded : NULL;
    struct odb_watch watch;
    ODB_TRY(odb_call__streams(s->call, s->plan, recorded, &s->streams, err));
    odb_call__chosen_tell(s->call);
    if (!recorded) {
        sequence_forecast(s, options->target);
        ODB_TRY(sequence_begin(s, options, err));
    }
    struct odb_bisect_options how = *options;
    how.hooks = odb_watch_begin(&watch, s->call);
    watch.cuts = true;
    enum odb_status status =
        odb_sequence_check(&s->found, s->plan, s->streams, recorded, &how.hooks, err);
    if (status == ODB_OK && s->found.verdict == ODB_SEQUENCE_NONE)
        status = odb_sequence_judge(&s->found, &how, err);
    odb_watch_end(&watch);
    return status == ODB_CANCELLED && odb_watch_spent(&watch) && s->found.rollout ? ODB_OK : status;
}

/* As the reference has them; or, where that was not run, as they were recorded. */
static enum odb_status sequence_step_feeds(const struct odb_call_sequence *s, size_t step,
                                           struct odb_feeds **out, struct odb_error *err)
{
    if (s->found.rollout)
        return odb_rollout_feeds(out, s->found.rollout, step, err);
    *out = odb_schedule_feeds(s->plan, &s->recorded, step);
    return ODB_OK;
}

/* The last step that says something, which has the most behind it. */
static size_t sequence_last(const struct odb_sequence *found)
{
    size_t last = found->plan->steps - 1;
    for (size_t k = last + 1; k-- > 0;)
        if (found->seen && found->seen[k].judged &&
            !odb_sample_unknown(&found->forced.items.items[k]))
            return k;
    return last;
}

/* The step that is wrong; where none is, the last. */
static enum odb_status sequence_feed(struct odb_call_sequence *s,
                                     struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_feeds *feeds;
    char text[24];
    bool placed = odb_sequence_diverges(s->found.verdict);
    size_t step = placed ? s->found.step : sequence_last(&s->found);
    ODB_TRY(sequence_step_feeds(s, step, &feeds, err));
    if (feeds)
        odb_call__feed_tell(s->call, feeds);
    if (feeds && s->begun)
        odb_session_refeed_take(s->call->session, feeds);
    else if (feeds)
        odb_session_feed_take(s->call->session, feeds);
    if (s->recorded.n && odb_call__sequence_searches(s))
        sequence_target(s, step, options);
    snprintf(text, sizeof text, "%zu", step);
    odb_call__take_option(s->call, ODB_OPTION_AT_STEP, text);
    s->found.forced.items.items[step].searched = odb_call__sequence_searches(s);
    return ODB_OK;
}

/* One recorded step, as if it were all there is. */
static enum odb_status sequence_one(struct odb_call_sequence *s, struct odb_bisect_options *options,
                                    struct odb_error *err)
{
    int64_t step = odb_call_int(s->call, ODB_OPTION_AT_STEP, 0);
    struct odb_feeds *feeds;
    if (step >= (int64_t)s->recorded.n)
        return odb_fail(err, ODB_E_USAGE, "there is no step %lld: %zu were recorded, from 0 on",
                        (long long)step, s->recorded.n);
    sequence_target(s, (size_t)step, options);
    ODB_TRY(odb_call__make_feeds(s->call, odb_call_option(s->call, ODB_OPTION_INPUTS_FROM), 0,
                                 &feeds, err));
    odb_call__feed_take(s->call, feeds);
    return ODB_OK;
}

enum odb_status odb_call__sequence(struct odb_command_call *call, struct odb_call_sequence *out,
                                   struct odb_bisect_options *options, struct odb_error *err)
{
    out->call = call;
    ODB_TRY(odb_recorded_steps_find(&out->recorded, options->target, err));
    if (out->recorded.n && odb_call__step_given(call))
        return sequence_one(out, options, err);
    if (!(odb_call__plan_given(call) || out->recorded.n) || odb_call__step_given(call))
        return ODB_OK;
    ODB_TRY(odb_call__plan(call, out->recorded.n ? &out->recorded : NULL, &out->plan, err));
    if (out->plan->steps < 2 && !out->recorded.n)
        return ODB_OK;
    out->given = true;
    ODB_TRY(sequence_refuse(out, options, err));
    ODB_TRY(odb_plan_whole(out->plan, err));
    double start = odb_clock(), processor_start = odb_processor_clock();
    ODB_TRY(sequence_run(out, options, err));
    out->found.spent.seconds = odb_clock() - start;
    out->found.spent.processor_seconds = odb_processor_clock() - processor_start;
    call->found = odb_sequence_diverges(out->found.verdict);
    if (odb_sequence_searches(out->found.verdict) && sequence_assumes(out))
        odb_buf_printf(
            &out->found.evidence,
            "no node is searched: a state of step %zu was not recorded, and the host may "
            "have fed another than is due\n",
            out->found.step);
    ODB_TRY(sequence_feed(out, options, err));
    sequence_print(out);
    return ODB_OK;
}

bool odb_call__sequence_searches(const struct odb_call_sequence *s)
{
    if (!odb_sequence_diverges(s->found.verdict))
        return true;
    return odb_sequence_searches(s->found.verdict) && !sequence_assumes(s);
}

/* A step that no run could be had of, with what the target said. */
static void sequence_undecide(const struct odb_sequence *found, struct odb_report *report)
{
    const struct odb_sample *first = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    size_t unknown = 0;
    for (size_t k = 0; k < found->plan->steps; k++) {
        const struct odb_sample *sample = &found->forced.items.items[k];
        if (!found->seen[k].judged || !odb_sample_unknown(sample))
            continue;
        first = first ? first : sample;
        unknown++;
    }
    if (!first && found->verdict == ODB_SEQUENCE_NONE) {
        const char *more =
            found->evidence.len ? odb_buf_text(&found->evidence) : "the steps were not all judged";
        odb_fail(&why, ODB_E_EXECUTOR, "%.*s", (int)strcspn(more, "\n"), more);
        odb_report_undecide(report, ODB_UNDECIDED_SAMPLES, &why);
    }
    if (!first)
        return;
    bool lacks = first->verdict == ODB_VERDICT_UNSUPPORTED;
    enum odb_status failed = lacks ? ODB_UNSUPPORTED : ODB_E_EXECUTOR;
    odb_fail(&why, first->failed == ODB_OK ? failed : first->failed,
             "%zu of %zu steps could not be judged: %.300s", unknown, found->plan->steps,
             first->why ? first->why : odb_verdict_name(first->verdict));
    odb_error_at(&why, "%s", first->source);
    odb_report_undecide(report, ODB_UNDECIDED_SAMPLES, &why);
}

/* What such a search finds is no part of the session's: it shows how far it is. */
static void sequence_tell(void *payload, const struct odb_search_event *event)
{
    const struct odb_search_hooks *outer = payload;
    if (event->what == ODB_EVENT_PHASE || event->what == ODB_EVENT_PROGRESS)
        odb_hooks_tell(outer, *event);
}

static bool sequence_cancelled(void *payload)
{
    const struct odb_search_hooks *outer = payload;
    return outer->cancelled && outer->cancelled(outer->payload);
}

/* The first culprit of another step. Nothing is kept of this search but what it cost. */
static enum odb_status sequence_search_other(struct odb_call_sequence *s, size_t step,
                                             const struct odb_bisect_options *options,
                                             struct odb_error *err)
{
    struct odb_bisect_options how = *options;
    struct odb_report *report = NULL;
    struct odb_feeds *feeds;
    how.no_explain = how.no_checks = how.no_opinion = true;
    how.trace = NULL;
    how.ahead = NULL;
    how.answers = NULL;
    how.hooks = odb_hooks_within(&options->hooks, sequence_tell, sequence_cancelled,
                                 (void *)&options->hooks);
    ODB_TRY(sequence_step_feeds(s, step, &feeds, err));
    enum odb_status status = odb_bisect(&report, s->call->model, feeds, &how, err);
    if (report) {
        s->found.spent.target.loads += report->target_loads;
        s->found.spent.target.runs += report->target_runs;
        s->found.spent.target.load_seconds += report->target_load_seconds;
        s->found.spent.target.run_seconds += report->target_seconds - report->target_load_seconds;
        s->found.spent.seconds += report->seconds;
        s->found.spent.processor_seconds += report->processor_seconds;
    }
    if (status == ODB_OK)
        odb_other_steps_found(&s->found, step,
                              report->culprits.n ? report->culprits.items[0].node : ODB_NO_NODE);
    odb_report_free(report);
    odb_feeds_free(feeds);
    return status;
}

void odb_call__sequence_others(struct odb_call_sequence *s, struct odb_report *report,
                               const struct odb_bisect_options *options)
{
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_buf out = ODB_BUF_INIT;
    if (!s->given || !odb_call__sequence_searches(s))
        return;
    enum odb_status status = odb_other_steps_try(&s->found, report, options, &why);
    size_t step = odb_other_steps_unexplained(&s->found);
    if (status == ODB_OK && step < s->plan->steps)
        status = sequence_search_other(s, step, options, &why);
    if (status != ODB_OK)
        odb_report_note(report, "not every wrong step was looked at: %.200s", why.what);
    odb_buf_puts(&out, report->summary ? report->summary : "");
    odb_sequence_put_nodes(&s->found, (size_t)s->call->width, &out);
    free(report->summary);
    report->summary = out.len ? odb_buf_take(&out) : NULL;
    odb_buf_dispose(&out);
}

void odb_call__sequence_report(struct odb_call_sequence *s, struct odb_report *report)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (!s->given)
        return;
    if (s->found.verdict != ODB_SEQUENCE_MODEL && s->found.verdict != ODB_SEQUENCE_SCHEDULE)
        sequence_undecide(&s->found, report);
    report->elsewhere |= odb_sequence_diverges(s->found.verdict);
    if (!odb_call__sequence_searches(s))
        report->complete = true;
    odb_samples_charge(report, &s->found.spent);
    odb_sequence_headline(&s->found, &text);
    free(report->sequence);
    report->sequence = odb_buf_take(&text);
    if (!report->more)
        report->more = json_object();
    json_object_set_new(report->more, "sequence", odb_sequence_json(&s->found));
}

void odb_call__sequence_dispose(struct odb_call_sequence *s)
{
    if (s->found.plan)
        odb_sequence_dispose(&s->found);
    odb_recorded_steps_dispose(&s->recorded);
    odb_streams_free(s->streams);
    odb_plan_free(s->plan);
}
