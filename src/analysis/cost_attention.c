/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Attention is two products of matrices with a softmax between: every query with every key, and the
 * weights that come of it with every value. Keys of the past count. All scores are counted, also
 * those that a causal mask or a window takes away again, because that is what the operators are
 * defined by, and a runtime may save half of it. Definitions:
 *
 *   https://onnx.ai/onnx/operators/onnx__Attention.html
 *   https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * Where past and present share a buffer, shapes tell how long that is and not how much of it is in
 * use: no number then.
 */
#include "analysis/cost_int.h"

/* Dimensions; keys are those of the past and the new ones. */
struct attention {
    uint64_t batch, heads, queries, keys;
    uint64_t size, value_size; /* of a head */
};

/* Both products, and for each score a factor, the softmax, and what is said. */
static void attention_put(struct cost_call *c, const struct attention *a, uint64_t per_score)
{
    uint64_t scores = a->batch * a->heads * a->queries * a->keys;
    uint64_t macs = scores * (a->size + a->value_size);
    c->macs += macs;
    c->flops += 2 * macs + scores * (1 + COST_SOFTMAX + per_score);
}

/* quotient, tanh, product */
static uint64_t attention_softcap(const struct cost_call *c)
{
    const struct odb_attr *softcap = odb_attrs_find(&c->node->attrs, "softcap");
    return softcap && softcap->f != 0 ? 3 : 0;
}

/* False: there is a past of unknown length. */
static bool attention_past(const struct cost_call *c, int input, int axis, uint64_t *keys)
{
    const struct odb_shape *past = cost_in(c, input);
    if (past && past->rank > axis)
        *keys += (uint64_t)past->dims[axis];
    return past ? past->rank > axis : !cost_has(c, input);
}

/* Q (batch, heads, queries, size) or (batch, queries, heads * size), K and V likewise with heads of
 * their own; attn_mask 3, past_key 4 (batch, heads, past, size). */
bool cost_attention(struct cost_call *c)
{
    const struct odb_shape *q = cost_in(c, 0), *k = cost_in(c, 1), *v = cost_in(c, 2);
    if (!q || !k || !v || k->rank != q->rank || v->rank != q->rank)
        return false;
    struct attention a = {.batch = (uint64_t)q->dims[0]};
    if (q->rank == 4) {
        a.heads = (uint64_t)q->dims[1];
        a.queries = (uint64_t)q->dims[2];
        a.keys = (uint64_t)k->dims[2];
        a.size = (uint64_t)q->dims[3];
        a.value_size = (uint64_t)v->dims[3];
    } else {
        int64_t heads = cost_attr(c, "q_num_heads", 0), of_keys = cost_attr(c, "kv_num_heads", 0);
        if (q->rank != 3 || heads < 1 || of_keys < 1)
            return false;
        a.heads = (uint64_t)heads;
        a.queries = (uint64_t)q->dims[1];
        a.keys = (uint64_t)k->dims[1];
        a.size = (uint64_t)(q->dims[2] / heads);
        a.value_size = (uint64_t)(v->dims[2] / of_keys);
    }
    if (!attention_past(c, 4, 2, &a.keys))
        return false;
    attention_put(c, &a, cost_has(c, 3) + attention_softcap(c));
    return true;
}

/* x (batch, queries, I), weights (I, q + k + v) of all heads; past (2, batch, heads, past, size).
 */
bool cost_attention_fused(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0), *w = cost_in(c, 1);
    const struct odb_attr *sizes = odb_attrs_find(&c->node->attrs, "qkv_hidden_sizes");
    int64_t heads = cost_attr(c, "num_heads", 0);
    if (!x || !w || x->rank != 3 || w->rank != 2 || heads < 1 || (sizes && sizes->n != 3) ||
        cost_attr(c, "past_present_share_buffer", 0))
        return false;
    int64_t query = sizes ? sizes->ints[0] : w->dims[1] / 3;
    int64_t value = sizes ? sizes->ints[2] : w->dims[1] / 3;
    uint64_t rows = (uint64_t)(x->dims[0] * x->dims[1]);
    struct attention a = {.batch = (uint64_t)x->dims[0],
                          .heads = (uint64_t)heads,
                          .queries = (uint64_t)x->dims[1],
                          .keys = (uint64_t)x->dims[1],
                          .size = (uint64_t)(query / heads),
                          .value_size = (uint64_t)(value / heads)};
    if (!attention_past(c, c->b, 3, &a.keys))
        return false;
    c->macs = rows * odb_shape_count(w);
    c->flops = 2 * c->macs + (cost_has(c, c->bias) ? rows * (uint64_t)w->dims[1] : 0) +
               (cost_attr(c, "do_rotary", 0) ? COST_ROTARY * rows * 2 * (uint64_t)query : 0);
    attention_put(c, &a, (uint64_t)cost_has(c, c->a) + cost_has(c, c->b + 1));
    return true;
}

