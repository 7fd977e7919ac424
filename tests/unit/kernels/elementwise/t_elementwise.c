/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Element-wise operators, called as the executor calls them. A case is a line of text: tensors are
 * written "type[dims] values", attributes "name=value". What is expected follows from the
 * operators' definitions in the ONNX specification.
 */
#include "kernels/core/kern.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define MAX_IN 4
#define MAX_OUT 3
#define MAX_ATTRS 4

/* --- text to tensors and back ------------------------------------------------------------- */

static void store_word(struct odb_tensor *t, size_t i, const char *word)
{
    char *end;
    if (t->dtype == ODB_STRING) {
        assert_int_equal(odb_tensor_set_string(t, i, word, strlen(word), NULL), ODB_OK);
        return;
    }
    if (odb_dtype_is_integer(t->dtype) || t->dtype == ODB_BOOL) {
        uint64_t v = *word == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
        odb_store_i64(t->dtype, t->data, i, (int64_t)v);
    } else if (strncmp(word, "bits:", 5) == 0) { /* float8 that no number names */
        ((uint8_t *)t->data)[i] = (uint8_t)strtoul(word + 5, &end, 16);
    } else {
        odb_store_f64(t->dtype, t->data, i, strtod(word, &end));
    }
    assert_string_equal(end, "");
}

/* "float[2,3] 1 2 3 4 5 6"; "-" is an omitted input: NULL. */
static struct odb_tensor *tensor_of(const char *text)
{
    char copy[512], *save = NULL;
    struct odb_tensor *t = NULL;
    int64_t dims[ODB_MAX_RANK];
    int rank = 0;
    if (strcmp(text, "-") == 0)
        return NULL;
    snprintf(copy, sizeof copy, "%s", text);
    char *open = strchr(copy, '['), *close = strchr(copy, ']');
    assert_true(open && close);
    *open = *close = '\0';
    for (char *p = strtok_r(open + 1, ",", &save); p; p = strtok_r(NULL, ",", &save))
        dims[rank++] = strtoll(p, NULL, 10);
    enum odb_dtype dtype = odb_dtype_parse(copy);
    assert_int_not_equal(dtype, ODB_UNDEFINED);
    assert_int_equal(odb_tensor_new(&t, dtype, rank, dims, NULL), ODB_OK);
    char *word = strtok_r(close + 1, " ", &save);
    for (size_t i = 0; i < t->count; i++, word = strtok_r(NULL, " ", &save)) {
        assert_non_null(word);
        store_word(t, i, word);
    }
    assert_null(word);
    return t;
}

static bool same_value(const struct odb_tensor *a, const struct odb_tensor *b, size_t i, double tol)
{
    if (a->dtype == ODB_STRING) {
        const struct odb_str *x = (struct odb_str *)a->data + i, *y = (struct odb_str *)b->data + i;
        return x->len == y->len && memcmp(x->data, y->data, x->len) == 0;
    }
    if (!odb_dtype_is_float(a->dtype))
        return odb_tensor_i64(a, i) == odb_tensor_i64(b, i);
    double x = odb_tensor_f64(a, i), y = odb_tensor_f64(b, i);
    return (isnan(x) && isnan(y)) || x == y || fabs(x - y) <= tol * fabs(y);
}

static void assert_tensor(const struct odb_tensor *got, const char *expected, double tol,
                          const char *what)
{
    struct odb_tensor *want = tensor_of(expected);
    if (got->dtype != want->dtype || !odb_tensor_same_shape(got, want))
        fail_msg("%s: type or shape differs from %s", what, expected);
    for (size_t i = 0; i < want->count; i++)
        if (!same_value(got, want, i, tol))
            fail_msg("%s: element %zu is %.17g, wanted %s", what, i, odb_tensor_f64(got, i),
                     expected);
    odb_tensor_unref(want);
}

/* --- calls ------------------------------------------------------------------------------------ */

struct op_case {
    const char *op;
    int opset;
    const char *attrs; /* "to=7 alpha=0.5f direction=LEFT" : integers, floats end in f, strings */
    const char *in[MAX_IN];
    const char *out[MAX_OUT]; /* or a status: "E_OPERATOR", "UNSUPPORTED" */
    double tol;
    enum odb_precision precision;
    const char *domain;
};

static size_t attrs_of(char *text, struct odb_attr *attrs)
{
    size_t n = 0;
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '='), *end;
        assert_non_null(value);
        *value++ = '\0';
        struct odb_attr *a = &attrs[n++];
        *a = (struct odb_attr){.name = word, .type = ODB_ATTR_INT, .n = 1};
        a->i = strtoll(value, &end, 10);
        if (*end == '\0')
            continue;
        a->type = ODB_ATTR_FLOAT;
        a->f = strtof(value, &end);
        if (end != value && strcmp(end, "f") == 0)
            continue;
        a->type = ODB_ATTR_STRING;
        a->s = (struct odb_str){value, strlen(value)};
    }
    return n;
}

static void assert_status(enum odb_status got, const char *name, const char *what)
{
    enum odb_status want = strcmp(name, "UNSUPPORTED") == 0 ? ODB_UNSUPPORTED : ODB_E_OPERATOR;
    if (got != want)
        fail_msg("%s: status %d instead of %s", what, got, name);
}

static void run_case(const struct op_case *c)
{
    char attr_text[128], what[256];
    struct odb_attr attrs[MAX_ATTRS];
    struct odb_tensor *in[MAX_IN] = {NULL}, *out[MAX_OUT] = {NULL};
    bool wanted[MAX_OUT];
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_call call = {.opset = c->opset, .precision = c->precision, .seed = 1};
    snprintf(what, sizeof what, "%s-%d %s of %s %s", c->op, c->opset, c->attrs, c->in[0],
             c->in[1] ? c->in[1] : "");
    snprintf(attr_text, sizeof attr_text, "%s", c->attrs);
    call.op = odb_op_find(c->domain ? c->domain : "", c->op, c->opset);
    if (!call.op)
        fail_msg("%s: no such operator", what);
    call.attrs = (struct odb_attrs){attrs, attrs_of(attr_text, attrs)};
    for (; call.n_in < MAX_IN && c->in[call.n_in]; call.n_in++)
        in[call.n_in] = tensor_of(c->in[call.n_in]);
    for (; call.n_out < MAX_OUT && c->out[call.n_out]; call.n_out++)
        wanted[call.n_out] = true;
    call.in = (const struct odb_tensor *const *)in;
    call.wanted = wanted;
    enum odb_status status = odb_op_run(&call, out, &err);
    if (!strchr(c->out[0], '['))
        assert_status(status, c->out[0], what);
    else if (status != ODB_OK)
        fail_msg("%s: %s", what, err.what);
    for (int i = 0; i < call.n_out; i++) {
        if (status == ODB_OK)
            assert_tensor(out[i], c->out[i], c->tol, what);
        odb_tensor_unref(out[i]);
    }
    for (int i = 0; i < call.n_in; i++)
        odb_tensor_unref(in[i]);
}

#define RUN_CASES(...)                                                                             \
    do {                                                                                           \
        const struct op_case cases[] = {__VA_ARGS__};                                              \
        for (size_t i = 0; i < ODB_COUNT(cases); i++)                                              \
            run_case(&cases[i]);                                                                   \
    } while (0)

