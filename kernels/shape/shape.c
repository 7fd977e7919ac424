/* SPDX-License-Identifier: MIT
 *
 * Operators that change how a tensor is described and leave its bytes alone: their outputs alias
 * their inputs. Shape and Size, which read the description, stand with them.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/core/kern.h"

/* Output 0 is input 0 in another shape. */
static enum odb_status shape_alias(struct odb_kern *k, int rank, const int64_t *dims)
{
    ODB_TRY(odb_kern_outline(k, 0, k->in[0]->dtype, rank, dims));
    k->outline[0].alias = 1;
    return ODB_OK;
}

/* For operators whose outputs all alias: nothing is left to do. */
static enum odb_status shape_run_nothing(struct odb_kern *k)
{
    return ODB_OK;
}

static enum odb_status shape_infer_identity(struct odb_kern *k)
{
    return shape_alias(k, k->in[0]->rank, k->in[0]->dims);
}

/* --- Reshape ---------------------------------------------------------------------------------- */

static enum odb_status shape_mismatch(struct odb_kern *k, int n, const int64_t *dims)
{
    struct odb_tensor want = {.rank = n};
    char from[200], to[200];

    for (int i = 0; i < n; i++)
        want.dims[i] = dims[i];
    return ODB_KERN_FAIL(k, "%s with %zu elements cannot be reshaped to %s",
                         odb_shape_text(k->in[0], from, sizeof from), k->in[0]->count,
                         odb_shape_text(&want, to, sizeof to));
}

/* The target shape as written: an input since opset 5, an attribute before. */
static enum odb_status shape_target(struct odb_kern *k, int64_t *dims, size_t *n)
{
    if (k->op->since >= 5)
        return odb_kern_values(k, 1, dims, ODB_MAX_RANK, n);
    const int64_t *ints = odb_kern_ints(k, "shape", n);
    if (*n > ODB_MAX_RANK)
        return ODB_KERN_FAIL(k, "shape has %zu dimensions; at most %d are supported", *n,
                             ODB_MAX_RANK);
    for (size_t i = 0; i < *n; i++)
        dims[i] = ints[i];
    return ODB_OK;
}

/* 0 copies the dimension of the input (unless allowzero), one -1 stands for what is left. */
static enum odb_status shape_infer_reshape(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    bool allowzero = odb_kern_int(k, "allowzero", 0) != 0;
    int64_t dims[ODB_MAX_RANK], out[ODB_MAX_RANK];
    size_t n, product = 1;
    int hole = -1;

    ODB_TRY(shape_target(k, dims, &n));
    for (int i = 0; i < (int)n; i++) {
        out[i] = dims[i];
        if (dims[i] == 0 && !allowzero) {
            if (i >= x->rank)
                return ODB_KERN_FAIL(k, "shape[%d] is 0 (copy), but the input has rank %d", i,
                                     x->rank);
            out[i] = x->dims[i];
        }
        if (dims[i] == -1 && hole >= 0)
            return ODB_KERN_FAIL(k, "shape[%d] and shape[%d] are both -1", hole, i);
        if (dims[i] == -1)
            hole = i;
        else if (out[i] < 0 || !odb_size_mul(product, (uint64_t)out[i], &product))
            return shape_mismatch(k, (int)n, dims);
    }
    if (hole >= 0) {
        if (product == 0 || x->count % product != 0)
            return shape_mismatch(k, (int)n, dims);
        out[hole] = (int64_t)(x->count / product);
    } else if (product != x->count) {
        return shape_mismatch(k, (int)n, dims);
    }
    return shape_alias(k, (int)n, out);
}

/* --- Flatten, Squeeze, Unsqueeze -------------------------------------------------------------- */

static enum odb_status shape_infer_flatten(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int axis;

    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", 1), x->rank, true, &axis));
    int64_t dims[2] = {(int64_t)odb_dims_product(x->dims, 0, axis),
                       (int64_t)odb_dims_product(x->dims, axis, x->rank)};
    return shape_alias(k, 2, dims);
}

static enum odb_status shape_infer_squeeze(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int axes[ODB_MAX_RANK], n, rank = 0;
    int64_t dims[ODB_MAX_RANK];
    bool drop[ODB_MAX_RANK];

    ODB_TRY(odb_kern_axes(k, k->op->since >= 13 ? 1 : -1, "axes", x->rank, axes, &n));
    for (int i = 0; i < x->rank; i++)
        drop[i] = n == 0 && x->dims[i] == 1;
    for (int i = 0; i < n; i++) {
        if (x->dims[axes[i]] != 1)
            return ODB_KERN_FAIL(k, "axis %d has %lld elements and cannot be squeezed", axes[i],
                                 (long long)x->dims[axes[i]]);
        drop[axes[i]] = true;
    }
    for (int i = 0; i < x->rank; i++)
        if (!drop[i])
            dims[rank++] = x->dims[i];
    return shape_alias(k, rank, dims);
}

