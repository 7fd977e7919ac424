/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A percentile without sorting: one pass counts distances, the small ones each for itself, the
 * others by their leading bits. Where the percentile falls among the latter, further passes count
 * within that range alone, in finer steps, until a step is one number. Honest values need one pass.
 * Counts are integers, so the order in which parts are added does not matter.
 */
#include "compare/ulp_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/ulp.h"
#include "tensor/pass.h"

enum {
    SPREAD_PARTS = 32,   /* at most: each has counts of its own */
    SPREAD_SMALL = 4096, /* distances below are counted one by one */
    SPREAD_BITS = 12,    /* of SPREAD_SMALL */
    SPREAD_STEPS = 128,  /* per power of two above */
    SPREAD_STEP_BITS = 7,
    SPREAD_BINS = SPREAD_SMALL + (64 - SPREAD_BITS) * SPREAD_STEPS
};

#define SPREAD_LEAST (64 * ODB_PASS_CHUNK)

struct spread_part {
    uint64_t bins[SPREAD_BINS];
    uint64_t max;
    size_t pairs;
    unsigned __int128 sum;
};

struct spread_job {
    struct odb_numbers e, b;
    enum odb_dtype type;
    bool fine; /* counts from low on in steps of 1 << shift; else everything */
    uint64_t low;
    unsigned shift;
};

/* --- bins ------------------------------------------------------------------------------------- */

static unsigned spread_bin(uint64_t d)
{
    if (d < SPREAD_SMALL)
        return (unsigned)d;
    unsigned power = 63 - (unsigned)__builtin_clzll(d);
    unsigned step = (unsigned)(d >> (power - SPREAD_STEP_BITS)) & (SPREAD_STEPS - 1);
    return SPREAD_SMALL + (power - SPREAD_BITS) * SPREAD_STEPS + step;
}

/* The least distance in a bin; *shift: it holds 2^shift of them. */
static uint64_t spread_bin_low(unsigned bin, unsigned *shift)
{
    *shift = 0;
    if (bin < SPREAD_SMALL)
        return bin;
    unsigned power = (bin - SPREAD_SMALL) / SPREAD_STEPS + SPREAD_BITS;
    unsigned step = (bin - SPREAD_SMALL) % SPREAD_STEPS;
    *shift = power - SPREAD_STEP_BITS;
    return (uint64_t)(SPREAD_STEPS + step) << *shift;
}

static void spread_add(const struct spread_job *job, struct spread_part *p, uint64_t d)
{
    if (job->fine) {
        if (d >= job->low && (d - job->low) >> job->shift < SPREAD_SMALL)
            p->bins[(d - job->low) >> job->shift]++;
        return;
    }
    p->bins[spread_bin(d)]++;
    p->pairs++;
    p->sum += d;
    p->max = ODB_MAX(p->max, d);
}

/* --- distances -------------------------------------------------------------------------------- */

static bool spread_counts(const struct odb_chunk *c, size_t i)
{
    return isfinite(c->v[0][i]) && isfinite(c->v[1][i]);
}

static void spread_chunk_places(const void *arg, void *share, struct odb_chunk *c)
{
    const struct spread_job *job = arg;
    int32_t e[ODB_PASS_CHUNK], b[ODB_PASS_CHUNK];
    odb_ulp_places(job->type, c->v[0], c->n, e);
    odb_ulp_places(job->type, c->v[1], c->n, b);
    for (size_t i = 0; i < c->n; i++) {
        int64_t d = (int64_t)e[i] - b[i];
        if (spread_counts(c, i))
            spread_add(job, share, (uint64_t)(d < 0 ? -d : d));
    }
}

static void spread_chunk_doubles(const void *job, void *share, struct odb_chunk *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (spread_counts(c, i))
            spread_add(job, share, odb_ulps_of_doubles(c->v[0][i], c->v[1][i]));
}

static void spread_chunk_any(const void *arg, void *share, struct odb_chunk *c)
{
    const struct spread_job *job = arg;
    for (size_t i = 0; i < c->n; i++) {
        double e = c->v[0][i], b = c->v[1][i];
        if (spread_counts(c, i))
            spread_add(job, share, e == b ? 0 : (uint64_t)fabs(odb_ulps(job->type, b, e)));
    }
}

/* --- passes ----------------------------------------------------------------------------------- */

static void spread_join(void *total, const void *share)
{
    struct spread_part *all = total;
    const struct spread_part *p = share;
    for (size_t bin = 0; bin < SPREAD_BINS; bin++)
        all->bins[bin] += p->bins[bin];
    all->pairs += p->pairs;
    all->sum += p->sum;
    all->max = ODB_MAX(all->max, p->max);
}

static odb_chunk_fn spread_chunk(const struct spread_job *job)
{
    return job->type == ODB_F64                                      ? spread_chunk_doubles
           : odb_ulp_has_places(job->type, job->e.type, job->b.type) ? spread_chunk_places
                                                                     : spread_chunk_any;
}

static void spread_pass(const struct spread_job *job, struct spread_part *all)
{
    size_t grain = job->e.n / SPREAD_PARTS / ODB_PASS_CHUNK * ODB_PASS_CHUNK + ODB_PASS_CHUNK;
    struct odb_pass pass = {.end = job->e.n,
                            .block = ODB_MAX(grain, SPREAD_LEAST),
                            .item = sizeof *all,
                            .job = job,
                            .sides = {&job->e, &job->b},
                            .chunk = spread_chunk(job),
                            .join = spread_join};
    memset(all, 0, sizeof *all);
    odb_pass_all(&pass, all);
}

/* The bin in which the *rank-th distance lies, counted from 1; *rank is then its rank there. */
static unsigned spread_find(const struct spread_part *all, uint64_t *rank)
{
    unsigned bin = 0;
    while (all->bins[bin] < *rank)
        *rank -= all->bins[bin++];
    return bin;
}

static uint64_t spread_percentile(struct spread_job *job, struct spread_part *all)
{
    uint64_t rank = all->pairs - all->pairs / 100;
    unsigned shift;
    uint64_t low = spread_bin_low(spread_find(all, &rank), &shift);
    while (shift) {
        unsigned finer = shift > SPREAD_BITS ? shift - SPREAD_BITS : 0;
        job->fine = true;
        job->low = low;
        job->shift = finer;
        spread_pass(job, all);
        low += (uint64_t)spread_find(all, &rank) << finer;
        shift = finer;
    }
    return low;
}

bool odb_ulp_spread(struct odb_ulp_spread *out, const struct odb_tensor *evaluated,
                    const struct odb_tensor *base)
{
    *out = (struct odb_ulp_spread){0};
    if (!evaluated || !base || evaluated->kind != ODB_TENSOR || base->kind != ODB_TENSOR ||
        !evaluated->data || !base->data || !odb_tensor_same_shape(evaluated, base))
        return false;
    struct spread_job job = {.e = odb_numbers_of(evaluated), .b = odb_numbers_of(base)};
    job.type = odb_ulp_type(evaluated->dtype, base->dtype);
    if (job.type == ODB_UNDEFINED)
        return false;
    struct spread_part *all = odb_new(struct spread_part);
    spread_pass(&job, all);
    out->pairs = all->pairs;
    out->max = (double)all->max;
    if (all->pairs) {
        out->mean = (double)((long double)all->sum / (long double)all->pairs);
        out->p99 = (double)spread_percentile(&job, all);
    }
    free(all);
    return true;
}
