/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command that runs.
 */
#ifndef ODB_UI_APP_RUNNING_H
#define ODB_UI_APP_RUNNING_H

struct ui_app;
struct ui_running;
struct ui_start;

/* Gives a command line: struct ui_app's give. */
void ui_running_give(struct ui_app *app, const char *line);
/* Frees a command that has stopped, and whose result is not wanted any more. */
void ui_running_discard(struct ui_running *running);
/* Runs a line of a key file. */
void ui_running_start(struct ui_app *app, const struct ui_start *start);
/* What a command that ended has to say, and the next one that waits. */
void ui_running_collect(struct ui_app *app);

#endif
