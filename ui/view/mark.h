/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words, numbers and marks, drawn alike in all views.
 */
#ifndef ODB_UI_VIEW_MARK_H
#define ODB_UI_VIEW_MARK_H

#include <stddef.h>

#include "run/value_report.h"
#include "ui/terminal/style.h"

struct odb_console;
struct ui_area;
struct ui_terminal;

/* Bytes of the first line of text, broken so that it takes at most cols columns, at a blank if that
 * can be, else behind a '/' that is not far in front, and of what separates it from the next line.
 */
size_t ui_text_line(const struct ui_terminal *terminal, const char *text, int cols, size_t *gap);
/* Lines of text broken to the area's width, as many as it has rows, the last with an ellipsis where
 * the text goes on; returns how many were drawn. */
int ui_draw_words(const struct ui_area *area, int row, enum ui_style style, const char *text);
/* How a node or value is marked. unsupported: the reference cannot run it. */
enum ui_glyph ui_mark_glyph(const struct odb_value_report *report, bool culprit, bool unsupported);
enum ui_style ui_mark_style(const struct odb_value_report *report, bool culprit);
/* How an outcome is marked; by enum odb_outcome. */
extern const struct ui_outcome_mark {
    enum ui_glyph mark;
    enum ui_style style;
} ui_outcomes[];
/* The share (0 … 1) of an error on the scale that all bars have: 1e-8 to 1. */
double ui_error_share(double error);
/* "3.2e-05", 7 columns; "" when it is not known. Returns buf. */
const char *ui_number_text(struct odb_number number, char *buf, size_t size);
/* An error on the scale of all bars, with noise and tolerance (factor times noise) marked. */
void ui_draw_error(const struct ui_area *area, int row, int col, int width,
                   const struct odb_value_report *report, double factor);
/* The factor of a tolerance "noise:F"; 0 for any other. */
double ui_noise_factor(const struct odb_console *console);

#endif
