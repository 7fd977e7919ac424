/* SPDX-License-Identifier: MIT
 *
 * Making a small model from nothing.
 *
 *     struct odb_builder *b = odb_build_new("tiny", 17);
 *     odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){1, 3});
 *     odb_build_weight(b, "w", tensor);
 *     odb_build_node(b, "MatMul", "m0", "x w", "y");
 *     odb_build_attr_int(b, "axis", 1);          (of the node added last)
 *     odb_build_output(b, "y");
 *     odb_build_write(b, path, err);  odb_build_free(b);
 */
#ifndef ODB_MODEL_WRITE_BUILD_H
#define ODB_MODEL_WRITE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "tensor/attr.h"
#include "tensor/tensor.h"

struct odb_builder;

struct odb_builder *odb_build_new(const char *graph_name, int64_t opset);
void odb_build_free(struct odb_builder *b);
void odb_build_ir_version(struct odb_builder *b, int64_t version); /* default 8 */
void odb_build_opset(struct odb_builder *b, const char *domain, int64_t version);
void odb_build_metadata(struct odb_builder *b, const char *key, const char *value);
/* A dimension of -1 becomes the symbol "N<axis>". */
void odb_build_input(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                     const int64_t *dims);
/* Name only: the type is inferred when the model is loaded. */
void odb_build_output(struct odb_builder *b, const char *name);
void odb_build_output_typed(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                            const int64_t *dims);
/* Type of a value in between. */
void odb_build_value_info(struct odb_builder *b, const char *name, enum odb_dtype dtype, int rank,
                          const int64_t *dims);
/* The declared type of an input or output becomes a sequence, optional or sparse tensor of what it
 * was. */
void odb_build_wrap(struct odb_builder *b, const char *name, enum odb_kind kind);
void odb_build_weight(struct odb_builder *b, const char *name, const struct odb_tensor *t);
/* One whose bytes are not written here: they lie at offset of a file beside the model. Of t only
 * type and shape count. */
void odb_build_weight_beside(struct odb_builder *b, const char *name, const struct odb_tensor *t,
                             const char *file, size_t offset);
void odb_build_sparse_weight(struct odb_builder *b, const char *name, const struct odb_tensor *t);
/* inputs and outputs: names separated by spaces; "-" is an omitted one. domain in op as
 * "com.microsoft::Gelu". */
void odb_build_node(struct odb_builder *b, const char *op, const char *name, const char *inputs,
                    const char *outputs);
/* What follows is the last node's. */
void odb_build_node_metadata(struct odb_builder *b, const char *key, const char *value);
void odb_build_attr_int(struct odb_builder *b, const char *name, int64_t v);
void odb_build_attr_ints(struct odb_builder *b, const char *name, size_t n, const int64_t *v);
void odb_build_attr_float(struct odb_builder *b, const char *name, float v);
void odb_build_attr_floats(struct odb_builder *b, const char *name, size_t n, const float *v);
void odb_build_attr_string(struct odb_builder *b, const char *name, const char *v);
/* Words separated by spaces. */
void odb_build_attr_strings(struct odb_builder *b, const char *name, const char *words);
/* A type: a tensor without shape, or a sequence of such. */
void odb_build_attr_type(struct odb_builder *b, const char *name, enum odb_dtype dtype,
                         bool sequence);
void odb_build_attr_tensor(struct odb_builder *b, const char *name, const struct odb_tensor *t);
/* A body: takes sub over and frees it. Its values may name the outer graph's. */
void odb_build_attr_graph(struct odb_builder *b, const char *name, struct odb_builder *sub);

/* The node added last calls that overload of a function; the function added last is it. */
void odb_build_overload(struct odb_builder *b, const char *overload);
void odb_build_function_overload(struct odb_builder *b, const char *overload);

/* In a function's body: the attribute has the value of the function's attribute ref. */
void odb_build_attr_ref(struct odb_builder *b, const char *name, enum odb_attr_type type,
                        const char *ref);
/* A function of the model: takes body over, whose nodes and opset imports count. inputs, outputs
 * and attrs are formal names separated by spaces. */
void odb_build_function(struct odb_builder *b, const char *domain, const char *name,
                        const char *inputs, const char *outputs, const char *attrs,
                        struct odb_builder *body);

void odb_build_bytes(const struct odb_builder *b, struct odb_buf *out);
/* external: name of a file beside path that takes the weights over 1 KiB; NULL: all inside. */
enum odb_status odb_build_write(const struct odb_builder *b, const char *path, const char *external,
                                struct odb_error *err) ODB_MUST_USE;

#endif
