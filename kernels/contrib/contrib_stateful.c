/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft that carry a state along a sequence: LinearAttention,
 * CausalConvWithState, and their forms for sequences of any lengths in one tensor, GatedDeltaNet
 * and VarlenCausalConvWithState. The recurrences are those of ai.onnx 27 (attention/stateful.c);
 * what com.microsoft has beside them is done in steps before and after.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

enum { STATEFUL_OPSET = 27, STATEFUL_MOST_SLOTS = 8 };

/* --- steps ------------------------------------------------------------------------------------ */

/* t[from:to] along an axis; NULL stays NULL. */
static const struct odb_tensor *stateful_slice(struct odb_chain *c, const struct odb_tensor *t,
                                               int axis, int64_t from, int64_t to)
{
    if (!t || !odb_chain_ok(c))
        return NULL;
    return ODB_STEP(c, "Slice", 13,
                    (t, odb_chain_list(c, &from, 1), odb_chain_list(c, &to, 1),
                     odb_chain_list(c, (int64_t[]){axis}, 1)));
}

static const struct odb_tensor *
stateful_concat(struct odb_chain *c, const struct odb_tensor *const *parts, int n, int axis)
{
    struct odb_step s = {.op = "Concat", .opset = 13, .attrs = ODB_ATTRS(ODB_ATTR_I("axis", axis))};
    memcpy(s.in, parts, (size_t)n * sizeof *parts);
    return n == 1 ? parts[0] : odb_chain_step(c, &s);
}

static struct odb_tensor *stateful_zeros(struct odb_chain *c, enum odb_dtype dtype, int rank,
                                         const int64_t *dims)
{
    struct odb_tensor *t = odb_chain_new(c, dtype, rank, dims);
    if (t && !c->infer && t->bytes)
        memset(t->data, 0, t->bytes);
    return t;
}

/* t, whose shape must be this one. */
static void stateful_check(struct odb_chain *c, const struct odb_tensor *t, const char *what,
                           int rank, const int64_t *dims)
{
    struct odb_tensor want = {.rank = rank};
    char a[200], b[200];
    memcpy(want.dims, dims, (size_t)rank * sizeof *dims);
    if (odb_chain_ok(c) && t && !odb_tensor_same_shape(t, &want))
        ODB_CHAIN_FAIL(c, "%s has the shape %s, not %s", what, odb_shape_text(t, a, sizeof a),
                       odb_shape_text(&want, b, sizeof b));
}

static int64_t stateful_slots(struct odb_chain *c)
{
    int64_t slots = odb_kern_int(c->k, "state_window", 0);
    if (slots < 0 || slots > STATEFUL_MOST_SLOTS)
        ODB_CHAIN_FAIL(c, "state_window %lld is not between 0 and %d", (long long)slots,
                       STATEFUL_MOST_SLOTS);
    return slots;
}

/* The last of a state's slots, as a state (rank, dims) of its own; without slots the state. */
static const struct odb_tensor *stateful_past(struct odb_chain *c, const struct odb_tensor *past,
                                              int64_t slots, int rank, const int64_t *dims)
{
    int64_t all[ODB_MAX_RANK] = {slots};
    memcpy(all + 1, dims, (size_t)rank * sizeof *dims);
    if (!past)
        return NULL;
    stateful_check(c, past, "past_state", slots ? rank + 1 : rank, slots ? all : dims);
    if (!slots || !odb_chain_ok(c))
        return past;
    past = stateful_slice(c, past, 0, slots - 1, slots);
    return odb_chain_ok(c) ? odb_chain_reshape(c, past, rank, dims) : NULL;
}

