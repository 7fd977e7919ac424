/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/search/ranking.h"

#include <stdlib.h>

#include "base/clock.h"
#include "bisect/bisect_options.h"
#include "command/call/call.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "executor/capabilities.h"
#include "executor/executor.h"
#include "executor/transport/target.h"
#include "suspects/suspects.h"

#define RANKING_UNASKED 30 /* seconds of a ranking for which no number of samples was given */

/* The budget is the ranking's own matter: it ends with partial results. */
static enum odb_status ranking_make(struct odb_command_call *call, struct odb_watch *watch,
                                    struct odb_samples *samples, struct odb_bisect_options search,
                                    struct odb_suspects **out, struct odb_error *err)
{
    struct odb_budget own;
    struct odb_suspects_options options = {.search = &search};
    search.hooks = odb_watch_begin(watch, call);
    own = (struct odb_budget){.memory = call->budget.memory};
    search.hooks.budget = &own;
    search.trace = NULL; /* of one sample */
    search.answers = NULL;
    if (call->budget.deadline > 0)
        options.seconds = call->budget.deadline - odb_clock();
    else if (!odb_call_has(call, ODB_OPTION_SAMPLES) && !getenv("ONNXDBG_FROZEN_CLOCK"))
        options.seconds = RANKING_UNASKED;
    if (call->budget.deadline > 0 && options.seconds <= 0)
        return odb_fail(err, ODB_E_EXECUTOR, "the budget was spent before");
    return odb_suspects(out, call->model, samples, &options, err);
}

enum odb_status odb_call__rank(struct odb_command_call *call, struct odb_samples *samples,
                               const struct odb_bisect_options *options, struct odb_suspects **out,
                               struct odb_error *err)
{
    struct odb_watch watch;
    enum odb_status status = ranking_make(call, &watch, samples, *options, out, err);
    odb_watch_end(&watch);
    return status;
}

enum odb_status odb_call__rank_stopped(const struct odb_suspects *ranked, struct odb_error *err)
{
    if (ranked->n_run == ranked->n_samples)
        return odb_fail(err, ODB_CANCELLED, "stopped while nodes were tried");
    return odb_fail(err, ODB_CANCELLED, "stopped after %zu of %zu inputs", ranked->n_run,
                    ranked->n_samples);
}

enum odb_status odb_call__only_outputs(struct odb_command_call *call, const char *target,
                                       bool *only, struct odb_error *err)
{
    const struct odb_graph *graph = call->model->graph;
    struct odb_target *asked;
    *only = false;
    if (odb_executor_recorded(target))
        return ODB_OK;
    ODB_TRY(odb_target_open(&asked, target, err));
    const struct odb_capabilities *can = odb_target_capabilities(asked);
    *only = odb_capabilities_cuts(can) == ODB_CUTS_NONE;
    for (size_t v = 0; v < graph->n_values && *only; v++)
        *only = graph->values[v].producer == ODB_NO_NODE || graph->values[v].is_output ||
                !odb_capabilities_tap(can, graph->values[v].name);
    odb_target_close(asked);
    return ODB_OK;
}
