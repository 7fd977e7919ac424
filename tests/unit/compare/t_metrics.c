/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers that are not obvious by hand were computed with NumPy 1.24.2, on the same random values.
 */
#include "compare/metrics.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "compare/exact.h"
#include "compare/numpy.h"
#include "tensor/random.h"

static struct odb_error err;

static struct odb_tensor *of(enum odb_dtype dtype, size_t n, const double *v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    return t;
}

#define OF(dtype, ...)                                                                             \
    of(dtype, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* Compares and lets go of both. */
static struct odb_metrics compare(struct odb_tensor *e, struct odb_tensor *b, double th)
{
    struct odb_metrics m;
    odb_compare(&m, e, b, th);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
    return m;
}

static struct odb_distance distance(struct odb_tensor *e, struct odb_tensor *b)
{
    struct odb_distance d;
    assert_true(odb_distance(&d, e, b));
    odb_tensor_unref(e);
    odb_tensor_unref(b);
    return d;
}

static bool near(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_metrics__by_hand(void **state)
{
    struct odb_metrics m = compare(OF(ODB_F64, 1.5, -2, 0, 3), OF(ODB_F64, 1, -2, 0.5, 4), 1e-6);
    assert_int_equal(m.count, 4);
    assert_int_equal(m.finite, 4);
    assert_int_equal(m.differing, 3);
    assert_int_equal(m.worst, 3);
    assert_true(m.worst_e == 3 && m.worst_b == 4);
    assert_true(m.max_abs == 1);
    assert_true(near(m.rms, sqrt(21.25 / 4)));
    assert_true(near(m.error, 1 / sqrt(21.25 / 4)));
    assert_true(near(m.error_mean, 0.5 / sqrt(21.25 / 4)));
    assert_true(near(m.diff1, 2 / 7.5));
    assert_true(near(m.diff2, sqrt(1.5 / 21.25)));
    assert_true(near(m.diff3_max, 0.5 / (0.5 + 1e-9)));
    assert_true(near(m.max_rel, 1));
    assert_true(near(m.diff4_more, 1.0 / 3) && near(m.diff4_less, 2.0 / 3));
    assert_true(m.diff_acc == 0.25); /* 3 and 4; 1.5 and 1 share their integer part */
    assert_true(m.mae == 0.5 && near(m.mse, 1.5 / 4));
    assert_false(m.all_close);
}

static const struct golden {
    enum odb_dtype dtype;
    size_t differing, worst;
    double ulp, diff2_f32, v[16];
} goldens[] = {
    {.dtype = ODB_F32,
     .differing = 40001,
     .worst = 28326,
     .ulp = 2000150598.0,
     .diff2_f32 = 0.0033374867911701933,
     .v = {0.0033398471276174465, 0.0033374865633950947, 226.88565730134664, 0.027222247348699255,
           0.49976250593735155, 0.5002374940626484, 0.003899902502437439, 0.00501717908737025,
           0.027222247348699255, 3.348629260814392e-05, 0.009999126195907593, 226.89281375930534,
           0.9999944308363871, 1.733859921836313, 0.005766974638480381, 0.0028936473034434106}},
    {.dtype = ODB_F16,
     .differing = 37908,
     .worst = 479,
     .ulp = 14783.0,
     .diff2_f32 = 0.003348165950832499,
     .v = {0.0033374878564631774, 0.0033481658985006, 69.20143383464497, 0.018936806655897802,
           0.4991558510077029, 0.5008441489922971, 0.003824904377390565, 0.005013637735123593,
           0.027219431575562954, 3.370097092000208e-05, 0.010009765625, 226.84962406015038,
           0.9999943951008323, 1.733860839134055, 0.005773107852184488, 0.0028916033063112272}},
    {.dtype = ODB_F64,
     .differing = 40001,
     .worst = 28326,
     .ulp = 9.144273207717332e+18,
     .diff2_f32 = 0.0033374863824068867,
     .v = {0.0033398470451855137, 0.0033374864864528296, 226.8856610728236, 0.027222247145174742,
           0.49976250593735155, 0.5002374940626484, 0.003899902502437439, 0.005017178963092446,
           0.027222247145174742, 3.348629105638168e-05, 0.009999138419417464, 226.8928175311647,
           0.9999944308366453, 1.7338599216349142, 0.005766981689033416, 0.0028936472321025686}},
};

static void test_metrics__as_numpy_computes_them(void **state)
{
    enum { N = 40001 };
    static double base[N], evaluated[N];
    for (size_t k = 0; k < ODB_COUNT(goldens); k++) {
        const struct golden *g = &goldens[k];
        struct odb_mt19937 r;
        odb_mt19937_seed(&r, 1);
        for (size_t i = 0; i < N; i++)
            base[i] = odb_mt19937_uniform(&r, -3, 3);
        struct odb_tensor *b = of(g->dtype, N, base);
        odb_mt19937_seed(&r, 2);
        for (size_t i = 0; i < N; i++)
            evaluated[i] = odb_tensor_f64(b, i) + odb_mt19937_uniform(&r, -1e-2, 1e-2);
        struct odb_tensor *e = of(g->dtype, N, evaluated);
        assert_true(odb_diff2_f32(e, b) == g->diff2_f32);
        struct odb_metrics m = compare(e, b, -1);
        const double v[] = {m.diff1,      m.diff2,      m.diff3_max, m.diff3_mean,
                            m.diff4_more, m.diff4_less, m.diff_acc,  m.mae,
                            m.mape,       m.mse,        m.max_abs,   m.max_rel,
                            m.cosine,     m.rms,        m.error,     m.error_mean};
        for (size_t i = 0; i < ODB_COUNT(v); i++)
            if (!near(v[i], g->v[i]))
                fail_msg("type %d, number %zu: %.17g, expected %.17g", (int)g->dtype, i, v[i],
                         g->v[i]);
        assert_true(m.ulp_max == g->ulp);
        assert_int_equal(m.differing, g->differing);
        assert_int_equal(m.diff4_count, g->differing);
        assert_int_equal(m.worst, g->worst);
        assert_true(m.finite_diff2 == m.diff2 && m.finite_diff3_max == m.diff3_max);
    }
}

static void test_metrics__nan_and_inf_are_counted_apart(void **state)
{
    struct odb_metrics m = compare(OF(ODB_F32, 1, NAN, NAN, 2, INFINITY, INFINITY, -INFINITY, 5),
                                   OF(ODB_F32, 1, NAN, 2, NAN, INFINITY, -INFINITY, 3, 4), -1);
    assert_int_equal(m.count, 8);
    assert_int_equal(m.finite, 2);
    assert_int_equal(m.nan_both, 1);
    assert_int_equal(m.nan_target_only, 1);
    assert_int_equal(m.nan_ref_only, 1);
    assert_int_equal(m.inf_both, 1);
    assert_int_equal(m.inf_mismatch, 2);
    assert_int_equal(m.differing, 5);
    assert_int_equal(m.worst, 2); /* the first that does not match, whatever the distances */
    assert_true(isnan(m.worst_e) && m.worst_b == 2);
    assert_true(near(m.rms, sqrt(17.0 / 2)));
    assert_true(near(m.error, 1 / sqrt(17.0 / 2)));
    assert_true(m.max_abs == 1);
    assert_true(isnan(m.diff1) && isnan(m.diff2) && isnan(m.mae) && isnan(m.mse));
    assert_true(isnan(m.diff3_max) && isnan(m.diff3_mean) && isnan(m.mape));
    assert_true(near(m.finite_diff2, sqrt(1.0 / 17)));
    assert_true(near(m.finite_diff3_max, 1 / (4 + 1e-9)));
    assert_false(m.all_close);
    m = compare(OF(ODB_F32, NAN, INFINITY, 1), OF(ODB_F32, NAN, INFINITY, 1), -1);
    assert_true(m.all_close);
    assert_int_equal(m.differing, 0);
    assert_int_equal(m.worst, ODB_NOWHERE);
    m = compare(OF(ODB_F32, INFINITY, 1), OF(ODB_F32, 1, 1), -1);
    assert_true(m.diff1 == INFINITY && m.diff3_max == INFINITY);
}

static void test_metrics__zero_base(void **state)
{
    struct odb_metrics m = compare(OF(ODB_F32, 0, -0.0), OF(ODB_F32, 0, 0), -1);
    assert_true(m.error == 0 && m.error_mean == 0 && m.finite_diff2 == 0 && m.cosine == 1);
    assert_true(isnan(m.diff1) && isnan(m.diff2)); /* 0/0, as in the old scripts */
    assert_int_equal(m.differing, 0);
    assert_true(m.diff4_more == -1 && m.diff4_less == -1 && m.diff4_count == 0);
    m = compare(OF(ODB_F32, 0, 1), OF(ODB_F32, 0, 0), -1);
    assert_true(m.error == INFINITY && m.diff1 == INFINITY && m.diff2 == INFINITY);
    assert_true(m.cosine == 0 && m.diff3_max == 1 && m.max_rel == 0);
    m = compare(of(ODB_F32, 0, NULL), of(ODB_F32, 0, NULL), -1);
    assert_int_equal(m.count, 0);
    assert_true(m.error == 0 && m.all_close && !m.missing);
}

static void test_metrics__squares_out_of_range(void **state)
{
    struct odb_metrics m = compare(OF(ODB_F64, 1e200, -2e200), OF(ODB_F64, 1e200, -1e200), -1);
    assert_true(near(m.rms, 1e200) && near(m.error, 1) && near(m.diff2, sqrt(0.5)));
    assert_true(near(m.cosine, 3 / sqrt(10)));
    m = compare(OF(ODB_F64, 1e-200, 2e-200), OF(ODB_F64, 1e-200, 1e-200), -1);
    assert_true(near(m.rms, 1e-200) && near(m.error, 1) && near(m.diff2, sqrt(0.5)));
    struct odb_distance d = distance(OF(ODB_F64, 1e-200, 2e-200), OF(ODB_F64, 1e-200, 1e-200));
    assert_true(near(d.error, 1));
    d = distance(OF(ODB_F64, DBL_MAX), OF(ODB_F64, -DBL_MAX));
    assert_true(d.error == INFINITY && d.mismatched == 0 && d.finite == 1);
}

static void test_metrics__widths_of_floats_mix(void **state)
{
    struct odb_metrics m = compare(OF(ODB_F32, 0.1, 1), OF(ODB_F64, 0.1, 1), -1);
    assert_int_equal(m.differing, 1);
    assert_true(m.ulp_max == 0); /* the double is the same float */
    m = compare(OF(ODB_F16, 1 + 0x1p-10), OF(ODB_F64, 1), -1);
    assert_true(m.ulp_max == 1);
    assert_true(m.th == 1e-6);
    m = compare(OF(ODB_F16, 1), OF(ODB_F16, 1), -1);
    assert_true(m.th == 1e-4);
    m = compare(OF(ODB_F32, -0x1p-149, 0), OF(ODB_F32, 0x1p-149, -0.0), -1);
    assert_true(m.ulp_max == 2);
    m = compare(OF(ODB_F8E5M2, 1.25), OF(ODB_F8E5M2, 1), -1);
    assert_true(m.ulp_max == 1);
}

static void test_metrics__integers_are_exact(void **state)
{
    struct odb_tensor *e = OF(ODB_I64, 0, 0), *b = OF(ODB_I64, 0, 0);
    odb_store_i64(ODB_I64, e->data, 1, ((int64_t)1 << 60) + 1); /* the same double */
    odb_store_i64(ODB_I64, b->data, 1, (int64_t)1 << 60);
    struct odb_metrics m = compare(e, b, -1);
    assert_true(m.max_abs == 1 && m.mae == 0.5 && m.diff4_more == 1 && m.diff4_less == 0);
    assert_true(m.worst_e - m.worst_b == 1 && m.diff_acc == 0.5);
    assert_int_equal(m.differing, 1);
    assert_int_equal(m.exact_differing, 1);
    assert_int_equal(m.worst, 1);
    m = compare(OF(ODB_U8, 1, 200), OF(ODB_U8, 3, 200), -1);
    assert_true(m.max_abs == 2 && m.exact_differing == 1 && m.worst == 0);
    m = compare(OF(ODB_I32, -1), OF(ODB_I64, -1), -1);
    assert_true(!m.dtype_mismatch && m.differing == 0);
    m = compare(OF(ODB_I64, -1), OF(ODB_U64, 0x1p64 - 2048), -1);
    assert_int_equal(m.differing, 1);
    m = compare(OF(ODB_BOOL, 1, 0), OF(ODB_BOOL, 1, 1), -1);
    assert_true(m.exact_differing == 1 && m.worst == 1);
    struct odb_distance d = distance(OF(ODB_I4, 3, -3, 1), OF(ODB_I4, 3, -3, 2));
    assert_true(d.exact && d.differing == 1 && d.max_abs == 1);
    e = OF(ODB_U64, 0, 0);
    odb_store_i64(ODB_U64, e->data, 1, INT64_MIN + 1); /* 2^63 + 1 */
    d = distance(e, OF(ODB_U64, 0, 0x1p63));
    assert_true(d.exact && d.differing == 1 && d.max_abs == 1 && d.error > 0);
}

static struct odb_tensor *strings(const char *a, const char *b)
{
    struct odb_tensor *t = NULL;
    const struct odb_str in[] = {{a, strlen(a)}, {b, strlen(b)}};
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){2}, in, &err), ODB_OK);
    return t;
}

