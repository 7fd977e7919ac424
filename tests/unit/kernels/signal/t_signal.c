/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/help/op_case.h"

/* One output of a call that must succeed. */
static struct odb_tensor *run_one(const char *op, int opset, const char *attrs, const char *a,
                                  const char *b, const char *c, const char *d)
{
    struct odb_tensor *out = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct op_call call = {op, opset, attrs, {a, b, c, d}};
    if (op_run_text(&call, 1, &out, &err) != ODB_OK)
        fail_msg("%s: %s", op, err.what);
    return out;
}

/* By the definition, in long double. */
static void dft_direct(const struct odb_tensor *x, size_t n, size_t k, bool inverse, double *v)
{
    long double re = 0, im = 0;
    size_t parts = (size_t)x->dims[x->rank - 1];
    for (size_t i = 0; i < n; i++) {
        long double angle = 2 * M_PIl * (long double)(i * k % n) / (long double)n;
        long double c = cosl(angle), s = inverse ? sinl(angle) : -sinl(angle);
        long double a = odb_tensor_f64(x, i * parts);
        long double b = parts == 2 ? odb_tensor_f64(x, i * parts + 1) : 0;
        re += a * c - b * s;
        im += a * s + b * c;
    }
    v[0] = (double)(inverse ? re / (long double)n : re);
    v[1] = (double)(inverse ? im / (long double)n : im);
}

/* Lengths with small, repeated and large prime factors. */
static void test_signal__dft_is_its_definition(void **state)
{
    static const size_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 30, 49, 64, 97, 100, 210};
    for (size_t l = 0; l < ODB_COUNT(lengths); l++)
        for (int inverse = 0; inverse < 2; inverse++)
            for (int parts = 1; parts <= 2; parts++) {
                char text[60];
                size_t n = lengths[l];
                snprintf(text, sizeof text, "double[1,%zu,%d] random %zu", n, parts, n);
                struct odb_tensor *x = op_tensor(text);
                struct odb_tensor *y =
                    run_one("DFT", 20, inverse ? "inverse=1" : NULL, text, NULL, NULL, NULL);
                assert_int_equal(y->dims[1], n);
                assert_int_equal(y->dims[2], 2);
                for (size_t k = 0; k < n; k++) {
                    double want[2];
                    dft_direct(x, n, k, inverse, want);
                    assert_true(fabs(odb_tensor_f64(y, 2 * k) - want[0]) < 1e-13 * (double)(n + 4));
                    assert_true(fabs(odb_tensor_f64(y, 2 * k + 1) - want[1]) <
                                1e-13 * (double)(n + 4));
                }
                odb_tensor_unref(x);
                odb_tensor_unref(y);
            }
}

static void test_signal__dft_axes_and_lengths(void **state)
{
    const char *ones = "float[2,3,1] 1 1 1 1 1 1";
    OP_EXPECT(1e-6, OP("DFT", 20, NULL, {ones, "-", "int64[] 0"}),
              "float[2,3,2] 2 0 2 0 2 0 0 0 0 0 0 0");
    OP_EXPECT(1e-6, OP("DFT", 17, "axis=-2 onesided=1", {ones}), "float[2,2,2] 3 0 0 0 3 0 0 0");
    /* padded with zeros, and cut */
    OP_EXPECT(1e-6, OP("DFT", 20, NULL, {"float[1,2,1] 1 1", "int64[] 4"}),
              "float[1,4,2] 2 0 1 -1 0 0 1 1");
    OP_EXPECT(1e-6, OP("DFT", 20, NULL, {"float[1,3,1] 1 2 9", "int64[] 2"}),
              "float[1,2,2] 3 0 -1 0");
    /* one side of a spectrum becomes a real signal; imaginary parts that cannot be are ignored */
    OP_EXPECT(1e-6, OP("DFT", 20, "inverse=1 onesided=1", {"float[1,3,2] 10 5 -2 2 -2 7"}),
              "float[1,4,1] 1 2 3 4");
    OP_REFUSES("takes real input", OP("DFT", 20, "onesided=1", {"float[1,3,2] 0 0 0 0 0 0"}));
    OP_REFUSES("real and imaginary", OP("DFT", 17, "axis=2", {"float[1,3,2] 0 0 0 0 0 0"}));
    OP_REFUSES("dft_length is 0", OP("DFT", 20, NULL, {"float[1,3,2] 0 0 0 0 0 0", "int64[] 0"}));
    OP_REFUSES("last dimension", OP("DFT", 20, NULL, {"float[4] 0 0 0 0"}));
}

