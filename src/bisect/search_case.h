/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is searched.
 */
#ifndef ODB_BISECT_SEARCH_CASE_H
#define ODB_BISECT_SEARCH_CASE_H

struct bisection;

/* The node's first named output, ODB_NO_VALUE when it has none. */
int case_output_of(const struct bisection *b, int node);

#endif
