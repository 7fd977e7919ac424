/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers in rows and columns. Only the cells that are drawn are read.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"

#define GRID_GAP 2 /* columns between the sides of a row */
#define GRID_TAG 3 /* columns of a side's short name */

/* --- layout ----------------------------------------------------------------------------------- */

static int grid_digits(size_t n)
{
    return snprintf(NULL, 0, "%zu", n);
}

static void grid_choose_sides(const struct ui_tensor *v, struct ui_tensor_grid *g, int only)
{
    g->n_sides = 0;
    for (int side = 0; side < UI_SIDES; side++) {
        bool there =
            side == UI_DIFFERENCE ? v->paired && ui_tensor__has_difference(v) : v->t[side] != NULL;
        bool wanted = v->mode == UI_SIDES || v->mode == side ||
                      (v->mode == UI_DIFFERENCE && v->paired && !ui_tensor__has_difference(v));
        if (only < 0 ? there && wanted : side == only)
            g->sides[g->n_sides++] = (enum ui_side)side;
    }
}

static bool grid_is_string(const struct ui_tensor *v, enum ui_side side)
{
    return v->t[side == UI_DIFFERENCE ? UI_REFERENCE : side]->dtype == ODB_STRING;
}

static void grid_measure(const struct ui_tensor *v, struct ui_tensor_grid *g, int cols)
{
    bool one = g->at.col_axis < 0;
    g->cell = one ? 0 : grid_digits(g->at.cols ? g->at.cols - 1 : 0);
    for (int i = 0; i < g->n_sides; i++)
        g->cell = ODB_MAX(g->cell, ui_tensor__cell_width(v, g->sides[i]));
    if (one && g->n_sides > 1) /* names stand above */
        g->cell = ODB_MAX(g->cell, (int)strlen("difference"));
    g->cell += 2;
    g->label = g->at.row_axis < 0 ? 0 : grid_digits(g->at.rows ? g->at.rows - 1 : 0);
    g->label = ODB_MAX(g->label, 3) + 1;
    size_t each = (size_t)ODB_MAX(cols - g->label, 0) / (size_t)g->n_sides;
    g->beside =
        g->n_sides > 1 && each >= GRID_GAP && g->at.cols <= (each - GRID_GAP) / (size_t)g->cell;
    g->heads = one ? g->n_sides > 1 : 1 + g->beside;
    if (g->n_sides > 1 && !g->beside)
        g->label += GRID_TAG + 1;
    if (one && grid_is_string(v, g->sides[0]))
        g->cell = ODB_MAX((cols - g->label) / (g->beside ? g->n_sides : 1) - GRID_GAP, g->cell);
}

static bool grid_has_cells(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR;
}

void ui_tensor__grid_layout(struct ui_tensor *v, int cols)
{
    for (int i = 0; i < 2; i++) {
        struct ui_tensor_grid *g = &v->grids[i];
        bool cells = grid_has_cells(v->t[i]), other = grid_has_cells(v->t[!i]);
        g->n_sides = 0;
        if (!cells || (v->paired && i == UI_TARGET))
            continue;
        if (g->at.t != v->t[i])
            odb_grid_init(&g->at, v->t[i]);
        if (v->paired)
            grid_choose_sides(v, g, -1);
        else if (!other || v->mode >= UI_DIFFERENCE || v->mode == i)
            grid_choose_sides(v, g, i);
        if (g->n_sides)
            grid_measure(v, g, cols);
    }
}

size_t ui_tensor__grid_room(const struct ui_tensor_grid *g, int cols)
{
    return (size_t)ODB_MAX((cols - g->label) / g->cell, 1);
}

size_t ui_tensor__grid_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    const struct ui_tensor_grid *g = &v->grids[id - UI_PART_GRID];
    if (!g->n_sides)
        return 0;
    if (!g->at.planes)
        return 1;
    return (size_t)g->heads + g->at.rows * (size_t)(g->beside ? 1 : g->n_sides);
}

/* --- drawing ---------------------------------------------------------------------------------- */

void ui_tensor__grid_title(const struct ui_tensor *v, enum ui_part_id id,
                           const struct ui_area *area)
{
    const struct ui_tensor_grid *g = &v->grids[id - UI_PART_GRID];
    static const char legend[] = " * over tolerance  ~ differs ";
    char plane[ODB_MAX_RANK * 24];
    struct odb_buf text = ODB_BUF_INIT;
    size_t room = ui_tensor__grid_room(g, area->cols), left = (size_t)v->view.left;
    bool alone = !v->t[UI_REFERENCE] || !v->t[UI_TARGET];
    odb_buf_puts(&text,
                 alone || g->n_sides > 1 ? "numbers" : ui_tensor__column_name(v, g->sides[0]));
    if (g->at.t->rank > 1)
        odb_buf_printf(&text, " %s", odb_grid_plane_text(&g->at, plane, sizeof plane));
    if (g->at.planes > 1)
        odb_buf_printf(&text, "  plane %zu of %zu", g->at.plane, g->at.planes);
    if (!g->beside && g->at.cols > room)
        odb_buf_printf(&text, "  columns %zu to %zu of %zu", left,
                       ODB_MIN(left + room, g->at.cols) - 1, g->at.cols);
    ui_tensor__rule(area, odb_buf_text(&text));
    int end = ui_text_width(area->terminal, odb_buf_text(&text)) + 4;
    odb_buf_dispose(&text);
    if (v->paired && end + (int)strlen(legend) < area->cols)
        ui_tensor__column(area, 0, area->cols - 1, legend);
}

static int grid_group(const struct ui_tensor_grid *g, int i)
{
    return g->label + i * ((int)g->at.cols * g->cell + GRID_GAP);
}

