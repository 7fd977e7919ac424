/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Once it has run, an operator asks the allocator for nothing when it runs again on operands of the
 * same shapes: results come out of the pool, scratch memory likewise.
 */
#include "tests/help/allocations.h"
#include "interpret/cpu.h"
#include "model/write/build.h"
#include "tests/help/op_case.h"
#include "model/read/load.h"

#define IMAGE "float[2,16,20,22] random 3"
#define ROWS "float[30,70] random 2"

static const struct steady_case {
    struct op_call call;
    int n_out;
} steady_cases[] = {
    {OP("Add", 14, NULL, {ROWS, "float[70] random 4"}), 1},
    {OP("Mul", 14, NULL, {"float16[30,70] random 1", "float16[70] random 4"}), 1},
    {OP("Add", 14, NULL, {"float[4,1,70] random 1", "float[30,1] random 4"}), 1},
    {OP("Where", 16, NULL, {"bool[30,70] random 1", ROWS, "float[] 0"}), 1},
    {OP("Relu", 14, NULL, {ROWS}), 1},
    {OP("Clip", 13, NULL, {ROWS, "float[] 0", "float[] 6"}), 1},
    {OP("Sigmoid", 13, NULL, {ROWS}), 1},
    {OP("Tanh", 13, NULL, {ROWS}), 1},
    {OP("Erf", 13, NULL, {ROWS}), 1},
    {OP("Gelu", 20, NULL, {ROWS}), 1},
    {OP("HardSwish", 14, NULL, {ROWS}), 1},
    {OP("LeakyRelu", 16, NULL, {ROWS}), 1},
    {OP("PRelu", 16, NULL, {IMAGE, "float[16,1,1] random 2"}), 1},
    {OP("Cast", 13, "to=7", {ROWS}), 1},
    {OP("MatMul", 13, NULL, {"float[30,70] random 1", "float[70,50] random 2"}), 1},
    {OP("MatMul", 13, NULL, {"float[1,70] random 1", "float[70,50] random 2"}), 1},
    {OP("MatMul", 13, NULL, {"float[4,3,30,64] random 1", "float[4,3,64,30] random 2"}), 1},
    {OP("Gemm", 13, "transB=1", {ROWS, "float[40,70] random 5", "float[40] random 3"}), 1},
    {OP("MatMulInteger", 10, NULL, {"uint8[20,30] random 1", "int8[30,40] random 2"}), 1},
    {OP("QLinearMatMul", 10, NULL,
        {"uint8[20,30] random 1", "float[1] 0.1", "uint8[1] 3", "uint8[30,40] random 2",
         "float[1] 0.1", "uint8[1] 7", "float[1] 3", "uint8[1] 5"}),
     1},
    {OP("Conv", 11, "pads=1,1,1,1,", {IMAGE, "float[24,16,3,3] random 2", "float[24] random 4"}),
     1},
    {OP("Conv", 11, NULL, {IMAGE, "float[24,16,1,1] random 2"}), 1},
    {OP("Conv", 11, "group=16 pads=1,1,1,1,", {IMAGE, "float[16,1,3,3] random 2"}), 1},
    {OP("Conv", 11, "group=2 strides=2,2,", {IMAGE, "float[8,8,3,3] random 2"}), 1},
    {OP("Conv", 11, NULL, {"float[1,8,90] random 1", "float[8,8,5] random 2"}), 1},
    {OP("ConvTranspose", 11, "strides=2,2,", {IMAGE, "float[16,24,3,3] random 2"}), 1},
    {OP("QLinearConv", 10, "pads=1,1,1,1,",
        {"uint8[1,8,12,12] random 1", "float[] 0.1", "uint8[] 3", "uint8[4,8,3,3] random 2",
         "float[] 0.1", "uint8[] 7", "float[] 3", "uint8[] 5"}),
     1},
    {OP("MaxPool", 12, "kernel_shape=3,3, strides=2,2,", {IMAGE}), 1},
    {OP("AveragePool", 19, "kernel_shape=3,3,", {IMAGE}), 1},
    {OP("GlobalAveragePool", 1, NULL, {IMAGE}), 1},
    {OP("Resize", 13, "mode=linear", {IMAGE, "-", "float[4] 1 1 2 2"}), 1},
    {OP("Resize", 13, "mode=nearest", {IMAGE, "-", "float[4] 1 1 2 2"}), 1},
    {OP("BatchNormalization", 9, NULL,
        {IMAGE, "float[16] random 1", "float[16] random 2", "float[16] random 3",
         "float[16] 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7"}),
     1},
    {OP("LayerNormalization", 17, NULL, {ROWS, "float[70] random 4", "float[70] random 5"}), 1},
    {OP("InstanceNormalization", 6, NULL, {IMAGE, "float[16] random 1", "float[16] random 2"}), 1},
    {OP("GroupNormalization", 21, "num_groups=4",
        {IMAGE, "float[16] random 1", "float[16] random 2"}),
     1},
    {OP("Softmax", 13, NULL, {ROWS}), 1},
    {OP("Softmax", 13, "axis=1", {IMAGE}), 1},
    {OP("ReduceMean", 13, "axes=-1,", {ROWS}), 1},
    {OP("ReduceMean", 13, "axes=2,3,", {IMAGE}), 1},
    {OP("ReduceSum", 13, NULL, {ROWS, "int64[1] 0"}), 1},
    {OP("ReduceMax", 13, NULL, {ROWS}), 1},
    {OP("ArgMax", 13, "axis=1", {ROWS}), 1},
    {OP("Transpose", 13, "perm=0,2,3,1,", {IMAGE}), 1},
    {OP("Reshape", 14, NULL, {ROWS, "int64[2] 70 30"}), 1},
    {OP("Flatten", 13, NULL, {IMAGE}), 1},
    {OP("Unsqueeze", 13, NULL, {ROWS, "int64[1] 0"}), 1},
    {OP("Squeeze", 13, NULL, {"float[1,70] random 1", "int64[1] 0"}), 1},
    {OP("Concat", 13, "axis=0", {ROWS, ROWS}), 1},
    {OP("Split", 13, "axis=1", {ROWS, "int64[2] 30 40"}), 2},
    {OP("Slice", 13, NULL, {ROWS, "int64[1] 2", "int64[1] 20", "int64[1] 0"}), 1},
    {OP("Gather", 13, NULL, {ROWS, "int64[5] 3 1 4 1 5"}), 1},
    {OP("Pad", 13, NULL, {ROWS, "int64[4] 1 1 1 1"}), 1},
    {OP("Expand", 13, NULL, {"float[70] random 1", "int64[2] 30 70"}), 1},
    {OP("Tile", 13, NULL, {ROWS, "int64[2] 2 2"}), 1},
    {OP("Shape", 13, NULL, {ROWS}), 1},
    {OP("ConstantOfShape", 9, NULL, {"int64[2] 30 70"}), 1},
    {OP("Range", 11, NULL, {"int64[] 0", "int64[] 30", "int64[] 1"}), 1},
    {OP("Equal", 13, NULL, {ROWS, ROWS}), 1},
    {OP("DepthToSpace", 13, "blocksize=2", {IMAGE}), 1},
    {OP("QuantizeLinear", 13, NULL, {ROWS, "float[] 0.01", "uint8[] 128"}), 1},
    {OP("DequantizeLinear", 13, NULL, {"uint8[30,70] random 1", "float[] 0.01", "uint8[] 128"}), 1},
    {OP("DynamicQuantizeLinear", 11, NULL, {ROWS}), 3},
    {OP("LSTM", 14, "hidden_size=16",
        {"float[5,2,8] random 1", "float[1,64,8] random 2", "float[1,64,16] random 3"}),
     3},
    {OP("GRU", 14, "hidden_size=16",
        {"float[5,2,8] random 1", "float[1,48,8] random 2", "float[1,48,16] random 3"}),
     2},
    {OP("com.microsoft::SkipLayerNormalization", 1, NULL,
        {"float[1,30,70] random 1", "float[1,30,70] random 2", "float[70] random 4"}),
     1},
    {OP("com.microsoft::FusedMatMul", 1, NULL, {ROWS, "float[70,50] random 2"}), 1},
};

