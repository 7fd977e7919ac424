/* SPDX-License-Identifier: MIT
 *
 * MaxPool, AveragePool, LpPool, their Global forms, and MaxUnpool (ai.onnx 1 to 28), for images of
 * any rank.
 * Maxima ignore pads and pass NaN on; averages count pads only with count_include_pad, and never
 * what a window reaches beyond them in ceil_mode.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/ints.h"
#include "kernels/core/row.h"
#include "kernels/core/kern.h"
#include "kernels/core/real.h"
#include "kernels/core/workspace.h"
#include "kernels/nn/window.h"

enum pool_kind { POOL_MAX, POOL_AVERAGE, POOL_LP };

struct pool {
    enum pool_kind kind;
    double p;       /* of LpPool */
    bool by_column; /* storage_order 1: indices count the first spatial dimension fastest */
    struct odb_window window;
    struct odb_planes planes;
    double *count;               /* owned; AveragePool: elements averaged, per result */
    bool by_dimension;           /* maxima are taken in one dimension after the other */
    size_t *reach[ODB_MAX_RANK]; /* owned, in that case: offsets of a dimension's taps */
    const void *x;               /* borrowed */
    size_t elements;             /* of x */
    void *y;                     /* borrowed */
    odb_i64 *indices;            /* borrowed */
    atomic_bool failed;
};

/* Whether tap t of the window of result `at` falls on the image; its element, and its index as
 * Indices counts. */
static bool pool_reach(const struct pool *p, size_t at, size_t t, size_t *element, size_t *index)
{
    const struct odb_window *w = &p->window;
    size_t step = 1, column_step = w->in_size;
    *element = *index = 0;
    for (int d = w->rank - 1; d >= 0; d--) {
        int64_t i = (int64_t)(at % (size_t)w->out[d]) * w->stride[d] +
                    (int64_t)(t % (size_t)w->kernel[d]) * w->dilation[d] - w->before[d];
        if (i < 0 || i >= w->in[d])
            return false;
        at /= (size_t)w->out[d];
        t /= (size_t)w->kernel[d];
        column_step /= (size_t)w->in[d];
        *element += (size_t)i * step;
        *index += (size_t)i * (p->by_column ? column_step : step);
        step *= (size_t)w->in[d];
    }
    return true;
}

#define ODB_BODY "kernels/nn/pool.real.h"
#include "kernels/core/real.h"
#define ODB_BODY "kernels/nn/pool.body.h"
#define ODB_BODY_BYTES
#include "kernels/core/ints.h"

/* Elements that each window averages: a product over the dimensions. */
static bool pool_count(struct pool *p, bool include_pad)
{
    const struct odb_window *w = &p->window;
    p->count = odb_work_raw(ODB_MAX(w->out_size, 1) * sizeof *p->count);
    if (!p->count)
        return false;
    for (size_t at = 0; at < w->out_size; at++) {
        size_t rest = at;
        p->count[at] = 1;
        for (int d = w->rank - 1; d >= 0; d--) {
            int64_t start = (int64_t)(rest % (size_t)w->out[d]) * w->stride[d] - w->before[d];
            int64_t from = include_pad ? -w->before[d] : 0;
            int64_t to = include_pad ? w->in[d] + w->after[d] : w->in[d];
            int64_t step = w->dilation[d];
            int64_t skipped = start < from ? (from - start + step - 1) / step : 0;
            int64_t reached = start < to ? (to - start + step - 1) / step : 0;
            p->count[at] *= (double)ODB_MAX(ODB_MIN(reached, w->kernel[d]) - skipped, 0);
            rest /= (size_t)w->out[d];
        }
    }
    return true;
}

/* Maxima may be taken in any order: settles whether one dimension at a time is less work, counted
 * in elements read and written per result. False: out of memory. */
static bool pool_plan(struct pool *p)
{
    const struct odb_window *w = &p->window;
    size_t work = 0;
    for (int d = 0; d < w->rank; d++)
        work += p->planes.count / p->planes.phase_step[d] / p->planes.phases[d] *
                ((size_t)w->kernel[d] + 1);
    p->by_dimension = p->kind == POOL_MAX && work < w->taps + 1;
    for (int d = 0; d < w->rank && p->by_dimension; d++) {
        p->reach[d] = odb_work_take((size_t)w->kernel[d], sizeof *p->reach[d]);
        if (!p->reach[d])
            return false;
        for (size_t i = 0; i < (size_t)w->kernel[d]; i++)
            p->reach[d][i] = odb_planes_reach(&p->planes, w, d, i);
    }
    return true;
}

#define POOL_GRAIN (1u << 16) /* taps worth a thread's wake-up */

