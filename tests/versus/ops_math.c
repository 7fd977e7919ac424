/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Element by element, along axes, and products: how their calls are drawn.
 */
#include <string.h>

#include "versus.h"

/* Before version 7 shapes were equal, or one was laid along the axes that attributes name. */
static void draw_binary(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 4, 4);
    bool old = d->opset < 7 && !strstr(d->row->op, "::");
    if (!old) {
        bool swap = vs_chance(d, 50), both = vs_chance(d, 30);
        vs_in(d, swap || both ? vs_part(d, full) : full);
        vs_in(d, swap && !both ? full : vs_part(d, full));
        return;
    }
    struct dims part = full;
    vs_in(d, full);
    if (full.rank && vs_chance(d, 60)) {
        int from = (int)vs_int(d, 0, full.rank - 1), to = (int)vs_int(d, from + 1, full.rank);
        part = vs_shape(to - from, full.d + from);
        vs_attr_int(d, "broadcast", 1);
        if (to < full.rank || vs_chance(d, 50))
            vs_attr_int(d, "axis", from);
    }
    vs_in(d, part);
}

/* The second: a shift's bits, a divisor. */
static void draw_shift(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 4, 4);
    vs_in(d, full);
    vs_in_range(d, d->dtype, vs_part(d, full), 0, 9);
}

static void draw_pow(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 3, 4);
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64, ODB_I32, ODB_I64};
    enum odb_dtype other = d->opset >= 12 && vs_chance(d, 50) ? types[vs_int(d, 0, 3)] : d->dtype;
    vs_in(d, full);
    vs_in_range(d, other, d->opset < 7 ? full : vs_part(d, full), -2, 3);
}

static void draw_mod(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 4, 4);
    bool real = odb_dtype_is_float(d->dtype);
    vs_in_range(d, d->dtype, full, -20, 20);
    struct odb_tensor *by = vs_in_range(d, d->dtype, vs_part(d, full), -7, 7);
    for (size_t i = 0; i < by->count && !real; i++) /* a divisor of 0 is nobody's to define */
        if (odb_tensor_i64(by, i) == 0)
            odb_store_i64(by->dtype, by->data, i, 3);
    if (real || vs_chance(d, 40))
        vs_attr_int(d, "fmod", 1);
}

static void draw_div(struct draw *d)
{
    draw_binary(d);
    struct odb_tensor *by = d->in[1];
    for (size_t i = 0; i < by->count && !odb_dtype_is_float(by->dtype); i++)
        if (odb_tensor_i64(by, i) == 0 || odb_tensor_i64(by, i) == -1)
            odb_store_i64(by->dtype, by->data, i, 3);
}

static void draw_variadic(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 4, 4);
    int n = (int)vs_int(d, 1, 4);
    for (int i = 0; i < n; i++)
        vs_in(d, d->opset < 8 ? full : vs_part(d, full));
}

static void draw_prelu(struct draw *d)
{
    struct dims full = vs_dims(d, 1, 4, 4);
    vs_in(d, full);
    if (d->opset < 7)
        vs_in(d, vs_chance(d, 50) || full.rank < 2 ? VS_DIMS(1) : VS_DIMS(full.d[1]));
    else
        vs_in(d, vs_part(d, full));
}

static void draw_where(struct draw *d)
{
    struct dims full = vs_dims(d, 0, 4, 4);
    d->dtype = ODB_BOOL;
    vs_in(d, vs_part(d, full));
    static const enum odb_dtype types[] = {ODB_F32, ODB_F64,  ODB_I32, ODB_I64,
                                           ODB_U8,  ODB_BOOL, ODB_F16, ODB_STRING};
    d->dtype = types[vs_int(d, 0, 7)];
    vs_in(d, vs_part(d, full));
    vs_in(d, vs_part(d, full));
}

static void draw_clip(struct draw *d)
{
    vs_in(d, vs_dims(d, 0, 4, 4));
    if (d->opset < 11) {
        vs_attrs(d, "min=-|-1f|0.5f max=-|1f|0.75f");
        return;
    }
    for (int i = 0; i < 2 && vs_chance(d, 80); i++)
        if (vs_chance(d, 80))
            vs_in_range(d, d->dtype, VS_SCALAR, i ? -1 : -3, i ? 3 : 1);
        else
            vs_in_none(d);
}

