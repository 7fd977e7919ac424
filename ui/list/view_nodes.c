/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The nodes, a line each, with verdict, operator, name, what it makes, and its error on a scale.
 * Which of them, in what order, and which scopes stand for all that is in them, is an outline's
 * (outline.h): in topological order and all of them, unless the user wants it otherwise.
 */
#include "ui/list/view_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "command/call/call.h"
#include "command/console/filter.h"
#include "command/table/command.h"
#include "model/model.h"
#include "session/session.h"
#include "ui/list/body_rows.h"
#include "ui/list/body_view.h"
#include "ui/list/list.h"
#include "ui/list/node_columns.h"
#include "ui/list/short_name.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/outline.h"
#include "ui/view/upkeep.h"
#include "ui/view/view.h"

#define NODES_TYPES 1000   /* nodes whose types are measured, at most */
#define NODES_BESIDE 20    /* rows above and below that a short name is told apart from */
#define NODES_ENOUGH 40    /* columns that are enough for a name */
#define NODES_NAMES 400    /* bytes of names that are enough for any row */
#define NODES_CONSTANTS 14 /* and of constant parts, how many there are */

struct nodes_view {
    struct ui_view view;
    struct ui_outline outline;
    struct ui_bodies bodies;
    bool has_bodies;         /* some node has */
    struct ui_upkeep upkeep; /* of the rows */
    struct ui_upkeep learnt; /* of what is known of bodies */
    struct ui_names names;
    struct nodes_types {
        int width; /* columns of the widest type */
        struct ui_upkeep upkeep;
        const struct odb_trace *trace; /* borrowed, only compared: whose they are; NULL: none's */
    } types;
};

static const struct odb_graph *nodes_graph(const struct ui_view *view)
{
    return odb_session_model(view->app->session)->graph;
}

static struct ui_row nodes_row(const struct ui_view *view, size_t row)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    const struct ui_body_row *body;
    return ui_outline_row(&v->outline, nodes_graph(view), ui_bodies_row(&v->bodies, row, &body));
}

/* The row as one of a body; NULL: it is of the main graph. Of a body's, nodes_row() is that of the
 * node that has it. */
static const struct ui_body_row *nodes_body(const struct ui_view *view, size_t row)
{
    const struct ui_body_row *body;
    ui_bodies_row(&((const struct nodes_view *)view)->bodies, row, &body);
    return body;
}

static size_t nodes_rows(const struct ui_view *view)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    return ui_bodies_count(&v->bodies, ui_outline_rows(&v->outline, nodes_graph(view)));
}

size_t ui_nodes_outline_row(const struct ui_view *view)
{
    const struct ui_body_row *body;
    return ui_bodies_row(&((const struct nodes_view *)view)->bodies, view->selected, &body);
}

int ui_nodes_selected(const struct ui_view *view)
{
    return nodes_row(view, view->selected).node;
}

struct ui_row ui_nodes_row(const struct ui_view *view)
{
    return nodes_row(view, view->selected);
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

/* The node of a body is found by its name, its operator, and what it makes. */
static bool nodes_body_matches(const struct ui_body_row *row, const char *text)
{
    const struct odb_graph *graph = ui_body_row_graph(row);
    const struct odb_node *node = &graph->nodes[row->node];
    bool found = strcasestr(node->name, text) || strcasestr(node->op_type, text);
    for (int o = 0; o < node->n_out && !found; o++)
        found = node->out[o] != ODB_NO_VALUE && strcasestr(graph->values[node->out[o]].name, text);
    return found;
}

/* A row holds a text if one of its nodes does. A name finds its node alone, and not the nodes
 * that read from it. */
static bool nodes_matches(const struct ui_view *view, size_t row, const char *text)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    const struct ui_body_row *body = nodes_body(view, row);
    int node = body ? ODB_NO_NODE : nodes_row(view, row).node;
    if (body && body->node != ODB_NO_NODE)
        return nodes_body_matches(body, text);
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
    const struct ui_body_row *body = nodes_body(view, view->selected);
    const struct odb_graph *graph = body ? ui_body_row_graph(body) : NULL;
    int selected = ui_nodes_selected(view), inner = body ? body->node : ODB_NO_NODE;
    odb_session_lock(session);
    ui_upkeep_begin(&v->upkeep, session);
    ui_outline_make(&v->outline, session);
    ui_bodies_make(&v->bodies, &v->outline, nodes_graph(view));
    ui_upkeep_end(&v->upkeep, &view->app->turn);
    odb_session_unlock(session);
    ui_nodes_goto(view, selected);
    for (size_t i = 0; graph && i < v->bodies.rows.n; i++) { /* the same row of a body as before */
        const struct ui_body_row *one = nodes_body(view, view->selected + 1 + i);
        if (one && ui_body_row_graph(one) == graph && one->node == inner) {
            ui_list_select(view, view->selected + 1 + i);
            return;
        }
    }
}

