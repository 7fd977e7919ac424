/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "probe/probe.h"
#include "reference/trace.h"
#include "report/report.h"
#include "run/budget.h"
#include "run/value_report.h"

/* Seconds that they may take however short the search was. */
#define SETTINGS_SECONDS 5
/* An error that is so many times smaller is not the one that was searched. */
#define SETTINGS_SMALLER 10
/* So many right runs in a row a setting must show where runs flip without it. */
#define SETTINGS_RUNS 6

/* --- which ------------------------------------------------------------------------------------ */

/* A key, a value, or a bare word of a list. */
static bool settings_has_word(const struct odb_spec *spec, const char *word)
{
    for (size_t i = 0; i < spec->n_options; i++)
        if (!strcasecmp(spec->options[i].key, word) || !strcasecmp(spec->options[i].value, word))
            return true;
    return false;
}

/* What the spec of the executor itself becomes. */
static char *settings_own(const struct odb_spec *spec, const struct odb_executor_setting *setting)
{
    const char *value = strchr(setting->option, '=') + 1;
    char *key = odb_xstrndup(setting->option, (size_t)(value - 1 - setting->option));
    const struct odb_executor_option *row = odb_spec_row(spec->row->options, key);
    const char *has = odb_spec_option(spec, key);
    has = has ? has : row ? row->preset : NULL;
    bool applies = !setting->spec || settings_has_word(spec, setting->spec);
    bool differs = !has || strcmp(has, value) != 0;
    char *text = applies && differs ? odb_spec_with(spec, key, value) : NULL;
    free(key);
    return text;
}

char *settings_spec(const char *text, const struct odb_executor_setting *setting)
{
    struct odb_spec *spec;
    char *out = NULL;
    if (odb_spec_parse(&spec, text, NULL) != ODB_OK)
        return NULL;
    if (spec->row && spec->row->transport && spec->inner) {
        char *inner = settings_spec(spec->inner, setting);
        if (inner) /* which stands last */
            out = odb_xasprintf("%.*s%s", (int)(strlen(text) - strlen(spec->inner)), text, inner);
        free(inner);
    } else if (spec->row) {
        out = settings_own(spec, setting);
    }
    odb_spec_free(spec);
    return out;
}

/* Whether the model has an operator of which the setting speaks, or the target made such a kernel.
 */
static bool settings_concern(const struct odb_graph *graph, const struct odb_report *report,
                             const struct odb_executor_setting *setting)
{
    char *parts = odb_xstrdup(setting->model ? setting->model : ""), *rest = parts;
    bool concern = !setting->model;
    for (char *part; !concern && (part = strsep(&rest, " "));) {
        concern = strstr(odb_buf_text(&report->account.groups), part) != NULL;
        for (size_t i = 0; i < graph->n_nodes && !concern; i++)
            concern = strstr(graph->nodes[i].op_type, part) != NULL;
    }
    free(parts);
    return concern;
}

/* --- a run ------------------------------------------------------------------------------------ */

struct settings_judging {
    struct odb_judge judge;
    struct odb_number error;
};

static enum odb_status settings_judge(void *payload, const struct odb_probe *probe,
                                      enum odb_verdict *shown, struct odb_error *err)
{
    struct settings_judging *j = payload;
    for (size_t i = 0; i < probe->n_values; i++) {
        struct odb_value_report report = {0};
        ODB_TRY(odb_judge_value(&j->judge, probe->values[i], probe->outputs[i], &report, err));
        odb_probe_shows(shown, report.verdict);
        if (report.error.known && (!j->error.known || report.error.v > j->error.v))
            j->error = report.error;
    }
    return ODB_OK;
}

/* The outputs that can be compared; list has room for n_outputs. */
static size_t settings_outputs(const struct search_case *c, int *list)
{
    size_t n = 0;
    for (size_t i = 0; i < c->graph->n_outputs; i++)
        if (odb_probe_reads(c->graph, c->trace, c->graph->outputs[i]) &&
            c->trace->ref[c->graph->outputs[i]])
            list[n++] = c->graph->outputs[i];
    return n;
}

/* Of the output that is wrong in most of the equal runs: in how many. */
static size_t settings_wrong(const struct odb_repeats *repeats)
{
    size_t most = 0;
    for (size_t i = 0; i < repeats->outputs.n; i++) {
        size_t wrong = 0;
        for (int v = 0; v < ODB_VERDICT_COUNT; v++)
            if (odb_verdict_is_bad((enum odb_verdict)v))
                wrong += repeats->outputs.items[i].votes[v];
        most = ODB_MAX(most, wrong);
    }
    return most;
}

/* The run that was judged is right, and half of all equal runs, or more, are wrong: the first of
 * them leaves something behind, as a rule. */
static bool settings_later(const struct findings *f)
{
    size_t wrong = settings_wrong(&f->report->repeats);
    return !f->report->outputs_diverge && wrong && 2 * wrong >= f->report->repeats.runs;
}

/* How many runs must be right for a setting to be believed. */
static int settings_runs(const struct findings *f)
{
    size_t wrong = settings_wrong(&f->report->repeats);
    return wrong && wrong < f->report->repeats.runs ? SETTINGS_RUNS : 1;
}

