/* SPDX-License-Identifier: MIT
 *
 * Every float narrower than float32 is described by four numbers (struct dtype_mini), and one
 * encoder and one decoder serve them all: the encoder rounds a double's significand once, to the
 * quantum of the target's binade, so that no value is ever rounded twice. The types that models
 * are full of (float32, float16, bfloat16) have branch-free loops beside it, which the compiler
 * turns into vector code; the unit tests compare them with the general way over all bit patterns.
 *
 * Everything else converts through blocks of int64 (integers among themselves) or double. An
 * integer too large for a double goes there with its lost bits folded into one sticky bit, which
 * makes the next, final rounding come out as if it had been the only one.
 */
#include "tensor/dtype.h"

#include <math.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/processor.h"
#include "system/parallel.h"
#include "base/simd.h"
#include "tensor/tensor.h"

enum dtype_specials {
    MINI_IEEE, /* all-ones exponent: Inf and NaN */
    MINI_FN,   /* no Inf; all ones below the sign: NaN */
    MINI_FNUZ, /* no Inf, no -0; the code of -0 is NaN */
    MINI_NONE  /* every code is a number */
};

struct dtype_mini {
    int exp_bits, man_bits, bias;
    enum dtype_specials specials;
};

enum { DTYPE_BLOCK = 256, DTYPE_GRAIN = 1 << 16 };

static const struct odb_dtype_info dtype_table[ODB_DTYPE_COUNT] = {
    [ODB_UNDEFINED] = {"undefined", NULL, NULL, 0, ODB_CLASS_NONE, 0, 0, 0},
    [ODB_F32] = {"float", "float32", "<f4", 32, ODB_CLASS_FLOAT, 0x1p-23, 0x1.fffffep127, 0x1p-149},
    [ODB_U8] = {"uint8", "uint8", "|u1", 8, ODB_CLASS_UINT, 0, 0, 0},
    [ODB_I8] = {"int8", "int8", "|i1", 8, ODB_CLASS_INT, 0, 0, 0},
    [ODB_U16] = {"uint16", "uint16", "<u2", 16, ODB_CLASS_UINT, 0, 0, 0},
    [ODB_I16] = {"int16", "int16", "<i2", 16, ODB_CLASS_INT, 0, 0, 0},
    [ODB_I32] = {"int32", "int32", "<i4", 32, ODB_CLASS_INT, 0, 0, 0},
    [ODB_I64] = {"int64", "int64", "<i8", 64, ODB_CLASS_INT, 0, 0, 0},
    [ODB_STRING] = {"string", "str", NULL, 0, ODB_CLASS_STRING, 0, 0, 0},
    [ODB_BOOL] = {"bool", "bool", "|b1", 8, ODB_CLASS_BOOL, 0, 0, 0},
    [ODB_F16] = {"float16", "float16", "<f2", 16, ODB_CLASS_FLOAT, 0x1p-10, 65504, 0x1p-24},
    [ODB_F64] = {"double", "float64", "<f8", 64, ODB_CLASS_FLOAT, 0x1p-52, 0x1.fffffffffffffp1023,
                 0x1p-1074},
    [ODB_U32] = {"uint32", "uint32", "<u4", 32, ODB_CLASS_UINT, 0, 0, 0},
    [ODB_U64] = {"uint64", "uint64", "<u8", 64, ODB_CLASS_UINT, 0, 0, 0},
    [ODB_C64] = {"complex64", "complex64", "<c8", 64, ODB_CLASS_COMPLEX, 0x1p-23, 0x1.fffffep127,
                 0x1p-149},
    [ODB_C128] = {"complex128", "complex128", "<c16", 128, ODB_CLASS_COMPLEX, 0x1p-52,
                  0x1.fffffffffffffp1023, 0x1p-1074},
    [ODB_BF16] = {"bfloat16", NULL, NULL, 16, ODB_CLASS_FLOAT, 0x1p-7, 0x1.fep127, 0x1p-133},
    [ODB_F8E4M3FN] = {"float8e4m3fn", NULL, NULL, 8, ODB_CLASS_FLOAT, 0x1p-3, 448, 0x1p-9},
    [ODB_F8E4M3FNUZ] = {"float8e4m3fnuz", NULL, NULL, 8, ODB_CLASS_FLOAT, 0x1p-3, 240, 0x1p-10},
    [ODB_F8E5M2] = {"float8e5m2", NULL, NULL, 8, ODB_CLASS_FLOAT, 0x1p-2, 57344, 0x1p-16},
    [ODB_F8E5M2FNUZ] = {"float8e5m2fnuz", NULL, NULL, 8, ODB_CLASS_FLOAT, 0x1p-2, 57344, 0x1p-17},
    [ODB_U4] = {"uint4", NULL, NULL, 4, ODB_CLASS_UINT, 0, 0, 0},
    [ODB_I4] = {"int4", NULL, NULL, 4, ODB_CLASS_INT, 0, 0, 0},
    [ODB_F4E2M1] = {"float4e2m1", NULL, NULL, 4, ODB_CLASS_FLOAT, 0x1p-1, 6, 0.5},
    [ODB_F8E8M0] = {"float8e8m0", NULL, NULL, 8, ODB_CLASS_FLOAT, 1, 0x1p127, 0x1p-127},
    [ODB_U2] = {"uint2", NULL, NULL, 2, ODB_CLASS_UINT, 0, 0, 0},
    [ODB_I2] = {"int2", NULL, NULL, 2, ODB_CLASS_INT, 0, 0, 0},
};

