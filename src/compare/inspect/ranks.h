/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether two values choose the same: for what classifies, the largest elements of a row are the
 * answer, and their distances are not.
 */
#ifndef ODB_COMPARE_INSPECT_RANKS_H
#define ODB_COMPARE_INSPECT_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

#define ODB_RANKS_MOST 100 /* elements of a row that can be asked for */

struct odb_ranks {
    size_t rows;   /* along the last axis; a value without axes is a row of one */
    double argmax; /* share of rows whose largest element stands at the same place */
    double top;    /* share of the k largest of a row that are among the k largest of the other */
};

/* Of equal elements the first counts as larger, and NaN is larger than all numbers, as NumPy's
 * argmax has it. k: 1 to ODB_RANKS_MOST; a shorter row counts as a whole. False, and *out zero,
 * where these are no tensors of numbers of one shape, or are empty. */
bool odb_ranks(struct odb_ranks *out, const struct odb_tensor *evaluated,
               const struct odb_tensor *base, size_t k);

#endif