/* Puts the states after the last n tokens behind zeros, one in each slot. */
static const struct odb_tensor *stateful_window(struct odb_chain *c,
                                                const struct odb_tensor *const *states, int n,
                                                int64_t slots, enum odb_dtype dtype, int rank,
                                                const int64_t *dims)
{
    const struct odb_tensor *parts[STATEFUL_MOST_SLOTS + 1];
    int64_t one[ODB_MAX_RANK] = {slots - n};
    int count = 0;
    memcpy(one + 1, dims, (size_t)rank * sizeof *dims);
    if (n < slots)
        parts[count++] = stateful_zeros(c, dtype, rank + 1, one);
    one[0] = 1;
    for (int i = 0; i < n && odb_chain_ok(c); i++)
        parts[count++] = odb_chain_reshape(c, states[i], rank + 1, one);
    return odb_chain_ok(c) ? stateful_concat(c, parts, count, 0) : NULL;
}

/* (batch, steps, heads * size): each head as often as `times`, copies side by side. */
static const struct odb_tensor *stateful_spread(struct odb_chain *c, const struct odb_tensor *t,
                                                int64_t heads, int64_t times)
{
    if (times == 1 || !odb_chain_ok(c))
        return t;
    int64_t size = t->dims[2] / heads, columns;
    if (__builtin_mul_overflow(heads * times, size, &columns)) {
        ODB_CHAIN_FAIL(c, "%lld heads of %lld are too many", (long long)(heads * times),
                       (long long)size);
        return NULL;
    }
    int64_t wide[] = {t->dims[0], t->dims[1], heads, times, size};
    t = odb_chain_reshape(c, t, 5, (int64_t[]){wide[0], wide[1], heads, 1, size});
    t = ODB_STEP(c, "Expand", 13, (t, odb_chain_list(c, wide, 5)));
    if (!odb_chain_ok(c))
        return NULL;
    return odb_chain_reshape(c, t, 3, (int64_t[]){wide[0], wide[1], columns});
}

/* --- LinearAttention -------------------------------------------------------------------------- */

enum { LINEAR_Q, LINEAR_K, LINEAR_V, LINEAR_PAST, LINEAR_DECAY, LINEAR_BETA, LINEAR_INPUTS };

static bool linear_has(const struct odb_kern *k, const char *part)
{
    return strstr(odb_kern_string(k, "update_rule", "gated_delta"), part) != NULL;
}

/* Heads of queries, and of keys and values. */
struct linear_heads {
    int64_t q, kv;
};

/* One call of ai.onnx's operator on in[LINEAR_INPUTS]. */
static void linear_step(struct odb_chain *c, const struct odb_tensor *const *in,
                        struct linear_heads heads, const struct odb_tensor **out)
{
    const char *rule = odb_kern_string(c->k, "update_rule", "gated_delta");
    struct odb_step s = {
        .op = "LinearAttention",
        .opset = STATEFUL_OPSET,
        .attrs = ODB_ATTRS(ODB_ATTR_I("kv_num_heads", heads.kv), ODB_ATTR_I("q_num_heads", heads.q),
                           ODB_ATTR_F("scale", (odb_f32)odb_kern_float(c->k, "scale", 0)),
                           ODB_ATTR_S("update_rule", rule))};
    memcpy(s.in, in, LINEAR_INPUTS * sizeof *in);
    odb_chain_steps(c, &s, 2, out);
}

/* The operands with as many heads of queries and keys as there are states. */
static struct linear_heads linear_operands(struct odb_chain *c, const struct odb_tensor **in)
{
    struct odb_kern *k = c->k;
    struct linear_heads h = {odb_kern_int(k, "q_num_heads", 0), odb_kern_int(k, "kv_num_heads", 0)};
    for (int i = 0; i < LINEAR_INPUTS; i++)
        in[i] = odb_kern_in(k, i);
    if (!linear_has(k, "gated"))
        in[LINEAR_DECAY] = NULL;
    if (!linear_has(k, "delta"))
        in[LINEAR_BETA] = NULL;
    bool ranks = in[LINEAR_Q]->rank == 3 && in[LINEAR_K]->rank == 3 && in[LINEAR_V]->rank == 3;
    int64_t size = ranks && h.q > 0 ? in[LINEAR_Q]->dims[2] / h.q : 0;
    int64_t keys = size > 0 ? in[LINEAR_K]->dims[2] / size : h.kv;
    if (!ranks || h.q < 1 || h.kv < 1 || h.q > INT32_MAX || h.kv > INT32_MAX || keys < 1 ||
        in[LINEAR_Q]->dims[2] % h.q || h.kv % keys || in[LINEAR_K]->dims[2] != keys * size ||
        (h.q % h.kv && h.kv % h.q)) {
        ODB_CHAIN_FAIL(c, "%lld heads of queries and %lld of values do not fit the operands",
                       (long long)h.q, (long long)h.kv);
        return h;
    }
    in[LINEAR_K] = stateful_spread(c, in[LINEAR_K], keys, h.kv / keys);
    if (h.q < h.kv) {
        in[LINEAR_Q] = stateful_spread(c, in[LINEAR_Q], h.q, h.kv / h.q);
        h.q = h.kv;
    }
    return h;
}

