/* SPDX-License-Identifier: MIT
 *
 * What stands around attention in ONNX Runtime's transformers (com.microsoft 1): padding that is
 * removed and restored, biases of relative positions, sums with a bias, blocked n-grams. Sums with
 * a bias are taken in the element type; gates of positions sum in double what MatMul made.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/core/chain.h"
#include "kernels/contrib/contrib.h"
#include "kernels/elementwise/elementwise.h"

static enum odb_status seq_check_shape(struct odb_kern *k, int i, int rank, const int64_t *dims)
{
    const struct odb_tensor *t = k->in[i];
    char text[200];
    if (t->rank != rank || memcmp(t->dims, dims, (size_t)rank * sizeof *dims) != 0)
        return ODB_KERN_FAIL(k, "input %d of %s has the unexpected shape %s", i, k->op->name,
                             odb_shape_text(t, text, sizeof text));
    return ODB_OK;
}

/* --- sums with a bias ------------------------------------------------------------------------- */

/* X, a bias for its last dimension, and (BiasAdd) a skip like X. */
static enum odb_status seq_bias_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    bool split = strcmp(k->op->name, "BiasSplitGelu") == 0;
    if (x->rank < 1 || (split && x->dims[x->rank - 1] % 2))
        return ODB_KERN_FAIL(k, "%s needs %s last dimension", k->op->name, split ? "an even" : "a");
    ODB_TRY(seq_check_shape(k, 1, 1, &x->dims[x->rank - 1]));
    if (k->n_in > 2)
        ODB_TRY(seq_check_shape(k, 2, x->rank, x->dims));
    int64_t dims[ODB_MAX_RANK];
    memcpy(dims, x->dims, sizeof dims);
    dims[x->rank - 1] /= split ? 2 : 1;
    return odb_kern_outline(k, 0, x->dtype, x->rank, dims);
}

static void seq_bias_add(struct odb_chain *c)
{
    const struct odb_tensor *sum = ODB_STEP(c, "Add", 14, (c->k->in[0], c->k->in[1]));
    odb_chain_give(c, 0, ODB_STEP(c, "Add", 14, (sum, c->k->in[2])));
}

static enum odb_status seq_bias_add_run(struct odb_kern *k)
{
    return odb_chain_run(k, seq_bias_add);
}

/* The first half of X + bias, times Gelu of the second. */
static void seq_split_gelu(struct odb_chain *c)
{
    const struct odb_tensor *half[2];
    const struct odb_tensor *sum = ODB_STEP(c, "Add", 14, (c->k->in[0], c->k->in[1]));
    const struct odb_step split = {
        .op = "Split",
        .opset = 18,
        .in = {sum},
        .attrs = ODB_ATTRS(ODB_ATTR_I("axis", -1), ODB_ATTR_I("num_outputs", 2))};
    odb_chain_steps(c, &split, 2, half);
    const struct odb_tensor *gate = ODB_STEP(c, "Gelu", 20, (half[1]));
    odb_chain_give(c, 0, ODB_STEP(c, "Mul", 14, (half[0], gate)));
}

static enum odb_status seq_split_gelu_run(struct odb_kern *k)
{
    return odb_chain_run(k, seq_split_gelu);
}

/* --- relative positions ----------------------------------------------------------------------- */

/* The bucket of a distance in T5: half of the buckets are for one position each, the others grow
 * with the logarithm up to max_distance. In float, as ONNX Runtime decides it. */
static int64_t seq_bucket(int64_t distance, int64_t buckets, int64_t max_distance, bool both)
{
    int64_t base = 0;
    if (both) {
        buckets /= 2;
        base = distance > 0 ? buckets : 0;
        distance = llabs(distance);
    } else {
        distance = distance > 0 ? 0 : -distance;
    }
    int64_t exact = buckets / 2;
    if (distance < exact)
        return base + distance;
    float grown = logf((float)distance / (float)exact) / logf((float)max_distance / (float)exact) *
                  (float)(buckets - exact);
    return base + ODB_MIN(exact + (int64_t)grown, buckets - 1);
}

static enum odb_status seq_relative_infer(struct odb_kern *k)
{
    const struct odb_tensor *table = k->in[0];
    int64_t queries, keys;
    size_t n;
    if (table->rank != 2 || table->dims[0] < (odb_kern_int(k, "is_bidirectional", 0) ? 4 : 2))
        return ODB_KERN_FAIL(k, "bias_table must be [buckets,heads] with buckets enough");
    ODB_TRY(odb_kern_values(k, 1, &queries, 1, &n));
    ODB_TRY(odb_kern_values(k, 2, &keys, 1, &n));
    if (queries != keys)
        return ODB_KERN_FAIL(k, "query_length %lld and key_length %lld differ", (long long)queries,
                             (long long)keys);
    return odb_kern_outline(k, 0, table->dtype, 4, (int64_t[]){1, table->dims[1], queries, keys});
}

