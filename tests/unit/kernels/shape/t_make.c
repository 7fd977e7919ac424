/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/help/op_call.h"

static void test_make__constant_values(void **state)
{
    struct op_call f = OP_CALL("Constant", 13), i = OP_CALL("Constant", 13);
    struct op_call s = OP_CALL("Constant", 13);
    const struct odb_str words[] = {{"one", 3}, {"", 0}};

    struct odb_attr *floats = op_attr(&f, "value_floats", ODB_ATTR_FLOATS);
    floats->n = 2;
    floats->floats = (const odb_f32[]){1.5f, -2};
    assert_int_equal(op_run(&f), ODB_OK);
    op_expect(&f, 0, 1.5, -2);
    f.precision = ODB_PREC_F64;
    assert_int_equal(op_run(&f), ODB_OK);
    assert_int_equal(f.out[0]->dtype, ODB_F64);
    op_free(&f);
    op_int(&i, "value_int", INT64_MIN);
    assert_int_equal(op_run(&i), ODB_OK);
    op_expect_shape(&i, 0, 0);
    assert_true(odb_tensor_i64(i.out[0], 0) == INT64_MIN);
    op_int(&i, "value_ints", 3);
    op_expect_refused(&i, "attribute value_ints of Constant is of type INT, and must be INTS");
    op_free(&i);
    struct odb_attr *strings = op_attr(&s, "value_strings", ODB_ATTR_STRINGS);
    strings->n = 2;
    strings->strings = words;
    assert_int_equal(op_run(&s), ODB_OK);
    assert_int_equal(((const struct odb_str *)s.out[0]->data)[0].len, 3);
    s.n_attrs = 0;
    op_expect_refused(&s, "no value");
    op_free(&s);
}

static void test_make__constant_sparse(void **state)
{
    struct op_call c = OP_CALL("Constant", 13), parts = OP_CALL("Identity", 13);
    struct odb_tensor *sparse = NULL;
    struct odb_tensor *values = op_in(&parts, ODB_F32, 1, OP_DIMS(2), (double[]){7, 8});
    struct odb_tensor *indices = op_in(&parts, ODB_I64, 2, OP_DIMS(2, 2), (double[]){0, 1, 1, 2});

    assert_int_equal(odb_tensor_new_container(&sparse, ODB_SPARSE,
                                              (struct odb_tensor *[]){values, indices}, 2, NULL),
                     ODB_OK);
    sparse->rank = 2;
    sparse->dims[0] = 2;
    sparse->dims[1] = 3;
    struct odb_attr *a = op_attr(&c, "sparse_value", ODB_ATTR_SPARSE_TENSOR);
    a->n = 1;
    a->tensors = &sparse;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 2, 3);
    op_expect(&c, 0, 0, 7, 0, 0, 0, 8);
    ((odb_i64 *)indices->data)[3] = 3;
    op_expect_refused(&c, "an index of sparse_value lies outside");
    odb_tensor_unref(sparse);
    op_free(&parts);
    op_free(&c);
}

static void test_make__constant_of_shape(void **state)
{
    struct op_call c = OP_CALL("ConstantOfShape", 25), holder = OP_CALL("Identity", 13);
    struct odb_tensor *value = op_in(&holder, ODB_I4, 1, OP_DIMS(1), (double[]){-3});

    op_list(&c, 2, OP_DIMS(3, 1));
    assert_int_equal(op_run(&c), ODB_OK);
    assert_int_equal(c.out[0]->dtype, ODB_F32);
    op_expect(&c, 0, 0, 0, 0);
    struct odb_attr *a = op_attr(&c, "value", ODB_ATTR_TENSOR);
    a->n = 1;
    a->tensors = &value;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, -3, -3, -3);
    ((odb_i64 *)c.in[0]->data)[0] = -1;
    op_expect_refused(&c, "-1");
    op_free(&c);
    op_free(&holder);
}

static void test_make__range(void **state)
{
    static const struct {
        enum odb_dtype type;
        double in[3];
        int64_t n;
    } cases[] = {{ODB_F32, {1, 5, 2}, 2},    {ODB_I64, {10, 4, -2}, 3}, {ODB_I16, {3, 3, 1}, 0},
                 {ODB_F64, {0, 1, 0.1}, 10}, {ODB_I32, {5, 0, 1}, 0},   {ODB_BF16, {0, 3, 1}, 3}};

    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct op_call c = OP_CALL("Range", 27);
        for (int j = 0; j < 3; j++)
            op_in(&c, cases[i].type, 0, NULL, &cases[i].in[j]);
        assert_int_equal(op_run(&c), ODB_OK);
        op_expect_shape(&c, 1, cases[i].n);
        for (int64_t j = 0; j < cases[i].n; j++)
            assert_true(fabs(odb_tensor_f64(c.out[0], (size_t)j) - cases[i].in[0] -
                             (double)j * cases[i].in[2]) < 1e-12);
        op_free(&c);
    }
}

