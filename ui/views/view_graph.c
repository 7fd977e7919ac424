/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The selected node with what makes its inputs above it and what reads its outputs below, as boxes
 * with lines between them. The keys walk along the lines, and the selection is that of the list: a
 * node that is not drawn is put into the middle.
 */
#include <math.h>
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
#include "ui/list/short_name.h"
#include "ui/list/view_nodes.h"
#include "ui/tensor/view_tensor.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/lines.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"
#include "ui/view/prompt.h"
#include "ui/view/view.h"
#include "ui/views/view_choose.h"

#define GRAPH_DEEPEST 9
#define GRAPH_FRAME 6   /* columns of a box that no text has, one of them to make them odd */
#define GRAPH_BESIDE 11 /* and of one line those of mark and error */
#define GRAPH_WIDEST 56 /* from which on scopes of a name are left out */

/* The rows of this view are the boxes: finding and selecting are the same as in any list. */
struct graph_view {
    struct ui_view view;
    struct ui_dag dag; /* owned; empty: nothing is drawn */
    int centre, depth; /* centre ODB_NO_NODE: not yet */
    int rows, cols;    /* that dag was made for */
    bool stale;        /* it has to be made anew */
    int node;          /* selected in the list when it was looked at last */
    size_t at;         /* box selected then */
    int last;          /* box that the keys came from */
    int top;           /* first row of the picture on the screen */
    size_t steps;      /* jumps of this view that `back` undoes */
    int turned;        /* layer in which others are drawn than the first ones; 0: none */
    size_t turn;       /* how many of those it skips */
};

static const struct odb_graph *graph_of(const struct ui_view *view)
{
    return odb_session_model(view->app->session)->graph;
}

static const struct ui_dag_box *graph_box(const struct ui_view *view, size_t row)
{
    const struct graph_view *v = (const struct graph_view *)view;
    return row < v->dag.boxes.n ? &v->dag.boxes.items[row] : NULL;
}

static size_t graph_rows(const struct ui_view *view)
{
    return ((const struct graph_view *)view)->dag.boxes.n;
}

/* --- making ----------------------------------------------------------------------------------- */

/* What diverges is rather drawn than folded. */
static int graph_weight(const void *session, int node)
{
    const struct odb_value_report *report = odb_session_node(session, node, NULL);
    return report->culprit || odb_session_culprit(session, node)
               ? 2
               : odb_verdict_is_bad(report->verdict);
}

/* Columns that names need in the boxes that there are, as far as they are not long. */
static int graph_widest(const struct graph_view *v)
{
    const struct ui_terminal *terminal = v->view.app->terminal;
    int widest = 0;
    for (size_t i = 0; i < v->dag.boxes.n; i++) {
        const struct ui_dag_box *box = &v->dag.boxes.items[i];
        if (box->is.kind != UI_DAG_NODE)
            continue;
        const struct odb_node *node = &graph_of(&v->view)->nodes[box->is.node];
        int width = GRAPH_FRAME + ui_text_width(terminal, node->name);
        if (v->dag.text == 1)
            width += GRAPH_BESIDE + ui_text_width(terminal, node->op_type);
        widest = ODB_MAX(widest, width);
    }
    return ODB_MIN(widest, GRAPH_WIDEST);
}

static void graph_make(struct graph_view *v, int cols)
{
    const struct odb_session *session = v->view.app->session;
    struct ui_dag_options options = {.depth = v->depth,
                                     .rows = v->view.room,
                                     .cols = cols,
                                     .weight = graph_weight,
                                     .payload = session,
                                     .turned = v->turned,
                                     .turn = v->turn};
    ui_dag_dispose(&v->dag);
    odb_session_lock(session);
    ui_dag_make(&v->dag, odb_session_model(session)->graph, v->centre, &options);
    options.widest = graph_widest(v);
    if (options.widest) { /* the same boxes, with room for their names */
        ui_dag_dispose(&v->dag);
        ui_dag_make(&v->dag, odb_session_model(session)->graph, v->centre, &options);
    }
    odb_session_unlock(session);
    v->rows = v->view.room;
    v->cols = cols;
    v->last = -1;
    v->stale = false;
}

