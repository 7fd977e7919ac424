/* SPDX-License-Identifier: MIT
 *
 * What a convolution's matrix product reads, moved as elements of type E (conv.c): row (channel,
 * tap), column result; and what it is added to. Only moves and zeros, so the width of an element
 * is all that matters.
 */

/* to[i] = from[first + i * stride] for i in [0, n), 0 outside of from[0, in). */
ODB_INLINE void FN(columns_run)(const E *from, int64_t in, int64_t first, int64_t stride, int64_t n,
                                E *to)
{
    int64_t begin = first >= 0 ? 0 : stride == 1 ? -first : (stride - 1 - first) / stride;
    int64_t end = first >= in ? 0 : stride == 1 ? in - first : (in - first + stride - 1) / stride;
    begin = ODB_MIN(begin, n);
    end = ODB_MAX(ODB_MIN(end, n), begin);
    for (int64_t i = 0; i < begin; i++)
        to[i] = 0;
    if (stride == 1)
        for (int64_t i = begin; i < end; i++)
            to[i] = from[first + i];
    else
        for (int64_t i = begin; i < end; i++)
            to[i] = from[first + i * stride];
    for (int64_t i = end; i < n; i++)
        to[i] = 0;
}

/* Rows [begin, end) of the columns of results [first, first + n), n to a row. Taps along the last
 * dimension reach the same lines. */
ODB_SIMD static void FN(columns_fill)(const struct odb_window *w, const E *x, size_t begin,
                                      size_t end, size_t first, size_t n, E *columns)
{
    int last = w->rank - 1;
    int64_t width = w->out[last], stride = w->stride[last];
    size_t kernel = (size_t)w->kernel[last], next;
    for (size_t row = begin; row < end; row = next) {
        const E *channel = x + row / w->taps * w->in_size;
        int64_t reach[ODB_MAX_RANK]; /* what result 0 reads */
        int64_t at[ODB_MAX_RANK], col = (int64_t)(first % (size_t)width), run;
        next = ODB_MIN(end, (row / kernel + 1) * kernel);
        conv_reach(w, row % w->taps, reach);
        conv_line_at(w, w->out, first / (size_t)width, at);
        for (int64_t i = 0; i < (int64_t)n; i += run, col = 0, conv_line_next(w, w->out, at)) {
            size_t start = 0;
            run = ODB_MIN(width - col, (int64_t)n - i);
            bool inside = conv_line(w, reach, w->in, at, &start);
            int64_t from = reach[last] + col * stride;
            E *to = columns + row * n + i;
            for (size_t tap = row; tap < next; tap++, from += w->dilation[last], to += n)
                FN(columns_run)(channel + start, inside ? w->in[last] : 0, from, stride, run, to);
        }
    }
}

/* Every row of y (rows x length) becomes its bias. */
ODB_SIMD static void FN(conv_bias)(const void *bias, size_t rows, size_t length, void *to)
{
    E *y = to;
    for (size_t i = 0; i < rows; i++, y += length) {
        E start = ((const E *)bias)[i];
        for (size_t j = 0; j < length; j++)
            y[j] = start;
    }
}
