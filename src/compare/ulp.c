/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/ulp.h"

#include <math.h>
#include <string.h>

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
