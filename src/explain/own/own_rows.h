/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The user's own rows of the catalogue, from a text file:
 *
 *     NAME  OPERATORS  CHANGE [+ CHANGE …]  ["SENTENCE"]
 *
 *     no-bias  Conv|Gemm  input 2 missing  "the bias is not added"
 *
 * own_rows.c reads them, own.c is the family that tries them; onnxdbg-explain(7) tells users of it.
 */
#ifndef ODB_EXPLAIN_OWN_ROWS_H
#define ODB_EXPLAIN_OWN_ROWS_H

#include "base/error.h"
#include "base/mem.h"
#include "model/text/attr_read.h"

struct accused;
struct change;
struct number_type;
struct own_change;

/* What a change is: the words that begin it, and what follows them. */
struct own_kind {
    const char *on, *how; /* "input", "scaled"; how "": there is no second word */
    const char *takes;    /* of each word behind them a letter: n a number, w a whole number, i an
                             input, p an order of axes, t a type of numbers */
    const char *usage;    /* "input NAME scaled N" */
    /* Changes the call, or what was made; NULL: it leaves that as it is. */
    enum odb_status (*change)(const struct own_change *own, const struct accused *s,
                              struct change *c, struct odb_error *err);
    enum odb_status (*result)(const struct own_change *own, const struct accused *s,
                              struct odb_tensor **out, struct odb_error *err);
};
extern const struct own_kind own_kinds[]; /* ends with a NULL on */

#define OWN_AXES 8 /* of an order */

struct own_change {
    const struct own_kind *kind;    /* static */
    char *name, *other;             /* owned: the attribute or input; another input; NULL: none */
    struct odb_attr_value value;    /* of an attribute that is set, or by how much it is off */
    double numbers[2];              /* as the kind takes them */
    int perm[OWN_AXES], n_perm;     /* the same */
    const struct number_type *type; /* static; the same */
};

struct own_row {
    char *name, *ops; /* owned; ops "": any operator */
    char *text;       /* owned: the sentence, else the changes as they were written */
    ODB_VEC(struct own_change) changes;
};

struct odb_own_rows {
    ODB_VEC(struct own_row) items;
};

/* ODB_E_IO; ODB_E_USAGE names FILE:LINE. An operator, attribute or input that the reference does
 * not know is one, as a row that is never tried would be taken for one that does not fit. */
enum odb_status odb_own_rows_read(struct odb_own_rows **out, const char *path,
                                  struct odb_error *err) ODB_MUST_USE;
void odb_own_rows_free(struct odb_own_rows *rows); /* NULL is fine */

#endif
