/* SPDX-License-Identifier: MIT
 *
 * MoE and QMoE (com.microsoft): each token goes through the few experts that its router scores
 * highest, and their results are added up, each times its share. An expert is two products of
 * matrices around an activation, or three where the activation is gated. QMoE has weights of a few
 * bits; an expert's are written out as floats before they are multiplied.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "system/blocks.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

/* One of an expert's matrices, for all experts: inputs' numbers, -1 where the operator has none. */
struct moe_layer {
    int weights, bias, scales, zeros;
};

static const struct moe_inputs {
    struct moe_layer layer[3];
    int shares; /* tensor of shares instead of the router's own */
} moe_plain = {{{2, 3, -1, -1}, {4, 5, -1, -1}, {6, 7, -1, -1}}, -1},
  moe_quantised = {{{2, 4, 3, 11}, {5, 7, 6, 12}, {8, 10, 9, 13}}, 14};

enum {
    MOE_NARROW = 15,   /* the first of QMoE's inputs for floats of 4 and 8 bits */
    MOE_MOST = 1 << 30 /* columns of a matrix */
};

/* Sizes, and what the attributes say. All pointers are borrowed. */
struct moe {
    struct odb_kern *k;
    const struct moe_inputs *at;
    int64_t tokens, hidden, experts, inner, top;
    int64_t bits, block; /* of quantised weights; block 0: one scale for a whole row */
    bool gated;          /* swiglu */
    int fusion;          /* where its two halves lie: as the attribute swiglu_fusion */
    bool third;          /* a third matrix: of what the activation is multiplied with */
    double alpha, beta, limit;
    double (*activate)(double x);
    size_t *chosen; /* [tokens][top]: experts */
    double *shares; /* [tokens][top] */
    size_t expert;  /* that is computed now */
};

/* --- activations ------------------------------------------------------------------------------ */

static double moe_relu(double x)
{
    return x < 0 ? 0 : x;
}

static double moe_gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static double moe_silu(double x)
{
    return x / (1 + exp(-x));
}

static double moe_identity(double x)
{
    return x;
}

static const struct {
    const char *name;
    double (*fn)(double x);
} moe_activations[] = {{"relu", moe_relu},
                       {"gelu", moe_gelu},
                       {"silu", moe_silu},
                       {"identity", moe_identity},
                       {"swiglu", NULL}};

