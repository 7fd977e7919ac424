/* SPDX-License-Identifier: MIT
 *
 * Sizes and pads of sliding windows, ai.onnx 1 to 28. With explicit pads a result dimension is
 * floor((in + pads - extent) / stride) + 1, or ceil with ceil_mode, less the windows that would
 * start beyond the input and its leading pad. SAME_* pads so that it is ceil(in / stride).
 */
#include "kernels/nn/window.h"

#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"

/* Limits on a number in an attribute, on the elements of a kernel, and on those of a padded
 * channel: far from overflow, and from what any machine computes. */
#define WINDOW_MAX (INT64_C(1) << 31)
#define WINDOW_MAX_TAPS (INT64_C(1) << 31)
#define WINDOW_MAX_PADDED (INT64_C(1) << 36)

/* A list attribute of n numbers, each within [least, WINDOW_MAX]; absent: all `fallback`. */
static enum odb_status window_list(struct odb_kern *k, const char *name, int n, int64_t fallback,
                                   int64_t least, int64_t *list)
{
    size_t given;
    const int64_t *ints = odb_kern_ints(k, name, &given);
    if (given && given != (size_t)n)
        return ODB_KERN_FAIL(k, "%s has %zu numbers; %d are needed", name, given, n);
    for (int i = 0; i < n; i++) {
        list[i] = given ? ints[i] : fallback;
        if (list[i] < least || list[i] > WINDOW_MAX)
            return ODB_KERN_FAIL(k, "%s[%d] = %lld makes no sense", name, i, (long long)list[i]);
    }
    return ODB_OK;
}

/* Product of dims, at most limit. */
static enum odb_status window_volume(struct odb_kern *k, const int64_t *dims, int n, int64_t limit,
                                     size_t *volume)
{
    *volume = 1;
    for (int d = 0; d < n; d++)
        if (!odb_size_mul(*volume, (uint64_t)ODB_MAX(dims[d], 0), volume) ||
            *volume > (uint64_t)limit)
            return ODB_KERN_UNSUPPORTED(k,
                                        "a window or a padded channel of more than %lld "
                                        "elements is not supported",
                                        (long long)limit);
    return ODB_OK;
}

static enum odb_status window_read(struct odb_kern *k, const struct odb_tensor *x,
                                   const int64_t *kernel, struct odb_window *w)
{
    memset(w, 0, sizeof *w);
    w->rank = x->rank - 2;
    if (w->rank < 1)
        return ODB_KERN_FAIL(k, "%s needs an input of at least 3 dimensions, not %d", k->op->name,
                             x->rank);
    ODB_TRY(window_list(k, "kernel_shape", w->rank, 0, 0, w->kernel));
    bool given = odb_kern_has(k, "kernel_shape");
    if (!kernel && !given)
        return ODB_KERN_FAIL(k, "kernel_shape is missing");
    for (int d = 0; kernel && d < w->rank; d++) {
        if (given && w->kernel[d] != kernel[d])
            return ODB_KERN_FAIL(k, "kernel_shape[%d] is %lld but the weights have %lld", d,
                                 (long long)w->kernel[d], (long long)kernel[d]);
        w->kernel[d] = kernel[d];
    }
    ODB_TRY(window_list(k, "strides", w->rank, 1, 1, w->stride));
    ODB_TRY(window_list(k, "dilations", w->rank, 1, 1, w->dilation));
    int64_t pads[2 * ODB_MAX_RANK];
    ODB_TRY(window_list(k, "pads", 2 * w->rank, 0, -WINDOW_MAX, pads));
    for (int d = 0; d < w->rank; d++) {
        w->in[d] = x->dims[d + 2];
        w->before[d] = pads[d];
        w->after[d] = pads[d + w->rank];
        if (w->kernel[d] < 1 || w->kernel[d] > WINDOW_MAX / w->dilation[d])
            return ODB_KERN_FAIL(k, "kernel dimension %lld, dilated by %lld, makes no sense",
                                 (long long)w->kernel[d], (long long)w->dilation[d]);
    }
    w->in_size = odb_dims_product(w->in, 0, w->rank);
    return window_volume(k, w->kernel, w->rank, WINDOW_MAX_TAPS, &w->taps);
}

