/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far sums are from exact ones. A sum of n terms may be off by so many units of rounding, 2^-53
 * in double and 2^-24 in float, of the sum of the terms' magnitudes (Higham, Accuracy and Stability
 * of Numerical Algorithms, 2002, ch. 4): n - 1 if they are added in order, about log2 n in pairs or
 * lanes. The exact sum is taken in long double with Neumaier's compensation. What is measured is
 * printed; what is asserted is the row's limit.
 */
#include "tests/help/op_case.h"

/* Long double with the part that was lost: some 128 bits. */
struct exact {
    long double sum, lost, magnitude;
};

static void exact_add(struct exact *e, long double v)
{
    long double next = e->sum + v;
    e->lost += fabsl(e->sum) >= fabsl(v) ? (e->sum - next) + v : (v - next) + e->sum;
    e->sum = next;
    e->magnitude += fabsl(v);
}

/* One output that is a sum over the elements of a, or of products of a and b. */
enum accuracy_sum { SUM_OF_A, MEAN_OF_A, SUM_OF_PRODUCTS, SUM_OF_SQUARES };

struct accuracy {
    const char *op;
    int opset;
    const char *attrs;
    const char *shape_a, *shape_b; /* b NULL: none */
    enum accuracy_sum sum;
    double limit[2]; /* units of rounding in double, and in float */
};

/* Sums in double are rounded once when they become float: half a unit of the result, at most one
 * of the magnitudes. Products of matrices are added by the matrix kernel in their own type. */
static const struct accuracy accuracies[] = {
    {"ReduceSum", 13, "keepdims=0", "100000", NULL, SUM_OF_A, {4, 1}},
    {"ReduceSum", 13, "keepdims=0", "1000,100", NULL, SUM_OF_A, {8, 1}},
    {"ReduceMean", 13, "keepdims=0", "100000", NULL, MEAN_OF_A, {4, 1}},
    {"ReduceSumSquare", 13, "keepdims=0", "100000", NULL, SUM_OF_SQUARES, {20, 1}},
    {"GlobalAveragePool", 1, NULL, "1,1,300,300", NULL, MEAN_OF_A, {8, 1}},
    {"AveragePool", 11, "kernel_shape=90,90", "1,1,90,90", NULL, MEAN_OF_A, {100, 1}},
    {"Sum", 13, NULL, "1", "1", SUM_OF_A, {1, 1}},
    {"MatMul", 13, NULL, "1,50000", "50000,1", SUM_OF_PRODUCTS, {200, 200}},
    {"MatMul", 13, NULL, "50000", "50000", SUM_OF_PRODUCTS, {200, 200}},
    {"Gemm", 13, NULL, "1,50000", "50000,1", SUM_OF_PRODUCTS, {200, 200}},
    {"Conv", 11, NULL, "1,500,10,10", "1,500,10,10", SUM_OF_PRODUCTS, {200, 200}},
    {"Conv", 11, NULL, "1,1,9,9", "1,1,9,9", SUM_OF_PRODUCTS, {20, 20}},
    {"Einsum", 12, "equation=i,i->", "50000", "50000", SUM_OF_PRODUCTS, {200, 200}},
};

static struct odb_tensor *accuracy_tensor(enum odb_dtype dtype, const char *shape, int seed)
{
    char text[100];
    snprintf(text, sizeof text, "%s[%s] random %d", odb_dtype_info(dtype)->name, shape, seed);
    return op_tensor(text);
}

