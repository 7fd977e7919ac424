/* SPDX-License-Identifier: MIT
 *
 * Element-wise operators are all one operator: walk over the output, broadcast the inputs, apply a
 * function. The walk is written once (elementwise.c), in the manner of NumPy's ufuncs: it merges
 * dimensions until what is left is a long inner run, and hands runs to a loop. A loop is made from
 * one expression per element type by the macros below, and a table says which loop serves a type:
 *
 *     ODB_EW_UNARY(sqrt, ODB_EW_FLOATS, sqrt(a))
 *     ODB_EW_ROW("Sqrt", 1, 1, ODB_T_FLOAT, ODB_OP_REAL, odb_infer_same, ew_run_sqrt)
 *
 * Within a run an input either walks (step 1) or stands still (step 0, broadcast): dense tensors
 * know nothing else, so loops need no strides and the compiler vectorises each case by itself.
 *
 * Operator versions that differ in nothing but the list of allowed types share one row with the
 * newest list; a row is repeated where attributes or the meaning changed.
 */
#ifndef ODB_KERNELS_ELEMENTWISE_ELEMENTWISE_H
#define ODB_KERNELS_ELEMENTWISE_ELEMENTWISE_H

#include "kernels/core/kern.h"
#include "kernels/core/simd.h"

#define ODB_EW_MAX_IN 3

/* n elements of one run. step[i] is 0 or 1; at least one input walks unless n is 1. arg is the
 * operator's own. out may be one of the inputs. */
typedef void (*odb_ew_loop)(size_t n, const void *const *in, const int *step, void *out,
                            const void *arg);

/* Applies loop over all of out, whose shape every input broadcasts to; in parallel. */
void odb_ew_apply(odb_ew_loop loop, int n_in, const struct odb_tensor *const *in,
                  struct odb_tensor *out, const void *arg);

/* The run() of an operator whose loop takes all its inputs, at most ODB_EW_MAX_IN: loops is a table
 * by type of the first input, ODB_UNSUPPORTED where it has no loop. _first: the loop takes only the
 * first input, the others are in arg. */
enum odb_status odb_ew_run(struct odb_kern *k, const odb_ew_loop *loops,
                           const void *arg) ODB_MUST_USE;
enum odb_status odb_ew_run_first(struct odb_kern *k, const odb_ew_loop *loops,
                                 const void *arg) ODB_MUST_USE;
/* Whether inputs i and j are of one declared type. In double mode all floats are: some may come
 * carried as double, others not yet. */
bool odb_ew_same_type(const struct odb_kern *k, int i, int j);
/* ODB_E_OPERATOR unless all inputs are there and are tensors. */
enum odb_status odb_ew_check(struct odb_kern *k) ODB_MUST_USE;

/* Output 0 has the broadcast shape of all inputs, which must be of one type, and that type. */
enum odb_status odb_ew_infer(struct odb_kern *k) ODB_MUST_USE;

/* Broadcast shape of all inputs. */
enum odb_status odb_ew_shape(struct odb_kern *k, int *rank, int64_t *dims) ODB_MUST_USE;

/* Bytes of one element in memory; types of less than a byte do not come here. */
size_t odb_ew_size(enum odb_dtype dtype);

/* Bool output with the shape of input 0. */
enum odb_status odb_ew_infer_same_bool(struct odb_kern *k) ODB_MUST_USE;

/* --- element types ---------------------------------------------------------------------------- */

/* Each calls X(suffix of the pointer type, dtype, C type, ...). */
#define ODB_EW_FLOATS(X, ...) X(f32, F32, float, __VA_ARGS__) X(f64, F64, double, __VA_ARGS__)
#define ODB_EW_SIGNED(X, ...)                                                                      \
    X(i8, I8, int8_t, __VA_ARGS__)                                                                 \
    X(i16, I16, int16_t, __VA_ARGS__)                                                              \
    X(i32, I32, int32_t, __VA_ARGS__)                                                              \
    X(i64, I64, int64_t, __VA_ARGS__)
