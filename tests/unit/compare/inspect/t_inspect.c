/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/inspect.h"

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
#include "tensor/random.h"

static struct odb_error err;

static struct odb_tensor *vector(enum odb_dtype dtype, const double *v, size_t n)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    return t;
}

#define VECTOR(dtype, ...)                                                                         \
    vector(dtype, (double[]){__VA_ARGS__}, ODB_COUNT(((double[]){__VA_ARGS__})))

static struct odb_inspection look(const struct odb_tensor *ref, const struct odb_tensor *target)
{
    struct odb_inspection x;
    memset(&x, 0xa5, sizeof x);
    assert_int_equal(odb_inspect(&x, ref, target, NULL, &err), ODB_OK);
    return x;
}

/* The same, and the two are not needed any more. */
static struct odb_inspection look_take(struct odb_tensor *ref, struct odb_tensor *target)
{
    struct odb_inspection x = look(ref, target);
    odb_tensor_unref(ref);
    odb_tensor_unref(target);
    return x;
}

static size_t sum_of(const size_t *bins)
{
    size_t sum = 0;
    for (int i = 0; i < ODB_INSPECT_BINS; i++)
        sum += bins[i];
    return sum;
}

static bool is_zero(const void *p, size_t size)
{
    const unsigned char *c = p;
    for (size_t i = 0; i < size; i++)
        if (c[i])
            return false;
    return true;
}

/* --- small ones ------------------------------------------------------------------------------- */

static void test_inspect__differences(void **state)
{
    struct odb_inspection x =
        look_take(VECTOR(ODB_F32, 1, 2, 0, -4, 5, 6), VECTOR(ODB_F32, 1, 2.5, 0.25, -5, 5, 5.5));
    assert_true(x.has_ref && x.has_target && x.ref_numeric && x.target_numeric && x.comparable);
    assert_int_equal(x.count, 6);
    assert_int_equal(x.differing, 4);
    assert_true(x.max_abs == 1 && x.max_rel == 0.25 && x.mean_abs == 2.25 / 6);
    assert_int_equal(x.n_worst, 4);
    assert_int_equal(x.worst[0].at, 3);
    assert_true(x.worst[0].ref == -4 && x.worst[0].target == -5 && x.worst[0].diff == -1);
    assert_int_equal(x.worst[1].at, 1);
    assert_int_equal(x.worst[2].at, 5); /* as far as the one before, but behind it */
    assert_true(x.worst[2].diff == -0.5);
    assert_int_equal(x.worst[3].at, 2);
    assert_int_equal(x.diff.count, 6);
    assert_true(x.diff.min == -1 && x.diff.max == 0.5 && x.diff.median == 0);
    assert_true(fabs(x.diff.rms - sqrt(1.5625 / 6)) < 1e-15);
    assert_true(x.lo == -5 && x.hi == 6);
    assert_int_equal(sum_of(x.ref_bins), 6);
    assert_int_equal(x.ref_bins[31], 1);
    assert_int_equal(x.target_bins[0], 1);
    assert_int_equal(x.diff_zero, 2);
    assert_int_equal(sum_of(x.diff_bins), 4);
    assert_true(x.diff_lo == -1 && x.diff_hi == 1);
    assert_int_equal(x.diff_bins[16], 1); /* 10^0 begins the upper half */
    assert_true(x.metrics.max_abs == 1 && x.metrics.differing == 4);
}

static void test_inspect__one_side_or_none(void **state)
{
    struct odb_inspection x = look(NULL, NULL);
    assert_true(!x.has_ref && !x.has_target && !x.ref_numeric && !x.comparable);
    assert_true(x.metrics.missing);
    x = look_take(VECTOR(ODB_F32, 1, NAN, 3), NULL);
    assert_true(x.has_ref && !x.has_target && x.ref_numeric && !x.target_numeric && !x.comparable);
    assert_true(x.ref.count == 3 && x.ref.nan == 1 && x.ref.mean == 2);
    assert_true(x.lo == 1 && x.hi == 3 && sum_of(x.ref_bins) == 2 && sum_of(x.target_bins) == 0);
    assert_int_equal(x.odd[ODB_NAN_REF].total, 1);
    assert_int_equal(x.odd[ODB_NAN_REF].at[0].at, 1);
    assert_int_equal(x.odd[ODB_NAN_REF].at[0].target, ODB_ABSENT);
    x = look_take(NULL, VECTOR(ODB_F32, -INFINITY));
    assert_true(!x.has_ref && x.has_target && x.target.neg_inf == 1);
    assert_int_equal(x.odd[ODB_INF_TARGET].at[0].ref, ODB_ABSENT);
    assert_int_equal(x.odd[ODB_INF_TARGET].at[0].target, ODB_NEG_INF);
    assert_true(is_zero(&x.diff, sizeof x.diff) && x.differing == 0 && x.n_worst == 0);
}

