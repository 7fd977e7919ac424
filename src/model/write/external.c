/* SPDX-License-Identifier: MIT
 *
 * Which files a model's weights lie in: for callers that have to bring them along; and weights of
 * nodes and bodies, which are brought in where a model is written elsewhere.
 */
#include "model/write/external.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/files.h"
#include "model/model_int.h"
#include "model/write/pack.h"

struct external {
    struct odb_map *seen; /* owned */
    ODB_VEC(const char *) list;
    const char *from;                  /* to be named otherwise; NULL: none */
    char *to;                          /* in the arena */
    size_t n;                          /* tensors met */
    const struct model_weights *place; /* borrowed; not NULL: the tensors are placed anew */
    const struct odb_model *base;      /* borrowed; not NULL: they are named from its base */
    struct model_arena *arena;         /* borrowed; for these names */
    enum odb_status status;
    struct odb_error *err;
};

static enum odb_status external_place(const struct model_weights *to, Onnx__TensorProto *t,
                                      struct odb_error *err)
{
    struct odb_tensor *values = NULL; /* views a file that the model keeps mapped */
    Onnx__TensorProto *placed;
    ODB_TRY(odb_model__tensor_of(&values, t, NULL, to->model->priv->files, err));
    enum odb_status status = odb_model__place(to, t, values, &placed, err);
    odb_tensor_unref(values);
    if (status == ODB_OK)
        *t = *placed;
    return status;
}

static void external_from_base(const struct external *e, Onnx__StringStringEntryProto *entry)
{
    const struct odb_model *model = e->base;
    char *name = odb_model__files_below_base(model->priv->files, model->base, entry->value);
    if (name)
        entry->value = odb_model__arena_printf(e->arena, "%s", name);
    free(name);
}

static void external_tensor(struct external *e, Onnx__TensorProto *t)
{
    if (!t || t->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return;
    e->n++;
    if (e->place) {
        if (e->status == ODB_OK)
            e->status = external_place(e->place, t, e->err);
        return;
    }
    for (size_t i = 0; i < t->n_external_data; i++) {
        Onnx__StringStringEntryProto *entry = t->external_data[i];
        if (!entry->key || !entry->value || strcmp(entry->key, "location") != 0)
            continue;
        if (e->base)
            external_from_base(e, entry);
        else if (e->from && !strcmp(entry->value, e->from))
            entry->value = e->to;
        else if (e->seen && odb_map_add(e->seen, entry->value, e->list.n))
            odb_push(&e->list, entry->value);
    }
}

static void external_sparse(struct external *e, const Onnx__SparseTensorProto *t)
{
    if (!t)
        return;
    external_tensor(e, t->values);
    external_tensor(e, t->indices);
}

static void external_graph(struct external *e, const Onnx__GraphProto *graph);

static void external_attribute(struct external *e, const Onnx__AttributeProto *a)
{
    external_tensor(e, a->t);
    external_sparse(e, a->sparse_tensor);
    if (a->g)
        external_graph(e, a->g);
    for (size_t i = 0; i < a->n_tensors; i++)
        external_tensor(e, a->tensors[i]);
    for (size_t i = 0; i < a->n_sparse_tensors; i++)
        external_sparse(e, a->sparse_tensors[i]);
    for (size_t i = 0; i < a->n_graphs; i++)
        external_graph(e, a->graphs[i]);
}

static void external_nodes(struct external *e, Onnx__NodeProto *const *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < nodes[i]->n_attribute; k++)
            external_attribute(e, nodes[i]->attribute[k]);
}

static void external_graph(struct external *e, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        external_tensor(e, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_sparse_initializer; i++)
        external_sparse(e, graph->sparse_initializer[i]);
    external_nodes(e, graph->node, graph->n_node);
}

static void external_model(struct external *e, const Onnx__ModelProto *proto)
{
    e->seen = odb_map_new();
    if (proto->graph)
        external_graph(e, proto->graph);
    for (size_t i = 0; i < proto->n_functions; i++)
        external_nodes(e, proto->functions[i]->node, proto->functions[i]->n_node);
    odb_map_free(e->seen);
}

