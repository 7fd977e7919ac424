/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators of com.microsoft: how their calls are drawn.
 */
#include <stdio.h>
#include <string.h>

#include "versus.h"

/* --- float ----------------------------------------------------------------------------------- */

static void draw_bias(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 5);
    vs_in(d, dims);
    if (strstr(d->row->op, "Fast") == NULL || vs_chance(d, 60))
        vs_in(d, VS_DIMS(dims.d[dims.rank - 1]));
}

static void draw_matmul(struct draw *d)
{
    struct dims batch = vs_dims(d, 0, 2, 3), a = vs_part(d, batch), b = vs_part(d, batch);
    struct dims mkn = vs_dims(d, 3, 3, 5);
    bool ta = vs_chance(d, 40), tb = vs_chance(d, 40);
    a.d[a.rank++] = mkn.d[ta];
    a.d[a.rank++] = mkn.d[!ta];
    b.d[b.rank++] = mkn.d[tb ? 2 : 1];
    b.d[b.rank++] = mkn.d[tb ? 1 : 2];
    vs_in(d, a);
    vs_in(d, b);
    vs_attr_int(d, "transA", ta);
    vs_attr_int(d, "transB", tb);
    vs_attrs(d, "alpha=-|0.5f|2f");
}

static void draw_gemm(struct draw *d)
{
    int64_t m = vs_int(d, 1, 4), k = vs_int(d, 1, 4), n = vs_int(d, 1, 4);
    vs_in(d, VS_DIMS(m, k));
    vs_in(d, VS_DIMS(k, n));
    vs_in(d, vs_part(d, VS_DIMS(m, n)));
    vs_attrs(d, "alpha=-|0.5f beta=-|2f activation=Relu|Sigmoid|Tanh");
}

static void draw_skip_norm(struct draw *d)
{
    bool simple = strstr(d->row->op, "Simplified") != NULL;
    struct dims dims = vs_dims(d, 3, 3, 5), last;
    dims.d[2] = vs_int(d, 4, 8); /* two numbers may lie so close that they cancel */
    last = VS_DIMS(dims.d[2]);
    vs_in(d, dims);
    vs_in(d, dims);
    vs_in(d, last);
    if (!simple && vs_chance(d, 60))
        vs_in(d, last);
    else if (!simple)
        vs_in_none(d);
    if (vs_chance(d, 50))
        vs_in(d, last);
    while (!d->in[d->n_in - 1])
        d->n_in--;
    vs_attrs(d, "epsilon=-|0.01f");
    if (vs_chance(d, 50)) {
        d->n_out = 4;
        d->no_out[1] = d->no_out[2] = true;
    }
}

static void draw_cdist(struct draw *d)
{
    int64_t k = vs_int(d, 1, 4);
    vs_in(d, VS_DIMS(vs_int(d, 1, 4), k));
    vs_in(d, VS_DIMS(vs_int(d, 1, 4), k));
    vs_attrs(d, "metric=euclidean|sqeuclidean");
}

static void draw_expand_dims(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 4);
    vs_in(d, dims);
    vs_in_scalar(d, ODB_I32, (double)vs_int(d, -dims.rank, dims.rank));
    d->weight[1] = false;
}

static void draw_inverse(struct draw *d)
{
    int64_t n = vs_int(d, 1, 4);
    struct dims dims = vs_chance(d, 50) ? VS_DIMS(n, n) : VS_DIMS(2, n, n);
    struct odb_tensor *t = vs_in_range(d, d->dtype, dims, -1, 1);
    for (size_t i = 0; i < t->count; i++) /* far from singular */
        if (i / (size_t)n % (size_t)n == i % (size_t)n)
            odb_store_f64(t->dtype, t->data, i, 5 + odb_tensor_f64(t, i));
}

static void draw_rotary(struct draw *d)
{
    int64_t b = vs_int(d, 1, 2), s = vs_int(d, 1, 3), heads = vs_int(d, 1, 3);
    int64_t half = vs_int(d, 1, 3), longest = s + vs_int(d, 0, 3);
    if (vs_chance(d, 50)) {
        vs_in(d, VS_DIMS(b, s, heads * half * 2));
    } else {
        vs_in(d, VS_DIMS(b, heads, s, half * 2));
    }
    if (vs_chance(d, 50))
        vs_in_range(d, ODB_I64, VS_DIMS(1), 0, (double)(longest - s));
    else
        vs_in_range(d, ODB_I64, VS_DIMS(b, s), 0, (double)longest - 1);
    vs_in_range(d, d->dtype, VS_DIMS(longest, half), -1, 1);
    vs_in_range(d, d->dtype, VS_DIMS(longest, half), -1, 1);
    vs_attrs(d, "interleaved=-|0|1");
}