static const struct dtype_mini dtype_minis[ODB_DTYPE_COUNT] = {
    [ODB_F16] = {5, 10, 15, MINI_IEEE},   [ODB_BF16] = {8, 7, 127, MINI_IEEE},
    [ODB_F8E4M3FN] = {4, 3, 7, MINI_FN},  [ODB_F8E4M3FNUZ] = {4, 3, 8, MINI_FNUZ},
    [ODB_F8E5M2] = {5, 2, 15, MINI_IEEE}, [ODB_F8E5M2FNUZ] = {5, 2, 16, MINI_FNUZ},
    [ODB_F4E2M1] = {2, 1, 1, MINI_NONE},
};

/* --- bits ------------------------------------------------------------------------------------- */

static inline uint64_t dtype_bits64(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static inline double dtype_from64(uint64_t u)
{
    double v;
    memcpy(&v, &u, sizeof v);
    return v;
}

static inline uint32_t dtype_bits32(float v)
{
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static inline float dtype_from32(uint32_t u)
{
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* 2^e for normal doubles. */
static inline double dtype_pow2(int e)
{
    return dtype_from64((uint64_t)(e + 1023) << 52);
}

/* --- the general encoder and decoder ---------------------------------------------------------- */

static double mini_decode(const struct dtype_mini *m, unsigned code)
{
    unsigned sign_bit = 1u << (m->exp_bits + m->man_bits);
    unsigned magnitude = code & (sign_bit - 1);
    unsigned exp = magnitude >> m->man_bits;
    unsigned man = magnitude & ((1u << m->man_bits) - 1);
    unsigned ones = (1u << m->exp_bits) - 1;
    double sign = code & sign_bit ? -1 : 1;

    if (m->specials == MINI_IEEE && exp == ones)
        return man ? NAN : sign * INFINITY;
    if (m->specials == MINI_FN && magnitude == sign_bit - 1)
        return NAN;
    if (m->specials == MINI_FNUZ && code == sign_bit)
        return NAN;
    if (exp == 0)
        return sign * man * dtype_pow2(1 - m->bias - m->man_bits);
    return sign * (man | 1u << m->man_bits) * dtype_pow2((int)exp - m->bias - m->man_bits);
}

/* Code of the largest finite magnitude. */
static unsigned mini_max_code(const struct dtype_mini *m)
{
    unsigned all = (1u << (m->exp_bits + m->man_bits)) - 1;
    switch (m->specials) {
    case MINI_IEEE:
        return all - (1u << m->man_bits);
    case MINI_FN:
        return all - 1;
    default:
        return all;
    }
}

/* Code of |v| rounded to nearest even, as if there were no largest number. */
static uint64_t mini_magnitude(const struct dtype_mini *m, uint64_t bits)
{
    int e = (int)(bits >> 52 & 0x7ff) - 1023;
    if (e == -1023)
        return 0; /* a double's subnormals are below half of any tiny here */
    uint64_t significand = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    int binade = ODB_MAX(e, 1 - m->bias);
    int shift = 52 - m->man_bits + binade - e;
    if (shift > 53)
        return 0;
    uint64_t odd = significand >> shift & 1;
    uint64_t n = (significand + (((uint64_t)1 << (shift - 1)) - 1) + odd) >> shift;
    return ((uint64_t)(binade + m->bias - 1) << m->man_bits) + n;
}

static unsigned mini_encode(const struct dtype_mini *m, double v, bool saturate)
{
    uint64_t bits = dtype_bits64(v);
    unsigned sign_bit = 1u << (m->exp_bits + m->man_bits);
    unsigned sign = bits >> 63 ? sign_bit : 0;
    unsigned max = mini_max_code(m);

    if (v != v) {
        switch (m->specials) {
        case MINI_IEEE: { /* quiet, with what fits of the payload */
            unsigned payload = (unsigned)(bits >> (52 - m->man_bits)) & ((1u << m->man_bits) - 1);
            return sign | (max + 1) | payload | 1u << (m->man_bits - 1);
        }
        case MINI_FN:
            return sign | (max + 1);
        case MINI_FNUZ:
            return sign_bit;
        default:
            return sign_bit; /* no NaN to give: -0, as the reference implementation does */
        }
    }
    uint64_t code = mini_magnitude(m, bits & ~((uint64_t)1 << 63));
    if (code <= max)
        return m->specials == MINI_FNUZ && code == 0 ? 0 : sign | (unsigned)code;
    if (saturate || m->specials == MINI_NONE)
        return sign | max;
    return m->specials == MINI_FNUZ ? sign_bit : sign | (max + 1);
}

/* 2^(code - 127); 255 is NaN; neither sign nor zero. */
static double e8m0_decode(unsigned code)
{
    return code == 255 ? NAN : dtype_pow2((int)code - 127);
}

static unsigned e8m0_encode(double v, bool saturate, enum odb_e8m0_round round)
{
    if (v != v || (v < 0x1p-127 && !saturate))
        return 255;
    if (!(v > 0x1p-127))
        return 0;
    if (v >= 0x1p128)
        return saturate ? 254 : 255;
    uint64_t bits = dtype_bits64(v);
    unsigned code = (unsigned)(bits >> 52) - 1023 + 127;
    uint64_t fraction = bits & 0xfffffffffffff;
    if (round == ODB_E8M0_UP)
        code += fraction != 0;
    else if (round == ODB_E8M0_NEAREST) /* ties away from zero: the grid has no even neighbour */
        code += fraction >> 51 & 1;
    return code < 255 ? code : saturate ? 254 : 255;
}

uint8_t odb_f64_to_f8(enum odb_dtype dtype, double v, bool saturate, enum odb_e8m0_round round)
{
    if (dtype == ODB_F8E8M0)
        return (uint8_t)e8m0_encode(v, saturate, round);
    ODB_ASSERT(odb_dtype_info(dtype)->bits <= 8 && dtype_minis[dtype].exp_bits);
    return (uint8_t)mini_encode(&dtype_minis[dtype], v, saturate);
}

/* --- float16 and bfloat16, branch-free -------------------------------------------------------- */

static inline uint16_t dtype_f32_to_f16(float v)
{
    uint32_t u = dtype_bits32(v), sign = u & 0x80000000u, a = u ^ sign;
    /* Adding 0.5 leaves a subnormal's ten bits, rounded by the adder, at the end of the sum. */
    uint32_t subnormal = dtype_bits32(dtype_from32(a) + 0.5f) - 0x3f000000u;
    uint32_t normal = (a + 0xfffu + (a >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t nan = 0x7e00u | (a >> 13 & 0x3ffu);
    uint32_t h = a < 0x38800000u ? subnormal : normal;
    h = a >= 0x47800000u ? 0x7c00u : h;
    h = a > 0x7f800000u ? nan : h;
    return (uint16_t)(h | sign >> 16);
}

static inline float dtype_f16_to_f32(uint16_t h)
{
    uint32_t a = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float tiny = dtype_from32(a + (113u << 23)) - 0x1p-14f;
    uint32_t normal = a + (112u << 23);
    uint32_t special = a + (224u << 23);
    uint32_t u = a < 0x00800000u ? dtype_bits32(tiny) : normal;
    u = a >= 0x0f800000u ? special : u;
    return dtype_from32(u | sign);
}

static inline uint16_t dtype_f32_to_bf16(float v)
{
    uint32_t u = dtype_bits32(v);
    uint32_t rounded = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
    uint32_t nan = u >> 16 | 0x40u;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

static inline float dtype_bf16_to_f32(uint16_t v)
{
    return dtype_from32((uint32_t)v << 16);
}

uint16_t odb_f32_to_f16(float v)
{
    return dtype_f32_to_f16(v);
}

float odb_f16_to_f32(uint16_t v)
{
    return dtype_f16_to_f32(v);
}

uint16_t odb_f32_to_bf16(float v)
{
    return dtype_f32_to_bf16(v);
}

float odb_bf16_to_f32(uint16_t v)
{
    return dtype_bf16_to_f32(v);
}

/* --- one element ------------------------------------------------------------------------------ */

/* Raw bits of a 4- or 2-bit element. */
static inline unsigned dtype_packed_get(const void *data, size_t i, unsigned bits)
{
    unsigned per_byte = 8 / bits, byte = ((const uint8_t *)data)[i / per_byte];
    return byte >> (i % per_byte * bits) & ((1u << bits) - 1);
}

static inline void dtype_packed_set(void *data, size_t i, unsigned bits, unsigned code)
{
    unsigned per_byte = 8 / bits, shift = (unsigned)(i % per_byte) * bits;
    uint8_t *byte = (uint8_t *)data + i / per_byte;
    unsigned mask = (1u << bits) - 1;
    *byte = (uint8_t)((*byte & ~(mask << shift)) | (code & mask) << shift);
}

static inline int dtype_sign_extend(unsigned code, unsigned bits)
{
    int half = 1 << (bits - 1);
    return ((int)code ^ half) - half;
}

/* Truncated, then modulo 2^64; NaN and infinities 0. */
static uint64_t dtype_wrap(double v)
{
    v = trunc(v);
    if (!(v >= -0x1p63 && v < 0x1p63)) {
        if (!isfinite(v))
            return 0;
        v = fmod(v, 0x1p64);
        return v < 0 ? -(uint64_t)-v : (uint64_t)v;
    }
    return (uint64_t)(int64_t)v;
}

static int64_t dtype_saturate(double v)
{
    if (v != v)
        return 0;
    if (v >= 0x1p63)
        return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* m as a double whose lost bits show as one: exact for another rounding to 40 bits or fewer. */
static double dtype_sticky(uint64_t m)
{
    if (m >> 53)
        m = (m & ~(uint64_t)0x7ff) | (m & 0x7ff ? 0x800 : 0);
    return (double)m;
}

static double dtype_sticky_i64(int64_t v)
{
    return v < 0 ? -dtype_sticky(-(uint64_t)v) : dtype_sticky((uint64_t)v);
}

double odb_load_f64(enum odb_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case ODB_F32:
        return ((const odb_f32 *)data)[i];
    case ODB_F64:
        return ((const odb_f64 *)data)[i];
    case ODB_F16:
        return dtype_f16_to_f32(((const odb_u16 *)data)[i]);
    case ODB_BF16:
        return dtype_bf16_to_f32(((const odb_u16 *)data)[i]);
    case ODB_F8E4M3FN:
    case ODB_F8E4M3FNUZ:
    case ODB_F8E5M2:
    case ODB_F8E5M2FNUZ:
        return mini_decode(&dtype_minis[dtype], ((const uint8_t *)data)[i]);
    case ODB_F4E2M1:
        return mini_decode(&dtype_minis[dtype], dtype_packed_get(data, i, 4));
    case ODB_F8E8M0:
        return e8m0_decode(((const uint8_t *)data)[i]);
    case ODB_C64:
        return ((const odb_f32 *)data)[2 * i];
    case ODB_C128:
        return ((const odb_f64 *)data)[2 * i];
    case ODB_U64:
        return (double)((const odb_u64 *)data)[i];
    case ODB_STRING:
    case ODB_UNDEFINED:
        return NAN;
    default:
        return (double)odb_load_i64(dtype, data, i);
    }
}

int64_t odb_load_i64(enum odb_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case ODB_U8:
        return ((const uint8_t *)data)[i];
    case ODB_I8:
        return ((const odb_i8 *)data)[i];
    case ODB_U16:
        return ((const odb_u16 *)data)[i];
    case ODB_I16:
        return ((const odb_i16 *)data)[i];
    case ODB_U32:
        return ((const odb_u32 *)data)[i];
    case ODB_I32:
        return ((const odb_i32 *)data)[i];
    case ODB_U64:
    case ODB_I64:
        return ((const odb_i64 *)data)[i];
    case ODB_BOOL:
        return ((const uint8_t *)data)[i] != 0;
    case ODB_U4:
        return dtype_packed_get(data, i, 4);
    case ODB_I4:
        return dtype_sign_extend(dtype_packed_get(data, i, 4), 4);
    case ODB_U2:
        return dtype_packed_get(data, i, 2);
    case ODB_I2:
        return dtype_sign_extend(dtype_packed_get(data, i, 2), 2);
    default:
        return dtype_saturate(odb_load_f64(dtype, data, i));
    }
}

/* The low bits of u into an integer element; bool: whether it is not 0. */
static void dtype_store_u64(enum odb_dtype dtype, void *data, size_t i, uint64_t u)
{
    switch (dtype) {
    case ODB_U8:
    case ODB_I8:
        ((uint8_t *)data)[i] = (uint8_t)u;
        break;
    case ODB_U16:
    case ODB_I16:
        ((odb_u16 *)data)[i] = (uint16_t)u;
        break;
    case ODB_U32:
    case ODB_I32:
        ((odb_u32 *)data)[i] = (uint32_t)u;
        break;
    case ODB_U64:
    case ODB_I64:
        ((odb_u64 *)data)[i] = u;
        break;
    case ODB_BOOL:
        ((uint8_t *)data)[i] = u != 0;
        break;
    case ODB_U4:
    case ODB_I4:
        dtype_packed_set(data, i, 4, (unsigned)u & 15);
        break;
    case ODB_U2:
    case ODB_I2:
        dtype_packed_set(data, i, 2, (unsigned)u & 3);
        break;
    default:
        break;
    }
}

void odb_store_f64(enum odb_dtype dtype, void *data, size_t i, double v)
{
    switch (dtype) {
    case ODB_F32:
        ((odb_f32 *)data)[i] = (float)v;
        break;
    case ODB_F64:
        ((odb_f64 *)data)[i] = v;
        break;
    case ODB_F16:
    case ODB_BF16:
        ((odb_u16 *)data)[i] = (uint16_t)mini_encode(&dtype_minis[dtype], v, false);
        break;
    case ODB_F8E4M3FN:
    case ODB_F8E4M3FNUZ:
    case ODB_F8E5M2:
    case ODB_F8E5M2FNUZ:
    case ODB_F8E8M0:
        ((uint8_t *)data)[i] = odb_f64_to_f8(dtype, v, true, ODB_E8M0_NEAREST);
        break;
    case ODB_F4E2M1:
        dtype_packed_set(data, i, 4, mini_encode(&dtype_minis[dtype], v, true));
        break;
    case ODB_C64:
        ((odb_f32 *)data)[2 * i] = (float)v;
        ((odb_f32 *)data)[2 * i + 1] = 0;
        break;
    case ODB_C128:
        ((odb_f64 *)data)[2 * i] = v;
        ((odb_f64 *)data)[2 * i + 1] = 0;
        break;
    case ODB_BOOL:
        ((uint8_t *)data)[i] = v != 0;
        break;
    default:
        dtype_store_u64(dtype, data, i, dtype_wrap(v));
    }
}

void odb_store_i64(enum odb_dtype dtype, void *data, size_t i, int64_t v)
{
    const enum odb_dtype_class class_ = odb_dtype_info(dtype)->class_;
    if (dtype == ODB_F64 || dtype == ODB_C128)
        odb_store_f64(dtype, data, i, (double)v);
    else if (class_ == ODB_CLASS_FLOAT || class_ == ODB_CLASS_COMPLEX)
        odb_store_f64(dtype, data, i, dtype_sticky_i64(v));
    else
        dtype_store_u64(dtype, data, i, (uint64_t)v);
}

/* --- many elements ---------------------------------------------------------------------------- */

#define DTYPE_LOOP(name, from_t, to_t, expr)                                                       \
    ODB_SIMD static void name(void *restrict dst_, const void *restrict src_, size_t begin,        \
                              size_t end)                                                          \
    {                                                                                              \
        to_t *restrict dst = dst_;                                                                 \
        const from_t *restrict src = src_;                                                         \
        for (size_t i = begin; i < end; i++)                                                       \
            dst[i] = (expr);                                                                       \
    }

DTYPE_LOOP(loop_f32_f64, odb_f32, odb_f64, src[i])
DTYPE_LOOP(loop_f64_f32, odb_f64, odb_f32, (float)src[i])
DTYPE_LOOP(loop_f32_f16, odb_f32, odb_u16, dtype_f32_to_f16(src[i]))
DTYPE_LOOP(loop_f16_f32, odb_u16, odb_f32, dtype_f16_to_f32(src[i]))
DTYPE_LOOP(loop_f16_f64, odb_u16, odb_f64, dtype_f16_to_f32(src[i]))
DTYPE_LOOP(loop_f32_bf16, odb_f32, odb_u16, dtype_f32_to_bf16(src[i]))
DTYPE_LOOP(loop_bf16_f32, odb_u16, odb_f32, dtype_bf16_to_f32(src[i]))
DTYPE_LOOP(loop_bf16_f64, odb_u16, odb_f64, dtype_bf16_to_f32(src[i]))
DTYPE_LOOP(loop_i8_f32, odb_i8, odb_f32, src[i])
DTYPE_LOOP(loop_u8_f32, odb_u8, odb_f32, src[i])
DTYPE_LOOP(loop_i32_f32, odb_i32, odb_f32, (float)src[i])
DTYPE_LOOP(loop_i64_f32, odb_i64, odb_f32, (float)src[i])
DTYPE_LOOP(loop_i8_f64, odb_i8, odb_f64, src[i])
DTYPE_LOOP(loop_u8_f64, odb_u8, odb_f64, src[i])
DTYPE_LOOP(loop_i16_f64, odb_i16, odb_f64, src[i])
DTYPE_LOOP(loop_u16_f64, odb_u16, odb_f64, src[i])
DTYPE_LOOP(loop_i32_f64, odb_i32, odb_f64, src[i])
DTYPE_LOOP(loop_i32_i64, odb_i32, odb_i64, src[i])
DTYPE_LOOP(loop_i64_i32, odb_i64, odb_i32, (int32_t)src[i])

/* Half precision by the processor's own instructions, which round as the loops above do. They set
 * the quiet bit of every NaN that they widen; so NaN is left to the loop. */
#if defined(__x86_64__) && defined(__GNUC__)
#define DTYPE_F16C __attribute__((target("avx,f16c")))

DTYPE_F16C static void dtype_narrow_f16(void *restrict dst, const void *restrict src, size_t begin,
                                        size_t end)
{
    size_t i = begin;
    for (; i + 8 <= end; i += 8)
        _mm_storeu_si128((void *)((odb_u16 *)dst + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps((const void *)((const odb_f32 *)src + i)),
                                         _MM_FROUND_TO_NEAREST_INT));
    loop_f32_f16(dst, src, i, end);
}

DTYPE_F16C static void dtype_widen_f16(void *restrict dst, const void *restrict src, size_t begin,
                                       size_t end)
{
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        __m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const void *)((const odb_u16 *)src + i)));
        if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)))
            loop_f16_f32(dst, src, i, i + 8);
        else
            _mm256_storeu_ps((void *)((odb_f32 *)dst + i), v);
    }
    loop_f16_f32(dst, src, i, end);
}

