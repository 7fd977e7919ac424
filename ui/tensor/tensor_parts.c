/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What odb_inspect() found, drawn part by part.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"

#define PARTS_REAL 12 /* columns of a number and the blank before it */
#define PARTS_LABEL 11

int ui_tensor__title(const struct ui_area *area, const char *text)
{
    int width = ODB_MIN(ui_text_width(area->terminal, text), ODB_MAX(area->cols - 4, 0));
    ui_draw_hline(area, 0, 0, 1, UI_STYLE_BORDER);
    return ui_draw_field(area, 0, 2, width, UI_CUT_END, UI_STYLE_LABEL, text);
}

void ui_tensor__rule(const struct ui_area *area, const char *text)
{
    int end = ui_tensor__title(area, text) + 1;
    ui_draw_hline(area, 0, end, area->cols - end, UI_STYLE_BORDER);
}

void ui_tensor__column(const struct ui_area *area, int col, int width, const char *text)
{
    ui_draw_text(area, 0, col + width - (int)strlen(text), UI_STYLE_DIM, text);
}

static const struct odb_stats *parts_stats(const struct ui_tensor *v, enum ui_side side)
{
    const struct odb_inspection *seen = v->seen;
    bool there = side == UI_REFERENCE ? seen->ref_numeric
                 : side == UI_TARGET  ? seen->target_numeric
                                      : seen->ref_numeric && seen->comparable;
    const struct odb_stats *stats[UI_SIDES] = {&seen->ref, &seen->target, &seen->diff};
    return there ? stats[side] : NULL;
}

static bool parts_has_numbers(const struct ui_tensor *v)
{
    return v->seen && (v->seen->ref_numeric || v->seen->target_numeric);
}

/* --- statistics ------------------------------------------------------------------------------- */

static const struct parts_stat {
    const char *name;
    size_t offset;
    bool count;
} parts_stat_rows[] = {
    {"min", offsetof(struct odb_stats, min), false},
    {"max", offsetof(struct odb_stats, max), false},
    {"mean", offsetof(struct odb_stats, mean), false},
    {"median", offsetof(struct odb_stats, median), false},
    {"std", offsetof(struct odb_stats, std), false},
    {"rms", offsetof(struct odb_stats, rms), false},
    {"zeros", offsetof(struct odb_stats, zeros), true},
    {"nan", offsetof(struct odb_stats, nan), true},
    {"inf", offsetof(struct odb_stats, pos_inf), true},
};

/* While there is nothing to show of it yet, the part says why. */
static size_t parts_stats_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    bool cells = false;
    for (int side = 0; side < 2; side++)
        cells |= v->t[side] && v->t[side]->kind == ODB_TENSOR && v->t[side]->dtype != ODB_STRING &&
                 v->t[side]->count;
    if (!cells)
        return 0;
    return parts_has_numbers(v) ? ODB_COUNT(parts_stat_rows) : 1;
}

static int parts_stats_width(const struct ui_tensor *v)
{
    int n = 0;
    if (!v->seen)
        return PARTS_LABEL + 3 * PARTS_REAL;
    for (int side = 0; side < UI_SIDES; side++)
        n += parts_stats(v, (enum ui_side)side) != NULL;
    return PARTS_LABEL + n * PARTS_REAL;
}

static void parts_stats_title(const struct ui_tensor *v, enum ui_part_id id,
                              const struct ui_area *area)
{
    int col = PARTS_LABEL;
    ui_tensor__title(area, "statistics");
    for (int side = 0; v->seen && side < UI_SIDES; side++)
        if (parts_stats(v, (enum ui_side)side)) {
            ui_tensor__column(area, col, PARTS_REAL, ui_side_name((enum ui_side)side));
            col += PARTS_REAL;
        }
}

static void parts_stats_cell(const struct odb_stats *s, const struct parts_stat *row,
                             const struct ui_area *area, int col)
{
    char text[32];
    const char *field = (const char *)s + row->offset;
    bool inf = row->offset == offsetof(struct odb_stats, pos_inf);
    bool odd = inf || row->offset == offsetof(struct odb_stats, nan);
    enum ui_style style = UI_STYLE_NUMBER;
    if (row->count) {
        size_t n = *(const size_t *)field + (inf ? s->neg_inf : 0);
        snprintf(text, sizeof text, "%zu", n);
        style = !n ? UI_STYLE_DIM : odd ? UI_STYLE_WARN : UI_STYLE_NUMBER;
    } else if (s->nan + s->pos_inf + s->neg_inf == s->count) {
        snprintf(text, sizeof text, "-");
        style = UI_STYLE_DIM;
    } else {
        ui_tensor__real(*(const double *)field, text, sizeof text);
    }
    ui_draw_right(area, 0, col + 1, PARTS_REAL - 1, style, text);
}

