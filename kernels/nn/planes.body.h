/* SPDX-License-Identifier: MIT
 *
 * Dealing a channel into planes (window.h), converted to FILL on the way; part of the bodies that
 * slide windows. pad stands where the window leaves the image.
 */
#define PLANES_STEP 16 /* elements moved at a time, where that many are there */
#define PLANES_AHEAD 8 /* lines that are asked for ahead, where lines are left out */
#define PLANES_CACHE_LINE 64

/* to[i] = from[i * stride] for i in [0, n), and for up to PLANES_STEP - 1 more, which the next
 * writer overwrites; no from[`there`] is read. */
ODB_INLINE void FN(planes_copy)(const T *from, int64_t there, int64_t stride, int64_t n, FILL *to)
{
    int64_t i = 0;
    if (stride == 1)
        for (; i < n && i + PLANES_STEP <= there; i += PLANES_STEP)
            for (int64_t j = i; j < i + PLANES_STEP; j++)
                to[j] = (FILL)from[j];
    else if (stride == 2)
        for (; i < n && 2 * (i + PLANES_STEP) <= there; i += PLANES_STEP)
            for (int64_t j = i; j < i + PLANES_STEP; j++)
                to[j] = (FILL)from[j * 2];
    for (; i < n; i++)
        to[i] = (FILL)from[i * stride];
}

/* One plane, whose coordinates in the padded channel have the given remainders (phase) modulo the
 * strides. No x[`there`] is read. */
ODB_INLINE void FN(planes_deal)(const struct odb_window *w, const struct odb_planes *p,
                                const int64_t *phase, const T *x, size_t there, FILL pad, FILL *to)
{
    int last = w->rank - 1;
    int64_t length = p->grid[last], stride = w->stride[last];
    int64_t first = phase[last] - w->before[last]; /* where column 0 lies in a line of x */
    int64_t begin = first >= 0 ? 0 : (stride - 1 - first) / stride;
    int64_t end = first >= w->in[last] ? 0 : (w->in[last] - first + stride - 1) / stride;
    begin = ODB_MIN(begin, length);
    end = ODB_MAX(ODB_MIN(end, length), begin);
    int64_t row[ODB_MAX_RANK] = {0};
    int64_t ahead = last > 0 ? PLANES_AHEAD * w->stride[last - 1] * w->in[last] : 0;
    bool far = last > 0 && w->stride[last - 1] > 1;
    for (FILL *stop = to + p->plane; to < stop; to += length) {
        int64_t line = 0;
        bool inside = true;
        for (int d = 0; d < last; d++) {
            int64_t i = row[d] * w->stride[d] + phase[d] - w->before[d];
            inside = inside && i >= 0 && i < w->in[d];
            line = line * w->in[d] + i;
        }
        int64_t at = line * w->in[last] + first + begin * stride, i = 0;
        for (; i < begin; i++)
            to[i] = pad;
        if (inside && begin < end) {
            if (far)
                for (int64_t j = 0; j < w->in[last]; j += PLANES_CACHE_LINE / (int64_t)sizeof(T))
                    __builtin_prefetch(x + at + ahead + j);
            FN(planes_copy)(x + at, (int64_t)there - at, stride, end - begin, to + begin);
            i = end;
        }
        for (; i < length; i++)
            to[i] = pad;
        for (int d = last - 1; d >= 0 && ++row[d] == p->grid[d]; d--)
            row[d] = 0;
    }
}

/* All planes of the channel at x into planes, and slack after the last. `there` elements may be
 * read, the channel's and what lies behind. */
ODB_SIMD static void FN(planes_fill)(const struct odb_window *w, const struct odb_planes *p,
                                     const T *x, size_t there, FILL pad, FILL *planes)
{
    for (size_t plane = 0; plane < p->count; plane++) {
        int64_t phase[ODB_MAX_RANK];
        size_t rest = plane;
        for (int d = w->rank - 1; d >= 0; d--) {
            phase[d] = (int64_t)(rest % p->phases[d]) * w->dilation[d] % w->stride[d];
            rest /= p->phases[d];
        }
        FN(planes_deal)(w, p, phase, x, there, pad, planes + plane * p->plane);
    }
    for (size_t i = 0; i < ODB_PLANES_SLACK; i++)
        planes[p->count * p->plane + i] = pad;
}
#undef PLANES_STEP
#undef PLANES_AHEAD
#undef PLANES_CACHE_LINE
