/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two passes over both tensors. The first counts, finds the extremes and the worst pairs; the
 * second, which knows the ranges, sums and fills the histograms.
 *
 * Reference, target and difference are three columns of finite numbers that are treated alike.
 *
 * The median needs no sorting: the first pass counts how often each pattern of the upper 16 bits of
 * a double occurs, which tells where the middle lies to within a sixteenth of its size, and the
 * second gathers the numbers there: few, but where all are alike, as zeros and ones often are.
 */
#include "compare/inspect/inspect.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/exact.h"
#include "compare/lanes.h"
#include "tensor/median.h"
#include "tensor/pass.h"

enum { INSPECT_PARTS = 8, INSPECT_CODES = 1 << 16 };

#define INSPECT_BLOCK (256 * ODB_PASS_CHUNK)

/* Integers of 64 bits are subtracted in it. */
_Static_assert(LDBL_MANT_DIG >= 64, "long double must hold every int64");

#define INSPECT_BODY static inline __attribute__((always_inline)) void

enum inspect_which { INSPECT_REF, INSPECT_TARGET, INSPECT_DIFF, INSPECT_COLUMNS };

struct inspect_column {
    size_t finite;
    struct odb_stats s;              /* first pass: nan, …_inf, zeros, min, max */
    long double sum, abs, dev, dev2; /* of scaled numbers; dev: from the middle of the range */
    size_t bins[ODB_INSPECT_BINS];   /* of the common range; diff: of decades */
    size_t begun, gathered; /* its place in the plan's middle, and where the next one goes */
    size_t round;           /* how many were left out there */
    size_t codes[INSPECT_CODES];
};

struct inspect_worst {
    double key; /* |diff|; inf: NaN or Inf does not match */
    struct odb_worst w;
};

/* What is counted apart, and all of it added up. */
struct inspect_part {
    struct inspect_column column[INSPECT_COLUMNS];
    size_t differing;
    double max_abs, max_rel, min_abs; /* min_abs: of those not 0 */
    struct odb_places odd[ODB_ODDITIES];
    size_t n_worst;
    struct inspect_worst worst[ODB_INSPECT_WORST];
};

/* A chunk of the three columns; n_ref == n_target == n_diff where there is a difference. */
struct inspect_chunk {
    double diff[ODB_PASS_CHUNK] __attribute__((aligned(32)));
    double *v[INSPECT_COLUMNS]; /* borrowed: the sides' are the pass's */
    size_t n[INSPECT_COLUMNS];
    size_t first;
    bool odd; /* not everything is finite; differences from or to what is not are NaN */
};

/* What the second pass knows of a column. */
struct inspect_plan {
    int exponent;     /* of the largest number: sums are of numbers below 2 */
    double scale;     /* 2^-exponent */
    double shift;     /* the middle of the range, scaled */
    unsigned code[2]; /* of the numbers around the median */
    size_t below;     /* how many have smaller codes */
    double round;     /* the shortest number with the code, which many may be; NaN: two codes */
    double *middle;   /* owned: the other numbers with the codes; NULL: the median is known */
    size_t n_middle, n_round;
};

struct inspect_job {
    const struct odb_tensor *t[2];
    struct odb_numbers side[2];
    size_t n;                   /* numbers of the side that has most */
    bool pairs, wide;           /* comparable; as integers of 64 bits */
    struct inspect_part *parts; /* owned */
    struct inspect_part *total; /* borrowed: behind the parts */
    size_t n_parts;
    struct inspect_plan plan[INSPECT_COLUMNS];
    double lo, hi, diff_lo, diff_hi;
    double edges[ODB_INSPECT_BINS + 1]; /* of diff_bins */
    const struct odb_progress *progress;
    size_t done; /* numbers that both passes have behind them */
};

/* --- chunks ----------------------------------------------------------------------------------- */

/* Fills the lanes behind the last number. */
static void inspect_pad(double *v, size_t n, double with)
{
    while (n % ODB_LANES)
        v[n++] = with;
}

