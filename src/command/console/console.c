/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A console keeps what was said: an option given at the prompt stays until it is given again, so
 * that what the screen shows always belongs to the settings in its title.
 */
#include <stdlib.h>
#include <string.h>

#include "command/table/call.h"
#include "command/console/script.h"
#include "command/table/quoting.h"
#include "executor/executor.h"

void odb_console_init(struct odb_console *console, struct odb_session *session)
{
    *console = (struct odb_console){.session = session, .target = odb_call__default_target()};
}

void odb_console_dispose(struct odb_console *console)
{
    odb_session_close(console->session);
    odb_session_close(console->next);
    for (size_t i = 0; i < console->settings.n; i++)
        free(console->settings.items[i].value);
    free(console->settings.items);
    odb_script_dispose(console);
    odb_undo_dispose(console);
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

/* The words of a command that takes what follows its name as it was typed, but for blanks at its
 * end: quotes in a note need not be closed. False: it is none, or is asked for its --help. */
static bool console_take_raw(const char *line, char ***argv, int *argc)
{
    const struct odb_command *command;
    struct odb_buf name = ODB_BUF_INIT;
    const char *rest = line;
    char quote;
    odb_words__next(&rest, &name, &quote);
    rest += strspn(rest, " \t");
    size_t n = strlen(rest);
    while (n && strchr(" \t\n", rest[n - 1]))
        n--;
    bool raw = odb_command_find(&command, odb_buf_text(&name), true, NULL) == ODB_OK &&
               command->flags & ODB_COMMAND_RAW && n && !(n == 6 && !strncmp(rest, "--help", 6));
    if (raw) {
        char **words = odb_xcalloc(1, 3 * sizeof *words + name.len + n + 2);
        words[0] = memcpy(words + 3, odb_buf_text(&name), name.len + 1);
        words[1] = memcpy(words[0] + name.len + 1, rest, n);
        *argv = words;
        *argc = 2;
    }
    odb_buf_dispose(&name);
    return raw;
}

static enum odb_status console_parse(struct odb_console *console, const char *line, char ***argv,
                                     struct odb_command_call *out, bool busy, struct odb_error *err)
{
    const struct odb_command *command;
    int argc;
    if (!console_take_raw(line, argv, &argc))
        ODB_TRY(odb_words_split(argv, &argc, line, err));
    if (!argc)
        return odb_fail(err, ODB_E_USAGE, "no command is given");
    ODB_TRY(odb_command_find(&command, (*argv)[0], true, err));
    if (busy && !(command->flags & ODB_COMMAND_ANYTIME)) {
        odb_fail(err, ODB_E_USAGE, "%s has to wait until the command that runs has ended",
                 command->name);
        return odb_error_remedy(err, "Esc stops it");
    }
    if (!command->screen)
        odb_script_given(console, line, command);
    if (!command->screen)
        odb_undo_remember(console);
    return odb_call_parse(out, command, console, argc - 1, *argv + 1, err);
}

enum odb_status odb_console_parse(struct odb_console *console, const char *line, char ***argv,
                                  struct odb_command_call *out, bool busy, struct odb_error *err)
{
    char *whole = odb_script_expand(console, line);
    *out = (struct odb_command_call){0};
    console->busy = busy;
    enum odb_status status = console_parse(console, whole, argv, out, busy, err);
    free(whole);
    return status;
}
