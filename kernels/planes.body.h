/* SPDX-License-Identifier: MIT
 *
 * Dealing a channel into planes (window.h), converted to FILL on the way; part of the bodies that
 * slide windows. pad stands where the window leaves the image.
 */
static void FN(planes_row)(const struct odb_window *w, const T *from, int64_t phase, FILL pad,
                           FILL *to, int64_t length)
{
    int d = w->rank - 1;
    int64_t stride = w->stride[d], first = phase - w->before[d]; /* image coordinate of to[0] */
    int64_t begin = first >= 0 ? 0 : (stride - 1 - first) / stride;
    int64_t end = first >= w->in[d] ? 0 : (w->in[d] - first + stride - 1) / stride;
    begin = ODB_MIN(begin, length);
    end = ODB_MAX(ODB_MIN(end, length), begin);
    for (int64_t i = 0; i < begin; i++)
        to[i] = pad;
    for (int64_t i = begin; i < end; i++)
        to[i] = (FILL)from[first + i * stride];
    for (int64_t i = end; i < length; i++)
        to[i] = pad;
}

/* All used planes of the channel at x into planes, and slack after the last. */
ODB_SIMD static void FN(planes_fill)(const struct odb_window *w, const struct odb_planes *p,
                                     const T *x, FILL pad, FILL *planes)
{
    int last = w->rank - 1;
    int64_t length = p->grid[last];
    for (size_t plane = 0; plane < p->count; plane++) {
        FILL *to = planes + plane * p->plane;
        for (size_t row = 0; p->used[plane] && row < p->plane / (size_t)length; row++) {
            size_t rest = row, phases = plane / (size_t)w->stride[last], at = 0, step = (size_t)w->in[last];
            bool inside = true;
            for (int d = last - 1; d >= 0; d--) {
                int64_t i = (int64_t)(rest % (size_t)p->grid[d]) * w->stride[d] +
                            (int64_t)(phases % (size_t)w->stride[d]) - w->before[d];
                rest /= (size_t)p->grid[d];
                phases /= (size_t)w->stride[d];
                inside = inside && i >= 0 && i < w->in[d];
                at += inside ? (size_t)i * step : 0;
                step *= (size_t)w->in[d];
            }
            int64_t phase = (int64_t)(plane % (size_t)w->stride[last]);
            FILL *line = to + row * (size_t)length;
            if (inside)
                FN(planes_row)(w, x + at, phase, pad, line, length);
            for (int64_t i = 0; !inside && i < length; i++)
                line[i] = pad;
        }
    }
    for (size_t i = 0; i < ODB_PLANES_SLACK; i++)
        planes[p->count * p->plane + i] = pad;
}
