/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What ONNX's own cases leave out, for the operators of ai.onnx, as tables: a call, and what it
 * gives or, after "!", what its error says. Results must be equal bit for bit, the sign of zero
 * included; after "~" to six digits.
 */
#include "tests/help/op_case.h"

struct edge {
    struct op_call call;
    const char *want[OP_MAX_OUT];
};

/* clang-format off */
#define EDGE_LIST(...) {__VA_ARGS__}
/* inputs stand in parentheses; then the outputs */
#define E(op_name, version, text, inputs, ...)                                                   \
    {{.op = op_name, .opset = version, .attrs = text, .in = EDGE_LIST inputs}, {__VA_ARGS__}}
/* clang-format on */

static bool edge_same(double got, double want, bool roughly)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (roughly && isfinite(want))
        return fabs(got - want) <= 1e-6 * fabs(want);
    return got == want && signbit(got) == signbit(want);
}

static bool edge_same_element(const struct odb_tensor *got, const struct odb_tensor *want, size_t i,
                              bool roughly)
{
    enum odb_dtype_class class_ = odb_dtype_info(want->dtype)->class_;
    enum odb_dtype half = want->dtype == ODB_C64 ? ODB_F32 : ODB_F64;
    if (class_ == ODB_CLASS_FLOAT)
        return edge_same(odb_tensor_f64(got, i), odb_tensor_f64(want, i), roughly);
    if (class_ != ODB_CLASS_COMPLEX)
        return odb_tensor_i64(got, i) == odb_tensor_i64(want, i);
    return edge_same(odb_load_f64(half, got->data, 2 * i), odb_load_f64(half, want->data, 2 * i),
                     roughly) &&
           edge_same(odb_load_f64(half, got->data, 2 * i + 1),
                     odb_load_f64(half, want->data, 2 * i + 1), roughly);
}

/* Whether got is what is written; says what is wrong. */
static bool edge_holds(const struct odb_tensor *got, const char *text)
{
    bool roughly = *text == '~';
    struct odb_tensor *want = op_tensor(text + roughly);
    bool holds = got->dtype == want->dtype && odb_tensor_same_shape(got, want);
    char shape[200];
    if (!holds)
        print_error("%s %s where %s was expected\n", odb_dtype_info(got->dtype)->name,
                    odb_shape_text(got, shape, sizeof shape), text);
    for (size_t i = 0; holds && i < want->count; i++) {
        holds = want->dtype == ODB_STRING ? odb_tensor_identical(got, want)
                                          : edge_same_element(got, want, i, roughly);
        if (!holds)
            print_error("element %zu is %.9g where %s was expected\n", i, odb_tensor_f64(got, i),
                        text);
    }
    odb_tensor_unref(want);
    return holds;
}

static bool edge_check(const struct edge *e)
{
    struct odb_tensor *out[OP_MAX_OUT] = {NULL};
    struct odb_error err = ODB_ERROR_INIT;
    const char *refusal = e->want[0][0] == '!' ? e->want[0] + 1 : NULL;
    int n = 0;
    while (n < OP_MAX_OUT && e->want[n])
        n++;
    enum odb_status status = op_run_text(&e->call, n, out, &err);
    bool holds = refusal ? status != ODB_OK && strstr(err.what, refusal) : status == ODB_OK;
    if (!holds)
        print_error("status %d, \"%s\"\n", status, status == ODB_OK ? "" : err.what);
    for (int i = 0; i < n && status == ODB_OK; i++) {
        holds = holds && edge_holds(out[i], e->want[i]);
        odb_tensor_unref(out[i]);
    }
    return holds;
}

/* All of them, so that one run shows everything that does not hold. */
static void edges_check(const struct edge *edges, size_t n)
{
    int broken = 0;
    for (size_t i = 0; i < n; i++) {
        const struct op_call *c = &edges[i].call;
        if (edge_check(&edges[i]))
            continue;
        broken++;
        print_error("    %s-%d %s (%s, %s, %s)\n", c->op, c->opset, c->attrs,
                    c->in[0] ? c->in[0] : "", c->in[1] ? c->in[1] : "", c->in[2] ? c->in[2] : "");
    }
    if (broken)
        fail_msg("%d of %zu do not hold", broken, n);
}
#define EDGES(...)                                                                                 \
    do {                                                                                           \
        static const struct edge edges_[] = {__VA_ARGS__};                                         \
        edges_check(edges_, ODB_COUNT(edges_));                                                    \
    } while (0)

/* clang-format off */

/* --- element-wise --------------------------------------------------------------------------- */

static void test_edges__broadcast(void **state)
{
    EDGES(
        E("Add", 6, "broadcast=1 axis=9223372036854775807",
          ("float[2,3] 1 2 3 4 5 6", "float[3] 1 2 3"), "!from axis 9223372036854775807"),
        E("Add", 14, "", ("float[2,1] 1 2", "float[1,3] 10 20 30"), "float[2,3] 11 21 31 12 22 32"),
        E("Add", 14, "", ("float[3] 1 2 3", "float[2,1,1] 10 20"),
          "float[2,1,3] 11 12 13 21 22 23"),
        E("Add", 14, "", ("float[0,3] ", "float[1,1] 1"), "float[0,3] "),
        E("Add", 14, "", ("float[2,0] ", "float[] 1"), "float[2,0] "),
        E("Add", 14, "", ("float[0] ", "float[2] 1 2"), "!do not broadcast"),
        E("Add", 14, "", ("float[] 1", "float[] 2"), "float[] 3"),
        E("Add", 14, "", ("float[1] 1", "float[] 2"), "float[1] 3"),
        E("Add", 14, "", ("float[2,3] 1 2 3 4 5 6", "float[2] 1 2"), "!do not broadcast"),
        E("Where", 16, "", ("bool[2,1] 1 0", "int64[3] 1 2 3", "int64[1,1] 9"),
          "int64[2,3] 1 2 3 9 9 9"),
        E("Where", 16, "", ("bool[] 0", "float[0] ", "float[1] 1"), "float[0] "),
        E("Max", 13, "", ("float[2,1] 1 5", "float[3] 0 3 9", "float[] 2"),
          "float[2,3] 2 3 9 5 5 9"),
        E("Max", 6, "", ("float[2] 1 2", "float[1] 3"), "!one shape before opset 8"),
        E("Add", 6, "broadcast=1 axis=0", ("float[2,3] 1 2 3 4 5 6", "float[2] 10 20"),
          "float[2,3] 11 12 13 24 25 26"),
        E("Add", 6, "broadcast=1 axis=-2", ("float[2,3] 1 2 3 4 5 6", "float[2] 10 20"),
          "float[2,3] 11 12 13 24 25 26"),
        E("Add", 6, "broadcast=1", ("float[2,3] 1 2 3 4 5 6", "float[3] 1 1 1"),
          "float[2,3] 2 3 4 5 6 7"),
        E("Add", 6, "", ("float[2,3] 1 2 3 4 5 6", "float[3] 1 1 1"), "!does not broadcast"),
        E("Sub", 1, "broadcast=1 axis=2 consumed_inputs=0,0,", ("float[2] 1 2", "float[2] 1 2"),
          "!does not broadcast"),
        E("PRelu", 16, "", ("float[2,2] -1 -2 3 -4", "float[2,1] 2 3"), "float[2,2] -2 -4 3 -12"),
        E("PRelu", 16, "", ("float[2] -1 -2", "float[2,1] 2 3"), "!does not broadcast"),
        E("Mean", 13, "", ("float[1] 1", "float[3] 4 5 6"), "float[3] 2.5 3 3.5"),
        /* The last gives dimensions along which the first two stand still. */
        E("Mean", 13, "", ("float[1] 1", "float[] 2", "float[3] 3 6 9"), "float[3] 2 3 4"),
        E("Max", 13, "", ("int64[2,1] 1 7", "int64[1] 5", "int64[3] 4 6 8"),
          "int64[2,3] 5 6 8 7 7 8"),
        E("Sum", 13, "", ("float[0] "), "float[0] "));
}

