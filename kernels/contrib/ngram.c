/* SPDX-License-Identifier: MIT
 *
 * NGramHashMapping and VarlenNGramHashMapping (com.microsoft): for n = 2, 3, … the last n tokens,
 * each times its multiplier, exclusive-or, modulo sizes. Before a sequence are the tokens of the
 * past, or padding. What lies before the end of a text (reset_on_eos), or in another segment, is
 * padding too.
 */
#include <string.h>

#include "base/mem.h"
#include "kernels/contrib/contrib.h"

enum { NGRAM_MOST = 1 << 20 };

/* Inputs' numbers; -1 where the operator has none. */
static const struct ngram_inputs {
    int offsets, past, shifts, end, segments, past_segments;
} ngram_dense = {-1, 3, 4, 5, 6, -1}, ngram_varlen = {3, 4, 5, 6, 7, 8};

enum { NGRAM_IDS, NGRAM_FACTORS, NGRAM_SIZES };

struct ngram {
    struct odb_kern *k; /* borrowed */
    const struct odb_tensor *ids, *factors, *sizes, *offsets, *past, *shifts, *segments,
        *past_segments;                   /* borrowed; all behind sizes may be NULL */
    int64_t most, heads, before, columns; /* tokens before a sequence: most - 1 */
    int64_t batch, length;                /* length: of each where there are no offsets */
    bool resets;                          /* at ends of texts */
    const struct odb_tensor *end;         /* borrowed; NULL: none */
};

static const struct odb_tensor *ngram_in(const struct ngram *g, int i)
{
    return i < 0 ? NULL : odb_kern_in(g->k, i);
}

static enum odb_status ngram_check(const struct ngram *g, const struct ngram_inputs *at)
{
    struct odb_kern *k = g->k;
    const int64_t state[] = {g->batch, g->before};
    ODB_TRY(odb_kern_expect(k, NGRAM_SIZES, 1, &g->columns));
    ODB_TRY(odb_kern_expect(k, at->past, 2, state));
    ODB_TRY(odb_kern_expect(k, at->shifts, 1, &g->columns));
    ODB_TRY(odb_kern_expect(k, at->segments, g->ids->rank, g->ids->dims));
    if (g->past_segments)
        ODB_TRY(odb_kern_expect(k, at->past_segments, 2, state));
    if ((g->past_segments || (k->n_out > 2 && k->wanted[2])) && !g->segments)
        return ODB_KERN_FAIL(k, "segments of the past without segment_ids");
    return g->end && g->end->count != 1
               ? ODB_KERN_FAIL(k, "eos_token_id has %zu elements", g->end->count)
               : ODB_OK;
}

static enum odb_status ngram_read(struct odb_kern *k, struct ngram *g)
{
    bool varlen = strncmp(k->op->name, "Varlen", 6) == 0;
    const struct ngram_inputs *at = varlen ? &ngram_varlen : &ngram_dense;
    *g = (struct ngram){.k = k,
                        .ids = k->in[NGRAM_IDS],
                        .factors = k->in[NGRAM_FACTORS],
                        .sizes = k->in[NGRAM_SIZES],
                        .most = odb_kern_int(k, "max_ngram_size", 0),
                        .heads = odb_kern_int(k, "n_head_per_ngram", 0),
                        .batch = varlen ? 0 : k->in[NGRAM_IDS]->dims[0],
                        .length = varlen ? 0 : k->in[NGRAM_IDS]->dims[1]};
    g->offsets = ngram_in(g, at->offsets);
    g->past = ngram_in(g, at->past);
    g->shifts = ngram_in(g, at->shifts);
    g->end = ngram_in(g, at->end);
    g->segments = ngram_in(g, at->segments);
    g->past_segments = ngram_in(g, at->past_segments);
    g->resets = g->end && odb_kern_int(k, "reset_on_eos", 0) != 0;
    if (g->most < 2 || g->most > NGRAM_MOST || g->heads < 1 || g->heads > NGRAM_MOST ||
        g->ids->rank != (varlen ? 1 : 2))
        return ODB_KERN_FAIL(k, "n-grams of %lld tokens with %lld heads, of ids of rank %d",
                             (long long)g->most, (long long)g->heads, g->ids->rank);
    g->before = g->most - 1;
    g->columns = g->before * g->heads;
    if (g->factors->rank != 1 || g->factors->dims[0] < g->most)
        return ODB_KERN_FAIL(k, "multipliers do not fit n-grams of %lld tokens",
                             (long long)g->most);
    if (varlen && (!g->offsets || g->offsets->rank != 1 || g->offsets->dims[0] < 2))
        return ODB_KERN_FAIL(k, "cumulative_sequence_length must be offsets of a sequence or more");
    if (varlen)
        g->batch = g->offsets->dims[0] - 1;
    return ngram_check(g, at);
}

