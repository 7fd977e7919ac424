/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What conditions mean, what is said of those that mean nothing, and that no text upsets the
 * parser.
 */
#include "judge/condition.h"

#include <math.h>
#include <stdlib.h>

#include "tests/help/models.h"

/* A float [2,3] that failed with error 0.02, its reference without NaN, and nothing known of its
 * gain. */
struct scene {
    struct odb_value_report report;
    struct odb_condition_facts facts;
    struct odb_tensor *target, *reference;
};

static void scene_open(struct scene *s)
{
    static const float target[] = {-2.5f, 0, NAN, 4, INFINITY, 0};
    static const float reference[] = {1, 1, 1, 1, 1, 1};
    s->report = (struct odb_value_report){.verdict = ODB_VERDICT_FAIL,
                                          .error = ODB_NUMBER(0.02),
                                          .error_mean = ODB_NUMBER(0.001),
                                          .noise = ODB_NUMBER(1e-6),
                                          .local_error = ODB_NUMBER(0.5),
                                          .inherited_error = ODB_NUMBER(0)};
    s->target = models_f32(2, (int64_t[]){2, 3}, target);
    s->reference = models_f32(2, (int64_t[]){2, 3}, reference);
    static const long step = 7;
    s->facts = (struct odb_condition_facts){&s->report, s->target, s->reference, .step = &step};
}

static void scene_close(struct scene *s)
{
    odb_tensor_unref(s->target);
    odb_tensor_unref(s->reference);
}

static bool holds(const struct scene *s, const char *text)
{
    struct odb_condition *condition;
    MODELS_OK(odb_condition_parse(&condition, text, &why));
    bool is = odb_condition_holds(condition, &s->facts);
    odb_condition_free(condition);
    return is;
}

/* Every name, in both ways. */
static void test_condition__names(void **state)
{
    static const struct {
        const char *yes, *no;
    } table[] = {
        {"error > 1e-2", "error > 0.02"},
        {"mean error == 0.001", "mean_error != 1e-3"},
        {"local error >= .5", "local_error > .5"},
        {"inherited  error == 0", "inherited error > 0"},
        {"noise < 1", "noise > 1"},
        {"nan", "nan > 1"},
        {"nan == 1", "ref.nan"},
        {"inf", "ref.inf"},
        {"max == 4", "max == inf"},
        {"min == -2.5", "min > -2.5"},
        {"mean == 0.375", "mean < 0"},
        {"std > 1", "ref.std > 0"},
        {"zeros == 2", "zeros != 2"},
        {"size==6", "size<6"},
        {"rank == 2", "rank > 2"},
        {"!culprit", "culprit"},
        {"step > 6 && nan", "step == 6"},
        {"shape == [2,3]", "shape != [2,3]"},
        {"shape == [*, 3]", "shape == [3, *]"},
        {"shape != [2]", "shape == []"},
        {"dtype == float", "dtype == float16"},
        {"dtype == float32", "ref.dtype != FLOAT"},
        {"verdict == fail", "verdict == pass"},
        {"ref.shape == [2,3] && ref.max == 1", "ref.min < 1"},
    };
    struct scene s;
    scene_open(&s);
    for (size_t i = 0; i < ODB_COUNT(table); i++) {
        if (!holds(&s, table[i].yes))
            fail_msg("does not hold: %s", table[i].yes);
        if (holds(&s, table[i].no))
            fail_msg("holds: %s", table[i].no);
    }
    scene_close(&s);
}

static void test_condition__operators_bind_as_in_c(void **state)
{
    struct scene s;
    scene_open(&s);
    assert_true(holds(&s, "nan || nan && culprit"));
    assert_false(holds(&s, "(nan || nan) && culprit"));
    assert_true(holds(&s, "!culprit && nan"));
    assert_false(holds(&s, "!(!culprit && nan)"));
    assert_true(holds(&s, "!!nan"));
    assert_true(holds(&s, "culprit||error>1||nan&&inf"));
    assert_true(holds(&s, "  nan  "));
    scene_close(&s);
}

/* Neither a test nor its opposite holds of what nobody knows; but what does not matter, does not.
 */
static void test_condition__what_is_not_known(void **state)
{
    struct scene s;
    scene_open(&s);
    assert_false(holds(&s, "gain > 1"));
    assert_false(holds(&s, "!(gain > 1)"));
    assert_false(holds(&s, "gain != 1"));
    assert_true(holds(&s, "gain > 1 || nan"));
    assert_true(holds(&s, "!(gain > 1 && culprit)"));
    s.facts.step = NULL; /* it is no sequence */
    assert_false(holds(&s, "step >= 0"));
    assert_false(holds(&s, "!(step >= 0)"));
    s.facts.target = NULL;
    assert_false(holds(&s, "nan"));
    assert_false(holds(&s, "!nan"));
    assert_false(holds(&s, "shape == [2,3]"));
    assert_false(holds(&s, "shape != [2,3]"));
    s.facts.report = NULL;
    assert_false(holds(&s, "error > 0"));
    assert_false(holds(&s, "verdict != pass"));
    scene_close(&s);
}

