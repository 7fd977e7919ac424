/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executor/executor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
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

static void plain_is(const char *text, const char *want)
{
    char *plain = odb_executor_plain(text);
    if (want)
        assert_string_equal(plain, want);
    else
        assert_null(plain);
    free(plain);
}

static void test_spec__the_plainest_of_a_target(void **state)
{
    plain_is("ort", "ort,opt=disabled");
    plain_is("ort,opt=all,threads=2", "ort,threads=2,opt=disabled");
    plain_is("ort,threads=2,opt=disabled", NULL); /* it is that already */
    plain_is("fault:scale,node=a\\,b@ort,opt=basic", "fault:scale,node=a\\,b@ort,opt=disabled");
    plain_is("ssh:board:22,ort,opt=all", "ssh:board:22,ort,opt=disabled");
    plain_is("via:a --b=c\\,d + e@f,ort,opt=all", "via:a --b=c\\,d + e@f,ort,opt=disabled");
    plain_is("cpu", NULL);
    plain_is("command:run.sh -O2,plain=command:run.sh -O0", "command:run.sh -O0");
    plain_is("fault:refuse,node=a,plain=ort\\,opt\\=basic@ort", "ort,opt=basic");
    plain_is("ort,", NULL);
}

static void test_spec__the_plainest_is_a_spec_that_may_be_followed(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spec *spec = parse("ort,plain=nothing");
    assert_int_equal(odb_spec_check(spec, spec->row->options, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.what, "nothing"));
    odb_spec_free(spec);
    assert_true(odb_executor_trusted("ort,opt=all,plain=ort\\,opt\\=basic"));
    assert_false(odb_executor_trusted("ort,opt=all,plain=command:rm -r here"));
    assert_false(odb_executor_trusted("cpu,plain=command:rm -r here"));
    assert_false(odb_executor_trusted("cpu,plain=cpu\\,plain\\=command:rm -r here"));
}