/* How often memory is asked for in every run from the third on: a thread that had nothing to do
 * before may still want its own. */
static size_t steady_least(const struct steady_case *c)
{
    struct odb_tensor *in[OP_MAX_IN], *out[OP_MAX_OUT];
    struct odb_error err = ODB_ERROR_INIT;
    size_t least = SIZE_MAX;
    int n = 0;
    for (; n < OP_MAX_IN && c->call.in[n]; n++)
        in[n] = op_tensor(c->call.in[n]);
    for (int turn = 0; turn < 20 && least > 0; turn++) {
        size_t before = allocations;
        enum odb_status status = op_run(&c->call, n, in, c->n_out, out, &err);
        size_t calls = allocations - before;
        least = turn < 2 ? least : ODB_MIN(least, calls);
        if (status != ODB_OK)
            fail_msg("%s: %s", c->call.op, err.what);
        for (int o = 0; o < c->n_out; o++)
            odb_tensor_unref(out[o]);
    }
    for (int i = 0; i < n; i++)
        odb_tensor_unref(in[i]);
    return least;
}

static void test_steady__operators(void **state)
{
    size_t bad = 0;
    if (!ALLOCATIONS_COUNT)
        skip();
    for (size_t i = 0; i < ODB_COUNT(steady_cases); i++) {
        const struct op_call *call = &steady_cases[i].call;
        size_t calls = steady_least(&steady_cases[i]);
        if (calls > 0)
            print_message("%s %s: asks for memory %zu times in every run\n", call->op,
                          call->attrs ? call->attrs : "", calls);
        bad += calls > 0;
    }
    assert_int_equal(bad, 0);
}