/* One and two operands, newest opset, exact. */
#define ONE(op, in, out)                                                                           \
    {                                                                                              \
        op, 28, "", {in}, {out}, 0, ODB_PREC_NATIVE, NULL                                          \
    }
#define TWO(op, a, b, out)                                                                         \
    {                                                                                              \
        op, 28, "", {a, b}, {out}, 0, ODB_PREC_NATIVE, NULL                                        \
    }
#define NEAR(op, in, out)                                                                          \
    {                                                                                              \
        op, 28, "", {in}, {out}, 2e-7, ODB_PREC_NATIVE, NULL                                       \
    }
#define WITH(op, opset, attrs, out, ...)                                                           \
    {                                                                                              \
        op, opset, attrs, {__VA_ARGS__}, {out}, 1e-6, 0, NULL                                      \
    }

/* --- the walk --------------------------------------------------------------------------------- */

/* Every pair of shapes of rank 3 with dimensions 1 and n against the definition of broadcasting. */
static void test_elementwise__broadcast(void **state)
{
    (void)state;
    static const int64_t full[4] = {3, 5, 2, 7};
    bool wanted = true;
    for (unsigned masks = 0; masks < 256; masks++) {
        struct odb_tensor *in[2], *out = NULL;
        int64_t dims[2][4], step[2][4], whole[4];
        for (int i = 0; i < 2; i++) {
            int64_t size = 1;
            for (int d = 3; d >= 0; d--) {
                dims[i][d] = masks >> (4 * i + d) & 1 ? full[d] : 1;
                step[i][d] = dims[i][d] == 1 ? 0 : size;
                size *= dims[i][d];
            }
            int lead = 0; /* leading ones may be left out */
            while (lead < 4 && dims[i][lead] == 1 && i == 1)
                lead++;
            assert_int_equal(odb_tensor_new(&in[i], ODB_I32, 4 - lead, dims[i] + lead, NULL), 0);
            for (size_t e = 0; e < in[i]->count; e++)
                ((odb_i32 *)in[i]->data)[e] = (int32_t)(e * (i ? 1000 : 1));
        }
        struct odb_call call = {.op = odb_op_find("", "Sub", 14),
                                .opset = 14,
                                .n_in = 2,
                                .n_out = 1,
                                .in = (const struct odb_tensor *const *)in,
                                .wanted = &wanted};
        assert_int_equal(odb_op_run(&call, &out, NULL), ODB_OK);
        assert_int_equal(out->rank, 4);
        for (int d = 0; d < 4; d++)
            whole[d] = ODB_MAX(dims[0][d], dims[1][d]);
        for (size_t e = 0; e < out->count; e++) {
            size_t rest = e, a = 0, b = 0;
            for (int d = 3; d >= 0; rest /= (size_t)whole[d], d--) {
                a += rest % (size_t)whole[d] * (size_t)step[0][d];
                b += rest % (size_t)whole[d] * (size_t)step[1][d];
            }
            assert_int_equal(((odb_i32 *)out->data)[e], (int32_t)a - (int32_t)(1000 * b));
        }
        odb_tensor_unref(in[0]);
        odb_tensor_unref(in[1]);
        odb_tensor_unref(out);
    }
}

/* Larger than a block of the parallel loop, and no multiple of one. */
static void test_elementwise__blocks(void **state)
{
    (void)state;
    struct odb_tensor *in[2], *out = NULL;
    int64_t dims[2] = {777, 333}, row[1] = {333};
    bool wanted = true;
    assert_int_equal(odb_tensor_new(&in[0], ODB_F32, 2, dims, NULL), ODB_OK);
    assert_int_equal(odb_tensor_new(&in[1], ODB_F32, 1, row, NULL), ODB_OK);
    for (size_t i = 0; i < in[0]->count; i++)
        ((odb_f32 *)in[0]->data)[i] = (float)i;
    for (size_t i = 0; i < in[1]->count; i++)
        ((odb_f32 *)in[1]->data)[i] = (float)i / 2;
    struct odb_call call = {.op = odb_op_find("", "Add", 14),
                            .opset = 14,
                            .n_in = 2,
                            .n_out = 1,
                            .in = (const struct odb_tensor *const *)in,
                            .wanted = &wanted};
    assert_int_equal(odb_op_run(&call, &out, NULL), ODB_OK);
    for (size_t i = 0; i < out->count; i++)
        assert_true(((odb_f32 *)out->data)[i] == (float)i + (float)(i % 333) / 2);
    odb_tensor_unref(in[0]);
    odb_tensor_unref(in[1]);
    odb_tensor_unref(out);
}

static void test_elementwise__edges(void **state)
{
    (void)state;
    RUN_CASES(
        TWO("Add", "float[0] ", "float[1] 1", "float[0] "),
        TWO("Add", "float[2,0,3] ", "float[3] 1 2 3", "float[2,0,3] "),
        TWO("Add", "float[] 1", "float[] 2", "float[] 3"),
        TWO("Add", "float[1,1] 1", "float[] 2", "float[1,1] 3"),
        TWO("Add", "float[2] 1 2", "float[3] 1 2 3", "E_OPERATOR"),
        TWO("Add", "float[2] 1 2", "double[2] 1 2", "E_OPERATOR"),
        /* in double mode one operand may be carried as double already */
        {"Add",
         14,
         "",
         {"float16[1] 1", "double[1] 1e-9"},
         {"double[1] 1.000000001"},
         0,
         ODB_PREC_F64,
         NULL},
        {"Where",
         16,
         "",
         {"bool[1] 1", "float[1] 3", "double[1] 1"},
         {"double[1] 3"},
         0,
         ODB_PREC_F64,
         NULL},
        {"Clip", 13, "", {"double[1] 3", "-", "float[] 2"}, {"double[1] 2"}, 0, ODB_PREC_F64, NULL},
        {"Add", 14, "", {"float[1] 2049", "float[1] 0"}, {"float[1] 2048"}, 0, ODB_PREC_F16, NULL},
        TWO("Div", "int32[0] ", "int32[] 0", "int32[0] "),
        TWO("Add", "string[1] a", "string[1] b", "UNSUPPORTED"),
        ONE("Sqrt", "float[0] ", "float[0] "), ONE("Sqrt", "int32[1] 4", "UNSUPPORTED"));
}

/* --- unary ------------------------------------------------------------------------------------ */

