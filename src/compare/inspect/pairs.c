/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/pairs.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "compare/exact.h"

static bool pairs_is_complex(const struct odb_tensor *t)
{
    return odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX;
}

static bool pairs_has(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && t->data;
}

void odb_pairs_init(struct odb_pairs *pairs, const struct odb_tensor *ref,
                    const struct odb_tensor *target)
{
    const struct odb_tensor *t[2] = {ref, target};
    *pairs = (struct odb_pairs){.count = 0};
    for (int i = 0; i < 2; i++)
        if (pairs_has(t[i])) {
            pairs->t[i] = t[i];
            pairs->count = ODB_MAX(pairs->count, t[i]->count);
        }
    ref = pairs->t[0];
    target = pairs->t[1];
    pairs->both = ref && target && odb_tensor_same_shape(ref, target) &&
                  (ref->dtype == ODB_STRING) == (target->dtype == ODB_STRING) &&
                  pairs_is_complex(ref) == pairs_is_complex(target);
}

/* --- sides ------------------------------------------------------------------------------------ */

static void pairs_load_complex(const struct odb_tensor *t, size_t first, size_t n, double *v)
{
    enum odb_dtype part = t->dtype == ODB_C64 ? ODB_F32 : ODB_F64;
    for (size_t i = 0; i < n; i++)
        v[i] = hypot(odb_load_f64(part, t->data, 2 * (first + i)),
                     odb_load_f64(part, t->data, 2 * (first + i) + 1));
}

static void pairs_load_side(const struct odb_tensor *t, size_t first, size_t n, double *v)
{
    unsigned bits = odb_dtype_info(t->dtype)->bits;
    if (pairs_is_complex(t)) {
        pairs_load_complex(t, first, n, v);
    } else if (first * bits % 8 || !bits) { /* within a byte, or a string */
        for (size_t i = 0; i < n; i++)
            v[i] = bits ? odb_load_f64(t->dtype, t->data, first + i) : NAN;
    } else {
        odb_convert(ODB_F64, v, t->dtype,
                    (const char *)t->data + first / 8 * bits + first % 8 * bits / 8, n);
    }
}

/* --- between them ----------------------------------------------------------------------------- */

static double pairs_apart(double ref, double target)
{
    if (target == ref || (target != target && ref != ref))
        return 0;
    double d = fabs(target - ref);
    return d == d ? d : INFINITY;
}

static double pairs_complex_apart(const struct odb_pairs *pairs, size_t i)
{
    double d[2];
    for (size_t k = 0; k < 2; k++) {
        double v[2];
        for (int side = 0; side < 2; side++)
            v[side] = odb_load_f64(pairs->t[side]->dtype == ODB_C64 ? ODB_F32 : ODB_F64,
                                   pairs->t[side]->data, 2 * i + k);
        d[k] = pairs_apart(v[0], v[1]);
    }
    return hypot(d[0], d[1]);
}

/* Integers of 64 bits are subtracted before they are rounded. */
static void pairs_load_apart(const struct odb_pairs *pairs, size_t first, size_t n,
                             double *const v[2], double *error)
{
    const struct odb_tensor *ref = pairs->t[0], *target = pairs->t[1];
    if (ref->dtype == ODB_STRING) {
        for (size_t i = 0; i < n; i++)
            error[i] = odb_exact_same(ref, target, first + i) ? 0 : INFINITY;
    } else if (pairs_is_complex(ref)) {
        for (size_t i = 0; i < n; i++)
            error[i] = pairs_complex_apart(pairs, first + i);
    } else if (odb_exact_pair(target->dtype, ref->dtype)) {
        for (size_t i = 0; i < n; i++)
            error[i] = fabs(
                odb_exact_minus(target->dtype, target->data, ref->dtype, ref->data, first + i));
    } else {
        double odd = 0;
        for (size_t i = 0; i < n; i++) {
            error[i] = fabs(v[1][i] - v[0][i]);
            odd += error[i] - error[i]; /* NaN where something is not finite */
        }
        for (size_t i = 0; i < n && odd != odd; i++)
            error[i] = pairs_apart(v[0][i], v[1][i]);
    }
}

void odb_pairs_load(const struct odb_pairs *pairs, size_t first, size_t n, double *const v[2],
                    double *error)
{
    for (int side = 0; side < 2; side++)
        if (pairs->t[side] && first < pairs->t[side]->count)
            pairs_load_side(pairs->t[side], first, ODB_MIN(n, pairs->t[side]->count - first),
                            v[side]);
    if (pairs->both)
        pairs_load_apart(pairs, first, n, v, error);
}
