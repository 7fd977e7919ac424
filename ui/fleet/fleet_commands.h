/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which commands and keys are of use where a fleet is shown: most are about one model.
 */
#ifndef ODB_UI_FLEET_FLEET_COMMANDS_H
#define ODB_UI_FLEET_FLEET_COMMANDS_H

#include <stdbool.h>

struct odb_command;
struct ui_keymap;

/* An app's takes. */
bool ui_fleet_takes(const struct odb_command *command);
/* Takes out the keys whose commands are of no use. */
void ui_fleet_trim_keys(struct ui_keymap *keymap);

#endif
