/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/samples_option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/value/call_feeds.h"
#include "command/verbs/search/ranking.h"
#include "inputs/inputs.h"
#include "suspects/suspects.h"

#define SAMPLES_SHOWN 30 /* in the table */

static enum odb_status samples_feeds(void *payload, size_t i, struct odb_feeds **out,
                                     struct odb_error *err)
{
    struct odb_call_samples *s = payload;
    const char *from = odb_call_option(s->call, ODB_OPTION_INPUTS_FROM);
    return odb_call__make_feeds(s->call, s->sets ? s->sets[i] : from, s->sets ? 0 : (uint32_t)i,
                                out, err);
}

static enum odb_status samples_refuse(struct odb_error *err, const char *what, const char *remedy)
{
    odb_fail(err, ODB_E_USAGE, "%s", what);
    return odb_error_remedy(err, "%s", remedy);
}

/* Seeds change nothing where all inputs are given. */
static enum odb_status samples_differ(struct odb_call_samples *s, struct odb_error *err)
{
    struct odb_feeds *first, *second;
    bool differ = false;
    ODB_TRY(samples_feeds(s, 0, &first, err));
    enum odb_status status = samples_feeds(s, 1, &second, err);
    for (size_t f = 0; status == ODB_OK && f < first->n; f++)
        differ |= strcmp(first->items[f].source, second->items[f].source) != 0;
    odb_feeds_free(first);
    if (status != ODB_OK)
        return status;
    odb_feeds_free(second);
    return differ ? ODB_OK
                  : samples_refuse(err, "no input is generated from --seed, so all samples are one",
                                   "leave out --samples");
}

static struct odb_sample samples_seed(const struct odb_call_samples *s, size_t i)
{
    uint32_t seed = (uint32_t)odb_call_int(s->call, ODB_OPTION_SEED, 42);
    return (struct odb_sample){.source = odb_xasprintf("seed %u", (unsigned)(seed + (uint32_t)i))};
}

/* one: a single set in the folder of --inputs-from is a sample as well. */
static enum odb_status samples_list(struct odb_call_samples *s, bool one, struct odb_error *err)
{
    const char *from = odb_call_option(s->call, ODB_OPTION_INPUTS_FROM);
    size_t wanted = (size_t)odb_call_int(s->call, ODB_OPTION_SAMPLES, 1), n = 0;
    char **sets = from ? odb_input_sets(from, &n) : NULL;
    bool given = n > 1 || (one && n == 1);
    s->given = given || wanted > 1;
    if (given) {
        s->sets = sets;
        for (size_t i = 0; i < n; i++)
            odb_push(&s->found.items, (struct odb_sample){.source = odb_xstrdup(sets[i])});
        return wanted == 1 ? ODB_OK
                           : samples_refuse(err,
                                            "the folder of --inputs-from holds sets, and each is "
                                            "a sample",
                                            "leave out --samples");
    }
    for (size_t i = 0; i < n; i++)
        free(sets[i]);
    free(sets);
    for (size_t i = 0; i < wanted && s->given; i++)
        odb_push(&s->found.items, samples_seed(s, i));
    return s->given ? samples_differ(s, err) : ODB_OK;
}

static void samples_put_row(const struct odb_graph *graph, const struct odb_sample *one,
                            struct odb_buf *out)
{
    odb_buf_puts(out, "    ");
    odb_buf_put_shown(out, one->source);
    odb_buf_printf(out, "  %s", odb_verdict_name(one->verdict));
    if (!isnan(one->error))
        odb_buf_printf(out, "  error %.3g", one->error);
    if (one->value != ODB_NO_VALUE) {
        odb_buf_puts(out, " at ");
        odb_buf_put_shown(out, graph->values[one->value].name);
    }
    if (one->why) {
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, one->why);
    }
    odb_buf_puts(out, one->searched ? "  (searched)\n" : "\n");
}

