/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which failures count as one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "judge/signature.h"

static struct odb_signature of_values(size_t n, const float *got, const float *want)
{
    struct odb_value_report report = {.verdict = ODB_VERDICT_NAN};
    struct odb_signature s;
    struct odb_tensor *t, *base;
    struct odb_error err;
    int64_t dims[] = {(int64_t)n};
    assert_int_equal(odb_tensor_copy_of(&t, ODB_F32, 1, dims, got, &err), ODB_OK);
    assert_int_equal(odb_tensor_copy_of(&base, ODB_F32, 1, dims, want, &err), ODB_OK);
    odb_signature_value(&s, "y", &report, t, base);
    odb_tensor_unref(t);
    odb_tensor_unref(base);
    return s;
}

static struct odb_signature of_error(double error, const char *name)
{
    struct odb_value_report report = {.verdict = ODB_VERDICT_FAIL, .error = ODB_NUMBER(error)};
    struct odb_signature s;
    odb_signature_value(&s, name, &report, NULL, NULL);
    return s;
}

static struct odb_signature of_crash(const char *what)
{
    struct odb_error err = {.code = ODB_E_CRASH};
    struct odb_signature s;
    strcpy(err.what, what);
    odb_signature_status(&s, ODB_E_CRASH, &err);
    return s;
}

static struct odb_signature of_refusal(const char *what)
{
    struct odb_error err = {.code = ODB_E_EXECUTOR};
    struct odb_signature s;
    strcpy(err.what, what);
    odb_signature_refusal(&s, &err);
    return s;
}

static void test_signature__a_refusal_is_known_by_its_words(void **state)
{
    static const char *const same[] = {
        "Node (conv1) Op (Gemm) [ShapeInferenceError] First input does not have rank 2 (code 1)",
        "Node (/a/b_3) Op (Gemm) [ShapeInferenceError] First input does not have rank 4 (code 1)",
        "Node:x Op (Gemm) [ShapeInferenceError] First input 'a b' does not have rank {2,3} (code "
        "1)"};
    static const char *const near[] = {
        /* a larger cut, of which more was made */
        "Node (conv1) Op (FusedGemm) [ShapeInferenceError] First input does not have rank 2 (code "
        "1)",
        "Node (conv1) Op (Gemm) First input does not have rank 2 (code 1)"};
    static const char *const other[] = {
        "Node (conv1) Op (Gemm) [ShapeInferenceError] First input does not have rank 2 (code 9)",
        "Node (conv1) Op (Gemm) is not supported (code 1)", "it is out of order (code 1)", ""};
    struct odb_signature sought = of_refusal(same[0]), back;
    struct odb_buf text = ODB_BUF_INIT;
    assert_string_equal(sought.fate,
                        "Node Op Gemm ShapeInferenceError First input does not have rank code 1");
    for (size_t i = 0; i < ODB_COUNT(same); i++) {
        struct odb_signature s = of_refusal(same[i]);
        assert_string_equal(s.fate, sought.fate);
        assert_int_equal(odb_signature_match(&sought, &s), ODB_ANSWER_BAD);
    }
    for (size_t i = 0; i < ODB_COUNT(near); i++) {
        struct odb_signature s = of_refusal(near[i]);
        assert_int_equal(odb_signature_match(&sought, &s), ODB_ANSWER_BAD);
    }
    for (size_t i = 0; i < ODB_COUNT(other); i++) {
        struct odb_signature s = of_refusal(other[i]);
        assert_int_equal(odb_signature_match(&sought, &s), ODB_ANSWER_UNTESTABLE);
    }
    odb_signature_text(&sought, &text);
    assert_true(odb_signature_parse(&back, odb_buf_text(&text)));
    assert_int_equal(odb_signature_match(&sought, &back), ODB_ANSWER_BAD);
    odb_buf_dispose(&text);
    struct odb_signature gone;
    odb_signature_status(&gone, ODB_E_EXECUTOR, NULL); /* which may be anything */
    assert_int_equal(odb_signature_match(&sought, &gone), ODB_ANSWER_UNTESTABLE);
}

static void test_signature__errors_within_the_band_are_one(void **state)
{
    struct odb_signature s = of_error(0.01, "y");
    static const struct {
        double error;
        enum odb_answer answer;
    } cases[] = {{0.01, ODB_ANSWER_BAD},        {0.0011, ODB_ANSWER_BAD},
                 {0.099, ODB_ANSWER_BAD},       {0.0009, ODB_ANSWER_UNTESTABLE},
                 {0.11, ODB_ANSWER_UNTESTABLE}, {INFINITY, ODB_ANSWER_UNTESTABLE},
                 {1e300, ODB_ANSWER_UNTESTABLE}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct odb_signature other = of_error(cases[i].error, "y");
        assert_int_equal(odb_signature_match(&s, &other), cases[i].answer);
    }
    struct odb_signature pass = {.verdict = ODB_VERDICT_PASS}, elsewhere = of_error(0.01, "z");
    assert_int_equal(odb_signature_match(&s, &pass), ODB_ANSWER_GOOD);
    assert_int_equal(odb_signature_match(&s, &elsewhere), ODB_ANSWER_UNTESTABLE);
    elsewhere.output[0] = '\0';
    assert_int_equal(odb_signature_match(&s, &elsewhere), ODB_ANSWER_BAD);
    (void)state;
}

