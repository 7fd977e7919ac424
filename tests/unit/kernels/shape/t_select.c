/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tests/help/op_call.h"

static void test_select__onehot(void **state)
{
    struct op_call c = OP_CALL("OneHot", 11);

    op_int(&c, "axis", 0);
    op_in(&c, ODB_F32, 1, OP_DIMS(3), (double[]){0, -1, 7});
    op_list(&c, 1, OP_DIMS(2));
    op_in(&c, ODB_I4, 1, OP_DIMS(2), (double[]){-1, 5});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 5, -1, -1, -1, 5, -1);
    c.opset = 9; /* before opset 11, negative indices are out of range */
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 5, -1, -1, -1, -1, -1);
    ((odb_i64 *)c.in[1]->data)[0] = 0;
    op_expect_refused(&c, "depth");
    op_free(&c);
}

static void test_select__nonzero(void **state)
{
    struct op_call c = OP_CALL("NonZero", 13), s = OP_CALL("NonZero", 13);

    op_in(&c, ODB_F32, 2, OP_DIMS(2, 3), (double[]){0, 1, -0.0, NAN, 0, 2});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 2, 3);
    op_expect(&c, 0, 0, 1, 1, 1, 0, 2);
    op_free(&c);
    op_in(&s, ODB_BOOL, 0, NULL, (double[]){1});
    assert_int_equal(op_run(&s), ODB_OK);
    op_expect_shape(&s, 2, 0, 1);
    op_free(&s);
}

static void test_select__compress(void **state)
{
    struct op_call c = OP_CALL("Compress", 11);

    op_count(&c, ODB_I64, 2, OP_DIMS(2, 3), 0);
    op_in(&c, ODB_BOOL, 1, OP_DIMS(2), (double[]){0, 1});
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1);
    op_int(&c, "axis", -1);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 2, 1);
    op_expect(&c, 0, 1, 4);
    c.attrs[0].i = 0;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 3, 4, 5);
    c.attrs[0].i = 2;
    op_expect_refused(&c, "axis 2");
    op_free(&c);
}

static void test_select__trilu(void **state)
{
    static const int64_t diagonals[] = {0, 1, -1, 100, -100, INT64_MAX, INT64_MIN};

    for (int upper = 0; upper < 2; upper++)
        for (size_t i = 0; i < ODB_COUNT(diagonals); i++) {
            struct op_call c = OP_CALL("Trilu", 14);
            op_int(&c, "upper", upper);
            op_count(&c, ODB_F32, 3, OP_DIMS(2, 3, 4), 1);
            op_in(&c, ODB_I64, 0, NULL, (double[]){0});
            *(odb_i64 *)c.in[1]->data = diagonals[i];
            assert_int_equal(op_run(&c), ODB_OK);
            for (int64_t e = 0; e < 24; e++) {
                __int128 column = e % 4, row = e / 4 % 3, edge = row + diagonals[i];
                bool kept = upper ? column >= edge : column <= edge;
                assert_int_equal(odb_tensor_i64(c.out[0], (size_t)e), kept ? e + 1 : 0);
            }
            op_free(&c);
        }
}

/* Whether a goes before b: NaN is the greatest, equals keep their order. */
static bool before(double a, double b, bool largest)
{
    double x = isnan(a) ? INFINITY : a, y = isnan(b) ? INFINITY : b;

    if (isnan(a) != isnan(b))
        return largest == isnan(a);
    return largest ? x > y : x < y;
}

static void test_select__topk_random(void **state)
{
    uint64_t seed = 1;

    for (int round = 0; round < 300; round++) {
        struct op_call c = OP_CALL("TopK", 11);
        const int64_t dims[3] = {op_random(&seed, 3) + 1, op_random(&seed, 9) + 1,
                                 op_random(&seed, 9) + 1};
        int axis = (int)op_random(&seed, 3), largest = round % 2;
        const enum odb_dtype types[] = {ODB_F32, ODB_I8, ODB_F16, ODB_U64};
        struct odb_tensor *x = op_new(&c, types[round % 4], 3, dims);
        for (size_t i = 0; i < x->count; i++)
            odb_store_f64(x->dtype, x->data, i, (double)(op_random(&seed, 8) - (round % 4 < 3)));
        if (x->dtype == ODB_F32 && x->count > 3) {
            odb_store_f64(ODB_F32, x->data, 2, NAN);
            odb_store_f64(ODB_F32, x->data, 1, -0.0);
        }
        op_list(&c, 1, OP_DIMS(op_random(&seed, dims[axis] + 1)));
        op_int(&c, "axis", axis);
        op_int(&c, "largest", largest);
        c.n_out = 2;
        assert_int_equal(op_run(&c), ODB_OK);
        int64_t want = c.out[0]->dims[axis], step = 1;
        for (int d = axis + 1; d < 3; d++)
            step *= dims[d];
        for (size_t i = 0; i < c.out[0]->count; i++) {
            int64_t line = (int64_t)i / (want * step), inner = (int64_t)i % step;
            int64_t place = (int64_t)i / step % want, base = line * dims[axis] * step + inner;
            int64_t index = odb_tensor_i64(c.out[1], i), ahead = 0;
            double v = odb_tensor_f64(x, (size_t)(base + index * step));
            for (int64_t j = 0; j < dims[axis]; j++) {
                double w = odb_tensor_f64(x, (size_t)(base + j * step));
                ahead += before(w, v, largest) || (!before(v, w, largest) && j < index);
            }
            assert_int_equal(ahead, place);
            double got = odb_tensor_f64(c.out[0], i);
            assert_true(got == v || (isnan(got) && isnan(v)));
        }
        op_free(&c);
    }
}

