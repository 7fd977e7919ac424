/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep/samples.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bisect/alone/alone.h"
#include "bisect/bisect_options.h"
#include "bisect/plan/fails.h"
#include "bisect/refusal/breaks.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/json.h"
#include "report/report.h"
#include "probe/reference_from.h"
#include "probe/refusal.h"
#include "reference/trace.h"
#include "run/value_report.h"

#define SAMPLES_CULPRITS 16 /* that are confirmed */
#define SAMPLES_REFUSED 8   /* in a row, of one model, after which the rest is not asked */

/* --- which is the worst ----------------------------------------------------------------------- */

static int samples_rank(enum odb_verdict verdict)
{
    if (verdict == ODB_VERDICT_CRASH || verdict == ODB_VERDICT_TIMEOUT ||
        verdict == ODB_VERDICT_REFUSED || verdict == ODB_VERDICT_NAN)
        return 3;
    return odb_verdict_is_bad(verdict) ? 2 : verdict == ODB_VERDICT_PASS;
}

/* A shape or type that is wrong has no error; of what NaN left over, it says nothing. */
static double samples_excess(const struct odb_sample *s)
{
    if (samples_rank(s->verdict) == 3)
        return 0;
    if (isnan(s->error))
        return odb_verdict_is_bad(s->verdict) ? INFINITY : 0;
    return isnan(s->noise) || s->error == 0 ? s->error : s->error / s->noise;
}

bool odb_sample_worse(const struct odb_sample *a, const struct odb_sample *b)
{
    int rank = samples_rank(a->verdict), other = samples_rank(b->verdict);
    return rank != other ? rank > other : samples_excess(a) > samples_excess(b);
}

/* Among those that pass, rounding alone makes the difference: the first is as good as any. */
size_t odb_samples_worst(const struct odb_sample *samples, size_t n)
{
    size_t worst = 0;
    for (size_t i = 1; i < n; i++)
        if (odb_sample_worse(&samples[i], &samples[worst]) &&
            (odb_verdict_is_bad(samples[i].verdict) ||
             samples_rank(samples[i].verdict) > samples_rank(samples[worst].verdict)))
            worst = i;
    return worst;
}

bool odb_sample_unknown(const struct odb_sample *sample)
{
    return sample->verdict != ODB_VERDICT_PASS && !odb_verdict_is_bad(sample->verdict);
}

/* --- one sample at a time --------------------------------------------------------------------- */

struct samples_at {
    struct odb_samples *all;
    const struct odb_model *model;
    struct odb_bisect_options options; /* with hooks that say which sample it is */
    const struct odb_search_hooks *hooks;
    struct odb_sample *sample;
    struct odb_plainest *plainest; /* borrowed; NULL where nothing is judged */
    struct odb_feeds *feeds;       /* owned */
    struct odb_trace *trace;       /* owned */
    char where[48];
};

static void samples_event(void *payload, const struct odb_search_event *event)
{
    const struct samples_at *at = payload;
    struct odb_search_event told = *event;
    char text[160];
    odb_text_fit(text, sizeof text, "%s: %s", at->where, event->text);
    if (event->what == ODB_EVENT_PHASE || event->what == ODB_EVENT_PROGRESS)
        told.text = text;
    odb_hooks_tell(at->hooks, told);
}

static bool samples_cancelled(void *payload)
{
    const struct samples_at *at = payload;
    return at->hooks->cancelled && at->hooks->cancelled(at->hooks->payload);
}

/* Its inputs and reference. */
static enum odb_status samples_enter(struct samples_at *at, struct odb_samples *s, size_t i,
                                     const struct odb_model *model,
                                     const struct odb_bisect_options *options,
                                     struct odb_error *err)
{
    struct odb_trace_options how;
    *at = (struct samples_at){.all = s,
                              .model = model,
                              .options = *options,
                              .hooks = &options->hooks,
                              .sample = &s->items.items[i]};
    at->options.hooks = odb_hooks_within(&options->hooks, samples_event, samples_cancelled, at);
    snprintf(at->where, sizeof at->where, "sample %zu of %zu", i + 1, s->items.n);
    odb_hooks_phase(&options->hooks, at->where, 0);
    ODB_TRY(odb_hooks_cancelled(&options->hooks, err));
    ODB_TRY(s->feeds(s->payload, i, &at->feeds, err));
    ODB_TRY(odb_bisect_trace_options(&at->options, &how, err));
    how.hooks = at->options.hooks;
    return odb_reference_make(&at->trace, model, at->feeds, &how, err);
}

