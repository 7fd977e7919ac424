/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elements that are the same or are not. Integers of 64 bits, of which doubles hold 53, are
 * subtracted before anything is rounded.
 */
#ifndef ODB_COMPARE_EXACT_H
#define ODB_COMPARE_EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

/* Whether e - b in doubles would not do: both are integers or bools, and one is of 64 bits. */
static inline bool odb_exact_pair(enum odb_dtype e, enum odb_dtype b)
{
    bool whole =
        (odb_dtype_is_integer(e) || e == ODB_BOOL) && (odb_dtype_is_integer(b) || b == ODB_BOOL);
    return whole && (e == ODB_I64 || e == ODB_U64 || b == ODB_I64 || b == ODB_U64);
}

/* Element i of integers or bools, whose 64 bits a long double has room for; of other types as a
 * double has it. */
static inline long double odb_exact_value(enum odb_dtype dtype, const void *data, size_t i)
{
    if (dtype == ODB_U64)
        return (long double)((const odb_u64 *)data)[i];
    return dtype == ODB_I64 ? (long double)((const odb_i64 *)data)[i]
                            : (long double)odb_load_f64(dtype, data, i);
}

/* e - b of element i: of such a pair rounded once, of others as doubles subtract. */
static inline double odb_exact_minus(enum odb_dtype e_type, const void *e, enum odb_dtype b_type,
                                     const void *b, size_t i)
{
    if (!odb_exact_pair(e_type, b_type))
        return odb_load_f64(e_type, e, i) - odb_load_f64(b_type, b, i);
    return (double)(odb_exact_value(e_type, e, i) - odb_exact_value(b_type, b, i));
}

/* Whether there is an integer of such a pair among these that may have been rounded. */
static inline bool odb_exact_rounded(const double *e, const double *b, size_t n)
{
    bool large = false;
    for (size_t i = 0; i < n; i++)
        large |= !(fabs(e[i]) < 0x1p53) | !(fabs(b[i]) < 0x1p53);
    return large;
}

/* Whether element i of two tensors of integers, of bools or of strings is the same. */
bool odb_exact_same(const struct odb_tensor *a, const struct odb_tensor *b, size_t i);
/* How many elements of such tensors, of one shape, differ; *first: SIZE_MAX where none does. */
size_t odb_exact_count(const struct odb_tensor *a, const struct odb_tensor *b, size_t *first);

/* Two numbers in nine digits, or in as many more as tell them apart. */
struct odb_exact_texts {
    char x[40], y[40];
};
struct odb_exact_texts odb_exact_texts(long double x, long double y);

#endif
