/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/lint.h"
#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/value/call_shapes.h"
#include "report/json.h"

struct lint_seen {
    struct odb_lint *lint;
    const struct odb_graph *graph;
};

static void lint_see(void *payload, int value, const struct odb_tensor *t)
{
    struct lint_seen *seen = payload;
    odb_lint_value(seen->lint, seen->graph, value, t);
}

/* A file that cannot be opened as a model is a finding like others. */
static enum odb_status lint_unreadable(struct odb_lint *lint, const struct odb_error *why,
                                       enum odb_status status)
{
    char text[2000];
    if (status != ODB_E_MODEL)
        return status;
    odb_lint_add(lint, ODB_LINT_UNREADABLE, ODB_NO_NODE, "", "%s",
                 odb_error_text(why, text, sizeof text));
    return ODB_OK;
}

static enum odb_status lint_gather(struct odb_lint *lint, struct odb_command_call *call,
                                   struct odb_error *err)
{
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_call__open_source(call, &why);
    if (status != ODB_OK) {
        *err = why;
        return lint_unreadable(lint, &why, status);
    }
    if (!call->model)
        return odb_fail(err, ODB_E_USAGE, "%s is no model", call->args[0]);
    const struct odb_graph *graph = call->model->graph;
    struct lint_seen seen = {lint, graph};
    struct odb_shapes shapes;
    status = odb_call__shapes(call, lint_see, &seen, &shapes, err);
    if (status == ODB_OK) {
        odb_lint_model(lint, call->model, &shapes);
        for (size_t v = 0; shapes.measured && v < graph->n_values; v++)
            if (graph->values[v].init && graph->values[v].producer == ODB_NO_NODE)
                odb_lint_value(lint, graph, (int)v, graph->values[v].init);
        if (shapes.measured)
            odb_lint_run(lint, call->model, &shapes);
    }
    odb_shapes_dispose(&shapes);
    return status;
}

static const char *lint_severity(const struct odb_finding *finding)
{
    return odb_lint_is_error(finding->kind) ? "error" : "warning";
}

/* "error arity #3 conv (Conv): it needs 2 inputs, and has 1; compare …" */
static void lint_text(const struct odb_lint *lint, const struct odb_command_call *call,
                      struct odb_buf *out)
{
    for (int errors = 1; errors >= 0; errors--)
        for (size_t i = 0; i < lint->items.n; i++) {
            const struct odb_finding *finding = &lint->items.items[i];
            const char *remedy = odb_lint_remedy(finding->kind);
            if (odb_lint_is_error(finding->kind) != (errors == 1))
                continue;
            odb_buf_printf(out, "%s %s", lint_severity(finding), odb_lint_name(finding->kind));
            odb_buf_puts(out, *finding->place ? " " : "");
            odb_buf_put_shown(out, finding->place);
            odb_buf_puts(out, ": ");
            odb_buf_put_shown(out, finding->what);
            odb_buf_printf(out, "%s%s\n", remedy ? "; " : "", remedy ? remedy : "");
        }
    odb_buf_printf(out, "%zu error%s, %zu warning%s%s\n", lint->errors, odb_plural(lint->errors),
                   lint->warnings, odb_plural(lint->warnings),
                   odb_call_has(call, ODB_OPTION_MEASURE) || !call->model
                       ? ""
                       : "; shapes and ranges are looked at with --run");
}

static json_t *lint_json(const struct odb_lint *lint, const struct odb_command_call *call)
{
    json_t *root = json_object(), *findings = json_array();
    for (size_t i = 0; i < lint->items.n; i++) {
        const struct odb_finding *finding = &lint->items.items[i];
        json_t *row = json_object();
        json_object_set_new(row, "severity", odb_json_text(lint_severity(finding)));
        json_object_set_new(row, "code", odb_json_text(odb_lint_name(finding->kind)));
        json_object_set_new(row, "place", odb_json_text(finding->place));
        json_object_set_new(row, "node",
                            finding->node < 0 ? json_null() : json_integer(finding->node));
        json_object_set_new(row, "message", odb_json_text(finding->what));
        json_object_set_new(row, "remedy", odb_json_text(odb_lint_remedy(finding->kind)));
        json_array_append_new(findings, row);
    }
    json_object_set_new(root, "model",
                        odb_json_text(call->model ? call->model->path : call->args[0]));
    json_object_set_new(root, "measured", json_boolean(odb_call_has(call, ODB_OPTION_MEASURE)));
    json_object_set_new(root, "errors", json_integer((json_int_t)lint->errors));
    json_object_set_new(root, "warnings", json_integer((json_int_t)lint->warnings));
    json_object_set_new(root, "findings", findings);
    odb_call__json_chosen(call, root);
    return root;
}

enum odb_status odb_command__lint(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_lint lint = {0};
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = lint_gather(&lint, call, err);
    if (status == ODB_OK && odb_call_has(call, ODB_OPTION_JSON))
        odb_json_put(lint_json(&lint, call), &out);
    else if (status == ODB_OK)
        lint_text(&lint, call, &out);
    odb_call__print(call, &out);
    call->found = status == ODB_OK && lint.errors > 0;
    odb_lint_dispose(&lint);
    return status;
}