/* With slots for states: the tokens before those in one call, each of the others in its own. */
static void linear_windowed(struct odb_chain *c, const struct odb_tensor *const *in,
                            struct linear_heads heads, int64_t slots)
{
    static const int per_token[] = {LINEAR_Q, LINEAR_K, LINEAR_V, LINEAR_DECAY, LINEAR_BETA};
    const struct odb_tensor *states[STATEFUL_MOST_SLOTS], *y[STATEFUL_MOST_SLOTS + 1], *out[2];
    const struct odb_tensor *part[LINEAR_INPUTS], *past = in[LINEAR_PAST];
    int64_t tokens = in[LINEAR_Q]->dims[1], alone = ODB_MIN(tokens, slots);
    int parts = 0, n = 0;
    for (int64_t at = 0; odb_chain_ok(c) && (at < tokens || parts == 0);) {
        int64_t to = at + (at < tokens - alone ? tokens - alone : tokens > 0);
        for (size_t i = 0; i < ODB_COUNT(per_token); i++)
            part[per_token[i]] = stateful_slice(c, in[per_token[i]], 1, at, to);
        part[LINEAR_PAST] = past;
        linear_step(c, part, heads, out);
        y[parts++] = out[0];
        past = out[1];
        if (to > tokens - alone && tokens > 0)
            states[n++] = past;
        at = to;
    }
    if (!odb_chain_ok(c))
        return;
    odb_chain_give(c, 0, stateful_concat(c, y, parts, 1));
    odb_chain_give(c, 1, stateful_window(c, states, n, slots, past->dtype, past->rank, past->dims));
}

static void linear_chain(struct odb_chain *c)
{
    const struct odb_tensor *in[LINEAR_INPUTS], *out[2];
    int64_t slots = stateful_slots(c);
    struct linear_heads heads = linear_operands(c, in);
    if (!odb_chain_ok(c))
        return;
    int64_t size = in[LINEAR_Q]->dims[2] / heads.q, wide = in[LINEAR_V]->dims[2] / heads.kv;
    in[LINEAR_PAST] = stateful_past(c, in[LINEAR_PAST], slots, 4,
                                    (int64_t[]){in[LINEAR_Q]->dims[0], heads.kv, size, wide});
    if (slots && odb_chain_ok(c)) {
        linear_windowed(c, in, heads, slots);
        return;
    }
    linear_step(c, in, heads, out);
    odb_chain_give(c, 0, out[0]);
    odb_chain_give(c, 1, out[1]);
}
ODB_CHAIN(linear_chain)

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
        stateful_zeros(c, w->dtype, 3, (int64_t[]){w->dims[0], 1, (int64_t)wide});
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
        .opset = STATEFUL_OPSET,
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
    const struct odb_tensor *states[STATEFUL_MOST_SLOTS], *both[2] = {past, x};
    int64_t tokens = x->dims[2];
    int n = (int)ODB_MIN(tokens, slots);
    if (!past)
        both[0] = stateful_zeros(c, x->dtype, 3, (int64_t[]){x->dims[0], x->dims[1], length});
    const struct odb_tensor *all = odb_chain_ok(c) ? stateful_concat(c, both, 2, 2) : NULL;
    for (int i = 0; i < n; i++) {
        int64_t from = tokens - n + i + 1;
        states[i] = causal_turned(c, stateful_slice(c, all, 2, from, from + length), last);
    }
    return odb_chain_ok(c)
               ? stateful_window(c, states, n, slots, x->dtype, last ? (int)state[0] : 3, state + 1)
               : NULL;
}

