/* SPDX-License-Identifier: MIT
 *
 * Cutting a model out of a model. Every step of a search loads one, so it must be cheap: the new
 * ModelProto is a handful of heads whose lists point at the loaded model's own messages, and
 * packing it writes nodes and weights straight from where they are. Nothing is interpreted on the
 * way, so attributes, bodies and fields that are unknown here come out as they went in.
 *
 * What a cut changes is the border only: inputs and outputs are declared anew, values that became
 * inputs lose their initializer, and a node whose other outputs are needed gives the replaced one a
 * name that no node reads.
 */
#include "model/write/write.h"

#include "model/write/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/write/external.h"

struct cut {
    const struct odb_model *model;
    const struct odb_graph *graph;
    const struct odb_extract *what;
    /* Marks, in the arena. */
    bool *nodes;     /* [n_nodes] in the cut */
    bool *reads;     /* [n_values] needed by a node of the cut, or an output */
    bool *is_in;     /* [n_values] input ports */
    bool *is_out;    /* [n_values] output ports */
    bool *functions; /* [n_functions] called, directly or not */
    int64_t ir_version;
    Onnx__GraphProto to;
    struct model_arena *arena; /* owned */
    struct model_weights weights;
};

static const char *cut_name(const struct cut *cut, int value)
{
    return cut->graph->values[value].name;
}

static bool cut_has_init(const struct cut *cut, int value)
{
    const struct model_int *priv = cut->model->priv;
    return priv->inits[value] || priv->sparse_inits[value];
}

static bool cut_is_made(const struct cut *cut, int value)
{
    int producer = cut->graph->values[value].producer;
    return producer != ODB_NO_NODE && cut->nodes[producer];
}

/* --- what belongs to the cut ------------------------------------------------------------------ */

static enum odb_status cut_mark_ports(struct cut *cut, const struct odb_port *ports, size_t n,
                                      bool *marks, const char *what, struct odb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int value = ports[i].value;
        if (value < 0 || (size_t)value >= cut->graph->n_values || !cut_name(cut, value)[0])
            return odb_fail(err, ODB_E_INPUT, "%s %zu of the submodel is no value with a name",
                            what, i);
        if (marks[value])
            return odb_fail(err, ODB_E_INPUT, "'%s' stands twice among the %ss",
                            cut_name(cut, value), what);
        marks[value] = true;
    }
    return ODB_OK;
}

static void cut_mark_nodes(struct cut *cut)
{
    const struct odb_extract *what = cut->what;
    if (what->nodes) {
        memcpy(cut->nodes, what->nodes, cut->graph->n_nodes * sizeof *cut->nodes);
        return;
    }
    int *outputs = arena_new_n(cut->arena, int, what->n_outputs);
    for (size_t i = 0; i < what->n_outputs; i++)
        outputs[i] = what->outputs[i].value;
    odb_graph_ancestors(cut->graph, outputs, what->n_outputs, cut->is_in, cut->nodes);
}

static void cut_mark_reads(struct cut *cut)
{
    for (size_t i = 0; i < cut->graph->n_nodes; i++) {
        const struct odb_node *node = &cut->graph->nodes[i];
        if (!cut->nodes[i])
            continue;
        for (size_t k = 0; k < odb_node_n_reads(node); k++)
            if (odb_node_reads(node, k) != ODB_NO_VALUE)
                cut->reads[odb_node_reads(node, k)] = true;
    }
    for (size_t i = 0; i < cut->what->n_outputs; i++)
        cut->reads[cut->what->outputs[i].value] = true;
}

static enum odb_status cut_check_reads(const struct cut *cut, struct odb_error *err)
{
    for (size_t v = 0; v < cut->graph->n_values; v++) {
        int value = (int)v;
        if (!cut->reads[v] || cut->is_in[v] || cut_is_made(cut, value) || cut_has_init(cut, value))
            continue;
        if (cut->is_out[v])
            return odb_fail(err, ODB_E_INPUT, "output '%s' is made by no node of the submodel",
                            cut_name(cut, value));
        odb_fail(err, ODB_E_INPUT, "the submodel needs '%s', which is neither made in it nor given",
                 cut_name(cut, value));
        return odb_error_remedy(err, "make it an input");
    }
    return ODB_OK;
}

