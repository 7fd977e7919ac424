/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a target stores as integers is rounded to their steps: half a step is no error of the node
 * that makes it, and a whole one is.
 */
#ifndef ODB_JUDGE_HALF_STEP_H
#define ODB_JUDGE_HALF_STEP_H

#include "tensor/tensor.h"

/* What t may have been before it was rounded, as near to base as half a step lets it be: each
 * element becomes base's, or goes half a step towards it. What was clamped at an end of the
 * integers stays as far off as it is, less that half step; NaN and infinities stay. *out is the
 * caller's, and has no steps; a ref of t where t is not stored so, or base is of another kind or
 * shape. */
enum odb_status odb_half_step(struct odb_tensor **out, const struct odb_tensor *t,
                              const struct odb_tensor *base, struct odb_error *err) ODB_MUST_USE;
/* Whether the steps are so coarse that nothing but zeros would be let off as well, though base
 * holds other numbers: that t agrees says nothing. */
bool odb_half_step_hides(const struct odb_tensor *t, const struct odb_tensor *base);

/* What t may have been as well: each element half a step up or down, at random. *out is the
 * caller's; a ref of t where it is not stored so. */
enum odb_status odb_half_step_off(struct odb_tensor **out, const struct odb_tensor *t,
                                  uint64_t seed, struct odb_error *err) ODB_MUST_USE;

/* t with each element nearer to base's, by so much at most. *out is the caller's; a ref of t where
 * by is 0, or either is no tensor of floats of that shape. */
enum odb_status odb_nearer(struct odb_tensor **out, const struct odb_tensor *t,
                           const struct odb_tensor *base, double by,
                           struct odb_error *err) ODB_MUST_USE;

#endif
