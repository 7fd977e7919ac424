/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which node is selected, and the way from one to another and back.
 */
#ifndef ODB_UI_LIST_JUMP_H
#define ODB_UI_LIST_JUMP_H

#include <stdbool.h>

struct ui_app;

/* The node selected in the list, ODB_NO_NODE when it is empty. */
int ui_app_node(const struct ui_app *app);
/* Selects a node in the list, and remembers where it was. */
void ui_app_jump(struct ui_app *app, int node);
/* To where the last jump began, or back from there; false: there is nowhere to go. */
bool ui_app_travel(struct ui_app *app, bool back);

#endif