/* The prober for its inputs; what was loaded for the sample before stays. */
static void samples_feed(struct samples_at *at, struct odb_prober *prober, struct odb_pool *pool)
{
    const struct odb_search_hooks *hooks = &at->options.hooks;
    if (!prober->pool)
        odb_prober_init(prober, at->model, at->feeds, at->trace, pool, *hooks);
    prober->hooks = *hooks;
    prober->reshapes = at->all->reshapes;
    if (at->options.pass) { /* a search has begun, which keeps answers */
        prober->answers = at->options.answers;
        prober->scope = at->options.pass;
        prober->retries = true;
    }
    odb_pool_set_cancel(pool, hooks->cancelled, hooks->payload);
    odb_prober_feed(prober, at->feeds, at->trace);
}

static void samples_leave(struct samples_at *at)
{
    at->all->spent.reference += at->trace ? odb_trace_walks(at->trace) : 0;
    odb_trace_free(at->trace);
    odb_feeds_free(at->feeds);
}

/* What the clocks say now. */
static struct odb_samples_cost samples_clocks(void)
{
    return (struct odb_samples_cost){.seconds = odb_clock(),
                                     .processor_seconds = odb_processor_clock()};
}

static void samples_close(struct odb_samples *s, struct odb_pool *pool, struct odb_prober *prober,
                          const struct odb_samples_cost *before)
{
    if (prober->pool) {
        s->spent.models = ODB_MAX(s->spent.models, odb_probe_models(prober));
        odb_prober_dispose(prober);
    }
    s->spent.seconds += odb_clock() - before->seconds;
    s->spent.processor_seconds += odb_processor_clock() - before->processor_seconds;
    if (!pool)
        return;
    odb_pool_stop(pool);
    struct odb_target_stats stats = odb_pool_stats(pool);
    odb_target_stats_add(&s->spent.target, &stats);
    odb_pool_close(pool);
}

/* What is no word of the target or the reference on this one sample. A fault that cannot be planted
 * in these values is one. */
static bool samples_fatal(enum odb_status status)
{
    return status != ODB_E_EXECUTOR && status != ODB_UNSUPPORTED && status != ODB_E_CRASH &&
           status != ODB_E_TIMEOUT && status != ODB_E_INPUT;
}

/* --- judging ---------------------------------------------------------------------------------- */

static enum odb_status samples_judge_outputs(struct samples_at *at, const int *outputs, size_t n,
                                             struct odb_tensor *const *had, struct odb_error *err)
{
    struct odb_judge judge = {at->trace, &at->options.tolerance};
    struct odb_value_report *reports = odb_new_n(struct odb_value_report, n + 1);
    enum odb_status status = ODB_OK;
    for (size_t o = 0; o < n && status == ODB_OK; o++) {
        const struct odb_value_report *report = &reports[o];
        struct odb_sample one = *at->sample;
        status = odb_judge_value(&judge, outputs[o], had[o], &reports[o], err);
        one.verdict = report->verdict;
        one.value = outputs[o];
        one.error = report->error.known ? report->error.v : NAN;
        one.noise = report->noise.known ? report->noise.v : NAN;
        if (status == ODB_OK && (!o || odb_sample_worse(&one, at->sample)))
            *at->sample = one;
    }
    if (status == ODB_OK && at->all->gave)
        at->all->gave(at->all->payload, (size_t)(at->sample - at->all->items.items), reports,
                      outputs, had, n);
    free(reports);
    return status;
}

/* What was refused is wrong if the target breaks it; *had is ODB_OK then. */
static enum odb_status samples_refused(struct samples_at *at, const struct odb_prober *prober,
                                       const struct odb_probe *probe, enum odb_status *had,
                                       const struct odb_error *why, struct odb_error *err)
{
    bool breaks = false;
    if (odb_probe_refused(*had))
        ODB_TRY(odb_refusal_breaks(&breaks, at->plainest, prober, probe, why, err));
    if (!breaks)
        return ODB_OK;
    at->sample->verdict = ODB_VERDICT_REFUSED;
    at->sample->why = odb_xstrdup(why->what);
    *had = ODB_OK;
    return ODB_OK;
}

