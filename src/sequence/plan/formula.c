/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a formula comes to: operators, names, slices. Its functions are in formula_functions.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/formula_int.h"
#include "tensor/dtype.h"
#include "tensor/tensor_print.h"

#define FORMULA_MOST ((size_t)1 << 28) /* elements of a result */

struct formula_run {
    const struct odb_formula *formula;
    const struct odb_formula_scope *scope;
    struct odb_error *err;
};

static enum odb_status formula_value(struct odb_tensor **out, const struct formula_run *run,
                                     const struct formula_term *term);

static enum odb_status formula_fail(const struct formula_run *run, const struct formula_term *term,
                                    const char *what)
{
    return odb_fail(run->err, ODB_E_INPUT, "formula '%.200s': %s, at character %zu",
                    run->formula->text, what, term->at + 1);
}

static enum odb_status formula_scalar(struct odb_tensor **out, enum odb_dtype dtype, int64_t i,
                                      double f, struct odb_error *err)
{
    ODB_TRY(odb_tensor_new(out, dtype, 0, NULL, err));
    if (dtype == ODB_F64)
        *(double *)(*out)->data = f;
    else
        *(int64_t *)(*out)->data = i;
    return ODB_OK;
}

/* --- operators -------------------------------------------------------------------------------- */

/* Rounds to minus infinity, as Python does; 0 for a division by zero. */
static int64_t formula_floor(int64_t a, int64_t b)
{
    if (!b)
        return 0;
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t formula_integer(enum formula_operator operator, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (operator) {
    case FORMULA_ADD:
        return (int64_t)(x + y);
    case FORMULA_SUBTRACT:
        return (int64_t)(x - y);
    case FORMULA_MULTIPLY:
        return (int64_t)(x * y);
    case FORMULA_DIVIDE:
        return formula_floor(a, b);
    case FORMULA_MODULO:
        return b ? (int64_t)(x - (uint64_t)formula_floor(a, b) * y) : 0;
    case FORMULA_LESS:
        return a < b;
    case FORMULA_LESS_EQUAL:
        return a <= b;
    case FORMULA_GREATER:
        return a > b;
    case FORMULA_GREATER_EQUAL:
        return a >= b;
    case FORMULA_EQUAL:
        return a == b;
    case FORMULA_UNEQUAL:
        break;
    }
    return a != b;
}

static double formula_real(enum formula_operator operator, double a, double b)
{
    switch (operator) {
    case FORMULA_ADD:
        return a + b;
    case FORMULA_SUBTRACT:
        return a - b;
    case FORMULA_MULTIPLY:
        return a * b;
    case FORMULA_DIVIDE:
        return floor(a / b);
    case FORMULA_MODULO:
        return a - floor(a / b) * b;
    case FORMULA_LESS:
        return a < b;
    case FORMULA_LESS_EQUAL:
        return a <= b;
    case FORMULA_GREATER:
        return a > b;
    case FORMULA_GREATER_EQUAL:
        return a >= b;
    case FORMULA_EQUAL:
        return a == b;
    case FORMULA_UNEQUAL:
        break;
    }
    return a != b;
}

/* The element of t that stands at place i of the broadcast shape. */
static size_t formula_place(const struct odb_tensor *t, int rank, const int64_t *dims, size_t i)
{
    size_t at = 0, step = 1;
    for (int axis = rank - 1, own = t->rank - 1; axis >= 0; axis--, own--) {
        size_t k = i % (size_t)dims[axis];
        i /= (size_t)dims[axis];
        if (own < 0)
            continue;
        at += t->dims[own] == 1 ? 0 : k * step;
        step *= (size_t)t->dims[own];
    }
    return at;
}

static enum odb_status formula_shape(int64_t *dims, int *rank, const struct odb_tensor *a,
                                     const struct odb_tensor *b)
{
    *rank = ODB_MAX(a->rank, b->rank);
    for (int i = 1; i <= *rank; i++) {
        int64_t x = i <= a->rank ? a->dims[a->rank - i] : 1;
        int64_t y = i <= b->rank ? b->dims[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1)
            return ODB_E_INPUT;
        dims[*rank - i] = x == 1 ? y : x;
    }
    return ODB_OK;
}

static enum odb_status formula_operate(struct odb_tensor **out, const struct formula_run *run,
                                       const struct formula_term *term, const struct odb_tensor *a,
                                       const struct odb_tensor *b)
{
    int64_t dims[ODB_MAX_RANK];
    int rank;
    bool real = odb_dtype_is_float(a->dtype) || odb_dtype_is_float(b->dtype);
    bool compares = term->operator>= FORMULA_LESS;
    if (formula_shape(dims, &rank, a, b) != ODB_OK)
        return formula_fail(run, term, "shapes do not fit");
    enum odb_dtype dtype = compares ? ODB_BOOL : real ? ODB_F64 : ODB_I64;
    ODB_TRY(odb_tensor_new(out, dtype, rank, dims, run->err));
    for (size_t i = 0; i < (*out)->count; i++) {
        size_t x = formula_place(a, rank, dims, i), y = formula_place(b, rank, dims, i);
        if (real)
            odb_store_f64(dtype, (*out)->data, i,
                          formula_real(term->operator, odb_tensor_f64(a, x), odb_tensor_f64(b, y)));
        else
            odb_store_i64(
                dtype, (*out)->data, i,
                formula_integer(term->operator, odb_tensor_i64(a, x), odb_tensor_i64(b, y)));
    }
    return ODB_OK;
}

/* --- names and slices ------------------------------------------------------------------------- */

static enum odb_status formula_name(struct odb_tensor **out, const struct formula_run *run,
                                    const struct formula_term *term)
{
    const struct odb_formula_scope *scope = run->scope;
    const struct {
        const char *name;
        int64_t value;
    } own[] = {{"t", scope->t}, {"n", scope->n}, {"past", scope->past}, {"total", scope->total}};
    for (size_t i = 0; i < ODB_COUNT(own); i++)
        if (!strcmp(term->text, own[i].name))
            return formula_scalar(out, ODB_I64, own[i].value, 0, run->err);
    const struct odb_tensor *t = scope->find ? scope->find(scope->payload, term->text) : NULL;
    char what[200];
    snprintf(what, sizeof what, t ? "%.100s has no numbers here" : "%.100s has no value here",
             term->text);
    if (!t || t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING)
        return formula_fail(run, term, what);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

/* The slice with its numbers in it. */
static enum odb_status formula_slice(struct odb_tensor **out, const struct formula_run *run,
                                     const struct formula_term *term, struct odb_tensor *const *in)
{
    struct odb_buf text = ODB_BUF_INIT;
    size_t at = 1;
    for (const char *p = term->text; *p; p++) {
        if (*p != '#') {
            odb_buf_putc(&text, *p);
        } else if (in[at]->count == 1 && !odb_dtype_is_float(in[at]->dtype)) {
            odb_buf_printf(&text, "%lld", (long long)odb_tensor_i64(in[at++], 0));
        } else {
            odb_buf_dispose(&text);
            return formula_fail(run, term, "an entry of a slice is no whole number");
        }
    }
    enum odb_status status = odb_slice(out, in[0], odb_buf_text(&text), run->err);
    odb_buf_dispose(&text);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status formula_of_terms(struct odb_tensor **out, const struct formula_run *run,
                                        const struct formula_term *term,
                                        struct odb_tensor *const *in)
{
    if (term->kind == FORMULA_OPERATOR)
        return formula_operate(out, run, term, in[0], in[1]);
    if (term->kind == FORMULA_SLICE)
        return formula_slice(out, run, term, in);
    enum odb_status status =
        formula_function_row(term->function)->run(out, in, term->terms.n, run->err);
    if (status != ODB_OK && run->err && !run->err->where[0])
        odb_error_at(run->err, "formula '%.160s', %s()", run->formula->text,
                     formula_function_row(term->function)->name);
    return status;
}

static enum odb_status formula_value(struct odb_tensor **out, const struct formula_run *run,
                                     const struct formula_term *term)
{
    struct odb_tensor **in;
    enum odb_status status = ODB_OK;
    *out = NULL;
    if (term->kind == FORMULA_INTEGER)
        return formula_scalar(out, ODB_I64, term->integer, 0, run->err);
    if (term->kind == FORMULA_REAL)
        return formula_scalar(out, ODB_F64, 0, term->real, run->err);
    if (term->kind == FORMULA_NAME)
        return formula_name(out, run, term);
    in = odb_new_n(struct odb_tensor *, term->terms.n + 1);
    for (size_t i = 0; i < term->terms.n && status == ODB_OK; i++)
        status = formula_value(&in[i], run, term->terms.items[i]);
    if (status == ODB_OK)
        status = formula_of_terms(out, run, term, in);
    if (status == ODB_OK && (*out)->count > FORMULA_MOST)
        status = formula_fail(run, term, "it has too many elements");
    for (size_t i = 0; i < term->terms.n; i++)
        odb_tensor_unref(in[i]);
    free(in);
    if (status != ODB_OK) {
        odb_tensor_unref(*out);
        *out = NULL;
    }
    return status;
}

enum odb_status odb_formula_value(struct odb_tensor **out, const struct odb_formula *formula,
                                  const struct odb_formula_scope *scope, struct odb_error *err)
{
    struct formula_run run = {formula, scope, err};
    return formula_value(out, &run, formula->root);
}
