/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text is taken apart into pieces: a character with the combining ones that follow it, or a
 * character that must not be sent, spelled out in ASCII. Every piece knows its columns before
 * anything is drawn, so curses never wraps, cuts or guesses.
 *
 * Joiners, variation selectors and other characters without a shape of their own are spelled out
 * too: two names that differ only by them are two names, and no two terminals agree on how wide
 * they make what they join.
 */
#include "ui/terminal/draw.h"

#include <ctype.h>
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/utf8.h"

#define DRAW_RUN 128 /* cells that curses is given at once, at most */

struct draw_piece {
    wchar_t chars[CCHARW_MAX + 8]; /* terminated */
    int cols;
    bool spelled; /* each of chars is a cell */
};

/* --- text ----------------------------------------------------------------------------------- */

static const struct draw_range {
    uint32_t first, last;
} draw_shapeless[] = {
    {0xad, 0xad},       /* soft hyphen */
    {0x34f, 0x34f},     /* grapheme joiner */
    {0x61c, 0x61c},     /* direction */
    {0x115f, 0x1160},   /* fillers */
    {0x17b4, 0x17b5},   /* inherent vowels */
    {0x180b, 0x180f},   /* Mongolian selectors */
    {0x200b, 0x200f},   /* zero width, direction */
    {0x2028, 0x202e},   /* line ends, direction */
    {0x2060, 0x206f},   /* joiners, direction */
    {0x3164, 0x3164},   /* filler */
    {0xfe00, 0xfe0f},   /* variation selectors */
    {0xfeff, 0xfeff},   /* byte order mark */
    {0xffa0, 0xffa0},   /* filler */
    {0xfff9, 0xfffb},   /* annotations */
    {0x1bca0, 0x1bca3}, /* shorthand */
    {0x1d173, 0x1d17a}, /* music */
    {0xe0000, 0xe0fff}, /* tags, more selectors */
};

static bool draw_is_shapeless(uint32_t point)
{
    for (size_t i = 0; i < ODB_COUNT(draw_shapeless); i++)
        if (point >= draw_shapeless[i].first && point <= draw_shapeless[i].last)
            return true;
    return false;
}

/* Columns of a character, or -1 when it must be spelled out. */
static int draw_point_cols(const struct ui_terminal *terminal, uint32_t point)
{
    if (point >= ' ' && point < 0x7f)
        return 1;
    if (point < 0xa0 || !terminal->unicode || draw_is_shapeless(point))
        return -1;
    return wcwidth((wchar_t)point);
}

static void draw_spell(struct draw_piece *piece, uint32_t value, bool byte)
{
    char text[16];
    piece->cols = byte ? snprintf(text, sizeof text, "\\x%02x", (unsigned)value)
                       : snprintf(text, sizeof text, "\\u{%x}", (unsigned)value);
    for (int i = 0; i <= piece->cols; i++)
        piece->chars[i] = (unsigned char)text[i];
    piece->spelled = true;
}

/* Takes the next piece off the text; false at its end. */
static bool draw_next(const struct ui_terminal *terminal, const char **text,
                      struct draw_piece *piece)
{
    uint32_t point;
    size_t n = strnlen(*text, 4), used = odb_utf8_read(*text, n, &point);
    if (!n)
        return false;
    piece->spelled = false;
    if (!used || point < ' ' || point == 0x7f) {
        draw_spell(piece, (unsigned char)**text, true);
        (*text)++;
        return true;
    }
    *text += used;
    piece->cols = draw_point_cols(terminal, point);
    if (piece->cols <= 0) {
        draw_spell(piece, point, false);
        return true;
    }
    size_t chars = 0;
    do {
        piece->chars[chars++] = (wchar_t)point;
        used = odb_utf8_read(*text, strnlen(*text, 4), &point);
        if (!used || chars == CCHARW_MAX || draw_point_cols(terminal, point) != 0)
            break;
        *text += used;
    } while (true);
    piece->chars[chars] = 0;
    return true;
}

/* Bytes at the beginning of the text, at most so many, that are a column each and that nothing
 * joins. Nearly all that a screen shows is such text, and need not be taken apart. */
