/* SPDX-License-Identifier: MIT
 *
 * Normalisations (ai.onnx 1 to 28): BatchNormalization, InstanceNormalization,
 * LayerNormalization, RMSNormalization, GroupNormalization, LRN, LpNormalization,
 * MeanVarianceNormalization. Means and variances in double for float, the variance around the mean
 * in a second pass. stash_type only gives LayerNormalization's Mean and InvStdDev their type:
 * nothing here is computed in less than float.
 */
#include <math.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/reduce/lanes.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"

/* Blocks of contiguous elements, each normalised by itself. Element i of a block is scaled by
 * scale[(block * advance + i / run) % params]. */
struct norm {
    size_t length, run, advance, params;
    bool centred; /* false: the mean is taken to be 0 */
    double epsilon;
    const void *x, *scale, *bias; /* borrowed; bias may be NULL */
    void *y;                      /* borrowed; NULL: only the moments are wanted */
    double *mean, *inverse;       /* borrowed; per block; may be NULL */
};

struct norm_batch {
    size_t images, channels, length;
    double epsilon;
    double *scale, *bias, *mean, *var; /* owned by norm_batch_run; per channel */
    const void *x;                     /* borrowed */
    void *y;                           /* borrowed */
};

struct norm_lrn {
    size_t channels, length, size;
    double alpha, beta, bias;
    const void *x; /* borrowed */
    void *y;       /* borrowed */
};

struct norm_lanes {
    struct odb_lanes lanes;
    int p;         /* of the norm; 0: mean and variance */
    const void *x; /* borrowed */
    void *y;       /* borrowed */
};

#define ODB_BODY "kernels/reduce/norm.real.h"
#include "kernels/core/real.h"

#define NORM_GRAIN (1u << 15) /* elements worth a thread's wake-up */

static enum odb_status norm_check_rank(struct odb_kern *k, int least)
{
    if (k->in[0]->rank < least)
        return ODB_KERN_FAIL(k, "%s needs an input of at least %d dimensions, not %d", k->op->name,
                             least, k->in[0]->rank);
    return ODB_OK;
}

/* A list of parameters. With spatial = 0, which went with opset 9, they had an image's shape. */
static enum odb_status norm_check_count(struct odb_kern *k, int i, size_t count)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    if (t && t->rank != 1 && odb_kern_int(k, "spatial", 1) != 0)
        return ODB_KERN_FAIL(k, "input %d of %s has rank %d instead of 1", i, k->op->name, t->rank);
    if (t && t->count != count)
        return ODB_KERN_FAIL(k, "input %d of %s has %zu elements instead of %zu", i, k->op->name,
                             t->count, count);
    return ODB_OK;
}

static void norm_run_blocks(struct odb_kern *k, struct norm *s, size_t blocks)
{
    odb_parallel_for(blocks, NORM_GRAIN / (s->length + 1) + 1,
                     ODB_REAL_FN(k, k->in[0]->dtype, norm_blocks), s);
}

/* --- BatchNormalization ---------------------------------------------------------------------- */

/* Parameters of a batch normalisation: one per channel, or (spatial = 0) one per feature. */
static void norm_batch_shape(struct odb_kern *k, struct norm_batch *s)
{
    const struct odb_tensor *x = k->in[0];
    s->images = x->rank ? (size_t)x->dims[0] : 1;
    s->channels = x->rank > 1 ? (size_t)x->dims[1] : 1;
    s->length = odb_dims_product(x->dims, ODB_MIN(2, x->rank), x->rank);
    if (k->op->since < 9 && odb_kern_int(k, "spatial", 1) == 0) {
        s->channels *= s->length;
        s->length = 1;
    }
}

static enum odb_status norm_batch_infer(struct odb_kern *k)
{
    struct norm_batch s;
    norm_batch_shape(k, &s);
    for (int i = 1; i < 5; i++)
        ODB_TRY(norm_check_count(k, i, s.channels));
    ODB_TRY(odb_kern_outline_like(k, 0, 0));
    for (int i = 1; i < k->n_out; i++) /* mean, var and their saved forms */
        ODB_TRY(odb_kern_outline_like(k, i, i % 2 ? 3 : 4));
    return ODB_OK;
}

/* Since opset 14 an attribute asks for training; before, the outputs of training do (is_test's
 * default, training, is what files of that age leave in place for inference too). */
