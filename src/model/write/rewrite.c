/* SPDX-License-Identifier: MIT */
#include "model/write/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/write/external.h"

static char *rewrite_borrow(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Bodies see the names around them, so no name of theirs may be made anew. */
static void rewrite_collect(struct rewrite *r, const struct odb_graph *graph)
{
    for (size_t v = 0; v < graph->n_values; v++)
        odb_map_add(r->names, graph->values[v].name, 0);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        odb_map_add(r->names, node->name, 0);
        for (size_t a = 0; a < node->attrs.n; a++) {
            const struct odb_attr *attr = &node->attrs.items[a];
            for (size_t g = 0; attr->graphs && g < attr->n; g++)
                rewrite_collect(r, attr->graphs[g]);
        }
    }
}

char *rewrite_name(struct rewrite *r, int value, const char *suffix)
{
    const char *name = r->graph->values[value].name;
    char *fresh = odb_model__arena_printf(r->arena, "%s_%s", name, suffix);
    for (int i = 2; !odb_map_add(r->names, fresh, 0); i++)
        fresh = odb_model__arena_printf(r->arena, "%s_%s_%d", name, suffix, i);
    return fresh;
}

void rewrite_init(struct rewrite *r, const struct odb_model *model,
                  const struct odb_convert_form *form)
{
    *r = (struct rewrite){.model = model, .graph = model->graph};
    r->arena = odb_model__arena_new();
    r->names = odb_map_new();
    r->gone = arena_new_n(r->arena, bool, model->graph->n_values);
    r->weights = (struct model_weights){.model = model,
                                        .how = form->weights,
                                        .file = form->weights_file,
                                        .out = form->weights_out,
                                        .arena = r->arena};
    rewrite_collect(r, model->graph);
}

void rewrite_dispose(struct rewrite *r)
{
    for (size_t i = 0; i < r->kept.n; i++)
        odb_tensor_unref(r->kept.items[i]);
    free(r->kept.items);
    free(r->nodes.items);
    free(r->origin.items);
    free(r->inits.items);
    free(r->infos.items);
    odb_map_free(r->names);
    odb_model__arena_free(r->arena);
}

/* --- nodes ------------------------------------------------------------------------------------ */

void rewrite_push(struct rewrite *r, Onnx__NodeProto *node, int origin)
{
    odb_push(&r->nodes, node);
    odb_push(&r->origin, origin);
}

static void *rewrite_list(struct rewrite *r, void *list, size_t n, size_t room)
{
    void **copy = arena_new_n(r->arena, void *, room);
    if (n)
        memcpy(copy, list, n * sizeof *copy);
    return copy;
}

Onnx__NodeProto *rewrite_copy(struct rewrite *r, int node)
{
    Onnx__NodeProto *copy = arena_new(r->arena, Onnx__NodeProto);
    *copy = *r->model->priv->nodes[node];
    copy->input = rewrite_list(r, copy->input, copy->n_input, copy->n_input);
    copy->output = rewrite_list(r, copy->output, copy->n_output, copy->n_output);
    copy->attribute = rewrite_list(r, copy->attribute, copy->n_attribute, copy->n_attribute + 2);
    return copy;
}

Onnx__AttributeProto *rewrite_attr(struct rewrite *r, Onnx__NodeProto *node, const char *name)
{
    for (size_t a = 0; a < node->n_attribute; a++) {
        if (strcmp(node->attribute[a]->name, name) != 0)
            continue;
        Onnx__AttributeProto *copy = arena_new(r->arena, Onnx__AttributeProto);
        *copy = *node->attribute[a];
        return node->attribute[a] = copy;
    }
    return NULL;
}

