/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The screen as a picture. Text is drawn in runs of one style whose length is given, so that every
 * run ends where its cells end whatever font the reader has; lines and blocks are drawn as shapes.
 */
#include "shapes.h"
#include "show.h"
#include <string.h>

enum {
    SVG_FONT = 15,
    SVG_BASE = 14, /* from the top of a cell to the line that letters stand on */
    SVG_MARGIN = 14,
    SVG_GAP = 2, /* blanks that end a run of text: some viewers make one of several */
};

#define SVG_BG 0x1a1d23u
#define SVG_FG 0xd3d7deu
#define SVG_FRAME 0x3b414du

/* How text is seen: reverse is resolved. */
struct svg_style {
    uint32_t fg, bg;
    bool bold, underline, italic, strike;
};

/* --- colours ---------------------------------------------------------------------------------- */

static uint32_t svg_palette(int i)
{
    static const uint32_t FIRST[16] = {0x2b303b, 0xe0646c, 0x8fc270, 0xe3bd72, 0x66a6e8, 0xc68be0,
                                       0x59bccb, 0xc3c9d3, 0x6b7382, 0xf07f86, 0xa6d98a, 0xf3d08c,
                                       0x85bdf5, 0xd8a5ef, 0x79d3e0, 0xf2f4f8};
    if (i < 16)
        return FIRST[i];
    if (i >= 232)
        return (uint32_t)(8 + (i - 232) * 10) * 0x10101;
    uint32_t rgb = 0;
    for (int part = 36; part > 0; part /= 6) {
        int step = (i - 16) / part % 6;
        rgb = rgb << 8 | (uint32_t)(step ? 55 + 40 * step : 0);
    }
    return rgb;
}

static uint32_t svg_colour(const VTermColor *c, bool is_default, uint32_t own)
{
    if (is_default)
        return own;
    if (VTERM_COLOR_IS_INDEXED(c))
        return svg_palette(c->indexed.idx);
    return (uint32_t)(c->rgb.red << 16 | c->rgb.green << 8 | c->rgb.blue);
}

/* `part` quarters of one colour, the rest of the other. */
static uint32_t svg_mix(uint32_t one, uint32_t other, uint32_t part)
{
    uint32_t rgb = 0;
    for (int shift = 16; shift >= 0; shift -= 8)
        rgb |= ((one >> shift & 0xff) * part + (other >> shift & 0xff) * (4 - part)) / 4 << shift;
    return rgb;
}

static struct svg_style svg_style_of(const VTermScreenCell *cell)
{
    struct svg_style s = {
        .fg = svg_colour(&cell->fg, VTERM_COLOR_IS_DEFAULT_FG(&cell->fg), SVG_FG),
        .bg = svg_colour(&cell->bg, VTERM_COLOR_IS_DEFAULT_BG(&cell->bg), SVG_BG),
        .bold = cell->attrs.bold,
        .underline = cell->attrs.underline != 0,
        .italic = cell->attrs.italic,
        .strike = cell->attrs.strike,
    };
    if (cell->attrs.font == TERM_DIM)
        s.fg = svg_mix(s.fg, s.bg, 2);
    if (cell->attrs.reverse) {
        uint32_t fg = s.fg;
        s.fg = s.bg;
        s.bg = fg;
    }
    return s;
}

/* The colour of a shape: a shade is a mixture. */
static uint32_t svg_ink(const VTermScreenCell *cell)
{
    struct svg_style s = svg_style_of(cell);
    return svg_mix(s.fg, s.bg, (uint32_t)shape_ink(cell->chars[0]));
}

/* --- what lies under the text ----------------------------------------------------------------- */

