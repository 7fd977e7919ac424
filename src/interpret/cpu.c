/* SPDX-License-Identifier: MIT
 *
 * The CPU reference. A plan is made once per graph: which row of the operator table serves each
 * node, which values must not be rounded, when a value is read for the last time. Running is then
 * one walk over the nodes in order. Bodies of functions and of control flow have plans of their
 * own, hung under the node that runs them; a scope at run time is a plan with its values, linked
 * to the scope around it.
 */
#include "interpret/cpu.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "interpret/cpu_int.h"
#include "kernels/core/kernel_plugin.h"
#include "model/limits.h"

#define CPU_FOLD_BYTES ((size_t)16 << 20) /* of a plan's constants, computed once */
#define CPU_NAME 200                      /* bytes of a name in why a node cannot be run */
#define CPU_TICK 1e-9 /* seconds that a node takes at least, for a clock that stood still */
#define CPU_WHY (2 * CPU_NAME + 100)

/* --- plans ------------------------------------------------------------------------------------ */

static bool cpu_is(const struct odb_node *node, const char *op_type)
{
    return node->domain[0] == '\0' && strcmp(node->op_type, op_type) == 0;
}

/* True where float values at this input only steer: they become shapes, indices or integers. */
static bool cpu_steers(const struct cpu_node *slot, const struct odb_node *node, int input)
{
    if (cpu_is(node, "Cast") || cpu_is(node, "CastLike")) {
        const struct odb_attr *to = odb_attrs_find(&node->attrs, "to");
        return to && odb_dtype_is_integer((enum odb_dtype)to->i);
    }
    return input < 32 && slot->facts->steering >> input & 1;
}

/* True for operands that are parameters rather than data: an exponent one ulp from 2 makes NaN of
 * every negative base, which no honest implementation does. */
static bool cpu_is_parameter(const struct cpu_node *slot, int input)
{
    return input < 32 && slot->facts->parameters >> input & 1;
}

/* Marks values that feed only shapes, indices or integer casts, walking back from their readers.
 * Readers come later in the order, so one backward pass settles it. */
static void cpu_mark_kept(struct cpu_plan *plan)
{
    const struct odb_graph *graph = plan->graph;
    plan->kept = odb_new_n(bool, graph->n_values);
    bool *free_use = odb_new_n(bool, graph->n_values); /* some reader computes with it; that it is
                                                          read as an output changes nothing */
    for (size_t v = 0; v < graph->n_values; v++)
        free_use[v] = graph->values[v].is_output && graph->values[v].n_consumers == 0;
    for (size_t n = graph->n_nodes; n-- > 0;) {
        const struct odb_node *node = &graph->nodes[n];
        bool steers_on = node->n_out > 0 && node->n_captured == 0;
        for (int o = 0; o < node->n_out; o++)
            if (node->out[o] >= 0)
                steers_on = steers_on && plan->kept[node->out[o]];
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && !steers_on && !cpu_steers(&plan->nodes[n], node, i))
                free_use[node->in[i]] = true;
        for (size_t c = 0; c < node->n_captured; c++)
            free_use[node->captured[c]] = true;
        /* A value is settled once all its readers are behind us, which is when its producer is
         * reached; kept[] of this node's inputs is therefore updated as readers are met. */
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0)
                plan->kept[node->in[i]] = !free_use[node->in[i]];
    }
    free(free_use);
}

static void cpu_mark_last_use(struct cpu_plan *plan)
{
    const struct odb_graph *graph = plan->graph;
    plan->last_use = odb_new_n(int, graph->n_values);
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        plan->last_use[v] =
            value->n_consumers ? value->consumers[value->n_consumers - 1] : value->producer;
    }
}

/* The node's attributes with references to the enclosing function's attributes resolved. */
static struct odb_attrs cpu_resolve_attrs(struct cpu_node *slot, const struct odb_node *node,
                                          const struct odb_attrs *actual,
                                          const struct odb_attrs *defaults)
{
    bool any = false;
    for (size_t a = 0; a < node->attrs.n; a++)
        any = any || node->attrs.items[a].ref_name;
    if (!any)
        return node->attrs;
    slot->own_attrs = odb_new_n(struct odb_attr, node->attrs.n);
    size_t n = 0;
    for (size_t a = 0; a < node->attrs.n; a++) {
        const struct odb_attr *attr = &node->attrs.items[a], *from = attr;
        if (attr->ref_name) {
            from = odb_attrs_find(actual, attr->ref_name);
            from = from || !defaults ? from : odb_attrs_find(defaults, attr->ref_name);
        }
        if (!from)
            continue; /* not given by the caller: as if it were absent here */
        slot->own_attrs[n] = *from;
        slot->own_attrs[n].ref_name = NULL;
        slot->own_attrs[n++].name = attr->name;
    }
    return (struct odb_attrs){slot->own_attrs, n};
}

static struct cpu_plan *cpu_plan_new(const struct odb_graph *graph, const struct odb_attrs *actual,
                                     const struct odb_attrs *defaults, int depth,
                                     struct odb_cpu *cpu);

