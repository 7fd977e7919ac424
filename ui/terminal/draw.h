/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Drawing into cells. Every text on the screen goes through here, so nothing from a model is ever
 * sent raw: control characters, invalid UTF-8, characters that turn the direction of writing, and
 * those without a shape (joiners, variation selectors) are shown as \xNN or \u{N}, and so is
 * everything beyond ASCII where the terminal has no Unicode; combining characters stay with the one
 * before; a wide character that would be cut in half becomes a blank. Nothing is drawn outside its
 * area.
 */
#ifndef ODB_UI_TERMINAL_DRAW_H
#define ODB_UI_TERMINAL_DRAW_H

#include "base/buf.h"
#include "base/error.h"
#include "ui/terminal/style.h"
#include "ui/terminal/terminal.h"

/* A rectangle of cells. Positions given to the functions below are relative to it. */
struct ui_area {
    struct ui_terminal *terminal; /* borrowed */
    int row, col, rows, cols;
    enum ui_style under; /* style of the row as a whole (UI_STYLE_SELECTED, …): its background and
                            attributes stay under what is drawn; UI_STYLE_NORMAL: nothing */
};

/* Where a text that is too long is cut: names differ at both ends, sentences at the start. */
enum ui_cut { UI_CUT_END, UI_CUT_MIDDLE };

/* The whole screen. */
struct ui_area ui_area_all(struct ui_terminal *terminal);
/* A part of it, cut to what is there: may be empty. */
struct ui_area ui_area_part(const struct ui_area *area, int row, int col, int rows, int cols);

/* Columns that the text takes as it would be shown. */
int ui_text_width(const struct ui_terminal *terminal, const char *text);
/* Bytes of it that fit into cols columns; of a text that is not empty at least one character. */
size_t ui_text_fit(const struct ui_terminal *terminal, const char *text, int cols);
/* As much of its end as fits into cols columns. Borrowed: text. */
const char *ui_text_end(const struct ui_terminal *terminal, const char *text, int cols);
/* Appends it in at most cols columns, its middle cut with an ellipsis: between words, unless one
 * takes half the room or more. */
void ui_text_put_cut(const struct ui_terminal *terminal, const char *text, int cols,
                     struct odb_buf *out);

/* Blanks. */
void ui_draw_fill(const struct ui_area *area, enum ui_style style);
/* Each returns the column behind what was drawn, never more than area->cols. col < 0 cuts the
 * text's beginning. */
int ui_draw_text(const struct ui_area *area, int row, int col, enum ui_style style,
                 const char *text);
int ui_draw_printf(const struct ui_area *area, int row, int col, enum ui_style style,
                   const char *fmt, ...) ODB_PRINTF(5, 6);
int ui_draw_glyph(const struct ui_area *area, int row, int col, enum ui_style style,
                  enum ui_glyph glyph);
/* Exactly width columns: padded, or cut with an ellipsis. */
int ui_draw_field(const struct ui_area *area, int row, int col, int width, enum ui_cut cut,
                  enum ui_style style, const char *text);
/* The same, aligned right. */
int ui_draw_right(const struct ui_area *area, int row, int col, int width, enum ui_style style,
                  const char *text);
/* n glyphs from there to the right, or downwards. */
void ui_draw_hline(const struct ui_area *area, int row, int col, int n, enum ui_style style);
void ui_draw_vline(const struct ui_area *area, int row, int col, int n, enum ui_style style);
/* A bar of width cells from the left, filled to this share (0 … 1) in eighths of a cell ('#' in
 * ASCII, in whole cells); a share above 0 shows at least the least there is. */
void ui_draw_bar(const struct ui_area *area, int row, int col, int width, double share,
                 enum ui_style style);
/* A column that grows upwards from row over height cells, likewise. */
void ui_draw_column(const struct ui_area *area, int row, int col, int height, double share,
                    enum ui_style style);
/* Whether a cell can have two colours, one above the other. */
bool ui_draw_has_halves(const struct ui_terminal *terminal);
/* A cell of two, steps of ui_style_ramp(); -1: the terminal's own colour. */
void ui_draw_halves(const struct ui_area *area, int row, int col, int upper, int lower);
/* Paper: what is drawn goes there instead of the screen, until it is closed. False: there is no
 * memory for it. */
bool ui_canvas_open(struct ui_terminal *terminal, int rows, int cols);
/* All of it, made blank. */
struct ui_area ui_canvas_area(struct ui_terminal *terminal);
/* Appends the text of a row, without the blanks at its end, and a line feed. */
void ui_canvas_line(const struct ui_terminal *terminal, int row, struct odb_buf *out);
void ui_canvas_close(struct ui_terminal *terminal);
/* Gives cells that are already drawn another style: marks of a search. */
void ui_draw_mark(const struct ui_area *area, int row, int col, int n, enum ui_style style);

#endif
