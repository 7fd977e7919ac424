/* SPDX-License-Identifier: MIT
 *
 * Reduce*, ArgMax, ArgMin, CumSum and CumProd (ai.onnx 1 to 28). Axes come from an attribute, and
 * since opset 13 (ReduceSum) or 18 (the others) from an input. Sums are taken in double for float
 * and in 64 bits for integers, which wrap as their type does. NaN wins every comparison.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/ints.h"
#include "kernels/core/row.h"
#include "kernels/core/kern.h"
#include "kernels/reduce/lanes.h"
#include "kernels/core/real.h"

#define REDUCE_KINDS(X)                                                                            \
    X(REDUCE_SUM, "ReduceSum")                                                                     \
    X(REDUCE_MEAN, "ReduceMean")                                                                   \
    X(REDUCE_MAX, "ReduceMax")                                                                     \
    X(REDUCE_MIN, "ReduceMin")                                                                     \
    X(REDUCE_PROD, "ReduceProd")                                                                   \
    X(REDUCE_L1, "ReduceL1")                                                                       \
    X(REDUCE_L2, "ReduceL2")                                                                       \
    X(REDUCE_LOG_SUM, "ReduceLogSum")                                                              \
    X(REDUCE_LOG_SUM_EXP, "ReduceLogSumExp")                                                       \
    X(REDUCE_SUM_SQUARE, "ReduceSumSquare")

enum reduce_kind {
#define REDUCE_ENUM(name, text) name,
    REDUCE_KINDS(REDUCE_ENUM)
#undef REDUCE_ENUM
};

#define REDUCE_CHUNK 128 /* lanes that are reduced together */

struct reduce {
    enum reduce_kind kind;
    struct odb_lanes lanes;
    bool lines;    /* the innermost dimension is reduced: lanes have contiguous runs */
    const void *x; /* borrowed */
    void *y;       /* borrowed */
};

#define ALONG_CHUNK 64

/* A walk along dimension n of (outer, n, inner). */
struct along {
    size_t n, inner;
    bool least, last;                 /* ArgMin; select_last_index */
    bool product, exclusive, reverse; /* CumProd; CumSum's attributes */
    const void *x;                    /* borrowed */
    void *y;                          /* borrowed */
};

/* Chunks that one row of inner elements is cut into. */
static size_t along_chunks(const struct along *s)
{
    return (s->inner + ALONG_CHUNK - 1) / ALONG_CHUNK;
}

/* First element of a chunk of lanes, and their number. */
static size_t along_chunk(const struct along *s, size_t chunk, size_t *lanes)
{
    size_t per_row = along_chunks(s);
    size_t first = chunk % per_row * ALONG_CHUNK;
    *lanes = ODB_MIN((size_t)ALONG_CHUNK, s->inner - first);
    return chunk / per_row * s->n * s->inner + first;
}

#define ODB_BODY "kernels/reduce/reduce.body.h"
#include "kernels/core/real.h"
#define ODB_BODY "kernels/reduce/reduce.body.h"
#include "kernels/core/ints.h"
#define ODB_BODY "kernels/reduce/along.body.h"
#include "kernels/core/real.h"
#define ODB_BODY "kernels/reduce/along.body.h"
#include "kernels/core/ints.h"

#define REDUCE_GRAIN (1u << 15) /* elements worth a thread's wake-up */

/* The function of this type. */
#define REDUCE_FN(k, dtype, name)                                                                  \
    (odb_dtype_is_float(dtype) ? ODB_REAL_FN(k, dtype, name) : ODB_INT_FN(dtype, name))

/* --- Reduce ----------------------------------------------------------------------------------- */

static enum odb_status reduce_axes(struct odb_kern *k, bool *reduced)
{
    int axes[ODB_MAX_RANK], n, rank = k->in[0]->rank;
    memset(reduced, 0, ODB_MAX_RANK * sizeof *reduced);
    ODB_TRY(odb_kern_axes(k, 1, "axes", rank, axes, &n));
    bool all = n == 0 && odb_kern_int(k, "noop_with_empty_axes", 0) == 0;
    for (int d = 0; d < rank && all; d++)
        reduced[d] = true;
    for (int i = 0; i < n; i++)
        reduced[axes[i]] = true;
    return ODB_OK;
}

static enum odb_status reduce_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    bool reduced[ODB_MAX_RANK], keep = odb_kern_int(k, "keepdims", 1) != 0;
    int64_t dims[ODB_MAX_RANK];
    int rank = 0;
    ODB_TRY(reduce_axes(k, reduced));
    for (int d = 0; d < x->rank; d++)
        if (!reduced[d] || keep)
            dims[rank++] = reduced[d] ? 1 : x->dims[d];
    return odb_kern_outline(k, 0, x->dtype, rank, dims);
}

