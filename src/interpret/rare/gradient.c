/* SPDX-License-Identifier: MIT
 *
 * ai.onnx.preview.training.Gradient: reverse-mode differentiation of a part of the graph that the
 * node stands in. The part, from the values named xs and zs to the one named y, is computed once
 * more on the node's own inputs and written on a tape (gradient_int.h), then the tape is walked
 * back from y. Functions and the taken branches of If are written as the calls inside them. All
 * arithmetic is done by the operators' kernels, in the precision of the run.
 *
 * Where y has several elements, the derivative is that of their sum.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "interpret/rare/gradient_int.h"

/* --- the tape --------------------------------------------------------------------------------- */

void *grad_alloc(struct grad_tape *t, size_t n, size_t size)
{
    void *p = odb_xcalloc(n + 1, size);
    odb_push(&t->owned, p);
    return p;
}

void grad_fail(struct grad_tape *t, enum odb_status status, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(text, sizeof text, fmt, args);
    va_end(args);
    if (t->status == ODB_OK)
        t->status = odb_fail(t->err, status, "%s", text);
}

const struct odb_tensor *grad_tensor(const struct grad_tape *t, int var)
{
    return var == GRAD_NONE ? NULL : t->vars.items[var];
}

int grad_constant(struct grad_tape *t, struct odb_tensor *tensor)
{
    odb_push(&t->vars, tensor);
    return (int)t->vars.n - 1;
}

int grad_number(struct grad_tape *t, int like, double v)
{
    struct odb_tensor *tensor = NULL;
    if (t->status != ODB_OK)
        return GRAD_NONE;
    t->status = odb_tensor_new(&tensor, grad_tensor(t, like)->dtype, 0, NULL, t->err);
    if (t->status != ODB_OK)
        return GRAD_NONE;
    odb_store_f64(tensor->dtype, tensor->data, 0, v);
    return grad_constant(t, tensor);
}

int grad_ints(struct grad_tape *t, size_t n, const int64_t *v)
{
    struct odb_tensor *tensor = NULL;
    int64_t dim = (int64_t)n;
    if (t->status != ODB_OK)
        return GRAD_NONE;
    t->status = odb_tensor_new(&tensor, ODB_I64, 1, &dim, t->err);
    if (t->status != ODB_OK)
        return GRAD_NONE;
    if (n)
        memcpy(tensor->data, v, n * sizeof *v);
    return grad_constant(t, tensor);
}

void grad_record(struct grad_tape *t, const struct odb_op *op, int opset, struct odb_attrs attrs,
                 int n_in, const int *in, int n_out, const bool *wanted, int *out)
{
    for (int o = 0; o < n_out; o++)
        out[o] = GRAD_NONE;
    if (t->status != ODB_OK)
        return;
    const struct odb_tensor **tensors = odb_new_n(const struct odb_tensor *, n_in);
    struct odb_tensor **results = odb_new_n(struct odb_tensor *, n_out);
    for (int i = 0; i < n_in; i++)
        tensors[i] = grad_tensor(t, in[i]);
    const struct odb_call call = {.op = op,
                                  .opset = opset,
                                  .attrs = attrs,
                                  .n_in = n_in,
                                  .n_out = n_out,
                                  .in = tensors,
                                  .wanted = wanted,
                                  .precision = t->scope->precision,
                                  .inner = true, /* plans have looked at attributes */
                                  .seed = cpu_scope_seed(t->scope, 0, t->calls.n)};
    bool cancelled = t->scope->cancelled && t->scope->cancelled(t->scope->payload);
    t->status = cancelled ? odb_fail(t->err, ODB_CANCELLED, "cancelled")
                          : odb_op_run(&call, results, t->err);
    if (t->status == ODB_OK) {
        struct grad_call done = {op, opset, attrs, n_in, n_out, NULL, NULL};
        done.in = grad_new_n(t, int, n_in);
        done.out = grad_new_n(t, int, n_out);
        for (int o = 0; o < n_out; o++)
            done.out[o] = out[o] = results[o] ? grad_constant(t, results[o]) : GRAD_NONE;
        if (n_in)
            memcpy(done.in, in, (size_t)n_in * sizeof *in);
        odb_push(&t->calls, done);
    }
    free(tensors);
    free(results);
}

