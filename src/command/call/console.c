/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A console keeps what was said: an option given at the prompt stays until it is given again, so
 * that what the screen shows always belongs to the settings in its title.
 */
#include "command/call/console.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/table/command.h"
#include "command/table/default_target.h"
#include "command/table/table.h"
#include "executor/executor.h"
#include "session/annotations.h"
#include "session/session.h"

void odb_console_init(struct odb_console *console, struct odb_session *session)
{
    *console = (struct odb_console){.session = session, .target = odb_default_target()};
}

void odb_pending_dispose(struct odb_pending *pending)
{
    free(pending->line);
    free(pending->from);
}

static void console_dispose_lines(struct odb_console *console)
{
    for (size_t i = 0; i < console->pending.n; i++)
        odb_pending_dispose(&console->pending.items[i]);
    for (size_t i = 0; i < console->history.n; i++)
        free(console->history.items[i]);
    for (size_t i = 0; i < console->aliases.n; i++) {
        free(console->aliases.items[i].name);
        free(console->aliases.items[i].line);
    }
    free(console->pending.items);
    free(console->history.items);
    free(console->aliases.items);
    free(console->again);
}

void odb_before_dispose(struct odb_before *before)
{
    free(before->settings);
    odb_annotation_list_dispose(&before->annotations);
    *before = (struct odb_before){0};
}

static void console_dispose_undo(struct odb_console *console)
{
    struct odb_undo *undo = &console->undo;
    for (size_t i = 0; i < undo->before.n; i++)
        odb_before_dispose(&undo->before.items[i]);
    for (size_t i = 0; i < undo->after.n; i++)
        odb_before_dispose(&undo->after.items[i]);
    odb_before_dispose(&undo->last);
    free(undo->before.items);
    free(undo->after.items);
}

void odb_console_dispose(struct odb_console *console)
{
    odb_session_close(console->session);
    odb_session_close(console->next);
    for (size_t i = 0; i < console->settings.n; i++)
        free(console->settings.items[i].value);
    free(console->settings.items);
    console_dispose_lines(console);
    console_dispose_undo(console);
    *console = (struct odb_console){0};
}

const char *odb_console_get(const struct odb_console *console, enum odb_option_id id)
{
    for (size_t i = console->settings.n; i > 0; i--)
        if (console->settings.items[i - 1].id == id)
            return console->settings.items[i - 1].value;
    return NULL;
}

bool odb_console_replaces(enum odb_option_id id, const char *now, const char *value)
{
    const char *end = strrchr(value, '=');
    if ((id != ODB_OPTION_INPUT && id != ODB_OPTION_DIM) || !end)
        return true;
    return !strncmp(now, value, (size_t)(end - value) + 1);
}

static void console_remove(struct odb_console *console, enum odb_option_id id, const char *value)
{
    size_t kept = 0;
    for (size_t i = 0; i < console->settings.n; i++) {
        struct odb_setting *setting = &console->settings.items[i];
        if (setting->id == id && (!value || odb_console_replaces(id, setting->value, value)))
            free(setting->value);
        else
            console->settings.items[kept++] = *setting;
    }
    console->settings.n = kept;
}

static bool console_has(const struct odb_console *console, enum odb_option_id id, const char *value)
{
    for (size_t i = 0; i < console->settings.n; i++)
        if (console->settings.items[i].id == id && value &&
            !strcmp(console->settings.items[i].value, value))
            return true;
    return !value && !odb_console_get(console, id);
}

/* A recording brings the inputs that it was made with, and takes them with it. */
static bool console_feeds(enum odb_option_id id, const char *old, const char *value)
{
    return (id == ODB_OPTION_REFERENCE || id == ODB_OPTION_TARGET) &&
           ((old && odb_executor_recorded(old)) || (value && odb_executor_recorded(value)));
}

void odb_console_set(struct odb_console *console, enum odb_option_id id, const char *value)
{
    if (console_has(console, id, value))
        return;
    char *copy = value ? odb_xstrdup(value) : NULL;
    const struct odb_option *row = odb_option_row(id);
    bool feeds =
        row->setting == ODB_SETTING_FEEDS || console_feeds(id, odb_console_get(console, id), value);
    console_remove(console, id, value);
    if (copy)
        odb_push(&console->settings, (struct odb_setting){id, copy});
    if (feeds)
        odb_session_feed_take(console->session, NULL);
    else if (row->setting == ODB_SETTING_VERDICTS)
        odb_session_forget(console->session);
}

void odb_console_adopt(struct odb_console *console, const struct odb_command_call *call)
{
    for (size_t i = 0; i < call->options.n; i++)
        if (odb_option_row(call->options.items[i].id)->setting)
            odb_console_set(console, call->options.items[i].id, call->options.items[i].value);
    const struct odb_arg *args = call->command->args;
    for (size_t i = 0; args && args[i].name; i++)
        if (args[i].type == ODB_ARG_TOLERANCE && odb_call_arg(call, i))
            odb_console_set(console, ODB_OPTION_TOL, odb_call_arg(call, i));
}

const char *odb_console_reference(const struct odb_console *console)
{
    const char *value = odb_console_get(console, ODB_OPTION_REFERENCE);
    return value ? value : "cpu";
}

const char *odb_console_target(const struct odb_console *console)
{
    const char *value = odb_console_get(console, ODB_OPTION_TARGET);
    return value ? value : console->target;
}

const char *odb_console_tolerance(const struct odb_console *console)
{
    const char *value = odb_console_get(console, ODB_OPTION_TOL);
    return value ? value : "noise:10";
}
