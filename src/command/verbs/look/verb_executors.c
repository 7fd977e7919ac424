/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/look/verb_executors.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "executor/likely.h"
#include "report/json.h"

#define EXECUTORS_WIDTH 80
#define EXECUTORS_LEFT 26 /* columns before the explanations */

void odb_executor_look(const struct odb_executor_ops *ops, const struct odb_spec *spec,
                       struct odb_executor_state *state)
{
    struct odb_runtime runtime = odb_executor_runtime(ops, spec);
    *state = (struct odb_executor_state){0};
    bool available = odb_executor_available(ops, spec, state->why, sizeof state->why);
    if (available && ops->found && !ops->found(&runtime, state->found, sizeof state->found)) {
        memcpy(state->why, state->found, sizeof state->why);
        state->found[0] = '\0';
    }
}

/* How much of a syntax goes into a line: whole options if that can be, else whole choices. */
static size_t executors_cut(const char *syntax, size_t room)
{
    size_t option = 0, choice = 0;
    for (size_t i = 1; i <= room; i++) {
        if (!syntax[i])
            return i;
        if (strchr("[@", syntax[i]) || (syntax[i] == ',' && syntax[i - 1] != '['))
            option = i;
        else if (syntax[i - 1] == '|')
            choice = i;
    }
    return option ? option : choice ? choice : room;
}

/* The syntax in lines of EXECUTORS_WIDTH, indented, all but the first behind the kind. */
static void executors_put_syntax(const struct odb_executor_ops *ops, size_t indent,
                                 struct odb_buf *out)
{
    struct odb_buf syntax = ODB_BUF_INIT;
    odb_spec_put_syntax(ops->kind, ops->options, &syntax);
    for (const char *at = odb_buf_text(&syntax); *at;) {
        size_t margin = indent + (at == syntax.data ? 0 : strlen(ops->kind));
        size_t n = executors_cut(at, EXECUTORS_WIDTH - margin);
        odb_buf_printf(out, "%*s%.*s\n", (int)margin, "", (int)n, at);
        at += n;
    }
    odb_buf_dispose(&syntax);
}

static json_t *executors_json_option(const struct odb_executor_option *row)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:b}", "key", odb_json_text(row->key), "values",
                     odb_json_text(row->values), "default", odb_json_text(row->preset), "help",
                     odb_json_text(row->help), "needed", (int)row->needed);
}

static void executors_libraries(const struct odb_executor_ops *ops, struct odb_libraries *out)
{
    *out = (struct odb_libraries){0};
    if (ops->libraries)
        ops->libraries(out);
}

static json_t *executors_json_libraries(const struct odb_executor_ops *ops)
{
    json_t *list = json_array();
    struct odb_libraries libraries;
    executors_libraries(ops, &libraries);
    for (size_t i = 0; i < libraries.items.n; i++) {
        const struct odb_library *library = &libraries.items.items[i];
        json_array_append_new(
            list, json_pack("{s:o,s:o}", "path", odb_json_text(library->path), "version",
                            odb_json_text(library->version[0] ? library->version : NULL)));
    }
    odb_libraries_dispose(&libraries);
    return list;
}

static json_t *executors_json(const struct odb_executor_ops *ops,
                              const struct odb_executor_state *state)
{
    struct odb_buf syntax = ODB_BUF_INIT;
    json_t *options = json_array();
    for (const struct odb_executor_option *row = ops->options; row && row->key; row++)
        json_array_append_new(options, executors_json_option(row));
    odb_spec_put_syntax(ops->kind, ops->options, &syntax);
    json_t *json = json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o}", "kind", odb_json_text(ops->kind), "syntax",
        odb_json_text(odb_buf_text(&syntax)), "options", options, "help", odb_json_text(ops->help),
        "manual", odb_json_text(ops->page), "available", (int)!state->why[0], "found",
        odb_json_text(state->found[0] ? state->found : NULL), "why",
        odb_json_text(state->why[0] ? state->why : NULL), "libraries",
        executors_json_libraries(ops));
    odb_buf_dispose(&syntax);
    return json;
}

/* "available: ONNX Runtime 1.22.0, /usr/lib/…", broken where it is long. */
static void executors_put_state(const struct odb_executor_state *state, size_t more, size_t indent,
                                size_t column, struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_printf(&line, "%s%s%s", state->why[0] ? "missing" : "available",
                   state->why[0] || state->found[0] ? ": " : "",
                   state->why[0] ? state->why : state->found);
    if (more)
        odb_buf_printf(&line, "; %zu libraries are found, which `executors KIND` lists", more);
    odb_help_wrap(out, odb_buf_text(&line), indent, column);
    odb_buf_dispose(&line);
}

static void executors_text(const struct odb_executor_ops *ops,
                           const struct odb_executor_state *state, struct odb_buf *out)
{
    struct odb_buf help = ODB_BUF_INIT;
    struct odb_libraries libraries;
    executors_libraries(ops, &libraries);
    odb_buf_printf(out, "%-10s ", ops->kind);
    executors_put_state(state, libraries.items.n > 1 ? libraries.items.n : 0, 11, 11, out);
    odb_libraries_dispose(&libraries);
    odb_buf_printf(&help, "%s%s%s", ops->help, ops->page ? ", see " : "",
                   ops->page ? ops->page : "");
    odb_buf_puts(out, "    ");
    odb_help_wrap(out, odb_buf_text(&help), 4, 4);
    executors_put_syntax(ops, 4, out);
    odb_buf_dispose(&help);
}

