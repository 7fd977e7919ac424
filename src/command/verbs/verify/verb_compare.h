/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `compare` has found, and the ways to print it.
 */
#ifndef ODB_COMMAND_VERBS_VERIFY_VERB_COMPARE_H
#define ODB_COMMAND_VERBS_VERIFY_VERB_COMPARE_H

#include "base/mem.h"
#include "judge/rules.h"

struct odb_command_call;

/* One name: a pair, or what one side alone has. */
struct odb_compared {
    char *name, *reason; /* owned */
    enum odb_verdict verdict;
    char *type[2];          /* owned: "float (1, 3)" of evaluated and base; NULL: missing */
    struct odb_measured m;  /* without tensors */
    char *worst;            /* owned: "[0,3]", of an item "2[0,3]"; "" where there is none */
    bool golden;            /* both, and numbers, were held against golden: diff3 of each from it */
    double max[2], mean[2]; /* of evaluated and base */
};

struct odb_comparison {
    ODB_VEC(struct odb_compared) rows;
    size_t passed, failed; /* pairs */
    size_t broken;         /* of those that failed: a side could not be read */
    size_t alone;          /* what has no counterpart */
    struct odb_rules rules;
    char *under;                         /* owned: the rules, in words */
    const struct odb_command_call *call; /* borrowed */
    struct odb_measure_options options;
    unsigned need;  /* what the columns need */
    size_t *column; /* owned: measures to be shown, by number */
    size_t n_columns;
    bool golden;    /* pairs have a third side: */
    double tag;     /* how many times farther from that than the base a value may be */
    bool json, tsv; /* how to print; else as a table */
    bool exact;     /* element types must be the same; else those of one class are compared: */
    bool by_value;  /* and those of different classes */
};

/* The columns of a table where none are named. */
#define ODB_COMPARISON_COLUMNS "max_abs,max_rel,mse,diff2,cosine,differing"

/* As --tol, --check, --tolerances, --types, --columns, --format, --top-k and --axis say. otherwise:
 * the tolerance where none is given. *out is to be disposed of also after failure. */
enum odb_status odb_comparison_begin(struct odb_comparison *comparison,
                                     const struct odb_command_call *call, bool golden,
                                     const char *otherwise, struct odb_error *err) ODB_MUST_USE;
void odb_comparison_dispose(struct odb_comparison *comparison);
/* Measures and judges a pair. golden NULL: there is no third side, or it lacks this. The row is
 * good until the next. */
const struct odb_compared *odb_comparison_add(struct odb_comparison *comparison, const char *name,
                                              const struct odb_tensor *evaluated,
                                              const struct odb_tensor *base,
                                              const struct odb_tensor *golden);
/* What has no counterpart, and why. */
void odb_comparison_add_alone(struct odb_comparison *comparison, const char *name, const char *why);
/* A pair, by its row, says nothing after all, for this reason: it counts as alone. */
void odb_comparison_withdraw(struct odb_comparison *comparison, size_t row, const char *why);
/* What could not be read of a side, for this reason: a row like any other, so that one broken file
 * does not hide the others. Memory that ran out and cancelling are handed on. */
enum odb_status odb_comparison_add_broken(struct odb_comparison *comparison, const char *name,
                                          enum odb_status status, struct odb_error *why,
                                          struct odb_error *err) ODB_MUST_USE;

/* Warns of rules that fitted nothing. */
void odb_comparison_warn(const struct odb_comparison *comparison, struct odb_command_call *call);

/* In the form that was asked for: a table; TSV, which is a line of names, then one per row, numbers
 * in digits that give them back and nothing where there is none; JSON. */
void odb_comparison_put(const struct odb_comparison *comparison, struct odb_buf *out);

#endif
