/* SPDX-License-Identifier: MIT
 *
 * Of which types the operands of a node are, where their tensors do not say it. In double mode
 * floats are carried as double, and the model says what they are. In a replay they are a target's,
 * which may keep values in types of its own: those are converted, as the operator takes one type.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"

/* What the model says of an operand that is carried as double; ODB_UNDEFINED: nothing. */
static enum odb_dtype typed_declared(const struct cpu_scope *scope, int value,
                                     const struct odb_tensor *t)
{
    const struct odb_value *v = value < 0 ? NULL : cpu_scope_owner(&scope, value);
    bool fed = v && v->is_input && !scope->place && v->type.known && v->type.kind == ODB_TENSOR;
    return v && v->init == t ? t->dtype : fed ? v->type.dtype : t->declared;
}

static void typed_carried(struct cpu_typed *typed, const struct cpu_scope *scope, int index,
                          struct odb_call *call)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    for (int i = 0; i < call->n_in; i++) {
        const struct odb_tensor *t = call->in[i];
        if (!t || t->kind != ODB_TENSOR || t->dtype != ODB_F64 || t->declared)
            continue;
        if (!typed->types)
            typed->types = odb_new_n(enum odb_dtype, call->n_in);
        typed->types[i] = typed_declared(scope, node->in[i], t);
    }
    call->types = typed->types;
}

/* Whether numbers of one may be had from the other. */
static bool typed_alike(enum odb_dtype a, enum odb_dtype b)
{
    return (odb_dtype_is_float(a) && odb_dtype_is_float(b)) ||
           (odb_dtype_is_integer(a) && odb_dtype_is_integer(b));
}

/* The type that input i and those that share it are brought to: a weight's, or else the widest. */
static enum odb_dtype typed_common(const struct cpu_scope *scope, const struct odb_node *node,
                                   const struct odb_call *call, int i)
{
    int of = odb_op_type_of(call->op, i);
    enum odb_dtype wide = call->in[i]->dtype;
    for (int j = 0; j < call->n_in; j++) {
        const struct odb_tensor *t = call->in[j];
        if (!t || t->kind != ODB_TENSOR || odb_op_type_of(call->op, j) != of ||
            !typed_alike(wide, t->dtype))
            continue;
        const struct cpu_scope *at = scope;
        const struct odb_value *v = /* NULL: a replay gives what the node leaves out */
            node->in[j] < 0 ? NULL : cpu_scope_owner(&at, node->in[j]);
        if (v && v->init)
            return v->init->dtype;
        if (odb_dtype_info(t->dtype)->bits > odb_dtype_info(wide)->bits)
            wide = t->dtype;
    }
    return wide;
}

static enum odb_status typed_convert(struct cpu_typed *typed, const struct cpu_scope *scope,
                                     int index, struct odb_call *call, struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    typed->made = odb_new_n(struct odb_tensor *, node->n_in); /* of those left out as well */
    for (int i = 0; i < call->n_in; i++) {
        const struct odb_tensor *t = call->in[i];
        bool tensor = t && t->kind == ODB_TENSOR;
        enum odb_dtype to = tensor ? typed_common(scope, node, call, i) : ODB_UNDEFINED;
        if (tensor && to != t->dtype && typed_alike(to, t->dtype))
            ODB_TRY(odb_tensor_cast(&typed->made[i], t, to, err));
        else
            typed->made[i] = odb_tensor_ref(t);
    }
    call->in = (const struct odb_tensor *const *)typed->made;
    return ODB_OK;
}

enum odb_status cpu_typed_begin(struct cpu_typed *typed, const struct cpu_scope *scope, int index,
                                struct odb_call *call, struct odb_error *err)
{
    *typed = (struct cpu_typed){NULL, NULL};
    if (scope->precision == ODB_PREC_F64) {
        call->inner = scope->replay; /* all floats become double */
        if (!scope->replay)
            typed_carried(typed, scope, index, call);
        return ODB_OK;
    }
    return scope->replay ? typed_convert(typed, scope, index, call, err) : ODB_OK;
}

void cpu_typed_end(struct cpu_typed *typed, const struct odb_call *call)
{
    for (int i = 0; typed->made && i < call->n_in; i++)
        odb_tensor_unref(typed->made[i]);
    free(typed->made);
    free(typed->types);
}
