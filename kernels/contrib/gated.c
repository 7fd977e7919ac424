/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft that scale a tensor by a gate, and BiasSoftmax: chains of a few
 * element-wise steps.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

/* Whether t has `rank` dimensions, and these. */
static bool gated_has_shape(const struct odb_tensor *t, int rank, const int64_t *dims)
{
    bool same = t->rank == rank;
    for (int d = 0; same && d < rank; d++)
        same = t->dims[d] == dims[d];
    return same;
}

/* ODB_E_OPERATOR unless input i has this shape. */
static void gated_check(struct odb_chain *c, int i, int rank, const int64_t *dims)
{
    struct odb_tensor want = {.rank = rank};
    char a[200], b[200];
    memcpy(want.dims, dims, (size_t)rank * sizeof *dims);
    if (odb_chain_ok(c) && !gated_has_shape(c->k->in[i], rank, dims))
        ODB_CHAIN_FAIL(c, "input %d has the shape %s, not %s", i,
                       odb_shape_text(c->k->in[i], a, sizeof a),
                       odb_shape_text(&want, b, sizeof b));
}

/* --- BiasSoftmax ------------------------------------------------------------------------------ */

/* Rows are what lies before the axis. The bias has fewer of them: each stands for as many
 * neighbouring rows of data (inner), or they are taken in turn. */
static void gated_bias_softmax(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *x = k->in[0], *bias = k->in[1];
    bool inner = odb_kern_int(k, "is_inner_broadcast", 0) != 0;
    int axis;
    c->status = odb_kern_axis(k, odb_kern_int(k, "axis", 1), x->rank, false, &axis);
    if (!odb_chain_ok(c))
        return;
    int64_t rows = (int64_t)odb_dims_product(x->dims, 0, axis);
    int64_t width = (int64_t)odb_dims_product(x->dims, axis, x->rank);
    int lead = x->rank - bias->rank, changes = 0; /* from broadcast dimensions to others, or back */
    bool fits = lead >= 0, before = !inner;
    for (int d = 0; fits && d < x->rank; d++) {
        int64_t size = d < lead ? 1 : bias->dims[d - lead];
        bool broadcast = d < axis && size != x->dims[d];
        fits = size == x->dims[d] || (d < axis && size == 1);
        if (d < axis && x->dims[d] != 1 && broadcast != before) {
            changes++;
            before = broadcast;
        }
    }
    if (!fits || changes > 1) {
        char a[200], b[200];
        ODB_CHAIN_FAIL(c, "bias %s is not broadcast %s dimensions of the data's %s",
                       odb_shape_text(bias, a, sizeof a),
                       inner ? "over the last" : "over the first", odb_shape_text(x, b, sizeof b));
        return;
    }
    int64_t of_bias = width ? (int64_t)bias->count / width : 0, each = of_bias ? rows / of_bias : 0;
    const struct odb_tensor *y = odb_chain_reshape(
        c, x, 3, inner ? (int64_t[]){of_bias, each, width} : (int64_t[]){each, of_bias, width});
    const struct odb_tensor *b = odb_chain_reshape(
        c, bias, 3, inner ? (int64_t[]){of_bias, 1, width} : (int64_t[]){1, of_bias, width});
    y = ODB_STEP(c, "Add", 14, (y, b));
    y = ODB_STEP_WITH(c, "Softmax", 13, (y), ODB_ATTRS(ODB_ATTR_I("axis", -1)));
    odb_chain_give(c, 0, odb_chain_ok(c) ? odb_chain_reshape(c, y, x->rank, x->dims) : NULL);
}
ODB_CHAIN(gated_bias_softmax)

/* --- GatedAdd --------------------------------------------------------------------------------- */

/* The product is rounded to the model's type before it is added. */
static const struct odb_tensor *gated_narrow(struct odb_chain *c, const struct odb_tensor *t)
{
    if (!odb_chain_ok(c) || c->k->narrow == ODB_UNDEFINED || t->dtype != ODB_F32)
        return t;
    struct odb_tensor *rounded = odb_chain_new(c, t->dtype, t->rank, t->dims);
    if (rounded && !c->infer && t->bytes) {
        memcpy(rounded->data, t->data, t->bytes);
        odb_round_f32(c->k->narrow, rounded->data, rounded->count);
    }
    return rounded;
}

static void gated_add(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0];
    int64_t gate[ODB_MAX_RANK];
    memcpy(gate, x->dims, sizeof gate);
    if (x->rank < 1)
        ODB_CHAIN_FAIL(c, "GatedAdd needs an input of at least one dimension");
    else
        gate[x->rank - 1] = 1;
    gated_check(c, 1, x->rank, x->dims);
    gated_check(c, 2, x->rank, gate);
    const struct odb_tensor *scaled = ODB_STEP(c, "Mul", 14, (c->k->in[1], c->k->in[2]));
    odb_chain_give(c, 0, ODB_STEP(c, "Add", 14, (x, gated_narrow(c, scaled))));
}
ODB_CHAIN(gated_add)

