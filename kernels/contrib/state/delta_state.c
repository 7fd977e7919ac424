/* SPDX-License-Identifier: MIT
 *
 * GatedDeltaNet (com.microsoft): LinearAttention for sequences of any lengths in one tensor, with
 * the gates that models of this kind put before it.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/state/stateful_steps.h"

/* --- GatedDeltaNet ---------------------------------------------------------------------------- */

enum {
    DELTA_Q,
    DELTA_K,
    DELTA_V,
    DELTA_OFFSETS,
    DELTA_DECAY,
    DELTA_BETA,
    DELTA_STATE,
    DELTA_LOG,
    DELTA_BIAS
};

#define DELTA_NORM_LEAST 1e-6 /* added to a vector's squares: as models of this kind do */

/* Sizes, and the sequence that is computed now. */
struct delta {
    int lead;                                         /* dimensions of tokens */
    int64_t tokens, batch, heads, values, size, wide; /* heads of queries, of values; their sizes */
    bool each;                                        /* a decay for each number of a key */
    size_t sequence;
};

static enum odb_status delta_read_attrs(struct odb_kern *k)
{
    static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
    const char *rule = odb_kern_string(k, "update_rule", "gated_delta");
    const char *gate = odb_kern_string(k, "gate_activation", "none");
    const char *beta = odb_kern_string(k, "beta_activation", "none");
    bool qwen = strcmp(gate, "qwen") == 0, known = false;
    for (size_t i = 0; i < ODB_COUNT(rules); i++)
        known = known || strcmp(rules[i], rule) == 0;
    if (!known || (!qwen && strcmp(gate, "none") != 0) ||
        (strcmp(beta, "none") != 0 && strcmp(beta, "sigmoid") != 0))
        return ODB_KERN_FAIL(k,
                             "update_rule \"%s\", gate_activation \"%s\" or beta_activation "
                             "\"%s\" is unknown",
                             rule, gate, beta);
    if (odb_kern_int(k, "state_update_capacity", 0))
        return ODB_KERN_UNSUPPORTED(k, "GatedDeltaNet with state_update_capacity");
    for (int i = DELTA_LOG; i <= DELTA_BIAS; i++)
        if ((odb_kern_in(k, i) != NULL) != qwen)
            return ODB_KERN_FAIL(k, "gate_activation \"%s\" %s input %d", gate,
                                 qwen ? "needs" : "has no", i);
    if (odb_linear_has(k, "gated"))
        ODB_TRY(ODB_NEED(k, DELTA_DECAY));
    return odb_linear_has(k, "delta") ? ODB_NEED(k, DELTA_BETA) : ODB_OK;
}

/* The tokens in one dimension, or as batch and length. */
static enum odb_status delta_read(struct odb_kern *k, struct delta *d)
{
    struct odb_chain c = {.k = k, .infer = true};
    const struct odb_tensor *q = k->in[DELTA_Q], *v = k->in[DELTA_V], *state, *offsets, *decay;
    ODB_TRY(delta_read_attrs(k));
    state = odb_kern_in(k, DELTA_STATE);
    offsets = odb_kern_in(k, DELTA_OFFSETS);
    decay = odb_linear_has(k, "gated") ? k->in[DELTA_DECAY] : NULL;
    int lead = q->rank - 2;
    if ((q->rank != 3 && q->rank != 4) || v->rank != q->rank || (offsets && lead != 1) ||
        (offsets && (offsets->rank != 1 || offsets->dims[0] < 2)))
        return ODB_KERN_FAIL(k, "GatedDeltaNet needs (tokens, heads, size), or without cu_seqlens "
                                "(batch, length, heads, size)");
    if (!offsets && (!state || state->rank != 4 || state->dims[0] < 1))
        return ODB_KERN_FAIL(k, "GatedDeltaNet needs cu_seqlens or initial_state");
    *d = (struct delta){.lead = lead,
                        .tokens = (int64_t)odb_dims_product(q->dims, 0, lead),
                        .batch = offsets ? offsets->dims[0] - 1 : state->dims[0],
                        .heads = q->dims[lead],
                        .size = q->dims[lead + 1],
                        .values = v->dims[lead],
                        .wide = v->dims[lead + 1]};
    if (d->heads < 1 || d->values < 1 || d->values % d->heads || d->size < 1 ||
        (!offsets && (d->tokens % d->batch || (lead == 2 && q->dims[0] != d->batch))))
        return ODB_KERN_FAIL(k,
                             "%lld heads of queries, %lld of values and %lld tokens of %lld "
                             "sequences make no sense",
                             (long long)d->heads, (long long)d->values, (long long)d->tokens,
                             (long long)d->batch);
    int64_t gates[ODB_MAX_RANK];
    memcpy(gates, v->dims, sizeof gates);
    memcpy(gates, q->dims, (size_t)lead * sizeof *gates);
    odb_stateful_check(&c, k->in[DELTA_K], "key", q->rank, q->dims);
    gates[lead + 1] = d->wide;
    odb_stateful_check(&c, v, "value", v->rank, gates);
    gates[lead + 1] = d->size;
    d->each = decay && decay->rank == lead + 2;
    odb_stateful_check(&c, decay, "decay", d->each ? lead + 2 : lead + 1, gates);
    if (odb_linear_has(k, "delta"))
        odb_stateful_check(&c, k->in[DELTA_BETA], "beta", lead + 1, gates);
    odb_stateful_check(&c, state, "initial_state", 4,
                       (int64_t[]){d->batch, d->values, d->wide, d->size});
    for (int i = DELTA_LOG; i <= DELTA_BIAS; i++)
        odb_stateful_check(&c, odb_kern_in(k, i), "a_log or dt_bias", 1, &d->values);
    return c.status;
}

