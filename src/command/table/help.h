/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text for people, derived from the table.
 */
#ifndef ODB_COMMAND_TABLE_HELP_H
#define ODB_COMMAND_TABLE_HELP_H

#include "command/table/command.h"

struct odb_buf;

/* Text for people, derived from the table. */
void odb_help_usage(const struct odb_command *command, struct odb_buf *out);
void odb_help_command(const struct odb_command *command, struct odb_buf *out);
/* "-o, --output=PATH" and what it is for, with choices and default; appended. */
void odb_help_option(const struct odb_command *command, enum odb_option_id id, struct odb_buf *head,
                     struct odb_buf *text);
/* Exit status i and what it means, from 0 on; NULL after the last. Static. */
const char *odb_help_exit(size_t i, const char **help);
/* Commands of the shell, or of the prompt. */
void odb_help_overview(bool prompt, struct odb_buf *out);
/* Words of text, shown safely, broken before 80 columns, every line but the first indented. column:
 * where the first line stands already. */
void odb_help_wrap(struct odb_buf *out, const char *text, size_t indent, size_t column);
/* Lines, of which those that are longer are broken so, under the first word behind what is blank,
 * or behind a first column. Of text that is shown safely. */
void odb_help_wrap_lines(struct odb_buf *out, const char *text);
/* "  left    text text", the text in a column of its own. */
void odb_help_row(struct odb_buf *out, const char *left, size_t indent, const char *text);

#endif
