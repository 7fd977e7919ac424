/* SPDX-License-Identifier: MIT
 *
 * One step of one batch entry of the three recurrent cells. x holds W*X + biases of all gates, r
 * holds R*H (both overwritten), gates in the order of the weights; h and c are the state, in place.
 */

ODB_SIMD static void FN(recurrent_sigmoids)(T *v, size_t n)
{
    for (size_t j = 0; j < n; j++)
        v[j] = sizeof(T) == sizeof(float) ? (T)odb_single_sigmoid((float)v[j])
                                          : (T)recurrent_sigmoid((double)v[j], 0, 0);
}

ODB_SIMD static void FN(recurrent_tanhs)(T *v, size_t n)
{
    for (size_t j = 0; j < n; j++)
        v[j] = sizeof(T) == sizeof(float) ? (T)odb_single_tanh((float)v[j])
                                          : (T)recurrent_tanh((double)v[j], 0, 0);
}

/* In place, clipped before. */
static void FN(recurrent_act)(const struct recurrent *r, int which, T *v, size_t n)
{
    const struct recurrent_act *a = &r->act[which];

    for (size_t j = 0; r->clip > 0 && j < n; j++) { /* keeps NaN */
        double x = (double)v[j];
        x = x < -r->clip ? -r->clip : x;
        v[j] = (T)(x > r->clip ? r->clip : x);
    }
    if (a->fn == recurrent_sigmoid)
        FN(recurrent_sigmoids)(v, n);
    else if (a->fn == recurrent_tanh)
        FN(recurrent_tanhs)(v, n);
    else
        for (size_t j = 0; j < n; j++)
            v[j] = (T)a->fn((double)v[j], a->alpha, a->beta);
}

ODB_SIMD static void FN(recurrent_add)(T *x, const T *y, size_t n)
{
    for (size_t j = 0; j < n; j++)
        x[j] += y[j];
}

static void FN(recurrent_rnn)(const struct recurrent *r, const void *peep, void *xs, void *rs,
                              void *hs, void *cs)
{
    T *x = xs, *h = hs;

    FN(recurrent_add)(x, rs, r->hidden);
    FN(recurrent_act)(r, 0, x, r->hidden);
    memcpy(h, x, r->hidden * sizeof *h);
}

/* Gates z, r, h. rec holds R*H of z and r; of h too where linear_before_reset, plus its bias. */
static void FN(recurrent_gru_gates)(const struct recurrent *r, void *xs, void *rs)
{
    FN(recurrent_add)(xs, rs, 2 * r->hidden);
    FN(recurrent_act)(r, 0, xs, 2 * r->hidden);
}

static void FN(recurrent_gru)(const struct recurrent *r, const void *peep, void *xs, void *rs,
                              void *hs, void *cs)
{
    T *x = xs, *rec = rs, *h = hs, *fresh = x + 2 * r->hidden;
    size_t n = r->hidden;

    for (size_t j = 0; j < n; j++) {
        T reset = x[n + j], inner = rec[2 * n + j];
        fresh[j] += r->linear ? reset * inner : inner;
    }
    FN(recurrent_act)(r, 1, fresh, n);
    for (size_t j = 0; j < n; j++)
        h[j] = (1 - x[j]) * fresh[j] + x[j] * h[j];
}

ODB_SIMD static void FN(recurrent_peep)(T *x, const T *peep, const T *c, size_t n)
{
    for (size_t j = 0; j < n; j++)
        x[j] += peep[j] * c[j];
}

/* Gates i, o, f, c; peepholes i, o, f. What is squashed of c stands in rec for a while. */
static void FN(recurrent_lstm)(const struct recurrent *r, const void *peep, void *xs, void *rs,
                               void *hs, void *cs)
{
    const T *p = peep;
    size_t n = r->hidden;
    T *i = xs, *o = i + n, *f = o + n, *g = f + n, *h = hs, *c = cs, *out = rs;

    FN(recurrent_add)(i, rs, 4 * n);
    if (p) {
        FN(recurrent_peep)(i, p, c, n);
        FN(recurrent_peep)(f, p + 2 * n, c, n);
    }
    FN(recurrent_act)(r, 0, i, n);
    FN(recurrent_act)(r, 0, f, n);
    FN(recurrent_act)(r, 1, g, n);
    for (size_t j = 0; j < n; j++)
        c[j] = (r->couple ? 1 - i[j] : f[j]) * c[j] + i[j] * g[j];
    if (p)
        FN(recurrent_peep)(o, p + n, c, n);
    FN(recurrent_act)(r, 0, o, n);
    memcpy(out, c, n * sizeof *out);
    FN(recurrent_act)(r, 2, out, n);
    for (size_t j = 0; j < n; j++)
        h[j] = o[j] * out[j];
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