static size_t draw_plain(const char *text, size_t most)
{
    size_t n = 0;
    while (n < most && text[n] >= ' ' && text[n] < 0x7f)
        n++;
    return n && (unsigned char)text[n] >= 0x80 ? n - 1 : n;
}

int ui_text_width(const struct ui_terminal *terminal, const char *text)
{
    int cols = 0;
    struct draw_piece piece;
    for (;;) {
        size_t n = draw_plain(text, SIZE_MAX);
        text += n;
        cols += (int)n;
        piece.cols = 0;
        if (!*text || !draw_next(terminal, &text, &piece))
            return cols;
        cols += piece.cols;
    }
}

size_t ui_text_fit(const struct ui_terminal *terminal, const char *text, int cols)
{
    const char *at = text, *next = text;
    struct draw_piece piece;
    while (draw_next(terminal, &next, &piece) && ((cols -= piece.cols) >= 0 || at == text))
        at = next;
    return (size_t)(at - text);
}

const char *ui_text_end(const struct ui_terminal *terminal, const char *text, int cols)
{
    struct draw_piece piece;
    int width = ui_text_width(terminal, text);
    while (width > cols && draw_next(terminal, &text, &piece))
        width -= piece.cols;
    return text;
}

/* Whether a text may be cut before this byte: not inside a word, a number or a character. */
static bool draw_parts(const char *text, const char *at)
{
    return at == text || !((isalnum((unsigned char)at[-1]) || at[-1] & 0x80) &&
                           (isalnum((unsigned char)*at) || *at & 0x80));
}

void ui_text_put_cut(const struct ui_terminal *terminal, const char *text, int cols,
                     struct odb_buf *out)
{
    int before = ODB_MAX(cols - 1, 0) / 2, behind = cols - 1 - before;
    if (ui_text_width(terminal, text) <= cols) {
        odb_buf_puts(out, text);
        return;
    }
    size_t most = before ? ui_text_fit(terminal, text, before) : 0, n = most;
    const char *end = ui_text_end(terminal, text, behind), *tail = end;
    while (n > most / 2 && !draw_parts(text, text + n))
        n--;
    while (*tail && tail < end + strlen(end) / 2 && !draw_parts(text, tail))
        tail++;
    odb_buf_add(out, text, n > most / 2 ? n : most); /* a word that is too long is cut */
    odb_buf_puts(out, ui_glyph_text(UI_GLYPH_ELLIPSIS, terminal->unicode));
    odb_buf_puts(out, draw_parts(text, tail) ? tail : end);
}

/* --- cells ---------------------------------------------------------------------------------- */

static attr_t draw_attributes(const struct ui_look *look)
{
    return (look->bold ? A_BOLD : 0) | (look->dim ? A_DIM : 0) | (look->reverse ? A_REVERSE : 0) |
           (look->underline ? A_UNDERLINE : 0);
}

static int draw_pair(const struct ui_look *look)
{
    if (look->fg < 0 && look->bg < 0)
        return 0;
    int pair = alloc_pair(look->fg, look->bg);
    return pair < 0 ? 0 : pair;
}

/* What is drawn with: the looks of an area, made once per text. */
struct draw_pen {
    const struct ui_area *area;
    attr_t attributes;
    int pair;
};

static struct draw_pen draw_pen(const struct ui_area *area, enum ui_style style)
{
    const struct ui_terminal *terminal = area->terminal;
    struct ui_look look = ui_style_look(style, area->under, terminal->colors);
    if (look.bg < 0)
        look.fg = ui_style_shade(look.fg, terminal->colors, terminal->background);
    else if (look.shaded)
        look.bg = ui_style_shade(look.bg, terminal->colors, terminal->background);
    return (struct draw_pen){area, draw_attributes(&look), draw_pair(&look)};
}

static WINDOW *draw_window(const struct ui_area *area)
{
    return area->terminal->canvas ? area->terminal->canvas : stdscr;
}

/* One cell, or two for a wide character, that lie in the area. */
static void draw_cell(const struct draw_pen *pen, int row, int col, const wchar_t *chars)
{
    cchar_t cell;
    int pair = pen->pair;
    if (setcchar(&cell, chars, pen->attributes, 0, &pair) == OK)
        mvwadd_wchnstr(draw_window(pen->area), pen->area->row + row, pen->area->col + col, &cell,
                       1);
}