static void draw_heads(struct draw *d)
{
    int64_t b = vs_int(d, 1, 2), s = vs_int(d, 1, 4), t = vs_int(d, 1, 4), heads = vs_int(d, 1, 3);
    int64_t size = vs_int(d, 1, 4) * heads;
    vs_in(d, VS_DIMS(b, s, size));
    vs_in(d, VS_DIMS(b, t, size));
    vs_in(d, VS_DIMS(b, t, vs_chance(d, 70) ? size : heads * vs_int(d, 1, 4)));
    int64_t v = d->in[2]->dims[2];
    if (vs_chance(d, 40))
        vs_in(d, VS_DIMS(2 * size + v));
    else
        vs_in_none(d);
    if (vs_chance(d, 40))
        vs_in_range(d, ODB_I32, VS_DIMS(b), 1, (double)t);
    else
        vs_in_none(d);
    if (vs_chance(d, 40))
        vs_in(d, VS_DIMS(vs_chance(d, 50) ? 1 : b, vs_chance(d, 50) ? 1 : heads, s, t));
    while (!d->in[d->n_in - 1])
        d->n_in--;
    vs_attr_int(d, "num_heads", heads);
    vs_attrs(d, "scale=-|0.3f unidirectional=-|-|0|1");
}

static void draw_attention(struct draw *d)
{
    int64_t b = vs_int(d, 1, 2), s = vs_int(d, 1, 4), heads = vs_int(d, 1, 3), in = vs_int(d, 1, 4);
    int64_t size = vs_int(d, 1, 4) * heads;
    vs_in(d, VS_DIMS(b, s, in));
    vs_in(d, VS_DIMS(in, 3 * size));
    vs_in(d, VS_DIMS(3 * size));
    if (vs_chance(d, 40))
        vs_in_range(d, ODB_I32, VS_DIMS(b), 1, (double)s);
    vs_attr_int(d, "num_heads", heads);
    vs_attrs(d, "scale=-|0.3f unidirectional=-|-|0|1");
}

/* --- quantized ------------------------------------------------------------------------------- */

/* A scale and a zero point. */
static void draw_levels(struct draw *d, enum odb_dtype bytes)
{
    vs_in_scalar(d, ODB_F32, (float)vs_real(d, 0.05, 0.4));
    vs_in_range(d, bytes, VS_SCALAR, -9, 9);
}

static void draw_qbinary(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 3, 5);
    bool swap = vs_chance(d, 50);
    for (int i = 0; i < 2; i++) {
        vs_in_range(d, d->dtype, swap == (i == 0) ? full : vs_part(d, full), -128, 255);
        draw_levels(d, d->dtype);
    }
    draw_levels(d, d->dtype);
}

static void draw_qunary(struct draw *d)
{
    bool global = strstr(d->row->op, "Pool") != NULL;
    vs_in_range(d, d->dtype, global ? vs_dims(d, 4, 4, 4) : vs_dims(d, 1, 4, 5), -128, 255);
    draw_levels(d, d->dtype);
    draw_levels(d, d->dtype);
    for (int i = 1; i < d->n_in; i++)
        d->weight[i] = true;
}

static void draw_qconcat(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 4);
    int axis = (int)vs_int(d, 0, dims.rank - 1), n = (int)vs_int(d, 1, 3);
    draw_levels(d, d->dtype);
    for (int i = 0; i < n; i++) {
        dims.d[axis] = vs_int(d, 1, 4);
        vs_in_range(d, d->dtype, dims, -128, 255);
        draw_levels(d, d->dtype);
    }
    vs_attr_int(d, "axis", vs_chance(d, 50) ? axis : axis - dims.rank);
}

static void draw_qgemm(struct draw *d)
{
    int64_t m = vs_int(d, 1, 4), k = vs_int(d, 1, 5), n = vs_int(d, 1, 4);
    bool ta = vs_chance(d, 40), tb = vs_chance(d, 40);
    enum odb_dtype other = vs_chance(d, 50) ? ODB_U8 : ODB_I8;
    vs_in_range(d, d->dtype, ta ? VS_DIMS(k, m) : VS_DIMS(m, k), -128, 255);
    draw_levels(d, d->dtype);
    vs_in_range(d, other, tb ? VS_DIMS(n, k) : VS_DIMS(k, n), -128, 255);
    draw_levels(d, other);
    bool c = vs_chance(d, 50), real = vs_chance(d, 40);
    if (c)
        vs_in_range(d, ODB_I32, VS_DIMS(n), -500, 500);
    else if (!real)
        vs_in_none(d);
    if (!real)
        draw_levels(d, d->dtype);
    vs_attr_int(d, "transA", ta);
    vs_attr_int(d, "transB", tb);
    vs_attrs(d, "alpha=-|0.5f");
}

static void draw_dynamic_matmul(struct draw *d)
{
    int64_t m = vs_int(d, 1, 4), k = vs_int(d, 1, 5), n = vs_int(d, 1, 4);
    enum odb_dtype other = vs_chance(d, 50) ? ODB_U8 : ODB_I8;
    vs_in_range(d, ODB_F32, VS_DIMS(m, k), -3, 3);
    vs_in_range(d, other, VS_DIMS(k, n), -128, 255);
    draw_levels(d, other);
    if (vs_chance(d, 50))
        vs_in_range(d, ODB_F32, VS_DIMS(n), -3, 3);
}

