/* SPDX-License-Identifier: MIT
 *
 * Pools over a whole channel: channels [begin, end).
 */
#include "kernels/reduce/sums.real.h"

static void FN(pool_global)(void *arg, size_t begin, size_t end)
{
    struct pool *p = arg;
    size_t n = p->window.in_size;
    for (size_t channel = begin; channel < end; channel++) {
        const T *x = (const T *)p->x + channel * n;
        ACC sum = 0;
        if (p->kind == POOL_AVERAGE) {
            sum = FN(sums_plain)(x, n);
        } else if (p->kind == POOL_LP && p->p == 2) {
            sum = FN(sums_squares)(x, n, 0);
        } else if (p->kind == POOL_LP) {
            for (size_t i = 0; i < n; i++)
                sum += FN(pool_power)(p, x[i]);
        } else {
            sum = (ACC)LOWEST;
            for (size_t i = 0; i < n; i++)
                sum = x[i] > sum || IS_NAN(x[i]) ? x[i] : sum;
        }
        ((T *)p->y)[channel] = FN(pool_finish)(p, sum, (ACC)n);
    }
}
