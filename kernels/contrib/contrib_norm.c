/* SPDX-License-Identifier: MIT
 *
 * ONNX Runtime's normalisations (com.microsoft 1): a sum, then LayerNormalization,
 * RMSNormalization or GroupNormalization, whose kernels do the work (means and variances in
 * double). The sums before are taken in the element type, in the order of the inputs.
 *
 * SimplifiedLayerNormalization also stands in the default domain, where ONNX Runtime's exporters
 * put it: RMSNormalization with one more output.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"

enum { NORM_LAYER_VERSION = 17, NORM_RMS_VERSION = 23, NORM_GROUP_VERSION = 21 };

#define NORM_EPSILON(k) ODB_ATTR_F("epsilon", (float)odb_kern_float(k, "epsilon", 1e-5))

static enum odb_status norm_check_vector(struct odb_kern *k, int i, int64_t length)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    char text[200];
    if (t && (t->rank != 1 || t->dims[0] != length))
        return ODB_KERN_FAIL(k, "input %d of %s has the shape %s instead of [%lld]", i, k->op->name,
                             odb_shape_text(t, text, sizeof text), (long long)length);
    return ODB_OK;
}

/* Means and inverse deviations of rows are floats whatever is normalised. */
static enum odb_status norm_outline_moments(struct odb_kern *k, int first, int last)
{
    int64_t dims[ODB_MAX_RANK];
    const struct odb_tensor *x = k->in[0];
    memcpy(dims, x->dims, sizeof dims);
    if (x->rank)
        dims[x->rank - 1] = 1;
    for (int i = first; i < ODB_MIN(k->n_out, last + 1); i++)
        ODB_TRY(odb_kern_outline(k, i, k->carry_f64 ? ODB_F64 : ODB_F32, x->rank, dims));
    return ODB_OK;
}

/* --- SimplifiedLayerNormalization ------------------------------------------------------------- */

static enum odb_status norm_simplified(struct odb_kern *k, bool infer)
{
    const struct odb_op *rms = odb_op_find("", "RMSNormalization", NORM_RMS_VERSION);
    struct odb_outline lines[3] = {0};
    struct odb_tensor *out[3] = {k->out[0], NULL, k->n_out > 1 ? k->out[1] : NULL};
    bool wanted[3] = {k->wanted[0], false, k->n_out > 1 && k->wanted[1]};
    struct odb_kern inner = *k;
    inner.op = rms;
    inner.n_out = 3;
    inner.out = out;
    inner.outline = lines;
    inner.wanted = wanted;
    if (!infer)
        return rms->run(&inner);
    ODB_TRY(rms->infer(&inner));
    k->outline[0] = lines[0];
    if (k->n_out > 1)
        k->outline[1] = lines[2];
    return ODB_OK;
}

static enum odb_status norm_simplified_infer(struct odb_kern *k)
{
    return norm_simplified(k, true);
}

static enum odb_status norm_simplified_run(struct odb_kern *k)
{
    return norm_simplified(k, false);
}

/* --- with a skip connection ------------------------------------------------------------------- */

static bool norm_is_rms(const struct odb_kern *k)
{
    return strcmp(k->op->name, "SkipSimplifiedLayerNormalization") == 0;
}

static enum odb_status norm_skip_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *skip = k->in[1];
    char a[200], b[200];
    if (x->rank < 2)
        return ODB_KERN_FAIL(k, "%s needs an input of at least 2 dimensions, not %d", k->op->name,
                             x->rank);
    int lead = x->rank - skip->rank; /* dimensions that the skip lacks, or has as 1 */
    bool fits = lead >= 0 && lead <= x->rank - 2;
    for (int d = 0; fits && d < skip->rank; d++)
        fits = skip->dims[d] == x->dims[d + lead] || (skip->dims[d] == 1 && d + lead < x->rank - 2);
    if (!fits)
        return ODB_KERN_FAIL(k, "skip %s does not fit the input's %s",
                             odb_shape_text(skip, a, sizeof a), odb_shape_text(x, b, sizeof b));
    for (int i = 2; i < k->n_in; i++)
        ODB_TRY(norm_check_vector(k, i, x->dims[x->rank - 1]));
    ODB_TRY(odb_kern_outline_like(k, 0, 0));
    ODB_TRY(norm_outline_moments(k, 1, 2));
    return k->n_out > 3 ? odb_kern_outline_like(k, 3, 0) : ODB_OK;
}

