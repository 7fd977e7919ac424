/* SPDX-License-Identifier: MIT */
#include "kernels/shape/parts.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/core/cells.h"
#include "kernels/core/stride.h"

/* A run of an axis as a matrix: outer rows, each a run of cells. */
struct parts_run {
    int64_t outer, inner; /* product of the dimensions before and after the axis */
};

static struct parts_run parts_run(int rank, const int64_t *dims, int before, int after)
{
    return (struct parts_run){(int64_t)odb_dims_product(dims, 0, before),
                              (int64_t)odb_dims_product(dims, after, rank)};
}

/* Where the wanted elements lie behind each other, at whole bytes. */
static bool parts_view(struct odb_tensor **out, const struct odb_tensor *t, int rank,
                       const int64_t *dims, struct parts_run run, int64_t at)
{
    unsigned bits =
        t->dtype == ODB_STRING ? 8 * sizeof(struct odb_str) : odb_dtype_info(t->dtype)->bits;
    uint64_t start = (uint64_t)(at * run.inner) * bits;
    size_t count = odb_dims_product(dims, 0, rank);
    if (run.outer != 1 || start % 8)
        return false;
    return odb_tensor_view(out, t->dtype, rank, dims, (const char *)t->data + start / 8,
                           (count * bits + 7) / 8, t->storage, NULL) == ODB_OK;
}

enum odb_status odb_parts_take(struct odb_tensor **out, const struct odb_tensor *t, int axis,
                               int64_t at, int64_t len, bool drop, struct odb_error *err)
{
    struct parts_run run = parts_run(t->rank, t->dims, axis, axis + 1);
    int64_t dims[ODB_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < t->rank; d++)
        if (d != axis || !drop)
            dims[rank++] = d == axis ? len : t->dims[d];
    if (parts_view(out, t, rank, dims, run, at))
        return ODB_OK;
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT;
    struct odb_stride s = {.rank = 2,
                           .dims = {run.outer, len * run.inner},
                           .dst = {len * run.inner, 1},
                           .src = {t->dims[axis] * run.inner, 1}};
    struct odb_tensor *part = NULL;
    enum odb_status status;
    ODB_TRY_OUT(odb_tensor_new_raw(&part, t->dtype, rank, dims, err));
    ODB_TRY_OUT(odb_cells_read(&src, t, err));
    ODB_TRY_OUT(odb_cells_write(&dst, part, err));
    odb_stride_copy(&s, dst.size, dst.data, src.data + at * run.inner * (int64_t)src.size);
    ODB_TRY_OUT(odb_cells_commit(&dst, part, err));
    *out = part;
    part = NULL;
out:
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    odb_tensor_unref(part);
    return status;
}

/* Dimensions of the whole. */
static enum odb_status parts_whole(struct odb_tensor *const *parts, size_t n, int axis,
                                   bool new_axis, int64_t *dims, struct odb_error *err)
{
    const struct odb_tensor *first = parts[0];
    int64_t sum = new_axis ? (int64_t)n : 0;
    for (size_t i = 0; i < n; i++) {
        const struct odb_tensor *t = parts[i];
        char a[200], b[200];
        bool fits = t->dtype == first->dtype && t->rank == first->rank;
        for (int d = 0; fits && d < t->rank; d++)
            fits = t->dims[d] == first->dims[d] || (d == axis && !new_axis);
        if (!fits)
            return odb_fail(err, ODB_E_OPERATOR,
                            "element %zu, %s %s, does not fit the first, %s %s", i,
                            odb_dtype_info(t->dtype)->name, odb_shape_text(t, a, sizeof a),
                            odb_dtype_info(first->dtype)->name, odb_shape_text(first, b, sizeof b));
        if (!new_axis && __builtin_add_overflow(sum, t->dims[axis], &sum))
            return odb_fail(err, ODB_E_OPERATOR, "the sum of dimensions %d is too large", axis);
    }
    for (int d = 0, to = 0; d < first->rank; d++, to++) {
        if (d == axis && new_axis)
            to++;
        dims[to] = first->dims[d];
    }
    dims[axis] = sum;
    return ODB_OK;
}

enum odb_status odb_parts_join(struct odb_tensor **out, struct odb_tensor *const *parts, size_t n,
                               int axis, bool new_axis, struct odb_error *err)
{
    int64_t dims[ODB_MAX_RANK + 1], at = 0;
    int rank = parts[0]->rank + new_axis;
    struct odb_tensor *whole = NULL;
    struct odb_cells dst = ODB_CELLS_INIT, src = ODB_CELLS_INIT;
    enum odb_status status;
    if (rank > ODB_MAX_RANK)
        return odb_fail(err, ODB_E_OPERATOR, "%d dimensions; at most %d are supported", rank,
                        ODB_MAX_RANK);
    ODB_TRY(parts_whole(parts, n, axis, new_axis, dims, err));
    struct parts_run run = parts_run(rank, dims, axis, axis + 1);
    ODB_TRY_OUT(odb_tensor_new_raw(&whole, parts[0]->dtype, rank, dims, err));
    ODB_TRY_OUT(odb_cells_write(&dst, whole, err));
    for (size_t i = 0; i < n; i++) {
        int64_t len = new_axis ? 1 : parts[i]->dims[axis];
        struct odb_stride s = {.rank = 2,
                               .dims = {run.outer, len * run.inner},
                               .dst = {dims[axis] * run.inner, 1},
                               .src = {len * run.inner, 1}};
        ODB_TRY_OUT(odb_cells_read(&src, parts[i], err));
        odb_stride_copy(&s, dst.size, dst.data + at * run.inner * (int64_t)dst.size, src.data);
        odb_cells_dispose(&src);
        at += len;
    }
    ODB_TRY_OUT(odb_cells_commit(&dst, whole, err));
    *out = whole;
    whole = NULL;
out:
    odb_cells_dispose(&dst);
    odb_cells_dispose(&src);
    odb_tensor_unref(whole);
    return status;
}
