/* SPDX-License-Identifier: MIT
 *
 * Recurrences over the positions of a sequence.
 */

/* state[i][j] = state[i][j] * shrink[i * step], then recalled[j] += state[i][j] * key[i]. */
ODB_SIMD static void FN(stateful_recall)(ACC *state, const struct stateful_linear *s,
                                         const T *decay, const T *key, ACC *recalled)
{
    size_t n = s->v_size;
    for (size_t j = 0; j < n; j++)
        recalled[j] = 0;
    for (size_t i = 0; i < s->size; i++, state += n) {
        ACC shrink = decay ? (ACC)exp((double)decay[i * s->decay_step]) : 1, x = (ACC)key[i];
        for (size_t j = 0; j < n; j++) {
            state[j] *= shrink;
            recalled[j] += state[j] * x;
        }
    }
}

ODB_SIMD static void FN(stateful_write)(ACC *state, size_t size, size_t n, const T *key,
                                        const ACC *value)
{
    for (size_t i = 0; i < size; i++, state += n)
        for (size_t j = 0; j < n; j++)
            state[j] += (ACC)key[i] * value[j];
}

/* y = scale * q^T state. sums: [n] of working memory. */
ODB_SIMD static void FN(stateful_read)(const ACC *state, size_t size, size_t n, const T *q,
                                       ACC scale, ACC *sums, T *y)
{
    for (size_t j = 0; j < n; j++)
        sums[j] = 0;
    for (size_t i = 0; i < size; i++, state += n)
        for (size_t j = 0; j < n; j++)
            sums[j] += (ACC)q[i] * state[j];
    for (size_t j = 0; j < n; j++)
        y[j] = (T)(scale * sums[j]);
}

/* Heads of keys [begin, end), counted through the batch. */
static void FN(stateful_heads)(void *arg, size_t begin, size_t end)
{
    struct stateful_linear *s = arg;
    size_t n = s->v_size, cells = s->size * n, group = s->heads / s->kv_heads;
    ACC *state = odb_workspace(ODB_WORKSPACE_ROWS, (cells + 2 * n) * sizeof(ACC) + 1);
    if (!state) {
        atomic_store(&s->failed, true);
        return;
    }
    ACC *sums = state + cells, *value = sums + n;
    for (size_t item = begin; item < end; item++) {
        size_t b = item / s->kv_heads, h = item % s->kv_heads;
        for (size_t i = 0; i < cells; i++)
            state[i] = s->past ? (ACC)((const T *)s->past)[item * cells + i] : 0;
        for (size_t t = 0; t < s->steps; t++) {
            size_t row = b * s->steps + t, slot = row * s->kv_heads + h;
            const T *key = (const T *)s->k + slot * s->size, *v = (const T *)s->v + slot * n;
            const T *decay =
                s->decay ? (const T *)s->decay + row * s->decay_row + h * s->decay_head : NULL;
            if (decay || s->beta)
                FN(stateful_recall)(state, s, decay, key, sums);
            ACC beta =
                s->beta ? (ACC)((const T *)s->beta)[row * s->beta_row + h * s->beta_head] : 1;
            for (size_t j = 0; j < n; j++)
                value[j] = s->beta ? beta * ((ACC)v[j] - sums[j]) : (ACC)v[j];
            FN(stateful_write)(state, s->size, n, key, value);
            for (size_t g = h * group; g < (h + 1) * group; g++) {
                const T *q = (const T *)s->q + (row * s->heads + g) * s->size;
                T *y = (T *)s->y + (row * s->heads + g) * n;
                FN(stateful_read)(state, s->size, n, q, (ACC)s->scale, sums, y);
            }
        }
        for (size_t i = 0; i < cells && s->present; i++)
            ((T *)s->present)[item * cells + i] = (T)state[i];
    }
}

/* The sum under a kernel that ends at position t of a channel; what lies before its first position
 * is in past, or zero. */
static ACC FN(stateful_taps)(const struct stateful_conv *s, const T *x, const T *past, const T *w,
                             size_t t)
{
    size_t before = s->taps - 1;
    ACC sum = 0;
    for (size_t j = 0; j < s->taps; j++) {
        if (t + j >= before)
            sum += (ACC)w[j] * (ACC)x[t + j - before];
        else if (past)
            sum += (ACC)w[j] * (ACC)past[t + j];
    }
    return sum;
}

/* Channels [begin, end), counted through the batch. */
static void FN(stateful_channels)(void *arg, size_t begin, size_t end)
{
    const struct stateful_conv *s = arg;
    size_t before = s->taps - 1, n = s->length;
    for (size_t item = begin; item < end; item++) {
        size_t channel = item % s->channels;
        const T *x = (const T *)s->x + item * n, *w = (const T *)s->w + channel * s->taps;
        const T *past = s->past ? (const T *)s->past + item * before : NULL;
        ACC bias = s->bias ? (ACC)((const T *)s->bias)[channel] : 0;
        for (size_t t = 0; t < n && s->y; t++) {
            ACC sum = FN(stateful_taps)(s, x, past, w, t) + bias;
            if (s->swish)
                sum = sum / (1 + (ACC)exp(-(double)sum));
            ((T *)s->y)[item * n + t] = (T)sum;
        }
        for (size_t i = 0; i < before && s->present; i++)
            ((T *)s->present)[item * before + i] = n + i >= before ? x[n + i - before]
                                                   : past          ? past[n + i]
                                                                   : 0;
    }
}
