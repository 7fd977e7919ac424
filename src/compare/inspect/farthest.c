/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Distances are never negative, so their bits, as integers, have their order: and of integers the
 * compiler makes vectors that take the larger.
 */
#include "compare/inspect/farthest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/inspect/channels.h"
#include "compare/inspect/pairs.h"

enum {
    FARTHEST_SHARES = 8,
    FARTHEST_WIDTH = 64 /* distances that are worth a vector loop */
};

struct farthest_job {
    struct odb_pairs pairs;
    size_t n, inner; /* channels; elements that lie together */
};

static ODB_SIMD void farthest_each(int64_t *most, const int64_t *apart, size_t n)
{
    for (size_t i = 0; i < n; i++)
        most[i] = ODB_MAX(most[i], apart[i]);
}

static ODB_SIMD int64_t farthest_of(const int64_t *apart, size_t n)
{
    int64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = ODB_MAX(most, apart[i]);
    return most;
}

/* Elements of which many lie together in a channel. */
static void farthest_runs(const struct farthest_job *job, int64_t *most, size_t first,
                          int64_t *apart, size_t n)
{
    for (size_t i = 0, step; i < n; i += step) {
        size_t channel = (first + i) / job->inner % job->n;
        step = ODB_MIN(job->inner - (first + i) % job->inner, n - i);
        most[channel] = ODB_MAX(most[channel], farthest_of(apart + i, step));
    }
}

/* Elements each of which is in the next channel. Rows of few channels are laid over each other,
 * many at a time, before they are laid over the channels. */
static void farthest_rows(const struct farthest_job *job, int64_t *most, size_t first,
                          int64_t *apart, size_t n)
{
    size_t width = (FARTHEST_WIDTH / job->n + 1) * job->n;
    for (size_t i = width; i < n; i += width)
        farthest_each(apart, apart + i, ODB_MIN(width, n - i));
    n = ODB_MIN(width, n);
    for (size_t i = 0, step; i < n; i += step) {
        size_t channel = (first + i) % job->n;
        step = ODB_MIN(job->n - channel, n - i);
        farthest_each(most + channel, apart + i, step);
    }
}

/* Magnitudes of complex elements may be infinite with parts that are equally so, and others. */
static void farthest_drop_infinite(double *const v[2], double *error, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isinf(error[i]) && !(isfinite(v[0][i]) && isfinite(v[1][i])))
            error[i] = 0;
}

static void farthest_block(const void *arg, void *share, size_t begin, size_t end)
{
    const struct farthest_job *job = arg;
    double x[ODB_PASS_CHUNK], y[ODB_PASS_CHUNK], error[ODB_PASS_CHUNK], *const v[2] = {x, y};
    int64_t apart[ODB_PASS_CHUNK];
    for (size_t n; begin < end; begin += n) {
        n = ODB_MIN(end - begin, ODB_PASS_CHUNK);
        if (odb_numbers_same(&job->pairs.side[0], &job->pairs.side[1], begin, n))
            continue;
        odb_pairs_load(&job->pairs, begin, n, v, error);
        if (job->pairs.side[0].magnitudes)
            farthest_drop_infinite(v, error, n);
        memcpy(apart, error, n * sizeof *apart);
        (job->inner > 1 ? farthest_runs : farthest_rows)(job, share, begin, apart, n);
    }
}

static void farthest_join(void *total, const void *share)
{
    farthest_each(total, share, 1);
}

bool odb_farthest_channel(struct odb_farthest *out, const struct odb_tensor *ref,
                          const struct odb_tensor *target, int axis)
{
    struct farthest_job job = {.inner = 1};
    *out = (struct odb_farthest){0};
    odb_pairs_init(&job.pairs, ref, target);
    if (!job.pairs.both || axis < 0 || axis >= ref->rank || !ref->dims[axis] ||
        (size_t)ref->dims[axis] > ODB_CHANNELS_MAX)
        return false;
    job.n = (size_t)ref->dims[axis];
    for (int d = axis + 1; d < ref->rank && ref->count; d++)
        job.inner *= (size_t)ref->dims[d];
    int64_t *most = odb_new_n(int64_t, job.n);
    struct odb_pass pass = {.end = job.pairs.count,
                            .block = 128 * ODB_PASS_CHUNK,
                            .shares = FARTHEST_SHARES,
                            .item = sizeof *most,
                            .items = job.n,
                            .job = &job,
                            .whole = farthest_block,
                            .join = farthest_join};
    odb_pass_all(&pass, most);
    out->channels = job.n;
    for (size_t i = 1; i < job.n; i++)
        if (most[i] > most[out->worst])
            out->worst = i;
    memcpy(&out->error, &most[out->worst], sizeof out->error);
    free(most);
    return true;
}