static void test_metrics__strings(void **state)
{
    struct odb_metrics m = compare(strings("a", "b"), strings("a", "bc"), -1);
    assert_true(m.count == 2 && m.exact_differing == 1 && m.worst == 1 && !m.all_close);
    m = compare(strings("a", ""), strings("a", ""), -1);
    assert_true(m.exact_differing == 0 && m.all_close && m.worst == ODB_NOWHERE);
    struct odb_distance d = distance(strings("a", "b"), strings("x", "y"));
    assert_int_equal(d.differing, 2);
    assert_true(isinf(d.error) && isinf(d.error_mean)); /* no noise is as large */
    d = distance(strings("a", "b"), strings("a", "b"));
    assert_true(d.differing == 0 && d.error == 0);
}

static void test_metrics__complex(void **state)
{
    struct odb_tensor *e = OF(ODB_C64, 1, 2), *b = OF(ODB_C64, 1, 2);
    ((odb_f32 *)e->data)[3] = 0.5f; /* imaginary part of the second */
    struct odb_metrics m = compare(e, b, -1);
    assert_true(m.count == 4 && m.differing == 1 && m.worst == 1 && m.max_abs == 0.5);
}

static void test_metrics__what_cannot_be_compared(void **state)
{
    struct odb_tensor *f = OF(ODB_F32, 1, 2), *shape = NULL, *row = NULL;
    struct odb_metrics m;
    struct odb_distance d;
    odb_compare(&m, f, NULL, -1);
    assert_true(m.missing);
    odb_compare(&m, NULL, f, -1);
    assert_true(m.missing);
    assert_int_equal(odb_tensor_new_shape(&shape, ODB_F32, 1, (int64_t[]){2}, &err), ODB_OK);
    odb_compare(&m, shape, f, -1);
    assert_true(m.missing);
    assert_int_equal(odb_tensor_reshape(&row, f, 2, (int64_t[]){1, 2}, &err), ODB_OK);
    odb_compare(&m, row, f, -1);
    assert_true(m.shape_mismatch && !m.missing && m.count == 0);
    assert_false(odb_distance(&d, row, f));
    assert_false(odb_distance(&d, shape, f));
    odb_tensor_unref(row);
    odb_tensor_unref(shape);
    m = compare(odb_tensor_ref(f), OF(ODB_I32, 1, 2), -1);
    assert_true(m.dtype_mismatch && !m.shape_mismatch);
    m = compare(odb_tensor_ref(f), OF(ODB_F32, 1, 2, 3), -1);
    assert_true(m.shape_mismatch);
    odb_tensor_unref(f);
}

