/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tensors with simpler values, or with random ones: what a failure that does not depend on them
 * is shown with.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shrink/minimise_int.h"
#include "tensor/random.h"

static const char *const simple_names[SIMPLE_COUNT] = {"zeros", "ones", "small integers"};

const char *simple_name(enum simple kind)
{
    return simple_names[kind];
}

static bool simple_numeric(const struct odb_tensor *t)
{
    enum odb_dtype_class class = odb_dtype_info(t->dtype)->class_;
    return t->kind == ODB_TENSOR && t->data && t->count > 0 &&
           (class == ODB_CLASS_FLOAT || class == ODB_CLASS_INT || class == ODB_CLASS_UINT ||
            class == ODB_CLASS_BOOL);
}

/* How far it is simplified already: zeros are the simplest. */
static enum simple simple_rank(const struct odb_tensor *t)
{
    bool zeros = true, bits = true, small = true;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        zeros = zeros && v == 0;
        bits = bits && (v == 0 || v == 1);
        small = small && v == rint(v) && fabs(v) <= 8;
    }
    return zeros ? SIMPLE_ZEROS : bits ? SIMPLE_ONES : small ? SIMPLE_SMALL : SIMPLE_COUNT;
}

bool simple_is(const struct odb_tensor *t)
{
    return simple_numeric(t) && simple_rank(t) < SIMPLE_COUNT;
}

/* Largest numbers around 8, in steps of half the root mean square at most. */
static double simple_scale(const struct odb_tensor *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        sum += isfinite(v) ? v * v : 0;
    }
    return 2 / sqrt(sum / (double)t->count);
}

enum odb_status simple_tensor(struct odb_tensor **out, const struct odb_tensor *t, enum simple kind,
                              struct odb_error *err)
{
    *out = NULL;
    if (!simple_numeric(t) || simple_rank(t) <= kind ||
        (kind == SIMPLE_SMALL && !odb_dtype_is_float(t->dtype)))
        return ODB_OK;
    ODB_TRY(odb_tensor_new(out, t->dtype, t->rank, t->dims, err));
    double scale = kind == SIMPLE_SMALL ? simple_scale(t) : 0;
    for (size_t i = 0; i < t->count && kind != SIMPLE_ZEROS; i++) {
        double v = kind == SIMPLE_ONES ? 1 : rint(odb_tensor_f64(t, i) * scale);
        odb_store_f64(t->dtype, (*out)->data, i, isnan(v) ? 1 : fmax(-8, fmin(8, v)));
    }
    return ODB_OK;
}

/* --- random ones ------------------------------------------------------------------------------ */

struct simple_kind {
    double mean, std, min, max; /* of those that are not zero */
    size_t zeros, others;
    bool finite;
};

static struct simple_kind simple_measure(const struct odb_tensor *t)
{
    struct simple_kind k = {.min = INFINITY, .max = -INFINITY, .finite = true};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        k.finite = k.finite && isfinite(v);
        k.zeros += v == 0;
        sum += v;
        if (v != 0) {
            k.min = fmin(k.min, v);
            k.max = fmax(k.max, v);
        }
    }
    k.others = t->count - k.zeros;
    k.mean = k.others ? sum / (double)k.others : 0;
    for (size_t i = 0; i < t->count; i++) {
        double v = odb_tensor_f64(t, i);
        squares += v != 0 ? (v - k.mean) * (v - k.mean) : 0;
    }
    k.std = k.others ? sqrt(squares / (double)k.others) : 0;
    return k;
}

/* Uniform in (0, 1). */
static double simple_uniform(uint64_t seed, uint64_t i)
{
    return ((double)(odb_mix64(odb_mix64(seed) + i) >> 11) + 0.5) * 0x1p-53;
}

/* Of the wanted mean and deviation: normal, or lognormal where all have one sign, as variances and
 * scales do. */
static double simple_draw(const struct simple_kind *k, uint64_t seed, uint64_t i)
{
    double u = simple_uniform(seed, 3 * i + 1), w = simple_uniform(seed, 3 * i + 2);
    double normal = sqrt(-2 * log(u)) * cos(2 * M_PI * w);
    if (k->min <= 0 && k->max >= 0)
        return k->mean + k->std * normal;
    double spread = log1p(k->std * k->std / (k->mean * k->mean));
    return copysign(exp(log(fabs(k->mean)) - spread / 2 + sqrt(spread) * normal), k->mean);
}

enum odb_status simple_scramble(struct odb_tensor **out, const struct odb_tensor *t, uint64_t seed,
                                struct odb_error *err)
{
    const struct odb_dtype_info *info = odb_dtype_info(t->dtype);
    bool real = info->class_ == ODB_CLASS_FLOAT;
    bool quantised = (info->class_ == ODB_CLASS_INT || info->class_ == ODB_CLASS_UINT) &&
                     info->bits <= 8; /* wider ones are shapes and indices */
    *out = NULL;
    if (!simple_numeric(t) || !(real || quantised))
        return ODB_OK;
    struct simple_kind k = simple_measure(t);
    if (!k.finite || k.std == 0)
        return ODB_OK;
    ODB_TRY(odb_tensor_new(out, t->dtype, t->rank, t->dims, err));
    double share = (double)k.zeros / (double)t->count;
    for (size_t i = 0; i < t->count; i++) {
        if (simple_uniform(seed, 3 * i) < share)
            continue;
        double v = simple_draw(&k, seed, i);
        odb_store_f64(t->dtype, (*out)->data, i, quantised ? fmax(k.min, fmin(k.max, rint(v))) : v);
    }
    return ODB_OK;
}

/* --- crops ------------------------------------------------------------------------------------ */

enum odb_status simple_crop(struct odb_tensor **out, const struct odb_tensor *t, int axis,
                            int64_t n, struct odb_error *err)
{
    size_t bits = odb_dtype_info(t->dtype)->bits, inner = 1, outer = 1;
    int64_t dims[ODB_MAX_RANK];
    if (t->kind != ODB_TENSOR || !t->data || bits % 8 || !bits || axis >= t->rank ||
        n > t->dims[axis])
        return odb_fail(err, ODB_UNSUPPORTED, "it cannot be cropped");
    memcpy(dims, t->dims, sizeof dims);
    dims[axis] = n;
    for (int i = 0; i < t->rank; i++) {
        outer *= i < axis ? (size_t)dims[i] : 1;
        inner *= i > axis ? (size_t)dims[i] : 1;
    }
    inner *= bits / 8;
    ODB_TRY(odb_tensor_new(out, t->dtype, t->rank, dims, err));
    for (size_t o = 0; o < outer; o++)
        memcpy((char *)(*out)->data + o * (size_t)n * inner,
               (const char *)t->data + o * (size_t)t->dims[axis] * inner, (size_t)n * inner);
    return ODB_OK;
}
