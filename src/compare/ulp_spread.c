/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A percentile without sorting: a pass counts how many distances are below a range, and those in it
 * in steps. A few hundred pairs say in which range the percentile is likely to lie; mostly it is
 * one of so few numbers that a step is one, and the distances in it are few. Else further passes
 * look where the first one says, in finer steps. Counts are integers, so the order in which parts
 * are added does not matter.
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
    SPREAD_PARTS = 32, /* at most: each has counts of its own */
    SPREAD_BINS = 4096,
    SPREAD_RUNS = 32, /* of pairs that are looked at first */
    SPREAD_RUN = 32,
    SPREAD_LARGEST = 24, /* of them; 1 % are 10 */
    SPREAD_FEW = 3       /* of these are above the range */
};

#define SPREAD_LEAST (64 * ODB_PASS_CHUNK)

struct spread_part {
    uint64_t bins[SPREAD_BINS]; /* or the distances in the range themselves */
    size_t listed;              /* of these */
    size_t pairs, below;        /* the range */
    uint64_t max;
    unsigned __int128 sum;
};

struct spread_job {
    struct odb_numbers e, b;
    enum odb_dtype type;
    uint64_t low, high; /* the range, which is counted in steps of 1 << shift */
    unsigned shift;
    bool list; /* there are no more than SPREAD_BINS in it */
};

/* --- counting --------------------------------------------------------------------------------- */

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

/* Those from low on, to the front; returns how many. */
static size_t spread_reach(uint64_t *apart, size_t n, uint64_t low)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) { /* without a branch */
        uint64_t d = apart[i];
        apart[kept] = d;
        kept += d >= low;
    }
    return kept;
}