/* Axes count in the output, so their number is needed before they can be checked. */
static enum odb_status shape_infer_unsqueeze(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *input = odb_kern_in(k, 1);
    int64_t dims[ODB_MAX_RANK];
    int axes[ODB_MAX_RANK], n, from = 0, at = 0;
    size_t count;

    odb_kern_ints(k, "axes", &count);
    if (input != NULL)
        count = input->count;
    if (count > (size_t)(ODB_MAX_RANK - x->rank))
        return ODB_KERN_FAIL(k, "%zu more axes for rank %d; at most %d dimensions are supported",
                             count, x->rank, ODB_MAX_RANK);
    int rank = x->rank + (int)count;
    ODB_TRY(odb_kern_axes(k, k->op->since >= 13 ? 1 : -1, "axes", rank, axes, &n));
    if (n != (int)count)
        return ODB_KERN_FAIL(k, "axes name a dimension twice");
    for (int i = 0; i < rank; i++) {
        bool fresh = at < n && axes[at] == i;
        dims[i] = fresh ? 1 : x->dims[from];
        at += fresh;
        from += !fresh;
    }
    return shape_alias(k, rank, dims);
}

/* --- Shape, Size ------------------------------------------------------------------------------ */

/* The range of dimensions that Shape tells, clamped as a slice is. */
static void shape_range(const struct odb_kern *k, int *start, int *end)
{
    int rank = k->in[0]->rank;
    int64_t from = odb_kern_int(k, "start", 0), to = odb_kern_int(k, "end", rank);

    from += from < 0 ? rank : 0;
    to += to < 0 ? rank : 0;
    *start = (int)ODB_MIN(ODB_MAX(from, 0), rank);
    *end = (int)ODB_MAX(ODB_MIN(ODB_MAX(to, 0), rank), *start);
}

static enum odb_status shape_infer_shape(struct odb_kern *k)
{
    int start, end;

    shape_range(k, &start, &end);
    return odb_kern_outline(k, 0, ODB_I64, 1, &(int64_t){end - start});
}

static enum odb_status shape_run_shape(struct odb_kern *k)
{
    odb_i64 *out = k->out[0]->data;
    int start, end;

    shape_range(k, &start, &end);
    for (int i = start; i < end; i++)
        out[i - start] = k->in[0]->dims[i];
    return ODB_OK;
}

static enum odb_status shape_infer_size(struct odb_kern *k)
{
    return odb_kern_outline(k, 0, ODB_I64, 0, NULL);
}

static enum odb_status shape_run_size(struct odb_kern *k)
{
    *(odb_i64 *)k->out[0]->data = (int64_t)k->in[0]->count;
    return ODB_OK;
}

/* --- BitCast ---------------------------------------------------------------------------------- */

static enum odb_status shape_infer_bitcast(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t to = odb_kern_int(k, "to", ODB_UNDEFINED);
    enum odb_dtype dtype = to > 0 && to < ODB_DTYPE_COUNT ? (enum odb_dtype)to : ODB_UNDEFINED;
    unsigned bits = odb_dtype_info(dtype)->bits;

    if (bits == 0 || bits != odb_dtype_info(x->dtype)->bits)
        return ODB_KERN_FAIL(k, "%s has not as many bits as type %lld",
                             odb_dtype_info(x->dtype)->name, (long long)to);
    return odb_kern_outline(k, 0, dtype, x->rank, x->dims);
}

