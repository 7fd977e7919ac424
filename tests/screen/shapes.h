/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SCREEN_SHAPES_H
#define TESTS_SCREEN_SHAPES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CELL_W = 9, /* of a cell in the picture */
    CELL_H = 18,
};

/* Is it a line or block character that is drawn rather than written? */
bool shape_is(uint32_t c);

/* A rounded corner is a line to stroke; every other shape is an area to fill. */
bool shape_is_arc(uint32_t c);

/* The path of `n` times the character beside each other, in a cell whose corner is at x, y. */
void shape_path(uint32_t c, int x, int y, int n, FILE *to);

/* May cells with this character be one path of n times their width? */
bool shape_repeats(uint32_t c);

/* How much of the area is ink, in quarters: 4 but for the shades. */
int shape_ink(uint32_t c);

#endif
