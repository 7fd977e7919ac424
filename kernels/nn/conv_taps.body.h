/* SPDX-License-Identifier: MIT
 *
 * The sum of shifted planes that a convolution of few channels is (conv.real.h), per width of
 * registers (wide.h).
 */
typedef ACC WIDE_FN(vec) __attribute__((vector_size(VEC), aligned(sizeof(ACC)), may_alias));

/* out[i] = start + sum over taps of weight * planes[tap + i]. Writes whole blocks. */
WIDE FUSED static void WIDE_FN(conv_taps)(const ACC *planes, const size_t *tap, const ACC *weight,
                                          size_t taps, ACC start, size_t n, ACC *out)
{
    const size_t lanes = VEC / sizeof(ACC);
    for (size_t i = 0; i < n; i += 4 * lanes) {
        WIDE_FN(vec) s0 = start - (WIDE_FN(vec)){0}, s1 = s0, s2 = s0, s3 = s0;
        for (size_t t = 0; t < taps; t++) {
            const WIDE_FN(vec) *x = (const WIDE_FN(vec) *)(planes + tap[t] + i);
            s0 += weight[t] * x[0];
            s1 += weight[t] * x[1];
            s2 += weight[t] * x[2];
            s3 += weight[t] * x[3];
        }
        WIDE_FN(vec) *to = (WIDE_FN(vec) *)(out + i);
        to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
    }
}