static bool norm_batch_trains(const struct odb_kern *k)
{
    if (k->op->since >= 14)
        return odb_kern_int(k, "training_mode", 0) != 0;
    for (int i = 1; i < k->n_out; i++)
        if (k->wanted[i])
            return true;
    return false;
}

/* The outputs of training: running statistics, then the batch's own. */
static void norm_batch_outputs(struct odb_kern *k, const struct norm_batch *s)
{
    double momentum = odb_kern_float(k, "momentum", 0.9);
    for (int i = 1; i < k->n_out; i++) {
        const double *now = i % 2 ? s->mean : s->var;
        struct odb_tensor *out = k->out[i];
        for (size_t c = 0; out && c < s->channels; c++) {
            double old = odb_tensor_f64(k->in[i % 2 ? 3 : 4], c);
            double value = i <= 2 ? old * momentum + now[c] * (1 - momentum) : now[c];
            odb_store_f64(out->dtype, out->data, c, value);
        }
    }
}

static enum odb_status norm_batch_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct norm_batch s = {.epsilon = odb_kern_float(k, "epsilon", 1e-5f), .x = x->data};
    norm_batch_shape(k, &s);
    double *params = odb_work_take(4 * s.channels + 1, sizeof *params);
    if (!params)
        return odb_kern_no_memory(k);
    s.scale = params;
    s.bias = params + s.channels;
    s.mean = params + 2 * s.channels;
    s.var = params + 3 * s.channels;
    for (size_t i = 0; i < 4; i++)
        odb_convert(ODB_F64, params + i * s.channels, k->in[1 + i]->dtype, k->in[1 + i]->data,
                    s.channels);
    size_t grain = NORM_GRAIN / (s.length + 1) + 1;
    bool train = norm_batch_trains(k);
    if (train)
        odb_parallel_for(s.channels, grain, ODB_REAL_FN(k, x->dtype, norm_moments), &s);
    if (k->out[0] && x->count) {
        s.y = k->out[0]->data;
        odb_parallel_for(s.images * s.channels, grain, ODB_REAL_FN(k, x->dtype, norm_channels), &s);
    }
    if (train || k->n_out > 1)
        norm_batch_outputs(k, &s);
    odb_work_give(params);
    return ODB_OK;
}

/* --- one block per instance, group or row ----------------------------------------------------- */

static enum odb_status norm_instance_infer(struct odb_kern *k)
{
    ODB_TRY(norm_check_rank(k, 2));
    for (int i = 1; i < 3; i++)
        ODB_TRY(norm_check_count(k, i, (size_t)k->in[0]->dims[1]));
    return odb_infer_same(k);
}

static enum odb_status norm_instance_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    size_t length = odb_dims_product(x->dims, 2, x->rank);
    struct norm s = {.length = length,
                     .run = ODB_MAX(length, 1),
                     .advance = 1,
                     .params = (size_t)x->dims[1],
                     .centred = true,
                     .epsilon = odb_kern_float(k, "epsilon", 1e-5f),
                     .x = x->data,
                     .scale = k->in[1]->data,
                     .bias = k->in[2]->data,
                     .y = k->out[0]->data};
    if (x->count)
        norm_run_blocks(k, &s, x->count / length);
    return ODB_OK;
}

static enum odb_status norm_group_infer(struct odb_kern *k)
{
    ODB_TRY(norm_check_rank(k, 2));
    int64_t groups = odb_kern_int(k, "num_groups", 0), channels = k->in[0]->dims[1];
    if (groups < 1 || channels % groups != 0)
        return ODB_KERN_FAIL(k, "%lld channels cannot be cut into %lld groups", (long long)channels,
                             (long long)groups);
    for (int i = 1; i < 3; i++)
        ODB_TRY(norm_check_count(k, i, (size_t)(k->op->since < 21 ? groups : channels)));
    return odb_infer_same(k);
}

static enum odb_status norm_group_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    size_t groups = (size_t)odb_kern_int(k, "num_groups", 1), channels = (size_t)x->dims[1];
    size_t image = odb_dims_product(x->dims, 2, x->rank);
    bool per_group = k->op->since < 21; /* scale and bias */
    struct norm s = {.length = channels / groups * image,
                     .params = per_group ? groups : channels,
                     .advance = per_group ? 1 : channels / groups,
                     .centred = true,
                     .epsilon = odb_kern_float(k, "epsilon", 1e-5f),
                     .x = x->data,
                     .scale = k->in[1]->data,
                     .bias = k->in[2]->data,
                     .y = k->out[0]->data};
    s.run = per_group ? s.length : image;
    if (x->count)
        norm_run_blocks(k, &s, (size_t)x->dims[0] * groups);
    return ODB_OK;
}