/* The tensor that a Constant gives. */
static const struct odb_tensor *cpu_constant_of(const struct cpu_node *slot)
{
    const struct odb_attr *attr = slot->attrs.n == 1 ? slot->attrs.items : NULL;
    if (!attr || attr->type != ODB_ATTR_TENSOR || strcmp(attr->name, "value") != 0)
        return NULL;
    return strcmp(slot->op->name, "Constant") == 0 ? attr->tensors[0] : NULL;
}

/* So much of a name as is said of every call; returns buf. */
static const char *cpu_name(const char *name, char buf[CPU_NAME])
{
    odb_text_fit(buf, CPU_NAME, "%.*s", CPU_NAME, name);
    return buf;
}

/* Says why a node cannot be run. */
static void ODB_PRINTF(2, 3) cpu_refuse(struct cpu_node *slot, const char *fmt, ...)
{
    slot->status = ODB_UNSUPPORTED;
    char text[CPU_WHY];
    va_list args;
    va_start(args, fmt);
    odb_text_vfit(text, sizeof text, fmt, args);
    va_end(args);
    free(slot->why);
    slot->why = odb_xstrdup(text);
}

/* Why a node cannot be run for its bodies. Of If's branches one may do: the other's turn may not
 * come. A body that stands in a call of the enclosing function, and is handed on, would have to see
 * the values around that call. */
static void cpu_plan_bodies(struct cpu_node *slot, const struct odb_node *node)
{
    size_t bad = 0;
    const char *why = NULL;
    for (size_t b = 0; b < slot->n_bodies; b++) {
        bad += slot->bodies[b]->why != NULL;
        why = why ? why : slot->bodies[b]->why;
    }
    if (bad && (bad == slot->n_bodies || !cpu_is(node, "If")))
        cpu_refuse(slot, "%s", why);
    for (size_t a = 0; a < node->attrs.n; a++) {
        const struct odb_attr *attr = &node->attrs.items[a], *given;
        given = attr->ref_name ? odb_attrs_find(&slot->attrs, attr->name) : NULL;
        const struct odb_graph *graph =
            given && given->type == ODB_ATTR_GRAPH ? given->graphs[0] : NULL;
        bool around = false;
        for (size_t v = 0; graph && v < graph->n_values && !around; v++)
            around = graph->values[v].is_outer;
        if (!around)
            continue;
        char name[CPU_NAME];
        cpu_refuse(slot, "the body %s comes from a function's caller and uses values around it",
                   cpu_name(attr->name, name));
    }
}

/* No code reads attributes that are not what the operator's row says: not even to plan. */
static void cpu_plan_attrs(struct cpu_node *slot, const struct odb_op *op,
                           const struct odb_node *node)
{
    struct odb_error err = ODB_ERROR_INIT;
    enum odb_status status = odb_op_check_attrs(op, node->opset, &slot->attrs, &err);
    if (status == ODB_OK)
        return;
    cpu_refuse(slot, "%s", err.what);
    slot->status = status;
}

/* Whether a node may give the same tensor in every run: its operator is one of ONNX's own, which
 * have no memory, and draws nothing. */
static bool cpu_folds(const struct cpu_plan *plan, const struct cpu_node *slot,
                      const struct odb_node *node)
{
    bool folds = slot->op->domain[0] == '\0' && !(slot->op->flags & ODB_OP_RANDOM) &&
                 node->n_out == 1 && node->out[0] >= 0;
    for (int i = 0; i < node->n_in && folds; i++) {
        const struct odb_value *v = node->in[i] < 0 ? NULL : &plan->graph->values[node->in[i]];
        if (v && v->producer != ODB_NO_NODE)
            folds = plan->nodes[v->producer].folds;
        else if (v)
            folds = v->init && !v->is_input;
    }
    return folds;
}

/* Of its first output's name, by FNV-1a; of one without a name, of its place. */
static uint64_t cpu_salt(const struct odb_graph *graph, const struct odb_node *node)
{
    uint64_t salt = 0xcbf29ce484222325u;
    const char *name = "";
    for (int o = 0; o < node->n_out && !*name; o++)
        name = node->out[o] >= 0 ? graph->values[node->out[o]].name : name;
    for (const char *c = name; *c; c++)
        salt = (salt ^ (unsigned char)*c) * 0x100000001b3u;
    return *name ? salt : (uint64_t)(node->index + 1) << 20;
}

