/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/firsts.h"

#include <math.h>

#include "tests/help/models.h"
#include "model/read/load.h"

/* x -> a -> b -> c, and d beside. */
static struct odb_model *firsts_model(void)
{
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_input(b, "x", ODB_F32, 1, (int64_t[]){40});
    odb_build_node(b, "Relu", "", "x", "a");
    odb_build_node(b, "Relu", "", "a", "b");
    odb_build_node(b, "Relu", "", "b", "c");
    odb_build_node(b, "Shape", "", "x", "d");
    odb_build_output(b, "c");
    return models_take(b);
}

/* 40 ones, with v at index 33. */
static struct odb_tensor *firsts_tensor(enum odb_dtype dtype, double v)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, (int64_t[]){40}, NULL), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_f64(dtype, t->data, i, i == 33 ? v : 1);
    return t;
}

static void firsts_check(const char *names[3], const double values[3], enum odb_dtype dtype,
                         const char *nan, const char *inf, const char *beyond)
{
    struct odb_model *model = firsts_model();
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, model->graph->n_values);
    struct odb_firsts firsts;
    for (int i = 0; i < 3; i++)
        if (names[i])
            had[models_value(model, names[i])] = firsts_tensor(dtype, values[i]);
    odb_firsts_find(&firsts, model->graph, NULL, had);
    assert_int_equal(firsts.nan, nan ? models_value(model, nan) : ODB_NO_VALUE);
    assert_int_equal(firsts.inf, inf ? models_value(model, inf) : ODB_NO_VALUE);
    assert_int_equal(firsts.beyond_f16, beyond ? models_value(model, beyond) : ODB_NO_VALUE);
    for (size_t v = 0; v < model->graph->n_values; v++)
        odb_tensor_unref(had[v]);
    free(had);
    odb_model_free(model);
}

static void test_firsts__kinds(void **state)
{
    static const enum odb_dtype dtypes[] = {ODB_F32, ODB_F64, ODB_BF16};
    const char *all[3] = {"a", "b", "c"}, *gap[3] = {"c", NULL, "b"};
    for (size_t d = 0; d < ODB_COUNT(dtypes); d++) {
        firsts_check(all, (double[]){1, 2, 3}, dtypes[d], NULL, NULL, NULL);
        firsts_check(all, (double[]){-70000, -INFINITY, NAN}, dtypes[d], "c", "b", "a");
        firsts_check(all, (double[]){NAN, INFINITY, NAN}, dtypes[d], "a", "b", NULL);
        firsts_check(gap, (double[]){NAN, 0, 1e6}, dtypes[d], "c", NULL, "b");
    }
    firsts_check(all, (double[]){65504, -INFINITY, NAN}, ODB_F16, "c", "b", NULL);
}

/* 65519 rounds to float16's largest number, 65520 to Inf. */
static void test_firsts__border_of_f16(void **state)
{
    const char *all[3] = {"a", "b", "c"};
    firsts_check(all, (double[]){65504, 65519, 65519.99}, ODB_F32, NULL, NULL, NULL);
    firsts_check(all, (double[]){65504, -65520, 1e30}, ODB_F32, NULL, NULL, "b");
}

static void test_firsts__what_is_no_float(void **state)
{
    const char *all[3] = {"a", "b", "d"};
    firsts_check(all, (double[]){70000, 70000, 70000}, ODB_I64, NULL, NULL, NULL);
}

static void test_firsts__feeds(void **state)
{
    struct odb_model *model = firsts_model();
    struct odb_tensor **had = odb_new_n(struct odb_tensor *, model->graph->n_values);
    struct odb_tensor *x = firsts_tensor(ODB_F32, NAN);
    struct odb_feed feed = {.value = models_value(model, "x"), .tensor = x};
    struct odb_feeds feeds = {.items = &feed, .n = 1};
    struct odb_firsts firsts;
    had[models_value(model, "a")] = x;
    odb_firsts_find(&firsts, model->graph, &feeds, had);
    assert_int_equal(firsts.nan, models_value(model, "x"));
    free(had);
    odb_tensor_unref(x);
    odb_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_firsts__kinds),
        cmocka_unit_test(test_firsts__border_of_f16),
        cmocka_unit_test(test_firsts__what_is_no_float),
        cmocka_unit_test(test_firsts__feeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
