/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A film of the screen: an SVG that moves by itself, without a script. A row that stays as it is
 * from one picture to the next is drawn once.
 */
#ifndef TESTS_SCREEN_FILM_H
#define TESTS_SCREEN_FILM_H

#include "term.h"

struct film_row;

struct film {
    struct film_row *rows; /* owned; [n_rows], the last is the line below */
    int n_rows, cols;      /* 0: nothing is taken yet */
    double seconds;
    char caption[120]; /* what stands below from now on */
};

/* Adds the screen as it is, for so many seconds. False: it has another size than before. */
bool film_take(struct film *film, const struct term *t, double seconds);
/* Writes it, and forgets it. */
void film_write(struct film *film, FILE *to);

#endif
