/* SPDX-License-Identifier: MIT
 *
 * The bits of a double, with the sign turned, are an integer that sorts as it does. A pass counts
 * how often each pattern of the upper 16 bits occurs, which tells the pattern of the one in the
 * middle; the next pass counts the 16 bits behind those, of the numbers that begin so. As soon as
 * these are few they are gathered and selected from.
 */
#include "tensor/median.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tensor/stats.h"

enum {
    MEDIAN_BITS = 16, /* that a pass finds */
    MEDIAN_CODES = 1 << MEDIAN_BITS,
    MEDIAN_PARTS = 8,
    MEDIAN_FEW = 1 << 20 /* numbers that are gathered */
};

#define MEDIAN_BLOCK (256 * ODB_PASS_CHUNK)

/* What is counted apart. */
struct median_part {
    size_t *codes;       /* owned; [MEDIAN_CODES] */
    ODB_VEC(double) few; /* owned */
    double below;        /* the largest of those before what is left */
};

struct median_job {
    const struct odb_numbers *numbers;
    const struct odb_progress *progress;
    struct median_part parts[MEDIAN_PARTS];
    uint64_t prefix;
    int bits; /* of the prefix, which the numbers that are left begin with */
};

/* The key's upper bits, as many as the prefix has. */
static inline uint64_t median_head(const struct median_job *job, uint64_t key)
{
    return job->bits ? key >> (64 - job->bits) : 0;
}

/* --- passes ----------------------------------------------------------------------------------- */

/* Keeps the finite numbers of a chunk; returns how many they are. */
static size_t median_finite(struct odb_chunk *c)
{
    double *v = c->v[0];
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        v[kept] = v[i];
        kept += isfinite(v[i]) != 0;
    }
    return kept;
}

static void median_count(const void *arg, void *share, struct odb_chunk *c)
{
    const struct median_job *job = arg;
    struct median_part *part = share;
    size_t n = median_finite(c);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = odb_median_key(c->v[0][i]);
        if (median_head(job, key) == job->prefix)
            part->codes[key >> (64 - MEDIAN_BITS - job->bits) & (MEDIAN_CODES - 1)]++;
    }
}

static void median_gather(const void *arg, void *share, struct odb_chunk *c)
{
    const struct median_job *job = arg;
    struct median_part *part = share;
    size_t n = median_finite(c);
    for (size_t i = 0; i < n; i++)
        if (median_head(job, odb_median_key(c->v[0][i])) == job->prefix)
            odb_push(&part->few, c->v[0][i]);
}

static void median_below(const void *arg, void *share, struct odb_chunk *c)
{
    const struct median_job *job = arg;
    struct median_part *part = share;
    size_t n = median_finite(c);
    for (size_t i = 0; i < n; i++)
        if (median_head(job, odb_median_key(c->v[0][i])) < job->prefix)
            part->below = ODB_MAX(part->below, c->v[0][i]);
}

static enum odb_status median_pass(struct median_job *job, odb_chunk_fn chunk,
                                   struct odb_error *err)
{
    struct odb_pass pass = {.end = job->numbers->n,
                            .block = MEDIAN_BLOCK,
                            .shares = MEDIAN_PARTS,
                            .item = sizeof *job->parts,
                            .job = job,
                            .sides = {job->numbers},
                            .chunk = chunk,
                            .kept = job->parts,
                            .progress = job->progress};
    return odb_pass_run(&pass, NULL, err);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Finds the next bits of the number with a rank among those that are left. */
static enum odb_status median_narrow(struct median_job *job, size_t *rank, size_t *left,
                                     struct odb_error *err)
{
    size_t code = 0;
    for (int p = 0; p < MEDIAN_PARTS; p++) {
        free(job->parts[p].codes);
        job->parts[p].codes = odb_new_n(size_t, MEDIAN_CODES);
    }
    ODB_TRY(median_pass(job, median_count, err));
    for (;; code++) {
        *left = 0;
        for (int p = 0; p < MEDIAN_PARTS; p++)
            *left += job->parts[p].codes[code];
        if (*rank < *left)
            break;
        *rank -= *left;
    }
    job->prefix = job->prefix << MEDIAN_BITS | code;
    job->bits += MEDIAN_BITS;
    return ODB_OK;
}

/* The number with a rank among those that are left, and the one before it, if that is one of them;
 * else NaN. */
static enum odb_status median_select(struct median_job *job, size_t rank, double *upper,
                                     double *lower, struct odb_error *err)
{
    ODB_VEC(double) all = {0};
    ODB_TRY(median_pass(job, median_gather, err));
    for (int p = 0; p < MEDIAN_PARTS; p++)
        for (size_t i = 0; i < job->parts[p].few.n; i++)
            odb_push(&all, job->parts[p].few.items[i]);
    *upper = odb_stats_select(all.items, all.n, rank);
    *lower = rank ? all.items[0] : NAN;
    for (size_t i = 1; i < rank; i++)
        *lower = ODB_MAX(*lower, all.items[i]);
    free(all.items);
    return ODB_OK;
}

static enum odb_status median_find(struct median_job *job, size_t finite, double *out,
                                   struct odb_error *err)
{
    size_t rank = finite / 2, left = finite;
    double lower;
    while (left > MEDIAN_FEW && job->bits < 64)
        ODB_TRY(median_narrow(job, &rank, &left, err));
    if (left > MEDIAN_FEW) { /* all of them are this one */
        *out = odb_median_number(job->prefix);
        lower = rank ? *out : NAN;
    } else {
        ODB_TRY(median_select(job, rank, out, &lower, err));
    }
    if (finite % 2)
        return ODB_OK;
    if (lower != lower) {
        lower = -INFINITY;
        ODB_TRY(median_pass(job, median_below, err));
        for (int p = 0; p < MEDIAN_PARTS; p++)
            lower = ODB_MAX(lower, job->parts[p].below);
    }
    *out = lower / 2 + *out / 2;
    return ODB_OK;
}

enum odb_status odb_median(double *out, const struct odb_numbers *numbers, size_t finite,
                           const struct odb_progress *progress, struct odb_error *err)
{
    struct median_job job = {.numbers = numbers, .progress = progress};
    enum odb_status status = ODB_OK;
    *out = 0;
    for (int p = 0; p < MEDIAN_PARTS; p++)
        job.parts[p].below = -INFINITY;
    if (finite)
        status = median_find(&job, finite, out, err);
    for (int p = 0; p < MEDIAN_PARTS; p++) {
        free(job.parts[p].codes);
        free(job.parts[p].few.items);
    }
    return status;
}