static void test_edges__integers_wrap(void **state)
{
    EDGES(
        E("Add", 14, "", ("int8[2] 127 -128", "int8[] -1"), "int8[2] 126 127"),
        E("Add", 14, "", ("uint8[1] 255", "uint8[1] 1"), "uint8[1] 0"),
        E("Sub", 14, "", ("uint16[1] 0", "uint16[1] 1"), "uint16[1] 65535"),
        E("Sub", 14, "", ("int64[1] -9223372036854775808", "int64[1] 1"),
          "int64[1] 9223372036854775807"),
        E("Mul", 14, "", ("int8[1] -128", "int8[1] -1"), "int8[1] -128"),
        E("Mul", 14, "", ("int32[1] 65536", "int32[1] 65536"), "int32[1] 0"),
        E("Mul", 14, "", ("uint64[1] 18446744073709551615", "uint64[1] 2"),
          "uint64[1] 18446744073709551614"),
        E("Neg", 13, "", ("int8[2] -128 0"), "int8[2] -128 0"),
        E("Abs", 13, "", ("int8[3] -128 -1 1"), "int8[3] -128 1 1"),
        E("Abs", 13, "", ("int64[1] -9223372036854775808"), "int64[1] -9223372036854775808"),
        E("ReduceSum", 13, "", ("int32[2] 2147483647 1"), "int32[1] -2147483648"),
        E("ReduceSum", 13, "", ("uint64[2] 18446744073709551615 2"), "uint64[1] 1"),
        E("ReduceProd", 18, "keepdims=0", ("int32[2] 65536 65536"), "int32[] 0"),
        E("ReduceL1", 18, "", ("int32[1] -2147483648"), "int32[1] -2147483648"),
        E("ReduceSumSquare", 18, "", ("int32[1] 65536"), "int32[1] 0"),
        E("CumSum", 14, "", ("int32[2] 2147483647 1", "int64[] 0"),
          "int32[2] 2147483647 -2147483648"),
        E("ScatterElements", 18, "reduction=add",
          ("uint8[2] 250 250", "int64[2] 0 0", "uint8[2] 5 5"), "uint8[2] 4 250"),
        E("Range", 11, "", ("int64[] 9223372036854775806", "int64[] 9223372036854775807",
                            "int64[] 5"), "int64[1] 9223372036854775806"),
        E("Einsum", 12, "equation=i,i->", ("int8[2] 100 100", "int8[2] 2 1"), "int8[] 44"),
        E("MatMul", 13, "", ("int32[1,2] 65536 1", "int32[2,1] 65536 7"), "int32[1,1] 7"));
}

static void test_edges__division(void **state)
{
    EDGES(
        E("Div", 14, "", ("int32[4] -7 7 -7 7", "int32[4] 2 -2 -2 2"), "int32[4] -3 -3 3 3"),
        E("Div", 14, "", ("int8[1] -128", "int8[1] -1"), "int8[1] -128"),
        E("Div", 14, "", ("int64[1] -9223372036854775808", "int64[] -1"),
          "int64[1] -9223372036854775808"),
        E("Div", 14, "", ("uint64[1] 18446744073709551615", "uint64[1] 2"),
          "uint64[1] 9223372036854775807"),
        E("Div", 14, "", ("int32[2] 1 2", "int32[2] 1 0"), "!integer division by zero"),
        E("Div", 14, "", ("uint8[0] ", "uint8[1] 0"), "uint8[0] "),
        E("Div", 14, "", ("float[5] 1 -1 0 1 -1", "float[5] 0 0 0 -0 inf"),
          "float[5] inf -inf nan -inf -0"),
        E("Mod", 13, "", ("int32[4] -7 7 -7 7", "int32[4] 3 -3 -3 3"), "int32[4] 2 -2 -1 1"),
        E("Mod", 13, "fmod=1", ("int32[4] -7 7 -7 7", "int32[4] 3 -3 -3 3"), "int32[4] -1 1 -1 1"),
        E("Mod", 13, "", ("int64[1] -9223372036854775808", "int64[1] -1"), "int64[1] 0"),
        E("Mod", 13, "fmod=1", ("int64[1] -9223372036854775808", "int64[1] -1"), "int64[1] 0"),
        E("Mod", 13, "", ("uint64[1] 18446744073709551615", "uint64[1] 10"), "uint64[1] 5"),
        E("Mod", 13, "", ("int8[1] 1", "int8[1] 0"), "!integer division by zero"),
        E("Mod", 13, "", ("float[1] 1", "float[1] 2"), "!fmod = 1"),
        E("Mod", 13, "fmod=1", ("float[5] -5.5 5 inf 1 -0", "float[5] 2 inf 1 0 3"),
          "float[5] -1.5 5 nan nan -0"),
        E("Mod", 13, "fmod=1", ("float16[1] -5.5", "float16[1] 2"), "float16[1] -1.5"),
        E("Pow", 15, "", ("int32[6] 2 1 -1 0 2 -2", "int32[6] -1 -5 -3 0 31 3"),
          "int32[6] 0 1 -1 1 -2147483648 -8"),
        E("Pow", 15, "", ("int64[2] 0 2", "int64[2] 1 -1"), "int64[2] 0 0"),
        E("Pow", 15, "", ("int64[2] 0 2", "int64[2] -1 1"), "!integer zero to a negative power"),
        E("Pow", 15, "", ("int64[1] 9", "float[1] 0.5"), "int64[1] 3"),
        E("Pow", 15, "", ("float[5] -8 nan 1 0 -2", "float[5] 0.5 0 nan -1 inf"),
          "float[5] nan 1 1 inf inf"),
        E("Pow", 15, "", ("float16[1] 3", "uint8[1] 2"), "float16[1] 9"),
        E("Pow", 15, "", ("float[2] 2 3", "int64[2] 1100 -1100"), "float[2] inf 0"),
        E("Reciprocal", 13, "", ("float[5] 0 -0 inf 1e-45 nan"), "float[5] inf -inf 0 inf nan"),
        E("BitShift", 11, "direction=LEFT", ("uint8[3] 255 255 1", "uint8[3] 1 8 7"),
          "uint8[3] 254 0 128"),
        E("BitShift", 11, "direction=RIGHT", ("uint64[2] 9223372036854775808 1", "uint64[2] 63 64"),
          "uint64[2] 1 0"),
        E("BitShift", 11, "direction=UP", ("uint8[1] 1", "uint8[1] 1"), "!LEFT or RIGHT"));
}

static void test_edges__floats(void **state)
{
    EDGES(
        E("Add", 14, "", ("float[4] inf inf nan 1e-45", "float[4] -inf inf 1 0"),
          "float[4] nan inf nan 1e-45"),
        E("Add", 14, "", ("float[2] -0 -0", "float[2] -0 0"), "float[2] -0 0"),
        E("Mul", 14, "", ("float[4] inf -0 1e-30 3e38", "float[4] 0 5 1e-30 10"),
          "float[4] nan -0 0 inf"),
        E("Add", 14, "", ("float16[2] 65504 2048", "float16[2] 32 1"), "float16[2] inf 2048"),
        E("Add", 14, "", ("bfloat16[1] 256", "bfloat16[1] 1"), "bfloat16[1] 256"),
        E("Neg", 13, "", ("float[3] 0 -0 nan"), "float[3] -0 0 nan"),
        E("Abs", 13, "", ("float[4] -0 -inf nan -1e-45"), "float[4] 0 inf nan 1e-45"),
        E("Sign", 13, "", ("float[5] -0 nan -inf 1e-45 0"), "float[5] 0 nan -1 1 0"),
        E("Sign", 13, "", ("uint8[2] 0 200"), "uint8[2] 0 1"),
        E("Round", 22, "", ("float[8] 0.5 1.5 2.5 -0.5 -1.5 nan inf 8388609"),
          "float[8] 0 2 2 -0 -2 nan inf 8388609"),
        E("Round", 22, "", ("float16[2] 2.5 -2.5"), "float16[2] 2 -2"),
        E("Floor", 13, "", ("float[5] -0 -0.5 nan -inf 0.99999994"), "float[5] -0 -1 nan -inf 0"),
        E("Ceil", 13, "", ("float[5] -0.5 0.5 nan inf -0"), "float[5] -0 1 nan inf -0"),
        E("Sqrt", 13, "", ("float[4] -1 -0 inf nan"), "float[4] nan -0 inf nan"),
        E("Exp", 13, "", ("float[5] -inf inf 1000 nan -1000"), "float[5] 0 inf inf nan 0"),
        E("Log", 13, "", ("float[4] 0 -1 inf -0"), "float[4] -inf nan inf -inf"),
        E("Tanh", 13, "", ("float[4] inf -inf -0 nan"), "float[4] 1 -1 -0 nan"),
        E("Erf", 13, "", ("float[4] inf -inf 0 nan"), "float[4] 1 -1 0 nan"),
        E("Erf", 13, "", ("int32[5] 0 1 -1 10 -10"), "int32[5] 0 0 0 1 -1"),
        E("Asin", 22, "", ("float[3] 2 -0 nan"), "float[3] nan -0 nan"),
        E("Acosh", 22, "", ("float[2] 1 0.5"), "float[2] 0 nan"),
        E("Atanh", 22, "", ("float[3] 1 -1 2"), "float[3] inf -inf nan"),
        E("Sin", 22, "", ("float[2] inf -0"), "float[2] nan -0"),
        E("Sigmoid", 13, "", ("float[4] inf -inf nan 0"), "float[4] 1 0 nan 0.5"),
        E("Softplus", 22, "", ("float[4] 1000 -1000 inf nan"), "float[4] 1000 0 inf nan"),
        E("Relu", 14, "", ("float[4] nan -inf inf -1e-45"), "float[4] nan 0 inf 0"),
        E("Relu", 14, "", ("int8[3] -128 0 127"), "int8[3] 0 0 127"),
        E("LeakyRelu", 16, "alpha=0.5f", ("float[3] -inf nan -2"), "float[3] -inf nan -1"),
        E("Elu", 22, "alpha=2f", ("float[4] -inf inf nan -0"), "float[4] -2 inf nan -0"),
        E("Selu", 22, "alpha=2f gamma=3f", ("float[3] -inf 1 nan"), "float[3] -6 3 nan"),
        E("Celu", 12, "alpha=2f", ("float[4] -inf 3 nan inf"), "float[4] -2 3 nan inf"),
        E("Celu", 12, "alpha=-2f", ("float[3] 3 0 -2"), "~float[3] 3 0 -3.436563657"),
        E("HardSigmoid", 22, "", ("float[4] inf -inf nan 0"), "float[4] 1 0 nan 0.5"),
        E("ThresholdedRelu", 22, "alpha=1f", ("float[3] 1 1.5 nan"), "float[3] 0 1.5 0"),
        E("Shrink", 9, "lambd=1f bias=0.5f", ("float[5] -1 1 2 -2 nan"),
          "float[5] 0 0 1.5 -1.5 0"),
        E("Shrink", 9, "lambd=1.5f bias=1f", ("int8[4] -2 1 2 -128"), "int8[4] -1 0 1 -127"),
        E("Shrink", 9, "bias=27670116110564327424f", ("int64[3] 4 -4 0"),
          "int64[3] -9223372036854775804 9223372036854775804 0"),
        E("Shrink", 9, "bias=3e38f", ("uint32[1] 4"), "uint32[1] 4"),
        E("Shrink", 9, "bias=0.25f", ("int64[3] 9007199254740993 -9007199254740993 -1"),
          "int64[3] 9007199254740992 -9007199254740992 0"),
        E("Shrink", 9, "lambd=1.8446744e19f bias=0.5f", ("uint64[1] 18446744073709551615"),
          "uint64[1] 0"),
        E("Shrink", 9, "lambd=0.5f bias=-0.9999f", ("uint64[2] 18446744073709551614 0"),
          "uint64[2] 18446744073709551614 0"),
        E("Gemm", 13, "alpha=3e38f", ("int64[1,1] 5", "int64[1,1] 7"), "int64[1,1] 0"),
        E("Gemm", 13, "alpha=0.5f beta=0.25f",
          ("uint64[1,1] 18446744073709551615", "uint64[1,1] 1", "uint64[1] 18446744073709551615"),
          "uint64[1,1] 13835058055282163712"),
        E("Gelu", 20, "", ("float[2] inf nan"), "float[2] inf nan"),
        E("Softsign", 22, "", ("float[2] -1 3"), "float[2] -0.5 0.75"));
}

