/* SPDX-License-Identifier: MIT
 *
 * Attention as ONNX Runtime's transformers have it (com.microsoft 1): Attention,
 * MultiHeadAttention, DecoderMaskedMultiHeadAttention, DecoderMaskedSelfAttention,
 * PackedAttention, PackedMultiHeadAttention. Products and softmax are those of attention.h.
 *
 * Masks are numbers that are added: keys that a mask closes get mask_filter_value (-10000), so a
 * query to which all keys are closed attends to all of them, as ONNX Runtime has it. Keys that a
 * unidirectional query may not see get float's lowest number instead.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/contrib/contrib.h"
#include "kernels/contrib/heads.h"

/* One call. */
struct mha {
    struct odb_attention a;
    size_t added, past; /* keys: of this call, before it */
    size_t rows;        /* of the caches that come out */
    size_t past_rows;   /* of those that come in */
    bool shared;        /* caches keep their size: past of past_rows is filled */
    bool given;         /* K and V come as caches [batch][heads][added][size] */
    struct odb_heads q, k, v;
    struct odb_chain c; /* what q, k, v and the mask point at */
};

static enum odb_status mha_heads(struct odb_kern *k, size_t *heads)
{
    int64_t n = odb_kern_int(k, "num_heads", 0);
    if (n < 1)
        return ODB_KERN_FAIL(k, "num_heads is %lld", (long long)n);
    *heads = (size_t)n;
    return ODB_OK;
}

/* Size of a head's vector where all heads' take width elements. */
static enum odb_status mha_size(struct odb_kern *k, int64_t width, size_t heads, size_t *size)
{
    if (width % (int64_t)heads)
        return ODB_KERN_FAIL(k, "%lld elements cannot be cut into %zu heads", (long long)width,
                             heads);
    *size = (size_t)width / heads;
    return ODB_OK;
}

static enum odb_status mha_check_rank(struct odb_kern *k, int i, int rank)
{
    if (k->in[i]->rank != rank)
        return ODB_KERN_FAIL(k, "input %d of %s must have %d dimensions, not %d", i, k->op->name,
                             rank, k->in[i]->rank);
    return ODB_OK;
}

/* A vector of `width` elements, where input i is there at all. */
static enum odb_status mha_check_vector(struct odb_kern *k, int i, size_t width)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    char text[200];
    if (t && (t->rank != 1 || t->count != width))
        return ODB_KERN_FAIL(k, "input %d of %s must be a vector of %zu, not %s", i, k->op->name,
                             width, odb_shape_text(t, text, sizeof text));
    return ODB_OK;
}

/* Before the call there were `past` keys in caches of past_rows. */
static enum odb_status mha_set_past(struct odb_kern *k, struct mha *m, int64_t past)
{
    m->a.keys = (size_t)past + m->added;
    m->past = (size_t)past;
    m->rows = m->shared ? m->past_rows : m->a.keys;
    if (past < 0 || past > (int64_t)m->past_rows || m->a.keys > m->rows)
        return ODB_KERN_FAIL(k, "%lld keys before, %zu now, in a cache for %zu", (long long)past,
                             m->added, m->past_rows);
    return ODB_OK;
}

/* --- masks ------------------------------------------------------------------------------------ */

enum mha_mask_kind {
    MHA_MASK_NONE,
    MHA_MASK_LENGTHS, /* [batch], and perhaps more that says nothing new */
    MHA_MASK_SPANS,   /* [2 * batch]: ends, then starts */
    MHA_MASK_KEYS,    /* [batch, keys] */
    MHA_MASK_SCORES,  /* [batch, queries, keys] */
    MHA_MASK_SQUARE   /* [batch, 1, most, most], of which the last keys' rows count */
};

static enum odb_status mha_mask_kind(struct odb_kern *k, const struct mha *m, int i,
                                     enum mha_mask_kind *kind)
{
    const struct odb_tensor *t = odb_kern_in(k, i);
    int64_t batch = (int64_t)m->a.batch, keys = (int64_t)m->a.keys;
    char text[200];
    *kind = MHA_MASK_NONE;
    if (!t)
        return ODB_OK;
    bool first = t->rank > 0 && t->dims[0] == batch;
    if (t->rank == 1)
        *kind = first || t->dims[0] == 3 * batch + 2 ? MHA_MASK_LENGTHS
                : t->dims[0] == 2 * batch            ? MHA_MASK_SPANS
                                                     : MHA_MASK_NONE;
    else if (t->rank == 2 && first && t->dims[1] == keys)
        *kind = MHA_MASK_KEYS;
    else if (t->rank == 2 && (first || t->dims[0] == 1) && t->dims[1] == 1)
        return ODB_OK; /* the same for all keys: softmax does not see it */
    else if (t->rank == 3 && first && t->dims[1] == (int64_t)m->a.queries && t->dims[2] == keys)
        *kind = MHA_MASK_SCORES;
    else if (t->rank == 4 && first && t->dims[1] == 1 && t->dims[2] == t->dims[3] &&
             t->dims[3] >= keys)
        *kind = MHA_MASK_SQUARE;
    if (*kind == MHA_MASK_NONE)
        return ODB_KERN_FAIL(k, "the mask %s does not fit %zu queries and %zu keys of %zu",
                             odb_shape_text(t, text, sizeof text), m->a.queries, m->a.keys,
                             m->a.batch);
    return ODB_OK;
}

