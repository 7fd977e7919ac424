/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/call.h"
#include "engine/json.h"
#include "executor/executor.h"

static json_t *executors_json(const struct odb_executor_ops *ops, const char *why)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", odb_json_text(ops->kind));
    struct odb_buf syntax = ODB_BUF_INIT;
    odb_spec_put_syntax(ops->kind, ops->options, &syntax);
    json_object_set_new(row, "syntax", odb_json_text(odb_buf_text(&syntax)));
    odb_buf_dispose(&syntax);
    json_object_set_new(row, "help", odb_json_text(ops->help));
    json_object_set_new(row, "manual", odb_json_text(ops->page));
    json_object_set_new(row, "available", json_boolean(!*why));
    json_object_set_new(row, "why", odb_json_text(*why ? why : NULL));
    return row;
}

static void executors_text(const struct odb_executor_ops *ops, const char *why, struct odb_buf *out)
{
    odb_buf_printf(out, "%-10s ", ops->kind);
    odb_buf_puts(out, *why ? "missing: " : "available");
    odb_buf_put_shown(out, why);
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
        char why[512] = "";
        if (rows[i]->available)
            rows[i]->available(why, sizeof why);
        if (as_json)
            json_array_append_new(list, executors_json(rows[i], why));
        else
            executors_text(rows[i], why, &out);
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