/* Keys and values as inputs 1 and 2 have them: apart, packed (batch, keys, heads, 2, size), or with
 * their heads in front (batch, heads, keys, size). */
static bool attention_cross(const struct cost_call *c, struct attention *a)
{
    const struct odb_shape *k = cost_in(c, 1), *v = cost_in(c, 2);
    if (k && k->rank == 5) {
        a->keys = (uint64_t)k->dims[1];
        a->value_size = (uint64_t)k->dims[4];
        return true;
    }
    if (!k || !v || k->rank < 3 || (v->rank != 3 && v->rank != 4))
        return false;
    a->keys = (uint64_t)k->dims[k->rank == 4 ? 2 : 1];
    a->value_size = v->rank == 4 ? (uint64_t)v->dims[3] : (uint64_t)v->dims[2] / a->heads;
    return true;
}

/* query (batch, queries, heads * size), or all three packed (batch, queries, heads, 3, size); bias
 * 3, key_padding_mask 4, attention_bias 5, past_key 6 (batch, heads, past, size). Input 8 is how
 * much of a buffer is in use. */
bool cost_attention_multi_head(struct cost_call *c)
{
    const struct odb_shape *q = cost_in(c, 0);
    int64_t heads = cost_attr(c, "num_heads", 0);
    if (!q || heads < 1 || (q->rank != 3 && q->rank != 5) || cost_has(c, 8))
        return false;
    struct attention a = {
        .batch = (uint64_t)q->dims[0], .heads = (uint64_t)heads, .queries = (uint64_t)q->dims[1]};
    if (q->rank == 5) {
        a.size = a.value_size = (uint64_t)q->dims[4];
        a.keys = a.queries;
    } else {
        a.size = (uint64_t)(q->dims[2] / heads);
        if (!attention_cross(c, &a))
            return false;
    }
    uint64_t biased = a.queries * a.size + a.keys * (a.size + a.value_size);
    if (!attention_past(c, 6, 2, &a.keys))
        return false;
    c->flops = cost_has(c, 3) ? a.batch * a.heads * biased : 0;
    attention_put(c, &a, (uint64_t)cost_has(c, 4) + cost_has(c, 5));
    return true;
}

/* query (batch, queries, heads * size), with keys and values behind it where there is no input 1;
 * past_key 3 and present_key (batch, key heads, past, size), which are as long as one another where
 * they are one buffer; cos_cache 7 (positions, half of what is turned), attention_bias 10. */
bool cost_attention_grouped(struct cost_call *c)
{
    const struct odb_shape *q = cost_in(c, 0), *k = cost_in(c, 1), *past = cost_in(c, 3);
    const struct odb_shape *present = cost_out(c, 1), *cosines = cost_in(c, 7);
    int64_t heads = cost_attr(c, "num_heads", 0), of_keys = cost_attr(c, "kv_num_heads", 0);
    bool rotary = cost_attr(c, "do_rotary", 0);
    if (!q || q->rank != 3 || heads < 1 || of_keys < 1 || (cost_has(c, 1) && !k) ||
        (rotary && (!cosines || cosines->rank != 2)))
        return false;
    int64_t size = q->dims[2] / (k ? heads : heads + 2 * of_keys);
    struct attention a = {.batch = (uint64_t)q->dims[0],
                          .heads = (uint64_t)heads,
                          .queries = (uint64_t)q->dims[1],
                          .keys = (uint64_t)q->dims[1],
                          .size = (uint64_t)size,
                          .value_size = (uint64_t)size};
    if (past && (!present || past->rank != 4 || present->rank != 4 ||
                 present->dims[2] != past->dims[2] + q->dims[1]))
        return false;
    if (!attention_past(c, 3, 2, &a.keys))
        return false;
    if (rotary)
        c->flops = COST_ROTARY * a.batch * a.queries * (uint64_t)(heads + of_keys) * 2 *
                   (uint64_t)cosines->dims[1];
    attention_put(c, &a, (uint64_t)cost_has(c, 10) + attention_softcap(c));
    return true;
}

/* x (batch, heads, length, size) or (batch, length, heads * size): all elements, or as many of each
 * head as rotary_embedding_dim says. */
bool cost_rotary(struct cost_call *c)
{
    const struct odb_shape *x = cost_in(c, 0);
    int64_t turned = cost_attr(c, "rotary_embedding_dim", 0);
    int64_t heads = cost_attr(c, "num_heads", 0);
    if (!x || x->rank < 3 || (turned && x->rank == 3 && heads < 1))
        return false;
    int64_t size = x->rank == 3 && heads > 0 ? x->dims[2] / heads : x->dims[x->rank - 1];
    if (turned && size)
        c->flops = COST_ROTARY * odb_shape_count(x) / (uint64_t)size * (uint64_t)turned;
    else
        c->flops = COST_ROTARY * odb_shape_count(x);
    return true;
}
