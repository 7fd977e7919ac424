/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/pairs.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"
#include "base/simd.h"
#include "compare/exact.h"

static bool pairs_is_complex(const struct odb_tensor *t)
{
    return odb_dtype_info(t->dtype)->class_ == ODB_CLASS_COMPLEX;
}

void odb_pairs_init(struct odb_pairs *pairs, const struct odb_tensor *ref,
                    const struct odb_tensor *target)
{
    const struct odb_tensor *t[2] = {ref, target};
    *pairs = (struct odb_pairs){.count = 0};
    for (int i = 0; i < 2; i++) {
        pairs->side[i] = odb_numbers_of_elements(t[i]);
        pairs->t[i] = pairs->side[i].data ? t[i] : NULL;
        pairs->count = ODB_MAX(pairs->count, pairs->side[i].n);
    }
    ref = pairs->t[0];
    target = pairs->t[1];
    pairs->both = ref && target && odb_tensor_same_shape(ref, target) &&
                  (ref->dtype == ODB_STRING) == (target->dtype == ODB_STRING) &&
                  pairs_is_complex(ref) == pairs_is_complex(target);
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
            v[side] = odb_load_f64(pairs->side[side].type, pairs->side[side].data, 2 * i + k);
        d[k] = pairs_apart(v[0], v[1]);
    }
    return hypot(d[0], d[1]);
}

static ODB_SIMD void pairs_distances(const double *ref, const double *target, size_t n,
                                     double *error)
{
    for (size_t i = 0; i < n; i++)
        error[i] = fabs(target[i] - ref[i]);
}

/* Integers of 64 bits are subtracted before they are rounded. */
void odb_pairs_apart(const struct odb_pairs *pairs, size_t first, size_t n, const double *ref,
                     const double *target, double *error)
{
    const struct odb_tensor *r = pairs->t[0], *t = pairs->t[1];
    if (r->dtype == ODB_STRING) {
        for (size_t i = 0; i < n; i++)
            error[i] = odb_exact_same(r, t, first + i) ? 0 : INFINITY;
    } else if (pairs_is_complex(r)) {
        for (size_t i = 0; i < n; i++)
            error[i] = pairs_complex_apart(pairs, first + i);
    } else if (odb_exact_pair(t->dtype, r->dtype)) {
        for (size_t i = 0; i < n; i++)
            error[i] = fabs(odb_exact_minus(t->dtype, t->data, r->dtype, r->data, first + i));
    } else {
        pairs_distances(ref, target, n, error);
        bool finite = odb_all_finite(error, n);
        for (size_t i = 0; i < n && !finite; i++)
            error[i] = pairs_apart(ref[i], target[i]);
    }
}

void odb_pairs_load(const struct odb_pairs *pairs, size_t first, size_t n, double *const v[2],
                    double *error)
{
    for (int side = 0; side < 2; side++) {
        size_t all = pairs->side[side].n, has = first < all ? ODB_MIN(n, all - first) : 0;
        if (has)
            odb_numbers_load(&pairs->side[side], first, has, v[side]);
        while (has < n)
            v[side][has++] = NAN;
    }
    if (pairs->both)
        odb_pairs_apart(pairs, first, n, v[0], v[1], error);
}
