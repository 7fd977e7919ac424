/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which whole numbers an input takes, where a reader proves it: what indexes a table ends where the
 * table does. Nothing is guessed from names.
 */
#include <string.h>

#include "inputs/choice_int.h"
#include "tensor/attr.h"

/* What hands its first input's numbers on as they are, in whatever shape. */
static const char *const choice_passes[] = {"Cast",    "Identity",  "Reshape", "Unsqueeze",
                                            "Squeeze", "Transpose", "Flatten", NULL};

/* Operators that index a weight: which input is the index, and which the table; -1: along the axis
 * of the attribute. */
static const struct {
    const char *domain, *op_type;
    int index, table, axis;
} choice_tables[] = {
    {"", "Gather", 1, 0, -1},
    {"com.microsoft", "EmbedLayerNormalization", 0, 2, 0},
    {"com.microsoft", "EmbedLayerNormalization", 1, 4, 0},
    {"com.microsoft", "GatherBlockQuantized", 1, 0, 0},
};

static bool choice_is_pass(const struct odb_node *node)
{
    for (size_t i = 0; choice_passes[i]; i++)
        if (!node->domain[0] && !strcmp(node->op_type, choice_passes[i]))
            return true;
    return false;
}

/* The weight behind a value, through what keeps its shape. */
static const struct odb_tensor *choice_weight(const struct odb_graph *graph, int value)
{
    for (int depth = 0; value >= 0 && depth < 8; depth++) {
        const struct odb_value *v = &graph->values[value];
        if (v->init)
            return v->init;
        if (v->producer < 0)
            return NULL;
        const struct odb_node *node = &graph->nodes[v->producer];
        bool same = !node->domain[0] &&
                    (!strcmp(node->op_type, "Cast") || !strcmp(node->op_type, "Identity") ||
                     !strcmp(node->op_type, "DequantizeLinear"));
        value = same && node->n_in ? node->in[0] : ODB_NO_VALUE;
    }
    return NULL;
}

static int64_t choice_entries(const struct odb_graph *graph, const struct odb_node *node, int value)
{
    int64_t least = 0;
    for (size_t i = 0; i < ODB_COUNT(choice_tables); i++) {
        if (strcmp(node->domain, choice_tables[i].domain) ||
            strcmp(node->op_type, choice_tables[i].op_type))
            continue;
        int at = choice_tables[i].index, table = choice_tables[i].table;
        if (at >= node->n_in || table >= node->n_in || node->in[at] != value)
            continue;
        const struct odb_tensor *t = choice_weight(graph, node->in[table]);
        const struct odb_attr *attr = odb_attrs_find(&node->attrs, "axis");
        int64_t axis = choice_tables[i].axis >= 0 ? choice_tables[i].axis : attr ? attr->i : 0;
        if (!t)
            continue;
        axis += axis < 0 ? t->rank : 0;
        if (axis >= 0 && axis < t->rank && t->dims[axis] > 0 && (!least || t->dims[axis] < least))
            least = t->dims[axis];
    }
    return least;
}

static int64_t choice_follow(const struct odb_graph *graph, int value, int depth)
{
    const struct odb_value *v = &graph->values[value];
    int64_t least = 0;
    for (size_t i = 0; i < v->n_consumers && depth < 8; i++) {
        const struct odb_node *node = &graph->nodes[v->consumers[i]];
        int64_t n = choice_entries(graph, node, value);
        if (!n && choice_is_pass(node) && node->n_in && node->in[0] == value && node->n_out &&
            node->out[0] >= 0)
            n = choice_follow(graph, node->out[0], depth + 1);
        if (n && (!least || n < least))
            least = n;
    }
    return least;
}

/* Whether the sum of a mask is the length that GroupQueryAttention takes of each row: it holds for
 * nothing but ones where every token counts. */
static bool choice_is_length(const struct odb_graph *graph, int value, bool summed, int depth)
{
    const struct odb_value *v = &graph->values[value];
    for (size_t i = 0; i < v->n_consumers && depth < 8; i++) {
        const struct odb_node *node = &graph->nodes[v->consumers[i]];
        bool sum = !strcmp(node->op_type, "ReduceSum");
        if (summed && !strcmp(node->op_type, "GroupQueryAttention") && node->n_in > 5 &&
            node->in[5] == value)
            return true;
        if ((sum || choice_is_pass(node) || !strcmp(node->op_type, "Sub")) && node->n_in &&
            node->in[0] == value && node->n_out && node->out[0] >= 0 &&
            choice_is_length(graph, node->out[0], summed || sum, depth + 1))
            return true;
    }
    return false;
}

/* Numbers of which an operator takes few, whatever the model. */
static const struct {
    const char *op_type; /* of com.microsoft */
    int input;
    int64_t lo, hi;
} choice_numbers[] = {
    {"BeamSearch", 1, 16, 16},   {"BeamSearch", 2, 0, 1},   {"BeamSearch", 3, 2, 2},
    {"BeamSearch", 4, 1, 1},     {"BeamSearch", 5, 1, 1},   {"BeamSearch", 6, 1, 1},
    {"GreedySearch", 1, 16, 16}, {"GreedySearch", 2, 0, 1}, {"GreedySearch", 3, 1, 1},
    {"Sampling", 1, 16, 16},     {"Sampling", 2, 0, 1},     {"Sampling", 3, 1, 1},
};

static bool choice_number_of(const struct odb_graph *graph, int value, int64_t *lo, int64_t *hi)
{
    const struct odb_value *v = &graph->values[value];
    for (size_t k = 0; k < v->n_consumers; k++) {
        const struct odb_node *node = &graph->nodes[v->consumers[k]];
        for (size_t i = 0; i < ODB_COUNT(choice_numbers); i++)
            if (!strcmp(node->domain, "com.microsoft") &&
                !strcmp(node->op_type, choice_numbers[i].op_type) &&
                choice_numbers[i].input < node->n_in &&
                node->in[choice_numbers[i].input] == value) {
                *lo = choice_numbers[i].lo;
                *hi = choice_numbers[i].hi;
                return true;
            }
    }
    return false;
}

bool choice_is_trips(const struct odb_model *model, int value)
{
    const struct odb_value *v = &model->graph->values[value];
    for (size_t k = 0; k < v->n_consumers; k++) {
        const struct odb_node *node = &model->graph->nodes[v->consumers[k]];
        if (!node->domain[0] && !strcmp(node->op_type, "Loop") && node->n_in &&
            node->in[0] == value)
            return true;
    }
    return false;
}

bool choice_range_of(const struct odb_model *model, int value, int64_t *lo, int64_t *hi)
{
    const struct odb_type *type = &model->graph->values[value].type;
    if (!type->known || type->kind != ODB_TENSOR || type->dtype == ODB_STRING)
        return false;
    if (choice_number_of(model->graph, value, lo, hi))
        return true;
    bool whole = type->dtype == ODB_I32 || type->dtype == ODB_I64;
    *lo = *hi = 1;
    if (whole && choice_is_length(model->graph, value, false, 0))
        return true;
    *lo = 0;
    *hi = whole ? choice_follow(model->graph, value, 0) - 1 : -1;
    return *hi >= 0;
}
