/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The numbers and the verdict of one value.
 */
#ifndef ODB_RUN_VALUE_REPORT_H
#define ODB_RUN_VALUE_REPORT_H

#include <stdbool.h>

#include "compare/verdict.h"

/* A number that may not have been had. NaN stands for itself. */
struct odb_number {
    bool known;
    double v;
};
#define ODB_NUMBER(x) ((struct odb_number){true, (x)})

/* All that is known about one value of the main graph. Errors are relative to rms of the golden
 * value (mechanism 6): dimensionless. */
struct odb_value_report {
    enum odb_verdict verdict;
    struct odb_number error, error_mean, noise;
    /* Of the node that makes it, on the target's own inputs; unknown for feeds. */
    struct odb_number local_error, inherited_error, gain, local_noise;
    bool excused;  /* it passes, as far off as it is: honest runs that decide otherwise are too */
    bool boundary; /* golden would have decided otherwise than the reference */
    bool culprit;  /* local error over local noise */
    char reason[160]; /* why this verdict, in words; may be "" */
};

#endif
