/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far a candidate is from what the target made of a call, over all outputs.
 */
#ifndef ODB_EXPLAIN_MEASURE_RESIDUAL_H
#define ODB_EXPLAIN_MEASURE_RESIDUAL_H

#include "tensor/tensor.h"

struct residual {
    bool comparable; /* types and shapes are the target's; the rest is else meaningless */
    double energy;   /* sum of squares of differences, each output's over its mean square */
    double max;      /* the largest difference over the root mean square of its output */
    size_t odd;      /* elements where one is NaN or infinite and the other is another */
    size_t differ;   /* elements of types without noise (integers, bool, strings) that differ */
};

/* Outputs as a residual takes them: in double, with their root mean squares. */
struct measured {
    int n;
    struct odb_tensor *const *t; /* borrowed: [n]; NULL where not had */
    struct odb_tensor **wide;    /* owned refs; [n] in double; NULL for strings and containers */
    double *rms;                 /* owned; [n] of the reference; 1 where that is 0 */
};

/* of: the target's outputs, by: the reference's, which say how large they are. */
enum odb_status measured_make(struct measured *out, struct odb_tensor *const *of,
                              struct odb_tensor *const *by, int n,
                              struct odb_error *err) ODB_MUST_USE;
void measured_dispose(struct measured *m);

/* candidate: [n] like the target's. */
void residual_measure(struct residual *out, const struct measured *target,
                      struct odb_tensor *const *candidate);
/* The largest part that after has of what before had, over energy, odd and differing elements.
 * Infinite where it has some that before had not. floor: differences, over rms, that are nothing.
 */
double residual_left(const struct residual *after, const struct residual *before, double floor);

#endif
