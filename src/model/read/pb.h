/* SPDX-License-Identifier: MIT
 *
 * Files that hold one value as a message of ONNX: TensorProto and its kin.
 */
#ifndef ODB_MODEL_READ_PB_H
#define ODB_MODEL_READ_PB_H

#include "model/model.h"

/* Reads a .pb file that holds a TensorProto, SequenceProto, OptionalProto, or SparseTensorProto;
 * kind says which is expected (their bytes do not say which). */
enum odb_status odb_pb_read(struct odb_tensor **out, enum odb_kind kind, const char *path,
                            struct odb_error *err) ODB_MUST_USE;
/* The same for a value of a declared type, which tells the kind, and of what an empty container in
 * the file is one. */
enum odb_status odb_pb_read_as(struct odb_tensor **out, const struct odb_type *type,
                               const char *path, struct odb_error *err) ODB_MUST_USE;
/* The name in a file that holds a TensorProto, whose values are not read; NULL where there is none,
 * as in files of anything else. Owned by the caller. */
char *odb_pb_name(const char *path);
/* The same from bytes. */
enum odb_status odb_pb_decode(struct odb_tensor **out, enum odb_kind kind, const void *bytes,
                              size_t size, struct odb_error *err) ODB_MUST_USE;

#endif
