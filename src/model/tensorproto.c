/* SPDX-License-Identifier: MIT
 *
 * TensorProto to tensor. A tensor's elements stand in one of three places: raw_data and external
 * data are viewed, the typed fields are copied, for protobuf keeps them as other types than they
 * are (an int8 as an int32) or as lists of strings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/files.h"
#include "model/model_int.h"

/* A typed field, as a run of numbers of one width. */
struct typed_data {
    const char *name;
    const void *data;
    size_t n, width;
};

enum typed_field { FIELD_NONE, FIELD_FLOAT, FIELD_DOUBLE, FIELD_INT32, FIELD_INT64, FIELD_UINT64 };

/* Which typed field serves a type, as the format has it. Strings apart. */
static const unsigned char typed_field_of[ODB_DTYPE_COUNT] = {
    [ODB_F32] = FIELD_FLOAT,        [ODB_C64] = FIELD_FLOAT,        [ODB_F64] = FIELD_DOUBLE,
    [ODB_C128] = FIELD_DOUBLE,      [ODB_I64] = FIELD_INT64,        [ODB_U32] = FIELD_UINT64,
    [ODB_U64] = FIELD_UINT64,       [ODB_I32] = FIELD_INT32,        [ODB_I16] = FIELD_INT32,
    [ODB_U16] = FIELD_INT32,        [ODB_I8] = FIELD_INT32,         [ODB_U8] = FIELD_INT32,
    [ODB_BOOL] = FIELD_INT32,       [ODB_F16] = FIELD_INT32,        [ODB_BF16] = FIELD_INT32,
    [ODB_F8E4M3FN] = FIELD_INT32,   [ODB_F8E4M3FNUZ] = FIELD_INT32, [ODB_F8E5M2] = FIELD_INT32,
    [ODB_F8E5M2FNUZ] = FIELD_INT32, [ODB_F8E8M0] = FIELD_INT32,     [ODB_U4] = FIELD_INT32,
    [ODB_I4] = FIELD_INT32,         [ODB_F4E2M1] = FIELD_INT32,     [ODB_U2] = FIELD_INT32,
    [ODB_I2] = FIELD_INT32,
};

static struct typed_data tensor_typed(const Onnx__TensorProto *proto, enum odb_dtype dtype)
{
    switch ((enum typed_field)typed_field_of[dtype]) {
    case FIELD_FLOAT:
        return (struct typed_data){"float_data", proto->float_data, proto->n_float_data, 4};
    case FIELD_DOUBLE:
        return (struct typed_data){"double_data", proto->double_data, proto->n_double_data, 8};
    case FIELD_INT32:
        return (struct typed_data){"int32_data", proto->int32_data, proto->n_int32_data, 4};
    case FIELD_INT64:
        return (struct typed_data){"int64_data", proto->int64_data, proto->n_int64_data, 8};
    case FIELD_UINT64:
        return (struct typed_data){"uint64_data", proto->uint64_data, proto->n_uint64_data, 8};
    case FIELD_NONE:
        break;
    }
    return (struct typed_data){.name = "its typed field"};
}

/* What is known of a tensor before its elements are looked for. */
struct tensor_head {
    const Onnx__TensorProto *proto;
    enum odb_dtype dtype;
    int rank;
    size_t count, bytes; /* that the elements need; strings: 0 */
};

