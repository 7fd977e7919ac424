/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/cost/metric_option.h"

#include "command/call/call.h"
#include "command/table/command.h"
#include "command/value/search_options.h"

#define METRIC_SAMPLES 20
#define METRIC_SAMPLES_TEXT "20"

enum odb_status odb_call__metric(struct odb_command_call *call, struct odb_call_metric *out,
                                 const struct odb_search_hooks *hooks, struct odb_error *err)
{
    const char *metric = odb_call_option(call, ODB_OPTION_METRIC);
    if (!metric) {
        odb_fail(err, ODB_E_USAGE, "there is no metric");
        return odb_error_remedy(err, "add --metric top1, top5, wer, perplexity, snr, map or "
                                     "python:FILE.py:CLASS");
    }
    ODB_TRY(odb_call__real(call, ODB_OPTION_DROP, &out->drop, err));
    if (!odb_call_has(call, ODB_OPTION_SAMPLES) && !odb_call_has(call, ODB_OPTION_INPUT) &&
        !odb_call_has(call, ODB_OPTION_INPUTS_FROM)) /* one set beside the model is no data set */
        odb_call__take_option(call, ODB_OPTION_SAMPLES, METRIC_SAMPLES_TEXT);
    ODB_TRY(odb_call__samples_of(call, &out->samples, METRIC_SAMPLES, err));
    return odb_metric_open(&out->metric, metric, odb_call_option(call, ODB_OPTION_LABELS),
                           call->model->graph, hooks, err);
}

enum odb_status odb_call__metric_search(struct odb_command_call *call,
                                        struct odb_bisect_options *search, struct odb_error *err)
{
    ODB_TRY(odb_call__search_options(call, search, err));
    if (!odb_executor_recorded(search->target))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "--target %s is a recording of one sample", search->target);
    return odb_error_remedy(err, "name a target that runs models");
}

void odb_call__metric_dispose(struct odb_call_metric *metric)
{
    odb_metric_close(metric->metric);
    odb_call__samples_dispose(&metric->samples);
}

char *odb_call__metric_source(void *payload, size_t sample)
{
    const struct odb_call_metric *metric = payload;
    return odb_xstrdup(metric->samples.found.items.items[sample].source);
}

enum odb_status odb_call__metric_feeds(void *payload, size_t sample, struct odb_feeds **out,
                                       struct odb_error *err)
{
    const struct odb_call_metric *metric = payload;
    return metric->samples.found.feeds(metric->samples.found.payload, sample, out, err);
}
