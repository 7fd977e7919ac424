/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operators of the model, a line each: how many nodes have it, what came of them, and the worst
 * of them. An operator that is wrong wherever it stands is seen here at once. Types of elements and
 * scopes are counted likewise. Nodes in bodies have no verdicts of their own, so that they are not
 * counted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "command/table/quoting.h"
#include "interpret/cpu.h"
#include "model/opnames.h"
#include "session/session.h"
#include "ui/list/jump.h"
#include "ui/list/list.h"
#include "ui/list/table_view.h"
#include "ui/list/view_nodes.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"
#include "ui/view/upkeep.h"
#include "ui/view/view.h"

/* What nodes are counted by. */
enum operators_by { BY_OPERATOR, BY_TYPE, BY_SCOPE, BY_COUNT };
static const char *const operators_by[] = {"operator", "type", "scope"};

/* An operator, a type or a scope. */
struct operators_kind {
    char *name;  /* owned */
    char *enter; /* owned: the command that lists its nodes; NULL: none can */
};

struct operators_row {
    size_t number; /* in kinds */
    size_t nodes, judged, off, culprits;
    double error; /* of the worst node; -1: none is judged */
    int worst;    /* that node; none is judged: the first */
};

struct operators_view {
    struct ui_cells_view cells;
    enum operators_by by;
    ODB_VEC(struct operators_kind) kinds;
    size_t *kind; /* owned; [n_nodes] numbers in kinds */
    struct ui_upkeep upkeep;
};

#define OPERATORS_COLUMNS(name, style_of)                                                          \
    {                                                                                              \
        {.title = name, .most = 36, .cut = UI_CUT_MIDDLE, .style = style_of},                      \
            {.title = "nodes", .most = 6, .style = UI_STYLE_NUMBER, .right = true},                \
            {.title = "judged", .most = 6, .style = UI_STYLE_NUMBER, .right = true},               \
            {.title = "off", .most = 6, .style = UI_STYLE_BAD, .right = true},                     \
            {.title = "culprits", .most = 8, .style = UI_STYLE_BAD, .right = true},                \
            {.title = "error", .most = 14, .style = UI_STYLE_NUMBER, .right = true, .bar = 6},     \
            {.title = "worst node", .cut = UI_CUT_MIDDLE, .style = UI_STYLE_NAME},                 \
            {.title = NULL},                                                                       \
    }
static const struct ui_cells_column operators_columns[BY_COUNT][UI_CELLS + 1] = {
    [BY_OPERATOR] = OPERATORS_COLUMNS("operator", UI_STYLE_OP),
    [BY_TYPE] = OPERATORS_COLUMNS("type", UI_STYLE_TYPE),
    [BY_SCOPE] = OPERATORS_COLUMNS("scope", UI_STYLE_NAME),
};

/* --- what is counted -------------------------------------------------------------------------- */

#define OPERATORS_PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

/* As the filter takes a text that is meant as it stands; false: it has no way to say it. */
static bool operators_put_term(struct odb_buf *out, const char *field, const char *text)
{
    char quote = strchr(text, '\'') ? '"' : '\'';
    if (strchr(text, quote))
        return false;
    bool plain = *text && !text[strspn(text, OPERATORS_PLAIN)];
    odb_buf_printf(out, "%s%s:", out->len ? " " : "", field);
    if (plain)
        odb_buf_puts(out, text);
    else
        odb_buf_printf(out, "%c%s%c", quote, text, quote);
    return true;
}

/* The command that filters by a text; NULL: the filter has no way to say it. */
static char *operators_line_take(struct odb_buf *text, bool told)
{
    struct odb_buf line = ODB_BUF_INIT;
    odb_buf_puts(&line, "filter ");
    odb_words_quote(&line, odb_buf_text(text));
    odb_buf_dispose(text);
    if (told)
        return odb_buf_take(&line);
    odb_buf_dispose(&line);
    return NULL;
}

/* The name says which operator is meant without its domain. */
static bool operators_alone(const struct odb_opnames *kinds, size_t number)
{
    const char *name = kinds->items.items[number].op_type;
    for (size_t k = 0; k < kinds->items.n; k++)
        if (k != number && !strcasecmp(kinds->items.items[k].op_type, name))
            return false;
    return true;
}