INSPECT_BODY inspect_load(const struct inspect_job *job, struct inspect_chunk *c,
                          struct odb_chunk *sides)
{
    const struct odb_numbers *r = &job->side[INSPECT_REF], *t = &job->side[INSPECT_TARGET];
    double *ref = sides->v[INSPECT_REF], *target = sides->v[INSPECT_TARGET], *diff = c->diff;
    odb_vec_mask odd = {0};
    for (int side = 0; side < 2; side++) {
        c->v[side] = sides->v[side];
        c->n[side] = sides->has[side];
    }
    c->v[INSPECT_DIFF] = diff;
    c->first = sides->first;
    size_t n = c->n[INSPECT_DIFF] = job->pairs ? c->n[INSPECT_REF] : 0;
    for (size_t i = 0; i < n; i++)
        diff[i] = target[i] - ref[i];
    for (size_t i = 0; i < n && job->wide; i++)
        diff[i] = (double)(odb_exact_value(t->type, t->data, c->first + i) -
                           odb_exact_value(r->type, r->data, c->first + i));
    for (int k = 0; k < INSPECT_COLUMNS; k++) {
        inspect_pad(c->v[k], c->n[k], 0);
        for (size_t i = 0; i < c->n[k]; i += 4)
            odd |= ~(VEC_ABS(VEC_AT(c->v[k], i)) <= DBL_MAX);
    }
    c->odd = odd[0] | odd[1] | odd[2] | odd[3];
    for (size_t i = 0; i < n && c->odd; i++)
        if (!isfinite(ref[i]) || !isfinite(target[i]))
            diff[i] = NAN;
}

/* Keeps the finite numbers, and counts the others in s unless that is NULL. */
static void inspect_drop_odd(struct inspect_chunk *c, int k, struct odb_stats *s)
{
    double *v = c->v[k];
    size_t kept = 0;
    for (size_t i = 0; i < c->n[k]; i++) {
        if (s) {
            s->nan += v[i] != v[i];
            s->pos_inf += v[i] == INFINITY;
            s->neg_inf += v[i] == -INFINITY;
        }
        if (isfinite(v[i]))
            v[kept++] = v[i];
    }
    c->n[k] = kept;
}

/* The metrics before the passes count as a fifth of one. */
static size_t inspect_work(const struct inspect_job *job)
{
    return job->n / 5 + 2 * job->n;
}

static enum odb_status inspect_stopped(const struct inspect_job *job, struct odb_error *err)
{
    return odb_progress_step(job->progress, job->done, inspect_work(job), err);
}

static enum odb_status inspect_pass(struct inspect_job *job, odb_chunk_fn chunk,
                                    struct odb_error *err)
{
    struct odb_pass pass = {.end = job->n,
                            .block = INSPECT_BLOCK,
                            .shares = job->n_parts,
                            .item = sizeof *job->parts,
                            .job = job,
                            .sides = {&job->side[0], &job->side[1]},
                            .chunk = chunk,
                            .kept = job->parts,
                            .progress = job->progress,
                            .done = job->done,
                            .total = inspect_work(job)};
    ODB_TRY(odb_pass_run(&pass, NULL, err));
    job->done = pass.done;
    return ODB_OK;
}

/* --- first pass: what is odd, what is worst --------------------------------------------------- */

/* Keeps the first ones in order. */
static void inspect_add_place(struct odb_places *places, const struct odb_place *place)
{
    if (places->n == ODB_INSPECT_PLACES && places->at[places->n - 1].at <= place->at)
        return;
    size_t i = places->n < ODB_INSPECT_PLACES ? places->n++ : places->n - 1;
    for (; i > 0 && places->at[i - 1].at > place->at; i--)
        places->at[i] = places->at[i - 1];
    places->at[i] = *place;
}

static bool inspect_is_worse(const struct inspect_worst *a, const struct inspect_worst *b)
{
    return a->key > b->key || (a->key == b->key && a->w.at < b->w.at);
}

static void inspect_add_worst(struct inspect_part *p, const struct inspect_worst *worst)
{
    size_t i = p->n_worst;
    if (i == ODB_INSPECT_WORST && !inspect_is_worse(worst, &p->worst[--i]))
        return;
    p->n_worst = i + 1;
    for (; i > 0 && inspect_is_worse(worst, &p->worst[i - 1]); i--)
        p->worst[i] = p->worst[i - 1];
    p->worst[i] = *worst;
}

static enum odb_finiteness inspect_finiteness(double x)
{
    return x != x ? ODB_NAN : fabs(x) <= DBL_MAX ? ODB_FINITE : x > 0 ? ODB_POS_INF : ODB_NEG_INF;
}

