/* SPDX-License-Identifier: MIT
 *
 * If and Loop for the CPU reference, and what all operators with bodies share: a body runs in a
 * scope of its own that sees the values around it, and what its turns give is put together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"

/* --- bodies ----------------------------------------------------------------------------------- */

const struct cpu_plan *cpu_body_find(const struct cpu_scope *scope, int index, const char *name)
{
    const struct cpu_node *slot = &scope->plan->nodes[index];
    const struct odb_attr *attr = odb_attrs_find(&slot->attrs, name);
    for (size_t b = 0; attr && b < slot->n_bodies; b++)
        if (attr->type == ODB_ATTR_GRAPH && slot->bodies[b]->graph == attr->graphs[0])
            return slot->bodies[b];
    return NULL;
}

/* The attribute that a body stands in. */
static const char *control_body_attr(const struct cpu_scope *scope, int index,
                                     const struct cpu_plan *body)
{
    const struct odb_attrs *attrs = &scope->plan->nodes[index].attrs;
    for (size_t a = 0; a < attrs->n; a++)
        if (attrs->items[a].type == ODB_ATTR_GRAPH && attrs->items[a].graphs[0] == body->graph)
            return attrs->items[a].name;
    return "";
}

enum odb_status cpu_body_run(const struct cpu_scope *scope, int index, const struct cpu_plan *body,
                             uint64_t turn, struct odb_tensor *const *feeds,
                             struct odb_tensor **outs, struct odb_error *err)
{
    const struct odb_graph *graph = body->graph;
    struct cpu_scope inner;
    if (scope->cancelled && scope->cancelled(scope->payload)) /* the body may be empty */
        return odb_fail(err, ODB_CANCELLED, "cancelled");
    cpu_scope_init(&inner, body, scope, scope);
    inner.seed = cpu_scope_seed(scope, index, turn);
    const struct odb_cpu_place place = {scope->place, index, control_body_attr(scope, index, body),
                                        turn};
    const struct odb_cpu_watch *watch = scope->watch;
    inner.place = &place;
    for (size_t i = 0, fed = 0; i < graph->n_inputs; i++)
        if (!graph->values[graph->inputs[i]].init)
            inner.values[graph->inputs[i]] = odb_tensor_ref(feeds[fed++]);
    enum odb_status status = ODB_OK;
    if (watch && watch->begin)
        status = watch->begin(watch->payload, &place, feeds, odb_graph_feeds(graph, NULL), err);
    if (status == ODB_OK)
        status = cpu_scope_run(&inner, err);
    for (size_t o = 0; o < graph->n_outputs; o++) {
        outs[o] =
            status == ODB_OK ? odb_tensor_ref(cpu_scope_read(&inner, graph->outputs[o])) : NULL;
        if (status == ODB_OK && !outs[o])
            status = odb_fail(err, ODB_E_OPERATOR, "the body does not give its output %zu", o);
    }
    if (watch && watch->end && status == ODB_OK)
        status = watch->end(watch->payload, &place, outs, graph->n_outputs, err);
    for (size_t o = 0; o < graph->n_outputs && status != ODB_OK; o++) {
        odb_tensor_unref(outs[o]);
        outs[o] = NULL;
    }
    cpu_scope_dispose(&inner);
    return status;
}

/* The one element of a condition or trip count; what says whose it is. */
static enum odb_status control_scalar_of(const struct odb_tensor *t, enum odb_dtype dtype,
                                         const char *what, int64_t *v, struct odb_error *err)
{
    char shape[200];
    if (!t || t->kind != ODB_TENSOR || t->dtype != dtype)
        return odb_fail(err, ODB_E_OPERATOR, "the %s must be of type %s, not %s", what,
                        odb_dtype_info(dtype)->name,
                        !t                      ? "missing"
                        : t->kind != ODB_TENSOR ? "a container"
                                                : odb_dtype_info(t->dtype)->name);
    if (t->count != 1 || !t->data)
        return odb_fail(err, ODB_E_OPERATOR, "the %s must be one element, not %s", what,
                        odb_shape_text(t, shape, sizeof shape));
    *v = odb_tensor_i64(t, 0);
    return ODB_OK;
}

