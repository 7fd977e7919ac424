/* SPDX-License-Identifier: MIT
 *
 * Between numbers and their quantized form:
 *
 *     QuantizeLinear    y = saturate(round(x / scale) + zero_point)
 *     DequantizeLinear  y = (x - zero_point) * scale
 *
 * Scale and zero point are one number, one per index of an axis, or one per block along an axis.
 * They are brought to a shape that broadcasts to x (blocks are written out), and the element-wise
 * walk does the rest, in one go where x and scale are floats and y bytes or 16-bit integers, or the
 * other way round. The quotient is rounded to the type that the operator divides in (that of
 * the scale, or the attribute precision) before it is rounded to an integer, ties to even.
 */
#include <string.h>
#include <tgmath.h>

#include "base/mem.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/core/row.h"

/* --- shapes ----------------------------------------------------------------------------------- */

/* Copies of block elements along axis; t has the rank of x. */
static enum odb_status quant_write_blocks(struct odb_kern *k, const struct odb_tensor *t, int axis,
                                          int64_t block, struct odb_tensor **out)
{
    const struct odb_tensor *x = k->in[0];
    for (int d = 0; d < x->rank; d++) {
        int64_t want = d == axis ? x->dims[d] / block + (x->dims[d] % block != 0) : x->dims[d];
        if (t->rank != x->rank || t->dims[d] != want) {
            char shape[200];
            return ODB_KERN_FAIL(k, "scale or zero point of shape %s does not fit blocks of %lld",
                                 odb_shape_text(t, shape, sizeof shape), (long long)block);
        }
    }
    ODB_TRY(odb_tensor_new_raw(out, t->dtype, x->rank, x->dims, k->err));
    size_t inner = odb_dims_product(x->dims, axis + 1, x->rank) * odb_ew_size(t->dtype);
    size_t outer = x->count ? odb_dims_product(x->dims, 0, axis) : 0;
    char *to = (*out)->data;
    for (size_t o = 0; o < outer; o++)
        for (int64_t d = 0; d < x->dims[axis]; d++, to += inner)
            memcpy(to, (char *)t->data + (o * (size_t)t->dims[axis] + (size_t)(d / block)) * inner,
                   inner);
    return ODB_OK;
}

/* Scale or zero point in a type that can be computed with, broadcasting to x. */
static enum odb_status quant_place(struct odb_kern *k, const struct odb_tensor *t,
                                   enum odb_dtype dtype, struct odb_tensor **out)
{
    const struct odb_tensor *x = k->in[0];
    int64_t block = odb_kern_int(k, "block_size", 0), dims[ODB_MAX_RANK];
    struct odb_tensor *own = NULL;
    enum odb_status status = ODB_OK;
    int axis = 0;
    *out = NULL;
    ODB_TRY(odb_tensor_cast(&own, t, dtype, k->err));
    if (t->count == 1) {
        ODB_TRY_OUT(odb_tensor_reshape(out, own, 0, NULL, k->err));
        goto out;
    }
    ODB_TRY_OUT(odb_kern_axis(k, odb_kern_int(k, "axis", 1), x->rank, false, &axis));
    if (block > 0) {
        status = quant_write_blocks(k, own, axis, block, out);
        goto out;
    }
    if (t->rank != 1 || t->dims[0] != x->dims[axis] || block < 0) {
        char shape[200], whole[200];
        status = ODB_KERN_FAIL(k, "scale or zero point of shape %s does not fit axis %d of %s",
                               odb_shape_text(t, shape, sizeof shape), axis,
                               odb_shape_text(x, whole, sizeof whole));
        goto out;
    }
    for (int d = 0; d < x->rank; d++)
        dims[d] = d == axis ? x->dims[d] : 1;
    status = odb_tensor_reshape(out, own, x->rank, dims, k->err);
out:
    odb_tensor_unref(own);
    return status;
}