static void inspect_note(struct inspect_part *p, size_t at, enum odb_finiteness ref,
                         enum odb_finiteness target)
{
    const struct odb_place place = {at, ref, target};
    int nan = ref == target ? ODB_NAN_BOTH : ref == ODB_NAN ? ODB_NAN_REF : ODB_NAN_TARGET;
    bool ref_inf = ref >= ODB_POS_INF, target_inf = target >= ODB_POS_INF;
    int inf = ref == target           ? ODB_INF_BOTH
              : ref_inf && target_inf ? ODB_INF_SIGN
              : ref_inf               ? ODB_INF_REF
                                      : ODB_INF_TARGET;
    if (ref == ODB_NAN || target == ODB_NAN) {
        p->odd[nan].total++;
        inspect_add_place(&p->odd[nan], &place);
    }
    if (ref_inf || target_inf) {
        p->odd[inf].total++;
        inspect_add_place(&p->odd[inf], &place);
    }
}

static void inspect_survey_odd(const struct inspect_job *job, struct inspect_part *p,
                               const struct inspect_chunk *c)
{
    const double *ref = c->v[INSPECT_REF], *target = c->v[INSPECT_TARGET];
    size_t first = c->first, per[2] = {job->side[0].per_element, job->side[1].per_element};
    for (size_t i = 0; i < c->n[INSPECT_REF] && !job->pairs; i++)
        inspect_note(p, (first + i) / per[0], inspect_finiteness(ref[i]), ODB_ABSENT);
    for (size_t i = 0; i < c->n[INSPECT_TARGET] && !job->pairs; i++)
        inspect_note(p, (first + i) / per[1], ODB_ABSENT, inspect_finiteness(target[i]));
    for (size_t i = 0; i < c->n[INSPECT_DIFF]; i++) {
        enum odb_finiteness r = inspect_finiteness(ref[i]), t = inspect_finiteness(target[i]);
        inspect_note(p, (first + i) / per[0], r, t);
        if (r == t)
            continue;
        p->differing++;
        inspect_add_worst(p, &(struct inspect_worst){
                                 INFINITY, {first + i, ref[i], target[i], target[i] - ref[i]}});
    }
}

/* From behind, so that a distance that grows with the index does not move the list for every
 * element; only a chunk with something worse than the list is looked at. */
static void inspect_survey_worst(struct inspect_part *p, const struct inspect_chunk *c, double max)
{
    double least = p->n_worst < ODB_INSPECT_WORST ? 0 : p->worst[p->n_worst - 1].key;
    if (ODB_MIN(max, DBL_MAX) <= least)
        return;
    for (size_t i = c->n[INSPECT_DIFF]; i-- > 0;) {
        double d = c->v[INSPECT_DIFF][i], key = ODB_MIN(fabs(d), DBL_MAX);
        if (d == d && d != 0 && key >= least)
            inspect_add_worst(
                p, &(struct inspect_worst){
                       key, {c->first + i, c->v[INSPECT_REF][i], c->v[INSPECT_TARGET][i], d}});
    }
}

/* Comparisons leave out the NaNs of odd pairs. */
INSPECT_BODY inspect_survey_pairs(struct inspect_part *p, struct inspect_chunk *c)
{
    double *diff = c->v[INSPECT_DIFF], *ref = c->v[INSPECT_REF];
    const odb_vec inf = (odb_vec){} + INFINITY;
    odb_vec max[2] = {0}, rel[2] = {0}, min[2] = {inf, inf};
    odb_vec_mask differing[2] = {0};
    inspect_pad(diff, c->n[INSPECT_DIFF], 0);
    inspect_pad(ref, c->n[INSPECT_DIFF], 0);
    VEC_STEPS(c->n[INSPECT_DIFF])
    {
        odb_vec d = VEC_ABS(VEC_AT(diff, i + 4 * v)), a = VEC_ABS(VEC_AT(ref, i + 4 * v));
        odb_vec quotient = d / VEC_PICK(a > 0, a, inf), some = VEC_PICK(d > 0, d, inf);
        differing[v] -= d > 0;
        max[v] = VEC_MAX(d, max[v]);
        min[v] = VEC_MIN(some, min[v]);
        rel[v] = VEC_MAX(quotient, rel[v]);
    }
    odb_vec_mask counts = differing[0] + differing[1];
    max[0] = VEC_MAX(max[0], max[1]);
    min[0] = VEC_MIN(min[0], min[1]);
    rel[0] = VEC_MAX(rel[0], rel[1]);
    for (int k = 1; k < 4; k++)
        max[0][0] = ODB_MAX(max[0][0], max[0][k]);
    for (int k = 0; k < 4; k++) {
        p->min_abs = ODB_MIN(p->min_abs, min[0][k]);
        p->max_rel = ODB_MAX(p->max_rel, rel[0][k]);
        p->differing += (size_t)counts[k];
    }
    p->max_abs = ODB_MAX(p->max_abs, max[0][0]);
    inspect_survey_worst(p, c, max[0][0]);
}

