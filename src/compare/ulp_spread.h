/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How units in the last place are spread over the pairs of two float tensors. A largest number of
 * them says little: beside an exact zero it is in the millions, with nothing wrong.
 */
#ifndef ODB_COMPARE_ULP_SPREAD_H
#define ODB_COMPARE_ULP_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

/* Over the pairs that are finite on both sides, in numbers of the narrower type; all 0 where there
 * are none. Exact, whatever the number of threads. */
struct odb_ulp_spread {
    size_t pairs;
    double max, mean;
    double p99; /* the least number that 99 % of the pairs, or more, do not exceed */
};

/* False, and *out zero, where these are no float tensors of one shape. */
bool odb_ulp_spread(struct odb_ulp_spread *out, const struct odb_tensor *evaluated,
                    const struct odb_tensor *base);

#endif
