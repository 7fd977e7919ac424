/* SPDX-License-Identifier: MIT
 *
 * Products of 8- and 16-bit integers with more around them (com.microsoft): sums are exact in 32
 * bits, wrapping; what is float is scaled once from there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"
#include "kernels/linear/matmul.h"

/* --- from sums to results --------------------------------------------------------------------- */

/* Scales of a product per column, all times alpha: those of a, one, times those of b, one or one
 * per column, over that of y (NULL: 1). The caller frees them. */
static float *qproduct_ratios(struct odb_chain *c, const struct odb_tensor *a,
                              const struct odb_tensor *b, const struct odb_tensor *y, double alpha,
                              size_t columns)
{
    if (!odb_chain_ok(c))
        return NULL;
    if (a->count != 1 || (b->count != 1 && b->count != columns) || (y && y->count != 1)) {
        ODB_CHAIN_UNSUPPORTED(c, "%zu and %zu scales for a product of %zu columns", a->count,
                              b->count, columns);
        return NULL;
    }
    float *ratios = calloc(columns + 1, sizeof *ratios);
    if (!ratios) {
        c->status = odb_kern_no_memory(c->k);
        return NULL;
    }
    for (size_t j = 0; j < columns; j++) {
        ratios[j] = (float)alpha * (float)odb_tensor_f64(a, 0) *
                    (float)odb_tensor_f64(b, b->count == 1 ? 0 : j);
        if (y)
            ratios[j] /= (float)odb_tensor_f64(y, 0);
    }
    return ratios;
}

static size_t qproduct_columns(const struct odb_tensor *sums)
{
    return sums->rank ? (size_t)sums->dims[sums->rank - 1] : 1;
}

/* sums * scale of a * scale of b + bias, in float; in double where scales are. */
static const struct odb_tensor *qproduct_real(struct odb_chain *c, const struct odb_tensor *sums,
                                              const struct odb_tensor *a,
                                              const struct odb_tensor *b,
                                              const struct odb_tensor *bias, double alpha)
{
    enum odb_dtype dtype = c->k->carry_f64 ? ODB_F64 : a ? a->dtype : ODB_F32;
    if (!odb_chain_ok(c))
        return NULL;
    size_t columns = qproduct_columns(sums);
    struct odb_tensor *y = odb_chain_new(c, dtype, sums->rank, sums->dims);
    if (bias && bias->count != columns)
        ODB_CHAIN_FAIL(c, "a bias of %zu for %zu columns", bias->count, columns);
    if (!odb_chain_ok(c) || c->infer)
        return y;
    if (a->count != 1 || (b->count != 1 && b->count != columns)) {
        ODB_CHAIN_UNSUPPORTED(c, "%zu and %zu scales for a product of %zu columns", a->count,
                              b->count, columns);
        return NULL;
    }
    const odb_i32 *sum = sums->data;
    double scale = alpha * odb_tensor_f64(a, 0);
    for (size_t i = 0; i < y->count; i++) {
        size_t j = i % columns;
        double v = sum[i] * (scale * odb_tensor_f64(b, b->count == 1 ? 0 : j));
        odb_store_f64(dtype, y->data, i, v + (bias ? odb_tensor_f64(bias, j) : 0));
    }
    return y;
}

/* --- Gemm ------------------------------------------------------------------------------------- */

static const struct odb_tensor *qproduct_operand(struct odb_chain *c, int i, const char *trans)
{
    const struct odb_tensor *t = c->k->in[i];
    if (t->rank != 2)
        ODB_CHAIN_FAIL(c, "QGemm multiplies matrices, not operands of rank %d", t->rank);
    return odb_kern_int(c->k, trans, 0) ? odb_chain_permute(c, t, (const int64_t[]){1, 0}) : t;
}

