/* SPDX-License-Identifier: MIT
 *
 * Resize and Upsample. Interpolation is separable: each axis has, per output index, a few input
 * indices and their weights, and the axes are done one after the other, those that shrink first.
 * Nearest moves elements instead, of any type, by one table of indices per axis.
 *
 * Coordinates are computed in float32, because scales are float32 and other implementations compute
 * so too. Of floats that are interpolated the double mode has them in double and the noisy mode
 * multiplies by a ratio that was divided out before, as many implementations do: far from 0 such
 * coordinates are further apart than the values' own rounding. Nearest, integers, complex numbers
 * and what is beyond the input have float32's in all modes: a coordinate on the other side of a
 * border is a difference of the border, not of the values. Where the output length is not a whole
 * multiple of the scale, length_resized is the fractional length, as in ONNX's own reference; with
 * sizes it is the length itself. roi does not change the output's shape, as in ONNX's shape
 * inference.
 *
 * Where nearest is given sizes, no scale is rounded: from 20 to 6 elements, the fifth lies at 14.5,
 * and a scale of 0.3 in float32 would put it on the other side of the tie.
 *
 * Resize of opset 10 and Upsample do not say how nearest rounds: down, but up where an axis
 * shrinks, as ONNX Runtime does and ONNX's tests of the time expect.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/cells.h"

enum resize_mode { RESIZE_NEAREST, RESIZE_LINEAR, RESIZE_CUBIC };

enum resize_coords {
    RESIZE_HALF_PIXEL,
    RESIZE_HALF_PIXEL_SYMMETRIC,
    RESIZE_PYTORCH_HALF_PIXEL,
    RESIZE_ALIGN_CORNERS,
    RESIZE_ASYMMETRIC,
    RESIZE_TF_HALF_PIXEL_FOR_NN,
    RESIZE_TF_CROP_AND_RESIZE
};

enum resize_rounding {
    RESIZE_PREFER_FLOOR,
    RESIZE_PREFER_CEIL,
    RESIZE_FLOOR,
    RESIZE_CEIL,
    RESIZE_SIMPLE /* before opset 11 */
};

static const char *const resize_modes[] = {"nearest", "linear", "cubic", NULL};
static const char *const resize_coord_names[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
static const char *const resize_roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                               "ceil", NULL};

/* How coordinates are computed. */
enum resize_way {
    RESIZE_FLOATS,
    RESIZE_RATIOS, /* in float32 as well, by ratios that are rounded before they are used */
    RESIZE_DOUBLES
};

struct resize_axis {
    int64_t in, out;
    float scale;
    float width;      /* output length, maybe fractional */
    float start, end; /* of the region of interest, as fractions of the input */
    bool sized;       /* out was given, and no scale */
    bool same;        /* nothing to do */
};

struct resize {
    enum resize_mode mode;
    enum resize_coords coords;
    enum resize_rounding rounding;
    enum resize_way way;
    bool antialias, exclude_outside;
    double cubic_a, extrapolation;
    int rank;
    struct resize_axis axes[ODB_MAX_RANK];
};

/* One axis, ready to be computed. */
struct resize_pass {
    size_t outer, in, out, inner, taps;
    int64_t *at;           /* owned: [out][taps] input indices */
    double *weights;       /* owned: [out][taps] */
    unsigned char *beyond; /* owned: [out] outside the input: extrapolation */
    double extrapolation;
    const void *from;
    void *to;
};

/* --- reading the node ------------------------------------------------------------------------- */

static enum odb_status resize_choice(struct odb_kern *k, const char *attr, const char *const *names,
                                     int *out)
{
    const char *text = odb_kern_string(k, attr, names[0]);

    for (*out = 0; names[*out] != NULL; ++*out)
        if (strcmp(text, names[*out]) == 0)
            return ODB_OK;
    return ODB_KERN_FAIL(k, "unknown %s \"%s\"", attr, text);
}

static enum odb_status resize_read_modes(struct odb_kern *k, struct resize *r)
{
    int mode = 0, coords = RESIZE_ASYMMETRIC, rounding = RESIZE_SIMPLE;
    bool upsample = k->op->name[0] == 'U';

