/* SPDX-License-Identifier: MIT
 *
 * Tensors cut along an axis and put together again, whatever their element type: what sequences
 * and the scans of Loop and Scan are made of.
 */
#ifndef ODB_KERNELS_SHAPE_PARTS_H
#define ODB_KERNELS_SHAPE_PARTS_H

#include "kernels/core/kern.h"

/* The len elements of axis that begin at at: a view where they lie behind each other. drop: len is
 * 1, and the axis goes. The range must be inside the tensor. */
enum odb_status odb_parts_take(struct odb_tensor **out, const struct odb_tensor *t, int axis,
                               int64_t at, int64_t len, bool drop,
                               struct odb_error *err) ODB_MUST_USE;

/* n tensors of one type behind each other along axis, which must exist; new_axis: along one that is
 * inserted before dimension axis. ODB_E_OPERATOR unless the other dimensions agree; n is 1 at
 * least. */
enum odb_status odb_parts_join(struct odb_tensor **out, struct odb_tensor *const *parts, size_t n,
                               int axis, bool new_axis, struct odb_error *err) ODB_MUST_USE;

#endif
