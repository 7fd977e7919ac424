/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/search_options.h"
#include "command/verbs/search/samples_option.h"
#include "score/score.h"

#define SCORE_SAMPLES 20
#define SCORE_SAMPLES_TEXT "20"

static char *score_source(void *payload, size_t i)
{
    const struct odb_call_samples *samples = payload;
    return odb_xstrdup(samples->found.items.items[i].source);
}

static enum odb_status score_feeds(void *payload, size_t i, struct odb_feeds **out,
                                   struct odb_error *err)
{
    const struct odb_call_samples *samples = payload;
    return samples->found.feeds(samples->found.payload, i, out, err);
}

static enum odb_status score_nodes(struct odb_command_call *call, int *nodes, size_t *n,
                                   struct odb_error *err)
{
    *n = call->n_args - 1;
    if (*n > ODB_SCORE_NODES)
        return odb_fail(err, ODB_E_USAGE, "%zu nodes are named, and %d are mended at most", *n,
                        ODB_SCORE_NODES);
    for (size_t i = 0; i < *n; i++)
        ODB_TRY(odb_graph_find_node(call->model->graph, odb_call_arg(call, i + 1), &nodes[i], err));
    return ODB_OK;
}

static enum odb_status score_options(struct odb_command_call *call,
                                     struct odb_bisect_options *search, double *drop,
                                     struct odb_error *err)
{
    ODB_TRY(odb_call__search_options(call, search, err));
    ODB_TRY(odb_call__real(call, ODB_OPTION_DROP, drop, err));
    if (!odb_call_option(call, ODB_OPTION_METRIC)) {
        odb_fail(err, ODB_E_USAGE, "there is no metric");
        return odb_error_remedy(err, "add --metric top1, top5, wer, perplexity, snr, map or "
                                     "python:FILE.py:CLASS");
    }
    if (!odb_executor_recorded(search->target))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "--target %s is a recording of one sample", search->target);
    return odb_error_remedy(err, "name a target that runs models");
}

/* Samples without a share leave no verdict, unless the others show a loss. */
static enum odb_status score_end(struct odb_command_call *call, const struct odb_score *score,
                                 double drop, struct odb_error *err)
{
    call->found = score->loss.is > drop;
    for (size_t i = 0; i < score->samples.n && !call->found; i++) {
        const struct odb_score_sample *one = &score->samples.items[i];
        if (!one->why)
            continue;
        odb_fail(err, one->failed, "%zu of %zu samples could not be scored: %.300s",
                 score->samples.n - score->used, score->samples.n, one->why);
        odb_error_at(err, "%s", one->source);
        return one->failed;
    }
    if (isnan(score->loss.is) && !call->found)
        return odb_fail(err, ODB_UNSUPPORTED, "the metric is not defined for these samples");
    return ODB_OK;
}

static enum odb_status score_publish(struct odb_command_call *call, const struct odb_score *score,
                                     struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_score_json(score, &out);
        status = odb_call__publish(call, &out, err);
    }
    if (!instead)
        odb_score_put(score, &out);
    odb_call__print(call, &out);
    return status;
}

static enum odb_status score_make(struct odb_command_call *call, struct odb_call_samples *samples,
                                  struct odb_bisect_options *search, struct odb_score **out,
                                  struct odb_error *err)
{
    int nodes[ODB_SCORE_NODES];
    struct odb_watch watch;
    struct odb_metric *metric = NULL;
    struct odb_score_options options = {.nodes = nodes,
                                        .n = samples->found.items.n,
                                        .source = score_source,
                                        .feeds = score_feeds,
                                        .payload = samples};
    ODB_TRY(score_nodes(call, nodes, &options.n_nodes, err));
    search->hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_metric_open(&metric, odb_call_option(call, ODB_OPTION_METRIC),
                                             odb_call_option(call, ODB_OPTION_LABELS),
                                             call->model->graph, &search->hooks, err);
    options.metric = metric;
    if (status == ODB_OK)
        status = odb_score_make(out, call->model, search, &options, err);
    odb_metric_close(metric);
    odb_watch_end(&watch);
    return status;
}

enum odb_status odb_command__score(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_call_samples samples = {0};
    struct odb_bisect_options search;
    struct odb_score *score = NULL;
    double drop = 0;
    ODB_TRY(score_options(call, &search, &drop, err));
    if (!odb_call_has(call, ODB_OPTION_SAMPLES) && !odb_call_has(call, ODB_OPTION_INPUT) &&
        !odb_call_has(call, ODB_OPTION_INPUTS_FROM)) /* one set beside the model is no data set */
        odb_call__take_option(call, ODB_OPTION_SAMPLES, SCORE_SAMPLES_TEXT);
    enum odb_status status = odb_call__samples_of(call, &samples, SCORE_SAMPLES, err);
    if (status == ODB_OK)
        status = score_make(call, &samples, &search, &score, err);
    if (status == ODB_OK)
        status = score_publish(call, score, err);
    if (status == ODB_OK)
        status = score_end(call, score, drop, err);
    odb_score_free(score);
    odb_call__samples_dispose(&samples);
    return status;
}
