/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values on a quantiser's grid.
 */
#ifndef ODB_JUDGE_STEPS_H
#define ODB_JUDGE_STEPS_H

#include "judge/blame.h"
#include "reference/trace.h"

/* What was found of a value on a grid. */
struct odb_steps {
    bool known;          /* it ends in a quantiser, and the reference has what that reads */
    size_t n, off, wide; /* elements; those that no honest value before the quantiser comes to, and
                            those of them that are more than a step away */
    double spread;       /* how far honest values come out apart, relative to golden's rms */
};

/* The value is what a QuantizeLinear makes, or what operators that only move or widen make of that.
 * Holds t against what the quantiser makes of all that an honest target may have before it: golden,
 * or else what it was read to have there (before; NULL: golden), and factor times noise to either
 * side. trace is of the model that ends there, or goes on. */
enum odb_status odb_steps_measure(struct odb_steps *out, struct odb_trace *trace, int value,
                                  const struct odb_tensor *before, const struct odb_tensor *t,
                                  double factor, struct odb_error *err) ODB_MUST_USE;
/* Whether that is honest: each element is, or a few are one step off, as where a function was made
 * a table. */
bool odb_steps_honest(const struct odb_steps *steps);

#endif
