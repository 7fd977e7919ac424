/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Derivatives against finite differences, both in double: for every operator that has a rule, the
 * derivative of the sum of its output by all its real inputs at once.
 */
#include "interpret/cpu.h"

#include "tests/help/op_case.h"
#include "tests/help/models.h"
#include "model/read/load.h"

enum { GRADIENT_MAX = 6 };

struct gradient {
    struct odb_model *model;
    struct odb_cpu *cpu;
    struct odb_tensor *in[GRADIENT_MAX]; /* owned */
    int n;
    bool real[GRADIENT_MAX];
    char what[200];
};

static void gradient_attrs(struct odb_builder *b, const char *text)
{
    struct op_attrs attrs;
    op_parse_attrs(text, &attrs);
    for (size_t i = 0; i < attrs.n; i++) {
        const struct odb_attr *a = &attrs.items[i];
        if (a->type == ODB_ATTR_INT)
            odb_build_attr_int(b, a->name, a->i);
        else if (a->type == ODB_ATTR_INTS)
            odb_build_attr_ints(b, a->name, a->n, a->ints);
        else if (a->type == ODB_ATTR_FLOAT)
            odb_build_attr_float(b, a->name, a->f);
        else
            odb_build_attr_string(b, a->name, a->s.data);
    }
}

/* y = op(i0, i1, …), d0 d1 … = its derivatives by those that are real. */
static void gradient_open(struct gradient *c, const struct op_call *op)
{
    struct odb_builder *b = odb_build_new("g", op->opset);
    char names[100] = "", xs[100] = "", zs[100] = "", ds[100] = "", fed[200];
    *c = (struct gradient){.n = 0};
    snprintf(c->what, sizeof c->what, "%s-%d %s", op->op, op->opset, op->attrs ? op->attrs : "");
    for (; op->in[c->n]; c->n++) {
        struct odb_tensor *t = c->in[c->n] = op_tensor(op->in[c->n]);
        char name[12];
        snprintf(name, sizeof name, " i%d", c->n);
        strcat(names, t ? name : " -");
        if (!t)
            continue;
        c->real[c->n] = odb_dtype_is_float(t->dtype);
        strcat(c->real[c->n] ? xs : zs, name);
        odb_build_input(b, name + 1, t->dtype, t->rank, t->dims);
        snprintf(name, sizeof name, " d%d", c->n);
        strcat(ds, c->real[c->n] ? name : "");
    }
    odb_build_opset(b, "ai.onnx.preview.training", 1);
    odb_build_node(b, op->op, "", names, "y");
    gradient_attrs(b, op->attrs);
    snprintf(fed, sizeof fed, "%s%s", xs, zs);
    odb_build_node(b, "ai.onnx.preview.training::Gradient", "", fed, ds);
    odb_build_attr_strings(b, "xs", xs);
    odb_build_attr_string(b, "y", "y");
    if (*zs)
        odb_build_attr_strings(b, "zs", zs);
    odb_build_output(b, "y");
    c->model = models_take(b);
    MODELS_OK(odb_cpu_new(&c->cpu, c->model, &why));
}

static void gradient_close(struct gradient *c)
{
    for (int i = 0; i < c->n; i++)
        odb_tensor_unref(c->in[i]);
    odb_cpu_free(c->cpu);
    odb_model_free(c->model);
}

static enum odb_status gradient_note(void *payload, int node, enum odb_status status,
                                     struct odb_error *err)
{
    return status;
}

/* All values of a run in double; the caller frees them. */
static struct odb_tensor **gradient_run(struct gradient *c, bool differentiate)
{
    struct odb_error err = ODB_ERROR_INIT;
    char text[1000];
    const bool nodes[2] = {true, differentiate};
    struct odb_tensor **values = odb_new_n(struct odb_tensor *, c->model->graph->n_values);
    struct odb_cpu_run run = {
        .precision = ODB_PREC_F64, .values = values, .nodes = nodes, .after = gradient_note};
    for (int i = 0; i < c->n; i++) {
        char name[12];
        snprintf(name, sizeof name, "i%d", i);
        if (c->in[i])
            values[models_value(c->model, name)] = odb_tensor_ref(c->in[i]);
    }
    if (odb_cpu_execute(c->cpu, &run, &err) != ODB_OK)
        fail_msg("%s: %s", c->what, odb_error_text(&err, text, sizeof text));
    return values;
}

