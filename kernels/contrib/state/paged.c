/* SPDX-License-Identifier: MIT
 *
 * PagedAttention (com.microsoft): attention of sequences of any lengths, packed one behind the
 * other, to keys and values that lie in blocks of a common cache. New keys are normalised and
 * turned, written to the cache, and read from there like the others.
 */
#include <string.h>

#include "base/mem.h"
#include "system/blocks.h"
#include "kernels/attention/rotary.h"
#include "kernels/contrib/contrib.h"
#include "kernels/contrib/heads.h"

enum {
    PAGED_QUERY,
    PAGED_KEY,
    PAGED_VALUE,
    PAGED_KEYS,
    PAGED_VALUES,
    PAGED_OFFSETS,
    PAGED_PAST,
    PAGED_TABLE,
    PAGED_COS,
    PAGED_SIN,
    PAGED_SLOTS,
    PAGED_SINK,
    PAGED_Q_NORM,
    PAGED_K_NORM,
    PAGED_K_SCALE,
    PAGED_V_SCALE
};

/* Sizes; rows of heads as dense tensors of the chain, [tokens][heads][size]. */
struct paged {
    struct odb_chain c;
    size_t tokens, heads, kv_heads, size, batch;
    size_t blocks, block, per_sequence; /* blocks of the cache, tokens in one, of a sequence */
    const struct odb_tensor *q, *k, *v; /* borrowed: c */
    const struct odb_tensor
        *cache[2];     /* keys and values, with the new ones; borrowed: c, outputs */
    size_t *positions; /* [tokens]; owned */
    double *sink;      /* [heads]; owned; NULL: none */
};

/* --- shapes ----------------------------------------------------------------------------------- */

/* What there is no kernel for. */
static enum odb_status paged_refuse(struct odb_kern *k)
{
    static const char *const words[][2] = {{"k_quant_type", "NONE"},
                                           {"v_quant_type", "NONE"},
                                           {"k_cache_dtype", ""},
                                           {"v_cache_dtype", ""},
                                           {"kv_cache_layout", "SEPARATE"}};
    static const char *const numbers[] = {"v_head_size", "rotary_offset", "smooth_softmax",
                                          "use_smooth_softmax"};
    for (size_t i = 0; i < ODB_COUNT(words); i++) {
        const char *value = odb_kern_string(k, words[i][0], words[i][1]);
        if (strcmp(value, words[i][1]) != 0)
            return ODB_KERN_UNSUPPORTED(k, "PagedAttention with %s \"%s\"", words[i][0], value);
    }
    for (size_t i = 0; i < ODB_COUNT(numbers); i++)
        if (odb_kern_int(k, numbers[i], 0))
            return ODB_KERN_UNSUPPORTED(k, "PagedAttention with %s", numbers[i]);
    ODB_TRY(ODB_NEED(k, PAGED_KEYS, PAGED_VALUES, PAGED_OFFSETS, PAGED_PAST, PAGED_TABLE));
    if (k->in[PAGED_KEYS]->dtype != k->in[PAGED_QUERY]->dtype || odb_kern_in(k, PAGED_K_SCALE) ||
        odb_kern_in(k, PAGED_V_SCALE))
        return ODB_KERN_UNSUPPORTED(k, "PagedAttention with a cache of another type");
    return ODB_OK;
}

static enum odb_status paged_vectors(struct odb_kern *k, const struct paged *p)
{
    const struct odb_tensor *cos = odb_kern_in(k, PAGED_COS);
    int64_t size = (int64_t)p->size, heads = (int64_t)p->heads;
    ODB_TRY(odb_kern_expect(k, PAGED_Q_NORM, 1, &size));
    ODB_TRY(odb_kern_expect(k, PAGED_K_NORM, 1, &size));
    ODB_TRY(odb_kern_expect(k, PAGED_SINK, 1, &heads));
    if (!odb_kern_in(k, PAGED_Q_NORM) != !odb_kern_in(k, PAGED_K_NORM))
        return ODB_KERN_FAIL(k, "q_norm_weight and k_norm_weight come together");
    if (!odb_kern_int(k, "do_rotary", 0))
        return ODB_OK;
    ODB_TRY(ODB_NEED(k, PAGED_COS, PAGED_SIN));
    if (cos->rank != 2 || cos->dims[1] < 1 || cos->dims[1] * 2 > size)
        return ODB_KERN_FAIL(k, "cos_cache does not go with vectors of %lld", (long long)size);
    return odb_kern_expect(k, PAGED_SIN, 2, cos->dims);
}

