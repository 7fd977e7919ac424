/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two details decide here. A float32 difference of float32 numbers, taken in double and rounded
 * once, is the one that float32 arithmetic gives, because a double has more than twice its bits
 * and two to spare; the same holds for the narrower types. And NumPy adds in an order of its own:
 * buffers of 8192 elements one after the other, each in halves of halves down to 128 elements, and
 * those in eight interleaved sums.
 */
#include "compare/numpy.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/exact.h"
#include "tensor/pass.h"

#define NUMPY_BLOCK (64 * ODB_PASS_CHUNK)

enum { NUMPY_BUFFER = 8192, NUMPY_LEAF = 128 };

/* NaN and Inf decide before any difference: 1 pass, 0 fail, -1 both are finite. */
static int numpy_special(double e, double b, bool equal_nan)
{
    if (e != e || b != b)
        return equal_nan && e != e && b != b;
    if (isinf(e) || isinf(b))
        return e == b;
    return -1;
}

struct numpy_rule {
    bool equal_nan;
    double rtol, atol;   /* close */
    double threshold;    /* almost equal, where not 0 */
    enum odb_dtype type; /* in which the difference is rounded */
};

/* d: |e-b|. */
static bool numpy_pair_passes(const struct numpy_rule *rule, double e, double b, double d)
{
    int special = numpy_special(e, b, rule->equal_nan);
    if (special >= 0)
        return special;
    if (rule->type == ODB_UNDEFINED)
        return d <= rule->atol + rule->rtol * fabs(b);
    if (rule->type == ODB_F32)
        d = (float)d;
    else if (rule->type != ODB_F64)
        odb_round_f64(rule->type, &d, 1);
    return d < rule->threshold;
}

struct numpy_job {
    const struct numpy_rule *rule;
    struct odb_numbers e, b;
    bool wide; /* integers of 64 bits */
};

/* How many fail, of pairs that are finite in all they are compared by; false: look closer. */
static ODB_SIMD bool numpy_count(const struct numpy_rule *rule, const double *e, const double *b,
                                 size_t n, size_t *failed)
{
    const double rtol = rule->rtol, atol = rule->atol;
    int64_t odd = 0, far = 0;
    for (size_t i = 0; i < n; i++) {
        double limit = atol + rtol * fabs(b[i]), d = fabs(e[i] - b[i]);
        far += !(d <= limit);
        odd |= !(d < INFINITY) | !(limit < INFINITY);
    }
    *failed = (size_t)far;
    return rule->type == ODB_UNDEFINED && !odd;
}

static void numpy_chunk(const void *arg, void *share, struct odb_chunk *c)
{
    const struct numpy_job *job = arg;
    const struct odb_numbers *x = &job->e, *y = &job->b;
    const double *e = c->v[0], *b = c->v[1];
    bool exact = job->wide && odb_exact_rounded(e, b, c->n);
    size_t failed = 0;
    if (exact || !numpy_count(job->rule, e, b, c->n, &failed)) {
        failed = 0;
        for (size_t i = 0; i < c->n; i++) {
            double d = exact ? odb_exact_minus(x->type, x->data, y->type, y->data, c->first + i)
                             : e[i] - b[i];
            failed += !numpy_pair_passes(job->rule, e[i], b[i], fabs(d));
        }
    }
    *(size_t *)share += failed;
}

static void numpy_join(void *total, const void *share)
{
    *(size_t *)total += *(const size_t *)share;
}

static bool numpy_check(const struct numpy_rule *rule, const struct odb_tensor *evaluated,
                        const struct odb_tensor *base, size_t *bad)
{
    const struct numpy_job job = {rule, odb_numbers_of(evaluated), odb_numbers_of(base),
                                  odb_exact_pair(evaluated->dtype, base->dtype)};
    size_t failed = 0;
    struct odb_pass pass = {.end = job.b.n,
                            .block = NUMPY_BLOCK,
                            .item = sizeof failed,
                            .job = &job,
                            .sides = {&job.e, &job.b},
                            .chunk = numpy_chunk,
                            .join = numpy_join};
    odb_pass_all(&pass, &failed);
    if (bad)
        *bad = failed;
    return failed == 0;
}

bool odb_all_close(const struct odb_tensor *evaluated, const struct odb_tensor *base, double rtol,
                   double atol, bool equal_nan, size_t *bad)
{
    struct numpy_rule rule = {.equal_nan = equal_nan, .rtol = rtol, .atol = atol};
    return numpy_check(&rule, evaluated, base, bad);
}

/* The type in which NumPy would subtract: the wider of two floats, double for all else. */
static enum odb_dtype numpy_common_type(enum odb_dtype a, enum odb_dtype b)
{
    a = odb_dtype_part(a);
    b = odb_dtype_part(b);
    if (!odb_dtype_is_float(a) || !odb_dtype_is_float(b))
        return ODB_F64;
    if (a == b)
        return a;
    /* float16 and bfloat16 hold neither each other's numbers; float32 holds both. */
    if (odb_dtype_info(a)->bits == odb_dtype_info(b)->bits)
        return ODB_F32;
    return odb_dtype_info(a)->bits > odb_dtype_info(b)->bits ? a : b;
}