/* Functions that the graph's nodes call, and those that their bodies call. A function that is
 * marked already was walked, so the recursion ends even where functions call each other. */
static void cut_mark_functions(struct cut *cut, const struct odb_graph *graph, const bool *nodes)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        if (nodes && !nodes[i])
            continue;
        for (size_t a = 0; a < node->attrs.n; a++) {
            const struct odb_attr *attr = &node->attrs.items[a];
            for (size_t g = 0; attr->graphs && g < attr->n; g++)
                cut_mark_functions(cut, attr->graphs[g], NULL);
        }
        if (!node->function)
            continue;
        size_t f = (size_t)(node->function - cut->model->functions);
        if (!cut->functions[f]) {
            cut->functions[f] = true;
            cut_mark_functions(cut, node->function->graph, NULL);
        }
    }
}

/* --- nodes ------------------------------------------------------------------------------------ */

static char *cut_fresh_name(struct cut *cut, const char *name)
{
    size_t ignored;
    for (int i = 0;; i++) {
        char *fresh = odb_model__arena_printf(cut->arena, "%s__unused%d", name, i);
        if (!odb_map_get(cut->graph->by_name, fresh, &ignored))
            return fresh;
    }
}

static Onnx__GraphProto *cut_plain_graph(struct cut *cut, Onnx__GraphProto *graph);

static Onnx__NodeProto *cut_copy_node(struct cut *cut, const Onnx__NodeProto *proto)
{
    Onnx__NodeProto *copy = arena_new(cut->arena, Onnx__NodeProto);
    *copy = *proto;
    return copy;
}

/* The node with the checkpoints in its bodies made plain, or NULL where there are none. */
static Onnx__NodeProto *cut_plain_bodies(struct cut *cut, const Onnx__NodeProto *proto)
{
    Onnx__NodeProto *copy = NULL;
    for (size_t a = 0; a < proto->n_attribute; a++) {
        const Onnx__AttributeProto *attr = proto->attribute[a];
        Onnx__GraphProto *plain = attr->g ? cut_plain_graph(cut, attr->g) : NULL;
        if (!plain)
            continue;
        if (!copy) {
            copy = cut_copy_node(cut, proto);
            copy->attribute = arena_new_n(cut->arena, Onnx__AttributeProto *, proto->n_attribute);
            memcpy(copy->attribute, proto->attribute,
                   proto->n_attribute * sizeof *proto->attribute);
        }
        copy->attribute[a] = arena_new(cut->arena, Onnx__AttributeProto);
        *copy->attribute[a] = *attr;
        copy->attribute[a]->g = plain;
    }
    return copy;
}

/* As odb_node_is_debug(). */
static bool cut_is_debug(const struct cut *cut, const Onnx__NodeProto *proto)
{
    if (!proto->op_type || strcmp(proto->op_type, "Debug") != 0 || proto->n_input != 1 ||
        proto->n_output != 1)
        return false;
    for (size_t f = 0; f < cut->model->n_functions; f++) {
        const struct odb_function *function = &cut->model->functions[f];
        if (strcmp(function->name, "Debug") == 0 &&
            strcmp(function->domain, proto->domain ? proto->domain : "") == 0)
            return function->graph->n_nodes == 1 &&
                   strcmp(function->graph->nodes[0].op_type, "Identity") == 0;
    }
    return true;
}

/* A checkpoint as the Identity that it is; NULL where the node is none, and holds none. */
static Onnx__NodeProto *cut_plain_node(struct cut *cut, const Onnx__NodeProto *proto)
{
    if (!cut->what->plain_debug)
        return NULL;
    if (!cut_is_debug(cut, proto))
        return cut_plain_bodies(cut, proto);
    Onnx__NodeProto *copy = cut_copy_node(cut, proto);
    copy->op_type = (char *)(uintptr_t) "Identity";
    copy->domain = copy->overload = NULL;
    copy->n_attribute = 0;
    copy->attribute = NULL;
    return copy;
}