static enum odb_status shape_run_bitcast(struct odb_kern *k)
{
    if (k->in[0]->bytes > 0)
        memcpy(k->out[0]->data, k->in[0]->data, k->in[0]->bytes);
    return ODB_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

#define SHAPE_INTS(attr_name)                                                                      \
    ((const struct odb_attr_spec[]){{.name = (attr_name), .type = ODB_ATTR_INTS}, {.name = NULL}})
#define SHAPE_INT(attr_name, default_)                                                             \
    ((const struct odb_attr_spec[]){                                                               \
        {.name = (attr_name), .type = ODB_ATTR_INT, .def = (default_)}, {.name = NULL}})
#define SHAPE_TYPED(name_, since_, min_in_, max_in_, types_, infer_, run_)                         \
    .domain = "", .name = (name_), .since = (since_), .min_in = (min_in_), .max_in = (max_in_),    \
    .min_out = 1, .max_out = 1, .flags = ODB_OP_EXACT, .types = {types_, ODB_BIT(ODB_I64)},        \
    .infer = (infer_), .run = (run_)
#define SHAPE_ROW(name_, since_, min_in_, max_in_, infer_, run_)                                   \
    SHAPE_TYPED(name_, since_, min_in_, max_in_, ODB_T_ANY, infer_, run_)
#define SHAPE_ALIAS(name_, since_, min_in_, max_in_, infer_)                                       \
    SHAPE_ROW(name_, since_, min_in_, max_in_, infer_, shape_run_nothing)
static const struct odb_attr_spec shape_reshape_1[] = {
    {.name = "shape", .type = ODB_ATTR_INTS},
    {.name = "consumed_inputs", .type = ODB_ATTR_INTS},
    {.name = NULL}};
static const struct odb_attr_spec shape_unsqueeze_1[] = {
    {.name = "axes", .type = ODB_ATTR_INTS, .required = true}, {.name = NULL}};
static const struct odb_attr_spec shape_shape_15[] = {
    {.name = "start", .type = ODB_ATTR_INT, .def = "0"},
    {.name = "end", .type = ODB_ATTR_INT},
    {.name = NULL}};
static const struct odb_attr_spec shape_bitcast_26[] = {
    {.name = "to", .type = ODB_ATTR_INT, .required = true}, {.name = NULL}};

const struct odb_op odb_ops_shape[] = {
    {SHAPE_TYPED("Identity", 1, 1, 1, ODB_T_EVERYTHING, shape_infer_identity, shape_run_nothing),
     ODB_NAMES("input", "output"), ODB_HALVES(1, 13), ODB_TRAITS(ODB_IS_CARRIER | ODB_IS_MOVE)},
    {SHAPE_ALIAS("Reshape", 1, 1, 1, shape_infer_reshape), .attrs = shape_reshape_1,
     ODB_NAMES("data", "reshaped"), ODB_HALVES(1, 13), ODB_TRAITS(ODB_IS_MOVE)},
    {SHAPE_ALIAS("Reshape", 5, 2, 2, shape_infer_reshape), ODB_NAMES("data,shape", "reshaped")},
    {SHAPE_ALIAS("Reshape", 14, 2, 2, shape_infer_reshape), .attrs = SHAPE_INT("allowzero", "0")},
    {SHAPE_ALIAS("Flatten", 1, 1, 1, shape_infer_flatten), .attrs = SHAPE_INT("axis", "1"),
     ODB_NAMES("input", "output"), ODB_HALVES(1, 13), ODB_TRAITS(ODB_IS_MOVE)},
    {SHAPE_ALIAS("Squeeze", 1, 1, 1, shape_infer_squeeze), .attrs = SHAPE_INTS("axes"),
     ODB_NAMES("data", "squeezed"), ODB_HALVES(1, 13), ODB_TRAITS(ODB_IS_MOVE)},
    {SHAPE_ALIAS("Squeeze", 13, 1, 2, shape_infer_squeeze), ODB_NAMES("data,axes", "squeezed")},
    {SHAPE_ALIAS("Unsqueeze", 1, 1, 1, shape_infer_unsqueeze), .attrs = shape_unsqueeze_1,
     ODB_NAMES("data", "expanded"), ODB_HALVES(1, 13), ODB_TRAITS(ODB_IS_MOVE)},
    {SHAPE_ALIAS("Unsqueeze", 13, 2, 2, shape_infer_unsqueeze), ODB_NAMES("data,axes", "expanded")},
    {SHAPE_ROW("Shape", 1, 1, 1, shape_infer_shape, shape_run_shape), ODB_NAMES("data", "shape"),
     ODB_HALVES(1, 13, .note = ODB_HALVES_ANY)},
    {SHAPE_ROW("Shape", 15, 1, 1, shape_infer_shape, shape_run_shape), .attrs = shape_shape_15},
    {SHAPE_ROW("Size", 1, 1, 1, shape_infer_size, shape_run_size), ODB_NAMES("data", "size"),
     ODB_HALVES(1, 13, .note = ODB_HALVES_ANY)},
    {SHAPE_TYPED("BitCast", 26, 1, 1, ODB_T_ANY & ~ODB_T_STRING, shape_infer_bitcast,
                 shape_run_bitcast),
     .attrs = shape_bitcast_26, ODB_NAMES("input", "output")},
    {.name = NULL},
};
