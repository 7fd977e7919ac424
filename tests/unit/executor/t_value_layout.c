/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/value_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static struct odb_error err;

static enum odb_status reads(struct odb_layout *layout, const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    enum odb_status status = odb_layout_read(layout, json, &err);
    json_decref(json);
    return status;
}

/* Element i of type dtype is i % 100. */
static struct odb_tensor *numbered(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, (double)(i % 100));
    return t;
}
#define DIMS(...)                                                                                  \
    (int)ODB_COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[])                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct odb_layout_want nothing = {.rank = -1};

/* What text makes of t, which goes; NULL: it refuses it. */
static struct odb_tensor *plain(const char *text, struct odb_tensor *t_take,
                                const struct odb_layout_want *want)
{
    struct odb_layout layout;
    struct odb_tensor *out = NULL;
    assert_int_equal(reads(&layout, text), ODB_OK);
    enum odb_status status = odb_layout_plain(&out, &layout, t_take, want, &err);
    assert_true(status == ODB_OK ? out != NULL : status == ODB_E_FORMAT && !out);
    odb_layout_dispose(&layout);
    odb_tensor_unref(t_take);
    return out;
}

/* Puts a plain tensor into blocks, one element at a time, by the definition. */
static struct odb_tensor *block(const struct odb_tensor *t, int64_t size)
{
    int64_t n = (t->dims[1] + size - 1) / size;
    struct odb_tensor *out = numbered(t->dtype, DIMS(t->dims[0], n, t->dims[2], t->dims[3], size));
    for (int64_t a = 0; a < t->dims[0]; a++)
        for (int64_t c = 0; c < t->dims[1]; c++)
            for (int64_t h = 0; h < t->dims[2]; h++)
                for (int64_t w = 0; w < t->dims[3]; w++) {
                    int64_t from = ((a * t->dims[1] + c) * t->dims[2] + h) * t->dims[3] + w;
                    int64_t to = ((((a * n + c / size) * t->dims[2] + h) * t->dims[3] + w) * size) +
                                 c % size;
                    odb_store_f64(t->dtype, out->data, (size_t)to, odb_tensor_f64(t, (size_t)from));
                }
    return out;
}

static void test_layout__blocks_with_padding_said_or_known(void **state)
{
    (void)state;
    struct odb_tensor *value = numbered(ODB_F32, DIMS(2, 6, 3, 5));
    int64_t dims[] = {2, 6, -1, 5};
    const struct odb_layout_want want = {ODB_F32, 4, dims};
    struct odb_tensor *said =
        plain("{\"layout\":\"NCHWc\",\"block\":4,\"padding\":2}", block(value, 4), &nothing);
    assert_true(odb_tensor_identical(said, value));
    assert_string_equal(said->read_as, "channels in blocks of 4, 2 channels of padding");
    struct odb_tensor *known = plain("{\"layout\":\"NCHWc\",\"block\":4}", block(value, 4), &want);
    assert_true(odb_tensor_identical(known, value));
    /* padding could be channels, for all that is known */
    assert_null(plain("{\"layout\":\"NCHWc\",\"block\":4}", block(value, 4), &nothing));
    odb_tensor_unref(said);
    odb_tensor_unref(known);
    odb_tensor_unref(value);
}

static void test_layout__channels_last(void **state)
{
    (void)state;
    struct odb_tensor *out =
        plain("{\"layout\":\"NHWC\"}", numbered(ODB_I64, DIMS(1, 2, 2, 3)), &nothing);
    static const int64_t expected[] = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
    assert_int_equal(out->dims[1], 3);
    for (size_t i = 0; i < out->count; i++)
        assert_int_equal(odb_tensor_i64(out, i), expected[i]);
    odb_tensor_unref(out);
}

static void test_layout__quantised(void **state)
{
    (void)state;
    const struct odb_layout_want want = {ODB_F16, -1, NULL};
    struct odb_tensor *out = plain("{\"dtype\":\"int8\",\"scale\":0.5,\"zero_point\":3}",
                                   numbered(ODB_I8, DIMS(5)), &want);
    assert_int_equal(out->dtype, ODB_F16);
    for (size_t i = 0; i < 5; i++)
        assert_true(odb_tensor_f64(out, i) == ((double)i - 3) * 0.5);
    assert_string_equal(out->read_as, "int8 with scale 0.5 and zero point 3");
    assert_true(odb_tensor_step(out, 4) == 0.5);
    odb_tensor_unref(out);
    out =
        plain("{\"scale\":[1,10],\"zero_point\":[0,2]}", numbered(ODB_U8, DIMS(1, 2, 2)), &nothing);
    static const double expected[] = {0, 1, 0, 10};
    assert_int_equal(out->dtype, ODB_F32);
    for (size_t i = 0; i < 4; i++)
        assert_true(odb_tensor_f64(out, i) == expected[i]);
    assert_true(odb_tensor_step(out, 1) == 1 && odb_tensor_step(out, 2) == 10);
    odb_tensor_unref(out);
}

