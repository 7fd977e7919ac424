/* SPDX-License-Identifier: MIT
 *
 * FlexAttention (ai.onnx.preview 1) for the CPU reference: attention whose scores and weights pass
 * through bodies on their way. It is put together from other operators, so that every precision of
 * the reference reaches each of its steps. Products are taken in the wider of the types of the
 * operands and of the softmax.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"

#define FLEX_OPSET 13 /* of the operators that it is made of */

/* One call of FlexAttention. */
struct flex {
    const struct cpu_scope *scope;
    int index;                /* of the node */
    enum odb_dtype type;      /* of Q, K and V as the model has them */
    enum odb_dtype soft_type; /* of scores and weights */
    uint64_t step;            /* operators run so far: each draws its own noise */
    struct odb_error *err;
};

static enum odb_status flex_op(struct flex *f, const char *name, struct odb_attr *attr,
                               const struct odb_tensor *a, const struct odb_tensor *b,
                               struct odb_tensor **out)
{
    static const bool wanted[1] = {true};
    const struct odb_tensor *in[2] = {a, b};
    struct odb_call call = {.op = odb_op_find("", name, FLEX_OPSET),
                            .opset = FLEX_OPSET,
                            .attrs = {attr, attr ? 1 : 0},
                            .n_in = b ? 2 : 1,
                            .n_out = 1,
                            .in = in,
                            .wanted = wanted,
                            .precision = f->scope->precision,
                            .inner = true,
                            .seed = cpu_scope_seed(f->scope, f->index, ++f->step)};
    return odb_op_run(&call, out, f->err);
}

static enum odb_status flex_cast(struct flex *f, const struct odb_tensor *t, enum odb_dtype type,
                                 struct odb_tensor **out)
{
    struct odb_attr to = {.name = "to", .type = ODB_ATTR_INT, .i = type};
    return flex_op(f, "Cast", &to, t, NULL, out);
}

/* --- what it takes ---------------------------------------------------------------------------- */

static enum odb_status flex_check(const struct odb_tensor *const *in, int n, struct odb_error *err)
{
    char text[3][200];
    for (int i = 0; i < 3; i++) {
        const struct odb_tensor *t = i < n ? in[i] : NULL;
        if (!t || t->kind != ODB_TENSOR || !(ODB_BIT(t->dtype) & ODB_T_FLOAT))
            return odb_fail(err, ODB_E_OPERATOR, "FlexAttention needs Q, K and V of a float type");
        odb_shape_text(t, text[i], sizeof text[i]);
    }
    const int64_t *q = in[0]->dims, *k = in[1]->dims, *v = in[2]->dims;
    bool fits = in[0]->rank == 4 && in[1]->rank == 4 && in[2]->rank == 4 && q[0] == k[0] &&
                k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] &&
                (q[1] == k[1] || (k[1] > 0 && q[1] % k[1] == 0));
    if (!fits)
        return odb_fail(err, ODB_E_OPERATOR, "Q, K and V of shapes %s, %s and %s do not fit",
                        text[0], text[1], text[2]);
    if (in[0]->dtype != in[1]->dtype || in[0]->dtype != in[2]->dtype)
        return odb_fail(err, ODB_E_OPERATOR, "Q, K and V have different types");
    return ODB_OK;
}

