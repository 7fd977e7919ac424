/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass over both tensors gives every sum: every block fills its own, and these are added in
 * order. Chunks are summed in lanes (metrics.body.h), as doubles.
 *
 * The lanes assume finite numbers. A chunk whose sum of distances comes out finite had no others;
 * only where it does not, its pairs are looked at one by one, the finite ones gathered, and the
 * lanes run again on those. Of a chunk that is equal bit for bit, as most are, little is summed.
 *
 * Floats and doubles are read where they stand, narrower types as floats, which hold them; only a
 * chunk that is not all finite is widened.
 *
 * A chunk with integers that no double holds has no lanes: its pairs are subtracted one by one, as
 * integers.
 */
#include "compare/metrics.h"

#include <float.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/exact.h"
#include "compare/lanes.h"
#include "compare/ulp.h"
#include "tensor/pass.h"

#define METRICS_BLOCK (16 * ODB_PASS_CHUNK)
#define METRICS_EPS 1e-9

/* What a block, an item, or everything adds up to. */
struct metrics_sums {
    size_t finite, nan_both, nan_ref_only, nan_target_only, inf_both, inf_mismatch;
    size_t inf_ref_only, inf_target_only, inf_sign;
    size_t more, less, whole, not_close; /* whole: integer parts differ */
    size_t first_mismatch;               /* of NaN or Inf; ODB_NOWHERE */
    size_t farthest;                     /* where the chunk with max_ad begins */
    double max_ad, max_b, max_rel, max_d3, max_ulp;
    double ad, ab, d3, mape;
    long double d2, b2, e2, eb; /* wide, so that squares of doubles have room */
    double odd_ad, odd_ab, odd_d2, odd_b2, odd_d3, odd_mape; /* pairs that are not finite */
};

/* What the lanes find in a chunk. */
struct metrics_part {
    double ad, ab, d3, mape, d2, b2, e2, eb;
    double max_ad, max_b, max_rel, max_d3;
    size_t more, less, whole, not_close; /* light: more counts all that differ */
};

struct metrics_job {
    struct odb_numbers e, b;
    enum odb_dtype ulp_type;
    double th;
    bool light; /* only what odb_distance() gives */
    bool wide;  /* integers of 64 bits, which may be too large for doubles */
};

/* --- lanes ------------------------------------------------------------------------------------ */

/* Numbers of a side as they stand, and what memory is to bring meanwhile. */
struct metrics_side {
    const void *at;
    bool wide;         /* doubles; else floats */
    const char *next;  /* the chunk behind, as the tensor has it */
    size_t next_bytes; /* of a number of it */
};

struct metrics_pairs {
    struct metrics_side e, b;
    size_t n; /* a multiple of ODB_LANES */
};

struct metrics_ask {
    bool equal; /* bit for bit */
    bool light;
    double th, max_rel; /* that is known: a chunk may say 0 that has none above it */
};

static inline void metrics_ahead(const struct metrics_pairs *x, size_t i)
{
    __builtin_prefetch(x->e.next + i * x->e.next_bytes);
    __builtin_prefetch(x->b.next + i * x->b.next_bytes);
}

/* The order in which lanes are added, whatever the vectors they were in. */
static double metrics_total(const double *v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

static double metrics_largest(const double *v)
{
    double most = v[0];
    for (size_t i = 1; i < ODB_LANES; i++)
        most = ODB_MAX(most, v[i]);
    return most;
}

static size_t metrics_counted(const int64_t *v)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ODB_LANES; i++)
        sum += v[i];
    return (size_t)sum;
}

static bool metrics_any(const int64_t *v)
{
    int64_t all = 0;
    for (size_t i = 0; i < ODB_LANES; i++)
        all |= v[i];
    return all;
}

#define SUFFIX lanes
#define ODB_WIDE_BODY "compare/metrics.body.h"
#include "kernels/core/wide.h"

/* --- units in the last place ------------------------------------------------------------------ */

/* Of finite numbers. */
static double metrics_ulps(const struct metrics_job *job, const struct odb_chunk *c, size_t n)
{
    double max = 0;
    struct odb_ulp_pairs pairs = {.v = {c->v[0], c->v[1]}, .n = n};
    if (n == c->n) {
        pairs.stored[0] = odb_ulp_stored(job->ulp_type, &job->e, c->first);
        pairs.stored[1] = odb_ulp_stored(job->ulp_type, &job->b, c->first);
    }
    if (job->ulp_type == ODB_F64 || odb_ulp_has_places(job->ulp_type, job->e.type, job->b.type))
        return odb_ulp_farthest(job->ulp_type, &pairs);
    for (size_t i = 0; i < n; i++)
        if (c->v[0][i] != c->v[1][i])
            max = fmax(max, fabs(odb_ulps(job->ulp_type, c->v[1][i], c->v[0][i])));
    return max;
}

