/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bodies (of If, Loop, Scan, functions) as text: the list shows the main graph alone.
 */
#include "ui/list/body_view.h"

#include "model/text/model_text.h"
#include "model/write/body_model.h"
#include "session/session.h"
#include "ui/list/list.h"
#include "ui/list/text_view.h"
#include "ui/view/app.h"

size_t ui_body_put(const struct odb_graph *graph, int node, struct odb_buf *out)
{
    size_t row = 0, at = 0, seen = out->len;
    odb_buf_printf(out, "graph %s, %zu node%s\n", graph->name ? graph->name : "", graph->n_nodes,
                   odb_plural(graph->n_nodes));
    for (size_t i = 0; i < graph->n_nodes; i++) {
        for (; seen < out->len; seen++)
            row += out->data[seen] == '\n';
        at = (int)i == node ? row : at;
        odb_buf_printf(out, "#%zu  ", i);
        odb_node_text(graph, &graph->nodes[i], out);
        if (out->data[out->len - 1] != '\n')
            odb_buf_putc(out, '\n');
    }
    return at;
}

void ui_body_show(struct ui_app *app, const struct odb_body_path *path, int node)
{
    struct odb_buf text = ODB_BUF_INIT, way = ODB_BUF_INIT;
    const struct odb_body_step *step = path->steps;
    struct ui_view *output = app->views[UI_VIEW_OUTPUT];
    const struct odb_graph *graph = odb_session_model(app->session)->graph;
    for (; step < path->steps + path->n; step++) {
        char label[300];
        odb_body_put_step(odb_node_label(&graph->nodes[step->node], label, sizeof label),
                          &step->body, step->turn, &way);
        odb_buf_putc(&way, '/');
        graph = step->body.graph;
    }
    size_t row = ui_body_put(graph, node, &text);
    ui_output_show(output, odb_buf_text(&way), odb_buf_text(&text));
    ui_app_open(app, UI_VIEW_OUTPUT);
    ui_list_select(output, row);
    odb_buf_dispose(&way);
    odb_buf_dispose(&text);
}
