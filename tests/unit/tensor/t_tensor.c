/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/attr.h"

static struct odb_error err;

static struct odb_tensor *floats(int rank, const int64_t *dims, const float *v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_F32, rank, dims, v, &err), ODB_OK);
    return t;
}

static void test_tensor__new_is_zero_and_aligned(void **state)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_F64, 2, (int64_t[]){3, 5}, &err), ODB_OK);
    assert_int_equal(t->count, 15);
    assert_int_equal(t->bytes, 120);
    assert_int_equal((uintptr_t)t->data % 64, 0);
    for (size_t i = 0; i < t->count; i++)
        assert_true(odb_tensor_f64(t, i) == 0);
    odb_tensor_unref(t);
    assert_int_equal(odb_tensor_new(&t, ODB_I4, 1, (int64_t[]){5}, &err), ODB_OK);
    assert_int_equal(t->bytes, 3);
    odb_tensor_unref(t);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 0, NULL, &err), ODB_OK);
    assert_int_equal(t->count, 1);
    odb_tensor_unref(t);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){0, (int64_t)1 << 40}, &err),
                     ODB_OK);
    assert_int_equal(t->count, 0);
    assert_non_null(t->data);
    odb_tensor_unref(t);
    odb_tensor_unref(NULL);
}

static void test_tensor__refuses_bad_shapes(void **state)
{
    struct odb_tensor *t = NULL;
    int64_t many[ODB_MAX_RANK + 1] = {1};
    assert_int_equal(odb_tensor_new(&t, ODB_F32, ODB_MAX_RANK + 1, many, &err), ODB_E_INPUT);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 1, (int64_t[]){-1}, &err), ODB_E_INPUT);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){INT64_MAX, INT64_MAX}, &err),
                     ODB_E_NOMEM);
    /* a product that leaves the 0 out must be a number all the same */
    assert_int_equal(
        odb_tensor_new(&t, ODB_F32, 3, (int64_t[]){INT64_MAX / 2, 0, INT64_MAX / 2}, &err),
        ODB_E_NOMEM);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 2, (int64_t[]){0, INT64_MAX}, &err), ODB_E_NOMEM);
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 1, (int64_t[]){INT64_MAX / 2}, &err), ODB_E_NOMEM);
    assert_int_equal(odb_tensor_new_shape(&t, ODB_F64, 1, (int64_t[]){(int64_t)1 << 40}, &err),
                     ODB_E_NOMEM);
    assert_int_equal(odb_tensor_new(&t, ODB_UNDEFINED, 1, (int64_t[]){1}, &err), ODB_E_INPUT);
    assert_null(t);
}

struct counted {
    struct odb_storage base;
    int *released;
};

static void counted_release(struct odb_storage *storage)
{
    ++*((struct counted *)storage)->released;
    free(storage);
}

static void test_tensor__views_share_storage(void **state)
{
    int released = 0;
    struct counted *s = odb_new(struct counted);
    s->base.release = counted_release;
    s->released = &released;
    atomic_init(&s->base.refs, 1);
    static const char bytes[9] = {0};
    struct odb_tensor *view = NULL, *flat = NULL;
    assert_int_equal(
        odb_tensor_view(&view, ODB_F32, 1, (int64_t[]){3}, bytes + 1, 8, &s->base, &err),
        ODB_E_INPUT);
    assert_int_equal(
        odb_tensor_view(&view, ODB_F32, 2, (int64_t[]){1, 2}, bytes + 1, 8, &s->base, &err),
        ODB_OK);
    odb_storage_unref(&s->base);
    assert_int_equal(odb_tensor_reshape(&flat, view, 1, (int64_t[]){2}, &err), ODB_OK);
    assert_ptr_equal(flat->data, view->data);
    odb_tensor_unref(view);
    assert_int_equal(released, 0);
    odb_tensor_unref(flat);
    assert_int_equal(released, 1);
}

static void test_tensor__reshape_and_cast(void **state)
{
    struct odb_tensor *t = floats(1, (int64_t[]){3}, (float[]){1.5f, -2, 3e9f}), *u = NULL;
    assert_int_equal(odb_tensor_reshape(&u, t, 2, (int64_t[]){2, 2}, &err), ODB_E_INPUT);
    assert_non_null(strstr(err.what, "(3,)"));
    assert_int_equal(odb_tensor_cast(&u, t, ODB_F32, &err), ODB_OK);
    assert_ptr_equal(u, t);
    odb_tensor_unref(u);
    assert_int_equal(odb_tensor_cast(&u, t, ODB_I64, &err), ODB_OK);
    assert_int_equal(odb_tensor_i64(u, 0), 1);
    assert_int_equal(odb_tensor_i64(u, 1), -2);
    assert_int_equal(odb_tensor_i64(u, 2), 3000000000);
    odb_tensor_unref(u);
    assert_int_equal(odb_tensor_cast(&u, t, ODB_STRING, &err), ODB_E_INPUT);
    odb_tensor_unref(t);
    assert_int_equal(odb_tensor_new_shape(&t, ODB_F32, 1, (int64_t[]){4}, &err), ODB_OK);
    assert_null(t->data);
    assert_int_equal(odb_tensor_cast(&u, t, ODB_F16, &err), ODB_OK);
    assert_null(u->data);
    assert_int_equal(u->bytes, 8);
    odb_tensor_unref(u);
    odb_tensor_unref(t);
}