static void test_edges__compare_and_choose(void **state)
{
    EDGES(
        E("Equal", 19, "", ("float[4] nan 0 inf -inf", "float[4] nan -0 inf inf"),
          "bool[4] 0 1 1 0"),
        E("Less", 13, "", ("float[3] nan 1 -inf", "float[3] 1 nan inf"), "bool[3] 0 0 1"),
        E("GreaterOrEqual", 16, "", ("float[2] nan 0", "float[2] nan -0"), "bool[2] 0 1"),
        E("LessOrEqual", 16, "", ("bfloat16[2] 1 2", "bfloat16[] 1"), "bool[2] 1 0"),
        E("Greater", 13, "", ("uint64[2] 18446744073709551615 0", "uint64[] 1"), "bool[2] 1 0"),
        E("Less", 13, "", ("int8[2] -1 1", "int8[] 0"), "bool[2] 1 0"),
        E("Equal", 19, "", ("string[2,1] a b", "string[2] b a"), "bool[2,2] 0 1 1 0"),
        E("Equal", 19, "", ("string[2] '' x", "string[2] '' ''"), "bool[2] 1 0"),
        E("Equal", 19, "", ("bool[2] 1 0", "bool[2] 1 1"), "bool[2] 1 0"),
        E("And", 7, "", ("bool[2,1] 0 1", "bool[2] 0 1"), "bool[2,2] 0 0 0 1"),
        E("Xor", 7, "", ("bool[0] ", "bool[1] 1"), "bool[0] "),
        E("Not", 1, "", ("bool[] 0"), "bool[] 1"),
        E("BitwiseNot", 18, "", ("uint16[1] 0"), "uint16[1] 65535"),
        E("BitwiseXor", 18, "", ("int8[2] -1 5", "int8[] 1"), "int8[2] -2 4"),
        E("IsNaN", 20, "", ("float8e4m3fn[2] nan 448"), "bool[2] 1 0"),
        E("IsInf", 20, "detect_negative=0", ("float8e5m2[0] "), "bool[0] "),
        E("IsInf", 10, "detect_negative=0", ("float[4] inf -inf nan 1"), "bool[4] 1 0 0 0"),
        E("IsInf", 20, "detect_positive=0 detect_negative=0", ("bfloat16[2] inf -inf"),
          "bool[2] 0 0"),
        E("Where", 16, "", ("bool[2] 1 0", "string[] yes", "string[2] no ''"), "string[2] yes ''"),
        E("Where", 16, "", ("bool[2] 1 0", "complex64[2] 1 2 3 4", "complex64[] 5 -0"),
          "complex64[2] 1 2 5 -0"),
        E("Where", 16, "", ("bool[2] 1 0", "float[2] nan 1", "float[2] 1 -0"), "float[2] nan -0"),
        E("Max", 13, "", ("float[4] nan 1 inf -0", "float[4] 1 nan 5 -1"),
          "float[4] nan nan inf -0"),
        E("Min", 13, "", ("float[3] nan 1 -inf", "float[3] 1 nan 5"), "float[3] nan nan -inf"),
        E("Max", 13, "", ("uint64[1] 18446744073709551615", "uint64[1] 1"),
          "uint64[1] 18446744073709551615"),
        E("Min", 13, "", ("int8[2] -128 3"), "int8[2] -128 3"),
        E("Max", 13, "", ("float[1] 1", "double[1] 1"), "!one type"),
        E("Clip", 13, "", ("float[3] nan -inf inf", "float[] -1", "float[] 1"),
          "float[3] nan -1 1"),
        E("Clip", 13, "", ("float[1] 5", "float[] 4", "float[] 2"), "float[1] 2"),
        E("Clip", 13, "", ("float[1] 5", "float[] 4", "float[2] 2 3"), "!must be one"),
        E("Clip", 13, "", ("int8[3] -128 0 127", "-", "int8[] 5"), "int8[3] -128 0 5"),
        E("Clip", 13, "", ("uint64[2] 18446744073709551615 3", "uint64[] 4"),
          "uint64[2] 18446744073709551615 4"),
        E("Clip", 13, "", ("float16[2] inf 1", "float16[] 0"), "float16[2] 65504 1"),
        E("Clip", 13, "", ("float[0] ", "float[] 0"), "float[0] "),
        E("Clip", 6, "max=2f", ("float16[2] 1 3"), "float16[2] 1 2"));
}

/* --- types ---------------------------------------------------------------------------------- */