static void test_select__topk_refuses(void **state)
{
    struct op_call c = OP_CALL("TopK", 11);

    op_new(&c, ODB_F32, 2, OP_DIMS(2, 3));
    op_list(&c, 1, OP_DIMS(4));
    c.n_out = 2;
    op_expect_refused(&c, "k is 4, but axis 1 has 3 elements");
    op_free(&c);
}

static void test_select__unique(void **state)
{
    struct op_call c = OP_CALL("Unique", 11);

    op_in(&c, ODB_F32, 1, OP_DIMS(6), (double[]){2, 1, 1, 3, 4, 3});
    c.n_out = 4;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 1, 2, 3, 4);
    op_expect(&c, 1, 1, 0, 3, 4);
    op_expect(&c, 2, 1, 0, 0, 2, 3, 2);
    op_expect(&c, 3, 2, 1, 2, 1);
    op_int(&c, "sorted", 0);
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 0, 2, 1, 3, 4);
    op_expect(&c, 1, 0, 1, 3, 4);
    op_expect(&c, 2, 0, 1, 1, 2, 3, 2);
    op_expect(&c, 3, 1, 2, 2, 1);
    op_free(&c);
}

static void test_select__unique_rows(void **state)
{
    struct op_call c = OP_CALL("Unique", 11);

    op_int(&c, "axis", 1);
    op_in(&c, ODB_I8, 2, OP_DIMS(2, 4), (double[]){3, 1, 3, 1, 0, -5, 0, -6});
    c.n_out = 4;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 2, 2, 3);
    op_expect(&c, 0, 1, 1, 3, -6, -5, 0);
    op_expect(&c, 2, 2, 1, 2, 0);
    op_free(&c);
}

static void test_select__unique_strings_and_nan(void **state)
{
    struct op_call c = OP_CALL("Unique", 11), f = OP_CALL("Unique", 11);
    static const char *const words[] = {"b", "", "ab", "b", "a"};
    struct odb_tensor *x = op_new(&c, ODB_STRING, 1, OP_DIMS(5));

    for (size_t i = 0; i < 5; i++)
        assert_int_equal(odb_tensor_set_string(x, i, words[i], strlen(words[i]), NULL), ODB_OK);
    c.n_out = 2;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect(&c, 1, 1, 4, 2, 0);
    op_free(&c);
    op_in(&f, ODB_F64, 1, OP_DIMS(4), (double[]){NAN, 0, -0.0, NAN});
    assert_int_equal(op_run(&f), ODB_OK);
    op_expect_shape(&f, 1, 2);
    op_free(&f);
}

static void test_select__unique_of_nothing(void **state)
{
    struct op_call c = OP_CALL("Unique", 11);

    op_new(&c, ODB_F32, 1, OP_DIMS(0));
    c.n_out = 4;
    assert_int_equal(op_run(&c), ODB_OK);
    op_expect_shape(&c, 1, 0);
    assert_int_equal(c.out[2]->count, 0);
    op_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select__onehot),
        cmocka_unit_test(test_select__nonzero),
        cmocka_unit_test(test_select__compress),
        cmocka_unit_test(test_select__trilu),
        cmocka_unit_test(test_select__topk_random),
        cmocka_unit_test(test_select__topk_refuses),
        cmocka_unit_test(test_select__unique),
        cmocka_unit_test(test_select__unique_rows),
        cmocka_unit_test(test_select__unique_strings_and_nan),
        cmocka_unit_test(test_select__unique_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
