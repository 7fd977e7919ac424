/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A short list to choose from: views, or nodes that another view had no room for. What is chosen is
 * a command, which is given after the list has closed itself.
 */
#include "ui/views/view_choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "interpret/cpu.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/graph/dag.h"
#include "ui/list/jump.h"
#include "ui/tensor/view_tensor.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/key.h"
#include "ui/view/app.h"
#include "ui/view/keymap.h"
#include "ui/view/mark.h"
#include "ui/view/view.h"

struct choose_row {
    char *name, *text, *key, *command; /* owned; all NULL: the row is the node, or the value */
    int node, value;
};

struct choose_view {
    struct ui_view view;
    char *title; /* owned */
    ODB_VEC(struct choose_row) rows;
};

static void choose_clear(struct choose_view *v)
{
    for (size_t i = 0; i < v->rows.n; i++) {
        free(v->rows.items[i].name);
        free(v->rows.items[i].text);
        free(v->rows.items[i].key);
        free(v->rows.items[i].command);
    }
    v->rows.n = 0;
    free(v->title);
    v->title = NULL;
    v->view.selected = v->view.top = 0;
}

void ui_choose_nodes(struct ui_view *view, const struct ui_dag_item *items, size_t n)
{
    struct choose_view *v = (struct choose_view *)view;
    choose_clear(v);
    v->title = odb_xasprintf("%zu more: Enter goes there", n);
    for (size_t i = 0; i < n; i++)
        odb_push(&v->rows, (struct choose_row){.node = items[i].node, .value = items[i].value});
}

/* The first key that gives a command in every view; "" when there is none. */
static char *choose_key(const struct ui_keymap *keymap, const char *command)
{
    char name[16];
    for (size_t i = 0; i < keymap->bindings.n; i++)
        if (!strcmp(keymap->bindings.items[i].view, "all") &&
            !strcmp(keymap->bindings.items[i].command, command))
            return odb_xstrdup(ui_key_name(keymap->bindings.items[i].key, name, sizeof name));
    return odb_xstrdup("");
}

void ui_choose_views(struct ui_view *view)
{
    struct choose_view *v = (struct choose_view *)view;
    const struct ui_app *app = view->app;
    choose_clear(v);
    v->title = odb_xstrdup("views: Enter shows one");
    for (int id = 0; id < UI_VIEW_COUNT; id++) {
        const struct ui_view_ops *ops = app->views[id]->ops;
        char *command = odb_xasprintf("view %s", view->app->views[id]->name);
        if (id != UI_VIEW_CHOOSE && ui_app_has(app, (enum ui_view_id)id))
            odb_push(&v->rows, (struct choose_row){.name = odb_xstrdup(view->app->views[id]->name),
                                                   .text = odb_xstrdup(ops->help),
                                                   .key = choose_key(app->keymap, command),
                                                   .command = odb_xstrdup(command),
                                                   .node = ODB_NO_NODE,
                                                   .value = ODB_NO_VALUE});
        if (id == (int)app->focus)
            view->selected = v->rows.n - 1;
        free(command);
    }
}

static const struct choose_row *choose_at(const struct ui_view *view, size_t row)
{
    const struct choose_view *v = (const struct choose_view *)view;
    return row < v->rows.n ? &v->rows.items[row] : NULL;
}

static size_t choose_rows(const struct ui_view *view)
{
    return ((const struct choose_view *)view)->rows.n;
}

static void choose_label(const struct ui_view *view, const struct choose_row *row,
                         struct odb_buf *out)
{
    const struct odb_graph *graph = odb_session_model(view->app->session)->graph;
    if (row->node != ODB_NO_NODE)
        odb_node_put(graph, row->node, out);
    else if (row->value != ODB_NO_VALUE)
        odb_buf_printf(out, "%s %s", graph->values[row->value].is_input ? "input" : "output",
                       graph->values[row->value].name);
}

static void choose_draw_node(const struct ui_view *view, const struct choose_row *row,
                             const struct ui_area *area)
{
    const struct odb_session *session = view->app->session;
    struct odb_buf label = ODB_BUF_INIT;
    char number[32] = "";
    int width = area->cols > 40 ? 9 : 0;
    if (row->node != ODB_NO_NODE) {
        const struct odb_value_report *report = odb_session_node(session, row->node, NULL);
        bool culprit = report->culprit || odb_session_culprit(session, row->node);
        bool unsupported = *odb_cpu_unsupported(odb_session_cpu(session), row->node);
        ui_draw_glyph(area, 0, 1, ui_mark_style(report, culprit),
                      ui_mark_glyph(report, culprit, unsupported));
        ui_draw_right(area, 0, area->cols - width, width, ui_mark_style(report, false),
                      ui_number_text(report->error, number, sizeof number));
    }
    choose_label(view, row, &label);
    ui_draw_field(area, 0, 3, ODB_MAX(area->cols - 3 - width, 0), UI_CUT_MIDDLE, UI_STYLE_NAME,
                  odb_buf_text(&label));
    odb_buf_dispose(&label);
}

static void choose_draw_row(const struct ui_view *view, size_t at, const struct ui_area *area)
{
    const struct choose_row *row = choose_at(view, at);
    if (!row->command) {
        choose_draw_node(view, row, area);
        return;
    }
    int col = ui_draw_field(area, 0, 1, 4, UI_CUT_END, UI_STYLE_LABEL, row->key);
    col = ui_draw_field(area, 0, col, 14, UI_CUT_END, UI_STYLE_NAME, row->name);
    ui_draw_field(area, 0, col, ODB_MAX(area->cols - col, 0), UI_CUT_END, UI_STYLE_DIM, row->text);
}

static bool choose_matches(const struct ui_view *view, size_t at, const char *text)
{
    const struct choose_row *row = choose_at(view, at);
    struct odb_buf label = ODB_BUF_INIT;
    if (row->command)
        odb_buf_printf(&label, "%s %s", row->name, row->text);
    else
        choose_label(view, row, &label);
    bool found = odb_text_matches(odb_buf_text(&label), text);
    odb_buf_dispose(&label);
    return found;
}

static void choose_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct choose_row *row = choose_at(view, view->selected);
    *out = (struct ui_subject){row ? row->node : ODB_NO_NODE, row ? row->value : ODB_NO_VALUE};
}

static void choose_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct choose_view *v = (const struct choose_view *)view;
    odb_buf_puts(out, v->title ? v->title : "nothing to choose from");
}

static enum ui_answer choose_act(struct ui_view *view, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    struct ui_app *app = view->app;
    const struct choose_row *row = choose_at(view, view->selected);
    if (call->command->screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0) || !row)
        return UI_NOT_MINE;
    ui_app_back(app); /* to where it was asked for */
    if (row->node != ODB_NO_NODE) {
        ui_app_jump(app, row->node);
    } else if (row->value != ODB_NO_VALUE) {
        ui_tensor_show(app->views[UI_VIEW_TENSOR], row->value);
        ui_app_open(app, UI_VIEW_TENSOR);
    } else {
        char *command = odb_xstrdup(row->command);
        ui_app_command(app, command);
        free(command);
    }
    return UI_DONE;
}

static void choose_close(struct ui_view *view)
{
    struct choose_view *v = (struct choose_view *)view;
    choose_clear(v);
    free(v->rows.items);
}

const struct ui_view_ops ui_choose_view = {
    .help = "a list to choose from",
    .size = sizeof(struct choose_view),
    .wraps = true,
    .close = choose_close,
    .title = choose_title,
    .rows = choose_rows,
    .draw_row = choose_draw_row,
    .matches = choose_matches,
    .subject = choose_subject,
    .act = choose_act,
};
