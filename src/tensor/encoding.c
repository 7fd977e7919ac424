/* SPDX-License-Identifier: MIT */
#include "tensor/encoding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Multiples below this are rounded by adding and taking away a number whose unit is 1. */
#define ENCODING_FLOAT 4194304
#define ENCODING_ROUND 12582912.0f

/* --- a list of them --------------------------------------------------------------------------- */

void odb_encoding_init(struct odb_encoding *out, const char *name, size_t n)
{
    *out = (struct odb_encoding){.name = odb_xstrdup(name),
                                 .axis = ODB_ENCODING_NO_AXIS,
                                 .block_axis = ODB_ENCODING_NO_AXIS,
                                 .n = n,
                                 .scale = odb_new_n(odb_f32, n),
                                 .lo = odb_new_n(double, n),
                                 .hi = odb_new_n(double, n)};
}

void odb_encoding_dispose(struct odb_encoding *encoding)
{
    free(encoding->name);
    free(encoding->scale);
    free(encoding->lo);
    free(encoding->hi);
    *encoding = (struct odb_encoding){.name = NULL};
}

bool odb_encodings_add(struct odb_encodings *encodings, struct odb_encoding *encoding)
{
    if (!encodings->by_name)
        encodings->by_name = odb_map_new();
    if (!odb_map_add(encodings->by_name, encoding->name, encodings->list.n))
        return false;
    odb_push(&encodings->list, *encoding);
    *encoding = (struct odb_encoding){.name = NULL};
    return true;
}

const struct odb_encoding *odb_encodings_find(const struct odb_encodings *encodings,
                                              const char *name)
{
    size_t at;
    if (!encodings || !odb_map_get(encodings->by_name, name, &at))
        return NULL;
    return &encodings->list.items[at];
}

void odb_encodings_free(struct odb_encodings *encodings)
{
    if (!encodings)
        return;
    for (size_t i = 0; i < encodings->list.n; i++)
        odb_encoding_dispose(&encodings->list.items[i]);
    free(encodings->list.items);
    odb_map_free(encodings->by_name);
    free(encodings->path);
    free(encodings->format);
    free(encodings);
}

/* --- where a scale holds ---------------------------------------------------------------------- */

static enum odb_status encoding_check_axis(const struct odb_encoding *e, int axis,
                                           const struct odb_tensor *t, struct odb_error *err)
{
    char shape[300];
    if (axis < t->rank)
        return ODB_OK;
    return odb_fail(err, ODB_E_INPUT, "%.200s is %s and has no axis %d, which its encoding names",
                    e->name, odb_shape_text(t, shape, sizeof shape), axis);
}

enum odb_status odb_encoding_check(const struct odb_encoding *e, const struct odb_tensor *t,
                                   struct odb_error *err)
{
    char shape[300];
    size_t channels = 1, blocks = 1;
    if (e->type != ODB_UNDEFINED || e->n == 1)
        return ODB_OK;
    ODB_TRY(encoding_check_axis(e, e->axis, t, err));
    ODB_TRY(encoding_check_axis(e, e->block_axis, t, err));
    if (e->axis >= 0)
        channels = (size_t)t->dims[e->axis];
    if (e->block_axis >= 0)
        blocks = (size_t)((t->dims[e->block_axis] + e->block - 1) / e->block);
    if (channels * blocks == e->n)
        return ODB_OK;
    odb_shape_text(t, shape, sizeof shape);
    if (e->block_axis < 0)
        return odb_fail(err, ODB_E_INPUT,
                        "%.200s is %s and has %zu channels along axis %d, its encoding %zu scales",
                        e->name, shape, channels, e->axis, e->n);
    return odb_fail(err, ODB_E_INPUT,
                    "%.200s is %s and has %zu channels of %zu blocks, its encoding %zu scales",
                    e->name, shape, channels, blocks, e->n);
}

void odb_encoding_walk(struct odb_encoding_walk *w, const struct odb_encoding *e,
                       const struct odb_tensor *t)
{
    *w = (struct odb_encoding_walk){.count = t->count};
    for (int d = 0; d < t->rank && e->n > 1; d++) {
        if ((d != e->axis && d != e->block_axis) || w->axes == 2)
            continue;
        size_t inner = 1, dim = (size_t)t->dims[d];
        for (int k = d + 1; k < t->rank; k++)
            inner *= (size_t)t->dims[k];
        size_t block = d == e->block_axis ? (size_t)e->block : 1;
        w->axis[w->axes].inner = inner;
        w->axis[w->axes].dim = dim;
        w->axis[w->axes].block = block;
        w->axis[w->axes].stride = 1;
        for (int k = 0; k < w->axes; k++)
            w->axis[k].stride = (dim + block - 1) / block;
        w->axes++;
    }
}

