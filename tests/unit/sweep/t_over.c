/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The search over options, against made-up targets.
 */
#include "sweep/over.h"

#include "tests/help/models.h"

/* --- levels ----------------------------------------------------------------------------------- */

struct levels {
    const char *answers; /* g, b or u for each */
    size_t asked;
};

static enum odb_status levels_ask(void *payload, size_t level, enum odb_answer *answer,
                                  struct odb_error *err)
{
    struct levels *l = payload;
    (void)err;
    l->asked++;
    *answer = l->answers[level] == 'g'   ? ODB_ANSWER_GOOD
              : l->answers[level] == 'b' ? ODB_ANSWER_BAD
                                         : ODB_ANSWER_UNTESTABLE;
    return ODB_OK;
}

static struct odb_over_change levels_search(const char *answers, bool all, size_t *asked)
{
    struct levels l = {answers, 0};
    size_t n = strlen(answers);
    struct odb_over_level *levels = odb_new_n(struct odb_over_level, n + 1);
    struct odb_over_change change;
    MODELS_OK(odb_over_levels(levels, n, all, &change, levels_ask, &l, &why));
    free(levels);
    if (asked)
        *asked = l.asked;
    return change;
}

static void check_change(const char *answers, int good, int bad)
{
    struct odb_over_change change = levels_search(answers, false, NULL);
    assert_int_equal(change.good, good);
    assert_int_equal(change.bad, bad);
}

static void test_over__levels_with_one_change(void **state)
{
    char answers[40];
    (void)state;
    for (int n = 2; n < 39; n++)
        for (int at = 1; at < n; at++) {
            size_t asked;
            for (int i = 0; i < n; i++)
                answers[i] = i < at ? 'g' : 'b';
            answers[n] = '\0';
            struct odb_over_change change = levels_search(answers, false, &asked);
            assert_int_equal(change.good, at - 1);
            assert_int_equal(change.bad, at);
            assert_int_equal(change.changes, 1);
            assert_true(asked <= 2 + 6);
        }
}

static void test_over__levels_that_cannot_be_tested(void **state)
{
    (void)state;
    check_change("guub", 0, 3);
    check_change("ugb", 1, 2);
    check_change("gbu", 0, 1);
    check_change("ggubbu", 1, 3);
    check_change("uuu", -1, -1);
    check_change("ugu", -1, -1);
    check_change("", -1, -1);
}

/* More optimisation hides it: what is named is where it goes. */
static void test_over__levels_the_other_way_round(void **state)
{
    (void)state;
    check_change("bbgg", 2, 1);
}

/* Equal ends hide what lies between them, so everybody is asked. */
static void test_over__levels_without_order(void **state)
{
    (void)state;
    check_change("gbg", 0, 1);
    check_change("bgb", 1, 2);
    check_change("gggg", -1, -1);
    check_change("bbbb", -1, -1);
    assert_int_equal(levels_search("gbg", false, NULL).changes, 2);
    assert_int_equal(levels_search("gbgb", true, NULL).changes, 3);
}

/* --- sets ------------------------------------------------------------------------------------- */

#define SETS_MOST 40

struct sets {
    size_t n, n_needs;
    bool needs[3][SETS_MOST]; /* it fails where all of one of these are on */
    bool always, only_alone;  /* only_alone: and nothing else is */
    bool no_none, no_all;     /* none of them, or all of them, cannot be tested */
    size_t asked;
};

static bool sets_fails(const struct sets *s, const bool *on)
{
    bool fails = s->always;
    for (size_t k = 0; k < s->n_needs; k++) {
        bool all = true;
        for (size_t i = 0; i < s->n; i++)
            all &= on[i] == s->needs[k][i] || (on[i] && !s->only_alone);
        fails |= all;
    }
    return fails;
}

static enum odb_status sets_ask(void *payload, const bool *on, enum odb_answer *answer,
                                struct odb_error *err)
{
    struct sets *s = payload;
    (void)err;
    s->asked++;
    size_t count = 0;
    for (size_t i = 0; i < s->n; i++)
        count += on[i];
    *answer = (s->no_none && !count) || (s->no_all && count == s->n) ? ODB_ANSWER_UNTESTABLE
              : sets_fails(s, on)                                    ? ODB_ANSWER_BAD
                                                                     : ODB_ANSWER_GOOD;
    return ODB_OK;
}

static uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u, *state >> 8;
}

