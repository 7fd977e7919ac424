/* SPDX-License-Identifier: MIT
 *
 * Messages are built shallowly: heads of our own, with data, names and whole submessages borrowed
 * from tensors and from the loaded model. So a model of any size is written without a second copy
 * of it in memory, and nothing of the loaded model is ever changed.
 */
#include "model/write/pack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- messages --------------------------------------------------------------------------------- */

char *odb_model__arena_printf(struct model_arena *arena, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *text = odb_model__arena_alloc(arena, size, 1);
    vsnprintf(text, size, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

/* protobuf-c's structs have no const; packing changes nothing. */
static char *pack_borrow(const char *s)
{
    return (char *)(uintptr_t)s;
}

Onnx__TensorProto *odb_model__with_bytes(const Onnx__TensorProto *proto, const void *data,
                                         size_t size, struct model_arena *arena)
{
    Onnx__TensorProto *copy = arena_new(arena, Onnx__TensorProto);
    onnx__tensor_proto__init(copy);
    copy->name = proto->name;
    copy->doc_string = proto->doc_string;
    copy->n_metadata_props = proto->n_metadata_props;
    copy->metadata_props = proto->metadata_props;
    copy->has_data_type = proto->has_data_type;
    copy->data_type = proto->data_type;
    copy->n_dims = proto->n_dims;
    copy->dims = proto->dims;
    copy->has_raw_data = true;
    copy->raw_data.data = (uint8_t *)(uintptr_t)data;
    copy->raw_data.len = size;
    return copy;
}

Onnx__TensorProto *odb_model__with_reference(const Onnx__TensorProto *proto, const char *location,
                                             size_t offset, size_t size, struct model_arena *arena)
{
    const char *const pairs[][2] = {
        {"location", location},
        {"offset", odb_model__arena_printf(arena, "%zu", offset)},
        {"length", odb_model__arena_printf(arena, "%zu", size)},
    };
    Onnx__TensorProto *copy = odb_model__with_bytes(proto, NULL, 0, arena);
    copy->has_raw_data = false;
    copy->has_data_location = true;
    copy->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    copy->n_external_data = ODB_COUNT(pairs);
    copy->external_data = arena_new_n(arena, Onnx__StringStringEntryProto *, ODB_COUNT(pairs));
    for (size_t i = 0; i < ODB_COUNT(pairs); i++) {
        copy->external_data[i] = arena_new(arena, Onnx__StringStringEntryProto);
        onnx__string_string_entry_proto__init(copy->external_data[i]);
        copy->external_data[i]->key = pack_borrow(pairs[i][0]);
        copy->external_data[i]->value = pack_borrow(pairs[i][1]);
    }
    return copy;
}

Onnx__TensorProto *odb_model__tensor_message(const struct odb_tensor *t, const char *name,
                                             struct model_arena *arena)
{
    Onnx__TensorProto head = ONNX__TENSOR_PROTO__INIT;
    head.name = pack_borrow(name);
    head.has_data_type = true;
    head.data_type = t->dtype;
    head.n_dims = (size_t)t->rank;
    head.dims = (int64_t *)(uintptr_t)t->dims;
    Onnx__TensorProto *proto = odb_model__with_bytes(&head, t->data, t->bytes, arena);
    if (t->dtype == ODB_STRING) {
        const struct odb_str *strings = t->data;
        proto->has_raw_data = false;
        proto->n_string_data = t->count;
        proto->string_data = arena_new_n(arena, ProtobufCBinaryData, t->count);
        for (size_t i = 0; i < t->count; i++) {
            proto->string_data[i].data = (uint8_t *)pack_borrow(strings[i].data);
            proto->string_data[i].len = strings[i].len;
        }
    }
    return proto;
}

static Onnx__TensorShapeProto *pack_shape(int rank, const int64_t *dims, const char *name,
                                          struct model_arena *arena)
{
    Onnx__TensorShapeProto *shape = arena_new(arena, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(shape);
    shape->n_dim = (size_t)rank;
    shape->dim = arena_new_n(arena, Onnx__TensorShapeProto__Dimension *, (size_t)rank);
    for (int i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *dim =
            arena_new(arena, Onnx__TensorShapeProto__Dimension);
        onnx__tensor_shape_proto__dimension__init(dim);
        if (dims[i] >= 0) {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            dim->dim_value = dims[i];
        } else {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            dim->dim_param = odb_model__arena_printf(arena, "%s_dim%d", name, i);
        }
        shape->dim[i] = dim;
    }
    return shape;
}

Onnx__TypeProto *odb_model__tensor_type(enum odb_dtype dtype, int rank, const int64_t *dims,
                                        const char *name, struct model_arena *arena)
{
    Onnx__TypeProto *type = arena_new(arena, Onnx__TypeProto);
    Onnx__TypeProto__Tensor *tensor = arena_new(arena, Onnx__TypeProto__Tensor);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = dtype;
    if (dims)
        tensor->shape = pack_shape(rank, dims, name, arena);
    return type;
}

/* --- bytes ------------------------------------------------------------------------------------ */

enum odb_status odb_model__pack(const ProtobufCMessage *message, struct odb_buf *out,
                                struct odb_error *err)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    char *to = size > INT32_MAX ? NULL : odb_buf_reserve(out, size);
    if (!to) {
        odb_fail(err, ODB_E_MODEL, "%zu bytes do not fit into one message (protobuf ends at 2 GiB)",
                 size);
        return odb_error_remedy(err, "keep the weights in a file beside the model");
    }
    size_t wrote = protobuf_c_message_pack(message, (uint8_t *)to);
    ODB_ASSERT(wrote == size);
    out->len += size;
    out->data[out->len] = '\0';
    return ODB_OK;
}

/* --- where weights go ------------------------------------------------------------------------- */

/* Where the bytes begin in the model's file; false when they are not in it. */
static bool place_file_offset(const struct odb_model *model, const ProtobufCBinaryData *raw,
                              size_t *offset)
{
    const struct model_int *priv = model->priv;
    uintptr_t begin = (uintptr_t)priv->file_data, at = (uintptr_t)raw->data;
    if (!model->path[0] || at < begin || at - begin > priv->file_size ||
        raw->len > priv->file_size - (at - begin))
        return false;
    *offset = at - begin;
    return true;
}

static const char *place_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool place_is_outside(const Onnx__TensorProto *proto)
{
    return proto->has_data_location &&
           proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

Onnx__TensorProto *odb_model__by_reference(const struct odb_model *model,
                                           const Onnx__TensorProto *proto,
                                           struct model_arena *arena)
{
    size_t offset;
    if (place_is_outside(proto) || !proto->has_raw_data || proto->raw_data.len <= MODEL_LARGE ||
        !place_file_offset(model, &proto->raw_data, &offset))
        return NULL;
    return odb_model__with_reference(proto, place_basename(model->path), offset,
                                     proto->raw_data.len, arena);
}

/* A tensor whose bytes go into a file as they are. */
static bool place_has_bytes(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && t->data && t->dtype != ODB_STRING;
}

enum odb_status odb_model__place_inside(const struct model_weights *to,
                                        const Onnx__TensorProto *proto, const struct odb_tensor *t,
                                        Onnx__TensorProto **out, struct odb_error *err)
{
    *out = (Onnx__TensorProto *)(uintptr_t)proto;
    if (!place_is_outside(proto) || to->how == ODB_WEIGHTS_REFERENCE || to->how == ODB_WEIGHTS_KEEP)
        return ODB_OK;
    if (!place_has_bytes(t))
        return odb_fail(err, ODB_E_MODEL, "the values of weight '%s' are not at hand",
                        proto->name ? proto->name : "");
    *out = odb_model__with_bytes(proto, t->data, t->bytes, to->arena);
    return ODB_OK;
}

enum odb_status odb_model__place(const struct model_weights *to, const Onnx__TensorProto *proto,
                                 const struct odb_tensor *t, Onnx__TensorProto **out,
                                 struct odb_error *err)
{
    *out = to->how == ODB_WEIGHTS_REFERENCE ? odb_model__by_reference(to->model, proto, to->arena)
                                            : NULL;
    if (*out)
        return ODB_OK;
    if (to->how == ODB_WEIGHTS_BESIDE && place_has_bytes(t) && t->bytes > MODEL_LARGE) {
        size_t offset = odb_file_parts_add(to->out, MODEL_ALIGN, t->data, t->bytes);
        *out = odb_model__with_reference(proto, to->file, offset, t->bytes, to->arena);
        return ODB_OK;
    }
    return odb_model__place_inside(to, proto, t, out, err);
}

enum odb_status odb_model__place_sparse(const struct model_weights *to, int value,
                                        Onnx__SparseTensorProto **out, struct odb_error *err)
{
    const Onnx__SparseTensorProto *proto = to->model->priv->sparse_inits[value];
    const struct odb_tensor *t = to->model->priv->packed[value];
    bool parts = t && t->kind == ODB_SPARSE && t->n_items == 2;
    Onnx__SparseTensorProto *copy = arena_new(to->arena, Onnx__SparseTensorProto);
    *copy = *proto;
    *out = copy;
    if (proto->values)
        ODB_TRY(odb_model__place_inside(to, proto->values, parts ? t->items[0] : NULL,
                                        &copy->values, err));
    if (proto->indices)
        ODB_TRY(odb_model__place_inside(to, proto->indices, parts ? t->items[1] : NULL,
                                        &copy->indices, err));
    return ODB_OK;
}
