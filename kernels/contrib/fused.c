/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft that are an ai.onnx operator with something before or after it: an
 * activation, a sum, transposed operands, another layout. ONNX Runtime's optimiser makes them. They
 * accumulate as the operators do that they are made of.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

/* --- activations ------------------------------------------------------------------------------ */

/* What an activation is called in ONNX, and which of alpha, beta, gamma it takes, in the order in
 * which FusedConv lists them in activation_params. */
static const struct fused_activation {
    const char *name;
    int opset;
    const char *params[3];
} fused_activations[] = {
    {"Relu", 14, {NULL}},
    {"Tanh", 13, {NULL}},
    {"Sigmoid", 13, {NULL}},
    {"Softplus", 1, {NULL}},
    {"Softsign", 1, {NULL}},
    {"HardSwish", 14, {NULL}},
    {"LeakyRelu", 16, {"alpha"}},
    {"ThresholdedRelu", 10, {"alpha"}},
    {"Elu", 6, {"alpha"}},
    {"Celu", 12, {"alpha"}},
    {"HardSigmoid", 6, {"alpha", "beta"}},
    {"Selu", 6, {"alpha", "gamma"}},
    {"Clip", 13, {"min", "max"}}, /* inputs there */
    {"Softmax", 13, {NULL}},
    {"LogSoftmax", 13, {NULL}},
};

static const struct fused_activation *fused_find(struct odb_chain *c)
{
    const char *name = odb_kern_string(c->k, "activation", "");
    for (size_t i = 0; i < ODB_COUNT(fused_activations); i++)
        if (strcmp(fused_activations[i].name, name) == 0)
            return &fused_activations[i];
    ODB_CHAIN_UNSUPPORTED(c, "activation \"%s\"", name);
    return NULL;
}

static const struct odb_tensor *fused_apply(struct odb_chain *c, const struct odb_tensor *y,
                                            const struct fused_activation *a,
                                            const struct odb_attr *attrs, size_t n)
{
    if (!odb_chain_ok(c))
        return NULL;
    if (strcmp(a->name, "Clip") != 0)
        return ODB_STEP_WITH(c, a->name, a->opset, (y), {attrs, n});
    const struct odb_tensor *limit[2] = {NULL, NULL};
    for (size_t i = 0; i < n; i++)
        limit[strcmp(attrs[i].name, "max") == 0] = odb_chain_number(c, y->dtype, attrs[i].f);
    return ODB_STEP(c, "Clip", 13, (y, limit[0], limit[1]));
}

/* y through the activation of a convolution, whose numbers are in activation_params. */
static const struct odb_tensor *fused_activate(struct odb_chain *c, const struct odb_tensor *y)
{
    struct odb_attr attrs[3] = {{.name = NULL}};
    size_t given, n = 0;
    const odb_f32 *params = odb_kern_floats(c->k, "activation_params", &given);
    if (!odb_chain_ok(c) || *odb_kern_string(c->k, "activation", "") == '\0')
        return y;
    const struct fused_activation *a = fused_find(c);
    for (; a && n < ODB_COUNT(attrs) && n < given && a->params[n]; n++)
        attrs[n] = (struct odb_attr)ODB_ATTR_F(a->params[n], params[n]);
    return fused_apply(c, y, a, attrs, n);
}

/* The same for matrix products: activation_alpha, _beta, _gamma, _axis. */
static const struct odb_tensor *fused_activate_product(struct odb_chain *c,
                                                       const struct odb_tensor *y)
{
    struct odb_attr attrs[4] = {{.name = NULL}};
    size_t n = 0;
    if (!odb_chain_ok(c) || *odb_kern_string(c->k, "activation", "") == '\0')
        return y;
    const struct fused_activation *a = fused_find(c);
    for (size_t i = 0; i < c->k->attrs.n; i++) {
        const struct odb_attr *attr = &c->k->attrs.items[i];
        const char *name = attr->name + strlen("activation_");
        if (strncmp(attr->name, "activation_", strlen("activation_")) != 0)
            continue;
        for (size_t p = 0; a && p < ODB_COUNT(a->params) && a->params[p]; p++)
            if (strcmp(name, a->params[p]) == 0)
                attrs[n++] = (struct odb_attr)ODB_ATTR_F(name, attr->f);
        if (strcmp(name, "axis") == 0)
            attrs[n++] = (struct odb_attr)ODB_ATTR_I("axis", attr->i);
        if (n == ODB_COUNT(attrs))
            break;
    }
    return fused_apply(c, y, a, attrs, n);
}

