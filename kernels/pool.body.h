/* SPDX-License-Identifier: MIT
 *
 * Pools, per element type. Planes hold the channel in ACC: a maximum is none the worse for it, and
 * sums are taken in it anyway.
 */
#define FILL ACC
#include "kernels/planes.body.h"
#undef FILL

/* acc[i] = the taps of result i combined; writes whole blocks. */
ODB_SIMD static void FN(pool_taps)(const ACC *planes, const size_t *tap, size_t taps, bool max,
                                   size_t n, ACC *acc)
{
    for (size_t i = 0; i < n; i += ODB_PLANES_SLACK) {
        ACC best[ODB_PLANES_SLACK];
        memcpy(best, planes + tap[0] + i, sizeof best);
        for (size_t t = 1; t < taps; t++) {
            const ACC *x = planes + tap[t] + i;
            if (max)
                for (size_t j = 0; j < ODB_PLANES_SLACK; j++)
                    best[j] = x[j] > best[j] || IS_NAN(x[j]) ? x[j] : best[j];
            else
                for (size_t j = 0; j < ODB_PLANES_SLACK; j++)
                    best[j] += x[j];
        }
        memcpy(acc + i, best, sizeof best);
    }
}

/* What a sum of powers (mean: of values, over count) becomes in the result. */
ODB_INLINE T FN(pool_finish)(const struct pool *p, ACC sum, ACC count)
{
    if (p->kind == POOL_MAX)
        return (T)sum;
    if (p->kind == POOL_AVERAGE)
        return (T)(sum / count);
    if (p->p == 2)
        return (T)sqrt((double)sum);
    return (T)(p->p == 1 ? sum : (ACC)pow((double)sum, 1 / p->p));
}

ODB_INLINE ACC FN(pool_power)(const struct pool *p, ACC x)
{
    if (p->p == 2)
        return x * x;
    return p->p == 1 ? ABSOLUTE(x) : (ACC)pow(fabs((double)x), p->p);
}

ODB_SIMD static void FN(pool_dense)(const struct pool *p, const ACC *grid, T *y)
{
    const struct odb_window *w = &p->window;
    int last = w->rank - 1;
    size_t length = (size_t)w->out[last];
    const double *count = p->count;
    for (size_t row = 0; row < w->out_size / length; row++, y += length) {
        size_t rest = row, at = 0;
        for (int d = last - 1; d >= 0; d--) {
            at += rest % (size_t)w->out[d] * p->planes.step[d];
            rest /= (size_t)w->out[d];
        }
        for (size_t i = 0; i < length; i++)
            y[i] = FN(pool_finish)(p, grid[at + i], count ? (ACC)count[row * length + i] : 1);
    }
}

/* Channels [begin, end) of all images. */
static void FN(pool_channels)(void *arg, size_t begin, size_t end)
{
    struct pool *p = arg;
    const struct odb_window *w = &p->window;
    size_t size = p->planes.count * p->planes.plane + ODB_PLANES_SLACK;
    ACC *planes = odb_workspace(ODB_WORKSPACE_PLANES, size * sizeof(ACC));
    ACC *grid =
        odb_workspace(ODB_WORKSPACE_ROWS, (p->planes.flat + ODB_PLANES_SLACK) * sizeof(ACC));
    if (!planes || !grid) {
        atomic_store(&p->failed, true);
        return;
    }
    bool max = p->kind == POOL_MAX;
    for (size_t channel = begin; channel < end; channel++) {
        const T *x = (const T *)p->x + channel * w->in_size;
        FN(planes_fill)(w, &p->planes, x, max ? (ACC)LOWEST : 0, planes);
        for (size_t i = 0; p->kind == POOL_LP && i < size - ODB_PLANES_SLACK; i++)
            if (p->planes.used[i / p->planes.plane])
                planes[i] = FN(pool_power)(p, planes[i]);
        FN(pool_taps)(planes, p->planes.tap, w->taps, max, p->planes.flat, grid);
        FN(pool_dense)(p, grid, (T *)p->y + channel * w->out_size);
    }
}

/* The maximum and where it is, one result after the other; the first of equals wins, and NaN over
 * everything. */
static void FN(pool_indices)(void *arg, size_t begin, size_t end)
{
    struct pool *p = arg;
    const struct odb_window *w = &p->window;
    for (size_t at = begin * w->out_size; at < end * w->out_size; at++) {
        size_t channel = at / w->out_size;
        const T *x = (const T *)p->x + channel * w->in_size;
        T best = (T)LOWEST;
        int64_t best_index = -1;
        for (size_t t = 0; t < w->taps; t++) {
            size_t element, index;
            if (!pool_reach(p, at % w->out_size, t, &element, &index))
                continue;
            T v = x[element];
            if (best_index < 0 || v > best || (IS_NAN(v) && !IS_NAN(best))) {
                best = v;
                best_index = (int64_t)index;
            }
        }
        if (p->y)
            ((T *)p->y)[at] = best;
        p->indices[at] = (int64_t)(channel * w->in_size) + ODB_MAX(best_index, 0);
    }
}
