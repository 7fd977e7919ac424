/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs that an operator tells: an input of the model that reaches the slot of a state, through
 * what only moves numbers, and an output that comes from the slot of the same state behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "sequence/plan/plan_int.h"

#define SLOT_DEEP 24 /* nodes on a way */

/* Operators with a state: which input it comes in by, which output it leaves by. */
static const struct slot_row {
    const char *domain, *op;
    int in, out;
    enum odb_carry_kind kind;
} slot_rows[] = {
    {"", "LSTM", 5, 1, ODB_CARRY_REPLACE},
    {"", "LSTM", 6, 2, ODB_CARRY_REPLACE},
    {"", "GRU", 5, 1, ODB_CARRY_REPLACE},
    {"", "RNN", 5, 1, ODB_CARRY_REPLACE},
    {"", "Attention", 4, 1, ODB_CARRY_APPEND},
    {"", "Attention", 5, 2, ODB_CARRY_APPEND},
    {"", "TensorScatter", 0, 0, ODB_CARRY_PUT},
    {"", "LinearAttention", 3, 1, ODB_CARRY_REPLACE},
    {"", "CausalConvWithState", 3, 1, ODB_CARRY_REPLACE},
    {"", "Concat", 0, 0, ODB_CARRY_APPEND},
    {"com.microsoft", "Attention", 4, 1, ODB_CARRY_APPEND},
    {"com.microsoft", "QAttention", 8, 1, ODB_CARRY_APPEND},
    {"com.microsoft", "MultiHeadAttention", 6, 1, ODB_CARRY_APPEND},
    {"com.microsoft", "MultiHeadAttention", 7, 2, ODB_CARRY_APPEND},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 5, 1, ODB_CARRY_APPEND},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 6, 2, ODB_CARRY_APPEND},
    {"com.microsoft", "GroupQueryAttention", 3, 1, ODB_CARRY_APPEND},
    {"com.microsoft", "GroupQueryAttention", 4, 2, ODB_CARRY_APPEND},
};

/* What moves numbers and changes none. */
static bool slot_moves(const struct odb_node *node)
{
    static const char *const ops[] = {"Cast",      "Identity", "Squeeze", "Unsqueeze", "Reshape",
                                      "Transpose", "Slice",    "Gather",  "Split"};
    for (size_t i = 0; i < ODB_COUNT(ops); i++)
        if (!*node->domain && !strcmp(node->op_type, ops[i]))
            return true;
    return false;
}

/* The states that a value reaches: the rows of slot_rows, one bit each, by node. */
struct slot_reach {
    const struct odb_graph *graph;
    uint32_t *rows; /* [n_nodes] */
};

static const struct slot_row *slot_row(size_t row, const struct odb_node *node)
{
    const struct slot_row *r = &slot_rows[row];
    return !strcmp(node->domain, r->domain) && !strcmp(node->op_type, r->op) ? r : NULL;
}

static void slot_reach(const struct slot_reach *reach, int value, int deep)
{
    const struct odb_value *v = &reach->graph->values[value];
    for (size_t c = 0; c < v->n_consumers && deep < SLOT_DEEP; c++) {
        const struct odb_node *node = &reach->graph->nodes[v->consumers[c]];
        for (size_t r = 0; r < ODB_COUNT(slot_rows); r++) {
            const struct slot_row *row = slot_row(r, node);
            if (row && row->in < node->n_in && node->in[row->in] == value)
                reach->rows[node->index] |= 1u << r;
        }
        for (int o = 0; o < node->n_out && slot_moves(node) && node->in[0] == value; o++)
            if (node->out[o] != ODB_NO_VALUE)
                slot_reach(reach, node->out[o], deep + 1);
    }
}

/* The state that an output comes from, back through what moves numbers: whether the input reached
 * it. */
