/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The nodes, a line each, with verdict, operator, name, what it makes, and its error on a scale.
 * Which of them, in what order, and which scopes stand for all that is in them, is an outline's
 * (outline.h): in topological order and all of them, unless the user wants it otherwise.
 */
#include "ui/list/view_nodes.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "command/console/filter.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/list/list.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"
#include "ui/view/view.h"

#define NODES_OUTPUT 130  /* columns from which on the output has one of its own */
#define NODES_PATIENCE 10 /* rows that follow a search are made anew at most this part of time */

struct nodes_view {
    struct ui_view view;
    struct ui_outline outline;
    double made, cost; /* when the rows were made, of odb_clock(), and how long it took */
};

static const struct odb_graph *nodes_graph(const struct ui_view *view)
{
    return odb_session_model(view->app->session)->graph;
}

static struct ui_row nodes_row(const struct ui_view *view, size_t row)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    return ui_outline_row(&v->outline, nodes_graph(view), row);
}

static size_t nodes_rows(const struct ui_view *view)
{
    return ui_outline_rows(&((const struct nodes_view *)view)->outline, nodes_graph(view));
}

int ui_nodes_selected(const struct ui_view *view)
{
    return nodes_row(view, view->selected).node;
}

struct ui_outline *ui_nodes_outline(struct ui_view *view)
{
    return &((struct nodes_view *)view)->outline;
}

const char *ui_nodes_filter_text(const struct ui_view *view)
{
    return ((const struct nodes_view *)view)->outline.how.filter;
}

/* --- which rows ------------------------------------------------------------------------------- */

/* A row holds a text if one of its nodes does. A name finds its node alone, and not the nodes
 * that read from it. */
static bool nodes_matches(const struct ui_view *view, size_t row, const char *text)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    int node = nodes_row(view, row).node;
    while (node != ODB_NO_NODE) {
        if (odb_filter_word(view->app->session, node, text, false))
            return true;
        node = v->outline.plain ? ODB_NO_NODE : v->outline.next[node];
    }
    return false;
}

void ui_nodes_remake(struct ui_view *view)
{
    struct nodes_view *v = (struct nodes_view *)view;
    const struct odb_session *session = view->app->session;
    int selected = ui_nodes_selected(view);
    odb_session_lock(session);
    v->made = odb_clock();
    ui_outline_make(&v->outline, session);
    v->cost = odb_clock() - v->made;
    odb_session_unlock(session);
    ui_nodes_goto(view, selected);
}

enum odb_status ui_nodes_filter(struct ui_view *view, const char *text, size_t *at,
                                struct odb_error *err)
{
    int selected = ui_nodes_selected(view);
    ODB_TRY(ui_outline_filter(ui_nodes_outline(view), text, at, err));
    ui_nodes_remake(view);
    ui_nodes_goto(view, selected);
    return ODB_OK;
}

/* Rows that depend on verdicts follow the search, but do not take all of its time. */
static void nodes_prepare(struct ui_view *view, int cols)
{
    struct nodes_view *v = (struct nodes_view *)view;
    odb_session_lock(view->app->session);
    bool stale = ui_outline_follows(&v->outline) &&
                 v->outline.generation != odb_session_generation(view->app->session);
    odb_session_unlock(view->app->session);
    bool early = ui_app_busy(view->app) && odb_clock() - v->made < NODES_PATIENCE * v->cost;
    if (stale && !early)
        ui_nodes_remake(view);
}

void ui_nodes_goto(struct ui_view *view, int node)
{
    ui_list_select(view, ui_outline_find(ui_nodes_outline(view), node));
}

