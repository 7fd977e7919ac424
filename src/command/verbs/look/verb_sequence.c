/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_feeds.h"
#include "command/value/call_sequence.h"
#include "command/value/spare_model.h"
#include "sequence/sequence_json.h"
#include "sequence/sequence_run.h"
#include "sequence/sequence_words.h"
#include "system/file.h"

static const char *const sequence_moves[] = {[ODB_MOVE_HOLD] = "held",
                                             [ODB_MOVE_CARRY] = "carried",
                                             [ODB_MOVE_FEED] = "fed",
                                             [ODB_MOVE_RULE] = "by rule"};
static const char *const sequence_kinds[] = {[ODB_CARRY_UNKNOWN] = "",
                                             [ODB_CARRY_APPEND] = ", grows along axis ",
                                             [ODB_CARRY_PUT] = ", is written in place",
                                             [ODB_CARRY_REPLACE] = ", is replaced"};

/* What an input is made of: "present.0.key, grows along axis 2; begins empty". */
static void sequence_put_source(const struct odb_plan *plan, const struct odb_plan_input *input,
                                struct odb_buf *out)
{
    const struct odb_graph *graph = plan->model->graph;
    if (input->move == ODB_MOVE_CARRY) {
        odb_buf_put_shown(out, input->next ? input->next : graph->values[input->output].name);
        odb_buf_puts(out, sequence_kinds[input->kind]);
        if (input->kind == ODB_CARRY_APPEND)
            odb_buf_printf(out, "%d", input->axis);
        odb_buf_puts(out, "; begins ");
        odb_buf_put_shown(out, input->start);
    } else if (input->move == ODB_MOVE_RULE) {
        odb_buf_put_shown(out, input->next);
        if (input->start) {
            odb_buf_puts(out, "; begins ");
            odb_buf_put_shown(out, input->start);
        }
    } else {
        odb_buf_put_shown(out, input->start);
        if (input->move == ODB_MOVE_FEED && input->axis >= 0)
            odb_buf_printf(out, ", in pieces along axis %d", input->axis);
    }
}

static void sequence_put_plan(const struct odb_plan *plan, struct odb_buf *out)
{
    const struct odb_graph *graph = plan->model->graph;
    odb_buf_printf(out, "%zu steps, which take ", plan->steps);
    for (size_t k = 0; k < plan->chunks.n && k < plan->steps; k++)
        odb_buf_printf(out, k ? ", %zu" : "%zu", plan->chunks.items[k]);
    odb_buf_puts(out, plan->steps > plan->chunks.n ? ", … pieces of what is fed\n"
                                                   : " pieces of what is fed\n");
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, graph->values[input->value].name);
        odb_buf_printf(out, "  %s  ", sequence_moves[input->move]);
        sequence_put_source(plan, input, out);
        if (*input->why) {
            odb_buf_puts(out, "  (");
            odb_buf_put_shown(out, input->why);
            odb_buf_putc(out, ')');
        }
        odb_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < plan->outside.n; i++) {
        odb_buf_puts(out, "  ");
        odb_buf_put_shown(out, plan->outside.items[i].name);
        odb_buf_puts(out, "  read by formulas  ");
        odb_buf_put_shown(out, plan->outside.items[i].what);
        odb_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < plan->asks.n; i++) {
        odb_buf_puts(out, "add ");
        odb_buf_put_shown(out, plan->asks.items[i]);
        odb_buf_putc(out, '\n');
    }
}

static json_t *sequence_plan_json(const struct odb_plan *plan)
{
    const struct odb_graph *graph = plan->model->graph;
    json_t *inputs = json_array(), *asks = json_array(), *chunks = json_array();
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_plan_input *input = &plan->inputs.items[i];
        json_array_append_new(
            inputs,
            json_pack("{ss,ss,ss?,ss?,ss?,ss}", "input", graph->values[input->value].name, "move",
                      sequence_moves[input->move], "output",
                      input->output == ODB_NO_VALUE ? NULL : graph->values[input->output].name,
                      "start", input->start, "next", input->next, "why", input->why));
    }
    for (size_t i = 0; i < plan->asks.n; i++)
        json_array_append_new(asks, json_string(plan->asks.items[i]));
    for (size_t i = 0; i < plan->chunks.n; i++)
        json_array_append_new(chunks, json_integer((json_int_t)plan->chunks.items[i]));
    return json_pack("{sI,so,so,so}", "steps", (json_int_t)plan->steps, "chunks", chunks, "inputs",
                     inputs, "asks", asks);
}

/* The model against itself, on the reference. */
static enum odb_status sequence_check(struct odb_command_call *call, struct odb_plan *plan,
                                      json_t *json, struct odb_buf *out, struct odb_error *err)
{
    struct odb_streams *streams = NULL;
    struct odb_sequence found = {0};
    struct odb_watch watch;
    ODB_TRY(odb_call__streams(call, plan, NULL, &streams, err));
    odb_call__chosen_tell(call);
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_sequence_check(&found, plan, streams, NULL, &hooks, err);
    odb_watch_end(&watch);
    if (status == ODB_OK) {
        call->found = found.verdict == ODB_SEQUENCE_MODEL;
        json_object_set_new(json, "sequence", odb_sequence_json(&found));
        if (call->found)
            odb_sequence_put(&found, (size_t)call->width, out);
        else
            odb_sequence_put_itself(&found, out);
    }
    odb_sequence_dispose(&found);
    odb_streams_free(streams);
    return status;
}

static enum odb_status sequence_write(struct odb_command_call *call, const struct odb_plan *plan,
                                      struct odb_error *err)
{
    const char *path = odb_call_option(call, ODB_OPTION_PLAN_FILE);
    struct odb_buf text = ODB_BUF_INIT;
    if (!path)
        return ODB_OK;
    ODB_TRY(odb_call__spare_model(call, path, err));
    odb_plan_put(plan, &text);
    enum odb_status status = odb_file_write(path, text.data, text.len, err);
    odb_buf_dispose(&text);
    return status;
}

enum odb_status odb_command__sequence(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_plan *plan = NULL;
    struct odb_buf out = ODB_BUF_INIT;
    ODB_TRY(odb_call__plan(call, NULL, &plan, err));
    json_t *json = sequence_plan_json(plan);
    sequence_put_plan(plan, &out);
    enum odb_status status = sequence_write(call, plan, err);
    if (status == ODB_OK)
        status = odb_plan_whole(plan, err);
    if (status == ODB_OK)
        status = sequence_check(call, plan, json, &out, err);
    if (status == ODB_OK)
        status = odb_call__give(call, json_incref(json), &out, err);
    else if (!odb_call_has(call, ODB_OPTION_JSON))
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    json_decref(json);
    odb_plan_free(plan);
    return status;
}
