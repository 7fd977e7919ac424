/* SPDX-License-Identifier: MIT */
#include "executor/plugin/plugin_view.h"

#include <stdlib.h>
#include <string.h>

#define VIEW_ALIGN 64
#define VIEW_DEEPEST 32 /* containers within containers; more is garbage */

_Static_assert((int)ONNXDBG_TENSOR == ODB_TENSOR && (int)ONNXDBG_SEQUENCE == ODB_SEQUENCE &&
                   (int)ONNXDBG_OPTIONAL == ODB_OPTIONAL && (int)ONNXDBG_SPARSE == ODB_SPARSE &&
                   (int)ONNXDBG_MAP == ODB_MAP && (int)ONNXDBG_INT2 == ODB_I2 &&
                   (int)ONNXDBG_ATTRIBUTE_TYPE_PROTOS == ODB_ATTR_TYPE_PROTOS,
               "numbers are shown as they are");
_Static_assert(sizeof(struct onnxdbg_string) == sizeof(struct odb_str) &&
                   offsetof(struct onnxdbg_string, size) == offsetof(struct odb_str, len),
               "strings are shown as they are");

static void *view_alloc(struct plugin_view *view, size_t n, size_t size)
{
    void *block = odb_xcalloc(n, size);
    odb_push(&view->blocks, block);
    return block;
}

#define VIEW_NEW(view, type) ((type *)view_alloc((view), 1, sizeof(type)))
#define VIEW_NEW_N(view, type, n) ((type *)view_alloc((view), (n), sizeof(type)))

void odb_plugin_view_dispose(struct plugin_view *view)
{
    for (size_t i = 0; i < view->blocks.n; i++)
        free(view->blocks.items[i]);
    for (size_t i = 0; i < view->copies.n; i++)
        odb_tensor_unref(view->copies.items[i]);
    free(view->blocks.items);
    free(view->copies.items);
    *view = (struct plugin_view){0};
}

/* --- showing ---------------------------------------------------------------------------------- */

enum odb_status odb_plugin_view_data(struct plugin_view *view, const struct odb_tensor *t,
                                     const struct onnxdbg_data **out, struct odb_error *err)
{
    if (t->kind == ODB_TENSOR && (uintptr_t)t->data % VIEW_ALIGN != 0) {
        struct odb_tensor *straight;
        ODB_TRY(odb_tensor_clone(&straight, t, err));
        odb_push(&view->copies, straight);
        t = straight;
    }
    struct onnxdbg_data *data = VIEW_NEW(view, struct onnxdbg_data);
    const struct onnxdbg_data **items = VIEW_NEW_N(view, const struct onnxdbg_data *, t->n_items);
    for (size_t i = 0; i < t->n_items; i++)
        ODB_TRY(odb_plugin_view_data(view, t->items[i], &items[i], err));
    *data = (struct onnxdbg_data){.kind = (int32_t)t->kind,
                                  .dtype = (int32_t)t->dtype,
                                  .rank = t->rank,
                                  .dims = t->dims,
                                  .count = t->count,
                                  .size = t->bytes,
                                  .elements = t->data,
                                  .n_items = t->n_items,
                                  .items = items};
    *out = data;
    return ODB_OK;
}

/* The type that is declared, else that of the weight. */
struct onnxdbg_value *odb_plugin_view_value(struct plugin_view *view, const struct odb_value *value)
{
    struct onnxdbg_value *shown = VIEW_NEW(view, struct onnxdbg_value);
    const struct odb_type *type = &value->type;
    const struct odb_tensor *init = value->init;
    *shown = (struct onnxdbg_value){.name = value->name, .rank = -1, .outer = -1};
    if (type->known) {
        shown->kind = (int32_t)type->kind;
        shown->dtype = (int32_t)type->dtype;
        shown->rank = type->rank;
    } else if (init) {
        shown->kind = (int32_t)init->kind;
        shown->dtype = (int32_t)init->dtype;
        shown->rank = init->rank;
    }
    if (shown->rank < 0)
        return shown;
    int64_t *dims = VIEW_NEW_N(view, int64_t, (size_t)shown->rank);
    const char **symbols = VIEW_NEW_N(view, const char *, (size_t)shown->rank);
    for (int i = 0; i < shown->rank; i++) {
        dims[i] = type->known ? type->dims[i].value : init->dims[i];
        symbols[i] = type->known ? type->dims[i].param : NULL;
    }
    shown->dims = dims;
    shown->symbols = symbols;
    return shown;
}