/* a + b, and + more where there is one. */
static const struct odb_tensor *norm_add(struct odb_chain *c, const struct odb_tensor *a,
                                         const struct odb_tensor *b, const struct odb_tensor *more)
{
    const struct odb_tensor *sum = ODB_STEP(c, "Add", 14, (a, b));
    return more ? ODB_STEP(c, "Add", 14, (sum, more)) : sum;
}

/* The inverse deviations of output 2, and the means of output 1, which are not taken: zeros. */
static void norm_give_rms_moments(struct odb_chain *c, const struct odb_tensor *inverse)
{
    if (!odb_chain_ok(c))
        return;
    struct odb_tensor *mean = odb_chain_new(c, inverse->dtype, inverse->rank, inverse->dims);
    if (mean && mean->bytes)
        memset(mean->data, 0, mean->bytes);
    odb_chain_give(c, 1, mean);
    odb_chain_give(c, 2, inverse);
}

static void norm_skip(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *out[3] = {NULL};
    bool rms = norm_is_rms(k), moments = k->n_out > 1;
    const struct odb_tensor *sum = norm_add(c, k->in[0], k->in[1], odb_kern_in(k, rms ? 3 : 4));
    struct odb_step norm = {.op = "LayerNormalization",
                            .opset = NORM_LAYER_VERSION,
                            .in = {sum, k->in[2], rms ? NULL : odb_kern_in(k, 3)},
                            .attrs = ODB_ATTRS(NORM_EPSILON(k))};
    if (rms) {
        norm.op = "com.microsoft::SimplifiedLayerNormalization";
        norm.opset = 1;
    }
    odb_chain_steps(c, &norm, !moments ? 1 : rms ? 2 : 3, out);
    odb_chain_give(c, 0, out[0]);
    if (moments && rms)
        norm_give_rms_moments(c, out[1]);
    for (int i = 1; moments && !rms && i < 3; i++)
        odb_chain_give(c, i, out[i]);
    odb_chain_give(c, 3, sum);
}

static enum odb_status norm_skip_run(struct odb_kern *k)
{
    return odb_chain_run(k, norm_skip);
}

/* --- EmbedLayerNormalization ------------------------------------------------------------------ */

enum {
    EMBED_IDS,
    EMBED_SEGMENTS,
    EMBED_WORDS,
    EMBED_PLACES,
    EMBED_KINDS,
    EMBED_GAMMA,
    EMBED_BETA,
    EMBED_MASK,
    EMBED_POSITIONS
};

static enum odb_status norm_embed_infer(struct odb_kern *k)
{
    static const int needed[] = {EMBED_WORDS, EMBED_PLACES, EMBED_GAMMA, EMBED_BETA};
    for (size_t i = 0; i < ODB_COUNT(needed); i++)
        if (!odb_kern_in(k, needed[i]))
            return ODB_KERN_FAIL(k, "input %d of %s is missing", needed[i], k->op->name);
    const struct odb_tensor *ids = k->in[EMBED_IDS], *words = k->in[EMBED_WORDS];
    char text[200];
    if (ids->rank != 2 || words->rank != 2)
        return ODB_KERN_FAIL(k, "input_ids and word_embedding must have two dimensions");
    int64_t batch = ids->dims[0], length = ids->dims[1], size = words->dims[1];
    for (int i = EMBED_PLACES; i <= EMBED_KINDS; i++) {
        const struct odb_tensor *t = k->in[i];
        if (t && (t->rank != 2 || t->dims[1] != size))
            return ODB_KERN_FAIL(k, "embedding %s does not fit vectors of %lld",
                                 odb_shape_text(t, text, sizeof text), (long long)size);
    }
    if (!k->in[EMBED_SEGMENTS] != !k->in[EMBED_KINDS])
        return ODB_KERN_FAIL(k, "segment_ids and segment_embedding come together");
    for (int i = EMBED_GAMMA; i <= EMBED_BETA; i++)
        ODB_TRY(norm_check_vector(k, i, size));
    static const int like_ids[] = {EMBED_SEGMENTS, EMBED_MASK, EMBED_POSITIONS};
    for (size_t i = 0; i < ODB_COUNT(like_ids); i++) {
        const struct odb_tensor *t = odb_kern_in(k, like_ids[i]);
        bool repeats = like_ids[i] == EMBED_POSITIONS && t && t->rank == 2 && t->dims[0] == 1;
        if (t && (t->rank != 2 || t->dims[1] != length || (!repeats && t->dims[0] != batch)))
            return ODB_KERN_FAIL(k, "input %d has the shape %s, input_ids [%lld,%lld]", like_ids[i],
                                 odb_shape_text(t, text, sizeof text), (long long)batch,
                                 (long long)length);
    }
    for (int i = 0; i < k->n_out; i++) {
        int64_t dims[] = {batch, length, size};
        ODB_TRY(i == 1 ? odb_kern_outline(k, i, ODB_I32, 1, dims)
                       : odb_kern_outline(k, i, words->dtype, 3, dims));
    }
    return ODB_OK;
}

