/* SPDX-License-Identifier: MIT */
#include "model/write/edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "model/write/pack.h"
#include "model/write/write.h"

struct edit {
    const struct odb_model *model;
    const struct odb_edit *what;
    struct model_arena *arena; /* owned: the messages, which are ours to change */
    Onnx__ModelProto *proto;
    struct odb_map *names, *dims; /* owned: old names to numbers */
    size_t n_names, n_dims, n_nodes;
};

size_t odb_model_attributes(const struct odb_model *model)
{
    size_t n = 0;
    for (size_t i = 0; i < model->graph->n_nodes; i++)
        n += model->priv->nodes[i]->n_attribute;
    return n;
}

/* --- nodes and attributes --------------------------------------------------------------------- */

static void edit_nodes(struct edit *e)
{
    Onnx__GraphProto *graph = e->proto->graph;
    size_t left = 0, at = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        Onnx__NodeProto *node = graph->node[i];
        size_t kept = 0;
        for (size_t a = 0; a < node->n_attribute; a++, at++)
            if (!e->what->attributes || e->what->attributes[at])
                node->attribute[kept++] = node->attribute[a];
        node->n_attribute = kept;
        if (!e->what->drop || !e->what->drop[i])
            graph->node[left++] = node;
    }
    graph->n_node = left;
}

static bool edit_is_origin(const Onnx__StringStringEntryProto *entry)
{
    return entry->key && !strcmp(entry->key, ODB_META_NODES);
}

/* Which nodes of the original are left: the numbers of those that stay, in the same order. */
static void edit_origin(struct edit *e)
{
    const struct odb_graph *graph = e->model->graph;
    int *origin = odb_new_n(int, graph->n_nodes + 1);
    struct odb_buf text = ODB_BUF_INIT;
    odb_model_origin(e->model, origin);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (!e->what->drop || !e->what->drop[n])
            odb_buf_printf(&text, "%s%d", text.len ? " " : "", origin[n]);
    for (size_t i = 0; i < e->proto->n_metadata_props; i++)
        if (edit_is_origin(e->proto->metadata_props[i]))
            e->proto->metadata_props[i]->value =
                odb_model__arena_printf(e->arena, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
    free(origin);
}

/* --- weights and inputs ----------------------------------------------------------------------- */

static struct odb_tensor *edit_of(const struct edit *e, struct odb_tensor *const *list,
                                  const char *name)
{
    const struct odb_value *value = list && name ? odb_graph_value(e->model->graph, name) : NULL;
    return value ? list[value->index] : NULL;
}

static enum odb_status edit_weights(struct edit *e, struct odb_error *err)
{
    const struct odb_graph *graph = e->model->graph;
    Onnx__GraphProto *to = e->proto->graph;
    size_t n_inputs = 0, n = 0;
    if (!e->what->weights)
        return ODB_OK;
    Onnx__TensorProto **list =
        arena_new_n(e->arena, Onnx__TensorProto *, to->n_initializer + graph->n_values);
    for (size_t i = 0; i < to->n_initializer; i++)
        if (!edit_of(e, e->what->weights, to->initializer[i]->name))
            list[n++] = to->initializer[i];
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_tensor *t = e->what->weights[v];
        if (!t)
            continue;
        if (t->kind != ODB_TENSOR || !t->data)
            return odb_fail(err, ODB_UNSUPPORTED, "'%s' cannot be an initializer",
                            graph->values[v].name);
        list[n++] = odb_model__tensor_message(t, graph->values[v].name, e->arena);
    }
    to->initializer = list;
    to->n_initializer = n;
    for (size_t i = 0; i < to->n_input; i++)
        if (!edit_of(e, e->what->weights, to->input[i]->name))
            to->input[n_inputs++] = to->input[i];
    to->n_input = n_inputs;
    return ODB_OK;
}

static const Onnx__TensorShapeProto *edit_shape(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto *type = info->type;
    return type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
               ? type->tensor_type->shape
               : NULL;
}