static void cpu_plan_node(struct cpu_plan *plan, const struct odb_node *node,
                          const struct odb_attrs *actual, const struct odb_attrs *defaults,
                          int depth)
{
    struct cpu_node *slot = &plan->nodes[node->index];
    slot->attrs = cpu_resolve_attrs(slot, node, actual, defaults);
    slot->salt = cpu_salt(plan->graph, node);
    slot->facts = odb_facts_of(node->domain, node->op_type);
    slot->op = odb_node_is_debug(node) ? odb_op_find("", "Identity", 1)
                                       : odb_op_find(node->domain, node->op_type, node->opset);
    if (!slot->op || !slot->op->run)
        slot->control = cpu_control_find(node->domain, node->op_type);
    struct odb_cpu *cpu = plan->cpu;
    if (slot->control) {
        slot->op = NULL;
        cpu_plan_attrs(slot, cpu_control_op(node), node);
        slot->bodies = odb_new_n(struct cpu_plan *, slot->attrs.n);
        for (size_t a = 0; a < slot->attrs.n; a++)
            if (slot->attrs.items[a].type == ODB_ATTR_GRAPH)
                slot->bodies[slot->n_bodies++] =
                    cpu_plan_new(slot->attrs.items[a].graphs[0], actual, defaults, depth + 1, cpu);
        cpu_plan_bodies(slot, node);
        return;
    }
    if (slot->op) {
        if (odb_node_is_debug(node))
            slot->attrs.n = 0;
        cpu_plan_attrs(slot, slot->op, node);
        slot->constant = cpu_constant_of(slot);
        slot->folds = cpu_folds(plan, slot, node);
        return;
    }
    if (node->function && depth < CPU_MAX_DEPTH) {
        slot->body = cpu_plan_new(node->function->graph, &slot->attrs, &node->function->defaults,
                                  depth + 1, cpu);
        if (slot->body->why)
            cpu_refuse(slot, "%s", slot->body->why);
        return;
    }
    char domain[CPU_NAME], op_type[CPU_NAME];
    const char *why = odb_facts_without(node->domain, node->op_type);
    cpu_refuse(slot, "no reference kernel for %s%s%s (opset %d)%s%s%s",
               cpu_name(node->domain, domain), node->domain[0] ? "::" : "",
               cpu_name(node->op_type, op_type), node->opset, why ? ": " : "", why ? why : "",
               why ? "; feed what it gives, see \"Operators without a kernel\" in "
                     "onnxdbg-guide(7)"
                   : "");
}

/* What is kept, by the inputs and outputs of each node. */
static void cpu_mark_operands(struct cpu_plan *plan)
{
    for (size_t n = 0; n < plan->graph->n_nodes; n++) {
        const struct odb_node *node = &plan->graph->nodes[n];
        struct cpu_node *slot = &plan->nodes[n];
        for (int i = 0; i < node->n_in && i < 32; i++)
            if (node->in[i] >= 0 && (plan->kept[node->in[i]] || cpu_is_parameter(slot, i)))
                slot->keep_in |= 1u << i;
        for (int o = 0; o < node->n_out && o < 32; o++)
            if (node->out[o] >= 0 && plan->kept[node->out[o]])
                slot->keep_out |= 1u << o;
    }
}

/* In nodes: a plan takes one, and so do ten values. */
static size_t cpu_plan_takes(const struct odb_graph *graph)
{
    return 1 + graph->n_nodes + graph->n_values / 10;
}

static struct cpu_plan *cpu_plan_new(const struct odb_graph *graph, const struct odb_attrs *actual,
                                     const struct odb_attrs *defaults, int depth,
                                     struct odb_cpu *cpu)
{
    struct cpu_plan *plan = odb_new(struct cpu_plan);
    plan->graph = graph;
    plan->cpu = cpu;
    plan->nodes = odb_new_n(struct cpu_node, graph->n_nodes);
    size_t takes = cpu_plan_takes(graph);
    cpu->over = cpu->over || takes > cpu->left;
    cpu->left -= cpu->over ? 0 : takes;
    for (size_t n = 0; n < graph->n_nodes && !cpu->over; n++) {
        cpu_plan_node(plan, &graph->nodes[n], actual, defaults, depth);
        plan->why = plan->why ? plan->why : plan->nodes[n].why;
    }
    if (cpu->over) /* it is not going to be run */
        return plan;
    cpu_mark_kept(plan);
    cpu_mark_operands(plan);
    cpu_mark_last_use(plan);
    return plan;
}

static void cpu_plan_free(struct cpu_plan *plan)
{
    if (!plan)
        return;
    for (size_t n = 0; n < plan->graph->n_nodes; n++) {
        struct cpu_node *slot = &plan->nodes[n];
        cpu_plan_free(slot->body);
        for (size_t b = 0; b < slot->n_bodies; b++)
            cpu_plan_free(slot->bodies[b]);
        free(slot->bodies);
        free(slot->own_attrs);
        free(slot->why);
        odb_tensor_unref(slot->folded);
        odb_memo_dispose(&slot->memo);
    }
    free(plan->nodes);
    free(plan->kept);
    free(plan->last_use);
    for (size_t v = 0; plan->absent && v < plan->graph->n_values; v++)
        odb_tensor_unref(plan->absent[v]);
    free(plan->absent);
    free(plan);
}

enum odb_status odb_cpu_add_kernels(const char *path, struct odb_error *err)
{
    ODB_TRY(odb_plugin_load(path, err));
    char *full = realpath(path, NULL);
    const char *had = odb_cpu_kernels();
    char *all = odb_xasprintf("%s%s%s", had ? had : "", had ? ":" : "", full ? full : path);
    setenv(ODB_KERNELS_ENV, all, 1);
    free(all);
    free(full);
    return ODB_OK;
}

