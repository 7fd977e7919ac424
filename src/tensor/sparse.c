/* SPDX-License-Identifier: MIT
 *
 * Sparse tensors as dense ones. Indices are linear, or one coordinate per dimension.
 */
#include <string.h>

#include "tensor/tensor.h"

/* What is not stored takes no byte of a file: so much may it become, and so much for each byte that
 * is. */
#define SPARSE_MOST ((size_t)64 << 20)
#define SPARSE_EACH 1000

/* Where stored element i belongs; -1: outside. */
static int64_t sparse_place(const struct odb_tensor *sparse, size_t i)
{
    const struct odb_tensor *indices = sparse->items[1];
    int64_t place = 0;
    if (indices->rank == 1)
        place = odb_tensor_i64(indices, i);
    for (int d = 0; d < sparse->rank && indices->rank == 2; d++) {
        int64_t at = odb_tensor_i64(indices, i * (size_t)sparse->rank + (size_t)d);
        if (at < 0 || at >= sparse->dims[d])
            return -1;
        place = place * sparse->dims[d] + at;
    }
    return place;
}

/* Element from of src becomes element to of dst, which was 0. */
static enum odb_status sparse_copy(struct odb_tensor *dst, size_t to, const struct odb_tensor *src,
                                   size_t from, struct odb_error *err)
{
    size_t bits = odb_dtype_info(dst->dtype)->bits;
    const struct odb_str *s = src->data;
    if (dst->dtype == ODB_STRING)
        return odb_tensor_set_string(dst, to, s[from].data, s[from].len, err);
    if (bits >= 8) {
        memcpy((char *)dst->data + to * bits / 8, (const char *)src->data + from * bits / 8,
               bits / 8);
        return ODB_OK;
    }
    const unsigned char *x = src->data;
    unsigned char *y = dst->data, mask = (unsigned char)((1u << bits) - 1);
    unsigned byte = x[from * bits / 8], value = byte >> (from * bits % 8) & mask;
    unsigned shift = (unsigned)(to * bits % 8);
    y[to * bits / 8] =
        (unsigned char)((y[to * bits / 8] & ~(unsigned)(mask << shift)) | value << shift);
    return ODB_OK;
}

enum odb_status odb_tensor_densify(struct odb_tensor **out, const struct odb_tensor *sparse,
                                   struct odb_error *err)
{
    const struct odb_tensor *values = sparse->items[0], *indices = sparse->items[1];
    struct odb_tensor *t = NULL;
    size_t per = indices->rank == 2 ? (size_t)sparse->rank : 1;
    enum odb_status status = ODB_OK;
    if (indices->count != values->count * per)
        return odb_fail(err, ODB_E_INPUT, "%zu indices for %zu sparse values", indices->count,
                        values->count);
    ODB_TRY(odb_tensor_new_shape(&t, values->dtype, sparse->rank, sparse->dims, err));
    size_t dense = t->bytes;
    odb_tensor_unref(t);
    if (dense > SPARSE_MOST && (dense - SPARSE_MOST) / SPARSE_EACH > values->bytes)
        return odb_fail(err, ODB_E_INPUT,
                        "%zu bytes as a dense tensor are too many for %zu that are stored", dense,
                        values->bytes);
    ODB_TRY(odb_tensor_new(&t, values->dtype, sparse->rank, sparse->dims, err));
    for (size_t i = 0; i < values->count && status == ODB_OK; i++) {
        int64_t place = sparse_place(sparse, i);
        if (place < 0 || (uint64_t)place >= t->count)
            status = odb_fail(err, ODB_E_INPUT, "the index of sparse value %zu lies outside", i);
        else
            status = sparse_copy(t, (size_t)place, values, i, err);
    }
    if (status == ODB_OK)
        *out = t;
    else
        odb_tensor_unref(t);
    return status;
}
