/* SPDX-License-Identifier: MIT
 *
 * Values as the files of ONNX's test data: TensorProto, SequenceProto, MapProto, OptionalProto,
 * SparseTensorProto. The bytes do not say which of them they are; the type of the graph's input
 * or output does, so the caller knows.
 *
 * A value that was read views the file's bytes, which its storage keeps. They are read, not mapped:
 * a target may write its outputs over the last run's, and those must not change under us.
 */
#include "model/read/pb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "base/mem.h"
#include "model/model_int.h"
#include "model/read/pb_int.h"
#include "model/read/wire.h"

/* What the tensors look into. */
struct pb_storage {
    struct odb_storage base;
    struct model_arena *arena; /* owned: the message without its large data */
    void *bytes;               /* owned: the file, which the large data is part of */
};

struct pb_source {
    struct odb_storage *storage;
    const char *dir; /* external data; NULL: there is none for bytes */
};

static void pb_storage_release(struct odb_storage *storage)
{
    struct pb_storage *pb = (struct pb_storage *)storage;
    odb_model__arena_free(pb->arena);
    free(pb->bytes);
    free(pb);
}

static struct pb_storage *pb_storage_new(void *bytes)
{
    struct pb_storage *pb = odb_new(struct pb_storage);
    atomic_init(&pb->base.refs, 1);
    pb->base.release = pb_storage_release;
    pb->arena = odb_model__arena_new();
    pb->bytes = bytes;
    return pb;
}

static enum odb_status pb_from(struct odb_tensor **out, const ProtobufCMessage *message,
                               const struct pb_source *source, struct odb_error *err);

/* A list of messages as a container. */
static enum odb_status pb_from_list(struct odb_tensor **out, enum odb_kind kind,
                                    ProtobufCMessage *const *messages, size_t n,
                                    const struct pb_source *source, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct odb_tensor **items = odb_new_n(struct odb_tensor *, n + 1);
    for (size_t i = 0; i < n; i++) {
        status = pb_from(&items[i], messages[i], source, err);
        if (status != ODB_OK) {
            odb_error_at(err, "element %zu", i);
            goto out;
        }
    }
    status = odb_tensor_new_container(out, kind, items, n, err);
out:
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(items[i]);
    free(items);
    return status;
}

static enum odb_status pb_from_sequence(struct odb_tensor **out, const Onnx__SequenceProto *proto,
                                        const struct pb_source *source, struct odb_error *err)
{
    const struct {
        void *items;
        size_t n;
    } lists[] = {
        [PB_UNDEFINED] = {NULL, 0},
        [PB_TENSOR] = {proto->tensor_values, proto->n_tensor_values},
        [PB_SPARSE] = {proto->sparse_tensor_values, proto->n_sparse_tensor_values},
        [PB_SEQUENCE] = {proto->sequence_values, proto->n_sequence_values},
        [PB_MAP] = {proto->map_values, proto->n_map_values},
        [PB_OPTIONAL] = {proto->optional_values, proto->n_optional_values},
    };
    if (proto->elem_type < 0 || (size_t)proto->elem_type >= ODB_COUNT(lists))
        return odb_fail(err, ODB_E_FORMAT, "a sequence of unknown element kind %d",
                        (int)proto->elem_type);
    return pb_from_list(out, ODB_SEQUENCE, lists[proto->elem_type].items, lists[proto->elem_type].n,
                        source, err);
}

static enum odb_status pb_from_optional(struct odb_tensor **out, const Onnx__OptionalProto *proto,
                                        const struct pb_source *source, struct odb_error *err)
{
    ProtobufCMessage *const values[] = {
        [PB_UNDEFINED] = NULL,
        [PB_TENSOR] = (ProtobufCMessage *)proto->tensor_value,
        [PB_SPARSE] = (ProtobufCMessage *)proto->sparse_tensor_value,
        [PB_SEQUENCE] = (ProtobufCMessage *)proto->sequence_value,
        [PB_MAP] = (ProtobufCMessage *)proto->map_value,
        [PB_OPTIONAL] = (ProtobufCMessage *)proto->optional_value,
    };
    if (proto->elem_type < 0 || (size_t)proto->elem_type >= ODB_COUNT(values))
        return odb_fail(err, ODB_E_FORMAT, "an optional of unknown element kind %d",
                        (int)proto->elem_type);
    ProtobufCMessage *const *value = &values[proto->elem_type];
    return pb_from_list(out, ODB_OPTIONAL, value, *value != NULL, source, err);
}

