/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that have a letter, as far as no screen is needed to say which.
 */
#include "command/verbs/walk/verb_bookmark.h"

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/console/annotating.h"
#include "session/session_state.h"

static enum odb_status bookmark_list(struct odb_command_call *call)
{
    const struct odb_session *session = call->session;
    struct odb_buf out = ODB_BUF_INIT;
    odb_session_lock(session);
    for (size_t i = 0; i < session->bookmarks.n; i++) {
        odb_buf_printf(&out, "%c  ", session->bookmarks.items[i].letter);
        odb_node_put(session->model->graph, session->bookmarks.items[i].node, &out);
        odb_buf_putc(&out, '\n');
    }
    odb_session_unlock(session);
    if (!out.len)
        odb_buf_puts(&out, "no bookmarks; `bookmark a` marks the selected node\n");
    odb_call__print(call, &out);
    return ODB_OK;
}

enum odb_status odb_annotating_bookmark(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    char letter = 0;
    int node;
    if (!call->n_args)
        return bookmark_list(call);
    ODB_TRY(odb_annotating_letter(call->args[0], &letter, err));
    ODB_TRY(odb_graph_find_node(call->model->graph, call->args[1], &node, err));
    ODB_TRY(odb_session_bookmark(call->session, letter, node, err));
    odb_buf_printf(&out, "bookmark %c is ", letter);
    odb_node_put(call->model->graph, node, &out);
    odb_buf_putc(&out, '\n');
    odb_call__print(call, &out);
    return ODB_OK;
}