/* The upper bits of a double, as a number in the order of the values; zeros have one code. */
static inline unsigned inspect_code(double x)
{
    return (unsigned)(odb_median_key(x) >> 48);
}

INSPECT_BODY inspect_survey_column(struct inspect_column *col, double *x, size_t n)
{
    inspect_pad(x, n, x[0]);
    odb_vec min[2] = {VEC_AT(x, 0), VEC_AT(x, 4)}, max[2] = {min[0], min[1]};
    VEC_STEPS(n)
    {
        min[v] = VEC_MIN(VEC_AT(x, i + 4 * v), min[v]);
        max[v] = VEC_MAX(VEC_AT(x, i + 4 * v), max[v]);
    }
    min[0] = VEC_MIN(min[0], min[1]);
    max[0] = VEC_MAX(max[0], max[1]);
    for (int k = 0; k < 4; k++) {
        col->s.min = ODB_MIN(col->s.min, min[0][k]);
        col->s.max = ODB_MAX(col->s.max, max[0][k]);
    }
    inspect_pad(x, n, 1);
    odb_vec_mask zeros = {0};
    for (size_t i = 0; i < n; i += 4)
        zeros -= VEC_AT(x, i) == 0;
    col->s.zeros += (size_t)(zeros[0] + zeros[1] + zeros[2] + zeros[3]);
    for (size_t i = 0; i < n; i++)
        col->codes[inspect_code(x[i])]++;
    col->finite += n;
}

INSPECT_BODY inspect_survey_chunk(const struct inspect_job *job, struct inspect_part *p,
                                  struct inspect_chunk *c)
{
    if (c->odd)
        inspect_survey_odd(job, p, c);
    if (job->pairs)
        inspect_survey_pairs(p, c);
    for (int k = 0; k < INSPECT_COLUMNS; k++) {
        if (c->odd)
            inspect_drop_odd(c, k, &p->column[k].s);
        if (c->n[k])
            inspect_survey_column(&p->column[k], c->v[k], c->n[k]);
    }
}

/* --- between: what the first pass found, and the plan for the second -------------------------- */

static void inspect_merge_column(struct inspect_column *to, const struct inspect_column *from)
{
    to->finite += from->finite;
    odb_stats_merge(&to->s, &from->s);
    for (size_t i = 0; i < INSPECT_CODES; i++)
        to->codes[i] += from->codes[i];
}

static void inspect_merge_survey(struct inspect_part *to, const struct inspect_part *from)
{
    for (int k = 0; k < INSPECT_COLUMNS; k++)
        inspect_merge_column(&to->column[k], &from->column[k]);
    to->differing += from->differing;
    to->max_abs = ODB_MAX(to->max_abs, from->max_abs);
    to->min_abs = ODB_MIN(to->min_abs, from->min_abs);
    to->max_rel = ODB_MAX(to->max_rel, from->max_rel);
    for (int kind = 0; kind < ODB_ODDITIES; kind++) {
        to->odd[kind].total += from->odd[kind].total;
        for (size_t i = 0; i < from->odd[kind].n; i++)
            inspect_add_place(&to->odd[kind], &from->odd[kind].at[i]);
    }
    for (size_t i = 0; i < from->n_worst; i++)
        inspect_add_worst(to, &from->worst[i]);
}

static void inspect_plan_range(struct inspect_job *job)
{
    const struct inspect_column *col = job->total->column;
    job->lo = INFINITY;
    job->hi = -INFINITY;
    for (int side = 0; side < 2; side++) {
        job->lo = ODB_MIN(job->lo, col[side].s.min);
        job->hi = ODB_MAX(job->hi, col[side].s.max);
    }
    if (job->lo > job->hi)
        job->lo = job->hi = 0;
}

/* The whole part of log10(x), x > 0. */
static double inspect_decade(double x)
{
    double e = floor(log10(x));
    while (pow(10, e) > x)
        e--;
    while (pow(10, e + 1) <= x)
        e++;
    return e;
}

