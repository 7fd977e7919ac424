/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A formula as a tree: what formula_parse.c makes and formula.c computes.
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
    enum formula_operator operator;
    size_t function; /* CALL: of formula_functions() */
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

/* What is computed of the values of a call's terms; all of these are borrowed. */
typedef enum odb_status formula_function(struct odb_tensor **out, struct odb_tensor *const *in,
                                         size_t n, struct odb_error *err);
struct formula_row {
    const char *name;
    size_t least, most; /* terms */
    formula_function *run;
    const char *help; /* its terms */
};
/* By name; the number of rows and more: there is no such function. */
size_t formula_function_find(const char *name, size_t len);
const struct formula_row *formula_function_row(size_t function);

#endif