/* Doubles have quiet NaN in any case. */
DTYPE_F16C static void dtype_widen_f16_f64(void *restrict dst, const void *restrict src,
                                           size_t begin, size_t end)
{
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        __m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const void *)((const odb_u16 *)src + i)));
        _mm256_storeu_pd((odb_f64 *)dst + i, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
        _mm256_storeu_pd((odb_f64 *)dst + i + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    }
    loop_f16_f64(dst, src, i, end);
}
#else
#define dtype_narrow_f16 loop_f32_f16
#define dtype_widen_f16 loop_f16_f32
#define dtype_widen_f16_f64 loop_f16_f64
#endif

typedef void (*dtype_loop_fn)(void *restrict dst, const void *restrict src, size_t begin,
                              size_t end);

static const dtype_loop_fn dtype_loops[ODB_DTYPE_COUNT][ODB_DTYPE_COUNT] = {
    /* [to][from] */
    [ODB_F64][ODB_F32] = loop_f32_f64,   [ODB_F32][ODB_F64] = loop_f64_f32,
    [ODB_F16][ODB_F32] = loop_f32_f16,   [ODB_F32][ODB_F16] = loop_f16_f32,
    [ODB_F64][ODB_F16] = loop_f16_f64,   [ODB_BF16][ODB_F32] = loop_f32_bf16,
    [ODB_F32][ODB_BF16] = loop_bf16_f32, [ODB_F64][ODB_BF16] = loop_bf16_f64,
    [ODB_F32][ODB_I8] = loop_i8_f32,     [ODB_F32][ODB_U8] = loop_u8_f32,
    [ODB_F32][ODB_I32] = loop_i32_f32,   [ODB_F32][ODB_I64] = loop_i64_f32,
    [ODB_F64][ODB_I8] = loop_i8_f64,     [ODB_F64][ODB_U8] = loop_u8_f64,
    [ODB_F64][ODB_I16] = loop_i16_f64,   [ODB_F64][ODB_U16] = loop_u16_f64,
    [ODB_F64][ODB_I32] = loop_i32_f64,   [ODB_I64][ODB_I32] = loop_i32_i64,
    [ODB_I32][ODB_I64] = loop_i64_i32,
};

