/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/write/build.h"

#include <sys/stat.h>

#include "tests/help/models.h"
#include "model/read/load.h"

static void test_build__nodes_and_values(void **state)
{
    struct odb_builder *b = odb_build_new("tiny", 17);
    struct odb_tensor *w = models_f32(2, (int64_t[]){3, 2}, (float[]){1, 2, 3, 4, 5, 6});
    odb_build_input(b, "x", ODB_F32, 2, (int64_t[]){-1, 3});
    odb_build_weight(b, "w", w);
    odb_build_node(b, "MatMul", "m0", "x w", "h");
    odb_build_node(b, "com.microsoft::Gelu", "", " h ", "g");
    odb_build_node(b, "Clip", "c", "g - w", "y");
    odb_build_opset(b, "com.microsoft", 1);
    odb_build_output_typed(b, "y", ODB_F32, 2, (int64_t[]){-1, 2});
    odb_build_metadata(b, "key", "value");
    odb_tensor_unref(w);
    struct odb_model *m = models_take(b);
    assert_int_equal(m->ir_version, 8);
    assert_int_equal(odb_model_opset(m, ""), 17);
    assert_int_equal(odb_model_opset(m, "com.microsoft"), 1);
    assert_string_equal(m->graph->name, "tiny");
    assert_int_equal(m->graph->n_nodes, 3);
    const struct odb_node *gelu = &m->graph->nodes[1], *clip = &m->graph->nodes[2];
    assert_string_equal(gelu->op_type, "Gelu");
    assert_string_equal(gelu->domain, "com.microsoft");
    assert_string_equal(gelu->name, "");
    assert_int_equal(clip->n_in, 3);
    assert_int_equal(clip->in[1], ODB_NO_VALUE);
    const struct odb_value *x = odb_graph_value(m->graph, "x");
    assert_int_equal(x->type.dtype, ODB_F32);
    assert_int_equal(x->type.rank, 2);
    assert_string_equal(x->type.dims[0].param, "N0");
    assert_int_equal(x->type.dims[1].value, 3);
    const struct odb_value *weight = odb_graph_value(m->graph, "w");
    assert_non_null(weight->init);
    assert_float_equal(odb_tensor_f64(weight->init, 5), 6, 0);
    assert_int_equal(m->metadata.n, 1);
    assert_string_equal(m->metadata.items[0][1], "value");
    odb_model_free(m);
}

static void test_build__attributes(void **state)
{
    struct odb_builder *b = odb_build_new("attrs", 17);
    struct odb_tensor *t = models_f32(1, (int64_t[]){2}, (float[]){1, 2});
    odb_build_input(b, "x", ODB_F32, 0, NULL);
    odb_build_node(b, "Foo", "n", "x", "y");
    odb_build_attr_int(b, "i", -3);
    odb_build_attr_ints(b, "is", 3, (int64_t[]){1, -2, 3});
    odb_build_attr_float(b, "f", 0.5f);
    odb_build_attr_string(b, "s", "text");
    odb_build_attr_tensor(b, "t", t);
    odb_build_attr_ints(b, "none", 0, NULL);
    odb_build_output(b, "y");
    odb_tensor_unref(t);
    struct odb_model *m = models_take(b);
    const struct odb_attrs *attrs = &m->graph->nodes[0].attrs;
    assert_int_equal(attrs->n, 6);
    assert_int_equal(odb_attrs_find(attrs, "i")->i, -3);
    assert_int_equal(odb_attrs_find(attrs, "is")->n, 3);
    assert_int_equal(odb_attrs_find(attrs, "is")->ints[1], -2);
    assert_float_equal(odb_attrs_find(attrs, "f")->f, 0.5, 0);
    assert_int_equal(odb_attrs_find(attrs, "s")->s.len, 4);
    assert_memory_equal(odb_attrs_find(attrs, "s")->s.data, "text", 4);
    assert_float_equal(odb_tensor_f64(odb_attrs_find(attrs, "t")->tensors[0], 1), 2, 0);
    assert_int_equal(odb_attrs_find(attrs, "none")->type, ODB_ATTR_INTS);
    assert_int_equal(odb_attrs_find(attrs, "none")->n, 0);
    odb_model_free(m);
}

