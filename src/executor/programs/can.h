/* SPDX-License-Identifier: MIT
 *
 * What a program says in JSON that it can do, as options of a spec (capabilities.h).
 */
#ifndef ODB_EXECUTOR_PROGRAMS_CAN_H
#define ODB_EXECUTOR_PROGRAMS_CAN_H

#include <jansson.h>

#include "base/buf.h"

/* Appends what the object says, "max_outputs=16,cut=prefix"; lists get ';' between. Members of
 * other names, and values that no option has, are left out. can may be NULL. */
void odb_can_put(const json_t *can, struct odb_buf *options);

#endif
