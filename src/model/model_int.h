/* SPDX-License-Identifier: MIT
 *
 * What the files of model/ share and no other file sees: the protobuf messages behind a model.
 *
 * The messages live in one arena and are never freed one by one. Their raw_data fields are
 * patched after unpacking to point into the mapped file, so packing a message writes the weights'
 * bytes straight from the map.
 */
#ifndef ODB_MODEL_MODEL_INT_H
#define ODB_MODEL_MODEL_INT_H

#include <pthread.h>

#include "base/mem.h"
#include "model/model.h"
#include "onnx.pb-c.h"

struct model_arena; /* arena.c: a ProtobufCAllocator whose free does nothing */
struct model_files; /* files.c: mapped files of external data */

struct model_int {
    struct odb_storage *file;       /* ref: the mapped file or the caller's bytes */
    const unsigned char *file_data; /* borrowed: file */
    size_t file_size;
    struct model_arena *arena;            /* owned */
    struct model_files *files;            /* owned: external data */
    struct odb_map *functions;            /* owned: "domain::name:overload" -> index */
    ODB_VEC(struct odb_tensor *) tensors; /* refs: every tensor that the model shows */
    ODB_VEC(struct odb_graph *) graphs;   /* in the arena: the main one, bodies, functions */
    const Onnx__ModelProto *proto;        /* in the arena */
    pthread_mutex_t sha256_lock;          /* of the next */
    char sha256[65];                      /* of the file; "": not computed yet */
    /* The main graph's messages by our indices. */
    const Onnx__NodeProto **nodes;                /* [n_nodes], topological order */
    const Onnx__TensorProto **inits;              /* [n_values], NULL: no (dense) initializer */
    const Onnx__SparseTensorProto **sparse_inits; /* [n_values] */
    struct odb_tensor **packed;                   /* [n_values] sparse initializers as tensors */
    const Onnx__ValueInfoProto **infos;           /* [n_values], NULL: nothing declared */
};

/* A tensor message as a tensor that views storage (raw_data) or copies (typed fields). dir: for
 * external data. Shared by load.c (initializers, attributes) and pb.c (files). */
enum odb_status odb_model__tensor(struct odb_tensor **out, const Onnx__TensorProto *proto,
                                  struct odb_storage *storage, const char *dir,
                                  struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_model__sparse(struct odb_tensor **out, const Onnx__SparseTensorProto *proto,
                                  struct odb_storage *storage, const char *dir,
                                  struct odb_error *err) ODB_MUST_USE;
/* The same for many tensors of one model: each file of external data is mapped once. */
enum odb_status odb_model__tensor_of(struct odb_tensor **out, const Onnx__TensorProto *proto,
                                     struct odb_storage *storage, struct model_files *files,
                                     struct odb_error *err) ODB_MUST_USE;
enum odb_status odb_model__sparse_of(struct odb_tensor **out, const Onnx__SparseTensorProto *proto,
                                     struct odb_storage *storage, struct model_files *files,
                                     struct odb_error *err) ODB_MUST_USE;
/* A weight whose external data is not there: a shape without elements. */
bool odb_model__is_hollow(const struct odb_tensor *t);
/* "float[1, N]" for a declared type, appended; ranks: as struct text has it. */
void odb_model__type_text(const Onnx__TypeProto *type, bool ranks, struct odb_buf *out);

#endif