/* Whatever the options are that it takes together, they are found, and none too many. */
static void test_over__the_smallest_set_of_many(void **state)
{
    uint32_t random = 7;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct sets s = {.n = 1 + next_random(&random) % SETS_MOST,
                         .n_needs = 1 + next_random(&random) % 3};
        bool on[SETS_MOST];
        enum odb_over_outcome outcome;
        for (size_t k = 0; k < s.n_needs; k++)
            for (size_t i = 0; i < 1 + next_random(&random) % 3; i++)
                s.needs[k][next_random(&random) % s.n] = true;
        MODELS_OK(odb_over_smallest(on, s.n, &outcome, sets_ask, &s, &why));
        assert_int_equal(outcome, ODB_OVER_SOME);
        assert_true(sets_fails(&s, on));
        for (size_t i = 0; i < s.n; i++) {
            if (!on[i])
                continue;
            on[i] = false;
            assert_false(sets_fails(&s, on));
            on[i] = true;
        }
        assert_true(s.asked <= 2 + s.n * (s.n + 3)); /* what ddmin promises */
    }
}

static void test_over__one_of_many_takes_few_runs(void **state)
{
    struct sets s = {.n = 32, .n_needs = 1};
    bool on[SETS_MOST];
    enum odb_over_outcome outcome;
    (void)state;
    s.needs[0][21] = true;
    MODELS_OK(odb_over_smallest(on, s.n, &outcome, sets_ask, &s, &why));
    assert_true(on[21]);
    assert_true(s.asked <= 2 + 2 * 5);
}

static void test_over__none_of_them(void **state)
{
    struct sets s = {.n = 5}, always = {.n = 5, .always = true};
    bool on[SETS_MOST];
    enum odb_over_outcome outcome;
    (void)state;
    MODELS_OK(odb_over_smallest(on, s.n, &outcome, sets_ask, &s, &why));
    assert_int_equal(outcome, ODB_OVER_NEVER);
    MODELS_OK(odb_over_smallest(on, always.n, &outcome, sets_ask, &always, &why));
    assert_int_equal(outcome, ODB_OVER_ALWAYS);
    assert_int_equal(always.asked, 1);
}

/* What cannot be tested neither clears an option nor accuses one. */
static void test_over__sets_that_cannot_be_tested(void **state)
{
    bool on[SETS_MOST];
    enum odb_over_outcome outcome;
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct sets s = {.n = 5, .n_needs = i & 4 ? 1 : 0, .no_none = i & 1, .no_all = i & 2};
        s.needs[0][3] = true;
        MODELS_OK(odb_over_smallest(on, s.n, &outcome, sets_ask, &s, &why));
        assert_int_equal(outcome, s.n_needs  ? (s.no_none ? ODB_OVER_UNKNOWN : ODB_OVER_SOME)
                                  : s.no_all ? ODB_OVER_UNKNOWN
                                             : ODB_OVER_NEVER);
        for (size_t k = 0; k < s.n && s.n_needs; k++)
            assert_int_equal(on[k], k == 3);
    }
}

/* All together hide what one alone shows. */
static void test_over__one_that_the_others_hide(void **state)
{
    struct sets s = {.n = 5, .n_needs = 1, .only_alone = true};
    bool on[SETS_MOST];
    enum odb_over_outcome outcome;
    (void)state;
    s.needs[0][3] = true;
    MODELS_OK(odb_over_smallest(on, s.n, &outcome, sets_ask, &s, &why));
    assert_int_equal(outcome, ODB_OVER_SOME);
    for (size_t i = 0; i < s.n; i++)
        assert_int_equal(on[i], i == 3);
}

/* --- the grammar ------------------------------------------------------------------------------ */

/* The parts of what text says, between blanks; "" where it is refused. */
static char *parts_of(const char *text)
{
    struct odb_over over;
    struct odb_buf out = ODB_BUF_INIT;
    struct odb_error why = ODB_ERROR_INIT;
    if (odb_over_parse(&over, text, &why) == ODB_OK)
        for (size_t i = 0; i < over.parts.n; i++)
            odb_buf_printf(&out, "%s%s", i ? " " : "", over.parts.items[i]);
    else
        assert_int_equal(why.code, ODB_E_USAGE);
    odb_over_dispose(&over);
    return out.data ? odb_buf_take(&out) : odb_xstrdup("");
}

static void check_parts(const char *text, const char *expected)
{
    char *parts = parts_of(text);
    assert_string_equal(parts, expected);
    free(parts);
}

