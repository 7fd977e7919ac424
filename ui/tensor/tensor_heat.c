/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pictures of a plane: reference, target, and how far they are apart. Where a plane is larger than
 * its picture, a cell stands for a block of elements: values show their mean, errors the largest,
 * so that a single one is not lost. Errors are on a logarithmic scale. A level is a glyph and a
 * colour, so that it is seen without either.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "compare/inspect/heat.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"

#define HEAT_LEVELS 10
#define HEAT_GAP 3       /* columns between pictures */
#define HEAT_DECADES 4.0 /* of errors that are distinguished */
#define HEAT_OVERVIEW 16 /* rows, where there is more to see than a picture */
#define HEAT_WIDE 96     /* columns that an overview with pictures has at least */

/* --- layout ----------------------------------------------------------------------------------- */

static bool heat_has(const struct ui_tensor *v, enum ui_side side)
{
    const struct odb_tensor *t = v->t[side == UI_DIFFERENCE ? UI_REFERENCE : side];
    bool wanted = v->mode == UI_SIDES || v->mode == (int)side;
    if (side == UI_DIFFERENCE)
        return v->paired && (ui_tensor__has_difference(v) || t->dtype == ODB_STRING) && wanted;
    return t && t->kind == ODB_TENSOR && t->dtype != ODB_STRING && wanted &&
           (v->paired || side == UI_REFERENCE || !v->t[UI_REFERENCE]);
}

static int heat_panels(const struct ui_tensor *v)
{
    int n = 0;
    for (int side = 0; side < UI_SIDES; side++)
        n += heat_has(v, (enum ui_side)side);
    return n;
}

static const struct odb_grid *heat_grid(const struct ui_tensor *v)
{
    const struct odb_grid *grid = &v->grids[v->t[UI_REFERENCE] ? 0 : 1].at;
    return grid->t && grid->t->kind == ODB_TENSOR && grid->planes ? grid : NULL;
}

static int heat_label(size_t rows)
{
    return snprintf(NULL, 0, "%zu", rows ? rows - 1 : 0) + 1;
}

/* Columns of a picture. */
static int heat_room(const struct ui_tensor *v, size_t rows, int cols)
{
    int n = heat_panels(v);
    return ODB_MAX((cols - heat_label(rows) - (n - 1) * HEAT_GAP) / ODB_MAX(n, 1), 1);
}

void ui_tensor__heat_layout(struct ui_tensor *v, int cols)
{
    const struct odb_grid *grid = heat_grid(v);
    bool alone = v->page == UI_PAGE_HEAT;
    int height = alone ? v->view.height - 4 : HEAT_OVERVIEW;
    v->picture = (struct ui_tensor_picture){.rows = 0};
    if (!grid || grid->t->count < 4 || !heat_panels(v) ||
        (!alone && (v->page != UI_PAGE_ALL || !v->tall || cols < HEAT_WIDE || grid->rows < 2 ||
                    grid->cols < 2)))
        return;
    struct ui_tensor_picture *p = &v->picture;
    bool vector = grid->col_axis < 0; /* lies on its side */
    p->rows = vector ? 1 : grid->rows;
    p->cols = vector ? grid->rows : grid->cols;
    p->first = grid->plane * p->rows * p->cols;
    p->h = ODB_MIN(p->rows, (size_t)ODB_MAX(height, 1));
    p->w = ODB_MIN(p->cols, (size_t)heat_room(v, p->rows, cols));
}

static bool heat_is_drawn(const struct ui_tensor *v)
{
    return v->heat && v->heat_of.rows == v->picture.rows && v->heat_of.cols == v->picture.cols;
}

/* Names, rows, and two legends. */
size_t ui_tensor__heat_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    if (!v->picture.rows)
        return v->page == UI_PAGE_HEAT;
    return heat_is_drawn(v) ? 1 + v->heat->h + 2 : 1;
}

