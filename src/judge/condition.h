/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conditions of breakpoints, watchpoints and comparisons, over what is known of one value:
 *
 *     error > 1e-3 && !(dtype == float16 || shape == [1, *])
 *
 * Names are listed by odb_condition_name(); those of compare/inspect/measure.h are names as well.
 * What is not known of a value, or is NaN, makes neither true nor false: `error > 1` and `!(error >
 * 1)` both do not hold where it was not judged.
 */
#ifndef ODB_JUDGE_CONDITION_H
#define ODB_JUDGE_CONDITION_H

#include "base/buf.h"
#include "compare/inspect/measure.h"
#include "run/value_report.h"

/* What a condition is asked about. */
struct odb_condition_facts {
    const struct odb_value_report *report; /* borrowed; NULL: not judged */
    const struct odb_tensor *target;       /* borrowed: what the target gave; NULL: nothing */
    const struct odb_tensor *reference;    /* borrowed; NULL: not had */
    struct odb_measured *measured;         /* borrowed; where measures are kept; NULL: nowhere */
    const long *step;                      /* borrowed; of a sequence; NULL: the model is in none */
};

struct odb_condition;

/* ODB_E_USAGE names the column, counted from 1, and what could stand there. */
enum odb_status odb_condition_parse(struct odb_condition **out, const char *text,
                                    struct odb_error *err) ODB_MUST_USE;
void odb_condition_free(struct odb_condition *condition); /* NULL is fine */

enum odb_truth { ODB_FALSE, ODB_UNKNOWN, ODB_TRUE };
enum odb_truth odb_condition_ask(const struct odb_condition *condition,
                                 const struct odb_condition_facts *facts);
/* Whether it is known to be true. */
bool odb_condition_holds(const struct odb_condition *condition,
                         const struct odb_condition_facts *facts);

/* "diff2 0.0123, cosine 0.9": the measures that the condition is about, as far as they are had. */
void odb_condition_put_measures(const struct odb_condition *condition,
                                const struct odb_measured *measured, struct odb_buf *out);

/* A name in it of which two tensors tell nothing, as a search alone does; NULL: there is none. */
const char *odb_condition_searched(const struct odb_condition *condition);

/* The i-th name that a condition may begin with, and what it means; NULL: there are no more.
 * Measures come last. */
const char *odb_condition_name(size_t i, const char **help);
/* Whether "ref." may stand before it. */
bool odb_condition_of_reference(size_t i);

#endif
