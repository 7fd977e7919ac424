/* SPDX-License-Identifier: MIT
 *
 * What the panels of a convolution (conv_panels.c) move, as elements of type E: only moves and
 * zeros, so the width of an element is all that matters.
 */
#define T E
#define FILL E
#include "kernels/nn/planes.body.h"
#undef FILL
#undef T

/* Rows [k0, k0 + rows) of what the weights are multiplied with, `width` columns of them (whole
 * vectors): row k is tap k % taps of channel k / taps, `run` says where the columns lie. */
ODB_SIMD static void FN(panel_pack)(const struct panels *s, const E *source, size_t k0, size_t rows,
                                    const struct panel_run *run, size_t runs, size_t width,
                                    E *panel)
{
    size_t taps = s->window.taps, tap = k0 % taps;
    const E *channel = source + k0 / taps * s->channel;
    for (E *stop = panel + rows * width; panel < stop; panel += width) {
        const E *from = channel + s->planes.tap[tap];
        if (++tap == taps) {
            tap = 0;
            channel += s->channel;
        }
        if (runs == 1 && run->n == width) {
            from += run->from;
            for (size_t j = 0; j < width; j += ODB_VEC_BYTES / sizeof(E))
                memcpy(panel + j, from + j, ODB_VEC_BYTES);
            continue;
        }
        size_t r = 0;
        for (; s->dense && r < runs; r++) /* what is moved too much is written over */
            for (size_t j = 0; j < run[r].n; j += ODB_VEC_BYTES / sizeof(E))
                memcpy(panel + run[r].column + j, from + run[r].from + j, ODB_VEC_BYTES);
        for (; r < runs; r++)
            for (size_t j = 0; j < width; j++)
                panel[j] = j < run->n ? from[run->from + j] : 0;
    }
}

/* to[i] = from[i]; in pieces that overlap. */
ODB_INLINE void FN(panel_copy)(const E *from, size_t n, E *to)
{
    const char *x = (const char *)from;
    char *y = (char *)to;
    size_t bytes = n * sizeof(E);
    if (bytes >= 64) {
        for (size_t i = 0; i + 64 <= bytes; i += 64)
            memcpy(y + i, x + i, 64);
        memcpy(y + bytes - 64, x + bytes - 64, 64);
    } else if (bytes >= 32) {
        memcpy(y, x, 32);
        memcpy(y + bytes - 32, x + bytes - 32, 32);
    } else if (bytes >= 16) {
        memcpy(y, x, 16);
        memcpy(y + bytes - 16, x + bytes - 16, 16);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

/* Rows of sums, `width` columns each, to their places in y. */
ODB_SIMD static void FN(panel_emit)(const struct panel_run *run, size_t runs, const E *sums,
                                    size_t rows, size_t width, E *y, size_t step)
{
    for (size_t i = 0; i < rows; i++, sums += width, y += step)
        for (size_t r = 0; r < runs; r++)
            FN(panel_copy)(sums + run[r].column, run[r].n, y + run[r].to);
}

/* Rows that begin as their bias. */
ODB_SIMD static void FN(panel_bias)(const E *bias, size_t rows, size_t width, E *sums)
{
    for (size_t i = 0; i < rows; i++, sums += width)
        for (size_t j = 0; j < width; j++)
            sums[j] = bias[i];
}
