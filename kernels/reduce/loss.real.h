/* SPDX-License-Identifier: MIT
 *
 * Losses of a classifier; see loss.c.
 */

/* Places [begin, end): log_prob[n, :, d] = x[n, :, d] - log(sum(exp(x[n, :, d]))). */
static void FN(loss_log_softmax)(void *arg, size_t begin, size_t end)
{
    const struct loss *s = arg;
    for (size_t place = begin; place < end; place++) {
        size_t at = place / s->inner * s->classes * s->inner + place % s->inner;
        const T *x = (const T *)s->x + at;
        T *y = (T *)s->log_prob + at;
        ACC top = (ACC)LOWEST, sum = 0;
        for (size_t c = 0; c < s->classes; c++)
            top = (ACC)x[c * s->inner] > top ? (ACC)x[c * s->inner] : top;
        for (size_t c = 0; c < s->classes; c++)
            sum += (ACC)exp((double)((ACC)x[c * s->inner] - top));
        ACC shift = (ACC)log((double)sum);
        for (size_t c = 0; c < s->classes; c++)
            y[c * s->inner] = (T)((ACC)x[c * s->inner] - top - shift);
    }
}

/* The loss of every place, added up where it is reduced. log_prob are T. */
static void FN(loss_sum)(const struct loss *s)
{
    const T *log_prob = s->log_prob, *weight = s->weight;
    T *y = s->y;
    ACC sum = 0, weights = 0;
    for (size_t place = 0; place < s->places; place++) {
        int64_t target = odb_tensor_i64(s->target, place);
        ACC w = s->ignores && target == s->ignored ? 0 : weight ? (ACC)weight[target] : 1;
        ACC v = 0;
        if (!(s->ignores && target == s->ignored)) {
            size_t at = (place / s->inner * s->classes + (size_t)target) * s->inner;
            v = -w * (ACC)log_prob[at + place % s->inner];
        }
        if (s->reduction == LOSS_NONE)
            y[place] = (T)v;
        sum += v;
        weights += w;
    }
    if (s->reduction == LOSS_SUM)
        y[0] = (T)sum;
    else if (s->reduction == LOSS_MEAN)
        y[0] = (T)(sum / weights);
}
