/* SPDX-License-Identifier: MIT
 *
 * LinearAttention (com.microsoft). The recurrence is that of ai.onnx 27 (attention/stateful.c);
 * heads of queries and keys that are fewer than those of values, and slots for states, are steps
 * around it.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/state/stateful_steps.h"

/* --- LinearAttention -------------------------------------------------------------------------- */

bool odb_linear_has(const struct odb_kern *k, const char *part)
{
    return strstr(odb_kern_string(k, "update_rule", "gated_delta"), part) != NULL;
}

/* One call of ai.onnx's operator on in[ODB_LINEAR_INPUTS]. */
void odb_linear_step(struct odb_chain *c, const struct odb_tensor *const *in,
                     struct odb_linear_heads heads, const struct odb_tensor **out)
{
    const char *rule = odb_kern_string(c->k, "update_rule", "gated_delta");
    struct odb_step s = {
        .op = "LinearAttention",
        .opset = ODB_STATEFUL_OPSET,
        .attrs = ODB_ATTRS(ODB_ATTR_I("kv_num_heads", heads.kv), ODB_ATTR_I("q_num_heads", heads.q),
                           ODB_ATTR_F("scale", (odb_f32)odb_kern_float(c->k, "scale", 0)),
                           ODB_ATTR_S("update_rule", rule))};
    memcpy(s.in, in, ODB_LINEAR_INPUTS * sizeof *in);
    odb_chain_steps(c, &s, 2, out);
}

/* The operands with as many heads of queries and keys as there are states. */
static struct odb_linear_heads linear_operands(struct odb_chain *c, const struct odb_tensor **in)
{
    struct odb_kern *k = c->k;
    struct odb_linear_heads h = {odb_kern_int(k, "q_num_heads", 0),
                                 odb_kern_int(k, "kv_num_heads", 0)};
    for (int i = 0; i < ODB_LINEAR_INPUTS; i++)
        in[i] = odb_kern_in(k, i);
    if (!odb_linear_has(k, "gated"))
        in[ODB_LINEAR_DECAY] = NULL;
    if (!odb_linear_has(k, "delta"))
        in[ODB_LINEAR_BETA] = NULL;
    bool ranks =
        in[ODB_LINEAR_Q]->rank == 3 && in[ODB_LINEAR_K]->rank == 3 && in[ODB_LINEAR_V]->rank == 3;
    int64_t size = ranks && h.q > 0 ? in[ODB_LINEAR_Q]->dims[2] / h.q : 0;
    int64_t keys = size > 0 ? in[ODB_LINEAR_K]->dims[2] / size : h.kv;
    if (!ranks || h.q < 1 || h.kv < 1 || h.q > INT32_MAX || h.kv > INT32_MAX || keys < 1 ||
        in[ODB_LINEAR_Q]->dims[2] % h.q || h.kv % keys ||
        in[ODB_LINEAR_K]->dims[2] != keys * size || (h.q % h.kv && h.kv % h.q)) {
        ODB_CHAIN_FAIL(c, "%lld heads of queries and %lld of values do not fit the operands",
                       (long long)h.q, (long long)h.kv);
        return h;
    }
    in[ODB_LINEAR_K] = odb_stateful_spread(c, in[ODB_LINEAR_K], keys, h.kv / keys);
    if (h.q < h.kv) {
        in[ODB_LINEAR_Q] = odb_stateful_spread(c, in[ODB_LINEAR_Q], h.q, h.kv / h.q);
        h.q = h.kv;
    }
    return h;
}

/* With slots for states: the tokens before those in one call, each of the others in its own. */
static void linear_windowed(struct odb_chain *c, const struct odb_tensor *const *in,
                            struct odb_linear_heads heads, int64_t slots)
{
    static const int per_token[] = {ODB_LINEAR_Q, ODB_LINEAR_K, ODB_LINEAR_V, ODB_LINEAR_DECAY,
                                    ODB_LINEAR_BETA};
    const struct odb_tensor *states[ODB_STATEFUL_MOST_SLOTS], *y[ODB_STATEFUL_MOST_SLOTS + 1],
        *out[2];
    const struct odb_tensor *part[ODB_LINEAR_INPUTS], *past = in[ODB_LINEAR_PAST];
    int64_t tokens = in[ODB_LINEAR_Q]->dims[1], alone = ODB_MIN(tokens, slots);
    int parts = 0, n = 0;
    for (int64_t at = 0; odb_chain_ok(c) && (at < tokens || parts == 0);) {
        int64_t to = at + (at < tokens - alone ? tokens - alone : tokens > 0);
        for (size_t i = 0; i < ODB_COUNT(per_token); i++)
            part[per_token[i]] = odb_stateful_slice(c, in[per_token[i]], 1, at, to);
        part[ODB_LINEAR_PAST] = past;
        odb_linear_step(c, part, heads, out);
        y[parts++] = out[0];
        past = out[1];
        if (to > tokens - alone && tokens > 0)
            states[n++] = past;
        at = to;
    }
    if (!odb_chain_ok(c))
        return;
    odb_chain_give(c, 0, odb_stateful_concat(c, y, parts, 1));
    odb_chain_give(c, 1,
                   odb_stateful_window(c, states, n, slots, past->dtype, past->rank, past->dims));
}

static void linear_chain(struct odb_chain *c)
{
    const struct odb_tensor *in[ODB_LINEAR_INPUTS], *out[2];
    int64_t slots = odb_stateful_slots(c);
    struct odb_linear_heads heads = linear_operands(c, in);
    if (!odb_chain_ok(c))
        return;
    int64_t size = in[ODB_LINEAR_Q]->dims[2] / heads.q, wide = in[ODB_LINEAR_V]->dims[2] / heads.kv;
    in[ODB_LINEAR_PAST] =
        odb_stateful_past(c, in[ODB_LINEAR_PAST], slots, 4,
                          (int64_t[]){in[ODB_LINEAR_Q]->dims[0], heads.kv, size, wide});
    if (slots && odb_chain_ok(c)) {
        linear_windowed(c, in, heads, slots);
        return;
    }
    odb_linear_step(c, in, heads, out);
    odb_chain_give(c, 0, out[0]);
    odb_chain_give(c, 1, out[1]);
}
ODB_CHAIN(linear_chain)

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec linear_attrs[] = {
    {"chunk_size", ODB_ATTR_INT, "64", false},
    {"kv_num_heads", ODB_ATTR_INT, NULL, true},
    {"q_num_heads", ODB_ATTR_INT, NULL, true},
    {"scale", ODB_ATTR_FLOAT, "0", false},
    {"state_window", ODB_ATTR_INT, "0", false},
    {"update_rule", ODB_ATTR_STRING, "gated_delta", false},
    {NULL}};

const struct odb_op odb_ops_contrib_linear[] = {
    ODB_MICROSOFT("LinearAttention", ODB_ARITY(3, 6), ODB_ARITY(1, 2), ODB_OP_REAL, linear_attrs,
                  linear_chain_infer, linear_chain_run, ODB_STATEFUL_FLOATS, ODB_AS(0), ODB_AS(0),
                  ODB_STATEFUL_FLOATS, ODB_AS(0), ODB_AS(0),
                  ODB_NAMES("query,key,value,past_state,decay,beta", "output,present_state"),
                  ODB_HALVES(1, 1), ODB_WORK(recurrence)),
    {.name = NULL},
};
