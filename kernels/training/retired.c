/* SPDX-License-Identifier: MIT
 *
 * Operators that ai.onnx had as experiments and took back, and that models of their time have; most
 * are run by ONNX Runtime to this day, FC by WinML and Caffe2. All are chains of other operators
 * and accumulate as these do.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/core/row.h"

/* alpha f(beta x) and its kin: attributes as numbers of x's type. */
static const struct odb_tensor *retired_number(struct odb_chain *c, const char *name,
                                               double fallback)
{
    return odb_chain_number(c, c->k->in[0]->dtype, odb_kern_float(c->k, name, fallback));
}

static void retired_affine(struct odb_chain *c)
{
    const struct odb_tensor *alpha = retired_number(c, "alpha", 1);
    const struct odb_tensor *y = ODB_STEP(c, "Mul", 14, (c->k->in[0], alpha));
    odb_chain_give(c, 0, ODB_STEP(c, "Add", 14, (y, retired_number(c, "beta", 0))));
}
ODB_CHAIN(retired_affine)

static void retired_scale(struct odb_chain *c)
{
    const struct odb_tensor *scale = retired_number(c, "scale", 1);
    odb_chain_give(c, 0, ODB_STEP(c, "Mul", 14, (c->k->in[0], scale)));
}
ODB_CHAIN(retired_scale)

/* alpha f(beta x), f an operator. */
static void retired_scaled(struct odb_chain *c, const char *op, int opset)
{
    if (!odb_kern_has(c->k, "alpha") || !odb_kern_has(c->k, "beta"))
        ODB_CHAIN_UNSUPPORTED(c, "%s without alpha and beta", c->k->op->name);
    const struct odb_tensor *beta = retired_number(c, "beta", 1);
    const struct odb_tensor *y =
        ODB_STEP(c, op, opset, (ODB_STEP(c, "Mul", 14, (c->k->in[0], beta))));
    odb_chain_give(c, 0, ODB_STEP(c, "Mul", 14, (y, retired_number(c, "alpha", 1))));
}

static void retired_tanh(struct odb_chain *c)
{
    retired_scaled(c, "Tanh", 13);
}
ODB_CHAIN(retired_tanh)

static void retired_softplus(struct odb_chain *c)
{
    retired_scaled(c, "Softplus", 1);
}
ODB_CHAIN(retired_softplus)

/* scale x + bias of the channel */
static void retired_image(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0];
    size_t n;
    const odb_f32 *bias = odb_kern_floats(c->k, "bias", &n);
    if (x->rank != 4 || (int64_t)n != x->dims[1])
        ODB_CHAIN_FAIL(c, "%zu numbers in bias for an image of rank %d", n, x->rank);
    struct odb_tensor *add = odb_chain_new(c, x->dtype, 3, (const int64_t[]){(int64_t)n, 1, 1});
    for (size_t i = 0; add && !c->infer && i < n; i++)
        odb_store_f64(add->dtype, add->data, i, (double)bias[i]);
    const struct odb_tensor *y = ODB_STEP(c, "Mul", 14, (x, retired_number(c, "scale", 1)));
    odb_chain_give(c, 0, ODB_STEP(c, "Add", 14, (y, add)));
}
ODB_CHAIN(retired_image)

/* border: left, top, right, bottom; scale, where given: height and width of what stays. */
static void retired_crop(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0];
    size_t n, n_size;
    const int64_t *border = odb_kern_ints(c->k, "border", &n);
    const int64_t *size = odb_kern_ints(c->k, "scale", &n_size);
    if (x->rank != 4 || n != 4 || (n_size && n_size != 2)) {
        ODB_CHAIN_FAIL(c, "Crop takes 4 dimensions, 4 borders and 2 sizes");
        return;
    }
    int64_t from[2] = {border[1], border[0]}, to[2], axes[2] = {2, 3};
    for (int d = 0; d < 2; d++) {
        bool over = n_size ? __builtin_add_overflow(from[d], size[d], &to[d])
                           : __builtin_sub_overflow(x->dims[d + 2], border[3 - d], &to[d]);
        if (over || from[d] < 0 || to[d] <= from[d] || to[d] > x->dims[d + 2])
            ODB_CHAIN_FAIL(c, "from %lld to %lld of a dimension of %lld", (long long)from[d],
                           (long long)to[d], (long long)x->dims[d + 2]);
    }
    odb_chain_give(c, 0,
                   ODB_STEP(c, "Slice", 13,
                            (x, odb_chain_list(c, from, 2), odb_chain_list(c, to, 2),
                             odb_chain_list(c, axes, 2))));
}
ODB_CHAIN(retired_crop)