static enum odb_status paged_shape(struct odb_kern *k, struct paged *p)
{
    const struct odb_tensor *q = k->in[PAGED_QUERY], *key = odb_kern_in(k, PAGED_KEY);
    int64_t heads = odb_kern_int(k, "num_heads", 0), shared = odb_kern_int(k, "kv_num_heads", 0);
    ODB_TRY(paged_refuse(k));
    const struct odb_tensor *cache = k->in[PAGED_KEYS], *table = k->in[PAGED_TABLE];
    bool sane = heads > 0 && heads <= INT32_MAX && shared > 0 && heads % shared == 0;
    int64_t parts = !sane ? 1 : key ? heads : heads + 2 * shared;
    if (!sane || q->rank != 2 || q->dims[1] % parts || !key != !odb_kern_in(k, PAGED_VALUE))
        return ODB_KERN_FAIL(k, "query, key and value do not have %lld and %lld heads",
                             (long long)heads, (long long)shared);
    if (cache->rank != 4 || cache->dims[1] < 1 || table->rank != 2)
        return ODB_KERN_FAIL(k, "key_cache must be [blocks,tokens,heads,size] and block_table "
                                "[sequences,blocks]");
    p->tokens = (size_t)q->dims[0];
    p->heads = (size_t)heads;
    p->kv_heads = (size_t)shared;
    p->size = (size_t)(q->dims[1] / parts);
    p->batch = (size_t)table->dims[0];
    p->per_sequence = (size_t)table->dims[1];
    p->blocks = (size_t)cache->dims[0];
    p->block = (size_t)cache->dims[1];
    int64_t one = table->dims[0], more = one + 1, width[] = {q->dims[0], shared * (int64_t)p->size};
    int64_t dims[] = {cache->dims[0], cache->dims[1], shared, (int64_t)p->size};
    for (int i = PAGED_KEY; i <= PAGED_VALUE; i++)
        ODB_TRY(odb_kern_expect(k, i, 2, width));
    for (int i = PAGED_KEYS; i <= PAGED_VALUES; i++)
        ODB_TRY(odb_kern_expect(k, i, 4, dims));
    ODB_TRY(odb_kern_expect(k, PAGED_OFFSETS, 1, &more));
    ODB_TRY(odb_kern_expect(k, PAGED_PAST, 1, &one));
    ODB_TRY(odb_kern_expect(k, PAGED_SLOTS, 1, &q->dims[0]));
    return paged_vectors(k, p);
}

static enum odb_status paged_infer(struct odb_kern *k)
{
    struct paged p = {.c = {.k = k, .infer = true}};
    ODB_TRY(paged_shape(k, &p));
    ODB_TRY(odb_kern_outline(k, 0, k->in[PAGED_QUERY]->dtype, 2,
                             (int64_t[]){(int64_t)p.tokens, (int64_t)(p.heads * p.size)}));
    for (int i = 1; i < k->n_out; i++)
        ODB_TRY(odb_kern_outline_like(k, i, PAGED_KEYS + i - 1));
    return ODB_OK;
}

/* --- queries, keys and values ----------------------------------------------------------------- */

/* Columns [from, to) of t as [tokens, heads, size], normalised by the weights of input `norm`. */
static const struct odb_tensor *paged_heads(struct paged *p, const struct odb_tensor *t,
                                            size_t from, size_t heads, int norm)
{
    struct odb_chain *c = &p->c;
    int64_t begin = (int64_t)from, end = (int64_t)(from + heads * p->size);
    if (end - begin != t->dims[1])
        t = ODB_STEP(c, "Slice", 13,
                     (t, odb_chain_list(c, &begin, 1), odb_chain_list(c, &end, 1),
                      odb_chain_list(c, (int64_t[]){1}, 1)));
    if (!odb_chain_ok(c))
        return NULL;
    t = odb_chain_reshape(c, t, 3,
                          (int64_t[]){(int64_t)p->tokens, (int64_t)heads, (int64_t)p->size});
    const struct odb_tensor *weights = norm < 0 ? NULL : odb_kern_in(c->k, norm);
    if (!weights)
        return t;
    return ODB_STEP_WITH(
        c, "com.microsoft::SimplifiedLayerNormalization", 1, (t, weights),
        ODB_ATTRS(ODB_ATTR_F("epsilon", (odb_f32)odb_kern_float(c->k, "qk_norm_epsilon", 1e-6))));
}