static void test_unary__exact(void **state)
{
    (void)state;
    RUN_CASES(ONE("Abs", "float[4] -1.5 0 inf -inf", "float[4] 1.5 0 inf inf"),
              ONE("Abs", "int8[3] -128 -1 5", "int8[3] -128 1 5"),
              ONE("Abs", "float16[2] -1.5 2", "float16[2] 1.5 2"),
              ONE("Abs", "int64[1] -9223372036854775808", "int64[1] -9223372036854775808"),
              ONE("Neg", "int32[2] -2147483648 7", "int32[2] -2147483648 -7"),
              ONE("Neg", "bfloat16[2] 1 -2", "bfloat16[2] -1 2"),
              ONE("Neg", "uint8[1] 1", "UNSUPPORTED"),
              ONE("Sign", "float[4] -3 0 2 nan", "float[4] -1 0 1 nan"),
              ONE("Sign", "uint8[2] 0 200", "uint8[2] 0 1"),
              ONE("Sign", "int16[2] -9 9", "int16[2] -1 1"),
              ONE("Floor", "double[3] -1.5 1.5 inf", "double[3] -2 1 inf"),
              ONE("Ceil", "float[2] -1.5 1.5", "float[2] -1 2"),
              ONE("Round", "float[6] 0.5 1.5 2.5 -0.5 -1.5 -2.5", "float[6] 0 2 2 0 -2 -2"),
              ONE("Not", "bool[2] 0 1", "bool[2] 1 0"),
              ONE("BitwiseNot", "uint16[2] 0 65280", "uint16[2] 65535 255"),
              ONE("BitwiseNot", "int64[1] 5", "int64[1] -6"),
              ONE("IsNaN", "float[3] nan 1 inf", "bool[3] 1 0 0"),
              ONE("IsNaN", "float8e4m3fn[2] nan 1", "bool[2] 1 0"),
              ONE("IsNaN", "bfloat16[2] nan 1", "bool[2] 1 0"),
              ONE("IsInf", "double[4] inf -inf nan 1", "bool[4] 1 1 0 0"),
              ONE("IsInf", "float8e5m2[2] bits:7c bits:fc", "bool[2] 1 1"),
              WITH("IsInf", 10, "detect_negative=0", "bool[2] 1 0", "float[2] inf -inf"),
              WITH("IsInf", 10, "detect_positive=0", "bool[2] 0 1", "float[2] inf -inf"));
}

static void test_unary__functions(void **state)
{
    (void)state;
    RUN_CASES(NEAR("Sqrt", "float[3] 4 2 -1", "float[3] 2 1.4142135623730951 nan"),
              NEAR("Reciprocal", "float[3] 4 0 3", "float[3] 0.25 inf 0.3333333333333333"),
              NEAR("Exp", "float[3] 1 -inf 100", "float[3] 2.718281828459045 0 inf"),
              NEAR("Log", "float[3] 2 0 -1", "float[3] 0.6931471805599453 -inf nan"),
              NEAR("Erf", "float[4] 0.5 -1 inf 1e-20",
                   "float[4] 0.5204998778130465 -0.8427007929497149 1 1.1283791670955126e-20"),
              NEAR("Sin", "float[2] 1 -2", "float[2] 0.8414709848078965 -0.9092974268256817"),
              NEAR("Cos", "float[2] 1 -2", "float[2] 0.5403023058681398 -0.4161468365471424"),
              NEAR("Tan", "float[1] 1", "float[1] 1.5574077246549023"),
              NEAR("Asin", "float[2] 0.5 2", "float[2] 0.5235987755982989 nan"),
              NEAR("Acos", "float[1] 0.5", "float[1] 1.0471975511965979"),
              NEAR("Atan", "float[1] 0.5", "float[1] 0.4636476090008061"),
              NEAR("Sinh", "float[1] 0.5", "float[1] 0.5210953054937474"),
              NEAR("Cosh", "float[1] 0.5", "float[1] 1.1276259652063807"),
              NEAR("Asinh", "float[1] 0.5", "float[1] 0.48121182505960347"),
              NEAR("Acosh", "float[1] 1.5", "float[1] 0.9624236501192069"),
              NEAR("Atanh", "float[1] 0.5", "float[1] 0.5493061443340549"),
              {"Tanh",
               13,
               "",
               {"double[2] 0.5 1e-3"},
               {"double[2] 0.46211715726000975 0.00099999966666679999"},
               1e-16,
               0,
               NULL},
              {"Tanh",
               13,
               "",
               {"float[1] 0.5"},
               {"double[1] 0.46211715726000975"},
               1e-16,
               ODB_PREC_F64,
               NULL});
}

/* 2^-30 to 2^7 in fine steps, both signs, then what is special. */
static struct odb_tensor *sweep(void)
{
    static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e30, 88.7, -103.9};
    enum { STEPS = 20000, N = 2 * STEPS + ODB_COUNT(special) };
    int64_t dims[1] = {N};
    struct odb_tensor *x = NULL;
    assert_int_equal(odb_tensor_new(&x, ODB_F32, 1, dims, NULL), ODB_OK);
    odb_f32 *v = x->data;
    for (int i = 0; i < STEPS; i++) {
        v[2 * i] = (float)pow(2, -30 + 37.0 * i / STEPS);
        v[2 * i + 1] = -v[2 * i];
    }
    for (size_t i = 0; i < ODB_COUNT(special); i++)
        v[2 * STEPS + i] = (float)special[i];
    return x;
}

/* What float gives is within so many ulps of what double gives. */
static void assert_ulps(const char *op, double ulps, const struct odb_tensor *x)
{
    struct odb_tensor *got = NULL, *want = NULL;
    bool wanted = true;
    struct odb_call call = {.op = odb_op_find("", op, 28),
                            .opset = 28,
                            .n_in = 1,
                            .n_out = 1,
                            .in = &x,
                            .wanted = &wanted};
    assert_int_equal(odb_op_run(&call, &got, NULL), ODB_OK);
    call.precision = ODB_PREC_F64;
    assert_int_equal(odb_op_run(&call, &want, NULL), ODB_OK);
    for (size_t i = 0; i < x->count; i++) {
        double g = ((odb_f32 *)got->data)[i], w = ((odb_f64 *)want->data)[i];
        double ulp = fmax(ldexp(1, isnormal(w) ? ilogb(w) - 23 : -149), 0x1p-149);
        if (!(isnan(g) && isnan(w)) && g != (float)w && !(fabs(g - w) <= ulps * ulp))
            fail_msg("%s(%a) is %a, wanted %a", op, odb_tensor_f64(x, i), g, w);
    }
    odb_tensor_unref(got);
    odb_tensor_unref(want);
}

/* In double, rounded once: half an ulp and a trifle. */
static void test_floatmath__half_an_ulp(void **state)
{
    (void)state;
    static const char *const ops[] = {"Gelu", "Swish", "Mish", "Elu",      "Selu",     "Celu",
                                      "Sinh", "Atan",  "Tan",  "Softplus", "HardSwish"};
    struct odb_tensor *x = sweep();
    for (size_t i = 0; i < ODB_COUNT(ops); i++)
        assert_ulps(ops[i], 0.505, x);
    odb_tensor_unref(x);
}

/* In float. */
static void test_floatmath__two_ulps(void **state)
{
    (void)state;
    struct odb_tensor *x = sweep();
    assert_ulps("Exp", 1, x);
    assert_ulps("Tanh", 1.5, x);
    assert_ulps("Erf", 1.5, x);
    assert_ulps("Sigmoid", 1.8, x);
    odb_tensor_unref(x);
}

/* --- half types, piece by piece --- */

static struct odb_tensor *halves(enum odb_dtype dtype, int64_t n, double step)
{
    struct odb_tensor *t = NULL;
    assert_int_equal(odb_tensor_new(&t, dtype, 1, &n, NULL), ODB_OK);
    for (int64_t i = 0; i < n; i++)
        odb_store_f64(dtype, t->data, (size_t)i, (double)(i % 4001 - 2000) * step);
    return t;
}

