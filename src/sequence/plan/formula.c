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

#define FORMULA_MOST ((int64_t)1 << 28)

enum odb_status formula_fail(struct formula_run *run, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return odb_fail(run->err, ODB_E_INPUT, "formula '%.200s', character %zu: %s",
                    run->formula->text, run->term->at + 1, what);
}

enum odb_status formula_new(struct odb_tensor **out, struct formula_run *run, enum odb_dtype dtype,
                            int rank, const int64_t *dims)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return formula_fail(run, "a dimension of %lld", (long long)dims[i]);
        if (dims[i] && count > run->left / dims[i])
            return formula_fail(run, "that makes too many elements");
        count *= ODB_MAX(dims[i], 1);
    }
    run->left -= count;
    return odb_tensor_new_raw(out, dtype, rank, dims, run->err);
}

/* --- several tensors -------------------------------------------------------------------------- */

enum odb_status formula_shape(int64_t *dims, int *rank, struct formula_run *run,
                              struct odb_tensor *const *in, size_t n)
{
    *rank = 0;
    for (size_t k = 0; k < n; k++)
        *rank = ODB_MAX(*rank, in[k]->rank);
    for (int axis = 0; axis < *rank; axis++) {
        dims[axis] = 1;
        for (size_t k = 0; k < n; k++) {
            int own = axis - (*rank - in[k]->rank);
            int64_t size = own < 0 ? 1 : in[k]->dims[own];
            if (size != 1 && dims[axis] != 1 && size != dims[axis])
                return formula_fail(run, "shapes do not fit: %lld and %lld on axis %d",
                                    (long long)dims[axis], (long long)size, axis);
            dims[axis] = size == 1 ? dims[axis] : size;
        }
    }
    return ODB_OK;
}

size_t formula_place(const struct odb_tensor *t, int rank, const int64_t *dims, size_t count,
                     size_t i)
{
    size_t at = 0, step = 1;
    if (t->count == 1 || t->count == count)
        return t->count == 1 ? 0 : i;
    for (int axis = rank - 1, own = t->rank - 1; own >= 0; axis--, own--) {
        at += t->dims[own] == 1 ? 0 : i % (size_t)dims[axis] * step;
        i /= (size_t)dims[axis];
        step *= (size_t)t->dims[own];
    }
    return at;
}

enum odb_status formula_alike(struct odb_tensor **out, struct formula_run *run,
                              struct odb_tensor *const *in, size_t n)
{
    bool alike = true, real = false;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        alike &= in[i]->dtype == in[0]->dtype;
        real |= odb_dtype_is_float(in[i]->dtype);
    }
    for (size_t i = 0; i < n; i++) {
        bool complex = odb_dtype_info(in[i]->dtype)->class_ == ODB_CLASS_COMPLEX;
        if (!alike && complex)
            return formula_fail(run, "complex numbers keep to themselves");
        if (alike)
            out[i] = odb_tensor_ref(in[i]);
        else
            ODB_TRY(odb_tensor_cast(&out[i], in[i], real ? ODB_F64 : ODB_I64, run->err));
    }
    return ODB_OK;
}

/* --- operators -------------------------------------------------------------------------------- */

/* Rounds to minus infinity; 0 for a division by zero. */
static int64_t formula_floor(int64_t a, int64_t b)
{
    if (!b)
        return 0;
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* Of the divisor's sign, and exact where a - floor(a / b) * b is not. */
static double formula_rest(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

static double formula_floor_real(double a, double b)
{
    if (b == 0)
        return a / b;
    double rest = fmod(a, b), q = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, a / b);
    return floor(q) + (q - floor(q) > 0.5);
}

/* Neither of the three where one is NaN. */
static bool formula_compare(enum formula_operator op, bool less, bool equal, bool greater)
{
    switch (op) {
    case FORMULA_LESS:
        return less;
    case FORMULA_LESS_EQUAL:
        return less || equal;
    case FORMULA_GREATER:
        return greater;
    case FORMULA_GREATER_EQUAL:
        return greater || equal;
    case FORMULA_EQUAL:
        return equal;
    default:
        return !equal;
    }
}

static int64_t formula_integer(enum formula_operator op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
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
    default:
        return formula_compare(op, a < b, a == b, b < a);
    }
}

static double formula_real(enum formula_operator op, double a, double b)
{
    switch (op) {
    case FORMULA_ADD:
        return a + b;
    case FORMULA_SUBTRACT:
        return a - b;
    case FORMULA_MULTIPLY:
        return a * b;
    case FORMULA_DIVIDE:
        return formula_floor_real(a, b);
    case FORMULA_MODULO:
        return formula_rest(a, b);
    default:
        return formula_compare(op, a < b, a == b, b < a);
    }
}

static enum odb_status formula_operate(struct odb_tensor **out, struct formula_run *run,
                                       struct odb_tensor *const *in)
{
    const struct odb_tensor *a = in[0], *b = in[1];
    enum formula_operator op = run->term->op;
    int64_t dims[ODB_MAX_RANK];
    int rank;
    bool real = odb_dtype_is_float(a->dtype) || odb_dtype_is_float(b->dtype);
    enum odb_dtype dtype = op >= FORMULA_LESS ? ODB_BOOL : real ? ODB_F64 : ODB_I64;
    for (int i = 0; i < 2; i++)
        if (odb_dtype_info(in[i]->dtype)->class_ == ODB_CLASS_COMPLEX)
            return formula_fail(run, "there is no arithmetic with complex numbers");
    ODB_TRY(formula_shape(dims, &rank, run, in, 2));
    ODB_TRY(formula_new(out, run, dtype, rank, dims));
    size_t n = (*out)->count;
    for (size_t i = 0; i < n; i++) {
        size_t x = formula_place(a, rank, dims, n, i), y = formula_place(b, rank, dims, n, i);
        if (real)
            odb_store_f64(dtype, (*out)->data, i,
                          formula_real(op, odb_tensor_f64(a, x), odb_tensor_f64(b, y)));
        else
            odb_store_i64(dtype, (*out)->data, i,
                          formula_integer(op, odb_tensor_i64(a, x), odb_tensor_i64(b, y)));
    }
    return ODB_OK;
}

