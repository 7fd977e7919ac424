/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibration/calibrate_int.h"

/* What operators have to do with encodings. */
enum plan_kind {
    PLAN_PRODUCT = 1, /* input 1 is a weight, and input 2 a bias */
    PLAN_FUSES = 2,   /* with the node before it */
    PLAN_MOVES = 4,   /* input 0, without computing */
    PLAN_TAKES = 8,   /* any input may be a constant that is computed with */
};

static unsigned plan_kind(const struct odb_node *node)
{
    static const struct {
        const char *op;
        unsigned kind;
    } rows[] = {
        {"Conv", PLAN_PRODUCT},
        {"ConvTranspose", PLAN_PRODUCT},
        {"Gemm", PLAN_PRODUCT},
        {"MatMul", PLAN_PRODUCT},
        {"Relu", PLAN_FUSES},
        {"Clip", PLAN_FUSES},
        {"BatchNormalization", PLAN_FUSES},
        {"Reshape", PLAN_MOVES},
        {"Flatten", PLAN_MOVES},
        {"Transpose", PLAN_MOVES},
        {"Squeeze", PLAN_MOVES},
        {"Unsqueeze", PLAN_MOVES},
        {"Identity", PLAN_MOVES},
        {"MaxPool", PLAN_MOVES},
        {"Slice", PLAN_MOVES},
        {"Split", PLAN_MOVES},
        {"Dropout", PLAN_MOVES},
        {"Expand", PLAN_MOVES},
        {"Tile", PLAN_MOVES},
        {"DepthToSpace", PLAN_MOVES},
        {"SpaceToDepth", PLAN_MOVES},
        {"Gather", PLAN_MOVES},
        {"Add", PLAN_TAKES},
        {"Sub", PLAN_TAKES},
        {"Mul", PLAN_TAKES},
        {"Div", PLAN_TAKES},
        {"PRelu", PLAN_TAKES},
        {"Concat", PLAN_TAKES},
        {"Max", PLAN_TAKES},
        {"Min", PLAN_TAKES},
    };
    for (size_t i = 0; i < ODB_COUNT(rows) && !node->domain[0]; i++)
        if (!strcmp(rows[i].op, node->op_type))
            return rows[i].kind;
    return 0;
}

int calibrate_axis(const struct odb_node *node, int rank)
{
    const struct odb_attr *trans = odb_attrs_find(&node->attrs, "transB");
    if (!strcmp(node->op_type, "Conv"))
        return 0;
    if (!strcmp(node->op_type, "Gemm"))
        return trans && trans->i ? 0 : 1;
    if (!strcmp(node->op_type, "MatMul"))
        return rank == 2 ? 1 : ODB_ENCODING_NO_AXIS;
    return ODB_ENCODING_NO_AXIS; /* ConvTranspose, whose groups share the axis */
}

const struct odb_tensor *calibrate_constant(const struct odb_graph *graph, int value)
{
    const struct odb_value *v = &graph->values[value];
    const struct odb_node *node = v->producer == ODB_NO_NODE ? NULL : &graph->nodes[v->producer];
    if (!node)
        return v->init;
    if (node->domain[0] || strcmp(node->op_type, "Constant") != 0)
        return NULL;
    const struct odb_attr *attr = odb_attrs_find(&node->attrs, "value");
    return attr && attr->n == 1 && attr->tensors ? attr->tensors[0] : NULL;
}

/* A constant at input i of a node: a weight, a bias, or a number that is computed with. */
static enum calibrate_fate plan_constant(const struct odb_node *node, int i, unsigned kind)
{
    if (kind & PLAN_PRODUCT)
        return i == 1 ? CALIBRATE_WEIGHT : i == 2 ? CALIBRATE_BIAS : CALIBRATE_OWN;
    if (kind & PLAN_TAKES || (kind & PLAN_MOVES && i == 0))
        return CALIBRATE_OWN;
    return CALIBRATE_NONE;
}

static void plan_constants(struct calibrate_plan *plan, const struct odb_graph *graph,
                           const bool *kept)
{
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (int i = 0; i < graph->nodes[n].n_in; i++) {
            int v = graph->nodes[n].in[i];
            const struct odb_tensor *t = v < 0 ? NULL : calibrate_constant(graph, v);
            if (!t || kept[v] || t->kind != ODB_TENSOR || t->dtype != ODB_F32 ||
                plan->fate[v] == CALIBRATE_OWN)
                continue;
            enum calibrate_fate fate =
                plan_constant(&graph->nodes[n], i, plan_kind(&graph->nodes[n]));
            if (plan->fate[v] != CALIBRATE_NONE && plan->fate[v] != fate)
                fate = CALIBRATE_OWN; /* of several uses: one scale by its range */
            plan->fate[v] = fate;
            plan->of[v] = (int)n;
        }
}

/* The node's result is read by one node alone, which fuses with it. */
static bool plan_fused(const struct odb_graph *graph, const int *readers, const int *reader, int v)
{
    const struct odb_value *value = &graph->values[v];
    if (value->is_output || readers[v] != 1 || value->producer == ODB_NO_NODE)
        return false;
    const struct odb_node *by = &graph->nodes[reader[v]];
    unsigned made = plan_kind(&graph->nodes[value->producer]);
    bool computes = made & (PLAN_PRODUCT | PLAN_TAKES) ||
                    !strcmp(graph->nodes[value->producer].op_type, "BatchNormalization");
    return computes && (plan_kind(by) & PLAN_FUSES) && by->in[0] == v;
}

void calibrate_plan(struct calibrate_plan *plan, const struct odb_graph *graph, const bool *kept)
{
    int *readers = odb_new_n(int, graph->n_values + 1),
        *reader = odb_new_n(int, graph->n_values + 1);
    plan->fate = odb_new_n(enum calibrate_fate, graph->n_values + 1);
    plan->of = odb_new_n(int, graph->n_values + 1);
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (size_t i = 0; i < odb_node_n_reads(&graph->nodes[n]); i++) {
            int v = odb_node_reads(&graph->nodes[n], i);
            if (v < 0)
                continue;
            readers[v]++;
            reader[v] = (int)n;
        }
    plan_constants(plan, graph, kept);
    for (size_t i = 0; i < graph->n_inputs; i++) {
        int v = graph->inputs[i];
        if (!graph->values[v].init && !kept[v])
            plan->fate[v] = CALIBRATE_OWN;
    }
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const struct odb_node *node = &graph->nodes[n];
        int from = node->n_in ? node->in[0] : -1;
        bool moves = (plan_kind(node) & PLAN_MOVES) && from >= 0;
        for (int o = 0; o < node->n_out; o++) {
            int v = node->out[o];
            if (v < 0 || kept[v] || calibrate_constant(graph, v))
                continue;
            plan->fate[v] = plan_fused(graph, readers, reader, v) ? CALIBRATE_FUSED : CALIBRATE_OWN;
            if (moves &&
                (plan->fate[from] == CALIBRATE_OWN || plan->fate[from] == CALIBRATE_SHARED)) {
                plan->fate[v] = CALIBRATE_SHARED;
                plan->of[v] = from;
            }
        }
    }
    free(readers);
    free(reader);
}

void calibrate_plan_dispose(struct calibrate_plan *plan)
{
    free(plan->fate);
    free(plan->of);
}
