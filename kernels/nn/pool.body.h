/* SPDX-License-Identifier: MIT
 *
 * Pools, per element type. Sums are taken in ACC, tap by tap.
 */
typedef __typeof__(+(T)0) FN(pool_value); /* aligned as it should be, or nothing is a vector */
#define VALUE FN(pool_value)
#define FILL VALUE
#include "kernels/nn/planes.body.h"
#undef FILL

ODB_INLINE ACC FN(pool_power)(const struct pool *p, ACC x)
{
    if (p->p == 2)
        return x * x;
    return p->p == 1 ? ABSOLUTE(x) : (ACC)pow(fabs((double)x), p->p);
}

/* to[i] = the greatest of planes[at[0] + i], planes[at[1] + i]…; to may be planes + at[0]. */
ODB_SIMD static void FN(pool_greatest)(const VALUE *planes, const size_t *at, size_t taps, size_t n,
                                       VALUE *to)
{
    for (size_t i = 0; i < n; i += ODB_PLANES_SLACK) {
        VALUE best[ODB_PLANES_SLACK];
        memcpy(best, planes + at[0] + i, sizeof best);
        for (size_t t = 1; t < taps; t++) {
            const VALUE *x = planes + at[t] + i;
            for (size_t j = 0; j < ODB_PLANES_SLACK; j++)
                best[j] = x[j] > best[j] || IS_NAN(x[j]) ? x[j] : best[j];
        }
        memcpy(to + i, best, ODB_MIN(n - i, (size_t)ODB_PLANES_SLACK) * sizeof *to);
    }
}

/* The greatest of each window, one dimension of the kernel after the other, the last first: of
 * each remainder in those before, what its planes become is left in the first of them. */
static void FN(pool_by_dimension)(const struct pool *p, VALUE *planes)
{
    const struct odb_window *w = &p->window;
    for (int d = w->rank - 1; d >= 0; d--) {
        size_t n = p->planes.flat, before = p->planes.count / p->planes.phase_step[d];
        for (int e = 0; e < d; e++)
            n += (size_t)((w->kernel[e] - 1) * w->dilation[e] / w->stride[e]) * p->planes.step[e];
        size_t step = p->planes.phase_step[d] * p->planes.phases[d] * p->planes.plane;
        for (size_t i = 0; i < before / p->planes.phases[d]; i++) {
            VALUE *from = planes + i * step;
            FN(pool_greatest)(from, p->reach[d], (size_t)w->kernel[d], n, from);
        }
    }
}

/* acc[i] = the taps of result i added up; writes whole blocks. */
ODB_SIMD static void FN(pool_sums)(const struct pool *p, const VALUE *planes, ACC *acc)
{
    const size_t *tap = p->planes.tap;
    for (size_t i = 0; i < p->planes.flat; i += ODB_PLANES_SLACK) {
        ACC sum[ODB_PLANES_SLACK] = {0};
        for (size_t t = 0; t < p->window.taps; t++) {
            const VALUE *x = planes + tap[t] + i;
            if (p->kind == POOL_AVERAGE)
                for (size_t j = 0; j < ODB_PLANES_SLACK; j++)
                    sum[j] += (ACC)x[j];
            else
                for (size_t j = 0; j < ODB_PLANES_SLACK; j++)
                    sum[j] += FN(pool_power)(p, (ACC)x[j]);
        }
        memcpy(acc + i, sum, sizeof sum);
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

/* Where line number `line` of the results begins in the grid. */
ODB_INLINE size_t FN(pool_line)(const struct pool *p, size_t line)
{
    const struct odb_window *w = &p->window;
    size_t at = 0;
    for (int d = w->rank - 2; d >= 0; d--) {
        at += line % (size_t)w->out[d] * p->planes.step[d];
        line /= (size_t)w->out[d];
    }
    return at;
}

ODB_SIMD static void FN(pool_dense)(const struct pool *p, const ACC *grid, T *y)
{
    size_t length = (size_t)p->window.out[p->window.rank - 1];
    const double *count = p->count;
    for (size_t row = 0; row < p->window.out_size / length; row++, y += length) {
        const ACC *from = grid + FN(pool_line)(p, row);
        for (size_t i = 0; i < length; i++)
            y[i] = FN(pool_finish)(p, from[i], count ? (ACC)count[row * length + i] : 1);
    }
}

ODB_SIMD static void FN(pool_dense_max)(const struct pool *p, const VALUE *grid, T *y)
{
    size_t length = (size_t)p->window.out[p->window.rank - 1];
    for (size_t row = 0; row < p->window.out_size / length; row++, y += length) {
        const VALUE *from = grid + FN(pool_line)(p, row);
        for (size_t i = 0; i < length; i++)
            y[i] = (T)from[i];
    }
}

/* Channels [begin, end) of all images. */
static void FN(pool_channels)(void *arg, size_t begin, size_t end)
{
    struct pool *p = arg;
    const struct odb_window *w = &p->window;
    bool max = p->kind == POOL_MAX;
    size_t size = p->planes.count * p->planes.plane + ODB_PLANES_SLACK;
    VALUE *planes = odb_workspace(ODB_WORKSPACE_PLANES, size * sizeof(VALUE));
    ACC *grid =
        odb_workspace(ODB_WORKSPACE_ROWS, (p->planes.flat + ODB_PLANES_SLACK) * sizeof(ACC));
    if (!planes || !grid) {
        atomic_store(&p->failed, true);
        return;
    }
    for (size_t channel = begin; channel < end; channel++) {
        T *y = (T *)p->y + channel * w->out_size;
        size_t from = channel * w->in_size;
        FN(planes_fill)
        (w, &p->planes, (const T *)p->x + from, p->elements - from, max ? (VALUE)LOWEST : 0,
         planes);
        if (!max) {
            FN(pool_sums)(p, planes, grid);
            FN(pool_dense)(p, grid, y);
            continue;
        }
        if (p->by_dimension)
            FN(pool_by_dimension)(p, planes);
        else
            FN(pool_greatest)(planes, p->planes.tap, w->taps, p->planes.flat, (VALUE *)grid);
        FN(pool_dense_max)(p, p->by_dimension ? planes : (VALUE *)grid, y);
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
#undef VALUE