/* What comes of halves is what comes of the same floats, rounded. */
static void assert_halves(const char *op, struct odb_tensor *const *in, int n_in)
{
    struct odb_tensor *wide[2], *got = NULL, *floats = NULL, *want = NULL;
    bool wanted = true;
    struct odb_call call = {.op = odb_op_find("", op, 14),
                            .opset = 14,
                            .n_in = n_in,
                            .n_out = 1,
                            .in = (const struct odb_tensor *const *)in,
                            .wanted = &wanted};
    assert_int_equal(odb_op_run(&call, &got, NULL), ODB_OK);
    for (int i = 0; i < n_in; i++)
        assert_int_equal(odb_tensor_cast(&wide[i], in[i], ODB_F32, NULL), ODB_OK);
    call.in = (const struct odb_tensor *const *)wide;
    assert_int_equal(odb_op_run(&call, &floats, NULL), ODB_OK);
    assert_int_equal(odb_tensor_cast(&want, floats, in[0]->dtype, NULL), ODB_OK);
    assert_true(odb_tensor_identical(got, want));
    for (int i = 0; i < n_in; i++)
        odb_tensor_unref(wide[i]);
    odb_tensor_unref(got);
    odb_tensor_unref(floats);
    odb_tensor_unref(want);
}

static void test_halves__by_the_piece(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++)
        for (int64_t n = 1; n < 30000; n = 3 * n + 4) {
            enum odb_dtype dtype = d ? ODB_BF16 : ODB_F16;
            struct odb_tensor *x = halves(dtype, n, 0.005), *y = halves(dtype, n, -0.013);
            struct odb_tensor *one = halves(dtype, 1, 0.0004);
            assert_halves("Sigmoid", &x, 1);
            assert_halves("Relu", &x, 1);
            assert_halves("Mul", (struct odb_tensor *[]){x, y}, 2);
            assert_halves("Add", (struct odb_tensor *[]){x, one}, 2);
            assert_halves("Div", (struct odb_tensor *[]){one, x}, 2);
            assert_halves("PRelu", (struct odb_tensor *[]){x, one}, 2);
            odb_tensor_unref(x);
            odb_tensor_unref(y);
            odb_tensor_unref(one);
        }
}

/* --- binary ----------------------------------------------------------------------------------- */

static void test_binary__arithmetic(void **state)
{
    (void)state;
    RUN_CASES(
        TWO("Add", "float16[2] 1 2048", "float16[2] 0.5 1", "float16[2] 1.5 2048"),
        TWO("Sub", "bfloat16[1] 1", "bfloat16[1] 3", "bfloat16[1] -2"),
        TWO("Mul", "double[1] 3", "double[1] -0.5", "double[1] -1.5"),
        TWO("Add", "uint8[1] 250", "uint8[1] 10", "uint8[1] 4"),
        TWO("Add", "int32[1] 2147483647", "int32[1] 1", "int32[1] -2147483648"),
        TWO("Sub", "uint16[1] 0", "uint16[1] 1", "uint16[1] 65535"),
        TWO("Mul", "int16[1] 300", "int16[1] 300", "int16[1] 24464"),
        TWO("Mul", "int64[1] 9223372036854775807", "int64[1] 2", "int64[1] -2"),
        TWO("Div", "int32[4] 7 -7 7 -7", "int32[4] 2 2 -2 -2", "int32[4] 3 -3 -3 3"),
        TWO("Div", "int32[1] -2147483648", "int32[1] -1", "int32[1] -2147483648"),
        TWO("Div", "uint32[1] 4294967295", "uint32[1] 4294967295", "uint32[1] 1"),
        TWO("Div", "uint8[2] 255 9", "uint8[] 2", "uint8[2] 127 4"),
        TWO("Div", "int8[1] 1", "int8[1] 0", "E_OPERATOR"),
        TWO("Div", "float[3] 1 -1 0", "float[] 0", "float[3] inf -inf nan"),
        TWO("And", "bool[4] 0 0 1 1", "bool[4] 0 1 0 1", "bool[4] 0 0 0 1"),
        TWO("Or", "bool[4] 0 0 1 1", "bool[4] 0 1 0 1", "bool[4] 0 1 1 1"),
        TWO("Xor", "bool[4] 0 0 1 1", "bool[4] 0 1 0 1", "bool[4] 0 1 1 0"),
        TWO("BitwiseAnd", "int8[2] -1 12", "int8[2] 7 10", "int8[2] 7 8"),
        TWO("BitwiseOr", "uint32[1] 12", "uint32[1] 10", "uint32[1] 14"),
        TWO("BitwiseXor", "int64[1] -1", "int64[1] 1", "int64[1] -2"),
        WITH("BitShift", 11, "direction=LEFT", "uint8[3] 2 128 0", "uint8[3] 1 1 1",
             "uint8[3] 1 7 8"),
        WITH("BitShift", 11, "direction=RIGHT", "uint64[2] 1 0", "uint64[2] 2 2", "uint64[2] 1 64"),
        WITH("BitShift", 11, "direction=UP", "E_OPERATOR", "uint8[1] 1", "uint8[1] 1"));
}

static void test_binary__mod(void **state)
{
    (void)state;
    RUN_CASES(
        TWO("Mod", "int32[4] 7 -7 7 -7", "int32[4] 3 3 -3 -3", "int32[4] 1 2 -2 -1"),
        TWO("Mod", "int64[1] -9223372036854775808", "int64[1] -1", "int64[1] 0"),
        TWO("Mod", "uint8[1] 200", "uint8[1] 7", "uint8[1] 4"),
        TWO("Mod", "int32[1] 1", "int32[1] 0", "E_OPERATOR"),
        TWO("Mod", "float[1] 1", "float[1] 1", "E_OPERATOR"),
        WITH("Mod", 13, "fmod=1", "int32[4] 1 -1 1 -1", "int32[4] 7 -7 7 -7", "int32[4] 3 3 -3 -3"),
        WITH("Mod", 13, "fmod=1", "float[3] -1.5 nan 2", "float[3] -4.5 1 2", "float[3] 3 0 inf"),
        WITH("Mod", 13, "fmod=1", "float16[1] 1.5", "float16[1] 4.5", "float16[1] -3"));
}

static void test_binary__pow(void **state)
{
    (void)state;
    RUN_CASES(
        TWO("Pow", "float[3] 3 -3 1e20", "float[] 2", "float[3] 9 9 inf"),
        TWO("Pow", "float[3] 2 2 4", "float[3] 3 -1 0.5", "float[3] 8 0.5 2"),
        TWO("Pow", "int32[2] 3 -2", "int32[2] 4 3", "int32[2] 81 -8"),
        TWO("Pow", "int64[3] 3 1 -1", "int64[3] 40 -5 -3", "int64[3] -6289078614652622815 1 -1"),
        TWO("Pow", "int32[2] 2 5", "int32[] -1", "int32[2] 0 0"),
        TWO("Pow", "int32[1] 0", "int32[1] -1", "E_OPERATOR"),
        TWO("Pow", "int32[2] 2 4", "float[2] 3 0.5", "int32[2] 8 2"),
        TWO("Pow", "float[2] 2 4", "int64[2] 3 2", "float[2] 8 16"),
        TWO("Pow", "float16[1] 3", "uint8[1] 2", "float16[1] 9"),
        TWO("Pow", "float[1] 2", "double[1] 0.5", "float[1] 1.4142135381698608"),
        {"Pow", 15, "", {"float[1] 3", "int32[1] 3"}, {"double[1] 27"}, 0, ODB_PREC_F64, NULL});
}

