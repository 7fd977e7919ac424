/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/encoded.h"

#include <math.h>

#include "interpret/cpu.h"

/* One element: how much further than half a step it is, and how much further it may be, in steps.
 */
static void encoded_element(struct odb_encoded_gap *out, const struct odb_encoding *e, size_t at,
                            double t, double exact, double noise)
{
    double step = odb_encoding_step(e, at, exact);
    double away = fabs(t - odb_encoding_clip(e, at, exact));
    if (isnan(exact) || (isinf(exact) && e->type != ODB_UNDEFINED)) {
        bool alike = isnan(exact) ? isnan(t) : t == exact;
        out->excess = alike ? out->excess : INFINITY;
        out->wrong += !alike;
        return;
    }
    step = step > 0 ? step : 1; /* a scale of zero: the only number is 0 */
    out->step = fmax(out->step, step);
    double excess = isnan(away) ? INFINITY : away / step - 0.5;
    double slack = fmax(2 * ODB_ENCODING_TIE, noise / step);
    if (excess > slack)
        out->wrong++;
    if (excess > out->excess) {
        out->excess = excess;
        out->slack = slack;
    }
}

void odb_encoded_measure(struct odb_encoded_gap *out, const struct odb_encoding *e,
                         const struct odb_tensor *t, const struct odb_tensor *exact, double noise)
{
    struct odb_encoding_walk w;
    *out = (struct odb_encoded_gap){.slack = 2 * ODB_ENCODING_TIE};
    for (odb_encoding_walk(&w, e, exact); odb_encoding_next(&w);)
        for (size_t i = w.begin; i < w.begin + w.n; i++)
            encoded_element(out, e, w.at, odb_tensor_f64(t, i), odb_tensor_f64(exact, i), noise);
}
