/* SPDX-License-Identifier: MIT
 *
 * A model of one node, made of what is known of a call: the operator, its attributes, and tensors
 * that say what types it is fed and gives.
 */
#ifndef ODB_MODEL_WRITE_ONE_NODE_H
#define ODB_MODEL_WRITE_ONE_NODE_H

#include "model/model.h"

struct odb_one_node {
    const char *op, *domain;      /* borrowed, as all below; domain "": ai.onnx */
    int64_t opset;                /* of the domain */
    const struct odb_attr *attrs; /* [n_attrs] numbers, strings, and lists of them */
    size_t n_attrs;
    struct odb_tensor *const *in; /* [n_in] NULL: omitted */
    const char *const *in_names; /* [n_in] without blanks, each another; of what is omitted: NULL */
    size_t n_in;
    struct odb_tensor *const *out; /* [n_out] NULL: not had */
    size_t n_out;
};

/* ODB_UNSUPPORTED: one of them is no plain tensor. */
enum odb_status odb_model_of_one_node(struct odb_model **out, const struct odb_one_node *node,
                                      struct odb_error *err) ODB_MUST_USE;

#endif
