/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From words to a call. Options may stand anywhere before `--`; what a word may be is in the
 * table, so that a wrong one is refused here, with the nearest right one, before anything is
 * loaded.
 */
#include "command/call/parse.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_open.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/nearest.h"
#include "command/table/short.h"
#include "command/table/table.h"
#include "command/table/word_check.h"
#include "executor/executor.h"
#include "interpret/cpu.h"
#include "session/session_state.h"

/* --- options --------------------------------------------------------------------------------- */

static enum odb_status call_unknown(const struct odb_command *command, const char *word, size_t len,
                                    struct odb_error *err)
{
    const char *names[ODB_OPTION_COUNT];
    size_t n = 0;
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        if (odb_command_knows(command, id))
            names[n++] = odb_option_row(id)->name;
    char *name = odb_xstrndup(word, len);
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, name);
    const char *near = odb_nearest(name + strspn(name, "-"), names, n);
    odb_fail(err, ODB_E_USAGE, "%s has no option '%s'", command->name, odb_buf_text(&shown));
    if (near)
        odb_error_remedy(err, "did you mean --%s?", near);
    else
        odb_error_remedy(err, "`onnxdbg help %s` lists them", command->name);
    odb_buf_dispose(&shown);
    free(name);
    return ODB_E_USAGE;
}

/* "name", "name=value" or "n" to a row and where its value begins, NULL if in the next word. */
static enum odb_status call_option_id(const struct odb_command *command, const char *word, int *id,
                                      const char **value, struct odb_error *err)
{
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    size_t len = is_long ? strcspn(name, "=") : 1;
    *id = is_long ? odb_option_long(command, name, len) : odb_option_letters(command, name, &len);
    if (*id >= 0) {
        *value = name[len] == '=' ? name + len + 1 : name[len] ? name + len : NULL;
        return ODB_OK;
    }
    len = is_long ? len : 1;
    return call_unknown(command, word, (size_t)(name - word) + len, err);
}

static enum odb_status call_add_option(struct odb_command_call *call, int argc, char *const *argv,
                                       int *at, struct odb_error *err)
{
    int id;
    const char *value = NULL;
    ODB_TRY(call_option_id(call->command, argv[*at], &id, &value, err));
    const struct odb_option *row = odb_option_row(id);
    if (row->type == ODB_ARG_FLAG && value && (id != ODB_OPTION_JSON || argv[*at][1] != '-'))
        return odb_fail(err, ODB_E_USAGE, "--%s takes no value", row->name);
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    const char *behind = *at + 2 < argc ? argv[*at + 2] : NULL;
    if (!value && odb_option_takes_next(id, argv[*at], next, behind)) {
        if (!next)
            return odb_fail(err, ODB_E_USAGE, "--%s needs a value, %s", row->name, row->arg);
        value = argv[++*at];
    }
    if (!value)
        value = odb_option_alone(id);
    if (value && id == ODB_OPTION_JSON && !*value)
        return odb_fail(err, ODB_E_USAGE, "--%s= names no file", row->name);
    if (row->type != ODB_ARG_FLAG)
        ODB_TRY(odb_call__check(row, value, err));
    odb_push(&call->options, (struct odb_call_option){id, value ? value : ""});
    return ODB_OK;
}

/* --- arguments ------------------------------------------------------------------------------- */

static enum odb_status call_check_args(struct odb_command_call *call, struct odb_error *err)
{
    size_t max = 0;
    bool repeated = false;
    for (const struct odb_arg *arg = call->command->args; arg && arg->name; arg++, max++) {
        if (!arg->optional && max >= call->n_args) {
            odb_fail(err, ODB_E_USAGE, "%s needs %s", call->command->name, arg->name);
            struct odb_buf usage = ODB_BUF_INIT;
            odb_help_usage(call->command, &usage);
            odb_error_remedy(err, "%s", odb_buf_text(&usage));
            odb_buf_dispose(&usage);
            return ODB_E_USAGE;
        }
        repeated |= arg->repeated;
        if (max >= call->n_args)
            continue;
        enum odb_status status = odb_call__check_word(arg->type, arg->range, call->args[max], err);
        if (status != ODB_OK)
            return odb_error_at(err, "%s", call->command->name);
    }
    if (call->n_args <= max || repeated)
        return ODB_OK;
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, call->args[max]);
    odb_fail(err, ODB_E_USAGE, "%s takes no further argument '%s'", call->command->name,
             odb_buf_text(&shown));
    odb_buf_dispose(&shown);
    return odb_error_remedy(err, "`onnxdbg help %s` shows what it takes", call->command->name);
}

