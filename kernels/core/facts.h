/* SPDX-License-Identifier: MIT
 *
 * What is known of an operator beside how it is computed. Each fact is written in the operator's
 * row of the table (kern.h), behind the types of the inputs, by the macros below:
 *
 *     ODB_MICROSOFT("BiasGelu", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, NULL,
 * bias_gelu_infer, bias_gelu_run, ODB_T_FLOAT, ODB_NAMES("A,B", "C"), ODB_HALVES(1, 1),
 *                   ODB_WORK(per_output, 2))
 *
 * Names hold from the row that says them until a later row says others. A row of
 * float16 holds from its own opsets on. All other facts hold for the operator in all its versions
 * and stand in its oldest row.
 */
#ifndef ODB_KERNELS_FACTS_H
#define ODB_KERNELS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/* --- float16 and bfloat16 --------------------------------------------------------------------- */

/* What converting needs to know of an operator beside its types. */
enum odb_halves_note {
    ODB_HALVES_PLAIN,
    ODB_HALVES_ANY,  /* it does not look at numbers: any type will do */
    ODB_HALVES_TO,   /* an output of float32 is so because the attribute `to` says it */
    ODB_HALVES_VALUE /* likewise the tensor in an attribute */
};

/* From which opset on an operator takes float16 and bfloat16 wherever it takes float. */
struct odb_halves {
    int f16, bf16;              /* first opset; 0: none */
    uint32_t keep_in, keep_out; /* bits of inputs and outputs that keep their type */
    enum odb_halves_note note;
};
#define ODB_HALVES(...) .facts.halves = {__VA_ARGS__}

/* --- work ------------------------------------------------------------------------------------- */

/* Formulas of how much work a call is; analysis/cost.c has a function for each. The numbers behind
 * the name mean what the formula says. */
#define ODB_WORKS(X)                                                                               \
    X(per_output)     /* operations per element of the output */                                   \
    X(per_input)      /* operations per element of the first input */                              \
    X(per_input_with) /* the same, and so many more where the input of the third number is */      \
    X(per_operand)    /* an operation per element for each operand after the first */              \
    X(conv)           /* inputs of data, of weights and of the bias (0: none takes one) */         \
    X(conv_transpose) /* the same */                                                               \
    X(matmul)         /* the same */                                                               \
    X(matmul_bits)    /* the same */                                                               \
    X(recurrent)      /* the same */                                                               \
    X(einsum)                                                                                      \
    X(pool)                                                                                        \
    X(lrn)                                                                                         \
    X(resize)                                                                                      \
    X(rotary)                                                                                      \
    X(softmax)                                                                                     \
    X(attention)                                                                                   \
    X(attention_fused) /* inputs of the mask, of the past, and of the bias */                      \
    X(attention_multi_head)                                                                        \
    X(attention_grouped)                                                                           \
    X(experts) /* inputs of the first, the second and the third matrices */                        \
    X(recurrence)                                                                                  \
    X(taps) /* input of the weights, nothing, input of the bias */                                 \
    X(fused_bits)                                                                                  \
    X(gemma_rotary)                                                                                \
    X(depends) /* on data: how much it is, is unknown */

enum odb_work_kind {
    ODB_WORK_UNKNOWN, /* none where the operator is exact, else not known */
#define ODB_WORK_KIND(name) ODB_WORK_##name,
    ODB_WORKS(ODB_WORK_KIND)
#undef ODB_WORK_KIND
        ODB_WORK_COUNT
};

struct odb_work {
    enum odb_work_kind kind;
    int a, b, bias;
};
#define ODB_WORK(name, ...) .facts.work = {ODB_WORK_##name, __VA_ARGS__}

/* --- what optimisers make of it ----------------------------------------------------------------
 */

/* What stands in one model for several nodes of another. Words stand between blanks. */
struct odb_fusion {
    const char *head;         /* the operator that the pattern begins with; NULL: it itself */
    const char *ends, *holds; /* operators that the pattern ends in, and that it may hold */
};
#define ODB_HEAD(op) .facts.fusion.head = op
#define ODB_FUSES(last, all) .facts.fusion.ends = last, .facts.fusion.holds = all
#define ODB_WORDS_ACTIVATIONS                                                                      \
    " Relu Clip Sigmoid Tanh LeakyRelu HardSigmoid Elu Softplus HardSwish "
