/* SPDX-License-Identifier: MIT
 *
 * What else com.microsoft has: early forms of operators that ONNX took over, moves, hashes,
 * distances, inverses, spectra, and dropout as it is outside training. Sums are taken in double.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/cells.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"
#include "kernels/core/stride.h"

/* --- as in ai.onnx ---------------------------------------------------------------------------- */

#define TENSOR_SAME_AS(fn, op, version, ...)                                                       \
    static void fn(struct odb_chain *c)                                                            \
    {                                                                                              \
        struct odb_kern *k = c->k;                                                                 \
        odb_chain_give(c, 0, ODB_STEP_WITH(c, op, version, (__VA_ARGS__), k->attrs));              \
    }                                                                                              \
    ODB_CHAIN(fn)

TENSOR_SAME_AS(tensor_trilu, "Trilu", 14, k->in[0], odb_kern_in(k, 1))
TENSOR_SAME_AS(tensor_grid_sample, "GridSample", 16, k->in[0], k->in[1])
TENSOR_SAME_AS(tensor_gather_nd, "GatherND", 11, k->in[0], odb_chain_cast(c, k->in[1], ODB_I64))
TENSOR_SAME_AS(tensor_sample, "Identity", 1, k->in[0])
TENSOR_SAME_AS(tensor_embedding, "Gather", 1, k->in[0], k->in[1])

/* Input i, one number of whatever shape, as a scalar. */
static const struct odb_tensor *tensor_scalar(struct odb_chain *c, int i)
{
    const struct odb_tensor *t = odb_kern_in(c->k, i);
    return t && t->rank ? odb_chain_reshape(c, t, 0, NULL) : t;
}

static void tensor_range(struct odb_chain *c)
{
    const struct odb_tensor *step = tensor_scalar(c, 2);
    if (!step)
        step = odb_chain_number(c, c->k->in[0]->dtype, 1);
    odb_chain_give(c, 0,
                   ODB_STEP(c, "Range", 11, (tensor_scalar(c, 0), tensor_scalar(c, 1), step)));
}
ODB_CHAIN(tensor_range)

/* Pads may lie in a matrix of one row. */
static void tensor_pad(struct odb_chain *c)
{
    const struct odb_tensor *pads = c->k->in[1];
    if (pads->rank != 1)
        pads = odb_chain_reshape(c, pads, 1, (const int64_t[]){(int64_t)pads->count});
    odb_chain_give(
        c, 0, ODB_STEP_WITH(c, "Pad", 13, (c->k->in[0], pads, tensor_scalar(c, 2)), c->k->attrs));
}
ODB_CHAIN(tensor_pad)

static void tensor_expand_dims(struct odb_chain *c)
{
    int64_t axis[1];
    size_t n;
    c->status = odb_kern_values(c->k, 1, axis, 1, &n);
    if (odb_chain_ok(c) && n != 1)
        ODB_CHAIN_FAIL(c, "%zu axes; 1 is needed", n);
    odb_chain_give(c, 0, ODB_STEP(c, "Unsqueeze", 13, (c->k->in[0], odb_chain_list(c, axis, 1))));
}
ODB_CHAIN(tensor_expand_dims)

/* Distinct values in the order in which they are met, where each one was, how often it is there. */
static void tensor_unique(struct odb_chain *c)
{
    static const int from[] = {0, 2, 3}; /* Unique has the first places as output 1 */
    const struct odb_tensor *out[4];
    odb_chain_steps(c,
                    &(const struct odb_step){.op = "Unique",
                                             .opset = 11,
                                             .in = {c->k->in[0]},
                                             .attrs = ODB_ATTRS(ODB_ATTR_I("sorted", 0))},
                    4, out);
    for (int i = 0; i < 3; i++)
        odb_chain_give(c, i, out[from[i]]);
}
static enum odb_status tensor_unique_run(struct odb_kern *k)
{
    return odb_chain_run(k, tensor_unique);
}

/* --- moves ------------------------------------------------------------------------------------ */

static enum odb_status tensor_unfold_read(struct odb_kern *k, int *axis, int64_t *size,
                                          int64_t *step)
{
    const struct odb_tensor *x = k->in[0];
    *size = odb_kern_int(k, "size", 0);
    *step = odb_kern_int(k, "step", 1);
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "dim", -1), x->rank, false, axis));
    if (*size < 1 || *step < 1 || *size > x->dims[*axis])
        return ODB_KERN_FAIL(k, "slices of %lld every %lld of a dimension of %lld",
                             (long long)*size, (long long)*step, (long long)x->dims[*axis]);
    return ODB_OK;
}