static void test_tensor__strings(void **state)
{
    const struct odb_str in[] = {{"a\0b", 3}, {NULL, 0}, {"xyz", 3}};
    struct odb_tensor *t = NULL, *u = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){3}, in, &err), ODB_OK);
    const struct odb_str *s = t->data;
    assert_int_equal(s[0].len, 3);
    assert_memory_equal(s[0].data, "a\0b", 3);
    assert_int_equal(s[1].len, 0);
    assert_int_equal(odb_tensor_clone(&u, t, &err), ODB_OK);
    assert_true(odb_tensor_identical(t, u));
    assert_int_equal(odb_tensor_set_string(u, 2, "other", 5, &err), ODB_OK);
    assert_false(odb_tensor_identical(t, u));
    assert_true(isnan(odb_tensor_f64(t, 0)));
    odb_tensor_unref(t);
    odb_tensor_unref(u);
}

static void test_tensor__identical_is_bit_for_bit(void **state)
{
    int64_t dims[] = {2};
    struct odb_tensor *a = floats(1, dims, (float[]){0.0f, NAN});
    struct odb_tensor *b = floats(1, dims, (float[]){-0.0f, NAN});
    struct odb_tensor *c = floats(1, dims, (float[]){0.0f, NAN});
    assert_false(odb_tensor_identical(a, b));
    assert_true(odb_tensor_identical(a, c));
    assert_false(odb_tensor_identical(a, NULL));
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    odb_tensor_unref(c);
    /* Spare bits of packed types do not count. */
    dims[0] = 3;
    assert_int_equal(odb_tensor_copy_of(&a, ODB_U4, 1, dims, "\x21\xf3", &err), ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&b, ODB_U4, 1, dims, "\x21\x03", &err), ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&c, ODB_U4, 1, dims, "\x21\x04", &err), ODB_OK);
    assert_true(odb_tensor_identical(a, b));
    assert_false(odb_tensor_identical(a, c));
    odb_tensor_unref(a);
    odb_tensor_unref(b);
    odb_tensor_unref(c);
}

static void test_tensor__containers(void **state)
{
    struct odb_tensor *x = floats(1, (int64_t[]){2}, (float[]){1, 2}), *seq = NULL, *copy = NULL;
    struct odb_tensor *none = NULL, *items[] = {x, x};
    char text[64];
    assert_int_equal(odb_tensor_new_container(&seq, ODB_SEQUENCE, items, 2, &err), ODB_OK);
    assert_int_equal(seq->dtype, ODB_F32);
    assert_string_equal(odb_shape_text(seq, text, sizeof text), "sequence of 2");
    assert_int_equal(odb_tensor_clone(&copy, seq, &err), ODB_OK);
    assert_true(odb_tensor_identical(seq, copy));
    assert_ptr_not_equal(copy->items[0], x);
    odb_store_f64(ODB_F32, copy->items[1]->data, 0, 9);
    assert_false(odb_tensor_identical(seq, copy));
    odb_tensor_unref(copy);
    assert_int_equal(odb_tensor_new_container(&none, ODB_OPTIONAL, NULL, 0, &err), ODB_OK);
    assert_false(odb_tensor_identical(seq, none));
    assert_int_equal(odb_tensor_new_container(&copy, ODB_OPTIONAL, items, 2, &err), ODB_E_INPUT);
    assert_int_equal(odb_tensor_new_container(&copy, ODB_SPARSE, items, 1, &err), ODB_E_INPUT);
    odb_tensor_unref(none);
    odb_tensor_unref(seq);
    odb_tensor_unref(x);
}

