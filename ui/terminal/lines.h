/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Frames and lines in box characters, or in ASCII where the terminal has nothing else.
 */
#ifndef ODB_UI_TERMINAL_LINES_H
#define ODB_UI_TERMINAL_LINES_H

#include "ui/terminal/draw.h"

/* Directions in which a line leaves a cell. */
#define UI_LINE_UP 1u
#define UI_LINE_RIGHT 2u
#define UI_LINE_DOWN 4u
#define UI_LINE_LEFT 8u

enum ui_frame { UI_FRAME_PLAIN, UI_FRAME_ROUND, UI_FRAME_DOUBLE, UI_FRAME_HEAVY };

/* A cell of lines; heavy: those of its arms that are drawn thick. */
void ui_draw_lines(const struct ui_area *area, int row, int col, enum ui_style style, unsigned arms,
                   unsigned heavy);
/* The border of a rectangle, which may stand partly outside of the area. */
void ui_draw_frame(const struct ui_area *area, int row, int col, int rows, int cols,
                   enum ui_style style, enum ui_frame frame);
/* Where a line comes to the border of a frame, from above or from below. */
void ui_draw_joint(const struct ui_area *area, int row, int col, enum ui_style style,
                   enum ui_frame frame, bool from_above);

#endif
