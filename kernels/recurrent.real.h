/* SPDX-License-Identifier: MIT
 *
 * One step of one batch entry of the three recurrent cells. x holds W*X + biases of all gates, r
 * holds R*H (both overwritten), gates in the order of the weights; h and c are the state, in place.
 */

static double FN(recurrent_act)(const struct recurrent *r, int which, T v)
{
    double x = (double)v;

    if (r->clip > 0) { /* keeps NaN */
        x = x < -r->clip ? -r->clip : x;
        x = x > r->clip ? r->clip : x;
    }
    const struct recurrent_act *a = &r->act[which];
    return a->fn(x, a->alpha, a->beta);
}

static void FN(recurrent_rnn)(const struct recurrent *r, const void *peep, void *xs, void *rs,
                              void *hs, void *cs)
{
    T *x = xs, *rec = rs, *h = hs;

    for (size_t j = 0; j < r->hidden; j++)
        h[j] = (T)FN(recurrent_act)(r, 0, x[j] + rec[j]);
}

/* Gates z, r, h. rec holds R*H of z and r; of h too where linear_before_reset, plus its bias. */
static void FN(recurrent_gru_gates)(const struct recurrent *r, void *xs, void *rs)
{
    T *x = xs, *rec = rs;

    for (size_t j = 0; j < 2 * r->hidden; j++)
        x[j] = (T)FN(recurrent_act)(r, 0, x[j] + rec[j]);
}

static void FN(recurrent_gru)(const struct recurrent *r, const void *peep, void *xs, void *rs,
                              void *hs, void *cs)
{
    T *x = xs, *rec = rs, *h = hs;
    size_t n = r->hidden;

    for (size_t j = 0; j < n; j++) {
        T z = x[j], reset = x[n + j], inner = rec[2 * n + j];
        T fresh = (T)FN(recurrent_act)(r, 1, x[2 * n + j] + (r->linear ? reset * inner : inner));
        h[j] = (1 - z) * fresh + z * h[j];
    }
}

/* Gates i, o, f, c; peepholes i, o, f. */
static void FN(recurrent_lstm)(const struct recurrent *r, const void *peep, void *xs, void *rs,
                               void *hs, void *cs)
{
    const T *p = peep;
    T *x = xs, *rec = rs, *h = hs, *c = cs;
    size_t n = r->hidden;

    for (size_t j = 0; j < n; j++) {
        T pi = p ? p[j] * c[j] : 0, pf = p ? p[2 * n + j] * c[j] : 0;
        T i = (T)FN(recurrent_act)(r, 0, x[j] + rec[j] + pi);
        T f = (T)FN(recurrent_act)(r, 0, x[2 * n + j] + rec[2 * n + j] + pf);
        T g = (T)FN(recurrent_act)(r, 1, x[3 * n + j] + rec[3 * n + j]);
        if (r->couple)
            f = 1 - i;
        c[j] = f * c[j] + i * g;
        T po = p ? p[n + j] * c[j] : 0;
        T o = (T)FN(recurrent_act)(r, 0, x[n + j] + rec[n + j] + po);
        h[j] = o * (T)FN(recurrent_act)(r, 2, c[j]);
    }
}

/* x[gates * hidden] += wb, and rb except where linear_before_reset takes that of the last gate. */
static void FN(recurrent_bias)(const struct recurrent *r, const void *bias, void *xs, void *rs)
{
    const T *wb = bias, *rb = wb + r->gates * r->hidden;
    size_t n = r->hidden * r->gates, inner = r->linear ? 2 * r->hidden : n;
    T *x = xs, *rec = rs;

    for (size_t j = 0; j < n; j++)
        x[j] += wb[j];
    for (size_t j = 0; j < n; j++) {
        T *to = j < inner ? x : rec;
        to[j] += rb[j];
    }
}

/* out = reset gate times state. */
static void FN(recurrent_reset)(const struct recurrent *r, const void *xs, const void *hs,
                                void *outs)
{
    const T *x = xs, *h = hs;
    T *out = outs;

    for (size_t j = 0; j < r->hidden; j++)
        out[j] = x[r->hidden + j] * h[j];
}