static enum odb_status tensor_unfold_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK + 1], size, step;
    int axis;
    ODB_TRY(tensor_unfold_read(k, &axis, &size, &step));
    memcpy(dims, x->dims, sizeof x->dims);
    dims[axis] = (x->dims[axis] - size) / step + 1;
    dims[x->rank] = size;
    return odb_kern_outline(k, 0, x->dtype, x->rank + 1, dims);
}

static enum odb_status tensor_unfold_cells(struct odb_kern *k, void *arg, size_t cell,
                                           unsigned char *dst, const unsigned char *src)
{
    const struct odb_tensor *x = k->in[0], *y = k->out[0];
    struct odb_stride s = {.rank = y->rank};
    int64_t size, step;
    int axis;
    ODB_TRY(tensor_unfold_read(k, &axis, &size, &step));
    odb_stride_dense(y->rank, y->dims, s.dst);
    odb_stride_dense(x->rank, x->dims, s.src);
    memcpy(s.dims, y->dims, sizeof y->dims);
    s.src[x->rank] = s.src[axis];
    if (y->dims[axis] > 1) /* a step that is never made may be of any length */
        s.src[axis] *= step;
    odb_stride_copy(&s, cell, dst, src);
    return ODB_OK;
}

static enum odb_status tensor_unfold_run(struct odb_kern *k)
{
    return odb_cells_move(k, 0, 0, tensor_unfold_cells, NULL);
}

/* --- dropout ---------------------------------------------------------------------------------- */

/* Ratio in input i, mode in the next: only what drops nothing. */
static bool tensor_drops(struct odb_chain *c, int i)
{
    const struct odb_tensor *ratio = odb_kern_in(c->k, i), *mode = odb_kern_in(c->k, i + 1);
    if (!mode || c->infer || !mode->count || !odb_tensor_i64(mode, 0))
        return false;
    if (ratio && ratio->count && odb_tensor_f64(ratio, 0) == 0)
        return false;
    ODB_CHAIN_UNSUPPORTED(c, "%s in training mode draws at random", c->k->op->name);
    return true;
}

/* y becomes output 0; output 1 says for each element that it was kept: as bits, or as bool. */
static void tensor_keep_all(struct odb_chain *c, const struct odb_tensor *y, int ratio, bool bits)
{
    if (!odb_chain_ok(c) || tensor_drops(c, ratio))
        return;
    int64_t words = ((int64_t)y->count + 31) / 32;
    struct odb_tensor *mask =
        bits ? odb_chain_new(c, ODB_U32, 1, &words) : odb_chain_new(c, ODB_BOOL, y->rank, y->dims);
    if (mask && !c->infer && mask->bytes)
        memset(mask->data, bits ? 0xff : 1, mask->bytes);
    odb_chain_give(c, 0, y);
    odb_chain_give(c, 1, mask);
}

static void tensor_bitmask_dropout(struct odb_chain *c)
{
    tensor_keep_all(c, ODB_STEP(c, "Identity", 1, (c->k->in[0])), 1, true);
}
ODB_CHAIN(tensor_bitmask_dropout)

/* x + bias, + residual. */
static const struct odb_tensor *tensor_bias(struct odb_chain *c)
{
    const struct odb_tensor *residual = odb_kern_in(c->k, 2);
    const struct odb_tensor *y = ODB_STEP(c, "Add", 14, (c->k->in[0], c->k->in[1]));
    return residual ? ODB_STEP(c, "Add", 14, (y, residual)) : y;
}

static void tensor_bias_dropout(struct odb_chain *c)
{
    tensor_keep_all(c, tensor_bias(c), 3, false);
}
ODB_CHAIN(tensor_bias_dropout)

static void tensor_bitmask_bias_dropout(struct odb_chain *c)
{
    tensor_keep_all(c, tensor_bias(c), 3, true);
}
ODB_CHAIN(tensor_bitmask_bias_dropout)

/* --- complex numbers and spectra -------------------------------------------------------------- */

/* Real (0) or imaginary (1) parts of input i, whose last dimension holds both. */
static const struct odb_tensor *tensor_part(struct odb_chain *c, int i, int part)
{
    const struct odb_tensor *t = c->k->in[i];
    if (t->rank == 0 || t->dims[t->rank - 1] != 2)
        ODB_CHAIN_FAIL(c, "the last dimension of input %d is not 2", i);
    return ODB_STEP_WITH(c, "Gather", 13, (t, odb_chain_number(c, ODB_I64, part)),
                         ODB_ATTRS(ODB_ATTR_I("axis", -1)));
}