/* Whether the only window is the whole image. */
static bool pool_is_global(const struct odb_window *w)
{
    bool global = true;
    for (int d = 0; d < w->rank; d++)
        global = global && w->out[d] == 1 && w->before[d] == 0 && w->kernel[d] == w->in[d] &&
                 w->dilation[d] == 1;
    return global;
}

static void pool_whole(struct odb_kern *k, struct pool *p, size_t channels)
{
    odb_parallel_for(channels, POOL_GRAIN / (p->window.in_size + 1) + 1,
                     ODB_REAL_FN(k, k->in[0]->dtype, pool_global), p);
}

static enum odb_status pool_window(struct odb_kern *k, struct pool *p)
{
    const struct odb_tensor *x = k->in[0];
    size_t channels = odb_dims_product(x->dims, 0, 2);
    if (channels * p->window.out_size == 0)
        return ODB_OK;
    size_t grain = POOL_GRAIN / (p->window.taps * p->window.out_size) + 1;
    bool real = odb_dtype_is_float(x->dtype);
    if (real && !p->indices && pool_is_global(&p->window)) {
        pool_whole(k, p, channels);
        return ODB_OK;
    }
    bool ready =
        p->kind != POOL_AVERAGE || pool_count(p, odb_kern_int(k, "count_include_pad", 0) != 0);
    atomic_init(&p->failed, !ready);
    if (ready && p->indices) {
        odb_parallel_for(
            channels, grain,
            real ? ODB_REAL_FN(k, x->dtype, pool_indices) : ODB_BYTE_FN(x->dtype, pool_indices), p);
    } else if (ready && odb_planes_init(&p->planes, &p->window)) {
        if (pool_plan(p))
            odb_parallel_for(channels, grain,
                             real ? ODB_REAL_FN(k, x->dtype, pool_channels)
                                  : ODB_BYTE_FN(x->dtype, pool_channels),
                             p);
        else
            atomic_store(&p->failed, true);
        odb_planes_dispose(&p->planes);
        for (int d = 0; d < p->window.rank; d++)
            odb_work_give(p->reach[d]);
    } else {
        atomic_store(&p->failed, true);
    }
    odb_work_give(p->count);
    return atomic_load(&p->failed) ? odb_kern_no_memory(k) : ODB_OK;
}

static enum odb_status pool_infer(struct odb_kern *k)
{
    struct odb_window w;
    const struct odb_tensor *x = k->in[0];
    ODB_TRY(odb_window_slide(k, x, NULL, &w));
    ODB_TRY(odb_window_outline(k, 0, x->dtype, x, x->dims[1], &w));
    return odb_window_outline(k, 1, ODB_I64, x, x->dims[1], &w);
}

static enum odb_status pool_run(struct odb_kern *k, enum pool_kind kind, double p)
{
    struct pool pool = {.kind = kind, .p = p, .x = k->in[0]->data, .elements = k->in[0]->count};
    ODB_TRY(odb_window_slide(k, k->in[0], NULL, &pool.window));
    pool.y = k->out[0] ? k->out[0]->data : NULL;
    if (k->n_out > 1 && k->out[1])
        pool.indices = k->out[1]->data;
    pool.by_column = odb_kern_int(k, "storage_order", 0) != 0;
    return pool_window(k, &pool);
}

/* The p of LpPool was a float in version 1. */
static double pool_p(struct odb_kern *k)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, "p");
    return attr && attr->type == ODB_ATTR_FLOAT ? attr->f : (double)odb_kern_int(k, "p", 2);
}

static enum odb_status pool_max_run(struct odb_kern *k)
{
    return pool_run(k, POOL_MAX, 1);
}

static enum odb_status pool_average_run(struct odb_kern *k)
{
    return pool_run(k, POOL_AVERAGE, 1);
}

static enum odb_status pool_lp_run(struct odb_kern *k)
{
    return pool_run(k, POOL_LP, pool_p(k));
}

/* --- whole channels --------------------------------------------------------------------------- */

static enum odb_status pool_global_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t dims[ODB_MAX_RANK];
    if (x->rank < 2)
        return ODB_KERN_FAIL(k, "%s needs an input of at least 2 dimensions, not %d", k->op->name,
                             x->rank);
    for (int d = 0; d < x->rank; d++)
        dims[d] = d < 2 ? x->dims[d] : 1;
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static enum odb_status pool_global_run(struct odb_kern *k, enum pool_kind kind, double p)
{
    const struct odb_tensor *x = k->in[0];
    struct pool pool = {
        .kind = kind, .p = p, .x = x->data, .elements = x->count, .y = k->out[0]->data};
    pool.window.in_size = odb_dims_product(x->dims, 2, x->rank);
    pool_whole(k, &pool, k->out[0]->count);
    return ODB_OK;
}

