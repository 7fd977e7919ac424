/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SCREEN_SHOW_H
#define TESTS_SCREEN_SHOW_H

#include "term.h"

/* The screen as text, one line a row without trailing blanks. */
void show_text(struct term *t, FILE *to);

/* The text, and below it blocks of letters, one a cell, for the rows that have any: the attributes
 * (b bold, d dim, r reverse, u underline, i italic, k blink, s strike, R bold and reverse, D dim
 * and reverse, U bold and underline, + other mixtures), the colours of the text, and those of the
 * background: a hex digit for 0 to 15, else a letter that the block's last line explains. '.' is
 * what the terminal has by itself. */
void show_attrs(struct term *t, FILE *to);

/* A picture that stands alone: same screen, same bytes. */
void show_svg(struct term *t, FILE *to);

/* Its parts: the frame of a picture with so many rows, some rows of the screen, from one to before
 * another, a line of text in the place of a row, and the end. */
void show_svg_begin(int rows, int cols, FILE *to);
void show_svg_rows(const struct term *t, int first, int end, FILE *to);
void show_svg_caption(const char *text, int row, FILE *to);
void show_svg_end(FILE *to);

#endif
