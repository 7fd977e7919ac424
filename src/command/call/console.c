/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A console keeps what was said: an option given at the prompt stays until it is given again, so
 * that what the screen shows always belongs to the settings in its title.
 */
#include "command/call/console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/table/command.h"
#include "command/table/default_target.h"
#include "command/table/table.h"
#include "compare/criterion.h"
#include "executor/executor.h"
#include "run/feeds.h"
#include "session/annotations.h"
#include "session/session.h"
#include "system/file.h"

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

void odb_console__put(struct odb_console *console, enum odb_option_id id, const char *value)
{
    char *copy = value ? odb_xstrdup(value) : NULL;
    console_remove(console, id, value);
    if (copy)
        odb_push(&console->settings, (struct odb_setting){id, copy});
}

/* --- aliases of executors ------------------------------------------------------------------------
 */

/* "alias NAME = SPEC": the spec, where the name is this one. */
static char *named_line(char *line, const char *name)
{
    static const char blanks[] = " \t\n";
    char *rest = NULL, *word = strtok_r(line, blanks, &rest);
    if (!word || strcmp(word, "alias"))
        return NULL;
    word = strtok_r(NULL, blanks, &rest);
    if (!word || strcmp(word, name) || !(word = strtok_r(NULL, blanks, &rest)))
        return NULL;
    if (!strcmp(word, "="))
        word = strtok_r(NULL, blanks, &rest);
    return word ? odb_xstrdup(word) : NULL;
}

static char *named_in_file(const char *name)
{
    char *path = odb_file_home("XDG_CONFIG_HOME", ".config", "onnxdbgrc"), *line = NULL;
    char *found = NULL;
    size_t size = 0;
    FILE *file = NULL;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (path && odb_file_open(&file, path, &ignored) != ODB_OK)
        file = NULL;
    while (file && getline(&line, &size, file) > 0) {
        char *spec = named_line(line, name);
        if (!spec)
            continue;
        free(found); /* the last one counts */
        found = spec;
    }
    if (file)
        fclose(file);
    free(line);
    free(path);
    return found;
}

char *odb_executor_named(const struct odb_console *console, const char *word)
{
    if (strpbrk(word, ":,@") || odb_executor_find(word))
        return NULL;
    for (size_t i = 0; console && i < console->aliases.n; i++)
        if (!strcmp(console->aliases.items[i].name, word))
            return odb_xstrdup(console->aliases.items[i].line);
    return named_in_file(word);
}

/* --- what is found of what
 * ------------------------------------------------------------------------- */

/* Settings that findings are kept by: with the others they are forgotten. */
static bool console_keeps(enum odb_option_id id)
{
    return id == ODB_OPTION_TARGET || id == ODB_OPTION_REFERENCE || id == ODB_OPTION_EXPECT;
}

/* A spec as a search takes it: what an alias stands for. Owned by the caller. */
static char *console_spec(const struct odb_console *console, const char *spec)
{
    char *named = odb_executor_named(console, spec);
    return named ? named : odb_xstrdup(spec);
}

char *odb_console_target_spec(const struct odb_console *console)
{
    char *spec = console_spec(console, odb_console_target(console));
    const char *types = odb_console_get(console, ODB_OPTION_TYPES);
    if (!types || strstr(spec, "types="))
        return spec;
    char *typed = odb_xasprintf("%s,types=%s", spec, types);
    free(spec);
    return typed;
}

/* Whether what is shown is of another target than the one that is set: with --against, a model. */
static bool console_shows_another(const struct odb_console *console)
{
    char *set = odb_console_target_spec(console);
    odb_session_lock(console->session);
    const char *of = odb_session_of(console->session);
    bool another = of && strcmp(of, set) != 0;
    odb_session_unlock(console->session);
    free(set);
    return another;
}

const char *odb_console__tolerance_text(const struct odb_console *console, char *text, size_t size)
{
    struct odb_criterion tolerance;
    if (odb_criterion_parse(&tolerance, odb_console_tolerance(console), NULL) != ODB_OK)
        return odb_console_tolerance(console);
    return odb_criterion_text(&tolerance, text, size);
}

/* What was found of the settings before is put aside, and what was found of those now is shown. */
static void console_turn(struct odb_console *console, bool feeds)
{
    char text[160];
    struct odb_store_search to = {
        .target = odb_console_target_spec(console),
        .reference = console_spec(console, odb_console_reference(console)),
        .expect = (char *)odb_console_get(console, ODB_OPTION_EXPECT),
        .tolerance = (char *)odb_console__tolerance_text(console, text, sizeof text)};
    (void)!odb_session_turn(console->session, &to, feeds, NULL); /* what a file does not give is not
                                                                    shown */
    free(to.target);
    free(to.reference);
}

/* Whether the session has gone on to another step than the one that is set, as a search of a
 * sequence and `continue` do. */
static bool console_stands_elsewhere(const struct odb_console *console, const char *value)
{
    const struct odb_feeds *feeds = odb_session_feeds(console->session);
    return feeds && feeds->step != ODB_NO_STEP && value && feeds->step != strtol(value, NULL, 10);
}

void odb_console_set(struct odb_console *console, enum odb_option_id id, const char *value)
{
    bool shown = !(console_keeps(id) && console_shows_another(console)) &&
                 !(id == ODB_OPTION_AT_STEP && console_stands_elsewhere(console, value));
    if (console_has(console, id, value) && shown)
        return;
    const struct odb_option *row = odb_option_row(id);
    bool recorded = console_feeds(id, odb_console_get(console, id), value);
    odb_console__put(console, id, value);
    if (console_keeps(id))
        console_turn(console, recorded);
    else if (row->setting == ODB_SETTING_FEEDS)
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
    return value ? value : "noise";
}