static enum reduce_kind reduce_kind(const struct odb_kern *k)
{
    static const char *const names[] = {
#define REDUCE_NAME(name, text) text,
        REDUCE_KINDS(REDUCE_NAME)
#undef REDUCE_NAME
    };
    size_t kind = 0;
    while (strcmp(names[kind], k->op->name) != 0)
        kind++;
    return (enum reduce_kind)kind;
}

/* Roots and logarithms of integers go through double. */
static bool reduce_via_double(enum reduce_kind kind, enum odb_dtype dtype)
{
    return !odb_dtype_is_float(dtype) &&
           (kind == REDUCE_L2 || kind == REDUCE_LOG_SUM || kind == REDUCE_LOG_SUM_EXP);
}

static enum odb_status reduce_run(struct odb_kern *k)
{
    struct odb_tensor *x = odb_tensor_ref(k->in[0]), *y = odb_tensor_ref(k->out[0]);
    struct reduce r = {.kind = reduce_kind(k)};
    bool reduced[ODB_MAX_RANK], via = reduce_via_double(r.kind, x->dtype);
    enum odb_status status;
    ODB_TRY_OUT(reduce_axes(k, reduced));
    if (via) {
        odb_tensor_unref(x);
        odb_tensor_unref(y);
        x = y = NULL;
        ODB_TRY_OUT(odb_tensor_cast(&x, k->in[0], ODB_F64, k->err));
        ODB_TRY_OUT(odb_tensor_new_raw(&y, ODB_F64, k->out[0]->rank, k->out[0]->dims, k->err));
    }
    odb_lanes_split(x->dims, x->rank, reduced, &r.lanes);
    const struct odb_lane_dims *along = &r.lanes.reduced;
    r.lines = along->rank > 0 && along->steps[along->rank - 1] == 1 && along->count > 0;
    r.x = x->data;
    r.y = y->data;
    size_t grain = REDUCE_GRAIN / (along->count + 1) + 1;
    if (!r.lines)
        grain = (grain + REDUCE_CHUNK - 1) / REDUCE_CHUNK * REDUCE_CHUNK;
    odb_parallel_for(y->count, grain, REDUCE_FN(k, x->dtype, reduce_lanes), &r);
    if (via)
        odb_convert(k->out[0]->dtype, k->out[0]->data, ODB_F64, y->data, y->count);
    for (size_t i = 0; x->dtype == ODB_BOOL && i < y->count; i++)
        ((odb_u8 *)y->data)[i] = ((odb_u8 *)y->data)[i] != 0; /* the least of none is 255 */
out:
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    return status;
}

/* --- ArgMax, ArgMin --------------------------------------------------------------------------- */

static enum odb_status along_arg_axis(struct odb_kern *k, int *axis)
{
    *axis = 0;
    if (k->in[0]->rank == 0)
        return ODB_OK;
    return odb_kern_axis(k, odb_kern_int(k, "axis", 0), k->in[0]->rank, false, axis);
}

static enum odb_status along_arg_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK];
    int axis, rank = 0;
    ODB_TRY(along_arg_axis(k, &axis));
    for (int d = 0; d < x->rank; d++)
        if (d != axis || odb_kern_int(k, "keepdims", 1) != 0)
            dims[rank++] = d == axis ? 1 : x->dims[d];
    if (x->rank > 0 && x->dims[axis] == 0)
        return ODB_KERN_FAIL(k, "%s of no elements", k->op->name);
    return odb_kern_outline(k, 0, ODB_I64, rank, dims);
}

static void along_shape(const struct odb_tensor *x, int axis, struct along *s)
{
    s->n = x->rank ? (size_t)x->dims[axis] : 1;
    s->inner = odb_dims_product(x->dims, ODB_MIN(axis + 1, x->rank), x->rank);
}

static void along_run(struct odb_kern *k, struct along *s, void (*body)(void *, size_t, size_t))
{
    const struct odb_tensor *x = k->in[0];
    s->x = x->data;
    s->y = k->out[0]->data;
    if (x->count)
        odb_parallel_for(x->count / (s->n * s->inner) * along_chunks(s),
                         REDUCE_GRAIN / (s->n * ODB_MIN(s->inner, (size_t)ALONG_CHUNK)) + 1, body,
                         s);
}

static enum odb_status along_arg_run(struct odb_kern *k)
{
    enum odb_dtype dtype = k->in[0]->dtype;
    struct along s = {.least = strcmp(k->op->name, "ArgMin") == 0,
                      .last = odb_kern_int(k, "select_last_index", 0) != 0};
    int axis;
    ODB_TRY(along_arg_axis(k, &axis));
    along_shape(k->in[0], axis, &s);
    along_run(k, &s, REDUCE_FN(k, dtype, along_arg));
    return ODB_OK;
}

/* --- CumSum, CumProd -------------------------------------------------------------------------- */

