/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that computes in a narrower type is off at most of its nodes, and no node of it is at
 * fault. What each accused operator must lose in a type is measured on the reference; the type
 * whose losses are nearest to what the target is off by is the one. A culprit that is off by more
 * than the tolerance times that is another fault, and stays the one to look at.
 */
#include "bisect/evidence/narrower.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bisect/evidence/sensitivity.h"
#include "run/hooks.h"

#define NARROWER_LEAST 3  /* culprits that a type explains, or it is chance */
#define NARROWER_NEAR 2.5 /* times what they must lose, or that part of it, in the median */

static const struct narrower_type {
    const char *name; /* as --expect takes it */
    enum odb_precision precision;
} narrower_types[] = {
    {"f32", ODB_PREC_F32},
    {"tf32", ODB_PREC_TF32},
    {"f16", ODB_PREC_F16},
    {"bf16", ODB_PREC_BF16},
};

/* The type that fits best. */
struct narrower_fit {
    const char *type; /* NULL: none fits */
    double far;       /* median of how many times too much or too little, as a logarithm */
    bool *within;     /* owned; [culprits] off by no more than the tolerance times what is lost */
};

/* A node of which nothing is known but that it is off. Only doubles are narrowed to float. */
static bool narrower_asks(const struct search_case *c, const struct odb_culprit *who,
                          enum odb_precision precision)
{
    const struct odb_tensor *t = who->value >= 0 ? c->trace->ref[who->value] : NULL;
    if (odb_verdict_misfits(who->numbers.verdict) || !t ||
        (precision == ODB_PREC_F32 && odb_tensor_real(t) != ODB_F64))
        return false;
    return odb_diagnosis_accuses(who->kind) && !odb_culprit_is_region(who) && !who->of_reference &&
           who->numbers.local_error.known && who->numbers.local_error.v > 0 &&
           isfinite(who->numbers.local_error.v);
}

static int narrower_ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* What a culprit is off by, against what it must lose on the reference's inputs, and on the
 * target's, which are rounded already. *far: of the nearer one. False: it is not known. */
static bool narrower_measure(const struct search_case *c, const struct findings *f,
                             const struct odb_culprit *who, enum odb_precision precision,
                             bool *within, double *far)
{
    double own, given, error = who->numbers.local_error.v;
    if (!narrower_asks(c, who, precision) || !sensitivity_in(c, who->value, precision, NULL, &own))
        return false;
    if (!sensitivity_in(c, who->value, precision, f->given, &given))
        given = own;
    *within = error <= c->options->tolerance.v[0] * fmax(own, given);
    *far = fmin(fabs(log(error / own)), fabs(log(error / given)));
    return true;
}

static enum odb_status narrower_try(const struct search_case *c, const struct findings *f,
                                    const struct narrower_type *type, struct narrower_fit *best,
                                    struct odb_error *err)
{
    size_t n = f->report->culprits.n, within = 0, asked = 0;
    struct narrower_fit fit = {.type = type->name, .within = odb_new_n(bool, n + 1)};
    double *far = odb_new_n(double, n + 1);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        const struct odb_culprit *who = &f->report->culprits.items[i];
        status = odb_hooks_cancelled(&c->options->hooks, err);
        if (status == ODB_OK &&
            narrower_measure(c, f, who, type->precision, &fit.within[i], &far[asked])) {
            within += fit.within[i];
            asked++;
        }
    }
    if (asked)
        qsort(far, asked, sizeof *far, narrower_ascending);
    fit.far = far[asked / 2];
    free(far);
    if (status == ODB_OK && within >= NARROWER_LEAST && 2 * within >= asked &&
        fit.far <= log(NARROWER_NEAR) && (!best->type || fit.far < best->far)) {
        free(best->within);
        *best = fit;
        return ODB_OK;
    }
    free(fit.within);
    return status;
}

enum odb_status narrower_look(const struct search_case *c, struct findings *f,
                              struct odb_error *err)
{
    struct narrower_fit best = {0};
    enum odb_status status = ODB_OK;
    if (f->report->culprits.n < NARROWER_LEAST || c->trace->expect != ODB_PREC_NATIVE ||
        c->options->encodings || c->options->tolerance.kind != ODB_CRITERION_NOISE)
        return ODB_OK;
    findings_step_begin(f, "narrower type");
    for (size_t t = 0; t < ODB_COUNT(narrower_types) && status == ODB_OK; t++)
        status = narrower_try(c, f, &narrower_types[t], &best, err);
    for (size_t i = 0; i < f->report->culprits.n && best.type && status == ODB_OK; i++)
        findings_culprit(f, i)->narrower = best.within[i];
    if (best.type && status == ODB_OK)
        findings_narrower(f, best.type);
    findings_step_end(f, "narrower", "the accused as if the target computed in a narrower type");
    free(best.within);
    return status;
}