static void test_tensor__shape_text(void **state)
{
    static const struct {
        int rank;
        int64_t dims[4];
        const char *text;
    } cases[] = {{0, {0}, "()"}, {1, {3}, "(3,)"}, {4, {1, 8, 12, 96}, "(1, 8, 12, 96)"}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *t = NULL;
        char text[64], cut[4];
        assert_int_equal(odb_tensor_new_shape(&t, ODB_F32, cases[i].rank, cases[i].dims, &err),
                         ODB_OK);
        assert_string_equal(odb_shape_text(t, text, sizeof text), cases[i].text);
        odb_shape_text(t, cut, sizeof cut);
        assert_true(strlen(cut) < sizeof cut);
        odb_tensor_unref(t);
    }
}

/* A large tensor that nobody else has is written over; the numbers are those of a cast. */
static void test_tensor__narrows_in_its_own_memory(void **state)
{
    (void)state;
    const int64_t n = (16 << 20) + 5;
    static const enum odb_dtype types[] = {ODB_F32, ODB_BF16};
    for (size_t k = 0; k < ODB_COUNT(types); k++) {
        struct odb_tensor *t, *held, *cast;
        assert_int_equal(odb_tensor_new_raw(&t, ODB_F64, 1, &n, &err), ODB_OK);
        for (int64_t i = 0; i < n; i++)
            ((double *)t->data)[i] = (double)i / 3;
        assert_int_equal(odb_tensor_cast_floats(&cast, t, types[k], &err), ODB_OK);
        const struct odb_tensor *was = t;
        held = odb_tensor_ref(t);
        assert_int_equal(odb_tensor_narrow(&t, types[k], &err), ODB_OK); /* of somebody else, too */
        assert_ptr_not_equal(t, was);
        assert_true(odb_tensor_identical(t, cast));
        assert_true(((double *)held->data)[n - 1] == (double)(n - 1) / 3);
        odb_tensor_unref(t);
        assert_int_equal(odb_tensor_narrow(&held, types[k], &err), ODB_OK);
        assert_ptr_equal(held, was);
        assert_true(odb_tensor_identical(held, cast));
        odb_tensor_unref(held);
        odb_tensor_unref(cast);
    }
}

/* What is carried in float64 comes out as it went in: whoever cast it has given its infinities. */
static void test_tensor__carried_infinities_stay(void **state)
{
    const double numbers[] = {INFINITY, -INFINITY, 1e6, NAN, 1.5};
    for (int type = 1; type < ODB_DTYPE_COUNT; type++) {
        struct odb_tensor *t = NULL, *u = NULL;
        if (!odb_dtype_is_float((enum odb_dtype)type))
            continue;
        uint8_t any[16] = {0};
        odb_store_f64((enum odb_dtype)type, any, 0, 1.5);
        bool holds = odb_load_f64((enum odb_dtype)type, any, 0) == 1.5;
        assert_int_equal(odb_tensor_copy_of(&t, ODB_F64, 1, (int64_t[]){5}, numbers, &err), ODB_OK);
        assert_int_equal(odb_tensor_cast_floats(&u, t, (enum odb_dtype)type, &err), ODB_OK);
        double inf = odb_tensor_f64(u, 0), most = odb_dtype_info((enum odb_dtype)type)->max;
        bool has = type == ODB_F32 || type == ODB_F64 || type == ODB_F16 || type == ODB_BF16 ||
                   type == ODB_F8E5M2;
        assert_true(has ? isinf(inf) && odb_tensor_f64(u, 1) == -inf : !isinf(inf));
        assert_true(type != ODB_F8E5M2 || odb_tensor_f64(u, 2) == most);
        assert_true(!holds || odb_tensor_f64(u, 4) == 1.5);
        odb_tensor_unref(u);
        odb_tensor_unref(t);
    }
}

static void test_tensor__attributes_by_name(void **state)
{
    const struct odb_attr items[] = {{.name = "axis", .i = 1}, {.name = "alpha", .f = 2}};
    const struct odb_attrs attrs = {items, 2};
    assert_ptr_equal(odb_attrs_find(&attrs, "alpha"), &items[1]);
    assert_null(odb_attrs_find(&attrs, "beta"));
    assert_null(odb_attrs_find(&(struct odb_attrs){0}, "beta"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor__new_is_zero_and_aligned),
        cmocka_unit_test(test_tensor__refuses_bad_shapes),
        cmocka_unit_test(test_tensor__views_share_storage),
        cmocka_unit_test(test_tensor__reshape_and_cast),
        cmocka_unit_test(test_tensor__narrows_in_its_own_memory),
        cmocka_unit_test(test_tensor__strings),
        cmocka_unit_test(test_tensor__identical_is_bit_for_bit),
        cmocka_unit_test(test_tensor__containers),
        cmocka_unit_test(test_tensor__shape_text),
        cmocka_unit_test(test_tensor__carried_infinities_stay),
        cmocka_unit_test(test_tensor__attributes_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