static void test_binary__legacy(void **state)
{
    (void)state;
    RUN_CASES(WITH("Add", 6, "", "float[2] 4 6", "float[2] 1 2", "float[2] 3 4"),
              WITH("Add", 6, "", "E_OPERATOR", "float[2] 1 2", "float[1] 3"),
              WITH("Add", 6, "broadcast=1", "float[2,2] 11 22 13 24", "float[2,2] 1 2 3 4",
                   "float[2] 10 20"),
              WITH("Add", 6, "broadcast=1 axis=0", "float[2,2] 11 12 23 24", "float[2,2] 1 2 3 4",
                   "float[2] 10 20"),
              WITH("Sub", 1, "broadcast=1 axis=-2", "float[2,2] -9 -8 -17 -16",
                   "float[2,2] 1 2 3 4", "float[2] 10 20"),
              WITH("Mul", 6, "broadcast=1", "float[2] 3 6", "float[2] 1 2", "float[1,1] 3"),
              WITH("Less", 6, "broadcast=1 axis=1", "bool[1,2,2] 1 1 0 0", "float[1,2,2] 1 2 3 4",
                   "float[2] 5 0"),
              WITH("Pow", 1, "broadcast=1", "float[2] 1 4", "float[2] 1 2", "float[] 2"),
              WITH("And", 1, "broadcast=1 axis=3", "E_OPERATOR", "bool[2] 1 1", "bool[2] 1 0"),
              WITH("PRelu", 6, "", "float[1,2,2] -2 1 -6 -8",
                   "float[1,2,2] -1 1 -2 -2.6666667461395264", "float[2] 2 3"));
}

static void test_compare__all(void **state)
{
    (void)state;
    RUN_CASES(TWO("Equal", "float[4] 1 0 nan inf", "float[4] 1 -0 nan inf", "bool[4] 1 1 0 1"),
              TWO("Equal", "string[3] a bc bc", "string[] bc", "bool[3] 0 1 1"),
              TWO("Equal", "bool[2] 0 1", "bool[1] 1", "bool[2] 0 1"),
              TWO("Equal", "uint64[1] 18446744073709551615", "uint64[1] 18446744073709551615",
                  "bool[1] 1"),
              TWO("Equal", "float16[1] 1", "float16[1] 1", "bool[1] 1"),
              TWO("Less", "int8[2] -1 1", "int8[2] 1 -1", "bool[2] 1 0"),
              TWO("Less", "uint8[2] 255 1", "uint8[2] 1 255", "bool[2] 0 1"),
              TWO("Greater", "float[2] nan 2", "float[2] 1 1", "bool[2] 0 1"),
              TWO("LessOrEqual", "int64[3] 1 2 3", "int64[] 2", "bool[3] 1 1 0"),
              TWO("GreaterOrEqual", "double[3] 1 2 3", "double[] 2", "bool[3] 0 1 1"));
}

/* --- choosing --------------------------------------------------------------------------------- */

static void test_choose__where(void **state)
{
    (void)state;
    RUN_CASES(WITH("Where", 16, "", "float[2] 1 4", "bool[2] 1 0", "float[2] 1 2", "float[2] 3 4"),
              WITH("Where", 16, "", "int64[2,2] 1 9 9 2", "bool[2,2] 1 0 0 1", "int64[2,1] 1 2",
                   "int64[] 9"),
              WITH("Where", 16, "", "string[2] a y", "bool[2] 1 0", "string[] a", "string[2] x y"),
              WITH("Where", 16, "", "float16[1] 2", "bool[] 0", "float16[1] 1", "float16[1] 2"),
              WITH("Where", 16, "", "bool[3] 1 1 0", "bool[1] 1", "bool[3] 1 1 0", "bool[] 0"),
              WITH("Where", 16, "", "E_OPERATOR", "bool[1] 1", "float[1] 1", "int32[1] 1"));
}

static void test_choose__clip(void **state)
{
    (void)state;
    RUN_CASES(WITH("Clip", 13, "", "float[4] -1 0.5 1 nan", "float[4] -9 0.5 9 nan", "float[] -1",
                   "float[] 1"),
              WITH("Clip", 13, "", "float[2] 1 1", "float[2] 0 3", "float[] 2", "float[] 1"),
              WITH("Clip", 13, "", "int8[3] -128 0 1", "int8[3] -128 0 127", "-", "int8[] 1"),
              WITH("Clip", 12, "", "uint64[2] 5 18446744073709551615",
                   "uint64[2] 1 18446744073709551615", "uint64[] 5"),
              WITH("Clip", 11, "", "float[2] 3.4028234663852886e+38 1", "float[2] inf 1"),
              WITH("Clip", 6, "min=-1.0f", "float[2] -1 5", "float[2] -3 5"),
              WITH("Clip", 6, "max=2.5f", "float16[2] -3 2.5", "float16[2] -3 5"),
              WITH("Clip", 13, "", "E_OPERATOR", "float[1] 1", "float[2] 1 2"));
}

static void test_choose__fold(void **state)
{
    (void)state;
    RUN_CASES(ONE("Max", "float[2] 1 2", "float[2] 1 2"), ONE("Mean", "float[] 3", "float[] 3"),
              TWO("Max", "float[3] 1 nan 2", "float[3] nan 1 3", "float[3] nan nan 3"),
              TWO("Min", "float16[2] 1 nan", "float16[2] 0 0", "float16[2] 0 nan"),
              TWO("Min", "uint64[1] 18446744073709551615", "uint64[1] 1", "uint64[1] 1"),
              WITH("Max", 8, "", "int8[2,2] 1 3 2 3", "int8[1,2] 1 3", "int8[2,1] 0 2", "int8[] 1"),
              WITH("Sum", 13, "", "float[2,2] 111 121 112 122", "float[2] 10 20", "float[2,1] 1 2",
                   "float[] 100"),
              WITH("Mean", 13, "", "float[2] 2 3", "float[2] 1 2", "float[2] 2 3", "float[2] 3 4"),
              WITH("Sum", 1, "", "E_OPERATOR", "float[2] 1 2", "float[3] 1 2 3"));
}

/* --- activations ------------------------------------------------------------------------------ */

