/* SPDX-License-Identifier: MIT
 *
 * A tensor seen as many lanes: a lane is one choice of the kept dimensions and runs through the
 * reduced ones. Neighbouring dimensions of a kind are merged and those of length 1 dropped.
 */
#ifndef ODB_KERNELS_REDUCE_LANES_H
#define ODB_KERNELS_REDUCE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/tensor.h"

/* Dimensions of one kind, outermost first; steps count elements. */
struct odb_lane_dims {
    int rank;
    size_t dims[ODB_MAX_RANK], steps[ODB_MAX_RANK];
    size_t count; /* product of dims */
};

struct odb_lanes {
    struct odb_lane_dims kept, reduced;
};

/* reduced: [rank] of flags. */
void odb_lanes_split(const int64_t *dims, int rank, const bool *reduced, struct odb_lanes *lanes);

/* Where element `index` (row-major) of these dimensions lies. */
size_t odb_lanes_at(const struct odb_lane_dims *d, size_t index);

#endif