void odb_call__samples_print(struct odb_call_samples *s)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t n = s->found.items.n, shown = 0, bad = 0, unknown = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        bad += odb_verdict_is_bad(s->found.items.items[i].verdict);
        left += s->found.items.items[i].verdict == ODB_VERDICT_UNTESTED;
        unknown += odb_sample_unknown(&s->found.items.items[i]);
    }
    unknown -= left;
    odb_buf_printf(&out, "%zu samples, of which %zu diverge%s", n, bad, bad == 1 ? "s" : "");
    if (unknown)
        odb_buf_printf(&out, "; %zu could not be judged", unknown);
    if (left)
        odb_buf_printf(&out, "; %zu were not run", left);
    odb_buf_putc(&out, '\n');
    for (size_t i = 0; i < n; i++)
        if (i < SAMPLES_SHOWN || s->found.items.items[i].searched) {
            samples_put_row(s->call->model->graph, &s->found.items.items[i], &out);
            shown++;
        }
    if (shown < n)
        odb_buf_printf(&out, "    and %zu more, which --json holds\n", n - shown);
    odb_buf_putc(&out, '\n');
    odb_call__print(s->call, &out);
}

enum odb_status odb_call__samples_of(struct odb_command_call *call, struct odb_call_samples *out,
                                     size_t usual, struct odb_error *err)
{
    struct odb_error ignored = ODB_ERROR_INIT;
    out->call = call;
    out->found.feeds = samples_feeds;
    out->found.payload = out;
    if (odb_call_has(call, ODB_OPTION_SAMPLES))
        usual = 1;
    ODB_TRY(samples_list(out, true, err));
    if (!out->given && samples_differ(out, &ignored) != ODB_OK)
        usual = 1;
    for (size_t i = out->found.items.n; i < usual && !out->sets; i++)
        odb_push(&out->found.items, samples_seed(out, i));
    out->given = true;
    odb_call__chosen_tell(call);
    return ODB_OK;
}

/* Stopped by the budget, the search has none left, and says so. */
static enum odb_status samples_judge(struct odb_call_samples *s, struct odb_bisect_options options,
                                     struct odb_error *err)
{
    struct odb_watch watch;
    options.hooks = odb_watch_begin(&watch, s->call);
    watch.cuts = true;
    enum odb_status status = odb_samples_judge(&s->found, s->call->model, &options, err);
    odb_watch_end(&watch);
    return status == ODB_CANCELLED && odb_watch_spent(&watch) ? ODB_OK : status;
}

/* A target of outputs alone is loaded once for all samples. One that fails on the first is judged
 * as any other. */
static enum odb_status samples_rank(struct odb_call_samples *s,
                                    const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    bool only;
    if (odb_call__only_outputs(s->call, options->target, &only, &why) != ODB_OK || !only)
        return ODB_OK; /* why it cannot be opened is told where it is asked */
    enum odb_status status = odb_call__rank(s->call, &s->found, options, &s->ranked, &why);
    if (status == ODB_CANCELLED)
        *err = why;
    for (size_t i = 0; i < s->found.items.n && status != ODB_OK; i++) {
        free(s->found.items.items[i].why);
        s->found.items.items[i].why = NULL;
    }
    return status == ODB_CANCELLED ? status : ODB_OK;
}

