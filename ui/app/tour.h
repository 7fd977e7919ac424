/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What to do next, while a tour goes on.
 */
#ifndef ODB_UI_APP_TOUR_H
#define ODB_UI_APP_TOUR_H

#include "ui/view/action.h"

struct odb_buf;
struct ui_app;

UI_ACTION(tour);
/* What to do next, while a tour goes on. */
void ui_tour_text(const struct ui_app *app, struct odb_buf *out);
/* A command was done. */
void ui_tour_note(struct ui_app *app, const char *command);

#endif