#define ODB_WORDS_NORM " ReduceMean Sub Pow Mul Add Sqrt Div Cast Reciprocal LayerNormalization "
#define ODB_WORDS_GELU " Div Mul Add Erf Pow Tanh Sqrt Gelu "
#define ODB_WORDS_ATTENTION                                                                        \
    " MatMul Gemm Add Sub Mul Div Sqrt Reshape Transpose Split Slice Concat Shape Gather "         \
    "Unsqueeze Squeeze Softmax Where Cast Expand Equal ConstantOfShape "

/* An operator that stands for another on quantised values: where that one's inputs are among its
 * own, and the input with the scale of what it makes; the zero point comes behind it. */
struct odb_quantised {
    const char *of; /* NULL: it does not; it may have a scale all the same */
    int scale;      /* 0: none */
    int n_in;
    int in[3];
};
#define ODB_QUANTISED(op, ...) .facts.quantised = {op, __VA_ARGS__}

/* --- the rest --------------------------------------------------------------------------------- */

/* Traits. */
#define ODB_IS_CARRIER 1u        /* hands its first input on, but for rounding */
#define ODB_IS_MOVE 2u           /* its elements are those of its first input */
#define ODB_IS_COMMUTATIVE 4u    /* its inputs may change places */
#define ODB_IS_QUANTISED 8u      /* a model with it has been quantised */
#define ODB_IS_SIZED_BY_DATA 16u /* what its inputs hold decides on dimensions of its outputs */
#define ODB_IS_OF_ONE                                                                              \
    64u /* honest implementations make parts of 1: to some units of 1, however                     \
           small the part is */
#define ODB_IS_NONSTANDARD 32u /* there before ONNX's standard had it, or never part of it */

struct odb_facts {
    const char *in, *out; /* names in the schema, with commas between; "..." behind the last one: as
                             many as there are; NULL: as in the row before */
    struct odb_halves halves;
    struct odb_work work;
    struct odb_fusion fusion;
    struct odb_quantised quantised;
    unsigned traits;
    uint32_t steering;   /* bits of inputs whose floats become shapes or indices: never rounded */
    uint32_t parameters; /* bits of inputs that are parameters rather than data: never jittered */
    int standard;        /* first opset of ONNX's standard with it, where rows before it are none of
                            the standard's; 0: all are, or with ODB_IS_NONSTANDARD none is */
    const char *reads;   /* a string attribute that names one more value of the graph; else NULL */
    const char *instead; /* deprecated from this row to the next: what to do instead */
    const char *without; /* why no kernel runs it, a clause about a node of it; NULL: one does */
};
#define ODB_NAMES(ins, outs) .facts.in = ins, .facts.out = outs
#define ODB_TRAITS(bits) .facts.traits = bits
#define ODB_STEERING(bits) .facts.steering = bits
#define ODB_PARAMETERS(bits) .facts.parameters = bits
#define ODB_STANDARD(opset) .facts.standard = opset
#define ODB_READS(attr) .facts.reads = attr
#define ODB_INSTEAD(text) .facts.instead = text
#define ODB_WITHOUT(text) .facts.without = text

/* --- look-up ---------------------------------------------------------------------------------- */

/* Facts that hold in all versions; never NULL: of an operator that is not in the table nothing is
 * known. domain NULL: of the first domain that has an operator of this name. */
const struct odb_facts *odb_facts_of(const char *domain, const char *name);
/* The row that holds at this version of the domain; NULL: there is none. version 0: the newest. */
const struct odb_facts *odb_facts_at(const char *domain, const char *name, int version, int *since);
/* Names of the inputs, or outputs, at this version, as in struct odb_facts; NULL: not known. */
const char *odb_facts_names(const char *domain, const char *name, int version, bool inputs);
/* Why no kernel runs an operator: a clause about a node of it; NULL: one does, or nothing is known
 * of it. */
const char *odb_facts_without(const char *domain, const char *name);
/* The newest that the version reaches; NULL: the operator takes no half there. */
const struct odb_halves *odb_facts_halves(const char *domain, const char *name, int version);

#endif
