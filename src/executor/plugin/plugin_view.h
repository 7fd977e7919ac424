/* SPDX-License-Identifier: MIT
 *
 * Tensors and graphs in the words of the public ABI (onnxdbg/executor.h), for plugin_executor.c.
 * Nothing is copied but what lies crooked: the ABI promises aligned elements, files do not.
 */
#ifndef ODB_EXECUTOR_PLUGIN_PLUGIN_VIEW_H
#define ODB_EXECUTOR_PLUGIN_PLUGIN_VIEW_H

#include "base/mem.h"
#include "model/model.h"
#include "onnxdbg/executor.h"

/* What the structs shown are made of. The model and the tensors shown must outlive it. */
struct plugin_view {
    ODB_VEC(void *) blocks;              /* owned */
    ODB_VEC(struct odb_tensor *) copies; /* owned refs */
};

void odb_plugin_view_dispose(struct plugin_view *view); /* leaves it empty */

enum odb_status odb_plugin_view_data(struct plugin_view *view, const struct odb_tensor *t,
                                     const struct onnxdbg_data **out,
                                     struct odb_error *err) ODB_MUST_USE;
/* Name and type; a weight's data is not shown. */
struct onnxdbg_value *odb_plugin_view_value(struct plugin_view *view,
                                            const struct odb_value *value);
/* The graph with its bodies, weights and all. Inputs that have a weight are left out. */
enum odb_status odb_plugin_view_graph(struct plugin_view *view, const struct odb_graph *graph,
                                      const struct onnxdbg_graph **out,
                                      struct odb_error *err) ODB_MUST_USE;
/* The other way round: what a library gives. Elements are copied, or, with storage, borrowed from
 * it (a ref is taken). ODB_E_EXECUTOR where the structs make no sense. */
enum odb_status odb_plugin_take(struct odb_tensor **out, const struct onnxdbg_data *data,
                                struct odb_storage *storage, struct odb_error *err) ODB_MUST_USE;

#endif