static void gradient_free(struct gradient *c, struct odb_tensor **values)
{
    for (size_t v = 0; v < c->model->graph->n_values; v++)
        odb_tensor_unref(values[v]);
    free(values);
}

static double gradient_sum(struct gradient *c)
{
    struct odb_tensor **values = gradient_run(c, false);
    const struct odb_tensor *y = values[models_value(c->model, "y")];
    double sum = 0;
    for (size_t i = 0; i < y->count; i++)
        sum += odb_tensor_f64(y, i);
    gradient_free(c, values);
    return sum;
}

static void gradient_check(const struct op_call *op)
{
    struct gradient c;
    const double h = 1e-5;
    gradient_open(&c, op);
    struct odb_tensor **values = gradient_run(&c, true);
    for (int i = 0; i < c.n; i++) {
        char name[12];
        struct odb_tensor *moved = NULL, *was = c.in[i];
        if (!c.real[i])
            continue;
        snprintf(name, sizeof name, "d%d", i);
        const struct odb_tensor *d = values[models_value(c.model, name)];
        assert_true(odb_tensor_same_shape(d, was));
        assert_int_equal(odb_tensor_cast(&moved, was, ODB_F64, NULL), ODB_OK);
        c.in[i] = moved;
        for (size_t e = 0; e < was->count; e++) {
            double at = odb_tensor_f64(was, e), want;
            ((odb_f64 *)moved->data)[e] = at + h;
            want = gradient_sum(&c);
            ((odb_f64 *)moved->data)[e] = at - h;
            want = (want - gradient_sum(&c)) / (2 * h);
            ((odb_f64 *)moved->data)[e] = at;
            if (!(fabs(odb_tensor_f64(d, e) - want) <= 2e-6 * fmax(1, fabs(want))))
                fail_msg("%s: by input %d, element %zu: %.12g, and by differences %.12g", c.what, i,
                         e, odb_tensor_f64(d, e), want);
        }
        c.in[i] = was;
        odb_tensor_unref(moved);
    }
    gradient_free(&c, values);
    gradient_close(&c);
}

static void gradient_check_all(const struct op_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gradient_check(&calls[i]);
}