static struct odb_tensor *pack(enum odb_kind kind, struct odb_tensor *a, struct odb_tensor *b)
{
    struct odb_tensor *t = NULL, *items[] = {a, b};
    assert_int_equal(odb_tensor_new_container(&t, kind, items, b ? 2 : a ? 1 : 0, &err), ODB_OK);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    return t;
}

static void test_metrics__containers_item_by_item(void **state)
{
    struct odb_metrics m = compare(pack(ODB_SEQUENCE, OF(ODB_F32, 1, 2), OF(ODB_F32, 3, 5, 5)),
                                   pack(ODB_SEQUENCE, OF(ODB_F32, 1, 2), OF(ODB_F32, 3, 4, 5)), -1);
    assert_true(m.count == 5 && m.item == 1 && m.worst == 1 && m.max_abs == 1);
    assert_true(near(m.rms, sqrt(55.0 / 5)));
    m = compare(pack(ODB_SEQUENCE, OF(ODB_F32, 1), NULL),
                pack(ODB_SEQUENCE, OF(ODB_F32, 1), OF(ODB_F32, 1)), -1);
    assert_true(m.shape_mismatch);
    m = compare(pack(ODB_OPTIONAL, NULL, NULL), pack(ODB_OPTIONAL, OF(ODB_F32, 1), NULL), -1);
    assert_true(m.shape_mismatch);
    m = compare(pack(ODB_OPTIONAL, NULL, NULL), pack(ODB_OPTIONAL, NULL, NULL), -1);
    assert_true(!m.shape_mismatch && m.count == 0 && m.error == 0);
    m = compare(pack(ODB_OPTIONAL, OF(ODB_F32, 1), NULL), OF(ODB_F32, 1), -1);
    assert_true(m.shape_mismatch);
    /* Where the values of a sparse tensor stand must match; it does not enter the distances. */
    m = compare(pack(ODB_SPARSE, OF(ODB_F32, 1, 2), OF(ODB_I64, 10, 20)),
                pack(ODB_SPARSE, OF(ODB_F32, 1, 2), OF(ODB_I64, 10, 21)), -1);
    assert_true(m.exact_differing == 1 && m.max_abs == 0 && m.item == 1 && m.worst == 1);
    assert_true(near(m.rms, sqrt(2.5)));
}

