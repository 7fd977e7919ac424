/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare/criterion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static struct odb_error err;

static struct odb_tensor *of(enum odb_dtype dtype, size_t n, const double *v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, &err), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    return t;
}

static void test_criterion__texts_come_back(void **state)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"", "noise"},
        {"noise", "noise"},
        {"noise:10", "noise"},
        {"noise:2.5", "noise:2.5"},
        {"allclose", "allclose"},
        {"allclose:1e-3", "allclose:0.001"},
        {"allclose:1e-3,1e-7", "allclose:0.001,1e-07"},
        {"allclose:0.00001,1e-8", "allclose"},
        {"1e-3", "close:0.001"},
        {".5", "close:0.5"},
        {"close:1e-3", "close:0.001"},
        {"decimal:5", "decimal:5"},
        {"diff2:1e-3", "diff2:0.001"},
        {"diff3:0.1", "diff3:0.1"},
        {"diff3:0.1,0.01", "diff3:0.1,0.01"},
        {"diff3:0.1,0.01,1e-4", "diff3:0.1,0.01,0.0001"},
        {"diff3:0.1,inf,1e-4", "diff3:0.1,inf,0.0001"},
        {"ulp:4", "ulp:4"},
        {"cosine:0.9999", "cosine:0.9999"},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_criterion c, again;
        char text[128];
        assert_int_equal(odb_criterion_parse(&c, cases[i].text, &err), ODB_OK);
        assert_string_equal(odb_criterion_text(&c, text, sizeof text), cases[i].canonical);
        assert_int_equal(odb_criterion_parse(&again, text, &err), ODB_OK);
        assert_int_equal(again.kind, c.kind);
        assert_memory_equal(again.v, c.v, sizeof c.v);
    }
    struct odb_criterion c;
    assert_int_equal(odb_criterion_parse(&c, NULL, &err), ODB_OK);
    assert_true(c.kind == ODB_CRITERION_NOISE && c.v[0] == 10);
}

static void test_criterion__bad_texts(void **state)
{
    static const char *const texts[] = {
        "noisy",     "noise:",   "noise:x",       "noise:-1",     "noise:1,2",
        "noise:nan", "noise: 1", "decimal",       "decimal:1.5",  "decimal:9999",
        "diff2",     "diff2:1x", "diff3:1,2,3,4", "allclose:1,",  ":",
        "ulp:-1",    "cosine:2", "cosine",        "allclose:1;2", "ALLCLOSE",
        "1e-3x",     "1e-3,1",   "close",         "close:-1",     "-1e-3",
    };
    for (size_t i = 0; i < ODB_COUNT(texts); i++) {
        struct odb_criterion c;
        err = (struct odb_error)ODB_ERROR_INIT;
        assert_int_equal(odb_criterion_parse(&c, texts[i], &err), ODB_E_USAGE);
        assert_true(err.remedy[0] != 0);
    }
}

static void test_criterion__usage_covers_the_table(void **state)
{
    size_t n = 0;
    const char *help;
    for (; odb_criterion_usage(n, &help); n++)
        assert_true(strlen(help) > 10);
    assert_int_equal(n, ODB_CRITERION_COUNT);
}

static enum odb_verdict judge(const char *text, struct odb_tensor *e, struct odb_tensor *b,
                              char *reason, size_t size)
{
    struct odb_criterion c;
    assert_int_equal(odb_criterion_parse(&c, text, &err), ODB_OK);
    enum odb_verdict verdict = odb_criterion_apply(&c, e, b, reason, size);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
    return verdict;
}