static void tensor_complex(struct odb_chain *c, bool conjugate)
{
    const struct odb_tensor *part[2], *minus = odb_chain_list(c, (const int64_t[]){-1}, 1);
    const struct odb_tensor *a[2] = {tensor_part(c, 0, 0), tensor_part(c, 0, 1)};
    const struct odb_tensor *b[2] = {tensor_part(c, 1, 0), tensor_part(c, 1, 1)};
    const struct odb_tensor *both = ODB_STEP(c, "Mul", 14, (a[0], b[0]));
    const struct odb_tensor *neither = ODB_STEP(c, "Mul", 14, (a[1], b[1]));
    const struct odb_tensor *second = ODB_STEP(c, "Mul", 14, (a[1], b[0]));
    const struct odb_tensor *first = ODB_STEP(c, "Mul", 14, (a[0], b[1]));
    part[0] = ODB_STEP(c, conjugate ? "Add" : "Sub", 14, (both, neither));
    part[1] = ODB_STEP(c, conjugate ? "Sub" : "Add", 14, (second, first));
    for (int i = 0; i < 2; i++)
        part[i] = ODB_STEP(c, "Unsqueeze", 13, (part[i], minus));
    odb_chain_give(
        c, 0,
        ODB_STEP_WITH(c, "Concat", 13, (part[0], part[1]), ODB_ATTRS(ODB_ATTR_I("axis", -1))));
}

static void tensor_complex_mul(struct odb_chain *c)
{
    tensor_complex(c, false);
}
ODB_CHAIN(tensor_complex_mul)

static void tensor_complex_mul_conj(struct odb_chain *c)
{
    tensor_complex(c, true);
}
ODB_CHAIN(tensor_complex_mul_conj)

/* DFT of dimension axis; inverse: scaled by 1 / n, as ONNX has it. */
static const struct odb_tensor *tensor_dft(struct odb_chain *c, const struct odb_tensor *t,
                                           int axis, bool onesided, bool inverse)
{
    return ODB_STEP_WITH(c, "DFT", 17, (t),
                         ODB_ATTRS(ODB_ATTR_I("axis", axis), ODB_ATTR_I("onesided", onesided),
                                   ODB_ATTR_I("inverse", inverse)));
}

static bool tensor_spectrum_ok(struct odb_chain *c, int rank, int64_t *n)
{
    *n = odb_kern_int(c->k, "signal_ndim", 1);
    if (odb_kern_int(c->k, "normalized", 0) || !odb_kern_int(c->k, "onesided", 1))
        ODB_CHAIN_UNSUPPORTED(c, "spectra that are normalized or have both sides");
    if (*n < 1 || *n > rank)
        ODB_CHAIN_FAIL(c, "a signal of %lld dimensions in a tensor of %d", (long long)*n, rank);
    return odb_chain_ok(c);
}

/* Of the last dimension one side, then of those before it. */
static void tensor_rfft(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0];
    int64_t n, dims[ODB_MAX_RANK + 1];
    int rank = x->rank;
    if (!tensor_spectrum_ok(c, rank, &n))
        return;
    memcpy(dims, x->dims, sizeof x->dims);
    dims[rank] = 1;
    if (rank == ODB_MAX_RANK || rank < 2)
        ODB_CHAIN_UNSUPPORTED(c, "a signal in a tensor of rank %d", rank);
    const struct odb_tensor *y = odb_chain_reshape(c, x, rank + 1, dims);
    y = tensor_dft(c, y, rank - 1, true, false);
    for (int d = 1; d < n; d++)
        y = tensor_dft(c, y, rank - 1 - d, false, false);
    odb_chain_give(c, 0, y);
}
ODB_CHAIN(tensor_rfft)

/* Back: from (…, n/2 + 1, 2) to (…, n). The other side of the last dimension mirrors the one that
 * is there. */
