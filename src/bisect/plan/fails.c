/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/plan/fails.h"

#include "bisect/plan/bisect.h"
#include "bisect/bisect_options.h"
#include "run/budget.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "report/report.h"
#include "reference/trace.h"

/* Wrong numbers, and shapes that numbers decide; nothing excuses the rest, but that few bits make
 * NaN of what is a number in float. */
static bool fails_may_be_let_off(enum odb_verdict shown, const struct odb_bisect_options *options)
{
    return shown == ODB_VERDICT_FAIL || shown == ODB_VERDICT_SHAPE ||
           (shown == ODB_VERDICT_NAN && options->encodings);
}

enum odb_status odb_fails(bool *fails, const struct odb_model *model, const struct odb_feeds *feeds,
                          struct odb_trace *trace, const struct odb_bisect_options *options,
                          enum odb_verdict shown, struct odb_error *err)
{
    struct odb_bisect_options search = *options;
    struct odb_search_hooks told = trace->hooks;
    const char *phase = trace->phase;
    const struct odb_budget *all = options->hooks.budget;
    struct odb_budget own = {.deadline = all ? all->deadline : 0, .memory = all ? all->memory : 0};
    struct odb_report *report = NULL;
    struct odb_error why = ODB_ERROR_INIT;
    *fails = odb_verdict_is_bad(shown);
    if (!fails_may_be_let_off(shown, options))
        return ODB_OK;
    search.trace = trace;
    search.strategy = ODB_STRATEGY_AUTO;
    search.prove = false;
    search.no_enter = true;
    search.no_opinion = true; /* its accusations are not reported */
    search.no_explain = true;
    search.answers = NULL;      /* which are of another question */
    search.hooks.event = NULL;  /* the hooks receive the runs alone */
    search.hooks.budget = &own; /* of time; its questions are not those that were bargained for */
    enum odb_status status = odb_bisect(&report, model, feeds, &search, &why);
    trace->hooks = told;
    trace->phase = phase;
    if (status == ODB_OK)
        *fails = report->outputs_diverge;
    bool in_float = odb_report_undecided(report, ODB_UNDECIDED_FLOAT);
    odb_report_free(report);
    *fails = *fails && !in_float;
    if (!in_float && (status != ODB_CANCELLED || odb_budget_spent(&own)))
        return ODB_OK;
    if (err)
        *err = why;
    return status;
}
