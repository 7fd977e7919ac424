/* SPDX-License-Identifier: MIT
 *
 * CausalConvWithState and VarlenCausalConvWithState (com.microsoft), the form for sequences of any
 * lengths in one tensor. The convolution is that of ai.onnx 27 (attention/stateful.c); dilation,
 * channels that come last, and slots for states are steps around it.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/state/stateful_steps.h"

/* --- CausalConvWithState ---------------------------------------------------------------------- */

enum { CAUSAL_X, CAUSAL_W, CAUSAL_BIAS, CAUSAL_PAST };

/* Weights (channels, 1, taps) with zeros between the taps. */
static const struct odb_tensor *causal_weights(struct odb_chain *c, const struct odb_tensor *w,
                                               int64_t dilation)
{
    if (dilation < 1 || dilation > 1 << 20 || w->rank != 3 || w->dims[1] != 1 || w->dims[2] < 1 ||
        w->dims[2] > 1 << 30)
        ODB_CHAIN_FAIL(c, "dilation %lld, or weights that are not (channels, 1, taps)",
                       (long long)dilation);
    if (dilation == 1 || !odb_chain_ok(c))
        return w;
    size_t taps = (size_t)w->dims[2], wide = (taps - 1) * (size_t)dilation + 1;
    struct odb_tensor *t =
        odb_stateful_zeros(c, w->dtype, 3, (int64_t[]){w->dims[0], 1, (int64_t)wide});
    for (size_t i = 0; t && !c->infer && i < w->count; i++)
        odb_store_f64(t->dtype, t->data, i / taps * wide + i % taps * (size_t)dilation,
                      odb_tensor_f64(w, i));
    return t;
}

/* One call of ai.onnx's operator on (batch, channels, length). */
static void causal_step(struct odb_chain *c, const struct odb_tensor *x, const struct odb_tensor *w,
                        const struct odb_tensor *bias, const struct odb_tensor *past,
                        const struct odb_tensor **out)
{
    struct odb_step s = {
        .op = "CausalConvWithState",
        .opset = ODB_STATEFUL_OPSET,
        .in = {x, w, bias, past},
        .attrs = ODB_ATTRS(ODB_ATTR_S("activation", odb_kern_string(c->k, "activation", "none")))};
    odb_chain_steps(c, &s, 2, out);
}

static const struct odb_tensor *causal_turned(struct odb_chain *c, const struct odb_tensor *t,
                                              bool turn)
{
    if (!t || !turn || !odb_chain_ok(c))
        return t;
    return odb_chain_permute(c, t, (const int64_t[]){0, 2, 1});
}

/* (batch, length, …) with the channels in one dimension. */
static const struct odb_tensor *causal_flat(struct odb_chain *c, const struct odb_tensor *t)
{
    if (!odb_chain_ok(c))
        return NULL;
    int64_t channels = (int64_t)odb_dims_product(t->dims, 2, t->rank);
    return odb_chain_reshape(c, t, 3, (int64_t[]){t->dims[0], t->dims[1], channels});
}

/* The states after the last tokens: pieces of what went before and the input in one. */
static const struct odb_tensor *causal_window(struct odb_chain *c, const struct odb_tensor *x,
                                              const struct odb_tensor *past, int64_t length,
                                              int64_t slots, bool last, const int64_t *state)
{
    const struct odb_tensor *states[ODB_STATEFUL_MOST_SLOTS], *both[2] = {past, x};
    int64_t tokens = x->dims[2];
    int n = (int)ODB_MIN(tokens, slots);
    if (!past)
        both[0] = odb_stateful_zeros(c, x->dtype, 3, (int64_t[]){x->dims[0], x->dims[1], length});
    const struct odb_tensor *all = odb_chain_ok(c) ? odb_stateful_concat(c, both, 2, 2) : NULL;
    for (int i = 0; i < n; i++) {
        int64_t from = tokens - n + i + 1;
        states[i] = causal_turned(c, odb_stateful_slice(c, all, 2, from, from + length), last);
    }
    return odb_chain_ok(c) ? odb_stateful_window(c, states, n, slots, x->dtype,
                                                 last ? (int)state[0] : 3, state + 1)
                           : NULL;
}

