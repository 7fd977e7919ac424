/* SPDX-License-Identifier: MIT
 *
 * Functions of one element: y = f(x), any shape. Square root, log, sin and cos of float are the C
 * library's float functions, which are within an ulp; exp, tanh and erf of float are those of
 * floatmath.h, within two; the others are computed in double and rounded once.
 */
#include <tgmath.h>

#include "base/mem.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/core/floatmath.h"

/* --- float ------------------------------------------------------------------------------------ */

#define UNARY_FLOAT(name, ...) ODB_EW_UNARY(name, ODB_EW_FLOATS, __VA_ARGS__)
#define UNARY_DOUBLE(name) UNARY_FLOAT(name, name((double)a))
#define UNARY_SINGLE(name) UNARY_FLOAT(name, ODB_SINGLE(a, name)(a))

UNARY_FLOAT(sqrt, sqrt(a))
UNARY_FLOAT(reciprocal, 1 / a)
UNARY_FLOAT(log, log(a))
UNARY_FLOAT(sin, sin(a))
UNARY_FLOAT(cos, cos(a))
UNARY_FLOAT(floor, floor(a))
UNARY_FLOAT(ceil, ceil(a))
UNARY_FLOAT(round, rint(a))
UNARY_SINGLE(exp)
UNARY_SINGLE(tanh)
UNARY_DOUBLE(tan)
UNARY_DOUBLE(asin)
UNARY_DOUBLE(acos)
UNARY_DOUBLE(atan)
UNARY_DOUBLE(sinh)
UNARY_DOUBLE(cosh)
UNARY_DOUBLE(asinh)
UNARY_DOUBLE(acosh)
UNARY_DOUBLE(atanh)

/* --- float and integer ------------------------------------------------------------------------ */

/* Table and run() of a function with its own expression per kind of type. */
#define UNARY_NUMBER(name, of_float, of_signed, of_unsigned)                                       \
    ODB_EW_FLOATS(ODB_EW_LOOP1_SAME, name, of_float)                                               \
    ODB_EW_SIGNED(ODB_EW_LOOP1_SAME, name, of_signed)                                              \
    ODB_EW_UNSIGNED(ODB_EW_LOOP1_SAME, name, of_unsigned)                                          \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, name)        \
                                                               ODB_EW_INTS(ODB_EW_SLOT, name)};    \
    static enum odb_status ew_run_##name(struct odb_kern *k)                                       \
    {                                                                                              \
        return odb_ew_run(k, ew_##name, NULL);                                                     \
    }

/* Of integers the fraction is cut off. */
UNARY_NUMBER(erf, ODB_SINGLE(a, erf)(a), erf((double)a), erf((double)a))
UNARY_NUMBER(abs, fabs(a), a < 0 ? 0 - ODB_U(a) : ODB_U(a), a)
UNARY_NUMBER(neg, -a, 0 - ODB_U(a), 0 - ODB_U(a))
/* The sign of NaN is NaN, as in NumPy. */
UNARY_NUMBER(sign, a != a ? a : a > 0 ? 1 : a < 0 ? -1 : 0, (a > 0) - (a < 0), a > 0)

ODB_EW_UNARY(bitwise_not, ODB_EW_INTS, ~ODB_U(a))
ODB_EW_UNARY(logical_not, ODB_EW_BOOLS, a == 0)

/* --- tests of floats -------------------------------------------------------------------------- */

/* arg of the IsInf loops: which signs count. */
struct unary_signs {
    bool negative, positive;
};

#define UNARY_SIGNS ((const struct unary_signs *)arg)
ODB_EW_FLOATS(ODB_EW_LOOP1_BOOL, isnan, a != a)
ODB_EW_FLOATS(ODB_EW_LOOP1_BOOL, isinf,
              (UNARY_SIGNS->positive && a == (float)INFINITY) ||
                  (UNARY_SIGNS->negative && a == -(float)INFINITY))
static const odb_ew_loop ew_isnan[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, isnan)};
static const odb_ew_loop ew_isinf[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, isinf)};

/* NaN and Inf survive widening, so one loop serves float8 too. */
static enum odb_status unary_test(struct odb_kern *k, const odb_ew_loop *loops, const void *arg)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *wide = NULL;
    if (loops[x->dtype] || !k->out[0])
        return odb_ew_run(k, loops, arg);
    ODB_TRY(odb_tensor_cast(&wide, x, ODB_F32, k->err));
    odb_ew_apply(loops[ODB_F32], 1, (const struct odb_tensor *const *)&wide, k->out[0], arg);
    odb_tensor_unref(wide);
    return ODB_OK;
}

static enum odb_status ew_run_isnan(struct odb_kern *k)
{
    return unary_test(k, ew_isnan, NULL);
}

