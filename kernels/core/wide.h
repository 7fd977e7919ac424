/* SPDX-License-Identifier: MIT
 *
 * Compiles ODB_WIDE_BODY once per width of registers (simd.h). A body sees
 *
 *     VEC          bytes of a vector
 *     WIDE         before each of its functions: for which instructions it is
 *     WIDE_FN(name)   FN(name) in this version
 *
 * Every version has to give the same bits: what is summed, and in which order, may not depend on
 * VEC.
 */
#include "kernels/core/simd.h"

#ifdef ODB_WIDE_BODY
#define WIDE_FN(name) ODB_PASTE(FN(name), WIDTH)

#if defined(ODB_SIMD_ONLY)
#define WIDE ODB_SIMD
#define VEC ODB_SIMD_ONLY_BYTES
#define WIDTH ODB_SIMD_ONLY_WIDTH
#include ODB_WIDE_BODY
#undef WIDE
#undef VEC
#undef WIDTH
#else

#define WIDE ODB_SIMD_PLAIN
#define VEC 16
#define WIDTH v16
#include ODB_WIDE_BODY
#undef WIDE
#undef VEC
#undef WIDTH

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE ODB_SIMD_PLAIN __attribute__((target("avx2,fma")))
#define VEC 32
#define WIDTH v32
#include ODB_WIDE_BODY
#undef WIDE
#undef VEC
#undef WIDTH

#define WIDE ODB_SIMD_PLAIN __attribute__((target("avx512f")))
#define VEC 64
#define WIDTH v64
#include ODB_WIDE_BODY
#undef WIDE
#undef VEC
#undef WIDTH
#endif
#endif

#undef WIDE_FN
#undef ODB_WIDE_BODY
#endif
