/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command line of the shell.
 */
#ifndef ODB_COMMAND_SHELL_DISPATCH_H
#define ODB_COMMAND_SHELL_DISPATCH_H

#include <stdio.h>

#include "command/table/command.h"

/* What the process returns: interfaces.md. found counts only on success. */
int odb_exit_status(enum odb_status status, bool found);
/* The whole command line. Returns the exit status; messages go to log. screen: what `onnxdbg MODEL`
 * opens; NULL: nothing does. */
int odb_command_main(int argc, char *const *argv, FILE *out, FILE *log, odb_screen_fn screen);

#endif
