/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The screen, as the rest of the program sees it.
 */
#ifndef ODB_UI_APP_UI_H
#define ODB_UI_APP_UI_H

#include "base/error.h"

struct odb_console;

/* Takes the terminal over until the user leaves: an odb_screen_fn. Failures leave the terminal as
 * it was. */
enum odb_status ui_main(struct odb_console *console, struct odb_error *err);

#endif
