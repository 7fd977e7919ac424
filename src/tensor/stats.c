/* SPDX-License-Identifier: MIT
 *
 * Elements are looked at in chunks, as doubles, and nothing is kept of them. What is counted and
 * summed belongs to blocks whose borders depend on the size alone, and these are added in order: so
 * it does not depend on the number of threads. Sums cannot overflow unnoticed: they are taken of
 * the numbers divided by the largest.
 */
#include "tensor/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "tensor/median.h"

enum {
    STATS_CHUNK = 1024,
    STATS_BLOCK = 64 * STATS_CHUNK,
    STATS_STEP = 64 * STATS_BLOCK, /* between two looks whether to go on */
    STATS_PASSES = 4               /* as far as progress knows */
};

/* A block's share, or all of it. */
struct stats_sums {
    struct odb_stats s; /* counts, min, max */
    size_t finite;
    long double sum, squares, deviations; /* of numbers divided by the scale */
};

struct stats_job {
    const struct odb_tensor *t;
    enum odb_dtype type; /* of a number: complex elements are two */
    size_t count, begin, done;
    const struct odb_progress *progress;
    struct stats_sums *blocks; /* owned */
    struct stats_sums all;
    double scale;
    long double mean;
    void (*visit)(const struct stats_job *job, struct stats_sums *s, const double *v, size_t n);
};

static enum odb_status stats_check(const struct odb_tensor *t, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || t->dtype == ODB_STRING || !t->data)
        return odb_fail(err, ODB_E_INPUT, "statistics are for tensors of numbers with values");
    return ODB_OK;
}

static void stats_prepare(struct stats_job *job, const struct odb_tensor *t,
                          const struct odb_progress *progress)
{
    enum odb_dtype type = t->dtype == ODB_C64 ? ODB_F32 : t->dtype == ODB_C128 ? ODB_F64 : t->dtype;
    *job = (struct stats_job){.t = t,
                              .type = type,
                              .count = type == t->dtype ? t->count : 2 * t->count,
                              .progress = progress};
}

/* first is a multiple of 8: packed types start at a byte. */
static void stats_load(const struct stats_job *job, size_t first, size_t n, double *v)
{
    size_t offset = first / 8 * odb_dtype_info(job->type)->bits;
    odb_convert(ODB_F64, v, job->type, (const char *)job->t->data + offset, n);
}

/* Those that are finite. */
static size_t stats_load_finite(const void *payload, size_t first, size_t n, double *v)
{
    size_t kept = 0;
    stats_load(payload, first, n, v);
    for (size_t i = 0; i < n; i++) {
        v[kept] = v[i];
        kept += isfinite(v[i]) != 0;
    }
    return kept;
}

/* --- passes ----------------------------------------------------------------------------------- */

static void stats_count(const struct stats_job *job, struct stats_sums *b, const double *v,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        b->s.nan += v[i] != v[i];
        b->s.pos_inf += v[i] == INFINITY;
        b->s.neg_inf += v[i] == -INFINITY;
        b->s.zeros += v[i] == 0;
        if (!isfinite(v[i]))
            continue;
        b->s.min = ODB_MIN(b->s.min, v[i]);
        b->s.max = ODB_MAX(b->s.max, v[i]);
        b->finite++;
    }
}

static void stats_sum(const struct stats_job *job, struct stats_sums *b, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i])) {
            double x = v[i] / job->scale;
            b->sum += x;
            b->squares += x * x;
        }
}

static void stats_deviate(const struct stats_job *job, struct stats_sums *b, const double *v,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i])) {
            long double d = v[i] / job->scale - job->mean;
            b->deviations += d * d;
        }
}

static void stats_block(void *arg, size_t begin, size_t end)
{
    const struct stats_job *job = arg;
    double v[STATS_CHUNK];
    begin += job->begin;
    end += job->begin;
    for (size_t at = begin, n; at < end; at += n) {
        n = ODB_MIN(end - at, (size_t)STATS_CHUNK);
        stats_load(job, at, n, v);
        job->visit(job, &job->blocks[begin / STATS_BLOCK], v, n);
    }
}

static enum odb_status stats_pass(struct stats_job *job,
                                  void (*visit)(const struct stats_job *job, struct stats_sums *s,
                                                const double *v, size_t n),
                                  struct odb_error *err)
{
    job->visit = visit;
    for (job->begin = 0; job->begin < job->count; job->begin += STATS_STEP) {
        size_t n = ODB_MIN(job->count - job->begin, (size_t)STATS_STEP);
        ODB_TRY(odb_progress_step(job->progress, job->done, STATS_PASSES * job->count, err));
        odb_parallel_for(n, STATS_BLOCK, stats_block, job);
        job->done += n;
    }
    return ODB_OK;
}

/* --- what they come to ------------------------------------------------------------------------ */

