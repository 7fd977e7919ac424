/* SPDX-License-Identifier: MIT
 *
 * What one glance at a tensor should tell.
 */
#ifndef ODB_TENSOR_STATS_H
#define ODB_TENSOR_STATS_H

#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"
#include "tensor/tensor.h"

/* min to rms are over the finite elements, computed in double, and 0 when there are none. Complex
 * tensors count the two parts as elements. std is that of the whole population, as NumPy's. */
struct odb_stats {
    size_t count, nan, pos_inf, neg_inf, zeros;
    double min, max, mean, median, std, rms;
};

/* How many elements the numbers are of; 0: of none, and they say nothing. */
static inline size_t odb_stats_finite(const struct odb_stats *stats)
{
    return stats->count - stats->nan - stats->pos_inf - stats->neg_inf;
}

/* Adds the specials and zeros of another part of a tensor, and widens the range to hold its. */
void odb_stats_merge(struct odb_stats *to, const struct odb_stats *from);

/* Of a tensor with values; ODB_E_INPUT for strings and containers. Takes a few MiB, however large
 * it is. progress may be NULL. ODB_CANCELLED. */
enum odb_status odb_stats(struct odb_stats *out, const struct odb_tensor *t,
                          const struct odb_progress *progress, struct odb_error *err) ODB_MUST_USE;

/* Counts of the finite elements in n bins of equal width over [lo, hi], the last one closed. Where
 * lo == hi, bin n / 2 gets what equals them. Elements outside are not counted. */
enum odb_status odb_histogram(size_t *bins, size_t n, double lo, double hi,
                              const struct odb_tensor *t, const struct odb_progress *progress,
                              struct odb_error *err) ODB_MUST_USE;

/* The number that sorting would put at k < n, none being NaN. Reorders v: those before k are then
 * not greater, those behind it not smaller. */
double odb_stats_select(double *v, size_t n, size_t k);

#endif