static void test_activation__all(void **state)
{
    (void)state;
    RUN_CASES(
        ONE("Relu", "float[4] -1 0 2 nan", "float[4] 0 0 2 nan"),
        ONE("Relu", "int8[2] -5 5", "int8[2] 0 5"),
        WITH("LeakyRelu", 16, "", "float[2] -0.02 3", "float[2] -2 3"),
        WITH("LeakyRelu", 6, "alpha=0.5f", "double[2] -1 3", "double[2] -2 3"),
        WITH("ThresholdedRelu", 22, "", "float[3] 0 0 1.5", "float[3] 0.5 1 1.5"),
        WITH("Shrink", 9, "lambd=1.5f bias=1.5f", "float[4] -0.5 0 0 0.5", "float[4] -2 -1 1.5 2"),
        WITH("Shrink", 9, "lambd=1.5f bias=1.0f", "int64[4] -9223372036854775807 0 0 1",
             "int64[4] -9223372036854775808 -1 1 2"),
        WITH("Shrink", 9, "bias=3.0f", "uint8[2] 255 1", "uint8[2] 2 4"),
        WITH("HardSigmoid", 6, "", "float[4] 0 0.5 1 nan", "float[4] -9 0 9 nan"),
        NEAR("HardSwish", "float[4] -4 0 1 4", "float[4] 0 0 0.6666666666666666 4"),
        NEAR("Softsign", "float[2] -1 3", "float[2] -0.5 0.75"),
        NEAR("Softplus", "float[3] 0 100 -100",
             "float[3] 0.6931471805599453 100 3.783505853677006e-44"),
        NEAR("Sigmoid", "float[4] 0 2 -inf -80",
             "float[4] 0.5 0.8807970779778823 0 1.8048513878454153e-35"),
        NEAR("Elu", "float[2] -1 2", "float[2] -0.6321205588285577 2"),
        NEAR("Elu", "float[1] -1e-6", "float[1] -9.999994999180667e-07"),
        NEAR("Selu", "float[2] -1 2", "float[2] -1.1113307378125625 2.1014020442462645"),
        WITH("Celu", 12, "alpha=2.0f", "float[2] -0.7869386805747332 2", "float[2] -1 2"),
        NEAR("Mish", "float[2] -1 2", "float[2] -0.30340146137410895 1.9439589595339946"),
        NEAR("Swish", "float[2] -1 2", "float[2] -0.2689414213699951 1.7615941559557646"),
        NEAR("Gelu", "float[3] -1 2 -6",
             "float[3] -0.15865525393145707 1.9544997361036416 -5.919525915898437e-09"),
        WITH("Gelu", 20, "approximate=tanh", "float[2] -0.15880800939172324 1.954597694087775",
             "float[2] -1 2"),
        WITH("Gelu", 20, "approximate=other", "E_OPERATOR", "float[1] 1"),
        TWO("PRelu", "float[2,2] -1 1 -3 4", "float[2] 2 0.5", "float[2,2] -2 1 -6 4"),
        TWO("PRelu", "int32[2] -3 4", "int32[1] 2", "int32[2] -6 4"),
        TWO("PRelu", "float[2] -1 1", "float[2,2] 1 2 3 4", "E_OPERATOR"),
        WITH("SwiGLU", 28, "", "float[2] -0.5378828427399902 5.284782467867294", "float[2] -1 2",
             "float[2] 2 3"),
        {"Gelu", 1, "", {"float[1] 2"}, {"float[1] 1.9544997361036416"}, 1e-6, 0, "com.microsoft"},
        {"BiasGelu",
         1,
         "",
         {"float[1] 1", "float[1] 1"},
         {"float[1] 1.9544997361036416"},
         1e-6,
         0,
         "com.microsoft"},
        {"FastGelu",
         1,
         "",
         {"float[1] 1", "float[1] 1"},
         {"float[1] 1.954597694087775"},
         1e-6,
         0,
         "com.microsoft"},
        {"QuickGelu",
         1,
         "",
         {"float[1] 1"},
         {"float[1] 0.8457957659328212"},
         1e-6,
         0,
         "com.microsoft"});
}

/* --- casts ------------------------------------------------------------------------------------ */

static void test_cast__numbers(void **state)
{
    (void)state;
    RUN_CASES(WITH("Cast", 13, "to=7", "int64[3] 1 -1 0", "float[3] 1.9 -1.9 0.5"),
              WITH("Cast", 13, "to=6", "int32[4] -2147483648 -2147483648 -2147483648 -3",
                   "double[4] nan inf 3e9 -3.9"),
              WITH("Cast", 13, "to=7", "int64[2] -9223372036854775808 3", "float16[2] nan 3"),
              WITH("Cast", 13, "to=2", "uint8[3] 0 255 44", "float[3] nan -1 300"),
              WITH("Cast", 13, "to=13", "uint64[2] 9223372036854775808 18446744073709549568",
                   "double[2] 1e300 18446744073709549568"),
              WITH("Cast", 13, "to=9", "bool[4] 0 0 1 1", "float[4] 0 -0 0.1 nan"),
              WITH("Cast", 13, "to=3", "int8[1] -56", "int16[1] 200"),
              WITH("Cast", 13, "to=10", "float16[2] inf 0.5", "double[2] 1e9 0.5"),
              WITH("Cast", 13, "to=1", "float[2] 1 0", "bool[2] 1 0"),
              WITH("Cast", 21, "to=22", "int4[3] -8 7 -7", "int32[3] 8 7 9"),
              WITH("Cast", 21, "to=2", "uint8[3] 15 1 2", "uint4[3] 15 1 2"),
              WITH("Cast", 1, "to=FLOAT16", "float16[1] 2", "int32[1] 2"),
              WITH("Cast", 13, "to=99", "E_OPERATOR", "int32[1] 2"),
              WITH("Cast", 13, "to=14", "UNSUPPORTED", "int32[1] 2"),
              WITH("CastLike", 15, "", "int32[1] 2", "float[1] 2.5", "int32[0] "),
              {"Cast", 13, "to=10", {"int32[1] 2049"}, {"double[1] 2049"}, 0, ODB_PREC_F64, NULL},
              {"Cast",
               13,
               "to=10",
               {"float[1] 0.1"},
               {"double[1] 0.10000000149011612"},
               0,
               ODB_PREC_F64,
               NULL},
              {"Cast", 13, "to=6", {"float[1] 2.7"}, {"int32[1] 2"}, 0, ODB_PREC_F64, NULL});
}

static void test_cast__float8(void **state)
{
    (void)state;
    RUN_CASES(
        WITH("Cast", 19, "to=17", "float8e4m3fn[4] 448 448 448 nan", "float[4] 464 1000 inf nan"),
        WITH("Cast", 19, "to=17 saturate=0", "float8e4m3fn[4] 448 nan nan 1",
             "float[4] 464 465 inf 1"),
        WITH("Cast", 19, "to=19", "float8e5m2[2] 57344 -57344", "float[2] inf -1e9"),
        WITH("Cast", 19, "to=19 saturate=0", "float8e5m2[2] bits:7c bits:fc", "float[2] inf -1e9"),
        WITH("Cast", 19, "to=18 saturate=0", "float8e4m3fnuz[3] nan 240 0",
             "float16[3] 248 247 -0"),
        WITH("CastLike", 19, "saturate=0", "float8e5m2fnuz[1] nan", "float[1] inf",
             "float8e5m2fnuz[0] "),
        WITH("Cast", 24, "to=24", "float8e8m0[3] 2 4 bits:fe", "float[3] 2 2.5 inf"),
        WITH("Cast", 24, "to=24 round_mode=down", "float8e8m0[2] 2 2", "float[2] 2 3.9"),
        WITH("Cast", 24, "to=24 round_mode=nearest", "float8e8m0[2] 2 4", "float[2] 2.9 3"),
        WITH("Cast", 24, "to=24 round_mode=odd", "E_OPERATOR", "float[1] 1"));
}

