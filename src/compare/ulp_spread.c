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
#include "base/simd.h"
#include "compare/ulp.h"
#include "tensor/pass.h"

enum {
    SPREAD_PARTS = 32,   /* at most: each has counts of its own */
    SPREAD_SMALL = 4096, /* distances below are counted one by one */
    SPREAD_BITS = 12,    /* of SPREAD_SMALL */
    SPREAD_STEPS = 128,  /* per power of two above */
    SPREAD_STEP_BITS = 7,
    SPREAD_TINY = 256,     /* distances that a chunk counts for itself, if it has no others */
    SPREAD_TABLES = 4,     /* in so many tables: one after the other is often the same */
    SPREAD_FINE_BITS = 14, /* of the steps that a further pass counts */
    SPREAD_BINS = 1 << SPREAD_FINE_BITS
};

_Static_assert(SPREAD_SMALL + (64 - SPREAD_BITS) * SPREAD_STEPS <= SPREAD_BINS,
               "the bins of all distances have room where the fine ones have");

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

/* --- counting --------------------------------------------------------------------------------- */

static void spread_count_fine(const struct spread_job *job, struct spread_part *p,
                              const uint64_t *apart, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (apart[i] >= job->low && (apart[i] - job->low) >> job->shift < SPREAD_BINS)
            p->bins[(apart[i] - job->low) >> job->shift]++;
}

static void spread_count_tiny(struct spread_part *p, const uint64_t *apart, size_t n, uint64_t most)
{
    uint16_t tables[SPREAD_TABLES][SPREAD_TINY] = {{0}};
    for (size_t i = 0; i < n; i++)
        tables[i % SPREAD_TABLES][apart[i]]++;
    for (size_t d = 0; d <= most; d++)
        for (size_t k = 0; k < SPREAD_TABLES; k++)
            p->bins[d] += tables[k][d];
}

/* Sums of the halves, which 64 bits hold for a chunk. Returns the largest. */
static ODB_SIMD uint64_t spread_sums(const uint64_t *apart, size_t n, uint64_t *low, uint64_t *high)
{
    uint64_t most = 0, lower = 0, upper = 0; /* in registers */
    for (size_t i = 0; i < n; i++) {
        lower += apart[i] & UINT32_MAX;
        upper += apart[i] >> 32;
        most = apart[i] > most ? apart[i] : most;
    }
    *low = lower;
    *high = upper;
    return most;
}

static void spread_count(const struct spread_job *job, struct spread_part *p, const uint64_t *apart,
                         size_t n)
{
    if (job->fine) {
        spread_count_fine(job, p, apart, n);
        return;
    }
    uint64_t low, high, most = spread_sums(apart, n, &low, &high);
    if (most < SPREAD_TINY)
        spread_count_tiny(p, apart, n, most);
    for (size_t i = 0; i < n && most >= SPREAD_TINY; i++)
        p->bins[spread_bin(apart[i])]++;
    p->pairs += n;
    p->sum += low + ((unsigned __int128)high << 32);
    p->max = ODB_MAX(p->max, most);
}

/* --- distances -------------------------------------------------------------------------------- */

/* Leaves the pairs that are finite on both sides; returns how many. */
static size_t spread_gather(struct odb_chunk *c)
{
    size_t kept = 0;
    if (odb_all_finite(c->v[0], c->n) && odb_all_finite(c->v[1], c->n))
        return c->n;
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->v[0][i]) && isfinite(c->v[1][i])) {
            c->v[0][kept] = c->v[0][i];
            c->v[1][kept++] = c->v[1][i];
        }
    return kept;
}

static void spread_chunk(const void *arg, void *share, struct odb_chunk *c)
{
    const struct spread_job *job = arg;
    uint64_t apart[ODB_PASS_CHUNK];
    size_t n = spread_gather(c);
    struct odb_ulp_pairs pairs = {.v = {c->v[0], c->v[1]}, .n = n};
    if (n == c->n) {
        pairs.stored[0] = odb_ulp_stored(job->type, &job->e, c->first);
        pairs.stored[1] = odb_ulp_stored(job->type, &job->b, c->first);
    }
    if (job->type == ODB_F64 || odb_ulp_has_places(job->type, job->e.type, job->b.type))
        odb_ulp_distances(job->type, &pairs, apart);
    else
        for (size_t i = 0; i < n; i++) {
            double e = c->v[0][i], b = c->v[1][i];
            apart[i] = e == b ? 0 : (uint64_t)fabs(odb_ulps(job->type, b, e));
        }
    spread_count(job, share, apart, n);
}

static void spread_load(const struct odb_numbers *side, struct odb_chunk *c, int k)
{
    odb_numbers_load(side, c->first, c->n, c->v[k]);
}

/* Mostly both sides are of one type and finite: then their bits are enough. */
static void spread_block(const void *arg, void *share, size_t begin, size_t end)
{
    const struct spread_job *job = arg;
    uint64_t apart[ODB_PASS_CHUNK];
    struct odb_chunk c;
    bool stored = job->e.type == job->b.type &&
                  (job->type == ODB_F64 || odb_ulp_has_places(job->type, job->e.type, job->b.type));
    for (c.first = begin; c.first < end; c.first += c.n) {
        c.n = ODB_MIN(end - c.first, ODB_PASS_CHUNK);
        if (stored &&
            odb_ulp_stored_distances(job->type, odb_ulp_stored(job->type, &job->e, c.first),
                                     odb_ulp_stored(job->type, &job->b, c.first), c.n, apart)) {
            spread_count(job, share, apart, c.n);
            continue;
        }
        spread_load(&job->e, &c, 0);
        spread_load(&job->b, &c, 1);
        spread_chunk(job, share, &c);
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

static void spread_pass(const struct spread_job *job, struct spread_part *all)
{
    size_t grain = job->e.n / SPREAD_PARTS / ODB_PASS_CHUNK * ODB_PASS_CHUNK + ODB_PASS_CHUNK;
    struct odb_pass pass = {.end = job->e.n,
                            .block = ODB_MAX(grain, SPREAD_LEAST),
                            .item = sizeof *all,
                            .job = job,
                            .whole = spread_block,
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
        unsigned finer = shift > SPREAD_FINE_BITS ? shift - SPREAD_FINE_BITS : 0;
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
