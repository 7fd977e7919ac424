/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two histograms: how large the errors are, on a logarithmic scale with the tolerance drawn in, and
 * how the values of both sides are distributed, one drawn over the other.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/draw.h"

#define HISTOGRAM_EDGE 12 /* columns of where a bin of values begins */
#define HISTOGRAM_COUNT 9
#define HISTOGRAM_MORE 8 /* of how many more the target has */

/* Bins are put together, so that there are fewer rows. */
static size_t histogram_bins(const struct ui_tensor *v)
{
    return v->tall ? ODB_INSPECT_BINS / 2 : ODB_INSPECT_BINS / 4;
}

static size_t histogram_bin(const size_t *bins, size_t n, size_t i)
{
    size_t sum = 0, per = ODB_INSPECT_BINS / n;
    for (size_t k = 0; k < per; k++)
        sum += bins[i * per + k];
    return sum;
}

static size_t histogram_most(const size_t *bins, size_t n)
{
    size_t most = 0;
    for (size_t k = 0; k < n; k++)
        most = ODB_MAX(most, histogram_bin(bins, n, k));
    return most;
}

/* --- errors ----------------------------------------------------------------------------------- */

/* The bins that are not empty, from *first on. */
static size_t errors_bins(const struct ui_tensor *v, size_t *first)
{
    size_t n = histogram_bins(v), end = n;
    *first = 0;
    while (*first < end && !histogram_bin(v->seen->diff_bins, n, *first))
        ++*first;
    while (end > *first && !histogram_bin(v->seen->diff_bins, n, end - 1))
        end--;
    return end - *first;
}

/* Where a bin begins; the first one may have no beginning. */
static double errors_edge(const struct ui_tensor *v, size_t bin, char *buf, size_t size)
{
    const struct odb_inspection *seen = v->seen;
    double span = seen->diff_hi - seen->diff_lo, n = (double)histogram_bins(v);
    bool open = bin == 0 && span >= ODB_INSPECT_DECADES;
    double at = seen->diff_lo + span * (double)(bin + open) / n;
    snprintf(buf, size, at == floor(at) ? "%s%.0e" : "%s%.1e", open ? "<" : "", pow(10, at));
    return open ? 0 : pow(10, at);
}

/* Bins that are drawn above the line of the tolerance: those that begin within it. SIZE_MAX: it is
 * no one number. */
static size_t errors_within(const struct ui_tensor *v)
{
    double limit = ui_tensor__limit(v, NAN);
    size_t first, n = errors_bins(v, &first), at = 0;
    char text[32];
    if (!(limit >= 0))
        return SIZE_MAX;
    while (at < n && errors_edge(v, first + at, text, sizeof text) < limit)
        at++;
    return at;
}

/* Whether the tolerance is in the middle of a bin, which then holds what is within it and what is
 * not: they were not counted apart. */
static bool errors_straddles(const struct ui_tensor *v, size_t bin)
{
    double limit = ui_tensor__limit(v, NAN);
    char text[32];
    return errors_edge(v, bin, text, sizeof text) < limit &&
           limit < errors_edge(v, bin + 1, text, sizeof text);
}

/* One line for those that are equal comes before the bins, and one is the tolerance. */
size_t ui_tensor__errors_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    size_t first;
    if (!v->seen || !(v->seen->diff_hi > v->seen->diff_lo))
        return 0;
    return 1 + errors_bins(v, &first) + (errors_within(v) != SIZE_MAX);
}

int ui_tensor__errors_width(const struct ui_tensor *v)
{
    return 28;
}

void ui_tensor__errors_title(const struct ui_tensor *v, enum ui_part_id id,
                             const struct ui_area *area)
{
    ui_tensor__title(area, "|difference|");
    ui_tensor__column(area, area->cols - 10, HISTOGRAM_COUNT, "count");
}

static void errors_draw_limit(const struct ui_tensor *v, const struct ui_area *area)
{
    double limit = ui_tensor__limit(v, NAN);
    char text[32];
    snprintf(text, sizeof text, limit > 0 ? "%.1e" : "0", limit);
    ui_draw_right(area, 0, 1, 8, UI_STYLE_TOLERANCE, text);
    int col = ui_draw_text(area, 0, 10, UI_STYLE_TOLERANCE, "tolerance") + 1;
    ui_draw_hline(area, 0, col, area->cols - col - 1, UI_STYLE_TOLERANCE);
}

