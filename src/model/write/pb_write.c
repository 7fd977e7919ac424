/* SPDX-License-Identifier: MIT
 *
 * Values into the messages that pb.c reads; files are written beside and renamed.
 */
#include "model/write/pb_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "model/read/pb_int.h"
#include "model/write/pack.h"
#include "system/file.h"

static enum odb_status pb_message(const struct odb_tensor *t, const char *name,
                                  struct model_arena *arena, ProtobufCMessage **out,
                                  struct odb_error *err);

static enum odb_status pb_messages(const struct odb_tensor *t, struct model_arena *arena,
                                   ProtobufCMessage ***out, struct odb_error *err)
{
    *out = arena_new_n(arena, ProtobufCMessage *, t->n_items);
    for (size_t i = 0; i < t->n_items; i++) {
        if (t->items[i]->kind != t->items[0]->kind)
            return odb_fail(err, ODB_E_INPUT, "a sequence of different kinds of values");
        ODB_TRY(pb_message(t->items[i], NULL, arena, &(*out)[i], err));
    }
    return ODB_OK;
}

static enum odb_status pb_sequence(const struct odb_tensor *t, const char *name,
                                   struct model_arena *arena, ProtobufCMessage **out,
                                   struct odb_error *err)
{
    Onnx__SequenceProto *proto = arena_new(arena, Onnx__SequenceProto);
    onnx__sequence_proto__init(proto);
    *out = &proto->base;
    ProtobufCMessage **items;
    ODB_TRY(pb_messages(t, arena, &items, err));
    proto->name = (char *)(uintptr_t)name;
    proto->has_elem_type = true;
    proto->elem_type = t->n_items ? (int32_t)pb_kinds[t->items[0]->kind].elem : PB_TENSOR;
    switch (proto->elem_type) {
    case PB_TENSOR:
        proto->n_tensor_values = t->n_items;
        proto->tensor_values = (Onnx__TensorProto **)items;
        break;
    case PB_SPARSE:
        proto->n_sparse_tensor_values = t->n_items;
        proto->sparse_tensor_values = (Onnx__SparseTensorProto **)items;
        break;
    case PB_SEQUENCE:
        proto->n_sequence_values = t->n_items;
        proto->sequence_values = (Onnx__SequenceProto **)items;
        break;
    case PB_MAP:
        proto->n_map_values = t->n_items;
        proto->map_values = (Onnx__MapProto **)items;
        break;
    default:
        proto->n_optional_values = t->n_items;
        proto->optional_values = (Onnx__OptionalProto **)items;
        break;
    }
    return ODB_OK;
}

static enum odb_status pb_optional(const struct odb_tensor *t, const char *name,
                                   struct model_arena *arena, ProtobufCMessage **out,
                                   struct odb_error *err)
{
    Onnx__OptionalProto *proto = arena_new(arena, Onnx__OptionalProto);
    onnx__optional_proto__init(proto);
    *out = &proto->base;
    proto->name = (char *)(uintptr_t)name;
    proto->has_elem_type = true;
    if (!t->n_items)
        return ODB_OK; /* elem_type stays UNDEFINED: there is nothing */
    ProtobufCMessage *item;
    ODB_TRY(pb_message(t->items[0], NULL, arena, &item, err));
    proto->elem_type = (int32_t)pb_kinds[t->items[0]->kind].elem;
    switch (proto->elem_type) {
    case PB_TENSOR:
        proto->tensor_value = (Onnx__TensorProto *)item;
        break;
    case PB_SPARSE:
        proto->sparse_tensor_value = (Onnx__SparseTensorProto *)item;
        break;
    case PB_SEQUENCE:
        proto->sequence_value = (Onnx__SequenceProto *)item;
        break;
    case PB_MAP:
        proto->map_value = (Onnx__MapProto *)item;
        break;
    default:
        proto->optional_value = (Onnx__OptionalProto *)item;
        break;
    }
    return ODB_OK;
}

static enum odb_status pb_sparse(const struct odb_tensor *t, const char *name,
                                 struct model_arena *arena, ProtobufCMessage **out,
                                 struct odb_error *err)
{
    Onnx__SparseTensorProto *proto = arena_new(arena, Onnx__SparseTensorProto);
    onnx__sparse_tensor_proto__init(proto);
    *out = &proto->base;
    ProtobufCMessage *values, *indices;
    ODB_TRY(pb_message(t->items[0], name, arena, &values, err));
    ODB_TRY(pb_message(t->items[1], NULL, arena, &indices, err));
    proto->values = (Onnx__TensorProto *)values;
    proto->indices = (Onnx__TensorProto *)indices;
    proto->n_dims = (size_t)t->rank;
    proto->dims = (int64_t *)(uintptr_t)t->dims;
    return ODB_OK;
}

