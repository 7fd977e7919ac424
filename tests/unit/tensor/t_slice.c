/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/tensor_print.h"

static struct odb_error err;

/* 0 1 2 … in the shape (3, 4, 5). */
static struct odb_tensor *cube(enum odb_dtype dtype)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 3, (int64_t[]){3, 4, 5}, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_i64(dtype, t->data, i, (int64_t)i);
    return t;
}

static void test_slice__as_numpy_does(void **state)
{
    /* shape and first values that NumPy 1.24.2 gives */
    static const struct {
        const char *text, *shape;
        int n;
        int64_t v[6];
    } cases[] = {
        {"0", "(4, 5)", 6, {0, 1, 2, 3, 4, 5}},
        {"[-1, -1, -1]", "()", 1, {59}},
        {"[0, :, 2:4]", "(4, 2)", 6, {2, 3, 7, 8, 12, 13}},
        {"::-1", "(3, 4, 5)", 2, {40, 41}},
        {"..., -1", "(3, 4)", 6, {4, 9, 14, 19, 24, 29}},
        {"[1, ..., 0]", "(4,)", 4, {20, 25, 30, 35}},
        {"[1:, 3:0:-2, ::3]", "(2, 2, 2)", 6, {35, 38, 25, 28, 55, 58}},
        {"[:,:,1:-1]", "(3, 4, 3)", 4, {1, 2, 3, 6}},
        {"[5:]", "(0, 4, 5)", 0, {0}},
        {"[2:1]", "(0, 4, 5)", 0, {0}},
        {"[-100:100:9223372036854775807]", "(1, 4, 5)", 2, {0, 1}},
        {"[100:-100:-9223372036854775808]", "(1, 4, 5)", 2, {40, 41}},
        {" [ 0 , 1 : 3 , ... ] ", "(2, 5)", 6, {5, 6, 7, 8, 9, 10}},
        {"[0, 1, 2, ...]", "()", 1, {7}},
        {"1,", "(4, 5)", 1, {20}},
    };
    struct odb_tensor *t = cube(ODB_I64);
    for (size_t k = 0; k < ODB_COUNT(cases); k++) {
        struct odb_tensor *s = NULL;
        char shape[64];
        assert_int_equal(odb_slice(&s, t, cases[k].text, &err), ODB_OK);
        assert_string_equal(odb_shape_text(s, shape, sizeof shape), cases[k].shape);
        for (int i = 0; i < cases[k].n; i++)
            assert_int_equal(odb_tensor_i64(s, (size_t)i), cases[k].v[i]);
        odb_tensor_unref(s);
    }
    odb_tensor_unref(t);
}

static void test_slice__of_everything_is_the_tensor(void **state)
{
    static const char *const texts[] = {"", "[]", "...", "[:, :, :]", ":", "[0:3, ...]"};
    struct odb_tensor *t = cube(ODB_F32);
    for (size_t k = 0; k < ODB_COUNT(texts); k++) {
        struct odb_tensor *s = NULL;
        assert_int_equal(odb_slice(&s, t, texts[k], &err), ODB_OK);
        assert_ptr_equal(s, t);
        odb_tensor_unref(s);
    }
    odb_tensor_unref(t);
}

static void test_slice__errors_name_the_place(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"[0", "character 3"},
        {"0]", "character 2"},
        {"[0, x]", "character 5"},
        {"[0 1]", "character 4"},
        {"[..., ...]", "character 7"},
        {"[::0]", "step of 0 at character 2"},
        {"[0, 0, 0, 0]", "more indices than dimensions at character 11"},
        {"[3]", "index 3 at character 2 is outside a dimension of size 3"},
        {"[0, -5]", "index -5 at character 5 is outside a dimension of size 4"},
        {"[99999999999999999999]", "character 2"},
        {"[1:2:3:4]", "character 7"},
        {"[,]", "character 2"},
        {"[-]", "character 2"},
        {"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "too many"},
    };
    struct odb_tensor *t = cube(ODB_F32);
    for (size_t k = 0; k < ODB_COUNT(cases); k++) {
        struct odb_tensor *s = NULL;
        assert_int_equal(odb_slice(&s, t, cases[k].text, &err), ODB_E_USAGE);
        if (!strstr(err.what, cases[k].says))
            fail_msg("%s: %s", cases[k].text, err.what);
        assert_null(s);
    }
    odb_tensor_unref(t);
}

static void test_slice__every_kind_of_element(void **state)
{
    static const enum odb_dtype types[] = {ODB_U4, ODB_I2, ODB_F16, ODB_C64, ODB_F8E5M2, ODB_BOOL};
    for (size_t k = 0; k < ODB_COUNT(types); k++) {
        struct odb_tensor *t = cube(types[k]), *s = NULL;
        assert_int_equal(odb_slice(&s, t, "[2, ::-1, 1:4:2]", &err), ODB_OK);
        assert_int_equal(s->count, 8);
        for (size_t i = 0; i < 8; i++)
            assert_true(odb_tensor_f64(s, i) ==
                        odb_tensor_f64(t, 40 + 5 * (3 - i / 2) + 1 + 2 * (i % 2)));
        odb_tensor_unref(s);
        odb_tensor_unref(t);
    }
    const struct odb_str in[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    struct odb_tensor *t = NULL, *s = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){3}, in, &err), ODB_OK);
    assert_int_equal(odb_slice(&s, t, "::-2", &err), ODB_OK);
    assert_int_equal(s->count, 2);
    assert_memory_equal(((const struct odb_str *)s->data)[0].data, "c", 1);
    odb_tensor_unref(s);
    odb_tensor_unref(t);
}

static void test_slice__empty_and_shapeless(void **state)
{
    struct odb_tensor *t = NULL, *s = NULL;
    int64_t dims[] = {0, 1 << 20, 1 << 20};
    assert_int_equal(odb_tensor_new(&t, ODB_F32, 3, dims, &err), ODB_OK);
    assert_int_equal(odb_slice(&s, t, "[:, 5]", &err), ODB_OK);
    assert_int_equal(s->count, 0);
    odb_tensor_unref(s);
    odb_tensor_unref(t);
    assert_int_equal(odb_tensor_new_shape(&t, ODB_F32, 1, (int64_t[]){2}, &err), ODB_OK);
    assert_int_equal(odb_slice(&s, t, "0", &err), ODB_E_INPUT);
    odb_tensor_unref(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice__as_numpy_does),
        cmocka_unit_test(test_slice__of_everything_is_the_tensor),
        cmocka_unit_test(test_slice__errors_name_the_place),
        cmocka_unit_test(test_slice__every_kind_of_element),
        cmocka_unit_test(test_slice__empty_and_shapeless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
