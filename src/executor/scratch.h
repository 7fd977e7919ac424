/* SPDX-License-Identifier: MIT
 *
 * Directories for what must not outlive a process. The debugger gives every child one, names it in
 * $TMPDIR, and removes it once the child is gone, however that ended.
 */
#ifndef ODB_EXECUTOR_SCRATCH_H
#define ODB_EXECUTOR_SCRATCH_H

#include "base/error.h"

/* A new directory below $TMPDIR, else /tmp; *path is absolute, and the
 * caller's to free. */
enum odb_status odb_scratch_new(char **path, struct odb_error *err) ODB_MUST_USE;
/* Removes the directory and everything below it, as far as that can be done; follows no links. */
void odb_scratch_remove(const char *path);

#endif
