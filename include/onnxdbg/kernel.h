/* SPDX-License-Identifier: MIT
 *
 * Kernels for the CPU reference of onnxdbg, from a shared library: what the debugger needs to
 * believe an operator that it does not know. A library exports one function,
 *
 *     const struct onnxdbg_kernels *onnxdbg_kernels(void);
 *
 * and is loaded with --kernels LIB.so. Each kernel is two functions: shape() says type and shape of
 * every output, run() fills them. Both get a struct onnxdbg_call, with which they also read
 * attributes and report errors. onnxdbg-kernel(7) has the whole story and an example.
 *
 * The ABI is versioned. Structs only grow at their end, within a version too: what says how large
 * a struct is lets each side know what the other one has. Functions of a call must not be kept or
 * used after it returns. Calls may come from several threads, also at the same time.
 */
#ifndef ONNXDBG_KERNEL_H
#define ONNXDBG_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "onnxdbg/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXDBG_KERNEL_ABI 1

/* Dense and row-major. */
struct onnxdbg_tensor {
    int32_t dtype; /* enum onnxdbg_dtype */
    int32_t rank;
    const int64_t *dims; /* [rank] */
    size_t count;        /* elements: the product of dims */
    void *data; /* aligned to 16 bytes. Inputs: not to be written to; in shape(), NULL where
                   values are not known yet. Outputs: for run() to fill */
};

struct onnxdbg_call {
    uint32_t size;    /* of this struct, as the debugger has it */
    int32_t opset;    /* of the operator's domain in the model */
    int32_t n_inputs; /* as the node has them, trailing omitted ones not counted */
    int32_t n_outputs;
    const struct onnxdbg_tensor *const *inputs;  /* [n_inputs]; NULL where omitted */
    const struct onnxdbg_tensor *const *outputs; /* run(): [n_outputs]; NULL where not wanted.
                                                    shape(): NULL */
    int32_t sequential; /* not 0: take sums one by one in the element type. The debugger measures
                           with such runs how far honest rounding carries a value */
    uint64_t seed;      /* for ONNXDBG_RANDOM: the same seed, the same draw */
    void *host;         /* the debugger's own */

    /* Attributes; what is returned lives as long as the call. A missing one, or one of another
     * type, gives the fallback, or NULL and *n = 0. */
    int64_t (*attr_int)(const struct onnxdbg_call *call, const char *name, int64_t fallback);
    double (*attr_float)(const struct onnxdbg_call *call, const char *name, double fallback);
    const char *(*attr_string)(const struct onnxdbg_call *call, const char *name,
                               const char *fallback);
    const int64_t *(*attr_ints)(const struct onnxdbg_call *call, const char *name, size_t *n);
    const float *(*attr_floats)(const struct onnxdbg_call *call, const char *name, size_t *n);
    const struct onnxdbg_string *(*attr_strings)(const struct onnxdbg_call *call, const char *name,
                                                 size_t *n);
    const struct onnxdbg_tensor *(*attr_tensor)(const struct onnxdbg_call *call, const char *name);

    /* In shape(): type and shape of output i. Dims may be NULL for rank 0. Returns 0, or what
     * shape() should return where the shape cannot be (negative dimensions, too many). */
    int (*output)(const struct onnxdbg_call *call, int i, int dtype, int rank, const int64_t *dims);
    /* In shape(), where it needs values that are not known yet: return what this returns. */
    int (*not_known)(const struct onnxdbg_call *call);
    /* In run(): copies a string into element e of output i. */
    int (*set_string)(const struct onnxdbg_call *call, int i, size_t e, const char *data,
                      size_t size);

    /* Reports, in one line and in the manner of printf, why the call cannot be answered, and
     * returns what the kernel should return. fail: the operator's own rules are broken.
     * unsupported: they are not, but this kernel does not go so far. */
    int (*fail)(const struct onnxdbg_call *call, const char *format, ...);
    int (*unsupported)(const struct onnxdbg_call *call, const char *format, ...);
};

/* How the debugger treats an operator. Without a flag, its outputs are compared within tolerance
 * and it is run on the types that it names alone. */
#define ONNXDBG_EXACT                                                                              \
    1u /* moves, selects, compares, integer arithmetic: must match bit for bit                     \
        */
#define ONNXDBG_REAL                                                                               \
    2u                    /* float arithmetic: float16 and bfloat16 come as float, and results are \
                             rounded back. Name ONNXDBG_DOUBLE among the types of float inputs as  \
                             well, or golden values are only as good as float */
#define ONNXDBG_RANDOM 4u /* outputs are draws: kept, never compared */
#define ONNXDBG_BOUNDARY 8u /* a tiny change of an input can flip an output (argmax, rounding) */

#define ONNXDBG_MANY INT32_MAX /* arity of variadic operators */

struct onnxdbg_kernel {
    const char *domain; /* "custom"; "" or "ai.onnx" for ONNX's own */
    const char *op_type;
    int32_t
        since; /* first opset version of the domain that this is for; the newest kernel not newer
                  than the model's opset is taken. Before the debugger's own of that name */
    int32_t min_inputs, max_inputs, min_outputs, max_outputs;
    uint32_t flags;
    uint32_t types[8]; /* ONNXDBG_BIT()s allowed per input; the last that is not 0 stands for all
                          that follow */
    int (*shape)(const struct onnxdbg_call *call); /* 0: done */
    int (*run)(const struct onnxdbg_call *call);   /* 0: done */
};

/* Static data of the library: it stays loaded until the debugger ends. */
struct onnxdbg_kernels {
    uint32_t abi;         /* ONNXDBG_KERNEL_ABI */
    uint32_t kernel_size; /* sizeof(struct onnxdbg_kernel) */
    size_t n_kernels;
    const struct onnxdbg_kernel *kernels;
};

/* The one symbol that a library exports. */
const struct onnxdbg_kernels *onnxdbg_kernels(void);

#ifdef __cplusplus
}
#endif

#endif
