/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands of screen.def that have a file of their own; the table is in actions.c.
 */
#ifndef ODB_UI_APP_ACTIONS_H
#define ODB_UI_APP_ACTIONS_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;
struct ui_app;
struct ui_view;

typedef enum odb_status (*ui_action_fn)(struct ui_app *app, const struct odb_command_call *call,
                                        struct odb_error *err);
#define UI_ACTION(name)                                                                            \
    enum odb_status ui_action_##name(struct ui_app *app, const struct odb_command_call *call,      \
                                     struct odb_error *err)

/* All words of a call with a blank between them; owned by the caller. */
char *ui_action_words(const struct odb_command_call *call);

/* arrange.c: which nodes are listed, and how. */
UI_ACTION(filter);
UI_ACTION(sort);
UI_ACTION(fold);
UI_ACTION(undo_view);
UI_ACTION(redo_view);
/* The filter that is being typed: what it says so far is shown; then it is taken, or not. */
void ui_arrange_live(struct ui_app *app);
void ui_arrange_typed(struct ui_app *app, bool given);

/* narrow.c: `filter` in a view that has one of its own, and while it is typed. */
enum odb_status ui_narrow(struct ui_view *view, const struct odb_command_call *call,
                          struct odb_error *err);
void ui_narrow_live(struct ui_app *app);
void ui_narrow_typed(struct ui_app *app, bool given);

/* outside.c: what leaves the screen. */
UI_ACTION(write);
UI_ACTION(page);
UI_ACTION(edit);
UI_ACTION(copy);
/* ODB_E_USAGE where the name is one for numbers: text is not to be found under such a name. */
enum odb_status ui_outside_text_file(const char *path, struct odb_error *err) ODB_MUST_USE;
/* A text into a file that is not there yet; over: also in place of one. */
enum odb_status ui_outside_write(const char *path, const char *text, size_t n, bool over,
                                 struct odb_error *err) ODB_MUST_USE;

/* look.c: how the screen looks. */
UI_ACTION(theme);
UI_ACTION(mouse);
UI_ACTION(columns);
UI_ACTION(divide);
UI_ACTION(strip);

/* tour.c */
UI_ACTION(tour);

/* view_bookmark.c */
UI_ACTION(bookmark);
UI_ACTION(recall);

#endif
