/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/write/one_node.h"

#include "model/read/load.h"
#include "tests/help/models.h"

static void test_one_node__is_what_it_was_made_of(void **state)
{
    struct odb_tensor *x = models_f32(2, (int64_t[]){1, 3}, (float[]){1, 2, 3});
    struct odb_tensor *in[] = {x, NULL, x};
    const struct odb_attr attrs[] = {
        {.name = "axis", .type = ODB_ATTR_INT, .i = 1},
        {.name = "mode", .type = ODB_ATTR_STRING, .s = {"linear", 6}},
        {.name = "pads", .type = ODB_ATTR_INTS, .n = 2, .ints = (int64_t[]){4, 5}},
        {.name = "words",
         .type = ODB_ATTR_STRINGS,
         .n = 2,
         .strings = (struct odb_str[]){{"Tanh", 4}, {"Relu", 4}}},
    };
    const struct odb_one_node node = {.op = "Thing",
                                      .domain = "com.microsoft",
                                      .opset = 1,
                                      .attrs = attrs,
                                      .n_attrs = 4,
                                      .in = in,
                                      .in_names = (const char *[]){"x.npy", NULL, "z.npy"},
                                      .n_in = 3,
                                      .out = &x,
                                      .n_out = 1};
    struct odb_model *model;
    (void)state;
    assert_int_equal(odb_model_of_one_node(&model, &node, NULL), ODB_OK);
    const struct odb_node *made = &model->graph->nodes[0];
    assert_int_equal(model->graph->n_nodes, 1);
    assert_string_equal(made->op_type, "Thing");
    assert_string_equal(made->domain, "com.microsoft");
    assert_int_equal(odb_model_opset(model, "com.microsoft"), 1);
    assert_int_equal(made->n_in, 3);
    assert_int_equal(made->in[1], ODB_NO_VALUE);
    assert_string_equal(model->graph->values[made->in[2]].name, "z.npy");
    assert_int_equal(made->n_out, 1);
    assert_int_equal(made->attrs.n, 4);
    assert_int_equal(odb_attrs_find(&made->attrs, "axis")->i, 1);
    assert_int_equal(odb_attrs_find(&made->attrs, "pads")->ints[1], 5);
    assert_int_equal(odb_attrs_find(&made->attrs, "words")->n, 2);
    assert_memory_equal(odb_attrs_find(&made->attrs, "mode")->s.data, "linear", 6);
    odb_model_free(model);
    odb_tensor_unref(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node__is_what_it_was_made_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
