/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bodies on the CPU reference: what a model may get wrong, and what a function's caller may omit.
 */
#include "executor/cpu.h"

#include "tests/models.h"

struct control {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor **values;
    enum odb_status last; /* of the last node */
};

static enum odb_status control_note(void *payload, int node, enum odb_status status,
                                    struct odb_error *err)
{
    struct control *c = payload;
    c->last = status;
    return ODB_OK;
}

static bool control_twice(void *payload)
{
    static int asked; /* the walk asks first */
    return ++asked > 2;
}

static enum odb_status control_run(struct control *c, struct odb_builder *b,
                                   bool (*cancelled)(void *))
{
    struct odb_error err = ODB_ERROR_INIT;
    c->model = models_take(b);
    c->values = odb_new_n(struct odb_tensor *, c->model->graph->n_values);
    MODELS_OK(odb_cpu_new(&c->cpu, c->model, &why));
    struct odb_cpu_run run = {.values = c->values,
                              .after = control_note,
                              .payload = c,
                              .cancelled = cancelled};
    enum odb_status status = odb_cpu_execute(c->cpu, &run, &err);
    return status == ODB_OK ? c->last : status;
}

static void control_close(struct control *c)
{
    for (size_t v = 0; v < c->model->graph->n_values; v++)
        odb_tensor_unref(c->values[v]);
    free(c->values);
    odb_cpu_free(c->cpu);
    odb_model_free(c->model);
}

static void control_weight(struct odb_builder *b, const char *name, enum odb_dtype dtype,
                           int64_t count, const void *data)
{
    struct odb_tensor *t = NULL;
    MODELS_OK(odb_tensor_copy_of(&t, dtype, 1, &count, data, &why));
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* Loop over a body without nodes: state and a scan output are what came in. */
static struct odb_builder *control_loop(int64_t trips, int64_t n_trips, int64_t n_cond)
{
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("body", 17);
    odb_build_input(body, "i", ODB_I64, 0, NULL);
    odb_build_input(body, "go", ODB_BOOL, 0, NULL);
    odb_build_input(body, "s", ODB_F32, 1, (int64_t[]){1});
    odb_build_output_typed(body, "go", ODB_BOOL, 0, NULL);
    odb_build_output_typed(body, "s", ODB_F32, 1, (int64_t[]){1});
    odb_build_output_typed(body, "i", ODB_I64, 0, NULL);
    control_weight(b, "m", ODB_I64, n_trips, &trips);
    control_weight(b, "c", ODB_BOOL, n_cond, &(bool){true});
    control_weight(b, "x", ODB_F32, 1, &(float){1});
    odb_build_node(b, "Loop", "l", "m c x", "y z");
    odb_build_attr_graph(b, "body", body);
    odb_build_output(b, "y");
    odb_build_output(b, "z");
    return b;
}

static void test_control__loop_needs_scalars(void **state)
{
    for (int odd = 0; odd < 3; odd++) {
        struct control c;
        enum odb_status status = control_run(&c, control_loop(3, odd != 1, odd != 2), NULL);
        assert_int_equal(status, odd ? ODB_E_OPERATOR : ODB_OK);
        if (!odd)
            assert_int_equal(c.values[models_value(c.model, "z")]->count, 3);
        control_close(&c);
    }
}

static void test_control__loop_without_turns_has_empty_scans(void **state)
{
    struct control c;
    assert_int_equal(control_run(&c, control_loop(0, 1, 1), NULL), ODB_OK);
    const struct odb_tensor *y = c.values[models_value(c.model, "y")];
    const struct odb_tensor *z = c.values[models_value(c.model, "z")];
    assert_float_equal(odb_tensor_f64(y, 0), 1, 0);
    assert_int_equal(z->dtype, ODB_I64);
    assert_int_equal(z->rank, 1);
    assert_int_equal(z->dims[0], 0);
    control_close(&c);
}

static void test_control__empty_body_can_be_cancelled(void **state)
{
    struct control c;
    assert_int_equal(control_run(&c, control_loop(INT64_MAX, 1, 1), control_twice), ODB_CANCELLED);
    control_close(&c);
}

/* Clip's bounds are the function's inputs; the caller gives only one. */
static void test_control__function_input_may_be_omitted(void **state)
{
    struct control c;
    struct odb_builder *b = odb_build_new("g", 17), *body = odb_build_new("f", 17);
    odb_build_node(body, "Clip", "c", "a low high", "r");
    odb_build_opset(b, "local", 1);
    odb_build_function(b, "local", "Bound", "a low high", "r", "", body);
    control_weight(b, "x", ODB_F32, 2, (float[]){-3, 3});
    struct odb_tensor *high = models_f32(0, NULL, &(float){1});
    odb_build_weight(b, "h", high);
    odb_tensor_unref(high);
    odb_build_node(b, "local::Bound", "n", "x - h", "y");
    odb_build_output(b, "y");
    assert_int_equal(control_run(&c, b, NULL), ODB_OK);
    const struct odb_tensor *y = c.values[models_value(c.model, "y")];
    assert_float_equal(odb_tensor_f64(y, 0), -3, 0);
    assert_float_equal(odb_tensor_f64(y, 1), 1, 0);
    control_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control__loop_needs_scalars),
        cmocka_unit_test(test_control__loop_without_turns_has_empty_scans),
        cmocka_unit_test(test_control__empty_body_can_be_cancelled),
        cmocka_unit_test(test_control__function_input_may_be_omitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
