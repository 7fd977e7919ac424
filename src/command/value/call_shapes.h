/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shapes of the values, declared or measured.
 */
#ifndef ODB_COMMAND_VALUE_CALL_SHAPES_H
#define ODB_COMMAND_VALUE_CALL_SHAPES_H

#include "base/error.h"

struct odb_command_call;
struct odb_shapes;
struct odb_tensor;

/* Shapes as the model declares them, or, with --run, as the reference makes them; see and payload
 * as in odb_shapes_measure(). To be disposed of, also after failure. */
enum odb_status odb_call__shapes(struct odb_command_call *call,
                                 void (*see)(void *payload, int value, const struct odb_tensor *t),
                                 void *payload, struct odb_shapes *out,
                                 struct odb_error *err) ODB_MUST_USE;

#endif
