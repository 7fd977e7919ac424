/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which nodes are listed, and how.
 */
#ifndef ODB_UI_APP_ARRANGE_H
#define ODB_UI_APP_ARRANGE_H

#include <stdbool.h>

#include "ui/view/action.h"

struct ui_app;

UI_ACTION(filter);
UI_ACTION(sort);
UI_ACTION(fold);
UI_ACTION(undo_view);
UI_ACTION(redo_view);
/* The filter that is being typed: what it says so far is shown; then it is taken, or not. */
void ui_arrange_live(struct ui_app *app);
void ui_arrange_typed(struct ui_app *app, bool given);
/* The list is about to change: `undo-view` comes back to what it is now. */
void ui_arrange_note(struct ui_app *app);
/* What `undo-view` has kept. */
void ui_arrange_dispose(struct ui_app *app);

#endif