/* The same for a list of nodes: a copy, or NULL. */
static Onnx__NodeProto **cut_plain_nodes(struct cut *cut, Onnx__NodeProto **nodes, size_t n)
{
    Onnx__NodeProto **copy = NULL;
    for (size_t i = 0; i < n; i++) {
        Onnx__NodeProto *plain = cut_plain_node(cut, nodes[i]);
        if (!plain)
            continue;
        if (!copy) {
            copy = arena_new_n(cut->arena, Onnx__NodeProto *, n);
            memcpy(copy, nodes, n * sizeof *nodes);
        }
        copy[i] = plain;
    }
    return copy;
}

static Onnx__GraphProto *cut_plain_graph(struct cut *cut, Onnx__GraphProto *graph)
{
    Onnx__NodeProto **nodes = cut_plain_nodes(cut, graph->node, graph->n_node);
    if (!nodes)
        return NULL;
    Onnx__GraphProto *copy = arena_new(cut->arena, Onnx__GraphProto);
    *copy = *graph;
    copy->node = nodes;
    return copy;
}

static Onnx__FunctionProto *cut_plain_function(struct cut *cut, Onnx__FunctionProto *function)
{
    Onnx__NodeProto **nodes = cut_plain_nodes(cut, function->node, function->n_node);
    if (!nodes)
        return function;
    Onnx__FunctionProto *copy = arena_new(cut->arena, Onnx__FunctionProto);
    *copy = *function;
    copy->node = nodes;
    return copy;
}

/* The node's own message, or a copy where it is a checkpoint, or one of its outputs comes from
 * outside now. */
static Onnx__NodeProto *cut_node(struct cut *cut, int index)
{
    const struct odb_node *node = &cut->graph->nodes[index];
    Onnx__NodeProto *copy = cut_plain_node(cut, cut->model->priv->nodes[index]);
    const Onnx__NodeProto *proto = copy ? copy : cut->model->priv->nodes[index];
    bool own = false; /* the list of outputs */
    for (int k = 0; k < node->n_out && (size_t)k < proto->n_output; k++) {
        if (node->out[k] == ODB_NO_VALUE || !cut->is_in[node->out[k]])
            continue;
        char *const *names = proto->output;
        if (!copy)
            copy = cut_copy_node(cut, proto);
        if (!own) {
            copy->output = arena_new_n(cut->arena, char *, proto->n_output);
            memcpy(copy->output, names, proto->n_output * sizeof *names);
            own = true;
        }
        copy->output[k] = cut_fresh_name(cut, copy->output[k]);
    }
    return copy ? copy : (Onnx__NodeProto *)(uintptr_t)proto;
}

static enum odb_status cut_add_nodes(struct cut *cut, struct odb_error *err)
{
    cut->to.node = arena_new_n(cut->arena, Onnx__NodeProto *, cut->graph->n_nodes);
    for (size_t i = 0; i < cut->graph->n_nodes; i++)
        if (cut->nodes[i])
            cut->to.node[cut->to.n_node++] = cut_node(cut, (int)i);
    return odb_model__place_nodes(&cut->weights, cut->to.node, cut->to.n_node, err);
}

/* --- weights ---------------------------------------------------------------------------------- */

static enum odb_status cut_add_weights(struct cut *cut, struct odb_error *err)
{
    const struct model_int *priv = cut->model->priv;
    Onnx__GraphProto *to = &cut->to;
    size_t n = cut->graph->n_values;
    to->initializer = arena_new_n(cut->arena, Onnx__TensorProto *, n);
    to->sparse_initializer = arena_new_n(cut->arena, Onnx__SparseTensorProto *, n);
    for (size_t v = 0; v < n; v++) {
        if (!cut->reads[v] || cut->is_in[v])
            continue;
        if (priv->inits[v])
            ODB_TRY(odb_model__place(&cut->weights, priv->inits[v], cut->graph->values[v].init,
                                     &to->initializer[to->n_initializer++], err));
        else if (priv->sparse_inits[v])
            ODB_TRY(odb_model__place_sparse(
                &cut->weights, (int)v, &to->sparse_initializer[to->n_sparse_initializer++], err));
    }
    for (size_t i = 0; i < cut->what->n_inputs; i++) {
        const struct odb_port *port = &cut->what->inputs[i];
        if (port->constant)
            to->initializer[to->n_initializer++] =
                odb_model__tensor_message(port->like, cut_name(cut, port->value), cut->arena);
    }
    return ODB_OK;
}

/* --- types ------------------------------------------------------------------------------------ */

