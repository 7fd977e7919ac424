/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/decibels.h"

#include <math.h>

double odb_decibels_of(double signal, double noise)
{
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

static bool decibels_has_numbers(const struct odb_tensor *t)
{
    return t && t->kind == ODB_TENSOR && t->data && odb_dtype_is_float(t->dtype);
}

double odb_decibels(const struct odb_tensor *e, const struct odb_tensor *b)
{
    double signal = 0, noise = 0;
    if (!decibels_has_numbers(e) || !decibels_has_numbers(b) || !odb_tensor_same_shape(e, b))
        return NAN;
    for (size_t i = 0; i < b->count; i++) {
        double x = odb_tensor_f64(b, i), y = odb_tensor_f64(e, i);
        if (isnan(x) != isnan(y) || (isfinite(x) && isinf(y)))
            return -INFINITY;
        if (!isfinite(x))
            continue;
        signal += x * x;
        noise += (y - x) * (y - x);
    }
    return odb_decibels_of(signal, noise);
}
