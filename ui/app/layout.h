/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stands where on the screen.
 */
#ifndef ODB_UI_APP_LAYOUT_H
#define ODB_UI_APP_LAYOUT_H

#include "ui/view/app.h"

struct odb_buf;

/* Draws a frame and sends it. */
void ui_layout_draw(struct ui_app *app);
/* Draws the line of messages alone, and sends it. */
void ui_layout_tell(struct ui_app *app);
/* What goes on, with how long it may take, or what was found. Caller holds the session's lock. */
void ui_layout_state(const struct ui_app *app, struct odb_buf *out);
/* Views that can be seen, in the order of `focus`; returns how many, at most UI_VIEW_COUNT. */
int ui_layout_visible(const struct ui_app *app, enum ui_view_id *list);
/* The view at a place of the screen, NULL where none is; *view_row and *view_col: in its area. Its
 * title is row -1. */
struct ui_view *ui_layout_at(struct ui_app *app, int row, int col, int *view_row, int *view_col);
/* The column of the line between panes; 0: there is none. */
int ui_layout_divider(const struct ui_app *app);
/* Whether the line between panes, or the strip's upper end, is there. */
bool ui_layout_divider_at(struct ui_app *app, int row, int col);
bool ui_layout_strip_end_at(struct ui_app *app, int row);
/* The node that a column of the strip stands for; ODB_NO_NODE elsewhere. */
int ui_layout_strip_at(struct ui_app *app, int row, int col);

#endif