static enum odb_status ngram_infer(struct odb_kern *k)
{
    struct ngram g;
    ODB_TRY(ngram_read(k, &g));
    int64_t dims[3] = {g.ids->dims[0], g.ids->rank > 1 ? g.ids->dims[1] : 0, g.columns};
    const int64_t state[] = {g.batch, g.before};
    dims[g.ids->rank] = g.columns;
    ODB_TRY(odb_kern_outline(k, 0, g.ids->dtype, g.ids->rank + 1, dims));
    if (k->n_out > 1)
        ODB_TRY(odb_kern_outline(k, 1, g.ids->dtype, 2, state));
    return k->n_out > 2 ? odb_kern_outline(k, 2, ODB_I32, 2, state) : ODB_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

static int64_t ngram_wrap(const struct ngram *g, int64_t v)
{
    return g->ids->dtype == ODB_I32 ? (int64_t)(int32_t)v : v;
}

static void ngram_set(struct odb_tensor *t, size_t i, int64_t v)
{
    if (t->dtype == ODB_I32)
        ((odb_i32 *)t->data)[i] = (odb_i32)v;
    else
        ((odb_i64 *)t->data)[i] = v;
}

/* What stands where there is no token. */
static int64_t ngram_padding(const struct ngram *g)
{
    return g->end ? odb_tensor_i64(g->end, 0) : odb_kern_int(g->k, "pad_id", 0);
}

/* Token t of sequence b, whose first one is number `from`; t >= -before. */
static int64_t ngram_token(const struct ngram *g, int64_t b, int64_t from, int64_t t)
{
    if (t >= 0)
        return odb_tensor_i64(g->ids, (size_t)(from + t));
    return g->past ? odb_tensor_i64(g->past, (size_t)((b + 1) * g->before + t)) : ngram_padding(g);
}

/* The segment of token t; that of the first token where nothing is known of the past. */
static int64_t ngram_segment(const struct ngram *g, int64_t b, int64_t from, int64_t t)
{
    if (t < 0 && g->past_segments)
        return odb_tensor_i64(g->past_segments, (size_t)((b + 1) * g->before + t));
    return odb_tensor_i64(g->segments, (size_t)(from + ODB_MAX(t, 0)));
}

/* Whether token t + 1 does not see token t and what is before it. */
static bool ngram_parts(const struct ngram *g, int64_t b, int64_t from, int64_t t)
{
    if (g->resets && ngram_token(g, b, from, t) == ngram_padding(g))
        return true;
    return g->segments && ngram_segment(g, b, from, t) != ngram_segment(g, b, from, t + 1);
}

/* The columns of token t; what is at `hidden` or before it is not seen. */
static void ngram_row(const struct ngram *g, int64_t b, int64_t from, int64_t t, int64_t hidden)
{
    size_t at = (size_t)((from + t) * g->columns);
    int64_t mix = 0;
    for (int64_t n = 0; n < g->most; n++) {
        int64_t v = t - n <= hidden ? ngram_padding(g) : ngram_token(g, b, from, t - n), part;
        (void)__builtin_mul_overflow(v, odb_tensor_i64(g->factors, (size_t)n), &part);
        mix ^= ngram_wrap(g, part);
        for (int64_t h = 0; n > 0 && h < g->heads; h++, at++) {
            size_t column = (size_t)((n - 1) * g->heads + h);
            int64_t size = odb_tensor_i64(g->sizes, column), sum = (mix % size + size) % size;
            if (g->shifts)
                (void)__builtin_add_overflow(sum, odb_tensor_i64(g->shifts, column), &sum);
            ngram_set(g->k->out[0], at, ngram_wrap(g, sum));
        }
    }
}

static void ngram_sequence(const struct ngram *g, int64_t b, int64_t from, int64_t n)
{
    struct odb_kern *k = g->k;
    int64_t hidden = -g->before - 1;
    for (int64_t t = -g->before; k->out[0] && t < n; t++) {
        if (t >= 0)
            ngram_row(g, b, from, t, hidden);
        if (t + 1 < n && ngram_parts(g, b, from, t))
            hidden = t;
    }
    for (int o = 1; o < k->n_out; o++)
        for (int64_t i = 0; k->out[o] && i < g->before; i++)
            ngram_set(k->out[o], (size_t)(b * g->before + i),
                      o == 1 ? ngram_token(g, b, from, n - g->before + i)
                             : ngram_segment(g, b, from, n - g->before + i));
}

static enum odb_status ngram_run(struct odb_kern *k)
{
    struct ngram g;
    ODB_TRY(ngram_read(k, &g));
    for (size_t i = 0; i < g.sizes->count; i++)
        if (odb_tensor_i64(g.sizes, i) < 1)
            return ODB_KERN_FAIL(k, "vocab_sizes[%zu] is %lld", i,
                                 (long long)odb_tensor_i64(g.sizes, i));
    if (g.offsets)
        ODB_TRY(odb_need_offsets(k, ngram_varlen.offsets, (size_t)g.batch, g.ids->dims[0], 1));
    for (int64_t b = 0; b < g.batch; b++) {
        int64_t from = g.offsets ? odb_tensor_i64(g.offsets, (size_t)b) : b * g.length;
        int64_t n = g.offsets ? odb_tensor_i64(g.offsets, (size_t)b + 1) - from : g.length;
        ngram_sequence(&g, b, from, n);
    }
    return ODB_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec ngram_attrs[] = {{"max_ngram_size", ODB_ATTR_INT, NULL, true},
                                                   {"n_head_per_ngram", ODB_ATTR_INT, NULL, true},
                                                   {"pad_id", ODB_ATTR_INT, NULL, true},
                                                   {"reset_on_eos", ODB_ATTR_INT, "0", false},
                                                   {NULL}};

#define NGRAM_I32 ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_ngram[] = {
    ODB_MICROSOFT("NGramHashMapping", ODB_ARITY(3, 7), ODB_ARITY(1, 2), ODB_OP_EXACT, ngram_attrs,
                  ngram_infer, ngram_run, ODB_T_INDEX, ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_AS(0),
                  ODB_AS(0), NGRAM_I32,
                  ODB_NAMES("input_ids,multipliers,vocab_sizes,past_ids,head_offsets,eos_token_id,"
                            "segment_ids",
                            "hash_ids,present_ids")),
    ODB_MICROSOFT("VarlenNGramHashMapping", ODB_ARITY(4, 9), ODB_ARITY(1, 3), ODB_OP_EXACT,
                  ngram_attrs, ngram_infer, ngram_run, ODB_T_INDEX, ODB_AS(0), ODB_AS(0), NGRAM_I32,
                  ODB_AS(0), ODB_AS(0), ODB_AS(0), NGRAM_I32, NGRAM_I32,
                  ODB_NAMES("input_ids,multipliers,vocab_sizes,cumulative_sequence_length,past_ids,"
                            "head_offsets,eos_token_id,segment_ids,past_segment_ids",
                            "hash_ids,present_ids,present_segment_ids")),
    {.name = NULL},
};
