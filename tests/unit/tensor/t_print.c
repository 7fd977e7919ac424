/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The expected text is what NumPy 1.24.2 prints for the same numbers.
 */
#include "tensor/tensor_print.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static struct odb_error err;

static const struct {
    enum odb_dtype dtype;
    int rank;
    int64_t dims[3];
    double v[12];
    const char *text;
} cases[] = {
    {ODB_F32, 1, {3}, {1, 2.5, -3}, "[ 1.   2.5 -3. ]"},
    {ODB_F32, 1, {3}, {0.1, 0.2, 0.3333333333333333}, "[0.1        0.2        0.33333334]"},
    {ODB_F64,
     2,
     {2, 2},
     {1e-05, 1, 2, 3},
     "[[1.e-05 1.e+00]\n"
     " [2.e+00 3.e+00]]"},
    {ODB_F64, 1, {2}, {10000000000, 1}, "[1.e+10 1.e+00]"},
    {ODB_F32, 1, {4}, {NAN, 1, -INFINITY, INFINITY}, "[ nan   1. -inf  inf]"},
    {ODB_F32, 1, {2}, {NAN, INFINITY}, "[nan inf]"},
    {ODB_F64, 1, {2}, {-0.0, 0.0}, "[-0.  0.]"},
    {ODB_F64, 1, {2}, {99999999, 1.5}, "[9.9999999e+07 1.5000000e+00]"},
    {ODB_F64, 1, {2}, {100000000, 1.5}, "[1.0e+08 1.5e+00]"},
    {ODB_F64, 1, {2}, {0.0001, 0.001}, "[0.0001 0.001 ]"},
    {ODB_F64, 1, {2}, {9.9e-05, 0.001}, "[9.9e-05 1.0e-03]"},
    {ODB_F64, 1, {2}, {1e+300, 1e-300}, "[1.e+300 1.e-300]"},
    {ODB_F64, 1, {2}, {0.001, 1}, "[0.001 1.   ]"},
    {ODB_F64, 1, {2}, {0.001, 1.0001}, "[1.0000e-03 1.0001e+00]"},
    {ODB_F32,
     1,
     {3},
     {8080.51709, -0.06860479, 19.695507},
     "[ 8.0805171e+03 -6.8604790e-02  1.9695507e+01]"},
    {ODB_F16, 1, {3}, {62944, 0.1, -346}, "[ 6.294e+04  9.998e-02 -3.460e+02]"},
    {ODB_F64,
     1,
     {3},
     {0.6666666666666666, 100, 0.14285714285714285},
     "[  0.66666667 100.           0.14285714]"},
    {ODB_F32, 3, {1, 1, 1}, {-1.5}, "[[[-1.5]]]"},
    {ODB_I64, 1, {3}, {-5, 100, 7}, "[ -5 100   7]"},
    {ODB_U8, 1, {2}, {0.0, 255}, "[  0 255]"},
    {ODB_BOOL, 1, {2}, {1, 0.0}, "[ True False]"},
    {ODB_BOOL, 1, {2}, {1, 1}, "[ True  True]"},
    {ODB_F32, 0, {0}, {3.4}, "3.4"},
    {ODB_F64, 0, {0}, {1e+16}, "1e+16"},
    {ODB_F64, 0, {0}, {123456789012345}, "123456789012345.0"},
    {ODB_F32, 0, {0}, {1e-05}, "1e-05"},
    {ODB_F32, 0, {0}, {376999510016}, "376999500000.0"},
    {ODB_F16, 0, {0}, {62944}, "62940.0"},
    {ODB_BOOL, 0, {0}, {1}, "True"},
    {ODB_I64, 0, {0}, {-3}, "-3"},
    {ODB_F32, 0, {0}, {2}, "2.0"},
    {ODB_I64,
     3,
     {2, 2, 3},
     {0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
     "[[[ 0  1  2]\n"
     "  [ 3  4  5]]\n"
     "\n"
     " [[ 6  7  8]\n"
     "  [ 9 10 11]]]"},
    {ODB_F32, 1, {0}, {0}, "[]"},
    {ODB_F64,
     1,
     {12},
     {0.0, 0.14285714285714285, 0.2857142857142857, 0.42857142857142855, 0.5714285714285714,
      0.7142857142857143, 0.8571428571428571, 1, 1.1428571428571428, 1.2857142857142858,
      1.4285714285714286, 1.5714285714285714},
     "[0.         0.14285714 0.28571429 0.42857143 0.57142857 0.71428571\n"
     " 0.85714286 1.         1.14285714 1.28571429 1.42857143 1.57142857]"},
};

static struct odb_tensor *counting(enum odb_dtype dtype, int rank, const int64_t *dims)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, &err), ODB_OK);
    for (size_t i = 0; i < t->count; i++)
        odb_store_i64(dtype, t->data, i, (int64_t)i);
    return t;
}

