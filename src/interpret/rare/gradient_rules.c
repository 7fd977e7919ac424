/* SPDX-License-Identifier: MIT
 *
 * Derivatives, operator by operator.
 *
 * Element-wise operators have formulas in postfix notation, one per input: g is the derivative of
 * the output, a b c are the inputs and y the output, @name is an attribute; ~ is Neg, > < = give 1
 * or 0, ? chooses (condition, then, else), and whatever else is no number is an operator. Operators
 * that only move elements share one rule: they are made to move numbers of places, which tells
 * where each element of the output came from. What is a composition of simpler operators has no
 * derivative of its own but a form in those.
 *
 * Where a function has a kink, the derivative is one that lies between those of its sides.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpret/rare/gradient_int.h"

/* --- attributes ------------------------------------------------------------------------------- */

static struct odb_attr rule_int(const char *name, int64_t v)
{
    return (struct odb_attr){.name = name, .type = ODB_ATTR_INT, .i = v};
}

static struct odb_attr rule_ints(const char *name, size_t n, const int64_t *v)
{
    return (struct odb_attr){.name = name, .type = ODB_ATTR_INTS, .n = n, .ints = v};
}

static struct odb_attr rule_text(const char *name, const char *v)
{
    return (struct odb_attr){.name = name, .type = ODB_ATTR_STRING, .s = {v, strlen(v)}};
}

/* The text of a default; NULL: none. */
static const char *rule_default(const struct grad_call *c, const char *name)
{
    for (const struct odb_attr_spec *spec = c->op->attrs; spec && spec->name; spec++)
        if (strcmp(spec->name, name) == 0)
            return spec->def;
    return NULL;
}

static int64_t rule_get_int(const struct grad_call *c, const char *name, int64_t fallback)
{
    const struct odb_attr *attr = odb_attrs_find(&c->attrs, name);
    const char *text = rule_default(c, name);
    return attr && attr->type == ODB_ATTR_INT ? attr->i : text ? strtoll(text, NULL, 10) : fallback;
}

static double rule_get_float(const struct grad_call *c, const char *name)
{
    const struct odb_attr *attr = odb_attrs_find(&c->attrs, name);
    const char *text = rule_default(c, name);
    return attr && attr->type == ODB_ATTR_FLOAT ? attr->f : text ? strtof(text, NULL) : 0;
}

static const char *rule_get_text(const struct grad_call *c, const char *name, const char *fallback)
{
    const struct odb_attr *attr = odb_attrs_find(&c->attrs, name);
    return attr && attr->type == ODB_ATTR_STRING ? attr->s.data : fallback;
}

/* --- small calls ------------------------------------------------------------------------------ */

static int rule_in(const struct grad_call *c, int i)
{
    return i < c->n_in ? c->in[i] : GRAD_NONE;
}

static int rule_cast(struct grad_tape *t, int x, enum odb_dtype dtype)
{
    const struct odb_tensor *tensor = grad_tensor(t, x);
    const struct odb_attr to = rule_int("to", dtype);
    if (t->status != ODB_OK || tensor->dtype == dtype)
        return t->status == ODB_OK ? x : GRAD_NONE;
    return grad_op(t, "Cast", 1, &x, 1, &to);
}

static int rule_reshape(struct grad_tape *t, int x, int rank, const int64_t *dims)
{
    const struct odb_attr zero = rule_int("allowzero", 1);
    int in[2] = {x, grad_ints(t, (size_t)rank, dims)};
    return grad_op(t, "Reshape", 2, in, 1, &zero);
}

static int rule_reshape_like(struct grad_tape *t, int x, int like)
{
    const struct odb_tensor *tensor = grad_tensor(t, like);
    return rule_reshape(t, x, tensor->rank, tensor->dims);
}

static int rule_expand_like(struct grad_tape *t, int x, int like)
{
    const struct odb_tensor *tensor = grad_tensor(t, like);
    return GRAD_OP(t, "Expand", x, grad_ints(t, (size_t)tensor->rank, tensor->dims));
}

/* ReduceSum and its kin; no axes: x as it is. */
static int rule_reduce(struct grad_tape *t, const char *name, int x, size_t n, const int64_t *axes,
                       bool keep)
{
    const struct odb_attr attr = rule_int("keepdims", keep);
    int in[2] = {x, grad_ints(t, n, axes)};
    return n ? grad_op(t, name, 2, in, 1, &attr) : x;
}

static int rule_transpose(struct grad_tape *t, int x, int rank, const int64_t *perm)
{
    const struct odb_attr attr = rule_ints("perm", (size_t)rank, perm);
    return grad_op(t, "Transpose", 1, &x, 1, &attr);
}

static int rule_swap_last(struct grad_tape *t, int x)
{
    int64_t perm[ODB_MAX_RANK];
    if (t->status != ODB_OK)
        return GRAD_NONE;
    int rank = grad_tensor(t, x)->rank;
    for (int d = 0; d < rank; d++)
        perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return rule_transpose(t, x, rank, perm);
}

static int rule_slice(struct grad_tape *t, int x, int64_t axis, int64_t from, int64_t to)
{
    return GRAD_OP(t, "Slice", x, grad_ints(t, 1, &from), grad_ints(t, 1, &to),
                   grad_ints(t, 1, &axis));
}

int grad_unbroadcast(struct grad_tape *t, int g, int like)
{
    const struct odb_tensor *x = grad_tensor(t, like), *from = grad_tensor(t, g);
    int64_t axes[ODB_MAX_RANK];
    size_t n = 0;
    if (t->status != ODB_OK)
        return GRAD_NONE;
    if (odb_tensor_same_shape(x, from))
        return g;
    for (int d = 0; d < from->rank; d++) {
        int in_x = d - (from->rank - x->rank);
        if (in_x < 0 || x->dims[in_x] != from->dims[d])
            axes[n++] = d;
    }
    return rule_reshape_like(t, rule_reduce(t, "ReduceSum", g, n, axes, true), like);
}

/* --- formulas --------------------------------------------------------------------------------- */

enum { RULE_STACK = 12 };

