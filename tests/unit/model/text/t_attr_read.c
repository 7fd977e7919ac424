/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/text/attr_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct odb_attr_value read_one(enum odb_attr_type type, const char *text)
{
    struct odb_attr_value v;
    assert_int_equal(odb_attr_value_read(&v, "a", type, text, NULL), ODB_OK);
    assert_string_equal(v.attr.name, "a");
    assert_int_equal(v.attr.type, type);
    return v;
}

static void test_attr_read__numbers_and_words(void **state)
{
    (void)state;
    struct odb_attr_value v = read_one(ODB_ATTR_INT, " -3");
    assert_int_equal(v.attr.i, -3);
    odb_attr_value_dispose(&v);
    v = read_one(ODB_ATTR_FLOAT, "1e-05");
    assert_true(v.attr.f == 1e-05f);
    odb_attr_value_dispose(&v);
    v = read_one(ODB_ATTR_STRING, "\"ij,jk->ik\"");
    assert_int_equal(v.attr.s.len, 9);
    assert_string_equal(v.attr.s.data, "ij,jk->ik");
    odb_attr_value_dispose(&v);
}

static void test_attr_read__lists(void **state)
{
    (void)state;
    struct odb_attr_value v = read_one(ODB_ATTR_INTS, "[1, -2,3]");
    assert_int_equal(v.attr.n, 3);
    assert_int_equal(v.attr.ints[1], -2);
    odb_attr_value_dispose(&v);
    v = read_one(ODB_ATTR_INTS, "[]");
    assert_int_equal(v.attr.n, 0);
    odb_attr_value_dispose(&v);
    v = read_one(ODB_ATTR_FLOATS, "0.5,2");
    assert_int_equal(v.attr.n, 2);
    assert_true(v.attr.floats[0] == 0.5f && v.attr.floats[1] == 2.0f);
    odb_attr_value_dispose(&v);
    v = read_one(ODB_ATTR_STRINGS, "[\"Tanh\", \"Relu\"]");
    assert_int_equal(v.attr.n, 2);
    assert_string_equal(v.attr.strings[1].data, "Relu");
    odb_attr_value_dispose(&v);
}

static void test_attr_read__what_is_none(void **state)
{
    static const struct {
        enum odb_attr_type type;
        const char *text;
    } bad[] = {
        {ODB_ATTR_INT, ""},      {ODB_ATTR_INT, "1.5"},  {ODB_ATTR_INT, "9e9"},
        {ODB_ATTR_INTS, "1,,2"}, {ODB_ATTR_INTS, "1 2"}, {ODB_ATTR_FLOAT, "x"},
        {ODB_ATTR_TENSOR, "1"},  {ODB_ATTR_GRAPH, "g"},  {ODB_ATTR_INT, "99999999999999999999"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct odb_attr_value v;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_attr_value_read(&v, "axis", bad[i].type, bad[i].text, &err),
                         ODB_E_USAGE);
        assert_non_null(strstr(err.what, "axis is of type "));
        odb_attr_value_dispose(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attr_read__numbers_and_words),
        cmocka_unit_test(test_attr_read__lists),
        cmocka_unit_test(test_attr_read__what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