const char *odb_cpu_kernels(void)
{
    return getenv(ODB_KERNELS_ENV);
}

/* An optional input of the model that is not fed is an empty one. */
static enum odb_status cpu_mark_absent(struct cpu_plan *plan, struct odb_error *err)
{
    const struct odb_graph *graph = plan->graph;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const struct odb_value *value = &graph->values[graph->inputs[i]];
        if (!value->type.known || value->type.kind != ODB_OPTIONAL)
            continue;
        if (!plan->absent)
            plan->absent = odb_new_n(struct odb_tensor *, graph->n_values);
        struct odb_tensor **none = &plan->absent[value->index];
        ODB_TRY(odb_tensor_new_container(none, ODB_OPTIONAL, NULL, 0, err));
        (*none)->dtype = value->type.dtype;
    }
    return ODB_OK;
}

enum odb_status odb_cpu_new(struct odb_cpu **out, const struct odb_model *model,
                            struct odb_error *err)
{
    ODB_TRY(odb_plugin_load_env(err));
    struct odb_cpu *cpu = odb_new(struct odb_cpu);
    const struct odb_attrs none = {NULL, 0};
    atomic_init(&cpu->refs, 1);
    cpu->model = model;
    atomic_init(&cpu->room, CPU_FOLD_BYTES);
    cpu->left = cpu_plan_takes(model->graph) + ODB_LIMIT_EXPANDED;
    cpu->plan = cpu_plan_new(model->graph, &none, NULL, 0, cpu);
    enum odb_status status = cpu_mark_absent(cpu->plan, err);
    if (cpu->over) { /* with bodies handed to functions, which the loader does not count */
        odb_fail(err, ODB_E_MODEL, "its functions and bodies are more than %d nodes beside its own",
                 ODB_LIMIT_EXPANDED);
        status = odb_error_at(err, "%s", model->path);
    }
    if (status != ODB_OK)
        odb_cpu_free(cpu);
    else
        *out = cpu;
    return status;
}

struct odb_cpu *odb_cpu_ref(struct odb_cpu *cpu)
{
    atomic_fetch_add(&cpu->refs, 1);
    return cpu;
}

void odb_cpu_free(struct odb_cpu *cpu)
{
    if (!cpu || atomic_fetch_sub(&cpu->refs, 1) != 1)
        return;
    cpu_simulate_free(cpu);
    cpu_plan_free(cpu->plan);
    free(cpu);
}

const char *odb_cpu_unsupported(const struct odb_cpu *cpu, int node)
{
    const char *why = cpu->plan->nodes[node].why;
    return why ? why : "";
}

const struct odb_op *odb_cpu_op(const struct odb_cpu *cpu, int node)
{
    return cpu->plan->nodes[node].op;
}

bool odb_cpu_kept(const struct odb_cpu *cpu, int value)
{
    return cpu->plan->kept[value];
}

/* The tensor of an initializer that no feed can replace, or of a Constant; NULL: not constant. */
static const struct odb_tensor *cpu_constant(const struct cpu_plan *plan, int value)
{
    const struct odb_value *v = value >= 0 ? &plan->graph->values[value] : NULL;
    if (!v || v->is_input || v->producer == ODB_NO_NODE)
        return v && !v->is_input ? v->init : NULL;
    return plan->nodes[v->producer].constant;
}

/* Whether an operator that may draw does. */
static bool cpu_draws(const struct cpu_plan *plan, int index)
{
    const struct odb_node *node = &plan->graph->nodes[index];
    const struct cpu_node *slot = &plan->nodes[index];
    if (!(slot->op->flags & ODB_OP_RANDOM) || !slot->op->draws)
        return (slot->op->flags & ODB_OP_RANDOM) != 0;
    const struct odb_tensor **known = odb_new_n(const struct odb_tensor *, node->n_in);
    for (int i = 0; i < node->n_in; i++)
        known[i] = cpu_constant(plan, node->in[i]);
    bool draws = slot->op->draws(&slot->attrs, node->n_in, known);
    free(known);
    return draws;
}

static bool cpu_plan_random(const struct cpu_plan *plan, int index)
{
    const struct cpu_node *slot = &plan->nodes[index];
    if (slot->op)
        return cpu_draws(plan, index);
    bool random = false;
    for (size_t b = 0; b < slot->n_bodies + 1; b++) {
        const struct cpu_plan *body = b < slot->n_bodies ? slot->bodies[b] : slot->body;
        for (size_t n = 0; body && n < body->graph->n_nodes; n++)
            random = random || cpu_plan_random(body, (int)n);
    }
    return random;
}

bool odb_cpu_random(const struct odb_cpu *cpu, int node)
{
    return cpu_plan_random(cpu->plan, node);
}

/* --- running ---------------------------------------------------------------------------------- */