static void test_make__range_refuses(void **state)
{
    struct op_call c = OP_CALL("Range", 11), f = OP_CALL("Range", 11);

    op_in(&c, ODB_I64, 0, NULL, (double[]){0});
    op_in(&c, ODB_I64, 0, NULL, (double[]){0});
    op_in(&c, ODB_I64, 0, NULL, (double[]){0});
    op_expect_refused(&c, "delta is 0");
    *(odb_i64 *)c.in[0]->data = INT64_MIN; /* more steps than fit: no overflow on the way */
    *(odb_i64 *)c.in[1]->data = INT64_MAX;
    *(odb_i64 *)c.in[2]->data = 1;
    op_expect_refused(&c, "no end");
    op_free(&c);
    op_in(&f, ODB_F32, 0, NULL, (double[]){0});
    op_in(&f, ODB_F32, 0, NULL, (double[]){INFINITY});
    op_in(&f, ODB_F32, 0, NULL, (double[]){1});
    op_expect_refused(&f, "no end");
    op_free(&f);
}

static void test_make__eye_like(void **state)
{
    struct op_call c = OP_CALL("EyeLike", 9);

    op_int(&c, "k", -1);
    op_int(&c, "dtype", ODB_BOOL);
    op_new(&c, ODB_F32, 2, OP_DIMS(3, 2));
    assert_int_equal(op_run(&c), ODB_OK);
    assert_int_equal(c.out[0]->dtype, ODB_BOOL);
    op_expect(&c, 0, 0, 0, 1, 0, 0, 1);
    c.attrs[0].i = INT64_MIN;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 0, 0, 0, 0, 0, 0);
    op_free(&c);
}

static void test_make__draws(void **state)
{
    struct op_call c = OP_CALL("RandomNormal", 1);
    const int64_t n = 20000;
    double sum = 0, squares = 0;

    op_ints(&c, "shape", 1, &n);
    op_float(&c, "mean", 3);
    op_float(&c, "scale", 2);
    assert_int_equal(op_run(&c), ODB_OK);
    struct odb_tensor *first = odb_tensor_ref(c.out[0]);
    for (size_t i = 0; i < first->count; i++) {
        double v = odb_tensor_f64(first, i);
        sum += v;
        squares += (v - 3) * (v - 3);
    }
    assert_true(fabs(sum / (double)n - 3) < 0.1);
    assert_true(fabs(squares / (double)n - 4) < 0.2);
    assert_int_equal(op_run(&c), ODB_OK);
    assert_true(odb_tensor_identical(first, c.out[0]));
    c.seed = 1;
    assert_int_equal(op_run(&c), ODB_OK);
    assert_false(odb_tensor_identical(first, c.out[0]));
    odb_tensor_unref(first);
    op_free(&c);
}

static void test_make__bernoulli_and_multinomial(void **state)
{
    struct op_call b = OP_CALL("Bernoulli", 15), m = OP_CALL("Multinomial", 7);

    op_in(&b, ODB_F32, 1, OP_DIMS(3), (double[]){0, 1, 0});
    assert_int_equal(op_run(&b), ODB_OK);
    op_expect(&b, 0, 0, 1, 0);
    odb_store_f64(ODB_F32, b.in[0]->data, 0, 1.5);
    op_expect_refused(&b, "element 0 is 1.5");
    op_free(&b);
    op_int(&m, "sample_size", 4);
    op_in(&m, ODB_F32, 2, OP_DIMS(1, 3), (double[]){-INFINITY, 2, -INFINITY});
    assert_int_equal(op_run(&m), ODB_OK);
    op_expect(&m, 0, 1, 1, 1, 1);
    op_free(&m);
}

