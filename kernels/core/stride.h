/* SPDX-License-Identifier: MIT
 *
 * The one loop behind Transpose, Slice, Expand, Tile, Pad, Concat, Split, SpaceToDepth and their
 * kin: copy a block of cells from one strided array to another. It knows nothing of element types,
 * only how many bytes a cell has.
 */
#ifndef ODB_KERNELS_CORE_STRIDE_H
#define ODB_KERNELS_CORE_STRIDE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/kern.h"

/* Tile and DepthToSpace see every axis twice. */
#define ODB_STRIDE_RANK (2 * ODB_MAX_RANK)

/* dims[] cells are copied; strides count cells, those of the source may be 0 or negative. */
struct odb_stride {
    int rank;
    int64_t dims[ODB_STRIDE_RANK];
    int64_t dst[ODB_STRIDE_RANK];
    int64_t src[ODB_STRIDE_RANK];
};

/* Strides of a dense row-major array, in cells. */
void odb_stride_dense(int rank, const int64_t *dims, int64_t *strides);

/* Coordinates of element i of a dense row-major array. */
static inline void odb_stride_coordinates(int rank, const int64_t *dims, size_t i, int64_t *at)
{
    for (int d = rank - 1; d >= 0; d--) {
        at[d] = (int64_t)(i % (size_t)dims[d]);
        i /= (size_t)dims[d];
    }
}

/* Copies; size is bytes per cell: 1, 2, 4, 8 or 16. dst and src point at the cell with index 0 in
 * every dimension; no cell of dst is met twice, and the arrays do not overlap. */
void odb_stride_copy(const struct odb_stride *s, size_t size, void *dst, const void *src);

#endif