/* --- chunks and blocks ------------------------------------------------------------------------ */

/* The lanes' n. */
static size_t metrics_pad(struct odb_chunk *c, size_t n)
{
    size_t padded = (n + ODB_LANES - 1) / ODB_LANES * ODB_LANES;
    for (size_t i = n; i < padded; i++)
        c->v[0][i] = c->v[1][i] = 0;
    return padded;
}

/* One pair of which one side at least is NaN or Inf. */
static void metrics_add_odd(struct metrics_sums *s, double e, double b, size_t i)
{
    bool e_nan = e != e, b_nan = b != b;
    s->nan_both += e_nan && b_nan;
    s->nan_target_only += e_nan && !b_nan;
    s->nan_ref_only += b_nan && !e_nan;
    s->inf_both += e == b;
    s->inf_mismatch += !e_nan && !b_nan && e != b;
    s->inf_target_only += isinf(e) && !isinf(b);
    s->inf_ref_only += isinf(b) && !isinf(e);
    s->inf_sign += isinf(e) && isinf(b) && e != b;
    s->more += e > b;
    s->less += e < b;
    if (e != b && !(e_nan && b_nan)) {
        s->whole++;
        s->not_close++;
        s->first_mismatch = ODB_MIN(s->first_mismatch, i);
    }
    double d = fabs(e - b), a = fabs(b);
    s->odd_ad += d;
    s->odd_ab += a;
    s->odd_d2 += d * d;
    s->odd_b2 += b * b;
    s->odd_d3 += d / (a + METRICS_EPS);
    s->odd_mape += d / (a + METRICS_EPS);
}

/* Takes the pairs that are not finite out of the chunk; returns how many are left. */
static size_t metrics_gather(struct metrics_sums *s, struct odb_chunk *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        double e = c->v[0][i], b = c->v[1][i];
        if (isfinite(e) && isfinite(b)) {
            c->v[0][kept] = e;
            c->v[1][kept++] = b;
        } else {
            metrics_add_odd(s, e, b, c->first + i);
        }
    }
    return kept;
}

static void metrics_add_part(struct metrics_sums *s, const struct metrics_part *p, size_t n)
{
    s->finite += n;
    s->ad += p->ad;
    s->ab += p->ab;
    s->d3 += p->d3;
    s->mape += p->mape;
    s->d2 += p->d2;
    s->b2 += p->b2;
    s->e2 += p->e2;
    s->eb += p->eb;
    s->more += p->more;
    s->less += p->less;
    s->whole += p->whole;
    s->not_close += p->not_close;
    s->max_ad = fmax(s->max_ad, p->max_ad);
    s->max_b = fmax(s->max_b, p->max_b);
    s->max_rel = fmax(s->max_rel, p->max_rel);
    s->max_d3 = fmax(s->max_d3, p->max_d3);
}

static double metrics_minus(const struct metrics_job *job, size_t i)
{
    return odb_exact_minus(job->e.type, job->e.data, job->b.type, job->b.data, i);
}

/* What the lanes do, for integers of any size. */
static void metrics_integers(const struct metrics_job *job, const struct odb_chunk *c, size_t n,
                             struct metrics_part *p)
{
    for (size_t i = 0; i < n; i++) {
        double minus = metrics_minus(job, c->first + i);
        double e = c->v[0][i], b = c->v[1][i], d = fabs(minus), a = fabs(b);
        double relative = d / (a + METRICS_EPS), local = a > job->th ? relative : d;
        p->ad += d;
        p->ab += a;
        p->d3 += local;
        p->mape += relative;
        p->d2 += d * d;
        p->b2 += b * b;
        p->e2 += e * e;
        p->eb += e * b;
        p->max_ad = fmax(p->max_ad, d);
        p->max_b = fmax(p->max_b, a);
        p->max_rel = fmax(p->max_rel, a > 0 ? d / a : 0);
        p->max_d3 = fmax(p->max_d3, local);
        p->more += job->light ? d != 0 : minus > 0;
        p->less += minus < 0;
        p->whole += d != 0;
        p->not_close += d > job->th + job->th * a;
    }
}