bool odb_almost_equal(const struct odb_tensor *evaluated, const struct odb_tensor *base,
                      int decimals, size_t *bad)
{
    struct numpy_rule rule = {.equal_nan = true, .threshold = 1.5 * pow(10, -decimals)};
    rule.type = numpy_common_type(evaluated->dtype, base->dtype);
    odb_round_f64(rule.type, &rule.threshold, 1);
    return numpy_check(&rule, evaluated, base, bad);
}

/* --- diff2 in float32 ------------------------------------------------------------------------- */

struct numpy_pair {
    struct odb_numbers e, b; /* e without data: sum b^2 */
};

/* n terms, at most a leaf's, from first. */
static void numpy_terms(const struct numpy_pair *p, size_t first, size_t n, float *out)
{
    double e[NUMPY_LEAF] = {0}, b[NUMPY_LEAF];
    odb_numbers_load(&p->b, first, n, b);
    if (p->e.data)
        odb_numbers_load(&p->e, first, n, e);
    for (size_t i = 0; i < n; i++) {
        float d = p->e.data ? (float)e[i] - (float)b[i] : (float)b[i];
        out[i] = d * d;
    }
}

static float numpy_sum_pairwise(const struct numpy_pair *p, size_t first, size_t n)
{
    if (n > NUMPY_LEAF) {
        size_t half = n / 2;
        half -= half % 8;
        return numpy_sum_pairwise(p, first, half) + numpy_sum_pairwise(p, first + half, n - half);
    }
    float v[NUMPY_LEAF], r[8];
    numpy_terms(p, first, n, v);
    size_t i;
    if (n < 8) {
        float sum = 0;
        for (i = 0; i < n; i++)
            sum += v[i];
        return sum;
    }
    for (i = 0; i < 8; i++)
        r[i] = v[i];
    for (; i < n - n % 8; i += 8)
        for (int j = 0; j < 8; j++)
            r[j] += v[i + (size_t)j];
    float sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; i++)
        sum += v[i];
    return sum;
}

static float numpy_sum(const struct numpy_pair *p, size_t n)
{
    float sum = 0;
    for (size_t first = 0; first < n; first += NUMPY_BUFFER)
        sum += numpy_sum_pairwise(p, first, ODB_MIN(n - first, (size_t)NUMPY_BUFFER));
    return sum;
}

double odb_diff2_f32(const struct odb_tensor *evaluated, const struct odb_tensor *base)
{
    const struct odb_numbers e = odb_numbers_of(evaluated), b = odb_numbers_of(base);
    struct numpy_pair difference = {e, b}, square = {.b = b};
    return sqrt(numpy_sum(&difference, b.n) / numpy_sum(&square, b.n));
}

/* At most a leaf's. */
static double numpy_leaf(const double *v, size_t n)
{
    double r[8], sum = 0;
    size_t i = 0;
    if (n >= 8) {
        for (; i < 8; i++)
            r[i] = v[i];
        for (; i < n - n % 8; i += 8)
            for (size_t j = 0; j < 8; j++)
                r[j] += v[i + j];
        sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; i++)
        sum += v[i];
    return sum;
}

static double numpy_add(const double *v, size_t n)
{
    if (n <= NUMPY_LEAF)
        return numpy_leaf(v, n);
    size_t half = n / 2 - n / 2 % 8;
    return numpy_add(v, half) + numpy_add(v + half, n - half);
}

double odb_diff3_mean(const struct odb_tensor *evaluated, const struct odb_tensor *base, double th)
{
    double *d = odb_new_n(double, NUMPY_BUFFER), *b = odb_new_n(double, NUMPY_BUFFER), sum = 0;
    const struct odb_numbers t = odb_numbers_of(evaluated), r = odb_numbers_of(base);
    size_t n = r.n;
    for (size_t first = 0; first < n; first += NUMPY_BUFFER) {
        size_t part = ODB_MIN(n - first, (size_t)NUMPY_BUFFER);
        odb_numbers_load(&t, first, part, d);
        odb_numbers_load(&r, first, part, b);
        for (size_t i = 0; i < part; i++) {
            double error = fabs(d[i] - b[i]), size = fabs(b[i]);
            d[i] = size > th ? error / (size + 1e-9) : error;
        }
        sum += numpy_add(d, part);
    }
    free(d);
    free(b);
    return n ? sum / (double)n : 0;
}

double odb_numpy_mean(const double *v, size_t n)
{
    double sum = 0;
    for (size_t first = 0; first < n; first += NUMPY_BUFFER)
        sum += numpy_add(v + first, ODB_MIN(n - first, (size_t)NUMPY_BUFFER));
    return sum / (double)n;
}

bool odb_three_way(double target, double compare, double tag)
{
    return target <= tag * compare;
}