static void causal_chain(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *x = k->in[CAUSAL_X], *out[2], *w;
    bool last = odb_kern_int(k, "channels_last", 0) != 0;
    int64_t slots = stateful_slots(c), dilation = odb_kern_int(k, "dilation", 1);
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
        stateful_past(c, odb_kern_in(k, CAUSAL_PAST), slots, x->rank, state + 1);
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

/* --- sequences of any length in one tensor ---------------------------------------------------- */

/* Input i holds n + 1 offsets, from 0 to the number of tokens, none below the one before by less
 * than `least`; not known in infer(). */
static enum odb_status stateful_offsets(struct odb_kern *k, int i, size_t n, int64_t tokens,
                                        int64_t least)
{
    const struct odb_tensor *t = k->in[i];
    for (size_t b = 0; b <= n; b++) {
        int64_t at = odb_tensor_i64(t, b), before = b ? odb_tensor_i64(t, b - 1) : 0;
        if ((b == 0 && at != 0) || (b > 0 && at - before < least) || (b == n && at != tokens))
            return ODB_KERN_FAIL(k, "offset %zu of input %d is %lld, for %lld tokens", b, i,
                                 (long long)at, (long long)tokens);
    }
    return ODB_OK;
}

/* Copies the chain's t to output i, from row `at` of its first dimension on. */
static void stateful_put(struct odb_chain *c, int i, size_t at, const struct odb_tensor *t)
{
    struct odb_tensor *out = i < c->k->n_out ? c->k->out[i] : NULL;
    if (!out || !odb_chain_ok(c) || !out->dims[0] || !t->bytes)
        return;
    size_t row = out->bytes / (size_t)out->dims[0];
    memcpy((char *)out->data + at * row, t->data, t->bytes);
}

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
    if (capacity < 0 || capacity > STATEFUL_MOST_SLOTS || (capacity > 0) != (count != NULL))
        return ODB_KERN_FAIL(k, "state_update_capacity %lld %s capture_count", (long long)capacity,
                             count ? "with" : "without");
    int64_t batch = offsets->dims[0] - 1, channels = x->dims[1];
    causal_weights(&c, w, dilation);
    odb_chain_dispose(&c);
    ODB_TRY(c.status);
    int64_t state[] = {batch, channels, (w->dims[2] - 1) * dilation};
    stateful_check(&c, w, "weight", 3, (int64_t[]){channels, 1, w->dims[2]});
    stateful_check(&c, odb_kern_in(k, VARLEN_BIAS), "bias", 1, &channels);
    stateful_check(&c, k->in[VARLEN_STATE], "initial_state", 3, state);
    stateful_check(&c, count, "capture_count", 1, &batch);
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
    const struct odb_tensor *x = stateful_slice(c, k->in[VARLEN_X], 0, from, from + n), *out[2];
    const struct odb_tensor *past =
        stateful_slice(c, k->in[VARLEN_STATE], 0, (int64_t)b, (int64_t)b + 1);
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *turned = odb_chain_reshape(c, x, 3, (int64_t[]){1, n, x->dims[1]});
    causal_step(c, causal_turned(c, turned, true), w, odb_kern_in(k, VARLEN_BIAS), past, out);
    if (!odb_chain_ok(c))
        return;
    stateful_put(c, 0, (size_t)from, causal_turned(c, out[0], true));
    stateful_put(c, 1, b, out[1]);
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
    ODB_TRY(stateful_offsets(k, VARLEN_OFFSETS, batch, k->in[VARLEN_X]->dims[0], 1));
    for (size_t b = 0; b < batch; b++)
        ODB_TRY(odb_chain_run_with(k, varlen_sequence, &b));
    return ODB_OK;
}

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
    if (linear_has(k, "gated"))
        ODB_TRY(ODB_NEED(k, DELTA_DECAY));
    return linear_has(k, "delta") ? ODB_NEED(k, DELTA_BETA) : ODB_OK;
}