static const struct slot_row *slot_from(const struct slot_reach *reach, int value, int deep,
                                        int *at)
{
    const struct odb_value *v = &reach->graph->values[value];
    if (v->producer == ODB_NO_NODE || deep >= SLOT_DEEP)
        return NULL;
    const struct odb_node *node = &reach->graph->nodes[v->producer];
    for (size_t r = 0; r < ODB_COUNT(slot_rows); r++) {
        const struct slot_row *row = slot_row(r, node);
        if (row && row->out == v->slot && reach->rows[node->index] & 1u << r) {
            *at = node->index;
            return row;
        }
    }
    bool joins = !*node->domain && !strcmp(node->op_type, "Concat");
    for (int i = 0; i < node->n_in && (i == 0 ? slot_moves(node) || joins : joins); i++) {
        const struct slot_row *row =
            node->in[i] == ODB_NO_VALUE ? NULL : slot_from(reach, node->in[i], deep + 1, at);
        if (row)
            return row;
    }
    return NULL;
}

/* The axis of a Concat that an input is the first of, and whose result is the output as it is; -1:
 * it is no such thing, or that axis is fixed. */
static int slot_joined(const struct odb_graph *graph, const struct odb_value *input, int output,
                       const struct odb_node *join)
{
    const struct odb_attr *axis = odb_attrs_find(&join->attrs, "axis");
    const struct odb_node *from = &graph->nodes[graph->values[output].producer];
    int rank = input->type.rank;
    if (!strcmp(from->op_type, "Identity") && graph->values[from->in[0]].producer != ODB_NO_NODE)
        from = &graph->nodes[graph->values[from->in[0]].producer];
    if (from != join || join->in[0] != input->index || !axis || axis->type != ODB_ATTR_INT)
        return -1;
    int64_t at = axis->i < 0 ? axis->i + rank : axis->i;
    return at >= 0 && at < rank && input->type.dims[at].value < 0 ? (int)at : -1;
}

/* The axis of a state that grows where shapes do not tell: that of a Concat; keys and values are
 * [B,H,P,D], those of one tensor [2,B,H,P,D]. */
static int slot_axis(const struct odb_graph *graph, const struct odb_value *input, int output,
                     int axis, int at, const struct slot_row *row)
{
    if (row->kind != ODB_CARRY_APPEND || axis >= 0)
        return row->kind == ODB_CARRY_APPEND ? axis : -1;
    int rank = input->type.rank;
    if (!strcmp(row->op, "Concat"))
        return slot_joined(graph, input, output, &graph->nodes[at]);
    bool attention = rank == 4 || rank == 5;
    return attention && input->type.dims[rank - 2].value < 0 ? rank - 2 : -1;
}

static void slot_pair(struct odb_plan *plan, size_t i, int output, int axis, int at,
                      const struct slot_row *row)
{
    const struct odb_graph *graph = plan->model->graph;
    const struct odb_value *input = &graph->values[plan->inputs.items[i].value];
    struct odb_buf why = ODB_BUF_INIT;
    odb_buf_puts(&why, "a state of ");
    odb_node_put(graph, at, &why);
    plan_carry(plan, i, output, ODB_BY_SLOT, slot_axis(graph, input, output, axis, at, row),
               odb_buf_take(&why));
    bool fixed = row->kind == ODB_CARRY_APPEND && strcmp(row->op, "Concat") != 0 &&
                 plan->inputs.items[i].axis < 0; /* in a buffer of a fixed length */
    if (row->kind == ODB_CARRY_PUT || fixed)
        plan->inputs.items[i].kind = ODB_CARRY_PUT;
}

void plan_find_slots(struct odb_plan *plan)
{
    const struct odb_graph *graph = plan->model->graph;
    struct slot_reach reach = {graph, odb_new_n(uint32_t, graph->n_nodes + 1)};
    for (size_t i = 0; i < plan->inputs.n; i++) {
        const struct odb_value *input = &graph->values[plan->inputs.items[i].value];
        memset(reach.rows, 0, graph->n_nodes * sizeof *reach.rows);
        slot_reach(&reach, input->index, 0);
        for (size_t o = 0; o < graph->n_outputs; o++) {
            int axis, at = ODB_NO_NODE, output = graph->outputs[o];
            if (plan_is_carried(plan, output) || plan->inputs.items[i].move == ODB_MOVE_CARRY ||
                !plan_fits(plan, input, &graph->values[output], &axis))
                continue;
            const struct slot_row *row = slot_from(&reach, output, 0, &at);
            if (row)
                slot_pair(plan, i, output, axis, at, row);
        }
    }
    free(reach.rows);
}
