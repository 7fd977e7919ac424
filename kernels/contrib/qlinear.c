/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft between 8-bit tensors, each with one scale and one zero point, in the
 * arithmetic of ONNX Runtime, which defined them: ratios of scales are taken in float, results are
 * rounded to the nearest level, ties to the even one. Sums and products are rounded after the zero
 * point was added, functions of one operand are looked up, so that they are rounded before. Where
 * a result falls close to the middle of two levels another honest implementation may take the
 * other one (ODB_OP_BOUNDARY; ODB_OP_REAL lets noisy runs move the scales).
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"

struct qlinear_scale {
    float scale;
    int32_t zero;
};

/* Scale in input i, zero point (0 where omitted) in the next. */
static enum odb_status qlinear_read(struct odb_kern *k, int i, struct qlinear_scale *s)
{
    const struct odb_tensor *scale = odb_kern_in(k, i), *zero = odb_kern_in(k, i + 1);
    *s = (struct qlinear_scale){1, 0};
    if (!scale || scale->count != 1 || (zero && zero->count != 1))
        return ODB_KERN_FAIL(k, "inputs %d and %d must be one scale and one zero point", i, i + 1);
    if (!scale->data || (zero && !zero->data))
        return ODB_SKIPPED;
    s->scale = (float)odb_tensor_f64(scale, 0);
    s->zero = zero ? (int32_t)odb_tensor_i64(zero, 0) : 0;
    return ODB_OK;
}

static int32_t qlinear_low(enum odb_dtype dtype)
{
    return dtype == ODB_I8 ? -128 : 0;
}

/* The level that v, a whole number or NaN, saturates to. */
ODB_INLINE int32_t qlinear_clamp(float v, int32_t low)
{
    return (int32_t)(!(v > (float)low) ? (float)low : v > (float)low + 255 ? (float)low + 255 : v);
}

/* The level of v, rounded before the zero point is added. */
static int32_t qlinear_level(float v, const struct qlinear_scale *s, int32_t low)
{
    return qlinear_clamp(rintf(v / s->scale) + (float)s->zero, low);
}

/* Output 0 has the type of input i and that shape. Inputs in others[] must have the type, too. */
static enum odb_status qlinear_outline(struct odb_kern *k, int i, const int *others, int n,
                                       int rank, const int64_t *dims)
{
    for (int o = 0; o < n; o++) {
        const struct odb_tensor *t = odb_kern_in(k, others[o]);
        if (t && t->dtype != k->in[i]->dtype)
            return ODB_KERN_FAIL(k, "inputs %d and %d have types %s and %s", i, others[o],
                                 odb_dtype_info(k->in[i]->dtype)->name,
                                 odb_dtype_info(t->dtype)->name);
    }
    return odb_kern_outline(k, 0, k->in[i]->dtype, rank, dims);
}

/* --- two operands ----------------------------------------------------------------------------- */

struct qlinear_pair {
    float ratio[2]; /* of the operands' scales to the result's; Mul: [0], of their product */
    float fixed;    /* what does not depend on the operands */
    int32_t zero[2];
};

/* Two steps, each rounded once to float (a fused multiply-add). */
#define QLINEAR_ADD(a, b, p)                                                                       \
    (float)((double)(a) * (p)->ratio[0] + (float)((double)(b) * (p)->ratio[1] + (p)->fixed))
#define QLINEAR_MUL(a, b, p)                                                                       \
    (float)(((a) - (p)->zero[0]) * ((b) - (p)->zero[1])) * (p)->ratio[0] + (p)->fixed

