/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_sequence.h"
#include "command/value/spare_model.h"
#include "command/verbs/cost/metric_option.h"
#include "score/least/least.h"

static enum odb_status task_refuse(struct odb_error *err, const char *what, const char *remedy)
{
    odb_fail(err, ODB_E_USAGE, "%s", what);
    return odb_error_remedy(err, "%s", remedy);
}

/* What has no meaning beside a metric is refused. */
static enum odb_status task_check(struct odb_command_call *call, struct odb_least_options *options,
                                  struct odb_bisect_options *search, struct odb_error *err)
{
    const char *json = odb_call_option(call, ODB_OPTION_JSON_FILE);
    if (odb_call_arg(call, 1))
        return task_refuse(err, "with --metric nodes are found, and none is named",
                           "leave out NODE or --metric");
    if (odb_call_has(call, ODB_OPTION_SCRAMBLE))
        return task_refuse(err, "--scramble would change what the metric says",
                           "leave out --scramble or --metric");
    if (odb_call__plan_said(call) || odb_call__step_given(call))
        return task_refuse(err, "a sequence of steps is no data set of a metric",
                           "leave out what is said of steps, or --metric");
    options->dir = odb_call_option(call, ODB_OPTION_OUTPUT);
    if (!options->dir)
        return task_refuse(err, "there is no folder to write to", "add -o DIR");
    options->with_target = odb_call_has(call, ODB_OPTION_WITH_TARGET);
    options->ir_version = odb_call_int(call, ODB_OPTION_IR_VERSION, 0);
    if (json)
        ODB_TRY(odb_call__spare_model(call, json, err));
    return odb_call__metric_search(call, search, err);
}

static enum odb_status task_publish(struct odb_command_call *call, const struct odb_least *least,
                                    const char *dir, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_least_json(least, dir, &out);
        status = odb_call__publish(call, &out, err);
    }
    if (!instead)
        odb_least_put(least, dir, &out);
    odb_call__print(call, &out);
    return status;
}

static enum odb_status task_make(struct odb_command_call *call, struct odb_call_metric *metric,
                                 struct odb_bisect_options *search,
                                 struct odb_least_options *options, struct odb_least **out,
                                 struct odb_error *err)
{
    struct odb_watch watch;
    search->hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_call__metric(call, metric, &search->hooks, err);
    options->drop = metric->drop;
    options->score = (struct odb_score_options){.metric = metric->metric,
                                                .n = metric->samples.found.items.n,
                                                .source = odb_call__metric_source,
                                                .feeds = odb_call__metric_feeds,
                                                .payload = metric};
    if (status == ODB_OK)
        status = odb_least_make(out, call->model, search, options, err);
    bool spent = odb_watch_spent(&watch);
    odb_watch_end(&watch);
    return status == ODB_CANCELLED && spent && *out && (*out)->written ? ODB_OK : status;
}

enum odb_status odb_command__minimise_task(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_call_metric metric = {0};
    struct odb_bisect_options search;
    struct odb_least_options options = {0};
    struct odb_least *least = NULL;
    struct odb_error late = ODB_ERROR_INIT;
    ODB_TRY(task_check(call, &options, &search, err));
    enum odb_status status = task_make(call, &metric, &search, &options, &least, err);
    bool known = least && (status == ODB_OK || least->written);
    enum odb_status told = known ? task_publish(call, least, options.dir, &late) : ODB_OK;
    if (status == ODB_OK && told != ODB_OK) {
        *err = late;
        status = told;
    }
    call->found = known && least->again && !least->reproduces;
    odb_least_free(least);
    odb_call__metric_dispose(&metric);
    return status;
}