static void test_spec__an_option_is_set(void **state)
{
    static const char *const cases[][2] = {{"ort", "ort,opt=all"},
                                           {"ort:x", "ort:x,opt=all"},
                                           {"ort,opt=a\\,b,c=d@e,opt=f", "ort,c=d,opt=all@e,opt=f"},
                                           {"ort,c,opt", "ort,c,opt=all"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct odb_spec *spec = parse(cases[i][0]);
        char *text = odb_spec_with(spec, "opt", "all");
        assert_string_equal(text, cases[i][1]);
        free(text);
        odb_spec_free(spec);
    }
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

static const struct odb_executor_option plain[] = {
    {"opt", "all|basic", "all", "how much", false},
    {"threads", "N|all", "1", "how many", false},
    {"config.*", "VALUE", NULL, "an entry", false},
    {"flag", NULL, NULL, "yes", false},
    {NULL, NULL, NULL, NULL, false},
};
static const struct odb_executor_option wrap[] = {
    {":", "nan|inf", NULL, "what goes wrong", true},
    {"node", "NAME", NULL, "where", true},
    {"seed", "N", "42", "which", false},
    {"@", "SPEC", NULL, "what runs it", true},
    {NULL, NULL, NULL, NULL, false},
};
static const struct odb_executor_option anything[] = {
    {":", "FILE", NULL, "to read", false},
    {"*", "VALUE", NULL, "whatever it takes", false},
    {NULL, NULL, NULL, NULL, false},
};

static void test_spec__check(void **state)
{
    static const struct {
        const char *spec;
        const struct odb_executor_option *rows;
        const char *what, *remedy; /* NULL: fine */
    } cases[] = {
        {"ort,threads=2,timeout=5,workers=3", plain, NULL, NULL},
        {"ort,opt=all,config.a.b=1,flag", plain, NULL, NULL},
        {"ort:", plain, NULL, NULL},
        {"ort,thread=2", plain, "'ort' has no option 'thread'",
         "it has opt, threads, config.*, flag, timeout, mem, static, workers"},
        {"ort,opt=al", plain, "opt=al is no choice", "choose one of all, basic"},
        {"ort,opt", plain, "opt= is no choice", "choose one of all, basic"},
        {"ort,threads=all", plain, NULL, NULL},
        {"ort:x", plain, "'ort' takes no argument", ""},
        {"ort,:=1", plain, "no option ':'", "it has"},
        {"ort@cpu", plain, "'ort' wraps no other executor", "\\@"},
        {"cpu", NULL, NULL, NULL},
        {"cpu,a=1", NULL, "'cpu' has no option 'a'", "it has timeout, mem, static, workers"},
        {"fault:nan,node=a@cpu", wrap, NULL, NULL},
        {"fault,node=a@cpu", wrap, "'fault' needs fault:nan|inf: what goes wrong",
         "write fault:nan|inf,node=NAME[,seed=N]@SPEC"},
        {"fault:bad,node=a@cpu", wrap, "fault:bad is no choice", "choose one of nan, inf"},
        {"fault:nan@cpu", wrap, "'fault' needs node=NAME: where", "write fault:"},
        {"fault:nan,node=a", wrap, "'fault' needs @SPEC: what runs it", "write fault:"},
        {"any,x=1,y=2", anything, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_spec *spec = parse(cases[i].spec);
        assert_int_equal(odb_spec_check(spec, cases[i].rows, &err),
                         cases[i].what ? ODB_E_USAGE : ODB_OK);
        if (cases[i].what) {
            assert_non_null(strstr(err.what, cases[i].what));
            assert_non_null(strstr(err.remedy, cases[i].remedy));
            assert_string_equal(err.where, cases[i].spec);
        }
        odb_spec_free(spec);
    }
}

static void test_spec__syntax(void **state)
{
    static const struct {
        const char *kind;
        const struct odb_executor_option *rows;
        const char *text;
    } cases[] = {
        {"cpu", NULL, "cpu"},
        {"ort", plain, "ort[,opt=all|basic][,threads=N|all][,config.KEY=VALUE][,flag]"},
        {"fault", wrap, "fault:nan|inf,node=NAME[,seed=N]@SPEC"},
        {"any", anything, "any[:FILE][,KEY=VALUE]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct odb_buf text = ODB_BUF_INIT;
        odb_spec_put_syntax(cases[i].kind, cases[i].rows, &text);
        assert_string_equal(odb_buf_text(&text), cases[i].text);
        odb_buf_dispose(&text);
    }
    assert_ptr_equal(odb_spec_row(plain, "threads"), &plain[1]);
    assert_ptr_equal(odb_spec_row(plain, "config.x"), &plain[2]);
    assert_string_equal(odb_spec_row(anything, "timeout")->values, "SECONDS");
    assert_null(odb_spec_row(wrap, "@"));
    assert_null(odb_spec_row(NULL, "x"));
}

static void test_spec__whole_numbers(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_spec *spec = parse("cpu,a=3,b=2.5,c=-1,d=x");
    double v = 7;
    assert_int_equal(odb_spec_whole(spec, "none", 0, 4, &v, &err), ODB_OK);
    assert_true(v == 7);
    assert_int_equal(odb_spec_whole(spec, "a", 0, 4, &v, &err), ODB_OK);
    assert_true(v == 3);
    assert_int_equal(odb_spec_whole(spec, "a", 4, 9, &v, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.what, "a=3 is no whole number from 4 to 9"));
    assert_int_equal(odb_spec_whole(spec, "b", 0, 4, &v, &err), ODB_E_USAGE);
    assert_int_equal(odb_spec_whole(spec, "c", 0, 4, &v, &err), ODB_E_USAGE);
    assert_int_equal(odb_spec_whole(spec, "d", 0, 4, &v, &err), ODB_E_USAGE);
    odb_spec_free(spec);
}

/* The facts of all rows together, which no row can see for itself. */
static void test_spec__rows(void **state)
{
    size_t n, usual = 0, asked = 0;
    const struct odb_executor_ops *const *rows = odb_executor_list(&n);
    for (size_t i = 0; i < n; i++) {
        const struct odb_executor_ops *row = rows[i];
        usual += row->usual;
        asked += row->independence > 0;
        assert_ptr_equal(odb_executor_row(row->kind), row);
        assert_true(!row->independence || (row->opinion && row->library));
        assert_true(!row->plain || row->plain_words);
    }
    assert_int_equal(usual, 1);
    for (size_t rank = 1; rank <= asked; rank++)
        assert_non_null(odb_executor_independent((int)rank));
    assert_true(odb_executor_is_reference("cpu:f16,threads=1"));
    assert_false(odb_executor_is_reference("ssh:there,cpu"));
    assert_ptr_equal(odb_executor_of("via:a b=c@d,cpu"), odb_executor_find("cpu"));
    assert_ptr_equal(odb_executor_of("ssh:there,cpu"), odb_executor_find("cpu"));
    assert_null(odb_executor_row("cpus"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec__kind_alone),
        cmocka_unit_test(test_spec__everything),
        cmocka_unit_test(test_spec__the_plainest_of_a_target),
        cmocka_unit_test(test_spec__the_plainest_is_a_spec_that_may_be_followed),
        cmocka_unit_test(test_spec__an_option_is_set),
        cmocka_unit_test(test_spec__escapes),
        cmocka_unit_test(test_spec__malformed),
        cmocka_unit_test(test_spec__rows),
        cmocka_unit_test(test_spec__numbers),
        cmocka_unit_test(test_spec__check),
        cmocka_unit_test(test_spec__syntax),
        cmocka_unit_test(test_spec__whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
