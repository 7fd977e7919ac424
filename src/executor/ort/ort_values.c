/* SPDX-License-Identifier: MIT
 *
 * Tensors to ONNX Runtime and back. Inputs are handed over where they lie; outputs stay in the
 * memory that ONNX Runtime allocated, owned by a storage, until they are not needed any more.
 */
#include "executor/ort/ort_int.h"

#include <stdlib.h>
#include <string.h>

/* --- values in ------------------------------------------------------------------------------- */

static int ort_dtype(enum odb_dtype dtype)
{
    switch (dtype) {
    case ODB_F8E8M0:
        return ORT_F8E8M0;
    case ODB_U2:
        return ORT_U2;
    case ODB_I2:
        return ORT_I2;
    default:
        return (int)dtype;
    }
}

static enum odb_dtype ort_dtype_back(int dtype)
{
    for (int d = ODB_F8E8M0; d <= ODB_I2; d++)
        if (ort_dtype((enum odb_dtype)d) == dtype)
            return (enum odb_dtype)d;
    return (enum odb_dtype)dtype;
}

static enum odb_status ort_strings_in(struct ort *ort, const struct odb_tensor *t,
                                      struct ort_value **out, struct odb_error *err)
{
    const struct odb_str *s = t->data;
    char **texts = odb_new_n(char *, t->count + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < t->count && status == ODB_OK; i++) {
        if (memchr(s[i].data ? s[i].data : "", '\0', s[i].len))
            status = odb_fail(err, ODB_E_INPUT,
                              "string %zu holds a zero byte, which ONNX "
                              "Runtime's C interface cannot take",
                              i);
        texts[i] = odb_xstrndup(s[i].data ? s[i].data : "", s[i].len);
    }
    if (status == ODB_OK)
        status = ort_check(
            ort, ort->api.create_tensor(ort->allocator, t->dims, (size_t)t->rank, ODB_STRING, out),
            err);
    if (status == ODB_OK)
        status =
            ort_check(ort, ort->api.fill_strings(*out, (const char *const *)texts, t->count), err);
    for (size_t i = 0; i < t->count; i++)
        free(texts[i]);
    free(texts);
    return status;
}

static enum odb_status ort_container_in(struct ort *ort, const struct odb_tensor *t,
                                        struct ort_value **out, struct odb_error *err)
{
    if (t->n_items == 0) /* its API says no, with less to read */
        return odb_fail(err, ODB_UNSUPPORTED, "ONNX Runtime cannot be given an empty sequence");
    struct ort_value **parts = odb_new_n(struct ort_value *, t->n_items + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < t->n_items && status == ODB_OK; i++)
        status = ort_value_in(ort, t->items[i], &parts[i], err);
    if (status == ODB_OK)
        status =
            ort_check(ort,
                      ort->api.create_container((const struct ort_value *const *)parts, t->n_items,
                                                t->kind == ODB_MAP ? ORT_MAP : ORT_SEQUENCE, out),
                      err);
    for (size_t i = 0; i < t->n_items; i++)
        if (parts[i])
            ort->api.release_value(parts[i]);
    free(parts);
    return status;
}

enum odb_status ort_value_in(struct ort *ort, const struct odb_tensor *t, struct ort_value **out,
                             struct odb_error *err)
{
    if (t->kind == ODB_OPTIONAL)
        return t->n_items ? ort_value_in(ort, t->items[0], out, err) : ODB_OK;
    if (t->kind == ODB_SEQUENCE || t->kind == ODB_MAP)
        return ort_container_in(ort, t, out, err);
    if (t->kind != ODB_TENSOR)
        return odb_fail(err, ODB_UNSUPPORTED, "sparse tensors are not passed to ONNX Runtime");
    if (t->dtype == ODB_STRING)
        return ort_strings_in(ort, t, out, err);
    ORT_TRY(create_tensor_with_data(ort->memory, t->data, t->bytes, t->dims, (size_t)t->rank,
                                    ort_dtype(t->dtype), out));
    return ODB_OK;
}

enum odb_status ort_value_copy(struct ort *ort, const struct odb_tensor *t, struct ort_value **out,
                               struct odb_error *err)
{
    void *data = NULL;
    ORT_TRY(create_tensor(ort->allocator, t->dims, (size_t)t->rank, ort_dtype(t->dtype), out));
    ORT_TRY(tensor_data(*out, &data));
    if (t->bytes)
        memcpy(data, t->data, t->bytes);
    return ODB_OK;
}

/* --- values out ------------------------------------------------------------------------------ */

struct ort_storage {
    struct odb_storage base;
    struct ort_value *value; /* owned */
    void (*release_value)(struct ort_value *value);
};

static void ort_storage_release(struct odb_storage *storage)
{
    struct ort_storage *s = (struct ort_storage *)storage;
    s->release_value(s->value);
    free(s);
}