/* The attribute output_dtype, else the type of t, else the fallback; double in double mode. */
static enum odb_status quant_type(struct odb_kern *k, const struct odb_tensor *t,
                                  enum odb_dtype fallback, enum odb_dtype *dtype)
{
    int64_t wanted = odb_kern_int(k, "output_dtype", 0);
    if (wanted < 0 || wanted >= ODB_DTYPE_COUNT)
        return ODB_KERN_FAIL(k, "output_dtype %lld is no element type", (long long)wanted);
    *dtype = wanted ? (enum odb_dtype)wanted : t ? t->dtype : fallback;
    if (k->carry_f64 && odb_dtype_is_float(*dtype))
        *dtype = ODB_F64;
    return ODB_OK;
}

/* --- QuantizeLinear --------------------------------------------------------------------------- */

struct quant_range {
    int low, high;
};

/* arg: the range. Whatever is not above its lowest number, NaN included, becomes that. */
#define QUANT_ROUND(t, T, ctype, name, F, P)                                                       \
    ODB_INLINE ctype ew_##name##_##T##_op(const F a, const ctype zero, const F low, const F high)  \
    {                                                                                              \
        const F v = _Generic(a, float : rintf, double : rint)(a) + (F)zero;                        \
        return (ctype)(!(v > low) ? low : v > high ? high : v);                                    \
    }                                                                                              \
    ODB_SIMD static void ew_##name##_##T(size_t n, const void *const *in, const int *step,         \
                                         void *out, const void *arg)                               \
    {                                                                                              \
        const struct quant_range *range = arg;                                                     \
        const F low = (F)range->low, high = (F)range->high;                                        \
        const P *q = in[0];                                                                        \
        const odb_##t *zero = in[1];                                                               \
        odb_##t *y = out;                                                                          \
        if (step[0] && step[1]) {                                                                  \
            ODB_EW_EACH(i, n)                                                                      \
                y[i] = ew_##name##_##T##_op(q[i], zero[i], low, high);                             \
        } else if (step[0]) {                                                                      \
            const ctype z = *zero;                                                                 \
            ODB_EW_EACH(i, n)                                                                      \
                y[i] = ew_##name##_##T##_op(q[i], z, low, high);                                   \
        } else {                                                                                   \
            const F a = *q;                                                                        \
            ODB_EW_EACH(i, n)                                                                      \
                y[i] = ew_##name##_##T##_op(a, zero[i], low, high);                                \
        }                                                                                          \
    }
#define QUANT_TYPES(X, ...)                                                                        \
    X(u8, U8, uint8_t, __VA_ARGS__)                                                                \
    X(i8, I8, int8_t, __VA_ARGS__)                                                                 \
    X(u16, U16, uint16_t, __VA_ARGS__)                                                             \
    X(i16, I16, int16_t, __VA_ARGS__)
QUANT_TYPES(QUANT_ROUND, round_float, float, odb_f32)
QUANT_TYPES(QUANT_ROUND, round_double, double, odb_f64)
static const odb_ew_loop ew_round_float[ODB_DTYPE_COUNT] = {QUANT_TYPES(ODB_EW_SLOT, round_float)};
static const odb_ew_loop ew_round_double[ODB_DTYPE_COUNT] = {
    QUANT_TYPES(ODB_EW_SLOT, round_double)};

/* Of three inputs at once, as they lie: v = FN(a, zero, scale). Most often all share one zero and
 * one scale. */
#define QUANT_EACH(value)                                                                          \
    if (step[0] && !step[1] && !step[2]) {                                                         \
        const __typeof__(*zeros) zero = *zeros;                                                    \
        const float scale = *scales;                                                               \
        ODB_EW_EACH(i, n) {                                                                        \
            const __typeof__(*x) a = x[i];                                                         \
            y[i] = value;                                                                          \
        }                                                                                          \
    } else {                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                           \
            const __typeof__(*x) a = x[step[0] ? i : 0];                                           \
            const __typeof__(*zeros) zero = zeros[step[1] ? i : 0];                                \
            const float scale = scales[step[2] ? i : 0];                                           \
            y[i] = value;                                                                          \
        }                                                                                          \
    }
