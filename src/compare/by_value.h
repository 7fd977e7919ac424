/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of targets that have not all of ONNX's element types, and hold an int64 as int32, a double
 * as float, a bool as 0 or 1 of any number type. All that is compared goes through here once, so
 * that nothing behind it meets another type where the values are the same.
 */
#ifndef ODB_COMPARE_BY_VALUE_H
#define ODB_COMPARE_BY_VALUE_H

#include "tensor/tensor.h"

/* What t is in another element type (of a sequence or optional: of its elements), where that has
 * each of its elements; of floats, any float type has them, rounded. `held` of the result is t's
 * own type then. Where it has not (2.5 as int64, 2 as bool, -1 as uint8), and where t is of that
 * type, it is t itself; nothing is done for strings, complex numbers, maps and sparse tensors. */
enum odb_status odb_by_value(struct odb_tensor **out, const struct odb_tensor *t,
                             enum odb_dtype dtype, struct odb_error *err) ODB_MUST_USE;

#endif
