/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pools: edges of windows by hand, everything else in all modes and numbers of threads.
 */
#include "tests/help/op_case.h"

#define POOL(name, text, ...) OP(name, 22, text, __VA_ARGS__)

static void test_pool__max(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2, strides=2,", {"float[1,1,5] 1 3 2 5 9"}),
              "float[1,1,2] 3 5");
    OP_EXPECT(0,
              POOL("MaxPool", "kernel_shape=2, strides=2, ceil_mode=1", {"float[1,1,5] 1 3 2 5 9"}),
              "float[1,1,3] 3 5 9");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=3, pads=1,1", {"float[1,1,3] -1 -3 -2"}),
              "float[1,1,3] -1 -1 -2");
    OP_EXPECT(
        0, POOL("MaxPool", "kernel_shape=2,2 dilations=2,1", {"float[1,1,3,3] 1 2 3 4 5 6 7 8 0"}),
        "float[1,1,1,2] 8 8");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2, auto_pad=SAME_LOWER", {"float16[1,1,3] 1 3 2"}),
              "float16[1,1,3] 1 3 3");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"int8[1,2,3] -1 -3 -128 -128 -128 5"}),
              "int8[1,2,2] -1 -3 -128 5");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"uint8[1,1,3] 1 200 7"}),
              "uint8[1,1,2] 200 200");
}

static void test_pool__nan_wins(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"float[1,1,5] 1 nan 2 -inf inf"}),
              "float[1,1,4] nan nan 2 inf");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"float[1,1,4] 1 nan nan 2"}),
              "float[1,1,3] nan nan nan", "int64[1,1,3] 1 1 2");
    OP_EXPECT(0, POOL("GlobalMaxPool", NULL, {"float[1,2,3] 1 nan 2 -inf -inf -inf"}),
              "float[1,2,1] nan -inf");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2,", {"float[1,1,4] 1 inf 2 nan"}),
              "float[1,1,3] inf inf nan");
}

static void test_pool__indices(void **state)
{
    (void)state;
    OP_EXPECT(0,
              POOL("MaxPool", "kernel_shape=2,2 pads=1,1,0,0", {"float[1,2,2,2] 1 2 2 0 5 5 5 5"}),
              "float[1,2,2,2] 1 2 2 2 5 5 5 5", "int64[1,2,2,2] 0 1 2 1 4 4 4 4");
    OP_EXPECT(0,
              POOL("MaxPool", "kernel_shape=1,2 storage_order=1",
                   {"float[1,2,2,3] 1 2 0 0 4 9 1 2 0 0 4 9"}),
              "float[1,2,2,2] 2 2 4 9 2 2 4 9", "int64[1,2,2,2] 2 2 3 5 8 8 9 11");
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"int8[1,1,3] -128 -128 -128"}),
              "int8[1,1,2] -128 -128", "int64[1,1,2] 0 1");
}

static void test_pool__windows_that_start_beyond_the_input(void **state)
{
    (void)state;
    /* four windows fit with rounding up; the last would start on the trailing pad */
    OP_EXPECT(0,
              POOL("MaxPool", "kernel_shape=2, strides=3, pads=0,1 ceil_mode=1",
                   {"float[1,1,6] 1 2 3 4 5 6"}),
              "float[1,1,2] 2 5");
    OP_EXPECT(0,
              POOL("AveragePool",
                   "kernel_shape=3, strides=3, pads=1,1 ceil_mode=1 count_include_pad=1",
                   {"float[1,1,5] 3 6 9 12 15"}),
              "float[1,1,2] 3 12");
    /* the last window reaches beyond the input: what is not there does not count */
    OP_EXPECT(0,
              POOL("AveragePool", "kernel_shape=3, strides=2, ceil_mode=1 count_include_pad=1",
                   {"float[1,1,4] 3 6 9 12"}),
              "float[1,1,2] 6 10.5");
}

