/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stands in the padding of a convolution or a pool: zeros, or numbers of the input.
 */
#ifndef ODB_EXPLAIN_CATALOGUE_PADDED_H
#define ODB_EXPLAIN_CATALOGUE_PADDED_H

#include "explain/variant.h"

/* A row's choose() and change(). */
enum choice padded_choose(const struct accused *s, size_t k, struct variant *v);
enum odb_status padded_change(const struct variant *v, const struct accused *s, struct change *c,
                              struct odb_error *err) ODB_MUST_USE;

#endif
