/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row of screen.def, done.
 */
#ifndef ODB_UI_VIEW_ACTION_H
#define ODB_UI_VIEW_ACTION_H

#include "base/error.h"

struct odb_command_call;
struct ui_app;

typedef enum odb_status (*ui_action_fn)(struct ui_app *app, const struct odb_command_call *call,
                                        struct odb_error *err);
#define UI_ACTION(name)                                                                            \
    enum odb_status ui_action_##name(struct ui_app *app, const struct odb_command_call *call,      \
                                     struct odb_error *err)
/* All words of a call with a blank between them; owned by the caller. */
char *ui_action_words(const struct odb_command_call *call);

#endif
