/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fleet on a screen. The run is a process of its own, which fills the file that is shown.
 */
#ifndef ODB_COMMAND_VERBS_SEARCH_FLEET_SCREEN_H
#define ODB_COMMAND_VERBS_SEARCH_FLEET_SCREEN_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;

/* Shows the file at path until the user leaves; runs: begins the run that the call asks for, and
 * ends it where it has not ended by then. ODB_E_USAGE: there is no screen, or the run says so. */
enum odb_status odb_fleet_screen(struct odb_command_call *call, const char *path, bool runs,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
