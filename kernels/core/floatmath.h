/* SPDX-License-Identifier: MIT
 *
 * Exponentials for results in float. They have no branches, tables or calls, so that loops over
 * them become vector code. odb_float_* take and give doubles with a relative error below 1e-10,
 * which one rounding to float hides; odb_single_* are for what models spend most time in, and
 * compute in float, with fused multiply-adds, to less than two units in the last place. Results in
 * double want the C library's functions instead:
 *
 *     ODB_BY_TYPE(a, exp)    odb_float_exp where a is a float, exp where it is a double
 *     ODB_SINGLE(a, exp)     odb_single_exp where a is a float, exp where it is a double
 *
 * Polynomials interpolate at Chebyshev nodes; the unit tests compare all functions with the C
 * library's.
 */
#ifndef ODB_KERNELS_CORE_FLOATMATH_H
#define ODB_KERNELS_CORE_FLOATMATH_H

#include <stdint.h>
#include <string.h>

#include "kernels/core/simd.h"

#define ODB_BY_TYPE(a, name) _Generic((a), float : odb_float_##name, double : name)
#define ODB_SINGLE(a, name) _Generic((a), float : odb_single_##name, double : name)

/* e^x = 2^n e^r with n whole and |r| <= ln(2) / 2. *scale = 2^n; returns e^r - 1, to its own
 * precision, not that of 1. What is beyond a double's range gives its largest or smallest power. */
ODB_INLINE double odb_float_exp_parts(double x, double *scale)
{
    const double magic = 0x1.8p52; /* adding it leaves a whole number in the low bits */
    x = x < -708 ? -708 : x;
    x = x > 709 ? 709 : x;
    double shifted = x * 1.4426950408889634 + magic;
    double r = x - (shifted - magic) * 0.6931471805599453;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52; /* the bits of magic fall off */
    memcpy(scale, &bits, sizeof bits);
    double p = 0x1.a136bb89653e5p-16;
    p = p * r + 0x1.a17e00d4ced83p-13;
    p = p * r + 0x1.6c166be0adbfbp-10;
    p = p * r + 0x1.1110a619d430ep-7;
    p = p * r + 0x1.55555565c7466p-5;
    p = p * r + 0x1.5555557e75f6cp-3;
    p = p * r + 0x1.fffffffffe064p-2;
    p = p * r + 0x1.fffffffff61e4p-1;
    return p * r;
}

ODB_INLINE double odb_float_exp(double x)
{
    double scale, p = odb_float_exp_parts(x, &scale);
    return x < -708 ? 0 : scale + scale * p; /* so that e^-inf is 0 */
}

ODB_INLINE double odb_float_expm1(double x)
{
    double scale, p = odb_float_exp_parts(x, &scale);
    return scale * p + (scale - 1);
}

ODB_INLINE double odb_float_tanh(double x)
{
    double size = x < 0 ? -x : x;
    double e = odb_float_expm1(2 * (size > 20 ? 20 : size)); /* tanh(20) is 1 - 1e-17 */
    return __builtin_copysign(e / (e + 2), x);
}

/* erfc of z >= 0: e^(-z^2) t P(t) with t = 1 / (1 + 0.3 z); P was fitted up to z = 10.5, where erfc
 * has long left float's range. */
ODB_INLINE double odb_float_erfc_right(double z)
{
    double t = 1 / (1 + 0.3 * z);
    double p = -0x1.a0165863472eap-6;
    p = p * t + 0x1.8d72994e9ae81p-3;
    p = p * t - 0x1.39899de05ba0cp-1;
    p = p * t + 0x1.09423da559ae2p+0;
    p = p * t - 0x1.1d1c3e1001b1fp+0;
    p = p * t + 0x1.d5e4340f6936p-1;
    p = p * t - 0x1.a8cd2cedc0b25p-2;
    p = p * t + 0x1.2d154428b3b67p-2;
    p = p * t + 0x1.149be61a52684p-4;
    p = p * t + 0x1.43cb5bf4b89dp-3;
    p = p * t + 0x1.47c39d2bd5d1dp-3;
    p = p * t + 0x1.5ae7f1eb82fcbp-3;
    p = p * t + 0x1.5aa0cfc7aee3ep-3;
    return p * t * odb_float_exp(-z * z);
}

ODB_INLINE double odb_float_erfc(double x)
{
    double right = odb_float_erfc_right(x < 0 ? -x : x);
    return x < 0 ? 2 - right : right;
}

/* Near 0 an odd polynomial, for 1 - erfc loses its digits there. */
ODB_INLINE double odb_float_erf(double x)
{
    double z = x < 0 ? -x : x, square = z * z;
    double p = 0x1.8d384f1fb77p-14;
    p = p * square - 0x1.b624c9b078c67p-11;
    p = p * square + 0x1.55e3343fd4b27p-8;
    p = p * square - 0x1.b827051379ffbp-6;
    p = p * square + 0x1.ce2efea776368p-4;
    p = p * square - 0x1.81274661ca5c3p-2;
    p = p * square + 0x1.20dd75040cec4p+0;
    double far = 1 - odb_float_erfc_right(z);
    return z < 0.75 ? p * x : x < 0 ? -far : far;
}

/* --- in float --------------------------------------------------------------------------------- */

