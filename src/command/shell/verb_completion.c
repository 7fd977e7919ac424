/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What shells want to know of the table of commands, to complete command lines. All of it is made
 * from the rows, so none of it can be out of date.
 */
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/short.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "compare/criterion.h"
#include "executor/executor.h"

/* --- words ------------------------------------------------------------------------------------ */

/* What an argument or the value of an option is chosen from, parted by blanks; "": anything. */
static void completion_choices(enum odb_arg_type type, const char *range, struct odb_buf *out)
{
    size_t n;
    const char *help, *usage;
    if (type == ODB_ARG_ENUM)
        for (const char *p = range; *p; p++)
            odb_buf_putc(out, *p == '|' ? ' ' : *p);
    if (type == ODB_ARG_SPEC) {
        const struct odb_executor_ops *const *list = odb_executor_list(&n);
        for (size_t i = 0; i < n; i++)
            odb_buf_printf(out, "%s%s", i ? " " : "", list[i]->kind);
    }
    for (size_t i = 0; type == ODB_ARG_TOLERANCE && (usage = odb_criterion_usage(i, &help)); i++)
        odb_buf_printf(out, "%s%.*s", i ? " " : "", (int)strcspn(usage, ":[ "), usage);
    if (type == ODB_ARG_COMMAND) {
        const struct odb_command *rows = odb_command_table(&n);
        for (size_t i = 0; i < n; i++)
            if (rows[i].flags & ODB_COMMAND_SHELL)
                odb_buf_printf(out, "%s ", rows[i].name);
    }
}

/* Text between single quotes, for every shell here: what is in it stays as it is. */
static void completion_quote(struct odb_buf *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            odb_buf_puts(out, "’");
        else if (*text == '[' || *text == ']' || *text == ':')
            odb_buf_putc(out, *text == ':' ? ',' : *text == '[' ? '(' : ')');
        else
            odb_buf_putc(out, *text);
}

static bool completion_next(size_t *i, const struct odb_command **command)
{
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    while (*i < n && !(rows[*i].flags & ODB_COMMAND_SHELL))
        ++*i;
    *command = *i < n ? &rows[(*i)++] : NULL;
    return *command != NULL;
}

static bool completion_has(const struct odb_command *command, int id)
{
    return odb_command_takes(command, id);
}

/* The command that `onnxdbg MODEL` is short for. */
static const struct odb_command *completion_of_model(void)
{
    const struct odb_command *command;
    size_t i = 0;
    while (completion_next(&i, &command) && command->exec != odb_command__debug)
        ;
    return command;
}

/* The words that the command's own arguments are chosen from. */
static void completion_arguments(const struct odb_command *command, struct odb_buf *out)
{
    for (const struct odb_arg *arg = command->args; arg && arg->name; arg++)
        completion_choices(arg->type, arg->range, out);
}

/* --- bash ------------------------------------------------------------------------------------- */

static void completion_bash_options(const struct odb_command *command, const char *pattern,
                                    struct odb_buf *out)
{
    odb_buf_printf(out, "    %s) options='--help", pattern);
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        if (completion_has(command, id))
            odb_buf_printf(out, " --%s", odb_option_row((enum odb_option_id)id)->name);
    odb_buf_puts(out, "' words='");
    completion_arguments(command, out);
    odb_buf_puts(out, "' ;;\n");
}

static void completion_bash(struct odb_buf *out)
{
    const struct odb_command *command;
    odb_buf_puts(out, "# bash completion of onnxdbg, made by: onnxdbg completion bash\n"
                      "_onnxdbg() {\n"
                      "    local cur prev words='' options=''\n"
                      "    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                      "    [[ $cur == '=' ]] && cur=''\n"
                      "    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                      "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; completion_next(&i, &command);)
        completion_bash_options(command, command->name, out);
    completion_bash_options(completion_of_model(), "*", out);
    odb_buf_puts(out, "    esac\n    case $prev in\n");
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        const struct odb_option *row = odb_option_row((enum odb_option_id)id);
        struct odb_buf words = ODB_BUF_INIT;
        if (row->type == ODB_ARG_FLAG)
            continue;
        completion_choices(row->type, row->range, &words);
        odb_buf_printf(out, "    --%s) options='' words='%s' ;;\n", row->name,
                       odb_buf_text(&words));
        odb_buf_dispose(&words);
    }
    odb_buf_puts(out, "    esac\n    if ((COMP_CWORD == 1)); then\n        words='");
    completion_choices(ODB_ARG_COMMAND, NULL, out);
    odb_buf_puts(out, "' options='--help --version'\n    fi\n"
                      "    [[ $cur == -* ]] && words=$options\n"
                      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                      "    if ((COMP_CWORD == 1 || !${#COMPREPLY[@]})) && [[ $cur != -* ]]; then\n"
                      "        local files\n"
                      "        mapfile -t files < <(compgen -f -- \"$cur\")\n"
                      "        COMPREPLY+=(\"${files[@]}\")\n"
                      "        compopt -o filenames\n"
                      "    fi\n"
                      "}\n"
                      "complete -F _onnxdbg onnxdbg\n");
}

/* --- zsh -------------------------------------------------------------------------------------- */

