/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which node is selected, and the way from one to another and back.
 */
#include "ui/list/jump.h"

#include "model/model.h"
#include "ui/list/view_nodes.h"
#include "ui/view/app.h"

int ui_app_node(const struct ui_app *app)
{
    return ui_nodes_selected(app->views[UI_VIEW_NODES]);
}

/* Selects a node that may be hidden. */
static void jump_select(struct ui_app *app, int node)
{
    struct ui_view *nodes = app->views[UI_VIEW_NODES];
    size_t at;
    ui_nodes_reveal(nodes, node);
    ui_nodes_goto(nodes, node);
    if (ui_app_node(app) != node && ui_nodes_filter_text(nodes) &&
        ui_nodes_filter(nodes, NULL, &at, NULL) == ODB_OK) {
        ui_nodes_goto(nodes, node);
        ui_app_say(app, UI_STYLE_MESSAGE, "the filter hid node #%d; all nodes are listed again",
                   node);
    }
}

void ui_app_jump(struct ui_app *app, int node)
{
    int from = ui_app_node(app);
    if (from == node) {
        ui_nodes_reveal(app->views[UI_VIEW_NODES], node);
        return;
    }
    if (from != ODB_NO_NODE)
        odb_push(&app->trail, from);
    app->ahead.n = 0;
    jump_select(app, node);
}

bool ui_app_travel(struct ui_app *app, bool back)
{
    int from = ui_app_node(app);
    if (back ? !app->trail.n : !app->ahead.n)
        return false;
    int to = back ? app->trail.items[--app->trail.n] : app->ahead.items[--app->ahead.n];
    if (from != ODB_NO_NODE && back)
        odb_push(&app->ahead, from);
    else if (from != ODB_NO_NODE)
        odb_push(&app->trail, from);
    jump_select(app, to);
    return true;
}
