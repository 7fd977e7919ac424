/* SPDX-License-Identifier: MIT
 *
 * Normalisations, per floating-point type.
 */
#include "kernels/reduce/sums.real.h"

/* y = (x - mean) * inverse * scale[i] + bias[i] */
ODB_SIMD static void FN(norm_each)(const T *x, size_t n, ACC mean, ACC inverse, const T *scale,
                                   const T *bias, T *y)
{
    if (bias)
        for (size_t i = 0; i < n; i++)
            y[i] = (T)(((ACC)x[i] - mean) * inverse * (ACC)scale[i] + (ACC)bias[i]);
    else
        for (size_t i = 0; i < n; i++)
            y[i] = (T)(((ACC)x[i] - mean) * inverse * (ACC)scale[i]);
}

/* y = (x - mean) * factor + bias */
ODB_SIMD static void FN(norm_all)(const T *x, size_t n, ACC mean, ACC factor, ACC bias, T *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (T)(((ACC)x[i] - mean) * factor + bias);
}

/* Around the mean; in noisy mode in one pass, as in other implementations, which then lose what the
 * mean is larger by than the spread. */
static ACC FN(norm_variance)(const T *x, size_t n, ACC mean)
{
    ACC variance = FN(sums_squares)(x, n, LANES == 1 ? 0 : mean) / (ACC)n;
    if (LANES == 1)
        variance = variance > mean * mean || IS_NAN(variance) ? variance - mean * mean : 0;
    return variance;
}

/* Blocks [begin, end): each has its own mean and variance. */
static void FN(norm_blocks)(void *arg, size_t begin, size_t end)
{
    const struct norm *s = arg;
    const T *scale = s->scale, *bias = s->bias;
    for (size_t block = begin; block < end; block++) {
        const T *x = (const T *)s->x + block * s->length;
        T *y = (T *)s->y + block * s->length;
        ACC mean = s->centred ? FN(sums_plain)(x, s->length) / (ACC)s->length : 0;
        ACC variance = FN(norm_variance)(x, s->length, mean);
        ACC inverse = 1 / (ACC)sqrt((double)(variance + (ACC)s->epsilon));
        if (s->mean)
            s->mean[block] = (double)mean;
        if (s->inverse)
            s->inverse[block] = (double)inverse;
        if (!y)
            continue;
        for (size_t i = 0; i < s->length; i += s->run) {
            size_t param = (block * s->advance + i / s->run) % s->params;
            if (s->run == 1) {
                const T *add = bias ? bias + param : NULL;
                FN(norm_each)(x, s->length, mean, inverse, scale + param, add, y);
                break;
            }
            ACC add = bias ? (ACC)bias[param] : 0;
            FN(norm_all)(x + i, s->run, mean, inverse * (ACC)scale[param], add, y + i);
        }
    }
}

/* Channels [begin, end) of all images: y = (x - mean) / sqrt(var + epsilon) * scale + bias. */
static void FN(norm_channels)(void *arg, size_t begin, size_t end)
{
    const struct norm_batch *s = arg;
    for (size_t row = begin; row < end; row++) {
        size_t c = row % s->channels;
        ACC factor = (ACC)s->scale[c] / (ACC)sqrt((double)((ACC)s->var[c] + (ACC)s->epsilon));
        const T *x = (const T *)s->x + row * s->length;
        T *y = (T *)s->y + row * s->length;
        FN(norm_all)(x, s->length, (ACC)s->mean[c], factor, (ACC)s->bias[c], y);
    }
}

/* Mean and variance of channels [begin, end) over all images. */
static void FN(norm_moments)(void *arg, size_t begin, size_t end)
{
    const struct norm_batch *s = arg;
    for (size_t c = begin; c < end; c++) {
        const T *x = (const T *)s->x + c * s->length;
        size_t step = s->channels * s->length;
        ACC n = (ACC)(s->images * s->length), sum = 0;
        for (size_t i = 0; i < s->images; i++)
            sum += FN(sums_plain)(x + i * step, s->length);
        ACC mean = sum / n, squares = 0;
        for (size_t i = 0; i < s->images; i++)
            squares += FN(sums_squares)(x + i * step, s->length, mean);
        s->mean[c] = (double)mean;
        s->var[c] = (double)(squares / n);
    }
}

ODB_SIMD static void FN(norm_add_squares)(const T *x, size_t n, ACC *sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += (ACC)x[i] * (ACC)x[i];
}

/* y = x / (bias + alpha / size * sum)^beta */
ODB_SIMD static void FN(norm_respond)(const struct norm_lrn *s, const T *x, size_t n,
                                      const ACC *sum, T *y)
{
    ACC bias = (ACC)s->bias, factor = (ACC)(s->alpha / (double)s->size);
    if (s->beta == 0.75)
        for (size_t i = 0; i < n; i++) {
            ACC t = bias + factor * sum[i];
            y[i] = (T)((ACC)x[i] / (ACC)sqrt((double)t * sqrt((double)t)));
        }
    else
        for (size_t i = 0; i < n; i++)
            y[i] = (T)((ACC)x[i] / (ACC)pow((double)(bias + factor * sum[i]), s->beta));
}

/* Local response normalisation of rows [begin, end), a row being one channel of one image. */
static void FN(norm_lrn)(void *arg, size_t begin, size_t end)
{
    struct norm_lrn *s = arg;
    enum { CHUNK = 512 };
    ACC sum[CHUNK];
    for (size_t row = begin; row < end; row++) {
        size_t c = row % s->channels, before = (s->size - 1) / 2, after = s->size - 1 - before;
        size_t first = row - ODB_MIN(c, before);
        size_t last = row + ODB_MIN(s->channels - 1 - c, after);
        for (size_t i = 0; i < s->length; i += CHUNK) {
            size_t n = ODB_MIN((size_t)CHUNK, s->length - i);
            memset(sum, 0, sizeof sum);
            for (size_t r = first; r <= last; r++)
                FN(norm_add_squares)((const T *)s->x + r * s->length + i, n, sum);
            const T *x = (const T *)s->x + row * s->length + i;
            FN(norm_respond)(s, x, n, sum, (T *)s->y + row * s->length + i);
        }
    }
}

/* Lanes [begin, end) divided by their norm, or (p = 0) centred and divided by their deviation. */
static void FN(norm_lanes)(void *arg, size_t begin, size_t end)
{
    const struct norm_lanes *s = arg;
    const struct odb_lane_dims *along = &s->lanes.reduced;
    for (size_t lane = begin; lane < end; lane++) {
        size_t at = odb_lanes_at(&s->lanes.kept, lane);
        const T *x = (const T *)s->x + at;
        T *y = (T *)s->y + at;
        ACC mean = 0, sum = 0;
        for (size_t i = 0; s->p == 0 && i < along->count; i++)
            mean += x[odb_lanes_at(along, i)];
        mean /= (ACC)along->count;
        for (size_t i = 0; i < along->count; i++) {
            ACC v = (ACC)x[odb_lanes_at(along, i)] - mean;
            sum += s->p == 1 ? (ACC)fabs((double)v) : v * v;
        }
        ACC divisor = s->p == 1 ? sum : (ACC)sqrt((double)sum);
        if (s->p == 0)
            divisor = (ACC)sqrt((double)(sum / (ACC)along->count)) + (ACC)1e-9;
        for (size_t i = 0; i < along->count; i++) {
            size_t e = odb_lanes_at(along, i);
            y[e] = divisor == 0 ? 0 : (T)(((ACC)x[e] - mean) / divisor);
        }
    }
}