/* Whether the mask lets query q of batch entry b see key j. */
static bool mha_mask_open(const struct mha *m, const struct odb_tensor *mask,
                          enum mha_mask_kind kind, size_t b, size_t q, size_t j)
{
    const odb_i32 *v = mask ? mask->data : NULL;
    size_t most;
    switch (kind) {
    case MHA_MASK_LENGTHS:
        return (int64_t)j < v[b];
    case MHA_MASK_SPANS:
        return (int64_t)j < v[b] && (int64_t)j >= v[m->a.batch + b];
    case MHA_MASK_KEYS:
        return v[b * m->a.keys + j] > 0;
    case MHA_MASK_SCORES:
        return v[(b * m->a.queries + q) * m->a.keys + j] > 0;
    case MHA_MASK_SQUARE:
        most = (size_t)mask->dims[3];
        return v[(b * most + m->past + q) * most + j] > 0;
    default:
        return true;
    }
}

/* Input i and the order of positions, as one plane of numbers [batch][queries][keys]. The last
 * query sees all keys even where there are more of them, as it does in ONNX Runtime. */
static enum odb_status mha_mask(struct odb_kern *k, struct mha *m, int i, bool causal)
{
    const struct odb_tensor *mask = odb_kern_in(k, i);
    struct odb_attention *a = &m->a;
    enum mha_mask_kind kind;
    ODB_TRY(mha_mask_kind(k, m, i, &kind));
    if (kind == MHA_MASK_NONE && !causal)
        return ODB_OK;
    double filter = odb_kern_float(k, "mask_filter_value", -10000);
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->queries, (int64_t)a->keys};
    struct odb_tensor *t = odb_chain_new(&m->c, a->dtype, 3, dims);
    ODB_TRY(m->c.status);
    for (size_t e = 0; e < t->count; e++) {
        size_t j = e % a->keys, q = e / a->keys % a->queries, b = e / a->keys / a->queries;
        bool later = causal && q + 1 < a->queries && j > m->past + q;
        double v = later ? -(double)FLT_MAX : mha_mask_open(m, mask, kind, b, q, j) ? 0 : filter;
        odb_store_f64(t->dtype, t->data, e, v);
    }
    a->bias[0] = (struct odb_attention_plane){
        .data = t->data, .batch = a->queries * a->keys, .row = a->keys, .col = 1, .cols = a->keys};
    return ODB_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

/* Input i (the projection's bias) is added to t, [.., width], from its element `at` on. */
static const struct odb_tensor *mha_add_bias(struct mha *m, int i, size_t at,
                                             const struct odb_tensor *t)
{
    return odb_heads_add_vector(&m->c, t, odb_kern_in(m->c.k, i), at);
}

/* A cache of keys or values, in out where that is wanted; *rows then lie in it. past: NULL, or
 * [batch][heads][past_rows][size]. In half types a node that has a cache reads it, wanted or not:
 * its rows are rounded. */
static enum odb_status mha_cache(struct odb_kern *k, struct mha *m, const void *past, void *out,
                                 size_t size, struct odb_heads *rows)
{
    struct odb_attention *a = &m->a;
    if (!past && !out && (k->narrow == ODB_UNDEFINED || k->n_out < 2))
        return ODB_OK;
    int64_t *at = odb_work_take(a->batch + 1, sizeof *at);
    if (!at)
        return odb_kern_no_memory(k);
    struct odb_cache c = {.dtype = a->dtype,
                          .type = k->narrow,
                          .batch = a->batch,
                          .heads = a->heads,
                          .rows = m->rows,
                          .size = size,
                          .past = past,
                          .past_rows = m->past_rows,
                          .at = at,
                          .added = *rows,
                          .added_rows = m->added};
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->heads, (int64_t)m->rows, (int64_t)size};
    struct odb_tensor *own = out ? NULL : odb_chain_new(&m->c, a->dtype, 4, dims);
    out = own ? own->data : out;
    for (size_t b = 0; b < a->batch; b++)
        at[b] = (int64_t)m->past;
    if (odb_chain_ok(&m->c))
        odb_cache_fill(&c, out);
    *rows = odb_heads_split(out, a->heads, m->rows, size);
    odb_work_give(at);
    return m->c.status;
}

/* Everything is known: computes the output, and the scores where output `scores` is wanted. */
static enum odb_status mha_compute(struct odb_kern *k, struct mha *m, int scores)
{
    struct odb_attention *a = &m->a;
    a->sequential = k->sequential;
    a->q = m->q.data;
    a->q_steps = m->q.steps;
    a->k = m->k.data;
    a->k_steps = m->k.steps;
    a->v = m->v.data;
    a->v_steps = m->v.steps;
    a->scale = odb_heads_scale(k, a->size);
    a->left = a->right = -1;
    struct odb_tensor *y = k->out[0];
    if (!y)
        y = odb_chain_new(&m->c, a->dtype, k->outline[0].rank, k->outline[0].dims);
    ODB_TRY(m->c.status);
    a->y = y->data;
    a->y_steps = odb_heads_flat(y, 0, a->queries, a->heads * a->v_size, a->v_size).steps;
    if (scores >= 0 && scores < k->n_out && k->out[scores]) {
        a->scores = k->out[scores]->data;
        a->stage = ODB_ATTENTION_BIASED;
    }
    return odb_attention_run(a, k->err);
}

/* The keys and values of the past are those of the beam that input i names for each of them:
 * *rows, [batch][heads][rows][size], becomes a copy. */