static void test_edges__cast(void **state)
{
    EDGES(
        E("Cast", 13, "to=1", ("string[7] 1e-5 -INF nan +inf 3.14 -0 1E8"),
          "float[7] 1e-5 -inf nan inf 3.14 -0 1e8"),
        E("Cast", 13, "to=1", ("string[1] Hello"), "!is not a number"),
        E("Cast", 13, "to=1", ("string[1] ''"), "!is not a number"),
        E("Cast", 13, "to=7", ("string[1] 0x10"), "!is not a number"),
        E("Cast", 13, "to=13", ("string[1] 18446744073709551615"),
          "uint64[1] 18446744073709551615"),
        E("Cast", 13, "to=7", ("string[2] -9223372036854775808 9007199254740993"),
          "int64[2] -9223372036854775808 9007199254740993"),
        E("Cast", 13, "to=8", ("uint64[1] 18446744073709551615"), "string[1] 18446744073709551615"),
        E("Cast", 13, "to=8", ("int8[2] -128 0"), "string[2] -128 0"),
        E("Cast", 13, "to=8", ("float[6] 0.1 1e16 -0 nan inf 100"),
          "string[6] 0.1 1e+16 -0.0 nan inf 100.0"),
        E("Cast", 13, "to=8", ("double[3] 0.1 1e-5 123456789.125"),
          "string[3] 0.1 1e-05 123456789.125"),
        E("Cast", 13, "to=8", ("float16[2] 0.1 65504"), "string[2] 0.1 65500.0"),
        E("Cast", 13, "to=8", ("bool[2] 1 0"), "string[2] 1 0"),
        E("Cast", 13, "to=9", ("float[4] 0 -0 nan 1e-45"), "bool[4] 0 0 1 1"),
        E("Cast", 13, "to=9", ("uint8[2] 36 0"), "bool[2] 1 0"),
        E("Cast", 13, "to=3", ("int16[3] 200 -129 127"), "int8[3] -56 127 127"),
        E("Cast", 13, "to=3", ("double[3] -1.9 127.9 -128"), "int8[3] -1 127 -128"),
        E("Cast", 13, "to=5", ("float[3] -1.9 32767.9 -32768"), "int16[3] -1 32767 -32768"),
        E("Cast", 13, "to=5", ("double[3] -1.9 32767.9 -32768"), "int16[3] -1 32767 -32768"),
        E("Cast", 13, "to=4", ("double[3] 0.9 65535.9 1"), "uint16[3] 0 65535 1"),
        E("Cast", 13, "to=12", ("float[2] 4294967040 1.9"), "uint32[2] 4294967040 1"),
        E("Cast", 13, "to=12", ("double[2] 4294967295.9 1"), "uint32[2] 4294967295 1"),
        E("Cast", 13, "to=13", ("float[2] 18446742974197923840 1.9"),
          "uint64[2] 18446742974197923840 1"),
        E("Cast", 13, "to=13", ("int8[1] -1"), "uint64[1] 18446744073709551615"),
        E("Cast", 13, "to=10", ("double[3] 65520 65519.999 2049.0000001"),
          "float16[3] inf 65504 2050"),
        E("Cast", 13, "to=1", ("int64[1] 16777217"), "float[1] 16777216"),
        E("Cast", 13, "to=1", ("uint64[1] 18446744073709551615"), "float[1] 18446744073709551616"),
        E("Cast", 21, "to=22", ("int32[4] 200 -1 7 -9"), "int4[4] -8 -1 7 7"),
        E("Cast", 21, "to=21", ("float[3] 0 7.9 15"), "uint4[3] 0 7 15"),
        E("Cast", 21, "to=1", ("int4[3] -8 7 -1"), "float[3] -8 7 -1"),
        E("Cast", 25, "to=26", ("int8[5] 1 -2 2 0 -1"), "int2[5] 1 -2 -2 0 -1"),
        E("Cast", 25, "to=25", ("bool[3] 1 0 1"), "uint2[3] 1 0 1"),
        E("Cast", 21, "to=8", ("uint4[3] 15 0 9"), "string[3] 15 0 9"),
        E("Cast", 19, "to=17", ("float[5] 1000 -1000 inf nan -0"),
          "float8e4m3fn[5] 448 -448 448 nan -0"),
        E("Cast", 19, "to=17 saturate=0", ("float[3] 464 465 inf"), "float8e4m3fn[3] 448 nan nan"),
        E("Cast", 19, "to=19 saturate=0", ("float[3] 61439 61440 -inf"),
          "float8e5m2[3] 57344 inf -inf"),
        E("Cast", 19, "to=17", ("string[2] 1000 0.0625"), "float8e4m3fn[2] 448 0.0625"),
        E("Cast", 19, "to=17 saturate=0", ("string[2] 1000 1"), "float8e4m3fn[2] nan 1"),
        E("Cast", 24, "to=24 round_mode=down", ("float[3] 1.9 3 4"), "float8e8m0[3] 1 2 4"),
        E("Cast", 24, "to=24 round_mode=nearest", ("float[3] 1.4 1.5 3"), "float8e8m0[3] 1 2 4"),
        E("Cast", 24, "to=24", ("float[2] 1.1 4"), "float8e8m0[2] 2 4"),
        E("Cast", 24, "to=24 round_mode=odd", ("float[1] 1"), "!round_mode"),
        E("Cast", 23, "to=23", ("float[5] 6.9 -7 0.25 0.75 2.5"), "float4e2m1[5] 6 -6 0 1 2"),
        E("Cast", 6, "to=1", ("bool[0] "), "float[0] "),
        E("Cast", 13, "to=99", ("float[1] 1"), "!no element type"),
        E("Cast", 1, "to=INT32", ("float[2] 1.9 -1.9"), "int32[2] 1 -1"),
        E("CastLike", 19, "", ("float[1] 1.5", "string[0] "), "string[1] 1.5"),
        E("CastLike", 19, "saturate=0", ("float[1] 1e6", "float8e5m2fnuz[0] "),
          "float8e5m2fnuz[1] nan"),
        E("BitCast", 26, "to=10", ("uint16[1] 15360"), "float16[1] 1"),
        E("BitCast", 26, "to=1", ("uint16[1] 1"), "!not as many bits"));
}

static void test_edges__quantize(void **state)
{
    EDGES(
        E("QuantizeLinear", 21, "", ("float[4] 1.5 -3 1e6 -1e6", "float[] 0.5", "uint16[] 100"),
          "uint16[4] 103 94 65535 0"),
        E("QuantizeLinear", 13, "", ("float[6] 0.5 1.5 2.5 -0.5 1000 -1000", "float[] 1",
                                     "int8[] 0"), "int8[6] 0 2 2 0 127 -128"),
        E("QuantizeLinear", 13, "", ("float[4] 1 -1 inf 127.5", "float[] 1", "uint8[] 128"),
          "uint8[4] 129 127 255 255"),
        E("QuantizeLinear", 21, "", ("float[3] 100 -100 3", "float[] 1", "int4[] 1"),
          "int4[3] 7 -8 4"),
        E("QuantizeLinear", 21, "", ("float[3] 70000 -1 3", "float[] 1", "uint16[] 0"),
          "uint16[3] 65535 0 3"),
        E("QuantizeLinear", 25, "", ("float[3] 5 -5 1", "float[] 1", "int2[] 0"),
          "int2[3] 1 -2 1"),
        E("QuantizeLinear", 13, "axis=-1", ("float[2,2] 1 1 2 2", "float[2] 1 0.5", "uint8[2] 0 1"),
          "uint8[2,2] 1 3 2 5"),
        E("QuantizeLinear", 13, "axis=5", ("float[2,2] 1 1 2 2", "float[2] 1 2", "uint8[2] 0 1"),
          "!axis 5"),
        E("QuantizeLinear", 21, "axis=0 block_size=2", ("float[3] 1 2 3", "float[2] 1 0.5"),
          "uint8[3] 1 2 6"),
        E("QuantizeLinear", 21, "axis=0 block_size=2", ("float[3] 1 2 3", "float[3] 1 1 1"),
          "!does not fit blocks"),
        E("QuantizeLinear", 13, "", ("float[0] ", "float[] 1", "int8[] 0"), "int8[0] "),
        E("QuantizeLinear", 19, "", ("float[2] 500 1", "float[] 1", "float8e4m3fn[] 0"),
          "float8e4m3fn[2] 448 1"),
        E("QuantizeLinear", 21, "output_dtype=22", ("float[1] -9", "float[] 1"), "int4[1] -8"),
        E("DequantizeLinear", 13, "", ("int32[1] 16777217", "float[] 1", "int32[] 16777216"),
          "float[1] 1"),
        E("DequantizeLinear", 21, "", ("int4[3] -8 7 0", "float16[] 0.5", "int4[] -1"),
          "float16[3] -3.5 4 0.5"),
        E("DequantizeLinear", 13, "", ("uint8[2] 1 2", "float[] 1", "int8[] 1"),
          "!inputs 0 and 2 of DequantizeLinear must be of one type"),
        E("DequantizeLinear", 19, "", ("float8e5m2[2] inf nan", "float[] 2"), "float[2] inf nan"),
        E("DequantizeLinear", 25, "", ("uint2[3] 0 3 1", "float[] 2"), "float[3] 0 6 2"),
        E("QLinearMatMul", 21, "",
          ("float8e4m3fn[1,2] 1 2", "float[] 0.5", "float8e4m3fn[] 0", "float8e4m3fn[2,1] 3 4",
           "float[] 1", "float8e4m3fn[] 0", "float[] 0.5", "float8e4m3fn[] 0"),
          "float8e4m3fn[1,1] 11"),
        E("QLinearMatMul", 21, "",
          ("float8e4m3fn[1,2] 1 2", "float[] 0.5", "float8e4m3fn[] 0", "float8e4m3fn[2,1] 3 4",
           "float16[] 1", "float8e4m3fn[] 0", "float[] 0.5", "float8e4m3fn[] 0"),
          "!inputs 1 and 4 of QLinearMatMul must be of one type, and are float and float16"),
        E("QLinearMatMul", 21, "",
          ("uint8[1,2] 2 3", "float[] 1", "uint8[] 1", "float8e5m2[2,1] 3 40", "float[] 1",
           "float8e5m2[] 0", "float[] 2", "int8[] 100"), "int8[1,1] 127"),
        E("QLinearMatMul", 10, "",
          ("uint8[1,0]", "float[] 0.5", "uint8[] 1", "uint8[0,2]", "float[] 0.5", "uint8[] 2",
           "float[] 1", "uint8[] 7"),
          "uint8[1,2] 7 7"),
        E("QLinearMatMul", 10, "",
          ("float[1,1] 1", "float[] 1", "int8[] 0", "int8[1,1] 3", "float[] 1", "int8[] 0",
           "float[] 1", "int8[] 0"), "!input 0 of type float"),
        E("DynamicQuantizeLinear", 11, "", ("float[2] 0 0"), "uint8[2] 0 0", "float[] 1",
          "uint8[] 0"),
        E("DynamicQuantizeLinear", 11, "", ("float[2] -255 0"), "uint8[2] 0 255", "float[] 1",
          "uint8[] 255"));
}

/* --- shapes and moves ----------------------------------------------------------------------- */