/* Puts a node into the middle, and selects it. */
static void graph_recentre(struct graph_view *v, int node, int cols)
{
    v->centre = node;
    v->turned = 0;
    graph_make(v, cols);
    v->view.selected = v->at = (size_t)v->dag.centre;
}

/* The picture that is there, made anew for another size or depth; the selected box stays selected
 * if it is still there. */
static void graph_remake(struct graph_view *v, int cols)
{
    graph_make(v, cols);
    int box = ui_dag_find(&v->dag, v->node);
    v->view.selected = v->at = (size_t)(box >= 0 ? box : v->dag.centre);
}

static void graph_scroll(struct graph_view *v)
{
    const struct ui_dag_box *box = graph_box(&v->view, v->view.selected);
    int least = box->row + box->rows - v->view.room, most = box->row;
    if (v->dag.rows <= v->view.room) {
        v->top = (v->dag.rows - v->view.room) / 2;
        return;
    }
    /* what leads on from the box is seen as well */
    least = ODB_MIN(least + 3, v->dag.rows - v->view.room);
    most = ODB_MAX(most - 3, 0);
    v->top = ODB_MAX(ODB_MIN(ODB_MAX(v->top, least), ODB_MAX(most, least)), 0);
}

/* While a search is typed, what it finds is not jumped to yet. */
static bool graph_asking(const struct ui_app *app)
{
    return app->prompt && ui_prompt_active(app->prompt);
}

/* The list and the picture have one selection; whichever moved is followed by the other. */
static void graph_prepare(struct ui_view *view, int cols)
{
    struct graph_view *v = (struct graph_view *)view;
    int node = ui_app_node(view->app);
    const struct ui_dag_box *box;
    if (node == ODB_NO_NODE) {
        ui_dag_dispose(&v->dag);
        v->centre = v->node = ODB_NO_NODE;
        return;
    }
    if (v->centre == ODB_NO_NODE) {
        v->node = node;
        graph_recentre(v, node, cols);
    } else if (v->stale || v->rows != view->room || v->cols != cols) {
        graph_remake(v, cols);
    }
    if (node != v->node) {
        int found = ui_dag_find(&v->dag, node);
        v->node = node;
        if (found < 0)
            graph_recentre(v, node, cols);
        else
            view->selected = (size_t)found;
    } else if (view->selected != v->at && (box = graph_box(view, view->selected)) &&
               box->is.kind == UI_DAG_NODE && !graph_asking(view->app)) {
        v->node = box->is.node;
        v->steps += box->is.node != node;
        ui_app_jump(view->app, box->is.node);
    }
    if (view->selected >= v->dag.boxes.n)
        view->selected = (size_t)v->dag.centre;
    v->at = view->selected;
    ui_dag_light(&v->dag, (int)view->selected);
    graph_scroll(v);
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* How one box looks. */
struct graph_look {
    const struct ui_dag_box *box;
    struct ui_area area; /* of the whole picture */
    int row, col, cols;  /* of the text in it */
    enum ui_frame frame;
    enum ui_style border;
};

/* "w[64,3,7,7] +1" in the room that there is, else how many weights there are; NULL: none. The
 * caller's. */
static char *graph_weights(const struct ui_view *view, const struct odb_node *node, int room)
{
    const struct odb_graph *graph = graph_of(view);
    struct odb_buf text = ODB_BUF_INIT;
    int n = 0;
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_tensor *init =
            node->in[i] == ODB_NO_VALUE ? NULL : graph->values[node->in[i]].init;
        n += init != NULL;
        if (!init || n > 1)
            continue;
        odb_buf_puts(&text, "w[");
        for (int d = 0; d < init->rank; d++)
            odb_buf_printf(&text, d ? ",%lld" : "%lld", (long long)init->dims[d]);
        odb_buf_putc(&text, ']');
    }
    if (n > 1)
        odb_buf_printf(&text, " +%d", n - 1);
    if (n && (int)text.len > room) {
        text.len = 0;
        odb_buf_printf(&text, "+%d weight%s", n, n == 1 ? "" : "s");
    }
    if (n)
        return odb_buf_take(&text);
    odb_buf_dispose(&text);
    return NULL;
}

