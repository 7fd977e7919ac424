/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a model was fed with, kept in the session file: a user that opens it again, from any
 * folder, need not remember dimensions, seeds and files. Paths are whole there. Each search has its
 * own, so that what it found is never shown with what another one was fed.
 */
#include "command/call/input_settings.h"

#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/trust_store.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "inputs/input_file.h"
#include "session/session_state.h"
#include "session/store.h"

static const struct setting_id {
    enum odb_option_id id;
    bool many; /* it may be given more than once */
} setting_ids[] = {
    {ODB_OPTION_INPUT, true},  {ODB_OPTION_INPUTS_FROM, false}, {ODB_OPTION_DIM, true},
    {ODB_OPTION_SEED, false},  {ODB_OPTION_INPUTS, false},      {ODB_OPTION_SEQUENCE, false},
    {ODB_OPTION_STEPS, false}, {ODB_OPTION_PREFILL, false},     {ODB_OPTION_CHUNKS, false},
    {ODB_OPTION_CARRY, true},  {ODB_OPTION_START, true},        {ODB_OPTION_HOLD, true},
    {ODB_OPTION_FEED, true},   {ODB_OPTION_NEXT, true},         {ODB_OPTION_AT_STEP, false},
    {ODB_OPTION_STOP, false},  {ODB_OPTION_FREE, false}};

/* What was chosen of them, in a line; there is none where the user gave all. */
#define SETTING_CHOSEN "chosen"

/* The text with the paths in it whole, where there are such files: of an input, behind one of the
 * `=` and `:`, which its name may hold as well. The caller's. */
static char *setting_whole(enum odb_option_id id, const char *value)
{
    bool path = id == ODB_OPTION_INPUTS_FROM || id == ODB_OPTION_SEQUENCE;
    char *whole = path ? realpath(value, NULL) : NULL;
    const char *p = value;
    while (id == ODB_OPTION_INPUT && !whole && (p = strpbrk(p, "=:")))
        whole = odb_input_whole(++p);
    if (p == value || !whole)
        return whole ? whole : odb_xstrdup(value);
    char *out = odb_xasprintf("%.*s%s", (int)(p - value), value, whole);
    free(whole);
    return out;
}

enum odb_status odb_call__input_settings_keep(const struct odb_command_call *call, bool search,
                                              struct odb_error *err)
{
    struct odb_store_settings settings = {0};
    bool one = !odb_call_has(call, ODB_OPTION_SAMPLES); /* else no option says which it was */
    if (!call->session->store)
        return ODB_OK;
    for (size_t i = 0; i < ODB_COUNT(setting_ids) && one; i++) {
        size_t n;
        enum odb_option_id id = setting_ids[i].id;
        const char **list = odb_call_list(call, id, &n);
        for (size_t k = !setting_ids[i].many && n ? n - 1 : 0; k < n; k++) {
            char *whole = setting_whole(id, list[k]);
            odb_trust_keep(id, whole);
            odb_push(&settings.list,
                     (struct odb_store_setting){odb_xstrdup(odb_option_row(id)->name), whole});
        }
        free((void *)list);
    }
    if (one && call->chosen && *call->chosen)
        odb_push(&settings.list, (struct odb_store_setting){odb_xstrdup(SETTING_CHOSEN),
                                                            odb_xstrdup(call->chosen)});
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = odb_store_put_settings(call->session->store, search, &settings, &why);
    odb_store_settings_dispose(&settings);
    status = odb_session__wrote(call->session, status, &why);
    if (status != ODB_OK && err)
        *err = why;
    return status;
}

/* Which option a stored setting is; false: none that this program knows. */
static bool setting_option(enum odb_option_id *id, const struct odb_store_setting *stored)
{
    for (size_t i = 0; i < ODB_COUNT(setting_ids); i++) {
        *id = setting_ids[i].id;
        if (!strcmp(stored->name, odb_option_row(*id)->name))
            return true;
    }
    return false;
}

enum odb_status odb_console_input_settings_restore(struct odb_console *console,
                                                   struct odb_command_call *call,
                                                   struct odb_error *err)
{
    struct odb_store_settings settings;
    struct odb_setting setting;
    if (!console->session->store)
        return ODB_OK;
    ODB_TRY(odb_store_read_settings(console->session->store, &settings, err));
    for (size_t i = 0; i < settings.list.n; i++) {
        const char *value = settings.list.items[i].value;
        if (!setting_option(&setting.id, &settings.list.items[i]))
            continue;
        if (odb_trust_follows(setting.id, value)) {
            setting.value = odb_xstrdup(value);
            odb_push(&console->settings, setting);
            continue;
        }
        char *text = odb_call__untrusted(setting.id, value);
        odb_call__warn(call, text);
        free(text);
    }
    odb_store_settings_dispose(&settings);
    return ODB_OK;
}

/* Of a console it is said that something is not followed, when it is begun. */
static enum odb_status setting_take(struct odb_command_call *call,
                                    const struct odb_setting *setting, struct odb_error *err)
{
    if (!odb_trust_follows(setting->id, setting->value))
        return call->command->flags & ODB_COMMAND_BEGINS
                   ? ODB_OK
                   : odb_call__refuse_untrusted(setting->id, setting->value, err);
    odb_call__take_option(call, setting->id, setting->value);
    return ODB_OK;
}

enum odb_status odb_call__input_settings_restore(struct odb_command_call *call,
                                                 struct odb_error *err)
{
    struct odb_store_settings settings;
    struct odb_setting setting;
    enum odb_status status = ODB_OK;
    if (!call->session->store)
        return ODB_OK;
    ODB_TRY(odb_store_read_settings(call->session->store, &settings, err));
    for (size_t i = 0; i < settings.list.n && status == ODB_OK; i++) {
        setting.value = settings.list.items[i].value;
        if (setting_option(&setting.id, &settings.list.items[i]) &&
            odb_command_takes(call->command, setting.id) && !odb_call__replaces(call, &setting))
            status = setting_take(call, &setting, err);
    }
    odb_store_settings_dispose(&settings);
    return status;
}

enum odb_status odb_call__input_settings_chosen(struct odb_command_call *call,
                                                struct odb_error *err)
{
    struct odb_store_settings settings;
    enum odb_option_id id;
    const char *chosen = NULL;
    bool follows = true;
    if (!call->session->store)
        return ODB_OK;
    ODB_TRY(odb_store_read_settings(call->session->store, &settings, err));
    for (size_t i = 0; i < settings.list.n; i++) {
        const struct odb_store_setting *one = &settings.list.items[i];
        if (!strcmp(one->name, SETTING_CHOSEN))
            chosen = one->value;
        else if (setting_option(&id, one))
            follows &= id != ODB_OPTION_SEED && odb_trust_follows(id, one->value);
    }
    for (size_t i = 0; i < settings.list.n && chosen && follows; i++)
        if (setting_option(&id, &settings.list.items[i]))
            odb_call__take_option(call, id, settings.list.items[i].value);
    if (chosen && follows)
        call->chosen = odb_xstrdup(chosen);
    odb_store_settings_dispose(&settings);
    return ODB_OK;
}