/* Containers of floats are as far apart as their items together; of other things they are the same
 * or not. */
static void test_metrics__distance_of_containers(void **state)
{
    static const struct {
        enum odb_kind kind;
        enum odb_dtype first, second;
        bool comparable, equal;
    } cases[] = {
        {ODB_SEQUENCE, ODB_F32, ODB_F32, true, false},
        {ODB_SEQUENCE, ODB_I64, ODB_I64, false, false},
        {ODB_SEQUENCE, ODB_F32, ODB_F64, false, false}, /* two types in one */
        {ODB_MAP, ODB_I64, ODB_F32, true, false},
        {ODB_SPARSE, ODB_F32, ODB_I64, false, false}, /* indices differ */
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        enum odb_dtype x = cases[i].first, y = cases[i].second;
        struct odb_tensor *e = pack(cases[i].kind, OF(x, 3, 1), OF(y, 1, 2));
        struct odb_tensor *b = pack(cases[i].kind, OF(x, 3, 1), OF(y, 1, 4));
        struct odb_distance d;
        assert_int_equal(odb_distance(&d, e, b), cases[i].comparable);
        assert_int_equal(odb_equal_exact(e, b), cases[i].equal);
        assert_true(odb_equal_exact(e, e));
        if (cases[i].comparable)
            assert_true(d.max_abs == 2 && d.differing == 1 && !d.exact);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
    struct odb_tensor *e = pack(ODB_SEQUENCE, NULL, NULL), *b = pack(ODB_SEQUENCE, NULL, NULL);
    struct odb_distance d;
    e->dtype = ODB_F64;
    b->dtype = ODB_F32;
    assert_false(odb_distance(&d, e, b));
    assert_true(odb_equal_exact(e, b));
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

static void test_metrics__distance_agrees_with_the_whole(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64, ODB_F16, ODB_BF16, ODB_F8E4M3FN};
    struct odb_pcg64 r;
    odb_pcg64_seed(&r, 9);
    for (size_t k = 0; k < ODB_COUNT(types) * ODB_COUNT(types); k++) {
        size_t n = (size_t)odb_pcg64_integers(&r, 1, 70000);
        struct odb_tensor *e = NULL, *b = NULL;
        struct odb_distance d, again;
        struct odb_metrics m;
        int64_t dims[] = {(int64_t)n};
        assert_int_equal(odb_tensor_new(&e, types[k % 5], 1, dims, &err), ODB_OK);
        assert_int_equal(odb_tensor_new(&b, types[k / 5], 1, dims, &err), ODB_OK);
        for (size_t i = 0; i < n; i++) {
            double x = odb_pcg64_uniform(&r, -4, 4);
            odb_store_f64(b->dtype, b->data, i, x);
            /* in few chunks, for the others are added where they stand */
            odb_store_f64(e->dtype, e->data, i,
                          i % 5003 == 5 ? NAN : x + odb_pcg64_uniform(&r, 0, 1));
        }
        odb_compare(&m, e, b, -1);
        assert_true(odb_distance(&d, e, b));
        assert_true(d.max_abs == m.max_abs && d.rms == m.rms && d.error == m.error);
        assert_true(near(d.mean_abs, m.error_mean * m.rms) && d.error_mean == m.error_mean);
        assert_int_equal(d.finite, m.finite);
        assert_int_equal(d.differing, m.differing);
        assert_int_equal(d.mismatched, m.nan_target_only);
        assert_int_equal(m.nan_target_only, n > 5 ? (n - 6) / 5003 + 1 : 0);
        int threads = odb_parallel_threads();
        odb_parallel_set_threads(1);
        assert_true(odb_distance(&again, e, b));
        odb_parallel_set_threads(threads);
        assert_memory_equal(&again, &d, sizeof d);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
}

static struct odb_tensor *as_wide(const struct odb_tensor *t)
{
    struct odb_tensor *wide = NULL;
    enum odb_dtype type = odb_dtype_is_float(t->dtype) ? ODB_F64 : ODB_I32;
    assert_int_equal(odb_tensor_new(&wide, type, t->rank, t->dims, &err), ODB_OK);
    odb_convert(type, wide->data, t->dtype, t->data, t->count);
    return wide;
}

/* Numbers of a type, and what the same numbers say in a wider one: bit for bit, NaN and all. */
static void says_the_same(const struct odb_tensor *e, const struct odb_tensor *b)
{
    struct odb_tensor *wide = as_wide(b);
    struct odb_metrics m, w;
    struct odb_distance d, x;
    odb_compare(&m, e, b, 1e-3);
    odb_compare(&w, e, wide, 1e-3);
    assert_true(odb_distance(&d, e, b) && odb_distance(&x, e, wide));
    assert_true(m.count == w.count && m.finite == w.finite && m.differing == w.differing);
    assert_true(m.worst == w.worst && m.nan_both == w.nan_both && m.all_close == w.all_close);
    assert_true(m.inf_both == w.inf_both && m.nan_target_only == w.nan_target_only);
#define SAME_PLAIN(name, help) assert_memory_equal(&m.name, &w.name, sizeof(double));
#define SAME_TWIN(name, help)                                                                      \
    SAME_PLAIN(name, help) assert_memory_equal(&m.finite_##name, &w.finite_##name, sizeof(double));
    ODB_METRIC_LIST(SAME_PLAIN, SAME_TWIN)
    assert_memory_equal(&m.peak, &w.peak, sizeof(double));
    assert_true(d.max_abs == x.max_abs && d.mean_abs == x.mean_abs && d.rms == x.rms);
    assert_true(d.differing == x.differing && d.finite == x.finite);
    assert_true(d.mismatched == x.mismatched && d.error == x.error && d.rms == m.rms);
    assert_true(d.mean_abs == m.finite_mae && d.max_abs == m.max_abs);
    odb_tensor_unref(wide);
}

/* Chunks that are equal bit for bit, some of them with NaN and Inf, and others between them; the
 * last one fills no lanes. */
static void test_metrics__equal_chunks_and_narrow_types(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F16, ODB_BF16, ODB_F8E5M2, ODB_I8, ODB_I16};
    for (size_t k = 0; k < ODB_COUNT(types); k++) {
        bool floats = odb_dtype_is_float(types[k]);
        struct odb_tensor *e = NULL, *b = NULL;
        assert_int_equal(odb_tensor_new(&e, types[k], 1, (int64_t[]){20003}, &err), ODB_OK);
        assert_int_equal(odb_tensor_new(&b, types[k], 1, (int64_t[]){20003}, &err), ODB_OK);
        for (size_t i = 0; i < e->count; i++) {
            double v = (double)(odb_mix64(i) % 2001) / 16 - 62.5;
            bool equal = i / 1024 % 3 != 1 && i < 20000;
            odb_store_f64(types[k], b->data, i, i % 5 ? v : 0);
            odb_store_f64(types[k], e->data, i, equal ? (i % 5 ? v : 0) : v * 1.25);
        }
        says_the_same(e, b);
        says_the_same(e, e);
        for (size_t i = 0; floats && i < e->count; i += 1500) {
            odb_store_f64(types[k], b->data, i, i % 1000 ? NAN : -INFINITY);
            odb_store_f64(types[k], e->data, i, i % 4500 ? NAN : -INFINITY);
        }
        says_the_same(e, b);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
}

static void test_metrics__worst_is_found_in_any_block(void **state)
{
    size_t n = 100000;
    double *v = odb_new_n(double, n);
    for (size_t at = 0; at < n; at += 16383) {
        struct odb_tensor *b = of(ODB_F32, n, v);
        v[at] = 7;
        struct odb_metrics m = compare(of(ODB_F32, n, v), b, -1);
        v[at] = 0;
        assert_int_equal(m.worst, at);
        assert_true(m.worst_e == 7 && m.error == INFINITY);
    }
    free(v);
}

static void test_metrics__equal_exact(void **state)
{
    static const struct {
        double a[2], b[2];
        bool equal;
    } cases[] = {
        {{1, NAN}, {1, NAN}, true},     {{0, 1}, {-0.0, 1}, true},
        {{0, NAN}, {-0.0, -NAN}, true}, {{1, 2}, {1, 2.5}, false},
        {{NAN, 1}, {1, 1}, false},      {{INFINITY, 0}, {INFINITY, 0}, true},
        {{INFINITY, 0}, {1, 0}, false},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *a = of(ODB_F32, 2, cases[i].a), *b = of(ODB_F32, 2, cases[i].b);
        assert_int_equal(odb_equal_exact(a, b), cases[i].equal);
        odb_tensor_unref(a);
        odb_tensor_unref(b);
    }
    struct odb_tensor *f = OF(ODB_F32, 1), *d = OF(ODB_F64, 1);
    assert_false(odb_equal_exact(f, d));
    assert_false(odb_equal_exact(f, NULL));
    struct odb_tensor *s = pack(ODB_SEQUENCE, OF(ODB_F32, -0.0), NULL);
    struct odb_tensor *z = pack(ODB_SEQUENCE, OF(ODB_F32, 0), NULL);
    assert_true(odb_equal_exact(s, z));
    assert_false(odb_equal_exact(s, f));
    odb_tensor_unref(f);
    odb_tensor_unref(d);
    odb_tensor_unref(s);
    odb_tensor_unref(z);
}

/* The largest quotient is where it is, among those of many chunks: in the first, rising from chunk
 * to chunk, above the one before by a unit in the last place, and beside bases that are zero. */
static void test_metrics__largest_quotient(void **state)
{
    enum { N = 40000 };
    struct odb_tensor *e, *b;
    struct odb_metrics m;

    assert_int_equal(odb_tensor_new(&e, ODB_F64, 1, (int64_t[]){N}, &err), ODB_OK);
    assert_int_equal(odb_tensor_new(&b, ODB_F64, 1, (int64_t[]){N}, &err), ODB_OK);
    for (int kind = 0; kind < 4; kind++) {
        double most = 0, last = 1e-3;
        for (size_t i = 0; i < N; i++) {
            double base = (double)(odb_mix64(i) >> 11) * 0x1p-52 - 1, apart = 1e-6;
            if (kind == 0 && i == 17)
                apart = 0.5;
            if (kind == 1 && i % 1000 == 0)
                apart = 1e-6 * (double)i;
            if (kind == 2 && i % 1500 == 3)
                apart = last = nextafter(last, 1);
            if (kind == 3 && i % 5 == 0)
                base = 0;
            double value = base == 0 ? 3 : base * (1 + apart);
            odb_store_f64(ODB_F64, b->data, i, base);
            odb_store_f64(ODB_F64, e->data, i, value);
            if (base != 0)
                most = fmax(most, fabs(value - base) / fabs(base));
        }
        odb_compare(&m, e, b, -1);
        assert_true(m.max_rel == most);
    }
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

/* By all their bits at once, and one by one, whatever the types. */
static void test_metrics__counts_of_integers(void **state)
{
    static const enum odb_dtype types[] = {ODB_I4,  ODB_U4,  ODB_I8,  ODB_U8,  ODB_I16, ODB_U16,
                                           ODB_I32, ODB_U32, ODB_I64, ODB_U64, ODB_BOOL};
    for (size_t k = 0; k < ODB_COUNT(types); k++)
        for (size_t l = 0; l < ODB_COUNT(types); l++) {
            double x[301], y[301];
            for (size_t i = 0; i < 301; i++) {
                x[i] = (double)(odb_mix64(i) % 2);
                y[i] = i >= 37 && odb_mix64(i) % 7 == 0 ? 1 - x[i] : x[i];
            }
            struct odb_tensor *a = of(types[k], 301, x), *b = of(types[l], 301, y);
            size_t first, want = SIZE_MAX, n = 0;
            for (size_t i = 301; i-- > 0;)
                if (!odb_exact_same(a, b, i)) {
                    want = i;
                    n++;
                }
            assert_true(n > 20 && want >= 37);
            assert_int_equal(odb_exact_count(a, b, &first), n);
            assert_int_equal(first, want);
            odb_tensor_unref(a);
            odb_tensor_unref(b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics__counts_of_integers),
        cmocka_unit_test(test_metrics__largest_quotient),
        cmocka_unit_test(test_metrics__by_hand),
        cmocka_unit_test(test_metrics__as_numpy_computes_them),
        cmocka_unit_test(test_metrics__nan_and_inf_are_counted_apart),
        cmocka_unit_test(test_metrics__zero_base),
        cmocka_unit_test(test_metrics__squares_out_of_range),
        cmocka_unit_test(test_metrics__widths_of_floats_mix),
        cmocka_unit_test(test_metrics__integers_are_exact),
        cmocka_unit_test(test_metrics__strings),
        cmocka_unit_test(test_metrics__complex),
        cmocka_unit_test(test_metrics__what_cannot_be_compared),
        cmocka_unit_test(test_metrics__containers_item_by_item),
        cmocka_unit_test(test_metrics__distance_of_containers),
        cmocka_unit_test(test_metrics__distance_agrees_with_the_whole),
        cmocka_unit_test(test_metrics__equal_chunks_and_narrow_types),
        cmocka_unit_test(test_metrics__worst_is_found_in_any_block),
        cmocka_unit_test(test_metrics__equal_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
