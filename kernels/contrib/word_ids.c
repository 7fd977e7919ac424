/* SPDX-License-Identifier: MIT
 *
 * Operators of com.microsoft on words and tokens: an embedding of words by their characters, and
 * the step of a decoder that takes over from its source what was predicted right. The convolution
 * over the characters sums in double and rounds once.
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

const struct odb_op odb_ops_contrib_words[] = {
    ODB_MICROSOFT("WordConvEmbedding", ODB_ARITY(4, 4), ODB_ARITY(1, 1), ODB_OP_REAL,
                  words_embed_attrs, words_embed_infer, words_embed_run, ODB_BIT(ODB_I32),
                  ODB_BIT(ODB_F32), ODB_NAMES("Sequence,W,B,C", "Y")),
    ODB_MICROSOFT("BifurcationDetector", ODB_ARITY(3, 4), ODB_ARITY(1, 2), ODB_OP_EXACT,
                  words_bifurcate_attrs, NULL, words_bifurcate_run, ODB_BIT(ODB_I64),
                  ODB_NAMES("src_tokens,cur_tokens,prev_suffix_match_idx,pred_tokens",
                            "tokens,suffix_match_idx")),
    {.name = NULL},
};