static struct metrics_part metrics_of_lanes(const struct metrics_job *job, bool equal,
                                            double max_rel, const struct metrics_pairs *pairs)
{
    struct metrics_ask ask = {equal, job->light, job->th, max_rel};
    struct metrics_part p = {0};
    ODB_WIDEST(FN(metrics))(pairs, &ask, &p);
    return p;
}

static void metrics_take(struct metrics_sums *s, const struct metrics_part *p, size_t first,
                         size_t n)
{
    if (p->max_ad > s->max_ad)
        s->farthest = first;
    metrics_add_part(s, p, n);
}

/* The first n doubles of the chunk. */
static struct metrics_part metrics_measure(const struct metrics_job *job, struct odb_chunk *c,
                                           size_t n, double max_rel)
{
    struct metrics_part p = {0};
    if (job->wide && odb_exact_rounded(c->v[0], c->v[1], n)) {
        metrics_integers(job, c, n, &p);
        return p;
    }
    struct metrics_pairs pairs = {
        {.at = c->v[0], .wide = true}, {.at = c->v[1], .wide = true}, metrics_pad(c, n)};
    return metrics_of_lanes(job, false, max_rel, &pairs);
}

/* A chunk of anything, as doubles. */
static void metrics_add_loaded(const struct metrics_job *job, struct metrics_sums *s,
                               struct odb_chunk *c)
{
    size_t n = c->n;
    odb_numbers_load(&job->e, c->first, n, c->v[0]);
    odb_numbers_load(&job->b, c->first, n, c->v[1]);
    struct metrics_part p = metrics_measure(job, c, n, s->max_rel);
    if (!isfinite(p.ad)) {
        n = metrics_gather(s, c);
        p = metrics_measure(job, c, n, s->max_rel);
    }
    metrics_take(s, &p, c->first, n);
    if (!job->light && job->ulp_type)
        s->max_ulp = fmax(s->max_ulp, metrics_ulps(job, c, n));
}

/* The chunk's numbers of a side where they stand, or in the chunk: narrow ones as floats. */
static struct metrics_side metrics_side(const struct odb_numbers *side, struct odb_chunk *c, int k)
{
    unsigned bits = odb_dtype_info(side->type)->bits;
    const char *at = (const char *)side->data + c->first / 8 * bits;
    bool wide = !odb_dtype_is_float(side->type) || bits > 32;
    enum odb_dtype type = wide ? ODB_F64 : ODB_F32;
    size_t padding = (ODB_LANES - c->n % ODB_LANES) % ODB_LANES,
           size = wide ? sizeof(double) : sizeof(float);
    struct metrics_side s = {at, wide, at + c->n * bits / 8, bits / 8};
    if (side->type != type || padding) {
        odb_convert(type, c->v[k], side->type, at, c->n);
        memset((char *)c->v[k] + c->n * size, 0, padding * size);
        s.at = c->v[k];
    }
    return s;
}

/* False, and nothing done, where some number is not finite. */
static bool metrics_add_finite(const struct metrics_job *job, struct metrics_sums *s,
                               struct odb_chunk *c)
{
    bool equal = odb_numbers_same(&job->e, &job->b, c->first, c->n);
    struct metrics_pairs pairs = {metrics_side(&job->e, c, 0), metrics_side(&job->b, c, 1),
                                  (c->n + ODB_LANES - 1) / ODB_LANES * ODB_LANES};
    struct metrics_part p = metrics_of_lanes(job, equal, s->max_rel, &pairs);
    if (!isfinite(equal ? p.b2 : p.ad))
        return false;
    metrics_take(s, &p, c->first, c->n);
    if (!job->light && job->ulp_type && !equal)
        s->max_ulp = fmax(s->max_ulp, metrics_ulps(job, c, c->n));
    return true;
}

static void metrics_add_block(const void *arg, void *share, size_t begin, size_t end)
{
    const struct metrics_job *job = arg;
    struct odb_chunk c;
    bool stored = odb_ulp_is_stored(job->ulp_type, job->e.type, job->b.type);
    bool loaded = job->wide || (!job->light && job->ulp_type && !stored);
    for (c.first = begin; c.first < end; c.first += c.n) {
        c.n = ODB_MIN(end - c.first, ODB_PASS_CHUNK);
        if (loaded || !metrics_add_finite(job, share, &c))
            metrics_add_loaded(job, share, &c);
    }
}

