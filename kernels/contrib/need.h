/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft may have optional inputs before required ones. Their rows allow fewer
 * inputs than the schema, and the kernel asks for those that it needs.
 */
#ifndef ODB_KERNELS_CONTRIB_NEED_H
#define ODB_KERNELS_CONTRIB_NEED_H

#include "kernels/kern.h"

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