static void draw_matmul_to_float(struct draw *d)
{
    int64_t m = vs_int(d, 1, 4), k = vs_int(d, 1, 5), n = vs_int(d, 1, 4);
    enum odb_dtype other = vs_chance(d, 50) ? ODB_U8 : ODB_I8;
    vs_in_range(d, d->dtype, VS_DIMS(m, k), -128, 255);
    vs_in_range(d, other, VS_DIMS(k, n), -128, 255);
    vs_in_scalar(d, ODB_F32, vs_real(d, 0.05, 0.4));
    vs_in_scalar(d, ODB_F32, vs_real(d, 0.05, 0.4));
    vs_in_range(d, d->dtype, VS_SCALAR, -9, 9);
    vs_in_range(d, other, VS_SCALAR, -9, 9);
    if (vs_chance(d, 50))
        vs_in_range(d, ODB_F32, VS_DIMS(n), -3, 3);
}

static void draw_nbits(struct draw *d)
{
    int64_t k = vs_int(d, 1, 70), n = vs_int(d, 1, 6), block = vs_chance(d, 50) ? 16 : 32;
    int64_t blocks = (k + block - 1) / block;
    vs_in(d, VS_DIMS(vs_int(d, 1, 3), k));
    vs_in_range(d, ODB_U8, VS_DIMS(n, blocks, block / 2), 0, 255);
    vs_in_range(d, d->dtype, VS_DIMS(n * blocks), 0.05, 0.4);
    if (vs_chance(d, 50))
        vs_in_range(d, ODB_U8, VS_DIMS(n * ((blocks + 1) / 2)), 0, 255);
    vs_attr_int(d, "K", k);
    vs_attr_int(d, "N", n);
    vs_attr_int(d, "bits", 4);
    vs_attr_int(d, "block_size", block);
    d->weight[1] = d->weight[2] = true;
}

#define F32 ODB_BIT(ODB_F32)
#define BYTES (ODB_BIT(ODB_U8) | ODB_BIT(ODB_I8))
#define MS(name, ...)                                                                              \
    {                                                                                              \
        .op = "com.microsoft::" name, .full = true, .tame = true, __VA_ARGS__                      \
    }

const struct row vs_contrib_rows[] = {
    MS("Gelu", .types = F32),
    MS("FastGelu", .draw = draw_bias, .types = F32, .tol = 1e-4),
    MS("BiasGelu", .draw = draw_bias, .types = F32),
    MS("QuickGelu", .types = F32, .attrs = "alpha=-|1f|0.5f"),
    MS("FusedMatMul", .draw = draw_matmul, .types = F32),
    MS("FusedGemm", .draw = draw_gemm, .types = F32),
    MS("SkipLayerNormalization", .draw = draw_skip_norm, .types = F32, .tol = 1e-2),
    MS("SkipSimplifiedLayerNormalization", .draw = draw_skip_norm, .types = F32, .tol = 1e-2),
    MS("CDist", .draw = draw_cdist, .types = F32 | ODB_BIT(ODB_F64), .tol = 1e-4),
    MS("ExpandDims", .draw = draw_expand_dims, .types = F32),
    MS("Inverse", .draw = draw_inverse, .types = F32 | ODB_BIT(ODB_F64)),
    MS("RotaryEmbedding", .draw = draw_rotary, .types = F32),
    MS("MultiHeadAttention", .draw = draw_heads, .types = F32),
    MS("Attention", .draw = draw_attention, .types = F32),
    MS("QLinearAdd", .draw = draw_qbinary, .types = BYTES),
    MS("QLinearMul", .draw = draw_qbinary, .types = BYTES),
    MS("QLinearSigmoid", .draw = draw_qunary, .types = BYTES),
    MS("QLinearLeakyRelu", .draw = draw_qunary, .types = BYTES, .attrs = "alpha=-|0.3f"),
    MS("QLinearGlobalAveragePool", .draw = draw_qunary, .types = BYTES,
       .attrs = "channels_last=-|0|1"),
    MS("QLinearSoftmax", .draw = draw_qunary, .types = BYTES, .attrs = "opset=13 axis=-1"),
    MS("QLinearConcat", .draw = draw_qconcat, .types = BYTES),
    MS("QGemm", .draw = draw_qgemm, .types = BYTES),
    MS("DynamicQuantizeMatMul", .draw = draw_dynamic_matmul, .types = F32),
    MS("MatMulIntegerToFloat", .draw = draw_matmul_to_float, .types = BYTES),
    MS("MatMulNBits", .draw = draw_nbits, .types = F32, .tol = 1e-4),
    {NULL},
};
