/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers in rows and columns. Only the cells that are drawn are read.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor/print.h"
#include "ui/tensor_int.h"

#define GRID_REAL 11   /* columns of -1.2346e-05 */
#define GRID_STRING 24 /* of a string, where there are more columns of them */
#define GRID_GAP 2     /* between the sides of a row */

static const char *const grid_tags[UI_SIDES] = {"ref", "tgt", "dif"};

const char *ui_side_name(enum ui_side side)
{
    static const char *const names[UI_SIDES] = {"reference", "target", "difference"};
    return names[side];
}

/* --- one element ------------------------------------------------------------------------------ */

static bool grid_is_complex(enum odb_dtype dtype)
{
    return odb_dtype_info(dtype)->class_ == ODB_CLASS_COMPLEX;
}

static bool grid_is_whole(enum odb_dtype dtype)
{
    return odb_dtype_is_integer(dtype) || dtype == ODB_BOOL;
}

const char *ui_tensor__real(double v, char *buf, size_t size)
{
    if (isfinite(v))
        snprintf(buf, size, "%.5g", v);
    else
        snprintf(buf, size, "%s", v != v ? "nan" : v < 0 ? "-inf" : "inf");
    return buf;
}

/* Types of few digits: those that tell the number from its neighbours, where they fit. */
static void grid_short_real(enum odb_dtype dtype, double v, char *buf, size_t size)
{
    struct odb_buf text = ODB_BUF_INIT_MAX(GRID_REAL + 3);
    odb_print_number(&text, dtype, v);
    if (text.len > 2 && !strcmp(text.data + text.len - 2, ".0"))
        text.data[text.len -= 2] = '\0';
    if (text.overflowed || text.len > GRID_REAL)
        ui_tensor__real(v, buf, size);
    else
        snprintf(buf, size, "%s", text.data);
    odb_buf_dispose(&text);
}

static double grid_part(const struct odb_tensor *t, size_t at, int part)
{
    enum odb_dtype type = t->dtype == ODB_C64 ? ODB_F32 : ODB_F64;
    return odb_load_f64(type, t->data, 2 * at + (size_t)part);
}

static void grid_complex(double re, double im, char *buf, size_t size)
{
    char parts[2][32];
    ui_tensor__real(re, parts[0], sizeof parts[0]);
    ui_tensor__real(im, parts[1], sizeof parts[1]);
    snprintf(buf, size, "%s%s%sj", parts[0], parts[1][0] == '-' ? "" : "+", parts[1]);
}

static void grid_element(const struct odb_tensor *t, size_t at, char *buf, size_t size)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    if (info->class_ == ODB_CLASS_FLOAT && info->bits <= 16) {
        grid_short_real(t->dtype, odb_tensor_f64(t, at), buf, size);
    } else if (info->class_ == ODB_CLASS_FLOAT) {
        ui_tensor__real(odb_tensor_f64(t, at), buf, size);
    } else if (info->class_ == ODB_CLASS_COMPLEX) {
        grid_complex(grid_part(t, at, 0), grid_part(t, at, 1), buf, size);
    } else {
        struct odb_buf text = ODB_BUF_INIT_MAX(size);
        odb_print_element(&text, t, at);
        snprintf(buf, size, "%s", odb_buf_text(&text));
        odb_buf_dispose(&text);
    }
}

static long double grid_exactly(const struct odb_tensor *t, size_t at)
{
    int64_t v = odb_tensor_i64(t, at);
    return t->dtype == ODB_U64 ? (long double)(uint64_t)v : (long double)v;
}

static double grid_minus(double target, double reference)
{
    bool same = target == reference || (target != target && reference != reference);
    return same ? 0 : target - reference;
}

