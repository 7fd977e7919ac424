/* SPDX-License-Identifier: MIT
 *
 * The finite elements are gathered once as doubles, because the median needs them in memory
 * anyway; everything else is a loop over that array, where sums cannot overflow unnoticed: they
 * are taken of the numbers divided by the largest.
 */
#include "tensor/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static enum odb_status stats_check(const struct odb_tensor *t, struct odb_error *err)
{
    if (t->kind != ODB_TENSOR || t->dtype == ODB_STRING || !t->data)
        return odb_fail(err, ODB_E_INPUT, "statistics are for tensors of numbers with values");
    return ODB_OK;
}

/* The finite elements; *out owned. Counts the others. */
static enum odb_status stats_gather(double **out, size_t *n, struct odb_stats *s,
                                    const struct odb_tensor *t, struct odb_error *err)
{
    enum odb_dtype type = t->dtype == ODB_C64 ? ODB_F32 : t->dtype == ODB_C128 ? ODB_F64 : t->dtype;
    size_t count = type == t->dtype ? t->count : 2 * t->count, bytes, kept = 0;
    double *v = odb_size_mul(count + 1, sizeof *v, &bytes) ? malloc(bytes) : NULL;
    if (!v)
        return odb_fail(err, ODB_E_NOMEM, "no memory for the statistics of %zu elements", count);
    odb_convert(ODB_F64, v, type, t->data, count);
    for (size_t i = 0; i < count; i++) {
        s->nan += v[i] != v[i];
        s->pos_inf += v[i] == INFINITY;
        s->neg_inf += v[i] == -INFINITY;
        s->zeros += v[i] == 0;
        v[kept] = v[i];
        kept += isfinite(v[i]) != 0;
    }
    s->count = count;
    *out = v;
    *n = kept;
    return ODB_OK;
}

static double stats_median(double *v, size_t n)
{
    double upper = odb_stats_select(v, n, n / 2);
    if (n % 2)
        return upper;
    double lower = v[0];
    for (size_t i = 1; i < n / 2; i++)
        lower = ODB_MAX(lower, v[i]);
    return lower / 2 + upper / 2;
}

static void stats_moments(struct odb_stats *s, const double *v, size_t n)
{
    s->min = s->max = v[0];
    for (size_t i = 1; i < n; i++) {
        s->min = ODB_MIN(s->min, v[i]);
        s->max = ODB_MAX(s->max, v[i]);
    }
    double scale = ODB_MAX(fabs(s->min), fabs(s->max));
    if (scale == 0)
        return;
    /* A power of two changes no digit. */
    scale = ldexp(1, ilogb(scale));
    long double sum = 0, squares = 0, deviations = 0;
    for (size_t i = 0; i < n; i++) {
        double x = v[i] / scale;
        sum += x;
        squares += x * x;
    }
    long double mean = sum / n;
    for (size_t i = 0; i < n; i++) {
        long double d = v[i] / scale - mean;
        deviations += d * d;
    }
    s->mean = (double)(mean * scale);
    s->rms = (double)(sqrtl(squares / n) * scale);
    s->std = (double)(sqrtl(deviations / n) * scale);
}

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

enum odb_status odb_stats(struct odb_stats *out, const struct odb_tensor *t, struct odb_error *err)
{
    double *v = NULL;
    size_t n = 0;
    *out = (struct odb_stats){0};
    ODB_TRY(stats_check(t, err));
    ODB_TRY(stats_gather(&v, &n, out, t, err));
    if (n) {
        stats_moments(out, v, n);
        out->median = stats_median(v, n);
    }
    free(v);
    return ODB_OK;
}

enum odb_status odb_histogram(size_t *bins, size_t n, double lo, double hi,
                              const struct odb_tensor *t, struct odb_error *err)
{
    struct odb_stats unused = {0};
    double *v = NULL;
    size_t count = 0;
    ODB_TRY(stats_check(t, err));
    if (!n || !(lo <= hi) || !isfinite(lo) || !isfinite(hi))
        return odb_fail(err, ODB_E_INPUT, "a histogram needs bins and a finite range");
    ODB_TRY(stats_gather(&v, &count, &unused, t, err));
    for (size_t i = 0; i < n; i++)
        bins[i] = 0;
    /* Halves, because the width of a range of doubles need not be one. */
    double width = hi / 2 - lo / 2;
    for (size_t i = 0; i < count; i++) {
        if (v[i] < lo || v[i] > hi)
            continue;
        double place = width > 0 ? (v[i] / 2 - lo / 2) / width * (double)n : (double)(n / 2);
        bins[ODB_MIN((size_t)place, n - 1)]++;
    }
    free(v);
    return ODB_OK;
}