/* Bodies are unfolded where the walk comes into them, and its place is selected. */
static void nodes_learn(struct ui_view *view, bool busy)
{
    struct nodes_view *v = (struct nodes_view *)view;
    const struct odb_session *session = view->app->session;
    bool opened = false, due = false;
    if (!v->has_bodies || busy)
        return;
    odb_session_lock(session);
    due = ui_upkeep_is_due(&v->learnt, session, ui_app_turn(view->app)) ||
          ui_bodies_moved(&v->bodies, session);
    if (due) {
        ui_upkeep_begin(&v->learnt, session);
        opened = ui_bodies_learn(&v->bodies, session);
        ui_upkeep_end(&v->learnt, &view->app->turn);
    }
    odb_session_unlock(session);
    if (opened)
        ui_nodes_remake(view);
    if (due && v->bodies.inside)
        ui_list_select(view, ui_bodies_here(&v->bodies, ui_nodes_outline_row(view)));
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

/* Of a large model some are enough: a key waits meanwhile, and a wider type is cut. */
static void nodes_measure(struct ui_view *view)
{
    struct nodes_view *v = (struct nodes_view *)view;
    const struct odb_session *session = view->app->session;
    struct odb_buf text = ODB_BUF_INIT;
    int value;
    v->types = (struct nodes_types){.trace = odb_session_held_trace(session)};
    ui_upkeep_begin(&v->types.upkeep, session);
    size_t n = nodes_graph(view)->n_nodes;
    for (size_t i = 0; i < n; i += 1 + n / NODES_TYPES) {
        odb_buf_clear(&text);
        odb_session_node(session, (int)i, &value);
        if (value != ODB_NO_VALUE)
            odb_session_put_type(session, value, &text);
        v->types.width = ODB_MAX(v->types.width, (int)text.len);
    }
    odb_buf_dispose(&text);
    ui_upkeep_end(&v->types.upkeep, &view->app->turn);
}

static void nodes_prepare(struct ui_view *view, int cols)
{
    struct nodes_view *v = (struct nodes_view *)view;
    const struct odb_session *session = view->app->session;
    bool busy = ui_app_busy(view->app);
    odb_session_lock(session);
    bool stale = ui_outline_follows(&v->outline) &&
                 ui_upkeep_is_due(&v->upkeep, session, ui_app_turn(view->app));
    /* Types become known with the reference's values; verdicts change none. */
    bool measured = v->types.upkeep.made && v->types.trace == odb_session_held_trace(session);
    if (!measured && ui_upkeep_is_due(&v->types.upkeep, session, ui_app_turn(view->app)))
        nodes_measure(view);
    odb_session_unlock(session);
    if (stale)
        ui_nodes_remake(view);
    nodes_learn(view, busy);
}

void ui_nodes_goto(struct ui_view *view, int node)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    ui_list_select(view, ui_bodies_place(&v->bodies, ui_outline_find(&v->outline, node)));
}

/* Of the body that a row is in, or of the node of the row. */
bool ui_nodes_fold_body(struct ui_view *view, const char *how)
{
    struct nodes_view *v = (struct nodes_view *)view;
    const struct ui_body_row *body = nodes_body(view, view->selected);
    const struct odb_graph *graph = body ? ui_body_row_graph(body) : nodes_graph(view);
    struct ui_row row = ui_nodes_row(view);
    int node = body ? body->node : row.n == 1 ? row.node : ODB_NO_NODE;
    bool open = node != ODB_NO_NODE && ui_bodies_is_open(&v->bodies, graph, node);
    bool has = node != ODB_NO_NODE && odb_node_has_body(&graph->nodes[node]);
    bool fold = !strcmp(how, "close") || (!strcmp(how, "toggle") && (open || !has));
    if (fold && !open && body) { /* the one that the row is in */
        const struct odb_body_path *path = &body->path;
        node = path->steps[path->n - 1].node;
        graph = path->n > 1 ? path->steps[path->n - 2].body.graph : nodes_graph(view);
    }
    if (node == ODB_NO_NODE || !ui_bodies_fold(&v->bodies, graph, node, fold))
        return false;
    ui_nodes_remake(view);
    return true;
}

