/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the target stops: breakpoints and watchpoints with their conditions and how often they were
 * met; and the checkpoints that a probe in PyTorch left in the model.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "command/table/command.h"
#include "model/model.h"
#include "session/annotations.h"
#include "session/session.h"
#include "ui/list/table_view.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/view.h"

static const struct ui_cells_column breaks_columns[UI_CELLS + 1] = {
    {"no", 4, UI_CUT_END, UI_STYLE_NORMAL},     {"kind", 12, UI_CUT_END, UI_STYLE_LABEL},
    {"met", 10, UI_CUT_END, UI_STYLE_NUMBER},   {"if", 32, UI_CUT_MIDDLE, UI_STYLE_NORMAL},
    {"where", 0, UI_CUT_MIDDLE, UI_STYLE_NAME},
};

static char *breaks_where(const struct odb_graph *graph, int node, bool inside, const char *place)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (node == ODB_NO_NODE || inside)
        return odb_xstrdup(*place ? place : "anywhere");
    odb_node_put(graph, node, &text);
    return odb_buf_take(&text);
}

static void breaks_add(struct ui_cells_view *v, const struct odb_annotation *annotation)
{
    const struct odb_graph *graph = odb_session_model(v->view.app->session)->graph;
    int node = annotation->n_way ? annotation->way[0].node : annotation->node; /* in the list */
    ui_cells_add_take(
        v, (struct ui_cells_row){
               .cells = {odb_xasprintf("%d", annotation->number),
                         odb_xstrdup(odb_annotation_name(annotation->kind)),
                         odb_xasprintf("%lld%s", (long long)annotation->hits,
                                       annotation->once ? " once" : ""),
                         odb_xstrdup(annotation->text),
                         breaks_where(graph, annotation->node, annotation->n_way > 0,
                                      annotation->place)},
               .mark = annotation->disabled ? UI_GLYPH_UNTESTED : UI_GLYPH_BREAK,
               .style = annotation->disabled ? UI_STYLE_DIM : UI_STYLE_BAD,
               .enter = node == ODB_NO_NODE ? NULL : odb_xasprintf("goto #%d", node),
               .what = odb_xasprintf("%s %d", annotation->disabled ? "enable" : "disable",
                                     annotation->number),
               .value = ODB_NO_VALUE});
}

static void breaks_add_checkpoint(struct ui_cells_view *v, const struct odb_node *node)
{
    const struct odb_graph *graph = odb_session_model(v->view.app->session)->graph;
    char *name = odb_node_checkpoint(node);
    ui_cells_add_take(v,
                      (struct ui_cells_row){.cells = {NULL, odb_xstrdup("checkpoint"), NULL, name,
                                                      breaks_where(graph, node->index, false, "")},
                                            .mark = UI_GLYPH_DOT,
                                            .style = UI_STYLE_LABEL,
                                            .enter = odb_xasprintf("goto #%d", node->index),
                                            .value = ODB_NO_VALUE});
}

static void breaks_prepare(struct ui_view *view, int cols)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    const struct odb_session *session = view->app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    odb_session_lock(session);
    ui_cells_begin(v);
    for (size_t i = 0; i < odb_session_annotations(session)->items.n; i++) {
        const struct odb_annotation *annotation = &odb_session_annotations(session)->items.items[i];
        if (annotation->kind == ODB_ANNOTATION_BREAK || annotation->kind == ODB_ANNOTATION_WATCH)
            breaks_add(v, annotation);
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (odb_node_is_debug(&graph->nodes[i]))
            breaks_add_checkpoint(v, &graph->nodes[i]);
    ui_cells_end(v, cols - 2);
    odb_session_unlock(session);
}

/* Deleting and switching are commands of the prompt, given with the row's number. */
static enum ui_answer breaks_act(struct ui_view *view, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    const struct ui_cells_row *row = ui_cells_selected(view);
    enum odb_screen_id id = call->command->screen;
    if (id != ODB_SCREEN_DROP && id != ODB_SCREEN_SWITCH)
        return ui_cells_act(view, call, err);
    if (!row || !row->what) {
        odb_fail(err, ODB_E_USAGE, "no breakpoint is selected");
        return UI_FAILED;
    }
    char *line = id == ODB_SCREEN_SWITCH ? odb_xstrdup(row->what)
                                         : odb_xasprintf("delete %s", row->cells[0]);
    ui_app_command(view->app, line);
    free(line);
    return UI_DONE;
}

static void breaks_open(struct ui_view *view)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    v->columns = breaks_columns;
    v->empty = "none yet; `break NODE` sets one";
}

static void breaks_title(const struct ui_view *view, struct odb_buf *out)
{
    odb_buf_puts(out, "breakpoints");
    ui_cells_count(view, out);
}

const struct ui_view_ops ui_breaks_view = {
    .help = "breakpoints, watchpoints and checkpoints",
    .size = sizeof(struct ui_cells_view),
    .open = breaks_open,
    .close = ui_cells_close,
    .title = breaks_title,
    .prepare = breaks_prepare,
    .act = breaks_act,
    UI_CELLS_OPS,
};
