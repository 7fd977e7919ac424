/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Signal to noise of two values in dB: ten times the logarithm of sum b^2 / sum (e-b)^2.
 */
#ifndef ODB_COMPARE_DECIBELS_H
#define ODB_COMPARE_DECIBELS_H

#include "tensor/tensor.h"

/* Of two sums. INFINITY: there is no noise. */
double odb_decibels_of(double signal, double noise);
/* e against b; an infinity of b counts for nothing where e is a number. INFINITY: they are equal;
 * -INFINITY: one is a NaN where the other is none, or e infinite where b is a number; NAN: they are
 * no floats of one shape, or NULL. */
double odb_decibels(const struct odb_tensor *e, const struct odb_tensor *b);

#endif
