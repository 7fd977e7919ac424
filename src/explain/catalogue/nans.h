/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What becomes of NaN where the largest or smallest of several numbers is looked for, one after the
 * other: as a comparison with NaN is false, it depends on which of two is kept then.
 */
#ifndef ODB_EXPLAIN_CATALOGUE_NANS_H
#define ODB_EXPLAIN_CATALOGUE_NANS_H

#include "explain/variant.h"

/* The operators that look for it. */
#define NANS_LARGEST "Max|ReduceMax|MaxPool|GlobalMaxPool|ArgMax"
#define NANS_SMALLEST "Min|ReduceMin|ArgMin"

/* A row's choose() and change(). */
enum choice nans_choose(const struct accused *s, size_t k, struct variant *v);
enum odb_status nans_change(const struct variant *v, const struct accused *s, struct change *c,
                            struct odb_error *err) ODB_MUST_USE;

/* Of Clip, where NaN becomes a bound: choose() and result(). */
enum choice nans_choose_bound(const struct accused *s, size_t k, struct variant *v);
enum odb_status nans_result_bound(const struct variant *v, const struct accused *s,
                                  struct odb_tensor **out, struct odb_error *err) ODB_MUST_USE;

#endif