#define ODB_EW_UNSIGNED(X, ...)                                                                    \
    X(u8, U8, uint8_t, __VA_ARGS__)                                                                \
    X(u16, U16, uint16_t, __VA_ARGS__)                                                             \
    X(u32, U32, uint32_t, __VA_ARGS__)                                                             \
    X(u64, U64, uint64_t, __VA_ARGS__)
#define ODB_EW_INTS(X, ...)                                                                        \
    ODB_EW_SIGNED(X, __VA_ARGS__)                                                                  \
    ODB_EW_UNSIGNED(X, __VA_ARGS__)
#define ODB_EW_BOOLS(X, ...) X(u8, BOOL, uint8_t, __VA_ARGS__)
#define ODB_EW_NONE(X, ...)

/* Integer arithmetic wraps; in C only that of unsigned types may. */
#define ODB_U(x) ((uint64_t)(x))

/* --- loops ------------------------------------------------------------------------------------ */

/* gcc does not vectorise open-ended loops at -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#define ODB_EW_HOT __attribute__((optimize("O3")))
#else
#define ODB_EW_HOT
#endif

/* Iterations do not depend on each other, even where out is an input. */
#define ODB_EW_EACH(i, n) _Pragma("GCC ivdep") for (size_t i = 0; i < (n); i++)

/* A loop over one input: the expression sees its element as a, and what it gives is rounded, cut
 * off or wrapped to an element of the output. */
#define ODB_EW_LOOP1(t, T, ctype, name, R, ...)                                                    \
    ODB_SIMD static void ew_##name##_##T(size_t n, const void *const *in, const int *step,         \
                                         void *out, const void *arg)                               \
    {                                                                                              \
        const odb_##t *x = in[0];                                                                  \
        R *y = out;                                                                                \
        (void)step, (void)arg;                                                                     \
        ODB_EW_EACH(i, n) {                                                                        \
            const ctype a = x[i];                                                                  \
            y[i] = (R)(__VA_ARGS__);                                                               \
        }                                                                                          \
    }

/* A loop over two inputs: a and b. */
#define ODB_EW_LOOP2_AS(hot, t, T, ctype, name, R, ...)                                            \
    ODB_INLINE R ew_##name##_##T##_op(const ctype a, const ctype b)                                \
    {                                                                                              \
        return (R)(__VA_ARGS__);                                                                   \
    }                                                                                              \
    hot static void ew_##name##_##T(size_t n, const void *const *in, const int *step, void *out,   \
                                    const void *arg)                                               \
    {                                                                                              \
        const odb_##t *x = in[0], *y = in[1];                                                      \
        R *z = out;                                                                                \
        (void)arg;                                                                                 \
        if (step[0] && step[1]) {                                                                  \
            ODB_EW_EACH(i, n)                                                                      \
                z[i] = ew_##name##_##T##_op(x[i], y[i]);                                           \
        } else if (step[0]) {                                                                      \
            const ctype b = *y;                                                                    \
            ODB_EW_EACH(i, n)                                                                      \
                z[i] = ew_##name##_##T##_op(x[i], b);                                              \
        } else {                                                                                   \
            const ctype a = *x;                                                                    \
            ODB_EW_EACH(i, n)                                                                      \
                z[i] = ew_##name##_##T##_op(a, y[i]);                                              \
        }                                                                                          \
    }

#define ODB_EW_LOOP2(t, T, ctype, name, R, ...)                                                    \
    ODB_EW_LOOP2_AS(ODB_EW_HOT, t, T, ctype, name, R, __VA_ARGS__)