/* node: whose weights stand beside it; NULL: none. */
static void graph_draw_type(const struct ui_view *view, const struct graph_look *look, int row,
                            int value, const struct odb_node *node)
{
    struct odb_buf type = ODB_BUF_INIT;
    if (value != ODB_NO_VALUE)
        odb_session_put_type(view->app->session, value, &type);
    int rest = look->cols - ui_text_width(view->app->terminal, odb_buf_text(&type)) - 1;
    char *more = node ? graph_weights(view, node, rest) : NULL;
    int width = more ? ui_text_width(view->app->terminal, more) : 0;
    bool both = width + 12 < look->cols;
    ui_draw_field(&look->area, row, look->col, look->cols - (more && both ? width + 1 : 0),
                  UI_CUT_MIDDLE, UI_STYLE_TYPE, odb_buf_text(&type));
    if (more && both)
        ui_draw_right(&look->area, row, look->col + look->cols - width, width, UI_STYLE_DIM, more);
    free(more);
    odb_buf_dispose(&type);
}

static void graph_draw_name(const struct ui_view *view, const struct graph_look *look, int row,
                            int col, int cols, enum ui_style style, const char *name)
{
    struct odb_buf text = ODB_BUF_INIT;
    ui_short_name_fit(name, ui_nodes_outline(view->app->views[UI_VIEW_NODES])->separator,
                      view->app->terminal, cols, &text);
    ui_draw_field(&look->area, row, col, cols, UI_CUT_MIDDLE, style, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* Mark, operator and error; the name; type of the output and weights: as many lines as there are,
 * and in a single one operator, name and error. */
static void graph_draw_node(const struct ui_view *view, const struct graph_look *look)
{
    const struct odb_session *session = view->app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    const struct odb_node *node = &graph->nodes[look->box->is.node];
    const struct ui_dag *dag = &((const struct graph_view *)view)->dag;
    int value, col = look->col + 2;
    const struct odb_value_report *report = odb_session_node(session, node->index, &value);
    bool culprit = report->culprit || odb_session_culprit(session, node->index);
    char key[512] = "", number[32];
    if (value != ODB_NO_VALUE)
        odb_value_key(graph, &graph->values[value], key, sizeof key);
    const char *name = *node->name ? node->name : key;
    const char *error = isinf(odb_report_error(report))
                            ? odb_verdict_name(report->verdict)
                            : ui_number_text(report->error, number, sizeof number);
    int width = *error && look->cols >= 14 ? (int)strlen(error) : 0;
    int rest = look->cols - 2 - (width ? width + 1 : 0);
    ui_draw_glyph(&look->area, look->row, look->col, ui_mark_style(report, culprit),
                  ui_mark_glyph(report, culprit,
                                *odb_cpu_unsupported(odb_session_cpu(session), node->index)));
    int op = dag->text > 1 ? rest : ODB_MIN((int)strlen(node->op_type), ODB_MAX(rest / 2, 4));
    ui_draw_field(&look->area, look->row, col, op, UI_CUT_MIDDLE, UI_STYLE_OP, node->op_type);
    if (width)
        ui_draw_right(&look->area, look->row, look->col + look->cols - width, width,
                      ui_mark_style(report, false), error);
    enum ui_style style = *node->name ? UI_STYLE_NAME : UI_STYLE_DIM;
    if (dag->text == 1 && rest - op > 3)
        graph_draw_name(view, look, look->row, col + op + 1, rest - op - 1, style, name);
    if (dag->text > 1)
        graph_draw_name(view, look, look->row + 1, look->col, look->cols, style, name);
    if (dag->text > 2)
        graph_draw_type(view, look, look->row + 2, value, node);
}

static void graph_draw_value(const struct ui_view *view, const struct graph_look *look)
{
    const struct odb_graph *graph = graph_of(view);
    const struct ui_dag *dag = &((const struct graph_view *)view)->dag;
    const struct odb_value *value = &graph->values[look->box->is.value];
    const char *what =
        look->box->is.kind == UI_DAG_INPUT ? value->is_outer ? "outer value" : "input" : "output";
    char key[512];
    odb_value_key(graph, value, key, sizeof key);
    int col = ui_draw_printf(&look->area, look->row, look->col, UI_STYLE_LABEL, "%s ", what);
    if (dag->text == 1)
        ui_draw_field(&look->area, look->row, col, look->col + look->cols - col, UI_CUT_MIDDLE,
                      UI_STYLE_NAME, key);
    else
        ui_draw_field(&look->area, look->row + 1, look->col, look->cols, UI_CUT_MIDDLE,
                      UI_STYLE_NAME, key);
    if (dag->text > 2)
        graph_draw_type(view, look, look->row + 2, value->index, NULL);
}

static void graph_draw_more(const struct ui_view *view, const struct graph_look *look)
{
    const struct odb_session *session = view->app->session;
    size_t n = look->box->folded.n, bad = 0;
    char text[64];
    for (size_t i = 0; i < n; i++)
        if (look->box->folded.items[i].kind == UI_DAG_NODE)
            bad += odb_verdict_is_bad(
                odb_session_node(session, look->box->folded.items[i].node, NULL)->verdict);
    snprintf(text, sizeof text, "+%zu more", n);
    int col = ui_draw_text(&look->area, look->row, look->col, UI_STYLE_LABEL, text);
    if (bad)
        ui_draw_printf(&look->area, look->row, col + 1, UI_STYLE_BAD, "%zu off", bad);
    if (look->box->rows > 3)
        ui_draw_field(&look->area, look->row + 1, look->col, look->cols, UI_CUT_END, UI_STYLE_DIM,
                      "Enter lists, right turns");
}

static enum ui_style graph_border(const struct ui_view *view, const struct ui_dag_box *box)
{
    const struct odb_session *session = view->app->session;
    if (box->is.kind != UI_DAG_NODE)
        return UI_STYLE_BORDER;
    const struct odb_value_report *report = odb_session_node(session, box->is.node, NULL);
    return odb_verdict_is_bad(report->verdict) ? UI_STYLE_BAD : UI_STYLE_BORDER;
}

/* How many neighbours are not drawn, in the border that they are behind. */
static void graph_draw_hidden(const struct graph_look *look, int row, enum ui_glyph arrow, int n)
{
    char text[16];
    if (!n || look->cols < 8)
        return;
    int width = snprintf(text, sizeof text, "%d", n), end = look->col + look->cols;
    ui_draw_glyph(&look->area, row, end - width - 1, UI_STYLE_LABEL, arrow);
    ui_draw_text(&look->area, row, end - width, UI_STYLE_LABEL, text);
}

static void graph_draw_box(const struct ui_view *view, const struct ui_area *area, size_t index,
                           bool focused)
{
    const struct graph_view *v = (const struct graph_view *)view;
    const struct ui_dag_box *box = &v->dag.boxes.items[index];
    bool selected = index == view->selected, centre = (int)index == v->dag.centre;
    int pad = box->cols >= 12;
    struct graph_look look = {.box = box,
                              .area = *area,
                              .row = box->row - v->top + 1,
                              .col = box->col + 1 + pad,
                              .cols = ODB_MAX(box->cols - 2 - 2 * pad, 0),
                              .border = graph_border(view, box)};
    look.frame = selected                      ? UI_FRAME_HEAVY
                 : centre                      ? UI_FRAME_DOUBLE
                 : box->is.kind == UI_DAG_NODE ? UI_FRAME_PLAIN
                                               : UI_FRAME_ROUND;
    if (selected)
        look.area.under = focused ? UI_STYLE_SELECTED : UI_STYLE_SELECTED_DIM;
    for (int r = 0; selected && r < v->dag.text; r++)
        ui_draw_field(&look.area, look.row + r, box->col + 1, box->cols - 2, UI_CUT_END,
                      UI_STYLE_NORMAL, "");
    if (box->is.kind == UI_DAG_NODE)
        graph_draw_node(view, &look);
    else if (box->is.kind == UI_DAG_MORE)
        graph_draw_more(view, &look);
    else
        graph_draw_value(view, &look);
    look.area.under = area->under;
    ui_draw_frame(area, look.row - 1, box->col, box->rows, box->cols, look.border, look.frame);
    for (int below = 0; below < 2; below++)
        for (int c = 1; c < box->cols - 1; c++) {
            int row = below ? box->row + box->rows - 1 : box->row;
            if (v->dag.cells[row * v->dag.cols + box->col + c].arms)
                ui_draw_joint(area, row - v->top, box->col + c, look.border, look.frame, !below);
        }
    graph_draw_hidden(&look, look.row - 1, UI_GLYPH_ARROW_UP, box->above);
    graph_draw_hidden(&look, look.row + box->rows - 2, UI_GLYPH_ARROW_DOWN, box->below);
}

/* Lines of values that are off are seen at once; those of the selected box are thick. */
static void graph_draw_line(const struct ui_view *view, const struct ui_area *area, int row,
                            int col)
{
    const struct graph_view *v = (const struct graph_view *)view;
    const struct odb_session *session = view->app->session;
    const struct ui_dag_cell *cell = &v->dag.cells[row * v->dag.cols + col];
    bool bad = cell->value != ODB_NO_VALUE &&
               odb_verdict_is_bad(odb_session_values(session)[cell->value].verdict);
    enum ui_style style = bad ? UI_STYLE_BAD : cell->lit ? UI_STYLE_LABEL : UI_STYLE_BORDER;
    if (cell->arrow)
        ui_draw_glyph(area, row - v->top, col, style, UI_GLYPH_POINT_DOWN);
    else
        ui_draw_lines(area, row - v->top, col, style, cell->arms, cell->lit);
}

static void graph_draw(const struct ui_view *view, const struct ui_area *area, bool focused)
{
    const struct graph_view *v = (const struct graph_view *)view;
    if (!v->dag.boxes.n) {
        ui_draw_text(area, 0, 0, UI_STYLE_DIM, "no node is selected");
        return;
    }
    int cols = ODB_MIN(v->dag.cols, area->cols);
    for (int row = ODB_MAX(v->top, 0); row < v->dag.rows && row < v->top + area->rows; row++)
        for (int col = 0; col < cols; col++)
            if (v->dag.cells[row * v->dag.cols + col].arms && ui_dag_at(&v->dag, row, col) < 0)
                graph_draw_line(view, area, row, col);
    for (size_t i = 0; i < v->dag.boxes.n; i++)
        graph_draw_box(view, area, i, focused);
    if (v->top > 0)
        ui_draw_glyph(area, 0, area->cols - 1, UI_STYLE_LABEL, UI_GLYPH_ARROW_UP);
    if (v->top + area->rows < v->dag.rows)
        ui_draw_glyph(area, area->rows - 1, area->cols - 1, UI_STYLE_LABEL, UI_GLYPH_ARROW_DOWN);
}

/* What a box is, in a line. */
static void graph_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct ui_dag_box *box = graph_box(view, row);
    const struct odb_graph *graph = graph_of(view);
    struct odb_buf text = ODB_BUF_INIT;
    if (box->is.kind == UI_DAG_NODE)
        odb_node_put(graph, box->is.node, &text);
    else if (box->is.kind == UI_DAG_MORE)
        odb_buf_printf(&text, "%zu more", box->folded.n);
    else
        odb_buf_puts(&text, graph->values[box->is.value].name);
    ui_draw_text(area, 0, 0, UI_STYLE_NORMAL, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

static size_t graph_at(const struct ui_view *view, int row, int col)
{
    const struct graph_view *v = (const struct graph_view *)view;
    int box = ui_dag_at(&v->dag, row + v->top, col);
    return box < 0 ? SIZE_MAX : (size_t)box;
}

static void graph_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct graph_view *v = (const struct graph_view *)view;
    odb_buf_puts(out, "graph");
    if (v->centre == ODB_NO_NODE)
        return;
    odb_buf_puts(out, " around ");
    odb_node_put(graph_of(view), v->centre, out);
    odb_buf_printf(out, ", %d deep", v->depth);
}

/* --- finding and walking ---------------------------------------------------------------------- */

static bool graph_matches(const struct ui_view *view, size_t row, const char *text)
{
    const struct ui_dag_box *box = graph_box(view, row);
    const struct odb_graph *graph = graph_of(view);
    if (!box || box->is.kind == UI_DAG_MORE)
        return false;
    if (box->is.kind != UI_DAG_NODE)
        return odb_text_matches(graph->values[box->is.value].name, text);
    const struct odb_node *node = &graph->nodes[box->is.node];
    if (odb_text_matches(node->name, text) || odb_text_matches(node->op_type, text))
        return true;
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] != ODB_NO_VALUE &&
            odb_text_matches(graph->values[node->out[o]].name, text))
            return true;
    return false;
}