#define QLINEAR_LOOP(t, T, least, name, formula)                                                   \
    static void qlinear_##name##_##T(size_t n, const void *const *in, const int *step, void *out,  \
                                     const void *arg)                                              \
    {                                                                                              \
        const struct qlinear_pair *p = arg;                                                        \
        const odb_##t *x = in[0], *y = in[1];                                                      \
        odb_##t *z = out;                                                                          \
        ODB_EW_EACH(i, n) {                                                                        \
            int32_t a = x[step[0] ? i : 0], b = y[step[1] ? i : 0];                                \
            z[i] = (odb_##t)qlinear_clamp(rintf(formula(a, b, p)), least);                         \
        }                                                                                          \
    }
QLINEAR_LOOP(u8, U8, 0, add, QLINEAR_ADD)
QLINEAR_LOOP(i8, I8, -128, add, QLINEAR_ADD)
QLINEAR_LOOP(u8, U8, 0, mul, QLINEAR_MUL)
QLINEAR_LOOP(i8, I8, -128, mul, QLINEAR_MUL)

static enum odb_status qlinear_pair_infer(struct odb_kern *k)
{
    int64_t dims[ODB_MAX_RANK];
    int rank;
    ODB_TRY(ODB_NEED(k, 1, 3, 4, 6));
    ODB_TRY(odb_kern_broadcast(k, k->in[0], k->in[3], &rank, dims));
    return qlinear_outline(k, 0, (const int[]){2, 3, 5, 7}, 4, rank, dims);
}

static enum odb_status qlinear_pair_run(struct odb_kern *k, bool add)
{
    const struct odb_tensor *in[2] = {k->in[0], k->in[3]};
    struct qlinear_scale a, b, c;
    ODB_TRY(qlinear_read(k, 1, &a));
    ODB_TRY(qlinear_read(k, 4, &b));
    ODB_TRY(qlinear_read(k, 6, &c));
    struct qlinear_pair p = {.zero = {a.zero, b.zero}, .fixed = (float)c.zero};
    p.ratio[0] = add ? a.scale / c.scale : a.scale * b.scale / c.scale;
    p.ratio[1] = b.scale / c.scale;
    if (add)
        p.fixed -= p.ratio[0] * (float)a.zero + p.ratio[1] * (float)b.zero;
    odb_ew_loop loop = k->out[0]->dtype == ODB_U8 ? (add ? qlinear_add_U8 : qlinear_mul_U8)
                                                  : (add ? qlinear_add_I8 : qlinear_mul_I8);
    odb_ew_apply(loop, 2, in, k->out[0], &p);
    return ODB_OK;
}

static enum odb_status qlinear_add_run(struct odb_kern *k)
{
    return qlinear_pair_run(k, true);
}

static enum odb_status qlinear_mul_run(struct odb_kern *k)
{
    return qlinear_pair_run(k, false);
}

/* --- one operand: looked up ------------------------------------------------------------------- */

typedef double (*qlinear_fn)(double x, double alpha);

static double qlinear_same(double x, double alpha)
{
    return x;
}

static double qlinear_leaky(double x, double alpha)
{
    return x < 0 ? (float)alpha * (float)x : x;
}

static double qlinear_sigmoid(double x, double alpha)
{
    return 1 / (1 + exp(-x));
}

/* to[byte] for every byte that an element may be. Equal scales and no function: itself. */
static void qlinear_table(enum odb_dtype dtype, const struct qlinear_scale *x,
                          const struct qlinear_scale *y, qlinear_fn fn, double alpha, odb_u8 *to)
{
    int32_t low = qlinear_low(dtype);
    bool same = fn == qlinear_same && x->scale == y->scale && x->zero == y->zero;
    for (int32_t level = low; level < low + 256; level++) {
        float v = (float)fn(x->scale * (float)(level - x->zero), alpha);
        to[(uint8_t)level] = (uint8_t)(same ? level : qlinear_level(v, y, low));
    }
}

static void qlinear_look_up(const odb_u8 *table, const odb_u8 *x, size_t n, odb_u8 *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = table[x[i]];
}

static enum odb_status qlinear_unary_infer(struct odb_kern *k)
{
    ODB_TRY(ODB_NEED(k, 1, 3));
    return qlinear_outline(k, 0, (const int[]){2, 4}, 2, k->in[0]->rank, k->in[0]->dims);
}

static enum odb_status qlinear_unary_run(struct odb_kern *k, qlinear_fn fn, double alpha)
{
    struct qlinear_scale x, y;
    odb_u8 table[256];
    ODB_TRY(qlinear_read(k, 1, &x));
    ODB_TRY(qlinear_read(k, 3, &y));
    qlinear_table(k->in[0]->dtype, &x, &y, fn, alpha, table);
    qlinear_look_up(table, k->in[0]->data, k->in[0]->count, k->out[0]->data);
    return ODB_OK;
}

static enum odb_status qlinear_leaky_run(struct odb_kern *k)
{
    return qlinear_unary_run(k, qlinear_leaky, odb_kern_float(k, "alpha", 0.01f));
}

static enum odb_status qlinear_sigmoid_run(struct odb_kern *k)
{
    return qlinear_unary_run(k, qlinear_sigmoid, 0);
}

/* --- Concat and Where ------------------------------------------------------------------------- */

/* The result's scale and zero point, then triples of tensor, scale and zero point. */
static enum odb_status qlinear_concat_infer(struct odb_kern *k)
{
    int64_t dims[ODB_MAX_RANK];
    const struct odb_tensor *first = k->n_in > 2 ? k->in[2] : NULL;
    int axis;
    if (k->n_in < 5 || (k->n_in - 2) % 3)
        return ODB_KERN_FAIL(k, "%d inputs are no triples after the first two", k->n_in);
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), first->rank, false, &axis));
    memcpy(dims, first->dims, sizeof dims);
    for (int i = 2; i < k->n_in; i += 3) {
        const struct odb_tensor *t = k->in[i];
        bool fits = t && t->rank == first->rank && t->dtype == k->in[1]->dtype;
        for (int d = 0; fits && d < t->rank; d++)
            fits = d == axis || t->dims[d] == first->dims[d];
        if (!fits)
            return ODB_KERN_FAIL(k, "input %d does not fit the first", i);
        if (i > 2)
            dims[axis] += t->dims[axis];
    }
    return odb_kern_outline(k, 0, k->in[1]->dtype, first->rank, dims);
}

