/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of a line have in common: taking it apart, and completing what is not whole yet.
 */
#ifndef ODB_COMMAND_TABLE_QUOTING_H
#define ODB_COMMAND_TABLE_QUOTING_H

#include <stdbool.h>

#include "base/error.h"

struct odb_buf;

/* Skips blanks at *at and appends the word there to word, without what quoted it; *at is then
 * behind it. False when there is none. quote: the one still open where the line ended, or 0. */
bool odb_words__next(const char **at, struct odb_buf *word, char *quote);

/* How a word must be quoted: 0 not at all, else '\'', or '"' where only that will do. */
char odb_words__style(const char *word);
/* Appends the word in this style, which may be a stronger one than it needs; open: without the
 * quote at its end. */
void odb_words__put(struct odb_buf *out, const char *word, char style, bool open);
/* A line into words: blanks separate, '…' and "…" and \ keep them. argv is one block, NULL at its
 * end, to be freed with free(). ODB_E_USAGE where a quote is not closed. */
enum odb_status odb_words_split(char ***argv, int *argc, const char *line,
                                struct odb_error *err) ODB_MUST_USE;
/* Appends a word so that odb_words_split() gives it back. */
void odb_words_quote(struct odb_buf *out, const char *word);

#endif
