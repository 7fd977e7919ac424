/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Candidates of an explanation are made and measured by parts, on all threads: the same as element
 * by element.
 */
#include "explain/measure/residual.h"

#include <math.h>

#include "explain/variant.h"
#include "tests/help/models.h"

static const int64_t counts[] = {0, 1, 7, 8, 9, 511, 512, 513, 16383, 16384, 16385, 50001};

static struct odb_tensor *filled(enum odb_dtype dtype, int64_t n, int seed)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_new(&t, dtype, 1, &n, &why));
    for (int64_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, (size_t)i, (double)((i * 7 + seed) % 13) - seed);
    return t;
}

static void put(struct odb_tensor *t, size_t i, double v)
{
    if (i < t->count)
        odb_store_f64(t->dtype, t->data, i, v);
}

/* NaN and Inf where both have them are no difference, and no energy anywhere. */
static void test_candidates__residuals(void **state)
{
    for (size_t c = 0; c < ODB_COUNT(counts); c++) {
        struct odb_tensor *y = filled(ODB_F32, counts[c], 3), *v = filled(ODB_F32, counts[c], 5);
        struct measured m;
        struct residual r;
        double energy = 0, max = 0;
        size_t odd = 0;
        put(y, 3, NAN), put(v, 3, NAN);
        put(y, 510, INFINITY), put(v, 510, INFINITY);
        put(y, 512, INFINITY), put(v, 512, -INFINITY);
        put(y, 16384, NAN);
        MODELS_OK(measured_make(&m, &y, &y, 1, &why));
        residual_measure(&r, &m, &v);
        for (size_t i = 0; i < y->count; i++) {
            double a = odb_tensor_f64(y, i), b = odb_tensor_f64(v, i), d = fabs(a - b);
            if (isfinite(d)) {
                energy += d * d;
                max = fmax(max, d);
            }
            odd += !isfinite(d) && !(a == b || (isnan(a) && isnan(b)));
        }
        assert_true(r.comparable);
        assert_int_equal(r.odd, odd);
        assert_true(fabs(r.energy * m.rms[0] * m.rms[0] - energy) <= 1e-9 * energy);
        assert_true(fabs(r.max * m.rms[0] - max) <= 1e-12 * max);
        measured_dispose(&m);
        odb_tensor_unref(y);
        odb_tensor_unref(v);
    }
}

static double next(const void *payload, size_t i, double v)
{
    const int *by = payload;
    return v + *by + (double)(i % 2);
}

/* Two elements may share a byte, and no part writes what another does. */
static void test_candidates__maps(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F16, ODB_F64, ODB_I32, ODB_I4, ODB_U4};
    const int by = 1;
    for (size_t t = 0; t < ODB_COUNT(types); t++)
        for (size_t c = 0; c < ODB_COUNT(counts); c++) {
            struct odb_tensor *from = filled(types[t], counts[c], 6), *out = NULL, *want = NULL;
            MODELS_OK(tensor_map(&out, from, next, &by, &why));
            MODELS_OK(odb_tensor_clone(&want, from, &why));
            for (size_t i = 0; i < from->count; i++)
                odb_store_f64(types[t], want->data, i, next(&by, i, odb_tensor_f64(from, i)));
            assert_true(odb_tensor_identical(out, want));
            odb_tensor_unref(from);
            odb_tensor_unref(out);
            odb_tensor_unref(want);
        }
}

static int64_t from_the_end(const void *payload, size_t i)
{
    const size_t *n = payload;
    return i % 5 ? (int64_t)(*n - 1 - i) : -1;
}

static void test_candidates__gathers(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64, ODB_I8, ODB_F16};
    for (size_t t = 0; t < ODB_COUNT(types); t++)
        for (size_t c = 0; c < ODB_COUNT(counts); c++) {
            struct odb_tensor *from = filled(types[t], counts[c], 1), *out = NULL;
            MODELS_OK(tensor_gather(&out, from, from_the_end, &from->count, &why));
            for (size_t i = 0; i < from->count; i++)
                assert_true(odb_tensor_f64(out, i) ==
                            (i % 5 ? odb_tensor_f64(from, from->count - 1 - i) : 0));
            odb_tensor_unref(from);
            odb_tensor_unref(out);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates__residuals),
        cmocka_unit_test(test_candidates__maps),
        cmocka_unit_test(test_candidates__gathers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
