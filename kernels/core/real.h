/* SPDX-License-Identifier: MIT
 *
 * Arithmetic is written once and compiled per element type. A kernel puts its loops in a body
 * file, says
 *
 *     #define ODB_BODY "kernels/name.real.h"
 *     #include "kernels/core/real.h"
 *
 * and gets the body four times: for float and double, each with sums in double and with sums one
 * by one in the element type (noisy mode). A body sees
 *
 *     T            element type, any alignment
 *     ACC          what sums are taken in
 *     FN(name)     the name of a function in this version
 *     LANES        partial sums that a long sum may be taken in; 1: strictly in order
 *     WRAP         type in which sums and products do not overflow into undefined behaviour
 *     LOWEST, HIGHEST, IS_NAN(v), ABSOLUTE(v)
 *     NOTHING      the quotient 0 / 0
 *     FUSED        of a function: products may be fused with sums, as they are exact: of floats in
 *                  double; nothing where they are not
 *
 * ODB_REAL_FN picks the version of a function for a call; versions share one prototype.
 */
#ifndef ODB_KERNELS_CORE_REAL_H
#define ODB_KERNELS_CORE_REAL_H

#include <math.h>

#include "kernels/core/fn.h"
#include "kernels/core/kern.h"
#include "kernels/core/simd.h"

#define ODB_REAL_FN(k, dtype, name)                                                                \
    ((dtype) == ODB_F64 ? ((k)->sequential ? name##_f64s : name##_f64)                             \
                        : ((k)->sequential ? name##_f32s : name##_f32))

#endif

#ifdef ODB_BODY
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define IS_NAN(v) isnan(v)
#define ABSOLUTE(v) ((ACC)fabs((double)(v)))
#define NOTHING NAN
#define WRAP ACC
#define T odb_f32
#define ACC double
#define LANES 8
#define SUFFIX f32
#if defined(__GNUC__) && !defined(__clang__)
#define FUSED __attribute__((optimize("fp-contract=fast")))
#else
#define FUSED
#endif
#include ODB_BODY
#undef ACC
#undef LANES
#undef SUFFIX
#undef FUSED
#define FUSED

#define ACC float
#define LANES 1
#define SUFFIX f32s
#include ODB_BODY
#undef T
#undef ACC
#undef LANES
#undef SUFFIX

#define T odb_f64
#define ACC double
#define LANES 8
#define SUFFIX f64
#include ODB_BODY
#undef LANES
#undef SUFFIX

#define LANES 1
#define SUFFIX f64s
#include ODB_BODY
#undef T
#undef ACC
#undef LANES
#undef SUFFIX
#undef FUSED
#undef LOWEST
#undef HIGHEST
#undef IS_NAN
#undef ABSOLUTE
#undef NOTHING
#undef WRAP
#undef ODB_BODY
#endif
