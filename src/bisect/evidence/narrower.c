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
#include <string.h>

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

/* What culprits are off by, over what they must lose in the type that fits best. */
struct narrower_fit {
    const char *type; /* NULL: none fits */
    double far;       /* median of how many times too much or too little, as a logarithm */
    double *times;    /* owned; [culprits] NAN: not known */
};

/* A node of which nothing is known but that it is off. */
static bool narrower_asks(const struct odb_culprit *who)
{
    return odb_diagnosis_accuses(who->kind) && !odb_culprit_is_region(who) && !who->of_reference &&
           who->value >= 0 && who->numbers.local_error.known && who->numbers.local_error.v > 0;
}

static int narrower_ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Median of |log(times)|; infinite where nothing is known. */
static double narrower_far(const double *times, size_t n)
{
    double *logs = odb_new_n(double, n + 1), median = INFINITY;
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(times[i]))
            logs[known++] = fabs(log(times[i]));
    if (known) {
        qsort(logs, known, sizeof *logs, narrower_ascending);
        median = logs[known / 2];
    }
    free(logs);
    return median;
}

static enum odb_status narrower_try(const struct search_case *c, const struct findings *f,
                                    const struct narrower_type *type, struct narrower_fit *best,
                                    struct odb_error *err)
{
    size_t n = f->report->culprits.n, within = 0, asked = 0;
    double *times = odb_new_n(double, n + 1), lost;
    for (size_t i = 0; i < n; i++) {
        const struct odb_culprit *who = &f->report->culprits.items[i];
        bool asks = narrower_asks(who);
        enum odb_status status = odb_hooks_cancelled(&c->options->hooks, err);
        if (status != ODB_OK) {
            free(times);
            return status;
        }
        times[i] = asks && sensitivity_in(c, who->value, type->precision, &lost)
                       ? who->numbers.local_error.v / lost
                       : NAN;
        within += times[i] <= c->options->tolerance.v[0];
        asked += asks;
    }
    double far = narrower_far(times, n);
    bool fits = within >= NARROWER_LEAST && 2 * within >= asked && far <= log(NARROWER_NEAR);
    if (!fits || (best->type && far >= best->far)) {
        free(times);
        return ODB_OK;
    }
    free(best->times);
    *best = (struct narrower_fit){type->name, far, times};
    return ODB_OK;
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
        findings_culprit(f, i)->narrower = best.times[i] <= c->options->tolerance.v[0];
    if (best.type && status == ODB_OK)
        findings_narrower(f, best.type);
    findings_step_end(f, "narrower", "the accused as if the target computed in a narrower type");
    free(best.times);
    return status;
}