static bool draw_has(const struct ui_area *area, int row, int col)
{
    return row >= 0 && row < area->rows && col >= 0 && col < area->cols;
}

/* n columns of a text that is a column each, or of one character in all of them, as far as they lie
 * in the area: curses is called once for many. */
static void draw_run(const struct draw_pen *pen, int row, int col, int n, const char *text,
                     wchar_t same)
{
    cchar_t cells[DRAW_RUN];
    int from = ODB_MAX(col, 0), end = ODB_MIN(col + n, pen->area->cols), pair = pen->pair;
    if (row < 0 || row >= pen->area->rows)
        return;
    while (from < end) {
        int i = 0;
        for (; i < DRAW_RUN && from + i < end; i++) {
            wchar_t one[2] = {text ? (unsigned char)text[from + i - col] : same, 0};
            if (!text && i)
                cells[i] = cells[0];
            else if (setcchar(&cells[i], one, pen->attributes, 0, &pair) != OK)
                return;
        }
        mvwadd_wchnstr(draw_window(pen->area), pen->area->row + row, pen->area->col + from, cells,
                       i);
        from += i;
    }
}

static void draw_blanks(const struct draw_pen *pen, int row, int col, int end)
{
    draw_run(pen, row, col, end - col, NULL, L' ');
}

/* Draws what of the piece lies between the columns first and end; a half of a wide character is
 * a blank. */
static void draw_piece(const struct draw_pen *pen, int row, int col, int first, int end,
                       const struct draw_piece *piece)
{
    if (!piece->spelled && col >= first && col + piece->cols <= end) {
        draw_cell(pen, row, col, piece->chars);
        return;
    }
    for (int i = 0; i < piece->cols; i++) {
        wchar_t one[2] = {piece->spelled ? piece->chars[i] : L' ', 0};
        if (col + i >= first && col + i < end)
            draw_cell(pen, row, col + i, one);
    }
}

/* Draws the text at col, as far as it lies between first and end. Returns the column behind it,
 * at most end. */
static int draw_span(const struct draw_pen *pen, int row, int col, int first, int end,
                     const char *text)
{
    struct draw_piece piece;
    first = ODB_MAX(first, 0);
    end = ODB_MIN(end, pen->area->cols);
    bool seen = row >= 0 && row < pen->area->rows;
    while (col < end) {
        int n = (int)draw_plain(text, (size_t)(end - col)), skip = ODB_MAX(first - col, 0);
        if (seen && skip < n)
            draw_run(pen, row, col + skip, n - skip, text + skip, 0);
        text += n;
        col += n;
        if (col >= end || !draw_next(pen->area->terminal, &text, &piece))
            break;
        if (seen)
            draw_piece(pen, row, col, first, end, &piece);
        col += piece.cols;
    }
    return ODB_MAX(ODB_MIN(col, end), 0);
}

/* --- areas ---------------------------------------------------------------------------------- */

struct ui_area ui_area_all(struct ui_terminal *terminal)
{
    return (struct ui_area){.terminal = terminal,
                            .rows = terminal->rows,
                            .cols = terminal->cols,
                            .under = UI_STYLE_NORMAL};
}

struct ui_area ui_area_part(const struct ui_area *area, int row, int col, int rows, int cols)
{
    int top = ODB_MIN(ODB_MAX(row, 0), area->rows), left = ODB_MIN(ODB_MAX(col, 0), area->cols);
    int bottom = ODB_MIN(row + ODB_MAX(rows, 0), area->rows);
    int right = ODB_MIN(col + ODB_MAX(cols, 0), area->cols);
    struct ui_area part = *area;
    part.row += top;
    part.col += left;
    part.rows = ODB_MAX(bottom - top, 0);
    part.cols = ODB_MAX(right - left, 0);
    return part;
}

/* --- drawing -------------------------------------------------------------------------------- */

void ui_draw_fill(const struct ui_area *area, enum ui_style style)
{
    struct draw_pen pen = draw_pen(area, style);
    for (int row = 0; row < area->rows; row++)
        draw_blanks(&pen, row, 0, area->cols);
}

int ui_draw_text(const struct ui_area *area, int row, int col, enum ui_style style,
                 const char *text)
{
    struct draw_pen pen = draw_pen(area, style);
    return draw_span(&pen, row, col, 0, area->cols, text);
}

