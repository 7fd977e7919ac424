/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does what a row of screen.def says.
 */
#ifndef ODB_UI_APP_ACTIONS_H
#define ODB_UI_APP_ACTIONS_H

#include "base/error.h"

struct odb_command_call;

/* Does what a row of screen.def says: struct odb_console's screen function. */
enum odb_status ui_action(void *app, struct odb_command_call *call, struct odb_error *err);

#endif
