/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How verdicts, types, numbers and sentences look wherever they are shown.
 */
#include "ui/view/mark.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/console.h"
#include "compare/criterion.h"
#include "session/session.h"
#include "ui/terminal/draw.h"

/* Of a word's bytes that fit, those up to a scope's end, where that is more than half of them. */
static size_t mark_part(const char *word, size_t fit)
{
    size_t part = fit;
    while (part > fit / 2 && word[part - 1] != '/')
        part--;
    return part > fit / 2 ? part : fit;
}

size_t ui_text_line(const struct ui_terminal *terminal, const char *text, int cols, size_t *gap)
{
    size_t end = strcspn(text, "\n"), line = 0;
    int width = 0;
    *gap = 0;
    while (line < end) { /* word by word, each with the blanks in front of it */
        size_t blanks = strspn(text + line, " "),
               len = blanks + strcspn(text + line + blanks, " \n");
        char *word = odb_xstrndup(text + line, len);
        int w = ui_text_width(terminal, word);
        free(word);
        if (width && width + w > cols) {
            *gap = blanks;
            return line;
        }
        if (w > cols) /* a word that no line has room for goes on in the next one */
            return mark_part(text + line, ui_text_fit(terminal, text + line, cols));
        width += w;
        line += len;
    }
    *gap = text[end] == '\n';
    return line;
}

#define MARK_DOTS 20 /* columns from which on there is room for an ellipsis */

int ui_draw_words(const struct ui_area *area, int row, enum ui_style style, const char *text)
{
    const char *dots = ui_glyph_text(UI_GLYPH_ELLIPSIS, area->terminal->unicode);
    int drawn = 0;
    while (*text && row + drawn < area->rows) {
        size_t gap, n = ui_text_line(area->terminal, text, area->cols, &gap);
        bool last = row + drawn + 1 == area->rows;
        bool cut = last && text[n + gap] && area->cols >= MARK_DOTS;
        if (cut)
            n = ui_text_line(area->terminal, text, area->cols - 2, &gap);
        char *line = odb_xstrndup(text, n);
        int col = ui_draw_text(area, row + drawn++, 0, style, line);
        if (cut)
            ui_draw_printf(area, row + drawn - 1, col, style, " %s", dots);
        free(line);
        text += n + gap;
    }
    return drawn;
}

const struct ui_outcome_mark ui_outcomes[] = {
    [ODB_OUTCOME_NONE] = {UI_GLYPH_UNTESTED, UI_STYLE_DIM},
    [ODB_OUTCOME_PASS] = {UI_GLYPH_PASS, UI_STYLE_GOOD},
    [ODB_OUTCOME_DIVERGES] = {UI_GLYPH_FAIL, UI_STYLE_BAD},
};

enum ui_glyph ui_mark_glyph(const struct odb_value_report *report, bool culprit, bool unsupported)
{
    static const enum ui_glyph glyphs[] = {
#define MARK_GLYPH(name, text, help) [ODB_VERDICT_##name] = UI_GLYPH_##name,
        ODB_VERDICT_LIST(MARK_GLYPH)
#undef MARK_GLYPH
    };
    if (culprit)
        return UI_GLYPH_CULPRIT;
    if (unsupported && report->verdict == ODB_VERDICT_UNTESTED)
        return UI_GLYPH_UNSUPPORTED;
    return glyphs[report->verdict];
}

enum ui_style ui_mark_style(const struct odb_value_report *report, bool culprit)
{
    if (culprit)
        return UI_STYLE_CULPRIT;
    if (odb_verdict_is_bad(report->verdict))
        return UI_STYLE_BAD;
    if (report->verdict == ODB_VERDICT_PASS)
        return UI_STYLE_GOOD;
    return report->verdict == ODB_VERDICT_UNTESTED ? UI_STYLE_DIM : UI_STYLE_UNKNOWN;
}

#define MARK_LEAST 1e-8 /* below everything that float can tell */

double ui_error_share(double error)
{
    if (isnan(error) || error >= 1)
        return 1;
    if (error <= MARK_LEAST)
        return 0;
    return 1 - log10(error) / log10(MARK_LEAST);
}

const char *ui_number_text(struct odb_number number, char *buf, size_t size)
{
    buf[0] = '\0';
    if (number.known && number.v == 0)
        snprintf(buf, size, "0");
    else if (number.known)
        snprintf(buf, size, "%.1e", number.v);
    return buf;
}

void ui_draw_error(const struct ui_area *area, int row, int col, int width,
                   const struct odb_value_report *report, double factor)
{
    double error = odb_report_error(report);
    if (report->verdict == ODB_VERDICT_UNTESTED)
        return;
    int own = width; /* columns of the node's own error */
    bool bad = odb_verdict_is_bad(report->verdict);
    if (bad && report->local_error.known)
        own = (int)(ui_error_share(report->local_error.v) * width + 0.5);
    ui_draw_bar(area, row, col, width, ui_error_share(error),
                own < width ? UI_STYLE_INHERITED : ui_mark_style(report, false));
    if (own < width)
        ui_draw_mark(area, row, col, own, UI_STYLE_BAD);
    if (!report->noise.known || report->noise.v <= 0)
        return;
    int noise = (int)(ui_error_share(report->noise.v) * width);
    int limit = (int)(ui_error_share(factor * report->noise.v) * width);
    int end = (int)(ui_error_share(error) * width); /* marks stand where the bar does not */
    if (noise < width && noise > end)
        ui_draw_glyph(area, row, col + noise, UI_STYLE_NOISE, UI_GLYPH_NOISE);
    if (factor > 0 && limit < width && limit != end)
        ui_draw_glyph(area, row, col + limit,
                      limit >= end   ? UI_STYLE_TOLERANCE
                      : limit >= own ? UI_STYLE_OVER_DIM
                                     : UI_STYLE_OVER,
                      UI_GLYPH_TOLERANCE);
}

double ui_noise_factor(const struct odb_console *console)
{
    struct odb_criterion criterion;
    if (odb_criterion_parse(&criterion, odb_console_tolerance(console), NULL) != ODB_OK ||
        criterion.kind != ODB_CRITERION_NOISE)
        return 0;
    return criterion.v[0];
}