static void parts_stats_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                             const struct ui_area *area)
{
    int col = PARTS_LABEL;
    if (!v->seen) {
        struct odb_buf text = ODB_BUF_INIT;
        ui_tensor__progress(v, UI_LOOK_STATS, &text);
        ui_draw_text(area, 0, 1, v->failure ? UI_STYLE_BAD : UI_STYLE_DIM, odb_buf_text(&text));
        odb_buf_dispose(&text);
        return;
    }
    const struct parts_stat *row = &parts_stat_rows[line];
    ui_draw_text(area, 0, 1, UI_STYLE_LABEL, row->name);
    for (int side = 0; side < UI_SIDES; side++)
        if (parts_stats(v, (enum ui_side)side)) {
            parts_stats_cell(parts_stats(v, (enum ui_side)side), row, area, col);
            col += PARTS_REAL;
        }
}

/* --- distance --------------------------------------------------------------------------------- */

struct parts_fact {
    const char *name;
    char text[48];
};

#define PARTS_FACTS 9

static void parts_add_real(struct parts_fact *facts, size_t *n, const char *name, double value)
{
    facts[*n].name = name;
    ui_tensor__real(value, facts[(*n)++].text, sizeof facts->text);
}

static size_t parts_facts(const struct ui_tensor *v, struct parts_fact facts[PARTS_FACTS])
{
    const struct odb_inspection *seen = v->seen;
    size_t n = 0;
    if (!seen || !seen->comparable || !seen->count)
        return 0;
    if (seen->diff.count) { /* some pairs are finite */
        parts_add_real(facts, &n, "max |diff|", seen->max_abs);
        parts_add_real(facts, &n, "max rel", seen->max_rel);
        parts_add_real(facts, &n, "mean |diff|", seen->mean_abs);
        parts_add_real(facts, &n, "rmse", seen->diff.rms);
    }
    if (seen->diff.count && seen->metrics.count) { /* types of two classes have none of these */
        parts_add_real(facts, &n, "max/rms", seen->metrics.error);
        parts_add_real(facts, &n, "cosine", seen->metrics.cosine);
    }
    if (seen->diff.count && odb_dtype_is_float(v->t[UI_REFERENCE]->dtype) &&
        odb_dtype_is_float(v->t[UI_TARGET]->dtype))
        parts_add_real(facts, &n, "max ulp", seen->metrics.ulp_max);
    facts[n].name = "differing";
    snprintf(facts[n++].text, sizeof facts->text, "%zu", seen->differing);
    facts[n].name = "of";
    snprintf(facts[n++].text, sizeof facts->text, "%zu (%.3g%%)", seen->count,
             100.0 * (double)seen->differing / (double)seen->count);
    return n;
}

static size_t parts_distance_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    struct parts_fact facts[PARTS_FACTS];
    return parts_facts(v, facts);
}

static int parts_distance_width(const struct ui_tensor *v)
{
    return 29;
}

static void parts_distance_title(const struct ui_tensor *v, enum ui_part_id id,
                                 const struct ui_area *area)
{
    ui_tensor__rule(area, "distance");
}

static void parts_distance_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                                const struct ui_area *area)
{
    struct parts_fact facts[PARTS_FACTS];
    if (line >= parts_facts(v, facts))
        return;
    ui_draw_text(area, 0, 1, UI_STYLE_LABEL, facts[line].name);
    ui_draw_text(area, 0, 14, UI_STYLE_NUMBER, facts[line].text);
}

/* --- worst elements --------------------------------------------------------------------------- */

static size_t parts_worst_shown(const struct ui_tensor *v)
{
    size_t most = v->tall ? 16 : 8;
    return v->seen ? ODB_MIN(v->seen->n_worst, most) : 0;
}

size_t ui_tensor__first_worst(const struct ui_tensor *v)
{
    size_t shown = parts_worst_shown(v);
    return v->rank >= shown && v->rank < v->seen->n_worst ? v->rank - shown + 1 : 0;
}

static size_t parts_worst_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    return v->seen && v->seen->comparable ? parts_worst_shown(v) : 0;
}

static const char *parts_place(const struct ui_tensor *v, enum ui_side side, size_t at, char *buf,
                               size_t size)
{
    if (v->t[side]->kind != ODB_TENSOR)
        snprintf(buf, size, "item %zu", at);
    else
        odb_index_text(v->t[side], at, buf, size);
    return buf;
}

/* Columns for rank and index. */
static int parts_worst_label(const struct ui_tensor *v)
{
    char text[ODB_MAX_RANK * 24];
    int width = 8;
    size_t first = ui_tensor__first_worst(v);
    for (size_t i = 0; i < parts_worst_shown(v); i++) {
        parts_place(v, UI_REFERENCE, v->seen->worst[first + i].at, text, sizeof text);
        width = ODB_MAX(width, (int)strlen(text));
    }
    return 4 + width;
}

