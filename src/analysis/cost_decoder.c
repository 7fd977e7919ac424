/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work of what newer decoders are made of: experts, recurrences with a matrix as their state,
 * convolutions along a sequence, and products with packed weights.
 */
#include "analysis/cost_int.h"

#include <string.h>

/* Tokens, scores (tokens, experts); a: first matrices (experts, rows, hidden), b: second ones
 * (experts, hidden, inner), bias: third ones. Each token goes through k experts. */
bool cost_experts(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0), *scores = cost_in(c, 1);
    const struct odb_shape *first = cost_in(c, c->a), *second = cost_in(c, c->b);
    if (!x || !scores || !first || !second || !x->rank || !scores->rank || first->rank != 3 ||
        second->rank != 3)
        return false;
    bool packed = second->dtype == ODB_U8;
    int64_t bits = packed ? cost_attr(c, "expert_weight_bits", 4) : 8;
    if (bits < 1 || bits > 8)
        return false;
    uint64_t hidden = (uint64_t)x->dims[x->rank - 1];
    uint64_t inner = (uint64_t)second->dims[2] * (uint64_t)(8 / bits);
    uint64_t each =
        ((uint64_t)first->dims[1] + inner + (cost_has(c, c->bias) ? inner : 0)) * hidden;
    c->macs = (uint64_t)scores->dims[0] * (uint64_t)cost_attr(c, "k", 1) * each;
    c->flops = 2 * c->macs;
    return true;
}

/* Queries (batch, steps, heads * size) and values, or with the heads in a dimension of their own:
 * for each step a state (keys by values) decays, is added to and read, and with a delta rule read
 * before that. */
bool cost_recurrence(struct cost_call *c)
{
    const struct odb_shape *q = cost_in(c, 0), *v = cost_in(c, 2);
    const struct odb_attr *rule = odb_attrs_find(&c->node->attrs, "update_rule");
    if (!q || !v || q->rank < 3 || v->rank != q->rank)
        return false;
    int lead = q->rank - (cost_attr(c, "q_num_heads", 0) ? 1 : 2);
    uint64_t heads =
        lead == q->rank - 1 ? (uint64_t)cost_attr(c, "q_num_heads", 1) : (uint64_t)q->dims[lead];
    uint64_t states =
        lead == q->rank - 1 ? (uint64_t)cost_attr(c, "kv_num_heads", 1) : (uint64_t)v->dims[lead];
    if (!heads || !states)
        return false;
    uint64_t size = cost_dims(q, lead) / heads, wide = cost_dims(v, lead) / states;
    uint64_t steps = cost_dims(q, 0) / (cost_dims(q, lead) ? cost_dims(q, lead) : 1);
    bool delta = !rule || (rule->s.len >= 5 && !memcmp(rule->s.data + rule->s.len - 5, "delta", 5));
    bool gated = !rule || (rule->s.len >= 5 && !memcmp(rule->s.data, "gated", 5));
    uint64_t passes = (heads > states ? heads : states) + states * (1 + delta);
    c->macs = steps * size * wide * passes;
    c->flops = 2 * c->macs + (gated ? steps * size * wide * states : 0);
    return true;
}

/* As many products for each element of the output as the weights' last dimension. */
bool cost_taps(struct cost_call *c)
{
    const struct odb_shape *w = cost_in(c, c->a), *out = cost_out(c, 0);
    if (!w || !w->rank || !out)
        return false;
    c->macs = odb_shape_count(out) * (uint64_t)w->dims[w->rank - 1];
    c->flops = 2 * c->macs + (cost_has(c, c->bias) ? odb_shape_count(out) : 0);
    return true;
}

/* Outputs (…, columns) of a vector as long as the attribute K, or as the last dimension of the
 * first input; a: products for each element of an output, b: how many outputs are products. */
bool cost_rows(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0);
    if (!x || !x->rank)
        return false;
    uint64_t inner = (uint64_t)cost_attr(c, "K", x->dims[x->rank - 1]);
    for (int o = 0; o < c->b; o++) {
        const struct odb_shape *out = cost_out(c, o);
        if (!out)
            return false;
        c->macs += odb_shape_count(out) * inner * (uint64_t)c->a;
    }
    c->flops = 2 * c->macs + (cost_has(c, c->bias) ? odb_shape_count(cost_out(c, 0)) : 0);
    return true;
}