/* Operators that formulas write as one character; those that compare give numbers. */
static const struct rule_sign {
    char sign;
    int n_in;
    const char *name;
    bool compares;
} rule_signs[] = {
    {'+', 2, "Add", false},    {'-', 2, "Sub", false}, {'*', 2, "Mul", false},
    {'/', 2, "Div", false},    {'~', 1, "Neg", false}, {'?', 3, "Where", false},
    {'>', 2, "Greater", true}, {'<', 2, "Less", true}, {'=', 2, "Equal", true},
};

/* A variable that a formula names; GRAD_NONE: it names none. like: whose type numbers take. */
static int rule_variable(struct grad_tape *t, const struct grad_call *c, int g, int like,
                         const char *token, size_t len)
{
    if (len == 1 && *token == 'g')
        return g;
    if (len == 1 && *token == 'y')
        return c->out[0];
    if (len == 1 && *token >= 'a' && *token <= 'c') {
        int var = rule_in(c, *token - 'a');
        const struct odb_tensor *tensor = grad_tensor(t, var);
        bool number = tensor && tensor->dtype != ODB_BOOL;
        return number ? rule_cast(t, var, grad_tensor(t, like)->dtype) : var;
    }
    if (*token == '@') {
        char name[40];
        snprintf(name, sizeof name, "%.*s", (int)len - 1, token + 1);
        return grad_number(t, like, rule_get_float(c, name));
    }
    return isdigit((unsigned char)*token) ? grad_number(t, like, strtod(token, NULL)) : GRAD_NONE;
}

static int rule_formula(struct grad_tape *t, const struct grad_call *c, int g, const char *f)
{
    int stack[RULE_STACK], n = 0;
    int like = g != GRAD_NONE ? g : c->in[0];
    for (size_t len; *f && t->status == ODB_OK; f += len + (f[len] == ' ')) {
        len = strcspn(f, " ");
        int var = rule_variable(t, c, g, like, f, len);
        if (t->status != ODB_OK)
            break;
        if (var != GRAD_NONE) {
            ODB_ASSERT(n < RULE_STACK);
            stack[n++] = var;
            continue;
        }
        char name[40];
        int n_in = 1;
        bool compares = false;
        snprintf(name, sizeof name, "%.*s", (int)len, f);
        for (size_t s = 0; s < ODB_COUNT(rule_signs); s++)
            if (len == 1 && rule_signs[s].sign == *f) {
                snprintf(name, sizeof name, "%s", rule_signs[s].name);
                n_in = rule_signs[s].n_in;
                compares = rule_signs[s].compares;
            }
        if (!strcmp(name, "Pow") || !strcmp(name, "Max") || !strcmp(name, "Min"))
            n_in = 2;
        ODB_ASSERT(n >= n_in);
        n -= n_in;
        stack[n] = grad_op(t, name, n_in, stack + n, 0, NULL);
        if (compares && t->status == ODB_OK)
            stack[n] = rule_cast(t, stack[n], grad_tensor(t, like)->dtype);
        n++;
    }
    return t->status == ODB_OK ? stack[0] : GRAD_NONE;
}

/* --- moves ------------------------------------------------------------------------------------ */

/* The elements of x numbered from 1. */
static int rule_places(struct grad_tape *t, int x)
{
    const struct odb_tensor *tensor = grad_tensor(t, x);
    struct odb_tensor *places = NULL;
    if (t->status != ODB_OK)
        return GRAD_NONE;
    t->status = odb_tensor_new(&places, ODB_I64, tensor->rank, tensor->dims, t->err);
    if (t->status != ODB_OK)
        return GRAD_NONE;
    for (size_t i = 0; i < places->count; i++)
        ((odb_i64 *)places->data)[i] = (int64_t)i + 1;
    return grad_constant(t, places);
}

/* A tensor of n elements: where places (int64) says so, the sum of g, else 0. Place 0 is of
 * elements that come from nowhere. */
static int rule_scatter(struct grad_tape *t, int g, int places, size_t n)
{
    const struct odb_attr add = rule_text("reduction", "add");
    struct odb_tensor *zeros = NULL;
    int64_t dims[] = {(int64_t)n + 1};
    if (t->status != ODB_OK)
        return GRAD_NONE;
    t->status = odb_tensor_new(&zeros, grad_tensor(t, g)->dtype, 1, dims, t->err);
    if (t->status != ODB_OK)
        return GRAD_NONE;
    int64_t count = (int64_t)grad_tensor(t, g)->count;
    int in[3] = {grad_constant(t, zeros), rule_reshape(t, places, 1, &count),
                 rule_reshape(t, g, 1, &count)};
    return rule_slice(t, grad_op(t, "ScatterElements", 3, in, 1, &add), 0, 1, (int64_t)n + 1);
}

/* Of a call that moves its first input: what is filled in between (the value of Pad) is 0. */
static void rule_move(struct grad_tape *t, const struct grad_call *c, const int *g,
                      const bool *want, int *gi)
{
    int *in = grad_new_n(t, int, c->n_in), *out = grad_new_n(t, int, c->n_out), n_in = c->n_in;
    bool *wanted = grad_new_n(t, bool, c->n_out);
    memcpy(in, c->in, (size_t)n_in * sizeof *in);
    in[0] = rule_places(t, c->in[0]);
    bool pads = !strcmp(c->op->name, "Pad");
    struct odb_attr *attrs = grad_new_n(t, struct odb_attr, c->attrs.n);
    size_t n_attrs = 0;
    for (size_t a = 0; a < c->attrs.n; a++)
        if (!pads || strcmp(c->attrs.items[a].name, "value"))
            attrs[n_attrs++] = c->attrs.items[a];
    if (pads && n_in > 2)
        in[2] = GRAD_NONE; /* 0 then, as without the attribute value */
    while (n_in > c->op->min_in && in[n_in - 1] == GRAD_NONE)
        n_in--;
    for (int o = 0; o < c->n_out; o++)
        wanted[o] = g[o] != GRAD_NONE;
    int n_out = c->n_out;
    grad_record(t, c->op, c->opset, (struct odb_attrs){attrs, n_attrs}, n_in, in, n_out, wanted,
                out);
    for (int o = 0; o < n_out && t->status == ODB_OK; o++) {
        if (g[o] == GRAD_NONE)
            continue;
        int part = rule_scatter(t, g[o], out[o], grad_tensor(t, c->in[0])->count);
        gi[0] = gi[0] == GRAD_NONE ? part : GRAD_OP(t, "Add", gi[0], part);
    }
    if (t->status == ODB_OK)
        gi[0] = rule_reshape_like(t, gi[0], c->in[0]);
    (void)want;
}