/* Whether all dimensions of that name have one size. */
static bool edit_agrees(const struct edit *e, const char *name, int64_t size)
{
    const Onnx__GraphProto *graph = e->proto->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        const struct odb_tensor *t = edit_of(e, e->what->inputs, graph->input[i]->name);
        const Onnx__TensorShapeProto *shape = edit_shape(graph->input[i]);
        for (size_t d = 0; t && shape && d < shape->n_dim && (int)d < t->rank; d++)
            if (shape->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                !strcmp(shape->dim[d]->dim_param, name) && t->dims[d] != size)
                return false;
    }
    return true;
}

/* The type of t; what was declared without a number stays so. */
static Onnx__TypeProto *edit_type(const struct edit *e, const Onnx__ValueInfoProto *info,
                                  const struct odb_tensor *t)
{
    const Onnx__TensorShapeProto *was = edit_shape(info);
    Onnx__TypeProto *type = odb_model__tensor_type(t->dtype, t->rank, t->dims, "", e->arena);
    for (size_t d = 0; was && was->n_dim == (size_t)t->rank && d < was->n_dim; d++) {
        Onnx__TensorShapeProto__Dimension *dim = was->dim[d];
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                ? edit_agrees(e, dim->dim_param, t->dims[d])
                : dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET)
            type->tensor_type->shape->dim[d] = dim;
    }
    return type;
}

static void edit_inputs(struct edit *e)
{
    Onnx__GraphProto *to = e->proto->graph;
    if (!e->what->inputs)
        return;
    Onnx__TypeProto **types = arena_new_n(e->arena, Onnx__TypeProto *, to->n_input);
    for (size_t i = 0; i < to->n_input; i++) {
        const struct odb_tensor *t = edit_of(e, e->what->inputs, to->input[i]->name);
        if (t && t->kind == ODB_TENSOR)
            types[i] = edit_type(e, to->input[i], t);
    }
    for (size_t i = 0; i < to->n_input; i++)
        to->input[i]->type = types[i] ? types[i] : to->input[i]->type;
    to->n_value_info = 0;
    for (size_t i = 0; i < to->n_output; i++)
        to->output[i]->type = NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

static void edit_name(struct edit *e, struct odb_map *map, size_t *n, const char *prefix,
                      char **name)
{
    size_t number;
    if (!*name || !**name)
        return;
    if (!odb_map_get(map, *name, &number)) {
        number = (*n)++;
        odb_map_add(map, *name, number);
    }
    *name = odb_model__arena_printf(e->arena, "%s%zu", prefix, number);
}

static void edit_value_name(struct edit *e, char **name)
{
    edit_name(e, e->names, &e->n_names, "v", name);
}

static void edit_type_names(struct edit *e, Onnx__TypeProto *type)
{
    Onnx__TensorShapeProto *shape = NULL;
    if (!type)
        return;
    type->denotation = NULL;
    switch (type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        shape = type->tensor_type->shape;
        break;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        shape = type->sparse_tensor_type->shape;
        break;
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        edit_type_names(e, type->sequence_type->elem_type);
        break;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        edit_type_names(e, type->optional_type->elem_type);
        break;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        edit_type_names(e, type->map_type->value_type);
        break;
    default:
        break;
    }
    for (size_t i = 0; shape && i < shape->n_dim; i++) {
        Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        dim->denotation = NULL;
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
            edit_name(e, e->dims, &e->n_dims, "d", &dim->dim_param);
    }
}

static void edit_info_names(struct edit *e, Onnx__ValueInfoProto **infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        edit_value_name(e, &infos[i]->name);
        infos[i]->doc_string = NULL;
        infos[i]->n_metadata_props = 0;
        edit_type_names(e, infos[i]->type);
    }
}

static void edit_tensor_names(struct edit *e, Onnx__TensorProto *t, bool named)
{
    if (!t)
        return;
    if (named)
        edit_value_name(e, &t->name);
    else
        t->name = NULL;
    t->doc_string = NULL;
    t->n_metadata_props = 0;
}

static void edit_graph_names(struct edit *e, Onnx__GraphProto *graph);

