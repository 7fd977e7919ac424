/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/list/table_view.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "command/call/call.h"
#include "command/table/command.h"
#include "model/model.h"
#include "ui/list/list.h"
#include "ui/list/sorted.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"
#include "ui/view/mark.h"
#include "ui/view/prompt.h"
#include "ui/view/view.h"

#define CELLS_LEAST 14 /* of the column that has the rest */

static void cells_drop(struct ui_cells_row *row)
{
    for (size_t i = 0; i < UI_CELLS; i++)
        free(row->cells[i]);
    free(row->enter);
    free(row->what);
}

void ui_cells_begin(struct ui_cells_view *v)
{
    for (size_t i = 0; i < v->all.n; i++)
        cells_drop(&v->all.items[i]);
    v->all.n = 0;
}

void ui_cells_rows_dispose(struct ui_cells_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        cells_drop(&rows->items[i]);
    free(rows->items);
    *rows = (struct ui_cells_rows){0};
}

void ui_cells_add_take(struct ui_cells_view *v, struct ui_cells_row row)
{
    odb_push(&v->all, row);
}

bool ui_cells_row_matches(const struct ui_cells_row *row, const char *text)
{
    for (size_t i = 0; i < UI_CELLS; i++)
        if (row->cells[i] && odb_text_matches(row->cells[i], text))
            return true;
    return false;
}

int ui_cells_compare(const void *a, const void *b, void *arg)
{
    const struct ui_cells_view *v = arg;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct ui_cells_row *rows = v->all.items;
    int column = v->order.column - 1;
    int order =
        ui_sorted_compare(rows[x].cells[column], rows[y].cells[column], v->order.descending);
    return order ? order : (x > y) - (x < y);
}

static void cells_keep(struct ui_cells_view *v)
{
    v->kept.n = 0;
    if (v->arrange)
        v->arrange(v);
    for (size_t i = 0; i < v->all.n && !v->arrange; i++)
        if (!v->filter || ui_cells_row_matches(&v->all.items[i], v->filter))
            odb_push(&v->kept, i);
    if (v->order.column && v->kept.n && !v->arrange)
        qsort_r(v->kept.items, v->kept.n, sizeof *v->kept.items, ui_cells_compare, v);
    if (v->view.selected >= v->kept.n)
        v->view.selected = v->kept.n ? v->kept.n - 1 : 0;
}

static int cells_titles(const struct ui_cells_view *v, const char *titles[UI_CELLS])
{
    int n = 0;
    while (n < UI_CELLS && v->columns[n].title) {
        titles[n] = v->columns[n].title;
        n++;
    }
    return n;
}

/* Blanks behind a column: numbers stand closer, they end where the next one's blanks begin. */
static int cells_gap(const struct ui_cells_view *v, int c)
{
    const struct ui_cells_column *next = &v->columns[c + 1];
    return next->title && next->right && !next->bar ? 1 : 2;
}

/* Where there is too little room: the widest text is cut to a few columns, then bars go. The column
 * that has the rest is left out where it is spare or even so has next to nothing; the widest text
 * has what it leaves. */
static void cells_shrink(struct ui_cells_view *v, int open)
{
    int widest = 0, bars = 0;
    for (int c = 0; c < open; c++) {
        bars += v->bars[c];
        if (!v->columns[c].right && v->widths[c] > v->widths[widest])
            widest = c;
    }
    int rest = v->widths[open], gives = ODB_MAX(v->widths[widest] - CELLS_LEAST, 0);
    bool out = v->columns[open].spare || rest + gives + bars < CELLS_LEAST / 2;
    int lacks = (out ? -2 : CELLS_LEAST) - rest;
    gives = ODB_MIN(gives, lacks); /* below 0: something is left over */
    v->widths[widest] -= gives;
    for (int c = 0; c < open && gives < lacks; c++) {
        v->widths[c] -= v->bars[c];
        v->bars[c] = 0;
    }
    int over = gives < lacks ? gives + bars - lacks : 0;
    v->widths[open] = out ? 0 : CELLS_LEAST + over;
    if (out)
        v->widths[widest] += ODB_MAX(over, 0);
}