    if (upsample && strcmp(odb_kern_string(k, "mode", ""), "bilinear") == 0)
        mode = RESIZE_LINEAR;
    else
        ODB_TRY(resize_choice(k, "mode", resize_modes, &mode));
    if (!upsample && k->op->since >= 11) {
        ODB_TRY(resize_choice(k, "coordinate_transformation_mode", resize_coord_names, &coords));
        ODB_TRY(resize_choice(k, "nearest_mode", resize_roundings, &rounding));
    }
    r->mode = (enum resize_mode)mode;
    r->coords = (enum resize_coords)coords;
    r->rounding = (enum resize_rounding)rounding;
    r->antialias = odb_kern_int(k, "antialias", 0) != 0 && mode != RESIZE_NEAREST;
    r->exclude_outside = odb_kern_int(k, "exclude_outside", 0) != 0;
    r->cubic_a = odb_kern_float(k, "cubic_coeff_a", -0.75);
    r->extrapolation = odb_kern_float(k, "extrapolation_value", 0);
    return ODB_OK;
}

/* The axes that scales, sizes and roi speak of, in their order. */
static enum odb_status resize_read_axes(struct odb_kern *k, int rank, int *axes, size_t *n)
{
    const int64_t *given = odb_kern_ints(k, "axes", n);

    if (given == NULL)
        *n = (size_t)rank;
    if (*n > (size_t)rank)
        return ODB_KERN_FAIL(k, "%zu axes for a tensor of rank %d", *n, rank);
    for (size_t i = 0; i < *n; i++)
        ODB_TRY(odb_kern_axis(k, given != NULL ? given[i] : (int64_t)i, rank, false, &axes[i]));
    return ODB_OK;
}

/* The elements of a float or integer input, exactly n of them. */
static enum odb_status resize_read_floats(struct odb_kern *k, const struct odb_tensor *t,
                                          const char *name, size_t n, float *out)
{
    if (t->count != n)
        return ODB_KERN_FAIL(k, "%s has %zu entries, not %zu", name, t->count, n);
    if (t->data == NULL && n > 0)
        return ODB_SKIPPED;
    for (size_t i = 0; i < n; i++)
        out[i] = (float)odb_tensor_f64(t, i);
    return ODB_OK;
}

/* Scales of all axes, from attributes (Upsample 1 and 7) or an input. */
static enum odb_status resize_read_scales(struct odb_kern *k, const struct odb_tensor *input,
                                          size_t n, float *scales)
{
    const struct odb_attr *attr = odb_attrs_find(&k->attrs, "scales");

    if (input != NULL)
        return resize_read_floats(k, input, "scales", n, scales);
    if (k->op->since == 1 && n == 4) {
        scales[0] = scales[1] = 1;
        scales[2] = (float)odb_kern_float(k, "height_scale", 0);
        scales[3] = (float)odb_kern_float(k, "width_scale", 0);
        return ODB_OK;
    }
    if (attr == NULL || attr->type != ODB_ATTR_FLOATS || attr->n != n)
        return ODB_KERN_FAIL(k, "scales must have %zu entries", n);
    memcpy(scales, attr->floats, n * sizeof *scales);
    return ODB_OK;
}

static enum odb_status resize_apply_scales(struct odb_kern *k, struct resize *r, const int *axes,
                                           const float *scales, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct resize_axis *a = &r->axes[axes[i]];
        a->scale = scales[i];
        a->width = scales[i] * (float)a->in;
        if (!(scales[i] > 0) || !(a->width < 0x1p40f))
            return ODB_KERN_FAIL(k, "axis %d of %lld elements cannot be scaled by %g", axes[i],
                                 (long long)a->in, (double)scales[i]);
        a->out = (int64_t)a->width;
    }
    return ODB_OK;
}