const char *ui_tensor__cell(const struct ui_tensor *v, enum ui_side side, size_t at,
                            char buf[UI_CELL_TEXT])
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    if (side != UI_DIFFERENCE)
        grid_element(v->t[side], at, buf, UI_CELL_TEXT);
    else if (grid_is_complex(ref->dtype))
        grid_complex(grid_minus(grid_part(target, at, 0), grid_part(ref, at, 0)),
                     grid_minus(grid_part(target, at, 1), grid_part(ref, at, 1)), buf,
                     UI_CELL_TEXT);
    else if (grid_is_whole(ref->dtype) && grid_is_whole(target->dtype))
        snprintf(buf, UI_CELL_TEXT, "%.0Lf", grid_exactly(target, at) - grid_exactly(ref, at));
    else
        ui_tensor__real(grid_minus(odb_tensor_f64(target, at), odb_tensor_f64(ref, at)), buf,
                        UI_CELL_TEXT);
    return buf;
}

/* --- how it differs --------------------------------------------------------------------------- */

double ui_tensor__limit(const struct ui_tensor *v, double reference)
{
    const struct odb_criterion *c = &v->tolerance;
    switch (c->kind) {
    case ODB_CRITERION_NOISE: /* errors and noise are shares of the reference's rms */
        return v->report.noise.known && v->rms == v->rms ? c->v[0] * v->report.noise.v * v->rms
                                                         : -1;
    case ODB_CRITERION_ALLCLOSE:
        return c->v[1] + c->v[0] * fabs(reference);
    case ODB_CRITERION_DECIMAL:
        return 1.5 * pow(10, -c->v[0]);
    default:
        return -1;
    }
}

static enum ui_pair grid_judge_real(const struct ui_tensor *v, double ref, double target)
{
    double limit = ui_tensor__limit(v, ref), distance = fabs(grid_minus(target, ref));
    if (distance == 0)
        return UI_PAIR_SAME;
    if (!isfinite(ref) || !isfinite(target))
        return UI_PAIR_BEYOND;
    return limit >= 0 && distance > limit ? UI_PAIR_BEYOND : UI_PAIR_DIFFERS;
}

static bool grid_same_string(const struct odb_tensor *a, const struct odb_tensor *b, size_t at)
{
    const struct odb_str *x = (const struct odb_str *)a->data + at;
    const struct odb_str *y = (const struct odb_str *)b->data + at;
    return x->len == y->len && (!x->len || !memcmp(x->data, y->data, x->len));
}

/* They are of kinds that can be subtracted. */
static bool grid_has_difference(const struct ui_tensor *v)
{
    enum odb_dtype a = v->t[UI_REFERENCE]->dtype, b = v->t[UI_TARGET]->dtype;
    return a != ODB_STRING && b != ODB_STRING && grid_is_complex(a) == grid_is_complex(b);
}

enum ui_pair ui_tensor__judge(const struct ui_tensor *v, size_t at)
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    if (ref->dtype == ODB_STRING && target->dtype == ODB_STRING)
        return grid_same_string(ref, target, at) ? UI_PAIR_SAME : UI_PAIR_BEYOND;
    if (!grid_has_difference(v))
        return UI_PAIR_BEYOND;
    if (grid_is_complex(ref->dtype)) {
        enum ui_pair re = grid_judge_real(v, grid_part(ref, at, 0), grid_part(target, at, 0));
        enum ui_pair im = grid_judge_real(v, grid_part(ref, at, 1), grid_part(target, at, 1));
        return ODB_MAX(re, im);
    }
    if (grid_is_whole(ref->dtype) && grid_is_whole(target->dtype)) {
        if (grid_exactly(ref, at) == grid_exactly(target, at))
            return UI_PAIR_SAME;
        if (v->tolerance.kind != ODB_CRITERION_ALLCLOSE &&
            v->tolerance.kind != ODB_CRITERION_DECIMAL)
            return UI_PAIR_BEYOND;
    }
    return grid_judge_real(v, odb_tensor_f64(ref, at), odb_tensor_f64(target, at));
}

static bool grid_is_finite(const struct odb_tensor *t, size_t at)
{
    if (grid_is_complex(t->dtype))
        return isfinite(grid_part(t, at, 0)) && isfinite(grid_part(t, at, 1));
    return t->dtype == ODB_STRING || isfinite(odb_tensor_f64(t, at));
}

