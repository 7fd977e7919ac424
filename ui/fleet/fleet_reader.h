/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file of a fleet, read in a thread of its own whenever it has changed, so that a fleet of a
 * thousand models holds up no key while a run fills it.
 */
#ifndef ODB_UI_FLEET_FLEET_READER_H
#define ODB_UI_FLEET_FLEET_READER_H

#include "fleet/causes.h"
#include "fleet/fleet.h"

struct ui_app;
struct ui_fleet_reader;

/* What the file had when it was read. */
struct ui_fleet_known {
    struct odb_fleet fleet;
    struct odb_causes causes;
    enum odb_status status; /* of reading it; where that failed both are empty */
    struct odb_error err;
};
void ui_fleet_known_free(struct ui_fleet_known *known); /* NULL is fine */

/* Owned by the caller. */
struct ui_fleet_reader *ui_fleet_reader_new(struct ui_app *app, const char *path);
void ui_fleet_reader_free(struct ui_fleet_reader *reader); /* NULL is fine */
/* Begins to read where the file has changed, or anyway; for each frame. What takes long is done
 * less often. */
void ui_fleet_reader_look(struct ui_fleet_reader *reader, bool anyway);
/* Reads in this thread, once, so that keys that were typed ahead find rows. The caller's. */
struct ui_fleet_known *ui_fleet_reader_now(struct ui_fleet_reader *reader);
/* What was read since the last time: the caller's; NULL: nothing was. */
struct ui_fleet_known *ui_fleet_reader_take(struct ui_fleet_reader *reader);
/* Takes back what is not needed any more, and frees it behind the screen: that takes as long as
 * reading. Until the next reading. NULL is fine. */
void ui_fleet_reader_drop(struct ui_fleet_reader *reader, struct ui_fleet_known *known);
/* Whether some process fills the file, as of the last look. */
bool ui_fleet_reader_runs(const struct ui_fleet_reader *reader);

#endif