static void check(const struct odb_tensor *t, const char *text)
{
    struct odb_buf buf = ODB_BUF_INIT;
    odb_print_tensor(&buf, t, NULL);
    assert_string_equal(odb_buf_text(&buf), text);
    odb_buf_dispose(&buf);
}

static void test_print__as_numpy_does(void **state)
{
    for (size_t k = 0; k < ODB_COUNT(cases); k++) {
        struct odb_tensor *t = NULL;
        assert_int_equal(odb_tensor_new(&t, cases[k].dtype, cases[k].rank, cases[k].dims, &err),
                         ODB_OK);
        for (size_t i = 0; i < t->count; i++)
            odb_store_f64(t->dtype, t->data, i, cases[k].v[i]);
        check(t, cases[k].text);
        odb_tensor_unref(t);
    }
}

static void test_print__summaries(void **state)
{
    struct odb_tensor *t = counting(ODB_I64, 2, (int64_t[]){40, 50});
    check(t, "[[   0    1    2 ...   47   48   49]\n"
             " [  50   51   52 ...   97   98   99]\n"
             " [ 100  101  102 ...  147  148  149]\n"
             " ...\n"
             " [1850 1851 1852 ... 1897 1898 1899]\n"
             " [1900 1901 1902 ... 1947 1948 1949]\n"
             " [1950 1951 1952 ... 1997 1998 1999]]");
    odb_tensor_unref(t);
    t = counting(ODB_F32, 1, (int64_t[]){3000});
    check(t, "[0.000e+00 1.000e+00 2.000e+00 ... 2.997e+03 2.998e+03 2.999e+03]");
    odb_tensor_unref(t);
    t = counting(ODB_I64, 3, (int64_t[]){4, 5, 600});
    check(t, "[[[    0     1     2 ...   597   598   599]\n"
             "  [  600   601   602 ...  1197  1198  1199]\n"
             "  [ 1200  1201  1202 ...  1797  1798  1799]\n"
             "  [ 1800  1801  1802 ...  2397  2398  2399]\n"
             "  [ 2400  2401  2402 ...  2997  2998  2999]]\n"
             "\n"
             " [[ 3000  3001  3002 ...  3597  3598  3599]\n"
             "  [ 3600  3601  3602 ...  4197  4198  4199]\n"
             "  [ 4200  4201  4202 ...  4797  4798  4799]\n"
             "  [ 4800  4801  4802 ...  5397  5398  5399]\n"
             "  [ 5400  5401  5402 ...  5997  5998  5999]]\n"
             "\n"
             " [[ 6000  6001  6002 ...  6597  6598  6599]\n"
             "  [ 6600  6601  6602 ...  7197  7198  7199]\n"
             "  [ 7200  7201  7202 ...  7797  7798  7799]\n"
             "  [ 7800  7801  7802 ...  8397  8398  8399]\n"
             "  [ 8400  8401  8402 ...  8997  8998  8999]]\n"
             "\n"
             " [[ 9000  9001  9002 ...  9597  9598  9599]\n"
             "  [ 9600  9601  9602 ... 10197 10198 10199]\n"
             "  [10200 10201 10202 ... 10797 10798 10799]\n"
             "  [10800 10801 10802 ... 11397 11398 11399]\n"
             "  [11400 11401 11402 ... 11997 11998 11999]]]");
    odb_tensor_unref(t);
}