static void tensor_irfft(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0], *y = x;
    int64_t n, dims[ODB_MAX_RANK];
    int last = x->rank - 2;
    if (x->rank < 3 || x->dims[x->rank - 1] != 2 || x->dims[last] < 2)
        ODB_CHAIN_FAIL(c, "input of rank %d is no spectrum", x->rank);
    if (!odb_chain_ok(c) || !tensor_spectrum_ok(c, x->rank - 1, &n))
        return;
    for (int d = 1; d < n; d++)
        y = tensor_dft(c, y, last - d, false, true);
    int64_t half = x->dims[last], whole = 2 * (half - 1);
    memcpy(dims, x->dims, sizeof dims);
    dims[last] = whole;
    struct odb_tensor *full = odb_chain_new(c, x->dtype, x->rank, dims);
    for (size_t i = 0; full && !c->infer && i < full->count; i++) {
        size_t inner = 2, row = i / inner / (size_t)whole;
        int64_t at = (int64_t)(i / inner % (size_t)whole);
        bool other = at >= half;
        size_t from = (row * (size_t)half + (size_t)(other ? whole - at : at)) * inner + i % inner;
        double v = odb_tensor_f64(y, from);
        odb_store_f64(full->dtype, full->data, i, other && i % 2 ? -v : v);
    }
    y = tensor_dft(c, full, last, false, true);
    y = ODB_STEP_WITH(c, "Gather", 13, (y, odb_chain_number(c, ODB_I64, 0)),
                      ODB_ATTRS(ODB_ATTR_I("axis", -1)));
    odb_chain_give(c, 0, y);
}
ODB_CHAIN(tensor_irfft)

/* --- matrices --------------------------------------------------------------------------------- */

/* a (n x 2n, row-major: the matrix beside the identity) reduced by Gauss and Jordan with the
 * largest pivot of each column. Singular matrices give infinities and NaN. */
static void tensor_invert(double *a, size_t n)
{
    size_t width = 2 * n;
    for (size_t p = 0; p < n; p++) {
        size_t best = p;
        for (size_t r = p + 1; r < n; r++)
            if (fabs(a[r * width + p]) > fabs(a[best * width + p]))
                best = r;
        for (size_t j = 0; j < width; j++) {
            double swap = a[p * width + j];
            a[p * width + j] = a[best * width + j];
            a[best * width + j] = swap;
        }
        double pivot = a[p * width + p];
        for (size_t j = 0; j < width; j++)
            a[p * width + j] /= pivot;
        for (size_t r = 0; r < n; r++) {
            double factor = a[r * width + p];
            for (size_t j = 0; r != p && j < width; j++)
                a[r * width + j] -= factor * a[p * width + j];
        }
    }
}

static enum odb_status tensor_inverse_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    if (x->rank < 2 || x->dims[x->rank - 1] != x->dims[x->rank - 2])
        return ODB_KERN_FAIL(k, "only square matrices have an inverse");
    return odb_infer_same(k);
}

static enum odb_status tensor_inverse_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    size_t n = (size_t)x->dims[x->rank - 1];
    if (x->count == 0)
        return ODB_OK;
    double *a = malloc(2 * n * n * sizeof *a);
    if (!a)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory to invert a matrix in");
    for (size_t at = 0; at < x->count; at += n * n) {
        for (size_t i = 0; i < n * n; i++) {
            a[i / n * 2 * n + i % n] = odb_tensor_f64(x, at + i);
            a[i / n * 2 * n + n + i % n] = i / n == i % n;
        }
        tensor_invert(a, n);
        for (size_t i = 0; i < n * n; i++)
            odb_store_f64(y->dtype, y->data, at + i, a[i / n * 2 * n + n + i % n]);
    }
    free(a);
    return ODB_OK;
}

/* Between the rows of two matrices. */
static enum odb_status tensor_distance_infer(struct odb_kern *k)
{
    const struct odb_tensor *a = k->in[0], *b = k->in[1];
    const char *metric = odb_kern_string(k, "metric", "sqeuclidean");
    if (strcmp(metric, "euclidean") != 0 && strcmp(metric, "sqeuclidean") != 0)
        return ODB_KERN_UNSUPPORTED(k, "distance \"%s\"", metric);
    if (a->rank != 2 || b->rank != 2 || a->dims[1] != b->dims[1] || a->dtype != b->dtype)
        return ODB_KERN_FAIL(k, "%s takes two matrices with rows of one length", k->op->name);
    return odb_kern_outline(k, 0, a->dtype, 2, (const int64_t[]){a->dims[0], b->dims[0]});
}

static enum odb_status tensor_distance_run(struct odb_kern *k)
{
    const struct odb_tensor *a = k->in[0], *b = k->in[1];
    struct odb_tensor *y = k->out[0];
    bool root = strcmp(odb_kern_string(k, "metric", "sqeuclidean"), "euclidean") == 0;
    bool in_float = k->sequential && y->dtype != ODB_F64;
    size_t n = (size_t)a->dims[1], columns = (size_t)b->dims[0];
    for (size_t i = 0; i < y->count; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            double d =
                odb_tensor_f64(a, i / columns * n + j) - odb_tensor_f64(b, i % columns * n + j);
            sum = in_float ? (float)(sum + d * d) : sum + d * d;
        }
        odb_store_f64(y->dtype, y->data, i, root ? sqrt(sum) : sum);
    }
    return ODB_OK;
}