static enum odb_status ew_run_isinf(struct odb_kern *k)
{
    struct unary_signs signs = {odb_kern_int(k, "detect_negative", 1) != 0,
                                odb_kern_int(k, "detect_positive", 1) != 0};
    return unary_test(k, ew_isinf, &signs);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec unary_isinf_attrs[] = {
    {"detect_negative", ODB_ATTR_INT, "1", false},
    {"detect_positive", ODB_ATTR_INT, "1", false},
    {.name = NULL},
};

#define UNARY_REAL(name, first, fn, ...)                                                           \
    ODB_EW_ROW(name, first, 1, ODB_T_FLOAT, ODB_OP_REAL | ODB_OP_OVERWRITE, odb_infer_same,        \
               ew_run_##fn, __VA_ARGS__)
#define UNARY_EXACT(name, first, mask, flags, fn, ...)                                             \
    ODB_EW_ROW(name, first, 1, mask, ODB_OP_EXACT | (flags), odb_infer_same, ew_run_##fn,          \
               __VA_ARGS__)
#define UNARY_STEPS (ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY)
#define UNARY_STEP(name, first, mask, fn, ...)                                                     \
    UNARY_EXACT(name, first, mask, ODB_OP_REAL | ODB_OP_BOUNDARY, fn, __VA_ARGS__)
/* Operators as old as ONNX: their first version, then the one without consumed_inputs. */
#define UNARY_OLD(op_name, mask, op_flags, fn, ...)                                                \
    ODB_EW_ROW(op_name, 1, 1, mask, (op_flags) | ODB_OP_OVERWRITE, odb_infer_same, ew_run_##fn,    \
               .attrs = odb_ew_consumed_attrs, __VA_ARGS__),                                       \
        ODB_EW_ROW(op_name, 6, 1, mask, (op_flags) | ODB_OP_OVERWRITE, odb_infer_same,             \
                   ew_run_##fn)

const struct odb_op odb_ops_unary[] = {
    UNARY_OLD("Sqrt", ODB_T_FLOAT, ODB_OP_REAL, sqrt, ODB_NAMES("X", "Y"), ODB_HALVES(1, 13),
              ODB_WORK(per_output, 1)),
    UNARY_OLD("Reciprocal", ODB_T_FLOAT, ODB_OP_REAL, reciprocal, ODB_NAMES("X", "Y"),
              ODB_HALVES(1, 13), ODB_WORK(per_output, 1)),
    UNARY_OLD("Exp", ODB_T_FLOAT, ODB_OP_REAL, exp, ODB_NAMES("input", "output"), ODB_HALVES(1, 13),
              ODB_WORK(per_output, 1)),
    UNARY_OLD("Log", ODB_T_FLOAT, ODB_OP_REAL, log, ODB_NAMES("input", "output"), ODB_HALVES(1, 13),
              ODB_WORK(per_output, 1)),
    UNARY_OLD("Tanh", ODB_T_FLOAT, ODB_OP_REAL, tanh, ODB_NAMES("input", "output"),
              ODB_HALVES(1, 13), ODB_WORK(per_output, 1)),
    ODB_EW_ROW("Erf", 9, 1, ODB_T_NUMBER, ODB_OP_REAL | ODB_OP_OVERWRITE, odb_infer_same,
               ew_run_erf, ODB_NAMES("input", "output"), ODB_HALVES(9, 13),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Sin", 7, sin, ODB_NAMES("input", "output"), ODB_HALVES(7, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Cos", 7, cos, ODB_NAMES("input", "output"), ODB_HALVES(7, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Tan", 7, tan, ODB_NAMES("input", "output"), ODB_HALVES(7, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Asin", 7, asin, ODB_NAMES("input", "output"), ODB_HALVES(7, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Acos", 7, acos, ODB_NAMES("input", "output"), ODB_HALVES(7, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Atan", 7, atan, ODB_NAMES("input", "output"), ODB_HALVES(7, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Sinh", 9, sinh, ODB_NAMES("input", "output"), ODB_HALVES(9, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Cosh", 9, cosh, ODB_NAMES("input", "output"), ODB_HALVES(9, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Asinh", 9, asinh, ODB_NAMES("input", "output"), ODB_HALVES(9, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Acosh", 9, acosh, ODB_NAMES("input", "output"), ODB_HALVES(9, 22),
               ODB_WORK(per_output, 1)),
    UNARY_REAL("Atanh", 9, atanh, ODB_NAMES("input", "output"), ODB_HALVES(9, 22),
               ODB_WORK(per_output, 1)),
    UNARY_OLD("Abs", ODB_T_NUMBER, ODB_OP_EXACT | ODB_OP_REAL, abs, ODB_NAMES("X", "Y"),
              ODB_HALVES(1, 13), ODB_WORK(per_output, 1)),
    UNARY_OLD("Neg", ODB_T_FLOAT | ODB_T_SIGNED, ODB_OP_EXACT | ODB_OP_REAL, neg,
              ODB_NAMES("X", "Y"), ODB_HALVES(1, 13), ODB_WORK(per_output, 1)),
    UNARY_OLD("Floor", ODB_T_FLOAT, UNARY_STEPS, floor, ODB_NAMES("X", "Y"), ODB_HALVES(1, 13),
              ODB_WORK(per_output, 1)),
    UNARY_OLD("Ceil", ODB_T_FLOAT, UNARY_STEPS, ceil, ODB_NAMES("X", "Y"), ODB_HALVES(1, 13),
              ODB_WORK(per_output, 1)),
    UNARY_STEP("Round", 11, ODB_T_FLOAT, round, ODB_NAMES("X", "Y"), ODB_HALVES(11, 22),
               ODB_WORK(per_output, 1)),
    UNARY_STEP("Sign", 9, ODB_T_NUMBER, sign, ODB_NAMES("input", "output"), ODB_HALVES(9, 13),
               ODB_WORK(per_output, 1)),
    UNARY_EXACT("BitwiseNot", 18, ODB_T_INT, 0, bitwise_not, ODB_NAMES("X", "Y")),
    UNARY_EXACT("Not", 1, ODB_T_BOOL, 0, logical_not, ODB_NAMES("X", "Y")),
    ODB_EW_ROW("IsNaN", 9, 1, ODB_T_FLOAT | ODB_T_FLOAT8,
               ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY, odb_ew_infer_same_bool, ew_run_isnan,
               ODB_NAMES("X", "Y"), ODB_HALVES(9, 13)),
    ODB_EW_ROW("IsInf", 10, 1, ODB_T_FLOAT | ODB_T_FLOAT8,
               ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY, odb_ew_infer_same_bool, ew_run_isinf,
               .attrs = unary_isinf_attrs, ODB_NAMES("X", "Y"), ODB_HALVES(20, 20)),
    {.name = NULL},
};