void ui_tensor__errors_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                            const struct ui_area *area)
{
    const struct odb_inspection *seen = v->seen;
    size_t n = histogram_bins(v), count = seen->diff_zero, within = errors_within(v), first;
    size_t most = ODB_MAX(ODB_MAX(count, histogram_most(seen->diff_bins, n)), (size_t)1);
    enum ui_style style = UI_STYLE_GOOD;
    char text[32] = "0";
    if (within != SIZE_MAX && line == within + 1) {
        errors_draw_limit(v, area);
        return;
    }
    errors_bins(v, &first);
    if (line) {
        bool over = line > within;
        size_t bin = first + line - 1 - over;
        count = histogram_bin(seen->diff_bins, n, bin);
        errors_edge(v, bin, text, sizeof text);
        style = over                       ? UI_STYLE_BAD
                : errors_straddles(v, bin) ? UI_STYLE_TOLERANCE
                                           : UI_STYLE_NOISE;
    }
    ui_draw_right(area, 0, 1, 8, UI_STYLE_LABEL, text);
    ui_draw_bar(area, 0, 10, area->cols - 21, (double)count / (double)most, style);
    snprintf(text, sizeof text, "%zu", count);
    ui_draw_right(area, 0, area->cols - 10, HISTOGRAM_COUNT, count ? UI_STYLE_NUMBER : UI_STYLE_DIM,
                  text);
    if (count && (style == UI_STYLE_BAD || style == UI_STYLE_TOLERANCE))
        ui_draw_text(area, 0, area->cols - 1, style, style == UI_STYLE_BAD ? "*" : "~");
}

/* --- values ----------------------------------------------------------------------------------- */

/* Few different integers have a line each: how many; 0: they are no integers, or too many. */
static size_t values_integers(const struct ui_tensor *v)
{
    const struct odb_inspection *seen = v->seen;
    for (int side = 0; side < 2; side++)
        if ((side ? seen->target_numeric : seen->ref_numeric) &&
            !odb_dtype_is_integer(v->t[side]->dtype) && v->t[side]->dtype != ODB_BOOL)
            return 0;
    double span = seen->hi - seen->lo;
    return span < (double)histogram_bins(v) ? (size_t)span + 1 : 0;
}

/* Numbers in a line, and where it begins. In halves, because the range need not be a number. */
static size_t values_count(const struct ui_tensor *v, const size_t *bins, size_t line)
{
    size_t integers = values_integers(v);
    if (!integers)
        return histogram_bin(bins, histogram_bins(v), line);
    double at = (double)line / (double)(integers - 1) * ODB_INSPECT_BINS;
    return bins[ODB_MIN((size_t)at, (size_t)ODB_INSPECT_BINS - 1)];
}

static double values_edge(const struct ui_tensor *v, size_t line)
{
    const struct odb_inspection *seen = v->seen;
    double at = (double)line / (double)histogram_bins(v);
    return values_integers(v) ? seen->lo + (double)line
                              : 2 * (seen->lo / 2 + (seen->hi / 2 - seen->lo / 2) * at);
}

/* Where all numbers are one, the statistics say so. */
size_t ui_tensor__values_lines(const struct ui_tensor *v, enum ui_part_id id)
{
    bool numbers = v->seen && (v->seen->ref_numeric || v->seen->target_numeric);
    if (!numbers || !(v->seen->hi > v->seen->lo))
        return 0;
    size_t integers = values_integers(v);
    return integers ? integers : histogram_bins(v);
}

int ui_tensor__values_width(const struct ui_tensor *v)
{
    return 44;
}

static bool values_paired(const struct ui_tensor *v)
{
    return v->seen->ref_numeric && v->seen->target_numeric;
}

/* Columns of a bar. */
static int values_bar(const struct ui_tensor *v, int cols)
{
    int rest = cols - HISTOGRAM_EDGE - 2 - HISTOGRAM_COUNT;
    return ODB_MAX(rest - (values_paired(v) ? HISTOGRAM_MORE : 0), 1);
}