static void test_gradient__elementwise(void **state)
{
    static const char *const unary[] = {
        "Neg",      "Abs",       "Exp",   "Sin",  "Cos",   "Tan",         "Asin",       "Acos",
        "Atan",     "Sinh",      "Cosh",  "Tanh", "Asinh", "Atanh",       "Erf",        "Sigmoid",
        "Relu",     "LeakyRelu", "Elu",   "Selu", "Celu",  "HardSigmoid", "HardSwish",  "Softplus",
        "Softsign", "Mish",      "Floor", "Ceil", "Sign",  "Identity",    "Reciprocal", "Gelu"};
    for (size_t i = 0; i < ODB_COUNT(unary); i++) {
        const struct op_call call = {unary[i], 22, NULL, {"double[2,3] random 7"}, ODB_PREC_F64};
        gradient_check(&call);
    }
    static const struct op_call calls[] = {
        OP("Sqrt", 13, NULL, {"double[3] 0.5 2 9"}),
        OP("Log", 13, NULL, {"double[3] 0.5 2 9"}),
        OP("Acosh", 9, NULL, {"double[3] 1.5 2 9"}),
        OP("ThresholdedRelu", 10, "alpha=0.3f", {"double[4] 0.1 0.5 -1 2"}),
        OP("Gelu", 20, "approximate=tanh", {"double[4] 0.1 0.5 -1 2"}),
        OP("Swish", 24, "alpha=0.7f", {"double[4] 0.1 0.5 -1 2"}),
        OP("Elu", 6, "alpha=0.4f", {"double[2] 900 -0.5"}),
        OP("Clip", 6, "min=-1.0f max=1.5f", {"double[4] -3 -0.5 0.5 3"}),
        OP("Add", 14, NULL, {"double[2,3] random 1", "double[3] random 2"}),
        OP("Sub", 14, NULL, {"double[3] random 1", "double[2,3] random 2"}),
        OP("Mul", 14, NULL, {"double[2,1,3] random 1", "double[4,1] random 2"}),
        OP("Div", 14, NULL, {"double[2,3] random 1", "double[] 0.7"}),
        OP("Pow", 15, NULL, {"double[3] 0.5 2 3", "double[3] 2 -1 0.5"}),
        OP("Pow", 15, NULL, {"double[3] 0.5 0 -3", "int64[] 2"}),
        OP("PRelu", 16, NULL, {"double[2,3] random 1", "double[3] 0.1 0.2 0.3"}),
        OP("Where", 16, NULL, {"bool[2,1] 1 0", "double[3] random 1", "double[2,3] random 2"}),
        OP("Sum", 13, NULL, {"double[3] random 1", "double[2,3] random 2", "double[] 3"}),
        OP("Mean", 13, NULL, {"double[3] random 1", "double[2,3] random 2", "double[] 3"}),
        OP("Max", 13, NULL, {"double[3] random 1", "double[2,3] random 2", "double[] 0"}),
        OP("Min", 13, NULL, {"double[3] random 1", "double[2,3] random 2"}),
        OP("Add", 6, "broadcast=1", {"double[2,3] random 1", "double[3] random 2"}),
    };
    gradient_check_all(calls, ODB_COUNT(calls));
}

static void test_gradient__sums_and_products(void **state)
{
    static const struct op_call calls[] = {
        OP("ReduceSum", 13, "keepdims=0", {"double[2,3,2] random 1", "int64[2] 0 -1"}),
        OP("ReduceSum", 11, "axes=1,", {"double[2,3,2] random 1"}),
        OP("ReduceMean", 18, NULL, {"double[2,3] random 1"}),
        OP("ReduceSumSquare", 18, NULL, {"double[2,3] random 1", "int64[1] 1"}),
        OP("ReduceL1", 18, "keepdims=0", {"double[2,3] random 1", "int64[1] 1"}),
        OP("ReduceL2", 18, NULL, {"double[2,3] random 1", "int64[1] 1"}),
        OP("ReduceLogSum", 18, NULL, {"double[2,2] 1 2 3 4", "int64[1] 1"}),
        OP("ReduceLogSumExp", 18, NULL, {"double[2,3] random 1", "int64[1] 0"}),
        OP("ReduceMax", 18, "keepdims=0", {"double[2,3] random 1", "int64[1] 1"}),
        OP("ReduceMin", 11, "axes=0,", {"double[2,3] random 1"}),
        OP("CumSum", 14, "exclusive=1", {"double[2,3] random 1", "int64[] 1"}),
        OP("Softmax", 13, "axis=0", {"double[2,3] random 1"}),
        OP("LogSoftmax", 13, NULL, {"double[2,3] random 1"}),
        OP("LogSoftmax", 11, "axis=1", {"double[2,3,2] random 1"}),
        OP("MatMul", 13, NULL, {"double[2,3] random 1", "double[3,4] random 2"}),
        OP("MatMul", 13, NULL, {"double[2,1,2,3] random 1", "double[2,3,4] random 2"}),
        OP("MatMul", 13, NULL, {"double[3] random 1", "double[3,4] random 2"}),
        OP("MatMul", 13, NULL, {"double[2,2,3] random 1", "double[3] random 2"}),
        OP("MatMul", 13, NULL, {"double[3] random 1", "double[2,3,4] random 2"}),
        OP("MatMul", 13, NULL, {"double[3] random 1", "double[3] random 2"}),
        OP("Gemm", 13, "transA=1 transB=1 alpha=0.5f beta=2.0f",
           {"double[3,2] random 1", "double[4,3] random 2", "double[4] random 3"}),
        OP("Gemm", 13, NULL, {"double[2,3] random 1", "double[3,4] random 2"}),
        OP("LayerNormalization", 17, NULL,
           {"double[2,4] random 1", "double[4] random 2", "double[4] random 3"}),
        OP("InstanceNormalization", 6, NULL,
           {"double[2,3,4] random 1", "double[3] random 2", "double[3] random 3"}),
        OP("BatchNormalization", 15, NULL,
           {"double[2,3,2] random 1", "double[3] random 2", "double[3] random 3",
            "double[3] random 4", "double[3] 1 2 3"}),
        OP("GlobalAveragePool", 1, NULL, {"double[2,3,2,2] random 1"}),
        OP("GlobalMaxPool", 1, NULL, {"double[2,3,2,2] random 1"}),
    };
    gradient_check_all(calls, ODB_COUNT(calls));
}

