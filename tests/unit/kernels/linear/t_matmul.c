/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Matrix products: as fast as may be, in order, and by the three loops below.
 */
#include "kernels/linear/matmul.h"

#include "tests/help/op_case.h"

/* --- the product itself ----------------------------------------------------------------------- */

struct product {
    struct odb_gemm g;
    struct odb_tensor *a, *b, *c;
};

static struct product make_product(enum odb_dtype dtype, size_t m, size_t n, size_t k, bool ta,
                                   bool tb, bool accumulate, double alpha)
{
    char text[100];
    struct product p;
    const char *type = odb_dtype_info(dtype)->name;
    snprintf(text, sizeof text, "%s[%zu,%zu] random 1", type, ta ? k : m, (ta ? m : k) + 3);
    p.a = op_tensor(text);
    snprintf(text, sizeof text, "%s[%zu,%zu] random 2", type, tb ? n : k, (tb ? k : n) + 2);
    p.b = op_tensor(text);
    snprintf(text, sizeof text, "%s[%zu,%zu] random 3", type, m, n + 1);
    p.c = op_tensor(text);
    p.g = (struct odb_gemm){.dtype = dtype,
                            .trans_a = ta,
                            .trans_b = tb,
                            .accumulate = accumulate,
                            .m = m,
                            .n = n,
                            .k = k,
                            .a = p.a->data,
                            .b = p.b->data,
                            .c = p.c->data,
                            .lda = (size_t)p.a->dims[1],
                            .ldb = (size_t)p.b->dims[1],
                            .ldc = (size_t)p.c->dims[1],
                            .alpha = alpha};
    return p;
}

static void free_product(struct product *p)
{
    odb_tensor_unref(p->a);
    odb_tensor_unref(p->b);
    odb_tensor_unref(p->c);
}

static double plain_element(const struct product *p, const struct odb_tensor *c, size_t i, size_t j)
{
    const struct odb_gemm *g = &p->g;
    double sum = 0;
    for (size_t q = 0; q < g->k; q++)
        sum += odb_tensor_f64(p->a, g->trans_a ? q * g->lda + i : i * g->lda + q) *
               odb_tensor_f64(p->b, g->trans_b ? j * g->ldb + q : q * g->ldb + j);
    return g->alpha * sum + (g->accumulate ? odb_tensor_f64(c, i * g->ldc + j) : 0);
}

static void check_product(enum odb_dtype dtype, size_t m, size_t n, size_t k, double tol)
{
    for (int bits = 0; bits < 16; bits++) {
        bool ta = bits & 1, tb = bits & 2, accumulate = bits & 4, sequential = bits & 8;
        double alpha = odb_dtype_is_float(dtype) && ta ? 0.5 : 1;
        struct product p = make_product(dtype, m, n, k, ta, tb, accumulate, alpha);
        struct odb_tensor *before;
        assert_int_equal(odb_tensor_clone(&before, p.c, NULL), ODB_OK);
        p.g.sequential = sequential;
        assert_true(odb_gemm_batch(&p.g, 1, NULL, NULL, NULL));
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double want = plain_element(&p, before, i, j);
                double got = odb_tensor_f64(p.c, i * p.g.ldc + j);
                if (!(fabs(got - want) <= tol * (1 + sqrt((double)k))))
                    fail_msg("%zux%zux%zu, case %d: (%zu, %zu) is %.9g, expected %.9g", m, n, k,
                             bits, i, j, got, want);
            }
        for (size_t i = 0; i < m; i++) /* nothing beyond a row was touched */
            assert_true(odb_tensor_f64(p.c, i * p.g.ldc + n) ==
                        odb_tensor_f64(before, i * p.g.ldc + n));
        odb_tensor_unref(before);
        free_product(&p);
    }
}

static void test_matmul__every_shape_and_transposition(void **state)
{
    static const size_t shapes[][3] = {{1, 1, 1},  {1, 40, 7}, {40, 1, 7},  {5, 33, 9},
                                       {4, 32, 0}, {7, 65, 3}, {64, 70, 33}};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(shapes); i++) {
        check_product(ODB_F32, shapes[i][0], shapes[i][1], shapes[i][2], 1e-6);
        check_product(ODB_F64, shapes[i][0], shapes[i][1], shapes[i][2], 1e-14);
        check_product(ODB_I32, shapes[i][0], shapes[i][1], shapes[i][2], 0);
        check_product(ODB_I64, shapes[i][0], shapes[i][1], shapes[i][2], 0);
    }
}

static void test_matmul__blocks_of_a_large_product(void **state)
{
    (void)state;
    check_product(ODB_F32, 300, 410, 70, 1e-6);
}

