/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Microseconds of one call of each family of kernels, on one thread: the least of many, so that
 * what else the machine does counts little. One line per family: its name, a tab, the time.
 */
#include <time.h>

#include "tests/help/op_case.h"

static const struct {
    const char *family;
    struct op_call call;
} families[] = {
    {"product", OP("MatMul", 13, NULL, {"float[192,512] random 1", "float[512,384] random 2"})},
    {"product-turned",
     OP("Gemm", 13, "transB=1", {"float[192,512] random 1", "float[384,512] random 2"})},
    {"product-row", OP("MatMul", 13, NULL, {"float[1,256] random 1", "float[256,256] random 2"})},
    {"product-double",
     OP("MatMul", 13, NULL, {"double[192,512] random 1", "double[512,384] random 2"})},
    {"product-integers",
     OP("MatMulInteger", 10, NULL, {"uint8[192,512] random 1", "int8[512,384] random 2"})},
    {"product-noisy",
     {.op = "MatMul",
      .opset = 13,
      .precision = ODB_PREC_NOISY,
      .in = {"float[192,512] random 1", "float[512,384] random 2"}}},
    {"convolution",
     OP("Conv", 11, "pads=1,1,1,1,", {"float[1,32,40,40] random 1", "float[64,32,3,3] random 2"})},
    {"convolution-depthwise", OP("Conv", 11, "group=64 pads=1,1,1,1,",
                                 {"float[1,64,40,40] random 1", "float[64,1,3,3] random 2"})},
    {"attention", OP("Attention", 23, NULL,
                     {"float[1,4,128,64] random 1", "float[1,4,128,64] random 2",
                      "float[1,4,128,64] random 3"})},
    {"softmax", OP("Softmax", 13, NULL, {"float[128,512] random 1"})},
    {"norm",
     OP("LayerNormalization", 17, NULL, {"float[128,512] random 1", "float[512] random 2"})},
    {"sigmoid", OP("Sigmoid", 13, NULL, {"float[65536] random 1"})},
    {"add", OP("Add", 14, NULL, {"float[65536] random 1", "float[65536] random 2"})},
    {"pool", OP("AveragePool", 19, "kernel_shape=3,3,", {"float[1,64,40,40] random 1"})},
    {"half", OP("Cast", 13, "to=1", {"float16[65536] random 1"})},
};

/* Seconds of this thread on a processor. */
static double families_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Microseconds; of some 0.15 seconds of calls, at least 3. */
static double families_time(const struct op_call *c)
{
    struct odb_tensor *in[OP_MAX_IN], *out[OP_MAX_OUT];
    struct odb_error err = ODB_ERROR_INIT;
    double least = INFINITY, begin = families_clock();
    int n = 0;
    for (; n < OP_MAX_IN && c->in[n]; n++)
        in[n] = op_tensor(c->in[n]);
    for (int i = 0; i < 3 || families_clock() - begin < 0.15; i++) {
        double before = families_clock();
        if (op_run(c, n, in, 1, out, &err) != ODB_OK) {
            fprintf(stderr, "families: %s: %s\n", c->op, err.what);
            exit(1);
        }
        least = fmin(least, families_clock() - before);
        odb_tensor_unref(out[0]);
    }
    for (int i = 0; i < n; i++)
        odb_tensor_unref(in[i]);
    return 1e6 * least;
}

int main(void)
{
    odb_parallel_set_threads(1);
    for (size_t i = 0; i < ODB_COUNT(families); i++)
        printf("%s\t%.1f\n", families[i].family, families_time(&families[i].call));
    return 0;
}
