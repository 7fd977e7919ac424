/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A parsed call, done.
 */
#include "command/value/call_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/call_spec.h"
#include "command/table/command.h"
#include "command/value/spare_model.h"
#include "session/session_state.h"
#include "system/file.h"

static void call_warn_kernels(struct odb_command_call *call)
{
    if (call->console || !call->session || !call->session->missing_kernels)
        return;
    char *text = odb_xasprintf(ODB_SESSION_KERNELS, call->session->missing_kernels);
    odb_call__warn(call, text);
    free(text);
}

/* What the command prints goes into a file, once it is whole; where it fails it is printed. */
static enum odb_status call_run_into(struct odb_command_call *call, const char *path,
                                     struct odb_error *err)
{
    FILE *out = call->out;
    char *text = NULL;
    size_t size = 0;
    ODB_TRY(odb_call__spare_model(call, path, err));
    call->out = open_memstream(&text, &size);
    enum odb_status status = call->out ? call->command->exec(call, err) : ODB_E_NOMEM;
    if (!call->out || fclose(call->out) != 0)
        status = odb_fail(err, ODB_E_NOMEM, "no memory for what is written to %s", path);
    else if (status != ODB_OK)
        fwrite(text, 1, size, out);
    call->out = out;
    if (status == ODB_OK) /* which may have opened it */
        status = odb_call__spare_model(call, path, err);
    if (status == ODB_OK)
        status = odb_file_write(path, text, size, err);
    free(text);
    return status;
}

enum odb_status odb_call_run(struct odb_command_call *call, struct odb_error *err)
{
    const char *json = odb_call_option(call, ODB_OPTION_JSON);
    call_warn_kernels(call);
    if (call->session && call->command->flags & ODB_COMMAND_LONG)
        odb_session_start(call->session);
    if (json && strcmp(json, "-") != 0)
        return call_run_into(call, json, err);
    return call->command->exec(call, err);
}
