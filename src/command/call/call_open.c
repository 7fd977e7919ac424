/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens what a command is about: a model, or a session and its model.
 */
#include "command/call/call_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/error.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/call/input_settings.h"
#include "command/call/session_model.h"
#include "command/call/tensor_file.h"
#include "command/table/command.h"
#include "command/table/table.h"
#include "model/read/load.h"
#include "session/session_state.h"
#include "session/files/autosave.h"
#include "session/files/stored.h"

enum odb_status odb_call__open_model(struct odb_command_call *call, const char *path,
                                     struct odb_error *err)
{
    const char *session = odb_call_option(call, ODB_OPTION_SESSION);
    bool takes = odb_command_takes(call->command, ODB_OPTION_SESSION);
    struct odb_model *model;
    char *of = NULL;
    bool stored = odb_stored_is(path);
    if (stored && (!takes || session)) {
        odb_fail(err, ODB_E_INPUT, "it is a session, and no model");
        odb_error_remedy(err, takes ? "leave --session out" : "name the model that it is about");
        return odb_error_at(err, "%s", path);
    }
    if (stored) {
        ODB_TRY(odb_sessions_model(&of, path, err));
        session = path;
    }
    if (session && !(call->command->flags & ODB_COMMAND_RECORDS) && access(session, R_OK) != 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "--session %s", session);
    }
    enum odb_status status = odb_call_read_model(&model, call, of ? of : path, err);
    free(of);
    ODB_TRY(status);
    ODB_TRY(odb_session_open_take(&call->session, model, session, err));
    ODB_TRY(odb_autosave_claim(call->session, err));
    call->model = call->session->model;
    if (stored || !(call->command->flags & ODB_COMMAND_RECORDS))
        return odb_call__input_settings_restore(call, err);
    return ODB_OK;
}

enum odb_status odb_call__open_source(struct odb_command_call *call, struct odb_error *err)
{
    const char *source = call->args[0];
    if (call->model || odb_call__reads_tensor(source))
        return ODB_OK;
    return odb_call__open_model(call, source, err);
}

enum odb_status odb_call_read_model(struct odb_model **out, const struct odb_command_call *call,
                                    const char *path, struct odb_error *err)
{
    bool all = odb_call_has(call, ODB_OPTION_FOLLOW_LINKS) ||
               (call->console && call->console->session->model->links == ODB_LINKS_ALL);
    return odb_model_open_linked(out, path, all ? ODB_LINKS_ALL : ODB_LINKS_NEAR, err);
}
