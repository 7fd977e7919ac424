/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row of a result has the same bits whatever rows are computed with it: products, convolutions of
 * a batch, and attention, where a prompt gives what its tokens give one by one.
 */
#include "tensor/tensor_print.h"
#include "tests/help/op_case.h"

/* An operand, or the result, of which only some rows are computed: the dimension that they count;
 * -1: it is the same for all rows. */
struct rows_case {
    struct op_call call;
    int64_t rows;
    int8_t axis[OP_MAX_IN], out; /* axis 0 of what is not said */
};

static const int rows_threads[] = {1, 2, 5};

/* Elements [from, to) of dimension axis. */
static struct odb_tensor *rows_part(const struct odb_tensor *t, int axis, int64_t from, int64_t to)
{
    char text[200] = "[";
    struct odb_tensor *part = NULL;
    for (int d = 0; d < axis; d++)
        strcat(text, ":, ");
    snprintf(text + strlen(text), 100, "%lld:%lld, ...]", (long long)from, (long long)to);
    assert_int_equal(odb_slice(&part, t, text, NULL), ODB_OK);
    return part;
}

static void rows_are(const struct odb_tensor *whole, int axis, int64_t from, int64_t to,
                     const struct odb_tensor *part, const struct op_call *c)
{
    struct odb_tensor *want = rows_part(whole, axis, from, to);
    if (!odb_tensor_identical(want, part))
        fail_msg("%s %s, precision %d: rows %lld to %lld alone have other bits", c->op,
                 c->attrs ? c->attrs : "", (int)c->precision, (long long)from, (long long)to);
    odb_tensor_unref(want);
}

static struct odb_tensor *rows_run(const struct op_call *c, int n, struct odb_tensor *const *in)
{
    struct odb_tensor *out[OP_MAX_OUT];
    struct odb_error err = ODB_ERROR_INIT;
    if (op_run(c, n, in, 1, out, &err) != ODB_OK)
        fail_msg("%s %s: %s", c->op, c->attrs ? c->attrs : "", err.what);
    return out[0];
}

/* Rows [from, from + some) alone. */
static void rows_alone(const struct rows_case *t, const struct op_call *c, int n,
                       struct odb_tensor *const *in, const struct odb_tensor *whole, int64_t from,
                       int64_t some)
{
    struct odb_tensor *part[OP_MAX_IN];
    int64_t to = ODB_MIN(from + some, t->rows);
    for (int i = 0; i < n; i++)
        part[i] = t->axis[i] < 0 ? odb_tensor_ref(in[i]) : rows_part(in[i], t->axis[i], from, to);
    struct odb_tensor *out = rows_run(c, n, part);
    rows_are(whole, t->out, from, to, out, c);
    odb_tensor_unref(out);
    for (int i = 0; i < n; i++)
        odb_tensor_unref(part[i]);
}

static void rows_check(const struct rows_case *t, enum odb_precision precision)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 8, 16, 17, 64, 129};
    struct odb_tensor *in[OP_MAX_IN];
    struct op_call c = t->call;
    int n = 0, before = odb_parallel_threads();
    c.precision = precision;
    for (; n < OP_MAX_IN && c.in[n]; n++)
        in[n] = op_tensor(c.in[n]);
    struct odb_tensor *whole = rows_run(&c, n, in);
    for (size_t i = 0; i < ODB_COUNT(counts) && counts[i] < t->rows; i++) {
        odb_parallel_set_threads(rows_threads[i % ODB_COUNT(rows_threads)]);
        int64_t step = ODB_MAX(t->rows / 5, counts[i]);
        for (int64_t from = 0; from < t->rows; from += step)
            rows_alone(t, &c, n, in, whole, from, counts[i]);
    }
    odb_parallel_set_threads(before);
    odb_tensor_unref(whole);
    for (int i = 0; i < n; i++)
        odb_tensor_unref(in[i]);
}