/* From one row to before another, as all below. */
static void svg_backgrounds(const struct term *t, int first, int end, FILE *to)
{
    VTermScreenCell cell;
    for (int row = first; row < end; row++) {
        uint32_t bg = SVG_BG;
        for (int col = 0, from = 0; col <= t->cols; col++) {
            uint32_t here = SVG_BG;
            if (col < t->cols && term_cell(t, row, col, &cell))
                here = svg_style_of(&cell).bg;
            if (here == bg)
                continue;
            if (bg != SVG_BG)
                fprintf(to, "<path fill=\"#%06x\" d=\"M%d %dh%dv%dh-%dz\"/>\n", bg, from * CELL_W,
                        row * CELL_H, (col - from) * CELL_W, CELL_H, (col - from) * CELL_W);
            bg = here;
            from = col;
        }
    }
}

static bool svg_is_shape(const struct term *t, int row, int col, bool arcs, VTermScreenCell *cell)
{
    return term_cell(t, row, col, cell) && shape_is(cell->chars[0]) &&
           shape_is_arc(cell->chars[0]) == arcs;
}

/* All shapes of one colour. */
static void svg_paths(const struct term *t, int first, int end, uint32_t ink, bool arcs, FILE *to)
{
    VTermScreenCell cell, next;
    for (int row = first; row < end; row++) {
        for (int col = 0, n; col < t->cols; col += n) {
            n = 1;
            if (!svg_is_shape(t, row, col, arcs, &cell) || svg_ink(&cell) != ink)
                continue;
            while (shape_repeats(cell.chars[0]) && col + n < t->cols &&
                   term_cell(t, row, col + n, &next) && next.chars[0] == cell.chars[0] &&
                   svg_ink(&next) == ink)
                n++;
            shape_path(cell.chars[0], col * CELL_W, row * CELL_H, n, to);
        }
    }
}

/* One path a colour, in the order of the colours. */
static void svg_shapes(const struct term *t, int first, int end, bool arcs, FILE *to)
{
    VTermScreenCell cell;
    for (uint32_t done = 0;;) { /* the colours below are drawn */
        uint32_t next = UINT32_MAX;
        for (int row = first; row < end; row++)
            for (int col = 0; col < t->cols; col++)
                if (svg_is_shape(t, row, col, arcs, &cell)) {
                    uint32_t ink = svg_ink(&cell);
                    if (ink >= done && ink < next)
                        next = ink;
                }
        if (next == UINT32_MAX)
            return;
        fprintf(to, "<path %s=\"#%06x\" d=\"", arcs ? "fill=\"none\" stroke" : "fill", next);
        svg_paths(t, first, end, next, arcs, to);
        fputs("\"/>\n", to);
        done = next + 1;
    }
}

/* --- text ------------------------------------------------------------------------------------- */

static bool svg_is_blank(const VTermScreenCell *cell)
{
    return ((!cell->chars[0] || cell->chars[0] == ' ') && !cell->attrs.underline &&
            !cell->attrs.strike) ||
           shape_is(cell->chars[0]);
}

static bool svg_same_text(const struct svg_style *a, const struct svg_style *b)
{
    return a->fg == b->fg && a->bold == b->bold && a->underline == b->underline &&
           a->italic == b->italic && a->strike == b->strike;
}

/* Where the run of text that begins here ends. A wide character is a run of its own. */
static int svg_run_end(const struct term *t, int row, int from)
{
    VTermScreenCell cell;
    term_cell(t, row, from, &cell);
    if (cell.width > 1)
        return from + cell.width;
    struct svg_style style = svg_style_of(&cell);
    int end = from + 1;
    for (int col = end; col < t->cols && term_cell(t, row, col, &cell); col++) {
        struct svg_style here = svg_style_of(&cell);
        bool blank = svg_is_blank(&cell);
        if (shape_is(cell.chars[0]) || cell.width > 1 || (blank && col - end + 1 >= SVG_GAP) ||
            (!blank && !svg_same_text(&style, &here)))
            break;
        if (!blank)
            end = col + 1;
    }
    return end;
}

