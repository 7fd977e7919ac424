/* SPDX-License-Identifier: MIT
 *
 * Protobuf messages out of bytes, without copying what is large. Shared by load.c and pb.c.
 */
#ifndef ODB_MODEL_READ_WIRE_H
#define ODB_MODEL_READ_WIRE_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/arena.h"

/* Checks the bytes of a message and appends its skeleton to out: the same message with every
 * singular byte field (TensorProto.raw_data, AttributeProto.s) replaced by a locator. What passes
 * here, protobuf-c can unpack. ODB_E_MODEL with "byte N" as its place. */
enum odb_status odb_model__skeleton(const ProtobufCMessageDescriptor *type,
                                    const unsigned char *data, size_t size, struct odb_buf *out,
                                    struct odb_error *err) ODB_MUST_USE;

/* The message, in the arena. Its singular byte fields point into data, which must outlive it;
 * the rest is copied. */
enum odb_status odb_model__unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *type,
                                  const unsigned char *data, size_t size, struct model_arena *arena,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