/* As wide as the widest text, on a screen at most what the column allows: what is wider is not
 * looked for. */
static int cells_widest(const struct ui_cells_view *v, int c)
{
    const struct ui_terminal *terminal = v->view.app->terminal;
    int most = v->view.app->linear ? INT_MAX : v->columns[c].most;
    int widest = ui_text_width(terminal, v->columns[c].title) + (v->order.column == c + 1);
    for (size_t i = 0; i < v->all.n && widest < most; i++)
        if (v->all.items[i].cells[c])
            widest =
                ODB_MAX(widest, v->bars[c] + ui_text_width(terminal, v->all.items[i].cells[c]));
    return ODB_MIN(widest, most);
}

/* The column without a limit has what the others leave. */
static void cells_measure(struct ui_cells_view *v, int cols)
{
    int rest = cols - 3, open = -1;
    for (int c = 0; c < UI_CELLS; c++)
        v->widths[c] = 0;
    for (int c = 0; c < UI_CELLS && v->columns[c].title; c++) {
        v->bars[c] = v->columns[c].bar;
        if (!v->columns[c].most)
            open = c;
        else
            v->widths[c] = cells_widest(v, c);
        rest -= v->widths[c] + cells_gap(v, c);
    }
    if (open < 0)
        return;
    v->widths[open] = rest + 2;
    if (v->widths[open] < CELLS_LEAST && open)
        cells_shrink(v, open);
}

void ui_cells_end(struct ui_cells_view *v, int cols)
{
    cells_keep(v);
    cells_measure(v, cols);
}

static const struct ui_cells_row *cells_at(const struct ui_view *view, size_t row)
{
    const struct ui_cells_view *v = (const struct ui_cells_view *)view;
    return row < v->kept.n ? &v->all.items[v->kept.items[row]] : NULL;
}

const struct ui_cells_row *ui_cells_selected(const struct ui_view *view)
{
    return cells_at(view, view->selected);
}

void ui_cells_close(struct ui_view *view)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    ui_cells_rows_dispose(&v->all);
    free(v->kept.items);
    free(v->filter);
}

int ui_cells_header(const struct ui_view *view, const struct ui_area *area, int rows)
{
    const struct ui_cells_view *v = (const struct ui_cells_view *)view;
    if (!area)
        return rows > 3;
    ui_draw_fill(area, UI_STYLE_HEAD);
    int col = 3;
    for (int c = 0; c < UI_CELLS && v->columns[c].title; c++) {
        if (v->widths[c])
            ui_sorted_title(&v->order, c, v->columns[c].title, area, col, v->widths[c],
                            v->columns[c].right && !v->bars[c]);
        col += v->widths[c] + cells_gap(v, c);
    }
    return 1;
}

const char *ui_cells_column(const struct ui_view *view, int row, int col)
{
    const struct ui_cells_view *v = (const struct ui_cells_view *)view;
    int from = 3;
    for (int c = 0; row < view->header && c < UI_CELLS && v->columns[c].title; c++) {
        int width = v->widths[c] + cells_gap(v, c);
        if (col >= from && col < from + width)
            return v->columns[c].title;
        from += width;
    }
    return NULL;
}

size_t ui_cells_rows(const struct ui_view *view)
{
    return ((const struct ui_cells_view *)view)->kept.n;
}

static void cells_draw(const struct ui_cells_view *v, const struct ui_cells_row *row, int c,
                       const struct ui_area *area, int col)
{
    const struct ui_cells_column *column = &v->columns[c];
    enum ui_style style = c ? column->style : row->style;
    int width = v->widths[c];
    if (v->bars[c] && row->report) {
        int text = row->cells[c] ? ui_text_width(area->terminal, row->cells[c]) : 0;
        int bar = ODB_MAX(ODB_MIN(v->bars[c], width - text - 1), 0);
        ui_draw_error(area, 0, col, bar, row->report, ui_noise_factor(v->view.app->console));
        style = ui_mark_style(row->report, false);
        col += bar;
        width -= bar;
    }
    if (row->cells[c] && column->right)
        ui_draw_right(area, 0, col, width, style, row->cells[c]);
    else if (row->cells[c])
        ui_draw_field(area, 0, col, width, column->cut, style, row->cells[c]);
}