static void metrics_merge(void *total, const void *share)
{
    struct metrics_sums *to = total;
    const struct metrics_sums *s = share;
    to->first_mismatch = ODB_MIN(to->first_mismatch, s->first_mismatch);
    to->farthest = s->max_ad > to->max_ad ? s->farthest : to->farthest;
    to->finite += s->finite;
    to->nan_both += s->nan_both;
    to->nan_ref_only += s->nan_ref_only;
    to->nan_target_only += s->nan_target_only;
    to->inf_both += s->inf_both;
    to->inf_mismatch += s->inf_mismatch;
    to->inf_ref_only += s->inf_ref_only;
    to->inf_target_only += s->inf_target_only;
    to->inf_sign += s->inf_sign;
    to->more += s->more;
    to->less += s->less;
    to->whole += s->whole;
    to->not_close += s->not_close;
    to->max_ad = fmax(to->max_ad, s->max_ad);
    to->max_b = fmax(to->max_b, s->max_b);
    to->max_rel = fmax(to->max_rel, s->max_rel);
    to->max_d3 = fmax(to->max_d3, s->max_d3);
    to->max_ulp = fmax(to->max_ulp, s->max_ulp);
    to->ad += s->ad;
    to->ab += s->ab;
    to->d3 += s->d3;
    to->mape += s->mape;
    to->d2 += s->d2;
    to->b2 += s->b2;
    to->e2 += s->e2;
    to->eb += s->eb;
    to->odd_ad += s->odd_ad;
    to->odd_ab += s->odd_ab;
    to->odd_d2 += s->odd_d2;
    to->odd_b2 += s->odd_b2;
    to->odd_d3 += s->odd_d3;
    to->odd_mape += s->odd_mape;
}

/* Squares of large or tiny doubles leave the range of double: once more, slowly, in a wider one. */
static void metrics_redo_squares(const struct metrics_job *job, struct metrics_sums *s)
{
    s->d2 = s->b2 = s->e2 = s->eb = 0;
    for (size_t i = 0; i < job->e.n; i++) {
        long double e = odb_load_f64(job->e.type, job->e.data, i);
        long double b = odb_load_f64(job->b.type, job->b.data, i);
        if (!isfinite(e) || !isfinite(b))
            continue;
        s->d2 += (e - b) * (e - b);
        s->b2 += b * b;
        s->e2 += e * e;
        s->eb += e * b;
    }
}

static bool metrics_out_of_range(const struct metrics_job *job, const struct metrics_sums *s)
{
    const double tiny = 1e-280;
    if (job->e.type != ODB_F64 && job->b.type != ODB_F64)
        return false;
    if (!(s->b2 <= DBL_MAX && s->d2 <= DBL_MAX && s->e2 <= DBL_MAX))
        return true;
    return s->finite && (s->b2 < tiny || (!job->light && s->max_ad > 0 && s->d2 < tiny));
}

/* --- one pair of tensors ---------------------------------------------------------------------- */

/* Class of type as comparing knows it: the integers are one. */
static enum odb_dtype_class metrics_class(enum odb_dtype dtype)
{
    enum odb_dtype_class class_ = odb_dtype_info(dtype)->class_;
    return class_ == ODB_CLASS_UINT ? ODB_CLASS_INT : class_;
}

static bool metrics_is_exact(enum odb_dtype dtype)
{
    enum odb_dtype_class class_ = metrics_class(dtype);
    return class_ == ODB_CLASS_INT || class_ == ODB_CLASS_BOOL || class_ == ODB_CLASS_STRING;
}

static struct metrics_job metrics_prepare(const struct odb_tensor *e, const struct odb_tensor *b,
                                          double th, bool light)
{
    struct metrics_job job = {
        .e = odb_numbers_of(e), .b = odb_numbers_of(b), .th = th, .light = light};
    job.ulp_type = odb_ulp_type(job.e.type, job.b.type);
    job.wide = odb_exact_pair(e->dtype, b->dtype);
    return job;
}

/* Sums over all elements. */
static struct metrics_sums metrics_sum(const struct metrics_job *job)
{
    static const struct metrics_sums none = {.first_mismatch = ODB_NOWHERE};
    struct metrics_sums s = none;
    struct odb_pass pass = {.end = job->e.n,
                            .block = METRICS_BLOCK,
                            .item = sizeof s,
                            .none = &none,
                            .job = job,
                            .sides = {&job->e, &job->b},
                            .whole = metrics_add_block,
                            .join = metrics_merge};
    odb_pass_all(&pass, &s);
    if (metrics_out_of_range(job, &s))
        metrics_redo_squares(job, &s);
    return s;
}

