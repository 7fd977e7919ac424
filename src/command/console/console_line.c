/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line that is given at a console, taken apart.
 */
#include "command/console/console_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/parse.h"
#include "command/console/script.h"
#include "command/console/verb_undo.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/quoting.h"

/* The words of a command that takes what follows its name as it was typed, but for blanks at its
 * end: quotes in a note need not be closed. False: it is none, or is asked for its --help. */
static bool console_take_raw(const char *line, char ***argv, int *argc)
{
    const struct odb_command *command;
    struct odb_buf name = ODB_BUF_INIT;
    const char *rest = line;
    char quote;
    odb_words__next(&rest, &name, &quote);
    rest += strspn(rest, " \t");
    size_t n = strlen(rest);
    while (n && strchr(" \t\n", rest[n - 1]))
        n--;
    bool raw = odb_command_find(&command, odb_buf_text(&name), true, NULL) == ODB_OK &&
               command->flags & ODB_COMMAND_RAW && n && !(n == 6 && !strncmp(rest, "--help", 6));
    if (raw) {
        char **words = odb_xcalloc(1, 3 * sizeof *words + name.len + n + 2);
        words[0] = memcpy(words + 3, odb_buf_text(&name), name.len + 1);
        words[1] = memcpy(words[0] + name.len + 1, rest, n);
        *argv = words;
        *argc = 2;
    }
    odb_buf_dispose(&name);
    return raw;
}

static enum odb_status console_parse(struct odb_console *console, const char *line, char ***argv,
                                     struct odb_command_call *out, bool busy, struct odb_error *err)
{
    const struct odb_command *command;
    int argc;
    if (!console_take_raw(line, argv, &argc))
        ODB_TRY(odb_words_split(argv, &argc, line, err));
    if (!argc)
        return odb_fail(err, ODB_E_USAGE, "no command is given");
    ODB_TRY(odb_command_find(&command, (*argv)[0], true, err));
    if (busy && !(command->flags & ODB_COMMAND_ANYTIME)) {
        odb_fail(err, ODB_E_USAGE, "%s has to wait until the command that runs has ended",
                 command->name);
        return odb_error_remedy(err, "Esc stops it");
    }
    if (!command->screen)
        odb_script_given(console, line, command);
    if (!command->screen)
        odb_undo_remember(console);
    return odb_call_parse(out, command, console, argc - 1, *argv + 1, err);
}

enum odb_status odb_console_parse(struct odb_console *console, const char *line, char ***argv,
                                  struct odb_command_call *out, bool busy, struct odb_error *err)
{
    char *whole = odb_script_expand(console, line);
    *out = (struct odb_command_call){0};
    console->busy = busy;
    enum odb_status status = console_parse(console, whole, argv, out, busy, err);
    free(whole);
    return status;
}
