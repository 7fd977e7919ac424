/* SPDX-License-Identifier: MIT
 *
 * Three passes and those of the median; nothing is kept of what they look at. Sums cannot overflow
 * unnoticed: they are taken of the numbers divided by the largest.
 */
#include "tensor/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tensor/median.h"
#include "tensor/pass.h"

#define STATS_BLOCK (64 * ODB_PASS_CHUNK)

enum {
    STATS_AT_ONCE = 64, /* blocks between two looks whether to go on */
    STATS_PASSES = 4    /* as far as progress knows */
};

/* A block's share, or all of it. */
struct stats_sums {
    struct odb_stats s; /* counts, min, max */
    size_t finite;
    long double sum, squares, deviations; /* of numbers divided by the scale */
};

struct stats_job {
    struct odb_numbers numbers;
    struct stats_sums all;
    double scale;
    long double mean;
    size_t done; /* numbers that passes have behind them */
    const struct odb_progress *progress;
};

static enum odb_status stats_check(const struct odb_tensor *t, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || t->dtype == ODB_STRING || !t->data)
        return odb_fail(err, ODB_E_INPUT, "statistics are for tensors of numbers with values");
    return ODB_OK;
}

/* --- passes ----------------------------------------------------------------------------------- */

static void stats_count(const void *job, void *share, struct odb_chunk *c)
{
    struct stats_sums *b = share;
    const double *v = c->v[0];
    for (size_t i = 0; i < c->n; i++) {
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

static void stats_sum(const void *arg, void *share, struct odb_chunk *c)
{
    const struct stats_job *job = arg;
    struct stats_sums *b = share;
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->v[0][i])) {
            double x = c->v[0][i] / job->scale;
            b->sum += x;
            b->squares += x * x;
        }
}

static void stats_deviate(const void *arg, void *share, struct odb_chunk *c)
{
    const struct stats_job *job = arg;
    struct stats_sums *b = share;
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->v[0][i])) {
            long double d = c->v[0][i] / job->scale - job->mean;
            b->deviations += d * d;
        }
}

static const struct stats_sums stats_none = {.s = {.min = INFINITY, .max = -INFINITY}};

static void stats_join(void *total, const void *share)
{
    struct stats_sums *all = total;
    const struct stats_sums *b = share;
    odb_stats_merge(&all->s, &b->s);
    all->finite += b->finite;
    all->sum += b->sum;
    all->squares += b->squares;
    all->deviations += b->deviations;
}

static enum odb_status stats_pass(struct stats_job *job, odb_chunk_fn chunk, struct odb_error *err)
{
    struct odb_pass pass = {.end = job->numbers.n,
                            .block = STATS_BLOCK,
                            .at_once = STATS_AT_ONCE,
                            .item = sizeof job->all,
                            .none = &stats_none,
                            .job = job,
                            .sides = {&job->numbers},
                            .chunk = chunk,
                            .join = stats_join,
                            .progress = job->progress,
                            .done = job->done,
                            .total = STATS_PASSES * job->numbers.n};
    ODB_TRY(odb_pass_run(&pass, &job->all, err));
    job->done = pass.done;
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

static enum odb_status stats_moments(struct stats_job *job, struct odb_stats *s,
                                     struct odb_error *err)
{
    struct stats_sums *all = &job->all;
    double scale = ODB_MAX(fabs(s->min), fabs(s->max));
    if (scale == 0)
        return ODB_OK;
    job->scale = ldexp(1, ilogb(scale)); /* a power of two changes no digit */
    ODB_TRY(stats_pass(job, stats_sum, err));
    job->mean = all->sum / all->finite;
    ODB_TRY(stats_pass(job, stats_deviate, err));
    s->mean = (double)(job->mean * job->scale);
    s->rms = (double)(sqrtl(all->squares / all->finite) * job->scale);
    s->std = (double)(sqrtl(all->deviations / all->finite) * job->scale);
    return ODB_OK;
}

/* The last pass, or more than one where that has to be: progress stands still then. */
static bool stats_still(void *payload, size_t done, size_t total)
{
    const struct stats_job *job = payload;
    size_t n = job->numbers.n, most = (STATS_PASSES - 1) * n;
    return job->progress &&
           job->progress->stop(job->progress->payload, most + ODB_MIN(done, n), STATS_PASSES * n);
}

static enum odb_status stats_all(struct stats_job *job, struct odb_stats *out,
                                 struct odb_error *err)
{
    const struct odb_progress still = {stats_still, job};
    job->all = stats_none;
    ODB_TRY(stats_pass(job, stats_count, err));
    *out = job->all.s;
    out->count = job->numbers.n;
    if (!job->all.finite) {
        out->min = out->max = 0;
        return ODB_OK;
    }
    ODB_TRY(stats_moments(job, out, err));
    return odb_median(&out->median, &job->numbers, job->all.finite, &still, err);
}

/* --- histograms ------------------------------------------------------------------------------- */

struct stats_bins {
    struct odb_numbers numbers;
    size_t n;
    double lo, hi;
};

/* Halves, because the width of a range of doubles need not be one. */
static void stats_fill(const void *arg, void *share, struct odb_chunk *c)
{
    const struct stats_bins *job = arg;
    size_t *bins = share, n = job->n;
    double lo = job->lo, hi = job->hi, width = hi / 2 - lo / 2;
    for (size_t i = 0; i < c->n; i++) {
        double v = c->v[0][i];
        if (!(v >= lo && v <= hi))
            continue;
        double place = width > 0 ? (v / 2 - lo / 2) / width * (double)n : (double)(n / 2);
        bins[ODB_MIN((size_t)place, n - 1)]++;
    }
}

static void stats_add_bin(void *total, const void *share)
{
    *(size_t *)total += *(const size_t *)share;
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
    *out = (struct odb_stats){0};
    ODB_TRY(stats_check(t, err));
    struct stats_job job = {.numbers = odb_numbers_of(t), .progress = progress};
    return stats_all(&job, out, err);
}

enum odb_status odb_histogram(size_t *bins, size_t n, double lo, double hi,
                              const struct odb_tensor *t, const struct odb_progress *progress,
                              struct odb_error *err)
{
    ODB_TRY(stats_check(t, err));
    if (!n || !(lo <= hi) || !isfinite(lo) || !isfinite(hi))
        return odb_fail(err, ODB_E_INPUT, "a histogram needs bins and a finite range");
    const struct stats_bins job = {odb_numbers_of(t), n, lo, hi};
    struct odb_pass pass = {.end = job.numbers.n,
                            .block = STATS_BLOCK,
                            .shares = STATS_AT_ONCE,
                            .item = sizeof *bins,
                            .items = n,
                            .job = &job,
                            .sides = {&job.numbers},
                            .chunk = stats_fill,
                            .join = stats_add_bin,
                            .progress = progress};
    for (size_t i = 0; i < n; i++)
        bins[i] = 0;
    return odb_pass_run(&pass, bins, err);
}
