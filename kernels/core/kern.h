/* SPDX-License-Identifier: MIT
 *
 * What an operator is to the CPU reference: one row in a table, and two functions.
 *
 * infer() says type and shape of every output from the inputs' types and shapes (and values where
 * the operator is defined by them, as Reshape is); run() fills outputs that are already allocated.
 * Operators whose output shape depends on the data at large (NonZero) have no infer() and allocate
 * in run() with odb_kern_output().
 *
 * A kernel sees tensors and attributes, nothing else: no graph, no names, no mode. The modes of
 * the reference (double everywhere, rounded to half, noisy) are made around it, in call_kernel.c:
 * it converts what goes in and rounds what comes out. A kernel of floating-point arithmetic
 * (ODB_OP_REAL) is written for float and double only; float16 and bfloat16 come to it widened.
 */
#ifndef ODB_KERNELS_CORE_KERN_H
#define ODB_KERNELS_CORE_KERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernels/core/facts.h"
#include "kernels/core/memo.h"
#include "tensor/attr.h"
#include "tensor/tensor.h"

/* How the reference computes; call_kernel.c says what each does to a kernel's operands. A row: id,
 * name in a spec, what people read, and whether --expect takes it. F16 and BF16 round at every
 * operator's borders and sum in float32, as F32 does doubles alone; TF32 rounds operands to 10 bits
 * of mantissa; NOISY jitters operands by half an ulp and sums one after the other in the model's
 * type. */
#define ODB_PRECISIONS(X)                                                                          \
    X(NATIVE, "", "the model's own types", false)                                                  \
    X(F64, "f64", "everything in float64", false)                                                  \
    X(F16, "f16", "floats rounded to float16", true)                                               \
    X(BF16, "bf16", "floats rounded to bfloat16", true)                                            \
    X(F32, "f32", "doubles rounded to float32", true)                                              \
    X(TF32, "tf32", "MatMul, Gemm and Conv in TF32", true)                                         \
    X(NOISY, "noisy", "honest rounding noise", false)

enum odb_precision {
#define ODB_PRECISION(id, name, text, expected) ODB_PREC_##id,
    ODB_PRECISIONS(ODB_PRECISION)
#undef ODB_PRECISION
        ODB_PREC_COUNT
};

#define ODB_PRECISION_CHOICE(id, name, text, expected) "|" name
#define ODB_PRECISION_EXPECT(id, name, text, expected) ODB_PRECISION_EXPECT_##expected(name)
#define ODB_PRECISION_EXPECT_true(name) "|" name
#define ODB_PRECISION_EXPECT_false(name)
/* "f64|f16|…": those that have a name, and "f16|…": those that may be expected, with int8, which is
 * none of the kernels' but what encodings make of their results. */
#define ODB_PRECISION_CHOICES (ODB_PRECISIONS(ODB_PRECISION_CHOICE) + 2)
#define ODB_PRECISION_EXPECTED (ODB_PRECISIONS(ODB_PRECISION_EXPECT) "|int8" + 1)

/* Bit sets of element types, for the operator table. */
#define ODB_BIT(dtype) (1u << (dtype))
#define ODB_T_HALVES (ODB_BIT(ODB_F16) | ODB_BIT(ODB_BF16))
#define ODB_T_FLOAT8                                                                               \
    (ODB_BIT(ODB_F8E4M3FN) | ODB_BIT(ODB_F8E4M3FNUZ) | ODB_BIT(ODB_F8E5M2) |                       \
     ODB_BIT(ODB_F8E5M2FNUZ))
#define ODB_T_FLOAT (ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64) | ODB_T_HALVES)
#define ODB_T_SIGNED (ODB_BIT(ODB_I8) | ODB_BIT(ODB_I16) | ODB_BIT(ODB_I32) | ODB_BIT(ODB_I64))
#define ODB_T_UNSIGNED (ODB_BIT(ODB_U8) | ODB_BIT(ODB_U16) | ODB_BIT(ODB_U32) | ODB_BIT(ODB_U64))
#define ODB_T_INT (ODB_T_SIGNED | ODB_T_UNSIGNED)
#define ODB_T_NUMBER (ODB_T_FLOAT | ODB_T_INT)
#define ODB_T_BOOL ODB_BIT(ODB_BOOL)
#define ODB_T_STRING ODB_BIT(ODB_STRING)
#define ODB_T_INDEX (ODB_BIT(ODB_I32) | ODB_BIT(ODB_I64))
#define ODB_T_COMPLEX (ODB_BIT(ODB_C64) | ODB_BIT(ODB_C128))
#define ODB_T_ANY (ODB_BIT(ODB_DTYPE_COUNT) - 1u) /* every element type; tensors only */
/* What is no tensor is refused unless its bit is set. */
#define ODB_T_SEQUENCE (1u << 27)
#define ODB_T_OPTIONAL (1u << 28)
#define ODB_T_SPARSE (1u << 29)
#define ODB_T_MAP (1u << 30)
#define ODB_T_EVERYTHING (~0u >> 1)

