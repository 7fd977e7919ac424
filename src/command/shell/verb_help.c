/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything that explains: written once in the table, laid out here.
 */
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command_find.h"
#include "command/table/help.h"
#include "command/table/verbs.h"
#include "compare/criterion.h"

static void help_tolerance(struct odb_buf *out)
{
    const char *help;
    odb_buf_puts(out, "tolerances, for --tol:\n");
    for (size_t i = 0; odb_criterion_usage(i, &help); i++)
        odb_help_row(out, odb_criterion_usage(i, &help), 30, help);
}

enum odb_status odb_command__help(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    const struct odb_command *command;
    const char *topic = odb_call_arg(call, 0);
    enum odb_status status = ODB_OK;
    bool prompt = call->console != NULL;
    if (!topic || !strcmp(topic, "screen"))
        odb_help_overview(prompt || topic, &out);
    else if (!strcmp(topic, "tolerance"))
        help_tolerance(&out);
    else if (odb_command_find(&command, topic, !prompt, NULL) == ODB_OK ||
             (status = odb_command_find(&command, topic, prompt, err)) == ODB_OK)
        odb_help_command(command, &out);
    odb_call__print(call, &out);
    return status;
}