/* a, its scale and zero point; b, its; c in units of the product of scales; y's, or none. */
static void qproduct_gemm(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *extra = odb_kern_in(k, 6), *scale = odb_kern_in(k, 7);
    const struct odb_tensor *zero = odb_kern_in(k, 8);
    double alpha = odb_kern_float(k, "alpha", 1);
    if (!scale != !zero)
        ODB_CHAIN_FAIL(c, "the result has a scale or a zero point, but not both");
    if (zero && zero->count != 1)
        ODB_CHAIN_FAIL(c, "the result has %zu zero points", zero->count);
    const struct odb_tensor *a = qproduct_operand(c, 0, "transA");
    const struct odb_tensor *b = qproduct_operand(c, 3, "transB");
    const struct odb_tensor *sums = ODB_STEP(c, "MatMulInteger", 10, (a, b, k->in[2], k->in[5]));
    int64_t dims[2] = {odb_chain_ok(c) ? sums->dims[0] : 0, odb_chain_ok(c) ? sums->dims[1] : 0};
    if (extra)
        sums = ODB_STEP(c, "Add", 14, (sums, extra));
    if (odb_chain_ok(c) && (sums->rank != 2 || memcmp(sums->dims, dims, sizeof dims) != 0))
        ODB_CHAIN_FAIL(c, "C does not broadcast to the result");
    if (!zero) {
        odb_chain_give(c, 0, qproduct_real(c, sums, k->in[1], k->in[4], NULL, alpha));
        return;
    }
    struct odb_tensor *y = odb_chain_new(c, zero->dtype, 2, dims);
    if (y && !c->infer) {
        size_t n = (size_t)dims[1];
        float *ratios = qproduct_ratios(c, k->in[1], k->in[4], scale, alpha, n);
        for (size_t row = 0; ratios && n && row < y->count / n; row++)
            odb_requantize((const odb_i32 *)sums->data + row * n, n, ratios, 1, y->dtype,
                           (int32_t)odb_tensor_i64(zero, 0), (odb_u8 *)y->data + row * n);
        free(ratios);
    }
    odb_chain_give(c, 0, y);
}
ODB_CHAIN(qproduct_gemm)

/* --- MatMul ----------------------------------------------------------------------------------- */

/* a is quantized to unsigned bytes over its own range. */
static void qproduct_dynamic(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *a[3];
    odb_chain_steps(
        c, &(const struct odb_step){.op = "DynamicQuantizeLinear", .opset = 11, .in = {k->in[0]}},
        3, a);
    const struct odb_tensor *sums =
        ODB_STEP(c, "MatMulInteger", 10, (a[0], k->in[1], a[2], odb_kern_in(k, 3)));
    odb_chain_give(c, 0, qproduct_real(c, sums, a[1], k->in[2], odb_kern_in(k, 4), 1));
}
ODB_CHAIN(qproduct_dynamic)

static void qproduct_to_float(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *sums = ODB_STEP(
        c, "MatMulInteger", 10, (k->in[0], k->in[1], odb_kern_in(k, 4), odb_kern_in(k, 5)));
    odb_chain_give(c, 0, qproduct_real(c, sums, k->in[2], k->in[3], odb_kern_in(k, 6), 1));
}
ODB_CHAIN(qproduct_to_float)

static void qproduct_int16(struct odb_chain *c)
{
    const struct odb_tensor *a = c->k->in[0], *b = c->k->in[1];
    enum odb_dtype wide = a->dtype == ODB_U16 && b->dtype == ODB_U16 ? ODB_U32 : ODB_I32;
    a = odb_chain_cast(c, a, wide);
    b = odb_chain_cast(c, b, wide);
    odb_chain_give(c, 0, ODB_STEP(c, "MatMul", 13, (a, b)));
}
ODB_CHAIN(qproduct_int16)

/* --- transformers ----------------------------------------------------------------------------- */

/* Input i as float, with the scale and the zero point that stand in other inputs. */
static const struct odb_tensor *qproduct_floats(struct odb_chain *c, int i, int scale, int zero,
                                                int axis)
{
    struct odb_kern *k = c->k;
    return ODB_STEP_WITH(c, "DequantizeLinear", 13,
                         (odb_kern_in(k, i), odb_kern_in(k, scale), odb_kern_in(k, zero)),
                         ODB_ATTRS(ODB_ATTR_I("axis", axis)));
}

static void qproduct_attention(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *out[2];
    const struct odb_tensor *x = qproduct_floats(c, 0, 3, 6, 0);
    const struct odb_tensor *weights = qproduct_floats(c, 1, 4, 7, 1);
    odb_chain_steps(
        c,
        &(const struct odb_step){.op = "com.microsoft::Attention",
                                 .opset = 1,
                                 .in = {x, weights, k->in[2], odb_kern_in(k, 5), odb_kern_in(k, 8)},
                                 .attrs = k->attrs},
        k->n_out, out);
    for (int i = 0; i < k->n_out; i++)
        odb_chain_give(c, i, out[i]);
}
ODB_CHAIN(qproduct_attention)