static const struct rows_case rows_cases[] = {
    {OP("MatMul", 13, NULL, {"float[201,700] random 1", "float[700,500] random 2"}), 201, {0, -1}},
    {OP("MatMul", 13, NULL, {"float[33,3000] random 1", "float[3000,17] random 2"}), 33, {0, -1}},
    {OP("MatMul", 13, NULL, {"float[300,513] random 1", "float[513,1] random 2"}), 300, {0, -1}},
    {OP("MatMul", 13, NULL, {"float[70,5] random 1", "float[5,3] random 2"}), 70, {0, -1}},
    {OP("MatMul", 13, NULL, {"double[150,300] random 1", "double[300,400] random 2"}),
     150,
     {0, -1}},
    {OP("MatMul", 13, NULL, {"float16[90,300] random 1", "float16[300,130] random 2"}),
     90,
     {0, -1}},
    {OP("MatMul", 13, NULL, {"bfloat16[90,300] random 1", "bfloat16[300,130] random 2"}),
     90,
     {0, -1}},
    {OP("MatMul", 13, NULL, {"int32[90,300] random 1", "int32[300,130] random 2"}), 90, {0, -1}},
    {OP("MatMul", 13, NULL, {"float[6,130,64] random 1", "float[6,64,200] random 2"}),
     130,
     {1, -1},
     1},
    {OP("MatMul", 13, NULL, {"float[40,9,64] random 1", "float[40,64,70] random 2"}), 40, {0, 0}},
    {OP("MatMul", 13, NULL, {"float[40,9,300] random 1", "float[300,70] random 2"}), 40, {0, -1}},
    {OP("MatMul", 13, NULL, {"float[3,1,60,64] random 1", "float[1,5,64,70] random 2"}),
     60,
     {2, -1},
     2},
    {OP("Gemm", 13, "transB=1",
        {"float[140,300] random 1", "float[400,300] random 2", "float[400] random 3"}),
     140,
     {0, -1, -1}},
    {OP("Gemm", 13, "transA=1 alpha=0.3f beta=2f",
        {"float[300,140] random 1", "float[300,200] random 2", "float[140,200] random 3"}),
     140,
     {1, -1, 0}},
    {OP("MatMulInteger", 10, NULL, {"uint8[200,300] random 1", "int8[300,400] random 2"}),
     200,
     {0, -1}},
    {OP("Conv", 11, "pads=1,1,1,1,",
        {"float[20,16,20,22] random 1", "float[24,16,3,3] random 2", "float[24] random 4"}),
     20,
     {0, -1, -1}},
    {OP("Conv", 11, "group=16 pads=1,1,1,1,",
        {"float[9,16,20,22] random 1", "float[16,1,3,3] random 2"}),
     9,
     {0, -1}},
    {OP("Conv", 11, NULL,
        {"float[1,300,12,12] random 1", "float[40,300,1,1] random 2", "float[40] random 4"}),
     40,
     {-1, 0, 0},
     1},
    {OP("Softmax", 13, NULL, {"float[150,701] random 1"}), 150, {0}},
    {OP("LayerNormalization", 17, NULL,
        {"float[150,700] random 1", "float[700] random 4", "float[700] random 5"}),
     150,
     {0, -1, -1}},
    {OP("Attention", 23, NULL,
        {"float[2,4,130,32] random 1", "float[2,2,300,32] random 2", "float[2,2,300,24] random 3"}),
     130,
     {2, -1, -1},
     2},
    {OP("Attention", 23, NULL,
        {"float[1,2,40,32] random 1", "float[1,2,300,32] random 2", "float[1,2,300,24] random 3",
         "float[40,300] random 4"}),
     40,
     {2, -1, -1, 0},
     2},
};

static void test_rows__do_not_depend_on_their_number(void **state)
{
    static const enum odb_precision precisions[] = {ODB_PREC_NATIVE, ODB_PREC_F64, ODB_PREC_F16,
                                                    ODB_PREC_BF16};
    for (size_t i = 0; i < ODB_COUNT(rows_cases); i++)
        for (size_t p = 0; p < ODB_COUNT(precisions); p++)
            rows_check(&rows_cases[i], precisions[p]);
}

/* --- a prompt, and its tokens one by one ------------------------------------------------------ */

enum { ROWS_KEYS = 600 };

/* The prompt is causal attention over its keys; a token has those before it as its past. */
static void rows_prompt(const char *attrs, enum odb_dtype dtype, enum odb_precision precision)
{
    static const int64_t tokens[] = {1, 2, 7, 8, 9, 40, 255, 256, 257, 300, 511, 530, 599};
    struct op_call c = OP("Attention", 25, attrs, {NULL});
    struct odb_tensor *in[6] = {NULL};
    char text[100];
    c.precision = precision;
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%s[1,2,%d,%d] random %d", odb_dtype_info(dtype)->name,
                 ROWS_KEYS, i < 2 ? 32 : 24, i + 1);
        in[i] = op_tensor(text);
    }
    struct odb_tensor *whole = rows_run(&c, 3, in);
    for (size_t i = 0; i < ODB_COUNT(tokens); i++) {
        int64_t t = tokens[i];
        struct odb_tensor *now[6] = {rows_part(in[0], 2, t, t + 1), rows_part(in[1], 2, t, t + 1),
                                     rows_part(in[2], 2, t, t + 1), NULL,
                                     rows_part(in[1], 2, 0, t),     rows_part(in[2], 2, 0, t)};
        struct odb_tensor *out[3];
        struct odb_error err = ODB_ERROR_INIT;
        if (op_run(&c, 6, now, 3, out, &err) != ODB_OK)
            fail_msg("token %lld: %s", (long long)t, err.what);
        rows_are(whole, 2, t, t + 1, out[0], &c);
        for (int o = 0; o < 3; o++)
            odb_tensor_unref(out[o]);
        for (int k = 0; k < 6; k++)
            odb_tensor_unref(now[k]);
    }
    odb_tensor_unref(whole);
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(in[i]);
}

