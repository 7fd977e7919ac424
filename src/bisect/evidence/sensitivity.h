/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How much an operator makes of a small error in its inputs.
 */
#ifndef ODB_BISECT_EVIDENCE_SENSITIVITY_H
#define ODB_BISECT_EVIDENCE_SENSITIVITY_H

#include "bisect/findings.h"

/* Growth of the error in the inputs of the node that makes the value. given: [n_values] the
 * target's values. Numbers stay unknown where the node cannot be replayed or its inputs are right.
 */
struct odb_sensitivity sensitivity_of(const struct search_case *c, const struct findings *f,
                                      int value, struct odb_tensor *const *given);
/* Distance between what the reference operator gives for its own inputs and for inputs that are off
 * by as much as sizes say ([n_in] of the node, relative to rms; 0: as they are), at random; the
 * largest of several. False: it cannot be had. mean: likewise, may be NULL. */
bool sensitivity_shaken(const struct search_case *c, int value, const double *sizes, double *most,
                        double *mean);
/* What computing in a precision loses there: the largest distance between what the reference
 * operator gives in it and in float64, relative to rms, on its own inputs, or on those of given
 * ([n_values]; NULL: none) that are there. False: it cannot be had. */
bool sensitivity_in(const struct search_case *c, int value, enum odb_precision precision,
                    struct odb_tensor *const *given, double *error);
/* t moved at random by up to size times its rms, element by element, in its own type. NULL:
 * it is no tensor of floats. Owned by the caller. */
struct odb_tensor *sensitivity_moved(const struct odb_tensor *t, double size, uint64_t seed);

#endif
