/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far a run has come, by what its file has: of plain runs, then of searches, then of small
 * models of the causes.
 */
#ifndef ODB_UI_FLEET_FLEET_PROGRESS_H
#define ODB_UI_FLEET_FLEET_PROGRESS_H

#include "ui/fleet/fleet_reader.h"
#include "ui/terminal/draw.h"

struct ui_fleet_progress {
    int part;           /* of the run */
    size_t done, total; /* of the part */
    size_t from;        /* done when the part was first seen, and when that was */
    double since, last; /* on odb_clock(); last: when one more was done */
};

/* Takes in what is known now. */
void ui_fleet_progress_see(struct ui_fleet_progress *progress, const struct ui_fleet_known *known);
/* Seconds until the part is done, one at least; NAN: nothing of it was seen to be done, or all is.
 */
double ui_fleet_progress_left(const struct ui_fleet_progress *progress, double now);
/* "searches 12 of 40, 95 s left" behind a bar, in one row. */
void ui_fleet_progress_draw(const struct ui_fleet_progress *progress, const struct ui_app *app,
                            const struct ui_area *row);

#endif
