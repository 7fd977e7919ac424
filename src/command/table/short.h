/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options by what stands for them on a command line.
 */
#ifndef ODB_COMMAND_TABLE_SHORT_H
#define ODB_COMMAND_TABLE_SHORT_H

#include "command/table/command.h"

/* What stands behind one dash for an option of the command: "t", "cd", or "". Returns buf, which
 * has ODB_OPTION_SHORT bytes. */
#define ODB_OPTION_SHORT 4
const char *odb_option_short(const struct odb_command *command, enum odb_option_id id, char *buf);
/* The option of the command that a word of len bytes behind two dashes means, -1: none. */
int odb_option_long(const struct odb_command *command, const char *word, size_t len);
/* Likewise behind one dash, where a value may follow *len bytes of it. */
int odb_option_letters(const struct odb_command *command, const char *word, size_t *len);

/* The value of an option that stands in word without one, where it may: -j is --json=-. NULL: the
 * next word is its value. Static. */
const char *odb_option_alone(enum odb_option_id id, const char *word);

#endif