static enum odb_status delta_infer(struct odb_kern *k)
{
    struct delta d;
    ODB_TRY(delta_read(k, &d));
    ODB_TRY(odb_kern_outline_like(k, 0, DELTA_V));
    /* carried in double mode as the others are */
    enum odb_dtype state = k->in[DELTA_Q]->dtype == ODB_F64 ? ODB_F64 : ODB_F32;
    if (k->n_out > 1)
        ODB_TRY(odb_kern_outline(k, 1, state, 4, (int64_t[]){d.batch, d.values, d.wide, d.size}));
    return k->n_out > 2 ? odb_kern_outline(k, 2, state, 2, (int64_t[]){d.batch, 0}) : ODB_OK;
}

/* The sequence's rows of a tensor, as (1, length, columns). */
static const struct odb_tensor *delta_rows(struct odb_chain *c, const struct delta *d, int i,
                                           int64_t from, int64_t n)
{
    const struct odb_tensor *t = odb_kern_in(c->k, i);
    if (!t || !odb_chain_ok(c))
        return NULL;
    int64_t columns = (int64_t)odb_dims_product(t->dims, d->lead, t->rank);
    t = odb_chain_reshape(c, t, 3, (int64_t[]){1, d->tokens, columns});
    return odb_stateful_slice(c, t, 1, from, from + n);
}

/* Each head's vector over its length. */
static const struct odb_tensor *delta_unit(struct odb_chain *c, const struct odb_tensor *t,
                                           int64_t heads)
{
    if (!odb_chain_ok(c) || !odb_kern_int(c->k, "qk_l2_norm", 0))
        return t;
    int64_t n = t->dims[1], columns = t->dims[2];
    const struct odb_tensor *x =
        odb_chain_reshape(c, t, 4, (int64_t[]){1, n, heads, columns / heads});
    const struct odb_tensor *sum =
        ODB_STEP(c, "ReduceSumSquare", 18, (x, odb_chain_list(c, (int64_t[]){-1}, 1)));
    sum = ODB_STEP(c, "Add", 14, (sum, odb_chain_number(c, t->dtype, DELTA_NORM_LEAST)));
    x = ODB_STEP(c, "Div", 14, (x, ODB_STEP(c, "Sqrt", 13, (sum))));
    return odb_chain_ok(c) ? odb_chain_reshape(c, x, 3, (int64_t[]){1, n, columns}) : NULL;
}

/* The decay as an exponent: with gate_activation "qwen" it is -exp(a_log) Softplus(decay + bias).
 */
static const struct odb_tensor *delta_gate(struct odb_chain *c, const struct delta *d,
                                           const struct odb_tensor *decay)
{
    struct odb_kern *k = c->k;
    if (!odb_chain_ok(c) || !decay ||
        strcmp(odb_kern_string(k, "gate_activation", ""), "qwen") != 0)
        return decay;
    int64_t n = decay->dims[1], columns = decay->dims[2], one[] = {d->values, 1};
    const struct odb_tensor *log = odb_chain_reshape(c, k->in[DELTA_LOG], 2, one);
    const struct odb_tensor *bias = odb_chain_reshape(c, k->in[DELTA_BIAS], 2, one);
    const struct odb_tensor *g =
        odb_chain_reshape(c, decay, 4, (int64_t[]){1, n, d->values, columns / d->values});
    g = ODB_STEP(c, "Softplus", 1, (ODB_STEP(c, "Add", 14, (g, bias))));
    g = ODB_STEP(c, "Neg", 13, (ODB_STEP(c, "Mul", 14, (g, ODB_STEP(c, "Exp", 13, (log))))));
    return odb_chain_ok(c) ? odb_chain_reshape(c, g, 3, (int64_t[]){1, n, columns}) : NULL;
}

