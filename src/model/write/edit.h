/* SPDX-License-Identifier: MIT
 *
 * A model with some things changed: what minimising tries one after the other. Where write.c cuts
 * without a copy, this takes a small model apart and puts it together again.
 */
#ifndef ODB_MODEL_WRITE_EDIT_H
#define ODB_MODEL_WRITE_EDIT_H

#include "model/model.h"

/* All pointers are borrowed, and may be NULL: nothing of the sort. */
struct odb_edit {
    struct odb_tensor *const *weights; /* [n_values] named inputs, weights, or what a dropped node
                                          makes: become initializers with these contents; NULL
                                          entries stay */
    struct odb_tensor *const *inputs;  /* [n_values] of this type and shape from now on, but for
                                          dimensions that are open; shapes declared behind them are
                                          forgotten */
    const bool *drop;                  /* [n_nodes] nodes that go */
    const bool *attributes;            /* which stay: of node 0 in order, of node 1, and so on */
    bool neutral; /* values, nodes, dimensions and graphs get names without meaning; documentation,
                     metadata (but ODB_META_NODES), annotations and devices go. Functions and
                     operators keep their names. */
};

/* How many attributes there are for odb_edit.attributes. */
size_t odb_model_attributes(const struct odb_model *model);

/* Appends the bytes of the edited model. The model has its weights inside, as one that was
 * extracted with ODB_WEIGHTS_INLINE. Order and number of nodes, inputs and outputs stay but for
 * those that go. ODB_UNSUPPORTED: a content is no plain tensor. */
enum odb_status odb_model_edit(const struct odb_model *model, const struct odb_edit *edit,
                               struct odb_buf *out, struct odb_error *err) ODB_MUST_USE;

#endif