/* The same with results of the inputs' own type; _WIDE: where models spend time. */
#define ODB_EW_LOOP2_WIDE(t, T, ctype, name, ...)                                                  \
    ODB_EW_LOOP2_AS(ODB_SIMD, t, T, ctype, name, odb_##t, __VA_ARGS__)
#define ODB_EW_LOOP1_SAME(t, T, ctype, name, ...)                                                  \
    ODB_EW_LOOP1(t, T, ctype, name, odb_##t, __VA_ARGS__)
#define ODB_EW_LOOP2_SAME(t, T, ctype, name, ...)                                                  \
    ODB_EW_LOOP2(t, T, ctype, name, odb_##t, __VA_ARGS__)
/* The same with results true or false. */
#define ODB_EW_LOOP1_BOOL(t, T, ctype, name, ...)                                                  \
    ODB_EW_LOOP1(t, T, ctype, name, odb_u8, __VA_ARGS__)
#define ODB_EW_LOOP2_BOOL(t, T, ctype, name, ...)                                                  \
    ODB_EW_LOOP2(t, T, ctype, name, odb_u8, __VA_ARGS__)

#define ODB_EW_SLOT(t, T, ctype, name) [ODB_##T] = ew_##name##_##T,

/* --- operators -------------------------------------------------------------------------------- */

/* ew_run_NAME of one input, one expression for all types. */
#define ODB_EW_UNARY(name, TYPES, ...)                                                             \
    TYPES(ODB_EW_LOOP1_SAME, name, __VA_ARGS__)                                                    \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {TYPES(ODB_EW_SLOT, name)};              \
    static enum odb_status ew_run_##name(struct odb_kern *k)                                       \
    {                                                                                              \
        return odb_ew_run(k, ew_##name, NULL);                                                     \
    }

/* Table ew_NAME of two inputs: expressions for floats, signed and unsigned integers. */
#define ODB_EW_BINARY(name, of_float, of_signed, of_unsigned)                                      \
    ODB_EW_FLOATS(ODB_EW_LOOP2_WIDE, name, of_float)                                               \
    ODB_EW_SIGNED(ODB_EW_LOOP2_SAME, name, of_signed)                                              \
    ODB_EW_UNSIGNED(ODB_EW_LOOP2_SAME, name, of_unsigned)                                          \
    static const odb_ew_loop ew_##name[ODB_DTYPE_COUNT] = {ODB_EW_FLOATS(ODB_EW_SLOT, name)        \
                                                               ODB_EW_INTS(ODB_EW_SLOT, name)};

/* A row of the default domain with n inputs and one output; more fields may follow. */
#define ODB_EW_ROW(op_name, first, n, mask, op_flags, op_infer, op_run, ...)                       \
    {                                                                                              \
        .domain = "", .name = op_name, .since = first, .min_in = n, .max_in = n, .min_out = 1,     \
        .max_out = 1, .flags = op_flags, .types = {mask}, .infer = op_infer, .run = op_run,        \
        __VA_ARGS__                                                                                \
    }

/* --- two operands ----------------------------------------------------------------------------- */

/* Operators of two inputs that are as old as ONNX. In rows with since < 7 the second operand alone
 * is broadcast, only when the attribute broadcast asks for it, and its shape is matched from the
 * attribute axis on, or to the end where there is none. */
extern const struct odb_attr_spec odb_ew_legacy_attrs[];
/* Opset 1 of many operators named the inputs whose memory may be taken for outputs. It changes no
 * value. */
#define ODB_EW_CONSUMED                                                                            \
    {                                                                                              \
        "consumed_inputs", ODB_ATTR_INTS, NULL, false                                              \
    }
extern const struct odb_attr_spec odb_ew_consumed_attrs[];        /* that alone */
extern const struct odb_attr_spec odb_ew_legacy_consumed_attrs[]; /* with broadcast and axis */
enum odb_status odb_ew_infer2(struct odb_kern *k) ODB_MUST_USE;
enum odb_status odb_ew_infer2_bool(struct odb_kern *k) ODB_MUST_USE;
enum odb_status odb_ew_run2(struct odb_kern *k, const odb_ew_loop *loops) ODB_MUST_USE;

#endif