const struct odb_value *cpu_scope_owner(const struct cpu_scope **scope, int value)
{
    const struct odb_value *v = &(*scope)->plan->graph->values[value];
    while (v && v->is_outer && (*scope)->parent) {
        *scope = (*scope)->parent;
        v = odb_graph_value((*scope)->plan->graph, v->name);
    }
    return v;
}

const struct odb_tensor *cpu_scope_read(const struct cpu_scope *scope, int value)
{
    while (scope) {
        const struct odb_value *v = &scope->plan->graph->values[value];
        if (scope->values[value])
            return scope->values[value];
        if (v->init && (v->init->data || !v->init->count || v->init->kind != ODB_TENSOR))
            return v->init; /* without data: a file of external data is missing */
        if (!v->is_outer || !scope->parent)
            return scope->plan->absent ? scope->plan->absent[value] : NULL;
        scope = scope->parent;
        const struct odb_value *outer = odb_graph_value(scope->plan->graph, v->name);
        if (!outer)
            return NULL;
        value = outer->index;
    }
    return NULL;
}

/* Whether the value is an input of the scope, or of one around it: its caller may omit it. */
static bool cpu_scope_is_input(const struct cpu_scope *scope, int value)
{
    const struct odb_value *own = cpu_scope_owner(&scope, value);
    return own && own->is_input;
}

/* --- the operands of a node ------------------------------------------------------------------- */

#define CPU_FEW 8 /* inputs and outputs that need no memory of their own */

struct cpu_operands {
    const struct odb_tensor **in; /* borrowed tensors */
    struct odb_tensor **out;
    const struct odb_tensor *few_in[CPU_FEW];
    struct odb_tensor *few_out[CPU_FEW];
};

static void cpu_operands_init(struct cpu_operands *o, const struct odb_node *node)
{
    o->in = node->n_in <= CPU_FEW ? o->few_in : odb_work_n(const struct odb_tensor *, node->n_in);
    o->out = node->n_out <= CPU_FEW ? o->few_out : odb_work_n(struct odb_tensor *, node->n_out);
    memset(o->few_out, 0, sizeof o->few_out);
}

static void cpu_operands_dispose(struct cpu_operands *o)
{
    if (o->in != o->few_in)
        odb_work_give(o->in);
    if (o->out != o->few_out)
        odb_work_give(o->out);
}

/* Whether a value of the scope is not needed after node index. keep: NULL: outputs are. */
static bool cpu_dies(const struct cpu_scope *scope, const bool *keep, int value, int index)
{
    if (value < 0 || !scope->values[value] || scope->plan->last_use[value] > index)
        return false;
    return keep ? !keep[value] : !scope->plan->graph->values[value].is_output;
}

static void cpu_drop_dead(struct cpu_scope *scope, const bool *keep, int index)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    size_t n_in = (size_t)node->n_in, n_out = (size_t)node->n_out;
    for (size_t i = 0; i < n_in + n_out + node->n_captured; i++) {
        int v = i < n_in           ? node->in[i]
                : i < n_in + n_out ? node->out[i - n_in]
                                   : node->captured[i - n_in - n_out];
        if (!cpu_dies(scope, keep, v, index))
            continue;
        odb_tensor_unref(scope->values[v]);
        scope->values[v] = NULL;
    }
}

/* Bit i: input i dies with the node. */
static uint32_t cpu_dying(const struct cpu_scope *scope, const bool *keep, int index)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    uint32_t dying = 0;
    for (int i = 0; i < node->n_in && i < 32; i++)
        if (cpu_dies(scope, keep, node->in[i], index))
            dying |= 1u << i;
    return dying;
}

/* --- bodies ----------------------------------------------------------------------------------- */

void cpu_scope_steer(const struct cpu_scope *scope, int index, int64_t *v)
{
    if (scope->watch && scope->watch->steer)
        scope->watch->steer(scope->watch->payload, scope->place, index, v);
}

/* Shows what a node of a body has given; what is not kept for a failure of the watcher is gone. */
static enum odb_status cpu_scope_show(const struct cpu_scope *scope, const struct odb_node *node,
                                      struct odb_tensor **out, struct odb_error *err)
{
    enum odb_status status =
        scope->watch->made(scope->watch->payload, scope->place, node, out, err);
    for (int o = 0; o < node->n_out && status != ODB_OK; o++) {
        odb_tensor_unref(out[o]);
        out[o] = NULL;
    }
    return status;
}