static void causal_chain(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *x = k->in[CAUSAL_X], *out[2], *w;
    bool last = odb_kern_int(k, "channels_last", 0) != 0;
    int64_t slots = odb_stateful_slots(c), dilation = odb_kern_int(k, "dilation", 1);
    int64_t state[ODB_MAX_RANK + 1] = {x->rank}; /* rank, and dimensions */
    if (odb_kern_int(k, "ndim", 1) != 1)
        ODB_CHAIN_UNSUPPORTED(c, "CausalConvWithState with ndim %lld",
                              (long long)odb_kern_int(k, "ndim", 1));
    if (last ? x->rank < 3 || x->rank >= ODB_MAX_RANK - 1 : x->rank != 3)
        ODB_CHAIN_FAIL(c, "CausalConvWithState needs an input of %s3 dimensions, not %d",
                       last ? "at least " : "", x->rank);
    if (!odb_chain_ok(c))
        return;
    w = causal_weights(c, k->in[CAUSAL_W], dilation);
    if (!odb_chain_ok(c))
        return;
    int64_t length = w->dims[2] - 1;
    memcpy(state + 1, x->dims, sizeof x->dims);
    state[last ? 2 : 3] = length;
    const struct odb_tensor *past =
        odb_stateful_past(c, odb_kern_in(k, CAUSAL_PAST), slots, x->rank, state + 1);
    if (last) {
        x = causal_turned(c, causal_flat(c, x), true);
        past = past ? causal_turned(c, causal_flat(c, past), true) : NULL;
    }
    causal_step(c, x, w, odb_kern_in(k, CAUSAL_BIAS), past, out);
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *y = causal_turned(c, out[0], last), *present = out[1];
    if (slots)
        present = causal_window(c, x, past, length, slots, last, state);
    else
        present = causal_turned(c, present, last);
    if (last && odb_chain_ok(c)) {
        y = odb_chain_reshape(c, y, k->in[CAUSAL_X]->rank, k->in[CAUSAL_X]->dims);
        if (!slots)
            present = odb_chain_reshape(c, present, (int)state[0], state + 1);
    }
    odb_chain_give(c, 0, y);
    odb_chain_give(c, 1, present);
}
ODB_CHAIN(causal_chain)

/* --- VarlenCausalConvWithState ---------------------------------------------------------------- */

enum { VARLEN_X, VARLEN_W, VARLEN_OFFSETS, VARLEN_BIAS, VARLEN_STATE, VARLEN_COUNT };

static enum odb_status varlen_infer(struct odb_kern *k)
{
    struct odb_chain c = {.k = k, .infer = true};
    ODB_TRY(ODB_NEED(k, VARLEN_STATE));
    const struct odb_tensor *x = k->in[VARLEN_X], *w = k->in[VARLEN_W];
    const struct odb_tensor *offsets = k->in[VARLEN_OFFSETS], *count = odb_kern_in(k, VARLEN_COUNT);
    int64_t capacity = odb_kern_int(k, "state_update_capacity", 0);
    int64_t dilation = odb_kern_int(k, "dilation", 1);
    if (x->rank != 2 || w->rank != 3 || offsets->rank != 1 || offsets->dims[0] < 2)
        return ODB_KERN_FAIL(k,
                             "%s needs (tokens, channels), weights (channels, 1, taps) and "
                             "offsets of at least one sequence",
                             k->op->name);
    if (capacity < 0 || capacity > ODB_STATEFUL_MOST_SLOTS || (capacity > 0) != (count != NULL))
        return ODB_KERN_FAIL(k, "state_update_capacity %lld %s capture_count", (long long)capacity,
                             count ? "with" : "without");
    int64_t batch = offsets->dims[0] - 1, channels = x->dims[1];
    causal_weights(&c, w, dilation);
    odb_chain_dispose(&c);
    ODB_TRY(c.status);
    int64_t state[] = {batch, channels, (w->dims[2] - 1) * dilation};
    odb_stateful_check(&c, w, "weight", 3, (int64_t[]){channels, 1, w->dims[2]});
    odb_stateful_check(&c, odb_kern_in(k, VARLEN_BIAS), "bias", 1, &channels);
    odb_stateful_check(&c, k->in[VARLEN_STATE], "initial_state", 3, state);
    odb_stateful_check(&c, count, "capture_count", 1, &batch);
    odb_chain_dispose(&c);
    ODB_TRY(c.status);
    ODB_TRY(odb_kern_outline_like(k, 0, VARLEN_X));
    if (k->n_out > 1)
        ODB_TRY(odb_kern_outline(k, 1, x->dtype, 3, state));
    return k->n_out > 2
               ? odb_kern_outline(k, 2, x->dtype, 3, (int64_t[]){batch, capacity, channels})
               : ODB_OK;
}

