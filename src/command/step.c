/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walking: `run`, `step` and `continue` move the target on through the model; what it made on the
 * way is judged, and it stands still before a node, as the reference does.
 */
#include <stdlib.h>

#include "command/watch.h"

/* The first breakpoint from a node on, else the end. */
static int step_stop(const struct odb_session *session, int from)
{
    int n = (int)session->model->graph->n_nodes;
    odb_session_lock(session); /* breakpoints come and go while the target runs */
    while (from < n && !session->breaks[from])
        from++;
    odb_session_unlock(session);
    return from;
}

static void step_put_place(const struct odb_session *session, struct odb_buf *out)
{
    const struct odb_graph *graph = session->model->graph;
    size_t bad = 0, seen = 0;
    int first = ODB_NO_NODE;
    odb_session_lock(session);
    bool breaks = (size_t)session->at < graph->n_nodes && session->breaks[session->at];
    odb_session_unlock(session);
    for (int i = 0; i < session->at; i++) {
        const struct odb_value_report *report = odb_session_node(session, i, NULL);
        seen += report->verdict != ODB_VERDICT_UNTESTED;
        if (odb_verdict_is_bad(report->verdict) && !bad++)
            first = i;
    }
    if ((size_t)session->at < graph->n_nodes) {
        odb_buf_puts(out, breaks ? "breakpoint: before " : "stopped before ");
        odb_node_put(graph, session->at, out);
    } else {
        odb_buf_puts(out, "the model has run to its end");
    }
    odb_buf_printf(out, "; %d of %zu nodes have run, %zu judged, ", session->at, graph->n_nodes,
                   seen);
    if (bad) {
        odb_buf_printf(out, "%zu off, the first is ", bad);
        odb_node_put(graph, first, out);
        odb_buf_putc(out, '\n');
    } else {
        odb_buf_puts(out, "none off\n");
    }
}

enum odb_status odb_call__walk(struct odb_command_call *call, int64_t nodes, bool restart,
                               struct odb_error *err)
{
    struct odb_session *session = call->session;
    struct odb_bisect_options options;
    const struct odb_feeds *feeds;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_watch watch;
    struct odb_walk *walk;
    ODB_TRY(odb_call__search_options(call, &options, err));
    ODB_TRY(odb_call__feeds(call, &feeds, err));
    options.hooks = odb_watch_begin(&watch, call);
    enum odb_status status = odb_session_walk(session, &walk, &options, restart, err);
    if (status == ODB_OK) {
        int64_t left = (int64_t)call->model->graph->n_nodes - walk->at;
        bool standing = session->at != ODB_NO_NODE; /* and not before the breakpoint there */
        int stop = nodes ? walk->at + (int)ODB_MIN(nodes, left)
                         : step_stop(session, walk->at + standing);
        status = odb_walk_to(walk, stop, &options.hooks, err);
        odb_session_walked(session);
    }
    odb_watch_end(&watch);
    if (status != ODB_OK)
        return status;
    step_put_place(session, &out);
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_command__step(struct odb_command_call *call, struct odb_error *err)
{
    const char *n = odb_call_arg(call, 0);
    return odb_call__walk(call, n ? strtoll(n, NULL, 10) : 1, false, err);
}