/* --- whole models ----------------------------------------------------------------------------- */

/* A chain of n layers. */
static struct odb_model *steady_model(int n)
{
    struct odb_builder *b = odb_build_new("chain", 17);
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_tensor *w = op_tensor("float[32,32] random 1");
    struct odb_model *model = NULL;
    odb_build_input(b, "x0", ODB_F32, 2, (const int64_t[]){8, 32});
    odb_build_weight(b, "w", w);
    for (int i = 0; i < n; i++) {
        char in[60], out[30];
        snprintf(in, sizeof in, "x%d w", i);
        snprintf(out, sizeof out, "y%d", i);
        odb_build_node(b, "MatMul", "", in, out);
        snprintf(in, sizeof in, "y%d", i);
        snprintf(out, sizeof out, "x%d", i + 1);
        odb_build_node(b, i % 2 ? "Tanh" : "Softmax", "", in, out);
    }
    char last[30];
    snprintf(last, sizeof last, "x%d", n);
    odb_build_output(b, last);
    odb_build_bytes(b, &bytes);
    assert_int_equal(odb_model_open_bytes(&model, bytes.data, bytes.len, NULL, ".", "chain", NULL),
                     ODB_OK);
    odb_buf_dispose(&bytes);
    odb_tensor_unref(w);
    odb_build_free(b);
    return model;
}

static size_t steady_model_calls(int layers)
{
    struct odb_model *model = steady_model(layers);
    struct odb_cpu *cpu;
    struct odb_tensor *x = op_tensor("float[8,32] random 2");
    size_t n = model->graph->n_values, least = SIZE_MAX;
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, n);
    assert_int_equal(odb_cpu_new(&cpu, model, NULL), ODB_OK);
    for (int turn = 0; turn < 20 && least > 0; turn++) {
        struct odb_cpu_run run = {.values = values, .free_dead = true, .overwrite = true};
        values[model->graph->inputs[0]] = odb_tensor_ref(x);
        size_t before = allocations;
        assert_int_equal(odb_cpu_execute(cpu, &run, NULL), ODB_OK);
        size_t calls = allocations - before;
        least = turn < 3 ? least : ODB_MIN(least, calls);
        for (size_t v = 0; v < n; v++) {
            odb_tensor_unref(values[v]);
            values[v] = NULL;
        }
    }
    free(values);
    odb_tensor_unref(x);
    odb_cpu_free(cpu);
    odb_model_free(model);
    return least;
}

static void test_steady__models(void **state)
{
    if (!ALLOCATIONS_COUNT)
        skip();
    assert_int_equal(steady_model_calls(4), 0);
    assert_int_equal(steady_model_calls(200), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady__operators),
        cmocka_unit_test(test_steady__models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
