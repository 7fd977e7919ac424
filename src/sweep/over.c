/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sweep/over.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bisect/bisect_options.h"
#include "judge/blame.h"
#include "bisect/plan/fails.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/json.h"
#include "probe/probe.h"
#include "search/search.h"
#include "reference/trace.h"
#include "run/value_report.h"

/* --- runs ------------------------------------------------------------------------------------- */

struct over {
    const struct odb_over *what;
    const struct odb_model *model;
    const struct odb_feeds *feeds;
    const struct odb_bisect_options *options;
    struct odb_over_found *out;
    int *outputs; /* owned */
    size_t n_outputs;
    struct odb_error refusal; /* the last */
};

struct over_judging {
    const struct over *over;
    struct odb_over_run *run;
};

/* The outputs that a plain run gave. */
static enum odb_status over_judge(void *payload, const struct odb_probe *probe,
                                  enum odb_verdict *shown, struct odb_error *err)
{
    const struct over_judging *j = payload;
    const struct odb_bisect_options *options = j->over->options;
    struct odb_judge judge = {options->trace, &options->tolerance};
    double *error = &j->run->error;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&judge, probe->values[i], probe->outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
        if (report.error.known)
            *error = isnan(*error) ? report.error.v : fmax(*error, report.error.v);
    }
    return ODB_OK;
}

/* A search may let off what the run showed. */
static enum odb_status over_confirm(struct over *o, struct odb_over_run *run, struct odb_error *err)
{
    struct odb_bisect_options options = *o->options;
    bool fails;
    options.target = run->spec;
    ODB_TRY(odb_fails(&fails, o->model, o->feeds, options.trace, &options, run->verdict, err));
    if (odb_verdict_is_bad(run->verdict) && !fails)
        run->verdict = ODB_VERDICT_PASS;
    return ODB_OK;
}

static enum odb_status over_ask_target(struct over *o, struct odb_pool *pool,
                                       struct odb_over_run *run, struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_probed probed;
    struct over_judging judging = {o, run};
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, o->n_outputs + 1);
    struct odb_probe probe = {.what = run->spec,
                              .judged = true,
                              .node = ODB_NO_NODE,
                              .values = o->outputs,
                              .n_values = o->n_outputs,
                              .outputs = had};
    run->error = NAN;
    odb_prober_init(&prober, o->model, o->feeds, o->options->trace, pool, o->options->hooks);
    enum odb_status status = odb_probe_ask(&prober, &probe, over_judge, &judging, &probed, err);
    run->verdict = probed.verdict;
    if (status == ODB_OK && probed.had != ODB_OK) {
        *err = probed.why;
        status = probed.had;
    }
    odb_probe_drop(&prober, &probe);
    odb_prober_dispose(&prober);
    free(had);
    return status == ODB_OK ? over_confirm(o, run, err) : status;
}

static enum odb_answer over_answer(enum odb_verdict verdict)
{
    return odb_verdict_is_bad(verdict)   ? ODB_ANSWER_BAD
           : verdict == ODB_VERDICT_PASS ? ODB_ANSWER_GOOD
                                         : ODB_ANSWER_UNTESTABLE;
}

/* Asks a spec, once. What the target says of it is no failure of the search. Takes spec and label.
 */
static enum odb_status over_run_take(struct over *o, char *spec, char *label,
                                     enum odb_answer *answer, struct odb_error *err)
{
    struct odb_over_run run = {
        .spec = spec, .label = label, .verdict = ODB_VERDICT_UNTESTABLE, .error = NAN};
    struct odb_pool *pool = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    for (size_t i = 0; i < o->out->runs.n; i++)
        if (!strcmp(o->out->runs.items[i].spec, spec)) {
            *answer = over_answer(o->out->runs.items[i].verdict);
            free(spec);
            free(label);
            return ODB_OK;
        }
    enum odb_status status = odb_hooks_cancelled(&o->options->hooks, &why);
    if (status == ODB_OK)
        status = odb_probe_pool(&pool, spec, &o->options->hooks, &why);
    if (status == ODB_OK)
        status = over_ask_target(o, pool, &run, &why);
    odb_pool_close(pool);
    *answer = over_answer(run.verdict);
    odb_push(&o->out->runs, run);
    bool fatal = status == ODB_CANCELLED || status == ODB_E_USAGE || status == ODB_E_NOMEM;
    if (status != ODB_OK)
        o->refusal = why;
    if (fatal && err)
        *err = why;
    return fatal ? status : ODB_OK;
}