Onnx__AttributeProto *rewrite_add_attr(struct rewrite *r, Onnx__NodeProto *node, const char *name,
                                       Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *attr = arena_new(r->arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(attr);
    attr->name = rewrite_borrow(name);
    attr->has_type = true;
    attr->type = type;
    node->attribute[node->n_attribute++] = attr;
    return attr;
}

Onnx__NodeProto *rewrite_add(struct rewrite *r, const char *op, size_t n_in, char *const *in,
                             char *out)
{
    Onnx__NodeProto *node = arena_new(r->arena, Onnx__NodeProto);
    onnx__node_proto__init(node);
    node->op_type = rewrite_borrow(op);
    node->name = out;
    node->n_input = n_in;
    node->input = rewrite_list(r, (void *)(uintptr_t)in, n_in, n_in);
    node->n_output = 1;
    node->output = rewrite_list(r, &out, 1, 1);
    node->attribute = arena_new_n(r->arena, Onnx__AttributeProto *, 2);
    rewrite_push(r, node, ODB_NO_NODE);
    return node;
}

/* --- values ----------------------------------------------------------------------------------- */

enum odb_status rewrite_weight(struct rewrite *r, const struct odb_tensor *t, const char *name,
                               struct odb_error *err)
{
    Onnx__TensorProto *placed;
    odb_push(&r->kept, odb_tensor_ref(t));
    ODB_TRY(odb_model__place(&r->weights, odb_model__tensor_message(t, name, r->arena), t, &placed,
                             err));
    odb_push(&r->inits, placed);
    return ODB_OK;
}

void rewrite_info(struct rewrite *r, int value, const char *name, enum odb_dtype dtype)
{
    const Onnx__ValueInfoProto *known = r->model->priv->infos[value];
    if (!known || !known->type || known->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        return;
    Onnx__ValueInfoProto *info = arena_new(r->arena, Onnx__ValueInfoProto);
    Onnx__TypeProto *type = arena_new(r->arena, Onnx__TypeProto);
    Onnx__TypeProto__Tensor *tensor = arena_new(r->arena, Onnx__TypeProto__Tensor);
    *info = *known;
    *type = *known->type;
    *tensor = *known->type->tensor_type;
    tensor->has_elem_type = true;
    tensor->elem_type = dtype;
    type->tensor_type = tensor;
    info->type = type;
    info->name = rewrite_borrow(name);
    odb_push(&r->infos, info);
}

/* --- the whole -------------------------------------------------------------------------------- */

static enum odb_status rewrite_weights(struct rewrite *r, Onnx__GraphProto *to,
                                       struct odb_error *err)
{
    const struct model_int *priv = r->model->priv;
    size_t n = r->graph->n_values;
    to->n_initializer = to->n_sparse_initializer = 0;
    to->initializer = arena_new_n(r->arena, Onnx__TensorProto *, n + r->inits.n);
    to->sparse_initializer = arena_new_n(r->arena, Onnx__SparseTensorProto *, n);
    for (size_t v = 0; v < n; v++) {
        if (priv->inits[v] && !r->gone[v])
            ODB_TRY(odb_model__place(&r->weights, priv->inits[v], r->graph->values[v].init,
                                     &to->initializer[to->n_initializer++], err));
        else if (priv->sparse_inits[v])
            ODB_TRY(odb_model__place_sparse(
                &r->weights, (int)v, &to->sparse_initializer[to->n_sparse_initializer++], err));
    }
    for (size_t i = 0; i < r->inits.n; i++)
        to->initializer[to->n_initializer++] = r->inits.items[i];
    return ODB_OK;
}

/* Before IR 4 weights had to be inputs as well, and some exporters went on with that. What is
 * written is newer, and these are not fed: as in an extracted model, they are plain weights. */
static void rewrite_inputs(struct rewrite *r, Onnx__GraphProto *to)
{
    size_t n = to->n_input, v;
    Onnx__ValueInfoProto **all = to->input;
    to->n_input = 0;
    to->input = arena_new_n(r->arena, Onnx__ValueInfoProto *, n);
    for (size_t i = 0; i < n; i++)
        if (!odb_map_get(r->graph->by_name, all[i]->name ? all[i]->name : "", &v) ||
            !r->graph->values[v].init)
            to->input[to->n_input++] = all[i];
}

static void rewrite_infos(struct rewrite *r, Onnx__GraphProto *to, const bool *declared)
{
    size_t n = to->n_value_info, v;
    Onnx__ValueInfoProto **all = to->value_info;
    to->n_value_info = 0;
    to->value_info = arena_new_n(r->arena, Onnx__ValueInfoProto *, n + r->infos.n);
    for (size_t i = 0; i < n; i++)
        if (!odb_map_get(r->graph->by_name, all[i]->name ? all[i]->name : "", &v) || !declared[v])
            to->value_info[to->n_value_info++] = all[i];
    for (size_t i = 0; i < r->infos.n; i++)
        to->value_info[to->n_value_info++] = r->infos.items[i];
}

enum odb_status rewrite_finish(struct rewrite *r, const bool *declared,
                               const struct odb_convert_form *form, struct odb_buf *out,
                               struct odb_error *err)
{
    Onnx__ModelProto model = *r->model->priv->proto;
    Onnx__GraphProto graph = *model.graph;
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *one = &opset;
    if (!model.n_opset_import) { /* what IR 1 and 2 meant by saying nothing */
        opset.domain = rewrite_borrow("");
        opset.has_version = true;
        opset.version = 1;
        model.n_opset_import = 1;
        model.opset_import = &one;
    }
    model.has_ir_version = true;
    model.ir_version = ODB_MAX(r->model->ir_version, 4);
    model.producer_name = rewrite_borrow("onnxdbg");
    model.producer_version = rewrite_borrow(ODB_VERSION);
    model.graph = &graph;
    graph.n_node = r->nodes.n;
    graph.node = r->nodes.items;
    ODB_TRY(rewrite_weights(r, &graph, err));
    ODB_TRY(odb_model__place_nodes(&r->weights, graph.node, graph.n_node, err));
    model.functions = rewrite_list(r, model.functions, model.n_functions, model.n_functions);
    ODB_TRY(odb_model__place_functions(&r->weights, model.functions, model.n_functions, err));
    rewrite_inputs(r, &graph);
    rewrite_infos(r, &graph, declared);
    ODB_TRY(odb_model__pack_model(r->model, r->weights.how, &model, out, err));
    if (form->origin) {
        *form->origin = odb_xmemdup(r->origin.items, r->origin.n * sizeof *r->origin.items);
        *form->n_nodes = r->origin.n;
    }
    return ODB_OK;
}
