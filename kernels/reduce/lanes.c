/* SPDX-License-Identifier: MIT
 *
 * From dimensions and axes to lanes.
 */
#include "kernels/reduce/lanes.h"

#include <string.h>

/* Puts a dimension before those that are already there. */
static void lanes_prepend(struct odb_lane_dims *d, size_t dim, size_t step)
{
    memmove(d->dims + 1, d->dims, (size_t)d->rank * sizeof *d->dims);
    memmove(d->steps + 1, d->steps, (size_t)d->rank * sizeof *d->steps);
    d->dims[0] = dim;
    d->steps[0] = step;
    d->rank++;
}

void odb_lanes_split(const int64_t *dims, int rank, const bool *reduced, struct odb_lanes *lanes)
{
    *lanes = (struct odb_lanes){.kept.count = 1, .reduced.count = 1};
    struct odb_lane_dims *last = NULL;
    size_t step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        struct odb_lane_dims *kind = reduced[d] ? &lanes->reduced : &lanes->kept;
        size_t dim = (size_t)dims[d];
        kind->count *= dim;
        if (dim == 1)
            continue;
        if (kind == last)
            kind->dims[0] *= dim;
        else
            lanes_prepend(kind, dim, step);
        last = kind;
        step *= dim;
    }
}

size_t odb_lanes_at(const struct odb_lane_dims *d, size_t index)
{
    size_t at = 0;
    for (int i = d->rank - 1; i >= 0; i--) {
        at += index % d->dims[i] * d->steps[i];
        index /= d->dims[i];
    }
    return at;
}
