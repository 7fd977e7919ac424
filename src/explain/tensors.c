/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tensors made of others, for the rows of the catalogue.
 */
#include <string.h>

#include "base/mem.h"
#include "explain/variant.h"

void tensor_replace(struct odb_tensor **slot, struct odb_tensor *t)
{
    odb_tensor_unref(*slot);
    *slot = t;
}

void tensor_around(const struct odb_tensor *t, int axis, size_t *outer, size_t *n, size_t *inner)
{
    *outer = *inner = 1;
    for (int k = 0; k < axis; k++)
        *outer *= (size_t)t->dims[k];
    for (int k = axis + 1; k < t->rank; k++)
        *inner *= (size_t)t->dims[k];
    *n = (size_t)t->dims[axis];
}

enum odb_status tensor_map(struct odb_tensor **out, const struct odb_tensor *t,
                           double (*fn)(const void *payload, size_t i, double v),
                           const void *payload, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_clone(out, t, err));
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(t->dtype, (*out)->data, i, fn(payload, i, odb_tensor_f64(t, i)));
    return ODB_OK;
}

enum odb_status tensor_gather(struct odb_tensor **out, const struct odb_tensor *t,
                              int64_t (*from)(const void *payload, size_t i), const void *payload,
                              struct odb_error *err)
{
    size_t size = odb_dtype_info(t->dtype)->bits / 8;
    if (t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING || !size)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_new(out, t->dtype, t->rank, t->dims, err));
    for (size_t i = 0; i < t->count; i++) {
        int64_t at = from(payload, i);
        if (at >= 0)
            memcpy((char *)(*out)->data + i * size, (const char *)t->data + (size_t)at * size,
                   size);
    }
    return ODB_OK;
}

/* Where the elements of a permuted tensor come from. */
struct tensor_strides {
    int rank;
    int64_t dims[ODB_MAX_RANK], strides[ODB_MAX_RANK];
};

static int64_t tensor_strided(const void *payload, size_t i)
{
    const struct tensor_strides *s = payload;
    int64_t at = 0;
    for (int k = s->rank; k-- > 0;) {
        at += (int64_t)(i % (size_t)s->dims[k]) * s->strides[k];
        i /= (size_t)s->dims[k];
    }
    return at;
}

enum odb_status tensor_transpose(struct odb_tensor **out, const struct odb_tensor *t,
                                 const int *perm, struct odb_error *err)
{
    struct tensor_strides s = {.rank = t->rank};
    int64_t strides[ODB_MAX_RANK], step = 1;
    struct odb_tensor *view = NULL;
    for (int k = t->rank; k-- > 0;) {
        strides[k] = step;
        step *= t->dims[k];
    }
    for (int k = 0; k < t->rank; k++) {
        s.dims[k] = t->dims[perm[k]];
        s.strides[k] = strides[perm[k]];
    }
    ODB_TRY(odb_tensor_reshape(&view, t, t->rank, s.dims, err));
    enum odb_status status = ODB_OK;
    size_t size = odb_dtype_info(t->dtype)->bits / 8;
    if (!size || t->dtype == ODB_STRING)
        status = ODB_SKIPPED;
    if (status == ODB_OK)
        status = odb_tensor_new_raw(out, t->dtype, t->rank, s.dims, err);
    for (size_t i = 0; i < t->count && status == ODB_OK; i++)
        memcpy((char *)(*out)->data + i * size,
               (const char *)t->data + (size_t)tensor_strided(&s, i) * size, size);
    odb_tensor_unref(view);
    return status;
}

enum odb_status tensor_misread(struct odb_tensor **out, const struct odb_tensor *t, const int *perm,
                               struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK];
    int back[ODB_MAX_RANK];
    struct odb_tensor *view = NULL;
    for (int k = 0; k < t->rank; k++) {
        dims[k] = t->dims[perm[k]];
        back[perm[k]] = k;
    }
    ODB_TRY(odb_tensor_reshape(&view, t, t->rank, dims, err));
    enum odb_status status = tensor_transpose(out, view, back, err);
    odb_tensor_unref(view);
    return status;
}
