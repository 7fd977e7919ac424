/* SPDX-License-Identifier: MIT */
#ifndef ODB_KERNELS_SIMD_H
#define ODB_KERNELS_SIMD_H

#include "base/simd.h"

/* Bytes of the vectors that kernels are written with; the compiler cuts them up where registers
 * are shorter. */
#define ODB_VEC_BYTES 64

#endif