/* What a row says of the types of its inputs. A set of types stands for one of them: for the same
 * one in all inputs that it is said of, which are the one where it is written and those behind it
 * for which nothing is. Instead of a set: */
#define ODB_AS(i) (1u << 31 | (i)) /* the very type of input i */
/* at the end: the set before it, a type of it for each input */
#define ODB_EACH (1u << 31 | 0xff)

#define ODB_OP_TYPES 21 /* inputs whose types a row can tell apart */
#define ODB_MANY 0x7fff /* arity of variadic operators */

/* Flags of a row. */

/* moves, selects, compares, or integer arithmetic: outputs must match bit for bit (-0 = +0) */
#define ODB_OP_EXACT 1u
/* float arithmetic, written for float and double; float16 and bfloat16 are widened to float before
 * and rounded after */
#define ODB_OP_REAL 2u
#define ODB_OP_MATMUL 4u /* operands are rounded in tf32 mode */
#define ODB_OP_RANDOM 8u /* output is a draw: captured once, never compared */
/* a tiny change of the input can flip the output (Round, ArgMax, …) */
#define ODB_OP_BOUNDARY 16u
/* noisy mode leaves the operands alone: all implementations begin with exact differences from the
 * largest (Softmax), so that a step in a large operand would count for far more than rounding
 * does */
#define ODB_OP_STEADY 32u
/* element i of the output is made of the elements i of inputs of its shape, and of others that do
 * not have it: it may be written where such an input lies */
#define ODB_OP_OVERWRITE 64u
/* attributes that the row does not name may be there: those of a library, and what ONNX Runtime
 * lets through */
#define ODB_OP_OPEN 128u
#define ODB_OP_LIKE 256u /* of operand 1 the element type alone counts: it stays as it is */
/* operand 1 may be of a narrower float type than operand 0, as a matrix of weights is that
 * arithmetic widens: the kernel does that by the piece */
#define ODB_OP_PIECES 512u

struct odb_kern;

typedef enum odb_status ODB_MUST_USE (*odb_kern_fn)(struct odb_kern *k);

/* A default that the operator's schema gives; for display, and for odb_kern_int() and friends. */
struct odb_attr_spec {
    const char *name;
    enum odb_attr_type type;
    const char *def; /* text of the default: "1", "1e-05", "NOTSET", "[1, 1]"; NULL: none */
    bool required;
};

struct odb_op {
    const char *domain; /* "" is ai.onnx */
    const char *name;
    int since; /* first opset version this row is for; the newest row <= the model's opset wins */
    int min_in, max_in, min_out, max_out;
    unsigned flags;
    uint32_t types[ODB_OP_TYPES];      /* of the inputs: see ODB_AS() */
    const struct odb_attr_spec *attrs; /* ends with a NULL name; NULL: no attributes */
    odb_kern_fn infer;                 /* NULL: run() allocates */
    odb_kern_fn run;                   /* NULL: no kernel runs it from this version on */
    const char *tolerance; /* for `check`, where allclose:1e-3,1e-7 is wrong; else NULL */
    /* With ODB_OP_RANDOM: whether this node draws at all; NULL: always. known[i] is input i where
     * it is a constant of the model, NULL where it is computed or fed. */
    bool (*draws)(const struct odb_attrs *attrs, int n_in, const struct odb_tensor *const *known);
    struct odb_facts facts;
};

/* Type and shape of one output, set by infer(). */
struct odb_outline {
    enum odb_dtype dtype;
    int rank;
    int64_t dims[ODB_MAX_RANK];
    bool set;
    int alias; /* 1 + index of an input whose bytes the output shares unchanged (Reshape); run() is
                  then not called when the only output aliases; 0: none */
};