static enum odb_status mha_follow_beams(struct odb_kern *k, struct mha *m, int i, size_t size,
                                        struct odb_heads *rows)
{
    const struct odb_tensor *of = odb_kern_in(k, i);
    struct odb_attention *a = &m->a;
    if (!of)
        return ODB_OK;
    if (of->rank != 3 || of->dims[0] * of->dims[1] != (int64_t)a->batch ||
        of->dims[2] < (int64_t)m->past)
        return ODB_KERN_FAIL(k, "cache_indirection does not fit %zu sequences", a->batch);
    size_t beams = (size_t)of->dims[1], most = (size_t)of->dims[2];
    size_t element = odb_dtype_info(a->dtype)->bits / 8, row = size * element;
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->heads, (int64_t)m->rows, (int64_t)size};
    struct odb_tensor *t = NULL;
    ODB_TRY(odb_tensor_new(&t, a->dtype, 4, dims, k->err));
    odb_chain_take(&m->c, t);
    for (size_t e = 0; e < a->batch * a->heads * a->keys; e++) {
        size_t j = e % a->keys, h = e / a->keys % a->heads, b = e / a->keys / a->heads;
        int64_t beam = j < m->past ? odb_tensor_i64(of, b * most + j) : (int64_t)(b % beams);
        if (beam < 0 || beam >= (int64_t)beams)
            return ODB_KERN_FAIL(k, "beam %lld of %zu", (long long)beam, beams);
        size_t from = b / beams * beams + (size_t)beam;
        memcpy((char *)t->data + ((b * a->heads + h) * m->rows + j) * row,
               (const char *)rows->data +
                   (from * rows->steps.batch + h * rows->steps.head + j * rows->steps.row) *
                       element,
               row);
    }
    *rows = odb_heads_split(t->data, a->heads, m->rows, size);
    return ODB_OK;
}

static void *mha_out(const struct odb_kern *k, int i)
{
    return i < k->n_out && k->out[i] ? k->out[i]->data : NULL;
}

/* --- Attention -------------------------------------------------------------------------------- */

/* Of Attention and DecoderMaskedSelfAttention. */
enum {
    SELF_X,
    SELF_WEIGHTS,
    SELF_BIAS,
    SELF_MASK,
    SELF_PAST,
    SELF_SCORES_BIAS,
    SELF_LENGTH,
    SELF_BEAMS,
    SELF_BEAM_OF
};

/* Widths of Q and K, and of V, in the projection. */
static enum odb_status mha_widths(struct odb_kern *k, int64_t all, int64_t *width, int64_t *v_width)
{
    size_t n;
    const int64_t *sizes = odb_kern_ints(k, "qkv_hidden_sizes", &n);
    *width = *v_width = all / 3;
    if (n == 3) {
        *width = sizes[0];
        *v_width = sizes[2];
    }
    if ((n != 0 && n != 3) || (n == 3 && sizes[1] != sizes[0]) || *width < 0 || *v_width < 0 ||
        2 * *width + *v_width != all)
        return ODB_KERN_FAIL(k, "weights of %lld columns are not those of Q, K and V",
                             (long long)all);
    return ODB_OK;
}

static enum odb_status mha_self_shape(struct odb_kern *k, struct mha *m)
{
    const struct odb_tensor *x = k->in[SELF_X], *past = odb_kern_in(k, SELF_PAST);
    struct odb_attention *a = &m->a;
    int64_t width, v_width, length;
    char text[200];
    ODB_TRY(mha_heads(k, &a->heads));
    ODB_TRY(mha_check_rank(k, SELF_X, 3));
    ODB_TRY(mha_check_rank(k, SELF_WEIGHTS, 2));
    if (k->in[SELF_WEIGHTS]->dims[0] != x->dims[2])
        return ODB_KERN_FAIL(k, "weights of %lld rows do not fit an input of %lld",
                             (long long)k->in[SELF_WEIGHTS]->dims[0], (long long)x->dims[2]);
    ODB_TRY(mha_widths(k, k->in[SELF_WEIGHTS]->dims[1], &width, &v_width));
    ODB_TRY(mha_size(k, width, a->heads, &a->size));
    ODB_TRY(mha_size(k, v_width, a->heads, &a->v_size));
    ODB_TRY(mha_check_vector(k, SELF_BIAS, (size_t)(2 * width + v_width)));
    if (odb_kern_int(k, "do_rotary", 0))
        return ODB_KERN_UNSUPPORTED(k, "%s with do_rotary", k->op->name);
    a->dtype = x->dtype;
    a->batch = (size_t)x->dims[0];
    a->kv_heads = a->heads;
    a->queries = m->added = (size_t)x->dims[1];
    m->shared = past && odb_kern_int(k, "past_present_share_buffer", 0) != 0;
    bool fits = !past || (past->rank == 5 && past->dims[0] == 2 && past->dims[1] == x->dims[0] &&
                          past->dims[2] == (int64_t)a->heads && past->dims[4] == (int64_t)a->size &&
                          a->v_size == a->size);
    if (!fits)
        return ODB_KERN_FAIL(k, "the past %s does not fit [2,%zu,%zu,length,%zu]",
                             odb_shape_text(past, text, sizeof text), a->batch, a->heads, a->size);
    if (k->n_out > 1 && k->wanted[1] && a->v_size != a->size)
        return ODB_KERN_FAIL(k, "present needs values as large as keys");
    m->past_rows = past ? (size_t)past->dims[3] : 0;
    length = (int64_t)m->past_rows;
    if (m->shared && !odb_kern_in(k, SELF_LENGTH))
        return ODB_KERN_FAIL(k, "past_present_share_buffer needs past_sequence_length");
    if (m->shared)
        ODB_TRY(odb_heads_number(k, SELF_LENGTH, &length));
    return mha_set_past(k, m, length);
}

static enum odb_status mha_self_infer(struct odb_kern *k)
{
    struct mha m = {.c = {.k = k}};
    ODB_TRY(mha_self_shape(k, &m));
    int64_t batch = (int64_t)m.a.batch, heads = (int64_t)m.a.heads;
    ODB_TRY(odb_kern_outline(
        k, 0, m.a.dtype, 3, (int64_t[]){batch, (int64_t)m.a.queries, heads * (int64_t)m.a.v_size}));
    return odb_kern_outline(k, 1, m.a.dtype, 5,
                            (int64_t[]){2, batch, heads, (int64_t)m.rows, (int64_t)m.a.size});
}