static enum odb_status tensor_read_head(struct tensor_head *head, const Onnx__TensorProto *proto,
                                        struct odb_error *err)
{
    if (proto->segment)
        return odb_fail(err, ODB_E_MODEL, "stored in segments, which is unsupported");
    if (proto->data_type <= ODB_UNDEFINED || proto->data_type >= ODB_DTYPE_COUNT)
        return odb_fail(err, ODB_E_MODEL, "element type %d is unknown", proto->data_type);
    if (proto->n_dims > ODB_MAX_RANK)
        return odb_fail(err, ODB_E_MODEL, "has %zu dimensions, and at most %d are supported",
                        proto->n_dims, ODB_MAX_RANK);
    *head = (struct tensor_head){proto, (enum odb_dtype)proto->data_type, (int)proto->n_dims, 1, 0};
    bool empty = false, fits = true;
    for (int i = 0; i < head->rank; i++) {
        if (proto->dims[i] < 0)
            return odb_fail(err, ODB_E_MODEL, "dimension %d is negative (%" PRId64 ")", i,
                            proto->dims[i]);
        empty = empty || !proto->dims[i];
        fits = fits && odb_size_mul(head->count, (uint64_t)proto->dims[i], &head->count);
    }
    if (empty)
        head->count = 0;
    if ((!fits && !empty) || !odb_dtype_bytes(head->dtype, head->count, &head->bytes))
        return odb_fail(err, ODB_E_MODEL, "has more elements than any memory can hold");
    return ODB_OK;
}

/* A view of bytes that the model gives as the tensor's. */
static enum odb_status tensor_view(struct odb_tensor **out, const struct tensor_head *head,
                                   const void *data, size_t size, struct odb_storage *storage,
                                   struct odb_error *err)
{
    if (head->dtype == ODB_STRING)
        return odb_fail(err, ODB_E_MODEL, "strings cannot stand in raw or external data");
    if (size != head->bytes)
        return odb_fail(err, ODB_E_MODEL,
                        "has %zu bytes of data, and its %zu elements of %s need %zu", size,
                        head->count, odb_dtype_info(head->dtype)->name, head->bytes);
    return odb_tensor_view(out, head->dtype, head->rank, head->proto->dims, data, size, storage,
                           err);
}

/* --- typed fields ----------------------------------------------------------------------------- */

static enum odb_status tensor_from_strings(struct odb_tensor **out, const struct tensor_head *head,
                                           struct odb_error *err)
{
    const Onnx__TensorProto *proto = head->proto;
    if (proto->n_string_data != head->count)
        return odb_fail(err, ODB_E_MODEL, "has %zu strings, and its shape needs %zu",
                        proto->n_string_data, head->count);
    struct odb_tensor *t;
    ODB_TRY(odb_tensor_new(&t, ODB_STRING, head->rank, proto->dims, err));
    for (size_t i = 0; i < head->count; i++) {
        const ProtobufCBinaryData *s = &proto->string_data[i];
        enum odb_status status = odb_tensor_set_string(t, i, (const char *)s->data, s->len, err);
        if (status != ODB_OK) {
            odb_tensor_unref(t);
            return status;
        }
    }
    *out = t;
    return ODB_OK;
}

/* The low bytes of every number: what is left of an int32 that holds an int8, the bits of a
 * float16, or two elements of four bits. */
static void tensor_narrow(unsigned char *to, size_t to_width, const struct typed_data *from)
{
    const unsigned char *data = from->data;
    if (to_width == from->width && from->n)
        memcpy(to, data, from->n * to_width);
    else
        for (size_t i = 0; i < from->n; i++)
            memcpy(to + i * to_width, data + i * from->width, to_width);
}

static enum odb_status tensor_from_typed(struct odb_tensor **out, const struct tensor_head *head,
                                         struct odb_error *err)
{
    if (head->dtype == ODB_STRING)
        return tensor_from_strings(out, head, err);
    struct typed_data typed = tensor_typed(head->proto, head->dtype);
    unsigned bits = odb_dtype_info(head->dtype)->bits;
    bool is_complex = odb_dtype_info(head->dtype)->class_ == ODB_CLASS_COMPLEX;
    size_t width = is_complex ? typed.width : ODB_MAX(bits / 8, 1);
    if (typed.n != head->bytes / width)
        return odb_fail(
            err, ODB_E_MODEL, "has %zu numbers in %s, and its %zu elements of %s need %zu", typed.n,
            typed.name, head->count, odb_dtype_info(head->dtype)->name, head->bytes / width);
    ODB_TRY(odb_tensor_new_raw(out, head->dtype, head->rank, head->proto->dims, err));
    unsigned char *data = (*out)->data;
    tensor_narrow(data, width, &typed);
    if (head->dtype == ODB_BOOL)
        for (size_t i = 0; i < head->count; i++)
            data[i] = head->proto->int32_data[i] != 0;
    return ODB_OK;
}

