/* SPDX-License-Identifier: MIT
 *
 * A part of a model, or the whole, as a model of its own.
 */
#ifndef ODB_MODEL_WRITE_WRITE_H
#define ODB_MODEL_WRITE_WRITE_H

#include "model/model.h"
#include "model/write/weights_place.h"

/* A value at the border of an extracted model. */
struct odb_port {
    int value;
    const struct odb_tensor *like; /* type and shape to declare; NULL: as the model declares */
    bool symbolic;                 /* declare the type but no fixed shape */
    bool constant;                 /* of an input: a weight of the cut, whose contents like is; a
                                      plain tensor then */
};

/* What to cut out of a model's main graph. */
struct odb_extract {
    const bool *nodes;             /* [n_nodes] marks; NULL: the ancestors of the outputs */
    const struct odb_port *inputs; /* in order; feeds that the nodes need must be among them */
    size_t n_inputs;
    const struct odb_port *outputs;
    size_t n_outputs;
    const struct odb_port *between; /* types of values that nodes of the cut make and the model
                                       declares nothing of; NULL: they stay undeclared */
    size_t n_between;
    enum odb_weights weights;
    const char *weights_file;           /* BESIDE: its name in external_data */
    struct odb_file_parts *weights_out; /* BESIDE: its bytes, which are the model's */
    int64_t ir_version;                 /* 0: the model's */
    const char *graph_name;             /* NULL: the model's */
    bool declared;     /* dimensions at the border as the model declares them, where what
                          the ports are like fits that; what it says nothing of has
                          fixed ones only in a model whose feeds all have */
    bool plain_debug;  /* nodes for which odb_node_is_debug() holds become Identity, in
                          bodies too: no other runtime knows them */
    bool record_nodes; /* say in the metadata which nodes of the model these are, as
                          ODB_META_NODES; odb_model_origin() reads it */
};

/* Appends the bytes of the extracted model to out: nodes in topological order, the initializers
 * they need, value_info among them, opset imports, functions, metadata. */
enum odb_status odb_model_extract(const struct odb_model *model, const struct odb_extract *what,
                                  struct odb_buf *out, struct odb_error *err) ODB_MUST_USE;

#endif
