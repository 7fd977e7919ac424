/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "bisect/bisect_options.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/search_options.h"
#include "command/verbs/search/ranking.h"
#include "command/value/call_feeds.h"
#include "command/verbs/search/samples_option.h"
#include "executor/executor.h"
#include "suspects/suspects.h"

static enum odb_status suspects_options(struct odb_command_call *call,
                                        struct odb_bisect_options *search, struct odb_error *err)
{
    ODB_TRY(odb_call__search_options(call, search, err));
    if (!odb_executor_recorded(search->target))
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "--target %s is a recording, which has its values", search->target);
    return odb_error_remedy(err, "search it with bisect");
}

static enum odb_status suspects_publish(struct odb_command_call *call,
                                        struct odb_call_samples *samples,
                                        const struct odb_suspects *found, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    bool instead;
    if (odb_call__json(call, &instead)) {
        odb_suspects_json(found, &samples->found, odb_call__chosen(call), &out);
        status = odb_call__publish(call, &out, err);
    }
    if (instead)
        return status;
    odb_call__samples_print(samples);
    odb_suspects_put(found, &out);
    odb_call__print(call, &out);
    return status;
}

/* Samples without a verdict leave none, unless another diverges; so does the user. */
static enum odb_status suspects_end(const struct odb_suspects *found,
                                    const struct odb_samples *samples, struct odb_error *err)
{
    if (found->stopped)
        return odb_call__rank_stopped(found, err);
    if (found->n_differ)
        return ODB_OK;
    for (size_t i = 0; i < found->n_run; i++)
        if (odb_sample_unknown(&samples->items.items[i])) {
            const struct odb_sample *one = &samples->items.items[i];
            odb_fail(err, one->failed == ODB_OK ? ODB_UNSUPPORTED : one->failed,
                     "%zu of %zu samples could not be judged: %.300s", found->n_unknown,
                     found->n_samples, one->why ? one->why : odb_verdict_name(one->verdict));
            return err->code;
        }
    if (found->n_run < found->n_samples)
        return odb_fail(err, ODB_E_EXECUTOR, "the budget was spent after %zu of %zu inputs",
                        found->n_run, found->n_samples);
    return ODB_OK;
}

enum odb_status odb_command__suspects(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_call_samples samples = {0};
    struct odb_bisect_options search;
    struct odb_suspects *found = NULL;
    ODB_TRY(suspects_options(call, &search, err));
    enum odb_status status = odb_call__samples_of(call, &samples, ODB_CALL_RANKED, err);
    if (status == ODB_OK)
        status = odb_call__rank(call, &samples.found, &search, &found, err);
    if (status == ODB_OK) {
        call->found = found->n_differ > 0;
        status = suspects_publish(call, &samples, found, err);
    }
    if (status == ODB_OK)
        status = suspects_end(found, &samples.found, err);
    odb_suspects_free(found);
    odb_call__samples_dispose(&samples);
    return status;
}