static void test_edges__shape(void **state)
{
    EDGES(
        E("Reshape", 14, "", ("float[2,3] 1 2 3 4 5 6", "int64[2] 0 -1"),
          "float[2,3] 1 2 3 4 5 6"),
        E("Reshape", 14, "", ("float[1] 5", "int64[0] "), "float[] 5"),
        E("Reshape", 14, "", ("float[] 5", "int64[2] 1 -1"), "float[1,1] 5"),
        E("Reshape", 14, "allowzero=1", ("float[0,3] ", "int64[2] 3 0"), "float[3,0] "),
        E("Reshape", 14, "", ("float[0,3] ", "int64[2] 3 -1"), "float[3,0] "),
        E("Reshape", 14, "", ("float[2] 1 2", "int64[2] -1 -1"), "!both -1"),
        E("Reshape", 14, "", ("float[2] 1 2", "int64[3] 1 2 0"), "!rank 1"),
        E("Reshape", 14, "", ("float[2] 1 2", "int64[1] 3"), "!cannot be reshaped"),
        E("Reshape", 14, "", ("float[2] 1 2", "int64[1] -2"), "!cannot be reshaped"),
        E("Reshape", 14, "", ("float[2] 1 2", "float[1] 2"), "!input 1 of type float"),
        E("Reshape", 1, "shape=2,1,", ("string[2] a b"), "string[2,1] a b"),
        E("Reshape", 21, "", ("int4[3] 1 -8 7", "int64[2] 1 3"), "int4[1,3] 1 -8 7"),
        E("Flatten", 13, "axis=0", ("float[] 5"), "float[1,1] 5"),
        E("Flatten", 13, "axis=-1", ("float[2,1,2] 1 2 3 4"), "float[2,2] 1 2 3 4"),
        E("Flatten", 13, "axis=2", ("float[2,0] "), "float[0,1] "),
        E("Flatten", 13, "axis=3", ("float[2,0] "), "!axis 3"),
        E("Squeeze", 13, "", ("float[1,2,1] 1 2"), "float[2] 1 2"),
        E("Squeeze", 13, "", ("float[1,2,1] 1 2", "int64[1] -1"), "float[1,2] 1 2"),
        E("Squeeze", 13, "", ("float[1,2,1] 1 2", "int64[1] 1"), "!cannot be squeezed"),
        E("Squeeze", 13, "", ("float[1,2,1] 1 2", "int64[1] 3"), "!axis 3"),
        E("Squeeze", 11, "axes=0,2,", ("float[1,0,1] "), "float[0] "),
        E("Unsqueeze", 13, "", ("float[] 5", "int64[2] 0 -1"), "float[1,1] 5"),
        E("Unsqueeze", 13, "", ("float[2] 1 2", "int64[2] 0 0"), "!twice"),
        E("Unsqueeze", 13, "", ("float[2] 1 2", "int64[1] 2"), "!axis 2"),
        E("Shape", 21, "start=-1 end=9", ("float[2,0,3] "), "int64[1] 3"),
        E("Shape", 21, "start=2 end=1", ("float[2,0,3] "), "int64[0] "),
        E("Shape", 21, "", ("string[] a"), "int64[0] "),
        E("Size", 21, "", ("uint4[] 3"), "int64[] 1"),
        E("Size", 21, "", ("float[2,0] "), "int64[] 0"),
        E("Identity", 16, "", ("complex128[1] 1 -0"), "complex128[1] 1 -0"),
        E("Expand", 13, "", ("float[3,1] 1 2 3", "int64[1] 2"), "float[3,2] 1 1 2 2 3 3"),
        E("Expand", 13, "", ("string[] a", "int64[2] 1 2"), "string[1,2] a a"),
        E("Expand", 13, "", ("float[1] 1", "int64[2] 2 0"), "float[2,0] "),
        E("Expand", 13, "", ("float[2] 1 2", "int64[1] 3"), "!do not broadcast"),
        E("ConstantOfShape", 9, "", ("int64[0] "), "float[] 0"),
        E("ConstantOfShape", 9, "", ("int64[2] 2 0"), "float[2,0] "),
        E("ConstantOfShape", 9, "", ("int64[1] -1"), "!dimension 0 = -1"),
        E("ConstantOfShape", 25, "value=@int4[1]:-3", ("int64[1] 3"), "int4[3] -3 -3 -3"),
        E("ConstantOfShape", 9, "value=@bool[2]:1:1", ("int64[1] 3"), "!2 elements"),
        E("EyeLike", 9, "k=5", ("int8[2,2] 0 0 0 0"), "int8[2,2] 0 0 0 0"),
        E("EyeLike", 22, "k=-1 dtype=16", ("bool[2,2] 0 0 0 0"), "bfloat16[2,2] 0 0 1 0"),
        E("EyeLike", 9, "", ("float[2] 0 0"), "!rank 1"),
        E("Range", 11, "", ("float[] 3", "float[] 1", "float[] -0.5"), "float[4] 3 2.5 2 1.5"),
        E("Range", 11, "", ("int16[] 3", "int16[] 1", "int16[] 1"), "int16[0] "),
        E("Range", 11, "", ("int32[] 1", "int32[] 3", "int32[] 0"), "!delta is 0"),
        E("Range", 27, "", ("float16[] 2048", "float16[] 2052", "float16[] 1"),
          "float16[4] 2048 2048 2050 2052"),
        E("Range", 27, "stash_type=10", ("float16[] 0", "float16[] 2", "float16[] 1"),
          "!stash_type"));
}

static void test_edges__moves(void **state)
{
    EDGES(
        E("DeformConv", 19, "offset_group=4611686018427387904",
          ("float[1,0,2,2] ", "float[1,0,2,2] ", "float[1,0,1,1] "), "!groups of offsets"),
        E("ConvTranspose", 11, "group=4611686018427387904",
          ("float[1,0,2] ", "float[0,4,1] "), "!with group 4611686018427387904"),
        E("Transpose", 21, "", ("float[] 5"), "float[] 5"),
        E("Transpose", 21, "", ("uint4[3,1] 1 2 15"), "uint4[1,3] 1 2 15"),
        E("Transpose", 21, "perm=1,0,", ("string[2,2] a b c d"), "string[2,2] a c b d"),
        E("Transpose", 21, "perm=1,0,", ("float[2,0] "), "float[0,2] "),
        E("Transpose", 21, "perm=0,0,", ("float[2,1] 1 2"), "!no permutation"),
        E("Transpose", 21, "perm=0,", ("float[2,1] 1 2"), "!perm has 1"),
        E("Concat", 13, "axis=-1", ("float[2,1] 1 2", "float[2,0] ", "float[2,1] 3 4"),
          "float[2,2] 1 3 2 4"),
        E("Concat", 13, "axis=0", ("int4[1] 1", "int4[2] -8 7"), "int4[3] 1 -8 7"),
        E("Concat", 13, "axis=0", ("string[1] a"), "string[1] a"),
        E("Concat", 13, "axis=1", ("float[1] 1", "float[1] 1"), "!axis 1"),
        E("Concat", 13, "axis=0", ("float[1,2] 1 2", "float[1,3] 1 2 3"), "!does not fit"),
        E("Concat", 13, "axis=0", ("float[1] 1", "int32[1] 1"),
          "!inputs 0 and 1 of Concat must be of one type"),
        E("Split", 18, "num_outputs=2 axis=-1", ("int64[3] 1 2 3"), "int64[2] 1 2", "int64[1] 3"),
        E("Split", 13, "", ("float[3] 1 2 3", "int64[2] 0 3"), "float[0] ", "float[3] 1 2 3"),
        E("Split", 13, "", ("float[3] 1 2 3", "int64[2] 1 3"), "!adds up to 4", ""),
        E("Split", 13, "", ("float[3] 1 2 3", "int64[2] -1 4"), "!split[0] is -1", ""),
        E("Split", 13, "", ("float[3] 1 2 3"), "!cannot be split into 2 parts", ""),
        E("Split", 2, "split=1,1,", ("bool[2] 1 0"), "bool[1] 1", "bool[1] 0"),
        E("Slice", 13, "", ("float[4] 1 2 3 4", "int64[1] -1", "int64[1] -9223372036854775808",
                            "int64[1] 0", "int64[1] -2"), "float[2] 4 2"),
        E("Slice", 13, "", ("float[4] 1 2 3 4", "int32[1] 9", "int32[1] 99"), "float[0] "),
        E("Slice", 13, "", ("float[2] 1 2", "int64[1] 0", "int64[1] 9223372036854775807"),
          "float[2] 1 2"),
        E("Slice", 13, "", ("float[2] 1 2", "int64[1] 0", "int64[1] 1", "int64[1] 0", "int64[1] 0"),
          "!step of axis 0 is 0"),
        E("Slice", 13, "", ("float[2] 1 2", "int64[1] 0", "int64[1] 1", "int64[1] 1"), "!axis 1"),
        E("Slice", 13, "", ("float[1,2] 1 2", "int64[2] 0 0", "int64[2] 1 1", "int64[2] 1 -1"),
          "!sliced twice"),
        E("Slice", 1, "starts=1, ends=-1, axes=-1,", ("string[3] a b c"), "string[1] b"),
        E("Tile", 13, "", ("float[2] 1 2", "int64[1] 0"), "float[0] "),
        E("Tile", 13, "", ("float[2] 1 2", "int64[2] 1 1"), "!2 repeats"),
        E("Tile", 13, "", ("float[2] 1 2", "int64[1] -1"), "!cannot be repeated"),
        E("Tile", 13, "", ("uint4[3] 1 2 3", "int64[1] 2"), "uint4[6] 1 2 3 1 2 3"),
        E("Tile", 1, "", ("float[1,2] 1 2", "float[] 2", "float[] 0"), "float[2,2] 1 2 1 2"),
        E("Pad", 21, "", ("float[3] 1 2 3", "int64[2] -1 1", "float[] 9"), "float[3] 2 3 9"),
        E("Pad", 21, "mode=reflect", ("float[3] 1 2 3", "int64[2] 4 1"),
          "float[8] 1 2 3 2 1 2 3 2"),
        E("Pad", 21, "mode=wrap", ("float[3] 1 2 3", "int64[2] 1 4"), "float[8] 3 1 2 3 1 2 3 1"),
        E("Pad", 21, "mode=edge", ("string[2] a b", "int64[2] 1 1"), "string[4] a a b b"),
        E("Pad", 21, "mode=edge", ("float[0] ", "int64[2] 1 1"), "!nothing to pad"),
        E("Pad", 21, "", ("float[0] ", "int64[2] 1 1", "float[] 7"), "float[2] 7 7"),
        E("Pad", 21, "", ("int4[1,1] 3", "int64[2] 0 2", "int4[] -1", "int64[1] -1"),
          "int4[1,3] 3 -1 -1"),
        E("Pad", 21, "", ("float[2] 1 2", "int64[2] -2 -1"), "!do not fit"),
        E("Pad", 21, "", ("float[2] 1 2", "int64[1] 1"), "!1 pads for 1 axes"),
        E("Pad", 21, "mode=mirror", ("float[2] 1 2", "int64[2] 1 1"), "!unknown mode"),
        E("Pad", 1, "paddings=1,0, value=2.5f", ("float[1] 1"), "float[2] 2.5 1"),
        E("Pad", 2, "pads=0,1, value=2.5f", ("float16[1] 1"), "float16[2] 1 2.5"),
        E("CenterCropPad", 18, "", ("float[3] 1 2 3", "int64[1] 2"), "float[2] 1 2"),
        E("CenterCropPad", 18, "axes=-1,", ("float[1,1] 1", "int64[1] 4"), "float[1,4] 0 1 0 0"),
        E("CenterCropPad", 18, "axes=,", ("float[2] 1 2", "int64[0]"), "float[2] 1 2"),
        E("DepthToSpace", 13, "blocksize=2", ("float[1,3,1,1] 1 2 3"), "!no multiple"),
        E("SpaceToDepth", 13, "blocksize=2", ("float[0,1,2,2] "), "float[0,4,1,1] "),
        E("SpaceToDepth", 13, "blocksize=0", ("float[1,1,2,2] 1 2 3 4"), "!blocksize is 0"),
        E("ReverseSequence", 10, "time_axis=0 batch_axis=1",
          ("string[2,2] a b c d", "int64[2] 0 2"), "string[2,2] a d c b"),
        E("ReverseSequence", 10, "", ("float[2,1] 1 2", "int64[1] 3"), "!sequence_lens[0] is 3"),
        E("Trilu", 14, "upper=0", ("bool[2,2] 1 1 1 1", "int64[] -1"), "bool[2,2] 0 0 1 0"),
        E("Trilu", 14, "", ("float[1,2] 1 2", "int64[] 9223372036854775807"), "float[1,2] 0 0"),
        E("Trilu", 14, "", ("float[2] 1 2"), "!rank 1"));
}