static enum odb_status qlinear_concat_run(struct odb_kern *k)
{
    struct odb_tensor *out = k->out[0];
    struct qlinear_scale x, y;
    odb_u8 table[256], *to = out->data;
    int axis;
    ODB_TRY(qlinear_read(k, 0, &y));
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 0), out->rank, false, &axis));
    size_t rows = odb_dims_product(out->dims, 0, axis);
    size_t row = odb_dims_product(out->dims, axis, out->rank);
    for (int i = 2; i < k->n_in; i += 3) {
        const struct odb_tensor *t = k->in[i];
        size_t part = odb_dims_product(t->dims, axis, t->rank);
        ODB_TRY(qlinear_read(k, i + 1, &x));
        qlinear_table(t->dtype, &x, &y, qlinear_same, 0, table);
        for (size_t r = 0; r < rows; r++)
            qlinear_look_up(table, (const odb_u8 *)t->data + r * part, part, to + r * row);
        to += part;
    }
    return ODB_OK;
}

/* Input i, with scale and zero point behind it, on the scale of the result. */
static const struct odb_tensor *qlinear_rescaled(struct odb_chain *c, int i,
                                                 const struct qlinear_scale *y)
{
    const struct odb_tensor *t = c->k->in[i];
    struct odb_tensor *out = odb_chain_new(c, t->dtype, t->rank, t->dims);
    struct qlinear_scale x;
    odb_u8 table[256];
    if (!out || c->infer)
        return out;
    c->status = qlinear_read(c->k, i + 1, &x);
    qlinear_table(t->dtype, &x, y, qlinear_same, 0, table);
    qlinear_look_up(table, t->data, t->count, out->data);
    return out;
}

static void qlinear_where(struct odb_chain *c)
{
    struct qlinear_scale z;
    if (!c->infer)
        c->status = qlinear_read(c->k, 7, &z);
    const struct odb_tensor *x = qlinear_rescaled(c, 1, &z), *y = qlinear_rescaled(c, 4, &z);
    odb_chain_give(c, 0, ODB_STEP(c, "Where", 16, (c->k->in[0], x, y)));
}
ODB_CHAIN(qlinear_where)

/* --- Softmax ---------------------------------------------------------------------------------- */

static enum odb_status qlinear_softmax_axis(struct odb_kern *k, bool *flatten, int *axis)
{
    int64_t opset = odb_kern_int(k, "opset", 13);
    *flatten = opset < 13;
    *axis = 0;
    if (k->in[0]->rank == 0)
        return ODB_OK;
    return odb_kern_axis(k, odb_kern_int(k, "axis", *flatten ? 1 : -1), k->in[0]->rank, false,
                         axis);
}

