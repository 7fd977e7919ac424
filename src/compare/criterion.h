/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tolerances: noise[:FACTOR], allclose:RTOL[,ATOL], close:X (or X alone), decimal:N, diff2:X,
 * diff3:MAX[,MEAN[,TH]], ulp:N, cosine:MIN. One text form for options, sessions and reports; one
 * row per kind in criterion.c.
 */
#ifndef ODB_COMPARE_CRITERION_H
#define ODB_COMPARE_CRITERION_H

#include <stddef.h>

#include "base/error.h"
#include "compare/metrics.h"
#include "compare/verdict.h"

enum odb_criterion_kind {
    ODB_CRITERION_NOISE,    /* v[0]: factor */
    ODB_CRITERION_ALLCLOSE, /* v[0]: rtol, v[1]: atol */
    ODB_CRITERION_CLOSE,    /* v[0]: rtol, and atol as a share of the rms */
    ODB_CRITERION_DECIMAL,  /* v[0]: decimals */
    ODB_CRITERION_DIFF2,    /* v[0]: largest */
    ODB_CRITERION_DIFF3,    /* v[0]: largest max, v[1]: largest mean, v[2]: th, < 0 by type */
    ODB_CRITERION_ULP,      /* v[0]: largest */
    ODB_CRITERION_COSINE,   /* v[0]: smallest */
    ODB_CRITERION_COUNT
};

struct odb_criterion {
    enum odb_criterion_kind kind;
    double v[3];
};

#define ODB_CRITERION_DEFAULT ((struct odb_criterion){ODB_CRITERION_NOISE, {10, 0, 0}})

/* NULL or "": the default. ODB_E_USAGE names the place and what may stand there. */
enum odb_status odb_criterion_parse(struct odb_criterion *out, const char *text,
                                    struct odb_error *err) ODB_MUST_USE;
/* The shortest text that parses to c. Returns buf; 128 bytes always do. */
const char *odb_criterion_text(const struct odb_criterion *c, char *buf, size_t size);
/* One line per kind of tolerance for help: "allclose:RTOL[,ATOL]" and what it means. NULL at the
 * end of the table. */
const char *odb_criterion_usage(size_t i, const char **help);

/* What a fixed criterion (any but noise) says of a value. Shape, type, NaN and Inf are judged
 * before numbers: allclose wants no NaN at all, the others the same ones. Integers, bools and
 * strings must be equal, whatever the numbers, except under allclose and decimal, which compare
 * numbers as NumPy does. reason: one short phrase with the deciding numbers; may be NULL. */
enum odb_verdict odb_criterion_apply(const struct odb_criterion *c,
                                     const struct odb_tensor *evaluated,
                                     const struct odb_tensor *base, char *reason, size_t size);
/* The same where odb_compare() has been asked already, with this threshold. */
double odb_criterion_th(const struct odb_criterion *c);
enum odb_verdict odb_criterion_judge(const struct odb_criterion *c,
                                     const struct odb_tensor *evaluated,
                                     const struct odb_tensor *base, const struct odb_metrics *m,
                                     char *reason, size_t size);

/* What shape, type, NaN and Inf say before any number is looked at; PASS: nothing. */
enum odb_verdict odb_verdict_pattern(const struct odb_metrics *m, char *reason, size_t size);
/* The noise criterion: error <= factor * noise; noise 0 asks for equality. */
enum odb_verdict odb_verdict_noise(const struct odb_metrics *m, double noise, double factor);
/* The same on the short form. */
enum odb_verdict odb_verdict_distance(const struct odb_distance *d, double noise, double factor);
/* Why, in the same style. Returns buf. */
const char *odb_noise_reason(const struct odb_metrics *m, double noise, double factor, char *buf,
                             size_t size);

#endif