static char *operators_filter(const struct odb_opnames *kinds, size_t number)
{
    const struct odb_opname *kind = &kinds->items.items[number];
    struct odb_buf text = ODB_BUF_INIT;
    bool told = true;
    if (!operators_alone(kinds, number))
        told = operators_put_term(&text, "domain", *kind->domain ? kind->domain : "ai.onnx");
    told = told && operators_put_term(&text, "op", kind->op_type);
    return operators_line_take(&text, told);
}

static void operators_clear(struct operators_view *v)
{
    for (size_t i = 0; i < v->kinds.n; i++) {
        free(v->kinds.items[i].name);
        free(v->kinds.items[i].enter);
    }
    v->kinds.n = 0;
}

static void operators_by_operator(struct operators_view *v, const struct odb_graph *graph)
{
    struct odb_opnames ops = {.numbers = NULL};
    for (size_t i = 0; i < graph->n_nodes; i++)
        v->kind[i] = odb_opnames_number(&ops, &graph->nodes[i]);
    for (size_t k = 0; k < ops.items.n; k++) {
        struct odb_buf name = ODB_BUF_INIT;
        if (operators_alone(&ops, k))
            odb_buf_puts(&name, ops.items.items[k].op_type);
        else
            odb_opname_put(&ops.items.items[k], &name);
        odb_push(&v->kinds,
                 (struct operators_kind){odb_buf_take(&name), operators_filter(&ops, k)});
    }
    odb_opnames_dispose(&ops);
}

/* The type of the elements of what a node makes first, as far as it is known. */
static void operators_put_element(const struct odb_session *session, int node, struct odb_buf *out)
{
    int value;
    odb_session_node(session, node, &value);
    if (value != ODB_NO_VALUE)
        odb_session_put_type(session, value, out);
    if (out->len)
        out->len = strcspn(out->data, "[");
    if (out->data)
        out->data[out->len] = '\0';
}

static char *operators_type_filter(const char *name)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "type~^%s\\[", name);
    return operators_line_take(
        &text, *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789")]);
}

static void operators_put_scope(const struct operators_view *v, const struct odb_graph *graph,
                                int node, struct odb_buf *out)
{
    const struct ui_outline *outline = ui_nodes_outline(v->cells.view.app->views[UI_VIEW_NODES]);
    const char *label = ui_outline_label(graph, node);
    odb_buf_add(out, label, (size_t)ui_outline_branch(outline, label));
}

/* In quotes * would stand for itself. */
static char *operators_scope_filter(const struct operators_view *v, const char *name)
{
    struct odb_buf text = ODB_BUF_INIT;
    bool told = *name && !name[strspn(name, OPERATORS_PLAIN "/")];
    odb_buf_printf(&text, "name:%s%c*", name,
                   ui_nodes_outline(v->cells.view.app->views[UI_VIEW_NODES])->separator);
    return operators_line_take(&text, told);
}

/* Caller holds the session's lock. Types become known with values. */
static void operators_number(struct operators_view *v, const struct odb_session *session)
{
    const struct odb_graph *graph = odb_session_model(session)->graph;
    struct odb_map *numbers = odb_map_new();
    operators_clear(v);
    v->kind = v->kind ? v->kind : odb_new_n(size_t, graph->n_nodes + 1);
    if (v->by == BY_OPERATOR)
        operators_by_operator(v, graph);
    for (size_t i = 0; v->by != BY_OPERATOR && i < graph->n_nodes; i++) {
        struct odb_buf name = ODB_BUF_INIT;
        if (v->by == BY_TYPE)
            operators_put_element(session, (int)i, &name);
        else
            operators_put_scope(v, graph, (int)i, &name);
        const char *text = odb_buf_text(&name);
        v->kind[i] = v->kinds.n;
        if (!odb_map_get(numbers, text, &v->kind[i])) {
            odb_map_set(numbers, text, v->kinds.n);
            char *enter =
                v->by == BY_TYPE ? operators_type_filter(text) : operators_scope_filter(v, text);
            const char *none = v->by == BY_TYPE ? "not known" : "in no scope";
            odb_push(&v->kinds, (struct operators_kind){odb_xstrdup(*text ? text : none), enter});
        }
        odb_buf_dispose(&name);
    }
    odb_map_free(numbers);
}

/* --- counting --------------------------------------------------------------------------------- */