void odb_stats_merge(struct odb_stats *to, const struct odb_stats *from)
{
    to->nan += from->nan;
    to->pos_inf += from->pos_inf;
    to->neg_inf += from->neg_inf;
    to->zeros += from->zeros;
    to->min = ODB_MIN(to->min, from->min);
    to->max = ODB_MAX(to->max, from->max);
}

static void stats_merge_counts(struct stats_job *job, size_t blocks)
{
    struct stats_sums *all = &job->all;
    for (size_t i = 0; i < blocks; i++) {
        const struct stats_sums *b = &job->blocks[i];
        odb_stats_merge(&all->s, &b->s);
        all->finite += b->finite;
    }
}

static enum odb_status stats_moments(struct stats_job *job, size_t blocks, struct odb_stats *s,
                                     struct odb_error *err)
{
    struct stats_sums *all = &job->all;
    double scale = ODB_MAX(fabs(s->min), fabs(s->max));
    if (scale == 0)
        return ODB_OK;
    job->scale = ldexp(1, ilogb(scale)); /* a power of two changes no digit */
    ODB_TRY(stats_pass(job, stats_sum, err));
    for (size_t i = 0; i < blocks; i++) {
        all->sum += job->blocks[i].sum;
        all->squares += job->blocks[i].squares;
    }
    job->mean = all->sum / all->finite;
    ODB_TRY(stats_pass(job, stats_deviate, err));
    for (size_t i = 0; i < blocks; i++)
        all->deviations += job->blocks[i].deviations;
    s->mean = (double)(job->mean * job->scale);
    s->rms = (double)(sqrtl(all->squares / all->finite) * job->scale);
    s->std = (double)(sqrtl(all->deviations / all->finite) * job->scale);
    return ODB_OK;
}

/* The last pass, or more than one where that has to be: progress stands still then. */
static bool stats_still(void *payload, size_t done, size_t total)
{
    const struct stats_job *job = payload;
    size_t most = (STATS_PASSES - 1) * job->count;
    return job->progress &&
           job->progress->stop(job->progress->payload, most + ODB_MIN(done, job->count),
                               STATS_PASSES * job->count);
}

static enum odb_status stats_all(struct stats_job *job, struct odb_stats *out,
                                 struct odb_error *err)
{
    size_t blocks = job->count / STATS_BLOCK + (job->count % STATS_BLOCK != 0);
    const struct odb_median_source source = {job->count, stats_load_finite, job};
    const struct odb_progress still = {stats_still, job};
    job->blocks = odb_new_n(struct stats_sums, blocks + 1);
    job->all.s.min = INFINITY;
    job->all.s.max = -INFINITY;
    for (size_t i = 0; i < blocks; i++)
        job->blocks[i].s = job->all.s;
    ODB_TRY(stats_pass(job, stats_count, err));
    stats_merge_counts(job, blocks);
    *out = job->all.s;
    out->count = job->count;
    if (!job->all.finite) {
        out->min = out->max = 0;
        return ODB_OK;
    }
    ODB_TRY(stats_moments(job, blocks, out, err));
    return odb_median(&out->median, &source, job->all.finite, &still, err);
}

/* --- public ----------------------------------------------------------------------------------- */

double odb_stats_select(double *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = v[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        /* v[lo..j] <= pivot <= v[j+1..hi] */
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return v[k];
}

enum odb_status odb_stats(struct odb_stats *out, const struct odb_tensor *t,
                          const struct odb_progress *progress, struct odb_error *err)
{
    struct stats_job job;
    *out = (struct odb_stats){0};
    ODB_TRY(stats_check(t, err));
    stats_prepare(&job, t, progress);
    enum odb_status status = stats_all(&job, out, err);
    free(job.blocks);
    return status;
}

enum odb_status odb_histogram(size_t *bins, size_t n, double lo, double hi,
                              const struct odb_tensor *t, const struct odb_progress *progress,
                              struct odb_error *err)
{
    struct stats_job job;
    double v[STATS_CHUNK];
    ODB_TRY(stats_check(t, err));
    if (!n || !(lo <= hi) || !isfinite(lo) || !isfinite(hi))
        return odb_fail(err, ODB_E_INPUT, "a histogram needs bins and a finite range");
    stats_prepare(&job, t, progress);
    for (size_t i = 0; i < n; i++)
        bins[i] = 0;
    /* Halves, because the width of a range of doubles need not be one. */
    double width = hi / 2 - lo / 2;
    for (size_t at = 0; at < job.count; at += STATS_CHUNK) {
        size_t some = ODB_MIN(job.count - at, (size_t)STATS_CHUNK);
        if (at % STATS_STEP == 0)
            ODB_TRY(odb_progress_step(progress, at, job.count, err));
        stats_load(&job, at, some, v);
        for (size_t i = 0; i < some; i++) {
            if (!(v[i] >= lo && v[i] <= hi))
                continue;
            double place = width > 0 ? (v[i] / 2 - lo / 2) / width * (double)n : (double)(n / 2);
            bins[ODB_MIN((size_t)place, n - 1)]++;
        }
    }
    return ODB_OK;
}
