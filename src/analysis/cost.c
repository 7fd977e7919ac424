/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cost.h"

#include "analysis/cost_int.h"

#include <stdlib.h>
#include <string.h>

#include "interpret/cpu.h"
#include "kernels/core/facts.h"

/* False where a shape that it needs is not known, or is none that the operator takes. */
typedef bool (*cost_fn)(struct cost_call *c);

/* NULL: left out, or not known. */
static const struct odb_shape *cost_shape(const struct cost_call *c, const int *list, int n, int i)
{
    if (i < 0 || i >= n || list[i] == ODB_NO_VALUE)
        return NULL;
    const struct odb_shape *shape = &c->shapes->values[list[i]];
    return shape->known ? shape : NULL;
}

const struct odb_shape *cost_in(const struct cost_call *c, int i)
{
    return cost_shape(c, c->node->in, c->node->n_in, i);
}

const struct odb_shape *cost_out(const struct cost_call *c, int i)
{
    return cost_shape(c, c->node->out, c->node->n_out, i);
}

bool cost_has(const struct cost_call *c, int i)
{
    return i < c->node->n_in && c->node->in[i] != ODB_NO_VALUE;
}

int64_t cost_attr(const struct cost_call *c, const char *name, int64_t fallback)
{
    const struct odb_attr *attr = odb_attrs_find(&c->node->attrs, name);
    return attr ? attr->i : fallback;
}

bool cost_says(const struct cost_call *c, const char *name, const char *fallback, const char *word)
{
    const struct odb_attr *attr = odb_attrs_find(&c->node->attrs, name);
    if (!attr)
        return !strcmp(fallback, word);
    return attr->s.len == strlen(word) && !memcmp(attr->s.data, word, attr->s.len);
}

static uint64_t cost_bias(const struct cost_call *c, uint64_t elements)
{
    return c->bias && cost_has(c, c->bias) ? elements : 0;
}

uint64_t cost_dims(const struct odb_shape *shape, int from)
{
    uint64_t n = 1;
    for (int i = from; i < shape->rank; i++)
        n *= (uint64_t)shape->dims[i];
    return n;
}

/* x (N, C, …), w (M, C/group, k…), out (N, M, …): every output is a sum over C/group and k. */
static bool cost_conv(struct cost_call *c)
{
    const struct odb_shape *w = cost_in(c, c->b), *out = cost_out(c, 0);
    if (!w || !out || w->rank < 3)
        return false;
    c->macs = odb_shape_count(out) * cost_dims(w, 1);
    c->flops = 2 * c->macs + cost_bias(c, odb_shape_count(out));
    return true;
}

/* x (N, C, …), w (C, M/group, k…): every input goes with M/group and k into the output. */
static bool cost_conv_transpose(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, c->a), *w = cost_in(c, c->b), *out = cost_out(c, 0);
    if (!x || !w || !out || w->rank < 3)
        return false;
    c->macs = odb_shape_count(x) * cost_dims(w, 1);
    c->flops = 2 * c->macs + cost_bias(c, odb_shape_count(out));
    return true;
}

/* a (…, K) by (…, K, N), or vectors of K. */
static bool cost_matmul(struct cost_call *c)
{
    const struct odb_shape *a = cost_in(c, c->a), *out = cost_out(c, 0);
    const struct odb_attr *transposed = odb_attrs_find(&c->node->attrs, "transA");
    if (!a || !out || a->rank < 1)
        return false;
    int k = transposed && transposed->i && a->rank > 1 ? a->rank - 2 : a->rank - 1;
    c->macs = odb_shape_count(out) * (uint64_t)a->dims[k];
    c->flops = 2 * c->macs + cost_bias(c, odb_shape_count(out));
    return true;
}

/* x (T, batch, I) in either order, w (dirs, gates*H, I), r (dirs, gates*H, H), bias (dirs,
 * 2*gates*H): each step is both products, two biases and a function for each gate, and where there
 * are several gates, five operations for each of H to put them together. */
static bool cost_recurrent(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0), *w = cost_in(c, 1), *r = cost_in(c, 2);
    if (!x || !w || !r || x->rank != 3 || w->rank != 3 || r->rank != 3)
        return false;
    uint64_t steps = (uint64_t)x->dims[0] * (uint64_t)x->dims[1];
    uint64_t gates = (uint64_t)(w->dims[0] * w->dims[1]), hidden = (uint64_t)r->dims[2];
    uint64_t join = gates > (uint64_t)w->dims[0] * hidden ? 5 * (uint64_t)w->dims[0] * hidden : 0;
    c->macs = steps * (odb_shape_count(w) + odb_shape_count(r));
    c->flops = 2 * c->macs + steps * (gates + cost_bias(c, 2 * gates) + join);
    return true;
}

/* One turn for each value that the letters take together; as many products in it as operands less
 * one. "..." has no letters to count: no number. */
