/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What reference, target and golden have for a value, which may be one of a body: of that where the
 * walk is, by its name, or of any, by a path.
 */
#ifndef ODB_COMMAND_VALUE_VALUE_PAIR_H
#define ODB_COMMAND_VALUE_VALUE_PAIR_H

#include "base/error.h"

struct odb_command_call;
struct odb_tensor;

enum odb_side {
    ODB_SIDE_BOTH,
    ODB_SIDE_REFERENCE,
    ODB_SIDE_TARGET,
    ODB_SIDE_GOLDEN,
    ODB_SIDE_DIFFERENCE
};

/* New references; NULL where it is not had. */
struct odb_value_pair {
    struct odb_tensor *side[ODB_SIDE_DIFFERENCE + 1];
};
void odb_value_pair_dispose(struct odb_value_pair *pair);

/* What may be run for it. */
enum odb_value_pair_effort {
    ODB_VALUE_PAIR_AT_HAND,   /* nothing */
    ODB_VALUE_PAIR_REFERENCE, /* the reference; what the target has is shown where it is known */
    ODB_VALUE_PAIR_TARGET /* in a body also the target, with what the reference has in that turn */
};

/* name: of a value; NULL: the content of the tensor file that the call is about. *out is to be
 * disposed of also after failure. ODB_E_USAGE: there is no such value. */
enum odb_status odb_value_pair_find(struct odb_value_pair *out, struct odb_command_call *call,
                                    const char *name, enum odb_value_pair_effort effort,
                                    struct odb_error *err) ODB_MUST_USE;
/* ODB_E_USAGE where odb_value_pair_find() would find nothing by this name. */
enum odb_status odb_value_pair_check(const struct odb_command_call *call, const char *name,
                                     struct odb_error *err) ODB_MUST_USE;
/* Fills in target - reference, in double, where both are there, of one shape, and numbers. */
enum odb_status odb_value_pair_subtract(struct odb_value_pair *pair,
                                        struct odb_error *err) ODB_MUST_USE;

#endif