static enum odb_status samples_run(struct samples_at *at, struct odb_prober *prober,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = at->model->graph;
    int *outputs = odb_new_n(int, graph->n_outputs + 1);
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, graph->n_outputs + 1);
    struct odb_probe probe = {.asked = ODB_PROBE_KIND_SAMPLE,
                              .what = at->where,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = outputs,
                              .outputs = had};
    for (size_t o = 0; o < graph->n_outputs; o++)
        if (graph->values[graph->outputs[o]].producer != ODB_NO_NODE)
            outputs[probe.n_values++] = graph->outputs[o];
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status ran = odb_probe_run(prober, &probe, &why), status;
    at->sample->verdict = odb_probe_verdict(ran);
    if (ran == ODB_OK) {
        status = samples_judge_outputs(at, outputs, probe.n_values, had, err);
    } else {
        status = samples_refused(at, prober, &probe, &ran, &why, err);
        if (status == ODB_OK && ran != ODB_OK) {
            *err = why;
            status = ran;
        }
    }
    odb_probe_tell(prober, &probe, at->sample->verdict, 0);
    odb_probe_drop(prober, &probe);
    free(had);
    free(outputs);
    return status;
}

/* A search may let off what the run showed, or be unable to say. */
static enum odb_status samples_fails(struct samples_at *at, struct odb_error *err)
{
    bool fails;
    enum odb_status status =
        odb_fails(&fails, at->model, at->feeds, at->trace, &at->options, at->sample->verdict, err);
    if (status == ODB_E_EXECUTOR)
        at->sample->verdict = ODB_VERDICT_UNTESTABLE;
    else if (status == ODB_OK && odb_verdict_is_bad(at->sample->verdict) && !fails)
        at->sample->verdict = ODB_VERDICT_PASS;
    return status;
}

void odb_samples_forecast(struct odb_pool *pool, size_t done, size_t n, double began,
                          const struct odb_search_hooks *hooks)
{
    double load, run;
    bool refeed = odb_capabilities_refeed(odb_target_capabilities(odb_pool_target(pool)));
    size_t loads = refeed ? !done : n - done;
    odb_pool_price(pool, &load, &run);
    odb_hooks_tell(hooks,
                   (struct odb_search_event){.what = ODB_EVENT_FORECAST,
                                             .text = "samples",
                                             .node = ODB_NO_NODE,
                                             .loads = refeed ? 1 : n,
                                             .seconds = odb_clock() - began + (double)loads * load +
                                                        (double)(n - done) * run});
}

static enum odb_status samples_judge_one(struct odb_samples *s, size_t i, struct odb_pool *pool,
                                         struct odb_prober *prober, struct odb_plainest *plainest,
                                         const struct odb_model *model,
                                         const struct odb_bisect_options *options,
                                         struct odb_error *err)
{
    struct samples_at at;
    struct odb_error why = ODB_ERROR_INIT;
    double load = 0, run;
    enum odb_status status = samples_enter(&at, s, i, model, options, &why);
    at.plainest = plainest;
    if (status == ODB_OK) {
        samples_feed(&at, prober, pool);
        status = samples_run(&at, prober, &why);
        odb_pool_price(pool, &load, &run);
    } else if (!samples_fatal(status)) {
        at.sample->verdict = ODB_VERDICT_UNTESTABLE;
    }
    at.sample->doubted = load >= ODB_SAMPLES_DEAR && odb_verdict_is_bad(at.sample->verdict);
    if (status == ODB_OK && !at.sample->doubted)
        status = samples_fails(&at, &why);
    samples_leave(&at);
    if (status == ODB_OK)
        return ODB_OK;
    if (samples_fatal(status) || !at.feeds) {
        *err = why;
        return status;
    }
    at.sample->why = odb_xstrdup(why.what);
    at.sample->failed = status;
    return ODB_OK;
}

/* The first few, which are one model, were all refused in the same words: so will be the rest,
 * which stays untested. */
static bool samples_refuses(const struct odb_samples *s, size_t judged)
{
    if (!s->reshapes || judged != SAMPLES_REFUSED)
        return false;
    for (size_t i = 0; i < judged; i++) {
        const struct odb_sample *sample = &s->items.items[i];
        if (!odb_probe_refused(sample->failed) || !sample->why ||
            strcmp(sample->why, s->items.items[0].why) != 0)
            return false;
    }
    return true;
}

enum odb_status odb_samples_judge(struct odb_samples *s, const struct odb_model *model,
                                  const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_pool *pool = NULL;
    struct odb_plainest plainest = {0};
    struct odb_prober prober = {0};
    struct odb_samples_cost before = samples_clocks();
    for (size_t i = 0; i < s->items.n; i++) {
        struct odb_sample *sample = &s->items.items[i];
        sample->verdict = ODB_VERDICT_UNTESTED;
        sample->error = sample->noise = NAN;
        sample->value = ODB_NO_VALUE;
    }
    enum odb_status status = odb_probe_pool(&pool, options->target, &options->hooks, err);
    for (size_t i = 0; i < s->items.n && status == ODB_OK && !samples_refuses(s, i); i++) {
        odb_samples_forecast(pool, i, s->items.n, before.seconds, &options->hooks);
        status = samples_judge_one(s, i, pool, &prober, &plainest, model, options, err);
    }
    odb_plainest_dispose(&plainest);
    samples_close(s, pool, &prober, &before);
    return status;
}

