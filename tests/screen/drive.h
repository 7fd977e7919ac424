/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the commands of a script work on, and those that fill a file of their own.
 */
#ifndef TESTS_SCREEN_DRIVE_H
#define TESTS_SCREEN_DRIVE_H

#include "film.h"
#include "term.h"

struct drive {
    struct term term;
    char **argv; /* borrowed; the program */
    char **env;  /* owned; NAME=VALUE for it, all owned */
    size_t env_n;
    bool running; /* started, that is; it may have ended */
    double limit; /* seconds that a wait may take */
    char *avoid;  /* owned; keys that a storm leaves out, or NULL */
    struct film film;
    char why[4096];
};

/* Notes why a line of the script failed; always false. */
bool drive_fail(struct drive *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Cuts the first word off `*rest`: it ends at a blank, or at its closing quote. NULL: no word. */
char *drive_word(char **rest);

/* Writes out what was sent; false if the program does not take it. */
bool drive_flush(struct drive *d);

/* How the program ended, in words. */
const char *drive_fate(const struct drive *d);

bool drive_storm(struct drive *d, char *arg);
bool drive_storm_avoid(struct drive *d, char *arg);
bool drive_measure(struct drive *d, char *arg);

#endif
