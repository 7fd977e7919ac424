/* SPDX-License-Identifier: MIT
 *
 * The loops of softmax over a contiguous row. e: [n] of working memory.
 */
ODB_INLINE ACC FN(softmax_power)(ACC x)
{
    return sizeof(T) == sizeof(float) ? (ACC)softmax_exp(x) : (ACC)exp((double)x);
}

/* e = exp(x - top); their sum. Powers of 0 at the end change no bit of it: a row has the same
 * weights whether keys that it may not see follow or are not there yet. */
ODB_SIMD static ACC FN(softmax_powers)(const T *x, size_t n, ACC top, ACC *e)
{
    for (size_t i = 0; i < n; i++)
        e[i] = FN(softmax_power)((ACC)x[i] - top);
    ACC part[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            part[l] += e[i + l];
    for (size_t l = 0; i + l < n; l++)
        part[l] += e[i + l];
    for (size_t l = 0; l < LANES; l++)
        sum += part[l];
    return sum;
}

ODB_SIMD static ACC FN(softmax_top)(const T *x, size_t n)
{
    T part[16];
    size_t i = 0;
    ACC top = LOWEST;
    for (size_t l = 0; l < 16; l++)
        part[l] = LOWEST;
    for (; i + 16 <= n; i += 16)
        for (size_t l = 0; l < 16; l++)
            part[l] = x[i + l] > part[l] ? x[i + l] : part[l];
    for (; i < n; i++)
        top = x[i] > top ? x[i] : top;
    for (size_t l = 0; l < 16; l++)
        top = part[l] > top ? part[l] : top;
    return top;
}

ODB_SIMD static void FN(softmax_scale)(const ACC *e, size_t n, ACC sum, T *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (T)(e[i] / sum);
}
