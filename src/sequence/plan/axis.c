/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sequence/plan/axis.h"

#include <string.h>

#include "tensor/dtype.h"

/* A tensor as blocks: outer of them, each of so many bytes for one place on the axis. */
struct axis_blocks {
    size_t outer, bytes;
};

static enum odb_status axis_blocks(struct axis_blocks *out, const struct odb_tensor *t, int axis,
                                   struct odb_error *err)
{
    unsigned bits = t->kind == ODB_TENSOR ? odb_dtype_info(t->dtype)->bits : 0;
    char shape[96];
    if (bits < 8 || !t->data)
        return odb_fail(err, ODB_UNSUPPORTED, "only tensors of numbers are taken in pieces");
    if (axis < 0 || axis >= t->rank)
        return odb_fail(err, ODB_E_INPUT, "there is no axis %d in shape %s", axis,
                        odb_shape_text(t, shape, sizeof shape));
    *out = (struct axis_blocks){1, bits / 8};
    for (int i = 0; i < axis; i++)
        out->outer *= (size_t)t->dims[i];
    for (int i = axis + 1; i < t->rank; i++)
        out->bytes *= (size_t)t->dims[i];
    return ODB_OK;
}

enum odb_status odb_axis_part(struct odb_tensor **out, const struct odb_tensor *t, int axis,
                              int64_t from, int64_t n, struct odb_error *err)
{
    struct axis_blocks blocks;
    int64_t dims[ODB_MAX_RANK];
    char shape[96];
    ODB_TRY(axis_blocks(&blocks, t, axis, err));
    if (from < 0 || n < 0 || n > t->dims[axis] - from)
        return odb_fail(err, ODB_E_INPUT, "places %lld to %lld are not on axis %d of shape %s",
                        (long long)from, (long long)(from + n), axis,
                        odb_shape_text(t, shape, sizeof shape));
    memcpy(dims, t->dims, sizeof dims);
    dims[axis] = n;
    const char *first = (const char *)t->data + (size_t)from * blocks.bytes;
    size_t run = (size_t)n * blocks.bytes, step = (size_t)t->dims[axis] * blocks.bytes;
    if (blocks.outer == 1)
        return odb_tensor_view(out, t->dtype, t->rank, dims, first, run, t->storage, err);
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, dims, err));
    for (size_t i = 0; i < blocks.outer && run; i++)
        memcpy((char *)(*out)->data + i * run, first + i * step, run);
    return ODB_OK;
}

/* Whether two shapes, and types, differ along the axis alone. */
static bool axis_fits(const struct odb_tensor *a, const struct odb_tensor *b, int axis)
{
    bool fits = a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank && axis < a->rank;
    for (int i = 0; i < a->rank && fits; i++)
        fits = i == axis || a->dims[i] == b->dims[i];
    return fits;
}

enum odb_status odb_axis_join(struct odb_tensor **out, struct odb_tensor *const *tensors, size_t n,
                              int axis, struct odb_error *err)
{
    struct axis_blocks blocks;
    int64_t dims[ODB_MAX_RANK];
    ODB_TRY(axis_blocks(&blocks, tensors[0], axis, err));
    memcpy(dims, tensors[0]->dims, sizeof dims);
    for (size_t i = 1; i < n; i++) {
        if (!axis_fits(tensors[0], tensors[i], axis) || !tensors[i]->data)
            return odb_fail(err, ODB_E_INPUT, "pieces differ in more than axis %d", axis);
        dims[axis] += tensors[i]->dims[axis];
    }
    ODB_TRY(odb_tensor_new_raw(out, tensors[0]->dtype, tensors[0]->rank, dims, err));
    char *to = (*out)->data;
    for (size_t o = 0; o < blocks.outer; o++)
        for (size_t i = 0; i < n; i++) {
            size_t run = (size_t)tensors[i]->dims[axis] * blocks.bytes;
            if (run)
                memcpy(to, (const char *)tensors[i]->data + o * run, run);
            to += run;
        }
    return ODB_OK;
}

bool odb_axis_same(const struct odb_tensor *a, int64_t from, const struct odb_tensor *b, int64_t n,
                   int axis)
{
    struct axis_blocks blocks;
    struct odb_error ignored = ODB_ERROR_INIT;
    if (!a || !b || axis_blocks(&blocks, a, axis, &ignored) != ODB_OK || !axis_fits(a, b, axis) ||
        !b->data || from < 0 || n > a->dims[axis] - from || n > b->dims[axis])
        return false;
    const char *left = (const char *)a->data + (size_t)from * blocks.bytes, *right = b->data;
    size_t run = (size_t)n * blocks.bytes;
    for (size_t o = 0; o < blocks.outer && run; o++)
        if (memcmp(left + o * (size_t)a->dims[axis] * blocks.bytes,
                   right + o * (size_t)b->dims[axis] * blocks.bytes, run))
            return false;
    return true;
}
