/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a sequence, read from what a report's JSON has of them.
 */
#include <jansson.h>
#include <math.h>

#include "report/step_rows.h"
#include "tests/help/models.h"

static struct odb_step_rows *steps_of(const char *json)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Relu", "", "x", "y");
    odb_build_output(b, "y");
    struct odb_model *model = models_take(b);
    struct odb_report *report = odb_report_new(model);
    report->more = json_loads(json, 0, NULL);
    assert_non_null(report->more);
    struct odb_step_rows *steps = odb_step_rows_read(report);
    odb_report_free(report);
    odb_model_free(model);
    return steps;
}

/* Of a step the worst output counts: bad before good, then the largest error, NaN or not. */
static void test_step_rows__worst(void **state)
{
    struct odb_step_rows *steps = steps_of(
        "{\"sequence\": {\"text\": \"wrong\", \"onset\": 1, \"steps\": ["
        "{\"past\": 0, \"new\": 4, \"forced\": \"pass\", \"envelope\": null, \"outputs\": ["
        "{\"name\": \"a\", \"verdict\": \"pass\", \"error\": 1e-7, \"free\": null},"
        "{\"name\": \"b\", \"verdict\": \"pass\", \"error\": 3e-7, \"free\": 0.5}]},"
        "{\"past\": 4, \"new\": 1, \"forced\": \"fail\", \"envelope\": \"inf\","
        "\"outputs\": ["
        "{\"name\": \"a\", \"verdict\": \"fail\", \"error\": 1e-3, \"place\": \"head 2\"},"
        "{\"name\": \"b\", \"verdict\": \"pass\", \"error\": 2e-3}],"
        "\"token\": {\"reference\": 7, \"target\": 9, \"margin\": 0.5, \"noise\": 0.2}},"
        "{\"past\": 5, \"new\": 1, \"forced\": \"crash\", \"failure\": \"it died\"}],"
        "\"nodes\": [{\"index\": 5, \"name\": \"n\", \"steps\": \".x-xx\"}, 7]}}");
    assert_non_null(steps);
    assert_int_equal(steps->n, 3);
    assert_int_equal(steps->n_outputs, 2);
    assert_int_equal(steps->onset, 1);
    assert_string_equal(steps->names[1], "b");
    const struct odb_step_row *first = &steps->rows[0], *second = &steps->rows[1];
    assert_int_equal(first->worst, 1);
    assert_true(first->free.known && first->free.v == 0.5 && !first->envelope.known);
    assert_false(first->chooses);
    assert_int_equal(second->worst, 0);
    assert_true(second->forced.error.v == 1e-3);
    assert_int_equal(second->forced.verdict, ODB_VERDICT_FAIL);
    assert_string_equal(second->place, "head 2");
    assert_true(second->envelope.known && isinf(second->envelope.v));
    assert_true(second->chooses && second->target == 9 && !second->tie);
    assert_int_equal(steps->rows[2].worst, -1);
    assert_int_equal(steps->rows[2].forced.verdict, ODB_VERDICT_CRASH);
    assert_int_equal(steps->rows[2].verdicts[1], ODB_VERDICT_CRASH);
    assert_string_equal(steps->rows[2].why, "it died");
    assert_int_equal(steps->n_nodes, 2);
    assert_string_equal(steps->names[2], "#5 n");
    assert_int_equal(first->verdicts[2], ODB_VERDICT_PASS);
    assert_int_equal(second->verdicts[2], ODB_VERDICT_FAIL);
    assert_int_equal(steps->rows[2].verdicts[2], ODB_VERDICT_UNTESTED);
    assert_string_equal(steps->names[3], "#0 "); /* no object */
    odb_step_rows_free(steps);
}

static void test_step_rows__tie(void **state)
{
    struct odb_step_rows *steps =
        steps_of("{\"sequence\": {\"onset\": null, \"steps\": [{\"past\": 0, \"new\": 1, "
                 "\"forced\": \"pass\","
                 "\"outputs\": [], \"token\": {\"reference\": 1, \"target\": 2, \"margin\": 0.4,"
                 "\"noise\": 0.2}}]}}");
    assert_int_equal(steps->onset, -1);
    assert_true(steps->rows[0].tie);
    odb_step_rows_free(steps);
}

static void test_step_rows__none(void **state)
{
    assert_null(steps_of("{}"));
    assert_null(steps_of("{\"sequence\": {\"text\": \"no steps\"}}"));
    assert_null(steps_of("{\"sequence\": {\"steps\": 3}}"));
    struct odb_step_rows *odd = steps_of("{\"sequence\": {\"steps\": [1, {\"outputs\": 2}]}}");
    assert_int_equal(odd->n, 2);
    assert_int_equal(odd->n_outputs, 0);
    odb_step_rows_free(odd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_rows__worst),
        cmocka_unit_test(test_step_rows__tie),
        cmocka_unit_test(test_step_rows__none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
