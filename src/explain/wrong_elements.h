/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which elements are wrong, in words: all of them, some places of an axis, a border, every k-th,
 * only where the reference is large or negative. Or that the shape is another.
 */
#ifndef ODB_EXPLAIN_WRONG_ELEMENTS_H
#define ODB_EXPLAIN_WRONG_ELEMENTS_H

#include "explain/accused.h"

/* Of the output that shows the error most. "": nothing can be said. Owned by the caller. */
char *where_wrong(const struct accused *s);

#endif