#define QUANT_BOTH(t, T, ctype, name)                                                              \
    ODB_SIMD static void ew_whole_##T(size_t n, const void *const *in, const int *step, void *out, \
                                      const void *arg)                                             \
    {                                                                                              \
        const struct quant_range *range = arg;                                                     \
        const float low = (float)range->low, high = (float)range->high;                            \
        const odb_f32 *x = in[0], *scales = in[2];                                                 \
        const odb_##t *zeros = in[1];                                                              \
        odb_##t *y = out;                                                                          \
        QUANT_EACH(ew_round_float_##T##_op(a / scale, zero, low, high))                            \
    }                                                                                              \
    ODB_SIMD static void ew_back_##T(size_t n, const void *const *in, const int *step, void *out,  \
                                     const void *arg)                                              \
    {                                                                                              \
        const odb_##t *x = in[0], *zeros = in[1];                                                  \
        const odb_f32 *scales = in[2];                                                             \
        odb_f32 *y = out;                                                                          \
        QUANT_EACH(((float)a - (float)zero) * scale)                                               \
    }
QUANT_TYPES(QUANT_BOTH, both)
static const odb_ew_loop ew_whole[ODB_DTYPE_COUNT] = {QUANT_TYPES(ODB_EW_SLOT, whole)};
static const odb_ew_loop ew_back[ODB_DTYPE_COUNT] = {QUANT_TYPES(ODB_EW_SLOT, back)};

#define QUANT_FLOAT_TABLE(name, ...)                                                               \
    ODB_EW_FLOATS(ODB_EW_LOOP2_WIDE, name, __VA_ARGS__)                                            \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, name)};
QUANT_FLOAT_TABLE(divide, a / b)
QUANT_FLOAT_TABLE(multiply, (a * b))
QUANT_FLOAT_TABLE(add, a + b)
QUANT_FLOAT_TABLE(subtract, a - b)

static enum odb_status quant_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *zero = odb_kern_in(k, 2);
    enum odb_dtype dtype = ODB_UNDEFINED;
    ODB_TRY(quant_type(k, zero, ODB_U8, &dtype));
    bool carried = k->carry_f64 && zero && odb_dtype_is_float(zero->dtype);
    if (zero && zero->dtype != dtype && !(carried && dtype == ODB_F64))
        return ODB_KERN_FAIL(k, "output_dtype is %s, but the zero point is %s",
                             odb_dtype_info(dtype)->name, odb_dtype_info(zero->dtype)->name);
    return odb_kern_outline(k, 0, dtype, x->rank, x->dims);
}

/* The type that x is divided by scale in: halves are rounded to, but computed in float. */
static enum odb_status quant_precision(struct odb_kern *k, enum odb_dtype *dtype)
{
    const struct odb_tensor *x = k->in[0], *scale = k->in[1];
    int64_t precision = odb_kern_int(k, "precision", 0);
    *dtype = precision ? (enum odb_dtype)precision : scale->dtype;
    if (precision < 0 || precision >= ODB_DTYPE_COUNT ||
        (precision && !(ODB_BIT(precision) & (ODB_T_FLOAT | ODB_BIT(ODB_I32)))))
        return ODB_KERN_FAIL(k, "precision %lld is no type to divide in", (long long)precision);
    if (k->carry_f64 || odb_dtype_is_integer(*dtype))
        *dtype = ODB_F64;
    else if (*dtype == ODB_F8E8M0) /* a power of two: the quotient has the digits of x */
        *dtype = odb_dtype_is_float(x->dtype) ? x->dtype : ODB_F32;
    return ODB_OK;
}

/* x / scale as float or double. *quotient is the caller's. */
static enum odb_status quant_divide(struct odb_kern *k, enum odb_dtype precision,
                                    struct odb_tensor **quotient)
{
    struct odb_tensor *in[2] = {NULL, NULL}, *rounded = NULL;
    enum odb_status status = ODB_OK;
    enum odb_dtype wide = precision == ODB_F64 ? ODB_F64 : ODB_F32;
    ODB_TRY_OUT(odb_tensor_cast(&rounded, k->in[0], precision, k->err));
    ODB_TRY_OUT(odb_tensor_cast(&in[0], rounded, wide, k->err));
    odb_tensor_unref(rounded);
    rounded = NULL;
    ODB_TRY_OUT(odb_tensor_cast(&rounded, k->in[1], precision, k->err));
    ODB_TRY_OUT(quant_place(k, rounded, wide, &in[1]));
    ODB_TRY_OUT(odb_tensor_new_raw(quotient, wide, in[0]->rank, in[0]->dims, k->err));
    odb_ew_apply(ew_divide[wide], 2, (const struct odb_tensor *const *)in, *quotient, NULL);
    if (precision != wide)
        odb_round_f32(precision, (*quotient)->data, (*quotient)->count);
out:
    odb_tensor_unref(in[0]);
    odb_tensor_unref(in[1]);
    odb_tensor_unref(rounded);
    return status;
}

