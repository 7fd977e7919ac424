/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/ulp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/simd.h"

enum odb_dtype odb_ulp_type(enum odb_dtype a, enum odb_dtype b)
{
    const struct odb_dtype_info *x = odb_dtype_info(a), *y = odb_dtype_info(b);
    if (x->class_ != ODB_CLASS_FLOAT || y->class_ != ODB_CLASS_FLOAT)
        return ODB_UNDEFINED;
    return x->eps > y->eps ? a : b;
}

/* The code of a number of at most 32 bits, in the order of the values. */
static double ulp_ordered(enum odb_dtype dtype, double v)
{
    uint32_t code = 0;
    unsigned bits = odb_dtype_info(dtype)->bits;
    odb_store_f64(dtype, &code, 0, v);
    uint32_t sign = (uint32_t)1 << (bits - 1);
    if (dtype == ODB_F8E8M0)
        return code;
    return code & sign ? -(double)(code & (sign - 1)) : code;
}

/* Doubles are more than a double can count, so they are subtracted first. */
static double ulp_doubles(double from, double to)
{
    double ulps = (double)odb_ulps_of_doubles(from, to);
    return from > to ? -ulps : ulps;
}

double odb_ulps(enum odb_dtype dtype, double from, double to)
{
    if (from != from || to != to)
        return NAN;
    if (from == to)
        return 0;
    return dtype == ODB_F64 ? ulp_doubles(from, to)
                            : ulp_ordered(dtype, to) - ulp_ordered(dtype, from);
}

static ODB_SIMD void ulp_places_of_floats(const odb_f32 *v, size_t n, int32_t *places)
{
    for (size_t i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        places[i] = bits < 0 ? INT32_MIN - bits : bits;
    }
}

static ODB_SIMD void ulp_places_of_halves(const odb_u16 *v, size_t n, int32_t *places)
{
    for (size_t i = 0; i < n; i++) {
        int32_t magnitude = v[i] & 0x7fff;
        places[i] = v[i] & 0x8000 ? -magnitude : magnitude;
    }
}

static ODB_SIMD void ulp_apart_places(const int32_t *a, const int32_t *b, size_t n, uint64_t *apart)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)a[i], y = (uint32_t)b[i];
        apart[i] = a[i] > b[i] ? x - y : y - x;
    }
}

static ODB_SIMD void ulp_apart_doubles(const double *a, const double *b, size_t n, uint64_t *apart)
{
    for (size_t i = 0; i < n; i++)
        apart[i] = odb_ulps_of_doubles(a[i], b[i]);
}

bool odb_ulp_has_places(enum odb_dtype ulp_type, enum odb_dtype a, enum odb_dtype b)
{
    return ulp_type == ODB_F32 || ((ulp_type == ODB_F16 || ulp_type == ODB_BF16) && a == b);
}

bool odb_ulp_is_stored(enum odb_dtype ulp_type, enum odb_dtype a, enum odb_dtype b)
{
    return a == b && (ulp_type == ODB_F64 || odb_ulp_has_places(ulp_type, a, b));
}

/* The same two steps at once, of pairs as they are stored: how far each is apart, false where some
 * of them is not finite; and the most that any is apart. infinite: the code of infinity. */
#define ULP_STORED(name, signed_t, unsigned_t, stored_t)                                           \
    ODB_INLINE unsigned_t name##_pair(unsigned_t a, unsigned_t b)                                  \
    {                                                                                              \
        const unsigned_t sign = (unsigned_t) ~(unsigned_t)0 / 2 + 1;                               \
        signed_t x = (signed_t)(a & ~sign), y = (signed_t)(b & ~sign);                             \
        signed_t p = (signed_t)(a & sign ? -x : x), q = (signed_t)(b & sign ? -y : y);             \
        return (unsigned_t)((unsigned_t)ODB_MAX(p, q) - (unsigned_t)ODB_MIN(p, q));                \
    }                                                                                              \
    static ODB_SIMD bool name(const stored_t *a, const stored_t *b, size_t n, unsigned_t infinite, \
                              uint64_t *apart)                                                     \
    {                                                                                              \
        unsigned_t most = 0; /* magnitude, without the sign */                                     \
        for (size_t i = 0; i < n; i++) {                                                           \
            unsigned_t x = (unsigned_t)(a[i] << 1), y = (unsigned_t)(b[i] << 1);                   \
            most = ODB_MAX(most, ODB_MAX(x, y));                                                   \
            apart[i] = name##_pair(a[i], b[i]);                                                    \
        }                                                                                          \
        return most >> 1 < infinite;                                                               \
    }                                                                                              \
    static ODB_SIMD unsigned_t name##_most(const stored_t *a, const stored_t *b, size_t n)         \
    {                                                                                              \
        unsigned_t most = 0;                                                                       \
        for (size_t i = 0; i < n; i++) {                                                           \
            unsigned_t apart = name##_pair(a[i], b[i]);                                            \
            most = ODB_MAX(most, apart);                                                           \
        }                                                                                          \
        return most;                                                                               \
    }