/* x of [M, K] times the transpose of w of [N, K], plus b of [N]: K are all dimensions from `axis`
 * (of w: axis_w) on; those of x in front of it stay. */
static void retired_fc(struct odb_chain *c)
{
    const struct odb_tensor *const *in = c->k->in;
    int64_t axis = odb_kern_int(c->k, "axis", 1), axis_w = odb_kern_int(c->k, "axis_w", 1);
    int64_t dims[ODB_MAX_RANK + 1];
    axis += axis < 0 ? in[0]->rank : 0;
    axis_w += axis_w < 0 ? in[1]->rank : 0;
    if (axis < 0 || axis >= in[0]->rank || axis_w < 0 || axis_w >= in[1]->rank) {
        ODB_CHAIN_FAIL(c, "axis %lld or axis_w %lld is out of range", (long long)axis,
                       (long long)axis_w);
        return;
    }
    const struct odb_tensor *x =
        ODB_STEP_WITH(c, "Flatten", 13, (in[0]), ODB_ATTRS(ODB_ATTR_I("axis", axis)));
    const struct odb_tensor *w =
        ODB_STEP_WITH(c, "Flatten", 13, (in[1]), ODB_ATTRS(ODB_ATTR_I("axis", axis_w)));
    const struct odb_tensor *y =
        ODB_STEP_WITH(c, "Gemm", 13, (x, w, in[2]), ODB_ATTRS(ODB_ATTR_I("transB", 1)));
    if (!odb_chain_ok(c))
        return;
    memcpy(dims, in[0]->dims, (size_t)axis * sizeof *dims);
    dims[axis] = w->dims[0];
    odb_chain_give(c, 0,
                   ODB_STEP_WITH(c, "Reshape", 14, (y, odb_chain_list(c, dims, (int)axis + 1)),
                                 ODB_ATTRS(ODB_ATTR_I("allowzero", 1))));
}
ODB_CHAIN(retired_fc)

static void retired_slice(struct odb_chain *c)
{
    const struct odb_tensor *const *in = c->k->in;
    odb_chain_give(c, 0, ODB_STEP(c, "Slice", 10, (in[0], in[1], in[2], odb_kern_in(c->k, 3))));
}
ODB_CHAIN(retired_slice)

/* Over each channel, or all of them, of the whole batch. */
static void retired_mvn(struct odb_chain *c)
{
    static const int64_t each[] = {0, 2, 3}, all[] = {0, 1, 2, 3};
    const struct odb_tensor *x = c->k->in[0], *y;
    bool across = odb_kern_int(c->k, "across_channels", 0) != 0;
    struct odb_attrs axes = ODB_ATTRS(ODB_ATTR_LIST("axes", across ? all : each, across ? 4 : 3));
    if (x->rank != 4)
        ODB_CHAIN_FAIL(c, "%s takes 4 dimensions, not %d", c->k->op->name, x->rank);
    if (odb_kern_int(c->k, "normalize_variance", 1)) {
        y = ODB_STEP_WITH(c, "MeanVarianceNormalization", 13, (x), axes);
    } else {
        y = ODB_STEP_WITH(c, "ReduceMean", 13, (x), axes);
        y = ODB_STEP(c, "Sub", 14, (x, y));
    }
    odb_chain_give(c, 0, y);
}
ODB_CHAIN(retired_mvn)

