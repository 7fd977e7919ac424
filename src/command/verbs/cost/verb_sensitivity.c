/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bisect/bisect_options.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/search_options.h"
#include "command/verbs/cost/metric_option.h"
#include "precision/precision.h"
#include "score/type_cost.h"
#include "sensitivity/sensitivity.h"
#include "session/session.h"

#define SENSITIVITY_SECONDS 60 /* that it may take where no budget is given, or */
#define SENSITIVITY_RUNS 10    /* times as long as the reference took, if that is more */
#define SENSITIVITY_WIDTH 80

static enum odb_status sensitivity_options(struct odb_command_call *call,
                                           struct odb_sensitivity_options *out,
                                           struct odb_bisect_options *search, struct odb_error *err)
{
    const char *to = odb_call_option(call, ODB_OPTION_TYPE);
    if (!to) {
        odb_fail(err, ODB_E_USAGE, "there is no type to try");
        return odb_error_remedy(err, "add --type f16, bf16 or int8");
    }
    ODB_TRY(odb_call__search_options(call, search, err));
    search->expect = NULL; /* the reference is as the model is */
    search->encodings = NULL;
    *out = (struct odb_sensitivity_options){.to = odb_precision_type(to)};
    if (odb_call_option(call, ODB_OPTION_TARGET))
        out->target = search->target;
    return ODB_OK;
}

/* Where no budget is given: a minute, and more for a model that runs long. A frozen clock: none. */
static double sensitivity_seconds(const struct odb_command_call *call,
                                  const struct odb_trace *trace)
{
    double run = 0;
    if (call->budget.deadline > 0)
        return fmax(call->budget.deadline - odb_clock(), 1e-3);
    for (size_t n = 0; n < call->model->graph->n_nodes; n++)
        run += trace->took[n];
    return getenv("ONNXDBG_FROZEN_CLOCK") ? 0 : fmax(SENSITIVITY_SECONDS, SENSITIVITY_RUNS * run);
}

static enum odb_status sensitivity_publish(struct odb_command_call *call,
                                           const struct odb_sensitivity_result *found,
                                           const struct odb_type_cost *cost, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_sensitivity_json(found, odb_call__chosen(call), cost ? odb_type_cost_json(cost) : NULL,
                             &out);
        status = odb_call__publish(call, &out, err);
    }
    if (!instead)
        odb_sensitivity_put(found, call->width > 0 ? call->width : SENSITIVITY_WIDTH, &out);
    if (!instead && cost)
        odb_type_cost_put(cost, call->model->graph, found->to, &out);
    odb_call__print(call, &out);
    return status;
}

/* With --metric: what the worst nodes cost a data set. */
static enum odb_status sensitivity_task(struct odb_command_call *call,
                                        const struct odb_sensitivity_result *found,
                                        const struct odb_bisect_options *search,
                                        struct odb_call_metric *metric, struct odb_type_cost **out,
                                        struct odb_error *err)
{
    const struct odb_score_options options = {.metric = metric->metric,
                                              .n = metric->samples.found.items.n,
                                              .source = odb_call__metric_source,
                                              .feeds = odb_call__metric_feeds,
                                              .payload = metric};
    if (!metric->metric || found->stopped)
        return ODB_OK;
    return odb_type_cost(out, call->model, search, &options, found->to, found->order,
                         ODB_MIN(found->n_ranked, (size_t)ODB_SCORE_NODES), err);
}

/* What is found is there also where a later part fails. */
static enum odb_status sensitivity_find(struct odb_command_call *call,
                                        struct odb_sensitivity_options *options,
                                        struct odb_bisect_options *search,
                                        struct odb_call_metric *metric,
                                        struct odb_sensitivity_result **found,
                                        struct odb_type_cost **cost, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_trace *trace;
    if (odb_call_has(call, ODB_OPTION_METRIC))
        ODB_TRY(odb_call__metric(call, metric, &options->hooks, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    ODB_TRY(odb_session_trace(call->session, &trace, search, err));
    options->seconds = sensitivity_seconds(call, trace->own ? trace->own : trace);
    ODB_TRY(odb_sensitivity(found, call->model, feeds, trace, options, err));
    return sensitivity_task(call, *found, search, metric, cost, err);
}

/* What the command ends with where all of it was made. */
static enum odb_status sensitivity_close(const struct odb_sensitivity_result *found,
                                         struct odb_error *err)
{
    if (found->stopped)
        return odb_fail(err, ODB_CANCELLED, "stopped after %zu of %zu nodes",
                        found->n_measured + found->n_estimated, found->n_computes);
    if (found->n_computes && !found->n_ranked)
        return odb_fail(err, ODB_E_EXECUTOR, "no node was measured: %s",
                        found->late ? "the budget was spent before"
                                    : "the reference can run none in the type");
    return ODB_OK;
}

enum odb_status odb_command__sensitivity(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_sensitivity_options options;
    struct odb_sensitivity_result *found = NULL;
    struct odb_type_cost *cost = NULL;
    struct odb_call_metric metric = {0};
    struct odb_bisect_options search;
    struct odb_watch watch;
    struct odb_error late = ODB_ERROR_INIT;
    ODB_TRY(sensitivity_options(call, &options, &search, err));
    search.hooks = options.hooks = odb_watch_begin(&watch, call);
    struct odb_budget own = {.memory = call->budget.memory}; /* for the rest it counts itself */
    search.hooks.budget = options.hooks.budget = &own;
    enum odb_status status = sensitivity_find(call, &options, &search, &metric, &found, &cost, err);
    odb_watch_end(&watch);
    enum odb_status told = found ? sensitivity_publish(call, found, cost, &late) : ODB_OK;
    if (status == ODB_OK && told == ODB_OK)
        status = sensitivity_close(found, err);
    else if (status == ODB_OK) {
        *err = late;
        status = told;
    }
    odb_type_cost_free(cost);
    odb_sensitivity_result_free(found);
    odb_call__metric_dispose(&metric);
    return status;
}