static void test_rows__a_prompt_is_its_tokens(void **state)
{
    static const enum odb_precision precisions[] = {ODB_PREC_NATIVE, ODB_PREC_F64, ODB_PREC_F16};
    for (size_t p = 0; p < ODB_COUNT(precisions); p++) {
        rows_prompt("is_causal=1", ODB_F32, precisions[p]);
        rows_prompt("is_causal=1 softcap=2f", ODB_F32, precisions[p]);
        rows_prompt("is_causal=1 left_window_size=40", ODB_F32, precisions[p]);
        rows_prompt("is_causal=1", ODB_F16, precisions[p]);
    }
}

/* com.microsoft::Attention makes keys and values itself: what a prompt reads of them is what its
 * cache holds of them, in the cache's type. Whether the cache is wanted changes nothing. */
static void rows_projected(enum odb_dtype dtype, enum odb_precision precision)
{
    struct op_call c = OP("com.microsoft::Attention", 1, "num_heads=2 unidirectional=1", {NULL});
    static const char *const shapes[] = {"[1,9,16] random 1", "[16,48] random 2", "[48] random 3"};
    struct odb_tensor *in[5] = {NULL}, *cache = NULL;
    struct odb_error err = ODB_ERROR_INIT;
    c.precision = precision;
    for (int i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s%s", odb_dtype_info(dtype)->name, shapes[i]);
        in[i] = op_tensor(text);
    }
    struct odb_tensor *whole[2] = {NULL};
    if (op_run(&c, 3, in, 2, whole, &err) != ODB_OK)
        fail_msg("prompt: %s", err.what);
    struct odb_tensor *x = in[0];
    for (int64_t t = 0; t < 9; t++) {
        struct odb_tensor *out[2];
        in[0] = rows_part(x, 1, t, t + 1);
        in[4] = cache;
        if (op_run(&c, cache ? 5 : 3, in, 2, out, &err) != ODB_OK)
            fail_msg("token %lld: %s", (long long)t, err.what);
        rows_are(whole[0], 1, t, t + 1, out[0], &c);
        odb_tensor_unref(out[0]);
        odb_tensor_unref(in[0]);
        odb_tensor_unref(cache);
        cache = out[1];
    }
    rows_are(whole[1], 3, 0, 9, cache, &c);
    odb_tensor_unref(cache);
    for (int o = 0; o < 2; o++)
        odb_tensor_unref(whole[o]);
    odb_tensor_unref(x);
    for (int i = 1; i < 3; i++)
        odb_tensor_unref(in[i]);
}

static void test_rows__keys_that_are_made_are_those_of_the_cache(void **state)
{
    static const enum odb_dtype types[] = {ODB_F32, ODB_F16, ODB_BF16};
    for (size_t i = 0; i < ODB_COUNT(types); i++)
        rows_projected(types[i], ODB_PREC_NATIVE);
    rows_projected(ODB_F32, ODB_PREC_F64);
}

/* Weights of keys that are hidden are 0, and their places are no part of the sum. */
static void test_rows__hidden_keys_change_nothing(void **state)
{
    struct op_call c = OP("Softmax", 13, NULL, {NULL});
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64};
    for (size_t k = 0; k < ODB_COUNT(types); k++) {
        char text[100];
        snprintf(text, sizeof text, "%s[1,300] random 1", odb_dtype_info(types[k])->name);
        struct odb_tensor *x = op_tensor(text);
        for (int64_t n = 300; n > 0; n--) {
            struct odb_tensor *seen = rows_part(x, 1, 0, n);
            struct odb_tensor *all = rows_run(&c, 1, &x), *some = rows_run(&c, 1, &seen);
            rows_are(all, 1, 0, n, some, &c);
            odb_tensor_unref(all);
            odb_tensor_unref(some);
            odb_tensor_unref(seen);
            odb_store_f64(types[k], x->data, (size_t)n - 1, -INFINITY);
        }
        odb_tensor_unref(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows__do_not_depend_on_their_number),
        cmocka_unit_test(test_rows__a_prompt_is_its_tokens),
        cmocka_unit_test(test_rows__keys_that_are_made_are_those_of_the_cache),
        cmocka_unit_test(test_rows__hidden_keys_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