static enum odb_status along_scan_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct along s = {.product = strcmp(k->op->name, "CumProd") == 0,
                      .exclusive = odb_kern_int(k, "exclusive", 0) != 0,
                      .reverse = odb_kern_int(k, "reverse", 0) != 0};
    int64_t given;
    size_t n;
    int axis;
    ODB_TRY(odb_kern_values(k, 1, &given, 1, &n));
    if (n != 1)
        return ODB_KERN_FAIL(k, "the axis is one number, not %zu", n);
    ODB_TRY(odb_kern_axis(k, given, x->rank, false, &axis));
    along_shape(x, axis, &s);
    along_run(k, &s, REDUCE_FN(k, x->dtype, along_scan));
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec reduce_attrs_1[] = {
    {"axes", ODB_ATTR_INTS, NULL, false}, {"keepdims", ODB_ATTR_INT, "1", false}, {NULL}};
static const struct odb_attr_spec reduce_attrs_13[] = {
    {"keepdims", ODB_ATTR_INT, "1", false},
    {"noop_with_empty_axes", ODB_ATTR_INT, "0", false},
    {NULL}};
static const struct odb_attr_spec along_arg_attrs_1[] = {
    {"axis", ODB_ATTR_INT, "0", false}, {"keepdims", ODB_ATTR_INT, "1", false}, {NULL}};
static const struct odb_attr_spec along_arg_attrs_12[] = {
    {"axis", ODB_ATTR_INT, "0", false},
    {"keepdims", ODB_ATTR_INT, "1", false},
    {"select_last_index", ODB_ATTR_INT, "0", false},
    {NULL}};
static const struct odb_attr_spec along_scan_attrs[] = {
    {"exclusive", ODB_ATTR_INT, "0", false}, {"reverse", ODB_ATTR_INT, "0", false}, {NULL}};

/* The two forms of a reduction: axes as an attribute, and since `since` as an input. */
#define REDUCE_ROWS(name, since, flags, types, ...)                                                \
    ODB_ONNX(name, 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), flags, reduce_attrs_1, reduce_infer,       \
             reduce_run, types, ODB_NAMES("data", "reduced"), __VA_ARGS__),                        \
        ODB_ONNX(name, since, ODB_ARITY(1, 2), ODB_ARITY(1, 1), flags, reduce_attrs_13,            \
                 reduce_infer, reduce_run, types, ODB_BIT(ODB_I64),                                \
                 ODB_NAMES("data,axes", "reduced"))

#define REDUCE_PICKS (ODB_OP_EXACT | ODB_OP_REAL) /* results are elements */
#define ALONG_PICKS (ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY)

const struct odb_op odb_ops_reduce[] = {
    REDUCE_ROWS("ReduceSum", 13, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceMean", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceMax", 18, REDUCE_PICKS, ODB_T_NUMBER | ODB_T_BOOL, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceMin", 18, REDUCE_PICKS, ODB_T_NUMBER | ODB_T_BOOL, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceProd", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceL1", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceL2", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 2)),
    REDUCE_ROWS("ReduceLogSum", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 1)),
    REDUCE_ROWS("ReduceLogSumExp", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 2)),
    REDUCE_ROWS("ReduceSumSquare", 18, ODB_OP_REAL, ODB_T_NUMBER, ODB_HALVES(1, 13),
                ODB_WORK(per_input, 2)),
    ODB_ONNX("ArgMax", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ALONG_PICKS, along_arg_attrs_1,
             along_arg_infer, along_arg_run, ODB_T_NUMBER, ODB_NAMES("data", "reduced"),
             ODB_HALVES(1, 13)),
    ODB_ONNX("ArgMax", 12, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ALONG_PICKS, along_arg_attrs_12,
             along_arg_infer, along_arg_run, ODB_T_NUMBER),
    ODB_ONNX("ArgMin", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ALONG_PICKS, along_arg_attrs_1,
             along_arg_infer, along_arg_run, ODB_T_NUMBER, ODB_NAMES("data", "reduced"),
             ODB_HALVES(1, 13)),
    ODB_ONNX("ArgMin", 12, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ALONG_PICKS, along_arg_attrs_12,
             along_arg_infer, along_arg_run, ODB_T_NUMBER),
    ODB_ONNX("CumSum", 11, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, along_scan_attrs,
             odb_infer_same, along_scan_run, ODB_T_NUMBER, ODB_T_INDEX, ODB_NAMES("x,axis", "y"),
             ODB_HALVES(14, 14), ODB_WORK(per_input, 1)),
    ODB_ONNX("CumProd", 26, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, along_scan_attrs,
             odb_infer_same, along_scan_run, ODB_T_NUMBER, ODB_T_INDEX, ODB_NAMES("x,axis", "y"),
             ODB_HALVES(26, 26)),
    {.name = NULL},
};
