/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft on words and tokens: an embedding of words by their characters, the
 * step of a decoder that takes over from its source what was predicted right, and hashes of the
 * last tokens. The convolution over the characters sums in double and rounds once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/blocks.h"
#include "base/mem.h"
#include "kernels/contrib/contrib.h"

/* --- WordConvEmbedding ------------------------------------------------------------------------ */

/* Characters (words, length), weights (filters, 1, window, size), bias (filters), the characters'
 * embeddings (characters, size). */
static enum odb_status words_embed_infer(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0], *w = k->in[1], *b = k->in[2], *table = k->in[3];
    if (x->rank != 2)
        return ODB_KERN_UNSUPPORTED(k, "words in a tensor of rank %d", x->rank);
    if (w->rank != 4 || w->dims[1] != 1 || table->rank != 2 || w->dims[2] < 1 ||
        w->dims[3] != table->dims[1] || b->count != (size_t)w->dims[0] || x->dims[1] < w->dims[2])
        return ODB_KERN_FAIL(k, "words, weights, bias and embeddings do not fit each other");
    return odb_kern_outline(k, 0, w->dtype, 2, (const int64_t[]){x->dims[0], w->dims[0]});
}

/* The sum of filter f over the window of characters that starts at c. */
static double words_window(const struct odb_kern *k, const int64_t *c, size_t f)
{
    const struct odb_tensor *w = k->in[1], *table = k->in[3];
    size_t window = (size_t)w->dims[2], size = (size_t)w->dims[3];
    double sum = odb_tensor_f64(k->in[2], f);
    for (size_t i = 0; i < window; i++)
        for (size_t e = 0; e < size; e++)
            sum += odb_tensor_f64(w, (f * window + i) * size + e) *
                   odb_tensor_f64(table, (size_t)c[i] * size + e);
    return sum;
}

/* Words end at character 0; those without any are zero. A word shorter than the window goes on. */
static enum odb_status words_embed_run(struct odb_kern *k)
{
    const struct odb_tensor *x = k->in[0];
    struct odb_tensor *y = k->out[0];
    size_t length = (size_t)x->dims[1], window = (size_t)k->in[1]->dims[2];
    size_t filters = (size_t)k->in[1]->dims[0];
    int64_t *word = odb_work_take(length + 1, sizeof *word);
    if (!word)
        return odb_kern_no_memory(k);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < x->count; i += length) {
        size_t n = 0;
        for (size_t j = 0; j < length; j++) {
            word[j] = odb_tensor_i64(x, i + j);
            if (word[j] < 0 || word[j] >= k->in[3]->dims[0])
                ODB_TRY_OUT(ODB_KERN_FAIL(k, "character %lld of %lld", (long long)word[j],
                                          (long long)k->in[3]->dims[0]));
        }
        while (n < length && word[n] > 0)
            n++;
        for (size_t f = 0; f < filters; f++) {
            double most = -INFINITY;
            for (size_t at = 0; n > 0 && at + window <= ODB_MAX(n, window); at++)
                most = fmax(most, words_window(k, word + at, f));
            odb_store_f64(y->dtype, y->data, i / length * filters + f, n > 0 ? tanh(most) : 0);
        }
    }
out:
    odb_work_give(word);
    return status;
}

/* --- BifurcationDetector ---------------------------------------------------------------------- */

struct words_tokens {
    const odb_i64 *at;
    size_t n;
};

/* First place from `from` on where the last n tokens stand in source; source.n: nowhere. */
static size_t words_find(struct words_tokens source, size_t from, struct words_tokens tokens,
                         size_t n)
{
    for (; from + n <= source.n; from++)
        if (memcmp(source.at + from, tokens.at + tokens.n - n, n * sizeof *tokens.at) == 0)
            return from;
    return source.n;
}

/* Behind the one place in source where the last tokens stand, as few of them as make it one. */
static int64_t words_suffix(struct words_tokens source, struct words_tokens tokens, int64_t least,
                            int64_t most)
{
    int64_t found = -1;
    for (int64_t n = least; n <= most && n <= (int64_t)tokens.n; n++) {
        size_t at = words_find(source, 0, tokens, (size_t)n);
        if (at == source.n)
            break;
        found = (int64_t)at + n;
        if (found >= (int64_t)source.n || words_find(source, at + 1, tokens, (size_t)n) == source.n)
            break;
        found = -1;
    }
    return found;
}