static void test_criterion__verdicts(void **state)
{
    static const struct {
        const char *text;
        enum odb_dtype e_type, b_type;
        double e[2], b[2];
        enum odb_verdict verdict;
    } cases[] = {
        {"allclose:1e-3", ODB_F32, ODB_F32, {1.0005, 2}, {1, 2}, ODB_VERDICT_PASS},
        {"allclose:1e-4", ODB_F32, ODB_F32, {1.0005, 2}, {1, 2}, ODB_VERDICT_FAIL},
        {"allclose", ODB_F32, ODB_F32, {1, NAN}, {1, NAN}, ODB_VERDICT_NAN},
        {"allclose", ODB_F32, ODB_F32, {1, INFINITY}, {1, INFINITY}, ODB_VERDICT_PASS},
        {"allclose:0,1", ODB_I32, ODB_I32, {3, 4}, {3, 5}, ODB_VERDICT_PASS},
        {"1e-3", ODB_F32, ODB_F32, {1000, 0.5}, {1000, 0}, ODB_VERDICT_PASS}, /* rms 707 */
        {"1e-3", ODB_F32, ODB_F32, {1000, 0.75}, {1000, 0}, ODB_VERDICT_FAIL},
        {"1e-3", ODB_F32, ODB_F32, {1001.5, 1}, {1000, 1}, ODB_VERDICT_PASS},
        {"1e-3", ODB_F32, ODB_F32, {1, NAN}, {1, NAN}, ODB_VERDICT_PASS},
        {"1e-3", ODB_F32, ODB_F32, {1, NAN}, {1, 1}, ODB_VERDICT_NAN},
        {"1e-3", ODB_F32, ODB_F32, {0, 0}, {0, 0}, ODB_VERDICT_PASS},
        {"9", ODB_I32, ODB_I32, {1, 2}, {1, 3}, ODB_VERDICT_FAIL},
        {"decimal:2", ODB_F32, ODB_F32, {1.01, NAN}, {1, NAN}, ODB_VERDICT_PASS},
        {"decimal:3", ODB_F32, ODB_F32, {1.01, NAN}, {1, NAN}, ODB_VERDICT_FAIL},
        {"decimal:2", ODB_F32, ODB_F32, {NAN, 1}, {1, 1}, ODB_VERDICT_NAN},
        {"diff2:0.1", ODB_F32, ODB_F32, {1.1, INFINITY}, {1, INFINITY}, ODB_VERDICT_FAIL},
        {"diff2:0.11", ODB_F32, ODB_F32, {1.1, INFINITY}, {1, INFINITY}, ODB_VERDICT_PASS},
        {"diff2:9", ODB_F32, ODB_F32, {1, -INFINITY}, {1, INFINITY}, ODB_VERDICT_NAN},
        {"diff2:9", ODB_I32, ODB_I32, {1, 2}, {1, 3}, ODB_VERDICT_FAIL},
        {"diff2:0", ODB_F32, ODB_F32, {0, 0}, {0, 0}, ODB_VERDICT_PASS},
        {"diff3:0.2", ODB_F32, ODB_F32, {1.1, 1}, {1, 1}, ODB_VERDICT_PASS},
        {"diff3:0.2,0.01", ODB_F32, ODB_F32, {1.1, 1}, {1, 1}, ODB_VERDICT_FAIL},
        {"diff3:0.06,inf,10", ODB_F32, ODB_F32, {2.05, 1}, {2, 1}, ODB_VERDICT_PASS},
        {"ulp:1", ODB_F32, ODB_F32, {1, 1 + 0x1p-23}, {1, 1}, ODB_VERDICT_PASS},
        {"ulp:1", ODB_F32, ODB_F32, {1, 1 + 0x1p-22}, {1, 1}, ODB_VERDICT_FAIL},
        {"ulp:1", ODB_F16, ODB_F64, {1, 1 + 0x1p-10}, {1, 1}, ODB_VERDICT_PASS},
        {"cosine:0.99", ODB_F32, ODB_F32, {2, 4}, {1, 2}, ODB_VERDICT_PASS},
        {"cosine:0.99", ODB_F32, ODB_F32, {2, 0}, {0, 2}, ODB_VERDICT_FAIL},
        {"cosine:-1", ODB_I32, ODB_F32, {1, 1}, {1, 1}, ODB_VERDICT_DTYPE},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        char reason[128] = "";
        enum odb_verdict v = judge(cases[i].text, of(cases[i].e_type, 2, cases[i].e),
                                   of(cases[i].b_type, 2, cases[i].b), reason, sizeof reason);
        if (v != cases[i].verdict)
            fail_msg("case %zu, %s: %s (%s)", i, cases[i].text, odb_verdict_name(v), reason);
        assert_true(reason[0] != 0);
    }
    double v[3] = {0};
    assert_int_equal(judge("ulp:9", of(ODB_F32, 2, v), of(ODB_F32, 3, v), NULL, 0),
                     ODB_VERDICT_SHAPE);
    assert_int_equal(judge("ulp:9", NULL, of(ODB_F32, 3, v), NULL, 0), ODB_VERDICT_UNTESTABLE);
    char reason[128];
    judge("diff2:0.1", of(ODB_F64, 1, (double[]){1.5}), of(ODB_F64, 1, (double[]){1}), reason, 128);
    assert_string_equal(reason, "diff2 0.5, at most 0.1");
}

