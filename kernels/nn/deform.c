/* SPDX-License-Identifier: MIT
 *
 * DeformConv: a convolution each of whose taps is moved by an offset of its own, and may be weighed
 * by a mask (Dai et al. 2017, Zhu et al. 2019). What the taps of a result read is gathered once for
 * all filters. Sums and interpolation are taken in double.
 */
#include <stdatomic.h>

#include "system/parallel.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"
#include "kernels/core/stride.h"
#include "kernels/nn/window.h"
#include "kernels/core/workspace.h"

#define DEFORM_GRAIN 16 /* results per block */

struct deform {
    struct odb_window window;
    size_t channels, filters, groups, offset_groups;
    const void *x, *weight, *offset, *bias, *mask; /* bias, mask: NULL where omitted */
    void *y;
    atomic_bool failed;
};

#define ODB_BODY "kernels/nn/deform.real.h"
#include "kernels/core/real.h"

static enum odb_status deform_shape(struct odb_kern *k, const char *what,
                                    const struct odb_tensor *t, int rank, const int64_t *dims)
{
    if (!t)
        return ODB_OK;
    bool fits = t->rank == rank;
    for (int d = 0; fits && d < rank; d++)
        fits = t->dims[d] == dims[d];
    char shape[200], want[200];
    if (fits)
        return ODB_OK;
    struct odb_tensor wanted = {.kind = ODB_TENSOR, .rank = rank};
    for (int d = 0; d < rank; d++)
        wanted.dims[d] = dims[d];
    return ODB_KERN_FAIL(k, "%s of shape %s, where %s fits", what,
                         odb_shape_text(t, shape, sizeof shape),
                         odb_shape_text(&wanted, want, sizeof want));
}

static enum odb_status deform_read(struct odb_kern *k, struct deform *s)
{
    const struct odb_tensor *x = k->in[0], *weight = k->in[1];
    int64_t groups = odb_kern_int(k, "group", 1), moved = odb_kern_int(k, "offset_group", 1);
    struct odb_window *w = &s->window;
    if (x->rank < 3 || weight->rank != x->rank)
        return ODB_KERN_FAIL(k, "an input of rank %d and weights of rank %d", x->rank,
                             weight->rank);
    ODB_TRY(odb_window_slide(k, x, weight->dims + 2, w));
    int64_t offsets = (int64_t)w->taps * w->rank; /* two for each tap in a plane, and so on */
    if (groups < 1 || moved < 1 || __builtin_mul_overflow(offsets, moved, &offsets) ||
        x->dims[1] % groups || weight->dims[0] % groups || x->dims[1] % moved ||
        weight->dims[1] != x->dims[1] / groups)
        return ODB_KERN_FAIL(
            k,
            "%lld channels and %lld filters of %lld in %lld groups, %lld groups of "
            "offsets",
            (long long)x->dims[1], (long long)weight->dims[0], (long long)weight->dims[1],
            (long long)groups, (long long)moved);
    int64_t dims[ODB_MAX_RANK] = {x->dims[0], offsets};
    for (int d = 0; d < w->rank; d++)
        dims[d + 2] = w->out[d];
    ODB_TRY(deform_shape(k, "offsets", odb_kern_in(k, 2), x->rank, dims));
    dims[1] /= w->rank;
    ODB_TRY(deform_shape(k, "a mask", odb_kern_in(k, 4), x->rank, dims));
    ODB_TRY(deform_shape(k, "a bias", odb_kern_in(k, 3), 1, weight->dims));
    s->channels = (size_t)x->dims[1];
    s->filters = (size_t)weight->dims[0];
    s->groups = (size_t)groups;
    s->offset_groups = (size_t)moved;
    return ODB_OK;
}

static enum odb_status deform_infer(struct odb_kern *k)
{
    struct deform s;
    ODB_TRY(deform_read(k, &s));
    return odb_window_outline(k, 0, k->in[0]->dtype, k->in[0], k->in[1]->dims[0], &s.window);
}

static enum odb_status deform_run(struct odb_kern *k)
{
    const struct odb_tensor *bias = odb_kern_in(k, 3), *mask = odb_kern_in(k, 4);
    struct deform s = {.x = k->in[0]->data,
                       .weight = k->in[1]->data,
                       .offset = k->in[2]->data,
                       .bias = bias ? bias->data : NULL,
                       .mask = mask ? mask->data : NULL,
                       .y = k->out[0]->data};
    ODB_TRY(deform_read(k, &s));
    if (k->out[0]->count == 0)
        return ODB_OK;
    atomic_init(&s.failed, false);
    odb_parallel_for((size_t)k->in[0]->dims[0] * s.window.out_size, DEFORM_GRAIN,
                     ODB_REAL_FN(k, k->in[0]->dtype, deform_places), &s);
    if (atomic_load(&s.failed))
        return odb_kern_no_memory(k);
    return ODB_OK;
}

static const struct odb_attr_spec deform_attrs[] = {
    {.name = "dilations", .type = ODB_ATTR_INTS},
    {.name = "group", .type = ODB_ATTR_INT, .def = "1"},
    {.name = "kernel_shape", .type = ODB_ATTR_INTS},
    {.name = "offset_group", .type = ODB_ATTR_INT, .def = "1"},
    {.name = "pads", .type = ODB_ATTR_INTS},
    {.name = "strides", .type = ODB_ATTR_INTS},
    {.name = NULL}};

const struct odb_op odb_ops_deform[] = {
    ODB_ONNX("DeformConv", 19, ODB_ARITY(3, 5), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_MATMUL,
             deform_attrs, deform_infer, deform_run, ODB_T_FLOAT,
             ODB_NAMES("X,W,offset,B,mask", "Y"), ODB_HALVES(19, 22)),
    {.name = NULL},
};
