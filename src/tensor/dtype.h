/* SPDX-License-Identifier: MIT
 *
 * Element types. The numbers are those of ONNX's TensorProto.DataType, so a type needs no
 * translation on its way in or out of a file. Everything that is known about a type stands in one
 * row of a table; no other code switches on it.
 */
#ifndef ODB_TENSOR_DTYPE_H
#define ODB_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum odb_dtype {
    ODB_UNDEFINED = 0,
    ODB_F32 = 1,
    ODB_U8 = 2,
    ODB_I8 = 3,
    ODB_U16 = 4,
    ODB_I16 = 5,
    ODB_I32 = 6,
    ODB_I64 = 7,
    ODB_STRING = 8,
    ODB_BOOL = 9,
    ODB_F16 = 10,
    ODB_F64 = 11,
    ODB_U32 = 12,
    ODB_U64 = 13,
    ODB_C64 = 14,
    ODB_C128 = 15,
    ODB_BF16 = 16,
    ODB_F8E4M3FN = 17,
    ODB_F8E4M3FNUZ = 18,
    ODB_F8E5M2 = 19,
    ODB_F8E5M2FNUZ = 20,
    ODB_U4 = 21,
    ODB_I4 = 22,
    ODB_F4E2M1 = 23,
    ODB_F8E8M0 = 24,
    ODB_U2 = 25,
    ODB_I2 = 26,
    ODB_DTYPE_COUNT
};

enum odb_dtype_class {
    ODB_CLASS_NONE,
    ODB_CLASS_FLOAT,
    ODB_CLASS_INT,
    ODB_CLASS_UINT,
    ODB_CLASS_BOOL,
    ODB_CLASS_STRING,
    ODB_CLASS_COMPLEX
};

/* Tensors view files at any byte offset, so element pointers promise no alignment. Kernels read
 * and write through these; the compiler then picks unaligned loads, which cost nothing. */
typedef float odb_f32 __attribute__((aligned(1), may_alias));
typedef double odb_f64 __attribute__((aligned(1), may_alias));
typedef int8_t odb_i8 __attribute__((aligned(1), may_alias));
typedef int16_t odb_i16 __attribute__((aligned(1), may_alias));
typedef int32_t odb_i32 __attribute__((aligned(1), may_alias));
typedef int64_t odb_i64 __attribute__((aligned(1), may_alias));
typedef uint8_t odb_u8 __attribute__((aligned(1), may_alias));
typedef uint16_t odb_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t odb_u32 __attribute__((aligned(1), may_alias));
typedef uint64_t odb_u64 __attribute__((aligned(1), may_alias));

struct odb_dtype_info {
    const char *name;  /* ONNX spelling: "float", "int64" */
    const char *numpy; /* NumPy spelling: "float32"; NULL where NumPy has no such type */
    const char *descr; /* .npy descriptor, "<f4"; NULL likewise */
    unsigned bits;     /* per element, 0 for strings (struct odb_str in memory) */
    enum odb_dtype_class class_;
    double eps;  /* floats: distance from 1 to the next larger number */
    double max;  /* floats: largest finite */
    double tiny; /* floats: smallest positive subnormal */
};

/* Never NULL; a row with bits 0 and class NONE for a number that is no type. */
const struct odb_dtype_info *odb_dtype_info(enum odb_dtype dtype);
/* ONNX or NumPy spelling; ODB_UNDEFINED when unknown. */
enum odb_dtype odb_dtype_parse(const char *name);
bool odb_dtype_is_float(enum odb_dtype dtype);
bool odb_dtype_is_integer(enum odb_dtype dtype); /* signed or unsigned, not bool */
/* Of a complex type that of its two parts; any other itself. */
enum odb_dtype odb_dtype_part(enum odb_dtype dtype);
/* Bytes that count elements take; 4- and 2-bit types are packed, low bits first. False on
 * overflow. */
bool odb_dtype_bytes(enum odb_dtype dtype, size_t count, size_t *bytes);

/* Element i as a number. Floats, integers, bool; complex gives the real part, strings NaN. */
double odb_load_f64(enum odb_dtype dtype, const void *data, size_t i);
/* Integers and bool exactly (uint64 keeps its bits); floats truncated, saturating, NaN 0. */
int64_t odb_load_i64(enum odb_dtype dtype, const void *data, size_t i);
/* Rounds to nearest even into the type; floats overflow to Inf (float8 and
 * float4: saturate, Inf too, as Cast's default says), integers wrap modulo 2^bits after
 * truncation, NaN and Inf become 0 there. Stores of packed types rewrite a byte that neighbours
 * share. */
void odb_store_f64(enum odb_dtype dtype, void *data, size_t i, double v);
void odb_store_i64(enum odb_dtype dtype, void *data, size_t i, int64_t v);

/* n elements from one type to another with the rules above; fast paths between the float types
 * and between equal types. Not for strings. src and dst do not overlap. */
void odb_convert(enum odb_dtype to, void *dst, enum odb_dtype from, const void *src, size_t n);

/* Rounds n float32 (float64) in place to the nearest number of a narrower float type: F16, BF16;
 * odb_round_tf32 to 10 bits of mantissa. Nearest even, overflow to Inf, subnormals kept. */
void odb_round_f32(enum odb_dtype to, odb_f32 *x, size_t n);
void odb_round_f64(enum odb_dtype to, odb_f64 *x, size_t n);
void odb_round_tf32(odb_f32 *x, size_t n);

/* The code of v in a float8 or float4 type as Cast gives it. saturate false: overflow becomes Inf,
 * or NaN where there is none. round counts for E8M0 only, where ties go up and what lies below the
 * smallest number, zero and negatives included, becomes it, or NaN when not saturating.
 * odb_store_f64() saturates and rounds E8M0 to the nearest. */
enum odb_e8m0_round { ODB_E8M0_UP, ODB_E8M0_DOWN, ODB_E8M0_NEAREST };
uint8_t odb_f64_to_f8(enum odb_dtype dtype, double v, bool saturate, enum odb_e8m0_round round);

uint16_t odb_f32_to_f16(float v);
float odb_f16_to_f32(uint16_t v);
uint16_t odb_f32_to_bf16(float v);
float odb_bf16_to_f32(uint16_t v);

#endif