ULP_STORED(ulp_stored_halves, int16_t, uint16_t, odb_u16)
ULP_STORED(ulp_stored_floats, int32_t, uint32_t, odb_u32)
ULP_STORED(ulp_stored_doubles, int64_t, uint64_t, odb_u64)

bool odb_ulp_stored_distances(enum odb_dtype type, const void *a, const void *b, size_t n,
                              uint64_t *apart)
{
    if (type == ODB_F64)
        return ulp_stored_doubles(a, b, n, (uint64_t)0x7ff << 52, apart);
    if (type == ODB_F32)
        return ulp_stored_floats(a, b, n, 0x7f800000, apart);
    return ulp_stored_halves(a, b, n, type == ODB_F16 ? 0x7c00 : 0x7f80, apart);
}

/* Of numbers that are rounded to the type first, unless they are stored in it. That of NaN means
 * nothing. */
static void ulp_places(enum odb_dtype ulp_type, const double *v, const void *stored, size_t n,
                       int32_t *places)
{
    odb_f32 floats[ODB_PASS_CHUNK];
    odb_u16 halves[ODB_PASS_CHUNK];
    bool is_float = ulp_type == ODB_F32;
    if (!stored) {
        odb_convert(ODB_F32, floats, ODB_F64, v, n);
        stored = floats;
        if (!is_float) {
            odb_convert(ulp_type, halves, ODB_F32, floats, n);
            stored = halves;
        }
    }
    if (is_float)
        ulp_places_of_floats(stored, n, places);
    else
        ulp_places_of_halves(stored, n, places);
}

void odb_ulp_distances(enum odb_dtype ulp_type, const struct odb_ulp_pairs *p, uint64_t *apart)
{
    int32_t x[ODB_PASS_CHUNK], y[ODB_PASS_CHUNK];
    if (p->stored[0] && p->stored[1]) {
        (void)odb_ulp_stored_distances(ulp_type, p->stored[0], p->stored[1], p->n, apart);
        return;
    }
    if (ulp_type == ODB_F64) {
        ulp_apart_doubles(p->v[0], p->v[1], p->n, apart);
        return;
    }
    ulp_places(ulp_type, p->v[0], p->stored[0], p->n, x);
    ulp_places(ulp_type, p->v[1], p->stored[1], p->n, y);
    ulp_apart_places(x, y, p->n, apart);
}

static ODB_SIMD uint64_t ulp_most(const uint64_t *apart, size_t n)
{
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = apart[i] > most ? apart[i] : most;
    return most;
}

static uint64_t ulp_stored_most(enum odb_dtype type, const void *a, const void *b, size_t n)
{
    return type == ODB_F64   ? ulp_stored_doubles_most(a, b, n)
           : type == ODB_F32 ? ulp_stored_floats_most(a, b, n)
                             : ulp_stored_halves_most(a, b, n);
}

double odb_ulp_farthest(enum odb_dtype ulp_type, const struct odb_ulp_pairs *pairs)
{
    uint64_t apart[ODB_PASS_CHUNK];
    if (pairs->stored[0] && pairs->stored[1])
        return (double)ulp_stored_most(ulp_type, pairs->stored[0], pairs->stored[1], pairs->n);
    odb_ulp_distances(ulp_type, pairs, apart);
    return (double)ulp_most(apart, pairs->n);
}
