/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models for tests of the loader, made of the messages themselves so that they can be wrong in any
 * way. Everything lives in one arena and is freed with it.
 */
#ifndef ONNX_MAKE_H
#define ONNX_MAKE_H

#include <string.h>

#include "base/mem.h"
#include "model/arena.h"
#include "onnx.pb-c.h"

#define MAKE(m, type, init)                                                                        \
    ({                                                                                             \
        type *made_ = arena_new((m)->arena, type);                                                 \
        init(made_);                                                                               \
        made_;                                                                                     \
    })

struct make {
    struct model_arena *arena;
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph;
};

static inline char *make_text(struct make *m, const char *s)
{
    return odb_model__arena_dup(m->arena, s, strlen(s) + 1, 1);
}

/* Appends to a repeated field of messages or strings. */
static inline void make_append(struct make *m, size_t *n, void *list, void *item)
{
    void **old = *(void ***)list, **grown = arena_new_n(m->arena, void *, *n + 1);
    if (*n)
        memcpy(grown, old, *n * sizeof *grown);
    grown[(*n)++] = item;
    memcpy(list, &grown, sizeof grown);
}

static inline Onnx__GraphProto *make_graph(struct make *m, const char *name)
{
    Onnx__GraphProto *g = MAKE(m, Onnx__GraphProto, onnx__graph_proto__init);
    g->name = make_text(m, name);
    return g;
}

static inline Onnx__OperatorSetIdProto *make_opset(struct make *m, const char *domain,
                                                   int64_t version)
{
    Onnx__OperatorSetIdProto *o =
        MAKE(m, Onnx__OperatorSetIdProto, onnx__operator_set_id_proto__init);
    o->domain = make_text(m, domain);
    o->has_version = true;
    o->version = version;
    return o;
}

/* An empty model of IR 8 and opset 17. */
static inline struct make make_new(void)
{
    struct make m = {.arena = odb_model__arena_new()};
    m.model = MAKE(&m, Onnx__ModelProto, onnx__model_proto__init);
    m.model->has_ir_version = true;
    m.model->ir_version = 8;
    m.graph = m.model->graph = make_graph(&m, "g");
    make_append(&m, &m.model->n_opset_import, &m.model->opset_import, make_opset(&m, "", 17));
    return m;
}

static inline void make_free(struct make *m)
{
    odb_model__arena_free(m->arena);
}

/* Words of text, at spaces, to a list; "-" is "". */
static inline void make_words(struct make *m, size_t *n, char ***list, const char *text)
{
    char *copy = make_text(m, text), *rest;
    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        make_append(m, n, list, strcmp(w, "-") ? w : make_text(m, ""));
}

static inline Onnx__NodeProto *make_node(struct make *m, Onnx__GraphProto *g, const char *op,
                                         const char *name, const char *in, const char *out)
{
    Onnx__NodeProto *n = MAKE(m, Onnx__NodeProto, onnx__node_proto__init);
    n->op_type = make_text(m, op);
    n->name = make_text(m, name);
    make_words(m, &n->n_input, &n->input, in);
    make_words(m, &n->n_output, &n->output, out);
    if (g)
        make_append(m, &g->n_node, &g->node, n);
    return n;
}

/* float[dims...], a dimension of -1 being "N"; rank -1: no type. */
static inline Onnx__ValueInfoProto *make_info(struct make *m, const char *name, int rank,
                                              const int64_t *dims)
{
    Onnx__ValueInfoProto *v = MAKE(m, Onnx__ValueInfoProto, onnx__value_info_proto__init);
    v->name = make_text(m, name);
    if (rank < 0)
        return v;
    v->type = MAKE(m, Onnx__TypeProto, onnx__type_proto__init);
    v->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    Onnx__TypeProto__Tensor *t = v->type->tensor_type =
        MAKE(m, Onnx__TypeProto__Tensor, onnx__type_proto__tensor__init);
    t->has_elem_type = true;
    t->elem_type = 1;
    t->shape = MAKE(m, Onnx__TensorShapeProto, onnx__tensor_shape_proto__init);
    for (int i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *d =
            MAKE(m, Onnx__TensorShapeProto__Dimension, onnx__tensor_shape_proto__dimension__init);
        d->value_case = dims[i] < 0 ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM
                                    : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        if (dims[i] < 0)
            d->dim_param = make_text(m, "N");
        else
            d->dim_value = dims[i];
        make_append(m, &t->shape->n_dim, &t->shape->dim, d);
    }
    return v;
}

static inline void make_input(struct make *m, Onnx__GraphProto *g, const char *name)
{
    make_append(m, &g->n_input, &g->input, make_info(m, name, 1, (int64_t[]){-1}));
}

static inline void make_output(struct make *m, Onnx__GraphProto *g, const char *name)
{
    make_append(m, &g->n_output, &g->output, make_info(m, name, -1, NULL));
}

static inline Onnx__TensorProto *make_tensor(struct make *m, const char *name, int32_t dtype,
                                             int rank, const int64_t *dims)
{
    Onnx__TensorProto *t = MAKE(m, Onnx__TensorProto, onnx__tensor_proto__init);
    t->name = make_text(m, name);
    t->has_data_type = true;
    t->data_type = dtype;
    t->n_dims = (size_t)rank;
    t->dims = odb_model__arena_dup(m->arena, dims, (size_t)rank, sizeof *dims);
    return t;
}

static inline void make_raw(struct make *m, Onnx__TensorProto *t, const void *data, size_t size)
{
    t->has_raw_data = true;
    t->raw_data.len = size;
    t->raw_data.data = odb_model__arena_dup(m->arena, data, size, 1);
}

static inline void make_init(struct make *m, Onnx__GraphProto *g, Onnx__TensorProto *t)
{
    make_append(m, &g->n_initializer, &g->initializer, t);
}

/* A float weight [n] in raw_data, with elements 0, 1, 2, … */
static inline Onnx__TensorProto *make_weight(struct make *m, const char *name, int64_t n)
{
    Onnx__TensorProto *t = make_tensor(m, name, 1, 1, &n);
    float *data = arena_new_n(m->arena, float, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)i;
    make_raw(m, t, data, (size_t)n * sizeof *data);
    return t;
}

static inline void make_entry(struct make *m, size_t *n, Onnx__StringStringEntryProto ***list,
                              const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e =
        MAKE(m, Onnx__StringStringEntryProto, onnx__string_string_entry_proto__init);
    e->key = make_text(m, key);
    e->value = make_text(m, value);
    make_append(m, n, list, e);
}

static inline Onnx__AttributeProto *make_attr(struct make *m, Onnx__NodeProto *node,
                                              const char *name, int type)
{
    Onnx__AttributeProto *a = MAKE(m, Onnx__AttributeProto, onnx__attribute_proto__init);
    a->name = make_text(m, name);
    a->has_type = type != 0;
    a->type = (Onnx__AttributeProto__AttributeType)type;
    if (node)
        make_append(m, &node->n_attribute, &node->attribute, a);
    return a;
}

static inline void make_attr_graph(struct make *m, Onnx__NodeProto *node, const char *name,
                                   Onnx__GraphProto *body)
{
    make_attr(m, node, name, 5)->g = body;
}

/* The model's bytes, in the arena. */
static inline unsigned char *make_bytes(struct make *m, size_t *size)
{
    *size = protobuf_c_message_get_packed_size(&m->model->base);
    unsigned char *bytes = arena_new_n(m->arena, unsigned char, *size);
    protobuf_c_message_pack(&m->model->base, bytes);
    return bytes;
}

#endif