/* What the patterns mean, as far as there is room. */
static void values_draw_legend(const struct ui_area *area, int col, int end)
{
    static const struct {
        enum ui_glyph glyph;
        enum ui_style style;
        const char *words[2];
    } keys[] = {{UI_GLYPH_THUMB, UI_STYLE_NUMBER, {"both", "both"}},
                {UI_GLYPH_MORE_REFERENCE, UI_STYLE_TYPE, {"reference alone", "ref"}},
                {UI_GLYPH_MORE_TARGET, UI_STYLE_OP, {"target alone", "tgt"}}};
    int width = 0;
    for (size_t i = 0; i < ODB_COUNT(keys); i++)
        width += 4 + (int)strlen(keys[i].words[0]);
    bool few = col + width > end;
    for (size_t i = 0; i < ODB_COUNT(keys); i++) {
        const char *word = keys[i].words[few];
        if (col + 2 + (int)strlen(word) > end)
            return;
        col = ui_draw_glyph(area, 0, col, keys[i].style, keys[i].glyph);
        col = ui_draw_text(area, 0, col + 1, UI_STYLE_DIM, word) + (few ? 1 : 2);
    }
}

void ui_tensor__values_title(const struct ui_tensor *v, enum ui_part_id id,
                             const struct ui_area *area)
{
    int bar = values_bar(v, area->cols), col = HISTOGRAM_EDGE + 1, end = col + bar + 1;
    ui_tensor__title(area, "values");
    if (values_paired(v)) {
        values_draw_legend(area, col, end + 3);
        ui_tensor__column(area, end + HISTOGRAM_COUNT, HISTOGRAM_MORE, "tgt-ref");
    }
    ui_tensor__column(area, end, HISTOGRAM_COUNT, values_paired(v) ? "ref" : "count");
}

/* One bar: as long as both are, and what the longer one has more. */
static void values_draw_both(const struct ui_area *area, int col, int width, double ref,
                             double target)
{
    enum ui_glyph glyph = ref > target ? UI_GLYPH_MORE_REFERENCE : UI_GLYPH_MORE_TARGET;
    enum ui_style style = ref > target ? UI_STYLE_TYPE : UI_STYLE_OP;
    double both = ODB_MIN(ref, target), most = ODB_MAX(ref, target);
    ui_draw_bar(area, 0, col, width, both, UI_STYLE_NUMBER);
    for (int i = (int)ceil(both * width); i < (int)ceil(most * width) && i < width; i++)
        ui_draw_glyph(area, 0, col + i, style, glyph);
}

void ui_tensor__values_draw(const struct ui_tensor *v, enum ui_part_id id, size_t line,
                            const struct ui_area *area)
{
    const struct odb_inspection *seen = v->seen;
    size_t n = ui_tensor__values_lines(v, id), counts[2] = {0, 0}, most = 1;
    int bar = values_bar(v, area->cols), col = HISTOGRAM_EDGE + 1;
    char text[32];
    for (int side = 0; side < 2; side++)
        if (side ? seen->target_numeric : seen->ref_numeric) {
            const size_t *bins = side ? seen->target_bins : seen->ref_bins;
            counts[side] = values_count(v, bins, line);
            for (size_t i = 0; i < n; i++)
                most = ODB_MAX(most, values_count(v, bins, i));
        }
    double ref = (double)counts[0] / (double)most, target = (double)counts[1] / (double)most;
    ui_tensor__real(values_edge(v, line), text, sizeof text);
    ui_draw_right(area, 0, 1, HISTOGRAM_EDGE - 1, UI_STYLE_LABEL, text);
    if (values_paired(v))
        values_draw_both(area, col, bar, ref, target);
    else
        ui_draw_bar(area, 0, col, bar, ref + target, UI_STYLE_NUMBER);
    col += bar + 1;
    snprintf(text, sizeof text, "%zu", counts[seen->ref_numeric ? 0 : 1]);
    ui_draw_right(area, 0, col, HISTOGRAM_COUNT, UI_STYLE_NUMBER, text);
    if (!values_paired(v) || counts[0] == counts[1])
        return;
    snprintf(text, sizeof text, "%+lld", (long long)counts[1] - (long long)counts[0]);
    ui_draw_right(area, 0, col + HISTOGRAM_COUNT, HISTOGRAM_MORE,
                  counts[1] > counts[0] ? UI_STYLE_OP : UI_STYLE_TYPE, text);
}
