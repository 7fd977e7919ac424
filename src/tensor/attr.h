/* SPDX-License-Identifier: MIT
 *
 * Attributes of a node, as kernels and the graph both see them. Names and values are borrowed
 * from the model.
 */
#ifndef ODB_TENSOR_ATTR_H
#define ODB_TENSOR_ATTR_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/tensor.h"

/* Numbers are those of AttributeProto.AttributeType. */
enum odb_attr_type {
    ODB_ATTR_UNDEFINED = 0,
    ODB_ATTR_FLOAT = 1,
    ODB_ATTR_INT = 2,
    ODB_ATTR_STRING = 3,
    ODB_ATTR_TENSOR = 4,
    ODB_ATTR_GRAPH = 5,
    ODB_ATTR_FLOATS = 6,
    ODB_ATTR_INTS = 7,
    ODB_ATTR_STRINGS = 8,
    ODB_ATTR_TENSORS = 9,
    ODB_ATTR_GRAPHS = 10,
    ODB_ATTR_SPARSE_TENSOR = 11,
    ODB_ATTR_SPARSE_TENSORS = 12,
    ODB_ATTR_TYPE_PROTO = 13,
    ODB_ATTR_TYPE_PROTOS = 14
};

struct odb_graph; /* model/model.h; kernels never look inside */

struct odb_attr {
    const char *name;     /* borrowed: model */
    const char *ref_name; /* borrowed; in function bodies: the function's attribute, else NULL */
    enum odb_attr_type type;
    int64_t i;
    float f;
    struct odb_str s;              /* borrowed */
    size_t n;                      /* items in the list that type names */
    const int64_t *ints;           /* borrowed */
    const odb_f32 *floats;         /* borrowed */
    const struct odb_str *strings; /* borrowed */
    struct odb_tensor **tensors;   /* borrowed; TENSOR and SPARSE_TENSOR: n = 1 */
    struct odb_graph **graphs;     /* borrowed; GRAPH: n = 1 */
    const char *text;              /* TYPE_PROTO: its ONNX text; borrowed */
    enum odb_dtype dtype;          /* TYPE_PROTO: of the innermost tensor */
};

/* Array of a node's attributes; lookup is by name, linear (there are few). */
struct odb_attrs {
    const struct odb_attr *items; /* borrowed */
    size_t n;
};

/* NULL when absent. */
const struct odb_attr *odb_attrs_find(const struct odb_attrs *attrs, const char *name);

#endif