/* Whether a parameter is one row of elements, the same for all blocks: dimensions before the axis
 * are 1, the others full. */
static bool norm_is_row(const struct odb_tensor *t, const struct odb_tensor *x, int axis)
{
    for (int d = 0; d < t->rank; d++)
        if (d + x->rank - t->rank < axis && t->dims[d] != 1)
            return false;
    return t->count == odb_dims_product(x->dims, axis, x->rank);
}

/* A parameter in the kernel's type, spread over all of x where it is not one row. *out is a new
 * reference. */
static enum odb_status norm_param(struct odb_kern *k, const struct odb_tensor *t, bool spread,
                                  enum odb_dtype dtype, struct odb_tensor **out)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *cast;
    ODB_TRY(odb_tensor_cast(&cast, t, dtype, k->err));
    if (!spread) {
        *out = cast;
        return ODB_OK;
    }
    enum odb_status status = odb_tensor_new_raw(out, dtype, x->rank, x->dims, k->err);
    size_t size = odb_dtype_info(dtype)->bits / 8;
    int skip = x->rank - t->rank;
    for (size_t e = 0; status == ODB_OK && e < x->count; e++) {
        size_t rest = e, at = 0, step = 1;
        for (int d = x->rank - 1; d >= skip; d--) {
            at += t->dims[d - skip] == 1 ? 0 : rest % (size_t)x->dims[d] * step;
            step *= (size_t)t->dims[d - skip];
            rest /= (size_t)x->dims[d];
        }
        memcpy((char *)(*out)->data + e * size, (char *)cast->data + at * size, size);
    }
    odb_tensor_unref(cast);
    return status;
}

static enum odb_status norm_layer_infer_any(struct odb_kern *k, enum odb_dtype dtype)
{
    const struct odb_tensor *x = k->in[0];
    int axis;
    ODB_TRY(norm_check_rank(k, 1));
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), x->rank, false, &axis));
    for (int i = 1; i < k->n_in; i++) {
        const struct odb_tensor *t = k->in[i];
        for (int d = 0; t && d < t->rank; d++) {
            int to = d + x->rank - t->rank;
            if (to < 0 || (t->dims[d] != 1 && t->dims[d] != x->dims[to])) {
                char a[200], b[200];
                return ODB_KERN_FAIL(k, "%s does not broadcast to the input's %s",
                                     odb_shape_text(t, a, sizeof a),
                                     odb_shape_text(x, b, sizeof b));
            }
        }
    }
    ODB_TRY(odb_kern_outline(k, 0, dtype, x->rank, x->dims));
    int64_t dims[ODB_MAX_RANK];
    for (int d = 0; d < x->rank; d++)
        dims[d] = d < axis ? x->dims[d] : 1;
    int64_t stash = odb_kern_int(k, "stash_type", ODB_F32);
    if (stash < 0 || stash >= ODB_DTYPE_COUNT || !(ODB_BIT(stash) & ODB_T_FLOAT))
        return ODB_KERN_FAIL(k, "stash_type %lld is no floating-point type", (long long)stash);
    dtype = k->carry_f64 ? ODB_F64 : (enum odb_dtype)stash;
    for (int i = 1; i < k->n_out; i++)
        ODB_TRY(odb_kern_outline(k, i, dtype, x->rank, dims));
    return ODB_OK;
}

static enum odb_status norm_layer_infer(struct odb_kern *k)
{
    return norm_layer_infer_any(k, k->in[0]->dtype);
}

/* Of the scale's type: RMSNormalization, and ONNX Runtime's LayerNormalization of any opset. */
static enum odb_status norm_scaled_infer(struct odb_kern *k)
{
    return norm_layer_infer_any(k, k->in[1]->dtype);
}