/* Sequence number *(const size_t *)c->arg. */
static void varlen_sequence(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    size_t b = *(const size_t *)c->arg;
    int64_t from = odb_tensor_i64(k->in[VARLEN_OFFSETS], b);
    int64_t n = odb_tensor_i64(k->in[VARLEN_OFFSETS], b + 1) - from;
    const struct odb_tensor *w = causal_weights(c, k->in[VARLEN_W], odb_kern_int(k, "dilation", 1));
    const struct odb_tensor *x = odb_stateful_slice(c, k->in[VARLEN_X], 0, from, from + n), *out[2];
    const struct odb_tensor *past =
        odb_stateful_slice(c, k->in[VARLEN_STATE], 0, (int64_t)b, (int64_t)b + 1);
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *turned = odb_chain_reshape(c, x, 3, (int64_t[]){1, n, x->dims[1]});
    causal_step(c, causal_turned(c, turned, true), w, odb_kern_in(k, VARLEN_BIAS), past, out);
    if (!odb_chain_ok(c))
        return;
    odb_stateful_put(c, 0, (size_t)from, causal_turned(c, out[0], true));
    odb_stateful_put(c, 1, b, out[1]);
    struct odb_tensor *update = k->n_out > 2 ? k->out[2] : NULL;
    if (!update || !update->bytes || !odb_chain_ok(c))
        return;
    int64_t taken = odb_tensor_i64(k->in[VARLEN_COUNT], b);
    taken = ODB_MAX(0, ODB_MIN(taken, ODB_MIN(update->dims[1], n)));
    size_t row = update->bytes / (size_t)update->dims[0];
    memset((char *)update->data + b * row, 0, row);
    if (taken)
        memcpy((char *)update->data + b * row, x->data,
               (size_t)taken * (row / (size_t)update->dims[1]));
}

static enum odb_status varlen_run(struct odb_kern *k)
{
    size_t batch = k->in[VARLEN_OFFSETS]->count - 1;
    ODB_TRY(odb_need_offsets(k, VARLEN_OFFSETS, batch, k->in[VARLEN_X]->dims[0], 1));
    for (size_t b = 0; b < batch; b++)
        ODB_TRY(odb_chain_run_with(k, varlen_sequence, &b));
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec causal_attrs[] = {
    {"activation", ODB_ATTR_STRING, "none", false}, {"channels_last", ODB_ATTR_INT, "0", false},
    {"dilation", ODB_ATTR_INT, "1", false},         {"ndim", ODB_ATTR_INT, "1", false},
    {"state_window", ODB_ATTR_INT, "0", false},     {NULL}};
static const struct odb_attr_spec varlen_attrs[] = {
    {"activation", ODB_ATTR_STRING, "none", false},
    {"dilation", ODB_ATTR_INT, "1", false},
    {"state_update_capacity", ODB_ATTR_INT, "0", false},
    {NULL}};

const struct odb_op odb_ops_contrib_causal[] = {
    ODB_MICROSOFT("CausalConvWithState", ODB_ARITY(2, 4), ODB_ARITY(1, 2), ODB_OP_REAL,
                  causal_attrs, causal_chain_infer, causal_chain_run, ODB_STATEFUL_FLOATS,
                  ODB_NAMES("input,weight,bias,past_state", "output,present_state"),
                  ODB_HALVES(1, 1), ODB_WORK(taps, 1, 0, 2)),
    ODB_MICROSOFT("VarlenCausalConvWithState", ODB_ARITY(3, 6), ODB_ARITY(1, 3), ODB_OP_REAL,
                  varlen_attrs, varlen_infer, varlen_run, ODB_STATEFUL_FLOATS, ODB_AS(0),
                  ODB_STATEFUL_I32, ODB_AS(0), ODB_AS(0), ODB_AS(2),
                  ODB_NAMES("input,weight,cumulative_sequence_length,bias,initial_state,"
                            "capture_count",
                            "output,final_state,state_update"),
                  ODB_HALVES(1, 1), ODB_WORK(taps, 1, 0, 3)),
    {.name = NULL},
};