static enum odb_status words_bifurcate_run(struct odb_kern *k)
{
    struct words_tokens source = {k->in[0]->data, k->in[0]->count};
    struct words_tokens current = {k->in[1]->data, k->in[1]->count}, all;
    const struct odb_tensor *predicted = odb_kern_in(k, 3);
    int64_t least = odb_kern_int(k, "min_ngram_size", 1);
    int64_t most = odb_kern_int(k, "max_ngram_size", 3), from;
    size_t agree = 0, n = current.n;
    if (k->in[2]->count != 1 || least < 1 || most < least)
        return ODB_KERN_FAIL(k, "%zu indices; n-grams of %lld to %lld", k->in[2]->count,
                             (long long)least, (long long)most);
    from = odb_tensor_i64(k->in[2], 0);
    if (predicted) {
        if (from < 0 || from > (int64_t)source.n || predicted->count != source.n + 1 - (size_t)from)
            return ODB_KERN_FAIL(k, "%zu predictions for %zu tokens from %lld on", predicted->count,
                                 source.n, (long long)from);
        while (agree < source.n - (size_t)from &&
               ((const odb_i64 *)predicted->data)[agree] == source.at[(size_t)from + agree])
            agree++;
        n += agree + 1;
    }
    odb_i64 *tokens = odb_work_take(n + 1, sizeof *tokens);
    if (!tokens)
        return odb_kern_no_memory(k);
    enum odb_status status = ODB_OK;
    if (current.n)
        memcpy(tokens, current.at, current.n * sizeof *tokens);
    if (predicted)
        memcpy(tokens + current.n, predicted->data, (agree + 1) * sizeof *tokens);
    all = (struct words_tokens){tokens, n};
    ODB_TRY_OUT(odb_kern_output(k, 0, ODB_I64, 1, (const int64_t[]){(int64_t)n}));
    ODB_TRY_OUT(odb_kern_output(k, 1, ODB_I64, 1, (const int64_t[]){1}));
    if (k->out[0] && n)
        memcpy(k->out[0]->data, tokens, n * sizeof *tokens);
    if (k->n_out > 1 && k->out[1])
        *(odb_i64 *)k->out[1]->data = words_suffix(source, all, least, most);
out:
    odb_work_give(tokens);
    return status;
}

/* --- NGramHashMapping ------------------------------------------------------------------------- */

enum { HASH_IDS, HASH_FACTORS, HASH_SIZES, HASH_PAST, HASH_NEWER };

static enum odb_status words_hash_infer(struct odb_kern *k)
{
    const struct odb_tensor *ids = k->in[HASH_IDS], *past = odb_kern_in(k, HASH_PAST);
    int64_t most = odb_kern_int(k, "max_ngram_size", 0),
            heads = odb_kern_int(k, "n_head_per_ngram", 0);
    for (int i = HASH_NEWER; i < k->n_in; i++)
        if (k->in[i])
            return ODB_KERN_UNSUPPORTED(k, "NGramHashMapping with input %d", i);
    if (most < 2 || most > 1 << 20 || heads < 1 || heads > 1 << 20 || ids->rank != 2)
        return ODB_KERN_FAIL(k, "n-grams of %lld tokens with %lld heads, of ids of rank %d",
                             (long long)most, (long long)heads, ids->rank);
    int64_t columns = (most - 1) * heads;
    if (k->in[HASH_FACTORS]->rank != 1 || k->in[HASH_FACTORS]->dims[0] < most ||
        k->in[HASH_SIZES]->rank != 1 || k->in[HASH_SIZES]->dims[0] != columns)
        return ODB_KERN_FAIL(k, "multipliers or vocab_sizes do not fit %lld columns",
                             (long long)columns);
    if (past && (past->rank != 2 || past->dims[0] != ids->dims[0] || past->dims[1] != most - 1))
        return ODB_KERN_FAIL(k, "past_ids must be [%lld,%lld]", (long long)ids->dims[0],
                             (long long)(most - 1));
    ODB_TRY(odb_kern_outline(k, 0, ids->dtype, 3,
                             (const int64_t[]){ids->dims[0], ids->dims[1], columns}));
    return k->n_out > 1
               ? odb_kern_outline(k, 1, ids->dtype, 2, (const int64_t[]){ids->dims[0], most - 1})
               : ODB_OK;
}

/* Token t of sequence b; before the first one are those of the past, or padding. */
static int64_t words_token(const struct odb_kern *k, int64_t b, int64_t t, int64_t before)
{
    const struct odb_tensor *ids = k->in[HASH_IDS], *past = odb_kern_in(k, HASH_PAST);
    if (t >= 0)
        return odb_tensor_i64(ids, (size_t)(b * ids->dims[1] + t));
    return past ? odb_tensor_i64(past, (size_t)(b * before + before + t))
                : odb_kern_int(k, "pad_id", 0);
}