/* --- convolutions and pools ------------------------------------------------------------------- */

/* Conv, then the sum with input 3, then the activation. last: channels are the last dimension of
 * everything but the weights. */
static void fused_convolve(struct odb_chain *c, bool last)
{
    const struct odb_tensor *x = c->k->in[0], *z = odb_kern_in(c->k, 3);
    if (last)
        x = odb_chain_channels_first(c, x);
    const struct odb_tensor *y =
        ODB_STEP_WITH(c, "Conv", 11, (x, c->k->in[1], odb_kern_in(c->k, 2)), c->k->attrs);
    if (last)
        y = odb_chain_channels_last(c, y);
    if (z && odb_chain_ok(c) && !odb_tensor_same_shape(y, z))
        ODB_CHAIN_FAIL(c, "what is added has another shape than the result");
    if (z)
        y = ODB_STEP(c, "Add", 14, (y, z));
    odb_chain_give(c, 0, fused_activate(c, y));
}

static void fused_conv(struct odb_chain *c)
{
    fused_convolve(c, false);
}
ODB_CHAIN(fused_conv)

static void fused_conv_last(struct odb_chain *c)
{
    fused_convolve(c, true);
}
ODB_CHAIN(fused_conv_last)

/* Weights come as (M, kernel…, C/group), as tools that make this operator write them, unless only
 * Conv's (M, C/group, kernel…) fits. */
static void fused_nhwc_conv(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0], *w = c->k->in[1];
    if (x->rank < 3 || w->rank != x->rank) {
        ODB_CHAIN_FAIL(c, "input of rank %d and weights of rank %d", x->rank, w->rank);
        return;
    }
    int64_t group = odb_kern_int(c->k, "group", 1), depth = x->dims[x->rank - 1];
    if (group > 0 && depth % group == 0 && w->dims[w->rank - 1] == depth / group)
        w = odb_chain_channels_first(c, w);
    const struct odb_tensor *y = ODB_STEP_WITH(
        c, "Conv", 11, (odb_chain_channels_first(c, x), w, odb_kern_in(c->k, 2)), c->k->attrs);
    odb_chain_give(c, 0, odb_chain_channels_last(c, y));
}
ODB_CHAIN(fused_nhwc_conv)

static void fused_nhwc_max_pool(struct odb_chain *c)
{
    const struct odb_tensor *y =
        ODB_STEP_WITH(c, "MaxPool", 12, (odb_chain_channels_first(c, c->k->in[0])), c->k->attrs);
    odb_chain_give(c, 0, odb_chain_channels_last(c, y));
}
ODB_CHAIN(fused_nhwc_max_pool)

/* ConvTranspose whose pads are input 2. */
static void fused_conv_transpose(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    int64_t pads[2 * ODB_MAX_RANK];
    size_t n, given = k->attrs.n;
    c->status = odb_kern_values(k, 2, pads, ODB_COUNT(pads), &n);
    struct odb_attr *attrs = odb_new_n(struct odb_attr, given + 1);
    if (given)
        memcpy(attrs, k->attrs.items, given * sizeof *attrs);
    if (n)
        attrs[given++] = (struct odb_attr)ODB_ATTR_LIST("pads", pads, n);
    odb_chain_give(c, 0,
                   ODB_STEP_WITH(c, "ConvTranspose", 11, (k->in[0], k->in[1], odb_kern_in(k, 3)),
                                 {attrs, given}));
    free(attrs);
}
ODB_CHAIN(fused_conv_transpose)

/* --- matrix products -------------------------------------------------------------------------- */

static void fused_gemm(struct odb_chain *c)
{
    const struct odb_tensor *y =
        ODB_STEP_WITH(c, "Gemm", 13, (c->k->in[0], c->k->in[1], odb_kern_in(c->k, 2)), c->k->attrs);
    odb_chain_give(c, 0, fused_activate_product(c, y));
}
ODB_CHAIN(fused_gemm)

