/* SPDX-License-Identifier: MIT
 *
 * What the operators of com.microsoft share: rows, all of them of version 1, and required inputs
 * behind optional ones. The rows allow fewer inputs than the schema then, and the kernel asks for
 * those that it needs.
 */
#ifndef ODB_KERNELS_CONTRIB_CONTRIB_H
#define ODB_KERNELS_CONTRIB_CONTRIB_H

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

/* ODB_E_OPERATOR unless the n inputs of these numbers are there. */
static inline enum odb_status odb_need(struct odb_kern *k, const int *inputs, int n)
{
    for (int i = 0; i < n; i++)
        if (!odb_kern_in(k, inputs[i]))
            return ODB_KERN_FAIL(k, "input %d of %s is missing", inputs[i], k->op->name);
    return ODB_OK;
}
#define ODB_NEED(k, ...)                                                                           \
    odb_need(k, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

#endif
