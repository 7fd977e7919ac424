/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts of a tensor along one axis, and tensors put together along one.
 */
#ifndef ODB_SEQUENCE_PLAN_AXIS_H
#define ODB_SEQUENCE_PLAN_AXIS_H

#include "tensor/tensor.h"

/* Places [from, from + n) of an axis. A view where they lie together, else a copy. ODB_E_INPUT
 * where the axis or the places are not there; ODB_UNSUPPORTED for what is no tensor of whole bytes.
 */
enum odb_status odb_axis_part(struct odb_tensor **out, const struct odb_tensor *t, int axis,
                              int64_t from, int64_t n, struct odb_error *err) ODB_MUST_USE;
/* n tensors, at least one, of one type and of shapes that differ along the axis alone, one behind
 * the other. Errors as above. */
enum odb_status odb_axis_join(struct odb_tensor **out, struct odb_tensor *const *tensors, size_t n,
                              int axis, struct odb_error *err) ODB_MUST_USE;
/* Whether places [from, from + n) of a are, bit for bit, the first n of b; shapes differ along the
 * axis alone. False where they do not fit. */
bool odb_axis_same(const struct odb_tensor *a, int64_t from, const struct odb_tensor *b, int64_t n,
                   int axis);

#endif