static void test_edges__resize(void **state)
{
    EDGES(
        E("Resize", 19, "mode=nearest", ("string[2] a b", "-", "float[1] 2"),
          "string[4] a a b b"),
        E("Resize", 19,
          "mode=nearest coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=9f",
          ("float[2,4] 1 2 3 4 5 6 7 8", "float[4] -1 -0.5 1 1.5", "-", "int64[2] 2 5"),
          "float[2,5] 9 9 9 9 9 9 5 6 8 9"),
        E("Resize", 19, "mode=linear", ("int8[2] 127 -128", "-", "-", "int64[1] 4"),
          "int8[4] 127 63 -64 -128"),
        E("Resize", 19, "mode=linear", ("uint64[2] 18446744073709551615 18446744073709551615", "-",
                                        "float[1] 2"),
          "uint64[4] 18446744073709551615 18446744073709551615 18446744073709551615 "
          "18446744073709551615"),
        E("Resize", 19, "mode=linear", ("complex64[2] 0 4 4 0", "-", "float[1] 2"),
          "complex64[4] 0 4 1 3 3 1 4 0"),
        E("Resize", 19, "mode=linear", ("string[2] a b", "-", "float[1] 2"),
          "!mode linear of string"),
        E("Resize", 19, "", ("float[2] 1 2", "-", "float[1] 0"), "!cannot be scaled"),
        E("Resize", 19, "", ("float[2] 1 2", "-", "-", "int64[2] 1 1"), "!sizes has 2"),
        E("Upsample", 1, "height_scale=2f width_scale=1f", ("float[1,1,1,2] 1 2"),
          "float[1,1,2,2] 1 2 1 2"));
}

/* --- indices -------------------------------------------------------------------------------- */

static void test_edges__indices(void **state)
{
    EDGES(
        E("Gather", 13, "", ("string[3] a b c", "int64[] -1"), "string[] c"),
        E("Gather", 13, "axis=-1", ("float[2,2] 1 2 3 4", "int32[1,1] 0"), "float[2,1,1] 1 3"),
        E("Gather", 13, "", ("float[2] 1 2", "int64[1] 2"), "!index 2"),
        E("Gather", 13, "", ("float[2] 1 2", "int64[1] -3"), "!index -3"),
        E("Gather", 13, "", ("float[2,2] 1 2 3 4", "int64[0] "), "float[0,2] "),
        E("Gather", 13, "", ("float[0,2] ", "int64[1] 0"), "!index 0"),
        E("Gather", 13, "", ("float[] 1", "int64[1] 0"), "!axis 0"),
        E("GatherElements", 13, "axis=1", ("int4[2,2] 1 2 3 -4", "int64[2,1] -1 0"),
          "int4[2,1] 2 3"),
        E("GatherElements", 13, "", ("float[2] 1 2", "int64[1,1] 0"), "!do not fit"),
        E("GatherElements", 13, "", ("float[2] 1 2", "int64[1] 5"), "!index 5"),
        E("GatherND", 13, "batch_dims=1", ("float[2,2] 1 2 3 4", "int64[2,1] 1 -2"),
          "float[2] 2 3"),
        E("GatherND", 13, "", ("bool[2,2] 1 0 0 1", "int64[1,2] 1 2"), "!index 2"),
        E("GatherND", 13, "", ("float[2] 1 2", "int64[1,2] 0 0"), "!do not fit"),
        E("ScatterElements", 18, "axis=-1", ("string[2] a b", "int64[1] -1", "string[1] z"),
          "string[2] a z"),
        E("ScatterElements", 18, "reduction=max",
          ("float[2] nan 1", "int64[2] 0 1", "float[2] 1 nan"),
          "float[2] nan nan"),
        E("ScatterElements", 18, "reduction=add",
          ("complex64[1] 1 2", "int64[1] 0", "complex64[1] 3 4"),
          "complex64[1] 4 6"),
        E("ScatterElements", 18, "reduction=mul",
          ("complex64[1] 1 2", "int64[1] 0", "complex64[1] 3 4"),
          "complex64[1] -5 10"),
        E("ScatterElements", 18, "reduction=min",
          ("complex64[1] 1 2", "int64[1] 0", "complex64[1] 3 4"),
          "!no reduction"),
        E("ScatterElements", 18, "reduction=add", ("string[1] a", "int64[1] 0", "string[1] b"),
          "!no reduction"),
        E("ScatterElements", 16, "reduction=max", ("float[1] 1", "int64[1] 0", "float[1] 2"),
          "!unknown reduction"),
        E("ScatterElements", 18, "", ("float[2] 1 2", "int64[1] 2", "float[1] 9"), "!index 2"),
        E("ScatterElements", 18, "", ("float[2] 1 2", "int64[0] ", "float[0] "), "float[2] 1 2"),
        E("ScatterElements", 18, "reduction=mul", ("bool[2] 1 1", "int64[2] 0 0", "bool[2] 1 0"),
          "bool[2] 0 1"),
        E("ScatterND", 18, "reduction=add", ("float[2] 1 2", "int64[3,1] 0 0 -1", "float[3] 1 1 1"),
          "float[2] 3 3"),
        E("ScatterND", 18, "", ("float[2] 1 2", "int64[1,1] 0", "float[2] 1 1"),
          "!updates have shape"),
        E("ScatterND", 18, "reduction=min", ("uint64[1] 18446744073709551615", "int64[1,1] 0",
                                             "uint64[1] 1"), "uint64[1] 1"),
        E("Scatter", 9, "", ("float[2] 1 2", "int32[1] 0", "float[1] 9"), "float[2] 9 2"),
        E("OneHot", 11, "", ("int64[3] 0 -1 5", "int64[] 2", "float[2] 0 1"),
          "float[3,2] 1 0 0 1 0 0"),
        E("OneHot", 9, "", ("int64[1] -1", "int64[1] 2", "int32[2] 3 4"), "int32[1,2] 3 3"),
        E("OneHot", 11, "axis=0", ("float[2] 1.9 0", "float[] 2", "string[2] off on"),
          "string[2,2] off on on off"),
        E("OneHot", 11, "", ("int64[0] ", "int64[] 2", "bool[2] 0 1"), "bool[0,2] "),
        E("OneHot", 11, "", ("int64[] 1", "int64[] 2", "bool[2] 0 1"), "bool[2] 0 1"),
        E("OneHot", 11, "", ("int64[1] 0", "int64[] 0", "bool[2] 0 1"), "!positive"),
        E("OneHot", 11, "", ("int64[1] 0", "int64[] 2", "bool[3] 0 1 1"), "![off, on]"),
        E("Compress", 11, "axis=-1", ("int64[2,2] 1 2 3 4", "bool[2] 0 1"), "int64[2,1] 2 4"),
        E("Compress", 11, "", ("float[2,2] 1 2 3 4", "bool[1] 1"), "float[1] 1"),
        E("Compress", 11, "", ("string[2] a b", "bool[3] 0 0 1"), "!keeps element 2"),
        E("Compress", 11, "axis=0", ("float[2,2] 1 2 3 4", "bool[2] 0 0"), "float[0,2] "),
        E("NonZero", 13, "", ("float[4] nan -0 1e-45 0"), "int64[1,2] 0 2"),
        E("NonZero", 13, "", ("float[] 1"), "int64[0,1] "),
        E("NonZero", 13, "", ("bool[2,0] "), "int64[2,0] "),
        E("NonZero", 13, "", ("complex64[2] 0 0 0 1"), "int64[1,1] 1"),
        E("NonMaxSuppression", 11, "", ("float[1,0,4] ", "float[1,1,0] ", "int64[] 3"),
          "int64[0,3] "),
        E("NonMaxSuppression", 11, "",
          ("float[1,2,4] 0 0 1 1 0 0 1 1", "float[1,1,2] 0.5 0.5", "int64[1] 3", "float[1] 2"),
          "!outside [0, 1]"));
}

