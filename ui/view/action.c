/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What actions have in common.
 */
#include "ui/view/action.h"

#include "base/buf.h"
#include "command/call/call.h"

char *ui_action_words(const struct odb_command_call *call)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t i = 0; i < call->n_args; i++)
        odb_buf_printf(&text, "%s%s", i ? " " : "", call->args[i]);
    return text.len ? odb_buf_take(&text) : odb_xstrdup("");
}
