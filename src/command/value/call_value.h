/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tensor that a command is about.
 */
#ifndef ODB_COMMAND_VALUE_CALL_VALUE_H
#define ODB_COMMAND_VALUE_CALL_VALUE_H

#include "base/error.h"

struct odb_command_call;
struct odb_tensor;

/* What the first argument (an ODB_ARG_SOURCE) and the name of a value in it stand for: a tensor
 * file's content, name NULL; a weight; an input; or a value computed by odb_call__runner() (at a
 * console the reference's, which is kept). After odb_call__open_source(). */
enum odb_status odb_call__value(struct odb_command_call *call, const char *name,
                                struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

#endif
