/* SPDX-License-Identifier: MIT
 *
 * TypeProto to struct odb_type. Of nested types the innermost tensor gives element type and shape.
 */
#include "model/read/load_int.h"

/* The fields that tensors and sparse tensors share. */
static void type_tensor(struct odb_type *out, int32_t elem_type,
                        const Onnx__TensorShapeProto *shape, struct model_arena *arena)
{
    if (elem_type > ODB_UNDEFINED && elem_type < ODB_DTYPE_COUNT)
        out->dtype = (enum odb_dtype)elem_type;
    if (!shape)
        return;
    if (shape->n_dim > ODB_MAX_RANK)
        return; /* legal, and no tensor of ours can have it: only the text tells */
    out->rank = (int)shape->n_dim;
    out->dims = arena_new_n(arena, struct odb_dim, shape->n_dim);
    for (int i = 0; i < out->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        struct odb_dim *to = &out->dims[i];
        to->value = -1;
        if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
            to->value = ODB_MAX(dim->dim_value, -1);
        else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM)
            to->param = dim->dim_param && *dim->dim_param ? dim->dim_param : NULL;
    }
}

/* The type inside a sequence, optional or map; NULL: type is not one, or says nothing. kind: of
 * type itself. */
static const Onnx__TypeProto *type_inner(const Onnx__TypeProto *type, enum odb_kind *kind)
{
    switch (type->value_case) {
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        *kind = ODB_SEQUENCE;
        return type->sequence_type->elem_type;
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        *kind = ODB_OPTIONAL;
        return type->optional_type->elem_type;
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        *kind = ODB_MAP;
        return type->map_type->value_type;
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        *kind = ODB_SPARSE;
        return NULL;
    default:
        *kind = ODB_TENSOR;
        return NULL;
    }
}

static const char *type_text(const Onnx__TypeProto *type, bool ranks, struct model_arena *arena)
{
    struct odb_buf text = ODB_BUF_INIT;
    odb_model__type_text(type, ranks, &text);
    const char *kept = odb_model__arena_dup(arena, odb_buf_text(&text), text.len + 1, 1);
    odb_buf_dispose(&text);
    return kept;
}

void odb_model__type(struct odb_type *out, const Onnx__TypeProto *type, struct model_arena *arena)
{
    *out = (struct odb_type){.known = false};
    if (!type || type->value_case == ONNX__TYPE_PROTO__VALUE__NOT_SET)
        return;
    out->text = type_text(type, false, arena);
    out->shown = type_text(type, true, arena);
    if (type->value_case == ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE)
        return; /* only its name is known */
    out->known = true;
    out->rank = -1;
    enum odb_kind kind;
    const Onnx__TypeProto *inner = type_inner(type, &out->kind);
    while (inner) {
        type = inner;
        inner = type_inner(type, &kind);
    }
    if (type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
        type_tensor(out, type->tensor_type->elem_type, type->tensor_type->shape, arena);
    else if (type->value_case == ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE)
        type_tensor(out, type->sparse_tensor_type->elem_type, type->sparse_tensor_type->shape,
                    arena);
}