static void test_criterion__containers_and_strings(void **state)
{
    struct odb_tensor *x = of(ODB_F32, 1, (double[]){1.01}), *y = of(ODB_F32, 1, (double[]){1});
    struct odb_tensor *e = NULL, *b = NULL, *s = NULL, *t = NULL;
    assert_int_equal(
        odb_tensor_new_container(&e, ODB_SEQUENCE, (struct odb_tensor *[]){x, y}, 2, &err), ODB_OK);
    assert_int_equal(
        odb_tensor_new_container(&b, ODB_SEQUENCE, (struct odb_tensor *[]){y, y}, 2, &err), ODB_OK);
    odb_tensor_unref(x);
    odb_tensor_unref(y);
    assert_int_equal(judge("decimal:2", odb_tensor_ref(e), odb_tensor_ref(b), NULL, 0),
                     ODB_VERDICT_PASS);
    assert_int_equal(judge("decimal:3", e, b, NULL, 0), ODB_VERDICT_FAIL);
    assert_int_equal(odb_tensor_copy_of(&s, ODB_STRING, 0, NULL, &(struct odb_str){"a", 1}, &err),
                     ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 0, NULL, &(struct odb_str){"b", 1}, &err),
                     ODB_OK);
    assert_int_equal(judge("allclose", odb_tensor_ref(s), odb_tensor_ref(s), NULL, 0),
                     ODB_VERDICT_PASS);
    assert_int_equal(judge("allclose", s, t, NULL, 0), ODB_VERDICT_FAIL);
}

static void test_criterion__noise(void **state)
{
    static const struct {
        enum odb_dtype dtype;
        double e[2], b[2], noise;
        enum odb_verdict verdict;
    } cases[] = {
        {ODB_F32, {1, 1}, {1, 1}, 0, ODB_VERDICT_PASS},
        {ODB_F32, {-0.0, 1}, {0, 1}, 0, ODB_VERDICT_PASS},
        {ODB_F32, {1.01, 1}, {1, 1}, 0.0011, ODB_VERDICT_PASS},
        {ODB_F32, {1.01, 1}, {1, 1}, 0.0009, ODB_VERDICT_FAIL},
        {ODB_F32, {1e-30, 0}, {0, 0}, 1e30, ODB_VERDICT_FAIL},
        {ODB_F32, {NAN, 1}, {NAN, 1}, 0, ODB_VERDICT_PASS},
        {ODB_F32, {NAN, 1}, {1, 1}, 9, ODB_VERDICT_NAN},
        {ODB_F32, {1, 1}, {1, INFINITY}, 9, ODB_VERDICT_NAN},
        {ODB_F32, {1, 1}, {1, 1.5}, NAN, ODB_VERDICT_FAIL},
        {ODB_I8, {1, 1}, {1, 2}, 9, ODB_VERDICT_FAIL},
        {ODB_I8, {1, 2}, {1, 2}, 0, ODB_VERDICT_PASS},
    };
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_tensor *e = of(cases[i].dtype, 2, cases[i].e);
        struct odb_tensor *b = of(cases[i].dtype, 2, cases[i].b);
        struct odb_metrics m;
        struct odb_distance d;
        char reason[128];
        odb_compare(&m, e, b, -1);
        assert_true(odb_distance(&d, e, b));
        assert_int_equal(odb_verdict_noise(&m, cases[i].noise, 10), cases[i].verdict);
        assert_int_equal(odb_verdict_distance(&d, cases[i].noise, 10), cases[i].verdict);
        assert_true(strlen(odb_noise_reason(&m, cases[i].noise, 10, reason, sizeof reason)) > 5);
        odb_tensor_unref(e);
        odb_tensor_unref(b);
    }
    struct odb_metrics m = {.missing = true};
    assert_int_equal(odb_verdict_noise(&m, 1, 1), ODB_VERDICT_UNTESTABLE);
    m = (struct odb_metrics){.shape_mismatch = true};
    assert_int_equal(odb_verdict_noise(&m, 1, 1), ODB_VERDICT_SHAPE);
}

static void test_criterion__verdict_names(void **state)
{
    for (unsigned i = 0; i < ODB_VERDICT_COUNT; i++) {
        enum odb_verdict v;
        assert_true(odb_verdict_parse(&v, odb_verdict_name((enum odb_verdict)i)));
        assert_int_equal(v, i);
        assert_true(strlen(odb_verdict_help(v)) > 10);
        bool bad = i == ODB_VERDICT_FAIL || i == ODB_VERDICT_NAN || i == ODB_VERDICT_SHAPE ||
                   i == ODB_VERDICT_DTYPE || i == ODB_VERDICT_CRASH || i == ODB_VERDICT_TIMEOUT ||
                   i == ODB_VERDICT_REFUSED;
        assert_int_equal(odb_verdict_is_bad(v), bad);
    }
    enum odb_verdict v;
    assert_false(odb_verdict_parse(&v, "perhaps"));
    assert_string_equal(odb_verdict_name((enum odb_verdict)77), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_criterion__texts_come_back),
        cmocka_unit_test(test_criterion__bad_texts),
        cmocka_unit_test(test_criterion__usage_covers_the_table),
        cmocka_unit_test(test_criterion__verdicts),
        cmocka_unit_test(test_criterion__containers_and_strings),
        cmocka_unit_test(test_criterion__noise),
        cmocka_unit_test(test_criterion__verdict_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
