/* SPDX-License-Identifier: MIT
 *
 * LinearAttention and CausalConvWithState (ai.onnx 27): operators that carry a state from one
 * piece of a sequence to the next. States and sums are kept in double for float, and rounded once
 * to the results.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "system/parallel.h"
#include "kernels/core/kern.h"
#include "kernels/core/real.h"
#include "kernels/core/row.h"
#include "kernels/core/workspace.h"

/* Operands as (batch, steps, heads, size), states as (batch, kv_heads, size, v_size). Pointers are
 * borrowed. */
struct stateful_linear {
    size_t batch, steps, heads, kv_heads, size, v_size;
    double scale;
    const void *q, *k, *v, *past, *decay, *beta; /* past, decay, beta: NULL where there is none */
    void *y, *present;                           /* present: NULL where not wanted */
    size_t decay_row, decay_head, decay_step;    /* elements from one step, head, element of a key
                                                    to the next */
    size_t beta_row, beta_head;
    atomic_bool failed;
};

/* Operands as (batch, channels, length), states as (batch, channels, taps - 1). */
struct stateful_conv {
    size_t batch, channels, length, taps;
    bool swish;
    const void *x, *w, *bias, *past; /* bias, past: NULL where there is none */
    void *y, *present;               /* NULL where not wanted */
};

#define ODB_BODY "kernels/attention/stateful.real.h"
#include "kernels/core/real.h"

#define STATEFUL_WORK (1u << 16) /* multiplications that are worth a thread's while */

/* --- LinearAttention -------------------------------------------------------------------------- */

enum { LINEAR_Q, LINEAR_K, LINEAR_V, LINEAR_PAST, LINEAR_DECAY, LINEAR_BETA };

/* What a rule needs besides queries, keys and values. */
static const struct linear_rule {
    const char *name;
    bool decay, beta;
} linear_rules[] = {{"linear", false, false},
                    {"gated", true, false},
                    {"delta", false, true},
                    {"gated_delta", true, true},
                    {.name = NULL}};

static enum odb_status linear_rule_check(struct odb_kern *k)
{
    const char *name = odb_kern_string(k, "update_rule", "");
    const struct linear_rule *rule = linear_rules;
    while (rule->name && strcmp(rule->name, name) != 0)
        rule++;
    if (!rule->name)
        return ODB_KERN_FAIL(k, "unknown update_rule \"%s\"", name);
    if (rule->decay != (odb_kern_in(k, LINEAR_DECAY) != NULL))
        return ODB_KERN_FAIL(k, "update_rule %s %s decay", name, rule->decay ? "needs" : "has no");
    if (rule->beta != (odb_kern_in(k, LINEAR_BETA) != NULL))
        return ODB_KERN_FAIL(k, "update_rule %s %s beta", name, rule->beta ? "needs" : "has no");
    return ODB_OK;
}

/* Checks shape and type of input i, if it is there: (batch, steps, width) with one of two widths.
 */
static enum odb_status linear_check(struct odb_kern *k, int i, const struct stateful_linear *s,
                                    size_t width, size_t other)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    char text[200];
    if (t && (t->rank != 3 || (size_t)t->dims[0] != s->batch || (size_t)t->dims[1] != s->steps ||
              ((size_t)t->dims[2] != width && (size_t)t->dims[2] != other)))
        return ODB_KERN_FAIL(k, "input %d has shape %s, not (%zu, %zu, %zu)", i,
                             odb_shape_text(t, text, sizeof text), s->batch, s->steps, width);
    if (t && t->dtype != k->in[LINEAR_Q]->dtype)
        return ODB_KERN_FAIL(k, "input %d has another type than the query", i);
    return ODB_OK;
}

