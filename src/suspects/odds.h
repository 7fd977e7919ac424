/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How likely the nodes that explain most hold the culprit: what planted faults came to.
 */
#ifndef ODB_SUSPECTS_ODDS_H
#define ODB_SUSPECTS_ODDS_H

/* missed: the part of the differences that the best does not explain; next: the same of the best of
 * the others; 1: there is none. */
double odds_of(double missed, double next);

#endif