static void test_edges__order(void **state)
{
    EDGES(
        E("ArgMax", 13, "", ("float[4] 1 3 3 2"), "int64[1] 1"),
        E("ArgMax", 13, "select_last_index=1 keepdims=0", ("float[4] 1 3 3 2"), "int64[] 2"),
        E("ArgMin", 13, "axis=-1", ("int8[2,2] -1 -1 3 -128"), "int64[2,1] 0 1"),
        E("ArgMax", 13, "", ("float[4] 1 nan 3 nan"), "int64[1] 1"),
        E("ArgMin", 13, "select_last_index=1", ("float[4] 1 nan 3 nan"), "int64[1] 3"),
        E("ArgMax", 13, "", ("uint64[2] 1 18446744073709551615"), "int64[1] 1"),
        E("ArgMax", 13, "", ("float[] 7"), "int64[] 0"),
        E("ArgMax", 13, "axis=1", ("float[2,0] "), "!no elements"),
        E("ArgMax", 13, "axis=0", ("float[2,0] "), "int64[1,0] "),
        E("ArgMax", 13, "axis=2", ("float[2,1] 1 2"), "!axis 2"),
        E("TopK", 11, "", ("float[4] 1 2 2 nan", "int64[1] 3"), "float[3] nan 2 2",
          "int64[3] 3 1 2"),
        E("TopK", 11, "largest=0", ("float[4] 2 1 -0 0", "int64[1] 3"), "float[3] -0 0 1",
          "int64[3] 2 3 1"),
        E("TopK", 11, "axis=0", ("int64[2,1] -1 5", "int64[1] 1"), "int64[1,1] 5", "int64[1,1] 1"),
        E("TopK", 11, "", ("uint64[2] 1 18446744073709551615", "int64[1] 1"),
          "uint64[1] 18446744073709551615", "int64[1] 1"),
        E("TopK", 11, "", ("float[2] 1 2", "int64[1] 0"), "float[0] ", "int64[0] "),
        E("TopK", 11, "", ("float[2] 1 2", "int64[1] 3"), "!k is 3", ""),
        E("TopK", 1, "k=1", ("float[2] 1 2"), "float[1] 2", "int64[1] 1"),
        E("Unique", 11, "", ("float[5] nan 1 nan -0 0"), "float[3] -0 1 nan", "int64[3] 3 1 0",
          "int64[5] 2 1 2 0 0", "int64[3] 2 1 2"),
        E("Unique", 11, "sorted=0", ("string[4] b a b ''"), "string[3] b a ''", "int64[3] 0 1 3",
          "int64[4] 0 1 0 2", "int64[3] 2 1 1"),
        E("Unique", 11, "", ("complex64[4] 2 1 1 5 2 0 2 1"), "complex64[3] 1 5 2 0 2 1",
          "int64[3] 1 2 0"),
        E("Unique", 11, "axis=-1", ("bool[2,3] 1 0 1 0 1 0"), "bool[2,2] 0 1 1 0", "int64[2] 1 0"),
        E("Unique", 11, "", ("int64[0] "), "int64[0] ", "int64[0] ", "int64[0] ", "int64[0] "),
        E("Unique", 11, "axis=1", ("int64[2] 1 2"), "!axis 1"));
}

/* --- sums ----------------------------------------------------------------------------------- */

static void test_edges__reduce(void **state)
{
    EDGES(
        E("ReduceSum", 13, "", ("float[0] "), "float[1] 0"),
        E("ReduceProd", 18, "keepdims=0", ("float[0] "), "float[] 1"),
        E("ReduceMax", 20, "", ("float[0] "), "float[1] -inf"),
        E("ReduceMin", 20, "", ("float16[0] "), "float16[1] inf"),
        E("ReduceMax", 20, "", ("int8[0] "), "int8[1] -128"),
        E("ReduceMean", 18, "", ("float[0] "), "float[1] nan"),
        E("ReduceSum", 13, "keepdims=0", ("float[2,0] ", "int64[1] 1"), "float[2] 0 0"),
        E("ReduceSum", 13, "", ("float[2,0] ", "int64[1] 0"), "float[1,0] "),
        E("ReduceSum", 13, "", ("float[] 3"), "float[] 3"),
        E("ReduceSum", 13, "keepdims=0", ("float[2,2] 1 2 3 4", "int64[1] -1"), "float[2] 3 7"),
        E("ReduceSum", 13, "", ("float[2] 1 2", "int64[1] 1"), "!axis 1"),
        E("ReduceSum", 13, "", ("float[2] 1 2", "int64[0] "), "float[1] 3"),
        E("ReduceSum", 13, "noop_with_empty_axes=1", ("float[2] 1 2"), "float[2] 1 2"),
        E("ReduceSumSquare", 18, "noop_with_empty_axes=1", ("float[2] 3 -2"), "float[2] 9 4"),
        E("ReduceL2", 18, "noop_with_empty_axes=1", ("int32[2] 3 -2"), "int32[2] 3 2"),
        E("ReduceMax", 18, "", ("float[3] 1 nan 3"), "float[1] nan"),
        E("ReduceMin", 18, "", ("float[3] nan 1 -inf"), "float[1] nan"),
        E("ReduceMax", 20, "", ("bool[3] 0 1 0"), "bool[1] 1"),
        E("ReduceMin", 20, "", ("bool[0] "), "bool[1] 1"),
        E("ReduceMean", 18, "", ("int32[2] -3 0"), "int32[1] -1"),
        E("ReduceLogSumExp", 18, "", ("float[2] 1000 1000"), "~float[1] 1000.693147"),
        E("ReduceLogSumExp", 18, "", ("float[2] -inf -inf"), "float[1] -inf"),
        E("ReduceLogSumExp", 18, "", ("float[2] inf -inf"), "float[1] inf"),
        E("ReduceLogSumExp", 18, "", ("float[0] "), "float[1] -inf"),
        E("ReduceL2", 18, "", ("float[2] 3e38 4e-38"), "float[1] 3e38"),
        E("ReduceL2", 18, "", ("float[2] 3e-40 4e-40"), "~float[1] 5e-40"),
        E("ReduceSum", 13, "", ("float16[3] 60000 60000 -60000"), "float16[1] 60000"),
        E("ReduceSum", 13, "", ("float[2] inf -inf"), "float[1] nan"),
        E("ReduceSum", 1, "axes=-1,", ("float[1,2] 1 2"), "float[1,1] 3"),
        E("CumSum", 14, "exclusive=1 reverse=1", ("float[3] 1 2 3", "int32[] -1"),
          "float[3] 5 3 0"),
        E("CumSum", 14, "", ("float[3] 1 nan 3", "int64[] 0"), "float[3] 1 nan nan"),
        E("CumSum", 14, "reverse=1", ("int64[3] 9007199254740993 1 2", "int64[] 0"),
          "int64[3] 9007199254740996 3 2"),
        E("CumSum", 14, "", ("float[2,0] ", "int64[] 1"), "float[2,0] "),
        E("CumSum", 14, "", ("float[2] 1 2", "int64[] 1"), "!axis 1"),
        E("CumProd", 26, "exclusive=1", ("int32[3] 2 3 4", "int64[] 0"), "int32[3] 1 2 6"),
        E("Einsum", 12, "equation=ii->i", ("float[2,2] 1 2 3 4"), "float[2] 1 4"),
        E("Einsum", 12, "equation=ii", ("float[2,2] 1 2 3 4"), "float[] 5"),
        E("Einsum", 12, "equation=ij,jk", ("float[1,0] ", "float[0,2] "), "float[1,2] 0 0"),
        E("Einsum", 12, "equation=...i->...", ("float[0,2] "), "float[0] "),
        E("Einsum", 12, "equation=i,->i", ("float[1] 3", "float[] 4"), "float[1] 12"),
        E("Einsum", 12, "equation=ij->k", ("float[1,1] 1"), "!in no input"),
        E("Einsum", 12, "equation=i,i", ("float[2] 1 2", "float[3] 1 2 3"),
          "!another of its label"),
        E("Einsum", 12, "equation=i,i", ("float[2] 1 2"), "!does not fit 1 inputs"));
}

