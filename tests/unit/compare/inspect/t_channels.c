/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/channels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "compare/inspect/farthest.h"
#include "compare/inspect/heat.h"

static struct odb_error err;

static double number(size_t i)
{
    return (double)(i * 2654435761u % 1000) / 1000 - 0.5;
}

static struct odb_tensor *made(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, number(i));
    return t;
}

#define MADE(dtype, ...)                                                                           \
    made(dtype, (int)ODB_COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

static size_t channel_of(const struct odb_tensor *t, int axis, size_t i)
{
    size_t inner = 1;
    for (int d = axis + 1; d < t->rank; d++)
        inner *= (size_t)t->dims[d];
    return i / inner % (size_t)t->dims[axis];
}

/* Against one element after the other. */
static void channels_are_right(const struct odb_tensor *a, const struct odb_tensor *b, int axis)
{
    struct odb_channels *channels;
    assert_int_equal(odb_channels_make(&channels, a, b, axis, NULL, &err), ODB_OK);
    assert_int_equal(channels->n, (size_t)a->dims[axis]);
    for (size_t c = 0; c < channels->n; c++) {
        const struct odb_channel *x = &channels->channel[c];
        size_t count = 0, differing = 0, nan = 0, odd = 0, pairs = 0, worst = SIZE_MAX;
        double max = 0, sum = 0, least = INFINITY, key = 0, mean[2] = {0}, square = 0;
        double dot = 0, norm[2] = {0};
        size_t finite_n[2] = {0};
        for (size_t i = 0; i < a->count; i++) {
            if (channel_of(a, axis, i) != c)
                continue;
            double r = odb_tensor_f64(a, i), t = odb_tensor_f64(b, i), d = fabs(t - r);
            bool finite = isfinite(r) && isfinite(t), same = r == t || (isnan(r) && isnan(t));
            worst = worst == SIZE_MAX ? i : worst;
            count++;
            differing += !same;
            nan += isnan(r) != 0;
            odd += !finite && !same;
            pairs += finite;
            if (isfinite(r))
                least = fmin(least, r);
            if (finite) {
                max = fmax(max, d);
                sum += d;
                square += d * d;
                dot += r * t;
                norm[0] += r * r;
                norm[1] += t * t;
            }
            for (int side = 0; side < 2; side++)
                if (isfinite(side ? t : r)) {
                    mean[side] += side ? t : r;
                    finite_n[side]++;
                }
            double error = same ? 0 : finite ? d : INFINITY;
            if (error > key) {
                key = error;
                worst = i;
            }
        }
        assert_int_equal(x->count, count);
        assert_int_equal(x->differing, differing);
        assert_int_equal(x->nan[0], nan);
        assert_int_equal(x->odd, odd);
        assert_int_equal(x->worst, worst);
        assert_true(x->max_abs == max);
        assert_true(x->min[0] == least);
        assert_true(fabs(x->mean_abs - sum / (double)pairs) <= 1e-12);
        assert_true(fabs(x->rms - sqrt(square / (double)pairs)) <= 1e-12);
        double length = sqrt(norm[0] * norm[1]), cosine = norm[0] == norm[1]; /* of zeros */
        assert_true(fabs(x->cosine - (length > 0 ? dot / length : cosine)) <= 1e-12);
        for (int side = 0; side < 2; side++)
            assert_true(fabs(x->mean[side] - mean[side] / (double)finite_n[side]) <= 1e-12);
        assert_true(odb_channel_error(x) == key);
    }
    odb_channels_free(channels);
}

/* The channel that is farthest off, against all channels. */
static void farthest_is_right(const struct odb_tensor *a, const struct odb_tensor *b, int axis)
{
    struct odb_channels *channels;
    struct odb_farthest far;
    size_t worst = 0;
    assert_int_equal(odb_channels_make(&channels, a, b, axis, NULL, &err), ODB_OK);
    for (size_t i = 1; i < channels->n; i++)
        if (odb_channel_error(&channels->channel[i]) > odb_channel_error(&channels->channel[worst]))
            worst = i;
    assert_int_equal(odb_farthest_channel(&far, a, b, axis), channels->both && channels->n);
    if (channels->both && channels->n) {
        assert_int_equal(far.channels, channels->n);
        assert_int_equal(far.worst, worst);
        assert_true(far.error == odb_channel_error(&channels->channel[worst]));
    }
    odb_channels_free(channels);
}

static void test_channels__farthest(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F16, ODB_F64, ODB_I64, ODB_C64};
    static const int64_t shapes[][3] = {{3, 700, 2}, {40, 6, 50}, {2, 1, 3000}, {1, 2050, 1}};
    for (size_t k = 0; k < ODB_COUNT(types) * ODB_COUNT(shapes); k++) {
        enum odb_dtype type = types[k / ODB_COUNT(shapes)], part = odb_dtype_part(type);
        const int64_t *dims = shapes[k % ODB_COUNT(shapes)];
        struct odb_tensor *a = made(type, 3, dims), *b = made(type, 3, dims);
        for (size_t i = 0; i < a->count; i += 97)
            odb_store_f64(part, b->data, i, 2 + number(i * 7) * 100);
        for (int axis = 0; axis < 3; axis++)
            farthest_is_right(a, b, axis);
        for (size_t i = 500; odb_dtype_is_float(part) && i < a->count; i += 700) {
            odb_store_f64(part, a->data, i, INFINITY); /* of a complex one, a part */
            odb_store_f64(part, b->data, i, INFINITY);
            if (type == ODB_C64)
                odb_store_f64(part, b->data, i ^ 1, 1000);
        }
        for (int axis = 0; axis < 3; axis++)
            farthest_is_right(a, b, axis);
        odb_store_f64(part, b->data, a->count / 2, odb_dtype_is_float(part) ? NAN : 9);
        for (int axis = 0; axis < 3; axis++)
            farthest_is_right(a, b, axis);
        odb_tensor_unref(a);
        odb_tensor_unref(b);
    }
    struct odb_tensor *one = MADE(ODB_F32, 2, 3), *other = MADE(ODB_F32, 3, 2);
    struct odb_farthest far = {.channels = 7};
    assert_false(odb_farthest_channel(&far, one, other, 0));
    assert_int_equal(far.channels, 0);
    assert_false(odb_farthest_channel(&far, one, one, 2));
    assert_false(odb_farthest_channel(&far, one, one, -1));
    assert_false(odb_farthest_channel(&far, one, NULL, 0));
    odb_tensor_unref(one);
    odb_tensor_unref(other);
}

