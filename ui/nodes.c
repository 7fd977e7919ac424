/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The nodes in topological order: a line each, with verdict, operator, name, what it makes, and its
 * error on a scale. A filter keeps a list of the nodes that it lets through; without one there is
 * nothing per node.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/app.h"

#define NODES_OUTPUT 130 /* columns from which on the output has one of its own */

struct nodes_view {
    struct ui_view view;
    char *filter; /* owned; NULL: none */
    int *listed;  /* owned: nodes that the filter lets through */
    size_t n_listed;
    unsigned long generation; /* of the session when they were listed */
};

static const struct odb_graph *nodes_graph(const struct ui_view *view)
{
    return view->app->session->model->graph;
}

static int nodes_at(const struct ui_view *view, size_t row)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    if (v->filter)
        return row < v->n_listed ? v->listed[row] : ODB_NO_NODE;
    return row < nodes_graph(view)->n_nodes ? (int)row : ODB_NO_NODE;
}

static size_t nodes_rows(const struct ui_view *view)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    return v->filter ? v->n_listed : nodes_graph(view)->n_nodes;
}

int ui_nodes_selected(const struct ui_view *view)
{
    return nodes_at(view, view->selected);
}

/* --- what a node is found by ------------------------------------------------------------------ */

static bool nodes_value_matches(const struct odb_graph *graph, const int *list, int n,
                                const char *text)
{
    for (int i = 0; i < n; i++)
        if (list[i] != ODB_NO_VALUE && ui_text_matches(graph->values[list[i]].name, text))
            return true;
    return false;
}

/* readers: also by what it reads; else a name finds its node alone, and not who reads from it. */
/* Words that what is listed by changes with the search. */
static bool nodes_by_verdict(const char *text)
{
    enum odb_verdict verdict;
    return !strcmp(text, "culprit") || !strcmp(text, "off") || !strcmp(text, "bad") ||
           !strcmp(text, "break") || odb_verdict_parse(&verdict, text);
}

static bool nodes_node_matches(const struct odb_session *session, int index, const char *text,
                               bool readers)
{
    const struct odb_graph *graph = session->model->graph;
    const struct odb_node *node = &graph->nodes[index];
    const struct odb_value_report *report = odb_session_node(session, index, NULL);
    if (!strcmp(text, "culprit"))
        return report->culprit || odb_session_culprit(session, index);
    if (!strcmp(text, "off") || !strcmp(text, "bad"))
        return odb_verdict_is_bad(report->verdict);
    if (!strcmp(text, "break"))
        return session->breaks[index];
    if (!strcmp(text, odb_verdict_name(report->verdict)))
        return true;
    return ui_text_matches(node->name, text) || ui_text_matches(node->op_type, text) ||
           ui_text_matches(node->domain, text) ||
           (readers && nodes_value_matches(graph, node->in, node->n_in, text)) ||
           nodes_value_matches(graph, node->out, node->n_out, text);
}

static bool nodes_matches(const struct ui_view *view, size_t row, const char *text)
{
    int node = nodes_at(view, row);
    return node != ODB_NO_NODE && nodes_node_matches(view->app->session, node, text, false);
}

static void nodes_list(struct nodes_view *v)
{
    const struct odb_session *session = v->view.app->session;
    size_t n = session->model->graph->n_nodes;
    int selected = ui_nodes_selected(&v->view);
    odb_session_lock(session);
    v->generation = session->generation;
    v->listed = odb_xrealloc(v->listed, n + 1, sizeof *v->listed);
    v->n_listed = 0;
    for (size_t i = 0; i < n; i++)
        if (nodes_node_matches(session, (int)i, v->filter, true))
            v->listed[v->n_listed++] = (int)i;
    odb_session_unlock(session);
    ui_nodes_goto(&v->view, selected);
}

void ui_nodes_filter(struct ui_view *view, const char *text)
{
    struct nodes_view *v = (struct nodes_view *)view;
    int selected = ui_nodes_selected(view);
    free(v->filter);
    v->filter = text && *text ? odb_xstrdup(text) : NULL;
    if (v->filter)
        nodes_list(v);
    ui_nodes_goto(view, selected);
}

const char *ui_nodes_filter_text(const struct ui_view *view)
{
    return ((const struct nodes_view *)view)->filter;
}

/* A filter by verdict follows the search. */
static void nodes_prepare(struct ui_view *view, int cols)
{
    struct nodes_view *v = (struct nodes_view *)view;
    odb_session_lock(view->app->session);
    bool stale = v->filter && nodes_by_verdict(v->filter) &&
                 v->generation != view->app->session->generation;
    odb_session_unlock(view->app->session);
    if (stale)
        nodes_list(v);
}

void ui_nodes_goto(struct ui_view *view, int node)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    size_t row = node < 0 ? 0 : (size_t)node;
    if (v->filter) /* the node, else the next one that is listed */
        for (row = 0; row < v->n_listed && v->listed[row] < node; row++)
            ;
    ui_list_select(view, row);
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Columns for a width: what is fixed first, the rest is shared by the names. */
struct nodes_columns {
    int index, op, name, output, type, bar, number;
};

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