/* What the model says: a declaration with an element type, else what the initializer shows. */
static const Onnx__TypeProto *cut_declared(struct cut *cut, int value)
{
    const struct model_int *priv = cut->model->priv;
    const Onnx__TypeProto *type = priv->infos[value] ? priv->infos[value]->type : NULL;
    const Onnx__TensorProto *init = priv->inits[value];
    bool typed = type && type->value_case != ONNX__TYPE_PROTO__VALUE__NOT_SET &&
                 !(type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
                   type->tensor_type->elem_type == 0);
    if (typed || !init)
        return typed ? type : NULL;
    return odb_model__tensor_type((enum odb_dtype)init->data_type, (int)init->n_dims,
                                  init->n_dims ? init->dims : (const int64_t[1]){0}, "",
                                  cut->arena);
}

static bool cut_is_tensor(const Onnx__TypeProto *type)
{
    return type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
}

static const Onnx__TypeProto *cut_shapeless(struct cut *cut, enum odb_dtype dtype, int rank,
                                            const char *name)
{
    int64_t dims[ODB_MAX_RANK];
    memset(dims, -1, sizeof dims);
    return odb_model__tensor_type(dtype, rank, rank <= ODB_MAX_RANK ? dims : NULL, name,
                                  cut->arena);
}

/* Type of a container's content, without shape: items of one sequence may differ in it. */
static Onnx__TypeProto *cut_type_of(struct cut *cut, const struct odb_tensor *t)
{
    if (t->kind == ODB_TENSOR)
        return t->dtype ? odb_model__tensor_type(t->dtype, 0, NULL, "", cut->arena) : NULL;
    Onnx__TypeProto *inner = NULL;
    if (t->n_items > 0)
        inner = cut_type_of(cut, t->items[0]);
    else if (t->dtype)
        inner = odb_model__tensor_type(t->dtype, 0, NULL, "", cut->arena);
    if (!inner)
        return NULL;
    Onnx__TypeProto *type = arena_new(cut->arena, Onnx__TypeProto);
    onnx__type_proto__init(type);
    if (t->kind == ODB_SEQUENCE) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        type->sequence_type = arena_new(cut->arena, Onnx__TypeProto__Sequence);
        onnx__type_proto__sequence__init(type->sequence_type);
        type->sequence_type->elem_type = inner;
    } else if (t->kind == ODB_OPTIONAL) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
        type->optional_type = arena_new(cut->arena, Onnx__TypeProto__Optional);
        onnx__type_proto__optional__init(type->optional_type);
        type->optional_type->elem_type = inner;
    } else if (t->kind == ODB_SPARSE) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
        type->sparse_tensor_type = arena_new(cut->arena, Onnx__TypeProto__SparseTensor);
        onnx__type_proto__sparse_tensor__init(type->sparse_tensor_type);
        type->sparse_tensor_type->has_elem_type = true;
        type->sparse_tensor_type->elem_type = inner->tensor_type->elem_type;
    } else if (t->n_items == 2) {
        type->value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
        type->map_type = arena_new(cut->arena, Onnx__TypeProto__Map);
        onnx__type_proto__map__init(type->map_type);
        type->map_type->has_key_type = true;
        type->map_type->key_type = t->items[0]->dtype;
        type->map_type->value_type = cut_type_of(cut, t->items[1]);
    }
    return type;
}

/* Whether a tensor is what the declaration says. */
static bool cut_fits(const Onnx__TypeProto *declared, const struct odb_tensor *t)
{
    const Onnx__TypeProto__Tensor *type = declared->tensor_type;
    if (type->elem_type != (int32_t)t->dtype)
        return false;
    if (!type->shape)
        return true;
    bool fits = type->shape->n_dim == (size_t)t->rank;
    for (int d = 0; fits && d < t->rank; d++) {
        const Onnx__TensorShapeProto__Dimension *dim = type->shape->dim[d];
        fits = dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
               dim->dim_value == t->dims[d];
    }
    return fits;
}

/* Whether all that the whole model is fed has fixed dimensions. */
static bool cut_is_fixed(const struct odb_graph *graph)
{
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct odb_value *value = &graph->values[graph->inputs[i]];
        const struct odb_type *type = &value->type;
        if (value->init || (type->known && type->kind != ODB_TENSOR))
            continue;
        if (!type->known || type->rank < 0)
            return false;
        for (int d = 0; d < type->rank; d++)
            if (type->dims[d].value < 0)
                return false;
    }
    return true;
}

