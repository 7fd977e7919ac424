/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one key at the prompt could become.
 */
#ifndef ODB_COMMAND_CONSOLE_COMPLETE_H
#define ODB_COMMAND_CONSOLE_COMPLETE_H

#include "base/mem.h"

struct odb_console;

/* What one key at the prompt could become. */
struct odb_completion {
    size_t from;           /* byte of the line where the word begins that is completed */
    ODB_VEC(char *) words; /* owned, quoted as needed; sorted as they should be shown */
    char *common;          /* owned: what the word becomes without a choice, quoted so that it can
                              go on; NULL: it stays as it is */
    bool partial;          /* a word is not whole when it is taken: a folder, "key=" */
};

/* Candidates for the word at byte `at` of a line, by the types of the row's arguments: commands,
 * options, nodes, values, executors, files, choices. */
void odb_complete(struct odb_completion *out, const struct odb_console *console, const char *line,
                  size_t at);
void odb_completion_dispose(struct odb_completion *completion);

#endif
