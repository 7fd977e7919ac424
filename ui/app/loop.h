/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Frames and events.
 */
#ifndef ODB_UI_APP_LOOP_H
#define ODB_UI_APP_LOOP_H

struct ui_app;

/* Draws and listens until the user leaves. */
void ui_loop_run(struct ui_app *app);

#endif
