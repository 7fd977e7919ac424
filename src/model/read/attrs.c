/* SPDX-License-Identifier: MIT
 *
 * AttributeProto to struct odb_attr. Numbers and strings stay where protobuf-c put them; tensors
 * and bodies are made here.
 */
#include <string.h>

#include "model/files.h"
#include "model/read/load_int.h"

struct attrs_load {
    struct odb_model *model;
    struct graph_load *load; /* of the node that has the attribute; NULL */
    const struct opset_scope *opsets;
};

/* IR 1 had no type field: the field that is there tells. */
static enum odb_attr_type attr_type(const Onnx__AttributeProto *p)
{
    if (p->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
        return (enum odb_attr_type)p->type;
    return p->has_f       ? ODB_ATTR_FLOAT
           : p->has_i     ? ODB_ATTR_INT
           : p->has_s     ? ODB_ATTR_STRING
           : p->t         ? ODB_ATTR_TENSOR
           : p->g         ? ODB_ATTR_GRAPH
           : p->n_floats  ? ODB_ATTR_FLOATS
           : p->n_ints    ? ODB_ATTR_INTS
           : p->n_strings ? ODB_ATTR_STRINGS
           : p->n_tensors ? ODB_ATTR_TENSORS
           : p->n_graphs  ? ODB_ATTR_GRAPHS
                          : ODB_ATTR_UNDEFINED;
}

/* A copy with a NUL behind it, which the file's bytes have not: kernels read modes as C strings. */
static struct odb_str attr_str(ProtobufCBinaryData s, struct model_arena *arena)
{
    char *text = arena_new_n(arena, char, s.len + 1);
    if (s.len)
        memcpy(text, s.data, s.len);
    return (struct odb_str){text, s.len};
}

static void attr_strings(struct odb_attr *attr, const Onnx__AttributeProto *p,
                         struct model_arena *arena)
{
    struct odb_str *strings = arena_new_n(arena, struct odb_str, p->n_strings);
    for (size_t i = 0; i < p->n_strings; i++)
        strings[i] = attr_str(p->strings[i], arena);
    attr->strings = strings;
    attr->n = p->n_strings;
}

/* Of dense and sparse, one is NULL or empty, and n counts the other. */
static enum odb_status attr_tensors(struct odb_attr *attr, const struct attrs_load *a,
                                    Onnx__TensorProto *const *dense,
                                    Onnx__SparseTensorProto *const *sparse, size_t n,
                                    struct odb_error *err)
{
    attr->tensors = arena_new_n(a->model->priv->arena, struct odb_tensor *, n);
    for (; attr->n < n; attr->n++) {
        struct odb_tensor **t = &attr->tensors[attr->n];
        ODB_TRY(odb_model__keep_tensor(t, a->model, dense ? dense[attr->n] : NULL,
                                       sparse ? sparse[attr->n] : NULL, err));
        if (odb_model__is_hollow(*t)) { /* kernels read attributes whatever may be missing */
            if (err)
                *err = *odb_model__files_missing(a->model->priv->files);
            return ODB_E_MODEL;
        }
    }
    return ODB_OK;
}

static enum odb_status attr_graphs(struct odb_attr *attr, const struct attrs_load *a,
                                   Onnx__GraphProto *const *graphs, size_t n, struct odb_error *err)
{
    attr->graphs = arena_new_n(a->model->priv->arena, struct odb_graph *, n);
    for (; attr->n < n; attr->n++)
        ODB_TRY(odb_model__graph(&attr->graphs[attr->n], a->model, graphs[attr->n], a->load,
                                 a->opsets, err));
    return ODB_OK;
}

static void attr_types(struct odb_attr *attr, Onnx__TypeProto *const *types, size_t n,
                       struct model_arena *arena)
{
    struct odb_buf text = ODB_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        if (i)
            odb_buf_puts(&text, ", ");
        odb_model__type_text(types[i], false, &text);
    }
    struct odb_type first = {.known = false};
    odb_model__type(&first, n ? types[0] : NULL, arena);
    attr->dtype = first.dtype;
    attr->n = n;
    attr->text = odb_model__arena_dup(arena, odb_buf_text(&text), text.len + 1, 1);
    odb_buf_dispose(&text);
}

