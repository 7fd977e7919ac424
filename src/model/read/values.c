/* SPDX-License-Identifier: MIT
 *
 * GraphProto to struct odb_graph: names become indices.
 *
 * All values of a graph are declared before any node's inputs are looked up, so the order of the
 * nodes in the file does not matter here (order.c sees to it), and a body finds every name of the
 * graphs around it. A name that a body does not make itself is captured: it becomes a value of the
 * body, marked is_outer, and the same in every graph between, each of whose nodes on the way notes
 * what its bodies use.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/core/facts.h"
#include "model/read/load_int.h"

/* --- names to values -------------------------------------------------------------------------- */

/* A value of the name, or ODB_NO_VALUE. */
static int load_find(const struct graph_load *load, const char *name)
{
    size_t index;
    return odb_map_get(load->graph->by_name, name, &index) ? (int)index : ODB_NO_VALUE;
}

/* The value of the name, which is made where there is none. */
static int load_enter(struct graph_load *load, const char *name, bool *added)
{
    int index = (int)odb_map_enter(load->graph->by_name, name, load->values.n, added);
    if (!*added)
        return index;
    odb_push(&load->values,
             (struct odb_value){.name = name, .index = index, .producer = ODB_NO_NODE});
    odb_push(&load->sources, (struct value_source){.tensor = NULL});
    return index;
}

/* A value of this graph or, through captures, of one around it; ODB_NO_VALUE: of none. */
static int load_resolve(struct graph_load *load, const char *name)
{
    bool added;
    int index = load_find(load, name);
    if (index != ODB_NO_VALUE || !load->outer)
        return index;
    int outer = load_resolve(load->outer, name);
    if (outer == ODB_NO_VALUE)
        return ODB_NO_VALUE;
    odb_push(&load->outer->captured, outer);
    index = load_enter(load, name, &added);
    load->values.items[index].is_outer = true;
    load->values.items[index].type = load->outer->values.items[outer].type;
    return index;
}

/* --- declaring -------------------------------------------------------------------------------- */

static void load_type(struct graph_load *load, int index, const Onnx__ValueInfoProto *info)
{
    struct odb_value *value = &load->values.items[index];
    if (value->type.known || !info->type)
        return;
    load->sources.items[index].info = info;
    odb_model__type(&value->type, info->type, load->model->priv->arena);
}

static enum odb_status load_inputs(struct graph_load *load, struct odb_error *err)
{
    const Onnx__GraphProto *proto = load->proto;
    struct odb_graph *graph = load->graph;
    graph->n_inputs = proto->n_input;
    graph->inputs = arena_new_n(load->model->priv->arena, int, proto->n_input);
    for (size_t i = 0; i < proto->n_input; i++) {
        const char *name = text_of(proto->input[i]->name);
        bool added;
        if (!*name)
            return odb_fail(err, ODB_E_MODEL, "graph input %zu has no name", i);
        int index = graph->inputs[i] = load_enter(load, name, &added);
        if (!added)
            return odb_fail(err, ODB_E_MODEL, "two graph inputs are called '%s'", name);
        load->values.items[index].is_input = true;
        load_type(load, index, proto->input[i]);
    }
    return ODB_OK;
}

/* Of several initializers of one name the last counts, as in ONNX Runtime. One that is stored
 * sparse is dense to all that read it, unless an input of that name is declared sparse. */
static enum odb_status load_init(struct graph_load *load, const char *name,
                                 const Onnx__TensorProto *dense,
                                 const Onnx__SparseTensorProto *sparse, struct odb_error *err)
{
    if (!*name)
        return ODB_OK; /* nothing can refer to it */
    struct odb_tensor *tensor, *packed = NULL;
    ODB_TRY(odb_model__keep_tensor(&tensor, load->model, dense, sparse, err));
    bool added;
    int index = load_enter(load, name, &added);
    struct odb_value *value = &load->values.items[index];
    if (!dense && !(value->type.known && value->type.kind == ODB_SPARSE)) {
        packed = tensor;
        if (odb_tensor_densify(&tensor, packed, err) != ODB_OK)
            return odb_error_at(err, "sparse tensor '%s'", name);
        odb_push(&load->model->priv->tensors, tensor);
    }
    value->init = tensor;
    value->init_is_sparse = packed != NULL;
    value->init_is_external =
        dense && dense->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    load->sources.items[index].packed = packed ? packed : tensor;
    load->sources.items[index].tensor = dense;
    load->sources.items[index].sparse = sparse;
    return ODB_OK;
}

