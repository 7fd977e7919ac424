/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a target answered, for as long as the program runs: where no file keeps it.
 */
#ifndef ODB_SESSION_MEMORY_H
#define ODB_SESSION_MEMORY_H

#include "probe/answers.h"

struct odb_memory;

struct odb_memory *odb_memory_new(void);
void odb_memory_free(struct odb_memory *memory); /* NULL is fine */
/* The table of functions; borrows memory. */
void odb_memory_answers(struct odb_memory *memory, struct odb_answers *out);

#endif