static enum odb_status over_level(void *payload, size_t level, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct over *o = payload;
    odb_hooks_progress(&o->options->hooks, "option search", ODB_NO_NODE, o->out->runs.n,
                       o->what->parts.n);
    return over_run_take(o, odb_xstrdup(o->what->parts.items[level]), NULL, answer, err);
}

static char *over_label(const struct over *o, const bool *on)
{
    size_t n = o->what->parts.n, count = odb_count_marks(on, n);
    if (o->what->kind != ODB_OVER_OPTIMIZERS || count == n)
        return NULL;
    return odb_xasprintf("%s with %zu of %zu optimizers", o->what->base, count, n);
}

static enum odb_status over_subset(void *payload, const bool *on, enum odb_answer *answer,
                                   struct odb_error *err)
{
    struct over *o = payload;
    odb_hooks_progress(&o->options->hooks, "option search", ODB_NO_NODE, o->out->runs.n, 0);
    return over_run_take(o, odb_over_spec(o->what, on), over_label(o, on), answer, err);
}

/* --- what it came to -------------------------------------------------------------------------- */

static const struct odb_over_run *over_find(const struct over *o, const char *spec)
{
    for (size_t i = 0; i < o->out->runs.n; i++)
        if (!strcmp(o->out->runs.items[i].spec, spec))
            return &o->out->runs.items[i];
    return NULL;
}

/* "SPEC passes (error 2e-07)" */
static void over_put_run(const struct over *o, const char *spec, const char *called,
                         struct odb_buf *out)
{
    const struct odb_over_run *run = over_find(o, spec);
    odb_buf_put_shown(out, called);
    if (!run)
        return;
    bool plain = run->verdict == ODB_VERDICT_PASS || run->verdict == ODB_VERDICT_FAIL;
    odb_buf_puts(out, run->verdict == ODB_VERDICT_PASS   ? " passes"
                      : odb_verdict_is_bad(run->verdict) ? " fails"
                                                         : " cannot be tested");
    if (!plain && run->verdict != ODB_VERDICT_UNTESTABLE)
        odb_buf_printf(out, " (%s)", odb_verdict_name(run->verdict));
    else if (plain && !isnan(run->error))
        odb_buf_printf(out, " (error %.3g)", run->error);
}

/* The part of one spec where another differs: "opt=extended"; all of it where that is no option. */
static char *over_difference(const char *spec, const char *other)
{
    size_t same = 0, n = strlen(spec), m = strlen(other), end = 0;
    while (spec[same] && spec[same] == other[same])
        same++;
    while (same && spec[same - 1] != ',')
        same--;
    while (end < n - same && end < m - ODB_MIN(m, same) && spec[n - end - 1] == other[m - end - 1])
        end++;
    while (end && spec[n - end] != ',' && spec[n - end] != '@')
        end--;
    return same && n - end > same ? odb_xstrndup(spec + same, n - end - same) : odb_xstrdup(spec);
}