static void executors_put_common(struct odb_buf *out)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_puts(&text, "`executors KIND` explains the options of one. Every kind takes ");
    for (const struct odb_executor_option *row = odb_spec_common; row->key; row++) {
        odb_buf_puts(&text, row == odb_spec_common ? "" : row[1].key ? ", " : " and ");
        odb_spec_put_row("", row, &text);
    }
    odb_buf_puts(&text, "; a backslash before , = @ and \\ makes them ordinary characters.");
    odb_help_wrap(out, odb_buf_text(&text), 0, 0);
    odb_buf_dispose(&text);
}

/* --- one kind --------------------------------------------------------------------------------- */

static void executors_put_option(const struct odb_executor_ops *ops,
                                 const struct odb_executor_option *row, struct odb_buf *out)
{
    struct odb_buf left = ODB_BUF_INIT, text = ODB_BUF_INIT;
    odb_spec_put_row(ops->kind, row, &left);
    odb_buf_puts(&text, row->help);
    if (odb_spec_chooses(row) && left.len > EXECUTORS_LEFT - 4) { /* the choices stand apart */
        size_t head = left.len - strlen(row->values);
        odb_buf_printf(&text, ": %s", row->values);
        for (char *p = strchr(text.data, '|'); p; p = strchr(p, '|'))
            *p = ' ';
        left.len = head;
        odb_buf_puts(&left, "...");
    }
    if (row->preset)
        odb_buf_printf(&text, " (default: %s)", row->preset);
    odb_help_row(out, odb_buf_text(&left), EXECUTORS_LEFT, odb_buf_text(&text));
    odb_buf_dispose(&left);
    odb_buf_dispose(&text);
}

/* With the version of each, for runtime=. */
static void executors_put_libraries(const struct odb_executor_ops *ops, struct odb_buf *out)
{
    struct odb_libraries libraries;
    executors_libraries(ops, &libraries);
    if (libraries.items.n)
        odb_buf_printf(out, "\n%s found here, for %s,runtime=PATH:\n",
                       libraries.items.n == 1 ? "library" : "libraries", ops->kind);
    for (size_t i = 0; i < libraries.items.n; i++) {
        odb_buf_printf(out, "    %-10s ", libraries.items.items[i].version);
        odb_buf_put_shown(out, libraries.items.items[i].path);
        odb_buf_putc(out, '\n');
    }
    odb_libraries_dispose(&libraries);
}

static void executors_explain(const struct odb_executor_ops *ops,
                              const struct odb_executor_state *state, struct odb_buf *out)
{
    odb_buf_printf(out, "%s:", ops->kind);
    odb_help_wrap(out, ops->help, 4, ODB_MAX(strlen(ops->kind) + 1, 5));
    executors_put_state(state, 0, 4, 0, out);
    if (ops->page)
        odb_buf_printf(out, "manual: %s\n", ops->page);
    odb_buf_putc(out, '\n');
    executors_put_syntax(ops, 2, out);
    odb_buf_putc(out, '\n');
    for (const struct odb_executor_option *row = ops->options; row && row->key; row++)
        executors_put_option(ops, row, out);
    for (const struct odb_executor_option *row = odb_spec_common; row->key; row++)
        executors_put_option(ops, row, out);
    executors_put_libraries(ops, out);
}

static enum odb_status executors_one(struct odb_command_call *call, const char *text,
                                     struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_executor_state state;
    struct odb_spec *spec;
    ODB_TRY(odb_spec_parse(&spec, text, err));
    if (!spec->row) {
        odb_fail(err, ODB_E_USAGE, "there is no executor '%s'", text);
        enum odb_status status =
            odb_executor_likely(err, spec->kind, "`onnxdbg executors` lists them");
        odb_spec_free(spec);
        return status;
    }
    odb_executor_look(spec->row, spec, &state);
    if (odb_call_has(call, ODB_OPTION_JSON))
        odb_json_put(executors_json(spec->row, &state), &out);
    else
        executors_explain(spec->row, &state, &out);
    odb_spec_free(spec);
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__executors(struct odb_command_call *call, struct odb_error *err)
{
    size_t n;
    const struct odb_executor_ops *const *rows = odb_executor_list(&n);
    struct odb_buf out = ODB_BUF_INIT;
    bool as_json = odb_call_has(call, ODB_OPTION_JSON);
    if (odb_call_arg(call, 0))
        return executors_one(call, odb_call_arg(call, 0), err);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        struct odb_executor_state state;
        odb_executor_look(rows[i], NULL, &state);
        if (as_json)
            json_array_append_new(list, executors_json(rows[i], &state));
        else
            executors_text(rows[i], &state, &out);
    }
    odb_buf_puts(&out, as_json ? "" : "\n");
    if (as_json)
        odb_json_put(json_pack("{sO}", "executors", list), &out);
    else
        executors_put_common(&out);
    json_decref(list);
    odb_call__print(call, &out);
    return ODB_OK;
}