static bool cost_einsum(struct cost_call *c)
{
    const struct odb_attr *equation = odb_attrs_find(&c->node->attrs, "equation");
    uint64_t turns = 1;
    int64_t sizes[128] = {0};
    int input = 0, axis = 0;
    if (!equation || !cost_out(c, 0))
        return false;
    for (size_t i = 0; i < equation->s.len; i++) {
        unsigned char letter = (unsigned char)equation->s.data[i];
        const struct odb_shape *shape = cost_in(c, input);
        if (letter == '-')
            break;
        if (letter == ' ')
            continue;
        if (letter == ',') {
            input++;
            axis = 0;
            continue;
        }
        if (letter >= 128 || letter == '.' || !shape || axis >= shape->rank)
            return false;
        int64_t size = shape->dims[axis++];
        turns *= sizes[letter] ? 1 : (uint64_t)size;
        sizes[letter] = size ? size : 1;
    }
    c->macs = input > 0 ? turns * (uint64_t)input : 0;
    /* of one operand: a sum, or a move where every letter is in the output */
    c->flops = input > 0 ? 2 * c->macs : turns > odb_shape_count(cost_out(c, 0)) ? turns : 0;
    return true;
}

/* Quantised weights (N, blocks, bytes) of a matrix (K, N), described by attributes. */
static bool cost_matmul_bits(struct cost_call *c)
{
    const struct odb_attr *k = odb_attrs_find(&c->node->attrs, "K");
    if (!k || !cost_out(c, 0))
        return false;
    c->macs = odb_shape_count(cost_out(c, 0)) * (uint64_t)k->i;
    c->flops = 2 * c->macs + cost_bias(c, odb_shape_count(cost_out(c, 0)));
    return true;
}

/* a: operations per element of the output, where that is a float. */
static bool cost_per_output(struct cost_call *c)
{
    const struct odb_shape *out = cost_out(c, 0);
    if (out && odb_dtype_is_float(out->dtype))
        c->flops = odb_shape_count(out) * (uint64_t)c->a;
    return out != NULL;
}

/* The same of the first input: reductions, and what looks at its input several times. */
static bool cost_per_input(struct cost_call *c)
{
    const struct odb_shape *in = cost_in(c, 0);
    if (in && odb_dtype_is_float(in->dtype))
        c->flops = odb_shape_count(in) * (uint64_t)c->a;
    return in != NULL;
}

static bool cost_softmax(struct cost_call *c)
{
    c->a = COST_SOFTMAX;
    return cost_per_input(c);
}

/* Sum, Mean, Max, Min: one operation for each operand after the first. */
static bool cost_per_operand(struct cost_call *c)
{
    c->a = c->node->n_in - 1;
    return cost_per_output(c);
}

/* One operation for each element of the window. */
static bool cost_pool(struct cost_call *c)
{
    const struct odb_attr *kernel = odb_attrs_find(&c->node->attrs, "kernel_shape");
    c->a = 1;
    for (size_t i = 0; kernel && i < kernel->n; i++)
        c->a *= (int)kernel->ints[i];
    return kernel && cost_per_output(c);
}

/* A square for each element, a sum over size channels, and factor, bias, power and quotient. */
static bool cost_lrn(struct cost_call *c)
{
    c->a = (int)cost_attr(c, "size", 0) + 4;
    return c->a > 4 && cost_per_output(c);
}

/* nearest moves. Else every element is a sum of products over two (linear) or four (cubic)
 * neighbours along each axis that changes; their weights, the same for all rows, are not counted.
 * How many neighbours antialiasing takes depends on scales that shapes do not tell. */
static bool cost_resize(struct cost_call *c)
{
    const struct odb_shape *in = cost_in(c, 0), *out = cost_out(c, 0);
    bool cubic = cost_says(c, "mode", "nearest", "cubic");
    uint64_t n = 1;
    if (!in || !out || in->rank != out->rank)
        return false;
    if (!cubic && !cost_says(c, "mode", "nearest", "linear") &&
        !cost_says(c, "mode", "nearest", "bilinear"))
        return true;
    if (cost_attr(c, "antialias", 0) ||
        cost_says(c, "coordinate_transformation_mode", "", "tf_crop_and_resize"))
        return false;
    for (int i = 0; i < in->rank; i++)
        n *= in->dims[i] == out->dims[i] ? 1 : cubic ? 4 : 2;
    if (n > 1 && odb_dtype_is_float(out->dtype))
        c->flops = odb_shape_count(out) * (2 * n - 1);
    return true;
}

/* Exact, and yet work whose amount depends on data. */
static bool cost_depends(struct cost_call *c)
{
    (void)c;
    return false;
}

/* a, and b more where the third input is given. */
static bool cost_per_input_with(struct cost_call *c)
{
    c->a += cost_has(c, c->bias) ? c->b : 0;
    return cost_per_input(c);
}