static enum odb_status pool_global_max_run(struct odb_kern *k)
{
    return pool_global_run(k, POOL_MAX, 1);
}

static enum odb_status pool_global_average_run(struct odb_kern *k)
{
    return pool_global_run(k, POOL_AVERAGE, 1);
}

static enum odb_status pool_global_lp_run(struct odb_kern *k)
{
    return pool_global_run(k, POOL_LP, pool_p(k));
}

/* --- back from a maximum --------------------------------------------------------------------- */

static enum odb_status pool_unpool_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_window w;
    int64_t given[ODB_MAX_RANK];
    size_t n;
    if (!odb_tensor_same_shape(x, k->in[1]))
        return ODB_KERN_FAIL(k, "values and indices have different shapes");
    ODB_TRY(odb_window_spread(k, x, NULL, &w));
    if (x->count && w.out_size == 0)
        return ODB_KERN_FAIL(k, "kernel, strides and pads leave nothing of the result");
    ODB_TRY(odb_kern_values(k, 2, given, ODB_MAX_RANK, &n));
    if (n == 0)
        return odb_window_outline(k, 0, x->dtype, x, x->dims[1], &w);
    if (n != (size_t)x->rank)
        return ODB_KERN_FAIL(k, "output_shape has %zu numbers; %d are needed", n, x->rank);
    return odb_kern_outline(k, 0, x->dtype, x->rank, given);
}

/* Indices count the elements of the shape that kernel, strides and pads give, even where
 * output_shape asks for another. */
