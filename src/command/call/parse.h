/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From words to a call.
 */
#ifndef ODB_COMMAND_CALL_PARSE_H
#define ODB_COMMAND_CALL_PARSE_H

#include "base/error.h"

struct odb_command;
struct odb_command_call;
struct odb_console;

/* Words behind the program's and the command's name. ODB_E_USAGE where they do not fit the row.
 * Models are opened here; with a console (may be NULL) they are its own, and left out of argv.
 * *out is to be disposed of also after failure. */
enum odb_status odb_call_parse(struct odb_command_call *out, const struct odb_command *command,
                               struct odb_console *console, int argc, char *const *argv,
                               struct odb_error *err) ODB_MUST_USE;
/* Which of the row's arguments is the model, -1: none. At a console it is left out. */
int odb_call__model_at(const struct odb_command *command);

#endif
