/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "command/call.h"
#include "engine/json.h"
#include "executor/executor.h"

/* What is installed of an executor; why: the reason it cannot be had, "" when it can. */
struct executors_state {
    char found[512], why[512];
};

static void executors_look(const struct odb_executor_ops *ops, struct executors_state *state)
{
    *state = (struct executors_state){0};
    if (ops->available)
        ops->available(state->why, sizeof state->why);
    if (!state->why[0] && ops->found && !ops->found(state->found, sizeof state->found)) {
        memcpy(state->why, state->found, sizeof state->why);
        state->found[0] = '\0';
    }
}

static json_t *executors_json(const struct odb_executor_ops *ops,
                              const struct executors_state *state)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", odb_json_text(ops->kind));
    struct odb_buf syntax = ODB_BUF_INIT;
    odb_spec_put_syntax(ops->kind, ops->options, &syntax);
    json_object_set_new(row, "syntax", odb_json_text(odb_buf_text(&syntax)));
    odb_buf_dispose(&syntax);
    json_object_set_new(row, "help", odb_json_text(ops->help));
    json_object_set_new(row, "manual", odb_json_text(ops->page));
    json_object_set_new(row, "available", json_boolean(!state->why[0]));
    json_object_set_new(row, "found", odb_json_text(state->found[0] ? state->found : NULL));
    json_object_set_new(row, "why", odb_json_text(state->why[0] ? state->why : NULL));
    return row;
}

static void executors_text(const struct odb_executor_ops *ops, const struct executors_state *state,
                           struct odb_buf *out)
{
    odb_buf_printf(out, "%-10s ", ops->kind);
    odb_buf_puts(out, state->why[0] ? "missing: " : state->found[0] ? "available: " : "available");
    odb_buf_put_shown(out, state->why[0] ? state->why : state->found);
    odb_buf_puts(out, "\n    ");
    odb_spec_put_syntax(ops->kind, ops->options, out);
    odb_buf_printf(out, "\n    %s%s%s\n", ops->help, ops->page ? ", see " : "",
                   ops->page ? ops->page : "");
}

enum odb_status odb_command__executors(struct odb_command_call *call, struct odb_error *err)
{
    size_t n;
    const struct odb_executor_ops *const *rows = odb_executor_list(&n);
    struct odb_buf out = ODB_BUF_INIT;
    json_t *list = json_array();
    bool as_json = odb_call_has(call, ODB_OPTION_JSON);
    for (size_t i = 0; i < n; i++) {
        struct executors_state state;
        executors_look(rows[i], &state);
        if (as_json)
            json_array_append_new(list, executors_json(rows[i], &state));
        else
            executors_text(rows[i], &state, &out);
    }
    if (as_json)
        odb_json_put(json_pack("{so}", "executors", list), &out);
    else
        json_decref(list);
    if (!as_json)
        odb_buf_puts(&out,
                     "every kind takes timeout=SECONDS; a backslash before , = @ and \\ makes them "
                     "ordinary characters\n");
    odb_call__print(call, &out);
    return ODB_OK;
}
