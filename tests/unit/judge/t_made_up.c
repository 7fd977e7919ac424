/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a recording without its inputs leaves in doubt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "judge/made_up.h"
#include "model/read/load.h"
#include "model/write/build.h"

/* a = Relu(x), b = Neg(a), c = b + y, d = Neg(c); z is read by e alone. */
struct scene {
    struct odb_model *model;
    struct odb_feed items[3];
    struct odb_feeds feeds;
    struct odb_tensor *t;      /* stands for whatever was recorded */
    struct odb_tensor **given; /* [n_values] */
    struct odb_made_up made_up;
};

static int value_of(const struct scene *s, const char *name)
{
    return odb_graph_value(s->model->graph, name)->index;
}

static int scene_open(void **state)
{
    static const char *const inputs[] = {"x", "y", "z"};
    struct scene *s = *state = calloc(1, sizeof *s);
    struct odb_builder *b = odb_build_new("made_up", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    for (int i = 0; i < 3; i++)
        odb_build_input(b, inputs[i], ODB_F32, 1, (int64_t[]){1});
    odb_build_node(b, "Relu", "n0", "x", "a");
    odb_build_node(b, "Neg", "n1", "a", "b");
    odb_build_node(b, "Add", "n2", "b y", "c");
    odb_build_node(b, "Neg", "n3", "c", "d");
    odb_build_node(b, "Neg", "n4", "z", "e");
    odb_build_output(b, "d");
    odb_build_output(b, "e");
    odb_build_bytes(b, &bytes);
    odb_build_free(b);
    assert_int_equal(
        odb_model_open_bytes(&s->model, bytes.data, bytes.len, NULL, ".", "test", NULL), ODB_OK);
    odb_buf_dispose(&bytes);
    assert_int_equal(odb_tensor_copy_of(&s->t, ODB_F32, 1, (int64_t[]){1}, &(float){1}, NULL),
                     ODB_OK);
    s->given = calloc(s->model->graph->n_values, sizeof *s->given);
    s->feeds = (struct odb_feeds){.items = s->items, .n = 3};
    for (int i = 0; i < 3; i++)
        s->items[i] = (struct odb_feed){.value = value_of(s, inputs[i]), .generated = i < 2};
    return 0;
}

static int scene_close(void **state)
{
    struct scene *s = *state;
    odb_made_up_dispose(&s->made_up);
    odb_tensor_unref(s->t);
    odb_model_free(s->model);
    free(s->given);
    free(s);
    return 0;
}

/* names: values that were recorded, between spaces. */
static void record(struct scene *s, const char *names)
{
    for (size_t v = 0; v < s->model->graph->n_values; v++) {
        char word[20];
        snprintf(word, sizeof word, " %s ", s->model->graph->values[v].name);
        s->given[v] = strstr(names, word) ? s->t : NULL;
    }
    odb_made_up_dispose(&s->made_up);
    odb_made_up_init(&s->made_up, s->model->graph, &s->feeds, s->given);
}

/* "x": the input that the value is made of; "": none. */
static const char *direct(const struct scene *s, const char *name)
{
    int v = s->made_up.direct[value_of(s, name)];
    return v == ODB_NO_VALUE ? "" : s->model->graph->values[v].name;
}

static const char *behind(const struct scene *s, const char *name)
{
    int v = s->made_up.behind[value_of(s, name)];
    return v == ODB_NO_VALUE ? "" : s->model->graph->values[v].name;
}

static void test_way_ends_where_something_was_recorded(void **state)
{
    struct scene *s = *state;
    record(s, " a d e ");
    assert_string_equal(direct(s, "a"), "x");
    assert_string_equal(direct(s, "b"), "");
    assert_string_equal(direct(s, "c"), "y"); /* not recorded: d is made of y, and of a */
    assert_string_equal(direct(s, "d"), "y");
    assert_string_equal(behind(s, "b"), "x");
    assert_string_equal(behind(s, "d"), "x");
    record(s, " b c d e ");
    assert_string_equal(direct(s, "b"), "x"); /* through a, which was not recorded */
    assert_string_equal(direct(s, "d"), "");
}

static void test_what_was_given_or_recorded_is_not_made_up(void **state)
{
    struct scene *s = *state;
    record(s, " a b c d e x ");
    assert_string_equal(direct(s, "a"), "");
    assert_string_equal(behind(s, "b"), "");
    assert_string_equal(behind(s, "d"), "y");
    assert_string_equal(direct(s, "e"), ""); /* z was given by the user */
    s->items[0].tensor = s->t;               /* what is fed stands for what the recording lacks */
    record(s, " a b c d e x ");
    assert_string_equal(direct(s, "a"), "x");
    s->items[0].tensor = NULL;
}

static const struct odb_value_report culprit = {.verdict = ODB_VERDICT_FAIL,
                                                .error = {true, 5},
                                                .error_mean = {true, 4},
                                                .noise = {true, 1e-6},
                                                .local_error = {true, 2},
                                                .local_noise = {true, 1e-7},
                                                .inherited_error = {true, 4},
                                                .gain = {true, 3},
                                                .culprit = true};

static void test_nothing_is_left_of_what_is_made_of_it(void **state)
{
    struct scene *s = *state;
    struct odb_value_report report = culprit;
    record(s, " a b c d e ");
    assert_true(odb_made_up_doubt(&s->made_up, value_of(s, "a"), &report));
    assert_int_equal(report.verdict, ODB_VERDICT_UNTESTABLE);
    assert_false(report.culprit || report.error.known || report.local_error.known);
    assert_string_equal(report.reason, "the recording lacks input x, which was generated here");
    report = (struct odb_value_report){.verdict = ODB_VERDICT_PASS, .error = {true, 0}};
    assert_true(odb_made_up_doubt(&s->made_up, value_of(s, "d"), &report));
    assert_int_equal(report.verdict, ODB_VERDICT_UNTESTABLE); /* no pass, either */
}

static void test_culprit_by_recorded_values_stays(void **state)
{
    struct scene *s = *state;
    struct odb_value_report report = culprit;
    record(s, " a b c d e ");
    assert_true(odb_made_up_doubt(&s->made_up, value_of(s, "d"), &report));
    assert_true(report.culprit && report.verdict == ODB_VERDICT_FAIL);
    assert_true(report.error.v == 2 && report.noise.v == 1e-7);
    assert_false(report.error_mean.known || report.inherited_error.known || report.gain.known);
}

static void test_others_are_as_they_were(void **state)
{
    struct scene *s = *state;
    struct odb_value_report report = culprit;
    record(s, " a b c d e ");
    assert_false(odb_made_up_doubt(&s->made_up, value_of(s, "e"), &report));
    assert_memory_equal(&report, &culprit, sizeof report);
    report = (struct odb_value_report){.verdict = ODB_VERDICT_UNTESTED};
    assert_false(odb_made_up_doubt(&s->made_up, value_of(s, "d"), &report));
}

static void test_reason_names_each_input(void **state)
{
    struct scene *s = *state;
    struct odb_error err = ODB_ERROR_INIT;
    char text[600];
    record(s, " a b c d e ");
    assert_int_equal(odb_made_up_fail(&s->made_up, "dump:rec", &err), ODB_E_INPUT);
    assert_string_equal(odb_error_text(&err, text, sizeof text),
                        "dump:rec: the recording lacks inputs x, y, and does not fit what was "
                        "generated here; record them, or give them by --input NAME=FILE");
    record(s, " a b c d e y ");
    assert_int_equal(odb_made_up_fail(&s->made_up, "dump:rec", &err), ODB_E_INPUT);
    assert_string_equal(odb_error_text(&err, text, sizeof text),
                        "dump:rec: the recording lacks input x, and does not fit what was "
                        "generated here; record it, or give it by --input NAME=FILE");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_way_ends_where_something_was_recorded),
        SCENE(test_what_was_given_or_recorded_is_not_made_up),
        SCENE(test_nothing_is_left_of_what_is_made_of_it),
        SCENE(test_culprit_by_recorded_values_stays),
        SCENE(test_others_are_as_they_were),
        SCENE(test_reason_names_each_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
