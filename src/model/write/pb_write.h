/* SPDX-License-Identifier: MIT
 *
 * One value as a message of ONNX: TensorProto and its kin.
 */
#ifndef ODB_MODEL_WRITE_PB_WRITE_H
#define ODB_MODEL_WRITE_PB_WRITE_H

#include "base/buf.h"
#include "tensor/tensor.h"

/* Writes beside and renames. name is the TensorProto's name. */
enum odb_status odb_pb_write(const struct odb_tensor *t, const char *name, const char *path,
                             struct odb_error *err) ODB_MUST_USE;
/* The same to bytes. */
enum odb_status odb_pb_encode(const struct odb_tensor *t, const char *name, struct odb_buf *out,
                              struct odb_error *err) ODB_MUST_USE;

#endif