static enum odb_status pb_from_keys(struct odb_tensor **out, const Onnx__MapProto *proto,
                                    struct odb_error *err)
{
    enum odb_dtype dtype = (enum odb_dtype)proto->key_type;
    bool strings = dtype == ODB_STRING;
    if (!strings && !odb_dtype_is_integer(dtype))
        return odb_fail(err, ODB_E_FORMAT, "a map whose keys have type %d", (int)proto->key_type);
    size_t n = strings ? proto->n_string_keys : proto->n_keys;
    ODB_TRY(odb_tensor_new(out, dtype, 1, (int64_t[]){(int64_t)n}, err));
    for (size_t i = 0; i < n; i++) {
        const ProtobufCBinaryData *key = strings ? &proto->string_keys[i] : NULL;
        if (!strings)
            odb_store_i64(dtype, (*out)->data, i, proto->keys[i]);
        else
            ODB_TRY(odb_tensor_set_string(*out, i, (const char *)key->data, key->len, err));
    }
    return ODB_OK;
}

/* Whether the items are single numbers of one type, which the values of a map mostly are. */
static bool pb_are_scalars(const struct odb_tensor *list)
{
    for (size_t i = 0; i < list->n_items; i++) {
        const struct odb_tensor *t = list->items[i];
        if (t->kind != ODB_TENSOR || t->count != 1 || t->dtype != list->items[0]->dtype ||
            t->rank > 1 || odb_dtype_info(t->dtype)->bits % 8)
            return false;
    }
    return list->n_items > 0;
}

/* n scalars as one tensor [n]. */
static enum odb_status pb_stack(struct odb_tensor **out, const struct odb_tensor *list,
                                struct odb_error *err)
{
    enum odb_dtype dtype = list->items[0]->dtype;
    size_t each = list->items[0]->bytes;
    ODB_TRY(odb_tensor_new(out, dtype, 1, (int64_t[]){(int64_t)list->n_items}, err));
    for (size_t i = 0; i < list->n_items; i++) {
        const struct odb_str *s = list->items[i]->data;
        if (dtype == ODB_STRING)
            ODB_TRY(odb_tensor_set_string(*out, i, s->data, s->len, err));
        else
            memcpy((char *)(*out)->data + i * each, list->items[i]->data, each);
    }
    return ODB_OK;
}

static enum odb_status pb_from_map(struct odb_tensor **out, const Onnx__MapProto *proto,
                                   const struct pb_source *source, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct odb_tensor *parts[2] = {NULL, NULL}, *stacked = NULL;
    ODB_TRY_OUT(pb_from_keys(&parts[0], proto, err));
    if (!proto->values) {
        status = odb_fail(err, ODB_E_FORMAT, "a map without values");
        goto out;
    }
    ODB_TRY_OUT(pb_from_sequence(&parts[1], proto->values, source, err));
    if (parts[1]->n_items != parts[0]->count) {
        status = odb_fail(err, ODB_E_FORMAT, "a map of %zu keys and %zu values", parts[0]->count,
                          parts[1]->n_items);
        goto out;
    }
    if (pb_are_scalars(parts[1])) {
        ODB_TRY_OUT(pb_stack(&stacked, parts[1], err));
        odb_tensor_unref(parts[1]);
        parts[1] = stacked;
        stacked = NULL;
    }
    status = odb_tensor_new_container(out, ODB_MAP, parts, 2, err);
out:
    odb_tensor_unref(parts[0]);
    odb_tensor_unref(parts[1]);
    odb_tensor_unref(stacked);
    return status;
}

static bool pb_is_outside(const Onnx__TensorProto *proto)
{
    return proto && proto->has_data_location &&
           proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static enum odb_status pb_from_tensor(struct odb_tensor **out, const Onnx__TensorProto *proto,
                                      const struct pb_source *source, struct odb_error *err)
{
    if (!source->dir && pb_is_outside(proto))
        return odb_fail(err, ODB_E_FORMAT, "a value that refers to a file");
    return odb_model__tensor(out, proto, source->storage, source->dir ? source->dir : "", err);
}

static enum odb_status pb_from_sparse(struct odb_tensor **out, const Onnx__SparseTensorProto *proto,
                                      const struct pb_source *source, struct odb_error *err)
{
    if (!source->dir && (pb_is_outside(proto->values) || pb_is_outside(proto->indices)))
        return odb_fail(err, ODB_E_FORMAT, "a value that refers to a file");
    return odb_model__sparse(out, proto, source->storage, source->dir ? source->dir : "", err);
}

static enum odb_status pb_from(struct odb_tensor **out, const ProtobufCMessage *message,
                               const struct pb_source *source, struct odb_error *err)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &onnx__tensor_proto__descriptor)
        return pb_from_tensor(out, (const Onnx__TensorProto *)message, source, err);
    if (type == &onnx__sparse_tensor_proto__descriptor)
        return pb_from_sparse(out, (const Onnx__SparseTensorProto *)message, source, err);
    if (type == &onnx__sequence_proto__descriptor)
        return pb_from_sequence(out, (const Onnx__SequenceProto *)message, source, err);
    if (type == &onnx__map_proto__descriptor)
        return pb_from_map(out, (const Onnx__MapProto *)message, source, err);
    return pb_from_optional(out, (const Onnx__OptionalProto *)message, source, err);
}