/* One call of an operator. */
struct odb_kern {
    const struct odb_op *op;
    int opset; /* of the node's domain */
    struct odb_attrs attrs;
    int n_in, n_out;              /* as the node has them, trailing omitted ones not counted */
    const struct odb_tensor **in; /* [n_in]; NULL where omitted */
    struct odb_tensor **out;      /* [n_out]; NULL before run() where the output is not wanted */
    struct odb_outline *outline;  /* [n_out] */
    const bool *wanted;           /* [n_out]; false for omitted outputs */
    bool sequential;              /* noisy mode: sums one by one in the element type; the
                                     textbook's formula where the reference takes a better one,
                                     ratios that are rounded before they are used */
    bool carry_f64;               /* double mode: a kernel that makes floats makes doubles */
    enum odb_dtype narrow;        /* the half type that operands were widened from, where one was;
                                     else ODB_UNDEFINED */
    uint64_t seed;                /* random operators */
    struct odb_memo *memo;        /* borrowed; in run(): what is made of attributes alone may be
                                     kept there */
    uint32_t constant;            /* bit i: and of input i, which is the same in every call */
    struct odb_error *err;        /* borrowed: the caller's */
};

/* --- for infer() and run() ------------------------------------------------------------------ */

/* Input i, NULL when omitted or beyond n_in. */
const struct odb_tensor *odb_kern_in(const struct odb_kern *k, int i);
/* Refuses input i where it is there and has another shape than these dims ([rank]). */
enum odb_status odb_kern_expect(struct odb_kern *k, int i, int rank,
                                const int64_t *dims) ODB_MUST_USE;
/* Attribute by name, else the default given in the operator's row, else the fallback. */
int64_t odb_kern_int(const struct odb_kern *k, const char *name, int64_t fallback);
double odb_kern_float(const struct odb_kern *k, const char *name, double fallback);
/* Borrowed, NUL-terminated. */
const char *odb_kern_string(const struct odb_kern *k, const char *name, const char *fallback);
/* The list, NULL and *n = 0 when absent. */
const int64_t *odb_kern_ints(const struct odb_kern *k, const char *name, size_t *n);
const odb_f32 *odb_kern_floats(const struct odb_kern *k, const char *name, size_t *n);
const struct odb_str *odb_kern_strings(const struct odb_kern *k, const char *name, size_t *n);
/* The one tensor; NULL when absent. */
const struct odb_tensor *odb_kern_tensor(const struct odb_kern *k, const char *name);
bool odb_kern_has(const struct odb_kern *k, const char *name);

/* Sets outline i. dims may be NULL for rank 0. Negative dims, too many dims: ODB_E_OPERATOR. */
enum odb_status odb_kern_outline(struct odb_kern *k, int i, enum odb_dtype dtype, int rank,
                                 const int64_t *dims) ODB_MUST_USE;
/* Output i has the type and shape of input j. The commonest infer() is odb_infer_same. */
enum odb_status odb_kern_outline_like(struct odb_kern *k, int i, int j) ODB_MUST_USE;
enum odb_status odb_infer_same(struct odb_kern *k) ODB_MUST_USE;

/* Allocates output i from run(), where there is no infer(). */
enum odb_status odb_kern_output(struct odb_kern *k, int i, enum odb_dtype dtype, int rank,
                                const int64_t *dims) ODB_MUST_USE;

/* The values of a small integer (any integer type) or float input as int64: shapes, axes, pads,
 * repeats. Fails with ODB_SKIPPED when the values are not known (static inference) and with
 * ODB_E_OPERATOR when there are more than max. *n = 0 for an omitted input. */
enum odb_status odb_kern_values(struct odb_kern *k, int i, int64_t *values, size_t max,
                                size_t *n) ODB_MUST_USE;

/* Makes axis non-negative for a tensor of that rank, or fails naming both. Axis = rank is refused
 * unless allow_end. */
enum odb_status odb_kern_axis(struct odb_kern *k, int64_t axis, int rank, bool allow_end,
                              int *out) ODB_MUST_USE;

/* Axes from an input (opset 13 style) or an attribute; none given: *n = 0. Sorted, unique,
 * non-negative. */
enum odb_status odb_kern_axes(struct odb_kern *k, int input, const char *attr, int rank, int *axes,
                              int *n) ODB_MUST_USE;

/* NumPy broadcasting of two shapes into dims; ODB_E_OPERATOR names both when they do not fit. */
enum odb_status odb_kern_broadcast(struct odb_kern *k, const struct odb_tensor *a,
                                   const struct odb_tensor *b, int *rank,
                                   int64_t *dims) ODB_MUST_USE;