bool ui_nodes_reveal(struct ui_view *view, int node)
{
    if (!ui_outline_reveal(ui_nodes_outline(view), nodes_graph(view), node))
        return false;
    ui_nodes_remake(view);
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Columns for a width: what is fixed first, the rest is shared by the names. */
struct nodes_columns {
    int index, op, name, output, type, kernel, bar, number, local, noise;
};

/* In the order of ODB_COLUMNS. */
enum nodes_column {
    NODES_OP,
    NODES_NAME,
    NODES_OUT,
    NODES_TYPE,
    NODES_KERNEL,
    NODES_BAR,
    NODES_ERROR,
    NODES_LOCAL,
    NODES_NOISE
};

static bool nodes_wants(unsigned columns, enum nodes_column column)
{
    return columns >> column & 1;
}

/* The columns that were asked for; what is left of the width is the names'. */
static void nodes_chosen(struct nodes_columns *c, unsigned wanted, int cols)
{
    c->op = nodes_wants(wanted, NODES_OP) ? c->op : 0;
    c->type = nodes_wants(wanted, NODES_TYPE) ? c->type : 0;
    c->kernel = nodes_wants(wanted, NODES_KERNEL) ? c->type ? 18 : 22 : 0;
    c->bar = nodes_wants(wanted, NODES_BAR) ? c->bar : 0;
    c->number = nodes_wants(wanted, NODES_ERROR) ? c->number : 0;
    c->local = nodes_wants(wanted, NODES_LOCAL) ? 8 : 0;
    c->noise = nodes_wants(wanted, NODES_NOISE) ? 8 : 0;
    int rest = cols - (c->index + c->op + c->type + c->kernel + c->bar + c->number + c->local +
                       c->noise + 8);
    bool name = nodes_wants(wanted, NODES_NAME), out = nodes_wants(wanted, NODES_OUT);
    c->output = out ? ODB_MAX(name ? rest / 2 : rest, 0) : 0;
    c->name = name ? ODB_MAX(rest - c->output, 0) : 0;
}

static struct nodes_columns nodes_columns(const struct ui_view *view, int cols)
{
    struct nodes_columns c = {.op = 13, .type = 18, .bar = 10, .number = 7};
    size_t n = nodes_graph(view)->n_nodes;
    for (c.index = 3; n >= 1000; n /= 10)
        c.index++;
    if (cols >= 100) {
        c.op = 18;
        c.type = 22;
        c.bar = 16;
    }
    unsigned wanted = ((const struct nodes_view *)view)->outline.how.columns;
    if (wanted) {
        nodes_chosen(&c, wanted, cols);
        return c;
    }
    int rest = cols - (c.index + c.op + c.type + c.bar + c.number + 8);
    if (rest < 16) { /* where there is little room, the error and the name matter most */
        rest += c.type;
        c.type = 0;
    }
    int *const give[] = {&c.bar, &c.op};
    for (size_t i = 0; i < ODB_COUNT(give) && rest < 0; i++) {
        int part = ODB_MIN(-rest, *give[i]);
        *give[i] -= part;
        rest += part;
    }
    if (cols >= NODES_OUTPUT)
        c.output = ODB_MIN(rest / 3, 40);
    c.name = ODB_MAX(rest - c.output, 0);
    return c;
}

/* A title of the header: where it stands, and what a click on it sorts by. */
struct nodes_title {
    int col, width;
    enum ui_sort sort;
    const char *text;
};
#define NODES_TITLES 9

static int nodes_titles(const struct ui_view *view, int cols, struct nodes_title *out)
{
    bool thumb = nodes_rows(view) > (size_t)view->height && view->height > 1;
    const struct nodes_columns c = nodes_columns(view, cols - 2 * thumb);
    const struct nodes_title all[NODES_TITLES] = {
        {1, c.index, UI_SORT_INDEX, "#"},
        {3, c.op, UI_SORT_OP, "operator"},
        {1, c.name, UI_SORT_NAME, "name"},
        {1, c.output, UI_SORT_OUTPUT, "output"},
        {0, c.type, UI_SORT_TYPE, "type"},
        {0, c.kernel, UI_SORT_KERNEL, "kernel"},
        {1, c.bar + c.number, UI_SORT_ERROR, c.bar ? "error 1e-8 to 1" : "error"},
        {1, c.local, UI_SORT_LOCAL, "local"},
        {0, c.noise, UI_SORT_NOISE, "noise"},
    };
    int col = -view->left, n = 0;
    for (int i = 0; i < NODES_TITLES; i++) { /* `col` of the table: blanks before it */
        col += all[i].col;
        if (all[i].width > 0) {
            out[n] = all[i];
            out[n++].col = col;
        }
        col += ODB_MAX(all[i].width, 0);
    }
    return n;
}

/* The title of a column, with an arrow where rows are sorted by it. */
static void nodes_head(const struct ui_view *view, const struct ui_area *area,
                       const struct nodes_title *head, bool has_own)
{
    const struct ui_arrangement *how = &((const struct nodes_view *)view)->outline.how;
    /* What has no column of its own is named in place of the error. */
    bool instead = head->sort == UI_SORT_ERROR && how->sort > UI_SORT_ERROR && !has_own;
    bool sorted =
        instead || (how->sort == head->sort && (head->sort != UI_SORT_INDEX || how->descending));
    enum ui_glyph arrow = how->descending ? UI_GLYPH_ARROW_DOWN : UI_GLYPH_ARROW_UP;
    char *text = odb_xasprintf("%s%s", sorted ? ui_glyph_text(arrow, area->terminal->unicode) : "",
                               instead ? ui_sort_name(how->sort) : head->text);
    bool right =
        head->sort == UI_SORT_INDEX || head->sort == UI_SORT_LOCAL || head->sort == UI_SORT_NOISE;
    if (right)
        ui_draw_right(area, 0, head->col, head->width, UI_STYLE_HEAD, text);
    else
        ui_draw_field(area, 0, head->col, head->width, UI_CUT_END, UI_STYLE_HEAD, text);
    free(text);
}

static int nodes_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    struct nodes_title titles[NODES_TITLES];
    if (!area)
        return rows > 3;
    int n = nodes_titles(view, area->cols, titles);
    bool has_own = false;
    for (int i = 0; i < n; i++)
        has_own |= titles[i].sort == ((const struct nodes_view *)view)->outline.how.sort;
    ui_draw_fill(area, UI_STYLE_HEAD);
    for (int i = 0; i < n; i++)
        nodes_head(view, area, &titles[i], has_own);
    return 1;
}

