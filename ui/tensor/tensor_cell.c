/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One element of a value: how its numbers are written, and how far apart the two sides are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "compare/ulp.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"

#define CELL_WORDS 110 /* columns of a screen that has room for words */

static const char *const cell_measures[UI_MEASURES] = {"difference", "relative", "ulp"};

const char *ui_side_name(enum ui_side side)
{
    static const char *const names[UI_SIDES] = {"reference", "target", "difference"};
    return names[side];
}

const char *ui_tensor__column_name(const struct ui_tensor *v, enum ui_side side)
{
    return side == UI_DIFFERENCE ? cell_measures[v->measure] : ui_side_name(side);
}

const char *ui_tensor__real(double v, char *buf, size_t size)
{
    return odb_format_real(&(struct odb_format){ODB_FORMAT_SHORT, 0}, v, buf, size);
}

/* --- types ------------------------------------------------------------------------------------ */

bool ui_tensor__is_complex(const struct odb_tensor *t)
{
    return odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX;
}

static bool cell_is_whole(const struct odb_tensor *t)
{
    return odb_dtype_is_integer(t->dtype) || t->dtype == ODB_BOOL;
}

bool ui_tensor__both_whole(const struct ui_tensor *v)
{
    return cell_is_whole(v->t[UI_REFERENCE]) && cell_is_whole(v->t[UI_TARGET]);
}

bool ui_tensor__has_difference(const struct ui_tensor *v)
{
    const struct odb_tensor *a = v->t[UI_REFERENCE], *b = v->t[UI_TARGET];
    return a->dtype != ODB_STRING && b->dtype != ODB_STRING &&
           ui_tensor__is_complex(a) == ui_tensor__is_complex(b);
}

/* --- differences ------------------------------------------------------------------------------ */

static double cell_part(const struct odb_tensor *t, size_t at, int part)
{
    enum odb_dtype type = odb_dtype_part(t->dtype);
    return odb_load_f64(type, t->data, 2 * at + (size_t)part);
}

static long double cell_exactly(const struct odb_tensor *t, size_t at)
{
    int64_t v = odb_tensor_i64(t, at);
    return t->dtype == ODB_U64 ? (long double)(uint64_t)v : (long double)v;
}

static double cell_minus(double target, double reference)
{
    bool same = target == reference || (target != target && reference != reference);
    return same ? 0 : target - reference;
}

/* What has no units in the last place is counted in its own. */
static double cell_measure(enum ui_measure measure, enum odb_dtype ulp, double ref, double target)
{
    double d = cell_minus(target, ref);
    if (measure == UI_RELATIVE)
        return d == 0 ? 0 : d / fabs(ref);
    return measure == UI_ULP && ulp != ODB_UNDEFINED && d != 0 ? odb_ulps(ulp, ref, target) : d;
}

static enum odb_dtype cell_ulp_type(const struct ui_tensor *v)
{
    const struct odb_tensor *a = v->t[UI_REFERENCE], *b = v->t[UI_TARGET];
    if (a->dtype == b->dtype && ui_tensor__is_complex(a))
        return odb_dtype_part(a->dtype);
    return odb_ulp_type(a->dtype, b->dtype);
}