/* The table is filled column by column: all buckets of the first head, then of the second. */
static enum odb_status seq_relative_run(struct odb_kern *k)
{
    const struct odb_tensor *table = k->in[0];
    int64_t buckets = table->dims[0], heads = table->dims[1], length = k->out[0]->dims[2];
    int64_t most = odb_kern_int(k, "max_distance", 0);
    bool both = odb_kern_int(k, "is_bidirectional", 0) != 0;
    size_t size = odb_ew_size(table->dtype);
    if (most <= buckets / (both ? 4 : 2))
        return ODB_KERN_FAIL(k, "max_distance %lld is too small for %lld buckets", (long long)most,
                             (long long)buckets);
    unsigned char *y = k->out[0]->data;
    for (int64_t h = 0; h < heads; h++)
        for (int64_t row = 0; row < length; row++)
            for (int64_t col = 0; col < length; col++, y += size)
                memcpy(y,
                       (unsigned char *)table->data +
                           (size_t)(h * buckets + seq_bucket(col - row, buckets, most, both)) *
                               size,
                       size);
    return ODB_OK;
}

enum { GATED_QUERY, GATED_QUERY_BIAS, GATED_POSITIONS, GATED_WEIGHT, GATED_BIAS, GATED_ECO };

static enum odb_status seq_gated_infer(struct odb_kern *k)
{
    const struct odb_tensor *query = k->in[GATED_QUERY], *weight = k->in[GATED_WEIGHT];
    int64_t heads = odb_kern_int(k, "num_heads", 0);
    if (odb_kern_in(k, 6))
        return ODB_KERN_UNSUPPORTED(k, "GatedRelativePositionBias of packed tokens");
    if (heads < 1 || query->rank != 3 || query->dims[2] % heads)
        return ODB_KERN_FAIL(k, "query_layer must be [batch,length,%lld * head size]",
                             (long long)heads);
    int64_t length = query->dims[1], size = query->dims[2] / heads;
    if (weight->rank != 2 || weight->dims[0] != size || weight->dims[1] % 2)
        return ODB_KERN_FAIL(k, "weight must be [%lld,an even number]", (long long)size);
    ODB_TRY(seq_check_shape(k, GATED_QUERY_BIAS, 1, &query->dims[2]));
    ODB_TRY(seq_check_shape(k, GATED_POSITIONS, 4, (int64_t[]){1, heads, length, length}));
    ODB_TRY(seq_check_shape(k, GATED_BIAS, 1, &weight->dims[1]));
    ODB_TRY(seq_check_shape(k, GATED_ECO, 4, (int64_t[]){1, heads, 1, 1}));
    return odb_kern_outline(k, 0, query->dtype, 4,
                            (int64_t[]){query->dims[0], heads, length, length});
}

/* (query + bias) W + b of every head and position, [batch * length * heads][d]. */
static const struct odb_tensor *seq_gated_linear(struct odb_chain *c)
{
    struct odb_kern *k = c->k;
    int64_t size = k->in[GATED_WEIGHT]->dims[0];
    const struct odb_tensor *query =
        ODB_STEP(c, "Add", 14, (k->in[GATED_QUERY], k->in[GATED_QUERY_BIAS]));
    int64_t count = query && size ? (int64_t)query->count / size : 0;
    const struct odb_tensor *rows = odb_chain_reshape(c, query, 2, (int64_t[]){count, size});
    const struct odb_tensor *product = ODB_STEP(c, "MatMul", 13, (rows, k->in[GATED_WEIGHT]));
    return ODB_STEP(c, "Add", 14, (product, k->in[GATED_BIAS]));
}

static double seq_gate(const struct odb_tensor *linear, size_t from, size_t n, bool in_float)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += odb_tensor_f64(linear, from + i);
        sum = in_float ? (float)sum : sum;
    }
    return 1 / (1 + exp(-sum));
}

/* Every row of rel_pos times u (r a - 1) + 2 of its query and head. */
static void seq_gated(struct odb_chain *c)
{
    const struct odb_kern *k = c->k;
    const struct odb_tensor *linear = seq_gated_linear(c);
    struct odb_tensor *y = k->out[0];
    size_t heads = (size_t)y->dims[1], length = (size_t)y->dims[2];
    size_t half = (size_t)k->in[GATED_WEIGHT]->dims[1] / 2;
    bool in_float = k->sequential && y->dtype != ODB_F64;
    for (size_t row = 0; odb_chain_ok(c) && row < y->count / length; row++) {
        size_t batch = row / length / heads, head = row / length % heads, s = row % length;
        size_t at = ((batch * length + s) * heads + head) * 2 * half;
        double u = seq_gate(linear, at, half, in_float);
        double r = seq_gate(linear, at + half, half, in_float);
        double factor = u * (r * odb_tensor_f64(k->in[GATED_ECO], head) - 1) + 2;
        for (size_t t = 0; t < length; t++)
            odb_store_f64(
                y->dtype, y->data, row * length + t,
                factor * odb_tensor_f64(k->in[GATED_POSITIONS], (head * length + s) * length + t));
    }
}