/* --- confirming ------------------------------------------------------------------------------- */

bool odb_samples_tries(const struct odb_culprit *culprit)
{
    bool fatal = culprit->kind == ODB_KIND_CRASH || culprit->kind == ODB_KIND_HANG ||
                 culprit->kind == ODB_KIND_REFUSED;
    return culprit->segment[0] == culprit->segment[1] && !culprit->of_reference &&
           (fatal || odb_diagnosis_accuses(culprit->kind));
}

static enum odb_status samples_confirm_node(const struct search_case *c, struct findings *f,
                                            struct odb_sample *sample,
                                            const struct odb_culprit *culprit,
                                            struct odb_error *err)
{
    int node = culprit->node;
    struct alone alone = {0};
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = ODB_UNSUPPORTED;
    if (alone_possible(c, node))
        status = alone_run(c, f, question_alone(c, c->prober, node, c->trace->ref), &alone, &why);
    bool guilty = alone.guilty || status == ODB_E_CRASH || status == ODB_E_TIMEOUT ||
                  (culprit->kind == ODB_KIND_REFUSED && odb_probe_refused(status));
    if (guilty)
        odb_push(&sample->confirms, node);
    else if (status != ODB_OK || !alone.judged)
        odb_push(&sample->untestable, node);
    alone_dispose(&alone, c->graph->nodes[node].n_out);
    if (status == ODB_OK || !samples_fatal(status))
        return ODB_OK;
    *err = why;
    return status;
}

static enum odb_status samples_confirm_all(struct samples_at *at, struct odb_pool *pool,
                                           struct odb_prober *prober,
                                           const struct odb_report *found, struct odb_error *err)
{
    size_t n = ODB_MIN(found->culprits.n, (size_t)SAMPLES_CULPRITS);
    enum odb_status status = ODB_OK;
    struct odb_report *report = odb_report_new(at->model);
    struct findings f;
    struct search_case c = {.model = at->model,
                            .graph = at->model->graph,
                            .feeds = at->feeds,
                            .options = &at->options,
                            .trace = at->trace,
                            .pool = pool,
                            .prober = prober,
                            .judge = {at->trace, &at->options.tolerance, NULL}};
    samples_feed(at, prober, pool);
    findings_begin(&f, &c, report);
    for (size_t i = 0; i < n && status == ODB_OK; i++)
        if (odb_samples_tries(&found->culprits.items[i]))
            status = samples_confirm_node(&c, &f, at->sample, &found->culprits.items[i], err);
    findings_dispose(&f);
    odb_report_free(report);
    return status;
}

/* What is unknown of a sample is untestable there. */
static void samples_give_up(struct odb_sample *sample, const struct odb_report *report)
{
    size_t n = ODB_MIN(report->culprits.n, (size_t)SAMPLES_CULPRITS);
    sample->confirms.n = sample->untestable.n = 0;
    for (size_t c = 0; c < n; c++)
        if (odb_samples_tries(&report->culprits.items[c]))
            odb_push(&sample->untestable, report->culprits.items[c].node);
}

static enum odb_status samples_confirm_on(struct odb_samples *s, size_t i, struct odb_pool *pool,
                                          struct odb_prober *prober,
                                          const struct odb_report *report,
                                          const struct odb_bisect_options *options,
                                          struct odb_error *err)
{
    struct samples_at at;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = samples_enter(&at, s, i, report->model, options, &why);
    if (status == ODB_OK)
        status = samples_confirm_all(&at, pool, prober, report, &why);
    samples_leave(&at);
    if (status == ODB_OK)
        return ODB_OK;
    samples_give_up(&s->items.items[i], report);
    if (!samples_fatal(status))
        return ODB_OK;
    *err = why;
    return status;
}

static void samples_search_says(struct odb_sample *sample, const struct odb_report *report)
{
    size_t n = ODB_MIN(report->culprits.n, (size_t)SAMPLES_CULPRITS);
    for (size_t c = 0; c < n; c++)
        if (odb_samples_tries(&report->culprits.items[c])) {
            const struct odb_culprit *culprit = &report->culprits.items[c];
            if (culprit->verified)
                odb_push(&sample->confirms, culprit->node);
            else if (culprit->checks[ODB_CHECK_ALONE] != ODB_CONTRADICTS)
                odb_push(&sample->untestable, culprit->node);
        }
}