static void test_channels__every_axis(void **state)
{
    struct odb_tensor *a = MADE(ODB_F32, 3, 5, 7, 11), *b = MADE(ODB_F32, 3, 5, 7, 11);
    odb_store_f64(ODB_F32, b->data, 100, 9);
    odb_store_f64(ODB_F32, b->data, 200, NAN);
    odb_store_f64(ODB_F32, a->data, 300, NAN);
    odb_store_f64(ODB_F32, b->data, 300, NAN);
    odb_store_f64(ODB_F32, b->data, 400, INFINITY);
    for (int axis = 0; axis < 4; axis++)
        channels_are_right(a, b, axis);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

/* Longer than a step of all parts. */
static void test_channels__large(void **state)
{
    struct odb_tensor *a = MADE(ODB_F32, 3, 7, 100003), *b = MADE(ODB_F32, 3, 7, 100003);
    odb_store_f64(ODB_F32, b->data, 2000000, 9);
    channels_are_right(a, b, 1);
    channels_are_right(a, b, 0);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    a = MADE(ODB_F32, 2, 5000);
    channels_are_right(a, a, 1); /* more channels than parts have sums for */
    odb_tensor_unref(a);
}

/* Channels side by side: rows that end within a vector, within a chunk, and behind one. */
static void test_channels__last_axis(void **state)
{
    static const int64_t widths[] = {1, 2, 3, 4, 6, 9, 1000, 1023, 1024, 1025, 2050, 4099};
    for (size_t i = 0; i < ODB_COUNT(widths); i++) {
        int64_t rows = 9000 / widths[i] + 1;
        struct odb_tensor *a = MADE(ODB_F32, rows, widths[i]), *b = MADE(ODB_F32, rows, widths[i]);
        for (size_t k = 0; k < b->count; k++)
            odb_store_f64(ODB_F32, b->data, k, number(k) + (double)(k * 7919 % 1013) * 1e-3);
        channels_are_right(a, b, 1);
        odb_store_f64(ODB_F32, b->data, 3000, NAN); /* that chunk is taken one by one */
        odb_store_f64(ODB_F32, a->data, 3001, -INFINITY);
        channels_are_right(a, b, 1);
        odb_tensor_unref(a);
        odb_tensor_unref(b);
    }
}

static void test_channels__types(void **state)
{
    struct odb_tensor *a = MADE(ODB_I4, 3, 5), *b = MADE(ODB_I4, 3, 5);
    odb_store_i64(ODB_I4, b->data, 7, 5);
    channels_are_right(a, b, 0);
    channels_are_right(a, b, 1);
    odb_tensor_unref(a);
    odb_tensor_unref(b);

    struct odb_channels *channels;
    struct odb_tensor *text = NULL, *other = NULL;
    assert_int_equal(odb_tensor_new(&text, ODB_STRING, 1, (int64_t[]){2}, &err), ODB_OK);
    assert_int_equal(odb_tensor_new(&other, ODB_STRING, 1, (int64_t[]){2}, &err), ODB_OK);
    assert_int_equal(odb_tensor_set_string(other, 1, "x", 1, &err), ODB_OK);
    assert_int_equal(odb_channels_make(&channels, text, other, 0, NULL, &err), ODB_OK);
    assert_int_equal(channels->channel[0].differing, 0);
    assert_int_equal(channels->channel[1].differing, 1);
    odb_channels_free(channels);
    odb_tensor_unref(text);
    odb_tensor_unref(other);
}

static void test_channels__which_axis(void **state)
{
    const struct {
        int rank;
        int64_t dims[5];
        int axis;
    } cases[] = {{0, {0}, -1},          {1, {5}, 0},           {2, {3, 4}, 1},
                 {3, {1, 64, 32}, 2},   {4, {1, 16, 8, 8}, 1}, {4, {2, 1, 8, 8}, 2},
                 {2, {1, 1000000}, -1}, {4, {1, 1, 1, 1}, -1}, {2, {7, 1}, 0}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *t = NULL;
        assert_int_equal(odb_tensor_new_shape(&t, ODB_F32, cases[i].rank, cases[i].dims, &err),
                         ODB_OK);
        assert_int_equal(odb_channels_axis(t), cases[i].axis);
        odb_tensor_unref(t);
    }
    struct odb_channels *channels;
    struct odb_tensor *t = MADE(ODB_F32, 2, 3);
    assert_int_equal(odb_channels_make(&channels, t, t, 2, NULL, &err), ODB_E_USAGE);
    assert_int_equal(odb_channels_make(&channels, t, t, -1, NULL, &err), ODB_E_USAGE);
    assert_int_equal(odb_channels_make(&channels, NULL, NULL, 0, NULL, &err), ODB_E_USAGE);
    odb_tensor_unref(t);
}

/* --- what is told ----------------------------------------------------------------------------- */

static void tells(const double *errors, size_t n, const char *expected)
{
    struct odb_channels channels = {.both = true, .n = n};
    struct odb_buf out = ODB_BUF_INIT;
    channels.channel = odb_new_n(struct odb_channel, n);
    for (size_t i = 0; i < n; i++) {
        channels.channel[i].max_abs = isinf(errors[i]) ? 0 : errors[i];
        channels.channel[i].odd = isinf(errors[i]) ? 1 : 0;
    }
    bool told = odb_channels_told(&channels, &out);
    assert_int_equal(told, *expected != 0);
    assert_string_equal(odb_buf_text(&out), expected);
    odb_buf_dispose(&out);
    free(channels.channel);
}

#define TELLS(expected, ...)                                                                       \
    tells((double[]){__VA_ARGS__}, ODB_COUNT(((double[]){__VA_ARGS__})), expected)

static void test_channels__tells_where_the_error_is(void **state)
{
    TELLS("", 1, 1, 1, 1);
    TELLS("", 0, 0, 0, 0);
    TELLS("", 5, 4, 3, 2, 1); /* no gap */
    TELLS("the error is in channel 2 alone: all others are equal", 0, 0, 3, 0);
    TELLS("the error is in channel 0 alone: 3 there and more, 0.1 at most elsewhere", 3, 0.1, 0.01,
          0);
    TELLS("the error is in channels 4 to 6 alone: 2 there and more, 0.01 at most elsewhere", 0.01,
          0.01, 0.01, 0.01, 2, 3, 4);
    TELLS("the error is in every 3rd channel from 1 to 7: all others are equal", 0, 1, 0, 0, 1, 0,
          0, 1, 0);
    TELLS("the error is in 3 of 8 channels, from 0 to 6: all others are equal", 1, 1, 0, 0, 0, 0, 1,
          0);
    TELLS("the error is in channel 1 alone: NaN or Inf there, 5 at most elsewhere", 5, INFINITY, 4,
          3);
    TELLS("", 1);            /* there are no others */
    TELLS("", 9, 9, 9, 0.1); /* most of them */
}

/* --- pictures of planes ----------------------------------------------------------------------- */

static void heat_is_right(const struct odb_tensor *a, const struct odb_tensor *b, size_t first,
                          size_t rows, size_t cols, size_t h, size_t w)
{
    struct odb_heat *heat;
    assert_int_equal(odb_heat_make(&heat, a, b, first, rows, cols, h, w, NULL, &err), ODB_OK);
    assert_int_equal(heat->h, ODB_MIN(h, rows));
    assert_int_equal(heat->w, ODB_MIN(w, cols));
    for (size_t i = 0; i < heat->h; i++)
        for (size_t j = 0; j < heat->w; j++) {
            double sum = 0, max = 0;
            size_t n = 0, seen = 0;
            for (size_t r = i * rows / heat->h; r < (i + 1) * rows / heat->h; r++)
                for (size_t c = j * cols / heat->w; c < (j + 1) * cols / heat->w; c++) {
                    size_t at = first + r * cols + c;
                    double x = odb_tensor_f64(a, at), y = odb_tensor_f64(b, at);
                    n += isfinite(x);
                    sum += isfinite(x) ? x : 0;
                    max = fmax(max, isfinite(y - x)        ? fabs(y - x)
                                    : isnan(x) && isnan(y) ? 0
                                                           : INFINITY);
                    seen++;
                }
            const struct odb_heat_cell *cell = &heat->cells[i * heat->w + j];
            assert_true(seen > 0);
            assert_true(n ? fabs(cell->mean[0] - sum / (double)n) < 1e-9 : isnan(cell->mean[0]));
            assert_true(cell->error == max);
        }
    odb_heat_free(heat);
}

static void test_channels__heat(void **state)
{
    struct odb_tensor *a = MADE(ODB_F32, 2, 37, 2050), *b = MADE(ODB_F32, 2, 37, 2050);
    odb_store_f64(ODB_F32, b->data, 37 * 2050 + 5000, 9);
    odb_store_f64(ODB_F32, b->data, 3000, NAN);
    odb_store_f64(ODB_F32, a->data, 0, NAN);
    odb_store_f64(ODB_F32, b->data, 0, NAN);
    heat_is_right(a, b, 0, 37, 2050, 10, 33);
    heat_is_right(a, b, 37 * 2050, 37, 2050, 37, 2050);
    heat_is_right(a, b, 37 * 2050, 37, 2050, 100, 5000);
    heat_is_right(a, b, 0, 37, 2050, 1, 1);
    struct odb_heat *heat;
    assert_int_equal(odb_heat_make(&heat, a, b, 37 * 2050, 37, 2050, 4, 4, NULL, &err), ODB_OK);
    assert_true(heat->most > 8 && heat->least == heat->most);
    odb_heat_free(heat);
    assert_int_equal(odb_heat_make(&heat, a, b, 1, 74, 2050, 4, 4, NULL, &err), ODB_E_USAGE);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channels__every_axis),
        cmocka_unit_test(test_channels__farthest),
        cmocka_unit_test(test_channels__large),
        cmocka_unit_test(test_channels__last_axis),
        cmocka_unit_test(test_channels__types),
        cmocka_unit_test(test_channels__which_axis),
        cmocka_unit_test(test_channels__tells_where_the_error_is),
        cmocka_unit_test(test_channels__heat),
    };
    return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