/* --- external data ---------------------------------------------------------------------------- */

static enum odb_status external_number(uint64_t *out, const char *key, const char *text,
                                       struct odb_error *err)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return odb_fail(err, ODB_E_MODEL, "external data: %s is \"%s\", and must be a number", key,
                        text);
    return ODB_OK;
}

static enum odb_status tensor_from_external(struct odb_tensor **out, const struct tensor_head *head,
                                            struct model_files *files, struct odb_error *err)
{
    const Onnx__TensorProto *proto = head->proto;
    const char *location = NULL;
    uint64_t offset = 0, length = head->bytes;
    for (size_t i = 0; i < proto->n_external_data; i++) {
        const char *key = proto->external_data[i]->key, *value = proto->external_data[i]->value;
        if (!key || !value)
            continue;
        if (!strcmp(key, "location"))
            location = value;
        else if (!strcmp(key, "offset"))
            ODB_TRY(external_number(&offset, key, value, err));
        else if (!strcmp(key, "length"))
            ODB_TRY(external_number(&length, key, value, err));
    }
    if (!location)
        return odb_fail(err, ODB_E_MODEL, "its data is external, and no location is given");
    const struct model_bytes *file;
    enum odb_status status = odb_model__files_get(&file, files, location, err);
    if (status == ODB_SKIPPED) /* the model can be looked at, if not run */
        return odb_tensor_new_shape(out, head->dtype, head->rank, proto->dims, err);
    ODB_TRY(status);
    if (offset > file->size || length > file->size - offset) {
        odb_fail(err, ODB_E_MODEL,
                 "external data in \"%s\": %" PRIu64 " bytes at offset %" PRIu64
                 " run past the file's end at %zu",
                 location, length, offset, file->size);
        odb_error_remedy(err, "the file is cut short, or belongs to another model");
        return ODB_E_MODEL;
    }
    return tensor_view(out, head, file->data + offset, (size_t)length, file->storage, err);
}

/* --- public ----------------------------------------------------------------------------------- */

