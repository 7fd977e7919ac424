/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A yardstick that is too blunt. With --expect the limit of a value is what computing in that type
 * must lose. Where the reference itself does not survive the type, that is more than the value is
 * large: an output of nothing but zeros would pass. Such an output cannot fail, and that it passes
 * says nothing.
 */
#include "bisect/plan/blunt.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "report/report.h"
#include "reference/trace.h"

/* How far zeros are from golden, as errors are measured: the largest over rms. 0: it is zeros, or
 * no float. */
static double blunt_zeros(const struct odb_tensor *golden)
{
    double squares = 0, most = 0;
    size_t n = 0;
    if (!golden || golden->kind != ODB_TENSOR || !odb_dtype_is_float(golden->dtype))
        return 0;
    for (size_t i = 0; i < golden->count; i++) {
        double v = odb_tensor_f64(golden, i);
        if (!isfinite(v))
            continue;
        squares += v * v;
        most = fmax(most, fabs(v));
        n++;
    }
    return squares > 0 ? most / sqrt(squares / (double)n) : 0;
}

/* What the limit of a value is made of. */
static double blunt_noise(const struct bisection *b, int value)
{
    const struct odb_trace *own = b->trace->own ? b->trace->own : b->trace;
    return own->noise[value];
}

static bool blunt_output(const struct bisection *b, int value)
{
    double zeros = blunt_zeros(b->trace->golden[value]);
    return zeros > 0 && b->options->tolerance.v[0] * blunt_noise(b, value) >= zeros;
}

void blunt_check(struct bisection *b)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t judged = 0, blunt = 0;
    int worst = ODB_NO_VALUE;
    if (b->trace->expect == ODB_PREC_NATIVE || b->options->tolerance.kind != ODB_CRITERION_NOISE)
        return;
    for (size_t o = 0; o < b->n_outputs; o++) {
        int v = b->outputs[o];
        enum odb_verdict verdict = b->verdicts[o].verdict;
        if (verdict != ODB_VERDICT_PASS && !odb_verdict_is_bad(verdict))
            continue;
        judged++;
        if (!blunt_output(b, v))
            continue;
        blunt++;
        if (worst < 0 || blunt_noise(b, v) > blunt_noise(b, worst))
            worst = v;
    }
    if (!blunt)
        return;
    odb_fail(&why, ODB_UNSUPPORTED,
             "nothing can be told of output %.100s: the reference computed in %s is off by %.3g "
             "times its rms, and %g times that is let pass, as even zeros would",
             b->graph->values[worst].name, b->options->expect, blunt_noise(b, worst),
             b->options->tolerance.v[0]);
    odb_error_remedy(&why, "this model does not survive %s: judge the target without --expect",
                     b->options->expect);
    if (blunt == judged)
        odb_report_undecide(b->report, ODB_UNDECIDED_BLUNT, &why);
    else
        odb_report_warn(b->report, "%s", why.what);
}
