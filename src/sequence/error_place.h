/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where in an output an error stands, when it stands in one place along an axis: a row of the
 * batch, a head, a position of a cache.
 */
#ifndef ODB_SEQUENCE_ERROR_PLACE_H
#define ODB_SEQUENCE_ERROR_PLACE_H

#include "sequence/plan/sequence_plan.h"

/* "row 2, head 1, position 5", or "rows 1 and 2", without the axes along which it stands in more
 * places or all; the caller's; NULL: nothing can be told. least: errors up to this, relative to
 * rms, are none. carry: the input that takes the output over, NULL: none does. mask: of
 * odb_padding_find(), NULL: none; of rows that are those with padding it is said. A state that has
 * in each place what the reference has one place before it, "written one place late", or behind it,
 * is told as that. */
char *odb_error_place(const struct odb_tensor *target, const struct odb_tensor *reference,
                      double least, const struct odb_plan_input *carry,
                      const struct odb_tensor *mask);

/* How far what a step gave is from the reference's: relative to rms; Inf: another shape, or NaN
 * where the other has none; NAN: it is no number, or a whole one that nothing carries (tokens, say,
 * which flip where rounding decides). */
double odb_error_gap(const struct odb_tensor *had, const struct odb_tensor *reference,
                     bool carried);

#endif