static const char *nodes_column(const struct ui_view *view, int row, int col)
{
    struct nodes_title titles[NODES_TITLES];
    int n = row < view->header ? nodes_titles(view, view->cols, titles) : 0;
    for (int i = n - 1; i >= 0; i--)
        if (col >= titles[i].col)
            return ui_sort_name(titles[i].sort);
    return n ? ui_sort_name(titles[0].sort) : NULL;
}

static void nodes_draw_names(const struct ui_view *view, const struct odb_node *node, int value,
                             const struct nodes_columns *c, const struct ui_area *area, int col)
{
    const struct odb_session *session = view->app->session;
    const struct odb_graph *graph = odb_session_model(session)->graph;
    struct odb_buf text = ODB_BUF_INIT;
    char key[512] = "";
    if (value != ODB_NO_VALUE)
        odb_value_key(graph, &graph->values[value], key, sizeof key);
    if (*node->domain)
        odb_buf_printf(&text, "%s::", node->domain);
    odb_buf_puts(&text, node->op_type);
    /* Where there is no room for both, the operator: the domain stands below the list. */
    bool fits = ui_text_width(area->terminal, odb_buf_text(&text)) <= c->op;
    ui_draw_field(area, 0, col, c->op, UI_CUT_MIDDLE, UI_STYLE_OP,
                  fits ? odb_buf_text(&text) : node->op_type);
    col += c->op + 1;
    /* A node without a name is known by what it makes. */
    ui_draw_field(area, 0, col, c->name, UI_CUT_MIDDLE, *node->name ? UI_STYLE_NAME : UI_STYLE_DIM,
                  *node->name ? node->name : key);
    col += c->name + 1;
    if (c->output)
        ui_draw_field(area, 0, col, c->output - 1, UI_CUT_MIDDLE, UI_STYLE_DIM, key);
    col += c->output;
    odb_buf_clear(&text);
    if (value != ODB_NO_VALUE)
        odb_session_put_type(session, value, &text);
    if (c->type)
        ui_draw_field(area, 0, col, c->type, UI_CUT_MIDDLE, UI_STYLE_TYPE, odb_buf_text(&text));
    odb_buf_clear(&text);
    const struct odb_kernel *kernel = odb_session_kernel(session, node->index);
    if (c->kernel && kernel)
        odb_buf_put_shown(&text, kernel->name);
    if (c->kernel)
        ui_draw_field(area, 0, col + c->type, c->kernel - 1, UI_CUT_MIDDLE, UI_STYLE_DIM,
                      odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* A folded scope: how many nodes it has, and its name. */
static void nodes_draw_scope(const struct ui_view *view, const struct ui_row *row,
                             const struct nodes_columns *c, const struct ui_area *area, int col)
{
    const char *label = ui_outline_label(nodes_graph(view), row->node);
    const char *dots = ui_glyph_text(UI_GLYPH_ELLIPSIS, area->terminal->unicode);
    char separator = ((const struct nodes_view *)view)->outline.separator;
    char *text =
        odb_xasprintf("%s %d node%s", ui_glyph_text(UI_GLYPH_FOLDED, area->terminal->unicode),
                      row->n, row->n == 1 ? "" : "s");
    ui_draw_field(area, 0, col, c->op, UI_CUT_END, UI_STYLE_LABEL, text);
    free(text);
    text = odb_xasprintf("%.*s%c%s", row->scope, label, separator, dots);
    ui_draw_field(area, 0, col + c->op + 1, c->name + 1 + c->output + c->type + c->kernel,
                  UI_CUT_MIDDLE, UI_STYLE_NAME, text);
    free(text);
}

/* Where the target stands, a breakpoint, a pin, a note or a mark; and a bookmark. */
static void nodes_draw_sign(const struct odb_session *session, int node, const struct ui_area *area,
                            int col)
{
    if (node == odb_session_at(session))
        ui_draw_glyph(area, 0, col, UI_STYLE_WARN, UI_GLYPH_HERE);
    else if (odb_session_breaks(session)[node])
        ui_draw_glyph(area, 0, col, UI_STYLE_BAD, UI_GLYPH_BREAK);
    else if (odb_session_tags(session)[node] & ODB_TAG_PIN)
        ui_draw_glyph(area, 0, col, UI_STYLE_WARN, UI_GLYPH_PIN);
    else if (odb_session_tags(session)[node] & ODB_TAG_NOTE)
        ui_draw_glyph(area, 0, col, UI_STYLE_LABEL, UI_GLYPH_NOTE);
    else if (odb_session_tags(session)[node] & ODB_TAG_MARK)
        ui_draw_glyph(area, 0, col, UI_STYLE_LABEL, UI_GLYPH_MARK);
    for (size_t i = 0; i < odb_session_n_bookmarks(session); i++)
        if (odb_session_bookmark_at(session, i)->node == node)
            ui_draw_printf(area, 0, col + 1, UI_STYLE_LABEL, "%c",
                           odb_session_bookmark_at(session, i)->letter);
}

static void nodes_draw_row(const struct ui_view *view, size_t at, const struct ui_area *area)
{
    const struct odb_session *session = view->app->session;
    struct nodes_columns c = nodes_columns(view, area->cols);
    struct ui_row row = nodes_row(view, at);
    int value, col = -view->left;
    const struct odb_node *node = &odb_session_model(session)->graph->nodes[row.worst];
    const struct odb_value_report *report = odb_session_node(session, row.worst, &value);
    bool culprit = report->culprit || odb_session_culprit(session, row.worst);
    bool unsupported = *odb_cpu_unsupported(odb_session_cpu(session), row.worst);
    char number[32];
    snprintf(number, sizeof number, "%d", row.node);
    ui_draw_right(area, 0, col + 1, c.index, UI_STYLE_DIM, number);
    nodes_draw_sign(session, row.node, area, col);
    ui_draw_glyph(area, 0, col + c.index + 2, ui_mark_style(report, culprit),
                  ui_mark_glyph(report, culprit, unsupported));
    col += c.index + 4;
    if (row.scope)
        nodes_draw_scope(view, &row, &c, area, col);
    else
        nodes_draw_names(view, node, value, &c, area, col);
    col += c.op + 1 + c.name + 1 + c.output + c.type + c.kernel + 1;
    ui_draw_error(area, 0, col, c.bar, report, ui_noise_factor(view->app->console));
    const char *error = isinf(odb_report_error(report))
                            ? odb_verdict_name(report->verdict)
                            : ui_number_text(report->error, number, sizeof number);
    if (c.number)
        ui_draw_right(area, 0, col + c.bar, c.number + 1, ui_mark_style(report, false), error);
    col += c.bar + c.number + 1;
    ui_draw_right(area, 0, col, c.local, UI_STYLE_NUMBER,
                  ui_number_text(report->local_error, number, sizeof number));
    ui_draw_right(area, 0, col + c.local, c.noise, UI_STYLE_NUMBER,
                  ui_number_text(report->noise, number, sizeof number));
}

static void nodes_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct ui_arrangement *how = &((const struct nodes_view *)view)->outline.how;
    size_t rows = nodes_rows(view);
    odb_buf_printf(out, "nodes %zu/%zu", rows ? view->selected + 1 : 0, rows);
    if (how->filter)
        odb_buf_printf(out, "  filter: %s", how->filter);
    if (how->sort != UI_SORT_INDEX || how->descending)
        odb_buf_printf(out, "  by %s%s", ui_sort_name(how->sort),
                       how->descending ? ", descending" : "");
}

static void nodes_subject(const struct ui_view *view, struct ui_subject *out)
{
    int node = ui_nodes_selected(view);
    *out = (struct ui_subject){node, ODB_NO_VALUE};
    if (node != ODB_NO_NODE)
        odb_session_node(view->app->session, node, &out->value);
}

static void nodes_open(struct ui_view *view)
{
    ui_outline_init(ui_nodes_outline(view));
}

static void nodes_close(struct ui_view *view)
{
    ui_outline_dispose(ui_nodes_outline(view));
}

const struct ui_view_ops ui_nodes_view = {
    .help = "all nodes in topological order",
    .size = sizeof(struct nodes_view),
    .counted = true,
    .open = nodes_open,
    .close = nodes_close,
    .title = nodes_title,
    .prepare = nodes_prepare,
    .header = nodes_header,
    .column = nodes_column,
    .rows = nodes_rows,
    .draw_row = nodes_draw_row,
    .matches = nodes_matches,
    .subject = nodes_subject,
};