static enum odb_status load_inits(struct graph_load *load, struct odb_error *err)
{
    const Onnx__GraphProto *proto = load->proto;
    for (size_t i = 0; i < proto->n_initializer; i++)
        ODB_TRY(load_init(load, text_of(proto->initializer[i]->name), proto->initializer[i], NULL,
                          err));
    for (size_t i = 0; i < proto->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *sparse = proto->sparse_initializer[i];
        ODB_TRY(load_init(load, text_of(sparse->values ? sparse->values->name : NULL), NULL, sparse,
                          err));
    }
    return ODB_OK;
}

/* The name is taken: says by what. */
static enum odb_status load_twice(const struct graph_load *load, int index, size_t node,
                                  struct odb_error *err)
{
    const struct odb_value *value = &load->values.items[index];
    char place[160], other[160];
    odb_model__node_place(load->proto->node[node], node, place, sizeof place);
    if (value->producer == ODB_NO_NODE)
        return odb_fail(err, ODB_E_MODEL, "%s makes '%s', which is also %s", place, value->name,
                        value->is_input ? "a graph input" : "an initializer");
    odb_model__node_place(load->proto->node[value->producer], (size_t)value->producer, other,
                          sizeof other);
    return odb_fail(err, ODB_E_MODEL, "value '%s' is made twice: by %s and by %s", value->name,
                    other, place);
}

/* Nodes get their messages' place and their outputs. */
static enum odb_status load_outputs_of_nodes(struct graph_load *load, struct odb_error *err)
{
    struct model_arena *arena = load->model->priv->arena;
    struct odb_graph *graph = load->graph;
    graph->n_nodes = load->proto->n_node;
    graph->nodes = arena_new_n(arena, struct odb_node, graph->n_nodes);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const Onnx__NodeProto *proto = load->proto->node[n];
        struct odb_node *node = &graph->nodes[n];
        node->index = node->file_index = (int)n;
        node->n_out = (int)proto->n_output;
        node->out = arena_new_n(arena, int, proto->n_output);
        for (int k = 0; k < node->n_out; k++) {
            const char *name = proto->output[k];
            node->out[k] = ODB_NO_VALUE;
            if (!*name)
                continue;
            bool added;
            int index = load_enter(load, name, &added);
            if (!added)
                return load_twice(load, index, n, err);
            node->out[k] = index;
            load->values.items[index].producer = (int)n;
            load->values.items[index].slot = k;
        }
    }
    return ODB_OK;
}

