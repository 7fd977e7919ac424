/* SPDX-License-Identifier: MIT
 *
 * From messages to bytes and files: what write.c, pb.c and build.c share.
 */
#ifndef ODB_MODEL_WRITE_PACK_H
#define ODB_MODEL_WRITE_PACK_H

#include "base/buf.h"
#include "model/arena.h"
#include "model/model_int.h"
#include "model/write/weights_place.h"

/* Initializers with more bytes than this may stand outside the model file. */
#define MODEL_LARGE 1024

/* Where weights outside begin, in bytes: cache lines, and what the widest vector loads like, once
 * the file is mapped. Whole pages would only matter to a reader that maps each weight alone, and
 * cost up to 4 KiB per weight. */
#define MODEL_ALIGN 64

char *odb_model__arena_printf(struct model_arena *arena, const char *fmt, ...) ODB_PRINTF(2, 3)
    __attribute__((nonnull(2)));

/* A dense tensor with values as a message that borrows its bytes and name; name may be NULL. */
Onnx__TensorProto *odb_model__tensor_message(const struct odb_tensor *t, const char *name,
                                             struct model_arena *arena);
/* A copy of the message's head with these bytes, borrowed, in place of its data. */
Onnx__TensorProto *odb_model__with_bytes(const Onnx__TensorProto *proto, const void *data,
                                         size_t size, struct model_arena *arena);
/* A copy of the message's head that says: my bytes are there. location is borrowed. */
Onnx__TensorProto *odb_model__with_reference(const Onnx__TensorProto *proto, const char *location,
                                             size_t offset, size_t size, struct model_arena *arena);
/* The same for a large weight that stands in the model's own file; NULL: it must stay inside. */
Onnx__TensorProto *odb_model__by_reference(const struct odb_model *model,
                                           const Onnx__TensorProto *proto,
                                           struct model_arena *arena);
/* A tensor type; dims NULL: no shape; -1 in dims: the symbol NAME_dimK. */
Onnx__TypeProto *odb_model__tensor_type(enum odb_dtype dtype, int rank, const int64_t *dims,
                                        const char *name, struct model_arena *arena);

/* Where the weights of a model go that is written from a loaded one. */
struct model_weights {
    const struct odb_model *model; /* borrowed */
    enum odb_weights how;
    const char *file;           /* BESIDE: as in struct odb_extract; borrowed */
    struct odb_file_parts *out; /* BESIDE: borrowed */
    struct model_arena *arena;  /* borrowed */
};

/* A weight as it is written: the message itself where nothing about it changes, else a head of its
 * own. t: the same weight as a tensor, whose bytes are at hand wherever the file is. */
enum odb_status odb_model__place(const struct model_weights *to, const Onnx__TensorProto *proto,
                                 const struct odb_tensor *t, Onnx__TensorProto **out,
                                 struct odb_error *err) ODB_MUST_USE;
/* The same for one that stays inside; one that the model keeps elsewhere comes in, unless that is
 * where it shall stay. */
enum odb_status odb_model__place_inside(const struct model_weights *to,
                                        const Onnx__TensorProto *proto, const struct odb_tensor *t,
                                        Onnx__TensorProto **out,
                                        struct odb_error *err) ODB_MUST_USE;
/* A sparse initializer, whose parts stay inside. */
enum odb_status odb_model__place_sparse(const struct model_weights *to, int value,
                                        Onnx__SparseTensorProto **out,
                                        struct odb_error *err) ODB_MUST_USE;

/* Appends the message's bytes. Over protobuf's 2 GiB: ODB_E_MODEL. */
enum odb_status odb_model__pack(const ProtobufCMessage *message, struct odb_buf *out,
                                struct odb_error *err) ODB_MUST_USE;
#endif
