/* SPDX-License-Identifier: MIT
 *
 * A loaded model written with some of its nodes changed and others added: the hands of convert.c
 * and quantize_model.c. The rest is packed from the loaded model's own messages.
 */
#ifndef ODB_MODEL_WRITE_REWRITE_H
#define ODB_MODEL_WRITE_REWRITE_H

#include "base/map.h"
#include "model/write/convert.h"
#include "model/write/pack.h"

struct rewrite {
    const struct odb_model *model; /* borrowed */
    const struct odb_graph *graph; /* borrowed: model */
    struct model_arena *arena;     /* owned */
    struct odb_map *names;         /* owned: those that are taken, of values and nodes */
    struct model_weights weights;
    ODB_VEC(Onnx__NodeProto *) nodes;
    ODB_VEC(int) origin; /* of nodes, in step with them */
    ODB_VEC(Onnx__TensorProto *) inits;
    ODB_VEC(Onnx__ValueInfoProto *) infos;
    ODB_VEC(struct odb_tensor *) kept; /* refs: bytes of messages */
    bool *gone; /* [n_values] initializers that nothing reads any more; in the arena */
};

void rewrite_init(struct rewrite *r, const struct odb_model *model,
                  const struct odb_convert_form *form);
void rewrite_dispose(struct rewrite *r);

/* The value's name and the suffix, made one that no value has. In the arena. */
char *rewrite_name(struct rewrite *r, int value, const char *suffix);
/* The model's own node with lists of inputs and outputs that may be changed; it is not added. */
Onnx__NodeProto *rewrite_copy(struct rewrite *r, int node);
/* A copy of the attribute in the node's own list, for changes; NULL: the node has none. */
Onnx__AttributeProto *rewrite_attr(struct rewrite *r, Onnx__NodeProto *node, const char *name);
Onnx__AttributeProto *rewrite_add_attr(struct rewrite *r, Onnx__NodeProto *node, const char *name,
                                       Onnx__AttributeProto__AttributeType type);
void rewrite_push(struct rewrite *r, Onnx__NodeProto *node, int origin);
/* A node of ai.onnx with one output, whose name is its own too, pushed. */
Onnx__NodeProto *rewrite_add(struct rewrite *r, const char *op, size_t n_in, char *const *in,
                             char *out);
/* Takes a ref on the tensor. */
enum odb_status rewrite_weight(struct rewrite *r, const struct odb_tensor *t, const char *name,
                               struct odb_error *err) ODB_MUST_USE;
/* Says of a name that it is what is declared of the value, in this element type. */
void rewrite_info(struct rewrite *r, int value, const char *name, enum odb_dtype dtype);
/* All that stays, and the bytes. infos: declarations of values that were not changed are added
 * where declared[value] does not say that they were. */
enum odb_status rewrite_finish(struct rewrite *r, const bool *declared,
                               const struct odb_convert_form *form, struct odb_buf *out,
                               struct odb_error *err) ODB_MUST_USE;

#endif
