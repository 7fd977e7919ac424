/* SPDX-License-Identifier: MIT
 *
 * What the operators of com.microsoft share: rows, all of them of version 1, and required inputs
 * behind optional ones, offsets of sequences. The rows allow fewer inputs than the schema then, and
 * the kernel asks for those that it needs.
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

/* ODB_E_OPERATOR unless input i holds n + 1 offsets, from 0 to the number of tokens, none below the
 * one before by less than `least`. For run(): values are not known in infer(). */
static inline enum odb_status odb_need_offsets(struct odb_kern *k, int i, size_t n, int64_t tokens,
                                               int64_t least)
{
    const struct odb_tensor *t = k->in[i];
    for (size_t b = 0; b <= n; b++) {
        int64_t at = odb_tensor_i64(t, b), before = b ? odb_tensor_i64(t, b - 1) : 0;
        if ((b == 0 && at != 0) || (b > 0 && at - before < least) || (b == n && at != tokens))
            return ODB_KERN_FAIL(k, "offset %zu of input %d is %lld, for %lld tokens", b, i,
                                 (long long)at, (long long)tokens);
    }
    return ODB_OK;
}

#endif