/* The same, turned by each token's position. */
static const struct odb_tensor *paged_turned(struct paged *p, const struct odb_tensor *t)
{
    struct odb_kern *k = p->c.k;
    if (!odb_chain_ok(&p->c) || !odb_kern_int(k, "do_rotary", 0))
        return t;
    size_t heads = (size_t)t->dims[1];
    struct odb_tensor *y = odb_chain_new(&p->c, t->dtype, t->rank, t->dims);
    struct odb_attention_steps steps = {.head = p->size, .row = heads * p->size};
    struct odb_rotary r = {.dtype = t->dtype,
                           .sequential = k->sequential,
                           .interleaved = odb_kern_int(k, "rotary_interleaved", 0) != 0,
                           .batch = 1,
                           .heads = heads,
                           .rows = p->tokens,
                           .size = p->size,
                           .turned = (size_t)k->in[PAGED_COS]->dims[1] * 2,
                           .x = t->data,
                           .x_steps = steps,
                           .y_steps = steps,
                           .cos = k->in[PAGED_COS]->data,
                           .sin = k->in[PAGED_SIN]->data,
                           .positions = p->positions};
    if (y && y->count) {
        r.y = y->data;
        odb_rotary_run(&r);
    }
    return y;
}

/* Where each token stands in its sequence. */
static enum odb_status paged_positions(struct odb_kern *k, struct paged *p)
{
    const struct odb_tensor *offsets = k->in[PAGED_OFFSETS];
    int64_t known = odb_kern_int(k, "do_rotary", 0) ? k->in[PAGED_COS]->dims[0] : INT64_MAX;
    int64_t before = 0, most = (int64_t)(p->per_sequence * p->block);
    for (size_t b = 0; b <= p->batch; b++) {
        int64_t at = odb_tensor_i64(offsets, b);
        if (at < before || (b == 0 && at) || (b == p->batch && at != (int64_t)p->tokens) ||
            at > (int64_t)p->tokens)
            return ODB_KERN_FAIL(k, "cumulative_sequence_length[%zu] is %lld, of %zu tokens", b,
                                 (long long)at, p->tokens);
        for (int64_t t = before; t < at; t++) {
            int64_t past = odb_tensor_i64(k->in[PAGED_PAST], b - 1), here;
            if (past < 0 || __builtin_add_overflow(past, t - before, &here) || here >= most ||
                here >= known)
                return ODB_KERN_FAIL(k,
                                     "position %lld + %lld of sequence %zu is beyond its blocks "
                                     "or cos_cache",
                                     (long long)past, (long long)(t - before), b - 1);
            p->positions[t] = (size_t)here;
        }
        before = at;
    }
    return ODB_OK;
}

static enum odb_status paged_project(struct odb_kern *k, struct paged *p)
{
    const struct odb_tensor *q = k->in[PAGED_QUERY], *key = odb_kern_in(k, PAGED_KEY);
    size_t width = p->heads * p->size, kv_width = p->kv_heads * p->size;
    p->positions = odb_work_take(p->tokens + 1, sizeof *p->positions);
    if (!p->positions)
        return odb_kern_no_memory(k);
    ODB_TRY(paged_positions(k, p));
    p->q = paged_turned(p, paged_heads(p, q, 0, p->heads, PAGED_Q_NORM));
    p->k =
        paged_turned(p, paged_heads(p, key ? key : q, key ? 0 : width, p->kv_heads, PAGED_K_NORM));
    p->v =
        paged_heads(p, key ? k->in[PAGED_VALUE] : q, key ? 0 : width + kv_width, p->kv_heads, -1);
    return p->c.status;
}

/* --- the cache -------------------------------------------------------------------------------- */

/* The slot of a position of a sequence, by its table of blocks. */
static enum odb_status paged_slot(struct odb_kern *k, const struct paged *p, size_t sequence,
                                  size_t position, size_t *slot)
{
    size_t at = sequence * p->per_sequence + position / p->block;
    int64_t block = odb_tensor_i64(k->in[PAGED_TABLE], at);
    if (block < 0 || block >= (int64_t)p->blocks)
        return ODB_KERN_FAIL(k, "block_table[%zu] is %lld, of %zu blocks", at, (long long)block,
                             p->blocks);
    *slot = (size_t)block * p->block + position % p->block;
    return ODB_OK;
}

