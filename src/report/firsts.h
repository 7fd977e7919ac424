/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where numbers leave the finite world, and where float16 would: the first values, in topological
 * order, that hold a NaN, an infinity, or a number too large for float16.
 */
#ifndef ODB_REPORT_FIRSTS_H
#define ODB_REPORT_FIRSTS_H

#include "run/feeds.h"
#include "model/model.h"

/* Indices of values; ODB_NO_VALUE: there is none. */
struct odb_firsts {
    int nan, inf;
    int beyond_f16; /* finite, but float16 would make Inf of it */
};

#define ODB_FIRSTS_NONE                                                                            \
    {                                                                                              \
        ODB_NO_VALUE, ODB_NO_VALUE, ODB_NO_VALUE                                                   \
    }

/* Feeds first (feeds may be NULL), then what nodes make: values[] ([n_values]; NULL entries are
 * passed over, and so are values that are no tensors of floats). */
void odb_firsts_find(struct odb_firsts *out, const struct odb_graph *graph,
                     const struct odb_feeds *feeds, struct odb_tensor *const *values);

#endif
