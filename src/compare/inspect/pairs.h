/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The elements of a value as numbers, whatever their type: what the reference has, what the target
 * has, and how far they are apart. Complex ones count with their magnitude.
 */
#ifndef ODB_COMPARE_INSPECT_PAIRS_H
#define ODB_COMPARE_INSPECT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/pass.h"

struct odb_pairs {
    const struct odb_tensor *t[2]; /* borrowed; NULL: there is none, or it has no numbers */
    struct odb_numbers side[2];    /* elements; those of strings are NaN */
    bool both;                     /* element by element: of one shape, and comparable */
    size_t count;                  /* elements of the side that has most */
};

/* Either side may be NULL, a container or without values. */
void odb_pairs_init(struct odb_pairs *pairs, const struct odb_tensor *ref,
                    const struct odb_tensor *target);
/* |target - reference| of the n <= ODB_PASS_CHUNK elements from first on, which both sides have and
 * v holds: infinite where NaN or Inf does not match, or where strings differ. */
void odb_pairs_apart(const struct odb_pairs *pairs, size_t first, size_t n, const double *ref,
                     const double *target, double *error);
/* Elements that no pass has loaded: into v[0] and v[1], NaN where a side has none, and how far they
 * are apart into error where both have. */
void odb_pairs_load(const struct odb_pairs *pairs, size_t first, size_t n, double *const v[2],
                    double *error);

#endif