int grad_op(struct grad_tape *t, const char *name, int n_in, const int *in, size_t n_attrs,
            const struct odb_attr *attrs)
{
    static const bool wanted = true;
    int out = GRAD_NONE;
    if (t->status != ODB_OK)
        return GRAD_NONE;
    const struct odb_op *op = odb_op_find("", name, GRAD_OPSET);
    if (!op) {
        grad_fail(t, ODB_UNSUPPORTED, "no reference kernel for %s, which a derivative needs", name);
        return GRAD_NONE;
    }
    struct odb_attr *kept = grad_new_n(t, struct odb_attr, n_attrs);
    for (size_t a = 0; a < n_attrs; a++) {
        kept[a] = attrs[a];
        if (!attrs[a].ints)
            continue;
        int64_t *ints = grad_new_n(t, int64_t, attrs[a].n);
        memcpy(ints, attrs[a].ints, attrs[a].n * sizeof *ints);
        kept[a].ints = ints;
    }
    grad_record(t, op, GRAD_OPSET, (struct odb_attrs){kept, n_attrs}, n_in, in, 1, &wanted, &out);
    return out;
}

static void grad_tape_dispose(struct grad_tape *t)
{
    for (size_t v = 0; v < t->vars.n; v++)
        odb_tensor_unref(t->vars.items[v]);
    for (size_t i = 0; i < t->owned.n; i++)
        free(t->owned.items[i]);
    free(t->vars.items);
    free(t->calls.items);
    free(t->owned.items);
}

/* --- walking back ----------------------------------------------------------------------------- */

static bool grad_is_real(const struct grad_tape *t, int var)
{
    const struct odb_tensor *tensor = grad_tensor(t, var);
    return tensor && tensor->kind == ODB_TENSOR && odb_dtype_is_float(tensor->dtype);
}

/* Variables that depend on xs through real numbers. */
static bool *grad_active(struct grad_tape *t, size_t n_xs, const int *xs)
{
    bool *active = grad_new_n(t, bool, t->vars.n);
    for (size_t i = 0; i < n_xs; i++)
        active[xs[i]] = true;
    for (size_t c = 0; c < t->calls.n; c++) {
        const struct grad_call *call = &t->calls.items[c];
        bool any = false;
        for (int i = 0; i < call->n_in; i++)
            any = any || (call->in[i] != GRAD_NONE && active[call->in[i]]);
        for (int o = 0; o < call->n_out; o++)
            if (grad_is_real(t, call->out[o]))
                active[call->out[o]] = active[call->out[o]] || any;
    }
    return active;
}

/* Adds to the derivatives of a call's inputs what its outputs' give. */
static void grad_back_call(struct grad_tape *t, const struct grad_call *call, const bool *active,
                           int *adjoint)
{
    int *g = grad_new_n(t, int, call->n_out), *gi = grad_new_n(t, int, call->n_in);
    bool *want = grad_new_n(t, bool, call->n_in), reached = false, any = false;
    for (int o = 0; o < call->n_out; o++) {
        g[o] = call->out[o] == GRAD_NONE ? GRAD_NONE : adjoint[call->out[o]];
        reached = reached || g[o] != GRAD_NONE;
    }
    for (int i = 0; i < call->n_in; i++) {
        want[i] = call->in[i] != GRAD_NONE && active[call->in[i]];
        any = any || want[i];
        gi[i] = GRAD_NONE;
    }
    if (!reached || !any)
        return;
    if (!grad_differentiate(t, call, g, want, gi)) {
        grad_fail(t, ODB_UNSUPPORTED, "no derivative is known for %s%s%s", call->op->domain,
                  call->op->domain[0] ? "::" : "", call->op->name);
        return;
    }
    for (int i = 0; i < call->n_in && t->status == ODB_OK; i++) {
        if (!want[i])
            continue;
        if (gi[i] == GRAD_NONE) {
            grad_fail(t, ODB_UNSUPPORTED, "no derivative is known for %s by its input %d",
                      call->op->name, i);
            return;
        }
        int *sum = &adjoint[call->in[i]];
        *sum = *sum == GRAD_NONE ? gi[i] : GRAD_OP(t, "Add", *sum, gi[i]);
    }
}

