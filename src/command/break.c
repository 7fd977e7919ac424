/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/call.h"

static void break_list(const struct odb_session *session, struct odb_buf *out)
{
    for (size_t i = 0; i < session->model->graph->n_nodes; i++)
        if (session->breaks[i]) {
            odb_buf_puts(out, "breakpoint before ");
            odb_node_put(session->model->graph, (int)i, out);
            odb_buf_putc(out, '\n');
        }
    if (!out->len)
        odb_buf_puts(out, "there are no breakpoints\n");
}

/* Sets them all, or takes them away where all of them are set. */
static void break_toggle(struct odb_session *session, const bool *marks, size_t n,
                         struct odb_buf *out)
{
    const struct odb_graph *graph = session->model->graph;
    size_t set = 0;
    int last = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        set += marks[i] && session->breaks[i];
    odb_session_lock(session);
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (marks[i]) {
            session->breaks[i] = set < n;
            last = (int)i;
        }
    odb_session_unlock(session);
    odb_buf_puts(out, set < n ? "breakpoint before " : "no breakpoint any more before ");
    if (n == 1)
        odb_node_put(graph, last, out);
    else
        odb_buf_printf(out, "%zu nodes, each a %s", n, graph->nodes[last].op_type);
    odb_buf_putc(out, '\n');
}

enum odb_status odb_command__break(struct odb_command_call *call, struct odb_error *err)
{
    const char *text = odb_call_arg(call, 0);
    struct odb_buf out = ODB_BUF_INIT;
    bool *marks;
    size_t n;
    if (text) {
        ODB_TRY(odb_call__mark_nodes(call->model->graph, text, &marks, &n, err));
        break_toggle(call->session, marks, n, &out);
        free(marks);
        odb_session_wake(call->session);
    } else {
        break_list(call->session, &out);
    }
    odb_call__print(call, &out);
    return ODB_OK;
}
