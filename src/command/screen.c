/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What all commands of screen.def have in common.
 */
#include "command/call.h"

enum odb_status odb_command__screen(struct odb_command_call *call, struct odb_error *err)
{
    if (call->console && call->console->screen)
        return call->console->screen(call->console->payload, call, err);
    return odb_fail(err, ODB_E_USAGE, "%s needs a screen", call->command->name);
}
