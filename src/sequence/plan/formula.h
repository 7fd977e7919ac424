/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The formulas of a plan: `position_ids[:,-1:]+1`, `concat(attention_mask,ones(1,n),1)`,
 * `where(t>0,h,zeros(2,1,64))`. They are of numbers, names, the operators + - * // % < <= > >= ==
 * !=, slices and a few functions. Nothing else: no loops, no files.
 *
 * A name is that of an input, as it was fed, or of an output, as it was given, one step before
 * (feeds and held inputs: of this step); in quotes, 'a/b' or "a/b", it may have any characters.
 * Without quotes t is the step, n how many pieces of the feeds it takes, past how many those before
 * took, and total both.
 *
 *     concat(x,…,axis)    ones(dim,…)  zeros(dim,…)  full(number,dim,…)  arange([from,]to)
 *     gather(x,places[,axis])    put(x,place,y,axis): y stands in x from a place of the axis on
 *     roll(x,by[,axis])    cumsum(x[,axis])    argmax(x[,axis])    len(x[,axis])
 *     where(condition,x,y): of one condition it is x or y whole, and the other is not computed
 *
 * The axis is the last one where none is given; for gather and len the first. All else is NumPy's:
 * broadcasting, slices, division, NaN. A name alone, a slice, and concat, where, put, roll and
 * gather of one type keep it, bit for bit. Numbers and arithmetic are int64, or float64 where one
 * of the two has floats; comparisons are bool.
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
    int64_t most; /* elements that it may make, all that come in between counted; 0: 2^28 */
};

/* ODB_E_USAGE says what is wrong, and at which character. */
enum odb_status odb_formula_parse(struct odb_formula **out, const char *text,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_formula_free(struct odb_formula *formula); /* NULL is fine */
/* The i-th name that it reads (t, n, past and total are none); NULL: no more. Borrowed. */
const char *odb_formula_name(const struct odb_formula *formula, size_t i);
/* *out: a reference of the caller's. ODB_E_INPUT: shapes do not fit, an index is out of range, a
 * name is unknown, or too many elements would be made; it says where in the formula. */
enum odb_status odb_formula_value(struct odb_tensor **out, const struct odb_formula *formula,
                                  const struct odb_formula_scope *scope,
                                  struct odb_error *err) ODB_MUST_USE;

#endif
