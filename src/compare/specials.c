/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/specials.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

/* The least number of the type that is not denormal; 0 for types that are not looked at. */
static double specials_least(enum odb_dtype dtype)
{
    return dtype == ODB_F64                        ? DBL_MIN
           : dtype == ODB_F32 || dtype == ODB_BF16 ? FLT_MIN
           : dtype == ODB_F16                      ? 0x1p-14
                                                   : 0;
}

static bool specials_denormal(double v, double least)
{
    return v != 0 && fabs(v) < least; /* NaN is not */
}

static void specials_pair(struct odb_specials *s, double t, double r)
{
    bool t_inf = isinf(t), r_inf = isinf(r);
    s->nan_both += isnan(t) && isnan(r);
    s->nan_target += isnan(t) && !isnan(r);
    s->nan_reference += !isnan(t) && isnan(r);
    s->inf_both += t_inf && r_inf && t == r;
    s->inf_sign += t_inf && r_inf && t != r;
    s->inf_target += t_inf && !r_inf;
    s->inf_reference += !t_inf && r_inf;
    s->zero_sign += t == 0 && r == 0 && signbit(t) != signbit(r);
}

bool odb_specials_count(struct odb_specials *out, const struct odb_tensor *target,
                        const struct odb_tensor *reference)
{
    *out = (struct odb_specials){0};
    if (!target || !reference || target->kind != ODB_TENSOR || reference->kind != ODB_TENSOR ||
        !odb_dtype_is_float(target->dtype) || !odb_dtype_is_float(reference->dtype) ||
        !odb_tensor_same_shape(target, reference))
        return false;
    double target_least = specials_least(target->dtype);
    double reference_least = specials_least(reference->dtype);
    for (size_t i = 0; i < target->count; i++) {
        double t = odb_tensor_f64(target, i), r = odb_tensor_f64(reference, i);
        specials_pair(out, t, r);
        out->denormal_target += specials_denormal(t, target_least);
        out->denormal_reference += specials_denormal(r, reference_least);
    }
    return true;
}

void odb_specials_put(const struct odb_specials *s, bool all, struct odb_buf *out)
{
    const struct {
        const char *text;
        size_t n;
        bool differs;
    } rows[] = {
#define SPECIALS_ROW(name, text, differs) {text, s->name, differs},
        ODB_SPECIALS_LIST(SPECIALS_ROW)
#undef SPECIALS_ROW
    };
    const char *before = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].n || !(all || rows[i].differs))
            continue;
        odb_buf_printf(out, "%s%zu %s", before, rows[i].n, rows[i].text);
        before = ", ";
    }
}