/* An operand with its last two dimensions swapped (trans), after its first dimension was put
 * before the last (batch). Vectors stay as they are. */
static const struct odb_tensor *fused_operand(struct odb_chain *c, const struct odb_tensor *t,
                                              bool trans, bool batch)
{
    int64_t perm[ODB_MAX_RANK];
    int last = t->rank - 1;
    if (last < 1 || !(trans || batch))
        return t;
    for (int d = 0; d <= last; d++)
        perm[d] = batch && d < last ? (d + 1) % last : d;
    if (trans) {
        int64_t swap = perm[last];
        perm[last] = perm[last - 1];
        perm[last - 1] = swap;
    }
    return odb_chain_permute(c, t, perm);
}

/* alpha op(a) op(b) */
static const struct odb_tensor *fused_product(struct odb_chain *c, const struct odb_tensor *a,
                                              const struct odb_tensor *b)
{
    struct odb_kern *k = c->k;
    double alpha = odb_kern_float(k, "alpha", 1);
    a = fused_operand(c, a, odb_kern_int(k, "transA", 0), odb_kern_int(k, "transBatchA", 0));
    b = fused_operand(c, b, odb_kern_int(k, "transB", 0), odb_kern_int(k, "transBatchB", 0));
    const struct odb_tensor *y = ODB_STEP(c, "MatMul", 13, (a, b));
    if (!odb_chain_ok(c) || alpha == 1)
        return y;
    return ODB_STEP(c, "Mul", 14, (y, odb_chain_number(c, y->dtype, alpha)));
}

static void fused_matmul(struct odb_chain *c)
{
    odb_chain_give(c, 0, fused_product(c, c->k->in[0], c->k->in[1]));
}
ODB_CHAIN(fused_matmul)

static void fused_matmul_activation(struct odb_chain *c)
{
    const struct odb_tensor *y = fused_product(c, c->k->in[0], c->k->in[1]);
    odb_chain_give(c, 0, fused_activate_product(c, y));
}
ODB_CHAIN(fused_matmul_activation)

static void fused_gelu(struct odb_chain *c)
{
    const struct odb_tensor *y = ODB_STEP(c, "MatMul", 13, (c->k->in[0], c->k->in[1]));
    odb_chain_give(c, 0, ODB_STEP(c, "com.microsoft::FastGelu", 1, (y, odb_kern_in(c->k, 2))));
}
ODB_CHAIN(fused_gelu)

/* A sparse matrix with its zeros: indices count elements, or are pairs of row and column. */
static const struct odb_tensor *fused_dense(struct odb_chain *c, const struct odb_tensor *t)
{
    const struct odb_tensor *values = t->items[0], *indices = t->items[1];
    struct odb_tensor *dense = odb_chain_new(c, values->dtype, t->rank, t->dims);
    if (!dense || c->infer)
        return dense;
    size_t size = odb_dtype_info(values->dtype)->bits / 8;
    bool pairs = indices->rank == 2;
    if (t->rank != 2 || (pairs && indices->dims[1] != 2) ||
        indices->count != values->count * (pairs ? 2 : 1)) {
        ODB_CHAIN_UNSUPPORTED(c, "a sparse operand of rank %d with %zu indices for %zu values",
                              t->rank, indices->count, values->count);
        return NULL;
    }
    memset(dense->data, 0, dense->bytes);
    for (size_t i = 0; i < values->count; i++) {
        int64_t at = odb_tensor_i64(indices, pairs ? 2 * i : i);
        if (pairs)
            at = at * t->dims[1] + odb_tensor_i64(indices, 2 * i + 1);
        if (at < 0 || (size_t)at >= dense->count) {
            ODB_CHAIN_FAIL(c, "index %lld of the sparse operand is out of range", (long long)at);
            return NULL;
        }
        memcpy((char *)dense->data + (size_t)at * size, (char *)values->data + i * size, size);
    }
    return dense;
}