bool ui_nodes_reveal(struct ui_view *view, int node)
{
    if (!ui_outline_reveal(ui_nodes_outline(view), nodes_graph(view), node))
        return false;
    ui_nodes_remake(view);
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* On paper names are whole: they are searched there by other programs. */
static bool nodes_on_paper(const struct ui_view *view)
{
    return view->app->terminal->canvas != NULL;
}

/* Columns that are enough to tell names apart. */
static int nodes_enough(const struct ui_view *view)
{
    const struct ui_names *names = &((const struct nodes_view *)view)->names;
    return ODB_MIN(ODB_MAX(names->width, UI_NODE_LEAST_NAME), NODES_ENOUGH);
}

static struct ui_node_columns nodes_columns(const struct ui_view *view, int cols)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    const struct ui_node_widths widths = {.cols = cols,
                                          .index = (int)nodes_graph(view)->n_nodes,
                                          .names = &v->names,
                                          .enough = nodes_enough(view),
                                          .type = v->types.width};
    return ui_node_columns(&widths, &v->outline.how.columns);
}

/* A title of the header: where it stands, and what a click on it sorts by. */
struct nodes_title {
    int col, width;
    enum ui_sort sort;
    const char *text;
    bool right;
};
#define NODES_TITLES (UI_COLUMN_COUNT + 1)

static int nodes_titles(const struct ui_view *view, int cols, struct nodes_title *out)
{
    bool thumb = nodes_rows(view) > (size_t)view->height && view->height > 1;
    const struct ui_node_columns c = nodes_columns(view, cols - 2 * thumb);
    int n = 0, left = view->left;
    out[n++] = (struct nodes_title){1 - left, c.index, UI_SORT_INDEX, "#", true};
    for (int i = 0; i < c.shown.n; i++) {
        enum ui_column k = c.shown.list[i];
        const struct ui_node_column *kind = &ui_node_column_kinds[k];
        if (k == UI_COLUMN_ERROR && i && c.shown.list[i - 1] == UI_COLUMN_BAR)
            out[n - 1].width += c.width[k] - 1; /* one title for both */
        else
            out[n++] = (struct nodes_title){c.at[k] - left, c.width[k], kind->sort, kind->title,
                                            kind->right};
    }
    return n;
}

