/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which executors a call names.
 */
#ifndef ODB_COMMAND_CALL_CALL_SPEC_H
#define ODB_COMMAND_CALL_CALL_SPEC_H

#include "command/table/command.h"

struct odb_command_call;

/* Executors of the call and its console that may have recorded inputs; list has room for
 * ODB_CALL_RECORDINGS. Returns how many; borrowed: call. */
#define ODB_CALL_RECORDINGS 3
size_t odb_call__recordings(struct odb_command_call *call, const char **list);
/* The executor that an option names, aliases taken for what they stand for; at a console that has
 * it set, also where the command has no such option. NULL: none. Borrowed: call. */
const char *odb_call__spec(struct odb_command_call *call, enum odb_option_id id);
/* A target's spec as --types says, where it does not say so itself; NULL stays NULL. Borrowed:
 * call. */
const char *odb_call__typed(struct odb_command_call *call, const char *spec);
/* --target, else the best that is here. Borrowed: call. */
const char *odb_call__target(struct odb_command_call *call);
/* The spec of what runs a model once: --target, else --reference, else "cpu". Borrowed: call. */
const char *odb_call__runner(struct odb_command_call *call);

#endif
