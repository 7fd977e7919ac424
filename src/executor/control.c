/* SPDX-License-Identifier: MIT
 *
 * If and Loop for the CPU reference: each runs a body in a scope of its own that sees the
 * values around it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/cpu_int.h"

/* The plan of the body in attribute name. Bodies stand in the order of the graph attributes. */
static const struct cpu_plan *control_body(const struct cpu_scope *scope, int index,
                                           const char *name)
{
    const struct cpu_node *slot = &scope->plan->nodes[index];
    const struct odb_attr *attr = odb_attrs_find(&slot->attrs, name);
    for (size_t b = 0; attr && b < slot->n_bodies; b++)
        if (attr->type == ODB_ATTR_GRAPH && slot->bodies[b]->graph == attr->graphs[0])
            return slot->bodies[b];
    return NULL;
}

/* The one element of a condition or trip count; what says whose it is. */
static enum odb_status control_scalar_of(const struct odb_tensor *t, const char *what, int64_t *v,
                                         struct odb_error *err)
{
    bool number = t && t->kind == ODB_TENSOR && t->count == 1 && t->data &&
                  (t->dtype == ODB_BOOL || odb_dtype_is_integer(t->dtype));
    if (!number)
        return odb_fail(err, ODB_E_OPERATOR, "the %s must be one element", what);
    *v = odb_tensor_i64(t, 0);
    return ODB_OK;
}

static enum odb_status control_if(const struct cpu_scope *scope, int index,
                                  const struct odb_tensor *const *in, struct odb_tensor **out,
                                  struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    int64_t cond;
    ODB_TRY(control_scalar_of(node->n_in == 1 ? in[0] : NULL, "condition of If", &cond, err));
    const char *name = cond ? "then_branch" : "else_branch";
    const struct cpu_plan *body = control_body(scope, index, name);
    if (!body || body->graph->n_outputs < (size_t)node->n_out)
        return odb_fail(err, ODB_E_OPERATOR, "If has no %s with %d outputs", name, node->n_out);
    struct cpu_scope inner;
    cpu_scope_init(&inner, body, scope, scope);
    enum odb_status status = cpu_scope_run(&inner, err);
    for (int o = 0; o < node->n_out && status == ODB_OK; o++)
        if (node->out[o] >= 0)
            out[o] = odb_tensor_ref(cpu_scope_read(&inner, body->graph->outputs[o]));
    cpu_scope_dispose(&inner);
    return status;
}

/* Slices collected along a new axis. */
struct control_stack {
    ODB_VEC(struct odb_tensor *) parts; /* refs */
};

static void control_stack_dispose(struct control_stack *stack)
{
    for (size_t i = 0; i < stack->parts.n; i++)
        odb_tensor_unref(stack->parts.items[i]);
    free(stack->parts.items);
}

/* The collected slices as one tensor with a new axis. */
static enum odb_status control_stack_join(const struct control_stack *stack,
                                          struct odb_tensor **out, struct odb_error *err)
{
    if (stack->parts.n == 0)
        return odb_fail(err, ODB_UNSUPPORTED,
                        "a loop that runs no iteration has scan outputs of unknown shape");
    const struct odb_tensor *first = stack->parts.items[0];
    int64_t dims[ODB_MAX_RANK];
    if (first->kind != ODB_TENSOR || first->rank >= ODB_MAX_RANK ||
        odb_dtype_info(first->dtype)->bits % 8 || first->dtype == ODB_STRING)
        return odb_fail(err, ODB_UNSUPPORTED, "scan outputs of this type or rank");
    dims[0] = (int64_t)stack->parts.n;
    memcpy(dims + 1, first->dims, (size_t)first->rank * sizeof *dims);
    ODB_TRY(odb_tensor_new_raw(out, first->dtype, first->rank + 1, dims, err));
    for (size_t i = 0; i < stack->parts.n; i++) {
        const struct odb_tensor *part = stack->parts.items[i];
        if (!odb_tensor_same_shape(part, first) || part->dtype != first->dtype) {
            odb_tensor_unref(*out);
            *out = NULL;
            return odb_fail(err, ODB_E_OPERATOR, "a scan output changes its shape at iteration %zu",
                            i);
        }
        if (first->bytes)
            memcpy((char *)(*out)->data + i * first->bytes, part->data, first->bytes);
    }
    return ODB_OK;
}

static enum odb_status control_scalar(struct odb_tensor **out, enum odb_dtype dtype, int64_t v,
                                      struct odb_error *err)
{
    ODB_TRY(odb_tensor_new(out, dtype, 0, NULL, err));
    odb_store_i64(dtype, (*out)->data, 0, v);
    return ODB_OK;
}

/* One iteration: state[] is replaced by the body's new state, scan outputs are collected.
 * feeds[] are consumed (refs). first_out: index of the body's first state output. */
