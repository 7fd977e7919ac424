/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The terminal lent to another program, until that ends: an editor, a pager, another debugger.
 */
#ifndef ODB_UI_TERMINAL_LENT_H
#define ODB_UI_TERMINAL_LENT_H

#include "base/buf.h"
#include "base/error.h"
#include "ui/terminal/terminal.h"

/* Appends a word as the shell takes it, whatever is in it. */
void ui_lent_quote(struct odb_buf *out, const char *word);
/* Runs a line of the shell on the terminal; input: a file in place of the keys, -1: none. *ended
 * (may be NULL): its exit status, or 128 and the signal. ODB_E_IO: it cannot be started. */
enum odb_status ui_lent_run(struct ui_terminal *terminal, const char *line, int input, int *ended,
                            struct odb_error *err) ODB_MUST_USE;

#endif