enum odb_status odb_model__tensor_of(struct odb_tensor **out, const Onnx__TensorProto *proto,
                                     struct odb_storage *storage, struct model_files *files,
                                     struct odb_error *err)
{
    struct tensor_head head;
    enum odb_status status = tensor_read_head(&head, proto, err);
    if (status == ODB_OK) {
        if (proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
            status = tensor_from_external(out, &head, files, err);
        else if (proto->has_raw_data && (proto->raw_data.len || !head.count))
            status =
                tensor_view(out, &head, proto->raw_data.data, proto->raw_data.len, storage, err);
        else
            status = tensor_from_typed(out, &head, err);
    }
    if (status != ODB_OK)
        odb_error_at(err, "tensor '%s'", proto->name ? proto->name : "");
    return status;
}

bool odb_model__is_hollow(const struct odb_tensor *t)
{
    return t->kind == ODB_TENSOR && !t->data && t->count;
}

/* Every index must lie inside the dense shape: kernels trust them. */
static enum odb_status sparse_check(const struct odb_tensor *values,
                                    const struct odb_tensor *indices,
                                    const Onnx__SparseTensorProto *proto, struct odb_error *err)
{
    size_t nnz = values->count, rank = proto->n_dims, total = 1;
    for (size_t i = 0; i < rank; i++)
        if (proto->dims[i] < 0 || !odb_size_mul(total, (uint64_t)proto->dims[i], &total) ||
            total > PTRDIFF_MAX)
            return odb_fail(err, ODB_E_MODEL, "dimension %zu (%" PRId64 ") is impossible", i,
                            proto->dims[i]);
    bool flat = indices->rank == 1 && (size_t)indices->dims[0] == nnz;
    bool coordinates =
        indices->rank == 2 && (size_t)indices->dims[0] == nnz && (size_t)indices->dims[1] == rank;
    if (values->rank != 1 || indices->dtype != ODB_I64 || (!flat && !coordinates))
        return odb_fail(err, ODB_E_MODEL, "values must be [n], and indices int64[n] or [n, rank]");
    const odb_i64 *at = indices->data;
    for (size_t i = 0; i < indices->count; i++) {
        uint64_t limit = flat ? total : (uint64_t)proto->dims[i % rank];
        if ((uint64_t)at[i] >= limit)
            return odb_fail(err, ODB_E_MODEL, "index %" PRId64 " lies outside of its shape",
                            (int64_t)at[i]);
    }
    return ODB_OK;
}

enum odb_status odb_model__sparse_of(struct odb_tensor **out, const Onnx__SparseTensorProto *proto,
                                     struct odb_storage *storage, struct model_files *files,
                                     struct odb_error *err)
{
    struct odb_tensor *items[2] = {NULL, NULL};
    enum odb_status status = ODB_OK;
    const char *name = proto->values && proto->values->name ? proto->values->name : "";
    if (!proto->values || !proto->indices) {
        status = odb_fail(err, ODB_E_MODEL, "has no values or no indices");
        goto out;
    }
    if (proto->n_dims > ODB_MAX_RANK) {
        status = odb_fail(err, ODB_E_MODEL, "has %zu dimensions, and at most %d are supported",
                          proto->n_dims, ODB_MAX_RANK);
        goto out;
    }
    ODB_TRY_OUT(odb_model__tensor_of(&items[0], proto->values, storage, files, err));
    ODB_TRY_OUT(odb_model__tensor_of(&items[1], proto->indices, storage, files, err));
    if (odb_model__is_hollow(items[0]) || odb_model__is_hollow(items[1])) {
        if (err)
            *err = *odb_model__files_missing(files);
        status = ODB_E_MODEL;
        goto out;
    }
    ODB_TRY_OUT(sparse_check(items[0], items[1], proto, err));
    ODB_TRY_OUT(odb_tensor_new_container(out, ODB_SPARSE, items, 2, err));
    struct odb_tensor *t = *out;
    t->dtype = items[0]->dtype;
    t->rank = (int)proto->n_dims;
    t->count = 1;
    for (int i = 0; i < t->rank; i++) {
        t->dims[i] = proto->dims[i];
        t->count *= (size_t)proto->dims[i];
    }
out:
    odb_tensor_unref(items[0]);
    odb_tensor_unref(items[1]);
    if (status != ODB_OK)
        odb_error_at(err, "sparse tensor '%s'", name);
    return status;
}

enum odb_status odb_model__tensor(struct odb_tensor **out, const Onnx__TensorProto *proto,
                                  struct odb_storage *storage, const char *dir,
                                  struct odb_error *err)
{
    struct model_files *files = odb_model__files_new(dir, "", ODB_LINKS_NEAR, false);
    enum odb_status status = odb_model__tensor_of(out, proto, storage, files, err);
    odb_model__files_free(files);
    return status;
}

enum odb_status odb_model__sparse(struct odb_tensor **out, const Onnx__SparseTensorProto *proto,
                                  struct odb_storage *storage, const char *dir,
                                  struct odb_error *err)
{
    struct model_files *files = odb_model__files_new(dir, "", ODB_LINKS_NEAR, false);
    enum odb_status status = odb_model__sparse_of(out, proto, storage, files, err);
    odb_model__files_free(files);
    return status;
}