void ui_cells_draw_row(const struct ui_view *view, size_t at, const struct ui_area *area)
{
    const struct ui_cells_view *v = (const struct ui_cells_view *)view;
    const struct ui_cells_row *row = cells_at(view, at);
    int col = 3;
    ui_draw_glyph(area, 0, 1, row->style, row->mark);
    for (int c = 0; c < UI_CELLS && v->columns[c].title; c++) {
        cells_draw(v, row, c, area, col);
        col += v->widths[c] + cells_gap(v, c);
    }
}

bool ui_cells_matches(const struct ui_view *view, size_t at, const char *text)
{
    const struct ui_cells_row *row = cells_at(view, at);
    return row && ui_cells_row_matches(row, text);
}

void ui_cells_subject(const struct ui_view *view, struct ui_subject *out)
{
    const struct ui_cells_row *row = ui_cells_selected(view);
    *out = (struct ui_subject){ODB_NO_NODE, row ? row->value : ODB_NO_VALUE};
}

void ui_cells_filter(struct ui_view *view, const char *text)
{
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    char *filter = text && *text ? odb_xstrdup(text) : NULL;
    free(v->filter);
    v->filter = filter;
    cells_keep(v);
}

const char *ui_cells_filtered(const struct ui_view *view)
{
    return ((const struct ui_cells_view *)view)->filter;
}

/* The row that is selected stays so. */
static enum ui_answer cells_sort(struct ui_cells_view *v, const struct odb_command_call *call,
                                 struct odb_error *err)
{
    const char *titles[UI_CELLS];
    int n = cells_titles(v, titles);
    size_t row = v->view.selected, selected = row < v->kept.n ? v->kept.items[row] : SIZE_MAX;
    enum ui_answer answer = ui_sorted_act(&v->view, &v->order, titles, n, call, err);
    cells_keep(v);
    for (row = 0; row < v->kept.n && v->kept.items[row] != selected;)
        row++;
    if (row < v->kept.n)
        ui_list_select(&v->view, row);
    return answer;
}

enum ui_answer ui_cells_act(struct ui_view *view, const struct odb_command_call *call,
                            struct odb_error *err)
{
    struct ui_app *app = view->app;
    struct ui_cells_view *v = (struct ui_cells_view *)view;
    const struct ui_cells_row *row = ui_cells_selected(view);
    if (call->command->screen == ODB_SCREEN_SORT)
        return cells_sort(v, call, err);
    if (call->command->screen != ODB_SCREEN_OPEN || odb_call_arg(call, 0))
        return UI_NOT_MINE;
    if (!row || !row->enter) {
        odb_fail(err, ODB_E_USAGE, "there is nothing to open here");
        return UI_FAILED;
    }
    size_t n = strlen(row->enter);
    if (row->asks || (n && strchr(" =:", row->enter[n - 1]))) {
        app->asking = UI_ASK_COMMAND;
        return ui_app_ask(app, UI_PROMPT_COMMAND, ":", row->enter, err) == ODB_OK ? UI_DONE
                                                                                  : UI_FAILED;
    }
    char *line = odb_xstrdup(row->enter);
    ui_app_command(app, line);
    free(line);
    return UI_DONE;
}

void ui_cells_count(const struct ui_view *view, struct odb_buf *out)
{
    const struct ui_cells_view *v = (const struct ui_cells_view *)view;
    if (!v->all.n)
        odb_buf_printf(out, ": %s", v->empty);
    else
        odb_buf_printf(out, " %zu/%zu", v->kept.n ? view->selected + 1 : 0, v->kept.n);
    if (v->filter)
        odb_buf_printf(out, "  filter: %s", v->filter);
    const char *titles[UI_CELLS];
    cells_titles(v, titles);
    ui_sorted_put(&v->order, titles, out);
}