/* The tokens in one dimension, or as batch and length. */
static enum odb_status delta_read(struct odb_kern *k, struct delta *d)
{
    struct odb_chain c = {.k = k, .infer = true};
    const struct odb_tensor *q = k->in[DELTA_Q], *v = k->in[DELTA_V], *state, *offsets, *decay;
    ODB_TRY(delta_read_attrs(k));
    state = odb_kern_in(k, DELTA_STATE);
    offsets = odb_kern_in(k, DELTA_OFFSETS);
    decay = linear_has(k, "gated") ? k->in[DELTA_DECAY] : NULL;
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
    stateful_check(&c, k->in[DELTA_K], "key", q->rank, q->dims);
    gates[lead + 1] = d->wide;
    stateful_check(&c, v, "value", v->rank, gates);
    gates[lead + 1] = d->size;
    d->each = decay && decay->rank == lead + 2;
    stateful_check(&c, decay, "decay", d->each ? lead + 2 : lead + 1, gates);
    if (linear_has(k, "delta"))
        stateful_check(&c, k->in[DELTA_BETA], "beta", lead + 1, gates);
    stateful_check(&c, state, "initial_state", 4,
                   (int64_t[]){d->batch, d->values, d->wide, d->size});
    for (int i = DELTA_LOG; i <= DELTA_BIAS; i++)
        stateful_check(&c, odb_kern_in(k, i), "a_log or dt_bias", 1, &d->values);
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
    return stateful_slice(c, t, 1, from, from + n);
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
    const struct odb_tensor *in[LINEAR_INPUTS] = {NULL};
    static const int of[] = {[LINEAR_Q] = DELTA_Q, [LINEAR_K] = DELTA_K, [LINEAR_V] = DELTA_V};
    for (int i = LINEAR_Q; i <= LINEAR_V; i++)
        in[i] = delta_rows(c, d, of[i], from, n);
    for (int i = LINEAR_Q; i <= LINEAR_K; i++)
        in[i] = stateful_spread(c, delta_unit(c, in[i], d->heads), d->heads, d->values / d->heads);
    if (linear_has(k, "gated"))
        in[LINEAR_DECAY] = delta_gate(c, d, delta_rows(c, d, DELTA_DECAY, from, n));
    if (linear_has(k, "delta"))
        in[LINEAR_BETA] = delta_rows(c, d, DELTA_BETA, from, n);
    if (in[LINEAR_BETA] && strcmp(odb_kern_string(k, "beta_activation", ""), "sigmoid") == 0)
        in[LINEAR_BETA] = ODB_STEP(c, "Sigmoid", 13, (in[LINEAR_BETA]));
    in[LINEAR_PAST] = delta_turned(c, stateful_slice(c, odb_kern_in(k, DELTA_STATE), 0, b, b + 1));
    linear_step(c, in, (struct linear_heads){d->values, d->values}, out);
    if (!odb_chain_ok(c))
        return;
    struct odb_tensor *y = k->out[0];
    size_t row = d->tokens ? y->bytes / (size_t)d->tokens : 0;
    if (out[0]->bytes)
        memcpy((char *)y->data + (size_t)from * row, out[0]->data, out[0]->bytes);
    stateful_put(c, 1, d->sequence, delta_turned(c, out[1]));
}

