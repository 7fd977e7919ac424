/* SPDX-License-Identifier: MIT
 *
 * Turning of head vectors.
 */
ODB_SIMD static void FN(rotary_turn)(const T *x1, const T *x2, size_t n, size_t step, const T *c,
                                     const T *s, T *y1, T *y2)
{
    for (size_t i = 0; i < n; i++) {
        ACC one = (ACC)x1[i * step], two = (ACC)x2[i * step];
        ACC cosine = (ACC)c[i], sine = (ACC)s[i];
        y1[i * step] = (T)(cosine * one - sine * two);
        y2[i * step] = (T)(sine * one + cosine * two);
    }
}

/* Positions [begin, end), counted through the batch. */
static void FN(rotary_rows)(void *arg, size_t begin, size_t end)
{
    const struct odb_rotary *r = arg;
    size_t half = r->turned / 2, other = r->interleaved ? 1 : half;
    size_t step = r->interleaved ? 2 : 1;
    for (size_t row = begin; row < end; row++) {
        size_t at = (r->positions ? r->positions[row] : row) * half;
        size_t b = row / r->rows, i = row % r->rows;
        for (size_t h = 0; h < r->heads; h++) {
            const T *x =
                (const T *)r->x + b * r->x_steps.batch + h * r->x_steps.head + i * r->x_steps.row;
            T *y = (T *)r->y + b * r->y_steps.batch + h * r->y_steps.head + i * r->y_steps.row;
            FN(rotary_turn)
            (x, x + other, half, step, (const T *)r->cos + at, (const T *)r->sin + at, y,
             y + other);
            if (y != x)
                memcpy(y + r->turned, x + r->turned, (r->size - r->turned) * sizeof(T));
        }
    }
}
