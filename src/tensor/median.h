/* SPDX-License-Identifier: MIT
 *
 * The middle of numbers that are too many to be held, or sorted.
 */
#ifndef ODB_TENSOR_MEDIAN_H
#define ODB_TENSOR_MEDIAN_H

#include <stddef.h>

#include "base/error.h"
#include "base/progress.h"

#define ODB_MEDIAN_CHUNK ((size_t)1024)

struct odb_median_source {
    size_t n; /* places */
    /* The finite numbers at n <= ODB_MEDIAN_CHUNK places from first, a multiple of that, into out;
     * returns how many. Several threads ask at once. */
    size_t (*load)(const void *payload, size_t first, size_t n, double *out);
    const void *payload;
};

/* finite: how many numbers load() gives of all places. Of an even number, the middle between two;
 * 0 of none. Takes a few MiB, and mostly one look at all places or two. ODB_CANCELLED. */
enum odb_status odb_median(double *out, const struct odb_median_source *source, size_t finite,
                           const struct odb_progress *progress, struct odb_error *err) ODB_MUST_USE;

#endif