static void test_pool__average(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=3, pads=1,1", {"float[1,1,3] 3 6 9"}),
              "float[1,1,3] 4.5 6 7.5");
    OP_EXPECT(
        0,
        POOL("AveragePool", "kernel_shape=3, pads=1,1 count_include_pad=1", {"float[1,1,3] 3 6 9"}),
        "float[1,1,3] 3 6 5");
    OP_EXPECT(0,
              POOL("AveragePool", "kernel_shape=2, dilations=2, pads=1,2 count_include_pad=1",
                   {"float[1,1,3] 2 4 6"}),
              "float[1,1,4] 2 4 2 3");
    OP_EXPECT(0,
              POOL("AveragePool", "kernel_shape=2, strides=2, ceil_mode=1", {"float[1,1,3] 2 4 6"}),
              "float[1,1,2] 3 6");
    OP_EXPECT(0,
              POOL("AveragePool", "kernel_shape=2,2 auto_pad=SAME_UPPER strides=2,2",
                   {"float[1,1,3,3] 1 2 3 4 5 6 7 8 9"}),
              "float[1,1,2,2] 3 4.5 7.5 9");
    OP_EXPECT(0, POOL("GlobalAveragePool", NULL, {"double[1,2,1,2,2] 1 2 3 4 0 0 0 1"}),
              "double[1,2,1,1,1] 2.5 0.25");
}

static void test_pool__powers(void **state)
{
    (void)state;
    OP_EXPECT(1e-7, POOL("LpPool", "kernel_shape=2,", {"float[1,1,3] 3 -4 3"}), "float[1,1,2] 5 5");
    OP_EXPECT(1e-7,
              POOL("LpPool", "kernel_shape=2, p=1 strides=2, pads=1,0", {"float[1,1,3] 3 -4 3"}),
              "float[1,1,2] 3 7");
    OP_EXPECT(1e-7, OP("LpPool", 1, "kernel_shape=2, p=3f", {"float[1,1,2] 3 -4"}),
              "float[1,1,1] 4.4979414");
    OP_EXPECT(1e-7, OP("GlobalLpPool", 1, "p=1f", {"float[1,1,2] 3 -4"}), "float[1,1,1] 7");
    OP_EXPECT(1e-7, POOL("GlobalLpPool", NULL, {"float[1,1,2] 3 -4"}), "float[1,1,1] 5");
}

static void test_pool__unpool(void **state)
{
    (void)state;
    OP_EXPECT(
        0,
        POOL("MaxUnpool", "kernel_shape=2, strides=2,", {"float[1,1,2] 7 9", "int64[1,1,2] 1 2"}),
        "float[1,1,4] 0 7 9 0");
    OP_EXPECT(0,
              POOL("MaxUnpool", "kernel_shape=2, strides=2,",
                   {"float16[1,1,2] 7 9", "int64[1,1,2] 0 3", "int64[3] 1 1 5"}),
              "float16[1,1,5] 7 0 0 9 0");
    OP_EXPECT(0,
              POOL("MaxUnpool", "kernel_shape=1,2",
                   {"float[1,1,2,1] 7 9", "int64[1,1,2,1] 1 2", "int64[4] 1 1 2 3"}),
              "float[1,1,2,3] 0 7 0 9 0 0");
    op_expect_error(
        &(struct op_call)POOL("MaxUnpool", "kernel_shape=2,", {"float[1,1,1] 7", "int64[1,1,1] 2"}),
        ODB_E_OPERATOR);
}

static void test_pool__empty(void **state)
{
    (void)state;
    OP_EXPECT(0, POOL("MaxPool", "kernel_shape=2,", {"float[0,2,3]"}), "float[0,2,2]");
    OP_EXPECT(0, POOL("AveragePool", "kernel_shape=2,", {"float[2,0,3]"}), "float[2,0,2]");
    OP_EXPECT(0, POOL("GlobalAveragePool", NULL, {"float[1,1,0]"}), "float[1,1,1] nan");
}

