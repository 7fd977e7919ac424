/* SPDX-License-Identifier: MIT
 *
 * Protobuf messages out of bytes, without copying what is large. Shared by load.c and pb.c.
 */
#ifndef ODB_MODEL_READ_WIRE_H
#define ODB_MODEL_READ_WIRE_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"
#include "model/arena.h"

/* The message, in the arena. Its byte fields (TensorProto.raw_data, AttributeProto.s) and what it
 * has of fields that are not known point into data, which must outlive it; the rest is copied.
 * ODB_E_MODEL with "byte N" as its place: it is damaged, or goes beyond model/limits.h. */
enum odb_status odb_model__unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *type,
                                  const unsigned char *data, size_t size, struct model_arena *arena,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
