/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A view as text, for what leaves the screen.
 */
#ifndef ODB_UI_APP_PAPER_H
#define ODB_UI_APP_PAPER_H

#include "base/error.h"

struct odb_buf;
struct ui_view;

/* Appends all rows as text, as they are drawn into so many columns, with what stands above them.
 * Takes the lock row by row, says how far it is, and looks for Esc: ODB_CANCELLED. ODB_E_USAGE:
 * there are too many. */
enum odb_status ui_paper_print(struct ui_view *view, int cols, struct odb_buf *out,
                               struct odb_error *err) ODB_MUST_USE;
/* Appends the selected row alone. */
void ui_paper_print_row(struct ui_view *view, int cols, struct odb_buf *out);

#endif
