/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of a batch that are shorter than others are filled up, and a mask says where. What a decoder
 * makes of what fills means nothing: where all keys are masked, a softmax takes them all as equal,
 * however many there are.
 */
#ifndef ODB_SEQUENCE_PLAN_PADDING_H
#define ODB_SEQUENCE_PLAN_PADDING_H

#include "sequence/plan/sequence_plan.h"

/* Whether it says for each row of a batch which of so many places count, 1, some in each, and which
 * do not, 0, some in all. */
bool odb_padding_is(const struct odb_tensor *t, size_t places);
/* The mask of that kind among the inputs of one step, as the plan counts them, each of which may be
 * NULL. Borrowed; NULL: there is none, or more than one. */
const struct odb_tensor *odb_padding_find(const struct odb_plan *plan, struct odb_tensor *const *in,
                                          size_t places);
/* What t has where the mask says 0 becomes what of has there; place number p of the axis is place
 * first + p of the mask. *out is the caller's: a copy, or a ref of t where nothing is filled. Both
 * have one type and shape. */
enum odb_status odb_padding_take(struct odb_tensor **out, const struct odb_tensor *t,
                                 const struct odb_tensor *of, const struct odb_tensor *mask,
                                 int axis, size_t first, struct odb_error *err) ODB_MUST_USE;

#endif
