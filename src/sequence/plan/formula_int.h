/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A formula as a tree: what formula_parse.c makes, formula.c and formula_functions.c compute.
 */
#ifndef ODB_SEQUENCE_PLAN_FORMULA_INT_H
#define ODB_SEQUENCE_PLAN_FORMULA_INT_H

#include "base/buf.h"
#include "base/mem.h"
#include "sequence/plan/formula.h"

#define FORMULA_DEPTH 40  /* of brackets in brackets */
#define FORMULA_TERMS 400 /* numbers, names, operators, calls */

enum formula_kind {
    FORMULA_INTEGER,
    FORMULA_REAL,
    FORMULA_COUNT, /* integer: its place in "t", "n", "past", "total" */
    FORMULA_NAME,
    FORMULA_OPERATOR,
    FORMULA_CALL,
    FORMULA_SLICE, /* terms[0] is cut; the others are the entries' numbers, as text says */
};

enum formula_operator {
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE, /* floor */
    FORMULA_MODULO,
    FORMULA_LESS,
    FORMULA_LESS_EQUAL,
    FORMULA_GREATER,
    FORMULA_GREATER_EQUAL,
    FORMULA_EQUAL,
    FORMULA_UNEQUAL
};

struct formula_term {
    enum formula_kind kind;
    enum formula_operator op;
    size_t function; /* CALL: see formula_function_row() */
    int64_t integer;
    double real;
    char *text; /* owned; NAME: it; SLICE: "[:,#:,0]", where # is the next of the terms */
    size_t at;  /* in the formula, for errors */
    ODB_VEC(struct formula_term *) terms; /* owned */
};

struct odb_formula {
    char *text;                /* owned */
    struct formula_term *root; /* owned */
    ODB_VEC(char *) names;     /* owned */
};

/* One computation, and what of it is being computed. */
struct formula_run {
    const struct odb_formula *formula;
    const struct odb_formula_scope *scope;
    const struct formula_term *term;
    int64_t left; /* elements that may still be made */
    struct odb_error *err;
};

/* ODB_E_INPUT with formula and place. */
enum odb_status formula_fail(struct formula_run *run, const char *fmt, ...) ODB_PRINTF(2, 3);
/* Uninitialised, of what may still be made. */
enum odb_status formula_new(struct odb_tensor **out, struct formula_run *run, enum odb_dtype dtype,
                            int rank, const int64_t *dims) ODB_MUST_USE;
/* The shape that n tensors have together, as NumPy broadcasts. */
enum odb_status formula_shape(int64_t *dims, int *rank, struct formula_run *run,
                              struct odb_tensor *const *in, size_t n) ODB_MUST_USE;
/* The element of t that stands at place i of count in such a shape. */
size_t formula_place(const struct odb_tensor *t, int rank, const int64_t *dims, size_t count,
                     size_t i);
/* All in one type: their own where that is one, else float64 where any has floats, else int64. Refs
 * of the caller's, or NULL, on failure too. */
enum odb_status formula_alike(struct odb_tensor **out, struct formula_run *run,
                              struct odb_tensor *const *in, size_t n) ODB_MUST_USE;

/* What is computed of the values of a call's terms, borrowed. */
typedef enum odb_status formula_function(struct odb_tensor **out, struct formula_run *run,
                                         struct odb_tensor *const *in, size_t n);
struct formula_row {
    const char *name;
    size_t least, most; /* terms */
    formula_function *run;
    bool chooses; /* where the first term is one element, that chooses the second or the third */
    const char *help; /* its terms */
};
/* By name; the number of rows and more: there is no such function. */
size_t formula_function_find(const char *name, size_t len);
const struct formula_row *formula_function_row(size_t function); /* NULL: there is no such row */

#endif
