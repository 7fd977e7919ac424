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
#include "ui/view/app.h"

#define HEAT_LEVELS 10
#define HEAT_GAP 3       /* columns between pictures */
#define HEAT_DECADES 4.0 /* of errors that are distinguished */
#define HEAT_OVERVIEW 16 /* rows, where there is more to see than a picture */
#define HEAT_WIDE 96     /* columns that an overview with pictures has at least */
#define HEAT_LARGEST 4   /* columns of a cell, at most */
#define HEAT_BELOW 2.0   /* decades below the tolerance that are distinguished */
#define HEAT_PLANES 9    /* column in which the strip of planes begins */

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
    int height = alone ? v->view.height - 6 : HEAT_OVERVIEW;
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
    size_t room = (size_t)heat_room(v, p->rows, cols), lines = (size_t)ODB_MAX(height, 1);
    p->planes = v->paired && heat_has(v, UI_DIFFERENCE) && grid->planes > 1 ? grid->planes : 0;
    p->halves = ui_draw_has_halves(v->view.app->terminal);
    lines = p->halves ? 2 * lines : lines;
    p->h = ODB_MIN(p->rows, lines);
    p->w = ODB_MIN(p->cols, room);
    /* Cells are as square as can be, and where there is room larger. */
    size_t most = p->halves ? ODB_MIN(HEAT_LARGEST, lines / p->h) : 2;
    p->scale = (int)ODB_MAX(ODB_MIN(room / p->w, most), (size_t)1);
}

/* Lines of the screen that a picture takes. */
static size_t heat_height(const struct ui_tensor *v)
{
    return v->picture.halves ? (v->heat->h * (size_t)v->picture.scale + 1) / 2 : v->heat->h;
}

/* The row of the picture in a line, its upper or its lower half; SIZE_MAX: there is none. */
static size_t heat_row(const struct ui_tensor *v, size_t line, bool lower)
{
    size_t row = v->picture.halves ? (2 * line + lower) / (size_t)v->picture.scale : line;
    return row < v->heat->h ? row : SIZE_MAX;
}

static bool heat_is_drawn(const struct ui_tensor *v)
{
    return v->heat && v->heat_of.rows == v->picture.rows && v->heat_of.cols == v->picture.cols;
}

/* Names, rows, two legends, and the strip of planes. */
size_t ui_tensor__heat_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    if (!v->picture.rows)
        return v->page == UI_PAGE_HEAT;
    return heat_is_drawn(v) ? 1 + heat_height(v) + 2 + (v->planes ? 2 : 0) : 1;
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

/* How many times the tolerance the largest error is, at least ten. */
static double heat_above(const struct odb_heat *heat, double limit)
{
    return ODB_MAX(heat->most / limit, 10);
}

/* Where there is a tolerance, it is in the middle: what is within it has the first five levels, in
 * every picture of every value. */
