/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tensors from files and into files.
 */
#ifndef ODB_COMMAND_CALL_TENSOR_FILE_H
#define ODB_COMMAND_CALL_TENSOR_FILE_H

#include <stdbool.h>

#include "base/error.h"

struct odb_command_call;
struct odb_progress;
struct odb_tensor;

/* Whether the ending of the name is one of those that odb_call__read_tensor() takes. */
bool odb_call__reads_tensor(const char *path);
/* A tensor file: .npy, or .pb (a TensorProto). */
enum odb_status odb_call__read_tensor(struct odb_tensor **out, const char *path,
                                      struct odb_error *err) ODB_MUST_USE;
/* Whether the ending of the name is one of those that odb_call__write_tensor() takes. */
bool odb_call__is_tensor_file(const char *path);
/* The same way out, by the file's ending: .npy, .npz, .pb, .bin (the bytes alone), .csv. The file
 * is there as a whole or not at all. progress may be NULL. ODB_CANCELLED. */
enum odb_status odb_call__write_tensor(const struct odb_tensor *t, const char *name,
                                       const char *path, const struct odb_progress *progress,
                                       struct odb_error *err) ODB_MUST_USE;
/* The same within a command, which tells how far it is and can be stopped. */
enum odb_status odb_call__save(struct odb_command_call *call, const struct odb_tensor *t,
                               const char *name, const char *path,
                               struct odb_error *err) ODB_MUST_USE;

#endif