/* A value that is an int8 in the model is what was read. */
static void test_layout__the_models_own_integers_stay(void **state)
{
    (void)state;
    const struct odb_layout_want want = {ODB_I8, -1, NULL};
    struct odb_tensor *t = numbered(ODB_I8, DIMS(5));
    struct odb_tensor *out = plain("{\"scale\":0.5}", odb_tensor_ref(t), &want);
    assert_ptr_equal(out, t);
    assert_null(out->read_as);
    odb_tensor_unref(out);
    odb_tensor_unref(t);
}

static void test_layout__blocked_and_quantised(void **state)
{
    (void)state;
    struct odb_tensor *value = numbered(ODB_U8, DIMS(1, 3, 2, 2));
    int64_t dims[] = {1, 3, 2, 2};
    const struct odb_layout_want want = {ODB_F32, 4, dims};
    struct odb_tensor *out =
        plain("{\"layout\":\"NCHWc\",\"block\":8,\"scale\":0.25,\"dtype\":\"uint8\"}",
              block(value, 8), &want);
    for (size_t i = 0; i < out->count; i++)
        assert_true(odb_tensor_f64(out, i) == odb_tensor_f64(value, i) * 0.25);
    odb_tensor_unref(out);
    odb_tensor_unref(value);
}

/* Each is refused: the description, and then what was read. */
static void test_layout__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{\"layout\":\"NCHWd\",\"block\":4}",
        "{\"layout\":\"NCHWc\"}",
        "{\"layout\":\"NCHW\",\"block\":4}",
        "{\"layout\":\"NCHWc\",\"block\":0}",
        "{\"layout\":\"NCHWc\",\"block\":4,\"padding\":-1}",
        "{\"dtype\":\"int9\"}",
        "{\"scale\":0}",
        "{\"scale\":\"1\"}",
        "{\"scale\":[]}",
        "{\"zero_point\":3}",
        "{\"scale\":[1,2],\"zero_point\":[1,2,3]}",
        "[1]",
    };
    struct odb_layout layout;
    for (size_t i = 0; i < ODB_COUNT(wrong); i++) {
        assert_int_equal(reads(&layout, wrong[i]), ODB_E_FORMAT);
        odb_layout_dispose(&layout);
    }
    int64_t dims[] = {1, 9, 2, 2};
    const struct odb_layout_want want = {ODB_F32, 4, dims};
    static const char blocks[] = "{\"layout\":\"NCHWc\",\"block\":4,\"padding\":0}";
    assert_null(plain(blocks, numbered(ODB_F32, DIMS(1, 8, 2, 2)), &nothing)); /* plain after all */
    assert_null(plain(blocks, numbered(ODB_F32, DIMS(1, 2, 2, 2, 8)), &nothing));
    assert_null(plain(blocks, numbered(ODB_F32, DIMS(4)), &nothing));
    assert_null(plain(blocks, numbered(ODB_F32, DIMS(1, 2, 2, 2, 4)), &want)); /* 8, not 9 */
    assert_null(
        plain("{\"layout\":\"NCHWc\",\"block\":4}", numbered(ODB_F32, DIMS(1, 2, 2, 2, 4)), &want));
    assert_null(plain("{\"layout\":\"NCHWc\",\"block\":4,\"padding\":8}",
                      numbered(ODB_F32, DIMS(1, 2, 2, 2, 4)), &nothing));
    assert_null(plain("{\"dtype\":\"int8\"}", numbered(ODB_F32, DIMS(4)), &nothing));
    assert_null(plain("{\"scale\":2}", numbered(ODB_F32, DIMS(4)), &nothing));
    assert_null(plain("{\"scale\":[1,2,3]}", numbered(ODB_I8, DIMS(4, 2)), &nothing));
}

static void test_layout__nothing_to_undo(void **state)
{
    (void)state;
    struct odb_tensor *t = numbered(ODB_F32, DIMS(0, 4));
    struct odb_tensor *out = plain("{}", odb_tensor_ref(t), &nothing);
    assert_ptr_equal(out, t);
    odb_tensor_unref(out);
    out = plain("{\"layout\":\"NHWC\"}", t, &nothing); /* and nothing in it */
    assert_int_equal(out->dims[1], 4);
    odb_tensor_unref(out);
}

static void test_value_layout__words_of_libraries(void **state)
{
    static const struct {
        const char *word;
        int64_t block; /* -1: it is none */
    } cases[] = {{"NC4HW4", 4},  {"NC16HW16", 16}, {"nChw16c", 16}, {"NCHW8c", 8}, {"nhwc", 0},
                 {"NHWC", 0},    {"nchw", 0},      {"NC4HW8", -1},  {"nChwc", -1}, {"NC4HW4x", -1},
                 {"nChw16", -1}, {"NC-4HW-4", -1}, {"", -1}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_layout layout;
        bool is = odb_layout_parse(&layout, cases[i].word, strlen(cases[i].word));
        assert_int_equal(is, cases[i].block >= 0);
        if (is)
            assert_int_equal(layout.block, cases[i].block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout__blocks_with_padding_said_or_known),
        cmocka_unit_test(test_layout__channels_last),
        cmocka_unit_test(test_layout__quantised),
        cmocka_unit_test(test_layout__the_models_own_integers_stay),
        cmocka_unit_test(test_layout__blocked_and_quantised),
        cmocka_unit_test(test_layout__what_does_not_fit_is_refused),
        cmocka_unit_test(test_layout__nothing_to_undo),
        cmocka_unit_test(test_value_layout__words_of_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
