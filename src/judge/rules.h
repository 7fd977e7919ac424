/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What must hold of pairs of tensors: a tolerance or a condition, for all of them, or for some by
 * name or element type. A file of rules has one per line, and the last that fits a pair counts:
 *
 *     # value            what must hold
 *     *                  allclose:1e-3,1e-5
 *     type:float16       cosine:0.999
 *     encoder.*          diff2:1e-2
 *     logits             diff2 < 1e-3 && cosine > 0.999
 */
#ifndef ODB_JUDGE_RULES_H
#define ODB_JUDGE_RULES_H

#include "base/buf.h"
#include "base/mem.h"
#include "compare/criterion.h"
#include "judge/condition.h"

struct odb_rule {
    char *pattern;                   /* owned; NULL: fits everything */
    char *text;                      /* owned: what must hold, as it was written */
    struct odb_criterion criterion;  /* where condition is NULL */
    struct odb_condition *condition; /* owned */
    bool met;                        /* a pair was judged that the pattern fits */
};

struct odb_rules {
    ODB_VEC(struct odb_rule) all;  /* must all hold, where no rule of a file fits */
    ODB_VEC(struct odb_rule) some; /* in the order of the file */
};

/* text: a tolerance of a fixed kind, or a condition on two tensors. ODB_E_USAGE. */
enum odb_status odb_rules_add(struct odb_rules *rules, const char *text,
                              struct odb_error *err) ODB_MUST_USE;
/* ODB_E_IO; ODB_E_USAGE with the line. */
enum odb_status odb_rules_read(struct odb_rules *rules, const char *path,
                               struct odb_error *err) ODB_MUST_USE;
void odb_rules_dispose(struct odb_rules *rules);

/* What the rules say of the pair in m. A pattern is a shell's, and fits the name, the name without
 * .npy or .pb, or that without a dump's number; "type:T" fits pairs whose base is of that type.
 * Kinds, types, shapes, NaN and Inf that do not match fail under any rule; a condition of which
 * nothing is known, as of strings, holds where the two are equal. reason: one phrase. */
enum odb_verdict odb_rules_judge(struct odb_rules *rules, const char *name, struct odb_measured *m,
                                 struct odb_buf *reason);
/* Threshold for odb_compare() that the rules for this pair want. */
double odb_rules_th(const struct odb_rules *rules, const char *name, const struct odb_tensor *base);
/* "'logit', 'type:int8'": patterns that fit none of the pairs judged so far; a name that is spelt
 * wrong leaves its value to another rule. */
void odb_rules_put_unmet(const struct odb_rules *rules, struct odb_buf *out);
/* "allclose", "allclose:1e-3 and cosine > 0.9", "allclose, or one of 3 rules by name and type". */
void odb_rules_put(const struct odb_rules *rules, struct odb_buf *out);

#endif