static void svg_char(const VTermScreenCell *cell, FILE *to)
{
    char utf8[8];
    if (!cell->chars[0] || cell->chars[0] == TERM_RIGHT_HALF) {
        fputc(' ', to);
        return;
    }
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++) {
        size_t n = term_utf8(cell->chars[i], utf8);
        if (cell->chars[i] == '&')
            fputs("&amp;", to);
        else if (cell->chars[i] == '<')
            fputs("&lt;", to);
        else if (cell->chars[i] == '>')
            fputs("&gt;", to);
        else
            fwrite(utf8, 1, n, to);
    }
}

static void svg_run(const struct term *t, int row, int from, int end, FILE *to)
{
    VTermScreenCell cell;
    term_cell(t, row, from, &cell);
    struct svg_style style = svg_style_of(&cell);
    fprintf(to, "<text x=\"%d\" y=\"%d\"", from * CELL_W, row * CELL_H + SVG_BASE);
    if (cell.width == 1 && end - from > 1)
        fprintf(to, " textLength=\"%d\"", (end - from) * CELL_W);
    if (style.fg != SVG_FG)
        fprintf(to, " fill=\"#%06x\"", style.fg);
    if (style.bold || style.underline || style.italic || style.strike)
        fprintf(to, " class=\"%s%s%s%s\"", style.bold ? "b " : "", style.underline ? "u " : "",
                style.italic ? "i " : "", style.strike ? "s " : "");
    fputc('>', to);
    for (int col = from; col < end && term_cell(t, row, col, &cell); col += cell.width)
        svg_char(&cell, to);
    fputs("</text>\n", to);
}

static void svg_text(const struct term *t, int first, int last, FILE *to)
{
    VTermScreenCell cell;
    for (int row = first; row < last; row++) {
        for (int col = 0; col < t->cols && term_cell(t, row, col, &cell);) {
            if (svg_is_blank(&cell)) {
                col++;
                continue;
            }
            int end = svg_run_end(t, row, col);
            svg_run(t, row, col, end, to);
            col = end;
        }
    }
}

void show_svg_rows(const struct term *t, int first, int end, FILE *to)
{
    svg_backgrounds(t, first, end, to);
    if (t->cursor_shown && t->cursor.row >= first && t->cursor.row < end)
        fprintf(to, "<path fill-opacity=\".45\" d=\"M%d %dh%dv%dh-%dz\"/>\n",
                t->cursor.col * CELL_W, t->cursor.row * CELL_H, CELL_W, CELL_H, CELL_W);
    svg_shapes(t, first, end, false, to);
    svg_shapes(t, first, end, true, to);
    svg_text(t, first, end, to);
}

void show_svg_begin(int rows, int cols, FILE *to)
{
    int w = cols * CELL_W + 2 * SVG_MARGIN, h = rows * CELL_H + 2 * SVG_MARGIN;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
            " viewBox=\"0 0 %d %d\">\n"
            "<style>text{white-space:pre}.b{font-weight:700}.i{font-style:italic}"
            ".u{text-decoration:underline}.s{text-decoration:line-through}</style>\n"
            "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#%06x\""
            " stroke=\"#%06x\"/>\n"
            "<g transform=\"translate(%d %d)\" fill=\"#%06x\" font-size=\"%d\""
            " font-family=\"ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',"
            "'Liberation Mono',monospace\" xml:space=\"preserve\">\n",
            w, h, w, h, w - 1, h - 1, SVG_BG, SVG_FRAME, SVG_MARGIN, SVG_MARGIN, SVG_FG, SVG_FONT);
}

void show_svg_end(FILE *to)
{
    fputs("</g>\n</svg>\n", to);
}

void show_svg_caption(const char *text, int row, FILE *to)
{
    fprintf(to, "<text class=\"b\" fill=\"#ffd75f\" y=\"%d\">", row * CELL_H + SVG_BASE);
    for (const char *p = text; *p; p++)
        if (*p == '&' || *p == '<' || *p == '>')
            fprintf(to, "&#%d;", *p);
        else
            fputc(*p, to);
    fputs("</text>\n", to);
}

void show_svg(struct term *t, FILE *to)
{
    show_svg_begin(t->rows, t->cols, to);
    show_svg_rows(t, 0, t->rows, to);
    show_svg_end(to);
}
