/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "judge/rules.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/file.h"

static struct odb_tensor *floats(enum odb_dtype dtype, size_t n, const double *v)
{
    struct odb_tensor *t;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){(int64_t)n}, NULL), ODB_OK);
    for (size_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, i, v[i]);
    return t;
}

static enum odb_verdict judged(struct odb_rules *rules, const char *name,
                               const struct odb_tensor *e, const struct odb_tensor *b)
{
    struct odb_buf reason = ODB_BUF_INIT;
    struct odb_measured m = {.evaluated = e, .base = b, .options = {.th = -1}};
    enum odb_verdict verdict = odb_rules_judge(rules, name, &m, &reason);
    odb_buf_dispose(&reason);
    return verdict;
}

static void test_rules__tolerance_and_condition_hold_together(void **state)
{
    struct odb_rules rules = {0};
    struct odb_tensor *b = floats(ODB_F32, 3, (double[]){1, 2, 3});
    struct odb_tensor *e = floats(ODB_F32, 3, (double[]){1, 2, 3.01});
    assert_int_equal(odb_rules_add(&rules, "allclose:1e-2", NULL), ODB_OK);
    assert_int_equal(judged(&rules, "x", e, b), ODB_VERDICT_PASS);
    assert_int_equal(odb_rules_add(&rules, "cosine > 0.999 && max_abs < 0.001", NULL), ODB_OK);
    assert_int_equal(judged(&rules, "x", e, b), ODB_VERDICT_FAIL);
    assert_int_equal(judged(&rules, "x", b, b), ODB_VERDICT_PASS);
    odb_rules_dispose(&rules);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

/* A cosine takes no notice of NaN; whoever asks for one alone must not be told that all is well. */
static void test_rules__patterns_fail_under_any_condition(void **state)
{
    struct odb_rules rules = {0};
    struct odb_tensor *b = floats(ODB_F32, 3, (double[]){1, 2, 3});
    struct odb_tensor *nan = floats(ODB_F32, 3, (double[]){1, 2, NAN});
    struct odb_tensor *inf = floats(ODB_F32, 3, (double[]){1, 2, INFINITY});
    struct odb_tensor *more = floats(ODB_F32, 4, (double[]){1, 2, 3, 4});
    struct odb_tensor *whole = floats(ODB_I64, 3, (double[]){1, 2, 3});
    assert_int_equal(odb_rules_add(&rules, "cosine > -2", NULL), ODB_OK);
    assert_int_equal(judged(&rules, "x", b, b), ODB_VERDICT_PASS);
    assert_int_equal(judged(&rules, "x", nan, b), ODB_VERDICT_NAN);
    assert_int_equal(judged(&rules, "x", b, inf), ODB_VERDICT_NAN);
    assert_int_equal(judged(&rules, "x", nan, nan), ODB_VERDICT_PASS);
    assert_int_equal(judged(&rules, "x", more, b), ODB_VERDICT_SHAPE);
    assert_int_equal(judged(&rules, "x", whole, b), ODB_VERDICT_DTYPE);
    assert_int_equal(judged(&rules, "x", NULL, b), ODB_VERDICT_UNTESTABLE);
    odb_rules_dispose(&rules);
    struct odb_tensor *all[] = {b, nan, inf, more, whole};
    for (size_t i = 0; i < ODB_COUNT(all); i++)
        odb_tensor_unref(all[i]);
}

static void test_rules__what_is_equal_passes(void **state)
{
    struct odb_rules rules = {0};
    struct odb_tensor *zeros = floats(ODB_F32, 2, (double[]){0, 0}), *text[2];
    struct odb_tensor *empty = floats(ODB_F32, 0, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(odb_tensor_new(&text[i], ODB_STRING, 1, (int64_t[]){1}, NULL), ODB_OK);
        assert_int_equal(odb_tensor_set_string(text[i], 0, i ? "b" : "a", 1, NULL), ODB_OK);
    }
    assert_int_equal(odb_rules_add(&rules, "diff2 < 1e-9 && sqnr > 200 && mse == 0", NULL), ODB_OK);
    assert_int_equal(judged(&rules, "x", zeros, zeros), ODB_VERDICT_PASS);
    assert_int_equal(judged(&rules, "x", empty, empty), ODB_VERDICT_PASS);
    assert_int_equal(judged(&rules, "x", text[0], text[0]), ODB_VERDICT_PASS);
    assert_int_equal(judged(&rules, "x", text[1], text[0]), ODB_VERDICT_FAIL);
    odb_rules_dispose(&rules);
    for (int i = 0; i < 2; i++)
        odb_tensor_unref(text[i]);
    odb_tensor_unref(empty);
    odb_tensor_unref(zeros);
}

/* A number that is NaN passes neither a condition nor its opposite. */
static void test_rules__nan_passes_nothing(void **state)
{
    struct odb_tensor *b = floats(ODB_F64, 2, (double[]){-DBL_MAX, -DBL_MAX});
    struct odb_tensor *e = floats(ODB_F64, 2, (double[]){DBL_MAX, DBL_MAX});
    const char *conditions[] = {"diff1 < 1", "!(diff1 > 1)", "diff1 != 5"};
    for (size_t i = 0; i < ODB_COUNT(conditions); i++) {
        struct odb_rules rules = {0};
        assert_int_equal(odb_rules_add(&rules, conditions[i], NULL), ODB_OK);
        assert_int_equal(judged(&rules, "x", e, b), ODB_VERDICT_FAIL);
        assert_int_equal(judged(&rules, "x", b, b), ODB_VERDICT_PASS);
        odb_rules_dispose(&rules);
    }
    odb_tensor_unref(b);
    odb_tensor_unref(e);
}

/* Squares that no double holds are no reason to call two values equal. */
static void test_rules__what_is_tiny_differs(void **state)
{
    struct odb_rules rules = {0};
    struct odb_tensor *b = floats(ODB_F64, 2, (double[]){1e-300, 1e-300});
    struct odb_tensor *e = floats(ODB_F64, 2, (double[]){2e-300, 2e-300});
    assert_int_equal(odb_rules_add(&rules, "rmse == 0 || psnr > 60", NULL), ODB_OK);
    assert_int_equal(judged(&rules, "x", e, b), ODB_VERDICT_FAIL);
    assert_int_equal(judged(&rules, "x", b, b), ODB_VERDICT_PASS);
    odb_rules_dispose(&rules);
    odb_tensor_unref(b);
    odb_tensor_unref(e);
}

/* Of two tensors nobody has searched: "verdict != fail" would pass whatever they hold. */
static void test_rules__what_a_search_finds_is_refused(void **state)
{
    const char *conditions[] = {"verdict != fail", "diff2 < 1 && !culprit", "local_error < 1",
                                "noise < 1"};
    for (size_t i = 0; i < ODB_COUNT(conditions); i++) {
        struct odb_rules rules = {0};
        struct odb_error err = ODB_ERROR_INIT;
        assert_int_equal(odb_rules_add(&rules, conditions[i], &err), ODB_E_USAGE);
        assert_int_equal(rules.all.n, 0);
    }
}

static enum odb_status rules_of(struct odb_rules *rules, const char *text, struct odb_error *err)
{
    char *path = odb_file_temporary("rules-");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    enum odb_status status = odb_rules_read(rules, path, err);
    unlink(path);
    free(path);
    return status;
}

static void test_rules__the_last_line_that_fits_counts(void **state)
{
    struct odb_rules rules = {0};
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor *b = floats(ODB_F32, 1, (double[]){1});
    struct odb_tensor *e = floats(ODB_F32, 1, (double[]){2});
    struct odb_tensor *half = floats(ODB_F16, 1, (double[]){1});
    const char *text = "\xef\xbb\xbf# comment\r\n\n*  ulp:0\n  /enc/* max_abs < 3\t\n"
                       "\"two words\" max_abs < 3\n"
                       "y.npy max_abs<3\nz max_abs<3\nw[0] max_abs<3\ntype:float16 max_abs<3\n"
                       "/enc/strict ulp:0\n";
    assert_int_equal(odb_rules_add(&rules, "max_abs < 3", NULL), ODB_OK);
    assert_int_equal(judged(&rules, "x", e, b), ODB_VERDICT_PASS);
    assert_int_equal(rules_of(&rules, text, &err), ODB_OK);
    const struct {
        const char *name;
        bool pass;
    } cases[] = {{"x", false},        {"/enc/a/b", true},  {"/enc/strict", false},
                 {"two words", true}, {"y.npy", true},     {"y", false},
                 {"z", true},         {"z.npy", true},     {"topoidx_00012__z.npy", true},
                 {"w[0]", true},      {"topoidx_z", false}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++)
        assert_int_equal(judged(&rules, cases[i].name, e, b),
                         cases[i].pass ? ODB_VERDICT_PASS : ODB_VERDICT_FAIL);
    struct odb_buf unmet = ODB_BUF_INIT;
    odb_rules_put_unmet(&rules, &unmet);
    assert_string_equal(odb_buf_text(&unmet), "'type:float16'");
    assert_int_equal(judged(&rules, "x", e, half), ODB_VERDICT_PASS);
    odb_buf_clear(&unmet);
    odb_rules_put_unmet(&rules, &unmet);
    assert_int_equal(unmet.len, 0);
    odb_buf_dispose(&unmet);
    odb_rules_dispose(&rules);
    odb_tensor_unref(half);
    odb_tensor_unref(e);
    odb_tensor_unref(b);
}

static void test_rules__errors_name_the_line(void **state)
{
    const struct {
        const char *text, *what;
    } cases[] = {{"x\n", "nothing is said of 'x'"},
                 {"\"x ulp:0\n", "the quote is not closed"},
                 {"type:flaot ulp:0\n", "'flaot' is no element type"},
                 {"x ulp\n", "tolerance 'ulp'"},
                 {"x noise\n", "nothing of noise"},
                 {"x diff2 <\n", "it ends where a number is expected"},
                 {"x allclos:1\n", "no tolerance is called 'allclos'"}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_rules rules = {0};
        struct odb_error err = ODB_ERROR_INIT;
        char text[64], said[2048];
        snprintf(text, sizeof text, "* ulp:0\n%s", cases[i].text);
        assert_int_equal(rules_of(&rules, text, &err), ODB_E_USAGE);
        odb_error_text(&err, said, sizeof said);
        if (!strstr(said, ":2: ") || !strstr(said, cases[i].what))
            fail_msg("%s: %s", cases[i].text, said);
        odb_rules_dispose(&rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules__tolerance_and_condition_hold_together),
        cmocka_unit_test(test_rules__patterns_fail_under_any_condition),
        cmocka_unit_test(test_rules__what_is_equal_passes),
        cmocka_unit_test(test_rules__nan_passes_nothing),
        cmocka_unit_test(test_rules__what_is_tiny_differs),
        cmocka_unit_test(test_rules__what_a_search_finds_is_refused),
        cmocka_unit_test(test_rules__the_last_line_that_fits_counts),
        cmocka_unit_test(test_rules__errors_name_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
