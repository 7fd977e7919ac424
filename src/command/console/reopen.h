/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work goes on with another session.
 */
#ifndef ODB_COMMAND_CONSOLE_REOPEN_H
#define ODB_COMMAND_CONSOLE_REOPEN_H

#include <stdbool.h>

#include "base/error.h"

struct odb_console;

/* Opens a session file and its model for console->next; the present session stays as it is. over:
 * also where it would be lost. Errors name the file. */
enum odb_status odb_sessions_reopen(struct odb_console *console, const char *path, bool over,
                                    struct odb_error *err) ODB_MUST_USE;

#endif
