/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/call.h"

enum odb_status odb_command__continue(struct odb_command_call *call, struct odb_error *err)
{
    return odb_call__walk(call, 0, false, err);
}
