/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The channel that is farthest off, when that is all that is asked: in a fifth of the time that the
 * sums of channels.h take.
 */
#ifndef ODB_COMPARE_INSPECT_FARTHEST_H
#define ODB_COMPARE_INSPECT_FARTHEST_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/tensor.h"

struct odb_farthest {
    size_t channels, worst; /* the first of those with the largest error */
    double error;           /* of that one, as odb_channel_error() */
};

/* Along an axis. False, and *out zero, where the two have no pairs, or no such axis, or one that is
 * longer than ODB_CHANNELS_MAX. */
bool odb_farthest_channel(struct odb_farthest *out, const struct odb_tensor *ref,
                          const struct odb_tensor *target, int axis);

#endif
