/* SPDX-License-Identifier: MIT
 *
 * Sums along contiguous memory: in LANES partial sums, added up in pairs at the end, or strictly
 * in order where LANES is 1. Part of the bodies that take means and norms.
 */
#define SUMS_BLOCK (2 * LANES)

ODB_INLINE ACC FN(sums_join)(const ACC *part)
{
    ACC sum = part[0];
    if (LANES == 1)
        return sum + part[1];
    ACC fold[SUMS_BLOCK];
    for (size_t l = 0; l < SUMS_BLOCK; l++)
        fold[l] = part[l];
    for (size_t half = SUMS_BLOCK / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            fold[l] += fold[l + half];
    return fold[0];
}

/* Sum of (x - shift)^power over x[0, n); power 1 or 2. */
ODB_INLINE ACC FN(sums_powers)(const T *x, size_t n, ACC shift, int power)
{
    ACC part[SUMS_BLOCK] = {0};
    size_t i = 0;
    for (; LANES > 1 && i + SUMS_BLOCK <= n; i += SUMS_BLOCK)
        for (size_t l = 0; l < SUMS_BLOCK; l++) {
            ACC v = (ACC)x[i + l] - shift;
            part[l] += power == 2 ? v * v : v;
        }
    for (; i < n; i++) {
        ACC v = (ACC)x[i] - shift;
        part[0] += power == 2 ? v * v : v;
    }
    return FN(sums_join)(part);
}

ODB_SIMD static ACC FN(sums_plain)(const T *x, size_t n)
{
    return FN(sums_powers)(x, n, 0, 1);
}

ODB_SIMD static ACC FN(sums_squares)(const T *x, size_t n, ACC shift)
{
    return FN(sums_powers)(x, n, shift, 2);
}
#undef SUMS_BLOCK