/* Fails with a message about this operator. */
#define ODB_KERN_FAIL(k, ...) odb_fail((k)->err, ODB_E_OPERATOR, __VA_ARGS__)
/* "not supported by this reference": the node gets the verdict unsupported, never a wrong value */
#define ODB_KERN_UNSUPPORTED(k, ...) odb_fail((k)->err, ODB_UNSUPPORTED, __VA_ARGS__)
/* ODB_E_NOMEM: what dimensions or attributes decide may be more than there is. */
enum odb_status odb_kern_no_memory(const struct odb_kern *k) ODB_MUST_USE;

/* Product of dims [from, to). */
size_t odb_dims_product(const int64_t *dims, int from, int to);

/* --- for the executor ------------------------------------------------------------------------ */

/* Newest row of the operator that is not newer than opset; NULL: no reference kernel. */
const struct odb_op *odb_op_find(const char *domain, const char *name, int opset);
/* The rows of the operator in the tables below, the oldest first; NULL: there are none. */
const struct odb_op *const *odb_op_rows(const char *domain, const char *name, size_t *n);
/* The types that input i may have. */
uint32_t odb_op_types(const struct odb_op *op, int i);
/* The first input that has to be of the same type as input i: i itself where none before it is. Of
 * two inputs that share a type the result is below ODB_OP_TYPES. */
int odb_op_type_of(const struct odb_op *op, int i);
/* What the row knows of an attribute; NULL: there is none of this name. */
const struct odb_attr_spec *odb_op_attr(const struct odb_op *op, const char *name);
/* "INT", "FLOATS": as ONNX's messages name them. */
const char *odb_attr_type_name(enum odb_attr_type type);
/* Whether an attribute that the row does not name must not be there. */
bool odb_op_attr_unknown(const struct odb_op *op, const char *name);
/* Adds a row, which must live as long as the process, in front of all others. Thread-safe; plans
 * that are made already do not see it. */
void odb_op_add(const struct odb_op *op);
/* Row i of those that were added, the newest first; NULL: there are no more. */
const struct odb_op *odb_op_added(size_t i);
/* All rows of the tables below, for tests and listings; not those that were added. */
const struct odb_op *const *odb_op_table(size_t *n);

/* One operator call as the executor makes it. */
struct odb_call {
    const struct odb_op *op;
    int opset;
    struct odb_attrs attrs;
    int n_in, n_out;
    const struct odb_tensor *const *in; /* [n_in] */
    const bool *wanted;                 /* [n_out] */
    enum odb_precision precision;
    uint32_t keep_in, keep_out; /* bit i: input (output) i feeds only shapes, indices or integer
                                   casts and is not rounded or jittered in F16, BF16, NOISY */
    uint32_t dying; /* bit i: input i is not needed any more, so that a result may be written over
                       it if in[] and one more hold it, and nothing else its storage */
    const enum odb_dtype *types; /* [n_in] double mode: the model's types of what is in in[], where
                                    they are known, else ODB_UNDEFINED; NULL: by the tensors */
    bool inner;    /* a step of another operator, which answers for attributes and carried types */
    uint64_t seed; /* jitter and random operators */
    struct odb_memo *memo; /* borrowed; of all calls with these attributes; NULL: nothing is kept */
    uint32_t constant;     /* bit i: input i is the same tensor in all of them */
};

/* Type and presence of attributes, as the row has them. */
enum odb_status odb_op_check_attrs(const struct odb_op *op, int opset,
                                   const struct odb_attrs *attrs,
                                   struct odb_error *err) ODB_MUST_USE;
/* Holds the call against its row: numbers of inputs and outputs; types, as the model declares them;
 * type and presence of attributes. The two below begin with it. */
enum odb_status odb_op_check(const struct odb_call *call, struct odb_error *err) ODB_MUST_USE;
/* The type that the model declares for input i, which is there: its own, but for floats that are
 * carried in double. ODB_UNDEFINED: not known. */
enum odb_dtype odb_call_dtype(const struct odb_call *call, int i);

/* Runs the call; out[i] owned by the caller on success, NULL where not wanted. In double mode
 * float outputs are double whatever the model declares; otherwise they have the declared type.
 * ODB_UNSUPPORTED: no kernel for these types. ODB_E_OPERATOR: the operator's own rules were
 * broken. */
enum odb_status odb_op_run(const struct odb_call *call, struct odb_tensor **out,
                           struct odb_error *err) ODB_MUST_USE;

/* Only infer(): out[i] are tensors without values (or the aliased input). ODB_SKIPPED where the
 * shape depends on values that are not known. */
enum odb_status odb_op_infer(const struct odb_call *call, struct odb_tensor **out,
                             struct odb_error *err) ODB_MUST_USE;

#endif
