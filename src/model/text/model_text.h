/* SPDX-License-Identifier: MIT
 *
 * Nodes and models in ONNX's own textual syntax.
 */
#ifndef ODB_MODEL_TEXT_MODEL_TEXT_H
#define ODB_MODEL_TEXT_MODEL_TEXT_H

#include "model/model.h"

/* ONNX's own textual syntax for one node, or the whole model, for people: long lists and strings
 * are shortened, control characters shown. */
void odb_node_text(const struct odb_graph *graph, const struct odb_node *node, struct odb_buf *out);
void odb_model_text(const struct odb_model *model, struct odb_buf *out);
/* The same so that ONNX's own parser reads it back: nothing shortened, texts as they are but
 * for what acts on a terminal (escapes, which are read back as such), floats exact, half types as
 * their bits. Tensors of more than so many elements are named by their place in the model's file,
 * or in one beside it, as external data; those that have no such place, and all with SIZE_MAX, are
 * written out. Comments at the top count what the syntax has no words for. nodes: marks of those of
 * the main graph that make a graph of their own; NULL: all of the model. progress (NULL: none)
 * hears of elements that are written out. ODB_CANCELLED, by progress, is the only error, and
 * nothing is appended then. */
enum odb_status odb_model_text_exact(const struct odb_model *model, const bool *nodes,
                                     size_t elements, const struct odb_progress *progress,
                                     struct odb_buf *out, struct odb_error *err) ODB_MUST_USE;
/* "ints", as the syntax names the type of an attribute. */
const char *odb_attr_type_text(enum odb_attr_type type);
/* One attribute's value: "[1, 1]", "1e-05", "\"SAME_UPPER\"", "{...}" for tensors. */
void odb_attr_text(const struct odb_attr *attr, struct odb_buf *out);

#endif