static enum odb_status view_attribute(struct plugin_view *view, const struct odb_attr *attr,
                                      const struct onnxdbg_attribute **out, struct odb_error *err)
{
    struct onnxdbg_attribute *shown = VIEW_NEW(view, struct onnxdbg_attribute);
    bool tensors = attr->type == ODB_ATTR_TENSOR || attr->type == ODB_ATTR_TENSORS ||
                   attr->type == ODB_ATTR_SPARSE_TENSOR || attr->type == ODB_ATTR_SPARSE_TENSORS;
    bool graphs = attr->type == ODB_ATTR_GRAPH || attr->type == ODB_ATTR_GRAPHS;
    bool type = attr->type == ODB_ATTR_TYPE_PROTO;
    *shown = (struct onnxdbg_attribute){.name = attr->name,
                                        .type = (int32_t)attr->type,
                                        .f = attr->f,
                                        .i = type ? (int64_t)attr->dtype : attr->i,
                                        .s = {attr->s.data, attr->s.len},
                                        .n = attr->n,
                                        .ints = attr->ints,
                                        .strings = (const struct onnxdbg_string *)attr->strings};
    if (type && attr->text)
        shown->s = (struct onnxdbg_string){attr->text, strlen(attr->text)};
    if (attr->type == ODB_ATTR_FLOATS) {
        float *floats = VIEW_NEW_N(view, float, attr->n);
        memcpy(floats, attr->floats, attr->n * sizeof *floats);
        shown->floats = floats;
    }
    const struct onnxdbg_data **list =
        VIEW_NEW_N(view, const struct onnxdbg_data *, tensors ? attr->n : 0);
    for (size_t i = 0; tensors && i < attr->n; i++)
        ODB_TRY(odb_plugin_view_data(view, attr->tensors[i], &list[i], err));
    shown->tensors = list;
    const struct onnxdbg_graph **bodies =
        VIEW_NEW_N(view, const struct onnxdbg_graph *, graphs ? attr->n : 0);
    for (size_t i = 0; graphs && i < attr->n; i++)
        ODB_TRY(odb_plugin_view_graph(view, attr->graphs[i], &bodies[i], err));
    shown->graphs = bodies;
    *out = shown;
    return ODB_OK;
}

static enum odb_status view_node(struct plugin_view *view, const struct odb_node *node,
                                 const struct onnxdbg_node **out, struct odb_error *err)
{
    struct onnxdbg_node *shown = VIEW_NEW(view, struct onnxdbg_node);
    const struct onnxdbg_attribute **attributes =
        VIEW_NEW_N(view, const struct onnxdbg_attribute *, node->attrs.n);
    for (size_t i = 0; i < node->attrs.n; i++)
        ODB_TRY(view_attribute(view, &node->attrs.items[i], &attributes[i], err));
    *shown = (struct onnxdbg_node){.name = node->name,
                                   .op_type = node->op_type,
                                   .domain = node->domain,
                                   .opset = node->opset,
                                   .n_inputs = node->n_in,
                                   .n_outputs = node->n_out,
                                   .n_attributes = (int32_t)node->attrs.n,
                                   .inputs = node->in,
                                   .outputs = node->out,
                                   .attributes = attributes};
    *out = shown;
    return ODB_OK;
}

static enum odb_status view_values(struct plugin_view *view, const struct odb_graph *graph,
                                   const struct onnxdbg_value **values, struct odb_error *err)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        const struct odb_value *value = &graph->values[i];
        struct onnxdbg_value *shown = odb_plugin_view_value(view, value);
        const struct odb_value *outer =
            value->is_outer && graph->parent ? odb_graph_value(graph->parent, value->name) : NULL;
        if (outer)
            shown->outer = outer->index;
        if (value->init)
            ODB_TRY(odb_plugin_view_data(view, value->init, &shown->constant, err));
        values[i] = shown;
    }
    return ODB_OK;
}

