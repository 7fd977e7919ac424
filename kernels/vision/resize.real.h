/* SPDX-License-Identifier: MIT
 *
 * Resizing along one axis: x is (outer, in, inner), y (outer, out, inner). Each step of y is a
 * weighted sum of p->taps steps of x. A unit of work is one step of y, or one line where inner is
 * 1. Sums of two are taken in the element type, longer ones in ACC, in order.
 */

static void FN(resize_line)(const struct resize_pass *p, const T *x, T *y)
{
    for (size_t j = 0; j < p->out; j++) {
        const int64_t *at = p->at + j * p->taps;
        const double *w = p->weights + j * p->taps;
        if (p->beyond[j]) {
            y[j] = (T)p->extrapolation;
        } else if (p->taps == 2) {
            y[j] = (T)w[0] * x[at[0]] + (T)w[1] * x[at[1]];
        } else {
            ACC sum = 0;
            for (size_t t = 0; t < p->taps; t++)
                sum += (ACC)w[t] * x[at[t]];
            y[j] = (T)sum;
        }
    }
}

static void FN(resize_step)(const struct resize_pass *p, const T *x, T *y, size_t j)
{
    const int64_t *at = p->at + j * p->taps;
    const double *w = p->weights + j * p->taps;
    size_t inner = p->inner;

    if (p->beyond[j]) {
        for (size_t c = 0; c < inner; c++)
            y[c] = (T)p->extrapolation;
    } else if (p->taps == 2) {
        const T *a = x + (size_t)at[0] * inner, *b = x + (size_t)at[1] * inner;
        T wa = (T)w[0], wb = (T)w[1];
        for (size_t c = 0; c < inner; c++)
            y[c] = wa * a[c] + wb * b[c];
    } else {
        for (size_t c = 0; c < inner; c++) {
            ACC sum = 0;
            for (size_t t = 0; t < p->taps; t++)
                sum += (ACC)w[t] * x[(size_t)at[t] * inner + c];
            y[c] = (T)sum;
        }
    }
}

static void FN(resize_body)(void *arg, size_t begin, size_t end)
{
    const struct resize_pass *p = arg;
    const T *x = p->from;
    T *y = p->to;

    for (size_t u = begin; u < end; u++) {
        size_t outer = p->inner == 1 ? u : u / p->out;
        const T *from = x + outer * p->in * p->inner;
        if (p->inner == 1)
            FN(resize_line)(p, from, y + outer * p->out);
        else
            FN(resize_step)(p, from, y + u * p->inner, u % p->out);
    }
}