static void graph_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct ui_dag_box *box = graph_box(view, view->selected);
    *out = (struct ui_subject){ODB_NO_NODE, ODB_NO_VALUE};
    if (!box)
        return;
    *out = (struct ui_subject){box->is.node, box->is.value};
    if (box->is.kind == UI_DAG_NODE)
        odb_session_node(view->app->session, box->is.node, &out->value);
    else if (box->is.kind == UI_DAG_OUTPUT)
        out->node = graph_of(view)->values[box->is.value].producer;
}

/* Selects a box; a node there is selected in the list as well. */
static void graph_select(struct graph_view *v, int box)
{
    const struct ui_dag_item *is = &v->dag.boxes.items[box].is;
    v->last = (int)v->view.selected;
    v->view.selected = v->at = (size_t)box;
    if (is->kind == UI_DAG_NODE && is->node != v->node) {
        v->node = is->node;
        v->steps++;
        ui_app_jump(v->view.app, is->node);
    }
}

/* Boxes of a layer, but for the one in which the others are folded. */
static size_t graph_layer_boxes(const struct graph_view *v, int layer)
{
    size_t n = 0;
    for (size_t i = 0; i < v->dag.boxes.n; i++)
        n += v->dag.boxes.items[i].layer == layer && v->dag.boxes.items[i].is.kind != UI_DAG_MORE;
    return n;
}