/* x W + b, [batch][rows][Q, K and V]. */
static const struct odb_tensor *mha_project(struct mha *m, int x, int weights, int bias)
{
    struct odb_kern *k = m->c.k;
    const struct odb_tensor *product = ODB_STEP(&m->c, "MatMul", 13, (k->in[x], k->in[weights]));
    return mha_add_bias(m, bias, 0, product);
}

/* Q, K and V side by side in the last dimension of t. */
static void mha_split_columns(struct mha *m, const struct odb_tensor *t)
{
    struct odb_attention *a = &m->a;
    size_t part = a->heads * a->size, width = 2 * part + a->heads * a->v_size;
    m->q = odb_heads_flat(t, 0, a->queries, width, a->size);
    m->k = odb_heads_flat(t, part, a->queries, width, a->size);
    m->v = odb_heads_flat(t, 2 * part, a->queries, width, a->v_size);
}

static bool mha_self_decodes(const struct odb_kern *k)
{
    return strcmp(k->op->name, "DecoderMaskedSelfAttention") == 0;
}

/* The decoder's keys lie in pieces of 16 bytes of the model's type, [batch][heads][pieces][rows],
 * which suits its threads. */
static void mha_reorder(const struct odb_kern *k, const struct mha *m, const char *from, char *to,
                        bool back)
{
    const struct odb_attention *a = &m->a;
    size_t piece = k->narrow != ODB_UNDEFINED ? 8 : 4, element = odb_dtype_info(a->dtype)->bits / 8;
    size_t pieces = a->size / piece, bytes = piece * element;
    for (size_t i = 0; i < a->batch * a->heads * m->rows * pieces; i++) {
        size_t p = i % pieces, row = i / pieces % m->rows, plane = i / pieces / m->rows;
        size_t there = (plane * pieces + p) * m->rows + row;
        memcpy(to + (back ? there : i) * bytes, from + (back ? i : there) * bytes, bytes);
    }
}

/* As mha_cache() for the decoder's keys. */
static enum odb_status mha_decoder_keys(struct odb_kern *k, struct mha *m, const char *past,
                                        char *out)
{
    struct odb_attention *a = &m->a;
    int64_t dims[] = {(int64_t)a->batch, (int64_t)a->heads, (int64_t)m->rows, (int64_t)a->size};
    if (!m->shared || a->queries != 1 || a->size % (k->narrow != ODB_UNDEFINED ? 8 : 4))
        return ODB_KERN_FAIL(k,
                             "%s needs past_present_share_buffer, one query, and heads that "
                             "are whole pieces of 16 bytes",
                             k->op->name);
    struct odb_tensor *plain = odb_chain_new(&m->c, a->dtype, 4, dims);
    ODB_TRY(m->c.status);
    mha_reorder(k, m, past, plain->data, false);
    ODB_TRY(mha_cache(k, m, plain->data, NULL, a->size, &m->k));
    if (out)
        mha_reorder(k, m, m->k.data, out, true);
    return ODB_OK;
}

static enum odb_status mha_self_run(struct odb_kern *k)
{
    struct mha m = {.c = {.k = k}};
    struct odb_attention *a = &m.a;
    const struct odb_tensor *past = odb_kern_in(k, SELF_PAST);
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(mha_self_shape(k, &m));
    const struct odb_tensor *all = mha_project(&m, SELF_X, SELF_WEIGHTS, SELF_BIAS);
    ODB_TRY_OUT(m.c.status);
    mha_split_columns(&m, all);
    size_t old = past ? past->bytes / 2 : 0;
    char *present = mha_out(k, 1);
    if (mha_self_decodes(k))
        ODB_TRY_OUT(mha_decoder_keys(k, &m, past ? past->data : NULL, present));
    else
        ODB_TRY_OUT(mha_cache(k, &m, past ? past->data : NULL, present, a->size, &m.k));
    ODB_TRY_OUT(mha_cache(k, &m, past ? (char *)past->data + old : NULL,
                          present ? present + k->out[1]->bytes / 2 : NULL, a->v_size, &m.v));
    if (mha_self_decodes(k)) {
        ODB_TRY_OUT(mha_follow_beams(k, &m, SELF_BEAM_OF, a->size, &m.k));
        ODB_TRY_OUT(mha_follow_beams(k, &m, SELF_BEAM_OF, a->v_size, &m.v));
    }
    ODB_TRY_OUT(mha_mask(k, &m, SELF_MASK, odb_kern_int(k, "unidirectional", 0) && a->queries > 1));
    ODB_TRY_OUT(odb_heads_bias(k, SELF_SCORES_BIAS, a, a->keys, &a->bias[1]));
    ODB_TRY_OUT(mha_compute(k, &m, -1));
out:
    odb_chain_dispose(&m.c);
    return status;
}

/* --- MultiHeadAttention ----------------------------------------------------------------------- */

/* Where an operator has which input; -1: it has none. */
struct mha_inputs {
    int bias, mask, scores_bias, past, length, beams, beam_of;
};
static const struct mha_inputs mha_many = {3, 4, 5, 6, 8, -1, 9};
static const struct mha_inputs mha_decoder = {10, 3, 4, 5, 7, 8, 9};

static bool mha_is_decoder(const struct odb_kern *k)
{
    return strcmp(k->op->name, "DecoderMaskedMultiHeadAttention") == 0;
}

/* Keys and values beside the query: [batch, added, heads * size], [batch, heads, added, size], or
 * both in one [batch, added, heads, 2, size]. */
