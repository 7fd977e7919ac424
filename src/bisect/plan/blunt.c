/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A yardstick that is too blunt. With --expect the limit of a value is what computing in that type
 * must lose. Where the reference itself does not survive the type, that is more than the value is
 * large: an output of nothing but zeros would pass. Such an output cannot fail, and that it passes
 * says nothing. The same holds of one that the target stores in steps of more than twice its size.
 */
#include "bisect/plan/blunt.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "judge/half_step.h"
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
static double blunt_noise(const struct search_case *c, int value)
{
    const struct odb_trace *own = c->trace->own ? c->trace->own : c->trace;
    return own->noise[value];
}

static bool blunt_output(const struct search_case *c, int value)
{
    double zeros = blunt_zeros(c->trace->golden[value]);
    return zeros > 0 && c->options->tolerance.v[0] * blunt_noise(c, value) >= zeros;
}

static bool blunt_judged(enum odb_verdict verdict)
{
    return verdict == ODB_VERDICT_PASS || odb_verdict_is_bad(verdict);
}

/* Of outputs that the target stores in steps of more than twice their numbers. */
static void blunt_stored(const struct search_case *c, struct findings *f)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t judged = 0, hidden = 0;
    int first = ODB_NO_VALUE;
    for (size_t o = 0; o < c->n_outputs; o++) {
        int v = c->outputs[o];
        const struct odb_tensor *t = f->plain[o] ? f->plain[o] : f->given[v];
        const struct odb_tensor *golden = c->trace->golden[v];
        judged += blunt_judged(f->verdicts[o].verdict);
        if (f->verdicts[o].verdict != ODB_VERDICT_PASS || !t || !golden ||
            !odb_half_step_hides(t, golden))
            continue;
        first = hidden++ ? first : v;
    }
    if (!hidden)
        return;
    odb_fail(&why, ODB_UNSUPPORTED,
             "nothing can be said of output %.100s: half a step of the integers that the target "
             "stores it as is more than its largest number, and even zeros would pass",
             c->graph->values[first].name);
    odb_error_remedy(&why, "give it a finer scale, or inputs that make it larger");
    if (hidden == judged)
        findings_undecide(f, ODB_UNDECIDED_BLUNT, &why);
    else
        findings_warn(f, "%s", why.what);
}

static void blunt_expected(const struct search_case *c, struct findings *f)
{
    struct odb_error why = ODB_ERROR_INIT;
    size_t judged = 0, blunt = 0;
    int worst = ODB_NO_VALUE;
    if (c->trace->expect == ODB_PREC_NATIVE || c->options->tolerance.kind != ODB_CRITERION_NOISE)
        return;
    for (size_t o = 0; o < c->n_outputs; o++) {
        int v = c->outputs[o];
        if (!blunt_judged(f->verdicts[o].verdict))
            continue;
        judged++;
        if (!blunt_output(c, v))
            continue;
        blunt++;
        if (worst < 0 || blunt_noise(c, v) > blunt_noise(c, worst))
            worst = v;
    }
    if (!blunt)
        return;
    odb_fail(&why, ODB_UNSUPPORTED,
             "nothing can be said of output %.100s: the reference computed in %s is off by %.3g "
             "times its rms, and %g times that is let pass, as even zeros would",
             c->graph->values[worst].name, c->options->expect, blunt_noise(c, worst),
             c->options->tolerance.v[0]);
    odb_error_remedy(&why, "this model does not survive %s: judge the target without --expect",
                     c->options->expect);
    if (blunt == judged)
        findings_undecide(f, ODB_UNDECIDED_BLUNT, &why);
    else
        findings_warn(f, "%s", why.what);
}

void blunt_check(const struct search_case *c, struct findings *f)
{
    blunt_expected(c, f);
    blunt_stored(c, f);
}
