/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quantized operators of ONNX: how their calls are drawn. Scales are such that levels are
 * used up, and some values saturate.
 */
#include <string.h>

#include "versus.h"

static void draw_scale(struct draw *d, enum odb_dtype dtype, struct dims dims)
{
    struct odb_tensor *t = vs_in_range(d, dtype, dims, 1, 1);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, vs_real(d, 0.05, 0.4));
}

static enum odb_dtype draw_bytes(struct draw *d)
{
    return vs_chance(d, 50) ? ODB_U8 : ODB_I8;
}

/* Zero points and scales by tensor, by axis, or by block. */
static void draw_linear(struct draw *d, bool quantize)
{
    static const enum odb_dtype to[] = {ODB_U8, ODB_I8, ODB_U16, ODB_I16, ODB_U4, ODB_I4};
    struct dims dims = vs_dims(d, 1, 4, 6), scales = VS_SCALAR;
    int axis = (int)vs_int(d, 0, dims.rank - 1);
    int64_t block = 0, how = vs_int(d, 0, d->opset >= 21 ? 2 : d->opset >= 13 ? 1 : 0);
    enum odb_dtype bytes = to[vs_int(d, 0, d->opset >= 21 ? 5 : 1)], real = ODB_F32;
    if (how == 1) {
        scales = VS_DIMS(dims.d[axis]);
    } else if (how == 2) {
        block = vs_int(d, 1, 3);
        scales = dims;
        dims.d[axis] = ODB_MAX(dims.d[axis], 1);
        scales.d[axis] = (dims.d[axis] + block - 1) / block;
    }
    if (quantize && d->dtype == ODB_I32)
        d->dtype = ODB_F32;
    if (quantize)
        vs_in_range(d, d->dtype, dims, -20, 20);
    else
        vs_in_range(d, d->dtype, dims, -300, 300);
    if (quantize || d->opset >= 19)
        real = quantize ? d->dtype : vs_chance(d, 70) ? ODB_F32 : ODB_F16;
    draw_scale(d, real, scales);
    if (!quantize)
        bytes = d->dtype;
    bool whole = odb_dtype_is_integer(bytes) && bytes != ODB_I32;
    if (vs_chance(d, 70))
        vs_in_range(d, bytes, scales, whole ? -9 : 0, whole ? 9 : 0);
    if (how == 2)
        vs_attr_int(d, "block_size", block);
    if (how > 0 && (axis != 1 || vs_chance(d, 50)))
        vs_attr_int(d, "axis", vs_chance(d, 50) ? axis : axis - dims.rank);
}

static void draw_quantize(struct draw *d)
{
    draw_linear(d, true);
}

static void draw_dequantize(struct draw *d)
{
    draw_linear(d, false);
}

static void draw_dynamic(struct draw *d)
{
    vs_in(d, vs_dims(d, 0, 3, 5));
    d->n_out = 3;
}

static void draw_product(struct draw *d, struct dims *a, struct dims *b)
{
    struct dims batch = vs_dims(d, 0, 2, 3), mkn = vs_dims(d, 3, 3, 5);
    *a = vs_part(d, batch);
    *b = vs_part(d, batch);
    a->d[a->rank++] = mkn.d[0];
    a->d[a->rank++] = mkn.d[1];
    b->d[b->rank++] = mkn.d[1];
    b->d[b->rank++] = mkn.d[2];
}

static void draw_matmul_integer(struct draw *d)
{
    struct dims a, b;
    enum odb_dtype other = draw_bytes(d);
    draw_product(d, &a, &b);
    vs_in_range(d, d->dtype, a, -128, 255);
    vs_in_range(d, other, b, -128, 255);
    if (vs_chance(d, 70)) {
        vs_in_range(d, d->dtype, VS_SCALAR, -5, 5);
        if (vs_chance(d, 70))
            vs_in_range(d, other, b.rank > 2 || vs_chance(d, 50) ? VS_SCALAR : VS_DIMS(b.d[1]), -5,
                        5);
    }
}

