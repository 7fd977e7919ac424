/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Type and shape of every value of the main graph: as the model declares them, or as they are when
 * the reference runs it. Nothing is inferred: where the model says nothing, only a run tells.
 */
#ifndef ODB_REFERENCE_SHAPES_H
#define ODB_REFERENCE_SHAPES_H

#include "run/feeds.h"
#include "run/hooks.h"

/* One value. What is no tensor (a sequence, an optional, a map) has no shape. */
struct odb_shape {
    bool known;
    enum odb_dtype dtype;
    int rank;
    int64_t dims[ODB_MAX_RANK];
};

struct odb_shapes {
    struct odb_shape *values; /* owned; [n_values] */
    char **why; /* owned; [n_nodes] why the reference could not run it, or NULL; measured only */
    size_t n_nodes;
    bool measured;
};

/* Weights, and declarations whose dimensions are all fixed. */
void odb_shapes_declared(struct odb_shapes *out, const struct odb_model *model);
/* As the reference makes them of these inputs; it drops what no node reads any more. see is shown
 * every value that a node makes, before that; it may be NULL. */
enum odb_status
odb_shapes_measure(struct odb_shapes *out, const struct odb_model *model,
                   const struct odb_feeds *feeds,
                   void (*see)(void *payload, int value, const struct odb_tensor *t), void *payload,
                   const struct odb_search_hooks *hooks, struct odb_error *err) ODB_MUST_USE;
void odb_shapes_dispose(struct odb_shapes *shapes);

void odb_shape_of(struct odb_shape *out, const struct odb_tensor *t);
/* Product of the dimensions. */
uint64_t odb_shape_count(const struct odb_shape *shape);
/* Bytes of that many elements; 0 where they have no fixed size. */
uint64_t odb_shape_bytes(const struct odb_shape *shape);
/* "float[1, 3]"; "" where it is not known. A scalar is "float", as ONNX's text has it, or, where it
 * is shown to people, "float[]". Returns buf. */
const char *odb_shape_put(const struct odb_shape *shape, bool shown, char *buf, size_t size);

#endif