/* The cheapest way from the first to the last cell of a matrix of costs, in steps down, right or
 * both. Of equally cheap ones that with the step right, then down. */
static enum odb_status tensor_warp_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    if (x->rank < 2 || x->rank > 3 || (x->rank == 3 && x->dims[0] != 1) || x->count == 0)
        return ODB_KERN_FAIL(k, "%s takes one matrix that is not empty", k->op->name);
    size_t rows = (size_t)x->dims[x->rank - 2], columns = (size_t)x->dims[x->rank - 1];
    size_t width = columns + 1, length = 0;
    double *cost = malloc((rows + 1) * width * sizeof *cost);
    char *step = malloc((rows + 1) * width);
    int32_t *path = malloc(2 * (rows + columns) * sizeof *path);
    enum odb_status status = ODB_OK;
    if (!cost || !step || !path) {
        status = odb_fail(k->err, ODB_E_NOMEM, "no memory to warp in");
        goto out;
    }
    for (size_t i = 0; i <= rows; i++)
        for (size_t j = 0; j <= columns; j++) {
            double *at = cost + i * width + j;
            *at = i == 0 && j == 0 ? 0 : INFINITY;
            step[i * width + j] = i == 0 ? 2 : 1;
            if (i == 0 || j == 0)
                continue;
            double both = at[-(ptrdiff_t)width - 1], down = at[-(ptrdiff_t)width], right = at[-1];
            bool is_both = both < down && both < right, is_down = down < both && down < right;
            step[i * width + j] = is_both ? 0 : is_down ? 1 : 2;
            *at = odb_tensor_f64(x, (i - 1) * columns + j - 1) + (is_both   ? both
                                                                  : is_down ? down
                                                                            : right);
        }
    for (size_t i = rows, j = columns; i > 0 || j > 0; length++) {
        path[2 * length] = (int32_t)i - 1;
        path[2 * length + 1] = (int32_t)j - 1;
        char taken = step[i * width + j];
        i -= taken != 2;
        j -= taken != 1;
    }
    ODB_TRY_OUT(odb_kern_output(k, 0, ODB_I32, 2, (const int64_t[]){2, (int64_t)length}));
    for (size_t i = 0; k->out[0] && i < 2 * length; i++)
        ((odb_i32 *)k->out[0]->data)[i] = path[2 * (length - 1 - i % length) + i / length];
out:
    free(cost);
    free(step);
    free(path);
    return status;
}

/* --- images ----------------------------------------------------------------------------------- */

static enum odb_status tensor_crop_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *boxes = k->in[1], *images = k->in[2];
    int64_t size[2];
    size_t n;
    const char *mode = odb_kern_string(k, "mode", "bilinear");
    if (strcmp(mode, "bilinear") != 0 && strcmp(mode, "nearest") != 0)
        return ODB_KERN_FAIL(k, "mode is \"%s\"", mode);
    if (x->rank != 4 || boxes->rank != 2 || boxes->dims[1] != 4 || images->rank != 1 ||
        images->dims[0] != boxes->dims[0])
        return ODB_KERN_FAIL(k, "%s takes 4 dimensions, boxes of 4 numbers and as many indices",
                             k->op->name);
    ODB_TRY(odb_kern_values(k, 3, size, 2, &n));
    if (n != 2 || size[0] < 1 || size[1] < 1)
        return ODB_KERN_FAIL(k, "crop_size must be two positive numbers");
    return odb_kern_outline(k, 0, x->dtype, 4,
                            (const int64_t[]){boxes->dims[0], x->dims[1], size[0], size[1]});
}

/* Where sample i of n falls between the ends of a box, in pixels of a side. */
static double tensor_crop_at(double from, double to, int64_t i, int64_t n, int64_t side)
{
    double at = n > 1 ? from + (to - from) * (double)i / (double)(n - 1) : (from + to) / 2;
    return (n > 1 && i == n - 1 ? to : at) * (double)(side - 1);
}