static void inspect_plan_decades(struct inspect_job *job)
{
    double max = ODB_MIN(job->total->max_abs, DBL_MAX);
    if (!(max > 0))
        return;
    job->diff_hi = inspect_decade(max) + 1;
    job->diff_lo = inspect_decade(ODB_MIN(job->total->min_abs, max));
    job->diff_lo = ODB_MAX(job->diff_lo, job->diff_hi - ODB_INSPECT_DECADES);
    double width = (job->diff_hi - job->diff_lo) / ODB_INSPECT_BINS;
    for (int i = 1; i < ODB_INSPECT_BINS; i++)
        job->edges[i] = pow(10, job->diff_lo + i * width);
    job->edges[0] = 0;
    job->edges[ODB_INSPECT_BINS] = INFINITY;
}

/* The shortest number with a code. */
static double inspect_round(unsigned code)
{
    uint64_t key = (uint64_t)code << 48;
    return odb_median_number(key >> 63 ? key : key | (UINT64_C(0xffffffffffff)));
}

/* Where the median is to be looked for. */
static enum odb_status inspect_plan_median(struct inspect_job *job, int k, struct odb_error *err)
{
    struct inspect_column *col = &job->total->column[k];
    struct inspect_plan *plan = &job->plan[k];
    size_t code = 0, seen = 0, bytes;
    for (int upper = 0; upper < 2; upper++) {
        size_t rank = (col->finite - 1 + (size_t)upper) / 2;
        while (seen + col->codes[code] <= rank)
            seen += col->codes[code++];
        plan->code[upper] = (unsigned)code;
        if (!upper)
            plan->below = seen;
    }
    col->s.median = col->s.min;
    if (col->s.min == col->s.max)
        return ODB_OK;
    bool same = plan->code[0] == plan->code[1];
    plan->round = same ? inspect_round((unsigned)code) : NAN;
    size_t n = col->codes[plan->code[0]] + (same ? 0 : col->codes[code]);
    if (odb_size_mul(n, sizeof *plan->middle, &bytes))
        plan->middle = malloc(bytes);
    if (!plan->middle)
        return odb_fail(err, ODB_E_NOMEM, "no memory for the median of %zu numbers", col->finite);
    for (size_t p = 0, next = 0; p < job->n_parts; p++) {
        struct inspect_column *part = &job->parts[p].column[k];
        part->begun = part->gathered = next;
        next += part->codes[plan->code[0]] + (same ? 0 : part->codes[code]);
    }
    return ODB_OK;
}

static enum odb_status inspect_plan_column(struct inspect_job *job, int k, struct odb_error *err)
{
    const struct inspect_column *col = &job->total->column[k];
    struct inspect_plan *plan = &job->plan[k];
    double largest = ODB_MAX(fabs(col->s.min), fabs(col->s.max));
    if (!col->finite)
        return ODB_OK;
    /* The scale of the smallest numbers would be no double; those are small enough as they are. */
    plan->exponent = largest > 0 ? ODB_MAX(ilogb(largest), -1000) : 0;
    plan->scale = ldexp(1, -plan->exponent);
    plan->shift = col->s.min * plan->scale / 2 + col->s.max * plan->scale / 2;
    return inspect_plan_median(job, k, err);
}

static enum odb_status inspect_plan(struct inspect_job *job, struct odb_error *err)
{
    for (size_t p = 0; p < job->n_parts; p++)
        inspect_merge_survey(job->total, &job->parts[p]);
    inspect_plan_range(job);
    inspect_plan_decades(job);
    for (int k = 0; k < INSPECT_COLUMNS; k++)
        ODB_TRY(inspect_plan_column(job, k, err));
    return ODB_OK;
}

/* --- second pass: sums and histograms --------------------------------------------------------- */

INSPECT_BODY inspect_measure_sums(struct inspect_column *col, const struct inspect_plan *plan,
                                  const double *x, size_t n)
{
    odb_vec sum[2] = {0}, abs[2] = {0}, dev[2] = {0}, dev2[2] = {0};
    size_t whole = n - n % ODB_LANES;
    VEC_STEPS(whole)
    {
        odb_vec y = VEC_AT(x, i + 4 * v) * plan->scale, d = y - plan->shift;
        sum[v] += y;
        abs[v] += VEC_ABS(y);
        dev[v] += d;
        dev2[v] += d * d;
    }
    for (size_t i = whole; i < n; i++) {
        double y = x[i] * plan->scale, d = y - plan->shift;
        sum[0][0] += y;
        abs[0][0] += fabs(y);
        dev[0][0] += d;
        dev2[0][0] += d * d;
    }
    for (int k = 0; k < 4; k++) {
        col->sum += sum[0][k] + sum[1][k];
        col->abs += abs[0][k] + abs[1][k];
        col->dev += dev[0][k] + dev[1][k];
        col->dev2 += dev2[0][k] + dev2[1][k];
    }
}

