/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/executor_alias.h"
#include "command/table/command.h"
#include "command/table/nearest.h"
#include "command/table/table.h"
#include "command/table/verbs.h"
#include "inputs/inputs.h"
#include "session/session_state.h"

/* The row of an option that can be set, NULL with the nearest name in err. */
static enum odb_status set_find(const char *name, enum odb_option_id *id, struct odb_error *err)
{
    const char *names[ODB_OPTION_COUNT];
    size_t n = 0;
    name += strspn(name, "-");
    for (int i = 0; i < ODB_OPTION_COUNT; i++) {
        if (!odb_option_row(i)->setting)
            continue;
        *id = (enum odb_option_id)i;
        names[n++] = odb_option_row(*id)->name;
        if (!strcmp(names[n - 1], name))
            return ODB_OK;
    }
    const char *near = odb_nearest(name, names, n);
    odb_fail(err, ODB_E_USAGE, "there is no setting '%.80s'", name);
    return odb_error_remedy(err, near ? "did you mean %s?" : "`set` alone lists them", near);
}

static void set_put(const struct odb_console *console, enum odb_option_id id, struct odb_buf *out)
{
    const struct odb_option *row = odb_option_row(id);
    size_t shown = 0;
    odb_buf_printf(out, "%-12s ", row->name);
    for (size_t i = 0; i < console->settings.n; i++) {
        if (console->settings.items[i].id != id)
            continue;
        odb_buf_putc(out, ' ');
        odb_buf_put_shown(out, console->settings.items[i].value);
        shown++;
    }
    const char *value = id == ODB_OPTION_TARGET      ? odb_console_target(console)
                        : id == ODB_OPTION_TOL       ? odb_console_tolerance(console)
                        : id == ODB_OPTION_REFERENCE ? odb_console_reference(console)
                                                     : row->def;
    if (!shown)
        odb_buf_printf(out, " %s", value ? value : "not set");
    odb_buf_putc(out, '\n');
}

/* What is shown was judged by the tolerance that is set; to judge anew takes a while. */
static enum odb_status set_spare_verdicts(const struct odb_session *session, const char *value,
                                          struct odb_error *err)
{
    if (!session->trace)
        return ODB_OK;
    odb_fail(err, ODB_E_USAGE, "verdicts would not follow");
    return odb_error_remedy(err, "`tol %.200s` judges them anew", *value ? value : "noise");
}

/* Inputs that do not fit the model are not taken, so that nothing is forgotten for them. One
 * setting is looked at alone: of two that belong together, one is given first. */
static enum odb_status set_check_feeds(const struct odb_session *session, enum odb_option_id id,
                                       const char *value, struct odb_error *err)
{
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    options.inputs = options.dims = &value;
    options.n_inputs = id == ODB_OPTION_INPUT;
    options.n_dims = id == ODB_OPTION_DIM;
    options.inputs_from = id == ODB_OPTION_INPUTS_FROM ? value : NULL;
    return odb_feeds_check(session->model, &options, err);
}

/* What a setting did to what was found, in the same line. */
static void set_put_cost(const struct odb_session *session, bool had, size_t known,
                         struct odb_buf *out)
{
    const char *text = NULL;
    odb_session_lock(session);
    if (session->report && session->report->target)
        text = "an earlier search of it is shown; F searches again";
    else if (odb_session_n_known(session) >= known && known)
        text = "what was found before is kept: `findings` lists it";
    else if (had)
        text = "what was found before is forgotten";
    odb_session_unlock(session);
    if (!text)
        return;
    out->data[--out->len] = '\0';
    odb_buf_printf(out, "  (%s)\n", text);
}

/* Takes a value, and says what that costs. */
static void set_take(struct odb_console *console, enum odb_option_id id, const char *value,
                     struct odb_buf *out)
{
    const struct odb_session *session = console->session;
    bool had = session->report || session->at != ODB_NO_NODE;
    unsigned long before = session->generation;
    odb_session_lock(session);
    size_t known = odb_session_n_known(session);
    odb_session_unlock(session);
    odb_console_set(console, id, *value ? value : NULL);
    set_put(console, id, out);
    if (session->generation != before)
        set_put_cost(session, had, known, out);
}

enum odb_status odb_command__show(struct odb_command_call *call, struct odb_error *err)
{
    return odb_command__set(call, err);
}

enum odb_status odb_command__set(struct odb_command_call *call, struct odb_error *err)
{
    const char *name = odb_call_arg(call, 0), *value = odb_call_arg(call, 1);
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_option_id id = ODB_OPTION_HELP;
    if (!name) {
        for (int i = 0; i < ODB_OPTION_COUNT; i++)
            if (odb_option_row(i)->setting)
                set_put(call->console, (enum odb_option_id)i, &out);
    } else {
        ODB_TRY(set_find(name, &id, err));
        if (value && *value)
            ODB_TRY(odb_call__check_setting(call->console, odb_option_row(id), value, err));
        if (value && *value)
            ODB_TRY(set_check_feeds(call->session, id, value, err));
        if (value && id == ODB_OPTION_TOL)
            ODB_TRY(set_spare_verdicts(call->session, value, err));
        if (value)
            set_take(call->console, id, value, &out);
        else
            set_put(call->console, id, &out);
    }
    odb_call__print(call, &out);
    return ODB_OK;
}