static void fused_sparse_matmul(struct odb_chain *c)
{
    const struct odb_tensor *a = c->k->in[0];
    if (a->kind != ODB_SPARSE)
        ODB_CHAIN_FAIL(c, "input 0 of %s is not sparse", c->k->op->name);
    else if ((a = fused_dense(c, a)))
        odb_chain_give(c, 0, fused_product(c, a, c->k->in[1]));
}
ODB_CHAIN(fused_sparse_matmul)

/* --- the table -------------------------------------------------------------------------------- */

#define FUSED_WINDOW                                                                               \
    ODB_OPTIONAL_ATTR("auto_pad", STRING, "NOTSET"), ODB_OPTIONAL_ATTR("dilations", INTS, NULL),   \
        ODB_OPTIONAL_ATTR("group", INT, "1"), ODB_OPTIONAL_ATTR("kernel_shape", INTS, NULL),       \
        ODB_OPTIONAL_ATTR("strides", INTS, NULL)

static const struct odb_attr_spec fused_conv_attrs[] = {
    {"activation", ODB_ATTR_STRING, NULL, false},
    {"activation_params", ODB_ATTR_FLOATS, NULL, false},
    {"pads", ODB_ATTR_INTS, NULL, false},
    FUSED_WINDOW,
    {NULL}};
static const struct odb_attr_spec fused_nhwc_attrs[] = {
    {"pads", ODB_ATTR_INTS, NULL, false}, FUSED_WINDOW, {NULL}};
static const struct odb_attr_spec fused_spread_attrs[] = {
    {"output_padding", ODB_ATTR_INTS, NULL, false}, FUSED_WINDOW, {NULL}};
static const struct odb_attr_spec fused_pool_attrs[] = {
    {"auto_pad", ODB_ATTR_STRING, "NOTSET", false},
    {"ceil_mode", ODB_ATTR_INT, "0", false},
    {"dilations", ODB_ATTR_INTS, NULL, false},
    {"kernel_shape", ODB_ATTR_INTS, NULL, true},
    {"pads", ODB_ATTR_INTS, NULL, false},
    {"strides", ODB_ATTR_INTS, NULL, false},
    {NULL}};
#define FUSED_NUMBERS                                                                              \
    ODB_OPTIONAL_ATTR("activation_alpha", FLOAT, NULL),                                            \
        ODB_OPTIONAL_ATTR("activation_beta", FLOAT, NULL),                                         \
        ODB_OPTIONAL_ATTR("activation_gamma", FLOAT, NULL)
#define FUSED_OPERANDS                                                                             \
    ODB_OPTIONAL_ATTR("alpha", FLOAT, "1"), ODB_OPTIONAL_ATTR("transA", INT, "0"),                 \
        ODB_OPTIONAL_ATTR("transB", INT, "0")
#define FUSED_BATCHES                                                                              \
    ODB_OPTIONAL_ATTR("transBatchA", INT, "0"), ODB_OPTIONAL_ATTR("transBatchB", INT, "0")
static const struct odb_attr_spec fused_gemm_attrs[] = {
    {"activation", ODB_ATTR_STRING, NULL, false},
    FUSED_NUMBERS,
    FUSED_OPERANDS,
    {"beta", ODB_ATTR_FLOAT, "1", false},
    {NULL}};
static const struct odb_attr_spec fused_product_attrs[] = {FUSED_OPERANDS, FUSED_BATCHES, {NULL}};
static const struct odb_attr_spec fused_transpose_attrs[] = {FUSED_OPERANDS, {NULL}};
static const struct odb_attr_spec fused_matmul_activation_attrs[] = {
    {"activation", ODB_ATTR_STRING, NULL, true},
    FUSED_NUMBERS,
    {"activation_axis", ODB_ATTR_INT, NULL, false},
    FUSED_OPERANDS,
    FUSED_BATCHES,
    {NULL}};