/* The cache of input PAGED_KEYS + i with the new rows in it, as output 1 + i or the chain's. */
static enum odb_status paged_store(struct odb_kern *k, struct paged *p, int i,
                                   const struct odb_tensor *rows)
{
    const struct odb_tensor *cache = k->in[PAGED_KEYS + i], *slots = odb_kern_in(k, PAGED_SLOTS);
    struct odb_tensor *out = 1 + i < k->n_out ? k->out[1 + i] : NULL;
    size_t row = p->kv_heads * p->size * (odb_dtype_info(cache->dtype)->bits / 8), b = 0;
    if (!out)
        out = odb_chain_new(&p->c, cache->dtype, cache->rank, cache->dims);
    ODB_TRY(p->c.status);
    if (cache->bytes)
        memcpy(out->data, cache->data, cache->bytes);
    for (size_t t = 0; t < p->tokens; t++) {
        while (odb_tensor_i64(k->in[PAGED_OFFSETS], b + 1) <= (int64_t)t)
            b++;
        int64_t given = slots ? odb_tensor_i64(slots, t) : 0;
        size_t slot = (size_t)given;
        if (slots && (given < -1 || given >= (int64_t)(p->blocks * p->block)))
            return ODB_KERN_FAIL(k, "slot_mapping[%zu] is %lld, of %zu slots", t, (long long)given,
                                 p->blocks * p->block);
        if (slots && given < 0)
            continue;
        if (!slots)
            ODB_TRY(paged_slot(k, p, b, p->positions[t], &slot));
        char *to = (char *)out->data + slot * row;
        memcpy(to, (const char *)rows->data + t * row, row);
        if (k->narrow != ODB_UNDEFINED && out->dtype == ODB_F32)
            odb_round_f32(k->narrow, (odb_f32 *)(void *)to, p->kv_heads * p->size);
    }
    p->cache[i] = out;
    return ODB_OK;
}