/* The first element at the largest distance. */
static size_t metrics_find(const struct metrics_job *job, const struct metrics_sums *s)
{
    size_t end = ODB_MIN(job->e.n, s->farthest + ODB_PASS_CHUNK);
    for (size_t i = s->farthest; i < end; i++)
        if (fabs(metrics_minus(job, i)) == s->max_ad)
            return i;
    return ODB_NOWHERE;
}

/* --- everything about a value ----------------------------------------------------------------- */

struct metrics_total {
    struct odb_metrics *out;
    struct metrics_sums sums;
    size_t count, differing;
    double worst; /* distance at out->worst; inf at a mismatch, -1 while there is none */
    double th;
};

static void metrics_set_worst(struct metrics_total *t, size_t item, size_t i, double distance,
                              long double e, long double b)
{
    if (i == ODB_NOWHERE || distance <= t->worst)
        return;
    t->worst = distance;
    t->out->item = item;
    t->out->worst = i;
    t->out->worst_e = e;
    t->out->worst_b = b;
}

static void metrics_add_exact(struct metrics_total *t, const struct odb_tensor *e,
                              const struct odb_tensor *b, size_t item)
{
    size_t first, differing = odb_exact_count(e, b, &first);
    t->differing += differing;
    t->out->exact_differing += differing;
    if (e->dtype == ODB_STRING) {
        t->sums.not_close += differing;
        t->sums.whole += differing;
    }
    if (first != ODB_NOWHERE)
        metrics_set_worst(t, item, first, 0, odb_exact_value(e->dtype, e->data, first),
                          odb_exact_value(b->dtype, b->data, first));
}

static void metrics_add_numbers(struct metrics_total *t, const struct odb_tensor *e,
                                const struct odb_tensor *b, size_t item)
{
    struct metrics_job job = metrics_prepare(e, b, t->th, false);
    struct metrics_sums s = metrics_sum(&job);
    size_t at = s.first_mismatch != ODB_NOWHERE ? s.first_mismatch
                : s.max_ad > 0                  ? metrics_find(&job, &s)
                                                : ODB_NOWHERE;
    if (at != ODB_NOWHERE)
        metrics_set_worst(
            t, item, at / job.e.per_element, s.first_mismatch != ODB_NOWHERE ? INFINITY : s.max_ad,
            odb_exact_value(job.e.type, e->data, at), odb_exact_value(job.b.type, b->data, at));
    if (!metrics_is_exact(e->dtype))
        t->differing += s.more + s.less + s.nan_ref_only + s.nan_target_only;
    metrics_merge(&t->sums, &s);
}

static void metrics_add(struct metrics_total *t, const struct odb_tensor *e,
                        const struct odb_tensor *b, size_t item, bool only_exact);

static void metrics_add_items(struct metrics_total *t, const struct odb_tensor *e,
                              const struct odb_tensor *b)
{
    if (e->n_items != b->n_items || (e->kind == ODB_SPARSE && !odb_tensor_same_shape(e, b))) {
        t->out->shape_mismatch = true;
        return;
    }
    for (size_t i = 0; i < e->n_items; i++) {
        bool only_exact = (e->kind == ODB_SPARSE && i == 1) || (e->kind == ODB_MAP && i == 0);
        metrics_add(t, e->items[i], b->items[i], i, only_exact);
    }
}

static void metrics_add(struct metrics_total *t, const struct odb_tensor *e,
                        const struct odb_tensor *b, size_t item, bool only_exact)
{
    if (!e || !b)
        t->out->missing = true;
    else if (e->kind != b->kind)
        t->out->shape_mismatch = true;
    else if (e->kind != ODB_TENSOR)
        metrics_add_items(t, e, b);
    else if (metrics_class(e->dtype) != metrics_class(b->dtype))
        t->out->dtype_mismatch = true;
    else if (!odb_tensor_same_shape(e, b))
        t->out->shape_mismatch = true;
    else if (!e->data || !b->data)
        t->out->missing = true;
    else if (e->count) {
        t->count += odb_numbers_of(e).n;
        if (e->dtype != ODB_STRING && !(only_exact && metrics_is_exact(e->dtype)))
            metrics_add_numbers(t, e, b, item);
        if (metrics_is_exact(e->dtype))
            metrics_add_exact(t, e, b, item);
    }
}

