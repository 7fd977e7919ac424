/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"

#include <jansson.h>
#include <math.h>

#include "report/json.h"
#include "tests/help/models.h"
#include "model/read/load.h"

static struct odb_model *report_model(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){2});
    odb_build_node(b, "Relu", "", "x", "h");
    odb_build_node(b, "com.microsoft::Gelu", "last", "h", "y");
    odb_build_opset(b, "com.microsoft", 1);
    odb_build_output(b, "y");
    return models_take(b);
}

static const json_t *report_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("no key '%s'", key);
    return value;
}

static void report_is(const json_t *object, const char *key, const char *text)
{
    assert_string_equal(json_string_value(report_at(object, key)), text);
}

static json_t *report_load(const struct odb_report *report)
{
    struct odb_buf out = ODB_BUF_INIT;
    json_error_t why;
    odb_report_json(report, &out);
    json_t *root = json_loads(odb_buf_text(&out), 0, &why);
    if (!root)
        fail_msg("%s", why.text);
    odb_buf_dispose(&out);
    return root;
}

static struct odb_report *report_make(const struct odb_model *model, struct odb_feeds *feeds)
{
    struct odb_report *report = odb_report_new(model);
    struct odb_culprit culprit = {.node = 1,
                                  .value = models_value(model, "y"),
                                  .kind = ODB_KIND_INTRODUCED,
                                  .reaches_output = true,
                                  .segment = {0, 1},
                                  .third_opinion = ODB_OPINION_REFERENCE};
    report->reference = odb_xstrdup("cpu");
    report->target = odb_xstrdup("ort");
    report->tolerance = odb_xstrdup("noise:10");
    report->expect = "f16";
    report->feeds = feeds;
    report->outputs_diverge = true;
    strcpy(report->sha256, "00ff");
    report->target_loads = 3;
    report->target_runs = 4;
    odb_report_warn(report, "%d things", 2);
    odb_push(
        &report->steps,
        (struct odb_search_step){
            .step = "plain", .why = odb_xstrdup("first"), .loads = 1, .runs = 2, .seconds = 0.5});
    culprit.numbers.error = ODB_NUMBER(INFINITY);
    culprit.numbers.local_error = ODB_NUMBER(NAN);
    culprit.numbers.gain = ODB_NUMBER(2.5);
    culprit.text = odb_xstrdup("because");
    odb_push(&report->culprits, culprit);
    report->values[culprit.value].verdict = ODB_VERDICT_FAIL;
    report->values[culprit.value].error = ODB_NUMBER(-INFINITY);
    return report;
}

static void test_report__json(void **state)
{
    struct odb_model *model = report_model();
    struct odb_tensor *x = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    struct odb_feed feed = {.value = models_value(model, "x"), .tensor = x, .source = "file x"};
    struct odb_feeds feeds = {.items = &feed, .n = 1};
    struct odb_report *report = report_make(model, &feeds);
    json_t *root = report_load(report);
    assert_int_equal(json_integer_value(report_at(root, "schema")), 1);
    report_is(root, "onnxdbg", ODB_VERSION);
    report_is(report_at(root, "model"), "sha256", "00ff");
    assert_int_equal(json_integer_value(report_at(report_at(root, "model"), "nodes")), 2);
    report_is(root, "reference", "cpu");
    report_is(root, "target", "ort");
    report_is(root, "tolerance", "noise:10");
    report_is(root, "expect", "f16");
    assert_true(json_is_true(report_at(root, "outputs_diverge")));
    assert_string_equal(json_string_value(json_array_get(report_at(root, "warnings"), 0)),
                        "2 things");
    assert_int_equal(json_integer_value(report_at(root, "target_loads")), 3);
    assert_int_equal(json_integer_value(report_at(root, "target_runs")), 4);
    const json_t *input = json_array_get(report_at(root, "inputs"), 0);
    report_is(input, "name", "x");
    report_is(input, "dtype", "float");
    report_is(input, "source", "file x");
    assert_int_equal(json_integer_value(json_array_get(report_at(input, "shape"), 0)), 2);
    const json_t *step = json_array_get(report_at(root, "strategy"), 0);
    report_is(step, "step", "plain");
    report_is(step, "why", "first");
    assert_int_equal(json_integer_value(report_at(step, "runs")), 2);
    json_decref(root);
    odb_report_free(report);
    odb_tensor_unref(x);
    odb_model_free(model);
}

static void test_report__culprits_and_values(void **state)
{
    struct odb_model *model = report_model();
    struct odb_report *report = report_make(model, NULL);
    json_t *root = report_load(report);
    const json_t *culprit = json_array_get(report_at(root, "culprits"), 0);
    assert_int_equal(json_integer_value(report_at(culprit, "index")), 1);
    report_is(culprit, "name", "last");
    report_is(culprit, "op_type", "Gelu");
    report_is(culprit, "domain", "com.microsoft");
    report_is(culprit, "value", "y");
    report_is(culprit, "kind", "introduced");
    report_is(culprit, "error", "inf");
    report_is(culprit, "local_error", "nan");
    report_is(culprit, "third_opinion", "reference");
    report_is(culprit, "text", "because");
    assert_true(json_is_null(report_at(culprit, "noise")));
    assert_true(json_real_value(report_at(culprit, "gain")) == 2.5);
    assert_true(json_is_true(report_at(culprit, "reaches_output")));
    assert_true(json_is_false(report_at(culprit, "verified")));
    assert_int_equal(json_integer_value(json_array_get(report_at(culprit, "segment"), 1)), 1);
    const json_t *values = report_at(root, "values");
    assert_int_equal(json_array_size(values), 3); /* x, h, y */
    const json_t *y = json_array_get(values, 2);
    report_is(y, "name", "y");
    report_is(y, "verdict", "fail");
    report_is(y, "error", "-inf");
    assert_int_equal(json_integer_value(report_at(y, "node")), 1);
    json_decref(root);
    odb_report_free(report);
    odb_model_free(model);
}

static void test_report__text_that_is_not_utf8(void **state)
{
    json_t *json = odb_json_text("a\xff"
                                 "b");
    assert_string_equal(json_string_value(json), "a\\xffb");
    json_decref(json);
    json = odb_json_text("\xc3\xa4\n");
    assert_string_equal(json_string_value(json), "\xc3\xa4\n");
    json_decref(json);
    json = odb_json_text(NULL);
    assert_true(json_is_null(json));
    json_decref(json);
}

static void test_report__steps(void **state)
{
    struct odb_model *model = report_model();
    struct odb_report *report = odb_report_new(model);
    size_t step;
    (void)state;
    assert_null(odb_report_steps(report, &step));
    report->more = json_pack("{s{ss,sn}}", "sequence", "verdict", "pass", "onset");
    assert_null(odb_report_steps(report, &step));
    report->written = report->more; /* as it is read back */
    report->more = NULL;
    json_object_set_new(json_object_get(report->written, "sequence"), "onset", json_integer(6));
    assert_string_equal(odb_report_steps(report, &step), "pass");
    assert_int_equal(step, 6);
    odb_report_free(report);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report__json),
        cmocka_unit_test(test_report__culprits_and_values),
        cmocka_unit_test(test_report__text_that_is_not_utf8),
        cmocka_unit_test(test_report__steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