/* To the right of what is folded come the next ones of it, to the left of all those before; round
 * the end. False: nothing is folded there. */
static bool graph_turn(struct graph_view *v, unsigned direction)
{
    const struct ui_dag_box *box = graph_box(&v->view, v->view.selected);
    int layer = box->layer, more = ui_dag_more(&v->dag, layer);
    bool right = direction == UI_DAG_RIGHT;
    if (more < 0 || (!right && layer != v->turned))
        return false;
    size_t shown = graph_layer_boxes(v, layer), all = shown + v->dag.boxes.items[more].folded.n;
    size_t turn = layer == v->turned ? v->turn : 0;
    v->turn = (turn + (right ? shown : all - shown % all)) % all;
    v->turned = layer;
    graph_make(v, v->cols);
    more = ui_dag_more(&v->dag, layer);
    int first = more - (int)graph_layer_boxes(v, layer);
    v->view.selected = v->at = (size_t)(more < 0 ? v->dag.centre : right ? more : first);
    return true;
}

static enum ui_answer graph_walk(struct graph_view *v, unsigned direction, int64_t steps,
                                 struct odb_error *err)
{
    for (; steps > 0; steps--) {
        const struct ui_dag_box *box = graph_box(&v->view, v->view.selected);
        if (!box)
            return UI_DONE;
        int to = ui_dag_walk(&v->dag, (int)v->view.selected, direction, v->last);
        bool hidden = direction == UI_DAG_UP ? box->above : direction == UI_DAG_DOWN && box->below;
        if (to < 0 && hidden && box->is.kind == UI_DAG_NODE) {
            graph_recentre(v, box->is.node, v->cols); /* the picture goes along */
            to = ui_dag_walk(&v->dag, (int)v->view.selected, direction, -1);
        }
        if (to < 0 && direction & (UI_DAG_UP | UI_DAG_DOWN)) {
            odb_fail(err, ODB_E_USAGE, "nothing is drawn %s this box",
                     direction == UI_DAG_UP ? "above" : "below");
            return UI_FAILED;
        }
        if (to < 0 && !graph_turn(v, direction))
            return UI_DONE;
        if (to >= 0)
            graph_select(v, to);
    }
    return UI_DONE;
}

