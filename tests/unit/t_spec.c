/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct odb_spec *parse(const char *text)
{
    struct odb_spec *spec = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_spec_parse(&spec, text, &err), ODB_OK);
    return spec;
}

static void test_spec__kind_alone(void **state)
{
    struct odb_spec *spec = parse("ort");
    assert_string_equal(spec->text, "ort");
    assert_string_equal(spec->kind, "ort");
    assert_null(spec->arg);
    assert_int_equal(spec->n_options, 0);
    assert_null(spec->inner);
    odb_spec_free(spec);
}

static void test_spec__everything(void **state)
{
    struct odb_spec *spec = parse("fault:scale,node=conv\\,1,hidden,amount=0.5@ort,opt=all@x");
    assert_string_equal(spec->kind, "fault");
    assert_string_equal(spec->arg, "scale");
    assert_int_equal(spec->n_options, 3);
    assert_string_equal(odb_spec_option(spec, "node"), "conv,1");
    assert_string_equal(odb_spec_option(spec, "hidden"), "");
    assert_string_equal(odb_spec_option(spec, "amount"), "0.5");
    assert_null(odb_spec_option(spec, "count"));
    assert_string_equal(spec->inner, "ort,opt=all@x");
    odb_spec_free(spec);
}

static void test_spec__escapes(void **state)
{
    struct odb_spec *spec = parse("command:run\\@home a\\ b\\\\c\\=d=e,k=v\\=w=u\\,t\\@s");
    assert_string_equal(spec->arg, "run@home a\\ b\\c=d=e"); /* other backslashes are kept */
    assert_string_equal(odb_spec_option(spec, "k"), "v=w=u,t@s");
    assert_null(spec->inner);
    odb_spec_free(spec);
    spec = parse("fault:nan,node=a@fault:inf,node=b\\@c@cpu"); /* inner text stays escaped */
    assert_string_equal(spec->inner, "fault:inf,node=b\\@c@cpu");
    odb_spec_free(spec);
    spec = parse("command:a:b"); /* only the first colon counts */
    assert_string_equal(spec->arg, "a:b");
    odb_spec_free(spec);
    spec = parse("cpu:");
    assert_string_equal(spec->arg, "");
    odb_spec_free(spec);
}

static void test_spec__malformed(void **state)
{
    static const char *const bad[] = {"", ":x", "ort,", "ort,=1", "ort,a=1,a=2", "fault:x@", ",a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct odb_spec *spec = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_spec_parse(&spec, bad[i], &err), ODB_E_USAGE);
        assert_null(spec);
        assert_non_null(strstr(err.remedy, "KIND"));
    }
}

static void test_spec__numbers(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spec *spec = parse("cpu,a=2.5,b=,c=3x,d=inf,e=-1e3");
    double v = 7;
    assert_int_equal(odb_spec_number(spec, "none", &v, &err), ODB_OK);
    assert_true(v == 7);
    assert_int_equal(odb_spec_number(spec, "a", &v, &err), ODB_OK);
    assert_true(v == 2.5);
    assert_int_equal(odb_spec_number(spec, "e", &v, &err), ODB_OK);
    assert_true(v == -1000);
    assert_int_equal(odb_spec_number(spec, "b", &v, &err), ODB_E_USAGE);
    assert_int_equal(odb_spec_number(spec, "c", &v, &err), ODB_E_USAGE);
    assert_int_equal(odb_spec_number(spec, "d", &v, &err), ODB_E_USAGE);
    assert_true(v == -1000);
    odb_spec_free(spec);
}

static void test_spec__check(void **state)
{
    static const char *const keys[] = {"opt", "threads", NULL}, *const wrap[] = {"node", "@", NULL};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spec *spec = parse("ort,threads=2,timeout=5");
    assert_int_equal(odb_spec_check(spec, keys, &err), ODB_OK);
    odb_spec_free(spec);
    spec = parse("ort,thread=2");
    assert_int_equal(odb_spec_check(spec, keys, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.what, "thread"));
    assert_non_null(strstr(err.remedy, "opt, threads, timeout"));
    odb_spec_free(spec);
    spec = parse("ort@cpu");
    assert_int_equal(odb_spec_check(spec, keys, &err), ODB_E_USAGE);
    assert_int_equal(odb_spec_check(spec, wrap, &err), ODB_OK);
    odb_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec__kind_alone), cmocka_unit_test(test_spec__everything),
        cmocka_unit_test(test_spec__escapes),    cmocka_unit_test(test_spec__malformed),
        cmocka_unit_test(test_spec__numbers),    cmocka_unit_test(test_spec__check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
