/* SPDX-License-Identifier: MIT
 *
 * The few loops that carry the time are compiled for several instruction sets, and the loader
 * takes the widest one that the processor has. Multiplications and additions are fused where the
 * source says fma() and nowhere else (-ffp-contract=off), so every version gives the same bits.
 */
#ifndef ODB_BASE_SIMD_H
#define ODB_BASE_SIMD_H

#include <features.h>

/* Two turns of an outer loop taken together ("jammed") keep GCC from making vectors of the inner.
 */
#define ODB_OPTIMIZE optimize("O3", "no-loop-unroll-and-jam")

/* With fused multiply-add, for functions that ask for it; GCC before 12 knows no such set. */
#if __GNUC__ >= 12
#define ODB_SIMD_MIDDLE "arch=x86-64-v3"
#else
#define ODB_SIMD_MIDDLE "avx2"
#endif

/* ODB_SIMD_ONLY: one set of instructions, to compare its bits with those of others. Else sanitizers
 * instrument the resolver that chooses a version, and it runs before they do. */
#ifdef __clang__
#define ODB_SIMD_PLAIN
#else
#define ODB_SIMD_PLAIN                                                                             \
    __attribute__((ODB_OPTIMIZE)) /* for the set of the file, or the one given                     \
                                   */
#endif
#ifdef ODB_SIMD_ONLY
#define ODB_SIMD __attribute__((ODB_OPTIMIZE, target(ODB_SIMD_ONLY)))
#elif defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                          \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ODB_SIMD __attribute__((ODB_OPTIMIZE, target_clones("default", ODB_SIMD_MIDDLE, "avx512f")))
#else
#define ODB_SIMD ODB_SIMD_PLAIN
#endif

#define ODB_INLINE static inline __attribute__((always_inline))

#endif