/* Type to declare at the border; NULL: unknown. The model's declaration stands for whatever is no
 * plain tensor: an optional that holds a value looks like its value. */
static const Onnx__TypeProto *cut_port_type(struct cut *cut, const struct odb_port *port)
{
    const struct odb_tensor *like = port->like;
    const Onnx__TypeProto *declared = cut_declared(cut, port->value);
    const char *name = cut_name(cut, port->value);
    if (like && like->kind == ODB_TENSOR && like->dtype && (!declared || cut_is_tensor(declared))) {
        if (cut->what->declared && declared && cut_fits(declared, like))
            return declared;
        bool symbolic = port->symbolic || (cut->what->declared && !cut_is_fixed(cut->graph));
        return symbolic
                   ? cut_shapeless(cut, like->dtype, like->rank, name)
                   : odb_model__tensor_type(like->dtype, like->rank, like->dims, name, cut->arena);
    }
    if (declared && port->symbolic && cut_is_tensor(declared) && declared->tensor_type->shape)
        return cut_shapeless(cut, (enum odb_dtype)declared->tensor_type->elem_type,
                             (int)declared->tensor_type->shape->n_dim, name);
    return declared ? declared : like ? cut_type_of(cut, like) : NULL;
}

static Onnx__ValueInfoProto *cut_info(struct cut *cut, int value, const Onnx__TypeProto *type)
{
    const Onnx__ValueInfoProto *known = cut->model->priv->infos[value];
    Onnx__ValueInfoProto *info = arena_new(cut->arena, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(info);
    if (known) {
        info->doc_string = known->doc_string;
        info->n_metadata_props = known->n_metadata_props;
        info->metadata_props = known->metadata_props;
    }
    info->name = (char *)(uintptr_t)cut_name(cut, value);
    info->type = (Onnx__TypeProto *)(uintptr_t)type;
    return info;
}

static enum odb_status cut_add_inputs(struct cut *cut, struct odb_error *err)
{
    Onnx__GraphProto *to = &cut->to;
    size_t room = cut->what->n_inputs + to->n_initializer;
    to->input = arena_new_n(cut->arena, Onnx__ValueInfoProto *, room);
    for (size_t i = 0; i < cut->what->n_inputs; i++) {
        const struct odb_port *port = &cut->what->inputs[i];
        const Onnx__TypeProto *type = cut_port_type(cut, port);
        if (port->constant && cut->ir_version >= 4)
            continue;
        if (!type) {
            odb_fail(err, ODB_E_INPUT, "the type of input '%s' is not known",
                     cut_name(cut, port->value));
            return odb_error_remedy(err, "run the reference first, which shows the types");
        }
        to->input[to->n_input++] = cut_info(cut, port->value, type);
    }
    if (cut->ir_version >= 4)
        return ODB_OK;
    for (size_t v = 0; v < cut->graph->n_values; v++) /* before IR 4 every weight is an input */
        if (cut->reads[v] && !cut->is_in[v] && cut->model->priv->inits[v])
            to->input[to->n_input++] = cut_info(cut, (int)v, cut_declared(cut, (int)v));
    return ODB_OK;
}

static void cut_add_outputs(struct cut *cut)
{
    Onnx__GraphProto *to = &cut->to;
    to->output = arena_new_n(cut->arena, Onnx__ValueInfoProto *, cut->what->n_outputs);
    for (size_t i = 0; i < cut->what->n_outputs; i++)
        to->output[to->n_output++] =
            cut_info(cut, cut->what->outputs[i].value, cut_port_type(cut, &cut->what->outputs[i]));
}

static void cut_add_value_infos(struct cut *cut)
{
    Onnx__GraphProto *to = &cut->to;
    to->value_info = arena_new_n(cut->arena, Onnx__ValueInfoProto *, cut->graph->n_values);
    for (size_t v = 0; v < cut->graph->n_values; v++) {
        const Onnx__ValueInfoProto *info = cut->model->priv->infos[v];
        if (info && info->type && !cut->is_in[v] && !cut->is_out[v] && cut_is_made(cut, (int)v))
            to->value_info[to->n_value_info++] = (Onnx__ValueInfoProto *)(uintptr_t)info;
    }
    for (size_t i = 0; i < cut->what->n_between; i++) {
        const struct odb_port *port = &cut->what->between[i];
        int v = port->value;
        bool border = cut->is_in[v] || cut->is_out[v], declared = cut_declared(cut, v) != NULL;
        const Onnx__TypeProto *type =
            border || declared || !cut_is_made(cut, v) ? NULL : cut_port_type(cut, port);
        if (type && cut_name(cut, v)[0] && !cut->model->priv->infos[v])
            to->value_info[to->n_value_info++] = cut_info(cut, v, type);
    }
}

/* --- the rest --------------------------------------------------------------------------------- */

/* Annotations of the values in the cut; the scales and zero points that they name come along. */
static void cut_add_annotations(struct cut *cut)
{
    const Onnx__GraphProto *from = cut->model->priv->proto->graph;
    size_t v, parameter;
    cut->to.quantization_annotation =
        arena_new_n(cut->arena, Onnx__TensorAnnotation *, from->n_quantization_annotation);
    for (size_t i = 0; i < from->n_quantization_annotation; i++) {
        Onnx__TensorAnnotation *note = from->quantization_annotation[i];
        if (!note->tensor_name || !odb_map_get(cut->graph->by_name, note->tensor_name, &v) ||
            !(cut->reads[v] || cut->is_in[v] || cut_is_made(cut, (int)v)))
            continue;
        cut->to.quantization_annotation[cut->to.n_quantization_annotation++] = note;
        for (size_t k = 0; k < note->n_quant_parameter_tensor_names; k++) {
            const char *name = note->quant_parameter_tensor_names[k]->value;
            if (name && odb_map_get(cut->graph->by_name, name, &parameter) &&
                cut_has_init(cut, (int)parameter))
                cut->reads[parameter] = true;
        }
    }
}

static void cut_fill_graph(struct cut *cut)
{
    const Onnx__GraphProto *from = cut->model->priv->proto->graph;
    const char *name = cut->what->graph_name ? cut->what->graph_name : cut->graph->name;
    cut->to.name = (char *)(uintptr_t)(name && name[0] ? name : "graph");
    cut->to.doc_string = from->doc_string;
    cut->to.n_metadata_props = from->n_metadata_props;
    cut->to.metadata_props = from->metadata_props;
}

static void cut_fill_functions(struct cut *cut, Onnx__ModelProto *to)
{
    const Onnx__ModelProto *from = cut->model->priv->proto;
    to->functions = arena_new_n(cut->arena, Onnx__FunctionProto *, from->n_functions);
    for (size_t f = 0; f < from->n_functions && f < cut->model->n_functions; f++)
        if (cut->functions[f])
            to->functions[to->n_functions++] = cut_plain_function(cut, from->functions[f]);
}

/* Adds which nodes of the model these are: of the model that this one was cut from, if it was. */
static void cut_record_nodes(struct cut *cut, Onnx__ModelProto *to)
{
    const struct odb_graph *graph = cut->model->graph;
    struct odb_buf text = ODB_BUF_INIT;
    int *origin = odb_new_n(int, graph->n_nodes);
    odb_model_origin(cut->model, origin);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (cut->nodes[n])
            odb_buf_printf(&text, "%s%d", text.len ? " " : "", origin[n]);
    Onnx__StringStringEntryProto *entry = arena_new(cut->arena, Onnx__StringStringEntryProto);
    onnx__string_string_entry_proto__init(entry);
    entry->key = (char *)(uintptr_t)ODB_META_NODES;
    entry->value = odb_model__arena_printf(cut->arena, "%s", odb_buf_text(&text));
    size_t n = 0;
    to->metadata_props =
        arena_new_n(cut->arena, Onnx__StringStringEntryProto *, to->n_metadata_props + 1);
    for (size_t i = 0; i < to->n_metadata_props; i++) {
        Onnx__StringStringEntryProto *old = cut->model->priv->proto->metadata_props[i];
        if (!old->key || strcmp(old->key, ODB_META_NODES) != 0)
            to->metadata_props[n++] = old;
    }
    to->metadata_props[n++] = entry;
    to->n_metadata_props = n;
    odb_buf_dispose(&text);
    free(origin);
}

static void cut_fill_model(struct cut *cut, Onnx__ModelProto *to)
{
    const Onnx__ModelProto *from = cut->model->priv->proto;
    onnx__model_proto__init(to);
    to->has_ir_version = true;
    to->ir_version = cut->ir_version;
    to->producer_name = (char *)(uintptr_t) "onnxdbg";
    to->producer_version = (char *)(uintptr_t)ODB_VERSION;
    to->domain = from->domain;
    to->has_model_version = from->has_model_version;
    to->model_version = from->model_version;
    to->doc_string = from->doc_string;
    to->n_opset_import = from->n_opset_import;
    to->opset_import = from->opset_import;
    to->n_metadata_props = from->n_metadata_props;
    to->metadata_props = from->metadata_props;
    if (cut->what->record_nodes)
        cut_record_nodes(cut, to);
    to->n_configuration = from->n_configuration;
    to->configuration = from->configuration;
    cut_fill_functions(cut, to);
    if (!to->n_opset_import) { /* what IR 1 and 2 meant by saying nothing */
        Onnx__OperatorSetIdProto *opset = arena_new(cut->arena, Onnx__OperatorSetIdProto);
        onnx__operator_set_id_proto__init(opset);
        opset->domain = (char *)(uintptr_t) "";
        opset->has_version = true;
        opset->version = 1;
        to->opset_import = arena_new_n(cut->arena, Onnx__OperatorSetIdProto *, 1);
        to->opset_import[to->n_opset_import++] = opset;
    }
    to->graph = &cut->to;
}

static void cut_init(struct cut *cut, const struct odb_model *model, const struct odb_extract *what)
{
    const struct odb_graph *graph = model->graph;
    *cut = (struct cut){.model = model, .graph = graph, .what = what};
    cut->arena = odb_model__arena_new();
    cut->nodes = arena_new_n(cut->arena, bool, graph->n_nodes);
    cut->reads = arena_new_n(cut->arena, bool, graph->n_values);
    cut->is_in = arena_new_n(cut->arena, bool, graph->n_values);
    cut->is_out = arena_new_n(cut->arena, bool, graph->n_values);
    cut->functions = arena_new_n(cut->arena, bool, model->n_functions);
    /* From IR 4 on weights need not be inputs; nodes mean the same in every version. */
    cut->ir_version = what->ir_version ? what->ir_version : ODB_MAX(model->ir_version, 4);
    cut->weights = (struct model_weights){.model = model,
                                          .how = what->weights,
                                          .file = what->weights_file,
                                          .out = what->weights_out,
                                          .arena = cut->arena};
    onnx__graph_proto__init(&cut->to);
}

enum odb_status odb_model_extract(const struct odb_model *model, const struct odb_extract *what,
                                  struct odb_buf *out, struct odb_error *err)
{
    enum odb_status status;
    struct cut cut;
    Onnx__ModelProto proto;
    ODB_ASSERT(what->weights != ODB_WEIGHTS_BESIDE || (what->weights_file && what->weights_out));
    cut_init(&cut, model, what);
    ODB_TRY_OUT(cut_mark_ports(&cut, what->inputs, what->n_inputs, cut.is_in, "input", err));
    ODB_TRY_OUT(cut_mark_ports(&cut, what->outputs, what->n_outputs, cut.is_out, "output", err));
    cut_mark_nodes(&cut);
    cut_mark_reads(&cut);
    ODB_TRY_OUT(cut_check_reads(&cut, err));
    cut_mark_functions(&cut, cut.graph, cut.nodes);
    cut_add_annotations(&cut);
    ODB_TRY_OUT(cut_add_nodes(&cut, err));
    ODB_TRY_OUT(cut_add_weights(&cut, err));
    ODB_TRY_OUT(cut_add_inputs(&cut, err));
    cut_add_outputs(&cut);
    cut_add_value_infos(&cut);
    cut_fill_graph(&cut);
    cut_fill_model(&cut, &proto);
    ODB_TRY_OUT(odb_model__place_functions(&cut.weights, proto.functions, proto.n_functions, err));
    ODB_TRY_OUT(odb_model__pack_model(model, what->weights, &proto, out, err));
out:
    odb_model__arena_free(cut.arena);
    return status;
}
