/* SPDX-License-Identifier: MIT
 *
 * Numbers as Python prints them, for files that Python's scripts read and people compare.
 */
#ifndef ODB_BASE_PYFLOAT_H
#define ODB_BASE_PYFLOAT_H

#include <stddef.h>

#define ODB_PYFLOAT_TEXT 32

/* repr() of a float: the fewest digits that give the number back, "0.0", "1e-06", "nan", "-inf".
 * Returns buf; ODB_PYFLOAT_TEXT bytes do. */
const char *odb_pyfloat(double v, char *buf, size_t size);

#endif
