/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How likely the nodes that explain most hold the culprit: what planted faults came to.
 */
#ifndef ODB_SUSPECTS_ODDS_H
#define ODB_SUSPECTS_ODDS_H

#include <stddef.h>

#define ODDS_SAMPLES 16 /* on which nothing is fitted: as many as the trials had */

/* missed: the part of the differences that the best does not explain; next: the same of the best of
 * the others; 1: there is none. samples: on which nothing was fitted; with fewer than the trials
 * had, these count for as much less. NAN: more is missed than what can be said to explain. */
double odds_of(double missed, double next, size_t samples);

#endif
