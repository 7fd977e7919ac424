/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the files of the model from being written over.
 */
#ifndef ODB_COMMAND_VALUE_SPARE_MODEL_H
#define ODB_COMMAND_VALUE_SPARE_MODEL_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;

/* Whether two paths are one file, which is there. */
bool odb_call__same_file(const char *a, const char *b);
/* ODB_E_USAGE when path is the very file that the model, or a weight of it, was read from. */
enum odb_status odb_call__spare_model(const struct odb_command_call *call, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;

#endif