enum odb_status odb_plugin_view_graph(struct plugin_view *view, const struct odb_graph *graph,
                                      const struct onnxdbg_graph **out, struct odb_error *err)
{
    struct onnxdbg_graph *shown = VIEW_NEW(view, struct onnxdbg_graph);
    const struct onnxdbg_value **values =
        VIEW_NEW_N(view, const struct onnxdbg_value *, graph->n_values);
    const struct onnxdbg_node **nodes =
        VIEW_NEW_N(view, const struct onnxdbg_node *, graph->n_nodes);
    int *inputs = VIEW_NEW_N(view, int, graph->n_inputs);
    ODB_TRY(view_values(view, graph, values, err));
    for (size_t i = 0; i < graph->n_nodes; i++)
        ODB_TRY(view_node(view, &graph->nodes[i], &nodes[i], err));
    *shown = (struct onnxdbg_graph){.name = graph->name,
                                    .n_nodes = graph->n_nodes,
                                    .n_values = graph->n_values,
                                    .n_inputs = odb_graph_feeds(graph, inputs),
                                    .n_outputs = graph->n_outputs,
                                    .nodes = nodes,
                                    .values = values,
                                    .inputs = inputs,
                                    .outputs = graph->outputs};
    *out = shown;
    return ODB_OK;
}

/* --- taking ----------------------------------------------------------------------------------- */

static enum odb_status view_take_items(struct odb_tensor **out, const struct onnxdbg_data *data,
                                       struct odb_storage *storage, int depth,
                                       struct odb_error *err);

static enum odb_status view_take(struct odb_tensor **out, const struct onnxdbg_data *data,
                                 struct odb_storage *storage, int depth, struct odb_error *err)
{
    bool tensor = data && data->kind == ONNXDBG_TENSOR;
    const char *wrong = !data                                          ? "nothing"
                        : data->kind < 0 || data->kind > ONNXDBG_MAP   ? "an unknown kind"
                        : depth > VIEW_DEEPEST                         ? "endless nesting"
                        : data->dtype < (tensor ? 1 : 0)               ? "no element type"
                        : data->dtype >= ODB_DTYPE_COUNT               ? "no element type"
                        : data->rank < 0 || data->rank > ODB_MAX_RANK  ? "an impossible rank"
                        : data->rank > 0 && !data->dims                ? "a rank without dims"
                        : tensor && data->size > 0 && !data->elements  ? "a size without elements"
                        : !tensor && data->n_items > 0 && !data->items ? "a number without items"
                        : data->kind == ONNXDBG_OPTIONAL && data->n_items > 1 ? "two values in one"
                        : data->kind >= ONNXDBG_SPARSE && data->n_items != 2 ? "a pair that is none"
                                                                             : NULL;
    if (wrong)
        return odb_fail(err, ODB_E_EXECUTOR, "what it gives has %s", wrong);
    if (!tensor)
        return view_take_items(out, data, storage, depth, err);
    struct odb_storage none = {.refs = 1}; /* for the checks, and the copy that follows */
    struct odb_tensor *borrowed;
    ODB_TRY(odb_tensor_view(&borrowed, (enum odb_dtype)data->dtype, data->rank, data->dims,
                            data->elements, data->size, storage ? storage : &none, err));
    if (storage) {
        *out = borrowed;
        return ODB_OK;
    }
    enum odb_status status = odb_tensor_clone(out, borrowed, err);
    odb_tensor_unref(borrowed);
    return status;
}

/* The dense shape of a sparse tensor. */
static enum odb_status view_take_shape(struct odb_tensor *t, const struct onnxdbg_data *data,
                                       struct odb_error *err)
{
    struct odb_tensor *shape;
    ODB_TRY(odb_tensor_new_shape(&shape, ODB_U8, data->rank, data->dims, err));
    t->rank = shape->rank;
    t->count = shape->count;
    memcpy(t->dims, shape->dims, sizeof shape->dims);
    odb_tensor_unref(shape);
    return ODB_OK;
}

static enum odb_status view_take_items(struct odb_tensor **out, const struct onnxdbg_data *data,
                                       struct odb_storage *storage, int depth,
                                       struct odb_error *err)
{
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, data->n_items + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < data->n_items; i++)
        ODB_TRY_OUT(view_take(&items[i], data->items[i], storage, depth + 1, err));
    ODB_TRY_OUT(
        odb_tensor_new_container(out, (enum odb_kind)data->kind, items, data->n_items, err));
    (*out)->dtype = (enum odb_dtype)data->dtype;
    if (data->kind == ONNXDBG_SPARSE)
        status = view_take_shape(*out, data, err);
    if (status != ODB_OK) {
        odb_tensor_unref(*out);
        *out = NULL;
    }
out:
    for (size_t i = 0; i < data->n_items; i++)
        odb_tensor_unref(items[i]);
    free(items);
    return status;
}

enum odb_status odb_plugin_take(struct odb_tensor **out, const struct onnxdbg_data *data,
                                struct odb_storage *storage, struct odb_error *err)
{
    *out = NULL;
    return view_take(out, data, storage, 0, err);
}