INSPECT_BODY inspect_measure_middle(struct inspect_column *col, const struct inspect_plan *plan,
                                    const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned code = inspect_code(v[i]);
        if (code != plan->code[0] && code != plan->code[1])
            continue;
        if (v[i] == plan->round)
            col->round++;
        else
            plan->middle[col->gathered++] = v[i];
    }
}

/* Halves, because the width of a range of doubles need not be one. */
INSPECT_BODY inspect_measure_range(struct inspect_column *col, const struct inspect_job *job,
                                   const double *v, size_t n)
{
    int bin[ODB_PASS_CHUNK];
    double half = job->lo / 2, width = job->hi / 2 - half;
    if (!(width > 0)) {
        col->bins[ODB_INSPECT_BINS / 2] += n;
        return;
    }
    for (size_t i = 0; i < n; i++)
        bin[i] = (int)((v[i] / 2 - half) / width * ODB_INSPECT_BINS);
    for (size_t i = 0; i < n; i++)
        col->bins[ODB_MIN(bin[i], ODB_INSPECT_BINS - 1)]++;
}

/* The bits of a double are its logarithm but for a bend below 0.09 octaves, which is less than a
 * bin is wide, and for subnormals, which are less than they seem. */
INSPECT_BODY inspect_measure_decades(struct inspect_column *col, const struct inspect_job *job,
                                     const double *v, size_t n)
{
    const double log10_2 = 0.30102999566398119521, *edges = job->edges;
    double per_decade = ODB_INSPECT_BINS / (job->diff_hi - job->diff_lo);
    for (size_t i = 0; i < n; i++) {
        double x = fabs(v[i]);
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        double guess = (((double)bits * 0x1p-52 - 1023) * log10_2 - job->diff_lo) * per_decade;
        int bin = guess > 0 ? ODB_MIN((int)guess, ODB_INSPECT_BINS - 1) : 0;
        while (x >= edges[bin + 1])
            bin++;
        while (x < edges[bin])
            bin--;
        col->bins[bin] += x > 0;
    }
}

INSPECT_BODY inspect_measure_chunk(const struct inspect_job *job, struct inspect_part *p,
                                   struct inspect_chunk *c)
{
    for (int k = 0; k < INSPECT_COLUMNS; k++) {
        struct inspect_column *col = &p->column[k];
        if (c->odd)
            inspect_drop_odd(c, k, NULL);
        inspect_measure_sums(col, &job->plan[k], c->v[k], c->n[k]);
        if (job->plan[k].middle)
            inspect_measure_middle(col, &job->plan[k], c->v[k], c->n[k]);
        if (k != INSPECT_DIFF)
            inspect_measure_range(col, job, c->v[k], c->n[k]);
        else if (job->diff_hi > job->diff_lo)
            inspect_measure_decades(col, job, c->v[k], c->n[k]);
    }
}

/* Both passes, and once more for machines with wider registers: same lanes, same results. */
#define INSPECT_VISIT(name, suffix, attributes)                                                    \
    attributes static void inspect_##name##suffix(const void *job, void *share,                    \
                                                  struct odb_chunk *sides)                         \
    {                                                                                              \
        struct inspect_chunk c;                                                                    \
        inspect_load(job, &c, sides);                                                              \
        inspect_##name##_chunk(job, share, &c);                                                    \
    }

INSPECT_VISIT(survey, , )
INSPECT_VISIT(measure, , )
#if defined(__x86_64__)
INSPECT_VISIT(survey, _avx2, __attribute__((target("avx2"))))
INSPECT_VISIT(measure, _avx2, __attribute__((target("avx2"))))
#define INSPECT_PASS(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name)
#else
#define INSPECT_PASS(name) name
#endif

/* --- the answer ------------------------------------------------------------------------------- */

