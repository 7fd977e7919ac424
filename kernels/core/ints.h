/* SPDX-License-Identifier: MIT
 *
 * The integer counterpart of real.h: the body once per integer type. ACC is 64 bits wide, of the
 * type's signedness; sums wrap as the type does once they are stored. ODB_INT_FN picks; bool is
 * taken as a byte. With ODB_BODY_BYTES there is one for int8 and one for uint8 alone, and
 * ODB_BYTE_FN picks.
 */
#ifndef ODB_KERNELS_CORE_INTS_H
#define ODB_KERNELS_CORE_INTS_H

#include "kernels/core/real.h"

#define ODB_INT_FN(dtype, name)                                                                    \
    ((__typeof__(&name##_i8) const[ODB_DTYPE_COUNT]){[ODB_I8] = name##_i8,                         \
                                                     [ODB_I16] = name##_i16,                       \
                                                     [ODB_I32] = name##_i32,                       \
                                                     [ODB_I64] = name##_i64,                       \
                                                     [ODB_U8] = name##_u8,                         \
                                                     [ODB_U16] = name##_u16,                       \
                                                     [ODB_U32] = name##_u32,                       \
                                                     [ODB_U64] = name##_u64,                       \
                                                     [ODB_BOOL] = name##_u8}[dtype])
#define ODB_BYTE_FN(dtype, name) ((dtype) == ODB_I8 ? name##_i8 : name##_u8)

#endif

#ifdef ODB_BODY
#define LANES 1
#define IS_NAN(v) false
#define NOTHING 0
#define WRAP uint64_t
#define ACC int64_t
#define ABSOLUTE(v) ((ACC)((v) < 0 ? 0 - (uint64_t)(v) : (uint64_t)(v)))
#define T odb_i8
#define SUFFIX i8
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#ifndef ODB_BODY_BYTES
#define T odb_i16
#define SUFFIX i16
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#define T odb_i32
#define SUFFIX i32
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#define T odb_i64
#define SUFFIX i64
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#endif
#undef ACC
#undef ABSOLUTE
#define ACC uint64_t
#define ABSOLUTE(v) (v)
#define T odb_u8
#define SUFFIX u8
#define LOWEST 0
#define HIGHEST UINT8_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#ifndef ODB_BODY_BYTES
#define T odb_u16
#define SUFFIX u16
#define LOWEST 0
#define HIGHEST UINT16_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#define T odb_u32
#define SUFFIX u32
#define LOWEST 0
#define HIGHEST UINT32_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#define T odb_u64
#define SUFFIX u64
#define LOWEST 0
#define HIGHEST UINT64_MAX
#include ODB_BODY
#undef T
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#endif
#undef ACC
#undef ABSOLUTE
#undef LANES
#undef IS_NAN
#undef NOTHING
#undef WRAP
#undef ODB_BODY
#undef ODB_BODY_BYTES
#endif
