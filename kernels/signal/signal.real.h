/* SPDX-License-Identifier: MIT
 *
 * Discrete Fourier transforms of lines; see signal.c. A complex number is two reals.
 */

/* out[0, n) = DFT of in[0, step, 2 step, … n). twiddle[i] is the i-th of `turn` steps around the
 * unit circle, part [largest prime factor of n] working memory. */
static void FN(signal_fft)(const ACC (*twiddle)[2], size_t turn, const ACC (*in)[2], size_t step,
                           size_t n, ACC (*out)[2], ACC (*part)[2])
{
    if (n == 1) {
        memcpy(out, in, sizeof *out);
        return;
    }
    size_t p = signal_factor(n), m = n / p, pace = turn / n;
    for (size_t r = 0; r < p; r++)
        FN(signal_fft)(twiddle, turn, in + r * step, step * p, m, out + r * m, part);
    for (size_t k = 0; k < m; k++) {
        for (size_t r = 0; r < p; r++)
            memcpy(part[r], out[r * m + k], sizeof *part);
        for (size_t q = 0; q < p; q++) {
            ACC re = 0, im = 0;
            for (size_t r = 0; r < p; r++) {
                const ACC *w = twiddle[r * (q * m + k) % n * pace];
                re += part[r][0] * w[0] - part[r][1] * w[1];
                im += part[r][0] * w[1] + part[r][1] * w[0];
            }
            out[q * m + k][0] = re;
            out[q * m + k][1] = im;
        }
    }
}

/* Element i of a line as the transform sees it: windowed, zero beyond the end, and for a spectrum
 * of which only one side is given, mirrored. */
static void FN(signal_read)(const struct signal *s, const T *x, size_t i, ACC *v)
{
    bool mirrored = s->mirror && i > s->length / 2;
    size_t at = mirrored ? s->length - i : i;
    v[0] = v[1] = 0;
    if (at >= s->given)
        return;
    const T *from = x + at * s->inner * s->parts;
    const T *window = s->window;
    v[0] = window ? (ACC)from[0] * (ACC)window[at] : (ACC)from[0];
    if (s->parts == 2)
        v[1] = window ? (ACC)from[1] * (ACC)window[at] : (ACC)from[1];
    if (mirrored)
        v[1] = -v[1];
    if (s->mirror && (at == 0 || at * 2 == s->length)) /* these are real, whatever is written */
        v[1] = 0;
}

/* Lines [begin, end). */
static void FN(signal_lines)(void *arg, size_t begin, size_t end)
{
    struct signal *s = arg;
    size_t n = s->length;
    ACC(*work)[2] = odb_workspace(ODB_WORKSPACE_ROWS, (4 * n + 1) * sizeof *work);
    if (!work) {
        atomic_store(&s->failed, true);
        return;
    }
    ACC(*twiddle)
    [2] = work, (*in)[2] = work + n, (*out)[2] = work + 2 * n, (*part)[2] = work + 3 * n;
    for (size_t i = 0; i < n; i++) {
        double angle = 2 * M_PI * (double)i / (double)n;
        twiddle[i][0] = (ACC)cos(angle);
        twiddle[i][1] = (ACC)(s->inverse ? sin(angle) : -sin(angle));
    }
    for (size_t line = begin; line < end; line++) {
        const T *x = (const T *)s->x + signal_begin(s, line);
        T *y = (T *)s->y + (line / s->inner * s->kept * s->inner + line % s->inner) * s->out_parts;
        for (size_t i = 0; i < n; i++)
            FN(signal_read)(s, x, i, in[i]);
        FN(signal_fft)((const ACC(*)[2])twiddle, n, (const ACC(*)[2])in, 1, n, out, part);
        for (size_t i = 0; i < s->kept; i++)
            for (size_t c = 0; c < s->out_parts; c++)
                y[i * s->inner * s->out_parts + c] =
                    (T)(s->inverse ? out[i][c] / (ACC)n : out[i][c]);
    }
}
