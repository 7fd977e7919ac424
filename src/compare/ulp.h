/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Distances counted in numbers of a floating type: units in the last place.
 */
#ifndef ODB_COMPARE_ULP_H
#define ODB_COMPARE_ULP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tensor/pass.h"

/* The narrower of two float types, whose numbers are counted; ODB_UNDEFINED where one is none. */
enum odb_dtype odb_ulp_type(enum odb_dtype a, enum odb_dtype b);
/* How many numbers of the type it is from one to the other, both rounded to it: negative where `to`
 * is the smaller. NaN where one of them is no number; Inf is one step above the largest. -0 is 0.
 */
double odb_ulps(enum odb_dtype dtype, double from, double to);

/* Whether numbers of two types have places among those of ulp_type, integers in the order of the
 * values whose differences are units in the last place: that is float, or both are float16 or
 * bfloat16. */
bool odb_ulp_has_places(enum odb_dtype ulp_type, enum odb_dtype a, enum odb_dtype b);
/* Whether the bits of two types, as they are stored, are enough: both are ulp_type, which is
 * float64 or has places. */
bool odb_ulp_is_stored(enum odb_dtype ulp_type, enum odb_dtype a, enum odb_dtype b);
/* Pairs of finite numbers, ODB_PASS_CHUNK at most. */
struct odb_ulp_pairs {
    const double *v[2];    /* borrowed */
    const void *stored[2]; /* borrowed: the same as they lie in a tensor, if that has the type in
                              which is counted; else NULL */
    size_t n;
};

/* Numbers from first on as they lie in a tensor, if it has the type; else NULL. */
static inline const void *odb_ulp_stored(enum odb_dtype ulp_type, const struct odb_numbers *t,
                                         size_t first)
{
    size_t bytes = odb_dtype_info(ulp_type)->bits / 8;
    return t->type == ulp_type ? (const char *)t->data + first * bytes : NULL;
}

/* How far pairs as they lie in tensors are apart: float64, float, float16 or bfloat16. False: some
 * is not finite, and what is said of such means nothing. */
bool odb_ulp_stored_distances(enum odb_dtype type, const void *a, const void *b, size_t n,
                              uint64_t *apart);
/* How far the pairs are apart, of float64 or of types that odb_ulp_has_places(). */
void odb_ulp_distances(enum odb_dtype ulp_type, const struct odb_ulp_pairs *pairs, uint64_t *apart);
/* The most that any of them is. */
double odb_ulp_farthest(enum odb_dtype ulp_type, const struct odb_ulp_pairs *pairs);

/* The bits of a double as an integer in the order of the values. */
static inline int64_t odb_ulp_place(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

/* How many doubles it is from one to the other, neither being NaN: more than a double can count. */
static inline uint64_t odb_ulps_of_doubles(double a, double b)
{
    int64_t x = odb_ulp_place(a), y = odb_ulp_place(b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

#endif