enum window_auto { WINDOW_NOTSET, WINDOW_VALID, WINDOW_SAME_UPPER, WINDOW_SAME_LOWER };

static enum odb_status window_auto(struct odb_kern *k, enum window_auto *mode)
{
    static const char *const names[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"};
    const char *name = odb_kern_string(k, "auto_pad", "NOTSET");
    for (size_t i = 0; i < ODB_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *mode = (enum window_auto)i;
            return ODB_OK;
        }
    if (*name == '\0') {
        *mode = WINDOW_NOTSET;
        return ODB_OK;
    }
    return ODB_KERN_FAIL(k, "auto_pad is \"%s\"", name);
}

static int64_t window_extent(const struct odb_window *w, int d)
{
    return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

/* Splits pads evenly; the odd one goes to the end for SAME_UPPER, else to the beginning. */
static void window_share(struct odb_window *w, int d, int64_t total, bool upper)
{
    w->before[d] = upper ? total / 2 : total - total / 2;
    w->after[d] = total - w->before[d];
}

static int64_t window_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && a < 0);
}

static enum odb_status window_finish(struct odb_kern *k, struct odb_window *w)
{
    int64_t padded[ODB_MAX_RANK];
    size_t volume;
    for (int d = 0; d < w->rank; d++) {
        if (w->out[d] <= 1)
            w->stride[d] = 1; /* nothing strides; the planes need fewer */
        padded[d] = (w->out[d] - 1) * w->stride[d] + window_extent(w, d);
    }
    w->out_size = odb_dims_product(w->out, 0, w->rank);
    return window_volume(k, padded, w->rank, WINDOW_MAX_PADDED, &volume);
}

enum odb_status odb_window_slide(struct odb_kern *k, const struct odb_tensor *x,
                                 const int64_t *kernel, struct odb_window *w)
{
    enum window_auto mode = WINDOW_NOTSET;
    ODB_TRY(window_read(k, x, kernel, w));
    ODB_TRY(window_auto(k, &mode));
    bool ceil_mode = odb_kern_int(k, "ceil_mode", 0) != 0;
    for (int d = 0; d < w->rank; d++) {
        int64_t extent = window_extent(w, d), stride = w->stride[d];
        if (mode == WINDOW_SAME_UPPER || mode == WINDOW_SAME_LOWER) {
            w->out[d] = (w->in[d] + stride - 1) / stride;
            int64_t total = (w->out[d] - 1) * stride + extent - w->in[d];
            window_share(w, d, ODB_MAX(total, 0), mode == WINDOW_SAME_UPPER);
            continue;
        }
        if (mode == WINDOW_VALID)
            w->before[d] = w->after[d] = 0;
        int64_t room = w->in[d] + w->before[d] + w->after[d] - extent;
        bool up = ceil_mode && mode == WINDOW_NOTSET;
        w->out[d] = window_floor_div(room + (up ? stride - 1 : 0), stride) + 1;
        if (up && (w->out[d] - 1) * stride >= w->in[d] + w->before[d])
            w->out[d]--;
        if (w->out[d] < 0 || (w->out[d] == 0 && w->in[d] > 0))
            return ODB_KERN_FAIL(k,
                                 "a window of %lld does not fit dimension %d: %lld, padded by "
                                 "%lld and %lld",
                                 (long long)extent, d + 2, (long long)w->in[d],
                                 (long long)w->before[d], (long long)w->after[d]);
    }
    return window_finish(k, w);
}