static enum odb_status flex_soft_type(struct flex *f, const struct odb_attrs *attrs)
{
    const struct odb_attr *attr = odb_attrs_find(attrs, "softmax_precision");
    f->soft_type = f->type == ODB_F64 ? ODB_F64 : ODB_F32;
    if (!attr)
        return ODB_OK;
    if (attr->i != ODB_F32 && attr->i != ODB_F16 && attr->i != ODB_F64 && attr->i != ODB_BF16)
        return odb_fail(f->err, ODB_E_OPERATOR, "softmax_precision %lld is no float type",
                        (long long)attr->i);
    f->soft_type = (enum odb_dtype)attr->i;
    return ODB_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* scale * Q K^T. Queries that share keys stand one after the other, so they are more rows of one
 * product. */
static enum odb_status flex_scores(struct flex *f, const struct odb_tensor *q,
                                   const struct odb_tensor *k, double scale,
                                   struct odb_tensor **out)
{
    int64_t order[4] = {0, 1, 3, 2};
    struct odb_attr perm = {.name = "perm", .type = ODB_ATTR_INTS, .ints = order, .n = 4};
    int64_t shared[4] = {k->dims[0], k->dims[1],
                         k->dims[1] ? q->dims[1] / k->dims[1] * q->dims[2] : 0, q->dims[3]};
    int64_t dims[4] = {q->dims[0], q->dims[1], q->dims[2], k->dims[2]};
    struct odb_tensor *factor = NULL, *scaled = NULL, *rows = NULL, *keys = NULL, *product = NULL;
    enum odb_status status;
    ODB_TRY_OUT(odb_tensor_new(&factor, q->dtype, 0, NULL, f->err));
    odb_store_f64(factor->dtype, factor->data, 0, scale);
    ODB_TRY_OUT(flex_op(f, "Mul", NULL, q, factor, &scaled));
    ODB_TRY_OUT(odb_tensor_reshape(&rows, scaled, 4, shared, f->err));
    ODB_TRY_OUT(flex_op(f, "Transpose", &perm, k, NULL, &keys));
    ODB_TRY_OUT(flex_op(f, "MatMul", NULL, rows, keys, &product));
    ODB_TRY_OUT(odb_tensor_reshape(out, product, 4, dims, f->err));
out:
    odb_tensor_unref(factor);
    odb_tensor_unref(scaled);
    odb_tensor_unref(rows);
    odb_tensor_unref(keys);
    odb_tensor_unref(product);
    return status;
}

/* weights V, in the same way. */
static enum odb_status flex_values(struct flex *f, const struct odb_tensor *weights,
                                   const struct odb_tensor *v, struct odb_tensor **out)
{
    const int64_t *w = weights->dims;
    int64_t shared[4] = {v->dims[0], v->dims[1], v->dims[1] ? w[1] / v->dims[1] * w[2] : 0, w[3]};
    int64_t dims[4] = {w[0], w[1], w[2], v->dims[3]};
    struct odb_tensor *rows = NULL, *product = NULL;
    enum odb_status status;
    ODB_TRY_OUT(odb_tensor_reshape(&rows, weights, 4, shared, f->err));
    ODB_TRY_OUT(flex_op(f, "MatMul", NULL, rows, v, &product));
    ODB_TRY_OUT(odb_tensor_reshape(out, product, 4, dims, f->err));
out:
    odb_tensor_unref(rows);
    odb_tensor_unref(product);
    return status;
}

/* Replaces *t by what the body in attribute name makes of it; nothing where there is none. */
static enum odb_status flex_modify(struct flex *f, const char *name, struct odb_tensor **t)
{
    const struct cpu_plan *body = cpu_body_find(f->scope, f->index, name);
    struct odb_tensor *made = NULL;
    if (!body)
        return ODB_OK;
    if (body->graph->n_inputs != 1 || body->graph->n_outputs != 1)
        return odb_fail(f->err, ODB_E_OPERATOR, "%s takes %zu values and gives %zu, not one each",
                        name, body->graph->n_inputs, body->graph->n_outputs);
    ODB_TRY(cpu_body_run(f->scope, f->index, body, ++f->step, t, &made, f->err));
    bool fits =
        made->kind == ODB_TENSOR && made->dtype == (*t)->dtype && odb_tensor_same_shape(made, *t);
    odb_tensor_unref(fits ? *t : made);
    if (!fits)
        return odb_fail(f->err, ODB_E_OPERATOR, "%s changes type or shape", name);
    *t = made;
    return ODB_OK;
}

enum odb_status cpu_control_flex(const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, struct odb_tensor **out,
                                 struct odb_error *err)
{
    const struct odb_attrs *attrs = &scope->plan->nodes[index].attrs;
    const struct odb_attr *scale = odb_attrs_find(attrs, "scale");
    struct odb_attr axis = {.name = "axis", .type = ODB_ATTR_INT, .i = 3};
    struct odb_tensor *operand[3] = {NULL}, *scores = NULL, *soft = NULL, *weights = NULL;
    struct odb_tensor *values = NULL, *y = NULL;
    enum odb_status status;
    ODB_TRY(flex_check(in, scope->plan->graph->nodes[index].n_in, err));
    struct flex f = {.scope = scope, .index = index, .type = in[0]->dtype, .err = err};
    ODB_TRY(flex_soft_type(&f, attrs));
    bool wider = odb_dtype_info(f.soft_type)->bits > odb_dtype_info(f.type)->bits;
    double factor = scale ? scale->f : 1 / sqrt((double)in[0]->dims[3]);
    for (int i = 0; i < 3; i++)
        ODB_TRY_OUT(flex_cast(&f, in[i], wider ? f.soft_type : f.type, &operand[i]));
    ODB_TRY_OUT(flex_scores(&f, operand[0], operand[1], factor, &scores));
    ODB_TRY_OUT(flex_cast(&f, scores, f.soft_type, &soft));
    ODB_TRY_OUT(flex_modify(&f, "score_mod", &soft));
    ODB_TRY_OUT(flex_op(&f, "Softmax", &axis, soft, NULL, &weights));
    ODB_TRY_OUT(flex_modify(&f, "prob_mod", &weights));
    ODB_TRY_OUT(flex_cast(&f, operand[2], f.soft_type, &values));
    ODB_TRY_OUT(flex_values(&f, weights, values, &y));
    ODB_TRY_OUT(flex_cast(&f, y, f.type, &out[0]));
out:
    for (int i = 0; i < 3; i++)
        odb_tensor_unref(operand[i]);
    odb_tensor_unref(scores);
    odb_tensor_unref(soft);
    odb_tensor_unref(weights);
    odb_tensor_unref(values);
    odb_tensor_unref(y);
    return status;
}