static void test_pool__refuses(void **state)
{
    static const struct op_call calls[] = {
        POOL("MaxPool", NULL, {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=4,", {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=2,2", {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=0,", {"float[1,1,3] 1 2 3"}),
        POOL("MaxPool", "kernel_shape=1,", {"float[1,3] 1 2 3"}),
        POOL("AveragePool", "kernel_shape=2, strides=-1,", {"float[1,1,3] 1 2 3"}),
        POOL("GlobalMaxPool", NULL, {"float[3] 1 2 3"})};
    (void)state;
    op_expect_errors(calls, ODB_COUNT(calls));
    op_expect_error(
        &(struct op_call)POOL("MaxPool", "kernel_shape=2000000,2000000", {"float[1,1,1,1] 1"}),
        ODB_UNSUPPORTED);
}

static void test_pool__modes_and_threads(void **state)
{
    static const struct op_call calls[] = {
        POOL("MaxPool", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1",
             {"float[1,64,40,41] random 1"}),
        POOL("AveragePool", "kernel_shape=3,2 strides=2,1 pads=1,1,0,0 dilations=2,3",
             {"float[2,32,30,33] random 1"}),
        POOL("LpPool", "kernel_shape=2,2,2 p=3", {"float[1,20,9,10,11] random 1"}),
        POOL("GlobalAveragePool", NULL, {"float[3,30,40,41] random 1"}),
        POOL("GlobalMaxPool", NULL, {"float[3,30,40,41] random 1"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++) {
        op_expect_modes(&calls[i], 1e-6);
        op_expect_any_threads(&calls[i]);
    }
}

/* The path that tracks indices and the one that does not find the same maxima. */
static void test_pool__both_paths_agree(void **state)
{
    const struct op_call call = POOL("MaxPool",
                                     "kernel_shape=3,2 strides=2,3 pads=1,0,2,1 "
                                     "dilations=2,1 ceil_mode=1",
                                     {"float[2,3,17,19] random 5"});
    struct odb_tensor *one[1], *two[2];
    (void)state;
    assert_int_equal(op_run_text(&call, 1, one, NULL), ODB_OK);
    assert_int_equal(op_run_text(&call, 2, two, NULL), ODB_OK);
    assert_true(odb_tensor_identical(one[0], two[0]));
    struct odb_tensor *x = op_tensor(call.in[0]);
    for (size_t i = 0; i < two[0]->count; i++) {
        size_t index = (size_t)odb_tensor_i64(two[1], i);
        assert_true(odb_tensor_f64(x, index) == odb_tensor_f64(two[0], i));
    }
    odb_tensor_unref(x);
    odb_tensor_unref(one[0]);
    odb_tensor_unref(two[0]);
    odb_tensor_unref(two[1]);
}

/* --- random shapes, against the definition ---------------------------------------------------- */

struct shape {
    int rank;
    int64_t in[3], kernel[3], stride[3], dilation[3], before[3], after[3];
    bool include_pad;
};

/* Adds up (p = 0) or takes the greatest of what the window of result `at` sees of a channel x;
 * *n: how many elements an average counts. */
static double look(const struct shape *s, const struct odb_tensor *x, size_t channel,
                   const int64_t *at, bool max, int64_t *n)
{
    int64_t taps = 1, size = 1;
    double result = max ? -INFINITY : 0;
    for (int d = 0; d < s->rank; d++)
        taps *= s->kernel[d], size *= s->in[d];
    *n = 0;
    for (int64_t t = 0; t < taps; t++) {
        int64_t rest = t, element = 0, step = 1;
        bool inside = true, counts = true;
        for (int d = s->rank - 1; d >= 0; d--) {
            int64_t i = at[d] * s->stride[d] + rest % s->kernel[d] * s->dilation[d] - s->before[d];
            rest /= s->kernel[d];
            inside = inside && i >= 0 && i < s->in[d];
            counts = counts && i < s->in[d] + s->after[d];
            element += i * step;
            step *= s->in[d];
        }
        *n += s->include_pad ? counts : inside;
        double v = inside ? odb_tensor_f64(x, channel * (size_t)size + (size_t)element) : 0;
        if (inside)
            result = max ? fmax(result, v) : result + v;
    }
    return result;
}

static void check_random(uint64_t *state, bool max)
{
    struct shape s = {.rank = (int)op_between(state, 1, 3),
                      .include_pad = !max && op_between(state, 0, 1)};
    char x[100] = "float[2,3", attrs[700] = "", list[5][60] = {"", "", "", "", ""};
    static const char *const names[] = {"kernel_shape", "strides", "dilations", "pads"};
    for (int d = 0; d < s.rank; d++) {
        int64_t *const of[] = {s.kernel, s.stride, s.dilation, s.before, s.after};
        s.kernel[d] = op_between(state, 1, s.rank == 1 ? 9 : 5);
        s.stride[d] = op_between(state, 1, 4);
        s.dilation[d] = op_between(state, 1, 3);
        s.before[d] = op_between(state, 0, s.kernel[d] - 1);
        s.after[d] = op_between(state, 0, s.kernel[d] - 1);
        s.in[d] = (s.kernel[d] - 1) * s.dilation[d] + op_between(state, 1, s.rank == 3 ? 6 : 40);
        snprintf(x + strlen(x), 20, ",%lld", (long long)s.in[d]);
        for (int i = 0; i < 5; i++)
            snprintf(list[i] + strlen(list[i]), 20, "%lld,", (long long)of[i][d]);
    }
    snprintf(x + strlen(x), 20, "] random 1");
    snprintf(attrs, sizeof attrs, "ceil_mode=%d", (int)op_between(state, 0, 1));
    for (int i = 0; i < 4; i++)
        snprintf(attrs + strlen(attrs), 150, " %.14s=%.60s%.60s", names[i], list[i],
                 i == 3 ? list[4] : "");
    if (s.include_pad)
        snprintf(attrs + strlen(attrs), 30, " count_include_pad=1");
    struct op_call call = {
        .op = max ? "MaxPool" : "AveragePool", .opset = 19, .attrs = attrs, .in = {x}};
    struct odb_tensor *y = op_in_double(&call), *image = op_tensor(x);
    size_t per = odb_dims_product(y->dims, 2, y->rank);
    for (size_t i = 0; i < y->count; i++) {
        int64_t at[3], n, rest = (int64_t)(i % per);
        for (int d = s.rank - 1; d >= 0; d--) {
            at[d] = rest % y->dims[d + 2];
            rest /= y->dims[d + 2];
        }
        double want = look(&s, image, i / per, at, max, &n);
        want = max ? want : want / (double)n;
        if (n > 0 && !(fabs(want - odb_tensor_f64(y, i)) <= 1e-14))
            fail_msg("%s %s %s: element %zu is %.17g, expected %.17g", call.op, x, attrs, i,
                     odb_tensor_f64(y, i), want);
    }
    op_expect_modes(&call, max ? 0 : 1e-7);
    op_expect_any_threads(&call);
    odb_tensor_unref(y);
    odb_tensor_unref(image);
}

static void test_pool__random_shapes(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 200; i++)
        check_random(&seed, i % 2);
}

/* Maxima of small integers, one dimension at a time and with Indices one result at a time. */
static void test_pool__integers(void **state)
{
    const struct op_call call =
        POOL("MaxPool", "kernel_shape=5,5 pads=2,2,2,2", {"int8[1,3,20,31] random 7"});
    struct odb_tensor *one[1], *two[2];
    (void)state;
    assert_int_equal(op_run_text(&call, 1, one, NULL), ODB_OK);
    assert_int_equal(op_run_text(&call, 2, two, NULL), ODB_OK);
    assert_true(odb_tensor_identical(one[0], two[0]));
    odb_tensor_unref(one[0]);
    odb_tensor_unref(two[0]);
    odb_tensor_unref(two[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool__max),
        cmocka_unit_test(test_pool__nan_wins),
        cmocka_unit_test(test_pool__indices),
        cmocka_unit_test(test_pool__windows_that_start_beyond_the_input),
        cmocka_unit_test(test_pool__average),
        cmocka_unit_test(test_pool__powers),
        cmocka_unit_test(test_pool__unpool),
        cmocka_unit_test(test_pool__empty),
        cmocka_unit_test(test_pool__refuses),
        cmocka_unit_test(test_pool__modes_and_threads),
        cmocka_unit_test(test_pool__both_paths_agree),
        cmocka_unit_test(test_pool__random_shapes),
        cmocka_unit_test(test_pool__integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