/* Types first from where they must be (outputs), then from where they may be. */
static void load_types(struct graph_load *load)
{
    const Onnx__GraphProto *proto = load->proto;
    for (size_t i = 0; i < proto->n_output + proto->n_value_info; i++) {
        const Onnx__ValueInfoProto *info =
            i < proto->n_output ? proto->output[i] : proto->value_info[i - proto->n_output];
        int index = load_find(load, text_of(info->name));
        if (index != ODB_NO_VALUE)
            load_type(load, index, info);
    }
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int load_compare_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* What the node's bodies used, each value once. */
static void load_captured(struct graph_load *load, struct odb_node *node)
{
    int *list = load->captured.items;
    size_t n = 0;
    if (load->captured.n)
        qsort(list, load->captured.n, sizeof *list, load_compare_int);
    for (size_t i = 0; i < load->captured.n; i++)
        if (!n || list[n - 1] != list[i])
            list[n++] = list[i];
    node->n_captured = n;
    node->captured = odb_model__arena_dup(load->model->priv->arena, list, n, sizeof *list);
    load->captured.n = 0;
}

static const struct odb_function *load_function(const struct odb_model *model,
                                                const struct odb_node *node)
{
    if (!model->n_functions)
        return NULL;
    size_t index;
    char *key = odb_xasprintf("%s::%s:%s", node->domain, node->op_type, node->overload);
    bool found = odb_map_get(model->priv->functions, key, &index);
    free(key);
    return found ? &model->functions[index] : NULL;
}

/* An attribute that names a value (of a Gradient) needs all that this is computed from, as a body
 * needs what it uses. */
static void load_named(struct graph_load *load, const struct odb_node *node)
{
    const char *name = node->attrs.n ? odb_facts_of(node->domain, node->op_type)->reads : NULL;
    const struct odb_attr *attr = name ? odb_attrs_find(&node->attrs, name) : NULL;
    int value =
        attr && attr->type == ODB_ATTR_STRING ? load_find(load, attr->s.data) : ODB_NO_VALUE;
    if (value != ODB_NO_VALUE)
        odb_push(&load->captured, value);
}

/* An exporter's fallback for what ONNX lacks: the attribute says which of PyTorch's operators it
 * is. */
static void load_aten(struct graph_load *load, struct odb_node *node)
{
    const struct odb_attr *op =
        strcmp(node->op_type, "ATen") == 0 ? odb_attrs_find(&node->attrs, "operator") : NULL;
    if (!op || op->type != ODB_ATTR_STRING || !op->s.len)
        return;
    char *name = arena_new_n(load->model->priv->arena, char, op->s.len + 1);
    memcpy(name, op->s.data, op->s.len);
    node->op_type = name;
    if (!*node->domain)
        node->domain = "aten";
    node->opset = odb_model__opset_of(load->opsets, node->domain);
}

static enum odb_status load_node(struct graph_load *load, struct odb_node *node,
                                 const Onnx__NodeProto *proto, struct odb_error *err)
{
    node->name = text_of(proto->name);
    node->op_type = text_of(proto->op_type);
    node->domain = odb_model__domain(text_of(proto->domain));
    node->overload = text_of(proto->overload);
    node->doc = text_of(proto->doc_string);
    node->metadata = odb_model__metadata(load->model->priv->arena, proto->metadata_props,
                                         proto->n_metadata_props);
    node->opset = odb_model__opset_of(load->opsets, node->domain);
    node->function = load_function(load->model, node);
    if (!*node->op_type)
        return odb_fail(err, ODB_E_MODEL, "names no operator (op_type)");
    node->n_in = (int)proto->n_input;
    node->in = arena_new_n(load->model->priv->arena, int, proto->n_input);
    for (int i = 0; i < node->n_in; i++) {
        const char *name = proto->input[i];
        node->in[i] = *name ? load_resolve(load, name) : ODB_NO_VALUE;
        if (*name && node->in[i] == ODB_NO_VALUE)
            return odb_fail(err, ODB_E_MODEL,
                            "nothing makes its input '%s': no node, graph input "
                            "or initializer is called so",
                            name);
    }
    ODB_TRY(odb_model__attrs(&node->attrs, load->model, proto->attribute, proto->n_attribute, load,
                             load->opsets, err));
    load_aten(load, node);
    load_named(load, node);
    load_captured(load, node);
    return ODB_OK;
}

static enum odb_status load_nodes(struct graph_load *load, struct odb_error *err)
{
    struct odb_graph *graph = load->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const Onnx__NodeProto *proto = load->proto->node[n];
        enum odb_status status = load_node(load, &graph->nodes[n], proto, err);
        if (status != ODB_OK) {
            char place[160];
            odb_error_at(err, "%s", odb_model__node_place(proto, n, place, sizeof place));
            return status;
        }
    }
    return ODB_OK;
}

/* Names of nodes in their final order, and which of them are one node's alone. */
static void load_names(struct odb_graph *graph)
{
    for (size_t n = 0; n < graph->n_nodes; n++) {
        struct odb_node *node = &graph->nodes[n];
        size_t first;
        if (!*node->name)
            continue;
        node->name_is_unique = odb_map_add(graph->nodes_by_name, node->name, n);
        if (!node->name_is_unique && odb_map_get(graph->nodes_by_name, node->name, &first))
            graph->nodes[first].name_is_unique = false;
    }
}

