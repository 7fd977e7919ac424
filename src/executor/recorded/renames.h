/* SPDX-License-Identifier: MIT
 *
 * A map of names, as --map takes it: lines VALUE = NAME, where each * of the first stands for the
 * same * of the second.
 */
#ifndef ODB_EXECUTOR_RECORDED_RENAMES_H
#define ODB_EXECUTOR_RECORDED_RENAMES_H

#include "base/error.h"

struct odb_renames;

/* ODB_E_IO; ODB_E_USAGE with the line that is none. */
enum odb_status odb_renames_read(struct odb_renames **out, const char *path,
                                 struct odb_error *err) ODB_MUST_USE;
void odb_renames_free(struct odb_renames *renames); /* NULL is fine */
/* What the map calls a value: owned by the caller; NULL: it says nothing. *line (may be NULL) is
 * where it names this very value, 0 where it is a pattern that does. */
char *odb_renames_apply(const struct odb_renames *renames, const char *name, int *line);

#endif