static enum odb_status resize_apply_sizes(struct odb_kern *k, struct resize *r, const int *axes,
                                          const int64_t *sizes, size_t n)
{
    const char *policy = odb_kern_string(k, "keep_aspect_ratio_policy", "stretch");
    bool larger = strcmp(policy, "not_smaller") == 0;
    float common = larger ? 0 : INFINITY;

    if (!larger && strcmp(policy, "not_larger") != 0 && strcmp(policy, "stretch") != 0)
        return ODB_KERN_FAIL(k, "unknown keep_aspect_ratio_policy \"%s\"", policy);
    for (size_t i = 0; i < n; i++) {
        struct resize_axis *a = &r->axes[axes[i]];
        if (sizes[i] < 0 || sizes[i] > (int64_t)1 << 40 || (sizes[i] > 0 && a->in == 0))
            return ODB_KERN_FAIL(k, "axis %d of %lld elements cannot get size %lld", axes[i],
                                 (long long)a->in, (long long)sizes[i]);
        a->out = sizes[i];
        a->sized = policy[0] == 's';
        a->width = (float)a->out;
        a->scale = a->in > 0 ? a->width / (float)a->in : 1;
        common = larger ? fmaxf(common, a->scale) : fminf(common, a->scale);
    }
    for (size_t i = 0; policy[0] == 'n' && i < n; i++) {
        struct resize_axis *a = &r->axes[axes[i]];
        a->scale = common;
        a->width = common * (float)a->in;
        a->out = (int64_t)floorf(a->width + 0.5f);
    }
    return ODB_OK;
}

static enum odb_status resize_read_roi(struct odb_kern *k, struct resize *r, const int *axes,
                                       size_t n)
{
    const struct odb_tensor *roi = k->op->since >= 11 ? odb_kern_in(k, 1) : NULL;
    float ends[2 * ODB_MAX_RANK];

    if (r->coords != RESIZE_TF_CROP_AND_RESIZE)
        return ODB_OK;
    if (roi == NULL)
        return ODB_KERN_FAIL(k, "tf_crop_and_resize needs a roi");
    ODB_TRY(resize_read_floats(k, roi, "roi", 2 * n, ends));
    for (size_t i = 0; i < n; i++) {
        r->axes[axes[i]].start = ends[i];
        r->axes[axes[i]].end = ends[n + i];
    }
    return ODB_OK;
}

static enum odb_status resize_read(struct odb_kern *k, struct resize *r)
{
    const struct odb_tensor *x = k->in[0];
    bool late = k->op->since >= 11;
    const struct odb_tensor *scales = odb_kern_in(k, late ? 2 : 1), *sizes = odb_kern_in(k, 3);
    int axes[ODB_MAX_RANK];
    float by[ODB_MAX_RANK];
    int64_t to[ODB_MAX_RANK];
    size_t n, n_sizes;

    r->rank = x->rank;
    r->way = !odb_dtype_is_float(x->dtype) ? RESIZE_FLOATS
             : k->carry_f64                ? RESIZE_DOUBLES
             : k->sequential               ? RESIZE_RATIOS
                                           : RESIZE_FLOATS;
    for (int i = 0; i < x->rank; i++)
        r->axes[i] = (struct resize_axis){
            .in = x->dims[i], .out = x->dims[i], .scale = 1, .width = (float)x->dims[i], .end = 1};
    ODB_TRY(resize_read_modes(k, r));
    ODB_TRY(resize_read_axes(k, x->rank, axes, &n));
    if (late && sizes != NULL && sizes->count > 0) {
        ODB_TRY(odb_kern_values(k, 3, to, ODB_MAX_RANK, &n_sizes));
        if (n_sizes != n)
            return ODB_KERN_FAIL(k, "sizes has %zu entries, not %zu", n_sizes, n);
        ODB_TRY(resize_apply_sizes(k, r, axes, to, n));
    } else if (late && (scales == NULL || (scales->count == 0 && n > 0))) {
        return ODB_KERN_FAIL(k, "neither scales nor sizes are given");
    } else {
        ODB_TRY(resize_read_scales(k, scales, n, by));
        ODB_TRY(resize_apply_scales(k, r, axes, by, n));
    }
    ODB_TRY(resize_read_roi(k, r, axes, n));
    for (int i = 0; i < r->rank; i++) {
        struct resize_axis *a = &r->axes[i];
        a->same = a->in == a->out && fabsf(a->scale - 1) < 1e-6f && a->start == 0 && a->end == 1;
    }
    return ODB_OK;
}

static enum odb_status resize_infer(struct odb_kern *k)
{
    int64_t dims[ODB_MAX_RANK];
    struct resize r;

    ODB_TRY(resize_read(k, &r));
    for (int i = 0; i < r.rank; i++)
        dims[i] = r.axes[i].out;
    return odb_kern_outline(k, 0, k->in[0]->dtype, r.rank, dims);
}

/* --- coordinates ------------------------------------------------------------------------------ */

/* One step of computing them. */
static double resize_step(enum resize_way way, double v)
{
    return way == RESIZE_DOUBLES ? v : (float)v; /* as float32 has it: a double has digits enough */
}

