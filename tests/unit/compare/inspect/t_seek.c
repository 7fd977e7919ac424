/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/inspect/seek.h"

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

static struct odb_error err;

static struct odb_tensor *tensor(enum odb_dtype dtype, size_t n, const double *v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    return t;
}

#define TENSOR(dtype, ...)                                                                         \
    tensor(dtype, ODB_COUNT(((double[]){__VA_ARGS__})), (double[]){__VA_ARGS__})

/* All elements that match, in the order in which they are found from the first on, as "0 3 5". */
static void finds(const struct odb_tensor *ref, const struct odb_tensor *target, const char *text,
                  const char *expected)
{
    struct odb_seek seek;
    char found[256] = "";
    size_t at = ODB_NOWHERE, last = 0, total, before, n = 0;
    unsigned where;
    assert_int_equal(odb_seek_parse(&seek, text, &err), ODB_OK);
    assert_int_equal(odb_seek_count(&total, &before, &seek, ref, target, 0, NULL, &err), ODB_OK);
    assert_int_equal(before, 0);
    for (; n < total; n++) {
        assert_int_equal(odb_seek_next(&at, &where, &seek, ref, target, at, 1, NULL, &err), ODB_OK);
        assert_true(at != ODB_NOWHERE && (!n || at > last));
        assert_true(where & seek.where);
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%zu", n ? " " : "", at);
        assert_int_equal(odb_seek_count(&total, &before, &seek, ref, target, at, NULL, &err),
                         ODB_OK);
        assert_int_equal(before, n);
        last = at;
    }
    if (strcmp(found, expected))
        fail_msg("'%s' finds '%s', not '%s'", text, found, expected);
    /* And round, and the other way. */
    assert_int_equal(odb_seek_next(&at, &where, &seek, ref, target, last, 1, NULL, &err), ODB_OK);
    assert_true(total ? at <= last : at == ODB_NOWHERE);
    size_t first = at;
    assert_int_equal(odb_seek_next(&at, &where, &seek, ref, target, first, -1, NULL, &err), ODB_OK);
    assert_int_equal(at, total ? last : ODB_NOWHERE);
}

static void test_seek__numbers(void **state)
{
    struct odb_tensor *t = TENSOR(ODB_F32, 0.1, 1.5, -2, NAN, INFINITY, 1.46, 0, -INFINITY);
    finds(t, NULL, "1.5", "1");
    finds(t, NULL, "0.1", "0"); /* as the type has it */
    finds(t, NULL, "~1.5", "1 5");
    finds(t, NULL, "~1.46", "5");
    finds(t, NULL, ">1", "1 4 5");
    finds(t, NULL, ">= 1.5", "1 4");
    finds(t, NULL, "< -1", "2 7");
    finds(t, NULL, "<=-2", "2 7");
    finds(t, NULL, "0..1.47", "0 5 6");
    finds(t, NULL, "nan", "3");
    finds(t, NULL, "NaN", "3");
    finds(t, NULL, "!=nan", "0 1 2 4 5 6 7");
    finds(t, NULL, "inf", "4");
    finds(t, NULL, "-inf", "7");
    finds(t, NULL, "!=0", "0 1 2 3 4 5 7");
    finds(t, NULL, "=0", "6");
    finds(t, NULL, "7", "");
    finds(t, NULL, "1.5 target", "");
    odb_tensor_unref(t);
}

static void test_seek__sides(void **state)
{
    struct odb_tensor *a = TENSOR(ODB_F32, 1, 2, 3, NAN, NAN, INFINITY);
    struct odb_tensor *b = TENSOR(ODB_F32, 1, 2.5, 1, NAN, 1, INFINITY);
    finds(a, b, "1", "0 2 4");
    finds(a, b, "1 reference", "0");
    finds(a, b, "1 in target", "0 2 4");
    finds(a, b, "nan", "3 4");
    finds(a, b, "nan tgt", "3");
    finds(a, b, ">0.1 difference", "1 2 4");
    finds(a, b, ">0.5 diff", "2 4");
    finds(a, b, "inf error", "4");
    finds(a, b, "0 difference", "0 3 5");
    struct odb_tensor *other = TENSOR(ODB_F32, 1);
    finds(a, other, ">0 difference", ""); /* no pairs */
    odb_tensor_unref(other);
    odb_tensor_unref(a);
    odb_tensor_unref(b);
}