/* Brings together what the parts gathered. */
static void inspect_join_middle(struct inspect_job *job, int k)
{
    struct inspect_plan *plan = &job->plan[k];
    for (size_t p = 0; p < job->n_parts && plan->middle; p++) {
        const struct inspect_column *part = &job->parts[p].column[k];
        size_t n = part->gathered - part->begun;
        memmove(plan->middle + plan->n_middle, plan->middle + part->begun, n * sizeof(double));
        plan->n_middle += n;
        plan->n_round += part->round;
    }
}

/* The number that sorting would put at this place, known to be in the middle. */
static double inspect_ranked(const struct inspect_plan *plan, size_t rank)
{
    size_t less = 0;
    rank -= plan->below;
    for (size_t i = 0; i < plan->n_middle; i++)
        less += plan->middle[i] < plan->round;
    if (rank >= less && rank < less + plan->n_round)
        return plan->round;
    return odb_stats_select(plan->middle, plan->n_middle,
                            rank < less ? rank : rank - plan->n_round);
}

static double inspect_median(const struct inspect_plan *plan, size_t n)
{
    double upper = inspect_ranked(plan, n / 2);
    return n % 2 ? upper : inspect_ranked(plan, n / 2 - 1) / 2 + upper / 2;
}

/* Sums of all parts make the statistics of a column; returns the mean of |x|. */
static double inspect_finish_column(struct inspect_job *job, int k)
{
    struct inspect_column *col = &job->total->column[k];
    const struct inspect_plan *plan = &job->plan[k];
    struct odb_stats *s = &col->s;
    if (!col->finite) {
        s->min = s->max = 0;
        return 0;
    }
    for (size_t p = 0; p < job->n_parts; p++) {
        const struct inspect_column *part = &job->parts[p].column[k];
        col->sum += part->sum;
        col->abs += part->abs;
        col->dev += part->dev;
        col->dev2 += part->dev2;
        for (int i = 0; i < ODB_INSPECT_BINS; i++)
            col->bins[i] += part->bins[i];
    }
    long double n = col->finite, mean = col->sum / n, dev = col->dev / n;
    long double var = ODB_MAX(col->dev2 / n - dev * dev, 0);
    s->mean = (double)ldexpl(mean, plan->exponent);
    s->std = (double)ldexpl(sqrtl(var), plan->exponent);
    s->rms = (double)ldexpl(sqrtl(var + mean * mean), plan->exponent);
    inspect_join_middle(job, k);
    if (plan->middle)
        s->median = inspect_median(plan, col->finite);
    return (double)ldexpl(col->abs / n, plan->exponent);
}

static void inspect_finish(struct inspect_job *job, struct odb_inspection *out)
{
    struct inspect_part *total = job->total;
    struct inspect_column *col = total->column;
    for (int k = 0; k < INSPECT_DIFF; k++) {
        inspect_finish_column(job, k);
        col[k].s.count = job->side[k].n;
    }
    out->mean_abs = inspect_finish_column(job, INSPECT_DIFF);
    struct odb_stats *diff = &col[INSPECT_DIFF].s;
    diff->nan = 0; /* odd pairs */
    diff->count = col[INSPECT_DIFF].finite + diff->pos_inf + diff->neg_inf;
    if (diff->pos_inf || diff->neg_inf)
        out->mean_abs = INFINITY;
    out->ref = col[INSPECT_REF].s;
    out->target = col[INSPECT_TARGET].s;
    out->diff = *diff;
    out->count = job->pairs ? job->n : 0;
    out->differing = total->differing;
    out->max_abs = total->max_abs;
    out->max_rel = total->max_rel;
    out->lo = job->lo;
    out->hi = job->hi;
    memcpy(out->ref_bins, col[INSPECT_REF].bins, sizeof out->ref_bins);
    memcpy(out->target_bins, col[INSPECT_TARGET].bins, sizeof out->target_bins);
    out->diff_lo = job->diff_lo;
    out->diff_hi = job->diff_hi;
    memcpy(out->diff_bins, col[INSPECT_DIFF].bins, sizeof out->diff_bins);
    out->diff_zero = diff->zeros;
    memcpy(out->odd, total->odd, sizeof out->odd);
    out->n_worst = total->n_worst;
    for (size_t i = 0; i < total->n_worst; i++) {
        out->worst[i] = total->worst[i].w;
        out->worst[i].at /= job->side[0].per_element;
    }
}