/* Rows of all positions of a sequence, one behind the other. */
static enum odb_status paged_gather(struct odb_kern *k, const struct paged *p, size_t sequence,
                                    size_t keys, int i, char *rows)
{
    const struct odb_tensor *cache = p->cache[i];
    size_t row = p->kv_heads * p->size * (odb_dtype_info(cache->dtype)->bits / 8), slot = 0;
    for (size_t j = 0; j < keys; j++) {
        ODB_TRY(paged_slot(k, p, sequence, j, &slot));
        memcpy(rows + j * row, (const char *)cache->data + slot * row, row);
    }
    return ODB_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

static enum odb_status paged_sequence(struct odb_kern *k, const struct paged *p, size_t b)
{
    size_t from = (size_t)odb_tensor_i64(k->in[PAGED_OFFSETS], b), width = p->heads * p->size;
    size_t n = (size_t)odb_tensor_i64(k->in[PAGED_OFFSETS], b + 1) - from;
    int64_t past = odb_tensor_i64(k->in[PAGED_PAST], b);
    int64_t left;
    ODB_TRY(odb_heads_left(k, &left));
    if (!n)
        return ODB_OK;
    enum odb_dtype dtype = k->in[PAGED_QUERY]->dtype;
    size_t bytes = odb_dtype_info(dtype)->bits / 8, keys = (size_t)past + n;
    size_t kv_width = p->kv_heads * p->size;
    char *rows[2] = {odb_work_take(keys * kv_width + 1, bytes),
                     odb_work_take(keys * kv_width + 1, bytes)};
    struct odb_attention_steps kv = {.head = p->size, .row = kv_width};
    struct odb_attention_steps q = {.head = p->size, .row = width};
    struct odb_attention a = {.dtype = dtype,
                              .sequential = k->sequential,
                              .batch = 1,
                              .heads = p->heads,
                              .kv_heads = p->kv_heads,
                              .queries = n,
                              .keys = keys,
                              .size = p->size,
                              .v_size = p->size,
                              .q = (const char *)p->q->data + from * width * bytes,
                              .k = rows[0],
                              .v = rows[1],
                              .y = (char *)k->out[0]->data + from * width * bytes,
                              .q_steps = q,
                              .k_steps = kv,
                              .v_steps = kv,
                              .y_steps = q,
                              .scale = odb_heads_scale(k, p->size),
                              .cap = odb_kern_float(k, "softcap", 0),
                              .offset = &past,
                              .left = left,
                              .right = odb_kern_int(k, "is_causal", 1) ? 0 : -1,
                              .sink = p->sink};
    enum odb_status status = rows[0] && rows[1] ? ODB_OK : odb_kern_no_memory(k);
    for (int i = 0; i < 2 && status == ODB_OK; i++)
        status = paged_gather(k, p, b, keys, i, rows[i]);
    if (status == ODB_OK)
        status = odb_attention_run(&a, k->err);
    odb_work_give(rows[0]);
    odb_work_give(rows[1]);
    return status;
}

static enum odb_status paged_compute(struct odb_kern *k, struct paged *p)
{
    const struct odb_tensor *sink = odb_kern_in(k, PAGED_SINK);
    ODB_TRY(paged_shape(k, p));
    ODB_TRY(paged_project(k, p));
    ODB_TRY(paged_store(k, p, 0, p->k));
    ODB_TRY(paged_store(k, p, 1, p->v));
    if (sink) {
        p->sink = odb_work_take(p->heads, sizeof *p->sink);
        if (!p->sink)
            return odb_kern_no_memory(k);
        for (size_t h = 0; h < p->heads; h++)
            p->sink[h] = odb_tensor_f64(sink, h);
    }
    for (size_t b = 0; b < p->batch && k->out[0]; b++)
        ODB_TRY(paged_sequence(k, p, b));
    return ODB_OK;
}

static enum odb_status paged_run(struct odb_kern *k)
{
    struct paged p = {.c = {.k = k}};
    enum odb_status status = paged_compute(k, &p);
    odb_chain_dispose(&p.c);
    odb_work_give(p.positions);
    odb_work_give(p.sink);
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct odb_attr_spec paged_attrs[] = {
    {"do_rotary", ODB_ATTR_INT, "0", false},
    {"is_causal", ODB_ATTR_INT, "1", false},
    {"k_cache_dtype", ODB_ATTR_STRING, "", false},
    {"k_quant_type", ODB_ATTR_STRING, "NONE", false},
    {"kv_cache_layout", ODB_ATTR_STRING, "SEPARATE", false},
    {"kv_num_heads", ODB_ATTR_INT, NULL, true},
    {"local_window_size", ODB_ATTR_INT, "-1", false},
    {"num_heads", ODB_ATTR_INT, NULL, true},
    {"qk_norm_epsilon", ODB_ATTR_FLOAT, "1e-06", false},
    {"rotary_interleaved", ODB_ATTR_INT, "0", false},
    {"rotary_offset", ODB_ATTR_INT, "0", false},
    {"scale", ODB_ATTR_FLOAT, NULL, false},
    {"smooth_softmax", ODB_ATTR_INT, "0", false},
    {"softcap", ODB_ATTR_FLOAT, "0.0", false},
    {"use_smooth_softmax", ODB_ATTR_INT, "0", false},
    {"v_cache_dtype", ODB_ATTR_STRING, "", false},
    {"v_head_size", ODB_ATTR_INT, "0", false},
    {"v_quant_type", ODB_ATTR_STRING, "NONE", false},
    {NULL}};

#define PAGED_CACHE (ODB_T_HALVES | ODB_BIT(ODB_I8) | ODB_BIT(ODB_U8) | ODB_BIT(ODB_F8E4M3FN))
#define PAGED_I32 ODB_BIT(ODB_I32)

const struct odb_op odb_ops_contrib_paged[] = {
    ODB_MICROSOFT("PagedAttention", ODB_ARITY(1, 17), ODB_ARITY(1, 3), ODB_OP_REAL | ODB_OP_MATMUL,
                  paged_attrs, paged_infer, paged_run, ODB_T_HALVES, ODB_AS(0), ODB_AS(0),
                  PAGED_CACHE, ODB_AS(3), PAGED_I32, ODB_AS(5), ODB_AS(5), ODB_AS(0), ODB_AS(0),
                  ODB_AS(5), ODB_AS(0), ODB_AS(0), ODB_AS(0), ODB_BIT(ODB_F32), ODB_AS(14),
                  ODB_AS(5),
                  ODB_NAMES("query,key,value,key_cache,value_cache,cumulative_sequence_length,"
                            "past_seqlens,block_table,cos_cache,sin_cache,slot_mapping,head_sink,"
                            "q_norm_weight,k_norm_weight,k_scale,v_scale,attention_metadata",
                            "output,key_cache_out,value_cache_out"),
                  ODB_WORK(depends)),
    {.name = NULL},
};
