/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How a value may be off: families of deviations, each with one amount at most, which is the same
 * for all inputs.
 */
#ifndef ODB_SUSPECTS_DEVIATION_H
#define ODB_SUSPECTS_DEVIATION_H

#include "tensor/tensor.h"

enum deviation_amount { DEVIATION_LINEAR, DEVIATION_SEARCH, DEVIATION_FIXED };

enum deviation {
#define DEVIATION(id, ...) DEVIATION_OF_##id,
#include "suspects/deviation.def"
#undef DEVIATION
    DEVIATION_COUNT
};

struct deviation_row {
    const char *name;
    enum deviation_amount amount;
    double first;      /* amount that is tried first */
    const char *words; /* with a %g for the amount, where there is one */
};
const struct deviation_row *deviation_row(enum deviation family);

/* y, a dense tensor of float64, as it would be; input: the node's first, for SKIP, or NULL. NULL:
 * the family does nothing to this value. The caller's. */
struct odb_tensor *deviation_apply(enum deviation family, double amount, const struct odb_tensor *y,
                                   const struct odb_tensor *input);

#endif