struct dtype_job {
    enum odb_dtype to, from;
    void *dst;
    const void *src;
};

static bool dtype_is_integral(enum odb_dtype dtype)
{
    return odb_dtype_is_integer(dtype) || dtype == ODB_BOOL;
}

static void dtype_convert_any(const struct dtype_job *job, size_t begin, size_t end)
{
    bool integral = dtype_is_integral(job->from);
    if (integral && (job->from != ODB_U64 || dtype_is_integral(job->to))) {
        for (size_t i = begin; i < end; i++)
            odb_store_i64(job->to, job->dst, i, odb_load_i64(job->from, job->src, i));
    } else if (integral && job->to != ODB_F64 && job->to != ODB_C128) {
        for (size_t i = begin; i < end; i++)
            odb_store_f64(job->to, job->dst, i, dtype_sticky(((const odb_u64 *)job->src)[i]));
    } else {
        for (size_t i = begin; i < end; i++)
            odb_store_f64(job->to, job->dst, i, odb_load_f64(job->from, job->src, i));
    }
}

static void dtype_convert_part(void *arg, size_t begin, size_t end)
{
    const struct dtype_job *job = arg;
    dtype_loop_fn loop = dtype_loops[job->to][job->from];
    if (job->to == ODB_F16 && job->from == ODB_F32 && odb_processor_has_f16c())
        loop = dtype_narrow_f16;
    else if (job->to == ODB_F32 && job->from == ODB_F16 && odb_processor_has_f16c())
        loop = dtype_widen_f16;
    else if (job->to == ODB_F64 && job->from == ODB_F16 && odb_processor_has_f16c())
        loop = dtype_widen_f16_f64;
    if (loop)
        loop(job->dst, job->src, begin, end);
    else
        dtype_convert_any(job, begin, end);
}