static void over_tell_levels(struct over *o, const struct odb_over_change *change)
{
    char *const *specs = o->what->parts.items;
    struct odb_buf out = ODB_BUF_INIT;
    size_t last = o->what->parts.n - 1, tested = 0, failed = 0;
    for (size_t i = 0; i < o->out->runs.n; i++) {
        enum odb_answer answer = over_answer(o->out->runs.items[i].verdict);
        tested += answer != ODB_ANSWER_UNTESTABLE;
        failed += answer == ODB_ANSWER_BAD;
    }
    o->out->fails = failed > 0;
    if (change->good >= 0) {
        const char *good = specs[change->good], *bad = specs[change->bad];
        char *here = over_difference(bad, good), *there = over_difference(good, bad);
        odb_buf_printf(&out, "%s %s: ", change->good < change->bad ? here : there,
                       change->good < change->bad ? "brings it" : "hides it");
        over_put_run(o, change->good < change->bad ? good : bad,
                     change->good < change->bad ? there : here, &out);
        odb_buf_puts(&out, ", ");
        over_put_run(o, change->good < change->bad ? bad : good,
                     change->good < change->bad ? here : there, &out);
        if (change->changes > 1)
            odb_buf_puts(&out, "; but there is no order in it: it comes and goes more than once");
        o->out->target = odb_xstrdup(bad);
        free(here);
        free(there);
    } else {
        odb_buf_printf(&out,
                       failed ? "no option brings it: all %zu specs that were tested fail"
                              : "all %zu specs that were tested pass",
                       tested);
        o->out->target = odb_xstrdup(specs[failed ? 0 : last]);
        for (size_t i = 0; i <= last && failed; i++) /* the first that can be tested */
            if (over_find(o, specs[i]) &&
                over_answer(over_find(o, specs[i])->verdict) == ODB_ANSWER_BAD) {
                free(o->out->target);
                o->out->target = odb_xstrdup(specs[i]);
                break;
            }
    }
    o->out->text = odb_buf_take(&out);
}

static void over_put_set(const struct over *o, const bool *on, struct odb_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < o->what->parts.n; i++)
        if (on[i]) {
            odb_buf_puts(out, n++ ? " with " : "");
            odb_buf_put_shown(out, o->what->parts.items[i]);
        }
}

/* All but those that bring it: what to do until it is mended. */
static enum odb_status over_without(struct over *o, const bool *on, struct odb_buf *out,
                                    struct odb_error *err)
{
    enum odb_answer answer;
    size_t n = o->what->parts.n;
    bool *rest = odb_new_n(bool, n + 1);
    for (size_t i = 0; i < n; i++)
        rest[i] = !on[i];
    char *spec = odb_over_spec(o->what, rest);
    enum odb_status status = over_run_take(o, odb_xstrdup(spec), over_label(o, rest), &answer, err);
    if (status == ODB_OK && answer == ODB_ANSWER_GOOD)
        over_put_run(o, spec, ", and all without it", out);
    if (status == ODB_OK && answer == ODB_ANSWER_BAD)
        over_put_run(o, spec, "; but all without it, too,", out);
    free(spec);
    free(rest);
    return status;
}