/* x * by / of. */
static double resize_times(enum resize_way way, double x, double by, double of)
{
    if (way == RESIZE_RATIOS)
        return resize_step(way, x * resize_step(way, by / of));
    return resize_step(way, resize_step(way, x * by) / of);
}

/* Where the middle of an output's element lies, if places count from the middle of the first. */
static double resize_half(enum resize_way way, double middle, double scale)
{
    return resize_step(way, resize_times(way, middle, 1, scale) - 0.5);
}

/* Where output index i of the axis lies in the input. */
static double resize_coordinate(const struct resize *r, enum resize_way way,
                                const struct resize_axis *a, int64_t i)
{
    bool exact = way == RESIZE_DOUBLES;
    double x = resize_step(way, (double)i), in = resize_step(way, (double)a->in);
    double out = resize_step(way, (double)a->out), last = resize_step(way, in - 1);
    double scale = exact && a->sized ? out / in : a->scale;
    double width = exact && !a->sized ? scale * in : a->width;
    double middle = resize_step(way, x + 0.5), margin, span;

    switch (r->coords) {
    case RESIZE_HALF_PIXEL_SYMMETRIC:
        margin = resize_step(way, in / 2 * resize_step(way, 1 - resize_step(way, out / width)));
        middle = resize_step(way, margin + resize_times(way, middle, 1, scale));
        return resize_step(way, middle - 0.5);
    case RESIZE_PYTORCH_HALF_PIXEL:
        return a->out > 1 ? resize_half(way, middle, scale) : 0;
    case RESIZE_ALIGN_CORNERS:
        return width == 1 ? 0 : resize_times(way, x, last, resize_step(way, width - 1));
    case RESIZE_ASYMMETRIC:
        return resize_times(way, x, 1, scale);
    case RESIZE_TF_HALF_PIXEL_FOR_NN:
        return resize_times(way, middle, 1, scale);
    case RESIZE_TF_CROP_AND_RESIZE:
        if (a->out <= 1)
            return resize_step(way, 0.5 * resize_step(way, (double)a->start + a->end) * last);
        span = resize_step(way, (double)a->end - a->start);
        x = resize_times(way, resize_step(way, x * span), last, resize_step(way, width - 1));
        return resize_step(way, resize_step(way, a->start * last) + x);
    default:
        return resize_half(way, middle, scale);
    }
}

/* The same for nearest. The division is the one rounding, and it moves nothing across a tie. */
static double resize_nearest_coordinate(const struct resize *r, const struct resize_axis *a,
                                        int64_t i)
{
    double begin = (double)i * (double)a->in / (double)a->out;
    double middle = ((double)i + 0.5) * (double)a->in / (double)a->out;

    if (!a->sized || r->coords == RESIZE_ALIGN_CORNERS || r->coords == RESIZE_TF_CROP_AND_RESIZE ||
        (r->coords == RESIZE_PYTORCH_HALF_PIXEL && a->out == 1))
        return resize_coordinate(r, RESIZE_FLOATS, a, i);
    if (r->coords == RESIZE_ASYMMETRIC)
        return begin;
    return r->coords == RESIZE_TF_HALF_PIXEL_FOR_NN ? middle : middle - 0.5;
}

static bool resize_is_beyond(const struct resize *r, const struct resize_axis *a, double x)
{
    return r->coords == RESIZE_TF_CROP_AND_RESIZE && !(x >= 0 && x <= (double)(a->in - 1));
}

static int64_t resize_clamp(double x, int64_t n)
{
    if (!(x > 0))
        return 0;
    return x < (double)n ? ODB_MIN((int64_t)x, n - 1) : n - 1;
}

static int64_t resize_round(const struct resize *r, const struct resize_axis *a, double x)
{
    switch (r->rounding) {
    case RESIZE_PREFER_FLOOR:
        return resize_clamp(ceil(x - 0.5), a->in);
    case RESIZE_PREFER_CEIL:
        return resize_clamp(floor(x + 0.5), a->in);
    case RESIZE_CEIL:
        return resize_clamp(ceil(x), a->in);
    case RESIZE_SIMPLE:
        return resize_clamp(a->scale < 1 ? ceil(x) : floor(x), a->in);
    default:
        return resize_clamp(floor(x), a->in);
    }
}