/* What names have in common stands above them, once. */
static void nodes_put_prefix(const struct ui_view *view, int width, struct odb_buf *out)
{
    const struct ui_names *names = &((const struct nodes_view *)view)->names;
    const struct ui_terminal *terminal = view->app->terminal;
    if (!*names->prefix || nodes_on_paper(view))
        return;
    odb_buf_puts(out, " in ");
    width -= ui_text_width(terminal, odb_buf_text(out)) + 1;
    ui_short_name_end(names->prefix, names->separator, terminal, width, out);
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
    struct odb_buf made = ODB_BUF_INIT;
    odb_buf_printf(&made, "%s%s", sorted ? ui_glyph_text(arrow, area->terminal->unicode) : "",
                   instead ? ui_sort_name(how->sort) : head->text);
    if (head->sort == UI_SORT_NAME)
        nodes_put_prefix(view, head->width, &made);
    char *text = odb_buf_take(&made);
    if (head->right)
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
    bool has_own = false; /* the column that rows are sorted by */
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

/* What the name of a row is told by: of a folded scope its own, of a node without a name that of
 * what it makes. Behind what all have in common. */
static const char *nodes_label(const struct ui_view *view, size_t at)
{
    int node = nodes_row(view, at).node;
    const struct ui_names *names = &((const struct nodes_view *)view)->names;
    return ui_names_rest(names, ui_outline_label(nodes_graph(view), node));
}

/* The names around a row, the nearest first. Returns how many. */
static size_t nodes_beside(const struct ui_view *view, size_t at, const char **out)
{
    size_t n = 0, rows = nodes_rows(view);
    for (size_t i = 1; i <= NODES_BESIDE; i++) {
        if (at >= i)
            out[n++] = nodes_label(view, at - i);
        if (at + i < rows)
            out[n++] = nodes_label(view, at + i);
    }
    return n;
}

/* What the row above says as well is dim, but not where the cursor is. */
static void nodes_draw_name(const struct ui_view *view, size_t at, const char *name, int width,
                            const struct ui_area *area, int col)
{
    const struct ui_names *names = &((const struct nodes_view *)view)->names;
    const struct odb_node *node = &nodes_graph(view)->nodes[nodes_row(view, at).worst];
    enum ui_style style = *node->name ? UI_STYLE_NAME : UI_STYLE_DIM;
    if (nodes_on_paper(view)) {
        ui_draw_field(area, 0, col, width, UI_CUT_MIDDLE, style, name);
        return;
    }
    const char *beside[2 * NODES_BESIDE];
    bool follows = at > view->top && at != view->selected;
    struct ui_short_name what = {.name = ui_names_rest(names, name),
                                 .op = node->op_type,
                                 .above = follows ? nodes_label(view, at - 1) : NULL,
                                 .beside = beside,
                                 .n = nodes_beside(view, at, beside)};
    struct odb_buf text = ODB_BUF_INIT;
    size_t repeated = ui_short_name_put(&what, names->separator, area->terminal, width, &text);
    ui_draw_field(area, 0, col, width, UI_CUT_MIDDLE, style, odb_buf_text(&text));
    char *same = odb_xstrndup(odb_buf_text(&text), repeated);
    ui_draw_mark(area, 0, col, ODB_MIN(ui_text_width(area->terminal, same), width), UI_STYLE_DIM);
    free(same);
    odb_buf_dispose(&text);
}

/* The operator. Where there is no room for both, without its domain, which stands below the list.
 * A sign before it says that there are bodies to unfold. */
static void nodes_draw_op(const struct odb_node *node, bool open, int width,
                          const struct ui_area *area, int col)
{
    enum ui_glyph glyph = open ? UI_GLYPH_UNFOLDED : UI_GLYPH_FOLDED;
    const char *sign = odb_node_has_body(node) ? ui_glyph_text(glyph, area->terminal->unicode) : "";
    char *whole =
        odb_xasprintf("%s%s%s%s", sign, node->domain, *node->domain ? "::" : "", node->op_type);
    char *brief = odb_xasprintf("%s%s", sign, node->op_type);
    bool fits = ui_text_width(area->terminal, whole) <= width;
    ui_draw_field(area, 0, col, width, UI_CUT_MIDDLE, UI_STYLE_OP, fits ? whole : brief);
    free(whole);
    free(brief);
}

/* A column of texts that is as wide as it is, blank included. */
static void nodes_draw_text(const struct ui_node_columns *c, enum ui_column column,
                            enum ui_style style, const char *text, const struct ui_area *area,
                            int col)
{
    ui_draw_field(area, 0, col + c->at[column], c->width[column] - 1, UI_CUT_MIDDLE, style, text);
}

static void nodes_draw_names(const struct ui_view *view, size_t at, int value,
                             const struct ui_node_columns *c, const struct ui_area *area, int col)
{
    const struct odb_node *node = &nodes_graph(view)->nodes[nodes_row(view, at).worst];
    const struct odb_session *session = view->app->session;
    const struct odb_graph *graph = nodes_graph(view);
    const struct nodes_view *v = (const struct nodes_view *)view;
    struct odb_buf text = ODB_BUF_INIT;
    char key[512] = "";
    if (value != ODB_NO_VALUE)
        odb_value_key(graph, &graph->values[value], key, sizeof key);
    if (c->width[UI_COLUMN_OP])
        nodes_draw_op(node, ui_bodies_is_open(&v->bodies, graph, node->index),
                      c->width[UI_COLUMN_OP], area, col + c->at[UI_COLUMN_OP]);
    if (c->width[UI_COLUMN_NAME]) /* a node without a name is known by what it makes */
        nodes_draw_name(view, at, *node->name ? node->name : key, c->width[UI_COLUMN_NAME], area,
                        col + c->at[UI_COLUMN_NAME]);
    if (c->width[UI_COLUMN_OUT])
        nodes_draw_text(c, UI_COLUMN_OUT, UI_STYLE_DIM, key, area, col);
    if (c->width[UI_COLUMN_TYPE] && value != ODB_NO_VALUE)
        odb_session_put_type(session, value, &text);
    if (c->width[UI_COLUMN_TYPE])
        nodes_draw_text(c, UI_COLUMN_TYPE, UI_STYLE_TYPE, odb_buf_text(&text), area, col);
    odb_buf_clear(&text);
    const struct odb_kernel *kernel = odb_session_kernel(session, node->index);
    if (c->width[UI_COLUMN_KERNEL] && kernel)
        odb_buf_put_shown(&text, kernel->name);
    if (c->width[UI_COLUMN_KERNEL])
        nodes_draw_text(c, UI_COLUMN_KERNEL, UI_STYLE_DIM, odb_buf_text(&text), area, col);
    odb_buf_dispose(&text);
}

/* The name of a folded scope, or the names of constant parts. */
static void nodes_put_folded(const struct ui_view *view, const struct ui_row *row,
                             struct odb_buf *out)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    const char *label = ui_outline_label(nodes_graph(view), row->node);
    const char *rest = nodes_on_paper(view) ? label : ui_names_rest(&v->names, label);
    if (row->scope) {
        int left_out = rest - label < row->scope ? (int)(rest - label) : 0;
        odb_buf_printf(out, "%.*s%c%s", row->scope - left_out, label + left_out,
                       v->outline.separator,
                       ui_glyph_text(UI_GLYPH_ELLIPSIS, view->app->terminal->unicode));
        return;
    }
    for (int node = row->node; node != ODB_NO_NODE && out->len < NODES_NAMES;
         node = v->outline.next[node])
        odb_buf_printf(out, "%s%s", out->len ? ", " : "",
                       ui_names_rest(&v->names, ui_outline_label(nodes_graph(view), node)));
}

