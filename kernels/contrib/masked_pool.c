/* SPDX-License-Identifier: MIT
 *
 * MaxpoolWithMask (com.microsoft): MaxPool that, within each row of a window, stops at the first
 * element whose mask is 0. Its document says no more, so the rest is as ONNX Runtime's kernel has
 * it: the first element of a channel counts whatever its mask is, but not in one dimension; what is
 * not larger than the least float (NaN, -Inf) never counts, and is what an empty window gives. A
 * mask of several channels is refused: that kernel reads it at places that the shapes do not
 * explain.
 */
#include <float.h>

#include "kernels/contrib/contrib.h"
#include "kernels/nn/window.h"

enum { MASKED_RANK = 3 };

static enum odb_status masked_read(struct odb_kern *k, struct odb_window *w)
{
    const struct odb_tensor *x = k->in[0], *mask = k->in[1];
    if (x->rank < 3 || x->rank > 2 + MASKED_RANK)
        return ODB_KERN_FAIL(k, "MaxpoolWithMask needs 3 to 5 dimensions, not %d", x->rank);
    int64_t want[ODB_MAX_RANK] = {mask->rank > 0 ? mask->dims[0] : 1,
                                  mask->rank > 1 ? mask->dims[1] : 1};
    for (int d = 2; d < x->rank; d++)
        want[d] = x->dims[d];
    ODB_TRY(odb_kern_expect(k, 1, x->rank, want));
    if (want[0] != 1 || want[1] != 1)
        return ODB_KERN_UNSUPPORTED(k, "MaxpoolWithMask with a mask of %lld by %lld channels",
                                    (long long)want[0], (long long)want[1]);
    return odb_window_slide(k, x, NULL, w);
}

static enum odb_status masked_infer(struct odb_kern *k)
{
    struct odb_window w;
    ODB_TRY(masked_read(k, &w));
    return odb_window_outline(k, 0, k->in[0]->dtype, k->in[0], k->in[0]->dims[1], &w);
}

/* The largest of one row of a window, elements [from, to) of a channel that begins at `channel`. */
static double masked_row(const struct odb_kern *k, size_t channel, int64_t from, int64_t to,
                         bool line, double most)
{
    for (int64_t i = from; i < to; i++) {
        if ((line || i > 0) && odb_tensor_i64(k->in[1], (size_t)i) == 0)
            break;
        double v = odb_tensor_f64(k->in[0], channel + (size_t)i);
        most = v > most ? v : most;
    }
    return most;
}

/* The window of result number `at` of a channel, in up to three dimensions; the last are rows. */
static double masked_window(const struct odb_kern *k, const struct odb_window *w, size_t channel,
                            size_t at)
{
    int64_t in[MASKED_RANK] = {1, 1, 1}, from[MASKED_RANK] = {0}, to[MASKED_RANK] = {1, 1, 1};
    double most = -FLT_MAX;
    for (int d = w->rank - 1, to_d = MASKED_RANK - 1; d >= 0; d--, to_d--) {
        int64_t start = (int64_t)(at % (size_t)w->out[d]) * w->stride[d] - w->before[d];
        in[to_d] = w->in[d];
        from[to_d] = start < 0 ? 0 : start;
        to[to_d] = start + w->kernel[d] < w->in[d] ? start + w->kernel[d] : w->in[d];
        at /= (size_t)w->out[d];
    }
    for (int64_t i = from[0]; i < to[0]; i++)
        for (int64_t j = from[1]; j < to[1]; j++) {
            int64_t row = (i * in[1] + j) * in[2];
            most = masked_row(k, channel, row + from[2], row + to[2], w->rank == 1, most);
        }
    return most;
}

static enum odb_status masked_run(struct odb_kern *k)
{
    struct odb_window w;
    struct odb_tensor *y = k->out[0];
    ODB_TRY(masked_read(k, &w));
    for (size_t i = 0; i < y->count; i++)
        odb_store_f64(y->dtype, y->data, i,
                      masked_window(k, &w, i / w.out_size * w.in_size, i % w.out_size));
    return ODB_OK;
}

static const struct odb_attr_spec masked_attrs[] = {
    {"auto_pad", ODB_ATTR_STRING, "NOTSET", false}, {"kernel_shape", ODB_ATTR_INTS, NULL, false},
    {"pads", ODB_ATTR_INTS, NULL, false},           {"storage_order", ODB_ATTR_INT, "0", false},
    {"strides", ODB_ATTR_INTS, NULL, false},        {NULL}};

const struct odb_op odb_ops_masked_pool[] = {
    ODB_MICROSOFT("MaxpoolWithMask", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_EXACT | ODB_OP_REAL,
                  masked_attrs, masked_infer, masked_run, ODB_BIT(ODB_F32), ODB_BIT(ODB_I32),
                  ODB_NAMES("X,M", "Y"), ODB_WORK(pool)),
    {.name = NULL},
};
