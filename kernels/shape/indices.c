/* SPDX-License-Identifier: MIT */
#include "kernels/shape/indices.h"

#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/core/stride.h"

static enum odb_status indices_bad(struct odb_kern *k, int64_t index, size_t at, int64_t limit)
{
    return ODB_KERN_FAIL(k, "index %lld (element %zu of the indices) is outside %lld elements",
                         (long long)index, at, (long long)limit);
}

enum odb_status odb_indices_read(struct odb_kern *k, int i, const int64_t *limits, size_t n_limits,
                                 int64_t **out)
{
    const struct odb_tensor *t = k->in[i];
    size_t at = 0;

    int64_t *list = odb_work_raw((t->count + 1) * sizeof *list);
    if (list == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu indices", t->count);
    for (size_t e = 0; e < t->count; e++) {
        int64_t index = t->dtype == ODB_I64 ? ((const odb_i64 *)t->data)[e] : odb_tensor_i64(t, e);
        int64_t limit = limits[at];
        at = at + 1 < n_limits ? at + 1 : 0;
        if (index < -limit || index >= limit) {
            odb_work_give(list);
            return indices_bad(k, index, e, limit);
        }
        list[e] = index + (index < 0 ? limit : 0);
    }
    *out = list;
    return ODB_OK;
}

enum odb_status odb_rows_init(struct odb_kern *k, struct odb_rows *r)
{
    const struct odb_tensor *data = k->in[0], *indices = k->in[1];
    char a[200], b[200];

    r->data = data;
    r->indices = indices;
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), data->rank, false, &r->axis));
    bool fits = indices->rank == data->rank;
    for (int i = 0; fits && i < data->rank; i++)
        fits = i == r->axis || indices->dims[i] <= data->dims[i];
    if (!fits)
        return ODB_KERN_FAIL(k, "indices of shape %s do not fit data of shape %s on axis %d",
                             odb_shape_text(indices, a, sizeof a),
                             odb_shape_text(data, b, sizeof b), r->axis);
    odb_stride_dense(data->rank, data->dims, r->dense);
    r->len = (size_t)indices->dims[data->rank - 1];
    r->n = r->len > 0 ? indices->count / r->len : 0;
    r->step = r->axis == data->rank - 1 ? 0 : 1;
    r->axis_step = r->dense[r->axis];
    return ODB_OK;
}

int64_t odb_rows_base(const struct odb_rows *r, size_t i)
{
    int64_t base = 0;

    for (int d = r->data->rank - 2; d >= 0; d--) {
        size_t dim = (size_t)r->indices->dims[d];
        if (d != r->axis)
            base += (int64_t)(i % dim) * r->dense[d];
        i /= dim;
    }
    return base;
}

enum odb_status odb_tuples_init(struct odb_kern *k, int batch, struct odb_tuples *t)
{
    const struct odb_tensor *data = k->in[0], *indices = k->in[1];
    char a[200], b[200];
    int last = indices->rank - 1;

    bool fits = data->rank > 0 && last >= 0 && batch >= 0 && batch <= last &&
                indices->dims[last] <= data->rank - batch;
    for (int i = 0; fits && i < batch; i++)
        fits = indices->dims[i] == data->dims[i];
    if (!fits)
        return ODB_KERN_FAIL(k, "indices of shape %s do not fit data of shape %s",
                             odb_shape_text(indices, a, sizeof a),
                             odb_shape_text(data, b, sizeof b));
    t->batch = batch;
    t->depth = (int)indices->dims[last];
    t->n = odb_dims_product(indices->dims, 0, last);
    t->per_batch = odb_dims_product(indices->dims, batch, last);
    t->run = (int64_t)odb_dims_product(data->dims, batch + t->depth, data->rank);
    odb_stride_dense(data->rank, data->dims, t->dense);
    return ODB_OK;
}

int64_t odb_tuples_base(const struct odb_tuples *t, const int64_t *indices, size_t i)
{
    int64_t base = 0;

    if (t->batch > 0)
        base = (int64_t)(i / t->per_batch) * t->dense[t->batch - 1];
    for (int d = 0; d < t->depth; d++)
        base += indices[i * (size_t)t->depth + (size_t)d] * t->dense[t->batch + d];
    return base;
}