static void test_gradient__windows(void **state)
{
    static const struct op_call calls[] = {
        OP("Conv", 11, "pads=1,1,1,1,",
           {"double[2,3,5,4] random 1", "double[4,3,3,3] random 2", "double[4] random 3"}),
        OP("Conv", 11, "strides=2,3, dilations=2,1, pads=0,1,2,0,",
           {"double[1,2,7,8] random 1", "double[2,2,2,3] random 2"}),
        OP("Conv", 11, "group=2 auto_pad=SAME_UPPER strides=2,",
           {"double[1,4,6] random 1", "double[6,2,3] random 2"}),
        OP("ConvTranspose", 11, "strides=2,2, pads=1,0,0,1, output_padding=1,0,",
           {"double[1,3,3,2] random 1", "double[3,2,3,3] random 2", "double[2] random 3"}),
        OP("ConvTranspose", 11, "group=2", {"double[1,4,3] random 1", "double[4,2,2] random 2"}),
        OP("MaxPool", 12, "kernel_shape=2,2, strides=2,1, pads=1,0,0,1,",
           {"double[2,2,4,4] random 1"}),
    };
    gradient_check_all(calls, ODB_COUNT(calls));
}

static void test_gradient__losses(void **state)
{
    static const char *const ops[] = {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"};
    for (size_t i = 0; i < ODB_COUNT(ops); i++) {
        const struct op_call calls[] = {
            OP(ops[i], 13, NULL, {"double[3,4] random 1", "int64[3] 2 0 3"}),
            OP(ops[i], 13, "reduction=sum ignore_index=0",
               {"double[3,4] random 1", "int64[3] 2 0 3"}),
            OP(ops[i], 13, NULL, {"double[3,4] random 1", "int64[3] 2 0 3", "double[4] 1 2 0.5 3"}),
            OP(ops[i], 13, "ignore_index=-1",
               {"double[2,3,2] random 1", "int64[2,2] 2 -1 0 1", "double[3] 1 2 0.5"}),
            OP(ops[i], 13, "reduction=none", {"double[2,3,2] random 1", "int32[2,2] 2 1 0 1"}),
        };
        gradient_check_all(calls, ODB_COUNT(calls));
    }
}

static void test_gradient__moves(void **state)
{
    static const struct op_call calls[] = {
        OP("Reshape", 14, NULL, {"double[2,3] random 1", "int64[2] 3 -1"}),
        OP("Flatten", 13, "axis=0", {"double[2,3] random 1"}),
        OP("Squeeze", 13, NULL, {"double[2,1,3] random 1"}),
        OP("Unsqueeze", 13, NULL, {"double[2,3] random 1", "int64[1] 1"}),
        OP("Expand", 13, NULL, {"double[2,1] random 1", "int64[3] 4 2 3"}),
        OP("Transpose", 13, "perm=2,0,1,", {"double[2,3,4] random 1"}),
        OP("Concat", 13, "axis=-1", {"double[2,1] random 1", "double[2,3] random 2"}),
        OP("Slice", 13, NULL,
           {"double[4,5] random 1", "int64[2] 3 1", "int64[2] -9 5", "int64[2] 0 1",
            "int64[2] -2 2"}),
        OP("Gather", 13, "axis=1", {"double[2,4] random 1", "int64[3] 1 1 -1"}),
        OP("GatherElements", 13, "axis=1", {"double[2,3] random 1", "int64[2,2] 0 0 2 1"}),
        OP("GatherND", 13, NULL, {"double[2,3] random 1", "int64[3,1] 1 1 0"}),
        OP("ScatterElements", 18, "axis=1",
           {"double[2,3] random 1", "int64[2,2] 0 1 2 1", "double[2,2] random 2"}),
        OP("ScatterElements", 18, "reduction=add",
           {"double[3,2] random 1", "int64[2,2] 0 1 0 1", "double[2,2] random 2"}),
        OP("Tile", 13, NULL, {"double[2,3] random 1", "int64[2] 2 1"}),
        OP("Pad", 13, NULL, {"double[2,3] random 1", "int64[4] 1 0 0 2"}),
        OP("Pad", 13, "mode=reflect", {"double[2,3] random 1", "int64[4] 1 0 1 2"}),
        OP("Trilu", 14, "upper=0", {"double[3,3] random 1"}),
        OP("DepthToSpace", 13, "blocksize=2", {"double[1,4,1,2] random 1"}),
        OP("SpaceToDepth", 13, "blocksize=2", {"double[1,1,2,4] random 1"}),
        OP("ReverseSequence", 10, NULL, {"double[3,2] random 1", "int64[2] 2 3"}),
        OP("Cast", 13, "to=11", {"double[3] random 1"}),
        OP("Dropout", 13, NULL, {"double[3] random 1"}),
    };
    gradient_check_all(calls, ODB_COUNT(calls));
}

static void gradient_weight(struct odb_builder *b, const char *name, const char *text)
{
    struct odb_tensor *t = op_tensor(text);
    odb_build_weight(b, name, t);
    odb_tensor_unref(t);
}

/* Runs a model without inputs; the status of the first node that fails, with its error. */
static enum odb_status gradient_values(struct odb_builder *b, struct gradient *c,
                                       struct odb_tensor ***values, struct odb_error *err)
{
    *c = (struct gradient){.model = models_take(b)};
    MODELS_OK(odb_cpu_new(&c->cpu, c->model, &why));
    *values = odb_new_n(struct odb_tensor *, c->model->graph->n_values);
    struct odb_cpu_run run = {.values = *values, .after = gradient_note};
    return odb_cpu_execute(c->cpu, &run, err);
}

static void gradient_expect(struct gradient *c, struct odb_tensor **values, const char *name,
                            const char *text)
{
    struct odb_tensor *want = op_tensor(text);
    op_assert_close(values[models_value(c->model, name)], want, 1e-6, name);
    odb_tensor_unref(want);
}

static void gradient_node(struct odb_builder *b, const char *xs, const char *y, const char *in,
                          const char *out)
{
    odb_build_node(b, "ai.onnx.preview.training::Gradient", "", in, out);
    odb_build_attr_strings(b, "xs", xs);
    odb_build_attr_string(b, "y", y);
}

/* y = x^3 at 2: 12; of that, 12; of that, 6. The third is taken where x is 5 instead. */
static void test_gradient__of_gradients(void **state)
{
    struct gradient c;
    struct odb_tensor **values;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "ai.onnx.preview.training", 1);
    gradient_weight(b, "x", "float[] 2");
    gradient_weight(b, "five", "float[] 5");
    odb_build_node(b, "Mul", "", "x x", "xx");
    odb_build_node(b, "Mul", "", "xx x", "y");
    gradient_node(b, "x", "y", "x", "d");
    gradient_node(b, "x", "d", "x", "dd");
    gradient_node(b, "x", "d", "five", "dd5");
    gradient_node(b, "x xx", "y", "x xx", "dx dxx");
    odb_build_output(b, "dd");
    assert_int_equal(gradient_values(b, &c, &values, &err), ODB_OK);
    gradient_expect(&c, values, "d", "float[] 12");
    gradient_expect(&c, values, "dd", "float[] 12");
    gradient_expect(&c, values, "dd5", "float[] 30");
    gradient_expect(&c, values, "dx", "float[] 4"); /* xx does not depend on x here */
    gradient_expect(&c, values, "dxx", "float[] 2");
    gradient_free(&c, values);
    gradient_close(&c);
}

