/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything that explains: written once in the table, laid out here.
 */
#include "command/table/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/table/command.h"
#include "command/table/short.h"
#include "command/table/table.h"
#include "command/table/topics.h"

#define HELP_WIDTH 80
#define HELP_OWN 5 /* commands at most that take an option which is one's own */

void odb_help_wrap(struct odb_buf *out, const char *text, size_t indent, size_t column)
{
    while (*text) {
        size_t len = strcspn(text, " \n");
        char *word = odb_xstrndup(text, len);
        if (column > indent && column + 1 + len > HELP_WIDTH) {
            odb_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            odb_buf_putc(out, ' ');
            column++;
        }
        odb_buf_put_shown(out, word);
        free(word);
        column += len;
        text += len + strspn(text + len, " \n");
    }
    odb_buf_putc(out, '\n');
}

#define HELP_COLUMN 12 /* a first column is no wider */

void odb_help_wrap_lines(struct odb_buf *out, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n"), lead = strspn(text, " ");
        const char *gap = strstr(text + lead, "  ");
        if (gap && gap < text + HELP_COLUMN)
            lead = (size_t)(gap - text) + strspn(gap, " ");
        if (len < HELP_WIDTH) {
            odb_buf_printf(out, "%.*s\n", (int)len, text);
        } else {
            char *line = odb_xstrndup(text + lead, len - lead);
            odb_buf_printf(out, "%.*s", (int)lead, text);
            odb_help_wrap(out, line, lead, lead);
            free(line);
        }
        text += len + (text[len] == '\n');
    }
}

void odb_help_row(struct odb_buf *out, const char *left, size_t indent, const char *text)
{
    size_t len = strlen(left) + 2;
    odb_buf_printf(out, "  %s", left);
    if (len + 2 > indent) {
        odb_buf_printf(out, "\n%*s", (int)indent, "");
        len = indent;
    }
    odb_buf_printf(out, "%*s", (int)(indent - len), "");
    odb_help_wrap(out, text, indent, indent);
}

void odb_help_usage(const struct odb_command *command, struct odb_buf *out)
{
    bool shell = command->flags & ODB_COMMAND_SHELL;
    odb_buf_printf(out, "%s%s", shell ? "onnxdbg " : "", command->name);
    for (const struct odb_arg *arg = command->args; arg && arg->name; arg++)
        odb_buf_printf(out, arg->optional ? " [%s]%s" : " %s%s", arg->name,
                       arg->repeated ? "…" : "");
    if (command->options)
        odb_buf_puts(out, " [options]");
}

void odb_help_option(const struct odb_command *command, enum odb_option_id id, struct odb_buf *head,
                     struct odb_buf *text)
{
    const struct odb_option *row = odb_option_row(id);
    char letters[ODB_OPTION_SHORT];
    if (*odb_option_short(command, id, letters))
        odb_buf_printf(head, "-%s, ", letters);
    odb_buf_printf(head, "--%s%s%s", row->name, row->arg ? "=" : "", row->arg ? row->arg : "");
    odb_buf_puts(text, row->help);
    if (row->type == ODB_ARG_ENUM)
        odb_buf_printf(text, ": %s", row->range);
    if (row->def)
        odb_buf_printf(text, " (default %s)", row->def);
}

static void help_option(const struct odb_command *command, enum odb_option_id id,
                        struct odb_buf *out)
{
    struct odb_buf left = ODB_BUF_INIT, text = ODB_BUF_INIT;
    odb_help_option(command, id, &left, &text);
    odb_help_row(out, odb_buf_text(&left), 28, odb_buf_text(&text));
    odb_buf_dispose(&left);
    odb_buf_dispose(&text);
}

static bool help_is_own(int id)
{
    size_t n, takers = 0;
    const struct odb_command *rows = odb_command_table(&n);
    for (size_t i = 0; i < n; i++)
        takers += odb_command_takes(&rows[i], (enum odb_option_id)id);
    return takers <= HELP_OWN;
}

/* Of the command's options those that few take, or those that many take. */
static void help_options(const struct odb_command *command, bool own, const char *title,
                         struct odb_buf *out)
{
    bool any = false;
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        if (!odb_command_takes(command, (enum odb_option_id)id) || help_is_own(id) != own)
            continue;
        if (!any)
            odb_buf_printf(out, "\n%s:\n", title);
        any = true;
        help_option(command, (enum odb_option_id)id, out);
    }
}

void odb_help_command(const struct odb_command *command, struct odb_buf *out)
{
    odb_buf_puts(out, "usage: ");
    odb_help_usage(command, out);
    odb_buf_puts(out, "\n\n");
    odb_help_wrap(out, command->text, 0, 0);
    odb_buf_printf(out, "\nexample:\n  %s\n", command->example);
    help_options(command, true, "options", out);
    help_options(command, false, "options that many commands take", out);
    if (command->alias)
        odb_buf_printf(out, "\nshort form: %s\n", command->alias);
}

static void help_rows(bool prompt, struct odb_buf *out)
{
    size_t n;
    const struct odb_command *rows = odb_command_table(&n);
    const char *group = "";
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].flags & (prompt ? ODB_COMMAND_PROMPT : ODB_COMMAND_SHELL)))
            continue;
        if (strcmp(group, rows[i].group))
            odb_buf_printf(out, "\n%s:\n", rows[i].group);
        group = rows[i].group;
        odb_help_row(out, rows[i].name, prompt ? 23 : 16, rows[i].help);
    }
}

const char *odb_help_exit(size_t i, const char **help)
{
    static const struct {
        const char *status, *help;
    } rows[] = {
        {"0", "nothing diverges"},
        {"1", "a divergence was found, or a check failed"},
        {"2", "wrong usage"},
        {"3", "bad model or input, or no output can be computed"},
        {"4", "no verdict, because an executor failed"},
        {"130", "interrupted; 143 where SIGTERM had to end what would not in a second"},
    };
    *help = i < ODB_COUNT(rows) ? rows[i].help : NULL;
    return i < ODB_COUNT(rows) ? rows[i].status : NULL;
}

void odb_help_overview(bool prompt, struct odb_buf *out)
{
    const char *status, *help;
    if (prompt) {
        odb_help_wrap(
            out,
            "Commands of the screen, for the prompt (the key :) and for keys; a name may be "
            "shortened as long as it is unique. `help COMMAND` explains one.",
            0, 0);
        help_rows(prompt, out);
        return;
    }
    odb_buf_puts(out, "usage: onnxdbg MODEL [options]\n       onnxdbg COMMAND [arguments] "
                      "[options]\n\n");
    odb_help_wrap(out,
                  "A debugger for ONNX models: runs a model on a reference and on a target, finds "
                  "the node where they diverge, and shows, explains and exports it.",
                  0, 0);
    help_rows(prompt, out);
    odb_buf_puts(out, "\nexit status:\n");
    for (size_t i = 0; (status = odb_help_exit(i, &help)); i++)
        odb_help_row(out, status, 16, help);
    odb_buf_puts(out, "\npages of the manual (man onnxdbg-NAME):\n");
    for (size_t i = 0; (status = odb_topic(i, &help)); i++)
        odb_help_row(out, status, 23, help);
    odb_buf_putc(out, '\n');
    odb_help_wrap(
        out,
        "`onnxdbg help COMMAND` explains a command; `onnxdbg help tolerance` and `onnxdbg "
        "executors` explain what --tol and --target take; `onnxdbg help screen` lists the "
        "commands of the screen.",
        0, 0);
}