/* A node goes into the middle; there it is opened. */
static enum ui_answer graph_open_box(struct graph_view *v)
{
    const struct ui_dag_box *box = graph_box(&v->view, v->view.selected);
    struct ui_app *app = v->view.app;
    if (!box)
        return UI_NOT_MINE;
    switch (box->is.kind) {
    case UI_DAG_NODE:
        if (box->is.node == v->centre)
            ui_app_open(app, UI_VIEW_NODE);
        else
            graph_recentre(v, box->is.node, v->cols);
        return UI_DONE;
    case UI_DAG_INPUT:
    case UI_DAG_OUTPUT:
        ui_tensor_show(app->views[UI_VIEW_TENSOR], box->is.value);
        ui_app_open(app, UI_VIEW_TENSOR);
        return UI_DONE;
    case UI_DAG_MORE:
        break;
    }
    ui_choose_nodes(app->views[UI_VIEW_CHOOSE], box->folded.items, box->folded.n);
    ui_app_open(app, UI_VIEW_CHOOSE);
    return UI_DONE;
}

static enum ui_answer graph_deepen(struct graph_view *v, int64_t by, struct odb_error *err)
{
    int64_t depth = v->depth + by;
    if (depth < 1 || depth > GRAPH_DEEPEST) {
        odb_fail(err, ODB_E_USAGE, "the graph is drawn 1 to %d layers deep", GRAPH_DEEPEST);
        return UI_FAILED;
    }
    v->depth = (int)depth;
    v->stale = true;
    return UI_DONE;
}

