/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The demo model with a planted fault, in a folder of its own, on the screen that leads through it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/call/call.h"
#include "command/call/console.h"
#include "command/console/script.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "demo_model.h"
#include "model/read/load.h"
#include "session/session.h"
#include "system/file.h"
#include "system/temporary.h"

#define TOUR_TARGET "fault:scale,node=/block/conv2/Conv,amount=1e-2@cpu"

static enum odb_status tour_screen(const struct odb_command_call *call, struct odb_error *err)
{
    struct odb_model *model = NULL;
    struct odb_session *session = NULL;
    struct odb_console console;
    ODB_TRY(odb_file_write("demo.onnx", tour_model, sizeof tour_model, err));
    ODB_TRY(odb_model_open(&model, "demo.onnx", err));
    ODB_TRY(odb_session_open_take(&session, model, NULL, err));
    odb_console_init(&console, session);
    odb_console_set(&console, ODB_OPTION_TARGET, TOUR_TARGET);
    console.linear = odb_call_has(call, ODB_OPTION_LINEAR);
    odb_console_push(&console, "tour");
    enum odb_status status = call->open_screen(&console, err);
    odb_console_dispose(&console);
    return status;
}

enum odb_status odb_command__tour(struct odb_command_call *call, struct odb_error *err)
{
    if (!call->open_screen)
        return odb_fail(err, ODB_E_USAGE, "this program has no screen");
    char *folder = odb_file_temporary("tour-");
    enum odb_status status = ODB_OK;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        status = odb_fail(err, ODB_E_IO, "cannot make a folder of its own: %s", strerror(errno));
    if (status == ODB_OK) {
        odb_temporary_add("demo.onnx"); /* what else is there is the user's */
        status = tour_screen(call, err);
        unlink("demo.onnx");
        odb_temporary_drop("demo.onnx");
        if (rmdir(folder) != 0) /* something was exported */
            fprintf(call->out, "what the tour has written is in %s\n", folder);
    }
    free(folder);
    return status;
}