static void edit_node_names(struct edit *e, Onnx__NodeProto **nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Onnx__NodeProto *node = nodes[i];
        for (size_t k = 0; k < node->n_input; k++)
            edit_value_name(e, &node->input[k]);
        for (size_t k = 0; k < node->n_output; k++)
            edit_value_name(e, &node->output[k]);
        node->name = odb_model__arena_printf(e->arena, "n%zu", e->n_nodes++);
        node->doc_string = NULL;
        node->n_metadata_props = node->n_device_configurations = 0;
        for (size_t a = 0; a < node->n_attribute; a++) {
            Onnx__AttributeProto *attr = node->attribute[a];
            attr->doc_string = NULL;
            edit_tensor_names(e, attr->t, false);
            for (size_t k = 0; k < attr->n_tensors; k++)
                edit_tensor_names(e, attr->tensors[k], false);
            edit_type_names(e, attr->tp);
            if (attr->g)
                edit_graph_names(e, attr->g);
            for (size_t k = 0; k < attr->n_graphs; k++)
                edit_graph_names(e, attr->graphs[k]);
        }
    }
}

/* A name means the same everywhere, bodies included, so one numbering does for all. */
static void edit_graph_names(struct edit *e, Onnx__GraphProto *graph)
{
    graph->name = odb_model__arena_printf(e->arena, "graph");
    graph->doc_string = NULL;
    graph->n_metadata_props = graph->n_quantization_annotation = 0;
    edit_info_names(e, graph->input, graph->n_input);
    edit_info_names(e, graph->output, graph->n_output);
    edit_info_names(e, graph->value_info, graph->n_value_info);
    for (size_t i = 0; i < graph->n_initializer; i++)
        edit_tensor_names(e, graph->initializer[i], true);
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        edit_tensor_names(e, graph->sparse_initializer[i]->values, true);
    edit_node_names(e, graph->node, graph->n_node);
}

static void edit_model_names(struct edit *e)
{
    Onnx__ModelProto *model = e->proto;
    size_t n = 0;
    e->names = odb_map_new();
    e->dims = odb_map_new();
    edit_graph_names(e, model->graph);
    model->domain = model->doc_string = NULL;
    model->has_model_version = false;
    model->n_training_info = model->n_configuration = 0;
    for (size_t i = 0; i < model->n_metadata_props; i++)
        if (edit_is_origin(model->metadata_props[i]))
            model->metadata_props[n++] = model->metadata_props[i];
    model->n_metadata_props = n;
    for (size_t f = 0; f < model->n_functions; f++) {
        Onnx__FunctionProto *function = model->functions[f];
        function->doc_string = NULL;
        function->n_metadata_props = 0;
        for (size_t i = 0; i < function->n_input; i++)
            edit_value_name(e, &function->input[i]);
        for (size_t i = 0; i < function->n_output; i++)
            edit_value_name(e, &function->output[i]);
        edit_info_names(e, function->value_info, function->n_value_info);
        edit_node_names(e, function->node, function->n_node);
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status edit_open(struct edit *e, struct odb_error *err)
{
    const struct model_int *priv = e->model->priv;
    e->arena = odb_model__arena_new();
    e->proto = onnx__model_proto__unpack(odb_model__arena_allocator(e->arena), priv->file_size,
                                         priv->file_data);
    if (!e->proto || !e->proto->graph || e->proto->graph->n_node != e->model->graph->n_nodes)
        return odb_fail(err, ODB_E_MODEL, "the model cannot be taken apart");
    return ODB_OK;
}

enum odb_status odb_model_edit(const struct odb_model *model, const struct odb_edit *edit,
                               struct odb_buf *out, struct odb_error *err)
{
    struct edit e = {.model = model, .what = edit};
    enum odb_status status;
    ODB_TRY_OUT(edit_open(&e, err));
    edit_origin(&e);
    edit_nodes(&e);
    ODB_TRY_OUT(edit_weights(&e, err));
    edit_inputs(&e);
    if (edit->neutral)
        edit_model_names(&e);
    ODB_TRY_OUT(odb_model__pack(&e.proto->base, out, err));
out:
    odb_model__arena_free(e.arena);
    odb_map_free(e.names);
    odb_map_free(e.dims);
    return status;
}
