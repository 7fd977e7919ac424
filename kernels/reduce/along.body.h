/* SPDX-License-Identifier: MIT
 *
 * ArgMax, ArgMin, CumSum and CumProd, per element type: walks along one dimension, over up to
 * ALONG_CHUNK neighbouring lanes at a time. Chunks [begin, end).
 */
static void FN(along_arg)(void *arg, size_t begin, size_t end)
{
    const struct along *s = arg;
    for (size_t chunk = begin; chunk < end; chunk++) {
        size_t lanes, at = along_chunk(s, chunk, &lanes);
        const T *x = (const T *)s->x + at;
        T best[ALONG_CHUNK];
        odb_i64 *index = (odb_i64 *)s->y + at / (s->n * s->inner) * s->inner + at % s->inner;
        for (size_t l = 0; l < lanes; l++) {
            best[l] = x[l];
            index[l] = 0;
        }
        for (size_t i = 1; i < s->n; i++)
            for (size_t l = 0; l < lanes; l++) {
                T v = x[i * s->inner + l];
                bool wins = s->least ? v < best[l] : v > best[l];
                bool equal = v == best[l] || (IS_NAN(v) && IS_NAN(best[l]));
                wins = (wins && !IS_NAN(best[l])) || (IS_NAN(v) && !IS_NAN(best[l]));
                if (wins || (s->last && equal)) {
                    best[l] = v;
                    index[l] = (int64_t)i;
                }
            }
    }
}

static void FN(along_scan)(void *arg, size_t begin, size_t end)
{
    const struct along *s = arg;
    for (size_t chunk = begin; chunk < end; chunk++) {
        size_t lanes, at = along_chunk(s, chunk, &lanes);
        ACC acc[ALONG_CHUNK];
        for (size_t l = 0; l < lanes; l++)
            acc[l] = s->product ? 1 : 0;
        for (size_t step = 0; step < s->n; step++) {
            size_t i = at + (s->reverse ? s->n - 1 - step : step) * s->inner;
            const T *x = (const T *)s->x + i;
            T *y = (T *)s->y + i;
            for (size_t l = 0; l < lanes; l++) {
                WRAP v = (WRAP)(ACC)x[l], old = (WRAP)acc[l];
                acc[l] = (ACC)(s->product ? old * v : old + v);
                y[l] = s->exclusive ? (T)(ACC)old : (T)acc[l];
            }
        }
    }
}