/* Number of words of each sequence: the ones of the mask; zero without a mask. */
static void norm_embed_mask_index(const struct odb_kern *k, struct odb_tensor *out)
{
    const struct odb_tensor *mask = odb_kern_in(k, EMBED_MASK), *ids = k->in[EMBED_IDS];
    for (size_t b = 0; b < out->count; b++) {
        int32_t words = 0;
        for (int64_t s = 0; mask && s < ids->dims[1]; s++)
            words += odb_tensor_i64(mask, b * (size_t)ids->dims[1] + (size_t)s) == 1;
        ((odb_i32 *)out->data)[b] = words;
    }
}

/* ONNX's Gather counts negative ones from the end. */
static void norm_embed_refuse_negative(struct odb_chain *c, const struct odb_tensor *ids)
{
    for (size_t i = 0; ids && i < ids->count && odb_chain_ok(c); i++)
        if (odb_tensor_i64(ids, i) < 0)
            ODB_CHAIN_FAIL(c, "a token, segment or position is negative");
}

/* 0, 1, … for every sequence. */
static const struct odb_tensor *norm_embed_order(struct odb_chain *c, int64_t length)
{
    struct odb_tensor *t = odb_chain_new(c, ODB_I32, 2, (int64_t[]){1, length});
    for (int32_t s = 0; t && s < length; s++)
        ((odb_i32 *)t->data)[s] = s;
    return t;
}

/* The sum of the embeddings' rows of every token, normalised. */
static void norm_embed(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    const struct odb_tensor *ids = k->in[EMBED_IDS], *segments = k->in[EMBED_SEGMENTS];
    const struct odb_tensor *positions = odb_kern_in(k, EMBED_POSITIONS), *kind = NULL;
    if (!positions)
        positions = norm_embed_order(c, ids->dims[1]);
    norm_embed_refuse_negative(c, ids);
    norm_embed_refuse_negative(c, segments);
    norm_embed_refuse_negative(c, positions);
    const struct odb_tensor *word = ODB_STEP(c, "Gather", 13, (k->in[EMBED_WORDS], ids));
    const struct odb_tensor *place = ODB_STEP(c, "Gather", 13, (k->in[EMBED_PLACES], positions));
    if (segments)
        kind = ODB_STEP(c, "Gather", 13, (k->in[EMBED_KINDS], segments));
    const struct odb_tensor *sum = norm_add(c, word, place, kind);
    odb_chain_give(c, 0,
                   ODB_STEP_WITH(c, "LayerNormalization", NORM_LAYER_VERSION,
                                 (sum, k->in[EMBED_GAMMA], k->in[EMBED_BETA]),
                                 ODB_ATTRS(NORM_EPSILON(k))));
    odb_chain_give(c, 2, sum);
}

static enum odb_status norm_embed_run(struct odb_kern *k)
{
    if (k->n_out > 1 && k->out[1])
        norm_embed_mask_index(k, k->out[1]);
    return odb_chain_run(k, norm_embed);
}