/* x / y where no distance from nothing is none. */
static double metrics_ratio(double x, double y)
{
    return x == 0 ? 0 : x / y;
}

static double metrics_cosine(const struct metrics_sums *s)
{
    if (s->e2 == 0 || s->b2 == 0)
        return s->e2 == s->b2 ? 1 : 0;
    double c = (double)(s->eb / (sqrtl(s->e2) * sqrtl(s->b2)));
    return fmin(fmax(c, -1), 1);
}

static void metrics_finish(const struct metrics_total *t)
{
    struct odb_metrics *m = t->out;
    const struct metrics_sums *s = &t->sums;
    double finite = s->finite ? (double)s->finite : 1, n = (double)t->count;
    m->count = t->count;
    m->differing = t->differing;
    m->finite = s->finite;
    m->nan_both = s->nan_both;
    m->nan_ref_only = s->nan_ref_only;
    m->nan_target_only = s->nan_target_only;
    m->inf_both = s->inf_both;
    m->inf_mismatch = s->inf_mismatch;
    m->inf_ref_only = s->inf_ref_only;
    m->inf_target_only = s->inf_target_only;
    m->inf_sign = s->inf_sign;

    m->rms = (double)sqrtl(s->b2 / finite);
    m->error = metrics_ratio(s->max_ad, m->rms);
    m->error_mean = metrics_ratio(s->ad / finite, m->rms);
    m->peak = s->max_b;
    m->max_abs = s->max_ad;
    m->max_rel = s->max_rel;
    m->cosine = metrics_cosine(s);
    m->ulp_max = s->max_ulp;
    m->finite_diff1 = metrics_ratio(s->ad, s->ab);
    m->finite_mae = s->ad / finite;
    m->finite_mape = s->mape / finite;
    m->finite_mse = (double)(s->d2 / finite);
    m->finite_rmse = (double)sqrtl(s->d2 / finite); /* of what is too small for a double */
    m->finite_diff2 = s->d2 == 0 ? 0 : (double)sqrtl(s->d2 / s->b2);
    m->finite_diff3_max = s->max_d3;
    m->finite_diff3_mean = s->d3 / finite;

    m->diff1 = (s->ad + s->odd_ad) / (s->ab + s->odd_ab);
    m->diff2 = (double)sqrtl((s->d2 + s->odd_d2) / (s->b2 + s->odd_b2));
    m->diff3_max = s->odd_d3 == 0 ? s->max_d3 : s->odd_d3; /* NaN or Inf wins */
    m->diff3_mean = (s->d3 + s->odd_d3) / n;
    m->diff4_count = t->differing;
    m->diff4_more = t->differing ? (double)s->more / (double)t->differing : -1;
    m->diff4_less = t->differing ? (double)s->less / (double)t->differing : -1;
    m->diff_acc = (double)s->whole / n;
    m->mae = (s->ad + s->odd_ad) / n;
    m->mape = (s->mape + s->odd_mape) / n;
    m->mse = (double)((s->d2 + s->odd_d2) / n);
    m->rmse = (double)sqrtl((s->d2 + s->odd_d2) / n);
    m->all_close = s->not_close == 0;
}

static double metrics_psnr(double peak, double rmse)
{
    return rmse == 0 ? INFINITY : 20 * log10(peak / rmse);
}

static void metrics_decibels(struct odb_metrics *m)
{
    m->sqnr = -20 * log10(m->diff2);
    m->psnr = metrics_psnr(m->peak, m->rmse);
    m->finite_sqnr = -20 * log10(m->finite_diff2);
    m->finite_psnr = metrics_psnr(m->peak, m->finite_rmse);
}

/* --- public ----------------------------------------------------------------------------------- */

double odb_default_th(enum odb_dtype dtype)
{
    return odb_dtype_info(dtype)->eps >= odb_dtype_info(ODB_F16)->eps ? 1e-4 : 1e-6;
}