static void completion_zsh_option(const struct odb_option *row, struct odb_buf *out)
{
    odb_buf_printf(out, " \\\n            '*--%s%s[", row->name,
                   row->type == ODB_ARG_FLAG ? "" : "=");
    completion_quote(out, row->help);
    odb_buf_putc(out, ']');
    if (row->type != ODB_ARG_FLAG) {
        struct odb_buf words = ODB_BUF_INIT;
        completion_choices(row->type, row->range, &words);
        odb_buf_putc(out, ':');
        completion_quote(out, row->arg);
        if (words.len)
            odb_buf_printf(out, ":(%s)", odb_buf_text(&words));
        else
            odb_buf_puts(out, row->type == ODB_ARG_PATH || row->type == ODB_ARG_MODEL ||
                                      row->type == ODB_ARG_SOURCE
                                  ? ":_files"
                                  : ": ");
        odb_buf_dispose(&words);
    }
    odb_buf_putc(out, '\'');
}

static void completion_zsh_command(const struct odb_command *command, const char *pattern,
                                   struct odb_buf *out)
{
    struct odb_buf words = ODB_BUF_INIT;
    odb_buf_printf(out, "    %s)\n        _arguments -S '--help[explain the command]'", pattern);
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        if (completion_has(command, id))
            completion_zsh_option(odb_option_row((enum odb_option_id)id), out);
    completion_arguments(command, &words);
    if (words.len)
        odb_buf_printf(out, " \\\n            '*:argument:(%s)' ;;\n", odb_buf_text(&words));
    else
        odb_buf_puts(out, " \\\n            '*:file:_files' ;;\n");
    odb_buf_dispose(&words);
}

static void completion_zsh(struct odb_buf *out)
{
    const struct odb_command *command;
    odb_buf_puts(out, "#compdef onnxdbg\n# made by: onnxdbg completion zsh\n"
                      "_onnxdbg() {\n    local -a commands\n    commands=(\n");
    for (size_t i = 0; completion_next(&i, &command);) {
        odb_buf_printf(out, "        '%s:", command->name);
        completion_quote(out, command->help);
        odb_buf_puts(out, "'\n");
    }
    odb_buf_puts(out, "    )\n    if ((CURRENT == 2)); then\n"
                      "        _describe command commands\n"
                      "        _files -g '*.onnx(-.)'\n        return\n    fi\n"
                      "    shift words\n    ((CURRENT--))\n    case $words[1] in\n");
    for (size_t i = 0; completion_next(&i, &command);)
        completion_zsh_command(command, command->name, out);
    completion_zsh_command(completion_of_model(), "*", out);
    odb_buf_puts(out, "    esac\n}\n_onnxdbg \"$@\"\n");
}

/* --- fish ------------------------------------------------------------------------------------- */

static void completion_fish(struct odb_buf *out)
{
    const struct odb_command *command;
    odb_buf_puts(out, "# fish completion of onnxdbg, made by: onnxdbg completion fish\n");
    for (size_t i = 0; completion_next(&i, &command);) {
        struct odb_buf words = ODB_BUF_INIT;
        const char *behind = command == completion_of_model() /* "": without words it reads them */
                                 ? "; or string match -q -- \"*.onnx\" (commandline -opc)[2] \"\""
                                 : "";
        odb_buf_printf(out, "complete -c onnxdbg -n __fish_use_subcommand -a %s -d '",
                       command->name);
        completion_quote(out, command->help);
        odb_buf_puts(out, "'\n");
        completion_arguments(command, &words);
        if (words.len)
            odb_buf_printf(out, "complete -c onnxdbg -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                           command->name, odb_buf_text(&words));
        odb_buf_dispose(&words);
        for (int id = 0; id < ODB_OPTION_COUNT; id++) {
            const struct odb_option *row = odb_option_row((enum odb_option_id)id);
            if (!completion_has(command, id))
                continue;
            odb_buf_printf(out, "complete -c onnxdbg -n '__fish_seen_subcommand_from %s%s' -l %s",
                           command->name, behind, row->name);
            char letters[ODB_OPTION_SHORT];
            if (strlen(odb_option_short(command, (enum odb_option_id)id, letters)) == 1)
                odb_buf_printf(out, " -s %s", letters);
            if (row->type != ODB_ARG_FLAG) {
                odb_buf_puts(out, " -r -a '");
                completion_choices(row->type, row->range, out);
                odb_buf_putc(out, '\'');
            }
            odb_buf_puts(out, " -d '");
            completion_quote(out, row->help);
            odb_buf_puts(out, "'\n");
        }
    }
}

enum odb_status odb_command__completion(struct odb_command_call *call, struct odb_error *err)
{
    static const struct {
        const char *name;
        void (*make)(struct odb_buf *out);
    } kinds[] = {
        {"bash", completion_bash},
        {"zsh", completion_zsh},
        {"fish", completion_fish},
    };
    struct odb_buf out = ODB_BUF_INIT;
    for (size_t i = 0; i < ODB_COUNT(kinds); i++)
        if (!strcmp(kinds[i].name, odb_call_arg(call, 0)))
            kinds[i].make(&out);
    odb_call__print(call, &out);
    return ODB_OK;
}