int ui_draw_printf(const struct ui_area *area, int row, int col, enum ui_style style,
                   const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    int end = ui_draw_text(area, row, col, style, n < 0 ? "" : text);
    if (n >= 0)
        free(text);
    return end;
}

int ui_draw_glyph(const struct ui_area *area, int row, int col, enum ui_style style,
                  enum ui_glyph glyph)
{
    return ui_draw_text(area, row, col, style, ui_glyph_text(glyph, area->terminal->unicode));
}

/* Too long a text: its beginning, an ellipsis and, when its middle is cut, its end. */
static int draw_field_cut(const struct draw_pen *pen, int row, int col, int width, enum ui_cut cut,
                          const char *text, int whole)
{
    const char *dots = ui_glyph_text(UI_GLYPH_ELLIPSIS, pen->area->terminal->unicode);
    int before = cut == UI_CUT_MIDDLE ? (width - 1) / 2 : width - 1, behind = width - 1 - before;
    draw_span(pen, row, col, col, col + before, text);
    draw_span(pen, row, col + before, col + before, col + before + 1, dots);
    draw_span(pen, row, col + width - whole, col + width - behind, col + width, text);
    return ODB_MAX(ODB_MIN(col + width, pen->area->cols), 0);
}

int ui_draw_field(const struct ui_area *area, int row, int col, int width, enum ui_cut cut,
                  enum ui_style style, const char *text)
{
    struct draw_pen pen = draw_pen(area, style);
    int whole = ui_text_width(area->terminal, text), end = col + ODB_MAX(width, 0);
    if (width > 0 && whole > width)
        return draw_field_cut(&pen, row, col, width, cut, text, whole);
    draw_span(&pen, row, col, col, end, text);
    draw_blanks(&pen, row, col + whole, end);
    return ODB_MAX(ODB_MIN(end, area->cols), 0);
}

int ui_draw_right(const struct ui_area *area, int row, int col, int width, enum ui_style style,
                  const char *text)
{
    int whole = ui_text_width(area->terminal, text);
    if (whole >= width)
        return ui_draw_field(area, row, col, width, UI_CUT_END, style, text);
    struct draw_pen pen = draw_pen(area, style);
    draw_blanks(&pen, row, col, col + width - whole);
    return draw_span(&pen, row, col + width - whole, 0, col + width, text);
}

void ui_draw_hline(const struct ui_area *area, int row, int col, int n, enum ui_style style)
{
    struct draw_pen pen = draw_pen(area, style);
    const char *glyph = ui_glyph_text(UI_GLYPH_HLINE, area->terminal->unicode);
    uint32_t line = ' ';
    odb_utf8_read(glyph, strlen(glyph), &line);
    draw_run(&pen, row, col, n, NULL, (wchar_t)line);
}

void ui_draw_vline(const struct ui_area *area, int row, int col, int n, enum ui_style style)
{
    for (int i = ODB_MAX(0, -row); i < n && row + i < area->rows; i++)
        ui_draw_glyph(area, row + i, col, style, UI_GLYPH_VLINE);
}

/* Eighths of a cell, 0 … 8 * cells, that stand for a share. */
static int draw_eighths(const struct ui_terminal *terminal, int cells, double share)
{
    if (!(share > 0) || cells <= 0)
        return 0;
    int least = terminal->unicode ? 1 : 8;
    double steps = (share < 1 ? share : 1) * cells * 8 / least;
    return ODB_MAX((int)(steps + 0.5), 1) * least;
}

/* The cell of a bar that so many eighths of it are left for. */
static const wchar_t *draw_block(const struct ui_terminal *terminal, bool upwards, int eighths)
{
    static const wchar_t *const rows[9] = {L" ", L"▏", L"▎", L"▍", L"▌", L"▋", L"▊", L"▉", L"█"};
    static const wchar_t *const cols[9] = {L" ", L"▁", L"▂", L"▃", L"▄", L"▅", L"▆", L"▇", L"█"};
    eighths = ODB_MAX(0, ODB_MIN(eighths, 8));
    if (!terminal->unicode)
        return eighths ? L"#" : L" ";
    return (upwards ? cols : rows)[eighths];
}