/* NaN, a wrong shape and a crash are worse than any error; agreement bit for bit is none. */
static void test_condition__errors_that_no_number_tells(void **state)
{
    struct scene s;
    scene_open(&s);
    s.report.error.known = false;
    s.report.verdict = ODB_VERDICT_SHAPE;
    assert_true(holds(&s, "error > 1e30"));
    s.report.verdict = ODB_VERDICT_NAN;
    s.report.error = ODB_NUMBER(1e-9);
    assert_true(holds(&s, "error == inf"));
    s.report.verdict = ODB_VERDICT_PASS;
    s.report.error.known = false;
    assert_true(holds(&s, "error == 0"));
    s.report.verdict = ODB_VERDICT_UNTESTED;
    assert_false(holds(&s, "error == 0"));
    assert_false(holds(&s, "!culprit"));
    scene_close(&s);
}

static void test_condition__errors_name_the_column(void **state)
{
    static const struct {
        const char *text, *where, *what;
    } table[] = {
        {"", "condition '', column 1", "it ends where a name"},
        {"error", "condition 'error', column 6", "it ends where one of < <="},
        {"error >", "condition 'error >', column 8", "it ends where a number"},
        {"error >> 1", "condition 'error >> 1', column 8", "a number is expected, not '>'"},
        {"error > nan", "condition 'error > nan', column 9", "a number is expected"},
        {"error > 1e-3x", "condition 'error > 1e-3x', column 9", "a number is expected"},
        {"nan & inf", "condition 'nan & inf', column 5", "'&&', '||' or the end is expected"},
        {"(nan", "condition '(nan', column 5", "it ends where ')'"},
        {"nan && errr > 1", "condition 'nan && errr > 1', column 8", "a name such as error"},
        {"ref.error > 1", "condition 'ref.error > 1', column 1", "an element's number"},
        {"shape < [1]", "condition 'shape < [1]', column 7", "== or != is expected"},
        {"shape == 1", "condition 'shape == 1', column 10", "a shape such as"},
        {"shape == [1,", "condition 'shape == [1,', column 13", "it ends where a dimension"},
        {"shape == [1 2]", "condition 'shape == [1 2]', column 13", "',' or ']' is expected"},
        {"shape == [-1]", "condition 'shape == [-1]', column 11", "a dimension or *"},
        {"dtype == floot", "condition 'dtype == floot', column 10", "a type such as"},
        {"verdict == bad", "condition 'verdict == bad', column 12", "a verdict such as"},
        {"nan\x01", "condition 'nan\\x01', column 4", "'&&', '||' or the end is expected"},
    };
    for (size_t i = 0; i < ODB_COUNT(table); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_condition *condition;
        assert_int_equal(odb_condition_parse(&condition, table[i].text, &err), ODB_E_USAGE);
        assert_string_equal(err.where, table[i].where);
        if (strncmp(err.what, table[i].what, strlen(table[i].what)))
            fail_msg("'%s': %s", table[i].text, err.what);
    }
}

static uint32_t fuzz_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

/* Words of the language and bytes in any order. What is understood can be asked; what is not is
 * refused at a column that there is. */
static void test_condition__any_text_is_understood_or_refused(void **state)
{
    static const char *const words[] = {
        "error", "local", "nan", "max",   "ref.", "shape", "dtype", "verdict", "(",      ")",
        "!",     "&&",    "||",  "<",     ">=",   "==",    "!=",    "1e-3",    "-inf",   "[",
        "]",     "*",     ",",   "float", "fail", " ",     "_",     "&",       "culprit"};
    uint32_t seed = 20240229;
    size_t understood = 0, refused = 0;
    struct scene s;
    scene_open(&s);
    for (int round = 0; round < 200000; round++) {
        char text[128] = "";
        size_t n = fuzz_next(&seed) % 8;
        for (size_t i = 0; i < n; i++) {
            uint32_t r = fuzz_next(&seed);
            char byte[2] = {(char)(1 + r % 255), '\0'};
            strcat(text, r % 16 ? words[(r >> 8) % ODB_COUNT(words)] : byte);
            strcat(text, r % 3 ? " " : "");
        }
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_condition *condition;
        if (odb_condition_parse(&condition, text, &err) == ODB_OK) {
            odb_condition_holds(condition, &s.facts);
            odb_condition_free(condition);
            understood++;
            continue;
        }
        const char *column = strstr(err.where, "column ");
        assert_non_null(column);
        assert_in_range(strtoul(column + 7, NULL, 10), 1, strlen(text) + 1);
        refused++;
    }
    assert_true(understood > 1000 && refused > 100000);
    scene_close(&s);
}

static void test_condition__depth_and_length_have_an_end(void **state)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_condition *condition;
    char text[5000];
    memset(text, '(', 3000);
    text[3000] = '\0';
    assert_int_equal(odb_condition_parse(&condition, text, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.what, "less deep"));
    memset(text, ' ', 4999);
    text[4999] = '\0';
    assert_int_equal(odb_condition_parse(&condition, text, &err), ODB_E_USAGE);
    assert_non_null(strstr(err.what, "longer than"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_condition__names),
        cmocka_unit_test(test_condition__operators_bind_as_in_c),
        cmocka_unit_test(test_condition__what_is_not_known),
        cmocka_unit_test(test_condition__errors_that_no_number_tells),
        cmocka_unit_test(test_condition__errors_name_the_column),
        cmocka_unit_test(test_condition__any_text_is_understood_or_refused),
        cmocka_unit_test(test_condition__depth_and_length_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