static void test_edges__recurrent(void **state)
{
    EDGES(
        E("RNN", 14, "hidden_size=1", ("float[0,1,1] ", "float[1,1,1] 1", "float[1,1,1] 1"),
          "float[0,1,1,1] ", "float[1,1,1] 0"),
        E("RNN", 14, "hidden_size=1 clip=1f activations=Relu;",
          ("float[2,1,1] nan 5", "float[1,1,1] 1", "float[1,1,1] 0"), "float[2,1,1,1] nan nan"),
        E("RNN", 14, "hidden_size=1 clip=1f activations=Relu;",
          ("float[1,2,1] 9 -9", "float[1,1,1] 1", "float[1,1,1] 0"), "float[1,1,2,1] 1 0"),
        E("RNN", 14, "hidden_size=1 activations=HardSigmoid;",
          ("float[1,3,1] nan 9 -9", "float[1,1,1] 1", "float[1,1,1] 0"), "float[1,1,3,1] nan 1 0"),
        E("RNN", 14, "hidden_size=1 activations=Relu;",
          ("float[2,2,1] 1 2 3 4", "float[1,1,1] 1", "float[1,1,1] 1", "-", "int32[2] 0 2"),
          "float[2,1,2,1] 0 2 0 6", "float[1,2,1] 0 6"),
        E("RNN", 14, "hidden_size=1", ("float[1,1,1] 1", "float[1,1,1] 1", "float[1,1,1] 1", "-",
                                       "int32[1] 2"), "!sequence_lens[0] is 2"),
        E("RNN", 14, "hidden_size=2", ("float[1,1,1] 1", "float[1,1,1] 1", "float[1,1,1] 1"),
          "!hidden_size is 2"),
        E("GRU", 14, "hidden_size=1 direction=up",
          ("float[1,1,1] 1", "float[1,3,1] 1 1 1", "float[1,3,1] 1 1 1"), "!unknown direction"),
        E("LSTM", 14, "hidden_size=1 activations=Nope;Tanh;Tanh;",
          ("float[1,1,1] 1", "float[1,4,1] 1 1 1 1", "float[1,4,1] 1 1 1 1"), "!activation Nope"),
        E("GridSample", 22, "", ("float[1,1,1,1] 3", "float[1,1,1,2] nan 0"), "float[1,1,1,1] 0"),
        E("GridSample", 22, "mode=nearest padding_mode=border",
          ("string[1,1,1,2] a b", "float[1,1,2,2] 9 0 -9 0"), "string[1,1,1,2] b a"),
        E("GridSample", 22, "", ("float[1,1,0,1] ", "float[1,1,1,2] 0 0"), "!nothing to sample"));
}

/* h = f(1.5 x - 0.5 h) by NumPy, with numbers given and with each function's own. */
#define EDGE_ACT(attrs, y)                                                                         \
    E("RNN", 14, "hidden_size=1 activations=" attrs,                                               \
      ("float[3,1,1] 1 -2 0.5", "float[1,1,1] 1.5", "float[1,1,1] -0.5"), "~float[3,1,1,1] " y)

static void test_edges__recurrent_activations(void **state)
{
    EDGES(
        EDGE_ACT("Affine; activation_alpha=0.5f, activation_beta=0.25f,", "1 -1.5 1"),
        EDGE_ACT("LeakyRelu; activation_alpha=0.25f,", "1.5 -0.9375 1.21875"),
        EDGE_ACT("ThresholdedRelu; activation_alpha=0.75f,", "1.5 0 0.75"),
        EDGE_ACT("ScaledTanh; activation_alpha=1.5f, activation_beta=0.5f,",
                 "0.952723429 -1.41002296 0.932305523"),
        EDGE_ACT("Elu; activation_alpha=0.5f,", "1.5 -0.488241127 0.994120564"),
        EDGE_ACT("Softsign;", "0.6 -0.76744186 0.53133515"),
        EDGE_ACT("Softplus;", "1.70141328 0.0210417658 1.12973752"),
        EDGE_ACT("Affine;", "1.5 -3.75 2.625"),
        EDGE_ACT("LeakyRelu;", "1.5 -0.0375 0.76875"),
        EDGE_ACT("ThresholdedRelu;", "1.5 0 0"),
        EDGE_ACT("ScaledTanh;", "0.905148254 -0.997996788 0.848002536"),
        EDGE_ACT("Elu;", "1.5 -0.976482254 1.23824113"));
}

/* clang-format on */

static void test_edges__noise_stays_in_range(void **state)
{
    (void)state;
    struct op_call c =
        OP("Add", 14, NULL,
           {"float16[8] 65504 -65504 65504 -65504 65504 -65504 65504 -65504", "float16[1] 0"});
    struct odb_tensor *out[1];
    c.precision = ODB_PREC_NOISY;
    assert_int_equal(op_run_text(&c, 1, out, NULL), ODB_OK);
    for (size_t i = 0; i < out[0]->count; i++)
        assert_true(isfinite(odb_tensor_f64(out[0], i)));
    odb_tensor_unref(out[0]);
}

/* Half way between two steps, noise in the scales tips some results over, and none farther. */
static void test_edges__noise_moves_scales(void **state)
{
    (void)state;
    struct op_call calls[] = {
        OP("QLinearMatMul", 10, NULL,
           {"uint8[8,1] 5 5 5 5 5 5 5 5", "float[8] .5 .5 .5 .5 .5 .5 .5 .5",
            "uint8[8] 0 0 0 0 0 0 0 0", "uint8[1,1] 1", "float[1] 1", "uint8[1] 0", "float[1] 1",
            "uint8[1] 0"}),
        OP("QLinearConv", 10, NULL,
           {"uint8[1,1,1,1] 5", "float[] 1", "uint8[] 0", "uint8[8,1,1,1] 1 1 1 1 1 1 1 1",
            "float[8] .5 .5 .5 .5 .5 .5 .5 .5", "uint8[8] 0 0 0 0 0 0 0 0", "float[] 1",
            "uint8[] 0"})};
    for (size_t c = 0; c < ODB_COUNT(calls); c++)
        for (int noisy = 0; noisy < 2; noisy++) {
            size_t up = 0;
            calls[c].precision = noisy ? ODB_PREC_NOISY : ODB_PREC_NATIVE;
            for (calls[c].seed = 0; calls[c].seed < 8; calls[c].seed++) {
                struct odb_tensor *out[1];
                assert_int_equal(op_run_text(&calls[c], 1, out, NULL), ODB_OK);
                for (size_t i = 0; i < 8; i++) {
                    up += odb_tensor_i64(out[0], i) == 3;
                    assert_in_range(odb_tensor_i64(out[0], i), 2, 3);
                }
                odb_tensor_unref(out[0]);
            }
            assert_int_equal(up > 0, noisy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges__broadcast),
        cmocka_unit_test(test_edges__noise_stays_in_range),
        cmocka_unit_test(test_edges__noise_moves_scales),
        cmocka_unit_test(test_edges__integers_wrap),
        cmocka_unit_test(test_edges__division),
        cmocka_unit_test(test_edges__floats),
        cmocka_unit_test(test_edges__compare_and_choose),
        cmocka_unit_test(test_edges__cast),
        cmocka_unit_test(test_edges__quantize),
        cmocka_unit_test(test_edges__shape),
        cmocka_unit_test(test_edges__moves),
        cmocka_unit_test(test_edges__resize),
        cmocka_unit_test(test_edges__indices),
        cmocka_unit_test(test_edges__order),
        cmocka_unit_test(test_edges__reduce),
        cmocka_unit_test(test_edges__recurrent),
        cmocka_unit_test(test_edges__recurrent_activations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