static enum odb_status linear_sizes(struct odb_kern *k, struct stateful_linear *s)
{
    const struct odb_tensor *q = k->in[LINEAR_Q], *v = k->in[LINEAR_V];
    const struct odb_tensor *decay = odb_kern_in(k, LINEAR_DECAY);
    const struct odb_tensor *beta = odb_kern_in(k, LINEAR_BETA);
    int64_t heads = odb_kern_int(k, "q_num_heads", 0), kv = odb_kern_int(k, "kv_num_heads", 0);
    if (heads <= 0 || kv <= 0 || heads % kv)
        return ODB_KERN_FAIL(k, "%lld heads of queries do not share %lld heads of keys",
                             (long long)heads, (long long)kv);
    if (q->rank != 3 || v->rank != 3 || q->dims[2] % heads || v->dims[2] % kv)
        return ODB_KERN_FAIL(k,
                             "query and value have 3 dimensions, the last of them for all heads");
    *s = (struct stateful_linear){.batch = (size_t)q->dims[0],
                                  .steps = (size_t)q->dims[1],
                                  .heads = (size_t)heads,
                                  .kv_heads = (size_t)kv,
                                  .size = (size_t)(q->dims[2] / heads),
                                  .v_size = (size_t)(v->dims[2] / kv)};
    size_t keys = s->kv_heads * s->size, values = s->kv_heads * s->v_size;
    ODB_TRY(linear_check(k, LINEAR_K, s, keys, keys));
    ODB_TRY(linear_check(k, LINEAR_V, s, values, values));
    ODB_TRY(linear_check(k, LINEAR_DECAY, s, keys, s->kv_heads));
    ODB_TRY(linear_check(k, LINEAR_BETA, s, s->kv_heads, 1));
    if (decay) {
        s->decay_row = (size_t)decay->dims[2];
        s->decay_head = s->decay_row / s->kv_heads;
        s->decay_step = s->decay_row != s->kv_heads;
    }
    if (beta) {
        s->beta_row = (size_t)beta->dims[2];
        s->beta_head = s->beta_row != 1;
    }
    return linear_rule_check(k);
}

static enum odb_status linear_infer(struct odb_kern *k)
{
    struct stateful_linear s;
    ODB_TRY(linear_sizes(k, &s));
    const struct odb_tensor *past = odb_kern_in(k, LINEAR_PAST);
    enum odb_dtype type = k->in[LINEAR_Q]->dtype;
    int64_t y[3] = {(int64_t)s.batch, (int64_t)s.steps, (int64_t)(s.heads * s.v_size)};
    struct odb_tensor state = {
        .rank = 4, .dims = {y[0], (int64_t)s.kv_heads, (int64_t)s.size, (int64_t)s.v_size}};
    char a[200], b[200];
    if (past && !odb_tensor_same_shape(past, &state))
        return ODB_KERN_FAIL(k, "past_state has shape %s, not %s",
                             odb_shape_text(past, a, sizeof a),
                             odb_shape_text(&state, b, sizeof b));
    ODB_TRY(odb_kern_outline(k, 0, type, 3, y));
    if (k->n_out > 1)
        ODB_TRY(odb_kern_outline(k, 1, past ? past->dtype : type, 4, state.dims));
    return ODB_OK;
}

static const void *linear_data(const struct odb_tensor *t)
{
    return t ? t->data : NULL;
}

/* The state may be of another type than the rest, and is then converted. */
static enum odb_status linear_run(struct odb_kern *k)
{
    struct stateful_linear s;
    struct odb_tensor *past = NULL, *present = NULL, *y = NULL;
    enum odb_dtype type = k->in[LINEAR_Q]->dtype;
    enum odb_status status;
    ODB_TRY(linear_sizes(k, &s));
    struct odb_tensor *out = k->n_out > 1 ? k->out[1] : NULL;
    if (odb_kern_in(k, LINEAR_PAST))
        ODB_TRY_OUT(odb_tensor_cast(&past, k->in[LINEAR_PAST], type, k->err));
    if (out && out->dtype == type)
        present = odb_tensor_ref(out);
    else if (out)
        ODB_TRY_OUT(odb_tensor_new_raw(&present, type, out->rank, out->dims, k->err));
    y = odb_tensor_ref(k->out[0]);
    if (!y)
        ODB_TRY_OUT(odb_tensor_new_raw(&y, type, 3, k->outline[0].dims, k->err));
    s.q = k->in[LINEAR_Q]->data;
    s.k = k->in[LINEAR_K]->data;
    s.v = k->in[LINEAR_V]->data;
    s.past = linear_data(past);
    s.decay = linear_data(odb_kern_in(k, LINEAR_DECAY));
    s.beta = linear_data(odb_kern_in(k, LINEAR_BETA));
    s.y = y->data;
    s.present = present ? present->data : NULL;
    s.scale = odb_kern_float(k, "scale", 0);
    if (s.scale == 0)
        s.scale = 1 / sqrt((double)s.size);
    atomic_init(&s.failed, false);
    size_t work = (s.steps + 1) * s.size * s.v_size;
    odb_parallel_for(s.batch * s.kv_heads, STATEFUL_WORK / (work + 1) + 1,
                     ODB_REAL_FN(k, type, stateful_heads), &s);
    status = atomic_load(&s.failed) ? odb_kern_no_memory(k) : ODB_OK;
    if (status == ODB_OK && out && out != present)
        odb_convert(out->dtype, out->data, type, present->data, present->count);
out:
    odb_tensor_unref(past);
    odb_tensor_unref(present);
    odb_tensor_unref(y);
    return status;
}

/* --- CausalConvWithState ---------------------------------------------------------------------- */