static void operators_count(const struct operators_view *v, const struct odb_session *session,
                            struct operators_row *rows)
{
    for (size_t k = 0; k < v->kinds.n; k++)
        rows[k] = (struct operators_row){.number = k, .error = -1, .worst = ODB_NO_NODE};
    for (size_t i = 0; i < odb_session_model(session)->graph->n_nodes; i++) {
        struct operators_row *row = &rows[v->kind[i]];
        const struct odb_value_report *report = odb_session_node(session, (int)i, NULL);
        bool judged = report->verdict == ODB_VERDICT_PASS || odb_verdict_is_bad(report->verdict);
        row->nodes++;
        row->judged += judged;
        row->off += odb_verdict_is_bad(report->verdict);
        row->culprits += report->culprit || odb_session_culprit(session, (int)i);
        double error = judged ? odb_report_error(report) : -1;
        if (row->worst == ODB_NO_NODE || error > row->error) {
            row->worst = (int)i;
            row->error = error;
        }
    }
}

/* Culprits first, as others may have inherited their errors; then the worst; where nothing is
 * known, what stands there most often. */
static int operators_compare(const void *a, const void *b)
{
    const struct operators_row *x = a, *y = b;
    if (!x->culprits != !y->culprits)
        return x->culprits ? -1 : 1;
    if (x->error != y->error)
        return x->error < y->error ? 1 : -1;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* --- rows ------------------------------------------------------------------------------------- */

static char *operators_error(const struct odb_value_report *report, bool judged)
{
    char number[32];
    if (!judged)
        return NULL;
    return odb_xstrdup(isinf(odb_report_error(report))
                           ? odb_verdict_name(report->verdict)
                           : ui_number_text(report->error, number, sizeof number));
}

/* On a screen an empty cell is a zero that does not ask to be looked at. */
static char *operators_cell(size_t n, bool known)
{
    return known ? odb_xasprintf("%zu", n) : NULL;
}

static void operators_add(struct operators_view *v, const struct odb_session *session,
                          const struct operators_row *row)
{
    struct odb_buf node = ODB_BUF_INIT;
    int value;
    const struct operators_kind *kind = &v->kinds.items[row->number];
    const struct odb_value_report *report = odb_session_node(session, row->worst, &value);
    const struct odb_node *worst = &odb_session_model(session)->graph->nodes[row->worst];
    odb_buf_printf(&node, "#%d", row->worst);
    if (*worst->name)
        odb_buf_printf(&node, " %s", worst->name);
    else if (value != ODB_NO_VALUE)
        odb_buf_printf(&node, " %s", odb_session_model(session)->graph->values[value].name);
    bool known = row->judged > 0, zeros = known && v->cells.view.app->linear;
    bool unsupported = *odb_cpu_unsupported(odb_session_cpu(session), row->worst);
    ui_cells_add_take(
        &v->cells,
        (struct ui_cells_row){.cells = {odb_xstrdup(kind->name), operators_cell(row->nodes, true),
                                        operators_cell(row->judged, known),
                                        operators_cell(row->off, zeros || row->off),
                                        operators_cell(row->culprits, zeros || row->culprits),
                                        operators_error(report, known), odb_buf_take(&node)},
                              .mark = ui_mark_glyph(report, row->culprits > 0, unsupported),
                              .style = row->culprits ? UI_STYLE_BAD : ui_mark_style(report, false),
                              .enter = kind->enter ? odb_xstrdup(kind->enter) : NULL,
                              .what = odb_xasprintf("%d", row->worst),
                              .value = value,
                              .report = report});
}

/* The row, now, of the selected operator: it stays selected while rows change places. */
static size_t operators_make(struct operators_view *v, const struct odb_session *session, int cols)
{
    const struct ui_cells_row *selected = ui_cells_selected(&v->cells.view);
    char *name = selected && v->cells.view.selected ? odb_xstrdup(selected->cells[0]) : NULL;
    size_t row = v->cells.view.selected;
    operators_number(v, session);
    size_t n = v->kinds.n;
    struct operators_row *rows = odb_new_n(struct operators_row, n + 1);
    operators_count(v, session, rows);
    qsort(rows, n, sizeof *rows, operators_compare);
    ui_cells_begin(&v->cells);
    for (size_t i = 0; i < n; i++)
        operators_add(v, session, &rows[i]);
    ui_cells_end(&v->cells, cols);
    for (size_t i = 0; name && i < v->cells.kept.n; i++)
        if (!strcmp(v->cells.all.items[v->cells.kept.items[i]].cells[0], name))
            row = i;
    free(rows);
    free(name);
    return row;
}

static void operators_prepare(struct ui_view *view, int cols)
{
    struct operators_view *v = (struct operators_view *)view;
    const struct odb_session *session = view->app->session;
    size_t selected = view->selected;
    odb_session_lock(session);
    if (ui_upkeep_is_due(&v->upkeep, session, ui_app_turn(view->app))) {
        ui_upkeep_begin(&v->upkeep, session);
        selected = operators_make(v, session, cols - 2);
        ui_upkeep_end(&v->upkeep, &view->app->turn);
    } else {
        ui_cells_end(&v->cells, cols - 2);
    }
    odb_session_unlock(session);
    if (selected != view->selected)
        ui_list_select(view, selected); /* which takes the lock */
}

/* --- the view --------------------------------------------------------------------------------- */

static int operators_worst(const struct ui_view *view)
{
    const struct ui_cells_row *row = ui_cells_selected(view);
    return row ? (int)strtol(row->what, NULL, 10) : ODB_NO_NODE;
}

static void operators_subject(const struct ui_view *view, struct ui_subject *out)
{
    ui_cells_subject(view, out);
    out->node = operators_worst(view);
}

/* Counts by something else; name NULL: by the next. */
static enum ui_answer operators_turn(struct operators_view *v, const char *name,
                                     struct odb_error *err)
{
    int by = name ? 0 : (int)((v->by + 1) % BY_COUNT);
    while (name && by < BY_COUNT && strcmp(name, operators_by[by]))
        by++;
    if (by == BY_COUNT) {
        odb_fail(err, ODB_E_USAGE, "nodes are not counted by '%.40s'", name);
        odb_error_remedy(err, "choose operator, type or scope");
        return UI_FAILED;
    }
    v->by = (enum operators_by)by;
    v->cells.columns = operators_columns[by];
    v->upkeep = (struct ui_upkeep){.made = 0};
    v->cells.view.selected = v->cells.view.top = 0;
    ui_cells_filter(&v->cells.view, NULL); /* it was about other names */
    return UI_DONE;
}

/* The list is where nodes are looked at: it comes up with the worst of them selected. */
static enum ui_answer operators_act(struct ui_view *view, const struct odb_command_call *call,
                                    struct odb_error *err)
{
    int worst = operators_worst(view);
    if (call->command->screen == ODB_SCREEN_BY)
        return operators_turn((struct operators_view *)view, odb_call_arg(call, 0), err);
    if (call->command->screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0) || worst == ODB_NO_NODE)
        return ui_cells_act(view, call, err);
    const struct ui_cells_row *row = ui_cells_selected(view);
    if (!row->enter) {
        odb_fail(err, ODB_E_USAGE, "no filter can say the name of this %s",
                 operators_by[((const struct operators_view *)view)->by]);
        return UI_FAILED;
    }
    char *line = odb_xstrdup(row->enter);
    ui_app_open(view->app, UI_VIEW_NODES);
    ui_app_jump(view->app, worst);
    ui_app_command(view->app, line);
    free(line);
    return UI_DONE;
}

static void operators_open(struct ui_view *view)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    v->columns = operators_columns[BY_OPERATOR];
    v->empty = "the model has none";
}

static void operators_close(struct ui_view *view)
{
    struct operators_view *v = (struct operators_view *)view;
    operators_clear(v);
    free(v->kinds.items);
    free(v->kind);
    ui_cells_close(view);
}

static void operators_title(const struct ui_view *view, struct odb_buf *out)
{
    enum operators_by by = ((const struct operators_view *)view)->by;
    odb_buf_printf(out, by == BY_OPERATOR ? "%ss" : "nodes by %s", operators_by[by]);
    ui_cells_count(view, out);
}

const struct ui_view_ops ui_operators_view = {
    .help = "what came of each operator, culprits first",
    .size = sizeof(struct operators_view),
    .open = operators_open,
    .close = operators_close,
    .title = operators_title,
    .prepare = operators_prepare,
    .act = operators_act,
    .header = ui_cells_header,
    .column = ui_cells_column,
    .subject = operators_subject,
    UI_CELLS_ROWS_OPS,
};