void odb_compare(struct odb_metrics *out, const struct odb_tensor *evaluated,
                 const struct odb_tensor *base, double th)
{
    if (!(th >= 0))
        th = odb_default_th(base ? base->dtype : ODB_F32);
    *out = (struct odb_metrics){.worst = ODB_NOWHERE, .th = th};
    struct metrics_total t = {.out = out, .worst = -1, .th = th};
    metrics_add(&t, evaluated, base, 0, false);
    if (out->missing || out->shape_mismatch || out->dtype_mismatch) {
        *out = (struct odb_metrics){.worst = ODB_NOWHERE,
                                    .th = th,
                                    .missing = out->missing,
                                    .shape_mismatch = out->shape_mismatch,
                                    .dtype_mismatch = out->dtype_mismatch};
        return;
    }
    metrics_finish(&t);
    metrics_decibels(out);
}

double odb_relative_distance(const struct odb_tensor *t, const struct odb_tensor *base)
{
    struct odb_metrics m;
    odb_compare(&m, t, base, -1);
    if (m.missing || m.shape_mismatch || m.dtype_mismatch || m.nan_ref_only || m.nan_target_only ||
        m.inf_mismatch || m.exact_differing)
        return INFINITY;
    return isnan(m.finite_diff2) ? 0 : m.finite_diff2;
}

static bool metrics_comparable(const struct odb_tensor *e, const struct odb_tensor *b)
{
    return e && b && e->kind == ODB_TENSOR && b->kind == ODB_TENSOR &&
           metrics_class(e->dtype) == metrics_class(b->dtype) && odb_tensor_same_shape(e, b) &&
           e->data && b->data;
}

/* Adds what two tensors are apart, or the tensors of two containers of floats; false: they cannot
 * be compared. */
static bool metrics_distance(struct odb_distance *out, struct metrics_sums *sum,
                             const struct odb_tensor *e, const struct odb_tensor *b)
{
    if (metrics_comparable(e, b)) {
        struct metrics_job job = metrics_prepare(e, b, 0, true);
        size_t first;
        out->count += job.e.n;
        out->exact = metrics_is_exact(e->dtype);
        if (e->count && e->dtype != ODB_STRING) {
            struct metrics_sums s = metrics_sum(&job);
            metrics_merge(sum, &s);
        }
        out->differing += out->exact ? odb_exact_count(e, b, &first) : 0;
        return true;
    }
    if (!e || !b || e->kind == ODB_TENSOR || e->kind != b->kind || e->n_items != b->n_items ||
        !odb_tensor_same_shape(e, b) || !odb_tensor_real(e) || !odb_tensor_real(b))
        return false;
    for (size_t i = 0; i < e->n_items; i++) {
        bool place = (e->kind == ODB_SPARSE && i == 1) || (e->kind == ODB_MAP && i == 0);
        if (place ? !odb_equal_exact(e->items[i], b->items[i])
                  : !metrics_distance(out, sum, e->items[i], b->items[i]))
            return false;
    }
    return true;
}

bool odb_distance(struct odb_distance *out, const struct odb_tensor *evaluated,
                  const struct odb_tensor *base)
{
    struct metrics_sums s = {0};
    *out = (struct odb_distance){0};
    if (!metrics_distance(out, &s, evaluated, base)) {
        *out = (struct odb_distance){0};
        return false;
    }
    if (!out->exact)
        out->differing = s.more + s.less + s.nan_ref_only + s.nan_target_only;
    double finite = s.finite ? (double)s.finite : 1;
    out->finite = s.finite;
    out->mismatched = s.nan_ref_only + s.nan_target_only + s.inf_mismatch;
    out->max_abs = s.max_ad;
    out->mean_abs = s.ad / finite;
    out->rms = (double)sqrtl(s.b2 / finite);
    out->error = metrics_ratio(out->max_abs, out->rms);
    out->error_mean = metrics_ratio(out->mean_abs, out->rms);
    if (out->exact && out->differing && !(out->max_abs > 0)) /* strings */
        out->error = out->error_mean = INFINITY;
    return true;
}

bool odb_equal_exact(const struct odb_tensor *a, const struct odb_tensor *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->n_items != b->n_items)
        return false;
    if (a->kind != ODB_TENSOR && !a->n_items)
        return true;
    if (a->dtype != b->dtype || !odb_tensor_same_shape(a, b) || !a->data != !b->data)
        return false;
    for (size_t i = 0; i < a->n_items; i++)
        if (!odb_equal_exact(a->items[i], b->items[i]))
            return false;
    if (a->kind != ODB_TENSOR || !a->data || odb_tensor_identical(a, b))
        return true;
    struct odb_distance d;
    return odb_distance(&d, a, b) && d.differing == 0;
}
