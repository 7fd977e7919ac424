/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <unistd.h>

#include "bisect/plan/bisect.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/call_sequence.h"
#include "command/value/node_range.h"
#include "command/value/search_options.h"
#include "command/verbs/file/export_steps.h"
#include "probe/body_case.h"
#include "report/json.h"
#include "session/session_state.h"
#include "shrink/repro.h"
#include "system/file.h"

/* Which nodes: those named, else the session's first culprit, else that of a search made here,
 * whose report is in *own. *found is false when nothing diverges. */
static enum odb_status export_choose(struct odb_command_call *call, const struct odb_feeds *feeds,
                                     struct odb_bisect_options *search,
                                     struct odb_repro_options *options, struct odb_report **own,
                                     bool *found, struct odb_error *err)
{
    const struct odb_report *known = call->session->report;
    const char *node = odb_call_arg(call, 1);
    *found = true;
    if (node)
        return odb_call__segment(call->model->graph, node, &options->first, &options->last, err);
    if (known && !known->complete) {
        odb_fail(err, ODB_E_USAGE, "the session's last search is incomplete");
        return odb_error_remedy(err, "run it again, or name the NODE to export");
    }
    if (!known) {
        ODB_TRY(odb_bisect(own, call->model, feeds, search, err));
        options->report = known = *own;
    }
    *found = odb_call__suspects(call->session, known, &options->first, &options->last);
    return ODB_OK;
}

/* At a console a folder is found where the command names none: repro-12-Conv, repro-12-Conv-2, … */
static char *export_dir(const struct odb_model *model, int node)
{
    char *op = odb_file_name(model->graph->nodes[node].op_type);
    char *dir = odb_xasprintf("repro-%d-%s", node, op);
    for (int i = 2; access(dir, F_OK) == 0 && i < 1000; i++) {
        free(dir);
        dir = odb_xasprintf("repro-%d-%s-%d", node, op, i);
    }
    free(op);
    return dir;
}

/* result NULL: there is nothing to export. */
static json_t *export_json(const struct odb_model *model, const struct odb_repro_options *options,
                           const struct odb_repro_result *result)
{
    json_t *nodes = json_array();
    for (int n = options->first; result && n <= options->last; n++) {
        const struct odb_node *node = &model->graph->nodes[n];
        json_array_append_new(nodes, odb_json_node(n, node->name, node->op_type, node->domain));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "path",
                     odb_json_text(result ? options->dir : NULL), "nodes", nodes, "reproduces",
                     result ? json_boolean(result->reproduces) : json_null(), "verdict",
                     odb_json_text(result ? odb_verdict_name(result->verdict) : NULL), "error",
                     result ? odb_json_real(result->error) : json_null(), "noise",
                     result ? odb_json_real(result->noise) : json_null(), "text",
                     odb_json_text(result ? result->summary : NULL));
}

/* How the steps were made, of which the inputs are one's. */
static enum odb_status export_plan(struct odb_command_call *call, const char *dir,
                                   struct odb_error *err)
{
    struct odb_plan *plan;
    if (!odb_call__plan_given(call) && !odb_call__step_given(call))
        return ODB_OK;
    ODB_TRY(odb_call__plan(call, NULL, &plan, err));
    enum odb_status status = odb_call__plan_write(plan, dir, err);
    odb_plan_free(plan);
    return status;
}

/* No node is at fault, and two steps show it. */
static enum odb_status export_carry(struct odb_command_call *call,
                                    const struct odb_repro_options *options, size_t step,
                                    struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    char *own = options->dir ? NULL : odb_xasprintf("repro-steps-%zu-%zu", step - 1, step);
    const char *dir = own ? own : options->dir;
    enum odb_status status = odb_call__export_carry(call, dir, step, err);
    if (status == ODB_OK) {
        char *text = odb_xasprintf("a carry is at fault, and no node: steps %zu and %zu, as the "
                                   "reference runs them, and plan.seq",
                                   step - 1, step);
        odb_buf_printf(&out, "%s: %s\n", dir, text);
        json_t *json =
            json_pack("{so,so,so,so,so,so,so}", "path", odb_json_text(dir), "nodes", json_array(),
                      "reproduces", json_null(), "verdict", json_null(), "error", json_null(),
                      "noise", json_null(), "text", odb_json_text(text));
        free(text);
        status = odb_call__give(call, json, &out, err);
    }
    free(own);
    return status;
}