static void test_cast__strings(void **state)
{
    (void)state;
    RUN_CASES(WITH("Cast", 13, "to=8",
                   "string[6] 0.47892547 1.0 -0.0001 1e-05 123456790.0 100000.0",
                   "float[6] 0.47892547 1 -0.0001 1e-5 123456789 1e5"),
              WITH("Cast", 13, "to=8", "string[5] nan inf -inf 1e+16 1.5e+20",
                   "float[5] nan inf -inf 1e16 1.5e20"),
              WITH("Cast", 13, "to=8", "string[2] 0.1 1000000000000000.0", "double[2] 0.1 1e15"),
              WITH("Cast", 13, "to=8", "string[2] 0.1 65500.0", "float16[2] 0.1 65504"),
              WITH("Cast", 13, "to=8", "string[2] -3 7", "int64[2] -3 7"),
              WITH("Cast", 13, "to=8", "string[1] 18446744073709551615",
                   "uint64[1] 18446744073709551615"),
              WITH("Cast", 13, "to=8", "string[2] 1 0", "bool[2] 1 0"),
              WITH("Cast", 13, "to=1", "float[5] 3.14 1000 1e-5 inf -inf",
                   "string[5] 3.14 1000 1E-5 +INF -INF"),
              WITH("Cast", 13, "to=1", "float[1] nan", "string[1] NaN"),
              WITH("Cast", 13, "to=7", "int64[3] 9007199254740993 -7 100",
                   "string[3] 9007199254740993 -7 100.5"),
              WITH("Cast", 13, "to=13", "uint64[1] 18446744073709551615",
                   "string[1] 18446744073709551615"),
              WITH("Cast", 13, "to=9", "bool[3] 1 0 1", "string[3] true False 2"),
              WITH("Cast", 13, "to=1", "E_OPERATOR", "string[1] hello"),
              WITH("Cast", 13, "to=6", "E_OPERATOR", "string[1] 12x"));
}

/* --- quantization ----------------------------------------------------------------------------- */

static void test_quantize__linear(void **state)
{
    (void)state;
    RUN_CASES(
        WITH("QuantizeLinear", 10, "", "uint8[6] 128 129 130 1 255 0",
             "float[6] 0 2 3 -254 1000 -1000", "float[] 2", "uint8[] 128"),
        WITH("QuantizeLinear", 10, "", "uint8[4] 0 2 2 0", "float[4] 0.5 1.5 2.5 -1", "float[] 1"),
        WITH("QuantizeLinear", 13, "axis=1", "int8[1,2,2] 1 2 12 22", "float[1,2,2] 1 2 1 2",
             "float[2] 1 0.1", "int8[2] 0 2"),
        WITH("QuantizeLinear", 21, "axis=1 block_size=2", "int16[1,3] 1 2 30", "float[1,3] 1 2 3",
             "float[1,2] 1 0.1", "int16[1,2] 0 0"),
        WITH("QuantizeLinear", 21, "axis=1 block_size=2", "E_OPERATOR", "float[1,5] 1 2 3 4 5",
             "float[1,2] 1 0.1", "int16[1,2] 0 0"),
        WITH("QuantizeLinear", 21, "output_dtype=22", "int4[3] 7 -8 2", "float[3] 9 -9 2.4",
             "float[] 1"),
        WITH("QuantizeLinear", 21, "output_dtype=21", "uint4[3] 15 0 2", "float[3] 99 -9 2.4",
             "float[] 1"),
        WITH("QuantizeLinear", 25, "output_dtype=26", "int2[3] 1 -2 0", "float[3] 9 -9 0.4",
             "float[] 1"),
        WITH("QuantizeLinear", 19, "", "float8e4m3fn[2] 448 1", "float[2] 1000 2", "float[] 2",
             "float8e4m3fn[] 0"),
        WITH("QuantizeLinear", 19, "saturate=0", "float8e4m3fn[2] nan 1", "float[2] 1000 2",
             "float[] 2", "float8e4m3fn[] 0"),
        WITH("QuantizeLinear", 23, "output_dtype=23", "float4e2m1[3] 6 -1.5 0.5",
             "float[3] 50 -3 1", "float[] 2"),
        /* 2049 / 2 is 1024.5 in float, but 2049 is 2048 as float16 */
        WITH("QuantizeLinear", 23, "precision=10", "int16[1] 1024", "float[1] 2049", "float[] 2",
             "int16[] 0"),
        WITH("QuantizeLinear", 19, "", "uint8[1] 3", "float16[1] 3.4", "float16[] 1", "uint8[] 0"),
        WITH("QuantizeLinear", 10, "", "uint8[1] 5", "int32[1] 10", "float[] 2", "uint8[] 0"),
        WITH("QuantizeLinear", 13, "axis=0", "E_OPERATOR", "float[2] 1 2", "float[3] 1 1 1",
             "uint8[3] 0 0 0"),
        WITH("QuantizeLinear", 13, "axis=5", "E_OPERATOR", "float[2] 1 2", "float[2] 1 1",
             "uint8[2] 0 0"),
        {"QuantizeLinear",
         10,
         "",
         {"float[2] 3 5", "float[] 2", "uint8[] 1"},
         {"uint8[2] 3 3"},
         0,
         ODB_PREC_F64,
         NULL},
        {"QuantizeLinear",
         19,
         "",
         {"float[1] 3", "float[] 2", "float8e5m2[] 0"},
         {"double[1] 1.5"},
         0,
         ODB_PREC_F64,
         NULL});
}

static void test_quantize__back(void **state)
{
    (void)state;
    RUN_CASES(
        WITH("DequantizeLinear", 10, "", "float[3] -2 0 254", "uint8[3] 127 128 255", "float[] 2",
             "uint8[] 128"),
        WITH("DequantizeLinear", 10, "", "float[1] 6", "int32[1] 3", "float[] 2"),
        WITH("DequantizeLinear", 13, "axis=0", "float[2,2] 1 2 30 40", "int8[2,2] 1 2 3 4",
             "float[2] 1 10"),
        WITH("DequantizeLinear", 21, "axis=0 block_size=2", "float[3,1] 1 2 30", "int4[3,1] 1 2 3",
             "float[2,1] 1 10"),
        WITH("DequantizeLinear", 19, "", "float16[1] 3", "float8e4m3fn[1] 1.5", "float16[] 2"),
        WITH("DequantizeLinear", 23, "output_dtype=10", "float16[1] 6", "int8[1] 3", "float[] 2"),
        WITH("DequantizeLinear", 24, "output_dtype=16", "bfloat16[1] 6", "int8[1] 3",
             "float8e8m0[] 2"),
        WITH("DequantizeLinear", 24, "", "E_OPERATOR", "int8[1] 3", "float8e8m0[] 2"),
        WITH("DequantizeLinear", 10, "", "E_OPERATOR", "int8[1] 3", "float[] 2", "uint8[] 0"),
        {"DequantizeLinear",
         23,
         "output_dtype=10",
         {"int8[1] 3", "float[] 2"},
         {"double[1] 6"},
         0,
         ODB_PREC_F64,
         NULL});
}