static enum odb_status seq_gated_run(struct odb_kern *k)
{
    return k->out[0]->count ? odb_chain_run(k, seq_gated) : ODB_OK;
}

/* --- padding ---------------------------------------------------------------------------------- */

/* Tokens of sequence b, which must fit. */
static enum odb_status seq_token_count(struct odb_kern *k, int64_t b, int64_t *count)
{
    *count = odb_tensor_i64(k->in[1], (size_t)b);
    if (*count < 0 || *count > k->in[0]->dims[1])
        return ODB_KERN_FAIL(k, "sequence %lld has %lld tokens of %lld", (long long)b,
                             (long long)*count, (long long)k->in[0]->dims[1]);
    return ODB_OK;
}

static void seq_put(struct odb_tensor *out, int64_t i, int64_t v)
{
    if (out)
        odb_store_i64(out->dtype, out->data, (size_t)i, v);
}

static enum odb_status seq_remove_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    int64_t count, total = 0, longest = 0;
    if (x->rank != 3)
        return ODB_KERN_FAIL(k, "RemovePadding needs an input of 3 dimensions, not %d", x->rank);
    int64_t batch = x->dims[0], length = x->dims[1];
    ODB_TRY(seq_check_shape(k, 1, 1, &batch));
    for (int64_t b = 0; b < batch; b++) {
        ODB_TRY(seq_token_count(k, b, &count));
        total += count;
        longest = ODB_MAX(longest, count);
    }
    size_t size = (size_t)x->dims[2] * odb_ew_size(x->dtype);
    ODB_TRY(odb_kern_output(k, 0, x->dtype, 2, (int64_t[]){total, x->dims[2]}));
    ODB_TRY(odb_kern_output(k, 1, ODB_I32, 2, (int64_t[]){batch, length}));
    ODB_TRY(odb_kern_output(k, 2, ODB_I32, 1, (int64_t[]){batch + 1}));
    ODB_TRY(odb_kern_output(k, 3, ODB_I32, 1, (int64_t[]){1}));
    int64_t word = 0, padding = total;
    seq_put(k->out[2], 0, 0);
    for (int64_t b = 0; b < batch; b++) {
        ODB_TRY(seq_token_count(k, b, &count));
        for (int64_t s = 0; s < length; s++) {
            if (s < count && size && k->out[0])
                memcpy((char *)k->out[0]->data + (size_t)word * size,
                       (char *)x->data + (size_t)(b * length + s) * size, size);
            seq_put(k->out[1], s < count ? word++ : padding++, b * length + s);
        }
        seq_put(k->out[2], b + 1, word);
    }
    seq_put(k->out[3], 0, longest);
    return ODB_OK;
}

static enum odb_status seq_restore_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *offset = k->in[1];
    if (x->rank != 2 || offset->rank != 2 || x->dims[0] > (int64_t)offset->count)
        return ODB_KERN_FAIL(k, "RestorePadding needs tokens [n,size] and offsets "
                                "[batch,length] of as many or more");
    return odb_kern_outline(k, 0, x->dtype, 3,
                            (int64_t[]){offset->dims[0], offset->dims[1], x->dims[1]});
}

static enum odb_status seq_restore_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *offset = k->in[1];
    size_t size = (size_t)x->dims[1] * odb_ew_size(x->dtype);
    if (k->out[0]->bytes)
        memset(k->out[0]->data, 0, k->out[0]->bytes);
    for (size_t i = 0; i < (size_t)x->dims[0]; i++) {
        int64_t at = odb_tensor_i64(offset, i);
        if (at < 0 || at >= (int64_t)offset->count)
            return ODB_KERN_FAIL(k, "token %zu belongs at %lld of %zu", i, (long long)at,
                                 offset->count);
        if (size)
            memcpy((char *)k->out[0]->data + (size_t)at * size, (char *)x->data + i * size, size);
    }
    return ODB_OK;
}

/* --- NGramRepeatBlock ------------------------------------------------------------------------- */

