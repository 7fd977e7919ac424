/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session that an earlier run has saved by itself is offered: in a line, and nothing is opened
 * unless the user asks for it.
 */
#ifndef ODB_UI_VIEWS_VIEW_SESSIONS_H
#define ODB_UI_VIEWS_VIEW_SESSIONS_H

#include <stdbool.h>

struct ui_app;

/* Begins to look for one in a thread of its own, where the session has no file and may have one;
 * without a screen it is waited for. To be called once. */
void ui_offer_look(struct ui_app *app);
/* Says what was found, if nothing else has been done meanwhile. */
void ui_offer_collect(struct ui_app *app);
/* The file that is offered; NULL: none. Borrowed. */
const char *ui_offer_path(const struct ui_app *app);
/* Whether the line is still there, so that Enter takes the offer. */
bool ui_offer_stands(const struct ui_app *app);
/* Something else was done: the line is gone, `session` still opens it. */
void ui_offer_withdraw(struct ui_app *app);
void ui_offer_close(struct ui_app *app); /* waits for the thread */

#endif