/* Error of the kernel in units of rounding of the magnitudes. */
static double accuracy_measure(const struct accuracy *row, enum odb_dtype dtype)
{
    struct odb_tensor *in[2] = {accuracy_tensor(dtype, row->shape_a, 7)}, *out = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct exact e = {0};
    int n_in = row->shape_b ? 2 : 1;
    if (row->shape_b)
        in[1] = accuracy_tensor(dtype, row->shape_b, 8);
    struct op_call call = {row->op, row->opset, row->attrs, {NULL}};
    if (op_run(&call, n_in, in, 1, &out, &err) != ODB_OK)
        fail_msg("%s: %s", row->op, err.what);
    for (size_t i = 0; i < in[0]->count; i++) {
        long double a = odb_tensor_f64(in[0], i);
        long double b = in[1] ? (long double)odb_tensor_f64(in[1], i) : a;
        exact_add(&e, row->sum == SUM_OF_A || row->sum == MEAN_OF_A ? a : a * b);
        if (in[1] && row->sum == SUM_OF_A)
            exact_add(&e, b);
    }
    long double scale = row->sum == MEAN_OF_A ? (long double)in[0]->count : 1;
    long double want = (e.sum + e.lost) / scale, got = odb_tensor_f64(out, 0);
    double unit = dtype == ODB_F64 ? 0x1p-53 : 0x1p-24;
    assert_int_equal(out->count, 1);
    for (int i = 0; i < n_in; i++)
        odb_tensor_unref(in[i]);
    odb_tensor_unref(out);
    return (double)(fabsl(got - want) / (e.magnitude / scale)) / unit;
}

static void test_accuracy__sums_against_exact_ones(void **state)
{
    int beyond = 0;
    print_message("error in 2^-53 (double) and 2^-24 (float) of the sum of magnitudes:\n");
    for (size_t i = 0; i < ODB_COUNT(accuracies); i++) {
        const struct accuracy *row = &accuracies[i];
        double wide = accuracy_measure(row, ODB_F64), narrow = accuracy_measure(row, ODB_F32);
        print_message("  %-18s %-12s %8.4f %8.4f\n", row->op, row->shape_a, wide, narrow);
        if (!(wide <= row->limit[0] && narrow <= row->limit[1])) {
            print_message("    more than %g, %g\n", row->limit[0], row->limit[1]);
            beyond++;
        }
    }
    assert_int_equal(beyond, 0);
}

/* Terms that cancel: a sum in float would lose everything, one in double nothing. */
static void test_accuracy__float_sums_are_taken_in_double(void **state)
{
    static const char *const ops[] = {"ReduceSum", "ReduceMean", "GlobalAveragePool", "CumSum"};
    for (size_t i = 0; i < ODB_COUNT(ops); i++) {
        struct odb_tensor *out = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        bool scan = i == 3;
        struct op_call call = {ops[i],
                               13,
                               i < 2 ? "keepdims=0" : NULL,
                               {i == 2 ? "float[1,1,4] 1e8 1 -1e8 1" : "float[4] 1e8 1 -1e8 1",
                                scan ? "int64[] 0" : NULL}};
        if (op_run_text(&call, 1, &out, &err) != ODB_OK)
            fail_msg("%s: %s", ops[i], err.what);
        double last = odb_tensor_f64(out, out->count - 1);
        if (!(fabs(last - (i == 1 || i == 2 ? 0.5 : 2)) < 1e-9))
            fail_msg("%s gives %g", ops[i], last);
        odb_tensor_unref(out);
    }
}

