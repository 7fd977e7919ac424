/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/executor_alias.h"
#include "command/call/input_settings.h"
#include "command/call/parse.h"
#include "command/value/call_run.h"
#include "command/call/trust_store.h"
#include "command/console/console_line.h"
#include "command/console/script.h"
#include "command/table/command.h"
#include "command/table/help.h"
#include "command/table/quoting.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "report/report.h"
#include "session/files/stored.h"
#include "session/session_state.h"

/* A spec of a file that the user did not give himself, and that is not followed for the file's sake
 * alone, is reported and left out. */
static bool debug_follows(struct odb_command_call *call, struct odb_report *report,
                          enum odb_option_id id, const char *value)
{
    if (odb_call__check_setting(NULL, odb_option_row(id), value, NULL) != ODB_OK)
        return false; /* it is no spec: the other model of --against */
    if (odb_trust_follows(id, value))
        return true;
    if (odb_call_option(call, id))
        return false;
    char *text = odb_call__untrusted(id, value);
    if (report)
        odb_report_warn(report, "%s", text);
    odb_call__warn(call, text);
    free(text);
    return false;
}

/* What a file says that a search was made with. Owned. */
struct debug_made {
    char *reference, *target, *tolerance, *expect;
};

/* Of the search that is shown, else of one that did not end. */
static struct debug_made debug_made(const struct odb_session *session, bool *unended)
{
    const struct odb_report *report = session->report;
    struct debug_made made = {0};
    struct odb_stored stored;
    *unended = false;
    if (report)
        return (struct debug_made){odb_xstrdup(report->reference), odb_xstrdup(report->target),
                                   odb_xstrdup(report->tolerance),
                                   report->expect ? odb_xstrdup(report->expect) : NULL};
    if (!session->store)
        return made;
    if (odb_stored_read(&stored, odb_store_path(session->store), NULL) == ODB_OK &&
        stored.searches && stored.reference && stored.target && stored.tolerance) {
        *unended = true;
        made = (struct debug_made){stored.reference, stored.target, stored.tolerance, NULL};
        stored.reference = stored.target = stored.tolerance = NULL;
    }
    odb_stored_dispose(&stored);
    return made;
}

/* A stored search is shown again, with what it was made with; one that did not end can be gone on
 * with. */
static enum odb_status debug_restore(struct odb_command_call *call, struct odb_console *console,
                                     struct odb_error *err)
{
    odb_trust_drop_pins(call, console->session);
    ODB_TRY(odb_console_input_settings_restore(console, call, err));
    struct debug_made made = debug_made(console->session, &console->unended);
    const struct {
        enum odb_option_id id;
        char *value;
    } stored[] = {{ODB_OPTION_REFERENCE, made.reference},
                  {ODB_OPTION_TARGET, made.target},
                  {ODB_OPTION_TOL, made.tolerance},
                  {ODB_OPTION_EXPECT, made.expect}};
    for (size_t i = 0; i < ODB_COUNT(stored); i++) {
        if (stored[i].value &&
            debug_follows(call, console->session->report, stored[i].id, stored[i].value))
            odb_push(&console->settings,
                     (struct odb_setting){stored[i].id, odb_xstrdup(stored[i].value)});
        free(stored[i].value);
    }
    return ODB_OK;
}

static enum odb_status debug_check(const struct odb_command_call *call, struct odb_error *err)
{
    for (size_t i = 0; i < call->options.n; i++) {
        enum odb_option_id id = call->options.items[i].id;
        if (odb_option_row(id)->setting)
            ODB_TRY(odb_call__check_setting(NULL, odb_option_row(id), call->options.items[i].value,
                                            err));
    }
    return ODB_OK;
}

/* One line of those that wait. What it finds counts for the exit status. */
static enum odb_status debug_give(struct odb_command_call *debug, struct odb_console *console,
                                  const char *line, const char *from, struct odb_error *err)
{
    struct odb_command_call call;
    char **argv = NULL;
    enum odb_status status = odb_console_parse(console, line, &argv, &call, false, err);
    call.out = debug->out;
    call.log = debug->log;
    call.width = debug->width;
    call.progress = debug->progress;
    if (status == ODB_OK && odb_call_has(&call, ODB_OPTION_HELP)) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_help_command(call.command, &text);
        odb_call__print(&call, &text);
    } else if (status == ODB_OK) {
        status = odb_call_run(&call, err);
    }
    if (!debug->write_error)
        debug->write_error = call.write_error;
    debug->found |= call.found;
    odb_call_dispose(&call);
    free(argv);
    fflush(debug->out);
    if (status != ODB_OK && from)
        odb_error_at(err, "%s", from);
    return status;
}

static enum odb_status debug_batch(struct odb_command_call *call, struct odb_console *console,
                                   struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    char *line, *from;
    while (status == ODB_OK && (line = odb_console_next(console, &from))) {
        status = debug_give(call, console, line, from, err);
        free(line);
        free(from);
    }
    return status;
}

/* The screen, and once more with each session that is opened there. */
static enum odb_status debug_screens(struct odb_command_call *call, struct odb_console *console,
                                     struct odb_error *err)
{
    enum odb_status status = call->open_screen(console, err);
    while (status == ODB_OK && console->next) {
        struct odb_session *next = console->next;
        bool linear = console->linear, saves = console->saves;
        console->next = NULL;
        odb_console_dispose(console);
        odb_console_init(console, next);
        console->linear = linear;
        console->saves = saves;
        ODB_TRY(debug_restore(call, console, err));
        status = call->open_screen(console, err);
    }
    return status;
}

/* The other model is searched first. */
static void debug_push_against(const struct odb_command_call *call, struct odb_console *console)
{
    const char *model = odb_call_option(call, ODB_OPTION_AGAINST);
    struct odb_buf line = ODB_BUF_INIT;
    if (!model)
        return;
    odb_buf_puts(&line, "bisect --against ");
    odb_words_quote(&line, model);
    odb_console_push(console, odb_buf_text(&line));
    odb_buf_dispose(&line);
}

enum odb_status odb_command__debug(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_console console;
    size_t n;
    bool batch = odb_call_has(call, ODB_OPTION_BATCH);
    if (!call->open_screen && !batch) {
        odb_fail(err, ODB_E_USAGE, "this program has no screen");
        return odb_error_remedy(err, "use `onnxdbg bisect`");
    }
    ODB_TRY(debug_check(call, err));
    odb_console_init(&console, call->session);
    call->session = NULL;
    enum odb_status status = debug_restore(call, &console, err);
    odb_console_adopt(&console, call);
    console.linear = odb_call_has(call, ODB_OPTION_LINEAR);
    console.saves = !batch && (!console.linear || isatty(STDIN_FILENO)); /* else it is a script */
    debug_push_against(call, &console);
    const char **commands = odb_call_list(call, ODB_OPTION_EXECUTE, &n);
    for (size_t i = 0; i < n; i++)
        odb_console_push(&console, commands[i]);
    if (status == ODB_OK)
        status = batch ? debug_batch(call, &console, err) : debug_screens(call, &console, err);
    free((void *)commands);
    odb_console_dispose(&console);
    return status;
}
