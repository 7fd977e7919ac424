/* SPDX-License-Identifier: MIT
 *
 * What is fused of products with weights of a few bits: MatMulNBitsMlp and MatMulNBitsQkv, which
 * normalise their input once for all of them, and products with weights that are floats of 4 and 8
 * bits in blocks (com.microsoft).
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

/* --- MatMulNBits, several times --------------------------------------------------------------- */

enum { FUSED_A, FUSED_SKIP, FUSED_SCALE, FUSED_FIRST };

/* The operand of all products: normalised where there is a scale, the sum with skip before that,
 * which is output `sum` too. */
static const struct odb_tensor *fused_operand(struct odb_chain *c, int sum)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *a = k->in[FUSED_A], *scale = odb_kern_in(k, FUSED_SCALE);
    const struct odb_tensor *skip = odb_kern_in(k, FUSED_SKIP);
    if (!scale && skip)
        ODB_CHAIN_FAIL(c, "%s with skip needs norm_scale", k->op->name);
    else if (k->n_out > sum && k->wanted[sum] && !skip)
        ODB_CHAIN_FAIL(c, "input_skip_bias_sum of %s needs skip", k->op->name);
    else if (skip && !odb_tensor_same_shape(a, skip))
        ODB_CHAIN_FAIL(c, "skip does not have the shape of A");
    else if (scale && !odb_kern_has(k, "epsilon") && strcmp(k->op->name, "MatMulNBitsQkv") == 0)
        ODB_CHAIN_UNSUPPORTED(c, "MatMulNBitsQkv without epsilon");
    if (skip) {
        a = ODB_STEP(c, "Add", 14, (a, skip));
        if (k->n_out > sum)
            odb_chain_give(c, sum, a);
    }
    if (!scale)
        return a;
    return ODB_STEP_WITH(
        c, "com.microsoft::SimplifiedLayerNormalization", 1, (a, scale),
        ODB_ATTRS(ODB_ATTR_F("epsilon", (odb_f32)odb_kern_float(k, "epsilon", 1e-5))));
}

/* The product with weights, scales and bias that stand from input i on. */
static const struct odb_tensor *fused_product(struct odb_chain *c, const struct odb_tensor *a,
                                              int i, const char *n)
{
    struct odb_kern *k = c->k;
    if (!odb_chain_ok(c))
        return NULL;
    c->status = ODB_NEED(k, i, i + 1);
    return ODB_STEP_WITH(
        c, "com.microsoft::MatMulNBits", 1,
        (a, odb_kern_in(k, i), odb_kern_in(k, i + 1), NULL, NULL, odb_kern_in(k, i + 2)),
        ODB_ATTRS(ODB_ATTR_I("K", odb_kern_int(k, "K", 0)), ODB_ATTR_I("N", odb_kern_int(k, n, 0)),
                  ODB_ATTR_I("accuracy_level", odb_kern_int(k, "accuracy_level", 0)),
                  ODB_ATTR_I("bits", odb_kern_int(k, "bits", 4)),
                  ODB_ATTR_I("block_size", odb_kern_int(k, "block_size", 0))));
}

static void fused_mlp(struct odb_chain *c)
{
    const char *activation = odb_kern_string(c->k, "activation", "");
    if (strcmp(activation, "silu") != 0)
        ODB_CHAIN_UNSUPPORTED(c, "MatMulNBitsMlp with activation \"%s\"", activation);
    const struct odb_tensor *a = fused_operand(c, 1);
    const struct odb_tensor *gate = fused_product(c, a, FUSED_FIRST, "N");
    const struct odb_tensor *up = fused_product(c, a, FUSED_FIRST + 3, "N");
    odb_chain_give(c, 0, ODB_STEP(c, "Mul", 14, (ODB_STEP(c, "Swish", 24, (gate)), up)));
}
ODB_CHAIN(fused_mlp)

static void fused_qkv(struct odb_chain *c)
{
    const struct odb_tensor *a = fused_operand(c, 3);
    if (odb_chain_ok(c))
        c->status = ODB_NEED(c->k, FUSED_SCALE);
    for (int i = 0; i < 3; i++) {
        const struct odb_tensor *y = fused_product(c, a, FUSED_FIRST + 3 * i, i ? "Nkv" : "Nq");
        if (i < c->k->n_out)
            odb_chain_give(c, i, y);
    }
}
ODB_CHAIN(fused_qkv)

/* --- floats of 4 and 8 bits ------------------------------------------------------------------- */

/* The bytes of t as elements of another type. */
static const struct odb_tensor *fused_view(struct odb_chain *c, const struct odb_tensor *t,
                                           enum odb_dtype dtype, int64_t rows, int64_t columns)
{
    struct odb_tensor *view = NULL;
    if (!odb_chain_ok(c))
        return NULL;
    c->status = odb_tensor_view(&view, dtype, 2, (int64_t[]){rows, columns}, t->data, t->bytes,
                                t->storage, c->k->err);
    return odb_chain_take(c, view);
}