static enum odb_status qlinear_softmax_infer(struct odb_kern *k)
{
    bool flatten;
    int axis;
    ODB_TRY(qlinear_softmax_axis(k, &flatten, &axis));
    return qlinear_unary_infer(k);
}

/* One lane: shares of the sum of powers, in units of 1 / floor(1 / scale) as ONNX Runtime has it,
 * which is the scale itself where that is one over a whole number. powers[d] = e^(-d scale). */
static void qlinear_softmax_lane(const odb_u8 *x, odb_u8 *y, size_t n, size_t inner, bool sign,
                                 const double *powers, bool in_float, double units, int32_t zero)
{
    int32_t flip = sign ? 128 : 0, low = sign ? -128 : 0, most = 0; /* levels from 0 to 255 */
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        most = ODB_MAX(most, x[i * inner] ^ flip);
    for (size_t i = 0; i < n; i++) {
        sum += powers[most - (x[i * inner] ^ flip)];
        sum = in_float ? (float)sum : sum;
    }
    for (size_t i = 0; i < n; i++) {
        double share = powers[most - (x[i * inner] ^ flip)] / sum;
        y[i * inner] = (odb_u8)qlinear_clamp((float)rint(share * units) + (float)zero, low);
    }
}

static enum odb_status qlinear_softmax_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct qlinear_scale from, to;
    double powers[256];
    bool flatten;
    int axis;
    ODB_TRY(qlinear_softmax_axis(k, &flatten, &axis));
    ODB_TRY(qlinear_read(k, 1, &from));
    ODB_TRY(qlinear_read(k, 3, &to));
    for (int d = 0; d < 256; d++)
        powers[d] =
            k->sequential ? expf(-(float)d * (float)from.scale) : exp(-(double)d * from.scale);
    size_t n = flatten        ? odb_dims_product(x->dims, axis, x->rank)
               : x->rank == 0 ? 1
                              : (size_t)x->dims[axis];
    size_t inner = flatten ? 1 : odb_dims_product(x->dims, ODB_MIN(axis + 1, x->rank), x->rank);
    for (size_t lane = 0; n && lane < x->count / n; lane++) {
        size_t at = lane / inner * inner * n + lane % inner;
        qlinear_softmax_lane((const odb_u8 *)x->data + at, (odb_u8 *)k->out[0]->data + at, n, inner,
                             x->dtype == ODB_I8, powers, k->sequential, floorf(1 / to.scale),
                             to.zero);
    }
    return ODB_OK;
}

/* --- means ------------------------------------------------------------------------------------ */

/* (x - zero) * scale in float, or double in double mode, of input 0. */
static const struct odb_tensor *qlinear_real(struct odb_chain *c, const struct odb_tensor *x)
{
    return ODB_STEP(c, "DequantizeLinear", 13, (x, c->k->in[1], odb_kern_in(c->k, 2)));
}

/* y as levels of inputs 3 and 4. late: rounded after the zero point was added. */
static const struct odb_tensor *qlinear_levels(struct odb_chain *c, const struct odb_tensor *y,
                                               bool late)
{
    struct qlinear_scale s;
    enum odb_dtype dtype = c->k->in[0]->dtype;
    if (!odb_chain_ok(c))
        return NULL;
    struct odb_tensor *out = odb_chain_new(c, dtype, y->rank, y->dims);
    if (!out || c->infer)
        return out;
    c->status = qlinear_read(c->k, 3, &s);
    int32_t low = qlinear_low(dtype);
    for (size_t i = 0; i < y->count; i++) {
        float v = (float)odb_tensor_f64(y, i);
        ((odb_u8 *)out->data)[i] =
            (odb_u8)(late ? qlinear_clamp(rintf(v / s.scale + (float)s.zero), low)
                          : qlinear_level(v, &s, low));
    }
    return out;
}