static void test_signature__nan_and_inf_are_classes(void **state)
{
    const float want[] = {1, 2, INFINITY, 4}, nan[] = {NAN, 2, INFINITY, 4},
                nan_there[] = {1, NAN, INFINITY, NAN}, inf[] = {INFINITY, 2, INFINITY, 4},
                minus[] = {-INFINITY, 2, INFINITY, 4}, lost[] = {1, 2, 3, 4};
    struct odb_signature s = of_values(4, nan, want), other = of_values(4, nan_there, want);
    assert_int_equal(s.odd, ODB_ODD_NAN);
    assert_int_equal(odb_signature_match(&s, &other), ODB_ANSWER_BAD);
    const float *others[] = {inf, minus, lost};
    const unsigned odd[] = {ODB_ODD_POS_INF, ODB_ODD_NEG_INF, ODB_ODD_LACKS};
    for (size_t i = 0; i < 3; i++) {
        other = of_values(4, others[i], want);
        assert_int_equal(other.odd, odd[i]);
        assert_int_equal(odb_signature_match(&s, &other), ODB_ANSWER_UNTESTABLE);
    }
    (void)state;
}

static void test_signature__ends_are_told_apart(void **state)
{
    struct odb_signature segv =
        of_crash("the executor was killed by SIGSEGV while running; output: oh");
    struct odb_signature program = of_crash("python3 was killed by SIGSEGV");
    struct odb_signature abrt = of_crash("the executor was killed by SIGABRT while running");
    struct odb_signature left = of_crash("the executor exited with status 3 while loading");
    struct odb_signature memory =
        of_crash("the executor ran out of memory and was killed by SIGABRT while running");
    struct odb_signature late, refused;
    struct odb_error err = {.code = ODB_E_TIMEOUT};
    odb_signature_status(&late, ODB_E_TIMEOUT, &err);
    odb_signature_status(&refused, ODB_E_EXECUTOR, &err);
    assert_string_equal(segv.fate, "SIGSEGV");
    assert_string_equal(left.fate, "exit 3");
    assert_string_equal(memory.fate, "memory");
    assert_int_equal(odb_signature_match(&segv, &program), ODB_ANSWER_BAD);
    assert_int_equal(odb_signature_match(&segv, &abrt), ODB_ANSWER_UNTESTABLE);
    assert_int_equal(odb_signature_match(&segv, &left), ODB_ANSWER_UNTESTABLE);
    assert_int_equal(odb_signature_match(&abrt, &memory), ODB_ANSWER_UNTESTABLE);
    assert_int_equal(odb_signature_match(&segv, &late), ODB_ANSWER_UNTESTABLE);
    assert_int_equal(odb_signature_match(&late, &late), ODB_ANSWER_BAD);
    assert_int_equal(odb_signature_match(&segv, &refused), ODB_ANSWER_UNTESTABLE);
    assert_int_equal(odb_signature_match(&refused, &refused), ODB_ANSWER_UNTESTABLE);
    (void)state;
}

static void test_signature__text_comes_back(void **state)
{
    struct odb_signature all[] = {
        of_error(0.1 / 3, "a name = with\" odd=NaN"),
        of_error(INFINITY, "y"),
        of_crash("x was killed by SIGFPE"),
        of_crash("x was killed by signal 77 while"),
        {.verdict = ODB_VERDICT_NAN, .odd = ODB_ODD_NAN | ODB_ODD_NEG_INF, .output = "y"},
        {.verdict = ODB_VERDICT_NAN, .odd = ODB_ODD_LACKS},
        {.verdict = ODB_VERDICT_SHAPE, .output = "y"},
        {.verdict = ODB_VERDICT_TIMEOUT},
        {.verdict = ODB_VERDICT_PASS},
    };
    for (size_t i = 0; i < ODB_COUNT(all); i++) {
        struct odb_buf text = ODB_BUF_INIT;
        struct odb_signature back;
        odb_signature_text(&all[i], &text);
        assert_true(odb_signature_parse(&back, odb_buf_text(&text)));
        assert_int_equal(back.verdict, all[i].verdict);
        assert_int_equal(back.odd, all[i].odd);
        assert_true(back.error == all[i].error);
        assert_string_equal(back.output, all[i].output);
        assert_string_equal(back.fate, all[i].fate);
        odb_buf_dispose(&text);
    }
    struct odb_signature ignored;
    assert_false(odb_signature_parse(&ignored, ""));
    assert_false(odb_signature_parse(&ignored, "wrong error=1"));
    assert_false(odb_signature_parse(&ignored, "fail what=1"));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature__a_refusal_is_known_by_its_words),
        cmocka_unit_test(test_signature__errors_within_the_band_are_one),
        cmocka_unit_test(test_signature__nan_and_inf_are_classes),
        cmocka_unit_test(test_signature__ends_are_told_apart),
        cmocka_unit_test(test_signature__text_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
