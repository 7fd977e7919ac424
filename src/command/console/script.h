/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a console does with lines before they are commands, and what it remembers of them.
 */
#ifndef ODB_COMMAND_CONSOLE_SCRIPT_H
#define ODB_COMMAND_CONSOLE_SCRIPT_H

#include "command/table/command.h"

/* The line that is meant: the last stepping command for an empty one, what an alias stands for, a
 * format ("p/x y") as a word of its own. Owned by the caller. */
char *odb_script_expand(const struct odb_console *console, const char *line);
/* The line is a command: it goes into the history, and may be given again by an empty one. */
void odb_script_given(struct odb_console *console, const char *line,
                      const struct odb_command *command);
void odb_script_dispose(struct odb_console *console);

/* verb_undo.c: keeps how things are now, if that has changed since it was kept last. */
void odb_undo_remember(struct odb_console *console);
void odb_undo_dispose(struct odb_console *console);

#endif