/* Computed in the type of the result. */
static enum odb_status norm_layer_any(struct odb_kern *k, bool centred)
{
    const struct odb_tensor *x = k->in[0], *scale = k->in[1], *bias = odb_kern_in(k, 2);
    struct odb_tensor *own_x = NULL, *own_scale = NULL, *own_bias = NULL;
    enum odb_dtype dtype = k->op->infer == norm_scaled_infer ? scale->dtype : x->dtype;
    enum odb_status status;
    int axis;
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), x->rank, false, &axis));
    size_t length = odb_dims_product(x->dims, axis, x->rank);
    size_t blocks = odb_dims_product(x->dims, 0, axis);
    bool spread = !norm_is_row(scale, x, axis) || (bias && !norm_is_row(bias, x, axis));
    double *moments = odb_work_take(2 * blocks + 1, sizeof *moments);
    if (!moments)
        return odb_kern_no_memory(k);
    ODB_TRY_OUT(odb_tensor_cast(&own_x, x, dtype, k->err));
    ODB_TRY_OUT(norm_param(k, scale, spread, dtype, &own_scale));
    if (bias)
        ODB_TRY_OUT(norm_param(k, bias, spread, dtype, &own_bias));
    struct norm s = {.length = length,
                     .run = 1,
                     .advance = length,
                     .params = own_scale->count,
                     .centred = centred,
                     .epsilon = odb_kern_float(k, "epsilon", 1e-5f),
                     .x = own_x->data,
                     .scale = own_scale->data,
                     .bias = own_bias ? own_bias->data : NULL,
                     .y = k->out[0] ? k->out[0]->data : NULL,
                     .mean = moments,
                     .inverse = moments + blocks};
    if (x->count)
        odb_parallel_for(blocks, NORM_GRAIN / (length + 1) + 1, ODB_REAL_FN(k, dtype, norm_blocks),
                         &s);
    for (int i = 1; i < k->n_out; i++)
        for (size_t b = 0; k->out[i] && b < blocks; b++)
            odb_store_f64(k->out[i]->dtype, k->out[i]->data, b, moments[(i == 1 ? 0 : blocks) + b]);
out:
    odb_tensor_unref(own_x);
    odb_tensor_unref(own_scale);
    odb_tensor_unref(own_bias);
    odb_work_give(moments);
    return status;
}

static enum odb_status norm_layer_run(struct odb_kern *k)
{
    return norm_layer_any(k, true);
}

static enum odb_status norm_rms_run(struct odb_kern *k)
{
    return norm_layer_any(k, false);
}

/* --- along channels and other axes ------------------------------------------------------------ */

static enum odb_status norm_lrn_infer(struct odb_kern *k)
{
    ODB_TRY(norm_check_rank(k, 2));
    if (odb_kern_int(k, "size", 0) < 1)
        return ODB_KERN_FAIL(k, "size is %lld", (long long)odb_kern_int(k, "size", 0));
    return odb_infer_same(k);
}

static enum odb_status norm_lrn_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct norm_lrn s = {.channels = (size_t)x->dims[1],
                         .length = odb_dims_product(x->dims, 2, x->rank),
                         .size = (size_t)odb_kern_int(k, "size", 1),
                         .alpha = odb_kern_float(k, "alpha", 1e-4f),
                         .beta = odb_kern_float(k, "beta", 0.75),
                         .bias = odb_kern_float(k, "bias", 1),
                         .x = x->data,
                         .y = k->out[0]->data};
    if (x->count)
        odb_parallel_for(x->count / s.length, NORM_GRAIN / (s.length * 8) + 1,
                         ODB_REAL_FN(k, x->dtype, norm_lrn), &s);
    return ODB_OK;
}

static enum odb_status norm_run_lanes(struct odb_kern *k, const bool *reduced, int p)
{
    const struct odb_tensor *x = k->in[0];
    struct norm_lanes s = {.p = p, .x = x->data, .y = k->out[0]->data};
    odb_lanes_split(x->dims, x->rank, reduced, &s.lanes);
    if (x->count)
        odb_parallel_for(s.lanes.kept.count, NORM_GRAIN / (4 * s.lanes.reduced.count) + 1,
                         ODB_REAL_FN(k, x->dtype, norm_lanes), &s);
    return ODB_OK;
}

static enum odb_status norm_lp_infer(struct odb_kern *k)
{
    int64_t p = odb_kern_int(k, "p", 2);
    int axis;
    if (p != 1 && p != 2)
        return ODB_KERN_FAIL(k, "p is %lld; only 1 and 2 are defined", (long long)p);
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), k->in[0]->rank, false, &axis));
    return odb_infer_same(k);
}

static enum odb_status norm_lp_run(struct odb_kern *k)
{
    bool reduced[ODB_MAX_RANK] = {false};
    int axis;
    ODB_TRY(odb_kern_axis(k, odb_kern_int(k, "axis", -1), k->in[0]->rank, false, &axis));
    reduced[axis] = true;
    return norm_run_lanes(k, reduced, (int)odb_kern_int(k, "p", 2));
}