static void inspect_start(struct inspect_job *job)
{
    job->n_parts = ODB_MIN(job->n / INSPECT_BLOCK + 1, (size_t)INSPECT_PARTS);
    job->parts = odb_new_n(struct inspect_part, job->n_parts + 1);
    job->total = &job->parts[job->n_parts];
    for (size_t p = 0; p <= job->n_parts; p++) {
        job->parts[p].min_abs = INFINITY;
        for (int k = 0; k < INSPECT_COLUMNS; k++) {
            job->parts[p].column[k].s.min = INFINITY;
            job->parts[p].column[k].s.max = -INFINITY;
        }
    }
}

static enum odb_status inspect_numbers(struct inspect_job *job, struct odb_inspection *out,
                                       struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    inspect_start(job);
    ODB_TRY_OUT(inspect_pass(job, INSPECT_PASS(inspect_survey), err));
    ODB_TRY_OUT(inspect_plan(job, err));
    ODB_TRY_OUT(inspect_pass(job, INSPECT_PASS(inspect_measure), err));
    ODB_TRY_OUT(inspect_stopped(job, err));
    inspect_finish(job, out);
out:
    for (int k = 0; k < INSPECT_COLUMNS; k++)
        free(job->plan[k].middle);
    free(job->parts);
    return status;
}

/* --- what has no numbers ---------------------------------------------------------------------- */

static bool inspect_same_item(const struct odb_tensor *a, const struct odb_tensor *b, size_t i)
{
    return i < a->n_items && i < b->n_items && odb_equal_exact(a->items[i], b->items[i]);
}

/* Strings, or the items of containers: equal or not. */
static enum odb_status inspect_equality(const struct inspect_job *job, struct odb_inspection *out,
                                        struct odb_error *err)
{
    const struct odb_tensor *ref = job->t[0], *target = job->t[1];
    bool strings = ref->kind == ODB_TENSOR;
    out->count = strings ? ref->count : ODB_MAX(ref->n_items, target->n_items);
    for (size_t i = 0; i < out->count; i++) {
        if (!strings || i % INSPECT_BLOCK == 0)
            ODB_TRY(inspect_stopped(job, err));
        if (strings ? odb_exact_same(ref, target, i) : inspect_same_item(ref, target, i))
            continue;
        out->differing++;
        if (out->n_worst < ODB_INSPECT_WORST)
            out->worst[out->n_worst++] = (struct odb_worst){i, NAN, NAN, NAN};
    }
    return ODB_OK;
}

/* --- public ----------------------------------------------------------------------------------- */

static bool inspect_is_numeric(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && t->data && odb_dtype_info(t->dtype)->bits;
}

static bool inspect_is_complex(const struct odb_tensor *t)
{
    return t && odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX;
}

static bool inspect_is_comparable(const struct odb_tensor *a, const struct odb_tensor *b)
{
    if (!a || !b || a->kind != b->kind)
        return false;
    if (a->kind != ODB_TENSOR)
        return a->kind != ODB_SPARSE || odb_tensor_same_shape(a, b);
    return a->data && b->data && odb_tensor_same_shape(a, b) &&
           inspect_is_numeric(a) == inspect_is_numeric(b) &&
           inspect_is_complex(a) == inspect_is_complex(b);
}

enum odb_status odb_inspect(struct odb_inspection *out, const struct odb_tensor *ref,
                            const struct odb_tensor *target, const struct odb_progress *progress,
                            struct odb_error *err)
{
    struct inspect_job job = {.t = {ref, target}, .progress = progress};
    *out = (struct odb_inspection){.has_ref = ref,
                                   .has_target = target,
                                   .ref_numeric = inspect_is_numeric(ref),
                                   .target_numeric = inspect_is_numeric(target),
                                   .comparable = inspect_is_comparable(ref, target)};
    ODB_TRY(inspect_stopped(&job, err));
    odb_compare(&out->metrics, target, ref, -1);
    if (!out->ref_numeric && !out->target_numeric)
        return out->comparable ? inspect_equality(&job, out, err) : ODB_OK;
    for (int side = 0; side < 2; side++)
        if (inspect_is_numeric(job.t[side])) {
            job.side[side] = odb_numbers_of(job.t[side]);
            job.n = ODB_MAX(job.n, job.side[side].n);
            job.wide |= job.side[side].type == ODB_I64 || job.side[side].type == ODB_U64;
        }
    job.pairs = out->comparable;
    job.done = job.n / 5;
    return inspect_numbers(&job, out, err);
}
