/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/catalogue/dots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"
#include "system/parallel.h"

/* Where operands, their zero points and what is added are among the inputs; -1: nowhere. */
static const struct dots_op {
    const char *ops;
    int b, zero_a, zero_b, bias;
} dots_ops[] = {
    {"MatMul", 1, -1, -1, -1},
    {"Gemm", 1, -1, -1, -1}, /* C is added with beta, by dots_gemm() */
    {"Conv", 1, -1, -1, 2},
    {"MatMulInteger|ConvInteger", 1, 2, 3, -1},
    {"QLinearMatMul", 3, 2, 5, -1},
    {"QLinearConv", 3, 2, 5, 8},
};

struct dots;
/* Puts the terms of these elements into their lanes, and says which output channels they are of. */
typedef void dots_terms(const struct dots *d, const size_t e[DOTS_LANES], dots_row *x, dots_row *y,
                        size_t channel[DOTS_LANES]);

struct dots_matrix {
    size_t rows, columns, row_step, column_step; /* of A: rows and terms; of B: terms and columns */
};

#define DOTS_AXES 3

struct dots_window {
    int n; /* spatial axes */
    int64_t stride[DOTS_AXES], dilation[DOTS_AXES], pad[DOTS_AXES];
    size_t channels, outs, group_outs, taps; /* of W; of Y; of a group of Y; of a channel of W */
    size_t area, plane;                      /* elements of a channel of Y; of X */
};

/* The terms of every element: where they lie in the operands, in double. */
struct dots {
    const struct accused *s;
    const struct dots_how *how;
    const struct dots_op *op;
    struct odb_tensor *a, *b; /* refs, in double */
    double zero_a, zero_b;    /* zero points of operands of integers */
    double pad;               /* what a's padding holds */
    odb_f64 *to;              /* output, in double */
    size_t k;                 /* terms of an element */
    dots_terms *terms;
    const struct odb_tensor *bias; /* borrowed; by output channel; NULL: none */
    struct dots_matrix m[2];       /* of products of matrices */
    struct dots_window window;     /* of convolutions */
};

double dots_saturate_16(double x)
{
    return fmin(fmax(x, -32768), 32767);
}

ODB_SIMD void dots_sum_exact(const void *payload, const dots_row *a, const dots_row *b, size_t k,
                             double *sums)
{
    (void)payload;
    for (size_t i = 0; i < k; i++)
        for (size_t lane = 0; lane < DOTS_LANES; lane++)
            sums[lane] += a[i][lane] * b[i][lane];
}

void dots_sum_pairs(const void *payload, const dots_row *a, const dots_row *b, size_t k,
                    double *sums)
{
    (void)payload;
    for (size_t i = 0; i < k; i += 2)
        for (size_t lane = 0; lane < DOTS_LANES; lane++)
            sums[lane] += dots_saturate_16(a[i][lane] * b[i][lane] +
                                           (i + 1 < k ? a[i + 1][lane] * b[i + 1][lane] : 0));
}

/* Sum of (a - zero_a) * (b - zero_b), of which the sum of a * b alone is the caller's. */
static double dots_less_zeros(const struct dots *d, const dots_row *x, const dots_row *y,
                              size_t lane, double sum)
{
    double a = 0, b = 0;
    for (size_t i = 0; i < d->k && (d->zero_a != 0 || d->zero_b != 0); i++) {
        a += x[i][lane];
        b += y[i][lane];
    }
    return sum - d->zero_b * a - d->zero_a * b + (double)d->k * d->zero_a * d->zero_b;
}