enum odb_status cpu_scope_run(struct cpu_scope *scope, struct odb_error *err)
{
    const struct odb_graph *graph = scope->plan->graph;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        struct cpu_operands o;
        enum odb_status status = ODB_OK;
        cpu_operands_init(&o, node);
        if (scope->cancelled && scope->cancelled(scope->payload))
            status = odb_fail(err, ODB_CANCELLED, "cancelled");
        for (int i = 0; i < node->n_in && status == ODB_OK; i++) {
            const struct odb_value *value = node->in[i] < 0 ? NULL : &graph->values[node->in[i]];
            o.in[i] = value ? cpu_scope_read(scope, value->index) : NULL;
            if (!o.in[i] && value && !cpu_scope_is_input(scope, value->index))
                status = odb_fail(err, ODB_E_OPERATOR, "%s has no value", value->name);
        }
        if (status == ODB_OK)
            status = cpu_node_run(scope, (int)n, o.in, cpu_dying(scope, NULL, (int)n), o.out, err);
        if (status == ODB_OK && scope->watch && scope->watch->made)
            status = cpu_scope_show(scope, node, o.out, err);
        for (int i = 0; i < node->n_out && status == ODB_OK; i++)
            if (node->out[i] >= 0)
                scope->values[node->out[i]] = o.out[i];
        cpu_operands_dispose(&o);
        if (status != ODB_OK) {
            char label[200];
            odb_error_at(err, "node %s", odb_node_label(node, label, sizeof label));
            return status;
        }
        cpu_drop_dead(scope, NULL, (int)n);
    }
    return ODB_OK;
}

void cpu_scope_init(struct cpu_scope *scope, const struct cpu_plan *plan,
                    const struct cpu_scope *like, const struct cpu_scope *parent)
{
    *scope = *like;
    scope->plan = plan;
    scope->parent = parent;
    scope->values = odb_new_n(struct odb_tensor *, plan->graph->n_values);
}

void cpu_scope_dispose(struct cpu_scope *scope)
{
    for (size_t v = 0; v < scope->plan->graph->n_values; v++)
        odb_tensor_unref(scope->values[v]);
    free(scope->values);
    scope->values = NULL;
}

uint64_t cpu_scope_seed(const struct cpu_scope *scope, int index, uint64_t turn)
{
    return (scope->seed + (uint64_t)index + 1) * 0x9e3779b97f4a7c15u + turn;
}

/* A local function: its body sees nothing of the graph around the call. */
static enum odb_status cpu_run_function(const struct cpu_scope *scope, const struct cpu_plan *body,
                                        const struct odb_node *node,
                                        const struct odb_tensor *const *in, struct odb_tensor **out,
                                        struct odb_error *err)
{
    struct cpu_scope inner;
    if ((size_t)node->n_in > body->graph->n_inputs || (size_t)node->n_out > body->graph->n_outputs)
        return odb_fail(err, ODB_E_OPERATOR,
                        "the function takes %zu values and gives %zu, not %d and %d",
                        body->graph->n_inputs, body->graph->n_outputs, node->n_in, node->n_out);
    cpu_scope_init(&inner, body, scope, NULL);
    const struct odb_cpu_place place = {.around = scope->place, .node = node->index};
    inner.seed = cpu_scope_seed(scope, node->index, 0);
    inner.place = &place;
    for (int i = 0; i < node->n_in; i++)
        inner.values[body->graph->inputs[i]] = odb_tensor_ref(in[i]);
    enum odb_status status = cpu_scope_run(&inner, err);
    for (int o = 0; o < node->n_out && status == ODB_OK; o++)
        if (node->out[o] >= 0)
            out[o] = odb_tensor_ref(cpu_scope_read(&inner, body->graph->outputs[o]));
    cpu_scope_dispose(&inner);
    return status;
}

/* Without those that are left out at the end. */
static int cpu_count_in(const struct odb_node *node, const struct odb_tensor *const *in, int least)
{
    int n = node->n_in;
    while (n > least && !in[n - 1])
        n--;
    return n;
}

/* A node with bodies. What bodies hand through has met no kernel yet. */
static enum odb_status cpu_run_control(const struct cpu_scope *scope, int index,
                                       const struct odb_tensor *const *in, struct odb_tensor **out,
                                       struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    const struct cpu_control_row *row = scope->plan->nodes[index].control;
    const struct odb_op *op = cpu_control_op(node);
    struct odb_call call = {.op = op,
                            .opset = node->opset,
                            .attrs = scope->plan->nodes[index].attrs,
                            .n_in = cpu_count_in(node, in, op->min_in),
                            .n_out = node->n_out,
                            .in = in,
                            .precision = scope->precision};
    struct cpu_typed typed;
    enum odb_status status = cpu_typed_begin(&typed, scope, index, &call, err);
    if (status == ODB_OK)
        status = odb_op_check(&call, err);
    if (status == ODB_OK)
        status = row->run(scope, index, call.in, out, err);
    cpu_typed_end(&typed, &call);
    for (int o = 0; o < node->n_out; o++) {
        struct odb_tensor *t = out[o];
        if (t && status == ODB_OK && scope->precision == ODB_PREC_F64) {
            status = odb_tensor_cast_floats(&out[o], t, ODB_F64, err);
            odb_tensor_unref(t);
            out[o] = status == ODB_OK ? out[o] : NULL;
        }
    }
    for (int o = 0; o < node->n_out && status != ODB_OK; o++) {
        odb_tensor_unref(out[o]);
        out[o] = NULL;
    }
    return status;
}

/* Whether in[] is what the plan's constants and folded nodes give, and nothing that was fed or
 * replayed. */
