/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/random.h"

static struct odb_error err;

static const struct odb_tensor *sorted; /* by place_order() */
static size_t start;

/* NaN first, then the largest, of equal ones the first. */
static int place_order(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = odb_tensor_f64(sorted, start + i), y = odb_tensor_f64(sorted, start + k);
    int by_value = isnan(x) || isnan(y) ? !!isnan(y) - !!isnan(x) : (y > x) - (y < x);
    return by_value ? by_value : (i > k) - (i < k);
}

static void sort_places(const struct odb_tensor *t, size_t first, size_t len, size_t *places)
{
    sorted = t;
    start = first;
    for (size_t i = 0; i < len; i++)
        places[i] = i;
    qsort(places, len, sizeof *places, place_order);
}

/* Against sorting every row. */
static void ranks_are_right(const struct odb_tensor *e, const struct odb_tensor *b, size_t k)
{
    size_t len = (size_t)b->dims[b->rank - 1], rows = b->count / len, same = 0, shared = 0;
    size_t *x = calloc(len, sizeof *x), *y = calloc(len, sizeof *y), n = ODB_MIN(k, len);
    struct odb_ranks got;
    for (size_t row = 0; row < rows; row++) {
        sort_places(e, row * len, len, x);
        sort_places(b, row * len, len, y);
        same += x[0] == y[0];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                shared += x[i] == y[j];
    }
    assert_true(odb_ranks(&got, e, b, k));
    assert_int_equal(got.rows, rows);
    assert_true(got.argmax == (double)same / (double)rows);
    assert_true(got.top == (double)shared / (double)(rows * n));
    free(x);
    free(y);
}

/* values: how many different ones there are, so that many are equal. */
static void check(enum odb_dtype type, int64_t rows, int64_t len, size_t values, bool odd)
{
    struct odb_tensor *e = NULL, *b = NULL;
    assert_int_equal(odb_tensor_new(&e, type, 2, (int64_t[]){rows, len}, &err), ODB_OK);
    assert_int_equal(odb_tensor_new(&b, type, 2, (int64_t[]){rows, len}, &err), ODB_OK);
    for (size_t i = 0; i < b->count; i++) {
        double v = (double)(odb_mix64(i) % values) - (double)(values / 2), w = v;
        if (odd && i % 300 == 7)
            v = w = i % 400 ? -INFINITY : INFINITY;
        else if (odd && i % 171 == 9)
            v = w = i % 2 ? NAN : -NAN;
        else if (i % 7 == 3 && i / (size_t)len % 2) /* every other row is equal */
            w += 1;
        odb_store_f64(type, b->data, i, v);
        odb_store_f64(type, e->data, i, w == 0 && odd ? -0.0 : w);
    }
    static const size_t ks[] = {1, 5, 33, ODB_RANKS_MOST};
    for (size_t i = 0; i < ODB_COUNT(ks); i++)
        ranks_are_right(e, b, ks[i]);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

static void test_ranks__agree_with_sorting(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64, ODB_F16, ODB_BF16,
                                           ODB_I8,  ODB_I32, ODB_I64, ODB_I4};
    static const int64_t lengths[] = {1, 3, 32, 33, 100, 1024, 2500};
    for (size_t t = 0; t < ODB_COUNT(types); t++)
        for (size_t i = 0; i < ODB_COUNT(lengths); i++) {
            size_t most = odb_dtype_info(types[t])->bits == 4 ? 14 : 100;
            check(types[t], 4, lengths[i], 3, odb_dtype_is_float(types[t]));
            check(types[t], 4, lengths[i], most, odb_dtype_is_float(types[t]));
        }
}

/* That doubles, and the leading 32 bits of integers, do not tell apart. */
static void test_ranks__of_wide_integers(void **state)
{
    struct odb_tensor *e = NULL, *b = NULL;
    struct odb_ranks got;
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        enum odb_dtype type = is_signed ? ODB_I64 : ODB_U64;
        assert_int_equal(odb_tensor_new(&e, type, 1, (int64_t[]){2000}, &err), ODB_OK);
        assert_int_equal(odb_tensor_new(&b, type, 1, (int64_t[]){2000}, &err), ODB_OK);
        for (size_t i = 0; i < 2000; i++) {
            odb_store_i64(type, e->data, i, ((int64_t)1 << 60) + (int64_t)i);
            odb_store_i64(type, b->data, i, ((int64_t)1 << 60) + (int64_t)i);
        }
        odb_store_i64(type, e->data, 5, ((int64_t)1 << 60) + 2000);
        if (!is_signed)
            odb_store_i64(type, b->data, 9, -1); /* the largest of all */
        assert_true(odb_ranks(&got, e, b, 4));
        assert_true(got.argmax == 0);
        assert_true(got.top == 0.75);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
}

static void test_ranks__of_what_has_none(void **state)
{
    struct odb_tensor *e = NULL, *b = NULL;
    struct odb_ranks got = {.rows = 3};
    assert_int_equal(odb_tensor_new(&e, ODB_F32, 2, (int64_t[]){2, 3}, &err), ODB_OK);
    assert_int_equal(odb_tensor_new(&b, ODB_F32, 2, (int64_t[]){3, 2}, &err), ODB_OK);
    assert_false(odb_ranks(&got, e, b, 1));
    assert_int_equal(got.rows, 0);
    assert_false(odb_ranks(&got, NULL, b, 1));
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks__agree_with_sorting),
        cmocka_unit_test(test_ranks__of_wide_integers),
        cmocka_unit_test(test_ranks__of_what_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
