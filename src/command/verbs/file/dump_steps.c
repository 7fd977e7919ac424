/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/file/dump_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/value/call_feeds.h"
#include "command/value/call_sequence.h"
#include "executor/spec.h"
#include "probe/run_values.h"
#include "system/file.h"

struct steps_dump {
    struct odb_plan *plan;
    struct odb_streams *streams;
    struct odb_sequence_step at, before; /* owned: what they were fed and gave */
    odb_dump_step_fn *dump;
    void *payload;
};

static struct odb_feeds *steps_feeds(const struct steps_dump *d, size_t k)
{
    struct odb_feeds *feeds = odb_feeds_new(d->plan->model);
    char source[32];
    snprintf(source, sizeof source, "step %zu", k);
    for (size_t i = 0; i < d->plan->inputs.n; i++)
        odb_feeds_add(feeds, d->plan->inputs.items[i].value, d->at.in[i], source);
    return feeds;
}

/* What was written of the outputs, which the next step may need. */
static enum odb_status steps_read(struct steps_dump *d, const char *folder, struct odb_error *err)
{
    const struct odb_graph *graph = d->plan->model->graph;
    struct odb_buf spec = ODB_BUF_INIT;
    odb_buf_puts(&spec, "dump:");
    odb_spec_put_word(&spec, folder);
    enum odb_status status = odb_recall(d->plan->model, odb_buf_text(&spec), graph->outputs,
                                        graph->n_outputs, d->at.out, err);
    odb_buf_dispose(&spec);
    for (size_t o = 0; o < graph->n_outputs && status == ODB_OK; o++)
        if (!d->at.out[o] && odb_plan_carrier(d->plan, o) >= 0)
            status =
                odb_fail(err, ODB_E_EXECUTOR, "%s has no output '%s', which the next step takes",
                         folder, graph->values[graph->outputs[o]].name);
    return status;
}

static enum odb_status steps_one(struct steps_dump *d, const char *root, size_t k, bool *stops,
                                 struct odb_error *err)
{
    const struct odb_plan *plan = d->plan;
    size_t n_in = plan->inputs.n, n_out = plan->model->graph->n_outputs;
    char name[32];
    odb_step_dispose(&d->before, n_in, n_out);
    d->before = d->at;
    d->at = (struct odb_sequence_step){.in = odb_new_n(struct odb_tensor *, n_in + 1),
                                       .out = odb_new_n(struct odb_tensor *, n_out + 1),
                                       .past = odb_plan_past(plan, k),
                                       .pieces = odb_plan_pieces(plan, k)};
    ODB_TRY(odb_step_feed(d->at.in, plan, d->streams, k, d->at.past, d->at.pieces,
                          k ? &d->before : NULL, err));
    char *folder = odb_xasprintf("%s/%s", root, odb_recorded_step_name(k, name, sizeof name));
    struct odb_feeds *feeds = steps_feeds(d, k);
    enum odb_status status = d->dump(d->payload, folder, feeds, err);
    odb_feeds_free(feeds);
    if (status == ODB_OK && k + 1 < plan->steps)
        status = steps_read(d, folder, err);
    if (status == ODB_OK && k + 1 < plan->steps)
        status = odb_step_follow(plan, d->streams, k, &d->at, stops, err);
    free(folder);
    return status;
}

/* What more steps left there would be taken for steps of this run. */
static enum odb_status steps_ready(const char *root, size_t steps, struct odb_error *err)
{
    char name[32];
    char *beyond = odb_xasprintf("%s/%s", root, odb_recorded_step_name(steps, name, sizeof name));
    enum odb_status status = ODB_OK;
    if (access(beyond, F_OK) == 0) {
        odb_fail(err, ODB_E_USAGE, "%s is there, and would be taken for a step of this run",
                 beyond);
        status = odb_error_remedy(err, "remove it, or name another folder with --root-dir");
    }
    free(beyond);
    return status == ODB_OK ? odb_file_mkdir(root, err) : status;
}

/* Until there are as many as the plan has, or its formula ends them: then it has no more. */
static enum odb_status steps_all(struct steps_dump *d, const char *root, struct odb_error *err)
{
    bool stops = false;
    ODB_TRY(steps_ready(root, d->plan->steps, err));
    ODB_TRY(odb_call__plan_write(d->plan, root, err));
    for (size_t k = 0; k < d->plan->steps && !stops; k++) {
        ODB_TRY(steps_one(d, root, k, &stops, err));
        if (stops)
            d->plan->steps = k + 1;
    }
    if (!stops)
        return ODB_OK;
    ODB_TRY(steps_ready(root, d->plan->steps, err));
    return odb_call__plan_write(d->plan, root, err);
}

enum odb_status odb_call__dump_steps(struct odb_command_call *call, const char *root,
                                     odb_dump_step_fn *dump, void *payload, struct odb_error *err)
{
    struct odb_plan *plan = NULL;
    struct odb_streams *streams = NULL;
    struct steps_dump d = {.dump = dump, .payload = payload};
    enum odb_status status = odb_call__plan(call, NULL, &plan, err);
    if (status == ODB_OK)
        status = odb_plan_whole(plan, err);
    if (status == ODB_OK)
        status = odb_call__streams(call, plan, NULL, &streams, err);
    d.plan = plan;
    d.streams = streams;
    if (status == ODB_OK) {
        odb_call__chosen_tell(call);
        status = steps_all(&d, root, err);
    }
    if (plan) {
        odb_step_dispose(&d.at, plan->inputs.n, plan->model->graph->n_outputs);
        odb_step_dispose(&d.before, plan->inputs.n, plan->model->graph->n_outputs);
    }
    odb_streams_free(streams);
    odb_plan_free(plan);
    return status;
}
