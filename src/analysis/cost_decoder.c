/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work of what newer decoders are made of: experts, recurrences with a matrix as their state,
 * convolutions along a sequence, and products that share a normalised operand. Definitions:
 *
 *   https://onnx.ai/onnx/operators/onnx__LinearAttention.html
 *   https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * Weights of a few bits count as the floats that they stand for: how often a runtime writes those
 * out is its own affair.
 */
#include "analysis/cost_int.h"

/* square, sum, quotient, factor: for each element that SimplifiedLayerNormalization looks at */
#define COST_RMS_NORM 4

/* --- MoE, QMoE -------------------------------------------------------------------------------- */

/* For each element between an expert's matrices: swiglu is a Swish, a sum and a product, the others
 * a function, and a product where there is a third matrix. */
static uint64_t experts_activation(const struct cost_call *c, bool third)
{
    const char *name = "activation_type";
    if (cost_says(c, name, "relu", "swiglu"))
        return 3;
    return !cost_says(c, name, "relu", "identity") + (uint64_t)third;
}

/* x (…, hidden), scores (tokens, experts), first matrices a (experts, rows, hidden), second ones b
 * (experts, hidden, inner), third ones `bias` as wide as the second; an input or two behind each,
 * before the next, its biases. A token goes through k experts:
 *
 *   MACs   first, second and third matrix
 *   FLOPs  their biases, the activation, and a product and a sum to add the expert's share up;
 *          for each token the softmax of its scores, unless the shares are an input, 14, of QMoE
 */
bool cost_experts(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0), *scores = cost_in(c, 1);
    const struct odb_shape *first = cost_in(c, c->a), *second = cost_in(c, c->b);
    if (!x || !scores || !first || !second || x->rank < 2 || scores->rank != 2 ||
        first->rank != 3 || second->rank != 3)
        return false;
    bool third = cost_has(c, c->bias);
    int bias = c->b - c->a - 1;
    int64_t bits = second->dtype == ODB_U8 ? cost_attr(c, "expert_weight_bits", 4) : 8;
    if (bits < 1 || 8 % bits)
        return false;
    uint64_t hidden = (uint64_t)x->dims[x->rank - 1], rows = (uint64_t)first->dims[1];
    uint64_t inner = (uint64_t)second->dims[2] * (uint64_t)(8 / bits);
    uint64_t tokens = (uint64_t)scores->dims[0], routes = tokens * (uint64_t)cost_attr(c, "k", 1);
    c->macs = routes * hidden * (rows + inner + (third ? inner : 0));
    uint64_t further = (cost_has(c, c->a + bias) ? rows : 0) +
                       (cost_has(c, c->b + bias) ? hidden : 0) +
                       (cost_has(c, c->bias + bias) ? inner : 0) +
                       inner * experts_activation(c, third) + 2 * hidden;
    c->flops = 2 * c->macs + routes * further;
    if (!cost_has(c, 14))
        c->flops += COST_SOFTMAX * odb_shape_count(scores);
    return true;
}

/* --- LinearAttention, GatedDeltaNet ----------------------------------------------------------- */

enum { RECURRENCE_Q, RECURRENCE_K, RECURRENCE_V, RECURRENCE_DECAY = 4, RECURRENCE_BETA };

/* Vectors of queries and of values: how many in all steps, and how long. */
struct recurrence {
    uint64_t queries, values, size, wide;
};

/* LinearAttention has (batch, steps, heads * size) and says how many heads there are,
 * GatedDeltaNet (…, heads, size). */
static bool recurrence_read(const struct cost_call *c, struct recurrence *r)
{
    const struct odb_shape *q = cost_in(c, RECURRENCE_Q), *v = cost_in(c, RECURRENCE_V);
    int64_t heads = cost_attr(c, "q_num_heads", 1), states = cost_attr(c, "kv_num_heads", 1);
    if (!q || !v || q->rank < 3 || v->rank != q->rank || heads < 1 || states < 1)
        return false;
    r->size = (uint64_t)(q->dims[q->rank - 1] / heads);
    r->wide = (uint64_t)(v->dims[v->rank - 1] / states);
    if (!r->size || !r->wide)
        return false;
    r->queries = odb_shape_count(q) / r->size;
    r->values = odb_shape_count(v) / r->wide;
    return true;
}

/* What GatedDeltaNet does to its operands first: queries and keys over their lengths (square, sum
 * and quotient of each element, a sum and a root of each vector), "qwen" a sum, Softplus and a
 * product for each exponent of the decay, and a sigmoid for each beta. */