static enum odb_status norm_mvn_axes(struct odb_kern *k, bool *reduced)
{
    int axes[ODB_MAX_RANK] = {0, 2, 3}, n = 3, rank = k->in[0]->rank;
    memset(reduced, 0, ODB_MAX_RANK * sizeof *reduced);
    if (odb_kern_has(k, "axes"))
        ODB_TRY(odb_kern_axes(k, -1, "axes", rank, axes, &n));
    for (int i = 0; i < n; i++) {
        if (axes[i] >= rank)
            return ODB_KERN_FAIL(k, "axis %d does not fit a tensor of rank %d", axes[i], rank);
        reduced[axes[i]] = true;
    }
    return ODB_OK;
}

static enum odb_status norm_mvn_infer(struct odb_kern *k)
{
    bool reduced[ODB_MAX_RANK];
    ODB_TRY(norm_mvn_axes(k, reduced));
    return odb_infer_same(k);
}

static enum odb_status norm_mvn_run(struct odb_kern *k)
{
    bool reduced[ODB_MAX_RANK];
    ODB_TRY(norm_mvn_axes(k, reduced));
    return norm_run_lanes(k, reduced, 0);
}

/* --- the table -------------------------------------------------------------------------------- */

#define NORM_EPSILON ODB_OPTIONAL_ATTR("epsilon", FLOAT, "1e-05")
#define NORM_MOMENTUM ODB_OPTIONAL_ATTR("momentum", FLOAT, "0.9")
#define NORM_SPATIAL ODB_OPTIONAL_ATTR("spatial", INT, "1")
#define NORM_CONSUMED ODB_OPTIONAL_ATTR("consumed_inputs", INTS, NULL)
#define NORM_STASH ODB_OPTIONAL_ATTR("stash_type", INT, "1")
#define NORM_AXIS ODB_OPTIONAL_ATTR("axis", INT, "-1")

static const struct odb_attr_spec norm_batch_attrs_1[] = {
    {"consumed_inputs", ODB_ATTR_INTS, NULL, true},
    NORM_EPSILON,
    {"is_test", ODB_ATTR_INT, "0", false},
    NORM_MOMENTUM,
    NORM_SPATIAL,
    {NULL}};
static const struct odb_attr_spec norm_batch_attrs_7[] = {
    NORM_EPSILON, NORM_MOMENTUM, NORM_SPATIAL, {NULL}};
static const struct odb_attr_spec norm_batch_attrs_9[] = {NORM_EPSILON, NORM_MOMENTUM, {NULL}};
static const struct odb_attr_spec norm_batch_attrs_14[] = {
    NORM_EPSILON, NORM_MOMENTUM, {"training_mode", ODB_ATTR_INT, "0", false}, {NULL}};
static const struct odb_attr_spec norm_instance_attrs[] = {NORM_CONSUMED, NORM_EPSILON, {NULL}};
static const struct odb_attr_spec norm_group_attrs[] = {
    NORM_EPSILON, {"num_groups", ODB_ATTR_INT, NULL, true}, NORM_STASH, {NULL}};
static const struct odb_attr_spec norm_layer_attrs[] = {
    NORM_AXIS, NORM_EPSILON, NORM_STASH, {NULL}};
static const struct odb_attr_spec norm_lrn_attrs[] = {{"alpha", ODB_ATTR_FLOAT, "0.0001", false},
                                                      {"beta", ODB_ATTR_FLOAT, "0.75", false},
                                                      {"bias", ODB_ATTR_FLOAT, "1", false},
                                                      {"size", ODB_ATTR_INT, NULL, true},
                                                      {NULL}};
static const struct odb_attr_spec norm_lp_attrs[] = {
    NORM_AXIS, {"p", ODB_ATTR_INT, "2", false}, {NULL}};
static const struct odb_attr_spec norm_mvn_attrs[] = {{"axes", ODB_ATTR_INTS, "[0, 2, 3]", false},
                                                      {NULL}};

