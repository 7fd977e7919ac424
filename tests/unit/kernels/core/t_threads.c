/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bits do not depend on the number of threads: operators of every family on operands that are large
 * enough to be cut, in the precisions that cut differently, and whole models.
 */
#include "inputs/inputs.h"
#include "interpret/cpu.h"
#include "tests/help/op_case.h"
#include "model/read/load.h"

static const int threads_counts[] = {1, 2, 5};

/* All outputs of a call, for each number of threads. */
static void threads_check(const struct op_call *c, int n_out)
{
    struct odb_tensor *in[OP_MAX_IN], *first[OP_MAX_OUT], *out[OP_MAX_OUT];
    int n = 0, before = odb_parallel_threads();
    for (; n < OP_MAX_IN && c->in[n]; n++)
        in[n] = op_tensor(c->in[n]);
    for (size_t i = 0; i < ODB_COUNT(threads_counts); i++) {
        struct odb_error err = ODB_ERROR_INIT;
        odb_parallel_set_threads(threads_counts[i]);
        if (op_run(c, n, in, n_out, i ? out : first, &err) != ODB_OK)
            fail_msg("%s: %s", c->op, err.what);
        for (int o = 0; i && o < n_out; o++) {
            if (!odb_tensor_identical(first[o], out[o]))
                fail_msg("%s (precision %d): output %d differs with %d threads", c->op,
                         c->precision, o, threads_counts[i]);
            odb_tensor_unref(out[o]);
        }
    }
    odb_parallel_set_threads(before);
    for (int o = 0; o < n_out; o++)
        odb_tensor_unref(first[o]);
    for (int i = 0; i < n; i++)
        odb_tensor_unref(in[i]);
}

#define BIG "float[64,70,40] random 1"
#define ROWS "float[300,700] random 2"
#define IMAGE "float[2,16,40,44] random 3"

static const struct threads_case {
    struct op_call call;
    int n_out;
} threads_cases[] = {
    {OP("MatMul", 13, NULL, {"float[300,700] random 1", "float[700,500] random 2"}), 1},
    {OP("MatMul", 13, NULL, {"double[200,300] random 1", "double[300,400] random 2"}), 1},
    {OP("MatMul", 13, NULL, {"float[12,130,64] random 1", "float[12,64,200] random 2"}), 1},
    {OP("MatMul", 13, NULL, {"float[700] random 1", "float[700,3000] random 2"}), 1},
    {OP("MatMul", 13, NULL, {"int32[200,300] random 1", "int32[300,400] random 2"}), 1},
    {OP("Gemm", 13, "transA=1 transB=1 alpha=0.5f beta=2f",
        {"float[500,300] random 1", "float[400,500] random 2", "float[400] random 3"}),
     1},
    {OP("MatMulInteger", 10, NULL, {"uint8[200,300] random 1", "int8[300,400] random 2"}), 1},
    {OP("Einsum", 12, "equation=bij,bkj->bik",
        {"float[8,100,120] random 1", "float[8,90,120] random 2"}),
     1},
    {OP("Conv", 11, "pads=1,1,1,1,", {IMAGE, "float[24,16,3,3] random 2", "float[24] random 4"}),
     1},
    {OP("Conv", 11, "group=16 pads=1,1,1,1,", {IMAGE, "float[16,1,3,3] random 2"}), 1},
    {OP("ConvTranspose", 11, "strides=2,2,", {IMAGE, "float[16,24,3,3] random 2"}), 1},
    {OP("MaxPool", 12, "kernel_shape=3,3, strides=2,2,", {IMAGE}), 2},
    {OP("AveragePool", 19, "kernel_shape=3,3,", {IMAGE}), 1},
    {OP("GlobalAveragePool", 1, NULL, {"float[4,64,50,50] random 1"}), 1},
    {OP("Resize", 13, "mode=cubic", {IMAGE, "-", "float[4] 1 1 1.7 2.3"}), 1},
    {OP("GridSample", 16, NULL, {IMAGE, "float[2,60,70,2] random 4"}), 1},
    {OP("BatchNormalization", 9, NULL,
        {IMAGE, "float[16] random 1", "float[16] random 2", "float[16] random 3",
         "float[16] 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7"}),
     1},
    {OP("LayerNormalization", 17, NULL, {ROWS, "float[700] random 4", "float[700] random 5"}), 3},
    {OP("InstanceNormalization", 6, NULL, {IMAGE, "float[16] random 1", "float[16] random 2"}), 1},
    {OP("LRN", 13, "size=5", {IMAGE}), 1},
    {OP("Softmax", 13, NULL, {ROWS}), 1},
    {OP("Softmax", 13, "axis=1", {BIG}), 1},
    {OP("LogSoftmax", 13, NULL, {ROWS}), 1},
    {OP("ReduceMean", 13, "axes=-1,", {BIG}), 1},
    {OP("ReduceSum", 11, "axes=0,", {BIG}), 1},
    {OP("ReduceL2", 13, NULL, {BIG}), 1},
    {OP("ReduceLogSumExp", 13, "axes=1,", {BIG}), 1},
    {OP("ReduceProd", 13, NULL, {BIG}), 1},
    {OP("ArgMax", 13, "axis=1", {BIG}), 1},
    {OP("CumSum", 14, NULL, {BIG, "int64[1] 1"}), 1},
    {OP("Erf", 13, NULL, {BIG}), 1},
    {OP("Gelu", 20, NULL, {BIG}), 1},
    {OP("Sigmoid", 13, NULL, {BIG}), 1},
    {OP("Add", 14, NULL, {BIG, "float[70,1] random 4"}), 1},
    {OP("Mul", 14, NULL, {"float16[64,70,40] random 1", "float16[40] random 4"}), 1},
    {OP("Transpose", 13, "perm=2,0,1,", {BIG}), 1},
    {OP("Gather", 13, "axis=1", {BIG, "int64[6] 3 1 4 1 5 9"}), 1},
    {OP("TopK", 11, "axis=1", {BIG, "int64[1] 5"}), 2},
    {OP("QuantizeLinear", 13, NULL, {BIG, "float[1] 0.01", "uint8[1] 128"}), 1},
    {OP("DynamicQuantizeLinear", 11, NULL, {BIG}), 3},
    {OP("QLinearMatMul", 10, NULL,
        {"uint8[200,300] random 1", "float[1] 0.1", "uint8[1] 3", "uint8[300,400] random 2",
         "float[1] 0.1", "uint8[1] 7", "float[1] 3", "uint8[1] 5"}),
     1},
    {OP("LSTM", 14, "hidden_size=96",
        {"float[40,20,64] random 1", "float[1,384,64] random 2", "float[1,384,96] random 3"}),
     3},
    {OP("GRU", 14, "hidden_size=96 linear_before_reset=1",
        {"float[40,20,64] random 1", "float[1,288,64] random 2", "float[1,288,96] random 3"}),
     2},
    {OP("RandomNormalLike", 1, NULL, {BIG}), 1},
};