static void rule_same_elements(struct grad_tape *t, const struct grad_call *c, const int *g,
                               const bool *want, int *gi)
{
    (void)want;
    gi[0] = rule_reshape_like(t, g[0], c->in[0]);
}

static void rule_expand(struct grad_tape *t, const struct grad_call *c, const int *g,
                        const bool *want, int *gi)
{
    (void)want;
    gi[0] = grad_unbroadcast(t, g[0], c->in[0]);
}

static void rule_turn(struct grad_tape *t, const struct grad_call *c, const int *g,
                      const bool *want, int *gi)
{
    const struct odb_attr *perm = odb_attrs_find(&c->attrs, "perm");
    int rank = grad_tensor(t, c->in[0])->rank;
    int64_t back[ODB_MAX_RANK];
    (void)want;
    for (int d = 0; d < rank; d++)
        back[perm ? perm->ints[d] : rank - 1 - d] = d;
    gi[0] = rule_transpose(t, g[0], rank, back);
}

static void rule_concat(struct grad_tape *t, const struct grad_call *c, const int *g,
                        const bool *want, int *gi)
{
    int64_t axis = rule_get_int(c, "axis", 1), at = 0;
    axis += axis < 0 ? grad_tensor(t, c->out[0])->rank : 0;
    for (int i = 0; i < c->n_in; i++) {
        int64_t len = grad_tensor(t, c->in[i])->dims[axis];
        if (want[i])
            gi[i] = rule_slice(t, g[0], axis, at, at + len);
        at += len;
    }
}

/* Of what ScatterElements puts in place of others, or adds to them. */
static void rule_scatter_elements(struct grad_tape *t, const struct grad_call *c, const int *g,
                                  const bool *want, int *gi)
{
    const char *reduction = rule_get_text(c, "reduction", "none");
    const struct odb_attr axis = rule_int("axis", rule_get_int(c, "axis", 0));
    bool add = !strcmp(reduction, "add");
    if (!add && strcmp(reduction, "none")) {
        grad_fail(t, ODB_UNSUPPORTED, "no derivative is known for ScatterElements that takes %s",
                  reduction);
        return;
    }
    if (want[0]) {
        int zero = grad_number(t, g[0], 0);
        int in[3] = {g[0], c->in[1], t->status == ODB_OK ? rule_expand_like(t, zero, c->in[2]) : 0};
        gi[0] = add ? g[0] : grad_op(t, "ScatterElements", 3, in, 1, &axis);
    }
    if (want[2])
        gi[2] = grad_op(t, "GatherElements", 2, (int[]){g[0], c->in[1]}, 1, &axis);
}

/* --- sums and the like ------------------------------------------------------------------------ */

static void rule_sum(struct grad_tape *t, const struct grad_call *c, const int *g, const bool *want,
                     int *gi)
{
    bool mean = !strcmp(c->op->name, "Mean");
    int each = mean ? GRAD_OP(t, "Div", g[0], grad_number(t, g[0], c->n_in)) : g[0];
    for (int i = 0; i < c->n_in; i++)
        if (want[i])
            gi[i] = grad_unbroadcast(t, each, c->in[i]);
}

/* Max and Min: those that are as large as the result share its derivative. */
static void rule_extreme(struct grad_tape *t, const struct grad_call *c, const int *g,
                         const bool *want, int *gi)
{
    enum odb_dtype dtype = grad_tensor(t, g[0])->dtype;
    int *hit = grad_new_n(t, int, c->n_in), hits = GRAD_NONE;
    for (int i = 0; i < c->n_in && t->status == ODB_OK; i++) {
        hit[i] = rule_cast(t, GRAD_OP(t, "Equal", c->in[i], c->out[0]), dtype);
        hits = i ? GRAD_OP(t, "Add", hits, hit[i]) : hit[i];
    }
    int share = GRAD_OP(t, "Div", g[0], hits);
    for (int i = 0; i < c->n_in && t->status == ODB_OK; i++)
        if (want[i])
            gi[i] = grad_unbroadcast(t, GRAD_OP(t, "Mul", share, hit[i]), c->in[i]);
}

/* Shape of the reduced input with 1 for each axis that is summed over; returns how many elements
 * make one of the output. */
static double rule_reduced(const struct grad_tape *t, const struct grad_call *c, int64_t *dims,
                           int64_t *axes, size_t *n)
{
    const struct odb_tensor *x = grad_tensor(t, c->in[0]), *given = grad_tensor(t, rule_in(c, 1));
    const struct odb_attr *attr = odb_attrs_find(&c->attrs, "axes");
    size_t n_given = given ? given->count : attr ? attr->n : 0;
    bool all = !n_given && !rule_get_int(c, "noop_with_empty_axes", 0);
    double count = 1;
    memcpy(dims, x->dims, sizeof x->dims);
    *n = 0;
    for (int d = 0; d < x->rank; d++) {
        bool hit = all;
        for (size_t i = 0; i < n_given; i++) {
            int64_t axis = given ? odb_tensor_i64(given, i) : attr->ints[i];
            hit = hit || axis + (axis < 0 ? x->rank : 0) == d;
        }
        if (!hit)
            continue;
        axes[(*n)++] = d;
        count *= (double)x->dims[d];
        dims[d] = 1;
    }
    return count;
}

/* Formulas of what one element of the input adds; a: the input, b: the output with the dimensions
 * that are gone as 1, c: how many elements. */
static const struct {
    const char *name, *f;
} rule_reductions[] = {
    {"ReduceSum", "g"},
    {"ReduceMean", "g c /"},
    {"ReduceSumSquare", "g a * 2 *"},
    {"ReduceL1", "g a Sign *"},
    {"ReduceL2", "g a * b /"},
    {"ReduceLogSum", "g b Exp /"},
    {"ReduceLogSumExp", "g a b - Exp *"},
    {"ReduceMax", NULL},
    {"ReduceMin", NULL},
};