/* What the nodes of a row have to do with the error: culprits, and how much of it they add. In so
 * many columns, or nothing: a part of a number is another number. */
static void nodes_put_share(const struct ui_view *view, const struct ui_row *row, int room,
                            struct odb_buf *out)
{
    double all = ((const struct nodes_view *)view)->outline.adds;
    int percent = all > 0 ? (int)(100 * row->adds / all + 0.5) : 0;
    const struct ui_terminal *terminal = view->app->terminal;
    for (int brief = 0; brief < 2; brief++) {
        odb_buf_clear(out);
        if (row->culprits && !brief)
            odb_buf_printf(out, " %d culprit%s", row->culprits, odb_plural((size_t)row->culprits));
        else if (row->culprits)
            odb_buf_printf(out, " %s %d", ui_glyph_text(UI_GLYPH_CULPRIT, terminal->unicode),
                           row->culprits);
        if (percent)
            odb_buf_printf(out, "%s %s%d %%", row->culprits ? "," : "", brief ? "" : "adds ",
                           percent);
        if (ui_text_width(terminal, odb_buf_text(out)) <= room)
            return;
    }
    odb_buf_clear(out);
}

/* What is folded: how many nodes, their name, and what they have to do with the error. */
static void nodes_draw_folded(const struct ui_view *view, const struct ui_row *row,
                              const struct ui_node_columns *c, const struct ui_area *area, int col)
{
    struct odb_buf text = ODB_BUF_INIT, share = ODB_BUF_INIT;
    odb_buf_printf(&text, "%s %d %s", ui_glyph_text(UI_GLYPH_FOLDED, area->terminal->unicode),
                   row->n, row->scope ? "nodes" : "constants");
    ui_draw_field(area, 0, col + c->at[UI_COLUMN_OP], c->width[UI_COLUMN_OP], UI_CUT_END,
                  UI_STYLE_LABEL, odb_buf_text(&text));
    odb_buf_clear(&text);
    nodes_put_folded(view, row, &text);
    int width = c->folded;
    col += c->at[UI_COLUMN_NAME];
    int name = ui_text_width(area->terminal, odb_buf_text(&text));
    nodes_put_share(view, row, width - ODB_MIN(name, width / 2), &share);
    int behind = ui_text_width(area->terminal, odb_buf_text(&share));
    ui_draw_field(area, 0, col, width - behind, row->scope ? UI_CUT_MIDDLE : UI_CUT_END,
                  row->scope ? UI_STYLE_NAME : UI_STYLE_DIM, odb_buf_text(&text));
    ui_draw_field(area, 0, col + width - behind, behind, UI_CUT_END, UI_STYLE_LABEL,
                  odb_buf_text(&share));
    odb_buf_dispose(&text);
    odb_buf_dispose(&share);
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

/* The numbers of a row: its error, what that is held against, how long it took (0: not known). */
static void nodes_draw_report(const struct ui_view *view, const struct odb_value_report *report,
                              const double seconds[2], const struct ui_node_columns *c,
                              const struct ui_area *area, int col)
{
    const struct nodes_number {
        enum ui_column column;
        struct odb_number number;
    } numbers[] = {
        {UI_COLUMN_LOCAL, report->local_error},
        {UI_COLUMN_NOISE, report->noise},
        {UI_COLUMN_GAIN, report->gain},
        {UI_COLUMN_SECONDS, {seconds[0] > 0, ui_app_seconds(view->app, seconds[0])}},
        {UI_COLUMN_TARGET_SECONDS, {seconds[1] > 0, ui_app_seconds(view->app, seconds[1])}},
    };
    char number[32];
    if (c->width[UI_COLUMN_BAR])
        ui_draw_error(area, 0, col + c->at[UI_COLUMN_BAR], c->width[UI_COLUMN_BAR], report,
                      ui_noise_factor(view->app->console));
    const char *error = isinf(odb_report_error(report))
                            ? odb_verdict_name(report->verdict)
                            : ui_number_text(report->error, number, sizeof number);
    if (c->width[UI_COLUMN_ERROR])
        ui_draw_right(area, 0, col + c->at[UI_COLUMN_ERROR], c->width[UI_COLUMN_ERROR],
                      ui_mark_style(report, false), error);
    for (size_t i = 0; i < ODB_COUNT(numbers); i++)
        if (c->width[numbers[i].column])
            ui_draw_right(area, 0, col + c->at[numbers[i].column], c->width[numbers[i].column],
                          UI_STYLE_NUMBER,
                          ui_number_text(numbers[i].number, number, sizeof number));
}

/* "body of 36 nodes, turn 3", "then_branch of 4 nodes". */
static void nodes_draw_body_head(const struct ui_view *view, const struct ui_body_row *row,
                                 const struct ui_area *area, int col)
{
    const struct nodes_view *v = (const struct nodes_view *)view;
    const struct odb_body *body = &row->path.steps[row->path.n - 1].body;
    const struct ui_body_known *known = ui_bodies_known(&v->bodies, body->graph);
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_printf(&text, "%s %s of %zu node%s",
                   ui_glyph_text(UI_GLYPH_UNFOLDED, area->terminal->unicode),
                   body->attr ? body->attr : "function", body->graph->n_nodes,
                   odb_plural(body->graph->n_nodes));
    if (known && known->turn != ODB_ANY_TURN)
        odb_buf_printf(&text, ", turn %lld", (long long)known->turn);
    ui_draw_field(area, 0, col, area->cols - col, UI_CUT_END, UI_STYLE_LABEL, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* A node of a body: its index there, indented by how deep it is. */
static void nodes_draw_body(const struct ui_view *view, const struct ui_body_row *row,
                            const struct ui_area *area)
{
    static const struct odb_value_report unknown = {.verdict = ODB_VERDICT_UNTESTED};
    const struct nodes_view *v = (const struct nodes_view *)view;
    static const double no_seconds[2];
    const struct ui_node_columns c = nodes_columns(view, area->cols);
    const struct odb_graph *graph = ui_body_row_graph(row);
    const struct ui_body_known *known = ui_bodies_known(&v->bodies, graph);
    int col = -view->left, in = ODB_MIN(2 * row->depth, c.width[UI_COLUMN_OP] / 2);
    if (row->node == ODB_NO_NODE) {
        nodes_draw_body_head(view, row, area, col + c.index + 2 + in);
        return;
    }
    const struct odb_node *node = &graph->nodes[row->node];
    const struct odb_value_report *report = known ? &known->reports[row->node] : &unknown;
    const char *name = *node->name ? node->name
                       : node->n_out && node->out[0] != ODB_NO_VALUE
                           ? graph->values[node->out[0]].name
                           : "";
    if (known && known->at == row->node)
        ui_draw_glyph(area, 0, col, UI_STYLE_WARN, UI_GLYPH_HERE);
    ui_draw_glyph(area, 0, col + c.index + 2 + in, ui_mark_style(report, report->culprit),
                  ui_mark_glyph(report, report->culprit, false));
    int from = col + c.index + 4 + in;
    ui_draw_printf(area, 0, from, UI_STYLE_DIM, "%d", row->node);
    from += c.index + 1;
    int end = col + c.at[UI_COLUMN_NAME] + c.folded;
    bool open = ui_bodies_is_open(&v->bodies, graph, row->node);
    int op = ODB_MIN(UI_NODE_LEAST_OP + 2, ODB_MAX((end - from) / 2, 0));
    nodes_draw_op(node, open, op, area, from);
    ui_draw_field(area, 0, from + op + 1, ODB_MAX(end - from - op - 2, 0), UI_CUT_MIDDLE,
                  *node->name ? UI_STYLE_NAME : UI_STYLE_DIM, name);
    nodes_draw_report(view, report, no_seconds, &c, area, col);
}

static void nodes_draw_row(const struct ui_view *view, size_t at, const struct ui_area *area)
{
    const struct ui_body_row *body = nodes_body(view, at);
    if (body) {
        nodes_draw_body(view, body, area);
        return;
    }
    const struct odb_session *session = view->app->session;
    const struct ui_node_columns c = nodes_columns(view, area->cols);
    struct ui_row row = nodes_row(view, at);
    int value, col = -view->left;
    const struct odb_value_report *report = odb_session_node(session, row.worst, &value);
    bool culprit = report->culprit || odb_session_culprit(session, row.worst);
    bool unsupported = *odb_cpu_unsupported(odb_session_cpu(session), row.worst);
    char number[32];
    snprintf(number, sizeof number, "%d", row.node);
    ui_draw_right(area, 0, col + 1, c.index, UI_STYLE_DIM, number);
    nodes_draw_sign(session, row.node, area, col);
    ui_draw_glyph(area, 0, col + c.index + 2, ui_mark_style(report, culprit),
                  ui_mark_glyph(report, culprit, unsupported));
    if (row.n > 1)
        nodes_draw_folded(view, &row, &c, area, col);
    else
        nodes_draw_names(view, at, value, &c, area, col);
    const double seconds[2] = {odb_session_reference_took(session, row.worst),
                               odb_session_target_took(session, row.worst)};
    nodes_draw_report(view, report, seconds, &c, area, col);
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
    struct nodes_view *v = (struct nodes_view *)view;
    const struct odb_graph *graph = nodes_graph(view);
    for (size_t n = 0; n < graph->n_nodes && !v->has_bodies; n++)
        v->has_bodies = odb_node_has_body(&graph->nodes[n]);
    ui_outline_init(&v->outline, &view->app->constants);
    ui_outline_look(&v->outline, nodes_graph(view));
    ui_names_make(&v->names, nodes_graph(view), v->outline.separator, view->app->terminal);
    v->outline.trunk = v->names.prefix;
    v->outline.trunk_depth = ODB_MAX(ODB_MIN(ui_names_depth(&v->names), v->outline.deepest - 1), 0);
    v->names.op += v->has_bodies; /* a sign before the operator */
    if (view->app->constants.n)
        v->names.op = ODB_MAX(v->names.op, NODES_CONSTANTS);
    ui_nodes_remake(view);
    ui_list_select(view, 0);
}

static void nodes_close(struct ui_view *view)
{
    ui_outline_dispose(ui_nodes_outline(view));
    ui_bodies_dispose(&((struct nodes_view *)view)->bodies);
    ui_names_dispose(&((struct nodes_view *)view)->names);
}

/* What is folded is looked into by unfolding it. */
static enum ui_answer nodes_act(struct ui_view *view, const struct odb_command_call *call,
                                struct odb_error *err)
{
    const struct ui_body_row *body = nodes_body(view, view->selected);
    if (call->command->screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0) ||
        (ui_nodes_row(view).n < 2 && !body))
        return UI_NOT_MINE;
    if (body && body->node != ODB_NO_NODE) {
        struct odb_body_path path = body->path; /* the rows may be made anew */
        ui_body_show(view->app, &path, body->node);
        return UI_DONE;
    }
    if (body)
        return ui_nodes_fold_body(view, "close") ? UI_DONE : UI_NOT_MINE;
    ui_app_command(view->app, "fold open");
    return UI_DONE;
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
    .act = nodes_act,
};