static void pb_put_keys(const struct odb_tensor *keys, struct model_arena *arena,
                        Onnx__MapProto *proto)
{
    const struct odb_str *strings = keys->data;
    proto->has_key_type = true;
    proto->key_type = keys->dtype;
    if (keys->dtype == ODB_STRING) {
        proto->n_string_keys = keys->count;
        proto->string_keys = arena_new_n(arena, ProtobufCBinaryData, keys->count);
        for (size_t i = 0; i < keys->count; i++) {
            proto->string_keys[i].data = (uint8_t *)(uintptr_t)strings[i].data;
            proto->string_keys[i].len = strings[i].len;
        }
        return;
    }
    proto->n_keys = keys->count;
    proto->keys = arena_new_n(arena, int64_t, keys->count);
    for (size_t i = 0; i < keys->count; i++)
        proto->keys[i] = odb_tensor_i64(keys, i);
}

/* The values of a map: a sequence as it is, a tensor [n] as n scalars. */
static enum odb_status pb_map_values(const struct odb_tensor *values, struct model_arena *arena,
                                     ProtobufCMessage **out, struct odb_error *err)
{
    if (values->kind == ODB_SEQUENCE)
        return pb_sequence(values, NULL, arena, out, err);
    size_t each = values->count ? values->bytes / values->count : 0;
    if (values->kind != ODB_TENSOR || (values->count && odb_dtype_info(values->dtype)->bits % 8))
        return odb_fail(err, ODB_E_INPUT, "map values of this kind cannot be written");
    Onnx__SequenceProto *proto = arena_new(arena, Onnx__SequenceProto);
    onnx__sequence_proto__init(proto);
    *out = &proto->base;
    proto->has_elem_type = true;
    proto->elem_type = PB_TENSOR;
    proto->n_tensor_values = values->count;
    proto->tensor_values = arena_new_n(arena, Onnx__TensorProto *, values->count);
    for (size_t i = 0; i < values->count; i++) {
        const struct odb_tensor scalar = {.dtype = values->dtype,
                                          .count = 1,
                                          .bytes = each,
                                          .data = (char *)values->data + i * each};
        proto->tensor_values[i] = odb_model__tensor_message(&scalar, NULL, arena);
    }
    return ODB_OK;
}

static enum odb_status pb_map(const struct odb_tensor *t, const char *name,
                              struct model_arena *arena, ProtobufCMessage **out,
                              struct odb_error *err)
{
    Onnx__MapProto *proto = arena_new(arena, Onnx__MapProto);
    onnx__map_proto__init(proto);
    *out = &proto->base;
    proto->name = (char *)(uintptr_t)name;
    for (int i = 0; i < 2; i++)
        if (t->items[i]->kind == ODB_TENSOR && !t->items[i]->data && t->items[i]->count)
            return odb_fail(err, ODB_E_INPUT, "a map without values cannot be written");
    pb_put_keys(t->items[0], arena, proto);
    ProtobufCMessage *values;
    ODB_TRY(pb_map_values(t->items[1], arena, &values, err));
    proto->values = (Onnx__SequenceProto *)values;
    return ODB_OK;
}

static enum odb_status pb_message(const struct odb_tensor *t, const char *name,
                                  struct model_arena *arena, ProtobufCMessage **out,
                                  struct odb_error *err)
{
    switch (t->kind) {
    case ODB_SEQUENCE:
        return pb_sequence(t, name, arena, out, err);
    case ODB_OPTIONAL:
        return pb_optional(t, name, arena, out, err);
    case ODB_SPARSE:
        return pb_sparse(t, name, arena, out, err);
    case ODB_MAP:
        return pb_map(t, name, arena, out, err);
    default:
        if (!t->data && t->count)
            return odb_fail(err, ODB_E_INPUT, "a shape without values cannot be written");
        *out = &odb_model__tensor_message(t, name, arena)->base;
        return ODB_OK;
    }
}

enum odb_status odb_pb_encode(const struct odb_tensor *t, const char *name, struct odb_buf *out,
                              struct odb_error *err)
{
    struct model_arena *arena = odb_model__arena_new();
    ProtobufCMessage *message = NULL;
    enum odb_status status = pb_message(t, name, arena, &message, err);
    if (status == ODB_OK)
        status = odb_model__pack(message, out, err);
    odb_model__arena_free(arena);
    return status;
}

enum odb_status odb_pb_write(const struct odb_tensor *t, const char *name, const char *path,
                             struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    enum odb_status status = odb_pb_encode(t, name, &bytes, err);
    if (status == ODB_OK)
        status = odb_file_write_unsynced(path, &(struct iovec){bytes.data, bytes.len}, 1, err);
    else
        odb_error_at(err, "%s", path);
    odb_buf_dispose(&bytes);
    return status;
}