/* Words, positions, segments, gamma and beta with scales from input 8, zero points from 13 on. */
static void qproduct_embed(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *table[5] = {NULL}, *out[2];
    c->status = ODB_NEED(k, 0, 2, 3, 5, 6, 8, 9, 11, 12);
    for (int i = 0; i < 5; i++)
        if (odb_kern_in(k, 2 + i))
            table[i] = qproduct_floats(c, 2 + i, 8 + i, 13 + i, 0);
    odb_chain_steps(
        c,
        &(const struct odb_step){.op = "com.microsoft::EmbedLayerNormalization",
                                 .opset = 1,
                                 .in = {k->in[0], odb_kern_in(k, 1), table[0], table[1], table[2],
                                        table[3], table[4], odb_kern_in(k, 7)},
                                 .attrs = k->attrs},
        k->n_out, out);
    for (int i = 0; i < k->n_out; i++)
        odb_chain_give(c, i, out[i]);
}
ODB_CHAIN(qproduct_embed)

/* --- element by element ----------------------------------------------------------------------- */

/* Input i less its zero point, the next input, as int32. */
static const struct odb_tensor *qproduct_centred(struct odb_chain *c, int i)
{
    const struct odb_tensor *t = odb_chain_cast(c, c->k->in[i], ODB_I32);
    const struct odb_tensor *zero = odb_kern_in(c->k, i + 1);
    if (!zero)
        return t;
    if (zero->count != 1)
        ODB_CHAIN_FAIL(c, "input %d has %zu zero points", i, zero->count);
    zero = odb_chain_reshape(c, zero, 0, NULL);
    return ODB_STEP(c, "Sub", 14, (t, odb_chain_cast(c, zero, ODB_I32)));
}

static void qproduct_mul(struct odb_chain *c)
{
    c->status = ODB_NEED(c->k, 0, 2);
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *a = qproduct_centred(c, 0), *b = qproduct_centred(c, 2);
    odb_chain_give(c, 0, ODB_STEP(c, "Mul", 14, (a, b)));
}
ODB_CHAIN(qproduct_mul)

static void qproduct_reduce(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0];
    x = odb_chain_cast(c, x, x->dtype == ODB_U8 ? ODB_U32 : ODB_I32);
    odb_chain_give(c, 0, ODB_STEP_WITH(c, "ReduceSum", 11, (x), c->k->attrs));
}
ODB_CHAIN(qproduct_reduce)

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec qproduct_gemm_attrs[] = {{"alpha", ODB_ATTR_FLOAT, "1", false},
                                                           {"transA", ODB_ATTR_INT, "0", false},
                                                           {"transB", ODB_ATTR_INT, "0", false},
                                                           {NULL}};
static const struct odb_attr_spec qproduct_reduce_attrs[] = {
    {"axes", ODB_ATTR_INTS, NULL, true}, {"keepdims", ODB_ATTR_INT, NULL, true}, {NULL}};

static const struct odb_attr_spec qproduct_attention_attrs[] = {
    {"do_rotary", ODB_ATTR_INT, "0", false},
    {"mask_filter_value", ODB_ATTR_FLOAT, "-10000", false},
    {"num_heads", ODB_ATTR_INT, NULL, true},
    {"past_present_share_buffer", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, NULL, false},
    {"unidirectional", ODB_ATTR_INT, "0", false},
    {NULL}};
static const struct odb_attr_spec qproduct_embed_attrs[] = {
    {"epsilon", ODB_ATTR_FLOAT, "1e-12", false}, {NULL}};