/* --- nearest ---------------------------------------------------------------------------------- */

struct resize_map {
    const struct resize *r;
    int rank;                  /* axes before the trailing ones that stay as they are */
    int64_t *at[ODB_MAX_RANK]; /* owned: input index, -1 beyond the input */
    size_t run;                /* bytes that move together */
    unsigned char *dst;
    const unsigned char *src;
    unsigned char beyond[16]; /* extrapolation, one cell */
    size_t size;
};

static enum odb_status resize_map_axes(struct odb_kern *k, struct resize_map *m)
{
    const struct resize *r = m->r;

    for (int d = 0; d < m->rank; d++) {
        const struct resize_axis *a = &r->axes[d];
        m->at[d] = odb_work_raw(((size_t)a->out + 1) * sizeof *m->at[d]);
        if (m->at[d] == NULL)
            return odb_fail(k->err, ODB_E_NOMEM, "no memory for %lld indices", (long long)a->out);
        for (int64_t i = 0; i < a->out; i++) {
            double x = resize_nearest_coordinate(r, a, i);
            m->at[d][i] = a->same ? i : resize_is_beyond(r, a, x) ? -1 : resize_round(r, a, x);
        }
    }
    return ODB_OK;
}

static void resize_fill(const struct resize_map *m, unsigned char *dst, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += m->size)
        memcpy(dst + i, m->beyond, m->size);
}

/* One line of the last mapped axis. */
static void resize_nearest_line(const struct resize_map *m, unsigned char *dst,
                                const unsigned char *src)
{
    const int64_t *at = m->at[m->rank - 1];
    size_t n = (size_t)m->r->axes[m->rank - 1].out, run = m->run;

    for (size_t i = 0; i < n; i++, dst += run) {
        if (at[i] < 0)
            resize_fill(m, dst, run);
        else if (run == 4)
            *(odb_u32 *)dst = ((const odb_u32 *)src)[at[i]];
        else
            memcpy(dst, src + (size_t)at[i] * run, run);
    }
}

/* Lines [begin, end); a line that repeats the source of the one before is copied from there. */
static void resize_nearest_lines(void *arg, size_t begin, size_t end)
{
    const struct resize_map *m = arg;
    const struct resize_axis *axes = m->r->axes;
    int last = m->rank - 1;
    size_t line = (size_t)axes[last].out * m->run;
    int64_t before = -1;

    for (size_t l = begin; l < end; l++) {
        unsigned char *dst = m->dst + l * line;
        int64_t row = 0, step = 1;
        size_t rest = l;
        for (int d = last - 1; d >= 0 && row >= 0; d--) {
            int64_t at = m->at[d][rest % (size_t)axes[d].out];
            row = at < 0 ? -1 : row + at * step;
            step *= axes[d].in;
            rest /= (size_t)axes[d].out;
        }
        if (row < 0)
            resize_fill(m, dst, line);
        else if (row == before)
            memcpy(dst, dst - line, line);
        else
            resize_nearest_line(m, dst, m->src + (size_t)(row * axes[last].in) * m->run);
        before = row;
    }
}

static enum odb_status resize_nearest_cells(struct odb_kern *k, void *arg, size_t size,
                                            unsigned char *dst, const unsigned char *src)
{
    const struct resize *r = arg;
    struct resize_map m = {
        .r = r, .rank = r->rank, .run = size, .dst = dst, .src = src, .size = size};
    enum odb_status status = ODB_OK;
    size_t lines = 1;

    while (m.rank > 1 && r->axes[m.rank - 1].same)
        m.run *= (size_t)r->axes[--m.rank].in;
    if (m.rank == 0) {
        memcpy(dst, src, size);
        return ODB_OK;
    }
    if (k->out[0]->dtype != ODB_STRING)
        odb_store_f64(k->out[0]->dtype, m.beyond, 0, r->extrapolation);
    ODB_TRY_OUT(resize_map_axes(k, &m));
    for (int d = 0; d < m.rank - 1; d++)
        lines *= (size_t)r->axes[d].out;
    if (k->out[0]->count > 0) {
        size_t line = (size_t)r->axes[m.rank - 1].out * m.run;
        odb_parallel_for(lines, ((size_t)1 << 16) / line + 1, resize_nearest_lines, &m);
    }
out:
    for (int d = 0; d < m.rank; d++)
        odb_work_give(m.at[d]);
    return status;
}