/* --- GroupNorm -------------------------------------------------------------------------------- */

static bool norm_channels_last(const struct odb_kern *k)
{
    return odb_kern_int(k, "channels_last", 1) != 0;
}

/* X, gamma, beta; SkipGroupNorm also skip, as X or one vector per image, and bias. */
static enum odb_status norm_groups_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *skip = odb_kern_in(k, 3);
    char a[200], b[200];
    if (x->rank < 3)
        return ODB_KERN_FAIL(k, "%s needs an input of at least 3 dimensions, not %d", k->op->name,
                             x->rank);
    int64_t channels = x->dims[norm_channels_last(k) ? x->rank - 1 : 1];
    int64_t groups = odb_kern_int(k, "groups", 0), activation = odb_kern_int(k, "activation", 0);
    if (groups < 1 || channels % groups != 0)
        return ODB_KERN_FAIL(k, "%lld channels cannot be cut into %lld groups", (long long)channels,
                             (long long)groups);
    if (activation != 0 && activation != 1)
        return ODB_KERN_FAIL(k, "activation must be 0 (none) or 1 (SiLU), not %lld",
                             (long long)activation);
    for (int i = 1; i < k->n_in; i++)
        if (i != 3)
            ODB_TRY(norm_check_vector(k, i, channels));
    if (skip && !norm_channels_last(k))
        return ODB_KERN_UNSUPPORTED(k, "%s with the channels first", k->op->name);
    bool per_image =
        skip && skip->rank == 2 && skip->dims[0] == x->dims[0] && skip->dims[1] == channels;
    bool fits = !skip || per_image || skip->rank == x->rank;
    for (int d = 0; skip && !per_image && fits && d < x->rank; d++)
        fits = skip->dims[d] == x->dims[d] || (d > 0 && d < x->rank - 1 && skip->dims[d] == 1);
    if (!fits)
        return ODB_KERN_FAIL(k, "skip %s does not fit the input's %s",
                             odb_shape_text(skip, a, sizeof a), odb_shape_text(x, b, sizeof b));
    for (int i = 0; i < k->n_out; i++)
        ODB_TRY(odb_kern_outline_like(k, i, 0));
    return ODB_OK;
}

/* The input, its skip and its bias; one vector per image as a tensor of x's rank. */
static const struct odb_tensor *norm_groups_sum(struct odb_chain *c)
{
    const struct odb_tensor *x = c->k->in[0], *skip = odb_kern_in(c->k, 3);
    int64_t dims[ODB_MAX_RANK];
    if (!skip)
        return x;
    for (int d = 0; d < x->rank; d++)
        dims[d] = skip->rank == x->rank        ? skip->dims[d]
                  : d == 0 || d == x->rank - 1 ? x->dims[d]
                                               : 1;
    return norm_add(c, x, odb_chain_reshape(c, skip, x->rank, dims), odb_kern_in(c->k, 4));
}

static void norm_groups(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    bool last = norm_channels_last(k);
    const struct odb_tensor *sum = norm_groups_sum(c), *y = sum;
    if (last)
        y = odb_chain_channels_first(c, y);
    y = ODB_STEP_WITH(
        c, "GroupNormalization", NORM_GROUP_VERSION, (y, k->in[1], k->in[2]),
        ODB_ATTRS(NORM_EPSILON(k), ODB_ATTR_I("num_groups", odb_kern_int(k, "groups", 1))));
    if (last)
        y = odb_chain_channels_last(c, y);
    if (odb_kern_int(k, "activation", 0) == 1)
        y = ODB_STEP(c, "Swish", 24, (y));
    odb_chain_give(c, 0, y);
    odb_chain_give(c, 1, sum);
}