/* --- what the turns give ---------------------------------------------------------------------- */

void cpu_stack_dispose(struct cpu_stack *stack)
{
    for (size_t i = 0; i < stack->n; i++)
        odb_tensor_unref(stack->items[i]);
    free(stack->items);
}

static enum odb_status control_stack_add(struct cpu_stack *stack, struct odb_tensor *t,
                                         struct odb_error *err)
{
    if (stack->n == stack->cap) {
        size_t cap = ODB_MAX(2 * stack->cap, (size_t)8);
        struct odb_tensor **items = reallocarray(stack->items, cap, sizeof(struct odb_tensor *));
        if (!items) {
            odb_tensor_unref(t);
            return odb_fail(err, ODB_E_NOMEM, "no memory for what %zu turns give", cap);
        }
        stack->items = items;
        stack->cap = cap;
    }
    stack->items[stack->n++] = t;
    return ODB_OK;
}

enum odb_status cpu_stack_push(const struct cpu_scope *scope, struct cpu_stack *stack,
                               struct odb_tensor *t, struct odb_error *err)
{
    struct odb_tensor *kept = t;
    enum odb_status status = ODB_OK;
    if (t->kind != ODB_TENSOR)
        status = odb_fail(err, ODB_E_OPERATOR, "a scan output must be a tensor");
    else if (scope->precision == ODB_PREC_F64)
        status = odb_tensor_cast_floats(&kept, t, ODB_F64,
                                        err); /* an input handed through may still be float */
    if (scope->precision == ODB_PREC_F64 || status != ODB_OK)
        odb_tensor_unref(t);
    return status == ODB_OK ? control_stack_add(stack, kept, err) : status;
}

enum odb_dtype cpu_declared_dtype(const struct cpu_scope *scope, const struct cpu_plan *body,
                                  size_t output)
{
    const struct odb_type *type = &body->graph->values[body->graph->outputs[output]].type;
    bool carried = scope->precision == ODB_PREC_F64 && odb_dtype_is_float(type->dtype);
    return !type->known ? ODB_UNDEFINED : carried ? ODB_F64 : type->dtype;
}

/* No turn was taken: dimension 0 of the output is 0, the others are as the body declares them, and
 * 0 where it does not. */
static enum odb_status control_empty(const struct cpu_scope *scope, const struct cpu_plan *body,
                                     size_t output, int64_t axis, struct odb_tensor **out,
                                     struct odb_error *err)
{
    const struct odb_value *value = &body->graph->values[body->graph->outputs[output]];
    enum odb_dtype dtype = cpu_declared_dtype(scope, body, output);
    int64_t dims[ODB_MAX_RANK] = {0};
    int rank = 1 + ODB_MAX(value->type.rank, 0);
    int at = (int)(axis < 0 ? axis + rank : axis);
    if (dtype == ODB_UNDEFINED)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "no turn is taken, and the body does not say of which type %s is",
                        value->name);
    if (rank > ODB_MAX_RANK || at < 0 || at >= rank)
        return odb_fail(err, ODB_E_OPERATOR, "axis %lld does not fit a scan output of rank %d",
                        (long long)axis, rank);
    for (int d = 0; d < value->type.rank; d++)
        dims[d + (d >= at)] = ODB_MAX(value->type.dims[d].value, 0);
    return odb_tensor_new(out, dtype, rank, dims, err);
}

enum odb_status cpu_stack_join(const struct cpu_scope *scope, const struct cpu_plan *body,
                               size_t output, struct cpu_stack *stack, int64_t axis, bool backward,
                               struct odb_tensor **out, struct odb_error *err)
{
    size_t n = stack->n;
    if (n == 0)
        return control_empty(scope, body, output, axis, out, err);
    int rank = stack->items[0]->rank + 1;
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
        return odb_fail(err, ODB_E_OPERATOR, "axis %lld does not fit a scan output of rank %d",
                        (long long)axis, rank);
    for (size_t i = 0; i < n / 2 && backward; i++) {
        struct odb_tensor *t = stack->items[i];
        stack->items[i] = stack->items[n - 1 - i];
        stack->items[n - 1 - i] = t;
    }
    enum odb_status status = odb_parts_join(out, stack->items, n, (int)at, true, err);
    if (status != ODB_OK)
        odb_error_at(err, "scan output %s", body->graph->values[body->graph->outputs[output]].name);
    return status;
}