/* quotient + zero to a float type: float8, float4, or double in double mode. */
static enum odb_status quant_to_float(struct odb_kern *k, struct odb_tensor *quotient)
{
    const struct odb_tensor *zero = odb_kern_in(k, 2);
    struct odb_tensor *y = k->out[0];
    bool saturate = odb_kern_int(k, "saturate", 1) != 0;
    if (zero) {
        struct odb_tensor *placed = NULL;
        ODB_TRY(quant_place(k, zero, quotient->dtype, &placed));
        const struct odb_tensor *pair[2] = {quotient, placed};
        odb_ew_apply(ew_add[quotient->dtype], 2, pair, quotient, NULL);
        odb_tensor_unref(placed);
    }
    if (y->count == 0)
        return ODB_OK;
    if (ODB_BIT(y->dtype) & ODB_T_FLOAT8) {
        for (size_t i = 0; i < y->count; i++)
            ((uint8_t *)y->data)[i] =
                odb_f64_to_f8(y->dtype, odb_tensor_f64(quotient, i), saturate, ODB_E8M0_UP);
    } else {
        ((char *)y->data)[y->bytes - 1] = 0; /* of packed types the last byte may be half used */
        odb_convert(y->dtype, y->data, quotient->dtype, quotient->data, y->count);
    }
    return ODB_OK;
}

/* Of an integer type of at most 16 bits. */
static struct quant_range quant_range(enum odb_dtype dtype)
{
    unsigned bits = odb_dtype_info(dtype)->bits;
    bool is_signed = odb_dtype_info(dtype)->class_ == ODB_CLASS_INT;
    return (struct quant_range){is_signed ? -(1 << (bits - 1)) : 0,
                                (1 << (is_signed ? bits - 1 : bits)) - 1};
}

/* quotient rounded + zero to an integer type. 4- and 2-bit types are computed as 8-bit ones. */
static enum odb_status quant_to_int(struct odb_kern *k, const struct odb_tensor *quotient)
{
    struct odb_tensor *y = k->out[0], *result = y, *zero = NULL;
    struct quant_range range = quant_range(y->dtype);
    enum odb_dtype dtype = odb_dtype_info(y->dtype)->bits >= 8 ? y->dtype
                           : range.low < 0                     ? ODB_I8
                                                               : ODB_U8;
    odb_ew_loop loop = quotient->dtype == ODB_F64 ? ew_round_double[dtype] : ew_round_float[dtype];
    enum odb_status status = ODB_OK;
    if (!loop)
        return ODB_KERN_UNSUPPORTED(k, "no %s kernel for type %s", k->op->name,
                                    odb_dtype_info(y->dtype)->name);
    if (odb_kern_in(k, 2))
        ODB_TRY_OUT(quant_place(k, k->in[2], dtype, &zero));
    else
        ODB_TRY_OUT(odb_tensor_new(&zero, dtype, 0, NULL, k->err));
    if (dtype != y->dtype)
        ODB_TRY_OUT(odb_tensor_new_raw(&result, dtype, y->rank, y->dims, k->err));
    const struct odb_tensor *pair[2] = {quotient, zero};
    odb_ew_apply(loop, 2, pair, result, &range);
    if (result != y && y->count) {
        ((char *)y->data)[y->bytes - 1] = 0;
        odb_convert(y->dtype, y->data, dtype, result->data, y->count);
    }
out:
    odb_tensor_unref(zero);
    if (result != y)
        odb_tensor_unref(result);
    return status;
}