static enum odb_status delta_run(struct odb_kern *k)
{
    struct delta d;
    ODB_TRY(delta_read(k, &d));
    if (odb_kern_in(k, DELTA_OFFSETS))
        ODB_TRY(stateful_offsets(k, DELTA_OFFSETS, (size_t)d.batch, d.tokens, 0));
    for (; d.sequence < (size_t)d.batch; d.sequence++)
        ODB_TRY(odb_chain_run_with(k, delta_sequence, &d));
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec linear_attrs[] = {
    {"chunk_size", ODB_ATTR_INT, "64", false},
    {"kv_num_heads", ODB_ATTR_INT, NULL, true},
    {"q_num_heads", ODB_ATTR_INT, NULL, true},
    {"scale", ODB_ATTR_FLOAT, "0", false},
    {"state_window", ODB_ATTR_INT, "0", false},
    {"update_rule", ODB_ATTR_STRING, "gated_delta", false},
    {NULL}};
static const struct odb_attr_spec causal_attrs[] = {
    {"activation", ODB_ATTR_STRING, "none", false}, {"channels_last", ODB_ATTR_INT, "0", false},
    {"dilation", ODB_ATTR_INT, "1", false},         {"ndim", ODB_ATTR_INT, "1", false},
    {"state_window", ODB_ATTR_INT, "0", false},     {NULL}};
static const struct odb_attr_spec varlen_attrs[] = {
    {"activation", ODB_ATTR_STRING, "none", false},
    {"dilation", ODB_ATTR_INT, "1", false},
    {"state_update_capacity", ODB_ATTR_INT, "0", false},
    {NULL}};
static const struct odb_attr_spec delta_attrs[] = {
    {"beta_activation", ODB_ATTR_STRING, "none", false},
    {"chunk_size", ODB_ATTR_INT, "64", false},
    {"gate_activation", ODB_ATTR_STRING, "none", false},
    {"qk_l2_norm", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, "0", false},
    {"state_update_capacity", ODB_ATTR_INT, "0", false},
    {"update_rule", ODB_ATTR_STRING, "gated_delta", false},
    {NULL}};

#define STATEFUL_FLOATS (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define STATEFUL_F32 ODB_BIT(ODB_F32)
#define STATEFUL_I32 ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_stateful[] = {
    ODB_MICROSOFT("LinearAttention", ODB_ARITY(3, 6), ODB_ARITY(1, 2), ODB_OP_REAL, linear_attrs,
                  linear_chain_infer, linear_chain_run, STATEFUL_FLOATS, ODB_AS(0), ODB_AS(0),
                  STATEFUL_FLOATS, ODB_AS(0), ODB_AS(0),
                  ODB_NAMES("query,key,value,past_state,decay,beta", "output,present_state"),
                  ODB_HALVES(1, 1)),
    ODB_MICROSOFT("CausalConvWithState", ODB_ARITY(2, 4), ODB_ARITY(1, 2), ODB_OP_REAL,
                  causal_attrs, causal_chain_infer, causal_chain_run, STATEFUL_FLOATS,
                  ODB_NAMES("input,weight,bias,past_state", "output,present_state"),
                  ODB_HALVES(1, 1)),
    ODB_MICROSOFT("VarlenCausalConvWithState", ODB_ARITY(3, 6), ODB_ARITY(1, 3), ODB_OP_REAL,
                  varlen_attrs, varlen_infer, varlen_run, STATEFUL_FLOATS, ODB_AS(0), STATEFUL_I32,
                  ODB_AS(0), ODB_AS(0), ODB_AS(2),
                  ODB_NAMES("input,weight,cumulative_sequence_length,bias,initial_state,"
                            "capture_count",
                            "output,final_state,state_update"),
                  ODB_HALVES(1, 1)),
    ODB_MICROSOFT("GatedDeltaNet", ODB_ARITY(3, 11), ODB_ARITY(1, 3), ODB_OP_REAL, delta_attrs,
                  delta_infer, delta_run, STATEFUL_FLOATS, ODB_AS(0), ODB_AS(0), STATEFUL_I32,
                  STATEFUL_F32, ODB_AS(4), ODB_AS(4), ODB_AS(4), ODB_AS(4), ODB_AS(3), ODB_AS(3),
                  ODB_NAMES("query,key,value,cu_seqlens,decay,beta,initial_state,a_log,dt_bias,"
                            "capture_count,state_update_active",
                            "output,final_state,state_update"),
                  ODB_HALVES(1, 1, 0x1f0, 6)),
    {.name = NULL},
};
