/* SPDX-License-Identifier: MIT
 *
 * Convolutions of few channels, above all depthwise ones, as sums of shifted planes, and the sums
 * that a transposed convolution ends with.
 */
#define FILL ACC
#include "kernels/nn/planes.body.h"
#undef FILL

#define ODB_WIDE_BODY "kernels/nn/conv_taps.body.h"
#include "kernels/core/wide.h"

/* The results, which lie in a grid as wide as a plane, to the dense y. */
ODB_SIMD static void FN(conv_dense)(const struct odb_window *w, const struct odb_planes *p,
                                    const ACC *grid, T *y)
{
    int last = w->rank - 1;
    size_t length = (size_t)w->out[last];
    int64_t line[ODB_MAX_RANK] = {0};
    for (T *stop = y + w->out_size; y < stop; y += length, conv_line_next(w, w->out, line)) {
        size_t at = 0;
        for (int d = 0; d < last; d++)
            at += (size_t)line[d] * p->step[d];
        size_t i = 0, room = (size_t)(stop - y);
        for (; i < length && i + CONV_STEP <= room; i += CONV_STEP)
            for (size_t j = i; j < i + CONV_STEP; j++)
                y[j] = (T)grid[at + j]; /* what is too many, the next line writes over */
        for (; i < length; i++)
            y[i] = (T)grid[at + i];
    }
}

/* Groups [begin, end) of all images. */
static void FN(conv_groups)(void *arg, size_t begin, size_t end)
{
    struct conv_direct *d = arg;
    const struct conv *c = d->conv;
    const struct odb_window *w = &c->window;
    size_t channel = d->planes.count * d->planes.plane + ODB_PLANES_SLACK;
    size_t in_group = c->c / c->group, out_group = c->m / c->group, taps = in_group * w->taps;
    ACC *planes = odb_workspace(ODB_WORKSPACE_PLANES, in_group * channel * sizeof(ACC));
    ACC *grid =
        odb_workspace(ODB_WORKSPACE_ROWS, (d->planes.flat + ODB_PLANES_SLACK + taps) * sizeof(ACC));
    if (!planes || !grid) {
        atomic_store(&d->failed, true);
        return;
    }
    ACC *weight = grid + d->planes.flat + ODB_PLANES_SLACK;
    for (size_t g = begin; g < end; g++) {
        size_t image = g / c->group, group = g % c->group;
        for (size_t i = 0; i < in_group; i++) {
            size_t from = (image * c->c + group * in_group + i) * w->in_size;
            FN(planes_fill)
            (w, &d->planes, (const T *)c->x + from, c->n * c->c * w->in_size - from, 0,
             planes + i * channel);
        }
        for (size_t o = 0; o < out_group; o++) {
            size_t m = group * out_group + o;
            for (size_t t = 0; t < taps; t++)
                weight[t] = ((const T *)c->w)[m * taps + t];
            ACC start = c->bias ? ((const T *)c->bias)[m] : 0;
            ODB_WIDEST(FN(conv_taps))(planes, d->tap, weight, taps, start, d->planes.flat, grid);
            FN(conv_dense)(w, &d->planes, grid, (T *)c->y + (image * c->m + m) * w->out_size);
        }
    }
}

/* The result of a transposed convolution for one output channel: bias, plus every tap's row of
 * columns spread over the positions that it reaches. */
ODB_SIMD static void FN(conv_spread)(const struct odb_window *w, const void *columns,
                                     const void *bias, size_t m, void *sums, void *to)
{
    int last = w->rank - 1;
    ACC *sum = sums, start = bias ? ((const T *)bias)[m] : 0;
    const T *column = columns;
    size_t length = (size_t)w->in[last], rows = length ? w->in_size / length : 0;
    for (size_t i = 0; i < w->out_size; i++)
        sum[i] = start;
    for (size_t t = 0; t < w->taps; t++, column += w->in_size) {
        int64_t reach[ODB_MAX_RANK]; /* where input 0 lands with this tap */
        conv_reach(w, t, reach);
        int64_t stride = w->stride[last], first = reach[last];
        int64_t begin = first >= 0 ? 0 : (stride - 1 - first) / stride;
        int64_t end = ODB_MIN((w->out[last] - first + stride - 1) / stride, (int64_t)length);
        int64_t at[ODB_MAX_RANK] = {0};
        for (size_t row = 0; row < rows; row++, conv_line_next(w, w->in, at)) {
            size_t line_at;
            if (!conv_line(w, reach, w->out, at, &line_at))
                continue;
            const T *from = column + row * length;
            ACC *line = sum + line_at;
            for (int64_t i = begin; i < end; i++)
                line[first + i * stride] += from[i];
        }
    }
    for (size_t i = 0; i < w->out_size; i++)
        ((T *)to)[i] = (T)sum[i];
}