static enum odb_status load_outputs(struct graph_load *load, struct odb_error *err)
{
    const Onnx__GraphProto *proto = load->proto;
    struct odb_graph *graph = load->graph;
    graph->n_outputs = proto->n_output;
    graph->outputs = arena_new_n(load->model->priv->arena, int, proto->n_output);
    for (size_t i = 0; i < proto->n_output; i++) {
        const char *name = text_of(proto->output[i]->name);
        if (!*name)
            return odb_fail(err, ODB_E_MODEL, "graph output %zu has no name", i);
        int index = load_resolve(load, name);
        if (index == ODB_NO_VALUE)
            return odb_fail(err, ODB_E_MODEL, "nothing makes graph output '%s'", name);
        graph->outputs[i] = index;
        load->values.items[index].is_output = true;
    }
    return ODB_OK;
}

/* --- public ----------------------------------------------------------------------------------- */

/* The main graph's messages by our indices, for writing. */
static void load_keep_messages(const struct graph_load *load)
{
    struct model_int *priv = load->model->priv;
    const struct odb_graph *graph = load->graph;
    priv->nodes = arena_new_n(priv->arena, const Onnx__NodeProto *, graph->n_nodes);
    for (size_t n = 0; n < graph->n_nodes; n++)
        priv->nodes[n] = load->proto->node[graph->nodes[n].file_index];
    priv->inits = arena_new_n(priv->arena, const Onnx__TensorProto *, graph->n_values);
    priv->sparse_inits = arena_new_n(priv->arena, const Onnx__SparseTensorProto *, graph->n_values);
    priv->packed = arena_new_n(priv->arena, struct odb_tensor *, graph->n_values);
    priv->infos = arena_new_n(priv->arena, const Onnx__ValueInfoProto *, graph->n_values);
    for (size_t v = 0; v < graph->n_values; v++) {
        priv->inits[v] = load->sources.items[v].tensor;
        priv->sparse_inits[v] = load->sources.items[v].sparse;
        priv->packed[v] = load->sources.items[v].packed;
        priv->infos[v] = load->sources.items[v].info;
    }
}

static enum odb_status load_all(struct graph_load *load, struct odb_error *err)
{
    struct odb_graph *graph = load->graph;
    struct model_arena *arena = load->model->priv->arena;
    ODB_TRY(load_inputs(load, err));
    ODB_TRY(load_inits(load, err));
    ODB_TRY(load_outputs_of_nodes(load, err));
    load_types(load);
    ODB_TRY(load_nodes(load, err));
    ODB_TRY(load_outputs(load, err));
    graph->n_values = load->values.n;
    graph->values = load->values.items;
    load->values.items = NULL;
    ODB_TRY(odb_model__order(graph, arena, err));
    load_names(graph);
    if (load->proto == load->model->priv->proto->graph)
        load_keep_messages(load);
    return ODB_OK;
}

enum odb_status odb_model__graph(struct odb_graph **out, struct odb_model *model,
                                 const Onnx__GraphProto *proto, struct graph_load *outer,
                                 const struct opset_scope *opsets, struct odb_error *err)
{
    struct odb_graph *graph = arena_new(model->priv->arena, struct odb_graph);
    odb_push(&model->priv->graphs, graph);
    graph->model = model;
    graph->parent = outer ? outer->graph : NULL;
    graph->name = text_of(proto->name);
    graph->doc = text_of(proto->doc_string);
    graph->metadata =
        odb_model__metadata(model->priv->arena, proto->metadata_props, proto->n_metadata_props);
    graph->by_name = odb_map_new_for(proto->n_input + proto->n_initializer + proto->n_node);
    graph->nodes_by_name = odb_map_new_for(proto->n_node);
    struct graph_load load = {
        .model = model, .outer = outer, .opsets = opsets, .proto = proto, .graph = graph};
    enum odb_status status = load_all(&load, err);
    free(load.values.items);
    free(load.sources.items);
    free(load.captured.items);
    *out = graph;
    return status;
}
