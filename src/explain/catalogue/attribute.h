/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that misreads an attribute has still made room for the right shape: for rows of more
 * than one family that change attributes.
 */
#ifndef ODB_EXPLAIN_CATALOGUE_ATTRIBUTE_H
#define ODB_EXPLAIN_CATALOGUE_ATTRIBUTE_H

#include "explain/variant.h"

/* After a list of a convolution or a pool was changed: the ends of its pads become what the shape
 * of the target's output leaves. */
void attribute_settle(const struct accused *s, struct change *c);
/* The pads of a convolution or a pool whose channels stand before the rest, also where auto_pad
 * says them: all begins, then all ends, pads: [2 * VARIANT_LIST], n of them. False: it has none. */
bool attribute_pads(const struct accused *s, int64_t *pads, size_t *n);
/* A result() that cuts output 0 to the target's shape, where it is larger, and gives it that shape
 * where it has as many elements. */
enum odb_status attribute_cut_off(const struct variant *v, const struct accused *s,
                                  struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

#endif