void ui_tensor__heat_title(const struct ui_tensor *v, enum ui_part_id id,
                           const struct ui_area *area)
{
    const struct odb_grid *grid = heat_grid(v);
    const struct odb_heat *heat = heat_is_drawn(v) ? v->heat : NULL;
    char plane[ODB_MAX_RANK * 24];
    struct odb_buf text = ODB_BUF_INIT;
    odb_buf_puts(&text, "heat map");
    if (grid)
        odb_buf_printf(&text, " %s", odb_grid_plane_text(grid, plane, sizeof plane));
    if (heat)
        odb_buf_printf(&text, "  %zu x %zu", heat->rows, heat->cols);
    if (heat && (heat->h < heat->rows || heat->w < heat->cols))
        odb_buf_printf(&text, "  cells of %zu x %zu: mean, largest error",
                       (heat->rows + heat->h - 1) / heat->h, (heat->cols + heat->w - 1) / heat->w);
    ui_tensor__rule(area, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

/* --- levels ----------------------------------------------------------------------------------- */

/* The smallest error that is distinguished from the others below it. */
static double heat_floor(const struct odb_heat *heat)
{
    return ODB_MAX(heat->least, heat->most * pow(10, -HEAT_DECADES));
}

static int heat_level(double share)
{
    return (int)ODB_MAX(0, ODB_MIN(share * HEAT_LEVELS, HEAT_LEVELS - 1));
}

static int heat_error_level(const struct odb_heat *heat, double error)
{
    double floor = heat_floor(heat), span = log10(heat->most / floor);
    if (error <= floor && heat->most > floor)
        return 0;
    return span > 0 ? heat_level(log10(error / floor) / span) : HEAT_LEVELS - 1;
}

static int heat_value_level(const struct odb_heat *heat, double value)
{
    double half = heat->hi / 2 - heat->lo / 2; /* the whole may overflow */
    return half > 0 ? heat_level((value / 2 - heat->lo / 2) / half) : HEAT_LEVELS / 2;
}

static void heat_draw_level(const struct ui_area *area, int col, int width, int level)
{
    for (int i = 0; i < width; i++)
        ui_draw_glyph(area, 0, col + i, (enum ui_style)(UI_STYLE_HEAT0 + level),
                      (enum ui_glyph)(UI_GLYPH_HEAT0 + level));
}

static void heat_draw_cell(const struct ui_tensor *v, const struct odb_heat_cell *cell,
                           enum ui_side side, const struct ui_area *area, int col, int width)
{
    const struct odb_heat *heat = v->heat;
    bool strings = v->t[v->t[UI_REFERENCE] ? 0 : 1]->dtype == ODB_STRING;
    double value = side == UI_DIFFERENCE ? cell->error : cell->mean[side];
    if (!isfinite(value))
        for (int i = 0; i < width; i++)
            ui_draw_glyph(area, 0, col + i, side == UI_DIFFERENCE ? UI_STYLE_BAD : UI_STYLE_WARN,
                          strings ? UI_GLYPH_FAIL : UI_GLYPH_NAN);
    else if (side != UI_DIFFERENCE)
        heat_draw_level(area, col, width, heat_value_level(heat, value));
    else if (value > 0) /* a blank is equal */
        heat_draw_level(area, col, width, heat_error_level(heat, value));
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Columns of a cell: two make a square. */
static int heat_cell(const struct ui_tensor *v, int cols)
{
    return 2 * v->heat->w <= (size_t)heat_room(v, v->heat->rows, cols) ? 2 : 1;
}

static int heat_draw_ramp(const struct ui_area *area, int col)
{
    for (int level = 0; level < HEAT_LEVELS; level++)
        heat_draw_level(area, col + 2 * level, 2, level);
    return col + 2 * HEAT_LEVELS;
}

/* From which level on errors are over the tolerance. */
static void heat_draw_limit(const struct ui_tensor *v, double limit, const struct ui_area *area,
                            int col)
{
    const struct odb_heat *heat = v->heat;
    char text[32];
    if (limit >= heat->most) {
        ui_draw_text(area, 0, col, UI_STYLE_DIM, "all within tolerance");
    } else if (limit <= heat_floor(heat)) {
        ui_draw_text(area, 0, col, UI_STYLE_DIM, "all over tolerance");
    } else {
        heat_draw_level(area, col, 2, heat_error_level(heat, limit));
        ui_draw_printf(area, 0, col + 2, UI_STYLE_DIM, " tolerance %s",
                       ui_tensor__real(limit, text, sizeof text));
    }
}

static void heat_draw_legend(const struct ui_tensor *v, bool errors, const struct ui_area *area)
{
    const struct odb_heat *heat = v->heat;
    char lo[32], hi[32];
    double limit = ui_tensor__limit(v, NAN);
    if (errors && heat->most == 0) {
        ui_draw_text(area, 0, 1, UI_STYLE_DIM, "error   none that is finite");
        return;
    }
    ui_tensor__real(errors ? heat_floor(heat) : heat->lo, lo, sizeof lo);
    ui_tensor__real(errors ? heat->most : heat->hi, hi, sizeof hi);
    ui_draw_text(area, 0, 1, UI_STYLE_LABEL, errors ? "error" : "values");
    ui_draw_right(area, 0, 8, 11, UI_STYLE_NUMBER, lo);
    int col = ui_draw_text(area, 0, heat_draw_ramp(area, 20) + 1, UI_STYLE_NUMBER, hi);
    if (!errors)
        return;
    if (limit > 0)
        heat_draw_limit(v, limit, area, col + 2);
}

static void heat_draw_nothing(const struct ui_tensor *v, const struct ui_area *area)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (v->picture.rows)
        ui_tensor__progress(v, UI_LOOK_HEAT, &text);
    else
        odb_buf_puts(&text, "there is nothing to draw a picture of");
    ui_draw_text(area, 0, 1, UI_STYLE_DIM, odb_buf_text(&text));
    odb_buf_dispose(&text);
}

void ui_tensor__heat_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                          const struct ui_area *area)
{
    if (!heat_is_drawn(v)) {
        heat_draw_nothing(v, area);
        return;
    }
    const struct odb_heat *heat = v->heat;
    int cell = heat_cell(v, area->cols), label = heat_label(heat->rows), col = label;
    if (line > heat->h) {
        bool values = heat->lo <= heat->hi;
        if (line == heat->h + 1 ? values : heat->both)
            heat_draw_legend(v, line > heat->h + 1, area);
        return;
    }
    if (line)
        ui_draw_printf(area, 0, 0, UI_STYLE_LABEL, "%*zu", label - 1,
                       (line - 1) * heat->rows / heat->h);
    for (int side = 0; side < UI_SIDES; side++) {
        if (!heat_has(v, (enum ui_side)side))
            continue;
        int width = ODB_MAX((int)heat->w * cell, (int)strlen("reference"));
        if (!line)
            ui_draw_field(area, 0, col, width, UI_CUT_END, UI_STYLE_LABEL,
                          side == UI_DIFFERENCE ? "error" : ui_side_name((enum ui_side)side));
        for (size_t j = 0; line && j < heat->w; j++)
            heat_draw_cell(v, &heat->cells[(line - 1) * heat->w + j], (enum ui_side)side, area,
                           col + (int)j * cell, cell);
        col += width + HEAT_GAP;
    }
}

bool ui_tensor__heat_at(const struct ui_tensor *v, size_t line, size_t *at)
{
    if (!heat_is_drawn(v) || !line || line > v->heat->h)
        return false;
    const struct odb_heat_cell *cells = &v->heat->cells[(line - 1) * v->heat->w], *worst = cells;
    for (size_t j = 1; j < v->heat->w; j++)
        if (cells[j].error > worst->error)
            worst = &cells[j];
    *at = worst->worst;
    return true;
}
