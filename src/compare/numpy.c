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
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "compare/exact.h"

enum { NUMPY_CHUNK = 1024, NUMPY_BLOCK = 64 * NUMPY_CHUNK, NUMPY_BUFFER = 8192, NUMPY_LEAF = 128 };

static enum odb_dtype numpy_part_type(enum odb_dtype dtype)
{
    return dtype == ODB_C64 ? ODB_F32 : dtype == ODB_C128 ? ODB_F64 : dtype;
}

/* Numbers to compare, complex ones counted twice. */
static size_t numpy_count(const struct odb_tensor *t)
{
    return numpy_part_type(t->dtype) == t->dtype ? t->count : 2 * t->count;
}

static void numpy_load(enum odb_dtype to, void *out, const struct odb_tensor *t, size_t first,
                       size_t n)
{
    enum odb_dtype from = numpy_part_type(t->dtype);
    odb_convert(to, out, from, (const char *)t->data + first / 8 * odb_dtype_info(from)->bits, n);
}

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
    const struct odb_tensor *e, *b;
    atomic_size_t failed;
};

/* Whether no element can fail, in a loop that the compiler makes vectors of; false: look closer. */
static bool numpy_all_near(const struct numpy_rule *rule, const double *e, const double *b,
                           size_t n)
{
    int64_t suspect = 0;
    for (size_t i = 0; i < n; i++) {
        double limit = rule->atol + rule->rtol * fabs(b[i]);
        suspect |= !(fabs(e[i] - b[i]) <= limit) | !(limit < INFINITY);
    }
    return rule->type == ODB_UNDEFINED && !suspect;
}

static void numpy_block(void *arg, size_t begin, size_t end)
{
    struct numpy_job *job = arg;
    double e[NUMPY_CHUNK], b[NUMPY_CHUNK];
    const struct odb_tensor *x = job->e, *y = job->b;
    size_t failed = 0;
    for (size_t first = begin; first < end; first += NUMPY_CHUNK) {
        size_t n = ODB_MIN(end - first, (size_t)NUMPY_CHUNK);
        numpy_load(ODB_F64, e, job->e, first, n);
        numpy_load(ODB_F64, b, job->b, first, n);
        bool exact = odb_exact_pair(x->dtype, y->dtype) && odb_exact_rounded(e, b, n);
        if (!exact && numpy_all_near(job->rule, e, b, n))
            continue;
        for (size_t i = 0; i < n; i++) {
            double d = exact ? odb_exact_minus(x->dtype, x->data, y->dtype, y->data, first + i)
                             : e[i] - b[i];
            failed += !numpy_pair_passes(job->rule, e[i], b[i], fabs(d));
        }
    }
    atomic_fetch_add(&job->failed, failed);
}

static bool numpy_check(const struct numpy_rule *rule, const struct odb_tensor *evaluated,
                        const struct odb_tensor *base, size_t *bad)
{
    struct numpy_job job = {.rule = rule, .e = evaluated, .b = base};
    atomic_init(&job.failed, 0);
    odb_parallel_for(numpy_count(base), NUMPY_BLOCK, numpy_block, &job);
    if (bad)
        *bad = atomic_load(&job.failed);
    return atomic_load(&job.failed) == 0;
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
    a = numpy_part_type(a);
    b = numpy_part_type(b);
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
    const struct odb_tensor *e, *b; /* e NULL: sum b^2 */
};

/* n terms, at most a leaf's, from first. */
static void numpy_terms(const struct numpy_pair *p, size_t first, size_t n, float *out)
{
    float e[NUMPY_LEAF];
    for (size_t i = 0; i < n; i++)
        out[i] = e[i] = 0;
    /* A leaf may start anywhere, also inside a byte of packed elements. */
    const struct odb_tensor *sides[] = {p->b, p->e};
    float *into[] = {out, e};
    for (int side = 0; side < (p->e ? 2 : 1); side++)
        for (size_t i = 0; i < n; i++)
            into[side][i] = (float)odb_load_f64(numpy_part_type(sides[side]->dtype),
                                                sides[side]->data, first + i);
    for (size_t i = 0; i < n; i++) {
        float d = p->e ? e[i] - out[i] : out[i];
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
    struct numpy_pair difference = {evaluated, base}, square = {NULL, base};
    size_t n = numpy_count(base);
    return sqrt(numpy_sum(&difference, n) / numpy_sum(&square, n));
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
    size_t n = numpy_count(base);
    for (size_t first = 0; first < n; first += NUMPY_BUFFER) {
        size_t part = ODB_MIN(n - first, (size_t)NUMPY_BUFFER);
        numpy_load(ODB_F64, d, evaluated, first, part);
        numpy_load(ODB_F64, b, base, first, part);
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