static int heat_error_level(const struct ui_tensor *v, double error)
{
    const struct odb_heat *heat = v->heat;
    double limit = ui_tensor__limit(v, NAN);
    const int half = HEAT_LEVELS / 2;
    if (limit > 0 && error <= limit)
        return heat_level((1 + log10(error / limit) / HEAT_BELOW) / 2 - 1e-9);
    if (limit > 0)
        return ODB_MAX(heat_level(0.5 + log(error / limit) / log(heat_above(heat, limit)) / 2),
                       half);
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

/* On paper there are no colours. */
static bool heat_fills(const struct ui_tensor *v)
{
    return v->picture.halves && !v->view.app->terminal->canvas;
}

static void heat_draw_level(const struct ui_tensor *v, const struct ui_area *area, int col,
                            int width, int level)
{
    for (int i = 0; i < width; i++)
        if (heat_fills(v))
            ui_draw_halves(area, 0, col + i, level, level);
        else
            ui_draw_glyph(area, 0, col + i, (enum ui_style)(UI_STYLE_HEAT0 + level),
                          (enum ui_glyph)(UI_GLYPH_HEAT0 + level));
}

#define HEAT_EQUAL (-1)
#define HEAT_NO_NUMBER (-2)

/* The level of a cell of the picture, or one of those. */
static int heat_cell_level(const struct ui_tensor *v, size_t row, size_t col, enum ui_side side)
{
    if (row == SIZE_MAX)
        return HEAT_EQUAL;
    const struct odb_heat_cell *cell = &v->heat->cells[row * v->heat->w + col];
    double value = side == UI_DIFFERENCE ? cell->error : cell->mean[side];
    if (!isfinite(value))
        return HEAT_NO_NUMBER;
    if (side != UI_DIFFERENCE)
        return heat_value_level(v->heat, value);
    return value > 0 ? heat_error_level(v, value) : HEAT_EQUAL;
}

static void heat_draw_cell(const struct ui_tensor *v, size_t line, size_t j, enum ui_side side,
                           const struct ui_area *area, int col)
{
    bool strings = v->t[v->t[UI_REFERENCE] ? 0 : 1]->dtype == ODB_STRING;
    int upper = heat_cell_level(v, heat_row(v, line, false), j, side);
    int lower = v->picture.halves ? heat_cell_level(v, heat_row(v, line, true), j, side) : upper;
    for (int i = 0; i < v->picture.scale; i++)
        if (ODB_MIN(upper, lower) == HEAT_NO_NUMBER)
            ui_draw_glyph(area, 0, col + i, side == UI_DIFFERENCE ? UI_STYLE_BAD : UI_STYLE_WARN,
                          strings ? UI_GLYPH_FAIL : UI_GLYPH_NAN);
        else if (heat_fills(v))
            ui_draw_halves(area, 0, col + i, upper, lower);
        else if (ODB_MAX(upper, lower) >= 0) /* a blank is equal */
            heat_draw_level(v, area, col + i, 1, ODB_MAX(upper, lower));
}

/* --- drawing ---------------------------------------------------------------------------------- */

static int heat_draw_ramp(const struct ui_tensor *v, const struct ui_area *area, int col, int from,
                          int to)
{
    for (int level = from; level < to; level++, col += 2)
        heat_draw_level(v, area, col, 2, level);
    return col;
}

static void heat_draw_legend(const struct ui_tensor *v, bool errors, const struct ui_area *area)
{
    const struct odb_heat *heat = v->heat;
    char text[32];
    double limit = errors ? ui_tensor__limit(v, NAN) : 0;
    if (errors && heat->most == 0) {
        ui_draw_text(area, 0, 1, UI_STYLE_DIM, "error   none that is finite");
        return;
    }
    double lo = !errors ? heat->lo : limit > 0 ? limit * pow(10, -HEAT_BELOW) : heat_floor(heat);
    double hi = !errors ? heat->hi : limit > 0 ? limit * heat_above(heat, limit) : heat->most;
    ui_draw_text(area, 0, 1, UI_STYLE_LABEL, errors ? "error" : "values");
    ui_draw_right(area, 0, 8, 11, UI_STYLE_NUMBER, ui_tensor__real(lo, text, sizeof text));
    int col = heat_draw_ramp(v, area, 20, 0, HEAT_LEVELS / 2);
    if (limit > 0) {
        col = ui_draw_printf(area, 0, col, UI_STYLE_TOLERANCE, " tolerance %s ",
                             ui_tensor__real(limit, text, sizeof text));
    }
    col = heat_draw_ramp(v, area, col, HEAT_LEVELS / 2, HEAT_LEVELS);
    ui_draw_text(area, 0, col + 1, UI_STYLE_NUMBER, ui_tensor__real(hi, text, sizeof text));
}

/* The largest error of each plane, or of as many planes as a column stands for, from the first to
 * the last; below it which of them is shown. */
static void heat_draw_planes(const struct ui_tensor *v, bool marks, const struct ui_area *area)
{
    const struct odb_heat *planes = v->planes;
    const struct odb_grid *grid = heat_grid(v);
    size_t n = ODB_MIN(planes->h, (size_t)ODB_MAX(area->cols - HEAT_PLANES, 1));
    if (marks) {
        ui_draw_glyph(area, 0, HEAT_PLANES + (int)(grid->plane * n / grid->planes), UI_STYLE_MATCH,
                      UI_GLYPH_ARROW_UP);
        return;
    }
    ui_draw_text(area, 0, 1, UI_STYLE_LABEL, "planes");
    for (size_t c = 0; c < n; c++) {
        double worst = 0;
        for (size_t i = c * planes->h / n; i < (c + 1) * planes->h / n; i++)
            worst = fmax(worst, planes->cells[i].error);
        if (!isfinite(worst))
            ui_draw_glyph(area, 0, HEAT_PLANES + (int)c, UI_STYLE_BAD, UI_GLYPH_NAN);
        else if (worst > 0)
            heat_draw_level(v, area, HEAT_PLANES + (int)c, 1, heat_error_level(v, worst));
        else
            ui_draw_glyph(area, 0, HEAT_PLANES + (int)c, UI_STYLE_DIM, UI_GLYPH_DOT);
    }
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
    size_t height = heat_height(v);
    int label = heat_label(heat->rows), col = label;
    struct ui_area plain = *area; /* a selected row has the picture's colours, and no others */
    plain.under = UI_STYLE_NORMAL;
    if (line > height + 2) {
        heat_draw_planes(v, line > height + 3, &plain);
        return;
    }
    if (line > height) {
        bool values = heat->lo <= heat->hi;
        if (line == height + 1 ? values : heat->both)
            heat_draw_legend(v, line > height + 1, &plain);
        return;
    }
    if (line)
        ui_draw_printf(area, 0, 0, UI_STYLE_LABEL, "%*zu", label - 1,
                       heat_row(v, line - 1, false) * heat->rows / heat->h);
    for (int side = 0; side < UI_SIDES; side++) {
        if (!heat_has(v, (enum ui_side)side))
            continue;
        int drawn = (int)heat->w * v->picture.scale;
        int width = ODB_MAX(drawn, (int)strlen("reference"));
        ui_draw_field(line ? &plain : area, 0, col, line ? drawn : width, UI_CUT_END,
                      UI_STYLE_LABEL,
                      line                    ? ""
                      : side == UI_DIFFERENCE ? "error"
                                              : ui_side_name((enum ui_side)side));
        for (size_t j = 0; line && j < heat->w; j++)
            heat_draw_cell(v, line - 1, j, (enum ui_side)side, &plain,
                           col + (int)j * v->picture.scale);
        col += width + HEAT_GAP;
    }
}

bool ui_tensor__heat_at(const struct ui_tensor *v, size_t line, size_t *at)
{
    if (!heat_is_drawn(v) || !line || line > heat_height(v))
        return false;
    const struct odb_heat_cell *worst = NULL;
    for (int lower = 0; lower < 2; lower++) {
        size_t row = heat_row(v, line - 1, lower);
        for (size_t j = 0; row != SIZE_MAX && j < v->heat->w; j++) {
            const struct odb_heat_cell *cell = &v->heat->cells[row * v->heat->w + j];
            worst = !worst || cell->error > worst->error ? cell : worst;
        }
    }
    *at = worst ? worst->worst : 0;
    return worst != NULL;
}
