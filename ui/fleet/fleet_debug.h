/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model of a fleet in a debugger of its own, on the same terminal.
 */
#ifndef ODB_UI_FLEET_FLEET_DEBUG_H
#define ODB_UI_FLEET_FLEET_DEBUG_H

#include <stdbool.h>

#include "fleet/fleet.h"

struct ui_app;

/* Opens the model with its session, and returns when the user has left it; searches: it is searched
 * at once. What was found goes into the file of the fleet, where it is about the same target, and
 * is said. A target or input that the file names is followed as one of a session is
 * (trust_store.h). Failures are those of the debugger, in its words. */
enum odb_status ui_fleet_debug(struct ui_app *app, const struct odb_fleet *fleet,
                               const struct odb_fleet_model *model, bool searches,
                               struct odb_error *err) ODB_MUST_USE;
/* The small model of a cause, in this folder. */
enum odb_status ui_fleet_debug_repro(struct ui_app *app, const struct odb_fleet *fleet,
                                     const char *folder, struct odb_error *err) ODB_MUST_USE;

#endif