static void qlinear_average_pool(struct odb_chain *c)
{
    bool last = odb_kern_int(c->k, "channels_last", 0) != 0;
    const struct odb_tensor *x = c->k->in[0];
    c->status = ODB_NEED(c->k, 1, 3);
    if (last)
        x = odb_chain_channels_first(c, x);
    const struct odb_tensor *y =
        ODB_STEP_WITH(c, "AveragePool", 11, (qlinear_real(c, x)), c->k->attrs);
    y = qlinear_levels(c, y, true);
    odb_chain_give(c, 0, last ? odb_chain_channels_last(c, y) : y);
}
ODB_CHAIN(qlinear_average_pool)

static void qlinear_reduce_mean(struct odb_chain *c)
{
    c->status = ODB_NEED(c->k, 1, 3);
    const struct odb_tensor *x = qlinear_real(c, c->k->in[0]);
    const struct odb_tensor *y = ODB_STEP_WITH(c, "ReduceMean", 13, (x), c->k->attrs);
    odb_chain_give(c, 0, qlinear_levels(c, y, false));
}
ODB_CHAIN(qlinear_reduce_mean)

static enum odb_status qlinear_global_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    bool last = odb_kern_int(k, "channels_last", 0) != 0;
    int64_t dims[ODB_MAX_RANK];
    if (x->rank < 3)
        return ODB_KERN_FAIL(k, "%s needs at least 3 dimensions, not %d", k->op->name, x->rank);
    for (int d = 0; d < x->rank; d++)
        dims[d] = d == 0 || d == (last ? x->rank - 1 : 1) ? x->dims[d] : 1;
    return qlinear_outline(k, 0, (const int[]){2, 4}, 2, x->rank, dims);
}

static enum odb_status qlinear_global_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    bool last = odb_kern_int(k, "channels_last", 0) != 0, sign = x->dtype == ODB_I8;
    struct qlinear_scale from, to;
    ODB_TRY(qlinear_read(k, 1, &from));
    ODB_TRY(qlinear_read(k, 3, &to));
    if (y->count == 0)
        return ODB_OK;
    size_t channels = (size_t)(last ? x->dims[x->rank - 1] : x->dims[1]);
    size_t size = x->count / y->count;
    float ratio = from.scale / (to.scale * (float)size);
    for (size_t i = 0; i < y->count; i++) {
        size_t step = last ? channels : 1;
        const odb_u8 *image = x->data;
        image += last ? i / channels * channels * size + i % channels : i * size;
        odb_i32 sum = -from.zero * (int32_t)size;
        for (size_t p = 0; p < size; p++)
            sum += sign ? (int8_t)image[p * step] : image[p * step];
        odb_requantize(&sum, 1, &ratio, 0, y->dtype, to.zero, (odb_u8 *)y->data + i);
    }
    return ODB_OK;
}

/* --- as in ai.onnx ---------------------------------------------------------------------------- */

static void qlinear_conv(struct odb_chain *c)
{
    const struct odb_tensor *const *in = c->k->in;
    bool last = odb_kern_int(c->k, "channels_last", 0) != 0;
    const struct odb_tensor *x = last ? odb_chain_channels_first(c, in[0]) : in[0];
    const struct odb_tensor *y = ODB_STEP_WITH(
        c, "QLinearConv", 10,
        (x, in[1], in[2], in[3], in[4], in[5], in[6], in[7], odb_kern_in(c->k, 8)), c->k->attrs);
    odb_chain_give(c, 0, last ? odb_chain_channels_last(c, y) : y);
}
ODB_CHAIN(qlinear_conv)

static void qlinear_quantize(struct odb_chain *c)
{
    odb_chain_give(c, 0,
                   ODB_STEP_WITH(c, "QuantizeLinear", 21,
                                 (c->k->in[0], c->k->in[1], odb_kern_in(c->k, 2)), c->k->attrs));
}
ODB_CHAIN(qlinear_quantize)

static void qlinear_dequantize(struct odb_chain *c)
{
    odb_chain_give(c, 0,
                   ODB_STEP_WITH(c, "DequantizeLinear", 21,
                                 (c->k->in[0], c->k->in[1], odb_kern_in(c->k, 2)), c->k->attrs));
}
ODB_CHAIN(qlinear_dequantize)

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec qlinear_axis_attrs[] = {{"axis", ODB_ATTR_INT, NULL, false},
                                                          {NULL}};
