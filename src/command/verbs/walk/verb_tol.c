/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/call/console.h"
#include "command/call/watch.h"
#include "command/table/verbs.h"
#include "compare/criterion.h"
#include "session/session_state.h"

static enum odb_status tol_rejudge(struct odb_command_call *call, struct odb_buf *out,
                                   struct odb_error *err)
{
    struct odb_criterion tolerance;
    struct odb_watch watch;
    size_t bad = 0;
    ODB_TRY(odb_criterion_parse(&tolerance, odb_console_tolerance(call->console), err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_session_rejudge(call->session, &tolerance, &hooks, err);
    odb_watch_end(&watch);
    if (status != ODB_OK)
        return status;
    if (!call->session->trace) {
        odb_buf_puts(out, "; it counts from the next search on: nothing can be judged anew");
        return ODB_OK;
    }
    for (size_t v = 0; v < call->model->graph->n_values; v++) {
        if (call->model->graph->values[v].producer == ODB_NO_NODE)
            continue;
        bad += odb_verdict_is_bad(call->session->values[v].verdict);
    }
    odb_buf_printf(out, "; of %zu values judged, %zu are over it",
                   odb_session_judged(call->session), bad);
    return ODB_OK;
}

enum odb_status odb_command__tol(struct odb_command_call *call, struct odb_error *err)
{
    const char *spec = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    enum odb_status status = ODB_OK;
    odb_buf_printf(&out, "tolerance %s", odb_console_tolerance(call->console));
    if (spec)
        status = tol_rejudge(call, &out, err);
    odb_buf_putc(&out, '\n');
    odb_call__print(call, &out);
    return status;
}