/* What adds up one by one, in a model of doubles, is near to what adds up in lanes. */
static void test_accuracy__one_by_one_in_double(void **state)
{
    static const struct op_call calls[] = {
        OP("ArgMax", 13, NULL, {"double[7,9] random 1"}),
        OP("Attention", 23, "is_causal=1 softcap=2f",
           {"double[1,2,5,8] random 1", "double[1,2,6,8] random 2", "double[1,2,6,8] random 3",
            "double[5,6] random 4"}),
        OP("Attention", 23, NULL,
           {"double[1,2,5,8] random 1", "double[1,2,6,8] random 2", "double[1,2,6,8] random 3",
            "bool[5,6] 1 1 0 1 1 0 0 0 0 0 0 0 1 1 1 1 1 1 0 1 1 1 1 1 1 0 0 0 0 0"}),
        OP("AveragePool", 11, "kernel_shape=3,3, pads=1,1,1,1,", {"double[2,3,8,9] random 1"}),
        OP("MaxPool", 12, "kernel_shape=3,3, strides=2,2,", {"double[2,3,8,9] random 1"}),
        OP("LpPool", 11, "kernel_shape=3,3, p=3", {"double[2,3,8,9] random 1"}),
        OP("GlobalAveragePool", 1, NULL, {"double[2,3,8,9] random 1"}),
        OP("Conv", 11, "pads=1,1,1,1,",
           {"double[2,4,8,9] random 1", "double[6,4,3,3] random 2", "double[6] random 3"}),
        OP("Conv", 11, "group=4", {"double[2,4,8,9] random 1", "double[4,1,3,3] random 2"}),
        OP("ConvTranspose", 11, "strides=2,2,",
           {"double[2,4,5,6] random 1", "double[4,3,3,3] random 2"}),
        OP("DeformConv", 19, NULL,
           {"double[1,2,5,5] random 1", "double[3,2,2,2] random 2", "double[1,8,4,4] random 3"}),
        OP("Det", 11, NULL, {"double[3,5,5] random 1"}),
        OP("DFT", 17, NULL, {"double[2,12,1] random 1"}),
        OP("Gemm", 13, "alpha=0.5f",
           {"double[5,30] random 1", "double[30,6] random 2", "double[6] random 3"}),
        OP("MatMul", 13, NULL, {"double[5,30] random 1", "double[30,6] random 2"}),
        OP("Softmax", 13, NULL, {"double[5,30] random 1"}),
        OP("SoftmaxCrossEntropyLoss", 13, NULL, {"double[5,7] random 1", "int64[5] 0 6 2 3 1"}),
        OP("LRN", 13, "size=3", {"double[2,6,3,3] random 1"}),
        OP("BatchNormalization", 15, NULL,
           {"double[2,3,4] random 1", "double[3] random 2", "double[3] random 3",
            "double[3] random 4", "double[3] 1 2 3"}),
        OP("InstanceNormalization", 6, NULL,
           {"double[2,3,9] random 1", "double[3] random 2", "double[3] random 3"}),
        OP("GroupNormalization", 21, "num_groups=2",
           {"double[2,4,9] random 1", "double[4] random 2", "double[4] random 3"}),
        OP("LayerNormalization", 17, NULL, {"double[4,30] random 1", "double[30] random 2"}),
        OP("LpNormalization", 1, NULL, {"double[4,30] random 1"}),
        OP("MeanVarianceNormalization", 13, NULL, {"double[2,3,4,4] random 1"}),
        OP("ReduceSum", 13, NULL, {"double[30,40] random 1", "int64[1] 0"}),
        OP("ReduceL2", 18, NULL, {"double[30,40] random 1", "int64[1] 1"}),
        OP("CumSum", 14, NULL, {"double[30,4] random 1", "int64[] 0"}),
        OP("RNN", 14, "hidden_size=3",
           {"double[4,2,5] random 1", "double[1,3,5] random 2", "double[1,3,3] random 3"}),
        OP("GRU", 14, "hidden_size=3",
           {"double[4,2,5] random 1", "double[1,9,5] random 2", "double[1,9,3] random 3"}),
        OP("GRU", 14, "hidden_size=3 linear_before_reset=1",
           {"double[4,2,5] random 1", "double[1,9,5] random 2", "double[1,9,3] random 3"}),
        OP("LSTM", 14, "hidden_size=3",
           {"double[4,2,5] random 1", "double[1,12,5] random 2", "double[1,12,3] random 3",
            "double[1,24] random 4", "-", "-", "-", "double[1,9] random 5"}),
        OP("Resize", 19, "mode=cubic",
           {"double[1,1,5,6] random 1", "-", "-", "int64[4] 1 1 10 12"}),
        OP("RotaryEmbedding", 23, NULL,
           {"double[1,2,5,8] random 1", "double[1,5,4] random 2", "double[1,5,4] random 3"}),
        OP("LinearAttention", 27, "q_num_heads=2 kv_num_heads=2",
           {"double[1,5,8] random 1", "double[1,5,8] random 2", "double[1,5,8] random 3", "-",
            "double[1,5,2] random 4", "double[1,5,2] random 5"}),
        OP("CausalConvWithState", 27, NULL, {"double[2,3,7] random 1", "double[3,1,4] random 2"}),
    };
    for (size_t i = 0; i < ODB_COUNT(calls); i++)
        op_expect_modes(&calls[i], 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy__sums_against_exact_ones),
        cmocka_unit_test(test_accuracy__float_sums_are_taken_in_double),
        cmocka_unit_test(test_accuracy__one_by_one_in_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
