/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The formulas of a plan: `position_ids[:,-1:]+1`, `concat(attention_mask,ones(1,n),1)`,
 * `where(t>0,present,past)`. Numbers, names (inputs as they were fed and outputs as they were given
 * one step before), t (the step), n (pieces of this step), past (of those before), total (both); +
 * -
 * * // % and comparisons, slices, and the functions concat ones zeros full arange cumsum argmax
 * where put roll len gather. Nothing else: no loops, no files.
 *
 * Broadcasting and slices are NumPy's. A name alone, a slice, concat, where, put, roll and gather
 * of one type keep it, bit for bit; numbers and arithmetic are int64, or float64 where an operand
 * is of floats.
 */
#ifndef ODB_SEQUENCE_PLAN_FORMULA_H
#define ODB_SEQUENCE_PLAN_FORMULA_H

#include "base/error.h"
#include "tensor/tensor.h"

struct odb_formula; /* parsed */

/* What the names stand for. */
struct odb_formula_scope {
    const struct odb_tensor *(*find)(void *payload, const char *name); /* borrowed; NULL: no such */
    void *payload;
    int64_t t, n, past, total;
};

/* ODB_E_USAGE says what is wrong, and at which character. */
enum odb_status odb_formula_parse(struct odb_formula **out, const char *text,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_formula_free(struct odb_formula *formula); /* NULL is fine */
/* The i-th name that it reads (t, n, past and total are none); NULL: there are no more. Borrowed.
 */
const char *odb_formula_name(const struct odb_formula *formula, size_t i);
/* *out: a reference of the caller's. ODB_E_INPUT: shapes do not fit, an index is out of range, a
 * name is unknown, or the result has more than 2^28 elements. */
enum odb_status odb_formula_value(struct odb_tensor **out, const struct odb_formula *formula,
                                  const struct odb_formula_scope *scope,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