static enum odb_status mha_many_keys(struct odb_kern *k, struct mha *m)
{
    const struct odb_tensor *key = k->in[1], *value = odb_kern_in(k, 2);
    struct odb_attention *a = &m->a;
    int64_t batch = (int64_t)a->batch, heads = (int64_t)a->heads, size = (int64_t)a->size;
    bool fits = key->dims[0] == batch;
    m->given = key->rank == 4;
    m->added = key->rank > 2 ? (size_t)key->dims[m->given ? 2 : 1] : 0;
    a->v_size = a->size;
    if (key->rank == 5)
        fits = fits && !value && key->dims[2] == heads && key->dims[3] == 2 && key->dims[4] == size;
    else if (m->given)
        fits = fits && key->dims[1] == heads && key->dims[3] == size && value && value->rank == 4 &&
               value->dims[0] == batch && value->dims[1] == heads && value->dims[2] == key->dims[2];
    else
        fits = fits && key->rank == 3 && key->dims[2] == heads * size && value &&
               value->rank == 3 && value->dims[0] == batch && value->dims[1] == key->dims[1];
    if (!fits)
        return ODB_KERN_FAIL(k, "key and value do not fit a query of %zu heads of %zu", a->heads,
                             a->size);
    if (m->given)
        a->v_size = (size_t)value->dims[3];
    else if (value)
        ODB_TRY(mha_size(k, value->dims[2], a->heads, &a->v_size));
    return ODB_OK;
}

static enum odb_status mha_many_past(struct odb_kern *k, struct mha *m, const struct mha_inputs *at)
{
    const struct odb_tensor *past[2] = {odb_kern_in(k, at->past), odb_kern_in(k, at->past + 1)};
    struct odb_attention *a = &m->a;
    char text[200];
    if (!past[0] != !past[1])
        return ODB_KERN_FAIL(k, "past_key and past_value come together");
    if (past[0] && m->given)
        return ODB_KERN_FAIL(k, "keys that are a cache themselves have no past");
    for (int i = 0; i < 2 && past[0]; i++) {
        const struct odb_tensor *t = past[i];
        if (t->rank != 4 || t->dims[0] != (int64_t)a->batch || t->dims[1] != (int64_t)a->heads ||
            t->dims[2] != past[0]->dims[2] || t->dims[3] != (int64_t)(i ? a->v_size : a->size))
            return ODB_KERN_FAIL(k, "the past %s does not fit [%zu,%zu,length,%zu]",
                                 odb_shape_text(t, text, sizeof text), a->batch, a->heads,
                                 i ? a->v_size : a->size);
    }
    m->past_rows = past[0] ? (size_t)past[0]->dims[2] : 0;
    int64_t length = (int64_t)m->past_rows;
    m->shared = past[0] && (mha_is_decoder(k) ? odb_kern_int(k, "past_present_share_buffer", 0) != 0
                                              : odb_kern_in(k, at->length) != NULL);
    if (m->shared && !odb_kern_in(k, at->length))
        return ODB_KERN_FAIL(k, "past_present_share_buffer needs past_sequence_length");
    if (m->shared)
        ODB_TRY(odb_heads_number(k, at->length, &length));
    return mha_set_past(k, m, length);
}

static enum odb_status mha_many_shape(struct odb_kern *k, struct mha *m,
                                      const struct mha_inputs *at)
{
    const struct odb_tensor *q = k->in[0];
    struct odb_attention *a = &m->a;
    bool alone = !odb_kern_in(k, 1), decoder = mha_is_decoder(k);
    ODB_TRY(mha_heads(k, &a->heads));
    a->kv_heads = a->heads;
    a->dtype = q->dtype;
    bool packed =
        alone && q->rank == 5 && !decoder && q->dims[2] == (int64_t)a->heads && q->dims[3] == 3;
    if ((q->rank != 3 && !packed) || (alone && q->rank == 3 && !decoder))
        return ODB_KERN_FAIL(k, "the query must have 3 dimensions, or be Q, K and V in one");
    int64_t width = packed ? q->dims[2] * q->dims[4] : q->dims[2];
    if (alone && !packed && width % 3)
        return ODB_KERN_FAIL(k, "a query of %lld is not Q, K and V", (long long)width);
    ODB_TRY(mha_size(k, alone && !packed ? width / 3 : width, a->heads, &a->size));
    a->batch = (size_t)q->dims[0];
    a->queries = m->added = (size_t)q->dims[1];
    a->v_size = a->size;
    if (!alone)
        ODB_TRY(mha_many_keys(k, m));
    ODB_TRY(mha_check_vector(k, at->bias, a->heads * (2 * a->size + a->v_size)));
    if (odb_kern_in(k, at->bias) && !alone && k->in[1]->rank == 5)
        return ODB_KERN_FAIL(k, "keys and values in one have no bias");
    if (decoder && a->queries != 1)
        return ODB_KERN_FAIL(k, "%s is for one query, not %zu", k->op->name, a->queries);
    return mha_many_past(k, m, at);
}

static const struct mha_inputs *mha_many_inputs(const struct odb_kern *k)
{
    return mha_is_decoder(k) ? &mha_decoder : &mha_many;
}

static enum odb_status mha_many_infer(struct odb_kern *k)
{
    struct mha m = {.c = {.k = k}};
    ODB_TRY(mha_many_shape(k, &m, mha_many_inputs(k)));
    struct odb_attention *a = &m.a;
    int64_t batch = (int64_t)a->batch, heads = (int64_t)a->heads, queries = (int64_t)a->queries;
    ODB_TRY(odb_kern_outline(k, 0, a->dtype, 3,
                             (int64_t[]){batch, queries, heads * (int64_t)a->v_size}));
    for (int i = 1; i < 3; i++)
        ODB_TRY(odb_kern_outline(
            k, i, a->dtype, 4,
            (int64_t[]){batch, heads, (int64_t)m.rows, (int64_t)(i == 1 ? a->size : a->v_size)}));
    return odb_kern_outline(k, 3, a->dtype, 4,
                            (int64_t[]){batch, heads, queries, (int64_t)a->keys});
}