/* A frame of STFT is the DFT of a windowed piece. */
static void test_signal__stft_is_dft_of_frames(void **state)
{
    struct odb_tensor *x = op_tensor("double[2,20,1] random 5");
    struct odb_tensor *w = op_tensor("double[8] random 6");
    struct odb_tensor *y = run_one("STFT", 17, NULL, "double[2,20,1] random 5", "int64[] 3",
                                   "double[8] random 6", "int64[] 8");
    assert_int_equal(y->dims[1], 5);
    assert_int_equal(y->dims[2], 5);
    for (size_t b = 0; b < 2; b++)
        for (size_t f = 0; f < 5; f++) {
            struct odb_tensor *piece;
            double data[8];
            for (size_t i = 0; i < 8; i++)
                data[i] = odb_tensor_f64(x, b * 20 + f * 3 + i) * odb_tensor_f64(w, i);
            assert_int_equal(
                odb_tensor_copy_of(&piece, ODB_F64, 3, (int64_t[]){1, 8, 1}, data, NULL), ODB_OK);
            for (size_t k = 0; k < 5; k++) {
                double want[2];
                dft_direct(piece, 8, k, false, want);
                for (size_t c = 0; c < 2; c++)
                    assert_true(fabs(odb_tensor_f64(y, ((b * 5 + f) * 5 + k) * 2 + c) - want[c]) <
                                1e-12);
            }
            odb_tensor_unref(piece);
        }
    odb_tensor_unref(x);
    odb_tensor_unref(w);
    odb_tensor_unref(y);
    OP_REFUSES("takes real input",
               OP("STFT", 17, NULL, {"float[1,4,2] 0 0 0 0 0 0 0 0", "int64[] 1"}));
    OP_REFUSES("frame_step is 0", OP("STFT", 17, NULL, {"float[1,4,1] 0 0 0 0", "int64[] 0"}));
}

static void test_signal__windows(void **state)
{
    OP_EXPECT(1e-7, OP("HannWindow", 17, NULL, {"int64[] 4"}), "float[4] 0 .5 1 .5");
    OP_EXPECT(1e-15, OP("HannWindow", 17, "periodic=0 output_datatype=11", {"int32[] 3"}),
              "double[3] 0 1 0");
    OP_EXPECT(1e-7, OP("BlackmanWindow", 17, NULL, {"int64[] 2"}), "float[2] 0 1");
    OP_EXPECT(1e-7, OP("HammingWindow", 17, NULL, {"int64[] 2"}), "float[2] 0.0869565217 1");
    OP_EXPECT(0, OP("HannWindow", 17, NULL, {"int64[] 0"}), "float[0]");
    OP_REFUSES("size is -1", OP("HannWindow", 17, NULL, {"int64[] -1"}));
    OP_REFUSES("no type of numbers", OP("HannWindow", 17, "output_datatype=8", {"int64[] 4"}));
}

static void test_signal__mel_stays_within_the_spectrum(void **state)
{
    struct odb_tensor *out = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    struct op_call call = {
        "MelWeightMatrix",
        17,
        NULL,
        {"int64[] 8", "int64[] 16", "int64[] 8192", "float[] 0", "float[] 40000"}};
    assert_int_equal(op_run_text(&call, 1, &out, &err), ODB_E_OPERATOR);
    assert_non_null(strstr(err.what, "does not have"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal__dft_is_its_definition),
        cmocka_unit_test(test_signal__dft_axes_and_lengths),
        cmocka_unit_test(test_signal__stft_is_dft_of_frames),
        cmocka_unit_test(test_signal__windows),
        cmocka_unit_test(test_signal__mel_stays_within_the_spectrum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
