/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What `compare` has found, and the ways to print it.
 */
#ifndef ODB_COMMAND_COMPARE_H
#define ODB_COMMAND_COMPARE_H

#include "base/buf.h"
#include "base/mem.h"
#include "compare/measure.h"
#include "compare/verdict.h"

/* One name: a pair, or what one side alone has. */
struct odb_compared {
    char *name, *reason; /* owned */
    enum odb_verdict verdict;
    char *type[2];          /* owned: "float (1, 3)" of evaluated and base; NULL: missing */
    struct odb_measured m;  /* without tensors */
    char *worst;            /* owned: "[0,3]", of an item "2[0,3]"; "" where there is none */
    bool golden;            /* both were held against golden: diff3 of each from it */
    double max[2], mean[2]; /* of evaluated and base */
};

struct odb_comparison {
    ODB_VEC(struct odb_compared) rows;
    size_t passed, failed;
    char *rules;    /* owned: under which */
    size_t *column; /* owned: measures to be shown, by number */
    size_t n_columns;
    bool golden;
};

/* The columns of a table where none are named. */
#define ODB_COMPARISON_COLUMNS "max_abs,max_rel,mse,diff2,cosine,differing"

void odb_comparison_dispose(struct odb_comparison *comparison);
void odb_comparison_put_table(const struct odb_comparison *comparison, struct odb_buf *out);
/* A line of names, then one per row; numbers in digits that give them back, nothing where there is
 * none. */
void odb_comparison_put_tsv(const struct odb_comparison *comparison, struct odb_buf *out);
void odb_comparison_put_json(const struct odb_comparison *comparison, struct odb_buf *out);

#endif