static enum ui_answer graph_act(struct ui_view *view, const struct odb_command_call *call,
                                struct odb_error *err)
{
    struct graph_view *v = (struct graph_view *)view;
    const char *arg = odb_call_arg(call, 0);
    int64_t n = arg ? strtoll(arg, NULL, 10) : 1;
    switch (call->command->screen) {
    case ODB_SCREEN_UP:
        return graph_walk(v, UI_DAG_UP, n, err);
    case ODB_SCREEN_DOWN:
        return graph_walk(v, UI_DAG_DOWN, n, err);
    case ODB_SCREEN_LEFT:
        return graph_walk(v, UI_DAG_LEFT, n, err);
    case ODB_SCREEN_RIGHT:
        return graph_walk(v, UI_DAG_RIGHT, n, err);
    case ODB_SCREEN_OPEN:
        return arg ? UI_NOT_MINE : graph_open_box(v);
    case ODB_SCREEN_DEPTH:
        return graph_deepen(v, n, err);
    case ODB_SCREEN_CANCEL:
        v->steps = 0;
        return UI_NOT_MINE;
    case ODB_SCREEN_BACK:
        if (!v->steps || !ui_app_travel(view->app, true))
            return UI_NOT_MINE;
        v->steps--;
        return UI_DONE;
    default:
        return UI_NOT_MINE;
    }
}

static void graph_open(struct ui_view *view)
{
    struct graph_view *v = (struct graph_view *)view;
    v->centre = v->node = ODB_NO_NODE;
    v->depth = 2;
}

static void graph_close(struct ui_view *view)
{
    ui_dag_dispose(&((struct graph_view *)view)->dag);
}

const struct ui_view_ops ui_graph_view = {
    .help = "the selected node among its neighbours, drawn",
    .size = sizeof(struct graph_view),
    .share = 55,
    .wraps = true,
    .open = graph_open,
    .close = graph_close,
    .title = graph_title,
    .prepare = graph_prepare,
    .rows = graph_rows,
    .draw_row = graph_draw_row,
    .draw = graph_draw,
    .at = graph_at,
    .matches = graph_matches,
    .subject = graph_subject,
    .act = graph_act,
};