enum odb_status odb_window_spread(struct odb_kern *k, const struct odb_tensor *x,
                                  const int64_t *kernel, struct odb_window *w)
{
    enum window_auto mode = WINDOW_NOTSET;
    int64_t extra[ODB_MAX_RANK];
    ODB_TRY(window_read(k, x, kernel, w));
    ODB_TRY(window_auto(k, &mode));
    ODB_TRY(window_list(k, "output_padding", w->rank, 0, 0, extra));
    size_t given;
    const int64_t *shape = odb_kern_ints(k, "output_shape", &given);
    if (given && given != (size_t)w->rank && given != (size_t)x->rank)
        return ODB_KERN_FAIL(k, "output_shape has %zu numbers; %d are needed", given, w->rank);
    const int64_t *size = given == (size_t)x->rank ? shape + 2 : shape;
    bool same = mode == WINDOW_SAME_UPPER || mode == WINDOW_SAME_LOWER;
    for (int d = 0; d < w->rank; d++) {
        if (mode == WINDOW_VALID)
            w->before[d] = w->after[d] = 0;
        if (w->in[d] > WINDOW_MAX) /* what follows stays below 2^63 */
            return ODB_KERN_FAIL(k, "dimension %d of the input, %lld, makes no sense", d + 2,
                                 (long long)w->in[d]);
        int64_t full = w->stride[d] * (w->in[d] - 1) + extra[d] + window_extent(w, d);
        w->out[d] = given  ? size[d]
                    : same ? w->in[d] * w->stride[d]
                           : full - w->before[d] - w->after[d];
        if (w->out[d] < 0 || w->out[d] > WINDOW_MAX)
            return ODB_KERN_FAIL(k, "dimension %d of the result would be %lld", d + 2,
                                 (long long)w->out[d]);
        if (given || same)
            window_share(w, d, ODB_MAX(full - w->out[d], 0), mode == WINDOW_SAME_UPPER);
    }
    w->out_size = odb_dims_product(w->out, 0, w->rank);
    return ODB_OK;
}

enum odb_status odb_window_outline(struct odb_kern *k, int i, enum odb_dtype dtype,
                                   const struct odb_tensor *x, int64_t channels,
                                   const struct odb_window *w)
{
    int64_t dims[ODB_MAX_RANK];
    dims[0] = x->dims[0];
    dims[1] = channels;
    memcpy(dims + 2, w->out, (size_t)w->rank * sizeof *dims);
    return odb_kern_outline(k, i, dtype, w->rank + 2, dims);
}

/* Remainders of dimension d that taps have: 0, dilation, 2 * dilation… modulo the stride. */
static size_t planes_phases(const struct odb_window *w, int d)
{
    int64_t n = 1;
    while (n < w->kernel[d] && n * w->dilation[d] % w->stride[d] != 0)
        n++;
    return (size_t)n;
}

size_t odb_planes_reach(const struct odb_planes *p, const struct odb_window *w, int d, size_t i)
{
    size_t reach = i * (size_t)w->dilation[d] / (size_t)w->stride[d];
    return i % p->phases[d] * p->phase_step[d] * p->plane + reach * p->step[d];
}

bool odb_planes_init(struct odb_planes *p, const struct odb_window *w)
{
    p->plane = p->count = 1;
    p->flat = w->out_size ? 1 : 0;
    for (int d = w->rank - 1; d >= 0; d--) {
        p->grid[d] = (w->kernel[d] - 1) * w->dilation[d] / w->stride[d] + w->out[d];
        p->step[d] = p->plane;
        p->plane *= (size_t)p->grid[d];
        p->phases[d] = planes_phases(w, d);
        p->phase_step[d] = p->count;
        p->count *= p->phases[d];
    }
    for (int d = 0; d < w->rank && p->flat; d++)
        p->flat += (size_t)(w->out[d] - 1) * p->step[d];
    p->tap = odb_work_take(w->taps, sizeof *p->tap);
    for (size_t t = 0; p->tap && t < w->taps; t++) {
        size_t rest = t;
        for (int d = w->rank - 1; d >= 0; d--) {
            p->tap[t] += odb_planes_reach(p, w, d, rest % (size_t)w->kernel[d]);
            rest /= (size_t)w->kernel[d];
        }
    }
    return p->tap != NULL;
}

void odb_planes_dispose(struct odb_planes *p)
{
    odb_work_give(p->tap);
    p->tap = NULL;
}