static const struct odb_attr_spec qlinear_concat_attrs[] = {{"axis", ODB_ATTR_INT, NULL, true},
                                                            {NULL}};
static const struct odb_attr_spec qlinear_leaky_attrs[] = {{"alpha", ODB_ATTR_FLOAT, "0.01", false},
                                                           {NULL}};
static const struct odb_attr_spec qlinear_softmax_attrs[] = {
    {"axis", ODB_ATTR_INT, NULL, false}, {"opset", ODB_ATTR_INT, NULL, true}, {NULL}};
static const struct odb_attr_spec qlinear_reduce_attrs[] = {
    {"axes", ODB_ATTR_INTS, NULL, true}, {"keepdims", ODB_ATTR_INT, NULL, true}, {NULL}};
static const struct odb_attr_spec qlinear_global_attrs[] = {
    {"channels_last", ODB_ATTR_INT, "0", false}, {NULL}};
static const struct odb_attr_spec qlinear_pool_attrs[] = {
    {"auto_pad", ODB_ATTR_STRING, "NOTSET", false}, {"ceil_mode", ODB_ATTR_INT, "0", false},
    {"channels_last", ODB_ATTR_INT, "0", false},    {"count_include_pad", ODB_ATTR_INT, "0", false},
    {"kernel_shape", ODB_ATTR_INTS, NULL, true},    {"pads", ODB_ATTR_INTS, NULL, false},
    {"strides", ODB_ATTR_INTS, NULL, false},        {NULL}};
static const struct odb_attr_spec qlinear_conv_attrs[] = {
    {"auto_pad", ODB_ATTR_STRING, "NOTSET", false}, {"channels_last", ODB_ATTR_INT, "0", false},
    {"dilations", ODB_ATTR_INTS, NULL, false},      {"group", ODB_ATTR_INT, "1", false},
    {"kernel_shape", ODB_ATTR_INTS, NULL, false},   {"pads", ODB_ATTR_INTS, NULL, false},
    {"strides", ODB_ATTR_INTS, NULL, false},        {NULL}};

#define Q8 (ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))
#define QF ODB_BIT(ODB_F32)
#define QLINEAR_SMALL (Q8 | ODB_BIT(ODB_I16) | ODB_BIT(ODB_U16) | ODB_BIT(ODB_I4) | ODB_BIT(ODB_U4))
#define QLINEAR_FLOATS (QF | ODB_BIT(ODB_F16))
#define QLINEAR_ROW(name, least, most, attrs, infer, run, ...)                                     \
    ODB_MICROSOFT(name, ODB_ARITY(least, most), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_BOUNDARY,    \
                  attrs, infer, run, __VA_ARGS__)