static void test_quantize__dynamic(void **state)
{
    (void)state;
    RUN_CASES({"DynamicQuantizeLinear",
               11,
               "",
               {"float[6] 0 2 -3 -2.5 1.34 0.5"},
               {"uint8[6] 153 255 0 26 221 179", "float[] 0.019607843831181526", "uint8[] 153"},
               1e-7,
               0,
               NULL},
              {"DynamicQuantizeLinear",
               11,
               "",
               {"float[2] 1 2"},
               {"uint8[2] 127 255", "float[] 0.007843137718737125", "uint8[] 0"},
               1e-7,
               0,
               NULL},
              {"DynamicQuantizeLinear",
               11,
               "",
               {"float[0] "},
               {"uint8[0] ", "float[] 1", "uint8[] 0"},
               0,
               0,
               NULL});
}

/* --- the table -------------------------------------------------------------------------------- */

/* Whatever type a row allows, its kernel knows, in every precision. */
static void assert_row_keeps_its_word(const struct odb_op *op, enum odb_dtype dtype)
{
    struct odb_attr attrs[] = {
        {.name = "to", .type = ODB_ATTR_INT, .i = ODB_F16},
        {.name = "direction", .type = ODB_ATTR_STRING, .s = {"LEFT", 4}},
        {.name = "fmod", .type = ODB_ATTR_INT, .i = 1},
        {.name = "output_dtype", .type = ODB_ATTR_INT, .i = ODB_F16},
    };
    bool quantizes = strcmp(op->name, "QuantizeLinear") == 0; /* not to a half */
    struct odb_tensor *in[MAX_IN] = {NULL};
    int64_t dims[1] = {3};
    uint32_t mask = ODB_T_ANY;
    for (int i = 0; i < op->min_in; i++) {
        mask = odb_op_types(op, i);
        enum odb_dtype type = mask & ODB_BIT(dtype) ? dtype : (enum odb_dtype)__builtin_ctz(mask);
        int rank = strstr(op->name, "antizeLinear") && i == 1 ? 0 : 1;
        assert_int_equal(odb_tensor_new(&in[i], type, rank, dims, NULL), ODB_OK);
        for (size_t e = 0; e < in[i]->count && type != ODB_STRING; e++)
            odb_store_f64(type, in[i]->data, e, 1);
        for (size_t e = 0; e < in[i]->count && type == ODB_STRING; e++)
            assert_int_equal(odb_tensor_set_string(in[i], e, "1", 1, NULL), ODB_OK);
    }
    size_t n_attrs = 0; /* those that the operator has */
    for (size_t a = 0; a < ODB_COUNT(attrs) - (quantizes ? 1 : 0); a++)
        if (odb_op_attr(op, attrs[a].name))
            attrs[n_attrs++] = attrs[a];
    for (int p = ODB_PREC_NATIVE; p <= ODB_PREC_NOISY; p++) {
        struct odb_tensor *out[MAX_OUT] = {NULL};
        bool wanted[MAX_OUT] = {true, true, true};
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_call call = {.op = op,
                                .opset = op->since,
                                .n_in = op->min_in,
                                .n_out = op->min_out,
                                .precision = (enum odb_precision)p,
                                .in = (const struct odb_tensor *const *)in,
                                .wanted = wanted,
                                .attrs = {attrs, n_attrs}};
        if (odb_op_run(&call, out, &err) != ODB_OK)
            fail_msg("%s-%d of %s, precision %d: %s", op->name, op->since,
                     odb_dtype_info(dtype)->name, p, err.what);
        for (int i = 0; i < call.n_out; i++) {
            bool is_double = !odb_dtype_is_float(out[i]->dtype) || out[i]->dtype == ODB_F64;
            assert_true(p != ODB_PREC_F64 || is_double);
            odb_tensor_unref(out[i]);
        }
    }
    for (int i = 0; i < op->min_in; i++)
        odb_tensor_unref(in[i]);
}

extern const struct odb_op odb_ops_unary[], odb_ops_binary[], odb_ops_compare[], odb_ops_choose[],
    odb_ops_activation[], odb_ops_cast[], odb_ops_quantize[];

static void test_elementwise__masks(void **state)
{
    (void)state;
    const struct odb_op *const families[] = {odb_ops_unary,   odb_ops_binary,     odb_ops_compare,
                                             odb_ops_choose,  odb_ops_activation, odb_ops_cast,
                                             odb_ops_quantize};
    for (size_t f = 0; f < ODB_COUNT(families); f++)
        for (const struct odb_op *op = families[f]; op->name; op++)
            for (int t = 1; t < ODB_DTYPE_COUNT; t++)
                if (op->types[0] & ODB_BIT(t) && !(strcmp(op->name, "Cast") == 0 && op->since < 6))
                    assert_row_keeps_its_word(op, (enum odb_dtype)t);
}

/* Honest sigmoids are off by some units of 1, however small they are: a noisy run moves one of
 * 0.0003 by more than its own rounding, and by no more than that of 1. */
static void test_elementwise__sigmoid_noise(void **state)
{
    const int64_t one = 1;
    const float x = -8, exact = 0.00033535013f;
    double most = 0;
    struct odb_tensor *in = NULL;
    bool wanted = true;
    (void)state;
    assert_int_equal(odb_tensor_copy_of(&in, ODB_F32, 1, &one, &x, NULL), ODB_OK);
    for (uint64_t seed = 0; seed < 20; seed++) {
        const struct odb_tensor *operands[] = {in};
        struct odb_tensor *out = NULL;
        struct odb_error err = ODB_ERROR_INIT;
        struct odb_call call = {.op = odb_op_find("", "Sigmoid", 13),
                                .opset = 13,
                                .n_in = 1,
                                .n_out = 1,
                                .precision = ODB_PREC_NOISY,
                                .seed = seed,
                                .in = operands,
                                .wanted = &wanted};
        assert_int_equal(odb_op_run(&call, &out, &err), ODB_OK);
        most = fmax(most, fabs(odb_tensor_f64(out, 0) - (double)exact));
        odb_tensor_unref(out);
    }
    assert_true(most > 1e-8 && most < 0x1p-23);
    odb_tensor_unref(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise__sigmoid_noise),
        cmocka_unit_test(test_elementwise__broadcast),
        cmocka_unit_test(test_elementwise__blocks),
        cmocka_unit_test(test_elementwise__edges),
        cmocka_unit_test(test_unary__exact),
        cmocka_unit_test(test_unary__functions),
        cmocka_unit_test(test_floatmath__half_an_ulp),
        cmocka_unit_test(test_floatmath__two_ulps),
        cmocka_unit_test(test_halves__by_the_piece),
        cmocka_unit_test(test_binary__arithmetic),
        cmocka_unit_test(test_binary__mod),
        cmocka_unit_test(test_binary__pow),
        cmocka_unit_test(test_binary__legacy),
        cmocka_unit_test(test_compare__all),
        cmocka_unit_test(test_choose__where),
        cmocka_unit_test(test_choose__clip),
        cmocka_unit_test(test_choose__fold),
        cmocka_unit_test(test_activation__all),
        cmocka_unit_test(test_cast__numbers),
        cmocka_unit_test(test_cast__float8),
        cmocka_unit_test(test_cast__strings),
        cmocka_unit_test(test_quantize__linear),
        cmocka_unit_test(test_quantize__back),
        cmocka_unit_test(test_quantize__dynamic),
        cmocka_unit_test(test_elementwise__masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
