/* SPDX-License-Identifier: MIT
 *
 * Executors that are classes in Python. When one of them is the outermost of a spec, the child
 * program becomes Python; inside a wrapper it is a child of that child.
 */
#ifndef ODB_EXECUTOR_PROGRAMS_PYTHON_H
#define ODB_EXECUTOR_PROGRAMS_PYTHON_H

#include <stdbool.h>

#include "base/error.h"
#include "executor/transport/program.h"

/* Whether the outermost executor of a spec is one in Python. */
bool odb_python_hosts(const char *spec);
/* What its libraries are told by the environment, unless the user has told them. */
void odb_python_environ(const char *spec);
/* Adds the command line of the program that answers for spec to out, which the caller disposes of;
 * fd is the connection's descriptor (-1: standard input and output), scratch may be NULL. */
enum odb_status odb_python_args(struct odb_argv *out, const char *spec, int fd, const char *scratch,
                                struct odb_error *err) ODB_MUST_USE;

#endif
