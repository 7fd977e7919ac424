/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Taking back what commands changed of settings, breakpoints, displays, pins, marks and notes: how
 * they were is kept whenever a command finds them changed, so no command has to say what it does.
 * What the screen's list shows, its filter, order and folds, is kept there, with when it changed;
 * whichever of the two is newer is taken back first.
 */
#include "command/console/verb_undo.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/console/script.h"
#include "command/table/command.h"
#include "command/table/command_find.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "session/annotations.h"
#include "session/session_state.h"

#define UNDO_MOST 100

/* --- how things are --------------------------------------------------------------------------- */

#define UNDO_TOLERANCE "noise" /* where none is set; `tol` sets it to judge by it again */

static char *undo_settings(const struct odb_console *console)
{
    struct odb_buf out = ODB_BUF_INIT;
    for (int id = 0; id < ODB_OPTION_COUNT; id++)
        for (size_t i = 0; i < console->settings.n; i++)
            if ((int)console->settings.items[i].id == id &&
                (id != ODB_OPTION_TOL || strcmp(console->settings.items[i].value, UNDO_TOLERANCE)))
                odb_buf_printf(&out, "%d %s\n", id, console->settings.items[i].value);
    return out.len ? odb_buf_take(&out) : odb_xstrdup("");
}

static struct odb_before undo_now(struct odb_console *console)
{
    struct odb_before now = {.settings = undo_settings(console), .when = ++console->undo.changes};
    odb_session_lock(console->session);
    odb_annotation_list_copy(&now.annotations, &console->session->annotations,
                             console->session->model->graph);
    odb_session_unlock(console->session);
    return now;
}

/* Whether things are as they were then. */
static bool undo_same(const struct odb_console *console, const struct odb_before *then)
{
    char *settings = undo_settings(console);
    odb_session_lock(console->session);
    bool same = !strcmp(then->settings, settings) &&
                odb_annotation_list_same(&then->annotations, &console->session->annotations);
    odb_session_unlock(console->session);
    free(settings);
    return same;
}

/* Something has changed since the last undo: what that took back cannot be done again. */
static void undo_part(struct odb_console *console)
{
    struct odb_undo *undo = &console->undo;
    undo->spent = undo->changes;
    while (undo->after.n)
        odb_before_dispose(&undo->after.items[--undo->after.n]);
    odb_before_dispose(&undo->last);
}

static void undo_look(struct odb_console *console)
{
    const struct odb_before *last = &console->undo.last;
    if (last->settings && !undo_same(console, last))
        undo_part(console);
}

unsigned long odb_console_changed(struct odb_console *console)
{
    undo_part(console);
    return ++console->undo.changes;
}

void odb_undo_remember(struct odb_console *console)
{
    struct odb_undo *undo = &console->undo;
    struct odb_before *top = undo->before.n ? &undo->before.items[undo->before.n - 1] : NULL;
    undo_look(console);
    if (top && undo_same(console, top)) {
        top->when = ++undo->changes;
        return;
    }
    if (undo->before.n == UNDO_MOST) {
        odb_before_dispose(&undo->before.items[0]);
        undo->before.n--;
        memmove(undo->before.items, undo->before.items + 1, undo->before.n * sizeof *top);
    }
    odb_push(&undo->before, undo_now(console));
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
    values[strlen(values) ? strlen(values) - 1 : 0] = '\0';
    if (id == ODB_OPTION_TOL && console->session->trace) {
        char *line = odb_xasprintf("tol %s", *values ? values : UNDO_TOLERANCE);
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

/* Makes things what they were. */
static enum odb_status undo_go(struct odb_command_call *call, const struct odb_before *before,
                               struct odb_error *err)
{
    struct odb_session *session = call->session;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_annotation_list list;
    undo_restore(call->console, before->settings, &out);
    odb_session_lock(session);
    bool kept = !odb_annotation_list_same(&before->annotations, &session->annotations);
    odb_session_unlock(session);
    enum odb_status status = ODB_OK;
    if (kept) {
        odb_annotation_list_copy(&list, &before->annotations, session->model->graph);
        status = odb_session_annotations_take(session, &list, err);
    }
    if (kept && status == ODB_OK)
        odb_buf_puts(&out, "breakpoints and what else was put down are as they were\n");
    odb_call__print(call, &out);
    return status;
}

/* The screen's part, which it does as a command of its own. */
static enum odb_status undo_list(struct odb_command_call *call, const char *name,
                                 struct odb_error *err)
{
    struct odb_command_call list = *call;
    struct odb_buf out = ODB_BUF_INIT;
    ODB_TRY(odb_command_find(&list.command, name, true, err));
    ODB_TRY(call->console->screen(call->console->payload, &list, err));
    odb_buf_puts(&out, "the list of nodes is as it was\n");
    odb_call__print(call, &out);
    return ODB_OK;
}

/* What was changed while a command works belongs to that. */
static enum odb_status undo_wait(const struct odb_command_call *call, struct odb_error *err)
{
    if (!call->console->busy)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "%s has to wait until the command that runs has ended",
             call->command->name);
    return odb_error_remedy(err, "Esc stops it; undo-view is for the list alone");
}

enum odb_status odb_command__undo(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_undo *undo = &call->console->undo;
    undo_look(call->console);
    while (undo->before.n && undo_same(call->console, &undo->before.items[undo->before.n - 1]))
        odb_before_dispose(&undo->before.items[--undo->before.n]);
    unsigned long kept = undo->before.n ? undo->before.items[undo->before.n - 1].when : 0;
    enum odb_status status = ODB_OK;
    if (!kept && !undo->list_undo)
        return odb_fail(err, ODB_E_USAGE, "nothing was changed that could be undone");
    if (undo->list_undo > kept) {
        status = undo_list(call, "undo-view", err);
    } else {
        ODB_TRY(undo_wait(call, err));
        struct odb_before now = undo_now(call->console);
        status = undo_go(call, &undo->before.items[undo->before.n - 1], err);
        if (status == ODB_OK) {
            odb_before_dispose(&undo->before.items[--undo->before.n]);
            odb_push(&undo->after, now);
        } else {
            odb_before_dispose(&now);
        }
    }
    odb_before_dispose(&undo->last);
    undo->last = undo_now(call->console);
    return status;
}

enum odb_status odb_command__redo(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_undo *undo = &call->console->undo;
    undo_look(call->console);
    unsigned long kept = undo->after.n ? undo->after.items[undo->after.n - 1].when : 0;
    unsigned long list = undo->list_redo > undo->spent ? undo->list_redo : 0;
    enum odb_status status = ODB_OK;
    if (!kept && !list)
        return odb_fail(err, ODB_E_USAGE, "nothing was undone that could be done again");
    if (list > kept) {
        status = undo_list(call, "redo-view", err);
    } else {
        ODB_TRY(undo_wait(call, err));
        status = undo_go(call, &undo->after.items[undo->after.n - 1], err);
        if (status == ODB_OK)
            odb_before_dispose(&undo->after.items[--undo->after.n]);
    }
    odb_before_dispose(&undo->last);
    undo->last = undo_now(call->console);
    return status;
}