static double tensor_crop_sample(const struct odb_tensor *x, size_t plane, double y, double at,
                                 bool nearest)
{
    size_t width = (size_t)x->dims[3], base = plane * (size_t)x->dims[2] * width;
    if (nearest)
        return odb_tensor_f64(x, base + (size_t)round(y) * width + (size_t)round(at));
    size_t top = (size_t)floor(y), left = (size_t)floor(at);
    size_t bottom = (size_t)ceil(y), right = (size_t)ceil(at);
    double a = odb_tensor_f64(x, base + top * width + left);
    double b = odb_tensor_f64(x, base + top * width + right);
    double c = odb_tensor_f64(x, base + bottom * width + left);
    double d = odb_tensor_f64(x, base + bottom * width + right);
    double upper = a + (b - a) * (at - (double)left), lower = c + (d - c) * (at - (double)left);
    return upper + (lower - upper) * (y - (double)top);
}

static enum odb_status tensor_crop_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *boxes = k->in[1];
    struct odb_tensor *y = k->out[0];
    bool nearest = strcmp(odb_kern_string(k, "mode", "bilinear"), "nearest") == 0;
    double outside = odb_kern_float(k, "extrapolation_value", 0);
    int64_t high = y->dims[2], wide = y->dims[3];
    for (size_t i = 0; i < y->count; i++) {
        int64_t column = (int64_t)i % wide, row = (int64_t)i / wide % high;
        size_t plane = i / (size_t)(wide * high), box = plane / (size_t)x->dims[1];
        int64_t image = odb_tensor_i64(k->in[2], box);
        if (image < 0 || image >= x->dims[0])
            return ODB_KERN_FAIL(k, "box %zu is in image %lld of %lld", box, (long long)image,
                                 (long long)x->dims[0]);
        double at_y = tensor_crop_at(odb_tensor_f64(boxes, 4 * box),
                                     odb_tensor_f64(boxes, 4 * box + 2), row, high, x->dims[2]);
        double at_x = tensor_crop_at(odb_tensor_f64(boxes, 4 * box + 1),
                                     odb_tensor_f64(boxes, 4 * box + 3), column, wide, x->dims[3]);
        bool there = at_y >= 0 && at_y <= (double)(x->dims[2] - 1) && at_x >= 0 &&
                     at_x <= (double)(x->dims[3] - 1);
        plane = (size_t)image * (size_t)x->dims[1] + plane % (size_t)x->dims[1];
        odb_store_f64(y->dtype, y->data, i,
                      there ? tensor_crop_sample(x, plane, at_y, at_x, nearest) : outside);
    }
    return ODB_OK;
}

/* --- the rest --------------------------------------------------------------------------------- */

static enum odb_status tensor_finite_infer(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, ODB_BOOL, 0, NULL);
}

static enum odb_status tensor_finite_run(struct odb_kern *k)
{
    bool infinite = !odb_kern_int(k, "isnan_only", 0), nan = !odb_kern_int(k, "isinf_only", 0);
    if (!infinite && !nan)
        return ODB_KERN_FAIL(k, "isinf_only and isnan_only exclude each other");
    bool all = true;
    for (int i = 0; i < k->n_in; i++)
        for (size_t e = 0; k->in[i] && all && e < k->in[i]->count; e++) {
            double v = odb_tensor_f64(k->in[i], e);
            all = !((infinite && isinf(v)) || (nan && isnan(v)));
        }
    *(odb_u8 *)k->out[0]->data = all;
    return ODB_OK;
}

static uint32_t tensor_rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/* MurmurHash3_x86_32 (Appleby, public domain) of some bytes. */
static uint32_t tensor_hash(const uint8_t *data, size_t n, uint32_t hash)
{
    uint32_t block = 0;
    for (size_t i = 0; i < (n + 3) / 4 * 4; i += 4) {
        block = 0;
        for (size_t b = 0; b < 4 && i + b < n; b++)
            block |= (uint32_t)data[i + b] << 8 * b;
        hash ^= tensor_rotate(block * 0xcc9e2d51u, 15) * 0x1b873593u;
        if (i + 4 <= n)
            hash = tensor_rotate(hash, 13) * 5 + 0xe6546b64u;
    }
    hash ^= (uint32_t)n;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static enum odb_status tensor_hash_infer(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, odb_kern_int(k, "positive", 1) ? ODB_U32 : ODB_I32,
                            k->in[0]->rank, k->in[0]->dims);
}