void odb_convert(enum odb_dtype to, void *dst, enum odb_dtype from, const void *src, size_t n)
{
    size_t bytes;
    if (n == 0 || !odb_dtype_bytes(from, n, &bytes))
        return;
    if (to == from) {
        memcpy(dst, src, bytes);
        return;
    }
    struct dtype_job job = {to, from, dst, src};
    if ((to == ODB_C64 && from == ODB_C128) || (to == ODB_C128 && from == ODB_C64)) {
        job.to = odb_dtype_part(to);
        job.from = odb_dtype_part(from);
        n *= 2;
    }
    /* A block's border is a multiple of four elements, so no two share a byte of packed ones. */
    odb_parallel_for(n, DTYPE_GRAIN, dtype_convert_part, &job);
}

ODB_SIMD static void dtype_round_f16(odb_f32 *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = dtype_f16_to_f32(dtype_f32_to_f16(x[i]));
}

ODB_SIMD static void dtype_round_bf16(odb_f32 *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = dtype_bf16_to_f32(dtype_f32_to_bf16(x[i]));
}

void odb_round_f32(enum odb_dtype to, odb_f32 *x, size_t n)
{
    if (to == ODB_F16)
        dtype_round_f16(x, n);
    else if (to == ODB_BF16)
        dtype_round_bf16(x, n);
    else if (dtype_minis[to].exp_bits)
        for (size_t i = 0; i < n; i++)
            x[i] = (float)mini_decode(&dtype_minis[to], mini_encode(&dtype_minis[to], x[i], true));
}

