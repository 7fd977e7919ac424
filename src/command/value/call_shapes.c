/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shapes of the values, declared or measured.
 */
#include "command/value/call_shapes.h"

#include <sys/stat.h>
#include <wchar.h>

#include "base/error.h"
#include "command/call/call.h"
#include "command/call/watch.h"
#include "command/table/command.h"
#include "command/value/call_feeds.h"
#include "reference/shapes.h"
#include "run/feeds.h"

enum odb_status odb_call__shapes(struct odb_command_call *call,
                                 void (*see)(void *payload, int value, const struct odb_tensor *t),
                                 void *payload, struct odb_shapes *out, struct odb_error *err)
{
    const struct odb_feeds *feeds;
    struct odb_watch watch;
    *out = (struct odb_shapes){0};
    if (!odb_call_has(call, ODB_OPTION_MEASURE)) {
        odb_shapes_declared(out, call->model);
        return ODB_OK;
    }
    if (call->console) /* whose commands may run while another one does */
        return odb_fail(err, ODB_E_USAGE, "--run is for the shell's command line");
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    struct odb_search_hooks hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_shapes_measure(out, call->model, feeds, see, payload, &hooks, err);
    odb_watch_end(&watch);
    return status;
}