static void test_inspect__shapes_that_differ(void **state)
{
    struct odb_inspection x =
        look_take(VECTOR(ODB_F32, 1, NAN, 3), VECTOR(ODB_F32, INFINITY, 2, 7, 9));
    assert_true(x.ref_numeric && x.target_numeric && !x.comparable && x.metrics.shape_mismatch);
    assert_true(x.ref.count == 3 && x.target.count == 4 && x.diff.count == 0 && x.count == 0);
    assert_true(x.lo == 1 && x.hi == 9);
    assert_true(sum_of(x.ref_bins) == 2 && sum_of(x.target_bins) == 3);
    assert_true(x.odd[ODB_NAN_REF].total == 1 && x.odd[ODB_INF_TARGET].total == 1);
    assert_int_equal(x.odd[ODB_INF_TARGET].at[0].at, 0);
    assert_true(x.differing == 0 && x.n_worst == 0 && sum_of(x.diff_bins) == 0);
}

static void test_inspect__values_that_are_not_there(void **state)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new_shape(&t, ODB_F32, 1, (int64_t[]){2}, &err), ODB_OK);
    struct odb_inspection x = look_take(t, VECTOR(ODB_F32, 1, 2));
    assert_true(x.has_ref && !x.ref_numeric && x.target_numeric && !x.comparable);
    assert_int_equal(x.target.count, 2);
}

static void test_inspect__empty_and_scalar(void **state)
{
    struct odb_inspection x = look_take(vector(ODB_F32, NULL, 0), vector(ODB_F32, NULL, 0));
    assert_true(x.comparable && x.ref_numeric && x.count == 0 && x.differing == 0);
    assert_true(x.lo == 0 && x.hi == 0 && x.diff_lo == 0 && x.diff_hi == 0);
    assert_true(is_zero(&x.ref, sizeof x.ref) && is_zero(&x.diff, sizeof x.diff));
    struct odb_tensor *a = NULL, *b = NULL;
    assert_int_equal(odb_tensor_new(&a, ODB_F32, 0, NULL, &err), ODB_OK);
    assert_int_equal(odb_tensor_new(&b, ODB_F32, 0, NULL, &err), ODB_OK);
    *(float *)a->data = 3;
    *(float *)b->data = 3;
    x = look(a, b);
    assert_true(x.comparable && x.count == 1 && x.differing == 0 && x.lo == 3 && x.hi == 3);
    assert_true(x.ref_bins[ODB_INSPECT_BINS / 2] == 1 && x.diff_zero == 1);
    *(float *)b->data = 4;
    x = look_take(a, b);
    assert_true(x.differing == 1 && x.max_abs == 1 && x.n_worst == 1 && x.worst[0].at == 0);
    assert_true(x.ref.std == 0 && x.ref.median == 3 && x.diff.median == 1);
}

static void test_inspect__odd_pairs(void **state)
{
    const double inf = INFINITY;
    struct odb_inspection x =
        look_take(VECTOR(ODB_F32, NAN, NAN, 1, inf, inf, 1, -inf, NAN, inf, 0.0, 1),
                  VECTOR(ODB_F32, NAN, 1, NAN, inf, 1, -inf, inf, inf, NAN, -0.0, 2));
    const struct {
        enum odb_oddity kind;
        size_t total, first, last;
    } expected[] = {
        {ODB_NAN_BOTH, 1, 0, 0}, {ODB_NAN_REF, 2, 1, 7}, {ODB_NAN_TARGET, 2, 2, 8},
        {ODB_INF_BOTH, 1, 3, 3}, {ODB_INF_REF, 2, 4, 8}, {ODB_INF_TARGET, 2, 5, 7},
        {ODB_INF_SIGN, 1, 6, 6},
    };
    for (size_t i = 0; i < ODB_COUNT(expected); i++) {
        const struct odb_places *odd = &x.odd[expected[i].kind];
        assert_int_equal(odd->total, expected[i].total);
        assert_int_equal(odd->n, expected[i].total);
        assert_int_equal(odd->at[0].at, expected[i].first);
        assert_int_equal(odd->at[odd->n - 1].at, expected[i].last);
    }
    assert_true(x.odd[ODB_NAN_REF].at[1].ref == ODB_NAN &&
                x.odd[ODB_NAN_REF].at[1].target == ODB_POS_INF);
    assert_true(x.odd[ODB_INF_SIGN].at[0].ref == ODB_NEG_INF);
    assert_int_equal(x.differing, 8);
    assert_int_equal(x.n_worst, 8);
    const size_t order[] = {1, 2, 4, 5, 6, 7, 8, 10};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(x.worst[i].at, order[i]);
    assert_true(x.worst[3].diff == -INFINITY && x.worst[0].diff != x.worst[0].diff);
    assert_true(x.diff.count == 2 && x.diff.nan == 0 && x.max_abs == 1 && x.max_rel == 1);
    assert_true(x.ref.nan == 3 && x.ref.pos_inf == 3 && x.ref.neg_inf == 1 && x.ref.zeros == 1);
    assert_int_equal(x.metrics.differing, 8);
}