#define ODB_FMA(a, b, c) __builtin_fmaf(a, b, c)

/* e^x = 2^n (1 + y) with n whole, y in [-0.3, 0.42]: returns y and 2^(n + more), which must lie in
 * [-126, 127]. */
ODB_INLINE float odb_single_exp_parts(float x, int more, float *power)
{
    const float magic = 0x1.8p23f; /* adding it leaves a whole number in the low bits */
    float shifted = ODB_FMA(x, 0x1.715476p0f, magic), n = shifted - magic;
    float r = ODB_FMA(n, -0x1.62e43p-1f, x);
    r = ODB_FMA(n, 0x1.05c61p-29f, r); /* the rest of ln(2) */
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127 + (uint32_t)more) << 23; /* the bits of magic fall off */
    memcpy(power, &bits, sizeof bits);
    float q = 0x1.a1256cp-13f;
    q = ODB_FMA(q, r, 0x1.6d43bp-10f);
    q = ODB_FMA(q, r, 0x1.1110ep-7f);
    q = ODB_FMA(q, r, 0x1.5554e8p-5f);
    q = ODB_FMA(q, r, 0x1.555556p-3f);
    q = ODB_FMA(q, r, 0.5f);
    return ODB_FMA(r * r, q, r);
}

/* In two steps, so that the lower end is gradual and the upper infinite. */
ODB_INLINE float odb_single_exp(float x)
{
    float power, step = x < 0 ? 0x1p-24f : 0x1p24f;
    x = x < -104 ? -104 : x;
    x = x > 89 ? 89 : x;
    float less = odb_single_exp_parts(x, x < 0 ? 24 : -24, &power);
    return (1 + less) * power * step;
}

/* Never overflows: the exponential is that of a negative number. The reciprocal of 1 + e^-|x| takes
 * a step of Newton's, as that sum and the power have both lost what is below their last place. */
ODB_INLINE float odb_single_sigmoid(float x)
{
    float power, least = -__builtin_fabsf(x);
    float less = odb_single_exp_parts(least < -104 ? -104 : least, 24, &power), grown = 1 + less;
    float rest = less - (grown - 1), small = grown * power * 0x1p-24f, sum = 1 + small;
    float y = 1 / sum, lost = ODB_FMA(small, rest, small - (sum - 1));
    y = ODB_FMA(y, ODB_FMA(-y, lost, ODB_FMA(-y, sum, 1.0f)), y);
    float left = small * y;
    return x >= 0 ? y : ODB_FMA(left, rest, left);
}

/* Near 0 an odd polynomial; else 1 - 2 / (e^2x + 1), which is above a half. */
ODB_INLINE float odb_single_tanh(float x)
{
    float size = x < 0 ? -x : x, square = x * x;
    float p = -0x1.b13538p-8f;
    p = ODB_FMA(p, square, 0x1.5d220ep-6f);
    p = ODB_FMA(p, square, -0x1.b9a044p-5f);
    p = ODB_FMA(p, square, 0x1.110feap-3f);
    p = ODB_FMA(p, square, -0x1.555554p-2f);
    float near = ODB_FMA(p * square, x, x);
    float power, less = odb_single_exp_parts(2 * (size > 10 ? 10 : size), 0, &power);
    float far = 1 - 2 / (ODB_FMA(less, power, power) + 1);    /* 1 - 4e-9 at 10 */
    return __builtin_copysignf(size < 0.55f ? near : far, x); /* -0 stays */
}

/* Near 0 an odd polynomial; else 1 - erfc, which is e^(-z^2) t P(t) with t = 1 / (1 + 0.45 z). */
ODB_INLINE float odb_single_erf(float x)
{
    float z = x < 0 ? -x : x, square = z * z;
    float p = 0x1.65bfcp-14f;
    p = ODB_FMA(p, square, -0x1.acd92ap-11f);
    p = ODB_FMA(p, square, 0x1.55107p-8f);
    p = ODB_FMA(p, square, -0x1.b815ccp-6f);
    p = ODB_FMA(p, square, 0x1.ce2e5cp-4f);
    p = ODB_FMA(p, square, -0x1.812744p-2f);
    p = ODB_FMA(p, square, 0x1.06eba8p-3f);
    z = z > 4 ? 4 : z; /* erf(4) is 1 - 2e-8 */
    float t = 1 / ODB_FMA(0.45f, z, 1.0f), q = 0x1.e6370ep-5f;
    q = ODB_FMA(q, t, -0x1.7e9fdep-2f);
    q = ODB_FMA(q, t, 0x1.5c4e1ep-1f);
    q = ODB_FMA(q, t, -0x1.f5a84cp-3f);
    q = ODB_FMA(q, t, 0x1.a7278ap-2f);
    q = ODB_FMA(q, t, 0x1.a3dfd2p-3f);
    q = ODB_FMA(q, t, 0x1.0b5a0ap-2f);
    q = ODB_FMA(q, t, -0x1.de6e98p-12f);
    float power, less = odb_single_exp_parts(-z * z, 0, &power);
    float far = ODB_FMA(-q, ODB_FMA(less, power, power), 1.0f);
    return square < 0.81f ? ODB_FMA(p, x, x) : __builtin_copysignf(far, x);
}

#endif