static void rule_reduction(struct grad_tape *t, const struct grad_call *c, const int *g,
                           const bool *want, int *gi)
{
    const struct odb_tensor *x = grad_tensor(t, c->in[0]);
    int64_t dims[ODB_MAX_RANK], axes[ODB_MAX_RANK];
    size_t n;
    double count = rule_reduced(t, c, dims, axes, &n);
    const char *f = NULL;
    int rank = x->rank;
    (void)want;
    for (size_t i = 0; i < ODB_COUNT(rule_reductions); i++)
        if (!strcmp(rule_reductions[i].name, c->op->name))
            f = rule_reductions[i].f;
    int gk = rule_reshape(t, g[0], rank, dims), yk = rule_reshape(t, c->out[0], rank, dims);
    if (!f && t->status == ODB_OK) {
        int hit = rule_cast(t, GRAD_OP(t, "Equal", c->in[0], yk), grad_tensor(t, g[0])->dtype);
        int hits = rule_reduce(t, "ReduceSum", hit, n, axes, true);
        gi[0] = GRAD_OP(t, "Div", GRAD_OP(t, "Mul", gk, hit), hits);
        return;
    }
    int in[3] = {c->in[0], yk, grad_number(t, c->in[0], count)};
    const struct grad_call inner = {c->op, c->opset, c->attrs, 3, 1, in, c->out};
    gi[0] = t->status == ODB_OK ? rule_formula(t, &inner, gk, f) : GRAD_NONE;
    if (t->status == ODB_OK)
        gi[0] = rule_expand_like(t, gi[0], c->in[0]);
}

/* Softmax and LogSoftmax: over one axis, and before opset 13 over all that follow it. */
static void rule_softmax(struct grad_tape *t, const struct grad_call *c, const int *g,
                         const bool *want, int *gi)
{
    bool one = c->op->since >= 13, logs = !strcmp(c->op->name, "LogSoftmax");
    int rank = grad_tensor(t, c->in[0])->rank;
    int64_t axis = rule_get_int(c, "axis", one ? -1 : 1), axes[ODB_MAX_RANK];
    size_t n = 0;
    (void)want;
    axis += axis < 0 ? rank : 0;
    for (int64_t d = axis; d < rank && (!one || d == axis); d++)
        axes[n++] = d;
    if (logs) {
        int sum = rule_reduce(t, "ReduceSum", g[0], n, axes, true);
        gi[0] = GRAD_OP(t, "Sub", g[0], GRAD_OP(t, "Mul", GRAD_OP(t, "Exp", c->out[0]), sum));
        return;
    }
    int weighed = GRAD_OP(t, "Mul", g[0], c->out[0]);
    int sum = rule_reduce(t, "ReduceSum", weighed, n, axes, true);
    gi[0] = GRAD_OP(t, "Sub", weighed, GRAD_OP(t, "Mul", c->out[0], sum));
}

static void rule_cumsum(struct grad_tape *t, const struct grad_call *c, const int *g,
                        const bool *want, int *gi)
{
    const struct odb_attr attrs[] = {rule_int("exclusive", rule_get_int(c, "exclusive", 0)),
                                     rule_int("reverse", !rule_get_int(c, "reverse", 0))};
    (void)want;
    gi[0] = grad_op(t, "CumSum", 2, (int[]){g[0], c->in[1]}, 2, attrs);
}

/* --- products --------------------------------------------------------------------------------- */

static void rule_matmul(struct grad_tape *t, const struct grad_call *c, const int *g,
                        const bool *want, int *gi)
{
    const struct odb_tensor *a = grad_tensor(t, c->in[0]), *b = grad_tensor(t, c->in[1]);
    const struct odb_tensor *y = grad_tensor(t, c->out[0]);
    int64_t row[] = {1, a->dims[0]}, column[] = {b->dims[0], 1}, dims[ODB_MAX_RANK + 2];
    int rank = y->rank, va = c->in[0], vb = c->in[1], vg = g[0];
    if (a->rank == 1)
        va = rule_reshape(t, va, 2, row);
    if (b->rank == 1)
        vb = rule_reshape(t, vb, 2, column);
    memcpy(dims, y->dims, sizeof y->dims);
    if (a->rank == 1) { /* y has no rows */
        if (b->rank > 1)
            dims[rank] = dims[rank - 1];
        dims[b->rank > 1 ? rank - 1 : rank] = 1;
        rank++;
    }
    if (b->rank == 1)
        dims[rank++] = 1;
    if (a->rank == 1 || b->rank == 1)
        vg = rule_reshape(t, vg, rank, dims);
    for (int i = 0; i < 2 && t->status == ODB_OK; i++) {
        if (!want[i])
            continue;
        int d = i ? GRAD_OP(t, "MatMul", rule_swap_last(t, va), vg)
                  : GRAD_OP(t, "MatMul", vg, rule_swap_last(t, vb));
        d = t->status == ODB_OK ? grad_unbroadcast(t, d, i ? vb : va) : GRAD_NONE;
        gi[i] = t->status == ODB_OK ? rule_reshape_like(t, d, c->in[i]) : GRAD_NONE;
    }
}

/* Geometry of Conv, ConvTranspose and AveragePool, with pads as numbers. */
struct rule_conv {
    int nd;
    int64_t group;
    int64_t kernel[ODB_MAX_RANK], strides[ODB_MAX_RANK], dilations[ODB_MAX_RANK];
    int64_t pads[2 * ODB_MAX_RANK];
};

static void rule_list(const struct grad_call *c, const char *name, int n, int64_t fallback,
                      int64_t *list)
{
    const struct odb_attr *attr = odb_attrs_find(&c->attrs, name);
    for (int i = 0; i < n; i++)
        list[i] = attr && (size_t)i < attr->n ? attr->ints[i] : fallback;
}