static bool cpu_all_constant(const struct cpu_plan *plan, const struct odb_node *node,
                             const struct odb_tensor *const *in)
{
    for (int i = 0; i < node->n_in; i++) {
        const struct odb_value *v = node->in[i] < 0 ? NULL : &plan->graph->values[node->in[i]];
        if (v && in[i] != (v->producer == ODB_NO_NODE ? v->init : plan->nodes[v->producer].folded))
            return false;
    }
    return true;
}

/* Keeps what a node gives while there is room. What a Constant gives is the model's own. */
static void cpu_fold(const struct cpu_plan *plan, int index, struct odb_tensor *made)
{
    struct cpu_node *slot = &plan->nodes[index];
    size_t bytes = slot->constant ? 0 : made->bytes, room = plan->cpu->room;
    struct odb_tensor *none = NULL;
    do
        if (made->kind != ODB_TENSOR || room < bytes)
            return;
    while (!atomic_compare_exchange_weak(&plan->cpu->room, &room, room - bytes));
    if (atomic_compare_exchange_strong(&slot->folded, &none, made))
        odb_tensor_ref(made);
}

enum odb_status cpu_node_compute(const struct cpu_scope *scope, int index,
                                 const struct odb_tensor *const *in, uint32_t dying,
                                 struct odb_tensor **out, struct odb_error *err)
{
    const struct cpu_plan *plan = scope->plan;
    const struct odb_node *node = &plan->graph->nodes[index];
    struct cpu_node *slot = &plan->nodes[index];
    if (slot->why)
        return odb_fail(err, slot->status, "%s", slot->why);
    if (slot->control)
        return cpu_run_control(scope, index, in, out, err);
    if (slot->body)
        return cpu_run_function(scope, slot->body, node, in, out, err);
    bool constant = slot->folds && !scope->change && scope->precision == ODB_PREC_NATIVE &&
                    cpu_all_constant(plan, node, in);
    if (constant && (out[0] = odb_tensor_ref(slot->folded)))
        return ODB_OK;
    bool stack_wanted[16];
    bool *wanted = node->n_out <= 16 ? stack_wanted : odb_work_n(bool, node->n_out);
    int n_out = node->n_out;
    for (int o = 0; o < node->n_out; o++)
        wanted[o] = node->out[o] >= 0;
    while (n_out > slot->op->min_out && !wanted[n_out - 1])
        n_out--;
    struct odb_call call = {.op = slot->op,
                            .opset = node->opset,
                            .attrs = slot->attrs,
                            .n_in = cpu_count_in(node, in, slot->op->min_in),
                            .n_out = n_out,
                            .in = in,
                            .wanted = wanted,
                            .precision = scope->precision,
                            .dying = dying,
                            .memo = &slot->memo,
                            .keep_in = slot->keep_in,
                            .keep_out = slot->keep_out,
                            .seed = scope->seed ^ slot->salt};
    struct cpu_typed typed;
    enum odb_status status = cpu_typed_begin(&typed, scope, index, &call, err);
    struct odb_call made = call;
    if (status == ODB_OK && scope->change)
        status = scope->change(scope->change_payload, &made, err);
    if (status == ODB_OK)
        status = odb_op_run(&made, out, err);
    cpu_typed_end(&typed, &call);
    if (constant && status == ODB_OK)
        cpu_fold(plan, index, out[0]);
    if (wanted != stack_wanted)
        odb_work_give(wanted);
    return status;
}

enum odb_status cpu_node_run(const struct cpu_scope *scope, int index,
                             const struct odb_tensor *const *in, uint32_t dying,
                             struct odb_tensor **out, struct odb_error *err)
{
    if (cpu_simulates(scope))
        return cpu_simulate_node(scope, index, in, out, err);
    return cpu_node_compute(scope, index, in, dying, out, err);
}

/* Runs one node of the main graph into run->values; its status is data for after(). since: when
 * the node before it was done; becomes when this one is. */
static enum odb_status cpu_step(const struct cpu_scope *scope, struct odb_cpu_run *run, int index,
                                double *since, struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    const struct odb_graph *graph = scope->plan->graph;
    bool all_there = node->n_out > 0;
    for (int o = 0; o < node->n_out; o++)
        all_there = all_there && (node->out[o] < 0 || run->values[node->out[o]]);
    if (all_there)
        return ODB_OK;
    struct cpu_operands o;
    enum odb_status status = ODB_OK;
    cpu_operands_init(&o, node);
    for (int i = 0; i < node->n_in && status == ODB_OK; i++) {
        o.in[i] = node->in[i] < 0 ? NULL : cpu_scope_read(scope, node->in[i]);
        if (!o.in[i] && node->in[i] >= 0)
            status = odb_fail(err, ODB_SKIPPED, "its input %s was not computed",
                              graph->values[node->in[i]].name);
    }
    uint32_t dying = run->free_dead && run->overwrite ? cpu_dying(scope, run->keep, index) : 0;
    if (status == ODB_OK)
        status = cpu_node_run(scope, index, o.in, dying, o.out, err);
    if (run->took && status == ODB_OK) {
        double now = odb_clock();
        run->took[index] = ODB_MAX(now - *since, CPU_TICK);
        *since = now;
    }
    for (int i = 0; i < node->n_out; i++) {
        int v = node->out[i];
        if (v >= 0 && !run->values[v] && status == ODB_OK)
            run->values[v] = o.out[i];
        else
            odb_tensor_unref(o.out[i]);
    }
    cpu_operands_dispose(&o);
    return status;
}

