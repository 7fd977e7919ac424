/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The debugger without a screen: commands are read line by line, and what they show is printed as
 * plain lines, once, from top to bottom. For terminals that cannot move the cursor, for screen
 * readers, and for scripts on standard input.
 */
#ifndef ODB_UI_APP_PLAIN_SCREEN_H
#define ODB_UI_APP_PLAIN_SCREEN_H

struct ui_app;

/* Reads and does commands until the input ends or one of them leaves. */
void ui_linear_run(struct ui_app *app);

#endif
