/* SPDX-License-Identifier: MIT
 *
 * Col2Im: columns of blocks laid back into an image, overlaps added up. The window's arithmetic is
 * that of a convolution over the image. Integers wrap; floats are added in double.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"
#include "kernels/nn/window.h"

struct columns {
    struct odb_window window; /* over the image; out counts the blocks along each axis */
    int64_t channels;
    int64_t dims[ODB_MAX_RANK]; /* of the image: (N, C, ...) */
};

static enum odb_status columns_read(struct odb_kern *k, struct columns *s)
{
    const struct odb_tensor *x = k->in[0];
    int64_t block[ODB_MAX_RANK];
    size_t rank, n;
    ODB_TRY(odb_kern_values(k, 1, s->dims + 2, ODB_MAX_RANK - 2, &rank));
    ODB_TRY(odb_kern_values(k, 2, block, ODB_MAX_RANK - 2, &n));
    if (rank < 1 || n != rank)
        return ODB_KERN_FAIL(k, "an image of %zu dimensions and blocks of %zu", rank, n);
    if (x->rank != 3)
        return ODB_KERN_FAIL(k, "the input must have 3 dimensions, not %d", x->rank);
    int64_t size = 1;
    for (size_t d = 0; d < rank; d++) {
        if (block[d] < 1 || block[d] > INT32_MAX || s->dims[d + 2] < 0 ||
            __builtin_mul_overflow(size, block[d], &size))
            return ODB_KERN_FAIL(k, "a block of %lld in an image of %lld", (long long)block[d],
                                 (long long)s->dims[d + 2]);
    }
    if (x->dims[1] % size != 0)
        return ODB_KERN_FAIL(k, "%lld rows are no whole number of blocks of %lld",
                             (long long)x->dims[1], (long long)size);
    s->dims[0] = x->dims[0];
    s->dims[1] = s->channels = x->dims[1] / size;
    struct odb_tensor image = {.kind = ODB_TENSOR, .dtype = x->dtype, .rank = (int)rank + 2};
    memcpy(image.dims, s->dims, sizeof image.dims);
    ODB_TRY(odb_window_slide(k, &image, block, &s->window));
    if ((int64_t)s->window.out_size != x->dims[2])
        return ODB_KERN_FAIL(k, "%lld columns, where the image has room for %zu blocks",
                             (long long)x->dims[2], s->window.out_size);
    return ODB_OK;
}

static enum odb_status columns_infer(struct odb_kern *k)
{
    struct columns s;
    ODB_TRY(columns_read(k, &s));
    return odb_kern_outline(k, 0, k->in[0]->dtype, s.window.rank + 2, s.dims);
}

/* Where element (tap, place) of a channel's columns belongs in the image; -1: into the padding. */
static int64_t columns_cell(const struct odb_window *w, size_t tap, size_t place)
{
    int64_t at[ODB_MAX_RANK], tap_at[ODB_MAX_RANK], cell = 0;
    odb_stride_coordinates(w->rank, w->out, place, at);
    odb_stride_coordinates(w->rank, w->kernel, tap, tap_at);
    for (int d = 0; d < w->rank; d++) {
        int64_t i = at[d] * w->stride[d] - w->before[d] + tap_at[d] * w->dilation[d];
        if (i < 0 || i >= w->in[d])
            return -1;
        cell = cell * w->in[d] + i;
    }
    return cell;
}

static enum odb_status columns_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    struct columns s;
    ODB_TRY(columns_read(k, &s));
    const struct odb_window *w = &s.window;
    bool whole = odb_dtype_is_integer(x->dtype);
    size_t planes = (size_t)(s.dims[0] * s.channels), per = w->taps * w->out_size;
    void *sums = calloc(w->in_size + 1, sizeof(double));
    double *reals = sums;
    uint64_t *wholes = sums; /* as many bytes */
    if (!sums)
        return odb_kern_no_memory(k);
    for (size_t p = 0; p < planes; p++) {
        memset(sums, 0, w->in_size * sizeof(double));
        for (size_t i = 0; i < per; i++) {
            int64_t cell = columns_cell(w, i / w->out_size, i % w->out_size);
            if (cell < 0)
                continue;
            if (whole)
                wholes[cell] += (uint64_t)odb_tensor_i64(x, p * per + i);
            else if (k->sequential && x->dtype == ODB_F32)
                reals[cell] = (float)reals[cell] + (float)odb_tensor_f64(x, p * per + i);
            else
                reals[cell] += odb_tensor_f64(x, p * per + i);
        }
        for (size_t i = 0; i < w->in_size; i++) {
            if (whole)
                odb_store_i64(y->dtype, y->data, p * w->in_size + i, (int64_t)wholes[i]);
            else
                odb_store_f64(y->dtype, y->data, p * w->in_size + i, reals[i]);
        }
    }
    free(sums);
    return ODB_OK;
}

static const struct odb_attr_spec columns_attrs[] = {{.name = "dilations", .type = ODB_ATTR_INTS},
                                                     {.name = "pads", .type = ODB_ATTR_INTS},
                                                     {.name = "strides", .type = ODB_ATTR_INTS},
                                                     {.name = NULL}};

const struct odb_op odb_ops_columns[] = {
    ODB_ONNX("Col2Im", 18, ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL, columns_attrs,
             columns_infer, columns_run, ODB_T_NUMBER, ODB_BIT(ODB_I64),
             ODB_NAMES("input,image_shape,block_shape", "output"), ODB_HALVES(18, 18)),
    {.name = NULL},
};
