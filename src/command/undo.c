/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Taking back what commands changed of settings, breakpoints, displays, pins, marks and notes: how
 * they were is kept whenever a command finds them changed, so no command has to say what it does.
 */
#include <stdlib.h>
#include <string.h>

#include "command/call.h"
#include "command/script.h"

#define UNDO_MOST 100

static char *undo_settings(const struct odb_console *console)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        for (size_t i = 0; i < console->settings.n; i++)
            if ((int)console->settings.items[i].id == id)
                odb_buf_printf(&out, "%d %s\n", id, console->settings.items[i].value);
    return out.len ? odb_buf_take(&out) : odb_xstrdup("");
}

static void undo_forget(struct odb_before *before)
{
    free(before->settings);
    odb_kept_list_dispose(&before->kept);
}

void odb_undo_dispose(struct odb_console *console)
{
    for (size_t i = 0; i < console->before.n; i++)
        undo_forget(&console->before.items[i]);
    free(console->before.items);
}

/* Whether things are as they were kept last. */
static bool undo_same(const struct odb_console *console, const char *settings)
{
    const struct odb_before *last = &console->before.items[console->before.n - 1];
    const struct odb_session *session = console->session;
    odb_session_lock(session);
    bool same =
        !strcmp(last->settings, settings) && odb_kept_list_same(&last->kept, &session->kept);
    odb_session_unlock(session);
    return same;
}

void odb_undo_remember(struct odb_console *console)
{
    struct odb_before now = {.settings = undo_settings(console)};
    const struct odb_session *session = console->session;
    if (console->before.n && undo_same(console, now.settings)) {
        free(now.settings);
        return;
    }
    odb_session_lock(session);
    odb_kept_list_copy(&now.kept, &session->kept, session->model->graph);
    odb_session_unlock(session);
    if (console->before.n == UNDO_MOST) {
        undo_forget(&console->before.items[0]);
        console->before.n--;
        memmove(console->before.items, console->before.items + 1, console->before.n * sizeof now);
    }
    odb_push(&console->before, now);
}

/* --- back ------------------------------------------------------------------------------------- */

/* The values of an option among lines "ID VALUE", with their ends; owned by the caller. */
static char *undo_values(const char *settings, int id)
{
    struct odb_buf out = ODB_BUF_INIT;
    while (*settings) {
        char *value;
        size_t n = strcspn(settings, "\n") + 1;
        if ((int)strtol(settings, &value, 10) == id)
            odb_buf_add(&out, value + 1, n - (size_t)(value + 1 - settings));
        settings += n;
    }
    return out.len ? odb_buf_take(&out) : odb_xstrdup("");
}

/* Sets an option as it was. Another tolerance is moved by its command, which judges anew. */
static void undo_set(struct odb_console *console, enum odb_option_id id, char *values)
{
    const char *tolerance = "noise:10";
    values[strlen(values) ? strlen(values) - 1 : 0] = '\0';
    if (id == ODB_OPTION_TOL && console->session->trace) {
        char *line = odb_xasprintf("tol %s", *values ? values : tolerance);
        odb_console_push(console, line);
        free(line);
    }
    odb_console_set(console, id, NULL);
    for (char *value = strtok_r(values, "\n", &values); value;
         value = strtok_r(NULL, "\n", &values))
        odb_console_set(console, id, value);
}

static void undo_restore(struct odb_console *console, const char *settings, struct odb_buf *out)
{
    char *now = undo_settings(console);
    for (int id = 0; id < ODB_OPTION_COUNT; id++) {
        char *was = undo_values(settings, id), *is = undo_values(now, id);
        if (strcmp(was, is) != 0) {
            size_t n = strlen(was);
            odb_buf_printf(out, "%s is %.*s again\n", odb_option_row((enum odb_option_id)id)->name,
                           n ? (int)strcspn(was, "\n") : 7, n ? was : "not set");
            undo_set(console, (enum odb_option_id)id, was);
        }
        free(was);
        free(is);
    }
    free(now);
}

enum odb_status odb_command__undo(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_console *console = call->console;
    struct odb_buf out = ODB_BUF_INIT;
    char *now = undo_settings(console);
    while (console->before.n && undo_same(console, now))
        undo_forget(&console->before.items[--console->before.n]);
    free(now);
    if (!console->before.n)
        return odb_fail(err, ODB_E_USAGE, "nothing was changed that could be undone");
    struct odb_before before = console->before.items[--console->before.n];
    undo_restore(console, before.settings, &out);
    odb_session_lock(call->session);
    bool kept = !odb_kept_list_same(&before.kept, &call->session->kept);
    odb_session_unlock(call->session);
    enum odb_status status = ODB_OK;
    if (kept) {
        odb_buf_puts(&out, "breakpoints and what else was put down are as they were\n");
        status = odb_session_keep_list_take(call->session, &before.kept, err);
    }
    undo_forget(&before);
    odb_call__print(call, &out);
    return status;
}