static void dots_part(void *arg, size_t begin, size_t end)
{
    const struct dots *d = arg;
    const struct dots_codes *codes = d->how->codes;
    dots_row *x = odb_new_n(dots_row, d->k + 1), *y = odb_new_n(dots_row, d->k + 1);
    for (size_t e = begin; e < end; e += DOTS_LANES) {
        size_t n = ODB_MIN(end - e, (size_t)DOTS_LANES), at[DOTS_LANES], channel[DOTS_LANES];
        dots_row sums = {0};
        for (size_t lane = 0; lane < DOTS_LANES; lane++)
            at[lane] = e + ODB_MIN(lane, n - 1);
        d->terms(d, at, x, y, channel);
        d->how->sum(d->how->payload, (const dots_row *)x, (const dots_row *)y, d->k, sums);
        for (size_t lane = 0; lane < n; lane++) {
            size_t f = codes && codes->n_factor > 1 ? channel[lane] % codes->n_factor : 0;
            d->to[e + lane] =
                (codes ? codes->factor[f] : 1) *
                    dots_less_zeros(d, (const dots_row *)x, (const dots_row *)y, lane, sums[lane]) +
                (d->bias ? odb_tensor_f64(d->bias, channel[lane]) : 0);
        }
    }
    free(x);
    free(y);
}

#define DOTS_PART ((size_t)100000) /* products that a thread takes at a time */

/* All elements, of k terms each. */
static enum odb_status dots_all(struct dots *d, size_t k, dots_terms *terms)
{
    size_t lanes = DOTS_PART / (k + 1) / DOTS_LANES + 1;
    d->k = k;
    d->terms = terms;
    odb_parallel_for(d->s->y[0]->count, lanes * DOTS_LANES, dots_part, d);
    return ODB_OK;
}

static const odb_f64 *dots_data(const struct odb_tensor *t)
{
    return t->data;
}

/* --- matrices --------------------------------------------------------------------------------- */

static struct dots_matrix dots_matrix(const struct odb_tensor *t, bool transposed)
{
    size_t m = (size_t)t->dims[t->rank - 2], n = (size_t)t->dims[t->rank - 1];
    return transposed ? (struct dots_matrix){n, m, 1, n} : (struct dots_matrix){m, n, n, 1};
}

/* Element i of the batches of y, in t, whose batches are broadcast. */
static size_t dots_batch(const struct odb_tensor *t, const struct odb_tensor *y, size_t i)
{
    size_t at = 0, step = (size_t)(t->dims[t->rank - 2] * t->dims[t->rank - 1]);
    for (int k = t->rank - 3, j = y->rank - 3; j >= 0; k--, j--) {
        size_t here = i % (size_t)y->dims[j];
        i /= (size_t)y->dims[j];
        if (k < 0)
            continue;
        at += (t->dims[k] == 1 ? 0 : here) * step;
        step *= (size_t)t->dims[k];
    }
    return at;
}

static void dots_matmul_terms(const struct dots *d, const size_t *e, dots_row *x, dots_row *y,
                              size_t *channel)
{
    const struct dots_matrix *a = &d->m[0], *b = &d->m[1];
    const odb_f64 *pa[DOTS_LANES], *pb[DOTS_LANES];
    for (size_t lane = 0; lane < DOTS_LANES; lane++) {
        size_t row = e[lane] / b->columns % a->rows, batch = e[lane] / (a->rows * b->columns);
        channel[lane] = e[lane] % b->columns;
        pa[lane] = dots_data(d->a) + dots_batch(d->a, d->s->y[0], batch) + row * a->row_step;
        pb[lane] =
            dots_data(d->b) + dots_batch(d->b, d->s->y[0], batch) + channel[lane] * b->column_step;
    }
    for (size_t i = 0; i < d->k; i++)
        for (size_t lane = 0; lane < DOTS_LANES; lane++) {
            x[i][lane] = pa[lane][i * a->column_step];
            y[i][lane] = pb[lane][i * b->row_step];
        }
}