static enum odb_status pb_decode_take(struct odb_tensor **out, enum odb_kind kind, void *bytes,
                                      size_t size, const char *dir, struct odb_error *err)
{
    const ProtobufCMessageDescriptor *type = pb_kinds[kind].message;
    struct pb_storage *pb = pb_storage_new(bytes);
    ProtobufCMessage *message = NULL;
    enum odb_status status = odb_model__unpack(&message, type, bytes, size, pb->arena, err);
    if (status == ODB_OK)
        status = pb_from(out, message, &(struct pb_source){&pb->base, dir}, err);
    odb_storage_unref(&pb->base);
    return status;
}

enum odb_status odb_pb_decode(struct odb_tensor **out, enum odb_kind kind, const void *bytes,
                              size_t size, struct odb_error *err)
{
    void *copy = malloc(size + 1);
    if (!copy)
        return odb_fail(err, ODB_E_NOMEM, "no memory for a value of %zu bytes", size);
    if (size)
        memcpy(copy, bytes, size);
    return pb_decode_take(out, kind, copy, size, NULL, err);
}

/* --- files ------------------------------------------------------------------------------------ */

static enum odb_status pb_io_failed(struct odb_error *err)
{
    return odb_fail(err, ODB_E_IO, "%s", strerror(errno));
}

/* The whole file in fresh memory; the size may be any, tensors are large. */
static enum odb_status pb_slurp(const char *path, void **data, size_t *size, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    struct stat st;
    size_t all;
    *data = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make us wait */
    if (fd < 0)
        return pb_io_failed(err);
    if (fstat(fd, &st) != 0) {
        status = pb_io_failed(err);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        status = odb_fail(err, ODB_E_IO, "not a regular file");
        goto out;
    }
    ODB_TRY_OUT(odb_file_size(&all, &st, err));
    *data = malloc(all + 1);
    if (!*data) {
        status = odb_fail(err, ODB_E_NOMEM, "no memory for %zu bytes", all);
        goto out;
    }
    while (*size < all) {
        ssize_t n = read(fd, (char *)*data + *size, all - *size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            status = pb_io_failed(err);
            goto out;
        }
        if (n == 0)
            break; /* it became shorter meanwhile */
        *size += (size_t)n;
    }
out:
    close(fd);
    if (status != ODB_OK)
        free(*data);
    return status;
}

#define PB_NAME_FIELD 8 /* TensorProto.name */
#define PB_NAME_MOST 65536

static bool pb_varint(FILE *file, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        int c = getc(file);
        if (c == EOF)
            return false;
        *v |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return true;
    }
    return false;
}

/* Passes over a field's value; *size: of one that has a length, which is not passed over. */
static bool pb_field(FILE *file, unsigned wire_type, uint64_t *size)
{
    uint64_t ignored;
    *size = 0;
    if (wire_type == 0)
        return pb_varint(file, &ignored);
    if (wire_type == 1 || wire_type == 5)
        return fseeko(file, wire_type == 1 ? 8 : 4, SEEK_CUR) == 0;
    return wire_type == 2 && pb_varint(file, size) && *size < (uint64_t)1 << 62;
}

char *odb_pb_name(const char *path)
{
    FILE *file = odb_file_is_regular(path) ? fopen(path, "rbe") : NULL;
    char *name = NULL;
    uint64_t tag, size;
    while (file && !name && pb_varint(file, &tag) && pb_field(file, tag & 7, &size)) {
        if (tag == (PB_NAME_FIELD << 3 | 2) && size > 0 && size < PB_NAME_MOST) {
            name = odb_xcalloc((size_t)size + 1, 1);
            if (fread(name, 1, (size_t)size, file) == size && strlen(name) == size)
                continue;
            free(name);
            name = NULL;
            break;
        }
        if (fseeko(file, (off_t)size, SEEK_CUR) != 0)
            break;
    }
    if (file)
        fclose(file);
    return name;
}

enum odb_status odb_pb_read(struct odb_tensor **out, enum odb_kind kind, const char *path,
                            struct odb_error *err)
{
    void *data;
    size_t size;
    const char *slash = strrchr(path, '/');
    char *dir = slash ? odb_xstrndup(path, (size_t)(slash - path) + 1) : odb_xstrdup(".");
    enum odb_status status = pb_slurp(path, &data, &size, err);
    if (status == ODB_OK)
        status = pb_decode_take(out, kind, data, size, dir, err);
    free(dir);
    if (status != ODB_OK)
        odb_error_at(err, "%s", path);
    return status;
}

enum odb_status odb_pb_read_as(struct odb_tensor **out, const struct odb_type *type,
                               const char *path, struct odb_error *err)
{
    ODB_TRY(odb_pb_read(out, type->known ? type->kind : ODB_TENSOR, path, err));
    if ((*out)->kind != ODB_TENSOR && !(*out)->n_items)
        (*out)->dtype = type->dtype;
    return ODB_OK;
}