static void test_seek__types(void **state)
{
    struct odb_tensor *t = TENSOR(ODB_I4, 1, -3, 7, -8, 1);
    finds(t, NULL, "1", "0 4");
    finds(t, NULL, "<0", "1 3");
    odb_tensor_unref(t);
    t = TENSOR(ODB_BOOL, 1, 0, 1);
    finds(t, NULL, "true", "0 2");
    finds(t, NULL, "False", "1");
    odb_tensor_unref(t);
    t = TENSOR(ODB_F16, 0.1, 65504);
    finds(t, NULL, "0.1", "0");
    finds(t, NULL, ">65000", "1");
    odb_tensor_unref(t);

    int64_t wide[] = {INT64_C(9007199254740992), INT64_C(9007199254740993), INT64_MAX};
    struct odb_tensor *i64 = NULL;
    assert_int_equal(odb_tensor_copy_of(&i64, ODB_I64, 1, (int64_t[]){3}, wide, &err), ODB_OK);
    finds(i64, NULL, "9007199254740993", "1");
    finds(i64, NULL, "9223372036854775807", "2");
    finds(i64, NULL, "!=9007199254740993", "0 2");
    odb_tensor_unref(i64);

    float parts[] = {3, 4, 0, 1};
    struct odb_tensor *complex = NULL;
    assert_int_equal(odb_tensor_copy_of(&complex, ODB_C64, 1, (int64_t[]){2}, parts, &err), ODB_OK);
    finds(complex, NULL, "5", "0"); /* the magnitude */
    odb_tensor_unref(complex);
}

static void test_seek__strings(void **state)
{
    static const char *const words[] = {"apple", "pineapple", "", "plum 1.5"};
    struct odb_tensor *t = NULL;
    struct odb_seek seek;
    size_t at;
    unsigned where;
    assert_int_equal(odb_tensor_new(&t, ODB_STRING, 1, (int64_t[]){4}, &err), ODB_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(odb_tensor_set_string(t, i, words[i], strlen(words[i]), &err), ODB_OK);
    finds(t, NULL, "apple", "0 1");
    finds(t, NULL, "1.5", "3");
    finds(t, NULL, "cherry", "");
    odb_tensor_unref(t);
    t = TENSOR(ODB_F32, 1);
    assert_int_equal(odb_seek_parse(&seek, "apple", &err), ODB_OK);
    assert_int_equal(odb_seek_next(&at, &where, &seek, t, NULL, 0, 1, NULL, &err), ODB_E_USAGE);
    odb_tensor_unref(t);
}

/* Where blocks and steps meet, and where threads find several at once. */
static void test_seek__large(void **state)
{
    const size_t n = 5000003;
    const char *const expected = "0 1023 1024 131071 131072 2097151 2097152 5000002";
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, ODB_U8, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (const char *p = expected; *p; p += strcspn(p, " "), p += *p == ' ')
        ((unsigned char *)t->data)[strtoul(p, NULL, 10)] = 1;
    finds(t, NULL, "1", expected);
    finds(t, NULL, ">0 reference", expected);
    odb_tensor_unref(t);
}

static bool at_once(void *payload, size_t done, size_t total)
{
    return true;
}

static void test_seek__stops_when_asked(void **state)
{
    struct odb_tensor *t = TENSOR(ODB_F32, 1, 2);
    struct odb_seek seek;
    const struct odb_progress progress = {at_once, NULL};
    size_t at, before;
    unsigned where;
    assert_int_equal(odb_seek_parse(&seek, "1", &err), ODB_OK);
    assert_int_equal(odb_seek_next(&at, &where, &seek, t, NULL, 0, 1, &progress, &err),
                     ODB_CANCELLED);
    assert_int_equal(odb_seek_count(&at, &before, &seek, t, NULL, 0, &progress, &err),
                     ODB_CANCELLED);
    odb_tensor_unref(t);
}

static void test_seek__nothing_to_look_for(void **state)
{
    struct odb_seek seek;
    char text[600];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(odb_seek_parse(&seek, "", &err), ODB_E_USAGE);
    assert_int_equal(odb_seek_parse(&seek, "   ", &err), ODB_E_USAGE);
    assert_int_equal(odb_seek_parse(&seek, text, &err), ODB_E_USAGE);
    finds(NULL, NULL, "1", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seek__numbers),
        cmocka_unit_test(test_seek__sides),
        cmocka_unit_test(test_seek__types),
        cmocka_unit_test(test_seek__strings),
        cmocka_unit_test(test_seek__large),
        cmocka_unit_test(test_seek__stops_when_asked),
        cmocka_unit_test(test_seek__nothing_to_look_for),
    };
    return cmocka_run_group_tests_name("seek", tests, NULL, NULL);
}
