/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a call has: its arguments, its options, and behind them the settings of its console.
 */
#include "command/call/call.h"

#include <stdlib.h>

#include "base/mem.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "session/session.h"

void odb_call_dispose(struct odb_command_call *call)
{
    if (!call->console)
        odb_session_close(call->session);
    for (size_t i = 0; i < call->texts.n; i++)
        free(call->texts.items[i]);
    free(call->texts.items);
    free(call->chosen);
    free(call->displays);
    free(call->args);
    free(call->options.items);
    *call = (struct odb_command_call){0};
}

void odb_call__take_option(struct odb_command_call *call, enum odb_option_id id, const char *text)
{
    odb_push(&call->texts, odb_xstrdup(text));
    odb_push(&call->options, (struct odb_call_option){id, call->texts.items[call->texts.n - 1]});
}

bool odb_call_has(const struct odb_command_call *call, enum odb_option_id id)
{
    return odb_call_option(call, id) != NULL;
}

const char *odb_call_option(const struct odb_command_call *call, enum odb_option_id id)
{
    const char *value = NULL;
    for (size_t i = 0; i < call->options.n; i++)
        if (call->options.items[i].id == id)
            value = call->options.items[i].value;
    if (!value && call->console && odb_command_knows(call->command, (int)id))
        value = odb_console_get(call->console, id);
    return value;
}

bool odb_call__replaces(const struct odb_command_call *call, const struct odb_setting *setting)
{
    bool replaced = false;
    for (size_t i = 0; i < call->options.n && !replaced; i++)
        replaced = call->options.items[i].id == setting->id &&
                   odb_console_replaces(setting->id, setting->value, call->options.items[i].value);
    return replaced;
}

bool odb_call__took(const struct odb_command_call *call, const struct odb_call_option *option)
{
    for (size_t i = 0; i < call->texts.n; i++)
        if (call->texts.items[i] == option->value)
            return true;
    return false;
}

const char **odb_call_list(const struct odb_command_call *call, enum odb_option_id id, size_t *n)
{
    bool kept = call->console && odb_option_row(id)->setting;
    bool given = !kept || call->command->flags & ODB_COMMAND_ASIDE; /* else it is a setting now */
    size_t settings = kept ? call->console->settings.n : 0;
    const char **list = odb_new_n(const char *, call->options.n + settings + 1);
    *n = 0;
    for (size_t i = 0; i < settings; i++) {
        const struct odb_setting *setting = &call->console->settings.items[i];
        if (setting->id == id && !(given && odb_call__replaces(call, setting)))
            list[(*n)++] = setting->value;
    }
    for (size_t i = 0; i < call->options.n; i++)
        if (call->options.items[i].id == id &&
            (given || odb_call__took(call, &call->options.items[i])))
            list[(*n)++] = call->options.items[i].value;
    return list;
}

uint64_t odb_call_size(const struct odb_command_call *call, enum odb_option_id id)
{
    const char *value = odb_call_option(call, id);
    size_t size = 0;
    return value && odb_spec_read_size(value, &size) ? size : 0;
}

int64_t odb_call_int(const struct odb_command_call *call, enum odb_option_id id, int64_t fallback)
{
    const char *value = odb_call_option(call, id);
    return value ? strtoll(value, NULL, 10) : fallback;
}

const char *odb_call_arg(const struct odb_command_call *call, size_t i)
{
    return i < call->n_args ? call->args[i] : NULL;
}
