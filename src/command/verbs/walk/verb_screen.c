/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What all commands of screen.def have in common.
 */
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "command/verbs/walk/verb_bookmark.h"

enum odb_status odb_command__screen(struct odb_command_call *call, struct odb_error *err)
{
    if (call->command->screen == ODB_SCREEN_BOOKMARK && call->n_args != 1)
        return odb_annotating_bookmark(call, err); /* no screen has to say which node */
    if (call->console && call->console->screen)
        return call->console->screen(call->console->payload, call, err);
    return odb_fail(err, ODB_E_USAGE, "%s needs a screen", call->command->name);
}
