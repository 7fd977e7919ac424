/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a word is what its row in the table takes.
 */
#ifndef ODB_COMMAND_TABLE_WORD_CHECK_H
#define ODB_COMMAND_TABLE_WORD_CHECK_H

#include "command/table/command.h"

/* ODB_E_USAGE when a word is none that this type takes, where range is what the row says of it. */
enum odb_status odb_call__check_word(enum odb_arg_type type, const char *range, const char *value,
                                     struct odb_error *err) ODB_MUST_USE;
/* ODB_E_USAGE when the value is none that the option takes. */
enum odb_status odb_call__check(const struct odb_option *row, const char *value,
                                struct odb_error *err) ODB_MUST_USE;

#endif