static void test_inspect__nothing_but_nan(void **state)
{
    struct odb_inspection x = look_take(VECTOR(ODB_F16, NAN, NAN), VECTOR(ODB_F16, NAN, NAN));
    assert_true(x.comparable && x.differing == 0 && x.count == 2 && x.ref.nan == 2);
    assert_true(x.diff.count == 0 && x.lo == 0 && x.hi == 0 && sum_of(x.ref_bins) == 0);
    assert_true(x.ref.min == 0 && x.ref.max == 0 && x.ref.median == 0);
    assert_int_equal(x.odd[ODB_NAN_BOTH].total, 2);
}

static void test_inspect__doubles_that_overflow(void **state)
{
    struct odb_inspection x =
        look_take(VECTOR(ODB_F64, DBL_MAX, 1, 0), VECTOR(ODB_F64, -DBL_MAX, 3, NAN));
    assert_true(x.differing == 3 && x.max_abs == INFINITY && x.mean_abs == INFINITY);
    assert_true(x.diff.neg_inf == 1 && x.diff.count == 2 && x.diff.max == 2);
    assert_true(x.worst[0].at == 2 && x.worst[1].at == 0 && x.worst[2].at == 1);
    assert_true(x.lo == -DBL_MAX && x.hi == DBL_MAX && x.ref_bins[31] == 1 &&
                x.target_bins[0] == 1);
    assert_true(x.ref.max == DBL_MAX && isfinite(x.ref.mean) && isfinite(x.ref.std));

    x = look_take(VECTOR(ODB_F64, 0, 5e-324, DBL_MIN), VECTOR(ODB_F64, 5e-324, 5e-324, 0));
    assert_true(x.differing == 2 && x.max_abs == DBL_MIN && x.ref.median == 5e-324);
    assert_true(x.diff_hi == -307 && x.diff_lo == -307 - ODB_INSPECT_DECADES);
    assert_true(x.diff_bins[0] == 1 && sum_of(x.diff_bins) == 2);
}

/* --- types ------------------------------------------------------------------------------------ */

static struct odb_tensor *integers(enum odb_dtype dtype, const int64_t *v, size_t n)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_i64(dtype, t->data, i, v[i]);
    return t;
}

static void test_inspect__int64_is_exact(void **state)
{
    const int64_t big = (INT64_C(1) << 53) + 1;
    struct odb_inspection x =
        look_take(integers(ODB_I64, (int64_t[]){big, 7, INT64_MIN, INT64_MAX}, 4),
                  integers(ODB_I64, (int64_t[]){big - 1, 7, INT64_MAX, INT64_MAX - 1}, 4));
    assert_true(x.comparable && x.differing == 3 && x.n_worst == 3);
    assert_true(x.worst[0].at == 2 && x.worst[0].diff == 0x1p64);
    assert_true(x.worst[1].at == 0 && x.worst[1].diff == -1);
    assert_true(x.worst[2].at == 3 && x.worst[2].diff == -1);
    assert_int_equal(x.metrics.differing, 3);
    /* The same bits are another number. */
    x = look_take(integers(ODB_I64, (int64_t[]){-1, INT64_MAX}, 2),
                  integers(ODB_U64, (int64_t[]){-1, INT64_MAX}, 2));
    assert_true(x.differing == 1 && x.max_abs == 0x1p64);
    /* Against floats too. */
    x = look_take(integers(ODB_I64, (int64_t[]){big, 3}, 2),
                  VECTOR(ODB_F64, 9007199254740992.0, 3));
    assert_true(x.comparable && x.differing == 1 && x.max_abs == 1 && x.metrics.dtype_mismatch);
}