/* As large as the tenth part of the largest difference. */
static bool grid_is_large(const struct ui_tensor *v, size_t at)
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    if (!v->seen || ref->dtype == ODB_STRING || grid_is_complex(ref->dtype))
        return true;
    double distance = fabs(odb_tensor_f64(target, at) - odb_tensor_f64(ref, at));
    return !(distance < v->seen->max_abs / 10);
}

enum ui_style ui_tensor__style(const struct ui_tensor *v, enum ui_side side, size_t at)
{
    enum ui_pair pair = v->paired ? ui_tensor__judge(v, at) : UI_PAIR_SAME;
    if (pair == UI_PAIR_BEYOND && side != UI_REFERENCE)
        return grid_is_large(v, at) ? UI_STYLE_BAD : UI_STYLE_WARN;
    if (side != UI_DIFFERENCE && !grid_is_finite(v->t[side], at))
        return UI_STYLE_WARN;
    if (side == UI_DIFFERENCE)
        return pair == UI_PAIR_SAME ? UI_STYLE_DIM : UI_STYLE_NOISE;
    return UI_STYLE_NUMBER;
}

/* --- layout ----------------------------------------------------------------------------------- */

static int grid_digits(size_t n)
{
    return snprintf(NULL, 0, "%zu", n);
}

static int grid_whole_width(const struct ui_tensor *v, enum ui_side side)
{
    const struct odb_inspection *seen = v->seen;
    if (!seen)
        return GRID_REAL;
    const struct odb_stats *s = side == UI_REFERENCE ? &seen->ref
                                : side == UI_TARGET  ? &seen->target
                                                     : &seen->diff;
    int least = snprintf(NULL, 0, "%.0f", s->min), most = snprintf(NULL, 0, "%.0f", s->max);
    return ODB_MAX(ODB_MAX(least, most), 3);
}

/* Columns that the text of an element needs. */
static int grid_width(const struct ui_tensor *v, enum ui_side side)
{
    enum odb_dtype dtype = v->t[side == UI_DIFFERENCE ? UI_REFERENCE : side]->dtype;
    if (dtype == ODB_STRING)
        return GRID_STRING;
    if (grid_is_complex(dtype))
        return 2 * GRID_REAL + 1;
    if (dtype == ODB_BOOL && side != UI_DIFFERENCE)
        return (int)strlen("False");
    bool whole =
        grid_is_whole(dtype) && (side != UI_DIFFERENCE || grid_is_whole(v->t[UI_TARGET]->dtype));
    return whole ? grid_whole_width(v, side) : GRID_REAL;
}

static void grid_choose_sides(const struct ui_tensor *v, struct ui_tensor_grid *g, int only)
{
    g->n_sides = 0;
    for (int side = 0; side < UI_SIDES; side++) {
        bool there =
            side == UI_DIFFERENCE ? v->paired && grid_has_difference(v) : v->t[side] != NULL;
        bool wanted = v->mode == UI_SIDES || v->mode == side ||
                      (v->mode == UI_DIFFERENCE && v->paired && !grid_has_difference(v));
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
        g->cell = ODB_MAX(g->cell, grid_width(v, g->sides[i]));
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
        g->label += (int)strlen(grid_tags[0]) + 1;
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
    odb_buf_puts(&text, alone || g->n_sides > 1 ? "numbers" : ui_side_name(g->sides[0]));
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
                           ui_side_name(g->sides[i]));
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
    if (plain && grid_is_finite(v->t[side], at))
        style = UI_STYLE_NUMBER;
    if (marked)
        style = sign = UI_STYLE_MATCH;
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
            if (ui_text_matches(
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
        digits -= (int)strlen(grid_tags[0]) + 1;
        ui_draw_text(area, 0, digits + 1, UI_STYLE_DIM, grid_tags[g->sides[first]]);
    }
    if (g->at.row_axis >= 0 && !first)
        ui_draw_printf(area, 0, 0, UI_STYLE_LABEL, "%*zu", digits, row);
    if (!g->beside)
        grid_draw_side(v, g, g->sides[first], row, left, room, area, g->label);
    for (int i = 0; g->beside && i < sides; i++)
        grid_draw_side(v, g, g->sides[i], row, 0, g->at.cols, area, grid_group(g, i));
}
