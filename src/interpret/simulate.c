/* SPDX-License-Identifier: MIT
 *
 * Few bits: which encoding a value has, and a node that keeps to those of its inputs and outputs.
 */

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interpret/cpu_int.h"

/* --- which encoding a value has --------------------------------------------------------------- */

/* Axes of a weight: of the output channels of the node that reads it, and of what that sums over.
 */
struct simulate_axes {
    int out, sum;
};

/* Of input i of a node; out is negative where that is no weight with output channels. */
static struct simulate_axes simulate_reader(const struct odb_node *node, int i, int rank)
{
    const struct odb_attr *trans = odb_attrs_find(&node->attrs, "transB");
    bool turned = trans && trans->i;
    static const struct simulate_axes none = {-1, -1};
    if (node->domain[0] || i != 1 || rank < 2)
        return none;
    if (!strcmp(node->op_type, "Conv"))
        return (struct simulate_axes){0, 1};
    if (!strcmp(node->op_type, "ConvTranspose"))
        return (struct simulate_axes){1, 0};
    if (!strcmp(node->op_type, "Gemm"))
        return (struct simulate_axes){turned ? 0 : 1, turned ? 1 : 0};
    if (!strcmp(node->op_type, "MatMul"))
        return (struct simulate_axes){rank - 1, rank - 2};
    return none;
}

/* A file need not say along which axis channels are: those of a weight's reader then, else the
 * second axis, as of images, or the only one. */
static struct simulate_axes simulate_axes(const struct odb_graph *graph, int value, int rank)
{
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (int i = 0; i < graph->nodes[n].n_in; i++) {
            struct simulate_axes axes = {-1, -1};
            if (graph->nodes[n].in[i] == value)
                axes = simulate_reader(&graph->nodes[n], i, rank);
            if (axes.out >= 0)
                return axes;
        }
    return (struct simulate_axes){rank > 1 && !graph->values[value].init ? 1 : 0, 1};
}

/* A copy of the list's encoding that shares its scales, with axes that are known. The caller's. */
static struct odb_encoding *simulate_fit(const struct odb_graph *graph, int value,
                                         const struct odb_encoding *e)
{
    struct odb_encoding *own = odb_xmemdup(e, sizeof *e);
    const struct odb_value *v = &graph->values[value];
    int rank = v->init ? v->init->rank : v->type.rank >= 0 ? v->type.rank : 2;
    struct simulate_axes axes = simulate_axes(graph, value, rank);
    if (own->axis == ODB_ENCODING_BY_READER)
        own->axis = axes.out;
    if (own->block_axis == ODB_ENCODING_BY_READER)
        own->block_axis = axes.sum;
    return own;
}

enum odb_status odb_cpu_simulate(struct odb_cpu *cpu, const struct odb_encodings *encodings,
                                 struct odb_error *err)
{
    const struct odb_graph *graph = cpu->plan->graph;
    cpu->encodings = odb_new_n(struct odb_encoding *, graph->n_values + 1);
    cpu->rounded = odb_new_n(struct odb_tensor *, graph->n_values + 1);
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        const struct odb_encoding *e = odb_encodings_find(encodings, value->name);
        if (!e || !value->name[0])
            continue;
        cpu->encodings[v] = simulate_fit(graph, (int)v, e);
        const struct odb_tensor *t = value->init;
        if (t && t->kind == ODB_TENSOR && odb_dtype_is_float(t->dtype) && t->data &&
            odb_encoding_apply(cpu->encodings[v], t, 0, 0, &cpu->rounded[v], err) != ODB_OK)
            return odb_error_at(err, "%s", encodings->path);
    }
    return ODB_OK;
}

void cpu_simulate_free(struct odb_cpu *cpu)
{
    for (size_t v = 0; cpu->encodings && v < cpu->plan->graph->n_values; v++) {
        odb_tensor_unref(cpu->rounded[v]);
        free(cpu->encodings[v]);
    }
    free(cpu->rounded);
    free(cpu->encodings);
}

const struct odb_encoding *odb_cpu_encoding(const struct odb_cpu *cpu, int value)
{
    return cpu->encodings && value >= 0 ? cpu->encodings[value] : NULL;
}

/* --- runs ------------------------------------------------------------------------------------- */

bool cpu_simulates(const struct cpu_scope *scope)
{
    return scope->plan->cpu->encodings && scope->plan == scope->plan->cpu->plan;
}

/* All readers of a value round it alike. */
static enum odb_status simulate_round(const struct cpu_scope *scope, int value,
                                      const struct odb_tensor *t, struct odb_tensor **out,
                                      struct odb_error *err)
{
    double tip = scope->precision == ODB_PREC_NOISY ? ODB_ENCODING_TIE : 0;
    uint64_t seed = (scope->seed + (uint64_t)value + 1) * 0x9e3779b97f4a7c15u;
    return odb_encoding_apply(scope->plan->cpu->encodings[value], t, tip, seed, out, err);
}

/* Honest compilers divide a weight by its scale in float or in double, or multiply by its inverse:
 * one that lies so near the middle between two steps comes out as either. */
#define SIMULATE_WEIGHT_TIE (1.0 / 1024)

/* An operand as the target has it: *out is a new reference. */
static enum odb_status simulate_operand(const struct cpu_scope *scope, int value,
                                        const struct odb_tensor *t, struct odb_tensor **out,
                                        struct odb_error *err)
{
    const struct odb_cpu *cpu = scope->plan->cpu;
    const struct odb_value *v = value < 0 ? NULL : &scope->plan->graph->values[value];
    *out = NULL;
    if (v && t && t == v->init && cpu->rounded[value]) {
        if (scope->replay && scope->precision == ODB_PREC_NOISY)
            return odb_encoding_apply(cpu->encodings[value], t, SIMULATE_WEIGHT_TIE,
                                      scope->seed + (uint64_t)value, out, err);
        *out = odb_tensor_ref(cpu->rounded[value]);
    } else if (v && t && cpu->encodings[value] && scope->simulated != ODB_SIMULATE_NOTHING &&
               (v->producer == ODB_NO_NODE || scope->replay))
        return simulate_round(scope, value, t, out, err);
    else
        *out = odb_tensor_ref(t);
    return ODB_OK;
}

enum odb_status cpu_simulate_node(const struct cpu_scope *scope, int index,
                                  const struct odb_tensor *const *in, struct odb_tensor **out,
                                  struct odb_error *err)
{
    const struct odb_node *node = &scope->plan->graph->nodes[index];
    struct odb_tensor **own = odb_new_n(struct odb_tensor *, node->n_in + 1);
    enum odb_status status = ODB_OK;
    for (int i = 0; i < node->n_in && status == ODB_OK; i++)
        status = simulate_operand(scope, node->in[i], in[i], &own[i], err);
    if (status == ODB_OK)
        status = cpu_node_compute(scope, index, (const struct odb_tensor *const *)own, 0, out, err);
    for (int o = 0; o < node->n_out && status == ODB_OK; o++) {
        int v = node->out[o];
        struct odb_tensor *t = out[o];
        if (v < 0 || !t || !scope->plan->cpu->encodings[v] || scope->simulated != ODB_SIMULATE_ALL)
            continue;
        status = simulate_round(scope, v, t, &out[o], err);
        odb_tensor_unref(t);
    }
    for (int o = 0; o < node->n_out && status != ODB_OK; o++) {
        odb_tensor_unref(out[o]);
        out[o] = NULL;
    }
    for (int i = 0; i < node->n_in; i++)
        odb_tensor_unref(own[i]);
    free(own);
    return status;
}