static void test_matmul__sums_in_order(void **state)
{
    (void)state;
    float a[3] = {1e8f, 1, -1e8f}, b[3] = {1, 1, 1}, c = 7;
    struct odb_gemm g = {.dtype = ODB_F32,
                         .sequential = true,
                         .m = 1,
                         .n = 1,
                         .k = 3,
                         .a = a,
                         .b = b,
                         .c = &c,
                         .lda = 3,
                         .ldb = 1,
                         .ldc = 1,
                         .alpha = 1};
    assert_true(odb_gemm_run(&g));
    assert_true(c == 0); /* the 1 is lost beside 1e8 */
}

static void test_matmul__unaligned_operands(void **state)
{
    char bytes[200];
    float values[12], c[4];
    (void)state;
    for (int i = 0; i < 12; i++)
        values[i] = (float)i;
    memcpy(bytes + 1, values, sizeof values);
    struct odb_gemm g = {.dtype = ODB_F32,
                         .m = 2,
                         .n = 2,
                         .k = 3,
                         .a = bytes + 1,
                         .b = bytes + 1 + 6 * sizeof(float),
                         .c = c,
                         .lda = 3,
                         .ldb = 2,
                         .ldc = 2,
                         .alpha = 1};
    for (int sequential = 0; sequential < 2; sequential++) {
        g.sequential = sequential;
        assert_true(odb_gemm_run(&g));
        assert_true(c[0] == 28 && c[1] == 31 && c[2] == 100 && c[3] == 112);
    }
}

/* --- MatMul ----------------------------------------------------------------------------------- */

static void test_matmul__numpy_shapes(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[3] 1 2 3", "float[3] 4 5 6"}), "float[] 32");
    OP_EXPECT(0, OP("MatMul", 9, NULL, {"int32[3] 1 2 3", "int32[3,2] 1 2 3 4 5 6"}),
              "int32[2] 22 28");
    OP_EXPECT(0, OP("MatMul", 1, NULL, {"double[2,2] 1 2 3 4", "double[2] 1 -1"}),
              "double[2] -1 -1");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[2,1,1,2] 1 2 3 4", "float[3,2,1] 1 0 0 1 1 1"}),
              "float[2,3,1,1] 1 2 3 3 4 7");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[2,1,2] 1 2 3 4", "float[1,2,2] 1 0 1 1"}),
              "float[2,1,2] 3 2 7 4");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"uint64[1,1] 18446744073709551615", "uint64[1,1] 2"}),
              "uint64[1,1] -2");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"bfloat16[1,2] 1 2", "bfloat16[2,1] 3 4"}),
              "bfloat16[1,1] 11");
}

static void test_matmul__empty(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[2,0]", "float[0,2]"}), "float[2,2] 0 0 0 0");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[0,2,3]", "float[3,2] 1 2 3 4 5 6"}),
              "float[0,2,2]");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[2,3] 1 2 3 4 5 6", "float[3,0]"}), "float[2,0]");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"int64[0]", "int64[0]"}), "int64[] 0");
}

static void test_matmul__refuses(void **state)
{
    (void)state;
    op_expect_error(
        &(struct op_call)OP("MatMul", 13, NULL, {"float[2,3] 1 2 3 4 5 6", "float[2] 1 2"}),
        ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("MatMul", 13, NULL, {"float[] 1", "float[] 1"}),
                    ODB_E_OPERATOR);
    op_expect_error(
        &(struct op_call)OP("MatMul", 13, NULL, {"float[2,1,1] 1 2", "float[3,1,1] 1 2 3"}),
        ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("MatMul", 13, NULL, {"float[1,1] 1", "double[1,1] 1"}),
                    ODB_E_OPERATOR);
    op_expect_error(&(struct op_call)OP("MatMul", 13, NULL, {"int8[1,1] 1", "int8[1,1] 1"}),
                    ODB_UNSUPPORTED);
}

static void test_matmul__nan_passes(void **state)
{
    (void)state;
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[2,2] 1 nan 1 1", "float[2,2] 1 2 3 4"}),
              "float[2,2] nan nan 4 6");
    OP_EXPECT(0, OP("MatMul", 13, NULL, {"float[2,2] 0 1 1 1", "float[2,2] inf 2 3 4"}),
              "float[2,2] nan 4 inf 6");
}

static void test_matmul__modes_and_threads(void **state)
{
    static const struct op_call calls[] = {
        OP("MatMul", 13, NULL, {"float[130,70] random 1", "float[70,500] random 2"}),
        OP("MatMul", 13, NULL, {"float[3,40,300] random 1", "float[3,300,90] random 2"}),
        OP("MatMul", 13, NULL, {"float[1,300] random 1", "float[300,900] random 2"}),
        OP("MatMul", 13, NULL, {"float[2,1,90,40] random 1", "float[3,40,200] random 2"})};
    (void)state;
    for (size_t i = 0; i < ODB_COUNT(calls); i++) {
        op_expect_modes(&calls[i], 1e-5);
        op_expect_any_threads(&calls[i]);
    }
}