/* --- linear and cubic ------------------------------------------------------------------------- */

#define ODB_BODY "kernels/vision/resize.real.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"

/* Weight of an input element at distance d (Keys 1981 for cubic). */
static double resize_filter(const struct resize *r, double d)
{
    double a = r->cubic_a;

    d = fabs(d);
    if (r->mode == RESIZE_LINEAR)
        return d < 1 ? 1 - d : 0;
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

/* Indices and weights of one output index. A filter that is wider than a pixel (antialias) is
 * normalised, as is one that loses weights outside the input. */
static void resize_weigh(const struct resize *r, const struct resize_axis *a, double x,
                         double stretch, size_t taps, int64_t *at, double *w)
{
    double low = floor(x), ratio = x - low, sum = 0;
    int64_t first = 1 - (int64_t)taps / 2;

    for (size_t t = 0; t < taps; t++) {
        double offset = (double)(first + (int64_t)t);
        double index = low + offset;
        bool outside = index < 0 || index > (double)(a->in - 1);
        at[t] = resize_clamp(index, a->in);
        w[t] = outside && r->exclude_outside ? 0 : resize_filter(r, (offset - ratio) * stretch);
        sum += w[t];
    }
    if (!r->exclude_outside && stretch == 1)
        return;
    for (size_t t = 0; t < taps && sum != 0; t++)
        w[t] /= sum;
}

static void resize_pass_free(struct resize_pass *p)
{
    odb_work_give(p->at);
    odb_work_give(p->weights);
    odb_work_give(p->beyond);
    p->at = NULL;
    p->weights = NULL;
    p->beyond = NULL;
}

static enum odb_status resize_pass_init(struct odb_kern *k, const struct resize *r,
                                        const struct resize_axis *a, struct resize_pass *p)
{
    double support = r->mode == RESIZE_LINEAR ? 1 : 2;
    double stretch = r->antialias ? fmin(a->scale, 1) : 1;
    size_t bytes;

    p->taps = (size_t)(2 - 2 * (floor(-support / stretch) + 1));
    p->extrapolation = r->extrapolation;
    if (!odb_size_mul(p->taps, p->out, &bytes) || !odb_size_mul(bytes, 8, &bytes))
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu weights", p->taps);
    p->at = odb_work_raw(bytes + 1);
    p->weights = odb_work_raw(bytes + 1);
    p->beyond = odb_work_raw(p->out + 1);
    if (p->at == NULL || p->weights == NULL || p->beyond == NULL)
        return odb_fail(k->err, ODB_E_NOMEM, "no memory for %zu weights", bytes / 8);
    for (size_t i = 0; i < p->out; i++) {
        p->beyond[i] = resize_is_beyond(r, a, resize_coordinate(r, RESIZE_FLOATS, a, (int64_t)i));
        resize_weigh(r, a, resize_coordinate(r, r->way, a, (int64_t)i), stretch, p->taps,
                     p->at + i * p->taps, p->weights + i * p->taps);
    }
    return ODB_OK;
}

/* The axis to do next: the smallest scale, so that tensors in between stay small; of equal ones the
 * last. -1: done. */
static int resize_next(const struct resize *r, const bool *done)
{
    int best = -1;

    for (int i = r->rank - 1; i >= 0; i--)
        if (!done[i] && !r->axes[i].same && (best < 0 || r->axes[i].scale < r->axes[best].scale))
            best = i;
    return best;
}

/* All axes of float or double data, from x to y. */
static enum odb_status resize_interpolate(struct odb_kern *k, const struct resize *r,
                                          enum odb_dtype dtype, const void *x, void *y)
{
    void (*body)(void *, size_t, size_t) = ODB_REAL_FN(k, dtype, resize_body);
    size_t size = dtype == ODB_F64 ? 8 : 4, left = 0;
    bool done[ODB_MAX_RANK] = {false};
    enum odb_status status = ODB_OK;
    struct resize_pass p = {.from = x};
    int64_t dims[ODB_MAX_RANK];
    void *kept = NULL, *fresh = NULL;

    for (int i = 0; i < r->rank; i++) {
        dims[i] = r->axes[i].in;
        left += !r->axes[i].same;
    }
    if (left == 0 && odb_dims_product(dims, 0, r->rank) > 0)
        memcpy(y, x, odb_dims_product(dims, 0, r->rank) * size);
    for (int d; (d = resize_next(r, done)) >= 0; left--) {
        p.in = (size_t)dims[d];
        p.out = (size_t)(dims[d] = r->axes[d].out);
        p.outer = odb_dims_product(dims, 0, d);
        p.inner = odb_dims_product(dims, d + 1, r->rank);
        fresh = left > 1 ? odb_work_raw(p.outer * p.out * p.inner * size + 1) : NULL;
        p.to = left > 1 ? fresh : y;
        if (p.to == NULL) {
            status = odb_fail(k->err, ODB_E_NOMEM, "no memory for a tensor in between");
            goto out;
        }
        ODB_TRY_OUT(resize_pass_init(k, r, &r->axes[d], &p));
        size_t units = p.inner == 1 ? p.outer : p.outer * p.out;
        size_t per = (p.inner == 1 ? p.out : p.inner) * p.taps;
        odb_parallel_for(p.inner == 0 ? 0 : units, ((size_t)1 << 15) / (per + 1) + 1, body, &p);
        resize_pass_free(&p);
        odb_work_give(kept);
        kept = fresh;
        fresh = NULL;
        p.from = kept;
        done[d] = true;
    }
out:
    resize_pass_free(&p);
    odb_work_give(fresh);
    odb_work_give(kept);
    return status;
}

/* Integers are computed in double, rounded to even and clamped; the largest of 64 bits is no
 * double, so what reaches it is stored as what it is. */
static enum odb_status resize_integers(struct odb_kern *k, const struct resize *r)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0], *from = NULL, *to = NULL;
    const struct odb_dtype_info *info = odb_dtype_info(y->dtype);
    enum odb_status status;

    ODB_TRY_OUT(odb_tensor_cast(&from, x, ODB_F64, k->err));
    ODB_TRY_OUT(odb_tensor_new_raw(&to, ODB_F64, y->rank, y->dims, k->err));
    ODB_TRY_OUT(resize_interpolate(k, r, ODB_F64, from->data, to->data));
    unsigned bits = info->class_ == ODB_CLASS_BOOL ? 1 : info->bits;
    bool sign = info->class_ == ODB_CLASS_INT;
    double high = ldexp(1, (int)bits - sign) - 1, low = sign ? -ldexp(1, (int)bits - 1) : 0;
    for (size_t i = 0; i < y->count; i++) {
        double v = fmax(nearbyint(((odb_f64 *)to->data)[i]), low);
        if (v < high)
            odb_store_f64(y->dtype, y->data, i, v);
        else
            odb_store_i64(y->dtype, y->data, i, (int64_t)(UINT64_MAX >> (64 - bits + sign)));
    }
