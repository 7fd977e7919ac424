/* SPDX-License-Identifier: MIT
 *
 * What a convolution's matrix product reads, moved as elements of type E (conv.c): row (channel,
 * tap), column result. Only moves and zeros, so the width of an element is all that matters.
 */

/* to[i] for results [col, col + n) of one row of results: from[first + (col + i) * stride]. */
static void FN(columns_run)(const E *from, int64_t in, int64_t first, int64_t stride, int64_t n,
                            E *to)
{
    int64_t begin = first >= 0 ? 0 : (stride - 1 - first) / stride;
    int64_t end = first >= in ? 0 : (in - first + stride - 1) / stride;
    begin = ODB_MIN(begin, n);
    end = ODB_MAX(ODB_MIN(end, n), begin);
    for (int64_t i = 0; i < begin; i++)
        to[i] = 0;
    if (stride == 1 && end > begin)
        memcpy(to + begin, from + first + begin, (size_t)(end - begin) * sizeof(E));
    for (int64_t i = begin; stride != 1 && i < end; i++)
        to[i] = from[first + i * stride];
    for (int64_t i = end; i < n; i++)
        to[i] = 0;
}

/* Rows [begin, end) of the columns of results [first, first + n), n to a row. */
static void FN(columns_fill)(const struct odb_window *w, const void *x, size_t begin, size_t end,
                             size_t first, size_t n, void *columns)
{
    int last = w->rank - 1;
    E *to = (E *)columns + begin * n;
    for (size_t row = begin; row < end; row++) {
        const E *channel = (const E *)x + row / w->taps * w->in_size;
        int64_t reach[ODB_MAX_RANK]; /* what result 0 reads */
        conv_reach(w, row % w->taps, reach);
        for (size_t done = 0; done < n;) {
            size_t lead = (first + done) / (size_t)w->out[last];
            int64_t col = (int64_t)((first + done) % (size_t)w->out[last]);
            int64_t run = ODB_MIN(w->out[last] - col, (int64_t)(n - done));
            size_t at;
            if (conv_slide_row(w, reach, lead, &at))
                FN(columns_run)(channel + at, w->in[last], reach[last] + col * w->stride[last],
                                w->stride[last], run, to);
            else
                memset(to, 0, (size_t)run * sizeof(E));
            to += run;
            done += (size_t)run;
        }
    }
}