static enum odb_status control_iterate(const struct cpu_scope *scope, const struct cpu_plan *body,
                                       struct odb_tensor **feeds, size_t n_feeds, bool *go_on,
                                       struct odb_tensor **state, size_t n_state,
                                       struct control_stack *stacks, size_t n_stacks,
                                       struct odb_error *err)
{
    struct cpu_scope inner;
    cpu_scope_init(&inner, body, scope, scope);
    for (size_t i = 0; i < n_feeds; i++)
        inner.values[body->graph->inputs[i]] = feeds[i];
    enum odb_status status = cpu_scope_run(&inner, err);
    size_t at = 0;
    if (status == ODB_OK && go_on) {
        int64_t cond = 0;
        status = control_scalar_of(cpu_scope_read(&inner, body->graph->outputs[at++]),
                                   "condition of a loop", &cond, err);
        *go_on = cond != 0;
    }
    for (size_t s = 0; s < n_state + n_stacks && status == ODB_OK; s++) {
        struct odb_tensor *t = odb_tensor_ref(cpu_scope_read(&inner, body->graph->outputs[at++]));
        if (!t) {
            status = odb_fail(err, ODB_E_OPERATOR, "the body does not give its output %zu", at - 1);
        } else if (s < n_state) {
            odb_tensor_unref(state[s]);
            state[s] = t;
        } else {
            odb_push(&stacks[s - n_state].parts, t);
        }
    }
    cpu_scope_dispose(&inner);
    return status;
}

static enum odb_status control_loop(const struct cpu_scope *scope, int index,
                                    const struct odb_tensor *const *in, struct odb_tensor **out,
                                    struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    const struct cpu_plan *body = control_body(scope, index, "body");
    if (!body || node->n_in < 2)
        return odb_fail(err, ODB_E_OPERATOR, "Loop needs a body, a trip count and a condition");
    size_t n_state = (size_t)node->n_in - 2;
    if (body->graph->n_inputs != n_state + 2 || body->graph->n_outputs < n_state + 1)
        return odb_fail(err, ODB_E_OPERATOR,
                        "the Loop's body takes %zu values and gives %zu; "
                        "the node carries %zu",
                        body->graph->n_inputs, body->graph->n_outputs, n_state);
    size_t n_stacks = body->graph->n_outputs - 1 - n_state;
    int64_t trips = INT64_MAX, cond = 1;
    if (in[0])
        ODB_TRY(control_scalar_of(in[0], "trip count of Loop", &trips, err));
    if (in[1])
        ODB_TRY(control_scalar_of(in[1], "condition of Loop", &cond, err));
    bool go_on = cond != 0;
    struct odb_tensor **state = odb_new_n(struct odb_tensor *, n_state);
    struct odb_tensor **feeds = odb_new_n(struct odb_tensor *, n_state + 2);
    struct control_stack *stacks = odb_new_n(struct control_stack, n_stacks);
    enum odb_status status = ODB_OK;
    for (size_t s = 0; s < n_state; s++)
        state[s] = odb_tensor_ref(in[s + 2]);
    for (int64_t i = 0; i < trips && go_on; i++) {
        if (scope->cancelled && scope->cancelled(scope->payload)) /* the body may be empty */
            ODB_TRY_OUT(odb_fail(err, ODB_CANCELLED, "cancelled"));
        ODB_TRY_OUT(control_scalar(&feeds[0], ODB_I64, i, err));
        ODB_TRY_OUT(control_scalar(&feeds[1], ODB_BOOL, go_on, err));
        for (size_t s = 0; s < n_state; s++)
            feeds[s + 2] = odb_tensor_ref(state[s]);
        ODB_TRY_OUT(control_iterate(scope, body, feeds, n_state + 2, &go_on, state, n_state, stacks,
                                    n_stacks, err));
    }
    for (size_t o = 0; o < (size_t)node->n_out; o++) {
        if (node->out[o] < 0)
            continue;
        if (o < n_state)
            out[o] = odb_tensor_ref(state[o]);
        else if (o - n_state < n_stacks)
            ODB_TRY_OUT(control_stack_join(&stacks[o - n_state], &out[o], err));
    }
out:
    for (int o = 0; status != ODB_OK && o < node->n_out; o++) {
        odb_tensor_unref(out[o]);
        out[o] = NULL;
    }
    for (size_t s = 0; s < n_state; s++)
        odb_tensor_unref(state[s]);
    for (size_t s = 0; s < n_stacks; s++)
        control_stack_dispose(&stacks[s]);
    free(stacks);
    free(state);
    free(feeds);
    return status;
}

cpu_control_fn cpu_control_find(const struct odb_node *node)
{
    if (node->domain[0])
        return NULL;
    if (strcmp(node->op_type, "If") == 0)
        return control_if;
    if (strcmp(node->op_type, "Loop") == 0)
        return control_loop;
    return NULL;
}