static int grad_filled(struct grad_tape *t, int like, double v)
{
    const struct odb_tensor *x = grad_tensor(t, like);
    struct odb_tensor *tensor = NULL;
    if (t->status != ODB_OK)
        return GRAD_NONE;
    t->status = odb_tensor_new(&tensor, x->dtype, x->rank, x->dims, t->err);
    if (t->status != ODB_OK)
        return GRAD_NONE;
    for (size_t i = 0; i < tensor->count; i++)
        odb_store_f64(tensor->dtype, tensor->data, i, v);
    return grad_constant(t, tensor);
}

/* Derivatives of the sum of y by each of xs. */
static void grad_back(struct grad_tape *t, int y, size_t n_xs, const int *xs, int *out)
{
    for (size_t i = 0; i <= n_xs && t->status == ODB_OK; i++)
        if (!grad_is_real(t, i < n_xs ? xs[i] : y))
            grad_fail(t, ODB_E_OPERATOR, "only what is a tensor of real numbers has a derivative");
    if (t->status != ODB_OK)
        return;
    size_t n_calls = t->calls.n, n_vars = t->vars.n;
    bool *active = grad_active(t, n_xs, xs);
    int *adjoint = grad_new_n(t, int, n_vars);
    for (size_t v = 0; v < n_vars; v++)
        adjoint[v] = GRAD_NONE;
    adjoint[y] = grad_filled(t, y, 1);
    for (size_t c = n_calls; c-- > 0 && t->status == ODB_OK;) {
        struct grad_call call = t->calls.items[c]; /* the list grows meanwhile */
        grad_back_call(t, &call, active, adjoint);
    }
    for (size_t i = 0; i < n_xs; i++) /* a value may stand in xs twice */
        out[i] = adjoint[xs[i]] == GRAD_NONE ? grad_filled(t, xs[i], 0) : adjoint[xs[i]];
}

/* --- replay ----------------------------------------------------------------------------------- */

/* A graph whose nodes are written on the tape. */
struct grad_frame {
    const struct cpu_plan *plan;
    struct grad_frame *parent;     /* of a branch; NULL */
    const struct cpu_scope *scope; /* what was computed around the Gradient; NULL: a function */
    int *vars;                     /* [n_values] */
};

static void grad_frame_init(struct grad_tape *t, struct grad_frame *frame,
                            const struct cpu_plan *plan, struct grad_frame *parent,
                            const struct cpu_scope *scope)
{
    *frame = (struct grad_frame){plan, parent, scope, grad_new_n(t, int, plan->graph->n_values)};
    for (size_t v = 0; v < plan->graph->n_values; v++)
        frame->vars[v] = GRAD_NONE;
}

static int grad_frame_read(struct grad_tape *t, struct grad_frame *frame, int value)
{
    const struct odb_value *v = &frame->plan->graph->values[value], *outer;
    int *var = &frame->vars[value];
    if (*var != GRAD_NONE)
        return *var;
    if (v->is_outer && frame->parent) {
        outer = odb_graph_value(frame->parent->plan->graph, v->name);
        return outer ? grad_frame_read(t, frame->parent, outer->index) : GRAD_NONE;
    }
    const struct odb_tensor *known = v->init;
    if (frame->scope && frame->scope->plan == frame->plan)
        known = cpu_scope_read(frame->scope, value);
    if (known)
        *var = grad_constant(t, odb_tensor_ref(known));
    return *var;
}

static void grad_node(struct grad_tape *t, struct grad_frame *frame, int index);

/* marks: which nodes; NULL: all. */
static void grad_frame_run(struct grad_tape *t, struct grad_frame *frame, const bool *marks)
{
    const struct odb_graph *graph = frame->plan->graph;
    for (size_t n = 0; n < graph->n_nodes && t->status == ODB_OK; n++) {
        char label[200];
        if (marks && !marks[n])
            continue;
        grad_node(t, frame, (int)n);
        if (t->status != ODB_OK)
            odb_error_at(t->err, "node %s", odb_node_label(&graph->nodes[n], label, sizeof label));
    }
}