/* --- names and slices ------------------------------------------------------------------------- */

static enum odb_status formula_scalar(struct odb_tensor **out, struct formula_run *run,
                                      enum odb_dtype dtype, int64_t i, double f)
{
    ODB_TRY(formula_new(out, run, dtype, 0, NULL));
    if (dtype == ODB_F64)
        odb_store_f64(dtype, (*out)->data, 0, f);
    else
        odb_store_i64(dtype, (*out)->data, 0, i);
    return ODB_OK;
}

static enum odb_status formula_named(struct odb_tensor **out, struct formula_run *run)
{
    const struct odb_formula_scope *scope = run->scope;
    const char *name = run->term->text;
    const struct odb_tensor *t = scope->find ? scope->find(scope->payload, name) : NULL;
    if (!t)
        return formula_fail(run, "%.100s has no value here", name);
    if (t->kind != ODB_TENSOR || !t->data || t->dtype == ODB_STRING)
        return formula_fail(run, "%.100s has no numbers here", name);
    *out = odb_tensor_ref(t);
    return ODB_OK;
}

/* The slice with its numbers in it. */
static enum odb_status formula_slice(struct odb_tensor **out, struct formula_run *run,
                                     struct odb_tensor *const *in)
{
    struct odb_buf text = ODB_BUF_INIT;
    struct odb_error why = ODB_ERROR_INIT;
    enum odb_status status = ODB_OK;
    size_t at = 1;
    for (const char *p = run->term->text; *p && status == ODB_OK; p++) {
        const struct odb_tensor *t = *p == '#' ? in[at++] : NULL;
        if (!t)
            odb_buf_putc(&text, *p);
        else if (t->count == 1 && odb_dtype_is_integer(t->dtype))
            odb_buf_printf(&text, "%lld", (long long)odb_tensor_i64(t, 0));
        else
            status = formula_fail(run, "an entry of the slice is no whole number");
    }
    if (status == ODB_OK && odb_slice(out, in[0], odb_buf_text(&text), &why) != ODB_OK)
        status = formula_fail(run, "%s", why.what);
    odb_buf_dispose(&text);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum odb_status formula_value(struct odb_tensor **out, struct formula_run *run,
                                     const struct formula_term *term);

static enum odb_status formula_of_terms(struct odb_tensor **out, struct formula_run *run,
                                        const struct formula_term *term)
{
    const struct formula_row *row =
        term->kind == FORMULA_CALL ? formula_function_row(term->function) : NULL;
    struct odb_tensor **in = odb_new_n(struct odb_tensor *, term->terms.n + 1);
    enum odb_status status = ODB_OK;
    bool chosen = false;
    for (size_t i = 0; i < term->terms.n && status == ODB_OK && !chosen; i++) {
        status = formula_value(&in[i], run, term->terms.items[i]);
        chosen = status == ODB_OK && i == 0 && row && row->chooses && in[0]->count == 1;
    }
    if (chosen)
        status = formula_value(out, run, term->terms.items[odb_tensor_f64(in[0], 0) != 0 ? 1 : 2]);
    run->term = term;
    if (status == ODB_OK && !chosen)
        status = row                              ? row->run(out, run, in, term->terms.n)
                 : term->kind == FORMULA_OPERATOR ? formula_operate(out, run, in)
                                                  : formula_slice(out, run, in);
    for (size_t i = 0; i < term->terms.n; i++)
        odb_tensor_unref(in[i]);
    free(in);
    return status;
}

/* *out is NULL on failure. */
static enum odb_status formula_value(struct odb_tensor **out, struct formula_run *run,
                                     const struct formula_term *term)
{
    const struct odb_formula_scope *scope = run->scope;
    const int64_t counts[] = {scope->t, scope->n, scope->past, scope->total};
    enum odb_status status = ODB_OK;
    *out = NULL;
    run->term = term;
    switch (term->kind) {
    case FORMULA_INTEGER:
        return formula_scalar(out, run, ODB_I64, term->integer, 0);
    case FORMULA_REAL:
        return formula_scalar(out, run, ODB_F64, 0, term->real);
    case FORMULA_COUNT:
        return formula_scalar(out, run, ODB_I64, counts[term->integer], 0);
    case FORMULA_NAME:
        return formula_named(out, run);
    case FORMULA_OPERATOR:
    case FORMULA_CALL:
    case FORMULA_SLICE:
        status = formula_of_terms(out, run, term);
    }
    if (status != ODB_OK) {
        odb_tensor_unref(*out);
        *out = NULL;
    }
    return status;
}

enum odb_status odb_formula_value(struct odb_tensor **out, const struct odb_formula *formula,
                                  const struct odb_formula_scope *scope, struct odb_error *err)
{
    struct formula_run run = {.formula = formula,
                              .scope = scope,
                              .left = scope->most ? scope->most : FORMULA_MOST,
                              .err = err};
    return formula_value(out, &run, formula->root);
}
