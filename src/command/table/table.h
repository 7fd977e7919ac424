/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of commands and that of options.
 */
#ifndef ODB_COMMAND_TABLE_TABLE_H
#define ODB_COMMAND_TABLE_TABLE_H

#include "command/table/command.h"

/* Rows in the order of help; *n may be NULL. */
const struct odb_command *odb_command_table(size_t *n);
const struct odb_option *odb_option_row(enum odb_option_id id);
/* Choice i of an option and what it means, from 0 on; NULL behind the last, and for options whose
 * choices need no word. Static. */
const char *odb_option_choice(enum odb_option_id id, size_t i, const char **help);
/* Whether the command's row lists the option. */
bool odb_command_takes(const struct odb_command *command, enum odb_option_id id);
/* Whether the command knows the option: its row lists it, or it is --help. */
bool odb_command_knows(const struct odb_command *command, int id);

#endif
