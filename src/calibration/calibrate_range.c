/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "calibration/calibrate_int.h"

#define RANGE_LEAST 128 /* bins that are kept at least */
#define RANGE_STRIDE 8  /* from one threshold that is tried to the next */

/* --- percentile ------------------------------------------------------------------------------- */

/* So many numbers are cut off at each end at most, a bin at a time. */
static void range_percentile(const struct calibrate_range *r, double percentile, double *lo,
                             double *hi)
{
    double all = 0, below = 0, above = 0;
    size_t first = 0, last = CALIBRATE_BINS - 1;
    for (size_t i = 0; i < CALIBRATE_BINS; i++)
        all += (double)r->bins[i];
    double cut = all * (1 - percentile / 100) / 2;
    while (first < last && below + (double)r->bins[first] <= cut)
        below += (double)r->bins[first++];
    while (last > first && above + (double)r->bins[last] <= cut)
        above += (double)r->bins[last--];
    double width = (r->hi - r->lo) / CALIBRATE_BINS;
    *lo = r->lo + (double)first * width;
    *hi = r->lo + (double)(last + 1) * width;
}

/* --- entropy ---------------------------------------------------------------------------------- */

/* What is left of the bins first to stop when they are told in `steps` steps, against what they
 * are with all that is cut off put into the outermost ones: the Kullback-Leibler divergence. */
static double range_divergence(const uint64_t *bins, size_t first, size_t stop, size_t steps)
{
    double p[CALIBRATE_BINS], total = 0, sum = 0;
    size_t n = stop - first;
    for (size_t i = 0; i < CALIBRATE_BINS; i++)
        total += (double)bins[i];
    for (size_t i = 0; i < n; i++)
        p[i] = (double)bins[first + i];
    for (size_t i = 0; i < first; i++)
        p[0] += (double)bins[i];
    for (size_t i = stop; i < CALIBRATE_BINS; i++)
        p[n - 1] += (double)bins[i];
    for (size_t s = 0; s < steps; s++) {
        size_t from = s * n / steps, to = (s + 1) * n / steps, filled = 0;
        double kept = 0;
        for (size_t i = from; i < to; i++) {
            kept += (double)bins[first + i];
            filled += p[i] > 0;
        }
        for (size_t i = from; i < to; i++) /* the step's share is spread over what is not empty */
            if (p[i] > 0)
                sum += p[i] * log(p[i] / fmax(kept / (double)filled, 1e-4));
    }
    return sum / total;
}

/* Both ends move towards zero together, as far as there are numbers on that side. */
static void range_entropy(const struct calibrate_range *r, int bits, double *lo, double *hi)
{
    double width = (r->hi - r->lo) / CALIBRATE_BINS, best = INFINITY;
    double most = fmax(fabs(r->lo), fabs(r->hi));
    size_t steps = (size_t)1 << (bits > 8 ? 7 : bits - 1);
    for (size_t k = RANGE_LEAST; k <= CALIBRATE_BINS; k += RANGE_STRIDE) {
        double reach = most * (double)k / CALIBRATE_BINS;
        double a = fmax(r->lo, -reach), b = fmin(r->hi, reach);
        if (!(b > a)) /* all numbers are of one sign, and none is left */
            continue;
        size_t first = (size_t)fmin(CALIBRATE_BINS, fmax(0, floor((a - r->lo) / width)));
        size_t stop = (size_t)fmin(CALIBRATE_BINS, fmax(0, ceil((b - r->lo) / width)));
        if (stop < first + steps)
            continue;
        double d = range_divergence(r->bins, first, stop, steps);
        if (d > best)
            continue;
        best = d;
        *lo = a;
        *hi = b;
    }
}

void calibrate_keep(const struct calibrate_range *range,
                    const struct odb_calibrate_options *options, double *lo, double *hi)
{
    *lo = range->lo;
    *hi = range->hi;
    if (!range->bins || !(range->hi > range->lo))
        return;
    if (options->method == ODB_CALIBRATE_PERCENTILE)
        range_percentile(range, options->percentile, lo, hi);
    else if (options->method == ODB_CALIBRATE_ENTROPY)
        range_entropy(range, options->bits, lo, hi);
}