const char *ui_tensor__distance(const struct ui_tensor *v, enum ui_measure measure,
                                const struct odb_format *format, size_t at, char buf[UI_CELL_TEXT])
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    /* Units in the last place and relative errors are said in few digits whatever the format. */
    const struct odb_format few = {ODB_FORMAT_SHORT, 0}, count = {ODB_FORMAT_GENERAL, 9};
    const struct odb_format *form = measure == UI_ABSOLUTE ? format
                                    : measure == UI_ULP    ? &count
                                                           : &few;
    enum odb_dtype ulp = cell_ulp_type(v);
    if (ui_tensor__is_complex(ref)) {
        char parts[2][UI_CELL_TEXT / 2 - 2];
        for (int k = 0; k < 2; k++) {
            double d = cell_measure(measure, ulp, cell_part(ref, at, k), cell_part(target, at, k));
            odb_format_real(form, d, parts[k], sizeof parts[k]);
        }
        snprintf(buf, UI_CELL_TEXT, "%s%s%sj", parts[0], parts[1][0] == '-' ? "" : "+", parts[1]);
    } else if (ui_tensor__both_whole(v) && measure != UI_RELATIVE) {
        snprintf(buf, UI_CELL_TEXT, "%.0Lf", cell_exactly(target, at) - cell_exactly(ref, at));
    } else {
        double d = cell_measure(measure, ulp, odb_tensor_f64(ref, at), odb_tensor_f64(target, at));
        odb_format_real(form, d, buf, UI_CELL_TEXT);
    }
    return buf;
}

const char *ui_tensor__text(const struct ui_tensor *v, enum ui_side side,
                            const struct odb_format *format, size_t at, char buf[UI_CELL_TEXT])
{
    if (side == UI_DIFFERENCE)
        return ui_tensor__distance(v, v->measure, format, at, buf);
    return odb_format_element(format, v->t[side], at, buf, UI_CELL_TEXT);
}

const char *ui_tensor__cell(const struct ui_tensor *v, enum ui_side side, size_t at,
                            char buf[UI_CELL_TEXT])
{
    return ui_tensor__text(v, side, &v->format, at, buf);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Of numbers whose extremes are known, in a format that has no width of its own. */
static int cell_known_width(const struct ui_tensor *v, enum ui_side side, int digits)
{
    const struct odb_inspection *seen = v->seen;
    const struct odb_stats *s = !seen                  ? NULL
                                : side == UI_REFERENCE ? &seen->ref
                                : side == UI_TARGET    ? &seen->target
                                                       : &seen->diff;
    int least = s ? snprintf(NULL, 0, "%.*f", digits, s->min) : UI_CELL_REAL;
    int most = s ? snprintf(NULL, 0, "%.*f", digits, s->max) : UI_CELL_REAL;
    return ODB_MIN(ODB_MAX(ODB_MAX(least, most), 3), UI_CELL_WIDEST);
}

int ui_tensor__cell_width(const struct ui_tensor *v, enum ui_side side)
{
    const struct odb_tensor *t = v->t[side == UI_DIFFERENCE ? UI_REFERENCE : side];
    bool decimal = v->format.kind < ODB_FORMAT_HEX;
    if (t->dtype == ODB_STRING)
        return UI_CELL_STRING;
    if (side == UI_DIFFERENCE && v->measure != UI_ABSOLUTE)
        return ui_tensor__is_complex(t) ? 2 * UI_CELL_REAL + 1 : UI_CELL_REAL;
    if (cell_is_whole(t) && t->dtype != ODB_BOOL && decimal &&
        (side != UI_DIFFERENCE || ui_tensor__both_whole(v)))
        return v->seen ? cell_known_width(v, side, 0) : UI_CELL_REAL;
    if (side == UI_DIFFERENCE && !decimal && v->format.kind != ODB_FORMAT_HEX)
        return ui_tensor__is_complex(t) ? 2 * UI_CELL_REAL + 1 : UI_CELL_REAL;
    if (side == UI_DIFFERENCE && ui_tensor__both_whole(v))
        return v->seen ? cell_known_width(v, side, 0) : UI_CELL_REAL;
    int width = odb_format_width(
        &v->format, side == UI_DIFFERENCE && !ui_tensor__is_complex(t) ? ODB_F64 : t->dtype);
    if (side == UI_DIFFERENCE && v->format.kind == ODB_FORMAT_EXACT)
        width = UI_CELL_EXACT;
    if (t->dtype == ODB_F32 && v->format.kind == ODB_FORMAT_EXACT && v->seen &&
        ODB_MAX(v->seen->ref.max, -v->seen->ref.min) < 1e8 &&
        ODB_MAX(v->seen->target.max, -v->seen->target.min) < 1e8)
        width = UI_CELL_EXACT; /* larger ones show their zeros */
    return width ? width : cell_known_width(v, side, v->format.digits);
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
        return c->v[1] + (c->v[0] > 0 ? c->v[0] * fabs(reference) : 0);
    case ODB_CRITERION_CLOSE:
        return v->rms == v->rms ? c->v[0] * (v->rms + fabs(reference)) : -1;
    case ODB_CRITERION_DECIMAL:
        return 1.5 * pow(10, -c->v[0]);
    default:
        return -1;
    }
}