/* Attributes that hold one message must hold it. */
static enum odb_status attr_need(const void *message, const char *what, struct odb_error *err)
{
    return message ? ODB_OK : odb_fail(err, ODB_E_MODEL, "its type is %s, and it holds none", what);
}

static enum odb_status attr_value(struct odb_attr *attr, const struct attrs_load *a,
                                  const Onnx__AttributeProto *p, struct odb_error *err)
{
    struct model_arena *arena = a->model->priv->arena;
    switch (attr->type) {
    case ODB_ATTR_FLOAT:
        attr->f = p->f;
        return ODB_OK;
    case ODB_ATTR_INT:
        attr->i = p->i;
        return ODB_OK;
    case ODB_ATTR_STRING:
        attr->s = attr_str(p->s, arena);
        return ODB_OK;
    case ODB_ATTR_FLOATS:
        attr->n = p->n_floats;
        attr->floats = (const odb_f32 *)p->floats;
        return ODB_OK;
    case ODB_ATTR_INTS:
        attr->n = p->n_ints;
        attr->ints = p->ints;
        return ODB_OK;
    case ODB_ATTR_STRINGS:
        attr_strings(attr, p, arena);
        return ODB_OK;
    case ODB_ATTR_TENSOR:
        ODB_TRY(attr_need(p->t, "TENSOR", err));
        return attr_tensors(attr, a, &p->t, NULL, 1, err);
    case ODB_ATTR_TENSORS:
        return attr_tensors(attr, a, p->tensors, NULL, p->n_tensors, err);
    case ODB_ATTR_SPARSE_TENSOR:
        ODB_TRY(attr_need(p->sparse_tensor, "SPARSE_TENSOR", err));
        return attr_tensors(attr, a, NULL, &p->sparse_tensor, 1, err);
    case ODB_ATTR_SPARSE_TENSORS:
        return attr_tensors(attr, a, NULL, p->sparse_tensors, p->n_sparse_tensors, err);
    case ODB_ATTR_GRAPH:
        ODB_TRY(attr_need(p->g, "GRAPH", err));
        return attr_graphs(attr, a, &p->g, 1, err);
    case ODB_ATTR_GRAPHS:
        return attr_graphs(attr, a, p->graphs, p->n_graphs, err);
    case ODB_ATTR_TYPE_PROTO:
        ODB_TRY(attr_need(p->tp, "TYPE_PROTO", err));
        attr_types(attr, &p->tp, 1, arena);
        return ODB_OK;
    case ODB_ATTR_TYPE_PROTOS:
        attr_types(attr, p->type_protos, p->n_type_protos, arena);
        return ODB_OK;
    case ODB_ATTR_UNDEFINED:
        return ODB_OK;
    }
    return odb_fail(err, ODB_E_MODEL, "its type %d is unknown", (int)attr->type);
}

enum odb_status odb_model__attrs(struct odb_attrs *out, struct odb_model *model,
                                 Onnx__AttributeProto *const *protos, size_t n,
                                 struct graph_load *load, const struct opset_scope *opsets,
                                 struct odb_error *err)
{
    struct attrs_load a = {model, load, opsets};
    struct odb_attr *attrs = arena_new_n(model->priv->arena, struct odb_attr, n);
    for (size_t i = 0; i < n; i++) {
        const Onnx__AttributeProto *p = protos[i];
        struct odb_attr *attr = &attrs[i];
        attr->name = text_of(p->name);
        attr->ref_name = p->ref_attr_name && *p->ref_attr_name ? p->ref_attr_name : NULL;
        attr->type = attr_type(p);
        if (attr->ref_name)
            continue; /* its value is the caller's */
        enum odb_status status = attr_value(attr, &a, p, err);
        if (status != ODB_OK) {
            odb_error_at(err, "attribute '%s'", attr->name);
            return status;
        }
    }
    *out = (struct odb_attrs){attrs, n};
    return ODB_OK;
}