/* The shape that fills ask for: an attribute, or an input's (its values with input_as_shape),
 * and what extra_shape adds. */
static bool retired_shape(struct odb_chain *c, int64_t *dims, int *rank)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *x = odb_kern_in(k, 0);
    size_t n, n_extra;
    const int64_t *shape = odb_kern_ints(k, "shape", &n);
    const int64_t *extra = odb_kern_ints(k, "extra_shape", &n_extra);
    if (x && odb_kern_int(k, "input_as_shape", 0)) {
        c->status = odb_kern_values(k, 0, dims, ODB_MAX_RANK, &n);
    } else {
        shape = x ? x->dims : shape;
        n = x ? (size_t)x->rank : n;
        if (n <= ODB_MAX_RANK && n)
            memcpy(dims, shape, n * sizeof *dims);
    }
    if (n + n_extra > ODB_MAX_RANK)
        ODB_CHAIN_FAIL(c, "a result of %zu dimensions", n + n_extra);
    else if (n_extra)
        memcpy(dims + n, extra, n_extra * sizeof *dims);
    *rank = (int)(n + n_extra);
    for (int d = 0; d < *rank && odb_chain_ok(c); d++)
        if (dims[d] < 0)
            ODB_CHAIN_FAIL(c, "dimension %d of the result would be %lld", d, (long long)dims[d]);
    return odb_chain_ok(c);
}

static void retired_given_fill(struct odb_chain *c)
{
    int64_t dims[ODB_MAX_RANK];
    size_t n;
    int rank;
    const odb_f32 *values = odb_kern_floats(c->k, "values", &n);
    if (!retired_shape(c, dims, &rank))
        return;
    if (odb_dims_product(dims, 0, rank) != n)
        ODB_CHAIN_FAIL(c, "%zu values for %zu elements", n, odb_dims_product(dims, 0, rank));
    struct odb_tensor *y = odb_chain_new(c, c->k->carry_f64 ? ODB_F64 : ODB_F32, rank, dims);
    for (size_t i = 0; y && !c->infer && i < n; i++)
        odb_store_f64(y->dtype, y->data, i, (double)values[i]);
    odb_chain_give(c, 0, y);
}
ODB_CHAIN(retired_given_fill)

static void retired_constant_fill(struct odb_chain *c)
{
    int64_t dims[ODB_MAX_RANK], type = odb_kern_int(c->k, "dtype", ODB_F32);
    int rank;
    if (type != ODB_F32 && type != ODB_I32 && type != ODB_I64 && type != ODB_BOOL)
        ODB_CHAIN_FAIL(c, "dtype %lld is no type of ConstantFill", (long long)type);
    if (!odb_chain_ok(c) || !retired_shape(c, dims, &rank))
        return;
    const struct odb_tensor *value =
        odb_chain_number(c, (enum odb_dtype)type, odb_kern_float(c->k, "value", 0));
    odb_chain_give(c, 0, ODB_STEP(c, "Expand", 13, (value, odb_chain_list(c, dims, rank))));
}
ODB_CHAIN(retired_constant_fill)

/* --- the table -------------------------------------------------------------------------------- */

#define RETIRED_FLOAT(name, def, required)                                                         \
    {                                                                                              \
        name, ODB_ATTR_FLOAT, def, required                                                        \
    }
#define RETIRED_INT(name, def)                                                                     \
    {                                                                                              \
        name, ODB_ATTR_INT, def, false                                                             \
    }
static const struct odb_attr_spec retired_affine_attrs[] = {
    RETIRED_FLOAT("alpha", "1", false), RETIRED_FLOAT("beta", "0", false), {NULL}};
static const struct odb_attr_spec retired_scaled_attrs[] = {
    RETIRED_FLOAT("alpha", NULL, false), RETIRED_FLOAT("beta", NULL, false), {NULL}};
static const struct odb_attr_spec retired_scale_attrs[] = {RETIRED_FLOAT("scale", "1", false),
                                                           {NULL}};