/* A body in whose scope inputs may stand: its outputs become the node's. */
static void grad_body(struct grad_tape *t, struct grad_frame *inner, int n_out, int *out)
{
    const struct odb_graph *graph = inner->plan->graph;
    if ((size_t)n_out > graph->n_outputs) {
        grad_fail(t, ODB_E_OPERATOR, "the body gives %zu values, not %d", graph->n_outputs, n_out);
        return;
    }
    grad_frame_run(t, inner, NULL);
    for (int o = 0; o < n_out && t->status == ODB_OK; o++)
        out[o] = grad_frame_read(t, inner, graph->outputs[o]);
}

static void grad_if(struct grad_tape *t, struct grad_frame *frame, int index, const int *in,
                    int *out)
{
    const struct cpu_scope scope = {.plan = frame->plan};
    const struct odb_tensor *cond = grad_tensor(t, in[0]);
    struct grad_frame inner;
    if (!cond || cond->dtype != ODB_BOOL || cond->count != 1) {
        grad_fail(t, ODB_E_OPERATOR, "the condition of If must be one bool");
        return;
    }
    const char *name = odb_tensor_i64(cond, 0) ? "then_branch" : "else_branch";
    const struct cpu_plan *body = cpu_body_find(&scope, index, name);
    if (!body) {
        grad_fail(t, ODB_E_OPERATOR, "If has no %s", name);
        return;
    }
    grad_frame_init(t, &inner, body, frame, NULL);
    grad_body(t, &inner, frame->plan->graph->nodes[index].n_out, out);
}

static void grad_function(struct grad_tape *t, struct grad_frame *frame, int index, const int *in,
                          int *out)
{
    const struct odb_node *node = &frame->plan->graph->nodes[index];
    const struct cpu_plan *body = frame->plan->nodes[index].body;
    struct grad_frame inner;
    grad_frame_init(t, &inner, body, NULL, NULL);
    for (int i = 0; i < node->n_in && (size_t)i < body->graph->n_inputs; i++)
        inner.vars[body->graph->inputs[i]] = in[i];
    grad_body(t, &inner, node->n_out, out);
}

/* Index of a value that an attribute names; ODB_NO_VALUE fails the tape. */
static int grad_named(struct grad_tape *t, const struct odb_graph *graph, struct odb_str name)
{
    const struct odb_value *value = odb_graph_value(graph, name.data);
    if (!value)
        grad_fail(t, ODB_E_OPERATOR, "the graph has no value '%s'", name.data);
    return value ? value->index : ODB_NO_VALUE;
}

static void grad_gradient(struct grad_tape *t, struct grad_frame *frame, int index, const int *in,
                          int *out)
{
    const struct odb_graph *graph = frame->plan->graph;
    const struct odb_node *node = &graph->nodes[index];
    const struct odb_attrs *attrs = &frame->plan->nodes[index].attrs;
    const struct odb_attr *lists[2] = {odb_attrs_find(attrs, "xs"), odb_attrs_find(attrs, "zs")};
    const struct odb_attr *target = odb_attrs_find(attrs, "y");
    size_t n_xs = lists[0] ? lists[0]->n : 0, n = n_xs + (lists[1] ? lists[1]->n : 0);
    if (!n_xs || !target || n != (size_t)node->n_in || (size_t)node->n_out > n_xs) {
        grad_fail(t, ODB_E_OPERATOR,
                  "Gradient needs xs and y, an input for each of xs and zs, and at most an output "
                  "for each of xs");
        return;
    }
    struct grad_frame inner;
    bool *stop = grad_new_n(t, bool, graph->n_values), *marks = grad_new_n(t, bool, graph->n_nodes);
    int *xs = grad_new_n(t, int, n_xs), *dx = grad_new_n(t, int, n_xs);
    grad_frame_init(t, &inner, frame->plan, frame->parent, frame->scope);
    for (size_t i = 0; i < n && t->status == ODB_OK; i++) {
        const struct odb_attr *list = lists[i >= n_xs];
        int value = grad_named(t, graph, list->strings[i - (i < n_xs ? 0 : n_xs)]);
        if (value == ODB_NO_VALUE || in[i] == GRAD_NONE) {
            grad_fail(t, ODB_E_OPERATOR, "input %zu of Gradient is missing", i);
            return;
        }
        /* As a variable of its own: the caller's may depend on another of xs. */
        inner.vars[value] = GRAD_OP(t, "Identity", in[i]);
        stop[value] = true;
        if (i < n_xs)
            xs[i] = inner.vars[value];
    }
    int y = t->status == ODB_OK ? grad_named(t, graph, target->s) : ODB_NO_VALUE;
    if (y == ODB_NO_VALUE)
        return;
    odb_graph_ancestors(graph, &y, 1, stop, marks);
    if (marks[index] || (graph->values[y].producer == ODB_NO_NODE && !stop[y])) {
        grad_fail(t, ODB_E_OPERATOR, "'%s' is not computed from xs and zs in this graph",
                  graph->values[y].name);
        return;
    }
    grad_frame_run(t, &inner, marks);
    if (t->status != ODB_OK)
        return;
    grad_back(t, grad_frame_read(t, &inner, y), n_xs, xs, dx);
    for (int o = 0; o < node->n_out && t->status == ODB_OK; o++)
        out[o] = dx[o];
}

