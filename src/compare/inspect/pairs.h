/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The elements of a value as numbers, whatever their type: what the reference has, what the target
 * has, and how far they are apart. Complex ones count with their magnitude.
 */
#ifndef ODB_COMPARE_INSPECT_PAIRS_H
#define ODB_COMPARE_INSPECT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

#define ODB_PAIRS_CHUNK 1024

struct odb_pairs {
    const struct odb_tensor *t[2]; /* borrowed; NULL: there is none, or it has no numbers */
    bool both;                     /* element by element: of one shape, and comparable */
    size_t count;                  /* elements of the side that has most */
};

/* Either side may be NULL, a container or without values. */
void odb_pairs_init(struct odb_pairs *pairs, const struct odb_tensor *ref,
                    const struct odb_tensor *target);
/* At most ODB_PAIRS_CHUNK elements from first on, into v[0] and v[1] where that side has them, and
 * |target - reference| into error where both have: infinite where NaN or Inf does not match, or
 * where strings differ. Strings are NaN. */
void odb_pairs_load(const struct odb_pairs *pairs, size_t first, size_t n, double *const v[2],
                    double *error);

#endif