static void test_print__many_dimensions_stay_readable(void **state)
{
    int64_t dims[ODB_MAX_RANK];
    for (int d = 0; d < ODB_MAX_RANK; d++)
        dims[d] = d < 9 ? 7 : 1;
    struct odb_tensor *t = counting(ODB_U8, ODB_MAX_RANK, dims);
    struct odb_buf buf = ODB_BUF_INIT;
    odb_print_tensor(&buf, t, NULL);
    assert_in_range(buf.len, 1000, 4000000);
    odb_buf_dispose(&buf);
    odb_tensor_unref(t);
}

static void test_print__options(void **state)
{
    struct odb_tensor *t = counting(ODB_F32, 1, (int64_t[]){10});
    struct odb_buf buf = ODB_BUF_INIT;
    for (size_t i = 0; i < 10; i++)
        odb_store_f64(ODB_F32, t->data, i, (double)i / 3);
    odb_print_tensor(&buf, t, &(struct odb_print_opts){5, 1, 3, 75});
    assert_string_equal(odb_buf_text(&buf), "[0. ... 3.]");
    odb_buf_clear(&buf);
    odb_print_tensor(&buf, t, &(struct odb_print_opts){100, 3, 2, 20});
    assert_string_equal(odb_buf_text(&buf), "[0.   0.33 0.67\n 1.   1.33 1.67\n 2.   2.33 2.67\n"
                                            " 3.  ]");
    odb_buf_dispose(&buf);
    odb_tensor_unref(t);
}

static void test_print__complex(void **state)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(
        odb_tensor_copy_of(&t, ODB_C128, 1, (int64_t[]){2}, (double[]){1, 2, -0.0, -0.5}, &err),
        ODB_OK);
    check(t, "[ 1.+2.j  -0.-0.5j]");
    odb_tensor_unref(t);
}

static void test_print__strings(void **state)
{
    static const struct odb_str in[] = {{"a", 1},          {"b\n'\"\\", 5}, {"it's", 4},
                                        {"\0\x1b\xff", 3}, {"\u4e2d", 3},   {"\xc2\x80", 2},
                                        {"", 0},           {"\u202e", 3}};
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_STRING, 1, (int64_t[]){8}, in, &err), ODB_OK);
    check(t, "['a' 'b\\n\\'\"\\\\' \"it's\" '\\x00\\x1b\\xff' '\u4e2d' '\\xc2\\x80' '' "
             "'\\xe2\\x80\\xae']");
    odb_tensor_unref(t);
}

static void test_print__narrow_types(void **state)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_copy_of(&t, ODB_I4, 1, (int64_t[]){3}, "\x7d\x08", &err), ODB_OK);
    check(t, "[-3  7 -8]");
    odb_tensor_unref(t);
    assert_int_equal(odb_tensor_copy_of(&t, ODB_F4E2M1, 1, (int64_t[]){2}, "\xf1", &err), ODB_OK);
    check(t, "[ 0.5 -6. ]");
    odb_tensor_unref(t);
    uint16_t b = odb_f32_to_bf16(0.1f);
    assert_int_equal(odb_tensor_copy_of(&t, ODB_BF16, 1, (int64_t[]){1}, &b, &err), ODB_OK);
    check(t, "[0.1]");
    odb_tensor_unref(t);
}

static void test_print__containers(void **state)
{
    struct odb_tensor *x = counting(ODB_F32, 1, (int64_t[]){2}), *seq = NULL, *shape = NULL;
    assert_int_equal(odb_tensor_new_shape(&shape, ODB_F32, 1, (int64_t[]){2}, &err), ODB_OK);
    struct odb_tensor *items[] = {x, shape};
    assert_int_equal(odb_tensor_new_container(&seq, ODB_SEQUENCE, items, 2, &err), ODB_OK);
    check(seq, "sequence of 2\nitem 0: float (2,)\n[0. 1.]\nitem 1: float (2,)\nno values");
    odb_tensor_unref(seq);
    odb_tensor_unref(x);
    odb_tensor_unref(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print__as_numpy_does),
        cmocka_unit_test(test_print__summaries),
        cmocka_unit_test(test_print__many_dimensions_stay_readable),
        cmocka_unit_test(test_print__options),
        cmocka_unit_test(test_print__complex),
        cmocka_unit_test(test_print__strings),
        cmocka_unit_test(test_print__narrow_types),
        cmocka_unit_test(test_print__containers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