static enum ui_pair cell_judge_real(const struct ui_tensor *v, double ref, double target)
{
    double limit = ui_tensor__limit(v, ref), distance = fabs(cell_minus(target, ref));
    if (distance == 0)
        return UI_PAIR_SAME;
    if (!isfinite(ref) || !isfinite(target))
        return UI_PAIR_BEYOND;
    return limit >= 0 && distance > limit ? UI_PAIR_BEYOND : UI_PAIR_DIFFERS;
}

static bool cell_same_string(const struct odb_tensor *a, const struct odb_tensor *b, size_t at)
{
    const struct odb_str *x = (const struct odb_str *)a->data + at;
    const struct odb_str *y = (const struct odb_str *)b->data + at;
    return x->len == y->len && (!x->len || !memcmp(x->data, y->data, x->len));
}

enum ui_pair ui_tensor__judge(const struct ui_tensor *v, size_t at)
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    if (ref->dtype == ODB_STRING && target->dtype == ODB_STRING)
        return cell_same_string(ref, target, at) ? UI_PAIR_SAME : UI_PAIR_BEYOND;
    if (!ui_tensor__has_difference(v))
        return UI_PAIR_BEYOND;
    if (ui_tensor__is_complex(ref)) {
        enum ui_pair re = cell_judge_real(v, cell_part(ref, at, 0), cell_part(target, at, 0));
        enum ui_pair im = cell_judge_real(v, cell_part(ref, at, 1), cell_part(target, at, 1));
        return ODB_MAX(re, im);
    }
    if (ui_tensor__both_whole(v)) {
        if (cell_exactly(ref, at) == cell_exactly(target, at))
            return UI_PAIR_SAME;
        if (v->tolerance.kind != ODB_CRITERION_ALLCLOSE &&
            v->tolerance.kind != ODB_CRITERION_DECIMAL)
            return UI_PAIR_BEYOND;
    }
    return cell_judge_real(v, odb_tensor_f64(ref, at), odb_tensor_f64(target, at));
}

bool ui_tensor__is_finite(const struct odb_tensor *t, size_t at)
{
    if (ui_tensor__is_complex(t))
        return isfinite(cell_part(t, at, 0)) && isfinite(cell_part(t, at, 1));
    return t->dtype == ODB_STRING || isfinite(odb_tensor_f64(t, at));
}

/* As large as the tenth part of the largest difference. */
static bool cell_is_large(const struct ui_tensor *v, size_t at)
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    if (!v->seen || ref->dtype == ODB_STRING || ui_tensor__is_complex(ref))
        return true;
    double distance = fabs(odb_tensor_f64(target, at) - odb_tensor_f64(ref, at));
    return !(distance < v->seen->max_abs / 10);
}

enum ui_style ui_tensor__style(const struct ui_tensor *v, enum ui_side side, size_t at)
{
    enum ui_pair pair = v->paired ? ui_tensor__judge(v, at) : UI_PAIR_SAME;
    if (pair == UI_PAIR_BEYOND && side != UI_REFERENCE)
        return cell_is_large(v, at) ? UI_STYLE_BAD : UI_STYLE_WARN;
    if (side != UI_DIFFERENCE && !ui_tensor__is_finite(v->t[side], at))
        return UI_STYLE_WARN;
    if (side == UI_DIFFERENCE)
        return pair == UI_PAIR_SAME ? UI_STYLE_DIM : UI_STYLE_NOISE;
    return UI_STYLE_NUMBER;
}