static enum odb_status export_write(struct odb_command_call *call, const struct odb_model *model,
                                    const struct odb_feeds *feeds,
                                    const struct odb_bisect_options *search,
                                    struct odb_repro_options *options, struct odb_error *err)
{
    struct odb_repro_result result = {0};
    struct odb_buf out = ODB_BUF_INIT;
    char *dir = options->dir ? NULL : export_dir(model, options->first);
    if (dir)
        options->dir = dir;
    options->reference = search->reference;
    options->golden = search->golden;
    options->target = search->target;
    options->seed = search->seed;
    options->tolerance = search->tolerance;
    options->expect = search->expect;
    options->encodings = search->encodings;
    options->ir_version = odb_call_int(call, ODB_OPTION_IR_VERSION, 0);
    enum odb_status status = odb_repro_write(&result, model, feeds, options, err);
    if (status == ODB_OK)
        status = export_plan(call, options->dir, err);
    if (status == ODB_OK) {
        if (dir) /* the command names none */
            odb_buf_printf(&out, "%s: ", dir);
        odb_buf_put_shown(&out, result.summary);
        odb_buf_putc(&out, '\n');
        call->found = !result.reproduces;
        status = odb_call__give(call, export_json(model, options, &result), &out, err);
    }
    free(dir);
    return status;
}

/* A node in a body is exported from the body, as the reference feeds it in the turn that the path
 * names. False in *inside: the NODE is no path into one. */
static enum odb_status export_inside(struct odb_command_call *call, const struct odb_feeds *feeds,
                                     const struct odb_bisect_options *search,
                                     struct odb_repro_options *options, bool *inside,
                                     struct odb_error *err)
{
    struct odb_body_case body;
    ODB_TRY(odb_call__inside(call, feeds, search, &body, &options->first, inside, err));
    if (!*inside)
        return ODB_OK;
    options->last = options->first;
    options->report = NULL;
    enum odb_status status = export_write(call, body.model, body.feeds, search, options, err);
    odb_body_case_dispose(&body);
    return status;
}

static void export_put_none(const struct odb_command_call *call, struct odb_buf *out)
{
    const struct odb_report *report = call->session->report;
    size_t step;
    const char *steps = report ? odb_report_steps(report, &step) : NULL;
    if (steps)
        odb_buf_printf(out, "no node is at fault (%s at step %zu)", steps, step);
    else
        odb_buf_puts(out, "nothing diverges");
    odb_buf_puts(out, ", so there is nothing to export\n");
}

enum odb_status odb_command__export(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_repro_options options = {.dir = odb_call_option(call, ODB_OPTION_OUTPUT),
                                        .with_target = odb_call_has(call, ODB_OPTION_WITH_TARGET)};
    struct odb_buf none = ODB_BUF_INIT;
    struct odb_bisect_options search;
    struct odb_report *own = NULL;
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    bool found = false;
    if (!options.dir && !call->console) {
        odb_fail(err, ODB_E_USAGE, "there is no folder to write to");
        return odb_error_remedy(err, "add -o DIR");
    }
    ODB_TRY(odb_call__search_options(call, &search, err));
    ODB_TRY(odb_call__adopt(call, &search, err));
    size_t step;
    if (!odb_call_arg(call, 1) && odb_call__carry_blamed(call, &step))
        return export_carry(call, &options, step, err);
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    search.hooks = options.hooks = odb_watch_begin(&watch, call);
    bool inside = false;
    enum odb_status status = export_inside(call, feeds, &search, &options, &inside, err);
    if (status == ODB_OK && !inside)
        status = export_choose(call, feeds, &search, &options, &own, &found, err);
    if (status == ODB_OK && !inside && found)
        status = export_write(call, call->model, feeds, &search, &options, err);
    odb_watch_end(&watch);
    if (status == ODB_OK && !found && !inside) {
        export_put_none(call, &none);
        status = odb_call__give(call, export_json(call->model, &options, NULL), &none, err);
    }
    odb_report_free(own);
    return status;
}
