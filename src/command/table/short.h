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

/* Whether the word next to one that is an option, and has no value in itself, is its value. behind
 * follows next; either is NULL where there is none. Behind --json of a command that writes a report
 * it is the file, unless it begins with a dash; behind -j, and of other commands, only where it
 * ends in ".json", which no argument does. "-" is standard output, there only as the last word. */
bool odb_option_takes_next(enum odb_option_id id, const char *word, const char *next,
                           const char *behind);
/* What an option without a value means by it: --json is --json=-. NULL: it needs one, or takes
 * none. Static. */
const char *odb_option_alone(enum odb_option_id id);

#endif
