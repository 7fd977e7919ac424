/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command by its name.
 */
#ifndef ODB_COMMAND_TABLE_COMMAND_FIND_H
#define ODB_COMMAND_TABLE_COMMAND_FIND_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command;

/* By name, alias, or unique prefix, among the commands of the shell or those of the prompt.
 * ODB_E_USAGE with the nearest names. */
enum odb_status odb_command_find(const struct odb_command **out, const char *name, bool prompt,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