/* --- Gemm ------------------------------------------------------------------------------------- */

static void test_matmul__gemm(void **state)
{
    (void)state;
    OP_EXPECT(0,
              OP("Gemm", 13, "alpha=2f beta=0.5f",
                 {"float[1,2] 1 2", "float[2,3] 1 2 3 4 5 6", "float[3] 2 4 6"}),
              "float[1,3] 19 26 33");
    OP_EXPECT(0,
              OP("Gemm", 7, "transA=1 transB=1",
                 {"float[2,1] 1 2", "float[3,2] 1 4 2 5 3 6", "float[1,1] 1"}),
              "float[1,3] 10 13 16");
    OP_EXPECT(0, OP("Gemm", 13, NULL, {"float[2,1] 1 2", "float[1,2] 1 2", "float[2,1] 10 20"}),
              "float[2,2] 11 12 22 24");
    OP_EXPECT(0, OP("Gemm", 11, NULL, {"float[2,1] 1 2", "float[1,2] 1 2"}), "float[2,2] 1 2 2 4");
    OP_EXPECT(0, OP("Gemm", 6, "broadcast=1", {"float[1,1] 3", "float[1,2] 1 2", "float[2] 1 1"}),
              "float[1,2] 4 7");
    OP_EXPECT(0, OP("Gemm", 11, NULL, {"int32[1,2] 1 2", "int32[2,1] 3 4", "int32[] 5"}),
              "int32[1,1] 16");
    OP_EXPECT(
        0, OP("Gemm", 11, "alpha=0.5f beta=3f", {"int64[1,2] 1 2", "int64[2,1] 3 4", "int64[] 5"}),
        "int64[1,1] 20");
    OP_EXPECT(0, OP("Gemm", 13, NULL, {"float[2,0]", "float[0,1]", "float[1] 3"}),
              "float[2,1] 3 3");
    op_expect_error(
        &(struct op_call)OP("Gemm", 13, NULL, {"float[1,2] 1 2", "float[2,1] 1 2", "float[2] 1 2"}),
        ODB_E_OPERATOR);
}

static void test_matmul__gemm_modes_and_threads(void **state)
{
    static const struct op_call call =
        OP("Gemm", 13, "transB=1 alpha=0.7f beta=1.5f",
           {"float[150,90] random 1", "float[260,90] random 2", "float[260] random 3"});
    (void)state;
    op_expect_modes(&call, 1e-5);
    op_expect_any_threads(&call);
}

/* --- 8-bit ------------------------------------------------------------------------------------ */

static void test_matmul__integers_of_8_bits(void **state)
{
    (void)state;
    OP_EXPECT(0,
              OP("MatMulInteger", 10, NULL,
                 {"uint8[2,2] 1 2 3 4", "int8[2,1] -1 2", "uint8[] 1", "int8[] 1"}),
              "int32[2,1] 1 -1");
    OP_EXPECT(0,
              OP("MatMulInteger", 10, NULL,
                 {"uint8[2,2] 1 2 3 4", "uint8[2,2] 1 2 3 4", "uint8[2] 1 2", "uint8[2] 0 1"}),
              "int32[2,2] 3 3 7 7");
    OP_EXPECT(0, OP("MatMulInteger", 10, NULL, {"uint8[2] 255 255", "uint8[2] 255 255"}),
              "int32[] 130050");
    OP_EXPECT(0,
              OP("QLinearMatMul", 10, NULL,
                 {"uint8[1,2] 10 20", "float[] 0.5", "uint8[] 2", "uint8[2,2] 3 4 5 6",
                  "float[2] 1 2", "uint8[2] 1 1", "float[] 4", "uint8[] 7"}),
              "uint8[1,2] 18 35"); /* 88 / 8 = 11; 114 / 4 = 28.5, to even */
    OP_EXPECT(0,
              OP("QLinearMatMul", 21, NULL,
                 {"int8[1,1] 100", "float[] 1", "int8[] 0", "int8[1,2] 100 -100", "float[] 1",
                  "int8[] 0", "float[] 1", "int8[] 0"}),
              "int8[1,2] 127 -128");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul__every_shape_and_transposition),
        cmocka_unit_test(test_matmul__blocks_of_a_large_product),
        cmocka_unit_test(test_matmul__sums_in_order),
        cmocka_unit_test(test_matmul__unaligned_operands),
        cmocka_unit_test(test_matmul__numpy_shapes),
        cmocka_unit_test(test_matmul__empty),
        cmocka_unit_test(test_matmul__refuses),
        cmocka_unit_test(test_matmul__nan_passes),
        cmocka_unit_test(test_matmul__modes_and_threads),
        cmocka_unit_test(test_matmul__gemm),
        cmocka_unit_test(test_matmul__gemm_modes_and_threads),
        cmocka_unit_test(test_matmul__integers_of_8_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