static const cost_fn cost_formulas[ODB_WORK_COUNT] = {
#define COST_FORMULA(name) [ODB_WORK_##name] = cost_##name,
    ODB_WORKS(COST_FORMULA)
#undef COST_FORMULA
};

static bool cost_has_body(const struct odb_node *node)
{
    for (size_t a = 0; a < node->attrs.n; a++)
        if (node->attrs.items[a].graphs)
            return true;
    return node->function != NULL;
}

/* Work by the operator's formula; what is exact and has none moves, selects or compares. */
static void cost_work(struct odb_cost *out, const struct odb_graph *graph,
                      const struct odb_node *node, const struct odb_shapes *shapes,
                      const struct odb_op *op)
{
    const struct odb_work *work = &odb_facts_of(node->domain, node->op_type)->work;
    struct cost_call call = {.graph = graph,
                             .node = node,
                             .shapes = shapes,
                             .a = work->a,
                             .b = work->b,
                             .bias = work->bias};
    if (work->kind && !node->function) {
        out->known = cost_formulas[work->kind](&call);
        out->macs = call.macs;
        out->flops = call.flops;
    } else {
        out->known = op && (op->flags & ODB_OP_EXACT) && !cost_has_body(node);
    }
}

static void cost_traffic(struct odb_cost *out, const struct odb_graph *graph,
                         const struct odb_node *node, const struct odb_shapes *shapes)
{
    out->sized = true;
    for (size_t i = 0; i < odb_node_n_reads(node); i++) {
        int v = odb_node_reads(node, i);
        out->sized = out->sized && (v < 0 || shapes->values[v].known);
        if (v >= 0)
            *(graph->values[v].init ? &out->weights : &out->reads) +=
                odb_shape_bytes(&shapes->values[v]);
    }
    for (int o = 0; o < node->n_out; o++) {
        int v = node->out[o];
        out->sized = out->sized && (v < 0 || shapes->values[v].known);
        if (v >= 0)
            out->writes += odb_shape_bytes(&shapes->values[v]);
    }
}

/* A value is there from its node to its last reader, an output to the end, an input from the
 * beginning. */
static void cost_peak(struct odb_cost_sum *sum, const struct odb_graph *graph,
                      const struct odb_shapes *shapes)
{
    int64_t *change = odb_new_n(int64_t, graph->n_nodes + 2);
    sum->peak_node = ODB_NO_NODE;
    for (size_t v = 0; v < graph->n_values; v++) {
        const struct odb_value *value = &graph->values[v];
        if (value->init || (value->producer == ODB_NO_NODE && !value->is_input))
            continue;
        int64_t bytes = (int64_t)odb_shape_bytes(&shapes->values[v]);
        size_t from = value->producer == ODB_NO_NODE ? 0 : (size_t)value->producer;
        size_t last = value->n_consumers ? (size_t)value->consumers[value->n_consumers - 1] : from;
        change[from] += bytes;
        change[(value->is_output ? graph->n_nodes : last) + 1] -= bytes;
        if (value->producer != ODB_NO_NODE) {
            sum->activations += (uint64_t)bytes;
            sum->sizeless += !shapes->values[v].known;
        }
    }
    int64_t live = 0;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        live += change[n];
        if ((uint64_t)live > sum->peak) {
            sum->peak = (uint64_t)live;
            sum->peak_node = (int)n;
        }
    }
    free(change);
}

void odb_cost_model(struct odb_cost **nodes, struct odb_cost_sum *sum,
                    const struct odb_model *model, const struct odb_shapes *shapes)
{
    const struct odb_graph *graph = model->graph;
    struct odb_cpu *cpu = NULL;
    *sum = (struct odb_cost_sum){0};
    *nodes = odb_new_n(struct odb_cost, graph->n_nodes + 1);
    if (odb_cpu_new(&cpu, model, NULL) != ODB_OK)
        cpu = NULL;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        struct odb_cost *cost = &(*nodes)[n];
        const struct odb_node *node = &graph->nodes[n];
        cost_work(cost, graph, node, shapes, cpu ? odb_cpu_op(cpu, (int)n) : NULL);
        cost_traffic(cost, graph, node, shapes);
        sum->macs += cost->macs;
        sum->flops += cost->flops;
        sum->unknown += !cost->known;
        sum->bodies += !cost->known && cost_has_body(node);
    }
    for (size_t v = 0; v < graph->n_values; v++)
        if (graph->values[v].init && graph->values[v].producer == ODB_NO_NODE) {
            sum->parameters += odb_shape_count(&shapes->values[v]);
            sum->parameter_bytes += odb_shape_bytes(&shapes->values[v]);
        }
    cost_peak(sum, graph, shapes);
    odb_cpu_free(cpu);
}
