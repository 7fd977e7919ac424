/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/file/export_steps.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/watch.h"
#include "command/value/call_sequence.h"
#include "model/write/pb_write.h"
#include "report/report.h"
#include "session/session_state.h"
#include "shrink/repro.h"
#include "system/file.h"

bool odb_call__carry_blamed(const struct odb_command_call *call, size_t *step)
{
    const struct odb_report *report = call->session->report;
    if (!report || !odb_call__plan_given(call))
        return false;
    const char *verdict = odb_report_steps(report, step);
    return verdict && !strcmp(verdict, "carry") && *step > 0;
}

static enum odb_status export_tensor(const char *dir, const char *what, size_t i, const char *name,
                                     const struct odb_tensor *t, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s_%zu.pb", dir, what, i);
    enum odb_status status = odb_pb_write(t, name, path, err);
    free(path);
    return status;
}

static enum odb_status export_step(const struct odb_rollout *rollout, size_t step, const char *dir,
                                   struct odb_error *err)
{
    const struct odb_graph *graph = rollout->plan->model->graph;
    struct odb_feeds *feeds;
    ODB_TRY(odb_file_mkdir(dir, err));
    ODB_TRY(odb_rollout_feeds(&feeds, rollout, step, err));
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < feeds->n && status == ODB_OK; i++)
        status = export_tensor(dir, "input", i, graph->values[feeds->items[i].value].name,
                               feeds->items[i].tensor, err);
    odb_feeds_free(feeds);
    for (size_t o = 0; o < graph->n_outputs && status == ODB_OK; o++) {
        struct odb_tensor *t;
        ODB_TRY(odb_rollout_output(&t, rollout, step, o, err));
        status = export_tensor(dir, "output", o, graph->values[graph->outputs[o]].name, t, err);
        odb_tensor_unref(t);
    }
    return status;
}

enum odb_status odb_call__export_carry(struct odb_command_call *call, const char *dir, size_t step,
                                       struct odb_error *err)
{
    struct odb_plan *plan = NULL;
    struct odb_streams *streams = NULL;
    struct odb_rollout *rollout = NULL;
    struct odb_watch watch;
    enum odb_status status;
    ODB_TRY(odb_repro_ready(dir, err));
    ODB_TRY(odb_call__plan(call, NULL, &plan, err));
    ODB_TRY_OUT(odb_plan_whole(plan, err));
    ODB_TRY_OUT(odb_call__streams(call, plan, NULL, &streams, err));
    plan->steps = ODB_MIN(step + 1, plan->steps); /* those behind it are not needed */
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    status = odb_rollout_make(&rollout, plan, streams, NULL, 0, NULL, NULL, &hooks, err);
    odb_watch_end(&watch);
    if (status == ODB_OK && step >= rollout->steps.n) {
        odb_fail(err, ODB_E_USAGE, "the plan ends before step %zu, where the carry leads astray",
                 step);
        status = odb_error_remedy(err, "give as many --steps as were searched");
    }
    if (status == ODB_OK)
        status = odb_file_mkdir(dir, err);
    if (status == ODB_OK)
        status = odb_call__plan_write(plan, dir, err);
    for (size_t i = 0; i < 2 && status == ODB_OK; i++) {
        char *set = odb_xasprintf("%s/test_data_set_%zu", dir, i);
        status = export_step(rollout, step - 1 + i, set, err);
        free(set);
    }
out:
    odb_rollout_free(rollout);
    odb_streams_free(streams);
    odb_plan_free(plan);
    return status;
}