/* By one of the loops of three inputs; dtype is that of the zero point. */
static enum odb_status quant_at_once(struct odb_kern *k, odb_ew_loop loop, enum odb_dtype dtype,
                                     const struct quant_range *range)
{
    struct odb_tensor *zero = NULL, *scale = NULL;
    enum odb_status status;
    if (odb_kern_in(k, 2))
        ODB_TRY_OUT(quant_place(k, k->in[2], dtype, &zero));
    else
        ODB_TRY_OUT(odb_tensor_new(&zero, dtype, 0, NULL, k->err));
    ODB_TRY_OUT(quant_place(k, k->in[1], ODB_F32, &scale));
    const struct odb_tensor *in[3] = {k->in[0], zero, scale};
    odb_ew_apply(loop, 3, in, k->out[0], range);
out:
    odb_tensor_unref(zero);
    odb_tensor_unref(scale);
    return status;
}

static enum odb_status quant_linear(struct odb_kern *k)
{
    struct odb_tensor *quotient = NULL, *y = k->out[0];
    enum odb_status status = ODB_OK;
    if (!y)
        return ODB_OK;
    enum odb_dtype precision;
    ODB_TRY(quant_precision(k, &precision));
    if (k->in[0]->dtype == ODB_F32 && precision == ODB_F32 && ew_whole[y->dtype]) {
        const struct quant_range range = quant_range(y->dtype);
        return quant_at_once(k, ew_whole[y->dtype], y->dtype, &range);
    }
    ODB_TRY_OUT(quant_divide(k, precision, &quotient));
    if (odb_dtype_is_float(k->out[0]->dtype))
        status = quant_to_float(k, quotient);
    else
        status = quant_to_int(k, quotient);
out:
    odb_tensor_unref(quotient);
    return status;
}

/* --- DequantizeLinear ------------------------------------------------------------------------- */

static enum odb_status quant_infer_back(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    enum odb_dtype dtype = ODB_UNDEFINED;
    ODB_TRY(quant_type(k, k->in[1], ODB_F32, &dtype));
    if (!(ODB_BIT(dtype) & ODB_T_FLOAT))
        return ODB_KERN_FAIL(k, "the result cannot be %s; set output_dtype",
                             odb_dtype_info(dtype)->name);
    return odb_kern_outline(k, 0, dtype, x->rank, x->dims);
}

/* y = y op t, t brought to y's shape and type. */
static enum odb_status quant_apply(struct odb_kern *k, const odb_ew_loop *loops,
                                   const struct odb_tensor *t, struct odb_tensor *y)
{
    struct odb_tensor *placed = NULL;
    ODB_TRY(quant_place(k, t, y->dtype, &placed));
    const struct odb_tensor *pair[2] = {y, placed};
    odb_ew_apply(loops[y->dtype], 2, pair, y, NULL);
    odb_tensor_unref(placed);
    return ODB_OK;
}

/* x - zero of int32, rounded to float once: either may have more digits than float holds. */
static enum odb_status quant_difference(struct odb_kern *k, const struct odb_tensor *zero,
                                        struct odb_tensor *wide)
{
    struct odb_tensor *exact = NULL;
    ODB_TRY(odb_tensor_new_raw(&exact, ODB_F64, wide->rank, wide->dims, k->err));
    odb_convert(ODB_F64, exact->data, ODB_I32, k->in[0]->data, exact->count);
    enum odb_status status = quant_apply(k, ew_subtract, zero, exact);
    odb_convert(ODB_F32, wide->data, ODB_F64, exact->data, exact->count);
    odb_tensor_unref(exact);
    return status;
}