/* Through a function, and the branch of an If that sees values around it. */
static void test_gradient__through_bodies(void **state)
{
    struct gradient c;
    struct odb_tensor **values;
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_builder *b = odb_build_new("g", 17), *f = odb_build_new("f", 17);
    struct odb_builder *then = odb_build_new("then", 17), *other = odb_build_new("else", 17);
    odb_build_opset(b, "ai.onnx.preview.training", 1);
    odb_build_opset(b, "local", 1);
    odb_build_node(f, "Exp", "", "a", "r");
    odb_build_function(b, "local", "F", "a", "r", "", f);
    odb_build_node(then, "Mul", "", "e x", "t");
    odb_build_output(then, "t");
    odb_build_node(other, "Identity", "", "x", "o");
    odb_build_output(other, "o");
    gradient_weight(b, "x", "float[2] 1 2");
    gradient_weight(b, "yes", "bool[] 1");
    odb_build_node(b, "local::F", "", "x", "e");
    odb_build_node(b, "If", "", "yes", "y");
    odb_build_attr_graph(b, "then_branch", then);
    odb_build_attr_graph(b, "else_branch", other);
    gradient_node(b, "x", "y", "x", "d"); /* of x exp(x): (1 + x) exp(x) */
    odb_build_output(b, "d");
    assert_int_equal(gradient_values(b, &c, &values, &err), ODB_OK);
    gradient_expect(&c, values, "d", "float[2] 5.43656365691809 22.16716829679195");
    gradient_free(&c, values);
    gradient_close(&c);
}