static void test_over__grammar(void **state)
{
    (void)state;
    check_parts("ort,opt=disabled..extended", "ort,opt=disabled ort,opt=basic ort,opt=extended");
    check_parts("ort,opt=extended..disabled", "ort,opt=extended ort,opt=basic ort,opt=disabled");
    check_parts("fault:scale,node=x@ort,opt=basic..all,threads=2",
                "fault:scale,node=x@ort,opt=basic,threads=2 "
                "fault:scale,node=x@ort,opt=extended,threads=2 "
                "fault:scale,node=x@ort,opt=layout,threads=2 "
                "fault:scale,node=x@ort,opt=all,threads=2");
    check_parts("ort,threads=3..1", "ort,threads=3 ort,threads=2 ort,threads=1");
    check_parts("fault:scale,node=x,amount=0..2@cpu",
                "fault:scale,node=x,amount=0@cpu fault:scale,node=x,amount=1@cpu "
                "fault:scale,node=x,amount=2@cpu");
    check_parts("ort:opt=disabled..basic", "ort,opt=disabled ort,opt=basic");
    check_parts("plugin:x=1.so;cpu", "plugin:x=1.so cpu");
    check_parts("cpu;ort,opt=all;", "cpu ort,opt=all");
    check_parts("command:./a\\;b;cpu", "command:./a;b cpu");
    check_parts("ort,{a=1|b}", "a=1 b");
    check_parts("ort,runtime={a/1.so|../b/2.so},opt=basic",
                "ort,runtime=a/1.so,opt=basic ort,runtime=../b/2.so,opt=basic");
    check_parts("ort:runtime={a|b\\|c}", "ort,runtime=a ort,runtime=b|c");
    check_parts("fault:scale,node=x,amount={0|2|1}@cpu",
                "fault:scale,node=x,amount=0@cpu fault:scale,node=x,amount=2@cpu "
                "fault:scale,node=x,amount=1@cpu");
    check_parts("ort,runtime=../r/1..2/x,opt=disabled..basic",
                "ort,runtime=../r/1..2/x,opt=disabled ort,runtime=../r/1..2/x,opt=basic");
    check_parts("ort,runtime=../r", "");
    check_parts("ort,runtime={a}", "");
    check_parts("ort,runtime={a|b},opt={all|basic}", "");
    check_parts("ort", "");
    check_parts("ort,opt=disabled..most", "");
    check_parts("ort,nothing=disabled..all", "");
    check_parts("ort,threads=1..100000", "");
    check_parts("ort{a}", "");
    check_parts("ort,{}", "");
    check_parts("ort,{a", "");
}

static void check_spec(const char *text, const char *on, const char *expected)
{
    struct odb_over over;
    bool marks[100] = {false};
    MODELS_OK(odb_over_parse(&over, text, &why));
    for (size_t i = 0; on[i]; i++)
        marks[i] = on[i] == '1';
    char *spec = odb_over_spec(&over, marks);
    assert_string_equal(spec, expected);
    free(spec);
    odb_over_dispose(&over);
}

static void test_over__specs_of_sets(void **state)
{
    struct odb_over over;
    bool all[100];
    (void)state;
    check_spec("ort,{a=1|b}", "00", "ort");
    check_spec("ort,{a=1|b}", "11", "ort,a=1,b");
    check_spec("fault:nan,node=x@ort,{a=1|b},threads=2", "01", "fault:nan,node=x@ort,threads=2,b");
    MODELS_OK(odb_over_parse(&over, "ort,{optimizers}", &why));
    assert_true(over.parts.n > 50 && over.parts.n < ODB_COUNT(all));
    for (size_t i = 0; i < ODB_COUNT(all); i++)
        all[i] = i != 1;
    char *spec = odb_over_spec(&over, all),
         *expected = odb_xasprintf("ort,config.optimization.disable_specified_optimizers=%s",
                                   over.parts.items[1]);
    assert_string_equal(spec, expected);
    free(spec);
    free(expected);
    odb_over_dispose(&over);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_over__levels_with_one_change),
        cmocka_unit_test(test_over__levels_that_cannot_be_tested),
        cmocka_unit_test(test_over__levels_the_other_way_round),
        cmocka_unit_test(test_over__levels_without_order),
        cmocka_unit_test(test_over__the_smallest_set_of_many),
        cmocka_unit_test(test_over__one_of_many_takes_few_runs),
        cmocka_unit_test(test_over__none_of_them),
        cmocka_unit_test(test_over__sets_that_cannot_be_tested),
        cmocka_unit_test(test_over__one_that_the_others_hide),
        cmocka_unit_test(test_over__grammar),
        cmocka_unit_test(test_over__specs_of_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