/* Weights (rows, columns) with a scale for each block of a row, all times `whole`. */
struct fused_blocks {
    const struct odb_tensor *scales;
    int64_t rows, columns, block, blocks;
    bool narrow; /* rounded to the type of the other operand */
};

static void fused_read(struct odb_chain *c, struct fused_blocks *b, int64_t usual)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *a = k->in[0], *w = k->in[1], *bias = odb_kern_in(k, k->op->max_in - 1);
    int64_t each = w->dtype == ODB_U8 ? 2 : 1;
    *b = (struct fused_blocks){.scales = k->in[2], .block = odb_kern_int(k, "block_size", usual)};
    if (w->rank != 2 || a->rank < 1 || b->block < 1) {
        ODB_CHAIN_FAIL(c, "%s needs weights [N,K], and blocks", k->op->name);
        return;
    }
    b->rows = w->dims[0];
    b->columns = w->dims[1] * each;
    b->blocks = b->columns / b->block + (b->columns % b->block != 0);
    if (a->dims[a->rank - 1] != b->columns || b->scales->rank != 2 ||
        b->scales->dims[0] != b->rows || b->scales->dims[1] != b->blocks)
        ODB_CHAIN_FAIL(c, "A, weights and scales of %lld rows of %lld blocks do not fit each other",
                       (long long)b->rows, (long long)b->blocks);
    if (bias && (bias->rank != 1 || bias->dims[0] != b->rows))
        ODB_CHAIN_FAIL(c, "the bias is not one number for each of %lld rows", (long long)b->rows);
}

/* a times the weights' rows, plus a bias. */
static void fused_blocks(struct odb_chain *c, const struct fused_blocks *b,
                         const struct odb_tensor *a, const struct odb_tensor *codes, double whole)
{
    struct odb_kern *k = c->k;
    struct odb_tensor *w =
        odb_chain_ok(c) ? odb_chain_new(c, k->in[0]->dtype, 2, (int64_t[]){b->rows, b->columns})
                        : NULL;
    for (size_t i = 0; w && !c->infer && odb_chain_ok(c) && i < w->count; i++) {
        size_t row = i / (size_t)b->columns, column = i % (size_t)b->columns;
        size_t block = row * (size_t)b->blocks + column / (size_t)b->block;
        odb_store_f64(w->dtype, w->data, i,
                      odb_tensor_f64(codes, i) * whole * odb_tensor_f64(b->scales, block));
    }
    if (w && !c->infer && b->narrow && k->narrow != ODB_UNDEFINED && w->dtype == ODB_F32)
        odb_round_f32(k->narrow, w->data, w->count);
    const struct odb_tensor *turned =
        odb_chain_ok(c) ? odb_chain_permute(c, w, (const int64_t[]){1, 0}) : NULL;
    const struct odb_tensor *y = ODB_STEP(c, "MatMul", 13, (a, turned));
    const struct odb_tensor *bias = odb_kern_in(k, k->op->max_in - 1);
    odb_chain_give(c, 0, bias ? ODB_STEP(c, "Add", 14, (y, bias)) : y);
}

static void fused_fp4(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    struct fused_blocks b;
    const struct odb_tensor *codes = NULL;
    double whole = 1;
    fused_read(c, &b, 16);
    if (odb_chain_ok(c) && k->in[3]->count != 1)
        ODB_CHAIN_FAIL(c, "weight_scale_2 has %zu numbers", k->in[3]->count);
    b.narrow = true;
    if (!c->infer && odb_chain_ok(c)) {
        codes = fused_view(c, k->in[1], ODB_F4E2M1, b.rows, b.columns);
        b.scales = fused_view(c, k->in[2], ODB_F8E4M3FN, b.rows, b.blocks);
        whole = odb_tensor_f64(k->in[3], 0);
    }
    fused_blocks(c, &b, k->in[0], codes, whole);
}
ODB_CHAIN(fused_fp4)

static void fused_fp8(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    struct fused_blocks b;
    const struct odb_tensor *a = k->in[0], *scale = odb_kern_in(k, 3);
    fused_read(c, &b, 128);
    if (scale && scale->count != 1)
        ODB_CHAIN_FAIL(c, "a_scale has %zu numbers", scale->count);
    if (scale && odb_chain_ok(c)) { /* a as eight bits hold it */
        const struct odb_tensor *step = odb_chain_reshape(c, scale, 0, NULL);
        step = odb_chain_ok(c) ? odb_chain_cast(c, step, a->dtype) : NULL;
        const struct odb_tensor *small = ODB_STEP(c, "Div", 14, (a, step));
        small = odb_chain_ok(c) ? odb_chain_cast(c, small, ODB_F8E4M3FN) : NULL;
        small = odb_chain_ok(c) ? odb_chain_cast(c, small, a->dtype) : NULL;
        a = ODB_STEP(c, "Mul", 14, (small, step));
    }
    fused_blocks(c, &b, a, k->in[1], 1);
}
ODB_CHAIN(fused_fp8)

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec fused_mlp_attrs[] = {{"K", ODB_ATTR_INT, NULL, true},
                                                       {"N", ODB_ATTR_INT, NULL, true},
                                                       {"accuracy_level", ODB_ATTR_INT, "0", false},
                                                       {"activation", ODB_ATTR_STRING, NULL, true},
                                                       {"bits", ODB_ATTR_INT, "4", false},
                                                       {"block_size", ODB_ATTR_INT, NULL, true},
                                                       {"epsilon", ODB_ATTR_FLOAT, "1e-05", false},
                                                       {NULL}};
