/* SPDX-License-Identifier: MIT
 *
 * The window that convolutions and pools slide over an image of any rank, and the image laid out
 * so that sliding is a walk over contiguous memory.
 */
#ifndef ODB_KERNELS_NN_WINDOW_H
#define ODB_KERNELS_NN_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/core/kern.h"

/* Per spatial dimension; x is (N, C, in…). */
struct odb_window {
    int rank;
    int64_t in[ODB_MAX_RANK], out[ODB_MAX_RANK], kernel[ODB_MAX_RANK], stride[ODB_MAX_RANK],
        dilation[ODB_MAX_RANK], before[ODB_MAX_RANK], after[ODB_MAX_RANK]; /* pads */
    size_t in_size, out_size, taps; /* elements of one channel, one result, one kernel */
};

/* Reads kernel_shape (default: kernel, which it must then equal; NULL: required), strides,
 * dilations, pads, auto_pad and ceil_mode, and works out the result's size. */
enum odb_status odb_window_slide(struct odb_kern *k, const struct odb_tensor *x,
                                 const int64_t *kernel, struct odb_window *w) ODB_MUST_USE;
/* The same for a transposed convolution, whose window slides over the result: output_shape,
 * output_padding. in is x, out the result. */
enum odb_status odb_window_spread(struct odb_kern *k, const struct odb_tensor *x,
                                  const int64_t *kernel, struct odb_window *w) ODB_MUST_USE;

/* Outline i: (N, channels, w->out…) of the given type. */
enum odb_status odb_window_outline(struct odb_kern *k, int i, enum odb_dtype dtype,
                                   const struct odb_tensor *x, int64_t channels,
                                   const struct odb_window *w) ODB_MUST_USE;

/* A padded channel is dealt into planes by the remainder of its coordinates modulo the strides.
 * Then every tap of the kernel reads, for neighbouring results, neighbouring elements of one
 * plane: element `result + tap offset`, with results numbered in a grid as wide as a plane. Only
 * the remainders that a tap has get planes. */
struct odb_planes {
    int64_t grid[ODB_MAX_RANK];      /* dimensions of a plane; results occupy its corner */
    size_t step[ODB_MAX_RANK];       /* elements from one coordinate to the next in a plane */
    size_t phases[ODB_MAX_RANK];     /* remainders per dimension: planes are a grid of these */
    size_t phase_step[ODB_MAX_RANK]; /* planes from one remainder to the next */
    size_t plane, count;             /* elements of a plane; planes of a channel */
    size_t flat;                     /* results to compute, those outside the corner included */
    size_t *tap;                     /* [taps] owned; offset of each tap */
};

/* False: out of memory. */
bool odb_planes_init(struct odb_planes *p, const struct odb_window *w) ODB_MUST_USE;
void odb_planes_dispose(struct odb_planes *p);
/* What number i along dimension d of the kernel adds to a tap's offset. */
size_t odb_planes_reach(const struct odb_planes *p, const struct odb_window *w, int d, size_t i);

/* Elements that a reader may touch beyond the last plane, and beyond `flat` results. */
#define ODB_PLANES_SLACK 64

#endif
