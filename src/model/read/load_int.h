/* SPDX-License-Identifier: MIT
 *
 * A graph while it is being read: what load.c, values.c, attrs.c and order.c share.
 */
#ifndef ODB_MODEL_READ_LOAD_INT_H
#define ODB_MODEL_READ_LOAD_INT_H

#include "base/map.h"
#include "base/mem.h"
#include "model/arena.h"
#include "model/model_int.h"

/* The messages behind one value. */
struct value_source {
    const Onnx__TensorProto *tensor;
    const Onnx__SparseTensorProto *sparse;
    struct odb_tensor *packed; /* sparse as a tensor; borrowed: the model */
    const Onnx__ValueInfoProto *info;
};

/* The opsets that a graph's operators are taken from: the model's, or a function's own. */
struct opset_scope {
    const struct odb_opset *items;
    size_t n;
};

struct graph_load {
    struct odb_model *model;
    struct graph_load *outer; /* of a body; NULL */
    const struct opset_scope *opsets;
    const Onnx__GraphProto *proto;
    struct odb_graph *graph;
    ODB_VEC(struct odb_value) values;     /* grows by captured values until all nodes are read */
    ODB_VEC(struct value_source) sources; /* beside values */
    ODB_VEC(int) captured; /* values of this graph that bodies of the node now read have used */
};

/* Strings of messages are NULL when absent. */
static inline const char *text_of(const char *s)
{
    return s ? s : "";
}

struct odb_metadata odb_model__metadata(struct model_arena *arena,
                                        Onnx__StringStringEntryProto *const *entries, size_t n);

/* Domain "ai.onnx" is called "". */
const char *odb_model__domain(const char *domain);
int odb_model__opset_of(const struct opset_scope *opsets, const char *domain);
/* "node conv1 (Conv)", "node #12 (Conv)": for errors, before there is an odb_node. */
const char *odb_model__node_place(const Onnx__NodeProto *node, size_t index, char *buf,
                                  size_t size);

/* Reads a graph, its bodies included. Borrowed: model, also when it fails. */
enum odb_status odb_model__graph(struct odb_graph **out, struct odb_model *model,
                                 const Onnx__GraphProto *proto, struct graph_load *outer,
                                 const struct opset_scope *opsets,
                                 struct odb_error *err) ODB_MUST_USE;
/* Attributes of a node or a function. load: the graph that bodies may capture from; NULL: none. */
enum odb_status odb_model__attrs(struct odb_attrs *out, struct odb_model *model,
                                 Onnx__AttributeProto *const *protos, size_t n,
                                 struct graph_load *load, const struct opset_scope *opsets,
                                 struct odb_error *err) ODB_MUST_USE;
/* type may be NULL. */
void odb_model__type(struct odb_type *out, const Onnx__TypeProto *type, struct model_arena *arena);
/* Puts graph->nodes, which stand in the order of the file, into topological order, and fills in
 * which node consumes which value. */
enum odb_status odb_model__order(struct odb_graph *graph, struct model_arena *arena,
                                 struct odb_error *err) ODB_MUST_USE;

/* A tensor of a message, kept by the model. */
enum odb_status odb_model__keep_tensor(struct odb_tensor **out, struct odb_model *model,
                                       const Onnx__TensorProto *dense,
                                       const Onnx__SparseTensorProto *sparse,
                                       struct odb_error *err) ODB_MUST_USE;

#endif
