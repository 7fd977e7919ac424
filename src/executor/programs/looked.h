/* SPDX-License-Identifier: MIT
 *
 * Whether a program has looked at what lies in a directory: one that fails before it has says
 * nothing of a model, and will say the same of all others.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_LOOKED_H
#define ODB_EXECUTOR_PROGRAMS_LOOKED_H

#include <stdbool.h>

/* Begins to watch a directory; returns a descriptor for odb_looked(), or -1 where there is none. */
int odb_looked_begin(const char *dir);
/* Whether a file of these names has been opened since; NULL ends them, and those that begin so
 * count too. True where it is not known. Closes the descriptor. */
bool odb_looked(int fd, const char *const *names);

#endif