/* large: spatial dimensions of what the window slides over, small: of where it stops. */
static void rule_conv_init(struct rule_conv *v, const struct grad_call *c, int nd,
                           const int64_t *kernel, const int64_t *large, const int64_t *small)
{
    const char *mode = rule_get_text(c, "auto_pad", "NOTSET");
    v->nd = nd;
    v->group = rule_get_int(c, "group", 1);
    rule_list(c, "strides", nd, 1, v->strides);
    rule_list(c, "dilations", nd, 1, v->dilations);
    rule_list(c, "pads", 2 * nd, 0, v->pads);
    for (int i = 0; i < nd; i++) {
        v->kernel[i] = kernel[i];
        int64_t total =
            (small[i] - 1) * v->strides[i] + (kernel[i] - 1) * v->dilations[i] + 1 - large[i];
        if (!strcmp(mode, "SAME_UPPER") || !strcmp(mode, "SAME_LOWER")) {
            total = ODB_MAX(total, 0);
            v->pads[i] = !strcmp(mode, "SAME_UPPER") ? total / 2 : total - total / 2;
        }
        /* What the last window does not reach, or a window past the end, is for the end pad. */
        v->pads[nd + i] = total - v->pads[i];
    }
}

/* One of Conv and ConvTranspose with the geometry v. output: spatial dimensions that a
 * ConvTranspose gives; NULL. */
static int rule_conv_call(struct grad_tape *t, const char *name, int x, int w,
                          const struct rule_conv *v, const int64_t *output)
{
    int64_t pads[2 * ODB_MAX_RANK], extra[ODB_MAX_RANK] = {0};
    size_t nd = (size_t)v->nd, n = 4;
    for (size_t i = 0; i < 2 * nd; i++)
        pads[i] = v->pads[i];
    /* The end pad may be negative, where the window leaves elements untouched. */
    for (size_t i = 0; i < nd && output; i++) {
        extra[i] = ODB_MAX(-pads[nd + i], 0);
        pads[nd + i] = ODB_MAX(pads[nd + i], 0);
    }
    struct odb_attr attrs[] = {rule_int("group", v->group), rule_ints("strides", nd, v->strides),
                               rule_ints("dilations", nd, v->dilations),
                               rule_ints("pads", 2 * nd, pads),
                               rule_ints("output_padding", nd, extra)};
    for (size_t i = 0; i < nd && !output; i++)
        pads[nd + i] = ODB_MAX(pads[nd + i], 0);
    return grad_op(t, name, 2, (int[]){x, w}, n + (output != NULL), attrs);
}

/* The derivative of a convolution by its weights [M, C/group, kernel]: x is what the window slides
 * over, g where it stops; group by group, a convolution of x with g that steps as wide as the
 * window's holes and has holes as wide as its steps. */
static int rule_conv_weights(struct grad_tape *t, int x, int g, const struct rule_conv *v)
{
    int64_t perm[ODB_MAX_RANK] = {1, 0};
    int nd = v->nd, rank = nd + 2, parts[64], n = (int)v->group;
    struct rule_conv back = *v;
    if (t->status != ODB_OK || v->group < 1 || v->group > (int64_t)ODB_COUNT(parts)) {
        grad_fail(t, ODB_UNSUPPORTED, "the derivative of a convolution of %lld groups",
                  (long long)v->group);
        return GRAD_NONE;
    }
    int64_t channels = grad_tensor(t, x)->dims[1] / n, maps = grad_tensor(t, g)->dims[1] / n;
    for (int d = 2; d < rank; d++)
        perm[d] = d;
    back.group = 1;
    memcpy(back.strides, v->dilations, sizeof back.strides);
    memcpy(back.dilations, v->strides, sizeof back.dilations);
    for (int p = 0; p < n && t->status == ODB_OK; p++) {
        int xp = n == 1 ? x : rule_slice(t, x, 1, p * channels, (p + 1) * channels);
        int gp = n == 1 ? g : rule_slice(t, g, 1, p * maps, (p + 1) * maps);
        int w = rule_conv_call(t, "Conv", rule_transpose(t, xp, rank, perm),
                               rule_transpose(t, gp, rank, perm), &back, NULL);
        for (int d = 0; d < nd; d++)
            w = rule_slice(t, w, d + 2, 0, v->kernel[d]);
        parts[p] = rule_transpose(t, w, rank, perm);
    }
    const struct odb_attr axis = rule_int("axis", 0);
    return n == 1 || t->status != ODB_OK ? parts[0] : grad_op(t, "Concat", n, parts, 1, &axis);
}

static int rule_conv_bias(struct grad_tape *t, int g)
{
    int64_t axes[ODB_MAX_RANK] = {0};
    size_t n = 1;
    for (int d = 2; d < grad_tensor(t, g)->rank; d++)
        axes[n++] = d;
    return rule_reduce(t, "ReduceSum", g, n, axes, false);
}

static void rule_conv(struct grad_tape *t, const struct grad_call *c, const int *g,
                      const bool *want, int *gi)
{
    const struct odb_tensor *x = grad_tensor(t, c->in[0]), *w = grad_tensor(t, c->in[1]);
    struct rule_conv v;
    rule_conv_init(&v, c, x->rank - 2, w->dims + 2, x->dims + 2,
                   grad_tensor(t, c->out[0])->dims + 2);
    if (want[0])
        gi[0] = rule_conv_call(t, "ConvTranspose", g[0], c->in[1], &v, x->dims + 2);
    if (want[1] && t->status == ODB_OK)
        gi[1] = rule_conv_weights(t, c->in[0], g[0], &v);
    if (c->n_in > 2 && want[2] && t->status == ODB_OK)
        gi[2] = rule_conv_bias(t, g[0]);
}

static void rule_conv_transpose(struct grad_tape *t, const struct grad_call *c, const int *g,
                                const bool *want, int *gi)
{
    const struct odb_tensor *x = grad_tensor(t, c->in[0]), *w = grad_tensor(t, c->in[1]);
    struct rule_conv v;
    rule_conv_init(&v, c, x->rank - 2, w->dims + 2, grad_tensor(t, c->out[0])->dims + 2,
                   x->dims + 2);
    if (want[0])
        gi[0] = rule_conv_call(t, "Conv", g[0], c->in[1], &v, NULL);
    if (want[1] && t->status == ODB_OK)
        gi[1] = rule_conv_weights(t, g[0], c->in[0], &v);
    if (c->n_in > 2 && want[2] && t->status == ODB_OK)
        gi[2] = rule_conv_bias(t, g[0]);
}