/* --- GatedRMSNorm ----------------------------------------------------------------------------- */

/* Each run of as many elements as there are in the scale is normalised; then times Swish(gate). */
static void gated_rms_norm(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *x = k->in[0], *scale = k->in[1];
    int64_t width = (int64_t)scale->count;
    if (scale->rank != 1 || x->rank < 1 || width < 1 || x->dims[x->rank - 1] % width)
        ODB_CHAIN_FAIL(c, "a last dimension of %lld is not whole runs of the scale's %lld",
                       (long long)(x->rank ? x->dims[x->rank - 1] : 0), (long long)width);
    gated_check(c, 2, x->rank, x->dims);
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *y =
        odb_chain_reshape(c, x, 2, (int64_t[]){(int64_t)x->count / width, width});
    y = ODB_STEP_WITH(c, "com.microsoft::SimplifiedLayerNormalization", 1, (y, scale),
                      ODB_ATTRS(ODB_ATTR_F("epsilon", (odb_f32)odb_kern_float(k, "epsilon", 0))));
    if (odb_chain_ok(c))
        y = odb_chain_reshape(c, y, x->rank, x->dims);
    odb_chain_give(c, 0, ODB_STEP(c, "Mul", 14, (y, ODB_STEP(c, "Swish", 24, (k->in[2])))));
}
ODB_CHAIN(gated_rms_norm)

/* --- LinearAttentionGate ---------------------------------------------------------------------- */

/* decay = decay_scale Softplus(a + dt_bias), beta = Sigmoid(b). */
static void gated_linear_attention(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *a = k->in[0], *b = odb_kern_in(k, 3);
    if (a->rank != 3)
        ODB_CHAIN_FAIL(c, "LinearAttentionGate needs an input (batch, steps, heads)");
    gated_check(c, 1, 1, &a->dims[2]);
    gated_check(c, 2, 1, &a->dims[2]);
    if (b)
        gated_check(c, 3, 3, a->dims);
    else if (k->n_out > 1 && k->wanted[1])
        ODB_CHAIN_FAIL(c, "beta is made of b, and b is missing");
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *decay = odb_chain_cast(c, a, k->in[1]->dtype);
    decay = ODB_STEP(c, "Softplus", 1, (ODB_STEP(c, "Add", 14, (decay, k->in[1]))));
    decay = ODB_STEP(c, "Mul", 14, (decay, k->in[2]));
    odb_chain_give(c, 0, odb_chain_ok(c) ? odb_chain_cast(c, decay, a->dtype) : NULL);
    if (b && k->n_out > 1)
        odb_chain_give(c, 1, ODB_STEP(c, "Sigmoid", 13, (b)));
}
ODB_CHAIN(gated_linear_attention)

/* --- EngramGate ------------------------------------------------------------------------------- */

enum {
    ENGRAM_KEY,
    ENGRAM_QUERY,
    ENGRAM_VALUE,
    ENGRAM_KEY_SCALE,
    ENGRAM_QUERY_SCALE,
    ENGRAM_OUT_SCALE
};

#define ENGRAM_LEAST 1e-6 /* of what the root is taken of */

static const struct odb_tensor *gated_reduce(struct odb_chain *c, const char *op,
                                             const struct odb_tensor *x)
{
    const struct odb_tensor *last = odb_chain_list(c, (int64_t[]){-1}, 1);
    return ODB_STEP(c, op, strcmp(op, "ReduceSum") == 0 ? 13 : 18, (x, last));
}

static const struct odb_tensor *gated_normalised(struct odb_chain *c, const struct odb_tensor *x,
                                                 const struct odb_tensor *scale)
{
    double epsilon = odb_kern_float(c->k, "epsilon", 0);
    const struct odb_tensor *square = ODB_STEP(c, "Mul", 14, (x, x));
    const struct odb_tensor *mean = gated_reduce(c, "ReduceMean", square);
    const struct odb_tensor *root = ODB_STEP(
        c, "Sqrt", 13, (ODB_STEP(c, "Add", 14, (mean, odb_chain_number(c, x->dtype, epsilon)))));
    return ODB_STEP(c, "Mul", 14, (ODB_STEP(c, "Div", 14, (x, root)), scale));
}