enum odb_status odb_call__samples(struct odb_command_call *call, struct odb_call_samples *out,
                                  const struct odb_bisect_options *options, struct odb_error *err)
{
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    struct odb_feeds *feeds;
    out->call = call;
    out->found.feeds = samples_feeds;
    out->found.payload = out;
    ODB_TRY(samples_list(out, false, err));
    if (!out->given)
        return ODB_OK;
    if (odb_call_option(call, ODB_OPTION_AGAINST) || odb_call_option(call, ODB_OPTION_OVER))
        return samples_refuse(err, "several samples cannot be searched with --against or --over",
                              "name one: --seed N, or one set with --inputs-from");
    if (odb_executor_recorded(options->target) || odb_executor_recorded(options->reference) ||
        (options->golden && odb_executor_recorded(options->golden)))
        return samples_refuse(err, "a recording was made with one sample of inputs",
                              "leave out --samples, or name one set");
    ODB_TRY(samples_rank(out, options, err));
    if (!out->ranked)
        ODB_TRY(samples_judge(out, *options, err));
    size_t worst = odb_samples_worst(out->found.items.items, out->found.items.n);
    for (size_t i = 0; i < out->found.items.n; i++)
        call->found |= odb_verdict_is_bad(out->found.items.items[i].verdict);
    out->found.items.items[worst].searched = true;
    ODB_TRY(samples_feeds(out, worst, &feeds, err));
    odb_call__feed_take(call, feeds);
    if (!json || strcmp(json, "-"))
        odb_call__samples_print(out);
    return ODB_OK;
}

/* The worst of them was searched, and rounding makes what it is off by. Where the others were not
 * looked into, the same may hold of them. */
static void samples_let_off(struct odb_call_samples *samples, const struct odb_report *report)
{
    bool let_off = false;
    for (size_t i = 0; i < samples->found.items.n; i++) {
        const struct odb_sample *sample = &samples->found.items.items[i];
        let_off |= sample->searched && odb_verdict_is_bad(sample->verdict);
    }
    let_off = let_off && report->complete && !report->outputs_diverge;
    for (size_t i = 0; i < samples->found.items.n && let_off; i++) {
        struct odb_sample *sample = &samples->found.items.items[i];
        if (sample->doubted && sample->searched)
            sample->verdict = ODB_VERDICT_PASS;
        if (!sample->doubted || sample->searched)
            continue;
        sample->verdict = ODB_VERDICT_UNTESTABLE;
        sample->failed = ODB_UNSUPPORTED;
        free(sample->why);
        sample->why =
            odb_xasprintf("it is off, as was the sample that was searched, where rounding "
                          "makes that; whether it does here takes a search of its own");
    }
}

void odb_call__samples_confirm(struct odb_call_samples *samples, struct odb_report *report,
                               const struct odb_bisect_options *options)
{
    struct odb_error why = ODB_ERROR_INIT;
    samples_let_off(samples, report);
    if (odb_samples_confirm(&samples->found, report, options, &why) != ODB_OK)
        odb_report_note(report, "not every culprit was tried on all samples: %.200s", why.what);
}

void odb_call__samples_report(const struct odb_call_samples *samples, struct odb_report *report)
{
    const struct odb_sample *first = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    size_t unknown = 0;
    odb_samples_charge(report, &samples->found.spent);
    for (size_t i = 0; samples->given && i < samples->found.items.n; i++) {
        const struct odb_sample *sample = &samples->found.items.items[i];
        report->elsewhere |= odb_verdict_is_bad(sample->verdict);
        if (!odb_sample_unknown(sample))
            continue;
        first = first ? first : sample;
        unknown++;
    }
    if (!first)
        return;
    odb_fail(&why, first->failed == ODB_OK ? ODB_UNSUPPORTED : first->failed,
             "%zu of %zu samples could not be judged: %.300s", unknown, samples->found.items.n,
             first->why ? first->why : odb_verdict_name(first->verdict));
    odb_error_at(&why, "%s", first->source);
    if (!report->elsewhere)
        odb_error_remedy(&why, "the others agree with the reference");
    odb_report_undecide(report, ODB_UNDECIDED_SAMPLES, &why);
}

void odb_call__samples_dispose(struct odb_call_samples *samples)
{
    for (size_t i = 0; samples->sets && i < samples->found.items.n; i++)
        free(samples->sets[i]);
    free(samples->sets);
    odb_suspects_free(samples->ranked);
    odb_samples_dispose(&samples->found);
}