void odb_round_f64(enum odb_dtype to, odb_f64 *x, size_t n)
{
    const struct dtype_mini *m = &dtype_minis[to];
    bool saturate = to != ODB_F16 && to != ODB_BF16;
    if (to == ODB_F32)
        for (size_t i = 0; i < n; i++)
            x[i] = (float)x[i];
    else if (m->exp_bits)
        for (size_t i = 0; i < n; i++)
            x[i] = mini_decode(m, mini_encode(m, x[i], saturate));
}

ODB_SIMD void odb_round_tf32(odb_f32 *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u = dtype_bits32(x[i]);
        uint32_t rounded = (u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu;
        x[i] = dtype_from32((u & 0x7fffffffu) > 0x7f800000u ? u : rounded);
    }
}

/* --- the table -------------------------------------------------------------------------------- */

const struct odb_dtype_info *odb_dtype_info(enum odb_dtype dtype)
{
    return &dtype_table[(unsigned)dtype < ODB_DTYPE_COUNT ? dtype : ODB_UNDEFINED];
}

enum odb_dtype odb_dtype_parse(const char *name)
{
    for (unsigned i = 1; i < ODB_DTYPE_COUNT; i++) {
        const struct odb_dtype_info *info = &dtype_table[i];
        if (!strcasecmp(name, info->name) || (info->numpy && !strcasecmp(name, info->numpy)))
            return (enum odb_dtype)i;
    }
    return ODB_UNDEFINED;
}

bool odb_dtype_is_float(enum odb_dtype dtype)
{
    return odb_dtype_info(dtype)->class_ == ODB_CLASS_FLOAT;
}

bool odb_dtype_is_integer(enum odb_dtype dtype)
{
    enum odb_dtype_class class_ = odb_dtype_info(dtype)->class_;
    return class_ == ODB_CLASS_INT || class_ == ODB_CLASS_UINT;
}

enum odb_dtype odb_dtype_part(enum odb_dtype dtype)
{
    return dtype == ODB_C64 ? ODB_F32 : dtype == ODB_C128 ? ODB_F64 : dtype;
}

bool odb_dtype_bytes(enum odb_dtype dtype, size_t count, size_t *bytes)
{
    unsigned bits = odb_dtype_info(dtype)->bits;
    if (bits >= 8)
        return odb_size_mul(count, bits / 8, bytes);
    if (dtype == ODB_STRING)
        return odb_size_mul(count, sizeof(struct odb_str), bytes);
    if (bits == 0) {
        *bytes = 0;
        return count == 0;
    }
    unsigned per_byte = 8 / bits;
    *bytes = count / per_byte + (count % per_byte != 0);
    return true;
}
