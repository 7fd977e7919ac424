/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One calibration, as calibrate.c (runs, scales), calibrate_range.c (from a histogram to a range)
 * and calibrate_plan.c (which values) share it.
 */
#ifndef ODB_CALIBRATION_CALIBRATE_INT_H
#define ODB_CALIBRATION_CALIBRATE_INT_H

#include "calibration/calibrate.h"

#define CALIBRATE_BINS 2048

/* What becomes of a value. */
enum calibrate_fate {
    CALIBRATE_NONE,   /* no float, or nothing that is computed with */
    CALIBRATE_OWN,    /* a scale by its range */
    CALIBRATE_SHARED, /* another value's encoding */
    CALIBRATE_WEIGHT,
    CALIBRATE_BIAS,
    CALIBRATE_FUSED, /* a node that fuses reads it, and no other */
};

struct calibrate_plan {
    enum calibrate_fate *fate; /* owned; [n_values] */
    int *of;                   /* owned; [n_values] SHARED: the value; WEIGHT, BIAS: the node */
};

struct calibrate_range {
    bool seen;  /* a float tensor */
    bool wrong; /* NaN or Inf was among it */
    double lo, hi;
    uint64_t *bins; /* owned; [CALIBRATE_BINS] between lo and hi; NULL: not counted */
};

/* kept: [n_values] feeds shapes and indices alone. */
void calibrate_plan(struct calibrate_plan *out, const struct odb_graph *graph, const bool *kept);
void calibrate_plan_dispose(struct calibrate_plan *plan);
/* An initializer, or what a Constant gives; NULL: the value is computed, or fed. Borrowed. */
const struct odb_tensor *calibrate_constant(const struct odb_graph *graph, int value);
/* The axis of a weight's output channels. */
int calibrate_axis(const struct odb_node *node, int rank);

/* The range that the method keeps of the one that was seen. */
void calibrate_keep(const struct calibrate_range *range,
                    const struct odb_calibrate_options *options, double *lo, double *hi);

#endif
