/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines: from files, by other names, once more, and those of before.
 */
#include "command/console/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/verbs.h"
#include "system/file.h"

#define SCRIPT_DEPTH 16       /* of files that name files */
#define SCRIPT_LONGEST 100000 /* bytes of a line in a file */

/* --- what is meant ---------------------------------------------------------------------------- */

static const char *script_alias(const struct odb_console *console, const char *word, size_t n)
{
    for (size_t i = 0; i < console->aliases.n; i++) {
        const struct odb_alias *alias = &console->aliases.items[i];
        if (strlen(alias->name) == n && !strncmp(alias->name, word, n))
            return alias->line;
    }
    return NULL;
}

char *odb_script_expand(const struct odb_console *console, const char *line)
{
    line += strspn(line, " \t");
    size_t n = strcspn(line, " \t");
    if (!n)
        return odb_xstrdup(console->again ? console->again : "");
    const char *alias = script_alias(console, line, n);
    if (alias)
        return odb_xasprintf("%s%s", alias, line + n);
    size_t slash = strcspn(line, "/");
    if (slash && slash < n)
        return odb_xasprintf("%.*s %s", (int)slash, line, line + slash);
    return odb_xstrdup(line);
}

void odb_script_given(struct odb_console *console, const char *line,
                      const struct odb_command *command)
{
    odb_push(&console->history, odb_xstrdup(line));
    free(console->again);
    console->again = command->flags & ODB_COMMAND_REPEATS ? odb_xstrdup(line) : NULL;
}

/* --- lines that wait -------------------------------------------------------------------------- */

void odb_console_push(struct odb_console *console, const char *line)
{
    odb_push(&console->pending, (struct odb_pending){.line = odb_xstrdup(line)});
}

char *odb_console_next(struct odb_console *console, char **from)
{
    *from = NULL;
    console->depth = 0;
    if (!console->pending.n)
        return NULL;
    struct odb_pending next = console->pending.items[0];
    console->pending.n--;
    memmove(console->pending.items, console->pending.items + 1, console->pending.n * sizeof next);
    console->depth = next.depth;
    *from = next.from;
    return next.line;
}

void odb_console_stop(struct odb_console *console)
{
    size_t kept = 0;
    for (size_t i = 0; i < console->pending.n; i++) {
        struct odb_pending *pending = &console->pending.items[i];
        if (pending->depth)
            odb_pending_dispose(pending);
        else
            console->pending.items[kept++] = *pending;
    }
    console->pending.n = kept;
}

/* --- commands --------------------------------------------------------------------------------- */

/* Lines come before those that wait already. */
static enum odb_status script_read(struct odb_console *console, FILE *file, const char *path,
                                   struct odb_error *err)
{
    ODB_VEC(struct odb_pending) lines = {0};
    enum odb_status status = ODB_OK;
    char *line = NULL;
    size_t size = 0, number = 0;
    ssize_t n;
    while (status == ODB_OK && (n = getline(&line, &size, file)) >= 0) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (n > SCRIPT_LONGEST || strlen(line) + 2 < (size_t)n)
            status = odb_fail(err, ODB_E_FORMAT, "line %zu is no line of text", number);
        else if (!strchr("#", line[strspn(line, " \t")])) /* nor is it empty */
            odb_push(&lines,
                     (struct odb_pending){odb_xstrdup(line), odb_xasprintf("%s:%zu", path, number),
                                          console->depth + 1});
    }
    free(line);
    for (size_t i = 0; i < console->pending.n && status == ODB_OK; i++)
        odb_push(&lines, console->pending.items[i]);
    if (status == ODB_OK) {
        free(console->pending.items);
        console->pending.items = lines.items;
        console->pending.n = lines.n;
        console->pending.cap = lines.cap;
        return ODB_OK;
    }
    for (size_t i = 0; i < lines.n; i++)
        odb_pending_dispose(&lines.items[i]);
    free(lines.items);
    return odb_error_at(err, "%s", path);
}

enum odb_status odb_command__source(struct odb_command_call *call, struct odb_error *err)
{
    const char *path = call->args[0];
    if (call->console->depth >= SCRIPT_DEPTH)
        return odb_fail(err, ODB_E_USAGE, "%s: files name each other %d deep", path, SCRIPT_DEPTH);
    FILE *file;
    enum odb_status status = odb_file_open(&file, path, err);
    if (status != ODB_OK)
        return odb_error_at(err, "%s", path);
    status = script_read(call->console, file, path, err);
    fclose(file);
    return status;
}

static void script_put_alias(const struct odb_alias *alias, struct odb_buf *out)
{
    odb_buf_put_shown(out, alias->name);
    odb_buf_puts(out, " = ");
    odb_buf_put_shown(out, alias->line);
    odb_buf_putc(out, '\n');
}

static void script_unalias(struct odb_console *console, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < console->aliases.n; i++) {
        struct odb_alias alias = console->aliases.items[i];
        if (strcmp(alias.name, name) != 0) {
            console->aliases.items[kept++] = alias;
            continue;
        }
        free(alias.name);
        free(alias.line);
    }
    console->aliases.n = kept;
}

/* `alias bad = next-divergence`; without anything behind the `=`, it is none any more. */
enum odb_status odb_command__alias(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_console *console = call->console;
    const char *text = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    const struct odb_command *command;
    for (size_t i = 0; !text && i < console->aliases.n; i++)
        script_put_alias(&console->aliases.items[i], &out);
    if (!text && !out.len)
        odb_buf_puts(&out, "there are no aliases\n");
    if (text) {
        size_t n = strcspn(text, " \t=");
        const char *line = text + n + strspn(text + n, " \t");
        line += *line == '=';
        line += strspn(line, " \t");
        char *name = odb_xstrndup(text, n);
        bool taken =
            odb_command_find(&command, name, true, NULL) == ODB_OK &&
            (!strcmp(command->name, name) || (command->alias && !strcmp(command->alias, name)));
        if (taken || !n) {
            free(name);
            return odb_fail(err, ODB_E_USAGE, "%.*s is a command", (int)n, text);
        }
        script_unalias(console, name);
        if (*line) {
            odb_push(&console->aliases, (struct odb_alias){name, odb_xstrdup(line)});
            script_put_alias(&console->aliases.items[console->aliases.n - 1], &out);
        } else {
            odb_buf_printf(&out, "%s is no alias any more\n", name);
            free(name);
        }
    }
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__history(struct odb_command_call *call, struct odb_error *err)
{
    const struct odb_console *console = call->console;
    const char *count = odb_call_arg(call, 0);
    size_t n = count ? strtoul(count, NULL, 10) : 20;
    size_t first = console->history.n > n ? console->history.n - n : 0;
    struct odb_buf out = ODB_BUF_INIT;
    for (size_t i = first; i < console->history.n; i++) {
        odb_buf_printf(&out, "%5zu  ", i + 1);
        odb_buf_put_shown(&out, console->history.items[i]);
        odb_buf_putc(&out, '\n');
    }
    odb_call__print(call, &out);
    return ODB_OK;
}
