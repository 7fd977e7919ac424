/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call.h"

/* A stored search is shown again, with what it was made with. */
static void debug_restore(struct odb_console *console)
{
    const struct odb_report *report = console->session->report;
    if (!report)
        return;
    const struct {
        enum odb_option_id id;
        const char *value;
    } stored[] = {{ODB_OPTION_REFERENCE, report->reference},
                  {ODB_OPTION_TARGET, report->target},
                  {ODB_OPTION_TOL, report->tolerance},
                  {ODB_OPTION_EXPECT, report->expect}};
    for (size_t i = 0; i < ODB_COUNT(stored); i++)
        if (stored[i].value)
            odb_push(&console->settings,
                     (struct odb_setting){stored[i].id, odb_xstrdup(stored[i].value)});
}

static enum odb_status debug_check(const struct odb_command_call *call, struct odb_error *err)
{
    for (size_t i = 0; i < call->options.n; i++) {
        enum odb_option_id id = call->options.items[i].id;
        if (ODB_SETTINGS >> id & 1)
            ODB_TRY(odb_call__check_setting(odb_option_row(id), call->options.items[i].value, err));
    }
    return ODB_OK;
}

enum odb_status odb_command__debug(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_console console;
    size_t n;
    if (!call->open_screen) {
        odb_fail(err, ODB_E_USAGE, "this program has no screen");
        return odb_error_remedy(err, "use `onnxdbg bisect`");
    }
    ODB_TRY(debug_check(call, err));
    odb_console_init(&console, call->session);
    call->session = NULL;
    debug_restore(&console);
    odb_console_adopt(&console, call);
    console.linear = odb_call_has(call, ODB_OPTION_LINEAR);
    const char **commands = odb_call_list(call, ODB_OPTION_EXECUTE, &n);
    enum odb_status status = call->open_screen(&console, commands, n, err);
    free((void *)commands);
    odb_console_dispose(&console);
    return status;
}
