/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The other model's values as the original's: dequantised, in its types, and which is which.
 */
#include "twomodels/against_int.h"

#include <math.h>
#include <string.h>

#include "twomodels/blocked.h"
#include "run/hooks.h"
#include "reference/trace.h"

#define AGAINST_NEAR 1e-4      /* gaps of float32 up to this are no difference */
#define AGAINST_NEAR_HALF 2e-2 /* and of narrower types */
#define AGAINST_FEW 8          /* elements that say nothing */
#define AGAINST_SAMPLE 64
#define AGAINST_FAR 10 /* a sample that is so many times near needs no closer look */

static enum odb_status against_dequantise(struct odb_tensor **out, const struct odb_tensor *t,
                                          const struct odb_tensor *scale,
                                          const struct odb_tensor *zero, struct odb_error *err)
{
    ODB_TRY(odb_tensor_new_raw(out, ODB_F32, t->rank, t->dims, err));
    double step = odb_tensor_f64(scale, 0), at = zero ? odb_tensor_f64(zero, 0) : 0;
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(ODB_F32, (*out)->data, i, (odb_tensor_f64(t, i) - at) * step);
    return ODB_OK;
}

/* A target's value in another type is stored in the same integers. */
static enum odb_status against_type(struct odb_tensor **out, const struct odb_tensor *t,
                                    enum odb_dtype dtype, struct odb_error *err)
{
    ODB_TRY(odb_tensor_cast(out, t, dtype, err));
    if (*out != t)
        odb_tensor_set_steps(*out, t->steps_axis, t->steps, t->n_steps);
    return ODB_OK;
}

const struct odb_tensor *against_number(const struct against *x, int value)
{
    const struct odb_value *behind = value < 0 ? NULL : odb_constant_behind(x->b, value);
    const struct odb_tensor *t = behind      ? odb_constant_tensor(x->b, behind)
                                 : value < 0 ? NULL
                                             : x->had[value];
    return t && t->kind == ODB_TENSOR && t->count == 1 && t->data ? t : NULL;
}

enum odb_status against_plain_of(const struct against *x, int w, const struct odb_tensor *t,
                                 struct odb_tensor **out, struct odb_error *err)
{
    int scale, zero = ODB_NO_VALUE;
    if (t && t->kind == ODB_TENSOR && odb_dtype_is_integer(t->dtype) &&
        odb_quantised_by(x->b, w, &scale, &zero) && against_number(x, scale))
        return against_dequantise(out, t, against_number(x, scale), against_number(x, zero), err);
    if (t && x->blocked[w] && x->block)
        return odb_blocked_undo(out, t, x->block, err);
    if (t && t->kind == ODB_TENSOR && odb_dtype_is_float(t->dtype) && t->dtype != ODB_F64)
        return against_type(out, t, ODB_F32, err);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

/* Whether t is the reference's but for channels that fill the last block. */
static bool against_filled(const struct against *x, const struct odb_tensor *ref,
                           const struct odb_tensor *t)
{
    return x->block && ref && t && ref->kind == ODB_TENSOR && t->kind == ODB_TENSOR &&
           ref->rank == 4 && t->rank == 4 && ref->dtype == t->dtype && t->dims[0] == ref->dims[0] &&
           t->dims[1] > ref->dims[1] && t->dims[1] - ref->dims[1] < x->block &&
           t->dims[2] == ref->dims[2] && t->dims[3] == ref->dims[3];
}

enum odb_status against_cast(const struct against *x, int u, const struct odb_tensor *plain,
                             struct odb_tensor **out, struct odb_error *err)
{
    const struct odb_tensor *ref = x->trace->ref[u];
    if (against_filled(x, ref, plain))
        return odb_blocked_crop(out, plain, ref->dims[1], err);
    if (ref && ref->kind == ODB_TENSOR && plain->kind == ODB_TENSOR && ref->dtype != ODB_STRING &&
        plain->dtype != ODB_STRING &&
        odb_dtype_is_float(ref->dtype) == odb_dtype_is_float(plain->dtype))
        return against_type(out, plain, ref->dtype, err);
    *out = odb_tensor_ref(plain);
    return ODB_OK;
}

static enum odb_status against_plain(struct against *x, struct odb_error *err)
{
    for (size_t w = 0; w < x->b->n_values; w++)
        ODB_TRY(against_plain_of(x, (int)w, x->had[w], &x->plain[w], err));
    return ODB_OK;
}

/* Whether what the original has for a value can be distinguished from what it has for others. */
static bool against_tells(void *payload, int u)
{
    struct against *x = payload;
    const struct odb_tensor *t = x->trace->ref[u];
    if (!t || x->tells[u])
        return t && x->tells[u] > 0;
    double squares = 0, first = t->count ? odb_tensor_f64(t, 0) : 0;
    bool constant = true, finite = true;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        constant = constant && v == first;
        finite = finite && isfinite(v);
        squares += v * v;
    }
    x->rms[u] = t->count ? sqrt(squares / (double)t->count) : 0;
    x->tells[u] = t->count >= AGAINST_FEW && !constant && finite && x->rms[u] > 0 ? 1 : -1;
    return x->tells[u] > 0;
}