static enum odb_status norm_groups_run(struct odb_kern *k)
{
    return odb_chain_run(k, norm_groups);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec norm_simplified_attrs[] = {
    {"axis", ODB_ATTR_INT, "-1", false},
    {"epsilon", ODB_ATTR_FLOAT, "1e-05", false},
    {"stash_type", ODB_ATTR_INT, "1", false},
    {NULL}};
static const struct odb_attr_spec norm_skip_attrs[] = {{"epsilon", ODB_ATTR_FLOAT, "1e-12", false},
                                                       {NULL}};
static const struct odb_attr_spec norm_embed_attrs[] = {
    {"epsilon", ODB_ATTR_FLOAT, "1e-12", false},
    {"mask_index_type", ODB_ATTR_INT, NULL, false},
    {NULL}};
static const struct odb_attr_spec norm_groups_attrs[] = {
    {"activation", ODB_ATTR_INT, NULL, true},
    {"channels_last", ODB_ATTR_INT, "1", false},
    {"epsilon", ODB_ATTR_FLOAT, "1e-05", false},
    {"groups", ODB_ATTR_INT, NULL, true},
    {NULL}};

#define NORM_ROW(op, least, most, outs, of, ...)                                                   \
    ODB_MICROSOFT(op, ODB_ARITY(least, most), ODB_ARITY(1, outs), ODB_OP_REAL, norm_##of##_attrs,  \
                  norm_##of##_infer, norm_##of##_run, __VA_ARGS__)
#define NORM_IDS ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_norm[] = {
    ODB_ONNX("SimplifiedLayerNormalization", 1, ODB_ARITY(2, 2), ODB_ARITY(1, 2),
             ODB_OP_REAL | ODB_OP_OPEN, norm_simplified_attrs, norm_simplified_infer,
             norm_simplified_run, ODB_T_FLOAT, ODB_T_FLOAT, ODB_NAMES("X,scale", "Y,inv_std_var"),
             ODB_WORK(per_input, 4), ODB_FUSES(" Mul ", ODB_WORDS_NORM),
             ODB_TRAITS(ODB_IS_NONSTANDARD)),
    NORM_ROW("SimplifiedLayerNormalization", 2, 2, 2, simplified, ODB_T_FLOAT, ODB_T_FLOAT,
             ODB_NAMES("X,scale", "Y,inv_std_var"), ODB_WORK(per_input, 4),
             ODB_FUSES(" Mul ", ODB_WORDS_NORM)),
    NORM_ROW("SkipLayerNormalization", 3, 5, 4, skip, ODB_T_FLOAT,
             ODB_NAMES("input,skip,gamma,beta,bias", "output,mean,inv_std_var,input_skip_bias_sum"),
             ODB_HALVES(1, 0, 0, 6), ODB_WORK(per_input_with, 8, 1, 4),
             ODB_FUSES(" Add Mul Div LayerNormalization ", ODB_WORDS_NORM)),
    NORM_ROW("SkipSimplifiedLayerNormalization", 3, 4, 4, skip, ODB_T_FLOAT,
             ODB_NAMES("input,skip,gamma,bias", "output,mean,inv_std_var,input_skip_bias_sum"),
             ODB_HALVES(1, 0, 0, 6), ODB_WORK(per_input_with, 5, 1, 3),
             ODB_FUSES(" Mul SimplifiedLayerNormalization ",
                       ODB_WORDS_NORM "SimplifiedLayerNormalization ")),
    NORM_ROW("EmbedLayerNormalization", 1, 9, 3, embed, NORM_IDS, NORM_IDS, ODB_T_FLOAT, ODB_AS(2),
             ODB_AS(2), ODB_AS(2), ODB_AS(2), NORM_IDS, NORM_IDS,
             ODB_NAMES("input_ids,segment_ids,word_embedding,position_embedding,segment_embedding,"
                       "gamma,beta,mask,position_ids",
                       "output,mask_index,embedding_sum"),
             ODB_HALVES(1, 0),
             ODB_FUSES(" Add Mul Div LayerNormalization ",
                       ODB_WORDS_NORM "Gather Shape Slice Unsqueeze Expand Concat ")),
    NORM_ROW("GroupNorm", 3, 3, 1, groups, ODB_T_FLOAT, ODB_T_FLOAT,
             ODB_NAMES("X,gamma,beta", "Y")),
    NORM_ROW("SkipGroupNorm", 4, 5, 2, groups, ODB_T_FLOAT, ODB_T_FLOAT, ODB_AS(1), ODB_AS(0),
             ODB_AS(0), ODB_NAMES("X,gamma,beta,skip,bias", "Y,S")),
    {.name = NULL},
};