static void words_set(struct odb_tensor *t, size_t i, int64_t v)
{
    if (t->dtype == ODB_I32)
        ((odb_i32 *)t->data)[i] = (odb_i32)v;
    else
        ((odb_i64 *)t->data)[i] = v;
}

/* For n = 2, 3, …: the last n tokens, each times its multiplier, exclusive-or, modulo the sizes. */
static enum odb_status words_hash_run(struct odb_kern *k)
{
    const struct odb_tensor *ids = k->in[HASH_IDS], *sizes = k->in[HASH_SIZES];
    struct odb_tensor *y = k->out[0], *present = k->n_out > 1 ? k->out[1] : NULL;
    int64_t before = odb_kern_int(k, "max_ngram_size", 0) - 1, length = ids->dims[1];
    size_t heads = (size_t)odb_kern_int(k, "n_head_per_ngram", 0), at = 0;
    for (size_t i = 0; i < sizes->count; i++)
        if (odb_tensor_i64(sizes, i) < 1)
            return ODB_KERN_FAIL(k, "vocab_sizes[%zu] is %lld", i,
                                 (long long)odb_tensor_i64(sizes, i));
    for (int64_t i = 0; y && i < ids->dims[0] * length; i++) {
        int64_t b = i / length, t = i % length, mix = 0;
        for (int64_t n = 0; n <= before; n++) {
            int64_t factor = odb_tensor_i64(k->in[HASH_FACTORS], (size_t)n), part;
            (void)__builtin_mul_overflow(words_token(k, b, t - n, before), factor, &part);
            mix ^= ids->dtype == ODB_I32 ? (int64_t)(int32_t)part : part;
            for (size_t h = 0; n > 0 && h < heads; h++, at++) {
                int64_t size = odb_tensor_i64(sizes, ((size_t)n - 1) * heads + h);
                words_set(y, at, (mix % size + size) % size);
            }
        }
    }
    for (int64_t i = 0; present && i < ids->dims[0] * before; i++)
        words_set(present, (size_t)i,
                  words_token(k, i / before, length - before + i % before, before));
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec words_embed_attrs[] = {
    {"char_embedding_size", ODB_ATTR_INT, NULL, false},
    {"conv_window_size", ODB_ATTR_INT, NULL, false},
    {"embedding_size", ODB_ATTR_INT, NULL, false},
    {NULL}};
static const struct odb_attr_spec words_bifurcate_attrs[] = {
    {"max_ngram_size", ODB_ATTR_INT, "3", false},
    {"min_ngram_size", ODB_ATTR_INT, "1", false},
    {NULL}};

static const struct odb_attr_spec words_hash_attrs[] = {
    {"max_ngram_size", ODB_ATTR_INT, NULL, true},
    {"n_head_per_ngram", ODB_ATTR_INT, NULL, true},
    {"pad_id", ODB_ATTR_INT, NULL, true},
    {"reset_on_eos", ODB_ATTR_INT, "0", false},
    {NULL}};

const struct odb_op odb_ops_contrib_words[] = {
    ODB_MICROSOFT("NGramHashMapping", ODB_ARITY(3, 7), ODB_ARITY(1, 2), ODB_OP_EXACT,
                  words_hash_attrs, words_hash_infer, words_hash_run, ODB_T_INDEX, ODB_AS(0),
                  ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_BIT(ODB_I32),
                  ODB_NAMES("input_ids,multipliers,vocab_sizes,past_ids,head_offsets,eos_token_id,"
                            "segment_ids",
                            "hash_ids,present_ids")),
    ODB_MICROSOFT("WordConvEmbedding", ODB_ARITY(4, 4), ODB_ARITY(1, 1), ODB_OP_REAL,
                  words_embed_attrs, words_embed_infer, words_embed_run, ODB_BIT(ODB_I32),
                  ODB_BIT(ODB_F32), ODB_NAMES("Sequence,W,B,C", "Y")),
    ODB_MICROSOFT("BifurcationDetector", ODB_ARITY(3, 4), ODB_ARITY(1, 2), ODB_OP_EXACT,
                  words_bifurcate_attrs, NULL, words_bifurcate_run, ODB_BIT(ODB_I64),
                  ODB_NAMES("src_tokens,cur_tokens,prev_suffix_match_idx,pred_tokens",
                            "tokens,suffix_match_idx")),
    {.name = NULL},
};