static void test_threads__operators(void **state)
{
    static const enum odb_precision precisions[] = {ODB_PREC_NATIVE, ODB_PREC_F64, ODB_PREC_NOISY,
                                                    ODB_PREC_BF16};
    for (size_t i = 0; i < ODB_COUNT(threads_cases); i++)
        for (size_t p = 0; p < ODB_COUNT(precisions); p++) {
            struct op_call call = threads_cases[i].call;
            call.precision = precisions[p];
            threads_check(&call, threads_cases[i].n_out);
        }
}

/* --- models ----------------------------------------------------------------------------------- */

struct threads_model {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_feeds *feeds;
};

/* False: it is not one that can be run here. */
static bool threads_open(struct threads_model *m, const char *folder)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_input_options options = ODB_INPUT_OPTIONS_INIT;
    char *file = odb_xasprintf("%s/model.onnx", folder);
    char *data = odb_xasprintf("%s/test_data_set_0", folder);
    options.inputs_from = data;
    bool opened = odb_model_open(&m->model, file, &err) == ODB_OK &&
                  odb_cpu_new(&m->cpu, m->model, &err) == ODB_OK &&
                  odb_feeds_make(&m->feeds, m->model, &options, &err) == ODB_OK;
    free(file);
    free(data);
    return opened;
}

static struct odb_tensor **threads_run(const struct threads_model *m, int threads)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, m->model->graph->n_values);
    struct odb_cpu_run run = {.values = values, .free_dead = true, .overwrite = threads > 1};
    for (size_t f = 0; f < m->feeds->n; f++)
        values[m->feeds->items[f].value] = odb_tensor_ref(m->feeds->items[f].tensor);
    odb_parallel_set_threads(threads);
    assert_int_equal(odb_cpu_execute(m->cpu, &run, &err), ODB_OK);
    return values;
}

static void threads_drop(const struct threads_model *m, struct odb_tensor **values)
{
    for (size_t v = 0; v < m->model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

/* One thread keeps every operand as it is; more write over what dies: that changes nothing either.
 */
static void test_threads__models(void **state)
{
    const char *shared = getenv("ONNXDBG_SHARED");
    char *list = odb_xasprintf("%s/data/models/first.txt", shared ? shared : "../shared");
    FILE *f = fopen(list, "r");
    char name[200];
    int before = odb_parallel_threads(), n = 0;
    free(list);
    if (!f) {
        print_message("there are no shared models\n");
        skip();
    }
    while (fscanf(f, "%199s", name) == 1) {
        struct threads_model m = {NULL, NULL, NULL};
        char *folder = odb_xasprintf("%s/data/models/%s", shared ? shared : "../shared", name);
        bool opened = threads_open(&m, folder);
        struct odb_tensor **first = opened ? threads_run(&m, 1) : NULL;
        for (size_t i = 1; opened && i < ODB_COUNT(threads_counts); i++) {
            struct odb_tensor **values = threads_run(&m, threads_counts[i]);
            for (size_t o = 0; o < m.model->graph->n_outputs; o++) {
                int v = m.model->graph->outputs[o];
                if (first[v] && (!values[v] || !odb_tensor_identical(first[v], values[v])))
                    fail_msg("%s: %s differs with %d threads", name, m.model->graph->values[v].name,
                             threads_counts[i]);
                n += first[v] != NULL;
            }
            threads_drop(&m, values);
        }
        if (opened)
            threads_drop(&m, first);
        odb_feeds_free(m.feeds);
        odb_cpu_free(m.cpu);
        odb_model_free(m.model);
        free(folder);
    }
    fclose(f);
    odb_parallel_set_threads(before);
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads__operators),
        cmocka_unit_test(test_threads__models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