out:
    odb_tensor_unref(from);
    odb_tensor_unref(to);
    return status;
}

/* A complex number is two neighbours in one more dimension, which is left alone. */
static enum odb_status resize_complex(struct odb_kern *k, struct resize *r)
{
    const struct odb_tensor *x = k->in[0];

    if (r->rank == ODB_MAX_RANK)
        return ODB_KERN_UNSUPPORTED(k, "complex numbers in %d dimensions", r->rank);
    r->axes[r->rank++] =
        (struct resize_axis){.in = 2, .out = 2, .scale = 1, .end = 1, .same = true};
    return resize_interpolate(k, r, odb_dtype_part(x->dtype), x->data, k->out[0]->data);
}

static enum odb_status resize_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    enum odb_dtype_class class_ = odb_dtype_info(x->dtype)->class_;
    struct resize r;

    ODB_TRY(resize_read(k, &r));
    if (k->out[0]->count == 0)
        return ODB_OK;
    if (r.mode == RESIZE_NEAREST)
        return odb_cells_move(k, 0, 0, resize_nearest_cells, &r);
    if (x->dtype == ODB_F32 || x->dtype == ODB_F64)
        return resize_interpolate(k, &r, x->dtype, x->data, k->out[0]->data);
    if (class_ == ODB_CLASS_COMPLEX)
        return resize_complex(k, &r);
    if (class_ != ODB_CLASS_INT && class_ != ODB_CLASS_UINT && class_ != ODB_CLASS_BOOL)
        return ODB_KERN_UNSUPPORTED(k, "mode %s of %s", resize_modes[r.mode],
                                    odb_dtype_info(x->dtype)->name);
    return resize_integers(k, &r);
}

