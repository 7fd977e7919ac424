/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suspects/deviation.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const struct deviation_row deviation_rows[] = {
#define DEVIATION(id, name, how, first, words) {name, DEVIATION_##how, first, words},
#include "suspects/deviation.def"
#undef DEVIATION
};

const struct deviation_row *deviation_row(enum deviation family)
{
    return &deviation_rows[family];
}

/* Elements of a value that is going to be off. */
struct work {
    double *x; /* [n] a copy, to be changed */
    size_t n;
    double amount;
    const struct odb_tensor *y;     /* as it is */
    const struct odb_tensor *input; /* may be NULL */
};

static double deviation_rms(const struct work *w)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (isfinite(w->x[i])) {
            sum += w->x[i] * w->x[i];
            n++;
        }
    return n ? sqrt(sum / (double)n) : 0;
}

static double deviation_most(const struct work *w)
{
    double most = 0;
    for (size_t i = 0; i < w->n; i++)
        if (isfinite(w->x[i]))
            most = fmax(most, fabs(w->x[i]));
    return most;
}

static void deviation_scale(struct work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->x[i] += w->amount * w->x[i];
}

static void deviation_constant(struct work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->x[i] += w->amount;
}

static void deviation_offset(struct work *w)
{
    w->amount *= deviation_rms(w);
    deviation_constant(w);
}

static void deviation_zero(struct work *w)
{
    memset(w->x, 0, w->n * sizeof *w->x);
}

static void deviation_bf16(struct work *w)
{
    odb_round_f64(ODB_BF16, w->x, w->n);
}

static void deviation_f16(struct work *w)
{
    odb_round_f64(ODB_F16, w->x, w->n);
}

/* Steps of the largest element over 127, as symmetric quantisation of a whole tensor has them. */
static void deviation_int8(struct work *w)
{
    double step = deviation_most(w) / 127;
    for (size_t i = 0; i < w->n && step > 0; i++)
        w->x[i] = step * nearbyint(w->x[i] / step);
}

static void deviation_saturate(struct work *w)
{
    double limit = w->amount * deviation_most(w);
    for (size_t i = 0; i < w->n; i++)
        w->x[i] = w->x[i] > limit ? limit : w->x[i] < -limit ? -limit : w->x[i];
}

static void deviation_relu(struct work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->x[i] = w->x[i] < 0 ? 0 : w->x[i];
}

/* Each element of a row gets the one before it, the first stays. */
static void deviation_shift(struct work *w)
{
    size_t row = w->y->rank ? (size_t)w->y->dims[w->y->rank - 1] : 1;
    for (size_t at = 0; row > 1 && at + row <= w->n; at += row)
        memmove(w->x + at + 1, w->x + at, (row - 1) * sizeof *w->x);
}

static void deviation_skip(struct work *w)
{
    const struct odb_tensor *in = w->input;
    if (in && in->kind == ODB_TENSOR && in->data && in->dtype == ODB_F64 &&
        odb_tensor_same_shape(in, w->y))
        memcpy(w->x, in->data, w->n * sizeof *w->x);
}

/* Channel 0 of axis 1; of a vector, element 0. */
static void deviation_channel(struct work *w)
{
    int axis = w->y->rank > 1 ? 1 : 0;
    size_t inner = 1, channels = w->y->rank ? (size_t)w->y->dims[axis] : 1;
    for (int i = axis + 1; i < w->y->rank; i++)
        inner *= (size_t)w->y->dims[i];
    for (size_t i = 0; i < w->n; i++)
        if (i / inner % channels == 0)
            w->x[i] = 0;
}

static void deviation_nan(struct work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->x[i] = NAN;
}

struct odb_tensor *deviation_apply(enum deviation family, double amount, const struct odb_tensor *y,
                                   const struct odb_tensor *input)
{
    static void (*const change[])(struct work *) = {[DEVIATION_OF_SCALE] = deviation_scale,
                                                    [DEVIATION_OF_OFFSET] = deviation_offset,
                                                    [DEVIATION_OF_CONSTANT] = deviation_constant,
                                                    [DEVIATION_OF_ZERO] = deviation_zero,
                                                    [DEVIATION_OF_BF16] = deviation_bf16,
                                                    [DEVIATION_OF_F16] = deviation_f16,
                                                    [DEVIATION_OF_INT8] = deviation_int8,
                                                    [DEVIATION_OF_SATURATE] = deviation_saturate,
                                                    [DEVIATION_OF_RELU] = deviation_relu,
                                                    [DEVIATION_OF_SHIFT] = deviation_shift,
                                                    [DEVIATION_OF_SKIP] = deviation_skip,
                                                    [DEVIATION_OF_CHANNEL] = deviation_channel,
                                                    [DEVIATION_OF_NAN] = deviation_nan};
    struct odb_error ignored = ODB_ERROR_INIT;
    struct odb_tensor *moved = NULL;
    if (odb_tensor_clone(&moved, y, &ignored) != ODB_OK)
        return NULL;
    struct work w = {moved->data, moved->count, amount, y, input};
    change[family](&w);
    if (memcmp(moved->data, y->data, y->bytes))
        return moved;
    odb_tensor_unref(moved);
    return NULL;
}