/* --- If --------------------------------------------------------------------------------------- */

enum odb_status cpu_control_if(const struct cpu_scope *scope, int index,
                               const struct odb_tensor *const *in, struct odb_tensor **out,
                               struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    int64_t cond;
    ODB_TRY(
        control_scalar_of(node->n_in == 1 ? in[0] : NULL, ODB_BOOL, "condition of If", &cond, err));
    cpu_scope_steer(scope, index, &cond);
    const char *name = cond ? "then_branch" : "else_branch";
    const struct cpu_plan *body = cpu_body_find(scope, index, name);
    if (!body || body->graph->n_outputs < (size_t)node->n_out || odb_graph_feeds(body->graph, NULL))
        return odb_fail(err, ODB_E_OPERATOR, "If has no %s without inputs and with %d outputs",
                        name, node->n_out);
    struct odb_tensor **outs = odb_new_n(struct odb_tensor *, body->graph->n_outputs);
    enum odb_status status = cpu_body_run(scope, index, body, 0, NULL, outs, err);
    for (size_t o = 0; o < body->graph->n_outputs; o++) {
        if (status == ODB_OK && o < (size_t)node->n_out && node->out[o] >= 0)
            out[o] = outs[o];
        else
            odb_tensor_unref(outs[o]);
    }
    free(outs);
    return status;
}

/* --- Loop ------------------------------------------------------------------------------------- */

struct control_loop {
    const struct cpu_scope *scope;
    const struct cpu_plan *body;
    int index;
    size_t n_state, n_stacks;
    struct odb_tensor **feeds; /* owned; turn, condition, state */
    struct odb_tensor **outs;  /* owned; of a turn */
    struct cpu_stack *stacks;  /* owned */
};

/* A turn's number or condition: of the rank that the body declares, which is 0 or 1. */
static enum odb_status control_feed(struct control_loop *l, size_t feed, enum odb_dtype dtype,
                                    int64_t v, struct odb_error *err)
{
    const struct odb_graph *graph = l->body->graph;
    const struct odb_type *type = &graph->values[graph->inputs[feed]].type;
    odb_tensor_unref(l->feeds[feed]);
    l->feeds[feed] = NULL;
    ODB_TRY(odb_tensor_new(&l->feeds[feed], dtype, type->known && type->rank == 1,
                           (const int64_t[]){1}, err));
    odb_store_i64(dtype, l->feeds[feed]->data, 0, v);
    return ODB_OK;
}

/* States keep their element type from turn to turn. */
static enum odb_status control_next_state(struct control_loop *l, size_t s, struct odb_tensor *next,
                                          struct odb_error *err)
{
    struct odb_tensor **state = &l->feeds[2 + s], *before = *state;
    bool tensors = before && before->kind == ODB_TENSOR && next->kind == ODB_TENSOR;
    if (tensors && before->dtype != next->dtype && l->scope->precision != ODB_PREC_F64)
        return odb_fail(err, ODB_E_OPERATOR, "state %zu turns from %s to %s", s,
                        odb_dtype_info(before->dtype)->name, odb_dtype_info(next->dtype)->name);
    *state = odb_tensor_ref(next);
    odb_tensor_unref(before);
    return ODB_OK;
}

