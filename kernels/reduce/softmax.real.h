/* SPDX-License-Identifier: MIT
 *
 * Softmax and its kin along one lane, x[0, n) contiguous. e: [n] of working memory.
 */
#include "kernels/reduce/softmax_row.real.h"

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