/* Input i, the bias of Q, K and V, is added to q, [.., heads, 3, size]. */
static const struct odb_tensor *mha_bias_by_head(struct mha *m, int i, const struct odb_tensor *q)
{
    const struct odb_tensor *bias = odb_kern_in(m->c.k, i);
    int64_t dims[] = {3, (int64_t)m->a.heads, (int64_t)m->a.size}, perm[] = {1, 0, 2};
    if (!bias)
        return q;
    bias = odb_chain_permute(&m->c, odb_chain_reshape(&m->c, bias, 3, dims), perm);
    return ODB_STEP(&m->c, "Add", 14, (q, bias));
}

/* Heads of `many` vectors each, of which the one at `which` is meant. */
static struct odb_heads mha_interleaved(const struct odb_tensor *t, const struct mha *m,
                                        size_t rows, size_t many, size_t which)
{
    size_t size = m->a.size;
    struct odb_heads heads = odb_heads_flat(t, which * size, rows, m->a.heads * many * size, size);
    heads.steps.head = many * size;
    return heads;
}

/* Q, K and V of this call, with their biases. */
static enum odb_status mha_many_vectors(struct odb_kern *k, struct mha *m,
                                        const struct mha_inputs *at)
{
    struct odb_attention *a = &m->a;
    const struct odb_tensor *q = k->in[0], *key = odb_kern_in(k, 1), *value = odb_kern_in(k, 2);
    size_t width = a->heads * a->size;
    if (q->rank == 5) {
        q = mha_bias_by_head(m, at->bias, q);
        ODB_TRY(m->c.status);
        m->q = mha_interleaved(q, m, m->added, 3, 0);
        m->k = mha_interleaved(q, m, m->added, 3, 1);
        m->v = mha_interleaved(q, m, m->added, 3, 2);
        return ODB_OK;
    }
    q = mha_add_bias(m, at->bias, 0, q);
    ODB_TRY(m->c.status);
    if (!key) {
        mha_split_columns(m, q);
        return ODB_OK;
    }
    m->q = odb_heads_flat(q, 0, a->queries, width, a->size);
    if (key->rank == 5) {
        m->k = mha_interleaved(key, m, m->added, 2, 0);
        m->v = mha_interleaved(key, m, m->added, 2, 1);
    } else if (m->given) {
        m->k = odb_heads_split(key->data, a->heads, m->added, a->size);
        m->v = odb_heads_split(value->data, a->heads, m->added, a->v_size);
    } else {
        key = mha_add_bias(m, at->bias, width, key);
        value = mha_add_bias(m, at->bias, 2 * width, value);
        ODB_TRY(m->c.status);
        m->k = odb_heads_flat(key, 0, m->added, width, a->size);
        m->v = odb_heads_flat(value, 0, m->added, a->heads * a->v_size, a->v_size);
    }
    return ODB_OK;
}

static enum odb_status mha_many_run(struct odb_kern *k)
{
    const struct mha_inputs *at = mha_many_inputs(k);
    struct mha m = {.c = {.k = k}};
    struct odb_attention *a = &m.a;
    bool causal = odb_kern_int(k, "unidirectional", 0) != 0;
    const struct odb_tensor *past[2] = {odb_kern_in(k, at->past), odb_kern_in(k, at->past + 1)};
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(mha_many_shape(k, &m, at));
    ODB_TRY_OUT(mha_many_vectors(k, &m, at));
    ODB_TRY_OUT(mha_cache(k, &m, past[0] ? past[0]->data : NULL, mha_out(k, 1), a->size, &m.k));
    ODB_TRY_OUT(mha_cache(k, &m, past[1] ? past[1]->data : NULL, mha_out(k, 2), a->v_size, &m.v));
    if (past[0]) {
        ODB_TRY_OUT(mha_follow_beams(k, &m, at->beam_of, a->size, &m.k));
        ODB_TRY_OUT(mha_follow_beams(k, &m, at->beam_of, a->v_size, &m.v));
    }
    ODB_TRY_OUT(mha_mask(k, &m, at->mask, causal && a->queries > 1));
    ODB_TRY_OUT(odb_heads_bias(k, at->scores_bias, a, a->keys, &a->bias[1]));
    ODB_TRY_OUT(mha_compute(k, &m, 3));
out:
    odb_chain_dispose(&m.c);
    return status;
}

/* --- packed tokens ---------------------------------------------------------------------------- */

/* Where PackedAttention and PackedMultiHeadAttention have their last inputs. */
enum { PACKED_OFFSET = 3, PACKED_MANY_OFFSET = 4 };

static bool mha_packs_many(const struct odb_kern *k)
{
    return strcmp(k->op->name, "PackedMultiHeadAttention") == 0;
}