static void test_inspect__every_type_of_numbers(void **state)
{
    const double a[] = {0, 1, 1, 2, 4}, b[] = {0, 1, 2, 2, 1};
    for (enum odb_dtype dtype = 1; dtype < ODB_DTYPE_COUNT; dtype++) {
        enum odb_dtype_class class_ = odb_dtype_info(dtype)->class_;
        if (class_ == ODB_CLASS_STRING || class_ == ODB_CLASS_COMPLEX)
            continue;
        struct odb_tensor *x = vector(dtype, a, 5), *y = vector(dtype, b, 5);
        size_t differing = 0;
        for (size_t i = 0; i < 5; i++)
            differing += odb_tensor_f64(x, i) != odb_tensor_f64(y, i);
        struct odb_inspection s = look(x, y);
        assert_true(s.comparable && s.ref_numeric);
        assert_int_equal(s.differing, differing);
        assert_int_equal(s.metrics.differing, differing);
        assert_true(s.max_abs == s.metrics.max_abs);
        assert_int_equal(s.n_worst, differing);
        /* Other types of the same shape can be compared as well. */
        struct odb_tensor *z = VECTOR(ODB_F64, 0, 1, 1, 2, 8);
        s = look(x, z);
        assert_true(s.comparable && s.differing > 0);
        odb_tensor_unref(x);
        odb_tensor_unref(y);
        odb_tensor_unref(z);
    }
}

static void test_inspect__complex_parts(void **state)
{
    const float a[] = {1, 2, 3, 4, NAN, 6}, b[] = {1, 2, 3, 9, 5, 6};
    struct odb_tensor *x = NULL, *y = NULL;
    assert_int_equal(odb_tensor_copy_of(&x, ODB_C64, 1, (int64_t[]){3}, a, &err), ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&y, ODB_C64, 1, (int64_t[]){3}, b, &err), ODB_OK);
    struct odb_inspection s = look(x, y);
    assert_true(s.comparable && s.count == 6 && s.ref.count == 6 && s.differing == 2);
    assert_true(s.worst[0].at == 2 && s.worst[1].at == 1 && s.worst[1].diff == 5);
    assert_int_equal(s.odd[ODB_NAN_REF].at[0].at, 2);
    odb_tensor_unref(y);
    y = VECTOR(ODB_F32, 1, 2, 3);
    s = look_take(x, y);
    assert_true(s.ref_numeric && s.target_numeric && !s.comparable);
    assert_true(s.ref.count == 6 && s.target.count == 3);
    assert_int_equal(s.odd[ODB_NAN_REF].at[0].at, 2);
}

static struct odb_tensor *strings(const char *const *v, size_t n)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_STRING, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(odb_tensor_set_string(t, i, v[i], strlen(v[i]), &err), ODB_OK);
    return t;
}

static void test_inspect__strings(void **state)
{
    struct odb_inspection x = look_take(strings((const char *[]){"a", "", "c", "d"}, 4),
                                        strings((const char *[]){"a", "b", "c", "dd"}, 4));
    assert_true(x.comparable && !x.ref_numeric && !x.target_numeric);
    assert_true(x.count == 4 && x.differing == 2 && x.n_worst == 2);
    assert_true(x.worst[0].at == 1 && x.worst[1].at == 3 && x.worst[0].diff != x.worst[0].diff);
    assert_int_equal(x.metrics.differing, 2);
    x = look_take(strings((const char *[]){"1"}, 1), VECTOR(ODB_F32, 1));
    assert_true(!x.comparable && !x.ref_numeric && x.target_numeric && x.target.count == 1);
}

static struct odb_tensor *sequence_take(enum odb_kind kind, struct odb_tensor **items, size_t n)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new_container(&t, kind, items, n, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_tensor_unref(items[i]);
    return t;
}

