/* SPDX-License-Identifier: MIT
 *
 * What the panels of a convolution (conv_panels.c) move, as elements of type E: only moves and
 * zeros, so the width of an element is all that matters.
 */
#define T E
#define FILL E
#include "kernels/planes.body.h"
#undef FILL
#undef T

typedef struct {
    char bytes[ODB_VEC_BYTES];
} FN(panel_vec);

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
        for (size_t r = 0; r < runs; r++)
            for (size_t j = 0; j < run[r].n; j++)
                panel[run[r].column + j] = from[run[r].from + j];
        for (size_t j = run[runs - 1].column + run[runs - 1].n; j < width; j++)
            panel[j] = 0;
    }
}

/* Rows of sums, `width` columns each, to their places in y. */
static void FN(panel_emit)(const struct panel_run *run, size_t runs, const E *sums, size_t rows,
                           size_t width, E *y, size_t step)
{
    for (size_t i = 0; i < rows; i++, sums += width, y += step)
        for (size_t r = 0; r < runs; r++)
            memcpy(y + run[r].to, sums + run[r].column, run[r].n * sizeof(E));
}

/* Rows that begin as their bias. */
ODB_SIMD static void FN(panel_bias)(const E *bias, size_t rows, size_t width, E *sums)
{
    for (size_t i = 0; i < rows; i++, sums += width)
        for (size_t j = 0; j < width; j++)
            sums[j] = bias[i];
}