enum { CAUSAL_X, CAUSAL_W, CAUSAL_BIAS, CAUSAL_PAST };

static enum odb_status causal_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[CAUSAL_X], *w = k->in[CAUSAL_W];
    const struct odb_tensor *bias = odb_kern_in(k, CAUSAL_BIAS),
                            *past = odb_kern_in(k, CAUSAL_PAST);
    const char *activation = odb_kern_string(k, "activation", "");
    char a[200], b[200];
    if (x->rank != 3 || w->rank != 3 || w->dims[0] != x->dims[1] || w->dims[1] != 1 ||
        w->dims[2] < 1)
        return ODB_KERN_FAIL(k, "weights of shape %s do not fit an input of shape %s",
                             odb_shape_text(w, a, sizeof a), odb_shape_text(x, b, sizeof b));
    if (bias && (bias->rank != 1 || bias->dims[0] != x->dims[1]))
        return ODB_KERN_FAIL(k, "bias of shape %s for %lld channels",
                             odb_shape_text(bias, a, sizeof a), (long long)x->dims[1]);
    struct odb_tensor state = {.rank = 3, .dims = {x->dims[0], x->dims[1], w->dims[2] - 1}};
    if (past && !odb_tensor_same_shape(past, &state))
        return ODB_KERN_FAIL(k, "past_state has shape %s, not %s",
                             odb_shape_text(past, a, sizeof a),
                             odb_shape_text(&state, b, sizeof b));
    for (int i = 1; i < k->n_in; i++)
        if (k->in[i] && k->in[i]->dtype != x->dtype)
            return ODB_KERN_FAIL(k, "input %d has another type than the input", i);
    if (strcmp(activation, "none") != 0 && strcmp(activation, "silu") != 0 &&
        strcmp(activation, "swish") != 0)
        return ODB_KERN_FAIL(k, "unknown activation \"%s\"", activation);
    ODB_TRY(odb_kern_outline_like(k, 0, 0));
    return k->n_out > 1 ? odb_kern_outline(k, 1, x->dtype, 3, state.dims) : ODB_OK;
}

static enum odb_status causal_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[CAUSAL_X], *w = k->in[CAUSAL_W];
    struct stateful_conv s = {.batch = (size_t)x->dims[0],
                              .channels = (size_t)x->dims[1],
                              .length = (size_t)x->dims[2],
                              .taps = (size_t)w->dims[2],
                              .swish =
                                  strcmp(odb_kern_string(k, "activation", "none"), "none") != 0,
                              .x = x->data,
                              .w = w->data,
                              .bias = linear_data(odb_kern_in(k, CAUSAL_BIAS)),
                              .past = linear_data(odb_kern_in(k, CAUSAL_PAST)),
                              .y = k->out[0] ? k->out[0]->data : NULL,
                              .present = k->n_out > 1 && k->out[1] ? k->out[1]->data : NULL};
    odb_parallel_for(s.batch * s.channels, STATEFUL_WORK / (s.length * s.taps + 1) + 1,
                     ODB_REAL_FN(k, x->dtype, stateful_channels), &s);
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec linear_attrs[] = {
    {"chunk_size", ODB_ATTR_INT, "64", false},
    {"kv_num_heads", ODB_ATTR_INT, NULL, true},
    {"q_num_heads", ODB_ATTR_INT, NULL, true},
    {"scale", ODB_ATTR_FLOAT, "0", false},
    {"update_rule", ODB_ATTR_STRING, "gated_delta", false},
    {NULL}};
static const struct odb_attr_spec causal_attrs[] = {{"activation", ODB_ATTR_STRING, "none", false},
                                                    {NULL}};

const struct odb_op odb_ops_stateful[] = {
    ODB_ONNX("LinearAttention", 27, ODB_ARITY(3, 6), ODB_ARITY(1, 2), ODB_OP_REAL, linear_attrs,
             linear_infer, linear_run, ODB_T_FLOAT, ODB_AS(0), ODB_AS(0),
             ODB_T_FLOAT & ~ODB_BIT(ODB_F64), ODB_AS(0),
             ODB_NAMES("query,key,value,past_state,decay,beta", "output,present_state"),
             ODB_HALVES(27, 27), ODB_WORK(recurrence)),
    ODB_ONNX("CausalConvWithState", 27, ODB_ARITY(2, 4), ODB_ARITY(1, 2), ODB_OP_REAL, causal_attrs,
             causal_infer, causal_run, ODB_T_FLOAT,
             ODB_NAMES("input,weight,bias,past_state", "output,present_state"), ODB_HALVES(27, 27),
             ODB_WORK(taps, 1, 0, 2)),
    {.name = NULL},
};
