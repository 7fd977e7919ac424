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
#include "system/parallel.h"
#include "compare/ulp.h"

enum {
    SPREAD_CHUNK = 1024,
    SPREAD_PARTS = 32, /* at most: each has counts of its own */
    SPREAD_LEAST = 64 * SPREAD_CHUNK,
    SPREAD_SMALL = 4096, /* distances below are counted one by one */
    SPREAD_BITS = 12,    /* of SPREAD_SMALL */
    SPREAD_STEPS = 128,  /* per power of two above */
    SPREAD_STEP_BITS = 7,
    SPREAD_BINS = SPREAD_SMALL + (64 - SPREAD_BITS) * SPREAD_STEPS
};

struct spread_part {
    uint64_t bins[SPREAD_BINS];
    uint64_t max;
    size_t pairs;
    unsigned __int128 sum;
};

struct spread_job {
    const struct odb_tensor *e, *b;
    enum odb_dtype type;
    size_t grain;
    bool fine; /* counts from low on in steps of 1 << shift; else everything */
    uint64_t low;
    unsigned shift;
    struct spread_part *parts; /* owned */
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

static void spread_load(enum odb_dtype to, void *out, const struct odb_tensor *t, size_t first,
                        size_t n)
{
    size_t offset = first / 8 * odb_dtype_info(t->dtype)->bits; /* a chunk starts at a byte */
    odb_convert(to, out, t->dtype, (const char *)t->data + offset, n);
}

static void spread_chunk_f32(const struct spread_job *job, struct spread_part *p, size_t first,
                             size_t n)
{
    int32_t e[SPREAD_CHUNK], b[SPREAD_CHUNK];
    const int32_t exponent = 0x7f800000;
    spread_load(ODB_F32, e, job->e, first, n);
    spread_load(ODB_F32, b, job->b, first, n);
    for (size_t i = 0; i < n; i++) {
        if ((e[i] & exponent) == exponent || (b[i] & exponent) == exponent)
            continue;
        int64_t x = e[i] < 0 ? (int64_t)INT32_MIN - e[i] : e[i];
        int64_t y = b[i] < 0 ? (int64_t)INT32_MIN - b[i] : b[i];
        spread_add(job, p, (uint64_t)(x > y ? x - y : y - x));
    }
}

/* Doubles are further apart than a double can count. */
static uint64_t spread_f64(double e, double b)
{
    int64_t x, y;
    memcpy(&x, &e, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = x < 0 ? INT64_MIN - x : x;
    y = y < 0 ? INT64_MIN - y : y;
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static void spread_chunk_any(const struct spread_job *job, struct spread_part *p, size_t first,
                             size_t n)
{
    double e[SPREAD_CHUNK], b[SPREAD_CHUNK];
    spread_load(ODB_F64, e, job->e, first, n);
    spread_load(ODB_F64, b, job->b, first, n);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(e[i]) || !isfinite(b[i]))
            continue;
        spread_add(job, p,
                   job->type == ODB_F64 ? spread_f64(e[i], b[i])
                   : e[i] == b[i]       ? 0
                                        : (uint64_t)fabs(odb_ulps(job->type, b[i], e[i])));
    }
}

/* --- passes ----------------------------------------------------------------------------------- */

static void spread_block(void *arg, size_t begin, size_t end)
{
    const struct spread_job *job = arg;
    struct spread_part *p = &job->parts[begin / job->grain];
    for (size_t i = begin; i < end; i += SPREAD_CHUNK) {
        size_t n = ODB_MIN(end - i, (size_t)SPREAD_CHUNK);
        (job->type == ODB_F32 ? spread_chunk_f32 : spread_chunk_any)(job, p, i, n);
    }
}

/* All parts added into the first. */
static struct spread_part *spread_pass(struct spread_job *job)
{
    size_t n = job->e->count, parts = (n + job->grain - 1) / job->grain;
    memset(job->parts, 0, (parts ? parts : 1) * sizeof *job->parts);
    odb_parallel_for(n, job->grain, spread_block, job);
    struct spread_part *all = &job->parts[0];
    for (size_t i = 1; i < parts; i++) {
        const struct spread_part *p = &job->parts[i];
        for (size_t bin = 0; bin < SPREAD_BINS; bin++)
            all->bins[bin] += p->bins[bin];
        all->pairs += p->pairs;
        all->sum += p->sum;
        all->max = ODB_MAX(all->max, p->max);
    }
    return all;
}

/* The bin in which the *rank-th distance lies, counted from 1; *rank is then its rank there. */
static unsigned spread_find(const struct spread_part *all, uint64_t *rank)
{
    unsigned bin = 0;
    while (all->bins[bin] < *rank)
        *rank -= all->bins[bin++];
    return bin;
}

static uint64_t spread_percentile(struct spread_job *job, const struct spread_part *all, size_t n)
{
    uint64_t rank = n - n / 100;
    unsigned shift;
    uint64_t low = spread_bin_low(spread_find(all, &rank), &shift);
    while (shift) {
        unsigned finer = shift > SPREAD_BITS ? shift - SPREAD_BITS : 0;
        job->fine = true;
        job->low = low;
        job->shift = finer;
        low += (uint64_t)spread_find(spread_pass(job), &rank) << finer;
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
    struct spread_job job = {.e = evaluated, .b = base};
    job.type = odb_ulp_type(evaluated->dtype, base->dtype);
    if (job.type == ODB_UNDEFINED)
        return false;
    size_t grain = evaluated->count / SPREAD_PARTS / SPREAD_CHUNK * SPREAD_CHUNK + SPREAD_CHUNK;
    job.grain = ODB_MAX(grain, (size_t)SPREAD_LEAST);
    job.parts = odb_new_n(struct spread_part, SPREAD_PARTS + 1);
    const struct spread_part *all = spread_pass(&job);
    out->pairs = all->pairs;
    out->max = (double)all->max;
    if (all->pairs) {
        out->mean = (double)((long double)all->sum / (long double)all->pairs);
        out->p99 = (double)spread_percentile(&job, all, all->pairs);
    }
    free(job.parts);
    return true;
}
