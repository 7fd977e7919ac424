/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the parts of the tensor view stand: side by side where the screen is wide enough, else
 * below one another, and the rows of the list shared out among them.
 */
#include "base/mem.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"
#include "ui/view/app.h"

#define PLACE_GAP 2 /* columns between parts */

/* --- layout ----------------------------------------------------------------------------------- */

/* Rows of the list that belong to a line's number: those of one row of a grid go together. */
size_t ui_tensor__lines_per_row(const struct ui_tensor *v, enum ui_part_id id)
{
    if (id < UI_PART_GRID)
        return 1;
    const struct ui_tensor_grid *g = &v->grids[id - UI_PART_GRID];
    return g->beside || !g->n_sides ? 1 : (size_t)g->n_sides;
}

size_t ui_tensor__heads(const struct ui_tensor *v, enum ui_part_id id)
{
    return id < UI_PART_GRID ? 1 : 1 + (size_t)v->grids[id - UI_PART_GRID].heads;
}

/* What a band of parts leaves of the screen goes to those that have bars, else to the last. */
static void place_stretch(struct ui_part *parts, int n, int spare)
{
    int bars = 0;
    for (int i = 0; i < n; i++)
        bars += parts[i].id == UI_PART_VALUES || parts[i].id == UI_PART_DECADES;
    for (int i = 0, moved = 0; i < n; i++) {
        bool last = i == n - 1,
             bar = parts[i].id == UI_PART_VALUES || parts[i].id == UI_PART_DECADES;
        int more = last ? spare - moved : bar ? spare / bars : 0;
        parts[i].col += moved;
        parts[i].width += more;
        moved += more;
    }
}

/* What belongs to a page; all of it has everything. */
static bool place_belongs(enum ui_page page, enum ui_part_id id)
{
    switch (page) {
    case UI_PAGE_NUMBERS:
        return id >= UI_PART_TEXT;
    case UI_PAGE_CHANNELS:
        return id == UI_PART_CHANNELS;
    case UI_PAGE_HEAT:
        return id == UI_PART_HEAT;
    default:
        return true;
    }
}

void ui_tensor__turn(struct ui_tensor *v, enum ui_page page)
{
    v->before = page == UI_PAGE_NUMBERS && v->page != page ? v->page : UI_PAGE_ALL;
    v->page = page;
    v->view.selected = v->view.top = 0;
    ui_tensor__arrange(v, v->cols);
    if (page == UI_PAGE_ALL || !v->n_parts)
        return;
    /* The first line that is about something: below titles, labels and words. */
    const struct ui_part *p = &v->parts[0];
    bool words = p->id == UI_PART_HEAT || (p->id == UI_PART_CHANNELS && v->told);
    v->view.selected = p->row + ODB_MIN(ui_tensor__heads(v, p->id) + words, p->lines);
}

/* Places parts from the left as long as there is room, then below; one below the other where rows
 * are read out as lines. */
static void place_parts(struct ui_tensor *v, int cols)
{
    bool alone = v->view.app->linear;
    int first = 0, col = 0;
    size_t row = 0, height = 0;
    v->n_parts = 0;
    v->rows = 0;
    for (int id = 0; id < UI_PARTS; id++) {
        const struct ui_part_kind *kind = &ui_tensor__kinds[id];
        size_t lines = kind->lines(v, (enum ui_part_id)id);
        if (!lines || !place_belongs(v->page, (enum ui_part_id)id))
            continue;
        int width = kind->width ? ODB_MIN(kind->width(v), cols) : cols;
        if (col && (alone || col + width > cols)) {
            place_stretch(v->parts + first, v->n_parts - first, cols - col + PLACE_GAP);
            row += height + 2;
            col = 0;
            height = 0;
            first = v->n_parts;
        }
        v->parts[v->n_parts++] = (struct ui_part){(enum ui_part_id)id, row, lines, col, width};
        col += width + PLACE_GAP;
        height = ODB_MAX(height, lines);
        v->rows = row + 1 + height;
    }
    place_stretch(v->parts + first, v->n_parts - first, cols - col + PLACE_GAP);
}