/* A node that is a call of an operator. */
static void grad_operator(struct grad_tape *t, const struct cpu_node *slot,
                          const struct odb_node *node, const int *in, int *out)
{
    int n_in = node->n_in, n_out = node->n_out;
    bool *wanted = grad_new_n(t, bool, n_out);
    for (int o = 0; o < n_out; o++)
        wanted[o] = node->out[o] >= 0;
    while (n_out > slot->op->min_out && !wanted[n_out - 1])
        n_out--;
    while (n_in > slot->op->min_in && in[n_in - 1] == GRAD_NONE)
        n_in--;
    const struct grad_call call = {slot->op, node->opset, slot->attrs, n_in, n_out, (int *)in, out};
    if (n_out > 1 || !grad_expand(t, &call))
        grad_record(t, slot->op, node->opset, slot->attrs, n_in, in, n_out, wanted, out);
}

static void grad_node(struct grad_tape *t, struct grad_frame *frame, int index)
{
    const struct odb_node *node = &frame->plan->graph->nodes[index];
    const struct cpu_node *slot = &frame->plan->nodes[index];
    int *in = grad_new_n(t, int, node->n_in), *out = grad_new_n(t, int, node->n_out);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] < 0 ? GRAD_NONE : grad_frame_read(t, frame, node->in[i]);
    for (int o = 0; o < node->n_out; o++)
        out[o] = GRAD_NONE;
    if (slot->why)
        grad_fail(t, ODB_UNSUPPORTED, "%s", slot->why);
    else if (slot->op)
        grad_operator(t, slot, node, in, out);
    else if (slot->body)
        grad_function(t, frame, index, in, out);
    else if (slot->control && slot->control->run == cpu_control_if && node->n_in == 1)
        grad_if(t, frame, index, in, out);
    else if (slot->control && slot->control->run == cpu_control_gradient)
        grad_gradient(t, frame, index, in, out);
    else
        grad_fail(t, ODB_UNSUPPORTED, "no derivative is known for %s", node->op_type);
    for (int o = 0; o < node->n_out; o++)
        if (node->out[o] >= 0)
            frame->vars[node->out[o]] = out[o];
}

enum odb_status cpu_control_gradient(const struct cpu_scope *scope, int index,
                                     const struct odb_tensor *const *in, struct odb_tensor **out,
                                     struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    struct grad_tape t = {.scope = scope, .err = err};
    struct grad_frame frame;
    int *vars = grad_new_n(&t, int, node->n_in), *results = grad_new_n(&t, int, node->n_out);
    grad_frame_init(&t, &frame, scope->plan, NULL, scope);
    for (int i = 0; i < node->n_in; i++)
        vars[i] = in[i] ? grad_constant(&t, odb_tensor_ref(in[i])) : GRAD_NONE;
    grad_gradient(&t, &frame, index, vars, results);
    for (int o = 0; o < node->n_out && t.status == ODB_OK; o++)
        if (node->out[o] >= 0)
            out[o] = odb_tensor_ref(grad_tensor(&t, results[o]));
    grad_tape_dispose(&t);
    return t.status;
}