/* --- rows ------------------------------------------------------------------------------------- */

#define RESIZE_TEXT(name_, default_) ODB_OPTIONAL_ATTR(name_, STRING, default_)
#define RESIZE_NUMBER(name_, type_, default_) ODB_OPTIONAL_ATTR(name_, type_, default_)
#define RESIZE_11                                                                                  \
    RESIZE_TEXT("mode", "nearest"), RESIZE_TEXT("nearest_mode", "round_prefer_floor"),             \
        RESIZE_TEXT("coordinate_transformation_mode", "half_pixel"),                               \
        RESIZE_NUMBER("cubic_coeff_a", FLOAT, "-0.75"),                                            \
        RESIZE_NUMBER("exclude_outside", INT, "0"),                                                \
        RESIZE_NUMBER("extrapolation_value", FLOAT, "0")

static const struct odb_attr_spec resize_attrs_11[] = {RESIZE_11, {.name = NULL}};
static const struct odb_attr_spec resize_attrs_18[] = {
    RESIZE_11,
    RESIZE_NUMBER("antialias", INT, "0"),
    RESIZE_NUMBER("axes", INTS, NULL),
    RESIZE_TEXT("keep_aspect_ratio_policy", "stretch"),
    {.name = NULL}};
static const struct odb_attr_spec resize_attrs_mode[] = {RESIZE_TEXT("mode", "nearest"),
                                                         {.name = NULL}};
static const struct odb_attr_spec resize_attrs_upsample_1[] = {
    RESIZE_TEXT("mode", "nearest"),
    {.name = "height_scale", .type = ODB_ATTR_FLOAT, .required = true},
    {.name = "width_scale", .type = ODB_ATTR_FLOAT, .required = true},
    {.name = NULL}};
static const struct odb_attr_spec resize_attrs_upsample_7[] = {
    RESIZE_TEXT("mode", "nearest"),
    {.name = "scales", .type = ODB_ATTR_FLOATS, .required = true},
    {.name = NULL}};

/* Nearest only moves, but one row serves all modes, so none of them is marked exact. */
#define RESIZE_ROW(name_, since_, min_in_, max_in_)                                                \
    .domain = "", .name = (name_), .since = (since_), .min_in = (min_in_), .max_in = (max_in_),    \
    .min_out = 1, .max_out = 1, .flags = ODB_OP_REAL, .infer = resize_infer, .run = resize_run
#define RESIZE_BY_SCALES .types = {ODB_T_ANY, ODB_BIT(ODB_F32)}
#define RESIZE_BY_INPUTS .types = {ODB_T_ANY, ODB_T_FLOAT, ODB_BIT(ODB_F32), ODB_BIT(ODB_I64)}

const struct odb_op odb_ops_resize[] = {
    {RESIZE_ROW("Upsample", 1, 1, 1), .types = {ODB_T_ANY}, .attrs = resize_attrs_upsample_1,
     ODB_NAMES("X", "Y"), ODB_HALVES(7, 0, 2), ODB_WORK(resize), ODB_STEERING(~1u)},
    {RESIZE_ROW("Upsample", 7, 1, 1), .types = {ODB_T_ANY}, .attrs = resize_attrs_upsample_7},
    {RESIZE_ROW("Upsample", 9, 2, 2), RESIZE_BY_SCALES, .attrs = resize_attrs_mode,
     ODB_NAMES("X,scales", "Y")},
    {.domain = "", .name = "Upsample", .since = 10, ODB_INSTEAD("use Resize")}, /* became Resize */
    {RESIZE_ROW("Resize", 10, 2, 2), RESIZE_BY_SCALES, .attrs = resize_attrs_mode,
     ODB_NAMES("X,scales", "Y"), ODB_HALVES(10, 0, 2), ODB_WORK(resize), ODB_STEERING(~1u)},
    {RESIZE_ROW("Resize", 11, 1, 4), RESIZE_BY_INPUTS, .attrs = resize_attrs_11,
     ODB_NAMES("X,roi,scales,sizes", "Y"), ODB_HALVES(11, 13, 6)},
    {RESIZE_ROW("Resize", 18, 1, 4), RESIZE_BY_INPUTS, .attrs = resize_attrs_18},
    {.name = NULL},
};