static enum odb_status seq_ngram_infer(struct odb_kern *k)
{
    const struct odb_tensor *ids = k->in[0], *scores = k->in[1];
    if (ids->rank != 2 || scores->rank != 2 || ids->dims[0] != scores->dims[0])
        return ODB_KERN_FAIL(k, "NGramRepeatBlock needs ids [batch,length] and scores "
                                "[batch,words]");
    if (odb_kern_int(k, "ngram_size", 0) < 1)
        return ODB_KERN_FAIL(k, "ngram_size is %lld", (long long)odb_kern_int(k, "ngram_size", 0));
    return odb_kern_outline_like(k, 0, 1);
}

/* A word that would end an n-gram which is there already gets the score -inf. */
static enum odb_status seq_ngram_run(struct odb_kern *k)
{
    const struct odb_tensor *ids = k->in[0], *scores = k->in[1];
    size_t length = (size_t)ids->dims[1], words = (size_t)scores->dims[1];
    size_t head = (size_t)odb_kern_int(k, "ngram_size", 1) - 1;
    if (scores->bytes)
        memcpy(k->out[0]->data, scores->data, scores->bytes);
    for (size_t b = 0; length && b < (size_t)ids->dims[0]; b++) {
        const odb_i64 *id = (const odb_i64 *)ids->data + b * length;
        for (size_t i = 0; i + head < length; i++) {
            if (head && memcmp(id + i, id + length - head, head * sizeof *id) != 0)
                continue;
            int64_t word = id[i + head];
            if (word < 0 || word >= (int64_t)words)
                return ODB_KERN_FAIL(k, "word %lld of %zu", (long long)word, words);
            odb_store_f64(scores->dtype, k->out[0]->data, b * words + (size_t)word, -INFINITY);
        }
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

#define SEQ_ATTRS(of, ...)                                                                         \
    static const struct odb_attr_spec seq_##of##_attrs[] = {__VA_ARGS__, {.name = NULL}};
SEQ_ATTRS(relative, {"is_bidirectional", ODB_ATTR_INT, "0", false},
          {"max_distance", ODB_ATTR_INT, NULL, true})
SEQ_ATTRS(heads, {"num_heads", ODB_ATTR_INT, NULL, true})
SEQ_ATTRS(ngram, {"ngram_size", ODB_ATTR_INT, NULL, true})

#define SEQ_MOVED (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))

#define SEQ_IDS ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_sequence[] = {
    ODB_MICROSOFT("BiasAdd", ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_REAL, NULL, seq_bias_infer,
                  seq_bias_add_run, ODB_T_FLOAT, ODB_NAMES("X,bias,skip", "Y"),
                  ODB_WORK(per_output, 2)),
    ODB_MICROSOFT("BiasSplitGelu", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_REAL, NULL,
                  seq_bias_infer, seq_split_gelu_run, ODB_T_FLOAT, ODB_NAMES("X,bias", "Y"),
                  ODB_WORK(per_output, 4)),
    ODB_MICROSOFT("RelativePositionBias", ODB_ARITY(3, 3), ODB_ARITY(1, 1), ODB_OP_EXACT,
                  seq_relative_attrs, seq_relative_infer, seq_relative_run, SEQ_MOVED, ODB_T_INDEX,
                  ODB_NAMES("bias_table,query_length,key_length", "output")),
    ODB_MICROSOFT(
        "GatedRelativePositionBias", ODB_ARITY(6, 7), ODB_ARITY(1, 1), ODB_OP_REAL | ODB_OP_MATMUL,
        seq_heads_attrs, seq_gated_infer, seq_gated_run, SEQ_MOVED, ODB_AS(0), ODB_AS(0), ODB_AS(0),
        ODB_AS(0), ODB_AS(0), SEQ_IDS,
        ODB_NAMES("query_layer,query_bias,rel_pos,weight,bias,eco_a,token_offset", "output")),
    ODB_MICROSOFT("RemovePadding", ODB_ARITY(2, 2), ODB_ARITY(4, 4), ODB_OP_EXACT, NULL, NULL,
                  seq_remove_run, SEQ_MOVED, SEQ_IDS,
                  ODB_NAMES("input,sequence_token_count",
                            "output,token_offset,cumulated_seq_len,max_seq_len")),
    ODB_MICROSOFT("RestorePadding", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_EXACT, NULL,
                  seq_restore_infer, seq_restore_run, SEQ_MOVED, SEQ_IDS,
                  ODB_NAMES("input,token_offset", "output")),
    ODB_MICROSOFT("NGramRepeatBlock", ODB_ARITY(2, 2), ODB_ARITY(1, 1), ODB_OP_EXACT,
                  seq_ngram_attrs, seq_ngram_infer, seq_ngram_run, ODB_BIT(ODB_I64),
                  ODB_BIT(ODB_F32), ODB_NAMES("input_ids,scores", "scores_out")),
    {.name = NULL},
};