int odb_call__model_at(const struct odb_command *command)
{
    const struct odb_arg *args = command->args;
    for (int i = 0; args && args[i].name; i++)
        if (args[i].type == ODB_ARG_MODEL || args[i].type == ODB_ARG_SOURCE)
            return i;
    return -1;
}

static void call_join(struct odb_command_call *call, struct odb_console *console)
{
    call->console = console;
    call->session = console->session;
    call->model = console->session->model;
}

/* At a console the model is known, and left out where the row names it. */
static void call_put_model(struct odb_command_call *call)
{
    int at = odb_call__model_at(call->command);
    if (at < 0 || (size_t)at > call->n_args)
        return;
    memmove(call->args + at + 1, call->args + at, (call->n_args - (size_t)at) * sizeof *call->args);
    call->args[at] = call->model->path;
    call->n_args++;
}

/* Libraries are loaded before anything asks what the reference has a kernel for. */
static enum odb_status call_kernels(const struct odb_command_call *call, struct odb_error *err)
{
    for (size_t i = 0; i < call->options.n; i++) {
        if (call->options.items[i].id != ODB_OPTION_KERNELS)
            continue;
        if (!call->console) {
            ODB_TRY(odb_cpu_add_kernels(call->options.items[i].value, err));
            continue;
        }
        odb_fail(err, ODB_E_USAGE, "kernels are loaded when the debugger starts");
        return odb_error_remedy(err, "leave, and start onnxdbg with --kernels %s",
                                call->options.items[i].value);
    }
    return ODB_OK;
}

/* What this line names as executors, before a session is made or a model read for nothing. What a
 * console keeps was taken there. */
static enum odb_status call_look(struct odb_command_call *call, struct odb_error *err)
{
    static const enum odb_option_id ids[] = {ODB_OPTION_TARGET, ODB_OPTION_REFERENCE,
                                             ODB_OPTION_GOLDEN};
    for (size_t i = 0; i < ODB_COUNT(ids) && !call->console; i++) {
        const char *spec = odb_call__spec(call, ids[i]);
        if (spec)
            ODB_TRY(odb_executor_here(spec, err));
    }
    return ODB_OK;
}

enum odb_status odb_call_parse(struct odb_command_call *out, const struct odb_command *command,
                               struct odb_console *console, int argc, char *const *argv,
                               struct odb_error *err)
{
    *out = (struct odb_command_call){.command = command,
                                     .args = odb_new_n(const char *, (size_t)argc + 2)};
    bool only_args = false;
    if (console)
        call_join(out, console);
    bool help = argc == 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"));
    if (command->flags & ODB_COMMAND_RAW && !help)
        only_args = true;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool negative = word[0] == '-' && word[1] >= '0' && word[1] <= '9'; /* no option is one */
        if (only_args || word[0] != '-' || !word[1] || negative)
            out->args[out->n_args++] = word;
        else if (!strcmp(word, "--"))
            only_args = true;
        else
            ODB_TRY(call_add_option(out, argc, argv, &i, err));
    }
    if (console)
        call_put_model(out);
    if (odb_call_has(out, ODB_OPTION_HELP))
        return ODB_OK;
    ODB_TRY(call_check_args(out, err));
    if (console && odb_call_has(out, ODB_OPTION_SESSION)) {
        odb_fail(err, ODB_E_USAGE, "--session is said when the debugger is started");
        return odb_error_remedy(err, "what is found here goes into the session that is open");
    }
    ODB_TRY(call_kernels(out, err));
    ODB_TRY(call_look(out, err));
    if (console && !(command->flags & ODB_COMMAND_ASIDE))
        odb_console_adopt(console, out);
    else if (!console && command->args && command->args->type == ODB_ARG_MODEL)
        return odb_call__open_model(out, out->args[0], err);
    return ODB_OK;
}