/* What is said of each: text has no difference, complex numbers no relative one; items have no
 * cells at all. */
struct parts_worst {
    int sides, width;
    bool relative, text;
};

static struct parts_worst parts_worst_form(const struct ui_tensor *v)
{
    const struct odb_tensor *t = v->t[UI_REFERENCE];
    if (t->kind != ODB_TENSOR)
        return (struct parts_worst){0, 0, false, false};
    if (t->dtype == ODB_STRING)
        return (struct parts_worst){2, 2 * PARTS_REAL, false, true};
    if (odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX)
        return (struct parts_worst){UI_SIDES, 2 * PARTS_REAL - 3, false, false};
    return (struct parts_worst){UI_SIDES, PARTS_REAL, true, false};
}

static int parts_worst_width(const struct ui_tensor *v)
{
    struct parts_worst form = parts_worst_form(v);
    return parts_worst_label(v) + (form.sides + form.relative) * form.width + 1;
}

static void parts_worst_title(const struct ui_tensor *v, enum ui_part_id id,
                              const struct ui_area *area)
{
    struct parts_worst form = parts_worst_form(v);
    int col = parts_worst_label(v);
    ui_tensor__title(area, "worst");
    for (int side = 0; side < form.sides; side++, col += form.width) {
        const char *name = ui_side_name((enum ui_side)side);
        ui_tensor__column(area, col, form.text ? (int)strlen(name) + 1 : form.width, name);
    }
    if (form.relative)
        ui_tensor__column(area, col, form.width, "relative");
}

static void parts_worst_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                             const struct ui_area *area)
{
    size_t rank = ui_tensor__first_worst(v) + line;
    const struct odb_worst *w = &v->seen->worst[rank];
    struct parts_worst form = parts_worst_form(v);
    char text[UI_CELL_TEXT], place[ODB_MAX_RANK * 24];
    int col = parts_worst_label(v);
    ui_draw_printf(area, 0, 0, UI_STYLE_DIM, "%2zu", rank + 1);
    parts_place(v, UI_REFERENCE, w->at, place, sizeof place);
    ui_draw_text(area, 0, 3, w->at == v->marked ? UI_STYLE_MATCH : UI_STYLE_LABEL, place);
    for (int i = 0; i < form.sides; i++, col += form.width) {
        enum ui_side side = (enum ui_side)i;
        enum ui_style style = ui_tensor__style(v, side, w->at);
        ui_tensor__cell(v, side, w->at, text);
        if (form.relative && (int)strlen(text) >= form.width) /* a large integer */
            ui_tensor__real(i == 0 ? w->ref : i == 1 ? w->target : w->diff, text, sizeof text);
        if (form.text)
            ui_draw_field(area, 0, col + 1, form.width - 1, UI_CUT_END, style, text);
        else
            ui_draw_right(area, 0, col + 1, form.width - 1, style, text);
    }
    if (form.relative)
        ui_draw_right(area, 0, col + 1, form.width - 1, UI_STYLE_NUMBER,
                      ui_tensor__real(fabs(w->diff) / fabs(w->ref), text, sizeof text));
}

/* --- NaN and Inf ------------------------------------------------------------------------------ */

static const char *const parts_oddities[ODB_ODDITIES] = {
    [ODB_NAN_BOTH] = "NaN on both sides",         [ODB_NAN_REF] = "NaN in the reference alone",
    [ODB_NAN_TARGET] = "NaN in the target alone", [ODB_INF_BOTH] = "the same Inf on both sides",
    [ODB_INF_REF] = "Inf in the reference alone", [ODB_INF_TARGET] = "Inf in the target alone",
    [ODB_INF_SIGN] = "Inf of opposite signs",
};

static size_t parts_odd_shown(const struct ui_tensor *v, int kind)
{
    size_t n = v->seen->odd[kind].n, most = v->tall ? 5 : 3;
    return ODB_MIN(n, most);
}

static size_t parts_odd_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    size_t lines = 0;
    for (int kind = 0; v->seen && kind < ODB_ODDITIES; kind++)
        lines += v->seen->odd[kind].total ? 1 + parts_odd_shown(v, kind) : 0;
    return lines;
}

/* The kind that a line is about, and the place, NULL where it has the total. */
static int parts_odd_find(const struct ui_tensor *v, size_t line, const struct odb_place **place)
{
    for (int kind = 0; kind < ODB_ODDITIES; kind++) {
        size_t lines = v->seen->odd[kind].total ? 1 + parts_odd_shown(v, kind) : 0;
        *place = line ? &v->seen->odd[kind].at[line - 1] : NULL;
        if (line < lines)
            return kind;
        line -= lines;
    }
    *place = NULL;
    return 0;
}

