/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a console does with lines before they are commands, and what it remembers of them.
 */
#ifndef ODB_COMMAND_CONSOLE_SCRIPT_H
#define ODB_COMMAND_CONSOLE_SCRIPT_H

struct odb_command;
struct odb_console;

/* The line that is meant: the last stepping command for an empty one, what an alias stands for, a
 * format ("p/x y") as a word of its own. Owned by the caller. */
char *odb_script_expand(const struct odb_console *console, const char *line);
/* The line is a command: it goes into the history, and may be given again by an empty one. */
void odb_script_given(struct odb_console *console, const char *line,
                      const struct odb_command *command);

/* Has a line given after those that are to be given already. */
void odb_console_push(struct odb_console *console, const char *line);
/* The next line to be given, NULL: none; the caller's. from is where it stands, the caller's too,
 * or NULL. */
char *odb_console_next(struct odb_console *console, char **from);
/* A line of a file has failed: the rest of the file is not given. */
void odb_console_stop(struct odb_console *console);

#endif
