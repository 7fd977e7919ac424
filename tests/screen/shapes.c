/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines and blocks as shapes. Fonts draw them as high as they please, which leaves gaps between
 * rows; drawn here, they meet whatever font the reader has.
 */
#include "shapes.h"
#include <string.h>

/* U+2500 to U+257F: the weight of the arms up, right, down and left; 0000 is left to the font. */
static const char SHAPE_ARMS[] =
    "0101 0202 1010 2020 0000 0000 0000 0000 0000 0000 0000 0000 0110 0210 0120 0220 "
    "0011 0012 0021 0022 1100 1200 2100 2200 1001 1002 2001 2002 1110 1210 2110 1120 "
    "2120 2210 1220 2220 1011 1012 2011 1021 2021 2012 1022 2022 0111 0112 0211 0212 "
    "0121 0122 0221 0222 1101 1102 1201 1202 2101 2102 2201 2202 1111 1112 1211 1212 "
    "2111 1121 2121 2112 2211 1122 1221 2212 1222 2122 2221 2222 0000 0000 0000 0000 "
    "0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 "
    "0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 "
    "0000 0000 0000 0000 0001 1000 0100 0010 0002 2000 0200 0020 0201 1020 0102 2010";

static const char *shape_arms(uint32_t c)
{
    return c >= 0x2500 && c < 0x2580 ? SHAPE_ARMS + 5 * (c - 0x2500) : "0000";
}

bool shape_is_arc(uint32_t c)
{
    return c >= 0x256d && c <= 0x2570;
}

bool shape_is(uint32_t c)
{
    return shape_is_arc(c) || memcmp(shape_arms(c), "0000", 4) != 0 || (c >= 0x2580 && c < 0x25a0);
}

int shape_ink(uint32_t c)
{
    return c >= 0x2591 && c <= 0x2593 ? (int)(c - 0x2590) : 4;
}

bool shape_repeats(uint32_t c)
{
    const char *arms = shape_arms(c);
    return (arms[0] == '0' && arms[2] == '0' && arms[1] != '0' && arms[1] == arms[3]) ||
           (c >= 0x2580 && c <= 0x2588) || (c >= 0x2591 && c <= 0x2594);
}

static void shape_rect(double x, double y, double w, double h, FILE *to)
{
    fprintf(to, "M%g %gh%gv%gh-%gz", x, y, w, h, w);
}

/* The arms of one direction; each reaches over the middle, so that corners close. */
static void shape_line(int from, int until, double start, double end, double middle, double out[3])
{
    int weight = from > until ? from : until;
    out[0] = from ? start : middle - weight * 0.5;
    out[1] = until ? end : middle + weight * 0.5;
    out[2] = weight;
}

static void shape_lines(const char *arms, double x, double y, double w, FILE *to)
{
    int up = arms[0] - '0', right = arms[1] - '0', down = arms[2] - '0', left = arms[3] - '0';
    double mid_x = x + CELL_W / 2.0, mid_y = y + CELL_H / 2.0 + 0.5, span[3];
    if (left || right) {
        shape_line(left, right, x, x + w, mid_x, span);
        shape_rect(span[0], mid_y - span[2] / 2, span[1] - span[0], span[2], to);
    }
    if (up || down) {
        shape_line(up, down, y, y + CELL_H, mid_y, span);
        shape_rect(mid_x - span[2] / 2, span[0], span[2], span[1] - span[0], to);
    }
}

static void shape_arc(uint32_t c, double x, double y, FILE *to)
{
    double mid_x = x + CELL_W / 2.0, mid_y = y + CELL_H / 2.0 + 0.5;
    bool below = c == 0x256d || c == 0x256e, right = c == 0x256d || c == 0x2570;
    fprintf(to, "M%g %gV%gQ%g %g %g %g", mid_x, below ? y + CELL_H : y,
            below ? mid_y + 4.5 : mid_y - 4.5, mid_x, mid_y, right ? x + CELL_W : x, mid_y);
}

static void shape_block(uint32_t c, double x, double y, double w, FILE *to)
{
    /* upper left 1, upper right 2, lower left 4, lower right 8, of U+2596 and following */
    static const unsigned char QUARTERS[] = {4, 8, 1, 13, 9, 7, 11, 2, 6, 14};
    const double eighth_w = CELL_W / 8.0, eighth_h = CELL_H / 8.0;
    if (c == 0x2580)
        shape_rect(x, y, w, CELL_H / 2.0, to);
    else if (c <= 0x2588)
        shape_rect(x, y + (0x2588 - c) * eighth_h, w, (c - 0x2580) * eighth_h, to);
    else if (c <= 0x258f)
        shape_rect(x, y, (0x2590 - c) * eighth_w, CELL_H, to);
    else if (c == 0x2590)
        shape_rect(x + CELL_W / 2.0, y, CELL_W / 2.0, CELL_H, to);
    else if (c <= 0x2593)
        shape_rect(x, y, w, CELL_H, to);
    else if (c == 0x2594)
        shape_rect(x, y, w, eighth_h, to);
    else if (c == 0x2595)
        shape_rect(x + 7 * eighth_w, y, eighth_w, CELL_H, to);
    for (int i = 0; c >= 0x2596 && i < 4; i++)
        if (QUARTERS[c - 0x2596] >> i & 1)
            shape_rect(x + i % 2 * (CELL_W / 2.0), y + i / 2 * (CELL_H / 2.0), CELL_W / 2.0,
                       CELL_H / 2.0, to);
}

void shape_path(uint32_t c, int x, int y, int n, FILE *to)
{
    if (shape_is_arc(c))
        shape_arc(c, x, y, to);
    else if (c < 0x2580)
        shape_lines(shape_arms(c), x, y, n * CELL_W, to);
    else
        shape_block(c, x, y, n * CELL_W, to);
}