/* Text stands at the left of its column, numbers at the right. */
static void grid_draw_text(const struct ui_tensor *v, enum ui_side side, const struct ui_area *area,
                           int col, int width, enum ui_style style, const char *text)
{
    if (grid_is_string(v, side))
        ui_draw_field(area, 0, col, width, UI_CUT_END, style, text);
    else
        ui_draw_right(area, 0, col, width, style, text);
}

static void grid_draw_labels(const struct ui_tensor *v, const struct ui_tensor_grid *g, int line,
                             const struct ui_area *area)
{
    bool names = g->at.col_axis < 0 || line < g->heads - 1;
    size_t left = g->beside ? 0 : (size_t)v->view.left;
    size_t room = g->beside ? g->at.cols : ui_tensor__grid_room(g, area->cols);
    for (int i = 0; i < (g->beside ? g->n_sides : 1); i++) {
        int col = (g->beside ? grid_group(g, i) : g->label) + 1;
        if (names && (g->beside || g->n_sides == 1))
            grid_draw_text(v, g->sides[i], area, col, (int)g->at.cols * g->cell - 2, UI_STYLE_LABEL,
                           ui_tensor__column_name(v, g->sides[i]));
        for (size_t c = left; !names && c - left < room && c < g->at.cols; c++, col += g->cell) {
            char text[24];
            snprintf(text, sizeof text, "%zu", c);
            grid_draw_text(v, g->sides[i], area, col, g->cell - 2, UI_STYLE_LABEL, text);
        }
    }
}

/* Where the difference stands beside the target, it alone has the colours, and both the mark. */
static void grid_draw_cell(const struct ui_tensor *v, const struct ui_tensor_grid *g,
                           enum ui_side side, size_t at, const struct ui_area *area, int col)
{
    char text[UI_CELL_TEXT];
    bool marked = at == v->marked && g == &v->grids[v->marked_grid];
    bool plain = side == UI_TARGET && g->sides[g->n_sides - 1] == UI_DIFFERENCE;
    enum ui_pair pair = v->paired ? ui_tensor__judge(v, at) : UI_PAIR_SAME;
    enum ui_style style = ui_tensor__style(v, side, at);
    enum ui_style sign = v->paired ? ui_tensor__style(v, UI_DIFFERENCE, at) : style;
    int width = ODB_MIN(g->cell - 2, area->cols - col - 1);
    if (plain && ui_tensor__is_finite(v->t[side], at))
        style = UI_STYLE_NUMBER;
    if (marked) /* the cursor is on one side of it */
        style = sign = !g->beside || g->sides[v->side] == side ? UI_STYLE_MATCH : UI_STYLE_HEAD;
    grid_draw_text(v, side, area, col + 1, width, style, ui_tensor__cell(v, side, at, text));
    if (pair != UI_PAIR_SAME && (side != UI_REFERENCE || g->n_sides == 1))
        ui_draw_text(area, 0, col + g->cell - 1, sign, pair == UI_PAIR_BEYOND ? "*" : "~");
}

static void grid_draw_side(const struct ui_tensor *v, const struct ui_tensor_grid *g,
                           enum ui_side side, size_t row, size_t left, size_t n,
                           const struct ui_area *area, int col)
{
    for (size_t c = left; c - left < n && c < g->at.cols; c++, col += g->cell)
        grid_draw_cell(v, g, side, odb_grid_cell(&g->at, row, c), area, col);
}

/* What a line of the grid shows: the row, and one side, or all of them beside one another. */
static size_t grid_line(const struct ui_tensor_grid *g, size_t line, int *first, int *sides)
{
    size_t per = g->beside ? 1 : (size_t)g->n_sides;
    line -= (size_t)g->heads;
    *first = (int)(line % per);
    *sides = g->beside ? g->n_sides : 1;
    return line / per;
}

bool ui_tensor__grid_matches(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                             const char *text)
{
    const struct ui_tensor_grid *g = &v->grids[id - UI_PART_GRID];
    char cell[UI_CELL_TEXT];
    int first, sides;
    if (!g->at.planes || line < (size_t)g->heads)
        return false;
    size_t row = grid_line(g, line, &first, &sides);
    for (int i = first; i < first + sides; i++)
        for (size_t c = 0; grid_is_string(v, g->sides[i]) && c < g->at.cols; c++)
            if (odb_text_matches(
                    ui_tensor__cell(v, g->sides[i], odb_grid_cell(&g->at, row, c), cell), text))
                return true;
    return false;
}

void ui_tensor__grid_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                          const struct ui_area *area)
{
    const struct ui_tensor_grid *g = &v->grids[id - UI_PART_GRID];
    size_t left = (size_t)v->view.left, room = ui_tensor__grid_room(g, area->cols);
    int first, sides, digits = g->label - 1;
    if (!g->at.planes) {
        ui_draw_text(area, 0, 1, UI_STYLE_DIM, "no elements");
        return;
    }
    if (line < (size_t)g->heads) {
        grid_draw_labels(v, g, (int)line, area);
        return;
    }
    size_t row = grid_line(g, line, &first, &sides);
    if (!g->beside && g->n_sides > 1) {
        digits -= GRID_TAG + 1;
        ui_draw_text(area, 0, digits + 1, UI_STYLE_DIM,
                     ui_tensor__tag(g->sides[first], v->measure));
    }
    if (g->at.row_axis >= 0 && !first)
        ui_draw_printf(area, 0, 0, UI_STYLE_LABEL, "%*zu", digits, row);
    if (!g->beside)
        grid_draw_side(v, g, g->sides[first], row, left, room, area, g->label);
    for (int i = 0; g->beside && i < sides; i++)
        grid_draw_side(v, g, g->sides[i], row, 0, g->at.cols, area, grid_group(g, i));
}