static enum odb_status dots_matmul(struct dots *d, bool trans_a, bool trans_b)
{
    const struct odb_tensor *y = d->s->y[0];
    if (d->a->rank < 2 || d->b->rank < 2 || y->rank < 2)
        return ODB_SKIPPED;
    struct dots_matrix a = dots_matrix(d->a, trans_a), b = dots_matrix(d->b, trans_b);
    size_t k = a.columns, area = ODB_MAX(a.rows * b.columns, (size_t)1), batches = y->count / area;
    if (b.rows != k || y->count * k > DOTS_MOST || batches * a.rows * b.columns != y->count)
        return ODB_SKIPPED;
    d->m[0] = a;
    d->m[1] = b;
    return dots_all(d, k, dots_matmul_terms);
}

/* alpha * A * B + beta * C. */
static enum odb_status dots_gemm(struct dots *d)
{
    const struct accused *s = d->s;
    const struct odb_tensor *c = accused_in(s, 2), *y = s->y[0];
    double alpha = accused_float(s, "alpha", 1), beta = accused_float(s, "beta", 1);
    ODB_TRY(dots_matmul(d, accused_int(s, "transA", 0), accused_int(s, "transB", 0)));
    for (size_t e = 0; e < y->count; e++) {
        size_t n = (size_t)y->dims[1], row = e / n, column = e % n;
        size_t at = !c || c->count == 1 ? 0
                    : c->rank == 1      ? column
                                        : (c->dims[0] == 1 ? 0 : row) * (size_t)c->dims[1] +
                                         (c->dims[1] == 1 ? 0 : column);
        d->to[e] = alpha * d->to[e] + (c ? beta * odb_tensor_f64(c, at) : 0);
    }
    return ODB_OK;
}

/* --- convolutions ----------------------------------------------------------------------------- */

static bool dots_window(const struct accused *s, int n, struct dots_window *w)
{
    const struct odb_attr *automatic = accused_attr(s, "auto_pad");
    static const char *const names[] = {"strides", "dilations", "pads"};
    int64_t *lists[] = {w->stride, w->dilation, w->pad};
    if (n > DOTS_AXES || (automatic && automatic->s.len && automatic->s.data[0] != 'N'))
        return false;
    w->n = n;
    for (size_t l = 0; l < ODB_COUNT(lists); l++) {
        const struct odb_attr *attr = accused_attr(s, names[l]);
        for (int i = 0; i < n; i++)
            lists[l][i] = attr && attr->n > (size_t)i ? attr->ints[i] : l < 2;
    }
    return true;
}

/* Where tap number `tap` of the element at out[] lies in a plane of X; -1: in the padding. */
static int64_t dots_tap(const struct dots_window *w, const struct odb_tensor *x,
                        const struct odb_tensor *kernel, const int64_t *at, size_t tap)
{
    int64_t plane = 0, step = 1;
    for (int k = w->n; k-- > 0;) {
        int64_t here = (int64_t)(tap % (size_t)kernel->dims[k + 2]);
        tap /= (size_t)kernel->dims[k + 2];
        int64_t i = at[k] * w->stride[k] + here * w->dilation[k] - w->pad[k];
        if (i < 0 || i >= x->dims[k + 2])
            return -1;
        plane += i * step;
        step *= x->dims[k + 2];
    }
    return plane;
}

static void dots_conv_terms(const struct dots *d, const size_t *e, dots_row *x, dots_row *y,
                            size_t *channel)
{
    const struct dots_window *w = &d->window;
    const odb_f64 *planes[DOTS_LANES], *weights[DOTS_LANES];
    int64_t at[DOTS_LANES][DOTS_AXES], in[DOTS_LANES];
    size_t n = 0;
    for (size_t lane = 0; lane < DOTS_LANES; lane++) {
        size_t rest = e[lane] % w->area, out = e[lane] / w->area % w->outs;
        size_t image = e[lane] / w->area / w->outs * (size_t)d->a->dims[1];
        channel[lane] = out;
        weights[lane] = dots_data(d->b) + out * w->channels * w->taps;
        planes[lane] = dots_data(d->a) + (image + out / w->group_outs * w->channels) * w->plane;
        for (int k = w->n; k-- > 0;) {
            at[lane][k] = (int64_t)(rest % (size_t)d->s->y[0]->dims[k + 2]);
            rest /= (size_t)d->s->y[0]->dims[k + 2];
        }
    }
    for (size_t tap = 0; tap < w->taps; tap++) {
        for (size_t lane = 0; lane < DOTS_LANES; lane++)
            in[lane] = dots_tap(w, d->a, d->b, at[lane], tap);
        for (size_t c = 0; c < w->channels; c++, n++) {
            size_t to = d->how->order == DOTS_CHANNELS ? c * w->taps + tap : n;
            for (size_t lane = 0; lane < DOTS_LANES; lane++) {
                x[to][lane] = in[lane] < 0 ? d->pad : planes[lane][c * w->plane + (size_t)in[lane]];
                y[to][lane] = weights[lane][c * w->taps + tap];
            }
        }
    }
}