/* Heads, sizes and batch of a packed call; queries is the padded length. */
static enum odb_status mha_packed_shape(struct odb_kern *k, struct mha *m)
{
    bool many = mha_packs_many(k);
    int last = many ? PACKED_MANY_OFFSET : PACKED_OFFSET;
    const struct odb_tensor *x = k->in[0], *value = many ? odb_kern_in(k, 2) : NULL;
    struct odb_attention *a = &m->a;
    int64_t width, v_width;
    ODB_TRY(mha_heads(k, &a->heads));
    if (!odb_kern_in(k, last) || !odb_kern_in(k, last + 1))
        return ODB_KERN_FAIL(k, "token_offset or cumulative_sequence_length is missing");
    ODB_TRY(mha_check_rank(k, last, 2));
    bool split = many && x->rank == 4; /* [tokens, heads, 3, size] */
    if (!split)
        ODB_TRY(mha_check_rank(k, 0, 2));
    if (many && split) {
        width = v_width = x->dims[1] * x->dims[3];
        if (x->dims[1] != (int64_t)a->heads || x->dims[2] != 3 || k->in[1] || value)
            return ODB_KERN_FAIL(k, "a packed query must be [tokens,%zu,3,size] and alone",
                                 a->heads);
    } else if (many) {
        if (!k->in[1] || !value || !odb_tensor_same_shape(x, k->in[1]) || value->rank != 2 ||
            value->dims[0] != x->dims[0])
            return ODB_KERN_FAIL(k, "query, key and value do not fit each other");
        width = x->dims[1];
        v_width = value->dims[1];
    } else {
        ODB_TRY(mha_check_rank(k, 1, 2));
        if (k->in[1]->dims[0] != x->dims[1])
            return ODB_KERN_FAIL(k, "weights do not fit the input");
        ODB_TRY(mha_widths(k, k->in[1]->dims[1], &width, &v_width));
    }
    ODB_TRY(mha_size(k, width, a->heads, &a->size));
    ODB_TRY(mha_size(k, v_width, a->heads, &a->v_size));
    ODB_TRY(mha_check_vector(k, many ? 3 : 2, (size_t)(2 * width + v_width)));
    a->dtype = x->dtype;
    a->kv_heads = a->heads;
    m->added = (size_t)x->dims[0];
    a->batch = (size_t)k->in[last]->dims[0];
    a->queries = (size_t)k->in[last]->dims[1];
    return mha_check_vector(k, last + 1, a->batch + 1);
}

static enum odb_status mha_packed_infer(struct odb_kern *k)
{
    struct mha m = {.c = {.k = k}};
    ODB_TRY(mha_packed_shape(k, &m));
    return odb_kern_outline(k, 0, m.a.dtype, 2,
                            (int64_t[]){(int64_t)m.added, (int64_t)(m.a.heads * m.a.v_size)});
}

/* All tokens' Q, K and V. */
static enum odb_status mha_packed_vectors(struct odb_kern *k, struct mha *m)
{
    struct odb_attention *a = &m->a;
    const struct odb_tensor *x = k->in[0];
    if (!mha_packs_many(k)) {
        x = mha_project(m, 0, 1, 2);
        ODB_TRY(m->c.status);
        mha_split_columns(m, x);
        return ODB_OK;
    }
    if (x->rank == 4) {
        x = mha_bias_by_head(m, 3, x);
        ODB_TRY(m->c.status);
        m->q = mha_interleaved(x, m, m->added, 3, 0);
        m->k = mha_interleaved(x, m, m->added, 3, 1);
        m->v = mha_interleaved(x, m, m->added, 3, 2);
        return ODB_OK;
    }
    const struct odb_tensor *key = k->in[1], *value = k->in[2];
    size_t width = a->heads * a->size;
    x = mha_add_bias(m, 3, 0, x);
    key = mha_add_bias(m, 3, width, key);
    value = mha_add_bias(m, 3, 2 * width, value);
    ODB_TRY(m->c.status);
    m->q = odb_heads_flat(x, 0, m->added, width, a->size);
    m->k = odb_heads_flat(key, 0, m->added, width, a->size);
    m->v = odb_heads_flat(value, 0, m->added, a->heads * a->v_size, a->v_size);
    return ODB_OK;
}

static const void *mha_row(const struct odb_heads *heads, enum odb_dtype dtype, size_t row)
{
    return (const char *)heads->data + row * heads->steps.row * (odb_dtype_info(dtype)->bits / 8);
}

/* Every sequence attends to itself. */
static enum odb_status mha_packed_run(struct odb_kern *k)
{
    struct mha m = {.c = {.k = k}};
    struct odb_attention *a = &m.a;
    struct odb_attention_plane bias = {.data = NULL};
    int last = mha_packs_many(k) ? PACKED_MANY_OFFSET : PACKED_OFFSET;
    enum odb_status status = ODB_OK;
    ODB_TRY_OUT(mha_packed_shape(k, &m));
    ODB_TRY_OUT(mha_packed_vectors(k, &m));
    ODB_TRY_OUT(odb_heads_bias(k, last + 2, a, a->queries, &bias));
    struct odb_attention one = *a;
    size_t element = odb_dtype_info(a->dtype)->bits / 8, width = a->heads * a->v_size;
    one.batch = 1;
    one.sequential = k->sequential;
    one.scale = odb_heads_scale(k, a->size);
    one.left = one.right = -1;
    one.q_steps = m.q.steps;
    one.k_steps = m.k.steps;
    one.v_steps = m.v.steps;
    one.y_steps = (struct odb_attention_steps){.head = a->v_size, .row = width};
    for (size_t b = 0; b < a->batch; b++) {
        int64_t from = odb_tensor_i64(k->in[last + 1], b);
        int64_t to = odb_tensor_i64(k->in[last + 1], b + 1);
        if (from < 0 || to < from || to > (int64_t)m.added || to - from > (int64_t)a->queries)
            ODB_TRY_OUT(ODB_KERN_FAIL(k, "tokens %lld to %lld of %zu", (long long)from,
                                      (long long)to, m.added));
        one.queries = one.keys = (size_t)(to - from);
        one.q = mha_row(&m.q, a->dtype, (size_t)from);
        one.k = mha_row(&m.k, a->dtype, (size_t)from);
        one.v = mha_row(&m.v, a->dtype, (size_t)from);
        one.y = (char *)k->out[0]->data + (size_t)from * width * element;
        one.bias[0] = bias;
        if (bias.data)
            one.bias[0].data = (const char *)bias.data + b * bias.batch * element;
        ODB_TRY_OUT(odb_attention_run(&one, k->err));
    }
out:
    odb_chain_dispose(&m.c);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

#define MHA_FILTER ODB_OPTIONAL_ATTR("mask_filter_value", FLOAT, "-10000.0")
#define MHA_SCALE ODB_OPTIONAL_ATTR("scale", FLOAT, NULL)
#define MHA_SHARED ODB_OPTIONAL_ATTR("past_present_share_buffer", INT, "0")
#define MHA_ORDER ODB_OPTIONAL_ATTR("unidirectional", INT, "0")
#define MHA_WIDTHS ODB_OPTIONAL_ATTR("qkv_hidden_sizes", INTS, NULL)
#define MHA_ATTRS(of, ...)                                                                         \
    static const struct odb_attr_spec mha_##of##_attrs[] = {                                       \
        ODB_REQUIRED_ATTR("num_heads", INT), __VA_ARGS__, {NULL}};
