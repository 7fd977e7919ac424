/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A parsed call, done.
 */
#ifndef ODB_COMMAND_VALUE_CALL_RUN_H
#define ODB_COMMAND_VALUE_CALL_RUN_H

#include "base/error.h"

struct odb_command_call;

/* Does what was parsed. Where --json names a file and the command would print its JSON, it is
 * written there. */
enum odb_status odb_call_run(struct odb_command_call *call, struct odb_error *err) ODB_MUST_USE;

#endif