/* MaxPool tells where its maxima stand. */
static void rule_maxpool(struct grad_tape *t, const struct grad_call *c, const int *g,
                         const bool *want, int *gi)
{
    static const bool wanted[2] = {true, true};
    const struct odb_op *op = odb_op_find("", "MaxPool", ODB_MAX(c->opset, 8));
    struct odb_attrs attrs = c->attrs;
    int out[2];
    (void)want;
    if (rule_get_int(c, "storage_order", 0)) {
        grad_fail(t, ODB_UNSUPPORTED, "the derivative of MaxPool with storage_order");
        return;
    }
    grad_record(t, op, ODB_MAX(c->opset, 8), attrs, 1, c->in, 2, wanted, out);
    if (t->status != ODB_OK)
        return;
    struct odb_tensor *one = NULL;
    t->status = odb_tensor_new(&one, ODB_I64, 0, NULL, t->err);
    if (t->status != ODB_OK)
        return;
    *(odb_i64 *)one->data = 1;
    int places = GRAD_OP(t, "Add", out[1], grad_constant(t, one));
    int sum = rule_scatter(t, g[0], places, grad_tensor(t, c->in[0])->count);
    if (t->status == ODB_OK)
        gi[0] = rule_reshape_like(t, sum, c->in[0]);
}

/* --- others ----------------------------------------------------------------------------------- */

static void rule_of_cast(struct grad_tape *t, const struct grad_call *c, const int *g,
                         const bool *want, int *gi)
{
    (void)want;
    gi[0] = rule_cast(t, g[0], grad_tensor(t, c->in[0])->dtype);
}

/* Dropout that does not train hands its input through. */
static void rule_dropout(struct grad_tape *t, const struct grad_call *c, const int *g,
                         const bool *want, int *gi)
{
    const struct odb_tensor *train = grad_tensor(t, rule_in(c, 2));
    (void)want;
    if (train && train->count && odb_tensor_i64(train, 0))
        grad_fail(t, ODB_UNSUPPORTED, "the derivative of a Dropout that draws");
    else
        gi[0] = g[0];
}

/* --- the table -------------------------------------------------------------------------------- */

struct grad_rule {
    const char *name;
    const char *f[GRAD_MAX_IN]; /* formulas by input; the result is summed over broadcasting */
    void (*fn)(struct grad_tape *t, const struct grad_call *c, const int *g, const bool *want,
               int *gi);
};

static const struct grad_rule grad_rules[] = {
    {"Add", {"g", "g"}, NULL},
    {"Sub", {"g", "g ~"}, NULL},
    {"Mul", {"g b *", "g a *"}, NULL},
    {"Div", {"g b /", "g a * b b * / ~"}, NULL},
    {"Pow", {"g b * a b 1 - b 0 = + Pow *", "g y * a a 0 = + Log *"}, NULL},
    {"PRelu", {"g a 0 < b 1 - * 1 + *", "g a 0 Min *"}, NULL},
    {"Where", {NULL, "a g 0 ?", "a 0 g ?"}, NULL},
    {"Neg", {"g ~"}, NULL},
    {"Abs", {"g a Sign *"}, NULL},
    {"Sqrt", {"g y 2 * /"}, NULL},
    {"Reciprocal", {"g y y * * ~"}, NULL},
    {"Exp", {"g y *"}, NULL},
    {"Log", {"g a /"}, NULL},
    {"Sin", {"g a Cos *"}, NULL},
    {"Cos", {"g a Sin * ~"}, NULL},
    {"Tan", {"g y y * 1 + *"}, NULL},
    {"Asin", {"g 1 a a * - Sqrt /"}, NULL},
    {"Acos", {"g 1 a a * - Sqrt / ~"}, NULL},
    {"Atan", {"g a a * 1 + /"}, NULL},
    {"Sinh", {"g a Cosh *"}, NULL},
    {"Cosh", {"g a Sinh *"}, NULL},
    {"Tanh", {"g 1 y y * - *"}, NULL},
    {"Asinh", {"g a a * 1 + Sqrt /"}, NULL},
    {"Acosh", {"g a a * 1 - Sqrt /"}, NULL},
    {"Atanh", {"g 1 a a * - /"}, NULL},
    {"Erf", {"g a a * ~ Exp * 1.1283791670955126 *"}, NULL},
    {"Sigmoid", {"g y 1 y - * *"}, NULL},
    {"Relu", {"g a 0 > *"}, NULL},
    {"LeakyRelu", {"g a 0 < @alpha 1 - * 1 + *"}, NULL},
    {"ThresholdedRelu", {"g a @alpha > *"}, NULL},
    {"Elu", {"g a 0 > 1 a 0 > - @alpha * a 0 Min Exp * + *"}, NULL},
    {"Selu", {"g a 0 > 1 a 0 > - @alpha * a 0 Min Exp * + @gamma * *"}, NULL},
    {"Celu", {"g a 0 Min @alpha / Exp *"}, NULL},
    {"HardSigmoid", {"g y 0 > y 1 < * @alpha * *"}, NULL},
    {"Softplus", {"g a Sigmoid *"}, NULL},
    {"Softsign", {"g a Abs 1 + / a Abs 1 + /"}, NULL},
    {"Clip", {"g a y = *"}, NULL},
    {"Floor", {"g 0 *"}, NULL},
    {"Ceil", {"g 0 *"}, NULL},
    {"Round", {"g 0 *"}, NULL},
    {"Sign", {"g 0 *"}, NULL},
    {"Identity", {"g"}, NULL},
    {"Sum", {NULL}, rule_sum},
    {"Mean", {NULL}, rule_sum},
    {"Max", {NULL}, rule_extreme},
    {"Min", {NULL}, rule_extreme},
    {"ReduceSum", {NULL}, rule_reduction},
    {"ReduceMean", {NULL}, rule_reduction},
    {"ReduceSumSquare", {NULL}, rule_reduction},
    {"ReduceL1", {NULL}, rule_reduction},
    {"ReduceL2", {NULL}, rule_reduction},
    {"ReduceLogSum", {NULL}, rule_reduction},
    {"ReduceLogSumExp", {NULL}, rule_reduction},
    {"ReduceMax", {NULL}, rule_reduction},
    {"ReduceMin", {NULL}, rule_reduction},
    {"Softmax", {NULL}, rule_softmax},
    {"LogSoftmax", {NULL}, rule_softmax},
    {"CumSum", {NULL}, rule_cumsum},
    {"MatMul", {NULL}, rule_matmul},
    {"Conv", {NULL}, rule_conv},
    {"ConvTranspose", {NULL}, rule_conv_transpose},
    {"MaxPool", {NULL}, rule_maxpool},
    {"Cast", {NULL}, rule_of_cast},
    {"CastLike", {NULL}, rule_of_cast},
    {"Dropout", {NULL}, rule_dropout},
    {"Reshape", {NULL}, rule_same_elements},
    {"Flatten", {NULL}, rule_same_elements},
    {"Squeeze", {NULL}, rule_same_elements},
    {"Unsqueeze", {NULL}, rule_same_elements},
    {"Expand", {NULL}, rule_expand},
    {"Transpose", {NULL}, rule_turn},
    {"Concat", {NULL}, rule_concat},
    {"ScatterElements", {NULL}, rule_scatter_elements},
    {"Slice", {NULL}, rule_move},
    {"Split", {NULL}, rule_move},
    {"Gather", {NULL}, rule_move},
    {"GatherElements", {NULL}, rule_move},
    {"GatherND", {NULL}, rule_move},
    {"Tile", {NULL}, rule_move},
    {"Pad", {NULL}, rule_move},
    {"Trilu", {NULL}, rule_move},
    {"Compress", {NULL}, rule_move},
    {"CenterCropPad", {NULL}, rule_move},
    {"DepthToSpace", {NULL}, rule_move},
    {"SpaceToDepth", {NULL}, rule_move},
    {"ReverseSequence", {NULL}, rule_move},
};

