/* SPDX-License-Identifier: MIT
 *
 * What the operators of com.microsoft share: rows, all of them of version 1, and required inputs
 * behind optional ones. The rows allow fewer inputs than the schema then, and the kernel asks for
 * those that it needs.
 */
#ifndef ODB_KERNELS_CONTRIB_CONTRIB_H
#define ODB_KERNELS_CONTRIB_CONTRIB_H

#include "kernels/core/row.h"

/* name, ins, outs, flags, attributes, infer, run, types. */
#define ODB_MICROSOFT(name, ...) ODB_ROW("com.microsoft", name, 1, __VA_ARGS__)

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
