/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line that is given at a console, taken apart.
 */
#ifndef ODB_COMMAND_CONSOLE_CONSOLE_LINE_H
#define ODB_COMMAND_CONSOLE_CONSOLE_LINE_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;
struct odb_console;

/* Takes a line apart for a console: an empty one is the last stepping command again, and an alias
 * is what it stands for. The words live as long as *argv (see odb_words_split()), which is the
 * caller's; *out as in odb_call_parse(). busy: another command works, so that only some can be
 * given. */
enum odb_status odb_console_parse(struct odb_console *console, const char *line, char ***argv,
                                  struct odb_command_call *out, bool busy,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