const struct odb_op odb_ops_norm[] = {
    ODB_ONNX("BatchNormalization", 1, ODB_ARITY(5, 5), ODB_ARITY(1, 5), ODB_OP_REAL,
             norm_batch_attrs_1, norm_batch_infer, norm_batch_run, ODB_T_FLOAT,
             ODB_NAMES("X,scale,B,mean,var", "Y,mean,var,saved_mean,saved_var"), ODB_HALVES(7, 14),
             ODB_WORK(per_output, 2)),
    ODB_ONNX("BatchNormalization", 7, ODB_ARITY(5, 5), ODB_ARITY(1, 5), ODB_OP_REAL,
             norm_batch_attrs_7, norm_batch_infer, norm_batch_run, ODB_T_FLOAT),
    ODB_ONNX("BatchNormalization", 9, ODB_ARITY(5, 5), ODB_ARITY(1, 5), ODB_OP_REAL,
             norm_batch_attrs_9, norm_batch_infer, norm_batch_run, ODB_T_FLOAT),
    ODB_ONNX("BatchNormalization", 14, ODB_ARITY(5, 5), ODB_ARITY(1, 3), ODB_OP_REAL,
             norm_batch_attrs_14, norm_batch_infer, norm_batch_run, ODB_T_FLOAT, ODB_AS(0),
             ODB_AS(0), ODB_T_FLOAT,
             ODB_NAMES("X,scale,B,input_mean,input_var", "Y,running_mean,running_var")),
    ODB_ONNX("BatchNormalization", 15, ODB_ARITY(5, 5), ODB_ARITY(1, 3), ODB_OP_REAL,
             norm_batch_attrs_14, norm_batch_infer, norm_batch_run, ODB_T_FLOAT, ODB_T_FLOAT,
             ODB_AS(1), ODB_T_FLOAT),
    ODB_ONNX("InstanceNormalization", 1, ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL,
             norm_instance_attrs, norm_instance_infer, norm_instance_run, ODB_T_FLOAT,
             ODB_NAMES("input,scale,B", "output"), ODB_HALVES(1, 22), ODB_WORK(per_input, 7)),
    ODB_ONNX("GroupNormalization", 18, ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL,
             norm_group_attrs, norm_group_infer, norm_group_run, ODB_T_FLOAT,
             ODB_NAMES("X,scale,bias", "Y"), ODB_HALVES(21, 21), ODB_WORK(per_input, 7),
             ODB_INSTEAD("import opset 21, whose scale and bias are per channel")),
    ODB_ONNX("GroupNormalization", 21, ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL,
             norm_group_attrs, norm_group_infer, norm_group_run, ODB_T_FLOAT),
    ODB_ONNX("LayerNormalization", 1, ODB_ARITY(2, 3), ODB_ARITY(1, 3), ODB_OP_REAL | ODB_OP_OPEN,
             norm_layer_attrs, norm_scaled_infer, norm_layer_run, ODB_T_FLOAT, ODB_T_FLOAT,
             ODB_HALVES(17, 17, 0, 6), ODB_WORK(per_input, 7),
             ODB_FUSES(" Add Mul Div ", ODB_WORDS_NORM), ODB_STANDARD(17)),
    ODB_ONNX("LayerNormalization", 17, ODB_ARITY(2, 3), ODB_ARITY(1, 3), ODB_OP_REAL,
             norm_layer_attrs, norm_layer_infer, norm_layer_run, ODB_T_FLOAT,
             ODB_NAMES("X,Scale,B", "Y,Mean,InvStdDev")),
    ODB_ONNX("RMSNormalization", 23, ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL,
             norm_layer_attrs, norm_scaled_infer, norm_rms_run, ODB_T_FLOAT, ODB_T_FLOAT,
             ODB_NAMES("X,scale", "Y"), ODB_HALVES(23, 23), ODB_WORK(per_input, 4)),
    ODB_ONNX("LRN", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, norm_lrn_attrs,
             norm_lrn_infer, norm_lrn_run, ODB_T_FLOAT, ODB_NAMES("X", "Y"), ODB_HALVES(1, 13),
             ODB_WORK(lrn)),
    ODB_ONNX("LpNormalization", 1, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL, norm_lp_attrs,
             norm_lp_infer, norm_lp_run, ODB_T_FLOAT, ODB_NAMES("input", "output"),
             ODB_HALVES(1, 22), ODB_WORK(per_input, 3)),
    ODB_ONNX("MeanVarianceNormalization", 9, ODB_ARITY(1, 1), ODB_ARITY(1, 1), ODB_OP_REAL,
             norm_mvn_attrs, norm_mvn_infer, norm_mvn_run, ODB_T_FLOAT, ODB_NAMES("X", "Y")),
    {.name = NULL},
};
