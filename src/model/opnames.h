/* SPDX-License-Identifier: MIT
 *
 * Which operators there are: each pair of domain and name has a number, in the order in which they
 * were first asked for.
 */
#ifndef ODB_MODEL_OPNAMES_H
#define ODB_MODEL_OPNAMES_H

#include "model/model.h"

struct odb_opname {
    const char *domain, *op_type; /* borrowed: the node that was asked for first */
};

struct odb_opnames {
    ODB_VEC(struct odb_opname) items;
    struct odb_map *numbers; /* owned */
};

/* The number of a node's operator; a new one where no node had it yet. */
size_t odb_opnames_number(struct odb_opnames *names, const struct odb_node *node);
void odb_opnames_dispose(struct odb_opnames *names);
/* "com.microsoft::Gelu"; "Conv" for what is ONNX's own. As the file has it, not escaped. */
void odb_opname_put(const struct odb_opname *name, struct odb_buf *out);

#endif