enum odb_status odb_cpu_execute(const struct odb_cpu *cpu, struct odb_cpu_run *run,
                                struct odb_error *err)
{
    struct cpu_scope scope = {.plan = cpu->plan,
                              .values = run->values,
                              .precision = run->precision,
                              .seed = run->seed,
                              .cancelled = run->cancelled,
                              .payload = run->payload,
                              .watch = run->watch};
    struct odb_error node_err = ODB_ERROR_INIT;
    double since = run->took ? odb_clock() : 0;
    for (size_t n = 0; n < cpu->plan->graph->n_nodes; n++) {
        if (run->nodes && !run->nodes[n])
            continue;
        if (run->cancelled && run->cancelled(run->payload))
            return odb_fail(err, ODB_CANCELLED, "cancelled");
        enum odb_status status = cpu_step(&scope, run, (int)n, &since, &node_err);
        if (status == ODB_CANCELLED) {
            *err = node_err;
            return status;
        }
        if (run->after && (status != ODB_OK || !run->after_failures)) {
            enum odb_status verdict = run->after(run->payload, (int)n, status, &node_err);
            if (verdict != ODB_OK) {
                if (err)
                    *err = node_err;
                return verdict;
            }
            since = run->took ? odb_clock() : 0;
        }
        if (status != ODB_OK || node_err.code != ODB_OK)
            node_err = (struct odb_error)ODB_ERROR_INIT;
        if (run->free_dead)
            cpu_drop_dead(&scope, run->keep, (int)n);
    }
    return ODB_OK;
}

static enum odb_status cpu_node_alone(const struct odb_cpu *cpu, int node,
                                      const struct cpu_scope *how, struct odb_tensor *const *in,
                                      struct odb_tensor *const *captured, struct odb_tensor **out,
                                      struct odb_error *err)
{
    struct odb_tensor **none =
        captured ? NULL : odb_new_n(struct odb_tensor *, cpu->plan->graph->n_values);
    struct cpu_scope scope = *how;
    scope.plan = cpu->plan;
    scope.values = captured ? (struct odb_tensor **)captured : none;
    scope.replay = true;
    memset(out, 0, (size_t)cpu->plan->graph->nodes[node].n_out * sizeof *out);
    enum odb_status status =
        cpu_node_run(&scope, node, (const struct odb_tensor *const *)in, 0, out, err);
    free(none);
    return status;
}

enum odb_status odb_cpu_node(const struct odb_cpu *cpu, int node, enum odb_precision precision,
                             uint64_t seed, struct odb_tensor *const *in,
                             struct odb_tensor *const *captured, struct odb_tensor **out,
                             struct odb_error *err)
{
    return odb_cpu_node_watched(cpu, node, precision, seed, in, captured, NULL, out, err);
}

enum odb_status odb_cpu_node_changed(const struct odb_cpu *cpu, int node,
                                     enum odb_precision precision, uint64_t seed,
                                     struct odb_tensor *const *in, odb_cpu_change_fn *change,
                                     void *payload, struct odb_tensor **out, struct odb_error *err)
{
    struct cpu_scope scope = {.plan = cpu->plan,
                              .precision = precision,
                              .replay = true,
                              .seed = seed,
                              .change = change,
                              .change_payload = payload};
    memset(out, 0, (size_t)cpu->plan->graph->nodes[node].n_out * sizeof *out);
    if (!cpu->plan->nodes[node].op)
        return odb_fail(err, ODB_UNSUPPORTED, "no kernel of its own runs it");
    return cpu_node_run(&scope, node, (const struct odb_tensor *const *)in, 0, out, err);
}

enum odb_status odb_cpu_node_watched(const struct odb_cpu *cpu, int node,
                                     enum odb_precision precision, uint64_t seed,
                                     struct odb_tensor *const *in,
                                     struct odb_tensor *const *captured,
                                     const struct odb_cpu_watch *watch, struct odb_tensor **out,
                                     struct odb_error *err)
{
    const struct cpu_scope how = {.precision = precision, .seed = seed, .watch = watch};
    return cpu_node_alone(cpu, node, &how, in, captured, out, err);
}

enum odb_status odb_cpu_node_simulated(const struct odb_cpu *cpu, int node,
                                       enum odb_precision precision, uint64_t seed,
                                       struct odb_tensor *const *in,
                                       struct odb_tensor *const *captured, enum odb_simulated what,
                                       struct odb_tensor **out, struct odb_error *err)
{
    const struct cpu_scope how = {.precision = precision, .seed = seed, .simulated = what};
    return cpu_node_alone(cpu, node, &how, in, captured, out, err);
}
