/* SPDX-License-Identifier: MIT
 *
 * The product with vectors of 16 bytes, as the compiler has them on every processor, for both
 * element types and one set of instructions (product.c): SET names its functions, FMA_f32 and
 * FMA_f64 are its multiply-adds of vectors, FMA1_f32 and FMA1_f64 those of one element.
 */
#define E odb_f32
#define FN(name) SET(name##_f32)
#define QUAD product_quad_f32
#define V product_f32x4
#define LANES 4
#define LOAD(p) ((product_f32x4) * (const product_f32x4_any *)(const void *)(p))
#define STORE(p, v) (*(product_f32x4_any *)(void *)(p) = (v))
#define ADD(a, b) ((a) + (b))
#define FMA(a, b, c) FMA_f32(a, b, c)
#define FMA1(a, b, c) FMA1_f32(a, b, c)
#define SPREAD(x) ((product_f32x4){x, x, x, x})
#define ZERO() ((product_f32x4){0})
#include "kernels/linear/product.body.h"

#define E odb_f64
#define FN(name) SET(name##_f64)
#define QUAD product_quad_f64
#define V product_f64x2
#define LANES 2
#define LOAD(p) ((product_f64x2) * (const product_f64x2_any *)(const void *)(p))
#define STORE(p, v) (*(product_f64x2_any *)(void *)(p) = (v))
#define ADD(a, b) ((a) + (b))
#define FMA(a, b, c) FMA_f64(a, b, c)
#define FMA1(a, b, c) FMA1_f64(a, b, c)
#define SPREAD(x) ((product_f64x2){x, x})
#define ZERO() ((product_f64x2){0})
#include "kernels/linear/product.body.h"

#undef TARGET
#undef ROWS
#undef SET
#undef FMA_f32
#undef FMA_f64
#undef FMA1_f32
#undef FMA1_f64
