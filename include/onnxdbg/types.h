/* SPDX-License-Identifier: MIT
 *
 * Element types, as kernels (kernel.h) and executors (executor.h) in shared libraries see them.
 */
#ifndef ONNXDBG_TYPES_H
#define ONNXDBG_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of TensorProto.DataType. Types below a byte are packed, low bits first. */
enum onnxdbg_dtype {
    ONNXDBG_FLOAT = 1,
    ONNXDBG_UINT8 = 2,
    ONNXDBG_INT8 = 3,
    ONNXDBG_UINT16 = 4,
    ONNXDBG_INT16 = 5,
    ONNXDBG_INT32 = 6,
    ONNXDBG_INT64 = 7,
    ONNXDBG_STRING = 8, /* struct onnxdbg_string */
    ONNXDBG_BOOL = 9,   /* one byte, 0 or 1 */
    ONNXDBG_FLOAT16 = 10,
    ONNXDBG_DOUBLE = 11,
    ONNXDBG_UINT32 = 12,
    ONNXDBG_UINT64 = 13,
    ONNXDBG_COMPLEX64 = 14,
    ONNXDBG_COMPLEX128 = 15,
    ONNXDBG_BFLOAT16 = 16,
    ONNXDBG_FLOAT8E4M3FN = 17,
    ONNXDBG_FLOAT8E4M3FNUZ = 18,
    ONNXDBG_FLOAT8E5M2 = 19,
    ONNXDBG_FLOAT8E5M2FNUZ = 20,
    ONNXDBG_UINT4 = 21,
    ONNXDBG_INT4 = 22,
    ONNXDBG_FLOAT4E2M1 = 23,
    ONNXDBG_FLOAT8E8M0 = 24,
    ONNXDBG_UINT2 = 25,
    ONNXDBG_INT2 = 26
};
#define ONNXDBG_BIT(dtype) (UINT32_C(1) << (dtype))

struct onnxdbg_string {
    const char *data; /* not NUL-terminated, may hold anything */
    size_t size;
};

#endif