static enum odb_status control_turn(struct control_loop *l, int64_t turn, bool *go_on,
                                    struct odb_error *err)
{
    int64_t cond = 0;
    ODB_TRY(control_feed(l, 0, ODB_I64, turn, err));
    ODB_TRY(control_feed(l, 1, ODB_BOOL, *go_on, err));
    ODB_TRY(cpu_body_run(l->scope, l->index, l->body, (uint64_t)turn, l->feeds, l->outs, err));
    enum odb_status status =
        control_scalar_of(l->outs[0], ODB_BOOL, "condition that Loop's body gives", &cond, err);
    *go_on = cond != 0;
    for (size_t s = 0; s < l->n_state && status == ODB_OK; s++)
        status = control_next_state(l, s, l->outs[1 + s], err);
    for (size_t s = 0; s < l->n_stacks && status == ODB_OK; s++)
        status = cpu_stack_push(l->scope, &l->stacks[s],
                                odb_tensor_ref(l->outs[1 + l->n_state + s]), err);
    for (size_t o = 0; o < l->body->graph->n_outputs; o++)
        odb_tensor_unref(l->outs[o]);
    if (status != ODB_OK)
        odb_error_at(err, "turn %lld", (long long)turn);
    return status;
}

static enum odb_status control_loop_outputs(struct control_loop *l, struct odb_tensor **out,
                                            struct odb_error *err)
{
    const struct odb_node *node = &l->scope->plan->graph->nodes[l->index];
    if ((size_t)node->n_out > l->n_state + l->n_stacks)
        return odb_fail(err, ODB_E_OPERATOR, "the node has %d outputs, and its body gives %zu",
                        node->n_out, l->n_state + l->n_stacks);
    for (size_t o = 0; o < (size_t)node->n_out; o++) {
        if (node->out[o] < 0)
            continue;
        if (o >= l->n_state) {
            ODB_TRY(cpu_stack_join(l->scope, l->body, 1 + o, &l->stacks[o - l->n_state], 0, false,
                                   &out[o], err));
            continue;
        }
        out[o] = odb_tensor_ref(l->feeds[2 + o]);
        if (!out[o])
            return odb_fail(err, ODB_E_OPERATOR, "state %zu was not given, and no turn makes it",
                            o);
    }
    return ODB_OK;
}

/* The condition that the body gives counts whether the node has one or not: the specification says
 * that it is ignored where the node has none, and no implementation does that. */
enum odb_status cpu_control_loop(const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, struct odb_tensor **out,
                                 struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    const struct cpu_plan *body = cpu_body_find(scope, index, "body");
    if (!body || node->n_in < 2)
        return odb_fail(err, ODB_E_OPERATOR, "Loop needs a body, a trip count and a condition");
    struct control_loop l = {.scope = scope, .body = body, .index = index};
    size_t n_feeds = odb_graph_feeds(body->graph, NULL), n_outs = body->graph->n_outputs;
    l.n_state = (size_t)node->n_in - 2;
    if (n_feeds != l.n_state + 2 || n_outs < l.n_state + 1)
        return odb_fail(err, ODB_E_OPERATOR,
                        "the Loop's body takes %zu values and gives %zu; the node carries %zu",
                        n_feeds, n_outs, l.n_state);
    int64_t trips = INT64_MAX, cond = 1;
    if (in[0])
        ODB_TRY(control_scalar_of(in[0], ODB_I64, "trip count of Loop", &trips, err));
    cpu_scope_steer(scope, index, &trips);
    if (in[1])
        ODB_TRY(control_scalar_of(in[1], ODB_BOOL, "condition of Loop", &cond, err));
    l.n_stacks = n_outs - 1 - l.n_state;
    l.feeds = odb_new_n(struct odb_tensor *, n_feeds);
    l.outs = odb_new_n(struct odb_tensor *, n_outs);
    l.stacks = odb_new_n(struct cpu_stack, l.n_stacks);
    enum odb_status status = ODB_OK;
    bool go_on = cond != 0;
    for (size_t s = 0; s < l.n_state; s++)
        l.feeds[2 + s] = odb_tensor_ref(in[2 + s]);
    for (int64_t i = 0; i < trips && go_on; i++)
        ODB_TRY_OUT(control_turn(&l, i, &go_on, err));
    status = control_loop_outputs(&l, out, err);
out:
    for (size_t f = 0; f < n_feeds; f++)
        odb_tensor_unref(l.feeds[f]);
    for (size_t s = 0; s < l.n_stacks; s++)
        cpu_stack_dispose(&l.stacks[s]);
    free(l.stacks);
    free(l.feeds);
    free(l.outs);
    return status;
}
