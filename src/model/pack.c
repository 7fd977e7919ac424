/* SPDX-License-Identifier: MIT
 *
 * Messages are built shallowly: heads of our own, with data, names and whole submessages borrowed
 * from tensors and from the loaded model. So a model of any size is written without a second copy
 * of it in memory, and nothing of the loaded model is ever changed.
 */
#include "model/pack.h"

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