static void spread_count(const struct spread_job *job, struct spread_part *p, uint64_t *apart,
                         size_t n)
{
    uint64_t low, high, most = spread_sums(apart, n, &low, &high);
    size_t reach = most < job->low ? 0 : spread_reach(apart, n, job->low);
    p->pairs += n;
    p->below += n - reach;
    p->sum += low + ((unsigned __int128)high << 32);
    p->max = ODB_MAX(p->max, most);
    for (size_t i = 0; i < reach; i++) {
        if (apart[i] > job->high)
            continue;
        if (job->list)
            p->bins[p->listed++] = apart[i];
        else
            p->bins[(apart[i] - job->low) >> job->shift]++;
    }
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

/* Of n pairs from a place on; returns of how many, which are finite. */
static size_t spread_apart(const struct spread_job *job, size_t first, size_t n, uint64_t *apart)
{
    struct odb_chunk c;
    struct odb_ulp_pairs pairs = {
        {c.v[0], c.v[1]},
        {odb_ulp_stored(job->type, &job->e, first), odb_ulp_stored(job->type, &job->b, first)},
        n};
    if (odb_ulp_is_stored(job->type, job->e.type, job->b.type) &&
        odb_ulp_stored_distances(job->type, pairs.stored[0], pairs.stored[1], n, apart))
        return n; /* the bits were enough */
    c.n = n;
    odb_numbers_load(&job->e, first, n, c.v[0]);
    odb_numbers_load(&job->b, first, n, c.v[1]);
    pairs.n = spread_gather(&c);
    if (pairs.n < n)
        pairs.stored[0] = pairs.stored[1] = NULL;
    if (job->type == ODB_F64 || odb_ulp_has_places(job->type, job->e.type, job->b.type))
        odb_ulp_distances(job->type, &pairs, apart);
    else
        for (size_t i = 0; i < pairs.n; i++) {
            double e = c.v[0][i], b = c.v[1][i];
            apart[i] = e == b ? 0 : (uint64_t)fabs(odb_ulps(job->type, b, e));
        }
    return pairs.n;
}

static void spread_block(const void *arg, void *share, size_t begin, size_t end)
{
    uint64_t apart[ODB_PASS_CHUNK];
    for (size_t n; begin < end; begin += n) {
        n = ODB_MIN(end - begin, ODB_PASS_CHUNK);
        spread_count(arg, share, apart, spread_apart(arg, begin, n, apart));
    }
}

/* --- passes ----------------------------------------------------------------------------------- */

static void spread_join(void *total, const void *share)
{
    struct spread_part *all = total;
    const struct spread_part *p = share;
    for (size_t i = 0; i < p->listed; i++)
        all->bins[all->listed++] = p->bins[i];
    for (size_t bin = 0; bin < SPREAD_BINS && !p->listed; bin++)
        all->bins[bin] += p->bins[bin];
    all->pairs += p->pairs;
    all->below += p->below;
    all->sum += p->sum;
    all->max = ODB_MAX(all->max, p->max);
}

/* Counts the range of the job. */
static void spread_pass(struct spread_job *job, struct spread_part *all)
{
    size_t grain = job->e.n / SPREAD_PARTS / ODB_PASS_CHUNK * ODB_PASS_CHUNK + ODB_PASS_CHUNK;
    struct odb_pass pass = {.end = job->e.n,
                            .block = ODB_MAX(grain, SPREAD_LEAST),
                            .item = sizeof *all,
                            .job = job,
                            .whole = spread_block,
                            .join = spread_join};
    for (job->shift = 0; (job->high - job->low) >> job->shift >= SPREAD_BINS;)
        job->shift++;
    memset(all, 0, sizeof *all);
    odb_pass_all(&pass, all);
}

/* A range in which the percentile is likely to lie. */
static void spread_guess(struct spread_job *job)
{
    uint64_t apart[SPREAD_RUN], largest[SPREAD_LARGEST] = {0};
    size_t n = job->e.n, few = n > SPREAD_RUNS * SPREAD_RUN ? SPREAD_FEW : 0;
    for (size_t run = 0; run < SPREAD_RUNS && run * SPREAD_RUN < n; run++) {
        size_t first = few ? n / SPREAD_RUNS / 8 * 8 * run : run * SPREAD_RUN;
        size_t found = spread_apart(job, first, ODB_MIN((size_t)SPREAD_RUN, n - first), apart);
        for (size_t i = 0; i < found; i++) {
            size_t at = SPREAD_LARGEST;
            for (; at && apart[i] > largest[at - 1]; at--)
                if (at < SPREAD_LARGEST)
                    largest[at] = largest[at - 1];
            if (at < SPREAD_LARGEST)
                largest[at] = apart[i];
        }
    }
    job->low = ODB_MAX(largest[SPREAD_LARGEST - 1], (uint64_t)1); /* equal pairs are below */
    job->high = ODB_MAX(largest[few], job->low);
}

static int spread_upwards(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The least distance that 99 % do not exceed. *all: what a pass has counted. */
static uint64_t spread_percentile(struct spread_job *job, struct spread_part *all)
{
    for (;;) {
        size_t rank = all->pairs - all->pairs / 100, bin = 0, inside = all->below;
        if (rank <= all->below) {
            job->high = job->low - 1;
            job->low = 0;
        } else {
            for (rank -= all->below; bin < SPREAD_BINS && all->bins[bin] < rank; bin++)
                rank -= all->bins[bin];
            if (bin < SPREAD_BINS) {
                inside = all->bins[bin];
                job->low += bin << job->shift;
                job->high = ODB_MIN(job->high, job->low + ((uint64_t)1 << job->shift) - 1);
            } else {
                inside = SIZE_MAX;
                job->low = job->high + 1;
                job->high = all->max;
            }
        }
        if (job->low == job->high)
            return job->low;
        job->list = inside <= SPREAD_BINS;
        spread_pass(job, all);
        if (job->list) {
            qsort(all->bins, inside, sizeof *all->bins, spread_upwards);
            return all->bins[rank - 1];
        }
    }
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
    spread_guess(&job);
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