static double against_distance(struct against *x, int u, const struct odb_tensor *b)
{
    const struct odb_tensor *a = x->trace->ref[u];
    struct odb_gap gap;
    bool numbers = odb_dtype_is_float(a->dtype) == odb_dtype_is_float(b->dtype) &&
                   a->dtype != ODB_STRING && b->dtype != ODB_STRING;
    if (!odb_tensor_same_shape(a, b) || !numbers)
        return INFINITY;
    against_tells(x, u);
    if (!(x->rms[u] > 0 && isfinite(x->rms[u])))
        return odb_tensor_identical(a, b) ? 0 : NAN;
    double sample = 0;
    size_t step = a->count > AGAINST_SAMPLE ? a->count / AGAINST_SAMPLE : 1;
    for (size_t i = 0; i < a->count; i += step)
        sample = fmax(sample, fabs(odb_tensor_f64(a, i) - odb_tensor_f64(b, i)));
    sample /= x->rms[u];
    if (sample > AGAINST_FAR * x->near)
        return sample;
    odb_gap_measure(&gap, b, a);
    return gap.comparable && gap.pattern ? gap.error : sample + 1;
}

static double against_gap(void *payload, int u, int w)
{
    struct against *x = payload;
    const struct odb_tensor *a = x->trace->ref[u], *b = x->plain[w];
    struct odb_tensor *fewer = NULL;
    if (!a || !b || a->kind != ODB_TENSOR || b->kind != ODB_TENSOR)
        return NAN;
    if (against_filled(x, a, b) && odb_blocked_crop(&fewer, b, a->dims[1], NULL) != ODB_OK)
        return NAN;
    double gap = against_distance(x, u, fewer ? fewer : b);
    odb_tensor_unref(fewer);
    return gap;
}

static enum odb_status against_give(struct against *x, struct odb_error *err)
{
    for (size_t u = 0; u < x->a->n_values; u++) {
        int w = x->alignment.other[u];
        const struct odb_tensor *t = w < 0 || x->a->values[u].producer < 0 ? NULL : x->plain[w];
        x->stop_a[u] = w >= 0;
        if (w >= 0)
            x->stop_b[w] = true;
        if (t && !x->a->values[u].init)
            ODB_TRY(against_cast(x, (int)u, t, &x->given[u], err));
    }
    return ODB_OK;
}

/* A filter, and the numbers that are added to what it makes, as the original may have them. */
static enum odb_status against_unblock_conv(struct against *x, const struct odb_node *node,
                                            struct odb_error *err)
{
    const struct odb_value *w = node->n_in < 2 ? NULL : odb_constant_behind(x->b, node->in[1]);
    const struct odb_value *bias =
        node->n_in < 3 || node->in[2] < 0 ? NULL : odb_constant_behind(x->b, node->in[2]);
    if (!w || x->constants[w->index])
        return ODB_OK;
    ODB_TRY(
        odb_blocked_filter(&x->constants[w->index], odb_constant_tensor(x->b, w), x->block, err));
    const struct odb_tensor *filter = x->constants[w->index];
    const struct odb_tensor *sum = bias ? odb_constant_tensor(x->b, bias) : NULL;
    if (!filter || !sum || x->constants[bias->index] || sum->rank != 1 ||
        sum->dims[0] < filter->dims[0] || !sum->data)
        return ODB_OK;
    return odb_tensor_copy_of(&x->constants[bias->index], sum->dtype, 1, filter->dims, sum->data,
                              err);
}

/* Asks how large blocks are, where there are any, and puts constants into their usual order. */
static enum odb_status against_unblock(struct against *x, struct odb_error *err)
{
    x->n_blocked = odb_blocked_mark(x->b, x->blocked);
    if (!x->n_blocked)
        return ODB_OK;
    ODB_TRY(odb_blocked_ask(&x->block, x->how->spec, &x->options->hooks, err));
    x->loads++;
    x->runs++;
    for (size_t m = 0; m < x->b->n_nodes && x->block; m++)
        if (odb_blocked_node(&x->b->nodes[m]) && !strcmp(x->b->nodes[m].op_type, "Conv"))
            ODB_TRY(against_unblock_conv(x, &x->b->nodes[m], err));
    return ODB_OK;
}

enum odb_status against_align(struct against *x, struct odb_error *err)
{
    bool narrow = x->options->expect != NULL;
    x->near = narrow ? AGAINST_NEAR_HALF : AGAINST_NEAR;
    ODB_TRY(against_unblock(x, err));
    ODB_TRY(against_plain(x, err));
    struct odb_align_sides sides = {.original = x->a,
                                    .other = x->b,
                                    .mapped = against_mapped,
                                    .gap = against_gap,
                                    .tells = against_tells,
                                    .near = x->near,
                                    .unblocked = x->block > 0,
                                    .constants = x->constants,
                                    .payload = x};
    odb_hooks_phase(&x->options->hooks, "aligning the two models", 0);
    odb_align(&x->alignment, &sides);
    x->weights = odb_weights_compare(x->a, x->b, &x->alignment, x->trace->ref, &x->n_weights);
    return against_give(x, err);
}
