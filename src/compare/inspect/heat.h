/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plane of a value made small enough to be looked at: every cell of the picture stands for a
 * block of elements.
 */
#ifndef ODB_COMPARE_INSPECT_HEAT_H
#define ODB_COMPARE_INSPECT_HEAT_H

#include "base/progress.h"
#include "tensor/tensor.h"

struct odb_heat_cell {
    double mean[2]; /* of the finite ones; reference, target; NaN: none is */
    double error;   /* the largest |target - reference|; infinite: NaN or Inf does not match */
    size_t worst;   /* the element that has it; where all are equal, the first one */
};

struct odb_heat {
    size_t rows, cols;  /* of the plane */
    size_t h, w;        /* of the picture; cell (i, j) has the rows from i * rows / h on, and the
                           columns likewise */
    bool both;          /* there are errors */
    double lo, hi;      /* of all means; lo > hi: there are none */
    double most, least; /* largest finite error, and the smallest that is not 0; 0: there is none */
    struct odb_heat_cell *cells; /* owned; h times w */
};

/* Of rows times cols elements from `first` on, as h times w cells, fewer where there are fewer
 * elements. Strings have errors alone. */
enum odb_status odb_heat_make(struct odb_heat **out, const struct odb_tensor *ref,
                              const struct odb_tensor *target, size_t first, size_t rows,
                              size_t cols, size_t h, size_t w, const struct odb_progress *progress,
                              struct odb_error *err) ODB_MUST_USE;
void odb_heat_free(struct odb_heat *heat); /* NULL is fine */

#endif
