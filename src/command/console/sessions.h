/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the list of sessions says, for those who show it in another way.
 */
#ifndef ODB_COMMAND_CONSOLE_SESSIONS_H
#define ODB_COMMAND_CONSOLE_SESSIONS_H

#include "base/buf.h"
#include "command/table/command.h"
#include "session/stored.h"

/* What came of the newest search, in a few words: "diverges, #7 introduced", "pass",
 * "none, has not ended". */
void odb_sessions_put_result(const struct odb_stored *stored, struct odb_buf *out);

/* Whether a file, by whatever path, is the one that a console keeps its session in. */
bool odb_sessions_is_open(const struct odb_console *console, const char *path);

/* The model that a session file is about, where it is now: where it was, or beside the session. The
 * caller's. Errors name the file. */
enum odb_status odb_sessions_model(char **out, const char *path,
                                   struct odb_error *err) ODB_MUST_USE;

/* Opens a session file and its model for console->next; the present session stays as it is. over:
 * also where it would be lost. Errors name the file. */
enum odb_status odb_sessions_reopen(struct odb_console *console, const char *path, bool over,
                                    struct odb_error *err) ODB_MUST_USE;

#endif