const struct odb_op odb_ops_qlinear[] = {
    QLINEAR_ROW(
        "QLinearAdd", 2, 8, NULL, qlinear_pair_infer, qlinear_add_run, Q8, QF, ODB_AS(0), ODB_AS(0),
        QF, ODB_AS(0), QF, ODB_AS(0),
        ODB_NAMES("A,A_scale,A_zero_point,B,B_scale,B_zero_point,C_scale,C_zero_point", "C"),
        ODB_QUANTISED("Add", 6, 2, {0, 3}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW(
        "QLinearMul", 2, 8, NULL, qlinear_pair_infer, qlinear_mul_run, Q8, QF, ODB_AS(0), ODB_AS(0),
        QF, ODB_AS(0), QF, ODB_AS(0),
        ODB_NAMES("A,A_scale,A_zero_point,B,B_scale,B_zero_point,C_scale,C_zero_point", "C"),
        ODB_QUANTISED("Mul", 6, 2, {0, 3}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QLinearLeakyRelu", 2, 5, qlinear_leaky_attrs, qlinear_unary_infer,
                qlinear_leaky_run, Q8, QF, ODB_AS(0), QF, ODB_AS(0),
                ODB_NAMES("X,X_scale,X_zero_point,Y_scale,Y_zero_point", "Y"),
                ODB_QUANTISED("LeakyRelu", 3, 1, {0}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QLinearSigmoid", 2, 5, NULL, qlinear_unary_infer, qlinear_sigmoid_run, Q8, QF,
                ODB_AS(0), QF, ODB_AS(0),
                ODB_NAMES("X,X_scale,X_zero_point,Y_scale,Y_zero_point", "Y"),
                ODB_QUANTISED("Sigmoid", 3, 1, {0}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QLinearSoftmax", 2, 5, qlinear_softmax_attrs, qlinear_softmax_infer,
                qlinear_softmax_run, Q8, QF, ODB_AS(0), QF, ODB_AS(0),
                ODB_NAMES("X,X_scale,x_zero_point,y_scale,y_zero_point", "Y"),
                ODB_QUANTISED("Softmax", 3, 1, {0}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QLinearConcat", 3, ODB_MANY, qlinear_concat_attrs, qlinear_concat_infer,
                qlinear_concat_run, QF, Q8, Q8 | QF, ODB_EACH,
                ODB_NAMES("Y_scale,Y_zero_point,inputs...", "Y"), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW(
        "QLinearWhere", 9, 9, NULL, qlinear_where_infer, qlinear_where_run, ODB_T_BOOL, Q8, QF,
        ODB_AS(1), ODB_AS(1), QF, ODB_AS(1), QF, ODB_AS(1),
        ODB_NAMES("condition,X,x_scale,x_zero_point,Y,y_scale,y_zero_point,z_scale,z_zero_point",
                  "Z"),
        ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QLinearAveragePool", 2, 5, qlinear_pool_attrs, qlinear_average_pool_infer,
                qlinear_average_pool_run, Q8, QF, ODB_AS(0), QF, ODB_AS(0),
                ODB_NAMES("X,x_scale,x_zero_point,y_scale,y_zero_point", "Y"),
                ODB_QUANTISED("AveragePool", 3, 1, {0}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QLinearGlobalAveragePool", 5, 5, qlinear_global_attrs, qlinear_global_infer,
                qlinear_global_run, Q8, QF, ODB_AS(0), QF, ODB_AS(0),
                ODB_NAMES("X,x_scale,x_zero_point,y_scale,y_zero_point", "Y"),
                ODB_QUANTISED("GlobalAveragePool", 3, 1, {0}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW(
        "QLinearReduceMean", 2, 5, qlinear_reduce_attrs, qlinear_reduce_mean_infer,
        qlinear_reduce_mean_run, Q8, QF, ODB_AS(0), QF, ODB_AS(0),
        ODB_NAMES("data,data_scale,data_zero_point,reduced_scale,reduced_zero_point", "reduced"),
        ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW(
        "QLinearConv", 8, 9, qlinear_conv_attrs, qlinear_conv_infer, qlinear_conv_run, Q8, QF,
        ODB_AS(0), Q8, QF, ODB_AS(3), QF, Q8, ODB_BIT(ODB_I32),
        ODB_NAMES("x,x_scale,x_zero_point,w,w_scale,w_zero_point,y_scale,y_zero_point,B", "y"),
        ODB_QUANTISED("Conv", 6, 3, {0, 3, 8}), ODB_TRAITS(ODB_IS_QUANTISED)),
    QLINEAR_ROW("QuantizeLinear", 2, 3, qlinear_axis_attrs, qlinear_quantize_infer,
                qlinear_quantize_run, QLINEAR_FLOATS, ODB_AS(0), QLINEAR_SMALL,
                ODB_NAMES("x,y_scale,y_zero_point", "y"), ODB_TRAITS(ODB_IS_CARRIER)),
    ODB_MICROSOFT("DequantizeLinear", ODB_ARITY(2, 3), ODB_ARITY(1, 1), ODB_OP_REAL,
                  qlinear_axis_attrs, qlinear_dequantize_infer, qlinear_dequantize_run,
                  QLINEAR_SMALL | ODB_BIT(ODB_I32), QLINEAR_FLOATS, ODB_AS(0),
                  ODB_NAMES("x,x_scale,x_zero_point", "y"),
                  ODB_TRAITS(ODB_IS_CARRIER | ODB_IS_QUANTISED)),
    {.name = NULL},
};
