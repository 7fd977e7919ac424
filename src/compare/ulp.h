/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Distances counted in numbers of a floating type: units in the last place.
 */
#ifndef ODB_COMPARE_ULP_H
#define ODB_COMPARE_ULP_H

#include "tensor/dtype.h"

/* The narrower of two float types, whose numbers are counted; ODB_UNDEFINED where one is none. */
enum odb_dtype odb_ulp_type(enum odb_dtype a, enum odb_dtype b);
/* How many numbers of the type it is from one to the other, both rounded to it: negative where `to`
 * is the smaller. NaN where one of them is no number; Inf is one step above the largest. -0 is 0.
 */
double odb_ulps(enum odb_dtype dtype, double from, double to);

#endif
