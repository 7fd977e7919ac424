/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/verbs/cost/metric_option.h"
#include "score/score.h"

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

/* Samples without a share leave no verdict, unless the others show a loss. */
static enum odb_status score_end(struct odb_command_call *call, const struct odb_score *score,
                                 double drop, struct odb_error *err)
{
    call->found = odb_score_loses(score, drop);
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
    if (!instead && !score->failure)
        odb_score_put(score, &out);
    odb_call__print(call, &out);
    return status;
}

static enum odb_status score_make(struct odb_command_call *call, struct odb_call_metric *metric,
                                  struct odb_bisect_options *search, struct odb_score **out,
                                  struct odb_error *err)
{
    int nodes[ODB_SCORE_NODES];
    struct odb_watch watch;
    struct odb_score_options options = {.nodes = nodes,
                                        .source = odb_call__metric_source,
                                        .feeds = odb_call__metric_feeds,
                                        .payload = metric};
    ODB_TRY(score_nodes(call, nodes, &options.n_nodes, err));
    search->hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_call__metric(call, metric, &search->hooks, err);
    options.metric = metric->metric;
    options.n = metric->samples.found.items.n;
    if (status == ODB_OK)
        status = odb_score_make(out, call->model, search, &options, err);
    odb_watch_end(&watch);
    return status;
}

enum odb_status odb_command__score(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_call_metric metric = {0};
    struct odb_bisect_options search;
    struct odb_score *score = NULL;
    ODB_TRY(odb_call__metric_search(call, &search, err));
    enum odb_status status = score_make(call, &metric, &search, &score, err);
    struct odb_error late = ODB_ERROR_INIT;
    enum odb_status told = score ? score_publish(call, score, &late) : ODB_OK;
    if (status == ODB_OK && told != ODB_OK) {
        *err = late;
        status = told;
    }
    if (status == ODB_OK)
        status = score_end(call, score, metric.drop, err);
    odb_score_free(score);
    odb_call__metric_dispose(&metric);
    return status;
}
