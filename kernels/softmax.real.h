/* SPDX-License-Identifier: MIT
 *
 * Softmax and its kin along one lane, x[0, n) contiguous. e: [n] of working memory.
 */
ODB_INLINE ACC FN(softmax_power)(ACC x)
{
    return sizeof(T) == sizeof(float) ? (ACC)softmax_exp(x) : (ACC)exp((double)x);
}

/* e = exp(x - top); their sum. */
ODB_SIMD static ACC FN(softmax_powers)(const T *x, size_t n, ACC top, ACC *e)
{
    for (size_t i = 0; i < n; i++)
        e[i] = FN(softmax_power)((ACC)x[i] - top);
    ACC part[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            part[l] += e[i + l];
    for (size_t l = 0; l < LANES; l++)
        sum += part[l];
    for (; i < n; i++)
        sum += e[i];
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

static void FN(softmax_lane)(enum softmax_kind kind, const T *x, size_t n, ACC *e, T *y)
{
    ACC top = FN(softmax_top)(x, n); /* keeps the powers within range; NaN reaches the sum */
    if (kind == SOFTMAX_HARD) {
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
            y[i] = 0;
            at = x[i] > x[at] || (IS_NAN(x[i]) && !IS_NAN(x[at])) ? i : at;
        }
        if (n)
            y[at] = 1;
        return;
    }
    ACC sum = FN(softmax_powers)(x, n, top, e);
    if (kind == SOFTMAX_PLAIN) {
        FN(softmax_scale)(e, n, sum, y);
        return;
    }
    ACC shift = (ACC)log((double)sum);
    for (size_t i = 0; i < n; i++)
        y[i] = (T)((ACC)x[i] - top - shift);
}

/* Lanes [begin, end). One that is not contiguous is gathered and scattered. */
static void FN(softmax_lanes)(void *arg, size_t begin, size_t end)
{
    struct softmax *s = arg;
    ACC *e = odb_workspace(ODB_WORKSPACE_ROWS, s->n * (sizeof(ACC) + 2 * sizeof(T)) + 1);
    if (!e) {
        atomic_store(&s->failed, true);
        return;
    }
    T *in = (T *)(e + s->n), *out = in + s->n;
    for (size_t lane = begin; lane < end; lane++) {
        size_t at = lane / s->inner * s->n * s->inner + lane % s->inner;
        const T *x = (const T *)s->x + at;
        T *y = (T *)s->y + at;
        if (s->inner == 1) {
            FN(softmax_lane)(s->kind, x, s->n, e, y);
            continue;
        }
        for (size_t i = 0; i < s->n; i++)
            in[i] = x[i * s->inner];
        FN(softmax_lane)(s->kind, in, s->n, e, out);
        for (size_t i = 0; i < s->n; i++)
            y[i * s->inner] = out[i];
    }
}