static bool samples_holds(const int *nodes, size_t n, int node)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

static void samples_sum_up(const struct odb_samples *s, struct odb_report *report)
{
    struct odb_buf out = ODB_BUF_INIT;
    size_t n = ODB_MIN(report->culprits.n, (size_t)SAMPLES_CULPRITS);
    odb_buf_puts(&out, report->summary ? report->summary : "");
    for (size_t c = 0; c < n; c++) {
        int node = report->culprits.items[c].node;
        size_t fails = 0, unknown = 0;
        if (!odb_samples_tries(&report->culprits.items[c]))
            continue;
        for (size_t i = 0; i < s->items.n; i++) {
            const struct odb_sample *one = &s->items.items[i];
            fails += samples_holds(one->confirms.items, one->confirms.n, node);
            unknown += samples_holds(one->untestable.items, one->untestable.n, node);
        }
        odb_node_put(report->model->graph, node, &out);
        odb_buf_printf(&out, ": alone, it fails on %zu of %zu samples", fails, s->items.n);
        if (unknown)
            odb_buf_printf(&out, "; %zu could not be tested", unknown);
        odb_buf_putc(&out, '\n');
    }
    free(report->summary);
    report->summary = out.len ? odb_buf_take(&out) : NULL;
    odb_buf_dispose(&out);
}

static json_t *samples_ints(const int *v, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(v[i]));
    return list;
}

static json_t *samples_json(const struct odb_samples *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->items.n; i++) {
        const struct odb_sample *one = &s->items.items[i];
        json_array_append_new(
            list, json_pack("{so,so,so,so,sb,so,so}", "source", odb_json_text(one->source),
                            "verdict", odb_json_text(odb_verdict_name(one->verdict)), "error",
                            isnan(one->error) ? json_null() : odb_json_real(one->error), "failure",
                            odb_json_text(one->why), "searched", (int)one->searched, "confirms",
                            samples_ints(one->confirms.items, one->confirms.n), "untestable",
                            samples_ints(one->untestable.items, one->untestable.n)));
    }
    return json_pack("{so}", "samples", list);
}

enum odb_status odb_samples_try(struct odb_samples *s, const struct odb_report *report,
                                const struct odb_bisect_options *options, struct odb_error *err)
{
    struct odb_pool *pool = NULL;
    struct odb_prober prober = {0};
    enum odb_status status = ODB_OK;
    struct odb_samples_cost before = samples_clocks();
    bool asks = false;
    for (size_t c = 0; c < report->culprits.n && c < SAMPLES_CULPRITS; c++)
        asks |= odb_samples_tries(&report->culprits.items[c]);
    if (asks && report->complete)
        status = odb_probe_pool(&pool, options->target, &options->hooks, err);
    for (size_t i = 0; i < s->items.n && asks; i++) {
        if (s->items.items[i].searched)
            samples_search_says(&s->items.items[i], report);
        else if (pool && status == ODB_OK)
            status = samples_confirm_on(s, i, pool, &prober, report, options, err);
        else
            samples_give_up(&s->items.items[i], report);
    }
    samples_close(s, pool, &prober, &before);
    return status;
}

enum odb_status odb_samples_confirm(struct odb_samples *s, struct odb_report *report,
                                    const struct odb_bisect_options *options, struct odb_error *err)
{
    enum odb_status status = odb_samples_try(s, report, options, err);
    samples_sum_up(s, report);
    json_decref(report->more);
    report->more = samples_json(s);
    return status;
}

bool odb_sample_confirms(const struct odb_sample *sample, int node)
{
    return samples_holds(sample->confirms.items, sample->confirms.n, node);
}

bool odb_sample_leaves_open(const struct odb_sample *sample, int node)
{
    return samples_holds(sample->untestable.items, sample->untestable.n, node);
}

void odb_samples_charge(struct odb_report *report, const struct odb_samples_cost *spent)
{
    report->target_models = ODB_MAX(report->target_models, spent->models);
    report->target_loads += spent->target.loads;
    report->target_runs += spent->target.runs;
    report->target_load_seconds += spent->target.load_seconds;
    report->target_seconds += spent->target.load_seconds + spent->target.run_seconds;
    report->seconds += spent->seconds;
    report->processor_seconds += spent->processor_seconds;
}

void odb_samples_dispose(struct odb_samples *s)
{
    for (size_t i = 0; i < s->items.n; i++) {
        free(s->items.items[i].source);
        free(s->items.items[i].why);
        free(s->items.items[i].confirms.items);
        free(s->items.items[i].untestable.items);
    }
    free(s->items.items);
}
