/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A value cut along one axis, each slice for itself: a fault in one channel of a convolution, or in
 * the last few that a vector loop left over, does not show in statistics of the whole.
 */
#ifndef ODB_COMPARE_INSPECT_CHANNELS_H
#define ODB_COMPARE_INSPECT_CHANNELS_H

#include "base/buf.h"
#include "base/progress.h"
#include "tensor/tensor.h"

#define ODB_CHANNELS_MAX ((size_t)1 << 18)

/* Distances are |target - reference| of pairs that are finite on both sides; where there is one
 * side only, or no difference between the two, they are 0. Sides: 0 reference, 1 target. */
struct odb_channel {
    size_t count;     /* elements */
    size_t pairs;     /* that are finite on both sides */
    size_t differing; /* -0 equals +0, NaN equals NaN */
    size_t odd;       /* NaN or Inf that does not match, strings that differ */
    size_t nan[2];
    double max_abs, mean_abs, rms, cosine; /* cosine: 1 where both are zero, 0 where one is */
    double min[2], max[2], mean[2];        /* of the finite ones, 0 where there are none */
    size_t worst; /* the element that is farthest off; where none is, the first one */
};

struct odb_channels {
    int axis;
    bool both; /* there are pairs */
    size_t n;
    struct odb_channel *channel; /* owned */
};

/* The axis that most likely numbers channels: the second of images, the last of up to three axes,
 * another one where that has but one index. -1: there is none. */
int odb_channels_axis(const struct odb_tensor *t);
/* Along an axis that both sides have. ODB_E_USAGE where there is no such axis, or it is longer than
 * ODB_CHANNELS_MAX. */
enum odb_status odb_channels_make(struct odb_channels **out, const struct odb_tensor *ref,
                                  const struct odb_tensor *target, int axis,
                                  const struct odb_progress *progress,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_channels_free(struct odb_channels *channels); /* NULL is fine */

/* How bad a channel is, as a number to sort by: infinite where something is odd. */
double odb_channel_error(const struct odb_channel *c);
/* Where the error is, when it is not everywhere: "channel 17 alone", "channels 57 to 63", "every
 * 4th channel from 3", and how far the others are below. False when there is nothing of the kind to
 * say. */
bool odb_channels_told(const struct odb_channels *channels, struct odb_buf *out);

#endif