static double moe_swiglu(const struct moe *m, double gate, double linear)
{
    double g = fmin(gate, m->limit), l = fmax(-m->limit, fmin(linear, m->limit));
    return g / (1 + exp(-m->alpha * g)) * (l + m->beta);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static const struct odb_tensor *moe_in(const struct moe *m, int i)
{
    return i < 0 ? NULL : odb_kern_in(m->k, i);
}

/* A matrix [rows, columns] of every expert, its bias, scales and zero points. */
static enum odb_status moe_check_layer(const struct moe *m, const struct moe_layer *l, int64_t rows,
                                       int64_t columns)
{
    int64_t each = m->bits ? 8 / m->bits : 1, e = m->experts;
    int64_t blocks = m->block ? (columns + m->block - 1) / m->block : 1;
    int rank = m->block ? 3 : 2;
    /* zero points of a row of one scale each lie along the rows */
    int64_t zero_rows = m->block ? rows : (rows + each - 1) / each;
    ODB_TRY(
        odb_kern_expect(m->k, l->weights, 3, (int64_t[]){e, rows, (columns + each - 1) / each}));
    ODB_TRY(odb_kern_expect(m->k, l->bias, 2, (int64_t[]){e, rows}));
    if (l->scales < 0)
        return ODB_OK;
    if (!moe_in(m, l->scales))
        return ODB_KERN_FAIL(m->k, "input %d, the scales of input %d, is missing", l->scales,
                             l->weights);
    ODB_TRY(odb_kern_expect(m->k, l->scales, rank, (int64_t[]){e, rows, blocks}));
    return odb_kern_expect(m->k, l->zeros, rank,
                           (int64_t[]){e, zero_rows, (blocks + each - 1) / each});
}

static enum odb_status moe_read_attrs(struct moe *m)
{
    struct odb_kern *k = m->k;
    const char *name = odb_kern_string(k, "activation_type", "relu");
    size_t i = 0;
    while (i < ODB_COUNT(moe_activations) && strcmp(moe_activations[i].name, name) != 0)
        i++;
    if (i == ODB_COUNT(moe_activations))
        return ODB_KERN_FAIL(k, "there is no activation_type \"%s\"", name);
    m->activate = moe_activations[i].fn;
    m->gated = !m->activate;
    m->fusion = (int)odb_kern_int(k, "swiglu_fusion", 0);
    m->alpha = odb_kern_float(k, "activation_alpha", 1);
    m->beta = odb_kern_float(k, "activation_beta", 0);
    m->limit = odb_kern_has(k, "swiglu_limit") ? odb_kern_float(k, "swiglu_limit", 0) : INFINITY;
    m->top = odb_kern_int(k, "k", 1);
    if (odb_kern_int(k, "use_sparse_mixer", 0))
        return ODB_KERN_UNSUPPORTED(k, "%s with use_sparse_mixer", k->op->name);
    if (m->fusion < 0 || m->fusion > 2 || m->top < 1)
        return ODB_KERN_FAIL(k, "swiglu_fusion %d and k %lld make no sense", m->fusion,
                             (long long)m->top);
    return ODB_OK;
}

static enum odb_status moe_read_quantised(struct moe *m)
{
    struct odb_kern *k = m->k;
    const char *type = odb_kern_string(k, "quant_type", "int");
    m->bits = odb_kern_int(k, "expert_weight_bits", 4);
    m->block = odb_kern_int(k, "block_size", 0);
    if (strcmp(type, "int") != 0)
        return ODB_KERN_UNSUPPORTED(k, "QMoE with quant_type \"%s\"", type);
    for (int i = MOE_NARROW; i < k->n_in; i++)
        if (k->in[i])
            return ODB_KERN_UNSUPPORTED(k, "QMoE with input %d", i);
    if (odb_kern_int(k, "weights_prepacked", -1) == 1)
        return ODB_KERN_UNSUPPORTED(k, "QMoE with weights that were packed for one device");
    if (m->bits != 2 && m->bits != 4 && m->bits != 8)
        return ODB_KERN_FAIL(k, "weights of %lld bits", (long long)m->bits);
    if (m->block && (m->block < 16 || m->block & (m->block - 1) || m->block > 1 << 24))
        return ODB_KERN_FAIL(k, "block_size %lld is no power of two from 16 on",
                             (long long)m->block);
    for (int l = 0; l < 3; l++) {
        const struct odb_tensor *weights = moe_in(m, m->at->layer[l].weights);
        if (weights && weights->dtype != ODB_U8)
            return ODB_KERN_FAIL(k, "quant_type \"int\" needs weights of uint8");
    }
    return ODB_OK;
}

static enum odb_status moe_read(struct odb_kern *k, struct moe *m)
{
    bool quantised = strcmp(k->op->name, "QMoE") == 0;
    *m = (struct moe){.k = k, .at = quantised ? &moe_quantised : &moe_plain};
    const struct moe_layer *l = m->at->layer;
    const struct odb_tensor *x = k->in[0], *router = k->in[1];
    ODB_TRY(moe_read_attrs(m));
    if (quantised)
        ODB_TRY(moe_read_quantised(m));
    ODB_TRY(ODB_NEED(k, 0, 1, l[0].weights, l[1].weights));
    const struct odb_tensor *second = k->in[l[1].weights];
    m->third = moe_in(m, l[2].weights) != NULL;
    if ((x->rank != 2 && x->rank != 3) || router->rank != 2 || second->rank != 3)
        return ODB_KERN_FAIL(k,
                             "%s needs tokens [tokens,hidden] or [batch,length,hidden], a "
                             "router's [tokens,experts], and matrices for each expert",
                             k->op->name);
    if (second->dims[2] > MOE_MOST)
        return ODB_KERN_FAIL(k, "experts of %lld columns", (long long)second->dims[2]);
    m->hidden = x->dims[x->rank - 1];
    m->tokens = (int64_t)odb_dims_product(x->dims, 0, x->rank - 1);
    m->experts = router->dims[1];
    m->inner = second->dims[2] * (m->bits ? 8 / m->bits : 1);
    if (m->top > m->experts)
        return ODB_KERN_FAIL(k, "%lld experts of %lld are asked for", (long long)m->top,
                             (long long)m->experts);
    if (m->gated && (m->fusion == 0) != m->third)
        return ODB_KERN_FAIL(k, "swiglu_fusion %d %s", m->fusion,
                             m->third ? "has no third matrix" : "needs a third matrix");
    if (m->block && (m->hidden % m->block || m->inner % m->block))
        return ODB_KERN_FAIL(k, "%lld and %lld columns are not whole blocks of %lld",
                             (long long)m->hidden, (long long)m->inner, (long long)m->block);
    ODB_TRY(odb_kern_expect(k, 1, 2, (int64_t[]){m->tokens, m->experts}));
    if (m->at->shares >= 0)
        ODB_TRY(odb_kern_expect(k, m->at->shares, 2, (int64_t[]){m->tokens, m->experts}));
    int64_t first = m->gated && m->fusion ? 2 * m->inner : m->inner;
    ODB_TRY(moe_check_layer(m, &l[0], first, m->hidden));
    ODB_TRY(moe_check_layer(m, &l[1], m->hidden, m->inner));
    return m->third ? moe_check_layer(m, &l[2], m->inner, m->hidden) : ODB_OK;
}

static enum odb_status moe_infer(struct odb_kern *k)
{
    struct moe m;
    ODB_TRY(moe_read(k, &m));
    return odb_infer_same(k);
}

/* --- routing ---------------------------------------------------------------------------------- */

/* The experts of one token, the highest score first, of equals the first; and their shares: of the
 * softmax over all experts, or numbers that are given. */
static void moe_route(const struct moe *m, size_t token)
{
    size_t experts = (size_t)m->experts, top = (size_t)m->top;
    size_t *chosen = m->chosen + token * top;
    double *shares = m->shares + token * top, sum = 0, of_chosen = 0, most;
    const struct odb_tensor *scores = m->k->in[1], *given = moe_in(m, m->at->shares);
    for (size_t i = 0; i < top; i++) {
        size_t best = experts;
        for (size_t e = 0; e < experts; e++) {
            bool taken = false;
            for (size_t j = 0; j < i; j++)
                taken = taken || chosen[j] == e;
            if (!taken && (best == experts || odb_tensor_f64(scores, token * experts + e) >
                                                  odb_tensor_f64(scores, token * experts + best)))
                best = e;
        }
        chosen[i] = best;
    }
    most = odb_tensor_f64(scores, token * experts + chosen[0]);
    for (size_t e = 0; e < experts; e++)
        sum += exp(odb_tensor_f64(scores, token * experts + e) - most);
    for (size_t i = 0; i < top; i++) {
        size_t at = token * experts + chosen[i];
        shares[i] =
            given ? odb_tensor_f64(given, at) : exp(odb_tensor_f64(scores, at) - most) / sum;
        of_chosen += shares[i];
    }
    for (size_t i = 0; i < top && odb_kern_int(m->k, "normalize_routing_weights", 0); i++)
        shares[i] /= of_chosen;
}

/* --- experts ---------------------------------------------------------------------------------- */

/* Number i of a row of numbers of `bits` bits, low ones first. */
static int moe_bits_at(const odb_u8 *row, size_t i, int64_t bits)
{
    size_t at = i * (size_t)bits;
    return row[at / 8] >> at % 8 & ((1 << bits) - 1);
}

/* The expert's matrix as floats [rows, columns]: a view, or what the few bits stand for. */
static const struct odb_tensor *moe_matrix(struct odb_chain *c, const struct moe *m,
                                           const struct moe_layer *l, int64_t rows, int64_t columns)
{
    const struct odb_tensor *w = m->k->in[l->weights];
    size_t bytes = w->bytes / (size_t)m->experts;
    const odb_u8 *data = (const odb_u8 *)w->data + m->expert * bytes;
    int64_t dims[] = {rows, columns};
    struct odb_tensor *out = NULL;
    if (!m->bits) {
        c->status = odb_tensor_view(&out, w->dtype, 2, dims, data, bytes, w->storage, m->k->err);
        return odb_chain_take(c, out);
    }
    out = odb_chain_new(c, m->k->in[0]->dtype, 2, dims);
    const struct odb_tensor *scales = m->k->in[l->scales], *zeros = moe_in(m, l->zeros);
    size_t each = (size_t)(8 / m->bits), per_row = ((size_t)columns + each - 1) / each;
    size_t blocks = m->block ? (size_t)(columns / m->block) : 1;
    size_t zero_row = m->block ? (blocks + each - 1) / each : 0;
    size_t zero_bytes = zeros ? zeros->count / (size_t)m->experts : 0;
    for (size_t i = 0; out && i < out->count; i++) {
        size_t row = i / (size_t)columns, column = i % (size_t)columns;
        size_t block = m->block ? column / (size_t)m->block : 0;
        int zero = 1 << (m->bits - 1);
        if (zeros) {
            const odb_u8 *from = (const odb_u8 *)zeros->data + m->expert * zero_bytes;
            zero = m->block ? moe_bits_at(from + row * zero_row, block, m->bits)
                            : moe_bits_at(from, row, m->bits);
        }
        double scale = odb_tensor_f64(scales, (m->expert * (size_t)rows + row) * blocks + block);
        odb_store_f64(out->dtype, out->data, i,
                      (moe_bits_at(data + row * per_row, column, m->bits) - zero) * scale);
    }
    return out;
}

/* x times a layer's matrix, plus its bias. */
static const struct odb_tensor *moe_apply(struct odb_chain *c, const struct moe *m, int layer,
                                          const struct odb_tensor *x, int64_t rows)
{
    const struct moe_layer *l = &m->at->layer[layer];
    if (!odb_chain_ok(c))
        return NULL;
    const struct odb_tensor *w = moe_matrix(c, m, l, rows, x->dims[1]), *all = moe_in(m, l->bias);
    struct odb_tensor *bias = NULL;
    if (all && odb_chain_ok(c)) {
        size_t bytes = all->bytes / (size_t)m->experts;
        c->status = odb_tensor_view(&bias, all->dtype, 1, &rows,
                                    (const char *)all->data + m->expert * bytes, bytes,
                                    all->storage, m->k->err);
        odb_chain_take(c, bias);
    }
    return ODB_STEP_WITH(c, "Gemm", 13, (x, w, bias), ODB_ATTRS(ODB_ATTR_I("transB", 1)));
}

/* The expert's rows of tokens x, through its first matrices and the activation. */
static const struct odb_tensor *moe_inner(struct odb_chain *c, const struct moe *m,
                                          const struct odb_tensor *x)
{
    int64_t n = m->inner, wide = m->gated && m->fusion ? 2 * n : n;
    const struct odb_tensor *first = moe_apply(c, m, 0, x, wide), *third = NULL;
    if (m->third)
        third = moe_apply(c, m, 2, x, n);
    struct odb_tensor *y = odb_chain_new(c, x->dtype, 2, (int64_t[]){x->dims[0], n});
    size_t gate_step = m->gated && m->fusion == 1 ? 2 : 1;
    size_t linear_at = m->fusion == 1 ? 1 : (size_t)n;
    for (size_t i = 0; y && odb_chain_ok(c) && i < y->count; i++) {
        size_t at = i / (size_t)n * (size_t)wide + i % (size_t)n * gate_step;
        double v = odb_tensor_f64(first, at);
        if (m->gated)
            v = moe_swiglu(
                m, v, third ? odb_tensor_f64(third, i) : odb_tensor_f64(first, at + linear_at));
        else
            v = m->activate(v) * (third ? odb_tensor_f64(third, i) : 1);
        odb_store_f64(y->dtype, y->data, i, v);
    }
    return y;
}

/* Adds what one expert makes of its tokens to theirs of the output. */
static void moe_expert(struct odb_chain *c)
{
    const struct moe *m = c->arg;
    struct odb_kern *k = m->k;
    size_t hidden = (size_t)m->hidden, routes = (size_t)(m->tokens * m->top), n = 0;
    for (size_t r = 0; r < routes; r++)
        n += m->chosen[r] == m->expert;
    if (!n)
        return;
    struct odb_tensor *x = odb_chain_new(c, k->in[0]->dtype, 2, (int64_t[]){(int64_t)n, m->hidden});
    size_t size = odb_dtype_info(k->in[0]->dtype)->bits / 8, row = 0;
    for (size_t r = 0; x && r < routes; r++)
        if (m->chosen[r] == m->expert)
            memcpy((char *)x->data + row++ * hidden * size,
                   (const char *)k->in[0]->data + r / (size_t)m->top * hidden * size,
                   hidden * size);
    if (!x)
        return;
    const struct odb_tensor *y = moe_apply(c, m, 1, moe_inner(c, m, x), m->hidden);
    row = 0;
    for (size_t r = 0; odb_chain_ok(c) && r < routes; r++) {
        if (m->chosen[r] != m->expert)
            continue;
        for (size_t i = 0; i < hidden; i++) {
            size_t at = r / (size_t)m->top * hidden + i;
            odb_store_f64(k->out[0]->dtype, k->out[0]->data, at,
                          odb_tensor_f64(k->out[0], at) +
                              m->shares[r] * odb_tensor_f64(y, row * hidden + i));
        }
        row++;
    }
}

static enum odb_status moe_run(struct odb_kern *k)
{
    struct moe m;
    ODB_TRY(moe_read(k, &m));
    size_t routes = (size_t)(m.tokens * m.top);
    enum odb_status status = ODB_OK;
    m.chosen = odb_work_take(routes + 1, sizeof *m.chosen);
    m.shares = odb_work_take(routes + 1, sizeof *m.shares);
    if (!m.chosen || !m.shares)
        status = odb_kern_no_memory(k);
    if (k->out[0]->bytes)
        memset(k->out[0]->data, 0, k->out[0]->bytes);
    for (size_t t = 0; status == ODB_OK && t < (size_t)m.tokens; t++)
        moe_route(&m, t);
    for (; status == ODB_OK && m.expert < (size_t)m.experts; m.expert++)
        status = odb_chain_run_with(k, moe_expert, &m);
    odb_work_give(m.chosen);
    odb_work_give(m.shares);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define MOE_ATTRS                                                                                  \
    {"activation_alpha", ODB_ATTR_FLOAT, "1.0", false},                                            \
        {"activation_beta", ODB_ATTR_FLOAT, "0.0", false},                                         \
        {"activation_type", ODB_ATTR_STRING, "relu", false}, {"k", ODB_ATTR_INT, "1", false},      \
        {"normalize_routing_weights", ODB_ATTR_INT, "0", false},                                   \
        {"swiglu_fusion", ODB_ATTR_INT, "0", false},                                               \
        {"swiglu_limit", ODB_ATTR_FLOAT, NULL, false},                                             \
    {                                                                                              \
        "use_sparse_mixer", ODB_ATTR_INT, "0", false                                               \
    }

static const struct odb_attr_spec moe_attrs[] = {MOE_ATTRS, {NULL}};
static const struct odb_attr_spec moe_quantised_attrs[] = {
    MOE_ATTRS,
    {"accuracy_level", ODB_ATTR_INT, "0", false},
    {"block_size", ODB_ATTR_INT, NULL, false},
    {"expert_weight_bits", ODB_ATTR_INT, "4", false},
    {"quant_type", ODB_ATTR_STRING, "int", false},
    {"weights_prepacked", ODB_ATTR_INT, "-1", false},
    {NULL}};

#define MOE_FLOATS (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define MOE_WEIGHTS (ODB_BIT(ODB_U8) | ODB_BIT(ODB_F8E4M3FN))
#define MOE_SCALES (MOE_FLOATS | ODB_BIT(ODB_F8E8M0) | ODB_BIT(ODB_F8E4M3FN))
#define MOE_FLAGS (ODB_OP_REAL | ODB_OP_MATMUL | ODB_OP_BOUNDARY)

const struct odb_op odb_ops_contrib_moe[] = {
    ODB_MICROSOFT("MoE", ODB_ARITY(3, 8), ODB_ARITY(1, 1), MOE_FLAGS, moe_attrs, moe_infer, moe_run,
                  MOE_FLOATS,
                  ODB_NAMES("input,router_probs,fc1_experts_weights,fc1_experts_bias,"
                            "fc2_experts_weights,fc2_experts_bias,fc3_experts_weights,"
                            "fc3_experts_bias",
                            "output"),
                  ODB_HALVES(1, 1), ODB_WORK(experts, 2, 4, 6)),
    ODB_MICROSOFT(
        "QMoE", ODB_ARITY(3, 21), ODB_ARITY(1, 1), MOE_FLAGS, moe_quantised_attrs, moe_infer,
        moe_run, MOE_FLOATS, ODB_AS(0), MOE_WEIGHTS, MOE_SCALES, ODB_AS(0), ODB_AS(2), ODB_AS(3),
        ODB_AS(0), ODB_AS(2), ODB_AS(3), ODB_AS(0), ODB_AS(2), ODB_AS(2), ODB_AS(2), ODB_AS(0),
        ODB_BIT(ODB_F32), ODB_AS(15), ODB_AS(15), ODB_AS(15), ODB_AS(3), ODB_AS(3),
        ODB_NAMES("input,router_probs,fc1_experts_weights,fc1_scales,fc1_experts_bias,"
                  "fc2_experts_weights,fc2_scales,fc2_experts_bias,fc3_experts_weights,fc3_scales,"
                  "fc3_experts_bias,fc1_zero_points,fc2_zero_points,fc3_zero_points,"
                  "router_weights,fc1_global_scale,fc2_global_scale,fc1_act_scale,fc2_act_scale,"
                  "fc1_act_block_scale,fc2_act_block_scale",
                  "output"),
        ODB_HALVES(1, 1), ODB_WORK(experts, 2, 5, 8), ODB_TRAITS(ODB_IS_QUANTISED)),
    {.name = NULL},
};
