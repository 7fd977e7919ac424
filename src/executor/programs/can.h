/* SPDX-License-Identifier: MIT
 *
 * What a program says in JSON that it can do, as options of a spec (capabilities.h).
 */
#ifndef ODB_EXECUTOR_PROGRAMS_CAN_H
#define ODB_EXECUTOR_PROGRAMS_CAN_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* Appends what the object says, "max_outputs=16,cut=prefix"; lists get ';' between. Members of
 * other names, and values that no option has, are left out. can may be NULL. */
void odb_can_put(const json_t *can, struct odb_buf *options);
/* Whether the list "verbs" has it. */
bool odb_can_verb(const json_t *can, const char *verb);
/* All that it says, the same text for the same: owned by the caller, "" for NULL. */
char *odb_can_text(const json_t *can);

#endif