#define Q8 (ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))
#define Q16 (ODB_BIT(ODB_I16) | ODB_BIT(ODB_U16))
#define QF ODB_BIT(ODB_F32)
#define QH (QF | ODB_BIT(ODB_F16))
#define QPRODUCT_ROW(name, least, most, flags, attrs, fn, ...)                                     \
    ODB_MICROSOFT(name, ODB_ARITY(least, most), ODB_ARITY(1, 1), flags, attrs, fn##_infer,         \
                  fn##_run, __VA_ARGS__)

const struct odb_op odb_ops_qproduct[] = {
    QPRODUCT_ROW(
        "QGemm", 6, 9, ODB_OP_REAL | ODB_OP_BOUNDARY, qproduct_gemm_attrs, qproduct_gemm, Q8, QF,
        ODB_AS(0), Q8, QF, ODB_AS(3), ODB_BIT(ODB_I32), QF, Q8,
        ODB_NAMES("A,a_scale,a_zero_point,B,b_scale,b_zero_point,C,y_scale,y_zero_point", "Y"),
        ODB_WORK(matmul, 0, 3, 6), ODB_QUANTISED("Gemm", 7, 3, {0, 3, 6}),
        ODB_TRAITS(ODB_IS_QUANTISED)),
    QPRODUCT_ROW("DynamicQuantizeMatMul", 3, 5, ODB_OP_REAL, NULL, qproduct_dynamic, QF, Q8, QF,
                 ODB_AS(1), QF, ODB_NAMES("A,B,b_scale,b_zero_point,bias", "Y"),
                 ODB_WORK(matmul, 0, 1, 4), ODB_TRAITS(ODB_IS_QUANTISED)),
    QPRODUCT_ROW("MatMulIntegerToFloat", 4, 7, ODB_OP_REAL, NULL, qproduct_to_float, Q8, Q8, QH,
                 ODB_AS(2), ODB_AS(0), ODB_AS(1), ODB_AS(2),
                 ODB_NAMES("A,B,a_scale,b_scale,a_zero_point,b_zero_point,bias", "Y"),
                 ODB_WORK(matmul, 0, 1, 6), ODB_TRAITS(ODB_IS_QUANTISED)),
    QPRODUCT_ROW("MatMulInteger16", 2, 2, ODB_OP_EXACT, NULL, qproduct_int16, Q16, Q16,
                 ODB_NAMES("A,B", "Y"), ODB_WORK(matmul, 0, 1)),
    QPRODUCT_ROW("MulInteger", 1, 4, ODB_OP_EXACT, NULL, qproduct_mul, Q8,
                 ODB_NAMES("A,A_zero_point,B,B_zero_point", "C")),
    QPRODUCT_ROW("ReduceSumInteger", 1, 1, ODB_OP_EXACT, qproduct_reduce_attrs, qproduct_reduce, Q8,
                 ODB_NAMES("data", "reduced")),
    ODB_MICROSOFT("QAttention", ODB_ARITY(5, 9), ODB_ARITY(1, 2), ODB_OP_REAL | ODB_OP_MATMUL,
                  qproduct_attention_attrs, qproduct_attention_infer, qproduct_attention_run, Q8,
                  Q8, QH, ODB_AS(2), ODB_AS(2), ODB_BIT(ODB_I32), ODB_AS(0), ODB_AS(1), ODB_AS(2),
                  ODB_NAMES("input,weight,bias,input_scale,weight_scale,mask_index,"
                            "input_zero_point,weight_zero_point,past",
                            "output,present"),
                  ODB_WORK(attention_fused, 5, 8, 2)),
    ODB_MICROSOFT(
        "QEmbedLayerNormalization", ODB_ARITY(1, 18), ODB_ARITY(1, 2), ODB_OP_REAL,
        qproduct_embed_attrs, qproduct_embed_infer, qproduct_embed_run, ODB_BIT(ODB_I32),
        ODB_BIT(ODB_I32), Q8, ODB_AS(2), ODB_AS(2), ODB_AS(2), ODB_AS(2), ODB_BIT(ODB_I32), QF,
        .types[13] = ODB_AS(2),
        ODB_NAMES(
            "input_ids,segment_ids,word_embedding_quant,position_embedding_quant,segment_embedding,"
            "gamma_quant,beta_quant,mask,word_embedding_scale,"
            "position_embedding_scale,segment_embedding_scale,gamma_scale,"
            "beta_scale,word_embedding_zero_point,position_embedding_zero_point,"
            "segment_embedding_zero_point,gamma_zero_point,beta_zero_point",
            "layernorm_out,mask_index_out")),
    {.name = NULL},
};
