/* SPDX-License-Identifier: MIT
 *
 * From a key to its place in a list, for operators whose attributes are dictionaries: keys are
 * 64-bit integers or strings. Of equal keys the last one counts.
 */
#ifndef ODB_KERNELS_TEXT_LOOKUP_H
#define ODB_KERNELS_TEXT_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/tensor.h"

#define ODB_LOOKUP_NONE SIZE_MAX

struct odb_lookup {
    size_t *order; /* owned: places, by key and then by place */
    size_t n;
    const int64_t *ints;           /* borrowed; NULL: keys are strings */
    const struct odb_str *strings; /* borrowed */
};

/* Exactly one of ints and strings is looked at; it must outlive the lookup. */
void odb_lookup_init(struct odb_lookup *l, const int64_t *ints, const struct odb_str *strings,
                     size_t n);
void odb_lookup_dispose(struct odb_lookup *l);

/* The place of a key, or ODB_LOOKUP_NONE. */
size_t odb_lookup_int(const struct odb_lookup *l, int64_t key);
size_t odb_lookup_string(const struct odb_lookup *l, struct odb_str key);

/* Byte order, the shorter one first. */
int odb_str_order(struct odb_str a, struct odb_str b);

#endif