static const struct odb_attr_spec retired_image_attrs[] = {
    {"bias", ODB_ATTR_FLOATS, NULL, false}, RETIRED_FLOAT("scale", "1", false), {NULL}};
static const struct odb_attr_spec retired_crop_attrs[] = {
    {"border", ODB_ATTR_INTS, NULL, false}, {"scale", ODB_ATTR_INTS, NULL, false}, {NULL}};
static const struct odb_attr_spec retired_mvn_attrs[] = {
    RETIRED_INT("across_channels", "0"), RETIRED_INT("normalize_variance", "1"), {NULL}};
static const struct odb_attr_spec retired_fc_attrs[] = {
    RETIRED_INT("axis", "1"), RETIRED_INT("axis_w", "1"), {NULL}};
#define RETIRED_SHAPE                                                                              \
    {"extra_shape", ODB_ATTR_INTS, NULL, false}, RETIRED_INT("input_as_shape", "0"),               \
    {                                                                                              \
        "shape", ODB_ATTR_INTS, NULL, false                                                        \
    }
static const struct odb_attr_spec retired_given_attrs[] = {
    RETIRED_SHAPE, {"values", ODB_ATTR_FLOATS, NULL, false}, {NULL}};
static const struct odb_attr_spec retired_fill_attrs[] = {
    RETIRED_SHAPE, RETIRED_INT("dtype", "1"), RETIRED_FLOAT("value", "0", false), {NULL}};

#define RETIRED_HALF (ODB_T_FLOAT & ~ODB_BIT(ODB_BF16))
#define RETIRED_ROW(name, since, least, most, flags, attrs, fn, ...)                               \
    ODB_ONNX(name, since, ODB_ARITY(least, most), ODB_ARITY(1, 1), flags, attrs, fn##_infer,       \
             fn##_run, __VA_ARGS__)

const struct odb_op odb_ops_retired[] = {
    RETIRED_ROW("Affine", 1, 1, 1, ODB_OP_REAL, retired_affine_attrs, retired_affine, RETIRED_HALF,
                ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("Scale", 1, 1, 1, ODB_OP_REAL, retired_scale_attrs, retired_scale, RETIRED_HALF,
                ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("ScaledTanh", 1, 1, 1, ODB_OP_REAL, retired_scaled_attrs, retired_tanh,
                RETIRED_HALF, ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("ParametricSoftplus", 1, 1, 1, ODB_OP_REAL, retired_scaled_attrs, retired_softplus,
                RETIRED_HALF, ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("ImageScaler", 1, 1, 1, ODB_OP_REAL, retired_image_attrs, retired_image,
                RETIRED_HALF, ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("Crop", 1, 1, 1, ODB_OP_EXACT, retired_crop_attrs, retired_crop, RETIRED_HALF,
                ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("DynamicSlice", 1, 3, 4, ODB_OP_EXACT, NULL, retired_slice, ODB_T_ANY, ODB_T_INDEX,
                ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("MeanVarianceNormalization", 1, 1, 1, ODB_OP_REAL, retired_mvn_attrs, retired_mvn,
                RETIRED_HALF, ODB_HALVES(9, 13), ODB_TRAITS(ODB_IS_NONSTANDARD), ODB_STANDARD(9)),
    RETIRED_ROW("FC", 1, 3, 3, ODB_OP_REAL, retired_fc_attrs, retired_fc, RETIRED_HALF, ODB_AS(0),
                ODB_AS(0), ODB_NAMES("X,W,B", "Y"), ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("GivenTensorFill", 1, 0, 1, ODB_OP_EXACT, retired_given_attrs, retired_given_fill,
                ODB_T_ANY, ODB_TRAITS(ODB_IS_NONSTANDARD)),
    RETIRED_ROW("ConstantFill", 1, 0, 1, ODB_OP_EXACT, retired_fill_attrs, retired_constant_fill,
                ODB_T_ANY, ODB_TRAITS(ODB_IS_NONSTANDARD)),
    {.name = NULL},
};