const struct ui_part *ui_tensor__part(const struct ui_tensor *v, enum ui_part_id id)
{
    for (int i = 0; i < v->n_parts; i++)
        if (v->parts[i].id == id)
            return &v->parts[i];
    return NULL;
}

/* The first part that has a row of the list; NULL: a blank. */
const struct ui_part *ui_tensor__part_at(const struct ui_tensor *v, size_t row)
{
    for (int i = 0; i < v->n_parts; i++)
        if (row >= v->parts[i].row && row - v->parts[i].row <= v->parts[i].lines)
            return &v->parts[i];
    return NULL;
}

/* Lays everything out anew, and keeps the selection where it was, though what is above it may have
 * grown. */
void ui_tensor__layout(struct ui_tensor *v, int cols)
{
    const struct ui_part *before = ui_tensor__part_at(v, v->view.selected), *after;
    struct ui_part was = before ? *before : (struct ui_part){.id = UI_PARTS};
    size_t line = before ? v->view.selected - was.row : 0, side = 0, heads = 0, screen;
    bool body = before && line >= (heads = ui_tensor__heads(v, was.id));
    if (body) {
        side = (line - heads) % ui_tensor__lines_per_row(v, was.id);
        line = (line - heads) / ui_tensor__lines_per_row(v, was.id);
    }
    v->cols = cols;
    v->tall = (v->view.room ? v->view.room : v->view.app->terminal->rows) >= 40;
    cols = ODB_MAX(cols - 1, 1); /* the last one may have the list's thumb */
    ui_tensor__grid_layout(v, cols);
    ui_tensor__heat_layout(v, cols);
    place_parts(v, cols);
    after = ui_tensor__part(v, was.id);
    if (!after)
        return;
    if (body) {
        size_t per = ui_tensor__lines_per_row(v, was.id);
        line = line * per + ODB_MIN(side, per - 1) + ui_tensor__heads(v, was.id);
    }
    screen = v->view.selected - ODB_MIN(v->view.top, v->view.selected);
    v->view.selected = after->row + ODB_MIN(line, after->lines);
    v->view.top = v->view.selected - ODB_MIN(screen, v->view.selected);
}

void ui_tensor__arrange(struct ui_tensor *v, int cols)
{
    ui_tensor__layout(v, cols);
    ui_tensor__compute(v); /* a picture of this size, what was not wanted before */
    ui_tensor__layout(v, cols);
}

/* --- drawing ---------------------------------------------------------------------------------- */

void ui_tensor__draw_row(const struct ui_view *view, size_t row, const struct ui_area *area)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        struct ui_area part = ui_area_part(area, 0, p->col, 1, p->width);
        if (row == p->row)
            ui_tensor__kinds[p->id].title(v, p->id, &part);
        else if (row > p->row && row - p->row <= p->lines)
            ui_tensor__kinds[p->id].draw(v, p->id, row - p->row - 1, &part);
    }
}

/* The titles, or the labels, of the rows at the top, when they are out of sight. */
void ui_tensor__draw_lost(const struct ui_tensor *v, const struct ui_area *area)
{
    size_t top = v->view.top;
    for (int i = 0; i < v->n_parts; i++) {
        const struct ui_part *p = &v->parts[i];
        const struct ui_part_kind *kind = &ui_tensor__kinds[p->id];
        struct ui_area part = ui_area_part(area, 0, p->col, 1, p->width);
        if (top <= p->row || top - p->row > p->lines)
            continue;
        size_t heads = ui_tensor__heads(v, p->id);
        if (p->id >= UI_PART_GRID && heads > 1 && top - p->row >= heads)
            kind->draw(v, p->id, heads - 2, &part);
        else
            kind->title(v, p->id, &part);
    }
}

const char *ui_tensor__column_at(const struct ui_view *view, int row, int col)
{
    const struct ui_tensor *v = (const struct ui_tensor *)view;
    const struct ui_part *p = ui_tensor__part(v, UI_PART_CHANNELS);
    if (!p)
        return NULL;
    bool seen = row >= view->header && view->top + (size_t)(row - view->header) == p->row;
    bool lost = row == view->header - 1 && view->top > p->row && view->top - p->row <= p->lines;
    return seen || lost ? ui_tensor__channels_column(v, col - p->col) : NULL;
}