static void test_make__dropout_that_keeps(void **state)
{
    struct op_call c = OP_CALL("Dropout", 13), old = OP_CALL("Dropout", 6);

    c.n_out = 2;
    op_count(&c, ODB_F32, 1, OP_DIMS(3), 1);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 2, 3);
    op_expect(&c, 1, 1, 1, 1);
    assert_int_equal(c.out[1]->dtype, ODB_BOOL);
    op_in(&c, ODB_F32, 0, NULL, (double[]){0.5});
    op_in(&c, ODB_BOOL, 0, NULL, (double[]){0});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 2, 3);
    op_free(&c);
    op_count(&old, ODB_F64, 1, OP_DIMS(3), 1);
    op_int(&old, "is_test", 1);
    assert_int_equal(op_run(&old), ODB_OK);
    op_expect(&old, 0, 1, 2, 3);
    op_free(&old);
}

/* A node that names its seed draws as numpy.random.RandomState(seed).uniform() does. */
static void test_make__dropout_that_drops(void **state)
{
    struct op_call c = OP_CALL("Dropout", 22);

    c.n_out = 2;
    op_count(&c, ODB_F16, 1, OP_DIMS(10), 1);
    op_in(&c, ODB_F32, 0, NULL, (double[]){0.5});
    op_in(&c, ODB_BOOL, 0, NULL, (double[]){1});
    op_int(&c, "seed", 0);
    assert_int_equal(op_run(&c), ODB_OK);
    assert_int_equal(c.out[0]->dtype, ODB_F16);
    op_expect(&c, 0, 2, 4, 6, 8, 0, 12, 0, 16, 18, 0);
    op_expect(&c, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0);
    c.n_attrs = 0;
    assert_int_equal(op_run(&c), ODB_OK);
    for (size_t i = 0; i < 10; i++)
        assert_true(odb_tensor_f64(c.out[0], i) ==
                    (odb_tensor_i64(c.out[1], i) ? 2 * ((double)i + 1) : 0));
    struct odb_tensor *first = odb_tensor_ref(c.out[1]);
    c.seed = 1;
    assert_int_equal(op_run(&c), ODB_OK);
    assert_false(odb_tensor_identical(first, c.out[1]));
    odb_tensor_unref(first);
    odb_store_f64(ODB_F32, c.in[1]->data, 0, 1);
    op_expect_refused(&c, "outside [0, 1)");
    op_free(&c);
}

/* Only what may drop is a draw. */
static void test_make__dropout_draws(void **state)
{
    static const struct {
        int opset, n_in, test, training; /* -1: not given, not known */
        double ratio;
        bool draws;
    } cases[] = {{1, 1, -1, -1, 0, true},   {6, 1, 0, -1, 0, true},      {6, 1, 1, -1, 0, false},
                 {12, 1, -1, -1, 0, false}, {12, 2, -1, -1, 0.5, false}, {13, 3, -1, -1, 0.5, true},
                 {13, 3, -1, 1, 0.5, true}, {13, 3, -1, 0, 0.5, false},  {13, 3, -1, 1, 0, false}};
    for (size_t i = 0; i < ODB_COUNT(cases); i++) {
        struct op_call c = OP_CALL("Dropout", cases[i].opset);
        const struct odb_op *op = odb_op_find("", "Dropout", cases[i].opset);
        if (cases[i].test >= 0)
            op_int(&c, "is_test", cases[i].test);
        const struct odb_attrs attrs = {c.attrs, c.n_attrs};
        op_take(&c, NULL);
        op_in(&c, ODB_F32, 0, NULL, &cases[i].ratio);
        op_in(&c, ODB_BOOL, 0, NULL, (double[]){cases[i].training});
        const struct odb_tensor *known[3] = {NULL, c.in[1], cases[i].training < 0 ? NULL : c.in[2]};
        assert_true(op->flags & ODB_OP_RANDOM);
        assert_int_equal(op->draws(&attrs, cases[i].n_in, known), cases[i].draws);
        op_free(&c);
    }
    assert_false(odb_op_find("", "Dropout", 11)->flags & ODB_OP_RANDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make__constant_values),
        cmocka_unit_test(test_make__constant_sparse),
        cmocka_unit_test(test_make__constant_of_shape),
        cmocka_unit_test(test_make__range),
        cmocka_unit_test(test_make__range_refuses),
        cmocka_unit_test(test_make__eye_like),
        cmocka_unit_test(test_make__draws),
        cmocka_unit_test(test_make__bernoulli_and_multinomial),
        cmocka_unit_test(test_make__dropout_that_keeps),
        cmocka_unit_test(test_make__dropout_that_drops),
        cmocka_unit_test(test_make__dropout_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