void ui_draw_bar(const struct ui_area *area, int row, int col, int width, double share,
                 enum ui_style style)
{
    struct draw_pen pen = draw_pen(area, style);
    int eighths = draw_eighths(area->terminal, width, share);
    for (int i = 0; i < width; i++)
        if (draw_has(area, row, col + i))
            draw_cell(&pen, row, col + i, draw_block(area->terminal, false, eighths - 8 * i));
}

void ui_draw_column(const struct ui_area *area, int row, int col, int height, double share,
                    enum ui_style style)
{
    struct draw_pen pen = draw_pen(area, style);
    int eighths = draw_eighths(area->terminal, height, share);
    for (int i = 0; i < height; i++)
        if (draw_has(area, row - i, col))
            draw_cell(&pen, row - i, col, draw_block(area->terminal, true, eighths - 8 * i));
}

bool ui_draw_has_halves(const struct ui_terminal *terminal)
{
    return terminal->unicode && terminal->colors >= 256;
}

void ui_draw_halves(const struct ui_area *area, int row, int col, int upper, int lower)
{
    int colors = area->terminal->colors;
    int steps[2] = {upper < 0 ? lower : upper, upper < 0 ? upper : lower};
    struct ui_look look = {.fg = steps[0] < 0 ? -1 : ui_style_ramp(steps[0], colors),
                           .bg = steps[1] < 0 ? -1 : ui_style_ramp(steps[1], colors)};
    struct draw_pen pen = {area, 0, draw_pair(&look)};
    if (draw_has(area, row, col))
        draw_cell(&pen, row, col, steps[0] < 0 ? L" " : upper < 0 ? L"▄" : L"▀");
}

/* Whether the cell is the second half of a wide character: curses counts its cells there. */
static bool draw_is_second_half(const struct ui_area *area, int row, int col)
{
    cchar_t cell;
    return mvwin_wch(draw_window(area), area->row + row, area->col + col, &cell) == OK &&
           (cell.attr & A_CHARTEXT) > 1;
}

void ui_draw_mark(const struct ui_area *area, int row, int col, int n, enum ui_style style)
{
    struct draw_pen pen = draw_pen(area, style);
    int first = ODB_MAX(col, 0), end = ODB_MIN(col + n, area->cols);
    if (row < 0 || row >= area->rows || end <= first)
        return;
    first -= first > 0 && draw_is_second_half(area, row, first);
    end += end < area->cols && draw_is_second_half(area, row, end);
    int pair = pen.pair;
    mvwchgat(draw_window(area), area->row + row, area->col + first, end - first, pen.attributes, 0,
             &pair);
}

/* --- paper ------------------------------------------------------------------------------------ */

bool ui_canvas_open(struct ui_terminal *terminal, int rows, int cols)
{
    terminal->canvas = newpad(rows, cols);
    return terminal->canvas != NULL;
}

struct ui_area ui_canvas_area(struct ui_terminal *terminal)
{
    WINDOW *pad = terminal->canvas;
    werase(pad);
    return (struct ui_area){
        .terminal = terminal, .rows = getmaxy(pad), .cols = getmaxx(pad), .under = UI_STYLE_NORMAL};
}

void ui_canvas_line(const struct ui_terminal *terminal, int row, struct odb_buf *out)
{
    size_t end = out->len;
    for (int col = 0; col < getmaxx((WINDOW *)terminal->canvas); col++) {
        cchar_t cell;
        wchar_t chars[CCHARW_MAX + 1] = {0};
        attr_t attributes;
        short pair;
        if (mvwin_wch(terminal->canvas, row, col, &cell) != OK ||
            getcchar(&cell, chars, &attributes, &pair, NULL) != OK || (cell.attr & A_CHARTEXT) > 1)
            continue;
        for (size_t i = 0; chars[i]; i++) {
            char text[5] = "";
            odb_utf8_put(text, (uint32_t)chars[i]);
            odb_buf_puts(out, text);
        }
        if (chars[0] != L' ')
            end = out->len;
    }
    out->len = ODB_MIN(end, out->len);
    odb_buf_putc(out, '\n');
}

void ui_canvas_close(struct ui_terminal *terminal)
{
    delwin(terminal->canvas);
    terminal->canvas = NULL;
}
