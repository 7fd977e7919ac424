/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of a table's rows: by which column, and which way round. `sort` sets it, and a click on
 * the title of a column.
 */
#ifndef ODB_UI_LIST_SORTED_H
#define ODB_UI_LIST_SORTED_H

#include "ui/view/view.h"

struct odb_buf;
struct odb_command_call;
struct ui_area;

struct ui_sorted {
    int column; /* from 1; 0: as the rows come */
    bool descending;
};

/* Texts as people count: numbers by their size, also within a text ("#9" before "#10"), capitals
 * as small letters. NULL and "" come last whichever way round: so descending is asked for here. */
int ui_sorted_compare(const char *a, const char *b, bool descending);
/* Answers `sort` for a table with these titles; a column is called by what its title begins with.
 * UI_NOT_MINE for any other command. */
enum ui_answer ui_sorted_act(struct ui_view *view, struct ui_sorted *order,
                             const char *const *titles, int n, const struct odb_command_call *call,
                             struct odb_error *err);
/* The title of a column (from 0), with an arrow where rows are sorted by it: as wide as said, or
 * its width where that is 0. Returns the column behind it. */
int ui_sorted_title(const struct ui_sorted *order, int column, const char *title,
                    const struct ui_area *area, int col, int width, bool right);
/* "  by found, descending" for the title of a view; nothing where rows stand as they come. */
void ui_sorted_put(const struct ui_sorted *order, const char *const *titles, struct odb_buf *out);

#endif