static void draw_qlinear_matmul(struct draw *d)
{
    struct dims a, b;
    enum odb_dtype other = draw_bytes(d), bytes = draw_bytes(d);
    draw_product(d, &a, &b);
    if (d->dtype != ODB_U8 && d->dtype != ODB_I8)
        d->dtype = ODB_U8;
    vs_in_range(d, d->dtype, a, -128, 255);
    draw_scale(d, ODB_F32, VS_SCALAR);
    vs_in_range(d, d->dtype, VS_SCALAR, -9, 9);
    struct dims columns = vs_chance(d, 30) && b.rank == 2 ? VS_DIMS(b.d[1]) : VS_SCALAR;
    vs_in_range(d, other, b, -128, 255);
    draw_scale(d, ODB_F32, columns);
    vs_in_range(d, other, columns, -9, 9);
    draw_scale(d, ODB_F32, VS_SCALAR);
    vs_in_range(d, bytes, VS_SCALAR, -9, 9);
}

/* Input and weights of a small 2-D convolution, the borders as attributes. */
static struct dims draw_conv_shape(struct draw *d, struct dims *x)
{
    int64_t group = vs_int(d, 1, 2), c = vs_int(d, 1, 3), m = group * vs_int(d, 1, 3), pads[4];
    struct dims w = VS_DIMS(m, c, vs_int(d, 1, 3), vs_int(d, 1, 3));
    *x = VS_DIMS(vs_int(d, 1, 2), group * c, vs_int(d, 3, 7), vs_int(d, 3, 7));
    if (group > 1)
        vs_attr_int(d, "group", group);
    for (int i = 0; i < 4; i++)
        pads[i] = vs_int(d, 0, w.d[2 + i % 2] - 1);
    if (vs_chance(d, 50))
        vs_attr_ints(d, "pads", 4, pads);
    vs_attrs(d, "strides=-|1,1,|2,1,|2,3, dilations=-|-|1,1,|1,2,");
    return w;
}

static void draw_conv_integer(struct draw *d)
{
    struct dims x, w = draw_conv_shape(d, &x);
    enum odb_dtype other = draw_bytes(d);
    vs_in_range(d, d->dtype, x, -128, 255);
    vs_in_range(d, other, w, -128, 255);
    if (vs_chance(d, 70)) {
        vs_in_range(d, d->dtype, VS_SCALAR, -5, 5);
        if (vs_chance(d, 70))
            vs_in_range(d, other, VS_SCALAR, -5, 5);
    }
}

static void draw_qlinear_conv(struct draw *d)
{
    struct dims x, w = draw_conv_shape(d, &x);
    enum odb_dtype other = d->dtype == ODB_I8 ? ODB_I8 : draw_bytes(d);
    struct dims each = vs_chance(d, 40) ? VS_DIMS(w.d[0]) : VS_SCALAR;
    double zero = (double)vs_int(d, 0, 5); /* of all channels */
    vs_in_range(d, d->dtype, x, -128, 255);
    draw_scale(d, ODB_F32, VS_SCALAR);
    vs_in_range(d, d->dtype, VS_SCALAR, -9, 9);
    vs_in_range(d, other, w, -128, 255);
    draw_scale(d, ODB_F32, each);
    vs_in_range(d, other, each, zero, zero);
    draw_scale(d, ODB_F32, VS_SCALAR);
    vs_in_range(d, d->dtype, VS_SCALAR, -9, 9);
    if (vs_chance(d, 50))
        vs_in_range(d, ODB_I32, VS_DIMS(w.d[0]), -500, 500);
    for (int i = 1; i < d->n_in && d->n_in < 10; i++) /* it wants constants */
        d->weight[i] = true;
}

const struct row vs_quant_rows[] = {
    {.op = "QuantizeLinear", .draw = draw_quantize, .tame = true},
    {.op = "DequantizeLinear", .draw = draw_dequantize, .tame = true},
    {.op = "DynamicQuantizeLinear", .draw = draw_dynamic, .full = true, .tame = true},
    {.op = "MatMulInteger",
     .types = ODB_BIT(ODB_U8) | ODB_BIT(ODB_I8),
     .draw = draw_matmul_integer},
    {.op = "QLinearMatMul", .draw = draw_qlinear_matmul, .full = true, .tame = true},
    {.op = "ConvInteger", .draw = draw_conv_integer, .types = ODB_BIT(ODB_U8)},
    {.op = "QLinearConv",
     .draw = draw_qlinear_conv,
     .types = ODB_BIT(ODB_U8) | ODB_BIT(ODB_I8),
     .tame = true},
    {NULL},
};