/* Computed in float (double in double mode), rounded to a half last. */
static enum odb_status quant_linear_back(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *zero = odb_kern_in(k, 2);
    struct odb_tensor *y = k->out[0], *wide = y;
    enum odb_status status = ODB_OK;
    if (!y)
        return ODB_OK;
    if (zero && zero->dtype != x->dtype)
        return ODB_KERN_FAIL(k, "x is %s, but its zero point is %s", odb_dtype_info(x->dtype)->name,
                             odb_dtype_info(zero->dtype)->name);
    if (y->dtype == ODB_F32 && ew_back[x->dtype])
        return quant_at_once(k, ew_back[x->dtype], x->dtype, NULL);
    if (ODB_BIT(y->dtype) & ODB_T_HALVES)
        ODB_TRY_OUT(odb_tensor_new_raw(&wide, ODB_F32, y->rank, y->dims, k->err));
    if (zero && x->dtype == ODB_I32 && wide->dtype == ODB_F32) {
        ODB_TRY_OUT(quant_difference(k, zero, wide));
    } else {
        odb_convert(wide->dtype, wide->data, x->dtype, x->data, x->count);
        if (zero)
            ODB_TRY_OUT(quant_apply(k, ew_subtract, zero, wide));
    }
    ODB_TRY_OUT(quant_apply(k, ew_multiply, k->in[1], wide));
    if (wide != y)
        odb_convert(y->dtype, y->data, wide->dtype, wide->data, y->count);
out:
    if (wide != y)
        odb_tensor_unref(wide);
    return status;
}

/* --- DynamicQuantizeLinear -------------------------------------------------------------------- */

static enum odb_status quant_infer_dynamic(struct odb_kern *k)
{
    ODB_TRY(odb_kern_outline(k, 0, ODB_U8, k->in[0]->rank, k->in[0]->dims));
    ODB_TRY(odb_kern_outline(k, 1, k->in[0]->dtype, 0, NULL));
    return odb_kern_outline(k, 2, ODB_U8, 0, NULL);
}

/* The range of x, made to include 0, is laid over 0..255; every step rounds to the type of x. */
#define QUANT_DYNAMIC(t, T, ctype, name)                                                           \
    static void name##_##T(const struct odb_tensor *x, odb_##t *scale, odb_u8 *zero)               \
    {                                                                                              \
        const odb_##t *v = x->data;                                                                \
        ctype low = 0, high = 0;                                                                   \
        for (size_t i = 0; i < x->count; i++) {                                                    \
            low = v[i] < low ? v[i] : low;                                                         \
            high = v[i] > high ? v[i] : high;                                                      \
        }                                                                                          \
        *scale = low == high ? 1 : (high - low) / 255; /* of zeros any scale is right */           \
        ctype at = rint(0 - low / *scale);                                                         \
        *zero = (uint8_t)(!(at > 0) ? 0 : at > 255 ? 255 : at);                                    \
    }
ODB_EW_FLOATS(QUANT_DYNAMIC, quant_dynamic)