static void test_inspect__containers(void **state)
{
    struct odb_tensor *a[] = {VECTOR(ODB_F32, 1, NAN), VECTOR(ODB_F32, 2), VECTOR(ODB_F32, 3)};
    struct odb_tensor *b[] = {VECTOR(ODB_F32, 1, NAN), VECTOR(ODB_F32, 2.5)};
    struct odb_inspection x =
        look_take(sequence_take(ODB_SEQUENCE, a, 3), sequence_take(ODB_SEQUENCE, b, 2));
    assert_true(x.comparable && !x.ref_numeric && x.count == 3 && x.differing == 2);
    assert_true(x.n_worst == 2 && x.worst[0].at == 1 && x.worst[1].at == 2);
    struct odb_tensor *c[] = {VECTOR(ODB_F32, 1)};
    x = look_take(sequence_take(ODB_OPTIONAL, NULL, 0), sequence_take(ODB_OPTIONAL, c, 1));
    assert_true(x.comparable && x.count == 1 && x.differing == 1);
    x = look_take(sequence_take(ODB_OPTIONAL, NULL, 0), sequence_take(ODB_SEQUENCE, NULL, 0));
    assert_true(!x.comparable && x.count == 0 && x.differing == 0);
    x = look_take(sequence_take(ODB_SEQUENCE, NULL, 0), VECTOR(ODB_F32, 1));
    assert_true(!x.comparable && !x.ref_numeric && x.target_numeric);
}

/* --- against brute force ---------------------------------------------------------------------- */

static bool is_wide(const struct odb_tensor *t)
{
    return t->dtype == ODB_I64 || t->dtype == ODB_U64;
}

/* Target - reference of two of one type; of wide integers exact but for the last rounding. */
static double difference(const struct odb_tensor *ref, const struct odb_tensor *target, size_t i)
{
    int64_t r = odb_tensor_i64(ref, i), t = odb_tensor_i64(target, i);
    if (!is_wide(ref))
        return odb_tensor_f64(target, i) - odb_tensor_f64(ref, i);
    return ref->dtype == ODB_I64 ? (double)((__int128)t - r)
                                 : (double)((__int128)(uint64_t)t - (uint64_t)r);
}

static bool near(double a, double b, double scale)
{
    return a == b || fabs(a - b) <= 1e-12 * scale;
}

static void check_stats(const struct odb_stats *s, const struct odb_tensor *t)
{
    struct odb_stats e;
    assert_int_equal(odb_stats(&e, t, NULL, &err), ODB_OK);
    assert_int_equal(s->count, e.count);
    assert_int_equal(s->nan, e.nan);
    assert_int_equal(s->pos_inf, e.pos_inf);
    assert_int_equal(s->neg_inf, e.neg_inf);
    assert_int_equal(s->zeros, e.zeros);
    assert_true(s->min == e.min && s->max == e.max && s->median == e.median);
    double scale = fmax(fabs(e.min), fabs(e.max));
    assert_true(near(s->mean, e.mean, scale) && near(s->std, e.std, scale) &&
                near(s->rms, e.rms, scale));
}