const char **odb_model_external_files(const struct odb_model *model, size_t *n)
{
    struct external e = {0};
    external_model(&e, model->priv->proto);
    *n = e.list.n;
    return e.list.items;
}

void odb_model_drop_pages(const struct odb_model *model)
{
    odb_model__file_drop(model->priv->file);
    odb_model__files_drop(model->priv->files);
}

void odb_model_rename_external(struct odb_model *model, const char *from, const char *to)
{
    struct external e = {.from = from, .to = odb_model__arena_printf(model->priv->arena, "%s", to)};
    external_model(&e, model->priv->proto);
    free(e.list.items);
}

/* The message is mostly made of the loaded model's own, which stay as they are: so it is packed,
 * and names change in a copy. */
static enum odb_status external_pack_from_base(const struct odb_model *model,
                                               const Onnx__ModelProto *proto, struct odb_buf *out,
                                               struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct external e = {.base = model, .arena = odb_model__arena_new()};
    enum odb_status status;
    ODB_TRY_OUT(odb_model__pack(&proto->base, &bytes, err));
    Onnx__ModelProto *copy = onnx__model_proto__unpack(odb_model__arena_allocator(e.arena),
                                                       bytes.len, (const uint8_t *)bytes.data);
    status = copy ? ODB_OK : odb_fail(err, ODB_E_NOMEM, "no memory for a copy of the model");
    if (copy) {
        external_model(&e, copy);
        status = odb_model__pack(&copy->base, out, err);
    }
out:
    odb_model__arena_free(e.arena);
    odb_buf_dispose(&bytes);
    return status;
}

enum odb_status odb_model__pack_model(const struct odb_model *model, enum odb_weights how,
                                      const Onnx__ModelProto *proto, struct odb_buf *out,
                                      struct odb_error *err)
{
    if (how == ODB_WEIGHTS_REFERENCE && strcmp(model->base, model->dir) != 0)
        return external_pack_from_base(model, proto, out, err);
    return odb_model__pack(&proto->base, out, err);
}

/* A copy of our own, all the way down, with its weights where they shall be. */
static enum odb_status external_node(const struct model_weights *to, Onnx__NodeProto **node,
                                     struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    struct external e = {.place = to, .err = err};
    enum odb_status status = odb_model__pack(&(*node)->base, &bytes, err);
    if (status == ODB_OK)
        *node = onnx__node_proto__unpack(odb_model__arena_allocator(to->arena), bytes.len,
                                         (const uint8_t *)bytes.data);
    odb_buf_dispose(&bytes);
    ODB_TRY(status);
    if (!*node)
        return odb_fail(err, ODB_E_MODEL, "a node with weights in files cannot be taken apart");
    external_nodes(&e, node, 1);
    return e.status;
}

enum odb_status odb_model__place_nodes(const struct model_weights *to, Onnx__NodeProto **nodes,
                                       size_t n, struct odb_error *err)
{
    if (to->how == ODB_WEIGHTS_KEEP || to->how == ODB_WEIGHTS_REFERENCE)
        return ODB_OK;
    for (size_t i = 0; i < n; i++) {
        struct external e = {0};
        external_nodes(&e, &nodes[i], 1);
        if (e.n)
            ODB_TRY(external_node(to, &nodes[i], err));
    }
    return ODB_OK;
}

enum odb_status odb_model__place_functions(const struct model_weights *to,
                                           Onnx__FunctionProto **functions, size_t n,
                                           struct odb_error *err)
{
    for (size_t f = 0; f < n; f++) {
        Onnx__FunctionProto *copy = arena_new(to->arena, Onnx__FunctionProto);
        *copy = *functions[f];
        copy->node = odb_model__arena_dup(to->arena, copy->node, copy->n_node, sizeof *copy->node);
        ODB_TRY(odb_model__place_nodes(to, copy->node, copy->n_node, err));
        functions[f] = copy;
    }
    return ODB_OK;
}