static enum odb_status quant_dynamic(struct odb_kern *k)
{
    const struct quant_range range = {0, 255};
    const struct odb_tensor *x = k->in[0];
    bool is_double = x->dtype == ODB_F64;
    struct odb_tensor *scale = NULL, *zero = NULL, *quotient = NULL;
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(odb_tensor_new(&scale, x->dtype, 0, NULL, k->err));
    ODB_TRY_OUT(odb_tensor_new(&zero, ODB_U8, 0, NULL, k->err));
    if (is_double)
        quant_dynamic_F64(x, scale->data, zero->data);
    else
        quant_dynamic_F32(x, scale->data, zero->data);
    if (k->out[0]) {
        ODB_TRY_OUT(odb_tensor_new_raw(&quotient, x->dtype, x->rank, x->dims, k->err));
        const struct odb_tensor *of[2] = {x, scale}, *to[2] = {quotient, zero};
        odb_ew_apply(ew_divide[x->dtype], 2, of, quotient, NULL);
        odb_ew_apply(is_double ? ew_round_double[ODB_U8] : ew_round_float[ODB_U8], 2, to, k->out[0],
                     &range);
    }
    if (k->n_out > 1 && k->out[1])
        memcpy(k->out[1]->data, scale->data, scale->bytes);
    if (k->n_out > 2 && k->out[2])
        memcpy(k->out[2]->data, zero->data, zero->bytes);
out:
    odb_tensor_unref(scale);
    odb_tensor_unref(zero);
    odb_tensor_unref(quotient);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Newest first: each version has the attributes from its own on. */
static const struct odb_attr_spec quant_attrs[] = {
    {"precision", ODB_ATTR_INT, "0", false},    /* 23 */
    {"output_dtype", ODB_ATTR_INT, "0", false}, /* 21 */
    {"block_size", ODB_ATTR_INT, "0", false},   /* 21 */
    {"saturate", ODB_ATTR_INT, "1", false},     /* 19 */
    {"axis", ODB_ATTR_INT, "1", false},         /* 13 */
    {.name = NULL},
};
static const struct odb_attr_spec quant_back_attrs[] = {
    {"output_dtype", ODB_ATTR_INT, "0", false}, /* 23 */
    {"block_size", ODB_ATTR_INT, "0", false},   /* 21 */
    {"axis", ODB_ATTR_INT, "1", false},         /* 13 */
    {.name = NULL},
};

#define QUANT_SMALL                                                                                \
    (ODB_T_FLOAT8 | ODB_BIT(ODB_U8) | ODB_BIT(ODB_I8) | ODB_BIT(ODB_U16) | ODB_BIT(ODB_I16) |      \
     ODB_BIT(ODB_U4) | ODB_BIT(ODB_I4) | ODB_BIT(ODB_U2) | ODB_BIT(ODB_I2) | ODB_BIT(ODB_F4E2M1))
#define QUANT_SCALE (ODB_BIT(ODB_F32) | ODB_T_HALVES | ODB_BIT(ODB_F8E8M0))

/* Halves come unwidened (no ODB_OP_REAL): the division must round to them. */
#define QUANT_WIDE (ODB_BIT(ODB_F32) | ODB_T_HALVES | ODB_BIT(ODB_I32))
#define QUANT_ROW(first, attributes, scale, ...)                                                   \
    {                                                                                              \
        .domain = "", .name = "QuantizeLinear", .since = first, .min_in = 2, .max_in = 3,          \
        .min_out = 1, .max_out = 1, .flags = ODB_OP_BOUNDARY,                                      \
        .types = {QUANT_WIDE, scale, QUANT_SMALL}, .attrs = attributes, .infer = quant_infer,      \
        .run = quant_linear, __VA_ARGS__                                                           \
    }
#define QUANT_BACK_ROW(first, attributes, ...)                                                     \
    {                                                                                              \
        .domain = "", .name = "DequantizeLinear", .since = first, .min_in = 2, .max_in = 3,        \
        .min_out = 1, .max_out = 1, .flags = ODB_OP_REAL,                                          \
        .types = {QUANT_SMALL | ODB_BIT(ODB_I32), QUANT_SCALE, ODB_AS(0)}, .attrs = attributes,    \
        .infer = quant_infer_back, .run = quant_linear_back, __VA_ARGS__                           \
    }

const struct odb_op odb_ops_quantize[] = {
    QUANT_ROW(10, NULL, ODB_BIT(ODB_F32), ODB_QUANTISED(NULL, 1),
              ODB_NAMES("x,y_scale,y_zero_point", "y"), ODB_WORK(per_input, 2),
              ODB_TRAITS(ODB_IS_CARRIER)),
    QUANT_ROW(13, quant_attrs + 4, ODB_BIT(ODB_F32)),
    QUANT_ROW(19, quant_attrs + 3, ODB_AS(0)),
    QUANT_ROW(21, quant_attrs + 1, ODB_AS(0)),
    QUANT_ROW(23, quant_attrs, QUANT_SCALE | ODB_BIT(ODB_I32)),
    QUANT_BACK_ROW(10, NULL, ODB_NAMES("x,x_scale,x_zero_point", "y"), ODB_WORK(per_output, 2),
                   ODB_TRAITS(ODB_IS_CARRIER | ODB_IS_QUANTISED)),
    QUANT_BACK_ROW(13, quant_back_attrs + 2),
    QUANT_BACK_ROW(21, quant_back_attrs + 1),
    QUANT_BACK_ROW(23, quant_back_attrs),
    ODB_ONNX("DynamicQuantizeLinear", 11, ODB_ARITY(1, 1), ODB_ARITY(3, 3),
             ODB_OP_REAL | ODB_OP_BOUNDARY, NULL, quant_infer_dynamic, quant_dynamic,
             ODB_BIT(ODB_F32), ODB_NAMES("x", "y,y_scale,y_zero_point"), ODB_WORK(per_input, 4),
             ODB_TRAITS(ODB_IS_QUANTISED)),
    {.name = NULL},
};
