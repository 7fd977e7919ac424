/* SPDX-License-Identifier: MIT
 *
 * Dealing a channel into planes (window.h), converted to FILL on the way; part of the bodies that
 * slide windows. pad stands where the window leaves the image.
 */

/* Elements `first`, `first + stride`… of a line of the image, pad where the line is not. */
ODB_INLINE void FN(planes_copy)(const T *from, int64_t first, int64_t stride, int64_t begin,
                                int64_t end, int64_t length, FILL pad, FILL *to)
{
    for (int64_t i = 0; i < begin; i++)
        to[i] = pad;
    if (stride == 1)
        for (int64_t i = begin; i < end; i++)
            to[i] = (FILL)from[first + i];
    else if (stride == 2)
        for (int64_t i = begin; i < end; i++)
            to[i] = (FILL)from[first + i * 2];
    else
        for (int64_t i = begin; i < end; i++)
            to[i] = (FILL)from[first + i * stride];
    for (int64_t i = end; i < length; i++)
        to[i] = pad;
}

/* One plane, whose coordinates in the padded channel have the given remainders (phase) modulo the
 * strides. */
ODB_INLINE void FN(planes_deal)(const struct odb_window *w, const struct odb_planes *p,
                                const int64_t *phase, const T *x, FILL pad, FILL *to)
{
    int last = w->rank - 1;
    int64_t length = p->grid[last], stride = w->stride[last];
    int64_t first = phase[last] - w->before[last]; /* where column 0 lies in a line of x */
    int64_t begin = first >= 0 ? 0 : (stride - 1 - first) / stride;
    int64_t end = first >= w->in[last] ? 0 : (w->in[last] - first + stride - 1) / stride;
    begin = ODB_MIN(begin, length);
    end = ODB_MAX(ODB_MIN(end, length), begin);
    int64_t row[ODB_MAX_RANK] = {0};
    for (FILL *stop = to + p->plane; to < stop; to += length) {
        int64_t line = 0;
        bool inside = true;
        for (int d = 0; d < last; d++) {
            int64_t i = row[d] * w->stride[d] + phase[d] - w->before[d];
            inside = inside && i >= 0 && i < w->in[d];
            line = line * w->in[d] + i;
        }
        FN(planes_copy)
        (inside ? x + line * w->in[last] : x, first, stride, begin, inside ? end : begin, length,
         pad, to);
        for (int d = last - 1; d >= 0 && ++row[d] == p->grid[d]; d--)
            row[d] = 0;
    }
}

/* All planes of the channel at x into planes, and slack after the last. */
ODB_SIMD static void FN(planes_fill)(const struct odb_window *w, const struct odb_planes *p,
                                     const T *x, FILL pad, FILL *planes)
{
    for (size_t plane = 0; plane < p->count; plane++) {
        int64_t phase[ODB_MAX_RANK];
        size_t rest = plane;
        for (int d = w->rank - 1; d >= 0; d--) {
            phase[d] = (int64_t)(rest % p->phases[d]) * w->dilation[d] % w->stride[d];
            rest /= p->phases[d];
        }
        FN(planes_deal)(w, p, phase, x, pad, planes + plane * p->plane);
    }
    for (size_t i = 0; i < ODB_PLANES_SLACK; i++)
        planes[p->count * p->plane + i] = pad;
}