static void test_build__body_and_function(void **state)
{
    struct odb_builder *b = odb_build_new("outer", 17), *body = odb_build_new("then", 17);
    struct odb_builder *other = odb_build_new("else", 17), *function = odb_build_new("", 17);
    odb_build_node(body, "Neg", "", "x", "t");
    odb_build_output(body, "t");
    odb_build_node(other, "Abs", "", "x", "e");
    odb_build_output(other, "e");
    odb_build_node(function, "LeakyRelu", "", "X", "Y");
    odb_build_attr_ref(function, "alpha", ODB_ATTR_FLOAT, "slope");
    odb_build_input(b, "c", ODB_BOOL, 0, NULL);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){4});
    odb_build_node(b, "If", "branch", "c", "y");
    odb_build_attr_graph(b, "then_branch", body);
    odb_build_attr_graph(b, "else_branch", other);
    odb_build_opset(b, "mine", 1);
    odb_build_function(b, "mine", "Leak", "X", "Y", "slope", function);
    odb_build_node(b, "mine::Leak", "call", "y", "z");
    odb_build_attr_float(b, "slope", 0.25f);
    odb_build_output(b, "z");
    struct odb_model *m = models_take(b);
    const struct odb_node *branch = &m->graph->nodes[0], *call = &m->graph->nodes[1];
    assert_int_equal(branch->n_captured, 1);
    assert_string_equal(m->graph->values[branch->captured[0]].name, "x");
    assert_int_equal(odb_attrs_find(&branch->attrs, "then_branch")->graphs[0]->n_nodes, 1);
    assert_int_equal(m->n_functions, 1);
    assert_ptr_equal(call->function, &m->functions[0]);
    assert_string_equal(m->functions[0].attr_names[0], "slope");
    const struct odb_attr *alpha = &m->functions[0].graph->nodes[0].attrs.items[0];
    assert_string_equal(alpha->ref_name, "slope");
    odb_model_free(m);
}

static void test_build__weights_beside(void **state)
{
    char *folder = models_folder(), *path = odb_xasprintf("%s/big.onnx", folder);
    struct odb_builder *b = odb_build_new("big", 17);
    struct odb_tensor *large, *small = models_f32(1, (int64_t[]){1}, (float[]){7});
    MODELS_OK(odb_tensor_new(&large, ODB_F32, 1, (int64_t[]){1000}, &why));
    for (size_t i = 0; i < large->count; i++)
        odb_store_f64(ODB_F32, large->data, i, (double)i);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){1000});
    odb_build_weight(b, "small", small);
    odb_build_weight(b, "large", large);
    odb_build_weight(b, "again", large);
    odb_build_node(b, "Sum", "", "x small large again", "y");
    odb_build_output(b, "y");
    MODELS_OK(odb_build_write(b, path, "big.onnx.data", &why));
    odb_build_free(b);
    struct odb_model *m = NULL;
    MODELS_OK(odb_model_open(&m, path, &why));
    assert_true(m->file_bytes < 1000);
    assert_true(odb_tensor_identical(odb_graph_value(m->graph, "large")->init, large));
    assert_true(odb_tensor_identical(odb_graph_value(m->graph, "again")->init, large));
    assert_true(odb_tensor_identical(odb_graph_value(m->graph, "small")->init, small));
    odb_model_free(m);
    char *data = odb_xasprintf("%s.data", path);
    struct stat st;
    assert_int_equal(stat(data, &st), 0);
    assert_int_equal(st.st_size, 4032 + 4000); /* the second begins at a multiple of 64 */
    odb_tensor_unref(large);
    odb_tensor_unref(small);
    free(data);
    free(path);
    models_remove(folder);
}

static void test_build__no_folder_is_an_error(void **state)
{
    struct odb_builder *b = odb_build_new("x", 17);
    struct odb_error err = ODB_ERROR_INIT;
    assert_int_equal(odb_build_write(b, "/nonexistent/x.onnx", NULL, &err), ODB_E_IO);
    assert_string_equal(err.where, "/nonexistent/x.onnx");
    assert_int_equal(odb_build_write(b, "/nonexistent/x.onnx", "d", &err), ODB_E_IO);
    assert_string_equal(err.where, "/nonexistent/d");
    odb_build_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build__nodes_and_values),
        cmocka_unit_test(test_build__attributes),
        cmocka_unit_test(test_build__body_and_function),
        cmocka_unit_test(test_build__weights_beside),
        cmocka_unit_test(test_build__no_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
