/* SPDX-License-Identifier: MIT
 *
 * Rows of ONNX Runtime's own operators. All of them are of version 1.
 */
#ifndef ODB_KERNELS_CONTRIB_ROW_H
#define ODB_KERNELS_CONTRIB_ROW_H

#include "kernels/kern.h"

/* ins and outs: ODB_ARITY(least, most). What follows run are the types of the inputs. */
#define ODB_ARITY(least, most) least, most
#define ODB_MICROSOFT(...) ODB_MICROSOFT_(__VA_ARGS__)
#define ODB_MICROSOFT_(op_name, least_in, most_in, least_out, most_out, op_flags, list, op_infer,  \
                       op_run, ...)                                                                \
    {                                                                                              \
        .domain = "com.microsoft", .name = op_name, .since = 1, .min_in = least_in,                \
        .max_in = most_in, .min_out = least_out, .max_out = most_out, .flags = op_flags,           \
        .types = {__VA_ARGS__}, .attrs = list, .infer = op_infer, .run = op_run                    \
    }

#endif
