/* SPDX-License-Identifier: MIT
 *
 * Arithmetic, bits and logic of two elements: z = f(x, y), broadcast as NumPy does; before opset 7
 * only y is broadcast, only when asked, and from a given axis on. Integers wrap. Integer division
 * truncates as C's does, and by zero is an error of the model rather than a value.
 */
#include <tgmath.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/elementwise/elementwise.h"

/* --- loops ------------------------------------------------------------------------------------ */

ODB_EW_BINARY(add, a + b, ODB_U(a) + ODB_U(b), ODB_U(a) + ODB_U(b))
ODB_EW_BINARY(sub, a - b, ODB_U(a) - ODB_U(b), ODB_U(a) - ODB_U(b))
ODB_EW_BINARY(mul, (a * b), ODB_U(a) * ODB_U(b), ODB_U(a) * ODB_U(b))
/* Dividing the smallest number by -1 overflows, and traps on many processors. */
ODB_EW_BINARY(div, a / b, b == -1 ? 0 - ODB_U(a) : ODB_U(a / b), a / b)
ODB_EW_BINARY(fmod, fmod(a, b), b == -1 ? 0 : a % b, a % b)

/* The remainder with the divisor's sign, as Python's %. */
ODB_INLINE int64_t binary_floor_mod(int64_t a, int64_t b)
{
    int64_t r = b == -1 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
ODB_EW_SIGNED(ODB_EW_LOOP2_SAME, mod, binary_floor_mod(a, b))
ODB_EW_UNSIGNED(ODB_EW_LOOP2_SAME, mod, a % b)
static const odb_ew_loop ew_mod[ODB_DTYPE_COUNT] = {ODB_EW_INTS(ODB_EW_SLOT, mod)};

/* An integer power that wraps. Of negative powers only those of 1 and -1 are not fractions; the
 * others truncate to 0 (zero to a negative power is refused before). */
ODB_INLINE int64_t binary_int_pow(int64_t base, int64_t power)
{
    uint64_t result = 1, square = (uint64_t)base;
    if (power < 0)
        return base == 1 || (base == -1 && power % 2 == 0) ? 1 : base == -1 ? -1 : 0;
    for (; power; power >>= 1, square *= square)
        if (power & 1)
            result *= square;
    return (int64_t)result;
}

/* Squares are everywhere in models, and a product is exact to half an ulp. */
#define BINARY_POW(t, T, ctype, name)                                                              \
    ODB_EW_LOOP1_SAME(t, T, ctype, name##_square, (a * a))                                         \
    ODB_EW_LOOP2_SAME(t, T, ctype, name##_any, pow(a, b))                                          \
    static void ew_##name##_##T(size_t n, const void *const *in, const int *step, void *out,       \
                                const void *arg)                                                   \
    {                                                                                              \
        bool square = !step[1] && *(const odb_##t *)in[1] == 2;                                    \
        (square ? ew_##name##_square_##T : ew_##name##_any_##T)(n, in, step, out, arg);            \
    }
ODB_EW_FLOATS(BINARY_POW, pow)
ODB_EW_LOOP2_SAME(i64, I64, int64_t, pow, binary_int_pow(a, b))
static const odb_ew_loop ew_pow[ODB_DTYPE_COUNT] = {[ODB_I64] = ew_pow_I64,
                                                    ODB_EW_FLOATS(ODB_EW_SLOT, pow)};

#define BINARY_INT(name, TYPES, ...)                                                               \
    TYPES(ODB_EW_LOOP2_SAME, name, __VA_ARGS__)                                                    \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {TYPES(ODB_EW_SLOT, name)};
BINARY_INT(bitwise_and, ODB_EW_INTS, (a & b))
BINARY_INT(bitwise_or, ODB_EW_INTS, a | b)
BINARY_INT(bitwise_xor, ODB_EW_INTS, a ^ b)
/* Shifting everything out leaves nothing. */
BINARY_INT(shift_left, ODB_EW_UNSIGNED, b < 8 * sizeof a ? ODB_U(a) << b : 0)
BINARY_INT(shift_right, ODB_EW_UNSIGNED, b < 8 * sizeof a ? a >> b : 0)
BINARY_INT(and, ODB_EW_BOOLS, (a != 0) & (b != 0))
BINARY_INT(or, ODB_EW_BOOLS, (a != 0) | (b != 0))
BINARY_INT(xor, ODB_EW_BOOLS, (a != 0) ^ (b != 0))

/* --- run() ------------------------------------------------------------------------------------ */

#define BINARY_RUN(name)                                                                           \
    static enum odb_status binary_##name(struct odb_kern *k)                                       \
    {                                                                                              \
        return odb_ew_run2(k, ew_##name);                                                          \
    }
BINARY_RUN(add)
BINARY_RUN(sub)
BINARY_RUN(mul)
BINARY_RUN(bitwise_and)
BINARY_RUN(bitwise_or)
BINARY_RUN(bitwise_xor)
BINARY_RUN(and)
BINARY_RUN(or)
BINARY_RUN(xor)

/* Whether any element of an integer tensor is zero. */
static bool binary_has_zero(const struct odb_tensor *t)
{
    static const char zero[8];
    size_t size = odb_ew_size(t->dtype);
    for (size_t i = 0; i < t->count; i++)
        if (memcmp((const char *)t->data + i * size, zero, size) == 0)
            return true;
    return false;
}

static enum odb_status binary_divide(struct odb_kern *k, const odb_ew_loop *loops)
{
    const struct odb_tensor *by = k->in[1];
    if (k->out[0] && k->out[0]->count && odb_dtype_is_integer(by->dtype) && binary_has_zero(by))
        return ODB_KERN_FAIL(k, "integer division by zero");
    return odb_ew_run2(k, loops);
}

static enum odb_status binary_div(struct odb_kern *k)
{
    return binary_divide(k, ew_div);
}

static enum odb_status binary_mod(struct odb_kern *k)
{
    bool as_c = odb_kern_int(k, "fmod", 0) != 0;
    if (!as_c && odb_dtype_is_float(k->in[0]->dtype))
        return ODB_KERN_FAIL(k, "Mod of floats needs the attribute fmod = 1");
    return binary_divide(k, as_c ? ew_fmod : ew_mod);
}

static enum odb_status binary_shift(struct odb_kern *k)
{
    const char *direction = odb_kern_string(k, "direction", "");
    if (strcmp(direction, "LEFT") != 0 && strcmp(direction, "RIGHT") != 0)
        return ODB_KERN_FAIL(k, "attribute direction must be LEFT or RIGHT, not '%s'", direction);
    return odb_ew_run2(k, *direction == 'L' ? ew_shift_left : ew_shift_right);
}

/* --- Pow -------------------------------------------------------------------------------------- */

static enum odb_status binary_infer_pow(struct odb_kern *k)
{
    int rank;
    int64_t dims[ODB_MAX_RANK];
    if (k->op->since < 7)
        return odb_ew_infer2(k);
    ODB_TRY(odb_ew_shape(k, &rank, dims));
    return odb_kern_outline(k, 0, k->in[0]->dtype, rank, dims);
}

/* Zero to a negative power is a division by zero. Pairs are looked at only where there is a zero
 * and a negative power somewhere. */
ODB_EW_LOOP2_BOOL(i64, I64, int64_t, pow_fails, (a == 0) & (b < 0))

static enum odb_status binary_check_pow(struct odb_kern *k, const struct odb_tensor *const *in)
{
    const struct odb_tensor *y = k->out[0];
    struct odb_tensor *fails = NULL;
    bool negative = false;
    for (size_t i = 0; i < in[1]->count && !negative; i++)
        negative = ((const odb_i64 *)in[1]->data)[i] < 0;
    if (!negative || !binary_has_zero(in[0]))
        return ODB_OK;
    ODB_TRY(odb_tensor_new_raw(&fails, ODB_BOOL, y->rank, y->dims, k->err));
    odb_ew_apply(ew_pow_fails_I64, 2, in, fails, NULL);
    bool any = fails->count && memchr(fails->data, 1, fails->count);
    odb_tensor_unref(fails);
    return any ? ODB_KERN_FAIL(k, "integer zero to a negative power") : ODB_OK;
}

/* The result has the type of x, whatever y is. Where the types differ, integers are raised in
 * int64 and everything else in double. */
static enum odb_status binary_pow(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *y = k->in[1];
    bool integers = odb_dtype_is_integer(x->dtype) && odb_dtype_is_integer(y->dtype);
    enum odb_dtype common = integers ? ODB_I64 : x->dtype == y->dtype ? x->dtype : ODB_F64;
    struct odb_tensor *in[2] = {NULL, NULL}, *out = NULL;
    enum odb_status status = ODB_OK;

    if (k->op->since < 7 || !k->out[0])
        return odb_ew_run2(k, ew_pow);
    ODB_TRY_OUT(odb_tensor_cast(&in[0], x, common, k->err));
    ODB_TRY_OUT(odb_tensor_cast(&in[1], y, common, k->err));
    if (integers)
        ODB_TRY_OUT(binary_check_pow(k, (const struct odb_tensor *const *)in));
    if (x->dtype == common) {
        odb_ew_apply(ew_pow[common], 2, (const struct odb_tensor *const *)in, k->out[0], NULL);
        goto out;
    }
    ODB_TRY_OUT(odb_tensor_new_raw(&out, common, k->out[0]->rank, k->out[0]->dims, k->err));
    odb_ew_apply(ew_pow[common], 2, (const struct odb_tensor *const *)in, out, NULL);
    odb_convert(x->dtype, k->out[0]->data, common, out->data, out->count);
out:
    odb_tensor_unref(in[0]);
    odb_tensor_unref(in[1]);
    odb_tensor_unref(out);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec binary_mod_attrs[] = {
    {"fmod", ODB_ATTR_INT, "0", false},
    {.name = NULL},
};

static const struct odb_attr_spec binary_shift_attrs[] = {
    {"direction", ODB_ATTR_STRING, NULL, true},
    {.name = NULL},
};

#define BINARY_FLAGS (ODB_OP_REAL | ODB_OP_OVERWRITE)
/* Both lives of an operator that is as old as ONNX. */
#define BINARY_ROWS(name, mask, flags, infer, run, first_attrs, ...)                               \
    ODB_EW_ROW(name, 1, 2, mask, flags, infer, run, .attrs = first_attrs, __VA_ARGS__),            \
        ODB_EW_ROW(name, 7, 2, mask, flags, infer, run)
/* Integer results are exact by nature; REAL speaks of the float ones. */
#define BINARY_REAL(name, run, ...)                                                                \
    BINARY_ROWS(name, ODB_T_NUMBER, BINARY_FLAGS, odb_ew_infer2, run,                              \
                odb_ew_legacy_consumed_attrs, __VA_ARGS__),                                        \
        ODB_EW_ROW(name, 6, 2, ODB_T_NUMBER, BINARY_FLAGS, odb_ew_infer2, run,                     \
                   .attrs = odb_ew_legacy_attrs)
#define BINARY_BITS(name, mask, run, ...)                                                          \
    ODB_EW_ROW(name, 18, 2, mask, ODB_OP_EXACT, odb_ew_infer, run, __VA_ARGS__)
#define BINARY_LOGIC(name, run, ...)                                                               \
    BINARY_ROWS(name, ODB_T_BOOL, ODB_OP_EXACT, odb_ew_infer2, run, odb_ew_legacy_attrs,           \
                __VA_ARGS__)

const struct odb_op odb_ops_binary[] = {
    BINARY_REAL("Add", binary_add, ODB_NAMES("A,B", "C"), ODB_HALVES(7, 13),
                ODB_WORK(per_output, 1), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    BINARY_REAL("Sub", binary_sub, ODB_NAMES("A,B", "C"), ODB_HALVES(7, 13),
                ODB_WORK(per_output, 1)),
    BINARY_REAL("Mul", binary_mul, ODB_NAMES("A,B", "C"), ODB_HALVES(7, 13),
                ODB_WORK(per_output, 1), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    BINARY_REAL("Div", binary_div, ODB_NAMES("A,B", "C"), ODB_HALVES(7, 13),
                ODB_WORK(per_output, 1)),
    ODB_EW_ROW("Pow", 1, 2, ODB_T_FLOAT, BINARY_FLAGS, binary_infer_pow, binary_pow,
               .attrs = odb_ew_legacy_attrs, ODB_NAMES("X,Y", "Z"), ODB_HALVES(7, 15),
               ODB_WORK(per_output, 1), ODB_PARAMETERS(1u << 1)),
    ODB_EW_ROW("Pow", 7, 2, ODB_T_FLOAT, BINARY_FLAGS, binary_infer_pow, binary_pow),
    ODB_EW_ROW("Pow", 12, 2, (ODB_T_FLOAT | ODB_T_INDEX), BINARY_FLAGS, binary_infer_pow,
               binary_pow, .types[1] = ODB_T_NUMBER),
    ODB_EW_ROW("Mod", 10, 2, ODB_T_NUMBER, ODB_OP_EXACT | ODB_OP_REAL | ODB_OP_BOUNDARY,
               odb_ew_infer, binary_mod, .attrs = binary_mod_attrs, ODB_NAMES("A,B", "C"),
               ODB_HALVES(10, 13), ODB_WORK(per_output, 1)),
    ODB_EW_ROW("BitShift", 11, 2, ODB_T_UNSIGNED, ODB_OP_EXACT, odb_ew_infer, binary_shift,
               .attrs = binary_shift_attrs, ODB_NAMES("X,Y", "Z")),
    BINARY_BITS("BitwiseAnd", ODB_T_INT, binary_bitwise_and, ODB_NAMES("A,B", "C")),
    BINARY_BITS("BitwiseOr", ODB_T_INT, binary_bitwise_or, ODB_NAMES("A,B", "C")),
    BINARY_BITS("BitwiseXor", ODB_T_INT, binary_bitwise_xor, ODB_NAMES("A,B", "C")),
    BINARY_LOGIC("And", binary_and, ODB_NAMES("A,B", "C"), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    BINARY_LOGIC("Or", binary_or, ODB_NAMES("A,B", "C"), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    BINARY_LOGIC("Xor", binary_xor, ODB_NAMES("A,B", "C"), ODB_TRAITS(ODB_IS_COMMUTATIVE)),
    {.name = NULL},
};