static enum odb_status over_tell_set(struct over *o, bool *on, enum odb_over_outcome outcome,
                                     struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    size_t n = o->what->parts.n;
    char *bad = odb_over_spec(o->what, on);
    bool *none = odb_new_n(bool, n + 1);
    char *off = odb_over_spec(o->what, none);
    const char *kind = o->what->kind == ODB_OVER_SET ? "options" : "optimizers";
    const struct odb_over_run *worst = over_find(o, bad);
    o->out->fails = worst && odb_verdict_is_bad(worst->verdict);
    o->out->unknown = outcome == ODB_OVER_UNKNOWN;
    if (outcome == ODB_OVER_SOME) {
        over_put_set(o, on, &out);
        odb_buf_puts(&out, odb_count_marks(on, n) > 1 ? " bring it together: " : " brings it: ");
        over_put_run(o, off, "without any", &out);
        odb_buf_puts(&out, ", ");
        over_put_run(o, bad, odb_count_marks(on, n) > 1 ? "with these alone" : "with that alone",
                     &out);
        status = over_without(o, on, &out, err);
    } else if (outcome == ODB_OVER_ALWAYS) {
        odb_buf_printf(&out, "none of the %zu %s brings it: ", n, kind);
        over_put_run(o, off, "it without any", &out);
    } else if (outcome == ODB_OVER_UNKNOWN) {
        odb_buf_printf(&out, "whether one of the %zu %s brings it cannot be decided: ", n, kind);
        over_put_run(o, off, "it without any", &out);
        odb_buf_puts(&out, ", ");
        over_put_run(o, bad, odb_count_marks(on, n) == n ? "with all" : "with some", &out);
        if (odb_count_marks(on, n) < n) {
            odb_buf_puts(&out, ": ");
            over_put_set(o, on, &out);
        }
    } else {
        odb_buf_printf(&out, "none of the %zu %s brings an error: ", n, kind);
        over_put_run(o, bad, "it with all", &out);
    }
    const struct odb_over_run *base = over_find(o, o->what->base);
    o->out->target = bad;
    if (o->what->kind == ODB_OVER_OPTIMIZERS && outcome == ODB_OVER_SOME && base &&
        odb_verdict_is_bad(base->verdict)) { /* as good, and not so long */
        free(bad);
        o->out->target = odb_xstrdup(o->what->base);
    }
    o->out->text = odb_buf_take(&out);
    free(off);
    free(none);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status over_search(struct over *o, struct odb_error *err)
{
    size_t n = o->what->parts.n;
    odb_hooks_phase(&o->options->hooks, "option search", n);
    if (o->what->kind == ODB_OVER_LIST || o->what->kind == ODB_OVER_LEVELS) {
        struct odb_over_level *levels = odb_new_n(struct odb_over_level, n + 1);
        struct odb_over_change change;
        enum odb_status status =
            odb_over_levels(levels, n, o->what->kind == ODB_OVER_LIST, &change, over_level, o, err);
        free(levels);
        if (status == ODB_OK)
            over_tell_levels(o, &change);
        return status;
    }
    bool *on = odb_new_n(bool, n + 1);
    enum odb_over_outcome outcome;
    enum odb_status status = odb_over_smallest(on, n, &outcome, over_subset, o, err);
    if (status == ODB_OK)
        status = over_tell_set(o, on, outcome, err);
    free(on);
    return status;
}

enum odb_status odb_over_search(struct odb_over_found *out, const struct odb_over *over,
                                const struct odb_model *model, const struct odb_feeds *feeds,
                                const struct odb_bisect_options *options, struct odb_error *err)
{
    const struct odb_graph *graph = model->graph;
    struct over o = {.what = over,
                     .model = model,
                     .feeds = feeds,
                     .options = options,
                     .out = out,
                     .outputs = odb_new_n(int, graph->n_outputs + 1),
                     .refusal = ODB_ERROR_INIT};
    *out = (struct odb_over_found){0};
    for (size_t i = 0; i < graph->n_outputs; i++)
        if (graph->values[graph->outputs[i]].producer != ODB_NO_NODE &&
            !odb_trace_drawn(options->trace, graph->outputs[i]))
            o.outputs[o.n_outputs++] = graph->outputs[i];
    enum odb_status status = over_search(&o, err);
    size_t tested = 0;
    for (size_t i = 0; i < out->runs.n; i++)
        tested += over_answer(out->runs.items[i].verdict) != ODB_ANSWER_UNTESTABLE;
    if (status == ODB_OK && !tested) {
        if (err)
            *err = o.refusal;
        status = odb_fail(err, ODB_E_EXECUTOR, "none of the specs can be tested: %.300s",
                          o.refusal.what);
    }
    free(o.outputs);
    return status;
}

void odb_over_found_dispose(struct odb_over_found *found)
{
    for (size_t i = 0; i < found->runs.n; i++) {
        free(found->runs.items[i].spec);
        free(found->runs.items[i].label);
    }
    free(found->runs.items);
    free(found->target);
    free(found->text);
}

struct json_t *odb_over_json(const struct odb_over_found *found)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < found->runs.n; i++) {
        const struct odb_over_run *run = &found->runs.items[i];
        json_array_append_new(
            runs, json_pack("{so,so,so}", "spec", odb_json_text(run->spec), "verdict",
                            odb_json_text(odb_verdict_name(run->verdict)), "error",
                            isnan(run->error) ? json_null() : odb_json_real(run->error)));
    }
    return json_pack("{so,s{sb,so,so}}", "over", runs, "over_found", "fails", (int)found->fails,
                     "target", odb_json_text(found->target), "text", odb_json_text(found->text));
}