static uint64_t recurrence_gates(const struct cost_call *c, const struct recurrence *r,
                                 uint64_t decays, uint64_t betas)
{
    uint64_t work = 0;
    if (cost_attr(c, "qk_l2_norm", 0))
        work += 2 * r->queries * (3 * r->size + 2);
    if (cost_says(c, "gate_activation", "none", "qwen"))
        work += 3 * decays;
    return work + (cost_says(c, "beta_activation", "none", "sigmoid") ? betas : 0);
}

/* A state is a matrix (size, wide) for each head of values. In each step
 *
 *   gated     it shrinks: a product for each element, and an exponential for each decay
 *   delta     it is read with the key: MACs; a difference and a product with beta for each value
 *             follow
 *   always    key times value is added to it: MACs
 *             it is read with each query that it has: MACs; a product with the scale follows
 *
 * Heads of queries may share a state, and states a query, which then reads each of them. */
bool cost_recurrence(struct cost_call *c)
{
    const struct odb_shape *decay = cost_in(c, RECURRENCE_DECAY),
                           *beta = cost_in(c, RECURRENCE_BETA);
    const char *rule = "update_rule", *usual = "gated_delta";
    bool both = cost_says(c, rule, usual, usual);
    bool gated = both || cost_says(c, rule, usual, "gated");
    bool delta = both || cost_says(c, rule, usual, "delta");
    struct recurrence r;
    if (!recurrence_read(c, &r) || (gated && !decay) || (delta && !beta))
        return false;
    uint64_t cells = r.size * r.wide, reads = r.queries > r.values ? r.queries : r.values;
    uint64_t decays = gated ? odb_shape_count(decay) : 0, betas = delta ? odb_shape_count(beta) : 0;
    c->macs = cells * (r.values * (1 + delta) + reads);
    c->flops = 2 * c->macs + (gated ? cells * r.values + decays : 0) +
               (delta ? 2 * r.wide * r.values : 0) + r.wide * reads +
               recurrence_gates(c, &r, decays, betas);
    return true;
}

/* --- CausalConvWithState ---------------------------------------------------------------------- */

/* Weights a (channels, 1, taps): as many products for each element of the output as there are taps,
 * then a bias and a Swish. */
bool cost_taps(struct cost_call *c)
{
    const struct odb_shape *w = cost_in(c, c->a), *out = cost_out(c, 0);
    if (!w || w->rank < 3 || !out)
        return false;
    uint64_t n = odb_shape_count(out);
    c->macs = n * cost_dims(w, 2);
    c->flops = 2 * c->macs + (cost_has(c, c->bias) ? n : 0) +
               (cost_says(c, "activation", "none", "none") ? 0 : n);
    return true;
}

/* --- MatMulNBitsMlp, MatMulNBitsQkv ----------------------------------------------------------- */

/* A (…, K), skip 1, norm_scale 2, then weights, scales and bias of each product: two of N columns
 * whose first goes through Swish and is multiplied with the second, or three of Nq, Nkv and Nkv.
 * Before them each element of A goes through a sum with skip and a normalisation. */
bool cost_fused_bits(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0);
    int64_t k = cost_attr(c, "K", 0), n = cost_attr(c, "N", 0);
    const int64_t columns[] = {n ? n : cost_attr(c, "Nq", 0), n ? n : cost_attr(c, "Nkv", 0),
                               n ? 0 : cost_attr(c, "Nkv", 0)};
    if (!x || k < 1)
        return false;
    uint64_t elements = odb_shape_count(x), rows = elements / (uint64_t)k;
    for (int i = 0; i < 3; i++) {
        c->macs += elements * (uint64_t)columns[i];
        c->flops += cost_has(c, 5 + 3 * i) ? rows * (uint64_t)columns[i] : 0;
    }
    c->flops += 2 * c->macs + (cost_has(c, 1) ? elements : 0) +
                (cost_has(c, 2) ? COST_RMS_NORM * elements : 0) + 2 * rows * (uint64_t)n;
    return true;
}

/* --- GemmaRotaryEmbedding --------------------------------------------------------------------- */

/* Angles 0, then q, q_rot, k and k_rot: sine and cosine of each angle, and the turn of each element
 * of q and k. */
bool cost_gemma_rotary(struct cost_call *c)
{
    const struct odb_shape *angles = cost_in(c, 0), *q = cost_in(c, 1), *k = cost_in(c, 3);
    if (!angles || !q || !k)
        return false;
    c->flops =
        2 * odb_shape_count(angles) + COST_ROTARY * (odb_shape_count(q) + odb_shape_count(k));
    return true;
}