static enum odb_status pool_unpool_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    struct odb_window w;
    size_t size = odb_dtype_info(x->dtype)->bits / 8;
    ODB_TRY(odb_window_spread(k, x, NULL, &w));
    memset(y->data, 0, y->bytes);
    for (size_t i = 0; i < x->count; i++) {
        int64_t index = odb_tensor_i64(k->in[1], i), rest = index, at = 0, step = 1;
        for (int d = y->rank - 1; d >= 0; d--) {
            int64_t dim = d < 2 ? x->dims[d] : w.out[d - 2], coordinate = rest % dim;
            rest /= dim;
            at = coordinate < y->dims[d] && at >= 0 ? at + coordinate * step : -1;
            step *= y->dims[d];
        }
        if (index < 0 || rest != 0 || at < 0)
            return ODB_KERN_FAIL(k, "index %lld does not fit the result", (long long)index);
        memcpy((char *)y->data + (size_t)at * size, (const char *)x->data + i * size, size);
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

#define POOL_AUTO_PAD ODB_OPTIONAL_ATTR("auto_pad", STRING, "NOTSET")
#define POOL_CEIL ODB_OPTIONAL_ATTR("ceil_mode", INT, "0")
#define POOL_COUNT ODB_OPTIONAL_ATTR("count_include_pad", INT, "0")
#define POOL_DILATIONS ODB_OPTIONAL_ATTR("dilations", INTS, NULL)
#define POOL_KERNEL ODB_REQUIRED_ATTR("kernel_shape", INTS)
#define POOL_ORDER ODB_OPTIONAL_ATTR("storage_order", INT, "0")
#define POOL_P_FLOAT ODB_OPTIONAL_ATTR("p", FLOAT, "2")
#define POOL_P ODB_OPTIONAL_ATTR("p", INT, "2")
#define POOL_PADS ODB_OPTIONAL_ATTR("pads", INTS, NULL)
#define POOL_STRIDES ODB_OPTIONAL_ATTR("strides", INTS, NULL)

static const struct odb_attr_spec pool_attrs_1[] = {
    POOL_AUTO_PAD, POOL_KERNEL, POOL_PADS, POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_max_attrs_8[] = {POOL_AUTO_PAD, POOL_KERNEL,  POOL_PADS,
                                                        POOL_ORDER,    POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_max_attrs_10[] = {POOL_AUTO_PAD, POOL_CEIL, POOL_DILATIONS,
                                                         POOL_KERNEL,   POOL_PADS, POOL_ORDER,
                                                         POOL_STRIDES,  {NULL}};
static const struct odb_attr_spec pool_average_attrs_7[] = {
    POOL_AUTO_PAD, POOL_COUNT, POOL_KERNEL, POOL_PADS, POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_average_attrs_10[] = {
    POOL_AUTO_PAD, POOL_CEIL, POOL_COUNT, POOL_KERNEL, POOL_PADS, POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_average_attrs_19[] = {
    POOL_AUTO_PAD, POOL_CEIL, POOL_COUNT,   POOL_DILATIONS,
    POOL_KERNEL,   POOL_PADS, POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_lp_attrs_1[] = {
    POOL_AUTO_PAD,
    {"kernel_shape", ODB_ATTR_INTS, NULL, false}, /* the schema says so; nothing works without */
    POOL_P_FLOAT,
    POOL_PADS,
    POOL_STRIDES,
    {NULL}};
static const struct odb_attr_spec pool_lp_attrs_2[] = {POOL_AUTO_PAD, POOL_KERNEL,  POOL_P,
                                                       POOL_PADS,     POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_lp_attrs_18[] = {
    POOL_AUTO_PAD, POOL_CEIL, POOL_DILATIONS, POOL_KERNEL, POOL_P, POOL_PADS, POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_unpool_attrs[] = {
    POOL_KERNEL, POOL_PADS, POOL_STRIDES, {NULL}};
static const struct odb_attr_spec pool_global_lp_attrs_1[] = {POOL_P_FLOAT, {NULL}};
static const struct odb_attr_spec pool_global_lp_attrs_2[] = {POOL_P, {NULL}};

#define POOL_MAX_TYPES (ODB_T_FLOAT | ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8))
#define POOL_MAX_FLAGS (ODB_OP_EXACT | ODB_OP_REAL)

const struct odb_op odb_ops_pool[] = {
    ODB_ONNX("MaxPool", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), POOL_MAX_FLAGS, pool_attrs_1,
             pool_infer, pool_max_run, POOL_MAX_TYPES, ODB_NAMES("X", "Y"), ODB_HALVES(1, 22),
             ODB_WORK(pool), ODB_TRAITS(ODB_IS_MOVE)),
    ODB_ONNX("MaxPool", 8, ODB_ARITY(1, 1), ODB_ARITY(1, 2), POOL_MAX_FLAGS, pool_max_attrs_8,
             pool_infer, pool_max_run, POOL_MAX_TYPES, ODB_NAMES("X", "Y,Indices")),
    ODB_ONNX("MaxPool", 10, ODB_ARITY(1, 1), ODB_ARITY(1, 2), POOL_MAX_FLAGS, pool_max_attrs_10,
             pool_infer, pool_max_run, POOL_MAX_TYPES),
    ODB_ONNX("AveragePool", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, pool_attrs_1,
             pool_infer, pool_average_run, ODB_T_FLOAT, ODB_NAMES("X", "Y"), ODB_HALVES(1, 22),
             ODB_WORK(pool)),
    ODB_ONNX("AveragePool", 7, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, pool_average_attrs_7,
             pool_infer, pool_average_run, ODB_T_FLOAT),
    ODB_ONNX("AveragePool", 10, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
             pool_average_attrs_10, pool_infer, pool_average_run, ODB_T_FLOAT),
    ODB_ONNX("AveragePool", 19, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
             pool_average_attrs_19, pool_infer, pool_average_run, ODB_T_FLOAT),
    ODB_ONNX("LpPool", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, pool_lp_attrs_1,
             pool_infer, pool_lp_run, ODB_T_FLOAT, ODB_NAMES("X", "Y"), ODB_HALVES(1, 22),
             ODB_WORK(pool)),
    ODB_ONNX("LpPool", 2, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, pool_lp_attrs_2,
             pool_infer, pool_lp_run, ODB_T_FLOAT),
    ODB_ONNX("LpPool", 18, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, pool_lp_attrs_18,
             pool_infer, pool_lp_run, ODB_T_FLOAT),
    ODB_ONNX("GlobalMaxPool", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), POOL_MAX_FLAGS, NULL,
             pool_global_infer, pool_global_max_run, ODB_T_FLOAT, ODB_NAMES("X", "Y"),
             ODB_HALVES(1, 22), ODB_WORK(per_input, 1)),
    ODB_ONNX("GlobalAveragePool", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, NULL,
             pool_global_infer, pool_global_average_run, ODB_T_FLOAT, ODB_NAMES("X", "Y"),
             ODB_HALVES(1, 22), ODB_WORK(per_input, 1)),
    ODB_ONNX("GlobalLpPool", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
             pool_global_lp_attrs_1, pool_global_infer, pool_global_lp_run, ODB_T_FLOAT,
             ODB_NAMES("X", "Y"), ODB_HALVES(1, 22)),
    ODB_ONNX("GlobalLpPool", 2, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
             pool_global_lp_attrs_2, pool_global_infer, pool_global_lp_run, ODB_T_FLOAT),
    ODB_ONNX("MaxUnpool", 9, ODB_ARITY(2, 3), ODB_ARITY(1, 1), ODB_OP_EXACT, pool_unpool_attrs,
             pool_unpool_infer, pool_unpool_run, ODB_T_FLOAT, ODB_BIT(ODB_I64),
             ODB_NAMES("X,I,output_shape", "output"), ODB_HALVES(9, 22)),
    {.name = NULL},
};
