/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which executors a call names.
 */
#include "command/call/call_spec.h"

#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/error.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/executor_alias.h"
#include "command/table/command.h"
#include "command/table/default_target.h"
#include "executor/executor.h"

struct call_names {
    const char *key;
    bool found;
};

static bool call_names_visit(const struct odb_spec *spec, void *payload)
{
    struct call_names *names = payload;
    names->found = odb_spec_option(spec, names->key) != NULL;
    return !names->found;
}

/* Whether a spec has the option itself, behind a transport too. */
static bool call_names(const char *spec, const char *key)
{
    struct call_names names = {key, false};
    return odb_spec_walk(spec, call_names_visit, &names, NULL) == ODB_OK && names.found;
}

/* What an option says, or the console where the command has no such option. */
static const char *call_setting(const struct odb_command_call *call, enum odb_option_id id)
{
    const char *value = odb_call_option(call, id);
    return value || !call->console ? value : odb_console_get(call->console, id);
}

/* The spec with what an option says, where it is a recording's that does not say it itself. */
static const char *call_recorded(struct odb_command_call *call, const char *spec,
                                 enum odb_option_id id, const char *key)
{
    const char *value = call_setting(call, id);
    struct odb_buf text = ODB_BUF_INIT;
    if (!spec || !value || !odb_executor_recorded(spec) || call_names(spec, key))
        return spec;
    odb_buf_printf(&text, "%s,%s=", spec, key);
    odb_spec_put_word(&text, value);
    odb_push(&call->texts, odb_buf_take(&text));
    return call->texts.items[call->texts.n - 1];
}

const char *odb_call__typed(struct odb_command_call *call, const char *spec)
{
    const char *types = call_setting(call, ODB_OPTION_TYPES);
    if (!spec || !types || call_names(spec, "types"))
        return spec;
    odb_push(&call->texts, odb_xasprintf("%s,types=%s", spec, types));
    return call->texts.items[call->texts.n - 1];
}

const char *odb_call__spec(struct odb_command_call *call, enum odb_option_id id)
{
    const char *spec = call_setting(call, id);
    char *named = spec ? odb_executor_named(call->console, spec) : NULL;
    if (named)
        odb_push(&call->texts, named);
    spec = call_recorded(call, named ? named : spec, ODB_OPTION_MAP, "map");
    spec = call_recorded(call, spec, ODB_OPTION_LAYOUT, "layouts");
    return id == ODB_OPTION_TARGET ? odb_call__typed(call, spec) : spec;
}

size_t odb_call__recordings(struct odb_command_call *call, const char **list)
{
    static const enum odb_option_id sides[ODB_CALL_RECORDINGS] = {
        ODB_OPTION_TARGET, ODB_OPTION_REFERENCE, ODB_OPTION_GOLDEN};
    size_t n = 0;
    for (size_t i = 0; i < ODB_COUNT(sides); i++)
        if ((list[n] = odb_call__spec(call, sides[i])))
            n++;
    return n;
}

const char *odb_call__target(struct odb_command_call *call)
{
    const char *spec = odb_call__spec(call, ODB_OPTION_TARGET);
    return spec ? spec : odb_call__typed(call, odb_default_target());
}

const char *odb_call__runner(struct odb_command_call *call)
{
    const char *target = odb_call__spec(call, ODB_OPTION_TARGET);
    const char *reference = odb_call__spec(call, ODB_OPTION_REFERENCE);
    return target ? target : reference ? reference : "cpu";
}
