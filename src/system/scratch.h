/* SPDX-License-Identifier: MIT
 *
 * Directories for what must not outlive a process. The debugger gives every child one, names it in
 * $TMPDIR, and removes it once the child is gone, however that ended.
 */
#ifndef ODB_SYSTEM_SCRATCH_H
#define ODB_SYSTEM_SCRATCH_H

#include "base/error.h"

/* A new directory below $TMPDIR, else /tmp; *path is absolute, and the
 * caller's to free. The first one of a process sweeps those of processes that were killed. */
enum odb_status odb_scratch_new(char **path, struct odb_error *err) ODB_MUST_USE;
/* A new directory beside path, for what is going to have that name: *scratch is the caller's to
 * free. Sweeps what was left there. */
enum odb_status odb_scratch_beside(char **scratch, const char *path,
                                   struct odb_error *err) ODB_MUST_USE;
/* The same for a file that a library is to write, and for what that puts beside it. No folder is
 * made above. */
enum odb_status odb_scratch_for_file(char **scratch, const char *path,
                                     struct odb_error *err) ODB_MUST_USE;
/* Removes the directory and everything below it, as far as that can be done; follows no links. */
void odb_scratch_remove(const char *path);

#endif
