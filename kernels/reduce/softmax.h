/* SPDX-License-Identifier: MIT
 *
 * The power that softmax is made of; kernels/reduce/softmax_row.real.h has the rest that its users
 * share.
 */
#ifndef ODB_KERNELS_REDUCE_SOFTMAX_H
#define ODB_KERNELS_REDUCE_SOFTMAX_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/core/simd.h"

/* e^x for x <= 0 (or NaN) with a relative error near 1e-14: enough for results in float, and a
 * loop over it is vectorised. x = n ln 2 + r; e^r by its series, and n goes to the exponent. */
ODB_INLINE double softmax_exp(double x)
{
    const double shift = 0x1.8p52; /* adding it leaves the nearest integer in the low bits */
    double clamped = x < -700 ? -700 : x;
    double biased = clamped * 0x1.71547652b82fep+0 + shift;
    double n = biased - shift;
    double r = clamped - n * 0x1.62e42fefa38p-1 - n * 0x1.ef35793c7673p-45;
    double p = 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    uint64_t bits, exponent;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&exponent, &biased, sizeof exponent);
    bits += exponent << 52;
    memcpy(&p, &bits, sizeof p);
    return x <= 0 ? p : NAN;
}

#endif