bool grad_differentiate(struct grad_tape *t, const struct grad_call *c, const int *g,
                        const bool *want, int *gi)
{
    const struct grad_rule *rule = NULL;
    for (size_t r = 0; r < ODB_COUNT(grad_rules) && !c->op->domain[0]; r++)
        if (!strcmp(grad_rules[r].name, c->op->name))
            rule = &grad_rules[r];
    if (!rule)
        return false;
    if (rule->fn)
        rule->fn(t, c, g, want, gi);
    for (int i = 0; i < GRAD_MAX_IN && i < c->n_in && !rule->fn; i++)
        if (want[i] && rule->f[i] && t->status == ODB_OK) {
            gi[i] = rule_formula(t, c, g[0], rule->f[i]);
            gi[i] = t->status == ODB_OK ? grad_unbroadcast(t, gi[i], c->in[i]) : GRAD_NONE;
        }
    return true;
}

/* --- compositions ----------------------------------------------------------------------------- */

static int form_gemm(struct grad_tape *t, const struct grad_call *c)
{
    int a = c->in[0], b = c->in[1], bias = rule_in(c, 2);
    if (rule_get_int(c, "transA", 0))
        a = rule_swap_last(t, a);
    if (rule_get_int(c, "transB", 0))
        b = rule_swap_last(t, b);
    int y = GRAD_OP(t, "MatMul", a, b);
    y = GRAD_OP(t, "Mul", y, grad_number(t, c->in[0], rule_get_float(c, "alpha")));
    if (bias == GRAD_NONE || t->status != ODB_OK)
        return y;
    return GRAD_OP(t, "Add", y,
                   GRAD_OP(t, "Mul", bias, grad_number(t, bias, rule_get_float(c, "beta"))));
}

static int form_gelu(struct grad_tape *t, const struct grad_call *c)
{
    bool tanh = !strcmp(rule_get_text(c, "approximate", "none"), "tanh");
    return rule_formula(t, c, GRAD_NONE,
                        tanh ? "a a a a * * 0.044715 * + 0.7978845608028654 * Tanh 1 + a * 0.5 *"
                             : "a 0.7071067811865476 * Erf 1 + a * 0.5 *");
}

/* (x - mean) / sqrt(variance + epsilon) over some axes; without the mean: root mean square. */
static int form_normalize(struct grad_tape *t, const struct grad_call *c, int x, size_t n,
                          const int64_t *axes, bool centre)
{
    if (centre)
        x = GRAD_OP(t, "Sub", x, rule_reduce(t, "ReduceMean", x, n, axes, true));
    int var = rule_reduce(t, "ReduceMean", GRAD_OP(t, "Mul", x, x), n, axes, true);
    int eps = grad_number(t, x == GRAD_NONE ? c->in[0] : x, rule_get_float(c, "epsilon"));
    return GRAD_OP(t, "Div", x, GRAD_OP(t, "Sqrt", GRAD_OP(t, "Add", var, eps)));
}

/* LayerNormalization and RMSNormalization. */
static int form_layer_norm(struct grad_tape *t, const struct grad_call *c)
{
    int rank = grad_tensor(t, c->in[0])->rank, bias = rule_in(c, 2);
    int64_t axis = rule_get_int(c, "axis", -1), axes[ODB_MAX_RANK];
    size_t n = 0;
    for (int64_t d = axis < 0 ? axis + rank : axis; d < rank; d++)
        axes[n++] = d;
    bool centre = !strcmp(c->op->name, "LayerNormalization");
    int y = form_normalize(t, c, c->in[0], n, axes, centre);
    y = GRAD_OP(t, "Mul", y, c->in[1]);
    return bias == GRAD_NONE ? y : GRAD_OP(t, "Add", y, bias);
}

/* A parameter per channel, seen so that it broadcasts over [N, C, …]. */
static int form_channels(struct grad_tape *t, int v, int rank)
{
    int64_t dims[ODB_MAX_RANK];
    for (int d = 0; d < rank; d++)
        dims[d] = d == 1 ? (int64_t)grad_tensor(t, v)->count : 1;
    return rule_reshape(t, v, rank, dims);
}

static int form_instance_norm(struct grad_tape *t, const struct grad_call *c)
{
    int rank = grad_tensor(t, c->in[0])->rank;
    int64_t axes[ODB_MAX_RANK];
    size_t n = 0;
    for (int d = 2; d < rank; d++)
        axes[n++] = d;
    int y = form_normalize(t, c, c->in[0], n, axes, true);
    y = GRAD_OP(t, "Mul", y, form_channels(t, c->in[1], rank));
    return GRAD_OP(t, "Add", y, form_channels(t, c->in[2], rank));
}

