/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/terminal/lines.h"

/* By arms: 0 none, 1 thin, 2 thick; 27 times that of the upper one, 9 of the right, 3 of the lower,
 * 1 of the left. */
static const char *const lines_cells[81] = {
    " ", "╴", "╸", "╷", "┐", "┑", "╻", "┒", "┓", "╶", "─", "╾", "┌", "┬", "┭", "┎", "┰",
    "┱", "╺", "╼", "━", "┍", "┮", "┯", "┏", "┲", "┳", "╵", "┘", "┙", "│", "┤", "┥", "╽",
    "┧", "┪", "└", "┴", "┵", "├", "┼", "┽", "┟", "╁", "╅", "┕", "┶", "┷", "┝", "┾", "┿",
    "┢", "╆", "╈", "╹", "┚", "┛", "╿", "┦", "┩", "┃", "┨", "┫", "┖", "┸", "┹", "┞", "╀",
    "╃", "┠", "╂", "╉", "┗", "┺", "┻", "┡", "╄", "╇", "┣", "╊", "╋",
};

/* Corners from the upper left one clockwise, the horizontal and the vertical line, and where a line
 * comes from above and from below. */
static const struct lines_frame {
    const char *corners[4], *across, *down, *from_above, *from_below;
} lines_frames[2][4] = {
    {
        [UI_FRAME_PLAIN] = {{"+", "+", "+", "+"}, "-", "|", "+", "+"},
        [UI_FRAME_ROUND] = {{".", ".", "'", "'"}, "-", "|", "+", "+"},
        [UI_FRAME_DOUBLE] = {{"#", "#", "#", "#"}, "=", "|", "+", "+"},
        [UI_FRAME_HEAVY] = {{"#", "#", "#", "#"}, "#", "#", "+", "+"},
    },
    {
        [UI_FRAME_PLAIN] = {{"┌", "┐", "┘", "└"}, "─", "│", "┴", "┬"},
        [UI_FRAME_ROUND] = {{"╭", "╮", "╯", "╰"}, "─", "│", "┴", "┬"},
        [UI_FRAME_DOUBLE] = {{"╔", "╗", "╝", "╚"}, "═", "║", "╧", "╤"},
        [UI_FRAME_HEAVY] = {{"┏", "┓", "┛", "┗"}, "━", "┃", "┷", "┯"},
    },
};

static unsigned lines_weight(unsigned arms, unsigned heavy, unsigned arm)
{
    return arms & arm ? (heavy & arm ? 2 : 1) : 0;
}

void ui_draw_lines(const struct ui_area *area, int row, int col, enum ui_style style, unsigned arms,
                   unsigned heavy)
{
    const unsigned up_down = UI_LINE_UP | UI_LINE_DOWN, sides = UI_LINE_LEFT | UI_LINE_RIGHT;
    const char *text = !(arms & sides) ? "|" : !(arms & up_down) ? "-" : "+";
    if (area->terminal->unicode)
        text = lines_cells[27 * lines_weight(arms, heavy, UI_LINE_UP) +
                           9 * lines_weight(arms, heavy, UI_LINE_RIGHT) +
                           3 * lines_weight(arms, heavy, UI_LINE_DOWN) +
                           lines_weight(arms, heavy, UI_LINE_LEFT)];
    if (arms)
        ui_draw_text(area, row, col, style, text);
}

static void lines_across(const struct ui_area *area, int row, int col, int cols,
                         enum ui_style style, const struct lines_frame *frame, bool upper)
{
    for (int i = 0; i < cols; i++)
        ui_draw_text(area, row, col + i, style,
                     i == 0          ? frame->corners[upper ? 0 : 3]
                     : i == cols - 1 ? frame->corners[upper ? 1 : 2]
                                     : frame->across);
}

void ui_draw_frame(const struct ui_area *area, int row, int col, int rows, int cols,
                   enum ui_style style, enum ui_frame kind)
{
    const struct lines_frame *frame = &lines_frames[area->terminal->unicode][kind];
    lines_across(area, row, col, cols, style, frame, true);
    for (int i = 1; i < rows - 1; i++) {
        ui_draw_text(area, row + i, col, style, frame->down);
        ui_draw_text(area, row + i, col + cols - 1, style, frame->down);
    }
    lines_across(area, row + rows - 1, col, cols, style, frame, false);
}

void ui_draw_joint(const struct ui_area *area, int row, int col, enum ui_style style,
                   enum ui_frame kind, bool from_above)
{
    const struct lines_frame *frame = &lines_frames[area->terminal->unicode][kind];
    ui_draw_text(area, row, col, style, from_above ? frame->from_above : frame->from_below);
}
