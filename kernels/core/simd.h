/* SPDX-License-Identifier: MIT
 *
 * Two ways to loops that are as fast as the processor. Plain loops over elements are marked
 * ODB_SIMD (base/simd.h), and the compiler makes vectors of them. Where sums have to stay in
 * registers, the vectors are written out as vectors of VEC bytes; then the body is compiled once
 * per width of registers, because vectors wider than those are taken apart through the stack:
 *
 *     #define ODB_WIDE_BODY "kernels/name.body.h"
 *     #include "kernels/core/wide.h"
 *
 * and a caller takes ODB_WIDEST(FN(name)).
 */
#ifndef ODB_KERNELS_CORE_SIMD_H
#define ODB_KERNELS_CORE_SIMD_H

#include "base/simd.h"
#include "kernels/core/fn.h"

/* Bytes of the widest registers there are: what panels and slack are multiples of. */
#define ODB_VEC_BYTES 64

/* The version of a function for the widest registers that this processor has. */
#if defined(ODB_SIMD_ONLY)
#define ODB_WIDEST(name) ODB_PASTE(name, ODB_SIMD_ONLY_WIDTH)
#elif defined(__x86_64__) && defined(__GNUC__)
#define ODB_WIDEST(name)                                                                           \
    (__builtin_cpu_supports("avx512f")                                 ? ODB_PASTE(name, v64)      \
     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? ODB_PASTE(name, v32)      \
                                                                       : ODB_PASTE(name, v16))
#else
#define ODB_WIDEST(name) ODB_PASTE(name, v16)
#endif

#endif