static const struct odb_attr_spec fused_qkv_attrs[] = {
    {"K", ODB_ATTR_INT, NULL, true},          {"Nkv", ODB_ATTR_INT, NULL, true},
    {"Nq", ODB_ATTR_INT, NULL, true},         {"accuracy_level", ODB_ATTR_INT, "0", false},
    {"bits", ODB_ATTR_INT, "4", false},       {"block_size", ODB_ATTR_INT, NULL, true},
    {"epsilon", ODB_ATTR_FLOAT, NULL, false}, {NULL}};
static const struct odb_attr_spec fused_fp4_attrs[] = {{"block_size", ODB_ATTR_INT, "16", false},
                                                       {NULL}};
static const struct odb_attr_spec fused_fp8_attrs[] = {{"block_size", ODB_ATTR_INT, "128", false},
                                                       {NULL}};

#define FUSED_FLOATS (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define FUSED_BYTES ODB_BIT(ODB_U8)
#define FUSED_F32 ODB_BIT(ODB_F32)
#define FUSED_FLAGS (ODB_OP_REAL | ODB_OP_MATMUL)

const struct odb_op odb_ops_nbits_fused[] = {
    ODB_MICROSOFT("MatMulNBitsMlp", ODB_ARITY(1, 9), ODB_ARITY(1, 2), FUSED_FLAGS, fused_mlp_attrs,
                  fused_mlp_infer, fused_mlp_run, FUSED_FLOATS, ODB_AS(0), ODB_AS(0), FUSED_BYTES,
                  ODB_AS(0), ODB_AS(0), ODB_AS(3), ODB_AS(0), ODB_AS(0),
                  ODB_NAMES("A,skip,norm_scale,gate_B,gate_scales,gate_bias,up_B,up_scales,up_bias",
                            "Y,input_skip_bias_sum"),
                  ODB_HALVES(1, 1), ODB_TRAITS(ODB_IS_QUANTISED),
                  ODB_FUSES(" Mul ", " MatMulNBits Mul Sigmoid Swish SimplifiedLayerNormalization "
                                     "SkipSimplifiedLayerNormalization "),
                  ODB_WORK(fused_bits)),
    ODB_MICROSOFT("MatMulNBitsQkv", ODB_ARITY(1, 12), ODB_ARITY(1, 4), FUSED_FLAGS, fused_qkv_attrs,
                  fused_qkv_infer, fused_qkv_run, FUSED_FLOATS, ODB_AS(0), ODB_AS(0), FUSED_BYTES,
                  ODB_AS(0), ODB_AS(0), ODB_AS(3), ODB_AS(0), ODB_AS(0), ODB_AS(3), ODB_AS(0),
                  ODB_AS(0),
                  ODB_NAMES("A,skip,norm_scale,q_B,q_scales,q_bias,k_B,k_scales,k_bias,v_B,"
                            "v_scales,v_bias",
                            "Q,K,V,input_skip_bias_sum"),
                  ODB_HALVES(1, 1), ODB_TRAITS(ODB_IS_QUANTISED),
                  ODB_FUSES(" MatMulNBits ", " MatMulNBits SimplifiedLayerNormalization "
                                             "SkipSimplifiedLayerNormalization "),
                  ODB_WORK(fused_bits)),
    ODB_MICROSOFT("MatMulBlockQuantizedFp4Weight", ODB_ARITY(4, 6), ODB_ARITY(1, 1), FUSED_FLAGS,
                  fused_fp4_attrs, fused_fp4_infer, fused_fp4_run, ODB_T_HALVES, FUSED_BYTES,
                  ODB_AS(1), FUSED_F32, ODB_AS(3), ODB_AS(0),
                  ODB_NAMES("A,B,weight_scale,weight_scale_2,input_scale,bias", "Y"),
                  ODB_TRAITS(ODB_IS_QUANTISED), ODB_WORK(matmul, 0, 1, 5)),
    ODB_MICROSOFT("MatMulBlockQuantizedFp8Weight", ODB_ARITY(3, 5), ODB_ARITY(1, 1),
                  FUSED_FLAGS | ODB_OP_BOUNDARY, fused_fp8_attrs, fused_fp8_infer, fused_fp8_run,
                  ODB_T_HALVES, ODB_BIT(ODB_F8E4M3FN), FUSED_F32, ODB_AS(2), ODB_AS(0),
                  ODB_NAMES("A,B,b_scale,a_scale,bias", "Y"), ODB_TRAITS(ODB_IS_QUANTISED),
                  ODB_WORK(matmul, 0, 1, 4)),
    {.name = NULL},
};