bool odb_encoding_next(struct odb_encoding_walk *w)
{
    size_t begin = w->begin + w->n;
    w->begin = begin;
    w->at = 0;
    if (begin >= w->count)
        return false;
    w->n = w->count - begin;
    for (int k = 0; k < w->axes; k++) {
        size_t i = begin / w->axis[k].inner % w->axis[k].dim, block = w->axis[k].block;
        w->at += i / block * w->axis[k].stride;
        if (k == w->axes - 1)
            w->n = ODB_MIN(block - i % block, w->axis[k].dim - i) * w->axis[k].inner;
    }
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

double odb_encoding_step(const struct odb_encoding *e, size_t at, double x)
{
    if (e->type == ODB_UNDEFINED)
        return (double)e->scale[at];
    const struct odb_dtype_info *info = odb_dtype_info(e->type);
    return isfinite(x) && x != 0 ? fmax(ldexp(info->eps, ilogb(x)), info->tiny) : info->tiny;
}

double odb_encoding_clip(const struct odb_encoding *e, size_t at, double x)
{
    if (e->type != ODB_UNDEFINED)
        return x;
    double lo = e->lo[at] * (double)e->scale[at], hi = e->hi[at] * (double)e->scale[at];
    return x < lo ? lo : x > hi ? hi : x;
}

/* -1 up to 1, another one for each element: the finaliser of splitmix64. */
static double encoding_random(uint64_t seed, size_t i)
{
    uint64_t x = seed + (uint64_t)i * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-52 - 1;
}

static double encoding_nearest(const struct odb_encoding *e, size_t at, double x, double tip)
{
    double scale = (double)e->scale[at];
    if (!(scale > 0))
        return isnan(x) ? x : 0;
    double k = x / scale + tip;
    k = nearbyint(k < e->lo[at] ? e->lo[at] : k > e->hi[at] ? e->hi[at] : k);
    return k * scale;
}

/* The same in float, as targets and runtimes do it, for steps that are few. */
static void encoding_floats(const struct odb_encoding *e, const struct odb_encoding_walk *w,
                            const odb_f32 *restrict x, odb_f32 *restrict to)
{
    float scale = e->scale[w->at], lo = (float)e->lo[w->at], hi = (float)e->hi[w->at];
    for (size_t i = w->begin; i < w->begin + w->n; i++) {
        float k = x[i] / scale;
        k = k < lo ? lo : k > hi ? hi : k;
        to[i] = ((k + ENCODING_ROUND) - ENCODING_ROUND) * scale;
    }
}

static void encoding_span(const struct odb_encoding *e, const struct odb_encoding_walk *w,
                          const struct odb_tensor *t, double tip, uint64_t seed,
                          struct odb_tensor *out)
{
    bool few = e->lo[w->at] > -ENCODING_FLOAT && e->hi[w->at] < ENCODING_FLOAT;
    if (t->dtype == ODB_F32 && few && !(tip > 0) && e->scale[w->at] > 0) {
        encoding_floats(e, w, t->data, out->data);
        return;
    }
    for (size_t i = w->begin; i < w->begin + w->n; i++) {
        double moved = tip > 0 ? tip * encoding_random(seed, i) : 0;
        odb_store_f64(out->dtype, out->data, i,
                      encoding_nearest(e, w->at, odb_tensor_f64(t, i), moved));
    }
}

/* Rounded to a half type, and carried in its own. */
static enum odb_status encoding_halves(const struct odb_encoding *e, const struct odb_tensor *t,
                                       struct odb_tensor **out, struct odb_error *err)
{
    struct odb_tensor *half = NULL;
    ODB_TRY(odb_tensor_cast(&half, t, e->type, err));
    enum odb_status status = odb_tensor_cast(out, half, t->dtype, err);
    odb_tensor_unref(half);
    return status;
}

enum odb_status odb_encoding_apply(const struct odb_encoding *e, const struct odb_tensor *t,
                                   double tip, uint64_t seed, struct odb_tensor **out,
                                   struct odb_error *err)
{
    struct odb_encoding_walk w;
    *out = NULL;
    if (t->kind != ODB_TENSOR || !odb_dtype_is_float(t->dtype) || (!t->data && t->count)) {
        *out = odb_tensor_ref(t);
        return ODB_OK;
    }
    ODB_TRY(odb_encoding_check(e, t, err));
    if (e->type != ODB_UNDEFINED) {
        ODB_TRY(encoding_halves(e, t, out, err));
    } else {
        ODB_TRY(odb_tensor_new_raw(out, t->dtype, t->rank, t->dims, err));
        for (odb_encoding_walk(&w, e, t); odb_encoding_next(&w);)
            encoding_span(e, &w, t, tip, seed, *out);
    }
    (*out)->declared = t->declared;
    return ODB_OK;
}