/* States of the operator have values before keys, those of the recurrence keys before values. */
static const struct odb_tensor *delta_turned(struct odb_chain *c, const struct odb_tensor *state)
{
    return state && odb_chain_ok(c) ? odb_chain_permute(c, state, (const int64_t[]){0, 1, 3, 2})
                                    : NULL;
}

static void delta_sequence(struct odb_chain *c)
{
    const struct delta *d = c->arg;
    struct odb_kern *k = c->k;
    int64_t b = (int64_t)d->sequence, each = d->tokens / d->batch, from = b * each, n = each;
    const struct odb_tensor *offsets = odb_kern_in(k, DELTA_OFFSETS), *out[2];
    if (offsets) {
        from = odb_tensor_i64(offsets, d->sequence);
        n = odb_tensor_i64(offsets, d->sequence + 1) - from;
    }
    const struct odb_tensor *in[ODB_LINEAR_INPUTS] = {NULL};
    static const int of[] = {
        [ODB_LINEAR_Q] = DELTA_Q, [ODB_LINEAR_K] = DELTA_K, [ODB_LINEAR_V] = DELTA_V};
    for (int i = ODB_LINEAR_Q; i <= ODB_LINEAR_V; i++)
        in[i] = delta_rows(c, d, of[i], from, n);
    for (int i = ODB_LINEAR_Q; i <= ODB_LINEAR_K; i++)
        in[i] =
            odb_stateful_spread(c, delta_unit(c, in[i], d->heads), d->heads, d->values / d->heads);
    if (odb_linear_has(k, "gated"))
        in[ODB_LINEAR_DECAY] = delta_gate(c, d, delta_rows(c, d, DELTA_DECAY, from, n));
    if (odb_linear_has(k, "delta"))
        in[ODB_LINEAR_BETA] = delta_rows(c, d, DELTA_BETA, from, n);
    if (in[ODB_LINEAR_BETA] && strcmp(odb_kern_string(k, "beta_activation", ""), "sigmoid") == 0)
        in[ODB_LINEAR_BETA] = ODB_STEP(c, "Sigmoid", 13, (in[ODB_LINEAR_BETA]));
    in[ODB_LINEAR_PAST] =
        delta_turned(c, odb_stateful_slice(c, odb_kern_in(k, DELTA_STATE), 0, b, b + 1));
    odb_linear_step(c, in, (struct odb_linear_heads){d->values, d->values}, out);
    if (!odb_chain_ok(c))
        return;
    struct odb_tensor *y = k->out[0];
    size_t row = d->tokens ? y->bytes / (size_t)d->tokens : 0;
    if (out[0]->bytes)
        memcpy((char *)y->data + (size_t)from * row, out[0]->data, out[0]->bytes);
    odb_stateful_put(c, 1, d->sequence, delta_turned(c, out[1]));
}

static enum odb_status delta_run(struct odb_kern *k)
{
    struct delta d;
    ODB_TRY(delta_read(k, &d));
    if (odb_kern_in(k, DELTA_OFFSETS))
        ODB_TRY(odb_need_offsets(k, DELTA_OFFSETS, (size_t)d.batch, d.tokens, 0));
    for (; d.sequence < (size_t)d.batch; d.sequence++)
        ODB_TRY(odb_chain_run_with(k, delta_sequence, &d));
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec delta_attrs[] = {
    {"beta_activation", ODB_ATTR_STRING, "none", false},
    {"chunk_size", ODB_ATTR_INT, "64", false},
    {"gate_activation", ODB_ATTR_STRING, "none", false},
    {"qk_l2_norm", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, "0", false},
    {"state_update_capacity", ODB_ATTR_INT, "0", false},
    {"update_rule", ODB_ATTR_STRING, "gated_delta", false},
    {NULL}};

const struct odb_op odb_ops_contrib_delta[] = {
    ODB_MICROSOFT("GatedDeltaNet", ODB_ARITY(3, 11), ODB_ARITY(1, 3), ODB_OP_REAL, delta_attrs,
                  delta_infer, delta_run, ODB_STATEFUL_FLOATS, ODB_AS(0), ODB_AS(0),
                  ODB_STATEFUL_I32, ODB_STATEFUL_F32, ODB_AS(4), ODB_AS(4), ODB_AS(4), ODB_AS(4),
                  ODB_AS(3), ODB_AS(3),
                  ODB_NAMES("query,key,value,cu_seqlens,decay,beta,initial_state,a_log,dt_bias,"
                            "capture_count,state_update_active",
                            "output,final_state,state_update"),
                  ODB_HALVES(1, 1, 0x1f0, 6), ODB_WORK(recurrence)),
    {.name = NULL},
};