static enum odb_status ort_shape(struct ort *ort, const struct ort_value *value, int *dtype,
                                 int *rank, int64_t *dims, struct odb_error *err)
{
    struct ort_shape_info *info = NULL;
    size_t n = 0;
    enum odb_status status;
    ORT_TRY_OUT(tensor_shape(value, &info));
    ORT_TRY_OUT(shape_dtype(info, dtype));
    ORT_TRY_OUT(shape_rank(info, &n));
    if (n > ODB_MAX_RANK)
        status = odb_fail(err, ODB_UNSUPPORTED, "a tensor of rank %zu is over the limit of %d", n,
                          ODB_MAX_RANK);
    else
        status = ort_check(ort, ort->api.shape_dims(info, dims, n), err);
    *rank = (int)n;
out:
    if (info)
        ort->api.release_shape(info);
    return status;
}

static enum odb_status ort_strings_out(struct ort *ort, const struct ort_value *value,
                                       struct odb_tensor *t, struct odb_error *err)
{
    size_t size;
    ORT_TRY(strings_size(value, &size));
    char *text = odb_xcalloc(1, size + 1);
    size_t *offsets = odb_new_n(size_t, t->count + 1);
    enum odb_status status =
        t->count == 0 ? ODB_OK
                      : ort_check(ort, ort->api.strings(value, text, size, offsets, t->count), err);
    offsets[t->count] = size;
    for (size_t i = 0; i < t->count && status == ODB_OK; i++)
        status = odb_tensor_set_string(t, i, text + offsets[i], offsets[i + 1] - offsets[i], err);
    free(text);
    free(offsets);
    return status;
}

/* Takes value over, on failure too. */
static enum odb_status ort_dense_out(struct ort *ort, struct ort_value *value_take,
                                     struct odb_tensor **out, struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK];
    int number = 0, rank = 0;
    void *data = NULL;
    struct odb_tensor *t = NULL;
    struct odb_storage *storage = NULL;
    enum odb_status status;
    ODB_TRY_OUT(ort_shape(ort, value_take, &number, &rank, dims, err));
    enum odb_dtype dtype = ort_dtype_back(number);
    if (dtype == ODB_STRING) {
        ODB_TRY_OUT(odb_tensor_new(&t, dtype, rank, dims, err));
        status = ort_strings_out(ort, value_take, t, err);
        goto out;
    }
    ODB_TRY_OUT(odb_tensor_new_shape(&t, dtype, rank, dims, err));
    size_t bytes;
    if (!odb_dtype_bytes(dtype, t->count, &bytes)) {
        status = odb_fail(err, ODB_E_EXECUTOR, "a tensor of unknown type %d", number);
        goto out;
    }
    odb_tensor_unref(t);
    t = NULL;
    ORT_TRY_OUT(tensor_data(value_take, &data));
    struct ort_storage *s = odb_new(struct ort_storage);
    s->base.refs = 1;
    s->base.release = ort_storage_release;
    s->value = value_take;
    s->release_value = ort->api.release_value;
    value_take = NULL;
    storage = &s->base;
    status = odb_tensor_view(&t, dtype, rank, dims, bytes ? data : "", bytes, storage, err);
out:
    odb_storage_unref(storage);
    if (value_take)
        ort->api.release_value(value_take);
    if (status == ODB_OK)
        *out = t;
    else
        odb_tensor_unref(t);
    return status;
}

static enum odb_status ort_container_out(struct ort *ort, const struct ort_value *value,
                                         enum odb_kind kind, struct odb_tensor **out,
                                         struct odb_error *err)
{
    size_t n = 0;
    ORT_TRY(part_count(value, &n));
    struct odb_tensor **parts = odb_new_n(struct odb_tensor *, n + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n; i++) {
        struct ort_value *part = NULL;
        ORT_TRY_OUT(part(value, (int)i, ort->allocator, &part));
        ODB_TRY_OUT(ort_value_out(ort, part, &parts[i], err));
    }
    status = odb_tensor_new_container(out, kind, parts, n, err);
out:
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(parts[i]);
    free(parts);
    return status;
}

enum odb_status ort_value_out(struct ort *ort, struct ort_value *value_take,
                              struct odb_tensor **out, struct odb_error *err)
{
    int kind = 0, has = 1;
    enum odb_status status;
    ORT_TRY_OUT(has_value(value_take, &has));
    if (!has) {
        status = odb_tensor_new_container(out, ODB_OPTIONAL, NULL, 0, err);
        goto out;
    }
    ORT_TRY_OUT(value_kind(value_take, &kind));
    if (kind == ORT_TENSOR)
        return ort_dense_out(ort, value_take, out, err);
    if (kind == ORT_SEQUENCE || kind == ORT_MAP)
        status =
            ort_container_out(ort, value_take, kind == ORT_MAP ? ODB_MAP : ODB_SEQUENCE, out, err);
    else
        status = odb_fail(err, ODB_UNSUPPORTED, "ONNX Runtime returned a value of kind %d", kind);
out:
    ort->api.release_value(value_take);
    return status;
}
