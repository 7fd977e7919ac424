/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `filter` in a view that has one of its own, and while it is typed.
 */
#ifndef ODB_UI_APP_NARROW_H
#define ODB_UI_APP_NARROW_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;
struct ui_app;
struct ui_view;

/* `filter` in a view that has one of its own, and while it is typed. */
enum odb_status ui_narrow(struct ui_view *view, const struct odb_command_call *call,
                          struct odb_error *err);
void ui_narrow_live(struct ui_app *app);
void ui_narrow_typed(struct ui_app *app, bool given);

#endif
