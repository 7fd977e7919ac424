/* SPDX-License-Identifier: MIT
 *
 * The middle of numbers that are too many to be held, or sorted.
 */
#ifndef ODB_TENSOR_MEDIAN_H
#define ODB_TENSOR_MEDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "tensor/pass.h"

/* Of the numbers that are finite; there are `finite` of them. Of an even number, the middle between
 * two; 0 of none. Takes a few MiB, and mostly one look at all numbers or two. ODB_CANCELLED. */
enum odb_status odb_median(double *out, const struct odb_numbers *numbers, size_t finite,
                           const struct odb_progress *progress, struct odb_error *err) ODB_MUST_USE;

/* The bits of a number, which is not NaN, as an integer that sorts as it does. */
static inline uint64_t odb_median_key(double x)
{
    uint64_t bits;
    x += 0.0; /* zeros are one number */
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (-(bits >> 63) | UINT64_C(1) << 63);
}

static inline double odb_median_number(uint64_t key)
{
    uint64_t bits = key >> 63 ? key ^ UINT64_C(1) << 63 : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