#define FUSED_WIDE (ODB_BIT(ODB_I32) | ODB_BIT(ODB_U32) | ODB_BIT(ODB_I64) | ODB_BIT(ODB_U64))
#define FUSED_REAL (ODB_OP_REAL | ODB_OP_MATMUL)
#define FUSED_ROW(name, least, most, flags, mask, attrs, fn, ...)                                  \
    ODB_MICROSOFT(name, ODB_ARITY(least, most), ODB_ARITY(1, 1), flags, attrs, fn##_infer,         \
                  fn##_run, mask, __VA_ARGS__)

const struct odb_op odb_ops_fused[] = {
    FUSED_ROW("FusedConv", 2, 4, FUSED_REAL, ODB_T_FLOAT, fused_conv_attrs, fused_conv,
              ODB_NAMES("X,W,B,Z", "Y"), ODB_HALVES(1, 0), ODB_WORK(conv, 0, 1, 2),
              ODB_HEAD("Conv"),
              ODB_FUSES(ODB_WORDS_ACTIVATIONS "Add ",
                        ODB_WORDS_ACTIVATIONS "Conv Add BatchNormalization Mul ")),
    FUSED_ROW("NhwcFusedConv", 2, 4, FUSED_REAL, ODB_T_FLOAT, fused_conv_attrs, fused_conv_last,
              ODB_NAMES("X,W,B,Z", "Y")),
    FUSED_ROW("NhwcConv", 2, 3, FUSED_REAL, ODB_T_FLOAT, fused_nhwc_attrs, fused_nhwc_conv,
              ODB_NAMES("X,W,B", "Y")),
    FUSED_ROW("NhwcMaxPool", 1, 1, ODB_OP_EXACT | ODB_OP_REAL,
              ODB_T_FLOAT | ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8), fused_pool_attrs,
              fused_nhwc_max_pool, ODB_NAMES("x", "y")),
    ODB_MICROSOFT("ConvTransposeWithDynamicPads", ODB_ARITY(2, 4), ODB_ARITY(1, 1), FUSED_REAL,
                  fused_spread_attrs, fused_conv_transpose_infer, fused_conv_transpose_run,
                  ODB_T_FLOAT, ODB_AS(0), ODB_BIT(ODB_I64), ODB_AS(0), ODB_NAMES("X,W,Pads,B", "Y"),
                  ODB_WORK(conv_transpose, 0, 1, 3)),
    FUSED_ROW("FusedGemm", 2, 3, FUSED_REAL, ODB_T_FLOAT | FUSED_WIDE, fused_gemm_attrs, fused_gemm,
              ODB_NAMES("A,B,C", "Y"), ODB_HALVES(1, 0), ODB_WORK(matmul, 0, 1, 2),
              ODB_HEAD("MatMul"),
              ODB_FUSES(ODB_WORDS_ACTIVATIONS, ODB_WORDS_ACTIVATIONS "MatMul Gemm Add ")),
    FUSED_ROW("FusedMatMul", 2, 2, FUSED_REAL, ODB_T_FLOAT, fused_product_attrs, fused_matmul,
              ODB_NAMES("A,B", "Y"), ODB_HALVES(1, 1), ODB_WORK(matmul, 0, 1), ODB_HEAD("MatMul"),
              ODB_FUSES(" MatMul Mul Div ", " MatMul Transpose Mul Div ")),
    FUSED_ROW("TransposeMatMul", 2, 2, FUSED_REAL, ODB_T_FLOAT, fused_transpose_attrs, fused_matmul,
              ODB_NAMES("A,B", "Y"), ODB_WORK(matmul, 0, 1), ODB_HEAD("MatMul")),
    FUSED_ROW("FusedMatMulActivation", 2, 2, FUSED_REAL, ODB_T_FLOAT, fused_matmul_activation_attrs,
              fused_matmul_activation, ODB_NAMES("A,B", "Y")),
    FUSED_ROW("GemmFastGelu", 2, 3, FUSED_REAL, ODB_T_FLOAT, NULL, fused_gelu,
              ODB_NAMES("X,W,bias", "Y")),
    ODB_MICROSOFT("SparseToDenseMatMul", ODB_ARITY(2, 2), ODB_ARITY(1, 1), FUSED_REAL,
                  fused_transpose_attrs, fused_sparse_matmul_infer, fused_sparse_matmul_run,
                  ODB_T_SPARSE | ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64) | FUSED_WIDE,
                  ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64) | FUSED_WIDE, ODB_NAMES("A,B", "Y")),
    {.name = NULL},
};