/* value Sigmoid(sign(s) sqrt(max(|s|, 1e-6))), where s is the normalised key times query. */
static void gated_engram(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *key = k->in[ENGRAM_KEY], *value = k->in[ENGRAM_VALUE];
    const int64_t *d = key->dims;
    if (key->rank != 4)
        ODB_CHAIN_FAIL(c, "EngramGate needs keys (batch, steps, connections, size)");
    gated_check(c, ENGRAM_QUERY, 4, d);
    gated_check(c, ENGRAM_VALUE, 3, (int64_t[]){d[0], d[1], d[3]});
    gated_check(c, ENGRAM_KEY_SCALE, 2, d + 2);
    gated_check(c, ENGRAM_QUERY_SCALE, 2, d + 2);
    const struct odb_tensor *out_scale = odb_kern_in(k, ENGRAM_OUT_SCALE);
    if (out_scale)
        gated_check(c, ENGRAM_OUT_SCALE, 2, d + 2);
    else if (k->n_out > 1 && k->wanted[1])
        ODB_CHAIN_FAIL(c, "gated_value_normed needs conv_norm_scale");
    if (!odb_chain_ok(c))
        return;
    const struct odb_tensor *a = gated_normalised(c, key, k->in[ENGRAM_KEY_SCALE]);
    const struct odb_tensor *b =
        gated_normalised(c, k->in[ENGRAM_QUERY], k->in[ENGRAM_QUERY_SCALE]);
    const struct odb_tensor *dot = gated_reduce(c, "ReduceSum", ODB_STEP(c, "Mul", 14, (a, b)));
    dot = ODB_STEP(c, "Mul", 14, (dot, odb_chain_number(c, key->dtype, 1 / sqrt((double)d[3]))));
    const struct odb_tensor *size =
        ODB_STEP(c, "Max", 13,
                 (ODB_STEP(c, "Abs", 13, (dot)), odb_chain_number(c, key->dtype, ENGRAM_LEAST)));
    size =
        ODB_STEP(c, "Mul", 14, (ODB_STEP(c, "Sign", 13, (dot)), ODB_STEP(c, "Sqrt", 13, (size))));
    const struct odb_tensor *gate = ODB_STEP(c, "Sigmoid", 13, (size));
    const struct odb_tensor *wide =
        odb_chain_reshape(c, value, 4, (int64_t[]){d[0], d[1], 1, d[3]});
    const struct odb_tensor *y = ODB_STEP(c, "Mul", 14, (gate, wide));
    odb_chain_give(c, 0, y);
    if (out_scale && k->n_out > 1 && odb_chain_ok(c))
        odb_chain_give(c, 1, gated_normalised(c, y, out_scale));
}
ODB_CHAIN(gated_engram)

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec gated_bias_softmax_attrs[] = {
    {"axis", ODB_ATTR_INT, "1", false}, {"is_inner_broadcast", ODB_ATTR_INT, NULL, true}, {NULL}};
static const struct odb_attr_spec gated_rms_norm_attrs[] = {
    {"epsilon", ODB_ATTR_FLOAT, "1e-05", false}, {NULL}};
static const struct odb_attr_spec gated_engram_attrs[] = {
    {"epsilon", ODB_ATTR_FLOAT, "1e-05", false}, {NULL}};

#define GATED_FLOATS (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define GATED_F32 ODB_BIT(ODB_F32)

const struct odb_op odb_ops_contrib_gated[] = {
    ODB_MICROSOFT("BiasSoftmax", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_STEADY,
                  gated_bias_softmax_attrs, gated_bias_softmax_infer, gated_bias_softmax_run,
                  ODB_T_FLOAT & ~ODB_BIT(ODB_BF16), ODB_AS(0), ODB_NAMES("data,bias", "output"),
                  ODB_HALVES(1, 0), ODB_WORK(per_output, 6),
                  ODB_FUSES(" Softmax ", " Add Softmax ")),
    ODB_MICROSOFT("GatedAdd", ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL, NULL, gated_add_infer,
                  gated_add_run, GATED_FLOATS, ODB_NAMES("X,Y,gate", "output"), ODB_HALVES(1, 1),
                  ODB_WORK(per_output, 2), ODB_FUSES(" Add ", " Mul Add ")),
    ODB_MICROSOFT("GatedRMSNorm", ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL,
                  gated_rms_norm_attrs, gated_rms_norm_infer, gated_rms_norm_run, GATED_FLOATS,
                  ODB_NAMES("X,scale,gate", "Y"), ODB_HALVES(1, 1), ODB_WORK(per_output, 6),
                  ODB_FUSES(" Mul ", " SimplifiedLayerNormalization Cast Sigmoid Mul Swish ")),
    ODB_MICROSOFT("LinearAttentionGate", ODB_ARITY(3, 4), ODB_ARITY(1, 2), ODB_OP_REAL, NULL,
                  gated_linear_attention_infer, gated_linear_attention_run, GATED_FLOATS, GATED_F32,
                  ODB_AS(1), ODB_AS(0), ODB_NAMES("a,dt_bias,decay_scale,b", "decay,beta"),
                  ODB_HALVES(1, 1, 6), ODB_WORK(per_input_with, 3, 1, 3),
                  ODB_FUSES(" Mul Cast ", " Cast Add Softplus Mul Sigmoid ")),
    ODB_MICROSOFT("EngramGate", ODB_ARITY(5, 6), ODB_ARITY(1, 2), ODB_OP_REAL | ODB_OP_BOUNDARY,
                  gated_engram_attrs, gated_engram_infer, gated_engram_run, GATED_FLOATS,
                  ODB_NAMES("key,query,value,key_norm_scale,query_norm_scale,conv_norm_scale",
                            "output,gated_value_normed"),
                  ODB_HALVES(1, 1), ODB_WORK(per_input_with, 11, 4, 5)),
    {.name = NULL},
};