static enum odb_status dots_conv(struct dots *d)
{
    const struct odb_tensor *x = d->a, *w = d->b, *y = d->s->y[0];
    struct dots_window *window = &d->window;
    if (x->rank < 3 || w->rank != x->rank || y->rank != x->rank ||
        !dots_window(d->s, x->rank - 2, window))
        return ODB_SKIPPED;
    window->channels = (size_t)w->dims[1];
    window->outs = (size_t)y->dims[1];
    window->taps = window->area = window->plane = 1;
    for (int k = 2; k < x->rank; k++) {
        window->taps *= (size_t)w->dims[k];
        window->area *= (size_t)y->dims[k];
        window->plane *= (size_t)x->dims[k];
    }
    window->group_outs = window->outs / (size_t)ODB_MAX(accused_int(d->s, "group", 1), 1);
    size_t k = window->channels * window->taps;
    if (y->count * k > DOTS_MOST || !window->group_outs)
        return ODB_SKIPPED;
    d->bias = d->op->bias < 0 ? NULL : accused_in(d->s, d->op->bias);
    return dots_all(d, k, dots_conv_terms);
}

bool dots_have_orders(const struct accused *s)
{
    bool quantised = !strcmp(s->node->op_type, "QLinearConv");
    const struct odb_tensor *w = accused_in(s, quantised ? 3 : 1);
    return w && w->rank > 2 && w->dims[1] > 1 && w->count != (size_t)(w->dims[0] * w->dims[1]) &&
           variant_is_for("Conv|ConvInteger|QLinearConv", s->node->op_type);
}

/* --- quantised again -------------------------------------------------------------------------- */

bool dots_requantise(const struct accused *s)
{
    return variant_is_for("QLinearMatMul|QLinearConv", s->node->op_type);
}

/* Element i, or the one that there is; 0 without. */
static double dots_at(const struct odb_tensor *t, size_t i)
{
    return t ? odb_tensor_f64(t, t->count > 1 ? i % t->count : 0) : 0;
}

/* Sums become numbers of the output's type, as runtimes do it: in float, with one factor. */
static enum odb_status dots_quantise(struct dots *d)
{
    const struct accused *s = d->s;
    const struct odb_tensor *scale_a = accused_in(s, 1), *scale_b = accused_in(s, 4);
    const struct odb_tensor *scale = accused_in(s, 6), *zero = accused_in(s, 7), *y = s->y[0];
    const struct odb_dtype_info *info = odb_dtype_info(y->dtype);
    bool conv = !strcmp(s->node->op_type, "QLinearConv");
    size_t outer, n = 1, inner = 1;
    if (!scale_a || !scale_b || !scale || scale_a->count != 1 || scale->count != 1 ||
        (scale_b->count != 1 && !conv))
        return ODB_SKIPPED;
    if (conv)
        tensor_around(y, 1, &outer, &n, &inner);
    double low = info->class_ == ODB_CLASS_INT ? -ldexp(1, (int)info->bits - 1) : 0;
    double high = low + ldexp(1, (int)info->bits) - 1;
    for (size_t e = 0; e < y->count; e++) {
        odb_f32 factor = (odb_f32)dots_at(scale_a, 0) * (odb_f32)dots_at(scale_b, e / inner % n) /
                         (odb_f32)dots_at(scale, 0);
        double real = (double)((odb_f32)d->to[e] * factor);
        real = (d->how->round ? d->how->round(real) : nearbyint(real)) + dots_at(zero, 0);
        d->to[e] = fmin(fmax(real, low), high);
    }
    return ODB_OK;
}

