/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tensor that a command is about: of a file, of the model, or computed.
 */
#include "command/value/call_value.h"

#include <sys/stat.h>
#include <wchar.h>

#include "base/error.h"
#include "command/call/call.h"
#include "command/call/call_spec.h"
#include "command/call/tensor_file.h"
#include "command/call/watch.h"
#include "command/value/call_feeds.h"
#include "command/value/names.h"
#include "command/value/search_options.h"
#include "probe/run_values.h"
#include "run/feeds.h"
#include "session/session.h"

/* At a console the reference runs once, with what is pinned, and keeps all values. */
static enum odb_status call_reference(struct odb_command_call *call, int value,
                                      struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_value *v = &call->model->graph->values[value];
    struct odb_bisect_options options;
    struct odb_trace *trace;
    struct odb_watch watch;
    *out = odb_session_reference(call->session, value);
    if (*out)
        return ODB_OK;
    ODB_TRY(odb_call__search_options(call, &options, err));
    options.hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_session_trace(call->session, &trace, &options, err);
    odb_watch_end(&watch);
    ODB_TRY(status);
    *out = odb_session_reference(call->session, value);
    if (*out)
        return ODB_OK;
    const char *why = v->producer == ODB_NO_NODE ? NULL : trace->why[v->producer];
    return odb_fail(err, ODB_E_OPERATOR, "the reference has no value for %s%s%s", v->name,
                    why ? ": " : "", why ? why : "");
}

/* A command of the shell runs what the one value needs. */
static enum odb_status call_compute(struct odb_command_call *call, int value,
                                    struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    if (call->console)
        return call_reference(call, value, out, err);
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_run_values(call->model, feeds, odb_call__runner(call), &value, 1,
                                            out, NULL, 0, &hooks, err);
    odb_watch_end(&watch);
    return status;
}

enum odb_status odb_call__value(struct odb_command_call *call, const char *name,
                                struct odb_tensor **out, struct odb_error *err)
{
    int index;
    if (!call->model && name)
        return odb_fail(err, ODB_E_USAGE, "a tensor file holds one value, without a name");
    if (!call->model)
        return odb_call__read_tensor(out, call->args[0], err);
    if (!name) {
        odb_fail(err, ODB_E_USAGE, "no value is named");
        return odb_error_remedy(err, "name one; `onnxdbg nodes %s` lists them", call->args[0]);
    }
    ODB_TRY(odb_call__find_output(call->model->graph, name, &index, err));
    if (!call->model->graph->values[index].init)
        return call_compute(call, index, out, err);
    *out = odb_tensor_ref(call->model->graph->values[index].init);
    return ODB_OK;
}