static int nodes_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    if (!area)
        return rows > 3;
    bool thumb = nodes_rows(view) > (size_t)view->height && view->height > 1;
    struct nodes_columns c = nodes_columns(view, area->cols - 2 * thumb);
    int col = -view->left;
    ui_draw_fill(area, UI_STYLE_HEAD);
    ui_draw_right(area, 0, col + 1, c.index, UI_STYLE_HEAD, "#");
    col += c.index + 4;
    ui_draw_field(area, 0, col, c.op, UI_CUT_END, UI_STYLE_HEAD, "operator");
    col += c.op + 1;
    ui_draw_field(area, 0, col, c.name, UI_CUT_END, UI_STYLE_HEAD, "name");
    col += c.name + 1;
    if (c.output)
        ui_draw_field(area, 0, col, c.output, UI_CUT_END, UI_STYLE_HEAD, "output");
    col += c.output;
    if (c.type)
        ui_draw_field(area, 0, col, c.type, UI_CUT_END, UI_STYLE_HEAD, "type");
    col += c.type + 1;
    ui_draw_field(area, 0, col, c.bar + c.number, UI_CUT_END, UI_STYLE_HEAD, "error 1e-8 to 1");
    return 1;
}

static void nodes_draw_names(const struct ui_view *view, const struct odb_node *node, int value,
                             const struct nodes_columns *c, const struct ui_area *area, int col)
{
    const struct odb_session *session = view->app->session;
    const struct odb_graph *graph = session->model->graph;
    struct odb_buf text = ODB_BUF_INIT;
    char key[512] = "";
    if (value != ODB_NO_VALUE)
        odb_value_key(graph, &graph->values[value], key, sizeof key);
    if (*node->domain)
        odb_buf_printf(&text, "%s::", node->domain);
    odb_buf_puts(&text, node->op_type);
    ui_draw_field(area, 0, col, c->op, UI_CUT_MIDDLE, UI_STYLE_OP, odb_buf_text(&text));
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
        ui_type_text(session, value, &text);
    if (c->type)
        ui_draw_field(area, 0, col, c->type, UI_CUT_MIDDLE, UI_STYLE_TYPE, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

static void nodes_draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct odb_session *session = view->app->session;
    struct nodes_columns c = nodes_columns(view, area->cols);
    int index = nodes_at(view, row), value, col = -view->left;
    const struct odb_node *node = &session->model->graph->nodes[index];
    const struct odb_value_report *report = odb_session_node(session, index, &value);
    bool culprit = report->culprit || odb_session_culprit(session, index);
    bool unsupported = *odb_cpu_unsupported(session->cpu, index);
    char number[32];
    if (index == session->at)
        ui_draw_glyph(area, 0, col, UI_STYLE_WARN, UI_GLYPH_HERE);
    else if (session->breaks[index])
        ui_draw_glyph(area, 0, col, UI_STYLE_BAD, UI_GLYPH_BREAK);
    snprintf(number, sizeof number, "%d", index);
    ui_draw_right(area, 0, col + 1, c.index, UI_STYLE_DIM, number);
    ui_draw_glyph(area, 0, col + c.index + 2, ui_mark_style(report, culprit),
                  ui_mark_glyph(report, culprit, unsupported));
    col += c.index + 4;
    nodes_draw_names(view, node, value, &c, area, col);
    col += c.op + 1 + c.name + 1 + c.output + c.type + 1;
    ui_draw_error(area, 0, col, c.bar, report, ui_noise_factor(view->app->console));
    ui_draw_right(area, 0, col + c.bar, c.number + 1, ui_mark_style(report, false),
                  isinf(ui_error(report)) ? odb_verdict_name(report->verdict)
                                          : ui_number_text(report->error, number, sizeof number));
}

static void nodes_title(const struct ui_view *view, struct odb_buf *out)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    size_t rows = nodes_rows(view);
    odb_buf_printf(out, "nodes %zu/%zu", rows ? view->selected + 1 : 0, rows);
    if (v->filter)
        odb_buf_printf(out, "  filter: %s", v->filter);
}

static void nodes_subject(const struct ui_view *view, struct ui_subject *out)
{
    int node = ui_nodes_selected(view);
    *out = (struct ui_subject){node, ODB_NO_VALUE};
    if (node != ODB_NO_NODE)
        odb_session_node(view->app->session, node, &out->value);
}

static void nodes_close(struct ui_view *view)
{
    struct nodes_view *v = (struct nodes_view *)view;
    free(v->filter);
    free(v->listed);
}

const struct ui_view_ops ui_nodes_view = {
    .name = "nodes",
    .size = sizeof(struct nodes_view),
    .close = nodes_close,
    .title = nodes_title,
    .prepare = nodes_prepare,
    .header = nodes_header,
    .rows = nodes_rows,
    .draw_row = nodes_draw_row,
    .matches = nodes_matches,
    .subject = nodes_subject,
};