/* Pairs in the order of the list. */
static int compare_worst(const void *x, const void *y)
{
    const struct odb_worst *a = x, *b = y;
    bool a_odd = !isfinite(a->ref) || !isfinite(a->target);
    bool b_odd = !isfinite(b->ref) || !isfinite(b->target);
    if (a_odd != b_odd)
        return a_odd ? -1 : 1;
    if (!a_odd && fabs(a->diff) != fabs(b->diff))
        return fabs(a->diff) > fabs(b->diff) ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void check_worst(const struct odb_inspection *x, const struct odb_tensor *ref,
                        const struct odb_tensor *target)
{
    struct odb_worst *all = odb_new_n(struct odb_worst, ref->count + 1);
    size_t n = 0;
    double sum = 0, rel = 0;
    for (size_t i = 0; i < ref->count; i++) {
        double r = odb_tensor_f64(ref, i), t = odb_tensor_f64(target, i);
        double d = difference(ref, target, i);
        if (d != 0 && !(r == t && isinf(r)) && !(isnan(r) && isnan(t)))
            all[n++] = (struct odb_worst){i, r, t, d};
        if (isfinite(r) && isfinite(t)) {
            sum += fabs(d);
            rel = r != 0 ? fmax(rel, fabs(d) / fabs(r)) : rel;
        }
    }
    qsort(all, n, sizeof *all, compare_worst);
    assert_int_equal(x->differing, n);
    assert_int_equal(x->n_worst, ODB_MIN(n, (size_t)ODB_INSPECT_WORST));
    for (size_t i = 0; i < x->n_worst; i++) {
        assert_int_equal(x->worst[i].at, all[i].at);
        assert_memory_equal(&x->worst[i].ref, &all[i].ref, sizeof(double));
        assert_true(x->worst[i].diff == all[i].diff || all[i].diff != all[i].diff);
    }
    double mean = x->diff.count ? sum / (double)x->diff.count : 0;
    assert_true(near(x->mean_abs, mean, x->max_abs) && x->max_rel == rel);
    free(all);
}

static enum odb_finiteness finiteness(double x)
{
    return isnan(x) ? ODB_NAN : !isinf(x) ? ODB_FINITE : x > 0 ? ODB_POS_INF : ODB_NEG_INF;
}

static bool is_odd(enum odb_oddity kind, double r, double t)
{
    switch (kind) {
    case ODB_NAN_BOTH:
        return isnan(r) && isnan(t);
    case ODB_NAN_REF:
        return isnan(r) && !isnan(t);
    case ODB_NAN_TARGET:
        return !isnan(r) && isnan(t);
    case ODB_INF_BOTH:
        return isinf(r) && r == t;
    case ODB_INF_REF:
        return isinf(r) && !isinf(t);
    case ODB_INF_TARGET:
        return !isinf(r) && isinf(t);
    default:
        return isinf(r) && isinf(t) && r != t;
    }
}

static void check_odd(const struct odb_inspection *x, const struct odb_tensor *ref,
                      const struct odb_tensor *target)
{
    for (enum odb_oddity kind = 0; kind < ODB_ODDITIES; kind++) {
        const struct odb_places *odd = &x->odd[kind];
        size_t n = 0;
        for (size_t i = 0; i < ref->count; i++) {
            double r = odb_tensor_f64(ref, i), t = odb_tensor_f64(target, i);
            if (!is_odd(kind, r, t))
                continue;
            if (n < ODB_INSPECT_PLACES) {
                assert_int_equal(odd->at[n].at, i);
                assert_int_equal(odd->at[n].ref, finiteness(r));
                assert_int_equal(odd->at[n].target, finiteness(t));
            }
            n++;
        }
        assert_int_equal(odd->total, n);
        assert_int_equal(odd->n, ODB_MIN(n, (size_t)ODB_INSPECT_PLACES));
    }
}

static void check_histograms(const struct odb_inspection *x, const struct odb_tensor *ref,
                             const struct odb_tensor *target)
{
    size_t bins[ODB_INSPECT_BINS];
    assert_int_equal(odb_histogram(bins, ODB_INSPECT_BINS, x->lo, x->hi, ref, NULL, &err), ODB_OK);
    assert_memory_equal(bins, x->ref_bins, sizeof bins);
    assert_int_equal(odb_histogram(bins, ODB_INSPECT_BINS, x->lo, x->hi, target, NULL, &err),
                     ODB_OK);
    assert_memory_equal(bins, x->target_bins, sizeof bins);

    size_t zeros = 0;
    memset(bins, 0, sizeof bins);
    double width = (x->diff_hi - x->diff_lo) / ODB_INSPECT_BINS, edges[ODB_INSPECT_BINS];
    for (int i = 0; i < ODB_INSPECT_BINS; i++)
        edges[i] = pow(10, x->diff_lo + i * width);
    for (size_t i = 0; i < ref->count; i++) {
        double r = odb_tensor_f64(ref, i), t = odb_tensor_f64(target, i);
        double d = fabs(difference(ref, target, i));
        if (!isfinite(r) || !isfinite(t))
            continue;
        zeros += d == 0;
        if (d == 0)
            continue;
        int bin = 0;
        while (bin < ODB_INSPECT_BINS - 1 && d >= edges[bin + 1])
            bin++;
        bins[bin]++;
    }
    assert_memory_equal(bins, x->diff_bins, sizeof bins);
    assert_int_equal(x->diff_zero, zeros);
    assert_true(x->diff_lo == floor(x->diff_lo) && x->diff_hi == floor(x->diff_hi));
    if (x->max_abs > 0)
        assert_true(x->max_abs < pow(10, x->diff_hi) && x->max_abs >= pow(10, x->diff_hi - 1));
}

static void check_all(const struct odb_tensor *ref, const struct odb_tensor *target)
{
    struct odb_inspection x = look(ref, target);
    struct odb_tensor *diff = NULL;
    assert_int_equal(odb_tensor_new(&diff, ODB_F64, ref->rank, ref->dims, &err), ODB_OK);
    size_t odd = 0;
    for (size_t i = 0; i < ref->count; i++) {
        double r = odb_tensor_f64(ref, i), t = odb_tensor_f64(target, i);
        bool finite = isfinite(r) && isfinite(t);
        ((odb_f64 *)diff->data)[i] = finite ? difference(ref, target, i) : NAN;
        odd += !finite;
    }
    check_stats(&x.ref, ref);
    check_stats(&x.target, target);
    struct odb_stats with_odd = x.diff;
    with_odd.count += odd;
    with_odd.nan = odd;
    check_stats(&with_odd, diff);
    check_worst(&x, ref, target);
    check_odd(&x, ref, target);
    check_histograms(&x, ref, target);
    assert_true(x.differing == x.metrics.differing);
    assert_true(x.max_abs == x.metrics.max_abs || is_wide(ref));
    odb_tensor_unref(diff);
}

/* How the numbers of a random tensor are made. */
struct recipe {
    double noise, zeros, odd; /* size of the difference; share of zeros, of NaN and Inf */
    double spread;            /* decades */
};

static double draw(struct odb_pcg64 *random, const struct recipe *r)
{
    const double odd[] = {NAN, INFINITY, -INFINITY};
    if (odb_pcg64_double(random) < r->odd)
        return odd[odb_pcg64_integers(random, 0, 2)];
    if (odb_pcg64_double(random) < r->zeros)
        return 0;
    return odb_pcg64_uniform(random, -1, 1) * pow(10, odb_pcg64_uniform(random, 0, r->spread));
}

static void draw_pair(struct odb_tensor **ref, struct odb_tensor **target, enum odb_dtype dtype,
                      size_t n, const struct recipe *r, uint64_t seed)
{
    struct odb_pcg64 random;
    odb_pcg64_seed(&random, seed);
    double *a = odb_new_n(double, n + 1), *b = odb_new_n(double, n + 1);
    for (size_t i = 0; i < n; i++) {
        a[i] = draw(&random, r);
        b[i] = odb_pcg64_double(&random) < r->odd ? draw(&random, r)
                                                  : a[i] * (1 + r->noise * draw(&random, r));
    }
    *ref = vector(dtype, a, n);
    *target = vector(dtype, b, n);
    free(a);
    free(b);
}

static void test_inspect__agrees_with_brute_force(void **state)
{
    static const enum odb_dtype dtypes[] = {ODB_F32,      ODB_F64,    ODB_F16, ODB_BF16, ODB_F8E5M2,
                                            ODB_F8E4M3FN, ODB_F4E2M1, ODB_I32, ODB_I8,   ODB_U4,
                                            ODB_I2,       ODB_BOOL,   ODB_I64, ODB_U64};
    static const struct recipe recipes[] = {
        {1e-6, 0.1, 0, 1}, {1e-3, 0.5, 0.01, 20}, {0, 0, 0.2, 0}, {1, 0.99, 0, 3}, {1e-7, 0, 1, 1},
    };
    static const size_t sizes[] = {1, 2, 7, 63, 64, 65, 1023, 1024, 1025, 5000};
    uint64_t seed = 1;
    for (size_t d = 0; d < ODB_COUNT(dtypes); d++)
        for (size_t r = 0; r < ODB_COUNT(recipes); r++)
            for (size_t s = 0; s < ODB_COUNT(sizes); s++) {
                struct odb_tensor *ref, *target;
                draw_pair(&ref, &target, dtypes[d], sizes[s], &recipes[r], seed++);
                check_all(ref, target);
                odb_tensor_unref(ref);
                odb_tensor_unref(target);
            }
}

/* More than all parts hold in one step. */
static void test_inspect__agrees_on_large_tensors(void **state)
{
    static const struct recipe recipe = {1e-3, 0.4, 0.00002, 8};
    struct odb_tensor *ref, *target;
    draw_pair(&ref, &target, ODB_F32, 9 * 256 * 1024 + 12345, &recipe, 99);
    check_all(ref, target);
    odb_tensor_unref(ref);
    odb_tensor_unref(target);
}

/* Distances that fall, grow, are all alike, or take turns. */
static void test_inspect__worst_in_any_order(void **state)
{
    enum { N = 300000 };
    for (int order = 0; order < 4; order++) {
        double *v = odb_new_n(double, N);
        struct odb_tensor *ref = vector(ODB_F32, v, N);
        for (int i = 0; i < N; i++)
            v[i] = order == 0 ? i : order == 1 ? N - i : order == 2 ? 1 : i % 70;
        struct odb_tensor *target = vector(ODB_F32, v, N);
        check_all(ref, target);
        odb_tensor_unref(ref);
        odb_tensor_unref(target);
        free(v);
    }
}

/* Where views of files begin. */
static void test_inspect__at_any_byte(void **state)
{
    static const enum odb_dtype dtypes[] = {ODB_F32, ODB_F64, ODB_F16, ODB_I64, ODB_U64, ODB_I32};
    enum { N = 1500 };
    static unsigned char bytes[2][N * 8 + 1];
    for (size_t d = 0; d < ODB_COUNT(dtypes); d++) {
        struct odb_tensor *t[2], view[2];
        draw_pair(&t[0], &t[1], dtypes[d], N, &(struct recipe){1e-3, 0.2, 0.05, 3}, d);
        for (int i = 0; i < 2; i++) {
            memcpy(bytes[i] + 1, t[i]->data, t[i]->bytes);
            view[i] = (struct odb_tensor){.kind = ODB_TENSOR,
                                          .dtype = dtypes[d],
                                          .rank = 1,
                                          .dims = {N},
                                          .count = N,
                                          .bytes = t[i]->bytes,
                                          .data = bytes[i] + 1};
            odb_tensor_unref(t[i]);
        }
        check_all(&view[0], &view[1]);
    }
}

static void test_inspect__does_not_depend_on_threads(void **state)
{
    struct odb_tensor *ref, *target;
    draw_pair(&ref, &target, ODB_F32, 1100000, &(struct recipe){1e-5, 0.2, 1e-4, 5}, 7);
    int threads = odb_parallel_threads();
    static struct odb_inspection x[2];
    for (int i = 0; i < 2; i++) {
        odb_parallel_set_threads(i ? 4 : 1);
        memset(&x[i], 0, sizeof x[i]);
        x[i] = look(ref, target);
    }
    odb_parallel_set_threads(threads);
    assert_memory_equal(&x[0].ref, &x[1].ref, sizeof x[0].ref);
    assert_memory_equal(&x[0].diff, &x[1].diff, sizeof x[0].diff);
    assert_memory_equal(x[0].diff_bins, x[1].diff_bins, sizeof x[0].diff_bins);
    assert_memory_equal(x[0].worst, x[1].worst, sizeof x[0].worst);
    assert_true(x[0].mean_abs == x[1].mean_abs);
    odb_tensor_unref(ref);
    odb_tensor_unref(target);
}

/* --- stopping --------------------------------------------------------------------------------- */

static size_t told; /* how far it said it was */

static bool after_some(void *payload, size_t done, size_t total)
{
    assert_true(done <= total && done >= told);
    told = done;
    return (*(int *)payload)-- == 0;
}

static void test_inspect__stops_when_asked(void **state)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_U8, 1, (int64_t[]){4200000}, &err), ODB_OK);
    struct odb_inspection x;
    int asked = 0;
    for (;; asked++) {
        int left = asked;
        struct odb_error e = ODB_ERROR_INIT;
        told = 0;
        enum odb_status status =
            odb_inspect(&x, t, t, &(struct odb_progress){after_some, &left}, &e);
        if (status == ODB_OK)
            break;
        assert_int_equal(status, ODB_CANCELLED);
        assert_int_equal(e.code, ODB_CANCELLED);
        assert_int_equal(left, -1); /* not asked again */
    }
    assert_true(asked > 6 && asked < 12);
    odb_tensor_unref(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inspect__differences),
        cmocka_unit_test(test_inspect__one_side_or_none),
        cmocka_unit_test(test_inspect__shapes_that_differ),
        cmocka_unit_test(test_inspect__values_that_are_not_there),
        cmocka_unit_test(test_inspect__empty_and_scalar),
        cmocka_unit_test(test_inspect__odd_pairs),
        cmocka_unit_test(test_inspect__nothing_but_nan),
        cmocka_unit_test(test_inspect__doubles_that_overflow),
        cmocka_unit_test(test_inspect__int64_is_exact),
        cmocka_unit_test(test_inspect__every_type_of_numbers),
        cmocka_unit_test(test_inspect__complex_parts),
        cmocka_unit_test(test_inspect__strings),
        cmocka_unit_test(test_inspect__containers),
        cmocka_unit_test(test_inspect__agrees_with_brute_force),
        cmocka_unit_test(test_inspect__agrees_on_large_tensors),
        cmocka_unit_test(test_inspect__worst_in_any_order),
        cmocka_unit_test(test_inspect__at_any_byte),
        cmocka_unit_test(test_inspect__does_not_depend_on_threads),
        cmocka_unit_test(test_inspect__stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
