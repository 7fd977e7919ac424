/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call.h"

enum odb_status odb_command__delete(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_session *session = call->session;
    const char *text = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    size_t n, gone = 0;
    bool *marks = NULL;
    if (text)
        ODB_TRY(odb_call__mark_nodes(call->model->graph, text, &marks, &n, err));
    odb_session_lock(session);
    for (size_t i = 0; i < call->model->graph->n_nodes; i++)
        if (session->breaks[i] && (!marks || marks[i])) {
            session->breaks[i] = false;
            gone++;
        }
    odb_session_unlock(session);
    free(marks);
    odb_session_wake(session);
    odb_buf_printf(&out, "%zu breakpoint%s deleted\n", gone, gone == 1 ? "" : "s");
    odb_call__print(call, &out);
    return ODB_OK;
}