bool ui_tensor__odd_at(const struct ui_tensor *v, size_t line, size_t *at, enum ui_side *side)
{
    const struct odb_place *place;
    parts_odd_find(v, line, &place);
    if (!place)
        return false;
    *at = place->at;
    *side = place->ref == ODB_ABSENT ? UI_TARGET : UI_REFERENCE;
    return true;
}

static int parts_odd_width(const struct ui_tensor *v)
{
    return 62;
}

static void parts_odd_title(const struct ui_tensor *v, enum ui_part_id id,
                            const struct ui_area *area)
{
    ui_tensor__rule(area, "NaN and Inf");
}

static void parts_odd_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                           const struct ui_area *area)
{
    const struct odb_place *place;
    char text[UI_CELL_TEXT], at[ODB_MAX_RANK * 24];
    int kind = parts_odd_find(v, line, &place), col;
    if (!place) {
        bool alone = !v->t[UI_REFERENCE] || !v->t[UI_TARGET];
        const char *name = !alone ? parts_oddities[kind] : kind < ODB_INF_BOTH ? "NaN" : "Inf";
        col = ui_draw_text(area, 0, 1, UI_STYLE_WARN, name);
        ui_draw_printf(area, 0, col + 2, UI_STYLE_NUMBER, "%zu", v->seen->odd[kind].total);
        return;
    }
    enum ui_side first = place->ref == ODB_ABSENT ? UI_TARGET : UI_REFERENCE;
    parts_place(v, first, place->at, at, sizeof at);
    col = ui_draw_text(area, 0, 3, place->at == v->marked ? UI_STYLE_MATCH : UI_STYLE_LABEL, at);
    col = ODB_MAX(col, 18);
    for (int side = 0; side < 2; side++)
        if ((side == UI_REFERENCE ? place->ref : place->target) != ODB_ABSENT) {
            col = ui_draw_printf(area, 0, col + 2, UI_STYLE_DIM, "%s ",
                                 ui_side_name((enum ui_side)side));
            int end = ui_draw_text(area, 0, col, ui_tensor__style(v, (enum ui_side)side, place->at),
                                   ui_tensor__cell(v, (enum ui_side)side, place->at, text));
            col = ODB_MAX(end, col + PARTS_REAL);
        }
}

/* --- what has no cells ------------------------------------------------------------------------ */

static size_t parts_text_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    return v->texts[id - UI_PART_TEXT].lines.n;
}

static void parts_text_title(const struct ui_tensor *v, enum ui_part_id id,
                             const struct ui_area *area)
{
    ui_tensor__rule(area, ui_side_name((enum ui_side)(id - UI_PART_TEXT)));
}

static void parts_text_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                            const struct ui_area *area)
{
    ui_draw_text(area, 0, -v->view.left, UI_STYLE_NORMAL,
                 v->texts[id - UI_PART_TEXT].lines.items[line]);
}

const struct ui_part_kind ui_tensor__kinds[UI_PARTS] = {
    [UI_PART_STATS] = {parts_stats_lines, parts_stats_width, parts_stats_title, parts_stats_draw},
    [UI_PART_DISTANCE] = {parts_distance_lines, parts_distance_width, parts_distance_title,
                          parts_distance_draw},
    [UI_PART_DECADES] = {ui_tensor__errors_lines, ui_tensor__errors_width, ui_tensor__errors_title,
                         ui_tensor__errors_draw},
    [UI_PART_VALUES] = {ui_tensor__values_lines, ui_tensor__values_width, ui_tensor__values_title,
                        ui_tensor__values_draw},
    [UI_PART_WORST] = {parts_worst_lines, parts_worst_width, parts_worst_title, parts_worst_draw},
    [UI_PART_ODD] = {parts_odd_lines, parts_odd_width, parts_odd_title, parts_odd_draw},
    [UI_PART_CHANNELS] = {ui_tensor__channels_lines, ui_tensor__channels_width,
                          ui_tensor__channels_title, ui_tensor__channels_draw},
    [UI_PART_HEAT] = {ui_tensor__heat_lines, NULL, ui_tensor__heat_title, ui_tensor__heat_draw},
    [UI_PART_TEXT] = {parts_text_lines, NULL, parts_text_title, parts_text_draw},
    [UI_PART_TEXT_TARGET] = {parts_text_lines, NULL, parts_text_title, parts_text_draw},
    [UI_PART_GRID] = {ui_tensor__grid_lines, NULL, ui_tensor__grid_title, ui_tensor__grid_draw},
    [UI_PART_GRID_TARGET] = {ui_tensor__grid_lines, NULL, ui_tensor__grid_title,
                             ui_tensor__grid_draw},
};