static void draw_cast(struct draw *d)
{
    static const int all[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                              11, 12, 13, 16, 17, 18, 19, 20, 21, 22};
    static const char *const names[] = {"",        "FLOAT",  "UINT8",  "INT8",   "UINT16",
                                        "INT16",   "INT32",  "INT64",  "STRING", "BOOL",
                                        "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
    int to = all[vs_int(d, 0, ODB_COUNT(all) - 1)];
    bool strings = d->dtype == ODB_STRING;
    struct odb_tensor *t = vs_in_range(d, d->dtype, vs_dims(d, 0, 3, 5), strings ? 0 : -300, 300);
    static const char *const texts[] = {"1",    "-3.5",    "0",   "1e3", "12", "nan",
                                        "-inf", "3.25e-2", "INF", "7",   "+5", "127"};
    for (size_t i = 0; i < t->count && strings; i++) {
        const char *s = texts[vs_int(d, 0, ODB_COUNT(texts) - 1)];
        if (odb_tensor_set_string(t, i, s, strlen(s), NULL) != ODB_OK)
            return;
    }
    if (d->opset < 6)
        vs_attr_string(d, "to", names[to <= 13 ? to : 1]);
    else
        vs_attr_int(d, "to", to);
    if (d->opset >= 19)
        vs_attrs(d, to >= 17 && to <= 20 ? "saturate=-|0|1" : "saturate=-|1");
}

static void draw_cast_like(struct draw *d)
{
    static const enum odb_dtype types[] = {ODB_F32,  ODB_F64, ODB_I32,  ODB_I64, ODB_U8, ODB_I8,
                                           ODB_BOOL, ODB_F16, ODB_BF16, ODB_U16, ODB_U64};
    if (d->dtype == ODB_STRING)
        d->dtype = ODB_F32;
    vs_in_range(d, d->dtype, vs_dims(d, 0, 3, 5), -300, 300);
    vs_in_range(d, types[vs_int(d, 0, ODB_COUNT(types) - 1)], VS_DIMS(1), 0, 1);
}

static void draw_reduce(struct draw *d)
{
    bool sum = strcmp(d->row->op, "ReduceSum") == 0;
    struct dims dims = vs_dims(d, 0, 5, 4);
    bool as_input = d->opset >= (sum ? 13 : 18);
    int64_t axes[VS_RANK];
    int n = 0;
    vs_in(d, dims);
    for (int i = 0; i < dims.rank; i++)
        if (vs_chance(d, 40))
            axes[n++] = d->opset >= 11 && vs_chance(d, 40) ? i - dims.rank : i;
    if (n > 1 && vs_chance(d, 30)) {
        int64_t first = axes[0];
        axes[0] = axes[n - 1];
        axes[n - 1] = first;
    }
    if (as_input && (n || vs_chance(d, 50)))
        vs_in_ints(d, ODB_I64, (size_t)n, axes);
    else if (!as_input && n)
        vs_attr_ints(d, "axes", (size_t)n, axes);
    vs_attrs(d, as_input ? "keepdims=-|0|1 noop_with_empty_axes=-|0|1" : "keepdims=-|0|1");
}

static void draw_arg(struct draw *d)
{
    vs_in(d, vs_dims(d, 1, 4, 5));
    vs_attrs(d, d->opset >= 12   ? "axis=@|-|@ keepdims=-|0|1 select_last_index=-|0|1"
                : d->opset >= 11 ? "axis=@|-|@ keepdims=-|0|1"
                                 : "axis=0|- keepdims=-|0|1");
}

static void draw_softmax(struct draw *d)
{
    vs_in(d, vs_dims(d, 1, 4, 5));
    if (d->in[0]->rank == 1 || vs_chance(d, 70))
        vs_attr_int(d, "axis",
                    d->opset >= 11 ? vs_axis(d, d->in[0]->rank) : vs_int(d, 0, d->in[0]->rank - 1));
}

static void draw_cumsum(struct draw *d)
{
    vs_in(d, vs_dims(d, 1, 4, 5));
    vs_in_scalar(d, vs_chance(d, 50) ? ODB_I32 : ODB_I64, vs_axis(d, d->in[0]->rank));
}

static void draw_matmul(struct draw *d)
{
    struct dims batch = vs_dims(d, 0, 2, 3), a = vs_part(d, batch), b = vs_part(d, batch);
    struct dims mkn = vs_dims(d, 3, 3, 5);
    if (a.rank || vs_chance(d, 80))
        a.d[a.rank++] = mkn.d[0];
    a.d[a.rank++] = mkn.d[1];
    b.d[b.rank++] = mkn.d[1];
    if (b.rank > 1 || vs_chance(d, 80))
        b.d[b.rank++] = mkn.d[2];
    vs_in(d, a);
    vs_in(d, b);
}

static void draw_gemm(struct draw *d)
{
    struct dims mkn = vs_dims(d, 3, 3, 6);
    bool ta = vs_chance(d, 40), tb = vs_chance(d, 40);
    int64_t m = mkn.d[0], k = mkn.d[1], n = mkn.d[2];
    vs_in(d, ta ? VS_DIMS(k, m) : VS_DIMS(m, k));
    vs_in(d, tb ? VS_DIMS(n, k) : VS_DIMS(k, n));
    if (d->opset < 11 || vs_chance(d, 80))
        vs_in(d, d->opset < 7 ? VS_DIMS(m, n) : vs_part(d, VS_DIMS(m, n)));
    if (ta || vs_chance(d, 30))
        vs_attr_int(d, "transA", ta);
    if (tb || vs_chance(d, 30))
        vs_attr_int(d, "transB", tb);
    vs_attrs(d, "alpha=-|0.5f|2f|-1.25f|0f beta=-|0.25f|3f|0f");
}

static void draw_einsum(struct draw *d)
{
    static const char *const rows[][4] = {
        {"ij,jk->ik", "ij", "jk"},
        {"ij,jk", "ij", "jk"},
        {"bij,bjk->bik", "bij", "bjk"},
        {"ij->ji", "ij"},
        {"ii->i", "ii"},
        {"ii", "ii"},
        {"ij->", "ij"},
        {"ij->i", "ij"},
        {"i,j->ij", "i", "j"},
        {"i,i->", "i", "i"},
        {"i,i->i", "i", "i"},
        {"ij,ij->j", "ij", "ij"},
        {"...ij,...jk->...ik", "eij", "ejk"},
        {"...ii->...i", "eii"},
        {"...->...", "eij"},
        {"ij,jk,kl->il", "ij", "jk", "kl"},
        {"bhid,bhjd->bhij", "bhid", "bhjd"},
        {"a b , b c -> a c", "ab", "bc"},
        {"iij->j", "iij"},
        {"ij,kj->", "ij", "kj"},
        {"ba", "ba"},
        {"Ab,bC->AC", "Ab", "bC"},
        {"ijk,k->ij", "ijk", "k"},
        {"i->i", "i"},
        {"bij,kj->bik", "bij", "kj"},
        {"...i,i->...", "ei", "i"},
        {"ij,ji->", "ij", "ji"},
    };
    const char *const *row = rows[vs_int(d, 0, ODB_COUNT(rows) - 1)];
    int64_t size[128];
    for (int i = 0; i < 128; i++)
        size[i] = d->empty && vs_chance(d, 20) ? 0 : vs_int(d, 1, 4);
    for (int i = 1; i < 4 && row[i]; i++) {
        struct dims dims = {0};
        for (const char *p = row[i]; *p; p++)
            dims.d[dims.rank++] = size[(int)*p];
        vs_in(d, dims);
    }
    vs_attr_string(d, "equation", row[0]);
}

static void draw_square(struct draw *d)
{
    struct dims dims = vs_dims(d, 1, 3, 4);
    int64_t n = dims.d[dims.rank - 1];
    dims.d[dims.rank++] = n;
    vs_in(d, dims);
}

static void draw_range(struct draw *d)
{
    double start = (double)vs_int(d, -5, 5), step = (double)vs_int(d, 1, 3);
    bool real = odb_dtype_is_float(d->dtype), down = vs_chance(d, 40);
    if (real && vs_chance(d, 60))
        step *= 0.25;
    double end = start + (down ? -1 : 1) * (double)vs_int(d, -2, 9);
    vs_in_scalar(d, d->dtype, start);
    vs_in_scalar(d, d->dtype, end);
    vs_in_scalar(d, d->dtype, down ? -step : step);
}

static void draw_dft(struct draw *d)
{
    struct dims dims = vs_dims(d, 3, 4, 6);
    dims.d[dims.rank - 1] = vs_chance(d, 50) ? 1 : 2;
    int axis = (int)vs_int(d, 0, dims.rank - 2);
    bool onesided = vs_chance(d, 40), inverse = !onesided && vs_chance(d, 40);
    if (onesided)
        dims.d[dims.rank - 1] = 1;
    vs_in(d, dims);
    int64_t length = vs_int(d, 1, 8);
    if (vs_chance(d, 50))
        vs_in_scalar(d, vs_chance(d, 50) ? ODB_I64 : ODB_I32, (double)length);
    else if (d->opset >= 20)
        vs_in_none(d);
    if (vs_chance(d, 50))
        axis -= dims.rank;
    if (d->opset >= 20)
        vs_in_scalar(d, ODB_I64, axis);
    else
        vs_attr_int(d, "axis", axis);
    if (onesided)
        vs_attr_int(d, "onesided", 1);
    if (inverse)
        vs_attr_int(d, "inverse", 1);
}

static void draw_stft(struct draw *d)
{
    int64_t frame = vs_int(d, 1, 8), step = vs_int(d, 1, 4), n = frame + vs_int(d, 0, 12);
    bool complex = vs_chance(d, 25), window = vs_chance(d, 60);
    vs_in(d, VS_DIMS(vs_int(d, 1, 2), n, complex ? 2 : 1));
    vs_in_scalar(d, ODB_I64, (double)step);
    if (window)
        vs_in(d, VS_DIMS(frame));
    else
        vs_in_none(d);
    if (!window || vs_chance(d, 50))
        vs_in_scalar(d, ODB_I64, (double)frame);
    vs_attrs(d, complex ? "onesided=0" : "onesided=-|0|1");
}

static void draw_window(struct draw *d)
{
    vs_in_scalar(d, d->dtype, (double)vs_int(d, 1, 12));
    vs_attrs(d, "periodic=-|0|1 output_datatype=-|1|11|10");
}

static void draw_mel(struct draw *d)
{
    int64_t rate = vs_int(d, 1, 4) * 4000;
    vs_in_scalar(d, ODB_I64, (double)vs_int(d, 1, 10));
    vs_in_scalar(d, ODB_I64, (double)vs_int(d, 8, 64));
    vs_in_scalar(d, ODB_I64, (double)rate);
    vs_in_scalar(d, ODB_F32, (double)vs_int(d, 0, 300));
    vs_in_scalar(d, ODB_F32, (double)rate / 2 - (double)vs_int(d, 0, 500));
    vs_attrs(d, "output_datatype=-|1|11");
}

#define UNARY(name)                                                                                \
    {                                                                                              \
        .op = name                                                                                 \
    }
#define REDUCE(name)                                                                               \
    {                                                                                              \
        .op = name, .draw = draw_reduce                                                            \
    }

const struct row vs_math_rows[] = {
    UNARY("Abs"),
    UNARY("Acos"),
    UNARY("Acosh"),
    UNARY("Asin"),
    UNARY("Asinh"),
    UNARY("Atan"),
    UNARY("Atanh"),
    UNARY("Ceil"),
    UNARY("Cos"),
    UNARY("Cosh"),
    UNARY("Erf"),
    UNARY("Exp"),
    UNARY("Floor"),
    UNARY("Identity"),
    UNARY("IsNaN"),
    UNARY("Log"),
    UNARY("Neg"),
    UNARY("Not"),
    UNARY("Reciprocal"),
    UNARY("Relu"),
    UNARY("Round"),
    UNARY("Sigmoid"),
    UNARY("Sign"),
    UNARY("Sin"),
    UNARY("Sinh"),
    UNARY("Softplus"),
    UNARY("Softsign"),
    UNARY("Sqrt"),
    UNARY("Tan"),
    UNARY("Tanh"),
    {.op = "HardSwish", .tol = 1e-5},
    UNARY("Mish"),
    UNARY("BitwiseNot"),
    {.op = "Celu", .attrs = "alpha=-|0.5f|2f"},
    {.op = "Elu", .attrs = "alpha=-|0.5f|2f"},
    {.op = "Gelu", .tol = 1e-4, .attrs = "approximate=-|none|tanh"},
    {.op = "HardSigmoid", .attrs = "alpha=-|0.5f beta=-|0.25f"},
    {.op = "IsInf", .attrs = "detect_negative=-|0|1 detect_positive=-|0|1"},
    {.op = "LeakyRelu", .attrs = "alpha=-|0.5f|-0.1f"},
    {.op = "Selu", .attrs = "alpha=-|0.5f gamma=-|2f"},
    {.op = "Shrink", .attrs = "bias=-|0.5f lambd=-|1f"},
    {.op = "ThresholdedRelu", .attrs = "alpha=-|0.5f|-1f"},
    {.op = "Add", .draw = draw_binary},
    {.op = "Sub", .draw = draw_binary},
    {.op = "Mul", .draw = draw_binary},
    {.op = "Div", .draw = draw_div},
    {.op = "And", .draw = draw_binary},
    {.op = "Or", .draw = draw_binary},
    {.op = "Xor", .draw = draw_binary},
    {.op = "Equal", .draw = draw_binary},
    {.op = "Greater", .draw = draw_binary},
    {.op = "GreaterOrEqual", .draw = draw_binary},
    {.op = "Less", .draw = draw_binary},
    {.op = "LessOrEqual", .draw = draw_binary},
    {.op = "BitwiseAnd", .draw = draw_binary},
    {.op = "BitwiseOr", .draw = draw_binary},
    {.op = "BitwiseXor", .draw = draw_binary},
    {.op = "BitShift",
     .draw = draw_shift,
     .attrs = "direction=LEFT|RIGHT",
     .hi = 200,
     .tame = true},
    {.op = "Pow", .draw = draw_pow},
    {.op = "Mod", .draw = draw_mod, .from = 10},
    {.op = "PRelu", .draw = draw_prelu},
    {.op = "Max", .draw = draw_variadic},
    {.op = "Min", .draw = draw_variadic},
    {.op = "Sum", .draw = draw_variadic},
    {.op = "Mean", .draw = draw_variadic},
    {.op = "Where", .draw = draw_where},
    {.op = "Clip", .draw = draw_clip},
    {.op = "Cast", .draw = draw_cast},
    {.op = "CastLike", .draw = draw_cast_like},
    REDUCE("ReduceL1"),
    REDUCE("ReduceL2"),
    REDUCE("ReduceLogSum"),
    REDUCE("ReduceLogSumExp"),
    REDUCE("ReduceMax"),
    REDUCE("ReduceMean"),
    REDUCE("ReduceMin"),
    REDUCE("ReduceProd"),
    REDUCE("ReduceSum"),
    REDUCE("ReduceSumSquare"),
    {.op = "ArgMax", .draw = draw_arg},
    {.op = "ArgMin", .draw = draw_arg},
    {.op = "Softmax", .draw = draw_softmax},
    {.op = "LogSoftmax", .draw = draw_softmax},
    {.op = "Hardmax", .draw = draw_softmax},
    {.op = "CumSum", .draw = draw_cumsum, .attrs = "exclusive=-|0|1 reverse=-|0|1"},
    {.op = "MatMul", .draw = draw_matmul},
    {.op = "Gemm", .draw = draw_gemm},
    {.op = "Einsum", .draw = draw_einsum, .full = true},
    {.op = "Det", .tol = 1e-3, .draw = draw_square},
    {.op = "Range", .draw = draw_range},
    {.op = "DFT",
     .draw = draw_dft,
     .tol = 1e-5,
     .tame = true,
     .full = true,
     .types = ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64)},
    {.op = "STFT",
     .draw = draw_stft,
     .tol = 1e-5,
     .tame = true,
     .full = true,
     .types = ODB_BIT(ODB_F32) | ODB_BIT(ODB_F64)},
    {.op = "BlackmanWindow", .draw = draw_window},
    {.op = "HannWindow", .draw = draw_window},
    {.op = "HammingWindow", .draw = draw_window},
    {.op = "MelWeightMatrix", .draw = draw_mel, .types = ODB_BIT(ODB_I64)},
    {NULL},
};