const char *ui_tensor__tag(enum ui_side side, enum ui_measure measure)
{
    static const char *const tags[] = {"ref", "tgt", "dif", "rel", "ulp"};
    return tags[side == UI_DIFFERENCE ? (int)side + (int)measure : (int)side];
}

/* --- the element under the cursor ------------------------------------------------------------- */

static const char *cell_label(enum ui_side side, enum ui_measure measure,
                              const struct ui_area *area)
{
    if (area->cols < CELL_WORDS)
        return ui_tensor__tag(side, measure);
    return side == UI_DIFFERENCE ? cell_measures[measure] : ui_side_name(side);
}

/* Its bits decide what a last digit is: so all of them are shown here. */
static int cell_draw_side(const struct ui_tensor *v, enum ui_side side, const struct ui_area *area,
                          int col)
{
    const struct odb_format exact = {ODB_FORMAT_EXACT, 0};
    const struct odb_format *format = v->format.kind == ODB_FORMAT_SHORT ? &exact : &v->format;
    char text[UI_CELL_TEXT];
    col = ui_draw_printf(area, 0, col, UI_STYLE_LABEL, "  %s ", cell_label(side, v->measure, area));
    return ui_draw_text(area, 0, col, ui_tensor__style(v, side, v->marked),
                        ui_tensor__text(v, side, format, v->marked, text));
}

/* What there is room for: a part of a number is another number. */
static int cell_draw_fact(const struct ui_area *area, int col, enum ui_style style,
                          const char *name, const char *text)
{
    if (col + (int)(strlen(name) + strlen(text)) + 3 > area->cols)
        return col;
    col = ui_draw_printf(area, 0, col, UI_STYLE_LABEL, "  %s ", name);
    return ui_draw_text(area, 0, col, style, text);
}

static void cell_draw_distances(const struct ui_tensor *v, const struct ui_area *area, int col)
{
    const struct odb_tensor *ref = v->t[UI_REFERENCE], *target = v->t[UI_TARGET];
    const struct odb_format few = {ODB_FORMAT_SHORT, 0};
    enum ui_style style = ui_tensor__style(v, UI_DIFFERENCE, v->marked);
    char text[UI_CELL_TEXT];
    for (int measure = 0; measure < UI_MEASURES; measure++) {
        if (measure == UI_ULP && cell_ulp_type(v) == ODB_UNDEFINED)
            continue;
        ui_tensor__distance(v, (enum ui_measure)measure, &few, v->marked, text);
        col = cell_draw_fact(area, col, style,
                             cell_label(UI_DIFFERENCE, (enum ui_measure)measure, area), text);
    }
    if (ui_tensor__is_complex(ref) || ui_tensor__both_whole(v))
        return;
    double a = odb_tensor_f64(ref, v->marked), b = odb_tensor_f64(target, v->marked);
    double limit = ui_tensor__limit(v, a);
    snprintf(text, sizeof text, "%.3g", fabs(cell_minus(b, a)) / limit);
    if (limit > 0 && isfinite(a) && isfinite(b))
        cell_draw_fact(area, col, style, "over tolerance", text);
}

void ui_tensor__draw_marked(const struct ui_tensor *v, const struct ui_area *area)
{
    enum ui_side only = v->marked_grid ? UI_TARGET : UI_REFERENCE;
    char place[ODB_MAX_RANK * 24];
    if (!v->t[only])
        only = UI_TARGET;
    int col = ui_draw_text(area, 0, 0, UI_STYLE_MATCH,
                           odb_index_text(v->t[only], v->marked, place, sizeof place));
    for (int side = 0; side < 2; side++)
        if (v->paired || side == (int)only)
            col = cell_draw_side(v, (enum ui_side)side, area, col);
    if (v->paired && ui_tensor__has_difference(v))
        cell_draw_distances(v, area, col);
}
