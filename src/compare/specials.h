/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers that no distance tells of, counted by kind: NaN, infinities, zeros of the other sign,
 * denormal numbers.
 */
#ifndef ODB_COMPARE_SPECIALS_H
#define ODB_COMPARE_SPECIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tensor/tensor.h"

#define ODB_SPECIALS_LIST(X)                                                                       \
    X(nan_both, "NaN in both", false)                                                              \
    X(nan_reference, "NaN in the reference alone", true)                                           \
    X(nan_target, "NaN in the target alone", true)                                                 \
    X(inf_both, "infinite alike in both", false)                                                   \
    X(inf_reference, "infinite in the reference alone", true)                                      \
    X(inf_target, "infinite in the target alone", true)                                            \
    X(inf_sign, "infinite with opposite signs", true)                                              \
    X(zero_sign, "zero with opposite signs", false)                                                \
    X(denormal_reference, "denormal in the reference", false)                                      \
    X(denormal_target, "denormal in the target", false)

/* Numbers of elements. */
struct odb_specials {
#define ODB_SPECIALS_MEMBER(name, text, differs) size_t name;
    ODB_SPECIALS_LIST(ODB_SPECIALS_MEMBER)
#undef ODB_SPECIALS_MEMBER
};

/* Element by element. False, and all zero, when these are no float tensors of one shape. */
bool odb_specials_count(struct odb_specials *out, const struct odb_tensor *target,
                        const struct odb_tensor *reference);
/* "2 NaN in both, 1 NaN in the target alone": those that say that the two differ, or, with all,
 * every kind that there is. Nothing where there is none. */
void odb_specials_put(const struct odb_specials *specials, bool all, struct odb_buf *out);

#endif