MHA_ATTRS(self, ODB_OPTIONAL_ATTR("do_rotary", INT, "0"), MHA_FILTER, MHA_SHARED, MHA_WIDTHS,
          ODB_OPTIONAL_ATTR("rotary_embedding_dim", INT, "0"), MHA_SCALE, MHA_ORDER)
MHA_ATTRS(many, MHA_FILTER, MHA_SCALE, MHA_ORDER)
MHA_ATTRS(self_decoder, ODB_OPTIONAL_ATTR("do_rotary", INT, "0"), MHA_FILTER, MHA_SHARED, MHA_SCALE)
MHA_ATTRS(decoder, MHA_FILTER, ODB_OPTIONAL_ATTR("output_qk", INT, "0"), MHA_SHARED, MHA_SCALE)
MHA_ATTRS(packed, MHA_WIDTHS, MHA_SCALE)
MHA_ATTRS(packed_many, MHA_FILTER, MHA_SCALE)

#define MHA_REAL (ODB_OP_REAL | ODB_OP_MATMUL)
#define MHA_T (ODB_T_FLOAT & ~ODB_BIT(ODB_F64))
#define MHA_M ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_attention[] = {
    ODB_MICROSOFT(
        "Attention", ODB_ARITY(2, 7), ODB_ARITY(1, 2), MHA_REAL, mha_self_attrs, mha_self_infer,
        mha_self_run, MHA_T, ODB_AS(0), ODB_AS(0), MHA_M, ODB_AS(0), ODB_AS(0), MHA_M,
        ODB_NAMES("input,weights,bias,mask_index,past,attention_bias,past_sequence_length",
                  "output,present"),
        ODB_HALVES(1, 0), ODB_WORK(attention_fused, 3, 4, 2),
        ODB_FUSES(" Reshape MatMul ", ODB_WORDS_ATTENTION)),
    ODB_MICROSOFT("MultiHeadAttention", ODB_ARITY(1, 10), ODB_ARITY(1, 4), MHA_REAL, mha_many_attrs,
                  mha_many_infer, mha_many_run, MHA_T, ODB_AS(0), ODB_AS(0), ODB_AS(0), MHA_M,
                  ODB_AS(0), ODB_AS(0), ODB_AS(0), MHA_M, MHA_M,
                  ODB_NAMES("query,key,value,bias,key_padding_mask,attention_bias,past_key,"
                            "past_value,past_sequence_length,cache_indirection",
                            "output,present_key,present_value,qk"),
                  ODB_HALVES(1, 0), ODB_WORK(attention_multi_head),
                  ODB_FUSES(" Reshape MatMul ", ODB_WORDS_ATTENTION)),
    ODB_MICROSOFT("DecoderMaskedMultiHeadAttention", ODB_ARITY(1, 11), ODB_ARITY(1, 4), MHA_REAL,
                  mha_decoder_attrs, mha_many_infer, mha_many_run, MHA_T, ODB_AS(0), ODB_AS(0),
                  MHA_M, ODB_AS(0), ODB_AS(0), ODB_AS(0), MHA_M, MHA_M, MHA_M, ODB_AS(0),
                  ODB_NAMES("query,key,value,mask_index,attention_bias,past_key,past_value,"
                            "past_sequence_length,beam_width,cache_indirection,bias",
                            "output,present_key,present_value,qk")),
    ODB_MICROSOFT("DecoderMaskedSelfAttention", ODB_ARITY(2, 9), ODB_ARITY(1, 2), MHA_REAL,
                  mha_self_decoder_attrs, mha_self_infer, mha_self_run, MHA_T, ODB_AS(0), ODB_AS(0),
                  MHA_M, ODB_AS(0), ODB_AS(0), MHA_M, MHA_M, MHA_M,
                  ODB_NAMES("input,weights,bias,mask_index,past,attention_bias,"
                            "past_sequence_length,beam_width,cache_indirection",
                            "output,present")),
    ODB_MICROSOFT(
        "PackedAttention", ODB_ARITY(5, 6), ODB_ARITY(1, 1), MHA_REAL, mha_packed_attrs,
        mha_packed_infer, mha_packed_run, MHA_T, ODB_AS(0), ODB_AS(0), MHA_M, MHA_M, ODB_AS(0),
        ODB_NAMES("input,weights,bias,token_offset,cumulative_sequence_length,attention_bias",
                  "output")),
    ODB_MICROSOFT(
        "PackedMultiHeadAttention", ODB_ARITY(1, 7), ODB_ARITY(1, 1), MHA_REAL,
        mha_packed_many_attrs, mha_packed_infer, mha_packed_run, MHA_T, ODB_AS(0), ODB_AS(0),
        ODB_AS(0), MHA_M, MHA_M, ODB_AS(0),
        ODB_NAMES("query,key,value,bias,token_offset,cumulative_sequence_length,attention_bias",
                  "output")),
    {.name = NULL},
};