/* --- any -------------------------------------------------------------------------------------- */

/* A zero point that is the same for all; false: it is not. */
static bool dots_zero_point(const struct accused *s, int i, double *out)
{
    const struct odb_tensor *t = i < 0 ? NULL : accused_in(s, i);
    *out = t ? odb_tensor_f64(t, 0) : 0;
    for (size_t k = 1; t && k < t->count; k++)
        if (odb_tensor_f64(t, k) != *out)
            return false;
    return true;
}

static enum odb_status dots_cast(struct dots *d, const struct odb_tensor *a,
                                 const struct odb_tensor *b, struct odb_error *err)
{
    ODB_TRY(odb_tensor_cast(&d->a, a, ODB_F64, err));
    return odb_tensor_cast(&d->b, b, ODB_F64, err);
}

/* The operands are stored integers. */
static enum odb_status dots_stored(struct dots *d, const struct odb_tensor *a,
                                   const struct odb_tensor *b, struct odb_error *err)
{
    const struct dots_codes *codes = d->how->codes;
    if (!odb_tensor_same_shape(codes->a, a) || !odb_tensor_same_shape(codes->b, b))
        return ODB_SKIPPED;
    ODB_TRY(dots_cast(d, codes->a, codes->b, err));
    for (size_t i = 0; i < d->a->count; i++)
        ((odb_f64 *)d->a->data)[i] += codes->plus_a;
    d->zero_a = codes->zero_a + codes->plus_a;
    d->zero_b = codes->zero_b;
    d->pad = codes->pad + codes->plus_a;
    return ODB_OK;
}

static enum odb_status dots_any(struct dots *d, struct odb_error *err)
{
    const char *op = d->s->node->op_type;
    for (size_t k = 0; k < ODB_COUNT(dots_ops); k++)
        if (variant_is_for(dots_ops[k].ops, op))
            d->op = &dots_ops[k];
    const struct odb_tensor *a = accused_in(d->s, 0),
                            *b = d->op ? accused_in(d->s, d->op->b) : NULL;
    if (!a || !b || !d->s->y[0] || !dots_zero_point(d->s, d->op->zero_a, &d->zero_a) ||
        !dots_zero_point(d->s, d->op->zero_b, &d->zero_b))
        return ODB_SKIPPED;
    d->pad = d->zero_a;
    if (d->how->codes)
        ODB_TRY(dots_stored(d, a, b, err));
    else
        ODB_TRY(dots_cast(d, a, b, err));
    if (!strcmp(op, "Gemm"))
        return dots_gemm(d);
    ODB_TRY(strstr(op, "Conv") ? dots_conv(d) : dots_matmul(d, false, false));
    return dots_requantise(d->s) ? dots_quantise(d) : ODB_OK;
}

enum odb_status dots_make(const struct accused *s, const struct dots_how *how,
                          struct odb_tensor **out, struct odb_error *err)
{
    struct dots d = {.s = s, .how = how};
    struct odb_tensor *wide = NULL;
    if (!s->y[0] || s->y[0]->kind != ODB_TENSOR)
        return ODB_SKIPPED;
    ODB_TRY(odb_tensor_new(&wide, ODB_F64, s->y[0]->rank, s->y[0]->dims, err));
    d.to = wide->data;
    enum odb_status status = dots_any(&d, err);
    if (status == ODB_OK)
        status = odb_tensor_cast(out, wide, s->y[0]->dtype, err);
    odb_tensor_unref(wide);
    odb_tensor_unref(d.a);
    odb_tensor_unref(d.b);
    return status;
}