static enum odb_status tensor_hash_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    size_t size = odb_dtype_info(x->dtype)->bits / 8;
    uint32_t seed = (uint32_t)odb_kern_int(k, "seed", 0);
    for (size_t i = 0; i < x->count; i++) {
        const struct odb_str *s = (const struct odb_str *)x->data + i;
        bool text = x->dtype == ODB_STRING;
        const void *data = text ? s->data : (const char *)x->data + i * size;
        ((odb_u32 *)k->out[0]->data)[i] = tensor_hash(data, text ? s->len : size, seed);
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec tensor_trilu_attrs[] = {{"upper", ODB_ATTR_INT, "1", false},
                                                          {NULL}};
static const struct odb_attr_spec tensor_grid_attrs[] = {
    {"align_corners", ODB_ATTR_INT, "0", false},
    {"mode", ODB_ATTR_STRING, "bilinear", false},
    {"padding_mode", ODB_ATTR_STRING, "zeros", false},
    {NULL}};
static const struct odb_attr_spec tensor_pad_attrs[] = {
    {"mode", ODB_ATTR_STRING, "constant", false}, {NULL}};
static const struct odb_attr_spec tensor_unfold_attrs[] = {{"dim", ODB_ATTR_INT, "-1", false},
                                                           {"size", ODB_ATTR_INT, NULL, true},
                                                           {"step", ODB_ATTR_INT, "1", false},
                                                           {NULL}};
static const struct odb_attr_spec tensor_seed_attrs[] = {{"seed", ODB_ATTR_INT, NULL, false},
                                                         {NULL}};
static const struct odb_attr_spec tensor_fft_attrs[] = {{"normalized", ODB_ATTR_INT, "0", false},
                                                        {"onesided", ODB_ATTR_INT, "1", false},
                                                        {"signal_ndim", ODB_ATTR_INT, NULL, true},
                                                        {NULL}};
static const struct odb_attr_spec tensor_distance_attrs[] = {
    {"metric", ODB_ATTR_STRING, "sqeuclidean", false}, {NULL}};
static const struct odb_attr_spec tensor_crop_attrs[] = {
    {"extrapolation_value", ODB_ATTR_FLOAT, "0", false},
    {"mode", ODB_ATTR_STRING, "bilinear", false},
    {NULL}};
static const struct odb_attr_spec tensor_finite_attrs[] = {
    {"isinf_only", ODB_ATTR_INT, "0", false}, {"isnan_only", ODB_ATTR_INT, "0", false}, {NULL}};
static const struct odb_attr_spec tensor_hash_attrs[] = {
    {"positive", ODB_ATTR_INT, "1", false}, {"seed", ODB_ATTR_INT, "0", false}, {NULL}};

#define TF32_64 (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64))
#define TBOOL ODB_T_BOOL
#define TI32 ODB_BIT(ODB_I32)
#define TI64 ODB_BIT(ODB_I64)
#define TENSOR_ROW(name, least, most, outs, flags, attrs, fn, ...)                                 \
    ODB_MICROSOFT(name, ODB_ARITY(least, most), ODB_ARITY(1, outs), flags, attrs, fn##_infer,      \
                  fn##_run, __VA_ARGS__)
#define TENSOR_FREE_ROW(name, outs, flags, fn, ...)                                                \
    ODB_MICROSOFT(name, ODB_ARITY(1, 1), ODB_ARITY(1, outs), flags, NULL, NULL, fn##_run,          \
                  __VA_ARGS__)

const struct odb_op odb_ops_contrib_tensor[] = {
    TENSOR_ROW("Trilu", 1, 2, 1, ODB_OP_EXACT, tensor_trilu_attrs, tensor_trilu,
               ODB_T_NUMBER | TBOOL, TI64, ODB_NAMES("X,k", "Y")),
    TENSOR_ROW("GridSample", 2, 2, 1, ODB_OP_REAL, tensor_grid_attrs, tensor_grid_sample,
               ODB_T_FLOAT, ODB_NAMES("X,Grid", "Y")),
    TENSOR_ROW("GatherND", 2, 2, 1, ODB_OP_EXACT, NULL, tensor_gather_nd, ODB_T_ANY, ODB_T_INDEX,
               ODB_NAMES("data,indices", "output")),
    TENSOR_ROW("SampleOp", 1, 1, 1, ODB_OP_EXACT, NULL, tensor_sample, ODB_T_ANY,
               ODB_NAMES("X", "Y")),
    TENSOR_ROW("TorchEmbedding", 2, 4, 1, ODB_OP_EXACT, NULL, tensor_embedding, ODB_T_NUMBER, TI64,
               TI64, TBOOL, ODB_NAMES("weight,indices,padding_idx,scale_grad_by_freq", "Y")),
    TENSOR_ROW("Range", 2, 3, 1, ODB_OP_REAL, NULL, tensor_range,
               TF32_64 | ODB_BIT(ODB_I16) | ODB_T_INDEX, ODB_NAMES("start,limit,delta", "Y")),
    TENSOR_ROW("Pad", 2, 3, 1, ODB_OP_EXACT, tensor_pad_attrs, tensor_pad, ODB_T_FLOAT, TI64,
               ODB_AS(0), ODB_NAMES("data,pads,value", "output")),
    TENSOR_ROW("ExpandDims", 2, 2, 1, ODB_OP_EXACT, NULL, tensor_expand_dims, ODB_T_ANY, TI32,
               ODB_NAMES("X,axis", "Y")),
    TENSOR_FREE_ROW("Unique", 3, ODB_OP_EXACT | ODB_OP_BOUNDARY, tensor_unique, ODB_BIT(ODB_F32),
                    ODB_NAMES("x", "y,idx,counts"), ODB_TRAITS(ODB_IS_SIZED_BY_DATA)),
    TENSOR_ROW("UnfoldTensor", 1, 1, 1, ODB_OP_EXACT, tensor_unfold_attrs, tensor_unfold, ODB_T_ANY,
               ODB_NAMES("input", "output")),
    TENSOR_ROW("BitmaskDropout", 1, 3, 2, ODB_OP_REAL, tensor_seed_attrs, tensor_bitmask_dropout,
               ODB_T_FLOAT, ODB_T_FLOAT, TBOOL,
               ODB_NAMES("data,ratio,training_mode", "output,mask")),
    TENSOR_ROW("BiasDropout", 2, 5, 2, ODB_OP_REAL, tensor_seed_attrs, tensor_bias_dropout,
               ODB_T_FLOAT, ODB_AS(0), ODB_AS(0), ODB_T_FLOAT, TBOOL,
               ODB_NAMES("data,bias,residual,ratio,training_mode", "output,mask")),
    TENSOR_ROW("BitmaskBiasDropout", 2, 5, 2, ODB_OP_REAL, tensor_seed_attrs,
               tensor_bitmask_bias_dropout, ODB_T_FLOAT, ODB_AS(0), ODB_AS(0), ODB_T_FLOAT, TBOOL,
               ODB_NAMES("data,bias,residual,ratio,training_mode", "output,mask")),
    TENSOR_ROW("ComplexMul", 2, 2, 1, ODB_OP_REAL, NULL, tensor_complex_mul, ODB_T_FLOAT,
               ODB_NAMES("A,B", "C")),
    TENSOR_ROW("ComplexMulConj", 2, 2, 1, ODB_OP_REAL, NULL, tensor_complex_mul_conj, ODB_T_FLOAT,
               ODB_NAMES("A,B", "C")),
    TENSOR_ROW("Rfft", 1, 1, 1, ODB_OP_REAL, tensor_fft_attrs, tensor_rfft, ODB_T_FLOAT,
               ODB_NAMES("X", "Y")),
    TENSOR_ROW("Irfft", 1, 1, 1, ODB_OP_REAL, tensor_fft_attrs, tensor_irfft, ODB_T_FLOAT,
               ODB_NAMES("X", "Y")),
    TENSOR_ROW("Inverse", 1, 1, 1, ODB_OP_REAL, NULL, tensor_inverse, ODB_T_FLOAT,
               ODB_NAMES("X", "Y")),
    TENSOR_ROW("CDist", 2, 2, 1, ODB_OP_REAL, tensor_distance_attrs, tensor_distance, TF32_64,
               ODB_NAMES("A,B", "C")),
    TENSOR_FREE_ROW("DynamicTimeWarping", 1, ODB_OP_REAL | ODB_OP_BOUNDARY, tensor_warp,
                    ODB_BIT(ODB_F32), ODB_NAMES("input", "output")),
    TENSOR_ROW("CropAndResize", 4, 4, 1, ODB_OP_REAL | ODB_OP_BOUNDARY, tensor_crop_attrs,
               tensor_crop, ODB_T_FLOAT, ODB_AS(0), TI32, TI32,
               ODB_NAMES("X,rois,batch_indices,crop_size", "Y")),
    TENSOR_ROW("IsAllFinite", 1, ODB_MANY, 1, ODB_OP_EXACT, tensor_finite_attrs, tensor_finite,
               ODB_T_FLOAT, ODB_NAMES("input...", "output")),
    TENSOR_ROW("MurmurHash3", 1, 1, 1, ODB_OP_EXACT, tensor_hash_attrs, tensor_hash,
               TF32_64 | TI32 | TI64 | ODB_BIT(ODB_U32) | ODB_BIT(ODB_U64) | ODB_T_STRING,
               ODB_NAMES("X", "Y")),
    {.name = NULL},
};