static enum odb_status settings_ask(const struct search_case *c, const struct findings *f,
                                    struct odb_pool *pool, struct odb_probe *probe,
                                    struct odb_setting_tried *tried, struct odb_error *err)
{
    struct odb_prober prober;
    struct odb_probed probed;
    struct settings_judging judging = {.judge = {c->trace, &c->options->tolerance}};
    const bool *fed = c->trace->fed; /* of the model without what is refused */
    c->trace->fed = NULL;
    odb_prober_init(&prober, c->model, c->feeds, c->trace, pool, c->options->hooks);
    prober.answers = c->prober->answers;
    prober.scope = c->prober->scope;
    int runs = settings_runs(f);
    enum odb_status status = odb_probe_ask(&prober, probe, settings_judge, &judging, &probed, err);
    for (int run = 1; run < runs && status == ODB_OK && probed.verdict == ODB_VERDICT_PASS; run++) {
        odb_probe_drop(&prober, probe);
        probe->aside = true;
        status = odb_probe_ask_again(&prober, probe, settings_judge, &judging, &probed, err);
    }
    tried->verdict = status == ODB_OK ? probed.verdict : ODB_VERDICT_UNTESTABLE;
    tried->error = judging.error;
    odb_probe_drop(&prober, probe);
    odb_prober_dispose(&prober);
    c->trace->fed = fed;
    return status;
}

/* An error that is left may be one that a search would let off: rounding that tips. */
static enum odb_status settings_let_off(const struct search_case *c, const struct findings *f,
                                        const char *spec, settings_fails *search,
                                        struct odb_setting_tried *tried, struct odb_error *err)
{
    struct odb_bisect_options options = *c->options;
    bool fails = true;
    if (tried->verdict != ODB_VERDICT_FAIL || f->sought.verdict != ODB_VERDICT_FAIL ||
        !tried->error.known || tried->error.v * SETTINGS_SMALLER > f->sought.error)
        return ODB_OK;
    options.target = spec;
    ODB_TRY(search(&fails, c->model, c->feeds, c->trace, &options, tried->verdict, err));
    tried->verdict = fails ? tried->verdict : ODB_VERDICT_PASS;
    return ODB_OK;
}

/* A setting that this target does not have, as a version may be too old for it, is left out. */
static enum odb_status settings_run(const struct search_case *c, struct findings *f,
                                    const char *spec, const struct odb_executor_setting *setting,
                                    settings_fails *search, struct odb_error *err)
{
    struct odb_pool *pool = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    struct odb_setting_tried tried = {.verdict = ODB_VERDICT_UNTESTABLE};
    int *values = odb_new_n(int, c->graph->n_outputs + 1);
    struct odb_probe probe = {.what = setting->option,
                              .asked = ODB_PROBE_KIND_SETTING,
                              .node = ODB_NO_NODE,
                              .values = values,
                              .n_values = settings_outputs(c, values),
                              .outputs = odb_new_n(struct odb_tensor *, c->graph->n_outputs + 1),
                              .judged = true};
    enum odb_status status = odb_probe_pool(&pool, spec, &c->options->hooks, &why);
    if (status == ODB_OK)
        status = settings_ask(c, f, pool, &probe, &tried, &why);
    odb_pool_close(pool);
    if (status == ODB_OK)
        status = settings_let_off(c, f, spec, search, &tried, &why);
    free(probe.outputs);
    free(values);
    if (status == ODB_CANCELLED) {
        *err = why;
        return status;
    }
    if (tried.verdict == ODB_VERDICT_PASS || odb_verdict_is_bad(tried.verdict)) {
        tried.option = odb_xstrdup(setting->option);
        tried.help = odb_xstrdup(setting->help);
        findings_setting_take(f, tried);
    }
    return ODB_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* A node is accused of what an output shows, and the report tells of it. */
static bool settings_wanted(const struct search_case *c, const struct findings *f)
{
    const struct odb_bisect_options *options = c->options;
    return f->report->culprits.n && (f->report->outputs_diverge || settings_later(f)) &&
           !c->prober->recorded && !options->no_checks && !options->no_opinion && !options->scope;
}

enum odb_status settings_try(const struct search_case *c, struct findings *f, settings_fails *fails,
                             struct odb_error *err)
{
    const struct odb_executor_ops *row = odb_executor_of(c->options->target);
    if (!row || !row->settings || !settings_wanted(c, f))
        return ODB_OK;
    double start = odb_clock(), most = fmax(SETTINGS_SECONDS, start - c->start.seconds);
    size_t late = 0;
    enum odb_status status = ODB_OK;
    findings_step_begin(f, "settings");
    for (const struct odb_executor_setting *s = row->settings; s->option && status == ODB_OK; s++) {
        char *spec =
            settings_concern(c->graph, f->report, s) ? settings_spec(c->options->target, s) : NULL;
        if (spec && odb_clock() - start > most)
            late++;
        else if (spec)
            status = settings_run(c, f, spec, s, fails, err);
        free(spec);
    }
    if (status == ODB_CANCELLED && odb_budget_spent(c->options->hooks.budget))
        status = ODB_OK; /* who is to blame is known */
    findings_step_end(f, "settings",
                      "the model as it is under %zu settings that are known to make a difference%s",
                      f->report->settings.n,
                      late ? "; others would have taken longer than the search" : "");
    return status;
}