static void gradient_refuses(const char *op, const char *xs, const char *y, const char *in,
                             enum odb_status want, const char *says)
{
    struct gradient c;
    struct odb_tensor **values;
    struct odb_error err = ODB_ERROR_INIT;
    char text[1000];
    struct odb_builder *b = odb_build_new("g", 17);
    odb_build_opset(b, "ai.onnx.preview.training", 1);
    gradient_weight(b, "x", "float[2] 1 2");
    gradient_weight(b, "i", "int64[1] 1");
    odb_build_node(b, op, "", "x", "y");
    gradient_node(b, xs, y, in, "d");
    odb_build_output(b, "d");
    assert_int_equal(gradient_values(b, &c, &values, &err), want);
    if (!strstr(odb_error_text(&err, text, sizeof text), says))
        fail_msg("'%s' does not say '%s'", text, says);
    gradient_free(&c, values);
    gradient_close(&c);
}

static void test_gradient__refuses(void **state)
{
    gradient_refuses("Hardmax", "x", "y", "x", ODB_UNSUPPORTED,
                     "no derivative is known for Hardmax");
    gradient_refuses("Exp", "x", "nobody", "x", ODB_E_OPERATOR, "no value 'nobody'");
    gradient_refuses("Exp", "z", "y", "x", ODB_E_OPERATOR, "no value 'z'");
    gradient_refuses("Exp", "x", "y", "x x", ODB_E_OPERATOR, "an input for each");
    gradient_refuses("Exp", "i", "y", "i", ODB_E_OPERATOR, "real numbers");
    gradient_refuses("Shape", "x", "y", "x", ODB_E_OPERATOR, "real numbers");
    gradient_refuses("Exp", "x", "i", "x", ODB_E_OPERATOR, "not computed from");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient__elementwise),
        cmocka_unit_test(test_gradient__sums_and_products),
        cmocka_unit_test(test_gradient__windows),
        cmocka_unit_test(test_gradient__losses),
        cmocka_unit_test(test_gradient__moves),
        cmocka_unit_test(test_gradient__of_gradients),
        cmocka_unit_test(test_gradient__through_bodies),
        cmocka_unit_test(test_gradient__refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
