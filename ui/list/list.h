/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Moving, scrolling and searching, for all views.
 */
#ifndef ODB_UI_LIST_LIST_H
#define ODB_UI_LIST_LIST_H

#include "ui/view/view.h"

struct odb_command_call;
struct ui_area;

void ui_list_draw(struct ui_view *view, const struct ui_area *area, bool focused);
/* Selects a row, as near to it as there is one. */
void ui_list_select(struct ui_view *view, size_t row);
/* Scrolls so that the rows from the selected one to row last are seen: what is too much for the
 * screen begins at its top. */
void ui_list_reveal(struct ui_view *view, size_t last);
/* The next row from where the selection is that matches, going on at the other end; direction 1 or
 * -1; first: the selected row may be it. False when there is none. */
bool ui_list_find(struct ui_view *view, const char *text, int direction, bool first);
/* Moves and scrolls; UI_NOT_MINE for any other command. */
enum ui_answer ui_list_act(struct ui_view *view, const struct odb_command_call *call,
                           struct odb_error *err);

#endif