static int form_batch_norm(struct grad_tape *t, const struct grad_call *c)
{
    int rank = grad_tensor(t, c->in[0])->rank, v[5] = {c->in[0]};
    if (rank < 2 || c->op->since < 7 || rule_get_int(c, "training_mode", 0)) {
        grad_fail(t, ODB_UNSUPPORTED, "no derivative is known for BatchNormalization that trains");
        return GRAD_NONE;
    }
    for (int i = 1; i < 5; i++)
        v[i] = form_channels(t, c->in[i], rank);
    if (t->status != ODB_OK)
        return GRAD_NONE;
    int eps = grad_number(t, v[4], rule_get_float(c, "epsilon"));
    int root = GRAD_OP(t, "Sqrt", GRAD_OP(t, "Add", v[4], eps));
    int y = GRAD_OP(t, "Div", GRAD_OP(t, "Sub", v[0], v[3]), root);
    return GRAD_OP(t, "Add", GRAD_OP(t, "Mul", y, v[1]), v[2]);
}

static int form_global_pool(struct grad_tape *t, const struct grad_call *c)
{
    int64_t axes[ODB_MAX_RANK];
    size_t n = 0;
    for (int d = 2; d < grad_tensor(t, c->in[0])->rank; d++)
        axes[n++] = d;
    bool max = !strcmp(c->op->name, "GlobalMaxPool");
    return rule_reduce(t, max ? "ReduceMax" : "ReduceMean", c->in[0], n, axes, true);
}

/* The loss of each place: minus the weighed logarithm of the right class, summed up as reduction
 * says. Class scores stand along axis 1. */
static int form_likelihood(struct grad_tape *t, const struct grad_call *c, int logs)
{
    const struct odb_attr one = rule_int("axis", 1), zero = rule_int("axis", 0);
    const struct odb_attr *ignore = odb_attrs_find(&c->attrs, "ignore_index");
    const char *reduction = rule_get_text(c, "reduction", "mean");
    const int64_t axis = 1, none = 0, skip = ignore ? ignore->i : 0;
    enum odb_dtype dtype = grad_tensor(t, c->in[0])->dtype;
    int labels = rule_cast(t, c->in[1], ODB_I64), weight = rule_in(c, 2), keep = GRAD_NONE;
    if (ignore) {
        int skipped = GRAD_OP(t, "Equal", labels, grad_ints(t, 1, &skip));
        keep = rule_cast(t, GRAD_OP(t, "Not", skipped), dtype);
        labels = GRAD_OP(t, "Where", skipped, grad_ints(t, 1, &none), labels);
    }
    int at = GRAD_OP(t, "Unsqueeze", labels, grad_ints(t, 1, &axis));
    int loss = grad_op(t, "GatherElements", 2, (int[]){logs, at}, 1, &one);
    loss = GRAD_OP(t, "Neg", GRAD_OP(t, "Squeeze", loss, grad_ints(t, 1, &axis)));
    int weights =
        weight == GRAD_NONE ? keep : grad_op(t, "Gather", 2, (int[]){weight, labels}, 1, &zero);
    if (weight != GRAD_NONE && keep != GRAD_NONE)
        weights = GRAD_OP(t, "Mul", weights, keep);
    if (weights != GRAD_NONE)
        loss = GRAD_OP(t, "Mul", loss, weights);
    if (t->status != ODB_OK || !strcmp(reduction, "none"))
        return loss;
    int64_t axes[ODB_MAX_RANK];
    size_t rank = (size_t)grad_tensor(t, loss)->rank;
    for (size_t d = 0; d < rank; d++)
        axes[d] = (int64_t)d;
    int sum = rule_reduce(t, "ReduceSum", loss, rank, axes, false);
    if (!strcmp(reduction, "sum"))
        return sum;
    double count = (double)grad_tensor(t, loss)->count;
    int total = weights != GRAD_NONE ? rule_reduce(t, "ReduceSum", weights, rank, axes, false)
                                     : grad_number(t, loss, count);
    return GRAD_OP(t, "Div", sum, total);
}

static int form_nll(struct grad_tape *t, const struct grad_call *c)
{
    return form_likelihood(t, c, c->in[0]);
}

static int form_cross_entropy(struct grad_tape *t, const struct grad_call *c)
{
    const struct odb_attr one = rule_int("axis", 1);
    return form_likelihood(t, c, grad_op(t, "LogSoftmax", 1, c->in, 1, &one));
}

static const struct grad_form {
    const char *name;
    const char *f; /* a formula; NULL: */
    int (*fn)(struct grad_tape *t, const struct grad_call *c);
} grad_forms[] = {
    {"Gemm", NULL, form_gemm},
    {"Gelu", NULL, form_gelu},
    {"HardSwish", "a 6 / 0.5 + 0 Max 1 Min a *", NULL},
    {"Mish", "a Softplus Tanh a *", NULL},
    {"Swish", "a @alpha * Sigmoid a *", NULL},
    {"LayerNormalization", NULL, form_layer_norm},
    {"RMSNormalization", NULL, form_layer_norm},
    {"InstanceNormalization", NULL, form_instance_norm},
    {"BatchNormalization", NULL, form_batch_norm},
    {"GlobalAveragePool", NULL, form_global_pool},
    {"GlobalMaxPool", NULL, form_global_pool},
    {"NegativeLogLikelihoodLoss", NULL, form_nll},
    {"SoftmaxCrossEntropyLoss", NULL, form_cross_entropy},
};

bool grad_expand(struct grad_tape *t, const struct grad_call *c)
{
    for (size_t i = 0; i < ODB_COUNT(grad_forms) && !c->op->domain[0]; i++) {
        if (strcmp(grad_forms[i].name, c->op->name))
            continue;
        for (int k = 0; k < c->op->min_in && t->status == ODB_OK; k++)
            if (rule_in(c, k) == GRAD_NONE)
                grad_fail(t, ODB_E_OPERATOR, "input %d of %s is missing", k, c->op->name);
        if (t->status == ODB_OK)
            c->out[0] = grad_forms[i].f ? rule_formula(t, c, GRAD_NONE, grad_forms[i].f)
                                        : grad_forms[i].fn(t, c);
        return true;
    }
    return false;
}
